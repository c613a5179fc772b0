from typing import Any

import numpy as np
import pytest

from xassay.errors import InputError
from xassay.metrics import even_split, local_lipschitz, max_sensitivity, shuffled

RNG = np.random.default_rng(0)
VALUES, NEIGHBOURS = RNG.standard_normal((6, 4)), RNG.standard_normal((6, 3, 4))
DISTANCES = RNG.random((6, 3)) + 0.1


def norm(values: Any) -> float:
    return sum(float(value) ** 2 for value in values) ** 0.5


def test_max_sensitivity_is_that_of_the_definition_written_out() -> None:
    found = max_sensitivity(VALUES, NEIGHBOURS)
    for r in range(6):
        expected = max(norm(NEIGHBOURS[r, k] - VALUES[r]) for k in range(3)) / norm(VALUES[r])
        assert found[r] == pytest.approx(expected)


def test_local_lipschitz_is_that_of_the_definition_written_out() -> None:
    found = local_lipschitz(VALUES, NEIGHBOURS, DISTANCES)
    for r in range(6):
        expected = max(norm(NEIGHBOURS[r, k] - VALUES[r]) / DISTANCES[r, k] for k in range(3))
        assert found[r] == pytest.approx(expected)


def test_cases_worked_out_by_hand() -> None:
    values, near = [[3.0, 4.0]], [[[3.0, 4.0], [0.0, 0.0], [3.0, 3.0]]]
    assert max_sensitivity(values, near)[0] == 1.0
    # moves 0, 5, 1 at distances 1, 10, 0.5
    assert local_lipschitz(values, near, [[1.0, 10.0, 0.5]])[0] == 2.0
    assert max_sensitivity(values, [[[-3.0, -4.0]]])[0] == 2.0


def test_drawn_anew_for_every_row_values_have_root_two_in_the_mean_square() -> None:
    rng = np.random.default_rng(0)
    found = max_sensitivity(rng.standard_normal((500, 200)), rng.standard_normal((500, 1, 200)))
    assert np.sqrt((found**2).mean()) == pytest.approx(np.sqrt(2), rel=0.02)


@pytest.mark.parametrize("factor", [1e-300, 0.01, -1.0, 1e300])
def test_the_explanation_in_other_units_is_as_sensitive(factor: float) -> None:
    expected = max_sensitivity(VALUES, NEIGHBOURS)
    np.testing.assert_allclose(max_sensitivity(factor * VALUES, factor * NEIGHBOURS), expected)


def test_the_rate_of_an_explanation_that_is_linear_in_the_row_is_its_matrix_norm() -> None:
    rng = np.random.default_rng(1)
    A, rows = rng.standard_normal((3, 3)), rng.standard_normal((5, 3))
    near = rows[:, None] + 0.1 * rng.standard_normal((5, 4000, 3))
    apart = np.linalg.norm(near - rows[:, None], axis=2)
    found = local_lipschitz(rows @ A.T, near @ A.T, apart)
    largest = np.linalg.svd(A, compute_uv=False)[0]
    assert (found <= largest + 1e-9).all()
    assert (found > 0.99 * largest).all()
    # and that of a score, with one column
    slope = np.array([3.0, 0.0, 4.0])
    rates = local_lipschitz((rows @ slope)[:, None], (near @ slope)[:, :, None], apart)
    np.testing.assert_allclose(rates, 5.0, rtol=0.01)


def test_nothing_that_changes_is_zero_and_a_change_from_nothing_has_no_ratio() -> None:
    values = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 2.0]])
    near = np.array([[[0.0, 0.0]], [[0.0, 1e-9]], [[1.0, 2.0]]])
    np.testing.assert_array_equal(max_sensitivity(values, near), [0.0, np.nan, 0.0])
    np.testing.assert_array_equal(local_lipschitz(values, near, np.ones((3, 1))), [0.0, 1e-9, 0.0])


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_leaves_its_row_undefined_and_no_other(bad: float) -> None:
    values, near, apart = VALUES.copy(), NEIGHBOURS.copy(), DISTANCES.copy()
    values[1, 2], near[3, 1, 0] = bad, bad
    kept = [0, 2, 4, 5]
    found = max_sensitivity(values, near)
    np.testing.assert_array_equal(np.isnan(found), [False, True, False, True, False, False])
    np.testing.assert_array_equal(found[kept], max_sensitivity(VALUES, NEIGHBOURS)[kept])
    apart[4, 0], apart[3, 1] = abs(bad), 0.0
    found = local_lipschitz(values, near, apart)
    np.testing.assert_array_equal(np.isnan(found), [False, True, False, True, True, False])


def test_a_neighbour_at_distance_zero_is_the_row_itself() -> None:
    found = local_lipschitz([[1.0], [1.0]], [[[9.0], [3.0]], [[2.0], [2.0]]], [[0.0, 4.0], [0.0, 0.0]])
    np.testing.assert_array_equal(found, [0.5, np.nan])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: max_sensitivity([1.0], [[[1.0]]]), "values must have shape"),
        (
            lambda: max_sensitivity([[1.0]], [[1.0]]),
            r"neighbours must have shape \(1, any, 1\), got \(1, 1\)",
        ),
        (lambda: max_sensitivity([[1.0]], np.empty((1, 0, 1))), "neighbours must hold at least one"),
        (
            lambda: local_lipschitz([[1.0]], [[[1.0]]], [1.0]),
            r"distances must have shape \(1, 1\), got \(1,\)",
        ),
        (lambda: local_lipschitz([[1.0]], [[[1.0]]], [[-1.0]]), "distances must be at least 0"),
        (lambda: even_split([1.0], 0), "n_features must be at least 1, not 0"),
        (lambda: even_split([[1.0]], 2), r"total must have shape \(any,\)"),
        (lambda: shuffled([1.0]), "contributed must have shape"),
        (lambda: shuffled([[1.0]], n=0), "n must be at least 1, not 0"),
        (lambda: shuffled([[1.0]], row_ids=[1, 2]), "row_ids must be 1 integers"),
    ],
)
def test_what_cannot_be_measured_is_refused_in_one_line(call: Any, words: str) -> None:
    with pytest.raises(InputError, match=words) as refused:
        call()
    assert "\n" not in str(refused.value)


def test_an_even_split_knows_the_total_alone() -> None:
    found = even_split([3.0, -1.0, np.nan], 4)
    np.testing.assert_array_equal(found[:2], [[0.75] * 4, [-0.25] * 4])
    assert np.isnan(found[2]).all()
    assert found.shape == (3, 4)


def test_shuffles_keep_each_rows_values_and_forget_whose_they_are() -> None:
    values = np.arange(12.0).reshape(2, 6)
    found = shuffled(values, n=300)
    assert found.shape == (300, 2, 6)
    np.testing.assert_array_equal(np.sort(found, axis=2), np.broadcast_to(values, found.shape))
    # every value is in every column as often: 50 times in the mean, 6.5 standard deviation
    counts = np.array([(found[:, 0] == value).sum(axis=0) for value in values[0]])
    assert np.abs(counts - 50).max() < 30
    np.testing.assert_array_equal(found[:7], shuffled(values, n=7))
    np.testing.assert_array_equal(found[:, 1:], shuffled(values[1:], row_ids=[1], n=300))
    assert (shuffled(values, seed=1) != found[:1]).any()
    assert (found[:, 0] != found[:, 1] - 6).any()
