"""The same work on many machines: Dask carries it, one process writes what comes back.

A Dask worker computes nothing itself: each of its threads has a worker process of ours beside it
(`xassay.processes.pool`), so that limits hold there too, and code that ends its process ends no Dask worker.
"""

import functools
import importlib
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

import attrs

from xassay.errors import InputError, RunError
from xassay.processes.pool import Ended, Pool
from xassay.processes.shared import Packed

_CONNECT_SECONDS = 10.0
_WORKER_SECONDS = 30.0
"""How long to wait for a first worker."""


class Cluster:
    """Does tasks on the workers of a Dask scheduler; used like a `Pool`.

    Args:
        address: of a scheduler, as in ``tcp://host:8786``; or ``local:4`` for one with so many workers on
            this machine, which ends with the run.
        versions: what must be the same on all machines, by name; called here and on each worker.
        seconds: how long a task may take; None: as long as it likes.
        until: when all must end, by `time.monotonic`; None: never.
        memory: bytes that a process may use; None: as many as there are.

    Raises:
        InputError: no scheduler answers, it has no worker, or one of other versions.
    """

    def __init__(
        self,
        address: str,
        versions: Callable[[], Mapping[str, str]],
        *,
        seconds: float | None = None,
        until: float | None = None,
        memory: int | None = None,
    ) -> None:
        self._address, self._limits, self._until = address, (seconds, memory), until
        self._local, self._client = _connected(address)
        self._sent: dict[str, Any] = {}
        try:
            self._check_workers(versions)
        except BaseException:
            self.close()
            raise

    def map(self, tasks: Iterable[tuple[Any, Packed]]) -> Iterator[tuple[Any, Any]]:
        """Values, or `Ended`, as they come, with the name of their task.

        Raises:
            RunError: the scheduler is gone.
        """
        left = {self._submitted(call, priority=-place): name for place, (name, call) in enumerate(tasks)}
        try:
            for future in _dask().as_completed(list(left), timeout=self._patience()):
                yield left.pop(future), self._found(future)
                future.release()
        except TimeoutError:
            self._client.cancel(list(left))
            for name in left.values():
                yield name, Ended("late", "the run's time was up")

    def close(self) -> None:
        """Leave the cluster; one of our own ends."""
        for one in (self._client, self._local):
            if one is not None:
                with suppress(Exception):  # it may be gone already
                    one.close()

    def _submitted(self, call: Packed, *, priority: int) -> Any:
        for name, content in call.shared.items():
            if name not in self._sent:
                # as a task, so that it is made again where the worker that holds it is lost
                self._sent[name] = self._client.submit(bytes, content(), key=f"xassay-{name}")
        shared = {name: self._sent[name] for name in call.shared}
        return self._client.submit(
            _done, call.content, shared, *self._limits, priority=priority, pure=False, retries=0
        )

    def _found(self, future: Any) -> Any:
        """What a task gave; workers that died of it are tried by Dask several times."""
        try:
            return future.result()
        except Exception as error:
            why = f"{type(error).__name__}: {error}"
            if self._client.status != "running" or future.cancelled():
                raise RunError(
                    f"cluster {self._address} is lost ({why}); finished parts are kept, and the same command "
                    "continues from there"
                ) from error
            return Ended("died", f"no worker of the cluster could do it ({why})")

    def _patience(self) -> float | None:
        return None if self._until is None else max(self._until - time.monotonic(), 1e-3)

    def _check_workers(self, versions: Callable[[], Mapping[str, str]]) -> None:
        with suppress(TimeoutError):
            self._client.wait_for_workers(1, timeout=_WORKER_SECONDS)
        found, own = self._client.run(versions, on_error="return"), versions()
        if not found:
            raise InputError(f"cluster {self._address}: no worker within {_WORKER_SECONDS:g} s; start one")
        for worker, theirs in found.items():
            where = f"cluster {self._address}: worker {worker}"
            if not isinstance(theirs, Mapping):
                raise InputError(f"{where} has no xassay like this one ({theirs})")
            for name, version in own.items():
                if theirs.get(name) != version:
                    other = theirs.get(name)
                    raise InputError(
                        f"{where} has {name} {other}, this process {version}; results could differ"
                    )


def _dask() -> Any:
    """Dask's package.

    Raises:
        InputError: it is not installed.
    """
    try:
        return importlib.import_module("distributed")
    except ImportError:
        raise InputError("a cluster needs the package distributed: pip install 'xassay[cluster]'") from None


def _connected(address: str) -> tuple[Any, Any]:
    """A scheduler of our own, if one is asked for, and a client."""
    dask, local = _dask(), None
    kind, _, number = address.partition(":")
    if kind == "local":
        if not number.isdecimal() or not int(number):
            raise InputError(f"cluster {address!r}: write a number of workers, as in local:4")
        n = int(number)
        local = dask.LocalCluster(n_workers=n, threads_per_worker=1, processes=True, dashboard_address=None)
    try:
        return local, dask.Client(local or address, timeout=_CONNECT_SECONDS)
    except (OSError, ValueError) as error:
        raise InputError(f"cluster {address}: no scheduler answers ({error})") from None


_own = threading.local()
"""Each thread of a Dask worker has a pool of one process."""


@attrs.define
class _Beside:
    """A pool, and the limits that it was made with."""

    limits: tuple[float | None, int | None]
    pool: Pool


def _done(content: bytes, shared: Mapping[str, bytes], seconds: float | None, memory: int | None) -> Any:
    """Runs on a Dask worker: the task is done by the process beside this thread."""
    beside = getattr(_own, "beside", None)
    if beside is None or beside.limits != (seconds, memory):
        if beside is not None:
            beside.pool.close()
        beside = _own.beside = _Beside((seconds, memory), Pool(1, seconds=seconds, memory=memory))
    call = Packed(content, {name: functools.partial(bytes, given) for name, given in shared.items()})
    ((_, found),) = beside.pool.map([("task", call)])
    return found
