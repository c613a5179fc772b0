"""Sampling SHAP on a table: the package's estimator, with its draws shared between rows."""

import attrs
import numpy as np

from xassay.errors import InputError
from xassay.explainers.registry import register
from xassay.explainers.table_explainer import SampledShapley
from xassay.seeds import generator
from xassay.types import FloatArray, IntArray

_FIRST_ROUND = 100
_TIGHT = 1e6
"""How closely the correction makes the values sum to f(x) - mean: to one part in this."""


@attrs.frozen(eq=False)
class _Sums:
    """Numbers, sums and sums of squares of sampled differences, each (rows, bits, outputs)."""

    n: FloatArray
    total: FloatArray
    squares: FloatArray

    @property
    def mean(self) -> FloatArray:
        """0 where nothing was sampled."""
        return np.asarray(self.total / np.maximum(self.n, 1))

    @property
    def variance(self) -> FloatArray:
        """Of one difference; 0 where nothing was sampled."""
        return np.asarray(np.maximum(self.squares / np.maximum(self.n, 1) - self.mean**2, 0.0))


@register(
    "sampling_shap",
    engine="native",
    published="Sampling SHAP",
    tabulates=True,
    table_only=True,
    cost=lambda _f, _r: 0.05,
)
@attrs.define(eq=False, kw_only=True)
class NativeSamplingShap(SampledShapley):
    """Shapley values of a table by sampled permutations, feature by feature.

    A sample of feature j is the change of the output when j turns from a background row's
    value to the explained row's, with the features before j in a random order already
    explained and those after it the background's. As in the package, each feature first gets
    an equal share of the samples, at most 100; what is left goes to where the output varies
    most; and the values are corrected to sum to f(x) - mean, in proportion to their spread.

    Attributes:
        nsamples: samples of a row, at least two a feature, or "auto": 1000 a feature that varies.

    Reference:
        Strumbelj & Kononenko, Knowledge and Information Systems 41 (2014).
    """

    def _fit(self) -> None:
        super()._fit()
        least = 2 * self.background.shape[1]
        if self.nsamples != "auto" and self.nsamples < least:
            raise InputError(f"sampling_shap: nsamples={self.nsamples} is under two a feature ({least})")

    def _solve(self, indices: IntArray, moving: IntArray, draw: int) -> FloatArray:
        gap, m = self._gaps[indices], len(moving)
        budget = 1000 * m if self.nsamples == "auto" else int(self.nsamples)
        first = min(budget, _FIRST_ROUND * m)
        shares = np.full(m, 2 * (first // (2 * m)))
        shares[: first % (2 * m) // 2] += 2
        position = {feature: k for k, feature in enumerate(moving)}
        seen = np.array([position.get(column, -1) for column in self._table.columns])
        counts = np.where(seen >= 0, shares[seen], 0)[None, :, None] * np.ones_like(
            gap[:, None], dtype=np.int64
        )
        sums = self._sampled(indices, counts.astype(np.int64), draw, "first")
        if budget > first:
            spread = sums.variance
            whole = spread.sum(axis=1, keepdims=True)
            parts = np.where(whole > 0, spread / np.where(whole > 0, whole, 1), 1 / m)
            more = (parts * (budget - first)).astype(np.int64)
            extra = self._sampled(indices, np.where(counts > 0, more + more % 2, 0), draw, "second")
            sums = _Sums(sums.n + extra.n, sums.total + extra.total, sums.squares + extra.squares)
        found, spread = np.zeros((2, len(indices), m, gap.shape[1]))
        visible = seen >= 0
        found[:, seen[visible]] = sums.mean[:, visible]
        spread[:, seen[visible]] = (sums.variance / np.sqrt(np.maximum(sums.n, 1)))[:, visible]
        return _corrected(found, spread, gap)

    def _sampled(self, indices: IntArray, counts: IntArray, draw: int, turn: str) -> _Sums:
        """Differences of so many samples a (row, bit, output), the first ones of a shared pool."""
        from xassay.explainers.compiled.kernels import sampled_differences

        n = self._table.n_bits
        size = int(counts.max())
        places = 1 << np.arange(n - 1, -1, -1, dtype=np.int64)
        after = np.empty((n, size), dtype=np.int64)
        patterns = np.empty((n, size), dtype=np.int64)
        for bit in range(n):
            # a pool is drawn in blocks, so that a larger one begins with the smaller one's samples
            rng = generator(self.seed, self.name, turn, draw, bit)
            orders = rng.random((size, n))
            after[bit] = (orders > orders[:, [bit]]) @ places
            patterns[bit] = self._patterns[self._picks(size, turn, draw, bit)]
        total, squares = sampled_differences(self._gaps, indices, places, after, patterns, counts)
        return _Sums(counts.astype(np.float64), total, squares)

    def _picks(self, size: int, turn: str, draw: int, bit: int) -> IntArray:
        rng = generator(self.seed, self.name, turn, "background", draw, bit)
        return np.floor(rng.random(size) * len(self._patterns)).astype(np.int64)


def _corrected(values: FloatArray, spread: FloatArray, gap: FloatArray) -> FloatArray:
    """Values that sum to the gap: a ridge with one equation, penalties 1 / spread."""
    most = spread.max(axis=1, keepdims=True)
    weights = np.where(most > 0, spread / np.where(most > 0, most, 1), 1.0) * _TIGHT
    error = (gap - values.sum(axis=1))[:, None]
    return np.asarray(values + error * weights / (1 + weights.sum(axis=1, keepdims=True)))
