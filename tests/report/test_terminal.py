"""Tables fit the terminal and say what the view says."""

import io

import pytest
from rich.console import Console

from xassay import report, terminal
from xassay.estimates import Estimate
from xassay.views import Block, Cell, Column, Line, Plot, Score, Section, Table, View

LONG = "/home/someone/work/explainers/mine.py:explain:neighbourhood=a/b:n_samples=10000"


def printed(view, width):
    out = io.StringIO()
    terminal.print_view(view, Console(file=out, width=width, highlight=False))
    return out.getvalue()


def view_of(*blocks, tables=(), notices=(), failures=(), **options):
    return View("", (), (), notices, failures, (Section("", blocks=blocks, tables=tables, **options),))


def block(columns=("a",), lines=1):
    scores = {name: Score(Estimate(0.5, (0.4, 0.6), n=10), published=0.7) for name in columns}
    made = tuple(Column(name, name) for name in columns)
    return Block("title", "head", made, tuple(Line(f"line{k}", scores) for k in range(lines)))


@pytest.mark.parametrize("width", [80, 100, 120])
@pytest.mark.parametrize("explainers", [("maple", "lime"), ("maple", "lime", "c", "d", LONG, "e")])
def test_no_line_is_wider_than_the_terminal_and_no_score_is_broken(width, explainers, maple_run, tmp_path):
    view = report.load(maple_run(explainers=explainers).write(tmp_path))
    text = printed(view, width)
    lines = [line.rstrip() for line in text.splitlines()]
    assert max(map(len, lines)) <= width
    assert text.count("[") == text.count("]")
    assert all(line.count("[") == line.count("]") and line.count("(") == line.count(")") for line in lines)
    for section in view.sections:
        for each in section.blocks:
            for line in each.lines:
                for column in each.columns:
                    assert line.scores[column.key].figure in text


def test_two_explainers_on_eight_tables_are_one_table_in_a_hundred_columns(maple_run, tmp_path):
    view = report.load(maple_run(experiments=("blackbox",), sigmas=(0.1,)).write(tmp_path))
    lines = printed(view, 100).splitlines()
    assert lines[0] == "svr explained, sigma 0.1, 6 trials"
    assert lines[1].split() == ["maple", "lime"]
    assert lines[2].split() == ["data", "set", "RMSE", "skill", "RMSE", "skill", "better", "(p)"]
    # a heading, two lines of column names, each table with its published figures, one notice
    assert len(lines) == 3 + 16 + 1


def test_a_block_too_wide_is_split_and_every_part_names_its_rows():
    text = printed(view_of(block([f"column{k}" for k in range(6)], lines=2)), 80)
    assert text.count("title") == 1
    assert text.count("line0") == text.count("line1") == text.count("head") == 2
    assert [text.count(f"column{k}") for k in range(6)] == [1] * 6
    assert text.count("0.500 [.400, .600]") == text.count("0.700 (-0.200)") == 12


def test_a_part_without_published_figures_does_not_speak_of_them():
    scores = {"a": Score(Estimate(0.5, n=1), published=0.7), "b": Score(Estimate(0.5, n=1))}
    columns = (Column("a", "a" * 20), Column("b", "b" * 20))
    text = printed(view_of(Block("", "", columns, (Line("line", scores),))), 45)
    first, second = text.split("b" * 20)
    assert "published (diff.)" in first
    assert "published (diff.)" not in second


def test_columns_may_be_left_to_the_page_or_shown_without_bounds():
    scores = {name: Score(Estimate(0.5, (0.4, 0.6), n=1)) for name in "abc"}
    columns = (Column("a", "first"), Column("b", "second", brief=True), Column("c", "third", terminal=False))
    lines = printed(view_of(Block("", "", columns, (Line("line", scores),))), 80).splitlines()
    assert lines[1].split() == ["first", "second"]
    assert lines[2].split() == ["line", "0.500", "[.400,", ".600]", "0.500"]


@pytest.mark.parametrize(
    ("counts", "expected"),
    [((10, 10), "title, 10 trials"), ((1, 1), "title, 1 trial"), ((10, 9), "title")],
)
def test_counts_stand_in_the_title_where_all_are_alike(counts, expected):
    lines = tuple(Line(f"line{k}", {"a": Score(Estimate(0.5, n=n))}) for k, n in enumerate(counts))
    text = printed(view_of(Block("title", "", (Column("a", "a"),), lines, "trials")), 80)
    assert text.splitlines()[0] == expected
    assert ("trials" in text.splitlines()[1]) == (counts[0] != counts[1])


def test_failed_undefined_and_absent_scores():
    found = {"a": Estimate(None, n=9, n_failed=9), "b": Estimate(float("nan"), n=9, n_undefined=9)}
    scores = {name: Score(one) for name, one in found.items()}
    columns = tuple(Column(name, name) for name in "abc")
    text = printed(view_of(Block("title", "", columns, (Line("line", scores),))), 80)
    assert text.splitlines()[0] == "title, 9 explanations, 9 failed, 9 undefined"
    assert text.splitlines()[2].split() == ["line", "failed", "undefined"]


def test_remarks_and_tables_are_printed_after_the_scores():
    line = Line("line", {"a": Score(Estimate(0.5, n=1))}, remarks=(Cell("maple (0.01)", strong=True),))
    made = Block("", "", (Column("a", "a"),), (line,), remarks=("better (p)",))
    table = Table("pairs", ("first", "second"), ((Cell("x"), Cell("y")),))
    lines = printed(view_of(made, tables=(table,)), 80).splitlines()
    assert lines[1].split() == ["a", "better", "(p)"]
    assert lines[2].split() == ["line", "0.500", "maple", "(0.01)"]
    assert [line.strip() for line in lines[3:]] == ["pairs", "first  second", "x      y"]


def test_a_section_may_be_left_to_the_page():
    assert printed(view_of(block(), terminal=False), 80) == ""


def test_markup_in_names_is_text():
    name = "[red]x[/red] <b>"
    line = Line(name, {"a": Score(Estimate(0.5, n=1))}, remarks=(Cell(name),))
    made = Block(name, name, (Column("a", name, group=name),), (line,), remarks=(name,))
    table = Table(name, (name,), ((Cell(name, strong=True),),))
    text = printed(view_of(made, tables=(table,), notices=(name,)), 120)
    assert text.count(name) == 11


def test_failures_are_on_standard_error_and_notices_are_not(capsys):
    view = view_of(notices=("sampled [down]",), failures=("lime [a]: no",))
    terminal.print_failures(view)
    terminal.print_view(view)
    captured = capsys.readouterr()
    assert captured.err == "failed: lime [a]: no\n"
    assert captured.out == "note: sampled [down]\n"


def test_plots_are_left_to_the_page(maple_folder):
    view = report.load(maple_folder)
    assert all(isinstance(section.plot, Plot) for section in view.sections)
    assert "Dots are means" not in printed(view, 100)
