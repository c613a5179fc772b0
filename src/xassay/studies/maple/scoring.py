"""From the frames of trials to results: a score a trial, and means over trials with intervals."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs
import numpy as np
import polars as pl

from xassay import explainers, specs
from xassay.metrics import describe
from xassay.metrics.causal import skill
from xassay.statistics import sample_interval, share_interval
from xassay.studies.maple.cell import MapleCell
from xassay.studies.maple.experiments import MODELS, SHAPES
from xassay.studies.published import Published, maple
from xassay.types import Failure


@attrs.frozen
class Score:
    """One metric of one trial.

    Attributes:
        model: what predicts or is explained.
        sigma: of the perturbations, where there are any.
        metric: its name.
        value: NaN where undefined or failed.
        n: rows that it rests on, those that failed included.
        n_failed: rows that failed.
        reason: why, for one of them.
        n_undefined: rows of trials whose score is undefined though not all of them failed.
    """

    model: str
    sigma: float | None
    metric: str
    value: float
    n: int
    n_failed: int = 0
    reason: str | None = None
    n_undefined: int = 0

    @property
    def failed(self) -> bool:
        """Whether no row is left."""
        return self.n_failed == self.n


def trial_scores(cell: MapleCell, frame: pl.DataFrame | None, failure: Failure | None) -> Iterator[Score]:
    """Everything that a cell measures; failed throughout where it has no frame."""
    for one in _scores(cell, frame, failure):
        undefined = np.isnan(one.value) and not one.failed
        yield attrs.evolve(one, n_undefined=one.n - one.n_failed) if undefined else one


def _scores(cell: MapleCell, frame: pl.DataFrame | None, failure: Failure | None) -> Iterator[Score]:
    if frame is None:
        reason = failure.reason if failure else None
        for model, sigma, metric in _measured(cell):
            yield Score(model, sigma, metric, float("nan"), cell.n_rows, cell.n_rows, reason)
    elif cell.experiment == "accuracy":
        yield from _accuracy(frame)
    elif cell.experiment == "patterns":
        yield Score("rf", None, "pattern_match", float(frame["verdict"][0] == SHAPES[cell.dataset]), 1)
    else:
        yield from _fidelity(cell, frame)


def _measured(cell: MapleCell) -> Iterator[tuple[str, float | None, str]]:
    """Model, sigma and metric of everything that a cell measures."""
    if cell.experiment == "accuracy":
        yield from ((model, None, "rmse") for model in MODELS)
        yield from ((model, None, "features_kept") for model in MODELS if model.startswith("MAPLE"))
    elif cell.explained is None:
        yield "rf", None, "pattern_match"
    else:
        for sigma in cell.sigma:
            for metric in ("causal_rmse", "causal_skill"):
                yield cell.explained.model, sigma, metric


def _accuracy(frame: pl.DataFrame) -> Iterator[Score]:
    for (model,), rows in frame.group_by("model", maintain_order=True):
        errors = (rows["prediction"] - rows["target"]).to_numpy()
        finite = np.isfinite(errors)
        rmse = float(np.sqrt(np.mean(errors[finite] ** 2))) if finite.any() else float("nan")
        n_failed = int((~finite).sum())
        reason = "the model's output is not finite" if n_failed else None
        yield Score(str(model), None, "rmse", rmse, len(rows), n_failed, reason)
        if (kept := rows["features_kept"][0]) is not None:
            yield Score(str(model), None, "features_kept", float(kept), len(rows))


def _fidelity(cell: MapleCell, frame: pl.DataFrame) -> Iterator[Score]:
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
            yield Score(cell.explained.model, sigma, metric, float(value[0]), len(rows), n_failed, reason)


def score(
    cells: Sequence[MapleCell], frames: Mapping[str, pl.DataFrame], failures: Mapping[str, Failure]
) -> Iterator[dict[str, Any]]:
    """Rows of results: every score of every trial, and its mean over the trials that have one.

    Args:
        cells: all cells of the run.
        frames: the per-row frames of the cells that finished, by cell key.
        failures: why the others did not, by cell key.
    """
    series: dict[tuple[Any, ...], list[tuple[MapleCell, Score]]] = {}
    for cell in sorted(cells, key=lambda cell: cell.trial):
        key = cell.key
        explainer = cell.explained.explainer if cell.explained else None
        for one in trial_scores(cell, frames.get(key), failures.get(key)):
            where = (cell.experiment, cell.dataset, one.model, explainer, one.sigma, one.metric)
            series.setdefault(where, []).append((cell, one))
    for trials in series.values():
        cell, first = trials[0]
        for own, one in trials:
            yield _row(own, one, None) | {"level": "trial", "trial": own.trial}
        mean, bounds = _mean([one for _, one in trials])
        figure = _published(cell, first)
        yield _row(cell, mean, bounds) | {
            "level": "dataset",
            "published": figure.value if figure else None,
            "published_source": figure.source if figure else None,
        }


def _mean(trials: Sequence[Score]) -> tuple[Score, tuple[float, float] | None]:
    """The mean over trials that have a value, and its interval where there are at least two."""
    values = np.array([one.value for one in trials])
    values = values[~np.isnan(values)]
    metric = describe(trials[0].metric)
    if metric.name == "pattern_match":
        bounds = share_interval(int(values.sum()), len(values)) if len(values) else None
    else:
        bounds = sample_interval(values, metric.low, metric.high)
    mean = attrs.evolve(
        trials[0],
        value=float(values.mean()) if len(values) else float("nan"),
        n=sum(one.n for one in trials),
        n_failed=sum(one.n_failed for one in trials),
        n_undefined=sum(one.n_undefined for one in trials),
        reason=next((one.reason for one in trials if one.reason), None),
    )
    return mean, bounds


def _published(cell: MapleCell, one: Score) -> Published | None:
    """The published figure, if it was measured on this very table, model and method without options."""
    if cell.table is None or not cell.table.pinned:
        return None
    explainer = None
    if cell.explained is not None:
        name, options = specs.split_options(cell.explained.explainer)
        if options:
            return None
        explainer = name
    return maple().get((one.metric, cell.dataset, one.model, explainer, one.sigma))


def _row(cell: MapleCell, one: Score, bounds: tuple[float, float] | None) -> dict[str, Any]:
    explained = cell.explained
    return {
        "study": "maple",
        "dataset": cell.dataset,
        "model": one.model,
        "profile": cell.profile,
        "seed": cell.seed,
        "explainer": explained.explainer if explained else None,
        "options": explained.options_text if explained else None,
        "engine": explainers.record(explained.source).engine if explained else None,
        "sigma": one.sigma,
        "metric": one.metric,
        "value": None if one.failed else one.value,
        "ci_low": bounds[0] if bounds else None,
        "ci_high": bounds[1] if bounds else None,
        "n": one.n,
        "n_failed": one.n_failed,
        "n_undefined": one.n_undefined,
        "status": "failed" if one.failed else "ok",
        "reason": one.reason,
    }
