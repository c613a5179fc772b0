"""Native explainers against the packages, and how long a census takes.

For each explainer that has both engines: seconds an explanation by the package, which is
given a vectorised detector and explains a few rows, and by the native engine, which explains
the whole version; same settings, same background, one thread each. Then the census of the
study's Table 2, all 122,464 explanations of each explainer, at the full background.

Usage: python bench/census.py [jobs]
"""

import platform
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import ground_truth
import xassay
from xassay import circuits, explainers
from xassay.models import ReconstructionDetector

BACKGROUND = 1000
ROWS_OF_PACKAGE = 12
SETTINGS: dict[str, dict[str, Any]] = {
    "kernel_shap": {"nsamples": 500},
    "sampling_shap": {"nsamples": 500},
    "lime": {"n_samples": 5000},
}
CENSUS = ("kernel_shap", "sampling_shap", "lime", "exact_shapley", "exact_banzhaf")


def main() -> None:
    """Print the tables."""
    jobs = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    versions = f"Python {platform.python_version()}, numpy {np.__version__}"
    print(f"{platform.machine()}, {_processor()}, {versions}\n")
    ground_truth.main()
    print(f"\n74181 with z33 negated, all its explanations, background of {BACKGROUND:,} rows, one thread")
    heads = ("package, ms each", "native, ms each", "native, s in all", "ratio")
    print(f"{'explainer':16} " + " ".join(f"{head:>17}" for head in heads))
    with threadpool_limits(1):
        for name, options in SETTINGS.items():
            _compare(name, options)
    print(f"\ncensus: 122,464 explanations an explainer, full background, {jobs} jobs")
    for name in CENSUS:
        seconds = _census(name, jobs=jobs)
        print(f"{name:16} {seconds:8.1f} s")
    print(f"{'all of them':16} {_census(*CENSUS, jobs=jobs):8.1f} s")


def _compare(name: str, options: dict[str, Any]) -> None:
    original = circuits.load("74181")
    altered = circuits.negate(original, "z33")
    table = circuits.TruthTable(altered)
    rows = table.rows().astype(np.float64)
    wrong = circuits.differences(original, altered)
    ids = np.flatnonzero(wrong.any(axis=1))
    pairs = int(wrong.sum())
    rng = np.random.default_rng(0)
    background = rows[np.sort(rng.choice(len(rows), BACKGROUND, replace=False))]
    detector = ReconstructionDetector().fit(
        circuits.TruthTable(original).rows(), table.rows(), n_inputs=len(original.inputs)
    )
    outputs = np.arange(len(original.outputs))
    shared: dict[str, Any] = {"background": background, "seed": 0, **options}
    columns = np.arange(len(original.inputs))
    native: dict[str, Any] = {"table": detector.output_table(outputs), "columns": columns, **shared}
    explainers.make(name, engine="native", **native).explain(rows[:2])  # compiles
    began = time.perf_counter()
    explainers.make(name, engine="native", **native).explain(rows[ids], row_ids=ids)
    ours = time.perf_counter() - began
    chosen = rng.choice(ids, ROWS_OF_PACKAGE, replace=False)
    began = time.perf_counter()
    explained = 0
    for row in chosen:
        outs = np.flatnonzero(wrong[row])
        made = explainers.make(name, engine="package", predict=detector.output_function(outs), **shared)
        made.explain(rows[[row]], row_ids=[int(row)])
        explained += len(outs)
    theirs = (time.perf_counter() - began) / explained
    own = ours / pairs
    print(f"{name:16} {theirs * 1e3:17.1f} {own * 1e3:17.4f} {ours:17.2f} {theirs / own:17,.0f}")


def _census(*names: str, jobs: int) -> float:
    began = time.perf_counter()
    done = xassay.run_crem(explainers=names, sample=None, repeats=1, jobs=jobs)
    if done.failed or done.scores.filter(level="circuit", metric="mrr")["n"].sum() != 122_464 * len(names):
        raise AssertionError("the census is not whole")
    return time.perf_counter() - began


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()


if __name__ == "__main__":
    main()
