"""The verdict in words: what to do first, then how sure, then one line an explainer."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs
import polars as pl

from xassay.statistics.row_scores import unseen_share
from xassay.studies.check import causes, judgement, thresholds
from xassay.studies.check.judgement import FAITHFUL, NOT_JUDGED, PARTLY, Judgement
from xassay.studies.check.measures import Scores, measures
from xassay.studies.check.words import duration, figure, listed, named, percent

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
        chances: the same by kind of planted rows.
    """

    scores: pl.DataFrame
    seconds: Mapping[str, float | None]
    findings: Sequence[Mapping[str, Any]]
    baselines: frozenset[str]
    tests: pl.DataFrame
    chance: float | None = None
    chances: Mapping[str, float] = attrs.field(factory=dict)

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
    said = [_row("all", text) for text in _advice(judged, best, found, scores)]
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
    competing = [one for one in judged if one.explainer not in found.baselines]
    names = [one.explainer for one in competing]
    planted = list(causes.sentences(names, scores, found.chance, found.chances, found.of_model))
    missing = [one for one in competing if one.judgement == NOT_JUDGED]
    if not competing:
        baselines = listed([named(one.explainer) for one in judged]) if judged else "nobody"
        yield f"There is no explainer to judge: only baselines took part ({baselines})."
    elif len(missing) == len(competing):
        reasons = list(dict.fromkeys(one.why for one in missing))
        why = reasons[0] if len(reasons) == 1 else _reasons(missing)
        yield " ".join([*planted, f"No explainer could be judged on this model: {why}."])
    else:
        do = (
            _use(best, competing, found, scores, planted)
            if best is not None
            else _none(judged, found, planted)
        )
        yield " ".join([*planted, *do])
        if missing:
            yield f"Not judged: {_reasons(missing)}."


def _reasons(missing: Sequence[Judgement]) -> str:
    return "; ".join(f"{named(one.explainer)} ({one.why})" for one in missing)


def _calls(scores: Scores) -> str:
    """What it costs, in brackets."""
    calls = scores("model_calls")
    return "" if calls is None else f" ({calls:,.0f} model calls a row)"


def _use(
    best: str,
    competing: Sequence[Judgement],
    found: Found,
    scores: Mapping[str, Scores],
    planted: Sequence[str],
) -> Iterator[str]:
    """Which explainer to use, how sure that is, which others are faithful, and what to mind."""
    own = scores[best]
    rows = own.n("fidelity")
    row = own.row("fidelity") or {}
    low, high = row.get("ci_low"), row.get("ci_high")
    sure = "" if low is None or high is None else f", 95% interval {low:.2f} to {high:.2f}"
    right = percent(own.known("rows_right"), least=thresholds.MOST_ROWS)
    fidelity = figure(own.known("fidelity"), least=thresholds.FAITHFUL)
    use = "For ordinary rows use" if planted else "Use"
    yield (
        f"{use} {named(best)}{_calls(own)}: it is faithful (fidelity {fidelity}{sure}; right on {right} of "
        f"{rows} rows)."
    )
    others = [one.explainer for one in competing if one.judgement == FAITHFUL and one.explainer != best]
    if others:
        texts = [named(other) + _calls(scores[other]) for other in others]
        yield f"{listed(texts)} {'is' if len(others) == 1 else 'are'} faithful too."
    yield from _better(best, others, found.tests)
    missing = unseen_share(max(rows, 1))
    if missing > thresholds.RARE:
        yield (
            f"Kinds of rows that make up less than {missing:.0%} of the data may be missing among these "
            f"{rows}."
        )
    against = [*judgement.caveats(own), *_limits(found)]
    if against:
        yield f"Caution: {'; '.join(against)}."


def _better(best: str, others: Sequence[str], tests: pl.DataFrame) -> Iterator[str]:
    """Faithful explainers of which a test says that their fidelity is higher than the recommended one's."""
    for row in tests.filter(pl.col("metric") == "fidelity").iter_rows(named=True):
        pair = {row["first"]: 1.0, row["second"]: -1.0}
        other = next((name for name in others if {name, best} == set(pair)), None)
        p_value = row["p_holm"]
        if other is None or p_value is None or not p_value < thresholds.SIGNIFICANT:
            continue
        gained = pair[other] * row["statistic"]
        if gained > 0:
            yield f"The fidelity of {named(other)} is higher by {gained:.2g}, which is measurable and small."


def _limits(found: Found) -> Iterator[str]:
    """What bounds the use of any explanation of this model; said in full further down."""
    share = found.of_model("additive_share")
    if share is not None and share < thresholds.SUMS_FAIL:
        shown = percent(share, least=thresholds.SUMS_FAIL)
        yield f"attributions can show only {shown} of how this model uses its columns"
    if found.of_model("off_data_alarm"):
        yield "off the data the model follows another rule"
    failed = [str(finding["check"]) for finding in found.findings if not finding["passed"]]
    if failed:
        yield f"the model did not pass {len(failed)} of {len(found.findings)} checks ({', '.join(failed)})"


def _none(judged: Sequence[Judgement], found: Found, planted: Sequence[str]) -> Iterator[str]:
    """None is faithful; what is left of those that are partly right."""
    competing = [one for one in judged if one.explainer not in found.baselines]
    all_judged = all(one.judgement != NOT_JUDGED for one in competing)
    who = "None of these explanations" if all_judged else "None of the explanations that could be judged"
    partly = [one for one in competing if one.judgement == PARTLY]
    if partly:
        yield f"{who} is faithful to this model: do not use their values as they are."
        yield "Partly right: " + "; ".join(f"{named(one.explainer)} {one.right}" for one in partly) + "."
    else:
        where = " on ordinary rows" if planted else ""
        there = " there" if planted else ""
        yield f"{who} is faithful to this model{where}, not even in part: do not use them{there}."
    faithful = [one.explainer for one in judged if one.judgement == FAITHFUL]
    if faithful:
        is_are = "baseline that is" if len(faithful) == 1 else "baselines that are"
        yield f"The {is_are} faithful here: {listed([named(name) for name in faithful])}."


def _of_model(found: Found) -> Iterator[str]:
    """What is so of the model, whoever explains it."""
    for finding in found.findings:
        if not finding["passed"]:
            meaning = f": {finding['meaning']}" if finding["meaning"] else ""
            yield f'Check of the model, "{finding["check"]}": {finding["found"]}{meaning}.'
    own = found.of_model
    share = own("additive_share")
    if share is not None and share < thresholds.SUMS_TELL:
        shown = percent(share, least=thresholds.SUMS_TELL)
        yield (
            f"Even the best possible attributions show only {shown} of how this model uses its columns: the "
            "rest is interactions of columns, which one number a column cannot show."
        )
    rows = [scores.row("fidelity") for scores in found.by_explainer.values()]
    untold = max(((row["n_undefined"], row["n"]) for row in rows if row is not None), default=(0, 0))
    if untold[0] > thresholds.UNTOLD * untold[1]:
        yield (
            f"On {untold[0]} of {untold[1]} rows no column changes the score measurably more than another: "
            "these rows are not judged."
        )
    if own("off_data_alarm"):
        yield (
            "The model follows one rule on real rows and another on rows with replaced columns (surrogates "
            "of either fail on the other). Explainers ask about such rows: they may not show what the model "
            "does on your data."
        )
    apart = own("separability")
    if apart is not None and apart >= thresholds.OFF_DATA:
        yield (
            f"Rows with replaced columns are unlike the data (a classifier tells them apart with AUC "
            f"{apart:.2f}): explanations also describe the model where there are no data."
        )


def _line(one: Judgement, scores: Scores, found: Found) -> str:
    """One explainer: its judgement, then what each measure found."""
    baseline = " (baseline)" if one.explainer in found.baselines else ""
    parts = [f"{one.judgement}: {one.why}"]
    parts += [text for own in measures().values() for text in own.sentences(scores)]
    if one.judgement != NOT_JUDGED and judgement.lost_share(scores) > 0:
        parts.append(judgement.failed_rows(scores))
    seconds = found.seconds.get(one.explainer)
    if seconds is not None:
        parts.append(f"{duration(seconds)} a row")
    return f"{one.explainer}{baseline}: {'; '.join(dict.fromkeys(parts))}."
