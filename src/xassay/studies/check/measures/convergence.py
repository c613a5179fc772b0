"""Whether more samples would make an explanation better."""

from collections.abc import Iterator
from typing import Any, ClassVar

from xassay.explainers import ExplainerRecord
from xassay.studies.check.measures.base import Context, Measure, Scores
from xassay.studies.check.measures.fidelity import scored_again
from xassay.studies.check.series import Series
from xassay.studies.check.settings import CheckSettings
from xassay.studies.check.subject import Subject
from xassay.studies.check.thresholds import GAIN
from xassay.studies.check.variants import BASE, Asked, Variant, as_the_user, scaled

FACTORS = (0.25, 4.0)


class Convergence(Measure):
    """Fidelity by the number of samples."""

    name: ClassVar[str] = "convergence"
    question: ClassVar[str] = "Are there enough samples?"
    how: ClassVar[str] = (
        "A low score may mean a bad explainer or too few samples. The same rows are explained with a quarter "
        "and four times the samples: where fidelity still rises, more samples would help."
    )
    summary: ClassVar[str] = "fidelity with a quarter and four times the samples, on the same rows"
    shown: ClassVar[tuple[str, ...]] = ()
    sectioned: ClassVar[bool] = False
    most_rows: ClassVar[int | None] = 20

    def variants(
        self, subject: Subject, settings: CheckSettings, record: ExplainerRecord, options: dict[str, Any]
    ) -> Iterator[Variant]:
        """Fewer and more samples, where that changes anything."""
        del settings
        if record.samples is None:
            return
        for factor in FACTORS:
            if scaled(record, options, subject.X.shape[1], factor):
                yield Variant("budget", factor, self.name, turn=4)

    def options(
        self, record: ExplainerRecord, options: dict[str, Any], variant: Variant, n_features: int
    ) -> dict[str, Any]:
        """So many times the samples."""
        return scaled(record, options, n_features, variant.number) or options

    def asked(
        self,
        subject: Subject,
        settings: CheckSettings,
        record: ExplainerRecord,
        variant: Variant,
        part: slice,
    ) -> Asked:
        """The same rows; the options differ."""
        del variant
        return as_the_user(subject, settings, record, part)

    def series(self, context: Context) -> Iterator[Series]:
        """A point a number of samples, all on the same rows."""
        several = context.of("budget")
        if context.base is None or not several or "fidelity" not in context.answers:
            return
        yield from scored_again(context, context.base.only(several[0][1].rows), BASE)
        for variant, explained in several:
            yield from scored_again(context, explained, variant)

    def sentences(self, scores: Scores) -> Iterator[str]:
        """Whether four times the samples help."""
        rows = [row for row in scores.budgets.iter_rows(named=True) if row["value"] is not None]
        now = next((row for row in rows if row["samples"] == scores.samples), None)
        more = max((row for row in rows if row is not now), key=lambda row: row["value"], default=None)
        if now is None or more is None:
            return
        if more["value"] > now["value"] + GAIN and more["samples"] > now["samples"]:
            yield f"more samples help (fidelity {now['value']:.2f} becomes {more['value']:.2f})"
