from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.distance import braycurtis

from xassay.errors import InputError
from xassay.metrics import agreement, placebo_share, towards
from xassay.types import FloatArray

PLACEBO = np.array([False, True, False, True, False])
ATTRIBUTIONS = arrays(np.float64, (3, 5), elements=st.floats(-1e308, 1e308))
MODERATE = arrays(
    np.float64, (3, 5), elements=st.floats(-1e3, 1e3).map(lambda x: 0.0 if abs(x) < 1e-3 else x)
)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ([3, 1], [1, 1], 1 - 2 / 6),
        ([1, 2, 3], [1, 2, 3], 1),
        ([1, 0], [0, 1], 0),
        ([2, -1], [-2, 1], 0),
        ([1, -4], [1, 4], 1 - 8 / 10),
        ([5, 0], [0, 0], 0),
        ([0, 0], [0, 0], 1),
        ([1, 1], [3, 3], 1 - 4 / 8),
    ],
)
def test_agreement_is_the_share_that_two_have_in_common(
    first: list[float], second: list[float], expected: float
) -> None:
    assert agreement([first], [second])[0] == pytest.approx(expected)


def test_without_signs_agreement_is_one_minus_the_bray_curtis_distance() -> None:
    a, b = np.random.default_rng(0).random((2, 20, 6))
    expected = [1 - braycurtis(left, right) for left, right in zip(a, b, strict=True)]
    np.testing.assert_allclose(agreement(a, b), expected)


@given(ATTRIBUTIONS, ATTRIBUTIONS)
def test_agreement_is_symmetric_between_0_and_1_and_full_with_itself(a: FloatArray, b: FloatArray) -> None:
    found = agreement(a, b)
    assert ((found >= 0) & (found <= 1)).all()
    np.testing.assert_array_equal(found, agreement(b, a))
    np.testing.assert_array_equal(found, agreement(-a, -b))
    np.testing.assert_array_equal(agreement(a, a), 1)
    signs_of_nothing = np.where(a.any(axis=1), 0, 1)
    np.testing.assert_allclose(agreement(a, -a), signs_of_nothing, atol=1e-15)


@given(MODERATE, MODERATE, st.sampled_from([1e-300, 1e-9, 1e9, 1e300, -1.0]))
def test_a_common_factor_changes_no_agreement(a: FloatArray, b: FloatArray, factor: float) -> None:
    np.testing.assert_allclose(agreement(factor * a, factor * b), agreement(a, b), atol=1e-9)


@given(MODERATE, st.sampled_from([1e-300, 1e-9, 1e9, 1e300, -1.0]))
def test_a_common_factor_changes_no_placebo_share(a: FloatArray, factor: float) -> None:
    np.testing.assert_allclose(placebo_share(factor * a, PLACEBO), placebo_share(a, PLACEBO), atol=1e-9)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite_are_undefined_in_their_row_alone(bad: float) -> None:
    broken, fine = np.array([[1.0, bad], [1.0, 2.0]]), np.array([[1.0, 2.0], [1.0, 2.0]])
    np.testing.assert_array_equal(agreement(broken, fine), [np.nan, 1])
    np.testing.assert_array_equal(agreement(fine, broken), [np.nan, 1])
    np.testing.assert_array_equal(agreement(broken, broken), [np.nan, 1])
    for placebo in ([True, False], [False, True]):
        found = placebo_share(broken, placebo)
        assert np.isnan(found[0])
        assert found[1] == pytest.approx(1 / 3 if placebo[0] else 2 / 3)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([3, 0, 1, 0, 0], 0),
        ([0, 2, 0, -5, 0], 1),
        ([1, 1, 1, 1, 1], 2 / 5),
        ([-4, 1, 0, -1, 2], 2 / 8),
        ([0, 0, 0, 0, 0], 2 / 5),
    ],
)
def test_the_placebo_share_is_that_of_the_weight(values: list[float], expected: float) -> None:
    assert placebo_share([values], PLACEBO)[0] == pytest.approx(expected)


@given(ATTRIBUTIONS)
def test_placebo_shares_of_a_set_and_the_rest_add_up_to_one(a: FloatArray) -> None:
    found = placebo_share(a, PLACEBO)
    assert ((found >= 0) & (found <= 1)).all()
    np.testing.assert_allclose(found + placebo_share(a, ~PLACEBO), 1)
    np.testing.assert_array_equal(placebo_share(a, np.ones(5, dtype=bool)), 1)
    np.testing.assert_array_equal(found, placebo_share(-a, PLACEBO))


@given(ATTRIBUTIONS)
def test_towards_keeps_what_is_above_zero(a: FloatArray) -> None:
    expected = [[value if value > 0 else 0.0 for value in row] for row in a.tolist()]
    np.testing.assert_array_equal(towards(a), expected)
    np.testing.assert_array_equal(towards(a) - towards(-a), a)


def test_towards_leaves_the_undefined_undefined() -> None:
    np.testing.assert_array_equal(towards([[np.nan, -1.0, np.inf]]), [[np.nan, 0, np.inf]])


@pytest.mark.parametrize(
    "measure", [lambda none: agreement(none, none), lambda none: placebo_share(none, PLACEBO)]
)
def test_no_rows_have_no_measure(measure: Callable[[FloatArray], FloatArray]) -> None:
    assert measure(np.empty((0, 5))).shape == (0,)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: agreement([[1.0, 2.0]], [[1.0]]), r"got \(1, 2\) and \(1, 1\)"),
        (lambda: agreement([1.0, 2.0], [1.0, 2.0]), r"must both be \(rows, features\)"),
        (lambda: agreement(np.ones((2, 3, 1)), np.ones((2, 3, 1))), r"must both be \(rows, features\)"),
        (lambda: placebo_share([[1.0, 2.0]], [True]), r"got \(1,\) beside \(1, 2\)"),
        (lambda: placebo_share([1.0, 2.0], [True, False]), "placebo must have shape"),
        (lambda: placebo_share([[1.0, 2.0]], [False, False]), "no column is a placebo"),
    ],
    ids=range(6),
)
def test_shapes_that_do_not_fit_are_refused_in_one_line(call: Callable[[], object], words: str) -> None:
    with pytest.raises(InputError, match=words) as refused:
        call()
    assert "\n" not in str(refused.value)
