"""From what a model does and what an explainer says to a number a row; no model is asked here."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import attrs
import numpy as np
import polars as pl

from xassay import metrics
from xassay.metrics.fidelity import squared_differences
from xassay.metrics.local_model import contributions, linear_predictions
from xassay.metrics.masking import N_SUBSETS, losses_of, random_subsets
from xassay.studies.check.planting import Planted
from xassay.studies.check.settings import CheckSettings
from xassay.studies.check.subject import Subject
from xassay.studies.check.truth import N_SAMPLES
from xassay.studies.check.variants import BASE, Variant, half_of_pool, placebo_columns
from xassay.types import BoolArray, Explanation, FloatArray, IntArray

Frames = Mapping[Variant, pl.DataFrame]
How = Literal["root mean", "skill", "ela", "mean", "count"]

_SMOOTH = 0.01
"""A neighbour is one only where the score moves by less than this share of its spread."""


@attrs.frozen(eq=False)
class Series:
    """One metric, row by row.

    Attributes:
        metric: its name.
        values: a number a row, NaN where undefined or failed.
        rows: the rows' numbers.
        how: how they become one number: the root of their mean, a skill (against ``beside``), the
            loss of accuracy (against ``beside``), their mean, or the mean of a count, which has no
            interval.
        beside: the trivial explanation's, for a skill; the accuracy without noise, for a loss.
        unit: what is a difference worth speaking of a share of: smaller ones by 1e-12 are rounding.
        failed: rows that failed, bool.
        reason: why one of them did.
        sigma: of the perturbations.
        level: ``model``, or ``budget`` for a point of the convergence curve.
        options: options in force, where they are not the base's.
        fault: how the rows were planted, where they were.
    """

    metric: str
    values: FloatArray
    rows: IntArray
    how: How
    failed: BoolArray
    beside: FloatArray | None = None
    reason: str | None = None
    unit: float = 1.0
    sigma: float | None = None
    level: str = "model"
    options: str | None = None
    fault: str | None = None


@attrs.frozen(eq=False)
class Said:
    """An explainer's frames of one variant as arrays; a row without a local model has NaN for one."""

    rows: IntArray
    explanation: Explanation
    errors: list[str | None]
    frame: pl.DataFrame

    @classmethod
    def of(cls, frame: pl.DataFrame, n_features: int) -> "Said":
        """From a frame of cells."""
        linear = frame["coefficients"].null_count() < len(frame)
        declared = frame.filter(pl.col("coefficients").is_not_null())["categorical"]
        return cls(
            frame["row"].to_numpy(),
            Explanation(
                _lists(frame["attributions"], n_features),
                coefficients=_lists(frame["coefficients"], n_features) if linear else None,
                intercepts=frame["intercept"].fill_null(np.nan).to_numpy() if linear else None,
                categorical=tuple(declared[0]) if linear else (),
            ),
            frame["error"].to_list(),
            frame,
        )

    def contributed(self, X: FloatArray, background: FloatArray) -> FloatArray:
        """What each feature adds: the attributions where they are that, else what the local model says."""
        if self.frame["additive"].any():
            return self.explanation.values
        return contributions(self.explanation, X, background)

    @property
    def failed(self) -> BoolArray:
        """Rows without an explanation."""
        return np.array([error is not None for error in self.errors], dtype=np.bool_)

    @property
    def reason(self) -> str | None:
        """Why one of them has none."""
        return next((error for error in self.errors if error), None)


def _lists(column: pl.Series, width: int) -> FloatArray:
    nothing = [float("nan")] * width
    listed = [nothing if one is None else list(one) for one in column.to_list()]
    return np.array(listed, dtype=np.float64).reshape(len(column), width)


def series(
    subject: Subject,
    settings: CheckSettings,
    truth: pl.DataFrame,
    frames: Frames,
    options: Mapping[Variant, str],
    *,
    surrogate: bool = False,
) -> Iterator[Series]:
    """Everything that one explainer's frames say.

    Args:
        subject: the model and its data.
        settings: the check's.
        truth: the model's frame, of all rows that were asked.
        frames: the explainer's frames, by variant.
        options: the options of each variant.
        surrogate: whether the explainer fits a model of its own.
    """
    p = subject.X.shape[1]
    base = None
    for variant, frame in frames.items():
        width = p + (len(placebo_columns(p, settings.seed)) if variant.name == "placebo" else 0)
        said = Said.of(frame, width)
        if variant.name == "base":
            base = said
            yield from fidelity(subject, settings, truth, said)
            calls = said.frame["calls"].cast(pl.Float64).fill_null(np.nan).to_numpy()
            yield Series("model_calls", calls, said.rows, "count", said.failed, reason=said.reason)
        elif variant.name == "placebo":
            yield from _placebo(subject, settings, truth, said, base)
        elif variant.name == "planted" and subject.planted is not None:
            yield from _planted(subject, subject.planted, said)
    if base is not None:
        yield from _stability(subject, truth, base, frames)
        yield from _convergence(subject, settings, truth, base, frames, options)
    halves = [v for v in frames if v.name == "background"]
    if len(halves) == 2:  # noqa: PLR2004 - a pair
        own = [half_of_pool(subject, settings, int(v.number), surrogate=surrogate) for v in halves]
        yield _agreement("background_agreement", subject, [Said.of(frames[v], p) for v in halves], own)


def _joined(truth: pl.DataFrame, rows: IntArray) -> pl.DataFrame:
    """The model's frame of these rows, in their order; null where it was not asked."""
    return pl.DataFrame({"row": rows}).join(truth, on="row", how="left", maintain_order="left")


def fidelity(subject: Subject, settings: CheckSettings, truth: pl.DataFrame, said: Said) -> Iterator[Series]:
    """Masking of every explanation, and the causal metric of local linear models."""
    known = _joined(truth, said.rows)
    failed, reason = _either(said, known)
    p = subject.X.shape[1]
    yield from _masking(subject, settings, known, said, failed, reason)
    if said.explanation.coefficients is None or not len(said.rows):
        return
    sigmas = settings.sigma
    shape = (len(said.rows), len(sigmas), N_SAMPLES)
    points = _lists(known["points"], len(sigmas) * N_SAMPLES * p).reshape(*shape, p).transpose(1, 0, 2, 3)
    moved = _lists(known["moved"], len(sigmas) * N_SAMPLES).reshape(shape).transpose(1, 0, 2)
    score = known["score"].fill_null(np.nan).to_numpy()
    explained = subject.X[_places(subject, said.rows)]
    linear = linear_predictions(said.explanation, explained, points)
    losses, trivial = squared_differences(linear, moved), squared_differences(score[:, None], moved)
    for sigma, own, beside in zip(sigmas, losses.mean(axis=2), trivial.mean(axis=2), strict=True):
        yield from _both("causal", own, beside, said.rows, failed, reason, sigma=sigma)


def _masking(
    subject: Subject,
    settings: CheckSettings,
    known: pl.DataFrame,
    said: Said,
    failed: BoolArray,
    reason: str | None,
    *,
    level: str = "model",
    options: str | None = None,
) -> Iterator[Series]:
    p = subject.X.shape[1]
    contributed = said.contributed(subject.X[_places(subject, said.rows)], subject.background)
    subsets = random_subsets(p, N_SUBSETS, settings.seed, said.rows)
    drops = _lists(known["drops"], N_SUBSETS)
    own = losses_of(contributed, subsets, drops).mean(axis=1)
    beside = losses_of(np.zeros_like(contributed), subsets, drops).mean(axis=1)
    yield from _both("masking", own, beside, said.rows, failed, reason, level=level, options=options)


def _both(
    name: str,
    losses: FloatArray,
    trivial: FloatArray,
    rows: IntArray,
    failed: BoolArray,
    reason: str | None,
    *,
    sigma: float | None = None,
    level: str = "model",
    options: str | None = None,
) -> Iterator[Series]:
    """The RMSE and the skill of the same losses."""
    own = np.where(failed, np.nan, losses)
    unit = float(np.nanmean(trivial)) if np.isfinite(trivial).any() else 1.0
    shared = {"failed": failed, "reason": reason, "sigma": sigma, "level": level, "options": options}
    yield Series(f"{name}_rmse", own, rows, "root mean", unit=unit, **shared)  # type: ignore[arg-type]
    yield Series(f"{name}_skill", own, rows, "skill", beside=trivial, **shared)  # type: ignore[arg-type]


def _either(said: Said, known: pl.DataFrame) -> tuple[BoolArray, str | None]:
    """Rows that explainer or model failed at, and why one of them."""
    model = known["error"].is_not_null().to_numpy() | known["score"].is_null().to_numpy()
    reason = said.reason or next(iter(known["error"].drop_nulls().to_list()), None)
    return said.failed | model, reason


def _places(subject: Subject, rows: IntArray) -> IntArray:
    """Positions among the explained rows."""
    where = {int(row): k for k, row in enumerate(subject.row_ids)}
    return np.array([where[int(row)] for row in rows], dtype=np.int64)


def _convergence(
    subject: Subject,
    settings: CheckSettings,
    truth: pl.DataFrame,
    base: Said,
    frames: Frames,
    options: Mapping[Variant, str],
) -> Iterator[Series]:
    """Masking by the number of samples, all on the same rows."""
    p = subject.X.shape[1]
    several = {variant: Said.of(frames[variant], p) for variant in frames if variant.name == "budget"}
    if not several:
        return
    rows = next(iter(several.values())).rows
    for variant, said in {BASE: _only(base, rows), **several}.items():
        known = _joined(truth, said.rows)
        failed, reason = _either(said, known)
        yield from _masking(
            subject, settings, known, said, failed, reason, level="budget", options=options[variant]
        )


def _placebo(
    subject: Subject, settings: CheckSettings, truth: pl.DataFrame, said: Said, base: Said | None
) -> Iterator[Series]:
    """Weight and top ranks that go to columns which do nothing, and the accuracy that they cost."""
    p = subject.X.shape[1]
    width = said.explanation.values.shape[1]
    copies = [*range(p), *placebo_columns(p, settings.seed)]
    placebo = np.arange(width) >= p
    explained = subject.X[_places(subject, said.rows)]
    contributed = said.contributed(explained[:, copies], subject.background[:, copies])
    known = _joined(truth, said.rows)
    used = np.array([[False] * p if one is None else list(one) for one in known["used"].to_list()]).reshape(
        -1, p
    )
    relevant = np.hstack([used, np.zeros((len(used), width - p), dtype=np.bool_)])
    # where no column matters there is no weight to share out
    shares = np.where(used.any(axis=1), metrics.placebo_share(contributed, placebo), np.nan)
    top = metrics.noise_share(contributed, relevant, placebo)
    for name, values in (("placebo_share", shares), ("noise_share", top)):
        yield Series(name, values, said.rows, "mean", said.failed, reason=said.reason)
    if base is None:
        return
    where = {int(row): k for k, row in enumerate(base.rows)}
    own = np.array([where.get(int(row), -1) for row in said.rows])
    if (own < 0).any():
        return
    clean = base.contributed(subject.X[_places(subject, base.rows)], subject.background)[own]
    before, after = metrics.r_precision(clean, used), metrics.r_precision(contributed, relevant)
    failed = said.failed | base.failed[own]
    yield Series("ela", after, said.rows, "ela", failed, beside=before, reason=said.reason)


def _planted(subject: Subject, planted: Planted, said: Said) -> Iterator[Series]:
    """Ranks of planted causes, by what pushes the score up."""
    contributed = said.contributed(planted.rows[said.rows], subject.background)
    signed = metrics.towards(contributed)
    how = np.array(planted.how)[said.rows]
    for name, score in (
        ("mrr", metrics.reciprocal_rank),
        ("map", metrics.average_precision),
        ("mr_precision", metrics.r_precision),
    ):
        values = score(signed, planted.truth[said.rows])
        yield Series(name, values, said.rows, "mean", said.failed, reason=said.reason)
        for fault in sorted(set(planted.how)):
            chosen = how == fault
            if chosen.any():
                yield Series(
                    name,
                    values[chosen],
                    said.rows[chosen],
                    "mean",
                    said.failed[chosen],
                    reason=said.reason,
                    fault=fault,
                )


def _stability(subject: Subject, truth: pl.DataFrame, base: Said, frames: Frames) -> Iterator[Series]:
    p = subject.X.shape[1]
    seeds = [Said.of(frames[v], p) for v in frames if v.name == "seed"]
    if seeds:
        rows = seeds[0].rows
        yield _agreement("seed_agreement", subject, [_only(base, rows), *seeds])
    near = [Said.of(frames[v], p) for v in frames if v.name == "near"]
    for said in near:
        found = _agreement("neighbour_agreement", subject, [_only(base, said.rows), said])
        score = _joined(truth, said.rows)["score"].fill_null(np.nan).to_numpy()
        moved = np.abs(said.frame["score"].to_numpy() - score)
        # where the model itself jumps, its explanation may
        yield attrs.evolve(found, values=np.where(moved <= _SMOOTH * subject.spread, found.values, np.nan))


def _only(said: Said, rows: IntArray) -> Said:
    """These rows of an explainer's frame; those that it lacks are failed."""
    frame = pl.DataFrame({"row": rows}).join(said.frame, on="row", how="left", maintain_order="left")
    lost = frame["error"].is_null() & frame["attributions"].is_null()
    frame = frame.with_columns(
        pl.when(lost).then(pl.lit("not explained")).otherwise(pl.col("error")).alias("error")
    )
    return Said.of(frame, said.explanation.values.shape[1])


def _agreement(
    metric: str, subject: Subject, several: Sequence[Said], backgrounds: Sequence[FloatArray] = ()
) -> Series:
    """Mean agreement over all pairs of explanations of each row, each against its own background."""
    rows = several[0].rows
    explained = subject.X[_places(subject, rows)]
    own = backgrounds or [subject.background] * len(several)
    said = [one.contributed(explained, background) for one, background in zip(several, own, strict=True)]
    found = np.mean([metrics.agreement(a, b) for a, b in itertools.combinations(said, 2)], axis=0)
    failed = np.any([one.failed for one in several], axis=0)
    reason = next((one.reason for one in several if one.reason), None)
    return Series(metric, found, rows, "mean", failed, reason=reason)
