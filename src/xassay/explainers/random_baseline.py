"""Chance: what a score is worth is its distance from this."""

import attrs
import numpy as np

from xassay.explainers.base import RowExplainer
from xassay.explainers.registry import register
from xassay.types import FloatArray


@register("random", engine="native", baseline=True, uses_background=False, cost=lambda _features, _rows: 0.05)
@attrs.define(eq=False, kw_only=True)
class Random(RowExplainer):
    """Normal values that know nothing of the model, of the size that its scores would have them.

    Their standard deviation is that of the score over the background, over the root of the number
    of features.
    """

    _size: FloatArray = attrs.field(init=False)

    def _prepare(self) -> None:
        sizes = self._model(self.background).std(axis=0) / np.sqrt(self.background.shape[1])
        self._size = np.where(np.isfinite(sizes) & (sizes > 0), sizes, 1.0)

    def _explain_row(self, row: FloatArray, seed: int) -> FloatArray:
        draws = np.random.default_rng(seed).standard_normal(len(row))
        return np.asarray(draws[:, None] * self._size)
