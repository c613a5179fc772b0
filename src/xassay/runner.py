"""Runs the cells of a study, keeps what is computed, and continues where a run stopped.

A finished cell is stored at once under its key, a hash of everything that decides its
result. The same command again finds it and computes only what is missing; a cell that
failed is tried again.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import attrs
import polars as pl

import xassay
from xassay import packages, results
from xassay.errors import InputError
from xassay.locks import alone, locked
from xassay.types import Cell, Failure
from xassay.work import Limits, Progress, Silent, Stored, Work

MOST_WARNINGS = 5
OWN_FILES = ("timings.parquet", "report.html", "instances")
"""What every run writes, beside its plan and the tables of its study."""


class Study(Protocol):
    """What the runner needs to know of a study."""

    name: str

    @property
    def tables(self) -> Sequence[str]:
        """Names of the tables that it may write, ``results`` and ``tests`` among them."""
        ...

    @property
    def cells(self) -> Sequence[Cell]:
        """The units of work."""
        ...

    @property
    def notices(self) -> Sequence[str]:
        """What a reader must know of how it is run."""
        ...

    def plan(self) -> dict[str, Any]:
        """The settings that decide the results; and as ``cells``, if fewer, what decides the stored parts."""
        ...

    def score(
        self, frames: Mapping[str, pl.DataFrame], failures: Mapping[str, Failure]
    ) -> Mapping[str, pl.DataFrame]:
        """The tables to keep, by name: of `tables`, and no others."""
        ...


@runtime_checkable
class InTwoSteps(Study, Protocol):
    """A study some of whose cells rest on the frames of others."""

    @property
    def later(self) -> float:
        """Expected cost of the cells that follow from those."""
        ...

    def follow_ups(
        self, frames: Mapping[str, pl.DataFrame], failures: Mapping[str, Failure]
    ) -> Sequence[Cell]:
        """Cells that rest on the frames of the others; asked for once these are done."""
        ...


@attrs.frozen(eq=False)
class Run:
    """A finished run.

    Attributes:
        scores: one row a score (the columns of `xassay.results.RESULTS`).
        tests: one row a statistical test.
        notices: what a reader must know of how it was run.
        failures: label and reason of each cell that failed, as a whole or in some rows.
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
        return bool(((self.scores["status"] != "ok") | (self.scores["n_failed"] > 0)).any())


def plan_key(study: Study) -> str:
    """A short hash of what is asked for: the same command gives the same key."""
    plan = study.plan()
    asked = {name: plan[name] for name in ("study", "settings")}
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:8]


def run(
    study: Study,
    folder: Path,
    *,
    jobs: int = 1,
    progress: Progress | None = None,
    limits: Limits | None = None,
    cluster: str | None = None,
) -> Run:
    """Run a study in a folder, or continue a run that stopped there.

    Writes ``plan.json``, ``instances/`` (one file a cell), ``results.parquet``,
    ``tests.parquet``, further tables of the study, and ``timings.parquet``.

    Args:
        study: the study.
        folder: the run's folder; made if need be.
        jobs: number of processes; changes nothing in the results.
        progress: is told how the work goes.
        limits: how long a cell and the run may take, and how much memory.
        cluster: where the cells are computed, in place of ``jobs`` processes: see
            `xassay.processes.Cluster`.

    Raises:
        InputError: the folder holds a run of other settings, cannot be written, or is in use.
        RunError: this process cannot run anything, as it was forked.
    """
    if not isinstance(jobs, int) or jobs < 1:
        raise InputError(f"jobs must be a whole number of at least 1, not {jobs!r}")
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file; choose another --out")
    with alone(), locked(folder):
        work = Work(folder / "instances", jobs, limits or Limits(), progress or Silent(), cluster)
        try:
            return _run(study, folder, work)
        finally:
            work.close()


def _run(study: Study, folder: Path, work: Work) -> Run:
    _claim(study, folder)
    try:
        work.take(study.cells)
        if isinstance(study, InTwoSteps):
            if work.todo:
                work.finish(later=study.later)
            work.take(study.follow_ups(work.frames, work.failures))
        work.finish()
    finally:
        work.stop()
    cells, parts, failures = work.cells, work.parts, work.failures
    tables = study.score(work.frames, failures)
    if undeclared := tables.keys() - set(study.tables):
        raise TypeError(f"the study {study.name} does not declare the table {min(undeclared)!r}")
    for name, table in tables.items():
        results.write_parquet(table, folder / f"{name}.parquet")
    results.write_parquet(_timings(cells, parts), folder / "timings.parquet")
    notices = [*study.notices, *_warned(parts.values())]
    _write_plan(study, folder, notices)
    failed = {key: failure.reason for key, failure in failures.items()}
    failed |= {key: part.failed for key, part in parts.items() if part.failed}
    labels = {f"{cells[key].label}-{key}": reason for key, reason in failed.items()}
    return Run(tables["results"], tables["tests"], notices, labels, folder, tables)


def _timings(cells: Mapping[str, Cell], parts: Mapping[str, Stored]) -> pl.DataFrame:
    rows = (
        {"cell": cells[key].label, "rows": part.rows, "seconds": part.seconds, "resumed": part.resumed}
        for key, part in parts.items()
    )
    return results.frame(rows, results.TIMINGS)


def _warned(parts: Iterable[Stored]) -> list[str]:
    """What cells warned of, each kind once, the most frequent first."""
    kinds = Counter(text for part in parts for text in part.warnings.splitlines())
    said = [
        f"{n:,} {'cell' if n == 1 else 'cells'} warned: {text}"
        for text, n in kinds.most_common(MOST_WARNINGS)
    ]
    if len(kinds) > MOST_WARNINGS:
        said.append(f"{len(kinds) - MOST_WARNINGS:,} other warnings stand in the files of instances")
    return said


def _claim(study: Study, folder: Path) -> None:
    """Write the plan, or see that the folder's own asks for the same cells."""
    path = folder / "plan.json"
    written = (*OWN_FILES, *(f"{name}.parquet" for name in study.tables))
    if not path.exists() and any((folder / name).exists() for name in written):
        raise InputError(f"{folder} holds files that a run would overwrite; choose another --out")
    if path.exists():
        found = results.read_plan(path)
        if found.get("study") != study.name:
            raise InputError(f"{folder} holds a run of another study; choose another --out")
        part = "cells" if "cells" in found else "settings"
        for name, value in study.plan()[part].items():
            theirs = found[part].get(name)
            if json.loads(json.dumps(value)) != theirs:
                raise InputError(
                    f"{folder} holds a run with other settings ({name}: {theirs!r}, now {value!r}); choose "
                    "another --out, or delete the folder"
                )
    else:  # an old plan stands beside old results until there are new ones
        _write_plan(study, folder, study.notices)


def _write_plan(study: Study, folder: Path, notices: Sequence[str]) -> None:
    names = (
        re.split(r"[\s<>=!~;\[]", line)[0]
        for line in metadata.requires("xassay") or ()
        if "extra" not in line
    )
    code = {"xassay": xassay.__version__, **{name: packages.version(name) for name in sorted(names)}}
    results.write_json(
        {**study.plan(), "schema": results.SCHEMA_VERSION, "versions": code, "notices": list(notices)},
        folder / "plan.json",
    )
