"""Does cells: computes what is not stored, in processes if need be, and stores each at once."""

import hashlib
import io
import platform
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

import attrs
import polars as pl

from xassay import packages, results
from xassay.processes import Cluster, Ended, Pool, packed
from xassay.studies.kit.code import own_code
from xassay.types import Cell, Failure

STAMPS = ("cell", "seconds", "warnings")
"""Columns that the runner adds to a stored part."""


class Progress(Protocol):
    """Told how the work goes."""

    def start(self, total: float, done: float) -> None:
        """The total cost of the run, and what earlier runs already did of it."""
        ...

    def advance(self, label: str, cost: float) -> None:
        """A cell finished."""
        ...

    def stop(self) -> None:
        """No more cells will finish."""
        ...


class Silent:
    """A progress that says nothing."""

    def start(self, total: float, done: float) -> None:
        """Say nothing."""

    def advance(self, label: str, cost: float) -> None:
        """Say nothing."""

    def stop(self) -> None:
        """Say nothing."""


@attrs.frozen
class Limits:
    """What a run may take; None: as much as it likes.

    What has a limit is computed in processes that can be killed.

    Attributes:
        cell: seconds of a single cell.
        run: seconds of the whole run. What is not done by then is skipped.
        memory: bytes of each process.
    """

    cell: float | None = None
    run: float | None = None
    memory: int | None = None

    def __bool__(self) -> bool:
        return any(value is not None for value in attrs.astuple(self))


@attrs.frozen(eq=False)
class _Outcome:
    """What came of a cell: its frame or why there is none."""

    frame: pl.DataFrame | None
    failure: Failure | None
    seconds: float
    warnings: str = ""


@attrs.frozen
class Stored:
    """A part on the disk: its rows, the seconds it took, what its cell warned of, and rows that failed."""

    path: Path
    rows: int
    seconds: float
    warnings: str
    failed: str | None
    resumed: bool


class Parts(Mapping[str, pl.DataFrame]):
    """The frames of finished cells by key, read when they are asked for: a census has gigabytes."""

    def __init__(self, paths: Mapping[str, Path]) -> None:
        self._paths = paths

    def __getitem__(self, key: str) -> pl.DataFrame:
        path = self._paths[key]
        wanted = [name for name in pl.read_parquet_schema(path) if name not in STAMPS]
        return pl.read_parquet(path, columns=wanted)

    def __contains__(self, key: object) -> bool:
        return key in self._paths

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)


class Work:
    """Cells that are done, whatever stood in the folder at the beginning.

    Attributes:
        cells: all of them, by key.
        parts: what is stored of those that finished.
        failures: why the others did not.
    """

    def __init__(
        self, instances: Path, jobs: int, limits: Limits, progress: Progress, cluster: str | None = None
    ) -> None:
        self.cells: dict[str, Cell] = {}
        self.parts: dict[str, Stored] = {}
        self.failures: dict[str, Failure] = {}
        self._instances, self._progress = instances, progress
        self._limits = limits
        until = None if limits.run is None else time.monotonic() + limits.run
        most: dict[str, Any] = {"seconds": limits.cell, "until": until, "memory": limits.memory}
        self._pool: Pool | Cluster | None = None
        self._make: Callable[[], Pool | Cluster] | None = None
        if cluster is not None:
            self._make = lambda: Cluster(cluster, versions, **most)
        elif jobs > 1 or limits:
            self._make = lambda: Pool(jobs, **most)
        self._stored: dict[str, list[Path]] = {}
        for path in instances.glob("*-*-*.parquet"):
            self._stored.setdefault(path.stem.split("-")[-2], []).append(path)
        self._started = False

    @property
    def frames(self) -> Parts:
        """The frames of what finished."""
        return Parts({key: part.path for key, part in self.parts.items()})

    @property
    def todo(self) -> list[str]:
        """Keys of what is neither stored nor failed, in the order of the work."""
        left = (key for key in self.cells if key not in self.parts and key not in self.failures)
        return sorted(left, key=lambda key: (self.cells[key].turn, -self.cells[key].cost))

    def take(self, several: Iterable[Cell]) -> None:
        """Take on cells; those that are stored are done."""
        # keys are read once: a user's file may change while the run goes on
        cells = {cell.key: cell for cell in several}
        self.cells |= cells
        for key in cells:
            found = (part for path in self._stored.get(key, ()) if (part := _read(path, key)) is not None)
            if (part := next(found, None)) is not None:
                self.parts[key] = part

    def finish(self, later: float = 0.0) -> None:
        """Compute what is left to do.

        Args:
            later: the cost of cells that follow.
        """
        todo, cells = self.todo, self.cells
        if not self._started:
            done = sum(cells[key].cost for key in self.parts)
            self._progress.start(done + sum(cells[key].cost for key in todo) + later, done)
        self._started = True
        for key, outcome in self._outcomes({key: cells[key] for key in todo}):
            cell = cells[key]
            if outcome.frame is None:
                self.failures[key] = outcome.failure or Failure("unknown")
            else:
                self.parts[key] = _store(outcome.frame, outcome, self._instances, cell.label, key)
                for path in self._stored.pop(key, ()):  # damaged
                    if path != self.parts[key].path:
                        path.unlink(missing_ok=True)
            self._progress.advance(cell.label, cell.cost)

    def stop(self) -> None:
        """No more cells will be done."""
        self._progress.stop()

    def close(self) -> None:
        """End the processes; what is stored stays."""
        if self._pool is not None:
            self._pool.close()

    def _outcomes(self, todo: Mapping[str, Cell]) -> Iterator[tuple[str, _Outcome]]:
        if self._make is None:
            yield from ((key, _work(cell)) for key, cell in todo.items())
            return
        if not todo:
            return
        self._pool = self._pool or self._make()
        for key, found in self._pool.map((key, packed(_work, (cell,))) for key, cell in todo.items()):
            if isinstance(found, Ended):
                seconds = self._limits.cell if found.how == "timeout" else None
                yield key, _Outcome(None, Failure(found.why, _STATUS[found.how]), seconds or 0.0)
            else:
                yield key, found


_STATUS = {"failed": "failed", "died": "failed", "memory": "failed", "timeout": "timeout", "late": "skipped"}
"""What a cell's end in its process is called in results."""


PACKAGES = ("numpy", "scipy", "scikit-learn", "shap", "lime", "polars", "numba")
"""Packages whose versions must be the same on all machines of a run."""


def versions() -> dict[str, str]:
    """What must be the same on all machines of a run: Python, packages, and what our own sources do."""
    own = {"Python": platform.python_version(), "xassay": own_code("")}
    return own | {name: packages.version(name) for name in PACKAGES}


def _work(cell: Cell) -> _Outcome:
    from threadpoolctl import threadpool_limits

    began = time.perf_counter()
    try:
        # one thread, so that no sum depends on how many the machine has
        with threadpool_limits(1), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default")
            frame = cell.run()
    except SystemExit as error:
        failure = Failure(f"the code asked to end the process (SystemExit: {error.code})")
        return _Outcome(None, failure, time.perf_counter() - began)
    except Exception as error:  # noqa: BLE001 - a cell that fails is a result, not the end of the run
        failure = Failure(f"{type(error).__name__}: {error}".splitlines()[0])
        return _Outcome(None, failure, time.perf_counter() - began)
    said = sorted({f"{w.category.__name__}: {' '.join(str(w.message).split())}" for w in caught})
    return _Outcome(frame, None, time.perf_counter() - began, "\n".join(said))


def _store(frame: pl.DataFrame, outcome: _Outcome, folder: Path, label: str, key: str) -> Stored:
    """Store a part under a name that ends in its key and its checksum: what is damaged is found out."""
    stamps = {"cell": key, "seconds": outcome.seconds, "warnings": outcome.warnings}
    stamped = frame.with_columns(**{name: pl.lit(value) for name, value in stamps.items()})
    content = results.as_parquet(stamped)
    path = folder / f"{label}-{key}-{_checksum(content)}.parquet"
    results.write_bytes(content, path)
    return Stored(
        path, len(frame), outcome.seconds, outcome.warnings, failed=_failed_rows(frame), resumed=False
    )


def _checksum(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=8).hexdigest()


def _failed_rows(frame: pl.DataFrame) -> str | None:
    errors = frame["error"].drop_nulls() if "error" in frame.columns else pl.Series([], dtype=pl.String)
    return f"{len(errors):,} of {len(frame):,} rows: {errors[0]}" if len(errors) else None


def _read(path: Path, key: str) -> Stored | None:
    """A stored part, or None where it is damaged or another cell's."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    if path.stem.rpartition("-")[2] != _checksum(content):
        return None
    present = pl.read_parquet_schema(io.BytesIO(content))
    columns = [*STAMPS, *(["error"] if "error" in present else [])]
    stamps = pl.read_parquet(io.BytesIO(content), columns=columns)
    if stamps["cell"].unique().to_list() != [key]:
        return None
    seconds, warned = stamps["seconds"][0], stamps["warnings"][0]
    return Stored(path, len(stamps), seconds, warned, failed=_failed_rows(stamps), resumed=True)
