"""Rows made anomalous through known columns: does an explanation rank these first?"""

from collections.abc import Iterator
from typing import Any, ClassVar

import attrs
import numpy as np
import polars as pl

from xassay import metrics
from xassay.explainers import ExplainerRecord
from xassay.metrics import reciprocal_rank
from xassay.studies.check.measures.base import Context, Measure, Scores
from xassay.studies.check.planting import Planted as PlantedRows
from xassay.studies.check.series import Series
from xassay.studies.check.settings import CheckSettings
from xassay.studies.check.subject import Subject
from xassay.studies.check.thresholds import LEAST_ROWS
from xassay.studies.check.variants import Asked, Variant, as_the_user
from xassay.types import FloatArray

_RANKS = {
    "mrr": metrics.reciprocal_rank,
    "map": metrics.average_precision,
    "mr_precision": metrics.r_precision,
}


class Planted(Measure):
    """Ranks of planted causes of anomalies."""

    name: ClassVar[str] = "planted"
    question: ClassVar[str] = "Do they find planted causes?"
    how: ClassVar[str] = (
        "Ordinary rows are made anomalous through known columns, a kind at a time: moved out of range; set "
        "to a "
        "value that is typical alone and wrong given the others; several columns together; a swapped pair. A "
        "column that could be wrong in the place of a changed one counts as a cause too. Columns are "
        "ranked by what pushes the anomaly score up, and the changed columns should come first. "
        "Only rows that the detector notices are explained. Chance is the score of a random order; zscore is "
        "the order of the columns by their distance from the mean, which needs no model. Columns related to "
        "changed ones may rightly appear."
    )
    summary: ClassVar[str] = (
        "ordinary rows are made anomalous through known columns, out of range and within it; those that the "
        "detector notices (`planted_noticed`) are explained, and columns ranked by what pushes the score up"
    )
    shown: ClassVar[tuple[str, ...]] = ("mrr", "map", "mr_precision")
    main: ClassVar[tuple[str, ...]] = ("mrr",)
    compared: ClassVar[tuple[str, ...]] = ("map",)
    of_the_model: ClassVar[tuple[str, ...]] = ("planted_noticed",)
    kinds: ClassVar[tuple[str, ...]] = ("anomaly",)
    most_rows: ClassVar[int | None] = 60

    def variants(
        self, subject: Subject, settings: CheckSettings, record: ExplainerRecord, options: dict[str, Any]
    ) -> Iterator[Variant]:
        """The planted rows that the detector notices."""
        del settings, record, options
        if subject.planted is not None and subject.planted.noticed.any():
            yield Variant("planted", measure=self.name, turn=1)

    def n_rows(self, subject: Subject, variant: Variant, rows: int) -> int:
        """Noticed rows, not more than `most_rows`."""
        del variant
        noticed = 0 if subject.planted is None else int(subject.planted.noticed.sum())
        return min(noticed, rows, self.most_rows or rows)

    def asked(
        self,
        subject: Subject,
        settings: CheckSettings,
        record: ExplainerRecord,
        variant: Variant,
        part: slice,
    ) -> Asked:
        """Planted rows."""
        del variant
        assert subject.planted is not None  # noqa: S101 - else there is no such variant
        rows = noticed_rows(subject.planted)[part]
        base = as_the_user(subject, settings, record, slice(0, 0))
        return attrs.evolve(base, X=subject.planted.rows[rows], row_ids=rows)

    def series(self, context: Context) -> Iterator[Series]:
        """Ranks, over all planted rows and a way of planting at a time."""
        own, planted = context.of("planted"), context.subject.planted
        if not own or planted is None:
            return
        explained = own[0][1]
        contributed = explained.contributed(planted.rows[explained.rows], context.subject.background)
        yield from ranked(planted, explained.rows, contributed, explained.failed, explained.reason)

    def of_model(
        self, subject: Subject, settings: CheckSettings, answers: pl.DataFrame | None
    ) -> Iterator[Series]:
        """How many of the planted rows the detector notices at all."""
        del settings, answers
        planted = subject.planted
        if planted is None:
            return
        how, rows = np.array(planted.how), np.arange(len(planted.rows))
        for kind in (None, *sorted(set(planted.how))):
            chosen = rows if kind is None else rows[how == kind]
            noticed = planted.noticed[chosen].astype(np.float64)
            nothing = np.zeros(len(chosen), dtype=np.bool_)
            yield Series("planted_noticed", (noticed,), chosen, "mean", nothing, planted=kind)

    def sentences(self, scores: Scores) -> Iterator[str]:
        """At which rank a cause is found."""
        found = scores("mrr")
        if found and scores.n("mrr") >= LEAST_ROWS:
            yield f"puts the first planted cause at about rank {1 / found:.1f}"


def noticed_rows(planted: PlantedRows) -> Any:
    """Which planted rows are explained, in their random order."""
    return np.flatnonzero(planted.noticed)


def ranked(
    planted: PlantedRows, rows: Any, contributed: FloatArray, failed: Any, reason: str | None = None
) -> Iterator[Series]:
    """MRR, MAP and MR-Precision of planted causes, by what pushes the score up."""
    signed, how = metrics.towards(contributed), np.array(planted.how)[rows]
    for metric, score in _RANKS.items():
        values = score(signed, planted.truth[rows])
        yield Series(metric, (values,), rows, "mean", failed, reason)
        for kind in sorted(set(planted.how)):
            chosen = how == kind
            if chosen.any():
                yield Series(
                    metric, (values[chosen],), rows[chosen], "mean", failed[chosen], reason, planted=kind
                )


def chance_of(planted: PlantedRows) -> float:
    """Reciprocal rank of the first planted cause in a random order, over noticed rows."""
    truth = planted.truth[planted.noticed] if planted.noticed.any() else planted.truth
    return float(reciprocal_rank(np.zeros(truth.shape), truth).mean())
