"""What a circuit computes: every node of every row at once, 8 rows to a byte."""

import functools
from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt

from xassay.circuits.netlist import Circuit, Gate
from xassay.errors import InputError
from xassay.types import BoolArray

MAX_INPUTS = 24
"""The most inputs a circuit may have where its whole truth table is wanted."""

MOST_BYTES = 4 * 10**9
"""The largest table that is made."""

BLOCK_BYTES = 2**27
"""Node values that are held at once."""

Words = npt.NDArray[np.uint8]


def input_rows(circuit: Circuit) -> BoolArray:
    """All rows of the truth table's input side.

    Returns:
        bool, shape (2**n, n): row k is k in binary, the first input the most significant bit.

    Raises:
        InputError: the circuit has more than 24 inputs.

    Example:
        >>> from xassay import circuits
        >>> input_rows(circuits.load("c17"))[6].astype(int).tolist()
        [0, 0, 1, 1, 0]
    """
    n = len(circuit.inputs)
    if n > MAX_INPUTS:
        raise InputError(
            f"circuit {circuit.name} has {n} inputs; its truth table of 2^{n} rows is out of reach (most: "
            f"{MAX_INPUTS}); simulate rows of your own, or take a part of it with fewer inputs"
        )
    return unpack_rows(np.arange(2**n), n)


def unpack_rows(ids: npt.NDArray[np.integer], n_bits: int) -> BoolArray:
    """The binary digits of row numbers, most significant first: bool (len(ids), n_bits)."""
    as_bytes = np.ascontiguousarray(ids, dtype=">u4").view(np.uint8).reshape(-1, 4)
    return np.unpackbits(as_bytes, axis=1)[:, 32 - n_bits :].view(np.bool_)


def simulate(circuit: Circuit, X: npt.ArrayLike) -> BoolArray:
    """The outputs of each row of inputs.

    Args:
        circuit: the circuit.
        X: 0/1 values, shape (rows, inputs).

    Returns:
        bool, shape (rows, outputs).

    Raises:
        InputError: X has another number of columns, or values that are not 0 or 1.

    Example:
        >>> from xassay import circuits
        >>> simulate(circuits.load("c17"), [[0, 0, 0, 0, 0]]).tolist()
        [[False, False]]
    """
    rows = as_bits(X, len(circuit.inputs), what=f"inputs of {circuit.name}")
    made = np.empty((len(rows), len(circuit.outputs)), dtype=np.bool_)
    for block in blocks(len(rows), len(circuit.inputs) + len(circuit.gates)):
        values = node_values(circuit, pack(rows[block]))
        made[block] = unpack(
            np.stack([values[output] for output in circuit.outputs]), block.stop - block.start
        )
    return made


def blocks(n_rows: int, n_nodes: int) -> Iterator[slice]:
    """Parts of so many rows whose node values, 8 rows to a byte, fit `BLOCK_BYTES`; all start at a byte."""
    most = max(BLOCK_BYTES // max(n_nodes, 1), 8) * 8
    for start in range(0, n_rows, most):
        yield slice(start, min(start + most, n_rows))


def check_size(what: str, n_rows: int, n_columns: int) -> None:
    """Refuse a table of a byte a value that no ordinary machine holds.

    Raises:
        InputError: it has more than `MOST_BYTES`.
    """
    if n_rows * n_columns > MOST_BYTES:
        raise InputError(
            f"{what}: {n_rows:,} rows of {n_columns:,} columns take {n_rows * n_columns / 1e9:,.0f} GB, more "
            f"than {MOST_BYTES / 1e9:.0f}; take fewer noise columns, or a part of the circuit with fewer "
            "inputs and outputs"
        )


def as_bits(X: npt.ArrayLike, columns: int, *, what: str) -> BoolArray:
    """X as a bool matrix with that many columns, or an InputError that says what it is not."""
    try:
        array = np.asarray(X)
    except ValueError:
        raise InputError(f"{what}: the rows differ in length") from None
    if array.ndim != 2 or array.shape[1] != columns:  # noqa: PLR2004 - a matrix
        raise InputError(f"{what}: expected shape (rows, {columns}), got {array.shape}")
    if array.dtype == np.bool_:
        return array
    try:
        ones = array == 1
        valid = bool((ones | (array == 0)).all())
    except TypeError:
        valid = False
    if not valid:
        raise InputError(f"{what}: every value must be 0 or 1")
    return np.asarray(ones, dtype=np.bool_)


def pack(rows: BoolArray) -> Words:
    """(rows, columns) -> (columns, ceil(rows / 8)) bytes; the last byte is padded with zeros."""
    return np.packbits(np.ascontiguousarray(rows.T), axis=1)


def unpack(words: Words, n_rows: int) -> BoolArray:
    """The inverse of `pack`."""
    return np.unpackbits(words, axis=1, count=n_rows).T.view(np.bool_)


def node_values(circuit: Circuit, packed: Words) -> Mapping[str, Words]:
    """The packed value of every node, from the packed inputs; padding bits hold anything."""
    values: dict[str, Words] = dict(zip(circuit.inputs, packed, strict=True))
    for gate in circuit.gates:
        values[gate.output] = evaluate(gate, values, packed.shape[1])
    return values


def evaluate(gate: Gate, values: Mapping[str, Words], n_words: int) -> Words:
    """A gate's packed value from those of the nodes that it reads."""
    if gate.kind == "const0":
        return np.zeros(n_words, dtype=np.uint8)
    if gate.kind == "const1":
        return np.full(n_words, 255, dtype=np.uint8)
    operands = [values[node] for node in gate.inputs]
    base, negated = _BASE[gate.kind]
    result: Words = functools.reduce(base, operands)
    return ~result if negated else result


_BASE: dict[str, tuple[np.ufunc, bool]] = {
    "and": (np.bitwise_and, False),
    "nand": (np.bitwise_and, True),
    "or": (np.bitwise_or, False),
    "nor": (np.bitwise_or, True),
    "xor": (np.bitwise_xor, False),
    "xnor": (np.bitwise_xor, True),
    "buf": (np.bitwise_and, False),
    "not": (np.bitwise_and, True),
}
