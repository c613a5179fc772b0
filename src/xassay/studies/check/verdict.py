"""What it comes to, in words that need no statistics."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

FAITHFUL, ROUGH = 0.8, 0.5
STEADY = 0.9
MUCH = 0.1
_NOTHING = 0.02
_GAIN = 0.05
_FEW = 0.05
_LEAST = 10
_NO_CHANGE = "'nothing changes' would"


def verdict(
    scores: pl.DataFrame,
    costs: pl.DataFrame,
    findings: Sequence[Mapping[str, Any]],
    baselines: frozenset[str],
    chance: float | None = None,
) -> list[dict[str, str]]:
    """Sentences: what to do first, then one an explainer.

    Args:
        scores: results of the check.
        costs: seconds a row, by explainer.
        findings: the sanity checks.
        baselines: explainers that are there for comparison alone.
        chance: reciprocal rank of planted causes in a random order.
    """
    names = scores["explainer"].drop_nulls().unique(maintain_order=True).to_list()
    judged = {name: _Judged(scores.filter(pl.col("explainer") == name)) for name in names}
    seconds = dict(zip(costs["explainer"], costs["seconds_a_row"], strict=True))
    competing = {name: one for name, one in judged.items() if name not in baselines}
    said = [{"about": "all", "text": _advice(competing)}]
    for finding in findings:
        if not finding["passed"]:
            text = f"{finding['check']}: {finding['found']}; {finding['meaning']}."
            said.append({"about": "model", "text": text})
    for name in sorted(names, key=lambda name: (name in baselines, -judged[name].worth)):
        text = "; ".join(judged[name].sentences(seconds.get(name), chance))
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
        share, seeds, line = self("placebo_share"), self("seed_agreement"), self("causal_skill")
        found = [f"this rests on {self.n} rows only"] if self.n < _LEAST else []
        found += [f"failed on {self.lost:.0%} of the rows"] if self.lost > _FEW else []
        if line is not None and line < 0:
            found.append(f"its slopes predict small changes of a row worse than {_NO_CHANGE}")
        if share is not None and share >= MUCH:
            found.append(f"puts {share:.0%} of its weight on columns that do nothing")
        if seeds is not None and seeds < STEADY:
            found.append(f"two seeds agree on {seeds:.0%}")
        return found

    @property
    def n(self) -> int:
        """How many rows its faith rests on."""
        row = self._own.get(("masking_skill", None))
        return 0 if row is None else row["n"] - row["n_failed"] - row["n_undefined"]

    @property
    def lost(self) -> float:
        """Share of the rows that it failed on."""
        row = self._own.get(("masking_skill", None))
        return row["n_failed"] / row["n"] if row is not None and row["n"] else 0.0

    @property
    def reason(self) -> str:
        """Why it has no score."""
        own = self._own.get(("masking_skill", None))
        undefined = own is not None and own["value"] is not None
        nothing = "its skill is undefined: the score does not change" if undefined else "it was not measured"
        return next((row["reason"] for row in self._own.values() if row["reason"]), nothing)

    def sentences(self, seconds: float | None, chance: float | None) -> Iterator[str]:
        """What can be said of it."""
        skill = self("masking_skill")
        if skill is None:
            yield f"not judged ({self.reason})"
        else:
            yield _faith(skill)
        causal = self("causal_skill")
        if causal is not None:
            yield (
                f"its slopes predict small changes of a row to within {1 - causal:.0%}"
                if causal > 0
                else f"its slopes predict small changes of a row worse than {_NO_CHANGE}"
            )
        share = self("placebo_share")
        if share is not None:
            yield (
                f"puts {share:.0%} of its weight on columns that do nothing"
                if share >= _NOTHING
                else "gives columns that do nothing (next to) no weight"
            )
        planted = self("mrr")
        if planted is not None and chance is not None:
            better = planted > chance + _GAIN
            yield (
                f"finds a planted cause at about rank {1 / planted:.1f} (by chance {1 / chance:.1f})"
                if better
                else "finds planted causes no better than chance"
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
        if self.lost:
            yield f"failed on {self.lost:.0%} of the rows"
        if seconds is not None:
            yield f"{_duration(seconds)} a row"

    def _convergence(self, skill: float | None) -> Iterator[str]:
        own = self._budgets.filter(pl.col("options") == self._options)
        if skill is None or own.is_empty():
            return
        now = own.row(0, named=True)
        more = [
            row for row in self._budgets.iter_rows(named=True) if _is_more(row["options"], now["options"])
        ]
        best = max(more, key=lambda row: row["value"], default=now)
        beyond = best["ci_low"] is None or best["ci_low"] > now["value"]
        if best["value"] > now["value"] + _GAIN and beyond:
            yield f"more samples help (skill {now['value']:.2f} becomes {best['value']:.2f}): give it more"


def _is_more(options: str, than: str) -> bool:
    """Whether these options ask for more samples: they differ from the others in one number."""
    pairs = zip(options.split(" "), than.split(" "), strict=True)
    return any(float(a.split("=")[1]) > float(b.split("=")[1]) for a, b in pairs if a != b)


def _faith(skill: float) -> str:
    if skill >= 1 - 1e-9:
        return "faithful: its numbers add up exactly"
    if skill <= _GAIN:
        return "unfaithful: its numbers say (next to) no more than none would"
    word = "faithful" if skill >= FAITHFUL else "right in outline" if skill >= ROUGH else "hardly faithful"
    return f"{word}: its numbers {_miss(skill)}"


def _miss(skill: float) -> str:
    return f"miss {max(1 - skill, 0.0):.0%} of how the model changes when columns are taken away"


def _advice(judged: Mapping[str, _Judged]) -> str:
    """What to do: of those that are about as faithful as the best, the soundest and cheapest."""
    known = [name for name in judged if judged[name].worth > float("-inf")]
    if not known:
        return "No explainer could be judged on this model."
    # who fails on the hard rows must not win for it
    whole = [name for name in known if judged[name].lost <= _FEW] or known
    most = max(judged[name].worth for name in whole)
    close = [name for name in whole if judged[name].worth >= most - _GAIN]
    close.sort(key=lambda name: (len(judged[name].caveats), judged[name]("model_calls") or 0.0, name))
    best, skill = close[0], judged[close[0]].worth
    if most < ROUGH:
        best = max(whole, key=lambda name: judged[name].worth)
        return _no_advice(best, most, {name: judged[name]("causal_skill") for name in whole})
    others = f" ({', '.join(close[1:])} {'comes' if len(close) == 2 else 'come'} close)" if close[1:] else ""  # noqa: PLR2004
    said = [f"its numbers {_miss(skill)}", *judged[best].caveats]
    if skill >= FAITHFUL and len(said) == 1:
        return f"Use {best}{others}: {said[0]}."
    hint = "take its first columns for hints, not its numbers at their word"
    return f"With caution, use {best}{others}: {hint}, as {', and '.join(said)}."


def _no_advice(best: str, most: float, lines: Mapping[str, float | None]) -> str:
    """Nothing adds up; a line may still hold close to the rows."""
    said = (
        f"Trust none of these explanations on this model: the best, {best}, would {_miss(most)}"
        if most > 0
        else "Trust none of these explanations on this model: none says more than saying nothing"
    )
    near = {name: skill for name, skill in lines.items() if skill is not None and skill >= ROUGH}
    if not near:
        return f"{said}."
    name = max(near, key=lambda one: near[one])
    return f"{said}; but the slopes of {name} predict small changes of a row to within {1 - near[name]:.0%}."


def _duration(seconds: float) -> str:
    if seconds >= 1:
        return f"{seconds:.1f} s"
    return f"{1000 * seconds:.0f} ms" if seconds >= 0.01 else f"{1000 * seconds:.2g} ms"  # noqa: PLR2004
