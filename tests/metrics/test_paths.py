import itertools
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from xassay.errors import InputError
from xassay.metrics import (
    column_orders,
    comprehensiveness,
    deletion_area,
    even_split,
    insertion_area,
    path_grid,
    pgi,
    pgu,
    prefix_sets,
    sufficiency,
)
from xassay.metrics.masking import masked_drops
from xassay.types import FloatArray, Predict

RNG = np.random.default_rng(0)
ROWS = RNG.standard_normal((8, 5))
BACKGROUND = RNG.standard_normal((6, 5))
GRID = np.array([1, 2, 4])


def tangled(rows: FloatArray) -> FloatArray:
    return np.sin(rows[:, 0] * rows[:, 1]) + rows[:, 2] * rows[:, 3] - 2 * rows[:, 4]


def additive(rows: FloatArray) -> FloatArray:
    return np.sin(rows[:, 0]) + rows[:, 1] ** 2 - 3 * rows[:, 2] + rows[:, 3] ** 3 + 5


def exact(rows: FloatArray, background: FloatArray) -> FloatArray:
    """The contributions of `additive`: each column's own term less its mean."""

    def terms(X: FloatArray) -> FloatArray:
        zeros = np.zeros(len(X))
        return np.column_stack([np.sin(X[:, 0]), X[:, 1] ** 2, -3 * X[:, 2], X[:, 3] ** 3, zeros])

    return terms(rows) - terms(background).mean(axis=0)


def measured(
    phi: FloatArray, predict: Predict = tangled, *, signed: bool = False, seed: int = 0, **options: Any
) -> dict[str, FloatArray]:
    """All measures of explanations of ROWS, the model asked as a study would."""
    total = predict(ROWS) - predict(BACKGROUND).mean()
    first = prefix_sets(phi, GRID, seed=seed, direction=total if signed else None)
    removed = masked_drops(predict, ROWS, BACKGROUND, first)
    kept = masked_drops(predict, ROWS, BACKGROUND, ~first)
    return {
        "comprehensiveness": comprehensiveness(removed, total, **options),
        "sufficiency": sufficiency(kept, total, **options),
        "deletion_area": deletion_area(removed, total, GRID, 5, **options),
        "insertion_area": insertion_area(kept, total, GRID, 5, **options),
    }


def mixed(row: FloatArray, other: FloatArray, replaced: Any) -> float:
    point = [other[j] if j in replaced else row[j] for j in range(5)]
    return float(tangled(np.array([point]))[0])


def test_the_measures_are_those_of_the_definitions_written_out() -> None:
    phi = RNG.standard_normal(ROWS.shape)
    found = measured(phi)
    first = prefix_sets(phi, GRID)
    for r, row in enumerate(ROWS):
        own, mean = tangled(row[None])[0], np.mean([tangled(other[None])[0] for other in BACKGROUND])
        sign = 1 if own > mean else -1
        order = sorted(range(5), key=lambda j, r=r: -abs(phi[r, j]))
        without = [np.mean([mixed(row, b, order[:k]) for b in BACKGROUND]) for k in GRID]
        only = [np.mean([mixed(row, b, order[k:]) for b in BACKGROUND]) for k in GRID]
        assert found["comprehensiveness"][r] == pytest.approx(np.mean([sign * (own - f) for f in without]))
        assert found["sufficiency"][r] == pytest.approx(np.mean([sign * (own - f) for f in only]))
        shares = [0, 1 / 5, 2 / 5, 4 / 5, 1]
        falling, rising = [own, *without, mean], [mean, *only, own]
        for name, curve in (("deletion_area", falling), ("insertion_area", rising)):
            heights = [sign * (f - mean) for f in curve]
            area = sum(
                (b - a) * (u + v) / 2
                for (a, b), (u, v) in zip(
                    itertools.pairwise(shares), itertools.pairwise(heights), strict=True
                )
            )
            assert found[name][r] == pytest.approx(area)
        changes = [np.mean([abs(own - mixed(row, b, order[:k])) for b in BACKGROUND]) for k in GRID]
        assert pgi([changes])[0] == pytest.approx(np.mean(changes))
        assert first[r].sum(axis=1).tolist() == GRID.tolist()


def test_areas_worked_out_by_hand() -> None:
    # f(x) = 10, E f = 2, p = 4: heights over E f 8, 3, 1, 0 at shares 0, 1/4, 3/4, 1
    assert deletion_area([[5.0, 7.0]], [8.0], [1, 3], 4)[0] == 0.25 * 5.5 + 0.5 * 2 + 0.25 * 0.5
    # 0, 6, 9, 8: above f(x) on the way
    assert insertion_area([[2.0, -1.0]], [8.0], [1, 3], 4)[0] == 0.25 * 3 + 0.5 * 7.5 + 0.25 * 8.5
    # f(x) below E f: the same path mirrored
    assert deletion_area([[-5.0, -7.0]], [-8.0], [1, 3], 4)[0] == 0.25 * 5.5 + 0.5 * 2 + 0.25 * 0.5
    assert deletion_area([[5.0, 7.0]], [8.0], [1, 3], 4, normalised=True)[0] == 2.5 / 8
    # one column: no grid, a straight line from f(x) to E f
    assert deletion_area(np.empty((1, 0)), [8.0], [], 1)[0] == 4.0
    assert insertion_area(np.empty((1, 0)), [-8.0], [], 1)[0] == 4.0


@pytest.mark.parametrize("sign", [1, -1])
def test_normalised_measures_are_shares_of_the_total(sign: int) -> None:
    answers, total = sign * np.array([[1.0, 3.0]]), [sign * 4.0]
    assert comprehensiveness(answers, total)[0] == 2.0
    assert sufficiency(answers, total)[0] == 2.0
    assert comprehensiveness(answers, total, normalised=True)[0] == 0.5
    assert sufficiency(answers, total, normalised=True)[0] == 0.5


def test_the_score_in_other_units_or_turned_has_the_same_measures_in_those_units() -> None:
    phi = RNG.standard_normal(ROWS.shape)
    expected, shares = measured(phi), measured(phi, normalised=True)
    for factor in (100.0, -1.0, 1e-6):

        def other(rows: FloatArray, factor: float = factor) -> FloatArray:
            return factor * tangled(rows) + 7

        for name, values in measured(phi, other).items():
            np.testing.assert_allclose(values, abs(factor) * expected[name], rtol=1e-6)
        for name, values in measured(phi, other, normalised=True).items():
            np.testing.assert_allclose(values, shares[name], rtol=1e-6)


BETTER = {"comprehensiveness": 1, "sufficiency": -1, "deletion_area": -1, "insertion_area": 1}


def test_in_the_direction_of_the_score_no_order_beats_that_of_an_additive_model() -> None:
    phi = exact(ROWS, BACKGROUND)
    assert ((phi[:, :4] > 0).any(axis=1) & (phi[:, :4] < 0).any(axis=1)).sum() > 4  # of both signs
    best = measured(phi, additive, signed=True)
    total = additive(ROWS) - additive(BACKGROUND).mean()
    for order in itertools.permutations(range(1, 6)):
        rival = np.sign(total)[:, None] * np.array(order, dtype=float)
        for name, values in measured(rival, additive, signed=True).items():
            assert (BETTER[name] * (best[name] - values) > -1e-12).all()


def test_by_size_this_holds_where_all_contributions_have_one_sign() -> None:
    phi = np.abs(RNG.standard_normal((20, 5)))
    total = phi.sum(axis=1)

    def scored(order_of: FloatArray) -> dict[str, FloatArray]:
        first = prefix_sets(order_of, GRID).astype(float)
        removed = np.einsum("rkp,rp->rk", first, phi)
        kept = np.einsum("rkp,rp->rk", 1 - first, phi)
        return {
            "comprehensiveness": comprehensiveness(removed, total),
            "sufficiency": sufficiency(kept, total),
            "deletion_area": deletion_area(removed, total, GRID, 5),
            "insertion_area": insertion_area(kept, total, GRID, 5),
            "pgi": pgi(removed),
            "pgu": pgu(kept),
        }

    best = scored(phi)
    for order in itertools.permutations(range(1, 6)):
        for name, values in scored(np.repeat([order], 20, axis=0)).items():
            assert (({**BETTER, "pgi": 1, "pgu": -1}[name]) * (best[name] - values) > -1e-12).all()


def test_signs_turned_change_nothing_by_size_and_reverse_the_order_by_direction() -> None:
    phi = exact(ROWS, BACKGROUND)
    for name, values in measured(-phi, additive).items():
        np.testing.assert_array_equal(values, measured(phi, additive)[name])
    right, turned = measured(phi, additive, signed=True), measured(-phi, additive, signed=True)
    for name, better in BETTER.items():
        assert (better * (right[name] - turned[name]) > 0).all()


@pytest.mark.parametrize("signed", [False, True])
def test_an_explanation_that_names_no_column_is_at_chance(signed: bool) -> None:
    """Over its random orders it scores what all orders score in the mean."""
    orders = [np.tile(np.array(order, dtype=float), (8, 1)) for order in itertools.permutations(range(1, 6))]
    for flat in (np.zeros(ROWS.shape), even_split(tangled(ROWS), 5)):
        runs = [measured(flat, seed=seed, signed=signed) for seed in range(100)]
        for name in BETTER:
            chance = np.mean([measured(order)[name] for order in orders], axis=0)
            found = np.array([run[name] for run in runs])
            z = (found.mean(axis=0) - chance) / (found.std(axis=0) / 10)
            assert np.abs(z).max() < 4.5
            assert found.std(axis=0).min() > 0


def test_ties_are_in_every_order_as_often_and_others_stay_put() -> None:
    phi = np.tile([5.0, -2.0, 2.0, 2.0 + 1e-12, 0.0], (1200, 1))
    orders = column_orders(phi)
    assert (orders[:, 0] == 0).all()
    assert (orders[:, 4] == 4).all()
    found = Counter(map(tuple, orders[:, 1:4].tolist()))
    assert set(found) == set(itertools.permutations([1, 2, 3]))
    assert stats.chisquare(list(found.values())).pvalue > 0.001


def test_in_a_direction_pushes_come_first_then_zeros_then_what_pushes_against() -> None:
    phi = [[-5.0, 1.0, 0.0, 3.0]] * 3
    orders = column_orders(phi, direction=[0.3, -7.0, 1e-300])
    assert orders.tolist() == [[3, 1, 2, 0], [0, 2, 1, 3], [3, 1, 2, 0]]
    assert column_orders(phi).tolist() == [[0, 3, 1, 2]] * 3


@given(st.lists(st.lists(st.integers(-3, 3), min_size=4, max_size=4), min_size=1, max_size=6), st.booleans())
def test_orders_are_permutations_in_which_strength_never_rises(phi: list[list[int]], signed: bool) -> None:
    direction = np.where(np.arange(len(phi)) % 2, -2.0, 1.0) if signed else None
    orders = column_orders(phi, direction=direction)
    for r, (row, order) in enumerate(zip(phi, orders.tolist(), strict=True)):
        assert sorted(order) == [0, 1, 2, 3]
        strengths = [abs(row[j]) if direction is None else row[j] * direction[r] for j in order]
        assert strengths == sorted(strengths, reverse=True)


def test_orders_depend_on_the_rows_id_and_the_seed_and_not_on_the_batch() -> None:
    flat = np.zeros((4, 12))
    orders = column_orders(flat, row_ids=[7, 2, 7, 3], seed=1)
    np.testing.assert_array_equal(orders[0], orders[2])
    assert (orders[0] != orders[1]).any()
    np.testing.assert_array_equal(column_orders(flat[:1], row_ids=[2], seed=1)[0], orders[1])
    assert (column_orders(flat, row_ids=[7, 2, 7, 3], seed=2) != orders).any()
    # the luck is the row's: two explanations that name nothing are given one order
    np.testing.assert_array_equal(column_orders(flat + 3, row_ids=[7, 2, 7, 3], seed=1), orders)


def test_a_row_that_is_not_finite_has_an_order_and_harms_no_other() -> None:
    phi = np.array([[np.nan, 5.0, 1.0], [1.0, 2.0, 3.0], [np.inf, 1.0, 2.0]])
    orders = column_orders(phi)
    assert orders[1].tolist() == [2, 1, 0]
    assert np.sort(orders, axis=1).tolist() == [[0, 1, 2]] * 3


@pytest.mark.parametrize(
    ("p", "expected"),
    [
        (1, []),
        (2, [1]),
        (3, [1, 2]),
        (4, [1, 2, 3]),
        (5, [1, 2, 3, 4]),
        (10, [1, 2, 4, 5, 8, 9]),
        (20, [1, 2, 4, 8, 10, 16, 19]),
        (30, [1, 2, 3, 4, 6, 8, 15, 29]),
        (100, [1, 2, 5, 10, 20, 32, 50, 99]),
        (700, [1, 7, 16, 35, 70, 140, 350, 699]),
        (1000, [1, 4, 10, 50, 100, 200, 500, 999]),
    ],
)
def test_grids(p: int, expected: list[int]) -> None:
    assert path_grid(p).tolist() == expected


@pytest.mark.parametrize("p", range(2, 400))
def test_every_grid_rises_stays_within_and_holds_the_shares(p: int) -> None:
    grid = path_grid(p).tolist()
    assert grid == sorted(set(grid))
    assert grid[0] == 1
    assert grid[-1] == p - 1
    assert len(grid) <= 8
    for percent in (1, 5, 10, 20, 50):
        assert min(-(-percent * p // 100), p - 1) in grid
    powers = [2**k for k in range(10) if 2**k < p]
    assert len(grid) == 8 or set(powers) <= set(grid)


def test_rows_without_a_direction_or_an_answer_are_undefined() -> None:
    total = [1.0, 0.0, 1e-12, np.nan, 1.0, 1.0, -2.0]
    answers = np.array([[0.5], [0.5], [0.5], [0.5], [np.nan], [np.inf], [0.5]])
    undefined = [False, True, True, True, True, True, False]
    for found in (
        comprehensiveness(answers, total),
        sufficiency(answers, total),
        deletion_area(answers, total, [1], 2),
        insertion_area(answers, total, [1], 2),
        comprehensiveness(answers, total, normalised=True),
        insertion_area(answers, total, [1], 2, normalised=True),
    ):
        np.testing.assert_array_equal(np.isnan(found), undefined)
    np.testing.assert_array_equal(pgi(answers[3:]), [0.5, np.nan, np.nan, 0.5])
    # very small, but the largest of its row
    assert comprehensiveness([[1e-200]], [1e-200])[0] == 1e-200


def test_an_empty_grid_says_nothing_of_columns() -> None:
    none = np.empty((2, 0))
    for found in (comprehensiveness(none, [1.0, 2.0]), sufficiency(none, [1.0, 2.0]), pgi(none), pgu(none)):
        np.testing.assert_array_equal(found, [np.nan, np.nan])
    assert prefix_sets([[1.0]], path_grid(1)).shape == (1, 0, 1)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: path_grid(0), "n_features must be at least 1, not 0"),
        (lambda: column_orders([1.0, 2.0]), "contributed must have shape"),
        (lambda: column_orders([[1.0, 2.0]], row_ids=[0.5]), "row_ids must be 1 integers"),
        (lambda: column_orders([[1.0, 2.0]], direction=[1.0, 2.0]), r"direction must have shape \(1,\)"),
        (lambda: prefix_sets([[1.0, 2.0]], [0]), "grid must rise and stay between 1 and 1"),
        (lambda: prefix_sets([[1.0, 2.0]], [2]), "grid must rise and stay between 1 and 1"),
        (lambda: prefix_sets([[1.0, 2.0, 3.0]], [2, 1]), "grid must rise"),
        (lambda: prefix_sets([[1.0, 2.0, 3.0]], [1, 1]), "grid must rise"),
        (lambda: prefix_sets([[1.0, 2.0]], [1.0]), "grid must be a list of integers"),
        (lambda: prefix_sets([[1.0, 2.0]], [[1]]), "grid must be a list of integers"),
        (lambda: comprehensiveness([[1.0]], [1.0, 2.0]), r"total must have shape \(1,\), got \(2,\)"),
        (lambda: sufficiency([1.0], [1.0]), r"drops must have shape \(any, any\)"),
        (lambda: deletion_area([[1.0]], [1.0], [1, 2], 4), "1 answers a row beside a grid of 2"),
        (lambda: insertion_area([[1.0]], [1.0], [4], 4), "grid must rise and stay between 1 and 3"),
        (lambda: pgi([[-1.0]]), "none below 0"),
        (lambda: pgu([1.0]), "changed must have shape"),
    ],
)
def test_what_cannot_be_measured_is_refused_in_one_line(call: Any, words: str) -> None:
    with pytest.raises(InputError, match=words) as refused:
        call()
    assert "\n" not in str(refused.value)


def test_what_counts_as_zero_pushes_neither_way() -> None:
    phi = np.tile([1.0, 0.9e-9, -0.9e-9], (200, 1))
    orders = column_orders(phi, direction=np.ones(200))
    assert set(map(tuple, orders.tolist())) == {(0, 1, 2), (0, 2, 1)}


def test_areas_of_uneven_paths_by_hand() -> None:
    # heights 8, 3, 0 and 0, 6, 8 at shares 0, 1/4, 1
    assert deletion_area([[5.0]], [8.0], [1], 4)[0] == 0.25 * 5.5 + 0.75 * 1.5
    assert insertion_area([[2.0]], [8.0], [1], 4)[0] == 0.25 * 3 + 0.75 * 7


def test_prediction_gaps_by_hand() -> None:
    assert pgi([[1.0, 3.0], [0.0, 0.0]]).tolist() == [2.0, 0.0]
    assert pgu([[0.0, 5.0], [4.0, 0.5]]).tolist() == [2.5, 2.25]
