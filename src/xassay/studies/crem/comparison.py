"""Which explainers differ: Friedman and Nemenyi over the altered versions as blocks."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from xassay import explainers
from xassay.metrics import describe
from xassay.statistics import compare

Proportions = Mapping[str, float]
"""Circuit -> background proportion."""


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
            noisy = metric == "ela"
            proportions = for_ela if noisy else for_scores
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
            if not names:
                continue
            sign = 1.0 if describe(metric).higher_is_better else -1.0
            scores = sign * table.select(pl.col(names).fill_null(float("nan"))).to_numpy()
            for test in compare(scores, names):
                yield {
                    "study": "crem",
                    "metric": metric,
                    "background": background,
                    "blocks": "circuits x noise" if noisy else "versions",
                    "test": test.test,
                    "first": test.first,
                    "second": test.second,
                    "statistic": test.statistic,
                    "df1": test.df[0],
                    "df2": test.df[1],
                    "p_value": test.p_value,
                    "n_blocks": test.n_blocks,
                }
