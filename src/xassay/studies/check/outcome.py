"""From the frames of all cells to the tables of a check."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs
import polars as pl

from xassay import explainers, results
from xassay.estimates import Estimate
from xassay.results import Row
from xassay.statistics import RowWeights
from xassay.studies.check import estimate, series
from xassay.studies.check.answering import AnswerCell, FollowUpCell
from xassay.studies.check.cell import CheckCell
from xassay.studies.check.explained import Explained
from xassay.studies.check.explaining import ExplainCell
from xassay.studies.check.judgement import JUDGEMENTS
from xassay.studies.check.measures import Context, Measure
from xassay.studies.check.measures.placebo import placebo_columns
from xassay.studies.check.measures.planted import chance_of
from xassay.studies.check.series import Series
from xassay.studies.check.settings import CheckSettings
from xassay.studies.check.subject import Subject
from xassay.studies.check.variants import BASE, Variant
from xassay.studies.check.verdict import VERDICT, Found, Verdict, verdict
from xassay.studies.kit.done import Failures, Frames, lost
from xassay.types import Failure

FINDINGS: dict[str, type[pl.DataType]] = {
    "check": pl.String,
    "passed": pl.Boolean,
    "found": pl.String,
    "meaning": pl.String,
    "rows": pl.Int64,
}
"""Columns of ``sanity.parquet``."""

COSTS: dict[str, type[pl.DataType]] = {
    "explainer": pl.String,
    "seconds_a_row": pl.Float64,
    "rows": pl.Int64,
}
"""Columns of ``costs.parquet``, kept apart as time is not reproducible."""


@attrs.frozen(eq=False)
class Judged:
    """An explainer of the check.

    Attributes:
        name: as the user named it.
        source: the same with its file's path in full.
        record: its record; None for explanations that were given.
        options: every option in force.
        variants: the ways in which it is asked.
        cost: what it is expected to take.
    """

    name: str
    source: str
    record: explainers.ExplainerRecord | None
    options: dict[str, Any]
    variants: tuple[Variant, ...]
    cost: estimate.Cost

    @property
    def baseline(self) -> bool:
        """Whether it is there for comparison alone."""
        return self.record is not None and self.record.baseline


class Outcome:
    """What all cells of a check came to.

    Attributes:
        notices: what was cut for lack of time.

    Args:
        subject: the model and its data.
        settings: the check's.
        measures: what was measured.
        judged: the explainers.
        cells: all cells.
        frames: the frames of those that finished, by key.
        failures: why the others did not, by key.
    """

    def __init__(
        self,
        subject: Subject,
        settings: CheckSettings,
        measures: Sequence[Measure],
        judged: Sequence[Judged],
        cells: Sequence[CheckCell],
        frames: Frames,
        failures: Failures,
    ) -> None:
        self.notices: list[str] = []
        self._subject, self._settings, self._measures, self._judged = subject, settings, measures, judged
        self._cells, self._frames, self._failures = cells, frames, failures
        self._weights = RowWeights(settings.seed)
        self._memory: dict[Any, Any] = {}

    def tables(self) -> dict[str, pl.DataFrame]:
        """The tables to keep."""
        answers = self._answers()
        found: dict[str, list[Series]] = {}
        rows: list[Row] = []
        costs: list[dict[str, Any]] = []
        for judged in self._judged:
            context = self._context(judged, answers)
            found[judged.name] = [one for own in self._measures for one in own.series(context)]
            rows += self._rows(judged, found[judged.name], context)
            if context.base is not None:
                seconds = context.base.frame["explain_seconds"].mean()
                costs.append(
                    {"explainer": judged.name, "seconds_a_row": seconds, "rows": len(context.base.rows)}
                )
        rows += self._model_rows(answers)
        scores = results.frame(rows, results.RESULTS)
        tests = self._tests({one.name: found[one.name] for one in self._judged if not one.baseline})
        made = self._verdict(scores, tests, costs)
        judgements = [{name: getattr(one, name) for name in JUDGEMENTS} for one in made.judged]
        findings = [{name: getattr(one, name, None) for name in FINDINGS} for one in self._subject.findings]
        return {
            "results": scores,
            "tests": tests,
            "judgements": pl.DataFrame(judgements, schema=JUDGEMENTS, orient="row"),
            "verdict": pl.DataFrame(list(made.sentences), schema=VERDICT, orient="row"),
            "sanity": pl.DataFrame(findings, schema=FINDINGS, orient="row"),
            "costs": pl.DataFrame(costs, schema=COSTS, orient="row"),
        }

    def _verdict(self, scores: pl.DataFrame, tests: pl.DataFrame, costs: Sequence[dict[str, Any]]) -> Verdict:
        planted = self._subject.planted
        return verdict(
            Found(
                scores=scores,
                seconds={row["explainer"]: row["seconds_a_row"] for row in costs},
                findings=[attrs.asdict(one) for one in self._subject.findings],
                baselines=frozenset(one.name for one in self._judged if one.baseline),
                tests=tests,
                chance=None if planted is None or not planted.noticed.any() else chance_of(planted),
                chances={} if planted is None else {kind: planted.chance_of(kind) for kind in planted.kinds},
            )
        )

    def _tests(self, found: Mapping[str, Sequence[Series]]) -> pl.DataFrame:
        compared = [metric for own in self._measures for metric in own.compared]
        return results.frame(series.tests(found, compared, self._settings.seed), results.TESTS)

    def _answers(self) -> dict[str, pl.DataFrame]:
        """What the model answered to each measure."""
        found = {}
        for own in self._measures:
            cells = [c for c in self._cells if type(c) is AnswerCell and c.measure == own.name]
            whole = self._answered(cells)
            if whole is not None:
                found[own.name] = whole
        return found

    def _answered(self, cells: Sequence[CheckCell]) -> pl.DataFrame | None:
        """What the model answered; None where no cell finished, as there is nothing to score then."""
        return self._whole(cells) if any(cell.key in self._frames for cell in cells) else None

    def _unanswered(self, explainer: str) -> dict[str, Failure]:
        """Why the model was not asked for a measure, or gave no answer at all."""
        found: dict[str, Failure] = {}
        for own in self._measures:
            cells = [
                cell
                for cell in self._cells
                if isinstance(cell, AnswerCell)
                and cell.measure == own.name
                and (not isinstance(cell, FollowUpCell) or cell.explainer == explainer)
            ]
            reasons = lost(cells, self._failures)
            if reasons and len(reasons) == len(cells):
                found[own.name] = reasons[0]
        return found

    def _context(self, judged: Judged, answers: Mapping[str, pl.DataFrame]) -> Context:
        own = [c for c in self._cells if isinstance(c, ExplainCell) and c.explainer == judged.name]
        p = self._subject.X.shape[1]
        explained, options, samples = {}, {}, {}
        for variant in judged.variants:
            cells = [cell for cell in own if cell.variant == variant]
            if not cells:
                continue
            options[variant] = cells[0].options_text
            if judged.record is not None and judged.record.samples is not None:
                samples[variant] = int(cells[0].options[judged.record.samples.option])
            frame = self._whole(cells)
            if frame is not None:
                extra = len(placebo_columns(p, self._settings.seed)) if variant.name == "placebo" else 0
                explained[variant] = Explained.of(frame, p + extra)
        follow_ups = {}
        for measure in self._measures:
            mine = [
                cell
                for cell in self._cells
                if isinstance(cell, FollowUpCell)
                and cell.explainer == judged.name
                and cell.measure == measure.name
            ]
            frame = self._answered(mine)
            if frame is not None:
                follow_ups[measure.name] = frame
        return Context(
            self._subject,
            self._settings,
            answers,
            explained,
            options,
            judged.record,
            follow_ups,
            self._memory,
            samples,
        )

    def _whole(self, cells: Sequence[CheckCell]) -> pl.DataFrame | None:
        """The rows of some cells: those that were lost are failed rows, those that were cut are none.

        None where nothing was done at all.
        """
        parts, cut = [], 0
        for cell in cells:
            failure = self._failures.get(cell.key)
            if failure is None:
                if cell.key in self._frames:
                    parts.append(self._frames[cell.key])
            elif failure.status != "skipped":
                parts.append(cell.lost(failure.reason))
            else:
                cut += cell.stop - cell.start
        if cut and parts:
            label = cells[0].label.rpartition("-")[0]
            self.notices.append(f"time was up: {label} is short of {cut} rows")
        return pl.concat(parts, how="diagonal_relaxed") if parts else None

    def _rows(self, judged: Judged, found: Sequence[Series], context: Context) -> Iterator[Row]:
        """An explainer's scores; where a measure that asked it has none, that it was not measured."""
        engine = judged.record.engine if judged.record else "user"
        options = context.options.get(BASE)
        failed = {
            cell.variant: self._failures[cell.key]
            for cell in self._cells
            if isinstance(cell, ExplainCell) and cell.explainer == judged.name and cell.key in self._failures
        }
        status = next((one.status for one in failed.values()), "failed")
        for one in found:
            row = self._scored(one, explainer=judged.name, engine=engine)
            yield attrs.evolve(
                row,
                options=row.options or options,
                samples=row.samples or context.samples.get(BASE),
                status="ok" if row.value is not None else status,
            )
        missing = self._unanswered(judged.name)
        for variant, failure in failed.items():
            if failure.status == "skipped":
                missing.setdefault("fidelity" if variant == BASE else variant.measure, failure)
        scored = {one.metric for one in found}
        for own in self._measures:
            for metric in own.shown if own.name in missing else ():
                if metric not in scored:
                    asked = {"explainer": judged.name, "engine": engine, "options": options}
                    row = self._row(Estimate(None), level="model", metric=metric, **asked)
                    yield attrs.evolve(row, **attrs.asdict(missing[own.name]))

    def _row(self, found: Estimate, **columns: Any) -> Row:
        method, seed = self._subject.score.method, self._settings.seed
        return Row(study="check", model=method, seed=seed, profile="xassay", **found.columns, **columns)

    def _scored(self, one: Series, **columns: Any) -> Row:
        names = ("level", "planted", "options", "samples", "sigma", "metric")
        asked = {name: getattr(one, name) for name in names}
        return self._row(series.value_of(one, self._weights), **asked, **columns)

    def _model_rows(self, answers: Mapping[str, pl.DataFrame]) -> Iterator[Row]:
        """Scores of the model itself."""
        for own in self._measures:
            for one in own.of_model(self._subject, self._settings, answers.get(own.name)):
                yield self._scored(one)
