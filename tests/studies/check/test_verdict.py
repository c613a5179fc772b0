"""From hand-made scores to the sentences of a verdict: exact texts, at both sides of every threshold."""

import polars as pl
import pytest

from scored import NAN, explained, score, table
from xassay import results
from xassay.studies.check import causes, thresholds, words
from xassay.studies.check.planting import KINDS, SEVERAL, SHIFT, SWAPPED, WRONG
from xassay.studies.check.verdict import VERDICT, Found, verdict

BAD = {"fidelity": 0.2, "rows_right": 0.0, "fidelity_pooled": 0.1, "alignment": 0.1, "completeness_gap": 0.1}
PARTLY = {**BAD, "alignment": 0.8}
BAD_FIGURES = "fidelity 0.20, right on 0% of 100 rows, pooled fidelity 0.10"
NAMES = "names the right columns (alignment 0.80), not the right values"
USE = "Use a (100 model calls a row): it is faithful (fidelity 0.99, 95% interval 0.90 to 1.00; right "
USE += "on 100% of "
USE_A = f"{USE}100 rows)."
LINE_A = "a: faithful: fidelity 0.99, right on 100% of 100 rows."
NO_TESTS = pl.DataFrame(schema=results.TESTS)


def said(*parts, seconds=None, findings=(), baselines=(), tests=NO_TESTS, **others):
    """The verdict of some rows of scores."""
    own = table(*parts)
    found = Found(own, seconds or {}, findings, frozenset(baselines), tests, **others)
    return verdict(found)


def texts(*parts, **others):
    return [row["text"] for row in said(*parts, **others).sentences]


def of_model(metric, value, **others):
    return [score(metric, value, None, **others)]


def skipped(name, reason="the run's time was up"):
    return [score("fidelity", None, name, n=0, status="skipped", reason=reason)]


def failed(name, reason="it raised"):
    return [score("fidelity", None, name, n=30, n_failed=30, status="failed", reason=reason)]


# what to do


def test_use_the_faithful_one():
    made = said(explained("a"), explained("b", BAD))
    assert [row["text"] for row in made.sentences] == [
        USE_A,
        LINE_A,
        f"b: unfaithful: {BAD_FIGURES}, alignment 0.10.",
    ]
    assert [row["about"] for row in made.sentences] == ["all", "a", "b"]
    assert [row["recommended"] for row in made.sentences] == [False, True, False]
    assert all(set(row) == set(VERDICT) for row in made.sentences)
    assert made.recommended == "a"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"model_calls": ...}, "Use a: it is faithful (fidelity 0.99, 95% interval 0.90 to 1.00; "),
        ({"model_calls": 19504.4}, "Use a (19,504 model calls a row): it is faithful (fidelity 0.99, "),
        ({"fidelity": 0.99}, "Use a (100 model calls a row): it is faithful (fidelity 0.99; right on 100% "),
        ({"rows_right": 0.8}, f"{USE}".replace("100% of ", "80% of 100 rows).")),
        (
            {"fidelity": (0.95, 0.61, 0.97)},
            "Use a (100 model calls a row): it is faithful (fidelity 0.95, 95% ",
        ),
        (
            {"fidelity": (0.95, 0.61, 0.97)},
            "Use a (100 model calls a row): it is faithful (fidelity 0.95, 95% interval 0.61 to 0.97; ",
        ),
    ],
)
def test_what_stands_beside_the_recommendation(changes, expected):
    assert texts(explained("a", changes))[0].startswith(expected)


@pytest.mark.parametrize(
    ("names", "also"),
    [
        (["a"], ""),
        (["a", "b"], " b (200 model calls a row) is faithful too."),
        (["a", "b", "c"], " b (200 model calls a row) and c (200 model calls a row) are faithful too."),
        (
            ["a", "b", "my own"],
            " b (200 model calls a row) and 'my own' (200 model calls a row) are faithful too.",
        ),
    ],
)
def test_others_that_are_faithful(names, also):
    rows = [explained(name, {"model_calls": 100.0 if name == "a" else 200.0}) for name in names]
    assert texts(*rows)[0] == USE_A + also


def test_names_with_spaces_are_quoted_within_sentences():
    found = texts(explained("my own", {"model_calls": ...}), failed("b c"))
    assert found[0].startswith("Use 'my own': it is faithful")
    assert found[1] == "Not judged: 'b c' (failed on all 30 rows: it raised)."
    assert found[2].startswith("my own: faithful: ")


@pytest.mark.parametrize(
    ("n", "rare"),
    [
        (58, " Kinds of rows that make up less than 5% of the data may be missing among these 58."),
        (59, ""),
        (30, " Kinds of rows that make up less than 10% of the data may be missing among these 30."),
        (10, " Kinds of rows that make up less than 26% of the data may be missing among these 10."),
    ],
)
def test_rare_kinds_of_rows(n, rare):
    assert texts(explained("a", n=n))[0] == f"{USE}{n} rows).{rare}"


def a_test(first="a", second="b", p=0.01, statistic=-0.0015, metric="fidelity"):
    row = {"metric": metric, "first": first, "second": second, "p_holm": p, "statistic": statistic}
    return results.frame([row], results.TESTS)


HIGHER = " The fidelity of b is higher by 0.0015, which is measurable and small."


@pytest.mark.parametrize(
    ("test", "more"),
    [
        (a_test(), HIGHER),
        (a_test("b", "a", statistic=0.0015), HIGHER),
        (a_test(p=0.0499), HIGHER),
        (a_test(p=0.05), ""),
        (a_test(p=NAN), ""),
        (a_test(p=None), ""),
        (a_test(statistic=0.0015), ""),
        (a_test(statistic=0.0), ""),
        (a_test("b", "a", statistic=-0.0015), ""),
        (a_test(metric="fidelity_pooled"), ""),
        (a_test("a", "c"), ""),
        (a_test("c", "b"), ""),
    ],
)
def test_a_test_that_finds_another_one_better_is_not_contradicted(test, more):
    rows = [explained("a"), explained("b", {"model_calls": 200.0}), explained("c", BAD)]
    first = texts(*rows, tests=test)[0]
    assert first == f"{USE_A} b (200 model calls a row) is faithful too.{more}"


SUMS = "attributions can show only 49% of how this model uses its columns"


@pytest.mark.parametrize(
    ("model", "caution"),
    [
        (of_model("additive_share", 0.49), f" Caution: {SUMS}."),
        (of_model("additive_share", 0.5), ""),
        (of_model("additive_share", NAN), ""),
        (of_model("off_data_alarm", 1.0), " Caution: off the data the model follows another rule."),
        (of_model("off_data_alarm", 0.0), ""),
        (
            [*of_model("additive_share", 0.49), *of_model("off_data_alarm", 1.0)],
            f" Caution: {SUMS}; off the data the model follows another rule.",
        ),
        (of_model("separability", 1.0), ""),
    ],
)
def test_what_bounds_any_explanation_is_said_with_the_recommendation(model, caution):
    assert texts(explained("a"), model)[0] == USE_A + caution


@pytest.mark.parametrize(
    ("changes", "caution"),
    [
        ({"placebo_share": 0.1}, " Caution: it puts 10% of its weight on columns that do nothing."),
        ({"placebo_share": 0.09}, ""),
        (
            {"placebo_share": 0.2, "seed_agreement": 0.8},
            (
                " Caution: it puts 20% of its weight on columns that do nothing; 80% of the explanation "
                "stays the same under another seed."
            ),
        ),
    ],
)
def test_caveats_stand_with_the_recommendation(changes, caution):
    assert texts(explained("a", changes))[0] == USE_A + caution


def test_what_speaks_against_the_explainer_comes_before_what_bounds_any():
    found = texts(explained("a", {"placebo_share": 0.1}), of_model("additive_share", 0.49))
    assert found[0] == f"{USE_A} Caution: it puts 10% of its weight on columns that do nothing; {SUMS}."


# nobody is faithful


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (
            [explained("a", BAD)],
            "None of these explanations is faithful to this model, not even in part: do not use them.",
        ),
        (
            [explained("a", BAD), explained("b c", PARTLY), explained("d", PARTLY)],
            (
                "None of these explanations is faithful to this model: do not use their values as they "
                f"are. Partly right: 'b c' {NAMES}; d {NAMES}."
            ),
        ),
        (
            [explained("a", BAD), skipped("b")],
            (
                "None of the explanations that could be judged is faithful to this model, not even in "
                "part: do not use them."
            ),
        ),
        (
            [explained("a", PARTLY), explained("b", n=9)],
            (
                "None of the explanations that could be judged is faithful to this model: do not use "
                f"their values as they are. Partly right: a {NAMES}."
            ),
        ),
    ],
)
def test_nobody_is_faithful(rows, expected):
    made = said(*rows)
    assert made.sentences[0]["text"] == expected
    assert made.recommended is None
    assert not any(row["recommended"] for row in made.sentences)


@pytest.mark.parametrize(
    ("baselines", "more"),
    [
        (["x"], " The baseline that is faithful here: x."),
        (["x", "y z"], " The baselines that are faithful here: x and 'y z'."),
    ],
)
def test_a_faithful_baseline_is_named_and_not_recommended(baselines, more):
    rows = [explained(name) for name in baselines]
    made = said(explained("a", BAD), *rows, baselines=baselines)
    assert made.sentences[0]["text"] == (
        f"None of these explanations is faithful to this model, not even in part: do not use them.{more}"
    )
    assert made.recommended is None
    assert [one.explainer for one in made.judged] == ["a", *baselines]
    assert made.sentences[-1]["text"].startswith(f"{baselines[-1]} (baseline): faithful: ")


@pytest.mark.parametrize(
    ("rows", "baselines", "expected"),
    [
        (
            [explained("random", BAD), explained("z score", BAD)],
            ["random", "z score"],
            "There is no explainer to judge: only baselines took part (random and 'z score').",
        ),
        ([], [], "There is no explainer to judge: only baselines took part (nobody)."),
        (
            [failed("a"), failed("b")],
            [],
            "No explainer could be judged on this model: failed on all 30 rows: it raised.",
        ),
        (
            [failed("a"), skipped("b c")],
            [],
            (
                "No explainer could be judged on this model: a (failed on all 30 rows: it raised); 'b c' "
                "(skipped: the run's time was up)."
            ),
        ),
        (
            [skipped("a"), explained("random")],
            ["random"],
            "No explainer could be judged on this model: skipped: the run's time was up.",
        ),
        (
            [[score("mrr", 0.9)]],
            [],
            (
                "No explainer could be judged on this model: fidelity was not measured, and judgements "
                "rest on it."
            ),
        ),
    ],
)
def test_there_is_nothing_to_judge(rows, baselines, expected):
    made = said(*rows, baselines=baselines)
    assert made.sentences[0]["text"] == expected
    assert sum(row["about"] == "all" for row in made.sentences) == 1
    assert made.recommended is None


def test_not_judged_too_few_and_judged_bad_are_three_things():
    found = texts(
        explained("a"), explained("bad", BAD), explained("few", BAD, n=9), skipped("late"), failed("broken")
    )
    assert found == [
        USE_A,
        (
            "Not judged: few (9 of 9 rows could be judged, 10 are needed); broken (failed on all 30 rows: "
            "it raised); late (skipped: the run's time was up)."
        ),
        LINE_A,
        f"bad: unfaithful: {BAD_FIGURES}, alignment 0.10.",
        "few: not judged: 9 of 9 rows could be judged, 10 are needed.",
        "broken: not judged: failed on all 30 rows: it raised.",
        "late: not judged: skipped: the run's time was up.",
    ]


def test_a_baseline_that_is_not_judged_is_no_news():
    found = texts(explained("a"), failed("random"), baselines=["random"])
    assert found[:2] == [USE_A, LINE_A]
    assert found[2] == "random (baseline): not judged: failed on all 30 rows: it raised."


def test_the_best_come_first_and_baselines_last():
    made = said(
        explained("worse", {**BAD, "fidelity": 0.1}),
        explained("bad", BAD),
        explained("late", n=3),
        explained("partly", PARTLY),
        explained("better", {"fidelity": 0.999}),
        explained("good"),
        explained("also good"),
        explained("random", {"fidelity": 1.0}),
        baselines=["random"],
    )
    order = ["better", "also good", "good", "partly", "bad", "worse", "late", "random"]
    assert [one.explainer for one in made.judged] == order
    assert [row["about"] for row in made.sentences if row["about"] != "all"] == order


# of the model


def finding(passed, check="the same answer twice", meaning="the model itself is random"):
    return {"check": check, "passed": passed, "found": "differs by up to 2", "meaning": meaning, "rows": 3}


def test_checks_that_the_model_did_not_pass():
    found = texts(explained("a"), findings=[finding(passed=True), finding(passed=False)])
    assert found[:2] == [
        f"{USE_A} Caution: the model did not pass 1 of 2 checks (the same answer twice).",
        'Check of the model, "the same answer twice": differs by up to 2: the model itself is random.',
    ]
    two = texts(explained("a", BAD), findings=[finding(passed=False), finding(False, "b", "")])  # noqa: FBT003
    assert "Caution" not in two[0]
    assert two[1:3] == [
        'Check of the model, "the same answer twice": differs by up to 2: the model itself is random.',
        'Check of the model, "b": differs by up to 2.',
    ]
    assert len(two) == 4


def test_checks_that_it_passed_are_not_spoken_of():
    assert texts(explained("a"), findings=[finding(passed=True)]) == [USE_A, LINE_A]


@pytest.mark.parametrize(
    ("metric", "value", "expected"),
    [
        (
            "additive_share",
            0.9499,
            (
                "Even the best possible attributions show only 94.99% of how this model uses its columns: "
                "the rest is "
                "interactions of columns, which one number a column cannot show."
            ),
        ),
        ("additive_share", 0.95, None),
        (
            "off_data_alarm",
            1.0,
            (
                "The model follows one rule on real rows and another on rows with replaced columns "
                "(surrogates of either fail on the other). Explainers ask about such rows: they may not "
                "show what the model does on your data."
            ),
        ),
        ("off_data_alarm", 0.0, None),
        ("off_data_alarm", NAN, None),
        (
            "separability",
            0.9,
            (
                "Rows with replaced columns are unlike the data (a classifier tells them apart with AUC "
                "0.90): explanations also describe the model where there are no data."
            ),
        ),
        ("separability", 0.899, None),
        ("separability", NAN, None),
    ],
)
def test_what_is_so_of_the_model(metric, value, expected):
    made = said(explained("a", BAD), of_model(metric, value))
    assert [row["text"] for row in made.sentences if row["about"] == "model"] == (
        [] if expected is None else [expected]
    )
    # between the advice and the explainers
    assert made.sentences[0]["about"] == "all"
    assert made.sentences[-1]["about"] == "a"


@pytest.mark.parametrize(("n_undefined", "told"), [(20, False), (21, True)])
def test_rows_at_which_nothing_can_be_told_are_counted(n_undefined, told):
    made = said(explained("a", n_undefined=n_undefined), explained("b", n_undefined=3))
    expected = (
        f"On {n_undefined} of 100 rows no column changes the score measurably more than another: these rows "
        "are not judged."
    )
    assert [row["text"] for row in made.sentences if row["about"] == "model"] == ([expected] if told else [])


# a line an explainer


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"mrr": 0.8}, "puts the first planted cause at about rank 1.2"),
        ({"placebo_share": 0.02}, "it puts 2% of its weight on columns that do nothing"),
        ({"placebo_share": 0.019}, None),
        ({"seed_agreement": 0.899}, "89.9% of the explanation stays the same under another seed"),
        ({"seed_agreement": 0.9}, None),
        ({"background_agreement": 0.899}, "another background changes 10% of the explanation"),
        ({"background_agreement": 0.9}, None),
        (
            {"randomisation_agreement": 0.5},
            "50% of the explanation stays the same for a model refitted to shuffled targets",
        ),
        (
            {"randomisation_agreement": 0.04},
            "4% of the explanation stays the same for a model refitted to shuffled targets",
        ),
    ],
)
def test_what_each_measure_adds_to_a_line(changes, expected):
    (line,) = [row["text"] for row in said(explained("a", changes)).sentences if row["about"] == "a"]
    assert line == (LINE_A if expected is None else f"{LINE_A[:-1]}; {expected}.")


@pytest.mark.parametrize(
    ("sigma", "metric", "value", "expected"),
    [
        (
            0.1,
            "causal_skill",
            0.6,
            "its local linear model predicts small changes of a row with an error of 40%",
        ),
        (
            0.1,
            "causal_skill",
            0.0,
            "its local linear model predicts small changes of a row worse than assuming no change",
        ),
        (0.1, "causal_skill", NAN, None),
        (
            0.001,
            "neighbour_agreement",
            0.6,
            "for an almost identical row only 60% of the explanation stays the same",
        ),
        (0.001, "neighbour_agreement", 0.9, None),
        (0.1, "neighbour_agreement", 0.6, None),
    ],
)
def test_what_is_measured_at_a_distance(sigma, metric, value, expected):
    rows = [*explained("a"), score(metric, value, sigma=sigma)]
    if metric == "causal_skill":
        rows.append(score(metric, 0.5, sigma=2 * sigma))
    assert texts(rows)[1] == (LINE_A if expected is None else f"{LINE_A[:-1]}; {expected}.")


@pytest.mark.parametrize(
    ("n", "expected"), [(10, "; puts the first planted cause at about rank 1.0"), (9, "")]
)
def test_ranks_of_few_planted_rows_are_not_spoken_of(n, expected):
    rows = [*explained("a"), score("mrr", 1.0, n=n)]
    assert texts(rows)[1] == f"{LINE_A[:-1]}{expected}."


def by_samples(**found):
    """Fidelity by the number of samples; the user's own number is 1,000."""
    return [
        score("fidelity", value, level="budget", samples=int(name[1:]), n=20) for name, value in found.items()
    ]


@pytest.mark.parametrize(
    ("curve", "expected"),
    [
        ({"n250": 0.4, "n1000": 0.5, "n4000": 0.551}, "more samples help (fidelity 0.50 becomes 0.55)"),
        ({"n250": 0.4, "n1000": 0.5, "n4000": 0.549}, None),
        ({"n250": 0.9, "n1000": 0.5, "n4000": 0.549}, None),
        ({"n250": 0.4, "n4000": 0.9}, None),
        ({"n1000": 0.5}, None),
        ({"n1000": None, "n4000": 0.9}, None),
        ({"n1000": 0.5, "n4000": None}, None),
    ],
)
def test_whether_more_samples_help(curve, expected):
    rows = explained("a", samples=1000)
    line = texts(rows, by_samples(**curve))[1]
    assert line == (LINE_A if expected is None else f"{LINE_A[:-1]}; {expected}.")


@pytest.mark.parametrize(
    ("others", "first", "line"),
    [
        ({"n_failed": 0}, "", ""),
        ({"n_failed": 5, "reason": "no memory"}, "", "; failed on 5 of 105 rows: no memory"),
        (
            {"n_failed": 6, "reason": "no memory"},
            " Caution: it failed on 6 of 106 rows: no memory.",
            "; failed on 6 of 106 rows: no memory",
        ),
    ],
)
def test_rows_that_failed(others, first, line):
    found = texts(explained("a", n=100 + others["n_failed"], **others))
    assert found == [USE_A + first, f"{LINE_A[:-1]}{line}."]


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (None, ""),
        (1.0, "; 1.0 s a row"),
        (0.9994, "; 999 ms a row"),
        (0.01, "; 10 ms a row"),
        (0.0099, "; 9.9 ms a row"),
        (0.00058, "; 0.58 ms a row"),
        (12.34, "; 12.3 s a row"),
    ],
)
def test_what_a_row_costs(seconds, expected):
    assert texts(explained("a"), seconds={"a": seconds})[1] == f"{LINE_A[:-1]}{expected}."


def test_what_is_not_measured_is_not_spoken_of():
    found = " ".join(texts(explained("a"), explained("b", BAD)))
    for word in ("planted", "seed", "background", "slopes", "weight", "samples", "AUC", "rule", "ms", "Not"):
        assert word not in found


# planted causes


ZSCORE = "zscore, the distance of each column from its mean,"
ENOUGH = f"{ZSCORE} does as well: no explainer is needed for these causes."


def ranks(name, value, low=None, planted=None, n=60, **others):
    """Reciprocal ranks of planted causes; the interval begins 0.1 below unless it says otherwise."""
    low = value - 0.1 if low is None else low
    return [score("mrr", (value, low, 1.0), name, planted=planted, n=n, **others)]


def planted(*parts, chance=0.4, names=("a", "b"), **others):
    """What is said of planted causes: what stands before the advice."""
    first = texts(*(explained(name, BAD) for name in names), *parts, chance=chance, **others)[0]
    return first.partition(" None of these explanations")[0]


BEST = (
    "On 60 planted anomalies a finds the causes best: the first cause is at about rank 1.1 (by chance 2.5)."
)


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([ranks("a", 0.9), ranks("b", 0.7)], BEST),
        ([ranks("a", 0.9), ranks("b", 0.799)], BEST),
        ([ranks("a", 0.9), ranks("b", 0.8)], BEST.replace("a finds", "a and b find")),
        ([ranks("b", 0.9), ranks("a", 0.9)], BEST.replace("a finds", "a and b find")),
        ([ranks("a", 0.8), ranks("b", 0.9)], BEST.replace("a finds", "b and a find")),
        ([ranks("a", 0.9, 0.601)], BEST),
        (
            [ranks("a", 0.9, 0.6)],
            (
                "On 60 planted anomalies a puts the first cause at about rank 1.1 (by chance 2.5): so few "
                "rows do not tell this from chance."
            ),
        ),
        ([ranks("a", 0.9, n=10)], BEST.replace("60", "10")),
        ([ranks("a", 0.9, n=70, n_failed=6, n_undefined=4)], BEST),
        ([ranks("a", 0.9), ranks("zscore", 0.8)], f"{BEST} {ENOUGH}"),
        ([ranks("a", 0.9), ranks("zscore", 0.799)], f"{BEST} {ZSCORE} has it at about rank 1.3."),
        ([ranks("a", 0.9), ranks("zscore", 1.0, n=9)], BEST),
        (
            [ranks("a", 0.5), ranks("zscore", 0.5)],
            (
                "On 60 planted anomalies no explainer finds the causes clearly better than chance: the "
                "best, a, has the first cause at about rank 2.0 (by chance 2.5)."
            ),
        ),
    ],
)
def test_who_finds_planted_causes(parts, expected):
    assert planted(*parts, baselines=["zscore"]) == expected


@pytest.mark.parametrize(
    ("parts", "chance"),
    [
        ([], 0.4),
        ([ranks("a", 0.9)], None),
        ([ranks("a", 0.9, n=9)], 0.4),
        ([ranks("a", 0.9, n=60, n_failed=51)], 0.4),
        ([ranks("a", 0.9, n=60, n_undefined=51)], 0.4),
        ([ranks("a", NAN)], 0.4),
        ([ranks("zscore", 1.0)], 0.4),
    ],
)
def test_nothing_is_said_of_causes_that_were_not_measured(parts, chance):
    rows = [explained("a", BAD), *parts]
    none = "None of these explanations is faithful to this model, not even in part: do not use them."
    assert texts(*rows, chance=chance, baselines=["zscore"])[0] == none


@pytest.mark.parametrize(("chance", "said_so"), [(0.8, True), (0.79, False)])
def test_where_chance_finds_causes_nobody_is_told_from_it(chance, said_so):
    expected = (
        "On 60 planted anomalies a random order has a cause at about rank 1.2 already: they do not tell "
        "explainers apart."
    )
    assert (planted(ranks("a", 1.0, 0.999), chance=chance) == expected) == said_so


def test_a_detector_without_a_faithful_explainer():
    found = texts(explained("a", BAD), ranks("a", 0.9), chance=0.4)
    assert found[0] == (
        f"{BEST} None of these explanations is faithful to this model on ordinary rows, not even in part: "
        "do not use them there."
    )


def test_the_planted_causes_lead():
    assert texts(explained("a"), ranks("a", 0.9), chance=0.4)[0] == f"{BEST} For ordinary rows u{USE_A[1:]}"
    alone = texts(ranks("a", 0.9), chance=0.4)[0]
    assert (
        alone == f"{BEST} No explainer could be judged on this model: fidelity was not measured, and "
        "judgements rest on it."
    )


def test_zscore_is_never_the_explainer_that_finds():
    found = planted(ranks("zscore", 1.0), ranks("a", 0.9), names=("a", "zscore"))
    assert found == f"{BEST} {ENOUGH}"


CHANCES = dict.fromkeys(KINDS, 0.4)


def by_kind(found, n=15, chances=None):
    """What is said after the first sentence; found: explainer -> reciprocal rank of each kind."""
    parts = [
        ranks(name, value, planted=kind, n=n) for name, own in found.items() for kind, value in own.items()
    ]
    overall = [ranks(name, 0.9) for name in found]
    chances = {kind: 0.4 for own in found.values() for kind in own} if chances is None else chances
    whole = planted(*parts, *overall, chances=chances, baselines=["zscore"])
    return whole.partition("(by chance 2.5). ")[2]


NEEDS_NO = f"{ZSCORE} needs no model."


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        # zscore finds what is out of range, an explainer finds the others
        (
            {"a": dict.fromkeys(KINDS, 0.9), "zscore": {SHIFT: 1.0, WRONG: 0.4, SEVERAL: 0.4, SWAPPED: 0.4}},
            (
                "Who finds them, by kind: out of range: zscore and a; typical alone, wrong given the "
                f"others / several columns together / swapped pair: a. {NEEDS_NO}"
            ),
        ),
        # only out of range is found, by zscore as well
        (
            {"a": {SHIFT: 0.9, SWAPPED: 0.5}, "zscore": {SHIFT: 0.8, SWAPPED: 0.5}},
            (
                "Who finds them, by kind: out of range: a and zscore; swapped pair: nobody. Only causes "
                f"out of range are found, and {ENOUGH}"
            ),
        ),
        # a measurably better explainer is needed
        (
            {"a": {SHIFT: 0.9, SWAPPED: 0.5}, "zscore": {SHIFT: 0.79, SWAPPED: 0.5}},
            f"Who finds them, by kind: out of range: a and zscore; swapped pair: nobody. {NEEDS_NO}",
        ),
        # zscore finds all that anybody does
        (
            {"a": {SHIFT: 0.9, SWAPPED: 0.9}, "zscore": {SHIFT: 0.9, SWAPPED: 0.9}},
            f"Who finds them, by kind: out of range / swapped pair: a and zscore. {ENOUGH}",
        ),
        # another kind alone, or out of range alone
        (
            {"a": {SWAPPED: 0.9, SHIFT: 0.5}, "zscore": {SWAPPED: 0.9, SHIFT: 0.5}},
            f"Who finds them, by kind: out of range: nobody; swapped pair: a and zscore. {ENOUGH}",
        ),
        (
            {"a": {SHIFT: 0.9}, "zscore": {SHIFT: 0.9}},
            f"Who finds them, by kind: out of range: a and zscore. {ENOUGH}",
        ),
        # nobody finds anything
        (
            {"a": {SHIFT: 0.5}, "zscore": {SHIFT: 0.5}},
            f"Who finds them, by kind: out of range: nobody. {NEEDS_NO}",
        ),
        # only zscore does
        (
            {"a": {SWAPPED: 0.5}, "zscore": {SWAPPED: 0.9}},
            f"Who finds them, by kind: swapped pair: zscore. {ENOUGH.replace('does as well', 'finds them')}",
        ),
        # zscore was not measured
        (
            {"a": {SHIFT: 0.9, SEVERAL: 0.9}, "b": {SHIFT: 0.8, SEVERAL: 0.5}},
            "Who finds them, by kind: out of range: a and b; several columns together: a.",
        ),
        # zscore alone was measured on a kind
        (
            {"a": {SHIFT: 0.5}, "zscore": {SEVERAL: 0.9}},
            "Who finds them, by kind: out of range: nobody; several columns together: zscore. " + NEEDS_NO,
        ),
    ],
)
def test_who_finds_which_kind(found, expected):
    assert by_kind(found) == expected


@pytest.mark.parametrize(
    ("n", "chances", "kinds"),
    [
        (10, CHANCES, ["out of range", "swapped pair"]),
        (9, CHANCES, []),
        (10, {SHIFT: 0.8, SWAPPED: 0.4}, ["swapped pair"]),
        (10, {SHIFT: 0.4}, ["out of range"]),
        (10, {}, []),
    ],
)
def test_kinds_that_cannot_be_judged_are_left_out(n, chances, kinds):
    found = by_kind({"a": {SHIFT: 0.95, SWAPPED: 0.95}}, n, chances)
    others = [kind for kind in KINDS if kind in chances and kind not in kinds]
    left = f"; {' / '.join(others)}: not judged" if others else ""
    assert found == (f"Who finds them, by kind: {' / '.join(kinds)}: a{left}." if kinds else "")


@pytest.mark.parametrize(
    ("noticed", "expected"),
    [
        ({SWAPPED: 0.0, WRONG: 0.0}, f"{WRONG} / {SWAPPED}: not noticed by the detector"),
        ({SWAPPED: 0.0, WRONG: 0.01}, f"{SWAPPED}: not noticed by the detector; {WRONG}: not judged"),
        ({SWAPPED: NAN, WRONG: 0.01}, f"{WRONG} / {SWAPPED}: not judged"),
        ({SHIFT: 0.0}, f"{WRONG} / {SWAPPED}: not judged"),
    ],
)
def test_kinds_that_the_detector_does_not_notice(noticed, expected):
    model = [score("planted_noticed", value, None, planted=kind) for kind, value in noticed.items()]
    rows = [ranks("a", 0.9), ranks("a", 0.9, planted=SHIFT), model]
    found = planted(*rows, chances=dict.fromkeys((SHIFT, WRONG, SWAPPED), 0.4))
    assert found == f"{BEST} Who finds them, by kind: out of range: a; {expected}."


def test_names_of_finders_with_spaces_are_quoted():
    rows = [*ranks("my own", 0.9), *ranks("my own", 0.9, planted=SHIFT)]
    first = texts(explained("my own", BAD), rows, chance=0.4, chances=CHANCES)[0]
    assert "anomalies 'my own' finds the causes" in first
    assert "out of range: 'my own'; typical alone" in first
    unclear = texts(explained("my own", BAD), ranks("my own", 0.5), chance=0.4)[0]
    assert "the best, 'my own', has" in unclear


# words


@pytest.mark.parametrize(
    ("value", "least", "expected"),
    [
        (0.9468, None, "0.95"),
        (0.95, 0.95, "0.95"),
        (0.949999, 0.95, "0.949999"),
        (0.94999999, 0.95, "0.950000"),
        (0.0, None, "0.00"),
        (-1e-9, None, "below 0"),
        (1.0, 0.95, "1.00"),
    ],
)
def test_figures_stay_on_their_side(value, least, expected):
    assert words.figure(value, least=least) == expected


@pytest.mark.parametrize(
    ("value", "least", "most", "expected"),
    [
        (0.8, 0.8, None, "80%"),
        (0.7951, 0.8, None, "79.5%"),
        (0.204, None, 0.2, "20.4%"),
        (0.2, None, 0.2, "20%"),
        (0.196, None, 0.2, "20%"),
    ],
)
def test_percentages_stay_on_their_side(value, least, most, expected):
    assert words.percent(value, least=least, most=most) == expected


def test_thresholds_of_the_words():
    assert (thresholds.SUMS_FAIL, thresholds.SUMS_TELL, thresholds.UNTOLD) == (0.5, 0.95, 0.2)
    assert (thresholds.OFF_DATA, thresholds.RARE) == (0.9, 0.05)
    assert (thresholds.FOUND, thresholds.CLOSE, thresholds.SIGNIFICANT) == (0.2, 0.002, 0.05)
    assert (thresholds.STEADY, thresholds.MUCH_PLACEBO, thresholds.LITTLE_PLACEBO) == (0.9, 0.1, 0.02)
    assert thresholds.GAIN == 0.05


def test_perfect_ranks_on_few_rows_are_not_said_to_be_no_better_than_chance():
    found = {"a": (1.0, 0.8), "zscore": (1.0, 0.8)}
    ranks = causes._Ranks(0.77, found, 15)
    assert not ranks.finders
    assert ranks.unclear
    assert causes._overall(ranks) == (
        "On 15 planted anomalies a puts the first cause at about rank 1.0 (by chance 1.3): so few rows do "
        "not tell this from chance."
    )
    assert next(causes._by_kind({"out of range": ranks}, {})) == (
        "Who finds them, by kind: out of range: not clear on so few rows."
    )
    assert not causes._Ranks(0.77, {"a": (0.8, 0.7)}, 15).unclear
    assert not causes._Ranks(0.3, {"a": (1.0, 0.8)}, 15).unclear


def test_zscore_alone_is_not_said_to_do_as_well_as_explainers_that_find_nothing():
    ranks = causes._Ranks(0.3, {"a": (0.3, 0.2), "zscore": (1.0, 0.9)}, 60)
    assert list(causes._by_kind({"out of range": ranks}, {}))[-1].endswith(
        " finds them: no explainer is needed for these causes."
    )
