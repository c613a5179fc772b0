"""From a run's folder to its view: each study has a builder that makes it of the saved results."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from xassay import results
from xassay.errors import InputError, UnknownNameError
from xassay.report import check, crem, maple
from xassay.report.records import View

_ODD = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, pl.exceptions.PolarsError)
"""What comes of a plan or table that was changed by hand, or is another version's."""


class Builder(NamedTuple):
    """How a study's results become a view.

    Attributes:
        build: plan, scores, tests and further tables by name -> view.
        extra: tables that the run may have beside them, with their columns.
    """

    build: Callable[[dict[str, Any], pl.DataFrame, pl.DataFrame, Mapping[str, pl.DataFrame]], View]
    extra: Mapping[str, tuple[str, ...]]


def builders() -> dict[str, Builder]:
    """The builder of each study."""
    return {
        "check": Builder(check.build, check.EXTRA),
        "crem": Builder(crem.build, {}),
        "maple": Builder(maple.build, maple.EXTRA),
    }


def load(folder: Path) -> View:
    """The view of a run's folder.

    Raises:
        UnknownNameError: the run is of a study that no builder knows.
        InputError: the folder holds no finished run.
    """
    plan = results.read_plan(folder / "plan.json")
    known = builders()
    study = str(plan["study"])
    if study not in known:
        raise UnknownNameError("study", study, known)
    scores = results.read_parquet(folder / "results.parquet", results.RESULTS)
    tests = results.read_parquet(folder / "tests.parquet", results.TESTS)
    extra = {
        name: results.read_parquet(folder / f"{name}.parquet", columns)
        for name, columns in known[study].extra.items()
        if (folder / f"{name}.parquet").exists()
    }
    try:
        return known[study].build(plan, scores, tests, extra)
    except _ODD as error:
        raise InputError(
            f"{folder}: plan.json and tables do not fit each other ({type(error).__name__}: {error}); run it "
            "again with this version"
        ) from error
