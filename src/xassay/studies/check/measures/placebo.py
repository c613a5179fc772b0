"""Columns that the model never sees: weight on them is wrong."""

from collections.abc import Iterator
from typing import Any, ClassVar

import attrs
import numpy as np
import polars as pl

from xassay import metrics, specs
from xassay.explainers import ExplainerRecord
from xassay.seeds import generator
from xassay.studies.check.explained import joined, places
from xassay.studies.check.measures.base import Context, Measure, Scores, rows_where
from xassay.studies.check.series import Series
from xassay.studies.check.settings import CheckSettings
from xassay.studies.check.subject import Subject
from xassay.studies.check.thresholds import LITTLE_PLACEBO
from xassay.studies.check.variants import Asked, Variant, as_the_user
from xassay.types import BoolArray, FloatArray

MOST_PLACEBOS = 5

N_REPLACED = 20
"""Background rows that a single column is replaced from, to see whether it matters at a row."""


class Placebo(Measure):
    """Weight on columns that the model never sees."""

    name: ClassVar[str] = "placebo"
    question: ClassVar[str] = "Do they give weight to columns that do nothing?"
    how: ClassVar[str] = (
        "Up to five copies of columns with shuffled values are added, and the model never sees them: any "
        "weight on them is wrong. Placebo share is their share of the weight. Noise share is their share "
        "of the top ranks, as many as there are columns that change the score when replaced alone. ELA is "
        "the accuracy of the ranking that is lost to them."
    )
    summary: ClassVar[str] = "up to five shuffled copies of columns are added, which the model never sees"
    shown: ClassVar[tuple[str, ...]] = ("placebo_share", "noise_share", "ela")
    main: ClassVar[tuple[str, ...]] = ("placebo_share",)
    compared: ClassVar[tuple[str, ...]] = ("placebo_share",)
    asks: ClassVar[bool] = True
    most_rows: ClassVar[int | None] = 40

    def variants(
        self, subject: Subject, settings: CheckSettings, record: ExplainerRecord, options: dict[str, Any]
    ) -> Iterator[Variant]:
        """With placebo columns."""
        del subject, settings, record, options
        yield Variant("placebo", measure=self.name, turn=1)

    def asked(
        self,
        subject: Subject,
        settings: CheckSettings,
        record: ExplainerRecord,
        variant: Variant,
        part: slice,
    ) -> Asked:
        """Shuffled columns beside the real ones."""
        del variant
        given, seed = as_the_user(subject, settings, record, part), settings.seed
        columns = placebo_columns(subject.X.shape[1], seed)
        rng = generator(seed, "placebo background")
        shuffled = np.stack([rng.permutation(given.background[:, j]) for j in columns], axis=1)
        donors_of, k = given.background, len(columns)
        donors = [generator(seed, "placebo", int(i)).integers(len(donors_of), size=k) for i in given.row_ids]
        drawn = np.array([donors_of[donor, columns] for donor in donors]).reshape(len(given.X), k)
        return attrs.evolve(
            given,
            X=np.hstack([given.X, drawn]),
            background=np.hstack([given.background, shuffled]),
            n_placebos=k,
            placebo_of=columns,
        )

    def model_rows(self, subject: Subject, settings: CheckSettings) -> float:
        """Each column alone."""
        del settings
        share = min(1.0, (self.most_rows or 0) / max(len(subject.X), 1))
        return share * float(subject.X.shape[1] * min(N_REPLACED, len(subject.background)))

    def ask(self, subject: Subject, settings: CheckSettings, part: slice) -> pl.DataFrame:
        """Which columns change the score of a row when replaced alone: ``row``, ``used``, ``error``."""
        del settings
        frames = []
        for k in range(part.start, part.stop):
            used, error = np.zeros(subject.X.shape[1], dtype=np.bool_), None
            try:
                used = _used(subject, subject.X[k : k + 1])
            except Exception as problem:  # noqa: BLE001 - whatever it raises fails this row only
                error = specs.brief(problem)
            frames.append(
                pl.DataFrame(
                    {
                        "row": subject.row_ids[k : k + 1],
                        "used": pl.Series([used.tolist()], dtype=pl.List(pl.Boolean)),
                        "error": pl.Series([error], dtype=pl.String),
                    }
                )
            )
        return pl.concat(frames)

    def series(self, context: Context) -> Iterator[Series]:
        """Shares of weight and ranks, and the accuracy that the placebos cost."""
        own = context.of("placebo")
        if not own or self.name not in context.answers:
            return
        explained, subject, p = own[0][1], context.subject, context.n_features
        width = explained.explanation.values.shape[1]
        copies = [*range(p), *placebo_columns(p, context.settings.seed)]
        placebo = np.arange(width) >= p
        rows = subject.X[places(subject, explained.rows)]
        contributed = explained.contributed(rows[:, copies], subject.background[:, copies])
        known = joined(context.answers[self.name], explained.rows)
        used = np.array([[False] * p if one is None else list(one) for one in known["used"].to_list()])
        used = used.reshape(-1, p)
        relevant = np.hstack([used, np.zeros((len(used), width - p), dtype=np.bool_)])
        # where no column matters alone there is no weight to share out
        shares = np.where(used.any(axis=1), metrics.placebo_share(contributed, placebo), np.nan)
        top = metrics.noise_share(contributed, relevant, placebo)
        shared = {"rows": explained.rows, "reason": explained.reason}
        for metric, values in (("placebo_share", shares), ("noise_share", top)):
            yield Series(metric, (values,), statistic="mean", failed=explained.failed, **shared)  # type: ignore[arg-type]
        yield from _ela(context, explained.rows, contributed, used, relevant, explained.failed)

    def sentences(self, scores: Scores) -> Iterator[str]:
        """How much weight is misplaced."""
        share = scores("placebo_share")
        if share is not None and share >= LITTLE_PLACEBO:
            yield f"it puts {share:.0%} of its weight on columns that do nothing"


def _ela(
    context: Context,
    rows: Any,
    contributed: FloatArray,
    used: BoolArray,
    relevant: BoolArray,
    failed: BoolArray,
) -> Iterator[Series]:
    base = context.base
    where = rows_where(rows, base.rows) if base is not None else np.array([-1])
    if base is None or (where < 0).any():
        return
    subject = context.subject
    clean = base.contributed(subject.X[places(subject, base.rows)], subject.background)[where]
    before, after = metrics.r_precision(clean, used), metrics.r_precision(contributed, relevant)
    yield Series("ela", (after, before), rows, "ela", failed | base.failed[where], reason=base.reason)


def placebo_columns(n_features: int, seed: int) -> tuple[int, ...]:
    """Which columns are copied, their values shuffled over the rows."""
    chosen = generator(seed, "placebos").permutation(n_features)[:MOST_PLACEBOS]
    return tuple(sorted(int(j) for j in chosen))


def _used(subject: Subject, row: FloatArray) -> BoolArray:
    """Whether replacing one column alone, by any of some background rows' values, changes the score."""
    p = row.shape[1]
    # spaced over all of it, as it may be sorted
    some = np.linspace(0, len(subject.background) - 1, min(N_REPLACED, len(subject.background)))
    donors = subject.background[np.unique(some.astype(int))]
    mixed = np.tile(row, (p * len(donors), 1)).reshape(p, len(donors), p)
    for j in range(p):
        mixed[j, :, j] = donors[:, j]
    score = float(subject.predict(row)[0])
    changed = subject.predict(mixed.reshape(-1, p)).reshape(p, len(donors))
    return np.asarray((np.abs(changed - score) > 1e-9 * subject.spread).any(axis=1))
