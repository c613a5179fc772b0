"""What the verdict says of planted causes: who finds them, by kind, and whether that takes an explainer."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import attrs

from xassay.studies.check import thresholds
from xassay.studies.check.measures import Scores
from xassay.studies.check.planting import KINDS, SHIFT
from xassay.studies.check.words import listed, named

PLAIN = "zscore"
"""The explainer that looks at columns one at a time and at no model."""

_WHAT = f"{PLAIN}, the distance of each column from its mean,"


@attrs.frozen(eq=False)
class _Ranks:
    """Reciprocal ranks of one kind of planted rows, or of all.

    Attributes:
        chance: that of a random order.
        found: by explainer, with the lower end of its interval; those with enough rows.
        rows: how many rows they rest on.
    """

    chance: float
    found: Mapping[str, tuple[float, float]]
    rows: int

    @classmethod
    def of(
        cls, names: Sequence[str], scores: Mapping[str, Scores], chance: float, planted: str | None = None
    ) -> "_Ranks":
        found, rows = {}, 0
        for name in names:
            value, low = scores[name]("mrr", planted=planted), scores[name].low("mrr", planted=planted)
            row = scores[name].row("mrr", planted=planted)
            n = 0 if row is None else int(row["n"] - row["n_failed"] - row["n_undefined"])
            if value is not None and low is not None and n >= thresholds.LEAST_ROWS:
                found[name] = (value, low)
                rows = max(rows, n)
        return cls(chance, found, rows)

    @property
    def telling(self) -> bool:
        """Whether a cause can be found more often than by chance at all."""
        return bool(self.found) and self.chance + thresholds.FOUND < 1

    @property
    def finders(self) -> list[str]:
        """Who finds causes clearly better than chance, the best first."""
        clear = [name for name, (_, low) in self.found.items() if low > self.chance + thresholds.FOUND]
        return sorted(clear, key=lambda name: (-self.found[name][0], name))

    @property
    def unclear(self) -> bool:
        """Whether a score is well above chance, and its interval is not: the rows are too few."""
        above = any(value > self.chance + thresholds.FOUND for value, _ in self.found.values())
        return above and not self.finders

    def only(self, *, plain: bool) -> "_Ranks":
        """Of `PLAIN` alone, or of all others."""
        kept = {name: pair for name, pair in self.found.items() if (name == PLAIN) == plain}
        return attrs.evolve(self, found=kept)

    @property
    def best(self) -> list[str]:
        """The best explainers: the first, and those within the interval of its score."""
        order = sorted(self.found, key=lambda name: (-self.found[name][0], name))
        return [name for name in order if self.found[name][0] >= self.found[order[0]][1]]

    @property
    def plain_enough(self) -> bool:
        """Whether `PLAIN` does as well as the best explainer: not below the interval of its score."""
        if PLAIN not in self.found:
            return False
        best = self.only(plain=False).best
        return bool(best) and self.found[PLAIN][0] >= self.found[best[0]][1]

    def rank(self, name: str) -> str:
        """About where it puts the first cause."""
        return f"{1 / self.found[name][0]:.1f}"

    @property
    def by_chance(self) -> str:
        """About where a random order puts it."""
        return f"{1 / self.chance:.1f}"


def sentences(
    names: Sequence[str],
    scores: Mapping[str, Scores],
    chance: float | None,
    chances: Mapping[str, float],
    of_model: Scores,
) -> Iterator[str]:
    """Who finds planted causes, overall and by kind, and whether `PLAIN` does as well.

    Args:
        names: explainers that compete.
        scores: of all explainers.
        chance: reciprocal rank in a random order, over all planted rows; None: nothing was planted.
        chances: the same by kind.
        of_model: scores of the model itself: which kinds it notices.
    """
    if chance is None:
        return
    everybody = [*(name for name in names if name != PLAIN), *([PLAIN] if PLAIN in scores else [])]
    ranks = _Ranks.of(everybody, scores, chance)
    if not ranks.only(plain=False).found:
        return
    yield _overall(ranks)
    if not ranks.telling:
        return
    told = {
        kind: by_kind
        for kind in KINDS
        if kind in chances and (by_kind := _Ranks.of(everybody, scores, chances[kind], kind)).telling
    }
    if told:
        left = [kind for kind in KINDS if kind in chances and kind not in told]
        unnoticed = [kind for kind in left if of_model("planted_noticed", planted=kind) == 0]
        unjudged = [kind for kind in left if kind not in unnoticed]
        yield from _by_kind(told, {"not noticed by the detector": unnoticed, "not judged": unjudged})
    elif PLAIN in ranks.found and ranks.finders:
        yield _plain(ranks)


def _overall(ranks: _Ranks) -> str:
    """Who finds causes best, over all kinds."""
    own = ranks.only(plain=False)
    if not ranks.telling:
        return (
            f"On {own.rows} planted anomalies a random order has a cause at about rank {ranks.by_chance} "
            "already: they do not tell explainers apart."
        )
    first = own.best[0]
    if own.unclear:
        return (
            f"On {own.rows} planted anomalies {named(first)} puts the first cause at about rank "
            f"{own.rank(first)} (by chance {own.by_chance}): so few rows do not tell this from chance."
        )
    if not own.finders:
        return (
            f"On {own.rows} planted anomalies no explainer finds the causes clearly better than chance: the "
            f"best, {named(first)}, has the first cause at about rank {own.rank(first)} (by chance "
            f"{own.by_chance})."
        )
    best = listed([named(name) for name in own.best])
    verb = "finds" if len(own.best) == 1 else "find"
    return (
        f"On {own.rows} planted anomalies {best} {verb} the causes best: the first cause is at about rank "
        f"{own.rank(first)} (by chance {own.by_chance})."
    )


def _plain(ranks: _Ranks) -> str:
    """How `PLAIN` does, over all kinds."""
    if ranks.plain_enough:
        return f"{_WHAT} {_does([ranks])}: no explainer is needed for these causes."
    return f"{_WHAT} has it at about rank {ranks.rank(PLAIN)}."


def _by_kind(kinds: Mapping[str, _Ranks], others: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Who finds which kind, those of the same finders together; then whether an explainer is needed."""
    by_finders: dict[str, list[str]] = {}
    for kind, ranks in kinds.items():
        nobody = "not clear on so few rows" if ranks.unclear else "nobody"
        finders = listed([named(name) for name in ranks.finders]) if ranks.finders else nobody
        by_finders.setdefault(finders, []).append(kind)
    parts = [f"{' / '.join(own)}: {finders}" for finders, own in by_finders.items()]
    parts += [f"{' / '.join(own)}: {why}" for why, own in others.items() if own]
    yield f"Who finds them, by kind: {'; '.join(parts)}."
    seen = {kind: ranks for kind, ranks in kinds.items() if ranks.finders}
    if not seen or not all(PLAIN in ranks.finders and ranks.plain_enough for ranks in seen.values()):
        if any(PLAIN in ranks.found for ranks in kinds.values()):
            yield f"{_WHAT} needs no model."
        return
    only = "Only causes out of range are found, and " if set(seen) == {SHIFT} and len(kinds) > 1 else ""
    yield f"{only}{_WHAT} {_does(seen.values())}: no explainer is needed for these causes."


def _does(found: Iterable[_Ranks]) -> str:
    """What `PLAIN` does, beside explainers or alone."""
    return "does as well" if any(set(ranks.finders) - {PLAIN} for ranks in found) else "finds them"
