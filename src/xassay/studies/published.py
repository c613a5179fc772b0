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


def crem_proportion(circuit: str, *, noisy: bool) -> float | None:
    """The background proportion that the CREM study settled on, for Table 3 if ``noisy``."""
    metric = "ela" if noisy else "mrr"
    return next((key[3] for key in crem() if key[0] == circuit and key[2] == metric), None)


def crem_anomalies() -> list[dict[str, str]]:
    """Table A1 of the CREM study: anomalies by circuit, altered gate and noise columns."""
    return _rows("crem_tableA1_anomalies.csv")
