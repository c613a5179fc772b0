"""Which explainers differ: Friedman and Nemenyi over the altered versions as blocks."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from xassay import explainers
from xassay.metrics import describe
from xassay.statistics import Comparison, compare, holm, holm_families
from xassay.types import FloatArray

Proportions = Mapping[str, float]
"""Circuit -> background proportion."""

_COPIED = ("test", "first", "second", "statistic", "p_value", "n_blocks")


def tests(
    results: pl.DataFrame, families: Sequence[tuple[float | None, Proportions, Proportions]]
) -> Iterator[dict[str, Any]]:
    """Rows of tests.

    Explainers are compared over the altered versions of all circuits as blocks. A version's ELA
    is its mean over the noise levels: all levels divide by the same noise-free accuracy and
    explain the same inputs, so they are no independent blocks. Baselines do not take part:
    that chance is worse than an explainer says nothing of the others, and costs power.

    ``p_holm`` is corrected for everything that a report of the run shows: pairs (Nemenyi's p is
    corrected for the pairs of one metric and background already) for the number of those
    families by `xassay.statistics.holm_families`, and the tests of any difference (Friedman and
    Iman-Davenport) by Holm over all of them.

    Args:
        results: the run's results.
        families: for each background asked for (None: the published ones), the proportion of
            each circuit for scores and for ELA.
    """
    found: list[tuple[dict[str, Any], list[Comparison]]] = []
    for background, for_scores, for_ela in families:
        for metric in ("mrr", "map", "mr_precision", "ela"):
            table = _blocks_by_explainer(results, metric, for_ela if metric == "ela" else for_scores)
            sign = 1.0 if describe(metric).higher_is_better else -1.0
            compared = compare(sign * table.to_numpy(), table.columns) if table.columns else []
            found.append(({"metric": metric, "background": background}, compared))
    for (shared, compared), p_holms in zip(found, _corrected([tests for _, tests in found]), strict=True):
        for test, p_holm in zip(compared, p_holms, strict=True):
            yield {
                "study": "crem",
                **shared,
                "blocks": "versions",
                "df1": test.df[0],
                "df2": test.df[1],
                "p_holm": p_holm,
                **{name: getattr(test, name) for name in _COPIED},
            }


def _corrected(families: Sequence[Sequence[Comparison]]) -> list[list[float]]:
    """The p-value of each test, corrected over all families."""
    of_pairs = [_p_values(family, pairwise=True) for family in families]
    of_any = [_p_values(family, pairwise=False) for family in families]
    pairs = iter([float(p) for family in holm_families(of_pairs) for p in family])
    overall = iter(holm(np.array([float(p) for family in of_any for p in family])).tolist())
    return [[next(overall if test.first is None else pairs) for test in family] for family in families]


def _p_values(family: Sequence[Comparison], *, pairwise: bool) -> FloatArray:
    return np.array([test.p_value for test in family if (test.first is not None) == pairwise])


def _blocks_by_explainer(results: pl.DataFrame, metric: str, proportions: Proportions) -> pl.DataFrame:
    """One row a version, one column an explainer, NaN where a score is missing at any noise level."""
    chosen = pl.DataFrame(
        {"circuit": list(proportions), "background": list(proportions.values())},
        schema={"circuit": pl.String, "background": pl.Float64},
    )
    table = (
        results.filter(
            pl.col("metric") == metric,
            pl.col("level") == "version",
            (pl.col("noise") > 0) == (metric == "ela"),
        )
        .join(chosen, on=["circuit", "background"], how="semi")
        .group_by("circuit", "fault", "explainer", maintain_order=True)
        .agg(pl.col("value").fill_null(float("nan")).mean())
        .pivot(on="explainer", index=["circuit", "fault"], values="value")
        .drop("circuit", "fault")
    )
    names = sorted(name for name in table.columns if not explainers.record(name).baseline)
    return table.select(pl.col(names).fill_null(float("nan"))) if names else pl.DataFrame()
