"""Loops over coalitions, compiled. Outputs come in fours, which a processor adds at once: see `in_fours`."""

from collections.abc import Callable
from typing import Any

import numba
import numpy as np

from xassay.types import FloatArray, IntArray


def _compiled(function: Callable[..., Any]) -> Any:
    """Compiled when first called, and kept on the disk where there is a place for it."""
    try:
        return numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:
        return numba.njit(nogil=True)(function)


FOUR = 4


def in_fours(table: FloatArray) -> FloatArray:
    """A table (2^n, outputs) with outputs of zero added up to a multiple of four."""
    return np.ascontiguousarray(np.pad(table, ((0, 0), (0, -table.shape[1] % FOUR))))


@_compiled
def _outside(
    coalition: int,
    patterns: IntArray,
    weights: FloatArray,
    full: int,
    mass: FloatArray,
    seen: IntArray,
    found: FloatArray,
) -> int:
    """Distinct background patterns outside a coalition, into ``seen``, their weights into ``found``."""
    rest = full ^ coalition
    count = 0
    for k in range(len(patterns)):
        pattern = patterns[k] & rest
        if mass[pattern] == 0.0:
            seen[count] = pattern
            count += 1
        mass[pattern] += weights[k]
    for k in range(count):
        found[k] = mass[seen[k]]
        mass[seen[k]] = 0.0
    return count


@_compiled
def _worth(
    table: FloatArray, setting: int, seen: IntArray, found: FloatArray, count: int, worth: FloatArray
) -> None:
    """The mean of the table over patterns outside a coalition whose bits are set, into ``worth``."""
    for first in range(0, table.shape[1], FOUR):
        a, b, c, d = 0.0, 0.0, 0.0, 0.0
        for k in range(count):
            row, weight = setting | seen[k], found[k]
            a += weight * table[row, first]
            b += weight * table[row, first + 1]
            c += weight * table[row, first + 2]
            d += weight * table[row, first + 3]
        worth[first], worth[first + 1], worth[first + 2], worth[first + 3] = a, b, c, d


@_compiled
def coalition_lattice(table: FloatArray, patterns: IntArray, weights: FloatArray, n: int) -> FloatArray:
    """v_S(x_S) for every coalition S and setting x_S of its bits.

    Args:
        table: float (2^n, outputs), `in_fours`.
        patterns: distinct background rows, shape (B,).
        weights: their shares, above 0, summing to 1, shape (B,).
        n: number of bits.

    Returns:
        float (3^n, outputs): each bit is a digit, the first the most significant: 0, 1, or 2
        for outside.
    """
    size = len(table)
    full = size - 1
    lattice = np.empty((3**n, table.shape[1]))
    ternary = np.zeros(size, dtype=np.int64)
    for number in range(size):
        for bit in range(n):
            ternary[number] += ((number >> bit) & 1) * 3**bit
    mass = np.zeros(size)
    seen = np.empty(len(patterns), dtype=np.int64)
    found = np.empty(len(patterns))
    for coalition in range(size):
        count = _outside(coalition, patterns, weights, full, mass, seen, found)
        offset = 2 * ternary[full ^ coalition]
        setting = 0
        while True:
            _worth(table, setting, seen, found, count, lattice[offset + ternary[setting]])
            if setting == coalition:
                break
            setting = (setting - coalition) & coalition
    return lattice


@_compiled
def coalition_worths(
    table: FloatArray, patterns: IntArray, weights: FloatArray, coalitions: IntArray, rows: IntArray
) -> FloatArray:
    """v_S(x) of some coalitions at some rows.

    Args:
        table: float (2^n, outputs), `in_fours`.
        patterns: distinct background rows, shape (B,).
        weights: their shares, above 0, summing to 1, shape (B,).
        coalitions: bit masks, shape (C,).
        rows: table rows, shape (R,).

    Returns:
        float (C, R, outputs).
    """
    size = len(table)
    mass = np.zeros(size)
    seen = np.empty(len(patterns), dtype=np.int64)
    found = np.empty(len(patterns))
    known = np.full(size, -1, dtype=np.int64)
    worths = np.empty((len(coalitions), len(rows), table.shape[1]))
    for c in range(len(coalitions)):
        count = _outside(coalitions[c], patterns, weights, size - 1, mass, seen, found)
        before = c * len(rows)
        for r in range(len(rows)):
            setting = rows[r] & coalitions[c]
            if known[setting] >= before:
                worths[c, r] = worths[c, known[setting] - before]
            else:
                known[setting] = before + r
                _worth(table, setting, seen, found, count, worths[c, r])
    return worths


@_compiled
def sampled_differences(
    table: FloatArray,
    rows: IntArray,
    places: IntArray,
    after: IntArray,
    patterns: IntArray,
    counts: IntArray,
) -> tuple[FloatArray, FloatArray]:
    """Changes of the output when one bit turns from the background's value to the row's.

    Args:
        table: float (2^n, outputs).
        rows: table rows, shape (R,).
        places: the mask of each bit, shape (n,).
        after: masks of the bits that follow each bit in each sample's order, shape (n, samples).
        patterns: background rows, shape (n, samples).
        counts: how many of the samples to use, shape (R, n, outputs).

    Returns:
        Sums and sums of squares, each float (R, n, outputs).
    """
    outputs = table.shape[1]
    total = np.zeros((len(rows), len(places), outputs))
    squares = np.zeros_like(total)
    for r in range(len(rows)):
        row = rows[r]
        for bit in range(len(places)):
            for k in range(counts[r, bit].max()):
                mask = after[bit, k]
                wider = mask | places[bit]
                turned = table[(row & ~mask) | (patterns[bit, k] & mask)]
                before = table[(row & ~wider) | (patterns[bit, k] & wider)]
                for output in range(outputs):
                    if k < counts[r, bit, output]:
                        change = turned[output] - before[output]
                        total[r, bit, output] += change
                        squares[r, bit, output] += change * change
    return total, squares
