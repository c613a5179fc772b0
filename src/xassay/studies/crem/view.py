"""The view of a CREM run."""

from collections.abc import Iterable
from typing import Any

import polars as pl

from xassay.metrics import describe
from xassay.models.learned_detectors import TABLE
from xassay.studies.crem.scoring import THESE_VERSIONS
from xassay.studies.crem.settings import TRUTHS
from xassay.studies.kit.comparisons import p_cells
from xassay.studies.kit.views import Builder, Extra, dots, view_of
from xassay.views import Block, Cell, Column, Line, Plot, Score, Section, Table, View, short_names

CORRECTNESS = ("mrr", "map", "mr_precision", "exact_match")
PLOTTED = ("mrr", "map", "mr_precision")
ROBUSTNESS = ("ela", "noise_share")
_IN_ORDER = (*CORRECTNESS, *ROBUSTNESS)

PROFILES = {
    "xassay": "every column is ranked, and ties count at their expectation, so no order of columns can help",
    "paper": "nearest to the published tables: ties in column order, zero values and the first column are "
    "never ranked (most likely a defect of the published ranking), R-Precision divided by the number of "
    "ranked columns where fewer than R are ranked, Kernel SHAP selects features by AIC",
    "crem-code": "as the study's public code: its background (draws with replacement from the first rows), "
    "ties in reverse column order, zero values and the first column never ranked, R-Precision divided by "
    "the number of ranked columns where fewer than R are ranked, 500 samples for both SHAPs on c17 too, "
    "LIME's continuous draws cut to integers, which turns nearly all of them into 0",
}
_TEST_NAMES = {"friedman": "Friedman chi-square", "iman_davenport": "Iman-Davenport F"}
_LIMITS = (0, 1.02)
_BEST = ("circuit", "explainer", "metric", "best background", "score there")
_INTRO = (
    "Each anomaly comes from one altered gate of a digital circuit, so we know which inputs caused it, by "
    "the rule given below as truth. Explainers rank all columns by importance; the scores say how well the "
    "causes are ranked. 1 is perfect; random, where it is shown, is chance."
)
_EXPLAINED = (
    "The explained function is an output of the original circuit, which is what the detector expects. The "
    "truth altered is read from the altered circuit, so a score below 1 under it may be a difference between "
    "the two circuits and not an error of the explainer."
)
_PUBLISHED = (
    "Where ours and the published figures differ, the profile is the first thing to look at: profiles "
    "rank the same explanations by different rules. LIME differs most, most likely because the published "
    "runs let their detector cut its continuous draws to integers."
)
_CAPTION = "Dots are our scores with their intervals over alterations, hollow diamonds the published figures."
_INTERVALS = (
    "Every circuit's mean has two 95% intervals. Brackets beside scores hold the interval over alterations: "
    "it takes the altered versions as drawn at random from all alterations of the circuit, and says where "
    "the mean over all of them lies (Student's t over the versions' means; none for a single version). "
    "The interval for these versions alone, in a table that opens below, takes them as all there are, and "
    "says how far this very mean could have come out otherwise: by other explained rows, or "
    "where every row was explained, by other seeds of the explainer; an exact score has none. A claim about "
    "the circuit rests on the first."
)
_NOISE = (
    "ELA is the loss of MR-Precision under noise over the MR-Precision without it: lower is better. The "
    "noise share is the part of the top ranks that noise columns take."
)
_DETECTION = (
    "The detector learned from the original circuit's table, and was tried on it and on the anomalous rows "
    "of each altered one. Called anomalous are rows that score above 95 in 100 normal ones. An explanation "
    "of a score that tells nothing cannot find causes: read the scores below beside these."
)
_TESTS = (
    "Friedman's test (and Iman and Davenport's form of it) asks whether all explainers score alike; "
    "Nemenyi's, corrected for the number of pairs, which pairs differ; two explainers get Wilcoxon's "
    "signed-rank test. Blocks are the altered versions; a version's ELA is its mean over the noise levels, "
    "which share their noise-free scores. Baselines (random, single_flip) do not take part. A positive "
    "difference of mean ranks favours the first."
)
_CORRECTED = (
    "Among many comparisons some differ by chance. p, Holm makes up for all that stand on this page at once: "
    "pairs for the number of metrics and backgrounds compared, and the tests of any difference for their "
    "own number. Only a corrected p below 0.05 is bold; p alone holds for one metric and background looked "
    "at by itself."
)


def build(
    plan: dict[str, Any],
    scores: pl.DataFrame,
    tests: pl.DataFrame,
    extra: Extra,  # noqa: ARG001 - every builder gets it
) -> View:
    """The view of a plan, its results and tests."""
    settings = plan["settings"]
    quality = scores.filter(pl.col("level") == "circuit", pl.col("explainer").is_null())
    scores = scores.filter(pl.col("explainer").is_not_null())
    averages = scores.filter(pl.col("level") == "circuit")
    within = scores.filter(pl.col("level") == THESE_VERSIONS)
    clean = averages.filter(pl.col("noise") == 0)
    failed = scores.filter(pl.col("level") == "version", pl.col("reason").is_not_null())
    has_published = bool(_points(clean)["published"].is_not_null().any())
    sections = [
        _detection(quality),
        _correctness(clean, within.filter(pl.col("noise") == 0)),
        _backgrounds(clean.filter(pl.col("metric").is_in(PLOTTED), bool(settings["background"]))),
        _robustness(averages, within),
        _compared(tests),
    ]
    return view_of(
        plan,
        title="CREM: do explanations find the true causes of anomalies?",
        intro=_intro(settings, has_published=has_published),
        facts=_facts(settings),
        failures=_failures(failed),
        sections=sections,
    )


BUILDER = Builder(build, {})


def _intro(settings: dict[str, Any], *, has_published: bool) -> Iterable[str]:
    yield _INTRO
    if settings.get("detector", TABLE) == TABLE:
        yield _EXPLAINED
    if has_published:
        yield _PUBLISHED


def _facts(settings: dict[str, Any]) -> dict[str, str | None]:
    sample, detector = settings["sample"], settings.get("detector", TABLE)
    return {
        "profile": f"{settings['profile']}: {PROFILES[settings['profile']]}",
        "ties": f"{settings['ties']} in place of the profile's rule" if settings["ties"] else None,
        "rows a version": "all" if sample is None else f"at most {sample:,}",
        "truth": f"{settings['truth']}: {TRUTHS[settings['truth']]}",
        "detector": None if detector == TABLE else detector,
    }


def _failures(failed: pl.DataFrame) -> Iterable[str]:
    keys = ["circuit", "explainer", "reason"]
    faults = failed.group_by(keys, maintain_order=True).agg(pl.col("fault").unique(maintain_order=True))
    for row in faults.iter_rows(named=True):
        yield f"{row['circuit']} {' '.join(row['fault'])}, {row['explainer']}: {row['reason']}"


def _lines(rows: Iterable[dict[str, Any]], column: str) -> tuple[Line, ...]:
    lines: dict[str, Line] = {}
    for row in rows:
        detail = ", ".join(filter(None, (row["engine"], row["options"])))
        line = lines.setdefault(row["explainer"], Line(row["explainer"], {}, detail))
        line.scores[f"{row[column]:g}" if column == "noise" else row[column]] = Score.of(row)
    return tuple(lines.values())


def _by_place(table: pl.DataFrame) -> Iterable[tuple[str, float, list[dict[str, Any]]]]:
    places = table.select("circuit", "background").unique().sort("circuit", "background")
    for circuit, background in places.iter_rows():
        chosen = table.filter(pl.col("circuit") == circuit, pl.col("background") == background)
        yield circuit, background, list(chosen.iter_rows(named=True))


def _detection(quality: pl.DataFrame) -> Section | None:
    """How well a detector that learned tells the anomalies at all."""
    if quality.is_empty():
        return None
    columns = tuple(
        Column(metric, describe(metric).full_name)
        for metric in ("auc", "precision", "recall", "located")
        if (quality["metric"] == metric).any()
    )
    lines: dict[str, Line] = {}
    for row in quality.sort("circuit", "noise").iter_rows(named=True):
        name = f"{row['circuit']}, {row['noise']:g} noise columns" if row["noise"] else row["circuit"]
        lines.setdefault(name, Line(name, {})).scores[row["metric"]] = Score.of(row)
    block = Block("Detection", "circuit", columns, tuple(lines.values()), "versions")
    return Section("How well does the detector tell anomalies?", (_DETECTION,), blocks=(block,))


def _within(title: str, rows: pl.DataFrame) -> tuple[Table, ...]:
    """The means with their intervals for these versions alone; nothing for runs that have none saved."""
    if rows.is_empty():
        return ()
    has_noise = bool((rows["noise"] > 0).any())
    keys = ["circuit", "background", *(["noise"] if has_noise else []), "explainer"]
    metrics = [metric for metric in _IN_ORDER if (rows["metric"] == metric).any()]
    texts = []
    for place, part in rows.sort(keys).group_by(keys, maintain_order=True):
        found = {row["metric"]: Score.of(row).text for row in part.iter_rows(named=True)}
        names = (name if isinstance(name, str) else f"{name:g}" for name in place)
        texts.append((*names, *(found.get(metric, "") for metric in metrics)))
    heads = (*keys, *(describe(metric).full_name for metric in metrics))
    return (Table.of(f"{title}, with intervals for these versions alone", heads, texts),)


def _correctness(clean: pl.DataFrame, within: pl.DataFrame) -> Section:
    columns = tuple(
        Column(metric, describe(metric).full_name, terminal=metric in PLOTTED) for metric in CORRECTNESS
    )
    points = _points(clean)
    drawn = dots(_named(points), pl.col("name"), pl.col("label"), pl.col("circuit"))
    return Section(
        "How well true causes are ranked",
        (_INTERVALS,),
        plot=Plot("dots", drawn, caption=_CAPTION, limits=_LIMITS),
        blocks=tuple(
            Block(f"{circuit}, background {background:g}", "explainer", columns, _lines(rows, "metric"))
            for circuit, background, rows in _by_place(clean)
        ),
        folded=_within("The same means", within),
    )


def _backgrounds(plotted: pl.DataFrame) -> Section | None:
    """The circuits that were run at several backgrounds."""
    swept = plotted.filter(pl.col("background").n_unique().over("circuit") > 1)
    if swept.is_empty():
        return None
    drawn = _named(swept).select(
        pl.col("circuit").alias("down"),
        pl.col("name").alias("across"),
        pl.col("background").alias("x"),
        pl.col("label").alias("series"),
        "value",
        pl.col("ci_low").alias("low"),
        pl.col("ci_high").alias("high"),
    )
    return Section(
        "How the background matters",
        plot=Plot("curves", drawn, x_label="background proportion", limits=_LIMITS),
        tables=(Table.of("", _BEST, _best(swept)),),
    )


def _robustness(averages: pl.DataFrame, within: pl.DataFrame) -> Section | None:
    blocks = []
    for metric in ROBUSTNESS:
        table = averages.filter(pl.col("metric") == metric)
        for circuit, background, rows in _by_place(table):
            kind = rows[0]["noise_kind"]
            levels = sorted({row["noise"] for row in rows})
            name = "{:g} noise columns" if kind == "attribute" else "rate {:g}"
            columns = tuple(Column(f"{level:g}", name.format(level)) for level in levels)
            title = f"{describe(metric).full_name}, {circuit}, background {background:g}, {kind} noise"
            blocks.append(Block(title, "explainer", columns, _lines(rows, "noise")))
    if not blocks:
        return None
    folded = _within("The same means", within.filter(pl.col("metric").is_in(ROBUSTNESS)))
    return Section("What noise does", (_NOISE,), blocks=tuple(blocks), folded=folded)


def _compared(tests: pl.DataFrame) -> Section | None:
    if tests.is_empty():
        return None
    columns = ("metric", "test", "statistic", "p", "p, Holm", "blocks")
    pairs = tests.filter(pl.col("test") == "nemenyi")
    overall = tests.filter(pl.col("test") != "nemenyi")
    return Section(
        "Are the differences real?",
        (_TESTS, _CORRECTED),
        tables=(Table("", columns, tuple(_tests(overall))),),
        folded=(Table("Every pair (Nemenyi)", columns, tuple(_tests(pairs))),) if len(pairs) else (),
    )


def _best(swept: pl.DataFrame) -> Iterable[tuple[str, ...]]:
    defined = swept.filter(pl.col("value").is_not_nan()).sort("circuit", "explainer", "metric", "background")
    top = defined.sort("value", descending=True, maintain_order=True).group_by(
        "circuit", "explainer", "metric", maintain_order=True
    )
    for row in top.first().sort("circuit", "explainer", "metric").iter_rows(named=True):
        name = describe(row["metric"]).full_name
        yield row["circuit"], row["explainer"], name, f"{row['background']:g}", f"{row['value']:.3f}"


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
    return table.join(chosen, on=["circuit", "background"], how="semi")


def _named(table: pl.DataFrame) -> pl.DataFrame:
    """The rows in the order they are drawn: explainers by falling mean score; with names for people."""
    means = table.filter(pl.col("value").is_not_nan()).group_by("explainer").agg(pl.col("value").mean())
    ranked = means.sort(["value", "explainer"], descending=[True, False])["explainer"].to_list()
    ranked += sorted(set(table["explainer"]) - set(ranked))
    return (
        table.with_columns(
            pl.col("explainer").replace_strict({name: k for k, name in enumerate(ranked)}).alias("rank"),
            pl.col("explainer").replace_strict(short_names(ranked)).alias("label"),
            pl.col("metric").replace_strict({name: k for k, name in enumerate(PLOTTED)}).alias("place"),
            pl.col("metric").replace_strict({m: describe(m).full_name for m in PLOTTED}).alias("name"),
        )
        .sort("rank", "place", "circuit", "background")
        .drop("rank", "place")
    )


def _tests(tests: pl.DataFrame) -> Iterable[tuple[Cell, ...]]:
    for row in tests.iter_rows(named=True):
        metric = describe(row["metric"]).full_name
        if row["background"] is not None:
            metric += f", background {row['background']:g}"
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
        blocks = Cell(f"{row['n_blocks']} {row['blocks']}")
        yield Cell(metric), Cell(name), Cell(statistic), *p_cells(row), blocks
