"""Which columns a model's score depends on, alone or together with others."""

import math
from collections.abc import Callable, Iterator

import attrs
import numpy as np

from xassay.seeds import generator
from xassay.studies.check.asking import robust
from xassay.types import BoolArray, FloatArray, IntArray, Predict

MOST_CALLS = 30
"""Calls of the model, each of many rows."""

MOST_TURNS = 9
"""Sets of walks; what a set found is known to the next."""

_FIRST_PATHS, _PATHS = 4, 64
"""Walks in the first set, which finds what matters alone, and in each of the others."""

_PARTS = 32

Differs = Callable[[FloatArray, FloatArray], BoolArray]


@attrs.frozen(eq=False)
class Use:
    """What was seen of the columns.

    Attributes:
        used: whether the score was seen to depend on the column, bool (columns,).
        rows: from how many different rows it was looked.
        calls: how often the model was asked.
    """

    used: BoolArray
    rows: int
    calls: int


@attrs.frozen(eq=False)
class _Paths:
    """Ways from one row to another, a column at a time in some order.

    Attributes:
        starts: shape (paths, columns).
        ends: shape (paths, columns).
        order: which column is replaced at each step, shape (paths, columns).
    """

    starts: FloatArray
    ends: FloatArray
    order: IntArray

    def at(self, path: IntArray, step: IntArray) -> FloatArray:
        """Rows of which the first ``step`` columns of the order are replaced."""
        rank = np.argsort(self.order, axis=1)[path]
        return np.where(rank < step[:, None], self.ends[path], self.starts[path])


def column_use(predict: Predict, starts: FloatArray, pool: FloatArray, differs: Differs, seed: int) -> Use:
    """Walk from rows to others, replacing a column at a time, and see at which columns the score changes.

    A walk shows columns that matter only once others are replaced, which replacing one column
    alone does not: of redundant flags whose OR is the score the last one replaced changes it.
    Walks are halved where the score differs between two points, so that one column in a
    thousand is found in some ten calls. Columns that were seen to matter are not looked at again:
    all, none or a random part of them is replaced before the walk. Every other walk ends at a real row; the
    others end at distinct values of each column, each as likely, so that rare values are met.

    A column that is not seen may still matter where no walk came by.

    Args:
        predict: the model, (rows, columns) -> (rows,).
        starts: rows to begin at, shape (rows, columns); the first first, again where they are
            too few.
        pool: rows to take values from, shape (rows, columns).
        differs: whether two scores are different, elementwise.
        seed: fixes the walks.

    Returns:
        The columns that matter, from how many rows, and at what cost.

    Example:
        >>> rows = np.random.default_rng(0).normal(size=(50, 4))
        >>> use = column_use(lambda X: X[:, 0] * X[:, 2], rows, rows, lambda a, b: a != b, seed=0)
        >>> use.used.tolist()
        [True, False, True, False]
    """
    rng = generator(seed, "columns")
    used = np.zeros(pool.shape[1], dtype=np.bool_)
    values = [np.unique(column) for column in pool.T]
    calls, taken = 0, 0
    for turn in range(MOST_TURNS):
        if used.all():
            break
        most = math.ceil(math.log2(max(1, (~used).sum() / _PARTS))) + 1
        if turn and calls + most > MOST_CALLS:
            break
        n = _PATHS if turn else _FIRST_PATHS
        begin = starts[rng.permutation(np.arange(taken, taken + n) % len(starts))]
        taken += n
        order, first = _orders(used, n, rng)
        paths = _Paths(begin, _ends(begin, pool, values, rng), order)
        for asked, columns in _changes(predict, paths, first, used, differs):
            calls += asked
            used[columns] = True
    return Use(used, len(np.unique(starts[:taken], axis=0)), calls)


def _orders(used: BoolArray, n: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Orders in which the unknown columns stand together, and where they begin.

    By turns all known ones come before them, as in an OR the last replaced matters; none, as in an
    AND the first does; and a random part.
    """
    known, unknown = np.flatnonzero(used), np.flatnonzero(~used)
    first = rng.integers(0, len(known) + 1, size=n)
    first[::3], first[1::3] = len(known), 0
    orders = []
    for k in first.tolist():
        mixed = rng.permutation(known)
        orders.append(np.concatenate([mixed[:k], rng.permutation(unknown), mixed[k:]]))
    return np.array(orders, dtype=np.int64), first


def _ends(
    begin: FloatArray, pool: FloatArray, values: list[FloatArray], rng: np.random.Generator
) -> FloatArray:
    ends = pool[rng.integers(len(pool), size=len(begin))]
    for j, distinct in enumerate(values):
        ends[::2, j] = rng.choice(distinct, size=len(ends[::2]))
        # equal values would show nothing
        same = np.flatnonzero(ends[::2, j] == begin[::2, j]) * 2
        if len(distinct) > 1 and len(same):
            place = np.searchsorted(distinct, ends[same, j])
            shift = rng.integers(1, len(distinct), size=len(same))
            ends[same, j] = distinct[(place + shift) % len(distinct)]
    return ends


def _changes(
    predict: Predict, paths: _Paths, first: IntArray, used: BoolArray, differs: Differs
) -> Iterator[tuple[int, IntArray]]:
    """The columns at which the score changes, found by halving: how many calls it took, and which."""
    unknown = int((~used).sum())
    grid = np.unique(np.linspace(0, unknown, min(unknown, _PARTS) + 1).astype(np.int64))
    n, points = len(first), len(grid)
    steps = first[:, None] + grid
    path = np.repeat(np.arange(n), points)
    scores = robust(predict, paths.at(path, steps.ravel())).reshape(n, points)
    # path, first and last step of each part; the scores there
    parts = np.column_stack(
        [np.repeat(np.arange(n), points - 1), steps[:, :-1].ravel(), steps[:, 1:].ravel()]
    )
    ends = np.column_stack([scores[:, :-1].ravel(), scores[:, 1:].ravel()])
    calls = 1
    while True:
        changed = differs(ends[:, 0], ends[:, 1])
        parts, ends = parts[changed], ends[changed]
        single = parts[:, 2] - parts[:, 1] == 1
        yield calls, paths.order[parts[single, 0], parts[single, 1]]
        parts, ends = parts[~single], ends[~single]
        if not len(parts):
            return
        middle = (parts[:, 1] + parts[:, 2]) // 2
        between, calls = robust(predict, paths.at(parts[:, 0], middle)), 1
        halves = [
            np.column_stack([parts[:, :2], middle]),
            np.column_stack([parts[:, 0], middle, parts[:, 2]]),
        ]
        parts = np.concatenate(halves)
        ends = np.concatenate(
            [np.column_stack([ends[:, 0], between]), np.column_stack([between, ends[:, 1]])]
        )
