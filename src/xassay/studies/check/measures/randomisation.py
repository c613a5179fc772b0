"""Whether explanations depend on what the model learned: the same model refitted to shuffled targets."""

from collections.abc import Iterator
from typing import Any, ClassVar

import attrs
import numpy as np

from xassay import metrics
from xassay.explainers import ExplainerRecord
from xassay.studies.check.explained import Explained
from xassay.studies.check.measures.base import Context, Measure, Scores
from xassay.studies.check.measures.fidelity import contributed_of
from xassay.studies.check.series import Series
from xassay.studies.check.settings import CheckSettings
from xassay.studies.check.subject import Subject
from xassay.studies.check.variants import Asked, Variant, as_the_user
from xassay.types import FloatArray


class Randomisation(Measure):
    """Agreement with explanations of a model that learned nothing."""

    name: ClassVar[str] = "randomisation"
    question: ClassVar[str] = "Do they depend on what the model learned?"
    how: ClassVar[str] = (
        "The model is refitted to shuffled targets, and the same rows are explained. Each explanation is "
        "brought to a total weight of 1; the score is the share that both have in common. An explanation "
        "that stays the same does not depend on what the model learned (Adebayo et al. 2018)."
    )
    summary: ClassVar[str] = (
        "on request (`--measures randomisation`), with a target and an estimator that can be fitted: "
        "agreement with explanations of the model refitted to shuffled targets"
    )
    shown: ClassVar[tuple[str, ...]] = ("randomisation_agreement",)
    compared: ClassVar[tuple[str, ...]] = ("randomisation_agreement",)
    most_rows: ClassVar[int | None] = 40

    def variants(
        self, subject: Subject, settings: CheckSettings, record: ExplainerRecord, options: dict[str, Any]
    ) -> Iterator[Variant]:
        """The refitted model."""
        del settings, options
        if subject.shuffled is not None and not record.wants_model:
            yield Variant("refitted", measure=self.name, turn=3)

    def asked(
        self,
        subject: Subject,
        settings: CheckSettings,
        record: ExplainerRecord,
        variant: Variant,
        part: slice,
    ) -> Asked:
        """The same rows of the refitted model."""
        del variant
        return attrs.evolve(as_the_user(subject, settings, record, part), refitted=True)

    def series(self, context: Context) -> Iterator[Series]:
        """Agreement of the two models' explanations."""
        own = context.of("refitted")
        if not own or context.base is None:
            return
        refitted = own[0][1]
        base = context.base.only(refitted.rows)
        both = [_shares(context.subject, explained) for explained in (base, refitted)]
        failed, reason = base.failed | refitted.failed, base.reason or refitted.reason
        values = metrics.agreement(*both)
        yield Series("randomisation_agreement", (values,), refitted.rows, "mean", failed, reason)

    def sentences(self, scores: Scores) -> Iterator[str]:
        """How much stays; who asks for this measure wants to know, be it much or little."""
        found = scores("randomisation_agreement")
        if found is not None:
            yield f"{found:.0%} of the explanation stays the same for a model refitted to shuffled targets"


def _shares(subject: Subject, explained: Explained) -> FloatArray:
    contributed = contributed_of(subject, explained)
    sizes = np.abs(contributed).sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(sizes > 0, contributed / sizes, contributed)
