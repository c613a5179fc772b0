"""One call that says which explanations of a model are right: `check`."""

import functools
import shutil
import time
import weakref
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import attrs
import polars as pl

from xassay import report, runner, specs
from xassay.errors import InputError, UnknownNameError
from xassay.models import loading
from xassay.models.score import Score, score_of
from xassay.results import temporary_folder
from xassay.specs import digest
from xassay.studies.check import CheckSettings, CheckStudy, prepare
from xassay.studies.check.requirements import Requirement
from xassay.studies.check.settings import GIVEN
from xassay.tabular.files import read_frame
from xassay.tabular.forms import as_form
from xassay.types import Explanation
from xassay.work import Limits, Progress


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
        _aligned("attributions", attributions, X), _aligned("coefficients", coefficients, X), intercepts
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
    folder = temporary_folder()
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


def _aligned(what: str, explained: Any, X: Any) -> Any:
    """Explanations in a frame, in the order of the data's columns and, in pandas, of its rows.

    Names decide where both tables name their columns; columns that are only numbered stay in their order.

    Raises:
        InputError: the explanations name their columns, and one of the data is not among them.
    """
    if not all(hasattr(table, "columns") for table in (explained, X)):
        return explained
    own, columns = list(explained.columns), list(X.columns)
    if all(isinstance(name, str) for name in (*own, *columns)):
        missing = [name for name in columns if name not in own]
        if missing:
            raise InputError(f"{what}: has no column {missing[0]!r}, which the data has")
        explained = explained[columns]
    if not all(hasattr(table, "reindex") for table in (explained, X)):
        return explained
    same = len(explained.index) == len(X.index) and set(explained.index) == set(X.index)
    return explained.reindex(X.index) if same and explained.index.is_unique else explained


def given_explanation(attributions: Any, coefficients: Any, intercepts: Any) -> Explanation | None:
    """Explanations that were computed elsewhere, if there are any.

    Raises:
        InputError: intercepts without coefficients, or something that holds no numbers.
    """
    import numpy as np

    if intercepts is not None and coefficients is None:
        raise InputError("intercepts go with coefficients")
    if attributions is None and coefficients is None:
        return None
    try:
        slopes = None if coefficients is None else np.asarray(coefficients, dtype=np.float64)
        values = slopes if attributions is None else np.asarray(attributions, dtype=np.float64)
        levels = None if intercepts is None else np.asarray(intercepts, dtype=np.float64).reshape(-1)
    except (TypeError, ValueError):
        raise InputError("explanations must hold numbers alone, one row a data row") from None
    try:
        return Explanation(values, coefficients=slopes, intercepts=levels, additive=attributions is not None)
    except ValueError as error:
        raise InputError(str(error)) from None


FRAMES = ("auto", "pandas", "polars", "numpy")


@attrs.frozen
class Files:
    """A model and tables by their places.

    Attributes:
        model: see `xassay.models.loading.load`.
        data: a ``.csv`` or ``.parquet`` file.
        target: a column that the model is not given.
        drop: further columns that it is not given.
        background: a file of reference data; None: rows of ``data``.
        attributions: a file of explanations, one row a data row.
        coefficients: a file of slopes of local linear models, with a column ``intercept`` if they have one.
        frame: what the model is given: ``pandas``, ``polars``, ``numpy``, or ``auto``: as it was
            fitted, and a function whichever of pandas and numpy it takes.
        allow_pickle: load pickles too.
    """

    model: str
    data: str
    target: str | None = None
    drop: tuple[str, ...] = ()
    background: str | None = None
    attributions: str | None = None
    coefficients: str | None = None
    frame: str = "auto"
    allow_pickle: bool = False

    def study(self, settings: CheckSettings, *, jobs: int = 1) -> CheckStudy:
        """The study of a check, ready to run.

        Raises:
            InputError: a file or model that cannot be used.
        """
        if self.frame not in FRAMES:
            raise UnknownNameError("frame", self.frame, FRAMES)
        model = loading.load(self.model, allow_pickle=self.allow_pickle)
        table = self._features(self.data)
        others = None if self.background is None else self._features(self.background)
        values, slopes, levels = None, None, None
        if self.attributions is not None:
            values, _ = _explanation_file(self.attributions, table)
        if self.coefficients is not None:
            slopes, levels = _explanation_file(self.coefficients, table)
        given = given_explanation(values, slopes, levels)
        if given is not None and settings.explainers == CheckSettings().explainers:
            settings = attrs.evolve(settings, explainers=(GIVEN,))
        form, notice = self._form(model, table)
        subject = prepare(
            model,
            as_form(table, form),
            None if others is None else as_form(others, form),
            settings,
            given=given,
            digest=self._digest(form),
            again=functools.partial(_score_again, _absolute(self.model), self.allow_pickle, settings),
            target=self._target() if "randomisation" in settings.measures else None,
        )
        subject = attrs.evolve(subject, notices=(*notice, *subject.notices))
        about = {
            name: None if value is None else str(value)
            for name, value in attrs.asdict(self).items()
            if name not in ("drop", "allow_pickle")
        }
        return CheckStudy(subject, settings, jobs=jobs, about={**about, "drop": sorted(self.drop)})

    def _features(self, path: str) -> pl.DataFrame:
        table = read_frame(path)
        if "" in table.columns:
            table = table.drop("")
        for name in (*((self.target,) if self.target else ()), *self.drop):
            if name in table.columns:
                table = table.drop(name)
            elif path == self.data:
                raise UnknownNameError(f"column of {path}", name, table.columns)
        if not table.width:
            raise InputError(f"{path}: no column is left for the model")
        return table

    def _target(self) -> Any:
        """What the model was fitted to, as far as the data says."""
        return None if self.target is None else read_frame(self.data)[self.target].to_numpy()

    def _form(self, model: Any, table: pl.DataFrame) -> tuple[str, tuple[str, ...]]:
        """What the model is given, and what to say of it."""
        if self.frame != "auto":
            return self.frame, ()
        texts = any(not (dtype.is_numeric() or dtype == pl.Boolean) for dtype in table.schema.values())
        estimator = model if hasattr(model, "fit") else getattr(model, "__self__", None)
        if getattr(estimator, "feature_names_in_", None) is not None:
            return "pandas", ()
        if hasattr(model, "predict") or hasattr(estimator, "fit"):
            return ("pandas" if texts else "numpy"), ()
        for form in ("pandas",) if texts else ("pandas", "numpy"):
            try:
                model(as_form(table.head(5), form))
            except Exception:  # noqa: BLE001, S112 - the next form; if none will do, the check says why
                continue
            return form, (f"the model is given tables as {form}; --frame changes it",)
        return "pandas", ()

    def _digest(self, form: str) -> str:
        """A hash of what decides the model's answers and the data."""
        files = [self.data, self.background, self.attributions, self.coefficients]
        parts = [digest(Path(path)) for path in files if path is not None]
        return " ".join([loading.version(self.model), *parts, str(self.target), *sorted(self.drop), form])


def _absolute(model: str) -> str:
    return (
        str(Path(model).resolve()) if Path(model).suffix.lower() in loading.FILES else specs.absolute(model)
    )


def _score_again(model: str, allow_pickle: bool, settings: CheckSettings) -> Score:
    found = loading.load(model, allow_pickle=allow_pickle)
    return score_of(found, settings.kind, class_=settings.class_, link=settings.link)


def _explanation_file(path: str, data: pl.DataFrame) -> tuple[pl.DataFrame, pl.Series | None]:
    """Explanations of all rows of the data, columns in its order, and intercepts if there are any."""
    table = read_frame(path)
    intercepts = (
        table["intercept"] if "intercept" in table.columns and "intercept" not in data.columns else None
    )
    if intercepts is not None:
        table = table.drop("intercept")
    if len(table) != len(data):
        raise InputError(f"{path}: has {len(table):,} rows, the data {len(data):,}; one row a data row")
    missing = [name for name in data.columns if name not in table.columns]
    if missing:
        raise InputError(f"{path}: has no column {missing[0]!r}, which the data has")
    texts = [name for name in data.columns if not table.schema[name].is_numeric()]
    if texts:
        raise InputError(f"{path}: column {texts[0]!r} holds no numbers")
    return table.select(data.columns), intercepts


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
