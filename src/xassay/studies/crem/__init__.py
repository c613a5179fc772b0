"""The CREM study."""

from xassay.studies.crem.settings import CremSettings
from xassay.studies.crem.study import CremStudy

__all__ = ["CremSettings", "CremStudy"]
