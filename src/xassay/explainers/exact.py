r"""Exact Shapley and Banzhaf values of every row of a Boolean table at once.

A coalition S of bits is worth, at row x, the mean of f over the background with the bits of S
set to those of x: v_S(x) = E_b f(x_S, b_rest). It depends on x only through x_S.

* Uniform background (all rows): in the Walsh basis f = sum over T of f^(T) chi_T, and
  v_S(x) sums the terms with T inside S. Hence phi_i(x) = sum over T with i of
  f^(T) chi_T(x) / |T| (Shapley) or / 2^(|T|-1) (Banzhaf): one inverse transform a bit.
* Any background: the lattice of all v_S(x_S) has 3^n entries, one for each setting of the bits
  to 0, 1 or "outside". Each entry is weighed by what it counts in the value's definition, and
  the lattice is summed over the entries that agree with x, one bit after the other.

References:
    Shapley, 1953; Banzhaf, Rutgers Law Review 19 (1965); O'Donnell, Analysis of Boolean
    Functions, Cambridge 2014, chapter 1 (the Walsh basis).
"""

import math
from typing import ClassVar

import attrs
import numpy as np
import numpy.typing as npt

from xassay.errors import InputError
from xassay.explainers.boolean_table import checked_table
from xassay.explainers.registry import register
from xassay.explainers.table_explainer import TableExplainer
from xassay.types import FloatArray, IntArray

MAX_LATTICE_BITS = 16
_LATTICE_BYTES = 2**29


def shapley_values(table: npt.ArrayLike, background: npt.ArrayLike | None = None) -> FloatArray:
    """Exact Shapley values of every row of a truth table.

    phi_i(x) = sum over S without i of |S|! (n - |S| - 1)! / n! (v_(S with i)(x) - v_S(x)).

    Args:
        table: the function's values, shape (2^n, outputs) or (2^n,), in the order of
            `xassay.circuits.input_rows` (row k is k in binary, the first bit most significant).
        background: row numbers of the background, with repetitions if need be; None: all
            rows, each once.

    Returns:
        float, shape (2^n, n, outputs), or (2^n, n) for a table of shape (2^n,). A row's values
        sum to f(x) minus the background's mean.

    Raises:
        InputError: a table that is not one, row numbers outside it, or more than 16 bits with a
            background that is not uniform.

    Example:
        >>> shapley_values([0, 0, 0, 1])[3].tolist()
        [0.375, 0.375]
    """
    return _values(table, background, shapley=True)


def banzhaf_values(table: npt.ArrayLike, background: npt.ArrayLike | None = None) -> FloatArray:
    """Exact Banzhaf values: the mean of v_(S with i)(x) - v_S(x) over all S without i.

    Args:
        table: see `shapley_values`, and likewise the others.
        background: row numbers, or None.

    Returns:
        float, shape (2^n, n, outputs) or (2^n, n).

    Raises:
        InputError: see `shapley_values`.

    Example:
        >>> banzhaf_values([0, 1, 1, 0])[0].tolist()
        [-0.25, -0.25]
    """
    return _values(table, background, shapley=False)


def _values(table: npt.ArrayLike, background: npt.ArrayLike | None, *, shapley: bool) -> FloatArray:
    values, n = checked_table(table)
    matrix = values.reshape(len(values), -1)
    if background is None:
        found = uniform_values(matrix, n, shapley=shapley)
    else:
        rows = np.asarray(background)
        if rows.ndim != 1 or not len(rows) or not np.issubdtype(rows.dtype, np.integer):
            raise InputError("the background must be row numbers of the table, at least one")
        if rows.min() < 0 or rows.max() >= len(values):
            raise InputError(f"the background's row numbers must lie from 0 to {len(values) - 1}")
        found = background_values(matrix, n, rows.astype(np.int64), shapley=shapley)
    return found[:, :, 0] if values.ndim == 1 else found


def uniform_values(table: FloatArray, n: int, *, shapley: bool) -> FloatArray:
    """Values against all rows as background: (2^n, n, outputs)."""
    spectrum = walsh(table, n) / 2**n
    subsets = np.arange(2**n)
    sizes = np.bitwise_count(subsets).astype(np.int64)
    shares = np.zeros(2**n)
    shares[1:] = 1.0 / sizes[1:] if shapley else 0.5 ** (sizes[1:] - 1)
    weighted = spectrum * shares[:, None]
    found = np.empty((2**n, n, table.shape[1]))
    for bit in range(n):
        holds = (subsets >> (n - 1 - bit)) & 1 == 1
        found[:, bit] = walsh(np.where(holds[:, None], weighted, 0.0), n)
    return found


def walsh(table: FloatArray, n: int) -> FloatArray:
    """The sum over x of table[x] (-1)^(x.T) for every T, shape of the table."""
    out = table.reshape((2,) * n + (-1,))
    for axis in range(n):
        zero, one = np.take(out, 0, axis=axis), np.take(out, 1, axis=axis)
        out = np.stack([zero + one, zero - one], axis=axis)
    return out.reshape(table.shape)


def background_values(table: FloatArray, n: int, background: IntArray, *, shapley: bool) -> FloatArray:
    """Values against any background: (2^n, n, outputs).

    Args:
        table: shape (2^n, outputs).
        n: number of bits.
        background: row numbers, shape (rows,).
        shapley: Shapley values, else Banzhaf values.

    Raises:
        InputError: more than 16 bits.
    """
    counts = np.bincount(background, minlength=2**n)
    if (counts == counts[0]).all():
        return uniform_values(table, n, shapley=shapley)
    if n > MAX_LATTICE_BITS:
        raise InputError(
            f"exact values of {n} bits need all combinations as background (in the circuit study, "
            f"--background 1); with another at most {MAX_LATTICE_BITS} bits"
        )
    patterns = np.flatnonzero(counts)
    weights = counts[patterns] / len(background)
    found = np.empty((2**n, n, table.shape[1]))
    # outputs are worked on in fours
    step = max(1, _LATTICE_BYTES // (32 * 3**n)) * 4
    # an offset of the model must cost no digits
    table = table - weights @ table[patterns]
    for start in range(0, table.shape[1], step):
        part = slice(start, start + step)
        found[:, :, part] = _from_lattice(
            np.ascontiguousarray(table[:, part]), n, patterns, weights, shapley=shapley
        )
    return found


def _from_lattice(
    table: FloatArray, n: int, patterns: IntArray, weights: FloatArray, *, shapley: bool
) -> FloatArray:
    r"""phi_i = sum over S with i of (a_s + b_s) v_S - sum over S of b_s v_S.

    a_s and b_s are what v_S counts in phi_i where i belongs to S, and where it does not. The
    second sum is alike for all i. Shapley values are efficient, which gives it; for Banzhaf
    values a = b, so it is half of the first sum taken over all S.
    """
    from xassay.explainers.compiled.kernels import coalition_lattice, in_fours

    outputs = table.shape[1]
    lattice = coalition_lattice(in_fours(table), patterns, weights, n)[:, :outputs].reshape((3,) * n + (-1,))
    share = np.full(n + 1, 0.5 ** (n - 2))
    if shapley:
        share = np.array([1 / (s * math.comb(n, s)) + 1 / ((n - s) * math.comb(n, s)) for s in range(1, n)])
        share = np.concatenate([[1 / n], share, [1 / n]])
    size = np.zeros((1,) * (n + 1), dtype=np.int64)
    for axis in range(n):
        size = size + np.array([1, 1, 0]).reshape((1,) * axis + (3,) + (1,) * (n - axis))
    lattice *= share[size]
    found = np.empty((n, 2**n, outputs))
    beside = _split(lattice, list(range(n)), found)
    if shapley:
        gap = table - weights @ table[patterns]
        shared = (found.sum(axis=0) - gap) / n
    else:
        shared = (found[-1] + beside) / 2
    return np.asarray(np.moveaxis(found - shared, 0, 1))


def _split(lattice: FloatArray, open_axes: list[int], found: FloatArray) -> FloatArray:
    """Sum over all open axes but one, for each of them, sharing the sums between halves.

    Args:
        lattice: axes of three entries (0, 1, outside) where open, else of two; outputs last.
        open_axes: which are open.
        found: takes the sums of the entries with the axis inside: (n, 2^n, outputs).

    Returns:
        The sum of those with the last axis outside, (2^n, outputs).
    """
    if len(open_axes) == 1:
        (axis,) = open_axes
        inside, outside = np.split(lattice, [2], axis=axis)
        found[axis] = inside.reshape(found.shape[1:])
        return np.concatenate([outside, outside], axis=axis).reshape(found.shape[1:])
    half = len(open_axes) // 2
    beside = lattice
    for kept, summed in (
        (open_axes[:half], open_axes[half:]),
        (open_axes[half:], open_axes[:half]),
    ):
        part = lattice
        for axis in summed:
            # entries that agree with the bit: its value, and "outside"
            inside, outside = np.split(part, [2], axis=axis)
            part = inside + outside
        beside = _split(part, kept, found)
    return beside


@attrs.define(eq=False, kw_only=True)
class ExactExplainer(TableExplainer):
    """Exact values: the whole table's are computed once, and rows look theirs up."""

    shapley: ClassVar[bool] = True

    _found: FloatArray = attrs.field(init=False)

    def _fit(self) -> None:
        table = self._table
        self._found = background_values(table.values, table.n_bits, self._patterns, shapley=self.shapley)

    def _explain_rows(self, indices: IntArray, draws: IntArray, rows: FloatArray) -> FloatArray:
        del draws  # nothing is drawn
        values = np.zeros((*rows.shape, self._table.values.shape[1]))
        values[:, self._table.columns] = self._found[indices]
        return values


def _cost(_features: int, _rows: int) -> float:
    return 0.2


@register("exact_shapley", engine="native", stochastic=False, tabulates=True, table_only=True, cost=_cost)
@attrs.define(eq=False, kw_only=True)
class ExactShapley(ExactExplainer):
    """Exact Shapley values of a model that is a table over 0/1 columns; see `shapley_values`.

    Features that the table does not hold get 0.
    """


@register("exact_banzhaf", engine="native", stochastic=False, tabulates=True, table_only=True, cost=_cost)
@attrs.define(eq=False, kw_only=True)
class ExactBanzhaf(ExactExplainer):
    """Exact Banzhaf values of a model that is a table over 0/1 columns; see `banzhaf_values`.

    Features that the table does not hold get 0.
    """

    shapley: ClassVar[bool] = False
