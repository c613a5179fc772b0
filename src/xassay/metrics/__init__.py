"""How an explanation is judged: rankings against a truth, robustness, fidelity, stability, agreement."""

from xassay.metrics.agreement import agreement, placebo_share, towards
from xassay.metrics.causal import causal_losses, causal_losses_and_trivial, causal_rmse, causal_skill
from xassay.metrics.contrast import Contrasts, SameSizeSets, same_size_sets, symmetrised
from xassay.metrics.local_model import contributions
from xassay.metrics.masking import masking_losses, masking_rmse, masking_skill
from xassay.metrics.orders import column_orders, path_grid, prefix_sets
from xassay.metrics.paths import comprehensiveness, deletion_area, insertion_area, pgi, pgu, sufficiency
from xassay.metrics.ranking import average_precision, exact_match, r_precision, reciprocal_rank
from xassay.metrics.records import Metric, available, describe
from xassay.metrics.robustness import equalized_loss_of_accuracy, noise_share
from xassay.metrics.same_size import fidelity
from xassay.metrics.sets import (
    best_scale,
    claimed_sums,
    completeness_gap,
    faithfulness_correlation,
    pooled_best_scale,
    rank_sensitivity_n,
    sensitivity_n,
)
from xassay.metrics.stability import local_lipschitz, max_sensitivity
from xassay.metrics.yardsticks import even_split, shuffled

__all__ = [
    "Contrasts",
    "Metric",
    "SameSizeSets",
    "agreement",
    "available",
    "average_precision",
    "best_scale",
    "causal_losses",
    "causal_losses_and_trivial",
    "causal_rmse",
    "causal_skill",
    "claimed_sums",
    "column_orders",
    "completeness_gap",
    "comprehensiveness",
    "contributions",
    "deletion_area",
    "describe",
    "equalized_loss_of_accuracy",
    "even_split",
    "exact_match",
    "faithfulness_correlation",
    "fidelity",
    "insertion_area",
    "local_lipschitz",
    "masking_losses",
    "masking_rmse",
    "masking_skill",
    "max_sensitivity",
    "noise_share",
    "path_grid",
    "pgi",
    "pgu",
    "placebo_share",
    "pooled_best_scale",
    "prefix_sets",
    "r_precision",
    "rank_sensitivity_n",
    "reciprocal_rank",
    "same_size_sets",
    "sensitivity_n",
    "shuffled",
    "sufficiency",
    "symmetrised",
    "towards",
]
