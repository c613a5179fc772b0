"""Options of commands: their texts, which stand with the settings that they fill, and lists."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

from cyclopts import Parameter

from xassay.errors import InputError

_SOURCES = Path(__file__).parents[1]

Command = TypeVar("Command", bound=Callable[..., int])


def _whole(_: Any, tokens: Sequence[Any]) -> int:
    """2.5 is no whole number, and is not made one."""
    return int(tokens[0].value)


Whole = Annotated[int, Parameter(converter=_whole)]
Jobs = Annotated[Whole, Parameter(help="Number of processes; changes nothing in the results.")]
Cluster = Annotated[
    str | None,
    Parameter(
        help="Dask scheduler whose workers compute in place of processes here, as in tcp://host:8786; or "
        "local:4 for four workers on this machine."
    ),
]
Memory = Annotated[
    str | None,
    Parameter(
        help="Memory that a process may use, as in 500m or 2g; a part of the run that needs more fails, and "
        "the others go on. Default: what there is."
    ),
]
Out = Annotated[
    str | None, Parameter(help="Folder of the run. Default: a folder under runs/ named after the settings.")
]
Quiet = Annotated[bool, Parameter(help="Print nothing but errors and failures.")]


def described(*places: str) -> Callable[[Command], Command]:
    """Give a command's options the texts that settings have of their attributes, but those with an own one.

    Args:
        places: classes of settings; see `attributes`.
    """
    texts = {name: text for place in places for name, text in attributes(place).items()}

    def changed(command: Command) -> Command:
        kinds = command.__annotations__
        told = {name: text for name, text in texts.items() if name in kinds and not _has_text(kinds[name])}
        better = {name: Annotated[kinds[name], Parameter(help=text)] for name, text in told.items()}
        command.__annotations__ = {**kinds, **better}
        return command

    return changed


def attributes(place: str) -> dict[str, str]:
    """What a class says under ``Attributes:``, as plain text.

    It is read from the source: to load a study takes a second or two, and help is to be there at once.

    Args:
        place: the class, as in ``studies/crem/settings.py:CremSettings``.
    """
    path, _, name = place.partition(":")
    source = _SOURCES.joinpath(path).read_text("utf-8")
    _, _, rest = source.partition(f"\nclass {name}:\n")[2].partition("    Attributes:\n")
    section = re.split(r'\n\n|\n    """', rest, maxsplit=1)[0]
    entries = re.split(r"^ {8}(?=\w)", section, flags=re.MULTILINE)[1:]
    return {name: _plain(text) for name, _, text in (entry.partition(": ") for entry in entries)}


def _plain(text: str) -> str:
    """The text in one line, without marks, in capitals where it begins with no value."""
    line = " ".join(text.replace("``", "").split())
    return line if text.startswith("``") else line[:1].upper() + line[1:]


def _has_text(kind: Any) -> bool:
    return any(isinstance(one, Parameter) and one.help for one in getattr(kind, "__metadata__", ()))


def split(text: str | None) -> tuple[str, ...]:
    """The parts of a list with commas; none of an option that is left out.

    Raises:
        InputError: the list names nothing.
    """
    parts = tuple(part.strip() for part in (text or "").split(",") if part.strip())
    if text is not None and not parts:
        raise InputError(f"{text!r} names nothing: leave the option out for its default")
    return parts


def numbers(option: str, text: str | None) -> tuple[float, ...]:
    """The numbers of such a list.

    Raises:
        InputError: the list names nothing, or something else.
    """
    try:
        return tuple(float(part) for part in split(text))
    except ValueError:
        raise InputError(f"{option}: {text!r} is no comma-separated list of numbers") from None
