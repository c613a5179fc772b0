"""How far a mean could have come out otherwise: bootstrap replicates and their intervals.

Replicates are kept apart from intervals because derived scores (a mean of means, a ratio)
are computed replicate by replicate.
"""

import numpy as np
from scipy import stats

from xassay.types import FloatArray, IntArray

N_REPLICATES = 2000
LEVEL = 0.95
EXACT = 1e-12


def cluster_draws(n_clusters: int, rng: np.random.Generator, n_replicates: int = N_REPLICATES) -> IntArray:
    """How often each replicate draws each cluster, with replacement: (n_replicates, n_clusters).

    Scores of the same clusters share one such matrix: their replicates are then paired, so
    that differences and ratios of them make sense.
    """
    return np.asarray(rng.multinomial(n_clusters, np.full(n_clusters, 1 / n_clusters), size=n_replicates))


def cluster_replicates(
    scores: FloatArray, clusters: IntArray, draws: IntArray, weights: IntArray | None = None
) -> FloatArray:
    """Means of resampled clusters: what the mean would be with other rows.

    A cluster is drawn with all its scores; NaN scores count neither in the sum nor in the
    number.

    Args:
        scores: shape (n,), NaN where undefined.
        clusters: the cluster of each score, shape (n,).
        draws: from `cluster_draws`, one column a distinct cluster in sorted order.
        weights: how often each score counts, shape (n,); None: once.

    Returns:
        float, shape (replicates,); NaN where a replicate drew no defined score.

    Example:
        >>> import numpy as np
        >>> draws = cluster_draws(2, np.random.default_rng(0), 3)
        >>> cluster_replicates(np.array([1.0, 1.0, 1.0]), np.array([0, 0, 1]), draws).tolist()
        [1.0, 1.0, 1.0]
    """
    _, where = np.unique(clusters, return_inverse=True)
    n = draws.shape[1]
    defined = ~np.isnan(scores)
    counted = np.ones(len(scores)) if weights is None else weights.astype(np.float64)
    sums = np.bincount(where[defined], weights=(counted * scores)[defined], minlength=n)
    counts = np.bincount(where[defined], weights=counted[defined], minlength=n)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((draws @ sums) / (draws @ counts))


def repeat_replicates(
    scores: FloatArray,
    clusters: IntArray,
    rng: np.random.Generator,
    n_replicates: int = N_REPLICATES,
    weights: IntArray | None = None,
) -> FloatArray | None:
    r"""Means of a census under other draws of the explainer: what it would be with other seeds.

    Every row was explained (nothing was sampled), anew under r seeds. The draws of different
    clusters are independent, so the mean over n scores and r repeats is normal to a very good
    approximation, with variance sum over clusters of s_c^2 / (r n^2), where s_c^2 is the
    variance of the cluster's sum between repeats; replicates are drawn from that normal.

    Args:
        scores: shape (n, r): n scores under each of r seeds; a score that is NaN under any
            seed is left out.
        clusters: the cluster of each score, shape (n,): scores that share their draws.
        rng: the generator.
        n_replicates: number of replicates B.
        weights: how often each score counts, shape (n,); None: once.

    Returns:
        float, shape (B,), or None where there is no spread to speak of: a single repeat, or
        repeats that are all equal (the explainer is exact).
    """
    complete = ~np.isnan(scores).any(axis=1)
    kept, repeats = scores[complete], scores.shape[1]
    counted = np.ones(len(kept)) if weights is None else weights[complete].astype(np.float64)
    if repeats < 2 or not len(kept):  # noqa: PLR2004 - a variance needs two
        return None
    _, where = np.unique(clusters[complete], return_inverse=True)
    sums = np.zeros((int(where.max()) + 1, repeats))
    np.add.at(sums, where, kept * counted[:, None])
    error = float(np.sqrt(sums.var(axis=1, ddof=1).sum() / repeats) / counted.sum())
    if error <= EXACT:
        return None
    mean = float(np.average(kept.mean(axis=1), weights=counted))
    return np.asarray(mean + error * rng.standard_normal(n_replicates))


def interval(replicates: FloatArray | None, level: float = LEVEL) -> tuple[float, float] | None:
    """The central share of the replicates, or None where there are none.

    Example:
        >>> import numpy as np
        >>> low, high = interval(np.linspace(0, 1, 1001))
        >>> round(low, 6), round(high, 6)
        (0.025, 0.975)
    """
    if replicates is None or np.isnan(replicates).all():
        return None
    # observed values, not interpolated ones: a replicate may be infinite
    low, high = np.nanquantile(replicates, [(1 - level) / 2, (1 + level) / 2], method="nearest")
    return float(low), float(high)


def trial_interval(
    values: FloatArray, low: float = -np.inf, high: float = np.inf, level: float = LEVEL
) -> tuple[float, float] | None:
    r"""The interval of a mean over a few independent trials: mean +- t s / sqrt(n), Student's t.

    A bootstrap of n values is too narrow where n is small: of five normal values its 95%
    interval holds the mean 84 times in a hundred, this one 95 times.

    Args:
        values: shape (n,), finite.
        low: the least value that the mean can take; the interval ends there.
        high: the greatest.
        level: how often it should hold the mean.

    Returns:
        The interval, or None for fewer than two values.

    Example:
        >>> import numpy as np
        >>> [round(end, 3) for end in trial_interval(np.array([1.0, 2.0, 3.0]))]
        [-0.484, 4.484]
    """
    n = len(values)
    if n < 2:  # noqa: PLR2004 - a variance needs two
        return None
    half = stats.t.ppf((1 + level) / 2, n - 1) * values.std(ddof=1) / np.sqrt(n)
    return float(max(low, values.mean() - half)), float(min(high, values.mean() + half))


def share_interval(successes: int, n: int, level: float = LEVEL) -> tuple[float, float]:
    """Wilson's interval of a share: it does not pretend to certainty where all trials agree.

    Reference:
        Wilson, Journal of the American Statistical Association 22 (1927).

    Example:
        >>> [round(end, 2) for end in share_interval(5, 5)]
        [0.57, 1.0]
    """
    found = stats.binomtest(successes, n).proportion_ci(level, method="wilson")
    return float(found.low), float(found.high)
