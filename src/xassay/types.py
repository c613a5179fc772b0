"""The few records and Protocols that every layer shares."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol, runtime_checkable

import attrs
import numpy as np
import numpy.typing as npt

from xassay.errors import ExplainerError

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]

Predict = Callable[[FloatArray], Any]
"""A model as its explainers see it: (rows, features) -> (rows,) or (rows, outputs)."""


def _floats(values: Any) -> FloatArray:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ExplainerError("an explanation must hold numbers alone, as many in each row") from None


def _optional_floats(values: Any) -> FloatArray | None:
    return None if values is None else _floats(values)


def _base(value: Any) -> FloatArray | float | None:
    """None, a number, or one a row."""
    if value is None:
        return None
    try:
        found = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ExplainerError("an explanation's base must be a number, or numbers, one a row") from None
    return found if found.ndim else float(found)


@attrs.frozen(eq=False)
class Explanation:
    """What an explainer says of some rows.

    Attributes:
        values: importance of each feature, shape (rows, features); where ``predict`` gives k
            outputs, (rows, features, k). A row that could not be explained holds NaN.
        coefficients: slopes of the local linear model at each row, shape of `values`, or None
            where the explanation is no local linear model.
        intercepts: its intercepts, shape (rows,) or (rows, k), or None.
        errors: row position -> why that row could not be explained.
        categorical: positions of features that enter the local model as "equals the explained
            row's value", 1 or 0, and not by their own value.
        additive: whether `values` are contributions, which add up to the score's difference from
            `base`: True: they are, though there may be coefficients too; False: they are not;
            None: not said, and taken to be where there are no coefficients (`adds`).
        base: what contributions start from, a number or shape (rows,) or (rows, k), for example
            the mean score of the background; None: not stated.
        unit: of `values`: ``"score"`` is what the model returns; any other word names another,
            for example ``"log-odds"``.

    Raises:
        ExplainerError: the shapes do not fit each other, or a field is of another kind.

    Example:
        >>> Explanation([[0.5, -0.1]]).values.shape
        (1, 2)
        >>> Explanation([[0.5]], coefficients=[[0.5]]).adds
        False
        >>> Explanation([[0.5]], coefficients=[[0.5]], additive=True, base=0.2).adds
        True
    """

    values: FloatArray = attrs.field(converter=_floats)
    coefficients: FloatArray | None = attrs.field(default=None, converter=_optional_floats)
    intercepts: FloatArray | None = attrs.field(default=None, converter=_optional_floats)
    errors: Mapping[int, str] = attrs.field(factory=dict)
    categorical: tuple[int, ...] = ()
    additive: bool | None = None
    base: FloatArray | float | None = attrs.field(default=None, converter=_base)
    unit: str = "score"

    def __attrs_post_init__(self) -> None:
        if self.values.ndim not in (2, 3):
            raise ExplainerError(
                f"an explanation's values must be (rows, features), not of shape {self.values.shape}"
            )
        if self.coefficients is not None and self.coefficients.shape != self.values.shape:
            raise ExplainerError(
                f"coefficients of shape {self.coefficients.shape} beside values of shape {self.values.shape}"
            )
        rows_and_outputs = self.values.shape[:1] + self.values.shape[2:]
        if self.intercepts is not None and self.intercepts.shape != rows_and_outputs:
            raise ExplainerError(
                f"intercepts of shape {self.intercepts.shape}, expected {rows_and_outputs}: one a row"
            )
        if not set(self.categorical) <= set(range(self.values.shape[1])):
            raise ExplainerError(
                f"categorical={self.categorical}: positions go from 0 to {self.values.shape[1] - 1}"
            )
        if isinstance(self.base, np.ndarray) and self.base.shape != rows_and_outputs:
            raise ExplainerError(
                f"a base of shape {self.base.shape}, expected a number or {rows_and_outputs}: one a row"
            )
        if self.additive is not None and not isinstance(self.additive, bool):
            raise ExplainerError(f"additive must be True, False or None, not {self.additive!r}")
        if not isinstance(self.unit, str) or not self.unit.strip():
            raise ExplainerError(f"unit must name a unit, such as 'score' or 'log-odds', not {self.unit!r}")

    @property
    def adds(self) -> bool:
        """Whether `values` are contributions: as `additive` says, else where there are no coefficients."""
        return self.coefficients is None if self.additive is None else self.additive


@runtime_checkable
class Explainer(Protocol):
    """Explains rows of one model against one background."""

    def explain(self, X: npt.ArrayLike, row_ids: npt.ArrayLike | None = None) -> Explanation:
        """Explain rows; ``row_ids`` (default 0, 1, ...) with the seed fix each row's draws."""
        ...


@attrs.frozen
class Failure:
    """Why a cell has no result.

    Attributes:
        reason: one line.
        status: ``failed`` (it raised), ``timeout`` (it took too long) or ``skipped`` (the run's
            time was up before it began).
    """

    reason: str
    status: str = "failed"


class Cell(Protocol):
    """One unit of a study's work: computed in one process, stored at once, never half."""

    @property
    def key(self) -> str:
        """Short hash of everything that decides the result; names the stored part."""
        ...

    @property
    def label(self) -> str:
        """A file-name-safe description for people."""
        ...

    @property
    def cost(self) -> float:
        """Expected work, in any unit; orders the queue and drives the ETA."""
        ...

    @property
    def turn(self) -> int:
        """Cells of a lower turn are computed first: they are what a run out of time must have."""
        ...

    def run(self) -> Any:
        """Do the work; returns a polars frame of per-row results."""
        ...
