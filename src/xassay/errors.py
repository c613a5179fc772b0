"""What xassay raises when an input cannot be used.

Every exception derives from `XassayError`, so one `except` catches them all, and from the
built-in that Python users expect (`ValueError`). The message is one line that names what
is wrong and what to do; the command line prints it and exits with code 2.
"""

import difflib
import itertools
from collections.abc import Iterable
from pathlib import Path

from xassay.texts import shortened

_COMPARED = 1_000
"""Known names that an unknown one is compared with."""

_REASON = 500


class XassayError(Exception):
    """Base of every error that xassay raises on purpose."""


class InputError(XassayError, ValueError):
    """An argument, option or table that cannot be used as it is."""


class UnknownNameError(InputError):
    """A name (circuit, gate, explainer, metric ...) that nothing answers to."""

    def __init__(self, kind: str, name: object, known: Iterable[str]) -> None:
        choices = list(itertools.islice(known, _COMPARED))
        close = difflib.get_close_matches(shortened(str(name)), choices, n=1)
        hint = f"did you mean {shortened(close[0])!r}? " if close else ""
        shown = ", ".join(map(shortened, choices[:20])) + (", ..." if len(choices) > 20 else "")  # noqa: PLR2004 - one line
        super().__init__(f"unknown {kind} {shortened(str(name))!r}: {hint}known: {shown or 'none'}")


class NetlistError(InputError):
    """A circuit that is not one: a cycle, a node without a driver, an unknown operator ...

    Attributes:
        reason: what is wrong, without its place.
        node: the node it concerns, if one.
        role: what that node is there: ``gate``, ``input`` or ``output``.
        path: the file, if it came from one.
        line: the line in that file, counted from 1, if known.
    """

    def __init__(
        self,
        reason: str,
        *,
        node: str | None = None,
        role: str = "gate",
        path: Path | None = None,
        line: int | None = None,
    ) -> None:
        reason = shortened(reason, _REASON)
        self.reason, self.node, self.role, self.path, self.line = reason, node, role, path, line
        place = "" if path is None else f"{path}:" if line is None else f"{path}:{line}:"
        super().__init__(f"{place} {reason}".strip())


class RunError(XassayError, RuntimeError):
    """A run that could not go on, for no fault of its input."""


class ExplainerError(XassayError, ValueError):
    """An explainer, or the model it explains, that broke its contract."""


class ShapeError(ExplainerError):
    """A model whose answer is not one number a row."""
