"""The laws, over every model whose right explanation is known and every straw man."""

import numpy as np
import polars as pl
import pytest

import xassay
from xassay.errors import InputError
from xassay.metrics import describe
from xassay.testing import Remembered, gauntlet, problem, straw_men
from xassay.testing.problems import names

ROWS = 40
DECIDING = ("fidelity", "data", "planted")
"""The measures that judgements rest on: the others take most of the time."""
ALONE = ("steps", "and_6")


@pytest.mark.parametrize("name", names())
def test_the_laws_hold(name):
    found = gauntlet([name], rows=ROWS, measures=DECIDING)
    broken = found.filter(pl.col("broken").is_not_null())
    said = broken.select("explainer", "broken", "judgement", "fidelity", "distance").rows()
    assert not said, f"{name}: {said}"
    # nor are they kept by measuring nothing, or by judging nothing
    given = found.filter(pl.col("fidelity").is_not_null())
    assert {"exact", "even", "negated", "random"} <= set(given["explainer"])
    assert given["fidelity"].is_between(0, 1).all()
    inside = given.filter(pl.col("ci_low").is_not_null())
    assert (inside["ci_low"] <= inside["ci_high"]).all()
    (exact,) = found.filter(role="exact").iter_rows(named=True)
    if not problem(name).unclear:
        assert exact["judgement"] == "faithful"
        assert exact["recommended"]


@pytest.mark.parametrize("name", ALONE)
def test_the_laws_hold_for_each_straw_man_alone(name):
    found = gauntlet([name], rows=ROWS, alone=True, measures=DECIDING)
    broken = found.filter(pl.col("broken").is_not_null())
    assert not len(broken), broken.select("explainer", "broken", "fidelity").rows()


@pytest.mark.parametrize("name", ["even", "reversed", "shifted", "negated"])
def test_a_table_of_wrong_values_is_not_called_right(name):
    """As attributions that were computed elsewhere, in the data's own space."""
    one = problem("steps")
    data, background = one.split(ROWS)
    background = background[:100]
    right = one.exact(one.predict, background, data)
    options = {"rows": ROWS, "max_background": 100}
    found = xassay.check(one.predict, data, background, attributions=straw_men(right)[name], **options)
    assert found.recommended is None
    assert found.judgements["judgement"].to_list() == ["unfaithful"]
    found = xassay.check(one.predict, data, background, attributions=right, **options)
    assert found.judgements["judgement"].to_list() == ["faithful"]


def test_one_number_for_all_columns_of_a_redundant_forest():
    from sklearn.datasets import make_classification
    from sklearn.ensemble import RandomForestClassifier

    X, y = make_classification(800, 100, n_informative=6, n_redundant=90, class_sep=2, random_state=1)
    forest = RandomForestClassifier(60, max_depth=6, random_state=0).fit(X, y)

    def same_for_all(predict, background, X):
        gap = predict(X) - predict(background).mean()
        return np.repeat(gap[:, None], X.shape[1], 1) / X.shape[1]

    explainers = ["lime:n_samples=500", same_for_all]
    found = xassay.check(forest, X, kind="classification", explainers=explainers, rows=12)
    assert found.recommended != "same_for_all"
    said = dict(found.judgements.select("explainer", "judgement").iter_rows())
    assert said["same_for_all"] in ("unfaithful", "not judged")


def test_who_is_silent_on_most_rows_is_not_recommended_for_the_others():
    one = problem("steps")
    data, background = one.split(ROWS)
    exact = Remembered(one.exact)

    def mostly_silent(predict, background, X):
        values = exact(predict, background, X)
        return values if X[0, 4] > 0.7 else np.full(X.shape, np.nan)

    found = xassay.check(one.predict, data, background, explainers=[exact, mostly_silent], rows=ROWS)
    assert found.recommended == "exact"
    alone = xassay.check(one.predict, data, background, explainers=[mostly_silent], rows=ROWS)
    said = dict(alone.judgements.select("explainer", "judgement").iter_rows())
    assert said["mostly_silent"] != "faithful" or alone.recommended is None


AT_MOST = {"fidelity": 0.1, "seed_agreement": 0.5, "background_agreement": 0.5, "neighbour_agreement": 0.5}
"""What a measure may give `random` at most, by the lower end of its interval.

Two independent normal vectors have about .3 in common by the measure of agreement."""


@pytest.mark.parametrize("name", ["steps", "normal_distance"])
def test_random_is_at_chance_on_every_measure(name):
    one = problem(name)
    data, background = one.split(ROWS)
    exact = Remembered(one.exact)
    explainers = [exact, "random"]
    found = xassay.check(one.predict, data, background, kind=one.kind, explainers=explainers, rows=ROWS)
    scores = found.scores.filter(pl.col("level") == "model", pl.col("value").is_not_nan())
    compared = 0
    for (metric, sigma), both in scores.group_by("metric", "sigma", maintain_order=True):
        of = {row["explainer"]: row for row in both.iter_rows(named=True)}
        if "random" not in of or metric == "model_calls":
            continue
        given = of["random"]
        if metric in AT_MOST:
            low = given["value"] if given["ci_low"] is None else given["ci_low"]
            assert low <= AT_MOST[metric], (metric, sigma, given["value"])
        if "exact" in of and of["exact"]["value"] is not None and given["value"] is not None:
            sign = 1 if describe(metric).higher_is_better else -1
            edges = [of["exact"][edge] for edge in ("value", "ci_low", "ci_high")]
            best = max(sign * edge for edge in edges if edge is not None)
            assert sign * given["value"] <= best, (metric, sigma, given["value"], edges)
            compared += 1
    assert compared >= 3


def test_a_model_that_uses_no_column_has_no_faithful_explanation():
    rng = np.random.default_rng(0)
    data = rng.normal(size=(200, 4))

    def noise(predict, background, X):
        return rng.normal(size=X.shape)

    found = xassay.check(lambda rows: 0 * rows[:, 0] + 1.0, data, explainers=[noise], rows=20)
    assert found.recommended is None
    assert found.judgements["judgement"].to_list()[0] in ("unfaithful", "not judged")


def test_a_check_that_judges_nothing_does_not_pass():
    seen = gauntlet(["additive"], ["even"], rows=12, measures=("cost",))
    assert seen.filter(pl.col("role") == "exact")["broken"].to_list() == ["right, and not called faithful"]


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ({"problems": []}, "at least one problem"),
        ({"straw_men": []}, "one straw man"),
        ({"problems": "additive"}, "problems must be a list of names"),
        ({"straw_men": "even"}, "straw_men must be a list of names"),
    ],
)
def test_no_gauntlet_without_problems_and_straw_men(asked, reason):
    with pytest.raises(InputError, match=reason):
        gauntlet(**asked)
