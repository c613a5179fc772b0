"""What views of all studies are alike in."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import polars as pl

from xassay.metrics import describe
from xassay.views import Section, View

Extra = Mapping[str, pl.DataFrame]
"""Further tables of a run, by name."""


class Builder(NamedTuple):
    """How a study's results become a view.

    Attributes:
        build: plan, scores, tests and further tables by name -> view.
        extra: tables that the run may have beside them, with their columns.
    """

    build: Callable[[dict[str, Any], pl.DataFrame, pl.DataFrame, Extra], View]
    extra: Mapping[str, Iterable[str]]


def view_of(
    plan: Mapping[str, Any],
    *,
    title: str,
    intro: Iterable[str],
    facts: Mapping[str, str | None],
    failures: Iterable[str],
    sections: Iterable[Section | None],
) -> View:
    """A view with what all studies show alike: seed, versions of libraries and notices of the run.

    Args:
        plan: the run's.
        title: its heading.
        intro: the paragraphs under it.
        facts: what was asked for, by name; empty ones are not shown.
        failures: what could not be scored.
        sections: its parts; None where there is nothing to show.
    """
    found = sorted(plan.get("versions", {}).items())
    versions = ", ".join(f"{name} {version}" for name, version in found)
    asked = ((name, text) for name, text in facts.items() if text)
    return View(
        title=title,
        intro=tuple(intro),
        facts=(*asked, ("seed", str(plan["settings"]["seed"])), ("versions", versions)),
        notices=tuple(plan.get("notices", ())),
        failures=tuple(failures),
        sections=tuple(section for section in sections if section is not None),
    )


def dots(table: pl.DataFrame, panel: pl.Expr, row: pl.Expr, series: pl.Expr) -> pl.DataFrame:
    """Rows of results as dots of a plot.

    Args:
        table: rows of results, in the order in which they are drawn.
        panel: which part of the plot each stands in.
        row: which line.
        series: which colour it has.
    """
    return table.select(
        panel.alias("panel"),
        row.alias("row"),
        series.alias("series"),
        "value",
        pl.col("ci_low").alias("low"),
        pl.col("ci_high").alias("high"),
        "published",
    )


def titled(row: Mapping[str, Any]) -> str:
    """The full name of a row's metric, with the sigma that it was measured at.

    Example:
        >>> titled({"metric": "mrr", "sigma": None}), titled({"metric": "mrr", "sigma": 0.1})
        ('MRR', 'MRR, sigma 0.1')
    """
    title = describe(row["metric"]).full_name
    return title if row["sigma"] is None else f"{title}, sigma {row['sigma']:g}"
