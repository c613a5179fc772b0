"""Laws of metrics that judge by a model's answers: called as f(values, asked, seed) -> (rows,)."""

import itertools

import numpy as np

from xassay import metrics
from xassay.testing.laws.asked import Asked, asked_of
from xassay.testing.laws.law import Book, require
from xassay.testing.laws.metric import ROUNDING, Arguments, MetricSubject, row_laws
from xassay.types import FloatArray

CLEAR = 0.01
"""Mean differences of scores that count."""
RUNS = 200
SURE = 4
"""Standard errors within which a mean is taken to be its expectation."""

_CORRELATION, _ORDER, _AMOUNT, _SHARE = Book(), Book(), Book(), Book()
CORRELATION_LAWS, ORDER_LAWS = _CORRELATION.laws, _ORDER.laws
AMOUNT_LAWS, SHARE_LAWS = _AMOUNT.laws, _SHARE.laws
ALL = (_CORRELATION, _ORDER, _AMOUNT, _SHARE)


def _data(subject: MetricSubject, rows: int = 40) -> Asked:
    return asked_of(rows, one_way=not subject.signed)


def _score(subject: MetricSubject, phi: FloatArray, asked: Asked, seed: int = 0) -> FloatArray:
    return subject.rows(phi, asked, seed)


def _noise(seed: int, n: int = 40) -> FloatArray:
    return np.random.default_rng(seed).standard_normal((n, 5))


def _arguments(_: MetricSubject) -> Arguments:
    return Arguments((_noise(3), asked_of(), 0), ((0, 1), (0, 1), (None, None)))


def _flags(subject: MetricSubject, exact: FloatArray) -> dict[str, FloatArray]:
    """Explanations that are wrong about which columns matter."""
    wrong = {
        "the total split evenly": metrics.even_split(exact.sum(axis=1), 5),
        "the order reversed": 1 / exact,
        "values shuffled": metrics.shuffled(exact, seed=1)[0],
        "values shifted by one column": np.roll(exact, 1, axis=1),
        "another row's values": np.roll(exact, 1, axis=0),
        "the mean over rows": np.tile(exact.mean(axis=0), (len(exact), 1)),
        "noise": _noise(1),
    }
    return {**wrong, "signs turned": -exact} if subject.signed else wrong


def _shared(book: Book) -> None:
    row_laws(book, _arguments)

    @book.law()
    def range_of_good_and_bad(subject: MetricSubject) -> None:
        """Right, opposite and rounded explanations stay within the range too."""
        asked = asked_of()
        for what, phi in {
            "the exact contributions": asked.exact,
            "their opposite": -asked.exact,
            "noise with ties": np.round(_noise(3)),
        }.items():
            found = _score(subject, phi, asked)
            within = ((found >= subject.low - 1e-12) & (found <= subject.high + 1e-12)).all()
            seen = f"scores from {found.min():g} to {found.max():g}"
            require(within, what, f"{seen}, and the range is {subject.low:g} to {subject.high:g}")

    @book.law()
    def ties_row_by_row(subject: MetricSubject) -> None:
        """Ties are broken by a row's id: a batch with ties has the scores of its rows one by one."""
        asked, phi = asked_of(), np.round(_noise(3))
        together = _score(subject, phi, asked)
        alone = [_score(subject, phi[[k]], asked.of_rows([k]))[0] for k in range(40)]
        apart = np.abs(together - alone).max()
        require(np.allclose(together, alone, rtol=1e-12), "rounded values", f"scores differ by {apart:.3g}")

    @book.law()
    def unanswered_row(subject: MetricSubject) -> None:
        """A row about which the model gave no answer is undefined and harms no other."""
        asked, phi = asked_of(), _noise(3)
        expected = _score(subject, phi, asked)
        asked.moves[7, 2, 1] = np.nan
        found = _score(subject, phi, asked)
        lost = np.flatnonzero(np.isnan(found)).tolist()
        require(lost == [7], "no answer about row 7", f"rows {lost} are undefined")
        same = np.array_equal(np.delete(found, 7), np.delete(expected, 7))
        require(same, "no answer about row 7", "scores of other rows changed")


def _which(book: Book) -> None:
    @book.law()
    def wrong_columns(subject: MetricSubject) -> None:
        """The wrong columns score worse in the mean than the exact contributions, and in no row better."""
        asked = _data(subject)
        best = _score(subject, asked.exact, asked)
        for what, phi in _flags(subject, asked.exact).items():
            gain = subject.ahead(best, _score(subject, phi, asked))
            require((gain >= -ROUNDING).all(), what, f"a row scores better by {-gain.min():.3g}")
            require(gain.mean() > CLEAR, what, f"rows score worse by {gain.mean():.3g} in the mean")

    @book.law()
    def more_noise(subject: MetricSubject) -> None:
        """The more noise is added to the exact contributions, the worse the mean score."""
        asked, noise = _data(subject, 200), _noise(4, 200)
        found = [_score(subject, asked.exact + level * noise, asked).mean() for level in (0.0, 1.0, 4.0)]
        for (less, better), (more, worse) in itertools.pairwise(zip((0, 1, 4), found, strict=True)):
            gap = float(subject.ahead(better, worse))
            require(gap > CLEAR, f"noise of {more} in place of {less}", f"the score is worse by {gap:.3g}")


def _best(book: Book) -> None:
    @book.law()
    def exact_is_best(subject: MetricSubject) -> None:
        """The contributions of an additive model have the best value that there is."""
        asked = _data(subject)
        found = _score(subject, asked.exact, asked)
        off = np.abs(found - subject.top).max()
        require(off <= ROUNDING, "exact contributions", f"scores are off {subject.top:g} by {off:.3g}")


def _at_chance(chance: FloatArray, what: str, runs: list[FloatArray]) -> None:
    gaps = np.mean(np.array(runs) - chance, axis=1)
    allowed = SURE * gaps.std() / np.sqrt(len(runs)) + 1e-12
    seen = f"{RUNS} runs are off chance by {gaps.mean():.3g}, where {allowed:.3g} is luck"
    require(abs(gaps.mean()) < allowed, what, seen)


def _by_all_orders(subject: MetricSubject, asked: Asked) -> FloatArray:
    orders = itertools.permutations(range(1, 6))
    found = [_score(subject, np.tile(np.array(one, float), (40, 1)), asked) for one in orders]
    return np.asarray(np.mean(found, axis=0))


for _one in ALL:
    _shared(_one)
for _one in (_CORRELATION, _ORDER, _SHARE):
    _which(_one)
for _one in (_CORRELATION, _AMOUNT, _SHARE):
    _best(_one)


@_ORDER.law()
def chance(subject: MetricSubject) -> None:
    """Noise, and an explanation that names no column, score at chance: the mean over all orders."""
    asked, rng = asked_of(), np.random.default_rng(8)
    by_order = _by_all_orders(subject, asked)
    flat = [_score(subject, np.ones((40, 5)), asked, seed) for seed in range(RUNS)]
    _at_chance(by_order, "the same value for every column", flat)
    noise = [_score(subject, rng.standard_normal((40, 5)), asked) for _ in range(RUNS)]
    _at_chance(by_order, "noise", noise)


@_CORRELATION.law()
def no_correlation(subject: MetricSubject) -> None:
    """Noise, and an explanation that names no column, score 0; so does the mean over all orders."""
    asked, rng = asked_of(), np.random.default_rng(8)
    off = np.abs(_by_all_orders(subject, asked)).max()
    require(off < ROUNDING, "all orders of the columns", f"the mean score is off 0 by {off:.3g}")
    even = _score(subject, metrics.even_split(asked.total, 5), asked)
    require((even == 0).all(), "the total split evenly", f"scores up to {np.abs(even).max():.3g}")
    noise = [_score(subject, rng.standard_normal((40, 5)), asked) for _ in range(RUNS)]
    _at_chance(np.zeros(40), "noise", noise)


@_AMOUNT.law(larger=(1.0, 1.4, 3.0, 100.0), smaller=(1.0, 0.7, 0.2, 0.01))
def scale(subject: MetricSubject, *factors: float) -> None:
    """Contributions on another scale score worse, and the farther it is the worse."""
    asked = asked_of()
    for better, worse in itertools.pairwise(factors):
        one, other = (_score(subject, factor * asked.exact, asked) for factor in (better, worse))
        gap = subject.ahead(one, other)
        require((gap > 0).all(), f"{worse:g} times the exact", f"some row scores as {better:g} times does")
