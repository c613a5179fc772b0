"""From scores to one of four judgements of an explainer, and to the one to use.

An explanation is faithful only where its attributions are right in both parts that the model's
answers fix: which columns matter (fidelity, over the mean row and over all rows as one sum, and
right on most rows), and how much (the sum of attributions is f(x) - E f). Both together fix every
attribution, so that what is faithful is close to the exact values, however it was made.
"""

from collections.abc import Mapping, Sequence

import attrs
import polars as pl

from xassay.studies.check import thresholds
from xassay.studies.check.measures import Scores

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
    """

    explainer: str
    judgement: str
    rows: int
    why: str
    kind: str


def judge(name: str, scores: Scores, chance: float | None = None) -> Judgement:
    """The judgement of one explainer.

    Args:
        name: the explainer.
        scores: its scores.
        chance: reciprocal rank of planted causes in a random order, where any were planted.
    """
    rows = scores.n("fidelity")
    if scores("fidelity") is None:
        return Judgement(name, NOT_JUDGED, rows, _nothing(scores), "no score")
    if rows < thresholds.LEAST_ROWS:
        why = f"{rows} rows could be judged, fewer than {thresholds.LEAST_ROWS}"
        return Judgement(name, NOT_JUDGED, rows, why, "few rows")
    faults = _faults(scores)
    figures = ", ".join(
        [f"fidelity {scores('fidelity'):.2f}, right on {_share(scores)} of {rows} rows", *faults]
    )
    if not faults and _reached(scores):
        return Judgement(name, FAITHFUL, rows, figures, "faithful")
    for kind, why in _partly(scores, chance):
        return Judgement(name, PARTLY, rows, f"{why}; {figures}", kind)
    aligned = scores("alignment")
    wrong = "" if aligned is None else f", alignment {aligned:.2f}"
    return Judgement(name, UNFAITHFUL, rows, figures + wrong, "unfaithful")


def _reached(scores: Scores) -> bool:
    """Whether fidelity and the share of right rows are those of a faithful explanation."""
    fidelity, right, low = scores("fidelity"), scores("rows_right"), scores.low("fidelity")
    return (
        fidelity is not None
        and right is not None
        and low is not None
        and low >= thresholds.SURE
        and fidelity >= thresholds.FAITHFUL
        and right >= thresholds.MOST_ROWS
    )


def _faults(scores: Scores) -> Sequence[str]:
    """What else keeps an explanation from being faithful: what fidelity row by row does not see."""
    pooled, gap = scores("fidelity_pooled"), scores("completeness_gap")
    found = []
    if pooled is None or pooled < thresholds.FAITHFUL_POOLED:
        found.append(f"fidelity {_figure(pooled)} over all rows as one sum")
    if gap is None or gap > thresholds.GAP:
        scale = scores("best_scale")
        factor = "" if scale is None or scale <= 0 else f"; the factor {scale:.2g} fits best"
        missed = "unknown" if gap is None else f"off by {gap:.0%}{factor}"
        found.append(f"sum of values {missed}")
    return found


def _figure(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.2f}"


def _partly(scores: Scores, chance: float | None) -> Sequence[tuple[str, str]]:
    """What is right of an explainer that is not faithful, the most telling first."""
    found = []
    conditional = scores("fidelity_conditional")
    if conditional is not None and conditional >= thresholds.RIGHT:
        what = (
            "right where replaced columns are drawn given the others (true to the data), not where they are "
            "drawn alone (true to the model)"
        )
        found.append(("true to the data", what))
    for base, what in (("zero", "a row of zeros"), ("mean", "the background's mean row")):
        other, gap = scores(f"fidelity_{base}_base"), scores(f"gap_{base}_base")
        if other is not None and other >= thresholds.FAITHFUL and gap is not None and gap <= thresholds.GAP:
            found.append((f"{base} base", f"right against {what}, not against the background rows"))
    aligned = scores("alignment")
    if aligned is not None and aligned >= thresholds.ALIGNED:
        found.append(("aligned", f"names the right columns (alignment {aligned:.2f}), not the right values"))
    mrr, low = scores("mrr"), scores.low("mrr")
    leaning = aligned is not None and aligned >= thresholds.LEANING
    if leaning and chance is not None and mrr and low is not None and low > chance + thresholds.FOUND:
        rank = f"ranks planted causes at about {1 / mrr:.1f} (by chance {1 / chance:.1f})"
        found.append(("finds causes", rank))
    return found


def _share(scores: Scores) -> str:
    right = scores("rows_right")
    return "an unknown share" if right is None else f"{right:.0%}"


def _nothing(scores: Scores) -> str:
    row = scores.row("fidelity")
    if row is not None and row["value"] is not None:
        return "at no row does one column matter measurably more than another"
    return scores.reason or "it was not measured"


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
    most = max((scores[name]("fidelity") or 0.0 for name in whole), default=0.0)
    close = [name for name in whole if (scores[name]("fidelity") or 0.0) >= most - thresholds.CLOSE]
    return min(
        close,
        key=lambda name: (len(caveats(scores[name])), scores[name]("model_calls") or 0.0, name),
        default=None,
    )


def lost_share(scores: Scores) -> float:
    """Share of the rows that it failed on."""
    row = scores.row("fidelity")
    return row["n_failed"] / row["n"] if row is not None and row["n"] else 0.0


def caveats(scores: Scores) -> list[str]:
    """What speaks against an explainer beside its judgement."""
    share, seeds = scores("placebo_share"), scores("seed_agreement")
    found = []
    if lost_share(scores) > thresholds.MOST_LOST:
        found.append(f"it failed on {lost_share(scores):.0%} of the rows")
    if share is not None and share >= thresholds.MUCH_PLACEBO:
        found.append(f"it puts {share:.0%} of its weight on columns that do nothing")
    if seeds is not None and seeds < thresholds.STEADY:
        found.append(f"two seeds agree on {seeds:.0%} of it")
    return found
