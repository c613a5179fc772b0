"""The few functions that do a whole job."""

import shutil
from pathlib import Path
from typing import Any

from xassay import report, runner
from xassay.results import temporary_folder
from xassay.runner import Run, Study
from xassay.studies.crem import CremSettings, CremStudy
from xassay.studies.maple import MapleSettings, MapleStudy
from xassay.work import Progress


def run_crem(
    *, out: str | Path | None = None, jobs: int = 1, progress: Progress | None = None, **settings: Any
) -> Run:
    """Run the CREM study: how well explainers find the true causes of anomalies in circuits.

    Args:
        out: folder of the run; the same call again continues where it stopped. None: nothing
            is kept but what is returned.
        jobs: number of processes; changes nothing in the results.
        progress: is told how the work goes.
        settings: fields of `xassay.studies.crem.CremSettings`.

    Returns:
        The scores and tests as polars frames, with notices and failures.

    Raises:
        InputError: a setting that cannot be used.
        TypeError: a setting that does not exist.

    Example:
        >>> run = run_crem(circuits=["c17"], explainers=["single_flip"], faults=["z4"])
        >>> run.scores.filter(level="circuit", metric="mrr")["value"].round(3).to_list()
        [0.891]
    """
    return _run(CremStudy(CremSettings(**settings)), out, jobs, progress)


def run_maple(
    *, out: str | Path | None = None, jobs: int = 1, progress: Progress | None = None, **settings: Any
) -> Run:
    """Run the MAPLE evaluation: how accurate MAPLE is, and how far local linear explanations hold.

    Args:
        out: folder of the run; the same call again continues where it stopped. None: nothing
            is kept but what is returned.
        jobs: number of processes; changes nothing in the results.
        progress: is told how the work goes.
        settings: fields of `xassay.studies.maple.MapleSettings`.

    Returns:
        The scores and tests as polars frames, with notices and failures.

    Raises:
        InputError: a setting that cannot be used.
        TypeError: a setting that does not exist.

    Example:
        >>> run = run_maple(experiment="blackbox", datasets="diabetes", trials=1, explainers="maple")
        >>> rmse = run.scores.filter(level="dataset", metric="causal_rmse", sigma=0.1)["value"][0]
        >>> 0 < rmse < 0.5
        True
    """
    return _run(MapleStudy(MapleSettings(**settings)), out, jobs, progress)


def _run(study: Study, out: str | Path | None, jobs: int, progress: Progress | None) -> Run:
    if out is not None:
        return finish(runner.run(study, Path(out), jobs=jobs, progress=progress))
    folder = temporary_folder()
    try:
        return runner.run(study, folder, jobs=jobs, progress=progress)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def default_folder(study: Study) -> Path:
    """Where the command line keeps a run: the same settings give the same folder."""
    return Path("runs") / f"{study.name}-{runner.plan_key(study)}"


def finish(run: Run) -> Run:
    """Write the report beside a run's results."""
    report.write(run.folder)
    return run
