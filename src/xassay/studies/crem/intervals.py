"""How sure a version's score is: over the inputs that were drawn, and the draws that rows share."""

from collections.abc import Sequence

import attrs
import numpy as np
from scipy import stats

from xassay.estimates import Bounds
from xassay.explainers.table_explainer import N_DRAWS
from xassay.metrics import describe
from xassay.models.learned_detectors import TABLE
from xassay.statistics import RowWeights, Statistic, ratio_of_intervals, row_interval
from xassay.statistics.row_weights import LEVEL
from xassay.statistics.scores import loss_of_accuracy, ratio
from xassay.studies.crem.cell import CremCell
from xassay.types import FloatArray, IntArray


@attrs.frozen(eq=False)
class InputSums:
    """A version's scores of one metric, summed by explained input; the score is sum / number.

    Attributes:
        inputs: the inputs' numbers, distinct and rising, shape (n,).
        sums: the sum of each input's defined scores over outputs and noise copies, shape (n,).
        counts: how many those are, shape (n,).
        population: how many anomalous inputs there are, where an input's scores are known for
            certain once it is explained; None where they hang on draws too.
        shared: whether inputs whose numbers are equal modulo `N_DRAWS` share the explainer's draws.
    """

    inputs: IntArray
    sums: FloatArray
    counts: FloatArray
    population: int | None
    shared: bool


def shares_draws(cell: CremCell) -> bool:
    """Whether rows share the explainer's draws."""
    return cell.record.tabulates and cell.record.stochastic and cell.detector == TABLE


def input_sums(cell: CremCell, inputs: IntArray, scores: FloatArray, copies: IntArray) -> InputSums:
    """A sampled version's scores by input.

    Args:
        cell: one of the version's.
        inputs: the input of each pair, shape (pairs,).
        scores: of one metric, NaN where undefined, shape (pairs,).
        copies: how often each counts, shape (pairs,).
    """
    distinct, where = np.unique(inputs, return_inverse=True)
    defined = ~np.isnan(scores)
    blind = cell.noise_kind == "attribute" and cell.record.table_only and cell.detector == TABLE
    exact = not cell.record.stochastic and (not cell.noise or blind)
    return InputSums(
        distinct,
        _sums(where[defined], (copies * scores)[defined], len(distinct)),
        _sums(where[defined], copies[defined], len(distinct)),
        population=cell.n_anomalous if exact else None,
        shared=shares_draws(cell),
    )


def _sums(where: IntArray, values: FloatArray | IntArray, n: int) -> FloatArray:
    return np.asarray(np.bincount(where, weights=values, minlength=n), dtype=np.float64)


def holding(metric: str, bounds: Bounds | None, value: float) -> Bounds | None:
    """The interval, within what the metric can be, and with the value in it whatever was rounded."""
    record = describe(metric)
    if bounds is None:
        return None
    return min(max(bounds[0], record.low), value), max(min(bounds[1], record.high), value)


def mean_bounds(metric: str, of: InputSums, weights: RowWeights) -> Bounds | None:
    """The interval of a version's mean over all its anomalous inputs, of which some were drawn.

    An unseen input has as many scores as the largest seen, at one end of the metric's range. Of an
    exact score just the inputs that were not drawn are unknown. Where rows share draws, the interval
    is at each end the wider of the one over inputs and the one over draws.

    Args:
        metric: its name; it bounds the interval.
        of: the scores.
        weights: that all scores share.

    Returns:
        The interval; None where nothing can be said: for a single input or draw.
    """
    low, high = describe(metric).low, describe(metric).high
    size = float(of.counts.max())
    worst, best = [low * size, size], [high * size, size]
    return _sampled_bounds([of.sums, of.counts], ratio, worst, best, of, of.population, weights)


def paired_ela_bounds(noisy: InputSums, clean: InputSums, weights: RowWeights) -> Bounds | None:
    """The interval of ELA, where both levels explained the same inputs, of which some were drawn.

    As `mean_bounds`; an unseen input is all wrong at both levels, or all right at both.

    Returns:
        The interval; None where nothing can be said, as where one draw has all noise-free precision.
    """
    inputs = np.union1d(noisy.inputs, clean.inputs)
    columns: list[FloatArray] = []
    sizes = []
    for level in (noisy, clean):
        where = np.searchsorted(inputs, level.inputs)
        columns += [_sums(where, values, len(inputs)) for values in (level.sums, level.counts)]
        sizes.append(float(level.counts.max()))
    worst, best = ([end * sizes[0], sizes[0], end * sizes[1], sizes[1]] for end in (0.0, 1.0))
    both = attrs.evolve(clean, inputs=inputs, shared=noisy.shared or clean.shared)
    population = None if noisy.population is None else clean.population
    return _sampled_bounds(columns, _loss, worst, best, both, population, weights)


def independent_ela_bounds(
    noisy: float, noisy_bounds: Bounds | None, clean: float, clean_bounds: Bounds | None
) -> Bounds | None:
    """The interval of ELA, where all inputs were explained: the errors of the two levels are apart.

    Args:
        noisy: MR-Precision with noise.
        noisy_bounds: its interval; None: it is exact.
        clean: MR-Precision without.
        clean_bounds: likewise.
    """
    # a mean of ones may be rounded to more than 1
    ends = None if noisy_bounds is None else [max(0.0, 1 - end) for end in noisy_bounds]
    lost = None if ends is None else (ends[1], ends[0])
    return ratio_of_intervals(max(0.0, 1 - noisy), lost, clean, clean_bounds)


def _loss(means: Sequence[FloatArray]) -> FloatArray:
    """ELA of sums and numbers with noise and without."""
    return loss_of_accuracy([ratio(means[:2]), ratio(means[2:])])


def _sampled_bounds(
    columns: Sequence[FloatArray],
    statistic: Statistic,
    worst: Sequence[float],
    best: Sequence[float],
    of: InputSums,
    population: int | None,
    weights: RowWeights,
) -> Bounds | None:
    over_inputs = row_interval(columns, statistic, worst=worst, best=best, rng=weights, population=population)
    if over_inputs is None or not of.shared:
        return over_inputs
    over_draws = _jackknife(columns, statistic, of.inputs % N_DRAWS)
    if over_draws is None:
        return None
    return min(over_inputs[0], over_draws[0]), max(over_inputs[1], over_draws[1])


def _jackknife(columns: Sequence[FloatArray], statistic: Statistic, draws: IntArray) -> Bounds | None:
    """Student's t over the draws, with the error found by leaving out each in turn.

    It may be a point, where draws agree; None for a single draw, and where the score is undefined without
    one of them.
    """
    _, where = np.unique(draws, return_inverse=True)
    sums = np.array([np.bincount(where, weights=column) for column in columns])
    n, whole = sums.shape[1], sums.sum(axis=1, keepdims=True)
    value = float(statistic(list(whole))[0])
    without = statistic(list(whole - sums))
    if n < 2 or not np.isfinite(without).all():  # noqa: PLR2004 - a variance needs two
        return None
    error = np.sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum())
    half = float(stats.t.ppf((1 + LEVEL) / 2, n - 1) * error)
    return value - half, value + half
