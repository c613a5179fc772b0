r"""Which columns matter: sets of columns of the *same size* held against each other.

Whoever knows f(x) - E f alone knows most of what happens when many columns are replaced, and
nothing of which columns matter. Among sets of one size that knowledge is worth nothing: the
even split, the total shared out equally, claims the same change for all of them. So the model
is asked at sets S of columns, and what is compared is how far its change departs from the mean
change of sets of that size.

With v(S) = f(x) - E_b f(b_S, x_rest) the change when the columns of S are replaced by a
background row's, the symmetrised change w(S) = (v(S) + v(all) - v(rest)) / 2 has the Shapley
values of v, and its interactions of two columns cancel. Sizes s are drawn in proportion to
1 / (s (p - s)), the Shapley kernel: then the sum of attributions closest to w, after the mean
of each size is taken out, is that of the Shapley values (less their mean), whatever the model.
No other explanation, rescaled or not, comes closer than the exact one.

References:
    Ancona et al., ICLR 2018, arXiv:1711.06104 (Sensitivity-n: sums over sets of one size).
    Lundberg & Lee, NeurIPS 2017, arXiv:1705.07874 (the Shapley kernel).
    Covert & Lee, AISTATS 2021, arXiv:2012.01536 (sets with their complements).
"""

import functools
import itertools
import math

import attrs
import numpy as np

from xassay.seeds import generator
from xassay.types import BoolArray, FloatArray, IntArray

N_SETS = 128
"""Sets a row, each asked with its complement."""

MOST_SETS = 256
"""Sets a row of a wide table."""

_HALF = 4
"""Sets that are compared with each other."""

LEAST_SETS = 2 * _HALF
"""Sets a row that may be asked for: two groups, which show the sampling error."""

_MOST_UNKNOWNS = 2 / 3
"""The share of its equations that a least-squares fit may have as unknowns."""

_ROUNDING = 1e-12
_NOISE = 4.0
"""What a sum can tell must be so many times its own sampling error, or nothing is judged."""


@attrs.frozen(eq=False)
class SameSizeSets:
    """Sets of columns in groups of one size.

    Attributes:
        chosen: which columns are in a set, bool (rows, sets, features): at most half of them.
        complete: whether these are all sets; else they are drawn, in groups of `_HALF`
            one after the other, two groups a stratum of sizes.
    """

    chosen: BoolArray
    complete: bool

    @property
    def sizes(self) -> IntArray:
        """Columns of each set, shape (rows, sets)."""
        return np.asarray(self.chosen.sum(axis=2))

    @property
    def comparable(self) -> bool:
        """Whether there are sets of one size to compare: not of a single column."""
        _, n, p = self.chosen.shape
        return bool(n > 0 and p > 1)


def n_sets(n_features: int) -> int:
    """How many sets are drawn for a row of so many columns, where they are not all taken.

    Example:
        >>> n_sets(30), n_sets(100), n_sets(1000)
        (128, 200, 256)
    """
    wanted = min(MOST_SETS, max(N_SETS, 2 * n_features))
    return wanted - wanted % (2 * _HALF)


def same_size_sets(n_features: int, seed: int, row_ids: IntArray, wanted: int | None = None) -> SameSizeSets:
    """Sets of at most half of the columns for each row, in groups of one size.

    Of a narrow table all sets are taken. Of a wider one they are drawn: the size s with
    probability proportional to 1/s + 1/(p - s) (that of the Shapley kernel, a set standing for
    its complement too), stratified; then s columns at random.

    Args:
        n_features: number of columns p.
        seed: fixes the draws, with the row's id.
        row_ids: shape (rows,).
        wanted: sets a row; default `n_sets`.

    Example:
        >>> import numpy as np
        >>> same_size_sets(3, 0, np.arange(2)).chosen[0].astype(int).tolist()
        [[0, 0, 1], [0, 1, 0], [1, 0, 0]]
    """
    wanted = n_sets(n_features) if wanted is None else wanted
    if 2 ** (n_features - 1) - 1 <= wanted:
        every = _all_sets(n_features)
        return SameSizeSets(np.broadcast_to(every, (len(row_ids), *every.shape)), complete=True)
    n_groups = max(2, wanted // (2 * _HALF)) * 2
    shares = np.cumsum(_kernel(n_features))
    chosen = np.zeros((len(row_ids), n_groups * _HALF, n_features), dtype=np.bool_)
    for k, row_id in enumerate(row_ids):
        rng = generator(seed, "sets of one size", int(row_id))
        strata = (np.repeat(np.arange(n_groups // 2), 2) + rng.random(n_groups)) / (n_groups // 2)
        sizes = 1 + np.minimum(np.searchsorted(shares, strata, side="right"), len(shares) - 1)
        ranks = rng.random((n_groups * _HALF, n_features)).argsort(axis=1).argsort(axis=1)
        chosen[k] = ranks < np.repeat(sizes, _HALF)[:, None]
    return SameSizeSets(chosen, complete=False)


@functools.lru_cache
def _all_sets(n_features: int) -> BoolArray:
    """All sets of 1 to p/2 columns, by size."""
    found = [
        [j in some for j in range(n_features)]
        for size in range(1, n_features // 2 + 1)
        for some in itertools.combinations(range(n_features), size)
    ]
    return np.array(sorted(found, key=lambda s: (sum(s), s)), dtype=np.bool_).reshape(-1, n_features)


def _kernel(n_features: int) -> FloatArray:
    """Probability of each size from 1 to p/2; a set of half of the columns is its complement's size."""
    sizes = np.arange(1, n_features // 2 + 1)
    weights = np.where(2 * sizes == n_features, 1.0, 2.0) / (sizes * (n_features - sizes))
    return np.asarray(weights / weights.sum())


def symmetrised(removed: FloatArray, kept: FloatArray, total: FloatArray) -> FloatArray:
    """w(S) = (v(S) + v(all) - v(rest)) / 2.

    Args:
        removed: v(S), shape (rows, sets).
        kept: v(rest), the change when all but S is replaced, shape (rows, sets).
        total: v(all), shape (rows,).
    """
    with np.errstate(invalid="ignore", over="ignore"):
        return np.asarray((removed + total[:, None] - kept) / 2)


@attrs.frozen(eq=False)
class Contrasts:
    """A model's changes at sets of one size, ready to judge explanations by.

    Attributes:
        sets: the sets.
        changes: w(S), shape (rows, sets); NaN where the model gave none.
        energy: E, the mean over sizes of the variance of w among sets of one size, shape (rows,).
        ceiling: B, the part of E that the best sum of attributions leaves, shape (rows,); NaN where
            there are too few sets for least squares.
        told: A = E - B, what a sum can tell of which columns matter: the energy of the Shapley
            values less their mean, shape (rows,); NaN where it drowns in its sampling error.
    """

    sets: SameSizeSets
    changes: FloatArray
    energy: FloatArray
    ceiling: FloatArray
    told: FloatArray

    @classmethod
    def of(cls, sets: SameSizeSets, changes: FloatArray) -> "Contrasts":
        """From the model's symmetrised changes, shape (rows, sets)."""
        if not sets.comparable:
            nothing = np.full(len(changes), np.nan)
            return cls(sets, changes, nothing, nothing, nothing)
        energy, ceiling = _energy(sets, changes), _ceiling(sets, changes)
        told = np.where(np.isnan(ceiling), _sum_part(sets, changes), energy - ceiling)
        noise = _noise(sets) * np.where(np.isnan(ceiling), energy, ceiling)
        size = np.abs(changes).max(axis=1, initial=0.0) ** 2
        enough = (told > noise) & (told > _ROUNDING * size)
        return cls(sets, changes, energy, ceiling, np.where(enough, told, np.nan))

    def missed(self, contributed: FloatArray) -> FloatArray:
        """D, the part of A that an explanation gets wrong: what it leaves beyond what the best sum leaves.

        In expectation K sum over j of ((phi_j - mean phi) - (shapley_j - mean shapley))^2.

        Args:
            contributed: shape (rows, features).

        Returns:
            float, shape (rows,); it may fall a little below 0, as the sets are drawn; NaN where unknown.
        """
        if not self.sets.comparable:
            return np.full(len(self.changes), np.nan)
        left = self.changes - self._claimed(contributed)
        return np.where(
            np.isnan(self.ceiling), _sum_part(self.sets, left), _energy(self.sets, left) - self.ceiling
        )

    def fidelity(self, contributed: FloatArray) -> FloatArray:
        """1 - D / A within [0, 1], shape (rows,); NaN where undefined."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(np.clip(1.0 - self.missed(contributed) / self.told, 0.0, 1.0))

    def alignment(self, contributed: FloatArray) -> FloatArray:
        """Correlation of claimed and true changes among sets of one size, as a share of the best sum's.

        The cosine of attributions and Shapley values, each less its mean: fidelity whatever the
        scale. In [-1, 1]; 0 for an explanation that names no column; NaN where undefined.
        """
        if not self.sets.comparable:
            return np.full(len(self.changes), np.nan)
        claimed = self._claimed(contributed)
        own, left = _energy(self.sets, claimed), _energy(self.sets, self.changes - claimed)
        product, length = (self.energy + own - left) / 2, own
        few = np.isnan(self.ceiling)
        if few.any():  # by the estimate that `told` is: the exact values have 1 then
            part, apart = _sum_part(self.sets, claimed), _sum_part(self.sets, self.changes - claimed)
            product = np.where(few, (self.told + part - apart) / 2, product)
            length = np.where(few, np.maximum(part, _noise(self.sets) * own), own)
        with np.errstate(invalid="ignore", divide="ignore"):
            found = product / np.sqrt(length * self.told)
        flat = own <= _ROUNDING * np.abs(claimed).max(axis=1, initial=0.0) ** 2
        return np.asarray(np.clip(np.where(flat & ~np.isnan(self.told), 0.0, found), -1.0, 1.0))

    def _claimed(self, contributed: FloatArray) -> FloatArray:
        with np.errstate(invalid="ignore", over="ignore"):
            return np.asarray(
                np.einsum("rsp,rp->rs", self.sets.chosen.astype(np.float64), contributed, optimize=True)
            )


def _scale_of(sets: SameSizeSets) -> float:
    """K: the mean over sizes of s (p - s) / (p (p - 1)), which is p - 1 over that of the kernel's sum."""
    p = sets.chosen.shape[2]
    return float(1.0 / (p * sum(1.0 / (s * (p - s)) for s in range(1, p))))


def _grouped(values: FloatArray) -> FloatArray:
    """Drawn sets by group: (rows, sets, ...) to (rows, groups, _HALF, ...)."""
    return values.reshape(values.shape[0], -1, _HALF, *values.shape[2:])


def _weights(sets: SameSizeSets) -> tuple[FloatArray, IntArray]:
    """Of all sets: the weight of each, and its size."""
    sizes, p = sets.chosen[0].sum(axis=1), sets.chosen.shape[2]
    counts = np.array([math.comb(p, int(size)) for size in sizes], dtype=np.float64)
    return _kernel(p)[sizes - 1] / counts, sizes


def _centred(sets: SameSizeSets, values: FloatArray) -> FloatArray:
    """Values less the mean of their group, which has one size; shape (rows, sets, ...) as given."""
    if not sets.complete:
        grouped = _grouped(values)
        return np.asarray((grouped - grouped.mean(axis=2, keepdims=True)).reshape(values.shape))
    _, sizes = _weights(sets)
    found = np.array(values, dtype=np.float64)
    for size in np.unique(sizes):
        found[:, sizes == size] -= found[:, sizes == size].mean(axis=1, keepdims=True)
    return found


def _energy(sets: SameSizeSets, values: FloatArray) -> FloatArray:
    """Mean over sizes of the variance among sets of one size, shape (rows,)."""
    centred = _centred(sets, values)
    if sets.complete:
        return np.asarray(centred**2 @ _weights(sets)[0])
    return np.asarray((centred**2).mean(axis=1) * _HALF / (_HALF - 1))


def _sum_part(sets: SameSizeSets, values: FloatArray) -> FloatArray:
    """The energy of the sum closest to some changes, unbiased over the draw of sets, shape (rows,)."""
    scale, chosen = _scale_of(sets), sets.chosen.astype(np.float64)
    centred = _centred(sets, values)
    if sets.complete:
        found = np.einsum("rs,rsp->rp", centred * _weights(sets)[0], chosen)
        return np.asarray((found**2).sum(axis=1) / scale)
    p = chosen.shape[2]
    halves = np.einsum("rgh,rghp->rgp", _grouped(centred), _grouped(chosen)) / (_HALF - 1)
    pairs = halves.reshape(len(values), -1, 2, p)
    mean = pairs.mean(axis=(1, 2))
    # less its own sampling error, which the two halves of each stratum show
    error = ((pairs[:, :, 0] - pairs[:, :, 1]) ** 2).sum(axis=(1, 2)) / (2 * pairs.shape[1]) ** 2
    return np.asarray(((mean**2).sum(axis=1) - error) / scale)


def _noise(sets: SameSizeSets) -> float:
    """Below which share of an energy its estimate is not told from sampling error."""
    _, n, p = sets.chosen.shape
    return 0.0 if sets.complete else _NOISE * float(np.sqrt(2.0 * p) / n)


def _ceiling(sets: SameSizeSets, changes: FloatArray) -> FloatArray:
    """What the best sum leaves, by weighted least squares, shape (rows,).

    NaN where there are too few sets for so many columns.
    """
    rows, n, p = sets.chosen.shape
    if sets.complete:
        return _energy(sets, changes) - _sum_part(sets, changes)
    equations = n - n // _HALF
    left = np.full(rows, np.nan)
    if p - 1 > _MOST_UNKNOWNS * equations:
        return left
    known = np.flatnonzero(np.isfinite(changes).all(axis=1))
    among, target = _centred(sets, sets.chosen.astype(np.float64)), _centred(sets, changes)
    for k in known:
        solution, *_ = np.linalg.lstsq(among[k], target[k], rcond=None)
        left[k] = ((target[k] - among[k] @ solution) ** 2).sum() / (equations - (p - 1))
    return left
