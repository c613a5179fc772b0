"""The check as a study: cells that ask the model, cells that ask explainers, and what they come to."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import polars as pl

from xassay import explainers, results, specs
from xassay.errors import InputError
from xassay.processes import Shared
from xassay.studies.check import estimate, outcome
from xassay.studies.check.answering import AnswerCell, FollowUpCell
from xassay.studies.check.cell import CheckCell
from xassay.studies.check.explained import Explained
from xassay.studies.check.explaining import ExplainCell, record_of
from xassay.studies.check.measures import Measure, measures
from xassay.studies.check.measures.base import chunks
from xassay.studies.check.measures.fidelity import contributed_of
from xassay.studies.check.outcome import Judged
from xassay.studies.check.settings import DEFAULT_EXPLAINERS, GIVEN, YARDSTICKS, CheckSettings
from xassay.studies.check.subject import Subject
from xassay.studies.check.variants import BASE, CHUNK_ROWS, Variant, resolved
from xassay.studies.kit.done import Failures, Frames


class CheckStudy:
    """A check of one model on one table.

    Attributes:
        name: ``check``.
        settings: what was asked for.
        rows: how many rows are explained.
        seconds: what the run is expected to take.
        cells: chunks of rows, of the model for each measure and of each explainer in each variant.
        notices: what a reader must know of how it is run.

    Args:
        subject: the model and its data.
        settings: what is asked for.
        jobs: processes that will work, for the estimate.
        about: what stands in the plan of model and data.
    """

    name = "check"
    tables = ("results", "tests", "judgements", "verdict", "sanity", "costs")

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
        if not isinstance(jobs, int) or jobs < 1:
            raise InputError(f"jobs must be a whole number of at least 1, not {jobs!r}")
        if jobs > 1 or settings.limit is not None:
            _ = self._shared.content  # what cannot be sent to another process is told before the run
        self._about = dict(about or {})
        self._measures = [own for name, own in measures().items() if name in (*settings.measures, "cost")]
        self._trials = estimate.Trials(subject, settings)
        self._judged = [self._judge(name) for name in self._names()]
        self._trials.refuse_if_none_works()
        self._a_row = estimate.of_model_row(subject, settings)
        self._jobs = jobs
        seconds_of = {
            rows: sum(cell.cost for cell in self._cells(rows)) + self._later(rows)
            for rows in estimate.row_choices(len(subject.X))
        }
        self._take(estimate.fitting_rows(seconds_of, settings.budget, jobs))

    def _take(self, rows: int) -> None:
        """Explain so many rows."""
        self.rows = rows
        self.cells: Sequence[CheckCell] = list(self._cells(rows))
        self.later = self._later(rows)
        self.seconds = (sum(cell.cost for cell in self.cells) + self.later) / self._jobs
        self.notices: Sequence[str] = [*self._subject.notices, *self._notices()]

    def continue_in(self, folder: Path) -> None:
        """Explain as many rows as a run in this folder set out to: another estimate must not change it.

        Without a budget nothing is estimated: other rows are other settings, which the run refuses.
        """
        if self.settings.budget is None or not (folder / "plan.json").is_file():
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
        planted = self._subject.planted is not None
        yardsticks = tuple(name for name in YARDSTICKS if planted and name not in chosen)
        return (*given, *chosen, *yardsticks)

    def _judge(self, name: str) -> Judged:
        if name == GIVEN:
            return Judged(name, name, None, {}, (BASE,), estimate.Cost(0.0, 0.0))
        at_hand = name in self._subject.functions
        source = name if at_hand else specs.absolute(name)
        record = record_of(self._subject, name, source)
        options = {} if at_hand else self.settings.options_of(name)
        options = resolved(record, options, self._subject.X.shape[1])
        own = (
            variant
            for measure in self._measures
            for variant in measure.variants(self._subject, self.settings, record, options)
        )
        cost = self._trials.of_explainer(name, record, options)
        return Judged(name, source, record, options, (BASE, *own), cost)

    def _cells(self, rows: int) -> Iterator[CheckCell]:
        # the key does not hold the number of rows: what is explained counts, not what else is
        common: dict[str, Any] = {"subject": self._shared, "settings": self.settings}
        for measure in self._measures:
            if measure.asks:
                asked = min(rows, measure.most_rows or rows)
                a_row = self._a_row * measure.model_rows(self._subject, self.settings)
                for start, stop in chunks(asked, asked if measure.whole else CHUNK_ROWS):
                    seconds = a_row * (stop - start)
                    yield AnswerCell(**common, start=start, stop=stop, seconds=seconds, measure=measure.name)
        for judged in self._judged:
            for variant in judged.variants:
                yield from self._explaining(judged, variant, rows, common)

    def _explaining(
        self, judged: Judged, variant: Variant, rows: int, common: dict[str, Any]
    ) -> Iterator[ExplainCell]:
        """The cells of one explainer in one variant."""
        measure = measures().get(variant.measure)
        n = rows if measure is None else measure.n_rows(self._subject, variant, rows)
        options, factor = judged.options, 1.0
        if measure is not None and judged.record is not None:
            options = measure.options(judged.record, options, variant, self._subject.X.shape[1])
            factor = variant.number if variant.name == "budget" else 1.0
        # one fit of a surrogate explains all rows
        whole = judged.record is not None and judged.record.surrogate
        for start, stop in chunks(n, n if whole else CHUNK_ROWS):
            yield ExplainCell(
                **common,
                start=start,
                stop=stop,
                seconds=judged.cost.start + (stop - start) * judged.cost.row * factor,
                explainer=judged.name,
                source=judged.source,
                code=judged.record.version if judged.record else "",
                options=options,
                variant=variant,
            )

    def _later(self, rows: int) -> float:
        """Seconds of the cells that follow from explanations."""
        return sum(
            self._a_row * own.model_rows(self._subject, self.settings) * min(rows, own.most_rows or rows)
            for own in self._measures
            if own.follows
        )

    def follow_ups(self, frames: Frames, failures: Failures) -> Sequence[CheckCell]:
        """What explanations make it necessary to ask of the model."""
        own = [measure for measure in self._measures if measure.follows]
        return [
            cell
            for judged in self._judged
            for measure in own
            for cell in self._following(judged, measure, frames, failures)
        ]

    def _following(
        self, judged: Judged, measure: Measure, frames: Frames, failures: Failures
    ) -> Iterator[FollowUpCell]:
        p = self._subject.X.shape[1]
        a_row = self._a_row * measure.model_rows(self._subject, self.settings) / len(self._judged)
        left = measure.most_rows or self.rows
        for cell in self.cells:
            if not isinstance(cell, ExplainCell) or cell.explainer != judged.name or cell.variant != BASE:
                continue
            rows = min(cell.stop - cell.start, left)
            if cell.key in failures or not rows:
                continue
            explained = Explained.of(frames[cell.key].head(rows), p)
            left -= rows
            yield FollowUpCell(
                subject=self._shared,
                settings=self.settings,
                start=cell.start,
                stop=cell.start + rows,
                seconds=a_row * rows,
                measure=measure.name,
                explainer=judged.name,
                contributed=contributed_of(self._subject, explained),
            )

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

    def score(self, frames: Frames, failures: Failures) -> dict[str, pl.DataFrame]:
        """The tables ``results``, ``tests``, ``judgements``, ``verdict``, ``sanity`` and ``costs``."""
        cells = [*self.cells, *self.follow_ups(frames, failures)]
        made = outcome.Outcome(
            self._subject, self.settings, self._measures, self._judged, cells, frames, failures
        )
        tables = made.tables()
        self.notices = [*self.notices, *made.notices]
        return tables
