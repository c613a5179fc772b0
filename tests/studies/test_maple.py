"""The MAPLE evaluation: what is measured equals the recipe written out, and bad settings are refused."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.svm import SVR

from xassay import results, runner, tabular
from xassay.errors import InputError
from xassay.estimates import Estimate
from xassay.models import MapleRegressor
from xassay.seeds import generator
from xassay.studies.maple import MapleSettings, MapleStudy, comparison, experiments, scoring
from xassay.studies.maple.explained import Explained
from xassay.studies.maple.published import figures as published
from xassay.types import Failure

QUICK: dict[str, Any] = {
    "experiment": ("self", "blackbox"),
    "trials": 2,
    "sample": 6,
    "explainers": ("maple", "lime:n_samples=60"),
}


def run(folder: Path, *, jobs: int = 1, **changes: Any) -> runner.Run:
    return runner.run(MapleStudy(MapleSettings(**(QUICK | changes))), folder, jobs=jobs)


def value(scores: pl.DataFrame, **where: Any) -> float:
    (row,) = scores.filter(**where).iter_rows(named=True)
    return float(row["value"])


@pytest.fixture(scope="module")
def part() -> experiments.Part:
    return experiments.prepare(tabular.load("friedman1"), seed=0, trial=1, sample=12)


def test_the_causal_rmse_of_a_trial_is_the_recipe_written_out(part: experiments.Part, tmp_path: Path) -> None:
    done = run(tmp_path, experiment="blackbox", datasets="friedman1", explainers="maple", sample=12)
    parts = part.split
    svr = SVR().fit(parts.X_train, parts.y_train)
    maple = MapleRegressor(random_state=_maple_seed(part)).fit(
        parts.X_train, svr.predict(parts.X_train), parts.X_val, svr.predict(parts.X_val)
    )
    for sigma in (0.1, 0.25):
        losses, trivial = [], []
        for x, row in zip(part.X, part.row_ids, strict=True):
            local = maple.explain(x[None])
            draws = generator(part.seed_of("causal"), "causal", int(row)).standard_normal((5, x.size))
            for noise in draws:
                moved = x + sigma * noise
                truth = svr.predict(moved[None])[0]
                losses.append((local.coefficients[0] @ moved + local.intercepts[0] - truth) ** 2)
                trivial.append((svr.predict(x[None])[0] - truth) ** 2)
        rmse, constant = np.sqrt(np.mean(losses)), np.sqrt(np.mean(trivial))
        where = {"level": "trial", "trial": 1, "sigma": sigma}
        assert value(done.scores, metric="causal_rmse", **where) == pytest.approx(rmse, rel=1e-9)
        assert value(done.scores, metric="causal_skill", **where) == pytest.approx(1 - rmse / constant)


def _maple_seed(part: experiments.Part) -> int:
    from xassay.seeds import legacy_seed

    return legacy_seed(part.seed_of("explain", "svr"), "maple")


def test_maple_explains_itself_with_its_own_local_models(part: experiments.Part) -> None:
    frame = experiments.explanation(part, Explained.of("MAPLE+RF", "maple", {}), (0.1,))
    maple = experiments.fit_maple(part)
    np.testing.assert_array_equal(np.array(frame["values"].to_list()), maple.explain(part.X).coefficients)
    at_the_row = (np.array(frame["values"].to_list()) * part.X).sum(axis=1) + frame["intercept"].to_numpy()
    np.testing.assert_allclose(at_the_row, maple.predict(part.X))


def test_accuracy_is_that_of_models_fitted_apart(part: experiments.Part) -> None:
    frame = experiments.accuracy(part)
    parts = part.split
    shared = {"n_estimators": 200, "max_features": 0.5, "min_samples_leaf": 10}
    apart: dict[str, Any] = {
        "RF": RandomForestRegressor(**shared, random_state=part.seed_of("maple", "random_forest")),
        "GBRT": GradientBoostingRegressor(
            **shared, max_depth=None, random_state=part.seed_of("maple", "gradient_boosting")
        ),
    }
    found = {str(name): rows for (name,), rows in frame.group_by("model")}
    assert set(found) == set(experiments.MODELS)
    for name, model in apart.items():
        expected = model.fit(parts.X_train, parts.y_train).predict(parts.X_test)
        np.testing.assert_allclose(found[name]["prediction"], expected, atol=1e-12)
    with_one = np.column_stack([np.ones(len(parts.X_train)), parts.X_train])
    line = np.linalg.lstsq(with_one, parts.y_train, rcond=None)[0]
    np.testing.assert_allclose(
        found["LM"]["prediction"], np.column_stack([np.ones(len(parts.X_test)), parts.X_test]) @ line
    )
    assert found["RF"]["features_kept"].null_count() == len(parts.X_test)


@pytest.mark.parametrize("unit", [2.0**600, 2.0**-900])
def test_the_unit_of_target_and_columns_changes_no_score(tmp_path: Path, unit: float) -> None:
    data = tabular.load("diabetes")
    found = []
    for name, scale in (("plain", 1.0), ("scaled", unit)):
        folder = tmp_path / name
        folder.mkdir()
        columns = dict(zip(data.columns, scale * data.X.T, strict=True))
        pl.DataFrame({**columns, "y": data.y * scale}).write_parquet(folder / "mine.parquet")
        done = run(
            folder / "run",
            datasets=str(folder / "mine.parquet"),
            target="y",
            experiment="blackbox",
            explainers="maple",
            trials=1,
        )
        found.append(done.scores["value"].to_numpy())
    np.testing.assert_allclose(found[0], found[1], rtol=1e-9)


@pytest.mark.parametrize("ensemble", ["random_forest", "gradient_boosting"])
def test_silo_over_maples_trees_is_silo_fitted_apart(part: experiments.Part, ensemble: str) -> None:
    parts = part.split
    apart = MapleRegressor(ensemble, select_features=False, random_state=part.seed_of("maple", ensemble))
    apart.fit(parts.X_train, parts.y_train, parts.X_val, parts.y_val)
    maple = experiments.fit_maple(part, ensemble)
    kept = maple.n_features_kept_
    np.testing.assert_array_equal(
        experiments.keeping_all(maple).predict(parts.X_test), apart.predict(parts.X_test)
    )
    assert maple.n_features_kept_ == kept < maple.n_features_in_


def test_rmse_and_features_kept_are_means_over_trials(tmp_path: Path) -> None:
    done = run(tmp_path, experiment="accuracy", datasets="diabetes", trials=3)
    trials = done.scores.filter(level="trial", metric="rmse", model="LM")["value"]
    (mean,) = done.scores.filter(level="dataset", metric="rmse", model="LM").iter_rows(named=True)
    assert mean["value"] == pytest.approx(trials.mean())
    half = stats.t.ppf(0.975, 2) * trials.std() / np.sqrt(3)
    assert (mean["ci_low"], mean["ci_high"]) == pytest.approx((trials.mean() - half, trials.mean() + half))
    assert mean["n"] == 3 * 111
    kept = done.scores.filter(level="trial", metric="features_kept")
    assert set(kept["model"]) == {"MAPLE+RF", "MAPLE+GBRT"}
    assert kept["value"].is_between(1, 10).all()
    assert done.tests["test"].value_counts().sort("test").rows() == [
        ("corrected_resampled_t", 6),
        ("welch", 6),
    ]
    assert set(done.tests["first"]) == {"MAPLE+RF", "MAPLE+GBRT"}


def test_tests_are_the_formulas_written_out_on_the_trials_of_the_run(tmp_path: Path) -> None:
    done = run(tmp_path, datasets="diabetes", trials=4)
    assert done.tests.height == 2 * 2 * 2
    for row in done.tests.iter_rows(named=True):
        trials = done.scores.filter(
            level="trial", metric="causal_rmse", model=row["model"], sigma=row["sigma"]
        )
        first, second = (
            trials.filter(explainer=row[side]).sort("trial")["value"].to_numpy()
            for side in ("first", "second")
        )
        if row["test"] == "welch":
            expected = stats.ttest_ind(first, second, equal_var=False)
            assert (row["statistic"], row["p_value"]) == pytest.approx(tuple(expected))
            continue
        apart = first - second
        # 6 of the test rows are explained, 221 of the 442 rows are for training
        t = apart.mean() / np.sqrt((1 / 4 + 6 / 221) * apart.var(ddof=1))
        assert row["statistic"] == pytest.approx(t)
        assert (row["df1"], row["n_blocks"]) == (3, 4)
        assert row["p_value"] == pytest.approx(2 * stats.t.sf(abs(t), 3))


def test_p_values_are_corrected_for_all_tests_of_the_run(tmp_path: Path) -> None:
    done = run(tmp_path, experiment=("accuracy", "self", "blackbox"), datasets="diabetes", trials=3)
    assert set(done.tests["metric"]) == {"rmse", "causal_rmse"}
    assert done.tests.height == 2 * (6 + 2 * 2)
    p_values = np.sort(done.tests["p_value"].to_numpy())
    steps = np.maximum.accumulate(p_values * np.arange(len(p_values), 0, -1))
    np.testing.assert_allclose(np.sort(done.tests["p_holm"].to_numpy()), np.minimum(1, steps))


def test_methods_are_paired_by_trial_and_welch_takes_what_each_has() -> None:
    fixed = {
        "level": "trial",
        "dataset": "made",
        "model": "svr",
        "sigma": 0.1,
        "metric": "causal_rmse",
        "n": 10,
        "n_failed": 0,
    }
    values = {"a": {0: 1.0, 1: 2.0, 2: 4.0, 3: 3.0}, "b": {0: 1.5, 1: 2.4, 3: 3.6, 4: 9.0}}
    rows = [
        {**fixed, "explainer": name, "trial": trial, "value": value}
        for name, by_trial in values.items()
        for trial, value in by_trial.items()
    ]
    welch, paired = comparison.tests(pl.DataFrame(rows), {"made": 40})
    assert (welch["test"], welch["n_blocks"]) == ("welch", 4)
    apart = np.array([-0.5, -0.4, -0.6])
    assert paired["test"] == "corrected_resampled_t"
    assert paired["n_blocks"] == 3
    assert paired["statistic"] == pytest.approx(apart.mean() / np.sqrt((1 / 3 + 10 / 40) * apart.var(ddof=1)))


def test_a_score_that_is_the_same_on_every_trial_is_no_certainty() -> None:
    assert scoring._mean("features_kept", [Estimate(10.0, n=5)] * 5).bounds is None
    assert scoring._mean("causal_skill", [Estimate(1.0, n=5)] * 5).bounds is None


def test_a_sample_explains_some_of_the_same_rows_alike(tmp_path: Path) -> None:
    settings = {
        "experiment": "blackbox",
        "datasets": "diabetes",
        "explainers": "lime:n_samples=40",
        "trials": 1,
    }
    few, more = (
        pl.concat(
            pl.read_parquet(path)
            for path in sorted((run(tmp_path / str(n), sample=n, **settings).folder / "instances").iterdir())
        )
        for n in (3, 9)
    )
    both = few.join(more, on=["row", "sigma"], suffix="_more")
    assert len(both) == len(few) == 6
    np.testing.assert_allclose(both["loss"], both["loss_more"], rtol=1e-9)


def test_results_are_the_same_bytes_for_any_jobs_and_any_order(tmp_path: Path) -> None:
    run(tmp_path / "a")
    run(tmp_path / "b", jobs=2)
    run(
        tmp_path / "c",
        datasets=("friedman1", "diabetes"),
        explainers=QUICK["explainers"][::-1],
        sigma=(0.25, 0.1),
        experiment=("blackbox", "self"),
    )
    content = [
        [(tmp_path / run_ / f"{table}.parquet").read_bytes() for table in ("results", "tests")]
        for run_ in "abc"
    ]
    assert content[0] == content[1] == content[2]


def test_global_patterns_are_found_and_their_distributions_kept(tmp_path: Path) -> None:
    done = run(tmp_path, experiment="patterns", trials=3)
    shares = dict(done.scores.filter(level="dataset").select("dataset", "value").iter_rows())
    assert set(shares) == set(experiments.SHAPES)
    assert min(shares.values()) > 0.6
    stored = results.read_parquet(tmp_path / "patterns.parquet")
    assert len(stored) == 3 * 11
    assert (
        stored.select(
            (pl.col("low") <= pl.col("q1"))
            & (pl.col("q1") <= pl.col("median"))
            & (pl.col("q3") <= pl.col("high"))
        )
        .to_series()
        .all()
    )
    linear = stored.filter(shape="linear").sort("grid")
    assert np.corrcoef(linear["grid"], linear["median"])[0, 1] > 0.95


NOT_LINEAR = "def explain(predict, background, X):\n    return 0 * X\n"
SOMETIMES = """
import numpy as np
from xassay.types import Explanation

def explain(predict, background, X):
    if X[0, 0] > 0:
        raise ValueError("not up there")
    c = np.zeros(X.shape)
    return Explanation(c, coefficients=c, intercepts=predict(X))

class Holes:
    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.where(X[:, 0] > 0, np.nan, X[:, 0])

class Wide(Holes):
    def predict(self, X):
        return np.zeros((len(X), 2))

class Broken(Holes):
    def fit(self, X, y):
        raise RuntimeError("no fit today")

class Loud(Holes):
    def fit(self, X, y):
        import warnings
        warnings.warn("hardly converged")
        return self

    def predict(self, X):
        return X[:, 0]
"""


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(SOMETIMES)
    return path


def only(scores: pl.DataFrame) -> dict[str, Any]:
    (row,) = scores.filter(level="dataset", metric="causal_rmse", sigma=0.1).iter_rows(named=True)
    return row


def blackbox(folder: Path, **changes: Any) -> runner.Run:
    return run(folder, experiment="blackbox", datasets="diabetes", **changes)


def test_an_explanation_without_a_local_model_fails_by_name(tmp_path: Path, mine: Path) -> None:
    mine.write_text(NOT_LINEAR)
    row = only(blackbox(tmp_path / "run", explainers=f"{mine}:explain").scores)
    assert (row["status"], row["value"], row["n"], row["n_failed"]) == ("failed", None, 12, 12)
    assert "mine.py:explain yields no local linear model" in row["reason"]


def test_rows_that_cannot_be_explained_are_counted_and_the_others_scored(tmp_path: Path, mine: Path) -> None:
    done = blackbox(tmp_path / "run", explainers=f"{mine}:explain")
    row = only(done.scores)
    assert row["status"] == "ok"
    assert 0 < row["n_failed"] < row["n"] == 12
    assert row["reason"] == "ValueError: not up there"
    assert done.failed
    (skill,) = done.scores.filter(level="dataset", metric="causal_skill", sigma=0.1)["value"]
    assert skill == pytest.approx(0, abs=1e-12)
    assert list(done.failures.values()) == list(_read_again(tmp_path / "run", mine).failures.values())
    assert all("rows: ValueError: not up there" in reason for reason in done.failures.values())
    assert len(done.failures) == 2


def _read_again(folder: Path, mine: Path) -> runner.Run:
    return blackbox(folder, explainers=f"{mine}:explain")


def test_who_fails_on_some_rows_is_not_compared(tmp_path: Path, mine: Path) -> None:
    done = blackbox(tmp_path / "run", explainers=(f"{mine}:explain", "maple", "lime:n_samples=40"))
    assert set(done.tests.select("first", "second").unique().rows()) == {("lime:n_samples=40", "maple")}


def test_rows_without_finite_model_output_are_counted_as_failed(tmp_path: Path, mine: Path) -> None:
    constant = mine.with_name("constant.py")
    constant.write_text(SOMETIMES.replace("X[0, 0] > 0:", "False:").replace("predict(X))", "np.zeros(1))"))
    row = only(blackbox(tmp_path / "run", models=f"{mine}:Holes", explainers=f"{constant}:explain").scores)
    assert 0 < row["n_failed"] < row["n"]
    assert row["reason"] == "the model's output is not finite"


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        ("Wide", r"mine.py:Wide predicts shape \(221, 2\) for 221 rows, expected \(221,\)"),
        ("Broken", "RuntimeError: no fit today"),
    ],
)
def test_a_model_that_cannot_be_used_fails_in_one_line(
    tmp_path: Path, mine: Path, model: str, reason: str
) -> None:
    done = blackbox(tmp_path / "run", models=f"{mine}:{model}", explainers="lime:n_samples=20")
    row = only(done.scores)
    assert row["status"] == "failed"
    assert pl.Series([row["reason"]]).str.contains(reason).all(), row["reason"]
    assert "\n" not in row["reason"]


def test_warnings_of_cells_become_notices_and_survive_a_resume(tmp_path: Path, mine: Path) -> None:
    for _ in range(2):
        done = blackbox(tmp_path / "run", models=f"{mine}:Loud", explainers="lime:n_samples=20")
        assert done.notices == ["2 cells warned: UserWarning: hardly converged"]
    assert results.read_plan(tmp_path / "run" / "plan.json")["notices"] == done.notices


def test_a_model_file_that_changes_is_fitted_anew(tmp_path: Path, mine: Path) -> None:
    before = only(blackbox(tmp_path / "run", models=f"{mine}:Loud", explainers="lime:n_samples=20").scores)
    mine.write_text(SOMETIMES.replace("return X[:, 0]\n", "return X[:, 0] ** 3\n"))
    after = only(blackbox(tmp_path / "run", models=f"{mine}:Loud", explainers="lime:n_samples=20").scores)
    assert after["value"] != before["value"]


PIPED = """
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
import numpy as np

def make():
    return make_pipeline(StandardScaler(), MLPRegressor(hidden_layer_sizes=(4,), max_iter=40))

class Noisy:
    def fit(self, X, y):
        self.slope = np.random.normal()

    def predict(self, X):
        X *= self.slope
        return X[:, 0]
"""


@pytest.mark.parametrize("model", ["make", "Noisy"])
def test_all_explainers_of_a_trial_explain_the_same_model(tmp_path: Path, model: str) -> None:
    (tmp_path / "piped.py").write_text(PIPED)
    before = np.random.get_state()[1].copy()
    done = blackbox(
        tmp_path / "run",
        models=f"{tmp_path}/piped.py:{model}",
        explainers=("maple", "lime:n_samples=30", "lime:n_samples=31"),
        trials=1,
    )
    np.testing.assert_array_equal(np.random.get_state()[1], before)
    parts = [pl.read_parquet(path) for path in sorted((done.folder / "instances").iterdir())]
    assert len(parts) == 3
    for part in parts[1:]:
        np.testing.assert_allclose(part["trivial"], parts[0]["trivial"], rtol=1e-12)
    assert parts[0]["trivial"].min() > 0


def test_how_a_path_is_spelled_changes_no_score(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "piped.py").write_text(PIPED)
    monkeypatch.chdir(tmp_path)
    found = [
        only(blackbox(tmp_path / str(k), models=f"{spelled}piped.py:Noisy", explainers="maple").scores)[
            "value"
        ]
        for k, spelled in enumerate(["", "./", f"{tmp_path}/"])
    ]
    assert found[0] == found[1] == found[2]


def test_published_figures_stand_only_beside_the_published_tables(tmp_path: Path) -> None:
    data = tabular.load("friedman1")
    path = tmp_path / "housing.csv"
    pl.DataFrame({**dict(zip(data.columns, data.X.T, strict=True)), "y": data.y}).write_csv(path)
    own = run(tmp_path / "own", datasets=str(path), target="y", experiment="blackbox", trials=1)
    assert own.scores["published"].null_count() == len(own.scores)


def test_failed_rows_count_as_failed_whatever_their_coefficients(tmp_path: Path, mine: Path) -> None:
    mine.write_text(
        "import numpy as np\nfrom xassay.types import Explanation\n\n"
        "def nothing(predict, background, X):\n"
        "    return Explanation(X * np.nan, coefficients=0 * X, intercepts=[0.0])\n\n"
        "def endless(predict, background, X):\n"
        "    return Explanation(0 * X, coefficients=0 * X, intercepts=[np.inf])\n"
    )
    for function, reason in (
        ("nothing", "values that are not finite"),
        ("endless", "intercepts that are not"),
    ):
        row = only(blackbox(tmp_path / function, explainers=f"{mine}:{function}").scores)
        assert (row["status"], row["n_failed"], row["n"]) == ("failed", 12, 12)
        assert reason in row["reason"]


def test_undefined_trials_are_counted_beside_the_mean(part: experiments.Part) -> None:
    one, lost = Estimate(0.5, n=10), Estimate(None, n=10, n_failed=10, reason="broken")
    gap = Estimate(float("nan"), n=10, n_undefined=10)
    found = scoring._mean("causal_skill", [one, gap, lost])
    assert found == Estimate(0.5, n=30, n_failed=10, n_undefined=10, reason="broken")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"experiment": "accurate"}, "unknown experiment 'accurate': did you mean 'accuracy'"),
        ({"experiment": ()}, "experiment: name at least one"),
        ({"datasets": "hosing"}, "unknown table 'hosing'"),
        ({"datasets": ("diabetes", "diabetes")}, "datasets: .* names one twice"),
        ({"sigma": 0}, "sigma must be above 0, not 0"),
        ({"sigma": (0.1, -1)}, "sigma must be above 0, not -1"),
        ({"sigma": 1e300}, r"sigma is in standard deviations: 1e\+300 does not lie from 1e-06 to 1000"),
        ({"datasets": "notes.txt"}, "'notes.txt': is neither a known table nor a .csv or .parquet file"),
        ({"datasets": "foo", "target": "y"}, "unknown table 'foo'"),
        ({"models": [SVR()]}, "expected a name, got SVR.*named by its place, as in file.py:name"),
        ({"explainers": "lime_continuous"}, "rounds its draws"),
        ({"sigma": float("nan")}, "sigma must be above 0, not nan"),
        ({"trials": 0}, "trials must be at least 1"),
        ({"sample": 2.5}, "sample must be a whole number"),
        ({"seed": -1}, "seed must be at least 0"),
        ({"profile": "papier"}, "unknown profile 'papier': did you mean 'paper'"),
        ({"models": "svm"}, "unknown model 'svm'"),
        ({"explainers": "kernel_shap"}, "explainer 'kernel_shap' yields no local linear model"),
        ({"explainers": "random"}, "explainer 'random' yields no local linear model"),
        ({"explainers": "lime:treatment=quartile"}, "yields no local linear model"),
        ({"explainers": "lime:samples=9"}, "unknown option of explainer lime 'samples'"),
        ({"explainers": "maple:validation=3"}, "validation takes data, which only Python can give"),
        ({"target": "y"}, "target: goes with a .csv or .parquet file"),
        ({"datasets": "mine.csv"}, "mine.csv: name the column to predict, with target"),
    ],
)
def test_settings_that_cannot_be_used_are_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        MapleStudy(MapleSettings(**changes))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (1, "training part of 0 rows is too small for leaves of 10 .min_samples_leaf.; give at least 20"),
        (15, "training part of 7 rows is too small for leaves of 10 .min_samples_leaf.; give at least 20"),
    ],
)
def test_tables_that_are_too_small_are_refused(tmp_path: Path, rows: int, words: str) -> None:
    path = tmp_path / "mine.csv"
    pl.DataFrame({"a": range(rows), "y": [x * 1.5 for x in range(rows)]}).write_csv(path)
    with pytest.raises(InputError, match=words):
        MapleStudy(MapleSettings(datasets=str(path), target="y"))


def test_a_constant_target_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    pl.DataFrame({"a": range(30), "y": [1.0] * 30}).write_csv(path)
    with pytest.raises(InputError, match="the target is constant"):
        MapleStudy(MapleSettings(datasets=str(path), target="y"))


def test_a_file_of_ones_own_is_measured_like_the_registered_tables(tmp_path: Path) -> None:
    data = tabular.load("friedman1")
    path = tmp_path / "friedman1.csv"
    pl.DataFrame({**dict(zip(data.columns, data.X.T, strict=True)), "y": data.y}).write_csv(path)
    own = run(tmp_path / "own", datasets=str(path), target="y", experiment="blackbox", trials=1)
    known = run(tmp_path / "known", datasets="friedman1", experiment="blackbox", trials=1)
    np.testing.assert_allclose(own.scores["value"], known.scores["value"], rtol=1e-9)


def test_published_figures_stand_beside_what_they_measured(shared_data: Path) -> None:
    assert len(published()) == 7 * 8 + 2 * 8 + 2 * 2 * 2 * 8
    study = MapleStudy(
        MapleSettings(
            datasets=("housing", "diabetes"),
            data_dir=str(shared_data / "uci"),
            explainers=("lime", "lime:n_samples=70"),
            trials=1,
        )
    )
    failures = {cell.key: Failure("not run") for cell in study.cells}
    scored = results.frame(scoring.score(study.cells, {}, failures), results.RESULTS)
    beside = scored.filter(pl.col("level") == "dataset", pl.col("published").is_not_null())
    assert set(beside["dataset"]) == {"housing"}
    assert set(beside["explainer"]) == {None, "lime"}
    by_sigma = beside.filter(model="svr").sort("sigma").select("published", "published_source").rows()
    assert by_sigma == [(0.366, "MAPLE Table 3 (paper)"), (by_sigma[1][0], "MAPLE Table 3 (repository)")]
    assert set(scored["status"]) == {"failed"}


def test_trials_follow_the_profile() -> None:
    paper, ours = MapleSettings(profile="paper"), MapleSettings()
    assert [paper.n_trials(name) for name in ("accuracy", "self", "blackbox")] == [50, 25, 25]
    assert [ours.n_trials(name) for name in ("accuracy", "self", "blackbox", "patterns")] == [5] * 4
    assert MapleSettings(profile="paper", trials=3).n_trials("accuracy") == 3
