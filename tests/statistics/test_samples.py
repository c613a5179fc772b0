"""Intervals over a few drawn things hold the population's mean, and are never a point."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from xassay.statistics import sample_interval

VALUES = st.lists(st.floats(0, 1), min_size=2, max_size=8)


def test_it_is_students_t_by_hand():
    low, high = sample_interval(np.array([0.2, 0.4, 0.9]), 0.0, 1.0)
    half = 4.302653 * np.sqrt(((0.3**2) + 0.1**2 + 0.4**2) / 2) / np.sqrt(3)
    assert (low, high) == (0.0, 1.0)  # 0.5 -+ 0.896, cut to what the mean can be
    assert sample_interval(np.array([0.2, 0.4, 0.9])) == pytest.approx((0.5 - half, 0.5 + half), abs=1e-6)


@pytest.mark.parametrize(("n", "level"), [(2, 0.95), (4, 0.95), (7, 0.9)])
def test_equal_bounded_values_have_clopper_and_pearsons_interval(n, level):
    for value, successes in ((1.0, n), (0.0, 0)):
        exact = stats.binomtest(successes, n).proportion_ci(level, method="exact")
        assert sample_interval(np.full(n, value), 0, 1, level=level) == pytest.approx((exact.low, exact.high))


@pytest.mark.parametrize("bounds", [(-np.inf, np.inf), (0, np.inf), (-np.inf, 1)])
def test_equal_values_without_both_bounds_say_nothing(bounds):
    assert sample_interval(np.full(5, 0.5), *bounds) is None
    assert sample_interval(np.full(5, 0.5), *bounds, within=(0.4, 0.6)) is None


def test_one_value_says_nothing_even_where_its_own_error_is_known():
    assert sample_interval(np.array([0.5]), 0, 1, within=(0.4, 0.6)) is None


def test_values_that_rounding_alone_tells_apart_are_equal():
    low, _ = sample_interval(np.array([1.0, 1.0 - 1e-15, 1.0]), 0, 1)
    assert low == pytest.approx(0.025 ** (1 / 3))


@given(VALUES)
def test_it_holds_the_mean_and_is_never_a_point(values):
    low, high = sample_interval(np.array(values), 0, 1)
    assert low <= np.mean(values) + 1e-12
    assert high >= np.mean(values) - 1e-12
    assert high > low


@given(VALUES, st.floats(0, 0.5), st.floats(0, 0.5))
def test_it_never_ends_inside_the_interval_within(values, below, above):
    mean = float(np.mean(values))
    within = (mean - below, mean + above)
    low, high = sample_interval(np.array(values), 0, 1, within=within)
    assert low <= within[0]
    assert high >= within[1]


@given(VALUES)
def test_a_higher_level_is_wider_and_order_does_not_matter(values):
    given_ = np.array(values)
    narrow, wide = (sample_interval(given_, 0, 1, level=level) for level in (0.8, 0.95))
    assert wide[0] <= narrow[0] + 1e-12
    assert narrow[1] <= wide[1] + 1e-12
    assert sample_interval(given_[::-1], 0, 1) == pytest.approx(sample_interval(given_, 0, 1), abs=1e-9)


def test_the_error_of_each_value_is_part_of_their_spread():
    """Values measured with error: the interval holds the mean of what they measure as often as it says."""
    rng = np.random.default_rng(0)
    held = []
    for between, within in itertools.product((0.0, 0.05, 0.1), (0.02, 0.1)):
        drawn = 0.5 + between * rng.standard_normal((800, 4)) + within * rng.standard_normal((800, 4))
        bounds = np.array([sample_interval(row) for row in drawn])
        held.append(((bounds[:, 0] <= 0.5) & (bounds[:, 1] >= 0.5)).mean())
    assert np.abs(np.array(held) - 0.95).max() < 0.025


def test_equal_values_leave_room_towards_both_bounds_and_take_what_is_within():
    low, high = sample_interval(np.full(3, 0.5), -1, 2)
    unseen = 1 - 0.025 ** (1 / 3)
    assert (low, high) == pytest.approx((0.5 - unseen * 1.5, 0.5 + unseen * 1.5))
    assert sample_interval(np.full(3, 0.5), -1, 2, within=(low - 0.1, high + 0.2)) == pytest.approx(
        (low - 0.1, high + 0.2)
    )
    assert sample_interval(np.full(3, 0.5), -1, 2, within=(low + 0.1, high - 0.2)) == (low, high)


@pytest.mark.parametrize("size", [1e-3, 1e6])
def test_rounding_is_that_of_the_values_size(size):
    values = size * np.array([1.0, 1.0 - 1e-15, 1.0])
    assert sample_interval(values, 0, size) == pytest.approx(sample_interval(np.full(3, size), 0, size))
