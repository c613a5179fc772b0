import numpy as np
import pytest
from scipy import stats

from xassay.statistics import repeat_interval, share_interval, trial_interval
from xassay.types import FloatArray


def test_the_error_of_a_census_is_the_spread_between_repeats_of_cluster_sums() -> None:
    scores = np.array([[1.0, 2.0, 3.0], [0.0, 2.0, 1.0], [5.0, 5.0, 8.0]])
    found = repeat_interval(scores, np.array([4, 4, 9]))
    # sums 1, 4, 4 and 5, 5, 8: both have variance 3, so 2 (3 - 1) degrees of freedom
    assert found == pytest.approx(stats.t.interval(0.95, 4, 3, np.sqrt(2) / 3))


def test_one_cluster_of_repeats_has_students_t() -> None:
    means = np.array([0.2, 0.5, 0.6, 0.4])
    found = repeat_interval(np.array([means, means + 0.1]), np.array([7, 7]))
    assert found == pytest.approx(trial_interval(means + 0.05))


def test_weights_count_as_repeated_scores() -> None:
    rng = np.random.default_rng(0)
    scores, weights, clusters = rng.random((12, 3)), rng.integers(1, 5, 12), np.arange(12) % 4
    repeated = repeat_interval(np.repeat(scores, weights, axis=0), np.repeat(clusters, weights))
    assert repeat_interval(scores, clusters, weights) == pytest.approx(repeated)


@pytest.mark.parametrize("n_clusters", [1, 3, 30])
@pytest.mark.parametrize("repeats", [2, 5])
def test_intervals_of_a_census_cover_what_endless_repeats_would_give(n_clusters: int, repeats: int) -> None:
    hits = 0
    for repetition in range(1000):
        rng = np.random.default_rng(repetition)
        truth, clusters = rng.random(2 * n_clusters), np.arange(2 * n_clusters) // 2
        draws = rng.standard_normal((n_clusters, repeats))[clusters]
        low, high = repeat_interval(truth[:, None] + draws, clusters) or (np.nan, np.nan)
        hits += low <= truth.mean() <= high
    assert 0.93 <= hits / 1000 <= 0.99


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
def test_a_census_without_spread_has_no_interval(scores: FloatArray) -> None:
    assert repeat_interval(scores, np.arange(5)) is None


def test_a_score_undefined_under_any_seed_is_left_out() -> None:
    scores = np.array([[1.0, 2.0], [3.0, np.nan], [4.0, 6.0]])
    found, kept = (repeat_interval(scores[rows], np.arange(3)[rows]) for rows in ([0, 1, 2], [0, 2]))
    assert found is not None
    assert found == kept


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
