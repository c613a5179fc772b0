"""How often each single fault makes an output wrong.

In a row, a fault is wrong where it changes its gate's value and that change reaches an output. Whether
it does is the same for all faults of a gate, and is found by following a flip of the gate until all that
it changed has run together in one later gate, for which it is known already. So a chain or a tree takes
one step a gate, and other circuits as many as paths part and meet again.
"""

import heapq
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from xassay.circuits.netlist import Circuit, Gate
from xassay.circuits.simulation import Words, blocks, evaluate, node_values, pack, unpack_rows
from xassay.seeds import generator

MOST_WORK = 10**11
"""Bytes of node values that are computed at most: minutes."""

_OVERHEAD = 4096
"""What a step costs besides its bytes, in bytes."""


class TooMuch(Exception):  # noqa: N818 - no error: another way is tried
    """The work would not end in minutes."""


def all_rows(n_inputs: int, n_nodes: int) -> Iterator[tuple[Words, int]]:
    """The truth table's inputs, packed, in blocks, each with its number of rows."""
    for block in blocks(2**n_inputs, 2 * n_nodes):
        yield pack(unpack_rows(np.arange(block.start, block.stop), n_inputs)), block.stop - block.start


def random_rows(n_inputs: int, n_nodes: int, n_rows: int, seed: int) -> Iterator[tuple[Words, int]]:
    """Random rows of inputs, packed, in blocks, each with its number of rows."""
    draw = generator(seed, "fault shares")
    for block in blocks(n_rows, 2 * n_nodes):
        size = block.stop - block.start
        yield draw.integers(0, 256, size=(n_inputs, -(-size // 8)), dtype=np.uint8), size


def wrong_rows(
    circuit: Circuit, altered: Mapping[str, Sequence[Gate]], parts: Iterator[tuple[Words, int]]
) -> tuple[dict[str, list[int]], int]:
    """For each gate's alterations the number of rows with a wrong output.

    Args:
        circuit: the circuit.
        altered: for each gate's output, what stands in its place.
        parts: rows of inputs, packed, each with its number.

    Returns:
        Numbers of rows by gate, and how many rows there were.

    Raises:
        TooMuch: it takes more than `MOST_WORK`.
    """
    network = _Network(circuit)
    wrong = {name: [0] * len(gates) for name, gates in altered.items()}
    total = 0
    for packed, n_rows in parts:
        total += n_rows
        values = node_values(circuit, packed)
        full = np.packbits(np.arange(packed.shape[1] * 8) < n_rows)  # without the padding of the last byte
        for gate, reaches in network.reaches(values, full):
            for k, other in enumerate(altered.get(gate.output, ())):
                changed = evaluate(other, values, packed.shape[1]) ^ values[gate.output]
                wrong[gate.output][k] += int(np.bitwise_count(changed & reaches).sum(dtype=np.int64))
    return wrong, total


class _Network:
    """A circuit with the gates that read each node."""

    def __init__(self, circuit: Circuit) -> None:
        self._gates, self._outputs = circuit.gates, frozenset(circuit.outputs)
        self._readers: dict[str, list[int]] = {}
        for place, gate in enumerate(circuit.gates):
            for node in dict.fromkeys(gate.inputs):
                self._readers.setdefault(node, []).append(place)
        self._work = 0

    def reaches(self, values: Mapping[str, Words], full: Words) -> Iterator[tuple[Gate, Words]]:
        """Each gate, the last first, with the rows in which a flip of it reaches an output."""
        known: dict[str, Words] = {}
        nowhere = np.zeros_like(full)
        for gate in reversed(self._gates):
            if gate.output in self._outputs:
                found = full
            elif gate.output not in self._readers:
                found = nowhere
            else:
                found = self._followed(gate.output, values, known, full)
            known[gate.output] = found
            yield gate, found

    def _followed(
        self, node: str, values: Mapping[str, Words], known: Mapping[str, Words], full: Words
    ) -> Words:
        flips = {node: full}
        pending = list(self._readers[node])  # in order, and so a heap
        queued = set(pending)
        wrong = np.zeros_like(full)
        while pending:
            gate = self._gates[heapq.heappop(pending)]
            self._pay(len(full))
            seen = {one: values[one] ^ flips[one] if one in flips else values[one] for one in gate.inputs}
            flipped = evaluate(gate, seen, len(full)) ^ values[gate.output]
            if not pending:  # all that changed runs together here
                return wrong | (flipped & known[gate.output])
            if not flipped.any():
                continue
            flips[gate.output] = flipped
            if gate.output in self._outputs:
                wrong |= flipped
            for place in self._readers.get(gate.output, ()):
                if place not in queued:
                    queued.add(place)
                    heapq.heappush(pending, place)
        return wrong

    def _pay(self, n_bytes: int) -> None:
        self._work += n_bytes + _OVERHEAD
        if self._work > MOST_WORK:
            raise TooMuch
