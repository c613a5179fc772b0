"""Tests for explainers and for measures of explanations: laws, straw men, known models, the gauntlet.

`check_explainer` and `check_metric` check in one call what every explainer and metric must obey.
`straw_men` spoils explanations on purpose, `problems` are models whose right explanation is known
exactly. A measure that gives a straw man as much as the right explanation cannot tell which
explanation is right.
"""

from xassay.testing.explaining import Explain, Remembered, as_explainer, straw_explainers
from xassay.testing.gauntlet import Judged, broken_law, example_check, gauntlet
from xassay.testing.known_models import Problem
from xassay.testing.laws import (
    EXPLAINER_LAWS,
    METRIC_LAWS,
    Asked,
    Law,
    LawBroken,
    check_explainer,
    check_metric,
)
from xassay.testing.problems import problem, problems
from xassay.testing.shapley import exact_shapley, gaussian_conditional, main_effects
from xassay.testing.spoiling import STRAW_MEN, Around, StrawMan
from xassay.testing.straw_men import distance, same, straw_man, straw_men

__all__ = [
    "EXPLAINER_LAWS",
    "METRIC_LAWS",
    "STRAW_MEN",
    "Around",
    "Asked",
    "Explain",
    "Judged",
    "Law",
    "LawBroken",
    "Problem",
    "Remembered",
    "StrawMan",
    "as_explainer",
    "broken_law",
    "check_explainer",
    "check_metric",
    "distance",
    "exact_shapley",
    "example_check",
    "gauntlet",
    "gaussian_conditional",
    "main_effects",
    "problem",
    "problems",
    "same",
    "straw_explainers",
    "straw_man",
    "straw_men",
]
