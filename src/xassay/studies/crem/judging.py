"""How right each explained pair is: what a cell stores, ranked against the causes."""

from typing import Any

import numpy as np
import polars as pl

from xassay import metrics
from xassay.circuits import function_truth, ground_truth
from xassay.circuits.simulation import unpack_rows
from xassay.studies.crem.cell import CremCell
from xassay.studies.crem.settings import CremSettings, Profile
from xassay.types import BoolArray, FloatArray

ROW_METRICS = ("mrr", "map", "mr_precision", "exact_match", "noise_share")
"""Scores of every explained pair, before averaging."""

TOGETHER = 2**16
"""Pairs ranked at once: a cell may hold a million."""


def row_scores(cell: CremCell, frame: pl.DataFrame, settings: CremSettings) -> pl.DataFrame:
    """What a cell stores, with the scores of `ROW_METRICS` in place of the explanations.

    Args:
        cell: the cell.
        frame: what it stores, see `CremCell.run`.
        settings: the run's, for truth and rules of ranking.

    Returns:
        The frame without ``values``, with scores: NaN where undefined or failed, null where they do
        not apply.
    """
    return pl.concat([_scored(cell, part, settings) for part in frame.iter_slices(TOGETHER)])


def _scored(cell: CremCell, frame: pl.DataFrame, settings: CremSettings) -> pl.DataFrame:
    table = cell.table
    values = frame["values"].list.to_array(len(table.columns)).to_numpy()
    inputs, where = np.unique(frame["input_row"].to_numpy(), return_inverse=True)
    X = unpack_rows(inputs, len(table.circuit.inputs))
    relevant = np.zeros(values.shape, dtype=np.bool_)
    for output in frame["output"].unique():
        chosen = np.flatnonzero(frame["output"] == output)
        relevant[chosen, : X.shape[1]] = _causes(cell, X, output, settings.truth)[where[chosen]]
    noise = np.zeros(values.shape[1], dtype=np.bool_)
    noise[table.noise_slice] = True
    return frame.drop("values").with_columns(**_scores(values, relevant, noise, settings.rules))


def _causes(cell: CremCell, X: BoolArray, output: str, truth: str) -> BoolArray:
    """The causes of an output at those inputs, (rows, inputs)."""
    if truth == "function":
        return function_truth(cell.circuit, X, output)
    return ground_truth(cell.table.circuit if truth == "altered" else cell.circuit, X, output)


def _scores(values: FloatArray, relevant: BoolArray, noise: BoolArray, profile: Profile) -> dict[str, Any]:
    rules: dict[str, Any] = {"ties": profile.ties}
    if profile.ties != "expected":
        rules |= {"rank_zeros": profile.rank_zeros, "skip": profile.skip}
    nothing = pl.lit(None, pl.Float64)
    return {
        "mrr": metrics.reciprocal_rank(values, relevant, **rules),
        "map": metrics.average_precision(values, relevant, **rules),
        "mr_precision": metrics.r_precision(values, relevant, denominator=profile.denominator, **rules),
        "exact_match": metrics.exact_match(values, relevant, **rules),
        "noise_share": metrics.noise_share(values, relevant, noise, **rules) if noise.any() else nothing,
    }
