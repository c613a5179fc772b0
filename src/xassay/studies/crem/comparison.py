"""Which explainers differ: Friedman and Nemenyi over the altered versions as blocks."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from xassay import explainers
from xassay.metrics import describe
from xassay.statistics import compare

Proportions = Mapping[str, float]
"""Circuit -> background proportion."""

_COPIED = ("test", "first", "second", "statistic", "p_value", "n_blocks")


def tests(
    results: pl.DataFrame, families: Sequence[tuple[float | None, Proportions, Proportions]]
) -> Iterator[dict[str, Any]]:
    """Rows of tests.

    Noise-free scores are compared over the altered versions of all circuits, ELA over
    circuits x noise levels, as in the study's Tables 2 and 3. Baselines do not take part:
    that chance is worse than an explainer says nothing of the others, and costs power.

    Args:
        results: the run's results.
        families: for each background asked for (None: the published ones), the proportion of
            each circuit for scores and for ELA.
    """
    for background, for_scores, for_ela in families:
        for metric in ("mrr", "map", "mr_precision", "ela"):
            blocks, proportions = (
                ("circuits x noise", for_ela) if metric == "ela" else ("versions", for_scores)
            )
            table = _blocks_by_explainer(results, metric, proportions)
            sign = 1.0 if describe(metric).higher_is_better else -1.0
            for test in compare(sign * table.to_numpy(), table.columns) if table.columns else []:
                yield {
                    "study": "crem",
                    "metric": metric,
                    "background": background,
                    "blocks": blocks,
                    "df1": test.df[0],
                    "df2": test.df[1],
                    **{name: getattr(test, name) for name in _COPIED},
                }


def _blocks_by_explainer(results: pl.DataFrame, metric: str, proportions: Proportions) -> pl.DataFrame:
    """One row a block, one column an explainer, NaN where a score is missing."""
    noisy = metric == "ela"
    chosen = pl.DataFrame(
        {"circuit": list(proportions), "background": list(proportions.values())},
        schema={"circuit": pl.String, "background": pl.Float64},
    )
    table = (
        results.filter(
            pl.col("metric") == metric,
            pl.col("level") == ("circuit" if noisy else "version"),
            (pl.col("noise") > 0) == noisy,
        )
        .join(chosen, on=["circuit", "background"], how="semi")
        .pivot(on="explainer", index=["circuit", "fault", "noise"], values="value")
        .drop("circuit", "fault", "noise")
    )
    names = sorted(name for name in table.columns if not explainers.record(name).baseline)
    return table.select(pl.col(names).fill_null(float("nan"))) if names else pl.DataFrame()
