"""The studies, a line for each: whoever needs all of them reads it here."""

import importlib

from xassay.errors import UnknownNameError
from xassay.studies.kit.views import Builder

STUDIES = (
    "check",
    "crem",
    "maple",
)
"""Their names, which are those of their folders."""


def builder(study: str) -> Builder:
    """How a study's results become a view: ``BUILDER`` in the module ``view`` of its folder.

    Raises:
        UnknownNameError: there is no such study.
    """
    if study not in STUDIES:
        raise UnknownNameError("study", study, STUDIES)
    found: Builder = importlib.import_module(f"xassay.studies.{study}.view").BUILDER
    return found
