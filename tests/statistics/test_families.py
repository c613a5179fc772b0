"""One correction over families: Holm's where each has one test, and the level holds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xassay.statistics import holm, holm_families

P = st.one_of(st.floats(0, 1), st.floats(0, 0.05))
FAMILIES = st.lists(st.lists(P, min_size=1, max_size=4).map(np.array), min_size=1, max_size=5)


def rejected_step_by_step(families, alpha):
    """The procedure as it is described, one step after the other."""
    left = [set(range(len(family))) for family in families]
    while True:
        n = sum(bool(open_) for open_ in left)
        now = [
            {k for k in open_ if family[k] <= alpha / n} for family, open_ in zip(families, left, strict=True)
        ]
        if not any(now):
            return [set(range(len(f))) - open_ for f, open_ in zip(families, left, strict=True)]
        left = [open_ - gone for open_, gone in zip(left, now, strict=True)]


@given(FAMILIES, st.sampled_from([0.01, 0.05, 0.2, 0.7]))
def test_corrected_p_values_reject_what_the_steps_reject(families, alpha):
    corrected = holm_families(families)
    # at a corrected p of just alpha, rounding decides
    if any(np.isclose(p, alpha, rtol=1e-9).any() for p in corrected):
        return
    expected = rejected_step_by_step(families, alpha)
    assert [set(np.flatnonzero(p <= alpha).tolist()) for p in corrected] == expected


@given(st.lists(P, min_size=1, max_size=8).map(np.array))
def test_families_of_one_test_are_holms_and_one_family_stays(p_values):
    np.testing.assert_allclose(
        np.concatenate(holm_families([np.array([p]) for p in p_values])), holm(p_values)
    )
    np.testing.assert_allclose(holm_families([p_values])[0], p_values)


@given(FAMILIES)
def test_it_lies_between_the_family_alone_and_bonferroni_over_families(families):
    for before, after in zip(families, holm_families(families), strict=True):
        assert (after >= before).all()
        assert (after <= np.minimum(1, len(families) * before) + 1e-15).all()


def test_a_family_with_a_difference_left_open_is_still_counted():
    first, second = holm_families([np.array([0.001, 0.9]), np.array([0.03])])
    assert first[0] == pytest.approx(0.002)
    assert second[0] == pytest.approx(0.06)
    released, after = holm_families([np.array([0.001, 0.002]), np.array([0.03])])
    assert released.tolist() == pytest.approx([0.002, 0.004])
    assert after[0] == pytest.approx(0.03)


def test_tests_without_a_p_value_count_nowhere():
    found = holm_families([np.array([0.01, np.nan]), np.array([np.nan]), np.array([]), np.array([0.02])])
    assert [family.tolist() for family in found[:1]] == [[0.02, pytest.approx(np.nan, nan_ok=True)]]
    assert np.isnan(found[1]).all()
    assert found[2].shape == (0,)
    assert found[3].tolist() == [0.02]
    assert holm_families([]) == []


def test_the_level_holds_where_every_family_has_a_real_difference_and_a_false_one():
    """Here Holm's over the families' smallest p-values would err more often than it says."""
    rng = np.random.default_rng(0)
    errors, wrong = 0, 0
    for _ in range(2000):
        false = rng.random(4)
        families = [np.array([1e-9, p]) for p in false]
        errors += any(family[1] <= 0.05 for family in holm_families(families))
        by_smallest = 0.05 / np.arange(4, 0, -1)
        wrong += (false <= by_smallest).any()
    assert errors / 2000 < 0.06
    assert wrong / 2000 > 0.08
