"""Single faults: what can go wrong with one gate, and how many rows it makes anomalous."""

import contextlib
from collections.abc import Iterator, Mapping
from types import MappingProxyType

import attrs
import numpy as np

from xassay.circuits import shares
from xassay.circuits.netlist import CONSTANT, NEGATION, UNARY, Circuit, Gate
from xassay.circuits.simulation import MAX_INPUTS, check_size, input_rows, simulate
from xassay.errors import InputError, UnknownNameError
from xassay.types import BoolArray

STUDY_FAULTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "74181": ("z6", "z32", "z33", "o8"),
        "74283": ("z2", "z17", "z18", "o1"),
        "74182": ("z2", "z7", "z8", "o5"),
        "c17": ("z2", "z3", "z4", "o2"),
    }
)
"""The gates that the CREM study negated, by circuit (its Table A1)."""

SAMPLE = 8_192
"""Random rows on which shares are estimated where the truth table is out of reach."""

_EXACT = 2**33
"""Node values, rows times nodes, up to which shares are exact."""

_STUCK = {"stuck0": "const0", "stuck1": "const1"}
_SWAPS = tuple(kind for kind in NEGATION if kind not in UNARY | CONSTANT)


@attrs.frozen
class Fault:
    """One altered gate.

    Attributes:
        gate: the node that the gate drives.
        change: ``negate``, ``stuck0``, ``stuck1``, or the operator that replaces its own.
        share: the share of the truth table's rows with a wrong output, where computed.
        rows: the number of random rows on which that share was estimated; None: it is exact.

    Example:
        >>> from xassay import circuits
        >>> Fault.parse("z4:stuck1").apply(circuits.load("c17")).gate("z4").operator
        'stuck1'
    """

    gate: str
    change: str = "negate"
    share: float | None = attrs.field(default=None, eq=False)
    rows: int | None = attrs.field(default=None, eq=False)

    @classmethod
    def parse(cls, text: str) -> "Fault":
        """``z4`` (negated), ``z4:stuck1``, ``z4:or``; ``a:b:negate`` for a gate called ``a:b``.

        Raises:
            UnknownNameError: the part after the colon is no change.
        """
        gate, colon, change = text.rpartition(":") if ":" in text else (text, "", "")
        known = ("negate", *_STUCK, *(kind for kind in NEGATION if kind not in CONSTANT))
        if colon and change.lower() not in known:
            raise UnknownNameError(f"change in fault {text!r}", change, known)
        return cls(gate, change.lower() or "negate")

    def apply(self, circuit: Circuit) -> Circuit:
        """The circuit with this fault.

        Raises:
            UnknownNameError: the circuit has no such gate.
            InputError: the change does not alter that gate, or does not fit its fan-in.
        """
        if self.change == "negate":
            return negate(circuit, self.gate)
        if self.change in _STUCK:
            return stick(circuit, self.gate, int(self.change[-1]))
        return replace(circuit, self.gate, self.change)

    def applied(self, gate: Gate) -> Gate:
        """What stands in the gate's place; unlike `apply`, without a look at whether it fits."""
        if self.change in _STUCK:
            return Gate(gate.output, _STUCK[self.change], ())
        return attrs.evolve(gate, kind=NEGATION[gate.kind] if self.change == "negate" else self.change)

    def __str__(self) -> str:
        return self.gate if self.change == "negate" else f"{self.gate}:{self.change}"


def negate(circuit: Circuit, gate: str) -> Circuit:
    """The circuit with one gate's operator negated: and/nand, or/nor, xor/xnor, not/buf.

    Raises:
        UnknownNameError: the circuit has no such gate.

    Example:
        >>> from xassay import circuits
        >>> negate(circuits.load("c17"), "z4").gate("z4").operator
        'and2'
    """
    found = circuit.gate(gate)
    return circuit.with_gate(attrs.evolve(found, kind=NEGATION[found.kind]))


def stick(circuit: Circuit, gate: str, value: int) -> Circuit:
    """The circuit with one gate's output stuck at 0 or 1; the gate then reads nothing.

    Raises:
        UnknownNameError: the circuit has no such gate.
        InputError: ``value`` is not 0 or 1, or the gate is stuck there already.
    """
    if value not in (0, 1):
        raise InputError(f"a gate is stuck at 0 or 1, not at {value!r}")
    stuck = Gate(circuit.gate(gate).output, f"const{int(value)}", ())
    if circuit.gate(gate) == stuck:
        raise InputError(f"gate {gate!r} of {circuit.name} is already stuck at {value}")
    return circuit.with_gate(stuck)


def replace(circuit: Circuit, gate: str, kind: str) -> Circuit:
    """The circuit with one gate's operator swapped for another.

    Raises:
        UnknownNameError: no such gate, or no such operator.
        InputError: the gate already has that operator, or its fan-in does not fit it.
    """
    found = circuit.gate(gate)
    if kind not in NEGATION or kind in CONSTANT:
        raise UnknownNameError("operator", kind, [k for k in NEGATION if k not in CONSTANT])
    if found.kind == kind:
        raise InputError(f"gate {gate!r} of {circuit.name} is already {kind!r}")
    if kind in UNARY and len(found.inputs) != 1:
        raise InputError(f"gate {gate!r} of {circuit.name} reads {len(found.inputs)} nodes, {kind!r} takes 1")
    return circuit.with_gate(attrs.evolve(found, kind=kind))


def differences(original: Circuit, altered: Circuit) -> BoolArray:
    """Where the altered circuit's outputs are wrong, over the whole truth table.

    Returns:
        bool, shape (2**n, outputs); a row with any True is anomalous.

    Raises:
        InputError: the table is out of reach: more than 24 inputs, or more than 4 GB.
    """
    check_size(
        f"circuit {original.name}", 2 ** len(original.inputs), len(original.inputs) + len(original.outputs)
    )
    rows = input_rows(original)
    return np.asarray(simulate(original, rows) != simulate(altered, rows))


def faults(circuit: Circuit, *, seed: int = 0) -> tuple[Fault, ...]:
    """All single faults of a circuit with the share of rows that each makes anomalous.

    Each gate negated, stuck at 0, stuck at 1, and swapped for each other operator of its
    fan-in. The share is exact over the whole truth table, as long as that has at most 2^24 rows and its
    node values can be computed in minutes; else it is estimated on 8,192 random rows, and
    each fault says so in ``rows``.

    Args:
        circuit: the circuit.
        seed: of the random rows.

    Raises:
        InputError: following every fault through the circuit takes too long even so.

    Example:
        >>> from xassay import circuits
        >>> f = faults(circuits.load("c17"))[0]
        >>> f.gate, f.change, f.share
        ('z1', 'negate', 0.625)
    """
    found: dict[str, list[Fault]] = {}
    for fault in _single_faults(circuit):
        found.setdefault(fault.gate, []).append(fault)
    altered = {gate: [fault.applied(circuit.gate(gate)) for fault in own] for gate, own in found.items()}
    n, nodes = len(circuit.inputs), len(circuit.inputs) + len(circuit.gates)
    ways = [(None, shares.all_rows(n, nodes))] if n <= MAX_INPUTS and 2**n * nodes <= _EXACT else []
    for rows, parts in (*ways, (SAMPLE, shares.random_rows(n, nodes, SAMPLE, seed))):
        with contextlib.suppress(shares.TooMuch):
            wrong, total = shares.wrong_rows(circuit, altered, parts)
            return tuple(
                attrs.evolve(fault, share=count / total, rows=rows)
                for gate, own in found.items()
                for fault, count in zip(own, wrong[gate], strict=True)
            )
    raise InputError(
        f"circuit {circuit.name}: following every fault of its {len(circuit.gates):,} gates to where its "
        "paths meet again takes too long; apply those you need with Fault.apply, and compare with simulate"
    )


def _single_faults(circuit: Circuit) -> Iterator[Fault]:
    for gate in circuit.gates:
        if gate.kind in CONSTANT:
            yield Fault(gate.output, "stuck0" if gate.kind == "const1" else "stuck1")
            continue
        yield from (Fault(gate.output, change) for change in ("negate", *_STUCK))
        if len(gate.inputs) > 1:
            own = (gate.kind, NEGATION[gate.kind])
            yield from (Fault(gate.output, kind) for kind in _SWAPS if kind not in own)


def version_name(circuit: Circuit, fault: Fault) -> str:
    """What the study's data set calls an altered version.

    Example:
        >>> from xassay import circuits
        >>> version_name(circuits.load("c17"), Fault("z4"))
        'c17_modified_z4_nand2_to_and2'
    """
    before, after = circuit.gate(fault.gate), fault.apply(circuit).gate(fault.gate)
    return f"{circuit.name}_modified_{fault.gate}_{before.operator}_to_{after.operator}"
