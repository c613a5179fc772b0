"""The view holds the saved numbers, the page shows them and needs nothing else."""

import json
import re
from html.parser import HTMLParser

import polars as pl
import pytest

from xassay import report, run_crem
from xassay.errors import InputError
from xassay.report import plot, view


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


def test_the_view_repeats_the_saved_scores_and_adds_none(folder):
    saved = pl.read_parquet(folder / "results.parquet").filter(level="circuit", noise=0.0, background=0.6)
    block = next(block for block in report.load(folder).correctness if block.title == "c17, background 0.6")
    shown = {
        (line.explainer, metric): score.value for line in block.lines for metric, score in line.scores.items()
    }
    assert shown == {
        (row["explainer"], row["metric"]): row["value"]
        for row in saved.iter_rows(named=True)
        if row["metric"] in dict(block.columns) or (row["explainer"], row["metric"]) in shown
    }


def test_the_difference_is_ours_minus_published(folder):
    block = next(block for block in report.load(folder).correctness if block.title.endswith("0.6"))
    score = next(line for line in block.lines if line.explainer.startswith("lime")).scores["mrr"]
    assert score.published == 0.655
    assert score.difference == pytest.approx(score.value - 0.655)
    assert f"({score.difference:+.3f})" in score.beside


def test_the_best_background_is_the_one_with_the_highest_score(folder):
    saved = pl.read_parquet(folder / "results.parquet").filter(level="circuit", noise=0.0, metric="map")
    for best in report.load(folder).best:
        if best.metric == "MAP":
            assert best.value == saved.filter(explainer=best.explainer)["value"].max()
    assert len(report.load(folder).best) == 9


def test_robustness_has_a_column_a_noise_level(folder):
    titles = [block.title for block in report.load(folder).robustness]
    assert any(title.startswith("ELA, c17") for title in titles)
    assert report.load(folder).robustness[0].columns == (("2", "2 noise columns"),)


def test_the_page_stands_alone_and_is_well_formed(folder):
    page = (folder / "report.html").read_text("utf-8")
    assert not re.search(r"(src|href)=[\"'](https?:)?//", page)
    assert page.count("<svg") == 2
    open_tags: list[str] = []

    class Checker(HTMLParser):
        def handle_starttag(self, tag, attrs):
            if tag not in {"meta", "br", "path", "use", "rect"}:
                open_tags.append(tag)

        def handle_endtag(self, tag):
            if tag not in {"path", "use", "rect"}:
                assert open_tags.pop() == tag

        def handle_startendtag(self, tag, attrs):
            pass

    Checker().feed(page[page.index("<html") :])
    assert open_tags == []


def test_rendering_twice_gives_the_same_page(folder):
    before = (folder / "report.html").read_bytes()
    report.write(folder)
    assert (folder / "report.html").read_bytes() == before


def test_names_are_escaped(folder):
    plan = json.loads((folder / "plan.json").read_text())
    scores = pl.read_parquet(folder / "results.parquet").with_columns(
        explainer=pl.lit("<script>alert(1)</script>")
    )
    plan["notices"] = ["a < b"]
    page = report.page.render(view.build(plan, scores, pl.read_parquet(folder / "tests.parquet")))
    assert "<script>" not in page
    assert "a &lt; b" in page


@pytest.mark.parametrize(
    ("value", "low", "expected"),
    [
        (0.5, 0.4, "0.500 [0.400, 0.600]"),
        (0.5, None, "0.500"),
        (float("nan"), None, "undefined"),
        (None, None, "failed"),
    ],
)
def test_a_score_reads_as_what_it_is(value, low, expected):
    score = view.Score(value, low, None if low is None else 0.6, None, 10, 0, 0, None)
    assert score.text == expected
    assert score.beside == ""


def test_failures_and_undefined_scores_are_shown(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text("def explain(predict, background, X):\n    raise ValueError('nothing to say')\n")
    run_crem(circuits=["c17"], explainers=[f"{path}:explain", "random"], sample=4, out=tmp_path / "run")
    shown = report.load(tmp_path / "run")
    assert "nothing to say" in shown.failures[0]
    assert "nothing to say" in (tmp_path / "run" / "report.html").read_text("utf-8")


def test_a_run_whose_every_score_is_undefined_still_has_a_page(tmp_path):
    run_crem(circuits=["c17"], faults=["o2:stuck1"], explainers=["single_flip"], out=tmp_path)
    assert "undefined" in (tmp_path / "report.html").read_text("utf-8")


def test_plots_draw_what_the_view_hands_them(folder):
    shown = report.load(folder)
    svg = plot.scores_svg(shown.points)
    for name in shown.points["explainer"].unique():
        assert name in svg
    assert set(shown.curves["background"]) == {0.4, 0.6}


def test_a_folder_without_a_run_is_one_line(tmp_path):
    with pytest.raises(InputError, match="is this the folder of a run"):
        report.load(tmp_path)
