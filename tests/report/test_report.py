"""The view of a CREM run holds the saved numbers, the page shows them and needs nothing else."""

import json
import re
from html.parser import HTMLParser

import polars as pl
import pytest

from xassay import report, results, run_crem
from xassay.errors import InputError
from xassay.report import page
from xassay.studies.crem import view as crem


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("run")
    run_crem(
        circuits=["c17"],
        explainers=["single_flip", "random", "lime"],
        background=(0.4, 0.6),
        noise=(0, 2),
        sample=3,
        out=path,
    )
    return path


def section(view, title):
    return next(section for section in view.sections if section.title == title)


def ranked(folder):
    return section(report.load(folder), "How well true causes are ranked")


def rebuilt(folder, change):
    """The view of a run with its scores changed."""
    plan = json.loads((folder / "plan.json").read_text())
    scores = pl.read_parquet(folder / "results.parquet")
    return crem.build(plan, change(scores), pl.read_parquet(folder / "tests.parquet"), {})


def test_the_view_repeats_the_saved_scores_and_adds_none(folder):
    saved = pl.read_parquet(folder / "results.parquet").filter(level="circuit", noise=0.0, background=0.6)
    block = next(block for block in ranked(folder).blocks if block.title == "c17, background 0.6")
    columns = {column.key for column in block.columns}
    shown = {
        (line.name, metric): score.estimate.value
        for line in block.lines
        for metric, score in line.scores.items()
        if metric in columns
    }
    assert shown == {
        (row["explainer"], row["metric"]): row["value"]
        for row in saved.iter_rows(named=True)
        if row["metric"] in columns
    }
    assert len(shown) == 12


def test_both_intervals_are_shown_and_named(folder):
    saved = pl.read_parquet(folder / "results.parquet").filter(
        circuit="c17", explainer="random", metric="mrr"
    )
    over, within = (
        saved.filter(level=level, noise=0.0, background=0.6).row(0, named=True)
        for level in ("circuit", "circuit, these versions")
    )
    shown = ranked(folder)
    assert "interval over alterations" in shown.text[0]
    assert "for these versions alone" in shown.text[0]
    block = next(block for block in shown.blocks if block.title == "c17, background 0.6")
    score = next(line for line in block.lines if line.name == "random").scores["mrr"]
    assert (score.estimate.low, score.estimate.high) == (over["ci_low"], over["ci_high"])
    (table,) = shown.folded
    assert "for these versions alone" in table.title
    assert table.columns[:4] == ("circuit", "background", "explainer", "MRR")
    texts = [[cell.text for cell in row] for row in table.rows]
    (line,) = [text for text in texts if text[:3] == ["c17", "0.6", "random"]]
    assert line[3] == f"{within['value']:.3f} [{within['ci_low']:.3f}, {within['ci_high']:.3f}]"
    assert over["ci_high"] - over["ci_low"] > within["ci_high"] - within["ci_low"] > 0
    assert len(texts) == 6


def test_noise_has_both_intervals_too(folder):
    (table,) = section(report.load(folder), "What noise does").folded
    assert table.columns == ("circuit", "background", "noise", "explainer", "ELA", "Noise share")
    assert len(table.rows) == 6


def test_a_run_saved_without_intervals_for_these_versions_has_no_table_of_them(folder):
    view = rebuilt(folder, lambda scores: scores.filter(pl.col("level") != "circuit, these versions"))
    assert section(view, "How well true causes are ranked").folded == ()
    assert section(view, "What noise does").folded == ()


@pytest.mark.parametrize(
    ("truth", "words"),
    [
        ("altered", "altered: a walk back through the altered circuit"),
        ("model", "model: the same walk through the original circuit"),
        ("function", "function: the inputs in a smallest joint flip that changes the explained output"),
    ],
)
def test_the_report_says_which_inputs_count_as_causes(folder, truth, words):
    plan = json.loads((folder / "plan.json").read_text())
    plan["settings"]["truth"] = truth
    view = crem.build(plan, pl.read_parquet(folder / "results.parquet"), pl.DataFrame(), {})
    assert dict(view.facts)["truth"].startswith(words)
    assert "output of the original circuit" in view.intro[1]


def test_what_a_learned_detector_computes_is_not_called_the_circuits_output(folder):
    plan = json.loads((folder / "plan.json").read_text())
    plan["settings"]["detector"] = "autoencoder"
    view = crem.build(plan, pl.read_parquet(folder / "results.parquet"), pl.DataFrame(), {})
    assert not any("original circuit" in text for text in view.intro)


def test_the_difference_is_ours_minus_published(folder):
    block = next(block for block in ranked(folder).blocks if block.title.endswith("0.6"))
    score = next(line for line in block.lines if line.name == "lime").scores["mrr"]
    assert score.published == 0.655
    assert score.beside == f"0.655 ({score.estimate.value - 0.655:+.3f})"


def test_the_best_background_is_the_one_with_the_highest_score(folder):
    saved = pl.read_parquet(folder / "results.parquet").filter(level="circuit", noise=0.0, metric="map")
    (table,) = section(report.load(folder), "How the background matters").tables
    best = [[cell.text for cell in row] for row in table.rows]
    assert len(best) == 9
    for circuit, explainer, metric, background, value in best:
        if metric == "MAP":
            own = saved.filter(circuit=circuit, explainer=explainer)
            assert value == f"{own['value'].max():.3f}"
            assert own.filter(background=float(background))["value"].max() == own["value"].max()


def test_robustness_has_a_column_a_noise_level(folder):
    first, *_ = blocks = section(report.load(folder), "What noise does").blocks
    assert first.title.startswith("ELA, c17")
    assert [(column.key, column.title) for column in first.columns] == [("2", "2 noise columns")]
    assert len(blocks) == 4


def test_the_options_stand_below_an_explainers_name(folder):
    details = {line.name: line.detail for line in ranked(folder).blocks[0].lines}
    assert details["random"] == "native"
    assert details["lime"].startswith("lime, kernel_width=none n_samples=")


def test_plots_get_one_background_a_circuit_and_curves_get_all(folder):
    assert len(ranked(folder).plot.data) == 9
    assert set(ranked(folder).plot.data["published"].drop_nulls()) == {0.655, 0.595, 0.506}
    curves = section(report.load(folder), "How the background matters").plot
    assert set(curves.data["x"]) == {0.4, 0.6}


def test_explainers_are_drawn_by_falling_score(folder):
    table = ranked(folder).plot.data
    means = [table.filter(row=name)["value"].mean() for name in table["row"].unique(maintain_order=True)]
    assert means == sorted(means, reverse=True)


def test_an_explainer_without_a_score_is_drawn_last(folder):
    def undefined(scores):
        value = pl.when(pl.col("explainer") == "lime").then(float("nan")).otherwise("value")
        return scores.with_columns(value=value)

    drawn = rebuilt(folder, undefined).sections[0].plot.data
    assert drawn["row"].unique(maintain_order=True).to_list()[-1] == "lime"


def test_tests_of_pairs_are_folded(folder):
    fixed = {"study": "crem", "metric": "mrr", "background": 0.4, "blocks": "versions", "n_blocks": 8}
    rows = [
        {**fixed, "test": "friedman", "statistic": 7.714, "df1": 2.0, "p_value": 0.021, "p_holm": 0.084},
        {**fixed, "test": "iman_davenport", "statistic": 3.6, "df1": 2.0, "df2": 14.0, "p_value": 0.055},
        {
            **fixed,
            "test": "nemenyi",
            "first": "lime",
            "second": "shap",
            "statistic": -1.5,
            "p_value": float("nan"),
        },
        {
            **fixed,
            "test": "wilcoxon",
            "first": "lime",
            "second": "shap",
            "statistic": 3.0,
            "p_value": 0.5,
            "p_holm": 0.04,
            "background": None,
        },
    ]
    plan = json.loads((folder / "plan.json").read_text())
    scores = pl.read_parquet(folder / "results.parquet")
    view = crem.build(plan, scores, results.frame(rows, results.TESTS), {})
    found = section(view, "Are the differences real?")
    texts = [[cell.text for cell in row] for row in found.tables[0].rows]
    assert texts == [
        ["MRR, background 0.4", "Friedman chi-square", "7.714 (df 2)", "0.021", "0.084", "8 versions"],
        ["MRR, background 0.4", "Iman-Davenport F", "3.600 (df 2, 14)", "0.055", "-", "8 versions"],
        ["MRR", "Wilcoxon: lime / shap", "W 3", "0.5", "0.04", "8 versions"],
    ]
    assert [row[3].strong for row in found.tables[0].rows] == [False, False, False]
    assert [row[4].strong for row in found.tables[0].rows] == [False, False, True]
    assert "all that stand on this page at once" in found.text[1]
    (pairs,) = found.folded
    assert [cell.text for cell in pairs.rows[0]][1:4] == [
        "Nemenyi: lime / shap",
        "mean ranks apart -1.50",
        "-",
    ]


def check_well_formed(html):
    """Every tag is closed where it should be."""
    alone = {"meta", "br", "path", "use", "rect"}
    open_tags: list[str] = []

    class Checker(HTMLParser):
        def handle_starttag(self, tag, attrs):
            if tag not in alone:
                open_tags.append(tag)

        def handle_endtag(self, tag):
            if tag not in alone:
                assert open_tags.pop() == tag

        def handle_startendtag(self, tag, attrs):
            pass

    Checker().feed(html[html.index("<html") :])
    assert open_tags == []


@pytest.mark.parametrize(("which", "plots"), [("folder", 2), ("maple_folder", 4)])
def test_the_page_stands_alone_and_is_well_formed(which, plots, request):
    html = report.write(request.getfixturevalue(which)).read_text("utf-8")
    assert not re.search(r"(src|href)=[\"'](https?:)?//", html)
    assert html.count("<svg") == plots
    check_well_formed(html)


@pytest.mark.parametrize("which", ["folder", "maple_folder"])
def test_rendering_twice_gives_the_same_page(which, request):
    path = report.write(request.getfixturevalue(which))
    before = path.read_bytes()
    report.write(path.parent)
    assert path.read_bytes() == before


def test_names_are_escaped(folder):
    name = "<script>alert(1)</script>"
    html = page.render(rebuilt(folder, lambda scores: scores.with_columns(explainer=pl.lit(name))))
    assert "<script>" not in html
    assert "&lt;script&gt;alert(1)" in html


def test_failures_and_undefined_scores_are_shown(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text("def explain(predict, background, X):\n    raise ValueError('nothing to say')\n")
    run_crem(circuits=["c17"], explainers=[f"{path}:explain", "random"], sample=4, out=tmp_path / "run")
    shown = report.load(tmp_path / "run")
    assert "nothing to say" in shown.failures[0]
    html = (tmp_path / "run" / "report.html").read_text("utf-8")
    assert "nothing to say" in html
    assert ">failed<" in html


def test_a_run_whose_every_score_is_undefined_still_has_a_page(tmp_path):
    run_crem(circuits=["c17"], faults=["o2:stuck1"], explainers=["single_flip"], out=tmp_path)
    assert ">undefined<" in (tmp_path / "report.html").read_text("utf-8")


def test_a_folder_without_a_run_is_one_line(tmp_path):
    with pytest.raises(InputError, match="is this the folder of a run"):
        report.load(tmp_path)


def test_an_unknown_study_is_one_line(tmp_path):
    results.write_json({"study": "mapel", "settings": {}}, tmp_path / "plan.json")
    with pytest.raises(
        InputError, match=r"^unknown study 'mapel': did you mean 'maple'\? known: check, crem, maple$"
    ):
        report.load(tmp_path)
