"""Two methods over several data sets: Welch's test on each, corrected for their number.

References:
    Welch, Biometrika 34 (1947); Holm, Scandinavian Journal of Statistics 6 (1979).
"""

from collections.abc import Hashable, Mapping
from typing import TypeVar

import attrs
import numpy as np
from scipy import stats

from xassay.errors import InputError
from xassay.statistics.holm import holm
from xassay.types import FloatArray

Name = TypeVar("Name", bound=Hashable)


@attrs.frozen
class WelchResult:
    """Welch's t-test of one data set.

    Attributes:
        statistic: t; negative where the first method's mean is smaller.
        df: Welch-Satterthwaite degrees of freedom.
        p_value: two-sided, of this data set alone.
        p_holm: corrected for the number of data sets.
    """

    statistic: float
    df: float
    p_value: float
    p_holm: float


def welch_holm(
    scores: Mapping[Name, tuple[FloatArray, FloatArray]],
) -> dict[Name, WelchResult]:
    r"""Welch's t-test of two methods on each data set, with Holm's correction over them.

    Data sets without a test (see below) do not count in their number.

    Args:
        scores: data set (or data set and pair of methods) -> the two methods' scores over
            trials, each shape (trials,); values that are not finite are left out.

    Returns:
        One result a data set; NaN throughout where a method has fewer than two scores, or
        where neither varies.

    Raises:
        InputError: scores that are not one-dimensional.

    Example:
        >>> import numpy as np
        >>> a, b = np.array([1.0, 1.1, 0.9]), np.array([2.0, 2.2, 1.9])
        >>> welch_holm({"housing": (a, b), "music": (a, a + 0.01)})["housing"].p_holm < 0.01
        True
    """
    found = {name: _welch(name, first, second) for name, (first, second) in scores.items()}
    corrected = holm(np.array([p_value for _, _, p_value in found.values()]))
    return {
        name: WelchResult(*result, float(p_holm))
        for (name, result), p_holm in zip(found.items(), corrected, strict=True)
    }


def _welch(name: Hashable, first: FloatArray, second: FloatArray) -> tuple[float, float, float]:
    pair = [np.asarray(values, dtype=np.float64) for values in (first, second)]
    if any(values.ndim != 1 for values in pair):
        raise InputError(f"{name}: scores must be one-dimensional, one a trial")
    pair = [values[np.isfinite(values)] for values in pair]
    if min(map(len, pair)) < 2 or all(np.ptp(values) == 0 for values in pair):  # noqa: PLR2004 - a variance
        return float("nan"), float("nan"), float("nan")
    result = stats.ttest_ind(*pair, equal_var=False)
    return float(result.statistic), float(result.df), float(result.pvalue)
