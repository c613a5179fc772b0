"""What runs in a worker: ``python -m xassay.processes.worker``; see `xassay.processes.pool`.

It reads messages from its standard input, and writes messages to what was its standard output; what is
printed meanwhile goes to standard error. It ends when the process that started it does, however that ends.
"""

import importlib
import os
import pickle
import queue
import sys
import threading
import time
from contextlib import suppress
from typing import IO, Any

from xassay.processes.messages import receive, send
from xassay.processes.parent import end_with
from xassay.processes.shared import Shared, unpacked

_LOOK = 0.1
"""Seconds between two looks at how much memory is used."""


def main() -> None:
    """Do what is asked for until there is nothing more."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    inbox: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    end_with(int(sys.argv[1]))
    threading.Thread(target=_listen, args=(sys.stdin.buffer, inbox), daemon=True).start()
    start = pickle.loads(inbox.get())  # noqa: S301 - from the process that started this one
    sys.path[:] = start["path"]
    for name in start["modules"]:
        with suppress(Exception):
            importlib.import_module(name)
    if start["memory"] is not None:
        watch = (start["memory"], answers)
        threading.Thread(target=_watch, args=watch, daemon=True).start()
    shared: dict[str, Any] = {}
    while True:
        message = pickle.loads(inbox.get())  # noqa: S301 - as above
        if message[0] == "shared":
            shared[message[1]] = Shared(pickle.loads(message[2]))  # noqa: S301 - as above
        else:
            _answer(message[1], answers, shared)


def _answer(task: bytes, answers: IO[bytes], shared: dict[str, Any]) -> None:
    """Do one piece of work; the clock begins when everything is loaded that it needs."""
    try:
        function, arguments = unpacked(task, shared)
        send(answers, pickle.dumps(("began", None)))
        found = ("done", function(*arguments))
    except SystemExit as error:
        found = ("failed", f"the code asked to end the process (SystemExit: {error.code})")
    except Exception as error:  # noqa: BLE001 - told to the process that asked
        found = ("failed", " ".join(f"{type(error).__name__}: {error}".split()))
    send(answers, pickle.dumps(found))


def _listen(requests: IO[bytes], inbox: "queue.SimpleQueue[bytes]") -> None:
    while (message := receive(requests)) is not None:
        inbox.put(message)
    os._exit(0)  # whatever the main thread does: nobody waits for it any more


def _watch(most: int, answers: IO[bytes]) -> None:
    """End the process where it uses more memory than it may."""
    while (used := _memory()) <= most:
        time.sleep(_LOOK)
    with suppress(OSError):
        send(answers, pickle.dumps(("memory", used)))
    os._exit(1)


def _memory() -> int:
    """Bytes that this process has in memory."""
    try:
        with open("/proc/self/statm", encoding="ascii") as statm:  # noqa: PTH123 - asked often
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        import resource

        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most * 1024


if __name__ == "__main__":
    main()
