"""How well a detector that learned tells the anomalies, beside how well it is explained."""

from collections.abc import Iterator, Sequence
from typing import Any

import attrs
import numpy as np
import polars as pl
from scipy import stats

from xassay.estimates import Bounds, Estimate
from xassay.metrics import describe
from xassay.results import Row
from xassay.seeds import generator
from xassay.statistics import (
    mean_interval,
    mean_of_intervals,
    ratio_of_intervals,
    sample_interval,
)
from xassay.statistics.row_weights import LEVEL
from xassay.studies.crem.detection import DetectionCell
from xassay.studies.crem.intervals import holding
from xassay.studies.kit.done import Failures, Frames
from xassay.types import BoolArray, FloatArray

QUALITY = ("auc", "precision", "recall", "located")
N_WEIGHTS = 1000
"""Weightings for the interval of an AUC over thousands of rows."""


def quality(cells: Sequence[DetectionCell], frames: Frames, failures: Failures) -> Iterator[Row]:
    """Rows of results: the detector's quality on every version, and its mean over each circuit's.

    A version's has an interval where rows were sampled; the mean has one over versions, as scores of
    explanations have, never narrower than what sampled rows alone leave open.
    """
    by_circuit: dict[tuple[str, int], list[dict[str, Estimate]]] = {}
    for cell in cells:
        frame, failure = frames.get(cell.key), failures.get(cell.key)
        found = {} if frame is None else _quality(cell, frame)
        by_circuit.setdefault((cell.circuit.name, cell.n_noise), []).append(found)
        version: dict[str, Any] = {"level": "version", "fault": str(cell.fault)}
        for metric, score in found.items():
            yield attrs.evolve(_row(cell, metric, score), **version)
        if failure is not None:
            yield attrs.evolve(_row(cell, "auc", Estimate(None)), **version, **attrs.asdict(failure))
    first = {(cell.circuit.name, cell.n_noise): cell for cell in reversed(cells)}
    for place, several in by_circuit.items():
        for metric in QUALITY:
            scores = [found[metric] for found in several if metric in found]
            if scores:
                values, record = np.array([score.number for score in scores]), describe(metric)
                within = mean_of_intervals(values, [score.bounds for score in scores])
                over = sample_interval(values, record.low, record.high, within=within)
                mean = Estimate(float(values.mean()), over, len(values))
                yield attrs.evolve(_row(first[place], metric, mean), level="circuit")


def _quality(cell: DetectionCell, frame: pl.DataFrame) -> dict[str, Estimate]:
    """Each score with its interval, over the rows of a kind where they were sampled."""
    from sklearn.metrics import precision_score, recall_score, roc_auc_score

    truth, called = frame["anomalous"].to_numpy(), frame["called"].to_numpy()
    scores = frame["score"].to_numpy()
    normal_sampled, anomalous_sampled = cell.sampled
    recall = _share(called[truth], sampled=anomalous_sampled)
    found: dict[str, tuple[float, Bounds | None]] = {
        "auc": (
            float(roc_auc_score(truth, scores)),
            _auc_bounds(cell, scores[~truth], scores[truth], normal_sampled, anomalous_sampled),
        ),
        "precision": (
            float(precision_score(truth, called, zero_division=0.0)),
            _precision_bounds(called, truth, normal_sampled, recall),
        ),
        "recall": (float(recall_score(truth, called)), recall),
    }
    located = frame["located"].drop_nulls().to_numpy()
    if len(located):
        found["located"] = float(located.mean()), _share(located, sampled=anomalous_sampled)
    n = int(truth.sum())
    return {name: Estimate(value, holding(name, ends, value), n) for name, (value, ends) in found.items()}


def _share(hits: BoolArray, *, sampled: bool) -> Bounds | None:
    """Clopper and Pearson's interval of a share."""
    if not sampled:
        return None
    ends = stats.binomtest(int(hits.sum()), len(hits)).proportion_ci(LEVEL, "exact")
    return float(ends.low), float(ends.high)


def _precision_bounds(
    called: BoolArray, truth: BoolArray, normal_sampled: bool, recall: Bounds | None
) -> Bounds | None:
    """From the intervals of the shares called: precision is 1 / (1 + x), of x false calls a true one."""
    n_normal, n_anomalous = int((~truth).sum()), int(truth.sum())
    false_calls = _share(called[~truth], sampled=normal_sampled)
    if not called[truth].any():  # no ratio; anything may be, as few calls as there are
        return None if false_calls is None and recall is None else (0.0, 1.0)
    ends = ratio_of_intervals(float(called[~truth].mean()), false_calls, float(called[truth].mean()), recall)
    size = n_normal / n_anomalous
    return None if ends is None else (1 / (1 + size * ends[1]), 1 / (1 + size * ends[0]))


def _auc_bounds(
    cell: DetectionCell,
    normal: FloatArray,
    anomalous: FloatArray,
    normal_sampled: bool,
    anomalous_sampled: bool,
) -> Bounds | None:
    """From the intervals over either kind of rows, the other as it is: their errors add up.

    The AUC is the mean over anomalous rows of the share of normal rows below them, and likewise the
    other way round.
    """
    parts = []
    for own, other, sampled, sign in (
        (anomalous, normal, anomalous_sampled, 1.0),
        (normal, anomalous, normal_sampled, -1.0),
    ):
        if sampled:
            there = np.sort(sign * other)
            right = np.searchsorted(there, sign * own, side="left")
            placed = (right + np.searchsorted(there, sign * own, side="right")) / (2 * len(there))
            rng = generator(cell.seed, "auc", cell.circuit.name, str(cell.fault), cell.n_noise, str(sign))
            parts.append(mean_interval(placed, 0, 1, rng=rng, n_replicates=N_WEIGHTS))
            value = float(placed.mean())
    if not parts:
        return None
    # a sum of two errors: twice their mean
    ends = mean_of_intervals(np.full(len(parts), value), parts)
    if ends is None:
        return None
    return value + len(parts) * (ends[0] - value), value + len(parts) * (ends[1] - value)


def _row(cell: DetectionCell, metric: str, score: Estimate) -> Row:
    return Row(
        study="crem",
        circuit=cell.circuit.name,
        model=cell.detector,
        noise_kind="attribute",
        noise=float(cell.n_noise),
        seed=cell.seed,
        metric=metric,
        **score.columns,
    )
