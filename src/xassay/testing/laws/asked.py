"""What an additive model answers: the argument of metrics that judge by a model's answers."""

from typing import Any

import attrs
import numpy as np

from xassay.types import BoolArray, FloatArray, IntArray


@attrs.frozen(eq=False)
class Asked:
    """Answers of an additive model about some rows, for any sets of columns.

    Attributes:
        moves: how far the score falls when column j takes background row b's value, shape
            (rows, background rows, columns).
        subsets: random sets of columns, bool (rows, sets, columns).
        ids: the rows' ids, shape (rows,).

    Example:
        >>> asked = Asked(np.array([[[1.0, 2.0]]]), np.array([[[True, False]]]), np.array([0]))
        >>> asked.exact.tolist(), asked.drops(asked.subsets).tolist()
        ([[1.0, 2.0]], [[1.0]])
    """

    moves: FloatArray
    subsets: BoolArray
    ids: IntArray

    @property
    def exact(self) -> FloatArray:
        """The contributions of the columns, shape (rows, columns)."""
        return np.asarray(self.moves.mean(axis=1))

    @property
    def total(self) -> FloatArray:
        """The score minus the background's mean score, shape (rows,)."""
        return np.asarray(self.exact.sum(axis=1))

    def drops(self, sets: BoolArray) -> FloatArray:
        """The mean fall of the score where the columns of each set are replaced, shape (rows, sets)."""
        return np.asarray(np.einsum("rsp,rp->rs", sets.astype(float), self.exact))

    def changes(self, sets: BoolArray) -> FloatArray:
        """The mean size of that change over the background's rows, shape (rows, sets)."""
        moved = np.einsum("rsp,rbp->rsb", sets.astype(float), self.moves)
        return np.asarray(np.abs(moved).mean(axis=2))

    def of_rows(self, part: Any) -> "Asked":
        """The answers about some rows."""
        return Asked(self.moves[part], self.subsets[part], self.ids[part])

    def of_columns(self, order: Any) -> "Asked":
        """The answers with the columns in another order."""
        return Asked(self.moves[:, :, order], self.subsets[:, :, order], self.ids)

    def arrays(self) -> list[Any]:
        """All arrays that a metric could write to."""
        return [self.moves, self.subsets, self.ids]


def asked_of(rows: int = 40, *, one_way: bool = False, seed: int = 0) -> Asked:
    """Answers about rows of five columns; those that go one way have changes of one sign."""
    rng = np.random.default_rng(seed)
    moves = 2 * rng.standard_normal((rows, 1, 5)) + rng.standard_normal((rows, 6, 5))
    sizes = rng.integers(1, 6, (rows, 40))
    subsets = rng.random((rows, 40, 5)).argsort(axis=2).argsort(axis=2) < sizes[:, :, None]
    return Asked(np.abs(moves) if one_way else moves, subsets, np.arange(rows))
