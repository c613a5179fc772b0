"""One run at a time in a folder, and in a process."""

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from xassay.errors import InputError, RunError

_running = threading.RLock()
_forked = False


@contextmanager
def alone() -> Iterator[None]:
    """Wait until no other thread of this process runs anything.

    A run seeds numpy's global generator, catches warnings and holds libraries to one thread: all these
    are the process's. Two at once would change each other's results.

    Raises:
        RunError: the process was forked off one that had polars loaded, whose threads it lacks.
    """
    if _forked:
        raise RunError(
            "this process was forked off one that had loaded polars, which hangs in it; start it by "
            "multiprocessing.get_context('spawn'), or leave processes to jobs="
        )
    with _running:
        yield


def _after_fork() -> None:
    global _running, _forked
    _running, _forked = threading.RLock(), "polars" in sys.modules


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a folder, made if need be; the lock ends with the process, however that ends.

    Nothing is written for it: the folder itself is locked. Without effect where the system or the file
    system has no such locks (Windows, some network drives).

    Raises:
        InputError: another process holds it, or it cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be written: {error.strerror or error}") from None
    if sys.platform == "win32":  # pragma: no cover
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # a file system without locks
            _hold(folder, handle)
        yield
    finally:
        os.close(handle)


def _hold(folder: Path, handle: int) -> None:
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        who = _holder(handle)
        raise InputError(f"{folder}: {who} runs in this folder; wait, or choose another") from None


def _holder(handle: int) -> str:
    """Who holds it, where the system tells (Linux)."""
    inode = str(os.fstat(handle).st_ino)
    with suppress(OSError, IndexError):
        for line in Path("/proc/locks").read_text("ascii").splitlines():
            parts = line.split()
            if parts[1] == "FLOCK" and parts[5].rpartition(":")[2] == inode:
                return f"process {parts[4]}"
    return "another process"
