"""Remembers which line of a netlist file said what, so that errors can name it."""

from collections.abc import Iterable
from pathlib import Path

from xassay.circuits.netlist import Circuit, Gate
from xassay.errors import NetlistError


class Source:
    """A netlist file being read.

    A node may be declared on several lines (as an output, and as a gate). An error about a
    doubly driven or declared node points at its last such line, any other at the gate's.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._lines: dict[tuple[str, str], int] = {}

    def note(self, role: str, node: str, line: int) -> None:
        """Remember that this line declares the node as an input, an output or a gate."""
        self._lines[role, node] = line

    def error(self, reason: str, line: int | None = None) -> NetlistError:
        """An error at that line of this file."""
        return NetlistError(reason, path=self._path, line=line)

    def circuit(
        self, name: str, inputs: Iterable[str], outputs: Iterable[str], gates: Iterable[Gate]
    ) -> Circuit:
        """The circuit, or an error that names file and line.

        Raises:
            NetlistError: the parts make no circuit.
        """
        try:
            return Circuit(name, inputs, outputs, gates)
        except NetlistError as error:
            node = error.node
            lines = [self._lines.get((role, node)) for role in ("gate", "output", "input")] if node else []
            line = next((found for found in lines if found is not None), None)
            raise NetlistError(error.reason, node=node, path=self._path, line=line) from None
