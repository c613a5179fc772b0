"""Laws of metrics that ask the model themselves and give one number for all rows.

Called as f(explanation, predict, X), and with the background where attributions are additive.
"""

import itertools
import warnings
from collections.abc import Callable
from typing import Any

import attrs
import numpy as np

from xassay.testing.laws.law import Book, require
from xassay.testing.laws.metric import ROUNDING, Arguments, MetricSubject, call_laws
from xassay.types import Explanation, FloatArray

_LINEAR, _ADDITIVE = Book(), Book()
LOCAL_LINEAR_LAWS = _LINEAR.laws
ADDITIVE_LAWS = _ADDITIVE.laws

Make = Callable[..., tuple[Any, ...]]

SLOPES = np.array([1.0, -2.0, 0.5, 3.0])
ERRORS = (0.0, 0.3, 0.5, 0.8)


def _sum(rows: FloatArray) -> FloatArray:
    return np.asarray(rows.sum(axis=1))


def _line(rows: FloatArray) -> FloatArray:
    return np.asarray(rows @ SLOPES + 7.0)


def _uncorrelated() -> FloatArray:
    """Rows whose columns have no correlation at all: what replaces a column then need not mind the others."""
    drawn = np.random.default_rng(0).standard_normal((40, 4))
    turned, _ = np.linalg.qr(drawn - drawn.mean(axis=0))
    return np.asarray(turned * np.sqrt(len(drawn)) + [0.5, 0.0, -0.5, 1.0])


def _exact(rows: FloatArray, background: FloatArray) -> FloatArray:
    return np.asarray(SLOPES * (rows - background.mean(axis=0)))


def _local_linear(error: float = 0.0) -> tuple[Any, ...]:
    """A local linear model of a sum of two columns, whose slopes are off by an error."""
    rows = np.random.default_rng(0).standard_normal((50, 2))
    slopes = np.full(rows.shape, 1.0 + error)
    return Explanation(slopes, coefficients=slopes, intercepts=np.zeros(50)), _sum, rows


def _additive(error: float = 0.0, phi: FloatArray | None = None) -> tuple[Any, ...]:
    """Contributions of a linear model, off by a factor; or other values in their place."""
    rows = _uncorrelated()
    exact = _exact(rows, rows) if phi is None else phi
    return Explanation((1 + error) * exact), _line, rows, rows.copy()


class _Call(Arguments):
    """Arguments of which the rows and the explanation's arrays may be written to."""

    def arrays(self) -> list[Any]:
        explanation = self.args[0]
        own = (explanation.values, explanation.coefficients, explanation.intercepts, *self.args[2:])
        return [part for part in own if part is not None]


call_laws(_LINEAR, lambda _: _Call(_local_linear(), ()))
call_laws(_ADDITIVE, lambda _: _Call(_additive(), ()))


def _number(subject: MetricSubject, args: tuple[Any, ...]) -> float:
    found = np.asarray(subject.score(*args))
    require(found.ndim == 0, "an explanation of all rows", f"a score of shape {found.shape}, not a number")
    return float(found)


def _in_range(subject: MetricSubject, found: float, given: str) -> None:
    within = subject.low - ROUNDING <= found <= subject.high + ROUNDING
    require(within, given, f"a score of {found:g}, and the range is {subject.low:g} to {subject.high:g}")


def _errors_law(book: Book, make: Make) -> None:
    @book.law()
    def errors_never_help(subject: MetricSubject) -> None:
        """A larger error never scores better, and a large one scores worse than none."""
        found = [_number(subject, make(error)) for error in ERRORS]
        for better, worse in itertools.pairwise(found):
            gap = subject.ahead(better, worse)
            require(gap >= -ROUNDING, "a larger error", f"{worse:g} after {better:g}")
        require(
            subject.ahead(found[0], found[-1]) > ROUNDING,
            f"an error of {ERRORS[-1]:g}",
            f"still {found[-1]:g}",
        )

    @book.law()
    def each_error_counts(subject: MetricSubject) -> None:
        """Each larger error scores worse."""
        found = [_number(subject, make(error)) for error in ERRORS]
        for better, worse in itertools.pairwise(found):
            require(subject.ahead(better, worse) > ROUNDING, "a larger error", f"{worse:g} after {better:g}")


def _laws_of(book: Book, make: Make) -> None:
    @book.law()
    def a_number_in_range(subject: MetricSubject) -> None:
        """The score is one number within the range that is said."""
        for error in (*ERRORS, -1.0, -3.0):
            _in_range(subject, _number(subject, make(error)), f"an explanation off by {error:g}")

    @book.law()
    def exact_is_best(subject: MetricSubject) -> None:
        """An exact explanation has the best value that there is."""
        found = _number(subject, make())
        off = abs(found - subject.top)
        require(off <= ROUNDING, "an exact explanation", f"a score of {found:g}, not {subject.top:g}")

    @book.law()
    def failed_row(subject: MetricSubject) -> None:
        """A last row without an explanation leaves the score of the others."""
        explanation, predict, rows, *rest = make(ERRORS[1])
        one = attrs.evolve(explanation, values=_holed(explanation.values))
        other = Explanation(explanation.values[:-1])
        if explanation.coefficients is not None:
            one = attrs.evolve(one, coefficients=_holed(explanation.coefficients))
            other = Explanation(
                explanation.values[:-1],
                coefficients=explanation.coefficients[:-1],
                intercepts=explanation.intercepts[:-1],
            )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # a metric may warn of the row
            holed = _number(subject, (one, predict, rows, *rest))
        fewer = _number(subject, (other, predict, rows[:-1], *rest))
        same = np.isclose(holed, fewer, rtol=ROUNDING, atol=ROUNDING)
        require(same, "a last row that failed", f"{holed:g}; of the others alone {fewer:g}")


def _holed(values: FloatArray) -> FloatArray:
    found = values.copy()
    found[-1] = np.nan
    return found


for _book, _make in ((_LINEAR, _local_linear), (_ADDITIVE, _additive)):
    _laws_of(_book, _make)
    _errors_law(_book, _make)


@_ADDITIVE.law()
def wrong_columns(subject: MetricSubject) -> None:
    """The right values on the wrong columns, rows or signs score worse than the exact ones."""
    rows = _uncorrelated()
    exact = _exact(rows, rows)
    best = _number(subject, _additive())
    for what, phi in {
        "signs turned": -exact,
        "values shifted by one column": np.roll(exact, 1, axis=1),
        "another row's values": np.roll(exact, 1, axis=0),
        "values shuffled": np.random.default_rng(3).permuted(exact, axis=1),
        "the same value for every column": np.repeat(exact.mean(axis=1, keepdims=True), 4, axis=1),
        "noise": np.random.default_rng(4).standard_normal(exact.shape),
    }.items():
        found = _number(subject, _additive(phi=phi))
        _in_range(subject, found, what)
        require(subject.ahead(best, found) > ROUNDING, what, f"a score of {found:g}, and exact ones {best:g}")


@_ADDITIVE.law()
def wrong_total(subject: MetricSubject) -> None:
    """Values whose sum is wrong, by the same for each column, score worse than the exact ones."""
    rows = _uncorrelated()
    best, found = _number(subject, _additive()), _number(subject, _additive(phi=_exact(rows, rows) + 2.0))
    require(
        subject.ahead(best, found) > ROUNDING, "2 added to each value", f"{found:g}, and exact ones {best:g}"
    )
