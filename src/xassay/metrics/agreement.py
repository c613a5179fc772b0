"""Whether two explanations of one row say the same, and what they say of columns that do nothing."""

import numpy as np
import numpy.typing as npt

from xassay.errors import InputError
from xassay.types import FloatArray


def agreement(first: npt.ArrayLike, second: npt.ArrayLike) -> FloatArray:
    r"""1 - sum |a_j - b_j| / sum (|a_j| + |b_j|): the share of two attributions that they have in common.

    1 where they are equal (two that say nothing are), 0 where they share nothing: other
    features, or other signs. One minus the Bray-Curtis distance, with signs.

    Args:
        first: attributions, shape (rows, features).
        second: likewise, of the same rows.

    Returns:
        float, shape (rows,), in [0, 1]; NaN where a value is not finite.

    Raises:
        InputError: shapes differ.

    Reference:
        Bray & Curtis, Ecological Monographs 27 (1957), doi:10.2307/1942268.

    Example:
        >>> agreement([[3.0, 1.0]], [[1.0, 1.0]]).round(3).tolist()
        [0.667]
    """
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if a.ndim != 2 or a.shape != b.shape:  # noqa: PLR2004 - a matrix
        raise InputError(f"two attributions must both be (rows, features), got {a.shape} and {b.shape}")
    # sums of differences and of sizes, to one scale: neither may overflow
    largest = np.maximum(np.abs(a).max(axis=1, initial=0.0), np.abs(b).max(axis=1, initial=0.0))[:, None]
    with np.errstate(invalid="ignore", divide="ignore"):
        a, b = a / largest, b / largest
        apart, sizes = np.abs(a - b).sum(axis=1), (np.abs(a) + np.abs(b)).sum(axis=1)
        return np.where(largest[:, 0] == 0, 1.0, 1.0 - apart / sizes)


def placebo_share(attributions: npt.ArrayLike, placebo: npt.ArrayLike) -> FloatArray:
    r"""The share of an attribution's weight that falls on columns which the model ignores.

    Sum of \|phi_j\| over placebo columns / sum of \|phi_j\|; an attribution that is all zero
    shares out nothing, and gets the share of columns that are placebos, which is chance.

    Args:
        attributions: shape (rows, features).
        placebo: bool, shape (features,).

    Returns:
        float, shape (rows,), in [0, 1]; lower is better; NaN where a value is not finite.

    Raises:
        InputError: shapes do not fit, or no column is a placebo.

    Example:
        >>> placebo_share([[3.0, -1.0], [0.0, 0.0]], [False, True]).tolist()
        [0.25, 0.5]
    """
    values, columns = np.abs(np.asarray(attributions, dtype=np.float64)), np.asarray(placebo, dtype=np.bool_)
    if values.ndim != 2 or columns.shape != values.shape[1:]:  # noqa: PLR2004 - a matrix
        raise InputError(f"placebo must have shape (features,), got {columns.shape} beside {values.shape}")
    if not columns.any():
        raise InputError("no column is a placebo")
    largest = values.max(axis=1, initial=0.0, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = values / largest
        found = shares[:, columns].sum(axis=1) / shares.sum(axis=1)
        return np.asarray(np.where(largest[:, 0] == 0, columns.mean(), found))


def towards(contributed: npt.ArrayLike) -> FloatArray:
    """What pushes the score up, by size: contributions above 0, and 0 for the others.

    The signed reading of an explanation where larger scores are what is to be explained, as
    for anomalies: a feature that makes a row look ordinary is no cause of its anomaly.

    Example:
        >>> towards([[2.0, -3.0]]).tolist()
        [[2.0, 0.0]]
    """
    return np.asarray(np.maximum(np.asarray(contributed, dtype=np.float64), 0.0))
