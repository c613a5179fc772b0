"""Laws that every explainer obeys."""

import random
import warnings
from collections.abc import Callable
from typing import Any

import attrs
import numpy as np

from xassay.testing.laws import explainer_data as data
from xassay.testing.laws.law import Book, NotJudged, require
from xassay.testing.laws.states import numpy_state, states_of_our_own
from xassay.types import Explainer, Explanation, FloatArray

SAME = 1e-12
"""Differences that batches and orders of rows may make."""

_BOOK = Book()
EXPLAINER_LAWS = _BOOK.laws
"""The laws of explainers by name, in the order in which they are checked."""


@attrs.frozen(eq=False)
class ExplainerSubject:
    """An explainer that is checked, and what it says of itself; None: it does not say.

    Attributes:
        maker: called with ``predict``, ``background`` and ``seed``.
        stochastic: whether its values depend on the seed.
        surrogate: whether it fits one model of its own to the background.
        tabulates: whether it asks for all combinations of 0 and 1 when it is made.
        asks: whether it asks the model about the rows that it explains.
    """

    maker: Callable[..., Explainer]
    stochastic: bool | None = None
    surrogate: bool = False
    tabulates: bool = False
    asks: bool | None = None

    def make(self, predict: Any = data.first, background: Any = data.BACKGROUND, seed: int = 0) -> Explainer:
        """The explainer of a model."""
        return self.maker(predict=predict, background=background, seed=seed)

    def values(self, predict: Any = data.first, seed: int = 0) -> FloatArray:
        """Its values for the five rows."""
        return self.make(predict, seed=seed).explain(data.ROWS).values

    def draws(self) -> bool:
        """Whether seeds or ids change its values, as far as a few of them show."""
        alike = self.make().explain(data.ROWS, row_ids=[7, 8, 9, 10, 11]).values
        return not all(np.array_equal(alike, self.values(seed=seed)) for seed in (0, 1))


def _same(found: Explanation, expected: FloatArray, given: str) -> None:
    require(not found.errors, given, f"rows failed: {dict(found.errors)}")
    require(
        found.values.shape == expected.shape,
        given,
        f"values of shape {found.values.shape}, expected {expected.shape}",
    )
    apart = float(np.abs(found.values - expected).max(initial=0.0))
    require(apart <= SAME, given, f"values differ by {apart:.3g}, where {SAME:g} is allowed")


def _refuses(attempt: Callable[[], Explanation | None], given: str) -> None:
    """See that something raises, or that all rows fail by name; a number for an answer is neither."""
    try:
        found = attempt()
    except Exception:  # noqa: BLE001 - whatever it raises, it does not answer
        return
    n = 0 if found is None else len(found.values)
    failed = found is not None and n and sorted(found.errors) == list(range(n))
    require(failed, given, "it was taken: no error, and rows that are not named in errors")


@_BOOK.law()
def protocol(subject: ExplainerSubject) -> None:
    """An explainer has the method explain(X, row_ids=None), which returns an Explanation."""
    made = subject.make()
    require(isinstance(made, Explainer), "a model of six columns", f"{type(made).__name__} has no explain")
    found = made.explain(data.ROWS)
    require(isinstance(found, Explanation), "five rows", f"explain returned {type(found).__name__}")


@_BOOK.law()
def shape_and_finite(subject: ExplainerSubject) -> None:
    """Every row and feature has a finite value, or the row is named in errors and holds NaN."""
    found = subject.make().explain(data.ROWS)
    shape, failed = found.values.shape, sorted(found.errors)
    require(shape == data.ROWS.shape, "five rows of six columns", f"values of shape {shape}")
    bad = np.flatnonzero(~np.isfinite(found.values).all(axis=1)).tolist()
    require(bad == failed, "five rows", f"rows {bad} are not finite, rows {failed} are named in errors")
    require(not failed, "five rows and a model that answers all", f"rows failed: {dict(found.errors)}")


@_BOOK.law()
def no_rows(subject: ExplainerSubject) -> None:
    """No rows have no values: shape (0, features)."""
    shape = subject.make().explain(data.ROWS[:0]).values.shape
    require(shape == (0, 6), "no rows of six columns", f"values of shape {shape}")


@_BOOK.law(one_background_row=(1, 6), one_feature=(12, 1), one_of_both=(1, 1))
def small_tables(subject: ExplainerSubject, n: int, p: int) -> None:
    """One feature or one background row is enough, except that a surrogate may refuse a single row."""
    given = f"a background of shape {(n, p)}"
    try:
        made = subject.make(data.total, np.zeros((n, p)))
    except ValueError as error:
        require(subject.surrogate and n == 1, given, f"it was refused: {error}")
        return
    require(not subject.surrogate or n > 1, given, "a surrogate was fitted to a single row")
    found = made.explain(np.ones((2, p)))
    require(not found.errors, given, f"rows failed: {dict(found.errors)}")
    require(found.values.shape == (2, p), given, f"values of shape {found.values.shape}")
    require(np.isfinite(found.values).all(), given, "values that are not finite")


@_BOOK.law()
def same_seed(subject: ExplainerSubject) -> None:
    """Equal seeds give equal values, to the last bit."""
    one, other = subject.values(seed=3), subject.values(seed=3)
    require(np.array_equal(one, other), "seed 3, twice", f"values differ by {np.abs(one - other).max():.3g}")


@_BOOK.law()
def explained_again(subject: ExplainerSubject) -> None:
    """The same explainer asked again gives equal values."""
    made = subject.make()
    one, other = made.explain(data.ROWS).values, made.explain(data.ROWS).values
    apart = np.abs(one - other).max()
    require(np.array_equal(one, other), "the same five rows, twice", f"values differ by {apart:.3g}")


@_BOOK.law()
def seed_matters(subject: ExplainerSubject) -> None:
    """The seed changes the values of an explainer that says it is stochastic, and of no other."""
    if subject.stochastic is None:
        raise NotJudged("stochastic is not said")
    changed = not np.array_equal(subject.values(seed=0), subject.values(seed=1))
    seen = f"the values {'changed' if changed else 'stayed'}, and stochastic={subject.stochastic}"
    require(changed == subject.stochastic, "seeds 0 and 1", seen)


@_BOOK.law()
def row_ids_fix_draws(subject: ExplainerSubject) -> None:
    """Equal rows of equal ids have equal values; other ids draw anew where there are draws by row."""
    rows = np.repeat(data.ROWS[:1], 5, axis=0)
    equal = subject.make().explain(rows, row_ids=[7] * 5)
    _same(equal, equal.values[[0] * 5], "one row five times, under one id")
    others = subject.make().explain(rows, row_ids=range(5)).values
    if subject.stochastic is not None:
        differ = not np.array_equal(others, others[[0] * 5])
        expected = subject.stochastic and not subject.surrogate
        seen = f"values {'differ' if differ else 'are equal'}, and stochastic={subject.stochastic}"
        require(differ == expected, "one row five times, under five ids", seen)


@_BOOK.law()
def rows_are_independent(subject: ExplainerSubject) -> None:
    """Neither the batch nor the order of rows changes values by more than 1e-12, nor any ranking."""
    together, order = subject.values(), [3, 0, 4, 2, 1]
    made = subject.make()
    turned = made.explain(data.ROWS[order], row_ids=order)
    _same(turned, together[order], "rows in another order, under their own ids")
    for k in range(len(data.ROWS)):
        alone = made.explain(data.ROWS[[k]], row_ids=[k])
        _same(alone, together[[k]], f"row {k} alone, under its own id")
        for found, what in ((alone.values[0], "alone"), (turned.values[order.index(k)], "in another order")):
            require(_ranks(found) == _ranks(together[k]), f"row {k} {what}", "the ranking changed")


def _ranks(values: FloatArray) -> list[int]:
    """Places of features by |value|, where values closer than 1e-9 of the largest are tied."""
    sizes = np.abs(values)
    closest = 1e-9 * sizes.max(initial=0.0)
    return [int((sizes > size + closest).sum()) for size in sizes]


@_BOOK.law(**data.ANSWERS)
def form_of_answers(subject: ExplainerSubject, form: Callable[[FloatArray], Any]) -> None:
    """The form of the model's answer (a column, a list, another number type, a frame) does not matter."""
    found = subject.make(lambda rows: form(data.first(rows))).explain(data.ROWS)
    _same(found, subject.values(), "a model whose answer has another form")


@_BOOK.law()
def several_outputs(subject: ExplainerSubject) -> None:
    """Several outputs have the values that each has alone, along a third axis."""
    found = subject.make(data.both).explain(data.ROWS)
    alone = [subject.values(predict) for predict in (data.first, data.second)]
    _same(found, np.stack(alone, axis=2), "a model of two outputs")


@_BOOK.law(**data.FORMS)
def form_of_rows(subject: ExplainerSubject, form: Callable[[FloatArray], Any]) -> None:
    """The form of rows and background (number types, frames) does not matter."""
    found = subject.make(background=form(data.BACKGROUND)).explain(form(data.ROWS))
    _same(found, subject.values(), "rows in another form")


@_BOOK.law(answers=(data.first,), fails=(data.broken,))
def global_state(subject: ExplainerSubject, answer: data.Model) -> None:
    """The caller's global random states and warnings filters stay as they are, on failure too."""
    predict = data.first if answer is data.first else data.FailsOnOnes(answer)
    given = f"three rows, where the model is {answer.__name__}"
    subject.values()  # what a package does to the filters when it is imported is not the explainer's doing
    with states_of_our_own():
        numpys, pythons, filters = numpy_state(), random.getstate(), list(warnings.filters)
        try:
            subject.make(predict, data.WIDE_BACKGROUND).explain(data.WIDE_ROWS)
        except Exception:
            if predict is data.first or not subject.tabulates:
                raise
        require(numpy_state() == numpys, given, "numpy's global random state changed")
        require(random.getstate() == pythons, given, "Python's global random state changed")
        require(warnings.filters == filters, given, "the warnings filters changed")


@_BOOK.law()
def inputs_are_left_alone(subject: ExplainerSubject) -> None:
    """Neither the rows nor the background are written to."""
    rows, background = data.ROWS.copy(), data.BACKGROUND.copy()
    subject.make(background=background).explain(rows)
    require(np.array_equal(rows, data.ROWS), "five rows", "the rows were changed")
    require(np.array_equal(background, data.BACKGROUND), "twelve background rows", "they were changed")


@_BOOK.law(raises=(data.broken,), gives_nan=(data.undecided,))
def failing_row(subject: ExplainerSubject, answer: data.Model) -> None:
    """A row for which the model fails is NaN and named in errors, and no other row is harmed."""
    predict, given = data.FailsOnOnes(answer), "three rows, where the model fails for the second"
    if subject.tabulates:
        _refuses(lambda: subject.make(predict, data.WIDE_BACKGROUND).explain(data.WIDE_ROWS), given)
        return
    fine = subject.make(data.first, data.WIDE_BACKGROUND).explain(data.WIDE_ROWS)
    found = subject.make(predict, data.WIDE_BACKGROUND).explain(data.WIDE_ROWS)
    asked = bool(predict.failed)
    if subject.asks is not None:
        seen = f"the model was {'asked' if asked else 'never asked'} about it, and asks={subject.asks}"
        require(asked == subject.asks, given, seen)
    failed = [data.FAILING] if asked else []
    require(sorted(found.errors) == failed, given, f"errors name rows {sorted(found.errors)}, not {failed}")
    require(np.isnan(found.values[failed]).all(), given, "the failed row has values")
    others = np.delete(np.arange(3), failed)
    apart = np.abs(found.values[others] - fine.values[others]).max()
    require(apart <= SAME, given, f"values of other rows moved by {apart:.3g}")
    if answer is data.broken and failed:
        seen = f"the reason is {found.errors[data.FAILING]!r}"
        require("ZeroDivisionError: the model broke" in found.errors[data.FAILING], given, seen)


@_BOOK.law()
def column_order(subject: ExplainerSubject) -> None:
    """Permuting the columns permutes the values, of an explainer without draws."""
    if subject.stochastic or (subject.stochastic is None and subject.draws()):
        raise NotJudged("it draws, and its draws go by column")
    order = np.array([3, 0, 5, 1, 4, 2])
    back = np.argsort(order)
    turned = subject.make(lambda rows: data.first(rows[:, back]), data.BACKGROUND[:, order])
    found, expected = turned.explain(data.ROWS[:, order]).values, subject.values()[:, order]
    apart = np.abs(found - expected).max()
    require(apart <= 1e-9, "columns in another order", f"values differ by {apart:.3g}")  # noqa: PLR2004 - rounding


@_BOOK.law()
def constant_model(subject: ExplainerSubject) -> None:
    """A model that always answers the same gives every feature of a row the same value: none matters more."""
    found = subject.values(data.constant)
    spread = np.ptp(found, axis=1).max()
    given = "a model that answers 0.75 for every row"
    require(spread <= 1e-9, given, f"values of one row differ by {spread:.3g}")  # noqa: PLR2004 - rounding


@_BOOK.law(**data.NO_ANSWERS)
def answers_that_are_no_scores(subject: ExplainerSubject, answer: data.Model) -> None:
    """A model that does not return one real number a row is refused, or all its rows fail."""
    _refuses(lambda: subject.make(answer).explain(data.ROWS), "a model that returns no score a row")


@_BOOK.law(of_six_columns=(np.zeros((0, 6)),), of_none=([],))
def empty_background(subject: ExplainerSubject, background: Any) -> None:
    """A background without rows is refused, or all rows fail."""
    _refuses(lambda: subject.make(background=background).explain(data.ROWS), "a background without rows")


@_BOOK.law(**data.NO_ROWS)
def rows_that_do_not_fit(subject: ExplainerSubject, rows: Any, row_ids: Any) -> None:
    """Rows or row ids that do not fit the background are refused."""
    _refuses(lambda: subject.make().explain(rows, row_ids=row_ids), "rows or ids that do not fit")


@_BOOK.law()
def model_without_a_call(subject: ExplainerSubject) -> None:
    """A model that is no function is refused."""
    _refuses(lambda: subject.make("model.pkl").explain(data.ROWS), "a model that is the text 'model.pkl'")


@_BOOK.law()
def model_that_writes(subject: ExplainerSubject) -> None:
    """A model that writes to the rows that it is given harms nobody."""
    found = subject.make(data.scribbles).explain(data.ROWS)
    _same(found, subject.values(), "a model that overwrites its rows")
