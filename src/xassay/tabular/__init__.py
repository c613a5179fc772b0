"""Tables: a pinned registry, splits, standardisation."""

from xassay.tabular.datasets import Dataset, available, fetch, is_here, load
from xassay.tabular.files import read
from xassay.tabular.preparation import Split, part_sizes, split

__all__ = ["Dataset", "Split", "available", "fetch", "is_here", "load", "part_sizes", "read", "split"]
