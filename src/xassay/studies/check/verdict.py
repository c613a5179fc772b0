"""The verdict in words: what to do first, then how sure, then one line an explainer."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs
import polars as pl

from xassay.statistics.row_scores import unseen_share
from xassay.studies.check import judgement, thresholds
from xassay.studies.check.judgement import FAITHFUL, NOT_JUDGED, PARTLY, Judgement
from xassay.studies.check.measures import Scores, measures

_RARE = 0.05
"""Kinds of rows rarer than it are not spoken of."""

VERDICT: dict[str, type[pl.DataType]] = {"about": pl.String, "text": pl.String, "recommended": pl.Boolean}
"""Columns of ``verdict.parquet``: sentences, the explainer each is about (``all``, ``model`` where it is
none), and whether that is the one to use."""


@attrs.frozen(eq=False)
class Verdict:
    """What a check comes to.

    Attributes:
        judged: judgements, the best first; yardsticks included, last.
        recommended: the explainer to use, or None.
        sentences: rows of `VERDICT`.
    """

    judged: Sequence[Judgement]
    recommended: str | None
    sentences: Sequence[dict[str, Any]]


@attrs.frozen(eq=False)
class Found:
    """What a verdict is made from.

    Attributes:
        scores: results of the check.
        seconds: seconds a row, by explainer.
        findings: what was seen of the model.
        baselines: explainers that are there for comparison alone.
        tests: the paired tests.
        chance: reciprocal rank of planted causes in a random order, where any were planted.
    """

    scores: pl.DataFrame
    seconds: Mapping[str, float | None]
    findings: Sequence[Mapping[str, Any]]
    baselines: frozenset[str]
    tests: pl.DataFrame
    chance: float | None = None

    @property
    def of_model(self) -> Scores:
        """Scores of the model itself."""
        return Scores(self.scores.filter(pl.col("explainer").is_null()))

    @property
    def by_explainer(self) -> dict[str, Scores]:
        """Scores by explainer."""
        names = self.scores["explainer"].drop_nulls().unique(maintain_order=True).to_list()
        return {name: Scores(self.scores.filter(pl.col("explainer") == name)) for name in names}


def verdict(found: Found) -> Verdict:
    """Judge every explainer, choose one, and say so."""
    scores = found.by_explainer
    judged = sorted(
        (judgement.judge(name, scores[name], found.chance) for name in scores),
        key=lambda one: (
            one.explainer in found.baselines,
            judgement.ORDER.index(one.judgement),
            -(scores[one.explainer]("fidelity") or 0.0),
            one.explainer,
        ),
    )
    competing = [one for one in judged if one.explainer not in found.baselines]
    best = judgement.recommended(competing, scores)
    said = [_row("all", text) for text in _advice(competing, best, found, scores)]
    said += [_row("model", text) for text in _of_model(found)]
    for one in judged:
        text = _line(one, scores[one.explainer], found)
        said.append(_row(one.explainer, text, recommended=one.explainer == best))
    return Verdict(judged, best, said)


def _row(about: str, text: str, *, recommended: bool = False) -> dict[str, Any]:
    return {"about": about, "text": text, "recommended": recommended}


def _advice(
    judged: Sequence[Judgement], best: str | None, found: Found, scores: Mapping[str, Scores]
) -> Iterator[str]:
    """What to do, as one paragraph; then what was not judged."""
    planted = _planted(judged, found, scores)
    if best is not None:
        yield " ".join([*planted, _use(best, judged, scores[best], found)])
    elif not judged:
        yield "Only yardsticks took part: there is no explainer to judge."
    elif all(one.judgement == NOT_JUDGED for one in judged):
        yield " ".join([*planted, f"No explainer could be judged on this model: {judged[0].why}."])
    else:
        yield " ".join([*planted, *_none(judged)])
    missing = [one for one in judged if one.judgement == NOT_JUDGED]
    if missing and len(missing) < len(judged):
        yield "Not judged: " + "; ".join(f"{one.explainer} ({one.why})" for one in missing) + "."


def _calls(scores: Scores) -> str:
    """What it costs, in brackets."""
    calls = scores("model_calls")
    return "" if calls is None else f" ({calls:,.0f} model calls a row)"


def _use(best: str, judged: Sequence[Judgement], scores: Scores, found: Found) -> str:
    one = next(one for one in judged if one.explainer == best)
    others = [
        other.explainer + _calls(found.by_explainer[other.explainer])
        for other in judged
        if other.judgement == FAITHFUL and other.explainer != best
    ]
    also = f" {', '.join(others)} {'is' if len(others) == 1 else 'are'} faithful too." if others else ""
    against = judgement.caveats(scores)
    caution = f" Caution: {', and '.join(against)}." if against else ""
    low = scores.low("fidelity")
    sure = "" if low is None else f", 95% interval from {low:.2f}"
    missing = unseen_share(max(one.rows, 1))
    rare = f" Kinds of rows rarer than {missing:.0%} may be missing among them." if missing > _RARE else ""
    return (
        f"Use {best}{_calls(scores)}: it is faithful (fidelity {scores('fidelity'):.2f}{sure}; right on "
        f"{scores('rows_right'):.0%} of {one.rows} rows).{also}{rare}{caution}"
    )


def _none(judged: Sequence[Judgement]) -> Iterator[str]:
    """None is faithful; what is left of those that are partly right."""
    yield "None of these explanations is faithful to this model: do not use their values."
    partly = [one for one in judged if one.judgement == PARTLY]
    if partly:
        yield (
            "Partly right: " + "; ".join(f"{one.explainer} {one.why.split('; ')[0]}" for one in partly) + "."
        )
    else:
        yield "Their order of columns is not right either."


def _planted(judged: Sequence[Judgement], found: Found, scores: Mapping[str, Scores]) -> Iterator[str]:
    """Where causes of anomalies were planted: who finds them, and whether a model was needed for that."""
    if found.chance is None:
        return
    ranks = {one.explainer: scores[one.explainer]("mrr") for one in judged}
    known = {name: value for name, value in ranks.items() if value is not None}
    rows = max((scores[name].n("mrr") for name in known), default=0)
    if not known or rows < thresholds.LEAST_ROWS:
        return
    first = max(known, key=lambda name: (known[name], name))
    yield (
        f"On {rows} planted anomalies {first} ranks a cause best, at about {1 / known[first]:.1f} "
        f"(by chance {1 / found.chance:.1f})."
    )
    plain = scores["zscore"]("mrr") if "zscore" in scores else None
    if plain is not None:
        if plain >= (scores[first].low("mrr") or known[first]):
            yield "The distance of each column from its mean (zscore) does as well: no explainer was needed."
        else:
            yield f"The distance of each column from its mean (zscore) has {1 / plain:.1f}."


def _of_model(found: Found) -> Iterator[str]:
    """What is so of the model, whoever explains it."""
    for finding in found.findings:
        if not finding["passed"]:
            yield f"{finding['check']}: {finding['found']}; {finding['meaning']}."
    own = found.of_model
    share = own("additive_share")
    if share is not None and share < thresholds.SUMS_FAIL:
        yield (
            f"Sums of attributions, even the best, tell {share:.0%} of which columns matter in this model; "
            f"the "
            f"other {1 - share:.0%} are interactions of columns, which no explanation of this kind shows."
        )
    if own("off_data_alarm"):
        yield (
            "The model follows another rule on rows with replaced columns than on real rows (surrogates of "
            "either fail on the other): what explanations show may not be what it does on your data."
        )
    apart = own("separability")
    if apart is not None and apart >= thresholds.OFF_DATA:
        yield (
            f"Rows with replaced columns are unlike the data (a classifier tells them apart with AUC "
            f"{apart:.2f}): "
            "explanations describe the model there too."
        )


def _line(one: Judgement, scores: Scores, found: Found) -> str:
    """One explainer: its judgement, then what each measure found."""
    yardstick = " (a yardstick)" if one.explainer in found.baselines else ""
    parts = [f"{one.judgement}: {one.why}"]
    parts += [text for own in measures().values() for text in own.sentences(scores)]
    if (lost := judgement.lost_share(scores)) > 0:
        parts.append(f"failed on {lost:.0%} of the rows")
    seconds = found.seconds.get(one.explainer)
    if seconds is not None:
        parts.append(f"{_duration(seconds)} a row")
    return f"{one.explainer}{yardstick}: {'; '.join(dict.fromkeys(parts))}."


def _duration(seconds: float) -> str:
    if seconds >= 1:
        return f"{seconds:.1f} s"
    return f"{1000 * seconds:.0f} ms" if seconds >= 0.01 else f"{1000 * seconds:.2g} ms"  # noqa: PLR2004
