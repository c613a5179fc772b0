"""Ending with the process that started this one."""

import ctypes
import os
import signal
import sys
from contextlib import suppress


def end_with(parent: int) -> None:
    """Be killed when the process with this number ends, where the system can do that (Linux).

    It works though compiled code is busy and no Python runs.
    """
    if not sys.platform.startswith("linux"):
        return
    killed_with_parent = 1  # PR_SET_PDEATHSIG
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(killed_with_parent, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before that was asked for
        os._exit(1)
