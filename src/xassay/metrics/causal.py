r"""How far a local linear explanation holds: the causal metric of the MAPLE evaluation.

Reference:
    Plumb, Molitor & Talwalkar, "Model Agnostic Supervised Local Explanations", NeurIPS 2018,
    arXiv:1807.02910, equation (1) and section 5.
"""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from xassay.errors import InputError
from xassay.metrics.calls import BATCH_VALUES, checked_ids, scores
from xassay.metrics.local_model import checked_local_model, linear_predictions
from xassay.seeds import generator
from xassay.types import BoolArray, Explanation, FloatArray, Predict

_ENOUGH_ROWS = 10
_FAR_MEAN, _FAR_SCALE = 1.0, 3.0


def causal_losses(
    explanation: Explanation,
    predict: Predict,
    X: npt.ArrayLike,
    sigma: float | Sequence[float] = (0.1, 0.25),
    n_samples: int = 5,
    seed: int = 0,
    row_ids: npt.ArrayLike | None = None,
) -> FloatArray:
    r"""Squared differences between local linear model and model at Gaussian perturbations.

    (b + c.x' - f(x'))^2 at x' = x + sigma e, where b and c are the explanation's intercept and
    coefficients at x. The noise e is drawn once a (row, draw), from the seed and the row's id:
    every explainer and every sigma sees the same.

    Args:
        explanation: of the rows, with coefficients and intercepts.
        predict: the model, (rows, features) -> (rows,).
        X: the explained rows, standardised, shape (rows, features).
        sigma: standard deviation of the perturbation, above 0, or several.
        n_samples: perturbations a row.
        seed: fixes the noise.
        row_ids: integers, shape (rows,); default 0, 1, ...

    Returns:
        float, shape (sigmas, rows, n_samples); NaN where model or explanation is not finite.

    Raises:
        InputError: an explanation that is no local linear model or of other rows, a sigma or
            n_samples that is not positive, or a model that returns another shape.

    Warns:
        UserWarning: columns that are not standardised, with what was measured.

    Example:
        >>> import numpy as np
        >>> exact = Explanation([[2.0]], coefficients=[[2.0]], intercepts=[1.0])
        >>> causal_losses(exact, lambda X: 2 * X[:, 0] + 1, [[0.5]], sigma=0.1).max().round(12).item()
        0.0
    """
    return _losses(explanation, predict, X, sigma, n_samples, seed, row_ids)[0]


def causal_losses_and_trivial(
    explanation: Explanation,
    predict: Predict,
    X: npt.ArrayLike,
    sigma: float | Sequence[float] = (0.1, 0.25),
    n_samples: int = 5,
    seed: int = 0,
    row_ids: npt.ArrayLike | None = None,
) -> tuple[FloatArray, FloatArray]:
    """`causal_losses`, and beside them those of the constant explanation f(x): (f(x) - f(x'))^2.

    Both come from the same perturbations and one pass of the model; the arguments and errors
    are those of `causal_losses`.

    Returns:
        Two arrays, each (sigmas, rows, n_samples).
    """
    return _losses(explanation, predict, X, sigma, n_samples, seed, row_ids, trivial=True)


def _losses(
    explanation: Explanation,
    predict: Predict,
    X: npt.ArrayLike,
    sigma: float | Sequence[float],
    n_samples: int,
    seed: int,
    row_ids: npt.ArrayLike | None,
    *,
    trivial: bool = False,
) -> tuple[FloatArray, FloatArray]:
    rows = np.asarray(X, dtype=np.float64)
    sigmas = _sigmas(sigma)
    checked_local_model(explanation, rows)
    if n_samples < 1:
        raise InputError(f"n_samples must be at least 1, not {n_samples}")
    _warn_of_scale(rows)
    ids = checked_ids(row_ids, len(rows))
    p = rows.shape[1]
    own = scores(predict, rows) if trivial else np.zeros(len(rows))
    losses, beside = np.empty((2, len(sigmas), len(rows), n_samples))
    step = max(1, BATCH_VALUES // max(1, len(sigmas) * n_samples * p))
    for start in range(0, len(rows), step):
        part = slice(start, start + step)
        noise = np.stack(
            [generator(seed, "causal", int(i)).standard_normal((n_samples, p)) for i in ids[part]]
        )
        moved = rows[part, None] + sigmas[:, None, None, None] * noise
        linear = linear_predictions(_rows_of(explanation, part), rows[part], moved)
        found = scores(predict, moved.reshape(-1, p)).reshape(moved.shape[:-1])
        losses[:, part] = squared_differences(linear, found)
        beside[:, part] = squared_differences(own[part, None], found)
    return losses, beside


def causal_rmse(
    explanation: Explanation,
    predict: Predict,
    X: npt.ArrayLike,
    sigma: float | Sequence[float] = 0.1,
    n_samples: int = 5,
    seed: int = 0,
    row_ids: npt.ArrayLike | None = None,
) -> Any:
    r"""Root of the mean of `causal_losses` over rows and draws: lower is better, 0 is exact.

    Args:
        explanation: of the rows, with coefficients and intercepts.
        predict: the model, (rows, features) -> (rows,).
        X: the explained rows, standardised, shape (rows, features).
        sigma: standard deviation of the perturbation, or several.
        n_samples: perturbations a row.
        seed: fixes the noise.
        row_ids: integers, shape (rows,); default 0, 1, ...

    Returns:
        A float for one sigma, else an array (sigmas,), in [0, infinity); NaN where no row has
        finite model output.

    Raises:
        InputError: see `causal_losses`.

    Warns:
        RuntimeWarning: rows left out because the model's output there is not finite.

    Example:
        >>> flat = Explanation([[0.0]], coefficients=[[0.0]], intercepts=[1.0])
        >>> causal_rmse(flat, lambda X: 0 * X[:, 0] + 3, [[0.5]])
        2.0
    """
    losses = causal_losses(explanation, predict, X, sigma, n_samples, seed, row_ids)
    (rmse,) = root_means(losses)
    return float(rmse[0]) if np.ndim(sigma) == 0 else rmse


def causal_skill(
    explanation: Explanation,
    predict: Predict,
    X: npt.ArrayLike,
    sigma: float | Sequence[float] = 0.1,
    n_samples: int = 5,
    seed: int = 0,
    row_ids: npt.ArrayLike | None = None,
) -> Any:
    r"""1 - causal RMSE / causal RMSE of the constant explanation f(x), under the same noise.

    1 is a perfect explanation; 0 is no better than saying that the model does not change near
    the row; below 0 is worse than that.

    Args:
        explanation: see `causal_rmse`, and likewise the others.
        predict: the model.
        X: the explained rows.
        sigma: standard deviation of the perturbation, or several.
        n_samples: perturbations a row.
        seed: fixes the noise.
        row_ids: integers, shape (rows,).

    Returns:
        A float for one sigma, else an array (sigmas,), in (-infinity, 1]; NaN where the model
        is constant near the rows.

    Raises:
        InputError: see `causal_losses`.

    Warns:
        RuntimeWarning: see `causal_rmse`.

    Example:
        >>> half = Explanation([[0.5]], coefficients=[[0.5]], intercepts=[0.0])
        >>> round(causal_skill(half, lambda X: X[:, 0], [[0.0]]), 9)
        0.5
    """
    ours, trivial = root_means(
        *causal_losses_and_trivial(explanation, predict, X, sigma, n_samples, seed, row_ids)
    )
    skills = skill(ours, trivial)
    return float(skills[0]) if np.ndim(sigma) == 0 else skills


def skill(rmse: FloatArray, trivial: FloatArray) -> FloatArray:
    """1 - RMSE / RMSE of the trivial explanation, NaN where the latter is 0 or undefined.

    Example:
        >>> import numpy as np
        >>> skill(np.array([1.0, 0.0]), np.array([4.0, 0.0])).tolist()
        [0.75, nan]
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(trivial > 0, 1 - rmse / trivial, np.nan))


def squared_differences(first: FloatArray, second: FloatArray) -> FloatArray:
    """(first - second)^2; NaN where that overflows: it is not known, rather than infinitely bad."""
    with np.errstate(invalid="ignore", over="ignore"):
        found = (first - second) ** 2
    return np.where(np.isfinite(found), found, np.nan)


def root_means(*losses: FloatArray) -> list[FloatArray]:
    """Root mean losses, each (sigmas,): at each sigma over the rows that are finite in all of them."""
    failed: BoolArray = np.any([np.isnan(each).any(axis=2) for each in losses], axis=0)
    if failed.any():
        n_failed = int(failed.any(axis=0).sum())
        warnings.warn(
            f"{n_failed} of {failed.shape[1]} rows left out: model or explanation is not finite there",
            RuntimeWarning,
            stacklevel=3,
        )
    kept = ~failed
    return [
        np.array([np.sqrt(each[s, kept[s]].mean()) if kept[s].any() else np.nan for s in range(len(each))])
        for each in losses
    ]


def _rows_of(explanation: Explanation, part: slice) -> Explanation:
    assert explanation.coefficients is not None  # noqa: S101 - checked before
    assert explanation.intercepts is not None  # noqa: S101 - likewise
    return Explanation(
        explanation.values[part],
        coefficients=explanation.coefficients[part],
        intercepts=explanation.intercepts[part],
        categorical=explanation.categorical,
    )


def _sigmas(sigma: float | Sequence[float]) -> FloatArray:
    try:
        sigmas = np.atleast_1d(np.asarray(sigma, dtype=np.float64))
    except (TypeError, ValueError):
        raise InputError(f"sigma must be a number or several, not {sigma!r}") from None
    if not sigmas.size or not (np.isfinite(sigmas) & (sigmas > 0)).all():
        raise InputError(f"sigma must be above 0, not {sigma}")
    return sigmas


def _warn_of_scale(rows: FloatArray) -> None:
    """Sigma is in standard deviations: say so where the columns are clearly on another scale."""
    if len(rows) < _ENOUGH_ROWS:
        return
    means, scales = rows.mean(axis=0), rows.std(axis=0)
    odd = np.flatnonzero((np.abs(means) > _FAR_MEAN) | (scales > _FAR_SCALE) | (scales < 1 / _FAR_SCALE))
    if len(odd):
        shown = "; ".join(
            f"column {j}: mean {means[j]:.3g}, standard deviation {scales[j]:.3g}" for j in odd[:3]
        )
        warnings.warn(
            f"{len(odd)} columns do not look standardised ({shown}); sigma is in standard deviations",
            UserWarning,
            stacklevel=3,
        )
