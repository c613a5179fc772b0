"""Weighted ridge fits, one a query row, for every number of leading features at once.

With features in order of importance and centred by the weighted means, the d-feature ridge
problem of a query row is the leading d x d block of its p-feature problem. One Cholesky
factor L of G + alpha I therefore serves all d: with u = L^-1 (x - m) and z = L^-1 b, the
d-feature prediction at x is the weighted mean of y plus the sum of u_j z_j over j <= d, and
the d-feature coefficients solve L_d' c = z_d.
"""

import warnings

import numpy as np
import scipy.sparse
from scipy.linalg import LinAlgError, cholesky, solve_triangular

from xassay.types import FloatArray


class LocalRidge:
    """Local ridge models over fixed training rows.

    Attributes:
        X: training rows with features in order of importance, shape (n, p).
        y: training targets, shape (n,).
        alpha: ridge penalty; the intercept is not penalised.
    """

    def __init__(self, X: FloatArray, y: FloatArray, alpha: float) -> None:
        self.X, self.y, self.alpha = np.ascontiguousarray(X), y, alpha

    def predictions(self, weights: scipy.sparse.csr_array, queries: FloatArray) -> FloatArray:
        """What the models of 1, 2, ... p leading features predict at each query row.

        Args:
            weights: of the training rows at each query row, shape (m, n).
            queries: query rows, features in the same order, shape (m, p).

        Returns:
            float, shape (m, p): column d - 1 holds the d-feature prediction.
        """
        predicted = np.empty(queries.shape)
        for row, query in enumerate(queries):
            gram, target, centre, level = self._moments(weights, row)
            offset = query - centre
            try:
                factor = cholesky(gram, lower=True, check_finite=False)
            except LinAlgError:
                _warn()
                steps = [self._least_norm(gram, target, d) @ offset[:d] for d in range(1, len(query) + 1)]
                predicted[row] = level + np.array(steps)
                continue
            both = solve_triangular(factor, np.column_stack([offset, target]), lower=True, check_finite=False)
            predicted[row] = level + np.cumsum(both[:, 0] * both[:, 1])
        return predicted

    def coefficients(self, weights: scipy.sparse.csr_array, d: int) -> tuple[FloatArray, FloatArray]:
        """The d-feature models themselves.

        Args:
            weights: of the training rows at each query row, shape (m, n).
            d: number of leading features.

        Returns:
            Coefficients, shape (m, d), and intercepts, shape (m,).
        """
        m = weights.shape[0]
        slopes, intercepts = np.empty((m, d)), np.empty(m)
        for row in range(m):
            gram, target, centre, level = self._moments(weights, row, d)
            try:
                factor = cholesky(gram, lower=True, check_finite=False)
                half = solve_triangular(factor, target, lower=True, check_finite=False)
                slopes[row] = solve_triangular(factor, half, lower=True, trans="T", check_finite=False)
            except LinAlgError:
                _warn()
                slopes[row] = self._least_norm(gram, target, d)
            intercepts[row] = level - slopes[row] @ centre
        return slopes, intercepts

    def _moments(
        self, weights: scipy.sparse.csr_array, row: int, d: int | None = None
    ) -> tuple[FloatArray, FloatArray, FloatArray, float]:
        """Penalised Gram matrix, cross product with y, weighted means of X and of y."""
        span = slice(weights.indptr[row], weights.indptr[row + 1])
        near = weights.indices[span]
        w = weights.data[span]
        X, y = self.X[near, :d], self.y[near]
        total = w.sum()
        centre, level = w @ X / total, float(w @ y / total)
        root = np.sqrt(w)
        scaled = (X - centre) * root[:, None]
        gram = scaled.T @ scaled
        gram.flat[:: len(gram) + 1] += self.alpha
        return gram, scaled.T @ ((y - level) * root), centre, level

    @staticmethod
    def _least_norm(gram: FloatArray, target: FloatArray, d: int) -> FloatArray:
        return np.asarray(np.linalg.lstsq(gram[:d, :d], target[:d], rcond=None)[0])


def _warn() -> None:
    warnings.warn(
        "a local model is not determined by its training rows (equal rows or columns, and no ridge); "
        "the least-norm solution is taken",
        RuntimeWarning,
        stacklevel=3,
    )
