"""How often the circuit and the MAPLE study's intervals hold, and how often their tests err.

Prints one page in Markdown: coverage of a circuit's two intervals, false-positive rates of ELA's test
and of a page of comparisons, size and power of the tests between methods over resampled splits,
and how far the features that MAPLE keeps hang on the order of the columns.

Usage: python bench/coverage_studies.py [--write]     (--write: docs/science/studies.md)
It needs the table communities (`xassay data fetch`, or XASSAY_DATA).
"""

import itertools
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from scipy import stats

import xassay
from xassay import circuits, results, tabular
from xassay.errors import InputError
from xassay.models.local_ridge import LocalRidge
from xassay.statistics import RowWeights, compare, corrected_resampled_t, holm_families, welch_holm
from xassay.studies.crem import CremSettings, CremStudy, scoring
from xassay.studies.crem.cell import CremCell
from xassay.studies.maple import experiments
from xassay.types import BoolArray, FloatArray

PAGE = Path(__file__).parents[1] / "docs" / "science" / "studies.md"
CIRCUITS = ("c17", "74182", "74283")
METRICS = ("mrr", "map", "mr_precision", "ela")
KERNEL, NOISE, BACKGROUND = "kernel_shap:nsamples=100", (0, 2), 0.4
SAMPLES = {"c17": (10, 18), "74182": (20, 50), "74283": (20, 50)}
"""Rows a version; c17 has versions of no more than 20."""
SEEDS, REPEATS = 6, 20
DRAWN, CHOICES = 4, 400
Versions = list[dict[str, scoring.Mean]]
"""Of each negated gate, the scores."""
ALPHA = 0.05
LEVELS = (2.0, 4.0, 6.0)

INTRO = """# Intervals and tests of the studies, measured

Made by `python bench/coverage_studies.py --write`. Every figure on this page is printed by that command.
An interval of 95% should hold what it speaks of 95 times in a hundred; a test at .05 should find a
difference that does not exist 5 times in a hundred.
"""
CIRCUIT_TEXT = f"""## A circuit's two intervals

A circuit's score is the mean over some altered versions. It has two intervals, as two questions
can be asked of it:

* **over alterations** (level `circuit`): where is the mean over all alterations of this circuit?
  The versions are taken as drawn at random: Student's t over the versions' means, never narrower
  than the other interval. Equal means get the interval of a bounded mean; a single version has
  none. No correction is made for drawing from few gates: on c17, of whose six gates four are
  drawn, it is wider than need be.
* **for these versions alone** (level `circuit, these versions`): how far could the mean over just
  these versions have come out otherwise? It combines the versions' own intervals: each end lies as far from
  the mean as the versions' ends from theirs, added as independent errors are (MOVER). An exact score of
  every row has none.

A version's own interval speaks of what was left to chance. Where rows were sampled it is the interval of a
bounded mean over inputs (Gaffke's), never a point; an exact score is open on the inputs that were not drawn
alone (a finite population). Where rows share the explainer's draws, each end is the wider of that
interval's and of Student's t over the draws. Where every row is explained it has Student's t over seeds.

Below, every gate of a circuit was negated in turn; where rows were sampled, under {SEEDS} seeds of the run.

* "A version": how often does a version's interval hold its score over every row (of Kernel SHAP, the mean
  over every row and {REPEATS} other seeds)? That is what it claims.
* "Its own": {DRAWN} gates are drawn at random, each from a run of its own, {CHOICES} times. How often does
  the interval for these versions alone hold the mean of their scores over every row, as it claims?
* "These versions": how often does it hold the mean over all negated gates? It must not be read so.
* "Over alterations": how often does the other interval hold the mean over all negated gates? Beside it
  stands its median width.

ELA is that of {NOISE[1]} noise columns. c17 has versions of just 20 anomalous inputs.
The first two columns rest on gates x {SEEDS} intervals: 36 on c17, where the standard error of .95 is .036,
114 on 74182 (.020) and 216 on 74283 (.015).
"""
ELA_TEXT = """## The test of ELA

Blocks of Friedman's test must be independent. ELA at several noise levels divides by one
noise-free accuracy and explains the same inputs, so circuit x noise level, as in the study's
Table 3, counts the same luck several times. In `tests.parquet` a version is a block, with its mean
over the noise levels. How often p < .05 where the explainers do not differ (four explainers; a
simulated run has four circuits of four versions and three noise levels; its standard deviations are
those of one version's MR-Precision):
"""
REAL_TEXT = """`run crem` means real scores of four explainers on the twelve versions of c17, 74182
and 74283 with 0, 1 and 2 noise columns; the explainers' names are exchanged at random within each
version, so that no difference is left. Blocks of circuit x noise level are then six, versions twelve.
"""
HOLM_TEXT = """## One correction over a page

A family of tests is one metric at one background; Nemenyi's test corrects for the pairs in it. A
page with seven families has seven chances of a false difference. `p_holm` is corrected over the page:
pairs step down over families, each counted until all its pairs are rejected
(`xassay.statistics.holm_families`); tests of any difference (Friedman, Iman-Davenport) by Holm over
all of them. Share of pages with at least one false difference, of seven independent families of
four explainers and 16 versions:
"""
SPLIT_TEXT = """## Two methods over splits of one table

Least squares on two different sets of columns, 200 rows split at random as the MAPLE study does
(half for training, a quarter for testing), J splits. Size: both sets tell equally much of the
target, over all tables of this kind. Power: one set tells less. Welch's test compares the scores as
if they were of different splits; the paired t-test takes the differences on each split, but takes
splits as independent; the corrected resampled t-test (Nadeau and Bengio, 2003) adds
n_test / n_train to the 1 / J of the variance. Methods that are apart share nothing; close ones
share two of three columns, and the target has rare large errors that strike both; of closer ones
the own column tells still less.
"""
SPLIT_SAID = """Where methods are apart, Welch's test finds differences that do not exist far more often than
it says, as splits share rows; with more splits this grows. The closer they are, the more does what they
share hide from it. A power beside a size above .05 is no merit.
"""
KEPT_TEXT = """## Features that MAPLE keeps

MAPLE orders features by what they explain at the roots of its trees, and keeps the first so many,
as validation rows decide. Most columns of `communities` stand at no root and have the score
zero: their order is that of the columns. The same fitted forest (profile `paper`: row counter kept),
with the features of score zero in the table's order and reversed:
"""


def table(heads: Sequence[str], rows: Iterator[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)]) + "\n"


def share(hits: Sequence[bool] | BoolArray) -> str:
    """A share to two or three decimals."""
    return f"{np.mean(hits):.3f}".removeprefix("0")


# ---- circuits


def version_scores(circuit: str, explainer: str, seed: int, **settings: object) -> Versions:
    """The scores of the circuit with each of its gates negated, one after the other."""
    gates = [gate.output for gate in circuits.load(circuit).gates]
    asked = {"circuits": [circuit], "faults": gates, "explainers": [explainer], "seed": seed, **settings}
    asked_for = CremSettings(noise=NOISE, background=BACKGROUND, **asked)  # type: ignore[arg-type]
    cells = [cell for cell in CremStudy(asked_for).cells if isinstance(cell, CremCell)]
    frames, weights = {cell.key: cell.run() for cell in cells}, RowWeights(seed)
    clean, noisy = (
        {
            fault: scoring.version_means(group, frames, {}, weights, asked_for)
            for fault, group in groups.items()
        }
        for _, groups in sorted(scoring.grouped(cells).items())
    )
    return [
        {**found, "ela": scoring.ela(noisy[fault]["mr_precision"], found["mr_precision"], weights)}
        for fault, found in clean.items()
    ]


def circuit_rows() -> Iterator[Sequence[str]]:
    """Coverage of the intervals of a version and of a circuit."""
    for circuit in CIRCUITS:
        exact = version_scores(circuit, "exact_shapley", 0, sample=None)
        # other seeds than those whose intervals are tried
        drawn = version_scores(circuit, KERNEL, 1000, sample=None, repeats=REPEATS)
        yield from _rows_of(circuit, "exact, every row", [exact], exact, own=False)
        yield from _rows_of(circuit, f"Kernel SHAP, 100 samples, {REPEATS} seeds", [drawn], drawn, own=False)
        for n in SAMPLES[circuit]:
            runs = _sampled(circuit, "exact_shapley", n)
            yield from _rows_of(circuit, f"exact, {n} rows a version", runs, exact)
            runs = _sampled(circuit, KERNEL, n)
            yield from _rows_of(circuit, f"Kernel SHAP, {n} rows a version", runs, drawn)


def _sampled(circuit: str, explainer: str, n: int) -> list[Versions]:
    return [
        version_scores(circuit, explainer, seed, sample=n, engine="native") for seed in range(1, SEEDS + 1)
    ]


def _rows_of(
    circuit: str, name: str, runs: list[Versions], truth: Versions, *, own: bool = True
) -> Iterator[Sequence[str]]:
    for metric in METRICS:
        yield circuit, str(len(truth)), name, metric, *_covered(runs, truth, metric, own=own)


def _covered(runs: list[Versions], truth: Versions, metric: str, *, own: bool) -> Iterator[str]:
    rng = np.random.default_rng(0)
    true = np.array([found[metric].value for found in truth])
    each = [
        _holds(mean.bounds, value)
        for run in runs
        for mean, value in zip([found[metric] for found in run], true, strict=True)
        if mean.bounds is not None
    ]
    yield (share(each) if each else "no interval") if own else ""
    over, within, holds_own, widths = [], [], [], []
    for _ in range(CHOICES):
        # versions draw apart: each may come from another run
        chosen, of = rng.choice(len(true), DRAWN, replace=False), rng.integers(len(runs), size=DRAWN)
        means = [runs[run][gate][metric] for run, gate in zip(of, chosen, strict=True)]
        wide, narrow = scoring.circuit_bounds(metric, means)
        over.append(_holds(wide, float(true.mean())))
        widths.append(wide[1] - wide[0] if wide else np.nan)
        if narrow is not None:
            within.append(_holds(narrow, float(true.mean())))
            holds_own.append(_holds(narrow, float(true[chosen].mean())))
    yield (share(holds_own) if holds_own else "no interval") if own else ""
    yield share(within) if within else "no interval"
    yield share(over)
    yield f"{np.nanmedian(widths):.2f}"


def _holds(bounds: tuple[float, float] | None, value: float) -> bool:
    return bounds is not None and bounds[0] - 1e-9 <= value <= bounds[1] + 1e-9


# ---- ELA


def ela_rows() -> Iterator[Sequence[str]]:
    """False-positive rates of the test of ELA with blocks as before and now."""
    rng = np.random.default_rng(0)
    for persistent, own in ((0.02, 0.04), (0.04, 0.04), (0.06, 0.02)):
        runs = [_simulated_ela(rng, persistent, own) for _ in range(2000)]
        yield f"simulated, sd {persistent:g} shared by the levels, {own:g} of each", *_rates(runs)
    yield "`run crem`, names exchanged", *_rates(list(_exchanged_ela(rng, 2000)))


def _simulated_ela(rng: np.random.Generator, persistent: float, own: float) -> FloatArray:
    """ELA of explainers that do not differ: circuits x versions x noise levels x explainers."""
    shape = (4, 4, 1, 4)
    level = 0.7 + 0.1 * rng.standard_normal((4, 1, 1, 1)) + 0.05 * rng.standard_normal((4, 4, 1, 1))
    clean = np.clip(level + persistent * rng.standard_normal(shape), 0.05, 1)
    loss = 0.02 * np.arange(1, 4)[:, None] + own * rng.standard_normal((4, 4, 3, 4))
    return np.asarray((1 - np.clip(clean - loss, 0, 1)) / clean)


def _exchanged_ela(rng: np.random.Generator, n: int) -> Iterator[FloatArray]:
    names = ("exact_shapley", "exact_banzhaf", "sampling_shap", "kernel_shap:nsamples=100")
    run = xassay.run_crem(circuits=CIRCUITS, explainers=names, noise=(0, 1, 2), sample=None, repeats=1)
    found = run.scores.filter(level="version", metric="ela").sort("circuit", "fault", "noise", "explainer")
    real = found["value"].to_numpy().reshape(len(CIRCUITS), 4, 2, len(names))
    for _ in range(n):
        orders = np.argsort(rng.random((len(CIRCUITS), 4, 1, len(names))), axis=-1)
        yield np.take_along_axis(real, orders, axis=-1)


def _rates(runs: Sequence[FloatArray]) -> Iterator[str]:
    """Friedman's and Iman-Davenport's rates with circuit x noise level as blocks, and with versions."""
    for blocks in (
        [run.mean(axis=1).reshape(-1, run.shape[-1]) for run in runs],
        [run.mean(axis=2).reshape(-1, run.shape[-1]) for run in runs],
    ):
        chi2 = np.array([stats.friedmanchisquare(*block.T).statistic for block in blocks])
        n, k = blocks[0].shape
        f_value = (n - 1) * chi2 / np.maximum(n * (k - 1) - chi2, 1e-9)
        yield share(stats.chi2.sf(chi2, k - 1) < ALPHA)
        yield share(stats.f.sf(f_value, k - 1, (k - 1) * (n - 1)) < ALPHA)


# ---- a page


def page_rows(pages: int = 300, families: int = 7) -> Iterator[Sequence[str]]:
    """Pages with a false difference, with each family corrected alone and over the page."""
    rng = np.random.default_rng(1)
    alone, together, raw_any, any_holm, either = ([] for _ in range(5))
    for _ in range(pages):
        found = [compare(rng.random((16, 4)), list("abcd")) for _ in range(families)]
        pairs = [np.array([t.p_value for t in tests if t.test == "nemenyi"]) for tests in found]
        overall = np.array([t.p_value for tests in found for t in tests if t.first is None])
        corrected = xassay.statistics.holm(overall)
        alone.append(bool((np.concatenate(pairs) < ALPHA).any()))
        together.append(bool((np.concatenate(holm_families(pairs)) < ALPHA).any()))
        raw_any.append(bool((overall < ALPHA).any()))
        any_holm.append(bool((corrected < ALPHA).any()))
        either.append(together[-1] or any_holm[-1])
    yield "some pair (Nemenyi)", share(alone), share(together)
    yield "any difference (Friedman, Iman-Davenport)", share(raw_any), share(any_holm)
    before = np.array(alone) | np.array(raw_any)
    yield "either", share(before), share(either)


# ---- splits


def split_rows() -> Iterator[Sequence[str]]:
    """Size and power of the three tests."""
    for likeness, splits in itertools.product(("apart", "close", "closer"), (5, 25)):
        rng = np.random.default_rng(splits)
        for what, own in (("size", (1.0, 1.0)), ("power", (1.0, 0.4))):
            p_values = np.array([_split_p_values(rng, splits, likeness, own) for _ in range(500)])
            yield likeness, str(splits), what, *map(share, (p_values < ALPHA).T)


def _split_p_values(
    rng: np.random.Generator, splits: int, likeness: str, own: tuple[float, float]
) -> Sequence[float]:
    """p-values of the three tests between two lines, each of its own column (and the shared ones)."""
    n, n_train, n_test = 200, 100, 50
    X = rng.standard_normal((n, 4))
    if likeness == "apart":
        y = X[:, :2] @ np.array(own) * 0.8 + rng.standard_normal(n)
        seen = ([0], [1])
    else:
        weight = 0.5 if likeness == "close" else 0.3
        error = rng.standard_t(2.5, n) / np.sqrt(5)
        y = X @ np.array([weight * own[0], weight * own[1], 1.0, 1.0]) + error
        seen = ([0, 2, 3], [1, 2, 3])
    scores = np.empty((2, splits))
    for split in range(splits):
        order = rng.permutation(n)
        train, test = order[:n_train], order[-n_test:]
        for method, columns in enumerate(seen):
            known = np.column_stack([np.ones(n), X[:, columns]])
            slopes = np.linalg.solve(known[train].T @ known[train], known[train].T @ y[train])
            scores[method, split] = np.sqrt(np.mean((y[test] - known[test] @ slopes) ** 2))
    welch = welch_holm({"": (scores[0], scores[1])})[""].p_value
    paired = float(stats.ttest_rel(scores[0], scores[1]).pvalue)
    return welch, paired, corrected_resampled_t(scores[0], scores[1], n_train, n_test).p_value


# ---- features kept


def kept_rows(trials: int = 5) -> Iterator[Sequence[str]]:
    """Features kept and test RMSE with the features of score zero in two orders."""
    data = tabular.load("communities", keep_row_counter=True)
    for trial in range(trials):
        part = experiments.prepare(data, 0, trial, None)
        parts, maple = part.split, experiments.fit_maple(part)
        p = maple.n_features_in_
        figures = []
        for columns in (np.arange(p), np.arange(p)[::-1]):
            order = columns[np.argsort(-maple.feature_scores_[columns], kind="stable")]
            maple.feature_order_ = order
            maple._local = LocalRidge(parts.X_train[:, order], parts.y_train, maple.alpha)  # noqa: SLF001 - reordered
            batches = maple._batches(parts.X_val)  # noqa: SLF001
            tried = np.vstack([maple._local.predictions(w, rows[:, order]) for rows, w in batches])  # noqa: SLF001
            losses = ((tried - parts.y_val[:, None]) ** 2).mean(axis=0)
            maple.n_features_kept_ = int(np.argmin(losses)) + 1
            rmse = np.sqrt(np.mean((maple.predict(parts.X_test) - parts.y_test) ** 2))
            figures += [str(maple.n_features_kept_), f"{rmse:.3f}"]
        zero = int((maple.feature_scores_ == 0).sum())
        yield str(trial), f"{zero} of {p}", *figures


def parts_of_page() -> Iterator[str]:
    """The page, part by part."""
    tests = ("Friedman", "Iman-Davenport")
    ela = [f"{blocks}: {test}" for blocks in ("circuit x noise level", "versions") for test in tests]
    yield INTRO
    yield CIRCUIT_TEXT
    yield table(
        (
            "circuit",
            "gates",
            "scores",
            "metric",
            "a version",
            "its own",
            "these versions",
            "over alterations",
            "its width",
        ),
        circuit_rows(),
    )
    yield ELA_TEXT
    yield table(("scores", *ela), ela_rows())
    yield REAL_TEXT
    yield HOLM_TEXT
    yield table(("a false claim of", "each family alone", "over the page"), page_rows())
    yield SPLIT_TEXT
    yield table(("methods", "J", "", "Welch", "paired t", "corrected resampled t"), split_rows())
    yield SPLIT_SAID
    yield KEPT_TEXT
    yield table(
        ("trial", "scores zero", "kept, table's order", "test RMSE", "kept, reversed", "test RMSE"),
        kept_rows(),
    )


def main() -> None:
    """Print the page, and write it where asked to."""
    if unknown := set(sys.argv[1:]) - {"--write"}:
        raise InputError(f"unknown argument {min(unknown)!r}; the only one is --write")
    if not tabular.is_here("communities"):
        raise InputError("the table communities is not here; run xassay data fetch, or set XASSAY_DATA")
    said = []
    for text in parts_of_page():
        print(text, flush=True)
        said.append(text)
    if "--write" in sys.argv[1:]:
        results.write_text("\n".join(said), PAGE)


if __name__ == "__main__":
    main()
