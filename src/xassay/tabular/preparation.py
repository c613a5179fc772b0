"""Splits and standardisation, as the MAPLE evaluation makes them."""

import attrs
import numpy as np

from xassay.errors import InputError
from xassay.seeds import generator
from xassay.tabular.datasets import Dataset
from xassay.types import FloatArray, IntArray

CONSTANT = 1e-10
_LEAST_ROWS = 4


@attrs.frozen(eq=False)
class Split:
    """A table in three parts, every column and the target standardised by the training part.

    Attributes:
        X_train: training rows, shape (n, features), and likewise the others.
        y_train: training targets, shape (n,), and likewise the others.
        X_val: validation rows.
        y_val: validation targets.
        X_test: test rows.
        y_test: test targets.
        test_rows: row number of each test row in the table.
        columns: names of the features that are left.
        dropped: names of the features that are constant in the training part.
    """

    X_train: FloatArray
    y_train: FloatArray
    X_val: FloatArray
    y_val: FloatArray
    X_test: FloatArray
    y_test: FloatArray
    test_rows: IntArray
    columns: tuple[str, ...]
    dropped: tuple[str, ...]


def part_sizes(n: int) -> tuple[int, int, int]:
    """Numbers of training, validation and test rows of a table of n rows.

    Example:
        >>> part_sizes(442)
        (221, 110, 111)
    """
    return n // 2, n // 4, n - n // 2 - n // 4


def split(data: Dataset, *, seed: int = 0, trial: int = 0) -> Split:
    """Half of the rows for training, a quarter for validation, a quarter for testing.

    Columns and target are standardised by the training part's mean and standard deviation
    (ddof 1); columns whose standard deviation there is not above 1e-10 of their largest
    absolute value are dropped.

    Args:
        data: the table.
        seed: the run's seed.
        trial: the trial; each draws the parts anew.

    Raises:
        InputError: fewer than four rows, values that are not finite, a target that is constant
            in the training part, or no column that varies there.

    Example:
        >>> from xassay import tabular
        >>> parts = split(tabular.load("diabetes"))
        >>> parts.X_train.shape, parts.X_val.shape, parts.X_test.shape
        ((221, 10), (110, 10), (111, 10))
    """
    n = len(data.X)
    if n < _LEAST_ROWS:
        raise InputError(f"table {data.name!r} has {n} row(s); a split needs at least {_LEAST_ROWS}")
    for j, name in enumerate(data.columns):
        if not np.isfinite(data.X[:, j]).all():
            raise InputError(
                f"table {data.name!r}: column {name!r} holds values that are missing or infinite"
            )
    if not np.isfinite(data.y).all():
        raise InputError(f"table {data.name!r}: the target holds values that are missing or infinite")
    order = generator(seed, "split", data.name, trial).permutation(n)
    train, val, test = np.split(order, np.cumsum(part_sizes(n))[:2])
    X, y = _in_range(data.X), _in_range(data.y[:, None])[:, 0]
    centre, scale = X[train].mean(axis=0), X[train].std(axis=0, ddof=1)
    level, spread = y[train].mean(), y[train].std(ddof=1)
    if spread <= CONSTANT:
        raise InputError(f"table {data.name!r}: the target is constant in the training part")
    varies = scale > CONSTANT
    if not varies.any():
        raise InputError(f"table {data.name!r}: no column varies in the training part")
    rows = (((X - centre) / np.where(varies, scale, 1.0))[:, varies]).astype(np.float64)
    targets = (y - level) / spread
    kept = tuple(name for name, keep in zip(data.columns, varies, strict=True) if keep)
    return Split(
        rows[train],
        targets[train],
        rows[val],
        targets[val],
        rows[test],
        targets[test],
        test_rows=test,
        columns=kept,
        dropped=tuple(name for name in data.columns if name not in kept),
    )


def _in_range(columns: FloatArray) -> FloatArray:
    """Columns over a power of two each, within -1 and 1, so that squares neither overflow nor vanish."""
    _, exponents = np.frexp(np.abs(columns).max(axis=0))
    return np.asarray(np.ldexp(columns, -exponents))
