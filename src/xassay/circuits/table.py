"""A circuit's truth table with columns of attribute noise, made row by row on demand."""

import attrs
import numpy as np
import numpy.typing as npt

from xassay.circuits.netlist import Circuit
from xassay.circuits.simulation import MAX_INPUTS, check_size, simulate, unpack_rows
from xassay.errors import InputError
from xassay.types import BoolArray, IntArray


def _check_noise(_: object, __: object, value: object) -> None:
    if not isinstance(value, (int, np.integer)) or value < 0:
        raise InputError(f"the number of noise columns must be a whole number of at least 0, not {value!r}")


@attrs.frozen
class TruthTable:
    """The table (inputs, noise, outputs) of a circuit.

    Attribute noise is k columns that say nothing: every combination of them stands beside
    every combination of inputs, so the table has 2^(n + k) rows; noise bits vary fastest.

    Attributes:
        circuit: the circuit.
        n_noise: number of noise columns k.

    Raises:
        InputError: inputs and noise columns together exceed 24.

    Example:
        >>> from xassay import circuits
        >>> table = TruthTable(circuits.load("c17"), n_noise=2)
        >>> table.n_rows, table.columns
        (128, ('i1', 'i2', 'i3', 'i4', 'i5', 'n1', 'n2', 'o1', 'o2'))
    """

    circuit: Circuit
    n_noise: int = attrs.field(default=0, validator=_check_noise)

    def __attrs_post_init__(self) -> None:
        n = len(self.circuit.inputs)
        if n + self.n_noise > MAX_INPUTS:
            raise InputError(
                f"circuit {self.circuit.name}: {n} inputs and {self.n_noise} noise columns make a table of "
                f"2^{n + self.n_noise} rows; at most 2^{MAX_INPUTS} are supported; take fewer noise "
                "columns, or a part of the circuit with fewer inputs"
            )

    @property
    def noise_columns(self) -> tuple[str, ...]:
        """n1, n2, ...; n_1, n_2, ... where the circuit already uses such a name."""
        taken = {*self.circuit.inputs, *self.output_columns}
        prefix = "n"
        while not taken.isdisjoint(names := tuple(f"{prefix}{k + 1}" for k in range(self.n_noise))):
            prefix += "_"
        return names

    @property
    def output_columns(self) -> tuple[str, ...]:
        """The outputs; one that is an input too is called ``<name>_out``."""
        taken = {*self.circuit.inputs}
        names = []
        for output in self.circuit.outputs:
            name = output
            while name in taken:
                name += "_out"
            taken.add(name)
            names.append(name)
        return tuple(names)

    @property
    def columns(self) -> tuple[str, ...]:
        """All column names in order, each once."""
        return (*self.circuit.inputs, *self.noise_columns, *self.output_columns)

    @property
    def n_rows(self) -> int:
        """2^(n + k)."""
        return int(2 ** (len(self.circuit.inputs) + self.n_noise))

    @property
    def noise_slice(self) -> slice:
        """Where the noise columns stand."""
        start = len(self.circuit.inputs)
        return slice(start, start + self.n_noise)

    def input_ids(self, ids: npt.NDArray[np.integer]) -> IntArray:
        """The row of the noise-free table that each row shows: rows with equal inputs."""
        return np.asarray(ids, dtype=np.int64) >> self.n_noise

    def rows(self, ids: npt.NDArray[np.integer] | None = None) -> BoolArray:
        """The rows with those numbers (default: all), bool (rows, columns).

        Raises:
            InputError: a number that is no row of the table, or more rows than 4 GB hold.
        """
        n_rows = self.n_rows if ids is None else len(ids)
        check_size(f"circuit {self.circuit.name}", n_rows, len(self.columns))
        wanted = np.arange(self.n_rows) if ids is None else np.asarray(ids)
        if wanted.size and not 0 <= wanted.min() <= wanted.max() < self.n_rows:
            raise InputError(f"row numbers of this table go from 0 to {self.n_rows - 1}")
        bits = unpack_rows(wanted, len(self.circuit.inputs) + self.n_noise)
        return np.hstack([bits, simulate(self.circuit, bits[:, : len(self.circuit.inputs)])])
