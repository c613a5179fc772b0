import itertools
from collections.abc import Callable

import numpy as np
import pytest

from xassay.statistics import (
    cluster_draws,
    cluster_replicates,
    interval,
    repeat_replicates,
    share_interval,
    trial_interval,
)
from xassay.types import FloatArray, IntArray


def resampled(scores: FloatArray, clusters: IntArray, rng: np.random.Generator, n: int) -> FloatArray:
    return cluster_replicates(scores, clusters, cluster_draws(len(np.unique(clusters)), rng, n))


def covers(replicates: FloatArray | None, truth: float) -> bool:
    low, high = interval(replicates) or (np.nan, np.nan)
    return low <= truth <= high


def test_replicates_of_two_clusters_are_the_three_possible_means() -> None:
    scores, clusters = np.array([0.0, 3.0, 4.0, 5.0]), np.array([7, 2, 2, 2])
    found = resampled(scores, clusters, np.random.default_rng(0), 4000)
    values, counts = np.unique(found, return_counts=True)
    assert values.tolist() == [0.0, 3.0, 4.0]
    np.testing.assert_allclose(counts / 4000, [0.25, 0.5, 0.25], atol=0.03)


def test_replicates_spread_like_the_mean_of_cluster_means() -> None:
    means = np.random.default_rng(1).standard_normal(50)
    scores, clusters = np.repeat(means, 3), np.repeat(np.arange(50), 3)
    found = resampled(scores, clusters, np.random.default_rng(2), 5000)
    error = means.std() / np.sqrt(50)
    assert found.shape == (5000,)
    assert found.mean() == pytest.approx(means.mean(), abs=4 * error / np.sqrt(5000))
    assert found.std() == pytest.approx(error, rel=0.05)


def test_cluster_labels_may_be_any_integers_in_any_order() -> None:
    scores = np.array([0.5, 1.0, 2.0, 4.0])
    one, other = (
        resampled(scores, np.array(clusters), np.random.default_rng(0), 50)
        for clusters in ([0, 0, 1, 2], [-3, -3, 100, 10**12])
    )
    np.testing.assert_array_equal(one, other)


def test_equal_clusters_and_generators_give_paired_replicates() -> None:
    rng = np.random.default_rng(4)
    scores, clusters = rng.random(30), rng.integers(0, 8, 30)
    one, moved, scaled = (
        resampled(changed, clusters, np.random.default_rng(0), 200)
        for changed in (scores, scores + 1, 3 * scores)
    )
    np.testing.assert_allclose(moved - one, 1)
    np.testing.assert_allclose(scaled / one, 3)
    assert one.std() > 0.01


def test_undefined_scores_count_neither_in_the_sum_nor_in_the_number() -> None:
    scores, clusters = np.array([1.0, np.nan, np.nan, 3.0, 5.0]), np.array([0, 0, 1, 2, 2])
    found = resampled(scores, clusters, np.random.default_rng(0), 3000)
    pools = [list(itertools.chain(*draw)) for draw in itertools.product([[1.0], [], [3.0, 5.0]], repeat=3)]
    expected = sorted({np.mean(pool).round(9) for pool in pools if pool})
    np.testing.assert_array_equal(np.unique(found[~np.isnan(found)].round(9)), expected)
    assert np.isnan(found).mean() == pytest.approx(1 / 27, abs=0.015)


def test_replicates_without_any_defined_score_are_nan() -> None:
    found = resampled(np.full(3, np.nan), np.arange(3), np.random.default_rng(0), 5)
    np.testing.assert_array_equal(found, np.full(5, np.nan))


def coverage_of_clusters(labels: Callable[[int], FloatArray]) -> float:
    """How often the interval holds the true mean 0, for 30 clusters of 4 nearly equal scores."""
    hits = 0
    for repetition in range(200):
        rng = np.random.default_rng(repetition)
        scores = np.repeat(rng.standard_normal(30), 4) + 0.2 * rng.standard_normal(120)
        hits += covers(resampled(scores, labels(120), rng, 400), 0.0)
    return hits / 200


def test_clustered_intervals_cover_the_true_mean() -> None:
    assert 0.90 <= coverage_of_clusters(lambda n: np.arange(n) // 4) <= 0.99


def test_intervals_that_ignore_clusters_are_too_short() -> None:
    assert coverage_of_clusters(np.arange) < 0.8


def test_the_error_of_a_census_is_the_spread_between_repeats_of_cluster_sums() -> None:
    scores = np.array([[1.0, 2.0, 3.0], [0.0, 2.0, 1.0], [5.0, 5.0, 8.0]])
    found = repeat_replicates(scores, np.array([4, 4, 9]), np.random.default_rng(0), 20_000)
    sums = [[1, 4, 4], [5, 5, 8]]
    error = np.sqrt(sum(np.var(sum_, ddof=1) for sum_ in sums) / 3) / 3
    assert found is not None
    assert error == pytest.approx(np.sqrt(2) / 3)
    assert found.mean() == pytest.approx(3, abs=4 * error / np.sqrt(20_000))
    assert found.std() == pytest.approx(error, rel=0.03)


def test_intervals_of_a_census_cover_what_endless_repeats_would_give() -> None:
    hits = 0
    for repetition in range(200):
        rng = np.random.default_rng(repetition)
        truth, clusters = rng.random(60), np.arange(60) // 2
        draws = rng.standard_normal((30, 4))[clusters]
        hits += covers(repeat_replicates(truth[:, None] + draws, clusters, rng, 400), truth.mean())
    assert 0.90 <= hits / 200 <= 0.99


@pytest.mark.parametrize(
    "scores",
    [
        pytest.param(np.random.default_rng(0).random((5, 1)), id="one repeat"),
        pytest.param(np.repeat(np.random.default_rng(0).random((5, 1)), 3, axis=1), id="equal repeats"),
        pytest.param(np.array([[0.1, 0.1 + 1e-14]] * 5), id="equal but for rounding"),
        pytest.param(np.full((5, 3), np.nan), id="nothing defined"),
        pytest.param(np.zeros((5, 0)), id="no repeats"),
    ],
)
def test_a_census_without_spread_has_no_replicates(scores: FloatArray) -> None:
    assert repeat_replicates(scores, np.arange(5), np.random.default_rng(0)) is None


def test_a_score_undefined_under_any_seed_is_left_out() -> None:
    scores = np.array([[1.0, 2.0], [3.0, np.nan], [4.0, 6.0]])
    found, kept = (
        repeat_replicates(scores[rows], np.arange(3)[rows], np.random.default_rng(0), 50)
        for rows in ([0, 1, 2], [0, 2])
    )
    assert found is not None
    np.testing.assert_array_equal(found, kept)


@pytest.mark.parametrize("replicates", [None, np.full(4, np.nan), np.array([])])
def test_no_replicates_have_no_interval(replicates: FloatArray | None) -> None:
    assert interval(replicates) is None


@pytest.mark.parametrize(("level", "expected"), [(0.95, (1, 39)), (0.9, (2, 38)), (0.5, (10, 30))])
def test_an_interval_is_the_central_share(level: float, expected: tuple[float, float]) -> None:
    replicates = np.random.default_rng(0).permutation(np.arange(41.0))
    assert interval(replicates, level) == pytest.approx(expected)


def test_an_interval_passes_over_undefined_replicates() -> None:
    assert interval(np.array([np.nan, *range(41), np.nan])) == pytest.approx((1, 39))


@pytest.mark.parametrize("n", [2, 5, 10])
def test_trial_intervals_hold_the_mean_as_often_as_they_say(n):
    rng = np.random.default_rng(0)
    held = [low <= 0 <= high for low, high in (trial_interval(rng.normal(size=n)) for _ in range(3000))]
    assert np.mean(held) == pytest.approx(0.95, abs=0.015)


def test_trial_intervals_end_where_the_metric_ends_and_need_two_values():
    assert trial_interval(np.array([0.1, 0.9]), 0, 1) == (0, 1)
    assert trial_interval(np.array([0.1])) is None


def test_shares_are_never_certain():
    low, high = share_interval(5, 5)
    assert (round(low, 3), high) == (0.566, 1)
