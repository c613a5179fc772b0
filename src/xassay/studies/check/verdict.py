"""What it comes to, in words that need no statistics."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

FAITHFUL, ROUGH = 0.8, 0.5
STEADY = 0.9
MUCH = 0.1
_NOTHING = 0.02
_GAIN = 0.05


def verdict(
    scores: pl.DataFrame,
    costs: pl.DataFrame,
    findings: Sequence[Mapping[str, Any]],
    baselines: frozenset[str],
) -> list[dict[str, str]]:
    """Sentences: what to do first, then one an explainer.

    Args:
        scores: results of the check.
        costs: seconds a row, by explainer.
        findings: the sanity checks.
        baselines: explainers that are there for comparison alone.
    """
    names = scores["explainer"].drop_nulls().unique(maintain_order=True).to_list()
    judged = {name: _Judged(scores.filter(pl.col("explainer") == name)) for name in names}
    seconds = dict(zip(costs["explainer"], costs["seconds_a_row"], strict=True))
    competing = {name: one for name, one in judged.items() if name not in baselines}
    said = [{"about": "all", "text": _advice(competing, seconds)}]
    for finding in findings:
        if not finding["passed"]:
            text = f"{finding['check']}: {finding['found']}; {finding['meaning']}."
            said.append({"about": "model", "text": text})
    for name in sorted(names, key=lambda name: (name in baselines, -judged[name].worth)):
        text = "; ".join(judged[name].sentences(seconds.get(name)))
        yardstick = " (a yardstick)" if name in baselines else ""
        said.append({"about": name, "text": f"{name}{yardstick}: {text}."})
    return said


class _Judged:
    """The scores of one explainer by metric."""

    def __init__(self, rows: pl.DataFrame) -> None:
        own = rows.filter(pl.col("level") == "model", pl.col("fault").is_null())
        self._own = {(row["metric"], row["sigma"]): row for row in own.iter_rows(named=True)}
        self._options = next((row["options"] for row in self._own.values()), None)
        self._budgets = rows.filter(level="budget", metric="masking_skill").drop_nulls("value")

    def __call__(self, metric: str) -> float | None:
        """The score, at the smallest sigma where there are several; None where there is none."""
        found = [
            row
            for (name, _), row in sorted(self._own.items(), key=lambda item: item[0][1] or 0)
            if name == metric
        ]
        value = found[0]["value"] if found else None
        return None if value is None or value != value else float(value)  # noqa: PLR0124 - NaN

    @property
    def worth(self) -> float:
        """How faithful it is, for the order."""
        found = self("masking_skill")
        return float("-inf") if found is None else found

    @property
    def caveats(self) -> list[str]:
        """What speaks against it beside its faith."""
        share, seeds = self("placebo_share"), self("seed_agreement")
        found = []
        if share is not None and share >= MUCH:
            found.append(f"puts {share:.0%} of its weight on columns that do nothing")
        if seeds is not None and seeds < STEADY:
            found.append(f"two seeds agree on {seeds:.0%}")
        return found

    @property
    def reason(self) -> str:
        """Why it has no score."""
        return next((row["reason"] for row in self._own.values() if row["reason"]), "it was not measured")

    def sentences(self, seconds: float | None) -> Iterator[str]:
        """What can be said of it."""
        skill = self("masking_skill")
        if skill is None:
            yield f"not judged ({self.reason})"
        else:
            yield _faith(skill)
        causal = self("causal_skill")
        if causal is not None:
            yield (
                f"near your rows its line is off by {1 - causal:.0%} of how much the model moves"
                if causal > 0
                else "near your rows its line is worse than saying that nothing changes"
            )
        share = self("placebo_share")
        if share is not None:
            yield (
                f"puts {share:.0%} of its weight on columns that do nothing"
                if share >= _NOTHING
                else "gives columns that do nothing (next to) no weight"
            )
        planted = self("mrr")
        if planted is not None:
            yield (
                f"finds a planted cause at about rank {1 / planted:.1f}"
                if planted > 0
                else "misses planted causes"
            )
        seeds = self("seed_agreement")
        if seeds is not None and seeds < STEADY:
            yield f"not reproducible without a seed (two seeds agree on {seeds:.0%})"
        near = self("neighbour_agreement")
        if near is not None and near < STEADY:
            yield f"a hair's breadth away it agrees with itself on {near:.0%} only"
        background = self("background_agreement")
        if background is not None and background < STEADY:
            yield f"another background changes {1 - background:.0%} of it"
        yield from self._convergence(skill)
        failed = max((row["n_failed"] for row in self._own.values()), default=0)
        if failed:
            yield f"failed on {failed} rows"
        if seconds is not None:
            yield f"{_duration(seconds)} a row"

    def _convergence(self, skill: float | None) -> Iterator[str]:
        if skill is None or self._budgets.is_empty():
            return
        own = self._budgets.filter(pl.col("options") == self._options)["value"]
        most = max(self._budgets["value"])
        if len(own) and most > own[0] + _GAIN:
            yield f"more samples help (skill {own[0]:.2f} becomes {most:.2f}): give it more"


def _faith(skill: float) -> str:
    if skill >= 1 - 1e-9:
        return "faithful: it adds up exactly"
    if skill >= FAITHFUL:
        return f"faithful within {1 - skill:.0%} when columns are taken away"
    if skill >= ROUGH:
        return f"roughly faithful: off by {1 - skill:.0%} when columns are taken away"
    if skill > 0:
        return f"hardly faithful: off by {1 - skill:.0%} when columns are taken away"
    return "unfaithful: no better than saying nothing"


def _advice(judged: Mapping[str, _Judged], seconds: Mapping[str, float | None]) -> str:
    """What to do: of those that are as faithful as the best, take the one that is sound and cheap."""
    known = [name for name in judged if judged[name].worth > float("-inf")]
    if not known:
        return "No explainer could be judged on this model."
    most = max(judged[name].worth for name in known)
    level = [name for name in known if judged[name].worth >= most - _GAIN]
    level.sort(key=lambda name: (len(judged[name].caveats), seconds.get(name) or 0.0))
    best = level[0]
    skill = judged[best].worth
    if most <= 0:
        return "Trust none of these explanations on this model: none is better than saying nothing."
    off = f"off by {max(1 - skill, 0.0):.0%} of what it has to explain"
    if skill < ROUGH:
        return f"Trust none of these explanations on this model: the best, {best}, is {off}."
    word = "Use" if skill >= FAITHFUL and not judged[best].caveats else "With caution, use"
    others = f" ({', '.join(level[1:])} {'is' if len(level) == 2 else 'are'} no better)" if level[1:] else ""  # noqa: PLR2004
    reason = f", and {', and '.join(judged[best].caveats)}" if judged[best].caveats else ""
    return f"{word} {best}{others}: it is {off}{reason}."


def _duration(seconds: float) -> str:
    if seconds >= 1:
        return f"{seconds:.1f} s"
    return f"{1000 * seconds:.0f} ms" if seconds >= 0.01 else f"{1000 * seconds:.2g} ms"  # noqa: PLR2004
