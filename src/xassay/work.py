"""Does cells: computes what is not stored, in processes if need be, and stores each at once."""

import math
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Protocol

import attrs
import polars as pl

from xassay import results
from xassay.errors import RunError
from xassay.limits import OutOfTime, time_limit
from xassay.types import Cell, Failure

IDLE_SECONDS = 15
"""How long a worker waits for work: one whose run was killed must not linger."""

TIME_UP = "the run's time was up"

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
    """How long things may take, in seconds; None: as long as they like.

    Attributes:
        cell: a single cell.
        run: the whole run. Cells that have not begun by then are skipped, those at work stopped.
    """

    cell: float | None = None
    run: float | None = None


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

    def __init__(self, instances: Path, jobs: int, limits: Limits, progress: Progress) -> None:
        self.cells: dict[str, Cell] = {}
        self.parts: dict[str, Stored] = {}
        self.failures: dict[str, Failure] = {}
        self._instances, self._jobs, self._progress = instances, jobs, progress
        self._limit = limits.cell
        # the clock that all processes of a machine share
        self._deadline = None if limits.run is None else time.time() + limits.run
        self._stored = {path.stem.rpartition("-")[2]: path for path in instances.glob("*.parquet")}
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
        self.parts |= {key: part for key in cells if (part := _read(self._stored.get(key), key)) is not None}

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
        for key, outcome in _outcomes(
            {key: cells[key] for key in todo}, self._jobs, self._limit, self._deadline
        ):
            cell = cells[key]
            if outcome.frame is None:
                self.failures[key] = outcome.failure or Failure("unknown")
            else:
                path = self._instances / f"{cell.label}-{key}.parquet"
                self.parts[key] = _store(outcome.frame, outcome, path, key)
            self._progress.advance(cell.label, cell.cost)


def _outcomes(
    todo: Mapping[str, Cell], jobs: int, limit: float | None, deadline: float | None
) -> Iterator[tuple[str, _Outcome]]:
    if jobs == 1 or len(todo) <= 1:
        yield from (_keyed(key, cell, limit, deadline) for key, cell in todo.items())
        return
    import joblib
    from joblib.externals.loky.process_executor import BrokenProcessPool

    tasks = (joblib.delayed(_keyed)(key, cell, limit, deadline) for key, cell in todo.items())
    # processes, never threads: explainers draw from numpy's global generator
    pool = joblib.Parallel(
        n_jobs=min(jobs, len(todo)),
        backend="loky",
        return_as="generator_unordered",
        pre_dispatch="n_jobs",
        idle_worker_timeout=IDLE_SECONDS,
    )
    try:
        yield from pool(tasks)
    except BrokenProcessPool:
        raise RunError(
            "a worker process died: out of memory, or ended by an explainer; finished parts are kept, and "
            "the same command continues from there"
        ) from None


def _keyed(key: str, cell: Cell, limit: float | None, deadline: float | None) -> tuple[str, _Outcome]:
    left = math.inf if deadline is None else deadline - time.time()
    if left <= 0:
        return key, _Outcome(None, Failure(TIME_UP, "skipped"), 0.0)
    own = math.inf if limit is None else limit
    outcome = _work(cell, None if math.isinf(min(left, own)) else min(left, own))
    if left < own and outcome.failure is not None and outcome.failure.status == "timeout":
        return key, _Outcome(None, Failure(TIME_UP, "skipped"), outcome.seconds)
    return key, outcome


def _work(cell: Cell, limit: float | None) -> _Outcome:
    from threadpoolctl import threadpool_limits

    began = time.perf_counter()
    try:
        # one thread, so that no sum depends on how many the machine has
        with threadpool_limits(1), warnings.catch_warnings(record=True) as caught, time_limit(limit):
            warnings.simplefilter("default")
            frame = cell.run()
    except OutOfTime:
        failure = Failure(f"took longer than {limit:.3g} s", "timeout")
        return _Outcome(None, failure, time.perf_counter() - began)
    except Exception as error:  # noqa: BLE001 - a cell that fails is a result, not the end of the run
        failure = Failure(f"{type(error).__name__}: {error}".splitlines()[0])
        return _Outcome(None, failure, time.perf_counter() - began)
    said = sorted({f"{w.category.__name__}: {' '.join(str(w.message).split())}" for w in caught})
    return _Outcome(frame, None, time.perf_counter() - began, "\n".join(said))


def _store(frame: pl.DataFrame, outcome: _Outcome, path: Path, key: str) -> Stored:
    stamps = {"cell": key, "seconds": outcome.seconds, "warnings": outcome.warnings}
    results.write_parquet(frame.with_columns(**{name: pl.lit(value) for name, value in stamps.items()}), path)
    return Stored(
        path, len(frame), outcome.seconds, outcome.warnings, failed=_failed_rows(frame), resumed=False
    )


def _failed_rows(frame: pl.DataFrame) -> str | None:
    errors = frame["error"].drop_nulls() if "error" in frame.columns else pl.Series([], dtype=pl.String)
    return f"{len(errors):,} of {len(frame):,} rows: {errors[0]}" if len(errors) else None


def _read(path: Path | None, key: str) -> Stored | None:
    """A stored part, or None where there is none that is whole and the cell's own."""
    if path is None:
        return None
    try:
        present = pl.read_parquet_schema(path)
        stamps = pl.read_parquet(path, columns=[*STAMPS, *(["error"] if "error" in present else [])])
    except (pl.exceptions.PolarsError, OSError):
        return None
    if stamps["cell"].unique().to_list() != [key]:
        return None
    seconds, warned = stamps["seconds"][0], stamps["warnings"][0]
    return Stored(path, len(stamps), seconds, warned, failed=_failed_rows(stamps), resumed=True)
