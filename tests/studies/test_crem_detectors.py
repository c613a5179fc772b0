"""The circuit study with detectors that learned: quality of detection beside that of explanation."""

from pathlib import Path
from typing import Any

import attrs
import numpy as np
import polars as pl
import pytest
from scipy import stats

import xassay
from xassay import circuits, report
from xassay.circuits import Fault
from xassay.errors import InputError
from xassay.studies.crem import detection, quality

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


CELL = detection.DetectionCell(circuits.load("c17"), Fault("z4"), "autoencoder", 0, 0)


def tried(normal: np.ndarray, anomalous: np.ndarray, threshold: float) -> pl.DataFrame:
    """What a detector says of rows with these scores; it points at the right output at half of them."""
    score = np.concatenate([normal, anomalous])
    truth = np.arange(len(score)) >= len(normal)
    located = [None] * len(normal) + [bool(k % 2) for k in range(len(anomalous))]
    return pl.DataFrame({"anomalous": truth, "score": score, "called": score > threshold, "located": located})


def qualities(frame: pl.DataFrame) -> dict[str, dict[str, Any]]:
    rows = map(attrs.asdict, quality.quality([CELL], {CELL.key: frame}, {}))
    return {row["metric"]: row for row in rows if row["level"] == "version"}


def test_rows_that_were_all_tried_leave_nothing_open() -> None:
    found = qualities(tried(np.arange(32.0), np.arange(20.0) + 20, 30))
    assert {row["ci_low"] for row in found.values()} == {None}


def test_a_perfect_detector_of_sampled_rows_is_no_certainty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detection, "MOST_ROWS", 12)
    found = qualities(tried(np.zeros(12), np.ones(12), 0.5))
    assert set(found) == set(quality.QUALITY)
    for metric in ("auc", "precision", "recall"):
        row = found[metric]
        assert (row["value"], row["ci_high"]) == (1, 1), metric
        assert 0.4 < row["ci_low"] < 0.9, metric
    exact = stats.binomtest(12, 12).proportion_ci(0.95, "exact")
    assert found["recall"]["ci_low"] == pytest.approx(exact.low)
    never = qualities(tried(np.zeros(12), np.zeros(12), 0.5))
    assert (never["precision"]["value"], never["precision"]["ci_low"], never["precision"]["ci_high"]) == (
        0,
        0,
        1,
    )


def test_just_the_kind_that_was_sampled_leaves_something_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detection, "MOST_ROWS", 25)
    assert CELL.sampled == (True, False)  # 32 rows, of which 20 are anomalous
    found = qualities(tried(np.linspace(0, 2, 25), np.linspace(1, 3, 20), 1.5))
    for metric in ("auc", "precision"):
        assert found[metric]["ci_low"] < found[metric]["value"] < found[metric]["ci_high"]
    assert found["recall"]["ci_low"] is None
    assert found["located"]["ci_low"] is None


def test_intervals_of_a_sampled_detector_hold_its_quality(monkeypatch: pytest.MonkeyPatch) -> None:
    """Normal scores a distance of 1.5 apart: AUC, shares and precision are known."""
    monkeypatch.setattr(detection, "MOST_ROWS", 12)
    recall, false_calls = stats.norm.sf([1.0 - 1.5, 1.0])
    truth = {
        "auc": stats.norm.cdf(1.5 / np.sqrt(2)),
        "recall": recall,
        "precision": recall * 40 / (recall * 40 + false_calls * 60),
    }
    rng, held = np.random.default_rng(0), {metric: [] for metric in truth}
    for _ in range(200):
        found = qualities(tried(rng.normal(0, 1, 60), rng.normal(1.5, 1, 40), 1.0))
        for metric, value in truth.items():
            held[metric].append(found[metric]["ci_low"] <= value <= found[metric]["ci_high"])
    for metric, hits in held.items():
        assert np.mean(hits) >= 0.93, metric
