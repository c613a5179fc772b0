"""What noise does to explanations: how much accuracy it costs, how much of the ranks it takes."""

from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from xassay.errors import InputError
from xassay.metrics.ranking import checked, rank, share_of_top
from xassay.types import FloatArray


def equalized_loss_of_accuracy(with_noise: npt.ArrayLike, without_noise: npt.ArrayLike) -> FloatArray:
    r"""ELA = (1 - A_x) / A_0: the loss at noise level x over the accuracy without noise.

    Args:
        with_noise: A_x, fractions in [0, 1]; the CREM study takes MR-Precision.
        without_noise: A_0, fractions in [0, 1], of a shape that broadcasts.

    Returns:
        float, in [0, infinity); lower is better; NaN where either is NaN or A_0 is 0.

    Raises:
        InputError: a value outside [0, 1].

    References:
        Saez, Luengo & Herrera, Neurocomputing 176 (2016) 26-35.

    Example:
        >>> float(equalized_loss_of_accuracy(0.6, 0.8))
        0.5
    """
    noisy, clean = np.asarray(with_noise, dtype=np.float64), np.asarray(without_noise, dtype=np.float64)
    for values in (noisy, clean):
        if np.any((values < 0) | (values > 1)):
            raise InputError("accuracies must be fractions between 0 and 1")
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(clean > 0, (1.0 - noisy) / clean, np.nan))


def noise_share(
    attributions: npt.ArrayLike,
    relevant: npt.ArrayLike,
    noise: npt.ArrayLike,
    ties: str = "expected",
    **options: Any,
) -> FloatArray:
    """The share of the first R ranks that noise features take, R being the relevant features.

    Args:
        attributions: float, shape (rows, features).
        relevant: bool, shape (rows, features).
        noise: bool, shape (features,): which features are noise.
        ties: as in `xassay.metrics.ranking.rank`.
        **options: likewise: ``rank_zeros`` and ``skip``.

    Returns:
        float, shape (rows,), in [0, 1]; NaN where a row has no relevant feature.

    Raises:
        InputError: shapes do not fit, or there is no noise feature.

    Example:
        >>> noise_share([[3.0, 2.0, 1.0]], [[True, True, False]], [False, True, False]).tolist()
        [0.5]
    """
    _, truth = checked(attributions, relevant)
    columns = np.asarray(noise, dtype=np.bool_)
    if columns.shape != truth.shape[1:]:
        raise InputError(f"noise must have shape (features,), got {columns.shape} beside {truth.shape}")
    if not columns.any():
        raise InputError("no feature is marked as noise")
    ranking = rank(attributions, np.broadcast_to(columns, truth.shape), ties, **options)
    n_relevant = truth.sum(axis=1)
    undefined = ranking.undefined | (n_relevant == 0)
    return share_of_top(attrs.evolve(ranking, relevant=n_relevant, undefined=undefined))
