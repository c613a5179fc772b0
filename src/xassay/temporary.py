"""Temporary folders; what a killed process left of them is removed by the next."""

import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

from xassay.errors import RunError

_PREFIX = "xassay-"


def folder() -> Path:
    """A new folder, whose name tells this process.

    Raises:
        RunError: there is no room for it.
    """
    try:
        _sweep(Path(tempfile.gettempdir()))
        return Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-"))
    except OSError as error:
        raise RunError(
            f"no temporary folder can be made: {error.strerror or error}; make room, or set TMPDIR to a "
            "place that has some"
        ) from None


def _sweep(parent: Path) -> None:
    """Remove folders of processes of this user that have ended."""
    if not hasattr(os, "getuid"):  # pragma: no cover - Windows tells no such thing simply
        return
    for found in parent.glob(f"{_PREFIX}*-*"):
        pid = found.name.split("-")[1]
        with suppress(OSError, ValueError, OverflowError):
            if not pid.isdecimal() or found.is_symlink() or found.stat().st_uid != os.getuid():
                continue
            try:
                os.kill(int(pid), 0)
            except ProcessLookupError:
                shutil.rmtree(found, ignore_errors=True)
