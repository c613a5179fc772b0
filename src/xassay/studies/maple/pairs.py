"""Tests of pairs, beside the scores they compare."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from xassay.metrics import describe
from xassay.studies.kit.comparisons import better, corrected, or_dash, p_cells
from xassay.views import Cell, Table

_LEAST = 1e-4
_LEADS = "corrected_resampled_t"
TEST_NAMES = {"welch": "Welch's t", _LEADS: "corrected resampled t"}


class Pairs:
    """Tests of one metric: who is better on which data set.

    Where a pair has both tests, the corrected resampled t-test says who is better, and Welch's
    stands in the list of every test alone. Pairs that could be tested on no data set are left out.

    Args:
        tests: rows of ``tests.parquet``, one a pair and data set.
        names: what to call who is compared; otherwise by their own name.
        most: how many pairs may stand beside the scores.
    """

    def __init__(self, tests: pl.DataFrame, names: Mapping[str, str], most: int) -> None:
        self._names = names
        found: dict[tuple[str, str], dict[str, dict[str, Any]]] = {}
        if "test" in tests.columns and (tests["test"] == _LEADS).any():
            tests = tests.filter(pl.col("test") == _LEADS)
        for row in tests.iter_rows(named=True):
            found.setdefault((row["first"], row["second"]), {})[row["dataset"]] = row
        self._rows = {
            pair: rows
            for pair, rows in found.items()
            if any(not math.isnan(corrected(row)) for row in rows.values())
        }
        self._are_beside = len(self._rows) <= most

    @property
    def headings(self) -> tuple[str, ...]:
        """The headings of `remarks`."""
        if not self._are_beside:
            return ()
        if len(self._rows) == 1:
            return ("better (p)",)
        return tuple(
            f"{self._name(first)} or {self._name(second)}: better (p)" for first, second in self._rows
        )

    def remarks(self, dataset: str) -> tuple[Cell, ...]:
        """A cell a pair: who is better on a data set and the p-value, if pairs stand beside."""
        if not self._are_beside:
            return ()
        return tuple(self._remark(rows.get(dataset)) for rows in self._rows.values())

    def summary(self, title: str) -> Iterable[Table]:
        """If there are too many pairs to stand beside: on how many data sets each side is better."""
        if self._are_beside:
            return
        rows = []
        for pair, tests in self._rows.items():
            winners = [better(row) for row in tests.values()]
            counts = [str(winners.count(who)) for who in (*pair, "", None)]
            rows.append((*map(self._name, pair), *counts))
        columns = ("first", "second", "first better", "second better", "unclear", "no test")
        yield Table.of(title, columns, rows)

    def _remark(self, row: dict[str, Any] | None) -> Cell:
        who = None if row is None else better(row)
        if row is None or who is None:
            return Cell("-")
        p_value = corrected(row)
        shown = f"<{_LEAST:.4f}" if p_value < _LEAST else f"{p_value:.2g}"
        return Cell(f"{self._name(who) if who else 'unclear'} ({shown})", strong=bool(who))

    def _name(self, name: str) -> str:
        return self._names.get(name, name)


def every_test(tests: pl.DataFrame) -> tuple[Table, ...]:
    """All tests with their statistics, as a table; none if there are none."""
    if tests.is_empty():
        return ()
    has_sigma = tests["sigma"].is_not_null().any()
    columns = ["data set", *(["sigma"] if has_sigma else []), "metric", "first", "second", "test"]
    rows = []
    for row in tests.sort("sigma", "dataset", maintain_order=True).iter_rows(named=True):
        texts = [row["dataset"], *([f"{row['sigma']:g}"] if has_sigma else [])]
        name = TEST_NAMES.get(row["test"], row["test"])
        texts += [describe(row["metric"]).full_name, row["first"], row["second"], name]
        numbers = [or_dash(row["statistic"]), or_dash(row["df1"])]
        rows.append((*map(Cell, (*texts, *numbers)), *p_cells(row), Cell(str(row["n_blocks"]))))
    title = "Every test (t is negative where the first's mean is smaller)"
    return (Table(title, (*columns, "t", "df", "p", "p, Holm", "trials"), tuple(rows)),)
