import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

from xassay.errors import InputError
from xassay.metrics import (
    best_scale,
    claimed_sums,
    completeness_gap,
    even_split,
    faithfulness_correlation,
    pooled_best_scale,
    rank_sensitivity_n,
    sensitivity_n,
)
from xassay.types import BoolArray, FloatArray

CORRELATIONS = {
    "sensitivity_n": (sensitivity_n, stats.pearsonr),
    "rank_sensitivity_n": (rank_sensitivity_n, stats.spearmanr),
}
each = pytest.mark.parametrize("name", CORRELATIONS)


def every_set(p: int) -> BoolArray:
    return np.array(list(itertools.product([False, True], repeat=p)))


def drawn(
    rng: np.random.Generator, rows: int, n_sets: int, p: int
) -> tuple[FloatArray, BoolArray, FloatArray]:
    sizes = rng.integers(1, p + 1, (rows, n_sets))
    subsets = rng.random((rows, n_sets, p)).argsort(axis=2).argsort(axis=2) < sizes[:, :, None]
    return rng.standard_normal((rows, p)), subsets, rng.standard_normal((rows, n_sets))


def written_out(
    phi: FloatArray, subsets: BoolArray, drops: FloatArray, correlate: Any, sizes: Any = None
) -> tuple[float, int]:
    """One row's mean correlation by the definition, and the number of sets that it rests on."""
    total, weight = 0.0, 0
    for size in sizes or range(1, len(phi) + 1):
        claimed, actual = [], []
        for chosen, drop in zip(subsets, drops, strict=True):
            if sum(chosen) == size:
                claimed.append(sum(value for value, inside in zip(phi, chosen, strict=True) if inside))
                actual.append(drop)
        if len(actual) >= 3 and len(set(actual)) > 1:
            # all columns are one set, of which sums differ by rounding alone
            flat = size == len(phi) or len(set(np.round(claimed, 12))) == 1
            total += len(actual) * (0.0 if flat else correlate(claimed, actual)[0])
            weight += len(actual)
    return (total / weight if weight else np.nan), weight


@each
@pytest.mark.parametrize("seed", range(5))
def test_the_correlation_is_that_of_the_definition_written_out(name: str, seed: int) -> None:
    ours, reference = CORRELATIONS[name]
    phi, subsets, drops = drawn(np.random.default_rng(seed), 6, 20, 5)
    if name == "rank_sensitivity_n":
        phi, drops = np.round(phi), np.round(drops)  # many ties
    found = ours(phi, subsets, drops)
    expected = [written_out(*row, reference)[0] for row in zip(phi, subsets, drops, strict=True)]
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert np.isfinite(found).all()
    some = ours(phi, subsets, drops, sizes=(2, 3))
    expected = [written_out(*row, reference, (2, 3))[0] for row in zip(phi, subsets, drops, strict=True)]
    np.testing.assert_allclose(some, expected, atol=1e-12)


def test_a_case_worked_out_by_hand() -> None:
    # single columns: claims 3, 1, 2 and drops 1, 0, 2: covariance 1, sizes 2 and 2, r = 1/2;
    # pairs: claims 4, 5, 3 and drops 4, 0, 2: covariance -2, sizes 2 and 8, r = -1/2
    singles, pairs = np.eye(3, dtype=bool), ~np.eye(3, dtype=bool)[[2, 1, 0]]
    subsets = np.concatenate([singles, pairs, pairs])[None]
    drops = [[1.0, 0.0, 2.0, 4.0, 0.0, 2.0, 4.0, 0.0, 2.0]]
    phi = [[3.0, 1.0, 2.0]]
    assert sensitivity_n(phi, subsets, drops, sizes=[1])[0] == pytest.approx(1 / 2)
    assert sensitivity_n(phi, subsets, drops, sizes=[2])[0] == pytest.approx(-1 / 2)
    assert sensitivity_n(phi, subsets, drops)[0] == pytest.approx((3 * 1 / 2 - 6 * 1 / 2) / 9)
    # ranks of single columns: 3, 1, 2 and 2, 1, 3
    assert rank_sensitivity_n(phi, subsets, drops, sizes=[1])[0] == pytest.approx(1 / 2)
    # the size with the most sets
    assert faithfulness_correlation(phi, subsets, drops)[0] == pytest.approx(-1 / 2)


@each
@pytest.mark.parametrize("value", [0.0, 0.1, -3.7, 1e-300, 1e300])
@pytest.mark.parametrize("p", [3, 30])
def test_the_same_number_for_every_column_is_at_chance_exactly(name: str, value: float, p: int) -> None:
    ours, _ = CORRELATIONS[name]
    _, subsets, _ = drawn(np.random.default_rng(0), 20, 200, p)
    drops = subsets.sum(axis=2) + np.random.default_rng(1).random(subsets.shape[:2])
    np.testing.assert_array_equal(ours(np.full((20, p), value), subsets, drops), 0.0)
    np.testing.assert_array_equal(ours(even_split(np.arange(20.0), p), subsets, drops), 0.0)
    np.testing.assert_array_equal(faithfulness_correlation(np.full((20, p), value), subsets, drops), 0.0)


@each
def test_knowing_the_total_gains_nothing_though_sizes_drive_the_drops(name: str) -> None:
    ours, _ = CORRELATIONS[name]
    rng = np.random.default_rng(0)
    _, subsets, _ = drawn(rng, 200, 60, 8)
    drops = 10.0 * subsets.sum(axis=2) + rng.standard_normal(subsets.shape[:2])
    jittered = 10 + 0.01 * rng.standard_normal((200, 8))
    found = ours(jittered, subsets, drops)
    assert abs(found.mean()) < 4 * found.std() / np.sqrt(200)
    pooled = [
        np.corrcoef(sums, row)[0, 1] for sums, row in zip(claimed_sums(jittered, subsets), drops, strict=True)
    ]
    assert np.mean(pooled) > 0.95  # what pooling all sizes would have said


@each
def test_an_additive_model_has_correlation_one_with_its_own_contributions_only(name: str) -> None:
    ours, _ = CORRELATIONS[name]
    phi, subsets, _ = drawn(np.random.default_rng(0), 10, 60, 6)
    drops = claimed_sums(phi, subsets)
    np.testing.assert_allclose(ours(phi, subsets, drops), 1.0)
    np.testing.assert_allclose(ours(-3 * phi, subsets, drops), -1.0)
    np.testing.assert_allclose(ours(0.01 * phi, subsets, drops), 1.0)
    assert (ours(np.roll(phi, 1, axis=1), subsets, drops) < 0.999).all()


def test_ranks_are_not_decided_by_one_set_with_a_very_large_drop() -> None:
    subsets = np.eye(6, dtype=bool)[None]
    phi, drops = [[1.0, 2.0, 3.0, 4.0, 5.0, 90.0]], [[5.0, 4.0, 3.0, 2.0, 1.0, 80.0]]
    assert sensitivity_n(phi, subsets, drops)[0] > 0.99
    assert rank_sensitivity_n(phi, subsets, drops)[0] == pytest.approx(1 - 6 * (16 + 4 + 4 + 16) / (6 * 35))


@each
def test_sizes_that_say_nothing_are_left_out(name: str) -> None:
    ours, _ = CORRELATIONS[name]
    two, singles, all_of = np.eye(3, dtype=bool)[:2], np.eye(3, dtype=bool), np.ones((4, 3), dtype=bool)
    phi = [[1.0, 2.0, 4.0]]
    assert np.isnan(ours(phi, two[None], [[1.0, 2.0]])[0])  # two sets
    assert np.isnan(ours(phi, singles[None], [[0.5, 0.5, 0.5]])[0])  # no variation of v
    assert np.isnan(ours(phi, singles[None], [[0.5, 0.5, 0.5 + 1e-12]])[0])  # none but rounding
    assert np.isnan(ours(phi, np.zeros((1, 4, 3), dtype=bool), [[0.0, 0, 0, 0]])[0])  # the empty set
    assert np.isnan(ours(phi, np.empty((1, 0, 3), dtype=bool), np.empty((1, 0)))[0])
    assert np.isnan(ours([[2.0]], np.ones((1, 4, 1), dtype=bool), [[1.0, 1, 1, 1]])[0])  # one column
    both = np.concatenate([singles, all_of, ~singles[:2]])[None]
    drops = [[1.0, 2.0, 4.0, 7.0, 7.0, 7.0, 7.0, 6.0, 1.0]]
    assert ours(phi, both, drops)[0] == pytest.approx(1.0)


@each
def test_rows_that_are_not_finite_are_undefined_and_harm_no_other(name: str) -> None:
    ours, _ = CORRELATIONS[name]
    phi, subsets, drops = drawn(np.random.default_rng(2), 5, 40, 4)
    expected = ours(phi, subsets, drops)
    phi[1, 2], phi[2, 0], drops[3, 7] = np.nan, np.inf, np.nan
    found = ours(phi, subsets, drops)
    np.testing.assert_array_equal(np.isnan(found), [False, True, True, True, False])
    np.testing.assert_array_equal(found[[0, 4]], expected[[0, 4]])
    assert np.isnan(faithfulness_correlation(phi, subsets, drops)[1:4]).all()


@pytest.mark.parametrize("factor", [1e-320, 1e-200, 1e200, 1e307])
def test_units_at_the_ends_of_the_numbers_change_nothing(factor: float) -> None:
    phi, subsets, drops = drawn(np.random.default_rng(3), 5, 40, 4)
    phi, drops = phi / np.abs(phi).max(), drops / np.abs(drops).max()
    expected = sensitivity_n(phi, subsets, drops)
    rough = 1e-2 if factor < 1e-310 else 1e-9  # few digits are left of denormal numbers
    np.testing.assert_allclose(sensitivity_n(factor * phi, subsets, drops), expected, atol=rough)
    np.testing.assert_allclose(sensitivity_n(phi, subsets, factor * drops), expected, atol=rough)


@given(st.integers(1, 7), st.lists(st.integers(0, 7), min_size=1, max_size=12))
def test_the_default_size_is_the_commonest_then_the_nearest_to_half(p: int, sizes: list[int]) -> None:
    rng = np.random.default_rng(0)
    sizes = [min(size, p) for size in sizes]
    subsets = np.array([[rng.permutation(p) < size for size in sizes]])
    phi, drops = rng.standard_normal((1, p)), rng.standard_normal((1, len(sizes)))
    counts = {size: sizes.count(size) for size in range(1, p)}
    found = faithfulness_correlation(phi, subsets, drops)
    if not counts:
        assert np.isnan(found[0])
        return
    best = min(counts, key=lambda size: (-counts[size], abs(2 * size - p), size))
    expected = faithfulness_correlation(phi, subsets, drops, size=best)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    np.testing.assert_array_equal(expected, sensitivity_n(phi, subsets, drops, sizes=[best]))


def test_the_default_size_is_each_rows_own() -> None:
    singles, pairs = np.eye(4, dtype=bool), ~np.eye(4, dtype=bool)
    mixed = np.stack([np.vstack([singles, pairs[:3]]), np.vstack([pairs, singles[:3]])])
    phi, drops = np.array([[1.0, 2, 4, 8]] * 2), np.random.default_rng(0).random((2, 7))
    found = faithfulness_correlation(phi, mixed, drops)
    assert found[0] == faithfulness_correlation(phi, mixed, drops, size=1)[0]
    assert found[1] == faithfulness_correlation(phi, mixed, drops, size=3)[1]
    assert found[0] != faithfulness_correlation(phi, mixed, drops, size=3)[0]


def test_the_sums_that_are_claimed() -> None:
    phi = np.array([[1.0, -2.0, 4.0], [np.nan, 1.0, 1.0]])
    found = claimed_sums(phi, np.stack([every_set(3)] * 2))
    np.testing.assert_array_equal(found[0], [0, 4, -2, 2, 1, 5, -1, 3])
    assert np.isnan(found[1]).all()


@pytest.mark.parametrize(
    ("values", "total", "gap"),
    [
        ([1.0, 2.0], 3.0, 0.0),
        ([1.0, 2.0], -1.0, 4.0),
        ([-5.0, 2.0], 0.0, 3.0),
        ([0.0, 0.0], 0.25, 0.25),
        ([np.nan, 1.0], 1.0, np.nan),
        ([1.0, 1.0], np.inf, np.nan),
        ([1e308, 1e308], 1.0, np.nan),
    ],
)
def test_the_completeness_gap(values: list[float], total: float, gap: float) -> None:
    np.testing.assert_array_equal(completeness_gap([values], [total]), [gap])


def test_the_best_scale_is_where_the_squared_errors_are_least() -> None:
    rng = np.random.default_rng(0)
    claimed, drops = rng.standard_normal((2, 4, 9))
    found = best_scale(claimed, drops)
    for r in range(4):
        least = optimize.minimize_scalar(lambda a, r=r: ((a * claimed[r] - drops[r]) ** 2).sum())
        assert found[r] == pytest.approx(least.x, abs=1e-6)
    least = optimize.minimize_scalar(lambda a: ((a * claimed - drops) ** 2).sum())
    assert pooled_best_scale(claimed, drops) == pytest.approx(least.x, abs=1e-6)


@pytest.mark.parametrize("factor", [0.2, 1.4, 100.0, -1.0, 1e-250, 1e250])
def test_an_explanation_on_another_scale_is_recognised(factor: float) -> None:
    drops = np.random.default_rng(0).standard_normal((5, 12))
    np.testing.assert_allclose(best_scale(factor * drops, drops), 1 / factor)
    assert pooled_best_scale(factor * drops, drops) == pytest.approx(1 / factor)


def test_the_best_scale_of_nothing_is_undefined_and_rows_without_answers_are_left_out_of_the_pool() -> None:
    claimed = [[0.0, 0.0], [1.0, 1.0], [1.0, np.nan], [2.0, 1.0]]
    drops = [[1.0, 1.0], [2.0, 4.0], [1.0, 1.0], [np.inf, 1.0]]
    np.testing.assert_array_equal(best_scale(claimed, drops), [np.nan, 3.0, np.nan, np.nan])
    assert pooled_best_scale(claimed, drops) == 3.0
    assert np.isnan(pooled_best_scale(np.zeros((2, 3)), np.ones((2, 3))))
    assert np.isnan(pooled_best_scale(np.empty((0, 3)), np.empty((0, 3))))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"contributed": [1.0, 2.0]}, r"contributed must have shape \(any, any\), got \(2,\)"),
        ({"contributed": [["a", "b"]]}, "contributed must hold numbers alone"),
        ({"contributed": np.empty((1, 0))}, "at least one feature"),
        ({"subsets": np.eye(2)[None]}, "subsets must be booleans, not float64"),
        ({"subsets": np.eye(2, dtype=bool)}, r"subsets must have shape \(1, sets, 2\), got \(2, 2\)"),
        ({"subsets": np.ones((1, 2, 3), dtype=bool)}, r"got \(1, 2, 3\)"),
        ({"subsets": np.ones((2, 2, 2), dtype=bool)}, r"got \(2, 2, 2\)"),
        ({"drops": [[1.0]]}, r"drops must have shape \(1, 2\), got \(1, 1\)"),
        ({"sizes": [0]}, "sizes must be between 1 and 2"),
        ({"sizes": [1, 3]}, "sizes must be between 1 and 2"),
    ],
)
def test_what_cannot_be_measured_is_refused_in_one_line(changes: dict[str, Any], words: str) -> None:
    arguments = {"contributed": [[1.0, 2.0]], "subsets": np.eye(2, dtype=bool)[None], "drops": [[1.0, 2.0]]}
    sizes = changes.pop("sizes", None)
    for measure in (sensitivity_n, rank_sensitivity_n):
        with pytest.raises(InputError, match=words) as refused:
            measure(**(arguments | changes), sizes=sizes)
        assert "\n" not in str(refused.value)
    with pytest.raises(InputError, match=words):
        faithfulness_correlation(**(arguments | changes), size=None if sizes is None else sizes[-1])


@pytest.mark.parametrize("measure", [best_scale, pooled_best_scale])
def test_scales_need_answers_of_the_same_sets(measure: Any) -> None:
    with pytest.raises(InputError, match=r"drops must have shape \(1, 2\)"):
        measure([[1.0, 2.0]], [[1.0]])


def test_a_gap_needs_one_total_a_row() -> None:
    with pytest.raises(InputError, match=r"total must have shape \(1,\)"):
        completeness_gap([[1.0, 2.0]], [1.0, 2.0])


@pytest.mark.parametrize("measure", [sensitivity_n, rank_sensitivity_n, faithfulness_correlation])
def test_no_rows_have_no_scores(measure: Any) -> None:
    assert measure(np.empty((0, 3)), np.empty((0, 5, 3), dtype=bool), np.empty((0, 5))).shape == (0,)


@pytest.mark.parametrize(
    ("p", "sizes", "chosen"),
    [
        (6, (2, 3), 3),
        (5, (2, 3), 2),
        (6, (1, 4), 4),
        (9, (3, 5), 5),
        (9, (2, 8), 2),
        (8, (4, 4, 1, 1, 1, 1, 1), 1),
    ],
)
def test_of_sizes_with_as_many_sets_the_nearest_to_half_is_taken(
    p: int, sizes: tuple[int, ...], chosen: int
) -> None:
    rng = np.random.default_rng(0)
    wanted = sizes if len(sizes) > 2 else sizes * 4
    subsets = np.array([[rng.permutation(p) < size for size in wanted]])
    phi, drops = rng.standard_normal((1, p)), rng.standard_normal((1, len(wanted)))
    by_size = {size: faithfulness_correlation(phi, subsets, drops, size=size)[0] for size in set(sizes)}
    assert faithfulness_correlation(phi, subsets, drops)[0] == pytest.approx(by_size[chosen], abs=1e-12)
    assert np.isfinite(by_size[chosen])
    assert len(sizes) > 2 or by_size[sizes[0]] != pytest.approx(by_size[sizes[1]], abs=1e-3)


@each
@pytest.mark.parametrize(("scale", "judged"), [(1e-8, True), (1e-12, False)])
def test_small_differences_count_down_to_a_billionth_of_the_largest(
    name: str, scale: float, judged: bool
) -> None:
    ours, _ = CORRELATIONS[name]
    _, subsets, _ = drawn(np.random.default_rng(0), 10, 60, 6)
    phi = np.random.default_rng(1).permuted(np.tile([-4.0, -1, 0, 2, 3, 7], (10, 1)), axis=1)
    drops = claimed_sums(phi, subsets)
    sizes = subsets.sum(axis=2)
    alike = 1 + scale * phi
    np.testing.assert_allclose(
        ours(alike, subsets, drops), 1.0 if judged else 0.0, atol=1e-6 if judged else 0
    )
    found = ours(phi, subsets, sizes + scale * drops)
    if judged:
        np.testing.assert_allclose(found, 1.0, atol=1e-6)
    else:
        assert np.isnan(found).all()


@each
def test_rounding_takes_no_correlation_out_of_its_range(name: str) -> None:
    ours, _ = CORRELATIONS[name]
    phi, subsets, _ = drawn(np.random.default_rng(0), 500, 40, 5)
    for factor in (1 / 3, -0.7):
        found = ours(factor * phi, subsets, claimed_sums(phi, subsets), sizes=[2])
        assert np.nanmax(np.abs(found)) <= 1
