"""The corrected resampled t-test against the formula, and against t-tests of its limits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from xassay.errors import InputError
from xassay.statistics import corrected_resampled_t

FIRST = np.array([0.52, 0.61, 0.49, 0.70, 0.55])
SECOND = np.array([0.50, 0.57, 0.50, 0.64, 0.51])


def test_it_is_the_formula_by_hand():
    # differences .02 .04 -.01 .06 .04: mean .03, variance .0028 / 4 = .0007
    found = corrected_resampled_t(FIRST, SECOND, 200, 100)
    assert found.statistic == pytest.approx(0.03 / np.sqrt((0.2 + 0.5) * 0.0007))
    assert (found.df, found.n) == (4.0, 5)
    assert found.p_value == pytest.approx(2 * stats.t.sf(found.statistic, 4))


def test_without_test_rows_to_speak_of_it_is_the_paired_t_test():
    plain = stats.ttest_rel(FIRST, SECOND)
    found = corrected_resampled_t(FIRST, SECOND, 10**12, 1)
    assert (found.statistic, found.p_value) == pytest.approx((plain.statistic, plain.pvalue))


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=9),
    st.integers(1, 500),
    st.integers(1, 500),
)
def test_the_correction_never_makes_a_test_surer_and_the_sides_can_be_turned(pairs, n_train, n_test):
    first, second = np.array(pairs).T
    found = corrected_resampled_t(first, second, n_train, n_test)
    if np.isnan(found.p_value):
        assert np.ptp(first - second) <= 1e-12
        return
    turned = corrected_resampled_t(second, first, n_train, n_test)
    assert (turned.statistic, turned.p_value) == pytest.approx((-found.statistic, found.p_value))
    apart = first - second
    plain = apart.mean() / np.sqrt(apart.var(ddof=1) / len(apart))
    assert abs(found.statistic) <= abs(plain) + 1e-9
    assert 0 <= found.p_value <= 1


@pytest.mark.parametrize(
    ("first", "second", "n"),
    [
        ([1.0], [2.0], 1),
        ([], [], 0),
        ([1.0, np.nan, np.inf], [2.0, 1.0, 1.0], 1),
        ([1.0, 2.0, 3.0], [1.1, 2.1, 3.1], 3),
        ([1.0, 2.0], [1.0, 2.0], 2),
    ],
)
def test_too_few_splits_or_differences_that_do_not_vary_have_no_test(first, second, n):
    found = corrected_resampled_t(np.array(first), np.array(second), 10, 5)
    assert np.isnan([found.statistic, found.df, found.p_value]).all()
    assert found.n == n


def test_splits_without_a_finite_score_are_left_out():
    holed = corrected_resampled_t(
        np.append(FIRST, [np.nan, np.inf]), np.append(SECOND, [0.1, np.inf]), 200, 100
    )
    assert holed == corrected_resampled_t(FIRST, SECOND, 200, 100)


@pytest.mark.parametrize(
    ("first", "second", "n_train", "n_test", "words"),
    [
        (FIRST, SECOND[:3], 10, 5, "both methods' on each split"),
        (FIRST[:, None], SECOND[:, None], 10, 5, "both methods' on each split"),
        (FIRST, SECOND, 0, 5, "at least one row of both"),
        (FIRST, SECOND, 10, 0, "at least one row of both"),
    ],
)
def test_what_cannot_be_tested_is_refused(first, second, n_train, n_test, words):
    with pytest.raises(InputError, match=words):
        corrected_resampled_t(first, second, n_train, n_test)


def test_on_splits_that_share_rows_it_errs_no_more_than_it_says_and_the_plain_one_does():
    """The mean of a table's halves is known, and whether two columns of equal mean differ is asked."""
    rng = np.random.default_rng(1)
    plain, corrected = 0, 0
    for _ in range(400):
        table = rng.standard_normal((60, 2))
        scores = np.array([table[rng.permutation(60)[:20]].mean(axis=0) for _ in range(8)])
        plain += stats.ttest_rel(scores[:, 0], scores[:, 1]).pvalue < 0.05
        corrected += corrected_resampled_t(scores[:, 0], scores[:, 1], 40, 20).p_value < 0.05
    assert plain / 400 > 0.1
    assert corrected / 400 < 0.07
