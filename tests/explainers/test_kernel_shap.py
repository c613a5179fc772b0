from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from xassay import explainers
from xassay.errors import InputError
from xassay.explainers.kernel_shap import quiet
from xassay.seeds import global_state, legacy_seed
from xassay.types import FloatArray


def by_package(case: Any, row_id: int, seed: int = 0, **options: Any) -> FloatArray:
    with quiet(), global_state(legacy_seed(seed, "kernel_shap", row_id)):
        import shap

        explainer = shap.KernelExplainer(case.score, case.background)
        return explainer.shap_values(case.rows[row_id], silent=True, **options)


def ours(case: Any, seed: int = 0, **options: Any) -> FloatArray:
    explainer = explainers.make(
        "kernel_shap", predict=case.predict, background=case.background, seed=seed, **options
    )
    found = explainer.explain(case.rows)
    assert not found.errors
    return found.values[:, :, 0] if found.values.ndim == 3 else found.values


def test_with_all_coalitions_values_are_exact_shapley_values(
    plain: Any, shapley: Callable[..., FloatArray]
) -> None:
    expected = [shapley(plain.predict, row, plain.background) for row in plain.rows]
    assert len(expected) >= 5
    np.testing.assert_allclose(ours(plain), expected, atol=1e-6)


def test_with_all_coalitions_the_seed_does_not_matter(plain: Any) -> None:
    np.testing.assert_array_equal(ours(plain, seed=0), ours(plain, seed=1))


def test_values_add_up_to_the_difference_from_the_background(noisy: Any) -> None:
    expected = noisy.score(noisy.rows) - noisy.score(noisy.background).mean()
    np.testing.assert_allclose(ours(noisy, nsamples=100).sum(axis=1), expected, atol=1e-9)


@pytest.mark.parametrize("seed", [0, 5])
@pytest.mark.parametrize(
    ("l1_reg", "of_package"), [("none", False), (None, False), ("aic", "aic"), ("num_features(3)",) * 2]
)
def test_sampled_coalitions_are_those_of_the_package(
    noisy: Any, seed: int, l1_reg: Any, of_package: Any
) -> None:
    expected = [
        by_package(noisy, row_id, seed, nsamples=100, l1_reg=of_package) for row_id in range(len(noisy.rows))
    ]
    np.testing.assert_allclose(ours(noisy, seed, nsamples=100, l1_reg=l1_reg), expected, atol=1e-12)


def test_the_default_selects_no_features(noisy: Any) -> None:
    np.testing.assert_array_equal(ours(noisy, nsamples=100), ours(noisy, nsamples=100, l1_reg="none"))


@pytest.mark.parametrize(("nsamples", "rule"), [(25, "aic"), (26, "none")])
def test_auto_means_aic_under_a_fifth_of_the_126_coalitions(plain: Any, nsamples: int, rule: str) -> None:
    found = {name: ours(plain, nsamples=nsamples, l1_reg=name) for name in ("auto", "aic", "none")}
    assert not np.allclose(found["aic"], found["none"])
    np.testing.assert_array_equal(found["auto"], found[rule])


@pytest.mark.parametrize(("nsamples", "rule"), [(12, "aic"), (13, "none")])
def test_auto_counts_only_features_that_differ_from_the_background(
    plain: Any, nsamples: int, rule: str
) -> None:
    row = plain.rows[0]
    background = plain.background.copy()
    background[:, 0] = row[0]
    assert (background != row).any(axis=0).sum() == 6
    found = {
        name: explainers.make(
            "kernel_shap", predict=plain.predict, background=background, nsamples=nsamples, l1_reg=name
        )
        .explain(row[None])
        .values
        for name in ("auto", "aic", "none")
    }
    assert not np.allclose(found["aic"], found["none"])
    np.testing.assert_array_equal(found["auto"], found[rule])


def test_auto_never_selects_where_all_coalitions_fit(plain: Any) -> None:
    np.testing.assert_array_equal(ours(plain, l1_reg="auto"), ours(plain))


@pytest.mark.parametrize("l1_reg", ["none", "auto"])
@pytest.mark.parametrize(
    ("row", "expected"), [([1, 1, 1], [0, 0, 0]), ([1, 0, 1], [0, -2, 0]), ([1, 0, 0], [0, -2, -3])]
)
def test_features_that_equal_all_of_the_background_get_nothing(
    l1_reg: str, row: list[int], expected: list[int]
) -> None:
    explainer = explainers.make(
        "kernel_shap", predict=lambda rows: rows @ [1, 2, 3], background=np.ones((3, 3)), l1_reg=l1_reg
    )
    np.testing.assert_allclose(explainer.explain([row]).values, [expected], atol=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"nsamples": 0}, "nsamples must be 'auto' or a positive integer up to 10,000,000, not 0"),
        ({"nsamples": 1.5}, "nsamples must be"),
        ({"nsamples": "many"}, "nsamples must be"),
        ({"l1_reg": "lasso"}, "l1_reg must be 'none'"),
        ({"l1_reg": "num_features(many)"}, "l1_reg must be"),
        ({"l1_reg": -0.1}, "l1_reg must be"),
        ({"l1_reg": True}, "l1_reg must be"),
    ],
)
def test_options_that_do_not_fit_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        explainers.make("kernel_shap", predict=np.sum, background=np.eye(2), **options)
