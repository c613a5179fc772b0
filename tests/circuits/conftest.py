import functools
from collections.abc import Callable, Mapping, Sequence

import pytest

from xassay.circuits import Circuit

Evaluate = Callable[[Circuit, Sequence[int]], list[int]]

_RULES: Mapping[str, Callable[[list[int]], int]] = {
    "and": min,
    "nand": lambda pins: 1 - min(pins),
    "or": max,
    "nor": lambda pins: 1 - max(pins),
    "xor": lambda pins: sum(pins) % 2,
    "xnor": lambda pins: 1 - sum(pins) % 2,
    "not": lambda pins: 1 - pins[0],
    "buf": lambda pins: pins[0],
    "const0": lambda _: 0,
    "const1": lambda _: 1,
}


@pytest.fixture(scope="session")
def evaluate() -> Evaluate:
    """A circuit's outputs for one row, in plain integers, from the outputs backwards."""

    def outputs(circuit: Circuit, row: Sequence[int]) -> list[int]:
        inputs = {name: int(bit) for name, bit in zip(circuit.inputs, row, strict=True)}
        gates = {gate.output: gate for gate in circuit.gates}

        @functools.cache
        def value(node: str) -> int:
            if node in inputs:
                return inputs[node]
            return _RULES[gates[node].kind]([value(pin) for pin in gates[node].inputs])

        return [value(output) for output in circuit.outputs]

    return outputs
