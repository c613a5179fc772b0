"""Rows made anomalous through known columns: the ground truth of a detector without labels."""

import attrs
import numpy as np
from scipy import stats

from xassay.metrics import reciprocal_rank
from xassay.seeds import generator
from xassay.studies.check.asking import robust
from xassay.tabular.space import Space
from xassay.types import BoolArray, FloatArray, IntArray, Predict

N_EACH = 100
SHIFT, BROKEN = "out of range", "broken dependency"
NOTICED = 0.95
"""A planted row counts as noticed where its score is above this share of ordinary rows'."""

_BEYOND = 4.0
_MOST_SHIFTED = 3
_RELATED = 0.6
_LOW, _HIGH = 0.25, 0.75
_LEAST_ROWS = 20


@attrs.frozen(eq=False)
class Planted:
    """Planted rows.

    Attributes:
        rows: encoded, shape (n, features).
        truth: which columns make each anomalous, bool (n, features).
        how: `SHIFT` or `BROKEN`, one a row.
        noticed: whether the detector finds it more anomalous than ordinary rows, bool (n,).
    """

    rows: FloatArray
    truth: BoolArray
    how: tuple[str, ...]
    noticed: BoolArray

    @property
    def chance(self) -> float:
        """The reciprocal rank of the first cause in a random order, on average over noticed rows."""
        truth = self.truth[self.noticed] if self.noticed.any() else self.truth
        return float(reciprocal_rank(np.zeros(truth.shape), truth).mean())


def plant(predict: Predict, space: Space, pool: FloatArray, scores: FloatArray, seed: int) -> Planted | None:
    """Plant causes in ordinary rows, those that score below the median.

    Two ways, about half and half where both are possible:

    * out of range: one to three numeric columns are set beyond the background's range by four
      standard deviations; they are the cause;
    * a broken dependency: of two numeric columns with a rank correlation of at least 0.6, one
      is set to a value at the wrong end of its range, so that each alone is ordinary and the
      two together are not; both are the cause.

    Columns that depend on planted ones may rightly appear in an explanation too.

    Args:
        predict: the score, larger is more anomalous.
        space: the columns.
        pool: background rows.
        scores: their scores.
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
    made = _shifted(space, pool, ordinary, numbers, rng) + _broken(pool, ordinary, numbers, rng)
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


def _broken(pool: FloatArray, ordinary: IntArray, numbers: list[int], rng: np.random.Generator) -> _Made:
    ranks = stats.rankdata(pool[:, numbers], axis=0) / len(pool)
    with np.errstate(invalid="ignore", divide="ignore"):
        related = np.nan_to_num(np.corrcoef(ranks, rowvar=False).reshape(len(numbers), len(numbers)))
    np.fill_diagonal(related, 0.0)
    pairs = np.argwhere(np.abs(related) >= _RELATED)
    made: _Made = []
    if not len(pairs):
        return made
    for _ in range(N_EACH):
        a, b = pairs[rng.integers(len(pairs))]
        # rows whose other column lies at one end, so that there is a wrong end for this one
        ends = ordinary[(ranks[ordinary, b] < _LOW) | (ranks[ordinary, b] > _HIGH)]
        if not len(ends):
            continue
        chosen = int(rng.choice(ends))
        goes_up = related[a, b] * (ranks[chosen, b] - 0.5) < 0
        wrong = np.flatnonzero(ranks[:, a] > 0.95 if goes_up else ranks[:, a] < 0.05)  # noqa: PLR2004
        if not len(wrong):
            continue
        row = pool[chosen].copy()
        row[numbers[a]] = pool[int(rng.choice(wrong)), numbers[a]]
        made.append((row, [numbers[a], numbers[b]], BROKEN))
    return made
