"""Processes that do work and can be killed: for limits that hold, and for code that may end its process."""

from xassay.processes.pool import Ended, Pool
from xassay.processes.shared import Shared

__all__ = ["Ended", "Pool", "Shared"]
