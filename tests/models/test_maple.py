"""MAPLE equals its textbook: one weighted Ridge fit a row and number of features."""

import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from xassay.errors import InputError
from xassay.models import MapleRegressor
from xassay.types import FloatArray

ENSEMBLES = ["random_forest", "gradient_boosting"]


def friedman() -> tuple[FloatArray, FloatArray]:
    return make_friedman1(300, 10, noise=1.0, random_state=0)


def diabetes() -> tuple[FloatArray, FloatArray]:
    return load_diabetes(return_X_y=True)


def from_file(name: str) -> Callable[[Path], tuple[FloatArray, FloatArray]]:
    def load(folder: Path) -> tuple[FloatArray, FloatArray]:
        path = folder / "uci" / f"{name}.csv"
        if not path.exists():
            pytest.skip(f"no {path}")
        table = pl.read_csv(path).to_numpy()
        return table[:, 1:-1].astype(float), table[:, -1].astype(float)

    return load


@pytest.fixture(params=["diabetes", "friedman", "autompgs", "housing", "winequality-red"])
def parts(request: pytest.FixtureRequest) -> tuple[FloatArray, ...]:
    """Standardised training, validation and test rows, small enough for the textbook."""
    if request.param in ("diabetes", "friedman"):
        X, y = {"diabetes": diabetes, "friedman": friedman}[request.param]()
    else:
        X, y = from_file(request.param)(request.getfixturevalue("shared_data"))
    chosen = np.random.default_rng(0).permutation(len(X))[:240]
    X, y = X[chosen], y[chosen]
    X = (X - X[:160].mean(axis=0)) / X[:160].std(axis=0, ddof=1)
    y = (y - y[:160].mean()) / y[:160].std(ddof=1)
    return X[:160], y[:160], X[160:200], y[160:200], X[200:]


def textbook_weights(model: MapleRegressor, X: FloatArray, rows: FloatArray) -> FloatArray:
    train = model.ensemble_.apply(X).reshape(len(X), -1)
    query = model.ensemble_.apply(rows).reshape(len(rows), -1)
    weights = np.zeros((len(rows), len(X)))
    for tree in range(train.shape[1]):
        for r in range(len(rows)):
            shares = train[:, tree] == query[r, tree]
            weights[r] += shares / shares.sum()
    return weights


@pytest.mark.parametrize("ensemble", ENSEMBLES)
def test_predictions_coefficients_and_kept_features_equal_the_textbook(
    parts: tuple[FloatArray, ...], ensemble: str
) -> None:
    X, y, X_val, y_val, X_test = parts
    p = X.shape[1]
    model = MapleRegressor(ensemble, n_estimators=12).fit(X, y, X_val=X_val, y_val=y_val)
    order = model.feature_order_
    scores = np.zeros(p)
    for tree in np.asarray(model.ensemble_.estimators_).reshape(-1):
        if tree.tree_.feature[0] >= 0:
            scores[tree.tree_.feature[0]] += tree.tree_.impurity[0]
    np.testing.assert_allclose(model.feature_scores_, scores)
    assert (np.diff(scores[order]) <= 0).all()

    def fits(rows: FloatArray, d: int) -> list[Ridge]:
        weights = textbook_weights(model, X, rows)
        return [Ridge(alpha=0.001).fit(X[:, order[:d]], y, sample_weight=w) for w in weights]

    errors = []
    for d in range(1, p + 1):
        predicted = [
            fit.predict(row[None, order[:d]])[0] for fit, row in zip(fits(X_val, d), X_val, strict=True)
        ]
        errors.append(np.sqrt(np.mean((np.array(predicted) - y_val) ** 2)))
    np.testing.assert_allclose(model.validation_rmse_, errors, rtol=1e-8)
    d = int(np.argmin(errors)) + 1
    assert model.n_features_kept_ == d
    expected = fits(X_test, d)
    explained = model.explain(X_test)
    assert explained.coefficients is not None
    slopes = np.stack([fit.coef_ for fit in expected])
    found = explained.coefficients[:, order[:d]]
    assert np.linalg.norm(found - slopes) <= 1e-8 * np.linalg.norm(slopes)
    assert (explained.coefficients[:, order[d:]] == 0).all()
    values = np.array(
        [fit.predict(row[None, order[:d]])[0] for fit, row in zip(expected, X_test, strict=True)]
    )
    assert np.linalg.norm(model.predict(X_test) - values) <= 1e-8 * np.linalg.norm(values)
    np.testing.assert_allclose(model.training_weights(X_test), textbook_weights(model, X, X_test))


@parametrize_with_checks(
    [MapleRegressor(n_estimators=8), MapleRegressor("gradient_boosting", n_estimators=8)]
)
def test_scikit_learn_accepts_the_estimator(estimator: MapleRegressor, check: Callable[..., None]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)


def test_it_works_in_a_pipeline_a_clone_and_a_grid_search() -> None:
    X, y = friedman()
    pipeline = make_pipeline(StandardScaler(), MapleRegressor(n_estimators=10))
    search = GridSearchCV(pipeline, {"mapleregressor__alpha": [0.001, 1.0]}, cv=2).fit(X, y)
    assert clone(search.best_estimator_).fit(X, y).score(X, y) > 0.5


def test_frames_keep_their_names() -> None:
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = MapleRegressor(n_estimators=5).fit(X, y)
    assert list(model.feature_names_in_) == list(X.columns)
    np.testing.assert_array_equal(model.predict(X[:3]), model.predict(X[:3]))


def test_silo_keeps_every_feature_and_weights_may_be_averages() -> None:
    X, y = friedman()
    silo = MapleRegressor(n_estimators=10, select_features=False).fit(X, y)
    assert silo.n_features_kept_ == 10
    averaged = MapleRegressor(n_estimators=10, select_features=False, normalise_weights=True).fit(X, y)
    np.testing.assert_allclose(averaged.training_weights(X[:4]).sum(axis=1), 1)
    np.testing.assert_allclose(silo.training_weights(X[:4]).sum(axis=1), 10)


def test_a_root_is_scored_by_its_impurity_or_by_what_its_split_takes_away() -> None:
    X, y = friedman()
    whole = MapleRegressor(n_estimators=10).fit(X, y).feature_scores_
    taken = MapleRegressor(n_estimators=10, feature_score="reduction").fit(X, y).feature_scores_
    assert ((taken > 0) == (whole > 0)).all()
    assert (taken <= whole).all()
    assert taken.sum() < whole.sum()


def test_equal_rows_and_columns_without_a_ridge_take_the_least_norm() -> None:
    X = np.repeat(np.arange(30.0)[:, None], 2, axis=1)
    model = MapleRegressor(n_estimators=3, alpha=0.0, min_samples_leaf=5)
    with pytest.warns(RuntimeWarning, match="not determined"):
        model.fit(X, X[:, 0], X_val=X, y_val=X[:, 0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert np.isfinite(model.predict(X)).all()


def test_a_leaf_larger_than_the_data_is_lowered_with_a_warning() -> None:
    X, y = friedman()
    with pytest.warns(UserWarning, match="min_samples_leaf=500 exceeds the 200 training rows"):
        MapleRegressor(n_estimators=3, min_samples_leaf=500).fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"ensemble": "forest"}, "ensemble"),
        ({"feature_score": "gain"}, "feature score"),
        ({"alpha": -1.0}, "alpha"),
    ],
)
def test_parameters_that_cannot_be_used_are_refused(parameters: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        MapleRegressor(**parameters).fit(*friedman())


def test_validation_rows_need_their_targets() -> None:
    X, y = friedman()
    with pytest.raises(InputError, match="together"):
        MapleRegressor(n_estimators=3).fit(X, y, X_val=X)
