"""xassay measures how much of a local explanation is true.

* `xassay.circuits`: digital circuits with a fault, whose anomalies have known causes.
* `xassay.explainers`: who explains; `make`, `available`.
* `xassay.metrics`: how an explanation is judged; `describe`.
* `xassay.check`: which explanations of your own model are right; a `xassay.CheckResult`.
* `xassay.run_crem`, `xassay.run_maple`: the whole studies.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xassay.api import CheckResult, check, run_crem, run_maple

__version__ = "0.1.0"

_MODULES = (
    "circuits",
    "errors",
    "explainers",
    "metrics",
    "models",
    "report",
    "results",
    "statistics",
    "tabular",
    "types",
)
_OF_API = ("CheckResult", "check", "run_crem", "run_maple")

__all__ = ["CheckResult", "__version__", "check", "run_crem", "run_maple"]


def __getattr__(name: str) -> Any:
    """Load modules and functions when they are first used, so that the import stays cheap."""
    if name in _MODULES:
        return importlib.import_module(f"xassay.{name}")
    if name in _OF_API:
        return getattr(importlib.import_module("xassay.api"), name)
    raise AttributeError(f"module 'xassay' has no attribute {name!r}")
