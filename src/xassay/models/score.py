"""What is explained: one number a row, out of whatever a user's model gives."""

from collections.abc import Callable, Sequence
from typing import Any

import attrs
import numpy as np

from xassay.errors import ExplainerError, InputError, ShapeError, UnknownNameError
from xassay.types import FloatArray

KINDS = ("regression", "classification", "anomaly")
LINKS = ("identity", "logit")
_METHODS = {
    "regression": ("predict",),
    "classification": ("predict_proba",),
    "anomaly": ("decision_function", "score_samples"),
}


@attrs.frozen(eq=False)
class Score:
    """A model as a function of tables: one finite number a row is what it should give.

    Attributes:
        answer: what is asked: the model's method, or the function itself.
        method: its name, for people.
        kind: regression, classification or anomaly.
        position: which column of the answer, where it has several.
        label: what that column is.
        named: whether the user named it.
        link: identity, or logit: the log-odds of a probability.
        sign: -1 where the model's score falls with what is to be explained.
        estimator: the fitted estimator, or None where a plain function was given.
        again: makes it anew in another process, where the model was loaded from a place; else
            None, and the model is sent.
    """

    answer: Callable[[Any], Any]
    method: str
    kind: str
    position: int | None = None
    label: str = ""
    named: bool = False
    link: str = "identity"
    sign: int = 1
    estimator: Any = None
    again: "Callable[[], Score] | None" = None

    def __reduce__(self) -> str | tuple[Any, ...]:
        if self.again is not None:
            return _made_again, (self.again, self.sign)
        return _of_fields, (tuple(getattr(self, field.name) for field in attrs.fields(Score)),)

    def __call__(self, table: Any) -> FloatArray:
        """Scores, shape (rows,).

        Raises:
            ExplainerError: the model gives another shape, or no numbers.
        """
        answer = self.answer(table)
        try:
            found = np.asarray(answer)
            found = found.astype(np.float64, casting="same_kind" if found.dtype.kind == "c" else "unsafe")
        except (TypeError, ValueError):
            found = np.empty(0, dtype=np.str_)
        # text and dates could be made numbers, and are no scores
        if np.asarray(answer, dtype=None if found.dtype.kind == "f" else object).dtype.kind not in "biufO":
            found = np.empty(0, dtype=np.str_)
        if found.dtype.kind != "f":
            raise ExplainerError(f"{self.method} gives {type(answer).__name__}, expected numbers")
        n = len(table)
        if self.position is not None:
            found = self._of_class(found, n)
        if found.shape not in ((n,), (n, 1)):
            raise ShapeError(f"{self.method} gives shape {found.shape} for {n} rows, expected ({n},)")
        found = found.reshape(-1)
        if self.link == "logit":
            with np.errstate(divide="ignore", invalid="ignore"):
                found = np.log(found) - np.log1p(-found)
        return np.asarray(self.sign * found)

    def _of_class(self, found: FloatArray, n: int) -> FloatArray:
        """The column of the class, of an answer that has several."""
        assert self.position is not None  # noqa: S101 - asked for classes alone
        if found.ndim != 2 or found.shape[0] != n or found.shape[1] == 1:  # noqa: PLR2004 - one number a row
            if self.named:
                raise ExplainerError(f"{self.method} gives one number a row, so no class can be named")
            return found
        k = found.shape[1]
        if not self.named and k > 2 and self.estimator is None:  # noqa: PLR2004 - this or that
            raise ExplainerError(f"{self.method} gives {k} numbers a row: name the class, from 0 to {k - 1}")
        if self.position >= k:
            raise ExplainerError(
                f"{self.method} gives {k} numbers a row, class {self.position} is none of them"
            )
        return np.asarray(found[:, self.position])


def _made_again(again: Callable[[], Score], sign: int) -> Score:
    return attrs.evolve(again(), sign=sign)


def _of_fields(values: tuple[Any, ...]) -> Score:
    return Score(*values)


def score_of(model: Any, kind: str, *, class_: Any = None, link: str = "identity") -> Score:
    """The score that a model of some kind gives.

    Args:
        model: a fitted estimator, or a function from tables to one number a row.
        kind: regression (``predict``), classification (a column of ``predict_proba``) or anomaly
            (``decision_function``, else ``score_samples``).
        class_: the class whose probability is explained, by its label or position; needed where
            there are more than two, else the second.
        link: ``logit`` explains log-odds in place of probabilities.

    Raises:
        UnknownNameError: no such kind, link or class.
        InputError: the model has no method for it, or options that do not go together.

    Example:
        >>> import numpy as np
        >>> score_of(lambda X: X.sum(axis=1), "regression")(np.ones((2, 3))).tolist()
        [3.0, 3.0]
    """
    if kind not in KINDS:
        raise UnknownNameError("kind", kind, KINDS)
    if link not in LINKS:
        raise UnknownNameError("link", link, LINKS)
    if kind != "classification" and (class_ is not None or link != "identity"):
        raise InputError(f"class and link go with kind classification, not {kind}")
    if isinstance(model, type):
        raise InputError(f"the model is the class {model.__name__}; give a fitted one, or a function")
    if kind == "regression" and hasattr(model, "predict_proba") and hasattr(model, "classes_"):
        raise InputError(f"{type(model).__name__} is a classifier: say kind classification")
    method = next((name for name in _METHODS[kind] if callable(getattr(model, name, None))), None)
    if method is None and not callable(model):
        wanted = " or ".join(_METHODS[kind])
        raise InputError(
            f"{type(model).__name__} has no {wanted}, which kind {kind} asks for; give a function from rows"
            " to scores"
        )
    if method is None:
        owner = getattr(model, "__self__", None)
        estimator = owner if hasattr(owner, "fit") else None
        answer, name = model, str(getattr(model, "__name__", type(model).__name__))
    else:
        estimator, answer, name = model, getattr(model, method), f"{type(model).__name__}.{method}"
    found = Score(answer, name, kind, link=link, estimator=estimator)
    if kind != "classification":
        return found
    classes = getattr(estimator, "classes_", None)
    position, label = _class(None if classes is None else list(classes), class_)
    return attrs.evolve(found, position=position, label=label, named=class_ is not None)


def _class(classes: Sequence[Any] | None, wanted: Any) -> tuple[int, str]:
    """Position and label of the class that is explained."""
    if classes is None:
        position = 1 if wanted is None else _whole(wanted)
        if position is None:
            raise InputError(
                f"class {wanted!r}: the model names no classes; give its position, counted from 0"
            )
        return position, f"class {position}"
    names = [str(label) for label in classes]
    if wanted is None:
        if len(names) > 2:  # noqa: PLR2004 - this or that
            raise InputError(f"name the class to explain; the model knows {', '.join(names[:20])}")
        return len(names) - 1, names[-1]
    if str(wanted) in names:
        return names.index(str(wanted)), str(wanted)
    numbers = [_number(label) for label in classes]
    if _number(wanted) is not None and _number(wanted) in numbers:
        position = numbers.index(_number(wanted))
        return position, names[position]
    position = _whole(wanted) if None in numbers else None
    if position is not None and position < len(names):
        return position, names[position]
    raise UnknownNameError("class", wanted, names)


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def _whole(value: Any) -> int | None:
    try:
        found = int(str(value))
    except ValueError:
        return None
    return found if found >= 0 else None
