"""Laws of metrics that compare explanations: of a row and its neighbours, or of two runs."""

import numpy as np

from xassay.testing.laws.law import Book, require
from xassay.testing.laws.metric import Arguments, MetricSubject, close, row_laws
from xassay.types import FloatArray

_STABILITY, _AGREEMENT = Book(), Book()
STABILITY_LAWS = _STABILITY.laws
AGREEMENT_LAWS = _AGREEMENT.laws


def _explained() -> tuple[FloatArray, FloatArray, FloatArray]:
    """Explanations of rows and of neighbours, linear in the row, and the distances between them."""
    rng = np.random.default_rng(2)
    slopes, rows, steps = rng.standard_normal((4, 4)), rng.standard_normal((30, 4)), rng.random((30, 6, 4))
    near = (rows[:, None] + 0.1 * steps) @ slopes
    return rows @ slopes, near, np.linalg.norm(0.1 * steps, axis=2)


def _two() -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(0)
    return rng.standard_normal((50, 6)), rng.standard_normal((50, 6))


row_laws(_STABILITY, lambda _: Arguments(_explained(), ((0, 1), (0, 2), (0, None))))
row_laws(_AGREEMENT, lambda _: Arguments(_two(), ((0, 1), (0, 1))))


@_STABILITY.law()
def larger_moves(subject: MetricSubject) -> None:
    """Explanations that stay the same near a row score best; the more they move, the worse the score."""
    values, near, apart = _explained()
    shift = near - values[:, None]
    still, little, much = (
        subject.rows(values, values[:, None] + factor * shift, apart) for factor in (0.0, 1.0, 3.0)
    )
    require((still == subject.top).all(), "explanations that stay the same", f"scores of {still.max():g}")
    require((subject.ahead(still, little) > 0).all(), "explanations that move", "some score no worse")
    require((subject.ahead(little, much) > 0).all(), "explanations that move more", "some score no worse")


@_STABILITY.law()
def drawn_anew(subject: MetricSubject) -> None:
    """Explanations of near rows that belong to other rows score worse."""
    values, near, apart = _explained()
    other = np.random.default_rng(6).permuted(near, axis=0)
    anew, own = (np.median(subject.rows(values, one, apart)) for one in (other, near))
    require(subject.ahead(own, anew) > 0, "neighbours of other rows", f"{anew:g}, and of its own {own:g}")


@_STABILITY.law()
def order_of_neighbours(subject: MetricSubject) -> None:
    """The order of the near rows does not matter."""
    values, near, apart = _explained()
    found = subject.rows(values, near[:, ::-1], apart[:, ::-1])
    require(close(found, subject.rows(values, near, apart)), "near rows backwards", "scores differ")


@_AGREEMENT.law()
def same_and_opposite(subject: MetricSubject) -> None:
    """Equal explanations have the greatest score, those of opposite signs the least."""
    one, _ = _two()
    same, opposite = subject.rows(one, one), subject.rows(one, -one)
    require(close(same, np.full(50, subject.high)), "an explanation twice", f"scores down to {same.min():g}")
    given = "an explanation and its opposite"
    require(close(opposite, np.full(50, subject.low)), given, f"scores up to {opposite.max():g}")


@_AGREEMENT.law()
def parting(subject: MetricSubject) -> None:
    """The farther two explanations part, the less they agree."""
    one, other = _two()
    found = [float(subject.rows(one, one + level * other).mean()) for level in (0.1, 0.5, 2.0)]
    seen = f"mean scores {', '.join(f'{mean:.3g}' for mean in found)}"
    require(found[0] > found[1] > found[2], "differences of .1, .5 and 2", seen)


@_AGREEMENT.law()
def either_way(subject: MetricSubject) -> None:
    """Which of the two comes first does not matter."""
    one, other = _two()
    require(close(subject.rows(one, other), subject.rows(other, one)), "two explanations", "scores differ")
