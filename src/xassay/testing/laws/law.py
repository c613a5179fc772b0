"""What a law is: a name, a line that says it, a check that can fail, and how its outcome is told."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import attrs

from xassay.errors import InputError, UnknownNameError

HELD = "held"
"""The outcome of a law that was checked in all its cases."""


class LawBroken(AssertionError):  # noqa: N818 - as AssertionError, it names what was found
    """A law that does not hold.

    Attributes:
        law: the law's name.
        given: the input on which it was broken.
        seen: what was seen there.
    """

    def __init__(self, law: "Law", given: str, seen: str) -> None:
        self.law, self.given, self.seen = law.name, given, seen
        super().__init__(f"law {law.name} is broken: {law.text} Given {given}: {seen}")


class Breach(Exception):  # noqa: N818 - no error of its own: the law makes a `LawBroken` of it
    """What a check saw, before the law adds its name."""

    def __init__(self, given: str, seen: str) -> None:
        self.given, self.seen = given, seen
        super().__init__(seen)


class NotJudged(Exception):  # noqa: N818 - an outcome
    """Why a law says nothing of the one that is checked."""


def require(holds: object, given: str, seen: str) -> None:
    """Break the law unless something holds.

    Raises:
        Breach: it does not.
    """
    if not holds:
        raise Breach(given, seen)


@attrs.frozen(eq=False)
class Law:
    """One law.

    Attributes:
        name: what `skip` takes.
        text: the law in one sentence.
        check: takes what is checked, and the arguments of a case.
        cases: arguments by the case's name; a law without cases has one that is called ``""``.
    """

    name: str
    text: str
    check: Callable[..., None]
    cases: Mapping[str, tuple[Any, ...]]

    def outcome(self, subject: Any, cases: Iterable[str] | None = None) -> str:
        """Check the law.

        Args:
            subject: what is checked.
            cases: names of the cases; None: all.

        Returns:
            ``held``, or ``not judged: ...``.

        Raises:
            LawBroken: it does not hold, or an exception other than those that the law awaits.
        """
        for case in self.cases if cases is None else cases:
            about = f" (case: {case})" if case else ""
            try:
                self.check(subject, *self.cases[case])
            except NotJudged as reason:
                return f"not judged: {reason}"
            except Breach as breach:
                raise LawBroken(self, breach.given + about, breach.seen) from None
            except Exception as error:
                seen = f"{type(error).__name__}: {error}"
                raise LawBroken(self, f"the law's own data{about}", seen) from error
        return HELD


class Book:
    """Laws in the order in which they are checked."""

    def __init__(self) -> None:
        self.laws: dict[str, Law] = {}

    def law(self, **cases: tuple[Any, ...]) -> Callable[[Callable[..., None]], Callable[..., None]]:
        """Decorator: a function becomes the law of its name; its docstring's first line is the law's text."""

        def add(check: Callable[..., None]) -> Callable[..., None]:
            name, text = check.__name__, (check.__doc__ or "").strip().splitlines()[0]
            self.laws[name] = Law(name, text, check, cases or {"": ()})
            return check

        return add


def outcomes(laws: Mapping[str, Law], subject: Any, skip: Mapping[str, str] | None) -> dict[str, str]:
    """Check laws in their order, those left out excepted.

    Args:
        laws: by name.
        subject: what is checked.
        skip: names of laws that are left out -> why.

    Returns:
        Outcome by law: ``held``, ``not judged: why``, or ``skipped: why``.

    Raises:
        LawBroken: the first law that does not hold.
        UnknownNameError: `skip` names no law.
        InputError: `skip` gives no reason.
    """
    left_out = dict(skip or {})
    for name, reason in left_out.items():
        if name not in laws:
            raise UnknownNameError("law", name, laws)
        if not isinstance(reason, str) or not reason.strip():
            raise InputError(f"law {name} cannot be skipped without a reason")
    return {
        name: f"skipped: {left_out[name]}" if name in left_out else law.outcome(subject)
        for name, law in laws.items()
    }
