"""Models that are tables over bits: what native explainers share between rows."""

from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from xassay.errors import ExplainerError, InputError
from xassay.types import BoolArray, FloatArray, IntArray, Predict

MAX_BITS = 24
MOST_TABULATED = 20


@attrs.frozen(eq=False)
class BooleanTable:
    """A function of n bits as its 2^n values, and where those bits stand among a row's features.

    Attributes:
        values: float, shape (2^n, outputs): row k holds the outputs for k in binary, the first
            bit the most significant.
        columns: positions of the n bits among the features, in the table's order.
        n_features: number of features of a row.
        single: whether one output was given as shape (2^n,).
    """

    values: FloatArray
    columns: IntArray
    n_features: int
    single: bool = False

    @classmethod
    def of(cls, table: npt.ArrayLike, columns: npt.ArrayLike | None, n_features: int) -> "BooleanTable":
        """A table, checked.

        Args:
            table: shape (2^n,) or (2^n, outputs).
            columns: positions of the n bits; None: all features in their order.
            n_features: number of features of a row.

        Raises:
            InputError: the length is no power of 2, values are not finite numbers, or the
                columns are not n distinct positions.
        """
        values, n = checked_table(table)
        if columns is None and n != n_features:
            raise InputError(
                f"a table of {n} bits for rows of {n_features} features: say with columns which features "
                "its bits are"
            )
        given = np.arange(n) if columns is None else np.asarray(columns)
        if not np.issubdtype(given.dtype, np.integer) and given.size:
            raise InputError(f"columns must be positions of features, not {columns!r}")
        places = given.astype(np.int64)
        fits = places.shape == (n,) and len(np.unique(places)) == n
        if not fits or (n and (places.min() < 0 or places.max() >= n_features)):
            raise InputError(
                f"columns must be the positions of the table's {n} bits among {n_features} features, each "
                f"once, not {places.tolist()}"
            )
        return cls(values.reshape(len(values), -1), places, n_features, values.ndim == 1)

    @classmethod
    def tabulate(cls, predict: Predict, n_features: int) -> "BooleanTable":
        """Ask a model for its value at every combination of its features.

        Raises:
            InputError: there are more than 20 features.
            ExplainerError: the model failed or is not finite somewhere.
        """
        if n_features > MOST_TABULATED:
            raise InputError(
                f"{n_features} features have 2^{n_features} combinations, too many to ask the model for; "
                "give its table and columns"
            )
        rows = bits_of(np.arange(2**n_features), n_features).astype(np.float64)
        try:
            values = np.asarray(predict(rows), dtype=np.float64)
        except Exception as error:
            raise ExplainerError(
                f"predict failed on the table of all combinations: {type(error).__name__}: {error}"
            ) from error
        if not np.isfinite(values).all():
            raise ExplainerError("predict is not finite on the table of all combinations")
        return cls(
            values.reshape(len(rows), -1), np.arange(n_features, dtype=np.int64), n_features, values.ndim == 1
        )

    @property
    def n_bits(self) -> int:
        """The number n of bits."""
        return len(self.columns)

    def indices(self, rows: npt.NDArray[Any], what: str = "the rows to explain") -> IntArray:
        """The table row of each row of features, shape (rows,).

        Raises:
            InputError: a bit is neither 0 nor 1.
        """
        bits = rows[:, self.columns]
        if not ((bits == 0) | (bits == 1)).all():
            raise InputError(f"{what} must hold 0 and 1 in the columns of the table")
        return numbers_of(bits)


def checked_table(table: npt.ArrayLike) -> tuple[FloatArray, int]:
    """A table as floats, (2^n,) or (2^n, outputs), and n.

    Raises:
        InputError: see `BooleanTable.of`.
    """
    try:
        values = np.asarray(table, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("a table must hold numbers only") from None
    n = len(values).bit_length() - 1 if values.ndim in (1, 2) else -1
    if n < 0 or len(values) != 2**n or (values.ndim == 2 and not values.shape[1]):  # noqa: PLR2004
        raise InputError(
            "a table must have shape (2^n,) or (2^n, outputs), all combinations of n bits, not "
            f"{values.shape}"
        )
    if n > MAX_BITS:
        raise InputError(f"a table of {n} bits is out of reach (most: {MAX_BITS})")
    if not np.isfinite(values).all():
        raise InputError("a table must hold finite numbers")
    return values, n


def bits_of(numbers: IntArray, n: int) -> BoolArray:
    """Binary digits, the most significant first: bool (len(numbers), n)."""
    return np.asarray((numbers[:, None] >> np.arange(n - 1, -1, -1)) & 1 == 1)


def numbers_of(bits: npt.NDArray[Any]) -> IntArray:
    """The inverse of `bits_of`: shape (rows,)."""
    weights = 2.0 ** np.arange(bits.shape[1] - 1, -1, -1)
    return np.asarray(bits @ weights).astype(np.int64)
