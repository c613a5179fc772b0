"""The results store: one schema with a version, Parquet, atomic writes.

Undefined is NaN and missing is null; both survive. A file appears under its name only when
it is whole: it is written beside it and renamed.
"""

import contextlib
import io
import json
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, get_args

import attrs
import numpy as np
import polars as pl

from xassay import tables
from xassay.errors import InputError

SCHEMA_VERSION = 2


def _typed_fields(_: type, fields: "list[attrs.Attribute[Any]]") -> "list[attrs.Attribute[Any]]":
    return [field.evolve(validator=_holds) for field in fields]


def _holds(_: object, field: "attrs.Attribute[Any]", value: Any) -> None:
    _check(field.name, RESULTS[field.name], value)


@attrs.frozen(kw_only=True, field_transformer=_typed_fields)
class Row:
    """One score: a row of ``results.parquet``, null where a column does not apply.

    Raises:
        TypeError: a field that is no column, or a value of another type than its column holds.
    """

    study: str
    level: str | None = None
    circuit: str | None = None
    fault: str | None = None
    planted: str | None = None
    dataset: str | None = None
    trial: int | None = None
    model: str | None = None
    noise_kind: str | None = None
    noise: float | None = None
    background: float | None = None
    truth: str | None = None
    ties: str | None = None
    profile: str | None = None
    seed: int | None = None
    explainer: str | None = None
    measure: str | None = None
    options: str | None = None
    samples: int | None = None
    engine: str | None = None
    sigma: float | None = None
    metric: str | None = None
    value: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    n: int | None = None
    n_failed: int | None = None
    n_undefined: int | None = None
    status: str | None = None
    reason: str | None = None
    published: float | None = None
    published_source: str | None = None


_TYPES: dict[Any, type[pl.DataType]] = {str: pl.String, int: pl.Int64, float: pl.Float64}

RESULTS: dict[str, type[pl.DataType]] = {
    "schema": pl.Int64,
    **{field.name: _TYPES[(get_args(field.type) or (field.type,))[0]] for field in attrs.fields(Row)},
}
"""Columns of ``results.parquet``: one row a score."""

TESTS: dict[str, type[pl.DataType]] = {
    "schema": pl.Int64,
    "study": pl.String,
    "metric": pl.String,
    "dataset": pl.String,
    "model": pl.String,
    "sigma": pl.Float64,
    "background": pl.Float64,
    "blocks": pl.String,
    "test": pl.String,
    "first": pl.String,
    "second": pl.String,
    "statistic": pl.Float64,
    "df1": pl.Float64,
    "df2": pl.Float64,
    "p_value": pl.Float64,
    "p_holm": pl.Float64,
    "n_blocks": pl.Int64,
}
"""Columns of ``tests.parquet``: one row a statistical test."""

TIMINGS: dict[str, type[pl.DataType]] = {
    "cell": pl.String,
    "rows": pl.Int64,
    "seconds": pl.Float64,
    "resumed": pl.Boolean,
}
"""Columns of ``timings.parquet``, kept apart so that results are byte-identical."""


def frame(rows: Iterable[Row | Mapping[str, Any]], schema: Mapping[str, type[pl.DataType]]) -> pl.DataFrame:
    """Rows as a frame of a schema: absent columns are null, rows sorted by everything but the scores.

    Raises:
        TypeError: a row has a column that the schema does not know, or a value of another type.
    """
    whole = (attrs.asdict(row, recurse=False) if isinstance(row, Row) else row for row in rows)
    records = [_record(row, schema) for row in whole]
    table = pl.DataFrame(records, schema=dict(schema), orient="row")
    if "schema" in schema:
        table = table.with_columns(pl.lit(SCHEMA_VERSION, pl.Int64).alias("schema"))
    keys = [column for column, kind in schema.items() if kind == pl.String]
    keys += [column for column in ("trial", "noise", "background", "sigma") if column in schema]
    return table.sort(keys, nulls_last=False, maintain_order=True)


def _record(row: Mapping[str, Any], schema: Mapping[str, type[pl.DataType]]) -> dict[str, Any]:
    """A row, all columns of the schema; polars would make null or text of what does not belong there."""
    if unknown := row.keys() - schema.keys():
        raise TypeError(f"column {min(unknown)!r} is not in the schema ({', '.join(schema)})")
    for column, value in row.items():
        _check(column, schema[column], value)
    return {column: row.get(column) for column in schema}


def _check(column: str, kind: type[pl.DataType], value: Any) -> None:
    kinds = _KINDS[kind]
    wrong = isinstance(value, (bool, np.bool_)) and kinds is not _BOOLEANS
    if value is not None and (wrong or not isinstance(value, kinds)):
        raise TypeError(f"column {column!r} holds {kind}, not {value!r}")


_BOOLEANS = (bool, np.bool_)
_KINDS: dict[type[pl.DataType], tuple[type, ...]] = {
    pl.String: (str,),
    pl.Int64: (int, np.integer),
    pl.Float64: (int, float, np.integer, np.floating),
    pl.Boolean: _BOOLEANS,
}


def write_parquet(table: pl.DataFrame, path: Path) -> None:
    """Write a frame whole or not at all.

    Raises:
        InputError: the file cannot be written.
    """
    write_bytes(as_parquet(table), path)
    tables.trust(path)


def as_parquet(table: pl.DataFrame) -> bytes:
    """A frame as the content of a Parquet file."""
    buffer = io.BytesIO()
    table.write_parquet(buffer, compression="zstd")
    return buffer.getvalue()


def write_bytes(content: bytes, path: Path) -> None:
    """Write a file whole or not at all. Errors: `write_parquet`."""
    _atomically(path, lambda temporary: temporary.write_bytes(content))


def write_json(content: Any, path: Path) -> None:
    """Write JSON whole or not at all. Errors: `write_parquet`."""
    text = json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    write_text(text, path)


def write_text(text: str, path: Path) -> None:
    """Write text whole or not at all. Errors: `write_parquet`."""
    _atomically(path, lambda temporary: temporary.write_text(text, encoding="utf-8", newline="\n"))


def _atomically(path: Path, write: Callable[[Path], Any]) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write(temporary)
        with temporary.open("rb") as written:
            os.fsync(written.fileno())
        temporary.replace(path)
    except (OSError, UnicodeEncodeError, pl.exceptions.PolarsError) as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
        raise InputError(f"{path}: cannot be written: {reason}") from None


def read_parquet(path: Path, columns: Iterable[str] = ()) -> pl.DataFrame:
    """Read a frame that has at least these columns.

    Raises:
        InputError: the file is not there, or is no Parquet file of this schema version.
    """
    try:
        table = tables.read_parquet(path)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; is this the folder of a finished run?") from None
    if "schema" in table.columns and len(table) and table["schema"][0] != SCHEMA_VERSION:
        raise InputError(
            f"{path}: written with schema {table['schema'][0]}, this version reads {SCHEMA_VERSION}; "
            "run it again"
        )
    if missing := set(columns) - set(table.columns):
        raise InputError(f"{path}: has no column {min(missing)!r}; it was not written by this version")
    return _typed(path, table, columns) if isinstance(columns, Mapping) else table


def _typed(path: Path, table: pl.DataFrame, schema: Mapping[str, type[pl.DataType]]) -> pl.DataFrame:
    """The table with the schema's types, where its values have them."""
    for name, kind in schema.items():
        if table.schema[name] not in (kind, pl.Null):
            raise InputError(
                f"{path}: column {name!r} holds {table.schema[name]}, not {kind.__name__}; it was not "
                "written by this version"
            )
    return table.with_columns(pl.col(name).cast(kind) for name, kind in schema.items())


def read_plan(path: Path) -> dict[str, Any]:
    """Read a ``plan.json``.

    Raises:
        InputError: the file is not there, or is no plan.
    """
    plan = read_json(path)
    if not (
        isinstance(plan, dict)
        and isinstance(plan.get("settings"), dict)
        and isinstance(plan.get("study"), str)
        and _is_texts(plan.get("notices", []))
        and isinstance(versions := plan.get("versions", {}), dict)
        and _is_texts(list(versions.values()))
    ):
        raise InputError(f"{path}: is no plan of a run; delete the folder or choose another")
    return plan


def _is_texts(found: Any) -> bool:
    return isinstance(found, list) and all(isinstance(text, str) for text in found)


def read_json(path: Path) -> Any:
    """Read JSON.

    Raises:
        InputError: the file is not there, or is no JSON.
    """
    try:
        return json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; is this the folder of a run?") from None
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from None
