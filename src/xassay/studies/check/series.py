"""From numbers a row to a score with its interval, and to tests of explainers on the same rows."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs
import numpy as np
from scipy import stats

from xassay.estimates import Bounds, Estimate
from xassay.metrics import describe
from xassay.seeds import generator
from xassay.statistics import (
    RowWeights,
    Statistic,
    holm,
    loss_of_accuracy_interval,
    mean_interval,
    paired_permutation,
    quantile_interval,
    root_mean_interval,
    row_interval,
    share_of_squares_interval,
    skill_interval,
)
from xassay.statistics import scores as kinds
from xassay.statistics.row_scores import BEYOND_TRIVIAL, ENOUGH_ROWS
from xassay.statistics.row_weights import LEVEL
from xassay.types import BoolArray, FloatArray, IntArray

_ROUNDING = 1e-12
"""Of a score's unit: differences below it are no differences."""


def _root_ratio(means: Sequence[FloatArray]) -> FloatArray:
    return np.asarray(np.sqrt(kinds.ratio(means)))


STATISTICS = {
    "mean": kinds.mean,
    "count": kinds.mean,
    "root mean": kinds.root_mean,
    "skill": kinds.skill,
    "share": kinds.share_of_squares,
    "part": kinds.ratio,
    "root part": _root_ratio,
    "ela": kinds.loss_of_accuracy,
}
"""How the means of a series' columns become its score."""

QUANTILES = {"tenth part": 0.1, "median": 0.5}
"""Scores that are a quantile of their only column."""

_AGAINST_TRIVIAL = {
    "skill": skill_interval,
    "share": share_of_squares_interval,
    "ela": loss_of_accuracy_interval,
}


@attrs.frozen(eq=False)
class Series:
    """One metric, row by row.

    Attributes:
        metric: its name.
        columns: what the score is made of, each a number a row, NaN where undefined or failed.
        rows: the rows' numbers.
        statistic: which of `STATISTICS` makes the score of the columns' means, or which of
            `QUANTILES` it is; a ``count`` has no interval.
        failed: rows that failed, bool.
        reason: why one of them did.
        repeats: the same columns under other fits of a surrogate, the first fit included; empty
            where there is one only.
        unit: smaller differences than 1e-12 of it are rounding.
        sigma: of the perturbations.
        level: ``model``, or ``budget`` for a point of the convergence curve.
        options: options in force, where they are not the base's.
        samples: how many samples they ask for, likewise.
        planted: how the rows were planted, where they were.
    """

    metric: str
    columns: tuple[FloatArray, ...]
    rows: IntArray
    statistic: str
    failed: BoolArray
    reason: str | None = None
    repeats: tuple[tuple[FloatArray, ...], ...] = ()
    unit: float = 0.0
    sigma: float | None = None
    level: str = "model"
    options: str | None = None
    samples: int | None = None
    planted: str | None = None

    @property
    def defined(self) -> BoolArray:
        """Rows that have all that the score is made of, in every fit."""
        parts = [*self.columns, *itertools.chain.from_iterable(self.repeats)]
        return np.isfinite(parts).all(axis=0) & ~self.failed

    def score(self, columns: Sequence[FloatArray]) -> float:
        """The score of some columns."""
        if self.statistic in QUANTILES:
            return float(np.quantile(columns[0], QUANTILES[self.statistic], method="inverted_cdf"))
        means = [np.array([column.mean()]) for column in columns]
        with np.errstate(invalid="ignore"):
            return float(STATISTICS[self.statistic](means)[0])


def value_of(one: Series, weights: RowWeights) -> Estimate:
    """A series as one number with its 95% interval over rows (and over fits, where there are several)."""
    n, n_failed, defined = len(one.rows), int(one.failed.sum()), one.defined
    n_undefined = n - n_failed - int(defined.sum())
    nothing = Estimate(None if n_failed == n else np.nan, None, n, n_failed, n_undefined, one.reason)
    if not defined.any():
        return nothing
    fits = [[column[defined] for column in fit] for fit in one.repeats or (one.columns,)]
    columns = [np.mean(parts, axis=0) for parts in zip(*fits, strict=True)]
    found = min(one.score(columns), describe(one.metric).high)  # an estimate may be beyond it
    if one.statistic == "count" or np.isnan(found):
        return attrs.evolve(nothing, value=found)
    bounds = _widened(_interval(one, columns, weights), found, [one.score(fit) for fit in fits], one.metric)
    most = describe(one.metric).high
    # an estimate that is wholly beyond the maximum has no interval: it would be a point
    bounds = None if bounds is None or bounds[0] >= most else (bounds[0], min(bounds[1], most))
    return attrs.evolve(nothing, value=found, bounds=bounds)


def _interval(one: Series, columns: Sequence[FloatArray], weights: RowWeights) -> Bounds | None:
    """The interval over rows, by the form of the score."""
    metric = describe(one.metric)
    if one.statistic == "mean":
        return mean_interval(columns[0], metric.low, metric.high, rng=weights)
    if one.statistic in QUANTILES:
        share = QUANTILES[one.statistic]
        return quantile_interval(columns[0], share, low=metric.low, high=metric.high)
    if one.statistic == "root mean":
        return root_mean_interval(columns[0], rng=weights)
    if one.statistic == "root part":  # relative to telling nothing, so that of it the skill is the rest
        found = skill_interval(columns[0], columns[1], rng=weights)
        return None if found is None else (1 - found[1], 1 - found[0])
    if one.statistic in _AGAINST_TRIVIAL:
        return _AGAINST_TRIVIAL[one.statistic](columns[0], columns[1], rng=weights)
    return _of_ratio(columns, STATISTICS[one.statistic], weights, share=metric.high == 1)


def _of_ratio(
    columns: Sequence[FloatArray], statistic: Statistic, weights: RowWeights, *, share: bool
) -> Bounds | None:
    """Of a ratio of sums: an unseen row may be as large as `BEYOND_TRIVIAL` times the most telling one seen.

    Where it is a share of squares, it may be all of them or none.
    """
    first, second = columns
    largest = BEYOND_TRIVIAL * float(np.abs(second).max())
    if not largest:
        return None
    if share:
        return row_interval(columns, statistic, worst=[0.0, largest], best=[largest, largest], rng=weights)
    away = first - first.sum() / second.sum() * second
    ends = [[BEYOND_TRIVIAL * float(column[k]) for column in columns] for k in (away.argmin(), away.argmax())]
    return row_interval(columns, statistic, worst=ends[0], best=ends[1], rng=weights)


def _widened(bounds: Bounds | None, value: float, fits: Sequence[float], metric: str) -> Bounds | None:
    """The interval over rows, widened by the spread of the fits (Student's t): both are left to chance."""
    if bounds is None or len(fits) < 2 or not np.isfinite(fits).all():  # noqa: PLR2004 - a spread
        return bounds
    half = stats.t.ppf((1 + LEVEL) / 2, len(fits) - 1) * np.std(fits, ddof=1) / np.sqrt(len(fits))
    described = describe(metric)
    low = value - np.hypot(value - bounds[0], half)
    high = value + np.hypot(bounds[1] - value, half)
    return float(max(low, described.low)), float(min(high, described.high))


def tests(
    found: Mapping[str, Sequence[Series]], compared: Sequence[str], seed: int
) -> Iterator[dict[str, Any]]:
    """Paired tests of the scores' own differences, with Holm's correction over all of them.

    Args:
        found: explainer -> its series; baselines left out.
        compared: metrics that explainers are compared by.
        seed: of the permutations.
    """
    keyed: dict[tuple[str, float | None], dict[str, Series]] = {}
    for explainer, own in found.items():
        for one in own:
            if one.metric in compared and one.level == "model" and one.planted is None:
                keyed.setdefault((one.metric, one.sigma), {})[explainer] = one
    rows = [
        _test(seed, metric, sigma, (first, by_explainer[first]), (second, by_explainer[second]))
        for (metric, sigma), by_explainer in keyed.items()
        for first, second in itertools.combinations(sorted(by_explainer), 2)
    ]
    corrected = holm(np.array([row["p_value"] for row in rows], dtype=np.float64))
    for row, p_holm in zip(rows, corrected, strict=True):
        yield {**row, "p_holm": float(p_holm)}


def _test(
    seed: int, metric: str, sigma: float | None, first: tuple[str, Series], second: tuple[str, Series]
) -> dict[str, Any]:
    (name, one), (other, two) = first, second
    _, a, b = np.intersect1d(one.rows, two.rows, return_indices=True)
    good = one.defined[a] & two.defined[b]
    pairs = [(x[a][good], y[b][good]) for x, y in zip(one.columns, two.columns, strict=True)]
    rng = generator(seed, "permutations", metric, name, other)
    unit = max(one.unit, two.unit) * _ROUNDING
    result = paired_permutation(pairs, STATISTICS[one.statistic], rng=rng, rounding=unit, with_interval=False)
    few = result.n < ENOUGH_ROWS
    return {
        "study": "check",
        "metric": metric,
        "dataset": "all rows",
        "sigma": sigma,
        "blocks": "rows",
        "test": "paired_permutation",
        "first": name,
        "second": other,
        "statistic": result.difference,
        "p_value": float("nan") if few else result.p_value,
        "n_blocks": result.n,
    }
