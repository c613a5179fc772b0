r"""Measures along an order of columns: the columns an explanation names first are taken away, or kept.

An explanation orders the columns of a row; T_k is the set of its first k columns. From the
model's answers at a grid of k, with v as in `xassay.metrics.sets`:

* removed: v(T_k), the drop when the first k columns are replaced;
* kept: v(all but T_k), the drop when only the first k columns are left.

``xassay.metrics.masking.masked_drops`` gives both, of `xassay.metrics.orders.prefix_sets` and of
their complements.

A model's score may be any number, and an explanation may explain why it is low. So drops are
taken in the direction of v(all): multiplied by the sign of f(x) - E f. Where v(all) is 0
(below 1e-9 of the row's largest answer) there is no direction, and the score is NaN.

**Which order.** By \|phi\| the columns with the largest effects come first, of either sign:
the order for `pgi` and `pgu`, which take absolute changes. By phi in the direction of v(all)
(``direction`` of `prefix_sets`) those that push towards the score come first and those that
push against it last: for an additive model no other order has a larger `comprehensiveness` or
`insertion_area`, or a smaller `sufficiency` or `deletion_area`. With \|phi\| this holds only
where all contributions have one sign, and an explanation with all signs turned scores the same.

References:
    DeYoung et al., "ERASER: a benchmark to evaluate rationalized NLP models", ACL 2020,
    arXiv:1911.03429 (comprehensiveness, sufficiency).
    Samek et al., "Evaluating the visualization of what a deep neural network has learned",
    IEEE TNNLS 28 (2017), arXiv:1509.06321 (perturbation curves).
    Petsiuk, Das & Saenko, "RISE: randomized input sampling for explanation of black-box
    models", BMVC 2018, arXiv:1806.07421 (deletion and insertion).
    Agarwal et al., "OpenXAI: towards a transparent evaluation of model explanations",
    NeurIPS 2022, arXiv:2206.11104 (PGI, PGU).
"""

import numpy as np
import numpy.typing as npt

from xassay.errors import InputError
from xassay.metrics.arrays import TINY, numbers, scaled
from xassay.metrics.orders import checked_grid
from xassay.types import FloatArray


def comprehensiveness(
    removed: npt.ArrayLike, total: npt.ArrayLike, *, normalised: bool = False
) -> FloatArray:
    r"""How far the score falls when the columns named first are taken away.

    sign(v(all)) times the mean over k of v(T_k) (DeYoung et al. 2020). Choices that the paper
    leaves open: the mean is over the given grid of k with equal weights; removed columns get the
    background's values, averaged; the direction for scores that are no class probabilities.

    Args:
        removed: v(T_k), shape (rows, grid).
        total: v(all) = f(x) - E f, shape (rows,).
        normalised: divide by \|v(all)\|: 1 is the whole of it.

    Returns:
        float, shape (rows,), in the model's units, without bounds; higher is better. NaN where
        the row is not finite or has no direction, and everywhere for an empty grid.

    Raises:
        InputError: shapes that do not fit.

    Reference:
        DeYoung et al., ACL 2020, arXiv:1911.03429.

    Example:
        >>> comprehensiveness([[-2.0, -3.0]], [-4.0]).tolist()
        [2.5]
    """
    drops, sign, unit = _directed(removed, total, normalised=normalised)
    return _mean(drops) * sign / unit


def sufficiency(kept: npt.ArrayLike, total: npt.ArrayLike, *, normalised: bool = False) -> FloatArray:
    r"""How far the score stays behind when only the columns named first are kept.

    sign(v(all)) times the mean over k of v(all but T_k) (DeYoung et al. 2020). The
    choices are those of `comprehensiveness`.

    Args:
        kept: v(all but T_k), shape (rows, grid).
        total: v(all) = f(x) - E f, shape (rows,).
        normalised: divide by \|v(all)\|.

    Returns:
        float, shape (rows,), in the model's units, without bounds; lower is better (below 0 the
        kept columns alone say more than all). NaN as in `comprehensiveness`.

    Raises:
        InputError: shapes that do not fit.

    Reference:
        DeYoung et al., ACL 2020, arXiv:1911.03429.

    Example:
        >>> sufficiency([[2.0, 1.0]], [4.0]).tolist()
        [1.5]
    """
    drops, sign, unit = _directed(kept, total, normalised=normalised)
    return _mean(drops) * sign / unit


def deletion_area(
    removed: npt.ArrayLike,
    total: npt.ArrayLike,
    grid: npt.ArrayLike,
    n_features: int,
    *,
    normalised: bool = False,
) -> FloatArray:
    r"""The area under the score as columns are taken away, the ones named first at first.

    The curve h(k/p) = sign(v(all)) (f(x) - v(T_k) - E f) starts at \|v(all)\| for k = 0 and ends
    at 0 for k = p; the area is that of the trapezoids over the share of columns k/p.

    Choices that the papers leave open: heights are measured from E f, where Petsiuk et al.
    measure a class probability from 0, which adds the same E f to every explanation of the row;
    Samek et al. take the area over the curve; the grid is uneven, and its
    points weigh by the width of their trapezoids.

    Args:
        removed: v(T_k), shape (rows, grid).
        total: v(all) = f(x) - E f, shape (rows,).
        grid: the k, rising, between 1 and n_features - 1.
        n_features: p.
        normalised: divide by \|v(all)\|: an even fall has 1/2.

    Returns:
        float, shape (rows,), in the model's units, without bounds; lower is better. NaN where
        the row is not finite or has no direction.

    Raises:
        InputError: shapes that do not fit, or a grid that does not rise or leaves the range.

    Reference:
        Samek et al., IEEE TNNLS 2017, arXiv:1509.06321; Petsiuk et al., BMVC 2018,
        arXiv:1806.07421.

    Example:
        >>> deletion_area([[4.0]], [4.0], [1], 2).tolist()
        [1.0]
    """
    drops, sign, unit = _directed(removed, total, normalised=normalised)
    with np.errstate(invalid="ignore"):  # no finite score there: the row is undefined
        inner = (numbers(total, "total", (len(drops),))[:, None] - drops) * sign[:, None]
    return _area(inner, np.abs(total), 0.0, grid, n_features) / unit


def insertion_area(
    kept: npt.ArrayLike,
    total: npt.ArrayLike,
    grid: npt.ArrayLike,
    n_features: int,
    *,
    normalised: bool = False,
) -> FloatArray:
    r"""The area under the score as columns are put back, the ones named first at first.

    The curve h(k/p) = sign(v(all)) (f(x) - v(all but T_k) - E f) starts at 0 for k = 0 and ends
    at \|v(all)\| for k = p; the area is that of the trapezoids over the share of columns k/p. The
    choices are those of `deletion_area`.

    Args:
        kept: v(all but T_k), shape (rows, grid).
        total: v(all) = f(x) - E f, shape (rows,).
        grid: the k, rising, between 1 and n_features - 1.
        n_features: p.
        normalised: divide by \|v(all)\|: an even rise has 1/2.

    Returns:
        float, shape (rows,), in the model's units, without bounds; higher is better. NaN where
        the row is not finite or has no direction.

    Raises:
        InputError: see `deletion_area`.

    Reference:
        Petsiuk et al., BMVC 2018, arXiv:1806.07421.

    Example:
        >>> insertion_area([[0.0]], [4.0], [1], 2).tolist()
        [3.0]
    """
    drops, sign, unit = _directed(kept, total, normalised=normalised)
    with np.errstate(invalid="ignore"):  # no finite score there: the row is undefined
        inner = (numbers(total, "total", (len(drops),))[:, None] - drops) * sign[:, None]
    return _area(inner, 0.0, np.abs(total), grid, n_features) / unit


def pgi(changed: npt.ArrayLike) -> FloatArray:
    r"""Prediction gap on important columns: how much the score changes as the first k are replaced.

    The mean over k of a(T_k), a(S) being the mean over background rows b of \|f(x) - f(x with
    the columns of S from b)\| (Agarwal et al. 2022). Choices: columns are replaced by
    those of background rows, where the paper adds normal noise; k runs over the given grid with
    equal weights, where the paper takes one k or the area over all.

    An additive model's own contributions have the largest only where replacing a column moves
    the score one way for all background rows and columns: one whose value is the background's
    mean contributes nothing to a linear model, and moves its score all the same.

    Args:
        changed: a(T_k), shape (rows, grid).

    Returns:
        float, shape (rows,), in [0, infinity), in the model's units; higher is better. NaN where
        the row is not finite, and everywhere for an empty grid.

    Raises:
        InputError: no matrix, or a change below 0.

    Reference:
        Agarwal et al., NeurIPS 2022, arXiv:2206.11104.

    Example:
        >>> pgi([[1.0, 2.0]]).tolist()
        [1.5]
    """
    return _mean(_changes(changed))


def pgu(changed: npt.ArrayLike) -> FloatArray:
    """Prediction gap on unimportant columns: how much the score changes as all but the first k are replaced.

    The mean over k of a(all but T_k), as in `pgi`, with the same choices.

    Args:
        changed: a(all but T_k), shape (rows, grid).

    Returns:
        float, shape (rows,), in [0, infinity), in the model's units; lower is better. NaN as in
        `pgi`.

    Raises:
        InputError: no matrix, or a change below 0.

    Reference:
        Agarwal et al., NeurIPS 2022, arXiv:2206.11104.

    Example:
        >>> pgu([[1.0, 0.0]]).tolist()
        [0.5]
    """
    return _mean(_changes(changed))


def _changes(changed: npt.ArrayLike) -> FloatArray:
    found = numbers(changed, "changed", (None, None))
    if np.any(found < 0):
        raise InputError("changed must hold mean absolute changes, none below 0")
    return found


def _directed(
    drops: npt.ArrayLike, total: npt.ArrayLike, *, normalised: bool
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Drops, the sign of each row's total (NaN: no direction), and what to divide by."""
    found = numbers(drops, "drops", (None, None))
    whole = numbers(total, "total", (len(found),))
    relative, _ = scaled(np.column_stack([whole, found]))
    with np.errstate(invalid="ignore"):
        sign = np.where(np.abs(relative[:, 0]) > TINY, np.sign(whole), np.nan)
    return found, sign, np.abs(whole) if normalised else np.ones(len(found))


def _mean(values: FloatArray) -> FloatArray:
    """Row means, NaN for rows that are empty or not finite."""
    if not values.shape[1]:
        return np.full(len(values), np.nan)
    with np.errstate(invalid="ignore", over="ignore"):
        found = values.mean(axis=1)
    return np.asarray(np.where(np.isfinite(found), found, np.nan))


def _area(
    inner: FloatArray, first: npt.ArrayLike, last: npt.ArrayLike, grid: npt.ArrayLike, p: int
) -> FloatArray:
    """Trapezoids over shares 0, grid / p and 1."""
    counts = checked_grid(grid, p)
    if inner.shape[1] != len(counts):
        raise InputError(f"{inner.shape[1]} answers a row beside a grid of {len(counts)}")
    heights = np.empty((len(inner), len(counts) + 2))
    heights[:, 0], heights[:, 1:-1], heights[:, -1] = first, inner, last
    with np.errstate(invalid="ignore", over="ignore"):
        found = np.trapezoid(heights, np.array([0, *counts, p]) / p, axis=1)
    return np.asarray(np.where(np.isfinite(found), found, np.nan))
