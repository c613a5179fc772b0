"""The general interval of a score that is made from means over rows: random weights and one unseen row.

References:
    Gaffke, "Three test statistics for a nonparametric one-sided hypothesis on the mean of a
    nonnegative variable", Mathematical Methods of Statistics 14 (2005); Learned-Miller & Thomas,
    "A New Confidence Interval for the Mean of a Bounded Random Variable", arXiv:1905.06208.
    For finite populations: Ghosh & Meeden, Bayesian Methods for Finite Population Sampling (1997), the
    Polya posterior; Wright, Exact Confidence Bounds when Sampling from Small Finite Universes (1991).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from xassay.errors import InputError
from xassay.seeds import generator
from xassay.types import FloatArray

N_REPLICATES = 4000
LEVEL = 0.95
LEAST = 2
"""Rows without which nothing is said."""
BATCH_VALUES = 4_000_000
"""Weights held at once: 32 MB."""

Statistic = Callable[[Sequence[FloatArray]], FloatArray]
"""From the means of the columns, each (replicates,), to the score, (replicates,)."""


class RowWeights:
    """Random weights of n + 1 rows, by n: scores of the same number of rows share their draws.

    Each row of weights is uniform on the simplex, Dirichlet(1, ..., 1). The draws of n depend on
    the seed and n only, not on the order in which they are asked for.

    Args:
        seed: fixes the draws.
        n_replicates: how many weightings.

    Example:
        >>> weights = RowWeights(0, n_replicates=3).of(4)
        >>> weights.shape, weights.sum(axis=1).round(12).tolist()
        ((3, 5), [1.0, 1.0, 1.0])
    """

    def __init__(self, seed: int, n_replicates: int = N_REPLICATES) -> None:
        self._seed, self._n_replicates = seed, n_replicates
        self._made: dict[tuple[int, int | None], list[FloatArray]] = {}

    def of(self, n: int, population: int | None = None) -> FloatArray:
        """Weights of n rows and one more, shape (n_replicates, n + 1); a population: see `row_interval`."""
        return np.vstack(list(self.batches(n, population)))

    def batches(self, n: int, population: int | None = None) -> Iterable[FloatArray]:
        """The same in parts of limited size; kept where they are small, else drawn again."""
        place = (n, population)
        if place in self._made:
            return self._made[place]
        words = (n,) if population is None else (n, "of", population)
        drawn = _drawn(n, population, generator(self._seed, "row weights", *words), self._n_replicates)
        if self._n_replicates * (n + 1) > BATCH_VALUES:
            return drawn
        return self._made.setdefault(place, list(drawn))


def _drawn(
    n: int, population: int | None, rng: np.random.Generator, n_replicates: int
) -> Iterator[FloatArray]:
    step = max(1, BATCH_VALUES // (n + 1))
    for start in range(0, n_replicates, step):
        found = rng.standard_exponential((min(step, n_replicates - start), n + 1))
        found /= found.sum(axis=1, keepdims=True)
        if population is not None:
            # rows not drawn are as a draw from the weights has them, rows drawn are what they are
            found = rng.multinomial(population - n, found).astype(np.float64)
            found[:, :n] += 1.0
            found /= population
        yield found


def row_interval(
    columns: Sequence[FloatArray],
    statistic: Statistic,
    *,
    worst: Sequence[float],
    best: Sequence[float],
    rng: np.random.Generator | RowWeights,
    population: int | None = None,
    level: float = LEVEL,
    n_replicates: int = N_REPLICATES,
) -> tuple[float, float] | None:
    r"""The interval of a score T(mean of column 1, mean of column 2, ...) over rows.

    T is computed under random weights of the rows, uniform on the simplex (Dirichlet(1, ..., 1)),
    with one row added to the n seen: the lower end is the (1 - level)/2 quantile over the weights
    with the added row that gives the smaller one, the upper end the (1 + level)/2 quantile with
    the added row that gives the larger one. For one bounded mean, with the bounds as added rows,
    this is Gaffke's interval; for values 0 and 1 it is the interval of Clopper and Pearson. It is
    no point where the added rows differ from the rows seen, and it always holds the estimate.
    What it assumes is in the added rows: that no unseen row is beyond them.

    Of N rows of which n were drawn without replacement, only the N - n not drawn are unknown: they
    are drawn by such weights (Polya's urn of the rows seen and the added one), and T is that of all
    N rows. For values 0 and 1 this is the exact interval of the hypergeometric law; it never reaches
    beyond what N - n rows could do, and vanishes where all were seen.

    Args:
        columns: finite values of the same n rows, each shape (n,).
        statistic: from the columns' means, each (replicates,), to the score, (replicates,); NaN
            where undefined.
        worst: the added row at one end, a value a column.
        best: the added row at the other end. Which is the lower end is found by evaluating.
        rng: a generator, or weights that several scores share.
        population: N, where the rows were drawn from so many without replacement and the score of
            those is asked for; None: of endless rows.
        level: how often it should hold that score, in (0, 1).
        n_replicates: number of weightings; weights that are shared have their own.

    Returns:
        The interval, in the score's units; None for fewer than two rows, where the score is
        undefined, where the added rows and all rows are equal, or where all of a population was seen.

    Raises:
        InputError: columns of different lengths, added rows of another length, values that are
            not finite, a population smaller than its sample, or a level outside (0, 1).

    Example:
        >>> import numpy as np
        >>> right = np.array([1.0, 1.0, 1.0, 1.0, 1.0])
        >>> found = row_interval([right], lambda means: means[0], worst=[0.0], best=[1.0], rng=RowWeights(0))
        >>> [round(end, 1) for end in found]  # Clopper and Pearson: .478 to 1
        [0.5, 1.0]
    """
    table = _table(columns, worst, best, level)
    n = len(table)
    if population is not None and population < n:
        raise InputError(f"{n} rows cannot be drawn from {population} without replacement")
    if n < LEAST or population == n:
        return None
    # in an order of their own: the order of the rows is not to move the interval
    table = table[np.lexsort(table.T)]
    estimate = float(statistic([np.array([mean]) for mean in table.mean(axis=0)])[0])
    if isinstance(rng, RowWeights):
        weights = rng.batches(n, population)
    else:
        weights = _drawn(n, population, rng, n_replicates)
    # per weighting: the sums over the rows seen, and the weight of the added row
    parts = [np.hstack([part[:, :n] @ table, part[:, n:]]) for part in weights]
    seen, unseen = np.split(np.vstack(parts), [len(columns)], axis=1)
    tails = [(1 - level) / 2, (1 + level) / 2]
    ends = []
    for added in (worst, best):
        means = seen + unseen * np.asarray(added, dtype=np.float64)
        replicates = statistic(list(means.T))
        if np.isnan(estimate) or np.isnan(replicates).all():
            return None
        # observed values, not interpolated ones: a replicate may be infinite
        ends.append(np.nanquantile(replicates, tails, method="nearest"))
    low = min(estimate, float(ends[0][0]), float(ends[1][0]))
    high = max(estimate, float(ends[0][1]), float(ends[1][1]))
    return None if same(low, high) else (low, high)


def same(low: float, high: float) -> bool:
    """Whether the ends of an interval are one point: rounding is no width."""
    return low == high or high - low <= 1e-12 * max(abs(low), abs(high))


def _table(
    columns: Sequence[FloatArray], worst: Sequence[float], best: Sequence[float], level: float
) -> FloatArray:
    if not 0 < level < 1:
        raise InputError(f"level must be between 0 and 1, not {level}")
    if len({len(column) for column in columns}) != 1:
        raise InputError(
            f"columns of {[len(column) for column in columns]} rows: they must be of the same rows"
        )
    if not len(worst) == len(best) == len(columns):
        raise InputError(f"{len(columns)} columns need as many values in worst and best")
    table = np.column_stack([np.asarray(column, dtype=np.float64) for column in columns])
    if not (np.isfinite(table).all() and np.isfinite(worst).all() and np.isfinite(best).all()):
        raise InputError("values that are not finite: leave their rows out first")
    return table
