"""Measures in checks of real explainers on small models with known answers."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LinearRegression

import xassay
from xassay.errors import InputError
from xassay.studies.check.measures import measures
from xassay.studies.check.measures.stability import RADII

X = np.random.default_rng(0).normal(size=(160, 4)) + 0.5
SLOPES = np.array([1.0, -2.0, 0.5, 3.0])
N = 12


def linear(rows: Any) -> Any:
    return rows @ SLOPES + 7.0


def bent(rows: Any) -> Any:
    return rows @ SLOPES + 2 * rows[:, 0] * rows[:, 1] * rows[:, 2]


@pytest.fixture(scope="module")
def refitted() -> Any:
    y = linear(X)

    def by_size(predict: Any, background: Any, rows: Any) -> Any:
        return rows - background.mean(axis=0)

    return xassay.check(
        LinearRegression().fit(X, y), X, target=y, rows=N, max_background=20,
        explainers=[by_size, "permutation_shap"], measures="randomisation",
    )  # fmt: skip


def test_an_explainer_that_ignores_the_model_stays_the_same(refitted: Any) -> None:
    rows = refitted.scores.filter(metric="randomisation_agreement")
    found = dict(zip(rows["explainer"], rows["value"], strict=True))
    assert found["by_size"] == pytest.approx(1)
    assert found["permutation_shap"] < 0.8


@pytest.fixture(scope="module")
def of_a_line() -> Any:
    return xassay.check(
        linear, X, rows=N, max_background=20, measures=("fidelity", "stability", "removal"),
        explainers=["permutation_shap", "lime:n_samples=400", "maple:n_estimators=5", "random"],
    )  # fmt: skip


def row_of(found: Any, explainer: str, metric: str, **where: Any) -> dict[str, Any]:
    rows = found.scores.filter(level="model", metric=metric, **where)
    return dict(rows.filter(pl.col("explainer").str.starts_with(explainer)).row(0, named=True))


def test_exact_and_local_explanations_of_a_line_are_faithful(of_a_line: Any) -> None:
    assert row_of(of_a_line, "permutation", "fidelity")["value"] == pytest.approx(1, abs=1e-9)
    assert row_of(of_a_line, "lime", "fidelity")["value"] > 0.95
    assert row_of(of_a_line, "random", "fidelity")["value"] < 0.3


def test_scores_of_explainers_are_those_that_the_measures_name(of_a_line: Any, refitted: Any) -> None:
    """Requirements are refused by these names."""
    named = {metric for one in measures().values() for metric in (*one.shown, *one.beside)}
    for found in (of_a_line, refitted):
        scored = found.scores.filter(pl.col("explainer").is_not_null(), pl.col("level") == "model")
        assert set(scored["metric"]) <= named


def test_a_measure_asked_for_alone_is_told(refitted: Any) -> None:
    (said,) = [line for line in refitted.verdict if line.startswith("by_size")]
    assert "100% of the explanation stays the same for a model refitted to shuffled targets" in said


def test_functions_of_one_name_are_refused() -> None:
    with pytest.raises(InputError, match="two functions are named '<lambda>'; give one another name"):
        xassay.check(linear, X, explainers=[lambda p, b, x: x, lambda p, b, x: -x])


def test_noise_is_not_stable(of_a_line: Any) -> None:
    """Two draws of noise have about a quarter in common."""
    for sigma in RADII:
        assert row_of(of_a_line, "random", "neighbour_agreement", sigma=sigma)["value"] < 0.5
    assert row_of(of_a_line, "random", "seed_agreement")["value"] < 0.5
    assert row_of(of_a_line, "random", "max_sensitivity", sigma=0.001)["value"] > 0.5
    assert row_of(of_a_line, "permutation", "neighbour_agreement", sigma=0.001)["value"] > 0.99


def test_calls_are_rows_that_the_model_is_asked_for(of_a_line: Any) -> None:
    assert row_of(of_a_line, "lime", "model_calls")["value"] == 400
    assert row_of(of_a_line, "random", "model_calls")["value"] == 0
    assert row_of(of_a_line, "maple", "model_calls")["value"] >= (160 - N) / N  # its fit, shared out
    assert row_of(of_a_line, "maple", "model_calls")["ci_low"] is None


def test_several_fits_of_maple_widen_its_interval() -> None:
    found = xassay.check(
        bent, X, rows=N, max_background=20, explainers="maple:n_estimators=5", measures="fidelity"
    )
    row = row_of(found, "maple", "fidelity")
    median = row_of(found, "maple", "fidelity_q50")  # of one fit
    assert row["ci_low"] < row["value"] < row["ci_high"]
    assert row["value"] < 0.99
    assert median["n"] == row["n"]


def test_equal_arrays_score_the_same_whether_or_not_they_are_one_object() -> None:
    slopes = np.tile(SLOPES, (160, 1))
    asked = {"rows": N, "max_background": 20, "measures": ("fidelity", "causal")}
    one = xassay.check(linear, X, attributions=slopes, coefficients=slopes, **asked)
    other = xassay.check(linear, X, attributions=slopes.copy(), coefficients=slopes.copy(), **asked)
    assert one.scores.equals(other.scores, null_equal=True)
    alone = xassay.check(linear, X, coefficients=slopes, **asked)
    assert row_of(alone, "given", "fidelity")["value"] == pytest.approx(1, abs=1e-9)
    assert row_of(one, "given", "fidelity")["value"] < 0.9


def test_attributions_in_a_frame_are_matched_by_name_or_refused() -> None:
    names = [f"c{j}" for j in range(len(SLOPES))]
    data = pd.DataFrame(X, columns=names)
    exact = pd.DataFrame((X - X.mean(axis=0)) * SLOPES, columns=names)
    asked = {"rows": N, "background": data, "max_background": len(data), "measures": "fidelity"}

    def model(frame: Any) -> Any:
        return linear(np.asarray(frame))

    for tables in (exact[names[::-1]], exact.assign(total=0.0), exact.set_axis(range(len(names)), axis=1)):
        found = xassay.check(model, data, attributions=tables, **asked)
        assert row_of(found, "given", "fidelity")["value"] == pytest.approx(1, abs=1e-9)
    for what in ("attributions", "coefficients"):
        with pytest.raises(InputError, match=f"{what}: has no column 'c1'"):
            xassay.check(model, data, **{what: exact.rename(columns={"c1": "c_1"})}, **asked)


def test_a_target_that_fits_no_row_is_refused_whatever_is_measured() -> None:
    for name in ("fidelity", "randomisation"):
        with pytest.raises(InputError, match="the target has 3 values, the data 160 rows"):
            xassay.check(linear, X, target=[1, 2, 3], measures=name, rows=N)
    with pytest.raises(InputError, match="the same value in every row"):
        xassay.check(
            LinearRegression().fit(X, X[:, 0]), X, target=[1] * 160, measures="randomisation", rows=N
        )


def test_what_is_of_another_type_is_refused_in_one_line() -> None:
    wrong: tuple[tuple[dict[str, Any], str], ...] = (
        ({"explainers": 3}, "explainers: expected names or functions, got int"),
        ({"jobs": "2"}, "jobs must be a whole number of at least 1, not '2'"),
    )
    for options, reason in wrong:
        with pytest.raises(InputError, match=reason):
            xassay.check(linear, X, rows=N, **{"measures": "cost", "explainers": "random", **options})
    found = xassay.check(linear, X, rows=N, explainers="random", measures="cost")
    for requirement in (3, None, ["a"]):
        with pytest.raises(InputError, match=r"expected explainer\.metric"):
            found.unmet(requirement)  # type: ignore[arg-type]


def test_two_jobs_give_the_same_bytes(tmp_path: Path) -> None:
    for jobs in (1, 2):
        found = xassay.check(
            linear, X, rows=6, max_background=10, explainers="lime:n_samples=50", jobs=jobs,
            measures=("fidelity", "removal", "stability"),
        )  # fmt: skip
        found.save(tmp_path / str(jobs))
    for name in ("results.parquet", "tests.parquet"):
        files = [tmp_path / str(jobs) / name for jobs in (1, 2)]
        assert files[0].read_bytes() == files[1].read_bytes()
