"""Values of options: how the settings of all studies read and refuse them alike."""

import math
import re
import reprlib
from collections.abc import Iterable
from os import PathLike
from typing import Any

from xassay.errors import InputError

LEAST_MEMORY = 200 * 2**20
"""Bytes that a process needs with the libraries that are always loaded."""


def strings(values: Any) -> tuple[str, ...]:
    """A name or several as a tuple.

    Raises:
        InputError: something else.
    """
    listed = (values,) if isinstance(values, str | PathLike) or not isinstance(values, Iterable) else values
    found = tuple(str(value) if isinstance(value, PathLike) else value for value in listed)
    for value in found:
        if not isinstance(value, str):
            raise InputError(
                f"expected a name, got {reprlib.repr(value)}; what is your own is named by its place, as in "
                "file.py:name"
            )
    return found


def floats(values: Any) -> tuple[float, ...]:
    """A number or several as a tuple.

    Raises:
        InputError: something else.
    """
    try:
        return (float(values),) if isinstance(values, (int, float)) else tuple(float(v) for v in values)
    except (TypeError, ValueError):
        raise InputError(f"expected a list of numbers, got {values!r}") from None


def seconds(option: str, value: Any) -> float:
    """A time in seconds, given as a number of them or as in 90s, 5m or 1h.

    Raises:
        InputError: something else, or no time above 0.
    """
    found = math.nan
    if isinstance(value, str):
        match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smh]?)", value.strip())
        if match is not None:
            found = float(match[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[match[2]]
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        found = float(value)
    if not 0 < found < math.inf:
        raise InputError(f"{option}: {value!r} is no time; write it as 90s, 5m or 1h, or in seconds")
    return found


def memory_size(value: Any) -> int:
    """Memory in bytes, given as a number of them or as in 500m or 2g.

    Raises:
        InputError: something else, or less than a process needs to start.
    """
    found = 0.0
    if isinstance(value, str):
        match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgKMG]?)[bB]?", value.strip())
        if match is not None:
            found = float(match[1]) * 1024 ** " kmg".index(match[2].lower() or " ")
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        found = float(value)
    if not LEAST_MEMORY <= found < 2**63:
        raise InputError(f"memory: {value!r} is no size of at least 200m; write it as 500m or 2g")
    return int(found)


def check_distinct(option: str, values: Iterable[Any]) -> None:
    """Refuse a list that names one twice.

    Raises:
        InputError: it does.
    """
    listed = list(values)
    if len(set(listed)) != len(listed):
        shown = ", ".join(v if isinstance(v, str) else f"{v:g}" for v in listed)
        raise InputError(f"{option}: {shown} names one twice")


def check_some(option: str, values: Iterable[Any]) -> None:
    """Refuse an empty list.

    Raises:
        InputError: it is empty.
    """
    if not list(values):
        raise InputError(f"{option}: name at least one")


def check_whole(option: str, value: Any, least: int) -> None:
    """Refuse what is no whole number from ``least`` on.

    Raises:
        InputError: it is none.
    """
    if not isinstance(value, int) or isinstance(value, bool):
        raise InputError(f"{option} must be a whole number, not {value!r}")
    if not least <= value < 2**63:
        raise InputError(f"{option} must be at least {least} and below 2^63, not {value}")
