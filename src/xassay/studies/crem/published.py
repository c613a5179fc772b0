"""The figures of the CREM study's tables."""

import functools

from xassay.studies.kit.published import Published, rows

METRIC_NAMES = {"MRR": "mrr", "MAP": "map", "MR-Precision": "mr_precision"}

Figure = tuple[str, str, str, float, float]
"""Circuit, method, metric, background and noise columns."""


@functools.cache
def figures() -> dict[Figure, Published]:
    """Tables 2 and 3."""
    found: dict[Figure, Published] = {}
    for row in rows("crem", "table2_correctness.csv"):
        place, metric = (row["circuit"], row["explainer"]), METRIC_NAMES[row["metric"]]
        key = (*place, metric, float(row["background_proportion"]), 0.0)
        found[key] = Published(float(row["value"]), "CREM Table 2")
    for row in rows("crem", "table3_robustness.csv"):
        background, noise = float(row["background_proportion"]), float(row["noise_features"])
        key = (row["circuit"], row["explainer"], "ela", background, noise)
        found[key] = Published(float(row["ELA"]), "CREM Table 3")
    return found


def proportion(circuit: str, *, noisy: bool) -> float | None:
    """The background proportion that the study settled on, for Table 3 if ``noisy``."""
    metric = "ela" if noisy else "mrr"
    return next((key[3] for key in figures() if key[0] == circuit and key[2] == metric), None)


def anomalies() -> list[dict[str, str]]:
    """Table A1: anomalies by circuit, altered gate and noise columns."""
    return rows("crem", "tableA1_anomalies.csv")
