"""Explanations that know the total and not the columns: what a score must beat to mean anything."""

import numpy as np
import numpy.typing as npt

from xassay.errors import InputError
from xassay.metrics.arrays import contributions_of, numbers
from xassay.metrics.calls import checked_ids
from xassay.seeds import generator
from xassay.types import FloatArray


def even_split(total: npt.ArrayLike, n_features: int) -> FloatArray:
    """The total shared out evenly: phi_j = (f(x) - E f) / features.

    It knows how much the score differs from the background's, and names no column.

    Args:
        total: v(all) = f(x) - E f, shape (rows,).
        n_features: how many columns there are.

    Returns:
        float, shape (rows, features).

    Raises:
        InputError: no list of numbers, or n_features below 1.

    Example:
        >>> even_split([3.0], 2).tolist()
        [[1.5, 1.5]]
    """
    if n_features < 1:
        raise InputError(f"n_features must be at least 1, not {n_features}")
    share = numbers(total, "total", (None,)) / n_features
    return np.repeat(share[:, None], n_features, axis=1)


def shuffled(
    contributed: npt.ArrayLike, row_ids: npt.ArrayLike | None = None, seed: int = 0, n: int = 1
) -> FloatArray:
    """An explanation's own values, each row's shuffled among its columns.

    It knows the total and the sizes of the contributions, and not whose they are.

    Args:
        contributed: shape (rows, features).
        row_ids: integers, shape (rows,); default 0, 1, ...
        seed: fixes the shuffles, with the row's id.
        n: shuffles of each row; the first ones stay the same as n grows.

    Returns:
        float, shape (n, rows, features).

    Raises:
        InputError: no matrix, ids that are no integers, or n below 1.

    Example:
        >>> sorted(shuffled([[1.0, 2.0, 3.0]])[0, 0].tolist())
        [1.0, 2.0, 3.0]
    """
    values = contributions_of(contributed)
    ids = checked_ids(row_ids, len(values))
    if n < 1:
        raise InputError(f"n must be at least 1, not {n}")
    found = np.empty((n, *values.shape))
    for k, row_id in enumerate(ids):
        luck = generator(seed, "shuffled", int(row_id)).random((n, values.shape[1]))
        found[:, k] = values[k][np.argsort(luck, axis=1)]
    return found
