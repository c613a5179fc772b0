"""Remembers which line of a netlist file said what, so that errors can name it."""

from collections.abc import Iterable
from pathlib import Path

from xassay.circuits.netlist import Circuit, Gate
from xassay.errors import NetlistError


class Source:
    """A netlist file being read.

    A node may be declared on several lines, as an output and as a gate. An error points at
    the last line that gives the node the role it is about.
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
            line = self._lines.get((error.role, error.node)) if error.node else None
            raise NetlistError(
                error.reason, node=error.node, role=error.role, path=self._path, line=line
            ) from None
