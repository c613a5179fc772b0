"""How far a mean could have come out otherwise: bootstrap replicates and their intervals.

Replicates are kept apart from intervals because derived scores (a mean of means, a ratio)
are computed replicate by replicate.
"""

import numpy as np

from xassay.types import FloatArray, IntArray

N_REPLICATES = 2000
LEVEL = 0.95
EXACT = 1e-12


def cluster_replicates(
    scores: FloatArray, clusters: IntArray, rng: np.random.Generator, n_replicates: int = N_REPLICATES
) -> FloatArray:
    """Means of resampled clusters: what the mean would be with other rows.

    Clusters are drawn with replacement, each with all its scores; NaN scores count neither
    in the sum nor in the number. Two calls with equal cluster labels and equal generators
    draw the same clusters, so differences and ratios of their replicates are paired.

    Args:
        scores: shape (n,), NaN where undefined.
        clusters: the cluster of each score, shape (n,).
        rng: the generator.
        n_replicates: number of replicates B.

    Returns:
        float, shape (B,); NaN where a replicate drew no defined score.

    Example:
        >>> import numpy as np
        >>> rng = np.random.default_rng(0)
        >>> cluster_replicates(np.array([1.0, 1.0]), np.array([0, 1]), rng, 3).tolist()
        [1.0, 1.0, 1.0]
    """
    labels, where = np.unique(clusters, return_inverse=True)
    n = len(labels)
    if n == 0:
        return np.full(n_replicates, np.nan)
    defined = ~np.isnan(scores)
    sums = np.bincount(where[defined], weights=scores[defined], minlength=n)
    counts = np.bincount(where[defined], minlength=n).astype(np.float64)
    draws = rng.multinomial(n, np.full(n, 1.0 / n), size=n_replicates)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((draws @ sums) / (draws @ counts))


def repeat_replicates(
    scores: FloatArray, clusters: IntArray, rng: np.random.Generator, n_replicates: int = N_REPLICATES
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

    Returns:
        float, shape (B,), or None where there is no spread to speak of: a single repeat, or
        repeats that are all equal (the explainer is exact).
    """
    complete = ~np.isnan(scores).any(axis=1)
    kept, repeats = scores[complete], scores.shape[1]
    if repeats < 2 or not len(kept):  # noqa: PLR2004 - a variance needs two
        return None
    _, where = np.unique(clusters[complete], return_inverse=True)
    sums = np.zeros((int(where.max()) + 1, repeats))
    np.add.at(sums, where, kept)
    error = float(np.sqrt(sums.var(axis=1, ddof=1).sum() / repeats) / len(kept))
    if error <= EXACT:
        return None
    return np.asarray(kept.mean() + error * rng.standard_normal(n_replicates))


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
    low, high = np.nanquantile(replicates, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
