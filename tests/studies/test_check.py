"""The check of a model: known answers come out, and everything that was asked for is measured."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import xassay
from xassay import CheckResult, cli, report, results
from xassay.errors import InputError
from xassay.studies.check.measures import measures
from xassay.studies.check.planting import SEVERAL, WRONG

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 4))
BITS = RNG.integers(0, 2, (300, 4)).astype(float)
WEIGHTS = np.array([1.0, -2.0, 0.5, 3.0])


def linear(rows: Any) -> Any:
    return rows @ WEIGHTS + 7.0


def value(result: CheckResult, explainer: str, metric: str, **where: Any) -> float:
    rows = result.scores.filter(level="model", explainer=explainer, metric=metric, **where)
    rows = rows.filter(pl.col("planted").is_null())
    assert len(rows) == 1
    return float(rows["value"].item())


@pytest.fixture(scope="module")
def of_a_line() -> CheckResult:
    return xassay.check(
        linear, X, rows=30, explainers=["permutation_shap", "kernel_shap", "lime", "maple", "random"]
    )


@pytest.mark.parametrize("explainer", ["permutation_shap", "kernel_shap"])
def test_shapley_values_of_a_linear_model_add_up_exactly(of_a_line: CheckResult, explainer: str) -> None:
    assert value(of_a_line, explainer, "masking_skill") == pytest.approx(1, abs=1e-9)
    assert value(of_a_line, explainer, "placebo_share") == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("explainer", ["lime", "maple"])
@pytest.mark.parametrize("sigma", [0.1, 0.25])
def test_local_lines_of_a_linear_model_hold_nearby(
    of_a_line: CheckResult, explainer: str, sigma: float
) -> None:
    assert value(of_a_line, explainer, "causal_skill", sigma=sigma) > 0.95


def test_exact_values_over_bits_add_up_where_the_model_is_linear() -> None:
    result = xassay.check(
        linear, BITS, rows=20, explainers="exact_shapley", measures=("fidelity", "stability")
    )
    assert value(result, "exact_shapley", "masking_skill") == pytest.approx(1)
    assert value(result, "exact_shapley", "seed_agreement") == 1


def test_columns_that_the_model_ignores_get_no_weight_from_exact_methods() -> None:
    data = np.random.default_rng(1).normal(size=(200, 20))
    result = xassay.check(
        lambda rows: rows[:, 0] * rows[:, 1] + rows[:, 2],
        data,
        rows=10,
        explainers=["permutation_shap:npermutations=2", "lime:n_samples=100"],
        measures=("fidelity", "placebo"),
    )
    assert value(result, "permutation_shap:npermutations=2", "placebo_share") == 0
    assert value(result, "lime:n_samples=100", "placebo_share") > 0.05
    unused = result.sanity.filter(check="the columns matter")["found"].item()
    assert unused.startswith("17 of 20 seem unused")


def test_lime_and_single_flips_are_unfaithful_to_a_pure_xor() -> None:
    result = xassay.check(
        lambda rows: rows.sum(axis=1) % 2,
        BITS,
        rows=40,
        explainers=["lime", "single_flip"],
        measures=("fidelity",),
    )
    for explainer in ("lime", "single_flip"):
        assert value(result, explainer, "masking_skill") < 0.1
        judged = result.judgements.filter(explainer=explainer)
        assert judged["judgement"].item() == "unfaithful"
    assert result.verdict[0].startswith("None of these explanations is faithful")
    assert result.recommended is None


def test_a_planted_culprit_is_found() -> None:
    rng = np.random.default_rng(2)
    base = rng.normal(size=(400, 1))
    data = np.hstack([base + 0.1 * rng.normal(size=(400, 2)), rng.normal(size=(400, 2))])
    precision = np.linalg.inv(np.cov(data, rowvar=False))
    centre = data.mean(axis=0)

    def distance(rows: Any) -> Any:
        away = rows - centre
        return np.einsum("rp,pq,rq->r", away, precision, away)

    result = xassay.check(distance, data, kind="anomaly", explainers=["permutation_shap", "random"], rows=30)
    noticed = result.scores.filter(metric="planted_noticed")
    assert set(noticed["planted"]) == {None, "out of range", WRONG, SEVERAL}
    assert noticed["value"].min() > 0.9
    assert value(result, "permutation_shap", "mrr") > 0.95
    assert value(result, "permutation_shap", "mr_precision") > 0.85
    assert value(result, "random", "mrr") < 0.85


def test_a_detector_whose_score_falls_is_turned() -> None:
    def normality(rows: Any) -> Any:
        return -(rows**2).sum(axis=1)

    turned = xassay.check(normality, X, kind="anomaly", explainers="permutation_shap", rows=10)
    straight = xassay.check(
        lambda rows: -normality(rows), X, kind="anomaly", explainers="permutation_shap", rows=10
    )
    found = turned.sanity.filter(check="larger is more anomalous")["found"].item()
    assert "below" in found
    assert "the sign is turned" in found
    assert turned.scores.drop("model").equals(straight.scores.drop("model"), null_equal=True)


def test_every_measure_has_its_interval_counts_and_tests(of_a_line: CheckResult) -> None:
    scores = of_a_line.scores.filter(level="model", explainer="lime")
    shown = {metric for one in measures().values() for metric in one.shown}
    absent = {"mrr", "map", "mr_precision", "randomisation_agreement"}  # no anomalies, not asked for
    bases = {f"{what}_{base}_base" for what in ("fidelity", "gap") for base in ("zero", "mean")}
    assert set(scores["metric"]) == (shown - absent) | bases
    bounded = scores.filter(pl.col("ci_low").is_not_null())
    assert set(scores["metric"]) - set(bounded["metric"]) <= {"model_calls", "fidelity_q10"}
    assert (bounded["ci_low"] <= bounded["value"]).all()
    assert (bounded["value"] <= bounded["ci_high"]).all()
    assert (bounded["ci_low"] < bounded["ci_high"]).all()
    assert (scores["n"] >= 20).all()
    pairs = of_a_line.tests.filter(metric="masking_rmse")
    assert len(pairs) == 6
    assert "random" not in {*pairs["first"], *pairs["second"]}
    tested = of_a_line.tests.filter(pl.col("p_value").is_not_nan())
    assert len(tested) > 20
    assert (tested["p_holm"] >= tested["p_value"]).all()
    assert tested["p_holm"].min() == pytest.approx(len(tested) * tested["p_value"].min())


def test_differences_of_rounding_are_no_differences(of_a_line: CheckResult) -> None:
    exact = of_a_line.tests.filter(metric="masking_rmse", first="kernel_shap", second="permutation_shap")
    assert exact["p_value"].is_nan().all()
    assert abs(exact["statistic"].item()) < 1e-9


def test_fidelity_equals_the_metric_on_the_same_rows() -> None:
    from xassay import explainers, metrics
    from xassay.seeds import legacy_seed
    from xassay.studies.check import CheckSettings, prepare
    from xassay.studies.check.measures.fidelity import sets_of

    def product(rows: Any) -> Any:
        return rows[:, 0] * rows[:, 1] + rows[:, 2]

    settings = CheckSettings(explainers="lime:n_samples=500", rows=12)
    subject = prepare(product, X, None, settings)
    explainer = explainers.make(
        "lime:n_samples=500",
        predict=subject.predict,
        background=subject.background,
        seed=legacy_seed(0, "explain"),
        treatment="gaussian",
    )
    explained = explainer.explain(subject.X, row_ids=subject.row_ids)
    sets = sets_of(subject, settings, subject.row_ids).chosen
    expected = metrics.masking_rmse(
        explained,
        subject.predict,
        subject.X,
        subject.background,
        subsets=np.concatenate([sets, ~sets], axis=1),
    )
    result = xassay.check(product, X, explainers="lime:n_samples=500", rows=12, measures="fidelity")
    assert value(result, "lime:n_samples=500", "masking_rmse") == pytest.approx(expected, rel=1e-12)


def test_too_few_samples_are_told_from_a_bad_explainer() -> None:
    result = xassay.check(
        linear, X, explainers="lime:n_samples=12", rows=20, measures=("fidelity", "convergence")
    )
    curve = result.scores.filter(level="budget", metric="fidelity")
    assert {re.findall(r"n_samples=\d+", text)[0] for text in curve["options"]} == {
        "n_samples=3",
        "n_samples=12",
        "n_samples=48",
    }
    assert set(curve["n"]) == {20}
    assert any("more samples help" in said for said in result.verdict)
    enough = xassay.check(
        linear, X, explainers="lime:n_samples=2000", rows=20, measures=("fidelity", "convergence")
    )
    assert not any("more samples help" in said for said in enough.verdict)


def test_tree_shap_of_a_forest_adds_up_and_ignores_placebos() -> None:
    from sklearn.ensemble import RandomForestRegressor

    forest = RandomForestRegressor(10, max_depth=1, random_state=0).fit(X, linear(X))
    result = xassay.check(forest, X, explainers=["tree_shap", "permutation_shap"], rows=10)
    assert value(result, "tree_shap", "masking_skill") == pytest.approx(1, abs=1e-4)
    assert value(result, "tree_shap", "placebo_share") == 0


def test_explanations_computed_elsewhere_are_judged_as_they_are() -> None:
    exact = WEIGHTS * (X - X.mean(axis=0))
    result = xassay.check(linear, X, X, attributions=exact, max_background=300, rows=40)
    assert value(result, "given", "masking_skill") == pytest.approx(1)
    slopes = np.tile(WEIGHTS, (300, 1))
    scaled = X * [1e-8, 1.0, 1e8, 1.0] + [0, 1e9, 0, 0]

    def raw(rows: Any) -> Any:
        return rows @ (WEIGHTS / [1e-8, 1.0, 1e8, 1.0])

    for intercepts in (None, np.zeros(300)):
        found = xassay.check(
            raw, scaled, coefficients=slopes / [1e-8, 1.0, 1e8, 1.0], intercepts=intercepts, rows=40
        )
        assert value(found, "given", "causal_skill", sigma=0.1) == pytest.approx(1, abs=1e-6)


def test_a_functions_failures_are_counted_and_named() -> None:
    def moody(predict: Any, background: Any, X: Any) -> Any:
        if X[0, 0] > 0:
            raise RuntimeError("not in the mood")
        return WEIGHTS * (X - background.mean(axis=0))

    result = xassay.check(linear, X, explainers=[moody], rows=30, measures="fidelity")
    row = result.scores.filter(metric="masking_skill").row(0, named=True)
    assert 5 < row["n_failed"] < 25
    assert row["value"] == pytest.approx(1)
    assert "not in the mood" in row["reason"]
    assert any("failed on" in said for said in result.verdict)


def test_a_result_is_kept_and_shown(of_a_line: CheckResult, tmp_path: Path) -> None:
    page = of_a_line.save(tmp_path / "kept")
    text = page.read_text("utf-8")
    for one in measures().values():
        assert (one.question in text) == (one.name not in ("planted", "randomisation"))
    kept = results.read_parquet(tmp_path / "kept" / "results.parquet", results.RESULTS)
    assert kept.equals(of_a_line.scores, null_equal=True)
    assert list((tmp_path / "kept" / "instances").iterdir())
    with pytest.raises(InputError, match="is there already"):
        of_a_line.save(tmp_path / "kept")


def test_names_are_escaped_in_the_page(tmp_path: Path) -> None:
    import pandas as pd

    names = ["<script>alert(1)</script>", "a", "b", "c"]
    frame = pd.DataFrame(np.where(np.eye(300, 4) > 0, np.nan, X), columns=names)
    result = xassay.check(
        lambda t: t.fillna(0.0).to_numpy() @ WEIGHTS, frame, explainers="permutation_shap", rows=5
    )
    text = result.save(tmp_path / "kept").read_text("utf-8")
    assert "<script>alert" not in text
    assert "&lt;script&gt;" in text


SCORING = """
import numpy as np

def predict(table):
    return table["a"] + 2 * table["b"] * table["c"]

def slow(table):
    import time
    time.sleep(0.02)
    return predict(table)
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("scoring.py").write_text(SCORING)
    pl.DataFrame({name: X[:, j] for j, name in enumerate("abc")} | {"y": X[:, 3]}).write_csv("d.csv")
    return tmp_path


QUICK = [
    "--data",
    "d.csv",
    "--target",
    "y",
    "--explainers",
    "permutation_shap,lime:n_samples=200",
    "--rows",
    "8",
]


def call(capsys: Any, *arguments: str) -> tuple[int, str, str]:
    code = cli.run(["check", *arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_the_command_prints_the_verdict_and_continues(place: Path, capsys: Any) -> None:
    code, out, err = call(capsys, "scoring.py:predict", *QUICK)
    assert code == 0
    assert "Verdict" not in err
    assert "permutation_shap" in out
    assert "report: runs/check-" in out
    assert "about" in err
    code, again, err = call(capsys, "scoring.py:predict", *QUICK)
    assert "100% was already computed" in err
    assert again.splitlines()[-1] == out.splitlines()[-1]
    Path("scoring.py").write_text(SCORING.replace("2 *", "3 *"))
    _, _, err = call(capsys, "scoring.py:predict", *QUICK)
    assert "already computed" not in err


def test_two_jobs_load_the_model_from_its_file(place: Path, capsys: Any) -> None:
    one, two = place / "one", place / "two"
    assert call(capsys, "scoring.py:predict", *QUICK, "--out", str(one), "--quiet") == (0, "", "")
    assert call(capsys, "scoring.py:predict", *QUICK, "--out", str(two), "--jobs", "2", "--quiet")[0] == 0
    assert (one / "results.parquet").read_bytes() == (two / "results.parquet").read_bytes()
    assert (one / "tests.parquet").read_bytes() == (two / "tests.parquet").read_bytes()


@pytest.mark.parametrize(
    ("requirement", "code", "said"),
    [
        ("permutation_shap.masking_skill>=0.1", 0, ""),
        ("permutation_shap.masking_skill>=0.999", 1, "not met: permutation_shap.masking_skill>=0.999: it is"),
        ("permutation_shap.causal_skill>0", 1, "there is no such score"),
        ("lime:n_samples=200.causal_rmse@0.1<100", 0, ""),
        ("lime.masking_skill>0.5", 2, "unknown explainer in requirement"),
        ("permutation_shap.masking_skil>0.5", 2, "did you mean 'masking_skill'"),
        ("permutation_shap>0.5", 2, "expected explainer.metric"),
    ],
)
def test_requirements_gate_a_build(place: Path, capsys: Any, requirement: str, code: int, said: str) -> None:
    found, _, err = call(capsys, "scoring.py:predict", *QUICK, "--require", requirement, "--quiet")
    assert found == code
    assert said in err


def test_other_rows_in_the_folder_of_a_run_are_refused(place: Path, capsys: Any) -> None:
    asked = [
        "scoring.py:predict",
        "--data",
        "d.csv",
        "--explainers",
        "random",
        "--measures",
        "cost",
        "--out",
        "m",
    ]
    assert call(capsys, *asked, "--rows", "12")[0] == 0
    for rows in ("14", "10"):
        code, _, err = call(capsys, *asked, "--rows", rows)
        assert code == 2
        assert f"m holds a run with other settings (rows: 12, now {rows})" in err.splitlines()[-1]


def test_a_budget_cuts_rows_and_says_so(place: Path, capsys: Any) -> None:
    import time

    began = time.monotonic()
    code, out, _ = call(
        capsys,
        "scoring.py:slow",
        *["--data", "d.csv", "--target", "y", "--rows", "200", "--explainers", "lime:n_samples=200"],
        *["--budget", "6s", "--out", "cut"],
    )
    assert time.monotonic() - began < 15
    assert "of 200 rows are explained, the rest is cut" in " ".join(out.split())
    scores = results.read_parquet(place / "cut" / "results.parquet")
    lost = ((scores["status"] != "ok") | (scores["n_failed"] > 0)).any()
    assert code == int(lost)


BAD = {
    "no data": (["scoring.py:predict"], "data"),
    "no such data": (["scoring.py:predict", "--data", "absent.csv"], "absent.csv: cannot be read"),
    "no table": (["scoring.py:predict", "--data", "scoring.py"], "neither a .csv nor a .parquet"),
    "no such model": (["absent.py:predict", "--data", "d.csv"], "absent.py"),
    "no function named": (["scoring.py", "--data", "d.csv"], "as in scoring.py:predict"),
    "no such function": (["scoring.py:score", "--data", "d.csv"], "has no 'score'"),
    "no such target": (
        ["scoring.py:predict", "--data", "d.csv", "--target", "z"],
        "unknown column of d.csv 'z'",
    ),
    "a model that lacks a column": (
        ["scoring.py:predict", "--data", "d.csv", "--drop", "b"],
        "the model failed",
    ),
    "a pickle": (["m.pkl", "--data", "d.csv"], "no such file"),
    "a time": (["scoring.py:predict", "--data", "d.csv", "--budget", "soon"], "budget: 'soon' is no time"),
    "a frame": (["scoring.py:predict", "--data", "d.csv", "--frame", "arrow"], "unknown frame 'arrow'"),
    "attributions of other rows": (
        ["scoring.py:predict", "--data", "d.csv", "--attributions", "few.csv"],
        "few.csv: has 2 rows, the data 300",
    ),
    "attributions without a column": (
        ["scoring.py:predict", "--data", "d.csv", "--target", "y", "--attributions", "d2.csv"],
        "d2.csv: has no column 'c'",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line_and_exit_code_2(case: str, place: Path, capsys: Any) -> None:
    arguments, message = BAD[case]
    pl.DataFrame({"a": [1.0, 2.0]}).write_csv("few.csv")
    pl.read_csv("d.csv").drop("c").write_csv("d2.csv")
    code, out, err = call(capsys, *arguments)
    assert (code, out) == (2, "")
    assert message in err.splitlines()[-1]


def test_pickles_are_loaded_only_on_request(place: Path, capsys: Any) -> None:
    import joblib
    from sklearn.linear_model import LinearRegression

    joblib.dump(LinearRegression().fit(X[:, :3], X[:, 3]), "m.joblib")
    code, _, err = call(capsys, "m.joblib", *QUICK)
    assert code == 2
    assert "a pickle runs whatever code is in it" in err.splitlines()[-1]
    assert call(capsys, "m.joblib", *QUICK, "--allow-pickle", "--quiet")[0] == 0


def test_files_of_attributions_are_judged_alone(place: Path, capsys: Any) -> None:
    table = pl.read_csv("d.csv")
    table.select("c", "b", "a").write_parquet("phi.parquet")
    code, _, _ = call(
        capsys, "scoring.py:predict", *QUICK[:4], "--attributions", "phi.parquet", "--out", "r", "--quiet"
    )
    assert code == 0
    found = results.read_parquet(place / "r" / "results.parquet")
    assert set(found["explainer"].drop_nulls()) == {"given"}
    assert report.load(place / "r").title.startswith("Is the explanation")
