"""Models and rows for the laws of explainers: columns of 0 and 1, which all explainers take."""

from collections.abc import Callable
from typing import Any

import numpy as np

from xassay.types import FloatArray

Model = Callable[[FloatArray], Any]


def first(rows: FloatArray) -> FloatArray:
    """((1 and 2) xor (3 or not 4)); features 5 and 6 do nothing."""
    changed = (rows[:, 0] * rows[:, 1]) != np.maximum(rows[:, 2], 1 - rows[:, 3])
    return np.asarray(changed, dtype=np.float64)


def second(rows: FloatArray) -> FloatArray:
    """Another output."""
    return np.asarray(rows[:, 1] * (1 - rows[:, 4]) + rows[:, 5])


def both(rows: FloatArray) -> FloatArray:
    """Two outputs."""
    return np.stack([first(rows), second(rows)], axis=1)


def total(rows: FloatArray) -> FloatArray:
    """The sum of all columns."""
    return np.asarray(rows.sum(axis=1))


def constant(rows: FloatArray) -> FloatArray:
    """The same score for all rows."""
    return np.full(len(rows), 0.75)


def scribbles(rows: FloatArray) -> FloatArray:
    """As `first`, by a model that writes to the rows that it is given."""
    scores = first(rows)
    rows[:] = 1 - rows
    return scores


def _bits(seed: int, shape: tuple[int, int]) -> FloatArray:
    return np.random.default_rng(seed).integers(0, 2, shape).astype(float)


BACKGROUND = _bits(0, (12, 6))
ROWS = np.array(
    [[1, 1, 1, 0, 1, 0], [1, 1, 0, 1, 0, 1], [0, 1, 0, 0, 1, 1], [1, 0, 1, 1, 0, 0], [0, 0, 0, 1, 1, 0.0]]
)

WIDE_BACKGROUND = _bits(1, (12, 16))
"""Wide enough that the failing row, all ones, is never met while another row is explained."""
WIDE_ROWS = np.vstack([_bits(2, (1, 16)), np.ones((1, 16)), _bits(3, (1, 16))])
FAILING = 1
"""The position of the row of ones."""


class FailsOnOnes:
    """`first`, but for the row of ones, where it fails in a way of its own.

    Attributes:
        failed: how often it was asked for that row.
    """

    def __init__(self, answer: Model) -> None:
        self.answer, self.failed = answer, 0

    def __call__(self, rows: FloatArray) -> FloatArray:
        """One score a row."""
        failing = rows.all(axis=1)
        if not failing.any():
            return first(rows)
        self.failed += 1
        return np.where(failing, self.answer(rows), first(rows))


def broken(_: FloatArray) -> FloatArray:
    """Raises."""
    raise ZeroDivisionError("the model broke")


def undecided(rows: FloatArray) -> FloatArray:
    """No number for any row."""
    return np.full(len(rows), np.nan)


ANSWERS: dict[str, tuple[Callable[[FloatArray], Any]]] = {
    "column": (lambda scores: scores[:, None],),
    "list": (lambda scores: scores.tolist(),),
    "float32": (lambda scores: scores.astype(np.float32),),
    "bool": (lambda scores: scores.astype(bool),),
    "frame": (lambda scores: _frame(scores[:, None]),),
}
"""Forms in which a model may give the same answer."""

NO_ANSWERS: dict[str, tuple[Model]] = {
    "one_row": (lambda rows: rows[:1, 0],),
    "complex": (lambda rows: rows[:, 0] + 1j,),
    "no_output": (lambda rows: rows[:, :0],),
    "error": (lambda _: 1 / 0,),
    "a_number": (lambda _: 1.0,),
    "long": (lambda rows: np.zeros(len(rows) + 1),),
    "cube": (lambda rows: np.zeros((len(rows), 1, 1)),),
    "text": (lambda rows: ["high"] * len(rows),),
}
"""What is no score a row."""

NO_ROWS: dict[str, tuple[Any, Any]] = {
    "narrow": (ROWS[:, :5], None),
    "one_row": (ROWS[0], None),
    "text": ([["a"] * 6], None),
    "few_ids": (ROWS, [0, 1]),
    "float_ids": (ROWS, [0.0, 1.0, 2.0, 3.0, 4.0]),
}
"""Rows, or ids, that do not fit the background."""


def _frame(values: Any) -> Any:
    import pandas as pd

    return pd.DataFrame(values)


FORMS: dict[str, tuple[Callable[[FloatArray], Any]]] = {
    "bool": (lambda rows: rows.astype(bool),),
    "int": (lambda rows: rows.astype(int),),
    "int8": (lambda rows: rows.astype(np.int8),),
    "float32": (lambda rows: rows.astype(np.float32),),
    "frame": (_frame,),
}
"""Forms in which the same rows may come."""
