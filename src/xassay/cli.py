"""The command line: parse, call, print."""

import contextlib
import itertools
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, CycloptsError, Parameter

import xassay
from xassay import texts
from xassay.errors import InputError, RunError, XassayError

if TYPE_CHECKING:
    from xassay.runner import Study
    from xassay.work import Limits


def _whole(_: Any, tokens: Sequence[Any]) -> int:
    """2.5 is no whole number, and is not made one."""
    return int(tokens[0].value)


Whole = Annotated[int, Parameter(converter=_whole)]

app = App(
    name="xassay",
    help="Measure how much of a local explanation is true.",
    version=xassay.__version__,
    help_format="plaintext",
    default_parameter=Parameter(negative=""),
    suppress_keyboard_interrupt=False,
)
run_app = App(name="run", help="Run a study.")
circuits_app = App(name="circuits", help="List, show and export circuits with known faults.")
data_app = App(name="data", help="List and fetch regression tables.")
app.command(run_app)
app.command(circuits_app)
app.command(data_app)

_FAILED, _BAD_INPUT, _INTERRUPTED = 1, 2, 130


def run(arguments: Sequence[str]) -> int:
    """Run one command.

    Returns:
        0 all well, 1 finished but something failed, 2 bad input, 130 interrupted.
    """
    try:
        _refuse_odd(arguments)
        code = app(
            list(arguments),
            exit_on_error=False,
            print_error=False,
            result_action="return_value",
        )
        sys.stdout.flush()
    except (CycloptsError, XassayError, OSError, MemoryError) as error:
        return _told(error)
    except KeyboardInterrupt:
        sys.stderr.write(
            "xassay: stopped; finished parts are kept, and the same command continues from there\n"
        )
        return _INTERRUPTED
    return code if isinstance(code, int) else 0


def _told(error: BaseException) -> int:
    """Say in one line why a command ended, and its exit code."""
    if isinstance(error, OSError):
        _leave_stdout()
        if not isinstance(error, BrokenPipeError):  # then the reader of our output has left
            place = f"{error.filename}: " if error.filename else ""
            _refuse(f"{place}cannot be read or written: {error.strerror or error}")
        return _FAILED
    if isinstance(error, MemoryError):
        _refuse("this machine's memory is too small for it; use fewer rows, inputs or columns")
        return _FAILED
    code = _refuse(" ".join(str(error).split()) if isinstance(error, CycloptsError) else str(error))
    return _FAILED if isinstance(error, RunError) else code


def _leave_stdout() -> None:
    """Write nothing more, not even at the end, to an output that takes no more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _refuse_odd(arguments: Sequence[str]) -> None:
    """Refuse what no result could name, and options without a value.

    An option whose value is lost, as that of an unset variable, is not an option left out.
    """
    for before, text in itertools.pairwise(["", *arguments]):
        if any("\ud800" <= c <= "\udfff" for c in text):
            raise InputError(f"{text}: is no UTF-8 text, which names in plans and results are; rename it")
        name, equals, value = text.partition("=") if text.startswith("--") else (before, "=", text)
        if equals and not value.strip():
            option = f"{name}: " if name.startswith("--") else ""
            raise InputError(f"{option}the value is empty; leave the option out for its default")


def _refuse(reason: str) -> int:
    with contextlib.suppress(OSError):  # nobody is left to be told
        sys.stderr.write(f"xassay: error: {texts.line(reason)}\n")
    return _BAD_INPUT


@run_app.command
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
    all: bool = False,  # noqa: A002 - the option's name
    truth: str = "altered",
    ties: str | None = None,
    engine: str | None = None,
    detector: str = "reconstruction",
    repeats: Whole = 5,
    seed: Whole = 0,
    jobs: Whole = 1,
    memory: str | None = None,
    out: str | None = None,
    quiet: bool = False,
) -> int:
    """Score explainers against the true causes of anomalies in digital circuits.

    Example: xassay run crem --circuits c17,74182 --explainers kernel_shap,lime --jobs 2

    The same command again continues a run that was stopped.

    Args:
        circuits: Circuits: c17, 74182, 74283, 74181, or .bench and .sys files.
        faults: Altered gates of every circuit: z4 (negated), z4:stuck1, z4:or. Default: the
            four of the study, or four spread over another circuit.
        explainers: Explainers: kernel_shap, sampling_shap, lime, lime_continuous, exact_shapley,
            exact_banzhaf, maple, single_flip, random, or file.py:function; with options as in
            kernel_shap:nsamples=2000.
        noise: Noise levels: numbers of noise columns (0,2,4,6), or flip rates.
        noise_kind: attribute (columns that say nothing), flip (random bit flips) or
            correlated (pairs of bits flip together).
        background: Shares of the table that serve as background (0.1,0.2). Default: those that
            the study settled on.
        max_background: Larger backgrounds are sampled down to this many rows. Default: 1000 for
            packages, all for the native engine.
        profile: xassay (expected ties, all features ranked), paper (nearest to the published
            tables) or crem-code (as the study's public code does it).
        sample: Anomalous rows explained in each altered version. Default: 200.
        all: Explain every anomalous row.
        truth: Which inputs are the causes: altered (those that a walk through the altered circuit
            reaches, as in the study), model (the same walk through the original circuit) or function
            (those in a smallest joint flip that changes the explained output).
        ties: expected, ordered or reversed, in place of the profile's rule.
        engine: native (our own code, for all rows of a table at once) or package, for explainers
            that have both: kernel_shap, sampling_shap, lime. Default: native with --all.
        detector: What finds the anomalies and is explained: reconstruction (the study's lookup table),
            autoencoder (a perceptron with a bottleneck; options bottleneck, width, max_iter), or a
            detector of PyOD as pyod:IForest.
        repeats: Where every row is explained: how often, under other seeds, for the interval.
        seed: Seed of everything random.
        jobs: Number of processes; changes nothing in the results.
        memory: Memory that a process may use, as in 500m or 2g; a part of the run that needs more fails,
            and the others go on. Default: what there is.
        out: Folder of the run. Default: a folder under runs/ named after the settings.
        quiet: Print nothing but errors and failures.
    """
    from xassay.studies.crem import CremSettings, CremStudy

    if all and sample is not None:
        raise InputError("--all and --sample exclude each other")
    settings = CremSettings(
        circuits=_split(circuits),
        faults=_split(faults),
        explainers=_split(explainers),
        noise=_numbers("noise", noise),
        noise_kind=noise_kind,
        background=_numbers("background", background),
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
    return _run(CremStudy(settings), out, jobs, quiet=quiet, limits=_limits(memory))


@run_app.command
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
    jobs: Whole = 1,
    memory: str | None = None,
    out: str | None = None,
    quiet: bool = False,
) -> int:
    """Measure how far local linear explanations hold, and how accurate MAPLE is.

    Example: xassay run maple --experiment blackbox --models svr,rf --jobs 2

    The same command again continues a run that was stopped.

    Args:
        experiment: accuracy (MAPLE against its trees and a line), self (MAPLE explained by itself
            and by others), blackbox (other models explained), patterns (global patterns found).
        datasets: Tables: those of "xassay data list", or .csv and .parquet files.
        target: Column to predict, where files are given.
        data_dir: Folder that holds the UCI tables as <name>.csv. Default: where "xassay data
            fetch" puts them, or the folder named in XASSAY_DATA.
        trials: How often each table is split anew. Default: 5; with --profile paper 50 for
            accuracy, 25 for self and blackbox, 10 for patterns.
        sigma: Standard deviations of the perturbations, in those of the columns.
        models: Black boxes: svr, rf, mlp, package.module:Class, or file.py:make; with options
            as in rf:n_estimators=300.
        explainers: Explainers that yield local linear models: maple, lime, or file.py:function;
            with options as in lime:n_samples=1000.
        profile: xassay, or paper (the files' row counter is a feature, and as many trials).
        sample: Test rows explained in each trial. Default: all.
        seed: Seed of everything random.
        jobs: Number of processes; changes nothing in the results.
        memory: Memory that a process may use, as in 500m or 2g; a part of the run that needs more fails,
            and the others go on. Default: what there is.
        out: Folder of the run. Default: a folder under runs/ named after the settings.
        quiet: Print nothing but errors and failures.
    """
    from xassay.studies.maple import MapleSettings, MapleStudy

    settings = MapleSettings(
        experiment=_split(experiment),
        datasets=_split(datasets),
        target=target,
        data_dir=data_dir,
        trials=trials,
        sigma=_numbers("sigma", sigma),
        models=_split(models),
        explainers=_split(explainers),
        profile=profile,
        sample=sample,
        seed=seed,
    )
    return _run(MapleStudy(settings), out, jobs, quiet=quiet, limits=_limits(memory))


def _scores(study: "Study", out: str | None) -> Any:
    from xassay import api, results

    folder = api.default_folder(study) if out is None else Path(out)
    return results.read_parquet(folder / "results.parquet", results.RESULTS)


def _limits(memory: str | None, **others: float | None) -> "Limits":
    from xassay.studies.options import memory_size
    from xassay.work import Limits

    return Limits(memory=None if memory is None else memory_size(memory), **others)


def _run(
    study: "Study", out: str | None, jobs: int, *, quiet: bool, limits: Any = None, about: str = ""
) -> int:
    """Run a study with a bar, print its tables, and say whether anything failed."""
    from xassay import api, runner, terminal
    from xassay.report import view

    folder = api.default_folder(study) if out is None else Path(out)
    title = f"{_plural(len(study.cells), 'cell')}, {_plural(jobs, 'job')}{about}, into {folder}"
    bar = None if quiet else terminal.Bar(title, study.notices)
    done = api.finish(runner.run(study, folder, jobs=jobs, progress=bar, limits=limits))
    shown = view.load(folder)
    terminal.print_failures(shown)
    if not quiet:
        terminal.print_view(shown)
        terminal.say(f"report: {folder / 'report.html'}")
    return _FAILED if done.failed else 0


@app.command
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
    require: str | None = None,
    budget: str | None = None,
    timeout: str = "10m",
    frame: str = "auto",
    allow_pickle: bool = False,
    seed: Whole = 0,
    jobs: Whole = 1,
    memory: str | None = None,
    out: str | None = None,
    quiet: bool = False,
) -> int:
    """Measure which explanations of your own model are right, how far, and at what price.

    Example: xassay check scoring.py:predict --data loans.csv --target default --rows 100 --budget 5m

    Exit code 1 where something failed or a requirement is not met, 2 for input that cannot be used.
    The same command again continues a run that was stopped.

    Args:
        model: A function or a fitted estimator, as package.module:name or file.py:name; or an .onnx or
            .skops file; or, with --allow-pickle, a .pkl or .joblib file.
        data: Table of rows to explain, .csv or .parquet.
        target: Column that the model is not given; what it was fitted to, for the measure
            randomisation.
        drop: Further columns that it is not given.
        background: Table of reference rows. Default: rows of the data, others than the explained where
            there are enough.
        kind: regression, classification (a class's probability) or anomaly (an outlier score).
        class_: The class whose probability is explained. Default: the second of two.
        link: logit explains log-odds in place of probabilities.
        explainers: Explainers: permutation_shap, kernel_shap, sampling_shap, tree_shap, shapiq, lime,
            maple, random, or file.py:function. Default: permutation_shap, kernel_shap, lime, maple and
            random; none where attributions or coefficients are given.
        attributions: Table of explanations that are judged as they are, one row a data row.
        coefficients: Likewise of slopes of local linear models, with a column intercept if they have one.
        measures: Some of planted, fidelity, causal, removal, data, placebo, stability, background,
            convergence, randomisation (the model is refitted to shuffled targets), cost. Default: all
            but randomisation.
        rows: Rows explained.
        sigma: Standard deviations of the perturbations, in those of the columns.
        max_background: Background rows that explainers are given at most.
        require: Requirements, as in "lime.fidelity>=0.8,lime.causal_rmse@0.1<0.2"; the worse end of
            the interval is tested, and a missing score fails.
        budget: Time that the run may take, as in 90s, 5m or 1h; rows are cut to fit.
        timeout: Time that a part of the run may take.
        frame: What the model is given: pandas, polars, numpy, or auto: what it was fitted on or takes.
        allow_pickle: Load a pickle, which can run any code.
        seed: Seed of everything random.
        jobs: Number of processes; changes nothing in the results.
        memory: Memory that a process may use, as in 500m or 2g; a part of the run that needs more fails,
            and the others go on. Default: what there is.
        out: Folder of the run. Default: a folder under runs/ named after the settings.
        quiet: Print nothing but errors and failures.
    """
    from xassay import api, terminal
    from xassay.studies.check import CheckSettings
    from xassay.studies.check.files import Files
    from xassay.studies.check.requirements import Requirement

    asked: dict[str, Any] = {"explainers": _split(explainers), "measures": _split(measures)}
    settings = CheckSettings(
        **{name: value for name, value in asked.items() if value},
        kind=kind,
        class_=class_,
        link=link,
        rows=rows,
        sigma=_numbers("sigma", sigma),
        max_background=max_background,
        timeout=timeout,
        budget=budget,
        seed=seed,
    )
    given = attributions is not None or coefficients is not None
    known = [*settings.explainers, *(["given"] if given else [])]
    wanted = [Requirement.parse(text, known) for text in _split(require)]
    for one in wanted:
        one.check_measured(settings)
    files = Files(
        model=model,
        data=data,
        target=target,
        drop=_split(drop),
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
    study.continue_in(api.default_folder(study) if out is None else Path(out))
    limits = _limits(memory, cell=settings.timeout, run=api.left_of(settings.budget, began))
    about = f", about {terminal.duration(study.seconds)}"
    code = _run(study, out, jobs, quiet=quiet, limits=limits, about=about)
    unmet = [reason for one in wanted if (reason := one.unmet(_scores(study, out))) is not None]
    for reason in unmet:
        terminal.say(f"not met: {reason}", stderr=True, style="red")
    return _FAILED if unmet else code


@app.command
def report(folder: Path, /) -> int:
    """Print a finished run's tables and write its report.html anew; exit code 1 if anything failed.

    Example: xassay report runs/demo

    Args:
        folder: Folder of the run.
    """
    from xassay import report as reports
    from xassay import terminal

    path = reports.write(folder)
    shown = reports.load(folder)
    terminal.print_failures(shown)
    terminal.print_view(shown)
    terminal.say(f"report: {path}")
    return _FAILED if shown.failures else 0


@circuits_app.command(name="list")
def list_circuits() -> int:
    """List the circuits of the study.

    Example: xassay circuits list
    """
    from xassay import circuits, terminal

    rows = []
    for name in circuits.EMBEDDED:
        c = circuits.load(name)
        sizes = (len(c.inputs), len(c.outputs), len(c.gates))
        rows.append([name, *map(str, sizes), " ".join(circuits.STUDY_FAULTS[name])])
    terminal.console().print(
        terminal.table(["circuit", "inputs", "outputs", "gates", "gates that the study negated"], rows)
    )
    return 0


@circuits_app.command
def show(circuit: str) -> int:
    """Show a circuit's gates, and for each single fault the share of rows it makes anomalous.

    Example: xassay circuits show c17

    Args:
        circuit: A circuit's name, or a .bench or .sys file.
    """
    from xassay import circuits, terminal

    found = circuits.find(circuit)
    shares: dict[str, dict[str, float]] = {}
    faults = circuits.faults(found)
    for fault in faults:
        shares.setdefault(fault.gate, {})[fault.change] = fault.share or 0.0
    rows = []
    for gate in found.gates:
        own = shares[gate.output]
        named = [
            f"{own.pop(change):.4f}" if change in own else "" for change in ("negate", "stuck0", "stuck1")
        ]
        swaps = ", ".join(f"{kind} {share:.4f}" for kind, share in own.items())
        nodes = (terminal.plain(gate.output), gate.operator, terminal.plain(" ".join(gate.inputs)))
        rows.append([*nodes, *named, swaps])
    ports = f"{len(found.inputs)} inputs, {len(found.outputs)} outputs, {len(found.gates)} gates"
    sampled = f", estimated on {faults[0].rows:,} random rows" if faults and faults[0].rows else ""
    terminal.say(f"{found.name}: {ports}; share of rows made anomalous by each fault{sampled}")
    terminal.console().print(
        terminal.table(
            ["gate", "operator", "reads", "negate", "stuck0", "stuck1", "operator swapped for"], rows
        )
    )
    return 0


@circuits_app.command
def export(
    *,
    out: str,
    circuits: str = "c17,74182,74283,74181",
    faults: str | None = None,
    noise: str = "0",
    layout: str = "parquet",
) -> int:
    """Write altered truth tables with labels and ground truth.

    Example: xassay circuits export --circuits c17,74182 --noise 0,2 --layout study --out data

    Args:
        out: Folder to write into.
        circuits: Circuits: c17, 74182, 74283, 74181, or .bench and .sys files.
        faults: Altered gates, as in "xassay run crem". Default: the study's four.
        noise: Numbers of noise columns.
        layout: parquet (one file a version), or study (the CSV folders of the public data set).
    """
    from xassay import terminal
    from xassay.circuits import export as write
    from xassay.studies.crem import CremSettings
    from xassay.studies.crem.settings import versions

    settings = CremSettings(circuits=_split(circuits), faults=_split(faults), noise=_numbers("noise", noise))
    by_circuit: dict[str, tuple[Any, list[Any]]] = {}
    for circuit, fault in versions(settings):
        by_circuit.setdefault(circuit.name, (circuit, []))[1].append(fault)
    written = [
        path
        for circuit, chosen in by_circuit.values()
        for level in settings.noise
        for path in write(circuit, chosen, Path(out), n_noise=int(level), layout=layout)
    ]
    terminal.say(f"{_plural(len(written), 'file')} under {out}")
    return 0


@data_app.command(name="list")
def list_data() -> int:
    """List the regression tables, and which of them are on this machine.

    Example: xassay data list
    """
    from xassay import tabular, terminal

    rows = [[name, "yes" if tabular.is_here(name) else "xassay data fetch"] for name in tabular.available()]
    terminal.console().print(terminal.table(["table", "on this machine"], rows))
    return 0


@data_app.command(name="fetch")
def fetch_data(*names: str) -> int:
    """Download UCI tables of the MAPLE evaluation into the cache, each checked against its pinned sum.

    Example: xassay data fetch housing music

    Args:
        names: Tables. Default: all eight.
    """
    from xassay import tabular, terminal

    for name in names or tabular.datasets.SHA256:
        terminal.say(f"{name}: {tabular.fetch(name)}")
    return 0


def _plural(n: int, noun: str) -> str:
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def _split(text: str | None) -> tuple[str, ...]:
    parts = tuple(part.strip() for part in (text or "").split(",") if part.strip())
    if text is not None and not parts:
        raise InputError(f"{text!r} names nothing: leave the option out for its default")
    return parts


def _numbers(option: str, text: str | None) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in _split(text))
    except ValueError:
        raise InputError(f"{option}: {text!r} is no comma-separated list of numbers") from None
