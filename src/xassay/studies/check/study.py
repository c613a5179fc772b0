"""The check as a study: cells that ask the model, cells that ask explainers, and what they come to."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import polars as pl

from xassay import explainers, results, specs
from xassay.errors import InputError
from xassay.statistics import share_interval
from xassay.studies.check import estimate, scoring
from xassay.studies.check.cell import CheckCell
from xassay.studies.check.explaining import ExplainCell, options_of_variant, record_of
from xassay.studies.check.measures import Series, series
from xassay.studies.check.settings import DEFAULT_EXPLAINERS, GIVEN, CheckSettings
from xassay.studies.check.shared import Shared
from xassay.studies.check.subject import Subject
from xassay.studies.check.truth import TruthCell
from xassay.studies.check.variants import BASE, CHUNK_ROWS, Variant, n_rows, resolved, variants
from xassay.studies.check.verdict import verdict
from xassay.types import Failure

FINDINGS: dict[str, type[pl.DataType]] = {
    "check": pl.String,
    "passed": pl.Boolean,
    "found": pl.String,
    "meaning": pl.String,
}
"""Columns of ``sanity.parquet``."""

VERDICT: dict[str, type[pl.DataType]] = {"about": pl.String, "text": pl.String}
"""Columns of ``verdict.parquet``: sentences, and the explainer each is about."""

COSTS: dict[str, type[pl.DataType]] = {
    "explainer": pl.String,
    "seconds_a_row": pl.Float64,
    "rows": pl.Int64,
}
"""Columns of ``costs.parquet``, kept apart as time is not reproducible."""


@attrs.frozen(eq=False)
class Judged:
    """An explainer of the check."""

    name: str
    source: str
    record: explainers.ExplainerRecord | None
    options: dict[str, Any]
    variants: tuple[Variant, ...]
    cost: estimate.Cost


class CheckStudy:
    """A check of one model on one table.

    Attributes:
        name: ``check``.
        settings: what was asked for.
        rows: how many rows are explained.
        seconds: what the run is expected to take.
        cells: chunks of rows, of the model and of each explainer in each variant.
        notices: what a reader must know of how it is run.

    Args:
        subject: the model and its data.
        settings: what is asked for.
        jobs: processes that will work, for the estimate.
        about: what stands in the plan of model and data.
    """

    name = "check"

    def __init__(
        self,
        subject: Subject,
        settings: CheckSettings,
        *,
        jobs: int = 1,
        about: Mapping[str, Any] | None = None,
    ) -> None:
        self.settings = settings
        self._subject = subject
        self._shared = Shared(subject, (subject.score.answer, *subject.functions.values()))
        if jobs < 1:
            raise InputError(f"jobs must be at least 1, not {jobs}")
        if jobs > 1:
            self._shared.write()  # what cannot be sent to other processes is told before they start
        self._about = dict(about or {})
        self._trials = estimate.Trials(subject, settings)
        self._judged = [self._judge(name) for name in self._names()]
        self._trials.refuse_if_none_works()
        self._a_row = estimate.of_model(subject, settings)
        self._jobs = jobs
        seconds_of = {
            rows: sum(cell.cost for cell in self._cells(rows))
            for rows in estimate.row_choices(len(subject.X))
        }
        self._take(estimate.fitting_rows(seconds_of, settings.budget, jobs))

    def _take(self, rows: int) -> None:
        """Explain so many rows."""
        self.rows = rows
        self.cells: Sequence[CheckCell] = list(self._cells(rows))
        self.seconds = sum(cell.cost for cell in self.cells) / self._jobs
        self.notices: Sequence[str] = [*self._subject.notices, *self._notices()]

    def continue_in(self, folder: Path) -> None:
        """Explain as many rows as a run in this folder set out to: another estimate must not change it."""
        if not (folder / "plan.json").is_file():
            return
        rows = results.read_plan(folder / "plan.json").get("rows")
        if isinstance(rows, int) and 0 < rows <= len(self._subject.X):
            self._take(rows)

    def _names(self) -> tuple[str, ...]:
        given = (GIVEN,) if self._subject.given is not None and GIVEN not in self.settings.explainers else ()
        chosen = self.settings.explainers
        if chosen == DEFAULT_EXPLAINERS and any(column.missing for column in self._subject.space.columns):
            # nobody asked for those that take no missing values
            chosen = tuple(name for name in chosen if not explainers.record(name).needs_finite)
        return (*given, *chosen)

    def _judge(self, name: str) -> Judged:
        if name == GIVEN:
            return Judged(name, name, None, {}, (BASE,), estimate.Cost(0.0, 0.0))
        at_hand = name in self._subject.functions
        source = name if at_hand else specs.absolute(name)
        record = record_of(self._subject, name, source)
        options = {} if at_hand else self.settings.options_of(name)
        options = resolved(record, options, self._subject.X.shape[1])
        own = tuple(variants(self._subject, self.settings, record, options))
        cost = self._trials.of_explainer(name, record, options)
        return Judged(name, source, record, options, own, cost)

    def _cells(self, rows: int) -> Iterator[CheckCell]:
        settings = attrs.evolve(self.settings, rows=len(self._subject.X))
        common: dict[str, Any] = {"subject": self._shared, "settings": settings}
        for start, stop in _chunks(rows):
            yield TruthCell(**common, start=start, stop=stop, seconds=self._a_row * (stop - start))
        for judged in self._judged:
            for variant in judged.variants:
                for start, stop in _chunks(n_rows(self._subject, variant, rows)):
                    factor = variant.number if variant.name == "budget" else 1.0
                    yield ExplainCell(
                        **common,
                        start=start,
                        stop=stop,
                        seconds=judged.cost.start + (stop - start) * judged.cost.row * factor,
                        explainer=judged.name,
                        source=judged.source,
                        code=judged.record.version if judged.record else "",
                        options=self._options(judged, variant),
                        variant=variant,
                    )

    def _options(self, judged: Judged, variant: Variant) -> dict[str, Any]:
        if judged.record is None:
            return judged.options
        return options_of_variant(judged.record, judged.options, variant, self._subject.X.shape[1])

    def _notices(self) -> Iterator[str]:
        asked_for = len(self._subject.X)
        if self.rows < asked_for:
            yield (
                f"a budget of {self.settings.budget:g} s: {self.rows} of {asked_for} rows are explained, the "
                "rest is cut"
            )
        if (budget := self.settings.budget) is not None and self.seconds > budget:
            yield (
                f"even {self.rows} rows are expected to take {self.seconds:.0f} s: what does not fit into "
                f"{budget:g} s is skipped, and named"
            )
        left_out = [name for name in self.settings.explainers if name not in self._names()]
        if left_out:
            yield f"{', '.join(left_out)} take no missing values, and are left out; ask for them by name"
        for name, reason in self._trials.failed.items():
            yield f"{name} failed on the row that it was tried on: {reason}"
        local = [judged.name for judged in self._judged if judged.record and judged.record.surrogate]
        if local and self._subject.space.positions("category"):
            yield f"{', '.join(local)} reads the codes of categories as numbers"

    def plan(self) -> dict[str, Any]:
        """The settings that decide the results, in an order that does not matter."""
        asked_for = attrs.asdict(self.settings)
        for name in ("explainers", "measures", "sigma"):
            asked_for[name] = sorted(asked_for[name])
        space = self._subject.space
        columns = [{"name": column.name, "kind": column.kind} for column in space.columns]
        return {
            "study": self.name,
            "settings": {**asked_for, **self._about, "score": self._subject.score.method},
            "columns": columns,
            "label": self._subject.score.label,
            "rows": self.rows,
            "background": len(self._subject.background),
        }

    def score(
        self, frames: Mapping[str, pl.DataFrame], failures: Mapping[str, Failure]
    ) -> dict[str, pl.DataFrame]:
        """The tables ``results``, ``tests``, ``sanity``, ``verdict`` and ``costs``.

        Args:
            frames: the frames of the cells that finished, by cell key.
            failures: why the others did not, by cell key.
        """
        truth_cells = [cell for cell in self.cells if isinstance(cell, TruthCell)]
        truth = self._whole(truth_cells, frames, failures)
        statuses = {failure.reason: failure.status for failure in failures.values()}
        draws = scoring.Draws(self.settings.seed)
        compared: dict[str, list[Series]] = {}
        rows: list[dict[str, Any]] = []
        costs: list[dict[str, Any]] = []
        for judged in self._judged:
            own = [c for c in self.cells if isinstance(c, ExplainCell) and c.explainer == judged.name]
            options = {cell.variant: cell.options_text for cell in own}
            parts = {v: self._whole([c for c in own if c.variant == v], frames, failures) for v in options}
            whole = {variant: frame for variant, frame in parts.items() if frame is not None}
            found: list[Series] = []
            if truth is not None:
                surrogate = judged.record is not None and judged.record.surrogate
                found = list(series(self._subject, self.settings, truth, whole, options, surrogate=surrogate))
            rows += self._rows(judged, found, draws, statuses, options[BASE])
            if judged.record is None or not judged.record.baseline:
                compared[judged.name] = found
            if BASE in whole:
                costs.append(_cost(judged.name, whole[BASE]))
        rows += self._noticed()
        table = results.frame(rows, results.RESULTS)
        findings = [attrs.asdict(finding) for finding in self._subject.findings]
        costs_table = pl.DataFrame(costs, schema=COSTS, orient="row")
        chance = None if self._subject.planted is None else self._subject.planted.chance
        said = verdict(table, costs_table, findings, self._baselines(), chance)
        return {
            "results": table,
            "tests": results.frame(scoring.tests(compared), results.TESTS),
            "sanity": pl.DataFrame(findings, schema=FINDINGS, orient="row"),
            "verdict": pl.DataFrame(said, schema=VERDICT, orient="row"),
            "costs": costs_table,
        }

    def _whole(
        self, cells: Sequence[CheckCell], frames: Mapping[str, pl.DataFrame], failures: Mapping[str, Failure]
    ) -> pl.DataFrame | None:
        """The rows of some cells: those that were lost are failed rows, those that were cut are none.

        None where nothing was done at all.
        """
        parts, cut = [], 0
        for cell in cells:
            failure = failures.get(cell.key)
            if failure is None:
                parts.append(frames[cell.key])
            elif failure.status != "skipped":
                parts.append(cell.lost(failure.reason))
            else:
                cut += cell.stop - cell.start
        if cut and parts:
            said = f"time was up: {cells[0].label.rpartition('-')[0]} is short of {cut} rows"
            self.notices = [*self.notices, said]
        return pl.concat(parts) if parts else None

    def _baselines(self) -> frozenset[str]:
        return frozenset(j.name for j in self._judged if j.record is not None and j.record.baseline)

    def _rows(
        self,
        judged: Judged,
        found: Sequence[Series],
        draws: scoring.Draws,
        statuses: Mapping[str, str],
        base_options: str,
    ) -> Iterator[dict[str, Any]]:
        """An explainer's scores; where a measure has none, that it was skipped."""
        shared = {
            "study": self.name,
            "model": self._subject.score.method,
            "seed": self.settings.seed,
            "profile": "xassay",
            "explainer": judged.name,
            "engine": judged.record.engine if judged.record else "user",
        }
        for one in found:
            value = scoring.value_of(one, draws)
            yield {
                **shared,
                "level": one.level,
                "fault": one.fault,
                "options": base_options if one.options is None else one.options,
                "sigma": one.sigma,
                "metric": one.metric,
                "value": value.value,
                "ci_low": value.low,
                "ci_high": value.high,
                "n": value.n,
                "n_failed": value.n_failed,
                "n_undefined": value.n_undefined,
                "status": "ok" if value.value is not None else statuses.get(one.reason or "", "failed"),
                "reason": one.reason,
            }
        for metric in _missing(judged, {one.metric for one in found}):
            yield {
                **shared,
                "level": "model",
                "options": base_options,
                "metric": metric,
                "n": 0,
                "n_failed": 0,
                "n_undefined": 0,
                "status": "skipped",
                "reason": "the run's time was up",
            }

    def _noticed(self) -> Iterator[dict[str, Any]]:
        """How many of the planted rows the detector notices at all."""
        planted = self._subject.planted
        if planted is None:
            return
        how = np.array(planted.how)
        for fault in (None, *sorted(set(planted.how))):
            chosen = planted.noticed if fault is None else planted.noticed[how == fault]
            low, high = share_interval(int(chosen.sum()), len(chosen))
            yield {
                "study": self.name,
                "level": "model",
                "model": self._subject.score.method,
                "seed": self.settings.seed,
                "profile": "xassay",
                "fault": fault,
                "metric": "planted_noticed",
                "value": float(chosen.mean()),
                "ci_low": low,
                "ci_high": high,
                "n": len(chosen),
                "n_failed": 0,
                "n_undefined": 0,
                "status": "ok",
            }


_METRICS = {
    "base": ("masking_rmse", "masking_skill"),
    "placebo": ("placebo_share", "noise_share", "ela"),
    "planted": ("mrr", "map", "mr_precision"),
    "seed": ("seed_agreement",),
    "near": ("neighbour_agreement",),
    "background": ("background_agreement",),
}
"""What each variant is for, so that its absence can be told."""


def _missing(judged: Judged, scored: set[str]) -> Iterator[str]:
    for name in dict.fromkeys(variant.name for variant in judged.variants):
        yield from (metric for metric in _METRICS.get(name, ()) if metric not in scored)


def _chunks(rows: int) -> list[tuple[int, int]]:
    return [(start, min(start + CHUNK_ROWS, rows)) for start in range(0, rows, CHUNK_ROWS)]


def _cost(name: str, frame: pl.DataFrame) -> dict[str, Any]:
    return {"explainer": name, "seconds_a_row": frame["explain_seconds"].mean(), "rows": len(frame)}
