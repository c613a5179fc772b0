"""What the settings of all studies check alike."""

from collections.abc import Iterable
from typing import Any

from xassay.errors import InputError


def strings(values: Any) -> tuple[str, ...]:
    """A name or several as a tuple.

    Raises:
        InputError: something else.
    """
    try:
        return (values,) if isinstance(values, str) else tuple(str(value) for value in values)
    except TypeError:
        raise InputError(f"expected a list of names, got {values!r}") from None


def floats(values: Any) -> tuple[float, ...]:
    """A number or several as a tuple.

    Raises:
        InputError: something else.
    """
    try:
        return (float(values),) if isinstance(values, (int, float)) else tuple(float(v) for v in values)
    except (TypeError, ValueError):
        raise InputError(f"expected a list of numbers, got {values!r}") from None


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
