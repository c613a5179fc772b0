"""What people see on a terminal: tables, one progress bar, plain lines in a log."""

import itertools
import sys
import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from xassay.texts import printable
from xassay.views import Block, Cell, Column, Score, View

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress

_LOG_WIDTH = 120
_LOG_SECONDS = 15.0
_GAP = 2
_HEADING = 20
"""Longer headings are folded."""
_CELL = 40
"""And longer cells, which are names."""


def console(*, stderr: bool = False) -> Console:
    """A console; a log or pipe gets wide plain lines."""
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else _LOG_WIDTH
    return Console(stderr=stderr, width=width, highlight=False, soft_wrap=False, emoji=False)


def say(text: str, *, stderr: bool = False, style: str | None = None, out: Console | None = None) -> None:
    """Print a line that may hold names: nothing in it is obeyed, neither as markup nor by the terminal.

    Args:
        text: the line.
        stderr: print it on standard error.
        style: how it looks.
        out: where to, in place of these.
    """
    (out or console(stderr=stderr)).print(printable(text), markup=False, style=style)


def plain(text: str) -> str:
    """A name as markup that shows it as it is."""
    return escape(printable(text))


def duration(seconds: float) -> str:
    """A time for people.

    Example:
        >>> duration(42.3), duration(600)
        ('42 s', '10 min')
    """
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"  # noqa: PLR2004


def plural(n: int, noun: str) -> str:
    """So many of them.

    Example:
        >>> plural(1, "job"), plural(1200, "cell")
        ('1 job', '1,200 cells')
    """
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


class Bar:
    """One progress bar with an ETA on a terminal, a plain line now and then in a log.

    Attributes:
        title: a line to begin with.
        notices: what to say below it.
    """

    def __init__(self, title: str, notices: Sequence[str] = ()) -> None:
        self.title, self.notices = title, notices
        self._console = console(stderr=True)
        self._bar: RichProgress | None = None
        self._task: Any = None
        self._total = self._done = self._before = 0.0
        self._began = self._said = 0.0

    def start(self, total: float, done: float) -> None:
        """Begin; ``done`` was done by an earlier run."""
        self._total, self._done, self._before = max(total, 1e-9), done, done
        self._began = self._said = time.monotonic()
        say(self.title, out=self._console)
        for notice in self.notices:
            say(f"note: {notice}", style="yellow", out=self._console)
        if done:
            self._console.print(f"continuing: {done / self._total:.0%} was already computed")
        if self._console.is_terminal and done < total:
            from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

            self._bar = Progress(
                TextColumn("{task.percentage:>3.0f}%"),
                BarColumn(bar_width=None),
                TimeElapsedColumn(),
                TextColumn("{task.fields[eta]}", markup=False),
                console=self._console,
                transient=True,
            )
            self._bar.start()
            self._task = self._bar.add_task("", total=self._total, eta="")
            self._bar.update(self._task, completed=done)

    def advance(self, label: str, cost: float) -> None:
        """One more unit is done."""
        self._done += cost
        if self._bar is not None:
            self._bar.update(self._task, completed=self._done, eta=f"{self._eta()} {printable(label)}"[:60])
        elif time.monotonic() - self._said > _LOG_SECONDS:
            self._said = time.monotonic()
            self._console.print(f"{self._done / self._total:.0%} done, {self._eta()}")

    def _eta(self) -> str:
        spent = time.monotonic() - self._began
        left = spent / max(self._done - self._before, 1e-9) * (self._total - self._done)
        return f"about {duration(left)} left"

    def stop(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


def print_view(view: View, out: Console | None = None) -> None:
    """The tables of a run: ours, interval, published, difference.

    Args:
        view: what to print.
        out: where to. Default: standard output.
    """
    out = out or console()
    for section in view.sections:
        if not section.terminal:
            continue
        for block in section.blocks:
            _print_block(block, out)
        for texts in section.tables:
            if texts.title:
                out.print(f"[bold]{plain(texts.title)}[/bold]")
            out.print(
                table(list(map(plain, texts.columns)), [[_cell(cell) for cell in row] for row in texts.rows])
            )
    for line in view.notices:
        say(f"note: {line}", style="yellow", out=out)


def print_failures(view: View) -> None:
    """What could not be scored, on standard error."""
    for failure in view.failures:
        say(f"failed: {failure}", stderr=True, style="red")


class _Strip(NamedTuple):
    """Columns that stay together, each a heading and its cells, in markup."""

    headings: list[str]
    cells: list[list[str]]

    @property
    def widths(self) -> list[int]:
        """As wide as the cells, and for a heading up to what names usually need."""
        return [
            max(min(_width(heading), _HEADING), *map(_width, cells), 1)
            for heading, cells in zip(self.headings, self.cells, strict=True)
        ]


def _print_block(block: Block, out: Console) -> None:
    """A block as one table, or as several below each other where it is too wide for one."""
    counts = {line.counts for line in block.lines}
    n, comma, wrong = next(iter(counts), "0").partition(", ")
    noun = block.counted.removesuffix("s") if n == "1" else block.counted
    shared = "" if len(counts) > 1 else f", {n} {noun}{comma}{wrong}"
    out.print(f"[bold]{plain(block.title)}{shared}[/bold]")
    every = list(_strips(block, several=len(counts) > 1))
    room = out.width - sum(_names(block, every).widths) - _GAP
    for strips in _pages(every, room):
        first = _names(block, strips)
        made = table([], [])
        for strip in (first, *strips):
            for heading, width in zip(strip.headings, strip.widths, strict=True):
                made.add_column(heading, width=width, overflow="fold")
        columns = [column for strip in (first, *strips) for column in strip.cells]
        for cells in zip(*columns, strict=True):
            made.add_row(*cells)
        out.print(made)


def _names(block: Block, strips: Sequence[_Strip]) -> _Strip:
    """The first column, beside these."""
    names = []
    for k, line in enumerate(block.lines):
        has_published = any("\n" in cells[k] for strip in strips for cells in strip.cells)
        names.append(plain(line.name) + ("\n[dim]  published (diff.)[/dim]" if has_published else ""))
    top = "\n" if block.groups else ""
    return _Strip([top + plain(block.head)], [names])


def _strips(block: Block, *, several: bool) -> Iterable[_Strip]:
    """The columns after the first; those of a group are one strip."""
    shown = [column for column in block.columns if column.terminal]
    top = "\n" if block.groups else ""
    for group, members in itertools.groupby(shown, key=lambda column: column.group or column.key):
        columns = list(members)
        cells = [[_score(line.scores.get(column.key), column) for line in block.lines] for column in columns]
        headings = [top + plain(column.title) for column in columns]
        if columns[0].group:
            headings[0] = plain(group) + headings[0]
        yield _Strip(headings, cells)
    for k, heading in enumerate(block.remarks):
        yield _Strip([top + plain(heading)], [[_cell(line.remarks[k]) for line in block.lines]])
    if several:
        yield _Strip([top + block.counted], [[line.counts for line in block.lines]])


def _pages(strips: Iterable[_Strip], room: int) -> Iterable[list[_Strip]]:
    """Strips that fit beside each other."""
    page: list[_Strip] = []
    for strip in strips:
        wanted = sum(width + _GAP for one in (*page, strip) for width in one.widths)
        if page and wanted - _GAP > room:
            yield page
            page = []
        page.append(strip)
    yield page


def _score(score: Score | None, column: Column) -> str:
    if score is None:
        return ""
    below = f"\n[dim]{score.beside}[/dim]" if score.beside else ""
    return plain(score.figure if column.brief else _narrow(score.text)) + below


def _cell(cell: Cell) -> str:
    return f"[bold]{plain(cell.text)}[/bold]" if cell.strong else plain(cell.text)


def _width(markup: str) -> int:
    return max(cell_len(Text.from_markup(line).plain) for line in markup.split("\n"))


def _narrow(text: str) -> str:
    """Bounds without their leading zero, so that three scores fit eighty columns."""
    return text.replace("[0.", "[.").replace(", 0.", ", .")


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """A plain table; cells may hold markup."""
    made = Table(box=None, pad_edge=False, header_style="dim", padding=(0, _GAP, 0, 0))
    for column in columns:
        made.add_column(column, overflow="fold")
    for row in rows:
        made.add_row(*row)
    return made
