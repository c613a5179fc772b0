"""How an explanation is judged: rankings against a ground truth, robustness to noise, fidelity."""

from xassay.metrics.fidelity import causal_losses, causal_losses_and_trivial, causal_rmse, causal_skill
from xassay.metrics.ranking import average_precision, exact_match, r_precision, reciprocal_rank
from xassay.metrics.records import Metric, available, describe
from xassay.metrics.robustness import equalized_loss_of_accuracy, noise_share

__all__ = [
    "Metric",
    "available",
    "average_precision",
    "causal_losses",
    "causal_losses_and_trivial",
    "causal_rmse",
    "causal_skill",
    "describe",
    "equalized_loss_of_accuracy",
    "exact_match",
    "noise_share",
    "r_precision",
    "reciprocal_rank",
]
