"""Perturbative and correlated noise: flips in the inputs of the row shown to an explainer.

The CREM study pads tables with attribute noise (see `TruthTable`); its discussion asks for
these two as well. Truth and detector stay those of the clean row.
"""

import numpy as np

from xassay.errors import InputError
from xassay.seeds import generator
from xassay.types import BoolArray, IntArray

KINDS = ("attribute", "flip", "correlated")


def flip_inputs(inputs: BoolArray, rate: float, kind: str, seed: int, row_ids: IntArray) -> BoolArray:
    """Rows of inputs with random flips.

    * ``flip``: each bit flips with probability ``rate``.
    * ``correlated``: the columns are paired at random, once a seed; the two bits of a pair
      flip together with probability ``rate``. An odd column out stays as it is.

    A row's flips depend on (seed, kind, rate's draw, row id) alone; with one seed, a bit that
    flips at some rate flips at every higher rate too.

    Args:
        inputs: bool, shape (rows, inputs).
        rate: probability in [0, 1].
        kind: ``flip`` or ``correlated``.
        seed: run seed.
        row_ids: number of each row, shape (rows,).

    Raises:
        InputError: a rate outside [0, 1], another kind, or another number of row ids.

    Example:
        >>> import numpy as np
        >>> flip_inputs(np.zeros((1, 3), bool), 1.0, "flip", 0, np.array([0])).tolist()
        [[True, True, True]]
    """
    if len(row_ids) != len(inputs):
        raise InputError(f"{len(inputs)} rows beside {len(row_ids)} row ids")
    if not 0 <= rate <= 1:
        raise InputError(f"a flip rate must be between 0 and 1, not {rate}")
    n = inputs.shape[1]
    if kind == "flip":
        groups = np.arange(n)
    elif kind == "correlated":
        groups = _random_pairs(n, seed)
    else:
        raise InputError(f"unknown kind of flips {kind!r}: known: flip, correlated")
    flips = np.zeros(inputs.shape, dtype=np.bool_)
    for position, row_id in enumerate(row_ids):
        draws = np.asarray(generator(seed, "noise", kind, int(row_id)).random(n))
        flips[position] = (draws[groups] < rate) & (groups >= 0)
    return np.asarray(inputs ^ flips)


def _random_pairs(n: int, seed: int) -> IntArray:
    """For each column, the number of its pair; -1 for the odd one out."""
    order = generator(seed, "noise", "pairs").permutation(n)
    groups = np.full(n, -1)
    paired = order[: n - n % 2]
    groups[paired] = np.arange(len(paired)) // 2
    return groups
