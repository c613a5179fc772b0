"""What all cells of a check share."""

from abc import abstractmethod
from typing import Any

import attrs
import polars as pl

from xassay.processes import Shared
from xassay.seeds import global_state, legacy_seed
from xassay.studies.check.settings import CheckSettings
from xassay.studies.check.subject import Subject
from xassay.studies.kit.cells import StudyCell


@attrs.frozen
class CheckCell(StudyCell):
    """What all cells of a check share.

    Attributes:
        subject: the model and its data.
        settings: the check's.
        start: the first of its rows.
        stop: the first row after them.
        seconds: what it is expected to take.
    """

    subject: Shared[Subject] = attrs.field(eq=False, repr=False)
    settings: CheckSettings
    start: int
    stop: int
    seconds: float = attrs.field(eq=False)

    @abstractmethod
    def lost(self, reason: str) -> pl.DataFrame:
        """What stands for the cell where it was not done: its rows, failed."""

    @property
    def part(self) -> slice:
        """Its rows."""
        return slice(self.start, self.stop)

    @property
    def span(self) -> str:
        """Its rows, for its label."""
        return f"rows{self.start}to{self.stop}"

    @property
    def cost(self) -> float:
        """Expected seconds."""
        return self.seconds

    def in_its_own_state(self, purpose: str) -> Any:
        """Numpy's global generator seeded: a model that draws from it does so alike in every run."""
        return global_state(legacy_seed(self.settings.seed, purpose, self.start))
