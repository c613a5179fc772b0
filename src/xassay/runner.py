"""Runs the cells of a study, keeps what is computed, and continues where a run stopped.

A finished cell is stored at once under its key, a hash of everything that decides its
result. The same command again finds it and computes only what is missing; a cell that
failed is tried again.
"""

import hashlib
import json
import re
import time
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, Protocol

import attrs
import polars as pl

import xassay
from xassay import results
from xassay.errors import InputError, RunError
from xassay.types import Cell

MOST_WARNINGS = 5

BULKY = ("values",)
"""Columns of a stored part that no score needs: they stay on the disk."""

OWN_FILES = (
    "results.parquet",
    "tests.parquet",
    "patterns.parquet",
    "timings.parquet",
    "report.html",
    "instances",
)


class Study(Protocol):
    """What the runner needs to know of a study."""

    name: str

    @property
    def cells(self) -> Sequence[Cell]:
        """The units of work."""
        ...

    @property
    def notices(self) -> Sequence[str]:
        """What a reader must know of how it is run."""
        ...

    def plan(self) -> dict[str, Any]:
        """The settings that decide the results."""
        ...

    def score(
        self, frames: Mapping[str, pl.DataFrame], failures: Mapping[str, str]
    ) -> Mapping[str, pl.DataFrame]:
        """The tables to keep, by name: ``results``, ``tests``, and what else the study has."""
        ...


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


@attrs.frozen(eq=False)
class Run:
    """A finished run.

    Attributes:
        scores: one row a score (the columns of `xassay.results.RESULTS`).
        tests: one row a statistical test.
        notices: what a reader must know of how it was run.
        failures: label and reason of each cell that failed.
        folder: where it is stored; gone where no folder was asked for.
        tables: all tables by name: those two, and what else the study has.
    """

    scores: pl.DataFrame
    tests: pl.DataFrame
    notices: Sequence[str]
    failures: Mapping[str, str]
    folder: Path
    tables: Mapping[str, pl.DataFrame]

    @property
    def failed(self) -> bool:
        """Whether anything could not be scored: a whole score, or a row of one."""
        return bool(((self.scores["status"] == "failed") | (self.scores["n_failed"] > 0)).any())


@attrs.frozen(eq=False)
class _Outcome:
    """What came of a cell: its frame or an error, the seconds it took, and what it warned of."""

    frame: pl.DataFrame | None
    error: str | None
    seconds: float
    warnings: str = ""


def plan_key(study: Study) -> str:
    """A short hash of what is asked for: the same command gives the same key."""
    return hashlib.sha256(json.dumps(study.plan(), sort_keys=True).encode()).hexdigest()[:8]


def run(study: Study, folder: Path, *, jobs: int = 1, progress: Progress | None = None) -> Run:
    """Run a study in a folder, or continue a run that stopped there.

    Writes ``plan.json``, ``instances/`` (one file a cell), ``results.parquet``,
    ``tests.parquet``, further tables of the study, and ``timings.parquet``.

    Args:
        study: the study.
        folder: the run's folder; made if need be.
        jobs: number of processes; changes nothing in the results.
        progress: is told how the work goes.

    Raises:
        InputError: the folder holds a run of other settings, or cannot be written.
    """
    if jobs < 1:
        raise InputError(f"jobs must be at least 1, not {jobs}")
    progress = progress or Silent()
    _claim(study, folder)
    instances = folder / "instances"
    stored = {path.stem.rpartition("-")[2]: path for path in instances.glob("*.parquet")}
    # keys are read once: a user's file may change while the run goes on
    cells = {cell.key: cell for cell in study.cells}
    kept = {key: part for key in cells if (part := _read(stored.get(key), key)) is not None}
    frames = {key: part.frame for key, part in kept.items() if part.frame is not None}
    todo = sorted((key for key in cells if key not in frames), key=lambda key: -cells[key].cost)
    done = sum(cells[key].cost for key in frames)
    progress.start(done + sum(cells[key].cost for key in todo), done)
    outcomes = dict(kept)
    failures: dict[str, str] = {}
    try:
        for key, outcome in _outcomes({key: cells[key] for key in todo}, jobs):
            cell = cells[key]
            if outcome.frame is None:
                failures[key] = outcome.error or "unknown"
            else:
                stamped = outcome.frame.with_columns(
                    cell=pl.lit(key), seconds=pl.lit(outcome.seconds), warnings=pl.lit(outcome.warnings)
                )
                results.write_parquet(stamped, instances / f"{cell.label}-{key}.parquet")
                frames[key] = outcome.frame.drop(BULKY, strict=False)
                outcomes[key] = attrs.evolve(outcome, frame=frames[key])
            progress.advance(cell.label, cell.cost)
    finally:
        progress.stop()
    tables = study.score(frames, failures)
    for name, table in tables.items():
        results.write_parquet(table, folder / f"{name}.parquet")
    timings = [_timing(cells[key], part, resumed=key in kept) for key, part in outcomes.items()]
    results.write_parquet(results.frame(timings, results.TIMINGS), folder / "timings.parquet")
    notices = [*study.notices, *_warned(outcomes.values())]
    _write_plan(study, folder, notices)
    labels = {f"{cells[key].label}-{key}": reason for key, reason in failures.items()}
    return Run(tables["results"], tables["tests"], notices, labels, folder, tables)


def _outcomes(todo: Mapping[str, Cell], jobs: int) -> Iterator[tuple[str, _Outcome]]:
    if jobs == 1 or len(todo) <= 1:
        yield from ((key, _work(cell)) for key, cell in todo.items())
        return
    import joblib
    from joblib.externals.loky.process_executor import BrokenProcessPool

    tasks = (joblib.delayed(_keyed)(key, cell) for key, cell in todo.items())
    # processes, never threads: explainers draw from numpy's global generator
    pool = joblib.Parallel(
        n_jobs=min(jobs, len(todo)), backend="loky", return_as="generator_unordered", pre_dispatch="n_jobs"
    )
    try:
        yield from pool(tasks)
    except BrokenProcessPool:
        raise RunError(
            "a worker process died: out of memory, or ended by an explainer; finished parts are kept, and "
            "the same command continues from there"
        ) from None


def _keyed(key: str, cell: Cell) -> tuple[str, _Outcome]:
    return key, _work(cell)


def _work(cell: Cell) -> _Outcome:
    from threadpoolctl import threadpool_limits

    began = time.perf_counter()
    try:
        # one thread, so that no sum depends on how many the machine has
        with threadpool_limits(1), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default")
            frame = cell.run()
    except Exception as error:  # noqa: BLE001 - a cell that fails is a result, not the end of the run
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        return _Outcome(None, reason, time.perf_counter() - began)
    said = sorted({f"{w.category.__name__}: {' '.join(str(w.message).split())}" for w in caught})
    return _Outcome(frame, None, time.perf_counter() - began, "\n".join(said))


def _timing(cell: Cell, part: _Outcome, *, resumed: bool) -> dict[str, Any]:
    rows = 0 if part.frame is None else len(part.frame)
    return {"cell": cell.label, "rows": rows, "seconds": part.seconds, "resumed": resumed}


def _warned(outcomes: Iterable[_Outcome]) -> list[str]:
    """What cells warned of, each kind once, the most frequent first."""
    kinds = Counter(text for outcome in outcomes for text in outcome.warnings.splitlines())
    said = [f"{n:,} cells warned: {text}" for text, n in kinds.most_common(MOST_WARNINGS)]
    if len(kinds) > MOST_WARNINGS:
        said.append(f"{len(kinds) - MOST_WARNINGS:,} other warnings stand in the files of instances")
    return said


def _claim(study: Study, folder: Path) -> None:
    """Write the plan, or see that the folder's own is the same."""
    path = folder / "plan.json"
    if not path.exists() and any((folder / name).exists() for name in OWN_FILES):
        raise InputError(f"{folder} holds files that a run would overwrite; choose another --out")
    if path.exists():
        found = results.read_plan(path)
        if found.get("study") != study.name:
            raise InputError(f"{folder} holds a run of another study; choose another --out")
        for name, value in study.plan()["settings"].items():
            theirs = found["settings"].get(name)
            if json.loads(json.dumps(value)) != theirs:
                raise InputError(
                    f"{folder} holds a run with other settings ({name}: {theirs!r}, now {value!r}); choose "
                    "another --out, or delete the folder"
                )
    _write_plan(study, folder, study.notices)


def _write_plan(study: Study, folder: Path, notices: Sequence[str]) -> None:
    names = (
        re.split(r"[\s<>=!~;\[]", line)[0]
        for line in metadata.requires("xassay") or ()
        if "extra" not in line
    )
    code = {"xassay": xassay.__version__, **{name: metadata.version(name) for name in sorted(names)}}
    results.write_json(
        {**study.plan(), "schema": results.SCHEMA_VERSION, "versions": code, "notices": list(notices)},
        folder / "plan.json",
    )


def _read(path: Path | None, key: str) -> _Outcome | None:
    """A stored part, or None where there is none that is whole and the cell's own."""
    if path is None:
        return None
    try:
        part = results.read_parquet(path)
        if part["cell"].unique().to_list() != [key]:
            return None
        frame = part.drop("cell", "seconds", "warnings", *BULKY, strict=False)
        return _Outcome(frame, None, float(part["seconds"][0]), part["warnings"][0])
    except (InputError, pl.exceptions.ColumnNotFoundError):
        return None
