"""A combinational circuit: named inputs, named outputs, and gates between them."""

import functools
import graphlib
import heapq
import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType

import attrs

from xassay.errors import NetlistError, UnknownNameError
from xassay.texts import MOST_FILE_BYTES, shortened

NEGATION: Mapping[str, str] = MappingProxyType(
    {
        "and": "nand",
        "nand": "and",
        "or": "nor",
        "nor": "or",
        "xor": "xnor",
        "xnor": "xor",
        "not": "buf",
        "buf": "not",
        "const0": "const1",
        "const1": "const0",
    }
)
"""Every gate kind, and the kind that gives its negation."""

UNARY = frozenset({"not", "buf"})
CONSTANT = frozenset({"const0", "const1"})

_CYCLE_SHOWN = 5

_FILE_SAFE = re.compile(r"[\w+-][\w.+-]*")
_NAME = re.compile(r"[^\s(),=#]+")


def _names(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(names)


@attrs.frozen
class Gate:
    """One gate: the node it drives, its kind (a key of `NEGATION`), and the nodes it reads."""

    output: str
    kind: str
    inputs: tuple[str, ...] = attrs.field(converter=_names)

    @property
    def operator(self) -> str:
        """The kind with its fan-in, as DXC files and the CREM study write it.

        >>> Gate("z4", "nand", ("z2", "i5")).operator
        'nand2'
        """
        named = {"not": "inverter", "buf": "buffer", "const0": "stuck0", "const1": "stuck1"}
        return named.get(self.kind) or f"{self.kind}{len(self.inputs)}"


def _in_order(gates: Iterable[Gate]) -> tuple[Gate, ...]:
    return tuple(gates)


@attrs.frozen(cache_hash=True)
class Circuit:
    """A checked circuit; its gates are kept in topological order, otherwise as given.

    Attributes:
        name: what reports call it.
        inputs: names of the primary inputs; the first is the most significant bit of a row.
        outputs: names of the primary outputs; an output may be an input or feed other gates.
        gates: the gates, each after every gate that it reads.

    Raises:
        NetlistError: a cycle, a node with no driver or with two, an unknown kind, a wrong
            fan-in, a missing output, a name that no file format can hold.

    Example:
        >>> Circuit("half", ("a", "b"), ("s",), [Gate("s", "xor", ("a", "b"))]).gates[0].operator
        'xor2'
    """

    name: str
    inputs: tuple[str, ...] = attrs.field(converter=_names)
    outputs: tuple[str, ...] = attrs.field(converter=_names)
    gates: tuple[Gate, ...] = attrs.field(converter=_in_order)

    def __attrs_post_init__(self) -> None:
        _check_ports(self)
        inputs = frozenset(self.inputs)
        drivers = _drivers(self, inputs)
        for output in self.outputs:
            if output not in drivers and output not in inputs:
                raise NetlistError(
                    f"output {output!r} is driven by no gate and is no input", node=output, role="output"
                )
        object.__setattr__(self, "gates", _topological(drivers))

    @functools.cached_property
    def _gate_of(self) -> dict[str, Gate]:
        return {gate.output: gate for gate in self.gates}

    def gate(self, node: str) -> Gate:
        """The gate that drives ``node``.

        Raises:
            UnknownNameError: no gate drives it.
        """
        try:
            return self._gate_of[node]
        except KeyError:
            raise UnknownNameError(f"gate of circuit {self.name}", node, self._gate_of) from None

    def output_position(self, output: str) -> int:
        """Where ``output`` stands among the outputs.

        Raises:
            UnknownNameError: it is none of them.
        """
        if output not in self.outputs:
            raise UnknownNameError(f"output of circuit {self.name}", output, self.outputs)
        return self.outputs.index(output)

    def with_gate(self, gate: Gate) -> "Circuit":
        """The same circuit with the gate that drives ``gate.output`` replaced."""
        self.gate(gate.output)
        return attrs.evolve(self, gates=[gate if g.output == gate.output else g for g in self.gates])


def _check_ports(circuit: Circuit) -> None:
    if not _FILE_SAFE.fullmatch(circuit.name):
        raise NetlistError(
            f"circuit name {circuit.name!r} must be letters, digits and _ . + - (no dot first), as it names "
            "files"
        )
    if len(circuit.name.encode()) > MOST_FILE_BYTES:
        raise NetlistError(
            f"circuit name {shortened(circuit.name)!r} has more than {MOST_FILE_BYTES} bytes, and names files"
        )
    for role, names in (("input", circuit.inputs), ("output", circuit.outputs)):
        if not names:
            raise NetlistError(f"the circuit has no {role}s")
        seen: set[str] = set()
        for name in names:
            if name in seen:
                raise NetlistError(f"{role} {name!r} is declared twice", node=name, role=role)
            seen.add(name)
            _check_name(name, role)
    for gate in circuit.gates:
        _check_name(gate.output, "gate")


def _check_name(name: str, role: str) -> None:
    if not _NAME.fullmatch(name):
        raise NetlistError(
            f"node name {name!r} has a space or one of the characters (),=#", node=name, role=role
        )


def _drivers(circuit: Circuit, inputs: frozenset[str]) -> dict[str, Gate]:
    drivers: dict[str, Gate] = {}
    for gate in circuit.gates:
        if gate.kind not in NEGATION:
            raise NetlistError(
                f"unknown operator {gate.kind!r} at node {gate.output!r}: known: {', '.join(NEGATION)}",
                node=gate.output,
            )
        fan_in = len(gate.inputs)
        allowed = 1 if gate.kind in UNARY else 0 if gate.kind in CONSTANT else max(fan_in, 1)
        if fan_in != allowed:
            raise NetlistError(
                f"gate {gate.output!r} ({gate.kind}) has {fan_in} inputs, expected {allowed}",
                node=gate.output,
            )
        if gate.output in inputs:
            raise NetlistError(f"node {gate.output!r} is an input and driven by a gate", node=gate.output)
        if gate.output in drivers:
            raise NetlistError(f"node {gate.output!r} is driven twice", node=gate.output)
        drivers[gate.output] = gate
    for gate in drivers.values():
        for node in gate.inputs:
            if node not in drivers and node not in inputs:
                raise NetlistError(
                    f"node {node!r}, read by gate {gate.output!r}, is driven by no gate and is no input",
                    node=gate.output,
                )
    return drivers


def _topological(drivers: Mapping[str, Gate]) -> tuple[Gate, ...]:
    """The gates so that each follows what it reads; of those free to come next, the first given."""
    place = {node: position for position, node in enumerate(drivers)}
    if all(place.get(i, -1) < place[node] for node, gate in drivers.items() for i in gate.inputs):
        return tuple(drivers.values())
    sorter = graphlib.TopologicalSorter(
        {node: [i for i in gate.inputs if i in drivers] for node, gate in drivers.items()}
    )
    try:
        sorter.prepare()
    except graphlib.CycleError as error:
        cycle: list[str] = error.args[1]
        shown = [*cycle[:_CYCLE_SHOWN], f"{len(cycle) - _CYCLE_SHOWN - 1:,} more", cycle[-1]]
        path = " -> ".join(map(shortened, cycle if len(cycle) <= len(shown) else shown))
        raise NetlistError(f"the gates form a cycle: {path}", node=cycle[0]) from None
    ordered: list[Gate] = []
    ready = [(place[node], node) for node in sorter.get_ready()]
    heapq.heapify(ready)
    while ready:
        _, node = heapq.heappop(ready)
        ordered.append(drivers[node])
        sorter.done(node)
        for free in sorter.get_ready():
            heapq.heappush(ready, (place[free], free))
    return tuple(ordered)
