"""What a model does around some rows: what every explanation of them is held against."""

from typing import Any

import attrs
import numpy as np
import polars as pl

from xassay import specs
from xassay.errors import ExplainerError
from xassay.metrics.masking import N_SUBSETS, masked_drops, random_subsets
from xassay.metrics.perturbation import points_near
from xassay.studies.check.cell import CheckCell, hashed
from xassay.studies.check.subject import Subject
from xassay.types import FloatArray

N_SAMPLES = 5
"""Perturbed points a row and sigma, as in the MAPLE evaluation."""

N_REPLACED = 20
"""Background rows that a single column is replaced from, to see whether it matters at a row."""


@attrs.frozen
class TruthCell(CheckCell):
    """What the model does around some rows: what every explanation of them is held against."""

    @property
    def key(self) -> str:
        """Short hash of everything that decides the result."""
        return hashed({**self.shared_key, "sigma": repr(self.settings.sigma)})

    @property
    def label(self) -> str:
        """Readable, and safe as a file name."""
        return f"model-rows{self.start}to{self.stop}"

    @property
    def turn(self) -> int:
        """Nothing can be scored without it."""
        return -1

    def run(self) -> pl.DataFrame:
        """Ask the model; a row where it fails is NaN and says why.

        Returns:
            One row a data row: ``row``, ``score``, ``drops`` (by random set), ``used`` (by column:
            whether replacing it alone changes the score), ``points`` and ``moved`` (perturbed
            points by sigma, and the score there, flat), ``error``.
        """
        subject = self.subject.value
        with self.in_its_own_state("model"):
            return pl.concat([self._row(subject, k) for k in range(self.start, self.stop)])

    def lost(self, reason: str) -> pl.DataFrame:
        """Rows without an answer."""
        n = self.stop - self.start
        nothing = pl.Series([None] * n)
        return pl.DataFrame(
            {
                "row": self.subject.value.row_ids[self.part],
                "score": np.full(n, np.nan),
                "drops": nothing.cast(pl.List(pl.Float64)),
                "used": nothing.cast(pl.List(pl.Boolean)),
                "points": nothing.cast(pl.List(pl.Float64)),
                "moved": nothing.cast(pl.List(pl.Float64)),
                "error": pl.Series([reason] * n, dtype=pl.String),
            }
        )

    def _row(self, subject: Subject, k: int) -> pl.DataFrame:
        row, ids = subject.X[k : k + 1], subject.row_ids[k : k + 1]
        p, sigmas = row.shape[1], np.array(self.settings.sigma)
        subsets = random_subsets(p, N_SUBSETS, self.settings.seed, ids)
        near = points_near(
            row,
            sigmas,
            N_SAMPLES,
            self.settings.seed,
            ids,
            spreads=subject.space.spreads,
            pool=subject.pool,
            swapped=subject.space.swapped,
        )
        near = subject.space.snap(near.reshape(-1, p))
        error, score = None, np.nan
        drops, used = np.full(N_SUBSETS, np.nan), np.zeros(p, dtype=np.bool_)
        moved = np.full(len(near), np.nan)
        try:
            score = float(subject.predict(row)[0])
            if not np.isfinite(score):
                raise ExplainerError("the model's score is not finite")  # noqa: TRY301 - as if it had raised
            drops = masked_drops(subject.predict, row, subject.background, subsets)[0]
            moved = subject.predict(near)
            used = _used(subject, row, score)
        except Exception as problem:  # noqa: BLE001 - whatever it raises fails this row only
            error = specs.brief(problem)
        return pl.DataFrame(
            {
                "row": ids,
                "score": [score],
                "drops": pl.Series([drops.tolist()], dtype=pl.List(pl.Float64)),
                "used": pl.Series([used.tolist()], dtype=pl.List(pl.Boolean)),
                "points": pl.Series([near.reshape(-1).tolist()], dtype=pl.List(pl.Float64)),
                "moved": pl.Series([moved.tolist()], dtype=pl.List(pl.Float64)),
                "error": pl.Series([error], dtype=pl.String),
            }
        )


def _used(subject: Subject, row: FloatArray, score: float) -> Any:
    """Whether replacing one column alone, by any of some background rows' values, changes the score."""
    p = row.shape[1]
    # spaced over all of it, as it may be sorted
    some = np.linspace(0, len(subject.background) - 1, min(N_REPLACED, len(subject.background)))
    donors = subject.background[np.unique(some.astype(int))]
    mixed = np.tile(row, (p * len(donors), 1)).reshape(p, len(donors), p)
    for j in range(p):
        mixed[j, :, j] = donors[:, j]
    changed = subject.predict(mixed.reshape(-1, p)).reshape(p, len(donors))
    return (np.abs(changed - score) > 1e-9 * max(subject.spread, abs(score))).any(axis=1)
