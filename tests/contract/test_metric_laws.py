"""Each law of metrics catches a metric that breaks it, in each of its cases."""

from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
import pytest

from answered import CORRELATED, HOW_MUCH, ORDERED, fidelity
from xassay import metrics
from xassay.errors import InputError, UnknownNameError
from xassay.testing import METRIC_LAWS, LawBroken, check_metric
from xassay.testing.laws.metric import MetricSubject
from xassay.types import Explanation


def near_moves(values: Any, near: Any, apart: Any) -> Any:
    return metrics.max_sensitivity(values, near)


GOOD: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "ranking": (metrics.reciprocal_rank, {"higher_is_better": True, "low": 0, "high": 1}),
    "noise": (metrics.noise_share, {"higher_is_better": False, "low": 0, "high": 1}),
    "correlation": (CORRELATED["sensitivity_n"], {"higher_is_better": True, "low": -1, "high": 1}),
    "order": (ORDERED["pgi"], {"higher_is_better": True, "low": 0, "signed": False}),
    "amount": (HOW_MUCH["completeness_gap"], {"higher_is_better": False, "low": 0}),
    "share": (fidelity, {"higher_is_better": True, "low": 0, "high": 1}),
    "stability": (near_moves, {"higher_is_better": False, "low": 0}),
    "agreement": (metrics.agreement, {"higher_is_better": True, "low": 0, "high": 1}),
    "local_linear": (metrics.causal_rmse, {"higher_is_better": False, "low": 0}),
    "additive": (metrics.masking_rmse, {"higher_is_better": False, "low": 0}),
}
fresh = np.random.default_rng(0)


def after(change: Callable[[Any], Any]) -> Any:
    """A spoiler: the good metric's scores are changed."""
    return lambda score: lambda *args: change(score(*args))


def writing(score: Any) -> Any:
    def spoiled(first: Any, *rest: Any) -> Any:
        found = score(first, *rest)
        (first.values if isinstance(first, Explanation) else first)[0, 0] += 1
        return found

    return spoiled


def seeding(score: Any) -> Any:
    def spoiled(*args: Any) -> Any:
        np.random.seed(1)
        return score(*args)

    return spoiled


def constant(score: Any) -> Any:
    return after(lambda found: 0 * np.nan_to_num(found) + 0.5)(score)


def by_place(score: Any) -> Any:
    return lambda phi, *rest: score(phi, *rest) + 1e-6 * np.arange(len(phi))


def with_first_column(score: Any) -> Any:
    return lambda values, *rest: score(values, *rest) + 1e-3 * np.abs(np.nan_to_num(values[..., 0]))


def filled(score: Any) -> Any:
    """Takes what is missing for zero."""

    def spoiled(explanation: Any, *rest: Any) -> Any:
        parts = ("values", "coefficients")
        changes = {n: np.nan_to_num(v) for n in parts if (v := getattr(explanation, n)) is not None}
        return score(attrs.evolve(explanation, **changes), *rest)

    return spoiled


def favoured(score: Any) -> Any:
    """Breaks ties by the truth."""
    return lambda phi, asked, seed=0: score(asked.exact if np.ptp(phi) == 0 else phi, asked, seed)


def of_directions(score: Any) -> Any:
    return lambda phi, *rest: score(phi / np.linalg.norm(phi, axis=1, keepdims=True), *rest)


def first_neighbour(score: Any) -> Any:
    return lambda values, near, apart: score(values, near[:, :1], apart[:, :1])


def lopsided(score: Any) -> Any:
    return lambda one, other: score(one, other) + 0.01 * np.abs(one).sum(axis=1)


def totals(score: Any) -> Any:
    def spoiled(explanation: Any, predict: Any, rows: Any, background: Any) -> float:
        gap = explanation.values.sum(axis=1) - predict(rows) + predict(background).mean()
        return float(np.sqrt(np.nanmean(gap**2)))

    return spoiled


def centred(score: Any) -> Any:
    """Sees no total."""

    def spoiled(explanation: Any, predict: Any, rows: Any, background: Any) -> float:
        exact = [1.0, -2.0, 0.5, 3.0] * (rows - background.mean(axis=0))
        off = explanation.values - exact
        return float(np.sqrt(np.nanmean((off - off.mean(axis=1, keepdims=True)) ** 2)))

    return spoiled


def signed_rank(score: Any) -> Any:
    return lambda values, relevant: score(np.where(np.isnan(values), values, np.exp(values)), relevant)


fidelity_kinds = ("correlation", "order", "share")
answer_kinds = (*fidelity_kinds, "amount")
row_kinds = ("ranking", "noise", *answer_kinds, "stability", "agreement")
number_kinds = ("local_linear", "additive")
ADVERSARIES: list[tuple[tuple[str, ...], str, Any]] = [
    (tuple(GOOD), "same_again", after(lambda found: found + fresh.random(np.shape(found)))),
    (tuple(GOOD), "inputs_are_left_alone", writing),
    (tuple(GOOD), "global_state", seeding),
    (row_kinds, "one_score_a_row", after(lambda found: found[:-1])),
    (row_kinds, "one_score_a_row", after(lambda found: found - 100)),
    (row_kinds, "one_score_a_row", after(lambda found: np.nan * found)),
    (row_kinds, "rows_are_independent", after(lambda found: found - np.nanmean(found))),
    (row_kinds, "rows_are_independent", by_place),
    (row_kinds, "column_order", with_first_column),
    (answer_kinds, "range_of_good_and_bad", after(lambda found: found - 100)),
    (answer_kinds, "ties_row_by_row", by_place),
    (answer_kinds, "unanswered_row", after(np.nan_to_num)),
    (answer_kinds, "unanswered_row", after(lambda found: found + 0 * found.sum())),
    (fidelity_kinds, "wrong_columns", constant),
    (fidelity_kinds, "wrong_columns", after(np.negative)),
    (fidelity_kinds, "more_noise", constant),
    (("correlation", "amount", "share"), "exact_is_best", after(lambda found: found * 0.9 + 0.05)),
    (("order",), "chance", favoured),
    (("correlation",), "no_correlation", after(lambda found: found + 0.1)),
    (("correlation",), "no_correlation", after(np.abs)),
    (("amount",), "scale", of_directions),
    (("amount",), "scale", constant),
    (("ranking",), "relevant_columns_first", constant),
    (("ranking",), "relevant_columns_first", after(lambda found: 1 - found)),
    (("ranking",), "promotion", constant),
    (("ranking",), "promotion", after(lambda found: 1 - found)),
    (("ranking",), "undefined_rows", after(np.nan_to_num)),
    (("ranking",), "undefined_rows", after(lambda found: np.where(found < 1, np.nan, found))),
    (("ranking",), "sizes_alone", signed_rank),
    (("noise",), "failed_rows_are_undefined", after(np.nan_to_num)),
    (("noise",), "failed_rows_are_undefined", after(lambda found: np.where(found > 0, np.nan, found))),
    (("noise",), "more_weight_on_noise", constant),
    (("noise",), "more_weight_on_noise", after(lambda found: 1 - found)),
    (("stability",), "larger_moves", constant),
    (("stability",), "larger_moves", after(lambda found: np.minimum(found, 1e-3))),
    (("stability",), "drawn_anew", constant),
    (("stability",), "order_of_neighbours", first_neighbour),
    (("agreement",), "same_and_opposite", constant),
    (("agreement",), "same_and_opposite", after(lambda found: np.maximum(found, 0.1))),
    (("agreement",), "parting", constant),
    (("agreement",), "either_way", lopsided),
    (number_kinds, "a_number_in_range", after(lambda found: np.array([found, found]))),
    (number_kinds, "a_number_in_range", after(lambda found: -found)),
    (number_kinds, "exact_is_best", after(lambda found: found + 0.01)),
    (number_kinds, "failed_row", filled),
    (number_kinds, "errors_never_help", after(lambda found: -found)),
    (number_kinds, "errors_never_help", constant),
    (number_kinds, "each_error_counts", after(lambda found: float(found > 0.01))),
    (("additive",), "wrong_columns", totals),
    (("additive",), "wrong_total", centred),
]
CASES = [
    pytest.param(kind, law, case, spoil, id=f"{number}-{kind}-{law}-{case}")
    for number, (kinds, law, spoil) in enumerate(ADVERSARIES)
    for kind in kinds
    for case in METRIC_LAWS[kind][law].cases
]


@pytest.mark.parametrize(("kind", "law", "case", "spoil"), CASES)
def test_a_law_catches_what_breaks_it(kind: str, law: str, case: str, spoil: Any) -> None:
    score, said = GOOD[kind]
    with (
        np.errstate(invalid="ignore"),
        pytest.raises(LawBroken, match=f"law {law} is broken: ") as caught,
    ):
        METRIC_LAWS[kind][law].outcome(MetricSubject(spoil(score), **said), [case])
    assert caught.value.law == law
    assert "Error" not in caught.value.seen  # it was seen by the law, and did not just fail
    assert case in caught.value.given


def test_every_case_of_every_law_catches_something() -> None:
    caught = {tuple(case.values[:3]) for case in CASES}
    assert caught == {
        (kind, law.name, case)
        for kind, laws in METRIC_LAWS.items()
        for law in laws.values()
        for case in law.cases
    }


@pytest.mark.parametrize("kind", GOOD)
def test_a_lawful_metric_passes_in_one_call(kind: str) -> None:
    score, said = GOOD[kind]
    found = check_metric(score, kind=kind, **said)
    assert found == dict.fromkeys(METRIC_LAWS[kind], "held")


@pytest.mark.parametrize("kind", sorted(set(GOOD) - {"agreement"}))  # whose laws read no direction
def test_the_wrong_direction_is_caught(kind: str) -> None:
    score, said = GOOD[kind]
    with pytest.raises(LawBroken):
        check_metric(score, kind=kind, **{**said, "higher_is_better": not said["higher_is_better"]})


def test_the_range_that_is_said_is_held() -> None:
    with pytest.raises(LawBroken, match=r"scores from .* and the range is said to be 0 to 0\.4"):
        check_metric(metrics.reciprocal_rank, kind="ranking", higher_is_better=True, low=0, high=0.4)


def test_kinds_and_skipped_laws_are_named() -> None:
    score, said = GOOD["ranking"]
    with pytest.raises(UnknownNameError, match="unknown kind of metric 'rankin': did you mean 'ranking'"):
        check_metric(score, kind="rankin", **said)
    with pytest.raises(UnknownNameError, match="unknown law 'promotio'"):
        check_metric(score, kind="ranking", skip={"promotio": "no"}, **said)
    with pytest.raises(InputError, match="cannot be skipped without a reason"):
        check_metric(score, kind="ranking", skip={"promotion": ""}, **said)
    found = check_metric(constant(score), kind="ranking", **said, skip={
        "relevant_columns_first": "it is a constant", "promotion": "likewise", "undefined_rows": "likewise",
    })  # fmt: skip
    assert found["promotion"] == "skipped: likewise"


def test_laws_say_themselves_in_one_sentence() -> None:
    for laws in METRIC_LAWS.values():
        for name, law in laws.items():
            assert law.name == name
            assert law.text.endswith(".")
