"""Runs the cells of a study, keeps what is computed, and continues where a run stopped.

A finished cell is stored at once under its key, a hash of everything that decides its
result. The same command again finds it and computes only what is missing; a cell that
failed is tried again.
"""

import hashlib
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, Protocol

import attrs
import polars as pl

import xassay
from xassay import results
from xassay.errors import InputError
from xassay.types import Cell


class Study(Protocol):
    """What the runner needs to know of a study."""

    name: str

    @property
    def cells(self) -> Sequence[Any]:
        """The units of work (`xassay.types.Cell`)."""
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
    ) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The results and the tests."""
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
        folder: where it is stored.
    """

    scores: pl.DataFrame
    tests: pl.DataFrame
    notices: Sequence[str]
    failures: Mapping[str, str]
    folder: Path

    @property
    def failed(self) -> bool:
        """Whether any score could not be had."""
        return bool((self.scores["status"] == "failed").any())


@attrs.frozen(eq=False)
class _Outcome:
    frame: pl.DataFrame | None
    error: str | None
    seconds: float


def plan_key(study: Study) -> str:
    """A short hash of what is asked for: the same command gives the same key."""
    return hashlib.sha256(json.dumps(study.plan(), sort_keys=True).encode()).hexdigest()[:8]


def run(study: Study, folder: Path, *, jobs: int = 1, progress: Progress | None = None) -> Run:
    """Run a study in a folder, or continue a run that stopped there.

    Writes ``plan.json``, ``instances/`` (one file a cell), ``results.parquet``,
    ``tests.parquet`` and ``timings.parquet``.

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
    frames = {cell.key: frame for cell in study.cells if (frame := _read(stored.get(cell.key))) is not None}
    todo = sorted((cell for cell in study.cells if cell.key not in frames), key=lambda cell: -cell.cost)
    done = sum(cell.cost for cell in study.cells if cell.key in frames)
    progress.start(done + sum(cell.cost for cell in todo), done)
    timings = [_timing(cell, frames[cell.key], None) for cell in study.cells if cell.key in frames]
    failures: dict[str, str] = {}
    try:
        for cell, outcome in _outcomes(todo, jobs):
            if outcome.frame is None:
                failures[cell.key] = outcome.error or "unknown"
            else:
                results.write_parquet(outcome.frame, instances / f"{cell.label}-{cell.key}.parquet")
                frames[cell.key] = outcome.frame
                timings.append(_timing(cell, outcome.frame, outcome.seconds))
            progress.advance(cell.label, cell.cost)
    finally:
        progress.stop()
    scores, tests = study.score(frames, failures)
    results.write_parquet(scores, folder / "results.parquet")
    results.write_parquet(tests, folder / "tests.parquet")
    results.write_parquet(results.frame(timings, results.TIMINGS), folder / "timings.parquet")
    labels = {cell.label: failures[cell.key] for cell in study.cells if cell.key in failures}
    return Run(scores, tests, study.notices, labels, folder)


def _outcomes(todo: Sequence[Any], jobs: int) -> Iterator[tuple[Any, _Outcome]]:
    if jobs == 1 or len(todo) <= 1:
        yield from ((cell, _work(cell)) for cell in todo)
        return
    import joblib

    tasks = (joblib.delayed(_numbered)(number, cell) for number, cell in enumerate(todo))
    # processes, never threads: explainers draw from numpy's global generator
    pool = joblib.Parallel(
        n_jobs=min(jobs, len(todo)), backend="loky", return_as="generator_unordered", pre_dispatch="n_jobs"
    )
    for number, outcome in pool(tasks):
        yield todo[number], outcome


def _numbered(number: int, cell: Cell) -> tuple[int, _Outcome]:
    return number, _work(cell)


def _work(cell: Cell) -> _Outcome:
    from threadpoolctl import threadpool_limits

    began = time.perf_counter()
    try:
        # one thread, so that no sum depends on how many the machine has
        with threadpool_limits(1):
            frame = cell.run()
    except Exception as error:  # noqa: BLE001 - a cell that fails is a result, not the end of the run
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        return _Outcome(None, reason, time.perf_counter() - began)
    return _Outcome(frame, None, time.perf_counter() - began)


def _timing(cell: Any, frame: pl.DataFrame, seconds: float | None) -> dict[str, Any]:
    return {
        "cell": cell.label,
        "explainer": cell.explainer,
        "rows": len(frame),
        "seconds": seconds,
        "resumed": seconds is None,
    }


def _claim(study: Study, folder: Path) -> None:
    """Write the plan, or see that the folder's own is the same."""
    path = folder / "plan.json"
    if path.exists():
        found = results.read_json(path)
        for name, value in study.plan()["settings"].items():
            theirs = found.get("settings", {}).get(name)
            if found.get("study") != study.name or json.loads(json.dumps(value)) != theirs:
                raise InputError(
                    f"{folder} holds a run with other settings ({name}: {theirs!r}, now {value!r}); choose "
                    "another --out, or delete the folder"
                )
    names = ("numpy", "scipy", "shap", "lime", "polars", "scikit-posthocs")
    code = {"xassay": xassay.__version__, **{name: metadata.version(name) for name in names}}
    results.write_json(
        {**study.plan(), "schema": results.SCHEMA_VERSION, "versions": code, "notices": list(study.notices)},
        path,
    )


def _read(path: Path | None) -> pl.DataFrame | None:
    """A stored part, or None where there is none or it cannot be read: then it is computed again."""
    if path is None:
        return None
    try:
        return results.read_parquet(path)
    except InputError:
        return None
