"""xassay measures how much of a local explanation is true.

* `xassay.circuits`: digital circuits with a fault, whose anomalies have known causes.
* `xassay.explainers`: who explains; `make`, `available`.
* `xassay.metrics`: how an explanation is judged; `describe`.
* `xassay.check`: which explanations of your own model are right.
* `xassay.run_crem`, `xassay.run_maple`: the whole studies.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xassay.api import run_crem, run_maple
    from xassay.checking import check

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
_FUNCTIONS = {"check": "checking", "run_crem": "api", "run_maple": "api"}

__all__ = ["__version__", "check", "run_crem", "run_maple"]


def __getattr__(name: str) -> Any:
    """Load modules and functions when they are first used, so that the import stays cheap."""
    if name in _MODULES:
        return importlib.import_module(f"xassay.{name}")
    if name in _FUNCTIONS:
        return getattr(importlib.import_module(f"xassay.{_FUNCTIONS[name]}"), name)
    raise AttributeError(f"module 'xassay' has no attribute {name!r}")
