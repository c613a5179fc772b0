"""The metrics that take a model's answers, and those of stability, as functions of one form."""

from collections.abc import Callable

import numpy as np

from xassay import metrics
from xassay.testing import Asked
from xassay.types import FloatArray

Score = Callable[..., FloatArray]


GRID = np.array([1, 2, 3, 4])


def along_a_path(
    metric: Callable[..., FloatArray], *, first: bool, changes: bool = False, area: bool = False
) -> Score:
    """A measure of an explanation's order: what is asked is the first columns, or all others."""

    def score(phi: FloatArray, asked: Asked, seed: int = 0) -> FloatArray:
        sets = metrics.prefix_sets(phi, GRID, asked.ids, seed, None if changes else asked.total)
        sets = sets if first else ~sets
        if changes:
            return metric(asked.changes(sets))
        return metric(asked.drops(sets), asked.total, *((GRID, 5) if area else ()))

    return score


def of_sets(metric: Callable[..., FloatArray]) -> Score:
    def score(phi: FloatArray, asked: Asked, seed: int = 0) -> FloatArray:
        return metric(phi, asked.subsets, asked.drops(asked.subsets))

    return score


def best_scale(phi: FloatArray, asked: Asked, seed: int = 0) -> FloatArray:
    return metrics.best_scale(metrics.claimed_sums(phi, asked.subsets), asked.drops(asked.subsets))


def completeness_gap(phi: FloatArray, asked: Asked, seed: int = 0) -> FloatArray:
    return metrics.completeness_gap(phi, asked.total)


def contrasted(method: str) -> Score:
    def score(phi: FloatArray, asked: Asked, seed: int = 0) -> FloatArray:
        sets = metrics.same_size_sets(phi.shape[1], 0, asked.ids)
        changes = metrics.symmetrised(asked.drops(sets.chosen), asked.drops(~sets.chosen), asked.total)
        return getattr(metrics.Contrasts.of(sets, changes), method)(phi)

    return score


CORRELATED: dict[str, Score] = {
    "alignment": contrasted("alignment"),
    "sensitivity_n": of_sets(metrics.sensitivity_n),
    "rank_sensitivity_n": of_sets(metrics.rank_sensitivity_n),
    "faithfulness_correlation": of_sets(metrics.faithfulness_correlation),
}
ORDERED: dict[str, Score] = {
    "comprehensiveness": along_a_path(metrics.comprehensiveness, first=True),
    "sufficiency": along_a_path(metrics.sufficiency, first=False),
    "deletion_area": along_a_path(metrics.deletion_area, first=True, area=True),
    "insertion_area": along_a_path(metrics.insertion_area, first=False, area=True),
    "pgi": along_a_path(metrics.pgi, first=True, changes=True),
    "pgu": along_a_path(metrics.pgu, first=False, changes=True),
}
WHICH = {**CORRELATED, **ORDERED}
"""Which columns matter."""
HOW_MUCH: dict[str, Score] = {"completeness_gap": completeness_gap, "best_scale": best_scale}
"""How much they do: an even split of the total is as good as any."""
fidelity = contrasted("fidelity")


def max_sensitivity(values: FloatArray, neighbours: FloatArray, distances: FloatArray) -> FloatArray:
    return metrics.max_sensitivity(values, neighbours)


STABILITY: dict[str, Score] = {"max_sensitivity": max_sensitivity, "local_lipschitz": metrics.local_lipschitz}
