"""Fidelity of explanations at hand: the model is asked, and what they claim is held against it."""

import numpy as np
import numpy.typing as npt

from xassay.errors import InputError
from xassay.metrics.calls import checked_ids
from xassay.metrics.contrast import LEAST_SETS, Contrasts, same_size_sets, symmetrised
from xassay.metrics.local_model import contributions
from xassay.metrics.masking import masked_drops
from xassay.types import Explanation, FloatArray, Predict


def fidelity(
    explanation: Explanation,
    predict: Predict,
    X: npt.ArrayLike,
    background: npt.ArrayLike,
    n_sets: int | None = None,
    seed: int = 0,
    row_ids: npt.ArrayLike | None = None,
) -> FloatArray:
    r"""How right attributions are about which columns matter: 1 as the exact Shapley values, 0 at worst.

    1 - D / A within [0, 1], row by row. With v(S) = f(x) - E_b f(b_S, x_rest) and
    w(S) = (v(S) + v(all) - v(rest)) / 2, A is the variance of w among sets of one size, averaged
    over sizes by the Shapley kernel, that the best sum of attributions explains, and D the part of
    it that this explanation misses:

        A = K sum_j (s_j - mean s)^2,    D = K sum_j ((phi_j - mean phi) - (s_j - mean s))^2

    with the Shapley values s and a constant K. Exact Shapley values have 1, the same number for
    every column 0, a times the exact values 1 - (1 - a)^2. A number added to all attributions
    changes nothing: whether they add up is `completeness_gap`. Of up to nine columns all
    sets are asked and the formula holds exactly; of more it holds in expectation over drawn sets.

    Args:
        explanation: additive attributions, or a local linear model, which enters with its
            contributions (`xassay.metrics.contributions`); values of shape (rows, features).
        predict: the model, (rows, features) -> (rows,).
        X: the explained rows, shape (rows, features).
        background: reference rows, shape (background rows, features).
        n_sets: sets a row, each asked with its complement; default 256; all where there are no more.
        seed: fixes the sets, with the row's id.
        row_ids: integers, shape (rows,); default 0, 1, ...

    Returns:
        float, shape (rows,), in [0, 1], without a unit; higher is better. NaN where no column matters
        more than another as far as the sets can tell, and where model or explanation is not finite. A
        single column has no other to be compared with: there its value is held against zero.

    Raises:
        InputError: shapes that do not fit, n_sets below 8, or a model that returns another shape.

    Reference:
        `xassay.metrics.contrast`, after Ancona et al., ICLR 2018, arXiv:1711.06104, and Lundberg &
        Lee, NeurIPS 2017, arXiv:1705.07874.

    Example:
        >>> import numpy as np
        >>> said = Explanation([[2.0, 1.0, 0.0], [1.0, 1.0, 1.0], [4.0, 2.0, 0.0]])
        >>> fidelity(said, lambda X: X @ [2.0, 1.0, 0.0], np.ones((3, 3)), np.zeros((1, 3))).round(9).tolist()
        [1.0, 0.0, 0.0]
    """
    rows, others = np.asarray(X, dtype=np.float64), np.asarray(background, dtype=np.float64)
    if n_sets is not None and n_sets < LEAST_SETS:
        raise InputError(f"n_sets must be at least {LEAST_SETS}, not {n_sets}")
    contributed = contributions(explanation, rows, others)
    p = rows.shape[1]
    sets = same_size_sets(p, seed, checked_ids(row_ids, len(rows)), n_sets)
    n, every = sets.chosen.shape[1], np.ones((len(rows), 1, p), dtype=np.bool_)
    drops = masked_drops(predict, rows, others, np.concatenate([sets.chosen, ~sets.chosen, every], axis=1))
    changes = symmetrised(drops[:, :n], drops[:, n : 2 * n], drops[:, -1])
    return Contrasts.of(sets, changes).fidelity(contributed)
