"""Kernel SHAP on a table: the package's estimator, with the work shared between rows."""

import attrs
import numpy as np

from xassay.explainers.coalitions import choose
from xassay.explainers.registry import register
from xassay.explainers.table_explainer import SampledShapley
from xassay.seeds import generator
from xassay.types import BoolArray, FloatArray, IntArray

_ZERO = 1e-10
_CHUNK_BYTES = 2**27


@register(
    "kernel_shap",
    engine="native",
    published="Kernel SHAP",
    tabulates=True,
    table_only=True,
    cost=lambda _f, _r: 0.05,
)
@attrs.define(eq=False, kw_only=True)
class NativeKernelShap(SampledShapley):
    """Kernel SHAP of a model that is a table over 0/1 columns.

    Rows that share a draw share its coalitions, their worths (which depend on a row only
    through its bits inside the coalition) and one factorisation. Blind features take part in
    the coalitions and the regression, as they do in the package.

    Attributes:
        nsamples: number of coalitions, or "auto": 2 M + 2048 for M features that vary.

    Reference:
        Lundberg & Lee, NeurIPS 2017, arXiv:1705.07874.
    """

    _weights: FloatArray = attrs.field(init=False)
    _distinct: IntArray = attrs.field(init=False)

    def _fit(self) -> None:
        super()._fit()
        self._distinct, counts = np.unique(self._patterns, return_counts=True)
        self._weights = counts / len(self._patterns)

    def _solve(self, indices: IntArray, moving: IntArray, draw: int) -> FloatArray:
        gap = self._gaps[indices]
        nsamples = 2 * len(moving) + 2**11 if self.nsamples == "auto" else int(self.nsamples)
        chosen = choose(len(moving), nsamples, generator(self.seed, self.name, draw))
        projection, last = chosen.solver()
        found = np.empty((len(moving), *gap.shape))
        found[:-1] = self._projected(projection, self._inside(chosen.members, moving), indices)
        found[:-1] -= last[:, None, None] * gap
        found[-1] = gap - found[:-1].sum(axis=0)
        found[np.abs(found) < _ZERO] = 0.0
        return np.moveaxis(found, 0, 1)

    def _inside(self, members: BoolArray, moving: IntArray) -> IntArray:
        """The bits of the table that each coalition holds, as masks; a bit that does not move is in."""
        n = self._table.n_bits
        held = np.ones((len(members), self.background.shape[1]), dtype=np.bool_)
        held[:, moving] = members
        return held[:, self._table.columns] @ (1 << np.arange(n - 1, -1, -1, dtype=np.int64))

    def _projected(self, projection: FloatArray, masks: IntArray, indices: IntArray) -> FloatArray:
        """The projection of the worths, a few coalitions at a time: (moving - 1, rows, outputs)."""
        from xassay.explainers.compiled.kernels import coalition_worths, in_fours

        table = in_fours(self._gaps)
        distinct, where = np.unique(masks, return_inverse=True)
        # coalitions that differ in blind features alone have one worth
        merged = np.zeros((len(projection), len(distinct)))
        np.add.at(merged.T, where.reshape(-1), projection.T)
        found = np.zeros((len(projection), len(indices) * table.shape[1]))
        step = max(1, _CHUNK_BYTES // (8 * len(indices) * table.shape[1]))
        for start in range(0, len(distinct), step):
            part = slice(start, start + step)
            worths = coalition_worths(table, self._distinct, self._weights, distinct[part], indices)
            found += merged[:, part] @ worths.reshape(worths.shape[0], -1)
        return found.reshape(len(projection), len(indices), -1)[:, :, : self._gaps.shape[1]]
