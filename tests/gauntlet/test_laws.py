"""The laws themselves, on both sides of each threshold, and the gauntlet with checks made for it."""

import attrs
import polars as pl
import pytest

from xassay.errors import InputError, UnknownNameError
from xassay.testing import STRAW_MEN, Judged, broken_law, example_check, gauntlet, problem
from xassay.testing.gauntlet import Found

EXACT = Judged("exact", "exact", "faithful", recommended=True, value=0.8, low=0.7, high=0.9)
STRAW = Judged(
    "reversed", "straw man", "unfaithful", recommended=False, value=0.1, low=0.0, high=0.2, distance=1.4
)
RANDOM = Judged("random", "random", "unfaithful", recommended=False, value=0.0, low=-0.1, high=0.1)
RIGHT_ON_DATA = attrs.evolve(EXACT, explainer="conditional", role="conditional", recommended=False)


@pytest.mark.parametrize(
    ("one", "changes", "law"),
    [
        (STRAW, {}, None),
        (STRAW, {"recommended": True}, "recommended"),
        (STRAW, {"recommended": True, "no_straw_man": True}, None),
        (STRAW, {"recommended": True, "distance": 0.1}, "recommended"),
        (STRAW, {"judgement": "faithful"}, "called faithful"),
        (STRAW, {"judgement": "faithful", "names_columns": True}, "called faithful"),
        (STRAW, {"judgement": "faithful", "distance": 0.2}, "called faithful"),
        (STRAW, {"judgement": "faithful", "distance": 0.19}, None),
        (STRAW, {"judgement": "faithful", "no_straw_man": True}, None),
        (STRAW, {"judgement": "partly"}, "called right in part"),
        (STRAW, {"judgement": "partly", "names_columns": True}, None),
        (STRAW, {"judgement": "partly", "distance": 0.19}, None),
        (STRAW, {"judgement": "not judged"}, None),
        (STRAW, {"value": 0.9}, None),
        (STRAW, {"value": 0.91}, "above the exact explanation"),
        (STRAW, {"value": 0.91, "distance": 0.1}, "above the exact explanation"),
        (STRAW, {"value": 0.91, "no_straw_man": True}, None),
        (STRAW, {"value": None}, None),
        (EXACT, {}, None),
        (EXACT, {"judgement": "unfaithful"}, "right, and called unfaithful"),
        (EXACT, {"judgement": "partly"}, "right, and not called faithful"),
        (EXACT, {"judgement": "not judged", "recommended": False}, "right, and not called faithful"),
        (RIGHT_ON_DATA, {"judgement": "unfaithful"}, "right, and called unfaithful"),
        (RIGHT_ON_DATA, {"judgement": "partly"}, None),
        (RANDOM, {}, None),
        (RANDOM, {"recommended": True}, "recommended"),
        (RANDOM, {"judgement": "partly"}, "random, and called partly"),
        (RANDOM, {"judgement": "not judged"}, None),
        (RANDOM, {"value": 0.4, "low": 0.1}, None),
        (RANDOM, {"value": 0.4, "low": 0.11}, "random, and above chance"),
        (RANDOM, {"value": 0.4, "low": None}, "random, and above chance"),
    ],
)
def test_a_law(one, changes, law):
    assert broken_law(attrs.evolve(one, **changes), EXACT) == law


def test_without_an_interval_the_exact_value_is_the_limit():
    exact = attrs.evolve(EXACT, low=None, high=None)
    assert broken_law(attrs.evolve(STRAW, value=0.81), exact) == "above the exact explanation"
    assert broken_law(attrs.evolve(STRAW, value=0.8), exact) is None


def test_alone_nothing_is_above():
    assert broken_law(attrs.evolve(STRAW, value=1.0)) is None
    assert broken_law(attrs.evolve(STRAW, recommended=True)) == "recommended"
    assert broken_law(attrs.evolve(STRAW, recommended=True, distance=0.2)) == "recommended"
    assert broken_law(attrs.evolve(STRAW, recommended=True, distance=0.19)) is None


def test_on_an_unclear_problem_partly_will_do_and_unfaithful_will_not():
    assert broken_law(attrs.evolve(EXACT, judgement="partly"), EXACT, unclear=True) is None
    unfaithful = attrs.evolve(EXACT, judgement="unfaithful")
    assert broken_law(unfaithful, EXACT, unclear=True) == "right, and called unfaithful"


def says(recommended, judgements, values=None):
    """A check that says this, whatever it is given."""
    called = []

    def check(predict, X, background, *, explainers, **options):
        names = [getattr(one, "__name__", one) for one in explainers]
        called.append((names, len(X), len(background), options))
        of = {name: judgements.get(name, "unfaithful") for name in names}
        value = [(values or {}).get(name, 0.0) for name in names]
        return Found(
            recommended if recommended in names else None,
            pl.DataFrame({"explainer": list(of), "judgement": list(of.values())}),
            pl.DataFrame(
                {
                    "explainer": names,
                    "metric": "fidelity",
                    "level": "model",
                    "value": value,
                    "ci_low": value,
                    "ci_high": value,
                }
            ),
        )

    check.called = called
    return check


def broken(frame):
    return dict(frame.filter(pl.col("broken").is_not_null()).select("explainer", "broken").iter_rows())


def test_a_check_that_keeps_the_laws():
    check = says("exact", {"exact": "faithful"}, {"exact": 0.9})
    seen = gauntlet(["steps", "three_classes"], check=check, seed=3, rows=20, measures=("fidelity",))
    assert seen["broken"].null_count() == len(seen)
    assert {called[1:3] for called in check.called} == {(20, 580)}
    assert check.called[0][3] == {"kind": "regression", "rows": 20, "seed": 3, "measures": ("fidelity",)}
    assert check.called[-1][3]["kind"] == "classification"
    for names, *_ in check.called:
        assert (names[0], names[-1]) == ("exact", "random")
        assert 3 <= len(names) <= 14
    first, second = (seen.filter(problem=name)["explainer"].to_list() for name in ("steps", "three_classes"))
    assert first == ["exact", *(name for name in STRAW_MEN if name != "other_output"), "random"]
    assert second == ["exact", *STRAW_MEN, "random"]


def test_a_law_broken_in_one_group_is_shown():
    check = says("even", {"exact": "faithful"}, {"exact": 0.9})
    seen = gauntlet(["steps"], check=check)
    assert len(check.called) == 3
    assert broken(seen) == {"even": "recommended", "exact": "right, and not recommended"}
    last = list(STRAW_MEN)[-1]
    assert broken(gauntlet(["steps"], check=says(last, {}, {"exact": 0.9}))) == {
        "exact": "right, and called unfaithful",
        last: "recommended",
    }


def test_a_right_explanation_must_be_the_one_recommended():
    seen = gauntlet(["steps"], ["even"], check=says(None, {"exact": "faithful"}, {"exact": 0.9}))
    assert broken(seen) == {"exact": "right, and not recommended"}
    seen = gauntlet(["steps"], ["even"], check=says("even", {"exact": "faithful"}, {"exact": 0.9}))
    assert broken(seen) == {"exact": "right, and not recommended", "even": "recommended"}


def test_another_right_explanation_may_be_recommended():
    judgements = {"exact": "faithful", "conditional": "faithful"}
    check = says("conditional", judgements, {"exact": 0.9, "conditional": 0.95})
    seen = gauntlet(["linear_correlated"], ["even"], check=check)
    assert broken(seen) == {}
    assert seen["role"].to_list() == ["exact", "conditional", "straw man", "random"]


def test_straw_men_that_are_none_are_marked_and_break_no_law():
    check = says("exact", {"exact": "faithful", "top_half": "faithful"}, {"exact": 0.9})
    seen = gauntlet(["redundant_forest"], ["top_half", "even"], check=check)
    assert seen.filter(explainer="top_half")["no_straw_man"].item()
    assert not seen.filter(explainer="even")["no_straw_man"].item()
    assert broken(seen) == {}


def test_alone_each_straw_man_is_judged_by_itself():
    check = says("negated", {})
    seen = gauntlet(["steps"], ["even", "negated"], alone=True, check=check)
    assert [called[0] for called in check.called] == [["even"], ["negated"]]
    assert broken(seen) == {"negated": "recommended"}


def test_a_missing_or_undefined_lead_measure_is_null():
    check = says("exact", {"exact": "faithful"}, {"exact": float("nan"), "even": None})
    seen = gauntlet(["steps"], ["even"], check=check)
    assert seen.filter(pl.col("explainer").is_in(["exact", "even"]))["fidelity"].to_list() == [None, None]


def test_a_check_of_totals_is_taken_in():
    """What the gauntlet is for: everything with the right total passes."""
    seen = gauntlet(["steps"], check=example_check)
    faithful = set(seen.filter(judgement="faithful", role="straw man")["explainer"])
    assert {"even", "reversed", "shuffled", "shifted", "noise_with_total", "one_wrong_column"} <= faithful
    assert not {"negated", "scaled_up", "mean_row", "frozen_noise"} & faithful
    laws = broken(seen)
    assert laws["even"] == laws["reversed"] == "called faithful"
    assert laws["exact"] == "right, and not recommended"


def test_a_users_own_problem():
    own = attrs.evolve(problem("steps"), name="mine")
    seen = gauntlet([own], ["even"], check=says("exact", {"exact": "faithful"}, {"exact": 1.0}))
    assert set(seen["problem"]) == {"mine"}


def test_bad_input():
    with pytest.raises(UnknownNameError, match="problem"):
        gauntlet(["nothing"])
    with pytest.raises(UnknownNameError, match="straw man"):
        gauntlet(["steps"], ["nothing"])
    with pytest.raises(InputError, match="at least two rows"):
        gauntlet(["steps"], rows=1)
