"""How any study is run from the command line: folder, bar, tables, exit code."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xassay.runner import Study
    from xassay.work import Limits


def folder_of(study: "Study", out: str | None) -> Path:
    """Where a run is kept."""
    from xassay import api

    return api.default_folder(study) if out is None else Path(out)


def limits(memory: str | None, **others: float | None) -> "Limits":
    """What a run may use; ``others`` are limits of time.

    Raises:
        InputError: the memory is no size.
    """
    from xassay.studies.options import memory_size
    from xassay.work import Limits

    return Limits(memory=None if memory is None else memory_size(memory), **others)


def run_study(
    study: "Study",
    out: str | None,
    jobs: int,
    *,
    quiet: bool,
    limits: "Limits",
    about: str = "",
    cluster: str | None = None,
) -> int:
    """Run a study with a bar, print its tables, and say whether anything failed.

    Args:
        study: what to run.
        out: folder of the run; None: one that is named after the settings.
        jobs: number of processes.
        quiet: print failures alone.
        limits: what the run may use.
        about: what else to say when it begins.
        cluster: where the cells are computed, in place of processes here.

    Returns:
        0, or 1 if something failed.
    """
    from xassay import api, runner, terminal
    from xassay.report import view

    folder = folder_of(study, out)
    cells = terminal.plural(len(study.cells), "cell")
    processes = terminal.plural(jobs, "job") if cluster is None else f"cluster {cluster}"
    bar = None if quiet else terminal.Bar(f"{cells}, {processes}{about}, into {folder}", study.notices)
    done = api.finish(runner.run(study, folder, jobs=jobs, progress=bar, limits=limits, cluster=cluster))
    shown = view.load(folder)
    terminal.print_failures(shown)
    if not quiet:
        terminal.print_view(shown)
        terminal.say(f"report: {folder / 'report.html'}")
    return int(bool(done.failed))
