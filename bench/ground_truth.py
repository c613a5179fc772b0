"""How much faster the closed form of the ground truth is than Algorithm 1 as printed.

Usage: python bench/ground_truth.py
"""

import time

import numpy as np

from xassay import circuits
from xassay.circuits import truth

ROWS_TRACED = 300
ROUNDS = 9


def main() -> None:
    """Print one table: time of both on the 74181 with gate z33 negated, and their ratio."""
    bad = circuits.negate(circuits.load("74181"), "z33")
    rows = circuits.input_rows(bad)
    pairs = len(rows) * len(bad.outputs)
    closed = []
    for _ in range(ROUNDS):
        truth._reached.cache_clear()  # noqa: SLF001 - each round begins with nothing known
        began = time.perf_counter()
        truths = {output: circuits.ground_truth(bad, rows, output) for output in bad.outputs}
        closed.append(time.perf_counter() - began)
    chosen = np.random.default_rng(0).choice(len(rows), ROWS_TRACED, replace=False)
    began = time.perf_counter()
    traced = {
        output: [circuits.trace_influence(bad, rows[k], output) for k in chosen] for output in bad.outputs
    }
    literal = (time.perf_counter() - began) / (ROWS_TRACED * len(bad.outputs)) * pairs
    for output, found in traced.items():
        for k, names in zip(chosen, found, strict=True):
            if names != {name for name, hit in zip(bad.inputs, truths[output][k], strict=True) if hit}:
                raise AssertionError(f"the two disagree on row {k}, output {output}")
    typical = float(np.median(closed))
    print(f"74181 with z33 negated: {len(rows):,} rows x {len(bad.outputs)} outputs")
    print(f"{'ground_truth, all pairs':44} {typical * 1e3:10.1f} ms (median of {ROUNDS})")
    print(f"{f'trace_influence, scaled from {ROWS_TRACED} rows':44} {literal * 1e3:10.0f} ms")
    print(f"{'ratio':44} {literal / typical:10.0f}")


if __name__ == "__main__":
    main()
