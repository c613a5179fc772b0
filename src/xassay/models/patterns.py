"""What MAPLE's local training distributions tell beside its local models.

A zero coefficient has two readings: the feature does nothing, or it acts through a global
pattern (a step, a plateau) that no local slope shows. The distribution of the feature over the
training points that weigh most tells them apart. The same distribution says whether one row's
explanation may serve for another.

Reference:
    Plumb, Molitor & Talwalkar, "Model Agnostic Supervised Local Explanations", NeurIPS 2018,
    arXiv:1807.02910, sections 4.1, 4.2 and 5.4.
"""

import warnings
from typing import Any, Literal, get_args

import attrs
import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import cdist
from sklearn.utils.validation import check_is_fitted, validate_data

from xassay.errors import InputError, UnknownNameError
from xassay.models.maple import MapleRegressor
from xassay.seeds import generator
from xassay.types import FloatArray, IntArray

Verdict = Literal["none", "plateaus", "steps"]
VERDICTS: tuple[str, ...] = get_args(Verdict)

GRID_POINTS = 11
TAIL = 0.05
# Within a block that does not move, a grid point is 1 / sqrt(12) = 0.29 widths off its centre
# (root mean square); an inactive feature is off by sampling alone. A third of 0.29 tells them apart.
CENTRED = 0.1
# Halfway from what sampling does to a straight line (0.03 at 200 rows) to two plateaus of a third
# of the rows each and a ramp (0.06 and more where no noise splits a plateau).
FOLLOWS = 0.045
# 0 for a ramp and 1 for steps, ideally; a split beside a step narrows the range there, so the
# threshold is nearer to the ramp.
LEAST_JUMP = 0.15
ROUNDING = 1e-9


@attrs.frozen(eq=False)
class GlobalPattern:
    r"""How a feature is spread over the influential training points, along a grid of it.

    All but `grid`, `influential`, `lower` and `upper` is measured in shares of the training
    rows: trees know a feature by its order alone, so a value v stands for its rank
    r(v) = (rows below v + rows up to v) / 2n, in [0, 1]. At grid point k the influential points
    of all draws span the range [a_k, b_k], their 5 % and 95 % quantiles in ranks, with

    * width w_k = (b_k - a_k) / 0.9, at least m / n (m influential of n training points: no
      range is narrower) and at most 1; centre c_k = (a_k + b_k) / 2;
    * e_k(w) = r(grid_k) held within [w / 2, 1 - w / 2]: where a centred range of width w lies,
      one-sided at the ends of the feature because there is nothing beyond.

    Attributes:
        verdict: ``none``, ``plateaus`` or ``steps``; see `global_pattern`.
        feature: position of the feature.
        grid: its grid, shape (grid,).
        influential: its values at the influential points, most influential first, shape
            (grid, draws, influential); NaN where fewer training points have a weight.
        lower: 5 % quantile of the influential values at each grid point, shape (grid,).
        upper: 95 % quantile, likewise.
        widths: w_k, in (0, 1], shape (grid,).
        off_centre: (c_k - e_k(w_k)) / w_k: positive where the range lies above the grid point,
            0 where it is centred, shape (grid,).
        moves: |c_(k+1) - c_k|, in [0, 1], shape (grid - 1,).
        skew: root mean square of `off_centre`, at least 0.
        departure: mean of max(|c_k - e_k(w)|, (w_k - w) / 2), w the least width, in [0, 1]: how
            far the two ends of the range lie, on average, from where they would be if the
            narrowest range followed the grid point throughout.
        jump: the narrower width beside the largest move, as (w - m/n) / (greatest w - m/n), in
            [0, 1]: 1 if that move leads from one widest range to another, 0 if the range is as
            narrow as can be where it moves most, or never wider than that.
    """

    verdict: Verdict
    feature: int
    grid: FloatArray
    influential: FloatArray
    lower: FloatArray
    upper: FloatArray
    widths: FloatArray
    off_centre: FloatArray
    moves: FloatArray
    skew: float
    departure: float
    jump: float


@attrs.frozen(eq=False)
class Exemplars:
    """Which existing explanation may serve for each new point.

    Attributes:
        positions: the row whose explanation to use, or -1 where there is none, shape (m,).
        distances: its distance, NaN where there is none, shape (m,).
        likelihood: how likely the new point is under that row's local training distribution,
            in [0, 1]; where there is none, the most likely any row makes it, shape (m,).
    """

    positions: IntArray
    distances: FloatArray
    likelihood: FloatArray


def global_pattern(
    model: MapleRegressor,
    X: npt.ArrayLike,
    feature: int | str,
    *,
    grid: npt.ArrayLike | None = None,
    n_influential: int = 20,
    n_draws: int = 10,
    seed: int = 0,
) -> GlobalPattern:
    """Tell a feature's global pattern from its local training distributions along a grid.

    The feature is set to each grid value in rows drawn from X, the same at each grid point, so
    that what changes along the grid is owed to the feature. The training points with the
    largest weights at each such row (ties: the earlier one) are its influential points.

    The verdict, in the terms of `GlobalPattern`:

    * ``none`` if skew < 0.1 (the range is centred for its width: an inactive feature, whose
      range is wide and everywhere the same) or departure < 0.045 (a narrow range follows the
      grid point: its ends stay, on average, within 4.5 % of the rows of where they should be);
    * else ``steps`` if jump >= 0.15: the largest move leads from one wide range to the next;
    * else ``plateaus``: where the range moves it is narrow, elsewhere it stays put.

    Limits, measured on `xassay.models.shapes.demonstrate` (40 seeds, grids of 11 to 21 points):
    right for all lines, 85 to 95 % of s_curves, 92 to 95 % of steps, 99 % of inactive features.
    Not to be trusted with forests that see half of the features at a split (12 of 12 lines read
    as steps) and boosted trees (11 of 12 patterns read as none); with noise of 0.2 about half of
    smooth curves read as patterns.

    Args:
        model: fitted.
        X: rows from which the other features are drawn, shape (rows, p).
        feature: its position, or its name if the model was fitted to named columns.
        grid: at least two rising values of the feature; by default its values in X if there
            are no more than 11, else 11 evenly spaced points over their range.
        n_influential: number m of influential points; 20 suit leaves of at least 10 rows.
        n_draws: rows drawn.
        seed: fixes the draws.

    Raises:
        NotFittedError: the model is not fitted.
        InputError: X that the model cannot take, an unknown feature, a grid that is not finite
            and rising or is constant, counts below 1, or more influential points than there
            are training points.

    Example:
        >>> from xassay.models import shapes
        >>> model, X = shapes.demonstrate("steps")
        >>> pattern = global_pattern(model, X, 0)
        >>> pattern.verdict, pattern.upper[[1, 5, 9]].round(1).tolist()
        ('steps', [0.3, 0.6, 1.0])
        >>> global_pattern(model, X, 1).verdict
        'none'
    """
    rows = _checked(model, X, "X")
    j = _position(model, feature)
    points = _grid(rows[:, j], grid)
    n_train = len(model.X_train_)
    if not 1 <= n_influential <= n_train:
        raise InputError(
            f"n_influential must be from 1 to the {n_train} training points, not {n_influential}"
        )
    if n_draws < 1:
        raise InputError(f"n_draws must be at least 1, not {n_draws}")
    drawn = rows[generator(seed, "global pattern", j).integers(len(rows), size=n_draws)]
    queries = np.tile(drawn, (len(points), 1))
    queries[:, j] = np.repeat(points, n_draws)
    weights = _weights(model, queries)
    chosen = np.argsort(-weights, axis=1, kind="stable")[:, :n_influential]
    train = model.X_train_[:, j]
    influential = np.where(np.take_along_axis(weights, chosen, axis=1) > 0, train[chosen], np.nan)
    return _read(j, points, influential.reshape(len(points), n_draws, n_influential), train)


def exemplars(model: MapleRegressor, X: npt.ArrayLike, x: npt.ArrayLike, *, level: float = 0.05) -> Exemplars:
    r"""Find, for each new point, the nearest explained row under which the point is likely.

    The local training distribution of a row is the training points with their weights there.
    A point's likelihood under it is, over the d features j that the model keeps,

        min(1, d min_j 2 min(P(T_j <= x_j), P(T_j >= x_j))),

    and it is likely if that is at least the level: each feature then lies in the central
    1 - level / d of its local distribution. By Bonferroni's inequality at most a share ``level``
    of the local distribution itself is turned away, however the features depend on each other;
    no density has to be estimated from the few points that weigh. A feature that is locally
    constant admits that constant alone. Values within 1e-9 standard deviations count as equal.

    Distances are Euclidean over the kept features, as the explanation speaks of no other, in
    the training rows' standard deviations (ddof 0; constant columns as they are), so that no
    unit of measurement decides. Ties: the earlier row. A row equal to the point in every
    feature is its exemplar however unlikely it is: its explanation is the point's own.

    Args:
        model: fitted.
        X: rows that are explained already, shape (rows, p).
        x: new points, shape (m, p), or one point, shape (p,).
        level: share of a local distribution that counts as unlikely, in (0, 1).

    Raises:
        NotFittedError: the model is not fitted.
        InputError: X or x that the model cannot take, or a level outside (0, 1).

    Example:
        >>> from xassay.models import shapes
        >>> model, X = shapes.demonstrate("linear")
        >>> found = exemplars(model, X[:50], [X[3], X[3] + 10])
        >>> found.positions.tolist(), found.distances.tolist()
        ([3, -1], [0.0, nan])
    """
    rows = _checked(model, X, "X")
    new = _checked(model, x if np.ndim(x) != 1 else np.reshape(x, (1, -1)), "x")
    if not 0 < level < 1:
        raise InputError(f"level must lie between 0 and 1, not {level}")
    kept = model.feature_order_[: model.n_features_kept_]
    train = model.X_train_[:, kept]
    scale = train.std(axis=0)
    likelihood = _likelihood(_weights(model, rows), train, new[:, kept], ROUNDING * scale)
    unit = np.where(scale > 0, scale, 1.0)
    distances = cdist(rows[:, kept] / unit, new[:, kept] / unit)
    order = np.where(likelihood >= level, distances, np.inf)
    order[cdist(rows, new, "chebyshev") == 0] = -1.0
    best, columns = np.argmin(order, axis=0), np.arange(len(new))
    found = np.isfinite(order[best, columns])
    return Exemplars(
        np.where(found, best, -1),
        np.where(found, distances[best, columns], np.nan),
        np.where(found, likelihood[best, columns], likelihood.max(axis=0)),
    )


def _likelihood(weights: FloatArray, train: FloatArray, new: FloatArray, slack: FloatArray) -> FloatArray:
    """Likelihood of each new point (columns) under each row's local distribution (rows)."""
    shares = weights / weights.sum(axis=1, keepdims=True)
    tail = np.full((len(weights), len(new)), np.inf)
    for column, points, near in zip(train.T, new.T, slack, strict=True):
        below = shares @ (column[:, None] <= points + near)
        above = shares @ (column[:, None] >= points - near)
        tail = np.minimum(tail, np.minimum(below, above))
    return np.asarray(np.minimum(1.0, 2.0 * train.shape[1] * tail), dtype=np.float64)


def _read(feature: int, grid: FloatArray, influential: FloatArray, train: FloatArray) -> GlobalPattern:
    """The numbers of `GlobalPattern`, and its verdict."""
    pooled = influential.reshape(len(grid), -1)
    lower, upper = np.nanquantile(pooled, [TAIL, 1 - TAIL], axis=1)
    a, b = np.nanquantile(_ranks(pooled, train), [TAIL, 1 - TAIL], axis=1)
    at = _ranks(grid, train)
    least = influential.shape[2] / len(train)
    widths = np.clip((b - a) / (1 - 2 * TAIL), least, 1.0)
    centres = (a + b) / 2
    off_centre = (centres - _held(at, widths)) / widths
    skew = float(np.sqrt((off_centre**2).mean()))
    shift = np.abs(centres - _held(at, widths.min()))
    departure = float(np.maximum(shift, (widths - widths.min()) / 2).mean())
    moves = np.abs(np.diff(centres))
    # Moves that are equal up to rounding count alike: a flipped sign must not choose between them.
    beside = np.minimum(widths[1:], widths[:-1])[moves >= moves.max() - ROUNDING].mean()
    spread = widths.max() - least
    jump = float((beside - least) / spread) if spread > 0 else 0.0
    verdict: Verdict = "plateaus"
    if skew < CENTRED or departure < FOLLOWS:
        verdict = "none"
    elif jump >= LEAST_JUMP:
        verdict = "steps"
    return GlobalPattern(
        verdict,
        feature,
        grid,
        influential,
        lower,
        upper,
        widths,
        off_centre,
        moves,
        skew=skew,
        departure=departure,
        jump=jump,
    )


def _ranks(values: FloatArray, train: FloatArray) -> FloatArray:
    """Mid-ranks among the training values, in [0, 1], NaN kept; a flipped sign turns r into 1 - r."""
    ordered = np.sort(train)
    both = np.searchsorted(ordered, values, "left") + np.searchsorted(ordered, values, "right")
    return np.where(np.isnan(values), np.nan, both / (2 * len(ordered)))


def _held(at: FloatArray, widths: Any) -> FloatArray:
    """Where centred ranges of these widths lie that may not leave [0, 1]."""
    return np.asarray(np.clip(at, widths / 2, 1 - widths / 2), dtype=np.float64)


def _checked(model: MapleRegressor, X: Any, name: str) -> FloatArray:
    """Rows as the model takes them, or one line that says why it cannot."""
    check_is_fitted(model)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "X does not have valid feature names")
            return np.asarray(validate_data(model, X, reset=False, dtype=np.float64))
    except (ValueError, TypeError) as error:
        raise InputError(f"{name} cannot be used: {str(error).splitlines()[0].rstrip(':')}") from error


def _weights(model: MapleRegressor, rows: FloatArray) -> FloatArray:
    """Training weights of checked rows, which have lost the column names they came with."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        return model.training_weights(rows)


def _position(model: MapleRegressor, feature: int | str) -> int:
    p = model.X_train_.shape[1]
    if isinstance(feature, str):
        names = list(getattr(model, "feature_names_in_", []))
        if not names:
            raise InputError(
                f"feature {feature!r}: the model was fitted without column names; give a position"
            )
        if feature not in names:
            raise UnknownNameError("feature", feature, names)
        return names.index(feature)
    if isinstance(feature, (bool, np.bool_)) or not isinstance(feature, (int, np.integer)):
        raise InputError(f"feature must be a position or a name, not {feature!r}")
    if not 0 <= feature < p:
        raise InputError(f"feature must be from 0 to {p - 1}, not {feature}")
    return int(feature)


def _grid(values: FloatArray, grid: npt.ArrayLike | None) -> FloatArray:
    if grid is None:
        distinct = np.unique(values)
        if len(distinct) == 1:
            raise InputError("the feature is constant in X: give a grid")
        if len(distinct) <= GRID_POINTS:
            return distinct
        return np.linspace(distinct[0], distinct[-1], GRID_POINTS)
    try:
        points = np.asarray(grid, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError("the grid must be numbers") from error
    if points.ndim != 1 or len(points) < 2:  # noqa: PLR2004 - a pattern lies between points
        raise InputError(f"the grid must be a list of at least two values, not of shape {points.shape}")
    if not np.isfinite(points).all():
        raise InputError("the grid holds values that are missing or infinite")
    if (np.diff(points) <= 0).any():
        raise InputError("the grid must rise from each value to the next")
    return points
