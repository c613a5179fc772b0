"""Laws that every registered metric obeys, each under those of its kind."""

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from answered import CORRELATED, HOW_MUCH, ORDERED, STABILITY, fidelity
from measured import answered, explained, scored, settings
from xassay import metrics
from xassay.studies.check import prepare
from xassay.studies.check.variants import Variant
from xassay.testing import METRIC_LAWS, LawBroken
from xassay.testing.laws.metric import MetricSubject
from xassay.types import Explanation, FloatArray

Score = Callable[..., Any]


def placebo_share(attributions: Any, relevant: Any, noise: Any) -> FloatArray:
    return metrics.placebo_share(attributions, noise)


BACKGROUND = np.random.default_rng(1).standard_normal((20, 2))


def masking_rmse(explanation: Explanation, predict: Any, rows: FloatArray) -> float:
    return metrics.masking_rmse(explanation, predict, rows, BACKGROUND)


def masking_skill(explanation: Explanation, predict: Any, rows: FloatArray) -> float:
    return metrics.masking_skill(explanation, predict, rows, BACKGROUND)


ANSWERS: dict[Any, Any] = {}
"""What a check asked of one model, whose explanations are many."""


def of_a_check(name: str, measure: str = "fidelity") -> Score:
    """A score as a check computes it of explanations that are given."""

    def score(explanation: Explanation, predict: Any, rows: FloatArray, background: FloatArray) -> float:
        asked = {"rows": len(rows), "max_background": len(background)}
        key = (measure, rows.tobytes(), background.tobytes(), predict(rows).tobytes())
        if key not in ANSWERS:
            subject = prepare(predict, rows, background, settings(**asked))
            ANSWERS[key] = subject, answered(measure, subject, **asked)
        subject, known = ANSWERS[key]
        given = explained(subject, explanation.values[subject.row_ids])
        one = scored(measure, subject, given, known=known, **asked)[name]
        return one.score([column[one.defined] for column in one.columns])

    return score


def around_zero(name: str) -> Score:
    """The same of data whose mean is zero: there the exact contributions are those against zeros too."""
    score = of_a_check(name)

    def moved(explanation: Explanation, predict: Any, rows: FloatArray, background: FloatArray) -> float:
        mean = background.mean(axis=0)
        return score(explanation, lambda X: predict(X + mean), rows - mean, background - mean)

    return moved


def randomisation_agreement(values: FloatArray, others: FloatArray) -> FloatArray:
    """As a check computes it: explanations of a model, and of the model refitted to shuffled targets."""
    n, p = values.shape
    rows = np.random.default_rng(0).standard_normal((max(n, 20), p))
    subject = prepare(lambda X: X.sum(axis=1), rows, None, settings(rows=len(rows)))
    base, refitted = explained(subject, values.copy()), explained(subject, others.copy())
    other = {Variant("refitted", measure="randomisation"): refitted}
    return scored("randomisation", subject, base, other)["randomisation_agreement"].columns[0]


TIES = ("expected", "ordered", "reversed")
RANKING: dict[str, Score] = {
    "mrr": metrics.reciprocal_rank,
    "map": metrics.average_precision,
    "mr_precision": metrics.r_precision,
    "exact_match": metrics.exact_match,
}
NOISE: dict[str, Score] = {"noise_share": metrics.noise_share, "placebo_share": placebo_share}
LOCAL_LINEAR: dict[str, Score] = {
    "causal_rmse": metrics.causal_rmse,
    "causal_skill": metrics.causal_skill,
    "masking_rmse": masking_rmse,
    "masking_skill": masking_skill,
}
ADDITIVE: dict[str, Score] = {
    "masking_rmse": metrics.masking_rmse,
    "masking_skill": metrics.masking_skill,
    **{
        name: of_a_check(name)
        for name in (
            "fidelity",
            "fidelity_pooled",
            "fidelity_q10",
            "fidelity_q50",
            "rows_right",
            "fidelity_mean_base",
            "completeness_gap",
            "gap_mean_base",
            "masking_skill_even",
            "masking_skill_shuffled",
        )
    },
    "fidelity_zero_base": around_zero("fidelity_zero_base"),
    "gap_zero_base": around_zero("gap_zero_base"),
    "fidelity_conditional": of_a_check("fidelity_conditional", "data"),
}
AGREEMENT: dict[str, Score] = {
    "seed_agreement": metrics.agreement,
    "neighbour_agreement": metrics.agreement,
    "background_agreement": metrics.agreement,
    "randomisation_agreement": randomisation_agreement,
}
"""The first three are one function of different pairs."""
ELA = {"ela"}
"""Of two rates of success, not of explanations: it has tests of its own below."""
KINDS: dict[str, dict[str, Score]] = {
    "ranking": RANKING,
    "noise": NOISE,
    "local_linear": LOCAL_LINEAR,
    "additive": ADDITIVE,
    "correlation": CORRELATED,
    "order": ORDERED,
    "amount": HOW_MUCH,
    "share": {"fidelity": fidelity},
    "stability": STABILITY,
    "agreement": AGREEMENT,
}
UNSIGNED = {"pgi", "pgu"}
"""What these measure has no sign."""

COUNTED = {
    "rmse": ("maple/scoring.py", "an error of a prediction, no judgement of an explanation"),
    "features_kept": ("maple/scoring.py", "a number that a fitted MAPLE holds"),
    "pattern_match": ("maple/scoring.py", "whether two words are equal"),
    "planted_noticed": ("check/measures/planted.py", "a share of rows, counted where anomalies are planted"),
    "model_calls": ("check/measures/cost.py", "counted by the wrapper around the model"),
    "additive_share": ("check/measures/fidelity.py", "of the model, no judgement of an explanation"),
    "masking_skill_ceiling": ("check/measures/fidelity.py", "of the model, no judgement of an explanation"),
    "separability": ("check/measures/data.py", "of the model's data, no judgement of an explanation"),
    "off_data_alarm": ("check/measures/data.py", "of the model, no judgement of an explanation"),
    "model_change": ("check/measures/stability.py", "of the model, no judgement of an explanation"),
    "auc": ("crem/quality.py", "scikit-learn's, of a detector"),
    "precision": ("crem/quality.py", "scikit-learn's, of a detector"),
    "recall": ("crem/quality.py", "scikit-learn's, of a detector"),
    "located": ("crem/detection.py", "a share of rows, counted where a detector points at outputs"),
}
"""No function of ours that takes an explanation: where a study computes it, and what it is instead."""


def held() -> list[Any]:
    """Each metric under each law of its kind, in each of its cases."""
    found = []
    for kind, own in KINDS.items():
        for name, law in itertools.product(own, METRIC_LAWS[kind].values()):
            ties = TIES if kind == "ranking" or name == "noise_share" else (None,)
            for case, tie in itertools.product(law.cases, ties):
                words = (kind, name, law.name, case, tie)
                found.append(pytest.param(*words, id="-".join(str(word) for word in words if word)))
    return found


def skipped(kind: str, name: str, ties: str | None) -> dict[str, str]:
    """Laws that are not meant for a metric, and why."""
    if ties in ("ordered", "reversed"):
        return {"column_order": "ties are broken by place"}
    if kind == "additive" and name.startswith("fidelity"):
        return {"wrong_total": "what is added to all columns cancels; the completeness gap sees it"}
    if kind == "additive" and name in ("completeness_gap", "gap_zero_base", "gap_mean_base"):
        return {"wrong_columns": "it judges the total alone; fidelity sees the columns"}
    if name == "rows_right":
        return {"each_error_counts": "it counts rows over a threshold"}
    return {}


@pytest.mark.parametrize(("kind", "name", "law", "case", "ties"), held())
def test_law(kind: str, name: str, law: str, case: str, ties: str | None) -> None:
    record, score = metrics.describe(name), KINDS[kind][name]

    def with_ties(*args: Any) -> Any:
        return score(*args, ties)

    subject = MetricSubject(
        score if ties is None else with_ties,
        record.higher_is_better,
        record.low,
        record.high,
        record.best,
        signed=name not in UNSIGNED,
    )
    if law in skipped(kind, name, ties):
        with pytest.raises(LawBroken, match=law):  # else it need not be skipped
            METRIC_LAWS[kind][law].outcome(subject, [case])
        return
    assert METRIC_LAWS[kind][law].outcome(subject, [case]) == "held"


def test_every_metric_is_held_by_laws_or_has_a_reason() -> None:
    classes = {name for own in KINDS.values() for name in own} | ELA
    assert classes | set(COUNTED) == set(metrics.available())
    assert not classes & set(COUNTED)
    assert set(KINDS) == set(METRIC_LAWS)


@pytest.mark.parametrize("name", COUNTED)
def test_what_obeys_no_law_here_is_computed_by_a_study_and_has_a_reason(name: str) -> None:
    module, reason = COUNTED[name]
    assert reason
    source = Path(metrics.__file__).parents[1] / "studies" / module
    assert f'"{name}"' in source.read_text("utf-8")


def test_ela_stays_within_the_recorded_range_and_more_harm_scores_worse() -> None:
    fractions, record = np.linspace(0, 1, 11), metrics.describe("ela")
    found = metrics.equalized_loss_of_accuracy(fractions[:, None], fractions[1:])
    assert ((found >= record.low) & (found <= record.high)).all()
    assert not record.higher_is_better
    assert (np.diff(found, axis=0) < 0).all()  # less noise does less harm


@pytest.mark.parametrize("ties", TIES)
def test_noise_share_of_rows_without_a_relevant_column_is_undefined(ties: str) -> None:
    values = np.array([[1.0, 2.0, 3.0], [1.0, np.nan, 3.0], [1.0, 2.0, 3.0]])
    relevant, noise = np.array([[1, 0, 0], [1, 0, 0], [0, 0, 0]], dtype=bool), np.array([0, 0, 1], dtype=bool)
    assert np.isnan(metrics.noise_share(values, relevant, noise, ties)).tolist() == [False, True, True]


@pytest.mark.parametrize("name", STABILITY)
def test_instability_grows_in_proportion(name: str) -> None:
    rng = np.random.default_rng(2)
    values, shift, apart = rng.random((30, 4)), rng.random((30, 6, 4)), rng.random((30, 6))
    one, three = (STABILITY[name](values, values[:, None] + k * shift, apart) for k in (1, 3))
    np.testing.assert_allclose(three, 3 * one)


@pytest.mark.parametrize("factor", [0.5, 1.0, 30.0])
def test_randomisation_brings_explanations_to_one_weight(factor: float) -> None:
    values = np.random.default_rng(1).standard_normal((20, 4))
    np.testing.assert_allclose(randomisation_agreement(values, factor * values), 1)
