"""Which coalitions Kernel SHAP evaluates, and the linear map from their worths to Shapley values.

Reference:
    Lundberg & Lee, NeurIPS 2017, arXiv:1705.07874, theorem 2; paired sampling after the shap
    package: Covert & Lee, AISTATS 2021, arXiv:2012.01536.
"""

import itertools
from math import comb

import attrs
import numpy as np

from xassay.types import BoolArray, FloatArray

_WHOLE = 1.0 - 1e-8
_SINGULAR = 1e-9


@attrs.frozen(eq=False)
class Coalitions:
    """Coalitions and what each counts in the regression.

    Attributes:
        members: bool, shape (coalitions, features).
        weights: shape (coalitions,).
    """

    members: BoolArray
    weights: FloatArray

    def solver(self) -> tuple[FloatArray, FloatArray]:
        """The map from worths to values.

        Least squares under efficiency: the last feature's value is what the others leave of
        f(x) - mean, so phi_others = P (v - mean) - q (f(x) - mean).

        Returns:
            P, shape (features - 1, coalitions), and q, shape (features - 1,).
        """
        last = self.members[:, -1].astype(np.float64)
        design = self.members[:, :-1] - last[:, None]
        roots = np.sqrt(self.weights)
        # few coalitions may not determine the values: the least ones that fit are taken then
        projection = np.linalg.pinv(design * roots[:, None], rcond=_SINGULAR) * roots
        return np.asarray(projection, dtype=np.float64), np.asarray(projection @ last)


def choose(n_features: int, nsamples: int, rng: np.random.Generator) -> Coalitions:
    """Coalitions as the package chooses them.

    Sizes are taken from the ends, each with its complement's: as long as the budget covers
    all coalitions of a size they are enumerated with the Shapley kernel's weights; the rest of
    the budget is drawn in pairs of a coalition and its complement, sizes by the kernel, and
    shares the weight that is left by how often each was drawn.

    Args:
        n_features: number M of features that vary, at least 2.
        nsamples: number of coalitions; 2^M - 2 at most.
        rng: draws.

    Example:
        >>> chosen = choose(3, 100, np.random.default_rng(0))
        >>> len(chosen.members)
        6
    """
    m = n_features
    budget = min(nsamples, 2**m - 2)
    n_sizes, n_paired = -(-(m - 1) // 2), (m - 1) // 2
    kernel = np.array([(m - 1) / (size * (m - size)) for size in range(1, n_sizes + 1)])
    kernel[:n_paired] *= 2
    kernel /= kernel.sum()
    members: list[BoolArray] = []
    weights: list[float] = []
    left, remaining, n_full = float(budget), kernel.copy(), 0
    for size in range(1, n_sizes + 1):
        paired = size <= n_paired
        count = comb(m, size) * (2 if paired else 1)
        if left * remaining[size - 1] / count < _WHOLE:
            break
        n_full += 1
        left -= count
        if remaining[size - 1] < 1.0:
            remaining /= 1 - remaining[size - 1]
        for chosen in itertools.combinations(range(m), size):
            coalition = np.zeros(m, dtype=np.bool_)
            coalition[list(chosen)] = True
            members += [coalition, ~coalition] if paired else [coalition]
        weights += [kernel[size - 1] / count] * count
    if n_full < n_sizes:
        drawn, counts = _draw(m, budget - len(members), kernel, n_full, n_paired, rng)
        members += drawn
        weights += list(counts * kernel[n_full:].sum() / counts.sum())
    return Coalitions(np.array(members), np.array(weights))


def _draw(
    m: int, left: int, kernel: FloatArray, n_full: int, n_paired: int, rng: np.random.Generator
) -> tuple[list[BoolArray], FloatArray]:
    """Distinct coalitions of the sizes that are not enumerated, and how often each was drawn."""
    chances = kernel.copy()
    chances[:n_paired] /= 2
    chances = chances[n_full:] / chances[n_full:].sum()
    sizes = rng.choice(len(chances), size=4 * left, p=chances) + n_full + 1
    members: list[BoolArray] = []
    counts: list[float] = []
    positions: dict[bytes, int] = {}
    for size in sizes:
        if len(members) >= left:
            break
        coalition = np.zeros(m, dtype=np.bool_)
        coalition[rng.permutation(m)[:size]] = True
        for one in (coalition, ~coalition) if size <= n_paired else (coalition,):
            key = one.tobytes()
            if key in positions:
                counts[positions[key]] += 1
            elif len(members) < left:
                positions[key] = len(members)
                members.append(one)
                counts.append(1.0)
    return members, np.array(counts)
