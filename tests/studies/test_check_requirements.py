from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xassay import results
from xassay.errors import InputError, UnknownNameError
from xassay.metrics import available
from xassay.studies.check.measures import measures
from xassay.studies.check.requirements import Requirement
from xassay.studies.check.settings import CheckSettings

EXPLAINERS = (
    "lime",
    "lime:n_samples=200",
    "lime:kernel_width=0.75",
    "my.py:explain",
    "some/where.d/my.py:explain:strength=1.5",
    "random",
)


def parse(text: str) -> Requirement:
    return Requirement.parse(text, EXPLAINERS)


def score(**changes: Any) -> dict[str, Any]:
    fixed = {
        "study": "check",
        "level": "model",
        "explainer": "lime",
        "metric": "masking_skill",
        "value": 0.8,
        "ci_low": 0.7,
        "ci_high": 0.9,
        "n": 50,
        "n_failed": 0,
        "n_undefined": 0,
        "status": "ok",
    }
    return {**fixed, **changes}


def unmet(text: str, *scores: dict[str, Any]) -> str | None:
    return parse(text).unmet(results.frame(scores, results.RESULTS))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("lime.masking_skill>=0.8", ("lime", "masking_skill", None, ">=", 0.8)),
        ("lime.causal_rmse@0.1<0.2", ("lime", "causal_rmse", 0.1, "<", 0.2)),
        ("my.py:explain.masking_skill>=0.8", ("my.py:explain", "masking_skill", None, ">=", 0.8)),
        ("lime.fidelity_q10>=0.5", ("lime", "fidelity_q10", None, ">=", 0.5)),
        (
            "lime:n_samples=200.causal_rmse@0.1<0.2",
            ("lime:n_samples=200", "causal_rmse", 0.1, "<", 0.2),
        ),
        ("lime:kernel_width=0.75.map>-1", ("lime:kernel_width=0.75", "map", None, ">", -1)),
        (
            "some/where.d/my.py:explain:strength=1.5.causal_skill@0.25<=1e-3",
            ("some/where.d/my.py:explain:strength=1.5", "causal_skill", 0.25, "<=", 1e-3),
        ),
        ("  random.placebo_share  <=  .5 ", ("random", "placebo_share", None, "<=", 0.5)),
        ("lime.causal_rmse@1e-1 < 2", ("lime", "causal_rmse", 0.1, "<", 2)),
        ("lime.masking_rmse<inf", ("lime", "masking_rmse", None, "<", float("inf"))),
    ],
)
def test_a_requirement_is_read_as_it_is_written(text: str, expected: tuple[Any, ...]) -> None:
    found = parse(text)
    assert (found.explainer, found.metric, found.sigma, found.op, found.bound) == expected
    assert found.text == text.strip()


@given(
    st.sampled_from(EXPLAINERS),
    st.sampled_from(available()),
    st.none() | st.floats(1e-3, 10),
    st.sampled_from([">=", "<=", ">", "<"]),
    st.floats(allow_nan=False),
    st.sampled_from(["", " "]),
)
def test_every_explainer_metric_and_number_is_read_back(
    explainer: str, metric: str, sigma: float | None, op: str, bound: float, space: str
) -> None:
    at = "" if sigma is None else f"@{sigma!r}"
    found = parse(f"{explainer}.{metric}{at}{space}{op}{space}{bound!r}")
    assert (found.explainer, found.metric, found.op) == (explainer, metric, op)
    assert (found.sigma, found.bound) == (sigma, bound)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "lime",
        "lime.masking_skill",
        "masking_skill>=0.8",
        "lime masking_skill>=0.8",
        "lime.masking_skill=0.8",
        "lime.masking_skill==0.8",
        "lime.masking_skill=>0.8",
        "lime.masking_skill>=0.8 or so",
        "lime.masking_skill@>=0.8",
        "lime.masking_skill@0.1@0.2>=0.8",
        ".masking_skill>=0.8",
    ],
)
def test_another_form_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(InputError, match=r"expected explainer\.metric.*lime\.fidelity>=0\.8") as refused:
        parse(text)
    assert repr(text) in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("lime.masking_skill>=high", "'high'"),
        ("lime.masking_skill>=0,8", "'0,8'"),
        ("lime.masking_skill>=80%", "'80%'"),
        ("lime.masking_skill>=nan", "'nan'"),
        ("lime.masking_skill>>0.8", "'>0.8'"),
        ("lime.masking_skill>=", "'='"),
        ("lime.causal_rmse@small<0.2", "'small'"),
        ("lime.causal_rmse@nan<0.2", "'nan'"),
    ],
)
def test_what_is_no_number_is_named(text: str, word: str) -> None:
    with pytest.raises(InputError, match=f"{word} is no number"):
        parse(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("limee.masking_skill>=0.8", "unknown explainer in requirement .*'limee': did you mean 'lime'"),
        ("maple.masking_skill>=0.8", "unknown explainer in requirement .*'maple'"),
        ("lime:n_samples=20.masking_skill>=0.8", "did you mean 'lime:n_samples=200'"),
        ("lime.maskng_skill>=0.8", "unknown metric in requirement .*'maskng_skill': did you mean 'masking_"),
        ("lime.n_failed<1", "unknown metric in requirement .*'n_failed'"),
    ],
)
def test_names_with_a_typo_are_refused_with_the_likely_one(text: str, words: str) -> None:
    with pytest.raises(UnknownNameError, match=words) as refused:
        parse(text)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "met"),
    [
        ("lime.masking_skill>=0.7", True),
        ("lime.masking_skill>0.7", False),
        ("lime.masking_skill>0.69", True),
        ("lime.masking_skill>=0.75", False),
        ("lime.masking_skill<=0.9", True),
        ("lime.masking_skill<0.9", False),
        ("lime.masking_skill<0.91", True),
        ("lime.masking_skill<=0.85", False),
    ],
)
def test_the_worse_end_of_the_interval_is_tested(text: str, met: bool) -> None:
    assert unmet(text, score()) == (None if met else f"{text}: it is 0.8 [0.7, 0.9]")


@pytest.mark.parametrize(
    ("text", "met"), [("lime.masking_skill>=0.8", True), ("lime.masking_skill>0.8", False)]
)
def test_without_an_interval_the_score_itself_is_tested(text: str, met: bool) -> None:
    found = unmet(text, score(ci_low=None, ci_high=None))
    assert found == (None if met else f"{text}: it is 0.8")


@pytest.mark.parametrize("op", [">=-1e9", "<1e9"])
@pytest.mark.parametrize(
    ("value", "words"), [(None, "the score is missing"), (float("nan"), "the score is undefined")]
)
@pytest.mark.parametrize("reason", [None, "ValueError: all rows failed"])
def test_a_missing_or_undefined_score_fails_every_bound_and_says_why(
    op: str, value: float | None, words: str, reason: str | None
) -> None:
    found = unmet(f"lime.masking_skill{op}", score(value=value, ci_low=None, ci_high=None, reason=reason))
    expected = f"lime.masking_skill{op}: {words}"
    assert found == (expected if reason is None else f"{expected} ({reason})")


@pytest.mark.parametrize(
    "scores",
    [
        [],
        [score(explainer="random")],
        [score(metric="masking_rmse")],
        [score(level="budget")],
        [score(planted="swap")],
    ],
    ids=["none", "another explainer", "another metric", "the convergence curve", "planted rows"],
)
def test_scores_of_something_else_do_not_count(scores: list[dict[str, Any]]) -> None:
    assert unmet("lime.masking_skill>=0", *scores) == "lime.masking_skill>=0: there is no such score"


def test_a_failing_score_of_another_is_no_reason() -> None:
    others = [
        score(explainer="random", value=-9.0),
        score(level="budget", value=-9.0),
        score(planted="a", value=-9),
    ]
    assert unmet("lime.masking_skill>=0.7", score(), *others) is None


def test_without_a_sigma_every_one_that_was_measured_must_pass() -> None:
    near = score(metric="causal_rmse", sigma=0.1, value=0.1, ci_low=0.05, ci_high=0.15)
    far = score(metric="causal_rmse", sigma=0.25, value=0.3, ci_low=0.2, ci_high=0.4)
    assert unmet("lime.causal_rmse<0.5", near, far) is None
    for order in ((near, far), (far, near)):
        found = unmet("lime.causal_rmse<0.2", *order)
        assert found == "lime.causal_rmse<0.2: it is 0.3 [0.2, 0.4] at sigma 0.25"
    assert unmet("lime.causal_rmse@0.1<0.2", near, far) is None
    assert unmet("lime.causal_rmse@0.10<0.2", near, far) is None
    assert unmet("lime.causal_rmse@0.25<0.5", near, far) is None
    assert "at sigma 0.25" in str(unmet("lime.causal_rmse@0.25<0.2", near, far))


def test_a_sigma_that_was_not_measured_fails() -> None:
    measured = score(metric="causal_rmse", sigma=0.1, value=0.0, ci_low=0.0, ci_high=0.0)
    for at in ("0.2", "0.1001", "inf", "-0.1"):
        text = f"lime.causal_rmse@{at}<1"
        assert unmet(text, measured) == f"{text}: there is no such score"
    assert unmet("lime.masking_skill@0.1>=0", score()) == "lime.masking_skill@0.1>=0: there is no such score"


def test_one_undefined_sigma_fails_beside_those_that_pass() -> None:
    good = score(metric="causal_skill", sigma=0.1)
    undefined = score(metric="causal_skill", sigma=0.25, value=float("nan"), ci_low=None, ci_high=None)
    assert (
        unmet("lime.causal_skill>=0.5", good, undefined) == "lime.causal_skill>=0.5: the score is undefined"
    )


@pytest.mark.parametrize("op", [">=-1e9", "<1e9"])
def test_a_score_that_leaves_out_failed_rows_fails_every_bound(op: str) -> None:
    text = f"lime.masking_skill{op}"
    found = unmet(text, score(n_failed=3, reason="ValueError: no such thing"))
    assert found == f"{text}: 3 of 50 rows failed (ValueError: no such thing)"


def test_another_explainer_of_the_same_name_with_options_is_another() -> None:
    bad = score(explainer="lime:n_samples=200", value=0.1, ci_low=0.0, ci_high=0.2)
    assert unmet("lime.masking_skill>=0.7", score(), bad) is None
    assert unmet("lime:n_samples=200.masking_skill>=0.7", score(), bad) is not None


# what no check with these settings can meet is refused before anything runs


@pytest.mark.parametrize(
    ("text", "settings", "expected"),
    [
        ("lime.auc>=0.8", {}, "auc is not a score that a check gives explainers"),
        ("lime.additive_share>=0.8", {}, "additive_share is not a score that a check gives explainers"),
        ("lime.fidelity>=0.8", {"measures": "causal"}, "fidelity needs the measure fidelity; name it"),
        ("lime.randomisation_agreement<0.5", {}, "needs the measure randomisation; name it"),
        ("lime.mrr>=0.8", {}, "mrr is measured only where kind is anomaly"),
        ("lime.causal_rmse@0.3<1", {}, "causal_rmse is measured at sigma 0.1, 0.25, not at 0.3"),
        ("lime.neighbour_agreement@0.2>0", {}, "is measured at sigma 0.001, 0.1, 0.25, not at 0.2"),
        ("lime.fidelity@0.1>=0.8", {}, "fidelity has no sigma"),
        ("lime.seed_agreement@0.1>=0.8", {}, "seed_agreement has no sigma"),
    ],
)
def test_a_score_that_no_check_with_these_settings_gives(text, settings, expected):
    with pytest.raises(InputError) as error:
        parse(text).check_measured(CheckSettings(**settings))
    assert str(error.value).startswith(f"requirement {text!r}: ")
    assert expected in str(error.value)


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        ("lime.fidelity>=0.8", {}),
        ("lime.fidelity_zero_base>=0.8", {}),
        ("lime.model_calls<1000", {"measures": "fidelity"}),
        ("lime.mrr>=0.8", {"kind": "anomaly"}),
        ("lime.causal_rmse@0.3<1", {"sigma": 0.3}),
        ("lime.causal_rmse<1", {}),
        ("lime.neighbour_agreement@0.001>0", {}),
        ("lime.randomisation_agreement<0.5", {"measures": "randomisation"}),
    ],
)
def test_scores_that_a_check_gives(text, settings):
    parse(text).check_measured(CheckSettings(**settings))


def test_no_score_belongs_to_two_measures():
    every = [metric for one in measures().values() for metric in (*one.shown, *one.beside, *one.of_the_model)]
    assert len(set(every)) == len(every)
