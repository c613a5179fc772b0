"""Do the intervals and tests of a check hold? Coverage, false differences and power, by simulation.

Usage: python bench/coverage.py [--repeats 600] [--write]

Prints Markdown; with --write it is put into docs/science/intervals.md, below the line that marks it.
"""

if __name__ != "__main__":  # numba looks for a package of this name where a script of this folder runs
    raise ImportError("bench/coverage.py is a script, not the package coverage")

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import attrs
import numpy as np
from scipy import stats

from interval_choices import bootstrap_draws, choices
from row_losses import ALIKE, DIFFERENT, LOSSES, Losses, Rivals
from xassay.seeds import generator
from xassay.statistics import (
    RowWeights,
    holm,
    loss_of_accuracy_interval,
    mean_interval,
    paired_permutation,
    quantile_interval,
    root_mean_interval,
    share_of_squares_interval,
    skill_interval,
    unseen_share,
)
from xassay.statistics.row_weights import Statistic
from xassay.statistics.scores import loss_of_accuracy, mean, root_mean, share_of_squares, skill
from xassay.types import FloatArray, IntArray

PAGE = Path(__file__).resolve().parents[1] / "docs" / "science" / "intervals.md"
MARK = "<!-- below: printed by bench/coverage.py -->"
SIZES = (10, 20, 50, 200)
N_WEIGHTS = 1000
N_PERMUTATIONS = 999
ALPHA = 0.05
FAMILIES, EXPLAINERS = 7, 4
PAGE_ROWS, PAGE_PERMUTATIONS = 50, 1999

Interval = tuple[float, float] | None
Weights = RowWeights
Columns = Sequence[FloatArray]


@attrs.frozen
class Case:
    """A score on rows of one kind.

    Attributes:
        score: its name.
        rows: the rows, in words.
        draw: (rows, generator) -> the score's columns.
        truth: the score of endless rows.
        found: the interval of the columns.
        before: the score from the columns' means, for a percentile bootstrap; None: no such.
    """

    score: str
    rows: str
    draw: Callable[[int, np.random.Generator], Columns]
    truth: float
    found: Callable[[Columns, Weights], Interval]
    before: Statistic | None


def cases() -> Iterator[Case]:
    """Every per-row score on every kind of rows."""
    yield from _bounded_means()
    yield from _root_means()
    for one in LOSSES:
        truth = float(1 - np.sqrt(one.own / one.trivial))
        yield Case("skill", one.name, one.draw, truth, _of_skill, skill)
    yield from _ratios()
    yield from _quantiles()


def _root_means() -> Iterator[Case]:
    """RMSEs: of the losses of telling nothing, whose sizes are those named, and of rare failures."""
    for one in LOSSES:
        if not one.name.startswith("worse"):
            side, expected = (0, one.own) if "missed" in one.name or "apart" in one.name else (1, one.trivial)
            draw = partial(_side, one, side)
            yield Case("root mean", one.name, draw, float(np.sqrt(expected)), _of_root_mean, root_mean)
    heavier = next(one for one in LOSSES if one.name.startswith("heavy"))
    name = f"{heavier.name} times Beta(.5, 2)"
    yield Case(
        "root mean", name, partial(_side, heavier, 0), float(np.sqrt(heavier.own)), _of_root_mean, root_mean
    )


def _side(one: Losses, side: int, n: int, rng: np.random.Generator) -> Columns:
    return [one.draw(n, rng)[side]]


def _of_root_mean(columns: Columns, weights: Weights) -> Interval:
    return root_mean_interval(columns[0], rng=weights)


def _of_skill(columns: Columns, weights: Weights) -> Interval:
    return skill_interval(columns[0], columns[1], rng=weights)


def _of_squares(columns: Columns, weights: Weights) -> Interval:
    return share_of_squares_interval(columns[0], columns[1], rng=weights)


def _of_accuracy(columns: Columns, weights: Weights) -> Interval:
    return loss_of_accuracy_interval(columns[0], columns[1], rng=weights)


def _values(levels: Sequence[float], shares: Sequence[float]) -> Callable[..., Columns]:
    return lambda n, rng: [rng.choice(levels, size=n, p=shares)]


def _bounded_means() -> Iterator[Case]:
    kinds: list[tuple[str, str, Callable[..., Columns], float]] = [
        (
            "mean in [0, 1]",
            "MRR: 1 on 90%",
            _values((1, 1 / 2, 1 / 3), (0.9, 0.06, 0.04)),
            0.9 + 0.03 + 0.04 / 3,
        ),
        ("mean in [0, 1]", "MRR: 1 on 98%, else 1/2", _values((1, 0.5), (0.98, 0.02)), 0.99),
        ("mean in [0, 1]", "agreement: Beta(8, 2)", lambda n, rng: [rng.beta(8, 2, n)], 0.8),
        ("mean in [0, 1]", "agreement: 0 on 2%, else 1", _values((0, 1), (0.02, 0.98)), 0.98),
        ("share of rows", "62%", _values((0, 1), (0.38, 0.62)), 0.62),
    ]
    for score, rows, draw, truth in kinds:
        yield Case(score, rows, draw, truth, lambda columns, w: mean_interval(columns[0], 0, 1, rng=w), mean)
    yield Case("mean in [0, 1]", "clusters of 4 alike rows", _clustered, 0.8, _of_clusters, None)


def _clustered(n: int, rng: np.random.Generator) -> Columns:
    groups = max(2, n // 4)
    shared = np.repeat(rng.beta(8, 2, groups), 4)
    return [np.clip(shared, 0, 1), np.repeat(np.arange(groups), 4)]


def _of_clusters(columns: Columns, weights: Weights) -> Interval:
    clusters: IntArray = columns[1].astype(np.int64)
    return mean_interval(columns[0], 0, 1, rng=weights, clusters=clusters)


def _ratios() -> Iterator[Case]:
    def accuracy(right: float, still: float) -> Callable[..., Columns]:
        def draw(n: int, rng: np.random.Generator) -> Columns:
            without = rng.random(n) < right
            return [(without & (rng.random(n) < still)).astype(float), without.astype(float)]

        return draw

    for one in LOSSES:
        if one.name.startswith("rare") or "gamma" in one.name:
            truth = 1 - one.own / one.trivial
            yield Case("share of squares", one.name, one.draw, truth, _of_squares, share_of_squares)
    for right, still in ((0.9, 0.8), (0.98, 0.99)):
        yield Case(
            "ELA",
            f"accuracy {right:.2f}, with noise {right * still:.2f}",
            accuracy(right, still),
            (1 - right * still) / right,
            _of_accuracy,
            loss_of_accuracy,
        )


def _quantiles() -> Iterator[Case]:
    kinds: list[tuple[str, Callable[..., Columns], Callable[[float], float]]] = [
        ("Beta(8, 2)", lambda n, rng: [rng.beta(8, 2, n)], stats.beta(8, 2).ppf),
        ("lognormal 1.5", lambda n, rng: [rng.lognormal(0, 1.5, n)], stats.lognorm(1.5).ppf),
    ]
    for rows, draw, law in kinds:
        for q in (0.5, 0.1):
            yield Case(f"quantile {q:g}", rows, draw, float(law(q)), partial(_of_quantile, q), None)


def _of_quantile(q: float, columns: Columns, _: Weights) -> Interval:
    return quantile_interval(columns[0], q)


def coverage(repeats: int) -> Iterator[str]:
    """Lines of the table of coverage."""
    heads = [f"n = {n}" for n in SIZES]
    yield "| score | rows | " + " | ".join(heads) + " | bootstrap, n = 20 | n = 50 |"
    yield "|---|---|" + "---|" * (len(SIZES) + 2)
    weights = RowWeights(0, N_WEIGHTS)
    for case in cases():
        cells = []
        bootstrap = {}
        for n in SIZES:
            rng = generator(0, "coverage", case.score, case.rows, n)
            draws = bootstrap_draws(n, rng)
            own, other = [], []
            for _ in range(repeats):
                columns = case.draw(n, rng)
                own.append(case.found(columns, weights))
                if case.before is not None and n in (20, 50):
                    other.append(_bootstrap(columns, case.before, draws))
            cells.append(_cell(own, case.truth))
            bootstrap[n] = _share(other, case.truth) if other else ""
        yield f"| {case.score} | {case.rows} | " + " | ".join([*cells, bootstrap[20], bootstrap[50]]) + " |"


def _bootstrap(columns: Columns, statistic: Statistic, draws: IntArray) -> Interval:
    """The central share of what other rows would give: what was used before."""
    replicates = statistic([draws @ column / draws.shape[1] for column in columns])
    if np.isnan(replicates).all():
        return None
    low, high = np.nanquantile(replicates, [0.025, 0.975], method="nearest")
    return float(low), float(high)


def _holds(found: Interval, truth: float) -> bool:
    return found is not None and found[0] - 1e-12 <= truth <= found[1] + 1e-12


def _share(found: Sequence[Interval], truth: float) -> str:
    given = [one for one in found if one is not None]
    return f"{np.mean([_holds(one, truth) for one in given]):.3f}" if given else "none"


def _cell(found: Sequence[Interval], truth: float) -> str:
    given = [one for one in found if one is not None]
    if not given:
        return "none"
    width = float(np.median([high - low for low, high in given]))
    without = 1 - len(given) / len(found)
    said = f"{_share(found, truth)} ({width:.2g})"
    return said if without == 0 else f"{said}, none {without:.0%}"


def pair_tests(repeats: int) -> Iterator[str]:
    """Lines of the table of false and true differences of skills."""
    yield "| explainers | test | " + " | ".join(f"n = {n}" for n in SIZES) + " |"
    yield "|---|---|" + "---|" * len(SIZES)
    weights = RowWeights(1, N_WEIGHTS)
    for rivals in (*ALIKE, *DIFFERENT):
        lines: dict[str, list[str]] = {}
        for n in SIZES:
            for name, said in _rejections(rivals, n, repeats, weights).items():
                lines.setdefault(name, []).append(said)
        for name, cells in lines.items():
            yield f"| {rivals.name} | {name} | " + " | ".join(cells) + " |"


def _rejections(rivals: Rivals, n: int, repeats: int, weights: Weights) -> dict[str, str]:
    rng = generator(0, "tests", rivals.name, n)
    own: list[Interval] = []
    permuted, ranked = [], []
    for _ in range(repeats):
        first, second, trivial = rivals.draw(n, rng)
        found = paired_permutation(
            [(first, second), (trivial, trivial)],
            skill,
            rng=rng,
            weights=weights,
            n_permutations=N_PERMUTATIONS,
        )
        permuted.append((found.p_value, found.difference))
        own.append(found.interval)
        apart = second - first
        p_value = float(stats.wilcoxon(apart).pvalue) if apart.any() else float("nan")
        ranked.append((p_value, float(stats.rankdata(np.abs(apart)) @ np.sign(apart))))
    return {
        "permutation": _said(permuted, rivals),
        "Wilcoxon": _said(ranked, rivals),
        "interval of the difference": _cell(own, rivals.apart),
    }


def _said(found: Sequence[tuple[float, float]], rivals: Rivals) -> str:
    """How often a difference is found; where there is one, how often the worse is called better."""
    called = np.array([(p_value <= ALPHA, difference > 0) for p_value, difference in found])
    if not rivals.apart:
        return f"{called[:, 0].mean():.3f}"
    right, wrong = called[:, 0] & ~called[:, 1], called[:, 0] & called[:, 1]
    return f"{right.mean():.3f}, wrong {wrong.mean():.3f}"


def families(pages: int) -> Iterator[str]:
    """Lines of the table of family-wise rates: pages of alike explainers, all their comparisons."""
    rng = generator(0, "pages")
    apart, together, ranked = [], [], []
    pairs = [(i, j) for i in range(EXPLAINERS) for j in range(i + 1, EXPLAINERS)]
    for _ in range(pages):
        found = np.empty((FAMILIES, len(pairs)))
        wilcoxon = np.empty_like(found)
        for family in range(FAMILIES):
            trivial = rng.gamma(2.0, 1.0, PAGE_ROWS)
            own = trivial * rng.beta(1, 4, (EXPLAINERS, PAGE_ROWS))
            for k, (i, j) in enumerate(pairs):
                columns = [(own[i], own[j]), (trivial, trivial)]
                tested = paired_permutation(
                    columns, skill, rng=rng, n_permutations=PAGE_PERMUTATIONS, with_interval=False
                )
                found[family, k] = tested.p_value
                wilcoxon[family, k] = stats.wilcoxon(own[i] - own[j]).pvalue
        apart.append(min(holm(row).min() for row in found) <= ALPHA)
        together.append(holm(found.ravel()).min() <= ALPHA)
        ranked.append(min(holm(row).min() for row in wilcoxon) <= ALPHA)
    yield "| correction | pages with a false difference |"
    yield "|---|---|"
    yield f"| Wilcoxon, Holm a family | {np.mean(ranked):.3f} |"
    yield f"| permutation, Holm a family | {np.mean(apart):.3f} |"
    yield f"| permutation, Holm over the page | {np.mean(together):.3f} |"


def perfection() -> Iterator[str]:
    """Lines of the table of what n perfect rows show."""
    sizes = (5, 10, 15, 20, 30, 50, 100, 200)
    weights = RowWeights(2)
    rows: dict[str, list[str]] = {"share of rows, lower end": [], "skill, lower end": [], "rows missed": []}
    for n in sizes:
        share = mean_interval(np.ones(n), 0, 1, rng=weights)
        perfect = skill_interval(np.zeros(n), np.ones(n), rng=weights)
        rows["share of rows, lower end"].append("none" if share is None else f"{share[0]:.2f}")
        rows["skill, lower end"].append("none" if perfect is None else f"{perfect[0]:.2f}")
        rows["rows missed"].append(f"{unseen_share(n):.1%}")
    yield "| of n perfect rows | " + " | ".join(f"n = {n}" for n in sizes) + " |"
    yield "|---|" + "---|" * len(sizes)
    for name, cells in rows.items():
        yield f"| {name} | " + " | ".join(cells) + " |"


def main() -> None:
    """Print the tables, and write the page where asked to."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repeats", type=int, default=600, help="simulated checks a cell")
    parser.add_argument("--write", action="store_true", help="put the tables into the page")
    options = parser.parse_args()
    began, said = time.perf_counter(), []
    parts = (
        ("What perfect rows show", perfection()),
        ("Coverage", coverage(options.repeats)),
        ("Other intervals, other sizes of the unseen row", choices(options.repeats)),
        ("Two explainers", pair_tests(options.repeats)),
        ("A page of comparisons", families(options.repeats // 3)),
    )
    for title, lines in parts:
        print(f"## {title}\n", flush=True)
        said += [f"## {title}", ""]
        for line in lines:
            print(line, flush=True)
            said.append(line)
        print()
        said.append("")
    text = "\n".join(said)
    print(f"{options.repeats} repeats a cell, {time.perf_counter() - began:.0f} s")
    if options.write:
        kept = PAGE.read_text(encoding="utf-8").split(MARK)[0]
        PAGE.write_text(f"{kept}{MARK}\n\n{text}", encoding="utf-8")


if __name__ == "__main__":
    main()
