from typing import Any

import numpy as np
import pytest

from xassay import explainers
from xassay.errors import InputError
from xassay.metrics import contributions, masking_skill
from xassay.metrics.local_model import linear_predictions
from xassay.types import Explanation, FloatArray

RNG = np.random.default_rng(0)
COLOURS = np.array([0.0, 3.0, -2.0])
SHAPES = np.array([1.0, 0.0, 2.5, -4.0])


def table(n_rows: int) -> FloatArray:
    """A number, a colour, a number on a large scale, a shape."""
    return np.column_stack(
        [
            RNG.standard_normal(n_rows),
            RNG.choice(3, n_rows, p=[0.5, 0.3, 0.2]),
            RNG.normal(500, 40, n_rows),
            RNG.integers(0, 4, n_rows),
        ]
    )


BACKGROUND, ROWS = table(300), table(6)


def numbers_and_colour(rows: FloatArray) -> FloatArray:
    return 2 * rows[:, 0] + COLOURS[rows[:, 1].astype(int)] - 0.05 * rows[:, 2] + 10


def lime(predict: Any = numbers_and_colour, X: FloatArray = ROWS, **options: Any) -> Explanation:
    given = {
        "background": BACKGROUND,
        "treatment": "gaussian",
        "categorical": (1, 3),
        "n_samples": 4000,
        "kernel_width": 1e3,
        **options,
    }
    return explainers.make("lime", predict=predict, **given).explain(X)


def advantage(worth: FloatArray, column: int, row: FloatArray) -> float:
    """How much better a category is than the others by their frequency: its weight in a regression."""
    codes = BACKGROUND[:, column]
    others = codes[codes != row[column]].astype(int)
    return float(worth[int(row[column])] - worth[others].mean())


def test_slopes_and_the_weight_of_a_category_are_those_of_an_additive_model() -> None:
    found = lime()
    assert not found.errors
    assert found.categorical == (1, 3)
    assert found.coefficients is not None
    np.testing.assert_array_equal(found.values, found.coefficients)
    expected = [[2, advantage(COLOURS, 1, row), -0.05, 0] for row in ROWS]
    assert len({row[1] for row in ROWS}) > 1
    np.testing.assert_allclose(found.values, expected, rtol=0.1, atol=0.15)
    np.testing.assert_allclose(found.values[:, 2], -0.05, atol=0.002)


def test_two_categories_get_their_own_weights() -> None:
    def model(rows: FloatArray) -> FloatArray:
        return COLOURS[rows[:, 1].astype(int)] + SHAPES[rows[:, 3].astype(int)]

    expected = [[0, advantage(COLOURS, 1, row), 0, advantage(SHAPES, 3, row)] for row in ROWS]
    found = lime(model).values * [1, 1, 40, 1]
    np.testing.assert_allclose(found, expected, rtol=0.1, atol=0.25)


def test_the_local_model_agrees_with_a_model_of_its_form_at_new_points() -> None:
    def is_red(rows: FloatArray) -> FloatArray:
        return 2 * rows[:, 0] + 3 * (rows[:, 1] == 1) - 0.05 * rows[:, 2] + 10

    red = ROWS.copy()
    red[:, 1] = 1
    points = table(6 * 50).reshape(6, 50, 4)
    found = linear_predictions(lime(is_red, red), red, points)
    expected = is_red(points.reshape(-1, 4)).reshape(6, 50)
    assert np.std(expected) > 2
    np.testing.assert_allclose(found, expected, atol=0.05)


def test_at_the_row_itself_the_local_model_gives_the_models_score() -> None:
    narrow = lime(kernel_width=1.5, n_samples=5000)
    own = linear_predictions(narrow, ROWS, ROWS[:, None])[:, 0]
    np.testing.assert_allclose(own, numbers_and_colour(ROWS), atol=0.3)


def test_the_intercept_is_the_score_where_all_is_zero_and_no_category_is_the_rows() -> None:
    found = lime()
    assert found.intercepts is not None
    for row, intercept in zip(ROWS, found.intercepts, strict=True):
        codes = BACKGROUND[:, 1]
        others = COLOURS[codes[codes != row[1]].astype(int)].mean()
        assert intercept == pytest.approx(10 + others, abs=0.6)


def test_contributions_of_an_additive_model_add_up_when_masked() -> None:
    def is_red(rows: FloatArray) -> FloatArray:
        return 2 * rows[:, 0] + 3 * (rows[:, 1] == 1) - 0.05 * rows[:, 2]

    red = ROWS.copy()
    red[:, 1] = 1
    found = lime(is_red, red)
    share = (BACKGROUND[:, 1] == 1).mean()
    contributed = contributions(found, red, BACKGROUND)
    np.testing.assert_allclose(contributed[:, 1], 3 * (1 - share), rtol=0.02)
    np.testing.assert_allclose(contributed[:, 0], 2 * (red[:, 0] - BACKGROUND[:, 0].mean()), atol=0.05)
    assert masking_skill(found, is_red, red, BACKGROUND) > 0.97


def test_categories_are_drawn_from_the_background_and_numbers_are_not() -> None:
    seen: list[FloatArray] = []

    def watched(rows: FloatArray) -> FloatArray:
        seen.append(rows.copy())
        return rows[:, 0]

    lime(watched, ROWS[:1])
    drawn = seen[-1]
    assert drawn.shape == (4000, 4)
    np.testing.assert_array_equal(drawn[0], ROWS[0])
    for column, codes in ((1, 3), (3, 4)):
        shares = [(drawn[:, column] == code).mean() for code in range(codes)]
        wanted = [(BACKGROUND[:, column] == code).mean() for code in range(codes)]
        assert sum(shares) == pytest.approx(1)
        np.testing.assert_allclose(shares, wanted, atol=0.03)
    for column in (0, 2):
        assert len(np.unique(drawn[:, column])) > 3900
        assert drawn[:, column].std() == pytest.approx(BACKGROUND[:, column].std(), rel=0.05)


def test_without_categories_nothing_is_a_category() -> None:
    found = lime(lambda rows: 2 * rows[:, 0] + rows[:, 1], categorical=())
    assert found.categorical == ()
    np.testing.assert_allclose(found.coefficients, [[2, 1, 0, 0]] * 6, atol=0.02)


def test_columns_may_be_named_in_any_order_and_form() -> None:
    found = lime(categorical=[3, 1])
    assert set(found.categorical) == {1, 3}
    np.testing.assert_allclose(found.values, lime().values, atol=0.4)


def test_several_outputs_share_their_categories() -> None:
    def both(rows: FloatArray) -> FloatArray:
        return np.stack([numbers_and_colour(rows), -rows[:, 0]], axis=1)

    found = lime(both)
    assert found.values.shape == (6, 4, 2)
    assert found.categorical == (1, 3)
    np.testing.assert_allclose(found.values[:, :, 0], lime().values, atol=1e-9)
    np.testing.assert_allclose(found.values[:, 0, 1], -1, atol=0.01)


def test_a_category_that_the_background_does_not_know_is_explained_all_the_same() -> None:
    def unknown_counts(rows: FloatArray) -> FloatArray:
        return rows[:, 0] + 5 * (rows[:, 1] == 9)

    row = ROWS[:1].copy()
    row[0, 1] = 9
    found = lime(unknown_counts, row)
    assert not found.errors
    assert found.values[0, 0] == pytest.approx(1, abs=0.05)


def test_codes_of_the_background_that_are_no_integers_are_refused_in_one_line() -> None:
    broken = BACKGROUND.copy()
    broken[4, 3] = 0.5
    with pytest.raises(InputError, match="categorical columns must hold integers") as refused:
        lime(background=broken)
    assert "\n" not in str(refused.value)
    assert not lime(background=broken, categorical=(1,), n_samples=100).errors


@pytest.mark.parametrize("code", [0.5, np.nan])
def test_a_row_whose_code_is_no_integer_fails_alone(code: float) -> None:
    rows = ROWS.copy()
    rows[2, 1] = code
    found = lime(lambda X: X[:, 0], rows, n_samples=100)
    assert list(found.errors) == [2]
    assert "categorical columns must hold integers" in found.errors[2]
    assert np.isnan(found.values[2]).all()
    assert np.isfinite(np.delete(found.values, 2, axis=0)).all()


@pytest.mark.parametrize("position", [4, -1])
def test_a_category_in_no_column_is_refused_when_the_explainer_is_made(position: int) -> None:
    with pytest.raises(InputError, match="categorical"):
        lime(lambda rows: rows[:, 0], categorical=(position,), n_samples=50)
