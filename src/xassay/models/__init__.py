"""What is explained, and MAPLE, which explains itself."""

from typing import TYPE_CHECKING, Any

from xassay.models.detector import ReconstructionDetector

if TYPE_CHECKING:
    from xassay.models.maple import MapleRegressor

__all__ = ["MapleRegressor", "ReconstructionDetector"]


def __getattr__(name: str) -> Any:
    """Load MAPLE when it is first used: it brings scikit-learn's forests."""
    if name == "MapleRegressor":
        from xassay.models.maple import MapleRegressor

        return MapleRegressor
    raise AttributeError(f"module 'xassay.models' has no attribute {name!r}")
