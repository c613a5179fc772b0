"""Plots as inline SVG; their numbers come from the view.

A plot's frame has one row a mark. Its panels, rows and series are drawn in the order in which
the frame names them. The columns that each kind reads:

* ``dots``: panel, row, series (texts), value, low, high, published;
* ``curves``: down, across (texts, the grid of panels), series, x, value, low, high;
* ``bands``: panel, x, low, q1, median, q3, high.
"""

import io
import math
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from xassay.texts import printable
from xassay.views import Plot

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_MARKERS = "osv^P"
_STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "xassay",
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
}
_GRID: Any = {"color": "#dddddd", "linewidth": 0.6}
_WIDTH, _PANELS_ACROSS = 11, 3
_LEGEND_CHARACTERS = 120
_LABEL_CHARACTERS = 60
_LINEAR_SPAN = 100
"""Values that span more than two decades are drawn on a logarithmic axis."""
_LOG_SPAN = 1e6
"""And no more decades than these: what is nil but for rounding would squeeze everything else."""


class _Axis(NamedTuple):
    log: bool
    low: float
    high: float


def draw(plot: Plot) -> str:
    """A plot as SVG.

    Args:
        plot: what to draw; it has at least one row.
    """
    from matplotlib import rc_context

    kinds = {"dots": dots, "curves": curves, "bands": bands}
    with rc_context(_STYLE):
        return _svg(kinds[plot.kind](plot))


def dots(plot: Plot) -> "Figure":
    """Values with intervals, a colour a series, rows down, panels across; hollow diamonds are published."""
    data = plot.data
    panels, rows, series = (_named(data, column) for column in ("panel", "row", "series"))
    axis = _axis(data, plot.limits)
    across = min(len(panels), _PANELS_ACROSS)
    down = -(-len(panels) // across)
    # room for the panel's title and, on top of what rows need, for the one legend
    height = 0.7 + down * (0.6 + 0.16 * len(rows) * (len(series) + 1))
    figure, grid = _grid(down, across, height)
    for place, panel in enumerate(panels):
        ax = grid[place // across][place % across]
        for k in range(0, len(rows), 2):
            ax.axhspan(-k - 0.5, -k + 0.5, color="#f6f7f9", linewidth=0)
        for row in data.filter(pl.col("panel") == panel).iter_rows(named=True):
            k = series.index(row["series"])
            offset = 0.75 * (k - (len(series) - 1) / 2) / len(series)
            _dot(ax, row, -(rows.index(row["row"]) + offset), k, axis)
        ax.set(title=_text(panel), xlabel=_text(plot.x_label), xlim=(axis.low, axis.high))
        if axis.log:
            ax.set_xscale("log")
        ax.set_ylim(-len(rows) + 0.5, 0.5)
        ax.set_yticks([-k for k in range(len(rows))], [_text(name) for name in rows])
        ax.grid(axis="x", **_GRID)
        ax.set_axisbelow(True)
    for place in range(len(panels), down * across):
        grid[place // across][place % across].set_visible(False)
    first = grid[0][0]
    handles = [
        first.plot([], [], _marker(k), color=_colour(k), label=_text(name))[0]
        for k, name in enumerate(series)
    ]
    if data["published"].is_not_null().any():
        handles += first.plot([], [], "D", mfc="none", color="#555555", markersize=5, label="published")
    _legend(figure, handles)
    return figure


def _dot(ax: Any, row: dict[str, Any], y: float, k: int, axis: _Axis) -> None:
    colour = _colour(k)
    if _is_number(row["value"]):
        if _is_number(row["low"]) and row["high"] is not None:
            bounds = [max(row["low"], axis.low), min(row["high"], axis.high)]
            ax.plot(bounds, [y, y], color=colour, linewidth=1.4, solid_capstyle="butt")
        if axis.log and row["value"] <= axis.low:
            ax.plot(axis.low, y, "<", color=colour, markersize=4.5, clip_on=False)
        else:
            ax.plot(row["value"], y, _marker(k), color=colour, markersize=4.5)
    if _is_number(row["published"]):
        at = max(row["published"], axis.low) if axis.log else row["published"]
        is_off = axis.log and row["published"] <= axis.low
        ax.plot(at, y, "<" if is_off else "D", mfc="none", color=colour, markersize=5, clip_on=not is_off)


def _axis(data: pl.DataFrame, limits: tuple[float, float] | None) -> _Axis:
    if limits is not None:
        return _Axis(log=False, low=limits[0], high=limits[1])
    drawn = [
        value
        for column in ("value", "low", "high", "published")
        for value in data[column].to_list()
        if _is_number(value)
    ]
    if not drawn:
        return _Axis(log=False, low=0, high=1)
    positive = [value for value in drawn if value > 0]
    if min(drawn) >= 0 and positive and max(positive) > _LINEAR_SPAN * min(positive):
        floor = max(min(positive), max(positive) / _LOG_SPAN)
        return _Axis(log=True, low=floor / 1.6, high=max(positive) * 1.6)
    low, high = min(0.0, *drawn), max(0.0, *drawn)
    margin = 0.03 * (high - low) or 1.0
    return _Axis(log=False, low=low - (margin if low < 0 else 0), high=high + margin)


def curves(plot: Plot) -> "Figure":
    """Values against x with intervals, a colour a series, in a grid of panels."""
    data = plot.data
    downs, acrosses, series = (_named(data, column) for column in ("down", "across", "series"))
    figure, grid = _grid(len(downs), len(acrosses), 0.8 + 2.4 * len(downs), sharex=True)
    for i, down in enumerate(downs):
        for j, across in enumerate(acrosses):
            ax = grid[i][j]
            for k, name in enumerate(series):
                rows = data.filter(
                    pl.col("down") == down, pl.col("across") == across, pl.col("series") == name
                ).sort("x")
                style = {"color": _colour(k), "marker": _marker(k), "markersize": 3.5}
                ax.plot(rows["x"].to_list(), rows["value"].to_list(), label=_text(name), **style)
                bounded = rows.drop_nulls("low")
                bounds = (bounded[column].to_list() for column in ("x", "low", "high"))
                ax.fill_between(*bounds, color=_colour(k), alpha=0.12, linewidth=0)
            ax.set(title=_text(f"{down}: {across}"), ylim=plot.limits)
            ax.grid(**_GRID)
    for ax in grid[-1]:
        ax.set_xlabel(_text(plot.x_label))
    _legend(figure, grid[0][0].get_legend_handles_labels()[0])
    return figure


def bands(plot: Plot) -> "Figure":
    """Five quantiles at each x, a panel a shape; the thin diagonal is where they would sit on x."""
    data = plot.data
    panels = _named(data, "panel")
    across = min(len(panels), _PANELS_ACROSS)
    down = -(-len(panels) // across)
    figure, grid = _grid(down, across, 0.4 + 3.6 * down)
    ends = [data["x"].min(), data["x"].max()]
    for place in range(down * across):
        ax = grid[place // across][place % across]
        if place >= len(panels):
            ax.set_visible(False)
            continue
        rows = data.filter(pl.col("panel") == panels[place]).sort("x")
        x = rows["x"].to_list()
        ax.plot(ends, ends, color="#999999", linewidth=0.8, zorder=1)
        ax.vlines(x, rows["low"].to_list(), rows["high"].to_list(), color=_COLOURS[0], linewidth=1.2)
        ax.vlines(x, rows["q1"].to_list(), rows["q3"].to_list(), color=_COLOURS[0], linewidth=7, alpha=0.45)
        ax.plot(x, rows["median"].to_list(), "o", color=_COLOURS[0], markersize=4)
        ax.set(title=_text(panels[place]), xlabel=_text(plot.x_label))
        ax.grid(**_GRID)
        ax.set_axisbelow(True)
    for row in grid:
        row[0].set_ylabel(_text(plot.y_label))
    return figure


def _grid(down: int, across: int, height: float, *, sharex: bool = False) -> tuple["Figure", Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(_WIDTH, height), layout="constrained")
    return figure, figure.subplots(down, across, squeeze=False, sharex=sharex, sharey=True)


def _legend(figure: "Figure", handles: list[Any]) -> None:
    longest = max(len(handle.get_label()) for handle in handles)
    columns = max(1, min(len(handles), _LEGEND_CHARACTERS // (longest + 5)))
    figure.legend(handles=handles, loc="outside lower center", ncols=columns, frameon=False)


def _named(data: pl.DataFrame, column: str) -> list[str]:
    return data[column].unique(maintain_order=True).to_list()


def _colour(k: int) -> str:
    return _COLOURS[k % len(_COLOURS)]


def _marker(k: int) -> str:
    """Another marker once the colours are used up."""
    return _MARKERS[k // len(_COLOURS) % len(_MARKERS)]


def _is_number(value: float | None) -> bool:
    return value is not None and math.isfinite(value)


def _text(name: str) -> str:
    """A name as it is: matplotlib would read dollars as formulas and hide a leading underscore."""
    name = printable(name)
    cut = name if len(name) <= _LABEL_CHARACTERS else f"{name[: _LABEL_CHARACTERS - 1]}…"
    return (
        cut.replace("$", r"\$").replace("_", "\u200b_", 1) if cut.startswith("_") else cut.replace("$", r"\$")
    )


def _svg(figure: "Figure") -> str:
    buffer = io.StringIO()
    with warnings.catch_warnings():
        # the browser draws the text, so a glyph that is missing here is none of the reader's trouble
        warnings.filterwarnings("ignore", message="Glyph")
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :]
