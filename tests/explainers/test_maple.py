from typing import Any

import numpy as np
import pytest

from xassay import explainers, metrics
from xassay.errors import ExplainerError, InputError
from xassay.models import MapleRegressor
from xassay.seeds import legacy_seed
from xassay.types import FloatArray

RNG = np.random.default_rng(0)
BACKGROUND, VALIDATION, ROWS = (RNG.normal(size=(n, 4)) for n in (120, 60, 25))
QUICK: dict[str, Any] = {"n_estimators": 30, "min_samples_leaf": 5}


def bent(rows: FloatArray) -> FloatArray:
    return np.abs(rows[:, 0]) + 2 * rows[:, 1]


def test_it_is_a_regressor_of_the_models_predictions() -> None:
    made = explainers.make(
        "maple", predict=bent, background=BACKGROUND, seed=4, validation=VALIDATION, **QUICK
    )
    model = MapleRegressor(n_estimators=30, min_samples_leaf=5, random_state=legacy_seed(4, "maple")).fit(
        BACKGROUND, bent(BACKGROUND), VALIDATION, bent(VALIDATION)
    )
    found, expected = made.explain(ROWS), model.explain(ROWS)
    np.testing.assert_array_equal(found.coefficients, expected.coefficients)
    np.testing.assert_array_equal(found.intercepts, expected.intercepts)
    np.testing.assert_array_equal(found.values, expected.coefficients)


def test_a_linear_model_is_explained_almost_without_loss() -> None:
    def linear(rows: FloatArray) -> FloatArray:
        return rows @ [1.0, -2.0, 0.5, 3.0] + 1

    made = explainers.make("maple", predict=linear, background=BACKGROUND, alpha=1e-9, **QUICK)
    assert metrics.causal_skill(made.explain(ROWS), linear, ROWS, sigma=0.1) > 0.999


def test_options_reach_the_regressor() -> None:
    ways: list[dict[str, Any]] = [
        {},
        {"ensemble": "gradient_boosting"},
        {"max_features": 1},
        {"min_samples_leaf": 20},
        {"alpha": 5.0},
        {"n_estimators": 7},
        {"validation": VALIDATION},
    ]
    found = [
        explainers.make("maple", predict=bent, background=BACKGROUND, **{**QUICK, **way}).explain(ROWS).values
        for way in ways
    ]
    for way, values in zip(ways[1:], found[1:], strict=True):
        assert not np.array_equal(values, found[0]), way


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("ensemble", "forest", "ensemble must be one of random_forest, gradient_boosting"),
        ("n_estimators", 0, "n_estimators must be a whole number of at least 1"),
        ("min_samples_leaf", 2.5, "min_samples_leaf must be a whole number"),
        ("max_features", 1.5, "max_features must be a share"),
        ("alpha", -1, "alpha must be a number of at least 0"),
        ("alpha", "nan", "alpha must be a number"),
        ("alpha", float("nan"), "alpha must be a number"),
        ("validation", [1, 2], r"the validation rows must have shape \(rows, features\)"),
    ],
)
def test_options_that_cannot_be_used_are_refused(option: str, value: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        explainers.make("maple", predict=bent, background=BACKGROUND, **{option: value})


def test_predictions_that_are_not_finite_are_refused() -> None:
    with pytest.raises(ExplainerError, match="predictions on the background are not all finite"):
        explainers.make("maple", predict=lambda rows: rows[:, 0] * np.inf, background=BACKGROUND)


def test_rows_that_are_not_finite_fail_alone() -> None:
    rows = ROWS[:3].copy()
    rows[1, 2] = np.nan
    made = explainers.make("maple", predict=bent, background=BACKGROUND, **QUICK)
    found = made.explain(rows)
    assert list(found.errors) == [1]
    assert np.isnan(found.values[1]).all()
    np.testing.assert_array_equal(found.values[[0, 2]], made.explain(ROWS[[0, 2]]).values)


def test_validation_rows_of_another_width_are_refused() -> None:
    with pytest.raises(InputError, match="validation has 3 features, the background 4"):
        explainers.make("maple", predict=bent, background=BACKGROUND, validation=VALIDATION[:, :3], **QUICK)
