from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from threadpoolctl import threadpool_limits

from xassay import explainers
from xassay.errors import InputError
from xassay.types import Explanation, FloatArray, Predict

Shapley = Callable[[Predict, FloatArray, FloatArray], FloatArray]

RNG = np.random.default_rng(0)
TRAIN = RNG.standard_normal((300, 4))
TARGET = TRAIN[:, 0] * TRAIN[:, 1] + np.sin(TRAIN[:, 2])
POSITIVE = (TARGET > 0).astype(int)
THREE = np.digitize(TARGET, [-0.5, 0.5])
BACKGROUND = RNG.standard_normal((12, 4))
ROWS = RNG.standard_normal((5, 4))
SAMPLED = ["permutation_shap", pytest.param("shapiq", id="shapiq")]


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Threads that wait for each other take seconds over a few rows where processors are few."""
    with threadpool_limits(1):
        yield


def pairs(rows: FloatArray) -> FloatArray:
    return rows[:, 0] * rows[:, 1] + np.abs(rows[:, 2] - rows[:, 3]) + np.exp(rows[:, 1])


def triple(rows: FloatArray) -> FloatArray:
    return rows[:, 0] * rows[:, 1] * rows[:, 2] + rows[:, 3]


def explain(name: str, predict: Predict, X: FloatArray = ROWS, **options: Any) -> Explanation:
    if name.startswith("shapiq"):
        pytest.importorskip("shapiq")
    background = options.pop("background", BACKGROUND)
    row_ids = options.pop("row_ids", None)
    return explainers.make(name, predict=predict, background=background, **options).explain(X, row_ids)


def by_tree(model: Any, predict: Predict, X: FloatArray = ROWS, **options: Any) -> Explanation:
    return explain("tree_shap", predict, X, model=model, **options)


def exact(
    shapley: Shapley, predict: Predict, X: FloatArray = ROWS, background: FloatArray = BACKGROUND
) -> FloatArray:
    return np.array([shapley(predict, row, background) for row in X])


def probability(model: Any, position: int) -> Predict:
    return lambda rows: model.predict_proba(rows)[:, position]


@pytest.mark.parametrize("npermutations", [1, 10])
def test_permutations_are_exact_where_features_interact_in_pairs(
    npermutations: int, shapley: Shapley
) -> None:
    found = explain("permutation_shap", pairs, npermutations=npermutations)
    assert not found.errors
    np.testing.assert_allclose(found.values, exact(shapley, pairs), atol=1e-12)


def test_permutations_of_three_that_interact_add_up_and_come_near(shapley: Shapley) -> None:
    expected = exact(shapley, triple)
    few, many = (explain("permutation_shap", triple, npermutations=n).values for n in (1, 300))
    for found in (few, many):
        np.testing.assert_allclose(found.sum(axis=1), triple(ROWS) - triple(BACKGROUND).mean(), atol=1e-12)
    assert np.abs(few - expected).max() > 0.05
    assert np.abs(many - expected).max() < np.abs(few - expected).max() / 3


def test_permutations_take_the_whole_of_a_large_background(shapley: Shapley) -> None:
    large = RNG.standard_normal((250, 4)) + np.linspace(0, 5, 250)[:, None]
    found = explain("permutation_shap", pairs, ROWS[:2], background=large, npermutations=1).values
    np.testing.assert_allclose(found, exact(shapley, pairs, ROWS[:2], large), atol=1e-12)


def test_a_feature_that_the_model_ignores_gets_exactly_nothing() -> None:
    found = explain("permutation_shap", lambda rows: np.exp(rows[:, 0] * rows[:, 2]) / 3).values
    np.testing.assert_array_equal(found[:, [1, 3]], 0)
    assert (found[:, [0, 2]] != 0).all()


@pytest.mark.parametrize("budget", [16, 512])
def test_shapiq_with_all_coalitions_is_exact(budget: int, shapley: Shapley) -> None:
    found = explain("shapiq", triple, budget=budget)
    assert not found.errors
    np.testing.assert_allclose(found.values, exact(shapley, triple), atol=1e-6)


@pytest.mark.parametrize("approximator", ["montecarlo", "svarm", "permutation"])
def test_every_approximator_comes_near(approximator: str, shapley: Shapley) -> None:
    expected = exact(shapley, triple, ROWS[:2])
    found = explain("shapiq", triple, ROWS[:2], approximator=approximator, budget=3000).values
    assert np.abs(found - expected).max() < 0.2 * np.abs(expected).max()


def test_shapiq_takes_the_whole_of_a_large_background(shapley: Shapley) -> None:
    large = RNG.standard_normal((250, 4)) + np.linspace(0, 5, 250)[:, None]
    found = explain("shapiq", pairs, ROWS[:2], background=large).values
    np.testing.assert_allclose(found, exact(shapley, pairs, ROWS[:2], large), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", SAMPLED)
def test_several_outputs_are_explained_one_by_one(name: str, shapley: Shapley) -> None:
    def both(rows: FloatArray) -> FloatArray:
        return np.stack([pairs(rows), 2 - rows[:, 3]], axis=1)

    found = explain(name, both)
    assert found.values.shape == (5, 4, 2)
    for k in range(2):
        expected = exact(shapley, lambda rows, k=k: both(rows)[:, k])
        np.testing.assert_allclose(found.values[:, :, k], expected, atol=1e-6)


@pytest.mark.parametrize("name", ["permutation_shap:npermutations=1", "shapiq:budget=12"])
def test_draws_belong_to_the_row_and_the_seed(name: str) -> None:
    wide = RNG.standard_normal((6, 7))
    options: dict[str, Any] = {"background": RNG.standard_normal((5, 7))}

    def model(rows: FloatArray) -> FloatArray:
        return np.prod(rows[:, :4], axis=1) + np.prod(rows[:, 3:], axis=1)

    ids = np.arange(10, 16)
    whole = explain(name, model, wide, row_ids=ids, **options).values
    backwards = explain(name, model, wide[::-1], row_ids=ids[::-1], **options).values
    np.testing.assert_array_equal(backwards[::-1], whole)
    np.testing.assert_array_equal(
        explain(name, model, wide[2:4], row_ids=[12, 13], **options).values, whole[2:4]
    )
    assert not np.allclose(explain(name, model, wide, row_ids=ids, seed=1, **options).values, whole)
    assert not np.allclose(explain(name, model, wide, **options).values, whole)


@pytest.mark.parametrize("name", SAMPLED)
def test_explaining_leaves_numpys_own_generator_alone(name: str) -> None:
    np.random.seed(3)
    expected = np.random.random()
    np.random.seed(3)
    explain(name, triple)
    assert np.random.random() == expected


@pytest.mark.parametrize("name", SAMPLED)
def test_a_row_that_is_the_background_has_nothing_to_explain(name: str) -> None:
    found = explain(name, pairs, np.ones((1, 4)), background=np.ones((3, 4)))
    assert not found.errors
    np.testing.assert_allclose(found.values, 0, atol=1e-12)


@pytest.mark.parametrize("name", SAMPLED)
def test_one_feature_gets_the_whole_difference(name: str) -> None:
    found = explain(name, lambda rows: rows[:, 0] ** 2, [[5.0]], background=[[0.0], [1.0], [2.0]])
    np.testing.assert_allclose(found.values, [[25 - 5 / 3]])


@pytest.mark.parametrize("name", SAMPLED)
def test_a_row_on_which_the_model_fails_fails_alone(name: str) -> None:
    def fragile(rows: FloatArray) -> FloatArray:
        if (rows[:, 3] == ROWS[2, 3]).any():
            raise ValueError("no such thing\nreally")
        return pairs(rows)

    found = explain(name, fragile)
    assert list(found.errors) == [2]
    assert found.errors[2] == "ValueError: no such thing"
    assert np.isnan(found.values[2]).all()
    assert np.isfinite(np.delete(found.values, 2, axis=0)).all()


@pytest.mark.parametrize("name", [*SAMPLED, "tree_shap"])
def test_no_rows_have_no_values(name: str) -> None:
    options = {"model": DecisionTreeRegressor().fit(TRAIN, TARGET)} if name == "tree_shap" else {}
    predict = options["model"].predict if options else pairs
    found = explain(name, predict, np.empty((0, 4)), **options)
    assert found.values.shape == (0, 4)
    assert not found.errors


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("permutation_shap:npermutations=0", "npermutations must be a whole number from 1 to 100,000, not 0"),
        ("permutation_shap:npermutations=2.5", "npermutations must be a whole number"),
        ("permutation_shap:npermutations=true", "npermutations must be a whole number"),
        ("permutation_shap:npermutations=100001", "npermutations must be a whole number"),
        ("shapiq:budget=0", "budget must be a whole number from 1 to 10,000,000, not 0"),
        ("shapiq:budget=many", "budget must be a whole number"),
        ("shapiq:approximator=kernel", "approximator must be one of auto, montecarlo, svarm, permutation"),
    ],
)
def test_options_that_do_not_fit_are_refused(spec: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        explain(spec, pairs)


@pytest.mark.parametrize(
    "estimator",
    [
        DecisionTreeRegressor(random_state=0),
        DecisionTreeRegressor(max_depth=1),
        RandomForestRegressor(20, random_state=0),
        GradientBoostingRegressor(n_estimators=20, random_state=0),
        HistGradientBoostingRegressor(max_iter=20, random_state=0),
    ],
    ids=["tree", "stump", "forest", "boosting", "hist boosting"],
)
def test_trees_of_a_regressor_get_exact_values(estimator: Any, shapley: Shapley) -> None:
    model = estimator.fit(TRAIN, TARGET)
    found = by_tree(model, model.predict)
    assert not found.errors
    np.testing.assert_allclose(found.values, exact(shapley, model.predict), atol=1e-5)


@pytest.mark.parametrize("estimator", [HistGradientBoostingRegressor(), HistGradientBoostingClassifier()])
def test_hist_boosting_is_refused_on_rows_that_its_thresholds_touch(estimator: Any) -> None:
    """Its thresholds are values of the training rows, which the package rounds to 32 bits."""
    regression = isinstance(estimator, HistGradientBoostingRegressor)
    model = estimator.set_params(max_iter=20, random_state=0).fit(TRAIN, TARGET if regression else POSITIVE)
    predict = model.predict if regression else model.decision_function
    with pytest.raises(InputError, match="does not add up to the score"):
        by_tree(model, predict, TRAIN[20:24], background=TRAIN[:20])


@pytest.mark.parametrize("n_background", [101, 250])
def test_trees_are_explained_against_the_whole_of_a_large_background(
    n_background: int, shapley: Shapley
) -> None:
    model = RandomForestRegressor(10, random_state=0).fit(TRAIN, TARGET)
    large = TRAIN[:n_background]
    found = by_tree(model, model.predict, background=large)
    expected = exact(shapley, model.predict, ROWS, large)
    np.testing.assert_allclose(found.values, expected, atol=1e-5)


def test_a_background_of_a_hundred_rows_is_taken_whole(shapley: Shapley) -> None:
    model = RandomForestRegressor(10, random_state=0).fit(TRAIN, TARGET)
    found = by_tree(model, model.predict, background=TRAIN[:100])
    np.testing.assert_allclose(found.values, exact(shapley, model.predict, ROWS, TRAIN[:100]), atol=1e-5)


@pytest.mark.parametrize("labels", [POSITIVE, THREE], ids=["two classes", "three classes"])
def test_a_forests_probability_of_each_class_gets_exact_values(labels: FloatArray, shapley: Shapley) -> None:
    model = RandomForestClassifier(20, random_state=0).fit(TRAIN, labels)
    for position in range(len(model.classes_)):
        predict = probability(model, position)
        found = by_tree(model, predict)
        assert not found.errors
        np.testing.assert_allclose(found.values, exact(shapley, predict), atol=1e-5)


@pytest.mark.parametrize("kind", [DecisionTreeClassifier, ExtraTreesClassifier])
@pytest.mark.parametrize(
    "n_first",
    [
        1,
        pytest.param(
            9,
        ),
    ],
)
def test_a_class_is_told_from_another_that_is_as_likely_on_the_first_rows(
    kind: Any, n_first: int, shapley: Shapley
) -> None:
    model = kind(random_state=0).fit(TRAIN, THREE)
    certain = TRAIN[THREE == 2][:n_first]
    predict = probability(model, 0)
    assert not predict(certain).any()
    assert not probability(model, 1)(certain).any()
    background = np.vstack([certain, BACKGROUND])
    found = by_tree(model, predict, background=background)
    assert not found.errors
    np.testing.assert_allclose(found.values, exact(shapley, predict, ROWS, background), atol=1e-5)


@pytest.mark.parametrize("position", [0, 1])
def test_a_background_without_spread_is_enough(position: int, shapley: Shapley) -> None:
    model = RandomForestClassifier(30, random_state=0).fit(TRAIN, POSITIVE)
    predict = probability(model, position)
    sure = TRAIN[predict(TRAIN) < 0.05]
    for background in (sure[:1], ROWS[:1]):
        found = by_tree(model, predict, sure[:20], background=background)
        assert not found.errors
        np.testing.assert_allclose(found.values, exact(shapley, predict, sure[:20], background), atol=1e-5)


def test_log_odds_of_a_boosted_classifier_get_exact_values(shapley: Shapley) -> None:
    model = GradientBoostingClassifier(n_estimators=20, random_state=0).fit(TRAIN, POSITIVE)
    found = by_tree(model, model.decision_function)
    assert not found.errors
    np.testing.assert_allclose(found.values, exact(shapley, model.decision_function), atol=1e-5)


def test_probabilities_of_a_boosted_classifier_get_exact_values_or_none(shapley: Shapley) -> None:
    model = GradientBoostingClassifier(n_estimators=50, random_state=0).fit(TRAIN, POSITIVE)
    predict = probability(model, 1)
    try:
        found = by_tree(model, predict)
    except InputError:
        return
    np.testing.assert_allclose(found.values, exact(shapley, predict), atol=1e-5)


@pytest.mark.parametrize("method", ["score_samples", "decision_function"])
def test_an_isolation_forests_score_is_another_output_than_its_paths(method: str) -> None:
    model = IsolationForest(n_estimators=20, random_state=0).fit(TRAIN)
    with pytest.raises(
        InputError, match="cannot explain IsolationForest: what its trees hold does not add up to the score"
    ) as refused:
        by_tree(model, getattr(model, method))
    assert "\n" not in str(refused.value)


def test_another_function_of_the_trees_is_refused() -> None:
    model = DecisionTreeRegressor(random_state=0).fit(TRAIN, TARGET)
    with pytest.raises(InputError, match="DecisionTreeRegressor: what its trees hold does not add up"):
        by_tree(model, lambda rows: 2 * model.predict(rows) + 1)


@pytest.mark.parametrize(
    ("offset", "scale"),
    [
        pytest.param(0.0, 1e-6, id="small"),
        pytest.param(
            1e6,
            1.0,
            id="far from zero",
        ),
    ],
)
def test_another_function_of_the_trees_is_refused_in_any_unit(offset: float, scale: float) -> None:
    model = DecisionTreeRegressor(random_state=0).fit(TRAIN, offset + scale * TARGET)
    with pytest.raises(InputError, match="what its trees hold does not add up to the score"):
        by_tree(model, lambda rows: offset - 3 * (model.predict(rows) - offset))


def test_a_row_whose_values_do_not_add_up_fails_alone() -> None:
    model = DecisionTreeRegressor(random_state=0).fit(TRAIN, TARGET)

    def odd(rows: FloatArray) -> FloatArray:
        return model.predict(rows) + (rows[:, 0] == ROWS[1, 0])

    found = by_tree(model, odd)
    assert found.errors == {1: "the values do not add up to the model's output"}
    assert np.isnan(found.values[1]).all()
    others = [0, 2, 3, 4]
    np.testing.assert_array_equal(found.values[others], by_tree(model, model.predict).values[others])


def test_rows_keep_their_order_and_values_whatever_their_ids() -> None:
    model = RandomForestRegressor(10, random_state=0).fit(TRAIN, TARGET)
    whole = by_tree(model, model.predict).values
    order = [3, 0, 4, 2]
    some = by_tree(model, model.predict, ROWS[order], row_ids=[9, 9, 1, 0], seed=7).values
    np.testing.assert_array_equal(some, whole[order])


def test_the_model_sees_rows_as_decode_makes_them(shapley: Shapley) -> None:
    model = RandomForestRegressor(20, random_state=0).fit(TRAIN, TARGET)

    def decode(rows: FloatArray) -> list[list[float]]:
        return (rows / 10 + [1, -2, 0, 3]).tolist()

    def predict(rows: FloatArray) -> FloatArray:
        return model.predict(decode(rows))

    rows, background = (10 * (X - [1, -2, 0, 3]) for X in (ROWS, BACKGROUND))
    found = by_tree(model, predict, rows, background=background, decode=decode)
    assert not found.errors
    np.testing.assert_allclose(found.values, exact(shapley, predict, rows, background), atol=1e-5)


def test_rows_with_gaps_are_explained_where_the_trees_take_them(shapley: Shapley) -> None:
    gaps = np.where(RNG.random(TRAIN.shape) < 0.2, np.nan, TRAIN)
    model = RandomForestRegressor(10, random_state=0).fit(gaps, TARGET)
    rows, background = gaps[:4], gaps[20:30]
    assert np.isnan(rows).any()
    found = by_tree(model, model.predict, rows, background=background)
    np.testing.assert_allclose(found.values, exact(shapley, model.predict, rows, background), atol=1e-5)


def text(rows: FloatArray) -> Any:
    return np.array([["red"] * rows.shape[1]] * len(rows))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"model": LinearRegression()}, "tree_shap cannot explain LinearRegression: .*not yet supported"),
        ({"model": "a word"}, "tree_shap cannot explain str: "),
        ({"model": None}, "give the fitted estimator as model"),
        ({"model": DecisionTreeRegressor()}, "tree_shap cannot explain DecisionTreeRegressor: "),
        ({"predict": lambda rows: rows[:, :2]}, "tree_shap explains one output at a time"),
        ({"decode": text}, "tree_shap takes models on numbers alone; these columns hold text"),
    ],
    ids=["a line", "no model", "none", "not fitted", "two outputs", "text"],
)
def test_what_is_no_tree_of_numbers_and_one_output_is_refused_in_one_line(
    changes: dict[str, Any], words: str
) -> None:
    model = changes.get("model", DecisionTreeRegressor(random_state=0).fit(TRAIN, TARGET))
    if isinstance(model, LinearRegression):
        model.fit(TRAIN, TARGET)
    options = {"predict": pairs, "model": model, **changes}
    with pytest.raises(InputError, match=words) as refused:
        explain("tree_shap", **options)
    assert "\n" not in str(refused.value)


def test_exact_values_of_a_tree_are_the_mean_over_background_rows_of_single_ones() -> None:
    model = DecisionTreeRegressor(max_depth=4, random_state=0).fit(TRAIN, TARGET)
    singles = [by_tree(model, model.predict, background=row[None]).values for row in BACKGROUND]
    whole = by_tree(model, model.predict).values
    np.testing.assert_allclose(np.mean(singles, axis=0), whole, atol=1e-6)


def test_the_enumeration_here_is_right_on_a_game_known_by_hand(shapley: Shapley) -> None:
    """A product of n zeros and ones: each of n players gets 1/n."""
    for n in (2, 3, 4):
        found = shapley(lambda rows: rows.prod(axis=1), np.ones(n), np.zeros((1, n)))
        np.testing.assert_allclose(found, 1 / n)
