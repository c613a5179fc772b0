import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from xassay.errors import InputError
from xassay.statistics import RowWeights, row_interval, row_weights
from xassay.statistics.scores import loss_of_accuracy, mean, ratio, root_mean, share_of_squares, skill
from xassay.types import FloatArray

MANY = RowWeights(0, n_replicates=30_000)
FEW = RowWeights(1, n_replicates=300)
UNIT = st.floats(0, 1, allow_nan=False)
ROWS = st.lists(UNIT, min_size=2, max_size=12)
PAIRED_ROWS = st.lists(st.tuples(UNIT, st.floats(0.01, 1)), min_size=2, max_size=12)


def of_mean(values: FloatArray, level: float = 0.95, weights: RowWeights = FEW) -> tuple[float, float]:
    found = row_interval([values], mean, worst=[0.0], best=[1.0], rng=weights, level=level)
    assert found is not None
    return found


@pytest.mark.parametrize(("hits", "n"), [(0, 5), (3, 5), (5, 5), (1, 50), (31, 50), (50, 50), (196, 200)])
def test_of_zeros_and_ones_it_is_clopper_and_pearsons_interval(hits: int, n: int) -> None:
    found = of_mean(np.arange(n) < hits, weights=MANY)
    expected = stats.binomtest(hits, n).proportion_ci(0.95, "exact")
    assert found == pytest.approx((expected.low, expected.high), abs=0.006)


def test_of_one_value_and_its_bound_it_is_the_quantile_of_a_beta() -> None:
    """All rows at .4: the mean is .4 W + 1 (1 - W), with the added row's weight 1 - W ~ Beta(1, n)."""
    n = 7
    found = of_mean(np.full(n, 0.4), weights=MANY)
    apart = stats.beta(1, n).ppf(0.975)
    assert found == pytest.approx((0.4 * (1 - apart), 0.4 + 0.6 * apart), abs=0.006)


@given(ROWS)
def test_it_holds_the_estimate_and_is_no_point(values: list[float]) -> None:
    low, high = of_mean(np.array(values))
    assert 0 <= low <= np.mean(values) + 1e-12
    assert np.mean(values) - 1e-12 <= high <= 1 + 1e-12
    assert high - low > 0.01


@given(PAIRED_ROWS, st.sampled_from([skill, share_of_squares, ratio, loss_of_accuracy]))
def test_derived_scores_hold_the_estimate_and_are_no_point(rows, statistic) -> None:
    first, second = np.array(rows).T
    found = row_interval([first, second], statistic, worst=[0.0, 1.0], best=[1.0, 0.0], rng=FEW)
    estimate = statistic([np.array([first.mean()]), np.array([second.mean()])])[0]
    assert found is not None
    assert found[0] < found[1]
    assert found[0] - 1e-9 <= estimate <= found[1] + 1e-9


@given(ROWS, st.floats(0.05, 0.9), st.floats(0.01, 0.09))
def test_a_higher_level_never_gives_a_shorter_interval(
    values: list[float], level: float, more: float
) -> None:
    inner, outer = (of_mean(np.array(values), one) for one in (level, level + more))
    assert outer[0] <= inner[0]
    assert inner[1] <= outer[1]


@given(PAIRED_ROWS, st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(rows, random) -> None:
    shuffled = list(rows)
    random.shuffle(shuffled)
    one, other = (
        row_interval(
            list(np.array(given_rows).T),
            skill,
            worst=[1.0, 1.0],
            best=[0.0, 1.0],
            rng=np.random.default_rng(5),
            n_replicates=100,
        )
        for given_rows in (rows, shuffled)
    )
    assert one == other


def test_worst_and_best_may_be_exchanged() -> None:
    values = np.array([0.2, 0.9, 0.4])
    assert row_interval([values], mean, worst=[1.0], best=[0.0], rng=FEW) == of_mean(values)


def test_a_score_that_falls_with_its_column_has_the_ends_turned() -> None:
    values = np.array([0.2, 0.9, 0.4])
    low, high = of_mean(values)
    turned = row_interval([values], lambda means: -means[0], worst=[0.0], best=[1.0], rng=FEW)
    assert turned == (-high, -low)


def test_each_end_has_its_own_added_row() -> None:
    """The literal definition: sorted rows, weighted, with 0 added for the lower end and 1 for the upper."""
    values, weights = np.array([0.5, 0.7, 0.1]), RowWeights(3)
    drawn = weights.of(3)
    upper = drawn[:, :3] @ np.sort(values) + drawn[:, 3] * 1.0
    lower = drawn[:, :3] @ np.sort(values)
    low, high = of_mean(values, weights=weights)
    assert low == pytest.approx(np.quantile(lower, 0.025, method="nearest"))
    assert high == pytest.approx(np.quantile(upper, 0.975, method="nearest"))


@pytest.mark.parametrize("n", [10, 50])
@pytest.mark.parametrize("share", [0.02, 0.3])
def test_it_holds_the_mean_at_least_as_often_as_it_says(n: int, share: float) -> None:
    rng = np.random.default_rng(0)
    held = []
    for _ in range(600):
        values = np.where(rng.random(n) < share, rng.random(n), 1.0)
        low, high = of_mean(values, weights=FEW)
        held.append(low <= 1 - share / 2 <= high)
    assert np.mean(held) > 0.95 - 0.02


@pytest.mark.parametrize("n", [0, 1])
def test_fewer_than_two_rows_tell_nothing(n: int) -> None:
    assert row_interval([np.ones(n)], mean, worst=[0.0], best=[1.0], rng=FEW) is None


def test_an_undefined_score_has_no_interval() -> None:
    zeros = np.zeros(5)
    assert row_interval([zeros, zeros], skill, worst=[1.0, 0.0], best=[0.0, 0.0], rng=FEW) is None
    assert row_interval([zeros, zeros], skill, worst=[1.0, 1.0], best=[0.0, 1.0], rng=FEW) is None


def test_rows_that_no_added_row_differs_from_have_no_interval() -> None:
    assert row_interval([np.full(9, 0.1)], mean, worst=[0.1], best=[0.1], rng=FEW) is None


@pytest.mark.parametrize(
    ("columns", "worst", "options", "message"),
    [
        ([np.ones(3), np.ones(4)], [0.0, 0.0], {}, r"columns of \[3, 4\] rows"),
        ([np.ones(3)], [0.0, 0.0], {}, "1 columns need as many values"),
        ([np.array([1.0, np.nan])], [0.0], {}, "not finite"),
        ([np.ones(3)], [-np.inf], {}, "not finite"),
        ([np.ones(3)], [0.0], {"level": 1.0}, "level must be between 0 and 1, not 1.0"),
        ([np.ones(3)], [0.0], {"level": 0.0}, "level must be between 0 and 1, not 0.0"),
    ],
)
def test_what_does_not_fit_is_refused(columns, worst, options, message) -> None:
    with pytest.raises(InputError, match=message):
        row_interval(columns, mean, worst=worst, best=[1.0], rng=FEW, **options)


def test_weights_are_uniform_on_the_simplex() -> None:
    drawn = RowWeights(0, 20_000).of(3)
    assert drawn.shape == (20_000, 4)
    np.testing.assert_allclose(drawn.sum(axis=1), 1)
    for column in drawn.T:
        assert stats.kstest(column, stats.beta(1, 3).cdf).pvalue > 1e-3


def test_weights_depend_on_seed_and_number_only() -> None:
    one, other = RowWeights(4, 10), RowWeights(4, 10)
    for n in (3, 8):
        one.of(n)
    np.testing.assert_array_equal(one.of(8), other.of(8))
    assert one.batches(8) is one.batches(8)
    assert not np.array_equal(one.of(8), RowWeights(5, 10).of(8))


def test_weights_of_many_rows_are_drawn_in_parts_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(0).random(30)
    whole, expected = RowWeights(4, 50).of(30), of_mean(values, weights=RowWeights(4, 50))
    monkeypatch.setattr(row_weights, "BATCH_VALUES", 31 * 7)
    weights = RowWeights(4, 50)
    assert [len(part) for part in weights.batches(30)] == [7] * 7 + [1]
    assert [len(part) for part in weights.batches(30)] == [7] * 7 + [1]
    np.testing.assert_array_equal(weights.of(30), whole)
    assert of_mean(values, weights=weights) == pytest.approx(expected, abs=1e-12)


def test_scores_by_hand() -> None:
    means = [np.array([0.36, 0.0, 1.0]), np.array([1.0, 0.5, 0.0])]
    np.testing.assert_allclose(mean(means), [0.36, 0, 1])
    np.testing.assert_allclose(root_mean(means), [0.6, 0, 1])
    np.testing.assert_allclose(ratio(means), [0.36, 0, np.nan])
    np.testing.assert_allclose(skill(means), [0.4, 1, np.nan])
    np.testing.assert_allclose(share_of_squares(means), [0.64, 1, np.nan])
    np.testing.assert_allclose(loss_of_accuracy(means), [0.64, 2, np.nan])


def test_a_loss_of_accuracy_is_never_negative_by_rounding() -> None:
    over = np.array([np.nextafter(1.0, 2.0)])
    assert loss_of_accuracy([over, over]).tolist() == [0.0]


def exact_finite(hits: int, n: int, population: int) -> tuple[float, float]:
    """The smallest and the largest share of ones among all rows that a two-sided test does not refuse."""
    numbers = np.arange(population + 1)
    law = stats.hypergeom(population, numbers, n)
    kept = numbers[(law.sf(hits - 1) > 0.025) & (law.cdf(hits) > 0.025)]
    return kept.min() / population, kept.max() / population


@pytest.mark.parametrize(
    ("hits", "n", "population"),
    [(5, 5, 6), (5, 5, 20), (0, 7, 30), (3, 8, 40), (95, 95, 100), (19, 20, 86), (50, 50, 10_000)],
)
def test_of_zeros_and_ones_of_a_finite_population_it_is_the_hypergeometric_interval(
    hits: int, n: int, population: int
) -> None:
    found = row_interval(
        [(np.arange(n) < hits) * 1.0], mean, worst=[0.0], best=[1.0], rng=MANY, population=population
    )
    assert found == pytest.approx(exact_finite(hits, n, population), abs=max(0.006, 1.01 / population))


@given(ROWS, st.integers(1, 8))
def test_rows_not_seen_move_the_mean_no_further_than_they_can(values: list[float], unseen: int) -> None:
    n, total = len(values), float(np.sum(values))
    found = row_interval([np.array(values)], mean, worst=[0.0], best=[1.0], rng=FEW, population=n + unseen)
    assert found is not None
    assert found[0] >= total / (n + unseen) - 1e-9
    assert found[1] <= (total + unseen) / (n + unseen) + 1e-9
    assert found[0] < found[1]


def test_of_a_large_population_it_is_that_of_endless_rows() -> None:
    values = np.random.default_rng(0).random(20)
    (low, high), (endless_low, endless_high) = (
        row_interval([values], mean, worst=[0.0], best=[1.0], rng=MANY, population=population)
        for population in (10**7, None)
    )
    assert (low, high) == pytest.approx((endless_low, endless_high), abs=0.004)


@pytest.mark.parametrize(("population", "n"), [(20, 5), (40, 20), (60, 50)])
def test_the_mean_of_a_finite_population_is_held_as_often_as_said(population: int, n: int) -> None:
    rng, held = np.random.default_rng(0), []
    for _ in range(400):
        every = 1 / rng.integers(1, 5, population)
        found = row_interval(
            [rng.permutation(every)[:n]], mean, worst=[0.0], best=[1.0], rng=FEW, population=population
        )
        held.append(found[0] - 1e-9 <= every.mean() <= found[1] + 1e-9)
    assert np.mean(held) >= 0.94


def test_a_population_that_was_all_seen_has_no_interval_and_a_smaller_one_is_refused() -> None:
    asked = {"worst": [0.0], "best": [1.0], "rng": FEW}
    assert row_interval([np.array([0.2, 0.4])], mean, **asked, population=2) is None
    with pytest.raises(InputError, match="3 rows cannot be drawn from 2"):
        row_interval([np.array([0.2, 0.4, 0.1])], mean, **asked, population=2)
