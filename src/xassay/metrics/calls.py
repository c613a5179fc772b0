"""How metrics ask a model: in batches of bounded size, with rows of its own."""

import numpy as np
import numpy.typing as npt

from xassay.errors import InputError
from xassay.types import FloatArray, IntArray, Predict

BATCH_VALUES = 2**24
"""The most values handed to the model in one call."""


def scores(predict: Predict, rows: FloatArray) -> FloatArray:
    """One score a row, shape (rows,).

    Raises:
        InputError: the model returns another shape.
    """
    # a model may write to what it is given
    found = np.asarray(predict(rows.copy()), dtype=np.float64)
    if found.shape not in ((len(rows),), (len(rows), 1)):
        raise InputError(
            f"predict returned shape {found.shape} for {len(rows)} rows, expected ({len(rows)},)"
        )
    return found.reshape(-1)


def checked_ids(row_ids: npt.ArrayLike | None, n_rows: int) -> IntArray:
    """Ids of the rows, default 0, 1, ...

    Raises:
        InputError: not one integer a row.
    """
    ids = np.arange(n_rows) if row_ids is None else np.asarray(row_ids)
    if ids.shape != (n_rows,) or not (np.issubdtype(ids.dtype, np.integer) or not len(ids)):
        raise InputError(f"row_ids must be {n_rows} integers, one a row")
    return ids
