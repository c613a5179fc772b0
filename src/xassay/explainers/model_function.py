"""A model's predict, whatever it returns, as float (rows, outputs)."""

from typing import Any

import numpy as np
import numpy.typing as npt

from xassay.errors import ExplainerError, InputError
from xassay.types import FloatArray, Predict


class ModelFunction:
    """Calls a user's predict and checks what comes back.

    Accepts one score a row in any form, (rows,) or (rows, 1), or several, (rows, outputs),
    as an array, list or frame.

    Attributes:
        single: whether the model gives one score a row.
        n_outputs: the number of scores a row.
    """

    def __init__(self, predict: Predict, example: FloatArray) -> None:
        self._predict = predict
        self.single, self.n_outputs = True, 1
        first = np.asarray(predict(example[:1].copy()))
        if first.ndim == 2:  # noqa: PLR2004 - a matrix
            self.n_outputs = int(first.shape[1])
            self.single = self.n_outputs == 1
        self(example[:1])

    def __call__(self, rows: FloatArray) -> FloatArray:
        """Float (rows, outputs).

        Raises:
            ExplainerError: the model returned another shape, or no numbers.
        """
        returned: Any = self._predict(rows)
        try:
            scores = np.asarray(returned, dtype=np.float64)
        except (TypeError, ValueError):
            raise ExplainerError(f"predict returned {type(returned).__name__}, expected numbers") from None
        if scores.ndim == 1:
            scores = scores[:, None]
        if scores.shape != (len(rows), self.n_outputs):
            raise ExplainerError(
                f"predict returned shape {np.shape(returned)} for {len(rows)} rows, expected ({len(rows)},) "
                f"or ({len(rows)}, {self.n_outputs})"
            )
        return scores

    def output(self, position: int) -> "SingleOutput":
        """The function rows -> (rows,) of one output."""
        return SingleOutput(self, position)


class SingleOutput:
    """One output of a model, as packages expect it: (rows, features) -> (rows,)."""

    def __init__(self, model: ModelFunction, position: int) -> None:
        self._model, self._position = model, position

    def __call__(self, rows: npt.ArrayLike) -> FloatArray:
        """One score a row, float (rows,)."""
        return self._model(np.asarray(rows, dtype=np.float64))[:, self._position]


def as_matrix(rows: npt.ArrayLike, what: str) -> FloatArray:
    """Rows as a float matrix.

    Raises:
        InputError: not two-dimensional, empty of columns, or not numbers.
    """
    try:
        matrix = np.array(rows, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{what} must hold numbers only; encode text columns first") from None
    if matrix.ndim != 2 or matrix.shape[1] == 0:  # noqa: PLR2004 - a matrix
        raise InputError(f"{what} must have shape (rows, features), got {matrix.shape}")
    return matrix
