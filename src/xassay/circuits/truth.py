"""Which inputs truly caused an output: Algorithm 1 of the CREM study, and its closed form.

Reference:
    "Evaluating Anomaly Explanations Using Ground Truth", section 4.4, Algorithm 1.
"""

import functools
import itertools
from collections import Counter, deque
from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from xassay.circuits.netlist import Circuit, Gate
from xassay.circuits.simulation import Words, as_bits, blocks, node_values, pack, unpack
from xassay.types import BoolArray

_TOGETHER_BYTES = 2**27


def ground_truth(circuit: Circuit, X: npt.ArrayLike, output: str) -> BoolArray:
    r"""The inputs that influence an output, row by row.

    Walking back from the output, a gate passes influence on to the union of its smallest
    sets of nodes whose joint flip changes it. In closed form, for distinct nodes x_1..x_m:

    * and, nand: all nodes if all are 1, else the nodes at 0;
    * or, nor: all nodes if all are 0, else the nodes at 1;
    * xor, xnor: the nodes on an odd number of pins; not, buf: the one node;
    * a stuck gate has no inputs, and the walk stops there.

    Args:
        circuit: the circuit whose gates are walked; the study takes the altered one.
        X: 0/1 input values, shape (rows, inputs).
        output: name of the explained output.

    Returns:
        bool, shape (rows, inputs). A row may be empty where the walk ends at stuck gates.

    Raises:
        UnknownNameError: the circuit has no such output.
        InputError: X is not 0/1 of that shape.

    Example:
        >>> from xassay import circuits
        >>> bad = circuits.negate(circuits.load("c17"), "z4")
        >>> ground_truth(bad, [[0, 0, 0, 0, 0]], "o2").astype(int).tolist()
        [[0, 0, 0, 0, 1]]
    """
    circuit.output_position(output)
    rows = as_bits(X, len(circuit.inputs), what=f"inputs of {circuit.name}")
    n_nodes = len(circuit.inputs) + len(circuit.gates)
    found = np.empty(rows.shape, dtype=np.bool_)
    for block in blocks(len(rows), n_nodes):
        packed = pack(rows[block])
        together = n_nodes * len(circuit.outputs) * packed.shape[1] <= _TOGETHER_BYTES
        outputs = tuple(dict.fromkeys(circuit.outputs)) if together else (output,)
        reached = _reached(circuit, outputs, packed.tobytes())[outputs.index(output)]
        found[block] = unpack(reached, block.stop - block.start)
    return found


@functools.lru_cache(maxsize=2)
def _reached(circuit: Circuit, outputs: tuple[str, ...], packed: bytes) -> Words:
    """Where the walk from each output reaches each input: (outputs, inputs, words).

    All outputs of a table walk at once, and whoever asks for the next one finds it here.
    """
    values = node_values(circuit, np.frombuffer(packed, dtype=np.uint8).reshape(len(circuit.inputs), -1))
    shape = (len(outputs), len(packed) // len(circuit.inputs))
    reached: dict[str, Words] = {}
    for position, output in enumerate(outputs):
        reached[output] = np.zeros(shape, dtype=np.uint8)
        reached[output][position] = 255
    for name, base, nodes in _structure(circuit):
        mask = reached.get(name)
        if mask is None:
            continue
        # the rows in which the gate's operands all have the value that lets each of them through
        even = None if base is None else functools.reduce(base, [values[node] for node in nodes])
        for node in nodes:
            if even is None:
                through = mask
            elif base is np.bitwise_and:
                through = mask & (even | ~values[node])
            else:
                through = mask & (~even | values[node])
            if node in reached:
                reached[node] |= through
            else:
                reached[node] = through.copy() if even is None else through
    nothing = np.zeros(shape, dtype=np.uint8)
    return np.stack([reached.get(name, nothing) for name in circuit.inputs], axis=1)


@functools.lru_cache(maxsize=64)
def _structure(circuit: Circuit) -> tuple[tuple[str, np.ufunc | None, tuple[str, ...]], ...]:
    """Gates from the outputs back: name, how its operands combine, and the nodes that may influence it.

    And and or gates combine; of an exclusive or, nodes on an odd number of pins always influence.
    """
    found: list[tuple[str, np.ufunc | None, tuple[str, ...]]] = []
    for gate in reversed(circuit.gates):
        counts = Counter(gate.inputs)
        if gate.kind in ("and", "nand"):
            found.append((gate.output, np.bitwise_and, tuple(counts)))
        elif gate.kind in ("or", "nor"):
            found.append((gate.output, np.bitwise_or, tuple(counts)))
        else:
            odd = tuple(node for node, pins in counts.items() if pins % 2 == 1)
            found.append((gate.output, None, odd))
    return tuple(found)


def trace_influence(circuit: Circuit, row: npt.ArrayLike, output: str) -> set[str]:
    """Algorithm 1 as printed, for one row: the reference that `ground_truth` must equal.

    A visited set is kept, which cannot change the result (it is a set) but keeps circuits
    with much fan-out from being walked half a million times.

    Args:
        circuit: the circuit diagram D.
        row: 0/1 input values of the instance R, shape (inputs,).
        output: the explained output O.

    Returns:
        The names of the influencing inputs.

    Raises:
        UnknownNameError: the circuit has no such output.
        InputError: the row is not 0/1 or of another length.

    Example:
        >>> from xassay import circuits
        >>> bad = circuits.negate(circuits.load("c17"), "z4")
        >>> trace_influence(bad, [0, 0, 0, 0, 0], "o2")
        {'i5'}
    """
    circuit.output_position(output)
    bits = as_bits(np.asarray(row)[None], len(circuit.inputs), what=f"inputs of {circuit.name}")[0]
    values = dict(zip(circuit.inputs, map(bool, bits), strict=True))
    for gate in circuit.gates:
        values[gate.output] = _gate_value(gate, values)
    influencing: set[str] = set()
    inputs = frozenset(circuit.inputs)
    queue = deque([output])
    visited = {output}
    while queue:
        node = queue.popleft()
        if node in inputs:
            influencing.add(node)
            continue
        for found in _smallest_influencing_sets(circuit.gate(node), values):
            for member in found:
                if member not in visited:
                    visited.add(member)
                    queue.append(member)
    return influencing


def _smallest_influencing_sets(gate: Gate, values: dict[str, bool]) -> list[tuple[str, ...]]:
    nodes = list(dict.fromkeys(gate.inputs))
    for size in range(1, len(nodes) + 1):
        found = [
            subset
            for subset in itertools.combinations(nodes, size)
            if _gate_value(gate, values | {node: not values[node] for node in subset}) != values[gate.output]
        ]
        if found:
            return found
    return []


def _gate_value(gate: Gate, values: dict[str, bool]) -> bool:
    return _VALUE[gate.kind]([values[node] for node in gate.inputs])


_VALUE: Mapping[str, Callable[[list[bool]], bool]] = {
    "and": all,
    "nand": lambda operands: not all(operands),
    "or": any,
    "nor": lambda operands: not any(operands),
    "xor": lambda operands: sum(operands) % 2 == 1,
    "xnor": lambda operands: sum(operands) % 2 == 0,
    "buf": all,
    "not": lambda operands: not all(operands),
    "const0": lambda _: False,
    "const1": lambda _: True,
}
