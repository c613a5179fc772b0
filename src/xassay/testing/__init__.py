"""Tests for measures of explanations: straw men, models with known explanations, and the gauntlet.

`straw_men` spoils explanations on purpose, `problems` are models whose right explanation is known
exactly. A measure that gives a straw man as much as the right explanation cannot tell which
explanation is right.
"""

from xassay.testing.explaining import Explain, Remembered, StrawExplainer, as_explainer, straw_explainers
from xassay.testing.gauntlet import Judged, broken_law, example_check, gauntlet
from xassay.testing.known_models import Problem
from xassay.testing.laws import EXPLAINER_LAWS, Law, LawBroken, check_explainer
from xassay.testing.problems import problem, problems
from xassay.testing.shapley import exact_shapley, gaussian_conditional, main_effects
from xassay.testing.spoiling import STRAW_MEN, Around, StrawMan
from xassay.testing.straw_men import distance, same, straw_man, straw_men

__all__ = [
    "EXPLAINER_LAWS",
    "STRAW_MEN",
    "Around",
    "Explain",
    "Judged",
    "Law",
    "LawBroken",
    "Problem",
    "Remembered",
    "StrawExplainer",
    "StrawMan",
    "as_explainer",
    "broken_law",
    "check_explainer",
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
