"""A local linear explanation as a model: what it says of other points, and of each feature."""

import warnings

import numpy as np
import numpy.typing as npt

from xassay.errors import InputError
from xassay.types import Explanation, FloatArray


def checked_local_model(explanation: Explanation, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Coefficients and intercepts.

    Raises:
        InputError: there are none, or they are of other rows.
    """
    if not isinstance(explanation, Explanation):
        raise InputError(f"expected an Explanation, got {type(explanation).__name__}")
    if explanation.coefficients is None or explanation.intercepts is None:
        raise InputError(
            "this explanation has no local linear model (coefficients and intercepts), which the causal "
            "metric needs; attributions such as SHAP values have none"
        )
    if rows.ndim != 2 or explanation.coefficients.shape != rows.shape:  # noqa: PLR2004 - a matrix
        raise InputError(
            f"the explanation's coefficients have shape {explanation.coefficients.shape}, the rows "
            f"{rows.shape}"
        )
    return explanation.coefficients, explanation.intercepts


def linear_predictions(explanation: Explanation, rows: FloatArray, points: FloatArray) -> FloatArray:
    """What each row's local linear model predicts at points around the row.

    b + sum over features of c_j z_j, where z_j is the point's value, or for a categorical
    feature 1 where the point has the row's value and 0 elsewhere.

    Args:
        explanation: of the rows.
        rows: shape (rows, features).
        points: shape (..., rows, points, features).

    Returns:
        float, shape (..., rows, points).

    Raises:
        InputError: no local linear model, or of other rows.
    """
    slopes, intercepts = checked_local_model(explanation, rows)
    columns = list(explanation.categorical)
    if columns:
        points = points.copy()
        points[..., columns] = points[..., columns] == rows[:, None, columns]
    with np.errstate(invalid="ignore", over="ignore"):
        return np.asarray(np.einsum("...rnp,rp->...rn", points, slopes) + intercepts[:, None])


def contributions(explanation: Explanation, X: npt.ArrayLike, background: npt.ArrayLike) -> FloatArray:
    r"""How much each feature contributes to f(x) beyond the background, as the explanation has it.

    An explanation that is additive, by its own word or because it has no coefficients
    (`Explanation.adds`), has them as its values. Any other's local linear model says
    c_j (x_j - mean_j) with the background's mean; for a categorical feature c_j (1 - share_j)
    with the share of the background that has the row's value. Units are left as they are.

    Args:
        explanation: of the rows.
        X: the rows, shape (rows, features).
        background: shape (background rows, features).

    Returns:
        float, shape (rows, features).

    Raises:
        InputError: shapes do not fit, or the explanation says that it is not additive and has no
            coefficients.

    Example:
        >>> line = Explanation([[2.0]], coefficients=[[2.0]], intercepts=[0.0])
        >>> contributions(line, [[3.0]], [[0.0], [2.0]]).tolist()
        [[4.0]]
        >>> said = Explanation([[2.0]], coefficients=[[2.0]], additive=True)
        >>> contributions(said, [[3.0]], [[0.0], [2.0]]).tolist()
        [[2.0]]
    """
    rows, others = np.asarray(X, dtype=np.float64), np.asarray(background, dtype=np.float64)
    if not isinstance(explanation, Explanation):
        raise InputError(f"expected an Explanation, got {type(explanation).__name__}")
    if explanation.values.shape != rows.shape:
        raise InputError(
            f"the explanation's values have shape {explanation.values.shape}, the rows {rows.shape}"
        )
    if others.ndim != 2 or others.shape[1] != rows.shape[1] or not len(others):  # noqa: PLR2004 - a matrix
        raise InputError(f"the background must have shape (rows, {rows.shape[1]}), got {others.shape}")
    if explanation.adds:
        return explanation.values
    if explanation.coefficients is None:
        raise InputError(
            "this explanation says that it is not additive and has no coefficients: give coefficients, or "
            "additive=True where its values are contributions"
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a column that is missing throughout has no mean
        away = rows - np.nanmean(others, axis=0)
    for column in explanation.categorical:
        away[:, column] = 1.0 - (others[:, column] == rows[:, column, None]).mean(axis=1)
    with np.errstate(invalid="ignore", over="ignore"):
        return np.asarray(explanation.coefficients * away)
