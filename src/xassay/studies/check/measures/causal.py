"""Local linear models close to the row: the causal metric of the MAPLE evaluation."""

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
import polars as pl

from xassay import specs
from xassay.errors import ExplainerError
from xassay.metrics.causal import squared_differences
from xassay.metrics.local_model import linear_predictions
from xassay.metrics.perturbation import points_near
from xassay.studies.check.explained import lists, places
from xassay.studies.check.measures.base import Context, Measure, Scores, known_rows
from xassay.studies.check.series import Series
from xassay.studies.check.settings import CheckSettings
from xassay.studies.check.subject import Subject

N_SAMPLES = 5
"""Perturbed points a row and sigma, as in the MAPLE evaluation."""


class Causal(Measure):
    """Whether a local linear model predicts the score close to its row."""

    name: ClassVar[str] = "causal"
    question: ClassVar[str] = "Are their local linear models right close to the row?"
    how: ClassVar[str] = (
        "For local linear models (LIME, MAPLE, explanations with coefficients): the row is moved a little "
        "(sigma, in standard deviations of the columns; categories are replaced by another row's at the "
        "matching rate), and the linear model's prediction is compared with the model's. Skill is 1 for a "
        "perfect prediction and 0 for the prediction that the score does not change."
    )
    summary: ClassVar[str] = (
        "the row is moved by `--sigma` standard deviations, and the local linear model's prediction is "
        "compared with the model's; a category is replaced with probability min(1, sigma²/2)"
    )
    shown: ClassVar[tuple[str, ...]] = ("causal_skill", "causal_rmse")
    main: ClassVar[tuple[str, ...]] = ("causal_skill",)
    compared: ClassVar[tuple[str, ...]] = ("causal_rmse",)
    asks: ClassVar[bool] = True

    @classmethod
    def sigmas(cls, metric: str, settings: CheckSettings) -> tuple[float, ...]:
        """Those that were asked for."""
        del metric
        return settings.sigma

    def model_rows(self, subject: Subject, settings: CheckSettings) -> float:
        """The points."""
        del subject
        return 1.0 + len(settings.sigma) * N_SAMPLES

    def ask(self, subject: Subject, settings: CheckSettings, part: slice) -> pl.DataFrame:
        """Scores at points near some rows: ``row``, ``score``, ``points`` and ``moved`` (flat), ``error``."""
        return pl.concat([self._row(subject, settings, k) for k in range(part.start, part.stop)])

    def _row(self, subject: Subject, settings: CheckSettings, k: int) -> pl.DataFrame:
        row, ids = subject.X[k : k + 1], subject.row_ids[k : k + 1]
        p = row.shape[1]
        near = points_near(
            row,
            np.array(settings.sigma),
            N_SAMPLES,
            settings.seed,
            ids,
            spreads=subject.space.spreads,
            pool=subject.pool,
            swapped=subject.space.swapped,
        )
        near = subject.space.snap(near.reshape(-1, p))
        error, score, moved = None, np.nan, np.full(len(near), np.nan)
        try:
            score = float(subject.predict(row)[0])
            if not np.isfinite(score):
                raise ExplainerError("the model's score is not finite")
            moved = subject.predict(near)
        except Exception as problem:  # noqa: BLE001 - whatever it raises fails this row only
            error = specs.brief(problem)
        return pl.DataFrame(
            {
                "row": ids,
                "score": [score],
                "points": pl.Series([near.reshape(-1).tolist()], dtype=pl.List(pl.Float64)),
                "moved": pl.Series([moved.tolist()], dtype=pl.List(pl.Float64)),
                "error": pl.Series([error], dtype=pl.String),
            }
        )

    def series(self, context: Context) -> Iterator[Series]:
        """RMSE and skill at each sigma, of explanations that are local linear models."""
        base, subject = context.base, context.subject
        if base is None or self.name not in context.answers:
            return
        if base.explanation.coefficients is None or base.explanation.intercepts is None or not len(base.rows):
            return
        known, failed, reason = known_rows(context.answers[self.name], base)
        sigmas, p = context.settings.sigma, context.n_features
        shape = (len(base.rows), len(sigmas), N_SAMPLES)
        points = lists(known["points"], len(sigmas) * N_SAMPLES * p).reshape(*shape, p).transpose(1, 0, 2, 3)
        moved = lists(known["moved"], len(sigmas) * N_SAMPLES).reshape(shape).transpose(1, 0, 2)
        score = known["score"].fill_null(np.nan).to_numpy()
        linear = linear_predictions(base.explanation, subject.X[places(subject, base.rows)], points)
        losses = squared_differences(linear, moved).mean(axis=2)
        trivial = squared_differences(score[:, None], moved).mean(axis=2)
        for sigma, own, beside in zip(sigmas, losses, trivial, strict=True):
            unit = float(np.nanmean(beside)) if np.isfinite(beside).any() else 0.0
            shared = {"rows": base.rows, "failed": failed, "reason": reason, "sigma": sigma}
            yield Series("causal_rmse", (own,), statistic="root mean", unit=unit, **shared)  # type: ignore[arg-type]
            yield Series("causal_skill", (own, beside), statistic="skill", **shared)  # type: ignore[arg-type]

    def sentences(self, scores: Scores) -> Iterator[str]:
        """How well it predicts at the smallest sigma."""
        sigmas = scores.sigmas("causal_skill")
        skill = scores("causal_skill", sigmas[0]) if sigmas else None
        if skill is None:
            return
        if skill > 0:
            yield f"its local linear model predicts small changes of a row with an error of {1 - skill:.0%}"
        else:
            yield "its local linear model predicts small changes of a row worse than assuming no change"
