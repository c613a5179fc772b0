"""The figures of the MAPLE evaluation's tables."""

import functools

from xassay.studies.kit.published import Published, rows

Figure = tuple[str, str, str, str | None, float | None]
"""Metric, data set, model, explainer and sigma, the last two None where they do not apply."""

MODELS_KEPT = {"kept_RF": "MAPLE+RF", "kept_GBRT": "MAPLE+GBRT"}


@functools.cache
def figures() -> dict[Figure, Published]:
    """Tables 1 to 4, completed from the study's repository (sigma 0.25)."""
    found: dict[Figure, Published] = {}
    for row in rows("maple", "table1_accuracy.csv"):
        source = f"MAPLE Table 1 ({row['source']})"
        found["rmse", row["dataset"], row["model"], None, None] = Published(float(row["rmse"]), source)
    for table, file, model in (
        (2, "table2_self_explanation.csv", "MAPLE+RF"),
        (3, "table3_svr_explanation.csv", "svr"),
    ):
        for row in sorted(rows("maple", file), key=lambda row: row["source"] != "paper"):
            explainer, sigma = row["explainer"].lower(), float(row["sigma"])
            key: Figure = ("causal_rmse", row["dataset"], model, explainer, sigma)
            found.setdefault(key, Published(float(row["rmse"]), f"MAPLE Table {table} ({row['source']})"))
    for row in rows("maple", "table4_features_kept.csv"):
        for column, model in MODELS_KEPT.items():
            key = ("features_kept", row["dataset"], model, None, None)
            found[key] = Published(float(row[column]), "MAPLE Table 4")
    return found
