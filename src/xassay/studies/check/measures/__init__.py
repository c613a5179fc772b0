"""The measures of a check: a file is a measure, found by its being here."""

import functools
import importlib
import pkgutil
from collections.abc import Mapping

from xassay.studies.check.measures.base import Context, Measure, Scores
from xassay.studies.check.settings import MEASURES

__all__ = ["Context", "Measure", "Scores", "measure", "measures"]


@functools.cache
def measures() -> Mapping[str, Measure]:
    """Every measure by its name, in the order of a report."""
    found = {}
    for module in pkgutil.iter_modules(__path__):
        loaded = importlib.import_module(f"{__name__}.{module.name}")
        for one in vars(loaded).values():
            own = isinstance(one, type) and issubclass(one, Measure) and one.__module__ == loaded.__name__
            if own and one is not Measure:
                found[one.name] = one()
    return {name: found[name] for name in MEASURES if name in found}


def measure(name: str) -> Measure:
    """A measure by its name."""
    return measures()[name]
