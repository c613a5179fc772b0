"""From scores to one of four judgements of an explainer, and to the one to use.

An explanation is faithful only where its attributions are right in both parts that the model's
answers fix: which columns matter (fidelity, over the mean row and over all rows as one sum, and
right on most rows), and how much (the sum of attributions is f(x) - E f). Both together fix every
attribution, so that what is faithful is close to the exact values, however it was made.
"""

from collections.abc import Iterator, Mapping, Sequence

import attrs
import polars as pl

from xassay.studies.check import thresholds
from xassay.studies.check.measures import Scores
from xassay.studies.check.words import figure, percent, times

FAITHFUL, PARTLY, UNFAITHFUL, NOT_JUDGED = "faithful", "partly", "unfaithful", "not judged"
ORDER = (FAITHFUL, PARTLY, UNFAITHFUL, NOT_JUDGED)

JUDGEMENTS: dict[str, type[pl.DataType]] = {
    "explainer": pl.String,
    "judgement": pl.String,
    "rows": pl.Int64,
    "why": pl.String,
}
"""Columns of ``judgements.parquet``, the best first."""


@attrs.frozen
class Judgement:
    """What an explainer comes to.

    Attributes:
        explainer: its name.
        judgement: one of `ORDER`.
        rows: how many rows it rests on.
        why: the reasons, in words.
        kind: which rule decided, for those who need more than words.
        right: what is right of an explainer that is partly right; the predicate of a sentence.
    """

    explainer: str
    judgement: str
    rows: int
    why: str
    kind: str
    right: str = ""


def judge(name: str, scores: Scores, chance: float | None = None) -> Judgement:
    """The judgement of one explainer.

    Args:
        name: the explainer.
        scores: its scores.
        chance: reciprocal rank of planted causes in a random order, where any were planted.
    """
    rows = scores.n("fidelity")
    if scores("fidelity") is None:
        kind, why = _nothing(scores)
        return Judgement(name, NOT_JUDGED, rows, why, kind)
    if rows < thresholds.LEAST_ROWS:
        return Judgement(name, NOT_JUDGED, rows, _few(scores, rows), "few rows")
    faults = _faults(scores)
    if not faults and _reached(scores) and _sure(scores):
        return Judgement(name, FAITHFUL, rows, _figures(scores, faults), "faithful")
    for kind, right in _partly(scores, faults, chance):
        # what has been said is not said again
        more = {what: text for what, text in faults.items() if text not in right}
        return Judgement(name, PARTLY, rows, f"{right}; {_figures(scores, more)}", kind, right)
    aligned = scores("alignment")
    wrong = "" if aligned is None else f", alignment {figure(aligned, least=thresholds.ALIGNED)}"
    return Judgement(name, UNFAITHFUL, rows, _figures(scores, faults) + wrong, "unfaithful")


def _figures(scores: Scores, faults: Mapping[str, str]) -> str:
    """What a judgement rests on."""
    fidelity = figure(scores.known("fidelity"), least=thresholds.FAITHFUL)
    right = scores("rows_right")
    share = "an unknown share" if right is None else percent(right, least=thresholds.MOST_ROWS)
    return ", ".join(
        [f"fidelity {fidelity}", f"right on {share} of {scores.n('fidelity')} rows", *faults.values()]
    )


def _reached(scores: Scores) -> bool:
    """Whether fidelity and the share of right rows are those of a faithful explanation."""
    return _at_least(scores("fidelity"), thresholds.FAITHFUL) and _at_least(
        scores("rows_right"), thresholds.MOST_ROWS
    )


def _sure(scores: Scores) -> bool:
    """Whether the interval of fidelity is narrow enough to say so."""
    return _at_least(scores.low("fidelity"), thresholds.SURE)


def _at_least(value: float | None, threshold: float) -> bool:
    return value is not None and value >= threshold


def _known(scores: Scores, metric: str, threshold: float) -> bool:
    """Whether a score reaches a threshold, on rows enough to say so."""
    return scores.n(metric) >= thresholds.LEAST_ROWS and _at_least(scores(metric), threshold)


def _faults(scores: Scores) -> dict[str, str]:
    """What else keeps an explanation from being faithful: what fidelity row by row does not see."""
    pooled, gap = scores("fidelity_pooled"), scores("completeness_gap")
    found = {}
    if not _at_least(pooled, thresholds.FAITHFUL_POOLED):
        shown = "unknown" if pooled is None else figure(pooled, least=thresholds.FAITHFUL_POOLED)
        found["large rows"] = f"pooled fidelity {shown}"
    if lost_share(scores) > thresholds.FAILED:
        found["failed"] = failed_rows(scores)
    if gap is None:
        found["sum"] = "sum of values unknown"
    elif gap > thresholds.GAP:
        # a percentage of thousands says that the unit is another
        off = f"off by {percent(gap, most=thresholds.GAP)}" if gap <= 1 else "off by more than 100%"
        scale = _scale(scores)
        found["sum"] = f"values {scale}" if scale and gap > 1 else f"sum of values {off}"
    return found


def _scale(scores: Scores) -> str:
    """By how much the values are too small or too large, where they name the right columns; else nothing."""
    factor = scores("best_scale")
    if factor is None or factor <= 0 or not _at_least(scores("alignment"), thresholds.ALIGNED):
        return ""
    most = 1 + thresholds.GAP
    if factor > most:
        return f"on another scale, about {times(factor)} times too small"
    return f"on another scale, about {times(1 / factor)} times too large" if factor * most < 1 else ""


def _partly(scores: Scores, faults: Mapping[str, str], chance: float | None) -> Iterator[tuple[str, str]]:
    """What is right of an explainer that is not faithful, the most telling first."""
    aligned, reached = scores("alignment"), _reached(scores)
    named = _at_least(aligned, thresholds.ALIGNED)
    if named and reached and not faults:
        low = scores.low("fidelity") or 0.0
        interval = f"95% interval of fidelity from {figure(low, least=thresholds.SURE)}"
        yield "uncertain", f"is right on these rows, but they are too few to be sure ({interval})"
    for base, what in (("zero", "a row of zeros"), ("mean", "the background's mean row")):
        gap = scores(f"gap_{base}_base")
        right = _known(scores, f"fidelity_{base}_base", thresholds.FAITHFUL)
        if right and gap is not None and gap <= thresholds.GAP:
            yield f"{base} base", f"is right relative to {what}, not to the background rows"
    if named and reached and "large rows" in faults:
        yield "large rows", "is right on most rows, but not on those where the score changes most"
    if named and reached and "failed" in faults:
        yield "failed", "is right on the rows that it explains, but it fails on many"
    if named and reached:
        yield (
            "sum",
            (
                "is right in how columns compare with each other, but its values do not add up to the "
                "score's difference from the background"
            ),
        )
    conditional, high = scores.low("fidelity_conditional"), scores.high("fidelity")
    clear = conditional is not None and high is not None and conditional > high
    if clear and _known(scores, "fidelity_conditional", thresholds.RIGHT):
        yield (
            "true to the data",
            (
                "is true to the data, not to the model (right when replaced columns are drawn to fit the "
                "others, wrong when they are drawn independently)"
            ),
        )
    if named:
        scale = _scale(scores)
        # at the best scale the share that is missed is one minus the squared cosine
        if scale and _at_least((aligned or 0.0) ** 2, thresholds.FAITHFUL):
            yield "scale", f"names the right columns, with values {scale}"
        yield "aligned", f"names the right columns (alignment {aligned:.2f}), not the right values"
    yield from _finds(scores, chance)


def _finds(scores: Scores, chance: float | None) -> Iterator[tuple[str, str]]:
    """Where it finds planted causes, and does not point elsewhere on other rows."""
    mrr, low = scores("mrr"), scores.low("mrr")
    leaning = _at_least(scores("alignment"), thresholds.LEANING)
    if scores.n("mrr") < thresholds.LEAST_ROWS or chance is None or not mrr or low is None:
        return
    if leaning and low > chance + thresholds.FOUND:
        rank = f"the first at about rank {1 / mrr:.1f}, by chance {1 / chance:.1f}"
        yield "finds causes", f"finds planted causes ({rank}), but its values are not right"


def _few(scores: Scores, rows: int) -> str:
    row = scores.row("fidelity") or {"n": rows, "n_failed": 0}
    failed = f"; {failed_rows(scores)}" if row["n_failed"] else ""
    return f"{rows} of {row['n']} rows could be judged, {thresholds.LEAST_ROWS} are needed{failed}"


def _nothing(scores: Scores) -> tuple[str, str]:
    """Why there is no fidelity: its kind, and in words."""
    row = scores.row("fidelity")
    if row is None:
        return (
            "no score",
            "fidelity was not measured, and judgements rest on it",
        )
    reason = f": {row['reason']}" if row["reason"] else ""
    if row["status"] == "skipped":
        return "no score", f"skipped{reason}"
    if row["value"] is None:
        lost = row["n"] and row["n_failed"] == row["n"]
        return "no score", f"failed on all {row['n']} rows{reason}" if lost else f"failed{reason}"
    return "undefined", "at no row does one column change the score measurably more than another"


def recommended(judged: Sequence[Judgement], scores: Mapping[str, Scores]) -> str | None:
    """The explainer to use: of the faithful ones that failed on few rows the most faithful.

    Of those as good as equal (`thresholds.CLOSE`) it is one with the fewest caveats, and of these the
    cheapest. None where none is faithful.

    Args:
        judged: judgements of the explainers that compete.
        scores: their scores.
    """
    faithful = [one.explainer for one in judged if one.judgement == FAITHFUL]
    whole = [name for name in faithful if lost_share(scores[name]) <= thresholds.MOST_LOST] or faithful
    most = max((scores[name].known("fidelity") for name in whole), default=0.0)
    close = [name for name in whole if scores[name].known("fidelity") >= most - thresholds.CLOSE]
    return min(
        close,
        key=lambda name: (len(caveats(scores[name])), scores[name]("model_calls") or 0.0, name),
        default=None,
    )


def lost_share(scores: Scores) -> float:
    """Share of the rows that it failed on."""
    row = scores.row("fidelity")
    return row["n_failed"] / row["n"] if row is not None and row["n"] else 0.0


def failed_rows(scores: Scores) -> str:
    """On how many rows it failed, and why."""
    row = scores.row("fidelity") or {"n": 0, "n_failed": 0, "reason": None}
    reason = f": {row['reason']}" if row["reason"] else ""
    return f"failed on {row['n_failed']} of {row['n']} rows{reason}"


def caveats(scores: Scores) -> list[str]:
    """What speaks against an explainer beside its judgement."""
    share, seeds = scores("placebo_share"), scores("seed_agreement")
    found = []
    if lost_share(scores) > thresholds.MOST_LOST:
        found.append(f"it {failed_rows(scores)}")
    sigmas = scores.sigmas("causal_skill")
    line = scores("causal_skill", sigmas[0]) if sigmas else None
    if line is not None and line < 0:
        found.append("its local linear model predicts small changes of a row worse than no change does")
    if share is not None and share >= thresholds.MUCH_PLACEBO:
        found.append(f"it puts {share:.0%} of its weight on columns that do nothing")
    if seeds is not None and seeds < thresholds.STEADY:
        kept = percent(seeds, least=thresholds.STEADY)
        found.append(f"{kept} of the explanation stays the same under another seed")
    return found
