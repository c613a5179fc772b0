"""Which methods differ: Welch's test on each table, with Holm's correction over tables and pairs."""

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from xassay.statistics import welch_holm
from xassay.studies.maple.experiments import MODELS

Pair = tuple[str, str]


def _accuracy_pairs() -> list[Pair]:
    """MAPLE against its trees, SILO over them, and a single line."""
    return [
        (model, other)
        for model in MODELS
        if model.startswith("MAPLE")
        for other in ("LM", model.partition("+")[2], model.replace("MAPLE", "SILO"))
    ]


def tests(results: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """Rows of tests: one family an explained model and sigma, and one of the models' accuracy.

    Args:
        results: the run's results.
    """
    # who fails on the hard rows must not win for it: such trials are not compared
    whole = (pl.col("n_failed") == 0) & pl.col("value").is_not_nan()
    trials = results.filter(pl.col("level") == "trial", whole)
    rmse = trials.filter(pl.col("metric") == "rmse").with_columns(pl.col("model").alias("method"))
    if len(rmse):
        yield from _family(rmse, _accuracy_pairs(), {"metric": "rmse"})
    causal = trials.filter(pl.col("metric") == "causal_rmse").with_columns(
        pl.col("explainer").alias("method")
    )
    for (model, sigma), part in causal.group_by("model", "sigma", maintain_order=True):
        pairs = list(itertools.combinations(sorted(part["method"].unique()), 2))
        yield from _family(part, pairs, {"metric": "causal_rmse", "model": model, "sigma": sigma})


def _family(part: pl.DataFrame, pairs: Sequence[Pair], shared: dict[str, Any]) -> Iterator[dict[str, Any]]:
    scores = {
        (str(dataset), str(method)): rows.sort("trial")["value"].to_numpy()
        for (dataset, method), rows in part.group_by("dataset", "method")
    }
    datasets = sorted({dataset for dataset, _ in scores})
    compared = {
        (dataset, first, second): (scores[dataset, first], scores[dataset, second])
        for first, second in pairs
        for dataset in datasets
        if (dataset, first) in scores and (dataset, second) in scores
    }
    for (dataset, first, second), found in welch_holm(compared).items():
        yield {
            "study": "maple",
            **shared,
            "dataset": dataset,
            "blocks": "trials",
            "test": "welch",
            "first": first,
            "second": second,
            "statistic": found.statistic,
            "df1": found.df,
            "p_value": found.p_value,
            "p_holm": found.p_holm,
            "n_blocks": min(map(len, compared[dataset, first, second])),
        }
