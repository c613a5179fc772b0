"""What a check is asked to do, as far as it can be known without the model."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import attrs
import numpy as np

from xassay import explainers
from xassay.errors import InputError, UnknownNameError
from xassay.models.score import KINDS, LINKS
from xassay.studies.options import check_distinct, check_some, check_whole, floats, seconds, strings

DEFAULT_EXPLAINERS = ("permutation_shap", "kernel_shap", "lime", "maple", "random")
YARDSTICKS = ("zscore",)
"""Explainers that take part where causes are planted, as what they find needs no explainer."""

MEASURES = (
    "planted",
    "fidelity",
    "causal",
    "removal",
    "data",
    "placebo",
    "stability",
    "background",
    "convergence",
    "randomisation",
    "cost",
)
"""All measures, in the order of a report."""

ON_REQUEST = ("randomisation",)
"""Those that are measured only where they are named: they need more than a model and data."""

LEAST_SIGMA, MOST_SIGMA = 1e-6, 1e3
OPTIONS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "lime": MappingProxyType({"treatment": "gaussian"}),
        "lime_continuous": MappingProxyType({"rounding": "none"}),
    }
)
"""Options of explainers, unless the user gives others: columns here are numbers, not bits."""


def _optional_text(value: Any) -> str | None:
    return None if value is None else str(value)


def _timeout(value: Any) -> float | None:
    return None if value is None else seconds("timeout", value)


def _budget(value: Any) -> float | None:
    return None if value is None else seconds("budget", value)


@attrs.frozen
class CheckSettings:
    """Settings of a check.

    Attributes:
        kind: ``regression``, ``classification`` (a class's probability) or ``anomaly`` (an outlier score).
        class_: the class whose probability is explained. Default: the second of two.
        link: ``logit`` explains log-odds in place of probabilities.
        explainers: ``permutation_shap``, ``kernel_shap``, ``sampling_shap``, ``tree_shap``,
            ``shapiq``, ``lime``, ``maple``, ``random``, or ``file.py:function``. Default:
            permutation_shap, kernel_shap, lime, maple and random; none where attributions or coefficients
            are given.
        measures: some of planted, fidelity, causal, removal, data, placebo, stability, background,
            convergence, randomisation (the model is refitted to shuffled targets), cost. Default: all
            but randomisation.
        rows: rows of the data that are explained; all if it has fewer.
        sigma: standard deviations of the perturbations, in those of the columns.
        max_background: background rows that explainers are given at most; more are sampled down, with a
            notice.
        timeout: time that a part of the run may take, in seconds or as in 90s, 5m or 1h.
        budget: time that the run may take, in seconds or as in 90s, 5m or 1h; rows are cut to fit.
        seed: seed of everything random.
        functions: which of the explainers are functions at hand.

    Raises:
        InputError: a value that cannot be used; the message names the option.
    """

    kind: str = "regression"
    class_: str | None = attrs.field(default=None, converter=_optional_text)
    link: str = "identity"
    explainers: tuple[str, ...] = attrs.field(default=DEFAULT_EXPLAINERS, converter=strings)
    measures: tuple[str, ...] = attrs.field(
        default=tuple(name for name in MEASURES if name not in ON_REQUEST), converter=strings
    )
    rows: int = 200
    sigma: tuple[float, ...] = attrs.field(default=(0.1, 0.25), converter=floats)
    max_background: int = 100
    timeout: float | None = attrs.field(default=None, converter=_timeout)
    budget: float | None = attrs.field(default=None, converter=_budget)
    seed: int = 0
    functions: tuple[str, ...] = ()

    def __attrs_post_init__(self) -> None:
        for option, value, known in (("kind", self.kind, KINDS), ("link", self.link, LINKS)):
            if value not in known:
                raise UnknownNameError(option, value, known)
        for option in ("explainers", "measures", "sigma"):
            check_some(option, getattr(self, option))
            check_distinct(option, getattr(self, option))
        for measure in self.measures:
            if measure not in MEASURES:
                raise UnknownNameError("measure", measure, MEASURES)
        self._check_numbers()
        for spec in self.explainers:
            if spec != GIVEN and spec not in self.functions:
                explainers.registry.check_spec(spec)

    def _check_numbers(self) -> None:
        for sigma in self.sigma:
            if not (np.isfinite(sigma) and LEAST_SIGMA <= sigma <= MOST_SIGMA):
                raise InputError(
                    f"sigma is in standard deviations, from {LEAST_SIGMA:g} to {MOST_SIGMA:g}, not {sigma:g}"
                )
        for option, least in (("rows", 1), ("max_background", 1), ("seed", 0)):
            check_whole(option, getattr(self, option), least)

    @property
    def limit(self) -> float | None:
        """Seconds that one thing may take: the smaller of `timeout` and `budget`; None: no limit."""
        return min((one for one in (self.timeout, self.budget) if one is not None), default=None)

    def options_of(self, spec: str) -> dict[str, Any]:
        """An explainer's options in force: its defaults, the check's, the user's over them."""
        name, _, given = explainers.registry.split(spec)
        return {
            **explainers.registry.default_options(explainers.record(spec)),
            **OPTIONS.get(name, {}),
            **given,
        }


GIVEN = "given"
"""The name of explanations that were computed elsewhere."""
