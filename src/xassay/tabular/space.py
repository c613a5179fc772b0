"""The space that explainers and measures work in: numbers alone, of like scales, and back.

Categories become codes 0, 1, ... and every other column is divided by a power of two near its
standard deviation: packages compare values by absolute tolerances, which columns of 1e-10 or
1e9 defeat. Division by a power of two loses no digit, so what goes back to the model is
exactly what came, and a threshold in the model still falls where it did.
"""

import math
import re
from collections.abc import Sequence
from typing import Any, Literal

import attrs
import numpy as np

from xassay.errors import InputError
from xassay.tabular.forms import Form, Raw, form_of
from xassay.types import FloatArray

Kind = Literal["numeric", "binary", "ordinal", "category"]

MOST_LEVELS = 20
"""A text column with more levels than this, and in more than half of the rows, is no category."""

_EXACT = 2**53
_FAR = 100.0
"""A mean so many standard deviations off is subtracted: near it the subtraction is exact."""


_DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}([T ].*)?$|\d{1,2}[./]\d{1,2}[./]\d{2,4}$")


@attrs.frozen(eq=False)
class Column:
    """How one column is encoded.

    Attributes:
        name: its name.
        kind: numeric; binary (0 and 1, or true and false); ordinal (ordered categories) or
            category (the others), both coded.
        levels: what the codes stand for; empty for numbers.
        whole: whether its numbers are whole.
        centre: what is subtracted from its numbers.
        scale: what they are divided by, a power of two.
        low: the least number that its type holds.
        high: the greatest.
        spread: standard deviation of the encoded values; 0 where they do not vary.
        missing: how many values are missing.
    """

    name: str
    kind: Kind
    levels: tuple[Any, ...] = ()
    whole: bool = False
    centre: float = 0.0
    scale: float = 1.0
    low: float = -math.inf
    high: float = math.inf
    spread: float = 1.0
    missing: int = 0

    @property
    def swapped(self) -> bool:
        """Whether its values are drawn anew where numbers would be moved a little."""
        return self.kind in ("binary", "category")


@attrs.frozen(eq=False)
class Space:
    """Tables of one form as float matrices, and back.

    Attributes:
        columns: how each column is encoded, in order.
        form: how the model's tables look.
    """

    columns: tuple[Column, ...]
    form: Form

    @classmethod
    def of(cls, table: Any, *others: Any) -> tuple["Space", list[FloatArray]]:
        """The space of some tables that have the same columns, and the tables in it.

        Args:
            table: the one whose form the model is given.
            others: further tables; their columns are found by name, in any order.

        Raises:
            InputError: a table that is none, or lacks a column; a column that holds dates, free
                text, or anything else that is neither number nor category; or infinite values.

        Example:
            >>> import numpy as np
            >>> space, (rows,) = Space.of(np.array([[1.0, 300.0], [2.0, 100.0]]))
            >>> bool((space.decode(rows) == [[1.0, 300.0], [2.0, 100.0]]).all())
            True
        """
        form, first = form_of(table)
        parts = [form.columns(first)]
        for other in others:
            own, given = form_of(other, form.names)
            found = own.columns(given)
            _check_same(form.names, list(found))
            parts.append(found)
        columns = tuple(_column(name, [part[name] for part in parts]) for name in form.names)
        space = cls(columns, form)
        return space, [space._encoded(part) for part in parts]

    def _encoded(self, part: dict[str, Raw]) -> FloatArray:
        return np.stack([_encode(column, part[column.name]) for column in self.columns], axis=1)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names."""
        return tuple(column.name for column in self.columns)

    @property
    def spreads(self) -> FloatArray:
        """Standard deviation of each encoded column."""
        return np.array([column.spread for column in self.columns])

    @property
    def zero(self) -> FloatArray:
        """The row whose numbers are all 0 in their own units, and whose categories are the first; encoded."""
        return np.array([0.0 if column.levels else -column.centre / column.scale for column in self.columns])

    def positions(self, *kinds: Kind) -> tuple[int, ...]:
        """Which columns are of these kinds."""
        return tuple(j for j, column in enumerate(self.columns) if column.kind in kinds)

    @property
    def swapped(self) -> tuple[int, ...]:
        """Which columns' values are drawn anew where numbers would be moved a little."""
        return tuple(j for j, column in enumerate(self.columns) if column.swapped)

    def decode(self, rows: FloatArray) -> Any:
        """Encoded rows as the model knows them; codes are rounded to the nearest level."""
        snapped = self.snap(rows)
        values = {
            column.name: snapped[:, j] * column.scale + column.centre for j, column in enumerate(self.columns)
        }
        return self.form.make(
            values, {column.name: column.levels for column in self.columns if column.levels}
        )

    def snap(self, rows: FloatArray) -> FloatArray:
        """Encoded rows moved to the nearest that a table can hold: whole numbers, flags and levels."""
        snapped = np.array(rows, dtype=np.float64)
        for j, column in enumerate(self.columns):
            if column.levels:
                snapped[:, j] = np.clip(np.rint(snapped[:, j]), 0, len(column.levels) - 1)
            elif column.whole:
                raw = np.rint(snapped[:, j] * column.scale + column.centre)
                snapped[:, j] = (np.clip(raw, column.low, column.high) - column.centre) / column.scale
        return snapped

    def coefficients(self, slopes: FloatArray) -> FloatArray:
        """Slopes by the columns' own units as slopes by the encoded values."""
        return np.asarray(slopes * np.array([column.scale for column in self.columns]))

    def intercepts(self, slopes: FloatArray, intercepts: FloatArray) -> FloatArray:
        """Intercepts of the columns' own units as those of the encoded values.

        Args:
            slopes: by the columns' own units, shape (rows, columns).
            intercepts: shape (rows,).
        """
        return np.asarray(intercepts + slopes @ np.array([column.centre for column in self.columns]))


def _check_same(names: Sequence[str], found: Sequence[str]) -> None:
    for name in names:
        if name not in found:
            raise InputError(f"the background has no column {name!r}, which X has")
    for name in found:
        if name not in names:
            raise InputError(f"the background has a column {name!r}, which X does not have")


def _column(name: str, parts: Sequence[Raw]) -> Column:
    sorts = {part.sort for part in parts}
    first = parts[0]
    if "other" in sorts:
        odd = next(part for part in parts if part.sort == "other")
        dates = any(word in odd.shown.lower() for word in ("date", "time", "duration"))
        advice = "make it a number, such as days since a date, or drop it" if dates else "encode or drop it"
        what = "dates or times" if dates else "neither numbers nor categories"
        raise InputError(f"column {name!r} holds {what} ({odd.shown}); {advice}")
    texts = sorts & {"text", "ordered"}
    if texts and sorts - {"text", "ordered"} and not all(_is_empty(p) for p in parts if p.sort not in texts):
        raise InputError(f"column {name!r} holds text in one table and numbers in the other; make them alike")
    if texts:
        return _coded(name, parts)
    values = np.concatenate([part.values for part in parts])
    if np.isinf(values).any():
        raise InputError(
            f"column {name!r} is infinite in {int(np.isinf(values).sum())} of {len(values)} rows; replace or "
            "drop them"
        )
    known = values[~np.isnan(values)]
    missing = len(values) - len(known)
    if "flag" in sorts or (len(known) and np.isin(known, (0, 1)).all()):
        return Column(name, "binary", whole=True, low=0.0, high=1.0, spread=_spread(known), missing=missing)
    whole = first.sort == "whole"
    if whole and len(known) and np.abs(known).max() >= _EXACT:
        raise InputError(
            f"column {name!r} holds whole numbers beyond 2^53, as identifiers are; drop it, or make it text"
        )
    centre, scale = _scale(known)
    low, high = first.bounds if whole and first.bounds else (-math.inf, math.inf)
    spread = _spread((known - centre) / scale)
    return Column(
        name,
        "numeric",
        whole=whole,
        centre=centre,
        scale=scale,
        low=low,
        high=high,
        spread=spread,
        missing=missing,
    )


def _is_empty(part: Raw) -> bool:
    return part.values.dtype.kind == "f" and bool(np.isnan(part.values).all())


def _coded(name: str, parts: Sequence[Raw]) -> Column:
    first = parts[0]
    if first.sort not in ("text", "ordered"):
        raise InputError(
            f"column {name!r} is missing throughout in X, and holds text in the background; drop it"
        )
    values = [value for part in parts for value in _or_none(part)]
    present = [value for value in values if value is not None]
    ordered = first.sort == "ordered"
    levels = first.levels if ordered else tuple(sorted(set(present), key=lambda v: (str(type(v)), v)))
    if not ordered and present and all(_DATE.match(str(value)) for value in present):
        raise InputError(
            f"column {name!r} holds dates or times ({present[0]!r}); make it a number, such as days since a "
            "date, or drop it"
        )
    if not ordered and len(levels) > max(MOST_LEVELS, len(values) / 2):
        raise InputError(
            f"column {name!r} holds free text or a name a row ({len(levels)} different values in "
            f"{len(values)} rows); encode or drop it"
        )
    unknown = set(present) - set(first.levels or levels)
    if unknown:
        raise InputError(f"column {name!r} holds {min(map(str, unknown))!r}, which is no category of it in X")
    missing = len(values) - len(present)
    known: tuple[Any, ...] = (*levels, None) if missing else levels
    codes = [levels.index(value) for value in present] if ordered else []
    kind: Kind = "ordinal" if ordered else "category"
    return Column(
        name, kind, levels=known, spread=_spread(np.array(codes)) if ordered else 1.0, missing=missing
    )


def _or_none(part: Raw) -> list[Any]:
    """Values of categories; a column that is missing throughout comes as numbers."""
    return [None] * len(part.values) if part.values.dtype.kind == "f" else list(part.values)


def _scale(values: FloatArray) -> tuple[float, float]:
    """What to subtract, and the power of two to divide by."""
    if not len(values):
        return 0.0, 1.0
    largest = float(np.abs(values).max())
    if largest == 0:
        return 0.0, 1.0
    # to one scale first: squares must not overflow
    mean, spread = largest * float((values / largest).mean()), largest * float((values / largest).std())
    if spread <= abs(mean) * 1e-12:
        return 0.0, _power_of_two(largest)
    scale = _power_of_two(spread)
    if abs(mean) > _FAR * spread:
        centre = float(np.median(values))
        if ((values - centre) / scale * scale + centre == values).all():
            return centre, scale
    return (0.0, scale) if (values / scale * scale == values).all() else (0.0, 1.0)


def _power_of_two(value: float) -> float:
    return float(2.0 ** min(max(round(math.log2(value)), -1000), 1000))


def _spread(values: FloatArray) -> float:
    largest = float(np.abs(values).max(initial=0.0))
    # to one scale first: squares must not overflow
    return largest * float(np.std(values / largest)) if largest else 0.0


def _encode(column: Column, raw: Raw) -> FloatArray:
    if not column.levels:
        return np.asarray((raw.values - column.centre) / column.scale, dtype=np.float64)
    code = {level: k for k, level in enumerate(column.levels)}
    return np.array([code[value] for value in _or_none(raw)], dtype=np.float64)
