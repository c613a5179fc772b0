"""Rows made anomalous through known columns: the ground truth of a detector without labels."""

from collections.abc import Callable
from functools import partial

import attrs
import numpy as np

from xassay.metrics import reciprocal_rank
from xassay.seeds import generator
from xassay.studies.check.asking import robust
from xassay.studies.check.dependence import Dependence
from xassay.tabular.space import Space
from xassay.types import BoolArray, FloatArray, IntArray, Predict

N_EACH = 60
"""Planted rows of each kind, at most."""

SHIFT = "out of range"
WRONG = "typical alone, wrong given the others"
SEVERAL = "several columns together"
SWAPPED = "swapped pair"
KINDS = (SHIFT, WRONG, SEVERAL, SWAPPED)
"""What is planted. Rows of `SHIFT` are found by looking at columns one at a time; the others are not."""

NOTICED = 0.95
"""A planted row counts as noticed where its score is above this share of ordinary rows'."""

_BEYOND = 4.0
_MOST_SHIFTED = 3
_MOST_TOGETHER = 4
_TYPICAL = (1.0, 1.645)
"""Values are typical alone up to this normal score: the first where that is enough to contradict the other
columns, so that |z| alone says next to nothing; else the second, from the 5% to the 95% quantile."""

_LEAST_ROWS = 20
_LEAST_MADE = 10
"""Fewer rows than this say too little of a kind: it is left out."""

_TRIES = 200
_MOST_COLUMNS = 30
_LEAST_SHARE = 0.05
"""A kind (or column) is taken where this share of tries gives an unlikely row. Among real rows it is 0.01
by definition, and among independent columns less, as the values are typical ones."""


@attrs.frozen(eq=False)
class Planted:
    """Planted rows.

    Attributes:
        rows: encoded, shape (n, features).
        truth: which columns count as causes, bool (n, features); see `plant`.
        how: the kind of each row, one of `KINDS`.
        noticed: whether the detector finds it more anomalous than ordinary rows, bool (n,).
    """

    rows: FloatArray
    truth: BoolArray
    how: tuple[str, ...]
    noticed: BoolArray

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds that there are, in the order of `KINDS`."""
        return tuple(kind for kind in KINDS if kind in self.how)

    @property
    def chance(self) -> float:
        """The reciprocal rank of the first cause in a random order, on average over noticed rows."""
        return self._chance(np.ones(len(self.how), dtype=np.bool_))

    def chance_of(self, kind: str) -> float:
        """`chance` over the rows of one kind; NaN where there is none."""
        chosen = np.array([one == kind for one in self.how])
        return self._chance(chosen) if chosen.any() else float("nan")

    def _chance(self, chosen: BoolArray) -> float:
        noticed = chosen & self.noticed
        truth = self.truth[noticed if noticed.any() else chosen]
        return float(reciprocal_rank(np.zeros(truth.shape), truth).mean())


def plant(predict: Predict, space: Space, pool: FloatArray, scores: FloatArray, seed: int) -> Planted | None:
    """Plant causes in ordinary rows, those that score below the median.

    Four kinds, up to `N_EACH` rows each. The first moves values out of range. The others change
    numeric columns to values within one standard deviation of the median (on normal scores;
    between the 5% and 95% quantiles where that is not enough), so that each changed column alone
    is ordinary, and keep rows that are unlikely as a whole (`Dependence.unlikely`):

    * out of range: one to three numeric columns are set beyond the background's range by four
      standard deviations;
    * typical alone, wrong given the others: one column takes another row's value, which the
      other columns contradict;
    * several columns together: two to four columns take the values of as many other rows;
    * swapped pair: two columns take each other's rank.

    A kind that cannot be made is left out: nothing contradicts where columns are independent.

    Columns that were changed count as causes. So does a column that could be wrong in the place
    of a changed one, as changing it alone mends the row just as well: of two columns that
    depend on each other alone, no data tell which is wrong, and both count; of a column
    that several others contradict, only that one does. Rows of which every column would be a
    cause are left out, as there is nothing to find.

    Args:
        predict: the score, larger is more anomalous.
        space: the columns.
        pool: background rows, shape (rows, features).
        scores: their scores, shape (rows,).
        seed: fixes the draws.

    Returns:
        The planted rows, or None where there is no numeric column or hardly a row.
    """
    numbers = [
        j for j in space.positions("numeric") if np.isfinite(pool[:, j]).all() and np.ptp(pool[:, j]) > 0
    ]
    ordinary = np.flatnonzero(scores <= np.median(scores))
    if not numbers or pool.shape[1] == 1 or len(ordinary) < _LEAST_ROWS // 2 or len(pool) < _LEAST_ROWS:
        return None
    rng = generator(seed, "plant")
    made = _shifted(space, pool, ordinary, numbers, rng)
    if len(numbers) > 1:
        made += _InRange(space, pool, ordinary, np.array(numbers), rng).made()
    made = [made[int(k)] for k in rng.permutation(len(made))]
    rows = space.snap(np.array([row for row, _, _ in made]))
    truth = np.zeros(rows.shape, dtype=np.bool_)
    for k, (_, columns, _) in enumerate(made):
        truth[k, columns] = True
    noticed = robust(predict, rows) > np.quantile(scores, NOTICED)
    return Planted(rows, truth, tuple(how for _, _, how in made), np.asarray(noticed))


_Made = list[tuple[FloatArray, list[int], str]]


def _shifted(
    space: Space, pool: FloatArray, ordinary: IntArray, numbers: list[int], rng: np.random.Generator
) -> _Made:
    made: _Made = []
    low, high, spreads = pool.min(axis=0), pool.max(axis=0), space.spreads
    for _ in range(N_EACH):
        row = pool[rng.choice(ordinary)].copy()
        several = int(rng.integers(1, _MOST_SHIFTED + 1))
        most = max(1, min(len(numbers), pool.shape[1] - 1))
        columns = rng.choice(numbers, size=min(several, most), replace=False).tolist()
        for j in columns:
            up = rng.random() < 0.5  # noqa: PLR2004 - a coin
            row[j] = high[j] + _BEYOND * spreads[j] if up else low[j] - _BEYOND * spreads[j]
        made.append((row, columns, SHIFT))
    return made


class _InRange:
    """Rows whose columns are ordinary one at a time and contradict each other."""

    def __init__(
        self,
        space: Space,
        pool: FloatArray,
        ordinary: IntArray,
        numbers: IntArray,
        rng: np.random.Generator,
    ) -> None:
        self._space, self._pool, self._ordinary = space, pool, ordinary
        self._numbers, self._rng = numbers, rng
        self._dependence = Dependence(pool[:, numbers])
        self._z = np.abs(self._dependence.scores(pool[:, numbers]))
        self._typical = _TYPICAL[0]
        self._donors: list[IntArray] = []

    def made(self) -> _Made:
        """Rows of every kind that can be made, with values as typical as can be."""
        made: _Made = []
        for self._typical in _TYPICAL:
            self._donors = [np.flatnonzero(z <= self._typical) for z in self._z.T]
            if made := self._kinds():
                break
        return made

    def _kinds(self) -> _Made:
        alone: list[tuple[FloatArray, FloatArray, IntArray]] = []
        related: list[int] = []
        usable = [j for j in range(len(self._numbers)) if len(self._donors[j])]
        for j in self._rng.permutation(usable)[:_MOST_COLUMNS].tolist():
            found = self._tried(_TRIES, partial(np.array, [j]), self._of_other_rows)
            if len(found) >= _LEAST_SHARE * _TRIES:
                related.append(j)
                alone += found
        kinds: list[tuple[str, list[tuple[FloatArray, FloatArray, IntArray]]]] = [(WRONG, alone)]
        if len(related) > 1:
            several = self._tried(3 * _TRIES, lambda: self._some(related), self._of_other_rows)
            swapped = self._tried(3 * _TRIES, lambda: self._some(related, 2), self._of_each_other)
            kinds += [
                (kind, found if len(found) >= _LEAST_SHARE * 3 * _TRIES else [])
                for kind, found in ((SEVERAL, several), (SWAPPED, swapped))
            ]
        return [row for kind, found in kinds for row in self._chosen(kind, found)]

    def _some(self, related: list[int], most: int = _MOST_TOGETHER) -> IntArray:
        size = int(self._rng.integers(2, min(most, len(related)) + 1))
        return np.asarray(self._rng.choice(related, size=size, replace=False))

    def _of_other_rows(self, row: FloatArray, columns: IntArray) -> bool:
        """Give each column the value of another row; False where that cannot be."""
        taken: set[int] = set()
        for j in columns.tolist():
            donor = int(self._rng.choice(self._donors[j]))
            if donor in taken:
                return False
            taken.add(donor)
            row[self._numbers[j]] = self._pool[donor, self._numbers[j]]
        return True

    def _of_each_other(self, row: FloatArray, columns: IntArray) -> bool:
        """Give two columns each other's rank; False where the values would not be typical."""
        z = self._dependence.scores(row[None, self._numbers])[0, columns]
        if (np.abs(z) > self._typical).any():
            return False
        for j, score in zip(columns.tolist(), z[::-1], strict=True):
            row[self._numbers[j]] = self._dependence.values(j, score)
        return True

    def _tried(
        self, n: int, choose: Callable[[], IntArray], change: Callable[[FloatArray, IntArray], bool]
    ) -> list[tuple[FloatArray, FloatArray, IntArray]]:
        """The unlikely ones of n tries: the row before, after, and what was changed."""
        tries: dict[tuple[int, ...], list[tuple[FloatArray, FloatArray]]] = {}
        for _ in range(n):
            before = self._pool[self._rng.choice(self._ordinary)]
            after, columns = before.copy(), np.sort(choose())
            if change(after, columns):
                after = self._space.snap(after[None])[0]
                if (after != before)[self._numbers[columns]].all():
                    tries.setdefault(tuple(columns.tolist()), []).append((before, after))
        kept: list[tuple[FloatArray, FloatArray, IntArray]] = []
        for chosen, pairs in tries.items():
            columns = np.array(chosen)
            rows = np.array([after for _, after in pairs])
            unlikely = self._dependence.unlikely(self._dependence.scores(rows[:, self._numbers]), columns)
            kept += [(*pair, columns) for pair, keep in zip(pairs, unlikely.tolist(), strict=True) if keep]
        return kept

    def _chosen(self, kind: str, found: list[tuple[FloatArray, FloatArray, IntArray]]) -> _Made:
        made: _Made = []
        for k in self._rng.permutation(len(found)).tolist():
            before, after, columns = found[k]
            causes = self._causes(before, after, columns)
            if len(causes) < self._pool.shape[1]:
                made.append((after, causes, kind))
            if len(made) == N_EACH:
                break
        return made if len(made) >= _LEAST_MADE else []

    def _causes(self, before: FloatArray, after: FloatArray, columns: IntArray) -> list[int]:
        causes = np.isin(np.arange(len(self._numbers)), columns)
        for j in columns.tolist():
            alone = before[self._numbers].copy()
            alone[j] = after[self._numbers[j]]
            causes |= self._dependence.instead(self._dependence.scores(alone[None])[0], j)
        return [int(j) for j in self._numbers[causes]]
