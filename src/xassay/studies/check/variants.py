"""The different ways in which an explainer is asked, each to measure something."""

from collections.abc import Iterator
from typing import Any

import attrs
import numpy as np

from xassay.explainers import ExplainerRecord
from xassay.seeds import generator, legacy_seed
from xassay.studies.check.settings import N_SEEDS, CheckSettings
from xassay.studies.check.subject import Subject
from xassay.types import FloatArray, IntArray

CHUNK_ROWS = 25
"""Rows of a cell: what a time limit or a broken run can cost."""

MOST_ROWS = {"planted": 40, "placebo": 40, "background": 40, "seed": 20, "near": 20, "budget": 20}
MOST_PLACEBOS = 5
FACTORS = (0.25, 4.0)
_TWO_HALVES = 4
HAIR = 1e-3
"""A neighbour is so many standard deviations away."""


@attrs.frozen
class Variant:
    """One way to ask.

    Attributes:
        name: ``base`` (as the user would), ``seed`` (another seed), ``near`` (a neighbour of each
            row), ``background`` (another background), ``budget`` (more or fewer samples),
            ``placebo`` (columns added that do nothing) or ``planted`` (planted rows).
        number: which seed, which background, or the factor of the budget.
        turn: how early it is needed.
    """

    name: str
    number: float = 0
    turn: int = 0

    def __str__(self) -> str:
        return self.name if not self.number else f"{self.name}{self.number:g}"


BASE = Variant("base")


@attrs.frozen(eq=False)
class Asked:
    """What an explainer is given, and which rows it explains.

    Attributes:
        X: rows, shape (rows, features and placebos).
        row_ids: their ids.
        background: shape (background rows, features and placebos).
        seed: the explainer's.
        n_placebos: how many trailing columns the model does not have.
        placebo_of: which columns they are copies of.
    """

    X: FloatArray
    row_ids: IntArray
    background: FloatArray
    seed: int
    n_placebos: int = 0
    placebo_of: tuple[int, ...] = ()


def variants(
    subject: Subject, settings: CheckSettings, record: ExplainerRecord, options: dict[str, Any]
) -> Iterator[Variant]:
    """The variants that an explainer is measured by."""
    yield BASE
    p, seeds = subject.X.shape[1], range(1, N_SEEDS if record.stochastic else 2)
    near = [Variant("near", turn=2)] if _movable(subject) else []
    halves = record.uses_background and len(subject.pool) >= _TWO_HALVES
    budgets = FACTORS if record.samples is not None else ()
    of = {
        "placebo": [Variant("placebo", turn=1)],
        "planted": [Variant("planted", turn=1)] if _n_noticed(subject) else [],
        "stability": [*(Variant("seed", number, turn=2) for number in seeds), *near],
        "background": [Variant("background", number, turn=3) for number in (1, 2) if halves],
        "convergence": [
            Variant("budget", factor, turn=4) for factor in budgets if scaled(record, options, p, factor)
        ],
    }
    for measure, own in of.items():
        if measure in settings.measures:
            yield from own


def scaled(
    record: ExplainerRecord, options: dict[str, Any], n_features: int, factor: float
) -> dict[str, Any] | None:
    """The options with so many times the samples; None where that changes nothing."""
    assert record.samples is not None  # noqa: S101 - asked of those that sample
    samples = record.samples
    now = int(min(resolved(record, options, n_features)[samples.option], samples.most(n_features)))
    new = int(min(max(now * factor, samples.least(n_features)), samples.most(n_features)))
    return None if new == now else {**options, samples.option: new}


def resolved(record: ExplainerRecord, options: dict[str, Any], n_features: int) -> dict[str, Any]:
    """The options with a number of samples, where they leave it to the explainer."""
    samples = record.samples
    if samples is None or isinstance(options.get(samples.option), int):
        return options
    return {**options, samples.option: samples.default(n_features)}


def n_rows(subject: Subject, variant: Variant, rows: int) -> int:
    """How many rows a variant explains, where the base explains so many."""
    if variant.name == "planted":
        rows = min(_n_noticed(subject), rows)
    return min(rows, MOST_ROWS.get(variant.name, rows))


def _n_noticed(subject: Subject) -> int:
    """How many planted rows the detector notices: those alone are explained."""
    return 0 if subject.planted is None else int(subject.planted.noticed.sum())


def _movable(subject: Subject) -> list[int]:
    """Columns that can be moved by a hair."""
    columns = subject.space.columns
    return [j for j in subject.space.positions("numeric") if not columns[j].whole]


def asked(
    subject: Subject, settings: CheckSettings, record: ExplainerRecord, variant: Variant, part: slice
) -> Asked:
    """What an explainer is given in a variant, for some of its rows."""
    seed = settings.seed
    background = subject.pool if record.surrogate else subject.background
    background = _finite(background) if record.needs_finite else background
    given = Asked(subject.X[part], subject.row_ids[part], background, seed=legacy_seed(seed, "explain"))
    if variant.name == "seed":
        return attrs.evolve(given, seed=legacy_seed(seed, "explain", int(variant.number)))
    if variant.name == "near":
        return attrs.evolve(given, X=neighbours(subject, seed, part))
    if variant.name == "background":
        half = half_of_pool(subject, settings, int(variant.number), surrogate=record.surrogate)
        return attrs.evolve(given, background=_finite(half) if record.needs_finite else half)
    if variant.name == "planted":
        assert subject.planted is not None  # noqa: S101 - else there is no such variant
        rows = np.flatnonzero(subject.planted.noticed)[part]
        return attrs.evolve(given, X=subject.planted.rows[rows], row_ids=rows)
    if variant.name == "placebo":
        return _with_placebos(subject, given, seed)
    return given


def half_of_pool(subject: Subject, settings: CheckSettings, number: int, *, surrogate: bool) -> FloatArray:
    """One of two random halves of the pool, as large as the background that it stands for at most."""
    order = generator(settings.seed, "two backgrounds").permutation(len(subject.pool))
    most = len(subject.pool) if surrogate else len(subject.background)
    return subject.pool[np.sort(order[number - 1 :: 2][:most])]


def _finite(background: FloatArray) -> FloatArray:
    """The complete rows, for explainers that take no missing values; all if none is."""
    complete = np.isfinite(background).all(axis=1)
    return background[complete] if complete.any() else background


def neighbours(subject: Subject, seed: int, part: slice) -> FloatArray:
    """Each row moved by a hair in its numeric columns."""
    rows = subject.X[part].copy()
    columns = _movable(subject)
    for k, row_id in enumerate(subject.row_ids[part]):
        noise = generator(seed, "neighbour", int(row_id)).standard_normal(len(columns))
        rows[k, columns] += HAIR * noise * subject.space.spreads[columns]
    return rows


def placebo_columns(n_features: int, seed: int) -> tuple[int, ...]:
    """Which columns are copied, their values shuffled over the rows."""
    chosen = generator(seed, "placebos").permutation(n_features)[:MOST_PLACEBOS]
    return tuple(sorted(int(j) for j in chosen))


def _with_placebos(subject: Subject, given: Asked, seed: int) -> Asked:
    columns = placebo_columns(given.X.shape[1], seed)
    rng = generator(seed, "placebo background")
    shuffled = np.stack([rng.permutation(given.background[:, j]) for j in columns], axis=1)
    pool, k = subject.pool, len(columns)
    donors = [generator(seed, "placebo", int(i)).integers(len(pool), size=k) for i in given.row_ids]
    drawn = np.array([pool[donor, columns] for donor in donors]).reshape(len(given.X), k)
    return attrs.evolve(
        given,
        X=np.hstack([given.X, drawn]),
        background=np.hstack([given.background, shuffled]),
        n_placebos=len(columns),
        placebo_of=columns,
    )
