"""What a measure is: what it asks of model and explainer, how it scores, and what it says."""

import math
from abc import ABC
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, TypeVar

import attrs
import numpy as np
import polars as pl

from xassay.explainers import ExplainerRecord
from xassay.models.score import KINDS
from xassay.studies.check.explained import Explained, joined
from xassay.studies.check.series import Series
from xassay.studies.check.settings import CheckSettings
from xassay.studies.check.subject import Subject
from xassay.studies.check.variants import BASE, Asked, Variant
from xassay.types import BoolArray, FloatArray, IntArray

Made = TypeVar("Made")


@attrs.frozen(eq=False)
class Context:
    """What there is to score one explainer by.

    Attributes:
        subject: the model and its data.
        settings: the check's.
        answers: what the model answered to each measure, by the measure's name.
        explained: what the explainer gave, by variant.
        options: the options of each variant, in words.
        samples: how many samples each variant draws, of explainers that sample.
        record: the explainer's; None for explanations that were given.
        follow_ups: what the model answered to each measure about these explanations.
        memory: what explainers share, by what it is; see `remembered`.
    """

    subject: Subject
    settings: CheckSettings
    answers: Mapping[str, pl.DataFrame]
    explained: Mapping[Variant, Explained]
    options: Mapping[Variant, str]
    record: ExplainerRecord | None = None
    follow_ups: Mapping[str, pl.DataFrame] = attrs.field(factory=dict)
    memory: dict[Any, Any] = attrs.field(factory=dict)
    samples: Mapping[Variant, int] = attrs.field(factory=dict)

    def remembered(self, what: Any, make: Callable[[], Made]) -> Made:
        """Something that depends on no explainer, made once for all of them."""
        if what not in self.memory:
            self.memory[what] = make()
        found: Made = self.memory[what]
        return found

    @property
    def base(self) -> Explained | None:
        """The explanations that the user would have."""
        return self.explained.get(BASE)

    def of(self, name: str) -> list[tuple[Variant, Explained]]:
        """Variants of a name, by number."""
        found = [(variant, own) for variant, own in self.explained.items() if variant.name == name]
        return sorted(found, key=lambda pair: pair[0].number)

    @property
    def n_features(self) -> int:
        """Columns of the data."""
        return int(self.subject.X.shape[1])


class Scores:
    """The scores of one explainer by metric, as the verdict reads them."""

    def __init__(self, rows: pl.DataFrame) -> None:
        self._own = {
            (row["metric"], row["sigma"], row["planted"]): row
            for row in rows.filter(pl.col("level") == "model").iter_rows(named=True)
        }
        self.budgets = rows.filter(pl.col("level") == "budget")
        self.samples = next((row["samples"] for row in self._own.values()), None)

    def row(
        self, metric: str, sigma: float | None = None, planted: str | None = None
    ) -> dict[str, Any] | None:
        """The row of a score; None where there is none."""
        return self._own.get((metric, sigma, planted))

    def __call__(self, metric: str, sigma: float | None = None, planted: str | None = None) -> float | None:
        """A score; None where it is missing or undefined."""
        row = self.row(metric, sigma, planted)
        value = None if row is None else row["value"]
        return None if value is None or math.isnan(value) else float(value)

    def known(self, metric: str) -> float:
        """A score that is there, as a judgement that rests on it says."""
        value = self(metric)
        assert value is not None, metric  # noqa: S101 - judged, so measured
        return value

    def low(self, metric: str, sigma: float | None = None, planted: str | None = None) -> float | None:
        """The lower end of a score's interval, or the score where it has none."""
        row, value = self.row(metric, sigma, planted), self(metric, sigma, planted)
        return value if row is None or row["ci_low"] is None else float(row["ci_low"])

    def high(self, metric: str) -> float | None:
        """The upper end of a score's interval, or the score where it has none."""
        row = self.row(metric)
        return self(metric) if row is None or row["ci_high"] is None else float(row["ci_high"])

    def sigmas(self, metric: str) -> list[float]:
        """The sigmas at which a metric was measured."""
        return sorted(sigma for name, sigma, _ in self._own if name == metric and sigma is not None)

    def n(self, metric: str) -> int:
        """How many rows a score rests on."""
        row = self.row(metric)
        return 0 if row is None else int(row["n"] - row["n_failed"] - row["n_undefined"])

    @property
    def reason(self) -> str | None:
        """Why something is missing."""
        return next((row["reason"] for row in self._own.values() if row["reason"]), None)


class Measure(ABC):
    """One question that a check asks of explanations.

    Attributes:
        name: what ``measures`` takes.
        question: the heading of its section.
        how: how it is measured, a paragraph for people.
        shown: its scores that the report shows, in order.
        beside: its scores that only judgements and requirements read.
        parts: how they are parted into tables, by title; empty: one table.
        main: those of them that stand in the report's first table.
        of_the_model: its scores of the model alone.
        drawn: whether the report draws the scores of the first table.
        sectioned: whether the report shows it in the common form; else it has a form of its own.
        compared: its scores that explainers are tested by.
        summary: one line for the docs.
        kinds: of which models it measures anything.
        asks: whether it asks the model about rows, before any explanation is known.
        follows: whether it asks the model about explanations.
        most_rows: the most rows that it looks at; None: all.
        whole: whether it asks the model about all its rows at once.
    """

    name: ClassVar[str]
    question: ClassVar[str]
    how: ClassVar[str]
    summary: ClassVar[str]
    shown: ClassVar[tuple[str, ...]]
    beside: ClassVar[tuple[str, ...]] = ()
    parts: ClassVar[Mapping[str, tuple[str, ...]]] = MappingProxyType({})
    main: ClassVar[tuple[str, ...]] = ()
    of_the_model: ClassVar[tuple[str, ...]] = ()
    drawn: ClassVar[bool] = False
    sectioned: ClassVar[bool] = True
    compared: ClassVar[tuple[str, ...]] = ()
    kinds: ClassVar[tuple[str, ...]] = KINDS
    asks: ClassVar[bool] = False
    follows: ClassVar[bool] = False
    most_rows: ClassVar[int | None] = None
    whole: ClassVar[bool] = False

    @classmethod
    def sigmas(cls, metric: str, settings: CheckSettings) -> tuple[float, ...]:
        """The perturbations at which it gives one of its scores; empty where that has none."""
        del metric, settings
        return ()

    def variants(
        self, subject: Subject, settings: CheckSettings, record: ExplainerRecord, options: dict[str, Any]
    ) -> Iterator[Variant]:
        """The ways in which it asks an explainer, beside the base."""
        del subject, settings, record, options
        yield from ()

    def n_rows(self, subject: Subject, variant: Variant, rows: int) -> int:
        """How many rows a variant explains, where the base explains so many."""
        del subject, variant
        return rows if self.most_rows is None else min(rows, self.most_rows)

    def asked(
        self,
        subject: Subject,
        settings: CheckSettings,
        record: ExplainerRecord,
        variant: Variant,
        part: slice,
    ) -> Asked:
        """What an explainer is given in one of its variants."""
        del subject, settings, record, variant, part
        raise AssertionError(f"{self.name} has no variants")  # pragma: no cover - those that have override

    def options(
        self, record: ExplainerRecord, options: dict[str, Any], variant: Variant, n_features: int
    ) -> dict[str, Any]:
        """The options that an explainer is asked with."""
        del record, variant, n_features
        return options

    def model_rows(self, subject: Subject, settings: CheckSettings) -> float:
        """How many rows it asks the model for, about one row of the data; for the estimate."""
        del subject, settings
        return 0.0

    def ask(self, subject: Subject, settings: CheckSettings, part: slice) -> pl.DataFrame:
        """Ask the model about some rows: ``row``, the answers, and ``error`` where it gave none."""
        del subject, settings, part
        raise AssertionError(f"{self.name} asks nothing")  # pragma: no cover - those that ask override

    def follow(
        self, subject: Subject, settings: CheckSettings, part: slice, contributed: FloatArray
    ) -> pl.DataFrame:
        """Ask the model about explanations of some rows; as `ask`."""
        del subject, settings, part, contributed
        raise AssertionError(f"{self.name} asks nothing")  # pragma: no cover - those that follow override

    def series(self, context: Context) -> Iterator[Series]:
        """Its scores of one explainer, row by row."""
        del context
        yield from ()

    def of_model(
        self, subject: Subject, settings: CheckSettings, answers: pl.DataFrame | None
    ) -> Iterator[Series]:
        """Its scores of the model alone."""
        del subject, settings, answers
        yield from ()

    def sentences(self, scores: Scores) -> Iterator[str]:
        """What the verdict says of an explainer by it."""
        del scores
        yield from ()


def chunks(rows: int, size: int) -> list[tuple[int, int]]:
    """Parts of some rows, no larger than a size.

    >>> chunks(5, 2)
    [(0, 2), (2, 4), (4, 5)]
    """
    size = max(size, 1)
    return [(start, min(start + size, rows)) for start in range(0, rows, size)]


def known_rows(answers: pl.DataFrame, explained: Explained) -> tuple[pl.DataFrame, BoolArray, str | None]:
    """The model's answers about explained rows, on which of them the explainer failed, and a reason.

    Where the model itself gave no answer, the explainer is not to blame: the row is undefined.
    """
    known = joined(answers, explained.rows)
    unanswered = known["error"].is_not_null().to_numpy() | known["score"].is_null().to_numpy()
    reason = explained.reason or next(iter(known["error"].drop_nulls().to_list()), None)
    return known, explained.failed & ~unanswered, reason


def rows_where(rows: Sequence[int] | IntArray, wanted: IntArray) -> IntArray:
    """Positions of rows among wanted ones; -1 where they are not."""
    where = {int(row): k for k, row in enumerate(wanted)}
    return np.array([where.get(int(row), -1) for row in rows], dtype=np.int64)
