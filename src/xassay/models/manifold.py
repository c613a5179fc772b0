"""On or off the data: how far masked rows are from real ones, and rows that stay near them.

Masking replaces some columns of a row by another row's and so leaves the data where columns
depend on each other. What a model does there is part of the model ("true to the model") and no
part of what it does on real rows ("true to the data"; Chen, Janizek, Lundberg and Lee, "True to
the model or true to the data?", 2020, arXiv:2006.16234).
"""

from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from xassay.errors import InputError
from xassay.seeds import generator, legacy_seed
from xassay.types import BoolArray, FloatArray

FOLDS = 5

LEAST_ROWS = 20
"""Rows of either sort below which nothing is said of them."""

MOST_ROWS = 1000
"""Rows of either sort that classifiers and surrogates are fitted to: more take time and tell little."""

FORESEEN = 0.35
"""Part of the variance that both surrogates must explain where they were fitted: with less, that one fails
elsewhere says nothing."""

LOST = 0.7
"""Share of it that both must lose elsewhere, for the alarm. Over honest models (additive and product models,
distances, forests, boosting, perceptrons and isolation forests, on independent and correlated columns) the
smaller of the two shares stays below 0.6; over models with a rule for either sort of rows, which know two
thirds of the real rows or more for real, it lies above 0.75."""

_FEW, _REPEATS = 200, 3
_TREES = 50
_LEAST_RIDGE = 1e-6


def split_masked(pool: npt.ArrayLike, seed: int = 0) -> tuple[FloatArray, FloatArray]:
    """Real rows, and masked rows that share no row with them or with each other.

    A third of the pool stays as it is. The columns of a random set of each row of the second third
    are replaced by those of a row of the last; every size of the set from 1 to all but one is as
    likely. Both kinds of rows suit `separability` and `off_data_alarm`.

    Args:
        pool: shape (rows, columns), at least two columns.
        seed: fixes the parts and the sets.

    Returns:
        Two arrays of shape (a third of the rows, columns).

    Raises:
        InputError: fewer than two columns, or fewer than three times `LEAST_ROWS` rows.

    Example:
        >>> real, masked = split_masked(np.arange(180.0).reshape(90, 2))
        >>> real.shape, masked.shape, bool((np.diff(masked) != 1).all())
        ((30, 2), (30, 2), True)
    """
    rows = np.asarray(pool, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] < 2 or len(rows) < 3 * LEAST_ROWS:  # noqa: PLR2004 - to keep one of two
        raise InputError(
            f"masked rows need two columns and {3 * LEAST_ROWS} rows at least, not shape {rows.shape}"
        )
    rng = generator(seed, "split masked")
    n, p = len(rows) // 3, rows.shape[1]
    real, kept, others = rows[rng.permutation(len(rows))[: 3 * n]].reshape(3, n, p)
    ranks = rng.random((n, p)).argsort(axis=1).argsort(axis=1)
    return real, np.where(ranks < rng.integers(1, p, size=n)[:, None], others, kept)


def separability(real: npt.ArrayLike, masked: npt.ArrayLike, seed: int = 0) -> float:
    r"""How well a classifier tells masked rows from real ones: the area under its ROC curve.

    .. math:: \mathrm{AUC} = P(s(m) > s(r)) + P(s(m) = s(r)) / 2

    for a masked row m, a real row r and the score s of a forest of extremely randomised trees
    that has seen neither (5 folds, the mean over folds; below 200 rows over three splits into
    folds). 0.5: it cannot tell; 1: masked rows are nothing like real ones. The larger sort is
    sampled down to the size of the smaller, and both to `MOST_ROWS`, so that the value does
    not hang on their shares. Around 0.5 it scatters on either side: with a standard
    deviation of about 0.12 at 20 rows of either sort, 0.05 at 100 (four independent columns).

    Masked rows should be made from other rows than the real ones, and with a background row each
    (`split_masked` makes such): a row and its own masked copy are neighbours with different
    labels, which pulls the value below 0.5, and a background row that many masked rows share tells
    them from real ones by its values alone.

    Args:
        real: shape (rows, columns); NaN is a value like another.
        masked: shape (other rows, columns).
        seed: fixes sampling, folds and trees.

    Returns:
        In [0, 1].

    Raises:
        InputError: fewer than `LEAST_ROWS` rows of either, or different columns.

    References:
        Lopez-Paz and Oquab, "Revisiting classifier two-sample tests", ICLR 2017, arXiv:1610.06545.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> one, other, shifted = rng.normal(size=(3, 100, 2)) + [[[0]], [[0]], [[9]]]
        >>> separability(one, shifted), 0.3 < separability(one, other) < 0.7
        (1.0, True)
    """
    from sklearn.metrics import roc_auc_score

    one, other = _two(real, masked)
    rng = generator(seed, "separability")
    n = min(len(one), len(other), MOST_ROWS)
    rows = np.concatenate([rng.permutation(part)[:n] for part in (one, other)])
    labels = np.repeat([0, 1], n)
    found = [
        roc_auc_score(labels[test], scores)
        for repeat in range(_REPEATS if n < _FEW else 1)
        for test, scores in _telling(rows, labels, legacy_seed(seed, "separability", repeat))
    ]
    return float(np.mean(found))


def _telling(rows: FloatArray, labels: Any, seed: int) -> list[tuple[Any, FloatArray]]:
    """Folds, and the probability that each of their rows is masked, from the other folds."""
    from sklearn.ensemble import ExtraTreesClassifier
    from sklearn.model_selection import StratifiedKFold

    if np.isnan(rows).any():
        # a value of its own, below the others, beside whether it is missing
        holes = np.isnan(rows)
        low = np.nanmin(np.where(holes.all(axis=0), 0.0, rows), axis=0)
        rows = np.hstack([np.where(holes, low - 1.0, rows), holes[:, holes.any(axis=0)]])
    found = []
    for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(rows, labels):
        forest = ExtraTreesClassifier(_TREES, min_samples_leaf=3, random_state=seed)
        forest.fit(rows[train], labels[train])
        found.append((test, forest.predict_proba(rows[test])[:, 1]))
    return found


def conditional_rows(
    X: npt.ArrayLike,
    subsets: npt.ArrayLike,
    background: npt.ArrayLike,
    numeric: npt.ArrayLike | None = None,
    *,
    pool: npt.ArrayLike | None = None,
) -> FloatArray:
    r"""Rows of which some columns are drawn given the others: the conditional kind of masking.

    For the replaced columns S, the others R, and each background row b

    .. math:: z_S = b_S + \beta_S (x_R - b_R), \qquad z_R = x_R

    with the coefficients of a linear regression of S on R over the pool: the residual of a
    background row is moved to where x is. Where columns depend on each other linearly with
    residuals that do not hang on R, as in a Gaussian, these are draws from the conditional
    distribution; otherwise an approximation. The regression shrinks correlations by the factor
    of Ledoit and Wolf, which vanishes with many rows. Marginal masking is the case beta = 0.

    Columns that are not numeric, or have missing values in the pool, take the background row's
    value as it is where they are replaced, and tell nothing of the others; so does a value that
    is missing in x or b. Drawn values need not be whole or within range: `Space.snap` sees to it.

    Args:
        X: rows, shape (rows, columns).
        subsets: which columns are replaced in each row, bool (rows, columns); or (columns,)
            for all rows the same. Equal sets share their regression.
        background: rows whose residuals are drawn, shape (background rows, columns).
        numeric: which columns are numeric, bool (columns,); default all.
        pool: rows to fit the regression to, shape (pool rows, columns); default the background.

    Returns:
        float, shape (rows, background rows, columns).

    Raises:
        InputError: shapes that do not fit.

    References:
        Aas, Jullum and Loland, "Explaining individual predictions when features are dependent",
        Artificial Intelligence 298, 2021, arXiv:1903.10464 (conditional Shapley values).

    Example:
        >>> b = np.array([[-1.0, -2.0], [1.0, 2.0], [-1.0, -2.0], [1.0, 2.0]])
        >>> conditional_rows([[3.0, 0.0]], [False, True], b)[0].round(3).tolist()[:2]
        [[3.0, 6.0], [3.0, 6.0]]
    """
    rows, others = np.asarray(X, dtype=np.float64), np.asarray(background, dtype=np.float64)
    fitted = others if pool is None else np.asarray(pool, dtype=np.float64)
    p = rows.shape[-1]
    if rows.ndim != 2 or not all(part.ndim == 2 and part.shape[1] == p for part in (others, fitted)):  # noqa: PLR2004
        raise InputError("X, background and pool must have shape (rows, columns) with the same columns")
    chosen = np.asarray(subsets, dtype=np.bool_)
    if chosen.shape not in ((p,), rows.shape):
        raise InputError(f"subsets must have shape {rows.shape} or ({p},), not {chosen.shape}")
    chosen = np.broadcast_to(chosen, rows.shape)
    plain = np.ones(p, dtype=np.bool_) if numeric is None else np.asarray(numeric, dtype=np.bool_)
    if plain.shape != (p,):
        raise InputError(f"numeric must have shape ({p},), not {plain.shape}")
    correlation, spreads = _correlation(fitted, plain)
    drawn = np.where(chosen[:, None], others, rows[:, None])
    sets, which = np.unique(chosen, axis=0, return_inverse=True)
    for k, replaced in enumerate(sets):
        moved, given = replaced & (spreads > 0), ~replaced & (spreads > 0)
        if moved.any() and given.any():
            own = np.flatnonzero(which.ravel() == k)
            beta = np.linalg.solve(correlation[np.ix_(given, given)], correlation[np.ix_(given, moved)])
            away = (rows[own][:, None, given] - others[:, given]) / spreads[given]
            shift = np.nan_to_num(away, nan=0.0) @ beta * spreads[moved]
            drawn[np.ix_(own, np.arange(len(others)), moved)] += shift
    return np.asarray(drawn)


def _correlation(rows: FloatArray, plain: BoolArray) -> tuple[FloatArray, FloatArray]:
    """Shrunk correlations, and standard deviations: 0 where a column takes no part."""
    from sklearn.covariance import ledoit_wolf_shrinkage

    p = rows.shape[1]
    correlation, spreads = np.eye(p), np.zeros(p)
    usable = np.flatnonzero(plain & np.isfinite(rows).all(axis=0) & (len(rows) > 2))  # noqa: PLR2004 - for a line
    usable = usable[np.ptp(rows[:, usable], axis=0) > 0] if len(usable) else usable
    if not len(usable):
        return correlation, spreads
    spreads[usable] = rows[:, usable].std(axis=0)
    z = (rows[:, usable] - rows[:, usable].mean(axis=0)) / spreads[usable]
    shrunk = max(float(ledoit_wolf_shrinkage(z)), _LEAST_RIDGE)
    correlation[np.ix_(usable, usable)] = (1 - shrunk) * (z.T @ z) / len(z) + shrunk * np.eye(len(usable))
    return correlation, spreads


@attrs.frozen
class OffData:
    """Whether a model behaves on masked rows as on real ones, as far as surrogates can tell.

    All four are parts of the variance of the model's answers to both sorts of rows that the
    surrogate explains, at most 1; NaN where there were too few rows.

    Attributes:
        r2_on: fitted to real rows, on real rows that it has not seen.
        r2_off: the same surrogate on masked rows.
        r2_masked: fitted to masked rows, on masked rows that it has not seen.
        r2_back: the same surrogate on real rows.
        alarm: whether both fail where they were not fitted.
        rows: real rows that this rests on.
        masked_rows: masked rows that it rests on.
    """

    r2_on: float
    r2_off: float
    r2_masked: float
    r2_back: float
    alarm: bool
    rows: int
    masked_rows: int


def off_data_alarm(
    real: npt.ArrayLike,
    of_real: npt.ArrayLike,
    masked: npt.ArrayLike,
    of_masked: npt.ArrayLike,
    seed: int = 0,
) -> OffData:
    """An alarm for models that answer masked rows by another rule than real ones.

    A model can hide its rule from explainers that mask: it tells their rows from real ones and
    answers those innocuously (Slack et al. 2020). Then a surrogate fitted to its answers to real
    rows does not foresee those to masked rows. That alone happens to honest models too, whose
    masked rows lie beyond the reach of a surrogate. So the way back is asked for as well:
    masked rows surround the real ones, and a surrogate fitted to them foresees real rows too, if
    there is one rule. The alarm is raised where both surrogates explain at least `FORESEEN` of the
    variance on unseen rows of the sort that they were fitted to, and lose at least the share
    `LOST` of that on the other sort.

    Only real and masked rows that a classifier tells apart take part (see `separability`): a
    model that behaves otherwise off the data has to tell them apart too. Where the two rules agree
    on the data there is no alarm, and nothing is hidden there. No alarm is no proof: a rule that no
    surrogate foresees may change unseen.

    The surrogates are a ridge regression and a forest on what it leaves; 5 folds.

    Args:
        real: real rows, shape (rows, columns), without missing values.
        of_real: the model's answers, shape (rows,).
        masked: masked rows, shape (other rows, columns).
        of_masked: the model's answers, shape (other rows,).
        seed: fixes folds and trees.

    Returns:
        What was found; NaN and no alarm where fewer than `LEAST_ROWS` of either can be told from
        the others, or the answers do not vary.

    Raises:
        InputError: shapes that do not fit, or fewer than `LEAST_ROWS` rows of either.

    References:
        Slack, Hilgard, Jia, Singh and Lakkaraju, "Fooling LIME and SHAP", AIES 2020,
        arXiv:1911.02508.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> X = rng.multivariate_normal([0, 0], [[1, 0.95], [0.95, 1]], size=200)
        >>> masked = np.column_stack([X[:, 0], rng.permutation(X[:, 1])])
        >>> off_data_alarm(X, X.sum(axis=1), masked, masked.sum(axis=1)).alarm
        False
    """
    one, other = _two(real, masked)
    y, z = np.asarray(of_real, dtype=np.float64), np.asarray(of_masked, dtype=np.float64)
    if y.shape != (len(one),) or z.shape != (len(other),):
        raise InputError(
            f"answers must be one a row: {len(one)} and {len(other)}, not {y.shape} and {z.shape}"
        )
    rng = generator(seed, "off data")
    kept = [rng.permutation(np.flatnonzero(np.isfinite(v)))[:MOST_ROWS] for v in (y, z)]
    one, y, other, z = one[kept[0]], y[kept[0]], other[kept[1]], z[kept[1]]
    if min(len(one), len(other)) < LEAST_ROWS:
        return OffData(np.nan, np.nan, np.nan, np.nan, alarm=False, rows=len(one), masked_rows=len(other))
    own_seed = legacy_seed(seed, "off data")
    apart = np.zeros(len(one) + len(other))
    labels = np.repeat([0, 1], [len(one), len(other)])
    for test, scores in _telling(np.vstack([one, other]), labels, own_seed):
        apart[test] = scores
    share = len(other) / len(labels)
    on, off = apart[: len(one)] <= share, apart[len(one) :] > share
    one, y, other, z = one[on], y[on], other[off], z[off]
    variance = float(np.concatenate([y, z]).var())
    if min(len(one), len(other)) < LEAST_ROWS or variance == 0:
        return OffData(np.nan, np.nan, np.nan, np.nan, alarm=False, rows=len(one), masked_rows=len(other))
    r2_on, r2_off = _foreseen(one, y, other, z, variance, own_seed)
    r2_masked, r2_back = _foreseen(other, z, one, y, variance, own_seed)
    lost = min(1 - r2_off / r2_on, 1 - r2_back / r2_masked) if min(r2_on, r2_masked) >= FORESEEN else 0.0
    alarm = lost >= LOST
    return OffData(r2_on, r2_off, r2_masked, r2_back, alarm=alarm, rows=len(one), masked_rows=len(other))


def _foreseen(
    rows: FloatArray, answers: FloatArray, others: FloatArray, theirs: FloatArray, variance: float, seed: int
) -> tuple[float, float]:
    """How much of the variance surrogates of some rows explain of unseen ones, and of others."""
    from sklearn.model_selection import KFold

    own, abroad = np.empty(len(rows)), np.zeros(len(others))
    for train, test in KFold(FOLDS, shuffle=True, random_state=seed).split(rows):
        line, forest = _surrogate(rows[train], answers[train], seed)
        own[test] = line.predict(rows[test]) + forest.predict(rows[test])
        abroad += (line.predict(others) + forest.predict(others)) / FOLDS
    return (
        float(1 - ((own - answers) ** 2).mean() / variance),
        float(1 - ((abroad - theirs) ** 2).mean() / variance),
    )


def _surrogate(rows: FloatArray, answers: FloatArray, seed: int) -> tuple[Any, Any]:
    from sklearn.ensemble import ExtraTreesRegressor
    from sklearn.linear_model import RidgeCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    line = make_pipeline(StandardScaler(), RidgeCV(np.logspace(-3, 3, 7))).fit(rows, answers)
    forest = ExtraTreesRegressor(_TREES, min_samples_leaf=2, random_state=seed)
    return line, forest.fit(rows, answers - line.predict(rows))


def _two(real: npt.ArrayLike, masked: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    one, other = np.asarray(real, dtype=np.float64), np.asarray(masked, dtype=np.float64)
    if one.ndim != 2 or other.ndim != 2 or one.shape[1] != other.shape[1]:  # noqa: PLR2004 - tables
        raise InputError(
            "real and masked rows must have shape (rows, columns) with the same columns, "
            f"got {one.shape} and {other.shape}"
        )
    if min(len(one), len(other)) < LEAST_ROWS:
        raise InputError(
            f"{len(one)} real and {len(other)} masked rows are too few: give at least {LEAST_ROWS} of either"
        )
    return one, other
