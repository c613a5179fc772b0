"""Which inputs matter to a Boolean function at a row: the smallest joint flips that change it.

Where `xassay.circuits.truth` walks a circuit gate by gate, this takes the whole function: its
truth table alone decides, so that two circuits that compute the same have the same truth.
"""

import numpy as np
import numpy.typing as npt

from xassay.circuits.netlist import Circuit
from xassay.circuits.simulation import MAX_INPUTS, as_bits, input_rows, simulate
from xassay.errors import InputError
from xassay.types import BoolArray, IntArray

_BLOCK = 2**18
"""Rows whose neighbours are looked at together."""

_NEVER = np.uint8(127)
"""A distance that no row of 24 bits has, with room to add to it."""


def function_truth(circuit: Circuit, X: npt.ArrayLike, output: str) -> BoolArray:
    r"""The inputs whose joint flip changes an output, row by row, from its truth table.

    With f the output as a function of the inputs and d(x) the size of the smallest set of
    inputs whose joint flip changes f at x, an input is named if it belongs to a set S with

        |S| = d(x)  and  f(x with S flipped) != f(x).

    This is the rule that `xassay.circuits.ground_truth` applies to each gate, applied to the
    output as a whole. The two differ: a walk joins what each gate on its way passes on.

    Args:
        circuit: computes the function. In the CREM study the explained function is an output of
            the *original* circuit.
        X: 0/1 input values, shape (rows, inputs).
        output: name of the explained output.

    Returns:
        bool, shape (rows, inputs). No input is named on any row where the output is constant.

    Raises:
        UnknownNameError: the circuit has no such output.
        InputError: X is not 0/1 of that shape, or the circuit has more than 24 inputs.

    Reference:
        The rule for a gate: "Evaluating Anomaly Explanations Using Ground Truth", section 4.4,
        Algorithm 1.

    Example:
        >>> from xassay import circuits
        >>> function_truth(circuits.load("c17"), [[0, 0, 0, 0, 0]], "o2").astype(int).tolist()
        [[0, 1, 0, 0, 1]]
    """
    position = circuit.output_position(output)
    rows = as_bits(X, len(circuit.inputs), what=f"inputs of {circuit.name}")
    table = simulate(circuit, input_rows(circuit))[:, position]
    place = 1 << np.arange(rows.shape[1] - 1, -1, -1)
    return smallest_flips(table, rows @ place)


def smallest_flips(table: npt.ArrayLike, rows: npt.ArrayLike | None = None) -> BoolArray:
    r"""The bits that belong to a smallest set whose joint flip changes a Boolean function.

    Let D(x) be the Hamming distance from x to the nearest row with the other value. Bit i belongs
    to such a set at x if and only if flipping it alone changes the value (D(x) = 1), or keeps the
    value and comes one step nearer: D(x with i flipped) = D(x) - 1. D of all 2^n rows is found in n
    passes over the table, as distances on the hypercube can be relaxed a bit at a time.

    Args:
        table: 0/1 values, shape (2^n,): entry k is the value at k in binary, the first bit the
            most significant, as in `xassay.circuits.input_rows`. n is at most 24.
        rows: numbers of the rows wanted, shape (rows,); None: all of them.

    Returns:
        bool, shape (rows, n); all False where the function is constant.

    Raises:
        InputError: the table's length is no power of 2 or too large, a value is not 0 or 1, or a row
            number lies outside the table.

    Example:
        >>> smallest_flips([0, 0, 0, 1]).astype(int).tolist()  # a and b
        [[1, 1], [1, 0], [0, 1], [1, 1]]
    """
    values, n = _checked(table)
    ids = np.arange(len(values)) if rows is None else _numbers(rows, len(values))
    distance = _distance_to_other(values, n)
    found = np.empty((len(ids), n), dtype=np.bool_)
    for start in range(0, len(ids), _BLOCK):
        some = ids[start : start + _BLOCK]
        neighbours = some[:, None] ^ (1 << np.arange(n - 1, -1, -1))
        changed = values[neighbours] != values[some][:, None]
        nearer = distance[neighbours] + 1 == distance[some][:, None]
        found[start : start + _BLOCK] = np.where(distance[some][:, None] == 1, changed, nearer)
    return found


def _distance_to_other(values: BoolArray, n: int) -> npt.NDArray[np.uint8]:
    """Hamming distance of each row to the nearest row of the other value; `_NEVER` or more if none."""
    found = np.empty(len(values), dtype=np.uint8)
    for value in (False, True):
        # distance to the rows with that value, relaxed a bit at a time
        distance = np.where(values == value, np.uint8(0), _NEVER).reshape((2,) * n)
        for axis in range(n):
            distance = np.minimum(distance, np.flip(distance, axis) + np.uint8(1))
        other = values != value
        found[other] = distance.reshape(-1)[other]
    return found


def _checked(table: npt.ArrayLike) -> tuple[BoolArray, int]:
    array = np.asarray(table)
    n = array.size.bit_length() - 1
    if array.ndim != 1 or array.size != 1 << max(n, 0) or n > MAX_INPUTS:
        raise InputError(
            f"a truth table has one value for each of 2^n rows, n at most {MAX_INPUTS}, not shape "
            f"{array.shape}"
        )
    return as_bits(array[:, None], 1, what="truth table")[:, 0], n


def _numbers(rows: npt.ArrayLike, n_rows: int) -> IntArray:
    ids = np.asarray(rows)
    if ids.ndim != 1 or (ids.size and not np.issubdtype(ids.dtype, np.integer)):
        raise InputError("rows must be a list of row numbers")
    if ids.size and not 0 <= ids.min() <= ids.max() < n_rows:
        raise InputError(f"row numbers of this table go from 0 to {n_rows - 1}")
    return ids.astype(np.int64)
