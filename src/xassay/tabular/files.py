"""A regression table of one's own, from CSV or Parquet."""

from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl

from xassay import tables
from xassay.errors import InputError, UnknownNameError
from xassay.tabular.datasets import Dataset
from xassay.texts import shortened
from xassay.types import FloatArray

CSV, PARQUET = (".csv",), (".parquet", ".pq")

MOST_COLUMNS = 10_000
"""Explainers ask a model for each column by itself: more would not end."""


def is_file(name: str) -> bool:
    """Whether this names a file and not a table of the registry."""
    return Path(name).suffix.lower() in (*CSV, *PARQUET)


def read(path: str | Path, target: str, *, keep_row_counter: bool = False) -> Dataset:
    """Read a table whose columns are all numbers (or true and false).

    A first column without a name is taken for a row counter and left out.

    Args:
        path: a ``.csv`` (comma-separated, names in the first line) or ``.parquet`` file.
        target: name of the column to predict; all others are features.
        keep_row_counter: keep an unnamed first column, as a feature named ``row``.

    Raises:
        InputError: the file cannot be read, has two columns of one name, no row, no feature,
            or a column that is no number, or is missing or infinite somewhere.
        UnknownNameError: no such target.
    """
    path = Path(path)
    table = read_frame(path)
    if table.columns[0] == "" and keep_row_counter:
        if "row" in table.columns:
            raise InputError(
                f"{path}: an unnamed first column becomes 'row', and one is called so; rename it"
            )
        table = table.rename({"": "row"})
    elif table.columns[0] == "":
        table = table.drop("")
    if target not in table.columns and len(table.columns) == 1 and any(c in table.columns[0] for c in ";\t"):
        raise InputError(f"{path}: has one column only; separate its fields by commas, not by ; or tabs")
    if target not in table.columns:
        raise UnknownNameError(f"target of {path}", target, table.columns)
    if not len(table):
        raise InputError(f"{path}: has no rows")
    features = [name for name in table.columns if name != target]
    if not features:
        raise InputError(f"{path}: has no column beside the target {target!r}")
    columns = {name: _numbers(path, table[name]) for name in table.columns}
    matrix = np.stack([columns[name] for name in features], axis=1)
    return Dataset(path.stem, np.ascontiguousarray(matrix), columns[target], tuple(features))


def read_frame(path: str | Path) -> pl.DataFrame:
    """Read a table as it is.

    Args:
        path: a ``.csv`` (comma-separated, names in the first line) or ``.parquet`` file.

    Raises:
        InputError: it is neither, cannot be read, or has two columns of one name.
    """
    path = Path(path)
    if not is_file(str(path)):
        raise InputError(f"{path}: is neither a .csv nor a .parquet file")
    try:
        if path.suffix.lower() in CSV:
            return _read_csv(path)
        table = tables.read_parquet(path)
    except FileNotFoundError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    _check_names(path, table.columns)
    return table


def _read_csv(path: Path) -> pl.DataFrame:
    first = tables.read_csv(path, has_header=False, n_rows=1, infer_schema=False)
    head = first.row(0) if len(first) else ()  # a quote that nothing closes takes the whole file
    _check_names(path, ["" if name is None else str(name).strip() for name in head])
    return tables.read_csv(path, infer_schema_length=None).rename(str.strip)


def _check_names(path: Path, names: list[str]) -> None:
    if not names:
        raise InputError(f"{path}: has no columns")
    if len(names) > MOST_COLUMNS:
        raise InputError(
            f"{path}: has {len(names):,} columns; at most {MOST_COLUMNS:,} can be explained; leave some "
            "out, or explain a model of fewer"
        )
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise InputError(f"{path}: two columns are called {shortened(twice[0])!r}; rename one")
    if "" in names[1:]:
        raise InputError(f"{path}: column {names.index('', 1) + 1} has no name")


def _numbers(path: Path, column: pl.Series) -> FloatArray:
    """A column as floats.

    Raises:
        InputError: it holds something else, or is missing or infinite somewhere.
    """
    name = column.name
    if not (column.dtype.is_numeric() or column.dtype == pl.Boolean):
        if column.dtype == pl.String:
            odd = column.filter(column.cast(pl.Float64, strict=False).is_null() & column.is_not_null())
            shown = f"text ({shortened(odd[0])!r})" if len(odd) else "nothing"
        else:
            shown = str(column.dtype)
        raise InputError(f"{path}: column {shortened(name)!r} holds {shown}, not numbers; encode or drop it")
    values = column.cast(pl.Float64).to_numpy()
    for word, bad in (("missing", np.isnan(values)), ("infinite", np.isinf(values))):
        if bad.any():
            raise InputError(
                f"{path}: column {name!r} is {word} in {int(bad.sum())} of {len(values)} rows, first in row "
                f"{int(np.argmax(bad)) + 1}; fill or drop them"
            )
    return np.array(values)
