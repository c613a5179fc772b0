"""Whether a difference is real: intervals and tests."""

from xassay.statistics.comparison import Comparison, compare
from xassay.statistics.families import holm_families
from xassay.statistics.holm import holm
from xassay.statistics.intervals import (
    cluster_draws,
    cluster_replicates,
    interval,
    repeat_replicates,
    share_interval,
    trial_interval,
)
from xassay.statistics.paired import PairedDifference, PairedResult, paired_holm, paired_permutation
from xassay.statistics.resampled import ResampledResult, corrected_resampled_t
from xassay.statistics.row_scores import (
    loss_of_accuracy_interval,
    mean_interval,
    quantile_interval,
    root_mean_interval,
    share_of_squares_interval,
    skill_interval,
    unseen_share,
)
from xassay.statistics.row_weights import RowWeights, Statistic, row_interval
from xassay.statistics.samples import sample_interval
from xassay.statistics.welch import WelchResult, welch_holm

__all__ = [
    "Comparison",
    "PairedDifference",
    "PairedResult",
    "ResampledResult",
    "RowWeights",
    "Statistic",
    "WelchResult",
    "cluster_draws",
    "cluster_replicates",
    "compare",
    "corrected_resampled_t",
    "holm",
    "holm_families",
    "interval",
    "loss_of_accuracy_interval",
    "mean_interval",
    "paired_holm",
    "paired_permutation",
    "quantile_interval",
    "repeat_replicates",
    "root_mean_interval",
    "row_interval",
    "sample_interval",
    "share_interval",
    "share_of_squares_interval",
    "skill_interval",
    "trial_interval",
    "unseen_share",
    "welch_holm",
]
