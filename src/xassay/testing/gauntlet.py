"""Straw men against exact explanations, on models whose right explanation is known: the gauntlet.

Every explanation that is wrong on purpose is judged beside the exact one that it was made from, and the laws
say what no judgement may say. They read the judgements and the lead measure of a check, and not its
sentences.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import attrs
import polars as pl

from xassay.api import check as xassay_check
from xassay.errors import InputError
from xassay.testing.explaining import Remembered, straw_explainers
from xassay.testing.known_models import Problem
from xassay.testing.problems import problem as problem_of
from xassay.testing.problems import problems as all_problems
from xassay.testing.spoiling import STRAW_MEN
from xassay.testing.straw_men import distance, same, straw_man

LEAD = "fidelity"
"""The metric that explainers are placed by, at level ``model``; higher is better."""

NEAR = 0.2
"""A straw man whose `distance` is below may be called faithful: so much is forgiven to right ones too."""

CHANCE = 0.1
"""What the lead measure may give `random` at most, by the lower end of its interval."""

GROUP = 12
"""How many straw men are judged in one check: its tests compare all pairs, and correct for their number."""

EXACT, CONDITIONAL, RANDOM, STRAW = "exact", "conditional", "random", "straw man"
SCHEMA: dict[str, Any] = {
    "problem": pl.String,
    "explainer": pl.String,
    "role": pl.String,
    "names_columns": pl.Boolean,
    "distance": pl.Float64,
    "no_straw_man": pl.Boolean,
    "judgement": pl.String,
    "recommended": pl.Boolean,
    "fidelity": pl.Float64,
    "ci_low": pl.Float64,
    "ci_high": pl.Float64,
    "broken": pl.String,
}
"""Columns of `gauntlet`."""


@attrs.frozen
class Judged:
    """What a check says of one explainer.

    Attributes:
        explainer: its name.
        role: exact, conditional (right on the data), random, or straw man.
        judgement: faithful, partly, unfaithful or not judged.
        recommended: whether it is the one to use.
        value: the lead measure, or None.
        low: lower end of its interval, or None.
        high: the upper end.
        names_columns: of a straw man, see `xassay.testing.StrawMan`.
        distance: of a straw man, see `xassay.testing.distance`.
        no_straw_man: whether it equals the exact explanation here; see `xassay.testing.same`.
    """

    explainer: str
    role: str
    judgement: str
    recommended: bool
    value: float | None
    low: float | None = None
    high: float | None = None
    names_columns: bool = False
    distance: float = float("inf")
    no_straw_man: bool = False


def broken_law(one: Judged, exact: Judged | None = None, *, unclear: bool = False) -> str | None:
    """The first law that a judgement breaks.

    * No straw man is recommended; alone one may be whose distance is below `NEAR`.
    * None is called faithful, unless its distance from the exact values is below `NEAR`.
    * None is called right in part that names no column or the wrong ones.
    * None has a lead measure above the exact explanation's, beyond the upper end of its interval.
    * No right explanation is called unfaithful; the exact one is called faithful where the problem is
      clear, so that a check that judges nothing does not pass.
    * `random` is unfaithful or not judged, and its lead measure at chance.

    Args:
        one: what was said of an explainer.
        exact: what was said of the exact explanation beside it, if it took part.
        unclear: whether the exact one need not be called faithful on this problem.

    Returns:
        The law, or None.

    Example:
        >>> broken_law(Judged("even", STRAW, "partly", False, 0.4))
        'called right in part'
    """
    if one.role in (EXACT, CONDITIONAL):
        return _of_right(one, unclear=unclear)
    if one.no_straw_man:
        return None
    if one.recommended and (exact is not None or one.distance >= NEAR):
        return "recommended"
    return _of_random(one) if one.role == RANDOM else _of_straw(one, exact)


def _of_right(one: Judged, *, unclear: bool) -> str | None:
    if one.judgement == "unfaithful":
        return "right, and called unfaithful"
    if one.role == EXACT and not unclear and one.judgement != "faithful":
        return "right, and not called faithful"
    return None


def _of_random(one: Judged) -> str | None:
    if one.judgement not in ("unfaithful", "not judged"):
        return f"random, and called {one.judgement}"
    level = one.value if one.low is None else one.low
    return "random, and above chance" if level is not None and level > CHANCE else None


def _of_straw(one: Judged, exact: Judged | None) -> str | None:
    if one.judgement == "faithful" and one.distance >= NEAR:
        return "called faithful"
    if one.judgement == "partly" and not one.names_columns and one.distance >= NEAR:
        return "called right in part"
    if exact is None or one.value is None or exact.value is None:
        return None
    most = exact.value if exact.high is None else max(exact.value, exact.high)
    return "above the exact explanation" if one.value > most else None


def gauntlet(
    problems: Iterable[Problem | str] | None = None,
    straw_men: Iterable[str] | None = None,
    rows: int = 40,
    seed: int = 0,
    *,
    alone: bool = False,
    check: Callable[..., Any] | None = None,
    **settings: Any,
) -> pl.DataFrame:
    """Hold a check's judgements against explanations that are known to be right and wrong.

    Args:
        problems: names, or `xassay.testing.Problem`; None: all.
        straw_men: names of `xassay.testing.STRAW_MEN`; None: all.
        rows: how many rows are explained.
        seed: seed of data, straw men and check.
        alone: judge each straw man by itself; else up to `GROUP` at a time, beside the exact explanation.
        check: what is tested, called like `xassay.check` with a result like its own; None: that.
        settings: further settings of the check, such as ``measures``.

    Returns:
        One row a problem and explainer, with the columns of `SCHEMA`: the straw man's distance from the
        exact values, its judgement and lead measure, and the law that it breaks, or null.

    Raises:
        InputError: fewer than two rows, no problem, no straw man, or a name that is none.

    Example:
        >>> seen = gauntlet(["parity_3"], ["even", "scaled_up"], check=example_check)
        >>> seen["explainer"].to_list()
        ['exact', 'even', 'scaled_up', 'random']
        >>> seen["broken"].drop_nulls().to_list()
        ['recommended']
    """
    if rows < 2:  # noqa: PLR2004 - straw men are made from other rows
        raise InputError(f"the gauntlet needs at least two rows, not {rows}")
    for what, names in (("problems", problems), ("straw_men", straw_men)):
        if isinstance(names, str):
            raise InputError(f"{what} must be a list of names, not {names!r} alone")
    chosen = list(STRAW_MEN if straw_men is None else straw_men)
    wanted = all_problems(seed=seed) if problems is None else list(problems)
    if not (chosen and wanted):
        raise InputError("the gauntlet needs at least one problem and one straw man")
    for name in chosen:
        straw_man(name)
    run = xassay_check if check is None else check
    found = []
    for one in wanted:
        about = problem_of(one, seed=seed) if isinstance(one, str) else one
        found += _of_problem(about, chosen, rows, seed, run, settings, alone=alone)
    return pl.DataFrame(found, schema=SCHEMA, orient="row")


def _of_problem(
    problem: Problem,
    chosen: Sequence[str],
    rows: int,
    seed: int,
    check: Callable[..., Any],
    settings: dict[str, Any],
    *,
    alone: bool,
) -> list[tuple[Any, ...]]:
    X, background = problem.split(rows)
    exact = Remembered(problem.exact, EXACT)
    names = [name for name in chosen if STRAW_MEN[name].needs != "other" or problem.other is not None]
    straws = straw_explainers(exact, seed=seed, other=problem.other, names=names)
    apart = _apart(problem, exact, straws, rows)
    options = {"kind": problem.kind, "rows": rows, "seed": seed, **settings}
    if alone:
        groups = [[straw] for straw in straws]
    else:
        second = [] if problem.conditional is None else [Remembered(problem.conditional, CONDITIONAL)]
        parts = [straws[start : start + GROUP] for start in range(0, len(straws), GROUP)]
        groups = [[exact, *second, *part, RANDOM] for part in parts]
    said: dict[str, tuple[Any, ...]] = {}
    for group in groups:
        found = check(problem.predict, X, background, explainers=group, **options)
        listed = [str(getattr(one, "__name__", one)) for one in group]
        judged = {name: _judged(found, name, apart.get(name)) for name in listed}
        beside = judged.get(EXACT)
        for one in judged.values():
            law = broken_law(one, beside, unclear=bool(problem.unclear))
            row = _row(problem, one, law or _unrecommended(one, found.recommended, problem))
            # who takes part in several groups is shown where a law is broken, else as in the first
            if one.explainer not in said or (row[-1] and not said[one.explainer][-1]):
                said[one.explainer] = row
    first, last = [name for name in (EXACT, CONDITIONAL) if name in said], [RANDOM] if RANDOM in said else []
    return [said[name] for name in (*first, *(n for n in said if n not in (*first, *last)), *last)]


def _apart(problem: Problem, exact: Any, straws: Sequence[Any], rows: int) -> dict[str, tuple[float, bool]]:
    """How far each straw man is from the exact values, and whether it is none."""
    X, background = problem.split(rows)
    background = background[:100]
    right = exact(problem.predict, background, X)
    made = {straw.__name__: straw(problem.predict, background, X) for straw in straws}
    return {name: (distance(values, right), same(values, right)) for name, values in made.items()}


def _unrecommended(one: Judged, recommended: str | None, problem: Problem) -> str | None:
    """The exact explanation is the one to use where it is called faithful, unless another right one is."""
    if one.role != EXACT or problem.unclear or one.judgement != "faithful":
        return None
    return None if recommended in (EXACT, CONDITIONAL) else "right, and not recommended"


def _judged(found: Any, name: str, apart: tuple[float, bool] | None) -> Judged:
    judgements = dict(found.judgements.select("explainer", "judgement").iter_rows())
    lead = found.scores.filter(
        (pl.col("explainer") == name) & (pl.col("metric") == LEAD) & (pl.col("level") == "model")
    )
    value, low, high = lead.select("value", "ci_low", "ci_high").row(0) if len(lead) else (None, None, None)
    role = name if apart is None else STRAW
    return Judged(
        explainer=name,
        role=role,
        judgement=judgements.get(name, "not judged"),
        recommended=found.recommended == name,
        value=_number(value),
        low=_number(low),
        high=_number(high),
        names_columns=role == STRAW and STRAW_MEN[name].names_columns,
        distance=float("inf") if apart is None else apart[0],
        no_straw_man=apart is not None and apart[1],
    )


def _number(value: float | None) -> float | None:
    return None if value is None or value != value else float(value)  # noqa: PLR0124 - NaN


def _row(problem: Problem, one: Judged, law: str | None) -> tuple[Any, ...]:
    straw = one.role == STRAW
    return (
        problem.name,
        one.explainer,
        one.role,
        one.names_columns if straw else None,
        one.distance if straw else None,
        one.no_straw_man if straw else None,
        one.judgement,
        one.recommended,
        one.value,
        one.low,
        one.high,
        law,
    )


@attrs.frozen
class Found:
    """The parts of a check's result that the laws read.

    Attributes:
        recommended: the explainer to use, or None.
        judgements: frame with ``explainer`` and ``judgement``.
        scores: frame with ``explainer``, ``metric``, ``level``, ``value``, ``ci_low``, ``ci_high``.
    """

    recommended: str | None
    judgements: pl.DataFrame
    scores: pl.DataFrame


def example_check(predict: Any, X: Any, background: Any, *, explainers: Sequence[Any], **_: Any) -> Found:
    """A check that is taken in: it looks at the total alone, and takes the last that has it right.

    Args:
        predict: the model.
        X: rows to explain.
        background: reference rows.
        explainers: functions, or names, which it does not judge.

    Returns:
        A result for `gauntlet`, to show what it finds.
    """
    import numpy as np

    gap = np.asarray(predict(X)) - np.asarray(predict(background)).mean()
    names, values = [], []
    for explain in explainers:
        names.append(str(getattr(explain, "__name__", explain)))
        total = explain(predict, background, X).sum(axis=1) if callable(explain) else np.full(len(X), np.nan)
        missed = float(np.sqrt(((total - gap) ** 2).mean() / (gap**2).mean()))
        values.append(max(0.0, 1 - missed) if np.isfinite(missed) else None)
    judgements = [
        "not judged" if value is None else "faithful" if value > 0.99 else "unfaithful"  # noqa: PLR2004
        for value in values
    ]
    best = [name for name, judged in zip(names, judgements, strict=True) if judged == "faithful"]
    scores = {"explainer": names, "metric": [LEAD] * len(names), "level": ["model"] * len(names)}
    edges = {"value": values, "ci_low": values, "ci_high": values}
    return Found(
        best[-1] if best else None,
        pl.DataFrame({"explainer": names, "judgement": judgements}),
        pl.DataFrame({**scores, **edges}),
    )
