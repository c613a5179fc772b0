r"""Exact Shapley values of a function by enumeration, over the few columns that it depends on.

The game of a row x: a coalition S of columns is worth the mean of f over the background with the
columns of S set to those of x, v_S(x) = mean over b of f(x_S, b_rest). Columns that f does not
depend on are dummies, get 0, and leave the values of the others unchanged (Shapley, 1953), so
only the relevant columns are enumerated.

References:
    Shapley, "A Value for n-Person Games", 1953.
    Aas, Jullum & Loland, Artificial Intelligence 298 (2021), arXiv:1903.10464 (conditional
    Shapley values under a Gaussian).
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from xassay.errors import InputError
from xassay.types import FloatArray, Predict

MOST_RELEVANT = 10
"""With more columns the 2^k coalitions are too many to be asked one by one."""

_BATCH_ROWS = 200_000


def weights(k: int) -> FloatArray:
    """How much the worth of each coalition counts in each column's Shapley value.

    Args:
        k: number of columns.

    Returns:
        float, shape (k, 2^k); coalition number c holds column i where bit i of c is set.

    Example:
        >>> weights(1).tolist()
        [[-1.0, 1.0]]
    """
    coalitions = np.arange(2**k)
    sizes = np.bitwise_count(coalitions).astype(np.int64)
    inside = (coalitions[None] >> np.arange(k)[:, None]) & 1 == 1
    share = np.array([1 / (k * math.comb(k - 1, s)) for s in range(k)])
    return np.where(inside, share[np.maximum(sizes - 1, 0)], -share[np.minimum(sizes, k - 1)])


def exact_shapley(
    predict: Predict, background: npt.ArrayLike, X: npt.ArrayLike, relevant: Sequence[int]
) -> FloatArray:
    """Exact marginal Shapley values of a function that depends on a few known columns.

    phi_i(x) = sum over S without i of |S|! (k - |S| - 1)! / k! (v_(S with i)(x) - v_S(x)).

    Args:
        predict: the function, (rows, features) -> (rows,).
        background: shape (background rows, features).
        X: rows to explain, shape (rows, features).
        relevant: positions of all columns that the function depends on, at most `MOST_RELEVANT`.

    Returns:
        float, shape (rows, features), in the function's unit; a row's values sum to f(x) minus the
        background's mean, and are 0 elsewhere than in the relevant columns.

    Raises:
        InputError: too many relevant columns.

    Example:
        >>> import numpy as np
        >>> exact_shapley(lambda X: X[:, 0] * X[:, 1], np.zeros((1, 3)), np.ones((1, 3)), (0, 1)).tolist()
        [[0.5, 0.5, 0.0]]
    """
    rows, columns = np.asarray(X, dtype=np.float64), list(relevant)
    if len(columns) > MOST_RELEVANT:
        raise InputError(
            f"{len(columns)} relevant columns are too many to enumerate; at most {MOST_RELEVANT}"
        )
    settings, inverse = np.unique(np.asarray(background)[:, columns], axis=0, return_inverse=True)
    shares = np.bincount(inverse.reshape(-1)) / len(inverse.reshape(-1))
    masks = (np.arange(2 ** len(columns))[:, None] >> np.arange(len(columns))) & 1 == 1
    worth = np.empty((len(rows), len(masks)))
    step = max(1, _BATCH_ROWS // max(1, len(masks) * len(settings)))
    for start in range(0, len(rows), step):
        some = rows[start : start + step][:, None, None, columns]
        mixed = np.where(masks[None, :, None], some, settings[None, None])
        answers = _answers(predict, mixed.reshape(-1, len(columns)), rows[start], columns)
        worth[start : start + step] = answers.reshape(mixed.shape[:3]) @ shares
    values = np.zeros(rows.shape)
    values[:, columns] = worth @ weights(len(columns)).T
    return values


def _answers(predict: Predict, mixed: FloatArray, row: FloatArray, columns: list[int]) -> FloatArray:
    """The function's answers for settings of its columns; the others, which do nothing, as in a row."""
    asked, places = mixed, None
    if np.isin(mixed, (0.0, 1.0)).all():  # of bits there are few settings, and each is asked once
        codes = (mixed @ 2 ** np.arange(len(columns))).astype(np.int64)
        _, first, places = np.unique(codes, return_index=True, return_inverse=True)
        asked = mixed[first]
    whole = np.tile(row, (len(asked), 1))
    whole[:, columns] = asked
    answers = np.asarray(predict(whole), dtype=np.float64).reshape(-1)
    return answers if places is None else answers[places.reshape(-1)]


def main_effects(
    predict: Predict, background: npt.ArrayLike, X: npt.ArrayLike, relevant: Sequence[int]
) -> FloatArray:
    """Exact marginal Shapley values of a function that is a sum of functions of one column each.

    phi_j(x) = mean over b of f(x_j, b_rest) - f(b).

    Args:
        predict: an additive function, (rows, features) -> (rows,).
        background: shape (background rows, features).
        X: rows to explain, shape (rows, features).
        relevant: positions of the columns that the function depends on, any number.

    Returns:
        float, shape (rows, features); see `exact_shapley`.

    Example:
        >>> import numpy as np
        >>> main_effects(lambda X: X @ [1.0, 2.0, 0.0], np.zeros((1, 3)), np.ones((1, 3)), (0, 1)).tolist()
        [[1.0, 2.0, 0.0]]
    """
    rows, others = np.asarray(X, dtype=np.float64), np.asarray(background, dtype=np.float64)
    values = np.zeros(rows.shape)
    base = np.asarray(predict(others)).mean()
    for j in relevant:
        asked = np.tile(others, (len(rows), 1))
        asked[:, j] = np.repeat(rows[:, j], len(others))
        values[:, j] = np.asarray(predict(asked)).reshape(len(rows), len(others)).mean(axis=1) - base
    return values


def gaussian_conditional(coefficients: npt.ArrayLike, covariance: npt.ArrayLike) -> FloatArray:
    """Conditional Shapley values of a linear function of Gaussian columns, as a matrix.

    The worth of a coalition is E[f(x) | x_S], which is linear in x - mean, so that the values of a
    row are this matrix times (x - mean).

    Args:
        coefficients: the function's, shape (features,).
        covariance: of the columns, shape (features, features), of full rank.

    Returns:
        float, shape (features, features): phi(x) = matrix @ (x - mean).

    Raises:
        InputError: too many columns.

    Reference:
        Aas, Jullum & Loland 2021, arXiv:1903.10464.

    Example:
        >>> gaussian_conditional([1.0, 0.0], [[1.0, 0.5], [0.5, 1.0]]).tolist()
        [[1.0, -0.25], [0.0, 0.25]]
    """
    slopes, sigma = np.asarray(coefficients, dtype=np.float64), np.asarray(covariance, dtype=np.float64)
    k = len(slopes)
    if k > MOST_RELEVANT:
        raise InputError(f"{k} columns are too many to enumerate; at most {MOST_RELEVANT}")
    worth = np.zeros((2**k, k))
    for number in range(1, 2**k):
        known = (number >> np.arange(k)) & 1 == 1
        regression: Any = np.linalg.solve(sigma[np.ix_(known, known)], sigma[np.ix_(known, ~known)])
        worth[number, known] = slopes[known] + regression @ slopes[~known]
    return np.asarray(weights(k) @ worth)
