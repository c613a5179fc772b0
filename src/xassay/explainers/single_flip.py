"""The simplest local explanation of a Boolean function: does flipping this bit alone matter?"""

import attrs
import numpy as np

from xassay.errors import InputError
from xassay.explainers.base import RowExplainer
from xassay.explainers.registry import register
from xassay.types import FloatArray


@register(
    "single_flip",
    engine="native",
    stochastic=False,
    baseline=True,
    uses_background=False,
    cost=lambda _features, _rows: 0.05,
)
@attrs.define(eq=False, kw_only=True)
class SingleFlip(RowExplainer):
    """The change of the output when one bit is flipped: f(x) - f(x with bit j flipped).

    Needs columns of 0 and 1. Exact and without randomness: the local influence of O'Donnell
    (STOC 2008, doi:10.1145/1374376.1374458), on which the CREM ground truth builds.
    """

    def _explain_row(self, row: FloatArray, seed: int) -> FloatArray:
        del seed  # nothing is drawn
        if not np.isin(row, (0, 1)).all():
            raise InputError("single_flip needs rows of 0 and 1")
        flipped = np.abs(row - np.eye(len(row)))
        scores = self._model(np.vstack([row, flipped]))
        return np.asarray(scores[0] - scores[1:])
