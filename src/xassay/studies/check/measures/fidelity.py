"""Which columns matter, and how much: attributions against the model's changes at sets of columns."""

import functools
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, ClassVar

import attrs
import numpy as np
import polars as pl

from xassay import metrics, specs
from xassay.errors import ExplainerError
from xassay.explainers import ExplainerRecord
from xassay.metrics.contrast import Contrasts, SameSizeSets, same_size_sets, symmetrised
from xassay.metrics.masking import losses_of, masked_drops
from xassay.studies.check.explained import Explained, lists, places
from xassay.studies.check.measures.base import Context, Measure, known_rows
from xassay.studies.check.series import Series
from xassay.studies.check.settings import CheckSettings
from xassay.studies.check.subject import Subject
from xassay.studies.check.thresholds import GAP, RIGHT
from xassay.studies.check.variants import Asked, Variant, another_seed, as_the_user
from xassay.types import BoolArray, FloatArray, IntArray

N_FITS = 5
"""Fits of a surrogate that explains all rows by one model of its own."""

LEAST_TOTAL = 0.01
"""The square of a tenth: totals below a tenth of what sums of such attributions can reach are taken as so
large."""

_ROUNDING = 1e-12

BASES = ("zero", "mean")
"""Single rows that attributions may start from in place of the background: all zeros, and its mean."""


@attrs.frozen(eq=False, slots=False)
class Answers:
    """What the model answered about some rows, for one way of replacing columns.

    Attributes:
        sets: the sets.
        removed: v(S), the change where the columns of S are replaced, shape (rows, sets).
        kept: the change where all others are.
        total: v(all), shape (rows,).
    """

    sets: SameSizeSets
    removed: FloatArray
    kept: FloatArray
    total: FloatArray

    @classmethod
    def of(cls, known: pl.DataFrame, sets: SameSizeSets, prefix: str = "") -> "Answers":
        """From a frame of answers."""
        n = sets.chosen.shape[1]
        total = known[f"{prefix}total"].fill_null(np.nan).to_numpy()
        parts = lists(known[f"{prefix}removed"], n), lists(known[f"{prefix}kept"], n), total
        largest = max(np.abs(part[np.isfinite(part)]).max(initial=0.0) for part in parts)
        # what is rounding beside the largest change of any row is no change
        removed, kept, total = (np.where(np.abs(part) <= _ROUNDING * largest, 0.0, part) for part in parts)
        return cls(sets, removed, kept, total)

    @functools.cached_property
    def contrasts(self) -> Contrasts:
        """What explanations are judged by."""
        return Contrasts.of(self.sets, symmetrised(self.removed, self.kept, self.total), self.total)

    @functools.cached_property
    def subsets(self) -> Any:
        """The sets and their complements, bool (rows, 2 sets, features)."""
        return np.concatenate([self.sets.chosen, ~self.sets.chosen], axis=1)

    @functools.cached_property
    def drops(self) -> FloatArray:
        """V of `subsets`."""
        return np.concatenate([self.removed, self.kept], axis=1)


def sets_of(subject: Subject, settings: CheckSettings, rows: IntArray) -> SameSizeSets:
    """The sets of columns that some rows are judged by."""
    return same_size_sets(subject.X.shape[1], settings.seed, rows)


class Fidelity(Measure):
    """Which columns matter, and how much."""

    name: ClassVar[str] = "fidelity"
    question: ClassVar[str] = "Are they right about which columns matter, and how much?"
    how: ClassVar[str] = (
        "The columns of a random set are replaced by those of background rows, and the model's score "
        "changes. Sets of the same size are compared: an explanation should claim a larger change for the "
        "sets that change the model more. Fidelity is the share of what a sum of attributions can tell "
        "about this that the explanation tells: 1 is as good as the best possible sum, 0 is as good as "
        "sharing the total out equally over all columns. What no sum can tell (interactions of columns) is "
        "counted apart. The gap is between the sum of all attributions and f(x) minus the background's "
        "mean score. Alignment is a correlation that ignores the scale; the best scale is the factor that "
        "the attributions lack. Masking skill compares the same claims with an explanation that attributes "
        "nothing, with the equal split of the total, and with its own values shuffled; its ceiling is that "
        "of the best sum for these very sets."
    )
    summary: ClassVar[str] = (
        "columns of random sets are replaced by background rows' values; claimed and true changes of the "
        "score are compared among sets of one size"
    )
    parts: ClassVar[Mapping[str, tuple[str, ...]]] = MappingProxyType(
        {
            "Which columns matter": (
                "fidelity",
                "rows_right",
                "fidelity_q10",
                "fidelity_q50",
                "fidelity_pooled",
                "alignment",
            ),
            "How much": (
                "completeness_gap",
                "best_scale",
                "masking_skill",
                "masking_skill_even",
                "masking_skill_shuffled",
                "masking_rmse",
            ),
            "Correlations at one size": ("sensitivity_n", "faithfulness_correlation"),
        }
    )
    shown: ClassVar[tuple[str, ...]] = tuple(metric for part in parts.values() for metric in part)
    beside: ClassVar[tuple[str, ...]] = tuple(
        f"{what}_{base}_base" for base in ("zero", "mean") for what in ("fidelity", "gap")
    )
    main: ClassVar[tuple[str, ...]] = ("fidelity", "rows_right")
    compared: ClassVar[tuple[str, ...]] = ("fidelity", "fidelity_pooled", "masking_rmse")
    of_the_model: ClassVar[tuple[str, ...]] = ("additive_share", "masking_skill_ceiling")
    drawn: ClassVar[bool] = True
    asks: ClassVar[bool] = True

    def variants(
        self, subject: Subject, settings: CheckSettings, record: ExplainerRecord, options: dict[str, Any]
    ) -> Iterator[Variant]:
        """A surrogate's other fits."""
        del subject, settings, options
        if record.surrogate and record.stochastic:
            yield from (Variant("fit", number, self.name) for number in range(1, N_FITS))

    def asked(
        self,
        subject: Subject,
        settings: CheckSettings,
        record: ExplainerRecord,
        variant: Variant,
        part: slice,
    ) -> Asked:
        """The same under another seed."""
        base = as_the_user(subject, settings, record, part)
        return attrs.evolve(base, seed=another_seed(settings, int(variant.number)))

    def model_rows(self, subject: Subject, settings: CheckSettings) -> float:
        """Each set and its complement, over the background and the single rows."""
        del settings
        n = same_size_sets(subject.X.shape[1], 0, np.arange(1)).chosen.shape[1]
        return float(2 * n * (len(subject.background) + len(BASES)))

    def ask(self, subject: Subject, settings: CheckSettings, part: slice) -> pl.DataFrame:
        """Changes at the sets of some rows, from the background and from single rows.

        Returns:
            ``row``, ``score``, and ``total``, ``removed``, ``kept`` of each way (the single rows'
            with a prefix), ``error``.
        """
        return pl.concat([self._row(subject, settings, k) for k in range(part.start, part.stop)])

    def _row(self, subject: Subject, settings: CheckSettings, k: int) -> pl.DataFrame:
        row, ids = subject.X[k : k + 1], subject.row_ids[k : k + 1]
        sets = sets_of(subject, settings, ids)
        own: dict[str, Any] = {"row": ids, "score": [np.nan]}
        error = None
        for prefix, background in {"": subject.background, **single_rows(subject)}.items():
            nothing = np.full((1, sets.chosen.shape[1]), np.nan)
            found: tuple[Any, Any, Any] = (nothing, nothing, np.full(1, np.nan))
            try:
                score = float(subject.predict(row)[0])
                if not np.isfinite(score):
                    raise ExplainerError("the model's score is not finite")
                got = changes(subject, row, background, sets)
                if not all(np.isfinite(part).all() for part in got):
                    raise ExplainerError("no finite score on rows with replaced columns")
                found, own["score"] = got, [score]
            except Exception as problem:  # noqa: BLE001 - whatever it raises fails this row only
                # a row of zeros need not be one that the model takes
                error = error if prefix else specs.brief(problem)
            for name, values in zip(("removed", "kept"), found[:2], strict=True):
                own[prefix + name] = pl.Series(values.tolist(), dtype=pl.List(pl.Float64))
            own[f"{prefix}total"] = found[2]
        return pl.DataFrame({**own, "error": pl.Series([error], dtype=pl.String)})

    def series(self, context: Context) -> Iterator[Series]:
        """All scores of an explainer."""
        if context.base is None or self.name not in context.answers:
            return
        own = _Claims.of(context, context.base)
        fits = [fit.only(context.base.rows) for _, fit in context.of("fit")]
        yield from own.which(fits)
        yield from own.how_much()
        yield from own.correlations()

    def of_model(
        self, subject: Subject, settings: CheckSettings, answers: pl.DataFrame | None
    ) -> Iterator[Series]:
        """What sums of attributions can tell of this model at all."""
        if answers is None:
            return
        rows = answers["row"].to_numpy()
        found = Answers.of(answers, sets_of(subject, settings, rows))
        energy = _energy_of_both(found)
        failed = answers["error"].is_not_null().to_numpy()
        yield Series("additive_share", (found.contrasts.size, energy), rows, "part", failed)
        nothing = np.zeros((len(rows), subject.X.shape[1]))
        silent = losses_of(nothing, found.subsets, found.drops).mean(axis=1)
        best = _left_by_best_sum(found.subsets, found.drops)
        yield Series("masking_skill_ceiling", (best, silent), rows, "skill", failed)


def changes(
    subject: Subject, row: FloatArray, background: FloatArray, sets: SameSizeSets
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """v(S), v(rest) and v(all) of one row, shape (1, sets), (1, sets) and (1,)."""
    n, p = sets.chosen.shape[1:]
    every = np.concatenate([sets.chosen, ~sets.chosen, np.ones((1, 1, p), dtype=np.bool_)], axis=1)
    drops = masked_drops(subject.predict, row, background, every)
    return drops[:, :n], drops[:, n : 2 * n], drops[:, -1]


def single_rows(subject: Subject) -> dict[str, FloatArray]:
    """The rows of `BASES` as backgrounds, by the prefix of their answers."""
    with np.errstate(invalid="ignore"):
        mean = np.nan_to_num(np.nanmean(subject.background, axis=0))
    return {
        "zero ": subject.space.snap(subject.space.zero[None]),
        "mean ": subject.space.snap(mean[None]),
    }


def _left_by_best_sum(subsets: Any, drops: FloatArray) -> FloatArray:
    """Mean squared masking loss of the best attributions on these very sets, by least squares; (rows,)."""
    left = np.full(len(drops), np.nan)
    for k in np.flatnonzero(np.isfinite(drops).all(axis=1)):
        chosen = subsets[k].astype(np.float64)
        solution, *_ = np.linalg.lstsq(chosen, drops[k], rcond=None)
        left[k] = ((chosen @ solution - drops[k]) ** 2).mean()
    return left


def _energy_of_both(found: Answers) -> FloatArray:
    """The energy of v itself among sets of one size, shape (rows,): with interactions of two columns."""
    both = [Contrasts.of(found.sets, part).energy for part in (found.removed, found.kept)]
    return np.asarray(np.mean(both, axis=0))


@attrs.frozen(eq=False)
class _Claims:
    """One explainer's explanations beside the model's answers."""

    context: Context
    explained: Explained
    known: pl.DataFrame
    answers: Answers
    contributed: FloatArray
    shared: dict[str, Any]

    @classmethod
    def of(cls, context: Context, explained: Explained) -> "_Claims":
        subject = context.subject
        known, failed, reason = known_rows(context.answers["fidelity"], explained)
        answers = cls._answers(context, known, explained.rows, "")
        contributed = contributed_of(subject, explained)
        shared = {"rows": explained.rows, "failed": failed, "reason": reason}
        return cls(context, explained, known, answers, contributed, shared)

    @staticmethod
    def _answers(context: Context, known: pl.DataFrame, rows: IntArray, prefix: str) -> Answers:
        def make() -> Answers:
            return Answers.of(known, sets_of(context.subject, context.settings, rows), prefix)

        return context.remembered(("fidelity", prefix, rows.tobytes()), make)

    def which(self, fits: list[Explained]) -> Iterator[Series]:
        """Which columns: against the best sum, among sets of one size."""
        contrasts = self.answers.contrasts
        own = fidelity_of(contrasts, self.contributed)
        others = [contributed_of(self.context.subject, fit) for fit in fits]
        repeats = tuple((fidelity_of(contrasts, values),) for values in others)
        yield Series(
            "fidelity", (own,), statistic="mean", repeats=((own,), *repeats) if fits else (), **self.shared
        )
        for metric, part in (("fidelity_q10", "tenth part"), ("fidelity_q50", "median")):
            yield Series(metric, (own,), statistic=part, **self.shared)
        right = (own >= RIGHT) & ~self.gaps(contrasts)
        yield Series("rows_right", (np.where(np.isnan(own), np.nan, right),), statistic="mean", **self.shared)
        missed = contrasts.missed(self.contributed)
        pooled = tuple((contrasts.missed(values), contrasts.told) for values in (self.contributed, *others))
        yield Series(
            "fidelity_pooled",
            (missed, contrasts.told),
            statistic="share",
            repeats=pooled if fits else (),
            unit=float(np.nan_to_num(np.nanmax(contrasts.told, initial=0.0))),
            **self.shared,
        )
        aligned = np.minimum(contrasts.alignment(self.contributed), contrasts.direction(self.contributed))
        aligned = np.where(np.isnan(contrasts.told) & (own == 0), 0.0, aligned)  # much is claimed of nothing
        yield Series("alignment", (aligned,), statistic="mean", **self.shared)
        for base in BASES:
            answers = self._answers(self.context, self.known, self.explained.rows, f"{base} ")
            values = fidelity_of(answers.contrasts, self.contributed)
            yield Series(f"fidelity_{base}_base", (values,), statistic="mean", **self.shared)
            yield Series(f"gap_{base}_base", self.gap_squares(answers), statistic="root part", **self.shared)

    def gaps(self, contrasts: Contrasts) -> BoolArray:
        """Rows whose sum of attributions is off, by what it can be: root p times their length."""
        p = self.contributed.shape[1]
        gap = metrics.completeness_gap(self.contributed, self.answers.total)
        with np.errstate(invalid="ignore"):
            return np.asarray(
                gap > GAP * np.sqrt(p) * contrasts.norm + _ROUNDING * np.nanmax(gap, initial=0.0)
            )

    def gap_squares(self, answers: Answers) -> tuple[FloatArray, FloatArray]:
        """Squared gaps, and squared totals beside them (at least `LEAST_TOTAL` of what they can be)."""
        p, total = self.contributed.shape[1], answers.total
        gap = metrics.completeness_gap(self.contributed, total) ** 2
        return gap, np.maximum(total**2, LEAST_TOTAL * p * answers.contrasts.norm**2)

    def how_much(self) -> Iterator[Series]:
        """How much: masking losses, the gap of the total, and the best scale."""
        found, subsets = self.answers, self.answers.subsets
        drops, total = found.drops, found.total
        p = self.contributed.shape[1]
        own = losses_of(self.contributed, subsets, drops).mean(axis=1)
        silent = losses_of(np.zeros_like(self.contributed), subsets, drops).mean(axis=1)
        even = losses_of(metrics.even_split(total, p), subsets, drops).mean(axis=1)
        mixed = metrics.shuffled(self.contributed, self.explained.rows, self.context.settings.seed, 1)[0]
        shuffled = losses_of(mixed, subsets, drops).mean(axis=1)
        unit = float(np.nanmean(silent)) if np.isfinite(silent).any() else 0.0
        yield Series("masking_rmse", (own,), statistic="root mean", unit=unit, **self.shared)
        for suffix, beside in (("", silent), ("_even", even), ("_shuffled", shuffled)):
            yield Series(f"masking_skill{suffix}", (own, beside), statistic="skill", **self.shared)
        yield Series("completeness_gap", self.gap_squares(found), statistic="root part", **self.shared)
        changes = found.contrasts.changes
        claimed = np.einsum("rsp,rp->rs", found.sets.chosen.astype(np.float64), self.contributed)
        product, square = (claimed * changes).mean(axis=1), (claimed**2).mean(axis=1)
        yield Series("best_scale", (product, square), statistic="part", **self.shared)

    def correlations(self) -> Iterator[Series]:
        """The published measures of the same answers."""
        for metric, score in (
            ("sensitivity_n", metrics.sensitivity_n),
            ("faithfulness_correlation", metrics.faithfulness_correlation),
        ):
            values = score(self.contributed, self.answers.subsets, self.answers.drops)
            yield Series(metric, (values,), statistic="mean", **self.shared)


def fidelity_of(contrasts: Contrasts, contributed: FloatArray) -> FloatArray:
    """Fidelity of each row; 0 where there is nothing to tell and much is claimed, else NaN there."""
    own, norm = contrasts.fidelity(contributed), contrasts.norm
    usual = np.nanmean(norm) if np.isfinite(norm).any() else 0.0
    with np.errstate(invalid="ignore"):
        much = contrasts.apart(contributed) > GAP * np.maximum(norm, usual)
    return np.where(np.isnan(own) & much & (usual > 0), 0.0, own)


def contributed_of(subject: Subject, explained: Explained) -> FloatArray:
    """What each feature adds, of explanations of the explained rows."""
    return explained.contributed(subject.X[places(subject, explained.rows)], subject.background)


def scored_again(context: Context, explained: Explained, variant: Variant) -> Iterator[Series]:
    """Fidelity at another number of samples, as a point of a curve."""
    own = _Claims.of(context, explained)
    values = fidelity_of(own.answers.contrasts, own.contributed)
    yield Series(
        "fidelity",
        (values,),
        statistic="mean",
        level="budget",
        options=context.options.get(variant),
        samples=context.samples.get(variant),
        **own.shared,
    )
