"""Who explains: adapters of packages, native explainers, baselines, and a user's own functions.

One Protocol (`xassay.types.Explainer`), one registry, one way in: `make`. An explainer is a file of this
folder, found by its being here.
"""

import importlib
import pkgutil

from xassay.explainers.exact import banzhaf_values, shapley_values
from xassay.explainers.record import ExplainerRecord
from xassay.explainers.registry import available, engines, make, record, register

__all__ = [
    "ExplainerRecord",
    "available",
    "banzhaf_values",
    "engines",
    "make",
    "record",
    "register",
    "shapley_values",
]

for _module in pkgutil.iter_modules(__path__):
    if not _module.ispkg:  # folders hold what explainers load when they are used
        importlib.import_module(f"{__name__}.{_module.name}")
