"""Permutation SHAP, by the shap package."""

from typing import Any

import attrs
import numpy as np

from xassay.errors import InputError
from xassay.explainers.base import RowExplainer, is_whole
from xassay.explainers.kernel_shap import quiet
from xassay.explainers.record import Samples
from xassay.explainers.registry import register
from xassay.seeds import global_state
from xassay.types import FloatArray

MOST_PERMUTATIONS = 100_000
N_PERMUTATIONS = 10


def _check_permutations(_: object, attribute: "attrs.Attribute[Any]", value: Any) -> None:
    if not is_whole(value) or not 1 <= value <= MOST_PERMUTATIONS:
        raise InputError(
            f"{attribute.name} must be a whole number from 1 to {MOST_PERMUTATIONS:,}, not {value!r}"
        )


@register(
    "permutation_shap",
    engine="shap",
    samples=Samples("npermutations", lambda _: N_PERMUTATIONS, lambda _: 1),
    cost=lambda n_features, n_rows: 2.0 + n_features * n_rows * 2e-3,
)
@attrs.define(eq=False, kw_only=True)
class PermutationShap(RowExplainer):
    """Shapley values by walking through random orders of the features, forth and back.

    Exact where features interact in pairs at most. A feature that the model ignores gets
    exactly 0.

    Attributes:
        npermutations: number of random orders, each walked in both directions.

    References:
        Castro, Gomez & Tejada, Computers & Operations Research 36 (2009); Mitchell et al.,
        JMLR 23 (2022), for antithetic orders.
    """

    npermutations: Any = attrs.field(default=N_PERMUTATIONS, validator=_check_permutations)
    _masker: Any = attrs.field(init=False, default=None)

    def _prepare(self) -> None:
        with quiet():
            import shap

            self._masker = shap.maskers.Independent(self.background, max_samples=len(self.background))

    def _explain_row(self, row: FloatArray, seed: int) -> FloatArray:
        evaluations = self.npermutations * (2 * len(row) + 1)
        with quiet(), global_state(seed):
            from shap.explainers import Permutation

            # the package seeds numpy when it is made, so each row has its own
            package = Permutation(self._model, self._masker, seed=seed)
            found = package(row[None], max_evals=evaluations, silent=True)
        return np.asarray(found.values, dtype=np.float64).reshape(len(row), self._model.n_outputs)
