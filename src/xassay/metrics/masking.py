r"""How far an attribution adds up: the masking metric.

An additive attribution claims that the features of S together make f(x) differ from the
background by the sum of their phi_j. The claim is put to the test on random sets S: the model
is asked at x with the features of S replaced by those of each background row.

References:
    Yeh et al., "On the (In)fidelity and Sensitivity of Explanations", NeurIPS 2019,
    arXiv:1901.09392 (the squared difference under a perturbation).
    Ancona et al., ICLR 2018, arXiv:1711.06104 (Sensitivity-n: sums over random sets).
"""

import numpy as np
import numpy.typing as npt

from xassay.errors import InputError
from xassay.metrics.calls import BATCH_VALUES, checked_ids, scores
from xassay.metrics.causal import root_means, skill, squared_differences
from xassay.metrics.local_model import contributions
from xassay.seeds import generator
from xassay.types import BoolArray, Explanation, FloatArray, IntArray, Predict

N_SUBSETS = 32


def random_subsets(n_features: int, n_subsets: int, seed: int, row_ids: IntArray) -> BoolArray:
    """Random sets of features for each row: every size from 1 to all is as likely.

    Returns:
        bool, shape (rows, n_subsets, features); fixed by the seed and the row's id.
    """
    chosen = np.zeros((len(row_ids), n_subsets, n_features), dtype=np.bool_)
    for k, row_id in enumerate(row_ids):
        rng = generator(seed, "masking", int(row_id))
        sizes = rng.integers(1, n_features + 1, size=n_subsets)
        ranks = rng.random((n_subsets, n_features)).argsort(axis=1).argsort(axis=1)
        chosen[k] = ranks < sizes[:, None]
    return chosen


def masked_drops(predict: Predict, X: FloatArray, background: FloatArray, subsets: BoolArray) -> FloatArray:
    """f(x) minus the background mean of f at x with the features of each set replaced.

    Depends on no explanation, so that all explainers are judged by one pass of the model.

    Args:
        predict: the model, (rows, features) -> (rows,).
        X: shape (rows, features).
        background: shape (background rows, features).
        subsets: shape (rows, n_subsets, features).

    Returns:
        float, shape (rows, n_subsets).

    Raises:
        InputError: a model that returns another shape.
    """
    n_rows, n_subsets, p = subsets.shape
    own = scores(predict, X) if n_rows else np.empty(0)
    flat = subsets.reshape(-1, p)
    drops = np.empty(len(flat))
    step = max(1, BATCH_VALUES // (p * len(background)))
    owner = np.repeat(np.arange(n_rows), n_subsets)
    for start in range(0, len(flat), step):
        part = slice(start, start + step)
        mixed = np.where(flat[part, None], background, X[owner[part], None])
        found = scores(predict, mixed.reshape(-1, p)).reshape(mixed.shape[:2])
        with np.errstate(invalid="ignore", over="ignore"):
            # differences first: those of a model that does not change are exactly 0
            drops[part] = (own[owner[part], None] - found).mean(axis=1)
    return drops.reshape(n_rows, n_subsets)


def losses_of(contributed: FloatArray, subsets: BoolArray, drops: FloatArray) -> FloatArray:
    """Squared differences between the sum of contributions over each set and the model's drop.

    Returns:
        float, shape (rows, n_subsets); NaN where either is not finite.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        claimed = np.einsum("rsp,rp->rs", subsets.astype(np.float64), contributed)
    return squared_differences(claimed, drops)


def masking_losses(
    explanation: Explanation,
    predict: Predict,
    X: npt.ArrayLike,
    background: npt.ArrayLike,
    n_subsets: int = N_SUBSETS,
    seed: int = 0,
    row_ids: npt.ArrayLike | None = None,
    subsets: BoolArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    r"""Squared masking errors of an explanation, and of the trivial one that attributes nothing.

    (sum over S of phi_j - (f(x) - E_b f(b_S, x_rest)))^2 for random sets S; the trivial
    explanation is phi = 0. A local linear model enters with its contributions
    (`xassay.metrics.contributions`). The sets are fixed by the seed and the row's id: every
    explainer sees the same.

    Args:
        explanation: of the rows: additive attributions, or a local linear model.
        predict: the model, (rows, features) -> (rows,).
        X: the explained rows, shape (rows, features).
        background: reference rows, shape (background rows, features).
        n_subsets: random sets a row.
        seed: fixes the sets.
        row_ids: integers, shape (rows,); default 0, 1, ...
        subsets: the sets, bool (rows, sets, features), in place of random ones.

    Returns:
        Two arrays (rows, sets); NaN where model or explanation is not finite.

    Raises:
        InputError: shapes that do not fit, n_subsets that is not positive, or a model that
            returns another shape.

    Example:
        >>> import numpy as np
        >>> ours, nothing = masking_losses(
        ...     Explanation([[2.0, 0.0]]), lambda X: 2 * X[:, 0], [[1.0, 1.0]], np.zeros((1, 2))
        ... )
        >>> float(ours.max()), float(nothing.max())
        (0.0, 4.0)
    """
    rows, others = np.asarray(X, dtype=np.float64), np.asarray(background, dtype=np.float64)
    if n_subsets < 1:
        raise InputError(f"n_subsets must be at least 1, not {n_subsets}")
    contributed = contributions(explanation, rows, others)
    ids = checked_ids(row_ids, len(rows))
    if subsets is None:
        subsets = random_subsets(rows.shape[1], n_subsets, seed, ids)
    elif subsets.ndim != 3 or subsets.shape[::2] != rows.shape:  # noqa: PLR2004 - a set of columns a row
        raise InputError(f"subsets must have shape (rows, sets, features), got {subsets.shape}")
    drops = masked_drops(predict, rows, others, subsets)
    return losses_of(contributed, subsets, drops), losses_of(np.zeros_like(rows), subsets, drops)


def masking_rmse(
    explanation: Explanation,
    predict: Predict,
    X: npt.ArrayLike,
    background: npt.ArrayLike,
    n_subsets: int = N_SUBSETS,
    seed: int = 0,
    row_ids: npt.ArrayLike | None = None,
    subsets: BoolArray | None = None,
) -> float:
    """Root of the mean of `masking_losses` over rows and sets: lower is better, 0 is exact.

    Args:
        explanation: see `masking_losses`, and likewise the others.
        predict: the model.
        X: the explained rows.
        background: reference rows.
        n_subsets: random sets a row.
        seed: fixes the sets.
        row_ids: integers, shape (rows,).
        subsets: see `masking_losses`.

    Returns:
        In [0, infinity), in the model's units; NaN where no row is finite.

    Raises:
        InputError: see `masking_losses`.

    Warns:
        RuntimeWarning: rows left out because model or explanation is not finite there.

    Example:
        >>> masking_rmse(Explanation([[0.0]]), lambda X: X[:, 0], [[3.0]], [[1.0]])
        2.0
    """
    losses, _ = masking_losses(explanation, predict, X, background, n_subsets, seed, row_ids, subsets)
    return float(root_means(losses[None])[0][0])


def masking_skill(
    explanation: Explanation,
    predict: Predict,
    X: npt.ArrayLike,
    background: npt.ArrayLike,
    n_subsets: int = N_SUBSETS,
    seed: int = 0,
    row_ids: npt.ArrayLike | None = None,
    subsets: BoolArray | None = None,
) -> float:
    """1 - masking RMSE / masking RMSE of the explanation that attributes nothing.

    1 is an attribution that adds up for every set; 0 is no better than silence; below 0 is
    worse than that. Exact Shapley values reach 1 only where no features interact.

    Args:
        explanation: see `masking_losses`, and likewise the others.
        predict: the model.
        X: the explained rows.
        background: reference rows.
        n_subsets: random sets a row.
        seed: fixes the sets.
        row_ids: integers, shape (rows,).
        subsets: see `masking_losses`.

    Returns:
        In (-infinity, 1]; NaN where the model does not change under any set.

    Raises:
        InputError: see `masking_losses`.

    Warns:
        RuntimeWarning: see `masking_rmse`.

    Example:
        >>> masking_skill(Explanation([[1.0]]), lambda X: X[:, 0], [[3.0]], [[1.0]])
        0.5
    """
    losses, trivial = masking_losses(explanation, predict, X, background, n_subsets, seed, row_ids, subsets)
    ours, nothing = root_means(losses[None], trivial[None])
    return float(skill(ours, nothing)[0])
