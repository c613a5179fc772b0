"""The order in which an explanation names the columns of a row, and the sets of its first k.

What is measured along such an order is in `xassay.metrics.paths`.
"""

import math

import numpy as np
import numpy.typing as npt

from xassay.errors import InputError
from xassay.metrics.arrays import TINY, contributions_of, numbers, scaled
from xassay.metrics.calls import checked_ids
from xassay.seeds import generator
from xassay.types import BoolArray, IntArray

SHARES = (0.01, 0.05, 0.1, 0.2, 0.5)
"""Shares of the columns at which DeYoung et al. evaluate."""
MAX_POINTS = 8


def path_grid(n_features: int) -> IntArray:
    """Numbers of columns at which a path is evaluated: at most 8, from 1 to n_features - 1.

    The shares 1, 5, 10, 20 and 50% of DeYoung et al. (rounded up), 1, and n_features - 1; then
    the powers of 2, those farthest from the others by ratio first, until there are 8.

    Args:
        n_features: how many columns there are.

    Returns:
        int, rising; empty for one column, of which there is no order.

    Raises:
        InputError: n_features below 1.

    Example:
        >>> path_grid(30).tolist()
        [1, 2, 3, 4, 6, 8, 15, 29]
    """
    if n_features < 1:
        raise InputError(f"n_features must be at least 1, not {n_features}")
    if n_features == 1:
        return np.empty(0, dtype=np.int64)
    shares = [math.ceil(share * n_features) for share in SHARES]
    points = {1, n_features - 1, *(min(k, n_features - 1) for k in shares)}
    powers = [2**k for k in range(1, n_features.bit_length()) if 2**k < n_features]
    while len(points) < MAX_POINTS and not points.issuperset(powers):
        points.add(max(powers, key=lambda k: min(abs(np.log2(k / other)) for other in points)))
    return np.array(sorted(points), dtype=np.int64)


def column_orders(
    contributed: npt.ArrayLike,
    row_ids: npt.ArrayLike | None = None,
    seed: int = 0,
    direction: npt.ArrayLike | None = None,
) -> IntArray:
    """The columns of each row, the most important first.

    By falling absolute value; with ``direction`` by falling value times the direction. Values
    closer than 1e-9 of the row's largest are tied, as in `xassay.metrics.ranking`; ties are put
    in a random order that the seed and the row's id fix, so that an explanation that names no
    column is at chance. The random order is the same for every explanation of the row.

    Args:
        contributed: shape (rows, features).
        row_ids: integers, shape (rows,); default 0, 1, ...
        seed: fixes the order of ties.
        direction: numbers of which the sign counts, shape (rows,); None: by absolute value.

    Returns:
        int, shape (rows, features): positions of columns. A row that is not finite throughout
        has a random order: leave it out.

    Raises:
        InputError: shapes that do not fit, or ids that are no integers.

    Example:
        >>> column_orders([[1.0, -3.0, 2.0]]).tolist()
        [[1, 2, 0]]
        >>> column_orders([[1.0, -3.0, 2.0]], direction=[1.0]).tolist()
        [[2, 0, 1]]
    """
    values = contributions_of(contributed)
    ids = checked_ids(row_ids, len(values))
    strength, _ = scaled(values)
    if direction is None:
        strength = np.abs(strength)
    else:
        strength = strength * np.sign(numbers(direction, "direction", (len(values),)))[:, None]
    strength = np.where(np.isfinite(strength) & (np.abs(strength) > TINY), strength, 0.0)
    order = np.argsort(-strength, axis=1, kind="stable")
    groups = np.zeros(values.shape, dtype=np.int64)
    falling = np.take_along_axis(strength, order, axis=1)
    np.cumsum(falling[:, :-1] - falling[:, 1:] > TINY, axis=1, out=groups[:, 1:])
    group_of = np.empty_like(groups)
    np.put_along_axis(group_of, order, groups, axis=1)
    luck = np.empty(values.shape)
    for k, row_id in enumerate(ids):
        luck[k] = generator(seed, "path", int(row_id)).random(values.shape[1])
    return np.lexsort((luck, group_of), axis=1)


def prefix_sets(
    contributed: npt.ArrayLike,
    grid: npt.ArrayLike,
    row_ids: npt.ArrayLike | None = None,
    seed: int = 0,
    direction: npt.ArrayLike | None = None,
) -> BoolArray:
    """The sets T_k of the first k columns of each row's order, for each k of a grid.

    Args:
        contributed: shape (rows, features).
        grid: numbers of columns, rising, between 1 and features - 1 (`path_grid`).
        row_ids: see `column_orders`.
        seed: see `column_orders`.
        direction: see `column_orders`.

    Returns:
        bool, shape (rows, len(grid), features); all but the first k are the complement.

    Raises:
        InputError: see `column_orders`; a grid that does not rise or leaves the range.

    Example:
        >>> prefix_sets([[1.0, -3.0, 2.0]], [1, 2]).astype(int).tolist()
        [[[0, 1, 0], [0, 1, 1]]]
    """
    order = column_orders(contributed, row_ids, seed, direction)
    counts = checked_grid(grid, order.shape[1])
    places = np.argsort(order, axis=1)
    return np.asarray(places[:, None, :] < counts[None, :, None])


def checked_grid(grid: npt.ArrayLike, p: int) -> IntArray:
    """Numbers of columns, rising, between 1 and p - 1.

    Raises:
        InputError: they are not.
    """
    counts = np.asarray(grid)
    if counts.ndim != 1 or (counts.size and not np.issubdtype(counts.dtype, np.integer)):
        raise InputError("grid must be a list of integers")
    if np.any(np.diff(counts) <= 0) or np.any((counts < 1) | (counts >= p)):
        raise InputError(f"grid must rise and stay between 1 and {p - 1}, one less than the features")
    return counts.astype(np.int64)
