"""From numbers a row to results: one number with its interval, and who differs from whom."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from xassay.metrics.fidelity import skill
from xassay.seeds import generator
from xassay.statistics import PairedResult, cluster_draws, cluster_replicates, interval, paired_holm
from xassay.studies.check.measures import Series
from xassay.types import FloatArray, IntArray

TESTED = ("masking_rmse", "causal_rmse", "placebo_share", "map", "seed_agreement", "background_agreement")
"""Metrics that explainers are compared by; skills follow from the errors."""

_ROUNDING = 1e-12
"""Of a score's unit: differences below it are no differences."""


@attrs.frozen
class Value:
    """One number with its interval."""

    value: float | None
    low: float | None
    high: float | None
    n: int
    n_failed: int
    n_undefined: int


class Draws:
    """Bootstrap draws by number of rows: scores of the same rows are resampled alike."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._made: dict[int, IntArray] = {}

    def of(self, n: int) -> IntArray:
        """Draws of n rows."""
        if n not in self._made:
            self._made[n] = cluster_draws(n, generator(self._seed, "bootstrap", n))
        return self._made[n]


def value_of(one: Series, draws: Draws) -> Value:
    """A series as one number, with the bootstrap's interval over its rows."""
    n, n_failed = len(one.values), int(one.failed.sum())
    defined = ~np.isnan(one.values) & ~one.failed
    if one.beside is not None:
        defined &= ~np.isnan(one.beside)
    n_undefined = n - n_failed - int(defined.sum())
    if n_failed == n:
        return Value(None, None, None, n, n_failed, 0)
    if not defined.any():
        return Value(float("nan"), None, None, n, n_failed, n_undefined)
    parts = [np.where(defined, values, np.nan) for values in (one.values, one.beside) if values is not None]
    found = _joined(one.how, [np.nanmean(part, keepdims=True) for part in parts])
    bounds = None
    if defined.sum() > 1 and one.how != "count":
        replicates = [cluster_replicates(part, np.arange(n), draws.of(n)) for part in parts]
        bounds = interval(_joined(one.how, replicates))
    low, high = (None, None) if bounds is None or np.isnan(found[0]) else bounds
    return Value(float(found[0]), low, high, n, n_failed, n_undefined)


def _joined(how: str, means: Sequence[FloatArray]) -> FloatArray:
    if how in ("mean", "count"):
        return means[0]
    if how == "ela":
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.where(means[1] > 0, (1.0 - means[0]) / means[1], np.nan))
    roots = [np.sqrt(mean) for mean in means]
    return roots[0] if how == "root mean" else skill(roots[0], roots[1])


def tests(found: Mapping[str, Sequence[Series]]) -> Iterator[dict[str, Any]]:
    """Paired tests over rows, Holm's correction over the pairs of each metric and sigma.

    Args:
        found: explainer -> its series; baselines left out.
    """
    keyed: dict[tuple[str, float | None], dict[str, Series]] = {}
    for explainer, own in found.items():
        for one in own:
            if one.metric in TESTED and one.level == "model" and one.fault is None:
                keyed.setdefault((one.metric, one.sigma), {})[explainer] = one
    for (metric, sigma), by_explainer in keyed.items():
        pairs = {
            (first, second): _common(by_explainer[first], by_explainer[second])
            for first, second in itertools.combinations(sorted(by_explainer), 2)
        }
        for (first, second), result in paired_holm(pairs).items():
            yield _test(metric, sigma, first, second, result)


def _test(metric: str, sigma: float | None, first: str, second: str, result: PairedResult) -> dict[str, Any]:
    return {
        "study": "check",
        "metric": metric,
        "dataset": "all rows",
        "sigma": sigma,
        "blocks": "rows",
        "test": "wilcoxon",
        "first": first,
        "second": second,
        "statistic": result.statistic,
        "p_value": result.p_value,
        "p_holm": result.p_holm,
        "n_blocks": result.n,
    }


def _common(first: Series, second: Series) -> tuple[FloatArray, FloatArray]:
    """The two series on the rows that both have; where either failed, neither is compared."""
    _, a, b = np.intersect1d(first.rows, second.rows, return_indices=True)
    good = ~(first.failed[a] | second.failed[b])
    unit = max(first.unit, second.unit) * _ROUNDING
    if unit > 0:
        return np.rint(first.values[a][good] / unit), np.rint(second.values[b][good] / unit)
    return first.values[a][good], second.values[b][good]
