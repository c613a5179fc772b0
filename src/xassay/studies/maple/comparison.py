"""Which methods differ: two tests on each table, with Holm's correction over all of a run."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from xassay.statistics import corrected_resampled_t, holm, welch_holm
from xassay.studies.maple.experiments import MODELS
from xassay.types import FloatArray

Pair = tuple[str, str]


def _accuracy_pairs() -> list[Pair]:
    """MAPLE against its trees, SILO over them, and a single line."""
    return [
        (model, other)
        for model in MODELS
        if model.startswith("MAPLE")
        for other in ("LM", model.partition("+")[2], model.replace("MAPLE", "SILO"))
    ]


def tests(results: pl.DataFrame, n_train: Mapping[str, int]) -> list[dict[str, Any]]:
    """Rows of tests: each pair on each table by Welch's and by the corrected resampled t-test.

    ``p_holm`` is corrected for the number of all rows, both tests included: a reader may take the
    one that suits better.

    Args:
        results: the run's results.
        n_train: rows of the training part of each table.
    """
    # who fails on the hard rows must not win for it: such trials are not compared
    whole = (pl.col("n_failed") == 0) & pl.col("value").is_not_nan()
    trials = results.filter(pl.col("level") == "trial", whole)
    rmse = trials.filter(pl.col("metric") == "rmse").with_columns(pl.col("model").alias("method"))
    found: list[dict[str, Any]] = []
    if len(rmse):
        found += _family(rmse, _accuracy_pairs(), {"metric": "rmse"}, n_train)
    causal = trials.filter(pl.col("metric") == "causal_rmse").with_columns(
        pl.col("explainer").alias("method")
    )
    for (model, sigma), part in causal.group_by("model", "sigma", maintain_order=True):
        pairs = list(itertools.combinations(sorted(part["method"].unique()), 2))
        shared = {"metric": "causal_rmse", "model": model, "sigma": sigma}
        found += _family(part, pairs, shared, n_train)
    corrected = holm(np.array([row["p_value"] for row in found]))
    return [{**row, "p_holm": float(p_holm)} for row, p_holm in zip(found, corrected, strict=True)]


def _family(
    part: pl.DataFrame, pairs: Sequence[Pair], shared: dict[str, Any], n_train: Mapping[str, int]
) -> Iterator[dict[str, Any]]:
    """Both tests of each pair on each table."""
    scores = {
        (str(dataset), str(method)): rows.sort("trial")
        for (dataset, method), rows in part.group_by("dataset", "method")
    }
    datasets = sorted({dataset for dataset, _ in scores})
    compared = {
        (dataset, first, second): (scores[dataset, first], scores[dataset, second])
        for first, second in pairs
        for dataset in datasets
        if (dataset, first) in scores and (dataset, second) in scores
    }
    welch = welch_holm({name: (_values(a), _values(b)) for name, (a, b) in compared.items()})
    for (dataset, first, second), both in compared.items():
        fixed = {
            "study": "maple",
            **shared,
            "dataset": dataset,
            "blocks": "trials",
            "first": first,
            "second": second,
        }
        apart = welch[dataset, first, second]
        yield {
            **fixed,
            "test": "welch",
            "statistic": apart.statistic,
            "df1": apart.df,
            "p_value": apart.p_value,
            "n_blocks": min(map(len, both)),
        }
        same = both[0].join(both[1], on="trial", suffix="_second").sort("trial")
        if same.is_empty():
            continue
        paired = corrected_resampled_t(
            _values(same),
            _values(same, "value_second"),
            n_train[dataset],
            int(same["n"].max()),  # type: ignore[arg-type]
        )
        yield {
            **fixed,
            "test": "corrected_resampled_t",
            "statistic": paired.statistic,
            "df1": paired.df,
            "p_value": paired.p_value,
            "n_blocks": paired.n,
        }


def _values(rows: pl.DataFrame, column: str = "value") -> FloatArray:
    return np.asarray(rows[column].to_numpy(), dtype=np.float64)
