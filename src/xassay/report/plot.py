"""Plots as inline SVG; their numbers come from the view."""

import io
from typing import TYPE_CHECKING, Any

import polars as pl

from xassay.metrics import describe
from xassay.report.view import PLOTTED

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "xassay",
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def scores_svg(points: pl.DataFrame) -> str:
    """Each explainer's scores with intervals, a panel a metric; hollow diamonds are published."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    explainers = _in_order(points)
    circuits = points["circuit"].unique(maintain_order=True).to_list()
    with rc_context(_STYLE):
        figure = Figure(
            figsize=(11, 1.3 + 0.16 * len(explainers) * (len(circuits) + 1)), layout="constrained"
        )
        axes = figure.subplots(1, len(PLOTTED), sharey=True, squeeze=False)[0]
        for axis, metric in zip(axes, PLOTTED, strict=True):
            for k, circuit in enumerate(circuits):
                rows = points.filter(pl.col("metric") == metric, pl.col("circuit") == circuit)
                for row in rows.iter_rows(named=True):
                    y = -(
                        explainers.index(row["explainer"])
                        + 0.75 * (k - (len(circuits) - 1) / 2) / len(circuits)
                    )
                    _point(axis, row, y, _COLOURS[k % len(_COLOURS)])
            axis.set(title=describe(metric).full_name, xlim=(0, 1.02))
            axis.set_yticks([-k for k in range(len(explainers))], [_short(name) for name in explainers])
            axis.grid(axis="x", color="#dddddd", linewidth=0.6)
            axis.set_axisbelow(True)
        handles = [
            axes[0].plot([], [], "o", color=_COLOURS[k % len(_COLOURS)], label=circuit)[0]
            for k, circuit in enumerate(circuits)
        ]
        if points["published"].is_not_null().any():
            handles += axes[0].plot([], [], "D", mfc="none", color="#555555", markersize=5, label="published")
        figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), frameon=False)
        return _svg(figure)


def _point(axis: Any, row: dict[str, Any], y: float, colour: str) -> None:
    if row["value"] is not None:
        if row["ci_low"] is not None:
            axis.plot(
                [row["ci_low"], row["ci_high"]], [y, y], color=colour, linewidth=1.4, solid_capstyle="butt"
            )
        axis.plot(row["value"], y, "o", color=colour, markersize=4.5)
    if row["published"] is not None:
        axis.plot(row["published"], y, "D", mfc="none", color=colour, markersize=5)


def curves_svg(curves: pl.DataFrame) -> str:
    """Score against background proportion, a panel a circuit and metric."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    explainers = _in_order(curves)
    circuits = curves["circuit"].unique(maintain_order=True).to_list()
    with rc_context(_STYLE):
        figure = Figure(figsize=(11, 0.8 + 2.4 * len(circuits)), layout="constrained")
        axes = figure.subplots(len(circuits), len(PLOTTED), squeeze=False, sharex=True, sharey=True)
        for i, circuit in enumerate(circuits):
            for j, metric in enumerate(PLOTTED):
                for k, explainer in enumerate(explainers):
                    rows = curves.filter(
                        pl.col("circuit") == circuit,
                        pl.col("metric") == metric,
                        pl.col("explainer") == explainer,
                    )
                    colour = _COLOURS[k % len(_COLOURS)]
                    x, y = rows["background"].to_list(), rows["value"].to_list()
                    axes[i, j].plot(x, y, "o-", color=colour, markersize=3.5, label=_short(explainer))
                    bounded = rows.drop_nulls("ci_low")
                    axes[i, j].fill_between(
                        bounded["background"].to_list(),
                        bounded["ci_low"].to_list(),
                        bounded["ci_high"].to_list(),
                        color=colour,
                        alpha=0.12,
                        linewidth=0,
                    )
                axes[i, j].set(title=f"{circuit}: {describe(metric).full_name}", ylim=(0, 1.02))
                axes[i, j].grid(color="#dddddd", linewidth=0.6)
        for axis in axes[-1]:
            axis.set_xlabel("background proportion")
        handles, labels = axes[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=min(6, len(labels)), frameon=False)
        return _svg(figure)


def _in_order(table: pl.DataFrame) -> list[str]:
    """Explainers by falling mean score."""
    means = table.filter(pl.col("value").is_not_nan()).group_by("explainer").agg(pl.col("value").mean())
    ranked = means.sort(["value", "explainer"], descending=[True, False])["explainer"].to_list()
    return ranked + sorted(set(table["explainer"]) - set(ranked))


def _short(name: str) -> str:
    return name.rpartition("/")[2]


def _svg(figure: "Figure") -> str:
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :]
