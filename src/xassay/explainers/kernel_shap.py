"""Kernel SHAP, by the shap package."""

import logging
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import attrs
import numpy as np

from xassay.errors import InputError
from xassay.explainers.base import RowExplainer, is_whole
from xassay.explainers.record import Samples
from xassay.explainers.registry import register
from xassay.seeds import global_state
from xassay.types import FloatArray

MOST_SAMPLES = 10_000_000
_ENUMERATED = 0.2
_MOST_FEATURES = 30


def check_samples(_: object, attribute: "attrs.Attribute[Any]", value: Any) -> None:
    """Validator: a positive integer or "auto".

    Raises:
        InputError: neither.
    """
    if value != "auto" and not (is_whole(value) and 0 < value <= MOST_SAMPLES):
        raise InputError(
            f"{attribute.name} must be 'auto' or a positive integer up to {MOST_SAMPLES:,}, not {value!r}"
        )


def _check_l1(_: object, __: object, value: Any) -> None:
    named = value in (None, "none", "auto", "aic", "bic")
    counted = isinstance(value, str) and re.fullmatch(r"num_features\([1-9]\d*\)", value) is not None
    number = isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0
    if not (named or counted or number):
        raise InputError(
            f"l1_reg must be 'none', 'auto', 'aic', 'bic', 'num_features(k)' or a number, not {value!r}"
        )


@contextmanager
def quiet() -> Iterator[None]:
    """Keep the terminal free of shap's advice, of lasso's, and of warnings from shap's own imports."""
    logger = logging.getLogger("shap")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)


def _cost(n_features: int, n_rows: int) -> float:
    return 5.0 + 500 * n_rows * n_features * 6e-6


@register(
    "kernel_shap",
    engine="shap",
    published="Kernel SHAP",
    samples=Samples("nsamples", lambda p: 2 * p + 2**11, lambda p: 2 * p, lambda p: 2.0**p),
    cost=_cost,
)
@attrs.define(eq=False, kw_only=True)
class KernelShap(RowExplainer):
    """Shapley values by weighted regression over sampled coalitions.

    All outputs of a row are explained in one call: the coalitions, and the model's work on
    them, are shared.

    Attributes:
        nsamples: number of coalitions, or "auto": the package's 2 M + 2048.
        l1_reg: feature selection before the regression. "none" (default), "aic", "bic",
            "num_features(k)", a lasso penalty, or "auto": "aic" where nsamples is under a
            fifth of the 2^M - 2 coalitions of the M features that differ from the
            background, else none, which was the package's default up to 0.46.

    Reference:
        Lundberg & Lee, NeurIPS 2017, arXiv:1705.07874.
    """

    nsamples: Any = attrs.field(default="auto", validator=check_samples)
    l1_reg: Any = attrs.field(default="none", validator=_check_l1)
    _package: Any = attrs.field(init=False, default=None)

    def _prepare(self) -> None:
        with quiet():
            import shap

            self._package = shap.KernelExplainer(self._model, self.background)

    def _explain_row(self, row: FloatArray, seed: int) -> FloatArray:
        with quiet(), global_state(seed):
            values = self._package.shap_values(
                row[None], nsamples=self.nsamples, l1_reg=self._penalty(row), silent=True
            )
        return np.asarray(values, dtype=np.float64).reshape(len(row), self._model.n_outputs)

    def _penalty(self, row: FloatArray) -> Any:
        if self.l1_reg in (None, "none"):
            return False
        if self.l1_reg != "auto":
            return self.l1_reg
        varying = int((~np.isclose(self.background, row)).any(axis=0).sum())
        coalitions = 2**varying - 2 if varying <= _MOST_FEATURES else 2**_MOST_FEATURES
        nsamples = 2 * varying + 2**11 if self.nsamples == "auto" else self.nsamples
        return "aic" if coalitions > 0 and min(nsamples, coalitions) / coalitions < _ENUMERATED else False
