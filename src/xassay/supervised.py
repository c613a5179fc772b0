"""The commands that run a user's code, in a process of their own: only an explicit verdict is believed.

A model or explainer may end its process, with exit code 0 and without a word. Here that process is a
child, which tells its verdict by an exit code that nobody else uses.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from types import FrameType

from xassay.processes.parent import end_with

COMMANDS = ("check", "run")
"""Those that run a user's code."""

_VERDICT = 100
"""The child's exit code is this much above the verdict."""
_MOST = 2
"""Codes above this (130: stopped) mean no success, and pass as they are."""

_PARENT = "XASSAY_SUPERVISED_BY"
_FAILED, _INTERRUPTED = 1, 130
_PATIENCE = 5.0
"""Seconds that a child has to end by itself after Ctrl-C, which it received too."""


def is_child() -> bool:
    """Whether this process is such a child; asked once, at the start."""
    parent = os.environ.pop(_PARENT, "")
    if parent:
        end_with(int(parent))
    return bool(parent)


def told(verdict: int) -> int:
    """The exit code by which a child tells its verdict."""
    return _VERDICT + verdict if verdict <= _MOST else verdict


def run(arguments: Sequence[str]) -> int:
    """Run a command in a child, and return its verdict; 1 where there was none."""
    child = subprocess.Popen(  # noqa: S603 - ourselves
        [sys.executable, "-m", "xassay", *arguments], env={**os.environ, _PARENT: str(os.getpid())}
    )

    def pass_on(number: int, _: FrameType | None) -> None:
        child.send_signal(number)

    signal.signal(signal.SIGTERM, pass_on)
    code = _waited(child)
    if _VERDICT <= code <= _VERDICT + _MOST:
        return code - _VERDICT
    if code == _INTERRUPTED:
        return code
    how = f"signal {-code}" if code < 0 else f"exit code {code}"
    sys.stderr.write(
        f"xassay: error: the process ended before the run was done ({how}): out of memory, or ended by the "
        "model or an explainer; finished parts are kept, and the same command continues from there\n"
    )
    return _FAILED


def _waited(child: "subprocess.Popen[bytes]") -> int:
    try:
        return child.wait()
    except KeyboardInterrupt:
        for end in (child.terminate, child.kill):
            try:
                return child.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                end()
        return child.wait()
