"""What a detector that learned says of normal rows and of anomalies."""

import functools
from typing import Any

import attrs
import numpy as np
import polars as pl

from xassay.circuits import Circuit, Fault, TruthTable, differences
from xassay.models.learned_detectors import LearnedDetector, detector_version, make_detector
from xassay.seeds import generator, legacy_seed
from xassay.studies.kit.cells import StudyCell
from xassay.studies.kit.code import own_code
from xassay.types import IntArray

MOST_ROWS = 16_384
"""Rows that a detector learns from, and that it is tried on, at most."""

CODE = ("circuits", "models", "studies/crem/detection.py")
"""Our sources that decide what a detector says."""


@functools.lru_cache(maxsize=4)
def learned_detector(circuit: Circuit, n_noise: int, spec: str, seed: int) -> LearnedDetector:
    """The detector, fitted to the original circuit's table; versions of a circuit share it."""
    table = TruthTable(circuit, n_noise)
    rows = table.rows(_some(np.arange(table.n_rows), seed, "normal rows", circuit.name))
    detector = make_detector(spec, legacy_seed(seed, "detector", circuit.name, n_noise))
    return detector.fit(rows.astype(np.float64), n_outputs=len(circuit.outputs))


def _some(rows: IntArray, seed: int, *words: str) -> IntArray:
    """At most `MOST_ROWS` of these rows, at random."""
    if len(rows) <= MOST_ROWS:
        return rows
    return np.sort(generator(seed, *words).permutation(rows)[:MOST_ROWS])


@attrs.frozen
class DetectionCell(StudyCell):
    """One detector on one altered version at one noise level.

    Attributes:
        circuit: the original.
        fault: how it is altered.
        detector: as the user named it.
        n_noise: number of noise columns.
        seed: the run's seed.
    """

    circuit: Circuit
    fault: Fault
    detector: str
    n_noise: int
    seed: int

    @property
    def content(self) -> dict[str, Any]:
        """Everything that decides the result, versions of the code included."""
        code = {"own code": own_code(*CODE), "code": detector_version(self.detector)}
        return {**self.written(), **code, "cell": "detection"}

    @property
    def words(self) -> tuple[str, ...]:
        """What tells it from other cells, for people."""
        return (self.circuit.name, str(self.fault), "detection", f"noise{self.n_noise}")

    @property
    def sampled(self) -> tuple[bool, bool]:
        """Whether normal rows, and anomalous ones, are tried in part alone."""
        wrong = differences(self.circuit, self.fault.apply(self.circuit))
        anomalous = int(np.count_nonzero(wrong.any(axis=1))) << self.n_noise
        return TruthTable(self.circuit, self.n_noise).n_rows > MOST_ROWS, anomalous > MOST_ROWS

    @property
    def cost(self) -> float:
        """Expected milliseconds, roughly: of the fit."""
        return 2.0 * min(MOST_ROWS, TruthTable(self.circuit, self.n_noise).n_rows)

    def run(self) -> pl.DataFrame:
        """Try the detector on normal rows and on all anomalous ones (at most `MOST_ROWS` of each).

        Returns:
            One row a table row: ``row``, ``anomalous``, ``score``, ``called`` (whether the detector
            calls it anomalous) and ``located`` (of anomalous rows, whether an output that it points at
            is wrong; null where it points at none in particular).
        """
        altered = self.fault.apply(self.circuit)
        table, clean = TruthTable(altered, self.n_noise), TruthTable(self.circuit, self.n_noise)
        wrong = differences(self.circuit, altered)
        detector = learned_detector(self.circuit, self.n_noise, self.detector, self.seed)
        frames = []
        inputs = np.flatnonzero(wrong.any(axis=1))
        anomalous = ((inputs[:, None] << self.n_noise) + np.arange(2**self.n_noise)).reshape(-1)
        for is_anomalous, own, every in ((False, clean, np.arange(clean.n_rows)), (True, table, anomalous)):
            ids = _some(every, self.seed, "tried rows", self.circuit.name, str(self.fault), str(is_anomalous))
            rows = own.rows(ids).astype(np.float64)
            score = detector.decision_function(rows)
            pointed = detector.explained_outputs(rows)
            right = (pointed & wrong[own.input_ids(ids)]).any(axis=1)
            says = is_anomalous and not pointed.all()
            frames.append(
                pl.DataFrame(
                    {
                        "row": ids,
                        "anomalous": is_anomalous,
                        "score": score,
                        "called": score > detector.threshold_,  # type: ignore[attr-defined]
                        "located": pl.Series(right if says else [None] * len(ids), dtype=pl.Boolean),
                    }
                )
            )
        return pl.concat(frames)
