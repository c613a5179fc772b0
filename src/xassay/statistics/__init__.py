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
from xassay.statistics.paired import PairedResult, paired_holm
from xassay.statistics.resampled import ResampledResult, corrected_resampled_t
from xassay.statistics.samples import sample_interval
from xassay.statistics.welch import WelchResult, welch_holm

__all__ = [
    "Comparison",
    "PairedResult",
    "ResampledResult",
    "WelchResult",
    "cluster_draws",
    "cluster_replicates",
    "compare",
    "corrected_resampled_t",
    "holm",
    "holm_families",
    "interval",
    "paired_holm",
    "repeat_replicates",
    "sample_interval",
    "share_interval",
    "trial_interval",
    "welch_holm",
]
