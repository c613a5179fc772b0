"""Planted rows: what is changed is in range, contradicts the rest, and is named."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from xassay import explainers, metrics
from xassay.studies.check.dependence import Dependence
from xassay.studies.check.planting import KINDS, N_EACH, SEVERAL, SHIFT, SWAPPED, WRONG, Planted, plant
from xassay.tabular.space import Space
from xassay.types import FloatArray

IN_RANGE = (WRONG, SEVERAL, SWAPPED)


def equal(p: int, rho: float) -> FloatArray:
    return np.full((p, p), rho) + (1 - rho) * np.eye(p)


def blocks(*parts: FloatArray) -> FloatArray:
    size = sum(len(part) for part in parts)
    found, start = np.zeros((size, size)), 0
    for part in parts:
        found[start : start + len(part), start : start + len(part)] = part
        start += len(part)
    return found


def gauss(covariance: FloatArray, n: int = 600, seed: int = 0) -> FloatArray:
    return np.random.default_rng(seed).multivariate_normal(np.zeros(len(covariance)), covariance, n)


def distance(data: FloatArray) -> Any:
    precision, mean = np.linalg.inv(np.cov(data, rowvar=False)), data.mean(axis=0)
    return lambda rows: np.einsum("rp,pq,rq->r", rows - mean, precision, rows - mean)


def planted(table: Any, predict: Any = None, seed: int = 0) -> tuple[Planted, FloatArray]:
    space, (pool,) = Space.of(table)
    predict = predict or distance(pool)
    found = plant(predict, space, pool, predict(pool), seed)
    assert found is not None
    return found, pool


def of_kind(found: Planted, kind: str) -> np.ndarray[Any, Any]:
    return np.array(found.how) == kind


PAIRS = blocks(equal(2, 0.95), equal(2, 0.95), np.eye(1))
FIVE = blocks(equal(5, 0.95), np.eye(3))
INDEPENDENT = {"five": (np.eye(5), 600), "few rows": (np.eye(5), 60), "wide": (np.eye(40), 150)}


@pytest.mark.parametrize("case", INDEPENDENT)
def test_independent_columns_cannot_contradict_each_other(case: str) -> None:
    covariance, n = INDEPENDENT[case]
    found, _ = planted(gauss(covariance, n))
    assert found.kinds == (SHIFT,)
    assert len(found.rows) == N_EACH


def test_every_kind_is_made_where_two_pairs_depend() -> None:
    found, _ = planted(gauss(PAIRS))
    assert found.kinds == KINDS
    for kind in KINDS:
        assert 10 <= of_kind(found, kind).sum() <= N_EACH


def test_changed_columns_are_those_of_the_truth_and_the_rest_is_a_real_ordinary_row() -> None:
    found, pool = planted(gauss(FIVE))
    ordinary = pool[(score := distance(pool)(pool)) <= np.median(score)]
    for row, truth in zip(found.rows, found.truth, strict=True):
        differs = ordinary != row
        # some ordinary row differs in columns of the truth alone, and in one at least
        assert ((differs <= truth).all(axis=1) & differs.any(axis=1)).any()


def test_changed_values_are_typical_alone_and_only_shifted_ones_are_out_of_range() -> None:
    found, pool = planted(gauss(FIVE))
    low, high = pool.min(axis=0), pool.max(axis=0)
    out = (found.rows < low) | (found.rows > high)
    shifted = of_kind(found, SHIFT)
    np.testing.assert_array_equal(out[shifted], found.truth[shifted])
    assert not out[~shifted].any()
    tail = stats.norm.cdf(-1)
    inner = np.quantile(pool, [tail, 1 - tail], axis=0)
    within = (found.rows >= inner[0] - 0.05) & (found.rows <= inner[1] + 0.05)
    one = of_kind(found, WRONG) & (found.truth.sum(axis=1) == 1)
    assert one.sum() > 30
    assert within[found.truth & one[:, None]].all()


def test_a_wrong_column_lies_beyond_the_true_conditional_distribution() -> None:
    data = gauss(FIVE)
    found, _ = planted(data)
    space, _ = Space.of(data)
    raw = np.asarray(space.decode(found.rows))
    chosen = of_kind(found, WRONG) & (found.truth.sum(axis=1) == 1)
    precision = np.linalg.inv(FIVE)
    residual = np.abs(raw @ precision / np.sqrt(np.diag(precision)))
    assert (residual[chosen][found.truth[chosen]] > 2.2).all()
    # the others of its block contradict it, and so it lies further off than they do
    assert (residual.argmax(axis=1)[chosen] == found.truth.argmax(axis=1)[chosen]).mean() > 0.95


def test_of_a_pair_both_count_and_of_a_column_against_four_it_alone() -> None:
    pairs, _ = planted(gauss(PAIRS))
    truth = pairs.truth[of_kind(pairs, WRONG)]
    assert (truth[:, :2].all(axis=1) ^ truth[:, 2:4].all(axis=1)).mean() > 0.95
    assert not truth[:, 4].any()
    five, _ = planted(gauss(FIVE))
    assert (five.truth[of_kind(five, WRONG)].sum(axis=1) == 1).mean() > 0.9


def test_of_several_two_to_four_were_changed() -> None:
    found, pool = planted(gauss(blocks(equal(8, 0.9), np.eye(3))))
    rows = found.rows[of_kind(found, SEVERAL)]
    changed = np.array([(pool != row).sum(axis=1).min() for row in rows])
    assert set(changed.tolist()) == {2, 3, 4}
    # the values are real, and of as many other rows
    for row in rows:
        base = (pool != row).sum(axis=1).argmin()
        columns = np.flatnonzero(pool[base] != row)
        donors = {int(np.flatnonzero(pool[:, j] == row[j])[0]) for j in columns}
        assert len(donors) == len(columns)
        assert base not in donors


def test_swapped_columns_take_each_others_rank() -> None:
    found, pool = planted(gauss(PAIRS))
    ranks = stats.rankdata(pool, axis=0)
    for row in found.rows[of_kind(found, SWAPPED)]:
        base = (pool != row).sum(axis=1).argmin()
        a, b = np.flatnonzero(pool[base] != row)
        for one, other in ((a, b), (b, a)):
            place = np.flatnonzero(pool[:, one] == row[one])[0]
            assert abs(ranks[place, one] - ranks[base, other]) <= 1


@pytest.mark.parametrize("kind", IN_RANGE)
def test_distance_alone_finds_shifted_columns_and_is_about_at_chance_on_the_others(kind: str) -> None:
    data = gauss(blocks(equal(5, 0.95), equal(2, -0.2), np.eye(3)))
    found, pool = planted(data)
    zscore = explainers.make("zscore", predict=lambda rows: rows[:, 0], background=pool)
    mrr = metrics.reciprocal_rank(zscore.explain(found.rows).values, found.truth)
    assert mrr[of_kind(found, SHIFT)].min() == 1
    chosen = of_kind(found, kind)
    if kind == SWAPPED:  # values of one block that agree do so after a swap too
        assert not chosen.any()
        return
    chance = metrics.reciprocal_rank(np.zeros(found.truth.shape), found.truth)[chosen].mean()
    assert mrr[chosen].mean() < chance + 0.05


def test_a_detector_that_knows_the_dependence_notices_and_one_that_does_not_is_blind() -> None:
    data = gauss(PAIRS)
    knows, pool = planted(data)
    blind, _ = planted(data, predict=lambda rows: (rows**2).sum(axis=1))
    assert pool.shape[1] == 5
    for found, least, most in ((knows, 0.6, 1.0), (blind, 0.0, 0.2)):
        assert least <= found.noticed[~of_kind(found, SHIFT)].mean() <= most
        assert found.noticed[of_kind(found, SHIFT)].mean() > 0.9


def test_dependence_without_correlation_is_broken_too() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=600)
    data = np.column_stack([x, x**2 + 0.1 * rng.normal(size=600), rng.normal(size=(600, 2))])
    assert abs(stats.spearmanr(data[:, 0], data[:, 1]).statistic) < 0.15
    found, pool = planted(data)
    wrong = of_kind(found, WRONG)
    assert wrong.sum() == N_EACH
    assert (found.truth[wrong] == [True, True, False, False]).mean() > 0.95
    space, _ = Space.of(data)
    raw = np.asarray(space.decode(found.rows[wrong]))
    real = np.abs(data[:, 1] - data[:, 0] ** 2)
    assert (np.abs(raw[:, 1] - raw[:, 0] ** 2) > np.quantile(real, 0.99)).mean() > 0.95
    assert pool.shape == data.shape


def test_whole_numbers_stay_whole_and_categories_and_holes_stay_out() -> None:
    import pandas as pd

    rng = np.random.default_rng(0)
    base = rng.normal(size=400)
    table = pd.DataFrame(
        {
            "count": np.rint(20 + 5 * base + rng.normal(size=400) / 2).astype(int),
            "size": base + 0.05 * rng.normal(size=400),
            "weight": base + 0.05 * rng.normal(size=400),
            "city": rng.choice(["a", "b", "c"], 400),
            "holes": np.where(rng.random(400) < 0.2, np.nan, base),
        }
    )
    space, (pool,) = Space.of(table)

    def score(rows: FloatArray) -> FloatArray:
        return np.abs(rows[:, 1] - rows[:, 2]) + rows[:, 1] ** 2

    found = plant(score, space, pool, score(pool), 0)
    assert found is not None
    assert WRONG in found.kinds
    assert not found.truth[:, 3:].any()
    decoded = space.decode(found.rows)
    assert decoded["count"].dtype == table["count"].dtype
    np.testing.assert_array_equal(space.snap(found.rows), found.rows)


def test_there_is_always_something_left_to_rule_out() -> None:
    two, _ = planted(gauss(equal(2, 0.95)))
    assert two.kinds == (SHIFT,)
    for covariance in (PAIRS, FIVE, equal(3, 0.9)):
        found, _ = planted(gauss(covariance))
        assert found.truth.any(axis=1).all()
        assert not found.truth.all(axis=1).any()


def test_the_seed_fixes_the_rows() -> None:
    first, again, other = (planted(gauss(PAIRS), seed=seed)[0] for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.rows, again.rows)
    np.testing.assert_array_equal(first.truth, again.truth)
    assert first.how == again.how
    assert not np.array_equal(first.rows, other.rows)


def test_chance_is_that_of_a_random_order_by_kind() -> None:
    truth = np.array([[1, 0, 0, 0], [1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0]], dtype=bool)
    how = (SHIFT, SHIFT, WRONG, WRONG)
    some = Planted(np.zeros((4, 4)), truth, how, np.array([True, True, True, False]))
    one, two = (1 + 1 / 2 + 1 / 3 + 1 / 4) / 4, 1 / 2 + 1 / 2 * 2 / 3 / 2 + 1 / 6 / 3
    assert some.chance_of(SHIFT) == pytest.approx(one)
    assert some.chance_of(WRONG) == pytest.approx(two)
    assert some.chance == pytest.approx((2 * one + two) / 3)
    assert np.isnan(some.chance_of(SWAPPED))
    assert some.kinds == (SHIFT, WRONG)


@pytest.mark.parametrize(
    "table",
    [
        pytest.param(gauss(PAIRS)[:, :1], id="one column"),
        pytest.param(gauss(PAIRS, 15), id="few rows"),
        pytest.param(np.random.default_rng(0).integers(0, 2, (100, 4)), id="flags alone"),
        pytest.param(np.full((100, 3), 2.5), id="constant"),
    ],
)
def test_nothing_is_planted_where_nothing_can_be(table: FloatArray) -> None:
    space, (pool,) = Space.of(table)
    assert plant(lambda rows: rows.sum(axis=1), space, pool, pool.sum(axis=1), 0) is None


# --- dependence ---


@pytest.mark.parametrize("covariance", [np.eye(5), FIVE, equal(30, 0.5)], ids=["none", "five", "thirty"])
def test_about_one_new_row_in_a_hundred_is_unlikely(covariance: FloatArray) -> None:
    made = Dependence(gauss(covariance, 1000))
    fresh = made.scores(gauss(covariance, 4000, seed=1))
    for columns in ([0], [0, 2]):
        # by either look: up to one in a hundred each
        assert 0.002 < made.unlikely(fresh, np.array(columns)).mean() < 0.045


def test_normal_scores_are_those_of_ranks_and_go_back() -> None:
    pool = gauss(PAIRS, 101)
    made = Dependence(pool)
    z = made.scores(pool)
    np.testing.assert_allclose(z, stats.norm.ppf((stats.rankdata(pool, axis=0) - 0.5) / 101))
    for j in range(5):
        np.testing.assert_array_equal(made.values(j, z[:, j]), pool[:, j])


def test_columns_given_the_others_are_judged_as_by_the_block_formula() -> None:
    from xassay.studies.check.dependence import _foreseen

    covariance = blocks(equal(3, 0.7), equal(2, -0.4))
    rows, columns, rest = gauss(covariance, 20), np.array([0, 3]), np.array([1, 2, 4])
    slope = covariance[np.ix_(columns, rest)] @ np.linalg.inv(covariance[np.ix_(rest, rest)])
    away = rows[:, columns] - rows[:, rest] @ slope.T
    within = covariance[np.ix_(columns, columns)] - slope @ covariance[np.ix_(rest, columns)]
    expected = np.einsum("ra,ab,rb->r", away, np.linalg.inv(within), away)
    np.testing.assert_allclose(_foreseen(rows, np.linalg.inv(covariance), columns), expected)
