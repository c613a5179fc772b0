"""Laws of metrics that hold a ranking of columns against the truth, and of those that count noise columns."""

import numpy as np

from xassay.testing.laws.law import Book, require
from xassay.testing.laws.metric import ROUNDING, Arguments, MetricSubject, close, row_laws
from xassay.types import BoolArray, FloatArray

_RANKING, _NOISE = Book(), Book()
RANKING_LAWS = _RANKING.laws
NOISE_LAWS = _NOISE.laws

NOISE = np.array([False, True, False, True, False, False])


def _rows() -> tuple[FloatArray, BoolArray]:
    """Many ties, some rows without a relevant feature, some that could not be explained."""
    rng = np.random.default_rng(5)
    values = rng.integers(-2, 3, (60, 6)).astype(float)
    relevant = rng.random((60, 6)) < 0.4  # noqa: PLR2004 - a share
    relevant[:3] = False
    values[3:6, 2] = np.nan
    return values, relevant


def _ranked(_: MetricSubject) -> Arguments:
    return Arguments(_rows(), ((0, 1), (0, 1)))


def _with_noise(_: MetricSubject) -> Arguments:
    return Arguments((*_rows(), NOISE), ((0, 1), (0, 1), (None, 0)))


row_laws(_RANKING, _ranked)
row_laws(_NOISE, _with_noise)


@_RANKING.law(**{f"{n}_relevant": (n,) for n in range(1, 6)})
def relevant_columns_first(subject: MetricSubject, n: int) -> None:
    """Relevant columns ranked first score best, and ranked last they score worse."""
    values, relevant = np.arange(6.0, 0, -1)[None], (np.arange(6) < n)[None]
    best = float(subject.rows(values, relevant)[0])
    worst = float(subject.rows(values[:, ::-1], relevant)[0])
    require(best == subject.top, "relevant columns first", f"a score of {best:g}, not {subject.top:g}")
    require(subject.ahead(best, worst) > 0, "relevant columns last", f"{worst:g}, and first {best:g}")


@_RANKING.law()
def promotion(subject: MetricSubject) -> None:
    """A relevant column that moves up by one place never makes a score worse, and often better."""
    rng = np.random.default_rng(6)
    values = rng.permuted(np.tile(np.arange(1.0, 7), (200, 1)), axis=1)
    relevant = rng.random((200, 6)) < 0.4  # noqa: PLR2004 - a share
    order = np.argsort(-values, axis=1)
    gains = []
    for k in np.flatnonzero(relevant.any(axis=1)):
        flags = relevant[k, order[k]]
        places = np.flatnonzero(~flags[:-1] & flags[1:])
        for place in places:
            moved = values[k].copy()
            up, down = order[k, place + 1], order[k, place]
            moved[[up, down]] = moved[[down, up]]
            both = subject.rows(np.stack([moved, values[k]]), relevant[[k, k]])
            gains.append(float(subject.ahead(both[0], both[1])))
    require(min(gains) >= -ROUNDING, "a relevant column one place up", f"scores fell by {-min(gains):.3g}")
    require(max(gains) > ROUNDING, "relevant columns one place up", "no score ever changed")


@_RANKING.law()
def undefined_rows(subject: MetricSubject) -> None:
    """Rows without a relevant column, or with a value that is missing, are NaN, and no others."""
    values, relevant = _rows()
    expected = np.isnan(values).any(axis=1) | ~relevant.any(axis=1)
    wrong = np.flatnonzero(np.isnan(subject.rows(values, relevant)) != expected).tolist()
    given = "rows without a relevant column (0 to 2) or with a missing value (3 to 5)"
    require(not wrong, given, f"rows {wrong} are defined and should not be, or the other way around")


@_RANKING.law()
def sizes_alone(subject: MetricSubject) -> None:
    """Columns are ranked by the size of their values: signs and the scale do not matter."""
    values, relevant = _rows()
    expected = subject.rows(values, relevant)
    for what, changed in (("signs turned", -values), ("sizes alone", abs(values)), ("4 times", 4 * values)):
        require(close(subject.rows(changed, relevant), expected), what, "scores differ")


@_NOISE.law()
def failed_rows_are_undefined(subject: MetricSubject) -> None:
    """A row with a missing value is NaN; a row with all values and a relevant column is defined."""
    values, relevant = _rows()
    found, failed = np.isnan(subject.rows(values, relevant, NOISE)), np.isnan(values).any(axis=1)
    require(found[failed].all(), "rows 3 to 5 without a value", "they have a score")
    lost = np.flatnonzero(found & ~failed & relevant.any(axis=1)).tolist()
    require(not lost, "rows with all values", f"rows {lost} have no score")


@_NOISE.law()
def more_weight_on_noise(subject: MetricSubject) -> None:
    """More weight on noise columns scores worse."""
    little, much = (
        float(subject.rows(np.array([weights]), ~NOISE[None], NOISE)[0])
        for weights in (5 - 4.0 * NOISE, 1 + 4.0 * NOISE)
    )
    require(subject.ahead(little, much) > 0, "weights 1 and 5 on noise", f"scores {little:g} and {much:g}")
