"""From the scores of explained pairs to results: averages, intervals, ELA, published figures.

Scores are means over a version's (row, output) pairs, then over the versions of a circuit,
as in the study. The mean over versions has two intervals, each in a row of its own: level
``circuit`` takes the versions as drawn from all alterations of the circuit, level
`THESE_VERSIONS` takes them as all there are.
"""

import itertools
from collections.abc import Iterable, Sequence

import attrs
import numpy as np
import polars as pl

from xassay import explainers
from xassay.circuits import STUDY_FAULTS, Fault
from xassay.estimates import Bounds, Estimate
from xassay.explainers.table_explainer import N_DRAWS
from xassay.metrics import describe, equalized_loss_of_accuracy
from xassay.models.learned_detectors import TABLE
from xassay.results import Row
from xassay.statistics import RowWeights, mean_of_intervals, repeat_interval, sample_interval
from xassay.studies.crem.cell import CremCell
from xassay.studies.crem.intervals import (
    InputSums,
    holding,
    independent_ela_bounds,
    input_sums,
    mean_bounds,
    paired_ela_bounds,
    shares_draws,
)
from xassay.studies.crem.judging import ROW_METRICS, row_scores
from xassay.studies.crem.published import figures
from xassay.studies.crem.settings import CremSettings, is_embedded
from xassay.studies.kit.done import Failures, Frames, lost
from xassay.studies.kit.published import Published, beside
from xassay.types import FloatArray, IntArray


@attrs.frozen(eq=False)
class Mean(Estimate):
    """A mean over pairs or versions.

    It failed where it has no value and at least one explanation failed, and is undefined where it
    has none for another reason.

    Attributes:
        unsure: its rows were sampled and nothing can be said of the others: an interval of what is
            made from it would be too narrow.
        by_input: its scores, where inputs were sampled.
    """

    unsure: bool = False
    by_input: InputSums | None = None


THESE_VERSIONS = "circuit, these versions"
"""The level of a circuit's mean with the interval that takes its versions as all there are."""

Place = tuple[str, str, float, float]
"""Circuit, explainer, noise and background: what the versions averaged together share."""

Group = list[CremCell]
"""The repeats of one explainer on one version at one place, and the chunks of each repeat."""


def place(cell: CremCell) -> Place:
    """Where a cell's score goes in the circuit's average."""
    return (cell.circuit.name, cell.explainer, cell.noise, cell.proportion)


def grouped(cells: Iterable[CremCell]) -> dict[Place, dict[Fault, Group]]:
    """Cells by place, then by version; those of a version differ in repeat and chunk alone."""
    places: dict[Place, dict[Fault, Group]] = {}
    for cell in sorted(cells, key=lambda cell: (str(cell.fault), cell.repeat)):
        places.setdefault(place(cell), {}).setdefault(cell.fault, []).append(cell)
    return places


def version_means(
    group: Group,
    frames: Frames,
    failures: Failures,
    weights: RowWeights,
    settings: CremSettings,
) -> dict[str, Mean]:
    """The mean of each metric over a version's pairs; all intervals share the weights.

    Explanations are read and ranked one cell at a time; what is kept of them are their scores.
    """
    cell = group[0]
    noisy = cell.noise_kind == "attribute" and cell.noise
    metrics = [metric for metric in ROW_METRICS if metric != "noise_share" or noisy]
    for failure in lost(group, failures):
        return {metric: Mean(None, reason=failure.reason) for metric in metrics}
    parts = [
        pl.concat(row_scores(member, frames[member.key], settings) for member in repeat).sort("row", "output")
        for _, repeat in itertools.groupby(group, key=lambda member: member.repeat)
    ]
    copies = parts[0]["copies"].to_numpy()
    failed = np.stack([part["error"].is_not_null().to_numpy() for part in parts], axis=1)
    errors = [error for part in parts for error in part["error"].drop_nulls().head(1)]
    means = {}
    for metric in metrics:
        scores = np.stack([part[metric].to_numpy() for part in parts], axis=1)
        defined = ~np.isnan(scores)
        each = np.broadcast_to(copies[:, None], scores.shape)
        value = None if failed.any() else float("nan")
        found = Mean(
            float(np.average(scores[defined], weights=each[defined])) if defined.any() else value,
            n=int(copies.sum()),
            n_failed=int(copies[failed.any(axis=1)].sum()),
            n_undefined=int(copies[(~defined & ~failed).any(axis=1)].sum()),
            reason=errors[0] if errors else None,
        )
        inputs = parts[0]["input_row"].to_numpy()
        means[metric] = _with_bounds(metric, found, cell, scores, inputs, copies, weights)
    return means


def _with_bounds(
    metric: str,
    mean: Mean,
    cell: CremCell,
    scores: FloatArray,
    inputs: IntArray,
    copies: IntArray,
    weights: RowWeights,
) -> Mean:
    """With its interval: over seeds where every input was explained, else over the inputs drawn."""
    if not mean.defined:
        return mean
    if not cell.covers:
        sums = input_sums(cell, inputs, scores[:, 0], copies)
        bounds = holding(metric, mean_bounds(metric, sums, weights), mean.number)
        return attrs.evolve(mean, bounds=bounds, unsure=bounds is None, by_input=sums)
    # scores of rows that share draws go together
    clusters = inputs % N_DRAWS if shares_draws(cell) else inputs
    bounds = repeat_interval(scores, clusters, copies)
    return attrs.evolve(mean, bounds=holding(metric, bounds, mean.number))


def mean_of(means: Sequence[Mean]) -> Mean:
    """The mean of several independent means: of the defined ones, and of none where one failed."""
    defined = [mean for mean in means if mean.defined]
    failed = any(mean.failed for mean in means)
    has_value = bool(defined) and not failed
    unsure = has_value and any(mean.unsure for mean in defined)
    values = np.array([mean.number for mean in defined])
    return Mean(
        float(values.mean()) if has_value else None if failed else float("nan"),
        mean_of_intervals(values, [mean.bounds for mean in defined]) if has_value and not unsure else None,
        n=sum(mean.n for mean in means),
        n_failed=sum(mean.n_failed for mean in means),
        n_undefined=sum(mean.n_undefined for mean in means),
        reason=next((mean.reason for mean in means if mean.reason), None),
        unsure=unsure,
    )


def ela(noisy: Mean, clean: Mean, weights: RowWeights) -> Mean:
    """ELA of two MR-Precision means of a version, paired by input where inputs were sampled."""
    value = float(equalized_loss_of_accuracy(noisy.number, clean.number))
    bounds, unsure = None, False
    if not np.isnan(value):
        if noisy.by_input is not None and clean.by_input is not None:
            bounds = paired_ela_bounds(noisy.by_input, clean.by_input, weights)
            unsure = bounds is None
        else:
            bounds = independent_ela_bounds(noisy.number, noisy.bounds, clean.number, clean.bounds)
    return Mean(
        None if noisy.failed or clean.failed else value,
        holding("ela", bounds, value),
        n=noisy.n + clean.n,
        n_failed=noisy.n_failed + clean.n_failed,
        n_undefined=noisy.n_undefined + clean.n_undefined,
        reason=noisy.reason or clean.reason,
        unsure=unsure,
    )


def score(
    cells: Sequence[CremCell],
    frames: Frames,
    failures: Failures,
    settings: CremSettings,
) -> list[Row]:
    """Rows of results: every metric of every version, and their means over each circuit's versions."""
    places = grouped(cells)
    weights = RowWeights(settings.seed)
    means = {
        where: {
            fault: version_means(group, frames, failures, weights, settings)
            for fault, group in versions.items()
        }
        for where, versions in places.items()
    }
    rows = []
    for where, versions in places.items():
        circuit, explainer, noise, background = where
        clean = means.get((circuit, explainer, 0.0, background))
        by_metric: dict[str, list[Mean]] = {}
        for fault, group in versions.items():
            found = means[where][fault]
            if noise and clean is not None:
                precise = found["mr_precision"], clean[fault]["mr_precision"]
                found = {**found, "ela": ela(*precise, weights)}
            for metric, mean in found.items():
                by_metric.setdefault(metric, []).append(mean)
                row = _row(group[0], settings, metric, mean, level="version")
                rows.append(attrs.evolve(row, fault=str(fault)))
        first = next(iter(versions.values()))[0]
        for metric, several in by_metric.items():
            figure = _published(first, settings, set(versions), metric)
            whole = mean_of(several)
            over, within = (attrs.evolve(whole, bounds=ends) for ends in circuit_bounds(metric, several))
            row = _row(first, settings, metric, over, level="circuit")
            rows.append(attrs.evolve(row, **beside(figure)))
            rows.append(_row(first, settings, metric, within, level=THESE_VERSIONS))
    return rows


def circuit_bounds(metric: str, versions: Sequence[Mean]) -> tuple[Bounds | None, Bounds | None]:
    """The two intervals of a mean over versions: over alterations, and within these versions.

    The first is Student's t over the versions' means and never ends inside the second, see
    `xassay.statistics.sample_interval`; there is none for fewer than two versions, as one says
    nothing of others, and none where one failed. The second has the error of each version's
    own mean alone: rows that were drawn, or the explainer's seeds; none where there is no such error,
    and none where that of a version is not known.

    Args:
        metric: its name; it bounds the intervals.
        versions: the mean of each version.
    """
    whole = mean_of(versions)
    within = whole.bounds
    if not whole.defined:
        return None, within
    values = np.array([mean.number for mean in versions])
    record = describe(metric)
    return sample_interval(values[~np.isnan(values)], record.low, record.high, within=within), within


def _published(cell: CremCell, settings: CremSettings, faults: set[Fault], metric: str) -> Published | None:
    """The published figure, if it was measured on just this: circuit, faults, truth, method, noise."""
    _, _, own_options = explainers.registry.split(cell.explainer)
    method = cell.record.published
    if (
        method is None
        or own_options
        or settings.truth != "altered"
        or cell.detector != TABLE
        or (cell.noise and cell.noise_kind != "attribute")
        or not is_embedded(cell.circuit)
        or faults != {Fault(gate) for gate in STUDY_FAULTS[cell.circuit.name]}
    ):
        return None
    return figures().get((cell.circuit.name, method, metric, cell.proportion, cell.noise))


def _row(cell: CremCell, settings: CremSettings, metric: str, mean: Estimate, *, level: str) -> Row:
    return Row(
        level=level,
        study="crem",
        circuit=cell.circuit.name,
        model=None if cell.detector == TABLE else cell.detector,
        noise_kind=cell.noise_kind,
        noise=cell.noise,
        background=cell.proportion,
        truth=settings.truth,
        ties=settings.rules.ties,
        profile=settings.profile,
        seed=cell.seed,
        explainer=cell.explainer,
        options=cell.options_text,
        engine=cell.record.engine,
        metric=metric,
        **mean.columns,
    )
