"""A run's saved results as plain data, for the terminal and the page alike. Computes no score."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import attrs
import polars as pl

from xassay import results
from xassay.metrics import describe

CORRECTNESS = ("mrr", "map", "mr_precision", "exact_match")
PROFILES = {
    "xassay": "every column is ranked, and ties count at their expectation, so no order of columns can help",
    "paper": "nearest to the published tables: ties in column order, zero values and the first column are "
    "never ranked (most likely a defect of the published ranking), Kernel SHAP selects features by AIC",
    "crem-code": "as the study's public code: its background (draws with replacement from the first rows), "
    "ties in reverse column order, zero values and the first column never ranked, LIME's continuous draws "
    "cut to integers, which turns nearly all of them into 0",
}
PLOTTED = ("mrr", "map", "mr_precision")
_TEST_NAMES = {"friedman": "Friedman chi-square", "iman_davenport": "Iman-Davenport F"}


@attrs.frozen
class Score:
    """One score with what stands beside it."""

    value: float | None
    low: float | None
    high: float | None
    published: float | None
    n: int
    n_failed: int
    n_undefined: int
    reason: str | None

    @property
    def difference(self) -> float | None:
        """Ours minus the published figure."""
        return None if self.value is None or self.published is None else self.value - self.published

    @property
    def text(self) -> str:
        """``0.862 [0.851, 0.870]``."""
        if self.value is None:
            return "failed"
        if self.value != self.value:
            return "undefined"
        bounds = "" if self.low is None or self.high is None else f" [{self.low:.3f}, {self.high:.3f}]"
        return f"{self.value:.3f}{bounds}"

    @property
    def beside(self) -> str:
        """``0.862 (+0.003)``: the published figure and ours minus it; empty where there is none."""
        if self.published is None:
            return ""
        difference = "" if self.difference is None else f" ({self.difference:+.3f})"
        return f"{self.published:.3f}{difference}"


@attrs.frozen
class Line:
    """An explainer's scores in a block, by column."""

    explainer: str
    engine: str
    options: str
    scores: dict[str, Score]

    @property
    def counts(self) -> str:
        """How many explanations the line rests on, and what went wrong with any."""
        first = max(self.scores.values(), key=lambda score: score.n)
        failed = max(score.n_failed for score in self.scores.values())
        undefined = max(score.n_undefined for score in self.scores.values())
        parts = [f"{first.n:,}"]
        parts += [f"{failed:,} failed"] if failed else []
        parts += [f"{undefined:,} undefined"] if undefined else []
        return ", ".join(parts)


@attrs.frozen
class Block:
    """A table of scores: explainers down, columns across."""

    title: str
    columns: tuple[tuple[str, str], ...]
    lines: tuple[Line, ...]


@attrs.frozen
class Best:
    """The background proportion at which an explainer scored best."""

    circuit: str
    explainer: str
    metric: str
    proportion: float
    value: float


@attrs.frozen
class Test:
    """A statistical test in words."""

    __test__ = False

    metric: str
    name: str
    statistic: str
    p_value: float
    blocks: str


@attrs.frozen(eq=False)
class View:
    """Everything a report shows."""

    title: str
    facts: tuple[tuple[str, str], ...]
    notices: tuple[str, ...]
    correctness: tuple[Block, ...]
    robustness: tuple[Block, ...]
    best: tuple[Best, ...]
    tests: tuple[Test, ...]
    failures: tuple[str, ...]
    points: pl.DataFrame
    curves: pl.DataFrame


def load(folder: Path) -> View:
    """The view of a run's folder.

    Raises:
        InputError: the folder holds no finished run.
    """
    plan = results.read_plan(folder / "plan.json")
    scores = results.read_parquet(folder / "results.parquet", results.RESULTS)
    return build(plan, scores, results.read_parquet(folder / "tests.parquet", results.TESTS))


def build(plan: dict[str, Any], scores: pl.DataFrame, tests: pl.DataFrame) -> View:
    """The view of a plan, its results and tests."""
    settings = plan["settings"]
    averages = scores.filter(pl.col("level") == "circuit")
    clean = averages.filter(pl.col("noise") == 0)
    failed = scores.filter(pl.col("level") == "version", pl.col("reason").is_not_null())
    return View(
        title="CREM: do explanations find the true causes of anomalies?",
        facts=_facts(plan, settings),
        notices=tuple(plan.get("notices", ())),
        correctness=tuple(_correctness(clean)),
        robustness=tuple(_robustness(averages)),
        best=tuple(_best(clean)) if settings["background"] else (),
        tests=tuple(_tests(tests)),
        failures=tuple(_failures(failed)),
        points=_points(clean),
        curves=_swept(clean.filter(pl.col("metric").is_in(PLOTTED), bool(settings["background"]))),
    )


def _facts(plan: dict[str, Any], settings: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    sample = settings["sample"]
    return (
        ("profile", f"{settings['profile']}: {PROFILES[settings['profile']]}"),
        *((("ties", f"{settings['ties']} in place of the profile's rule"),) if settings["ties"] else ()),
        ("rows a version", "all" if sample is None else f"at most {sample:,}"),
        ("truth", settings["truth"]),
        ("seed", str(settings["seed"])),
        (
            "versions",
            ", ".join(f"{name} {version}" for name, version in sorted(plan.get("versions", {}).items())),
        ),
    )


def _failures(failed: pl.DataFrame) -> Iterable[str]:
    keys = ["circuit", "explainer", "reason"]
    faults = failed.group_by(keys, maintain_order=True).agg(pl.col("fault").unique(maintain_order=True))
    for row in faults.iter_rows(named=True):
        yield f"{row['circuit']} {' '.join(row['fault'])}, {row['explainer']}: {row['reason']}"


def _score(row: dict[str, Any]) -> Score:
    return Score(
        row["value"],
        row["ci_low"],
        row["ci_high"],
        row["published"],
        row["n"],
        row["n_failed"],
        row["n_undefined"],
        row["reason"],
    )


def _lines(rows: Iterable[dict[str, Any]], column: str) -> tuple[Line, ...]:
    lines: dict[str, Line] = {}
    for row in rows:
        line = lines.setdefault(row["explainer"], Line(row["explainer"], row["engine"], row["options"], {}))
        line.scores[f"{row[column]:g}" if column == "noise" else row[column]] = _score(row)
    return tuple(lines.values())


def _by_place(table: pl.DataFrame) -> Iterable[tuple[str, float, list[dict[str, Any]]]]:
    places = table.select("circuit", "background").unique().sort("circuit", "background")
    for circuit, background in places.iter_rows():
        chosen = table.filter(pl.col("circuit") == circuit, pl.col("background") == background)
        yield circuit, background, list(chosen.iter_rows(named=True))


def _correctness(clean: pl.DataFrame) -> Iterable[Block]:
    columns = tuple((metric, describe(metric).full_name) for metric in CORRECTNESS)
    for circuit, background, rows in _by_place(clean):
        yield Block(f"{circuit}, background {background:g}", columns, _lines(rows, "metric"))


def _robustness(averages: pl.DataFrame) -> Iterable[Block]:
    for metric in ("ela", "noise_share"):
        table = averages.filter(pl.col("metric") == metric)
        for circuit, background, rows in _by_place(table):
            kind = rows[0]["noise_kind"]
            levels = sorted({row["noise"] for row in rows})
            name = "{:g} noise columns" if kind == "attribute" else "rate {:g}"
            columns = tuple((f"{level:g}", name.format(level)) for level in levels)
            full = describe(metric).full_name
            yield Block(
                f"{full}, {circuit}, background {background:g}, {kind} noise", columns, _lines(rows, "noise")
            )


def _swept(table: pl.DataFrame) -> pl.DataFrame:
    """The rows of circuits that were run at several backgrounds."""
    return table.filter(pl.col("background").n_unique().over("circuit") > 1).sort(
        "circuit", "explainer", "metric", "background"
    )


def _best(clean: pl.DataFrame) -> Iterable[Best]:
    table = _swept(clean.filter(pl.col("metric").is_in(PLOTTED), pl.col("value").is_not_nan()))
    top = table.sort("value", descending=True, maintain_order=True).group_by(
        "circuit", "explainer", "metric", maintain_order=True
    )
    for row in top.first().sort("circuit", "explainer", "metric").iter_rows(named=True):
        name = describe(row["metric"]).full_name
        yield Best(row["circuit"], row["explainer"], name, row["background"], row["value"])


def _points(clean: pl.DataFrame) -> pl.DataFrame:
    """What the plot shows: each circuit at one background, the published one where there is one."""
    table = clean.filter(pl.col("metric").is_in(PLOTTED))
    chosen = (
        table.group_by("circuit", "background")
        .agg(pl.col("published").is_not_null().any().alias("has"))
        .sort(["circuit", "has", "background"], descending=[False, True, False])
        .group_by("circuit", maintain_order=True)
        .first()
    )
    return table.join(chosen, on=["circuit", "background"], how="semi").sort("circuit", "explainer", "metric")


def _tests(tests: pl.DataFrame) -> Iterable[Test]:
    for row in tests.iter_rows(named=True):
        metric = describe(row["metric"]).full_name
        if row["background"] is not None:
            metric += f", background {row['background']:g}"
        blocks = f"{row['n_blocks']} {row['blocks']}"
        if row["test"] == "nemenyi":
            name = f"Nemenyi: {row['first']} / {row['second']}"
            statistic = f"mean ranks apart {row['statistic']:+.2f}"
        elif row["test"] == "wilcoxon":
            name = f"Wilcoxon: {row['first']} / {row['second']}"
            statistic = f"W {row['statistic']:g}"
        else:
            name = _TEST_NAMES[row["test"]]
            df = f"{row['df1']:g}" if row["df2"] is None else f"{row['df1']:g}, {row['df2']:g}"
            statistic = f"{row['statistic']:.3f} (df {df})"
        yield Test(metric, name, statistic, row["p_value"], blocks)


def overall(tests: Sequence[Test]) -> list[Test]:
    """The tests over all explainers, without the pairs."""
    return [test for test in tests if not test.name.startswith("Nemenyi")]
