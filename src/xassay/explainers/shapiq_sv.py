"""Shapley values by the shapiq package, where it is installed."""

import importlib.util
from typing import Any

import attrs
import numpy as np

from xassay.errors import InputError
from xassay.explainers.base import RowExplainer, is_whole, one_of
from xassay.explainers.kernel_shap import MOST_SAMPLES, quiet
from xassay.explainers.record import Samples
from xassay.explainers.registry import register
from xassay.seeds import global_state
from xassay.types import FloatArray

BUDGET = 512
APPROXIMATORS = ("auto", "montecarlo", "svarm", "permutation")


def _check_budget(_: object, attribute: "attrs.Attribute[Any]", value: Any) -> None:
    if not is_whole(value) or not 1 <= value <= MOST_SAMPLES:
        raise InputError(f"{attribute.name} must be a whole number from 1 to {MOST_SAMPLES:,}, not {value!r}")


@attrs.define(eq=False, kw_only=True)
class ShapIQ(RowExplainer):
    """Shapley values by shapiq's approximators, with the whole background as replacement.

    Attributes:
        budget: number of coalitions that the model is asked for.
        approximator: "auto" (the package's choice: a weighted regression), "montecarlo",
            "svarm" or "permutation".

    Reference:
        Muschalik et al., NeurIPS 2024 (datasets and benchmarks), arXiv:2410.01649.
    """

    budget: Any = attrs.field(default=BUDGET, validator=_check_budget)
    approximator: Any = attrs.field(default="auto", validator=one_of(*APPROXIMATORS))

    def _explain_row(self, row: FloatArray, seed: int) -> FloatArray:
        columns = []
        for position in range(self._model.n_outputs):
            output = self._model.output(position)
            with quiet(), global_state(seed):
                import shapiq

                package = shapiq.TabularExplainer(
                    # the package goes on with what the model was given, which may be written to
                    lambda rows, output=output: output(np.array(rows)),
                    self.background,
                    index="SV",
                    max_order=1,
                    imputer="marginal",
                    approximator=self.approximator,
                    sample_size=len(self.background),
                    random_state=seed,
                )
                found = package.explain(row[None], budget=self.budget)
            columns.append(np.asarray(found.get_n_order_values(1), dtype=np.float64))
        return np.stack(columns, axis=1)


if importlib.util.find_spec("shapiq") is not None:
    register(
        "shapiq",
        engine="shapiq",
        samples=Samples("budget", lambda _: BUDGET, lambda p: 2 * p, lambda p: 2.0**p),
        cost=lambda _features, n_rows: 20.0 + 0.5 * n_rows,
    )(ShapIQ)
