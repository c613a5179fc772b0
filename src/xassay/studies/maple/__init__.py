"""The MAPLE evaluation."""

from xassay.studies.maple.settings import MapleSettings
from xassay.studies.maple.study import MapleStudy

__all__ = ["MapleSettings", "MapleStudy"]
