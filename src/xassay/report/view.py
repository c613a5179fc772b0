"""From a run's folder to its view: its study has a builder that makes it of the saved results."""

from pathlib import Path

import polars as pl

from xassay import results
from xassay.errors import InputError
from xassay.studies.registry import builder
from xassay.views import View

_ODD = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, pl.exceptions.PolarsError)
"""What comes of a plan or table that was changed by hand, or is another version's."""


def load(folder: Path) -> View:
    """The view of a run's folder.

    Raises:
        UnknownNameError: the run is of a study that is not known.
        InputError: the folder holds no finished run.
    """
    plan = results.read_plan(folder / "plan.json")
    build, further = builder(str(plan["study"]))
    scores = results.read_parquet(folder / "results.parquet", results.RESULTS)
    tests = results.read_parquet(folder / "tests.parquet", results.TESTS)
    extra = {
        name: results.read_parquet(folder / f"{name}.parquet", columns)
        for name, columns in further.items()
        if (folder / f"{name}.parquet").exists()
    }
    try:
        return build(plan, scores, tests, extra)
    except _ODD as error:
        raise InputError(
            f"{folder}: plan.json and tables do not fit each other ({type(error).__name__}: {error}); run it "
            "again with this version"
        ) from error
