"""The view of a MAPLE run: accuracy, explanations of itself and of black boxes, global patterns."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs
import polars as pl

from xassay.studies.kit.views import Builder, Extra, dots, view_of
from xassay.studies.maple import words
from xassay.studies.maple.pairs import Pairs, every_test
from xassay.studies.maple.study import PATTERNS
from xassay.views import Block, Column, Line, Plot, Score, Section, Table, View, short_names

_KEYS = ["dataset", "model", "explainer", "sigma", "metric"]
_DIGITS = 3
_MAX_BESIDE = 3
"""More pairs than these are tested in a table of their own, not beside the scores."""


def build(plan: dict[str, Any], scores: pl.DataFrame, tests: pl.DataFrame, extra: Extra) -> View:
    """The view of a plan, its results, tests and, where that experiment ran, patterns."""
    averages = _averages(scores)
    sections = [
        _accuracy(averages.filter(pl.col("metric").is_in(["rmse", "features_kept"])), tests),
        *_explanations(averages, tests),
        _patterns(averages.filter(pl.col("metric") == "pattern_match"), extra.get("patterns")),
    ]
    is_single = averages["trials"].max() == 1
    return view_of(
        plan,
        title="MAPLE: how far do local linear explanations hold?",
        intro=(words.INTRO, *((words.ONE_TRIAL,) if is_single else (words.STATISTICS, words.TESTS))),
        facts=_facts(plan["settings"], averages),
        failures=_failures(scores),
        sections=sections,
    )


BUILDER = Builder(build, {"patterns": tuple(PATTERNS)})


def _averages(scores: pl.DataFrame) -> pl.DataFrame:
    """The scores of whole data sets, each with how many trials it rests on and how those went."""
    counts = (
        scores.filter(pl.col("level") == "trial")
        .group_by(_KEYS)
        .agg(
            pl.len().alias("trials"),
            pl.col("value").is_null().sum().alias("failed"),
            pl.col("value").is_nan().sum().alias("undefined"),
        )
    )
    averages = scores.filter(pl.col("level") == "dataset")
    return (
        averages.join(counts, on=_KEYS, how="left", nulls_equal=True)
        .with_columns(pl.col("trials", "failed", "undefined").fill_null(0))
        .sort(_KEYS)
    )


def _facts(settings: dict[str, Any], averages: pl.DataFrame) -> dict[str, str | None]:
    sample = settings["sample"]
    parts = {
        "accuracy": averages.filter(pl.col("metric") == "rmse"),
        "explanations": averages.filter(pl.col("metric") == "causal_rmse"),
        "patterns": averages.filter(pl.col("metric") == "pattern_match"),
    }
    trials = [f"{max(part['trials'])} for {name}" for name, part in parts.items() if len(part)]
    return {
        "profile": f"{settings['profile']}: {words.profile(settings['profile'], settings['trials'])}",
        "target": str(settings["target"]) if settings["target"] else None,
        "trials": ", ".join(trials) or "none",
        "points explained a trial": "the whole test part" if sample is None else f"at most {sample:,}",
    }


def _failures(scores: pl.DataFrame) -> Iterable[str]:
    """One line a cause, with the trials it struck."""
    failed = scores.filter((pl.col("status") == "failed") | pl.col("reason").is_not_null())
    # the average of trials that all failed says nothing that they do not say
    alone = failed.filter(pl.col("level") == "trial")
    rest = failed.filter(pl.col("level") != "trial").join(alone, on=_KEYS, how="anti", nulls_equal=True)
    keys = ["dataset", "model", "explainer", "reason"]
    # the metrics and sigmas of a trial fail by the same rows
    by_trial = pl.concat([alone, rest]).group_by([*keys, "trial"]).agg(pl.col("n", "n_failed").max())
    causes = by_trial.group_by(keys).agg(pl.col("trial").sort(), pl.col("n", "n_failed").sum())
    for row in causes.sort(keys).iter_rows(named=True):
        what = ", ".join(filter(None, (row["dataset"], row["model"], row["explainer"])))
        trials = [trial for trial in row["trial"] if trial is not None]
        shown = ", ".join(map(str, trials[:5])) + (" ..." if len(trials) > 5 else "")  # noqa: PLR2004 - a line
        where = f"{'trial' if len(trials) == 1 else 'trials'} {shown}: " if trials else ""
        yield f"{what}, {where}{row['n_failed']:,} of {row['n']:,} rows: {row['reason'] or 'no reason given'}"


def _score(row: dict[str, Any], digits: int | None = _DIGITS) -> Score:
    found = Score.of(row, digits)
    of_trials = {"n": row["trials"], "n_failed": row["failed"], "n_undefined": row["undefined"]}
    return attrs.evolve(
        found,
        estimate=attrs.evolve(found.estimate, **of_trials) if row["trials"] else found.estimate,
        rows_lost=row["n_failed"] / row["n"] if row["n"] else 0.0,
    )


def _lines(table: pl.DataFrame, key: str, pairs: Pairs, digits: int | None = _DIGITS) -> tuple[Line, ...]:
    """A line a data set; ``key`` names the column that, with the metric, tells its scores apart."""
    lines: dict[str, Line] = {}
    for row in table.sort("dataset", maintain_order=True).iter_rows(named=True):
        name = row["dataset"]
        line = lines.setdefault(name, Line(name, {}, remarks=pairs.remarks(name)))
        line.scores[_key(row["metric"], row[key])] = _score(row, digits)
    return tuple(lines.values())


def _key(metric: str, name: str) -> str:
    return f"{metric} {name}"


def _caption(table: pl.DataFrame) -> str:
    sources = ", ".join(table["published_source"].drop_nulls().unique().sort().to_list())
    return f"{words.DOTS} {words.PUBLISHED.format(sources)}" if sources else words.DOTS


def _accuracy(table: pl.DataFrame, tests: pl.DataFrame) -> Section | None:
    if table.is_empty():
        return None
    models = table["model"].unique().sort().to_list()
    ensembles = sorted({name.partition("+")[2] for name in models if "+" in name}, reverse=True)
    blocks, drawn = [], []
    for ensemble in ensembles:
        roles = words.roles(ensemble)
        own = {name: role for name, role in roles.items() if name in models}
        models = [name for name in models if name not in own or name == words.LINEAR]
        rows = table.filter(pl.col("model").is_in(list(own)))
        named = words.ENSEMBLES.get(ensemble, ensemble)
        blocks.append(_accuracy_block(f"RMSE, {named}", rows, list(own), tests))
        drawn.append(_dots(rows.filter(pl.col("metric") == "rmse"), "model", own, pl.lit(named)))
    others = [name for name in models if name != words.LINEAR or not ensembles]
    if others:
        rows = table.filter(pl.col("model").is_in(others))
        title = "other models" if ensembles else "all models"
        blocks.append(_accuracy_block(f"RMSE, {title}", rows, others, tests))
        drawn.append(_dots(rows.filter(pl.col("metric") == "rmse"), "model", {}, pl.lit(title)))
    known = table.drop_nulls("published")["dataset"].unique().sort()
    nil = [words.NIL[name] for name in known if name in words.NIL]
    return Section(
        "How accurate is MAPLE?",
        (words.ACCURACY, *([f"Errors next to nil are no mistake: {'; '.join(nil)}."] if nil else [])),
        plot=Plot("dots", pl.concat(drawn), _caption(table), x_label=words.RMSE_AXIS),
        blocks=tuple(blocks),
        folded=every_test(tests.filter(pl.col("metric").is_in(["rmse", "features_kept"]))),
    )


def _accuracy_block(title: str, table: pl.DataFrame, models: Sequence[str], tests: pl.DataFrame) -> Block:
    among = pl.col("first").is_in(models) & pl.col("second").is_in(models)
    pairs = Pairs(tests.filter(pl.col("metric") == "rmse", among), {}, _MAX_BESIDE)
    kept = table.filter(pl.col("metric") == "features_kept")["model"].unique().sort().to_list()
    columns = [Column(_key("rmse", name), name) for name in models]
    columns += [
        Column(
            _key("features_kept", name),
            "features kept" if len(kept) == 1 else f"features kept, {name}",
            brief=True,
        )
        for name in kept
    ]
    lines = _lines(table, "model", pairs)
    return Block(title, "data set", tuple(columns), lines, "trials", remarks=pairs.headings)


def _dots(
    table: pl.DataFrame, series: str, names: Mapping[str, str], panel: pl.Expr | None = None
) -> pl.DataFrame:
    """The plotted rows: series in the order of ``names``, data sets down."""
    order = {name: k for k, name in enumerate(names)}
    ordered = table.sort("sigma", "dataset", pl.col(series).replace_strict(order, default=len(order)))
    panel = pl.format("sigma {}", pl.col("sigma")) if panel is None else panel
    return dots(ordered, panel, pl.col("dataset"), pl.col(series).replace(names))


def _explanations(averages: pl.DataFrame, tests: pl.DataFrame) -> Iterable[Section]:
    """MAPLE's own section, then one a black box."""
    table = averages.filter(pl.col("metric").is_in(["causal_rmse", "causal_skill"]))
    own = pl.col("model").str.starts_with("MAPLE+")
    text: tuple[str, ...] = (words.EXPLANATION, words.SKILL)
    if len(found := table.filter(own)):
        title = "MAPLE explained: by itself and by others"
        yield _explanation(title, text, found, tests.filter(own))
        text = (words.AS_ABOVE,)
    for model in table.filter(~own)["model"].unique().sort():
        chosen = pl.col("model") == model
        yield _explanation(f"Explaining {model}", text, table.filter(chosen), tests.filter(chosen))
        text = (words.AS_ABOVE,)


def _explanation(title: str, text: tuple[str, ...], table: pl.DataFrame, tests: pl.DataFrame) -> Section:
    # MAPLE first: it is whom the study is about
    explainers = sorted(table["explainer"].unique(), key=lambda name: (not name.startswith("maple"), name))
    names = short_names(explainers)
    tests = tests.filter(pl.col("metric").is_in(["causal_rmse", "causal_skill"]))
    blocks: list[Block] = []
    summaries: list[Table] = []
    for model, sigma in table.select("model", "sigma").unique().sort("model", "sigma").iter_rows():
        here = (pl.col("model") == model) & (pl.col("sigma") == sigma)
        pairs = Pairs(tests.filter(here, pl.col("metric") == "causal_rmse"), names, _MAX_BESIDE)
        heading = f"{model} explained, sigma {sigma:g}"
        columns = [
            column
            for name in explainers
            for column in (
                Column(_key("causal_rmse", name), "RMSE", group=names[name]),
                Column(_key("causal_skill", name), "skill", group=names[name], brief=True),
            )
        ]
        lines = _lines(table.filter(here), "explainer", pairs)
        blocks.append(Block(heading, "data set", tuple(columns), lines, "trials", remarks=pairs.headings))
        summaries += pairs.summary(f"{heading}: who is better on how many data sets")
    errors = table.filter(pl.col("metric") == "causal_rmse")
    several = errors["model"].n_unique() > 1
    panel = pl.format("{}, sigma {}", pl.col("model"), pl.col("sigma")) if several else None
    return Section(
        title,
        text,
        plot=Plot("dots", _dots(errors, "explainer", names, panel), _caption(errors), words.RMSE_AXIS),
        blocks=tuple(blocks),
        tables=tuple(summaries),
        folded=(*every_test(tests), _options(table, explainers)),
    )


def _options(table: pl.DataFrame, explainers: Sequence[str]) -> Table:
    found = table.select("explainer", "engine", "options").unique().sort("explainer", "engine", "options")
    rows = sorted(found.iter_rows(), key=lambda row: explainers.index(row[0]))
    texts = ([text or "" for text in row] for row in rows)
    return Table.of("The explainers and their options", ("explainer", "engine", "options"), texts)


def _patterns(table: pl.DataFrame, quantiles: pl.DataFrame | None) -> Section | None:
    if table.is_empty() and quantiles is None:
        return None
    table = table.with_columns(pl.col("explainer").fill_null("maple"))
    explainers = table["explainer"].unique().sort().to_list()
    columns = tuple(
        Column(_key("pattern_match", name), "share of trials", group="" if len(explainers) == 1 else name)
        for name in explainers
    )
    lines = tuple(
        attrs.evolve(line, name=words.SHAPES.get(line.name, line.name))
        for line in _lines(table, "explainer", Pairs(pl.DataFrame(), {}, 0), digits=None)
    )
    plot = None
    if quantiles is not None:
        drawn = quantiles.with_columns(pl.col("shape").replace(words.SHAPES).alias("panel")).rename(
            {"grid": "x"}
        )
        plot = Plot("bands", drawn, words.BANDS, words.BANDS_ACROSS, words.BANDS_UP)
    return Section(
        "Global patterns",
        (words.PATTERNS,),
        plot=plot,
        blocks=(Block("Pattern found", "shape", columns, lines, "trials"),) if lines else (),
    )
