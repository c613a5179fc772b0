"""The background set: which rows of the altered table stand for "feature absent".

Both recipes draw with numpy's legacy generator at seed 27, whatever the run's seed, as the
study did.
"""

import numpy as np

from xassay.errors import InputError
from xassay.types import IntArray

STUDY_SEED = 27


def background_rows(n_rows: int, proportion: float, recipe: str) -> IntArray:
    """Row numbers of the background, with k = int(p N).

    * ``paper``: k distinct rows of the table.
    * ``crem-code``: int(p k) draws with replacement from the first k rows, so that much of the
      table is never seen.

    Raises:
        InputError: the proportion leaves no row.

    Example:
        >>> len(background_rows(512, 0.4, "paper")), len(background_rows(512, 0.4, "crem-code"))
        (204, 81)
    """
    size = background_size(n_rows, proportion, recipe)
    rng = np.random.RandomState(STUDY_SEED)
    if recipe == "paper":
        return np.asarray(rng.choice(n_rows, size, replace=False))
    return np.asarray(rng.randint(0, int(proportion * n_rows), size))


def background_size(n_rows: int, proportion: float, recipe: str) -> int:
    """The number of rows that `background_rows` draws.

    Raises:
        InputError: the proportion leaves no row.
    """
    k = int(proportion * n_rows)
    size = k if recipe == "paper" else int(k * proportion)
    if size < 1:
        raise InputError(f"background proportion {proportion:g} of {n_rows} rows leaves no row")
    return size
