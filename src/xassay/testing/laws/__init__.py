"""Laws that explainers and metrics obey, each of which can fail: `check_explainer`, `check_metric`."""

from xassay.testing.laws.asked import Asked
from xassay.testing.laws.checking import METRIC_LAWS, check_explainer, check_metric
from xassay.testing.laws.explainer import EXPLAINER_LAWS
from xassay.testing.laws.law import Law, LawBroken

__all__ = ["EXPLAINER_LAWS", "METRIC_LAWS", "Asked", "Law", "LawBroken", "check_explainer", "check_metric"]
