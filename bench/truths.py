"""The three truths of the circuit study side by side, and exact values scored under each.

For every explained (row, output) pair of the study's sixteen altered circuits: how often two truths name
exactly the same inputs, how many inputs each names, and the MR-Precision of chance, of exact values and of
Kernel SHAP under each. All figures are means over a circuit's altered versions.

Usage: python bench/truths.py [jobs]
"""

import itertools
import sys

import numpy as np

import xassay
from xassay import circuits
from xassay.circuits import EMBEDDED, STUDY_FAULTS, Circuit
from xassay.studies.crem.settings import TRUTHS
from xassay.types import BoolArray

EXPLAINERS = ("exact_shapley", "exact_banzhaf", "kernel_shap", "sampling_shap", "single_flip")


def main() -> None:
    """Print the tables."""
    jobs = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    pairs = list(itertools.combinations(TRUTHS, 2))
    print("share of pairs on which two truths name the same inputs; inputs named")
    print(
        f"{'circuit':8} " + " ".join(f"{' = '.join(pair):>18}" for pair in pairs),
        *(f"{t:>9}" for t in TRUTHS),
    )
    chance: dict[tuple[str, str], float] = {}
    for name in EMBEDDED:
        circuit = circuits.load(name)
        versions = [_truths(circuit, gate) for gate in STUDY_FAULTS[name]]
        same = [np.mean([_same(found[a], found[b]) for found in versions]) for a, b in pairs]
        sizes = {t: float(np.mean([found[t].sum(axis=1).mean() for found in versions])) for t in TRUTHS}
        # a random order of all columns holds each named input among its first R with chance R / columns
        n_columns = len(circuit.inputs) + len(circuit.outputs)
        chance |= {(name, t): size / n_columns for t, size in sizes.items()}
        print(f"{name:8} " + " ".join(f"{s:18.3f}" for s in same), *(f"{s:9.2f}" for s in sizes.values()))
    print(f"\n{'circuit':8} {'truth':9} {'explainer':14} {'MRR':>7} {'MAP':>7} {'MR-Precision':>13}")
    for truth in TRUTHS:
        done = xassay.run_crem(explainers=EXPLAINERS, truth=truth, sample=None, repeats=1, jobs=jobs)
        scores = done.scores.filter(level="circuit")
        for (name, explainer), rows in scores.group_by("circuit", "explainer", maintain_order=True):
            values = dict(rows.select("metric", "value").iter_rows())
            print(
                f"{name:8} {truth:9} {explainer:14} {values['mrr']:7.4f} {values['map']:7.4f} "
                f"{values['mr_precision']:13.4f}"
            )
        for name in EMBEDDED:
            print(f"{name:8} {truth:9} {'chance':14} {'':7} {'':7} {chance[name, truth]:13.4f}")


def _truths(circuit: Circuit, gate: str) -> dict[str, BoolArray]:
    """Each truth of every explained pair of the version with that gate negated: (pairs, inputs)."""
    altered, rows = circuits.negate(circuit, gate), circuits.input_rows(circuit)
    wrong = circuits.differences(circuit, altered)
    found: dict[str, list[BoolArray]] = {truth: [] for truth in TRUTHS}
    for position, output in enumerate(circuit.outputs):
        X = rows[wrong[:, position]]
        found["altered"].append(circuits.ground_truth(altered, X, output))
        found["model"].append(circuits.ground_truth(circuit, X, output))
        found["function"].append(circuits.function_truth(circuit, X, output))
    return {truth: np.concatenate(parts) for truth, parts in found.items()}


def _same(first: BoolArray, second: BoolArray) -> float:
    return float((first == second).all(axis=1).mean())


if __name__ == "__main__":
    main()
