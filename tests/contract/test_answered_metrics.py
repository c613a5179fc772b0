"""Laws of the metrics that take a model's answers, and of those of stability."""

import itertools
from typing import Any

import numpy as np
import pytest

from answered import ANSWERED, CORRELATED, HOW_MUCH, STABILITY, WHICH, Asked
from xassay import metrics
from xassay.types import FloatArray

each_answered = pytest.mark.parametrize("name", ANSWERED)
each_of_which = pytest.mark.parametrize("name", WHICH)


def asked_of(rows: int = 40, *, one_way: bool = False, seed: int = 0) -> Asked:
    rng = np.random.default_rng(seed)
    moves = 2 * rng.standard_normal((rows, 1, 5)) + rng.standard_normal((rows, 6, 5))
    sizes = rng.integers(1, 6, (rows, 40))
    subsets = rng.random((rows, 40, 5)).argsort(axis=2).argsort(axis=2) < sizes[:, :, None]
    return Asked(np.abs(moves) if one_way else moves, subsets, np.arange(rows))


def ahead(name: str, found: FloatArray, other: FloatArray) -> FloatArray:
    """How much better one score is, by the record."""
    record = metrics.describe(name)
    if record.best is not None:
        return np.abs(np.log(other / record.best)) - np.abs(np.log(found / record.best))
    return found - other if record.higher_is_better else other - found


@each_answered
def test_answered_scores_stay_within_the_recorded_range(name: str) -> None:
    asked, record = asked_of(), metrics.describe(name)
    for phi in (asked.exact, np.random.default_rng(9).standard_normal((40, 5)), -asked.exact):
        found = ANSWERED[name](phi, asked)
        assert found.shape == (40,)
        assert ((found >= record.low - 1e-12) & (found <= record.high + 1e-12)).all()


@each_answered
def test_answered_scores_of_a_batch_equal_those_of_its_rows_one_by_one(name: str) -> None:
    asked, phi = asked_of(), np.round(np.random.default_rng(3).standard_normal((40, 5)))  # with ties
    alone = [ANSWERED[name](phi[[k]], asked.of_rows([k]))[0] for k in range(40)]
    np.testing.assert_allclose(ANSWERED[name](phi, asked), alone, rtol=1e-12)
    backwards = ANSWERED[name](phi[::-1], asked.of_rows(slice(None, None, -1)))
    np.testing.assert_allclose(backwards[::-1], alone, rtol=1e-12)


@each_answered
def test_permuting_columns_changes_no_answered_score(name: str) -> None:
    asked, phi, order = asked_of(), np.random.default_rng(3).standard_normal((40, 5)), [3, 0, 4, 1, 2]
    found = ANSWERED[name](phi[:, order], asked.of_columns(order))
    np.testing.assert_allclose(found, ANSWERED[name](phi, asked), atol=1e-12)


@each_answered
def test_answered_scores_leave_their_arguments_alone(name: str) -> None:
    asked, phi = asked_of(), np.random.default_rng(3).standard_normal((40, 5))
    for array in (phi, asked.moves, asked.subsets, asked.ids):
        array.flags.writeable = False  # to write raises
    assert ANSWERED[name](phi, asked).shape == (40,)


@each_answered
def test_a_row_without_answers_is_undefined_and_harms_no_other(name: str) -> None:
    asked, phi = asked_of(), np.random.default_rng(3).standard_normal((40, 5))
    expected = ANSWERED[name](phi, asked)
    asked.moves[7, 2, 1] = np.nan
    found = ANSWERED[name](phi, asked)
    assert np.flatnonzero(np.isnan(found)).tolist() == [7]
    np.testing.assert_array_equal(np.delete(found, 7), np.delete(expected, 7))


@each_of_which
def test_noise_and_an_explanation_that_names_no_column_are_at_chance(name: str) -> None:
    """Chance is what all orders of the columns have in the mean; of a correlation it is 0."""
    asked, rng = asked_of(), np.random.default_rng(8)
    orders = [np.tile(np.array(order, float), (40, 1)) for order in itertools.permutations(range(1, 6))]
    by_order = np.mean([WHICH[name](order, asked) for order in orders], axis=0)
    chance = np.zeros(40) if name in CORRELATED else by_order
    if name in CORRELATED:
        assert abs(by_order).max() < 1e-9
        np.testing.assert_array_equal(WHICH[name](metrics.even_split(asked.total, 5), asked), 0)
    flat = [WHICH[name](np.ones((40, 5)), asked, seed=seed) for seed in range(200)]
    noise = [WHICH[name](rng.standard_normal((40, 5)), asked) for _ in range(200)]
    for runs in (flat, noise):
        gaps = np.mean(np.array(runs) - chance, axis=1)  # over rows, by run
        assert abs(gaps.mean()) < 4 * gaps.std() / np.sqrt(200) + 1e-12


@each_answered
def test_the_contributions_of_an_additive_model_are_best(name: str) -> None:
    asked = asked_of(one_way=name in ("pgi", "pgu"))  # what these measure has no sign
    exact, record = asked.exact, metrics.describe(name)
    best = ANSWERED[name](exact, asked)
    if name in CORRELATED:
        np.testing.assert_allclose(best, record.high)
    if name in HOW_MUCH:
        np.testing.assert_allclose(best, record.low if record.best is None else record.best, atol=1e-12)
        return
    wrong = {
        "even split": metrics.even_split(asked.total, 5),
        "reversed": 1 / exact,
        "shuffled": metrics.shuffled(exact, seed=1)[0],
        "shifted": np.roll(exact, 1, axis=1),
        "neighbour's": np.roll(exact, 1, axis=0),
        "mean of all": np.tile(exact.mean(axis=0), (40, 1)),
        "noise": np.random.default_rng(1).standard_normal((40, 5)),
    }
    if name not in ("pgi", "pgu"):
        wrong["signs turned"] = -exact
    for what, phi in wrong.items():
        gain = ahead(name, best, ANSWERED[name](phi, asked))
        assert (gain > -1e-9).all(), what
        assert gain.mean() > 0.01, what


@each_of_which
def test_more_noise_in_the_contributions_scores_worse(name: str) -> None:
    asked, rng = asked_of(200, one_way=name in ("pgi", "pgu")), np.random.default_rng(4)
    noise = rng.standard_normal((200, 5))
    found = [WHICH[name](asked.exact + level * noise, asked).mean() for level in (0.0, 1.0, 4.0)]
    assert ahead(name, *found[:2]) > 0.01
    assert ahead(name, *found[1:]) > 0.01


@pytest.mark.parametrize("name", HOW_MUCH)
@pytest.mark.parametrize("factors", [(1.0, 1.4, 3.0, 100.0), (1.0, 0.7, 0.2, 0.01)])
def test_contributions_on_another_scale_score_worse_the_farther_it_is(name: str, factors: Any) -> None:
    asked = asked_of()
    found = [HOW_MUCH[name](factor * asked.exact, asked) for factor in factors]
    for better, worse in itertools.pairwise(found):
        assert (ahead(name, better, worse) > 0).all()


@pytest.fixture
def explained() -> tuple[FloatArray, FloatArray, FloatArray]:
    """Explanations of rows and of neighbours, linear in the row, and the distances between them."""
    rng = np.random.default_rng(2)
    slopes, rows, steps = rng.standard_normal((4, 4)), rng.standard_normal((30, 4)), rng.random((30, 6, 4))
    return rows @ slopes, (rows[:, None] + 0.1 * steps) @ slopes, np.linalg.norm(0.1 * steps, axis=2)


each_stability = pytest.mark.parametrize("name", STABILITY)


@each_stability
def test_what_moves_more_or_is_drawn_anew_is_less_stable(name: str, explained: Any) -> None:
    values, near, apart = explained
    record, shift = metrics.describe(name), near - values[:, None]
    assert not record.higher_is_better
    still, little, much = (
        STABILITY[name](values, values[:, None] + factor * shift, apart) for factor in (0.0, 1.0, 3.0)
    )
    np.testing.assert_array_equal(still, record.low)
    assert (little > 0).all()
    np.testing.assert_allclose(much, 3 * little)
    anew = STABILITY[name](values, np.random.default_rng(6).permuted(near, axis=0), apart)
    assert np.median(anew) > 3 * np.median(little)


@each_stability
def test_stability_of_a_batch_is_that_of_its_rows_in_any_order_of_columns(name: str, explained: Any) -> None:
    values, near, apart = explained
    for array in explained:
        array.flags.writeable = False
    expected = STABILITY[name](values, near, apart)
    alone = [STABILITY[name](values[[k]], near[[k]], apart[[k]])[0] for k in range(30)]
    np.testing.assert_array_equal(alone, expected)
    order = [2, 0, 3, 1]
    np.testing.assert_allclose(STABILITY[name](values[:, order], near[:, :, order], apart), expected)
    np.testing.assert_array_equal(STABILITY[name](values, near[:, ::-1], apart[:, ::-1]), expected)
