"""From the frames of trials to results: a score a trial, and means over trials with intervals."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import attrs
import numpy as np
import polars as pl

from xassay import explainers, specs
from xassay.estimates import Estimate
from xassay.metrics import describe
from xassay.metrics.causal import skill
from xassay.results import Row
from xassay.statistics import sample_interval, share_interval
from xassay.studies.kit.done import Failures, Frames
from xassay.studies.kit.published import Published, beside
from xassay.studies.maple.cell import MapleCell
from xassay.studies.maple.experiments import MODELS, SHAPES
from xassay.studies.maple.published import figures
from xassay.types import Failure


class Measured(NamedTuple):
    """What a score is of.

    Attributes:
        model: what predicts or is explained.
        sigma: of the perturbations, where there are any.
        metric: its name.
    """

    model: str
    sigma: float | None
    metric: str


def trial_scores(
    cell: MapleCell, frame: pl.DataFrame | None, failure: Failure | None
) -> Iterator[tuple[Measured, Estimate]]:
    """Everything that a cell measures on its trial; failed throughout where it has no frame."""
    if frame is None:
        reason = failure.reason if failure else None
        yield from ((one, _of_rows(np.nan, cell.n_rows, cell.n_rows, reason)) for one in _measured(cell))
    elif cell.experiment == "accuracy":
        yield from _accuracy(frame)
    elif cell.experiment == "patterns":
        (one,) = _measured(cell)
        yield one, _of_rows(float(frame["verdict"][0] == SHAPES[cell.dataset]), 1)
    else:
        yield from _fidelity(cell, frame)


def _of_rows(value: float, n: int, n_failed: int = 0, reason: str | None = None) -> Estimate:
    """A trial's score: failed where no row is left, and undefined where the others give none."""
    left = n - n_failed
    return Estimate(value if left else None, None, n, n_failed, left if np.isnan(value) else 0, reason)


def _measured(cell: MapleCell) -> Iterator[Measured]:
    """Everything that a cell measures."""
    if cell.experiment == "accuracy":
        yield from (Measured(model, None, "rmse") for model in MODELS)
        yield from (Measured(model, None, "features_kept") for model in MODELS if model.startswith("MAPLE"))
    elif cell.explained is None:
        yield Measured("rf", None, "pattern_match")
    else:
        for sigma in cell.sigma:
            for metric in ("causal_rmse", "causal_skill"):
                yield Measured(cell.explained.model, sigma, metric)


def _accuracy(frame: pl.DataFrame) -> Iterator[tuple[Measured, Estimate]]:
    for (model,), rows in frame.group_by("model", maintain_order=True):
        errors = (rows["prediction"] - rows["target"]).to_numpy()
        finite = np.isfinite(errors)
        rmse = float(np.sqrt(np.mean(errors[finite] ** 2))) if finite.any() else float("nan")
        n_failed = int((~finite).sum())
        reason = "the model's output is not finite" if n_failed else None
        yield Measured(str(model), None, "rmse"), _of_rows(rmse, len(rows), n_failed, reason)
        if (kept := rows["features_kept"][0]) is not None:
            yield Measured(str(model), None, "features_kept"), _of_rows(float(kept), len(rows))


def _fidelity(cell: MapleCell, frame: pl.DataFrame) -> Iterator[tuple[Measured, Estimate]]:
    assert cell.explained is not None  # noqa: S101 - the other experiments are treated above
    for sigma in cell.sigma:
        rows = frame.filter(pl.col("sigma") == sigma)
        left = rows.filter(pl.col("error").is_null())
        n_failed = len(rows) - len(left)
        reason = rows["error"].drop_nulls()[0] if n_failed else None
        rmse, trivial = (
            np.sqrt(left[column].to_numpy().mean(keepdims=True)) if len(left) else np.full(1, np.nan)
            for column in ("loss", "trivial")
        )
        for metric, value in (("causal_rmse", rmse), ("causal_skill", skill(rmse, trivial))):
            one = Measured(cell.explained.model, sigma, metric)
            yield one, _of_rows(float(value[0]), len(rows), n_failed, reason)


def score(cells: Sequence[MapleCell], frames: Frames, failures: Failures) -> Iterator[Row]:
    """Rows of results: every score of every trial, and its mean over the trials that have one."""
    series: dict[tuple[str, str, str | None, Measured], list[tuple[MapleCell, Estimate]]] = {}
    for cell in sorted(cells, key=lambda cell: cell.trial):
        key = cell.key
        explainer = cell.explained.explainer if cell.explained else None
        for one, found in trial_scores(cell, frames.get(key), failures.get(key)):
            series.setdefault((cell.experiment, cell.dataset, explainer, one), []).append((cell, found))
    for (_, _, _, one), trials in series.items():
        for own, found in trials:
            yield attrs.evolve(_row(own, one, found), level="trial", trial=own.trial)
        cell, _ = trials[0]
        mean = _row(cell, one, _mean(one.metric, [found for _, found in trials]))
        yield attrs.evolve(mean, level="dataset", **beside(_published(cell, one)))


def _mean(name: str, trials: Sequence[Estimate]) -> Estimate:
    """A metric's mean over trials that have a value, and its interval where there are at least two."""
    values = np.array([one.number for one in trials if one.defined])
    metric = describe(name)
    if metric.name == "pattern_match":
        bounds = share_interval(int(values.sum()), len(values)) if len(values) else None
    else:
        bounds = sample_interval(values, metric.low, metric.high)
    nothing = None if all(one.failed for one in trials) else float("nan")
    return Estimate(
        float(values.mean()) if len(values) else nothing,
        bounds,
        n=sum(one.n for one in trials),
        n_failed=sum(one.n_failed for one in trials),
        n_undefined=sum(one.n_undefined for one in trials),
        reason=next((one.reason for one in trials if one.reason), None),
    )


def _published(cell: MapleCell, one: Measured) -> Published | None:
    """The published figure, if it was measured on this very table, model and method without options."""
    if cell.table is None or not cell.table.pinned:
        return None
    explainer = None
    if cell.explained is not None:
        name, options = specs.split_options(cell.explained.explainer)
        if options:
            return None
        explainer = name
    return figures().get((one.metric, cell.dataset, one.model, explainer, one.sigma))


def _row(cell: MapleCell, one: Measured, found: Estimate) -> Row:
    explained = cell.explained
    return Row(
        study="maple",
        dataset=cell.dataset,
        model=one.model,
        profile=cell.profile,
        seed=cell.seed,
        explainer=explained.explainer if explained else None,
        options=explained.options_text if explained else None,
        engine=explainers.record(explained.source).engine if explained else None,
        sigma=one.sigma,
        metric=one.metric,
        **found.columns,
    )
