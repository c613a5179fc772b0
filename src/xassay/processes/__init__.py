"""Processes that do work and can be killed: for limits that hold, and for code that may end its process."""

from xassay.processes.cluster import Cluster
from xassay.processes.pool import Ended, Pool
from xassay.processes.shared import Packed, Shared, packed

__all__ = ["Cluster", "Ended", "Packed", "Pool", "Shared", "packed"]
