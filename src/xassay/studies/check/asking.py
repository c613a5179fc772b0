"""Asking a model that may refuse some rows."""

import numpy as np

from xassay.types import FloatArray, Predict


def robust(predict: Predict, rows: FloatArray) -> FloatArray:
    """Scores, NaN where the model raises: asked in halves until the rows that it refuses are alone."""
    if not len(rows):
        return np.empty(0)
    try:
        return np.asarray(predict(rows), dtype=np.float64)
    except Exception:  # noqa: BLE001 - whatever it raises
        if len(rows) == 1:
            return np.array([np.nan])
    half = len(rows) // 2
    return np.concatenate([robust(predict, rows[:half]), robust(predict, rows[half:])])
