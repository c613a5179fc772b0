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

    def __init__(self, predict: Predict, background: FloatArray) -> None:
        self._predict = predict
        try:
            first = predict(background.copy())
            shape = np.shape(first)
        except Exception as error:
            raise ExplainerError(
                f"predict failed on the background: {type(error).__name__}: {error}"
            ) from error
        self.n_outputs = int(shape[1]) if len(shape) == 2 else 1  # noqa: PLR2004 - a matrix
        self.single = self.n_outputs == 1
        self._checked(first, len(background))

    def __call__(self, rows: FloatArray) -> FloatArray:
        """Float (rows, outputs).

        Raises:
            ExplainerError: the model returned another shape, or no numbers.
        """
        # background and rows are read-only; a model may write to what it is given
        return self._checked(self._predict(rows if rows.flags.writeable else rows.copy()), len(rows))

    def _checked(self, returned: Any, n_rows: int) -> FloatArray:
        try:
            given = np.asarray(returned)
            scores = given.astype(np.float64, casting="same_kind" if given.dtype.kind == "c" else "unsafe")
        except (TypeError, ValueError):
            raise ExplainerError(
                f"predict returned {type(returned).__name__}, expected real numbers"
            ) from None
        if scores.ndim == 1:
            scores = scores[:, None]
        if scores.shape != (n_rows, self.n_outputs) or not self.n_outputs:
            raise ExplainerError(
                f"predict returned shape {np.shape(returned)} for {n_rows} rows, expected ({n_rows},) "
                f"or ({n_rows}, {max(self.n_outputs, 1)})"
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
    """Rows as a float matrix of our own, read-only: `ModelFunction` hands a model its own copy of it.

    Raises:
        InputError: not two-dimensional, empty of columns, or not numbers.
    """
    try:
        matrix = np.array(rows, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{what} must hold numbers only; encode text columns first") from None
    if matrix.ndim != 2 or matrix.shape[1] == 0:  # noqa: PLR2004 - a matrix
        raise InputError(f"{what} must have shape (rows, features), got {matrix.shape}")
    matrix.setflags(write=False)
    return matrix
