"""The view of a check: the verdict first, then what it rests on."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import polars as pl

from xassay.metrics import describe
from xassay.report.view import (
    Block,
    Cell,
    Column,
    Line,
    Plot,
    Score,
    Section,
    Table,
    View,
    p_cell,
    short_names,
    significant,
    versions,
)

EXTRA = {
    "verdict": ("about", "text"),
    "sanity": ("check", "passed", "found", "meaning"),
    "costs": ("explainer", "seconds_a_row", "rows"),
}

_DIGITS = 3

_INTRO = (
    "How far can explanations of this model be trusted? Each explainer was asked as one would ask it, "
    "and what it said was held against the model itself. Intervals are 95% over the explained rows."
)
_VERDICT = (
    "Skill is 1 where an explanation accounts for all that the model does and 0 where it accounts for no "
    "more than silence; what it misses is one minus its skill. Faithful is what misses at most a fifth, "
    "right in outline what misses at most half. Slopes, where an explanation has them, say how the score "
    "changes with each column close to the row; SHAP values have none, and are not tried on that."
)
_MASKING = (
    "Masking: the features of a random set are replaced by those of background rows. The explanation says "
    "by how much the score should change, the sum of its attributions over the set; the model says by how "
    "much it does. RMSE is the difference, in units of the score; skill compares it with an explanation "
    "that says nothing. Exact Shapley values reach a skill of 1 only where no features interact."
)
_CAUSAL = (
    "Causal, for local linear models alone: the row is moved a little (sigma, in standard deviations of the "
    "columns; categories are drawn anew at the matching rate), and the line's prediction is held against "
    "the model's there."
)
_PLACEBO = (
    "Copies of real columns with their values shuffled are added, and the model never sees them: any weight "
    "on them is wrong. Placebo share is the share of the weight; noise share that of the top ranks, as many "
    "as columns matter at the row; ELA the accuracy of the ranking that is lost."
)
_PLANTED = (
    "Ordinary rows are made anomalous through known columns, a kind at a time: moved out of range; set to a "
    "value that is typical alone and wrong given the others; several columns together; a swapped pair. Ranks "
    "are by what pushes the score up; what makes a row look ordinary ranks last. A column that could be "
    "wrong in the place of a changed one counts as a cause too: of a broken pair both do. Columns related to "
    "planted ones may rightly appear. Only rows that the detector notices are explained: {}."
)
_STABILITY = (
    "The share of an explanation that stays: under another seed, for a neighbour a hair's breadth away "
    "(where the model itself hardly moves), and with another random half of the background."
)
_CONVERGENCE = (
    "A bad score may mean a bad explainer or too few samples. The same rows were explained with a quarter "
    "and four times the samples: where the skill still rises, more would help."
)
_SHOWN = ("masking_skill", "causal_skill", "placebo_share", "mrr", "seed_agreement")


def build(
    plan: dict[str, Any], scores: pl.DataFrame, tests: pl.DataFrame, extra: Mapping[str, pl.DataFrame]
) -> View:
    """The view of a plan, its results and tests, and the verdict, sanity checks and costs."""
    own = scores.filter(pl.col("explainer").is_not_null())
    verdict = extra.get("verdict", pl.DataFrame(schema={"about": pl.String, "text": pl.String}))
    order = verdict["about"].to_list()
    named = own["explainer"].unique(maintain_order=True).to_list()
    names = short_names(
        sorted(named, key=lambda name: (name not in order, name in order and order.index(name)))
    )
    base = own.filter(pl.col("level") == "model")
    sections = [
        *_verdict(verdict, base, names),
        _sanity(extra.get("sanity")),
        _fidelity(base, names),
        _simple("Do they see through columns that do nothing?", _PLACEBO, base, names, _PLACEBOS),
        _planted(scores, names),
        _simple("Does it stay the same?", _STABILITY, base, names, _AGREEMENTS),
        _convergence(own, names),
        _costs(base, names, extra.get("costs")),
        _tests(tests, names),
    ]
    return View(
        title="Is the explanation of this model right?",
        intro=(_INTRO,),
        facts=_facts(plan),
        notices=tuple(plan.get("notices", ())),
        failures=tuple(_failures(own, names)),
        sections=tuple(section for section in sections if section is not None),
    )


_PLACEBOS = ("placebo_share", "noise_share", "ela")
_AGREEMENTS = ("seed_agreement", "neighbour_agreement", "background_agreement")


def _facts(plan: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    settings = plan["settings"]
    kinds: dict[str, int] = {}
    for column in plan["columns"]:
        kinds[column["kind"]] = kinds.get(column["kind"], 0) + 1
    explained = f"{settings['kind']}: {settings['score']}"
    explained += f", {plan['label']}" if plan["label"] else ""
    explained += f", {settings['link']} link" if settings["link"] != "identity" else ""
    return (
        *((("model", str(settings["model"])),) if settings.get("model") else ()),
        *((("data", str(settings["data"])),) if settings.get("data") else ()),
        ("explained", explained),
        ("columns", ", ".join(f"{n} {kind}" for kind, n in kinds.items())),
        ("rows explained", f"{plan['rows']:,}"),
        ("background", f"{plan['background']:,} rows"),
        ("seed", str(settings["seed"])),
        versions(plan),
    )


def _failures(scores: pl.DataFrame, names: Mapping[str, str]) -> Iterable[str]:
    bad = scores.filter(pl.col("status") != "ok")
    for keys, rows in bad.group_by("explainer", "status", "reason", maintain_order=True):
        explainer, status, reason = map(str, keys)
        what = ", ".join(describe(metric).full_name for metric in rows["metric"].unique(maintain_order=True))
        yield f"{names[explainer]}: {what}: {status}: {reason}"
    some = scores.filter(pl.col("status") == "ok", pl.col("n_failed") > 0)
    for keys, rows in some.group_by("explainer", "reason", maintain_order=True):
        explainer, reason = map(str, keys)
        most = max(rows["n_failed"].to_list())
        yield f"{names[explainer]}: up to {most} rows failed: {reason}"


def _score(row: Mapping[str, Any], digits: int | None = None) -> Score:
    return Score(
        value=row["value"],
        low=row["ci_low"],
        high=row["ci_high"],
        n=row["n"],
        n_failed=row["n_failed"],
        n_undefined=row["n_undefined"],
        reason=row["reason"],
        digits=digits,
    )


def _lines(table: pl.DataFrame, names: Mapping[str, str]) -> tuple[Line, ...]:
    """A line an explainer, in the verdict's order."""
    lines = {name: Line(shown, {}) for name, shown in names.items()}
    for row in table.iter_rows(named=True):
        digits = _DIGITS if row["metric"].endswith("_rmse") else None
        lines[row["explainer"]].scores[_key(row["metric"], row["sigma"])] = _score(row, digits)
    return tuple(line for line in lines.values() if line.scores)


def _key(metric: str, sigma: float | None) -> str:
    return metric if sigma is None else f"{metric} {sigma:g}"


def _columns(table: pl.DataFrame, metrics: Iterable[str]) -> tuple[Column, ...]:
    columns = []
    for metric in metrics:
        found = table.filter(pl.col("metric") == metric)["sigma"].unique().sort()
        for sigma in found:
            title = describe(metric).full_name
            title = title if sigma is None else f"{title}, sigma {sigma:g}"
            columns.append(Column(_key(metric, sigma), title))
    return tuple(columns)


def _verdict(verdict: pl.DataFrame, base: pl.DataFrame, names: Mapping[str, str]) -> Iterator[Section]:
    rows = []
    for row in verdict.iter_rows(named=True):
        text = str(row["text"])
        if row["about"] in names:
            text = text.replace(row["about"], names[row["about"]], 1)
        rows.append((Cell(text, strong=row["about"] == "all"),))
    first = base.filter(pl.col("metric") == "causal_skill")["sigma"].min()
    chosen = base.filter(
        pl.col("metric").is_in(_SHOWN),
        pl.col("fault").is_null(),
        (pl.col("metric") != "causal_skill") | (pl.col("sigma") == (-1.0 if first is None else first)),
    )
    columns = _columns(chosen, _SHOWN)
    block = Block("Each explainer", "explainer", columns, _lines(chosen, names), "rows")
    yield Section("Verdict", (_VERDICT,), tables=(Table("", ("what it comes to",), tuple(rows)),))
    if block.lines:
        yield Section("In figures", blocks=(block,))


def _sanity(sanity: pl.DataFrame | None) -> Section | None:
    if sanity is None or sanity.is_empty():
        return None
    rows = tuple(
        (
            Cell(row["check"]),
            Cell("yes" if row["passed"] else "no", strong=not row["passed"]),
            Cell(row["found"]),
            Cell(row["meaning"]),
        )
        for row in sanity.iter_rows(named=True)
    )
    return Section(
        "Before anything was explained",
        tables=(Table("", ("looked at", "passed", "found", "what it means"), rows),),
        terminal=False,
    )


def _fidelity(base: pl.DataFrame, names: Mapping[str, str]) -> Section | None:
    metrics = ("masking_skill", "causal_skill", "masking_rmse", "causal_rmse")
    table = base.filter(pl.col("metric").is_in(metrics))
    if table.is_empty():
        return None
    masking = table.filter(pl.col("metric").str.starts_with("masking"))
    causal = table.filter(pl.col("metric").str.starts_with("causal"))
    blocks = [
        Block(
            "Masking",
            "explainer",
            _columns(masking, ("masking_skill", "masking_rmse")),
            _lines(masking, names),
            "rows",
        )
    ]
    if len(causal):
        blocks.append(
            Block(
                "Causal",
                "explainer",
                _columns(causal, ("causal_skill", "causal_rmse")),
                _lines(causal, names),
                "rows",
            )
        )
    return Section(
        "Are they faithful to the model?",
        (_MASKING, _CAUSAL) if len(causal) else (_MASKING,),
        plot=Plot(
            "dots", _dots(table.filter(pl.col("metric").str.ends_with("skill")), names), x_label="skill"
        ),
        blocks=tuple(blocks),
        terminal=False,
    )


def _dots(table: pl.DataFrame, names: Mapping[str, str]) -> pl.DataFrame:
    titles = {metric: describe(metric).full_name for metric in table["metric"].unique()}
    order = {name: k for k, name in enumerate(names)}
    return table.sort(
        "metric",
        "sigma",
        pl.col("explainer").replace_strict(order, return_dtype=pl.Int64),
        descending=[True, False, False],
    ).select(
        pl.when(pl.col("sigma").is_null())
        .then(pl.col("metric").replace(titles))
        .otherwise(pl.format("{}, sigma {}", pl.col("metric").replace(titles), pl.col("sigma")))
        .alias("panel"),
        pl.col("explainer").replace(names).alias("row"),
        pl.lit("score").alias("series"),
        "value",
        pl.col("ci_low").alias("low"),
        pl.col("ci_high").alias("high"),
        "published",
    )


def _simple(
    title: str, text: str, base: pl.DataFrame, names: Mapping[str, str], metrics: tuple[str, ...]
) -> Section | None:
    table = base.filter(pl.col("metric").is_in(metrics))
    if table.is_empty():
        return None
    block = Block("", "explainer", _columns(table, metrics), _lines(table, names), "rows")
    return Section(title, (text,), blocks=(block,), terminal=False)


def _planted(scores: pl.DataFrame, names: Mapping[str, str]) -> Section | None:
    ranks = ("mrr", "map", "mr_precision")
    table = scores.filter(pl.col("metric").is_in(ranks), pl.col("explainer").is_not_null())
    noticed = scores.filter(pl.col("metric") == "planted_noticed")
    if noticed.is_empty():
        return None
    shares = ", ".join(
        f"{row['value']:.0%} of {row['n']} {'in all' if row['fault'] is None else row['fault']}"
        for row in noticed.iter_rows(named=True)
    )
    blocks = []
    for fault in (None, *table["fault"].drop_nulls().unique().sort()):
        part = table.filter(pl.col("fault").eq_missing(pl.lit(fault, pl.String)))
        if len(part):
            title = "All planted rows" if fault is None else str(fault).capitalize()
            blocks.append(Block(title, "explainer", _columns(part, ranks), _lines(part, names), "rows"))
    return Section(
        "Do they find planted causes?", (_PLANTED.format(shares),), blocks=tuple(blocks), terminal=False
    )


def _convergence(own: pl.DataFrame, names: Mapping[str, str]) -> Section | None:
    table = own.filter(pl.col("level") == "budget", pl.col("metric") == "masking_skill")
    if table.is_empty():
        return None
    rows = []
    for name, shown in names.items():
        mine = list(table.filter(explainer=name).iter_rows(named=True))
        options = [_options(row["options"]) for row in mine]
        key = next(
            (key for key in sorted({k for one in options for k in one}) if _differs(options, key)), None
        )
        if key is None:
            continue
        for amount, row in sorted(
            ((float(one[key]), row) for one, row in zip(options, mine, strict=True)), key=lambda pair: pair[0]
        ):
            texts = (shown, f"{key} {amount:,.0f}", _score(row).text, f"{row['n']:,}")
            rows.append(tuple(map(Cell, texts)))
    return Section(
        "Are there enough samples?",
        (_CONVERGENCE,),
        tables=(Table("", ("explainer", "samples", "masking skill", "rows"), tuple(rows)),),
        terminal=False,
    )


def _options(text: str | None) -> dict[str, str]:
    return dict(part.split("=", 1) for part in (text or "").split(" ") if "=" in part)


def _differs(several: list[dict[str, str]], key: str) -> bool:
    return len({one.get(key) for one in several}) > 1


def _costs(base: pl.DataFrame, names: Mapping[str, str], costs: pl.DataFrame | None) -> Section | None:
    calls = base.filter(pl.col("metric") == "model_calls").drop_nulls("value")
    if costs is None or costs.is_empty():
        return None
    asked = dict(zip(calls["explainer"], calls["value"], strict=True))
    seconds = dict(zip(costs["explainer"], costs["seconds_a_row"], strict=True))
    rows = []
    for name, shown in names.items():
        if seconds.get(name) is None:
            continue
        n = asked.get(name)
        rows.append(
            (
                Cell(shown),
                Cell(f"{significant(1000 * seconds[name], 2)} ms"),
                Cell("-" if n is None or n != n else f"{n:,.0f}"),  # noqa: PLR0124 - NaN
            )
        )
    return Section(
        "What do they cost?",
        ("A row, once the explainer stands. Calls are rows that the model is asked for.",),
        tables=(Table("", ("explainer", "time", "model calls"), tuple(rows)),),
        terminal=False,
    )


def _tests(tests: pl.DataFrame, names: Mapping[str, str]) -> Section | None:
    if tests.is_empty():
        return None
    rows = []
    for row in tests.iter_rows(named=True):
        metric = describe(row["metric"])
        p_value = row["p_holm"]
        better = "-"
        if p_value is not None and p_value < 0.05:  # noqa: PLR2004 - the usual level
            first_larger = row["statistic"] > 0
            better = row["first"] if first_larger == metric.higher_is_better else row["second"]
        title = metric.full_name if row["sigma"] is None else f"{metric.full_name}, sigma {row['sigma']:g}"
        rows.append(
            (
                Cell(title),
                Cell(names.get(row["first"], row["first"])),
                Cell(names.get(row["second"], row["second"])),
                Cell(names.get(better, better)),
                p_cell(p_value),
                Cell(f"{row['n_blocks']:,}"),
            )
        )
    table = Table(
        "Wilcoxon's signed-rank test of each pair on the same rows; p by Holm over the pairs of a metric",
        ("metric", "first", "second", "better", "p, Holm", "rows"),
        tuple(rows),
    )
    return Section("Is the difference real?", folded=(table,), terminal=False)
