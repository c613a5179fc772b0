"""Sampling SHAP (Shapley sampling values, IME), by the shap package."""

from typing import Any

import attrs
import numpy as np

from xassay.errors import InputError
from xassay.explainers.base import RowExplainer
from xassay.explainers.kernel_shap import check_samples, quiet
from xassay.explainers.record import Samples
from xassay.explainers.registry import register
from xassay.seeds import global_state
from xassay.types import FloatArray


def _cost(n_features: int, _: int) -> float:
    return 1000 * n_features * 0.008 if n_features <= 7 else 15.0  # noqa: PLR2004 - c17 runs the default


@register(
    "sampling_shap",
    engine="shap",
    published="Sampling SHAP",
    samples=Samples("nsamples", lambda p: 1000 * p, lambda p: 2 * p),
    cost=_cost,
)
@attrs.define(eq=False, kw_only=True)
class SamplingShap(RowExplainer):
    """Shapley values by sampled permutations and background rows.

    Outputs are explained one by one, as the package's second round gives more samples to
    the features whose values vary most, which differ between outputs.

    Attributes:
        nsamples: number of evaluated pairs, at least two a feature, or "auto": the package's
            1000 M.

    References:
        Strumbelj & Kononenko, JMLR 11 (2010) and KAIS 41 (2014).
    """

    nsamples: Any = attrs.field(default="auto", validator=check_samples)
    _packages: list[Any] = attrs.field(init=False, factory=list)

    def _prepare(self) -> None:
        least = 2 * self.background.shape[1]
        if self.nsamples != "auto" and self.nsamples < least:
            raise InputError(f"sampling_shap: nsamples={self.nsamples} is under two a feature ({least})")
        with quiet():
            import shap

            self._packages = [
                shap.SamplingExplainer(self._model.output(position), self.background)
                for position in range(self._model.n_outputs)
            ]

    def _explain_row(self, row: FloatArray, seed: int) -> FloatArray:
        columns = []
        for package in self._packages:
            with quiet(), global_state(seed):
                columns.append(package.shap_values(row[None], nsamples=self.nsamples, silent=True)[0])
        return np.stack(columns, axis=1)
