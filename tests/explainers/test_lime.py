from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from xassay import explainers
from xassay.errors import InputError
from xassay.seeds import legacy_seed
from xassay.types import FloatArray, Predict

Spy = Callable[[Predict], tuple[Predict, set[float]]]


def slopes(rows: FloatArray) -> FloatArray:
    return rows @ np.arange(1.0, rows.shape[1] + 1)


@pytest.mark.parametrize("seed", [0, 5])
@pytest.mark.parametrize("kernel_width", [None, 2.0])
@pytest.mark.parametrize(
    ("treatment", "of_package"),
    [
        ("categorical", {"categorical_features": range(7), "discretize_continuous": False}),
        ("gaussian", {"discretize_continuous": False}),
        ("quartile", {"discretize_continuous": True}),
    ],
)
def test_weights_are_those_of_the_package_in_regression_mode(
    plain: Any, seed: int, kernel_width: float | None, treatment: str, of_package: dict[str, Any]
) -> None:
    from lime.lime_tabular import LimeTabularExplainer

    explainer = explainers.make(
        "lime",
        predict=slopes,
        background=plain.background,
        seed=seed,
        treatment=treatment,
        kernel_width=kernel_width,
        n_samples=300,
    )
    found = explainer.explain(plain.rows[:3])
    assert not found.errors
    for row_id, row in enumerate(plain.rows[:3]):
        draws = np.random.RandomState(legacy_seed(seed, "lime", row_id))
        package = LimeTabularExplainer(
            plain.background,
            mode="regression",
            kernel_width=kernel_width,
            feature_selection="none",
            random_state=draws,
            **of_package,
        )
        explained = package.explain_instance(row, slopes, num_features=7, num_samples=300)
        weights = dict(explained.local_exp[1])
        expected = np.array([weights[feature] for feature in range(7)])
        if treatment == "gaussian":
            expected /= package.scaler.scale_
        np.testing.assert_allclose(found.values[row_id], expected, rtol=0, atol=1e-12)


def test_every_feature_has_a_weight_beyond_the_packages_ten() -> None:
    background = np.random.default_rng(0).integers(0, 2, (20, 14))
    found = explainers.make("lime", predict=slopes, background=background, n_samples=2000)
    values = found.explain(np.ones((1, 14))).values[0]
    np.testing.assert_allclose(values, np.arange(1.0, 15), rtol=0.05)


def test_a_weight_is_for_having_the_rows_own_value() -> None:
    background = np.random.default_rng(0).integers(0, 2, (20, 3))
    found = explainers.make("lime", predict=slopes, background=background, n_samples=2000)
    values = found.explain([[1, 0, 1], [0, 1, 0]]).values
    np.testing.assert_allclose(values, [[1, -2, 3], [-1, 2, -3]], rtol=0.05)


@pytest.mark.parametrize(
    "spec",
    [
        "lime",
        "lime_continuous",
        "lime:treatment=gaussian:rounding=nearest",
        "lime:treatment=quartile:rounding=truncate",
        "lime:treatment=quartile:rounding=nearest",
    ],
)
def test_the_model_is_shown_only_bits(plain: Any, spy: Spy, spec: str) -> None:
    predict, seen = spy(plain.predict)
    explainer = explainers.make(spec, predict=predict, background=plain.background, n_samples=300)
    assert not explainer.explain(plain.rows[:2]).errors
    assert seen == {0.0, 1.0}


@pytest.mark.parametrize("treatment", ["gaussian", "quartile"])
def test_without_rounding_the_model_is_shown_what_was_drawn(plain: Any, spy: Spy, treatment: str) -> None:
    predict, seen = spy(slopes)
    explainer = explainers.make(
        "lime", predict=predict, background=plain.background, treatment=treatment, n_samples=50
    )
    explainer.explain(plain.rows[:1])
    assert not seen <= {0.0, 1.0}


def test_the_detector_refuses_unrounded_draws_and_the_row_fails(plain: Any) -> None:
    explainer = explainers.make(
        "lime", predict=plain.predict, background=plain.background, treatment="gaussian", n_samples=50
    )
    found = explainer.explain(plain.rows[:1])
    assert "takes only 0 and 1" in found.errors[0]
    assert np.isnan(found.values).all()


def test_truncated_quartile_draws_hide_what_flipping_a_bit_to_one_does(plain: Any) -> None:
    """A draw just under 1 is cut to 0, so a feature at 0 never seems to change."""
    zeros = np.zeros((1, 7))
    cut, rounded = (
        explainers.make(
            f"lime:treatment=quartile:rounding={rounding}",
            predict=slopes,
            background=plain.background,
            n_samples=500,
        )
        .explain(zeros)
        .values
        for rounding in ("truncate", "nearest")
    )
    assert np.abs(cut).max() < 1e-9
    assert np.abs(rounded).min() > 0.5


def test_categorical_columns_must_hold_integers() -> None:
    with pytest.raises(InputError, match="categorical columns must hold integers"):
        explainers.make("lime", predict=slopes, background=[[0.5, 1.0]])


@pytest.mark.parametrize("name", ["lime", "lime_continuous"])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_samples": 0}, "n_samples must be a whole number of at least 2 and at most 1,000,000, not 0"),
        ({"n_samples": 1.5}, "n_samples must be a whole number of at least 2"),
        ({"n_samples": True}, "n_samples must be a whole number of at least 2"),
        ({"treatment": "normal"}, "treatment must be one of categorical, gaussian, quartile, not 'normal'"),
        ({"rounding": "up"}, "rounding must be one of none, nearest, truncate, not 'up'"),
        ({"kernel_width": 0}, "kernel_width must be a positive number or none, not 0"),
        ({"kernel_width": "wide"}, "kernel_width must be a positive number"),
    ],
)
def test_options_that_do_not_fit_are_refused(name: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        explainers.make(name, predict=slopes, background=np.eye(2), **options)


def test_rounding_never_hides_the_explained_row() -> None:
    lime = explainers.make(
        "lime_continuous", predict=lambda rows: rows.sum(axis=1), background=np.zeros((4, 3))
    )
    assert (lime.explain([[1, 1, 1]]).values[0] > 0).all()


@pytest.mark.parametrize("n_outputs", [1, 2])
def test_gaussian_lime_is_the_packages_regression_in_the_units_of_the_data(n_outputs: int) -> None:
    from lime.lime_tabular import LimeTabularExplainer

    rng = np.random.default_rng(0)
    background = rng.normal(size=(60, 3)) * [1, 10, 0.1] + [0, 5, 2]
    rows = background[:2]

    def model(X: FloatArray) -> FloatArray:
        scores = np.stack([np.sin(X[:, 0]) + X[:, 1] * X[:, 2], X[:, 0] ** 2], axis=1)
        return scores[:, :n_outputs] if n_outputs > 1 else scores[:, 0]

    found = explainers.make(
        "lime", predict=model, background=background, treatment="gaussian", n_samples=300
    ).explain(rows)
    assert found.coefficients is not None
    assert found.intercepts is not None
    np.testing.assert_array_equal(found.values, found.coefficients)
    for k in range(n_outputs):
        package = LimeTabularExplainer(background, mode="regression", discretize_continuous=False)
        for i, row in enumerate(rows):
            package.random_state = np.random.RandomState(legacy_seed(0, "lime", i))
            explained = package.explain_instance(
                row,
                lambda X, k=k: model(X).reshape(len(X), -1)[:, k],
                num_features=3,
                num_samples=300,
            )
            slopes = found.coefficients[i].reshape(3, -1)[:, k]
            weights = np.array([weight for _, weight in sorted(explained.local_exp[1])])
            np.testing.assert_allclose(slopes, weights / package.scaler.scale_)
            value = slopes @ row + found.intercepts[i].reshape(-1)[k]
            np.testing.assert_allclose(value, explained.local_pred[0])


def test_categorical_lime_has_no_local_linear_model() -> None:
    lime = explainers.make("lime", predict=lambda X: X[:, 0], background=np.eye(3), n_samples=50)
    assert lime.explain(np.eye(3)).coefficients is None
