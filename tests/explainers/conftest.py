import itertools
from collections.abc import Callable
from math import factorial

import attrs
import numpy as np
import pytest

from xassay import circuits
from xassay.models import ReconstructionDetector
from xassay.types import FloatArray, Predict


@attrs.frozen(eq=False)
class Case:
    """One output of c17 as explainers meet it: rows of an altered table, and a part of it as background."""

    predict: Predict
    background: FloatArray
    rows: FloatArray

    def score(self, rows: FloatArray) -> FloatArray:
        return self.predict(rows)[:, 0]


def c17(n_noise: int) -> Case:
    circuit = circuits.load("c17")
    original = circuits.TruthTable(circuit, n_noise).rows()
    altered = circuits.TruthTable(circuits.negate(circuit, "z4"), n_noise).rows()
    detector = ReconstructionDetector().fit(original, altered, n_inputs=5)
    wrong = altered[detector.anomalous_outputs(altered)[:, 1]].astype(float)
    chosen = np.random.default_rng(27).choice(len(altered), 19, replace=False)
    return Case(detector.output_function(np.array([1])), altered[chosen].astype(float), wrong[::3])


@pytest.fixture(scope="module")
def plain() -> Case:
    """c17 without noise: seven columns, so that all 126 coalitions fit."""
    return c17(0)


@pytest.fixture(scope="module")
def noisy() -> Case:
    """c17 with two noise columns: nine columns, 510 coalitions."""
    return c17(2)


@pytest.fixture(scope="module")
def shapley() -> Callable[[Predict, FloatArray, FloatArray], FloatArray]:
    """Shapley values by their definition, absent features being drawn jointly from the background."""

    def exact(predict: Predict, row: FloatArray, background: FloatArray) -> FloatArray:
        n = len(row)
        value = {}
        for size in range(n + 1):
            for subset in itertools.combinations(range(n), size):
                mixed = background.copy()
                mixed[:, list(subset)] = row[list(subset)]
                value[subset] = float(np.mean(predict(mixed)))
        phi = np.zeros(n)
        for subset, worth in value.items():
            for j in set(range(n)) - set(subset):
                weight = factorial(len(subset)) * factorial(n - len(subset) - 1) / factorial(n)
                phi[j] += weight * (value[tuple(sorted((*subset, j)))] - worth)
        return phi

    return exact


@pytest.fixture
def spy() -> Callable[[Predict], tuple[Predict, set[float]]]:
    """A model that remembers every value it was shown."""

    def watched(predict: Predict) -> tuple[Predict, set[float]]:
        seen: set[float] = set()

        def watching(rows: FloatArray) -> FloatArray:
            seen.update(np.unique(rows).tolist())
            return predict(rows)

        return watching, seen

    return watched
