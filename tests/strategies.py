"""Hypothesis strategies that several test modules share."""

from hypothesis import strategies as st

from xassay.circuits import Circuit, Gate
from xassay.circuits.netlist import CONSTANT, NEGATION, UNARY

BENCH_NAMES = st.text("abzAZ019_é[].:/$%-'", min_size=1, max_size=4)
SYS_NAMES = st.text("abzAZ019_é:/$-'", min_size=1, max_size=4)


@st.composite
def circuits(
    draw: st.DrawFn,
    *,
    stuck: bool = True,
    min_gates: int = 0,
    names: st.SearchStrategy[str] | None = None,
) -> Circuit:
    """Circuits with reconvergence, repeated pins, and outputs that are inputs or feed other gates."""
    n_inputs, n_gates = draw(st.integers(1, 5)), draw(st.integers(min_gates, 10))
    size = n_inputs + n_gates
    plain = [*(f"i{k}" for k in range(1, n_inputs + 1)), *(f"z{k}" for k in range(1, n_gates + 1))]
    nodes = plain if names is None else draw(st.lists(names, min_size=size, max_size=size, unique=True))
    kinds = [kind for kind in NEGATION if stuck or kind not in CONSTANT]
    gates = []
    for position in range(n_inputs, size):
        kind = draw(st.sampled_from(kinds))
        fan_in = 1 if kind in UNARY else 0 if kind in CONSTANT else draw(st.integers(1, 6))
        pins = st.lists(st.sampled_from(nodes[:position]), min_size=fan_in, max_size=fan_in)
        gates.append(Gate(nodes[position], kind, draw(pins)))
    outputs = draw(st.lists(st.sampled_from(nodes), min_size=1, max_size=4, unique=True))
    return Circuit("random", nodes[:n_inputs], outputs, draw(st.permutations(gates)))
