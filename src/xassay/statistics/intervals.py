"""Intervals by formula: of a mean over repeats or trials, and of a share."""

import numpy as np
from scipy import stats

from xassay.types import FloatArray, IntArray

LEVEL = 0.95
EXACT = 1e-12


def repeat_interval(
    scores: FloatArray, clusters: IntArray, weights: IntArray | None = None, level: float = LEVEL
) -> tuple[float, float] | None:
    r"""The interval of a census' mean under other draws of the explainer: what other seeds would give.

    Every row was explained (nothing was sampled), anew under r seeds. The draws of different
    clusters are independent, so the mean over n scores and r repeats is normal to a very good
    approximation, with variance sum over clusters of v_c = s_c^2 / (r n^2), where s_c^2 is the
    variance of the cluster's sum between repeats. The interval is mean +- t sqrt(sum v_c), Student's t with
    Satterthwaite's (r - 1) (sum v_c)^2 / sum v_c^2 degrees of freedom.

    Args:
        scores: shape (n, r): n scores under each of r seeds; a score that is NaN under any
            seed is left out.
        clusters: the cluster of each score, shape (n,): scores that share their draws.
        weights: how often each score counts, shape (n,); None: once.
        level: how often it should hold the mean over endless repeats, in (0, 1).

    Returns:
        The interval, in the scores' unit, or None where there is no spread to speak of: a single repeat, or
        repeats that are all equal (the explainer is exact).

    Reference:
        Satterthwaite, Biometrics Bulletin 2 (1946).

    Example:
        >>> import numpy as np
        >>> found = repeat_interval(np.array([[0.0, 1.0, 2.0]]), np.array([0]))
        >>> [round(end, 3) for end in found]  # one cluster: Student's t of three values
        [-1.484, 3.484]
    """
    complete = ~np.isnan(scores).any(axis=1)
    kept, repeats = scores[complete], scores.shape[1]
    if repeats < 2 or not len(kept):  # noqa: PLR2004 - a variance needs two
        return None
    counted = np.ones(len(kept)) if weights is None else weights[complete].astype(np.float64)
    _, where = np.unique(clusters[complete], return_inverse=True)
    sums = np.zeros((int(where.max()) + 1, repeats))
    np.add.at(sums, where, kept * counted[:, None])
    variances = sums.var(axis=1, ddof=1) / repeats / counted.sum() ** 2
    error = float(np.sqrt(variances.sum()))
    if error <= EXACT:
        return None
    shares = variances / variances.sum()  # of the variance: their squares do not vanish with it
    half = stats.t.ppf((1 + level) / 2, (repeats - 1) / (shares**2).sum()) * error
    mean = float(np.average(kept.mean(axis=1), weights=counted))
    return float(mean - half), float(mean + half)


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
