import numpy as np
import pytest

from xassay.errors import InputError, UnknownNameError
from xassay.testing import STRAW_MEN, distance, same, straw_man, straw_men

ROWS = np.random.default_rng(3).normal(size=(30, 7))
ROW = [4.0, -3.0, 2.0, 1.0, 0.0]
TABLE = [ROW, [1.0, 1.0, -4.0, 0.0, 0.0], [-2.0, 0.5, 0.5, 0.0, 0.0], [0.0, 9.0, 0.0, 0.0, 0.0]]

# by hand, of the first row of TABLE
BY_HAND = {
    "even": [0.8] * 5,
    "reversed": [0.0, 1.0, 2.0, -3.0, 4.0],
    "negated": [-4.0, 3.0, -2.0, -1.0, 0.0],
    "absolute": [4.0, 3.0, 2.0, 1.0, 0.0],
    "neighbour": [1.0, 1.0, -4.0, 0.0, 0.0],
    # totals are 4, -2, -1, 9
    "twin": [-2.0, 0.5, 0.5, 0.0, 0.0],
    "shifted": [0.0, 4.0, -3.0, 2.0, 1.0],
    "scaled_down": [0.8, -0.6, 0.4, 0.2, 0.0],
    "scaled_up": [5.6, -4.2, 2.8, 1.4, 0.0],
    "per_cent": [40.0, -30.0, 20.0, 10.0, 0.0],
    "mean_row": [0.75, 1.875, -0.375, 0.25, 0.0],
    # the third of four in order is the first row's own
    "median_row": ROW,
    "global_importance": [1.75, 3.375, 1.625, 0.25, 0.0],
    # |values| by falling size: 3, 2, 1, 0; each gets the value two ranks away
    "top_only": [4.0, 1.0, 0.0, -3.0, 2.0],
    # four columns are used: two stay, and 2, 1, 0 go round by two
    "top_half": [4.0, -3.0, 1.0, 0.0, 2.0],
    "top_two_exchanged": [-3.0, 4.0, 2.0, 1.0, 0.0],
    "constant_added": [8.0, 1.0, 6.0, 5.0, 4.0],
    "one_wrong_column": [0.0, 0.0, 0.0, 0.0, 4.0],
    "one_right_column": [4.0, 0.0, 0.0, 0.0, 0.0],
    "even_over_used": [1.0, 1.0, 1.0, 1.0, 0.0],
    "signs_only": [2.0, -2.0, 2.0, 2.0, 0.0],
    "blended": [2.4, -1.1, 1.4, 0.9, 0.4],
    "exaggerated": [16 / 3, -3.0, 4 / 3, 1 / 3, 0.0],
    # on the whole columns rank 1, 0, 2, 3, 4; the first gives to the last, and so on
    "exchanged": [1.0, 0.0, 2.0, 4.0, -3.0],
}
KEEPS_TOTAL = (
    *("even", "reversed", "shuffled", "shuffled_alike", "shifted", "exchanged", "global_with_total"),
    *("noise_with_total", "top_only", "top_half", "top_two_exchanged", "one_wrong_column"),
    *("one_right_column", "even_over_used", "blended", "half_of_rows", "big_rows_only"),
)
KEEPS_VALUES = ("reversed", "shuffled", "shuffled_alike", "shifted", "exchanged", "top_only", "top_half")


@pytest.mark.parametrize("name", BY_HAND)
def test_by_hand(name):
    np.testing.assert_allclose(straw_men(TABLE)[name][0], BY_HAND[name], atol=1e-12)


@pytest.mark.parametrize("name", KEEPS_TOTAL)
def test_the_total_is_kept(name):
    np.testing.assert_allclose(straw_men(ROWS)[name].sum(axis=1), ROWS.sum(axis=1), atol=1e-9)


@pytest.mark.parametrize("name", KEEPS_VALUES)
def test_values_are_the_rows_own(name):
    np.testing.assert_array_equal(np.sort(straw_men(ROWS)[name]), np.sort(ROWS))


def test_shuffled_sizes_keep_every_columns_sign():
    made = straw_men(ROWS)["sizes_shuffled"]
    assert (np.sign(made) == np.sign(ROWS)).all()
    np.testing.assert_array_equal(np.sort(np.abs(made)), np.sort(np.abs(ROWS)))


def test_one_permutation_is_shared_where_it_says_so():
    made = straw_men(ROWS)
    order = [int(np.flatnonzero(ROWS[0] == value)[0]) for value in made["shuffled_alike"][0]]
    np.testing.assert_array_equal(made["shuffled_alike"], ROWS[:, order])
    assert (made["shuffled"] != ROWS[:, order]).any()


def test_frozen_noise_is_the_same_for_all_rows():
    made = straw_men(ROWS)["frozen_noise"]
    first = made[0] / np.abs(made[0]).sum()
    np.testing.assert_allclose(made / np.abs(made).sum(axis=1, keepdims=True), np.tile(first, (30, 1)))


def test_noise_is_as_large_as_the_values():
    noise = straw_men(ROWS)["noisy"] - ROWS
    np.testing.assert_allclose((noise**2).sum(axis=1), (ROWS**2).sum(axis=1))


def test_right_rows_are_about_half_or_the_biggest_quarter():
    values = np.random.default_rng(0).normal(size=(100, 6))
    made = straw_men(values)
    right = (made["half_of_rows"] == values).all(axis=1)
    assert 35 <= right.sum() <= 65
    big = (made["big_rows_only"] == values).all(axis=1)
    assert big.sum() == 25
    totals = np.abs(values.sum(axis=1))
    assert totals[big].min() >= totals[~big].max()


def test_a_twin_has_another_explanation_of_the_nearest_total():
    made = straw_men(ROWS)["twin"]
    totals = ROWS.sum(axis=1)
    for i, row in enumerate(made):
        (place,) = np.flatnonzero((row == ROWS).all(axis=1))
        assert place == min(set(range(30)) - {i}, key=lambda k: abs(totals[k] - totals[i]))


def test_other_explanations_are_passed_through():
    made = straw_men(ROWS, other=ROWS + 1, zero_baseline=ROWS + 2)
    np.testing.assert_array_equal(made["other_output"], ROWS + 1)
    np.testing.assert_array_equal(made["zero_baseline"], ROWS + 2)
    assert set(made) == set(STRAW_MEN)
    assert set(STRAW_MEN) - set(straw_men(ROWS)) == {"other_output", "zero_baseline"}


def test_the_seed_fixes_the_draws():
    first, again, another = straw_men(ROWS, seed=1), straw_men(ROWS, seed=1), straw_men(ROWS, seed=2)
    for name, made in first.items():
        np.testing.assert_array_equal(made, again[name])
    assert (first["shuffled"] != another["shuffled"]).any()


def test_the_values_given_are_left_alone():
    values = ROWS.copy()
    straw_men(values)
    np.testing.assert_array_equal(values, ROWS)


@pytest.mark.parametrize("scale", [1e-12, 1e12])
def test_straw_men_scale_with_the_values(scale):
    plain, scaled = straw_men(ROWS), straw_men(ROWS * scale)
    for name in set(plain) - {"per_cent"}:
        np.testing.assert_allclose(scaled[name] / scale, plain[name], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", [name for name in STRAW_MEN if not STRAW_MEN[name].needs])
def test_a_row_of_zeros_gives_finite_values(name):
    values = np.vstack([np.zeros(5), [1.0, 0.0, 0.0, 2.0, 0.0]])
    assert np.isfinite(straw_men(values)[name]).all()


@pytest.mark.parametrize("name", [name for name in STRAW_MEN if not STRAW_MEN[name].needs])
def test_every_straw_man_is_far_from_what_it_was_made_from(name):
    made = straw_men(ROWS)[name]
    assert not same(made, ROWS)
    assert distance(made, ROWS) > 0.3


def test_same_and_distance_by_hand():
    right = np.tile([2.0, 0.0], (10, 1))
    nearly, one_off, two_off = right.copy(), right.copy(), right.copy()
    nearly[:, 1] = 0.099
    one_off[0] = two_off[:2] = 5.0
    assert same(nearly, right)
    assert not same(right + np.array([0.0, 0.1]), right)
    assert same(one_off, right)
    assert not same(two_off, right)
    assert not same([[0.0, 1e-9]], [[0.0, 0.0]])
    assert distance(1.4 * right, right) == pytest.approx(0.4)
    assert np.isnan(distance([[1.0]], [[0.0]]))


@pytest.mark.parametrize(
    ("values", "others", "said"),
    [
        ([1.0, 2.0], None, "at least two rows"),
        ([[1.0], [2.0]], None, "two columns"),
        ([[1.0, np.nan], [1.0, 2.0]], None, "finite"),
        ([[1.0, 2.0], [1.0, 2.0]], [[1.0, 2.0, 3.0]] * 2, "other has shape"),
    ],
)
def test_tables_that_cannot_be_used(values, others, said):
    with pytest.raises(InputError, match=said):
        straw_men(values, other=others)


def test_unknown_names():
    with pytest.raises(UnknownNameError, match="did you mean 'reversed'"):
        straw_man("reverse")


@pytest.mark.parametrize("measured", [distance, same])
@pytest.mark.parametrize(
    ("straw", "exact", "said"),
    [
        ([[1.0, 2.0]], [[1.0]], r"straw has shape \(1, 2\), exact \(1, 1\)"),
        ([1.0, 2.0], [1.0, 2.0], "two tables of one shape"),
        ([["a", "b"]], [[1.0, 2.0]], "straw must hold numbers alone"),
        ([[1.0, 2.0]], [[1.0], [2.0, 3.0]], "exact must hold numbers alone, as many in each row"),
    ],
)
def test_tables_that_cannot_be_compared(measured, straw, exact, said):
    with pytest.raises(InputError, match=said):
        measured(straw, exact)


def test_no_straw_men_of_text():
    with pytest.raises(InputError, match="values must hold numbers alone"):
        straw_men([["a", "b"], ["c", "d"]])
