"""What a circuit computes: every node of every row at once, 8 rows to a byte."""

import functools
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from xassay.circuits.netlist import Circuit, Gate
from xassay.errors import InputError
from xassay.types import BoolArray

MAX_INPUTS = 24
"""The most inputs a circuit may have where its whole truth table is wanted."""

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
            f"{MAX_INPUTS})"
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
    values = node_values(circuit, pack(rows))
    return unpack(np.stack([values[output] for output in circuit.outputs]), len(rows))


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
        values[gate.output] = _evaluate(gate, values, packed.shape[1])
    return values


def _evaluate(gate: Gate, values: Mapping[str, Words], n_words: int) -> Words:
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
