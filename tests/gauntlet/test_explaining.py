import numpy as np
import pytest

import xassay
from xassay.errors import ExplainerError, InputError, UnknownNameError
from xassay.explainers import registry
from xassay.tabular.space import Space
from xassay.testing import (
    STRAW_MEN,
    Remembered,
    as_explainer,
    distance,
    problem,
    problems,
    same,
    straw_explainers,
    straw_men,
)


def linear(predict, background, X):
    return (X - background.mean(axis=0)) * [1.0, 2.0, 0.0, -1.0]


def predict(X):
    return X @ [1.0, 2.0, 0.0, -1.0]


ROWS = np.random.default_rng(0).normal(1, 1, size=(120, 4))
BACKGROUND, X = ROWS[:80], ROWS[80:]


def made(**options):
    return {one.__name__: one for one in straw_explainers(linear, **options)}


ROWWISE = (
    *("even", "reversed", "negated", "absolute", "shifted", "scaled_down", "scaled_up", "per_cent"),
    *("top_only", "top_half", "top_two_exchanged", "constant_added", "one_wrong_column"),
    *("one_right_column", "signs_only", "blended", "exaggerated"),
)


@pytest.mark.parametrize("name", ROWWISE)
def test_as_explainers_they_are_what_they_are_as_tables(name):
    expected = straw_men(linear(predict, BACKGROUND, X))[name]
    found = [made()[name](predict, BACKGROUND, row[None])[0] for row in X]
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("name", ["mean_row", "global_importance", "median_row"])
def test_what_is_alike_for_all_rows_is_made_from_the_background(name):
    found = np.array([made()[name](predict, BACKGROUND, row[None])[0] for row in X])
    assert (found == found[0]).all()
    whole = linear(predict, BACKGROUND, BACKGROUND)
    if name == "mean_row":
        np.testing.assert_allclose(found[0], whole.mean(axis=0), atol=0.5)
    if name == "global_importance":
        np.testing.assert_allclose(found[0], np.abs(whole).mean(axis=0), atol=0.5)


def test_the_neighbours_values_are_those_of_a_background_row():
    right = linear(predict, BACKGROUND, BACKGROUND)
    for row in X[:10]:
        found = made()["neighbour"](predict, BACKGROUND, row[None])
        assert np.isclose(right, found).all(axis=1).any()


def test_no_row_is_its_own_neighbour():
    found = made()["neighbour"]
    right = linear(predict, BACKGROUND, BACKGROUND)
    for row, own in zip(BACKGROUND, right, strict=True):
        assert not np.allclose(found(predict, BACKGROUND, row[None])[0], own)


def test_a_zero_baseline_is_exact_against_zeros():
    found = made()["zero_baseline"](predict, BACKGROUND, X)
    np.testing.assert_allclose(found, X * [1.0, 2.0, 0.0, -1.0])
    assert "zero_baseline" not in made(zero_baseline=False)


def test_another_output_is_explained_by_its_own_explainer():
    assert "other_output" not in made()
    found = made(other=lambda predict, background, X: 7 + X)["other_output"](predict, BACKGROUND, X)
    np.testing.assert_array_equal(found, 7 + X)


@pytest.mark.parametrize("name", [name for name in STRAW_MEN if name != "other_output"])
def test_neighbours_share_a_rows_draws(name):
    """So that unsteadiness does not give a random straw man away."""
    one, row = made()[name], X[:1]
    found, near = one(predict, BACKGROUND, row), one(predict, BACKGROUND, row + 1e-6)
    assert np.abs(found - near).max() < 1e-3 * max(1.0, np.abs(found).max())


def test_draws_differ_between_rows_and_seeds():
    for name in ("shuffled", "noise_with_total", "noisy"):
        one, another = made()[name], made(seed=1)[name]
        first = one(predict, BACKGROUND, X)
        assert (first != another(predict, BACKGROUND, X)).any()
        np.testing.assert_array_equal(first, one(predict, BACKGROUND, X))
    # of equal values, draws alone differ
    noise = made()["noise_with_total"](predict, BACKGROUND, X) - linear(predict, BACKGROUND, X)
    assert np.linalg.matrix_rank(noise[:4]) > 2


def test_rows_do_not_see_each_other():
    for one in straw_explainers(linear):
        alone = np.vstack([one(predict, BACKGROUND, row[None]) for row in X[:6]])
        np.testing.assert_allclose(one(predict, BACKGROUND, X[:6]), alone)


def test_what_is_explained_is_explained_once_for_each_model_and_background():
    asked = []

    def counting(predict, background, X):
        asked.append(len(X))
        return linear(predict, background, X)

    exact = Remembered(counting)
    exact(predict, BACKGROUND, X)
    exact(predict, BACKGROUND, X[::-1])
    assert asked == [40]
    np.testing.assert_array_equal(exact(predict, BACKGROUND, X[::-1]), linear(predict, BACKGROUND, X[::-1]))
    exact(lambda rows: 2 * predict(rows), BACKGROUND, X)
    exact(predict, BACKGROUND[:50], X)
    assert asked == [40, 40, 40]


def test_names_are_those_of_no_explainer():
    assert not set(STRAW_MEN) & set(registry.available())


def test_names_and_needs_that_cannot_be_met():
    with pytest.raises(UnknownNameError, match="straw man"):
        straw_explainers(linear, names=["nothing"])
    with pytest.raises(InputError, match="needs other"):
        straw_explainers(linear, names=["other_output"])


EQUAL = {
    ("and_6_fair", "top_two_exchanged"),
    ("or_8_saturated", "top_two_exchanged"),
    ("redundant_forest", "top_half"),
}
"""Where a straw man's values are the right ones in nine rows of ten, so that it is none."""


@pytest.mark.parametrize("one", problems(), ids=lambda one: one.name)
def test_straw_men_are_wrong_on_every_problem(one):
    rows, background = one.split(40)
    background = background[:100]
    exact = Remembered(one.exact)
    right = exact(one.predict, background, rows)
    equal, near = set(), set()
    for straw in straw_explainers(exact, other=one.other):
        values = straw(one.predict, background, rows)
        assert np.isfinite(values).all()
        assert values.shape == rows.shape
        if same(values, right):
            equal.add((one.name, straw.__name__))
        elif distance(values, right) < 0.2:
            near.add(straw.__name__)
    assert equal == {pair for pair in EQUAL if pair[0] == one.name}
    # where all columns that matter share alike and push one way, what does likewise is near
    alike = {"top_two_exchanged", "global_with_total", "even_over_used", "exaggerated", "absolute", "twin"}
    assert near <= alike


class TestTables:
    VALUES = np.arange(480.0).reshape(120, 4)
    DATA = ROWS * [1.0, 300.0, 1e-4, 1.0] + [0.0, 0.0, 0.0, 1e6]

    def test_rows_are_found_as_they_stand_and_as_a_check_encodes_them(self):
        _, (encoded,) = Space.of(self.DATA)
        assert (encoded != self.DATA).any()
        look_up = as_explainer(self.DATA, self.VALUES)
        np.testing.assert_array_equal(look_up(None, None, self.DATA[5:7]), self.VALUES[5:7])
        np.testing.assert_array_equal(look_up(None, None, encoded[5:7]), self.VALUES[5:7])
        added = np.hstack([encoded[5:7], [[9.0], [8.0]]])
        np.testing.assert_array_equal(
            look_up(None, None, added), np.hstack([self.VALUES[5:7], [[0.0], [0.0]]])
        )

    def test_the_background_decides_the_encoding_too(self):
        background = self.DATA * 50
        _, (encoded, _) = Space.of(self.DATA, background)
        look_up = as_explainer(self.DATA, self.VALUES, background=background)
        np.testing.assert_array_equal(look_up(None, None, encoded[[3]]), self.VALUES[[3]])
        with pytest.raises(ExplainerError, match="does not hold this row"):
            as_explainer(self.DATA, self.VALUES)(None, None, encoded[[3]])

    def test_unknown_rows_are_refused_or_given_the_nearest(self):
        moved = self.DATA[[9]] * (1 + 1e-9)
        with pytest.raises(ExplainerError, match="does not hold this row"):
            as_explainer(self.DATA, self.VALUES)(None, None, moved)
        _, (encoded,) = Space.of(self.DATA)
        found = as_explainer(self.DATA, self.VALUES, nearest=True)(None, None, encoded[[9]] + 1e-6)
        np.testing.assert_array_equal(found, self.VALUES[[9]])

    def test_equal_rows_need_equal_explanations(self):
        twice = np.vstack([self.DATA, self.DATA[:1]])
        with pytest.raises(InputError, match="rows 0 and 120 are equal"):
            as_explainer(twice, np.vstack([self.VALUES, self.VALUES[1:2]]))
        as_explainer(twice, np.vstack([self.VALUES, self.VALUES[:1]]))

    def test_explanations_must_fit_the_data(self):
        with pytest.raises(InputError, match="shape"):
            as_explainer(self.DATA, self.VALUES[:5])

    def test_negative_zero_is_zero(self):
        look_up = as_explainer(np.array([[0.0, 1.0], [1.0, 0.0]]), [[1.0, 2.0], [3.0, 4.0]])
        assert look_up(None, None, np.array([[-0.0, 1.0]])).tolist() == [[1.0, 2.0]]


def test_a_check_takes_tables_by_look_up_and_as_attributions():
    data = ROWS * [1.0, 300.0, 1e-4, 1.0]
    slopes = np.array([1.0, 0.01, 0.0, -1.0])
    values = (data - data.mean(axis=0)) * slopes
    options = {"rows": 15, "measures": ("fidelity",), "max_background": 200}
    by_look_up = as_explainer(data, values)
    by_look_up.__name__ = "table"
    one = xassay.check(lambda rows: rows @ slopes, data, explainers=[by_look_up], **options)
    assert not one.failures
    two = xassay.check(lambda rows: rows @ slopes, data, attributions=values, **options)
    scores = [
        found.scores.filter(metric="masking_skill", level="model", explainer=name)["value"].item()
        for found, name in ((one, "table"), (two, "given"))
    ]
    assert scores[0] == pytest.approx(scores[1], abs=1e-9)
    assert scores[0] > 0.9


def test_a_check_takes_straw_men_in_every_way_that_it_asks():
    """Neighbours, placebo columns, other backgrounds and planted rows too."""
    one = problem("normal_distance")
    exact = Remembered(one.exact, "exact")
    data, background = one.split(6)
    chosen = ("even", "twin", "neighbour", "mean_row", "zero_baseline", "noise_with_total", "big_rows_only")
    straws = straw_explainers(exact, names=chosen)
    options = {"kind": "anomaly", "rows": 6}
    found = xassay.check(one.predict, data, background, explainers=[exact, *straws], **options)
    assert not found.failures
    assert set(found.scores["explainer"].drop_nulls()) == {"exact", "zscore", *chosen}
    assert found.scores["n_failed"].fill_null(0).sum() == 0
