r"""How well a ranking of features by importance finds the relevant ones.

Features are ranked by falling absolute attribution. Neighbours in that order that are closer
than 1e-9 of the row's largest are tied, and attributions below that count as zero. Three ways to order ties:

* ``"expected"`` (the default): the exact expectation over random tie-breaking. Permuting
  features never changes a score, and an all-zero explanation scores at chance.
* ``"ordered"``: the earlier feature first; ``"reversed"``: the later one first. These
  reproduce studies that sorted without a thought for ties, and take ``rank_zeros=False``
  (zero attributions are not ranked) and ``skip`` (positions that are never ranked).

Everywhere, R is the number of relevant features of the row, ranked or not; a row with none,
or with an attribution that is not finite, scores NaN.

References:
    McSherry & Najork, "Computing information retrieval performance measures efficiently in
    the presence of tied scores", ECIR 2008.
    "Evaluating Anomaly Explanations Using Ground Truth", section 4.5.
"""

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt
from scipy.special import comb

from xassay.errors import InputError, UnknownNameError
from xassay.types import BoolArray, FloatArray, IntArray

TIES = ("expected", "ordered", "reversed")
DENOMINATORS = ("relevant", "ranked")
TOLERANCE = 1e-9


@attrs.frozen(eq=False)
class Ranking:
    """Rows of features in rank order, with the tie group that each rank belongs to.

    All arrays are (rows, features); position t holds what is known of rank t + 1.

    Attributes:
        flags: whether the feature there is relevant (and ranked).
        start: ranks before its tie group (c).
        size: size of its tie group (g).
        hits: relevant features in its tie group (r).
        before: relevant features before its tie group (b).
        relevant: relevant features of the row, shape (rows,) (R).
        ranked: features of the row that are ranked at all, shape (rows,).
        undefined: rows that score NaN, shape (rows,).
    """

    flags: BoolArray
    start: IntArray
    size: IntArray
    hits: IntArray
    before: IntArray
    relevant: IntArray
    ranked: IntArray
    undefined: BoolArray

    def finish(self, scores: FloatArray) -> FloatArray:
        """Scores with NaN in the undefined rows."""
        return np.where(self.undefined, np.nan, scores)


def rank(
    attributions: npt.ArrayLike,
    relevant: npt.ArrayLike,
    ties: str = "expected",
    *,
    rank_zeros: bool = True,
    skip: Sequence[int] = (),
) -> Ranking:
    """Rank the features of each row; the other functions here take the same arguments.

    Args:
        attributions: float, shape (rows, features).
        relevant: bool, shape (rows, features).
        ties: ``"expected"``, ``"ordered"`` or ``"reversed"``.
        rank_zeros: whether zero attributions take part (not with ``"expected"``).
        skip: feature positions that never take part (not with ``"expected"``).

    Raises:
        InputError: shapes differ, a skipped position does not exist, or ``rank_zeros`` or
            ``skip`` is asked for with expected ties.
        UnknownNameError: another tie rule.
    """
    values, flags = checked(attributions, relevant)
    n_features = values.shape[1]
    if ties not in TIES:
        raise UnknownNameError("tie rule", ties, TIES)
    if ties == "expected" and (not rank_zeros or len(skip)):
        raise InputError("rank_zeros=False and skip need ties='ordered' or 'reversed'")
    if not set(skip) <= set(range(n_features)):
        raise InputError(f"skip={tuple(skip)}: feature positions go from 0 to {n_features - 1}")
    undefined = ~(np.isfinite(values).all(axis=1) & np.any(flags, axis=1))
    sizes = np.abs(np.where(np.isfinite(values), values, 0.0))
    threshold = TOLERANCE * sizes.max(axis=1, keepdims=True, initial=0.0)
    sizes = np.where(sizes <= threshold, 0.0, sizes)
    order = np.argsort(-sizes, axis=1, kind="stable")
    falling = np.take_along_axis(sizes, order, axis=1)
    opens = np.ones(values.shape, dtype=np.bool_)
    opens[:, 1:] = falling[:, :-1] - falling[:, 1:] > threshold
    n_relevant = flags.sum(axis=1)
    ranked = np.ones(values.shape, dtype=np.bool_) if rank_zeros else sizes > 0
    if ties != "expected":
        ranked[:, list(skip)] = False
        order = _fixed_order(order, opens, ranked, later_first=ties == "reversed")
        flags = np.asarray(flags & ranked)
        opens[:] = True
    counts = (n_relevant, ranked.sum(axis=1))
    return _grouped(np.take_along_axis(flags, order, axis=1), opens, counts, undefined)


def checked(attributions: npt.ArrayLike, relevant: npt.ArrayLike) -> tuple[FloatArray, BoolArray]:
    """Both as matrices of one shape.

    Raises:
        InputError: they are not, or ``relevant`` holds anything but booleans.
    """
    try:
        values, flags = np.asarray(attributions, dtype=np.float64), np.asarray(relevant)
    except (TypeError, ValueError):
        raise InputError("attributions must be a matrix of numbers, relevant one of booleans") from None
    if values.ndim != 2 or values.shape != flags.shape or values.shape[1] == 0:  # noqa: PLR2004 - a matrix
        raise InputError(
            f"attributions and relevant must both be (rows, features), got {values.shape} and {flags.shape}"
        )
    if flags.dtype != np.bool_ and not np.isin(flags, (0, 1)).all():
        raise InputError("relevant must hold booleans")
    return values, flags.astype(np.bool_)


def _fixed_order(order: IntArray, opens: BoolArray, ranked: BoolArray, *, later_first: bool) -> IntArray:
    """Feature positions by (ranked first, tie group, position)."""
    groups = np.empty_like(order)
    np.put_along_axis(groups, order, np.cumsum(opens, axis=1), axis=1)
    n_features = order.shape[1]
    position = np.arange(n_features)
    keys = (np.where(ranked, 0, n_features + 1) + groups) * n_features + (
        n_features - 1 - position if later_first else position
    )
    return np.argsort(keys, axis=1, kind="stable")


def _grouped(
    flags: BoolArray, opens: BoolArray, counts: tuple[IntArray, IntArray], undefined: BoolArray
) -> Ranking:
    """The ranking; ``counts`` are the relevant and the ranked features of each row."""
    rows, n_features = flags.shape
    positions = np.broadcast_to(np.arange(n_features), flags.shape)
    start = np.maximum.accumulate(np.where(opens, positions, 0), axis=1)
    closes = np.ones_like(opens)
    closes[:, :-1] = opens[:, 1:]
    end = np.minimum.accumulate(np.where(closes, positions, n_features)[:, ::-1], axis=1)[:, ::-1]
    found = np.zeros((rows, n_features + 1), dtype=np.int64)
    np.cumsum(flags, axis=1, out=found[:, 1:])
    before = np.take_along_axis(found, start, axis=1)
    hits = np.take_along_axis(found, end + 1, axis=1) - before
    return Ranking(flags, start, end - start + 1, hits, before, *counts, undefined)


def reciprocal_rank(
    attributions: npt.ArrayLike, relevant: npt.ArrayLike, ties: str = "expected", **options: Any
) -> FloatArray:
    r"""1 / rank of the first relevant feature; 0 if none is ranked.

    Expected over ties: for the first tie group with r > 0 relevant features among g, after c
    others, the sum over k = 1 .. g-r+1 of C(g-k, r-1) / C(g, r) / (c + k).

    Args and errors: see `rank`.

    Returns:
        float, shape (rows,), in [0, 1]; NaN where undefined.

    Example:
        >>> reciprocal_rank([[3.0, 2.0, 1.0]], [[False, True, False]]).tolist()
        [0.5]
    """
    ranking = rank(attributions, relevant, ties, **options)
    has = ranking.hits > 0
    first = np.argmax(has, axis=1)[:, None]
    triples = np.stack(
        [np.take_along_axis(a, first, axis=1)[:, 0] for a in (ranking.start, ranking.size, ranking.hits)],
        axis=1,
    )
    distinct, where = np.unique(triples, axis=0, return_inverse=True)
    scores = np.array([_expected_reciprocal(*map(int, triple)) for triple in distinct])[where.reshape(-1)]
    return ranking.finish(np.where(has.any(axis=1), scores, 0.0))


def _expected_reciprocal(c: int, g: int, r: int) -> float:
    """The chance that the first hit is at place k of its group is the last one's times (g-k-r+2)/(g-k+1)."""
    if r == 0:
        return 0.0
    k = np.arange(1, g - r + 2)
    ratios = (g - k[1:] - r + 2) / (g - k[1:] + 1)
    chances = r / g * np.cumprod(np.concatenate([[1.0], ratios]))
    return float(np.sum(chances / (c + k)))


def average_precision(
    attributions: npt.ArrayLike, relevant: npt.ArrayLike, ties: str = "expected", **options: Any
) -> FloatArray:
    r"""Precision at each relevant feature's rank, summed and divided by R.

    Expected over ties: each group adds (r/g) (b + 1 + (j-1)(r-1)/(g-1)) / (c + j) for
    j = 1 .. g, where the fraction is 0 for g = 1.

    Args and errors: see `rank`.

    Returns:
        float, shape (rows,), in [0, 1]; NaN where undefined.

    Example:
        >>> average_precision([[3.0, 2.0, 1.0]], [[True, False, True]]).round(4).tolist()
        [0.8333]
    """
    ranking = rank(attributions, relevant, ties, **options)
    g, r, c, b = ranking.size, ranking.hits, ranking.start, ranking.before
    j = np.arange(1, g.shape[1] + 1) - c
    others = (j - 1) * (r - 1) / np.maximum(g - 1, 1)
    terms = r / g * (b + 1 + others) / (c + j)
    return ranking.finish(terms.sum(axis=1) / np.maximum(ranking.relevant, 1))


def r_precision(
    attributions: npt.ArrayLike,
    relevant: npt.ArrayLike,
    ties: str = "expected",
    *,
    denominator: str = "relevant",
    **options: Any,
) -> FloatArray:
    r"""The share of relevant features among the first R ranks.

    The relevant features among the first R ranks, over R (``denominator="relevant"``, the textbook's
    definition) or over min(R, K) with K the number of features that are ranked (``"ranked"``). They
    differ only where fewer than R features are ranked, so only with ``rank_zeros=False`` or ``skip``:
    the second is the precision of a list that ends before rank R, which does not punish what the list
    leaves out. Where nothing is ranked both are 0.

    Expected over ties: a group that straddles rank R counts (R - c) r / g.

    Args:
        attributions: see `rank`, as for all arguments but the denominator.
        relevant: likewise.
        ties: likewise.
        denominator: ``"relevant"`` or ``"ranked"``.
        **options: ``rank_zeros`` and ``skip`` of `rank`.

    Returns:
        float, shape (rows,), in [0, 1]; NaN where undefined.

    Raises:
        InputError: see `rank`.
        UnknownNameError: another tie rule or denominator.

    References:
        Manning, Raghavan & Schuetze, Introduction to Information Retrieval, 2008, section 8.4.
        ``"ranked"``: the public code of "Evaluating Anomaly Explanations Using Ground Truth".

    Example:
        >>> r_precision([[3.0, 2.0, 1.0]], [[True, False, True]]).tolist()
        [0.5]
        >>> short = {"ties": "ordered", "rank_zeros": False}
        >>> r_precision([[3.0, 0.0, 0.0]], [[True, False, True]], **short).tolist()
        [0.5]
        >>> r_precision([[3.0, 0.0, 0.0]], [[True, False, True]], denominator="ranked", **short).tolist()
        [1.0]
    """
    if denominator not in DENOMINATORS:
        raise UnknownNameError("denominator", denominator, DENOMINATORS)
    ranking = rank(attributions, relevant, ties, **options)
    scores = share_of_top(ranking)
    if denominator == "relevant":
        return scores
    of = np.clip(ranking.ranked, 1, np.maximum(ranking.relevant, 1))
    return np.asarray(scores * ranking.relevant / of)


def share_of_top(ranking: Ranking) -> FloatArray:
    """The flagged share of the first R ranks."""
    inside = np.arange(ranking.size.shape[1]) < ranking.relevant[:, None]
    expected = np.where(inside, ranking.hits / ranking.size, 0.0)
    return ranking.finish(expected.sum(axis=1) / np.maximum(ranking.relevant, 1))


def exact_match(
    attributions: npt.ArrayLike, relevant: npt.ArrayLike, ties: str = "expected", **options: Any
) -> FloatArray:
    """The probability that the first R ranks are exactly the relevant features.

    Args and errors: see `rank`.

    Returns:
        float, shape (rows,), in [0, 1]; 0 or 1 without ties; NaN where undefined.

    Example:
        >>> exact_match([[3.0, 2.0, 2.0]], [[True, True, False]]).tolist()
        [0.5]
    """
    ranking = rank(attributions, relevant, ties, **options)
    last = np.maximum(ranking.relevant - 1, 0)[:, None]
    g, r, c, b = (
        np.take_along_axis(a, last, axis=1)[:, 0]
        for a in (ranking.size, ranking.hits, ranking.start, ranking.before)
    )
    possible = (b == c) & (b + r == ranking.relevant)
    return ranking.finish(np.where(possible, 1.0 / comb(g, r), 0.0))
