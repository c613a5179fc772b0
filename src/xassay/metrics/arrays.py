"""What the metrics that take a model's answers check of their arrays."""

import numpy as np
import numpy.typing as npt

from xassay.errors import InputError
from xassay.types import BoolArray, FloatArray

TINY = 1e-9
"""Differences below this share of a row's largest value count as none, as in `xassay.metrics.ranking`."""

_MATRIX = 2


def numbers(values: npt.ArrayLike, what: str, shape: tuple[int | None, ...]) -> FloatArray:
    """An array of numbers of a shape, in which None stands for any length.

    Raises:
        InputError: it holds no numbers, or has another shape.
    """
    try:
        found = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{what} must hold numbers alone") from None
    fits = found.ndim == len(shape) and all(
        n is None or n == m for n, m in zip(shape, found.shape, strict=True)
    )
    if not fits:
        expected = ", ".join("any" if n is None else str(n) for n in shape) + ("," if len(shape) == 1 else "")
        raise InputError(f"{what} must have shape ({expected}), got {found.shape}")
    return found


def contributions_of(values: npt.ArrayLike, what: str = "contributed") -> FloatArray:
    """An explanation's numbers as a matrix (rows, features) with at least one feature.

    Raises:
        InputError: they are not.
    """
    found = numbers(values, what, (None, None))
    if not found.shape[1]:
        raise InputError(f"{what} must have at least one feature")
    return found


def sets_of(subsets: npt.ArrayLike, contributed: FloatArray) -> BoolArray:
    """Sets of features, bool (rows, sets, features), of the rows of ``contributed``.

    Raises:
        InputError: another shape, or no booleans.
    """
    found = np.asarray(subsets)
    if found.dtype != np.bool_:
        raise InputError(f"subsets must be booleans, not {found.dtype}")
    rows, p = contributed.shape
    if found.ndim != _MATRIX + 1 or (found.shape[0], found.shape[2]) != (rows, p):
        raise InputError(f"subsets must have shape ({rows}, sets, {p}), got {found.shape}")
    return found


def scaled(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Rows divided by their largest absolute value, and that value, shape (rows, 1).

    A row of zeros stays one; a row that is not finite throughout becomes NaN.
    """
    finite = np.isfinite(values).all(axis=1, keepdims=True)
    largest = np.where(finite, np.abs(np.where(finite, values, 0.0)).max(axis=1, keepdims=True, initial=0), 1)
    # in two steps: one over a denormal number is infinite
    divided = np.divide(
        values, np.where(largest > 0, largest, 1.0), out=np.full(values.shape, np.nan), where=finite
    )
    return divided, largest
