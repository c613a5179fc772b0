"""The ``.sys`` format of the DXC'11 diagnosis competition.

Four terms, each closed by a full stop: the name, the inputs, the outputs, the gates::

    c17.
    [i1,i2,i3,i4,i5].
    [o1,o2].
    [[nand2,gate10,z1,i1,i3],[nand2,gate11,z2,i3,i4]].

A gate is its operator with the fan-in, its own name, the node it drives and the nodes it
reads. The operators are ``inverter``, ``buffer`` and and/nand/nor/or/xor/xnor with a number.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import attrs

from xassay.circuits.netlist import Circuit, Gate
from xassay.circuits.source import Source
from xassay.errors import InputError

_TOKEN = re.compile(
    r"(?P<atom>[^\s\[\],.%]+)|(?P<mark>[\[\],.])|(?P<skip>\s+|%[^\n]*)|(?P<junk>.)", re.DOTALL
)
_OPERATOR = re.compile(r"(and|nand|or|nor|xor|xnor)([0-9]{1,9})")
_UNARY = {"inverter": "not", "buffer": "buf"}
_UNARY_NAMES = {kind: name for name, kind in _UNARY.items()}


@attrs.frozen
class _Atom:
    text: str
    line: int


class _Reader:
    """A recursive-descent reader of atoms and bracketed lists."""

    def __init__(self, text: str, source: Source) -> None:
        self._source = source
        self._tokens = list(self._scan(text))
        self._position = 0
        self.line = 1

    def _scan(self, text: str) -> Iterator[_Atom]:
        line = 1
        for match in _TOKEN.finditer(text):
            if match.lastgroup in ("atom", "mark"):
                yield _Atom(match.group(), line)
            elif match.lastgroup == "junk":
                raise self._source.error(f"unexpected character {match.group()!r}", line)
            line += match.group().count("\n")

    def _next(self, expected: str) -> _Atom:
        if self._position == len(self._tokens):
            raise self._source.error(f"the file ends where {expected} was expected", self.line)
        token = self._tokens[self._position]
        self._position += 1
        self.line = token.line
        return token

    def _mark(self, mark: str, after: str) -> None:
        token = self._next(f"{mark!r} after {after}")
        if token.text != mark:
            raise self._source.error(f"expected {mark!r} after {after}, found {token.text!r}", token.line)

    def atom(self, what: str) -> _Atom:
        """A name."""
        token = self._next(what)
        if token.text in "[],.":
            raise self._source.error(f"expected {what}, found {token.text!r}", token.line)
        return token

    def atoms(self, what: str) -> list[_Atom]:
        """``[a,b,c]``."""
        self._mark("[", f"the start of {what}")
        if self._peek() == "]":
            self._mark("]", what)
            return []
        found = [self.atom(f"a name in {what}")]
        while self._peek() == ",":
            self._mark(",", what)
            found.append(self.atom(f"a name in {what}"))
        self._mark("]", what)
        return found

    def lists(self, what: str) -> Iterator[tuple[int, list[_Atom]]]:
        """``[[...],[...]]``, each with the line on which it starts."""
        self._mark("[", f"the start of {what}")
        more = self._peek() != "]"
        while more:
            start = self._tokens[self._position].line if self._peek() else self.line
            yield start, self.atoms("a gate")
            if more := self._peek() == ",":
                self._mark(",", what)
        self._mark("]", what)

    def _peek(self) -> str:
        return self._tokens[self._position].text if self._position < len(self._tokens) else ""

    def stop(self, what: str) -> None:
        """The full stop after a term."""
        self._mark(".", what)

    def end(self) -> None:
        """Nothing more."""
        if self._position < len(self._tokens):
            token = self._tokens[self._position]
            raise self._source.error(f"unexpected {token.text!r} after the last term", token.line)


def parse(text: str, path: Path | None = None) -> Circuit:
    """Read a circuit from ``.sys`` text.

    Raises:
        NetlistError: what is wrong, with file and line.

    Example:
        >>> parse("inv. [a]. [z]. [[inverter,g1,z,a]].").gates
        (Gate(output='z', kind='not', inputs=('a',)),)
    """
    source = Source(path)
    reader = _Reader(text, source)
    name = reader.atom("the circuit's name").text
    reader.stop("the circuit's name")
    ports: list[list[str]] = []
    for role in ("input", "output"):
        nodes = reader.atoms(f"the list of {role}s")
        reader.stop(f"the list of {role}s")
        for node in nodes:
            source.note(role, node.text, node.line)
        ports.append([node.text for node in nodes])
    gates = [_gate(fields, source, line) for line, fields in reader.lists("the list of gates")]
    reader.stop("the list of gates")
    reader.end()
    return source.circuit(name, ports[0], ports[1], gates)


def _gate(fields: list[_Atom], source: Source, line: int) -> Gate:
    if len(fields) < 3:  # noqa: PLR2004 - operator, gate name, driven node
        raise source.error("a gate needs an operator, its name, the node it drives, and its inputs", line)
    operator, _, node, *inputs = fields
    source.note("gate", node.text, node.line)
    if operator.text in _UNARY:
        kind, fan_in = _UNARY[operator.text], 1
    elif match := _OPERATOR.fullmatch(operator.text):
        kind, fan_in = match.group(1), int(match.group(2))
    else:
        raise source.error(
            f"unknown operator {operator.text!r} at node {node.text!r}: known: inverter, buffer, and "
            "and/nand/or/nor/xor/xnor with a fan-in, such as nand2",
            operator.line,
        )
    if len(inputs) != fan_in:
        raise source.error(
            f"gate {node.text!r} ({operator.text}) has {len(inputs)} inputs, expected {fan_in}", operator.line
        )
    return Gate(node.text, kind, tuple(i.text for i in inputs))


def render(circuit: Circuit) -> str:
    """The circuit as ``.sys`` text; `parse` reads it back equal.

    Raises:
        InputError: the circuit has a stuck gate, or a name with a full stop or per cent
            sign, for which the format has no word.
    """
    for name in (circuit.name, *circuit.inputs, *(gate.output for gate in circuit.gates)):
        if re.search(r"[\s\[\],.%]", name):
            raise InputError(f"the name {name!r} cannot be written in .sys; write .bench instead")
    gates = []
    for number, gate in enumerate(circuit.gates, start=1):
        if not gate.inputs:
            raise InputError(f"gate {gate.output!r} is stuck, which .sys cannot say; write .bench instead")
        operator = _UNARY_NAMES.get(gate.kind, gate.operator)
        gates.append(f"[{operator},gate{number},{gate.output},{','.join(gate.inputs)}]")
    inputs, outputs = ",".join(circuit.inputs), ",".join(circuit.outputs)
    return f"{circuit.name}.\n[{inputs}].\n[{outputs}].\n[" + ",\n".join(gates) + "].\n"
