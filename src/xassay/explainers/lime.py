"""LIME for tabular data, by the lime package: categorical, Gaussian or quartile perturbations."""

import functools
import warnings
from typing import Any

import attrs
import numpy as np

from xassay.errors import InputError
from xassay.explainers.base import DATA, LocalModel, RowExplainer, is_whole, one_of
from xassay.explainers.record import Samples
from xassay.explainers.registry import register
from xassay.types import FloatArray

MOST_SAMPLES = 1_000_000
TREATMENTS = ("categorical", "gaussian", "quartile")
ROUNDINGS = ("none", "nearest", "truncate")


def check_several(_: object, attribute: "attrs.Attribute[Any]", value: Any) -> None:
    """Validator: a whole number of at least 2, the row itself and another.

    Raises:
        InputError: it is none.
    """
    if not is_whole(value) or not 2 <= value <= MOST_SAMPLES:  # noqa: PLR2004 - the row itself and another
        raise InputError(
            f"{attribute.name} must be a whole number of at least 2 and at most {MOST_SAMPLES:,}, "
            f"not {value!r}"
        )


def check_width(_: object, __: object, value: Any) -> None:
    """Validator: a positive number or none.

    Raises:
        InputError: neither.
    """
    if value not in (None, "none") and not (isinstance(value, (int, float)) and value > 0):
        raise InputError(f"kernel_width must be a positive number or none, not {value!r}")


def _cost(n_features: int, _: int) -> float:
    return 3.0 + 0.2 * n_features


@register(
    "lime",
    engine="lime",
    published="LIME",
    local_linear=True,
    needs_finite=True,
    samples=Samples("n_samples", lambda _: 5000),
    cost=_cost,
)
@attrs.define(eq=False, kw_only=True)
class Lime(RowExplainer):
    """A ridge regression on weighted random rows; columns are declared categorical.

    Every feature gets its weight (the package would keep 10), and one set of random rows
    serves all outputs. The values are the regression's weights: for a categorical column,
    of the indicator "equals the explained row's value".

    With Gaussian draws the explanation is a local linear model: coefficients are the weights
    over the background's standard deviations, the intercept is the regression's minus the sum
    of coefficient times mean. Where the model sees the draws as they are (no rounding), the
    values are these coefficients.

    Attributes:
        n_samples: number of random rows.
        treatment: "categorical" (draws from the column's frequencies in the background;
            columns must hold integers), "gaussian" (draws from a normal with the background's
            mean and standard deviation), or "quartile" (the package's default discretiser).
        rounding: what the model is shown of a draw: "none" (as it is), "nearest" (rounded
            and clipped to the range of background and row), or "truncate" (cut to an integer
            and clipped, as some detectors do with what they are given).
        kernel_width: width of the exponential kernel; none: 0.75 sqrt(features).
        categorical: with "gaussian", positions of columns that are categories all the same;
            their values are the weights of "equals the explained row's value".

    Reference:
        Ribeiro, Singh & Guestrin, KDD 2016, doi:10.1145/2939672.2939778.
    """

    n_samples: Any = attrs.field(default=5000, validator=check_several)
    treatment: str = attrs.field(default="categorical", validator=one_of(*TREATMENTS))
    rounding: str = attrs.field(default="none", validator=one_of(*ROUNDINGS))
    kernel_width: Any = attrs.field(default="none", validator=check_width)
    categorical: Any = attrs.field(default=(), converter=tuple, metadata=DATA)
    _package: Any = attrs.field(init=False, default=None)
    _low: FloatArray = attrs.field(init=False)
    _high: FloatArray = attrs.field(init=False)

    def _prepare(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from lime.lime_tabular import LimeTabularExplainer

        categorical = self._categorical_columns()
        if np.isnan(self.background).any():
            raise InputError("lime takes no missing values in the background")
        p = self.background.shape[1]
        if not set(categorical) <= set(range(p)):
            raise InputError(f"lime: categorical={tuple(categorical)}: positions go from 0 to {p - 1}")
        codes = self.background[:, categorical]
        if not (codes == np.rint(codes)).all():
            raise InputError("lime: categorical columns must hold integers; use lime:treatment=gaussian")
        self._low, self._high = self.background.min(axis=0), self.background.max(axis=0)
        self._package = LimeTabularExplainer(
            self.background,
            mode="classification",
            categorical_features=categorical or None,
            discretize_continuous=self.treatment == "quartile",
            feature_selection="none",
            kernel_width=None if self.kernel_width == "none" else self.kernel_width,
            random_state=0,
        )

    def _categorical_columns(self) -> list[int]:
        return list(range(self.background.shape[1]) if self.treatment == "categorical" else self.categorical)

    def _explain_row(self, row: FloatArray, seed: int) -> FloatArray | LocalModel:
        # the package carries its generator from row to row: each row starts it anew
        self._package.random_state = np.random.RandomState(seed)
        self._package.base.random_state = self._package.random_state
        if self._package.discretizer is not None:
            self._package.discretizer.random_state = self._package.random_state
        codes = row[self._categorical_columns()]
        if not (codes == np.rint(codes)).all():
            raise InputError("lime: categorical columns must hold integers")
        outputs = tuple(range(self._model.n_outputs))
        with warnings.catch_warnings():
            # classification mode shares the random rows between outputs, and expects probabilities
            warnings.filterwarnings("ignore", message=r"\s*Prediction probabil")
            explained = self._package.explain_instance(
                row,
                functools.partial(
                    self._shown, low=np.minimum(self._low, row), high=np.maximum(self._high, row)
                ),
                labels=outputs,
                num_features=len(row),
                num_samples=self.n_samples,
            )
        values = np.zeros((len(row), len(outputs)))
        for output in outputs:
            for feature, weight in explained.local_exp[output]:
                values[feature, output] = weight
        if self.treatment != "gaussian":
            return values
        scaler = self._package.scaler
        slopes = values / scaler.scale_[:, None]
        intercepts = np.array([explained.intercept[output] for output in outputs]) - scaler.mean_ @ slopes
        return LocalModel(slopes if self.rounding == "none" else values, slopes, intercepts)

    def _shown(self, rows: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
        if self.rounding != "none":
            whole = np.rint(rows) if self.rounding == "nearest" else np.trunc(rows)
            rows = np.clip(whole, low, high)
        return self._model(rows)


@register(
    "lime_continuous",
    engine="lime",
    published="LIME",
    local_linear=True,
    needs_finite=True,
    samples=Samples("n_samples", lambda _: 5000),
    cost=_cost,
)
@attrs.define(eq=False, kw_only=True)
class LimeContinuous(Lime):
    """LIME with the Gaussian draws of its paper, rounded and clipped before the model sees them."""

    treatment: str = attrs.field(default="gaussian", validator=one_of(*TREATMENTS))
    rounding: str = attrs.field(default="nearest", validator=one_of(*ROUNDINGS))
