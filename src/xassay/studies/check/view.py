"""The view of a check: the verdict first, then what it rests on."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs
import polars as pl

from xassay.metrics import describe
from xassay.studies.check import thresholds
from xassay.studies.check.judgement import JUDGEMENTS
from xassay.studies.check.measures import Measure, measure, measures
from xassay.studies.check.outcome import COSTS, FINDINGS
from xassay.studies.check.verdict import VERDICT
from xassay.studies.kit.comparisons import better, or_dash, p_cells
from xassay.studies.kit.views import Builder, Extra, dots, titled, view_of
from xassay.views import Block, Cell, Column, Line, Plot, Score, Section, Table, View, short_names

_DIGITS = 3
_IN_UNITS = ("_rmse", "_area", "pgi", "pgu", "comprehensiveness", "sufficiency", "lipschitz", "best_scale")
"""Endings of metrics whose size says nothing by itself: shown to three significant digits."""

_INTRO = (
    "How far can explanations of this model be trusted? Each explainer was asked as a user would ask it, and "
    "its explanations were compared with the model itself. Intervals are 95%, over the explained rows."
)
_VERDICT = (
    f"Faithful: fidelity of at least {thresholds.FAITHFUL}, right (fidelity of at least "
    f"{thresholds.RIGHT}) on "
    f"at least {thresholds.MOST_ROWS:.0%} of the rows, pooled fidelity (all rows as one sum) of at least "
    f"{thresholds.FAITHFUL_POOLED}, and values that add up to the score's difference from the "
    f"background within "
    f"{thresholds.GAP:.0%}. Partly: right columns with wrong values, or values that are right for another "
    "background or another way of replacing columns. Unfaithful: neither. Not judged: fewer than "
    f"{thresholds.LEAST_ROWS} rows, or no score."
)


def build(plan: dict[str, Any], scores: pl.DataFrame, tests: pl.DataFrame, extra: Extra) -> View:
    """The view of a plan, its results and tests, and the judgements, verdict, sanity checks and costs."""
    own = scores.filter(pl.col("explainer").is_not_null())
    verdict = extra.get("verdict", pl.DataFrame(schema={"about": pl.String, "text": pl.String}))
    order = verdict["about"].to_list()
    named = own["explainer"].unique(maintain_order=True).to_list()
    names = short_names(
        sorted(named, key=lambda name: (name not in order, name in order and order.index(name)))
    )
    base = own.filter(pl.col("level") == "model")
    model = scores.filter(pl.col("explainer").is_null())
    sections = [
        *_verdict(verdict, extra.get("judgements"), base, names),
        _sanity(extra.get("sanity")),
        *(section for one in measures().values() for section in _measured(one, base, model, names)),
        _convergence(own, names),
        _costs(base, names, extra.get("costs")),
        _tests(tests, names),
    ]
    return view_of(
        plan,
        title="Is the explanation of this model right?",
        intro=(_INTRO,),
        facts=_facts(plan),
        failures=_failures(own, names),
        sections=sections,
    )


_EXTRA = {"judgements": JUDGEMENTS, "verdict": VERDICT, "sanity": FINDINGS, "costs": COSTS}
BUILDER = Builder(build, {name: tuple(columns) for name, columns in _EXTRA.items()})


def _facts(plan: dict[str, Any]) -> dict[str, str | None]:
    settings = plan["settings"]
    kinds: dict[str, int] = {}
    for column in plan["columns"]:
        kinds[column["kind"]] = kinds.get(column["kind"], 0) + 1
    explained = f"{settings['kind']}: {settings['score']}"
    explained += f", {plan['label']}" if plan["label"] else ""
    explained += f", {settings['link']} link" if settings["link"] != "identity" else ""
    return {
        **{name: str(settings[name]) for name in ("model", "data") if settings.get(name)},
        "explained": explained,
        "columns": ", ".join(f"{n} {kind}" for kind, n in kinds.items()),
        "rows explained": f"{plan['rows']:,}",
        "background": f"{plan['background']:,} rows",
    }


_NAMED = 3
"""Scores that a failure names, where it leaves more of them empty."""


def _failures(scores: pl.DataFrame, names: Mapping[str, str]) -> Iterable[str]:
    bad = scores.filter(pl.col("status") != "ok")
    for keys, rows in bad.group_by("explainer", "status", "reason", maintain_order=True):
        explainer, status, reason = str(keys[0]), str(keys[1]), keys[2]
        why = str(reason) if reason is not None and status == "failed" else f"{status}{_because(reason)}"
        what = [describe(metric).full_name for metric in rows["metric"].unique(maintain_order=True)]
        shown = what if len(what) <= _NAMED else [*what[:_NAMED], f"{len(what) - _NAMED} more"]
        yield f"{names[explainer]}: {why} (without a value: {', '.join(shown)})"
    some = scores.filter(pl.col("status") == "ok", pl.col("n_failed") > 0)
    for keys, rows in some.group_by("explainer", "reason", maintain_order=True):
        explainer, reason = str(keys[0]), _because(keys[1])
        most = max(rows["n_failed"].to_list())
        yield f"{names[explainer]}: up to {most} rows failed{reason}"


def _because(reason: Any) -> str:
    return "" if reason is None else f": {reason}"


def _lines(table: pl.DataFrame, names: Mapping[str, str]) -> tuple[Line, ...]:
    """A line an explainer, in the verdict's order."""
    lines = {name: Line(shown, {}) for name, shown in names.items()}
    for row in table.iter_rows(named=True):
        digits = _DIGITS if row["metric"].endswith(_IN_UNITS) else None
        lines[row["explainer"]].scores[_key(row["metric"], row["sigma"])] = Score.of(row, digits)
    return tuple(line for line in lines.values() if line.scores)


def _key(metric: str, sigma: float | None) -> str:
    return metric if sigma is None else f"{metric} {sigma:g}"


def _columns(table: pl.DataFrame, metrics: Iterable[str]) -> tuple[Column, ...]:
    columns = []
    for metric in metrics:
        found = table.filter(pl.col("metric") == metric)["sigma"].unique().sort()
        rows = ({"metric": metric, "sigma": sigma} for sigma in found)
        columns += [Column(_key(metric, row["sigma"]), titled(row)) for row in rows]
    return tuple(columns)


def _verdict(
    verdict: pl.DataFrame,
    judgements: pl.DataFrame | None,
    base: pl.DataFrame,
    names: Mapping[str, str],
) -> Iterator[Section]:
    rows = []
    for row in verdict.iter_rows(named=True):
        text = str(row["text"])
        # the longest first: a name may be the beginning of another
        for name in sorted((name for name, shown in names.items() if name != shown), key=len, reverse=True):
            text = text.replace(name, names[name])
        rows.append((Cell(text, strong=row["about"] == "all"),))
    yield Section("Verdict", (_VERDICT,), tables=(Table("", ("result",), tuple(rows)),))
    main = [metric for one in measures().values() for metric in one.main]
    smallest = base.group_by("metric").agg(pl.col("sigma").min().alias("first"))
    chosen = (
        base.filter(pl.col("metric").is_in(main), pl.col("planted").is_null())
        .join(smallest, on="metric", how="left", maintain_order="left")
        .filter(pl.col("sigma").eq_missing(pl.col("first")))
    )
    judged = (
        {} if judgements is None else dict(zip(judgements["explainer"], judgements["judgement"], strict=True))
    )
    lines = tuple(
        attrs.evolve(line, remarks=(Cell(judged.get(name, "-"), strong=judged.get(name) == "faithful"),))
        for name, shown in names.items()
        for line in _lines(chosen.filter(explainer=name), {name: shown})
    )
    block = Block("Each explainer", "explainer", _columns(chosen, main), lines, "rows", ("judgement",))
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
        "Checks of the model, before anything was explained",
        tables=(Table("", ("check", "passed", "found", "what it means"), rows),),
        terminal=False,
    )


def _measured(
    measure: Measure,
    base: pl.DataFrame,
    model: pl.DataFrame,
    names: Mapping[str, str],
) -> Iterator[Section]:
    """The section of a measure: what it asks, the model's own scores, and the explainers'."""
    if not measure.sectioned:
        return
    table = base.filter(pl.col("metric").is_in(measure.shown))
    facts = _of_model(measure, model)
    if table.is_empty() and facts is None:
        return
    blocks = []
    for planted in (None, *table["planted"].drop_nulls().unique().sort()):
        part = table.filter(pl.col("planted").eq_missing(pl.lit(planted, pl.String)))
        for title, metrics in (measure.parts or {"": measure.shown}).items():
            chosen = part.filter(pl.col("metric").is_in(metrics))
            if len(chosen):
                named = title if planted is None else str(planted).capitalize()
                blocks.append(
                    Block(named, "explainer", _columns(chosen, metrics), _lines(chosen, names), "rows")
                )
    drawn = table.filter(pl.col("metric").is_in(measure.main), pl.col("planted").is_null())
    yield Section(
        measure.question,
        (measure.how,),
        plot=_plot(drawn, names) if len(drawn) and measure.drawn else None,
        blocks=tuple(blocks),
        tables=() if facts is None else (facts,),
        terminal=False,
    )


def _plot(drawn: pl.DataFrame, names: Mapping[str, str]) -> Plot:
    return Plot("dots", _dots(drawn, names), x_label="score", limits=(0.0, 1.0))


def _of_model(measure: Measure, model: pl.DataFrame) -> Table | None:
    """Scores of the model alone, by a measure."""
    own = model.filter(pl.col("metric").is_in(measure.of_the_model))
    rows = [
        (_title(row), Score.of(row).text, f"{row['n'] - row['n_failed'] - row['n_undefined']:,}")
        for row in own.iter_rows(named=True)
    ]
    return Table.of("The model itself", ("score", "value", "rows"), rows) if rows else None


def _title(row: Mapping[str, Any]) -> str:
    """A score's name, with what it was measured at."""
    return titled(row) if row["planted"] is None else f"{titled(row)}, {row['planted']}"


def _dots(table: pl.DataFrame, names: Mapping[str, str]) -> pl.DataFrame:
    titles = {metric: describe(metric).full_name for metric in table["metric"].unique()}
    order = {name: k for k, name in enumerate(names)}
    place = pl.col("explainer").replace_strict(order, return_dtype=pl.Int64)
    ordered = table.sort("metric", "sigma", place, descending=[True, False, False])
    title = pl.col("metric").replace(titles)
    at_sigma = pl.format("{}, sigma {}", title, pl.col("sigma"))
    panel = pl.when(pl.col("sigma").is_null()).then(title).otherwise(at_sigma)
    return dots(ordered, panel, pl.col("explainer").replace(names), pl.lit("score"))


def _convergence(own: pl.DataFrame, names: Mapping[str, str]) -> Section | None:
    table = own.filter(pl.col("level") == "budget", pl.col("metric") == "fidelity")
    if table.is_empty():
        return None
    rows = []
    for name, shown in names.items():
        curve = table.filter(explainer=name).sort("samples")
        points = curve.iter_rows(named=True) if len(curve) > 1 else ()
        rows += [(shown, f"{row['samples']:,}", Score.of(row).text, f"{row['n']:,}") for row in points]
    if not rows:
        return None
    return Section(
        measure("convergence").question,
        (measure("convergence").how,),
        tables=(Table.of("", ("explainer", "samples", "fidelity", "rows"), rows),),
        terminal=False,
    )


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
        calls_shown = "-" if n is None or n != n else f"{n:,.0f}"  # noqa: PLR0124 - NaN
        rows.append((shown, f"{or_dash(1000 * seconds[name], 2)} ms", calls_shown))
    return Section(
        measure("cost").question,
        (measure("cost").how,),
        tables=(Table.of("", ("explainer", "time", "model calls"), rows),),
        terminal=False,
    )


def _tests(tests: pl.DataFrame, names: Mapping[str, str]) -> Section | None:
    if tests.is_empty():
        return None
    rows = []
    for row in tests.iter_rows(named=True):
        who = (row["first"], row["second"], better(row) or "-")
        first, second, best = (names.get(name, name) for name in who)
        texts = (titled(row), first, second, or_dash(row["statistic"]), best)
        _, p_value = p_cells(row)
        rows.append((*map(Cell, texts), p_value, Cell(f"{row['n_blocks']:,}")))
    table = Table(
        "Permutation test of each pair's difference of scores, on the same rows; p by Holm over all rows "
        "of this table",
        ("metric", "first", "second", "difference", "better", "p, Holm", "rows"),
        tuple(rows),
    )
    return Section("Is the difference real?", folded=(table,), terminal=False)
