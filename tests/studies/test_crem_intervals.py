"""Intervals of altered versions: what they hold, and that they are never a point."""

from pathlib import Path
from typing import Any

import attrs
import numpy as np
import polars as pl
import pytest
from scipy import stats

from xassay import run_crem
from xassay.explainers.table_explainer import N_DRAWS
from xassay.statistics import RowWeights, mean_interval, row_interval
from xassay.statistics.scores import loss_of_accuracy, mean, ratio
from xassay.studies.crem import CremSettings, CremStudy, judging, scoring
from xassay.studies.crem import intervals as of_versions
from xassay.types import Failure

WEIGHTS = RowWeights(0)
WITHIN = "circuit, these versions"
SMALL: dict[str, Any] = {
    "circuits": ["c17", "74182"],
    "explainers": ["kernel_shap", "random", "exact_shapley"],
    "sample": 5,
    "noise": (0, 2),
}


def sums(
    sums: Any, counts: Any = None, *, population: int | None = None, shared: bool = False
) -> of_versions.InputSums:
    """Inputs 0, 1, 2, ... with these sums of scores, one score each unless said otherwise."""
    values = np.asarray(sums, dtype=float)
    numbers = np.ones(len(values)) if counts is None else np.asarray(counts, dtype=float)
    return of_versions.InputSums(np.arange(len(values)), values, numbers, population, shared)


def test_no_interval_of_a_small_sampled_run_is_a_point() -> None:
    table = run_crem(**SMALL).scores
    found = table.drop_nulls("ci_low")
    assert len(found) == len(table) == 504
    assert (found["ci_low"] < found["ci_high"]).all()
    assert (found["ci_low"] <= found["value"]).all()
    assert (found["value"] <= found["ci_high"]).all()
    # among them scores that are the same on all rows
    assert found.filter(pl.col("value").is_in([0.0, 1.0]), level="version").height > 50
    bounded = found.filter(pl.col("metric") != "ela")
    assert bounded["ci_low"].min() >= 0
    assert bounded["ci_high"].max() <= 1


def test_jobs_and_a_continued_run_change_no_byte_of_a_sampled_run(tmp_path: Path) -> None:
    asked = {**SMALL, "circuits": ["c17"], "sample": 6}
    for name, jobs in (("one", 1), ("two", 2)):
        run_crem(**asked, jobs=jobs, out=tmp_path / name)
    run_crem(**asked, out=tmp_path / "again")
    for path in sorted((tmp_path / "again" / "instances").iterdir())[::2]:
        path.unlink()
    (tmp_path / "again" / "results.parquet").unlink()
    run_crem(**asked, out=tmp_path / "again")
    one, two, again = ((tmp_path / name / "results.parquet").read_bytes() for name in ("one", "two", "again"))
    assert one == two == again


def test_a_version_has_the_interval_of_a_bounded_mean_over_its_inputs() -> None:
    settings = CremSettings(circuits=["74182"], faults=["z2"], explainers=["random"], sample=20, seed=3)
    (cell,) = CremStudy(settings).cells
    stored = cell.run()
    frame = judging.row_scores(cell, stored, settings)
    found = scoring.version_means([cell], {cell.key: stored}, {}, WEIGHTS, settings)["map"]
    expected = mean_interval(
        frame["map"].to_numpy(), 0, 1, clusters=frame["input_row"].to_numpy(), rng=WEIGHTS
    )
    assert found.bounds == pytest.approx(expected)
    assert found.value == pytest.approx(frame["map"].mean())


def test_copies_count_as_repeated_rows() -> None:
    (cell,) = CremStudy(CremSettings(circuits=["74182"], faults=["z2"], explainers=["random"])).cells
    rng = np.random.default_rng(0)
    inputs, scores, copies = rng.integers(0, 9, 30), rng.random(30), rng.integers(1, 4, 30)
    scores[[3, 8]] = np.nan
    once = of_versions.input_sums(cell, inputs, scores, copies)
    repeated = of_versions.input_sums(
        cell, np.repeat(inputs, copies), np.repeat(scores, copies), np.ones(copies.sum(), dtype=np.int64)
    )
    np.testing.assert_allclose(once.sums, repeated.sums)
    np.testing.assert_array_equal(once.counts, repeated.counts)


@pytest.mark.parametrize(
    ("changes", "population"),
    [
        ({"explainers": ["exact_shapley"]}, 344),
        ({"explainers": ["exact_shapley"], "noise": (2,)}, 344),
        ({"explainers": ["exact_shapley"], "noise": (0.1,), "noise_kind": "flip"}, None),
        ({"explainers": ["zscore"]}, 344),
        ({"explainers": ["zscore"], "noise": (2,)}, None),
        ({"explainers": ["random"]}, None),
        ({"explainers": ["kernel_shap"]}, None),
    ],
    ids=str,
)
def test_just_scores_without_any_draws_are_those_of_a_finite_population(
    changes: dict[str, Any], population: int | None
) -> None:
    cells = CremStudy(CremSettings(circuits=["74182"], faults=["z2"], sample=5, **changes)).cells
    cell = max(cells, key=lambda cell: cell.noise)
    found = of_versions.input_sums(cell, np.arange(3), np.ones(3), np.ones(3, dtype=np.int64))
    assert found.population == population


def test_an_exact_interval_stays_within_what_unseen_inputs_can_do() -> None:
    low, high = of_versions.mean_bounds("mrr", sums(np.ones(9), population=10), WEIGHTS)
    assert (low, high) == pytest.approx((0.9, 1.0))
    endless = of_versions.mean_bounds("mrr", sums(np.ones(9)), WEIGHTS)
    assert endless[0] == pytest.approx(0.025 ** (1 / 9), abs=0.02)


def test_shared_draws_widen_an_interval_to_students_t_over_them() -> None:
    """Two hundred inputs whose score is that of their draw: sixteen independent numbers."""
    draws = np.random.default_rng(0).random(N_DRAWS)
    scores = draws[np.arange(192) % N_DRAWS]
    alone = of_versions.mean_bounds("map", sums(scores), WEIGHTS)
    found = of_versions.mean_bounds("map", sums(scores, shared=True), WEIGHTS)
    expected = stats.t.interval(0.95, N_DRAWS - 1, draws.mean(), draws.std(ddof=1) / 4)
    assert found == pytest.approx(expected)
    assert found[1] - found[0] > 2 * (alone[1] - alone[0])


def test_draws_that_agree_leave_the_interval_over_inputs() -> None:
    both = sums(np.ones(40), shared=True)
    assert of_versions.mean_bounds("mrr", both, WEIGHTS) == of_versions.mean_bounds(
        "mrr", attrs.evolve(both, shared=False), WEIGHTS
    )


def test_one_input_or_one_draw_says_nothing_of_others() -> None:
    assert of_versions.mean_bounds("mrr", sums([1.0]), WEIGHTS) is None
    one_draw = attrs.evolve(sums([1.0, 0.5], shared=True), inputs=np.array([3, 3 + N_DRAWS]))
    assert of_versions.mean_bounds("mrr", one_draw, WEIGHTS) is None


def test_a_version_of_which_nothing_can_be_said_leaves_these_versions_without_an_interval() -> None:
    known = scoring.Mean(0.5, (0.3, 0.6), n=4)
    exact, unsure = scoring.Mean(1.0, None, n=4), scoring.Mean(1.0, None, n=1, unsure=True)
    assert scoring.mean_of([known, exact]).bounds == pytest.approx((0.65, 0.8))
    assert scoring.mean_of([known, unsure]).bounds is None
    assert scoring.circuit_bounds("mrr", [known, unsure])[0] is not None


def test_versions_add_their_errors_as_independent_ones() -> None:
    run = run_crem(**{**SMALL, "circuits": ["74182"], "noise": (0,)})
    table = run.scores.filter(explainer="random", metric="map")
    own, (row,) = table.filter(level="version"), table.filter(level=WITHIN).iter_rows(named=True)
    below = np.sqrt(((own["value"] - own["ci_low"]) ** 2).sum()) / len(own)
    above = np.sqrt(((own["ci_high"] - own["value"]) ** 2).sum()) / len(own)
    assert (row["ci_low"], row["ci_high"]) == pytest.approx((row["value"] - below, row["value"] + above))


def test_ela_pairs_the_levels_by_input() -> None:
    rng = np.random.default_rng(0)
    clean = rng.random(30)
    noisy = np.clip(clean - 0.1, 0, 1)
    found = of_versions.paired_ela_bounds(sums(noisy), sums(clean), WEIGHTS)
    expected = row_interval([noisy, clean], loss_of_accuracy, worst=[0.0, 0.0], best=[1.0, 1.0], rng=WEIGHTS)
    assert found == pytest.approx(expected)
    apart = of_versions.paired_ela_bounds(sums(noisy), sums(rng.permutation(clean)), WEIGHTS)
    assert apart[1] - apart[0] < found[1] - found[0]  # paired, bad inputs are bad in both parts


def test_ela_of_perfect_scores_is_no_certainty() -> None:
    low, high = of_versions.paired_ela_bounds(sums(np.ones(5)), sums(np.ones(5)), WEIGHTS)
    assert low == 0
    assert high > 0.5


def test_inputs_of_several_outputs_count_by_them() -> None:
    counts = np.array([1.0, 2.0, 3.0, 2.0])
    found = of_versions.mean_bounds("map", sums(0.5 * counts, counts), WEIGHTS)
    expected = row_interval([0.5 * counts, counts], ratio, worst=[0.0, 3.0], best=[3.0, 3.0], rng=WEIGHTS)
    assert found == pytest.approx(expected)
    assert found != pytest.approx(row_interval([np.full(4, 0.5)], mean, worst=[0.0], best=[1.0], rng=WEIGHTS))


@pytest.mark.parametrize("n", [6, 30])
def test_a_versions_interval_holds_its_exact_score(n: int) -> None:
    asked = {"circuits": ["74182"], "explainers": ["exact_shapley"]}
    exact = run_crem(**asked, sample=None).scores.filter(level="version")
    truth = exact.select("fault", "metric", pl.col("value").alias("exact"))
    held = []
    for seed in range(8):
        found = run_crem(**asked, sample=n, seed=seed, engine="native").scores.filter(level="version")
        both = found.join(truth, on=["fault", "metric"])
        held += [
            row["ci_low"] - 1e-9 <= row["exact"] <= row["ci_high"] + 1e-9
            for row in both.iter_rows(named=True)
        ]
    assert len(held) == 8 * 16
    assert np.mean(held) >= 0.93


def test_a_cell_that_failed_leaves_no_interval() -> None:
    settings = CremSettings(circuits=["c17"], faults=["z4"], explainers=["random"], sample=4)
    cells = CremStudy(settings).cells
    failure = Failure(status="failed", reason="no idea")
    found = scoring.version_means([cells[0]], {}, {cells[0].key: failure}, WEIGHTS, settings)
    assert {mean.bounds for mean in found.values()} == {None}
    assert not any(mean.unsure for mean in found.values())
