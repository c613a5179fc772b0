import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from xassay.errors import InputError
from xassay.statistics import paired_holm
from xassay.statistics.holm import holm
from xassay.types import FloatArray

RNG = np.random.default_rng(0)
A = RNG.normal(0, 1, 40)
B = A + RNG.normal(0.3, 1, 40)
P_VALUES = st.lists(st.one_of(st.floats(0, 1), st.sampled_from([0.01, 0.5]), st.just(np.nan)), max_size=8)


def literal_holm(p_values: list[float]) -> list[float]:
    """Reject in rising order while p <= alpha / (number left): the least alpha that rejects each."""
    known = sorted(p for p in p_values if p == p)  # noqa: PLR0124 - not NaN
    least, corrected = 0.0, {}
    for position, p in enumerate(known):
        least = max(least, min(1.0, p * (len(known) - position)))
        corrected.setdefault(p, least)
    return [corrected.get(p, np.nan) for p in p_values]


def only(first: FloatArray, second: FloatArray) -> tuple[float, float, float, int]:
    found = paired_holm({"only": (first, second)})["only"]
    return found.statistic, found.p_value, found.p_holm, found.n


@given(P_VALUES)
def test_holm_is_the_least_level_that_rejects_each(p_values: list[float]) -> None:
    np.testing.assert_allclose(holm(np.array(p_values)), literal_holm(p_values), rtol=1e-12)


@given(P_VALUES, st.randoms(use_true_random=False))
def test_holm_does_not_depend_on_the_order_of_tests(p_values: list[float], random: object) -> None:
    order = list(range(len(p_values)))
    random.shuffle(order)
    shuffled = holm(np.array(p_values)[order]) if order else holm(np.array([]))
    np.testing.assert_array_equal(shuffled, holm(np.array(p_values))[order] if order else [])


@pytest.mark.parametrize(
    ("given_values", "expected"),
    [
        ([0.01, 0.04, 0.03, 0.005], [0.03, 0.06, 0.06, 0.02]),
        ([0.01, np.nan, 0.04], [0.02, np.nan, 0.04]),
        ([0.02, 0.02, 0.02], [0.06, 0.06, 0.06]),
        ([0.7, 0.8], [1, 1]),
        ([np.nan, np.nan], [np.nan, np.nan]),
        ([0.3], [0.3]),
        ([], []),
    ],
)
def test_holm_by_hand(given_values: list[float], expected: list[float]) -> None:
    np.testing.assert_allclose(holm(np.array(given_values)), expected)


@pytest.mark.parametrize("n", [2, 3, 10, 40])
def test_each_pair_gets_the_signed_rank_test(n: int) -> None:
    statistic, p_value, p_holm, counted = only(A[:n], B[:n])
    expected = stats.wilcoxon(A[:n], B[:n])
    above = stats.wilcoxon(A[:n], B[:n], alternative="greater").statistic
    assert p_value == p_holm == expected.pvalue
    assert statistic == pytest.approx(2 * above - n * (n + 1) / 2)
    assert counted == n


def test_the_statistic_is_the_signed_rank_sum_by_hand() -> None:
    # differences 3, -1, 2: ranks 3, 1, 2
    statistic, p_value, _, n = only(np.array([4.0, 0.0, 2.0]), np.array([1.0, 1.0, 0.0]))
    assert (statistic, n) == (3 - 1 + 2, 3)
    # of the eight equally likely signs, 6, 4 and their opposites are as far out
    assert p_value == pytest.approx(4 / 8)


def test_ties_share_their_ranks_and_equal_rows_count_for_neither() -> None:
    first, second = np.array([2.0, 5.0, 1.0, 1.0, 7.0]), np.array([1.0, 4.0, 2.0, 1.0, 3.0])
    # differences 1, 1, -1, 0, 4: ranks 2, 2, 2, none, 4
    statistic, p_value, _, n = only(first, second)
    assert (statistic, n) == (2 + 2 - 2 + 4, 5)
    assert p_value == stats.wilcoxon(first - second).pvalue


@given(st.lists(st.tuples(st.integers(-5, 5), st.integers(-5, 5)), min_size=2, max_size=20))
def test_the_sign_says_who_is_larger_and_turns_with_the_pair(pairs: list[tuple[int, int]]) -> None:
    first, second = np.array(pairs, dtype=float).T
    forth, back = only(first, second), only(second, first)
    if (first == second).all():
        assert np.isnan([*forth[:3], *back[:3]]).all()
        return
    assert forth[0] == -back[0]
    assert forth[1] == back[1]
    assert 0 < forth[1] <= 1
    if (first >= second).all():
        assert forth[0] > 0


@pytest.mark.parametrize("gap", [np.nan, np.inf, -np.inf])
def test_rows_that_either_lacks_are_left_out(gap: float) -> None:
    first, second = np.append(A, [gap, 1.0, gap]), np.append(B, [1.0, gap, gap])
    assert only(first, second) == only(A, B)


@pytest.mark.parametrize(
    ("pair", "n"),
    [
        ((A, A), 40),
        ((A[:1], B[:1]), 1),
        ((A[:0], B[:0]), 0),
        ((np.array([1.0, np.nan, 2.0]), np.array([3.0, 1.0, np.nan])), 1),
        ((np.full(5, np.nan), np.ones(5)), 0),
    ],
    ids=["all equal", "one row", "none", "one finite row", "no finite row"],
)
def test_what_cannot_be_tested_is_undefined_and_costs_the_others_nothing(
    pair: tuple[FloatArray, FloatArray], n: int
) -> None:
    found = paired_holm({"odd": pair, "fine": (A, B)})
    odd, fine = found["odd"], found["fine"]
    assert np.isnan([odd.statistic, odd.p_value, odd.p_holm]).all()
    assert odd.n == n
    assert fine.p_holm == fine.p_value


def test_p_values_are_corrected_over_all_pairs_and_stay_with_their_names() -> None:
    pairs = {(name, k): (A, A + k * 0.1 + RNG.normal(0, 0.5, 40)) for k, name in enumerate("dacb")}
    found = paired_holm({**pairs, "none": (A, A)})
    assert list(found) == [*pairs, "none"]
    alone = [stats.wilcoxon(*pair).pvalue for pair in pairs.values()]
    assert len(set(alone)) == 4
    np.testing.assert_allclose([found[name].p_value for name in pairs], alone)
    np.testing.assert_allclose([found[name].p_holm for name in pairs], literal_holm(alone))


def test_no_pairs_give_no_results() -> None:
    assert paired_holm({}) == {}


def test_scores_of_other_rows_are_refused_in_one_line() -> None:
    with pytest.raises(InputError, match="lime and maple: 40 scores beside 39") as refused:
        paired_holm({"lime and maple": (A, B[:-1])})
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("factor", [1e-300, 1e300])
def test_the_unit_of_the_scores_changes_nothing(factor: float) -> None:
    assert only(factor * A, factor * B) == only(A, B)


def test_differences_beyond_the_largest_number_are_no_reason_to_warn() -> None:
    assert only(np.array([1e308, 1.0]), np.array([-1e308, 0.0]))[3] == 2
