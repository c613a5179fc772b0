import math

import attrs
import pytest

from xassay.errors import UnknownNameError
from xassay.metrics import available, describe

WITHOUT_BOUNDS = {"best_scale", "comprehensiveness", "sufficiency", "deletion_area", "insertion_area"}
"""Differences of a model's scores, with their sign, and a factor: no number is too large or too small."""


@pytest.mark.parametrize("name", available())
def test_a_record_says_what_its_metric_is(name: str) -> None:
    metric = describe(name)
    assert metric.name == name
    assert name == name.lower()
    assert metric.full_name
    assert math.isfinite(metric.low) or math.isfinite(metric.high) or name in WITHOUT_BOUNDS
    assert metric.low < metric.high
    assert metric.best is None or metric.low < metric.best < metric.high
    assert isinstance(metric.higher_is_better, bool)
    assert len(metric.reference) > 20


def test_full_names_are_distinct() -> None:
    assert len({describe(name).full_name for name in available()}) == len(available())


@pytest.mark.parametrize(
    ("name", "better"),
    [
        ("mrr", True),
        ("map", True),
        ("mr_precision", True),
        ("exact_match", True),
        ("ela", False),
        ("noise_share", False),
        ("sensitivity_n", True),
        ("faithfulness_correlation", True),
        ("completeness_gap", False),
        ("comprehensiveness", True),
        ("sufficiency", False),
        ("deletion_area", False),
        ("insertion_area", True),
        ("pgi", True),
        ("pgu", False),
        ("max_sensitivity", False),
        ("local_lipschitz", False),
    ],
)
def test_directions_are_those_of_the_definitions(name: str, better: bool) -> None:
    assert describe(name).higher_is_better is better


def test_only_the_best_scale_is_best_within_its_range() -> None:
    assert {name: describe(name).best for name in available() if describe(name).best is not None} == {
        "best_scale": 1.0
    }


def test_a_record_cannot_be_changed() -> None:
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        describe("ela").higher_is_better = True  # type: ignore[misc]


def test_an_unknown_metric_is_refused_with_a_suggestion() -> None:
    with pytest.raises(UnknownNameError, match="unknown metric 'mr_precison': did you mean 'mr_precision'"):
        describe("mr_precison")
