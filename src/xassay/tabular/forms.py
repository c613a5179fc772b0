"""Tables as people hold them: numpy arrays, pandas and polars frames, taken apart and put together.

A column comes as its raw values and goes back with its own type, so that a model fitted on a
frame is given that frame again.
"""

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

import attrs
import numpy as np
import numpy.typing as npt
import polars as pl
import polars.selectors as cs

from xassay.errors import InputError, UnknownNameError
from xassay.types import FloatArray

Sort = Literal["number", "whole", "flag", "ordered", "text", "other"]
"""What a column's type says: floats, integers, true and false, ordered or plain categories, none of these."""


@attrs.frozen(eq=False)
class Raw:
    """One column as it came.

    Attributes:
        sort: what its type says.
        values: floats with NaN for what is missing, or for text and categories Python objects
            with None.
        levels: for categories whose type names them all, these (in order where they are ordered).
        bounds: the least and the greatest number that its type holds, for whole numbers.
        shown: the name of its type, for messages.
    """

    sort: Sort
    values: npt.NDArray[Any]
    shown: str
    levels: tuple[Any, ...] = ()
    bounds: tuple[float, float] | None = None


class Form(Protocol):
    """How one kind of table is read and made."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names, in order."""
        ...

    def columns(self, table: Any) -> dict[str, Raw]:
        """The columns of a table by name."""
        ...

    def make(self, columns: Mapping[str, FloatArray], levels: Mapping[str, Sequence[Any]]) -> Any:
        """A table of this form from floats, and from codes where a column has levels."""
        ...


def form_of(table: Any, names: Sequence[str] | None = None) -> tuple[Form, Any]:
    """The form of a table, and the table with two dimensions.

    Args:
        table: numpy array, list of rows, pandas or polars frame, or a pandas Series: one row.
        names: what columns without names are called.

    Raises:
        InputError: it is none of these, has another number of dimensions, no column, or two
            columns of one name.
    """
    pandas = sys.modules.get("pandas")  # who holds a frame has imported it
    form: Form
    if pandas is not None and isinstance(table, pandas.Series):
        table = table.to_frame().T.infer_objects()
    if pandas is not None and isinstance(table, pandas.DataFrame):
        form = PandasForm(_distinct(map(str, table.columns)), table.columns, dict(enumerate(table.dtypes)))
        return form, table
    if isinstance(table, pl.LazyFrame):
        table = table.collect()
    if isinstance(table, pl.DataFrame):
        holes = frozenset(series.name for series in table if series.null_count())
        return PolarsForm(_distinct(table.columns), dict(table.schema), holes), table
    if hasattr(table, "toarray"):
        raise InputError("sparse tables are not supported; give X.toarray(), or fewer columns")
    try:
        array = np.asarray(table)
        if array.dtype.kind == "U" and not isinstance(table, np.ndarray):
            array = np.array(table, dtype=object)  # numbers beside text stay numbers
    except ValueError:
        raise InputError("X must be a table: its rows have different lengths") from None
    if array.ndim != 2 or not array.shape[1]:  # noqa: PLR2004 - a matrix
        raise InputError(f"X must be a table of shape (rows, columns), got shape {array.shape}")
    given = tuple(names) if names is not None and len(names) == array.shape[1] else ()
    return NumpyForm(given or tuple(f"x{j}" for j in range(array.shape[1])), array.dtype), array


def _distinct(names: Any) -> tuple[str, ...]:
    listed = tuple(names)
    if not listed:
        raise InputError("X must be a table of shape (rows, columns), and has no column")
    twice = [name for name, count in Counter(listed).items() if count > 1]
    if twice:
        raise InputError(f"two columns are called {twice[0]!r}; rename one")
    return listed


@attrs.frozen(eq=False)
class NumpyForm:
    """A matrix; of Python objects where columns are mixed."""

    names: tuple[str, ...]
    dtype: np.dtype[Any]

    def columns(self, table: Any) -> dict[str, Raw]:
        """See `Form`."""
        return {name: _raw(table[:, j]) for j, name in enumerate(self.names)}

    def make(self, columns: Mapping[str, FloatArray], levels: Mapping[str, Sequence[Any]]) -> Any:
        """See `Form`."""
        n = len(next(iter(columns.values())))
        holes = self.dtype.kind in "iub" and any(np.isnan(values).any() for values in columns.values())
        if holes:  # of another table: this type cannot say so
            return np.stack([columns[name] for name in self.names], axis=1)
        is_text = self.dtype.kind in "UST"
        made = np.empty((n, len(self.names)), dtype=object if is_text else self.dtype)
        for j, name in enumerate(self.names):
            values: Any = columns[name]
            if name in levels:
                lookup = np.array([*levels[name], None], dtype=object)
                values = lookup[_codes(values, len(lookup) - 1)]
            elif self.dtype.kind in "iu":
                values = np.rint(values)
            elif self.dtype.kind == "b":
                values = values > 0.5  # noqa: PLR2004 - halfway
            made[:, j] = values
        if not is_text:
            return made
        return made.astype(self.dtype if self.dtype.kind == "T" else np.str_)  # as wide as it needs to be


def _raw(values: npt.NDArray[Any]) -> Raw:
    kind = values.dtype.kind
    if kind in "iufb":
        sort: Sort = "flag" if kind == "b" else "whole" if kind in "iu" else "number"
        bounds = _bounds(values.dtype) if kind in "iu" else None
        return Raw(sort, values.astype(np.float64), str(values.dtype), bounds=bounds)
    if kind not in "OUST":
        return Raw("other", values, str(values.dtype))
    return _objects(_missing_as_none(values), str(values.dtype))


def _bounds(dtype: Any) -> tuple[float, float]:
    """What an integer type holds, in floats that it holds too."""
    known = np.iinfo(dtype)
    low, high = float(known.min), float(known.max)
    return low, high if int(high) <= known.max else float(np.nextafter(high, 0.0))


def _objects(values: npt.NDArray[Any], shown: str) -> Raw:
    """Python objects: numbers where all are, text where all are."""
    present = [value for value in values if value is not None]
    if present and all(isinstance(value, (bool, np.bool_)) for value in present):
        return Raw("flag", _floats(values), shown)
    if all(isinstance(value, (int, float, np.number)) for value in present):
        return Raw("number", _floats(values), shown)
    if all(isinstance(value, str) for value in present):
        return Raw("text", values, shown)
    odd = next(value for value in present if not isinstance(value, str))
    return Raw("other", values, f"{type(odd).__name__} among others")


def _floats(values: npt.NDArray[Any]) -> FloatArray:
    return np.array([np.nan if value is None else float(value) for value in values], dtype=np.float64)


def _missing_as_none(values: Any) -> npt.NDArray[Any]:
    return np.array([*map(_plain, values), None], dtype=object)[:-1]


def _plain(value: Any) -> Any:
    """A value, or None where it stands for a missing one."""
    if value is None or value is getattr(sys.modules.get("pandas"), "NA", None):
        return None
    return None if isinstance(value, float) and np.isnan(value) else value


def _codes(values: FloatArray, missing: int) -> npt.NDArray[np.int64]:
    """Codes as positions; what is not a number takes the last."""
    with np.errstate(invalid="ignore"):
        return np.where(np.isnan(values), missing, np.rint(values)).astype(np.int64)


@attrs.frozen(eq=False)
class PandasForm:
    """A pandas frame: dtypes and column labels come back as they were."""

    names: tuple[str, ...]
    labels: Any
    dtypes: Mapping[int, Any]

    def columns(self, table: Any) -> dict[str, Raw]:
        """See `Form`."""
        return {name: self._column(table.iloc[:, j]) for j, name in enumerate(self.names)}

    def _column(self, column: Any) -> Raw:
        import pandas as pd

        dtype, shown = column.dtype, str(column.dtype)
        if isinstance(dtype, pd.CategoricalDtype):
            levels = tuple(dtype.categories)
            return Raw("ordered" if dtype.ordered else "text", _missing_as_none(column), shown, levels)
        if pd.api.types.is_bool_dtype(dtype):
            return attrs.evolve(_objects(_missing_as_none(column), shown), sort="flag")
        if pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_complex_dtype(dtype):
            whole = pd.api.types.is_integer_dtype(dtype)
            bounds = _bounds(getattr(dtype, "numpy_dtype", dtype)) if whole else None
            values = column.to_numpy(dtype=np.float64, na_value=np.nan)
            return Raw("whole" if whole else "number", values, shown, bounds=bounds)
        if pd.api.types.is_string_dtype(dtype) or pd.api.types.is_object_dtype(dtype):
            return _objects(_missing_as_none(column), shown)
        return Raw("other", column.to_numpy(), shown)

    def make(self, columns: Mapping[str, FloatArray], levels: Mapping[str, Sequence[Any]]) -> Any:
        """See `Form`."""
        import pandas as pd

        made = {}
        for j, name in enumerate(self.names):
            dtype, values = self.dtypes[j], columns[name]
            if name in levels:
                lookup = pd.Series([*levels[name], None], dtype=dtype)
                made[j] = lookup.take(_codes(values, len(lookup) - 1)).reset_index(drop=True)
            elif dtype == np.float64:
                made[j] = values
            elif pd.api.types.is_bool_dtype(dtype):
                flags = (values > 0.5).astype(object)  # noqa: PLR2004 - halfway
                flags[np.isnan(values)] = None
                made[j] = pd.Series(flags) if _cannot(dtype, values) else pd.Series(flags).astype(dtype)
            elif pd.api.types.is_integer_dtype(dtype):
                whole = pd.Series(np.rint(values))
                made[j] = whole if _cannot(dtype, values) else whole.astype(dtype)
            else:
                made[j] = pd.Series(values).astype(dtype)
        frame = pd.DataFrame(made)
        frame.columns = self.labels
        return frame


def _cannot(dtype: Any, values: FloatArray) -> bool:
    """Whether numpy's type has no way to say that a value is missing, and one is."""
    return isinstance(dtype, np.dtype) and bool(np.isnan(values).any())


@attrs.frozen(eq=False)
class PolarsForm:
    """A polars frame: its schema comes back, and nulls where it had nulls."""

    names: tuple[str, ...]
    schema: Mapping[str, Any]
    holes: frozenset[str] = frozenset()

    def columns(self, table: Any) -> dict[str, Raw]:
        """See `Form`."""
        return {name: self._column(table[name]) for name in self.names}

    def _column(self, column: pl.Series) -> Raw:
        dtype, shown = column.dtype, str(column.dtype)
        if dtype == pl.Boolean or dtype.is_numeric():
            sort: Sort = "flag" if dtype == pl.Boolean else "whole" if dtype.is_integer() else "number"
            bounds = None
            if dtype.is_integer():
                bounds = _bounds(np.dtype(str(dtype).lower())) if str(dtype) != "Int128" else None
            return Raw(sort, column.cast(pl.Float64).to_numpy(), shown, bounds=bounds)
        if dtype == pl.Enum:
            levels = tuple(dtype.categories.to_list())  # type: ignore[attr-defined]
            return Raw("ordered", np.array(column.cast(pl.String).to_list(), dtype=object), shown, levels)
        if dtype in (pl.String, pl.Categorical):
            return Raw("text", np.array(column.cast(pl.String).to_list(), dtype=object), shown)
        if dtype == pl.Null:
            return Raw("number", np.full(len(column), np.nan), shown)
        return Raw("other", np.empty(len(column), dtype=object), shown)

    def make(self, columns: Mapping[str, FloatArray], levels: Mapping[str, Sequence[Any]]) -> Any:
        """See `Form`."""
        made = []
        for name in self.names:
            dtype, values = self.schema[name], columns[name]
            if name in levels:
                lookup = pl.Series(name, [*levels[name], None], dtype=dtype)
                made.append(lookup.gather(_codes(values, len(lookup) - 1)))
                continue
            series = pl.Series(name, values, nan_to_null=name in self.holes or not dtype.is_float())
            if dtype == pl.Boolean:
                series = (series > 0.5).alias(name)  # noqa: PLR2004 - halfway
            elif dtype.is_integer():
                series = series.round()
            made.append(series.cast(dtype))
        return pl.DataFrame(made)


FORMS = ("polars", "pandas", "numpy")


def as_form(table: pl.DataFrame, form: str) -> Any:
    """A polars frame in another form: ``polars``, ``pandas`` or ``numpy``.

    Raises:
        InputError: text or categories in a numpy matrix of numbers.
        UnknownNameError: another form.
    """
    if form not in FORMS:
        raise UnknownNameError("form of a table", form, FORMS)
    if form == "polars":
        return table
    table = table.with_columns(cs.decimal().cast(pl.Float64))
    if form == "numpy":
        texts = [
            name for name, dtype in table.schema.items() if not (dtype.is_numeric() or dtype == pl.Boolean)
        ]
        if texts:
            raise InputError(f"column {texts[0]!r} holds no numbers, which a numpy matrix needs")
        return table.cast(pl.Float64).to_numpy()
    import pandas as pd

    made = {}
    for series in table:
        texts = series.cast(pl.String).to_list() if series.dtype in (pl.Categorical, pl.Enum) else []
        if series.dtype == pl.Enum:
            levels = series.dtype.categories.to_list()  # type: ignore[attr-defined]
            made[series.name] = pd.Series(pd.Categorical(texts, categories=levels, ordered=True))
        elif series.dtype == pl.Categorical:
            made[series.name] = pd.Series(pd.Categorical(texts))
        elif series.dtype.is_numeric() and not series.null_count():
            made[series.name] = pd.Series(series.to_numpy())
        elif series.dtype.is_numeric():
            made[series.name] = pd.Series(series.cast(pl.Float64).to_numpy())
        else:
            made[series.name] = pd.Series(series.to_list())
    return pd.DataFrame(made)
