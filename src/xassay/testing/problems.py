"""Models whose right explanation is known exactly, by name."""

from xassay.errors import UnknownNameError
from xassay.seeds import generator
from xassay.testing.known_models import MAKERS, Problem


def names() -> tuple[str, ...]:
    """Names of all problems."""
    return tuple(MAKERS)


def problem(name: str, *, seed: int = 0) -> Problem:
    """One problem by name, with data drawn anew for each seed.

    Raises:
        UnknownNameError: there is none of this name.

    Example:
        >>> one = problem("parity_3")
        >>> one.exact(one.predict, one.X[:100], one.X[:5]).shape
        (5, 8)
        >>> one.relevant
        (0, 1, 2)
    """
    if name not in MAKERS:
        raise UnknownNameError("problem", name, MAKERS)
    return MAKERS[name](generator(seed, "problem", name))


def problems(*, seed: int = 0) -> list[Problem]:
    """All problems."""
    return [problem(name, seed=seed) for name in MAKERS]
