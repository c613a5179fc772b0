"""Who explains: adapters of packages, native explainers, baselines, and a user's own functions.

One Protocol (`xassay.types.Explainer`), one registry, one way in: `make`.
"""

from xassay.explainers import kernel_shap, lime, maple, random_baseline, sampling_shap, single_flip
from xassay.explainers.registry import ExplainerRecord, available, make, record, register

__all__ = [
    "ExplainerRecord",
    "available",
    "kernel_shap",
    "lime",
    "make",
    "maple",
    "random_baseline",
    "record",
    "register",
    "sampling_shap",
    "single_flip",
]
