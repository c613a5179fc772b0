"""``xassay check``."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from xassay.cli.options import Jobs, Memory, Out, Quiet, Whole, described, numbers, split
from xassay.cli.running import folder_of, limits, run_study

if TYPE_CHECKING:
    from xassay.studies.check import CheckSettings
    from xassay.studies.check.requirements import Requirement

_REQUIRE = (
    'Requirements, as in "lime.fidelity>=0.8,lime.causal_rmse@0.1<0.2"; the worse end of the interval is '
    "tested, and a missing score fails."
)


@described("studies/check/files.py:Files", "studies/check/settings.py:CheckSettings")
def check(
    model: str,
    /,
    *,
    data: str,
    target: str | None = None,
    drop: str | None = None,
    background: str | None = None,
    kind: str = "regression",
    class_: str | None = None,
    link: str = "identity",
    explainers: str | None = None,
    attributions: str | None = None,
    coefficients: str | None = None,
    measures: str | None = None,
    rows: Whole = 200,
    sigma: str = "0.1,0.25",
    max_background: Whole = 100,
    require: Annotated[str | None, Parameter(help=_REQUIRE)] = None,
    budget: str | None = None,
    timeout: str = "10m",
    frame: str = "auto",
    allow_pickle: bool = False,
    seed: Whole = 0,
    jobs: Jobs = 1,
    memory: Memory = None,
    out: Out = None,
    quiet: Quiet = False,
) -> int:
    """Measure which explanations of your own model are right, how far, and at what price.

    Example: xassay check scoring.py:predict --data loans.csv --target default --rows 100 --budget 5m

    Exit code 1 where something failed or a requirement is not met, 2 for input that cannot be used.
    The same command again continues a run that was stopped.
    """
    from xassay import api, terminal
    from xassay.studies.check import CheckSettings
    from xassay.studies.check.files import Files

    asked: dict[str, Any] = {"explainers": split(explainers), "measures": split(measures)}
    settings = CheckSettings(
        **{name: value for name, value in asked.items() if value},
        kind=kind,
        class_=class_,
        link=link,
        rows=rows,
        sigma=numbers("sigma", sigma),
        max_background=max_background,
        timeout=timeout,
        budget=budget,
        seed=seed,
    )
    wanted = _requirements(require, settings, given=attributions is not None or coefficients is not None)
    files = Files(
        model=model,
        data=data,
        target=target,
        drop=split(drop),
        background=background,
        attributions=attributions,
        coefficients=coefficients,
        frame=frame,
        allow_pickle=allow_pickle,
    )
    if not quiet:
        terminal.console(stderr=True).print("looking at the model and trying each explainer once ...")
    began = time.monotonic()
    study = files.study(settings, jobs=jobs)
    folder = folder_of(study, out)
    study.continue_in(folder)
    within = limits(memory, cell=settings.timeout, run=api.left_of(settings.budget, began))
    about = f", about {terminal.duration(study.seconds)}"
    code = run_study(study, out, jobs, quiet=quiet, limits=within, about=about)
    unmet = _unmet(wanted, folder)
    for reason in unmet:
        terminal.say(f"not met: {reason}", stderr=True, style="red")
    return 1 if unmet else code


def _requirements(require: str | None, settings: "CheckSettings", *, given: bool) -> "list[Requirement]":
    """What is required; ``given`` says whether explanations that exist already are judged too.

    Raises:
        InputError: a requirement of another form, or of a score that these settings do not measure.
    """
    from xassay.studies.check.requirements import Requirement
    from xassay.studies.check.settings import GIVEN

    known = [*settings.explainers, *([GIVEN] if given else [])]
    wanted = [Requirement.parse(text, known) for text in split(require)]
    for one in wanted:
        one.check_measured(settings)
    return wanted


def _unmet(wanted: "list[Requirement]", folder: Path) -> list[str]:
    """Why what is required is not met, of the run in a folder."""
    from xassay import results

    if not wanted:
        return []
    scores = results.read_parquet(folder / "results.parquet", results.RESULTS)
    return [reason for one in wanted if (reason := one.unmet(scores)) is not None]
