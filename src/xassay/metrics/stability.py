r"""How far an explanation moves when its row does.

The neighbours are the caller's: points at a small radius ask whether an explainer repeats
itself, points at realistic radii (0.1 or 0.25 standard deviations) whether a reader of two like
rows is told two stories. An explanation ought to move where the model does: put the model's own
change beside it, which `local_lipschitz` gives with scores of shape (rows, 1) as values.

References:
    Yeh et al., "On the (in)fidelity and sensitivity of explanations", NeurIPS 2019,
    arXiv:1901.09392 (max-sensitivity).
    Alvarez-Melis & Jaakkola, "On the robustness of interpretability methods", ICML workshop on
    human interpretability 2018, arXiv:1806.08049 (local Lipschitz estimate).
"""

import numpy as np
import numpy.typing as npt

from xassay.errors import InputError
from xassay.metrics.arrays import contributions_of, numbers, scaled
from xassay.types import FloatArray


def max_sensitivity(values: npt.ArrayLike, neighbours: npt.ArrayLike) -> FloatArray:
    r"""The largest relative change of an explanation among neighbours of its row.

    max over x' of \|\|phi(x') - phi(x)\|\| / \|\|phi(x)\|\| (Yeh et al. 2019).
    Choices that the paper leaves open: the norms are Euclidean; the change is divided by
    \|\|phi(x)\|\|, as captum does, so that explanations in other units score the same;
    the maximum is over the given sample of neighbours, and grows with its size: compare explainers
    on the same neighbours. Values drawn anew for each row, from N(0, 1), have sqrt(2) in the mean
    square.

    Args:
        values: explanations of the rows, shape (rows, features).
        neighbours: explanations of k neighbours of each row, shape (rows, k, features).

    Returns:
        float, shape (rows,), in [0, infinity), without a unit; lower is better. 0 where nothing
        changes, even from 0; NaN where phi(x) is 0 and its neighbours are not, and where a value
        is not finite (a neighbour that could not be explained leaves its row undefined).

    Raises:
        InputError: shapes that do not fit, or no neighbours.

    Reference:
        Yeh et al., NeurIPS 2019, arXiv:1901.09392.

    Example:
        >>> max_sensitivity([[3.0, 4.0]], [[[3.0, 4.0], [3.0, 3.0]]]).tolist()
        [0.2]
    """
    own, others = _explained(values, neighbours)
    rows, k, p = others.shape
    # to one scale: neither squares nor their ratio overflow
    joint, _ = scaled(np.concatenate([own[:, None], others], axis=1).reshape(rows, -1))
    own, others = joint[:, :p], joint[:, p:].reshape(rows, k, p)
    moved, size = _largest(_moves(own, others)), np.linalg.norm(own, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        found = np.where(moved == 0, 0.0, moved / size)
    return np.asarray(np.where(np.isfinite(found), found, np.nan))


def local_lipschitz(values: npt.ArrayLike, neighbours: npt.ArrayLike, distances: npt.ArrayLike) -> FloatArray:
    r"""The largest change of an explanation per distance among neighbours of its row.

    max over x' of \|\|phi(x) - phi(x')\|\| / \|\|x - x'\|\| (Alvarez-Melis & Jaakkola 2018).
    Choices that the paper leaves open: the norm of explanations is Euclidean; the distance is the
    caller's, and for columns in different units that of standardised ones; the maximum is over
    the given sample; a neighbour at distance 0 is the row itself and left out. Explanations in
    other units score otherwise: compare by the model's own.

    Args:
        values: explanations of the rows, shape (rows, features).
        neighbours: explanations of k neighbours of each row, shape (rows, k, features).
        distances: of the neighbours from their rows, shape (rows, k), at least 0.

    Returns:
        float, shape (rows,), in [0, infinity), in units of the explanation by those of the
        distance; lower is better. NaN where no neighbour is away from the row, and where
        explanations or distances are not finite.

    Raises:
        InputError: shapes that do not fit, no neighbours, or a distance below 0.

    Reference:
        Alvarez-Melis & Jaakkola, 2018, arXiv:1806.08049.

    Example:
        >>> local_lipschitz([[1.0]], [[[2.0], [5.0]]], [[0.1, 2.0]]).round(6).tolist()
        [10.0]
    """
    own, others = _explained(values, neighbours)
    apart = numbers(distances, "distances", others.shape[:2])
    if np.any(apart < 0):
        raise InputError("distances must be at least 0")
    moved = _moves(own, others)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        # the row itself: it counts only where it could not be explained
        found = _largest(np.where((apart == 0) & np.isfinite(moved), -np.inf, moved / apart))
    return np.asarray(np.where(np.isfinite(apart).all(axis=1) & np.isfinite(found), found, np.nan))


def _explained(values: npt.ArrayLike, neighbours: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    own = contributions_of(values, "values")
    others = numbers(neighbours, "neighbours", (len(own), None, own.shape[1]))
    if not others.shape[1]:
        raise InputError("neighbours must hold at least one of each row")
    return own, others


def _moves(own: FloatArray, others: FloatArray) -> FloatArray:
    """Euclidean distance of each neighbour's explanation from the row's, shape (rows, k)."""
    with np.errstate(invalid="ignore", over="ignore"):
        return np.asarray(np.linalg.norm(others - own[:, None], axis=2))


def _largest(values: FloatArray) -> FloatArray:
    """The largest of each row, NaN where one is."""
    return np.asarray(values.max(axis=1))
