"""Laws that explainers and metrics obey, each of which can fail: `check_explainer`."""

from xassay.testing.laws.check_explainer import check_explainer
from xassay.testing.laws.explainer import EXPLAINER_LAWS
from xassay.testing.laws.law import Law, LawBroken

__all__ = ["EXPLAINER_LAWS", "Law", "LawBroken", "check_explainer"]
