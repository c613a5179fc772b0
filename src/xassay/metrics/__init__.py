"""How an explanation is judged: rankings against a truth, robustness, fidelity, agreement."""

from xassay.metrics.agreement import agreement, placebo_share, towards
from xassay.metrics.fidelity import causal_losses, causal_losses_and_trivial, causal_rmse, causal_skill
from xassay.metrics.local_model import contributions
from xassay.metrics.masking import masking_losses, masking_rmse, masking_skill
from xassay.metrics.ranking import average_precision, exact_match, r_precision, reciprocal_rank
from xassay.metrics.records import Metric, available, describe
from xassay.metrics.robustness import equalized_loss_of_accuracy, noise_share

__all__ = [
    "Metric",
    "agreement",
    "available",
    "average_precision",
    "causal_losses",
    "causal_losses_and_trivial",
    "causal_rmse",
    "causal_skill",
    "contributions",
    "describe",
    "equalized_loss_of_accuracy",
    "exact_match",
    "masking_losses",
    "masking_rmse",
    "masking_skill",
    "noise_share",
    "placebo_share",
    "r_precision",
    "reciprocal_rank",
    "towards",
]
