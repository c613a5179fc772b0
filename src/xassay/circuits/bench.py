"""The ISCAS ``.bench`` netlist format: ``INPUT(a)``, ``OUTPUT(z)``, ``z = NAND(a, b)``, ``# comment``.

Keywords and operators may be in any case, lines in any order. Constants are ``VDD`` and
``GND``, as logic-synthesis tools write them. Sequential elements (DFF) are refused.
"""

import re
from pathlib import Path

from xassay.circuits.netlist import Circuit, Gate
from xassay.circuits.source import Source

_PORT = re.compile(r"(INPUT|OUTPUT)\s*\(\s*([^\s(),=]+)\s*\)", re.IGNORECASE)
_GATE = re.compile(r"([^\s(),=]+)\s*=\s*(\w+)\s*\(([^()=]*)\)")
_CONSTANT = re.compile(r"([^\s(),=]+)\s*=\s*(VDD|GND)", re.IGNORECASE)

_KINDS = {
    **{kind.upper(): kind for kind in ("and", "nand", "or", "nor", "xor", "xnor", "not", "buf")},
    "BUFF": "buf",
    "INV": "not",
}
_CONSTANT_NAMES = {"const0": "GND", "const1": "VDD"}
_SEQUENTIAL = frozenset({"DFF", "DFFSR", "LATCH"})


def parse(text: str, name: str, path: Path | None = None) -> Circuit:
    r"""Read a circuit from ``.bench`` text.

    Raises:
        NetlistError: what is wrong, with file and line.

    Example:
        >>> c = parse("INPUT(a)\nOUTPUT(z)\nz = not(a)", "inverter")
        >>> c.gates
        (Gate(output='z', kind='not', inputs=('a',)),)
    """
    source = Source(path)
    inputs: list[str] = []
    outputs: list[str] = []
    gates: list[Gate] = []
    for number, raw in enumerate(re.split(r"\r\n|\r|\n", text), start=1):
        line = raw.partition("#")[0].strip()
        if not line:
            continue
        if port := _PORT.fullmatch(line):
            keyword, node = port.groups()
            is_input = keyword.upper() == "INPUT"
            (inputs if is_input else outputs).append(node)
            source.note("input" if is_input else "output", node, number)
        else:
            gate = _gate(line, source, number)
            gates.append(gate)
            source.note("gate", gate.output, number)
    return source.circuit(name, inputs, outputs, gates)


def _gate(line: str, source: Source, number: int) -> Gate:
    if constant := _CONSTANT.fullmatch(line):
        node, level = constant.groups()
        return Gate(node, "const1" if level.upper() == "VDD" else "const0", ())
    match = _GATE.fullmatch(line)
    if match is None:
        raise source.error(
            f"cannot read {line[:60]!r}: expected INPUT(a), OUTPUT(z) or z = NAND(a, b)", number
        )
    node, operator, arguments = match.groups()
    operator = operator.upper()
    if operator in _SEQUENTIAL:
        raise source.error(
            f"node {node!r} is a {operator}: sequential circuits are not supported, only gates", number
        )
    if operator not in _KINDS:
        raise source.error(
            f"unknown operator {operator!r} at node {node!r}: known: {', '.join(_KINDS)}", number
        )
    names = [argument.strip() for argument in arguments.split(",")]
    if not all(names):
        raise source.error(f"node {node!r} has an empty input name", number)
    return Gate(node, _KINDS[operator], tuple(names))


def render(circuit: Circuit) -> str:
    """The circuit as ``.bench`` text; `parse` reads it back equal."""
    lines = [f"# {circuit.name}"]
    lines += [f"INPUT({name})" for name in circuit.inputs]
    lines += [f"OUTPUT({name})" for name in circuit.outputs]
    for gate in circuit.gates:
        if gate.kind in _CONSTANT_NAMES:
            lines.append(f"{gate.output} = {_CONSTANT_NAMES[gate.kind]}")
        else:
            lines.append(f"{gate.output} = {gate.kind.upper()}({', '.join(gate.inputs)})")
    return "\n".join(lines) + "\n"
