"""Chance: what a score is worth is its distance from this."""

import attrs
import numpy as np

from xassay.explainers.base import RowExplainer
from xassay.explainers.registry import register
from xassay.types import FloatArray


@register("random", engine="native", baseline=True, uses_background=False, cost=lambda _features, _rows: 0.05)
@attrs.define(eq=False, kw_only=True)
class Random(RowExplainer):
    """Standard normal values that know nothing of the model."""

    def _explain_row(self, row: FloatArray, seed: int) -> FloatArray:
        draws = np.random.default_rng(seed).standard_normal(len(row))
        return np.repeat(draws[:, None], self._model.n_outputs, axis=1)
