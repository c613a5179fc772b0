"""A pool of worker processes, each of which can be killed or die without harm to the others.

Why not joblib's or the standard library's: they end the whole pool with one worker, have no limit for a
single task, and leave workers and semaphores behind where the run is killed. These workers hang on a pipe:
when the process that started them ends, in whatever way, so do they.
"""

import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import attrs

from xassay.processes.messages import receive, send
from xassay.processes.shared import Packed

TRIES = 2
"""How often a task is given to a worker that dies of it."""

_PRELOADED = ("scipy.stats", "sklearn.ensemble", "shap", "lime.lime_tabular", "shapiq", "numba")
"""Libraries that take seconds to load; a worker loads those that its starter has, before any clock runs."""


@attrs.frozen
class Ended:
    """How a task ended that gave no value.

    Attributes:
        how: ``failed`` (it raised), ``timeout``, ``late`` (the whole run's time was up), ``memory`` or
            ``died`` (its process ended, `TRIES` times).
        why: in words.
    """

    how: str
    why: str


@attrs.define(eq=False)
class _Worker:
    """A process and what it is doing."""

    process: "subprocess.Popen[bytes]"
    known: set[str] = attrs.field(factory=set)
    task: Any = None
    began: float | None = None
    why: Ended | None = None

    def give(self, task: Any, content: bytes) -> None:
        self.task, self.began, self.why = task, None, None
        self.say(("task", content))

    def say(self, message: Any) -> None:
        assert self.process.stdin is not None  # noqa: S101 - it was opened as a pipe
        with suppress(OSError):  # it has died: its last message says so
            send(self.process.stdin, pickle.dumps(message))

    def kill(self) -> None:
        """With whatever it started itself, where the system has process groups."""
        with suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(self.process.pid, signal.SIGKILL)
            else:  # pragma: no cover - Windows
                self.process.kill()

    def end(self) -> None:
        self.kill()
        with suppress(OSError):
            assert self.process.stdin is not None  # noqa: S101 - as above
            self.process.stdin.close()
        self.process.wait()


class Pool:
    """Does tasks in processes of their own.

    Args:
        jobs: how many at once.
        seconds: how long a task may take; None: as long as it likes.
        until: when all must end, by `time.monotonic`; None: never.
        memory: bytes that a process may use; None: as many as there are.
    """

    def __init__(
        self,
        jobs: int,
        *,
        seconds: float | None = None,
        until: float | None = None,
        memory: int | None = None,
    ) -> None:
        self._jobs, self._seconds, self._until, self._memory = jobs, seconds, until, memory
        self._workers: list[_Worker] = []
        self._news: queue.SimpleQueue[tuple[_Worker, Any]] = queue.SimpleQueue()

    def map(self, tasks: Iterable[tuple[Any, Packed]]) -> Iterator[tuple[Any, Any]]:
        """Values, or `Ended`, as they come, with the name of their task.

        Args:
            tasks: name and call of each.
        """
        waiting = deque((name, call, 1) for name, call in tasks)
        while waiting or any(worker.task is not None for worker in self._workers):
            if self._until is not None and time.monotonic() >= self._until:
                yield from self._late(waiting)
                return
            self._assign(waiting)
            yield from self._hear(waiting)

    def close(self) -> None:
        """End all workers, whatever they do."""
        for worker in self._workers:
            worker.end()
        self._workers.clear()

    def _assign(self, waiting: "deque[Any]") -> None:
        idle = [worker for worker in self._workers if worker.task is None]
        while waiting and (idle or len(self._workers) < self._jobs):
            task = waiting.popleft()
            worker = idle.pop() if idle else self._started()
            for name, content in task[1].shared.items():
                if name not in worker.known:
                    worker.known.add(name)
                    worker.say(("shared", name, content()))
            worker.give(task, task[1].content)

    def _started(self) -> _Worker:
        command = [sys.executable, "-m", "xassay.processes.worker", str(os.getpid())]
        # this xassay, wherever it was imported from; the whole path follows in the first message
        path = os.pathsep.join(filter(None, [str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH")]))
        process = subprocess.Popen(  # noqa: S603 - our own module
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": path},
            start_new_session=True,  # Ctrl-C is for this process, which ends its workers
        )
        worker = _Worker(process)
        modules = [name for name in _PRELOADED if name in sys.modules]
        worker.say({"path": sys.path, "modules": modules, "memory": self._memory})
        threading.Thread(target=self._listen, args=(worker,), daemon=True).start()
        self._workers.append(worker)
        return worker

    def _listen(self, worker: _Worker) -> None:
        assert worker.process.stdout is not None  # noqa: S101 - it was opened as a pipe
        try:
            while (message := receive(worker.process.stdout)) is not None:
                self._news.put((worker, pickle.loads(message)))  # noqa: S301 - from our own worker
        finally:
            worker.process.stdout.close()
            self._news.put((worker, ("gone", None)))

    def _hear(self, waiting: "deque[Any]") -> Iterator[tuple[Any, Any]]:
        """Wait for news, or for the next limit; both may end tasks."""
        try:
            worker, (kind, content) = self._news.get(timeout=self._patience())
        except queue.Empty:
            self._stop_what_takes_too_long()
            return
        if worker not in self._workers:
            return
        if kind == "began":
            worker.began = time.monotonic()
        elif kind == "memory":
            worker.why = Ended("memory", f"needed more than {_size(self._memory or 0)} of memory")
        elif kind == "gone":
            self._workers.remove(worker)
            worker.end()
            if worker.task is not None:
                yield from self._after_death(worker, waiting)
        else:
            (name, *_), worker.task = worker.task, None
            yield name, Ended("failed", content) if kind == "failed" else content

    def _after_death(self, worker: _Worker, waiting: "deque[Any]") -> Iterator[tuple[Any, Any]]:
        name, call, tries = worker.task
        if worker.why is not None:
            yield name, worker.why
            return
        if tries < TRIES:
            waiting.appendleft((name, call, tries + 1))
            return
        code = worker.process.returncode
        how = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
        why = f"its process ended {TRIES} times ({how}): out of memory, or ended by the model or explainer"
        yield name, Ended("died", why)

    def _patience(self) -> float | None:
        """Seconds until the next limit is reached; None: there is none."""
        ends = []
        if self._until is not None:
            ends.append(self._until - time.monotonic())
        if self._seconds is not None:
            now = time.monotonic()
            began = [worker.began for worker in self._workers if worker.task and worker.began is not None]
            ends += [at + self._seconds - now for at in began]
        return max(min(ends), 0.0) if ends else None

    def _stop_what_takes_too_long(self) -> None:
        if self._seconds is None:
            return
        now = time.monotonic()
        for worker in self._workers:
            late = worker.began is not None and now - worker.began >= self._seconds
            if worker.task is not None and late and worker.why is None:
                worker.why = Ended("timeout", f"took longer than {self._seconds:.3g} s")
                worker.kill()

    def _late(self, waiting: "deque[Any]") -> Iterator[tuple[Any, Any]]:
        at_work = [worker.task for worker in self._workers if worker.task is not None]
        self.close()
        for name, *_ in (*at_work, *waiting):
            yield name, Ended("late", "the run's time was up")


def _size(n: int) -> str:
    """Bytes for people."""
    return f"{n / 2**30:.3g} GB" if n >= 2**30 else f"{n / 2**20:.3g} MB"
