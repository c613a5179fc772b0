"""What is explained."""

from xassay.models.detector import ReconstructionDetector

__all__ = ["ReconstructionDetector"]
