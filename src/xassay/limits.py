"""A limit on how long something may take, where the system has timers."""

import faulthandler
import math
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_AGAIN = 1.0
"""Seconds until the alarm rings again: code that catches everything catches the first."""


_SOON = 0.05
"""Seconds until it rings again where a module is just being loaded."""


class OutOfTime(BaseException):
    """The limit is reached. No `Exception`, as what is stopped may catch those and go on."""


@contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Raise `OutOfTime` inside the block when the time is up.

    Python code and sleeps are stopped; a library that computes without returning is stopped
    when it returns. Where the exception is lost, as in a callback of compiled code, it is raised
    again a little later, and nothing is written of the first. Without effect where there are no
    timers (Windows, other threads than the main one), and where ``seconds`` is None.

    Example:
        >>> with time_limit(60):
        ...     pass
    """
    possible = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    if seconds is None or math.isinf(seconds) or not possible:
        yield
        return

    def ring(_: int, frame: FrameType | None) -> None:
        if _loads_a_module(frame):  # half loaded, it would stay broken for the rest of the process
            signal.setitimer(signal.ITIMER_REAL, _SOON, _AGAIN)
        else:
            raise OutOfTime

    report = sys.unraisablehook

    def lost(about: "sys.UnraisableHookArgs") -> None:
        if not issubclass(about.exc_type, OutOfTime):
            report(about)

    outer, interval = signal.getitimer(signal.ITIMER_REAL)
    first = max(min(seconds, outer or seconds), 1e-3)  # a limit around this one holds inside it
    began = time.monotonic()
    before = signal.signal(signal.SIGALRM, ring)
    sys.unraisablehook = lost
    try:
        signal.setitimer(signal.ITIMER_REAL, first, _AGAIN)
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        sys.unraisablehook = report
        if outer:
            left = outer - (time.monotonic() - began)
            signal.setitimer(signal.ITIMER_REAL, max(left, 1e-3), interval)


@contextmanager
def process_limit(seconds: float | None) -> Iterator[None]:
    """End the whole process, with exit code 1, where the block takes longer.

    For code that no `time_limit` stops: compiled code that never returns, and the like. Only a process that
    somebody supervises may be ended so.
    """
    if seconds is None:
        yield
        return
    with open(os.devnull, "w") as nowhere:  # noqa: PTH123 - a file that the watchdog writes tracebacks to
        faulthandler.dump_traceback_later(seconds, exit=True, file=nowhere)
        try:
            yield
        finally:
            faulthandler.cancel_dump_traceback_later()


def _loads_a_module(frame: FrameType | None) -> bool:
    """Whether some import is going on."""
    while frame is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            return True
        frame = frame.f_back
    return False
