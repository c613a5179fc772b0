"""Whether a difference is real: intervals and tests."""

from xassay.statistics.combined import mean_of_intervals, ratio_of_intervals
from xassay.statistics.comparison import Comparison, compare
from xassay.statistics.families import holm_families
from xassay.statistics.holm import holm
from xassay.statistics.intervals import repeat_interval, share_interval, trial_interval
from xassay.statistics.paired import paired_permutation
from xassay.statistics.resampled import corrected_resampled_t
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
from xassay.statistics.welch import welch_holm

__all__ = [
    "Comparison",
    "RowWeights",
    "Statistic",
    "compare",
    "corrected_resampled_t",
    "holm",
    "holm_families",
    "loss_of_accuracy_interval",
    "mean_interval",
    "mean_of_intervals",
    "paired_permutation",
    "quantile_interval",
    "ratio_of_intervals",
    "repeat_interval",
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
