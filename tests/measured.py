"""Small models, and measures of explanations of them without an explainer."""

from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np
import polars as pl

from xassay.explainers import record
from xassay.studies.check import CheckSettings, prepare
from xassay.studies.check.explained import Explained
from xassay.studies.check.explaining import _frame
from xassay.studies.check.measures import measure
from xassay.studies.check.measures.base import Context
from xassay.studies.check.series import Series
from xassay.studies.check.subject import Subject
from xassay.studies.check.variants import BASE, Variant
from xassay.types import Explanation, FloatArray

RNG = np.random.default_rng(0)
X = RNG.normal(size=(160, 4)) + 0.5
SLOPES = np.array([1.0, -2.0, 0.5, 3.0])
N = 12


def linear(rows: Any) -> Any:
    return rows @ SLOPES + 7.0


def bent(rows: Any) -> Any:
    return rows @ SLOPES + 2 * rows[:, 0] * rows[:, 1] * rows[:, 2]


def settings(**more: Any) -> CheckSettings:
    return CheckSettings(**{"rows": N, "max_background": 20, "explainers": "lime", **more})


def subject_of(model: Any, data: Any = X, **more: Any) -> Subject:
    return prepare(model, data, None, settings(**more))


LINE, BENT = subject_of(linear), subject_of(bent)


def explained(subject: Subject, given: Any, rows: Any = None, **more: Any) -> Explained:
    """Explanations as a cell would have kept them."""
    one = given if isinstance(given, Explanation) else Explanation(given, **more)
    ids = subject.row_ids[: len(one.values)] if rows is None else rows
    return Explained.of(_frame(one, np.asarray(ids)), one.values.shape[1])


def answered(name: str, subject: Subject, **more: Any) -> dict[str, pl.DataFrame]:
    """What the model answers to a measure, and to fidelity."""
    return {
        one: measure(one).ask(subject, settings(**more), slice(0, len(subject.X)))
        for one in {name, "fidelity"}
        if measure(one).asks
    }


def scored(
    name: str,
    subject: Subject,
    base: Any = None,
    others: Mapping[Variant, Explained] | None = None,
    follow_ups: Mapping[str, pl.DataFrame] | None = None,
    which: str | None = None,
    options: Mapping[Variant, str] | None = None,
    known: Mapping[str, pl.DataFrame] | None = None,
    **more: Any,
) -> dict[Any, Series]:
    """The series of a measure, by metric, or by metric and sigma, kind or options where there are several."""
    own, asked = measure(name), settings(**more)
    answers = answered(name, subject, **more) if known is None else known
    given = dict(others or {})
    if base is not None:
        given[BASE] = base if isinstance(base, Explained) else explained(subject, base)
    context = Context(
        subject,
        asked,
        answers,
        given,
        options or {variant: str(variant) for variant in given},
        record(which) if which else None,
        follow_ups or {},
    )
    return {
        (one.metric, *(part for part in (one.sigma, one.planted, one.options) if part is not None))
        if (one.sigma, one.planted, one.options) != (None, None, None)
        else one.metric: one
        for one in own.series(context)
    }


def values(one: Series) -> FloatArray:
    return one.columns[0]


def exact(subject: Subject) -> FloatArray:
    return SLOPES * (subject.X - subject.background.mean(axis=0))


def changes(subject: Subject, model: Any, sets: Any) -> FloatArray:
    """v(S) by definition, shape (rows, sets)."""
    found = np.empty(sets.shape[:2])
    for r, row in enumerate(subject.X):
        for s, chosen in enumerate(sets[r]):
            mixed = np.where(chosen, subject.background, row)
            found[r, s] = model(row[None])[0] - model(mixed).mean()
    return found


def moody(rows: Any) -> Any:
    if (rows == LINE.X[3]).all(axis=1).any():
        raise RuntimeError("not in the mood")
    found = linear(rows)
    found[(rows == LINE.X[5]).all(axis=1)] = np.inf
    return found


REFUSING = attrs.evolve(LINE, score=attrs.evolve(LINE.score, answer=moody))
