"""Whether an explanation stays the same under another seed and for rows close by."""

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import attrs
import numpy as np
import polars as pl

from xassay import metrics, specs
from xassay.explainers import ExplainerRecord
from xassay.seeds import generator
from xassay.studies.check.explained import Explained, places
from xassay.studies.check.measures.base import Context, Measure, Scores
from xassay.studies.check.series import Series
from xassay.studies.check.settings import CheckSettings
from xassay.studies.check.subject import Subject
from xassay.studies.check.thresholds import STEADY
from xassay.studies.check.variants import Asked, Variant, another_seed, as_the_user
from xassay.studies.check.words import percent
from xassay.types import FloatArray

N_SEEDS = 5
RADII = (0.001, 0.1, 0.25)
"""Distances of neighbours in standard deviations of each column: almost the same row, and realistic ones."""

N_NEIGHBOURS = 2
"""Neighbours of a row at each distance but the smallest, which has one."""


class Stability(Measure):
    """Agreement between seeds, and with neighbours."""

    name: ClassVar[str] = "stability"
    question: ClassVar[str] = "Do they stay the same?"
    how: ClassVar[str] = (
        "The share of an explanation that stays the same: between five seeds, and for neighbours of the "
        "row, 0.001, 0.1 and 0.25 standard deviations away in each numeric column. A neighbour is "
        "explained with a seed of its own, as it would be in use. Max-sensitivity is the largest change of "
        "the explanation relative to its size, local Lipschitz the same per distance. The model's own "
        "change of score is given beside it, in standard deviations of the score: where the score changes, "
        "its explanation may."
    )
    summary: ClassVar[str] = (
        "five seeds; neighbours 0.001, 0.1 and 0.25 standard deviations away, with a seed of their own and "
        "the model's own change beside"
    )
    shown: ClassVar[tuple[str, ...]] = (
        "seed_agreement",
        "neighbour_agreement",
        "max_sensitivity",
        "local_lipschitz",
    )
    main: ClassVar[tuple[str, ...]] = ("seed_agreement",)
    compared: ClassVar[tuple[str, ...]] = ("seed_agreement",)
    of_the_model: ClassVar[tuple[str, ...]] = ("model_change",)
    asks: ClassVar[bool] = True
    most_rows: ClassVar[int | None] = 20

    @classmethod
    def sigmas(cls, metric: str, settings: CheckSettings) -> tuple[float, ...]:
        """The distances of neighbours; other seeds are of the same row."""
        del settings
        return () if metric == "seed_agreement" else RADII

    def variants(
        self, subject: Subject, settings: CheckSettings, record: ExplainerRecord, options: dict[str, Any]
    ) -> Iterator[Variant]:
        """Other seeds, and neighbours."""
        del settings, options
        for number in range(1, N_SEEDS if record.stochastic else 2):
            yield Variant("seed", number, self.name, turn=2)
        if _movable(subject):
            yield from (Variant("near", number, self.name, turn=2) for number in range(len(_neighbours())))

    def asked(
        self,
        subject: Subject,
        settings: CheckSettings,
        record: ExplainerRecord,
        variant: Variant,
        part: slice,
    ) -> Asked:
        """The same rows under another seed, or neighbours of them under another."""
        base = as_the_user(subject, settings, record, part)
        if variant.name == "seed":
            return attrs.evolve(base, seed=another_seed(settings, int(variant.number)))
        rows = neighbours(subject, settings.seed, int(variant.number), part)
        return attrs.evolve(base, X=rows, seed=another_seed(settings, 100 + int(variant.number)))

    def model_rows(self, subject: Subject, settings: CheckSettings) -> float:
        """The neighbours."""
        del settings
        return (1.0 + len(_neighbours())) * min(1.0, (self.most_rows or 0) / max(len(subject.X), 1))

    def ask(self, subject: Subject, settings: CheckSettings, part: slice) -> pl.DataFrame:
        """Scores of rows and of their neighbours: ``row``, ``score``, ``moved`` (a number a neighbour)."""
        rows = subject.X[part]
        moved = [neighbours(subject, settings.seed, k, part) for k in range(len(_neighbours()))]
        frames = []
        for k in range(len(rows)):
            score, scores, error = np.nan, np.full(len(moved), np.nan), None
            try:
                score = float(subject.predict(rows[k : k + 1])[0])
                scores = subject.predict(np.stack([one[k] for one in moved]))
            except Exception as problem:  # noqa: BLE001 - whatever it raises fails this row only
                error = specs.brief(problem)
            frames.append(
                pl.DataFrame(
                    {
                        "row": subject.row_ids[part][k : k + 1],
                        "score": [score],
                        "moved": pl.Series([scores.tolist()], dtype=pl.List(pl.Float64)),
                        "error": pl.Series([error], dtype=pl.String),
                    }
                )
            )
        return pl.concat(frames)

    def series(self, context: Context) -> Iterator[Series]:
        """Agreement of seeds, and with neighbours at each distance."""
        if context.base is None:
            return
        seeds = [explained for _, explained in context.of("seed")]
        if seeds:
            base = context.base.only(seeds[0].rows)
            yield agreement("seed_agreement", context.subject, [base, *seeds])
        near = dict(context.of("near"))
        for sigma in RADII:
            some = [own for variant, own in near.items() if _neighbours()[int(variant.number)][0] == sigma]
            if some:
                yield from _of_neighbours(context, context.base.only(some[0].rows), some, sigma)

    def of_model(
        self, subject: Subject, settings: CheckSettings, answers: pl.DataFrame | None
    ) -> Iterator[Series]:
        """How far the score itself moves, in its standard deviations."""
        del settings
        if answers is None or not _movable(subject):
            return
        moved = np.array([list(one) for one in answers["moved"].to_list()], dtype=np.float64)
        apart = np.abs(moved - answers["score"].to_numpy()[:, None]) / subject.spread
        failed = answers["error"].is_not_null().to_numpy()
        for sigma in RADII:
            some = [k for k, (radius, _) in enumerate(_neighbours()) if radius == sigma]
            values = apart[:, some].mean(axis=1)
            yield Series("model_change", (values,), answers["row"].to_numpy(), "mean", failed, sigma=sigma)

    def sentences(self, scores: Scores) -> Iterator[str]:
        """What is not steady."""
        seeds = scores("seed_agreement")
        if seeds is not None and seeds < STEADY:
            yield f"{percent(seeds, least=STEADY)} of the explanation stays the same under another seed"
        near = scores("neighbour_agreement", RADII[0])
        if near is not None and near < STEADY and (seeds is None or near < seeds - (1 - STEADY) / 2):
            yield f"for an almost identical row only {near:.0%} of the explanation stays the same"


def _movable(subject: Subject) -> list[int]:
    """Columns that can be moved by a little."""
    columns = subject.space.columns
    return [j for j in subject.space.positions("numeric") if not columns[j].whole]


def _neighbours() -> list[tuple[float, int]]:
    """Distance and number of each neighbour of a row."""
    return [(sigma, k) for sigma in RADII for k in range(1 if sigma == RADII[0] else N_NEIGHBOURS)]


def neighbours(subject: Subject, seed: int, number: int, part: slice) -> FloatArray:
    """A neighbour of each row, moved in its numeric columns."""
    rows, columns = subject.X[part].copy(), _movable(subject)
    sigma, draw = _neighbours()[number]
    for k, row_id in enumerate(subject.row_ids[part]):
        noise = generator(seed, "neighbour", int(row_id), draw).standard_normal(len(columns))
        rows[k, columns] += sigma * noise * subject.space.spreads[columns]
    return subject.space.snap(rows)


def _of_neighbours(
    context: Context, base: Explained, several: Sequence[Explained], sigma: float
) -> Iterator[Series]:
    subject, seed = context.subject, context.settings.seed
    where = places(subject, base.rows)
    rows = subject.X[where]
    numbers = [k for k, (radius, _) in enumerate(_neighbours()) if radius == sigma]
    moved = [neighbours(subject, seed, k, slice(0, len(subject.X)))[where] for k in numbers]
    own = base.contributed(rows, subject.background)
    near = np.stack(
        [one.contributed(m, subject.background) for one, m in zip(several, moved, strict=True)], axis=1
    )
    failed = np.any([base.failed, *(one.failed for one in several)], axis=0)
    reason = next((one.reason for one in (base, *several) if one.reason), None)
    spreads = np.where(subject.space.spreads > 0, subject.space.spreads, 1.0)
    distances = np.sqrt((((np.stack(moved, axis=1) - rows[:, None]) / spreads) ** 2).sum(axis=2))
    kept = np.mean([metrics.agreement(own, near[:, k]) for k in range(near.shape[1])], axis=0)
    shared: dict[str, Any] = {"rows": base.rows, "failed": failed, "reason": reason, "sigma": sigma}
    yield Series("neighbour_agreement", (kept,), statistic="mean", **shared)
    for metric, values in (
        ("max_sensitivity", metrics.max_sensitivity(own, near)),
        ("local_lipschitz", metrics.local_lipschitz(own / subject.spread, near / subject.spread, distances)),
    ):
        yield Series(metric, (values,), statistic="mean", **shared)


def agreement(
    metric: str, subject: Subject, several: Sequence[Explained], backgrounds: Sequence[FloatArray] = ()
) -> Series:
    """Mean agreement over all pairs of explanations of each row, each against its own background."""
    rows = several[0].rows
    explained = subject.X[places(subject, rows)]
    own = backgrounds or [subject.background] * len(several)
    said = [one.contributed(explained, background) for one, background in zip(several, own, strict=True)]
    found = np.mean([metrics.agreement(a, b) for a, b in itertools.combinations(said, 2)], axis=0)
    failed = np.any([one.failed for one in several], axis=0)
    reason = next((one.reason for one in several if one.reason), None)
    return Series(metric, (found,), rows, "mean", failed, reason)
