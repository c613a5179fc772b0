"""The view of a check from hand-made tables: every section, column, number and title."""

from typing import Any

import polars as pl
import pytest

from scored import NAN, explained, score, table
from xassay import results
from xassay.metrics import describe
from xassay.report import page
from xassay.studies.check.judgement import JUDGEMENTS
from xassay.studies.check.measures import measures
from xassay.studies.check.outcome import COSTS, FINDINGS
from xassay.studies.check.verdict import VERDICT
from xassay.studies.check.view import BUILDER, build
from xassay.views import Section, View

NO_TESTS = pl.DataFrame(schema=results.TESTS)
OWN = "/home/me/my files/own.py:explain"


def plan(**changes: Any) -> dict[str, Any]:
    settings = {"kind": "regression", "score": "predict", "link": "identity", "seed": 3, **changes}
    return {
        "study": "check",
        "settings": settings,
        "columns": [
            {"name": "x", "kind": "numeric"},
            {"name": "y", "kind": "numeric"},
            {"name": "z", "kind": "category"},
        ],
        "label": "",
        "rows": 1200,
        "background": 1100,
        "versions": {"numpy": "2", "xassay": "1"},
    }


def view(*parts: Any, tests: pl.DataFrame = NO_TESTS, about: dict | None = None, **extra: Any) -> View:
    """The view of some rows of scores; extra tables are given as lists of rows."""
    schemas = {"judgements": JUDGEMENTS, "verdict": VERDICT, "sanity": FINDINGS, "costs": COSTS}
    tables = {name: pl.DataFrame(rows, schema=schemas[name], orient="row") for name, rows in extra.items()}
    return build(about or plan(), table(*parts), tests, tables)


def section(found: View, title: str) -> Section:
    (one,) = [one for one in found.sections if one.title == title]
    return one


def titles(found: View) -> list[str]:
    return [one.title for one in found.sections]


def cells(found: Any) -> list[tuple[str, ...]]:
    return [tuple(cell.text for cell in row) for row in found.rows]


def test_the_head_of_the_page():
    found = view(explained("a"))
    assert found.title == "Is the explanation of this model right?"
    assert found.intro == (
        (
            "How far can explanations of this model be trusted? Each explainer was asked as a user would "
            "ask it, and "
            "its explanations were compared with the model itself. Intervals are 95%, over the explained "
            "rows."
        ),
    )
    assert (found.notices, found.failures) == ((), ())
    assert view(about={**plan(), "notices": ["b", "a"]}).notices == ("b", "a")


def test_facts_of_a_plain_run():
    assert view().facts == (
        ("explained", "regression: predict"),
        ("columns", "2 numeric, 1 category"),
        ("rows explained", "1,200"),
        ("background", "1,100 rows"),
        ("seed", "3"),
        ("versions", "numpy 2, xassay 1"),
    )


def test_facts_of_a_run_with_everything():
    settings = {"model": "m.py:f", "data": "d.csv", "kind": "classification", "link": "logit"}
    about = {**plan(**settings), "label": "of 'yes'"}
    assert view(about=about).facts[:3] == (
        ("model", "m.py:f"),
        ("data", "d.csv"),
        ("explained", "classification: predict, of 'yes', logit link"),
    )
    assert view(about=plan(model=None, data="")).facts[0][0] == "explained"


# what went wrong


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([score("fidelity", 0.5)], ()),
        (
            [
                score("fidelity", None, n=3, n_failed=3, status="failed", reason="it raised"),
                score("alignment", None, n=3, n_failed=3, status="failed", reason="it raised"),
            ],
            ("a: it raised (without a value: Alignment, Fidelity)",),
        ),
        (
            [
                score("fidelity", None, n=0, status="skipped", reason="time was up"),
                score("alignment", None, n=3, n_failed=3, status="failed"),
            ],
            (
                "a: failed (without a value: Alignment)",
                "a: skipped: time was up (without a value: Fidelity)",
            ),
        ),
        (
            [
                score(metric, None, n=3, n_failed=3, status="failed", reason="it raised")
                for metric in ("fidelity", "alignment", "rows_right", "best_scale", "map")
            ],
            ("a: it raised (without a value: Alignment, Best scale, Fidelity, 2 more)",),
        ),
        (
            [score("alignment", 0.5, n_failed=2, reason="r"), score("fidelity", 0.5, n_failed=7, reason="r")],
            ("a: up to 7 rows failed: r",),
        ),
        ([score("fidelity", 0.5, n_failed=1)], ("a: up to 1 rows failed",)),
        ([score("fidelity", 0.5, OWN, n_failed=4)], ("own.py:explain: up to 4 rows failed",)),
        ([score("additive_share", None, None, status="failed")], ()),
    ],
)
def test_failures(rows, expected):
    assert view(rows).failures == expected


# the verdict


SAID = [
    {"about": "all", "text": f"Use '{OWN}'.", "recommended": False},
    {"about": "model", "text": "It is random.", "recommended": False},
    {"about": OWN, "text": f"{OWN}: faithful.", "recommended": True},
    {"about": "lime", "text": "lime: unfaithful.", "recommended": False},
]
JUDGED = [
    {"explainer": OWN, "judgement": "faithful", "rows": 30, "why": ""},
    {"explainer": "lime", "judgement": "unfaithful", "rows": 30, "why": ""},
]


def test_the_verdict_stands_first_with_short_names():
    found = view(explained("lime"), explained(OWN), verdict=SAID, judgements=JUDGED)
    first = found.sections[0]
    assert (first.title, first.terminal, first.blocks, first.plot) == ("Verdict", True, (), None)
    assert first.text == (
        (
            "Faithful: fidelity of at least 0.95, right (fidelity of at least 0.8) on at least 80% of the "
            "rows, pooled fidelity (all rows as one sum) of at least 0.9, and values that add up to the "
            "score's difference from the background within 20%. Partly: right columns with wrong values, "
            "or values that are right for another background or another way of replacing columns. "
            "Unfaithful: neither. Not judged: fewer than 10 rows, or no score."
        ),
    )
    (only,) = first.tables
    assert (only.title, only.columns) == ("", ("result",))
    assert cells(only) == [
        ("Use 'own.py:explain'.",),
        ("It is random.",),
        ("own.py:explain: faithful.",),
        ("lime: unfaithful.",),
    ]
    assert [row[0].strong for row in only.rows] == [True, False, False, False]


def test_a_name_within_another_is_not_taken_for_it():
    names = ["/a/own.py:f", "/a/own.py:fg"]
    said = [{"about": "all", "text": "Use /a/own.py:fg, not /a/own.py:f.", "recommended": False}]
    found = view(*(explained(name) for name in names), verdict=said)
    assert cells(found.sections[0].tables[0]) == [("Use own.py:fg, not own.py:f.",)]


def test_explainers_stand_in_the_order_of_the_verdict():
    rows = [explained(name) for name in ("x", "lime", OWN)]
    figures = section(view(*rows, verdict=SAID, judgements=JUDGED), "In figures")
    (block,) = figures.blocks
    assert [line.name for line in block.lines] == ["own.py:explain", "lime", "x"]
    assert [line.remarks[0].text for line in block.lines] == ["faithful", "unfaithful", "-"]
    assert [line.remarks[0].strong for line in block.lines] == [True, False, False]
    assert (block.title, block.head, block.counted) == ("Each explainer", "explainer", "rows")
    assert (block.remarks, figures.terminal, figures.text) == (("judgement",), True, ())
    unordered = section(view(*rows), "In figures").blocks[0]
    assert sorted(line.name for line in unordered.lines) == ["lime", "own.py:explain", "x"]


def test_the_first_table_shows_the_main_scores_alone():
    rows = [
        *explained("a", {"placebo_share": (0.1, 0.05, 0.2), "seed_agreement": 0.7, "mrr": 0.8}),
        score("causal_skill", 0.5, sigma=0.25),
        score("causal_skill", 0.25, sigma=0.1),
        score("mrr", 0.1, planted="swapped pair"),
        score("fidelity", 0.1, level="budget", samples=1),
    ]
    (block,) = section(view(rows), "In figures").blocks
    assert [(column.key, column.title) for column in block.columns] == [
        ("mrr", "MRR"),
        ("fidelity", "Fidelity"),
        ("rows_right", "Rows right"),
        ("causal_skill 0.1", "Causal skill, sigma 0.1"),
        ("placebo_share", "Placebo share"),
        ("seed_agreement", "Agreement between seeds"),
    ]
    (line,) = block.lines
    assert {key: one.text for key, one in line.scores.items()} == {
        "mrr": "0.800",
        "fidelity": "0.990 [0.900, 1.000]",
        "rows_right": "1.000",
        "causal_skill 0.1": "0.250",
        "placebo_share": "0.100 [0.050, 0.200]",
        "seed_agreement": "0.700",
    }


@pytest.mark.parametrize(
    ("row", "text", "counts"),
    [
        (score("fidelity", 0.5, n=1200, n_failed=2, n_undefined=3), "0.500", "1,200, 2 failed, 3 undefined"),
        (score("fidelity", NAN, n=4, n_undefined=4), "undefined", "4, 4 undefined"),
        (score("fidelity", None, n=4, n_failed=4, status="failed"), "failed", "4, 4 failed"),
        (score("fidelity", None, n=0, status="skipped"), "skipped", "0"),
        (score("fidelity", None, n=4, n_failed=4, status="timeout"), "timeout", "4, 4 failed"),
        (score("fidelity", None, n=4, n_failed=4), "failed", "4, 4 failed"),
    ],
)
def test_a_score_says_what_became_of_it(row, text, counts):
    (line,) = section(view([row]), "In figures").blocks[0].lines
    assert line.scores["fidelity"].text == text
    assert line.counts == counts
    assert line.scores["fidelity"].estimate.reason == row.get("reason")


def test_without_main_scores_there_are_no_figures():
    assert titles(view([score("alignment", 0.5)]))[:2] == ["Verdict", measures()["fidelity"].question]
    assert cells(view().sections[0].tables[0]) == []
    assert titles(view()) == ["Verdict"]


def test_runs_of_older_versions_without_further_tables():
    found = build(plan(), table(explained("a")), NO_TESTS, {})
    assert titles(found) == ["Verdict", "In figures", measures()["fidelity"].question]
    assert section(found, "In figures").blocks[0].lines[0].remarks[0].text == "-"
    assert BUILDER.extra == {
        "judgements": tuple(JUDGEMENTS),
        "verdict": tuple(VERDICT),
        "sanity": tuple(FINDINGS),
        "costs": tuple(COSTS),
    }


# checks of the model


def test_checks_of_the_model():
    rows = [
        {"check": "c", "passed": True, "found": "equal on 1,200 rows", "meaning": "", "rows": 1200},
        {"check": "d", "passed": False, "found": "differs", "meaning": "it is random", "rows": None},
        {"check": "e", "passed": True, "found": "equal on 8 rows", "meaning": "", "rows": 8},
    ]
    found = section(view(sanity=rows), "Checks of the model, before anything was explained")
    (only,) = found.tables
    assert (only.title, only.columns) == ("", ("check", "passed", "found", "what it means"))
    assert cells(only) == [
        ("c", "yes", "equal on 1,200 rows", ""),
        ("d", "no", "differs", "it is random"),
        ("e", "yes", "equal on 8 rows", ""),
    ]
    strong = [[cell.strong for cell in row] for row in only.rows]
    assert strong == [[False] * 4, [False, True, False, False], [False] * 4]
    assert found.terminal is False
    assert titles(view(sanity=[])) == ["Verdict"]


# a section a measure


PLAIN = [one for one in measures().values() if one.sectioned]


@pytest.mark.parametrize("measure", PLAIN, ids=lambda one: one.name)
def test_every_measure_has_its_section(measure):
    rows = [score(metric, 0.123456) for metric in measure.shown]
    found = section(view(rows), measure.question)
    assert (found.text, found.terminal, found.tables) == ((measure.how,), False, ())
    parts = measure.parts or {"": measure.shown}
    assert [block.title for block in found.blocks] == list(parts)
    for block, metrics in zip(found.blocks, parts.values(), strict=True):
        assert [column.key for column in block.columns] == list(metrics)
        assert [column.title for column in block.columns] == [describe(m).full_name for m in metrics]
        assert (block.head, block.counted, block.remarks) == ("explainer", "rows", ())
        (line,) = block.lines
        assert set(line.scores) == set(metrics)
    assert (found.plot is not None) == (measure.name == "fidelity")


@pytest.mark.parametrize(
    ("metric", "text"),
    [
        ("masking_rmse", "1,230"),
        ("causal_rmse", "1,230"),
        ("deletion_area", "1,230"),
        ("insertion_area", "1,230"),
        ("pgi", "1,230"),
        ("pgu", "1,230"),
        ("comprehensiveness", "1,230"),
        ("sufficiency", "1,230"),
        ("local_lipschitz", "1,230"),
        ("best_scale", "1,230"),
        ("max_sensitivity", "1234.568"),
        ("ela", "1234.568"),
        ("fidelity", "1234.568"),
    ],
)
def test_scores_in_a_unit_have_three_digits(metric, text):
    (measure,) = [one for one in PLAIN if metric in one.shown]
    found = section(view([score(metric, 1234.5678)]), measure.question)
    assert found.blocks[0].lines[0].scores[metric].text == text


def test_several_sigmas_are_several_columns():
    rows = [score("causal_skill", value, sigma=sigma) for sigma, value in ((0.25, 0.5), (0.1, 0.75))]
    (block,) = section(view(rows), measures()["causal"].question).blocks
    assert [(column.key, column.title) for column in block.columns] == [
        ("causal_skill 0.1", "Causal skill, sigma 0.1"),
        ("causal_skill 0.25", "Causal skill, sigma 0.25"),
    ]
    assert block.lines[0].scores["causal_skill 0.25"].estimate.value == 0.5


def test_kinds_of_planted_rows_are_tables_of_their_own():
    rows = [
        score("mrr", 0.9),
        score("mrr", 0.8, planted="swapped pair"),
        score("map", 0.7, planted="swapped pair"),
        score("mrr", 0.6, planted="out of range"),
    ]
    found = section(view(rows), measures()["planted"].question)
    assert [block.title for block in found.blocks] == ["", "Out of range", "Swapped pair"]
    assert [[column.key for column in block.columns] for block in found.blocks] == [
        ["mrr"],
        ["mrr"],
        ["mrr", "map"],
    ]
    assert [block.lines[0].scores["mrr"].estimate.value for block in found.blocks] == [0.9, 0.6, 0.8]
    assert found.plot is None


def test_the_models_own_scores():
    rows = [
        score("planted_noticed", (0.5, 0.25, 0.75), None, n=1240, n_failed=3, n_undefined=7),
        score("planted_noticed", 0.25, None, planted="swapped pair", n=20),
        score("mrr", 0.9),
    ]
    found = section(view(rows), measures()["planted"].question)
    (facts,) = found.tables
    assert (facts.title, facts.columns) == ("The model itself", ("score", "value", "rows"))
    assert cells(facts) == [
        ("Planted anomalies noticed", "0.500 [0.250, 0.750]", "1,230"),
        ("Planted anomalies noticed, swapped pair", "0.250", "20"),
    ]
    moved = [score("model_change", 0.01, None, sigma=0.25, n=5)]
    stability = section(view(moved), measures()["stability"].question)
    assert cells(stability.tables[0]) == [("Change of the model's score, sigma 0.25", "0.010", "5")]
    assert stability.blocks == ()


def test_fidelity_is_drawn():
    rows = [
        *explained("b", {"rows_right": (0.5, 0.4, 0.6)}),
        *explained(OWN),
        score("fidelity", 0.2, level="budget", samples=1),
    ]
    found = section(view(rows, verdict=SAID), measures()["fidelity"].question)
    plot = found.plot
    assert plot is not None
    assert (plot.kind, plot.x_label, plot.limits, plot.caption, plot.y_label) == (
        "dots",
        "score",
        (0.0, 1.0),
        "",
        "",
    )
    assert plot.data.drop("published").rows() == [
        ("Rows right", "own.py:explain", "score", 1.0, None, None),
        ("Rows right", "b", "score", 0.5, 0.4, 0.6),
        ("Fidelity", "own.py:explain", "score", 0.99, 0.9, 1.0),
        ("Fidelity", "b", "score", 0.99, 0.9, 1.0),
    ]
    assert plot.data.columns == ["panel", "row", "series", "value", "low", "high", "published"]
    assert section(view([score("alignment", 1.0)]), measures()["fidelity"].question).plot is None


# samples, costs, tests


def budget(name, samples, value, n=20):
    return score("fidelity", value, name, level="budget", samples=samples, n=n)


def test_fidelity_by_the_number_of_samples():
    rows = [
        *explained("a"),
        *explained("b"),
        budget("a", 4000, (0.9, 0.8, 1.0), n=1200),
        budget("a", 250, 0.5),
        budget("a", 1000, 0.75),
        budget("b", 10, 0.1),
    ]
    found = section(view(rows), "Are there enough samples?")
    assert (found.text, found.terminal) == ((measures()["convergence"].how,), False)
    (only,) = found.tables
    assert (only.title, only.columns) == ("", ("explainer", "samples", "fidelity", "rows"))
    assert cells(only) == [
        ("a", "250", "0.500", "20"),
        ("a", "1,000", "0.750", "20"),
        ("a", "4,000", "0.900 [0.800, 1.000]", "1,200"),
    ]
    # one number of samples is no curve
    assert "Are there enough samples?" not in titles(view(explained("b"), [budget("b", 10, 0.1)]))
    other_metric = [{**budget("a", k, 0.1), "metric": "alignment"} for k in (1, 2)]
    assert "Are there enough samples?" not in titles(view(explained("a"), other_metric))


def cost(name, seconds, rows=5):
    return {"explainer": name, "seconds_a_row": seconds, "rows": rows}


def test_costs():
    rows = [
        *explained("a", {"model_calls": 12345.6}),
        *explained("b", {"model_calls": ...}),
        *explained("c"),
        *explained("d", {"model_calls": NAN}),
    ]
    found = section(
        view(rows, costs=[cost("a", 0.0468), cost("b", 2.0), cost("c", None), cost("d", 0.00058)]),
        "What do they cost?",
    )
    assert (found.text, found.terminal) == ((measures()["cost"].how,), False)
    (only,) = found.tables
    assert (only.title, only.columns) == ("", ("explainer", "time", "model calls"))
    assert cells(only) == [("a", "47 ms", "12,346"), ("b", "2,000 ms", "-"), ("d", "0.58 ms", "-")]
    assert "What do they cost?" not in titles(view(explained("a"), costs=[]))


def a_test(metric="fidelity", statistic=0.25, p=0.01, **others):
    row = {"metric": metric, "first": "a", "second": OWN, "statistic": statistic, "p_holm": p}
    return results.frame([{**row, "n_blocks": 1200, "p_value": 1.0, **others}], results.TESTS)


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        (a_test(), ("Fidelity", "a", "own.py:explain", "0.250", "a", "0.01", "1,200")),
        (
            a_test(statistic=-0.25),
            ("Fidelity", "a", "own.py:explain", "-0.250", "own.py:explain", "0.01", "1,200"),
        ),
        (
            a_test("masking_rmse"),
            ("Masking RMSE", "a", "own.py:explain", "0.250", "own.py:explain", "0.01", "1,200"),
        ),
        (
            a_test("masking_rmse", -0.25),
            ("Masking RMSE", "a", "own.py:explain", "-0.250", "a", "0.01", "1,200"),
        ),
        (a_test(p=0.05), ("Fidelity", "a", "own.py:explain", "0.250", "-", "0.05", "1,200")),
        (a_test(p=0.0499), ("Fidelity", "a", "own.py:explain", "0.250", "a", "0.05", "1,200")),
        (a_test(p=NAN), ("Fidelity", "a", "own.py:explain", "0.250", "-", "-", "1,200")),
        (a_test(p=None), ("Fidelity", "a", "own.py:explain", "0.250", "-", "-", "1,200")),
        (a_test(statistic=NAN, p=NAN), ("Fidelity", "a", "own.py:explain", "-", "-", "-", "1,200")),
        (
            a_test("causal_rmse", sigma=0.1),
            ("Causal RMSE, sigma 0.1", "a", "own.py:explain", "0.250", "own.py:explain", "0.01", "1,200"),
        ),
        (a_test(second="gone"), ("Fidelity", "a", "gone", "0.250", "a", "0.01", "1,200")),
        (a_test(second="gone", statistic=-1.0), ("Fidelity", "a", "gone", "-1.00", "gone", "0.01", "1,200")),
        (a_test(first="gone"), ("Fidelity", "gone", "own.py:explain", "0.250", "gone", "0.01", "1,200")),
    ],
)
def test_tests_of_pairs(test, expected):
    found = section(view(explained("a"), explained(OWN), tests=test), "Is the difference real?")
    (only,) = found.folded
    assert cells(only) == [expected]
    assert (found.terminal, found.tables, found.text) == (False, (), ())
    assert only.title == (
        "Permutation test of each pair's difference of scores, on the same rows; p by Holm over all rows "
        "of this table"
    )
    assert only.columns == ("metric", "first", "second", "difference", "better", "p, Holm", "rows")
    assert only.rows[0][5].strong == (expected[4] != "-")


# all of it


def everything() -> View:
    rows = [
        *explained("a", {one: 0.5 for measure in PLAIN for one in measure.shown}),
        *(score(one, 0.5, None) for measure in PLAIN for one in measure.of_the_model),
        budget("a", 10, 0.1),
        budget("a", 20, 0.2),
    ]
    sanity = [{"check": "c", "passed": False, "found": "<f>", "meaning": "m", "rows": 5}]
    said = [{"about": "all", "text": "Use <a>.", "recommended": False}]
    return view(rows, tests=a_test(), verdict=said, sanity=sanity, costs=[cost("a", 1.0)])


def test_the_order_of_sections_and_what_the_terminal_shows():
    found = everything()
    assert titles(found) == [
        "Verdict",
        "In figures",
        "Checks of the model, before anything was explained",
        *(measure.question for measure in PLAIN),
        "Are there enough samples?",
        "What do they cost?",
        "Is the difference real?",
    ]
    assert [one.title for one in found.sections if one.terminal] == ["Verdict", "In figures"]


def test_the_page_shows_it_all():
    html = page.render(everything())
    for title in titles(everything()):
        assert title.replace("'", "&#39;") in html
    assert "Use &lt;a&gt;." in html
    assert html.count("<svg") == 1
