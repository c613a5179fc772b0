"""Names that others chose, made fit to be shown and to be part of a file's name."""

import hashlib
import re
import unicodedata

MOST_SHOWN = 100
MOST_LINE = 2_000
MOST_FILE_BYTES = 120
"""File systems end at 255 bytes, and a name has further parts."""

_JOINERS = "\u200c\u200d"
"""Format characters that words of several languages are spelled with."""


def printable(text: str) -> str:
    r"""The text with every character that a terminal or page would obey written out, as in ``\x1b``.

    Control and format characters (escape sequences, line breaks, changes of direction) and
    surrogates are written out; letters of every script, symbols and spaces stay.

    Example:
        >>> printable("a\x1b[31mb\nc")
        'a\\x1b[31mb\\nc'
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        c
        if c.isprintable() or c in _JOINERS or unicodedata.category(c) == "Zs"
        else c.encode("unicode_escape").decode("ascii")
        for c in text
    )


def shortened(text: str, most: int = MOST_SHOWN) -> str:
    """A text of at most so many characters, its middle left out where it is longer.

    Example:
        >>> shortened("z" * 200, 11)
        'zzz ... zzz'
    """
    if len(text) <= most:
        return text
    kept = max((most - len(" ... ")) // 2, 1)
    return f"{text[:kept]} ... {text[-kept:]}"


def line(text: str) -> str:
    r"""A message as one line that is safe to print and of bounded length.

    Example:
        >>> line("two\nlines")
        'two\\nlines'
    """
    return printable(shortened(text, MOST_LINE))


def file_safe(name: str, other: str = "_") -> str:
    """A name as part of a file's name: no separator, no dot first, of bounded length.

    A name that is too long keeps its beginning, and a hash tells it from others.

    Args:
        name: what is named.
        other: stands for each character that is not a letter, a digit or one of ``_ . + -``.

    Example:
        >>> file_safe("../a b"), len(file_safe("z" * 500))
        ('_._a_b', 120)
    """
    safe = re.sub(r"^\.|[^\w.+-]", other, name)
    if len(safe.encode()) <= MOST_FILE_BYTES:
        return safe
    rest = hashlib.sha256(safe.encode()).hexdigest()[:8]
    return f"{safe.encode()[: MOST_FILE_BYTES - 9].decode(errors='ignore')}-{rest}"
