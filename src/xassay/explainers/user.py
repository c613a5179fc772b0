"""A user's own explainer: a function (predict, background, X) -> values, from a file or a plug-in."""

import inspect
from collections.abc import Callable, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from xassay import specs
from xassay.errors import ExplainerError, InputError
from xassay.explainers.base import LocalModel, RowExplainer, Stated
from xassay.explainers.record import ExplainerRecord
from xassay.seeds import global_state
from xassay.types import Explanation, FloatArray, Predict

Function = Callable[..., Any]


def _cost(_features: int, _rows: int) -> float:
    """Nothing is known of a user's function; about what a package's explainer takes."""
    return 30.0


@attrs.define(eq=False, kw_only=True)
class UserExplainer(RowExplainer):
    """Calls a user's function with one row and one output at a time.

    One at a time, so that a failure stays in its row and no row can see another. numpy's
    global generator is seeded for the row and the caller's state restored afterwards.
    """

    function: Function
    label: str
    options: dict[str, Any] = attrs.field(factory=dict)

    @property
    def _seed_word(self) -> str:
        return self.label

    def _explain_row(self, row: FloatArray, seed: int) -> FloatArray | LocalModel | Stated:
        returned: list[Any] = []
        for position in range(self._model.n_outputs):
            with global_state(seed):
                returned.append(
                    self.function(
                        self._predict(position), self.background.copy(), row[None].copy(), **self.options
                    )
                )
        found, said = self._found(returned), [r for r in returned if isinstance(r, Explanation)]
        if len(said) < len(returned):
            return found
        if len({(r.additive, r.unit) for r in said}) > 1:
            raise ExplainerError(f"{self.label} must give all outputs the same additive and unit")
        bases = [np.nan if r.base is None else r.base for r in said]
        return Stated(found, said[0].additive, np.array(bases, dtype=np.float64).reshape(-1), said[0].unit)

    def _predict(self, position: int) -> Predict:
        output = self._model.output(position)
        # a model may write to its rows, which the function may use again
        return lambda rows: output(np.array(rows, dtype=np.float64))

    def _found(self, returned: list[Any]) -> FloatArray | LocalModel:
        """Values, or the local models where all outputs have one."""
        models = [r for r in returned if isinstance(r, Explanation) and r.coefficients is not None]
        values = self._columns([r.values if isinstance(r, Explanation) else r for r in returned])
        if not models or len(models) < len(returned):
            return values
        given = [m.intercepts for m in models if m.intercepts is not None]
        if len(given) < len(models):
            raise ExplainerError(
                f"{self.label} returned coefficients but no intercepts: return "
                "intercepts=predict(X) - (coefficients * X).sum(axis=1)"
            )
        intercepts = np.concatenate([np.ravel(intercepts) for intercepts in given])
        return LocalModel(values, self._columns([m.coefficients for m in models]), intercepts)

    def _columns(self, given: list[Any]) -> FloatArray:
        """One row's numbers a feature, for each output: (features, outputs)."""
        n = self.background.shape[1]
        columns = [np.asarray(numbers, dtype=np.float64) for numbers in given]
        for column in columns:
            if column.shape not in ((n,), (1, n)):
                raise ExplainerError(
                    f"{self.label} returned shape {column.shape} for one row of {n} columns, "
                    f"expected (1, {n})"
                )
        return np.stack([column.reshape(n) for column in columns], axis=1)


@attrs.frozen
class _Factory:
    """Makes a `UserExplainer`; whatever options are given go to the function."""

    function: Function
    label: str

    def check(self, options: Mapping[str, Any]) -> None:
        """Refuse options that the function does not take, and functions of another form."""
        try:
            signature = inspect.signature(self.function)
        except (TypeError, ValueError):
            return  # a callable without a signature says what it lacks when it is called
        try:
            signature.bind(None, None, None, **options)
        except TypeError as error:
            raise InputError(
                f"explainer {self.label}{signature}: {error}; it is called as (predict, background, X)"
                + "".join(f", {name}={value!r}" for name, value in options.items())
            ) from None

    def __call__(self, *, predict: Any, background: Any, seed: int = 0, **options: Any) -> UserExplainer:
        return UserExplainer(
            predict=predict,
            background=background,
            seed=seed,
            function=self.function,
            label=self.label,
            options=options,
        )


def record_of_file(spec: str) -> ExplainerRecord:
    """The record of ``path/to/file.py:function``.

    Raises:
        InputError: no such file or function, or the file cannot be run.
    """
    file, _, name = spec.rpartition(":")
    path = Path(file)
    function = specs.load(spec, "explainer")
    if not callable(function):
        raise InputError(f"explainer {spec!r}: {name!r} of {path} is no function")
    return ExplainerRecord(
        spec,
        "user",
        _Factory(function, f"{path.name}:{name}"),
        specs.digest(path),
        local_linear=None,
        cost=_cost,
    )


def record_of_function(name: str, function: Function) -> ExplainerRecord:
    """The record of a function that is at hand.

    Raises:
        InputError: it cannot be called.
    """
    if not callable(function):
        raise InputError(f"explainer {name!r} is no function")
    return ExplainerRecord(name, "user", _Factory(function, name), "", local_linear=None, cost=_cost)


def record_of_entry_point(point: metadata.EntryPoint) -> ExplainerRecord:
    """The record of a plug-in's explainer.

    Raises:
        InputError: it cannot be imported.
    """
    try:
        function = point.load()
    except (Exception, SystemExit) as error:
        raise InputError(f"explainer {point.name!r} of {point.value}: {specs.brief(error)}") from error
    version = f"{point.value} {point.dist.version if point.dist else ''}"
    return ExplainerRecord(
        point.name,
        "user",
        _Factory(function, point.name),
        version,
        local_linear=None,
        cost=_cost,
    )
