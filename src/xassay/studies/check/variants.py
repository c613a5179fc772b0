"""The ways in which an explainer is asked: as the user would, and the ways of the measures."""

from typing import Any

import attrs
import numpy as np

from xassay.explainers import ExplainerRecord
from xassay.seeds import legacy_seed
from xassay.studies.check.settings import CheckSettings
from xassay.studies.check.subject import Subject
from xassay.types import FloatArray, IntArray

CHUNK_ROWS = 25
"""Rows of a cell: what a time limit or a broken run can cost."""


@attrs.frozen
class Variant:
    """One way to ask.

    Attributes:
        name: what is different; ``base`` is as the user would ask.
        number: which one of several, or how much of it.
        measure: the measure that asks for it; empty for the base.
        turn: how early it is needed.
    """

    name: str
    number: float = 0
    measure: str = ""
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
        refitted: whether the model refitted to shuffled targets is explained in the model's place.
    """

    X: FloatArray
    row_ids: IntArray
    background: FloatArray
    seed: int
    n_placebos: int = 0
    placebo_of: tuple[int, ...] = ()
    refitted: bool = False


def as_the_user(subject: Subject, settings: CheckSettings, record: ExplainerRecord, part: slice) -> Asked:
    """What an explainer is given in the base, for some rows."""
    background = subject.pool if record.surrogate else subject.background
    return Asked(
        subject.X[part],
        subject.row_ids[part],
        usable(background, record),
        seed=legacy_seed(settings.seed, "explain"),
    )


def another_seed(settings: CheckSettings, number: int) -> int:
    """A seed other than the base's."""
    return legacy_seed(settings.seed, "explain", number)


def usable(background: FloatArray, record: ExplainerRecord) -> FloatArray:
    """The complete rows, for explainers that take no missing values; all if none is."""
    complete = np.isfinite(background).all(axis=1)
    return background[complete] if record.needs_finite and complete.any() else background


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
