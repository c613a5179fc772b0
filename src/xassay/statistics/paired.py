"""Two explainers on the same rows: do their scores differ, and by how much?

`paired_permutation` tests the difference of the scores themselves. Wilcoxon's signed-rank test, which
it takes the place of, speaks of typical rows, and may call better what has the worse score.

References:
    Fisher, The Design of Experiments (1935), section 21; Phipson & Smyth, "Permutation P-values
    Should Never Be Zero", Statistical Applications in Genetics and Molecular Biology 9 (2010).
"""

from collections.abc import Sequence

import attrs
import numpy as np
import numpy.typing as npt

from xassay.errors import InputError
from xassay.statistics.row_weights import LEVEL, N_REPLICATES, RowWeights, Statistic, row_interval
from xassay.types import BoolArray, FloatArray

N_PERMUTATIONS = 9999
_ROUNDING = 1e-9
"""Of a score: permuted differences closer than it to the one found are as large."""
_BATCH_VALUES = 2_000_000

Pair = tuple[FloatArray, FloatArray]


@attrs.frozen
class PairedDifference:
    """The difference of two explainers' scores on the same rows.

    Attributes:
        difference: the first's score minus the second's.
        p_value: two-sided, of this pair alone; NaN where there is nothing to test.
        n: rows that both have.
        n_differing: rows on which they differ.
        interval: of the difference; None where there is none.
    """

    difference: float
    p_value: float
    n: int
    n_differing: int
    interval: tuple[float, float] | None


def paired_permutation(
    pairs: Sequence[Pair],
    statistic: Statistic,
    *,
    rng: np.random.Generator,
    weights: RowWeights | None = None,
    rounding: float = 0.0,
    level: float = LEVEL,
    n_permutations: int = N_PERMUTATIONS,
    with_interval: bool = True,
) -> PairedDifference:
    r"""Test whether two explainers' scores T differ, by swapping the explainers within rows.

    The statistic is the difference T(a) - T(b) of the scores that are shown, so that test and
    scores cannot disagree on who is better. Where the explainers do equally well, each row's two
    values could as well be each other's: the null distribution is that of the difference with
    the two swapped on a random half of the rows. p = (1 + #{|T*| >= |T|}) / (B + 1) over B
    random swaps, or the share of all 2^k swaps of the k rows that differ, where they are no more
    than B.

    Args:
        pairs: for each column that the score is made of, the two explainers' values, each shape
            (rows,). A column that both share (the trivial loss) is given twice. Rows with a
            value that is not finite are left out.
        statistic: from the columns' means, each (replicates,), to the score, (replicates,).
        rng: the generator.
        weights: shared weights for the interval; None: drawn anew.
        rounding: values of a row that are no further apart are equal.
        level: of the interval.
        n_permutations: B.
        with_interval: whether the interval is wanted.

    Returns:
        The result. Fewer than two rows, or an undefined score: NaN and no interval. No row that
        differs: a difference of 0, no p-value and no interval.

    Raises:
        InputError: columns of different lengths.

    Example:
        >>> import numpy as np
        >>> from xassay.statistics.scores import root_mean
        >>> small, large = np.arange(1.0, 11.0), np.arange(2.0, 12.0)
        >>> paired_permutation([(small, large)], root_mean, rng=np.random.default_rng(0)).p_value
        0.001953125
    """
    first, second = _kept(pairs, rounding)
    n = len(first)
    differs: BoolArray = (first != second).any(axis=1)
    k = int(differs.sum())
    if n < 2:  # noqa: PLR2004 - what a test needs
        return PairedDifference(float("nan"), float("nan"), n, k, None)
    found = float(_scores_apart(first.mean(axis=0)[None], second.mean(axis=0)[None], statistic)[0])
    if np.isnan(found) or not k:
        return PairedDifference(found, float("nan"), n, k, None)
    p_value = _p_value(first, second, differs, statistic, found, rng, n_permutations)
    interval = _interval(first, second, statistic, weights or rng, level) if with_interval else None
    return PairedDifference(found, p_value, n, k, interval)


def _kept(pairs: Sequence[Pair], rounding: float) -> tuple[FloatArray, FloatArray]:
    if len({len(column) for pair in pairs for column in pair}) != 1:
        raise InputError("columns of different lengths: both explainers' must be of the same rows")
    first, second = (
        np.column_stack([np.asarray(pair[side], dtype=np.float64) for pair in pairs]) for side in (0, 1)
    )
    finite = np.isfinite(first).all(axis=1) & np.isfinite(second).all(axis=1)
    first, second = first[finite], second[finite]
    return first, np.where(np.abs(first - second) <= rounding, first, second)


def _scores_apart(own: FloatArray, other: FloatArray, statistic: Statistic) -> FloatArray:
    """T(a) - T(b), of means (replicates, columns)."""
    return statistic(list(own.T)) - statistic(list(other.T))


def _p_value(
    first: FloatArray,
    second: FloatArray,
    differs: BoolArray,
    statistic: Statistic,
    found: float,
    rng: np.random.Generator,
    n_permutations: int,
) -> float:
    k = int(differs.sum())
    exact = 2**k <= n_permutations
    total = 2**k if exact else n_permutations
    # a score is rounded in its own size, however small the difference
    means = [list(side.mean(axis=0, keepdims=True).T) for side in (first, second)]
    size = max(float(np.abs(statistic(side)).max()) for side in means)
    least = abs(found) - _ROUNDING * size
    as_large, step = 0, max(1, _BATCH_VALUES // k)
    both, fixed = np.hstack([first, second]), first[~differs].sum(axis=0)
    width = first.shape[1]
    for start in range(0, total, step):
        numbers = np.arange(start, min(start + step, total))
        chosen = numbers[:, None] >> np.arange(k) & 1 if exact else _coins(len(numbers), k, rng)
        swapped = chosen.astype(np.float64)
        # sums of what each has, not corrections of a sum: no cancellation where all is exact
        given, kept = swapped @ both[differs], (1.0 - swapped) @ both[differs]
        own = (fixed + kept[:, :width] + given[:, width:]) / len(first)
        other = (fixed + kept[:, width:] + given[:, :width]) / len(first)
        permuted = np.abs(_scores_apart(own, other, statistic))
        # a swap under which the score is undefined counts against the difference
        as_large += int((~(permuted < least)).sum())
    return as_large / total if exact else (1 + as_large) / (total + 1)


def _coins(n: int, k: int, rng: np.random.Generator) -> npt.NDArray[np.uint8]:
    """Fair coins, shape (n, k)."""
    drawn = np.frombuffer(rng.bytes((n * k + 7) // 8), dtype=np.uint8)
    return np.unpackbits(drawn, count=n * k).reshape(n, k)


def _interval(
    first: FloatArray,
    second: FloatArray,
    statistic: Statistic,
    rng: np.random.Generator | RowWeights,
    level: float,
) -> tuple[float, float] | None:
    """Of T(a) - T(b); the added rows are the one seen that tells them apart most, and its swap."""
    width = first.shape[1]
    both = np.hstack([first, second])

    def apart(means: Sequence[FloatArray]) -> FloatArray:
        return statistic(means[:width]) - statistic(means[width:])

    n = len(both)
    tilted = np.vstack([both, np.hstack([second, first])])
    # the difference with each row, or its swap, counted once more
    means = (both.sum(axis=0) + tilted) / (n + 1)
    moved = apart(list(means.T))
    if np.isnan(moved).all():
        return None
    worst, best = tilted[np.nanargmin(moved)], tilted[np.nanargmax(moved)]
    return row_interval(
        list(both.T), apart, worst=worst, best=best, rng=rng, level=level, n_replicates=N_REPLICATES
    )
