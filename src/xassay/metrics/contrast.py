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
Over all sets no other explanation, rescaled or not, comes closer than the exact one; a number
added to all attributions changes nothing, and is seen by their sum. A single column has no other to
be compared with: there the change itself counts.

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

N_SETS = 256
"""Sets a row, each asked with its complement; of nine columns or fewer these are all."""

_HALF = 4
"""Sets that are compared with each other."""

LEAST_SETS = 2 * _HALF
"""Sets a row that may be asked for: two groups, which show the sampling error."""

_MOST_UNKNOWNS = 2 / 3
"""The share of its equations that a least-squares fit may have as unknowns."""

_ROUNDING = 1e-12

_CLEAR = 10.0
"""What a sum can tell must be so many times the sampling error of what an exact explanation would miss: of
its fidelity then less than a twentieth is lost to that error."""

_OF_CHANGES = 0.2
"""Of the sampling error of the changes themselves: they hold what a sum can tell too, which an exact
explanation would not miss."""

_ALIKE = 0.04
"""Shapley values that differ from their mean by less than a fifth of their size (the square of .2) tell no
column from another: the equal split is as good."""

_BLOCK = 2**24
"""The most numbers of a temporary array."""


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


def same_size_sets(n_features: int, seed: int, row_ids: IntArray, wanted: int | None = None) -> SameSizeSets:
    """Sets of at most half of the columns for each row, in groups of one size.

    Of a narrow table all sets are taken. Of a wider one they are drawn: the size s with
    probability proportional to 1/s + 1/(p - s) (that of the Shapley kernel, a set standing for
    its complement too), stratified; then s columns at random.

    Args:
        n_features: number of columns p.
        seed: fixes the draws, with the row's id.
        row_ids: shape (rows,).
        wanted: sets a row; default `N_SETS`.

    Example:
        >>> import numpy as np
        >>> same_size_sets(3, 0, np.arange(2)).chosen[0].astype(int).tolist()
        [[0, 0, 1], [0, 1, 0], [1, 0, 0]]
    """
    wanted = N_SETS if wanted is None else wanted
    if n_features < 2 or 2 ** (n_features - 1) - 1 <= wanted:  # noqa: PLR2004 - nothing to compare
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
    """All sets of 1 to p/2 columns, by size; of a single column, that column."""
    found = [
        [j in some for j in range(n_features)]
        for size in range(1, max(n_features // 2, 1) + 1)
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
        total: v(all), shape (rows,).
        energy: E, the mean over sizes of the variance of w among sets of one size, shape (rows,).
        size: A, what a sum can tell of which columns matter: K sum over j of (shapley_j - mean
            shapley)^2, shape (rows,), unbiased over the draw of sets.
        noise: sampling error of what an exact explanation would miss of A, shape (rows,).
        told: A where it is clear of that error, and of the columns' common size; else NaN: no
            column matters measurably more than another.
    """

    sets: SameSizeSets
    changes: FloatArray
    total: FloatArray
    energy: FloatArray
    size: FloatArray
    noise: FloatArray
    told: FloatArray

    @classmethod
    def of(cls, sets: SameSizeSets, changes: FloatArray, total: FloatArray | None = None) -> "Contrasts":
        """From the model's symmetrised changes, shape (rows, sets), and v(all); default 0."""
        whole = np.zeros(len(changes)) if total is None else np.asarray(total, dtype=np.float64)
        if not sets.chosen.size:
            nothing = np.full(len(changes), np.nan)
            return cls(sets, changes, whole, nothing, nothing, nothing, nothing)
        energy, size, noise = _energy(sets, changes), _sum_part(sets, changes), _noise(sets, changes)
        largest = np.abs(changes).max(axis=1, initial=0.0) ** 2
        p = sets.chosen.shape[2]
        alike = 0.0 if p == 1 else _ALIKE * _scale_of(sets) * whole**2 / p
        clear = (size > _CLEAR * noise) & (size > _ROUNDING * largest) & (size > alike)
        return cls(sets, changes, whole, energy, size, noise, np.where(clear, size, np.nan))

    @property
    def norm(self) -> FloatArray:
        """Length of the Shapley values, shape (rows,): root of A / K + v(all)^2 / p."""
        p = self.sets.chosen.shape[2]
        if p == 1:
            return np.abs(self.total)
        return np.asarray(np.sqrt(np.maximum(self.size, 0.0) / _scale_of(self.sets) + self.total**2 / p))

    def missed(self, contributed: FloatArray) -> FloatArray:
        """D, the part of A that an explanation gets wrong.

        K sum over j of ((phi_j - mean phi) - (shapley_j - mean shapley))^2, unbiased over the draw
        of sets.

        Args:
            contributed: shape (rows, features).

        Returns:
            float, shape (rows,); it may fall a little below 0, as the sets are drawn; NaN where unknown.
        """
        if not self.sets.chosen.size:
            return np.full(len(self.changes), np.nan)
        return _sum_part(self.sets, self.changes - _claimed(self.sets, contributed))

    def fidelity(self, contributed: FloatArray) -> FloatArray:
        """1 - D / A within [0, 1], shape (rows,); NaN where undefined."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(np.clip(1.0 - self.missed(contributed) / self.told, 0.0, 1.0))

    def apart(self, contributed: FloatArray) -> FloatArray:
        """Distance of the attributions from the Shapley values less both means, shape (rows,).

        In units of the score: root of D / K, less twice the sampling error, so that only a clear
        distance counts.
        """
        p = self.sets.chosen.shape[2]
        with np.errstate(invalid="ignore"):
            clear = np.maximum(self.missed(contributed) - 2 * self.noise, 0.0)
            return np.asarray(np.sqrt(clear / (1.0 if p == 1 else _scale_of(self.sets))))

    def alignment(self, contributed: FloatArray) -> FloatArray:
        """Cosine of attributions and Shapley values, each less its mean: fidelity whatever the scale.

        In [-1, 1]; 0 for an explanation that names no column; NaN where undefined.
        """
        if not self.sets.chosen.size:
            return np.full(len(self.changes), np.nan)
        claimed = _claimed(self.sets, contributed)
        own, apart = _sum_part(self.sets, claimed), _sum_part(self.sets, self.changes - claimed)
        with np.errstate(invalid="ignore", divide="ignore"):
            found = (self.told + own - apart) / 2 / np.sqrt(own * self.told)
        flat = own <= _ROUNDING * np.abs(claimed).max(axis=1, initial=0.0) ** 2
        return np.asarray(np.clip(np.where(flat & ~np.isnan(self.told), 0.0, found), -1.0, 1.0))

    def direction(self, contributed: FloatArray) -> FloatArray:
        """Cosine of attributions and Shapley values as they are, with their means; in [-1, 1].

        An explanation may be aligned less its mean and point elsewhere: of two columns with all
        signs wrong the larger one may still be the larger.
        """
        p = self.sets.chosen.shape[2]
        if p == 1 or not self.sets.chosen.shape[1]:
            return np.sign(contributed[:, 0] * self.total)
        scale, sums = _scale_of(self.sets), contributed.sum(axis=1)
        claimed = _claimed(self.sets, contributed)
        own, apart = _sum_part(self.sets, claimed), _sum_part(self.sets, self.changes - claimed)
        product = (self.size + own - apart) / 2 / scale + sums * self.total / p
        with np.errstate(invalid="ignore", divide="ignore"):
            found = product / (self.norm * np.sqrt((contributed**2).sum(axis=1)))
        return np.asarray(np.clip(found, -1.0, 1.0))


def _claimed(sets: SameSizeSets, contributed: FloatArray) -> FloatArray:
    """Sums of contributions over each set, shape (rows, sets)."""
    with np.errstate(invalid="ignore", over="ignore"):
        return np.concatenate(
            [
                np.einsum("rsp,rp->rs", sets.chosen[part].astype(np.float64), contributed[part])
                for part in _blocks(sets)
            ]
            or [np.empty((0, sets.chosen.shape[1]))]
        )


def _blocks(sets: SameSizeSets) -> list[slice]:
    """Parts of the rows, so small that temporary arrays are."""
    rows, n, p = sets.chosen.shape
    step = max(1, _BLOCK // max(n * p, 1))
    return [slice(start, start + step) for start in range(0, rows, step)]


def _scale_of(sets: SameSizeSets) -> float:
    """K: the mean over sizes, drawn by the Shapley kernel, of s (p - s) / (p (p - 1))."""
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
    with np.errstate(invalid="ignore"):  # a row that is not finite stays so
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
    if sets.chosen.shape[2] == 1:
        return np.asarray((values**2).mean(axis=1))
    centred = _centred(sets, values)
    if sets.complete:
        return np.asarray(centred**2 @ _weights(sets)[0])
    return np.asarray((centred**2).mean(axis=1) * _HALF / (_HALF - 1))


def _sum_part(sets: SameSizeSets, values: FloatArray) -> FloatArray:
    """The energy of the sum closest to some changes, unbiased over the draw of sets, shape (rows,)."""
    if sets.chosen.shape[2] == 1:
        return _energy(sets, values)
    if sets.complete:
        return _complete_part(sets, values)
    mean, error = _shares(sets, values)
    return np.asarray(mean - error)


def _complete_part(sets: SameSizeSets, values: FloatArray) -> FloatArray:
    centred, (weights, sizes) = _centred(sets, values), _weights(sets)
    among = sets.chosen[0] - (sizes / sets.chosen.shape[2])[:, None]
    found = (centred * weights) @ among
    return np.asarray((found**2).sum(axis=1) / _scale_of(sets))


def _shares(sets: SameSizeSets, values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Of drawn sets: the energy of the estimated sum, and the part of it that is its own sampling error.

    The two groups of each stratum of sizes are independent, and show it.
    """
    scale, p = _scale_of(sets), sets.chosen.shape[2]
    energy, error = np.empty(len(values)), np.empty(len(values))
    for part in _blocks(sets):
        among = sets.chosen[part] - sets.sizes[part][:, :, None] / p
        centred = _grouped(_centred(sets, values[part]))
        halves = np.einsum("rgh,rghp->rgp", centred, _grouped(among)) / (_HALF - 1)
        pairs = halves.reshape(len(halves), -1, 2, p)
        energy[part] = (pairs.mean(axis=(1, 2)) ** 2).sum(axis=1)
        apart = (pairs[:, :, 0] - pairs[:, :, 1]) ** 2
        error[part] = apart.sum(axis=(1, 2)) / (2 * pairs.shape[1]) ** 2
    return energy / scale, error / scale


def _noise(sets: SameSizeSets, changes: FloatArray) -> FloatArray:
    """Sampling error of what an exact explanation would miss, shape (rows,): none where all sets are taken.

    From what the best sum leaves, by least squares; where there are too few sets for that, from the
    changes themselves. A squared length of p numbers with error e in all scatters by e sqrt(2 / p).
    """
    rows, n, p = sets.chosen.shape
    if sets.complete:
        return np.zeros(rows)
    equations, left, free = n - n // _HALF, changes, _OF_CHANGES
    if p - 1 <= _MOST_UNKNOWNS * equations:
        left, free = _residuals(sets, changes), equations / (equations - (p - 1))
    return np.asarray(np.sqrt(2.0 / p) * free * _shares(sets, left)[1])


def _residuals(sets: SameSizeSets, changes: FloatArray) -> FloatArray:
    """What the best sum leaves of changes less the mean of their group."""
    target, left = _centred(sets, changes), np.full(changes.shape, np.nan)
    for part in _blocks(sets):
        among = _centred(sets, sets.chosen[part].astype(np.float64))
        for k in np.flatnonzero(np.isfinite(target[part]).all(axis=1)):
            row = part.start + k
            solution, *_ = np.linalg.lstsq(among[k], target[row], rcond=None)
            left[row] = target[row] - among[k] @ solution
    return left
