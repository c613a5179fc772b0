"""How far each value lies from the background's mean: what an anomaly looks like without a model."""

from typing import Any

import attrs
import numpy as np

from xassay.errors import InputError
from xassay.explainers.base import DATA, RowExplainer
from xassay.explainers.registry import register
from xassay.types import FloatArray


@register("zscore", engine="native", baseline=True, stochastic=False, cost=lambda _features, _rows: 0.05)
@attrs.define(eq=False, kw_only=True)
class ZScore(RowExplainer):
    r"""Distance of each value from the background's mean in standard deviations; the model is not asked.

    .. math:: \phi_j = |x_j - \mu_j| / \sigma_j

    with the mean and the standard deviation (over n, not n - 1) of column j over the background.
    Unitless, 0 or more. It is the yardstick of planted anomalies: where it finds their causes,
    no model was needed to find them. It knows nothing of dependence between columns.

    0 where nothing can be said: columns that do not vary in the background, columns named in
    ``categorical`` (a code has no distance), and missing values. Missing values of the
    background are left out of its mean and standard deviation. With several outputs all
    outputs get the same values.

    Args:
        categorical: positions of columns that hold codes.

    Raises:
        InputError: a position that does not exist.

    Example:
        >>> import numpy as np
        >>> z = ZScore(predict=lambda X: X[:, 0], background=np.array([[0.0, 5.0], [2.0, 5.0]]))
        >>> z.explain([[4.0, 9.0]]).values.tolist()
        [[3.0, 0.0]]
    """

    categorical: Any = attrs.field(default=(), converter=tuple, metadata=DATA)
    _mean: FloatArray = attrs.field(init=False)
    _spread: FloatArray = attrs.field(init=False)

    def _prepare(self) -> None:
        p = self.background.shape[1]
        if not set(self.categorical) <= set(range(p)):
            raise InputError(f"zscore: categorical={self.categorical}: positions go from 0 to {p - 1}")
        self._mean, self._spread = np.zeros(p), np.zeros(p)
        for j in set(range(p)) - set(self.categorical):
            known = self.background[np.isfinite(self.background[:, j]), j]
            # the spread of equal numbers may come to a rounding error above 0
            if len(known) and np.ptp(known) > 0:
                largest = np.abs(known).max()  # to one scale first: squares must not overflow
                self._mean[j] = largest * (known / largest).mean()
                self._spread[j] = largest * (known / largest).std()

    def _explain_row(self, row: FloatArray, seed: int) -> FloatArray:  # noqa: ARG002 - nothing is drawn
        told = (self._spread > 0) & ~np.isnan(row)
        distances = np.abs(np.where(told, row, 0.0) - self._mean)
        values = np.divide(distances, self._spread, out=np.zeros(len(row)), where=told)
        return np.repeat(values[:, None], self._model.n_outputs, axis=1)
