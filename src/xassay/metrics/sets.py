r"""Which columns an explanation names, at fixed subset size, and how much: from one set of model answers.

Notation: for a set S of columns, v(S) is the model's drop when S is taken away, f(x) minus the
background mean of f at x with the columns of S replaced (`xassay.metrics.masking.masked_drops`);
v(all) = f(x) - E f. An additive explanation claims sum over S of phi_j in its place.

Sets of different sizes are never pooled in a correlation: the larger a set, the larger its drop
and the sum of its contributions, so that over all sizes knowing v(all) is most of the score.
Within one size, an explanation that gives every column the same number correlates with nothing
and scores 0, which is chance.

References:
    Ancona et al., "Towards better understanding of gradient-based attribution methods for deep
    neural networks", ICLR 2018, arXiv:1711.06104 (Sensitivity-n).
    Bhatt, Weller & Moura, "Evaluating and aggregating feature-based model explanations",
    IJCAI 2020, arXiv:2005.00631 (faithfulness correlation).
    Sundararajan, Taly & Yan, "Axiomatic attribution for deep networks", ICML 2017,
    arXiv:1703.01365 (completeness).
    Yeh et al., "On the (in)fidelity and sensitivity of explanations", NeurIPS 2019,
    arXiv:1901.09392 (optimal scaling).
"""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from xassay.errors import InputError
from xassay.metrics.arrays import TINY, contributions_of, numbers, scaled, sets_of
from xassay.types import BoolArray, FloatArray, IntArray

MIN_SETS = 3
"""Sets of one size that a correlation takes at least: over two it is always 1 or -1."""


def claimed_sums(contributed: npt.ArrayLike, subsets: npt.ArrayLike) -> FloatArray:
    """What an additive explanation claims of each set: the sum of its contributions.

    Args:
        contributed: shape (rows, features).
        subsets: bool, shape (rows, sets, features).

    Returns:
        float, shape (rows, sets); NaN in rows that are not finite throughout.

    Raises:
        InputError: shapes that do not fit, or subsets that are no booleans.

    Example:
        >>> claimed_sums([[3.0, -1.0]], [[[True, False], [True, True]]]).tolist()
        [[3.0, 2.0]]
    """
    values = contributions_of(contributed)
    chosen = sets_of(subsets, values)
    with np.errstate(invalid="ignore", over="ignore"):
        return np.asarray(np.einsum("rsp,rp->rs", chosen.astype(np.float64), values))


def sensitivity_n(
    contributed: npt.ArrayLike,
    subsets: npt.ArrayLike,
    drops: npt.ArrayLike,
    sizes: Iterable[int] | None = None,
) -> FloatArray:
    r"""Correlation of claimed and actual drops over sets of one size, averaged over sizes.

    For each row and size n: Pearson's correlation, over the sets S with n columns, of
    sum over S of phi_j and v(S) (Ancona et al. 2018). The row's score is the mean
    over sizes, weighted by the number of sets.

    Choices that the paper leaves open: v replaces columns by those of background rows and
    averages, where the paper sets them to zero; sizes are summarised by their mean, where the
    paper draws a curve; a size with fewer than 3 sets, or over which v does not vary (the set of
    all columns, above all), is left out; where v varies and the claim does not, the correlation
    is 0, chance. Variation below 1e-9 of the row's largest contribution, or drop, is none.

    Args:
        contributed: shape (rows, features).
        subsets: bool, shape (rows, sets, features), of any sizes.
        drops: v of each set, shape (rows, sets).
        sizes: the sizes to take; None: all.

    Returns:
        float, shape (rows,), in [-1, 1], without a unit; higher is better. NaN where no size
        counts, and where contributions or drops of the row are not finite.

    Raises:
        InputError: shapes that do not fit, or a size below 1 or above the number of features.

    Reference:
        Ancona et al., ICLR 2018, arXiv:1711.06104.

    Example:
        >>> import numpy as np
        >>> ones = np.eye(3, dtype=bool)[None]
        >>> sensitivity_n([[3.0, 2.0, 1.0]], ones, [[30.0, 20.0, 10.0]]).round(6).tolist()
        [1.0]
        >>> sensitivity_n([[2.0, 2.0, 2.0]], ones, [[30.0, 20.0, 10.0]]).tolist()
        [0.0]
    """
    return _averaged(contributed, subsets, drops, sizes, ranked=False)


def rank_sensitivity_n(
    contributed: npt.ArrayLike,
    subsets: npt.ArrayLike,
    drops: npt.ArrayLike,
    sizes: Iterable[int] | None = None,
) -> FloatArray:
    """`sensitivity_n` with Spearman's rank correlation in place of Pearson's.

    A few sets with very large drops decide Pearson's correlation; ranks weigh all sets alike.
    Ties get the mean of their ranks; values closer than 1e-9 of the row's largest are tied.

    Args:
        contributed: shape (rows, features).
        subsets: bool, shape (rows, sets, features).
        drops: v of each set, shape (rows, sets).
        sizes: the sizes to take; None: all.

    Returns:
        float, shape (rows,), in [-1, 1]; higher is better; NaN as in `sensitivity_n`.

    Raises:
        InputError: see `sensitivity_n`.

    Reference:
        Ancona et al., ICLR 2018, arXiv:1711.06104; Spearman, American Journal of Psychology 15
        (1904).

    Example:
        >>> import numpy as np
        >>> ones = np.eye(3, dtype=bool)[None]
        >>> rank_sensitivity_n([[9.0, 2.0, 1.0]], ones, [[30.0, 20.0, 10.0]]).round(6).tolist()
        [1.0]
    """
    return _averaged(contributed, subsets, drops, sizes, ranked=True)


def faithfulness_correlation(
    contributed: npt.ArrayLike,
    subsets: npt.ArrayLike,
    drops: npt.ArrayLike,
    size: int | None = None,
) -> FloatArray:
    """Correlation of claimed and actual drops over random sets of one size (Bhatt et al. 2020).

    Pearson's correlation, over the sets S with ``size`` columns, of sum over S of phi_j and v(S).
    It is `sensitivity_n` at one size.

    Choices that the paper leaves open: the baseline is the background, averaged; the size, where
    none is given, is the one of which the row has the most sets among 1 to features - 1, of
    several the nearest to half the features, of two the smaller. Neither the drops nor the
    explanation have a say in it. At least 3 sets; a claim that does not vary scores 0.

    Args:
        contributed: shape (rows, features).
        subsets: bool, shape (rows, sets, features).
        drops: v of each set, shape (rows, sets).
        size: columns of a set; None: see above, row by row.

    Returns:
        float, shape (rows,), in [-1, 1]; higher is better. NaN where the row has fewer than 3
        sets of that size, where v does not vary over them, or where it is not finite.

    Raises:
        InputError: see `sensitivity_n`.

    Reference:
        Bhatt, Weller & Moura, IJCAI 2020, arXiv:2005.00631.

    Example:
        >>> import numpy as np
        >>> ones = np.eye(3, dtype=bool)[None]
        >>> faithfulness_correlation([[1.0, 2.0, 3.0]], ones, [[3.0, 2.0, 1.0]]).round(6).tolist()
        [-1.0]
    """
    if size is not None:
        return _averaged(contributed, subsets, drops, (size,), ranked=False)
    values = contributions_of(contributed)
    chosen = sets_of(subsets, values)
    sizes = chosen.sum(axis=2)
    common = _commonest(sizes, values.shape[1])
    # sets of other sizes are turned to the set of all columns, which no correlation counts
    kept = chosen | (sizes != common[:, None])[:, :, None]
    return _averaged(values, kept, drops, range(1, values.shape[1]), ranked=False)


def _commonest(sizes: IntArray, p: int) -> IntArray:
    """The size that most sets of a row have: ties go to the nearest to p / 2, then to the smaller."""
    if p == 1:
        return np.full(len(sizes), p)
    candidates = np.arange(1, p)
    counts = np.stack([(sizes == size).sum(axis=1) for size in candidates], axis=1)
    nearness = 1.0 - np.abs(candidates - p / 2) / p  # in (0, 1]: decides between equal counts only
    return np.asarray(candidates[np.argmax(counts + nearness, axis=1)])


def _averaged(
    contributed: npt.ArrayLike,
    subsets: npt.ArrayLike,
    drops: npt.ArrayLike,
    sizes: Iterable[int] | None,
    *,
    ranked: bool,
) -> FloatArray:
    """The mean correlation over sizes, weighted by sets."""
    values = contributions_of(contributed)
    chosen = sets_of(subsets, values)
    rows, n_sets, p = chosen.shape
    actual, _ = scaled(numbers(drops, "drops", (rows, n_sets)))
    wanted = range(1, p + 1) if sizes is None else sorted({int(size) for size in sizes})
    if any(not 1 <= size <= p for size in wanted):
        raise InputError(f"sizes must be between 1 and {p}, the number of features")
    claimed = claimed_sums(scaled(values)[0], chosen)
    undefined = ~(np.isfinite(claimed).all(axis=1) & np.isfinite(actual).all(axis=1))
    claimed[undefined], actual[undefined] = 0.0, 0.0
    size_of = chosen.sum(axis=2)
    total, weight = np.zeros(rows), np.zeros(rows)
    for size in wanted:
        found, counted = _correlation(claimed, actual, size_of == size, ranked=ranked)
        total += counted * found
        weight += counted
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(undefined | (weight == 0), np.nan, total / weight))


def _correlation(
    claimed: FloatArray, actual: FloatArray, member: BoolArray, *, ranked: bool
) -> tuple[FloatArray, FloatArray]:
    """Each row's correlation over its member sets, and how many sets it counts for (0: undefined)."""
    n = member.sum(axis=1)
    counted = np.where((n >= MIN_SETS) & _varies(actual, member), n, 0).astype(np.float64)
    judged = (counted > 0) & _varies(claimed, member)
    if ranked:
        claimed, actual = _ranks(claimed, member), _ranks(actual, member)
    a, b = _centred(claimed, member), _centred(actual, member)
    sizes = np.sqrt((a**2).sum(axis=1) * (b**2).sum(axis=1))
    found = np.divide((a * b).sum(axis=1), sizes, out=np.zeros(len(a)), where=judged & (sizes > 0))
    return np.clip(found, -1.0, 1.0), counted


def _varies(values: FloatArray, member: BoolArray) -> BoolArray:
    most = np.where(member, values, -np.inf).max(axis=1, initial=-np.inf)
    least = np.where(member, values, np.inf).min(axis=1, initial=np.inf)
    return np.asarray(most - least > TINY)


def _centred(values: FloatArray, member: BoolArray) -> FloatArray:
    """Values less their mean over the members; 0 elsewhere."""
    n = np.maximum(member.sum(axis=1, keepdims=True), 1)
    mean = np.where(member, values, 0.0).sum(axis=1, keepdims=True) / n
    return np.where(member, values - mean, 0.0)


def _ranks(values: FloatArray, member: BoolArray) -> FloatArray:
    """Ranks among the members, ties at the mean of theirs; the others come last and do not count."""
    if not values.size:
        return values
    held = np.where(member, values, np.inf)
    order = np.argsort(held, axis=1, kind="stable")
    rising = np.take_along_axis(held, order, axis=1)
    last = np.isinf(rising)
    gaps = np.diff(np.where(last, 0.0, rising), axis=1)
    opens = np.ones(values.shape, dtype=np.bool_)
    opens[:, 1:] = (gaps > TINY) | last[:, 1:]
    positions = np.broadcast_to(np.arange(values.shape[1]), values.shape)
    start = np.maximum.accumulate(np.where(opens, positions, 0), axis=1)
    closes = np.ones_like(opens)
    closes[:, :-1] = opens[:, 1:]
    end = np.minimum.accumulate(np.where(closes, positions, values.shape[1])[:, ::-1], axis=1)[:, ::-1]
    ranks = np.empty(values.shape)
    np.put_along_axis(ranks, order, (start + end) / 2, axis=1)
    return ranks


def completeness_gap(contributed: npt.ArrayLike, total: npt.ArrayLike) -> FloatArray:
    r"""How far the contributions are from adding up: \|sum of phi_j - (f(x) - E f)\|.

    Completeness (Sundararajan et al. 2017), which Shapley values call efficiency. The
    paper's baseline is one point; here E f is the mean of f over the background.

    Args:
        contributed: shape (rows, features).
        total: v(all) = f(x) - E f, shape (rows,).

    Returns:
        float, shape (rows,), in [0, infinity), in the model's units; lower is better, 0 adds up.
        It says nothing of which columns: an even split of the total has a gap of 0. NaN where
        the row is not finite.

    Raises:
        InputError: shapes that do not fit.

    Reference:
        Sundararajan, Taly & Yan, ICML 2017, arXiv:1703.01365.

    Example:
        >>> completeness_gap([[1.0, -3.0]], [0.5]).tolist()
        [2.5]
    """
    values = contributions_of(contributed)
    expected = numbers(total, "total", (len(values),))
    with np.errstate(invalid="ignore", over="ignore"):
        gap = np.abs(values.sum(axis=1) - expected)
    return np.asarray(np.where(np.isfinite(gap), gap, np.nan))


def best_scale(claimed: npt.ArrayLike, drops: npt.ArrayLike) -> FloatArray:
    r"""The factor that fits an explanation best: the a that minimises sum (a claimed_S - v(S))^2.

    a = sum claimed_S v(S) / sum claimed_S^2, the optimal scaling that infidelity is computed with
    (Yeh et al. 2019); the paper scales once for all rows, see `pooled_best_scale`.
    1 is an explanation in the units of the score; 0.01 one in per cent; below 0 its signs are
    turned.

    Args:
        claimed: `claimed_sums`, shape (rows, sets).
        drops: v of each set, shape (rows, sets).

    Returns:
        float, shape (rows,), without bounds; 1 is best. NaN where everything claimed is 0 and
        where the row is not finite.

    Raises:
        InputError: shapes that do not fit.

    Reference:
        Yeh et al., NeurIPS 2019, arXiv:1901.09392.

    Example:
        >>> best_scale([[1.0, 2.0]], [[2.0, 4.0]]).tolist()
        [2.0]
    """
    said = numbers(claimed, "claimed", (None, None))
    a, unit = scaled(said)
    b, unit_of_drops = scaled(numbers(drops, "drops", said.shape))
    power = (a**2).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        found = (a * b).sum(axis=1) / power * (unit_of_drops / unit)[:, 0]
    return np.asarray(np.where(power > 0, found, np.nan))


def pooled_best_scale(claimed: npt.ArrayLike, drops: npt.ArrayLike) -> float:
    """`best_scale` with one factor for all rows; rows that are not finite are left out.

    Args:
        claimed: `claimed_sums`, shape (rows, sets).
        drops: v of each set, shape (rows, sets).

    Returns:
        Without bounds; 1 is best; NaN where everything claimed is 0.

    Raises:
        InputError: shapes that do not fit.

    Example:
        >>> pooled_best_scale([[1.0, 0.0], [0.0, 1.0]], [[3.0, 0.0], [0.0, 1.0]])
        2.0
    """
    said = numbers(claimed, "claimed", (None, None))
    actual = numbers(drops, "drops", said.shape)
    finite = np.isfinite(said).all(axis=1) & np.isfinite(actual).all(axis=1)
    return float(best_scale(said[finite].reshape(1, -1), actual[finite].reshape(1, -1))[0])
