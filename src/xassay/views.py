"""What a report shows, as plain data for the terminal and the page alike. Computes no score."""

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal

import attrs
import polars as pl

from xassay.estimates import Estimate

SIGNIFICANT = 0.05
"""Below this a p-value is marked."""

_SMALL, _LARGE = 1e-3, 1e6


@attrs.frozen
class Score:
    """One score with what stands beside it.

    Attributes:
        estimate: the score with its interval.
        published: the published figure, if there is one.
        digits: significant digits to show; None for three decimals.
        rows_lost: share of the rows that the score had to leave out.
        missing: what is shown where there is no value.
    """

    estimate: Estimate
    published: float | None = None
    digits: int | None = None
    rows_lost: float = 0.0
    missing: str = "failed"

    @classmethod
    def of(cls, row: Mapping[str, Any], digits: int | None = None) -> "Score":
        """From a row of results."""
        missing = "failed" if row["status"] in (None, "ok") else str(row["status"])
        return cls(Estimate.of(row), row["published"], digits, missing=missing)

    @property
    def figure(self) -> str:
        """The value alone: ``0.862``, ``failed`` (or ``skipped``) or ``undefined``."""
        if self.estimate.failed:
            return self.missing
        lost = f", {self.rows_lost:.0%} of rows failed" if self.rows_lost else ""
        return (self._number(self.estimate.number) if self.estimate.defined else "undefined") + lost

    @property
    def bounds(self) -> str:
        """``[0.851, 0.870]``, or nothing."""
        ends = self.estimate.bounds
        if ends is None or not self.estimate.defined:
            return ""
        return f"[{self._number(ends[0])}, {self._number(ends[1])}]"

    @property
    def text(self) -> str:
        """``0.862 [0.851, 0.870]``."""
        return f"{self.figure} {self.bounds}".rstrip()

    @property
    def beside(self) -> str:
        """``0.862 (+0.003)``: the published figure and ours minus it; empty where there is none."""
        if self.published is None:
            return ""
        difference = self.estimate.number - self.published
        if math.isnan(difference):
            return self._number(self.published)
        if self.digits is None:
            return f"{self._number(self.published)} ({difference:+.3f})"
        sign = "+" if difference > 0 else ""
        return f"{self._number(self.published)} ({sign}{significant(difference, 2)})"

    def _number(self, value: float) -> str:
        return f"{value:.3f}" if self.digits is None else significant(value, self.digits)


@attrs.frozen
class Cell:
    """Text in a table.

    Attributes:
        text: what it says.
        strong: whether it stands out.
    """

    text: str
    strong: bool = False


@attrs.frozen
class Column:
    """A column of scores.

    Attributes:
        key: its name in a line's scores.
        title: its heading.
        group: a heading over it and its neighbours of the same group.
        terminal: whether the terminal, which is narrow, shows it.
        brief: whether the terminal shows its values alone, without intervals.
    """

    key: str
    title: str
    group: str = ""
    terminal: bool = True
    brief: bool = False


@attrs.frozen
class Line:
    """A row of scores, by column.

    Attributes:
        name: what it is about.
        scores: column -> score; absent where there is none.
        detail: small print under the name.
        remarks: the cells after the scores.
    """

    name: str
    scores: dict[str, Score]
    detail: str = ""
    remarks: tuple[Cell, ...] = ()

    @property
    def counts(self) -> str:
        """How many explanations or trials the line rests on, and what went wrong with any."""
        found = [score.estimate for score in self.scores.values()]
        failed = max(one.n_failed for one in found)
        undefined = max(one.n_undefined for one in found)
        parts = [f"{max(one.n for one in found):,}"]
        parts += [f"{failed:,} failed"] if failed else []
        parts += [f"{undefined:,} undefined"] if undefined else []
        return ", ".join(parts)


@attrs.frozen
class Block:
    """A table of scores.

    Attributes:
        title: its heading.
        head: what its rows are.
        columns: its columns of scores.
        lines: its rows.
        counted: what a score rests on.
        remarks: headings of the cells after the scores.
    """

    title: str
    head: str
    columns: tuple[Column, ...]
    lines: tuple[Line, ...]
    counted: str = "explanations"
    remarks: tuple[str, ...] = ()

    @property
    def groups(self) -> tuple[tuple[str, int], ...]:
        """The headings over the columns, each with how many it spans; none if no column has one."""
        spans: list[tuple[str, int]] = []
        for column in self.columns:
            if spans and spans[-1][0] == column.group:
                spans[-1] = (column.group, spans[-1][1] + 1)
            else:
                spans.append((column.group, 1))
        return tuple(spans) if any(group for group, _ in spans) else ()


@attrs.frozen
class Table:
    """A table of texts; ``title`` may be empty."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    @classmethod
    def of(cls, title: str, columns: Iterable[str], rows: Iterable[Iterable[str]]) -> "Table":
        """Of texts of which none stands out."""
        return cls(title, tuple(columns), tuple(tuple(map(Cell, row)) for row in rows))


@attrs.frozen(eq=False)
class Plot:
    """What is drawn.

    Attributes:
        kind: which plot.
        data: what it shows; `xassay.report.plot` says which columns each kind reads.
        caption: how to read it.
        x_label: what the horizontal axis is.
        y_label: what the vertical axis is.
        limits: bounds of the axis of values; None to fit the values.
    """

    kind: Literal["dots", "curves", "bands"]
    data: pl.DataFrame
    caption: str = ""
    x_label: str = ""
    y_label: str = ""
    limits: tuple[float, float] | None = None


@attrs.frozen(eq=False)
class Section:
    """A part of the report: what it asks, a plot, tables.

    Attributes:
        title: its heading.
        text: paragraphs.
        plot: a plot, if it has one.
        blocks: tables of scores.
        tables: other tables.
        folded: tables that open on a click on their titles; the page alone has them.
        terminal: whether the terminal shows its blocks and tables.
    """

    title: str
    text: tuple[str, ...] = ()
    plot: Plot | None = None
    blocks: tuple[Block, ...] = ()
    tables: tuple[Table, ...] = ()
    folded: tuple[Table, ...] = ()
    terminal: bool = True


@attrs.frozen(eq=False)
class View:
    """Everything a report shows."""

    title: str
    intro: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    notices: tuple[str, ...]
    failures: tuple[str, ...]
    sections: tuple[Section, ...]


def significant(value: float, digits: int = 3) -> str:
    """A number to so many significant digits, whatever its size.

    Example:
        >>> [significant(x) for x in (0.1, 0.00012345, 12.345, -5310.2, 0.0)]
        ['0.100', '1.23e-4', '12.3', '-5,310', '0']
    """
    if value == 0 or not math.isfinite(value):
        return f"{value + 0.0:g}"
    # rounded first, so that 999.9 gets as many digits as 1000
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    rounded = float(f"{mantissa}e{exponent}")
    if not _SMALL <= abs(rounded) < _LARGE:
        return f"{mantissa}e{int(exponent)}"
    return f"{rounded:,.{max(digits - 1 - int(exponent), 0)}f}"


def p_cell(p_value: float | None) -> Cell:
    """A p-value; bold where it is small, a dash where there was no test.

    Example:
        >>> p_cell(0.0123), p_cell(float("nan"))
        (Cell(text='0.012', strong=True), Cell(text='-', strong=False))
    """
    if p_value is None or math.isnan(p_value):
        return Cell("-")
    return Cell(f"{p_value:.2g}", strong=p_value < SIGNIFICANT)


def short_names(names: Iterable[str]) -> dict[str, str]:
    """Names without the folders of their files, where that leaves them distinct.

    Example:
        >>> short_names(["lime", "/home/me/mine.py:explain:model=a/b"])
        {'lime': 'lime', '/home/me/mine.py:explain:model=a/b': 'mine.py:explain:model=a/b'}
    """
    short = {name: re.sub(r"^[^:]*/(?=[^/:]+\.py:)", "", name) for name in names}
    taken = list(short.values())
    return {name: label if taken.count(label) == 1 else name for name, label in short.items()}
