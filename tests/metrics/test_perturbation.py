import itertools
from typing import Any

import numpy as np
import pytest

from xassay.metrics import causal_losses
from xassay.metrics.perturbation import points_near
from xassay.types import Explanation, FloatArray

RNG = np.random.default_rng(0)
ROWS = RNG.standard_normal((30, 3))
MIXED = np.column_stack(
    [RNG.standard_normal(40), RNG.integers(0, 4, 40), RNG.normal(50, 9, 40), np.arange(40)]
)
SIGMAS = np.array([0.1, 0.5, 1.0])


def near(
    X: FloatArray = MIXED, sigmas: FloatArray = SIGMAS, n_samples: int = 5, **changes: Any
) -> FloatArray:
    p = X.shape[1]
    given = {"seed": 0, "row_ids": np.arange(len(X)), "spreads": np.ones(p), "pool": X, **changes}
    return points_near(X, sigmas, n_samples, **given)


@pytest.mark.parametrize("seed", [0, 7])
def test_points_of_standardised_numbers_are_those_of_the_causal_metric(seed: int) -> None:
    shown: list[FloatArray] = []

    def watched(rows: FloatArray) -> FloatArray:
        shown.append(rows)
        return rows[:, 0]

    flat = np.zeros(ROWS.shape)
    ids = np.arange(100, 130)
    causal_losses(
        Explanation(flat, coefficients=flat, intercepts=flat[:, 0]),
        watched,
        ROWS,
        sigma=tuple(SIGMAS),
        n_samples=4,
        seed=seed,
        row_ids=ids,
    )
    found = near(ROWS, n_samples=4, seed=seed, row_ids=ids)
    assert found.shape == (3, 30, 4, 3)
    np.testing.assert_allclose(found.reshape(-1, 3), shown[0], atol=1e-14)


def test_all_sigmas_share_their_noise() -> None:
    moved = near() - MIXED[:, None]
    for s, sigma in enumerate(SIGMAS):
        np.testing.assert_allclose(moved[s] / sigma, moved[-1], atol=1e-10)
    assert np.std(moved[-1]) == pytest.approx(1, rel=0.1)


def test_each_number_moves_by_its_own_spread() -> None:
    spreads = np.array([1.0, 10.0, 0.0, 0.01])
    moved = near(spreads=spreads) - MIXED[:, None]
    np.testing.assert_allclose(moved, (near() - MIXED[:, None]) * spreads, atol=1e-10)


def test_a_replaced_category_comes_from_the_pool_and_numbers_move_as_without() -> None:
    pool = MIXED + np.array([0, 100, 0, 1000])
    found = near(n_samples=50, swapped=(1, 3), pool=pool)
    np.testing.assert_array_equal(found[..., [0, 2]], near(n_samples=50)[..., [0, 2]])
    for column in (1, 3):
        own = found[..., column] == MIXED[:, None, column]
        assert set(found[..., column][~own]) <= set(pool[:, column])
        assert 0 < own.mean() < 1


def test_categories_replaced_in_one_point_come_from_one_row_of_the_pool() -> None:
    pool = np.column_stack([np.zeros(40), np.arange(100, 140), np.zeros(40), np.arange(200, 240)])
    found = near(sigmas=np.array([2.0]), swapped=(1, 3), pool=pool)
    np.testing.assert_array_equal(found[..., 1] + 100, found[..., 3])
    assert len(np.unique(found[..., 1])) > 30


@pytest.mark.parametrize(("sigma", "rate"), [(0.1, 0.005), (0.5, 0.125), (1.0, 0.5), (1.5, 1.0), (9.0, 1.0)])
def test_a_category_is_replaced_with_half_the_squared_sigma(sigma: float, rate: float) -> None:
    pool = np.full((3, 4), -1.0)
    found = near(sigmas=np.array([sigma]), n_samples=1000, swapped=(1, 3), pool=pool)
    replaced = found[..., [1, 3]] == -1
    margin = 4 * np.sqrt(rate * (1 - rate) / replaced[..., 0].size)
    np.testing.assert_allclose(replaced.mean(axis=(0, 1, 2)), rate, rtol=0, atol=margin)


def test_a_category_of_variance_one_moves_by_sigma_squared_in_the_mean_square() -> None:
    signs = np.where(RNG.random((400, 1)) < 0.5, -1.0, 1.0)
    found = near(signs, sigmas=np.array([0.8]), n_samples=300, swapped=(0,))
    moved = ((found - signs[:, None]) ** 2).mean()
    assert moved == pytest.approx(0.8**2 * signs.var(), rel=0.05)


def test_a_category_replaced_at_a_small_sigma_is_replaced_alike_at_a_larger() -> None:
    found = near(n_samples=200, swapped=(1, 3), pool=MIXED + 1000)[..., [1, 3]]
    for smaller, larger in itertools.pairwise(found):
        replaced = smaller >= 1000
        assert replaced.any()
        np.testing.assert_array_equal(smaller[replaced], larger[replaced])


def test_the_draws_belong_to_the_row_and_not_to_the_batch() -> None:
    options: dict[str, Any] = {"swapped": (3, 1), "pool": MIXED, "n_samples": 20}
    whole = near(row_ids=np.arange(500, 540), **options)
    some = [31, 2, 17]
    alone = near(MIXED[some], row_ids=np.array([531, 502, 517]), **options)
    np.testing.assert_array_equal(alone, whole[:, some])
    np.testing.assert_array_equal(near(row_ids=np.arange(500, 540), **options), whole)
    assert (near(row_ids=np.arange(40), **options)[..., 0] != whole[..., 0]).all()
    assert (near(row_ids=np.arange(500, 540), seed=1, **options)[..., 0] != whole[..., 0]).all()


def test_the_order_in_which_categories_are_named_does_not_move_them_to_other_columns() -> None:
    found = near(swapped=(3, 1), n_samples=100, pool=np.full((1, 4), [0.0, -1.0, 0.0, -3.0]))
    assert set(np.unique(found[..., 1])) == {-1.0, 0.0, 1.0, 2.0, 3.0}
    assert set(np.unique(found[..., 3])) == {-3.0, *map(float, range(40))}


def test_a_table_of_categories_alone_holds_nothing_but_categories() -> None:
    found = near(sigmas=np.array([1.0]), swapped=(0, 1, 2, 3), n_samples=10)
    for column in range(4):
        assert set(np.unique(found[..., column])) <= set(MIXED[:, column])
    assert (found != MIXED[:, None]).any()


def test_the_rows_stay_as_they_are() -> None:
    kept = MIXED.copy()
    near(swapped=(1,))
    np.testing.assert_array_equal(MIXED, kept)


def test_no_rows_have_no_points() -> None:
    assert near(MIXED[:0], pool=MIXED, swapped=(1,)).shape == (3, 0, 5, 4)
