import itertools
import math

import numpy as np
import pytest

from xassay.errors import InputError, UnknownNameError
from xassay.tabular.space import Space
from xassay.testing import exact_shapley, gaussian_conditional, main_effects, problem, problems
from xassay.testing.known_models import LINEAR, covariance
from xassay.testing.problems import names

NAMES = names()
SMALL = [name for name in NAMES if name not in ("sparse_100", "redundant_forest")]


def by_definition(worth, n):
    """Shapley's formula, one coalition at a time: worth is a function of a set of players."""
    values = np.zeros(n)
    for i in range(n):
        rest = [j for j in range(n) if j != i]
        for size in range(n):
            share = math.factorial(size) * math.factorial(n - size - 1) / math.factorial(n)
            for chosen in itertools.combinations(rest, size):
                values[i] += share * (worth({*chosen, i}) - worth(set(chosen)))
    return values


def masked(predict, background, row):
    def worth(coalition):
        mixed = background.copy()
        mixed[:, sorted(coalition)] = row[sorted(coalition)]
        return predict(mixed).mean()

    return worth


@pytest.fixture(scope="module", params=NAMES)
def one(request):
    return problem(request.param)


def test_values_add_up_to_the_models_answer(one):
    X, background = one.split(40)
    background = background[:60]
    values = one.exact(one.predict, background, X)
    tolerance = 1e-6 if one.name == "redundant_forest" else 1e-12  # trees are summed in 32 bits
    gap = one.predict(X) - one.predict(background).mean()
    np.testing.assert_allclose(values.sum(axis=1), gap, atol=tolerance)


def test_the_other_columns_do_nothing(one):
    X = one.X.copy()
    others = np.setdiff1d(np.arange(X.shape[1]), one.relevant)
    X[:, others] = np.random.default_rng(0).permutation(X)[:, others] + 0.25
    np.testing.assert_allclose(one.predict(X), one.predict(one.X), rtol=1e-12)
    values = one.exact(one.predict, one.X[:20], one.X[20:25])
    assert (values[:, others] == 0).all()


def test_every_relevant_column_does_something(one):
    values = one.exact(one.predict, *one.split(40)[::-1])
    used = np.abs(values[:, list(one.relevant)]).max(axis=0) > 0
    # a forest may leave columns out
    assert used.mean() > 0.5 if one.name == "redundant_forest" else used.all()


def test_the_model_answers_differently_and_finitely(one):
    answers = one.predict(np.vstack(one.split(40)))
    assert answers.shape == (len(np.vstack(one.split(40))),)
    assert np.isfinite(answers).all()
    assert answers.std() > 0
    if one.kind == "classification":
        assert 0 <= answers.min() <= answers.max() <= 1


@pytest.mark.parametrize("name", SMALL)
def test_values_are_those_of_shapleys_formula_over_all_columns(name):
    one = problem(name)
    few = [*one.relevant, *np.setdiff1d(np.arange(one.X.shape[1]), one.relevant)][:8]

    def predict(rows):  # the columns that are left out stand still
        whole = np.tile(one.X[0], (len(rows), 1))
        whole[:, few] = rows
        return one.predict(whole)

    background, X = one.X[100:107], one.X[:2]
    background = np.where(np.isin(np.arange(one.X.shape[1]), few), background, one.X[0])
    values = one.exact(one.predict, background, X)
    for row, found in zip(X, values, strict=True):
        expected = by_definition(masked(predict, background[:, few], row[few]), len(few))
        np.testing.assert_allclose(found[few], expected, atol=1e-10)


def test_columns_that_a_check_adds_get_nothing(one):
    rng = np.random.default_rng(1)
    added = np.hstack([one.X, rng.normal(size=(len(one.X), 2))])
    p = one.X.shape[1]

    def predict(rows):
        return one.predict(rows[:, :p])

    values = one.exact(predict, added[20:50], added[:3])
    np.testing.assert_allclose(values[:, :p], one.exact(one.predict, one.X[20:50], one.X[:3]), atol=1e-12)
    assert (values[:, p:] == 0).all()


@pytest.mark.parametrize("name", [name for name in NAMES if name != "heavy_tail"])
def test_the_space_of_a_check_is_the_datas_own(name):
    """What the problems' conditional and other explainers, which know numbers of the data, rest on."""
    X, background = problem(name).split(40)
    _, (rows, others) = Space.of(X, background)
    np.testing.assert_array_equal(rows, X)
    np.testing.assert_array_equal(others, background)


def test_the_forest_is_explained_as_by_enumeration():
    one = problem("redundant_forest")
    background, rows = one.X[:5], one.X[[5]]
    values = one.exact(one.predict, background, rows)[0]
    few = np.argsort(-np.abs(values))[:6]
    # the forest as a function of six columns, the others at the row's: TreeSHAP of the same
    still = np.tile(rows, (len(background), 1))
    still[:, few] = background[:, few]
    found = one.exact(one.predict, still, rows)[0]

    def predict(some):
        whole = np.tile(rows, (len(some), 1))
        whole[:, few] = some
        return one.predict(whole)

    expected = by_definition(masked(predict, still[:, few], rows[0, few]), 6)
    np.testing.assert_allclose(found[few], expected, atol=1e-6)
    np.testing.assert_allclose(np.delete(found, few), 0, atol=1e-9)


def test_linear_values_in_closed_form():
    one = problem("linear_correlated")
    background = one.X[50:150]
    values = one.exact(one.predict, background, one.X[:10])
    np.testing.assert_allclose(values, LINEAR * (one.X[:10] - background.mean(axis=0)), atol=1e-12)


def test_conditional_values_are_those_of_shapleys_formula():
    rng = np.random.default_rng(0)
    sigma, slopes, row = covariance(), LINEAR, rng.normal(size=6)

    def worth(coalition):
        known = sorted(coalition)
        rest = [j for j in range(6) if j not in coalition]
        expected = np.zeros(6)
        expected[known] = row[known]
        if known and rest:
            solved = np.linalg.inv(sigma[np.ix_(known, known)]) @ row[known]
            expected[rest] = sigma[np.ix_(rest, known)] @ solved
        return slopes @ expected

    np.testing.assert_allclose(gaussian_conditional(slopes, sigma) @ row, by_definition(worth, 6), atol=1e-9)


def test_conditional_values_of_independent_columns_are_the_marginal_ones():
    np.testing.assert_allclose(
        gaussian_conditional([2.0, 0.0, -1.0], np.diag([1.0, 4.0, 9.0])), np.diag([2, 0, -1]), atol=1e-12
    )


def test_conditional_values_credit_a_column_that_goes_along():
    one = problem("linear_correlated")
    rows = one.X[:50]
    marginal = one.exact(one.predict, one.X[50:], rows)
    conditional = one.conditional(one.predict, one.X[50:], rows)
    assert (marginal[:, 1] == 0).all()
    assert np.abs(conditional[:, 1]).mean() > 0.3
    # both explain the same answers, against the model's mean and the sample's
    offset = (one.predict(one.X[50:]).mean() - LINEAR.sum()) * np.ones(50)
    np.testing.assert_allclose(conditional.sum(axis=1) - marginal.sum(axis=1), offset, atol=1e-9)


def test_the_trick_shows_on_masked_rows_alone():
    one = problem("trick")
    np.testing.assert_array_equal(one.predict(one.X), one.X[:, 0] > 0)
    rng = np.random.default_rng(0)
    masked_rows = np.where(rng.random(one.X.shape) < 0.5, one.X, rng.permutation(one.X))
    assert (one.predict(masked_rows) == (masked_rows[:, 1] > 0)).mean() > 0.7
    values = np.abs(one.exact(one.predict, one.X[100:200], one.X[:40])).mean(axis=0)
    assert values[1] > 0.1  # what Shapley values are tricked into
    conditional = one.conditional(one.predict, one.X[100:200], one.X[:40])
    assert (conditional[:, 1:] == 0).all()


def test_the_rare_rule_is_rare_and_probabilities_are_near_their_ends():
    rule = problem("rare_rule")
    assert 0.02 < (rule.predict(rule.X) > 3).mean() < 0.09
    steep = problem("steep_probability")
    answers = steep.predict(steep.X)
    assert ((answers < 0.01) | (answers > 0.99)).mean() > 0.6
    assert np.abs(problem("heavy_tail").X[:, 0]).max() > 15


def test_the_other_class_has_another_explanation():
    one = problem("three_classes")
    background, rows = one.X[100:200], one.X[:20]
    first, second = one.exact(one.predict, background, rows), one.other(one.predict, background, rows)
    assert np.abs(first + second).max() > 0.1  # not the first's, turned
    assert np.abs(first - second).max() > 0.1


def test_problems_are_drawn_anew_by_seed_and_fixed_by_it():
    np.testing.assert_array_equal(problem("steps", seed=3).X, problem("steps", seed=3).X)
    assert (problem("steps", seed=3).X != problem("steps", seed=4).X).any()


def test_all_problems_by_name():
    assert [one.name for one in problems()] == list(NAMES)
    with pytest.raises(UnknownNameError, match="did you mean 'parity_3'"):
        problem("parity3")


def test_enumeration_and_main_effects_agree_on_sums():
    one = problem("additive")
    background, rows = one.X[100:120], one.X[:5]
    enumerated = exact_shapley(one.predict, background, rows, one.relevant)
    np.testing.assert_allclose(
        main_effects(one.predict, background, rows, one.relevant), enumerated, atol=1e-12
    )


def test_many_rows_are_asked_in_parts(monkeypatch):
    one = problem("and_6")
    whole = one.exact(one.predict, one.X[100:150], one.X[:7])
    monkeypatch.setattr("xassay.testing.shapley._BATCH_ROWS", 1)
    np.testing.assert_array_equal(one.exact(one.predict, one.X[100:150], one.X[:7]), whole)


def test_too_many_columns_are_refused():
    with pytest.raises(InputError, match="at most 10"):
        exact_shapley(lambda rows: rows.sum(axis=1), np.zeros((1, 11)), np.ones((1, 11)), range(11))
    with pytest.raises(InputError, match="at most 10"):
        gaussian_conditional(np.ones(11), np.eye(11))
