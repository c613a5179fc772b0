"""Published figures, to stand beside ours."""

import csv
import functools
from importlib import resources
from typing import NamedTuple

METRIC_NAMES = {"MRR": "mrr", "MAP": "map", "MR-Precision": "mr_precision"}


class Published(NamedTuple):
    """A published figure and where it stands."""

    value: float
    source: str


def _rows(name: str) -> list[dict[str, str]]:
    text = resources.files("xassay.studies").joinpath("published", name).read_text("utf-8")
    return list(csv.DictReader(text.splitlines()))


@functools.cache
def crem() -> dict[tuple[str, str, str, float, float], Published]:
    """Tables 2 and 3 of the CREM study by (circuit, method, metric, background, noise columns)."""
    figures = {}
    for row in _rows("crem_table2_correctness.csv"):
        key = (
            row["circuit"],
            row["explainer"],
            METRIC_NAMES[row["metric"]],
            float(row["background_proportion"]),
            0.0,
        )
        figures[key] = Published(float(row["value"]), "CREM Table 2")
    for row in _rows("crem_table3_robustness.csv"):
        key = (
            row["circuit"],
            row["explainer"],
            "ela",
            float(row["background_proportion"]),
            float(row["noise_features"]),
        )
        figures[key] = Published(float(row["ELA"]), "CREM Table 3")
    return figures


Figure = tuple[str, str, str, str | None, float | None]
"""Metric, data set, model, explainer and sigma, the last two None where they do not apply."""

MODELS_KEPT = {"kept_RF": "MAPLE+RF", "kept_GBRT": "MAPLE+GBRT"}


@functools.cache
def maple() -> dict[Figure, Published]:
    """Tables 1 to 4 of the MAPLE evaluation, completed from its repository (sigma 0.25)."""
    figures: dict[Figure, Published] = {}
    for row in _rows("maple_table1_accuracy.csv"):
        figures["rmse", row["dataset"], row["model"], None, None] = Published(
            float(row["rmse"]), f"MAPLE Table 1 ({row['source']})"
        )
    for table, file, model in (
        (2, "maple_table2_self_explanation.csv", "MAPLE+RF"),
        (3, "maple_table3_svr_explanation.csv", "svr"),
    ):
        for row in sorted(_rows(file), key=lambda row: row["source"] != "paper"):
            key = ("causal_rmse", row["dataset"], model, row["explainer"].lower(), float(row["sigma"]))
            figures.setdefault(key, Published(float(row["rmse"]), f"MAPLE Table {table} ({row['source']})"))
    for row in _rows("maple_table4_features_kept.csv"):
        for column, model in MODELS_KEPT.items():
            figures["features_kept", row["dataset"], model, None, None] = Published(
                float(row[column]), "MAPLE Table 4"
            )
    return figures


def crem_proportion(circuit: str, *, noisy: bool) -> float | None:
    """The background proportion that the CREM study settled on, for Table 3 if ``noisy``."""
    metric = "ela" if noisy else "mrr"
    return next((key[3] for key in crem() if key[0] == circuit and key[2] == metric), None)


def crem_anomalies() -> list[dict[str, str]]:
    """Table A1 of the CREM study: anomalies by circuit, altered gate and noise columns."""
    return _rows("crem_tableA1_anomalies.csv")
