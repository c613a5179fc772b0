"""Whether an explanation hangs on the rows of its background."""

from collections.abc import Iterator
from typing import Any, ClassVar

import attrs
import numpy as np

from xassay.explainers import ExplainerRecord
from xassay.seeds import generator
from xassay.studies.check.measures.base import Context, Measure, Scores
from xassay.studies.check.measures.stability import agreement
from xassay.studies.check.series import Series
from xassay.studies.check.settings import CheckSettings
from xassay.studies.check.subject import Subject
from xassay.studies.check.thresholds import STEADY
from xassay.studies.check.variants import Asked, Variant, as_the_user, usable
from xassay.types import FloatArray

_TWO_HALVES = 4


class Background(Measure):
    """Agreement between two backgrounds."""

    name: ClassVar[str] = "background"
    question: ClassVar[str] = "Do they depend on the choice of background rows?"
    how: ClassVar[str] = (
        "The share of an explanation that two random halves of the background have in common, each half of "
        "the size that the explainer is given where there are enough rows."
    )
    summary: ClassVar[str] = "two random halves of the background"
    shown: ClassVar[tuple[str, ...]] = ("background_agreement",)
    compared: ClassVar[tuple[str, ...]] = ("background_agreement",)
    most_rows: ClassVar[int | None] = 40

    def variants(
        self, subject: Subject, settings: CheckSettings, record: ExplainerRecord, options: dict[str, Any]
    ) -> Iterator[Variant]:
        """Two halves."""
        del settings, options
        if record.uses_background and len(subject.pool) >= _TWO_HALVES:
            yield from (Variant("background", number, self.name, turn=3) for number in (1, 2))

    def asked(
        self,
        subject: Subject,
        settings: CheckSettings,
        record: ExplainerRecord,
        variant: Variant,
        part: slice,
    ) -> Asked:
        """The same rows against one of the halves."""
        half = half_of_pool(subject, settings, int(variant.number), surrogate=record.surrogate)
        return attrs.evolve(as_the_user(subject, settings, record, part), background=usable(half, record))

    def series(self, context: Context) -> Iterator[Series]:
        """Agreement of the halves."""
        halves = context.of("background")
        if len(halves) != 2:  # noqa: PLR2004 - a pair
            return
        surrogate = context.record is not None and context.record.surrogate
        own = [
            half_of_pool(context.subject, context.settings, int(variant.number), surrogate=surrogate)
            for variant, _ in halves
        ]
        yield agreement("background_agreement", context.subject, [explained for _, explained in halves], own)

    def sentences(self, scores: Scores) -> Iterator[str]:
        """How much changes with the background."""
        found = scores("background_agreement")
        if found is not None and found < STEADY:
            yield f"another background changes {1 - found:.0%} of the explanation"


def half_of_pool(subject: Subject, settings: CheckSettings, number: int, *, surrogate: bool) -> FloatArray:
    """One of two random halves of the pool, as large as the background that it stands for at most."""
    order = generator(settings.seed, "two backgrounds").permutation(len(subject.pool))
    most = len(subject.pool) if surrogate else len(subject.background)
    return subject.pool[np.sort(order[number - 1 :: 2][:most])]
