"""The lead measure against Shapley values that are computed by their definition."""

import functools
import itertools
import math
import re
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import xassay
from xassay import metrics
from xassay.errors import InputError
from xassay.metrics import Contrasts, contrast, same_size_sets, symmetrised
from xassay.metrics.contrast import N_SETS, SameSizeSets
from xassay.testing import straw_men
from xassay.types import BoolArray, Explanation, FloatArray


def numbered(sets: BoolArray) -> Any:
    """Sets of columns as numbers: bit j is column j."""
    return sets @ (2 ** np.arange(sets.shape[-1]))


def answers_of(game: FloatArray, sets: SameSizeSets) -> FloatArray:
    """The symmetrised changes of a game given as a table, v(set) by the set's number."""
    removed, kept = game[numbered(sets.chosen)], game[numbered(~sets.chosen)]
    return symmetrised(removed, kept, np.full(len(removed), game[-1]))


def by_definition(game: FloatArray, p: int) -> FloatArray:
    """Shapley values: the mean marginal contribution over all orders, for one game."""
    found = np.zeros(p)
    for order in itertools.permutations(range(p)):
        before = 0
        for j in order:
            found[j] += game[before | 1 << j] - game[before]
            before |= 1 << j
    return found / math.factorial(p)


def by_formula(game: FloatArray, p: int) -> FloatArray:
    """The textbook's sum over coalitions."""
    found = np.zeros(p)
    for j in range(p):
        for coalition in range(2**p):
            if not coalition >> j & 1:
                s = coalition.bit_count()
                weight = 1 / (p * math.comb(p - 1, s))
                found[j] += weight * (game[coalition | 1 << j] - game[coalition])
    return found


def kernel(p: int) -> dict[int, Fraction]:
    """Probability of each size from 1 to p - 1 by the Shapley kernel, exactly."""
    weights = {s: Fraction(1, s * (p - s)) for s in range(1, p)}
    return {s: weight / sum(weights.values()) for s, weight in weights.items()}


@functools.cache
def scale(p: int) -> float:
    """K: the variance of a column's membership in a random set, by p / (p - 1), averaged over sizes."""
    return float(
        sum(
            share * Fraction(s, p) * Fraction(p - s, p) * Fraction(p, p - 1) for s, share in kernel(p).items()
        )
    )


def energy_of(values: FloatArray) -> float:
    """K times the squared length of some values less their mean."""
    return scale(len(values)) * float(((values - values.mean()) ** 2).sum())


def random_game(p: int, seed: int) -> FloatArray:
    game = np.random.default_rng(seed).normal(size=2**p) * 3
    game[0] = 0.0
    return game


def of_game(game: FloatArray, p: int) -> Contrasts:
    sets = same_size_sets(p, 0, np.arange(1))
    return Contrasts.of(sets, answers_of(game, sets))


GAMES = st.tuples(st.integers(2, 8), st.integers(0, 10_000))


@pytest.mark.parametrize("p", [2, 3, 5])
def test_the_two_definitions_of_shapley_values_agree(p: int) -> None:
    game = random_game(p, 1)
    np.testing.assert_allclose(by_formula(game, p), by_definition(game, p))


@given(GAMES)
def test_what_a_sum_can_tell_is_the_energy_of_the_shapley_values(of: tuple[int, int]) -> None:
    p, seed = of
    game = random_game(p, seed)
    assert of_game(game, p).told == pytest.approx(energy_of(by_formula(game, p)), rel=1e-9)


@given(GAMES, st.integers(0, 1000))
def test_what_is_missed_is_the_distance_from_the_shapley_values(of: tuple[int, int], other: int) -> None:
    p, seed = of
    game = random_game(p, seed)
    said = np.random.default_rng(other).normal(size=p) * 2
    found = of_game(game, p).missed(said[None])
    assert found == pytest.approx(energy_of(said - by_formula(game, p)), rel=1e-9, abs=1e-12)


@given(GAMES, st.integers(0, 1000))
def test_fidelity_and_alignment_by_their_formulas(of: tuple[int, int], other: int) -> None:
    p, seed = of
    game = random_game(p, seed)
    exact, said = by_formula(game, p), np.random.default_rng(other).normal(size=p)
    found = of_game(game, p)
    quality = max(0.0, 1 - energy_of(said - exact) / energy_of(exact))
    assert found.fidelity(said[None]) == pytest.approx(quality, abs=1e-9)
    a, b = said - said.mean(), exact - exact.mean()
    assert found.alignment(said[None]) == pytest.approx(a @ b / np.sqrt(a @ a * (b @ b)), abs=1e-7)


@pytest.mark.parametrize("p", [2, 4, 5])
def test_energy_is_the_mean_over_sizes_of_the_variance_among_sets_of_one_size(p: int) -> None:
    game = random_game(p, 7)
    w = np.array([(game[s] + game[-1] - game[2**p - 1 - s]) / 2 for s in range(2**p)])
    size = np.array([s.bit_count() for s in range(2**p)])
    expected = sum(float(share) * w[size == s].var() for s, share in kernel(p).items())
    found = of_game(game, p)
    assert found.energy == pytest.approx(expected, rel=1e-12)
    assert found.size == pytest.approx(energy_of(by_formula(game, p)), rel=1e-9)
    assert found.noise == 0


def test_interactions_of_two_columns_cancel() -> None:
    values, pairs = np.array([1.0, -2.0, 0.5]), np.array([[0, 3, 1], [0, 0, -2], [0, 0, 0.0]])
    rows = np.array([[s >> j & 1 for j in range(3)] for s in range(8)], dtype=float)
    game = rows @ values + np.einsum("si,ij,sj->s", rows, pairs, rows)
    found = of_game(game, 3)
    assert found.energy == pytest.approx(found.size, abs=1e-12)
    assert found.energy > 1


@given(GAMES)
def test_exact_values_are_right_whatever_is_added_to_all_of_them(of: tuple[int, int]) -> None:
    p, seed = of
    game = random_game(p, seed)
    exact, found = by_formula(game, p)[None], of_game(game, p)
    for added in (0.0, 5.0, -100.0):
        assert found.fidelity(exact + added) == pytest.approx(1, abs=1e-6)
        assert found.alignment(exact + added) == pytest.approx(1, abs=1e-6)
    even = np.full((1, p), exact.mean())
    assert found.fidelity(even) == pytest.approx(0, abs=1e-12)
    assert found.alignment(even) == 0
    assert found.alignment(np.zeros((1, p))) == 0
    assert found.alignment(-exact) == pytest.approx(-1, abs=1e-9)


@given(GAMES, st.floats(0.2, 2))
def test_a_scaled_explanation_loses_the_square_and_keeps_its_alignment(
    of: tuple[int, int], factor: float
) -> None:
    p, seed = of
    game = random_game(p, seed)
    exact, found = by_formula(game, p)[None], of_game(game, p)
    assert found.fidelity(factor * exact) == pytest.approx(1 - (1 - factor) ** 2, abs=1e-9)
    assert found.alignment(factor * exact) == pytest.approx(1, abs=1e-9)


@given(GAMES, st.integers(0, 1000), st.floats(1e-3, 10))
def test_nothing_comes_closer_than_the_exact_values(of: tuple[int, int], other: int, size: float) -> None:
    p, seed = of
    game = random_game(p, seed)
    exact, found = by_formula(game, p)[None], of_game(game, p)
    moved = exact + size * np.random.default_rng(other).normal(size=(1, p))
    best = found.missed(exact)
    assert best == pytest.approx(0, abs=1e-9)
    for said in (moved, 1.4 * exact, 0.2 * exact, 2 * exact):
        assert found.missed(said) > best
        assert found.fidelity(said) <= found.fidelity(exact)


@pytest.mark.parametrize("p", [4, 6])
def test_no_straw_man_comes_closer_than_the_exact_values(p: int) -> None:
    rows = 12
    games = [random_game(p, 100 + k) for k in range(rows)]
    exact = np.array([by_formula(game, p) for game in games])
    sets = same_size_sets(p, 0, np.arange(rows))
    found = Contrasts.of(sets, np.vstack([answers_of(g, s) for g, s in zip(games, each(sets), strict=True)]))
    straws = straw_men(exact, seed=0)
    assert len(straws) > 10
    best = found.missed(exact)
    for said in straws.values():
        assert (found.missed(said) >= best - 1e-9).all()
        assert (found.fidelity(said) <= found.fidelity(exact) + 1e-9).all()


def each(sets: SameSizeSets) -> list[SameSizeSets]:
    return [SameSizeSets(one[None], sets.complete) for one in sets.chosen]


# what is drawn


def few_columns(rows: int, p: int, seed: int, wanted: int | None = None) -> tuple[Contrasts, FloatArray]:
    """A game of three columns among many, drawn sets for each row; and its Shapley values."""
    game = np.array([0.0, 2.0, 1.0, 2.5, -1.0, 1.5, 0.5, 3.0])
    exact = np.zeros(p)
    exact[:3] = by_formula(game, 3)
    sets = same_size_sets(p, seed, np.arange(rows), wanted)
    assert not sets.complete
    small = SameSizeSets(sets.chosen[:, :, :3], complete=False)
    return Contrasts.of(sets, answers_of(game, small)), exact


@pytest.mark.parametrize(("p", "wanted"), [(10, None), (12, 64), (30, None), (30, 64), (60, 64)])
def test_drawn_sets_tell_as_much_in_the_mean(p: int, wanted: int | None) -> None:
    """(60, 64) has too few sets for least squares."""
    rows = 400
    found, exact = few_columns(rows, p, 3, wanted)
    known = np.isfinite(found.told)
    told = energy_of(exact)
    # judged before what drowns in its error is left out: that would be a choice by the result
    raw = found.size
    assert known.mean() > (0.5 if (p, wanted) != (60, 64) else 0)
    np.testing.assert_array_equal(found.told[known], raw[known])
    said = exact + np.linspace(-0.5, 0.5, p)
    for values, expected in (
        (raw, told),
        (found.missed(np.tile(said, (rows, 1))), energy_of(said - exact)),
        (found.missed(np.tile(exact, (rows, 1))), 0.0),
    ):
        error = values.std() / np.sqrt(rows)
        assert values.mean() == pytest.approx(expected, abs=4 * error + 0.02 * told)


@pytest.mark.parametrize("p", [10, 11, 30, 101])
def test_sizes_follow_the_shapley_kernel(p: int) -> None:
    sets = same_size_sets(p, 0, np.arange(300))
    counts = np.bincount(sets.sizes.reshape(-1), minlength=p)
    assert sets.chosen.shape[1] == N_SETS
    assert counts[0] == 0
    assert not counts[p // 2 + 1 :].any()
    shares = kernel(p)
    for s in range(1, p // 2 + 1):
        expected = float(shares[s] + (shares[p - s] if 2 * s != p else 0)) * counts.sum()
        assert counts[s] == pytest.approx(expected, abs=5 * np.sqrt(4 * expected) + 4)
    # sets that are compared have one size
    grouped = sets.sizes.reshape(300, -1, 4)
    assert (grouped == grouped[:, :, :1]).all()


def test_sizes_are_stratified() -> None:
    """Of the cumulated kernel each pair of groups has an equal part: the counts of a row hardly vary."""
    p = 30
    sizes = same_size_sets(p, 0, np.arange(50)).sizes[:, ::4]
    ones = (sizes == 1).sum(axis=1)
    share = float(kernel(p)[1] + kernel(p)[p - 1])
    assert np.abs(ones - share * sizes.shape[1]).max() < 3
    assert (np.diff(sizes[:, ::2], axis=1) >= 0).all()


def test_columns_are_drawn_alike() -> None:
    sets = same_size_sets(30, 0, np.arange(300))
    shares = sets.chosen.mean(axis=(0, 1))
    error = np.sqrt(shares.mean() / sets.chosen[:, :, 0].size)
    assert np.abs(shares - shares.mean()).max() < 4.5 * error


def test_seed_and_row_id_fix_the_sets() -> None:
    one = same_size_sets(20, 0, np.array([5, 7]))
    other = same_size_sets(20, 0, np.array([9, 7, 5]))
    np.testing.assert_array_equal(one.chosen[0], other.chosen[2])
    np.testing.assert_array_equal(one.chosen[1], other.chosen[1])
    assert not np.array_equal(one.chosen[0], one.chosen[1])
    assert not np.array_equal(one.chosen, same_size_sets(20, 1, np.array([5, 7])).chosen)


@pytest.mark.parametrize(("p", "sets"), [(9, 255), (10, 256), (1000, 256)])
def test_numbers_of_sets(p: int, sets: int) -> None:
    assert same_size_sets(p, 0, np.arange(1)).chosen.shape == (1, sets, p)


@pytest.mark.parametrize(("wanted", "drawn"), [(1, 16), (16, 16), (23, 16), (24, 24), (130, 128)])
def test_sets_that_are_wanted_come_in_whole_groups(wanted: int, drawn: int) -> None:
    assert same_size_sets(12, 0, np.arange(1), wanted).chosen.shape == (1, drawn, 12)


@pytest.mark.parametrize("p", [1, 2, 3, 4, 5, 8])
def test_narrow_tables_have_all_sets_of_at_most_half_of_the_columns(p: int) -> None:
    sets = same_size_sets(p, 0, np.arange(2))
    assert sets.complete
    expected = sum(math.comb(p, s) for s in range(1, max(p // 2, 1) + 1))
    assert sets.chosen.shape == (2, expected, p)
    assert len({tuple(one) for one in sets.chosen[0].tolist()}) == expected
    assert (np.diff(sets.sizes, axis=1) >= 0).all()
    np.testing.assert_array_equal(sets.chosen[0], sets.chosen[1])


@pytest.mark.parametrize(("wanted", "complete"), [(15, True), (14, False)])
def test_all_sets_are_taken_where_they_are_no_more_than_wanted(wanted: int, complete: bool) -> None:
    assert same_size_sets(5, 0, np.arange(1), wanted).complete is complete


@pytest.mark.parametrize("p", [5, 12, 30, 100])
def test_a_batch_equals_its_rows_one_by_one(p: int) -> None:
    rng = np.random.default_rng(0)
    ids = np.array([4, 9, 2])
    sets = same_size_sets(p, 0, ids)
    exact, said = rng.normal(size=(3, p)), rng.normal(size=(3, p))
    changes = np.einsum("rsp,rp->rs", sets.chosen.astype(float), exact) ** 3
    whole = Contrasts.of(sets, changes)
    for k in range(3):
        alone = Contrasts.of(same_size_sets(p, 0, ids[k : k + 1]), changes[k : k + 1])
        for method in ("missed", "fidelity", "alignment"):
            one = getattr(alone, method)(said[k : k + 1])[0]
            assert getattr(whole, method)(said)[k] == pytest.approx(one, rel=1e-9, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("p", [6, 12])
def test_permuting_columns_changes_nothing(p: int) -> None:
    rng = np.random.default_rng(0)
    exact, said, order = rng.normal(size=(2, p)), rng.normal(size=(2, p)), rng.permutation(p)
    sets = same_size_sets(p, 0, np.arange(2))
    changes = np.einsum("rsp,rp->rs", sets.chosen.astype(float), exact) ** 3
    permuted = SameSizeSets(sets.chosen[:, :, order], sets.complete)
    one, other = Contrasts.of(sets, changes), Contrasts.of(permuted, changes)
    np.testing.assert_allclose(other.fidelity(said[:, order]), one.fidelity(said), atol=1e-9)
    np.testing.assert_allclose(other.alignment(said[:, order]), one.alignment(said), atol=1e-9)


@pytest.mark.parametrize("p", [2, 5, 12, 30, 100, 200, 1000])
def test_exact_values_of_a_linear_model_are_right_in_tables_of_any_width(p: int) -> None:
    exact = np.random.default_rng(p).normal(size=(6, p))
    sets = same_size_sets(p, 0, np.arange(6))
    found = Contrasts.of(sets, np.einsum("rsp,rp->rs", sets.chosen.astype(float), exact))
    known = np.isfinite(found.told)
    assert known.sum() >= 4
    for said in (exact, exact + 3):
        np.testing.assert_allclose(found.fidelity(said)[known], 1, atol=1e-6)
        np.testing.assert_allclose(found.alignment(said)[known], 1, atol=1e-6)
    assert (found.fidelity(np.full((6, p), 2.0))[known] < 1e-9).all()
    assert (found.fidelity(-exact)[known] == 0).all()
    assert (found.alignment(np.full((6, p), 2.0))[known] == 0).all()
    assert np.isnan(found.fidelity(exact)[~known]).all()


@pytest.mark.parametrize("p", [4, 12, 100])
@pytest.mark.parametrize("unit", [1e-12, 1e9, 1e14])
def test_the_unit_of_the_score_does_not_matter(p: int, unit: float) -> None:
    rng = np.random.default_rng(1)
    sets = same_size_sets(p, 0, np.arange(3))
    exact, said = rng.normal(size=(3, p)), rng.normal(size=(3, p))
    changes = np.einsum("rsp,rp->rs", sets.chosen.astype(float), exact) + 0.3 * rng.normal(
        size=sets.chosen.shape[:2]
    )
    one, other = Contrasts.of(sets, changes), Contrasts.of(sets, unit * changes)
    assert np.isfinite(one.told).all()
    for method in ("fidelity", "alignment"):
        near = exact + 0.2 * said
        np.testing.assert_allclose(
            getattr(other, method)(unit * near), getattr(one, method)(near), rtol=1e-6, atol=1e-9
        )


def wide(p: int, rows: int) -> tuple[SameSizeSets, FloatArray, FloatArray]:
    """A sum of five columns among p: sets, changes and its values."""
    exact = np.where(np.arange(p) < 5, np.random.default_rng(0).normal(size=(rows, p)) * 5, 0.0)
    sets = same_size_sets(p, 0, np.arange(rows))
    return sets, np.einsum("rsp,rp->rs", sets.chosen.astype(float), exact), exact


@pytest.mark.parametrize("p", [200, 1000])
def test_over_all_rows_of_wide_tables_what_sums_can_tell_is_unbiased(p: int) -> None:
    """Over all, not only over those that are told."""
    sets, changes, exact = wide(p, 60)
    found = Contrasts.of(sets, changes)
    true = np.array([energy_of(row) for row in exact])
    ratio = found.size / true
    assert ratio.mean() == pytest.approx(1, abs=4 * ratio.std() / np.sqrt(60))
    np.testing.assert_allclose(found.missed(exact), 0, atol=1e-9)


@pytest.mark.parametrize(
    ("p", "least"),
    [
        (200, 0.9),
        (1000, 0.1),
    ],
)
def test_alignment_in_wide_tables_is_near_the_cosine(p: int, least: float) -> None:
    """Of a thousand columns few rows are told, those that seem to tell most: their alignment is too high."""
    sets, changes, exact = wide(p, 60)
    found = Contrasts.of(sets, changes)
    for share in (0.0, 0.5, 1.0):
        said = share * exact + (1 - share) * np.roll(exact, 7, axis=1)
        a, b = (x - x.mean(axis=1, keepdims=True) for x in (said, exact))
        cosine = (a * b).sum(axis=1) / np.sqrt((a**2).sum(axis=1) * (b**2).sum(axis=1))
        alignment = found.alignment(said)
        known = np.isfinite(alignment)
        np.testing.assert_array_equal(known, np.isfinite(found.told))
        assert known.mean() > least
        assert (np.abs(alignment[known]) <= 1).all()
        assert alignment[known].mean() == pytest.approx(cosine[known].mean(), abs=0.12 if p < 1000 else 0.25)
    np.testing.assert_allclose(alignment[known], 1)


def test_what_is_told_is_ten_times_clear_of_the_error_that_the_groups_show() -> None:
    """By loops over groups and strata; with 1000 columns too few sets for least squares."""
    p = 1000
    sets, changes, _ = wide(p, 30)
    size, noise = np.empty(30), np.empty(30)
    for r in range(30):
        groups = []
        for first in range(0, N_SETS, 4):
            w, chosen = changes[r, first : first + 4], sets.chosen[r, first : first + 4].astype(float)
            groups.append((w - w.mean()) @ (chosen - chosen.mean(axis=0)) / 3)
        pairs = len(groups) // 2
        error = sum(((groups[2 * k] - groups[2 * k + 1]) ** 2).sum() for k in range(pairs)) / (2 * pairs) ** 2
        mean = np.mean(groups, axis=0)
        size[r] = ((mean**2).sum() - error) / scale(p)
        noise[r] = 0.2 * np.sqrt(2 / p) * error / scale(p)
    found = Contrasts.of(sets, changes)
    np.testing.assert_allclose(found.size, size)
    np.testing.assert_allclose(found.noise, noise)
    np.testing.assert_allclose(found.told, np.where(size > 10 * noise, size, np.nan))
    assert 0 < np.isnan(found.told).mean() < 1


@pytest.mark.parametrize("p", [2, 5, 12, 200])
def test_a_model_that_does_not_vary_is_undefined(p: int) -> None:
    sets = same_size_sets(p, 0, np.arange(3))
    for changes in (np.zeros(sets.chosen.shape[:2]), 0.1 * sets.sizes):  # nothing, or all columns alike
        found = Contrasts.of(sets, changes)
        assert np.isnan(found.told).all()
        for said in (np.zeros((3, p)), np.random.default_rng(0).normal(size=(3, p))):
            assert np.isnan(found.fidelity(said)).all()
            assert np.isnan(found.alignment(said)).all()


def test_rounding_beside_a_large_score_is_no_difference() -> None:
    """A score of 1e8 is known to 1e-8: what the columns seem to do below it is no truth."""
    sets = same_size_sets(5, 0, np.arange(20))
    noise = np.random.default_rng(0).normal(size=sets.chosen.shape[:2])
    assert np.isnan(Contrasts.of(sets, 1.0 + 1e-8 * noise).told).all()
    assert np.isfinite(Contrasts.of(sets, 1.0 + 1e-4 * noise).told).all()


@pytest.mark.parametrize("p", [12, 200])
def test_changes_without_order_are_undefined_where_sets_are_drawn(p: int) -> None:
    """Parity: what a sum can tell drowns in the sampling error."""
    sets = same_size_sets(p, 0, np.arange(50))
    found = Contrasts.of(sets, np.random.default_rng(0).normal(size=sets.chosen.shape[:2]))
    assert np.isnan(found.told).mean() > 0.8


@pytest.mark.parametrize("p", [5, 12, 200])
def test_rows_without_an_answer_or_an_explanation_are_undefined_alone(p: int) -> None:
    sets = same_size_sets(p, 0, np.arange(4))
    exact = np.random.default_rng(0).normal(size=(4, p))
    changes = np.einsum("rsp,rp->rs", sets.chosen.astype(float), exact)
    changes[1, 3], exact[2, 1] = np.nan, np.nan
    found = Contrasts.of(sets, changes)
    for scores in (found.fidelity(exact), found.alignment(exact)):
        np.testing.assert_array_equal(np.isnan(scores), [False, True, True, False])
    assert np.isnan(found.missed(exact)[[1, 2]]).all()
    assert np.isnan(found.told[1])


def test_a_single_column_is_judged_by_its_own_change() -> None:
    sets = same_size_sets(1, 0, np.arange(4))
    found = Contrasts.of(sets, np.array([[2.0], [2.0], [-2.0], [0.0]]))
    said = np.array([[2.0], [1.0], [1.0], [1.0]])
    np.testing.assert_allclose(found.told, [4, 4, 4, np.nan])
    np.testing.assert_allclose(found.missed(said), [0, 1, 9, 1])
    np.testing.assert_allclose(found.fidelity(said), [1, 0.75, 0, np.nan])
    np.testing.assert_allclose(found.alignment(said), [1, 1, -1, np.nan])


def test_without_any_set_nothing_is_known() -> None:
    found = Contrasts.of(SameSizeSets(np.ones((2, 0, 1), dtype=bool), complete=True), np.ones((2, 0)))
    for scores in (found.told, found.missed(np.ones((2, 1))), found.alignment(np.ones((2, 1)))):
        np.testing.assert_array_equal(scores, [np.nan, np.nan])


def test_two_columns_by_hand() -> None:
    """w = (3, 1): variance 1 among the two sets; shares (2, 2) miss it all, (2.5, 1.5) a quarter."""
    sets = same_size_sets(2, 0, np.arange(1))
    np.testing.assert_array_equal(sets.chosen[0], [[False, True], [True, False]])
    found = Contrasts.of(sets, np.array([[1.0, 3.0]]))
    assert (found.energy[0], found.size[0], found.told[0]) == pytest.approx((1, 1, 1))
    assert found.missed(np.array([[2.0, 2.0]])) == pytest.approx(1)
    assert found.fidelity(np.array([[2.5, 1.5]])) == pytest.approx(0.75)
    assert found.alignment(np.array([[2.5, 1.5]])) == pytest.approx(1)


def test_a_symmetrised_change_by_hand() -> None:
    assert symmetrised(np.array([[3.0]]), np.array([[2.0]]), np.array([5.0])).tolist() == [[3.0]]
    assert symmetrised(np.array([[1.0, 0.0]]), np.array([[2.0, 5.0]]), np.array([6.0])).tolist() == [
        [2.5, 0.5]
    ]


@pytest.mark.parametrize("p", [12, 30])
def test_noise_beyond_sums_biases_nothing(p: int) -> None:
    rng = np.random.default_rng(0)
    rows = 300
    sets = same_size_sets(p, 0, np.arange(rows))
    exact = np.tile(rng.normal(size=p), (rows, 1))
    noise = 0.5 * rng.normal(size=sets.chosen.shape[:2])
    found = Contrasts.of(sets, np.einsum("rsp,rp->rs", sets.chosen.astype(float), exact) + noise)
    missed = found.missed(exact)
    assert (missed < 0).any()
    assert found.fidelity(exact).max() == 1
    assert missed.mean() == pytest.approx(0, abs=4 * missed.std() / np.sqrt(rows))
    assert found.size.mean() == pytest.approx(energy_of(exact[0]), abs=4 * found.size.std() / np.sqrt(rows))
    assert found.energy.mean() - found.size.mean() == pytest.approx(0.25, rel=0.1)
    # the error that is said is the one that is
    assert found.noise.mean() == pytest.approx(missed.std(), rel=0.25)


@pytest.mark.parametrize("p", [12, 30])
def test_what_the_best_sum_leaves_is_the_residual_of_a_regression_with_a_level_a_group(p: int) -> None:
    sets = same_size_sets(p, 0, np.arange(1))
    changes = np.random.default_rng(0).normal(size=sets.chosen.shape[:2])
    n = sets.chosen.shape[1]
    design = np.hstack([sets.chosen[0].astype(float), np.repeat(np.eye(n // 4), 4, axis=0)])
    solution, *_ = np.linalg.lstsq(design, changes[0], rcond=None)
    np.testing.assert_allclose(
        contrast._residuals(sets, changes)[0], changes[0] - design @ solution, atol=1e-9
    )


def test_an_additive_model_has_no_noise_where_least_squares_can_tell() -> None:
    """64 sets in groups of four are 48 equations: enough for 32 unknowns."""
    for p, none in ((33, True), (34, False)):
        sets = same_size_sets(p, 0, np.arange(2), 64)
        changes = np.einsum("rsp,p->rs", sets.chosen.astype(float), np.arange(p, dtype=float))
        found = Contrasts.of(sets, changes)
        assert (found.noise < 1e-9 * found.size).all() == none


def test_columns_that_matter_alike_tell_nothing() -> None:
    """Shapley values within a fifth of their size of their mean: the equal split is as good."""
    sets = same_size_sets(5, 0, np.arange(2))
    values = np.array([[1.0, 1, 1, 1, 1.3], [1.0, 1, 1, 1, 1.6]])
    found = Contrasts.of(sets, np.einsum("rsp,rp->rs", sets.chosen.astype(float), values), values.sum(axis=1))
    np.testing.assert_array_equal(np.isnan(found.told), [True, False])
    np.testing.assert_allclose(found.norm, np.sqrt((values**2).sum(axis=1)))


@given(GAMES, st.integers(0, 1000))
def test_distance_and_direction_by_their_formulas(of: tuple[int, int], other: int) -> None:
    p, seed = of
    game = random_game(p, seed)
    exact, said = by_formula(game, p), np.random.default_rng(other).normal(size=p)
    sets = same_size_sets(p, 0, np.arange(1))
    whole = np.array([game[-1] - game[0]])
    found = Contrasts.of(sets, answers_of(game, sets), whole)
    a, b = said - said.mean(), exact - exact.mean()
    assert found.apart(said[None]) == pytest.approx(np.linalg.norm(a - b), rel=1e-7, abs=1e-9)
    cosine = said @ exact / (np.linalg.norm(said) * np.linalg.norm(exact))
    assert found.direction(said[None]) == pytest.approx(cosine, abs=1e-6)


def test_a_distance_within_the_error_of_drawn_sets_is_none() -> None:
    """Of a sum of columns, in sets that are drawn: what is right stays right, what is wrong is seen."""
    values = np.random.default_rng(0).normal(size=(40, 16))
    sets = same_size_sets(16, 0, np.arange(40), wanted=64)
    noise = np.random.default_rng(1).normal(size=sets.chosen.shape[:2])
    asked = np.einsum("rsp,rp->rs", sets.chosen.astype(float), values) + noise
    found = Contrasts.of(sets, asked, values.sum(axis=1))
    assert (found.apart(values) == 0).mean() > 0.8
    wrong = np.roll(values, 1, axis=1)
    assert (found.apart(wrong) > 0.5 * np.linalg.norm(values - wrong, axis=1)).mean() > 0.8


# the convenience


X = np.random.default_rng(0).normal(size=(60, 5))
SLOPES = np.array([3.0, -1.0, 0.5, 0.0, 2.0])


def bent(rows: FloatArray) -> FloatArray:
    return np.asarray(rows @ SLOPES + rows[:, 0] * rows[:, 1] * rows[:, 2])


def test_fidelity_of_exact_and_wrong_values() -> None:
    exact = SLOPES * (X[:8] - X.mean(axis=0))

    def fidelity(values: FloatArray) -> FloatArray:
        return metrics.fidelity(Explanation(values), lambda rows: rows @ SLOPES, X[:8], X)

    np.testing.assert_allclose(fidelity(exact), 1)
    np.testing.assert_allclose(fidelity(exact + 4), 1)
    np.testing.assert_allclose(fidelity(1.2 * exact), 0.96)
    np.testing.assert_allclose(
        fidelity(np.repeat(exact.sum(axis=1, keepdims=True) / 5, 5, axis=1)), 0, atol=1e-9
    )


def test_fidelity_of_a_local_model_is_that_of_its_contributions() -> None:
    slopes = np.tile(SLOPES, (8, 1))
    line = Explanation(slopes, coefficients=slopes, intercepts=np.zeros(8))
    added = Explanation(slopes * (X[:8] - X[8:].mean(axis=0)))
    found, expected = (metrics.fidelity(one, bent, X[:8], X[8:]) for one in (line, added))
    np.testing.assert_allclose(found, expected)
    assert (found > 0).any()


@pytest.mark.parametrize("p", [4, 10])
def test_fidelity_is_what_a_check_finds(p: int) -> None:
    data = np.random.default_rng(2).normal(size=(150, p))

    def model(rows: FloatArray) -> FloatArray:
        return np.asarray(rows @ np.arange(1.0, p + 1) + 4 * np.abs(rows[:, 0]) + rows[:, 1] * rows[:, 2])

    said = np.arange(1.0, p + 1) * data
    found = xassay.check(
        model, data, data[:50], attributions=said, rows=12, seed=5, max_background=50, measures="fidelity"
    )
    row = found.scores.filter(metric="fidelity", level="model").row(0, named=True)
    ids = np.array([int(one) for one in rows_of(150, 12, seed=5)])
    direct = metrics.fidelity(Explanation(said[ids]), model, data[ids], data[:50], seed=5, row_ids=ids)
    assert row["value"] == pytest.approx(np.nanmean(direct), rel=1e-12)
    assert row["n_undefined"] == np.isnan(direct).sum()
    assert 0.1 < row["value"] < 0.99


def rows_of(n: int, rows: int, seed: int) -> Any:
    from xassay.seeds import generator

    return generator(seed, "rows").permutation(n)[:rows]


def test_fidelity_of_few_rows_of_many() -> None:
    said = Explanation(SLOPES * (X[:6] + 0.1))
    whole = metrics.fidelity(said, bent, X[:6], X, n_sets=8, seed=3, row_ids=np.arange(10, 16))
    part = metrics.fidelity(
        Explanation(said.values[2:4]), bent, X[2:4], X, n_sets=8, seed=3, row_ids=np.array([12, 13])
    )
    np.testing.assert_allclose(whole[2:4], part)
    assert whole.shape == (6,)
    other = metrics.fidelity(said, bent, X[:6], X, n_sets=8, seed=4, row_ids=np.arange(10, 16))
    assert not np.allclose(whole, other, equal_nan=True)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"explanation": Explanation(np.ones((3, 5)))}, "the explanation's values have shape (3, 5)"),
        ({"background": X[:, :4]}, "the background must have shape (rows, 5)"),
        ({"n_sets": 7}, "n_sets must be at least 8, not 7"),
        ({"row_ids": [0.5, 1.5]}, "row_ids must be 2 integers"),
        ({"predict": lambda rows: rows}, "predict returned shape"),
    ],
)
def test_what_does_not_fit_is_refused(change: dict[str, Any], message: str) -> None:
    asked = {
        "explanation": Explanation(np.ones((2, 5))),
        "predict": bent,
        "X": X[:2],
        "background": X,
        **change,
    }
    with pytest.raises(InputError, match=re.escape(message)):
        metrics.fidelity(**asked)


def test_fidelity_of_one_column_is_that_of_its_change() -> None:
    found = metrics.fidelity(Explanation([[1.0], [0.5]]), lambda rows: rows[:, 0], [[1.0], [1.0]], [[0.0]])
    np.testing.assert_allclose(found, [1.0, 0.75])


def test_no_rows_have_no_fidelity():
    found = metrics.fidelity(
        Explanation(np.zeros((0, 3))), lambda X: X.sum(axis=1), np.zeros((0, 3)), np.zeros((4, 3))
    )
    assert found.shape == (0,)
