"""The MAPLE evaluation: how accurate MAPLE is, and how far local linear explanations hold."""

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any

import attrs
import numpy as np
import polars as pl

from xassay import results
from xassay.studies.kit.done import Failures, Frames
from xassay.studies.maple import comparison, scoring
from xassay.studies.maple.cell import MapleCell
from xassay.studies.maple.experiments import SHAPES
from xassay.studies.maple.explained import SELF, Explained
from xassay.studies.maple.settings import MapleSettings, load_tables
from xassay.tabular import Dataset, part_sizes

PATTERNS: dict[str, type[pl.DataType]] = {
    "shape": pl.String,
    "grid": pl.Float64,
    "low": pl.Float64,
    "q1": pl.Float64,
    "median": pl.Float64,
    "q3": pl.Float64,
    "high": pl.Float64,
}
"""Columns of ``patterns.parquet``: quantiles (0.05, 0.25, 0.5, 0.75, 0.95) of the active feature
over the most influential training points at each grid point, over all trials."""


class MapleStudy:
    """Settings turned into cells, and the cells' frames into results.

    Attributes:
        name: ``maple``.
        settings: what was asked for.
        cells: one a trial of an experiment on a table, and of each explainer and model there.
        notices: what a reader must know of how it is run.

    Raises:
        InputError: something asked for cannot be had.

    Reference:
        Plumb, Molitor & Talwalkar, NeurIPS 2018, arXiv:1807.02910, section 5.
    """

    name = "maple"
    tables = ("results", "tests", "patterns")

    def __init__(self, settings: MapleSettings) -> None:
        self.settings = settings
        on_tables = [name for name in settings.experiment if name != "patterns"]
        self._tables = load_tables(settings) if on_tables else []
        self.cells: Sequence[MapleCell] = [
            cell for experiment in settings.experiment for cell in self._cells_of(experiment)
        ]
        self.notices: Sequence[str] = []

    def _cells_of(self, experiment: str) -> Iterator[MapleCell]:
        settings = self.settings
        shared: dict[str, Any] = {
            "experiment": experiment,
            "profile": settings.profile,
            "seed": settings.seed,
            # cells of the other experiments must not be computed anew when these change
            "sigma": tuple(sorted(settings.sigma)) if experiment in ("self", "blackbox") else (),
            "sample": settings.sample if experiment in ("self", "blackbox") else None,
        }
        trials = range(settings.n_trials(experiment))
        if experiment == "patterns":
            for shape in SHAPES:
                for trial in trials:
                    yield MapleCell(
                        dataset=shape, table=None, digest="", n_rows=1, trial=trial, explained=None, **shared
                    )
            return
        explained = list(self._explained(experiment))
        for table in self._tables:
            _, _, n_test = part_sizes(len(table.X))
            n_rows = n_test if experiment == "accuracy" else min(n_test, settings.sample or n_test)
            digest = _digest(table)
            for trial in trials:
                for who in explained:
                    yield MapleCell(
                        dataset=table.name,
                        table=table,
                        digest=digest,
                        n_rows=n_rows,
                        trial=trial,
                        explained=who,
                        **shared,
                    )

    def _explained(self, experiment: str) -> Iterator[Explained | None]:
        if experiment == "accuracy":
            yield None
            return
        for model in (SELF,) if experiment == "self" else self.settings.models:
            for spec in self.settings.explainers:
                itself = model == SELF and spec == "maple"
                options = {} if itself else self.settings.explainer_options(experiment, spec)
                yield Explained.of(model, spec, options)

    def plan(self) -> dict[str, Any]:
        """The settings that decide the results, in an order that does not matter."""
        asked = attrs.asdict(self.settings)
        del asked["data_dir"]
        for name in ("experiment", "datasets", "sigma", "models", "explainers"):
            asked[name] = sorted(asked[name])
        return {"study": self.name, "settings": asked}

    def score(self, frames: Frames, failures: Failures) -> dict[str, pl.DataFrame]:
        """The tables ``results`` and ``tests``, and ``patterns`` where that experiment ran."""
        table = results.frame(scoring.score(self.cells, frames, failures), results.RESULTS)
        n_train = {each.name: part_sizes(len(each.X))[0] for each in self._tables}
        tables = {"results": table, "tests": results.frame(comparison.tests(table, n_train), results.TESTS)}
        if "patterns" in self.settings.experiment:
            found = [
                frames[cell.key].with_columns(shape=pl.lit(cell.dataset))
                for cell in self.cells
                if cell.experiment == "patterns" and cell.key in frames
            ]
            tables["patterns"] = results.frame(_quantiles(found), PATTERNS)
        return tables


def _quantiles(found: Sequence[pl.DataFrame]) -> Iterator[dict[str, Any]]:
    if not found:
        return
    for (shape, grid), rows in pl.concat(found).group_by("shape", "grid", maintain_order=True):
        pooled = np.concatenate([np.asarray(values) for values in rows["influential"]])
        low, q1, median, q3, high = np.nanquantile(pooled, [0.05, 0.25, 0.5, 0.75, 0.95])
        yield {"shape": shape, "grid": grid, "low": low, "q1": q1, "median": median, "q3": q3, "high": high}


def _digest(table: Dataset) -> str:
    """A hash of a table's content."""
    content = hashlib.sha256(repr((table.name, table.columns, table.X.shape)).encode())
    content.update(table.X.tobytes())
    content.update(table.y.tobytes())
    return content.hexdigest()[:16]
