"""The mean over a few drawn things, such as altered versions or trials, and how sure it is.

References:
    Student, Biometrika 6 (1908), for the mean; Gaffke, "Three test statistics for a nonparametric
    one-sided hypothesis on the mean of a nonnegative variable", Mathematical Methods of Statistics 14
    (2005), and Learned-Miller & Thomas, arXiv:1905.06208, for bounded values that are all equal.
"""

import numpy as np

from xassay.estimates import Bounds
from xassay.statistics.intervals import EXACT, LEVEL, trial_interval
from xassay.types import FloatArray


def sample_interval(
    values: FloatArray,
    low: float = -np.inf,
    high: float = np.inf,
    *,
    within: Bounds | None = None,
    level: float = LEVEL,
) -> Bounds | None:
    r"""The interval of the mean of the population that a few values were drawn from.

    Student's t over the m values, mean +- t s / sqrt(m), cut to what a mean can be. Where each
    value is itself an estimate, as a version's mean over some of its rows is, its own error is
    part of s already: the variance of the observed values is that between versions plus that
    within them, so nothing is added. By luck of few values s can still be smaller than the errors
    alone would make it; the interval therefore never ends inside ``within``, the interval of
    the mean over just these values.

    Values that are all equal have s = 0, which is no certainty about those not drawn. The
    interval then is Gaffke's for values between ``low`` and ``high``,
    [v - q (v - low), v + q (high - v)] with q = 1 - ((1 - level) / 2)^(1 / m): Clopper and Pearson's
    for a share. Without bounds nothing can be said.

    The values are taken as drawn at random, independently. No correction is made for a population
    that the sample nearly exhausts: the interval is then wider than need be.

    Args:
        values: shape (m,), finite.
        low: the least value that one of them can have; the unit is theirs.
        high: the greatest.
        within: the interval of the mean over just these values, where they are estimates.
        level: how often the interval should hold the population's mean.

    Returns:
        The interval, or None for fewer than two values, or for equal ones without both bounds.

    Example:
        >>> import numpy as np
        >>> [round(end, 3) for end in sample_interval(np.array([1.0, 2.0, 3.0]))]
        [-0.484, 4.484]
        >>> [round(end, 3) for end in sample_interval(np.ones(4), 0, 1)]
        [0.398, 1.0]
    """
    values = np.asarray(values, dtype=np.float64)
    if len(values) < 2:  # noqa: PLR2004 - a variance needs two
        return None
    if np.ptp(values) <= EXACT * max(1.0, float(np.abs(values).max())):
        found = _equal(float(values.mean()), len(values), low, high, level)
    else:
        found = trial_interval(values, low, high, level)
    if found is None or within is None:
        return found
    return min(found[0], within[0]), max(found[1], within[1])


def _equal(value: float, m: int, low: float, high: float, level: float) -> Bounds | None:
    if not np.isfinite([low, high]).all():
        return None
    unseen = 1 - ((1 - level) / 2) ** (1 / m)
    return value - unseen * (value - low), value + unseen * (high - value)
