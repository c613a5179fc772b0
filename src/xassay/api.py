"""The few functions that do a whole job; a study is loaded when it is asked for."""

import shutil
import time
import weakref
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import attrs
import polars as pl

from xassay import report, runner, temporary
from xassay.errors import InputError, UnknownNameError
from xassay.locks import alone
from xassay.runner import Run, Study
from xassay.studies.check import CheckSettings, CheckStudy, prepare
from xassay.studies.check.given import aligned, given_explanation
from xassay.studies.check.requirements import Requirement
from xassay.studies.check.settings import GIVEN
from xassay.work import Limits, Progress


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
    from xassay.studies.crem import CremSettings, CremStudy

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
    from xassay.studies.maple import MapleSettings, MapleStudy

    return _run(MapleStudy(MapleSettings(**settings)), out, jobs, progress)


def _run(study: Study, out: str | Path | None, jobs: int, progress: Progress | None) -> Run:
    if out is not None:
        return finish(runner.run(study, Path(out), jobs=jobs, progress=progress))
    folder = temporary.folder()
    try:
        return runner.run(study, folder, jobs=jobs, progress=progress)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@attrs.frozen(eq=False)
class CheckResult:
    """What a check found.

    Attributes:
        scores: one row a score (the columns of `xassay.results.RESULTS`).
        tests: one row a paired test of two explainers.
        verdict: sentences: what to do, then one an explainer, the most faithful first.
        recommended: the explainer to use; None where none is faithful.
        judgements: one row an explainer: ``explainer``, ``judgement`` (``faithful``, ``partly``,
            ``unfaithful`` or ``not judged``), ``rows`` that it rests on, and ``why``; what the
            sentences are made from. Yardsticks such as ``random`` are last.
        sanity: what was looked at before anything was explained.
        costs: seconds a row of each explainer.
        notices: what a reader must know of how it was run.
        failures: label and reason of each part that failed.
    """

    scores: pl.DataFrame
    tests: pl.DataFrame
    verdict: Sequence[str]
    recommended: str | None
    judgements: pl.DataFrame
    sanity: pl.DataFrame
    costs: pl.DataFrame
    notices: Sequence[str]
    failures: dict[str, str]
    _folder: Path = attrs.field(repr=False)
    _keeper: Any = attrs.field(repr=False)

    def save(self, folder: str | Path) -> Path:
        """Keep the run: plan, results, tests, every row's explanation, and ``report.html``.

        Args:
            folder: where to; made if need be.

        Returns:
            The report.

        Raises:
            InputError: the folder holds files of another run, or cannot be written.
        """
        target = Path(folder)
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            raise InputError(f"{target} is there already; choose another folder")
        try:
            shutil.copytree(self._folder, target, dirs_exist_ok=True)
        except OSError as error:
            raise InputError(f"{target}: cannot be written: {error.strerror or error}") from None
        report.write(target)
        return target / "report.html"

    def unmet(self, *requirements: str) -> list[str]:
        """Which requirements are not met, and why.

        Args:
            requirements: as in ``lime.fidelity>=0.8`` or ``lime.causal_rmse@0.1<0.2``; the
                worse end of the score's interval is tested, and a missing score fails.

        Raises:
            InputError: a requirement of another form, or about an explainer that took no part.
        """
        explainers = self.scores["explainer"].drop_nulls().unique().to_list()
        read = [Requirement.parse(text, explainers) for text in requirements]
        return [reason for one in read if (reason := one.unmet(self.scores)) is not None]


@alone()
def check(
    predict: Any,
    X: Any,
    background: Any = None,
    kind: str = "regression",
    explainers: Iterable[str | Callable[..., Any]] | str | None = None,
    rows: int = 200,
    seed: int = 0,
    jobs: int = 1,
    *,
    attributions: Any = None,
    coefficients: Any = None,
    intercepts: Any = None,
    target: Any = None,
    progress: Progress | None = None,
    **settings: Any,
) -> CheckResult:
    """Measure how far explanations of your model can be trusted.

    Args:
        predict: the model: a fitted estimator, or a function from a table like ``X`` to one number
            a row.
        X: the data: numpy array, pandas or polars frame. The model is given tables of this form,
            with these types.
        background: reference data of the same columns. Default: rows of ``X``, others than the
            explained where there are enough.
        kind: ``regression``, ``classification`` (a class's probability) or ``anomaly`` (a score
            that tells outliers; which way it points is found out).
        explainers: names of `xassay.explainers.available`, ``file.py:function``, or functions
            (predict, background, X) -> values.
        rows: how many rows are explained.
        seed: seed of everything random.
        jobs: number of processes; changes nothing in the results.
        attributions: explanations to be judged as they are, one row a row of ``X``, one column
            a column. In a frame columns are matched by their names, rows of a pandas frame by the index
            where it holds those of ``X``; else by position.
        coefficients: likewise slopes of local linear models, by the columns' own units.
        intercepts: their intercepts; None: such that each model passes through its row's score.
        target: what the model was fitted to, one a row of ``X`` in the same order; the measure
            ``randomisation`` refits the model to it in random order.
        progress: is told how the work goes.
        settings: further fields of `xassay.studies.check.CheckSettings`: ``class_``, ``link``,
            ``measures``, ``sigma``, ``max_background``, ``timeout``, ``budget``.

    Returns:
        Scores, tests, and a verdict in words.

    Raises:
        xassay.errors.InputError: data, model or a setting that cannot be used.
        xassay.errors.RunError: this process was forked off another one; see `xassay.locks.alone`.

    Example:
        >>> import numpy as np
        >>> X = np.random.default_rng(0).normal(size=(300, 3))
        >>> found = check(lambda X: X @ [1.0, 2.0, 0.0], X, explainers="permutation_shap", rows=10)
        >>> found.recommended, found.judgements["judgement"].item()
        ('permutation_shap', 'faithful')
    """
    began = time.monotonic()
    unknown = set(settings) - {field.name for field in attrs.fields(CheckSettings)}
    if unknown:
        options = [*(field.name for field in attrs.fields(CheckSettings)), "jobs", "background"]
        raise UnknownNameError("setting", min(unknown), options)
    given = given_explanation(
        aligned("attributions", attributions, X), aligned("coefficients", coefficients, X), intercepts
    )
    names, functions = _named(explainers, only_given=given is not None and explainers is None)
    asked: dict[str, Any] = {"kind": kind, "rows": rows, "seed": seed, **settings}
    if names is not None:
        asked["explainers"] = names
    checked = CheckSettings(**asked, functions=tuple(functions))
    subject = attrs.evolve(
        prepare(predict, X, background, checked, given=given, target=target), functions=functions
    )
    study = CheckStudy(subject, checked, jobs=jobs)
    folder = temporary.folder()
    keeper = _Keeper()
    weakref.finalize(keeper, shutil.rmtree, folder, ignore_errors=True)
    limits = Limits(cell=checked.timeout, run=left_of(checked.budget, began))
    done = runner.run(study, folder, jobs=jobs, progress=progress, limits=limits)
    return CheckResult(
        scores=done.scores,
        tests=done.tests,
        verdict=done.tables["verdict"]["text"].to_list(),
        recommended=next(iter(done.tables["verdict"].filter("recommended")["about"]), None),
        judgements=done.tables["judgements"],
        sanity=done.tables["sanity"],
        costs=done.tables["costs"],
        notices=done.notices,
        failures=dict(done.failures),
        folder=folder,
        keeper=keeper,
    )


class _Keeper:
    """As long as somebody holds it, the folder of a run is kept."""


def left_of(budget: float | None, began: float) -> float | None:
    """What is left of a budget that began to run at a time of `time.monotonic`."""
    return None if budget is None else max(budget - (time.monotonic() - began), 1e-3)


def _named(
    explainers: Iterable[str | Callable[..., Any]] | str | None, *, only_given: bool
) -> tuple[tuple[str, ...] | None, dict[str, Callable[..., Any]]]:
    """Explainers by name, and the functions among them."""
    if explainers is None:
        return ((GIVEN,) if only_given else None), {}
    listed: list[Any]
    if isinstance(explainers, str) or callable(explainers):
        listed = [explainers]
    elif isinstance(explainers, Iterable):
        listed = list(explainers)
    else:
        raise InputError(f"explainers: expected names or functions, got {type(explainers).__name__}")
    functions: dict[str, Callable[..., Any]] = {}
    names = []
    for one in listed:
        if isinstance(one, str) or not callable(one):
            names.append(one)
            continue
        name = str(getattr(one, "__name__", type(one).__name__))
        if name in functions:
            raise InputError(
                f"explainers: two functions are named {name!r}; give one another name, as in "
                'function.__name__ = "mine"'
            )
        functions[name] = one
        names.append(name)
    return tuple(names), functions


def default_folder(study: Study) -> Path:
    """Where the command line keeps a run: the same settings give the same folder."""
    return Path("runs") / f"{study.name}-{runner.plan_key(study)}"


def finish(run: Run) -> Run:
    """Write the report beside a run's results."""
    report.write(run.folder)
    return run
