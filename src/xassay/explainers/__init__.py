"""Who explains: adapters of packages, native explainers, baselines, and a user's own functions.

One Protocol (`xassay.types.Explainer`), one registry, one way in: `make`.
"""

from xassay.explainers import (
    exact,
    kernel_shap,
    lime,
    maple,
    native_kernel_shap,
    native_lime,
    native_sampling_shap,
    permutation_shap,
    random_baseline,
    sampling_shap,
    shapiq_sv,
    single_flip,
    tree_shap,
    zscore,
)
from xassay.explainers.exact import banzhaf_values, shapley_values
from xassay.explainers.registry import ExplainerRecord, available, engines, make, record, register

__all__ = [
    "ExplainerRecord",
    "available",
    "banzhaf_values",
    "engines",
    "exact",
    "kernel_shap",
    "lime",
    "make",
    "maple",
    "native_kernel_shap",
    "native_lime",
    "native_sampling_shap",
    "permutation_shap",
    "random_baseline",
    "record",
    "register",
    "sampling_shap",
    "shapiq_sv",
    "shapley_values",
    "single_flip",
    "tree_shap",
    "zscore",
]
