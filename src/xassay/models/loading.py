"""A user's model by its place: an import path, a file of Python, ONNX, skops, or a pickle on request."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from xassay import specs
from xassay.errors import InputError
from xassay.models.black_box import version as source_version

PICKLES = (".pkl", ".pickle", ".joblib")
FILES = (".onnx", ".skops", *PICKLES)


def load(spec: str, *, allow_pickle: bool = False) -> Any:
    """The model behind a name: a function, or an estimator that is fitted.

    Args:
        spec: ``package.module:name``, ``file.py:name``, or an ``.onnx``, ``.skops``, ``.pkl`` or
            ``.joblib`` file.
        allow_pickle: load pickles too, and what skops does not know: both can run any code.

    Raises:
        InputError: it is not there, cannot be loaded, needs a package that is not installed, or
            is a pickle and those are not allowed.
    """
    suffix = Path(spec).suffix.lower()
    if suffix not in FILES:
        return _imported(spec)
    path = Path(spec)
    if not path.is_file():
        raise InputError(f"{spec}: no such file")
    if suffix == ".onnx":
        return OnnxModel(path)
    if suffix == ".skops":
        return _skops(path, allow_pickle=allow_pickle)
    if not allow_pickle:
        raise InputError(
            f"{spec}: a pickle runs whatever code is in it when it is loaded; say --allow-pickle if you trust"
            " it, or save the model with skops or as ONNX"
        )
    import joblib

    try:
        return joblib.load(path)
    except Exception as error:
        raise InputError(f"{spec}: cannot be loaded: {specs.brief(error)}") from error


def version(spec: str) -> str:
    """What tells the model from another under the same name. Errors: `load`."""
    if Path(spec).suffix.lower() in FILES:
        return specs.digest(Path(spec))
    return source_version(spec)


def _imported(spec: str) -> Any:
    if ":" not in spec:
        hint = (
            f"name what is in it, as in {spec}:predict" if spec.endswith(".py") else "expected file.py:name"
        )
        known = f"package.module:name, or a file that ends in {', '.join(FILES[:3])}"
        raise InputError(f"model {spec!r}: {hint}, {known}")
    name, options = specs.split_options(spec, "model", imports=True)
    if options:
        raise InputError(f"model {spec!r}: a model that is loaded takes no options")
    found = specs.load(name, "model")
    if isinstance(found, type):
        raise InputError(f"model {spec!r}: is a class; name a fitted model, or a function")
    return found


def _needs(package: str, extra: str) -> InputError:
    return InputError(f"this file needs {package}: pip install 'xassay[{extra}]'")


def _skops(path: Path, *, allow_pickle: bool) -> Any:
    try:
        from skops import io
    except ImportError:
        raise _needs("skops", "skops") from None
    try:
        unknown = io.get_untrusted_types(file=path)
    except Exception as error:
        raise InputError(f"{path}: cannot be read as skops: {specs.brief(error)}") from error
    if unknown and not allow_pickle:
        raise InputError(
            f"{path}: holds types that skops does not know to be safe ({', '.join(unknown[:3])}); say "
            "--allow-pickle if you trust it"
        )
    try:
        return io.load(path, trusted=unknown)
    except Exception as error:
        raise InputError(f"{path}: cannot be loaded: {specs.brief(error)}") from error


@attrs.define(eq=False)
class OnnxModel:
    """An ONNX model with the methods of an estimator, as far as its outputs go.

    Its inputs are either one matrix of all columns, or one a column under the column's name. Its
    first output is the prediction; a second holds probabilities of classes, or scores.

    Attributes:
        path: the file.
    """

    path: Path
    _session: Any = attrs.field(init=False, default=None, repr=False)

    def __attrs_post_init__(self) -> None:
        try:
            import onnxruntime
        except ImportError:
            raise _needs("onnxruntime", "onnx") from None
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        try:
            self._session = onnxruntime.InferenceSession(str(self.path), options)
        except Exception as error:
            raise InputError(f"{self.path}: cannot be loaded as ONNX: {specs.brief(error)}") from error

    def __reduce__(self) -> tuple[Any, ...]:
        return OnnxModel, (self.path.resolve(),)

    @property
    def feature_names_in_(self) -> Sequence[str] | None:
        """The names of its inputs where it takes one a column, else None."""
        names = [given.name for given in self._session.get_inputs()]
        return names if len(names) > 1 else None

    def predict(self, table: Any) -> Any:
        """Its first output."""
        return self._outputs(table)[0]

    def predict_proba(self, table: Any) -> Any:
        """Probabilities of its classes, shape (rows, classes)."""
        outputs = self._outputs(table)
        if len(outputs) > 2:  # noqa: PLR2004 - the label, and an output a class
            return np.stack([np.asarray(one).reshape(-1) for one in outputs[1:]], axis=1)
        found = self._second(table)
        if isinstance(found, list):  # one mapping a row
            return np.array([list(row.values()) for row in found])
        return np.asarray(found)

    def decision_function(self, table: Any) -> Any:
        """Its scores."""
        return np.asarray(self._second(table)).reshape(len(table), -1)[:, 0]

    def _second(self, table: Any) -> Any:
        outputs = self._outputs(table)
        if len(outputs) == 1:
            raise InputError(f"{self.path}: has one output, and no probabilities or scores beside it")
        return outputs[1]

    def _outputs(self, table: Any) -> Any:
        inputs = self._session.get_inputs()
        if len(inputs) == 1:
            given = {inputs[0].name: _tensor(np.asarray(table), inputs[0].type)}
        else:
            named = getattr(table, "columns", ())
            lacking = [one.name for one in inputs if one.name not in named]
            if lacking:
                raise InputError(f"{self.path}: takes a column {lacking[0]!r}, which the data lacks")
            given = {one.name: _tensor(np.asarray(table[one.name]), one.type)[:, None] for one in inputs}
        return self._session.run(None, given)


_TENSORS = {
    "double": np.float64,
    "float16": np.float16,
    "bool": np.bool_,
    **{
        f"{sign}int{bits}": np.dtype(f"{sign}int{bits}").type
        for sign in ("", "u")
        for bits in (8, 16, 32, 64)
    },
}


def _tensor(values: Any, kind: str) -> Any:
    """Values as a tensor of ONNX's type, written as ``tensor(double)``."""
    if "string" in kind:
        return values.astype(str).astype(object)
    return values.astype(_TENSORS.get(kind.removeprefix("tensor(").removesuffix(")"), np.float32))
