"""The check of a user's own model: which of its explanations are right, how far, at what price."""

from xassay.studies.check.settings import CheckSettings
from xassay.studies.check.study import CheckStudy
from xassay.studies.check.subject import Subject, prepare

__all__ = ["CheckSettings", "CheckStudy", "Subject", "prepare"]
