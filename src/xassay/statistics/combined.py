"""Intervals of a mean and of a ratio of scores that have intervals of their own.

The method of variance estimates recovery (MOVER): how far each end lies from its score takes the
place of the score's standard error on that side, so that skewed intervals stay skewed.

References:
    Zou & Donner, "Construction of confidence limits about effect measures: a general approach",
    Statistics in Medicine 27 (2008); Newcombe, "MOVER-R confidence intervals for ratios and products
    of two independently estimated quantities", Statistical Methods in Medical Research 25 (2016).
"""

import math
from collections.abc import Sequence

import numpy as np

from xassay.errors import InputError
from xassay.estimates import Bounds
from xassay.types import FloatArray


def mean_of_intervals(values: FloatArray, intervals: Sequence[Bounds | None]) -> Bounds | None:
    r"""The interval of the mean of k independent scores, from their own intervals.

    mean - sqrt(sum (v_i - low_i)^2) / k to mean + sqrt(sum (high_i - v_i)^2) / k. Each end lies
    no further out than the mean of the ends: bounds of the scores are kept.

    Args:
        values: the scores, finite, shape (k,).
        intervals: of each score, holding it; None: it is known exactly.

    Returns:
        The interval, in the scores' unit; None where no score has one.

    Raises:
        InputError: another number of intervals than of scores, or one that does not hold its score.

    Example:
        >>> import numpy as np
        >>> found = mean_of_intervals(np.array([0.5, 1.0]), [(0.2, 0.6), (0.6, 1.0)])
        >>> [round(end, 3) for end in found]
        [0.5, 0.8]
    """
    if len(values) != len(intervals):
        raise InputError(f"{len(intervals)} intervals beside {len(values)} scores")
    if not any(intervals):
        return None
    scores = np.asarray(values, dtype=np.float64)
    low, high = np.array([own or (v, v) for v, own in zip(scores, intervals, strict=True)]).T
    if not ((low <= scores) & (scores <= high)).all():
        raise InputError("an interval does not hold its score")
    below, above = np.sqrt(((scores - low) ** 2).sum()), np.sqrt(((high - scores) ** 2).sum())
    return float(scores.mean() - below / len(scores)), float(scores.mean() + above / len(scores))


def ratio_of_intervals(
    above: float, above_interval: Bounds | None, below: float, below_interval: Bounds | None
) -> Bounds | None:
    r"""The interval of a ratio a / b of two independent scores of at least 0, from their own intervals.

    Newcombe's MOVER-R: with ends l and u of each,

        low = (a b - sqrt((a b)^2 - l_a u_b (2 a - l_a) (2 b - u_b))) / (u_b (2 b - u_b)),
        high = (a b + sqrt((a b)^2 - u_a l_b (2 a - u_a) (2 b - l_b))) / (l_b (2 b - l_b)).

    It is computed as the roots of b' (2 b - b') x^2 - 2 a b x + a' (2 a - a') = 0, a' and b' being the
    ends that count, in the form that does not divide by zero where u_b = 2 b.

    Args:
        above: a, at least 0.
        above_interval: its interval, within [0, inf); None: it is known exactly.
        below: b, above 0.
        below_interval: likewise.

    Returns:
        The interval, from 0; its upper end is infinite where b may be 0. None where neither has one.

    Raises:
        InputError: a below 0, b not above 0, or an interval that does not hold its score or goes below 0.

    Example:
        >>> [round(end, 3) for end in ratio_of_intervals(0.5, (0.4, 0.7), 0.5, None)]
        [0.8, 1.4]
        >>> ratio_of_intervals(0.5, None, 0.5, (0.0, 0.6))[1]
        inf
    """
    if above_interval is None and below_interval is None:
        return None
    (a_low, a_high), (b_low, b_high) = above_interval or (above, above), below_interval or (below, below)
    if not (0 <= a_low <= above <= a_high and 0 <= b_low <= below <= b_high and below > 0):
        raise InputError("a ratio needs scores of at least 0, the lower above 0, within their intervals")
    a, b = float(above), float(below)
    product = a * b
    # the smaller root, with the fraction turned over: c / (p + sqrt(p^2 - q c))
    c, q = float(a_low * (2 * a - a_low)), float(b_high * (2 * b - b_high))
    root = product + math.sqrt(max(0.0, product**2 - q * c))
    low = c / root if root > 0 else 0.0
    c, q = float(a_high * (2 * a - a_high)), float(b_low * (2 * b - b_low))
    high = (product + math.sqrt(max(0.0, product**2 - q * c))) / q if q > 0 else math.inf
    # rounding must not take the score out of its interval
    return min(max(0.0, low), a / b), max(high, a / b)
