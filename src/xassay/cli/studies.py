"""``xassay run``."""

from typing import Annotated

from cyclopts import Parameter

from xassay.cli.options import Cluster, Jobs, Memory, Out, Quiet, Whole, described, numbers, split
from xassay.cli.running import limits, run_study
from xassay.errors import InputError


@described("studies/crem/settings.py:CremSettings")
def crem(
    *,
    circuits: str = "c17,74182,74283,74181",
    faults: str | None = None,
    explainers: str = "kernel_shap,sampling_shap,lime,lime_continuous,single_flip,random",
    noise: str = "0",
    noise_kind: str = "attribute",
    background: str | None = None,
    max_background: Whole | None = None,
    profile: str = "xassay",
    sample: Whole | None = None,
    all: Annotated[bool, Parameter(help="Explain every anomalous row.")] = False,  # noqa: A002 - the option's name
    truth: str = "altered",
    ties: str | None = None,
    engine: str | None = None,
    detector: str = "reconstruction",
    repeats: Whole = 5,
    seed: Whole = 0,
    jobs: Jobs = 1,
    cluster: Cluster = None,
    memory: Memory = None,
    out: Out = None,
    quiet: Quiet = False,
) -> int:
    """Score explainers against the true causes of anomalies in digital circuits.

    Example: xassay run crem --circuits c17,74182 --explainers kernel_shap,lime --jobs 2

    The same command again continues a run that was stopped.
    """
    from xassay.studies.crem import CremSettings, CremStudy

    if all and sample is not None:
        raise InputError("--all and --sample exclude each other")
    settings = CremSettings(
        circuits=split(circuits),
        faults=split(faults),
        explainers=split(explainers),
        noise=numbers("noise", noise),
        noise_kind=noise_kind,
        background=numbers("background", background),
        max_background=max_background,
        profile=profile,
        sample=None if all else 200 if sample is None else sample,
        truth=truth,
        ties=ties,
        engine=engine,
        detector=detector,
        repeats=repeats,
        seed=seed,
    )
    return run_study(CremStudy(settings), out, jobs, quiet=quiet, limits=limits(memory), cluster=cluster)


@described("studies/maple/settings.py:MapleSettings")
def maple(
    *,
    experiment: str = "accuracy,self,blackbox,patterns",
    datasets: str = "diabetes,friedman1",
    target: str | None = None,
    data_dir: str | None = None,
    trials: Whole | None = None,
    sigma: str = "0.1,0.25",
    models: str = "svr",
    explainers: str = "maple,lime",
    profile: str = "xassay",
    sample: Whole | None = None,
    seed: Whole = 0,
    jobs: Jobs = 1,
    cluster: Cluster = None,
    memory: Memory = None,
    out: Out = None,
    quiet: Quiet = False,
) -> int:
    """Measure how far local linear explanations hold, and how accurate MAPLE is.

    Example: xassay run maple --experiment blackbox --models svr,rf --jobs 2

    The same command again continues a run that was stopped.
    """
    from xassay.studies.maple import MapleSettings, MapleStudy

    settings = MapleSettings(
        experiment=split(experiment),
        datasets=split(datasets),
        target=target,
        data_dir=data_dir,
        trials=trials,
        sigma=numbers("sigma", sigma),
        models=split(models),
        explainers=split(explainers),
        profile=profile,
        sample=sample,
        seed=seed,
    )
    return run_study(MapleStudy(settings), out, jobs, quiet=quiet, limits=limits(memory), cluster=cluster)
