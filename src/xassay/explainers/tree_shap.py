"""Tree SHAP, by the shap package: exact Shapley values from inside a tree model."""

from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from xassay.errors import ExplainerError, InputError
from xassay.explainers.base import DATA, BaseExplainer
from xassay.explainers.kernel_shap import quiet
from xassay.explainers.registry import register
from xassay.types import BoolArray, Explanation, FloatArray

_SHARE = 1e-4
"""Of the spread of scores: larger differences are no rounding."""
_ROUNDING = 2e-7
"""Of their size: what 32 bits cannot tell apart."""


def _as_they_are(rows: FloatArray) -> FloatArray:
    return rows


@register(
    "tree_shap",
    engine="shap",
    stochastic=False,
    wants_model=True,
    cost=lambda _features, n_rows: 0.05 * n_rows,
)
@attrs.define(eq=False, kw_only=True)
class TreeShap(BaseExplainer):
    """Exact Shapley values of a tree or an ensemble of trees, against the background.

    The package looks inside the model and explains what it finds there, which need not be what
    ``predict`` gives: of an isolation forest it is the length of paths, of a boosted classifier
    the log-odds. So the values are checked against ``predict`` before they are given: of every
    row they must add up to it.

    Attributes:
        model: the fitted estimator.
        decode: from rows as explainers see them to rows as the model does.

    Reference:
        Lundberg et al., Nature Machine Intelligence 2 (2020), doi:10.1038/s42256-019-0138-9.
    """

    model: Any = attrs.field(default=None, metadata=DATA, repr=False)
    decode: Any = attrs.field(default=_as_they_are, metadata=DATA, repr=False)
    _package: Any = attrs.field(init=False, default=None)
    _output: int | None = attrs.field(init=False, default=None)

    def _prepare(self) -> None:
        if self.model is None:
            raise InputError("tree_shap looks inside the model: give the fitted estimator as model")
        if self._model.n_outputs > 1:
            raise InputError("tree_shap explains one output at a time")
        try:
            with quiet():
                import shap

                plain = self._plain(self.background)
                masker = shap.maskers.Independent(plain, max_samples=len(plain))
                self._package = shap.TreeExplainer(self.model, masker)
                self._output = self._matching()
        except Exception as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise InputError(f"tree_shap cannot explain {type(self.model).__name__}: {reason}") from error

    def _matching(self) -> int | None:
        """Which of the package's outputs is what predict gives on most of the background."""
        values, base = self._values(self.background)
        totals = values.sum(axis=1) + base
        choices = totals[:, None] if totals.ndim == 1 else totals
        wanted = self._model(self.background)[:, 0]
        shares = [self._agree(choices[:, k], wanted).mean() for k in range(choices.shape[1])]
        best = int(np.argmax(shares))
        if shares[best] <= 0.5:  # noqa: PLR2004 - most
            raise ExplainerError(
                "what its trees hold does not add up to the score: they may hold another output (of boosted "
                "classifiers the log-odds: link logit), or round the data to 32 bits"
            )
        return None if totals.ndim == 1 else best

    def _values(self, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
        found = self._package(self._plain(rows), check_additivity=False)
        return np.asarray(found.values, dtype=np.float64), np.asarray(found.base_values, dtype=np.float64)

    def _plain(self, rows: FloatArray) -> FloatArray:
        try:
            return np.asarray(self.decode(rows), dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError("tree_shap takes models on numbers alone; these columns hold text") from None

    def explain(self, X: npt.ArrayLike, row_ids: npt.ArrayLike | None = None) -> Explanation:
        """Explain rows; see `BaseExplainer.explain`. Nothing is drawn, so ids change nothing."""
        rows, _ = self._rows(X, row_ids)
        if not len(rows):
            return Explanation(np.empty(rows.shape))
        with quiet():
            values, base = self._values(rows)
        if self._output is not None:
            values, base = values[..., self._output], base[..., self._output]
        values = values.copy()
        wanted = self._model(rows)[:, 0]
        right = self._agree(values.sum(axis=1) + base, wanted)
        errors = {int(k): "the values do not add up to the model's output" for k in np.flatnonzero(~right)}
        values[list(errors)] = np.nan
        return Explanation(values, errors=errors)

    def _agree(self, found: FloatArray, wanted: FloatArray) -> BoolArray:
        """Where they are equal but for rounding, which the package does in 32 bits."""
        sizes = np.abs(wanted).max(initial=0.0)
        close = _SHARE * np.ptp(np.append(wanted, found)) + _ROUNDING * sizes
        return np.asarray(np.abs(found - wanted) <= max(close, np.finfo(np.float32).tiny))
