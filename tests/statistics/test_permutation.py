import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from xassay.errors import InputError
from xassay.statistics import RowWeights, paired, paired_permutation
from xassay.statistics.row_weights import Statistic
from xassay.statistics.scores import mean, root_mean, skill
from xassay.types import FloatArray

LOSS = st.integers(0, 6).map(float)
PAIRS = st.lists(st.tuples(LOSS, LOSS, st.integers(1, 6).map(float)), min_size=2, max_size=7)


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def literal_p_value(pairs: list[tuple[FloatArray, FloatArray]], statistic: Statistic) -> float:
    """All 2^n ways to swap, one by one."""

    def apart(swap: tuple[bool, ...]) -> float:
        own, other = (
            [np.array([np.mean(np.where(swap, pair[1 - side], pair[side]))]) for pair in pairs]
            for side in (0, 1)
        )
        return float(statistic(own)[0] - statistic(other)[0])

    n = len(pairs[0][0])
    found = apart((False,) * n)
    every = [apart(swap) for swap in itertools.product([False, True], repeat=n)]
    return float(np.mean([abs(one) >= abs(found) - 1e-9 for one in every]))


@given(PAIRS)
def test_few_rows_are_enumerated(rows: list[tuple[float, float, float]]) -> None:
    first, second, trivial = np.array(rows).T
    pairs = [(first, second), (trivial, trivial)]
    found = paired_permutation(pairs, skill, rng=rng(), with_interval=False)
    assert found.n_differing == int((first != second).sum())
    if found.n_differing:
        assert found.p_value == pytest.approx(literal_p_value(pairs, skill))
    else:
        assert np.isnan(found.p_value)


def test_random_swaps_come_close_to_all_swaps() -> None:
    first = np.array([3.0, 1.0, 4.0, 1.5, 9.0, 2.0, 6.0, 5.0, 3.5, 8.0])
    second = first + np.array([1.0, -2.0, 3.0, 1.0, 2.0, -0.5, 4.0, 0.7, -1.2, 0.9])
    exact = literal_p_value([(first, second)], root_mean)
    drawn = paired_permutation([(first, second)], root_mean, rng=rng(), n_permutations=1000).p_value
    assert paired_permutation([(first, second)], root_mean, rng=rng()).p_value == exact
    assert drawn != exact
    assert drawn == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 1000) + 0.001)


def test_of_means_it_is_scipys_permutation_test_of_paired_samples() -> None:
    generator = rng()
    first = generator.normal(size=11)
    second = first + generator.normal(0.4, 1, 11)
    expected = stats.permutation_test(
        (first, second), lambda a, b: np.mean(a - b), permutation_type="samples", n_resamples=np.inf
    )
    found = paired_permutation([(first, second)], mean, rng=rng())
    assert found.difference == pytest.approx(expected.statistic)
    assert found.p_value == pytest.approx(expected.pvalue)


def rarely_wrong(n: int = 200) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The first has a tenth of the second's losses on 19 rows of 20, and its RMSE is six times as large."""
    generator = rng()
    second = generator.gamma(2, 1, n)
    first = 0.1 * second
    rare = np.arange(n) % 20 == 0
    first[rare] = generator.gamma(2, 1, int(rare.sum()))
    first[rare] *= (36 * second.sum() - first[~rare].sum()) / first[rare].sum()
    return first, second, 40 * generator.gamma(2, 1, n)


def test_the_test_cannot_call_better_what_has_six_times_the_rmse() -> None:
    first, second, trivial = rarely_wrong()
    assert np.sqrt(first.mean() / second.mean()) == pytest.approx(6)
    assert (first < second).mean() == 0.95
    wilcoxon = stats.wilcoxon(first - second)
    typical = np.sum(np.sign(first - second) * stats.rankdata(np.abs(first - second)))
    assert typical < 0  # it says: the first has the smaller losses
    assert wilcoxon.pvalue < 1e-7
    errors = paired_permutation([(first, second)], root_mean, rng=rng())
    skills = paired_permutation([(first, second), (trivial, trivial)], skill, rng=rng())
    assert errors.difference > 0 > skills.difference  # a larger error, a smaller skill
    assert errors.p_value < 0.01
    assert skills.p_value < 0.01
    # an unseen row may turn the difference by little at most
    assert -errors.interval[0] < 0.1 * errors.interval[1]
    assert skills.interval[1] < -0.1 * skills.interval[0]


@given(PAIRS)
def test_the_sign_is_that_of_the_scores(rows: list[tuple[float, float, float]]) -> None:
    first, second, trivial = np.array(rows).T
    found = paired_permutation([(first, second), (trivial, trivial)], skill, rng=rng(), with_interval=False)
    scores = [1 - np.sqrt(own.sum() / trivial.sum()) for own in (first, second)]
    assert found.difference == pytest.approx(scores[0] - scores[1])
    assert found.n == len(rows)


@given(PAIRS)
def test_exchanged_explainers_have_the_opposite_difference(rows: list[tuple[float, float, float]]) -> None:
    first, second, trivial = np.array(rows).T
    one, other = (
        paired_permutation(
            [pair, (trivial, trivial)], skill, rng=rng(), weights=RowWeights(0, 200), n_permutations=99
        )
        for pair in ((first, second), (second, first))
    )
    assert one.difference == pytest.approx(-other.difference)
    if 0 < one.n_differing <= 6:  # enumerated
        assert one.p_value == other.p_value
    assert (one.interval is None) == (other.interval is None)


@given(PAIRS)
def test_the_interval_holds_the_difference_and_is_no_point(rows: list[tuple[float, float, float]]) -> None:
    first, second, trivial = np.array(rows).T
    found = paired_permutation(
        [(first, second), (trivial, trivial)], skill, rng=rng(), weights=RowWeights(0, 200), n_permutations=99
    )
    if found.n_differing:
        low, high = found.interval
        assert low <= found.difference <= high
        assert low < high
    else:
        assert found.interval is None


@pytest.mark.parametrize(("n", "n_permutations"), [(7, 199), (40, 199)], ids=["enumerated", "drawn"])
def test_alike_explainers_are_told_apart_no_more_often_than_said(n: int, n_permutations: int) -> None:
    generator = np.random.default_rng(1)
    p_values = []
    for _ in range(1000):
        trivial = np.exp(generator.standard_normal(n))
        first, second = (trivial * generator.beta(0.5, 2, n) for _ in range(2))
        pairs = [(first, second), (trivial, trivial)]
        found = paired_permutation(
            pairs, skill, rng=generator, n_permutations=n_permutations, with_interval=False
        )
        p_values.append(found.p_value)
    for level in (0.05, 0.2, 0.5):
        share = np.mean(np.array(p_values) <= level)
        assert level - 0.06 < share < level + 4 * np.sqrt(level * (1 - level) / 1000)


def test_a_clear_difference_has_the_least_p_value() -> None:
    first = np.linspace(1, 2, 60)
    found = paired_permutation([(first, first + 5)], root_mean, rng=rng(), n_permutations=499)
    assert found.p_value == 1 / 500
    assert found.interval[1] < 0


def test_swaps_are_counted_alike_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    first = np.array([3.0, 1.0, 4.0, 1.5, 9.0, 2.0, 6.0])
    second = first + np.array([1.0, -2.0, 3.0, 1.0, 2.0, -0.5, 4.0])
    clear = np.linspace(1, 2, 60)
    whole = paired_permutation([(first, second)], root_mean, rng=rng()).p_value
    monkeypatch.setattr(paired, "_BATCH_VALUES", 7 * 10)
    assert paired_permutation([(first, second)], root_mean, rng=rng()).p_value == whole
    assert paired_permutation([(clear, clear + 5)], mean, rng=rng(), n_permutations=499).p_value == 1 / 500


def test_columns_swap_together() -> None:
    """Accuracy with and without noise are one explainer's: swapped apart, ratios would mix explainers."""
    first, second = np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 6.0])
    pairs = [(first, second), (first, second)]
    found = paired_permutation(pairs, lambda means: means[0] / means[1], rng=rng(), with_interval=False)
    assert (found.difference, found.p_value) == (0, 1)


def test_equal_rows_are_not_swapped_and_equal_explainers_not_tested() -> None:
    same = np.arange(5.0)
    found = paired_permutation([(same, same)], mean, rng=rng())
    assert (found.difference, found.n, found.n_differing, found.interval) == (0, 5, 0, None)
    assert np.isnan(found.p_value)
    moved = np.where(same > 2, same + 1, same)
    found = paired_permutation([(same, moved)], mean, rng=rng())
    assert (found.n_differing, found.p_value) == (2, 0.5)


def test_differences_within_the_rounding_are_none() -> None:
    same = np.arange(1.0, 9.0)
    noisy = same + 1e-13
    assert paired_permutation([(same, noisy)], mean, rng=rng()).n_differing == 8
    found = paired_permutation([(same, noisy)], mean, rng=rng(), rounding=1e-12)
    assert (found.difference, found.n_differing) == (0, 0)


def test_rows_that_are_not_finite_are_left_out_of_every_column() -> None:
    first, second, trivial = (np.random.default_rng(k).random(9) + 0.1 for k in range(3))
    gapped = [
        np.append(first, [np.nan, 1, 1]),
        np.append(second, [1, np.inf, 1]),
        np.append(trivial, [1, 1, np.nan]),
    ]
    found, expected = (
        paired_permutation([(a, b), (c, c)], skill, rng=rng())
        for a, b, c in (gapped, (first, second, trivial))
    )
    assert found == expected


@pytest.mark.parametrize("n", [0, 1])
def test_fewer_than_two_rows_are_no_test(n: int) -> None:
    found = paired_permutation([(np.zeros(n), np.ones(n))], mean, rng=rng())
    assert np.isnan([found.difference, found.p_value]).all()
    assert (found.n, found.interval) == (n, None)


def test_an_undefined_score_is_no_test() -> None:
    zeros = np.zeros(4)
    found = paired_permutation([(np.ones(4), np.arange(4.0)), (zeros, zeros)], skill, rng=rng())
    assert np.isnan([found.difference, found.p_value]).all()
    assert found.interval is None


def test_columns_of_different_rows_are_refused() -> None:
    with pytest.raises(InputError, match="columns of different lengths"):
        paired_permutation([(np.ones(3), np.ones(4))], mean, rng=rng())


def test_as_many_swaps_as_are_wanted_are_all_made() -> None:
    """Ten rows that differ by the same: of 1,024 swaps two are as far apart, and none is drawn."""
    one = np.linspace(0.1, 1.0, 10)
    for wanted, expected in ((1024, 2 / 1024), (1025, 2 / 1024)):
        found = paired_permutation(
            [(one, one + 0.5)], mean, rng=np.random.default_rng(0), n_permutations=wanted, with_interval=False
        )
        assert found.p_value == expected
    drawn = paired_permutation(
        [(one, one + 0.5)], mean, rng=np.random.default_rng(0), n_permutations=1023, with_interval=False
    )
    assert drawn.p_value * 1024 == pytest.approx(round(drawn.p_value * 1024))
    assert drawn.p_value >= 1 / 1024


def test_values_as_far_apart_as_rounding_are_equal() -> None:
    one = np.arange(10.0)
    for apart, differing in ((0.5, 0), (0.625, 10)):
        found = paired_permutation(
            [(one, one + apart)], mean, rng=np.random.default_rng(0), rounding=0.5, with_interval=False
        )
        assert found.n_differing == differing


@pytest.mark.parametrize("k", [3, 8, 11])
def test_every_coin_is_fair(k: int) -> None:
    from xassay.statistics.paired import _coins

    thrown = np.array([_coins(3, k, np.random.default_rng(seed)) for seed in range(400)])
    assert thrown.shape == (400, 3, k)
    assert np.abs(thrown.mean(axis=0) - 0.5).max() < 5 * 0.5 / 20


def test_the_unit_of_the_scores_does_not_move_a_p_value() -> None:
    rng = np.random.default_rng(3)
    one = rng.random(9)
    other = one + 0.1 * np.where(rng.random(9) < 0.7, 1, -1)
    found = [
        paired_permutation(
            [(unit * one, unit * other)], mean, rng=np.random.default_rng(0), with_interval=False
        ).p_value
        for unit in (1.0, 1e-9, 1e9)
    ]
    assert found[0] == found[1] == found[2]
