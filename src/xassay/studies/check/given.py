"""Explanations that were computed elsewhere, from arrays, frames and files."""

from typing import Any

import numpy as np
import polars as pl

from xassay.errors import InputError
from xassay.tabular.files import read_frame
from xassay.types import Explanation


def given_explanation(attributions: Any, coefficients: Any, intercepts: Any) -> Explanation | None:
    """Explanations that were computed elsewhere, if there are any.

    Raises:
        InputError: intercepts without coefficients, or something that holds no numbers.
    """
    if intercepts is not None and coefficients is None:
        raise InputError("intercepts go with coefficients")
    if attributions is None and coefficients is None:
        return None
    try:
        slopes = None if coefficients is None else np.asarray(coefficients, dtype=np.float64)
        values = slopes if attributions is None else np.asarray(attributions, dtype=np.float64)
        levels = None if intercepts is None else np.asarray(intercepts, dtype=np.float64).reshape(-1)
    except (TypeError, ValueError):
        raise InputError("explanations must hold numbers alone, one row a data row") from None
    try:
        return Explanation(values, coefficients=slopes, intercepts=levels, additive=attributions is not None)
    except ValueError as error:
        raise InputError(str(error)) from None


def aligned(what: str, explained: Any, X: Any) -> Any:
    """Explanations in a frame, in the order of the data's columns and, in pandas, of its rows.

    Names decide where both tables name their columns; columns that are only numbered stay in their order.

    Raises:
        InputError: the explanations name their columns, and one of the data is not among them.
    """
    if not all(hasattr(table, "columns") for table in (explained, X)):
        return explained
    own, columns = list(explained.columns), list(X.columns)
    if all(isinstance(name, str) for name in (*own, *columns)):
        missing = [name for name in columns if name not in own]
        if missing:
            raise InputError(f"{what}: has no column {missing[0]!r}, which the data has")
        explained = explained[columns]
    if not all(hasattr(table, "reindex") for table in (explained, X)):
        return explained
    same = len(explained.index) == len(X.index) and set(explained.index) == set(X.index)
    return explained.reindex(X.index) if same and explained.index.is_unique else explained


def explanation_file(path: str, data: pl.DataFrame) -> tuple[pl.DataFrame, pl.Series | None]:
    """Explanations of all rows of the data, columns in its order, and intercepts if there are any."""
    table = read_frame(path)
    intercepts = (
        table["intercept"] if "intercept" in table.columns and "intercept" not in data.columns else None
    )
    if intercepts is not None:
        table = table.drop("intercept")
    if len(table) != len(data):
        raise InputError(f"{path}: has {len(table):,} rows, the data {len(data):,}; one row a data row")
    missing = [name for name in data.columns if name not in table.columns]
    if missing:
        raise InputError(f"{path}: has no column {missing[0]!r}, which the data has")
    texts = [name for name in data.columns if not table.schema[name].is_numeric()]
    if texts:
        raise InputError(f"{path}: column {texts[0]!r} holds no numbers")
    return table.select(data.columns), intercepts
