"""Rows of losses and scores whose expected score is known, for the coverage of intervals and tests."""

from collections.abc import Callable

import attrs
import numpy as np

from xassay.types import FloatArray

RARE = 0.02
"""Share of the rows that are rare."""
_SIGMA = 1.5
_TAIL = 2.2

Draw = Callable[[int, np.random.Generator], tuple[FloatArray, FloatArray]]


@attrs.frozen
class Losses:
    """An explanation's losses and those of telling nothing, on rows drawn independently.

    Attributes:
        name: in words.
        draw: (rows, generator) -> own and trivial losses, each (rows,).
        own: the expected own loss.
        trivial: the expected trivial loss.
    """

    name: str
    draw: Draw
    own: float
    trivial: float


def _gamma(n: int, rng: np.random.Generator) -> FloatArray:
    return rng.gamma(2.0, 1.0, n)


def _lognormal(n: int, rng: np.random.Generator) -> FloatArray:
    return np.exp(_SIGMA * rng.standard_normal(n))


def _pareto(n: int, rng: np.random.Generator) -> FloatArray:
    return 1 + rng.pareto(_TAIL, n)


def _scaled(sizes: Callable[[int, np.random.Generator], FloatArray], shares: tuple[float, float]) -> Draw:
    """Own losses are Beta-distributed shares of the trivial ones."""

    def draw(n: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        trivial = sizes(n, rng)
        return trivial * rng.beta(*shares, n), trivial

    return draw


def _apart(sizes: Callable[[int, np.random.Generator], FloatArray], share: float) -> Draw:
    """Own and trivial losses are independent."""
    return lambda n, rng: (share * sizes(n, rng), sizes(n, rng))


def _rare(factor: float, usual: float) -> Draw:
    """Rare rows are ``factor`` times as large, and wholly missed; of the others ``usual`` is missed."""

    def draw(n: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        rare = rng.random(n) < RARE
        trivial = _gamma(n, rng) * np.where(rare, factor, 1.0)
        return trivial * np.where(rare, 1.0, usual), trivial

    return draw


def _worse(n: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    trivial = _gamma(n, rng)
    return trivial * _gamma(n, rng), trivial


def _of_rare(factor: float, usual: float) -> tuple[float, float]:
    return 2 * (RARE * factor + (1 - RARE) * usual), 2 * (RARE * factor + 1 - RARE)


_LOG_MEAN = float(np.exp(_SIGMA**2 / 2))
_PARETO_MEAN = _TAIL / (_TAIL - 1)

LOSSES = (
    Losses("plain: gamma", _scaled(_gamma, (1.0, 4.0)), 0.4, 2.0),
    Losses("plain: normal squared", _apart(lambda n, rng: rng.standard_normal(n) ** 2, 0.2), 0.2, 1.0),
    Losses("heavy: lognormal 1.5", _scaled(_lognormal, (0.5, 2.0)), 0.2 * _LOG_MEAN, _LOG_MEAN),
    Losses("heavy: lognormal 1.5, own apart", _apart(_lognormal, 0.2), 0.2 * _LOG_MEAN, _LOG_MEAN),
    Losses("heavy: Pareto 2.2", _scaled(_pareto, (0.5, 2.0)), 0.2 * _PARETO_MEAN, _PARETO_MEAN),
    Losses("worse than nothing", _worse, 4.0, 2.0),
    Losses("worse, heavy: lognormal 1.5", _apart(_lognormal, 2.0), 2 * _LOG_MEAN, _LOG_MEAN),
    Losses("rare: 2% of rows missed, else exact", _rare(1.0, 0.0), *_of_rare(1.0, 0.0)),
    Losses("rare: 2% of rows, 10 times the loss", _rare(10.0, 0.05), *_of_rare(10.0, 0.05)),
    Losses("rare: 2% of rows, 100 times the loss", _rare(100.0, 0.05), *_of_rare(100.0, 0.05)),
)
"""Rows of every kind that a check meets."""

Shares = Callable[[int, np.random.Generator], FloatArray]


@attrs.frozen
class Rivals:
    """Two explainers, whose losses are shares of the same trivial losses.

    Attributes:
        name: in words.
        sizes: the trivial losses.
        first: the first's shares.
        second: the second's.
        expected: the expected shares of both; where they differ, the first is the worse.
    """

    name: str
    sizes: Shares
    first: Shares
    second: Shares
    expected: tuple[float, float]

    @property
    def apart(self) -> float:
        """The first's skill minus the second's: below 0 where the second is better."""
        first, second = self.expected
        return float(np.sqrt(second) - np.sqrt(first))

    def draw(self, n: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Both explainers' losses and the trivial ones."""
        trivial = self.sizes(n, rng)
        return trivial * self.first(n, rng), trivial * self.second(n, rng), trivial


def _even(n: int, rng: np.random.Generator) -> FloatArray:
    return rng.beta(1.0, 4.0, n)


def _larger(n: int, rng: np.random.Generator) -> FloatArray:
    return rng.beta(1.0, 2.0, n)


def _failing(share: float) -> Shares:
    return lambda n, rng: (rng.random(n) < share).astype(np.float64)


def _mostly_better(n: int, rng: np.random.Generator) -> FloatArray:
    """A tenth of `_even` on 19 rows of 20, and 718 times it on the other."""
    return _even(n, rng) * np.where(rng.random(n) < 0.05, 718.1, 0.1)  # noqa: PLR2004 - as said


ALIKE = (
    Rivals("alike: gamma", _gamma, _even, _even, (0.2, 0.2)),
    Rivals("alike: lognormal 1.5", _lognormal, _even, _even, (0.2, 0.2)),
    Rivals("alike: both miss 2% of rows, else exact", _gamma, _failing(RARE), _failing(RARE), (RARE, RARE)),
    Rivals("equal scores: a fifth of each row, every fifth row", _gamma, _even, _failing(0.2), (0.2, 0.2)),
    Rivals(
        "equal scores: 2% of each row, 2% of rows",
        _gamma,
        lambda n, rng: 2 * RARE * rng.random(n),
        _failing(RARE),
        (RARE, RARE),
    ),
)
"""No difference of scores: what is found is false."""

DIFFERENT = (
    Rivals("skill .42 beside .55: gamma", _gamma, _larger, _even, (1 / 3, 0.2)),
    Rivals("skill .42 beside .55: lognormal 1.5", _lognormal, _larger, _even, (1 / 3, 0.2)),
    Rivals("skill .55 beside .86: missed rows", _gamma, _failing(0.2), _failing(RARE), (0.2, RARE)),
    Rivals(
        "better on 95% of rows, RMSE six times as large",
        _gamma,
        _mostly_better,
        _even,
        (0.2 * (0.05 * 718.1 + 0.95 * 0.1), 0.2),
    ),
)
"""Differences to be found; the first is always the worse."""
