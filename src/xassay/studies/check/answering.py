"""Cells that ask the model: about rows, and about what explanations of them claim."""

from typing import Any

import attrs
import numpy as np
import polars as pl

from xassay import specs
from xassay.studies.check.cell import CheckCell
from xassay.studies.check.measures import measure
from xassay.studies.kit.code import own_code
from xassay.types import FloatArray

CODE = ("tabular", "models", "metrics", "studies/check/subject.py", "studies/check/measures/base.py")
"""Our sources that decide what the model is asked, beside the measure's own."""


@attrs.frozen
class AnswerCell(CheckCell):
    """What the model answers to a measure about some rows: all explanations of them are judged by it.

    Attributes:
        measure: the measure's name.
    """

    measure: str

    @property
    def content(self) -> dict[str, Any]:
        """Everything that decides the result."""
        subject, settings = self.subject.value, self.settings
        return {
            "measure": self.measure,
            "subject": subject.digest,
            "code": own_code(*CODE, f"studies/check/measures/{self.measure}.py"),
            "rows": subject.X[self.part],
            "ids": subject.row_ids[self.part],
            "background": subject.background,
            "pool": subject.pool,
            "seed": settings.seed,
            "sigma": repr(settings.sigma),
        }

    @property
    def words(self) -> tuple[str, ...]:
        """What tells it from other cells, for people."""
        return ("model", self.measure, self.span)

    @property
    def turn(self) -> int:
        """Nothing can be scored without it."""
        return -1

    def run(self) -> pl.DataFrame:
        """Ask the model; a row where it fails says why."""
        with self.in_its_own_state(f"model {self.measure}"):
            return measure(self.measure).ask(self.subject.value, self.settings, self.part)

    def lost(self, reason: str) -> pl.DataFrame:
        """Rows without an answer."""
        ids = self.subject.value.row_ids[self.part]
        return pl.DataFrame({"row": ids, "error": pl.Series([reason] * len(ids), dtype=pl.String)})


@attrs.frozen
class FollowUpCell(AnswerCell):
    """What the model answers to a measure about one explainer's explanations of some rows.

    Attributes:
        explainer: whose.
        contributed: what each feature adds by them, shape (rows, features).
    """

    explainer: str
    contributed: FloatArray = attrs.field(eq=False, repr=False)

    @property
    def content(self) -> dict[str, Any]:
        """Everything that decides the result."""
        return {**super().content, "contributed": self.contributed}

    @property
    def words(self) -> tuple[str, ...]:
        """What tells it from other cells, for people."""
        return (self.measure, specs.without_folder(self.explainer), self.span)

    @property
    def turn(self) -> int:
        """After everything that it rests on."""
        return 0

    def run(self) -> pl.DataFrame:
        """Ask the model; a row where it fails says why."""
        with self.in_its_own_state(f"model {self.measure}"):
            return measure(self.measure).follow(
                self.subject.value, self.settings, self.part, np.asarray(self.contributed)
            )
