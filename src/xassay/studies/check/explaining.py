"""What an explainer says of some rows, asked in one way."""

import time
from typing import Any

import attrs
import numpy as np
import polars as pl

from xassay import explainers, specs
from xassay.studies.check.cell import CheckCell
from xassay.studies.check.measures import measure
from xassay.studies.check.settings import GIVEN, CheckSettings
from xassay.studies.check.subject import Subject
from xassay.studies.check.variants import Asked, Variant, as_the_user
from xassay.studies.kit.code import own_code
from xassay.studies.kit.explainers import check_unchanged, options_text
from xassay.types import Explainer, Explanation, FloatArray, Predict

CODE = ("tabular", "models", "explainers", "studies/check/explaining.py", "studies/check/subject.py")
"""Our sources that decide an explanation, beside what is asked."""

_WARM: set[str] = set()
"""Explainers that have explained something in this process."""


@attrs.frozen
class ExplainCell(CheckCell):
    """What an explainer says of some rows, asked in one way.

    Attributes:
        explainer: as the user named it.
        source: the same with its file's path in full.
        code: the version of its code.
        options: every option in force.
        variant: the way it is asked.
    """

    explainer: str
    source: str
    code: str
    options: dict[str, Any] = attrs.field(hash=False)
    variant: Variant

    @property
    def content(self) -> dict[str, Any]:
        """Everything that decides the result: what is asked counts, not why."""
        subject = self.subject.value
        content: dict[str, Any] = {"subject": subject.digest, "start": self.start, "stop": self.stop}
        if self.explainer == GIVEN:
            assert subject.given is not None  # noqa: S101 - else there is no such cell
            given = _some_rows(subject.given, self.part)
            arrays = (given.values, given.coefficients, given.intercepts)
            known = [one for one in arrays if one is not None]
            return {**content, "given": known, "additive": given.additive}
        asked = asked_in(subject, self.settings, self.record, self.variant, self.part)
        return {
            **content,
            **attrs.asdict(asked),
            "explainer": specs.without_folder(self.explainer),
            "code": self.code,
            "own code": own_code(*CODE),
            "options": self.options_text,
        }

    @property
    def words(self) -> tuple[str, ...]:
        """What tells it from other cells, for people."""
        return (self.explainer.rpartition("/")[2], str(self.variant), self.span)

    @property
    def turn(self) -> int:
        """First what is most needed."""
        return self.variant.turn

    @property
    def options_text(self) -> str:
        """The options as one line, sorted."""
        return options_text(self.options)

    @property
    def record(self) -> explainers.ExplainerRecord:
        """The explainer's."""
        return record_of(self.subject.value, self.explainer, self.source)

    def run(self) -> pl.DataFrame:
        """Explain.

        Returns:
            One row a data row: ``row``, ``attributions``, ``coefficients`` and ``intercept`` where
            there is a local linear model, ``additive`` (whether attributions are contributions all the
            same), ``categorical``, ``calls`` (rows that the model was asked for),
            ``explain_seconds``, ``error``.
        """
        subject = self.subject.value
        if self.explainer == GIVEN:
            assert subject.given is not None  # noqa: S101 - else there is no such cell
            return _frame(_some_rows(subject.given, self.part), subject.row_ids[self.part])
        check_unchanged(self.code, self.record.version, self.explainer)
        given = asked_in(subject, self.settings, self.record, self.variant, self.part)
        counted = Counted(subject.refitted if given.refitted else subject.predict, given.n_placebos)
        if self.explainer not in _WARM:  # libraries are loaded, kernels compiled: not the row's price
            with self.in_its_own_state("warm"):
                explainer = make(subject, self.record, counted, given, self.options)
                explainer.explain(given.X[:1], row_ids=given.row_ids[:1])
            _WARM.add(self.explainer)
        with self.in_its_own_state(f"{specs.without_folder(self.explainer)} {given.seed}"):
            counted.calls = 0
            explainer = make(subject, self.record, counted, given, self.options)
            if not self.record.surrogate:  # its own fit is part of the price
                counted.calls = 0
            began = time.perf_counter()
            found = explainer.explain(given.X, row_ids=given.row_ids)
            seconds = time.perf_counter() - began
        return _frame(found, given.row_ids, counted.calls, seconds)

    def lost(self, reason: str) -> pl.DataFrame:
        """Rows without an explanation."""
        subject = self.subject.value
        if self.explainer == GIVEN:
            ids = subject.row_ids[self.part]
        else:
            ids = asked_in(subject, self.settings, self.record, self.variant, self.part).row_ids
        nothing = np.full((len(ids), 1), np.nan)
        errors = dict.fromkeys(range(len(ids)), reason)
        frame = _frame(Explanation(nothing, errors=errors), ids)
        return frame.with_columns(pl.lit(None, pl.List(pl.Float64)).alias("attributions"))


def asked_in(
    subject: Subject,
    settings: CheckSettings,
    record: explainers.ExplainerRecord,
    variant: Variant,
    part: slice,
) -> Asked:
    """What an explainer is given in a variant, for some of its rows."""
    if not variant.measure:
        return as_the_user(subject, settings, record, part)
    return measure(variant.measure).asked(subject, settings, record, variant, part)


def record_of(subject: Subject, name: str, source: str) -> explainers.ExplainerRecord:
    """The record of an explainer by name, or of a function at hand."""
    from xassay.explainers.user import record_of_function

    function = subject.functions.get(name)
    return explainers.record(source) if function is None else record_of_function(name, function)


def make(
    subject: Subject,
    record: explainers.ExplainerRecord,
    predict: Predict,
    given: Asked,
    options: dict[str, Any],
) -> Explainer:
    """The explainer, ready to explain what it is given."""
    if record.wants_model:
        inside: dict[str, Any] = {"model": subject.score.estimator, "decode": subject.space.decode}
        if not given.n_placebos:
            return record.factory(
                predict=predict, background=given.background, seed=given.seed, **options, **inside
            )
        p = given.X.shape[1] - given.n_placebos
        explainer = record.factory(
            predict=subject.predict, background=given.background[:, :p], seed=given.seed, **options, **inside
        )
        return Padded(explainer, given.n_placebos)
    names = explainers.registry.option_names(record) or ()
    if "categorical" in names and options.get("treatment") == "gaussian":
        swapped = set(subject.space.swapped)
        p = given.X.shape[1] - given.n_placebos
        copies = [p + k for k, j in enumerate(given.placebo_of) if j in swapped]
        options = {**options, "categorical": (*sorted(swapped), *copies)}
    return record.factory(predict=predict, background=given.background, seed=given.seed, **options)


@attrs.define(eq=False)
class Counted:
    """A model that counts the rows it is asked for, and does not see placebo columns."""

    predict: Predict
    n_placebos: int = 0
    calls: int = 0

    def __call__(self, rows: FloatArray) -> FloatArray:
        """Scores, shape (rows,)."""
        self.calls += len(rows)
        seen = np.asarray(rows, dtype=np.float64)
        return np.asarray(self.predict(seen[:, : seen.shape[1] - self.n_placebos]))


@attrs.frozen(eq=False)
class Padded:
    """An explainer that looks inside the model, and cannot see columns that the model does not have."""

    explainer: Explainer
    n_placebos: int

    def explain(self, X: Any, row_ids: Any = None) -> Explanation:
        """The explanation, with 0 for the placebos."""
        found = self.explainer.explain(np.asarray(X)[:, : -self.n_placebos], row_ids)
        nothing = np.where(np.isnan(found.values[:, :1]), np.nan, 0.0)
        values = np.hstack([found.values, np.repeat(nothing, self.n_placebos, axis=1)])
        return Explanation(values, errors=found.errors)


def _some_rows(explanation: Explanation, part: slice) -> Explanation:
    def some(of_all: FloatArray | None) -> FloatArray | None:
        return None if of_all is None else of_all[part]

    return attrs.evolve(
        explanation,
        values=explanation.values[part],
        coefficients=some(explanation.coefficients),
        intercepts=some(explanation.intercepts),
    )


def _frame(
    found: Explanation, row_ids: Any, calls: int | None = None, seconds: float | None = None
) -> pl.DataFrame:
    n = len(found.values)

    def of_each(total: float | None) -> pl.Series:
        return pl.Series([None if total is None else total / max(n, 1)] * n, dtype=pl.Float64)

    linear = found.coefficients is not None and found.intercepts is not None
    floats = pl.List(pl.Float64)
    errors: list[str | None] = [found.errors.get(k) for k in range(n)]
    for k in np.flatnonzero(~np.isfinite(found.values).all(axis=1)):
        errors[k] = errors[k] or "the explanation is not finite"
    return pl.DataFrame(
        {
            "row": row_ids,
            "attributions": pl.Series(found.values.tolist(), dtype=floats),
            "coefficients": pl.Series(
                found.coefficients.tolist() if found.coefficients is not None and linear else [None] * n,
                dtype=floats,
            ),
            "intercept": pl.Series(
                found.intercepts if found.intercepts is not None and linear else [None] * n, dtype=pl.Float64
            ),
            "additive": pl.Series([found.additive] * n, dtype=pl.Boolean),
            "categorical": pl.Series([list(found.categorical)] * n, dtype=pl.List(pl.Int64)),
            "calls": of_each(calls),
            "explain_seconds": of_each(seconds),
            "error": pl.Series(errors, dtype=pl.String),
        }
    )
