"""What is known of an explainer before it runs."""

import math
from collections.abc import Callable

import attrs

from xassay.types import Explainer


def _without_end(_: int) -> float:
    return math.inf


@attrs.frozen(eq=False)
class Samples:
    """How an explainer that samples is told how much.

    Attributes:
        option: the option that says it.
        default: what that comes to where nothing is said, given the number of features.
        least: the least it takes.
        most: from where on nothing is left to sample.
    """

    option: str
    default: Callable[[int], int]
    least: Callable[[int], int] = attrs.field(default=lambda _: 2)
    most: Callable[[int], float] = _without_end


@attrs.frozen
class ExplainerRecord:
    """What is known of an explainer before it runs.

    Attributes:
        name: what users call it.
        engine: whose code explains: ``shap``, ``lime``, ``native``, or ``user``.
        factory: takes ``predict``, ``background``, ``seed`` and options.
        version: names the code that explains, so that stored results of other code are not
            taken for its own.
        published: the name in the published tables, if it stands there.
        stochastic: whether its values depend on the seed.
        baseline: whether it is there to show what a score is worth, not to compete.
        uses_background: whether it looks at the background at all.
        local_linear: whether its explanations can be local linear models; None: not known
            before it has explained something.
        surrogate: whether it fits one model of its own to the background, which explains all
            rows: its draws are then one a fit, and it needs several background rows.
        samples: how an explainer that samples is told how much; None for the others.
        needs_finite: whether a missing value in the background is too much for it.
        wants_model: whether it looks inside the model, which it is then given as ``model``.
        tabulates: whether it needs the model as a table over 0/1 columns, which it makes by
            asking for all combinations unless it is given.
        table_only: whether rows that differ outside the table's columns alone, and share a
            draw, have equal values (as long as those columns vary in the background).
        cost: milliseconds a row and output, roughly, given the number of features and of
            background rows; for the order of work and the ETA only.
    """

    name: str
    engine: str
    factory: Callable[..., Explainer]
    version: str
    published: str | None = None
    stochastic: bool = True
    baseline: bool = False
    uses_background: bool = True
    local_linear: bool | None = False
    surrogate: bool = False
    samples: Samples | None = None
    needs_finite: bool = False
    wants_model: bool = False
    tabulates: bool = False
    table_only: bool = False
    cost: Callable[[int, int], float] = attrs.field(default=lambda _features, _rows: 1.0, eq=False)
