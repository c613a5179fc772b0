"""A check of a model and tables that are files."""

import functools
from pathlib import Path
from typing import Any

import attrs
import polars as pl

from xassay import specs
from xassay.errors import InputError, UnknownNameError
from xassay.models import loading
from xassay.models.score import Score, score_of
from xassay.studies.check.given import explanation_file, given_explanation
from xassay.studies.check.settings import GIVEN, CheckSettings
from xassay.studies.check.study import CheckStudy
from xassay.studies.check.subject import prepare
from xassay.tabular.files import read_frame
from xassay.tabular.forms import as_form

FRAMES = ("auto", "pandas", "polars", "numpy")


@attrs.frozen
class Files:
    """A model and tables by their places.

    Attributes:
        model: a function or a fitted estimator, as ``package.module:name`` or ``file.py:name``; or an
            ``.onnx`` or ``.skops`` file; or, with --allow-pickle, a ``.pkl`` or ``.joblib`` file.
        data: table of rows to explain, ``.csv`` or ``.parquet``.
        target: column that the model is not given; what it was fitted to, for the measure randomisation.
        drop: further columns that it is not given.
        background: table of reference rows. Default: rows of the data, others than the explained where
            there are enough.
        attributions: table of explanations that are judged as they are, one row a data row.
        coefficients: likewise of slopes of local linear models, with a column intercept if they have one.
        frame: what the model is given: ``pandas``, ``polars``, ``numpy``, or ``auto``: what it was fitted on
            or takes.
        allow_pickle: load a pickle, which can run any code.
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
            values, _ = explanation_file(self.attributions, table)
        if self.coefficients is not None:
            slopes, levels = explanation_file(self.coefficients, table)
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
        parts = [specs.digest(Path(path)) for path in files if path is not None]
        return " ".join([loading.version(self.model), *parts, str(self.target), *sorted(self.drop), form])


def _absolute(model: str) -> str:
    return (
        str(Path(model).resolve()) if Path(model).suffix.lower() in loading.FILES else specs.absolute(model)
    )


def _score_again(model: str, allow_pickle: bool, settings: CheckSettings) -> Score:
    found = loading.load(model, allow_pickle=allow_pickle)
    return score_of(found, settings.kind, class_=settings.class_, link=settings.link)
