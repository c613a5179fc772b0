"""A score with its interval, and what it rests on: what studies compute, results hold and pages show."""

import math
from collections.abc import Mapping
from typing import Any

import attrs

Bounds = tuple[float, float]
"""The lower and the upper end of an interval."""


@attrs.frozen
class Estimate:
    """A score with its interval, and what it rests on.

    Attributes:
        value: the score; NaN where it is undefined, None where it failed.
        bounds: its interval; None where nothing was left to chance, or nothing can be said.
        n: how many explanations, rows or trials it rests on, those without a score included.
        n_failed: how many of these failed.
        n_undefined: how many were undefined.
        reason: why one of them failed.

    Example:
        >>> Estimate(0.5, (0.4, 0.7), n=3).columns["ci_low"]
        0.4
    """

    value: float | None
    bounds: Bounds | None = None
    n: int = 0
    n_failed: int = 0
    n_undefined: int = 0
    reason: str | None = None

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> "Estimate":
        """From a row of results."""
        low, high = row["ci_low"], row["ci_high"]
        bounds = None if low is None or high is None else (low, high)
        counts = (row["n"], row["n_failed"], row["n_undefined"])
        return cls(row["value"], bounds, *counts, row["reason"])

    @property
    def low(self) -> float | None:
        """The lower end of its interval."""
        return None if self.bounds is None else self.bounds[0]

    @property
    def high(self) -> float | None:
        """The upper end."""
        return None if self.bounds is None else self.bounds[1]

    @property
    def failed(self) -> bool:
        """Whether it has no value because what it rests on failed."""
        return self.value is None

    @property
    def number(self) -> float:
        """The value, NaN where it failed too."""
        return math.nan if self.value is None else self.value

    @property
    def defined(self) -> bool:
        """Whether there is a number."""
        return not math.isnan(self.number)

    @property
    def columns(self) -> dict[str, Any]:
        """What results say of it."""
        return {
            "value": self.value,
            "ci_low": self.low,
            "ci_high": self.high,
            "n": self.n,
            "n_failed": self.n_failed,
            "n_undefined": self.n_undefined,
            "status": "failed" if self.failed else "ok",
            "reason": self.reason,
        }
