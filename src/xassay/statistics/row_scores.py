"""Intervals of the scores that a check shows, each with the added rows that suit it.

What an unseen row can be is known where a score is bounded, and assumed where it is not: losses
may be `BEYOND` times the largest seen; beside a trivial loss, `BEYOND_TRIVIAL` times. What that is
worth is measured by bench/coverage.py, and stands in docs/science/intervals.md.
"""

import numpy as np
from scipy import stats

from xassay.errors import InputError
from xassay.statistics.row_weights import (
    LEAST,
    LEVEL,
    N_REPLICATES,
    RowWeights,
    Statistic,
    row_interval,
    same,
)
from xassay.statistics.scores import loss_of_accuracy, mean, ratio, share_of_squares, skill
from xassay.types import FloatArray, IntArray

BEYOND = 2.0
"""An unseen row's loss may be as many times the largest loss seen, where nothing stands beside it."""
BEYOND_TRIVIAL = 1.5
"""Likewise where the trivial loss says how large a row is; no more is needed, as measured."""
ENOUGH_ROWS = 20
"""Below it explainers are not compared, and scores without bounds not to be judged: intervals fall short on
heavy tails, tests on unlike errors.

It is also where a perfect explanation has a skill above .5 at its interval's lower end."""

Rng = np.random.Generator | RowWeights
Interval = tuple[float, float] | None


def mean_interval(
    values: FloatArray,
    low: float,
    high: float,
    *,
    rng: Rng,
    clusters: IntArray | None = None,
    level: float = LEVEL,
    n_replicates: int = N_REPLICATES,
) -> Interval:
    """The interval of a mean over rows, of values between two bounds.

    Bounded on both sides it is Gaffke's (see `row_interval`). On a side without a bound the added
    row lies `BEYOND` times as far from the other bound (from the mean, where there is none
    either) as the farthest value seen.

    Args:
        values: finite, shape (rows,).
        low: the least possible value, or -inf.
        high: the greatest, or inf.
        rng: a generator, or weights that several scores share.
        clusters: the cluster of each row, shape (rows,): rows that go together are drawn together,
            and an unseen cluster is as large as the largest seen. None: each row by itself.
        level: how often it should hold the mean.
        n_replicates: see `row_interval`.

    Returns:
        The interval, within the bounds; None for fewer than two rows (or clusters), and for
        values all equal beside a side without a bound: they tell nothing of what lies there.

    Raises:
        InputError: values outside the bounds or not finite, or a cluster missing for a row.

    Example:
        >>> import numpy as np
        >>> [round(end, 1) for end in mean_interval(np.ones(5), 0.0, 1.0, rng=RowWeights(0))]
        [0.5, 1.0]
        >>> mean_interval(np.ones(5), 0.0, np.inf, rng=RowWeights(0)) is None
        True
    """
    given = np.asarray(values, dtype=np.float64)
    if len(given) and not (low <= given.min() and given.max() <= high):
        raise InputError(f"values must lie between {low:g} and {high:g}")
    if not _bounded(low, high) and (len(given) < LEAST or np.ptp(given) == 0):
        return None
    bounds = _reach(given, low, high)
    if clusters is None:
        columns, statistic, size = [given], mean, 1.0
    else:
        sums, counts = _by_cluster(given, clusters)
        columns, statistic, size = [sums, counts], ratio, float(counts.max(initial=1.0))
    worst, best = ([end * size, size][: len(columns)] for end in bounds)
    found = row_interval(
        columns, statistic, worst=worst, best=best, rng=rng, level=level, n_replicates=n_replicates
    )
    # weights that add up to 1 do so but for rounding
    return None if found is None else (max(low, found[0]), min(high, found[1]))


def root_mean_interval(losses: FloatArray, *, rng: Rng, level: float = LEVEL) -> Interval:
    """The interval of an RMSE, the root of the mean of losses >= 0 without an upper bound.

    Args:
        losses: finite, shape (rows,).
        rng: a generator, or weights that several scores share.
        level: how often it should hold the score.

    Returns:
        See `mean_interval`, of which it is the root.

    Raises:
        InputError: losses that are negative or not finite.

    Example:
        >>> import numpy as np
        >>> low, high = root_mean_interval(np.arange(20.0) ** 2, rng=RowWeights(0))
        >>> 7 < low < 11.1 < high < 20
        True
    """
    found = mean_interval(losses, 0.0, np.inf, rng=rng, level=level)
    return None if found is None else (float(np.sqrt(found[0])), float(np.sqrt(found[1])))


def skill_interval(own: FloatArray, trivial: FloatArray, *, rng: Rng, level: float = LEVEL) -> Interval:
    """The interval of 1 - sqrt(sum own / sum trivial), over rows of losses >= 0 without a bound.

    The assumption: an unseen row's trivial loss is at most `BEYOND_TRIVIAL` times the largest seen, and
    the explanation is at worst as wrong there as telling nothing; or, where rows were seen on
    which it is worse than that, `BEYOND_TRIVIAL` times as wrong as on the worst of them. At best it is
    exact there. A perfect explanation of few rows is thus not certain to be perfect.

    Args:
        own: the explanation's losses, finite, shape (rows,).
        trivial: those of telling nothing, on the same rows.
        rng: a generator, or weights that several scores share.
        level: how often it should hold the score.

    Returns:
        The interval, in (-infinity, 1]; None for fewer than two rows, or where telling nothing
        is right everywhere.

    Raises:
        InputError: losses that are negative, not finite or of different rows.

    Example:
        >>> import numpy as np
        >>> low, high = skill_interval(np.zeros(50), np.ones(50), rng=RowWeights(0))
        >>> 0.5 < low < 0.8, high
        (True, 1.0)
    """
    if len(own) and not min(own) >= 0:
        raise InputError("losses must be finite and not negative: leave other rows out first")
    return _against_trivial(skill, own, trivial, rng, level)


def share_of_squares_interval(
    own: FloatArray, trivial: FloatArray, *, rng: Rng, level: float = LEVEL
) -> Interval:
    """The interval of 1 - sum own / sum trivial; see `skill_interval` for all else.

    Own losses may be a little below 0, as estimates of them are.

    Example:
        >>> import numpy as np
        >>> low, high = share_of_squares_interval(np.zeros(50), np.ones(50), rng=RowWeights(0))
        >>> 0.8 < low < 0.95, high
        (True, 1.0)
    """
    return _against_trivial(share_of_squares, own, trivial, rng, level)


def loss_of_accuracy_interval(
    with_noise: FloatArray, without_noise: FloatArray, *, rng: Rng, level: float = LEVEL
) -> Interval:
    """The interval of ELA, (1 - mean with noise) / mean without, over rows of scores in [0, 1].

    An unseen row has 0 both ways at worst, 1 both ways at best.

    Args:
        with_noise: scores in [0, 1] of noisy rows, shape (rows,).
        without_noise: of the same rows without noise.
        rng: a generator, or weights that several scores share.
        level: how often it should hold the score.

    Returns:
        The interval; None for fewer than two rows, or where the accuracy without noise is 0.

    Raises:
        InputError: scores outside [0, 1], or of different rows.

    Example:
        >>> import numpy as np
        >>> low, high = loss_of_accuracy_interval(np.ones(9), np.ones(9), rng=RowWeights(0))
        >>> low, 0.3 < high < 0.7
        (0.0, True)
    """
    for scores in (with_noise, without_noise):
        if len(scores) and not (min(scores) >= 0 and max(scores) <= 1):
            raise InputError("accuracies must lie between 0 and 1")
    return row_interval(
        [with_noise, without_noise], loss_of_accuracy, worst=[0.0, 0.0], best=[1.0, 1.0], rng=rng, level=level
    )


def quantile_interval(
    values: FloatArray, q: float, *, low: float = -np.inf, high: float = np.inf, level: float = LEVEL
) -> Interval:
    r"""The interval of the q-quantile over rows, between two of the sorted values.

    The number of values at or below the quantile is binomial (n, q): the lower end is the k-th
    smallest value with the largest k for which P(Bin(n, q) < k) <= (1 - level)/2, the upper end
    likewise from above. It holds for any distribution.

    Args:
        values: finite, shape (rows,).
        q: which quantile, in (0, 1).
        low: the least possible value: the lower end where too few rows are seen for another.
        high: the greatest, likewise.
        level: how often it should hold the quantile.

    Returns:
        The interval; None where an end does not exist: for the median below 6 rows, for the
        tenth part below 36; or where its ends are equal.

    Raises:
        InputError: q or level outside (0, 1), or values that are not finite.

    Reference:
        Conover, Practical Nonparametric Statistics, 3rd edition (1999), section 3.2.

    Example:
        >>> import numpy as np
        >>> quantile_interval(np.arange(1.0, 101.0), 0.5)
        (40.0, 61.0)
        >>> quantile_interval(np.arange(5.0), 0.5) is None
        True
    """
    if not (0 < q < 1 and 0 < level < 1):
        raise InputError(f"q and level must be between 0 and 1, not {q} and {level}")
    given = np.sort(np.asarray(values, dtype=np.float64))
    if not np.isfinite(given).all():
        raise InputError("values that are not finite: leave their rows out first")
    n, tail = len(given), (1 - level) / 2
    # P(Bin < k) = cdf(k - 1); the least k with P(Bin >= k) <= tail is one above the last that may hold it
    below = int(np.searchsorted(stats.binom.cdf(np.arange(n), n, q), tail, side="right"))
    above = int(np.searchsorted(stats.binom.cdf(np.arange(n), n, q), 1 - tail, side="left")) + 1
    start = given[below - 1] if below > 0 else low
    end = given[above - 1] if above <= n else high
    if n < LEAST or not _bounded(start, end) or same(start, end):
        return None
    return float(start), float(end)


def unseen_share(n: int, level: float = LEVEL) -> float:
    """How common a kind of rows can be of which n rows show none: 1 - (1 - level)^(1/n), about 3 / n.

    Kinds of rows that are rarer than it may be missing from the rows seen, and then no interval
    can tell of them what is not assumed.

    Args:
        n: number of rows, at least 1.
        level: a commoner kind would have been seen this often.

    Returns:
        In (0, 1).

    Raises:
        InputError: n below 1, or a level outside (0, 1).

    Example:
        >>> round(unseen_share(50), 3)
        0.058
    """
    if n < 1 or not 0 < level < 1:
        raise InputError(f"n must be at least 1 and level between 0 and 1, not {n} and {level}")
    return float(1 - (1 - level) ** (1 / n))


def _bounded(low: float, high: float) -> bool:
    return bool(np.isfinite(low) and np.isfinite(high))


def _reach(values: FloatArray, low: float, high: float) -> tuple[float, float]:
    """The values of the added rows: the bounds, and `BEYOND` the farthest seen where there is none."""
    if _bounded(low, high):
        return low, high
    lower = low if np.isfinite(low) else (high if np.isfinite(high) else float(values.mean()))
    upper = high if np.isfinite(high) else (low if np.isfinite(low) else float(values.mean()))
    return (
        low if np.isfinite(low) else lower - BEYOND * (lower - float(values.min())),
        high if np.isfinite(high) else upper + BEYOND * (float(values.max()) - upper),
    )


def _by_cluster(values: FloatArray, clusters: IntArray) -> tuple[FloatArray, FloatArray]:
    if len(clusters) != len(values):
        raise InputError(f"{len(clusters)} clusters beside {len(values)} values: one a row")
    _, where = np.unique(clusters, return_inverse=True)
    return (
        np.bincount(where, weights=values).astype(np.float64),
        np.bincount(where).astype(np.float64),
    )


def _against_trivial(
    statistic: Statistic, own: FloatArray, trivial: FloatArray, rng: Rng, level: float
) -> Interval:
    ours, nothing = (np.asarray(losses, dtype=np.float64) for losses in (own, trivial))
    if len(ours) != len(nothing):
        raise InputError(f"{len(ours)} losses beside {len(nothing)}: they must be of the same rows")
    if len(ours) < LEAST or not nothing.any():
        return None
    if not (np.isfinite(ours).all() and np.isfinite(nothing).all() and nothing.min() >= 0):
        raise InputError("losses must be finite and not negative: leave other rows out first")
    largest = BEYOND_TRIVIAL * float(nothing.max())
    share = float(ours.sum() / nothing.sum())
    worse = int(np.argmax(ours - share * nothing))
    # which of them pulls the score down most, at its size
    choices = [
        (largest, largest),
        (BEYOND_TRIVIAL * float(ours[worse]), BEYOND_TRIVIAL * float(nothing[worse])),
    ]
    worst = max(choices, key=lambda row: row[0] - share * row[1])
    return row_interval([ours, nothing], statistic, worst=worst, best=(0.0, largest), rng=rng, level=level)
