"""Models to be explained: three by name, and any regressor that can be imported."""

import copy
import inspect
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from xassay import specs
from xassay.errors import InputError, UnknownNameError
from xassay.types import FloatArray, Predict

CLASSES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "svr": ("sklearn.svm", "SVR"),
        "rf": ("sklearn.ensemble", "RandomForestRegressor"),
        "mlp": ("sklearn.neural_network", "MLPRegressor"),
    }
)
"""Module and class behind each name; all with scikit-learn's defaults."""

_BLOCK_ROWS = 256


def split(spec: str) -> tuple[str, dict[str, Any]]:
    """A model's name and options: ``svr``, ``rf:n_estimators=50``, ``file.py:make``, ``module:Class``.

    Raises:
        InputError: a part that is no ``option=value``.
    """
    plain = spec.partition(":")[0] in CLASSES
    return specs.split_options(spec, "model", imports=not plain)


def make(spec: str, seed: int = 0) -> Any:
    """An unfitted regressor.

    What is imported may be an estimator, its class, or a function that makes one. Options are
    arguments of the class or function, or parameters of the estimator. A ``random_state`` that
    is not set is set from the seed.

    Args:
        spec: see `split`.
        seed: for the model's own randomness.

    Raises:
        UnknownNameError: no such name.
        InputError: it cannot be imported, does not take the options, or has no ``fit`` and
            ``predict``.

    Example:
        >>> make("svr:C=10").C
        10
    """
    name, options = split(spec)
    found = _found(name)
    try:
        if not inspect.isclass(found) and hasattr(found, "fit"):
            model = copy.deepcopy(found)
            if options:
                model.set_params(**options)
        else:
            model = found(**options)
    except (Exception, SystemExit) as error:
        raise InputError(f"model {spec!r}: {specs.brief(error)}") from error
    for method in ("fit", "predict"):
        if not callable(getattr(model, method, None)):
            raise InputError(f"model {spec!r}: {type(model).__name__} has no {method}")
    if hasattr(model, "get_params") and model.get_params().get("random_state", seed) is None:
        model.set_params(random_state=seed)
    return model


def _found(name: str) -> Any:
    if name in CLASSES:
        return specs.load(":".join(CLASSES[name]), "model")
    if ":" not in name:
        hint = f"; name what is in the file, as in {name}:make" if name.endswith(".py") else ""
        raise (InputError(f"model {name!r}{hint}") if hint else UnknownNameError("model", name, CLASSES))
    return specs.load(name, "model")


def version(spec: str) -> str:
    """What tells the model's code from another under the same name: a hash of its source file.

    Raises:
        InputError: it cannot be imported.
    """
    name, _ = split(spec)
    if name in CLASSES:
        return name
    if specs.is_file(name):
        return specs.digest(Path(name.rpartition(":")[0]))
    found = _found(name)
    source = found if inspect.isroutine(found) or inspect.isclass(found) else type(found)
    try:
        return specs.digest(Path(inspect.getfile(source)))
    except TypeError:
        return name


def predictor(model: Any) -> Predict:
    """The fitted model's predictions, computed faster where that is known to be possible.

    scikit-learn's SVR with a radial kernel is evaluated as one matrix product a block of rows,
    equal to its own ``predict`` to rounding error.
    """
    from sklearn.svm import SVR

    if type(model) is SVR and model.kernel == "rbf":
        return RadialSupportVectors(model)
    return model.predict  # type: ignore[no-any-return]


class RadialSupportVectors:
    r"""f(x) = b + sum over support vectors s of a_s exp(-gamma |x - s|^2), for many rows at once."""

    def __init__(self, model: Any) -> None:
        self._vectors = model.support_vectors_
        self._norms = (self._vectors**2).sum(axis=1)[None]
        self._weights, self._level = model.dual_coef_[0], float(model.intercept_[0])
        self._gamma = model._gamma  # noqa: SLF001 - what "scale" and "auto" came to stands nowhere else

    def __call__(self, X: FloatArray) -> FloatArray:
        """Predictions, shape (rows,)."""
        from sklearn.metrics.pairwise import euclidean_distances

        rows = np.asarray(X, dtype=np.float64)
        found = np.empty(len(rows))
        for start in range(0, len(rows), _BLOCK_ROWS):
            block = rows[start : start + _BLOCK_ROWS]
            distances = euclidean_distances(block, self._vectors, Y_norm_squared=self._norms, squared=True)
            distances *= -self._gamma
            found[start : start + len(block)] = np.exp(distances, out=distances) @ self._weights
        return found + self._level
