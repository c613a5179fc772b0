"""What is said of an explainer that a cell asks."""

from collections.abc import Mapping
from typing import Any

from xassay.errors import InputError


def options_text(options: Mapping[str, Any]) -> str:
    """Options as one line, sorted.

    Example:
        >>> options_text({"nsamples": 100, "l1_reg": "auto"})
        'l1_reg=auto nsamples=100'
    """
    return " ".join(f"{name}={value}" for name, value in sorted(options.items()))


def check_unchanged(then: str, now: str, who: str) -> None:
    """See that a run ends with the code that it began with.

    Args:
        then: version of the code when the run began.
        now: its version now.
        who: whose code it is.

    Raises:
        InputError: it is another.
    """
    if now != then:
        raise InputError(f"{who} changed during the run; run again")
