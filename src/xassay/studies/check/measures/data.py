"""Whether rows with replaced columns are like the data, and what explanations are worth if they must be."""

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
import polars as pl

from xassay import specs
from xassay.errors import ExplainerError, InputError
from xassay.metrics.calls import scores as scores_of
from xassay.metrics.contrast import Contrasts, SameSizeSets, same_size_sets, symmetrised
from xassay.models.manifold import (
    LEAST_ROWS,
    OffData,
    conditional_rows,
    off_data_alarm,
    separability,
    split_masked,
)
from xassay.studies.check.asking import robust
from xassay.studies.check.explained import lists
from xassay.studies.check.measures.base import Context, Measure, known_rows
from xassay.studies.check.measures.fidelity import contributed_of, fidelity_of
from xassay.studies.check.series import Series
from xassay.studies.check.settings import CheckSettings
from xassay.studies.check.subject import Subject
from xassay.types import BoolArray, FloatArray, IntArray

N_SETS = 64
"""Sets a row, each with its complement: half of those that are replaced alone."""

MOST_COLUMNS = 100
"""Wider tables have no conditional scores: each set needs a regression of its own."""


class Data(Measure):
    """On or off the data."""

    name: ClassVar[str] = "data"
    question: ClassVar[str] = "Do replaced columns leave the data?"
    how: ClassVar[str] = (
        "Replacing columns makes rows that may be unlike any real one. The AUC is that of a classifier "
        "that tells such rows from real ones: 0.5 is chance, 1 is unlike all. Fidelity with columns "
        "replaced given the others draws them from a linear regression on the columns that stay, so that "
        "rows remain like the data: an explanation may be true to the data and not to the model, or the "
        "other way around (Chen et al. 2020). The alarm is raised where surrogates foresee the model on "
        "real rows and on rows with replaced columns, but each fails on the other sort: the model then "
        "follows another rule there."
    )
    summary: ClassVar[str] = (
        "how well a classifier tells rows with replaced columns from real ones, fidelity with columns "
        "replaced given the others, and an alarm for models that behave otherwise off the data"
    )
    shown: ClassVar[tuple[str, ...]] = ("fidelity_conditional",)
    of_the_model: ClassVar[tuple[str, ...]] = ("separability", "off_data_alarm")
    asks: ClassVar[bool] = True
    most_rows: ClassVar[int | None] = 40
    whole: ClassVar[bool] = True

    def model_rows(self, subject: Subject, settings: CheckSettings) -> float:
        """Sets and complements over the background."""
        del settings
        share = min(1.0, (self.most_rows or 0) / max(len(subject.X), 1))
        return share * 2.0 * N_SETS * len(subject.background)

    def ask(self, subject: Subject, settings: CheckSettings, part: slice) -> pl.DataFrame:
        """Changes with columns drawn given the others, and how far from the data masked rows are.

        Returns:
            ``row``, ``score``, ``total``, ``removed``, ``kept``, ``error``; and alike in all rows
            ``separability``, ``off_data_alarm`` and ``compared`` (rows that these rest on).
        """
        rows = pl.concat([self._row(subject, settings, k) for k in range(part.start, part.stop)])
        apart, found = _off_data(subject, settings)
        return rows.with_columns(
            separability=pl.lit(apart, pl.Float64),
            off_data_alarm=pl.lit(None if found is None else float(found.alarm), pl.Float64),
            compared=pl.lit(0 if found is None else found.rows + found.masked_rows, pl.Int64),
        )

    def _row(self, subject: Subject, settings: CheckSettings, k: int) -> pl.DataFrame:
        row, ids = subject.X[k : k + 1], subject.row_ids[k : k + 1]
        chosen = conditional_sets(subject, settings, ids).chosen[0]
        removed, kept = np.full(len(chosen), np.nan), np.full(len(chosen), np.nan)
        score, total, error = np.nan, np.nan, None
        try:
            score = float(subject.predict(row)[0])
            if not np.isfinite(score):
                raise ExplainerError("the model's score is not finite")
            total = float((score - subject.predict(subject.background)).mean())
            if subject.X.shape[1] <= MOST_COLUMNS:
                removed, kept = (_changes(subject, row, score, sets) for sets in (chosen, ~chosen))
        except Exception as problem:  # noqa: BLE001 - whatever it raises fails this row only
            error = specs.brief(problem)
        return pl.DataFrame(
            {
                "row": ids,
                "score": [score],
                "total": [total],
                "removed": pl.Series([removed.tolist()], dtype=pl.List(pl.Float64)),
                "kept": pl.Series([kept.tolist()], dtype=pl.List(pl.Float64)),
                "error": pl.Series([error], dtype=pl.String),
            }
        )

    def series(self, context: Context) -> Iterator[Series]:
        """Fidelity with columns replaced given the others."""
        answers = context.answers.get(self.name)
        if context.base is None or answers is None or context.n_features > MOST_COLUMNS:
            return
        wanted = np.isin(context.base.rows, answers["row"].to_numpy())
        explained = context.base.only(context.base.rows[wanted])
        known, failed, reason = known_rows(answers, explained)
        contrasts = context.remembered(
            ("data", explained.rows.tobytes()), lambda: _contrasts(context, known, explained.rows)
        )
        values = fidelity_of(contrasts, contributed_of(context.subject, explained))
        yield Series("fidelity_conditional", (values,), explained.rows, "mean", failed, reason)

    def of_model(
        self, subject: Subject, settings: CheckSettings, answers: pl.DataFrame | None
    ) -> Iterator[Series]:
        """How well masked rows are told from real ones, and the alarm."""
        del subject, settings
        if answers is None or "separability" not in answers.columns:
            return
        n = int(answers["compared"].fill_null(0).max() or 0)  # type: ignore[arg-type]
        rows, nothing = np.arange(n), np.zeros(n, dtype=np.bool_)
        for metric in ("separability", "off_data_alarm"):
            value = answers[metric][0]
            if value is not None and n:
                yield Series(metric, (np.full(n, float(value)),), rows, "count", nothing)


def _contrasts(context: Context, known: pl.DataFrame, rows: IntArray) -> Contrasts:
    sets = conditional_sets(context.subject, context.settings, rows)
    n, total = sets.chosen.shape[1], known["total"].fill_null(np.nan).to_numpy()
    changes = symmetrised(lists(known["removed"], n), lists(known["kept"], n), total)
    return Contrasts.of(sets, changes, total)


def conditional_sets(subject: Subject, settings: CheckSettings, rows: IntArray) -> SameSizeSets:
    """The sets of columns that some rows are judged by."""
    return same_size_sets(subject.X.shape[1], settings.seed, rows, N_SETS)


def _changes(subject: Subject, row: FloatArray, score: float, sets: BoolArray) -> FloatArray:
    """v(S) with the columns of S drawn given the others, shape (sets,)."""
    numeric = np.zeros(row.shape[1], dtype=np.bool_)
    numeric[list(subject.space.positions("numeric"))] = True
    copies = np.repeat(row, len(sets), axis=0)
    drawn = conditional_rows(copies, sets, subject.background, numeric, pool=subject.pool)
    found = scores_of(subject.predict, subject.space.snap(drawn.reshape(-1, row.shape[1])))
    return np.asarray((score - found.reshape(drawn.shape[:2])).mean(axis=1))


def _off_data(subject: Subject, settings: CheckSettings) -> tuple[float | None, OffData | None]:
    """Masked rows against real ones: a third of the pool stays as it is."""
    if len(subject.pool) < 3 * LEAST_ROWS or subject.X.shape[1] == 1:
        return None, None
    real, masked = split_masked(subject.pool, settings.seed)
    apart = separability(real, masked, settings.seed)
    if not (np.isfinite(real).all() and np.isfinite(masked).all()):
        return apart, None
    try:
        of_real, of_masked = robust(subject.predict, real), robust(subject.predict, masked)
        return apart, off_data_alarm(real, of_real, masked, of_masked, settings.seed)
    except InputError:
        return apart, None
