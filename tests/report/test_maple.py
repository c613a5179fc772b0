"""The view of a MAPLE run."""

import attrs
import polars as pl
import pytest

from xassay import report, results
from xassay.errors import InputError
from xassay.report import page
from xassay.studies.maple import view as maple


@pytest.fixture
def shown(maple_folder):
    return report.load(maple_folder)


def section(view, title):
    return next(section for section in view.sections if section.title == title)


def change(folder, change, name="results"):
    """The view of a run with its scores, or another table of it, changed."""
    tables = {each: pl.read_parquet(folder / f"{each}.parquet") for each in ("results", "tests", "patterns")}
    tables[name] = change(tables[name])
    plan = results.read_plan(folder / "plan.json")
    return maple.build(plan, tables["results"], tables["tests"], {"patterns": tables["patterns"]})


def test_there_is_a_section_an_experiment_and_model(maple_run, tmp_path):
    view = report.load(maple_run(models=("svr", "mypackage.models:make"), datasets=("day",)).write(tmp_path))
    assert view.title == "MAPLE: how far do local linear explanations hold?"
    assert [section.title for section in view.sections] == [
        "How accurate is MAPLE?",
        "MAPLE explained: by itself and by others",
        "Explaining mypackage.models:make",
        "Explaining svr",
        "Global patterns",
    ]


@pytest.mark.parametrize(
    ("experiment", "title"),
    [
        ("accuracy", "How accurate is MAPLE?"),
        ("self", "MAPLE explained: by itself and by others"),
        ("blackbox", "Explaining svr"),
        ("patterns", "Global patterns"),
    ],
)
def test_an_experiment_alone_gives_its_section_alone(experiment, title, maple_run, tmp_path):
    folder = maple_run(experiments=(experiment,), datasets=("day",)).write(tmp_path)
    assert [section.title for section in report.load(folder).sections] == [title]
    assert report.write(folder).read_text("utf-8").count("<svg") == 1


def test_what_sigma_and_skill_mean_is_said_once(shown):
    said = [" ".join(section.text) for section in shown.sections]
    assert [("sigma standard deviations" in text, "Skill compares" in text) for text in said] == [
        (False, False),
        (True, True),
        (False, False),
        (False, False),
    ]


def test_explanations_have_a_block_a_sigma_with_the_saved_scores(shown, maple_folder):
    saved = pl.read_parquet(maple_folder / "results.parquet").filter(level="dataset", model="svr")
    blocks = section(shown, "Explaining svr").blocks
    assert [block.title for block in blocks] == ["svr explained, sigma 0.1", "svr explained, sigma 0.25"]
    for block, sigma in zip(blocks, (0.1, 0.25), strict=True):
        assert block.groups == (("maple", 2), ("lime", 2))
        found = {
            (line.name, key): (score.estimate.value, score.estimate.low, score.estimate.high, score.published)
            for line in block.lines
            for key, score in line.scores.items()
        }
        assert found == {
            (row["dataset"], f"{row['metric']} {row['explainer']}"): (
                row["value"],
                row["ci_low"],
                row["ci_high"],
                row["published"],
            )
            for row in saved.filter(sigma=sigma).iter_rows(named=True)
        }
        assert len(found) == 32


def test_accuracy_has_a_block_an_ensemble(shown):
    blocks = section(shown, "How accurate is MAPLE?").blocks
    assert [[column.title for column in block.columns] for block in blocks] == [
        ["LM", "RF", "SILO+RF", "MAPLE+RF", "features kept"],
        ["LM", "GBRT", "SILO+GBRT", "MAPLE+GBRT", "features kept"],
    ]
    assert blocks[0].remarks == tuple(f"MAPLE+RF or {other}: better (p)" for other in ("LM", "RF", "SILO+RF"))
    assert all(set(line.scores) == {c.key for c in b.columns} for b in blocks for line in b.lines)


def test_models_without_an_ensemble_have_a_block_too(maple_folder):
    def other(scores):
        return scores.filter(pl.col("metric") == "rmse").with_columns(pl.col("model").replace("RF", "mine"))

    blocks = change(maple_folder, other).sections[0].blocks
    assert [[column.title for column in block.columns] for block in blocks] == [
        ["LM", "SILO+RF", "MAPLE+RF"],
        ["LM", "GBRT", "SILO+GBRT", "MAPLE+GBRT"],
        ["mine"],
    ]


@pytest.mark.parametrize(
    ("metric", "statistic", "p_holm", "expected", "strong"),
    [
        ("causal_rmse", -3.0, 0.0123, "maple (0.012)", True),
        ("causal_rmse", 3.0, 0.0123, "lime (0.012)", True),
        ("causal_rmse", -3.0, 1e-9, "maple (<0.0001)", True),
        ("causal_rmse", -3.0, 0.05, "unclear (0.05)", False),
        ("causal_rmse", -3.0, None, "maple (0.01)", True),
        ("causal_rmse", float("nan"), float("nan"), "-", False),
    ],
)
def test_the_better_one_is_named_beside_its_corrected_p(
    metric, statistic, p_holm, expected, strong, maple_folder
):
    changed = on_day(metric, statistic=statistic, p_holm=p_holm, p_value=0.01)
    block = section(
        change(maple_folder, lambda t: changed(t.filter(test="welch")), "tests"), "Explaining svr"
    ).blocks[0]
    assert block.remarks == ("better (p)",)
    (cell,) = next(line for line in block.lines if line.name == "day").remarks
    assert (cell.text, cell.strong) == (expected, strong)


def on_day(metric, which=("welch", "corrected_resampled_t"), **values):
    """Changes the tests of one metric on one data set."""

    def changed(tests):
        chosen = (pl.col("dataset") == "day") & (pl.col("metric") == metric) & pl.col("test").is_in(which)
        return tests.with_columns(
            pl.when(chosen).then(pl.lit(v)).otherwise(pl.col(k)).alias(k) for k, v in values.items()
        )

    return changed


@pytest.mark.parametrize(
    ("paired", "welch", "expected", "strong"),
    [
        ((-3.0, 0.02), (2.0, 0.4), "maple (0.02)", True),
        ((3.0, 0.049), (-2.0, 1e-9), "lime (0.049)", True),
        ((-3.0, 0.05), (-2.0, 1e-9), "unclear (0.05)", False),
        ((-3.0, 0.02), (float("nan"), float("nan")), "maple (0.02)", True),
        ((float("nan"), float("nan")), (-2.0, 1e-9), "-", False),
    ],
)
def test_the_paired_test_says_who_is_better_whatever_welchs_says(
    paired, welch, expected, strong, maple_folder
):
    def changed(tests):
        for name, (statistic, p_holm) in (("corrected_resampled_t", paired), ("welch", welch)):
            tests = on_day("causal_rmse", (name,), statistic=statistic, p_holm=p_holm)(tests)
        return tests

    block = section(change(maple_folder, changed, "tests"), "Explaining svr").blocks[0]
    assert block.remarks == ("better (p)",)
    (cell,) = next(line for line in block.lines if line.name == "day").remarks
    assert (cell.text, cell.strong) == (expected, strong)


def test_the_report_says_what_the_correction_counts_and_what_the_tests_use(shown):
    said = " ".join(shown.intro)
    for words in ("all tests in this report together", "rows that splits share", "Welch's t-test"):
        assert words in said


def test_only_corrected_p_values_are_bold(maple_folder):
    changed = on_day("causal_rmse", p_value=0.001, p_holm=0.2)
    table = section(change(maple_folder, changed, "tests"), "Explaining svr").folded[0]
    rows = [row for row in table.rows if row[0].text == "day"]
    assert {cell.text for row in rows for cell in row[-3:-1]} == {"0.001", "0.2"}
    assert not any(cell.strong for row in rows for cell in row)


def test_tests_that_were_impossible_have_a_dash_where_all_tests_are_listed(maple_run, tmp_path):
    view = report.load(maple_run(trials=1, experiments=("blackbox",)).write(tmp_path))
    (svr,) = view.sections
    assert svr.blocks[0].remarks == ()
    assert len(svr.folded[0].rows) == 32
    assert {cell.text for row in svr.folded[0].rows for cell in row[6:10]} == {"-"}


def test_every_test_is_listed_with_both_p_values(shown, maple_folder):
    tests = pl.read_parquet(maple_folder / "tests.parquet").filter(model="svr", dataset="day", sigma=0.1)
    table = section(shown, "Explaining svr").folded[0]
    rows = [row for row in table.rows if [cell.text for cell in row[:2]] == ["day", "0.1"]]
    assert table.columns[-3:] == ("p", "p, Holm", "trials")
    names = {"welch": "Welch's t", "corrected_resampled_t": "corrected resampled t"}
    found = {row[5].text: [cell.text for cell in row[-3:]] for row in rows}
    assert found == {
        names[row["test"]]: [f"{row['p_value']:.2g}", f"{row['p_holm']:.2g}", "6"]
        for row in tests.iter_rows(named=True)
    }
    assert len(found) == 2


def test_many_pairs_are_summed_up_in_a_table_of_their_own(maple_run, tmp_path):
    explainers = ("maple", "lime", "a", "b")
    run = maple_run(explainers=explainers, experiments=("blackbox",), trials=12)
    (svr,) = report.load(run.write(tmp_path)).sections
    assert svr.blocks[0].remarks == ()
    assert len(svr.tables) == 2
    rows = [[cell.text for cell in row] for row in svr.tables[0].rows]
    assert len(rows) == 6
    assert ["maple", "lime", "8", "0", "0", "0"] in rows
    assert all(sum(map(int, row[2:])) == 8 for row in rows)


def test_one_trial_has_no_interval_and_says_so(maple_run, tmp_path):
    view = report.load(maple_run(trials=1).write(tmp_path))
    assert "no intervals" in view.intro[1]
    scores = [
        score
        for part in view.sections
        for block in part.blocks
        for line in block.lines
        for score in line.scores.values()
    ]
    assert len(scores) == 8 * 5 * 2 + 8 * 2 * 4 * 2 + 3
    assert {score.bounds for score in scores} == {""}
    page.render(view)


def test_without_published_figures_none_is_spoken_of(maple_run, tmp_path, maple_folder):
    folder = maple_run(published=False, datasets=("day",)).write(tmp_path)
    bare, full = (report.write(path).read_text("utf-8") for path in (folder, maple_folder))
    assert "published figures" not in bare
    assert "publ. " not in bare
    assert "Errors next to nil" not in bare
    assert "published figures (MAPLE Table 9 (paper))" in full
    assert 'class="beside">publ. ' in full


def test_what_failed_is_said_once_a_cause(maple_folder):
    def failing(scores):
        struck = (
            (pl.col("dataset") == "day")
            & (pl.col("model") == "svr")
            & (pl.col("explainer") == "lime")
            & (pl.col("trial").is_in([1, 4]) | pl.col("trial").is_null())
        )
        changed = {
            "value": None,
            "ci_low": None,
            "ci_high": None,
            "status": "failed",
            "reason": "too few points",
            "n_failed": 50,
        }
        return scores.with_columns(
            pl.when(struck).then(pl.lit(value)).otherwise(pl.col(name)).cast(scores.schema[name]).alias(name)
            for name, value in changed.items()
        )

    view = change(maple_folder, failing)
    assert view.failures == ("day, svr, lime, trials 1, 4: 100 of 100 rows: too few points",)
    line = next(line for line in section(view, "Explaining svr").blocks[0].lines if line.name == "day")
    assert line.scores["causal_rmse lime"].figure == "failed"
    assert line.counts == "6, 2 failed"
    html = page.render(view)
    assert 'title="too few points">failed<' in html


def test_a_failure_that_only_the_average_knows_is_said_too(maple_folder):
    def failing(scores):
        failed = (pl.col("level") == "dataset") & (pl.col("metric") == "rmse") & (pl.col("dataset") == "day")
        return scores.with_columns(status=pl.when(failed & (pl.col("model") == "LM")).then(pl.lit("failed")))

    assert change(maple_folder, failing).failures == ("day, LM, 0 of 300 rows: no reason given",)


def test_undefined_scores_are_shown_and_counted(maple_folder):
    def undefined(scores):
        skill = (pl.col("metric") == "causal_skill") & (pl.col("dataset") == "day")
        return scores.with_columns(value=pl.when(skill).then(float("nan")).otherwise("value"))

    view = change(maple_folder, undefined)
    line = next(line for line in section(view, "Explaining svr").blocks[0].lines if line.name == "day")
    assert line.scores["causal_skill maple"].text == "undefined"
    assert line.counts == "6, 6 undefined"
    assert ">undefined<" in page.render(view)


def test_facts_say_what_was_asked_for(maple_run, tmp_path):
    asked = {"profile": "paper", "sample": 1500, "target": "price", "seed": 7}
    facts = dict(report.load(maple_run(changes=asked, datasets=("day",)).write(tmp_path)).facts)
    assert facts["profile"] == (
        "paper: the files' row counter is kept as a feature, as the published study did; 50 trials for "
        "accuracy, 25 for explanations"
    )
    assert facts["points explained a trial"] == "at most 1,500"
    assert facts["target"] == "price"
    assert facts["trials"] == "6 for accuracy, 6 for explanations, 6 for patterns"
    assert facts["seed"] == "7"


def test_trials_that_the_user_set_are_not_called_the_profiles(maple_run, tmp_path):
    folder = maple_run(changes={"profile": "paper", "trials": 6}, datasets=("day",)).write(tmp_path)
    assert "50 trials" not in dict(report.load(folder).facts)["profile"]


def test_tables_that_are_nil_by_construction_are_explained_where_they_are(maple_run, tmp_path):
    for dataset, is_explained in (("day", True), ("housing", False)):
        view = report.load(maple_run(datasets=(dataset,)).write(tmp_path / dataset))
        assert any("no mistake" in text for text in view.sections[0].text) == is_explained


def test_names_are_escaped(maple_run, tmp_path):
    name = "<script>alert(1)</script>"
    run = maple_run(explainers=("maple", name), models=(name,), datasets=(name, "day"))
    html = report.write(run.write(tmp_path)).read_text("utf-8")
    assert "<script>" not in html
    assert html.count("&lt;script&gt;") > 20


def test_patterns_show_the_saved_quantiles_and_shares(shown, maple_folder):
    found = section(shown, "Global patterns")
    saved = pl.read_parquet(maple_folder / "patterns.parquet")
    assert found.plot.kind == "bands"
    assert found.plot.data["panel"].unique(maintain_order=True).to_list() == ["linear", "S-curve", "steps"]
    assert found.plot.data["median"].to_list() == saved["median"].to_list()
    (block,) = found.blocks
    assert [line.name for line in block.lines] == ["linear", "S-curve", "steps"]
    assert all(set(line.scores) == {column.key for column in block.columns} for line in block.lines)


@pytest.mark.parametrize("drop", ["quantiles", "all quantiles", "shares"])
def test_a_part_of_the_patterns_is_enough(drop, maple_folder):
    plan = results.read_plan(maple_folder / "plan.json")
    scores, tests, quantiles = (
        pl.read_parquet(maple_folder / f"{name}.parquet") for name in ("results", "tests", "patterns")
    )
    if drop == "shares":
        scores = scores.filter(pl.col("metric") != "pattern_match")
    extra = {} if drop == "quantiles" else {"patterns": quantiles.head(0 if drop == "all quantiles" else 33)}
    view = maple.build(plan, scores, tests, extra)
    assert len(section(view, "Global patterns").blocks) == (drop != "shares")
    assert page.render(view).count("<svg") == 3 + (drop == "shares")


def test_broken_patterns_are_one_line(maple_run, tmp_path):
    folder = maple_run(datasets=("day",)).write(tmp_path)
    results.write_parquet(pl.DataFrame({"shape": ["linear"]}), folder / "patterns.parquet")
    with pytest.raises(InputError, match=r"patterns\.parquet: has no column 'grid'"):
        report.load(folder)


def test_series_keep_their_colour_in_every_section(shown):
    for title in ("MAPLE explained: by itself and by others", "Explaining svr"):
        data = section(shown, title).plot.data
        assert data["series"].unique(maintain_order=True).to_list() == ["maple", "lime"]
        assert data["panel"].unique(maintain_order=True).to_list() == ["sigma 0.1", "sigma 0.25"]


def test_views_are_plain_data(shown):
    assert all(attrs.has(type(part)) for part in (shown, *shown.sections, shown.sections[0].plot))
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        shown.title = "another"
