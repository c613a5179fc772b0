"""What is explained, and MAPLE, which explains itself."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from xassay.models.detector import ReconstructionDetector

if TYPE_CHECKING:
    from xassay.models.maple import MapleRegressor
    from xassay.models.patterns import Exemplars, GlobalPattern, exemplars, global_pattern
    from xassay.models.shapes import demonstrate, demonstration

__all__ = [
    "Exemplars",
    "GlobalPattern",
    "MapleRegressor",
    "ReconstructionDetector",
    "demonstrate",
    "demonstration",
    "exemplars",
    "global_pattern",
]

_HOMES = {
    "MapleRegressor": "maple",
    "Exemplars": "patterns",
    "GlobalPattern": "patterns",
    "exemplars": "patterns",
    "global_pattern": "patterns",
    "demonstrate": "shapes",
    "demonstration": "shapes",
}


def __getattr__(name: str) -> Any:
    """Load MAPLE and what builds on it when first used: it brings scikit-learn's forests."""
    if name in _HOMES:
        return getattr(import_module(f"xassay.models.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'xassay.models' has no attribute {name!r}")
