"""Cases of data and models that a check must take, or refuse in one clear line; an id a case."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import xassay
from xassay.errors import InputError

RNG = np.random.default_rng(0)
N = 120
X = RNG.normal(size=(N, 3))
QUICK: dict[str, Any] = {
    "explainers": ("permutation_shap:npermutations=1",),
    "measures": ("fidelity",),
    "rows": 5,
    "max_background": 20,
}


def add(rows: Any) -> Any:
    """The sum of the columns, whatever the form of the table."""
    return np.asarray(rows, dtype=np.float64).sum(axis=1)


def check(predict: Callable[..., Any] = add, data: Any = X, background: Any = None, **options: Any) -> Any:
    return xassay.check(predict, data, background, **{**QUICK, **options})


def score(result: Any, metric: str = "masking_skill", **where: Any) -> dict[str, Any]:
    found = result.scores.filter(level="model", metric=metric, **where)
    assert len(found) == 1
    return found.row(0, named=True)


def mixed(n: int = N) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "income": rng.normal(3e4, 1e4, n),
            "children": rng.integers(0, 5, n),
            "owns": rng.random(n) < 0.5,
            "city": rng.choice(["Ulm", "Bonn", "Kiel"], n),
            "grade": pd.Categorical(
                rng.choice(["low", "mid", "high"], n), ["low", "mid", "high"], ordered=True
            ),
        },
        index=[f"r{k}" for k in range(n)],
    )


def of_mixed(frame: pd.DataFrame) -> Any:
    """A model that insists on the types of its frame."""
    assert list(frame.dtypes) == list(mixed(5).dtypes)
    return (
        frame["income"] / 1e4
        + frame["children"]
        + np.where(frame["owns"], 1.0, 0.0)
        + frame["city"].map({"Ulm": 0.0, "Bonn": 1.0, "Kiel": 3.0}).astype(float)
        + frame["grade"].cat.codes
    )


SCALES = X * [1e-10, 1.0, 1e6]
NAMES = ["with space", "<script>alert(1)</script>", "größe €"]
WIDE = RNG.normal(size=(60, 200))

WORKS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "single row": (add, {"data": X[:1], "background": X[1:]}),
    "series row with a string index": (of_mixed, {"data": mixed().iloc[0], "background": mixed()}),
    "string categories": (of_mixed, {"data": mixed()}),
    "mixed frame, lime told of categories": (
        of_mixed,
        {"data": mixed(), "explainers": ("lime:n_samples=2000",)},
    ),
    "bool arrays": (add, {"data": X > 0}),
    "integers": (add, {"data": np.rint(3 * X).astype(int)}),
    "lists": (add, {"data": X.tolist()}),
    "objects": (add, {"data": X.astype(object)}),
    "polars": (lambda t: t["column_0"] + t["column_1"], {"data": pl.DataFrame(X)}),
    "scales of 1e-10 beside 1e6": (lambda t: t @ [1e10, 1.0, 1e-6], {"data": SCALES}),
    "a time stamp of 1.7e9": (lambda t: t[:, 0] - 1.7e9 + t[:, 1], {"data": X + np.array([1.7e9, 0, 0])}),
    "200 features": (lambda t: t @ np.ones(200), {"data": WIDE}),
    "odd column names": (add, {"data": pd.DataFrame(X, columns=NAMES)}),
    "numbered column names": (add, {"data": pd.DataFrame(X)}),
    "a column of prediction": (lambda t: add(t)[:, None], {}),
    "a list": (lambda t: add(t).tolist(), {}),
    "a frame": (lambda t: pd.DataFrame({"score": add(t)}), {}),
    "float32": (lambda t: add(t).astype(np.float32), {}),
    "probabilities of two classes": (
        lambda t: np.stack([0.5 - add(t) / 20, 0.5 + add(t) / 20], axis=1),
        {"kind": "classification"},
    ),
    "missing numbers that the model takes": (
        lambda t: np.nan_to_num(t, nan=-1.0).sum(axis=1),
        {"data": np.where(np.eye(N, 3) > 0, np.nan, X)},
    ),
    "missing categories that the model takes": (
        lambda t: t["x"] + t["c"].fillna("none").map({"a": 1.0, "b": 2.0, "none": 0.0}).astype(float),
        {"data": pd.DataFrame({"x": X[:, 0], "c": RNG.choice(["a", "b", None], N)})},
    ),
    "a column of nulls": (
        lambda t: t["x"].to_numpy(),
        {"data": pl.DataFrame({"x": X[:, 0], "empty": pl.Series([None] * N)})},
    ),
    "a constant column": (add, {"data": np.hstack([X, np.ones((N, 1))])}),
    "one column": (add, {"data": X[:, :1]}),
    "a background in other column order": (
        lambda t: t["a"] + 10 * t["b"],
        {
            "data": pd.DataFrame(X[:, :2], columns=["a", "b"]),
            "background": pd.DataFrame(X[:, :2], columns=["b", "a"]),
        },
    ),
}


@pytest.mark.filterwarnings("ignore:Could not infer format")
@pytest.mark.parametrize("case", WORKS)
def test_a_case_that_works(case: str) -> None:
    predict, options = WORKS[case]
    found = score(check(predict, **options))
    assert found["status"] == "ok"
    assert found["n_failed"] == 0
    # all of these models add up their columns, so every exact explanation does too
    assert found["value"] > (0.9 if "lime" in str(options.get("explainers")) else 1 - 1e-6)


REFUSED: dict[str, tuple[Callable[..., Any], dict[str, Any], str]] = {
    "zero rows": (add, {"data": X[:0]}, "the data has no rows"),
    "zero-row background": (add, {"background": X[:0]}, "the background has no rows"),
    "empty background": (add, {"background": []}, r"must be a table of shape \(rows, columns\)"),
    "a single row without background": (add, {"data": X[:1]}, "a single row is no background for itself"),
    "one dimension": (add, {"data": X[0]}, r"must be a table of shape \(rows, columns\), got shape \(3,\)"),
    "ragged rows": (add, {"data": [[1.0], [1.0, 2.0]]}, "its rows have different lengths"),
    "no columns": (add, {"data": pd.DataFrame(index=range(3))}, "has no column"),
    "duplicate column names": (
        add,
        {"data": pd.DataFrame(X, columns=["a", "b", "a"])},
        "two columns are called 'a'",
    ),
    "background without a column": (
        add,
        {
            "data": pd.DataFrame(X, columns=list("abc")),
            "background": pd.DataFrame(X[:, :2], columns=["a", "b"]),
        },
        "the background has no column 'c'",
    ),
    "dates": (
        add,
        {"data": pd.DataFrame({"x": X[:, 0], "when": pd.date_range("2020", periods=N)})},
        r"column 'when' holds dates or times \(datetime64",
    ),
    "dates as text": (
        add,
        {"data": pd.DataFrame({"when": pd.date_range("2020", periods=N).strftime("%Y-%m-%d")})},
        "column 'when' holds dates or times",
    ),
    "free text": (
        add,
        {"data": pd.DataFrame({"note": [f"called at {k}" for k in range(N)]})},
        "column 'note' holds free text or a name a row",
    ),
    "lists in a column": (
        add,
        {"data": pd.DataFrame({"x": [[1], [2]]})},
        "column 'x' holds neither numbers nor categories",
    ),
    "infinite values": (
        add,
        {"data": np.where(np.eye(N, 3) > 0, np.inf, X)},
        "column 'x0' is infinite in 1 of",
    ),
    "missing numbers that the model refuses": (
        lambda t: 1 / 0 if np.isnan(t).any() else add(t),
        {"data": np.where(np.eye(N, 3)[:, [2, 1, 0]] > 0, np.nan, X)},
        r"column 'x0' holds missing values, which the model does not take \(ZeroDivisionError",
    ),
    "two numbers a row": (
        lambda t: np.stack([add(t), add(t)], axis=1),
        {},
        r"gives shape \(10, 2\) for 10 rows, expected \(10,\); for probabilities of classes say kind",
    ),
    "one number in all": (lambda t: 1.0, {}, r"gives shape \(\) for 10 rows"),
    "text": (lambda t: ["high"] * len(t), {}, "gives list, expected numbers"),
    "always raising": (lambda t: 1 / 0, {}, "the model failed: ZeroDivisionError"),
    "always NaN": (lambda t: np.full(len(t), np.nan), {}, "no finite score for any background row"),
    "no model": ("model.pkl", {}, "str has no predict"),  # type: ignore[dict-item]
    "a class": (dict, {}, "the model is the class dict"),
    "an unknown kind": (add, {"kind": "regresion"}, "did you mean 'regression'"),
    "an unknown explainer": (add, {"explainers": "kernel_shp"}, "did you mean 'kernel_shap'"),
    "an unknown measure": (add, {"measures": "placebos"}, "did you mean 'placebo'"),
    "class without classification": (add, {"class_": 1}, "go with kind classification"),
    "a class that is not there": (
        lambda t: np.stack([add(t), add(t)], axis=1),
        {"kind": "classification", "class_": "yes"},
        "give its position",
    ),
    "no sigma": (add, {"sigma": 0.0}, "sigma is in standard deviations"),
    "half a row": (add, {"rows": 2.5}, "rows must be a whole number"),
    "no budget": (add, {"budget": 0}, "budget: 0 is no time; write it as 90s, 5m or 1h"),
    "a log-odds of 0 and 1": (
        lambda t: (add(t) > 0).astype(float),
        {"kind": "classification", "link": "logit"},
        "probabilities of exactly 0 or 1 have no log-odds",
    ),
    "a score that no outlier moves": (
        lambda t: np.sin(1e3 * add(t)),
        {"kind": "anomaly"},
        "planted outliers score like ordinary rows",
    ),
    "explanations of other rows": (add, {"attributions": X[:5]}, r"explanations have shape \(5, 3\)"),
    "intercepts alone": (add, {"intercepts": X[:, 0]}, "intercepts go with coefficients"),
    "tree_shap of a function": (add, {"explainers": "tree_shap"}, "tree_shap looks inside the model"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_case_that_is_refused_in_one_line(case: str) -> None:
    predict, options, message = REFUSED[case]
    with pytest.raises(InputError, match=message) as caught:
        check(predict, **options)
    assert "\n" not in str(caught.value)


def test_rows_without_a_score_are_counted_and_not_judged() -> None:
    some = np.sort(np.abs(X[:, 0]))[-15]
    result = check(lambda t: np.where(np.abs(t[:, 0]) >= some, np.nan, add(t)), rows=60)
    found = score(result)
    assert 0 < found["n_undefined"] < 30
    assert found["n_failed"] == 0  # the model's failures are not the explainer's
    assert found["value"] == pytest.approx(1)
    assert "not finite" in found["reason"]


def test_rows_that_the_model_refuses_are_counted_and_not_judged() -> None:
    some = np.sort(np.abs(X[:, 0]))[-15]

    def picky(rows: Any) -> Any:
        if (np.abs(rows[:, 0]) >= some).any():
            raise ValueError("out of my depth")
        return add(rows)

    found = score(check(picky, rows=60))
    assert 0 < found["n_undefined"] < 30
    assert found["n_failed"] == 0  # the model's failures are not the explainer's
    assert found["value"] == pytest.approx(1)
    assert "out of my depth" in found["reason"]


def test_a_model_that_sleeps_is_stopped() -> None:
    def sleeps(rows: Any) -> Any:
        time.sleep(60)
        return add(rows)

    began = time.monotonic()
    with pytest.raises(InputError, match=r"did not answer a few hundred rows within 0\.5 s"):
        check(sleeps, timeout=0.5)
    assert time.monotonic() - began < 20


def test_an_explainer_that_sleeps_costs_its_cells_alone() -> None:
    def sleepy(predict: Any, background: Any, X: Any) -> Any:
        time.sleep(60)
        return X

    result = check(explainers=[sleepy, "random"], timeout=0.5)
    assert score(result, explainer="sleepy")["status"] == "timeout"
    assert "took longer than" in score(result, explainer="sleepy")["reason"]
    assert score(result, explainer="random")["status"] == "ok"
    assert result.unmet("sleepy.masking_skill>0") == [
        "sleepy.masking_skill>0: the score is missing (took longer than 0.5 s)"
    ]


@pytest.mark.parametrize("max_features", [1.0, 0.5])
def test_an_isolation_forest_is_explained_by_its_score_and_the_culprit_comes_first(
    max_features: float,
) -> None:
    from sklearn.ensemble import IsolationForest

    data = np.random.default_rng(2).normal(size=(400, 4))
    forest = IsolationForest(n_estimators=50, max_features=max_features, random_state=0).fit(data)
    result = check(
        forest,
        data,
        kind="anomaly",
        measures=("fidelity", "planted"),
        explainers=("permutation_shap",),
        rows=40,
    )
    turned = result.sanity.filter(check="larger is more anomalous")["found"].item()
    assert "the sign is turned" in turned
    found = result.scores.filter(
        pl.col("metric") == "mrr", pl.col("planted").is_null(), explainer="permutation_shap"
    )["value"].item()
    assert found > 0.85
    with pytest.raises(
        InputError,
        match="explain IsolationForest: what its trees hold does not add up",
    ):
        check(forest, data, kind="anomaly", explainers="tree_shap")


def test_a_constant_and_an_all_zero_explanation_score_at_chance() -> None:
    zero = check(attributions=np.zeros_like(X))
    assert score(zero, explainer="given")["value"] == 0.0

    def constant(predict: Any, background: Any, X: Any) -> Any:
        return np.ones_like(X)

    def nothing(predict: Any, background: Any, X: Any) -> Any:
        return np.zeros_like(X)

    result = check(explainers=[constant, nothing], measures=("fidelity", "placebo"))
    for name in ("constant", "nothing"):
        for metric in ("placebo_share", "noise_share"):
            assert score(result, metric, explainer=name)["value"] == pytest.approx(0.5)


def test_a_hundredfold_explanation_moves_fidelity_and_no_rank() -> None:
    rng = np.random.default_rng(3)
    data = rng.normal(size=(300, 3)) @ np.array([[1, 0.9, 0], [0, 0.3, 0], [0, 0, 1.0]])
    mean = data.mean(axis=0)

    def distance(rows: Any) -> Any:
        return ((rows - mean) ** 2).sum(axis=1)

    def fair(predict: Any, background: Any, X: Any) -> Any:
        return (X - background.mean(axis=0)) ** 2 - background.var(axis=0)

    def hundredfold(predict: Any, background: Any, X: Any) -> Any:
        return 100 * fair(predict, background, X)

    result = check(
        distance,
        data,
        kind="anomaly",
        measures=("fidelity", "planted"),
        explainers=[fair, hundredfold],
        rows=20,
    )
    by = {name: result.scores.filter(explainer=name) for name in ("fair", "hundredfold")}
    ranks = [by[name].filter(pl.col("metric").is_in(["mrr", "map", "mr_precision"]))["value"] for name in by]
    assert ranks[0].to_list() == ranks[1].to_list()
    skills = [by[name].filter(metric="masking_skill")["value"].item() for name in by]
    assert skills[0] > 0.5
    assert skills[1] < 0


def test_what_makes_a_row_ordinary_is_no_cause_of_its_anomaly() -> None:
    """Signs are read: a column whose contribution lowers the score ranks last however large it is."""
    assert xassay.metrics.towards([[-9.0, 1.0]]).tolist() == [[0.0, 1.0]]


def test_a_logit_link_explains_log_odds() -> None:
    def probability(rows: Any) -> Any:
        return 1 / (1 + np.exp(-add(rows)))

    as_logit = check(probability, kind="classification", link="logit")
    assert score(as_logit)["value"] == pytest.approx(1)
    assert score(check(probability, kind="classification"))["value"] < 0.99


def test_the_drift_between_two_backgrounds_of_500_rows_is_measured() -> None:
    rng = np.random.default_rng(4)
    data, weights = rng.normal(size=(1300, 60)), rng.normal(size=60)
    result = check(
        lambda rows: rows @ weights,
        data,
        rows=3,
        max_background=500,
        measures=("fidelity", "background"),
        explainers=("permutation_shap:npermutations=1",),
    )
    found = score(result, "background_agreement")
    # exact values are w (x - mean): two means of 500 rows are sqrt(2 / 500) apart
    assert 0.9 < found["value"] < 0.99
    assert found["ci_low"] < found["value"] < found["ci_high"]


def test_a_large_background_is_capped_with_a_notice() -> None:
    rng = np.random.default_rng(5)
    background = rng.normal(size=(20_000, 300))
    result = check(
        lambda rows: rows[:, 0], background[:10], background, rows=2, max_background=100, explainers="random"
    )
    assert any("of 20,000 background rows a random 2,000 are kept" in said for said in result.notices)
    assert any("2,000 background rows are sampled down to 100" in said for said in result.notices)


def test_the_callers_random_state_is_left_alone() -> None:
    np.random.seed(7)
    before = np.random.get_state()
    check(lambda rows: add(rows) + np.random.normal(size=len(rows)))
    after = np.random.get_state()
    np.testing.assert_array_equal(after[1], before[1])
    assert after[2:] == before[2:]


def test_two_detectors_do_not_share_state() -> None:
    from sklearn.ensemble import IsolationForest

    data = np.random.default_rng(6).normal(size=(200, 3))
    first, second = (IsolationForest(n_estimators=20, random_state=k).fit(data) for k in (0, 1))
    alone = check(first, data, kind="anomaly").scores
    check(second, data, kind="anomaly")
    assert check(first, data, kind="anomaly").scores.equals(alone, null_equal=True)


def test_the_number_of_jobs_changes_nothing() -> None:
    options: dict[str, Any] = {
        "explainers": ("lime:n_samples=200", "maple:n_estimators=10"),
        "measures": ("fidelity", "placebo", "stability", "convergence", "background"),
        "rows": 30,
    }
    noisy = lambda rows: add(rows) + np.random.normal(size=len(rows))  # noqa: E731
    one, two = check(noisy, jobs=1, **options), check(noisy, jobs=2, **options)
    assert one.scores.equals(two.scores, null_equal=True)
    assert one.tests.equals(two.tests, null_equal=True)
    assert one.verdict[0] == two.verdict[0]
