"""MAPLE as an explainer of any model: a surrogate fitted to the model's predictions explains itself."""

from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from xassay.errors import ExplainerError, InputError
from xassay.explainers.base import DATA, BaseExplainer, is_whole, one_of
from xassay.explainers.model_function import as_matrix
from xassay.explainers.registry import register
from xassay.seeds import legacy_seed
from xassay.types import Explanation, FloatArray

_LEAST_ROWS = 2


def _positive_whole(_: object, attribute: "attrs.Attribute[Any]", value: Any) -> None:
    if not is_whole(value) or value < 1:
        raise InputError(f"{attribute.name} must be a whole number of at least 1, not {value!r}")


def _features(_: object, attribute: "attrs.Attribute[Any]", value: Any) -> None:
    share = isinstance(value, float) and 0 < value <= 1
    if value not in ("sqrt", "log2") and not share and not (is_whole(value) and value > 0):
        raise InputError(
            f"{attribute.name} must be a share of the features (above 0, at most 1), a number of them, "
            f"'sqrt' or 'log2', not {value!r}"
        )


def _penalty(_: object, attribute: "attrs.Attribute[Any]", value: Any) -> None:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number or not 0 <= value < float("inf"):
        raise InputError(f"{attribute.name} must be a number of at least 0, not {value!r}")


def _optional_matrix(rows: Any) -> FloatArray | None:
    return None if rows is None else as_matrix(rows, "the validation rows")


def _cost(n_features: int, _: int) -> float:
    return 0.5 + 0.01 * n_features


@register(
    "maple",
    engine="native",
    published="MAPLE",
    local_linear=True,
    needs_finite=True,
    surrogate=True,
    cost=_cost,
)
@attrs.define(eq=False, kw_only=True)
class Maple(BaseExplainer):
    """Local linear models of a MAPLE regressor that was fitted to the model's predictions.

    The trees grow on the background rows. The seed is that of the fit, so row ids change
    nothing; a model with several outputs gets one fit an output.

    Attributes:
        ensemble: "random_forest" or "gradient_boosting".
        n_estimators: number of trees.
        max_features: features tried at a split: a share, a number, "sqrt" or "log2".
        min_samples_leaf: least number of rows in a leaf.
        alpha: ridge penalty of the local models.
        validation: rows that choose the number of features kept, shape (rows, features);
            None: a third of the background is split off for it.

    Reference:
        Plumb, Molitor & Talwalkar, NeurIPS 2018, arXiv:1807.02910.
    """

    ensemble: str = attrs.field(
        default="random_forest", validator=one_of("random_forest", "gradient_boosting")
    )
    n_estimators: Any = attrs.field(default=200, validator=_positive_whole)
    max_features: Any = attrs.field(default=0.5, validator=_features)
    min_samples_leaf: Any = attrs.field(default=10, validator=_positive_whole)
    alpha: Any = attrs.field(default=0.001, validator=_penalty)
    validation: Any = attrs.field(default=None, converter=_optional_matrix, metadata=DATA)
    _fitted: list[Any] = attrs.field(init=False, factory=list)

    def _prepare(self) -> None:
        from xassay.models import MapleRegressor

        if len(self.background) < _LEAST_ROWS:
            raise InputError(f"maple: a background of {len(self.background)} row cannot be fitted; give more")
        if self.validation is not None and self.validation.shape[1] != self.background.shape[1]:
            raise InputError(
                f"maple: validation has {self.validation.shape[1]} features, the background "
                f"{self.background.shape[1]}"
            )
        targets = self._targets(self.background)
        validation = None if self.validation is None else self._targets(self.validation)
        for output in range(self._model.n_outputs):
            model = MapleRegressor(
                self.ensemble,
                self.n_estimators,
                self.max_features,
                self.min_samples_leaf,
                self.alpha,
                random_state=legacy_seed(self.seed, self.name),
            )
            held_out = (None, None) if validation is None else (self.validation, validation[:, output])
            self._fitted.append(model.fit(self.background, targets[:, output], *held_out))

    def _targets(self, rows: FloatArray) -> FloatArray:
        predicted = self._model(rows)
        if not np.isfinite(predicted).all():
            raise ExplainerError("maple: the model's predictions on the background are not all finite")
        return predicted

    def explain(self, X: npt.ArrayLike, row_ids: npt.ArrayLike | None = None) -> Explanation:
        """Coefficients and intercepts at each row; see `BaseExplainer.explain`."""
        rows, _ = self._rows(X, row_ids)
        slopes = np.empty((*rows.shape, self._model.n_outputs))
        intercepts = np.empty((len(rows), self._model.n_outputs))
        slopes[:], intercepts[:] = np.nan, np.nan
        finite = np.isfinite(rows).all(axis=1)
        if finite.any():
            for output, model in enumerate(self._fitted):
                found = model.explain(rows[finite])
                slopes[finite, :, output], intercepts[finite, output] = found.coefficients, found.intercepts
        first = 0 if self._model.single else slice(None)
        return Explanation(
            slopes[:, :, first],
            coefficients=slopes[:, :, first],
            intercepts=intercepts[:, first],
            errors={int(row): "the row holds values that are not finite" for row in np.flatnonzero(~finite)},
        )
