"""The published measures along an explanation's order of columns: deletion, insertion and their kin."""

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import polars as pl

from xassay import metrics, specs
from xassay.metrics.calls import scores as scores_of
from xassay.metrics.orders import path_grid, prefix_sets
from xassay.studies.check.explained import joined, lists
from xassay.studies.check.measures.base import Context, Measure
from xassay.studies.check.series import Series
from xassay.studies.check.settings import CheckSettings
from xassay.studies.check.subject import Subject
from xassay.types import BoolArray, FloatArray


class Removal(Measure):
    """Columns are replaced, or kept, in the order of their attributions."""

    name: ClassVar[str] = "removal"
    question: ClassVar[str] = "What happens when their top columns are replaced, or kept?"
    how: ClassVar[str] = (
        "The columns with the largest attributions are replaced by the background's values, or all others "
        "are. Comprehensiveness, sufficiency, deletion and insertion areas take attributions and changes "
        "in the direction in which the row's score departs from the background's; PGI and PGU take "
        "absolute values. All are in units of the score. They see the order of the columns alone, not the "
        "values."
    )
    summary: ClassVar[str] = (
        "the columns with the largest attributions are replaced, or kept: comprehensiveness, sufficiency, "
        "deletion and insertion areas, PGI and PGU"
    )
    shown: ClassVar[tuple[str, ...]] = (
        "comprehensiveness",
        "sufficiency",
        "deletion_area",
        "insertion_area",
        "pgi",
        "pgu",
    )
    follows: ClassVar[bool] = True
    most_rows: ClassVar[int | None] = 40

    def model_rows(self, subject: Subject, settings: CheckSettings) -> float:
        """Sets by two orders, with their complements, for each explainer."""
        share = min(1.0, (self.most_rows or 0) / max(len(subject.X), 1))
        grid = len(path_grid(subject.X.shape[1]))
        return share * 4.0 * grid * len(subject.background) * len(settings.explainers)

    def follow(
        self, subject: Subject, settings: CheckSettings, part: slice, contributed: FloatArray
    ) -> pl.DataFrame:
        """Changes along the orders of some explanations.

        Returns:
            ``row``, ``total``, and for the prefixes of each order, one number a point of the grid:
            ``removed`` and ``kept`` (signed, by signed attributions), ``changed`` and ``others``
            (absolute, by absolute attributions); ``error``.
        """
        frames = []
        for k in range(part.start, part.stop):
            values = contributed[k - part.start : k - part.start + 1]
            frames.append(self._row(subject, settings, k, values))
        return pl.concat(frames)

    def _row(self, subject: Subject, settings: CheckSettings, k: int, values: FloatArray) -> pl.DataFrame:
        row, ids = subject.X[k : k + 1], subject.row_ids[k : k + 1]
        grid = path_grid(subject.X.shape[1])
        found: dict[str, Any] = dict.fromkeys(
            ("removed", "kept", "changed", "others"), np.full(len(grid), np.nan)
        )
        error, total = None, np.nan
        try:
            score = float(subject.predict(row)[0])
            total = float((score - subject.predict(subject.background)).mean())
            signed = prefix_sets(values, grid, ids, settings.seed, direction=np.array([total]))[0]
            absolute = prefix_sets(values, grid, ids, settings.seed)[0]
            found["removed"], _ = _changes(subject, row, score, signed)
            found["kept"], _ = _changes(subject, row, score, ~signed)
            _, found["changed"] = _changes(subject, row, score, absolute)
            _, found["others"] = _changes(subject, row, score, ~absolute)
        except Exception as problem:  # noqa: BLE001 - whatever it raises fails this row only
            error = specs.brief(problem)
        columns = {
            name: pl.Series([found[name].tolist()], dtype=pl.List(pl.Float64))
            for name in ("removed", "kept", "changed", "others")
        }
        return pl.DataFrame(
            {"row": ids, "total": [total], **columns, "error": pl.Series([error], dtype=pl.String)}
        )

    def series(self, context: Context) -> Iterator[Series]:
        """The six scores."""
        base, answers = context.base, context.follow_ups.get(self.name)
        grid = path_grid(context.n_features)
        if base is None or answers is None or not len(grid):
            return
        explained = base.only(answers["row"].to_numpy())
        known = joined(answers, explained.rows)
        failed = explained.failed & known["error"].is_null().to_numpy()
        reason = explained.reason or next(iter(known["error"].drop_nulls().to_list()), None)
        parts = {name: lists(known[name], len(grid)) for name in ("removed", "kept", "changed", "others")}
        total, p = known["total"].fill_null(np.nan).to_numpy(), context.n_features
        scores = {
            "comprehensiveness": metrics.comprehensiveness(parts["removed"], total),
            "sufficiency": metrics.sufficiency(parts["kept"], total),
            "deletion_area": metrics.deletion_area(parts["removed"], total, grid, p),
            "insertion_area": metrics.insertion_area(parts["kept"], total, grid, p),
            "pgi": metrics.pgi(parts["changed"]),
            "pgu": metrics.pgu(parts["others"]),
        }
        for metric, values in scores.items():
            yield Series(metric, (values,), explained.rows, "mean", failed, reason)


def _changes(
    subject: Subject, row: FloatArray, score: float, sets: BoolArray
) -> tuple[FloatArray, FloatArray]:
    """Mean and mean absolute change of the score where the columns of each set are the background's."""
    mixed = np.where(sets[:, None], subject.background, row)
    found = scores_of(subject.predict, mixed.reshape(-1, row.shape[1])).reshape(mixed.shape[:2])
    apart = score - found
    return apart.mean(axis=1), np.abs(apart).mean(axis=1)
