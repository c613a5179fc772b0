"""From hand-made scores to judgements, at both sides of every threshold."""

import pytest

from scored import FAITHFUL, NAN, explained, score, scores, table
from xassay.studies.check import judgement, thresholds
from xassay.studies.check.judgement import (
    NOT_JUDGED,
    PARTLY,
    UNFAITHFUL,
    caveats,
    judge,
    lost_share,
    recommended,
)
from xassay.studies.check.measures import Scores

BAD = {
    "fidelity": (0.5, 0.4, 0.6),
    "rows_right": 0.3,
    "fidelity_pooled": 0.95,
    "alignment": 0.3,
    "completeness_gap": 0.1,
}
BAD_FIGURES = "fidelity 0.50, right on 30% of 100 rows"
"""Bad in its fidelity alone."""

FIGURES = "fidelity 0.99, right on 100% of 100 rows"
NAMES = "names the right columns (alignment 0.99), not the right values"
UNSURE = "is right on these rows, but they are too few to be sure (95% interval of fidelity from 0.598)"
NO_SUM = "is right in how columns compare with each other, but its values do not add up to the score's "
NO_SUM += "difference from the background"
ON_DATA = "is true to the data, not to the model (right when replaced columns are drawn to fit the others, "
ON_DATA += "wrong when they are drawn independently)"
ZERO = "is right relative to a row of zeros, not to the background rows"
MEAN = "is right relative to the background's mean row, not to the background rows"
LARGE = "is right on most rows, but not on those where the score changes most"


def come_to(changes=None, chance=None, **others):
    found = judge("a", scores(changes, **others), chance)
    assert found.explainer == "a"
    return found.judgement, found.kind, found.why


def test_thresholds_are_what_the_docs_say():
    assert (thresholds.FAITHFUL, thresholds.FAITHFUL_POOLED, thresholds.SURE) == (0.95, 0.9, 0.6)
    assert (thresholds.RIGHT, thresholds.MOST_ROWS, thresholds.GAP) == (0.8, 0.8, 0.2)
    assert (thresholds.ALIGNED, thresholds.LEANING, thresholds.FOUND) == (0.7, 0.5, 0.2)
    assert (thresholds.LEAST_ROWS, thresholds.MOST_LOST) == (10, 0.05)


def test_faithful_with_its_figures():
    found = judge("a", scores())
    assert (found.judgement, found.kind) == ("faithful", "faithful")
    assert (found.why, found.rows, found.right) == (FIGURES, 100, "")


@pytest.mark.parametrize(
    ("changes", "expected", "kind", "why"),
    [
        ({"fidelity": (0.95, 0.9, 1.0)}, "faithful", "faithful", "fidelity 0.95, right on 100% of 100 rows"),
        (
            {"fidelity": (0.9499, 0.9, 1.0)},
            "partly",
            "aligned",
            f"{NAMES}; fidelity 0.9499, right on 100% of 100 rows",
        ),
        ({"rows_right": 0.8}, "faithful", "faithful", "fidelity 0.99, right on 80% of 100 rows"),
        (
            {"rows_right": 0.796},
            "partly",
            "aligned",
            f"{NAMES}; fidelity 0.99, right on 79.6% of 100 rows",
        ),
        (
            {"rows_right": ...},
            "partly",
            "aligned",
            f"{NAMES}; fidelity 0.99, right on an unknown share of 100 rows",
        ),
        ({"fidelity_pooled": 0.9}, "faithful", "faithful", FIGURES),
        (
            {"fidelity_pooled": 0.896},
            "partly",
            "large rows",
            f"{LARGE}; {FIGURES}, pooled fidelity 0.896",
        ),
        (
            {"fidelity_pooled": -4519.4},
            "partly",
            "large rows",
            f"{LARGE}; {FIGURES}, pooled fidelity below 0",
        ),
        (
            {"fidelity_pooled": NAN},
            "partly",
            "large rows",
            f"{LARGE}; {FIGURES}, pooled fidelity unknown",
        ),
        ({"completeness_gap": 0.2}, "faithful", "faithful", FIGURES),
        (
            {"completeness_gap": 0.204},
            "partly",
            "sum",
            f"{NO_SUM}; {FIGURES}, sum of values off by 20.4%",
        ),
        (
            {"completeness_gap": 0.2, "fidelity_pooled": 0.5},
            "partly",
            "large rows",
            f"{LARGE}; {FIGURES}, pooled fidelity 0.50",
        ),
        (
            {"completeness_gap": 0.6, "fidelity_pooled": 0.5},
            "partly",
            "large rows",
            f"{LARGE}; {FIGURES}, pooled fidelity 0.50, sum of values off by 60%",
        ),
        (
            {"completeness_gap": NAN},
            "partly",
            "sum",
            f"{NO_SUM}; {FIGURES}, sum of values unknown",
        ),
        (
            {"fidelity": (0.99, 0.6, 1.0)},
            "faithful",
            "faithful",
            FIGURES,
        ),
        (
            {"fidelity": (0.99, 0.598, 1.0)},
            "partly",
            "uncertain",
            f"{UNSURE}; {FIGURES}",
        ),
        ({"fidelity": 0.99}, "faithful", "faithful", FIGURES),
    ],
)
def test_both_sides_of_what_makes_faithful(changes, expected, kind, why):
    assert come_to(changes) == (expected, kind, why)


@pytest.mark.parametrize(
    ("changes", "expected", "kind", "why"),
    [
        ({}, "unfaithful", "unfaithful", f"{BAD_FIGURES}, alignment 0.30"),
        ({"alignment": ...}, "unfaithful", "unfaithful", BAD_FIGURES),
        ({"alignment": -0.4}, "unfaithful", "unfaithful", f"{BAD_FIGURES}, alignment below 0"),
        ({"alignment": 0.696}, "unfaithful", "unfaithful", f"{BAD_FIGURES}, alignment 0.696"),
        (
            {"alignment": 0.7},
            "partly",
            "aligned",
            f"names the right columns (alignment 0.70), not the right values; {BAD_FIGURES}",
        ),
        ({"fidelity_conditional": 0.8}, "partly", "true to the data", f"{ON_DATA}; {BAD_FIGURES}"),
        ({"fidelity_conditional": 0.799}, "unfaithful", "unfaithful", f"{BAD_FIGURES}, alignment 0.30"),
        (
            {"fidelity_conditional": 0.85, "fidelity": (0.85, 0.7, 1.0)},
            "unfaithful",
            "unfaithful",
            "fidelity 0.85, right on 30% of 100 rows, alignment 0.30",
        ),
        (
            {"fidelity_zero_base": 0.95, "gap_zero_base": 0.2},
            "partly",
            "zero base",
            f"{ZERO}; {BAD_FIGURES}",
        ),
        (
            {"fidelity_zero_base": 0.949, "gap_zero_base": 0.2},
            "unfaithful",
            "unfaithful",
            f"{BAD_FIGURES}, alignment 0.30",
        ),
        (
            {"fidelity_zero_base": 0.95, "gap_zero_base": 0.201},
            "unfaithful",
            "unfaithful",
            f"{BAD_FIGURES}, alignment 0.30",
        ),
        ({"fidelity_zero_base": 0.95}, "unfaithful", "unfaithful", f"{BAD_FIGURES}, alignment 0.30"),
        ({"gap_zero_base": 0.0}, "unfaithful", "unfaithful", f"{BAD_FIGURES}, alignment 0.30"),
        (
            {"fidelity_mean_base": 0.95, "gap_mean_base": 0.2},
            "partly",
            "mean base",
            f"{MEAN}; {BAD_FIGURES}",
        ),
        (
            {"fidelity_mean_base": 0.95, "gap_mean_base": 0.21},
            "unfaithful",
            "unfaithful",
            f"{BAD_FIGURES}, alignment 0.30",
        ),
        (
            {"fidelity_mean_base": 1.0, "gap_zero_base": 0.0},
            "unfaithful",
            "unfaithful",
            f"{BAD_FIGURES}, alignment 0.30",
        ),
    ],
)
def test_both_sides_of_what_is_partly_right(changes, expected, kind, why):
    assert come_to({**BAD, **changes}) == (expected, kind, why)


OFF = "sum of values off by"
LARGER = "names the right columns, with values on another scale, about 100 times too large"
SMALL = "names the right columns, with values on another scale, about 5 times too small"


@pytest.mark.parametrize(
    ("changes", "kind", "why"),
    [
        # a fifth of the right values
        (
            {"fidelity": 0.36, "rows_right": 0.0, "fidelity_pooled": 0.36, "completeness_gap": 0.8}
            | {"best_scale": 5.0, "alignment": 1.0},
            "scale",
            f"{SMALL}; fidelity 0.36, right on 0% of 100 rows, pooled fidelity 0.36, {OFF} 80%",
        ),
        # in per cent
        (
            {"fidelity": 0.0, "rows_right": 0.0, "fidelity_pooled": -9800.0, "completeness_gap": 99.0}
            | {"best_scale": 0.01, "alignment": 1.0},
            "scale",
            f"{LARGER}; fidelity 0.00, right on 0% of 100 rows, pooled fidelity below 0",
        ),
        ({"best_scale": 1.201, "alignment": 0.975}, "scale", "1.2 times too small"),
        ({"best_scale": 1.2, "alignment": 0.975}, "aligned", "alignment 0.97"),
        ({"best_scale": 0.833, "alignment": 0.975}, "scale", "1.2 times too large"),
        ({"best_scale": 0.834, "alignment": 0.975}, "aligned", "alignment 0.97"),
        ({"best_scale": 5.0, "alignment": 0.974}, "aligned", "alignment 0.97"),
        ({"best_scale": 0.0, "alignment": 1.0}, "aligned", "alignment 1.00"),
        ({"best_scale": -2.0, "alignment": 1.0}, "aligned", "alignment 1.00"),
        ({"best_scale": ..., "alignment": 1.0}, "aligned", "alignment 1.00"),
    ],
)
def test_another_scale_is_named_where_it_explains_the_error(changes, kind, why):
    found = judge("a", scores({**BAD, **changes}))
    assert (found.judgement, found.kind) == ("partly", kind)
    assert why in found.why
    assert found.why.count("scale") <= 1


@pytest.mark.parametrize(
    ("gap", "scale", "alignment", "said"),
    [
        (1.0, 5.0, 0.7, "sum of values off by 100%"),
        (1.01, 5.0, 0.7, "values on another scale, about 5 times too small"),
        (1.01, 5.0, 0.69, "sum of values off by more than 100%"),
        (307.12, 0.0017, 0.79, "values on another scale, about 590 times too large"),
        (307.12, 1.0, 0.79, "sum of values off by more than 100%"),
    ],
)
def test_percentages_stay_below_a_hundred(gap, scale, alignment, said):
    found = judge(
        "a",
        scores({**BAD, "completeness_gap": gap, "best_scale": scale, "alignment": alignment}),
    )
    assert f", {said}" in found.why


FINDS = "finds planted causes (the first at about rank 1.1, by chance 2.0), but its values are not right"


@pytest.mark.parametrize(
    ("changes", "chance", "kind"),
    [
        ({"mrr": (0.9, 0.701, 1.0), "alignment": 0.5}, 0.5, "finds causes"),
        ({"mrr": (0.9, 0.7, 1.0), "alignment": 0.5}, 0.5, "unfaithful"),
        ({"mrr": (0.9, 0.701, 1.0), "alignment": 0.499}, 0.5, "unfaithful"),
        ({"mrr": (0.9, 0.701, 1.0), "alignment": ...}, 0.5, "unfaithful"),
        ({"mrr": (0.9, 0.701, 1.0), "alignment": 0.5}, None, "unfaithful"),
        ({"mrr": 0.9, "alignment": 0.5}, 0.5, "finds causes"),
        ({"alignment": 0.5}, 0.5, "unfaithful"),
    ],
)
def test_planted_causes_found_are_partly_right(changes, chance, kind):
    found = judge("a", scores({**BAD, **changes}), chance)
    assert found.kind == kind
    assert found.why.startswith(f"{FINDS}; {BAD_FIGURES}" if kind == "finds causes" else BAD_FIGURES)


@pytest.mark.parametrize(
    ("left_out", "first"),
    [
        ([], "zero base"),
        (["fidelity_zero_base"], "mean base"),
        (["fidelity_zero_base", "fidelity_mean_base"], "true to the data"),
        (["fidelity_zero_base", "fidelity_mean_base", "fidelity_conditional"], "aligned"),
    ],
)
def test_the_most_telling_reason_is_given(left_out, first):
    everything = {
        **BAD,
        "fidelity_zero_base": 1.0,
        "gap_zero_base": 0.0,
        "fidelity_mean_base": 1.0,
        "gap_mean_base": 0.0,
        "fidelity_conditional": 1.0,
        "alignment": 0.8,
        "mrr": 1.0,
    }
    found = judge("a", scores({**everything, **dict.fromkeys(left_out, ...)}), 0.2)
    assert (found.judgement, found.kind) == (PARTLY, first)
    assert found.why.startswith(f"{found.right}; ")


def test_a_sum_that_fits_another_base_is_that_bases():
    changes = {"completeness_gap": 0.9, "fidelity_zero_base": 0.99, "gap_zero_base": 0.0}
    assert come_to(changes)[1] == "zero base"
    # replaced columns that fit the others add nothing where they may be drawn alone
    assert come_to({"completeness_gap": 0.9, "fidelity_conditional": 0.995})[1] == "sum"


@pytest.mark.parametrize(
    ("rows", "kind", "why"),
    [
        (explained(n=10), "faithful", "fidelity 0.99, right on 100% of 10 rows"),
        (explained(n=9), "few rows", "9 of 9 rows could be judged, 10 are needed"),
        (
            explained(n=30, n_failed=21, reason="no memory"),
            "few rows",
            "9 of 30 rows could be judged, 10 are needed; failed on 21 of 30 rows: no memory",
        ),
        (explained(n=30, n_undefined=21), "few rows", "9 of 30 rows could be judged, 10 are needed"),
        (explained(n=21, n_failed=1, n_undefined=10), "faithful", "fidelity 0.99, right on 100% of 10 rows"),
        (
            explained(changes={"fidelity": NAN}, n_undefined=100),
            "undefined",
            "at no row does one column change the score measurably more than another",
        ),
        (
            [score("fidelity", None, n=30, n_failed=30, status="failed", reason="it raised")],
            "no score",
            "failed on all 30 rows: it raised",
        ),
        ([score("fidelity", None, n=30, n_failed=30, status="failed")], "no score", "failed on all 30 rows"),
        ([score("fidelity", None, n=30, status="failed", reason="lost")], "no score", "failed: lost"),
        ([score("fidelity", None, n=0, status="failed", reason="lost")], "no score", "failed: lost"),
        (
            [score("fidelity", None, n=0, status="skipped", reason="the run's time was up")],
            "no score",
            "skipped: the run's time was up",
        ),
        (
            [score("mrr", 0.9), score("placebo_share", None, status="failed", reason="of another measure")],
            "no score",
            "fidelity was not measured, and judgements rest on it",
        ),
        (
            [],
            "no score",
            "fidelity was not measured, and judgements rest on it",
        ),
    ],
)
def test_not_judged_is_not_unfaithful(rows, kind, why):
    found = judge("a", Scores(table(rows)))
    assert (found.kind, found.why) == (kind, why)
    assert found.judgement == ("faithful" if kind == "faithful" else NOT_JUDGED)


@pytest.mark.parametrize(("n_failed", "kind"), [(20, "faithful"), (21, "failed")])
def test_who_fails_on_many_rows_is_not_faithful(n_failed, kind):
    found = judge("a", Scores(table(explained(n=100, n_failed=n_failed, reason="no"))))
    assert found.kind == kind
    if kind == "failed":
        assert found.judgement == PARTLY
        assert found.why == (
            "is right on the rows that it explains, but it fails on many; fidelity 0.99, right on 100% of 79 "
            "rows, failed on 21 of 100 rows: no"
        )


def test_other_levels_and_kinds_of_rows_are_not_judged_by():
    rows = [
        *explained(changes=BAD),
        score("fidelity", 1.0, level="budget", options="n=1"),
        score("alignment", 1.0, planted="swapped pair"),
        score("fidelity_conditional", 1.0, sigma=0.1),
    ]
    assert judge("a", Scores(table(rows))).judgement == UNFAITHFUL


def chosen(**by_name):
    """Recommended of these, by changes of a faithful explainer; each 100 rows unless it says otherwise."""
    own = {
        name: Scores(table(explained(name, given[0], **given[1]) if isinstance(given, tuple) else given))
        for name, given in by_name.items()
    }
    return recommended([judge(name, found) for name, found in own.items()], own)


LOST = {"n": 100, "n_failed": 6}
KEPT = {"n": 100, "n_failed": 5}


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        # the most faithful, beyond what is as good as equal
        (({"fidelity": 0.97, "model_calls": 1.0}, {}), ({"fidelity": 0.9721}, {}), "b"),
        (({"fidelity": 0.97, "model_calls": 1.0}, {}), ({"fidelity": 0.9719}, {}), "a"),
        (({"fidelity": 0.9719}, {}), ({"fidelity": 0.97, "model_calls": 1.0}, {}), "b"),
        # equal ones: the cheapest, then by name
        (({"model_calls": 101.0}, {}), ({}, {}), "b"),
        (({"model_calls": 99.0}, {}), ({}, {}), "a"),
        (({}, {}), ({}, {}), "a"),
        (({}, {}), ({"model_calls": ...}, {}), "b"),
        # a caveat weighs more than calls, and less than fidelity
        (({"placebo_share": 0.1, "model_calls": 1.0}, {}), ({}, {}), "b"),
        (({"placebo_share": 0.0999, "model_calls": 1.0}, {}), ({}, {}), "a"),
        (({"seed_agreement": 0.899, "model_calls": 1.0}, {}), ({}, {}), "b"),
        (({"seed_agreement": 0.9, "model_calls": 1.0}, {}), ({}, {}), "a"),
        (({"seed_agreement": 0.5, "fidelity": 0.999}, {}), ({}, {}), "a"),
        # one that fails on many rows only where there is no other
        (({"fidelity": 1.0}, LOST), ({"fidelity": 0.96}, {}), "b"),
        (({"fidelity": 1.0}, KEPT), ({"fidelity": 0.96}, {}), "a"),
        (({"fidelity": 1.0}, LOST), (BAD, {}), "a"),
        (({"fidelity": 1.0}, LOST), ({"fidelity": 0.96}, LOST), "a"),
        # not one that is not faithful
        (({"fidelity": 0.94}, {}), ({"fidelity": 0.95}, {}), "b"),
        ((BAD, {}), (BAD, {}), None),
        (({"completeness_gap": 0.5}, {}), ({}, {"n": 9}), None),
    ],
)
def test_which_one_is_recommended(first, second, expected):
    assert chosen(a=first, b=second) == expected
    # whatever their order
    assert chosen(b=second, a=first) == expected


def test_nobody_is_recommended_where_there_is_nobody():
    assert recommended([], {}) is None


@pytest.mark.parametrize(
    ("changes", "others", "found"),
    [
        ({}, {}, []),
        ({"placebo_share": 0.1}, {}, ["it puts 10% of its weight on columns that do nothing"]),
        ({"placebo_share": 0.099}, {}, []),
        ({"seed_agreement": 0.899}, {}, ["89.9% of the explanation stays the same under another seed"]),
        ({"seed_agreement": 0.9}, {}, []),
        ({}, {"n_failed": 5}, []),
        ({}, {"n_failed": 6, "reason": "no memory"}, ["it failed on 6 of 100 rows: no memory"]),
        (
            {"placebo_share": 0.5, "seed_agreement": 0.2},
            {"n_failed": 50},
            [
                "it failed on 50 of 100 rows",
                "it puts 50% of its weight on columns that do nothing",
                "20% of the explanation stays the same under another seed",
            ],
        ),
    ],
)
def test_caveats(changes, others, found):
    assert caveats(scores(changes, **others)) == found


@pytest.mark.parametrize(
    ("rows", "share"),
    [
        (explained(n=50, n_failed=10), 0.2),
        (explained(n=0), 0.0),
        ([], 0.0),
        (explained(), 0.0),
    ],
)
def test_the_share_of_rows_that_are_lost(rows, share):
    assert lost_share(Scores(table(rows))) == share


def test_failed_rows_of_an_explainer_without_scores():
    assert judgement.failed_rows(Scores(table([]))) == "failed on 0 of 0 rows"


def test_the_order_of_judgements_is_from_good_to_bad():
    assert judgement.ORDER == ("faithful", "partly", "unfaithful", "not judged")
    assert list(judgement.JUDGEMENTS) == ["explainer", "judgement", "rows", "why"]
    assert FAITHFUL["fidelity"][0] >= thresholds.FAITHFUL
