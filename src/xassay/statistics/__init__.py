"""Whether a difference is real: intervals and tests."""

from xassay.statistics.comparison import Comparison, compare
from xassay.statistics.intervals import (
    cluster_draws,
    cluster_replicates,
    interval,
    repeat_replicates,
    share_interval,
    trial_interval,
)
from xassay.statistics.paired import PairedResult, paired_holm
from xassay.statistics.welch import WelchResult, welch_holm

__all__ = [
    "Comparison",
    "PairedResult",
    "WelchResult",
    "cluster_draws",
    "cluster_replicates",
    "compare",
    "interval",
    "paired_holm",
    "repeat_replicates",
    "share_interval",
    "trial_interval",
    "welch_holm",
]
