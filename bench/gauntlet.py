"""Straw men against exact explanations, on models whose right explanation is known exactly.

Every straw man is judged beside the exact explanation that it was made from, on every problem, and on
some alone. Prints the matrix, or writes it.

Usage: python bench/gauntlet.py [--write] [--rows 40] [--seed 0] [problem ...]
"""

import argparse
import sys
import time
from pathlib import Path

import polars as pl
from threadpoolctl import threadpool_limits

from xassay.testing import STRAW_MEN, gauntlet, problem
from xassay.testing.gauntlet import NEAR
from xassay.testing.problems import names

PAGE = Path(__file__).parents[1] / "docs" / "science" / "gauntlet.md"
ALONE = ("steps", "and_6")
DECIDING = ("fidelity", "data", "planted")
"""The measures that judgements rest on; the others add sentences and take most of the time."""

SHORT = {"faithful": "F", "partly": "P", "unfaithful": "U", "not judged": "-"}
INTRO = f"""# No straw man wins

A measure of explanations is worth what it refuses. Here `xassay check` judges explanations that are wrong
on purpose, straw men, each beside the exact explanation that it was made from, on models whose
exact explanation is known: Shapley values against the background, by formula for sums and by
enumeration of all coalitions of the few columns that matter otherwise.

The laws:

* no straw man is recommended;
* none is called faithful, unless its values are within {NEAR:.0%} of the exact ones (root of the summed
  squares of the differences over that of the exact values: so much is forgiven to right explanations too);
* none that names no column, or the wrong ones, is called right in part;
* none has a lead measure above the exact explanation's, beyond the upper end of its interval;
* no exact explanation is called unfaithful, nor one that is exact given the data (conditional
  Shapley values); where the problem is clear it is called faithful, and recommended;
* `random` is never more than unfaithful, and its lead measure at chance.
"""


def main() -> None:
    """Print or write the page."""
    parser = argparse.ArgumentParser(description="Judge straw men beside exact explanations.")
    parser.add_argument("problems", nargs="*", help=f"default: all of {', '.join(names())}")
    parser.add_argument("--rows", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name}")
    asked = parser.parse_args()
    if asked.write and asked.problems:
        parser.error("--write writes the whole matrix: name no problem")
    chosen = list(asked.problems or names())
    found = []
    with threadpool_limits(1):
        for name in chosen:
            began = time.perf_counter()
            found.append(gauntlet([name], rows=asked.rows, seed=asked.seed, measures=DECIDING))
            broken = found[-1]["broken"].drop_nulls().len()
            print(f"{name:20} {time.perf_counter() - began:6.1f} s, laws broken: {broken}", file=sys.stderr)
        both = [name for name in ALONE if name in chosen]
        alone = _alone(both, asked.rows, asked.seed) if both else None
    page = text(pl.concat(found), alone, asked.rows, asked.seed)
    if asked.write:
        PAGE.parent.mkdir(parents=True, exist_ok=True)
        PAGE.write_text(page, "utf-8")
    else:
        print(page)


def _alone(names_: list[str], rows: int, seed: int) -> pl.DataFrame:
    return gauntlet(names_, rows=rows, seed=seed, alone=True, measures=DECIDING)


def text(found: pl.DataFrame, alone: pl.DataFrame | None, rows: int, seed: int) -> str:
    """The page, from what `xassay.testing.gauntlet` gives."""
    listed = found["problem"].unique(maintain_order=True).to_list()
    command = "python bench/gauntlet.py --write" + (f" --seed {seed}" if seed else "")
    parts = [INTRO, "## Counts\n", *_counts(found, "beside the exact explanation")]
    if alone is not None:
        parts += _counts(alone, f"alone ({', '.join(alone['problem'].unique(maintain_order=True))})")
    parts += ["", "## The matrix\n", _legend(rows), "", *_matrix(found, listed), "", "## The problems\n"]
    parts += [f"* **{name}**: {_about(name)}" for name in listed]
    parts += ["", "## The straw men\n"]
    parts += [
        f"* `{one.name}`: {one.wrong}{'' if one.names_columns else ' Names no column, or the wrong ones.'}"
        for one in STRAW_MEN.values()
    ]
    parts += ["", *_broken(found, alone), f"Made by `{command}{'' if rows == 40 else f' --rows {rows}'}`."]  # noqa: PLR2004 - the default
    return "\n".join(parts) + "\n"


def _about(name: str) -> str:
    one = problem(name)
    return one.text + (f" (need not be called faithful: {one.unclear})." if one.unclear else ".")


def _legend(rows: int) -> str:
    return (
        f"{rows} rows each. F faithful, P right in part, U unfaithful, - not judged, then the lead measure\n"
        f"(0 to 1). R: recommended. `=`: no straw man there, its values are the exact ones in nine rows of\n"
        f"ten. `~`: within {NEAR:.0%} of the exact values. **!**: a law is broken."
    )


def _counts(found: pl.DataFrame, how: str) -> list[str]:
    straw = found.filter(role="straw man")
    real = straw.filter(~pl.col("no_straw_man"))
    judged = real.group_by("judgement").len().sort("judgement").rows()
    said = ", ".join(f"{n} {judgement}" for judgement, n in judged)
    broken, none = found["broken"].drop_nulls().len(), len(straw) - len(real)
    wins = int(real["recommended"].sum())
    lines = [f"* {how}: {len(real)} pairs of problem and straw man ({said}), recommended {wins};"]
    lines += [f"  in {none} more the straw man is none; laws broken: {broken}."]
    exact = found.filter(role="exact")
    if len(exact):
        judged = exact.group_by("judgement").len().sort("judgement").rows()
        said = ", ".join(f"{n} {judgement}" for judgement, n in judged)
        lines.append(f"* the exact explanation: {said}; recommended {int(exact['recommended'].sum())}.")
    return lines


def _matrix(found: pl.DataFrame, listed: list[str]) -> list[str]:
    cells = {(row["problem"], row["explainer"]): _cell(row) for row in found.iter_rows(named=True)}
    explainers = ["exact", "conditional", *STRAW_MEN, "random"]
    lines = [f"| | {' | '.join(listed)} |", f"|---|{'---|' * len(listed)}"]
    for name in explainers:
        row = [cells.get((of, name), "") for of in listed]
        if any(row):
            lines.append(f"| {name} | {' | '.join(row)} |")
    return lines


def _cell(row: dict[str, object]) -> str:
    value = row["fidelity"]
    parts = [SHORT[str(row["judgement"])], "" if value is None else f"{value:.2f}"]
    apart = row["distance"]
    if row["no_straw_man"]:
        parts.append("=")
    elif isinstance(apart, float) and apart < NEAR:
        parts.append("~")
    parts += ["R"] if row["recommended"] else []
    parts += ["**!**"] if row["broken"] else []
    return " ".join(part for part in parts if part)


def _broken(found: pl.DataFrame, alone: pl.DataFrame | None) -> list[str]:
    frames = [(found, "")] + ([] if alone is None else [(alone, ", alone")])
    lines = [
        f"* {row['problem']}, {row['explainer']}{how}: {row['broken']}."
        for frame, how in frames
        for row in frame.filter(pl.col("broken").is_not_null()).iter_rows(named=True)
    ]
    return ["## Laws that are broken\n", *lines, ""] if lines else []


if __name__ == "__main__":
    main()
