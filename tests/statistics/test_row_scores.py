import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from xassay.errors import InputError
from xassay.statistics import (
    RowWeights,
    loss_of_accuracy_interval,
    mean_interval,
    quantile_interval,
    root_mean_interval,
    share_of_squares_interval,
    skill_interval,
    unseen_share,
)
from xassay.statistics.row_scores import BEYOND, BEYOND_TRIVIAL, ENOUGH_ROWS
from xassay.types import FloatArray

WEIGHTS = RowWeights(0, n_replicates=1000)
LOSSES = st.lists(st.tuples(st.floats(0, 10), st.floats(0.01, 10)), min_size=2, max_size=12)


@pytest.mark.parametrize("n", [5, 20, 100])
def test_a_perfect_mean_on_few_rows_is_not_certain(n: int) -> None:
    low, high = mean_interval(np.ones(n), 0, 1, rng=RowWeights(0))
    exact = stats.binomtest(n, n).proportion_ci(0.95, "exact")
    assert (low, high) == pytest.approx((exact.low, 1), abs=0.02)


@pytest.mark.parametrize("n", [3, 9, 20, 50])
def test_a_bound_is_not_passed_by_rounding(n: int) -> None:
    for rng in (RowWeights(0), WEIGHTS):
        assert mean_interval(np.ones(n), 0, 1, rng=rng)[1] == 1
        assert mean_interval(np.full(n, 0.1), 0.1, 1, rng=rng)[0] == 0.1


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=10))
def test_a_mean_in_other_bounds_is_that_in_the_unit_moved_and_scaled(values: list[float]) -> None:
    given_values = np.array(values)
    low, high = mean_interval(given_values, -1, 1, rng=WEIGHTS)
    unit = mean_interval((given_values + 1) / 2, 0, 1, rng=WEIGHTS)
    assert (low, high) == pytest.approx((2 * unit[0] - 1, 2 * unit[1] - 1), abs=1e-9)


def test_a_side_without_bound_reaches_beyond_what_was_seen() -> None:
    values = np.array([1.0, 2.0, 5.0])
    assert mean_interval(values, 0, np.inf, rng=WEIGHTS) == mean_interval(values, 0, BEYOND * 5, rng=WEIGHTS)
    assert mean_interval(-values, -np.inf, 0, rng=WEIGHTS) == mean_interval(
        -values, -BEYOND * 5, 0, rng=WEIGHTS
    )
    middle = 8 / 3
    assert mean_interval(values, -np.inf, np.inf, rng=WEIGHTS) == mean_interval(
        values, middle - BEYOND * (middle - 1), middle + BEYOND * (5 - middle), rng=WEIGHTS
    )


@pytest.mark.parametrize("bounds", [(0, np.inf), (-np.inf, 1), (-np.inf, np.inf)])
def test_equal_values_beside_no_bound_tell_nothing(bounds: tuple[float, float]) -> None:
    assert mean_interval(np.full(20, 0.5), *bounds, rng=WEIGHTS) is None


def test_clusters_of_one_row_are_rows() -> None:
    values = np.random.default_rng(0).random(12)
    alone = mean_interval(values, 0, 1, rng=WEIGHTS)
    clustered = mean_interval(values, 0, 1, rng=WEIGHTS, clusters=np.arange(12)[::-1])
    assert clustered == pytest.approx(alone, abs=1e-9)


def test_copies_of_rows_in_clusters_add_nothing() -> None:
    values = np.random.default_rng(0).random(12)
    alone = mean_interval(values, 0, 1, rng=WEIGHTS)
    copied = mean_interval(np.repeat(values, 5), 0, 1, rng=WEIGHTS, clusters=np.repeat(np.arange(12), 5))
    assert copied == pytest.approx(alone, abs=1e-9)
    narrow = mean_interval(np.repeat(values, 5), 0, 1, rng=WEIGHTS)
    assert narrow[1] - narrow[0] < 0.6 * (alone[1] - alone[0])


def test_an_unseen_cluster_is_as_large_as_the_largest_seen() -> None:
    values, clusters = np.array([1.0, 1.0, 1.0, 1.0, 0.0]), np.array([0, 0, 0, 0, 1])
    low, high = mean_interval(values, 0, 1, rng=WEIGHTS, clusters=clusters)
    drawn = WEIGHTS.of(2)  # clusters sorted by count: the small one first
    sums, counts = drawn @ [0.0, 4.0, 0.0], drawn @ [1.0, 4.0, 4.0]
    assert low == pytest.approx(np.quantile(sums / counts, 0.025, method="nearest"))
    assert high == pytest.approx(np.quantile(1 - (drawn @ [1.0, 0, 0]) / counts, 0.975, method="nearest"))


def test_one_cluster_tells_nothing() -> None:
    assert mean_interval(np.array([0.1, 0.9]), 0, 1, rng=WEIGHTS, clusters=np.zeros(2, dtype=int)) is None


@pytest.mark.parametrize("values", [[0.5, 1.1], [-0.1, 0.5], [np.nan, 0.5]])
def test_values_outside_their_bounds_are_refused(values: list[float]) -> None:
    with pytest.raises(InputError, match="values must lie between 0 and 1"):
        mean_interval(np.array(values), 0, 1, rng=WEIGHTS)


def test_clusters_must_be_one_a_row() -> None:
    with pytest.raises(InputError, match="3 clusters beside 2 values"):
        mean_interval(np.array([0.1, 0.2]), 0, 1, rng=WEIGHTS, clusters=np.arange(3))


def test_an_rmse_has_the_roots_of_its_means_interval() -> None:
    losses = np.random.default_rng(0).gamma(1, 1, 30)
    low, high = mean_interval(losses, 0, np.inf, rng=WEIGHTS)
    assert root_mean_interval(losses, rng=WEIGHTS) == pytest.approx((low**0.5, high**0.5))
    assert root_mean_interval(np.zeros(30), rng=WEIGHTS) is None
    with pytest.raises(InputError, match="between 0 and inf"):
        root_mean_interval(np.array([-1.0, 1.0]), rng=WEIGHTS)


@given(LOSSES)
def test_skills_hold_the_estimate_and_are_no_point(rows: list[tuple[float, float]]) -> None:
    own, trivial = np.array(rows).T
    low, high = skill_interval(own, trivial, rng=WEIGHTS)
    assert low < high <= 1
    assert low - 1e-9 <= 1 - np.sqrt(own.sum() / trivial.sum()) <= high + 1e-9


@given(LOSSES)
def test_a_share_of_squares_has_the_squares_of_the_skills_ends(rows: list[tuple[float, float]]) -> None:
    own, trivial = np.array(rows).T
    ends = skill_interval(own, trivial, rng=WEIGHTS)
    expected = tuple(1 - (1 - end) ** 2 for end in ends)
    assert share_of_squares_interval(own, trivial, rng=WEIGHTS) == pytest.approx(expected, abs=1e-9)


@given(LOSSES, st.floats(0.01, 100))
def test_a_skill_does_not_depend_on_the_models_unit(rows: list[tuple[float, float]], unit: float) -> None:
    own, trivial = np.array(rows).T
    one, other = (skill_interval(own * k, trivial * k, rng=WEIGHTS) for k in (1.0, unit))
    assert other == pytest.approx(one, rel=1e-6, abs=1e-6)


def test_a_perfect_explanation_may_fail_on_a_row_that_was_not_seen() -> None:
    """Skill 1 - sqrt(c W / (1 - W + c W)), W ~ Beta(1, n) the weight of an unseen row of c times the loss."""
    n = 30
    weight = stats.beta(1, n).ppf(0.975)
    missed = BEYOND_TRIVIAL * weight
    low, high = skill_interval(np.zeros(n), np.full(n, 7.0), rng=RowWeights(0, 20_000))
    assert high == 1
    assert low == pytest.approx(1 - np.sqrt(missed / (1 - weight + missed)), abs=0.01)


def test_where_rows_are_worse_than_nothing_so_may_an_unseen_one_be() -> None:
    own, trivial = np.array([9.0, 1.0, 1.0, 1.0]), np.ones(4)
    low, _ = skill_interval(own, trivial, rng=WEIGHTS)
    drawn, row = WEIGHTS.of(4), BEYOND_TRIVIAL * np.array([9.0, 1.0])
    ratios = (drawn @ [1, 1, 1, 9, row[0]]) / (drawn @ [1, 1, 1, 1, row[1]])
    assert low == pytest.approx(1 - np.sqrt(np.quantile(ratios, 0.975, method="nearest")))


def test_skills_that_cannot_be_told_have_no_interval() -> None:
    assert skill_interval(np.zeros(1), np.ones(1), rng=WEIGHTS) is None
    assert skill_interval(np.ones(5), np.zeros(5), rng=WEIGHTS) is None


@pytest.mark.parametrize(
    ("own", "trivial", "message"),
    [
        (np.ones(3), np.ones(2), "3 losses beside 2"),
        (np.array([-1.0, 1.0]), np.ones(2), "finite and not negative"),
        (np.ones(2), np.array([-1.0, 1.0]), "finite and not negative"),
        (np.array([1.0, np.inf]), np.ones(2), "finite and not negative"),
    ],
)
def test_losses_that_are_none_are_refused(own: FloatArray, trivial: FloatArray, message: str) -> None:
    with pytest.raises(InputError, match=message):
        skill_interval(own, trivial, rng=WEIGHTS)


def test_a_perfect_detector_on_few_rows_may_lose_accuracy() -> None:
    n = 25
    low, high = loss_of_accuracy_interval(np.ones(n), np.ones(n), rng=RowWeights(0, 20_000))
    weight = stats.beta(1, n).ppf(0.975)  # of an unseen row that is wrong both ways
    assert low == 0
    assert high == pytest.approx(weight / (1 - weight), abs=0.01)
    assert loss_of_accuracy_interval(np.zeros(5), np.zeros(5), rng=WEIGHTS) is None
    for bad in ([1.5, 1.0], [-0.5, 1.0]):
        with pytest.raises(InputError, match="between 0 and 1"):
            loss_of_accuracy_interval(np.array(bad), np.ones(2), rng=WEIGHTS)


def held_by_order_statistics(n: int, q: float, start: int, end: int) -> float:
    """P(x_(start) <= quantile <= x_(end)) of a continuous law, positions from 1."""
    return float(stats.binom.cdf(end - 1, n, q) - stats.binom.cdf(start - 1, n, q))


@pytest.mark.parametrize("q", [0.1, 0.5, 0.62])
@pytest.mark.parametrize("n", [40, 41, 100, 200])
def test_quantiles_lie_between_the_innermost_order_statistics_that_hold(n: int, q: float) -> None:
    low, high = quantile_interval(np.random.default_rng(0).permutation(np.arange(1.0, n + 1)), q)
    assert held_by_order_statistics(n, q, int(low), int(high)) >= 0.95
    assert stats.binom.cdf(low - 1, n, q) <= 0.025 < stats.binom.cdf(low, n, q)
    assert stats.binom.sf(high - 1, n, q) <= 0.025 < stats.binom.sf(high - 2, n, q)


@pytest.mark.parametrize(("q", "least"), [(0.5, 6), (0.1, 36), (0.9, 36)])
def test_quantiles_of_too_few_rows_have_no_interval(q: float, least: int) -> None:
    assert quantile_interval(np.arange(least - 1.0), q) is None
    assert quantile_interval(np.arange(float(least)), q) is not None


def test_a_bound_stands_where_an_order_statistic_does_not_exist() -> None:
    low, high = quantile_interval(np.arange(1.0, 21.0) / 20, 0.1, low=0.0)
    assert low == 0
    assert high == 0.3
    assert stats.binom.sf(5, 20, 0.1) <= 0.025 < stats.binom.sf(4, 20, 0.1)


def test_of_two_rows_a_quantile_is_between_its_bounds() -> None:
    assert quantile_interval(np.array([0.4, 0.6]), 0.5, low=0.0, high=1.0) == (0, 1)
    assert quantile_interval(np.array([0.4]), 0.5, low=0.0, high=1.0) is None


def test_quantiles_are_never_a_point() -> None:
    assert quantile_interval(np.ones(50), 0.5) is None
    assert quantile_interval(1 - 1e-16 * np.arange(50), 0.5) is None
    assert quantile_interval(1 - 1e-9 * np.arange(50), 0.5) is not None


@pytest.mark.parametrize("options", [{"q": 0.0}, {"q": 1.0}, {"q": 0.5, "level": 1.0}])
def test_quantiles_outside_zero_and_one_are_refused(options) -> None:
    with pytest.raises(InputError, match="q and level must be between 0 and 1"):
        quantile_interval(np.arange(50.0), **options)


def test_quantiles_of_what_is_not_finite_are_refused() -> None:
    with pytest.raises(InputError, match="not finite"):
        quantile_interval(np.array([1.0, np.nan]), 0.5)


@given(st.integers(1, 500), st.floats(0.5, 0.99))
def test_rows_of_the_unseen_share_are_missed_as_often_as_said(n: int, level: float) -> None:
    assert (1 - unseen_share(n, level)) ** n == pytest.approx(1 - level)


@pytest.mark.parametrize("given_values", [(0, 0.95), (5, 0.0), (5, 1.0)])
def test_unseen_shares_need_rows_and_a_level(given_values) -> None:
    with pytest.raises(InputError, match="n must be at least 1"):
        unseen_share(*given_values)


def test_enough_rows_let_a_perfect_skill_be_above_a_half() -> None:
    for n, enough in ((ENOUGH_ROWS, True), (ENOUGH_ROWS - 5, False)):
        low, _ = skill_interval(np.zeros(n), np.ones(n), rng=RowWeights(0))
        assert (low > 0.5) is enough
