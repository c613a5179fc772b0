"""Holm's correction of p-values for their number."""

import numpy as np

from xassay.types import FloatArray


def holm(p_values: FloatArray) -> FloatArray:
    """Holm-corrected p-values.

    With p-values sorted rising, the j-th of m becomes the largest of (m - i + 1) p_i over i <= j,
    at most 1. Tests without a p-value (NaN) do not count in m, and stay so.

    The chance of any false difference is held to the level over the tests that are given
    together, whatever they depend on. All comparisons that a reader sees side by side belong
    together: families corrected by themselves each have a chance of their own.

    Args:
        p_values: shape (tests,).

    Returns:
        float, shape (tests,).

    Reference:
        Holm, Scandinavian Journal of Statistics 6 (1979).

    Example:
        >>> import numpy as np
        >>> holm(np.array([0.01, np.nan, 0.04])).tolist()
        [0.02, nan, 0.04]
    """
    given = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(given)[: int((~np.isnan(given)).sum())]
    corrected = np.full(len(given), np.nan)
    steps = given[order] * np.arange(len(order), 0, -1)
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return corrected
