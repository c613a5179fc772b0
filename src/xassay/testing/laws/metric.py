"""What the laws of metrics share: the metric that is checked, its arguments, and laws of scores a row."""

import random
import warnings
from collections.abc import Callable
from typing import Any

import attrs
import numpy as np

from xassay.testing.laws.law import Book, require
from xassay.testing.laws.states import numpy_state, states_of_our_own
from xassay.types import FloatArray

ROUNDING = 1e-9
"""Differences of scores that are no differences."""
SAME = 1e-12
"""Differences that batches and orders of rows may make."""


@attrs.frozen(eq=False)
class MetricSubject:
    """A metric that is checked.

    Attributes:
        score: the function, called as its kind is.
        higher_is_better: the direction.
        low: the least value it can take.
        high: the greatest.
        best: the value to reach, where it is not an end of the range.
        signed: whether it looks at the signs of the model's changes.
    """

    score: Callable[..., Any]
    higher_is_better: bool
    low: float = -np.inf
    high: float = np.inf
    best: float | None = None
    signed: bool = True

    @property
    def top(self) -> float:
        """The best value."""
        if self.best is not None:
            return self.best
        return self.high if self.higher_is_better else self.low

    @property
    def bottom(self) -> float:
        """The worst value."""
        return self.low if self.higher_is_better else self.high

    def ahead(self, found: Any, other: Any) -> FloatArray:
        """How much better one score is than another."""
        one, two = np.asarray(found, dtype=np.float64), np.asarray(other, dtype=np.float64)
        if self.best is not None:
            return np.asarray(np.abs(np.log(two / self.best)) - np.abs(np.log(one / self.best)))
        return np.asarray(one - two if self.higher_is_better else two - one)

    def rows(self, *args: Any) -> FloatArray:
        """Scores a row as an array."""
        return np.asarray(self.score(*args), dtype=np.float64)


@attrs.frozen(eq=False)
class Arguments:
    """Arguments of a metric, and along which axes their rows and columns lie.

    An argument that knows its own parts has `of_rows` and `of_columns`, and its axes do not matter.

    Attributes:
        args: the arguments.
        axes: of each, the axis of rows and that of columns; None where it has none.
    """

    args: tuple[Any, ...]
    axes: tuple[tuple[int | None, int | None], ...]

    @property
    def n(self) -> int:
        """How many rows."""
        return len(self.args[0])

    def of_rows(self, part: Any) -> tuple[Any, ...]:
        """The arguments of some rows."""
        return tuple(
            arg.of_rows(part) if hasattr(arg, "of_rows") else arg if axis is None else arg[part]
            for arg, (axis, _) in zip(self.args, self.axes, strict=True)
        )

    def of_columns(self, order: list[int]) -> tuple[Any, ...]:
        """The arguments with their columns in another order."""
        return tuple(
            arg.of_columns(order)
            if hasattr(arg, "of_columns")
            else arg
            if axis is None
            else np.take(arg, order, axis=axis)
            for arg, (_, axis) in zip(self.args, self.axes, strict=True)
        )

    def arrays(self) -> list[Any]:
        """All arrays that a metric could write to."""
        found: list[Any] = []
        for arg in self.args:
            own = arg.arrays() if hasattr(arg, "of_rows") else (arg,)
            found += [part for part in own if isinstance(part, np.ndarray)]
        return found


def close(found: FloatArray, expected: FloatArray) -> bool:
    """Whether scores are equal up to rounding, and undefined alike."""
    return bool(np.allclose(found, expected, rtol=SAME, atol=SAME, equal_nan=True))


def call_laws(book: Book, arguments: Callable[[MetricSubject], Arguments]) -> None:
    """Add the laws of any function that judges: whatever form its score has.

    Args:
        book: where they are added.
        arguments: makes the arguments anew.
    """

    @book.law()
    def same_again(subject: MetricSubject) -> None:
        """Equal arguments have equal scores, to the last bit."""
        one, other = (subject.rows(*arguments(subject).args) for _ in range(2))
        require(np.array_equal(one, other, equal_nan=True), "the same arguments twice", "scores differ")

    @book.law()
    def inputs_are_left_alone(subject: MetricSubject) -> None:
        """No argument is written to."""
        given = arguments(subject)
        kept = [array.copy() for array in given.arrays()]
        subject.score(*given.args)
        for k, (array, before) in enumerate(zip(given.arrays(), kept, strict=True)):
            require(
                np.array_equal(array, before, equal_nan=True), f"array {k} of its arguments", "it changed"
            )

    @book.law()
    def global_state(subject: MetricSubject) -> None:
        """The caller's global random states and warnings filters stay as they are."""
        given = arguments(subject)
        subject.score(*given.args)  # what a package does to the filters on import is not the metric's doing
        with states_of_our_own():
            numpys, pythons, filters = numpy_state(), random.getstate(), list(warnings.filters)
            subject.score(*given.args)
            require(numpy_state() == numpys, "a call", "numpy's global random state changed")
            require(random.getstate() == pythons, "a call", "Python's global random state changed")
            require(warnings.filters == filters, "a call", "the warnings filters changed")


def row_laws(book: Book, arguments: Callable[[MetricSubject], Arguments]) -> None:
    """Add the laws of every metric with one score a row.

    Args:
        book: where they are added.
        arguments: makes the arguments anew.
    """

    @book.law()
    def one_score_a_row(subject: MetricSubject) -> None:
        """There is one score a row, within the range that is said, and some are defined."""
        given = arguments(subject)
        found = subject.rows(*given.args)
        require(found.shape == (given.n,), f"{given.n} rows", f"scores of shape {found.shape}")
        defined = found[~np.isnan(found)]
        require(len(defined), f"{given.n} rows", "no score is defined")
        low, high = defined.min(), defined.max()
        within = subject.low - ROUNDING <= low and high <= subject.high + ROUNDING
        said = f"the range is said to be {subject.low:g} to {subject.high:g}"
        require(within, f"{given.n} rows", f"scores from {low:g} to {high:g}, and {said}")

    @book.law()
    def rows_are_independent(subject: MetricSubject) -> None:
        """A batch has the scores of its rows one by one, in any order of rows."""
        given = arguments(subject)
        together = subject.rows(*given.args)
        alone = [subject.rows(*given.of_rows(slice(k, k + 1))) for k in range(given.n)]
        require(close(np.concatenate(alone), together), "rows one by one", "scores differ from the batch's")
        backwards = subject.rows(*given.of_rows(slice(None, None, -1)))
        require(close(backwards[::-1], together), "rows backwards", "scores differ from the batch's")

    @book.law()
    def column_order(subject: MetricSubject) -> None:
        """The order of columns does not matter."""
        given = arguments(subject)
        places, expected = np.arange(given.args[0].shape[-1]), subject.rows(*given.args)
        for order in (np.roll(places, 2).tolist(), places[::-1].tolist()):
            found, turned = subject.rows(*given.of_columns(order)), f"columns in the order {order}"
            same = np.array_equal(np.isnan(found), np.isnan(expected))
            require(same, turned, "other rows are undefined")
            apart = np.nanmax(np.abs(found - expected), initial=0.0)
            require(apart <= ROUNDING, turned, f"scores differ by {apart:.3g}")

    call_laws(book, arguments)
