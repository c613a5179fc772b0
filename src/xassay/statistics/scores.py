"""Scores as functions of the means of a few columns: what intervals and paired tests are made of."""

from collections.abc import Sequence

import numpy as np

from xassay.types import FloatArray


def mean(means: Sequence[FloatArray]) -> FloatArray:
    """The mean of one column."""
    return means[0]


def root_mean(means: Sequence[FloatArray]) -> FloatArray:
    """The root of the mean of squared losses: an RMSE."""
    return np.asarray(np.sqrt(means[0]))


def ratio(means: Sequence[FloatArray]) -> FloatArray:
    """Mean of the first column by mean of the second; NaN where the second is 0.

    >>> import numpy as np
    >>> ratio([np.array([1.0, 1.0]), np.array([2.0, 0.0])]).tolist()
    [0.5, nan]
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(means[1] != 0, means[0] / means[1], np.nan))


def skill(means: Sequence[FloatArray]) -> FloatArray:
    """1 - sqrt(mean own loss / mean trivial loss): 1 is exact, 0 as good as telling nothing.

    >>> import numpy as np
    >>> skill([np.array([0.25]), np.array([1.0])]).tolist()
    [0.5]
    """
    return np.asarray(1 - np.sqrt(ratio(means)))


def share_of_squares(means: Sequence[FloatArray]) -> FloatArray:
    """1 - mean own loss / mean trivial loss: the share of the squares that is explained.

    >>> import numpy as np
    >>> share_of_squares([np.array([0.25]), np.array([1.0])]).tolist()
    [0.75]
    """
    return np.asarray(1 - ratio(means))


def loss_of_accuracy(means: Sequence[FloatArray]) -> FloatArray:
    """(1 - accuracy with noise) / accuracy without: ELA; lower is better.

    >>> import numpy as np
    >>> loss_of_accuracy([np.array([0.75]), np.array([0.5])]).tolist()
    [0.5]
    """
    # all right is no loss: rounding must not make it less
    return ratio([np.maximum(0.0, 1 - means[0]), means[1]])
