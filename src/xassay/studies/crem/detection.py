"""How well a detector that learned tells the anomalies, beside how well it is explained."""

import functools
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs
import numpy as np
import polars as pl

from xassay.circuits import Circuit, Fault, TruthTable, differences
from xassay.metrics import describe
from xassay.models.learned_detectors import LearnedDetector, detector_version, make_detector
from xassay.seeds import generator, legacy_seed
from xassay.statistics import sample_interval
from xassay.studies.code import own_code
from xassay.types import Failure, IntArray

MOST_ROWS = 16_384
"""Rows that a detector learns from, and that it is tried on, at most."""

CODE = ("circuits", "models", "studies/crem")
QUALITY = ("auc", "precision", "recall", "located")


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
class DetectionCell:
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
    def key(self) -> str:
        """Short hash of everything that decides the result, versions of the code included."""
        content = {field.name: repr(getattr(self, field.name)) for field in attrs.fields(DetectionCell)}
        content |= {"own code": own_code(*CODE), "code": detector_version(self.detector), "cell": "detection"}
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]

    @property
    def label(self) -> str:
        """Readable, and safe as a file name."""
        return f"{self.circuit.name}-{self.fault}-detection-noise{self.n_noise}".replace(":", "-")

    @property
    def turn(self) -> int:
        """No cell goes before another."""
        return 0

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


def quality(
    cells: Sequence[DetectionCell], frames: Mapping[str, pl.DataFrame], failures: Mapping[str, Failure]
) -> Iterator[dict[str, Any]]:
    """Rows of results: the detector's quality on every version, and its mean over each circuit's.

    The mean has an interval over versions, as scores of explanations have.
    """
    by_circuit: dict[tuple[str, int], list[dict[str, float]]] = {}
    for cell in cells:
        frame, failure = frames.get(cell.key), failures.get(cell.key)
        found = {} if frame is None else _quality(frame)
        by_circuit.setdefault((cell.circuit.name, cell.n_noise), []).append(found)
        n = 0 if frame is None else int(frame["anomalous"].sum())
        for metric, value in found.items():
            yield _row(cell, metric, value, n) | {"level": "version", "fault": str(cell.fault)}
        if failure is not None:
            yield _row(cell, "auc", None, 0) | {
                "level": "version",
                "fault": str(cell.fault),
                "status": failure.status,
                "reason": failure.reason,
            }
    first = {(cell.circuit.name, cell.n_noise): cell for cell in reversed(cells)}
    for place, several in by_circuit.items():
        for metric in QUALITY:
            values = [found[metric] for found in several if metric in found]
            if values:
                bounds = sample_interval(np.array(values), describe(metric).low, describe(metric).high)
                yield _row(first[place], metric, float(np.mean(values)), len(values)) | {
                    "level": "circuit",
                    "ci_low": bounds[0] if bounds else None,
                    "ci_high": bounds[1] if bounds else None,
                }


def _quality(frame: pl.DataFrame) -> dict[str, float]:
    from sklearn.metrics import precision_score, recall_score, roc_auc_score

    truth, called = frame["anomalous"].to_numpy(), frame["called"].to_numpy()
    found = {
        "auc": float(roc_auc_score(truth, frame["score"].to_numpy())),
        "precision": float(precision_score(truth, called, zero_division=0.0)),
        "recall": float(recall_score(truth, called)),
    }
    located = frame["located"].drop_nulls()
    return {**found, "located": float(located.mean())} if len(located) else found  # type: ignore[arg-type]


def _row(cell: DetectionCell, metric: str, value: float | None, n: int) -> dict[str, Any]:
    return {
        "study": "crem",
        "circuit": cell.circuit.name,
        "model": cell.detector,
        "noise_kind": "attribute",
        "noise": float(cell.n_noise),
        "seed": cell.seed,
        "metric": metric,
        "value": value,
        "n": n,
        "n_failed": 0,
        "n_undefined": 0,
        "status": "ok",
    }
