"""Score frames of a check, made by hand."""

from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from xassay import results
from xassay.studies.check.measures import Scores

FAITHFUL: Mapping[str, Any] = {
    "fidelity": (0.99, 0.9, 1.0),
    "rows_right": 1.0,
    "fidelity_pooled": 0.98,
    "completeness_gap": 0.05,
    "best_scale": 1.0,
    "alignment": 0.99,
    "model_calls": 100.0,
}
"""Scores of a faithful explanation."""

NAN = float("nan")


def score(metric: str, value: Any, explainer: str | None = "a", **others: Any) -> dict[str, Any]:
    """A row of a results frame; a value may be a tuple with its interval."""
    value, low, high = value if isinstance(value, tuple) else (value, None, None)
    return {
        "study": "check",
        "level": "model",
        "explainer": explainer,
        "metric": metric,
        "value": value,
        "ci_low": low,
        "ci_high": high,
        "n": 100,
        "n_failed": 0,
        "n_undefined": 0,
        "status": "ok",
        **others,
    }


def explained(explainer: str = "a", changes: Mapping[str, Any] | None = None, **others: Any) -> list[dict]:
    """Rows of a faithful explainer with some scores changed; those that are changed to ... are left out.

    Other arguments stand in every row of it.
    """
    own = {**FAITHFUL, **(changes or {})}
    return [score(metric, value, explainer, **others) for metric, value in own.items() if value is not ...]


def table(*rows: Iterable[dict]) -> pl.DataFrame:
    """A results frame."""
    return results.frame([row for part in rows for row in part], results.RESULTS)


def scores(changes: Mapping[str, Any] | None = None, **others: Any) -> Scores:
    """The scores of one explainer."""
    return Scores(table(explained("a", changes, **others)))
