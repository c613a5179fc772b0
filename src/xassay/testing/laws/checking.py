"""One call that checks an explainer, or a metric, against all laws that concern it."""

import functools
import inspect
import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from xassay.errors import InputError, UnknownNameError
from xassay.explainers import ExplainerRecord
from xassay.explainers import make as make_registered
from xassay.explainers import record as record_of
from xassay.explainers.user import record_of_function
from xassay.testing.laws.answers import AMOUNT_LAWS, CORRELATION_LAWS, ORDER_LAWS, SHARE_LAWS
from xassay.testing.laws.explainer import EXPLAINER_LAWS, ExplainerSubject
from xassay.testing.laws.law import Law, outcomes
from xassay.testing.laws.metric import MetricSubject
from xassay.testing.laws.models import ADDITIVE_LAWS, LOCAL_LINEAR_LAWS
from xassay.testing.laws.pairs import AGREEMENT_LAWS, STABILITY_LAWS
from xassay.testing.laws.ranking import NOISE_LAWS, RANKING_LAWS
from xassay.types import Explainer


def check_explainer(
    make: str | Callable[..., Any],
    *,
    stochastic: bool | None = None,
    surrogate: bool = False,
    tabulates: bool = False,
    asks: bool | None = None,
    skip: Mapping[str, str] | None = None,
    **options: Any,
) -> dict[str, str]:
    """Check that an explainer obeys the laws of explainers, on small models over columns of 0 and 1.

    Args:
        make: a factory, called as ``make(predict=..., background=..., seed=..., **options)``; or a
            function ``(predict, background, X) -> values | Explanation``, which is checked as a study
            calls it, one row at a time; or a name that `xassay.explainers.make` takes, whose record
            says the following four.
        stochastic: whether its values depend on the seed; None: not said.
        surrogate: whether it fits one model of its own to the background: it may then refuse a
            background of one row, and its draws need not depend on row ids.
        tabulates: whether it asks for all combinations of 0 and 1 when it is made: a model that fails
            for one of them may then be refused.
        asks: whether it asks the model about the rows that it explains; None: not said.
        skip: names of laws that are left out, each with the reason. `EXPLAINER_LAWS` lists the laws.
        options: the explainer's own.

    Returns:
        The outcome by law: ``held``, ``not judged: why``, or ``skipped: why``.

    Raises:
        LawBroken: an AssertionError that names the first law that does not hold, the input and what
            was seen.
        UnknownNameError: `skip` names no law.
        InputError: `skip` gives no reason, or `make` cannot be called.

    Example:
        >>> def flip(predict, background, X):
        ...     import numpy as np
        ...     flipped = np.where(np.eye(X.shape[1], dtype=bool), 1 - X, X)
        ...     return predict(X) - predict(flipped)
        >>> found = check_explainer(flip, stochastic=False)
        >>> found["same_seed"], found["column_order"]
        ('held', 'held')
        >>> check_explainer(lambda predict, background, X: predict(X) * X + 1)
        Traceback (most recent call last):
            ...
        xassay.testing.laws.law.LawBroken: law constant_model is broken: ...
    """
    said = ExplainerSubject(_maker(make, options), stochastic, surrogate, tabulates, asks)
    if isinstance(make, str):
        record = record_of(make, options.get("engine"))
        if record.engine != "user":
            said = of_record(record, said.maker, asks=asks)
    return outcomes(EXPLAINER_LAWS, said, skip)


def of_record(
    record: ExplainerRecord, maker: Callable[..., Explainer], *, asks: bool | None = None
) -> ExplainerSubject:
    """A registered explainer with what its record says."""
    return ExplainerSubject(maker, record.stochastic, record.surrogate, record.tabulates, asks)


def _maker(make: Any, options: Mapping[str, Any]) -> Callable[..., Explainer]:
    """A factory of what may be a name, a factory, or a function that explains."""
    if isinstance(make, str):
        return functools.partial(make_registered, make, **options)
    if not callable(make):
        raise InputError(f"check_explainer takes a function or a name, not {make!r}")
    try:
        inspect.signature(make).bind(predict=None, background=None, seed=0, **options)
    except TypeError:
        name = getattr(make, "__name__", "explainer")
        return functools.partial(record_of_function(name, make).factory, **options)
    except ValueError:
        pass  # a callable without a signature is taken to be a factory
    return functools.partial(make, **options)


METRIC_LAWS: Mapping[str, Mapping[str, Law]] = MappingProxyType(
    {
        "ranking": RANKING_LAWS,
        "noise": NOISE_LAWS,
        "correlation": CORRELATION_LAWS,
        "order": ORDER_LAWS,
        "amount": AMOUNT_LAWS,
        "share": SHARE_LAWS,
        "local_linear": LOCAL_LINEAR_LAWS,
        "additive": ADDITIVE_LAWS,
        "stability": STABILITY_LAWS,
        "agreement": AGREEMENT_LAWS,
    }
)
"""The laws of metrics by kind and name."""


def check_metric(
    score: Callable[..., Any],
    *,
    kind: str,
    higher_is_better: bool,
    low: float = -math.inf,
    high: float = math.inf,
    best: float | None = None,
    signed: bool = True,
    skip: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Check that a metric obeys the laws of its kind.

    Args:
        score: the metric, called as its kind says. One score a row:

            * ``ranking``: (attributions, relevant), both (rows, features);
            * ``noise``: (attributions, relevant, noise), where noise is bool (features,);
            * ``correlation``, ``order``, ``amount``, ``share``: (values, asked, seed), where asked is an
              `Asked`, which answers for a model: correlations of claimed and true changes, measures of
              an explanation's order of columns (ties are broken by the seed), measures that see how much
              is claimed in all, and shares of what can be told;
            * ``stability``: (values, near, distances), of shapes (rows, features),
              (rows, neighbours, features) and (rows, neighbours);
            * ``agreement``: (values, other values), both (rows, features).

            One number for all rows:

            * ``local_linear``: (explanation, predict, X);
            * ``additive``: (explanation, predict, X, background).
        kind: one of `METRIC_LAWS`, which lists the laws of each.
        higher_is_better: the direction.
        low: the least value it can take.
        high: the greatest.
        best: the value to reach, where it is not an end of the range.
        signed: whether it looks at the signs of the model's changes; read by ``order`` alone.
        skip: names of laws that are left out, each with the reason.

    Returns:
        The outcome by law: ``held``, or ``skipped: why``.

    Raises:
        LawBroken: an AssertionError that names the first law that does not hold, the input and what
            was seen.
        UnknownNameError: there is no such kind, or `skip` names no law of it.
        InputError: `skip` gives no reason.

    Example:
        >>> from xassay import metrics
        >>> found = check_metric(
        ...     metrics.reciprocal_rank, kind="ranking", higher_is_better=True, low=0, high=1
        ... )
        >>> found["relevant_columns_first"]
        'held'
        >>> check_metric(lambda a, r: a[:, 0] > 0, kind="ranking", higher_is_better=True, low=0, high=1)
        Traceback (most recent call last):
            ...
        xassay.testing.laws.law.LawBroken: law column_order is broken: The order of columns does not matter...
    """
    if kind not in METRIC_LAWS:
        raise UnknownNameError("kind of metric", kind, METRIC_LAWS)
    subject = MetricSubject(score, higher_is_better, low, high, best, signed)
    return outcomes(METRIC_LAWS[kind], subject, skip)
