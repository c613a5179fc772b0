"""The circuit study with detectors that learned: quality of detection beside that of explanation."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import xassay
from xassay import report
from xassay.errors import InputError

QUICK: dict[str, Any] = {
    "circuits": ["c17"],
    "explainers": ["permutation_shap:npermutations=1", "random"],
    "sample": 6,
}


@pytest.mark.parametrize("detector", ["autoencoder", "pyod:HBOS"])
def test_detection_stands_beside_explanation(detector: str, tmp_path: Path) -> None:
    if detector.startswith("pyod"):
        pytest.importorskip("pyod", reason="pyod is not installed")
    run = xassay.run_crem(**QUICK, detector=detector, out=tmp_path)
    assert not run.failed
    assert set(run.scores["model"]) == {detector}
    quality = run.scores.filter(pl.col("explainer").is_null(), level="circuit")
    expected = {"auc", "precision", "recall"} | ({"located"} if detector == "autoencoder" else set())
    assert set(quality["metric"]) == expected
    assert quality["value"].is_between(0, 1).all()
    several = quality.filter(pl.col("n") > 1)
    assert (
        several.select((pl.col("ci_low") <= pl.col("value")) & (pl.col("value") <= pl.col("ci_high")))
        .to_series()
        .all()
    )
    assert (several["ci_low"] < several["ci_high"]).all()
    assert run.scores["published"].is_null().all()
    titles = [section.title for section in report.load(tmp_path).sections]
    assert titles[0] == "How well does the detector tell anomalies?"


def test_an_autoencoder_that_reconstructs_well_is_explained_above_chance() -> None:
    run = xassay.run_crem(
        circuits=["74182"],
        explainers=["permutation_shap:npermutations=1", "random"],
        sample=8,
        detector="autoencoder",
    )
    best = dict(run.scores.filter(level="circuit", metric="mrr").select("explainer", "value").iter_rows())
    assert best["permutation_shap:npermutations=1"] > best["random"] + 0.2
    assert run.scores.filter(level="circuit", metric="auc")["value"].item() > 0.95


def test_the_number_of_jobs_changes_nothing(tmp_path: Path) -> None:
    for jobs in (1, 2):
        xassay.run_crem(**QUICK, detector="autoencoder:max_iter=50", jobs=jobs, out=tmp_path / str(jobs))
    one, two = ((tmp_path / str(jobs) / "results.parquet").read_bytes() for jobs in (1, 2))
    assert one == two


def test_the_table_is_never_tried_for_what_it_is_by_construction() -> None:
    run = xassay.run_crem(**QUICK)
    assert run.scores["explainer"].null_count() == 0
    assert run.scores["model"].null_count() == len(run.scores)


def test_an_unknown_detector_is_refused() -> None:
    with pytest.raises(InputError, match="did you mean 'autoencoder'"):
        xassay.run_crem(**QUICK, detector="autoencodr")
