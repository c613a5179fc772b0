"""What people see on a terminal: tables, one progress bar, plain lines in a log."""

import sys
import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from xassay.report.view import Block, View, overall

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress

_LOG_WIDTH = 120
_LOG_SECONDS = 15.0


def console(*, stderr: bool = False) -> Console:
    """A console; a log or pipe gets wide plain lines."""
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else _LOG_WIDTH
    return Console(stderr=stderr, width=width, highlight=False, soft_wrap=False)


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
        self._console.print(self.title, markup=False)
        for notice in self.notices:
            self._console.print(f"note: {notice}", style="yellow", markup=False)
        if done:
            self._console.print(f"continuing: {done / self._total:.0%} was already computed")
        if self._console.is_terminal and done < total:
            from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

            self._bar = Progress(
                TextColumn("{task.percentage:>3.0f}%"),
                BarColumn(bar_width=None),
                TimeElapsedColumn(),
                TextColumn("{task.fields[eta]}"),
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
            self._bar.update(self._task, completed=self._done, eta=f"{self._eta()} {label}"[:60])
        elif time.monotonic() - self._said > _LOG_SECONDS:
            self._said = time.monotonic()
            self._console.print(f"{self._done / self._total:.0%} done, {self._eta()}")

    def _eta(self) -> str:
        spent = time.monotonic() - self._began
        left = spent / max(self._done - self._before, 1e-9) * (self._total - self._done)
        return f"about {left / 60:.0f} min left" if left >= 90 else f"about {left:.0f} s left"  # noqa: PLR2004

    def stop(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


def print_view(view: View) -> None:
    """The tables of a run: ours, interval, published, difference."""
    out = console()
    for block in (*view.correctness, *view.robustness):
        title, made = _block(block)
        out.print(f"[bold]{escape(title)}[/bold]")
        out.print(made)
    if view.best:
        rows = [
            [best.circuit, best.explainer, best.metric, f"{best.proportion:g}", f"{best.value:.3f}"]
            for best in view.best
        ]
        out.print(table(["circuit", "explainer", "metric", "best background", "score"], rows))
    if tests := overall(view.tests):
        rows = [
            [test.metric, test.name, test.statistic, f"{test.p_value:.2g}", test.blocks] for test in tests
        ]
        out.print(table(["metric", "test of the explainers", "statistic", "p", "blocks"], rows))
    for line in view.notices:
        out.print(f"note: {line}", markup=False, style="yellow")


def print_failures(view: View) -> None:
    """What could not be scored, on standard error."""
    said = console(stderr=True)
    for failure in view.failures:
        said.print(f"failed: {failure}", markup=False, style="red")


def _block(block: Block) -> tuple[str, Table]:
    """A block as a title and a table; exact match is left to the page, as the terminal is narrow."""
    columns = [(key, name) for key, name in block.columns if key != "exact_match"]
    counts = {line.counts for line in block.lines}
    rows = []
    for line in block.lines:
        scores = [line.scores.get(key) for key, _ in columns]
        published = [score.beside if score else "" for score in scores]
        below = any(published)
        cells = [
            (escape(_narrow(score.text)) if score else "") + (f"\n[dim]{beside}[/dim]" if below else "")
            for score, beside in zip(scores, published, strict=True)
        ]
        name = escape(line.explainer) + ("\n[dim]  published (diff.)[/dim]" if below else "")
        rows.append([name, *cells, *([line.counts] if len(counts) > 1 else [])])
    last = ["explained"] if len(counts) > 1 else []
    n, comma, wrong = next(iter(counts)).partition(", ")
    shared = "" if len(counts) > 1 else f", {n} explanations{comma}{wrong}"
    return f"{block.title}{shared}", table(["explainer", *(name for _, name in columns), *last], rows)


def _narrow(text: str) -> str:
    """Bounds without their leading zero, so that three scores fit eighty columns."""
    return text.replace("[0.", "[.").replace(", 0.", ", .")


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """A plain table; cells may hold markup."""
    made = Table(*columns, box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for row in rows:
        made.add_row(*row)
    return made
