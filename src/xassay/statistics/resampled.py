"""Two methods over repeated random splits of one table: the corrected resampled t-test.

Reference:
    Nadeau & Bengio, "Inference for the generalization error", Machine Learning 52 (2003).
"""

import attrs
import numpy as np
from scipy import stats

from xassay.errors import InputError
from xassay.types import FloatArray


@attrs.frozen
class ResampledResult:
    """A corrected resampled t-test.

    Attributes:
        statistic: t; negative where the first method's mean is smaller.
        df: J - 1 degrees of freedom.
        p_value: two-sided, of this pair on this table alone.
        n: number J of splits on which both methods have a score.
    """

    statistic: float
    df: float
    p_value: float
    n: int


def corrected_resampled_t(
    first: FloatArray, second: FloatArray, n_train: int, n_test: int
) -> ResampledResult:
    r"""Are two methods' scores over random splits of a table equal in the mean?

    With d_j the difference of the two scores on split j of J, d their mean and s^2 their variance
    (ddof 1),

    t = d / sqrt((1 / J + n_test / n_train) s^2),

    with J - 1 degrees of freedom. Differences of the same split are used, so that what makes a split
    hard for both drops out. The second term makes up for what the splits share: their training rows
    overlap, and the test rows of one train another, so that the mean of J differences is
    less sure than that of J independent ones. That their correlation is
    n_test / (n_test + n_train) is Nadeau and Bengio's approximation.

    Args:
        first: one score a split, shape (J,).
        second: the other method's on the same splits, shape (J,); splits where either score is
            not finite are left out.
        n_train: rows that a method learns from on each split.
        n_test: rows that a score is the mean over.

    Returns:
        The test; NaN throughout where fewer than two splits are left, or all differences are equal.

    Raises:
        InputError: scores that do not belong to the same splits, or a number of rows below 1.

    Example:
        >>> import numpy as np
        >>> first = np.array([1.0, 1.1, 0.9, 1.2])
        >>> found = corrected_resampled_t(first, first + [0.1, 0.12, 0.11, 0.09], 200, 100)
        >>> round(found.statistic, 2), found.df, found.n
        (-9.39, 3.0, 4)
    """
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if one.ndim != 1 or one.shape != other.shape:
        raise InputError(f"scores of shapes {one.shape} and {other.shape}; give both methods' on each split")
    if min(n_train, n_test) < 1:
        raise InputError(f"n_train={n_train}, n_test={n_test}: each split has at least one row of both")
    with np.errstate(invalid="ignore"):
        apart = one - other
    apart = apart[np.isfinite(apart)]
    n = len(apart)
    # differences that rounding alone tells apart do not vary
    scale = max(float(np.abs(one[np.isfinite(one)]).max(initial=0.0)), np.finfo(np.float64).tiny)
    if n < 2 or np.ptp(apart) <= 1e-14 * scale:  # noqa: PLR2004 - a variance needs two
        return ResampledResult(float("nan"), float("nan"), float("nan"), n)
    error = np.sqrt((1 / n + n_test / n_train) * apart.var(ddof=1))
    statistic = float(apart.mean() / error)
    return ResampledResult(statistic, n - 1.0, float(2 * stats.t.sf(abs(statistic), n - 1)), n)
