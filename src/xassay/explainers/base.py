"""What all explainers share: checking, one seed a row, and failures that stay in their row."""

from abc import ABC, abstractmethod
from types import MappingProxyType
from typing import Any, ClassVar

import attrs
import numpy as np
import numpy.typing as npt

from xassay.errors import ExplainerError, InputError
from xassay.explainers.model_function import ModelFunction, as_matrix
from xassay.seeds import legacy_seed
from xassay.types import Explanation, FloatArray, Predict

DATA = MappingProxyType({"data": True})
"""Marks an option that takes data, which cannot be written in a spec."""


def _background(rows: Any) -> FloatArray:
    return as_matrix(rows, "the background")


def whole(_: object, attribute: "attrs.Attribute[Any]", value: Any) -> None:
    """Validator: a whole number.

    Raises:
        InputError: it is none.
    """
    if not is_whole(value):
        raise InputError(f"{attribute.name} must be a whole number, not {value!r}")


def is_whole(value: object) -> bool:
    """Whether a value is an integer of Python or numpy, and no bool."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def one_of(*choices: str) -> Any:
    """Validator: one of some words, or `InputError`."""

    def check(_: object, attribute: "attrs.Attribute[Any]", value: Any) -> None:
        if value not in choices:
            raise InputError(f"{attribute.name} must be one of {', '.join(choices)}, not {value!r}")

    return check


@attrs.frozen(eq=False)
class LocalModel:
    """One row's explanation where it is a local linear model.

    Attributes:
        values: importance of each feature, shape (features, outputs).
        coefficients: slopes in the data's units, shape (features, outputs).
        intercepts: shape (outputs,).
    """

    values: FloatArray
    coefficients: FloatArray
    intercepts: FloatArray


@attrs.frozen(eq=False)
class Stated:
    """One row's explanation with what it says of itself, as in `xassay.types.Explanation`.

    Attributes:
        found: values, shape (features, outputs), or a local linear model.
        additive: whether the values are contributions, or None.
        base: what they start from, shape (outputs,); NaN where it is not stated.
        unit: theirs.
    """

    found: FloatArray | LocalModel
    additive: bool | None
    base: FloatArray
    unit: str


@attrs.define(eq=False, kw_only=True)
class BaseExplainer(ABC):
    """What an explainer is given, checked; subclasses explain.

    Attributes:
        predict: the model, (rows, features) -> (rows,) or (rows, outputs).
        background: reference rows, shape (rows, features).
        seed: the run's seed.
    """

    name: ClassVar[str] = ""

    predict: Predict
    background: FloatArray = attrs.field(converter=_background, repr=False)
    seed: int = attrs.field(default=0, validator=whole)
    _model: ModelFunction = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        if len(self.background) == 0:
            raise InputError("the background has no rows")
        self._prepare_model()
        self._prepare()

    def _prepare_model(self) -> None:
        """See that predict can be called, and what it gives."""
        if not callable(self.predict):
            raise InputError(f"predict must be a function, got {type(self.predict).__name__}")
        self._model = ModelFunction(self.predict, self.background)

    def _prepare(self) -> None:
        """Work that all rows share; called once."""
        return

    def _rows(self, X: npt.ArrayLike, row_ids: npt.ArrayLike | None) -> tuple[FloatArray, npt.NDArray[Any]]:
        """Rows and their ids, checked.

        Raises:
            InputError: the shape does not fit the background, or ids are no integers.
        """
        rows = as_matrix(X, "the rows to explain")
        if rows.shape[1] != self.background.shape[1]:
            raise InputError(
                f"the rows have {rows.shape[1]} features, the background {self.background.shape[1]}"
            )
        return rows, _row_ids(row_ids, len(rows))

    @abstractmethod
    def explain(self, X: npt.ArrayLike, row_ids: npt.ArrayLike | None = None) -> Explanation:
        """Explain rows.

        Args:
            X: rows, shape (rows, features) of the background.
            row_ids: integers, shape (rows,); default 0, 1, ... Equal ids get equal draws.

        Returns:
            Values of every feature, (rows, features), or (rows, features, outputs) where the
            model gives several; rows that failed hold NaN and are named in ``errors``. With
            coefficients and intercepts where the explainer yields local linear models.

        Raises:
            InputError: the shape does not fit the background, or ids are no integers.
        """


class RowExplainer(BaseExplainer):
    """An explainer that takes its rows one at a time.

    Subclasses say how one row is explained; this class gives each row a seed of its own,
    from (seed, explainer, row id), so that neither the batch nor the order of rows matters,
    and turns an exception or a value that is not finite into a failed row of NaN.
    """

    def explain(self, X: npt.ArrayLike, row_ids: npt.ArrayLike | None = None) -> Explanation:
        """Explain rows one at a time; see `BaseExplainer.explain`."""
        rows, ids = self._rows(X, row_ids)
        values = np.full((len(rows), rows.shape[1], self._model.n_outputs), np.nan)
        slopes, intercepts = np.full_like(values, np.nan), np.full((len(rows), self._model.n_outputs), np.nan)
        bases, stated = np.full_like(intercepts, np.nan), Stated(values, None, intercepts, "score")
        errors: dict[int, str] = {}
        for position, (row, row_id) in enumerate(zip(rows, ids, strict=True)):
            try:
                found = self._explain_row(row, legacy_seed(self.seed, self._seed_word, int(row_id)))
                if isinstance(found, Stated):
                    # one explanation says one thing of all its rows: the first that speaks decides
                    stated = found if len(errors) == position else self._agreed(stated, found)
                    bases[position], found = found.base, found.found
                if isinstance(found, LocalModel):
                    checked = self._checked(found.values), self._checked(found.coefficients)
                    intercepts[position] = self._checked(found.intercepts[None], "intercepts")[0]
                    values[position], slopes[position] = checked
                else:
                    values[position] = self._checked(found)
            except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever it raises fails this row only
                errors[position] = f"{type(error).__name__}: {error}".splitlines()[0][:300]
        linear = bool(np.isfinite(intercepts).any())
        first = 0 if self._model.single else slice(None)
        return Explanation(
            values[:, :, first],
            coefficients=slopes[:, :, first] if linear else None,
            intercepts=intercepts[:, first] if linear else None,
            errors=errors,
            categorical=tuple(getattr(self, "categorical", ())) if linear else (),
            additive=stated.additive,
            base=bases[:, first] if np.isfinite(bases).any() else None,
            unit=stated.unit,
        )

    @staticmethod
    def _agreed(first: Stated, found: Stated) -> Stated:
        if (first.additive, first.unit) != (found.additive, found.unit):
            raise ExplainerError(
                f"the explainer says additive={found.additive} and unit={found.unit!r} of this row, "
                f"additive={first.additive} and unit={first.unit!r} of another"
            )
        return first

    def _checked(self, values: FloatArray, what: str = "values") -> FloatArray:
        expected = (1 if what == "intercepts" else self.background.shape[1], self._model.n_outputs)
        if values.shape != expected:
            raise ExplainerError(
                f"the explainer returned {what} of shape {values.shape}, expected {expected}"
            )
        if not np.isfinite(values).all():
            raise ExplainerError(f"the explanation holds {what} that are not finite")
        return values

    @property
    def _seed_word(self) -> str:
        """What tells this explainer's draws from another's."""
        return self.name

    @abstractmethod
    def _explain_row(self, row: FloatArray, seed: int) -> FloatArray | LocalModel | Stated:
        """One row's values, shape (features, outputs), or local model; ``seed`` is the row's own."""


def _row_ids(row_ids: npt.ArrayLike | None, n_rows: int) -> npt.NDArray[Any]:
    if row_ids is None:
        return np.arange(n_rows)
    ids = np.asarray(row_ids) if n_rows else np.arange(0)
    if ids.shape != (n_rows,) or not np.issubdtype(ids.dtype, np.integer):
        raise InputError(f"row_ids must be {n_rows} integers, one a row")
    return ids
