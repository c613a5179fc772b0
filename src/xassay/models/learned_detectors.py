"""Detectors that learn what is normal: an autoencoder, and any detector of PyOD.

They stand where the lookup table of the CREM study stands, so that the same anomalies with
the same known causes show what a detector that errs does to its explanations.
"""

import copy
import importlib
import math
from typing import Any, Protocol, Self

import attrs
import numpy as np
import numpy.typing as npt

from xassay import specs
from xassay.errors import InputError, UnknownNameError
from xassay.seeds import global_state
from xassay.types import BoolArray, FloatArray, IntArray, Predict

TABLE, AUTOENCODER, PYOD = "reconstruction", "autoencoder", "pyod"
ORDINARY = 0.95
"""Rows that score above this share of the normal ones are called anomalous."""

_COMMON = ("ABOD", "CBLOF", "COPOD", "ECOD", "GMM", "HBOS", "IForest", "KDE", "KNN", "LOF", "OCSVM", "PCA")
"""Detectors of PyOD that need nothing else, for messages."""


class LearnedDetector(Protocol):
    """What the study needs of a detector that was fitted to normal rows."""

    def fit(self, normal: npt.ArrayLike, *, n_outputs: int) -> Self:
        """Learn what is normal: 0/1 rows of which the last columns are outputs."""
        ...

    def decision_function(self, rows: npt.ArrayLike) -> FloatArray:
        """How anomalous each row is, shape (rows,); larger is more anomalous."""
        ...

    def explained_outputs(self, rows: npt.ArrayLike) -> BoolArray:
        """Which outputs of each row, taken for anomalous, are explained: (rows, outputs)."""
        ...

    def output_function(self, outputs: IntArray) -> Predict:
        """What is explained: rows -> float (rows, len(outputs))."""
        ...


@attrs.define(eq=False)
class AutoencoderDetector:
    """An autoencoder: a perceptron with a bottleneck that reproduces normal rows.

    A row is anomalous by the sum of its squared reconstruction errors. What is explained is the
    reconstruction of the output with the largest error, as of all columns.

    Attributes:
        bottleneck: units of the narrow layer; None: as many as the rows have columns that are no
            outputs.
        width: units of the layers before and after it, as a multiple of the columns.
        max_iter: epochs of training.
        seed: of weights and batches.
        threshold_: decision above which a row is called anomalous: the 0.95 quantile of normal rows'.

    Reference:
        Antwarg, Miller, Shapira & Rokach, Expert Systems with Applications 186 (2021),
        doi:10.1016/j.eswa.2021.115736.

    Example:
        >>> from xassay import circuits
        >>> c = circuits.load("c17")
        >>> detector = AutoencoderDetector().fit(circuits.TruthTable(c).rows(), n_outputs=2)
        >>> altered = circuits.TruthTable(circuits.negate(c, "z4")).rows()
        >>> bool(detector.decision_function(altered).max() > detector.threshold_)
        True
    """

    bottleneck: int | None = None
    width: int = 3
    max_iter: int = 300
    seed: int = 0
    threshold_: float = attrs.field(init=False, default=math.nan)
    _n_outputs: int = attrs.field(init=False, default=0)
    _network: Any = attrs.field(init=False, default=None)

    def fit(self, normal: npt.ArrayLike, *, n_outputs: int) -> Self:
        """Train on normal rows, shape (rows, columns), the last ``n_outputs`` columns outputs.

        Raises:
            InputError: sizes that are not positive, or rows that are no matrix.
        """
        from sklearn.neural_network import MLPRegressor

        rows = _matrix(normal)
        narrow = rows.shape[1] - n_outputs if self.bottleneck is None else self.bottleneck
        for name, value in (("bottleneck", narrow), ("width", self.width), ("max_iter", self.max_iter)):
            if not isinstance(value, int) or value < 1:
                raise InputError(f"autoencoder: {name} must be a whole number of at least 1, not {value!r}")
        wide = self.width * rows.shape[1]
        self._network = MLPRegressor(
            hidden_layer_sizes=(wide, narrow, wide),
            activation="tanh",
            learning_rate_init=3e-3,
            batch_size=min(64, len(rows)),
            max_iter=self.max_iter,
            n_iter_no_change=self.max_iter,
            random_state=self.seed,
        )
        import warnings

        with warnings.catch_warnings():
            # it trains for so many epochs, whether it has converged or not
            warnings.simplefilter("ignore")
            self._network.fit(rows, rows)
        self._n_outputs = n_outputs
        self.threshold_ = float(np.quantile(self.decision_function(rows), ORDINARY))
        return self

    def predict(self, rows: npt.ArrayLike) -> FloatArray:
        """The reconstruction of each row, float, of the same shape."""
        return np.asarray(self._network.predict(_matrix(rows)), dtype=np.float64)

    def decision_function(self, rows: npt.ArrayLike) -> FloatArray:
        """The sum of squared reconstruction errors, shape (rows,)."""
        return np.asarray(((self.predict(rows) - _matrix(rows)) ** 2).sum(axis=1))

    def explained_outputs(self, rows: npt.ArrayLike) -> BoolArray:
        """The output with the largest error, of each row: bool (rows, outputs)."""
        errors = np.abs(self.predict(rows) - _matrix(rows))[:, -self._n_outputs :]
        return np.asarray(errors.argmax(axis=1)[:, None] == np.arange(self._n_outputs))

    def output_function(self, outputs: IntArray) -> Predict:
        """The reconstruction of some outputs: rows -> float (rows, len(outputs))."""
        places = np.asarray(outputs) - self._n_outputs

        def reconstructed(rows: FloatArray) -> FloatArray:
            return self.predict(rows)[:, places]

        return reconstructed


@attrs.define(eq=False)
class PyodDetector:
    """A detector of the PyOD package, by the name of its class: ``IForest``, ``KNN``, ``ECOD`` ...

    It gives one score a row, which is explained whatever output is wrong.

    Attributes:
        name: the class.
        options: its arguments.
        seed: its ``random_state``, where it has one.
        threshold_: decision above which a row is called anomalous: the 0.95 quantile of normal rows'.

    Reference:
        Zhao, Nasrullah & Li, JMLR 20 (2019).
    """

    name: str
    options: dict[str, Any] = attrs.field(factory=dict)
    seed: int = 0
    threshold_: float = attrs.field(init=False, default=math.nan)
    _n_outputs: int = attrs.field(init=False, default=0)
    _model: Any = attrs.field(init=False, default=None)

    def fit(self, normal: npt.ArrayLike, *, n_outputs: int) -> Self:
        """Fit to normal rows; errors: `pyod_class`, and what the class does not take.

        Raises:
            InputError: options that the class does not take, or a fit that fails.
        """
        found = pyod_class(self.name)
        rows = _matrix(normal)
        try:
            with global_state(self.seed):
                model = found(**self.options)
                if "random_state" in model.get_params() and "random_state" not in self.options:
                    model.set_params(random_state=self.seed)
                self._model = model.fit(rows)
        except Exception as error:
            raise InputError(f"detector pyod:{self.name}: {specs.brief(error)}") from error
        self._n_outputs = n_outputs
        self.threshold_ = float(np.quantile(self.decision_function(rows), ORDINARY))
        return self

    def decision_function(self, rows: npt.ArrayLike) -> FloatArray:
        """PyOD's score, shape (rows,); larger is more anomalous."""
        return np.asarray(copy.copy(self._model).decision_function(_matrix(rows)), dtype=np.float64)

    def explained_outputs(self, rows: npt.ArrayLike) -> BoolArray:
        """All of them: the score speaks of the row."""
        return np.ones((len(_matrix(rows)), self._n_outputs), dtype=np.bool_)

    def output_function(self, outputs: IntArray) -> Predict:
        """The score, once for each of the outputs: rows -> float (rows, len(outputs))."""

        def score(rows: FloatArray) -> FloatArray:
            return np.repeat(self.decision_function(rows)[:, None], len(outputs), axis=1)

        return score


def pyod_class(name: str) -> Any:
    """A detector's class in PyOD.

    Raises:
        InputError: PyOD is not installed.
        UnknownNameError: it has no such detector.
    """
    try:
        package = importlib.import_module("pyod.models")
    except ImportError:
        raise InputError(f"detector pyod:{name} needs a package: pip install 'xassay[pyod]'") from None
    import pkgutil

    modules = [module.name for module in pkgutil.iter_modules(package.__path__)]
    module = next((own for own in modules if own.replace("_", "") == name.lower()), None)
    try:
        found = None if module is None else importlib.import_module(f"pyod.models.{module}")
    except ImportError as error:
        raise InputError(f"detector pyod:{name}: {specs.brief(error)}") from None
    if found is None or not hasattr(found, name):
        raise UnknownNameError("detector of pyod", name, _COMMON)
    return getattr(found, name)


def make_detector(spec: str, seed: int = 0) -> LearnedDetector:
    """An unfitted detector: ``autoencoder``, ``autoencoder:bottleneck=4``, ``pyod:IForest:n_estimators=50``.

    Raises:
        UnknownNameError: no such detector or option.
        InputError: a part that is no ``option=value``, or PyOD is not installed.
    """
    kind, _, rest = spec.partition(":")
    if kind == AUTOENCODER:
        _, options = specs.split_options(spec, "detector")
        known = ("bottleneck", "width", "max_iter")
        for option in options:
            if option not in known:
                raise UnknownNameError("option of detector autoencoder", option, known)
        return AutoencoderDetector(**options, seed=seed)
    if kind == PYOD and rest:
        name, options = specs.split_options(rest, "detector")
        pyod_class(name)
        return PyodDetector(name, options, seed=seed)
    raise UnknownNameError("detector", spec, (TABLE, AUTOENCODER, f"{PYOD}:IForest"))


def detector_version(spec: str) -> str:
    """What tells the detector's code from another's: the version of its package."""
    from importlib import metadata

    return f"{spec} {metadata.version('pyod')}" if spec.startswith(PYOD) else spec


def _matrix(rows: npt.ArrayLike) -> FloatArray:
    matrix = np.asarray(rows, dtype=np.float64)
    if matrix.ndim != 2:  # noqa: PLR2004 - a matrix
        raise InputError(f"rows must have shape (rows, columns), got {matrix.shape}")
    return matrix
