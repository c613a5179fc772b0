"""Points near a row of a mixed table: numbers are moved a little, categories drawn anew at times."""

import numpy as np

from xassay.seeds import generator
from xassay.types import FloatArray, IntArray


def points_near(
    X: FloatArray,
    sigmas: FloatArray,
    n_samples: int,
    seed: int,
    row_ids: IntArray,
    *,
    spreads: FloatArray,
    pool: FloatArray,
    swapped: tuple[int, ...] = (),
) -> FloatArray:
    r"""Perturbations of rows whose columns are not all numbers.

    A number moves by sigma e times its column's standard deviation, with e standard normal:
    the causal metric's perturbation of standardised columns. A category is replaced, with
    probability min(1, sigma^2 / 2), by a random row's: a draw of an independent value moves a
    column of variance 1 by 2 in the mean square, the noise by sigma^2, so the rates match.

    Args:
        X: shape (rows, features).
        sigmas: shape (sigmas,), above 0.
        n_samples: points a row and sigma.
        seed: fixes the draws, with the row's id.
        row_ids: shape (rows,).
        spreads: standard deviation of each column, shape (features,).
        pool: rows that categories are drawn from.
        swapped: positions of the categories.

    Returns:
        float, shape (sigmas, rows, n_samples, features). All sigmas share their noise.
    """
    p = X.shape[1]
    columns = list(swapped)
    moved = np.repeat(X[None, :, None], len(sigmas), axis=0).repeat(n_samples, axis=2)
    numbers = np.setdiff1d(np.arange(p), columns)
    for k, row_id in enumerate(row_ids):
        noise = generator(seed, "causal", int(row_id)).standard_normal((n_samples, p)) * spreads
        moved[:, k, :, numbers] += (sigmas[:, None, None] * noise[:, numbers]).transpose(2, 0, 1)
        if not columns:
            continue
        rng = generator(seed, "resample", int(row_id))
        luck, donors = rng.random((n_samples, len(columns))), rng.integers(len(pool), size=(n_samples, 1))
        drawn = pool[donors, columns]
        rates = np.minimum(1.0, sigmas**2 / 2)[:, None, None]
        moved[:, k, :, columns] = np.where(luck < rates, drawn, X[k, columns]).transpose(2, 0, 1)
    return moved
