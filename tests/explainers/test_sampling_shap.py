from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from xassay import explainers
from xassay.errors import InputError
from xassay.seeds import global_state, legacy_seed
from xassay.types import FloatArray


def ours(case: Any, seed: int = 0, **options: Any) -> FloatArray:
    explainer = explainers.make(
        "sampling_shap", predict=case.score, background=case.background, seed=seed, **options
    )
    found = explainer.explain(case.rows)
    assert not found.errors
    return found.values


def test_many_samples_approach_exact_shapley_values(plain: Any, shapley: Callable[..., FloatArray]) -> None:
    expected = np.array([shapley(plain.predict, row, plain.background) for row in plain.rows])
    few, many = (np.abs(ours(plain, nsamples=n) - expected) for n in (100, 10_000))
    assert many.max() < 0.05
    assert many.mean() < few.mean() / 3


def test_columns_the_model_ignores_get_nothing(noisy: Any) -> None:
    np.testing.assert_array_equal(ours(noisy, nsamples=200)[:, 5:], 0)


def test_values_add_up_to_the_difference_from_the_background(noisy: Any) -> None:
    expected = noisy.score(noisy.rows) - noisy.score(noisy.background).mean()
    np.testing.assert_allclose(ours(noisy, nsamples=200).sum(axis=1), expected, atol=1e-5)


@pytest.mark.parametrize("seed", [0, 5])
@pytest.mark.parametrize("nsamples", [200, 1500, "auto"])
def test_values_are_those_of_the_package(plain: Any, seed: int, nsamples: Any) -> None:
    found = ours(plain, seed, nsamples=nsamples)

    import shap

    explainer = shap.SamplingExplainer(plain.score, plain.background)
    expected = []
    for row_id, row in enumerate(plain.rows[:3]):
        with global_state(legacy_seed(seed, "sampling_shap", row_id)):
            expected.append(explainer.shap_values(row, nsamples=nsamples, silent=True))
    np.testing.assert_allclose(found[:3], expected, atol=1e-12)


@pytest.mark.parametrize("nsamples", [0, -1, 2.5, "many"])
def test_a_number_of_samples_that_is_none_is_refused(nsamples: Any) -> None:
    with pytest.raises(InputError, match="nsamples must be 'auto' or a positive integer"):
        explainers.make("sampling_shap", predict=np.sum, background=np.eye(2), nsamples=nsamples)
