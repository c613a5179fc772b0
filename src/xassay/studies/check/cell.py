"""What all cells of a check share."""

import hashlib
import json
from abc import ABC, abstractmethod
from typing import Any

import attrs
import numpy as np
import polars as pl

from xassay.processes import Shared
from xassay.seeds import global_state, legacy_seed
from xassay.studies.check.settings import CheckSettings
from xassay.studies.check.subject import Subject


@attrs.frozen
class CheckCell(ABC):
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

    @property
    @abstractmethod
    def key(self) -> str:
        """Short hash of everything that decides the result."""

    @property
    @abstractmethod
    def label(self) -> str:
        """Readable, and safe as a file name."""

    @property
    @abstractmethod
    def turn(self) -> int:
        """Cells of a lower turn are computed first."""

    @abstractmethod
    def run(self) -> pl.DataFrame:
        """Do the work."""

    @abstractmethod
    def lost(self, reason: str) -> pl.DataFrame:
        """What stands for the cell where it was not done: its rows, failed."""

    @property
    def part(self) -> slice:
        """Its rows."""
        return slice(self.start, self.stop)

    @property
    def cost(self) -> float:
        """Expected seconds."""
        return self.seconds

    def in_its_own_state(self, purpose: str) -> Any:
        """Numpy's global generator seeded: a model that draws from it does so alike in every run."""
        return global_state(legacy_seed(self.settings.seed, purpose, self.start))


def hashed(content: dict[str, Any]) -> str:
    """A short hash of what decides a result; arrays count by their bytes."""
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=_bytes).encode()).hexdigest()[:16]


def _bytes(value: Any) -> str:
    array = np.ascontiguousarray(value)
    return f"{array.shape} {array.dtype} {hashlib.sha256(array.tobytes()).hexdigest()}"
