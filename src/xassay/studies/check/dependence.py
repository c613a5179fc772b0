"""How far numeric columns of a row contradict each other, beyond how far out they lie alone.

Two looks, on normal scores (a column's ranks among real rows, mapped to a standard normal):

* the Gaussian one: how far some columns lie from what the others foresee, as a squared
  Mahalanobis distance under a shrunk correlation matrix (Ledoit and Wolf, "A well-conditioned
  estimator for large-dimensional covariance matrices", JMVA 2004). It sees monotone dependence
  in any number of columns;
* the distance to the nearest real rows by pairs of columns, on ranks, where there are few columns:
  it sees dependence of any shape between two.

What counts as far is read off real rows that the estimate has not seen.
"""

import itertools
from typing import Any

import numpy as np
from scipy import stats

from xassay.types import BoolArray, FloatArray, IntArray

UNLIKELY = 0.99
"""A row is unlikely beyond this quantile of real rows: one real row in a hundred is called so."""

MOST_NEAR = 8
"""Pairs of columns are looked at up to so many columns: beyond, there are too many for their quantiles."""

AS_LIKELY = float(stats.chi2.ppf(0.95, df=1))
"""Two repairs of one column each are told apart beyond this difference of the squared distance: the
likelihood ratio that chance exceeds once in twenty."""

_NEIGHBOURS = 5
_TRIED = np.linspace(0.025, 0.975, 20)


class Dependence:
    """The dependence between columns of real rows.

    Args:
        pool: real rows, finite, no column constant, shape (rows, columns); at least 12 rows.
    """

    def __init__(self, pool: FloatArray) -> None:
        self._sorted = np.sort(pool, axis=0)
        self._z = self.scores(pool)
        self._precision = _precision(self._z)
        # the same order for equal rows: every other row, by position
        halves = np.arange(len(pool)) % 2 == 0
        self._unseen = [(self._z[part], _precision(self._z[~part])) for part in (halves, ~halves)]
        self._pairs = _pairs(stats.norm.cdf(self._z)) if pool.shape[1] <= MOST_NEAR else {}

    def scores(self, rows: FloatArray) -> FloatArray:
        """Normal scores by column: the middle of the ranks of equal values, in (-inf, inf)."""
        n = len(self._sorted)
        low = np.stack([np.searchsorted(s, v, "left") for s, v in zip(self._sorted.T, rows.T, strict=True)])
        high = np.stack([np.searchsorted(s, v, "right") for s, v in zip(self._sorted.T, rows.T, strict=True)])
        ranks = np.clip((low + high) / 2, 0.5, n - 0.5)
        return np.asarray(stats.norm.ppf(ranks / n)).T

    def values(self, column: int, scores: FloatArray) -> FloatArray:
        """The real value of a column whose normal score is nearest below: the way back from `scores`."""
        n = len(self._sorted)
        places = np.clip(np.floor(stats.norm.cdf(scores) * n), 0, n - 1).astype(np.int64)
        return np.asarray(self._sorted[places, column])

    def unlikely(self, z: FloatArray, columns: IntArray) -> BoolArray:
        """Whether these columns contradict the others, or each other.

        Args:
            z: normal scores, shape (rows, all columns).
            columns: positions, shape (k,).

        Returns:
            bool, shape (rows,).
        """
        return self._beyond(z, columns) | self._far_off(z, columns)

    def instead(self, z: FloatArray, column: int) -> BoolArray:
        """Which other columns could be wrong in its place: changed alone, they mend the row as well.

        Args:
            z: one row's normal scores, in which this column is wrong, shape (columns,).
            column: the column that was changed.

        Returns:
            bool, shape (columns,); False throughout where nothing is wrong with the row.
        """
        q, own = len(z), np.array([column])
        beyond, far = bool(self._beyond(z[None], own)[0]), bool(self._far_off(z[None], own)[0])
        found = np.full(q, beyond or far)
        if beyond:
            # shrinkage moves the scale of the distance: that of unseen rows is what holds
            slack = AS_LIKELY * self._limit(own) / stats.chi2.ppf(UNLIKELY, df=1)
            pull, scale = self._precision @ z, np.diag(self._precision)
            gain, mended = pull**2 / scale, z - pull / scale
            left = (pull[column] - self._precision[column] * pull / scale) ** 2 / scale[column]
            within = np.abs(mended) <= np.abs(self._z).max(axis=0)
            found &= (gain >= gain[column] - slack) & (left <= slack) & within
        if far:
            tried = np.repeat(z[None, None], q, axis=0).repeat(len(_TRIED), axis=1)
            for k in range(q):
                tried[k, :, k] = stats.norm.ppf(_TRIED)
            everywhere = self._far_off(tried.reshape(-1, q), np.arange(q))
            found &= ~everywhere.reshape(q, -1).all(axis=1)
        found[column] = False
        return found

    def _beyond(self, z: FloatArray, columns: IntArray) -> BoolArray:
        return np.asarray(_foreseen(z, self._precision, columns) > self._limit(columns))

    def _limit(self, columns: IntArray) -> float:
        unseen = np.concatenate([_foreseen(rows, matrix, columns) for rows, matrix in self._unseen])
        return float(np.quantile(unseen, UNLIKELY))

    def _far_off(self, z: FloatArray, columns: IntArray) -> BoolArray:
        """Whether a pair that one of these columns belongs to lies where no real rows do."""
        found = np.zeros(len(z), dtype=np.bool_)
        ranks = stats.norm.cdf(z)
        for pair, (tree, far) in self._pairs.items():
            if np.isin(pair, columns).any():
                found |= tree.query(ranks[:, pair], k=_NEIGHBOURS)[0][:, -1] > far
        return found


def _pairs(ranks: FloatArray) -> dict[tuple[int, int], tuple[Any, float]]:
    """By pair of columns: where real rows are, and how far one of them is from the others at most."""
    from scipy.spatial import cKDTree

    q = ranks.shape[1]
    found = {}
    for pair in itertools.combinations(range(q), 2):
        tree = cKDTree(ranks[:, pair])
        own = np.asarray(tree.query(ranks[:, pair], k=_NEIGHBOURS + 1)[0])[:, -1]
        # a column belongs to q - 1 pairs: together they may call one real row in a hundred unlikely
        found[pair] = tree, float(np.quantile(own, 1 - (1 - UNLIKELY) / (q - 1)))
    return found


def _precision(z: FloatArray) -> FloatArray:
    from sklearn.covariance import ledoit_wolf

    shrunk, _ = ledoit_wolf(z)
    return np.asarray(np.linalg.inv(shrunk))


def _foreseen(z: FloatArray, precision: FloatArray, columns: IntArray) -> FloatArray:
    """Squared Mahalanobis distance of some columns from their mean given the others, shape (rows,).

    It is what the squared distance of the row falls by when they are set to that mean.
    """
    pull = z @ precision[:, columns]
    inverse = np.linalg.inv(precision[np.ix_(columns, columns)])
    return np.asarray(np.einsum("ra,ab,rb->r", pull, inverse, pull))
