"""What an explanation costs."""

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
import polars as pl

from xassay.studies.check.measures.base import Context, Measure
from xassay.studies.check.series import Series


class Cost(Measure):
    """Rows that the model is asked for while one row is explained; a surrogate's fit is shared out."""

    name: ClassVar[str] = "cost"
    question: ClassVar[str] = "What do they cost?"
    how: ClassVar[str] = (
        "Time is that of a row, once the explainer is made. Model calls are rows that the model is asked "
        "for, "
        "those of a surrogate's fit shared out over the rows that it explained."
    )
    summary: ClassVar[str] = "rows that the model is asked for, and seconds"
    shown: ClassVar[tuple[str, ...]] = ("model_calls",)
    sectioned: ClassVar[bool] = False

    def series(self, context: Context) -> Iterator[Series]:
        """Calls a row."""
        base = context.base
        if base is None:
            return
        calls = base.frame["calls"].cast(pl.Float64).fill_null(np.nan).to_numpy()
        yield Series("model_calls", (calls,), base.rows, "count", base.failed, base.reason)
