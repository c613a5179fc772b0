import itertools
from collections import Counter
from collections.abc import Callable
from math import factorial

import numpy as np
import pytest
from scipy import stats

from xassay.errors import InputError
from xassay.metrics import contributions, masking_losses, masking_rmse, masking_skill
from xassay.metrics.local_model import linear_predictions
from xassay.metrics.masking import masked_drops, random_subsets
from xassay.types import Explanation, FloatArray, Predict

RNG = np.random.default_rng(0)
ROWS = RNG.standard_normal((12, 4))
BACKGROUND = RNG.standard_normal((7, 4))


def additive(rows: FloatArray) -> FloatArray:
    return np.sin(rows[:, 0]) + rows[:, 1] ** 2 - 3 * rows[:, 2] + 5


def tangled(rows: FloatArray) -> FloatArray:
    return np.sin(rows[:, 0] * rows[:, 1]) + rows[:, 2] * rows[:, 3] - rows[:, 0]


def xor(rows: FloatArray) -> FloatArray:
    return (rows[:, 0] + rows[:, 1]) % 2


def shapley(predict: Predict, row: FloatArray, background: FloatArray) -> FloatArray:
    n = len(row)
    phi = np.zeros(n)
    for j in range(n):
        others = [k for k in range(n) if k != j]
        for size in range(n):
            weight = factorial(size) * factorial(n - size - 1) / factorial(n)
            for subset in itertools.combinations(others, size):
                without, with_j = background.copy(), background.copy()
                without[:, list(subset)] = row[list(subset)]
                with_j[:, [*subset, j]] = row[[*subset, j]]
                phi[j] += weight * (np.mean(predict(with_j)) - np.mean(predict(without)))
    return phi


def exact(predict: Predict, rows: FloatArray = ROWS, background: FloatArray = BACKGROUND) -> Explanation:
    return Explanation([shapley(predict, row, background) for row in rows])


def test_the_losses_are_those_of_the_definition_written_out() -> None:
    values = RNG.standard_normal(ROWS.shape)
    ours, nothing = masking_losses(Explanation(values), tangled, ROWS, BACKGROUND, n_subsets=9, seed=3)
    subsets = random_subsets(4, 9, 3, np.arange(12))
    assert ours.shape == nothing.shape == (12, 9)
    for r, row in enumerate(ROWS):
        for s in range(9):
            total = 0.0
            for other in BACKGROUND:
                mixed = [other[j] if subsets[r, s, j] else row[j] for j in range(4)]
                total += tangled(np.array([mixed]))[0]
            drop = tangled(row[None])[0] - total / len(BACKGROUND)
            claimed = sum(values[r, j] for j in range(4) if subsets[r, s, j])
            assert ours[r, s] == pytest.approx((claimed - drop) ** 2, abs=1e-12)
            assert nothing[r, s] == pytest.approx(drop**2, abs=1e-12)


def test_rmse_and_skill_are_roots_of_the_mean_losses_and_their_ratio() -> None:
    explanation = Explanation(RNG.standard_normal(ROWS.shape))
    ours, nothing = masking_losses(explanation, tangled, ROWS, BACKGROUND, seed=1)
    assert ours.shape == (12, 32)
    rmse = masking_rmse(explanation, tangled, ROWS, BACKGROUND, seed=1)
    assert rmse == pytest.approx(np.sqrt(ours.mean()))
    skill = masking_skill(explanation, tangled, ROWS, BACKGROUND, seed=1)
    assert skill == pytest.approx(1 - rmse / np.sqrt(nothing.mean()))


def test_exact_shapley_values_of_an_additive_model_have_skill_one() -> None:
    assert masking_skill(exact(additive), additive, ROWS, BACKGROUND) == pytest.approx(1, abs=1e-12)


def test_exact_shapley_values_of_a_pure_xor_cannot_add_up() -> None:
    bits = np.array(list(itertools.product([0.0, 1.0], repeat=2)))
    explanation = exact(xor, bits, bits)
    np.testing.assert_allclose(np.abs(explanation.values), 0.25)
    # one bit replaced, by sets of size 1: the drop is f - 1/2, of which phi has half; two: all of it
    losses, nothing = masking_losses(explanation, xor, bits, bits)
    sizes = random_subsets(2, 32, 0, np.arange(4)).sum(axis=2)
    np.testing.assert_allclose(losses, np.where(sizes == 1, 1 / 16, 0), atol=1e-15)
    np.testing.assert_allclose(nothing, 1 / 4)
    expected = 1 - np.sqrt((sizes == 1).mean() / 16) / 0.5
    assert masking_skill(explanation, xor, bits, bits) == pytest.approx(expected)
    assert 0 < expected < 0.9


@pytest.mark.parametrize("model", [additive, tangled])
def test_attributing_nothing_has_no_skill(model: Predict) -> None:
    assert masking_skill(Explanation(np.zeros(ROWS.shape)), model, ROWS, BACKGROUND) == 0


@pytest.mark.parametrize("factor", [100.0, 1e-6])
def test_the_model_in_other_units_has_the_same_skill_and_an_error_in_those_units(factor: float) -> None:
    explanation = exact(tangled)

    def scaled(rows: FloatArray) -> FloatArray:
        return factor * tangled(rows) + 7

    same = Explanation(factor * explanation.values)
    rmse = masking_rmse(explanation, tangled, ROWS, BACKGROUND)
    assert rmse > 0.01
    assert masking_rmse(same, scaled, ROWS, BACKGROUND) == pytest.approx(factor * rmse, rel=1e-6)
    skill = masking_skill(explanation, tangled, ROWS, BACKGROUND)
    assert masking_skill(same, scaled, ROWS, BACKGROUND) == pytest.approx(skill, rel=1e-6)


def test_exact_attributions_a_hundred_times_too_large_err_by_99_of_what_silence_does() -> None:
    blown_up = Explanation(100 * exact(additive).values)
    assert masking_skill(blown_up, additive, ROWS, BACKGROUND) == pytest.approx(1 - 99)


def test_rows_without_a_finite_model_or_explanation_are_left_out_and_counted() -> None:
    explanation = exact(additive)
    explanation.values[3, 1] = np.nan
    explanation.values[5] = np.nan

    def gaps(rows: FloatArray) -> FloatArray:
        return np.where(rows[:, 0] == ROWS[8, 0], np.nan, additive(rows))

    losses, nothing = masking_losses(explanation, gaps, ROWS, BACKGROUND)
    assert np.flatnonzero(np.isnan(losses).all(axis=1)).tolist() == [3, 5, 8]
    assert np.flatnonzero(np.isnan(nothing).all(axis=1)).tolist() == [8]
    assert np.isnan(losses).sum() == 3 * 32
    kept = np.delete(np.arange(12), [3, 5, 8])
    with pytest.warns(RuntimeWarning, match="3 of 12 rows left out"):
        found = masking_skill(Explanation(2 * explanation.values), gaps, ROWS, BACKGROUND)
    doubled = Explanation(2 * explanation.values[kept])
    assert found == pytest.approx(masking_skill(doubled, additive, ROWS[kept], BACKGROUND, row_ids=kept))
    with pytest.warns(RuntimeWarning, match="12 of 12"):
        assert np.isnan(masking_rmse(explanation, lambda rows: rows[:, 0] * np.nan, ROWS, BACKGROUND))


@pytest.mark.parametrize("own", [0.0, np.inf], ids=["background", "everywhere"])
def test_an_infinite_score_is_undefined_without_a_word_from_numpy(own: float) -> None:
    def infinite(rows: FloatArray) -> FloatArray:
        return np.where((rows == ROWS[0]).any(axis=1), own, np.where(rows[:, 1] > 0, np.inf, -np.inf))

    losses, _ = masking_losses(Explanation(np.zeros((1, 4))), infinite, ROWS[:1], BACKGROUND)
    assert np.isnan(losses).any()


def test_an_infinite_slope_is_undefined_without_a_word_from_numpy() -> None:
    line = Explanation(np.ones((1, 2)), coefficients=[[np.inf, 1.0]], intercepts=[0.0])
    losses, _ = masking_losses(line, lambda rows: rows[:, 0], [[1.0, 2.0]], [[1.0, 0.0]])
    assert np.isnan(losses).any()


def test_a_model_that_never_changes_has_undefined_skill() -> None:
    found = masking_skill(Explanation(np.ones((12, 4))), lambda rows: np.ones(len(rows)), ROWS, BACKGROUND)
    assert np.isnan(found)


def test_a_model_that_never_changes_has_undefined_skill_whatever_its_score() -> None:
    found = masking_skill(
        Explanation(np.ones((12, 4))), lambda rows: np.full(len(rows), 0.1), ROWS, BACKGROUND[:3]
    )
    assert np.isnan(found)


def test_the_sets_belong_to_the_row_and_not_to_its_place() -> None:
    explanation = exact(tangled)
    whole, nothing = masking_losses(explanation, tangled, ROWS, BACKGROUND, seed=5)
    some = [7, 2, 11, 0]
    chosen = Explanation(explanation.values[some])
    alone = masking_losses(chosen, tangled, ROWS[some], BACKGROUND, seed=5, row_ids=some)
    np.testing.assert_allclose(alone[0], whole[some], atol=1e-14)
    np.testing.assert_allclose(alone[1], nothing[some], atol=1e-14)
    assert not np.allclose(masking_losses(chosen, tangled, ROWS[some], BACKGROUND, seed=5)[0], whole[some])
    assert not np.allclose(masking_losses(explanation, tangled, ROWS, BACKGROUND, seed=6)[0], whole)


@pytest.mark.parametrize("values", [1, 28, 100])
def test_batches_change_nothing_and_stay_small(values: int, monkeypatch: pytest.MonkeyPatch) -> None:
    explanation = exact(tangled)
    whole = masking_losses(explanation, tangled, ROWS, BACKGROUND)
    sizes: list[int] = []

    def watched(rows: FloatArray) -> FloatArray:
        sizes.append(len(rows))
        return tangled(rows)

    monkeypatch.setattr("xassay.metrics.masking.BATCH_VALUES", values)
    found = masking_losses(explanation, watched, ROWS, BACKGROUND)
    np.testing.assert_allclose(found, whole, atol=1e-14)
    assert max(sizes[1:]) == 7 * max(1, values // 28)
    assert sum(sizes) == 12 + 12 * 32 * 7


def test_a_model_that_writes_to_its_rows_changes_no_loss() -> None:
    def scribbles(rows: FloatArray) -> FloatArray:
        found = tangled(rows)
        rows[:] = 0
        return found

    kept = ROWS.copy(), BACKGROUND.copy()
    found = masking_losses(exact(tangled), scribbles, ROWS, BACKGROUND)
    np.testing.assert_array_equal(found, masking_losses(exact(tangled), tangled, ROWS, BACKGROUND))
    np.testing.assert_array_equal(ROWS, kept[0])
    np.testing.assert_array_equal(BACKGROUND, kept[1])


def test_drops_ask_the_model_only_for_rows_mixed_as_the_sets_say() -> None:
    subsets = np.array([[[True, False, False, True]]])
    seen: list[FloatArray] = []

    def watched(rows: FloatArray) -> FloatArray:
        seen.append(rows)
        return rows[:, 0]

    drops = masked_drops(watched, ROWS[:1], BACKGROUND, subsets)
    assert drops[0, 0] == pytest.approx(ROWS[0, 0] - BACKGROUND[:, 0].mean())
    own, mixed = seen
    np.testing.assert_array_equal(own, ROWS[:1])
    np.testing.assert_array_equal(mixed[:, [0, 3]], BACKGROUND[:, [0, 3]])
    np.testing.assert_array_equal(mixed[:, [1, 2]], np.repeat(ROWS[:1, [1, 2]], 7, axis=0))


@pytest.mark.parametrize("n_features", [1, 2, 5])
def test_every_size_of_set_and_every_set_of_a_size_is_as_likely(n_features: int) -> None:
    subsets = random_subsets(n_features, 50, 0, np.arange(200)).reshape(-1, n_features)
    sizes = Counter(subsets.sum(axis=1).tolist())
    assert sorted(sizes) == list(range(1, n_features + 1))
    if n_features > 1:
        assert stats.chisquare(list(sizes.values())).pvalue > 0.001
    for size in range(1, n_features):
        which = Counter(map(bytes, subsets[subsets.sum(axis=1) == size]))
        expected = itertools.combinations(range(n_features), size)
        assert len(which) == len(list(expected))
        assert stats.chisquare(list(which.values())).pvalue > 0.001


def test_sets_of_one_row_do_not_depend_on_how_many_rows_there_are() -> None:
    together = random_subsets(6, 20, 4, np.array([9, 3, 9]))
    np.testing.assert_array_equal(together[0], together[2])
    np.testing.assert_array_equal(together[1:2], random_subsets(6, 20, 4, np.array([3])))
    assert (together[0] != together[1]).any()


def test_no_rows_have_no_losses() -> None:
    none = np.empty((0, 4))
    ours, nothing = masking_losses(Explanation(none), additive, none, BACKGROUND)
    assert ours.shape == nothing.shape == (0, 32)
    assert np.isnan(masking_rmse(Explanation(none), additive, none, BACKGROUND))


@pytest.mark.parametrize("measure", [masking_losses, masking_rmse, masking_skill])
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"explanation": Explanation(ROWS[:5])}, r"values have shape \(5, 4\), the rows \(12, 4\)"),
        ({"explanation": Explanation(ROWS[:, :, None])}, r"values have shape \(12, 4, 1\)"),
        ({"explanation": ROWS}, "expected an Explanation, got ndarray"),
        ({"background": BACKGROUND[:, :3]}, r"background must have shape \(rows, 4\), got \(7, 3\)"),
        ({"background": BACKGROUND[:0]}, r"background must have shape \(rows, 4\), got \(0, 4\)"),
        ({"background": BACKGROUND[0]}, r"background must have shape \(rows, 4\), got \(4,\)"),
        ({"n_subsets": 0}, "n_subsets must be at least 1, not 0"),
        ({"row_ids": [1, 2]}, "row_ids must be 12 integers"),
        ({"row_ids": np.arange(12.0)}, "row_ids must be 12 integers"),
        ({"predict": lambda rows: rows}, r"predict returned shape \(12, 4\) for 12 rows"),
        ({"predict": lambda _: 1.0}, r"predict returned shape \(\)"),
    ],
    ids=range(11),
)
def test_what_cannot_be_measured_is_refused_in_one_line(
    measure: Callable[..., object], changes: dict[str, object], words: str
) -> None:
    arguments = {"explanation": exact(additive), "predict": additive, "X": ROWS, "background": BACKGROUND}
    with pytest.raises(InputError, match=words) as refused:
        measure(**(arguments | changes))
    assert "\n" not in str(refused.value)


def test_a_local_linear_model_contributes_slope_times_distance_from_the_background_mean() -> None:
    slopes = RNG.standard_normal(ROWS.shape)
    line = Explanation(np.zeros(ROWS.shape), coefficients=slopes, intercepts=np.zeros(12))
    found = contributions(line, ROWS, BACKGROUND)
    for r, j in itertools.product(range(12), range(4)):
        mean = sum(other[j] for other in BACKGROUND) / 7
        assert found[r, j] == pytest.approx(slopes[r, j] * (ROWS[r, j] - mean))


def test_attributions_contribute_what_they_say() -> None:
    values = RNG.standard_normal(ROWS.shape)
    np.testing.assert_array_equal(contributions(Explanation(values), ROWS, BACKGROUND), values)


def test_a_category_contributes_by_how_rare_its_value_is() -> None:
    line = Explanation(
        np.zeros((2, 2)), coefficients=[[2.0, 10.0], [2.0, -8.0]], intercepts=[0.0, 0.0], categorical=(1,)
    )
    background = [[0.0, 3.0], [1.0, 3.0], [2.0, 3.0], [1.0, 5.0]]
    found = contributions(line, [[4.0, 3.0], [1.0, 9.0]], background)
    np.testing.assert_allclose(found, [[2 * 3, 10 * 0.25], [0, -8]])


def test_a_linear_model_of_numbers_and_a_category_explained_by_itself_has_skill_one() -> None:
    def model(rows: FloatArray) -> FloatArray:
        return 2 * rows[:, 0] + np.array([0.0, 4.0, -1.0])[rows[:, 1].astype(int)]

    background = np.column_stack([RNG.standard_normal(8), [0.0, 1, 0, 1, 1, 0, 1, 1]])
    rows = np.array([[0.3, 0.0], [-1.0, 1.0]])
    # against the only other category, the weight of "has my own" is the difference
    slopes = [[2.0, -4.0], [2.0, 4.0]]
    line = Explanation(slopes, coefficients=slopes, intercepts=[4.0, 0.0], categorical=(1,))
    assert masking_skill(line, model, rows, background) == pytest.approx(1, abs=1e-12)
    np.testing.assert_allclose(linear_predictions(line, rows, rows[:, None])[:, 0], model(rows))


def test_predictions_at_points_are_those_of_the_formula() -> None:
    rows = np.array([[1.0, 2.0, 0.0], [3.0, 1.0, 2.0]])
    slopes, intercepts = RNG.standard_normal((2, 3)), np.array([0.5, -1.0])
    line = Explanation(slopes, coefficients=slopes, intercepts=intercepts, categorical=(2, 1))
    points = RNG.integers(0, 4, size=(2, 2, 5, 3)).astype(float)
    kept = points.copy()
    found = linear_predictions(line, rows, points)
    np.testing.assert_array_equal(points, kept)
    assert found.shape == (2, 2, 5)
    for s, r, n in itertools.product(range(2), range(2), range(5)):
        point = points[s, r, n]
        expected = intercepts[r] + slopes[r, 0] * point[0]
        expected += sum(slopes[r, j] for j in (1, 2) if point[j] == rows[r, j])
        assert found[s, r, n] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("explanation", "words"),
    [
        (Explanation(ROWS), "no local linear model"),
        (Explanation(ROWS, coefficients=ROWS), "no local linear model"),
        (Explanation(ROWS[:3], coefficients=ROWS[:3], intercepts=np.zeros(3)), "coefficients have shape"),
        (ROWS, "expected an Explanation"),
    ],
    ids=["attributions", "no intercepts", "other rows", "no explanation"],
)
def test_predictions_need_a_local_model_of_the_rows(explanation: Explanation, words: str) -> None:
    with pytest.raises(InputError, match=words):
        linear_predictions(explanation, ROWS, ROWS[:, None])
