"""Laws that every registered metric obeys."""

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from answered import ANSWERED, STABILITY
from xassay import metrics
from xassay.types import BoolArray, Explanation, FloatArray

Score = Callable[..., FloatArray]

NOISE = np.array([False, True, False, True, False, False])


def noise_share(attributions: Any, relevant: Any, ties: str = "expected") -> FloatArray:
    return metrics.noise_share(attributions, relevant, NOISE, ties)


RANKING: dict[str, Score] = {
    "mrr": metrics.reciprocal_rank,
    "map": metrics.average_precision,
    "mr_precision": metrics.r_precision,
    "exact_match": metrics.exact_match,
}
ROBUSTNESS: dict[str, Score] = {
    "noise_share": noise_share,
    "ela": metrics.equalized_loss_of_accuracy,
    "placebo_share": metrics.placebo_share,
}
BACKGROUND = np.random.default_rng(1).standard_normal((20, 2))


def masking_rmse(explanation: Explanation, predict: Any, rows: FloatArray) -> float:
    return metrics.masking_rmse(explanation, predict, rows, BACKGROUND)


def masking_skill(explanation: Explanation, predict: Any, rows: FloatArray) -> float:
    return metrics.masking_skill(explanation, predict, rows, BACKGROUND)


FIDELITY: dict[str, Score] = {
    "causal_rmse": metrics.causal_rmse,
    "causal_skill": metrics.causal_skill,
    "masking_rmse": masking_rmse,
    "masking_skill": masking_skill,
}
AGREEMENT = {"seed_agreement", "neighbour_agreement", "background_agreement"}
"""All `metrics.agreement`, of different pairs."""
COUNTED = {
    "rmse": ("maple/scoring.py", "an error of a prediction, no judgement of an explanation"),
    "features_kept": ("maple/scoring.py", "a number that a fitted MAPLE holds"),
    "pattern_match": ("maple/scoring.py", "whether two words are equal"),
    "planted_noticed": ("check/measures/planted.py", "a share of rows, counted where anomalies are planted"),
    "model_calls": ("check/measures/cost.py", "counted by the wrapper around the model"),
    "fidelity_pooled": ("check/measures/fidelity.py", "of sums over rows of what `Contrasts` gives"),
    "fidelity_q10": ("check/measures/fidelity.py", "a quantile of `metrics.fidelity` over rows"),
    "fidelity_q50": ("check/measures/fidelity.py", "another"),
    "rows_right": ("check/measures/fidelity.py", "a share of rows, by a threshold of `metrics.fidelity`"),
    "additive_share": ("check/measures/fidelity.py", "of the model, no judgement of an explanation"),
    "fidelity_zero_base": ("check/measures/fidelity.py", "`metrics.fidelity` against a single row"),
    "fidelity_mean_base": ("check/measures/fidelity.py", "another"),
    "gap_zero_base": ("check/measures/fidelity.py", "`metrics.completeness_gap` against a single row"),
    "gap_mean_base": ("check/measures/fidelity.py", "another"),
    "masking_skill_even": ("check/measures/fidelity.py", "`metrics.masking_skill` beside another yardstick"),
    "masking_skill_shuffled": ("check/measures/fidelity.py", "another"),
    "masking_skill_ceiling": ("check/measures/fidelity.py", "of the model, no judgement of an explanation"),
    "fidelity_conditional": ("check/measures/data.py", "`Contrasts` of answers on the data"),
    "separability": ("check/measures/data.py", "of the model's data, no judgement of an explanation"),
    "off_data_alarm": ("check/measures/data.py", "of the model, no judgement of an explanation"),
    "randomisation_agreement": (
        "check/measures/randomisation.py",
        "`metrics.agreement` of two models' explanations: here less is better",
    ),
    "model_change": ("check/measures/stability.py", "of the model, no judgement of an explanation"),
    "auc": ("crem/detection.py", "scikit-learn's, of a detector"),
    "precision": ("crem/detection.py", "scikit-learn's, of a detector"),
    "recall": ("crem/detection.py", "scikit-learn's, of a detector"),
    "located": ("crem/detection.py", "a share of rows, counted where a detector points at outputs"),
}
"""No function of ours that takes an explanation: where a study computes it, and what it is instead."""
FORMED = {
    "fidelity_zero_base": 'f"fidelity_{base}_base"',
    "fidelity_mean_base": 'f"fidelity_{base}_base"',
    "gap_zero_base": 'f"gap_{base}_base"',
    "gap_mean_base": 'f"gap_{base}_base"',
}
"""Names that are put together."""
BY_RANK = {**RANKING, "noise_share": noise_share}

each_ranking = pytest.mark.parametrize("name", RANKING)
each_by_rank = pytest.mark.parametrize("name", BY_RANK)
each_tie_rule = pytest.mark.parametrize("ties", ["expected", "ordered", "reversed"])


@pytest.fixture
def rows() -> tuple[FloatArray, BoolArray]:
    """Many ties, some rows without a relevant feature, some that could not be explained."""
    rng = np.random.default_rng(5)
    values = rng.integers(-2, 3, (60, 6)).astype(float)
    relevant = rng.random((60, 6)) < 0.4
    relevant[:3] = False
    values[3:6, 2] = np.nan
    return values, relevant


def test_every_metric_is_classified() -> None:
    classes = (RANKING, ROBUSTNESS, FIDELITY, ANSWERED, STABILITY, AGREEMENT, COUNTED)
    assert sorted(metrics.available()) == sorted(itertools.chain(*classes))  # each under one law


@pytest.mark.parametrize("name", COUNTED)
def test_what_obeys_no_law_here_is_computed_by_a_study_and_has_a_reason(name: str) -> None:
    module, reason = COUNTED[name]
    assert reason
    source = Path(metrics.__file__).parents[1] / "studies" / module
    assert FORMED.get(name, f'"{name}"') in source.read_text("utf-8")


@each_by_rank
@each_tie_rule
def test_scores_stay_within_the_recorded_range(
    name: str, ties: str, rows: tuple[FloatArray, BoolArray]
) -> None:
    scores, record = BY_RANK[name](*rows, ties), metrics.describe(name)
    defined = scores[~np.isnan(scores)]
    assert len(defined) > 40
    assert ((defined >= record.low) & (defined <= record.high)).all()


def test_ela_stays_within_the_recorded_range() -> None:
    fractions = np.linspace(0, 1, 11)
    record, found = metrics.describe("ela"), ROBUSTNESS["ela"](fractions[:, None], fractions[1:])
    assert ((found >= record.low) & (found <= record.high)).all()


@each_ranking
@each_tie_rule
@pytest.mark.parametrize("n_relevant", range(1, 6))
def test_a_perfect_ranking_scores_best_and_its_reverse_worse(name: str, ties: str, n_relevant: int) -> None:
    values = np.arange(6.0, 0, -1)[None]
    relevant = (np.arange(6) < n_relevant)[None]
    record = metrics.describe(name)
    best, worst = RANKING[name](values, relevant, ties), RANKING[name](values[:, ::-1], relevant, ties)
    assert best == (record.high if record.higher_is_better else record.low)
    assert (worst < best) == record.higher_is_better
    assert worst != best


@pytest.mark.parametrize("name", ROBUSTNESS)
def test_more_harm_by_noise_scores_worse(name: str) -> None:
    little, much = {
        "ela": ((0.8, 0.9), (0.2, 0.9)),
        "noise_share": (([5 - 4.0 * NOISE], [~NOISE]), ([1 + 4.0 * NOISE], [~NOISE])),
        "placebo_share": (([5 - 4.0 * NOISE], NOISE), ([1 + 4.0 * NOISE], NOISE)),
    }[name]
    score = ROBUSTNESS[name]
    assert (score(*little) > score(*much)) == metrics.describe(name).higher_is_better
    assert score(*little) != score(*much)


@each_by_rank
@each_tie_rule
def test_undefined_rows_and_only_they_are_nan(
    name: str, ties: str, rows: tuple[FloatArray, BoolArray]
) -> None:
    values, relevant = rows
    undefined = np.isnan(values).any(axis=1) | ~relevant.any(axis=1)
    np.testing.assert_array_equal(np.isnan(BY_RANK[name](values, relevant, ties)), undefined)


@each_by_rank
@each_tie_rule
def test_a_batch_equals_its_rows_one_by_one(name: str, ties: str, rows: tuple[FloatArray, BoolArray]) -> None:
    alone = [BY_RANK[name]([value], [flags], ties)[0] for value, flags in zip(*rows, strict=True)]
    np.testing.assert_array_equal(BY_RANK[name](*rows, ties), alone)


@each_ranking
def test_permuting_features_changes_no_score(name: str, rows: tuple[FloatArray, BoolArray]) -> None:
    values, relevant = rows
    order = np.array([3, 0, 5, 1, 4, 2])
    np.testing.assert_allclose(RANKING[name](values[:, order], relevant[:, order]), RANKING[name](*rows))


@each_by_rank
def test_scoring_leaves_its_arguments_alone(name: str, rows: tuple[FloatArray, BoolArray]) -> None:
    kept = [array.copy() for array in rows]
    BY_RANK[name](*rows, "ordered")
    for array, before in zip(rows, kept, strict=True):
        np.testing.assert_array_equal(array, before)


@pytest.mark.parametrize("name", FIDELITY)
def test_a_worse_local_model_scores_worse(name: str) -> None:
    rows = np.random.default_rng(0).standard_normal((50, 2))
    record, found = metrics.describe(name), []
    for error in (0.0, 0.5, 2.0):
        slopes = np.full(rows.shape, 1.0 + error)
        explanation = Explanation(slopes, coefficients=slopes, intercepts=np.zeros(50))
        found.append(FIDELITY[name](explanation, lambda X: X.sum(axis=1), rows))
    assert found == sorted(found, reverse=record.higher_is_better)
    assert len(set(found)) == len(found)
    assert found[0] == pytest.approx(record.high if record.higher_is_better else record.low, abs=1e-12)


@pytest.mark.parametrize("name", sorted(AGREEMENT))
def test_agreement_falls_from_best_to_worst_as_explanations_part(name: str) -> None:
    record, rng = metrics.describe(name), np.random.default_rng(0)
    first, other, order = rng.standard_normal((50, 6)), rng.standard_normal((50, 6)), [3, 0, 5, 1, 4, 2]
    assert record.higher_is_better
    np.testing.assert_array_equal(metrics.agreement(first, first), record.high)
    np.testing.assert_allclose(metrics.agreement(first, -first), record.low, atol=1e-15)
    found = [metrics.agreement(first, first + level * other) for level in (0.1, 0.5, 2.0)]
    assert found[0].mean() > found[1].mean() > found[2].mean()
    assert ((found[2] >= record.low) & (found[2] <= record.high)).all()
    np.testing.assert_array_equal(metrics.agreement(other, first), metrics.agreement(first, other))
    permuted = metrics.agreement(first[:, order], other[:, order])
    np.testing.assert_allclose(permuted, metrics.agreement(first, other), atol=1e-15)
    alone = [metrics.agreement(a[None], b[None])[0] for a, b in zip(first, other, strict=True)]
    np.testing.assert_array_equal(alone, metrics.agreement(first, other))
