"""What cells of all studies are alike in: a key and a label."""

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

import attrs
import numpy as np
import polars as pl

from xassay.texts import file_safe


@attrs.frozen
class StudyCell(ABC):
    """A unit of a study's work, see `xassay.types.Cell`: its key is made of what decides its result."""

    @property
    @abstractmethod
    def content(self) -> dict[str, Any]:
        """Everything that decides the result, versions of the code included."""

    @property
    @abstractmethod
    def words(self) -> Iterable[str]:
        """What tells it from other cells, for people."""

    @property
    @abstractmethod
    def cost(self) -> float:
        """Expected work, roughly."""

    @abstractmethod
    def run(self) -> pl.DataFrame:
        """Do the work."""

    @property
    def key(self) -> str:
        """Short hash of everything that decides the result; arrays count by their bytes."""
        text = json.dumps(self.content, sort_keys=True, default=_bytes)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def label(self) -> str:
        """Readable, and safe as a file name."""
        return file_safe("-".join(self.words), "-")

    @property
    def turn(self) -> int:
        """Cells of a lower turn are computed first; here none goes before another."""
        return 0

    def written(self, *but: str) -> dict[str, str]:
        """Its fields as texts, for `content`.

        Args:
            but: names of fields that decide nothing, or are told in another way.
        """
        names = (field.name for field in attrs.fields(type(self)))
        return {name: repr(getattr(self, name)) for name in names if name not in but}


def _bytes(value: Any) -> str:
    array = np.ascontiguousarray(value)
    return f"{array.shape} {array.dtype} {hashlib.sha256(array.tobytes()).hexdigest()}"
