"""Why the unseen row is as large as it is: other intervals and other sizes on the same losses."""

import warnings
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from scipy import stats

from row_losses import LOSSES, Losses
from xassay.seeds import generator
from xassay.statistics import RowWeights, mean_interval, row_interval, trial_interval
from xassay.statistics.scores import skill
from xassay.types import FloatArray, IntArray

N_WEIGHTS = 1000
FACTORS = (1.0, 1.5, 2.0)
Interval = tuple[float, float] | None
Ways = dict[str, Callable[[], Interval]]


def choices(repeats: int) -> Iterator[str]:
    """Lines of the table: how often each interval holds, and its median width."""
    names = ["t", "BCa", "studentised bootstrap", *(f"largest seen, times {factor:g}" for factor in FACTORS)]
    yield "| score | rows | n | " + " | ".join(names) + " |"
    yield "|---|---|---|" + "---|" * len(names)
    by_name = {one.name: one for one in LOSSES}
    plain, rare = by_name["plain: gamma"], by_name["rare: 2% of rows, 10 times the loss"]
    heavy = by_name["heavy: lognormal 1.5"]
    for one, n in ((plain, 50), (heavy, 50), (rare, 50), (plain, 200), (heavy, 200), (rare, 200)):
        cells = _of_means(one, n, repeats)
        yield f"| mean of losses | {one.name} | {n} | " + " | ".join(cells[name] for name in names) + " |"
    for one, n in ((plain, 50), (rare, 50), (rare, 100), (rare, 140), (plain, 200), (rare, 200)):
        cells = _of_skills(one, n, repeats)
        yield f"| skill | {one.name} | {n} | " + " | ".join(cells.get(name, "") for name in names) + " |"


def _of_means(one: Losses, n: int, repeats: int) -> dict[str, str]:
    weights, rng = RowWeights(0, N_WEIGHTS), generator(0, "choices", one.name, n)

    def ways(losses: FloatArray) -> Ways:
        largest = float(losses.max())
        reaching: Ways = {
            f"largest seen, times {factor:g}": partial(
                mean_interval, losses, 0, factor * largest, rng=weights
            )
            for factor in FACTORS
        }
        return {
            "t": lambda: trial_interval(losses, 0),
            "BCa": lambda: _bca(losses, rng),
            "studentised bootstrap": lambda: _studentised(losses, rng),
            **reaching,
        }

    return _held((ways(one.draw(n, rng)[1]) for _ in range(repeats)), one.trivial)


def _of_skills(one: Losses, n: int, repeats: int) -> dict[str, str]:
    weights, rng = RowWeights(0, N_WEIGHTS), generator(0, "choices", one.name, n)

    def reached(own: FloatArray, trivial: FloatArray, factor: float) -> Interval:
        size = factor * float(trivial.max())
        return row_interval([own, trivial], skill, worst=(size, size), best=(0.0, size), rng=weights)

    def ways(own: FloatArray, trivial: FloatArray) -> Ways:
        return {
            f"largest seen, times {factor:g}": partial(reached, own, trivial, factor) for factor in FACTORS
        }

    truth = float(1 - np.sqrt(one.own / one.trivial))
    return _held((ways(*one.draw(n, rng)) for _ in range(repeats)), truth)


def _held(simulated: Iterator[Ways], truth: float) -> dict[str, str]:
    found: dict[str, list[Interval]] = {}
    for ways in simulated:
        for name, way in ways.items():
            found.setdefault(name, []).append(way())
    said = {}
    for name, intervals in found.items():
        given = [one for one in intervals if one is not None]
        held = np.mean([low <= truth <= high for low, high in given])
        said[name] = f"{held:.3f} ({np.median([high - low for low, high in given]):.2g})"
    return said


def _bca(losses: FloatArray, rng: np.random.Generator) -> Interval:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = stats.bootstrap((losses,), np.mean, n_resamples=N_WEIGHTS, rng=rng).confidence_interval
    return float(found.low), float(found.high)


def _studentised(losses: FloatArray, rng: np.random.Generator) -> Interval:
    n, mean, error = len(losses), losses.mean(), losses.std(ddof=1) / np.sqrt(len(losses))
    draws = bootstrap_draws(n, rng)
    means = draws @ losses / n
    errors = np.sqrt(np.maximum(draws @ losses**2 / n - means**2, 1e-300) / (n - 1))
    low, high = np.quantile((means - mean) / errors, [0.025, 0.975])
    return float(mean - high * error), float(mean - low * error)


def bootstrap_draws(n: int, rng: np.random.Generator) -> IntArray:
    """How often each replicate draws each row, with replacement: (N_WEIGHTS, n)."""
    return np.asarray(rng.multinomial(n, np.full(n, 1 / n), size=N_WEIGHTS))
