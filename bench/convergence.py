"""How an explainer's scores approach those of the exact values as it may draw more.

Native Kernel and Sampling SHAP over a range of budgets, on all explanations of the study's
circuits at its backgrounds, with the exact Shapley values as the limit. The limit depends on which
inputs count as causes: the truth is altered (the published one), model or function.

Usage: python bench/convergence.py [jobs] [truth] [figure.svg]
"""

import sys
from pathlib import Path
from typing import Any

import polars as pl

import xassay
from xassay.metrics import describe

BUDGETS = {
    "kernel_shap": (50, 100, 200, 500, 1000, 2000, 5000),
    "sampling_shap": (50, 100, 200, 500, 1000, 2000, 5000),
}
METRICS = ("mrr", "map", "mr_precision")


def main() -> None:
    """Print one table, and draw it where a file is named."""
    jobs = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    truth = sys.argv[2] if len(sys.argv) > 2 else "altered"  # noqa: PLR2004 - the second argument
    specs = [f"{name}:nsamples={budget}" for name, budgets in BUDGETS.items() for budget in budgets]
    done = xassay.run_crem(
        circuits=("74181", "74182", "74283"),
        explainers=("exact_shapley", *specs),
        truth=truth,
        sample=None,
        repeats=1,
        jobs=jobs,
    )
    scores = done.scores.filter(level="circuit").filter(pl.col("metric").is_in(METRICS))
    print(f"truth: {truth}")
    print(f"{'circuit':8} {'explainer':32} {'MRR':>8} {'MAP':>8} {'MR-Prec.':>9}")
    for (circuit, explainer), rows in scores.group_by("circuit", "explainer", maintain_order=True):
        values = dict(rows.select("metric", "value").iter_rows())
        print(f"{circuit:8} {explainer:32} " + " ".join(f"{values[metric]:8.4f}" for metric in METRICS))
    if len(sys.argv) > 3:  # noqa: PLR2004 - the third argument
        _draw(scores, Path(sys.argv[3]))


def _draw(scores: pl.DataFrame, path: Path) -> None:
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    circuits = scores["circuit"].unique().sort().to_list()
    style: Any = {"svg.fonttype": "none", "svg.hashsalt": "xassay", "font.size": 10}
    with rc_context(style):
        figure = Figure(figsize=(11, 2.6 * len(circuits)), layout="constrained")
        axes = figure.subplots(len(circuits), len(METRICS), squeeze=False, sharex=True)
        for i, circuit in enumerate(circuits):
            for j, metric in enumerate(METRICS):
                part = scores.filter(circuit=circuit, metric=metric)
                exact = part.filter(explainer="exact_shapley")["value"][0]
                axes[i, j].axhline(exact, color="#000000", linewidth=1, linestyle="--", label="exact values")
                for name, colour in (("kernel_shap", "#0072B2"), ("sampling_shap", "#D55E00")):
                    found = dict(part.select("explainer", "value").iter_rows())
                    budgets = [b for b in BUDGETS[name] if f"{name}:nsamples={b}" in found]
                    y = [found[f"{name}:nsamples={b}"] for b in budgets]
                    axes[i, j].plot(budgets, y, "o-", color=colour, markersize=3.5, label=name)
                axes[i, j].set(title=f"{circuit}: {describe(metric).full_name}", xscale="log")
                axes[i, j].grid(color="#dddddd", linewidth=0.6)
        for axis in axes[-1]:
            axis.set_xlabel("samples an explanation")
        handles, labels = axes[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
        figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})


if __name__ == "__main__":
    main()
