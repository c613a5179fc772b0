"""An explainer's stored frames as arrays."""

from collections.abc import Sequence

import attrs
import numpy as np
import polars as pl

from xassay.metrics.local_model import contributions
from xassay.studies.check.subject import Subject
from xassay.types import BoolArray, Explanation, FloatArray, IntArray


@attrs.frozen(eq=False)
class Explained:
    """What an explainer gave for some rows in one variant; a row without a local model has NaN for one.

    Attributes:
        rows: the rows' numbers.
        explanation: of these rows.
        errors: why a row has none.
        frame: as it was stored.
    """

    rows: IntArray
    explanation: Explanation
    errors: Sequence[str | None]
    frame: pl.DataFrame

    @classmethod
    def of(cls, frame: pl.DataFrame, n_features: int) -> "Explained":
        """From a frame of cells."""
        linear = frame["coefficients"].null_count() < len(frame)
        declared = frame.filter(pl.col("coefficients").is_not_null())["categorical"]
        additive = frame["additive"].drop_nulls()
        return cls(
            frame["row"].to_numpy(),
            Explanation(
                lists(frame["attributions"], n_features),
                coefficients=lists(frame["coefficients"], n_features) if linear else None,
                intercepts=frame["intercept"].fill_null(np.nan).to_numpy() if linear else None,
                categorical=tuple(declared[0]) if linear else (),
                additive=bool(additive[0]) if len(additive) else None,
            ),
            frame["error"].to_list(),
            frame,
        )

    def contributed(self, X: FloatArray, background: FloatArray) -> FloatArray:
        """What each feature adds to the score beyond the background: `xassay.metrics.contributions`."""
        return contributions(self.explanation, X, background)

    def only(self, rows: IntArray) -> "Explained":
        """These rows; those that are missing are failed."""
        frame = pl.DataFrame({"row": rows}).join(self.frame, on="row", how="left", maintain_order="left")
        lost = frame["error"].is_null() & frame["attributions"].is_null()
        error = pl.when(lost).then(pl.lit("not explained")).otherwise(pl.col("error"))
        return Explained.of(frame.with_columns(error.alias("error")), self.explanation.values.shape[1])

    @property
    def failed(self) -> BoolArray:
        """Rows without an explanation."""
        return np.array([error is not None for error in self.errors], dtype=np.bool_)

    @property
    def reason(self) -> str | None:
        """Why one of them has none."""
        return next((error for error in self.errors if error), None)


def lists(column: pl.Series, width: int) -> FloatArray:
    """A column of lists as a matrix; NaN where there is none."""
    nothing = [float("nan")] * width
    listed = [nothing if one is None else list(one) for one in column.to_list()]
    return np.array(listed, dtype=np.float64).reshape(len(column), width)


def joined(answers: pl.DataFrame, rows: IntArray) -> pl.DataFrame:
    """The model's answers about these rows, in their order; null where it was not asked."""
    return pl.DataFrame({"row": rows}).join(answers, on="row", how="left", maintain_order="left")


def places(subject: Subject, rows: IntArray) -> IntArray:
    """Positions of rows among the explained ones."""
    where = {int(row): k for k, row in enumerate(subject.row_ids)}
    return np.array([where[int(row)] for row in rows], dtype=np.int64)
