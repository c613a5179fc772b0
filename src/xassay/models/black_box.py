"""Models to be explained: three by name, and any regressor that can be imported."""

import copy
import inspect
import sys
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from types import MappingProxyType
from typing import Any

import attrs
import numpy as np

from xassay import specs
from xassay.errors import ExplainerError, InputError, UnknownNameError
from xassay.seeds import legacy_seed
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
    is not set is set from the seed, in the parts of a pipeline too.

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
    if hasattr(model, "get_params") and hasattr(model, "set_params"):
        unset = [
            name
            for name, value in model.get_params(deep=True).items()
            if value is None and (name == "random_state" or name.endswith("__random_state"))
        ]
        model.set_params(**{name: legacy_seed(seed, name) for name in unset})
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
    place = name.rpartition(":")[0]
    if specs.is_file(name):
        return specs.digest(Path(place))
    found = _found(name)
    parts = [name, _distribution(place)]
    for source in (sys.modules[place], found if inspect.isclass(found) else type(found), found):
        try:
            parts.append(specs.digest(Path(inspect.getfile(source))))
        except TypeError:
            continue
    return " ".join(parts)


def _distribution(module: str) -> str:
    """The version of the package that a module belongs to, or nothing."""
    try:
        return metadata.version(module.partition(".")[0])
    except metadata.PackageNotFoundError:
        return ""


def predictor(model: Any, name: str) -> Predict:
    """The fitted model's predictions, checked, and computed faster where that is known to be possible.

    scikit-learn's SVR with a radial kernel is evaluated as one matrix product a block of rows,
    equal to its own ``predict`` to rounding error.

    Args:
        model: fitted.
        name: for messages.

    Returns:
        A function (rows, features) -> float (rows,). It raises `ExplainerError` where the model
        gives another shape or no numbers.
    """
    from sklearn.svm import SVR

    radial = type(model) is SVR and model.kernel == "rbf" and len(model.support_vectors_) > 0
    return Checked(RadialSupportVectors(model) if radial else model.predict, name)


@attrs.frozen(eq=False)
class Checked:
    """A model's predict whose answers have one form; the model gets rows of its own to write to."""

    predict: Predict
    name: str

    def __call__(self, X: FloatArray) -> FloatArray:
        """Predictions, shape (rows,).

        Raises:
            ExplainerError: another shape, or no numbers.
        """
        answer = self.predict(X.copy())
        if np.shape(answer) not in ((len(X),), (len(X), 1)):
            raise ExplainerError(
                f"{self.name} predicts shape {np.shape(answer)} for {len(X)} rows, expected ({len(X)},)"
            )
        try:
            return np.asarray(answer, dtype=np.float64).reshape(-1)
        except (TypeError, ValueError):
            raise ExplainerError(f"{self.name} predicts no real numbers") from None


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
