"""LIME on a table, categorical columns: the package's estimator, its random rows shared between rows."""

from typing import Any

import attrs
import numpy as np

from xassay.errors import InputError
from xassay.explainers.lime import check_several, check_width
from xassay.explainers.registry import register
from xassay.explainers.table_explainer import TableExplainer
from xassay.seeds import generator
from xassay.types import FloatArray, IntArray

MOST_FEATURES = 64
"""All pairs of columns are summed: more would take gigabytes."""

_RIDGE = 1.0
_CHUNK_ROWS = 1024


@register("lime", engine="native", published="LIME", tabulates=True, cost=lambda _f, _r: 0.3)
@attrs.define(eq=False, kw_only=True)
class NativeLime(TableExplainer):
    r"""A ridge regression of the model on "equals the row's value", over weighted random rows.

    Random rows take each column's values by their frequency in the background; a row counts
    sqrt(exp(-h / width^2)) at Hamming distance h; the ridge is 1, the intercept free; the
    explained row itself is one of the random rows.

    Rows that share a draw share its random rows and the model's answers. An indicator is
    1 - |d - x|, so flipping the sign of column j where x_j = 0 turns a regression on the random
    rows d into one on the indicators: all rows' weighted moments are one matrix product.

    Attributes:
        n_samples: number of random rows.
        kernel_width: width of the kernel; none: 0.75 sqrt(features).

    Reference:
        Ribeiro, Singh & Guestrin, KDD 2016, doi:10.1145/2939672.2939778.
    """

    n_samples: Any = attrs.field(default=5000, validator=check_several)
    kernel_width: Any = attrs.field(default="none", validator=check_width)

    def _fit(self) -> None:
        if self.background.shape[1] > MOST_FEATURES:
            raise InputError(
                f"native lime takes at most {MOST_FEATURES} features, not {self.background.shape[1]}; use "
                "the package's engine"
            )
        _check_bits(self.background, "the background")

    def _explain_rows(self, indices: IntArray, draws: IntArray, rows: FloatArray) -> FloatArray:
        _check_bits(rows, "the rows to explain")
        values = np.zeros((*rows.shape, self._table.values.shape[1]))
        for draw in np.unique(draws):
            drawn = self._random_rows(int(draw))
            answers = self._table.values[self._table.indices(drawn)]
            moments = _Moments.of(drawn, answers)
            members = np.flatnonzero(draws == draw)
            for start in range(0, len(members), _CHUNK_ROWS):
                part = members[start : start + _CHUNK_ROWS]
                values[part] = self._regress(moments, rows[part], self._table.values[indices[part]])
        return values

    def _random_rows(self, draw: int) -> FloatArray:
        """One fewer than ``n_samples``: the explained row is the last."""
        shape = (self.n_samples - 1, self.background.shape[1])
        drawn = generator(self.seed, self.name, draw).random(shape) < self.background.mean(axis=0)
        return np.asarray(drawn, dtype=np.float64)

    def _regress(self, moments: "_Moments", rows: FloatArray, own: FloatArray) -> FloatArray:
        """The indicators' weights, shape (rows, features, outputs); ``own`` are the rows' outputs."""
        m = rows.shape[1]
        width = 0.75 * np.sqrt(m) if self.kernel_width in (None, "none") else float(self.kernel_width)
        kernel = np.sqrt(np.exp(-np.arange(m + 1) / width**2))
        total, first, second, level, cross = moments.weighted(kernel, rows, own)
        centre, mean = first / total[:, None], level / total[:, None]
        gram = second - total[:, None, None] * centre[:, :, None] * centre[:, None]
        gram[:, range(m), range(m)] += _RIDGE
        target = cross - total[:, None, None] * centre[:, :, None] * mean[:, None]
        return np.asarray(np.linalg.solve(gram, target) * (2 * rows - 1)[:, :, None])


def _check_bits(rows: FloatArray, what: str) -> None:
    if not ((rows == 0) | (rows == 1)).all():
        raise InputError(f"native lime: {what} must hold 0 and 1 in all columns; use the package's engine")


@attrs.frozen(eq=False)
class _Moments:
    """Random rows with the products whose weighted sums a regression needs.

    Attributes:
        drawn: shape (samples, M).
        products: 1, each column, each pair of columns, each output, each column times output.
        pairs: positions of the pairs of columns.
    """

    drawn: FloatArray
    products: FloatArray
    pairs: tuple[IntArray, IntArray]

    @classmethod
    def of(cls, drawn: FloatArray, answers: FloatArray) -> "_Moments":
        """From random rows, shape (samples, M), and the model's answers, shape (samples, outputs)."""
        pairs = np.triu_indices(drawn.shape[1], 1)
        crossed = (drawn[:, :, None] * answers[:, None]).reshape(len(drawn), -1)
        one = np.ones((len(drawn), 1))
        return cls(
            drawn, np.hstack([one, drawn, drawn[:, pairs[0]] * drawn[:, pairs[1]], answers, crossed]), pairs
        )

    def weighted(
        self, kernel: FloatArray, rows: FloatArray, own: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
        """Sums over random rows and the row itself, weighted by the kernel at their distance.

        Returns:
            Of 1 (rows,), columns (rows, M), pairs (rows, M, M), outputs (rows, k), columns
            times outputs (rows, M, k).
        """
        (n, m), k = rows.shape, own.shape[1]
        distance = self.drawn.sum(axis=1) + rows.sum(axis=1)[:, None] - 2 * (rows @ self.drawn.T)
        sums = kernel[np.rint(distance).astype(np.int64)] @ self.products
        ends = np.cumsum([1, m, len(self.pairs[0]), k])
        total, first, upper, level, cross = np.split(sums, ends, axis=1)
        second = np.zeros((n, m, m))
        second[:, self.pairs[0], self.pairs[1]] = upper
        second += second.transpose(0, 2, 1)
        second[:, range(m), range(m)] = first
        # the explained row itself, at distance 0
        return (
            total[:, 0] + kernel[0],
            first + rows,
            second + rows[:, :, None] * rows[:, None],
            level + own,
            cross.reshape(n, m, k) + rows[:, :, None] * own[:, None],
        )
