"""Straw men as explainers: functions (predict, background, X) -> values that a check can be given.

A check calls such a function with one row at a time, in a space of its own (columns divided by
powers of two, at times with further columns that the model does not see). So straw men that need other
rows compute the right explanations of some background rows, which are always in the same space.
"""

import hashlib
from collections.abc import Callable, Iterable
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from xassay.errors import ExplainerError, InputError
from xassay.seeds import generator
from xassay.tabular.space import Space
from xassay.testing.spoiling import STRAW_MEN, Around, StrawMan
from xassay.testing.straw_men import straw_man
from xassay.types import FloatArray, Predict

Explain = Callable[[Predict, FloatArray, FloatArray], FloatArray]
"""An explainer as a function: (predict, background, X) -> values of the shape of X."""

TABLE_ROWS = 50
"""How many background rows are explained for straw men that need other rows' explanations."""


class Remembered:
    """An explainer that explains each row once for each model and background.

    The model is told by its answers on the background, so that the same explainer may be used for
    another model (a refitted one) too.

    Args:
        explain: the explainer.
        name: a name for results.
    """

    def __init__(self, explain: Explain, name: str = "exact") -> None:
        self._explain = explain
        self._kept: dict[bytes, FloatArray] = {}
        self.__name__ = name

    def __call__(self, predict: Predict, background: FloatArray, X: FloatArray) -> FloatArray:
        """Values of each row, shape of ``X``."""
        answers = np.asarray(predict(background), dtype=np.float64)
        about = hashlib.sha256(repr(background.shape).encode())
        about.update(np.ascontiguousarray(background).tobytes())
        about.update(np.ascontiguousarray(answers).tobytes())
        keys = [about.digest() + np.ascontiguousarray(row).tobytes() for row in X]
        new = [i for i, key in enumerate(keys) if key not in self._kept]
        if new:
            found = np.asarray(self._explain(predict, background, X[new]), dtype=np.float64)
            for i, row in zip(new, found, strict=True):
                self._kept[keys[i]] = row
        return np.array([self._kept[key] for key in keys]).reshape(X.shape)


@attrs.define(eq=False)
class StrawExplainer:
    """One straw man of an explainer, as an explainer.

    Random straw men draw by the nearest background row, so that neighbours of a row share its draws
    and unsteadiness alone does not give them away.

    Attributes:
        straw: what is done to the right values.
        exact: the right explainer.
        seed: seed of the draws.
        other: the right explainer of another class or output.
        zero: whether the right explainer can be asked against an all-zero background.
    """

    straw: StrawMan
    exact: Explain
    seed: int = 0
    other: Explain | None = None
    zero: bool = True

    @property
    def __name__(self) -> str:
        """The straw man's name, under which results show it."""
        return self.straw.name

    def __call__(self, predict: Predict, background: FloatArray, X: FloatArray) -> FloatArray:
        """Wrong values of each row, shape of ``X``."""
        some = background
        if len(background) > TABLE_ROWS:
            chosen = generator(self.seed, "straw men's rows").permutation(len(background))[:TABLE_ROWS]
            some = background[np.sort(chosen)]
        # in one call, since each asks the model for its answers on the background
        found = self.exact(predict, background, np.vstack([some, X]))
        table, right = found[: len(some)], found[len(some) :]
        return np.array(
            [
                self.straw.make(values.copy(), self._around(predict, background, row, some, table))
                for row, values in zip(X, right, strict=True)
            ]
        ).reshape(X.shape)

    def _around(
        self, predict: Predict, background: FloatArray, row: FloatArray, some: FloatArray, table: FloatArray
    ) -> Around:
        nearest = _nearest(background, row)
        rng = generator(self.seed, "straw man", self.straw.name, _seed_of(nearest))
        others = np.flatnonzero((some != row).any(axis=1))
        neighbour = table[rng.choice(others)] if len(others) else table[0]
        other = zero = None
        if self.straw.needs == "other" and self.other is not None:
            other = self.other(predict, background, row[None])[0]
        if self.straw.needs == "zero":
            zero = self.exact(predict, np.zeros((1, background.shape[1])), row[None])[0]
        fixed = generator(self.seed, "straw man", self.straw.name)
        return Around(table, neighbour, rng, fixed, other, zero)


def _nearest(background: FloatArray, row: FloatArray) -> FloatArray:
    spread = background.std(axis=0)
    apart = ((background - row) / np.where(spread > 0, spread, 1.0)) ** 2
    return np.asarray(background[int(np.argmin(apart.sum(axis=1)))])


def straw_explainers(
    exact: Explain,
    *,
    seed: int = 0,
    other: Explain | None = None,
    zero_baseline: bool = True,
    names: Iterable[str] | None = None,
) -> list[Any]:
    """Straw men of an explainer, as explainers.

    They share what the explainer has explained, so that all of them cost little more than it alone.

    Args:
        exact: the right explainer: (predict, background, X) -> values.
        seed: seed of the random ones.
        other: the right explainer of another class or output, called likewise.
        zero_baseline: whether ``exact`` may be asked against a background of one all-zero row.
        names: which straw men; None: all that can be made.

    Returns:
        Functions with a ``__name__``, ready for ``xassay.check(..., explainers=...)``.

    Raises:
        UnknownNameError: a name that is no straw man's.
        InputError: a straw man that needs what is not given.

    Example:
        >>> import numpy as np
        >>> def exact(predict, background, X):
        ...     return X - background.mean(axis=0)
        >>> (made,) = straw_explainers(exact, names=["even"])
        >>> made(lambda X: X.sum(axis=1), np.zeros((2, 2)), np.array([[1.0, 3.0]])).tolist()
        [[2.0, 2.0]]
    """
    missing = {"other": other is None, "zero": not zero_baseline, "": False}
    wanted = [straw_man(name) for name in (STRAW_MEN if names is None else names)]
    if names is not None:
        for straw in wanted:
            if missing[straw.needs]:
                raise InputError(f"straw man {straw.name} needs {straw.needs}, which is not given")
    shared = exact if isinstance(exact, Remembered) else Remembered(exact)
    shared_other = None if other is None else Remembered(other, "other")
    return [
        StrawExplainer(straw, shared, seed, shared_other, zero_baseline)
        for straw in wanted
        if not missing[straw.needs]
    ]


def _seed_of(row: FloatArray) -> int:
    """A number that tells rows apart, for draws that are a row's own."""
    return int.from_bytes(hashlib.sha256(np.ascontiguousarray(row).tobytes()).digest()[:7], "little")


def _places(rows: FloatArray) -> dict[bytes, int]:
    """The first place of each row; 0.0 and -0.0 are one number."""
    places: dict[bytes, int] = {}
    for i, row in enumerate(rows + 0.0):
        places.setdefault(row.tobytes(), i)
    return places


def as_explainer(X: Any, values: npt.ArrayLike, *, background: Any = None, nearest: bool = False) -> Explain:
    """An explainer that looks rows up in a table of explanations.

    Args:
        X: the data, as it is given to ``xassay.check``.
        values: their explanations, shape (rows, features).
        background: the background, if the check is given one: both decide the check's space.
        nearest: of a row that the table does not hold, such as a neighbour of one, give the
            explanation of the nearest row in place of an error.

    Returns:
        A function (predict, background, X) -> values. It knows rows as they stand in ``X`` and as a
        check encodes them; further columns, which the model does not see, get 0.

    Raises:
        InputError: explanations that do not fit the data, or rows that are equal with explanations that
            are not.

    Example:
        >>> import numpy as np
        >>> look_up = as_explainer(np.array([[1.0, 300.0], [2.0, 100.0]]), [[0.5, 1.0], [0.1, 2.0]])
        >>> look_up(None, None, np.array([[2.0, 100.0]])).tolist()
        [[0.1, 2.0]]
    """
    space, (encoded, *_) = Space.of(X) if background is None else Space.of(X, background)
    table = np.asarray(values, dtype=np.float64)
    if table.shape != encoded.shape:
        raise InputError(f"explanations have shape {table.shape}, the data {encoded.shape}; give one a row")
    known = _places(encoded)
    for i, row in enumerate(encoded + 0.0):
        if not np.array_equal(table[known[row.tobytes()]], table[i]):
            raise InputError(f"rows {known[row.tobytes()]} and {i} are equal, and their explanations differ")
    numbers = all(column.kind in ("numeric", "binary") for column in space.columns)
    plain = _places(np.asarray(X, dtype=np.float64)) if numbers else {}
    spread = np.where(space.spreads > 0, space.spreads, 1.0)

    def look_up(_predict: Any, _background: Any, asked: FloatArray) -> FloatArray:
        found = np.zeros(np.shape(asked))
        for k, whole in enumerate(np.asarray(asked, dtype=np.float64) + 0.0):
            row = np.ascontiguousarray(whole[: table.shape[1]])
            place = known.get(row.tobytes(), plain.get(row.tobytes()))
            if place is None and not nearest:
                raise ExplainerError("the table of explanations does not hold this row")
            if place is None:
                place = int(np.argmin((((encoded - row) / spread) ** 2).sum(axis=1)))
            found[k, : table.shape[1]] = table[place]
        return found

    return look_up
