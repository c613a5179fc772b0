"""Figures and names as the verdict writes them."""

from collections.abc import Callable, Sequence

_MOST_DIGITS = 6


def figure(value: float, *, least: float | None = None) -> str:
    """A score with two decimals, or as many as show on which side of a threshold it lies.

    Args:
        value: the score; what is negative is not worth a number.
        least: the threshold that it is held against: reached at equality.

    Example:
        >>> figure(0.9468), figure(0.9468, least=0.95), figure(-4519.4)
        ('0.95', '0.947', 'below 0')
    """
    return "below 0" if value < 0 else _apart(value, 2, lambda shown: _same(shown, value, least))


def percent(value: float, *, least: float | None = None, most: float | None = None) -> str:
    """A share in per cent, with as many decimals as show on which side of a threshold it lies.

    Args:
        value: the share, as a fraction.
        least: a threshold that is reached at equality.
        most: a threshold that is kept at equality.

    Example:
        >>> percent(0.796), percent(0.796, least=0.8), percent(0.2004, most=0.2)
        ('80%', '79.6%', '20.04%')
    """

    def agrees(shown: float) -> bool:
        kept = most is None or (shown > 100 * most) == (value > most)
        return kept and _same(shown / 100, value, least)

    return f"{_apart(100 * value, 0, agrees)}%"


def times(factor: float) -> str:
    """A factor to two digits.

    Example:
        >>> times(5.04), times(588.2), times(1.55)
        ('5', '590', '1.6')
    """
    return f"{float(f'{factor:.2g}'):,g}"


def named(name: str) -> str:
    """A name within a sentence: in quotes where it has spaces.

    Example:
        >>> named("lime"), named("my files/own.py:explain")
        ('lime', "'my files/own.py:explain'")
    """
    return f"'{name}'" if any(map(str.isspace, name)) else name


def listed(texts: Sequence[str]) -> str:
    """Texts as a list in a sentence.

    Example:
        >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])
        ('a', 'a and b', 'a, b and c')
    """
    *others, last = texts
    return f"{', '.join(others)} and {last}" if others else last


def duration(seconds: float) -> str:
    """Seconds, or milliseconds.

    Example:
        >>> duration(2.34), duration(0.0468), duration(0.00058)
        ('2.3 s', '47 ms', '0.58 ms')
    """
    if seconds >= 1:
        return f"{seconds:.1f} s"
    return f"{1000 * seconds:.0f} ms" if seconds >= 0.01 else f"{1000 * seconds:.2g} ms"  # noqa: PLR2004


def _same(shown: float, value: float, least: float | None) -> bool:
    return least is None or (shown < least) == (value < least)


def _apart(value: float, digits: int, agrees: Callable[[float], bool]) -> str:
    """The number with the fewest decimals that agree."""
    texts = [f"{value:.{n}f}" for n in range(digits, _MOST_DIGITS + 1)]
    return next((text for text in texts if agrees(float(text))), texts[-1])
