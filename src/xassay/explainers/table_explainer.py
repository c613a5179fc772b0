"""What native explainers share: a model that is a table, and draws that rows share."""

from abc import abstractmethod
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from xassay.errors import InputError
from xassay.explainers.base import DATA, BaseExplainer
from xassay.explainers.boolean_table import BooleanTable
from xassay.explainers.kernel_shap import check_samples
from xassay.types import Explanation, FloatArray, IntArray

N_DRAWS = 16
"""Independent draws of a fit; a row uses the draw of its id modulo this."""


@attrs.define(eq=False, kw_only=True)
class TableExplainer(BaseExplainer):
    """An explainer of models that are tables over some 0/1 columns, for all rows at once.

    Features that are no column of the table are blind: the model cannot see them.

    Attributes:
        table: the model's values, shape (2^n,) or (2^n, outputs), row k for k in binary, the
            first bit the most significant; None: ``predict`` is asked for all combinations
            of all features.
        columns: positions of the table's bits among the features; not needed where they are
            all features in their order.
    """

    predict: Any = None
    table: Any = attrs.field(default=None, metadata=DATA, repr=False)
    columns: Any = attrs.field(default=None, metadata=DATA)
    _table: BooleanTable = attrs.field(init=False)
    _patterns: IntArray = attrs.field(init=False)

    def _prepare_model(self) -> None:
        n_features = self.background.shape[1]
        if self.predict is None and self.table is None:
            raise InputError("give predict, or a table with its columns")
        if self.predict is not None and self.table is not None:
            raise InputError("give predict or a table, not both")
        if self.table is None:
            super()._prepare_model()
            self._table = BooleanTable.tabulate(self._model, n_features)
            if self._model.single:
                self._table = attrs.evolve(self._table, single=True)
        else:
            self._table = BooleanTable.of(self.table, self.columns, n_features)

    def _prepare(self) -> None:
        if self.table is None and self.columns is not None:
            raise InputError("columns go with a table")
        self._patterns = self._table.indices(self.background, "the background")
        self._fit()

    def explain(self, X: npt.ArrayLike, row_ids: npt.ArrayLike | None = None) -> Explanation:
        """Explain rows; rows whose ids are equal modulo 16 share their draws.

        Raises:
            InputError: see `BaseExplainer.explain`; or a bit of the table that is not 0 or 1.
        """
        rows, ids = self._rows(X, row_ids)
        indices = self._table.indices(rows)
        values = self._explain_rows(indices, ids % N_DRAWS, rows)
        return Explanation(values[:, :, 0] if self._table.single else values)

    def _fit(self) -> None:
        """Work that all rows share."""
        return

    @abstractmethod
    def _explain_rows(self, indices: IntArray, draws: IntArray, rows: FloatArray) -> FloatArray:
        """Values, shape (rows, features, outputs).

        Args:
            indices: table row of each row, shape (rows,).
            draws: which draw each row uses, shape (rows,).
            rows: all features, shape (rows, features).
        """

    def _varying(self, rows: FloatArray) -> npt.NDArray[np.bool_]:
        """Which features of each row differ from some background row: bool (rows, features)."""
        low, high = self.background.min(axis=0), self.background.max(axis=0)
        return np.asarray((low != high) | (rows != low))


@attrs.define(eq=False, kw_only=True)
class SampledShapley(TableExplainer):
    """Shapley values by sampling, for rows that share a draw and the features that vary.

    The table is measured from the background's mean, so that an offset of the model costs no
    digits.

    Attributes:
        nsamples: the budget of a row, or "auto".
    """

    nsamples: Any = attrs.field(default="auto", validator=check_samples)
    _gaps: FloatArray = attrs.field(init=False)

    def _fit(self) -> None:
        self._gaps = self._table.values - self._table.values[self._patterns].mean(axis=0)

    def _explain_rows(self, indices: IntArray, draws: IntArray, rows: FloatArray) -> FloatArray:
        values = np.zeros((*rows.shape, self._gaps.shape[1]))
        kinds, kind = np.unique(np.column_stack([self._varying(rows), draws]), axis=0, return_inverse=True)
        for number, (*features, draw) in enumerate(kinds.astype(np.int64)):
            members = np.flatnonzero(kind.reshape(-1) == number)
            moving = np.flatnonzero(features)
            # rows of one index get one answer, whatever the blind features hold
            distinct, where = np.unique(indices[members], return_inverse=True)
            found = np.repeat(self._gaps[distinct][:, None], len(moving), axis=1)
            if len(moving) > 1:
                found = self._solve(distinct, moving, int(draw))
            values[np.ix_(members, moving)] = found[where.reshape(-1)]
        return values

    @abstractmethod
    def _solve(self, indices: IntArray, moving: IntArray, draw: int) -> FloatArray:
        """Values of two or more moving features at some table rows: (rows, moving, outputs)."""
