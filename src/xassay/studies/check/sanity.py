"""Is there something to explain? Looked at before anything is, as no explanation mends a model."""

import attrs
import numpy as np

from xassay.errors import InputError
from xassay.seeds import generator
from xassay.studies.check.asking import robust
from xassay.studies.check.column_use import column_use
from xassay.tabular.space import Space
from xassay.types import BoolArray, FloatArray, IntArray, Predict

MOST_ROWS = 2000
"""Explained rows that are looked at, at most; of the background all."""

N_AGAIN = 200
"""Rows that are asked twice, from either table."""

N_ALONE = 4
"""Rows that are asked alone, from either table: each costs a call."""

SAME = 1e-5
"""Two answers to one row are the same up to this part of the score's spread: packages that compute in
single precision, or add in another order, stay below it; no explanation of a difference so small is read."""

CHANGED = 1e-9
"""A column matters where the score changes by more than this part of its spread, and more than rounding."""

_ROUNDING = 64
_N_STARTS = 256
_N_PLANTED = 20
_FAR = 6.0
_CLEAR = 0.6
_MOST_NAMES = 5


@attrs.frozen
class Finding:
    """What a sanity check found.

    Attributes:
        check: what was looked at.
        passed: whether all is well.
        found: what was seen.
        meaning: what it means for explanations, where it did not pass.
        rows: how many rows it rests on.
        columns: the columns that seem unused, where columns were looked at.
    """

    check: str
    passed: bool
    found: str
    meaning: str = ""
    rows: int = 0
    columns: tuple[str, ...] = ()


@attrs.frozen(eq=False)
class _Scale:
    """What is a difference between two scores, and what is rounding.

    Attributes:
        spread: interquartile range of the finite scores or their standard deviation, the smaller
            of those above 0: neither a few huge scores nor many equal ones hide differences.
        precision: relative distance of two neighbouring scores in the type that they were computed in.
        largest: the largest finite |score|.
    """

    spread: float
    precision: float
    largest: float

    @classmethod
    def of(cls, scores: FloatArray) -> "_Scale":
        known = scores[np.isfinite(scores)]
        if not len(known):
            return cls(0.0, float(np.finfo(np.float64).eps), 0.0)
        largest = float(np.abs(known).max())
        unit = largest or 1.0  # to one scale first: squares must not overflow
        spreads = (np.subtract(*np.quantile(known / unit, [0.75, 0.25])), (known / unit).std())
        with np.errstate(over="ignore", under="ignore"):
            # whole numbers are exact in single precision, whatever they were computed in
            single = bool((known.astype(np.float32) == known).all() and (known != np.rint(known)).any())
        precision = float(np.finfo(np.float32 if single else np.float64).eps)
        return cls(unit * float(min((s for s in spreads if s > 0), default=0.0)), precision, largest)

    @property
    def rounding(self) -> float:
        """What may be rounding near the largest score."""
        return self._rounding * self.largest

    @property
    def _rounding(self) -> float:
        # many additions lie behind a score in double precision; those in single precision are often
        # added up in double
        return self.precision * (_ROUNDING if self.precision < 1e-10 else 4)  # noqa: PLR2004 - which of the two

    def differs(self, first: FloatArray, second: FloatArray, part: float = CHANGED) -> BoolArray:
        """Whether scores differ by more than a part of the spread, and more than rounding; NaN equals NaN."""
        with np.errstate(invalid="ignore", over="ignore"):
            local = np.fmax(np.abs(first), np.abs(second))
            tolerance = np.fmax(part * self.spread, self._rounding * np.where(np.isfinite(local), local, 0.0))
            within = np.abs(first - second) <= tolerance
        return np.asarray(~(within | (first == second) | (np.isnan(first) & np.isnan(second))))


def findings(
    predict: Predict,
    space: Space,
    rows: FloatArray,
    pool: FloatArray,
    seed: int,
    of_pool: FloatArray | None = None,
) -> list[Finding]:
    """Look at a model's answers, over the explained rows and the background.

    Differences are held against the spread of the score over both, never against its size: a
    score of 1e-11 or one around 1e8 is looked at like any other. Rows of extreme scores are
    sought out, as a rule that few rows meet shows there alone.

    Args:
        predict: the model, (rows, features) -> (rows,).
        space: the columns.
        rows: explained rows, shape (rows, features).
        pool: background rows, shape (background rows, features).
        seed: fixes the draws.
        of_pool: scores of the background, where they are known.
    """
    rows = rows[:MOST_ROWS]
    own = robust(predict, rows)
    theirs = robust(predict, pool) if of_pool is None else of_pool
    both, scores = np.concatenate([rows, pool]), np.concatenate([own, theirs])
    scale, order = _Scale.of(scores), _order(own, theirs, generator(seed, "sanity"))
    again, alone = (_some(order, len(rows), n) for n in (N_AGAIN, N_ALONE))
    found = [
        _finite(own),
        # twice in the same company, as a score may depend on it
        _deterministic(robust(predict, both[again]), robust(predict, both[again]), scale),
        _alone(predict, both[alone], scores[alone], scale),
        _varies(scores, scale),
    ]
    if not (found[1].passed and found[2].passed):
        return [*found, _untold(len(again) if not found[1].passed else len(alone))]
    return [*found, _columns(predict, space, both[order[:_N_STARTS]], pool, scale, seed)]


def _order(own: FloatArray, theirs: FloatArray, rng: np.random.Generator) -> IntArray:
    """Positions of all rows, those first that show most; the first `_N_STARTS` may hold a row twice.

    By turns: rows of scores spaced evenly over their range, so that a rare score counts as much
    as a frequent one; the highest and lowest; explained rows; and any.
    """
    scores = np.concatenate([own, theirs])
    mixed = rng.permutation(len(scores))
    ranked = mixed[np.isfinite(scores[mixed])]  # equal scores in random order
    if not len(ranked):
        return mixed
    ranked = ranked[np.argsort(scores[ranked], kind="stable")]
    known, n = scores[ranked], _N_STARTS // 4
    with np.errstate(over="ignore"):
        levels = known[0] + np.linspace(0, 1, n) * np.nan_to_num(known[-1] - known[0])
    middles = known[:-1] / 2 + known[1:] / 2
    nearest = known[np.searchsorted(middles, levels)]
    low, high = np.searchsorted(known, nearest), np.searchsorted(known, nearest, "right")
    extreme = np.column_stack([ranked[::-1], ranked]).ravel()
    sorts = (ranked[rng.integers(low, high)], extreme, rng.permutation(len(own)), mixed)
    return np.concatenate([np.column_stack([np.resize(part, n) for part in sorts]).ravel(), mixed])


def _some(order: IntArray, explained: int, n: int) -> IntArray:
    """The first n of either table."""
    order = order[np.sort(np.unique(order, return_index=True)[1])]
    return np.concatenate([order[order < explained][:n], order[order >= explained][:n]])


def _on(rows: int) -> str:
    return f"on {rows:,} row{'' if rows == 1 else 's'}"


def _finite(scores: FloatArray) -> Finding:
    bad = int((~np.isfinite(scores)).sum())
    return Finding(
        "one finite number a row",
        bad == 0,
        f"{len(scores) - bad:,} of {len(scores):,} rows",
        "" if bad == 0 else "rows without a score cannot be explained; they are counted, and not judged",
        len(scores),
    )


def _compared(check: str, first: FloatArray, second: FloatArray, scale: _Scale, meaning: str) -> Finding:
    different = scale.differs(first, second, SAME)
    if not different.any():
        return Finding(check, passed=True, found=f"equal {_on(len(first))}", rows=len(first))
    with np.errstate(invalid="ignore"):
        gaps = np.abs(first - second)[different]
    gaps = gaps[np.isfinite(gaps)]
    most = f"by up to {gaps.max():.3g}" if len(gaps) else "in whether there is a score"
    if len(gaps) and scale.spread > 0:
        most += f", {gaps.max() / scale.spread:.2g} times the spread of the score"
    found = f"differs {most}, {_on(int(different.sum()))} of {len(first):,}"
    return Finding(check, passed=False, found=found, meaning=meaning, rows=len(first))


def _deterministic(first: FloatArray, second: FloatArray, scale: _Scale) -> Finding:
    return _compared(
        "the same answer twice",
        first,
        second,
        scale,
        "the model itself is random: explanations of one row will differ, whoever explains",
    )


def _alone(predict: Predict, rows: FloatArray, scores: FloatArray, scale: _Scale) -> Finding:
    return _compared(
        "a row alone scores as in a batch",
        np.concatenate([robust(predict, rows[k : k + 1]) for k in range(len(rows))]),
        scores,
        scale,
        "scores depend on the other rows of a call, and explainers ask with rows of their own: what they"
        " explain is not what the model says of the row alone",
    )


def _varies(scores: FloatArray, scale: _Scale) -> Finding:
    known = scores[np.isfinite(scores)]
    constant = len(known) < 2 or bool(np.ptp(known) <= scale.rounding)  # noqa: PLR2004 - to differ takes two
    return Finding(
        "the score varies",
        not constant,
        f"constant {_on(len(known))}"
        if constant
        else f"from {known.min():.3g} to {known.max():.3g} {_on(len(known))}",
        "a constant needs no explanation: any weight on a column is wrong" if constant else "",
        len(known),
    )


_MATTER = "the columns matter"


def _untold(rows: int) -> Finding:
    return Finding(
        _MATTER,
        passed=True,
        found="not looked at: one row has several scores, so no change of it is a column's",
        rows=rows,
    )


def _columns(
    predict: Predict, space: Space, starts: FloatArray, pool: FloatArray, scale: _Scale, seed: int
) -> Finding:
    use = column_use(predict, starts, pool, scale.differs, seed)
    unused = tuple(name for name, used in zip(space.names, use.used.tolist(), strict=True) if not used)
    if not use.used.any():
        return Finding(
            _MATTER,
            passed=False,
            found=f"none of them does, replaced in random groups {_on(use.rows)}",
            meaning="there is nothing to attribute to them",
            rows=use.rows,
            columns=unused,
        )
    shown = ", ".join(unused[:_MOST_NAMES]) + (" ..." if len(unused) > _MOST_NAMES else "")
    of = f"{len(unused):,} of {len(space.columns):,}"
    return Finding(
        _MATTER,
        passed=True,
        found=f"{of} seem unused, replaced in random groups {_on(use.rows)}: {shown}"
        if unused
        else f"all of them, seen {_on(use.rows)}",
        rows=use.rows,
        columns=unused,
    )


def orientation(
    predict: Predict, space: Space, pool: FloatArray, scores: FloatArray, seed: int
) -> tuple[int, Finding]:
    """Which way the score points: rows with all numbers far out of range must be the more anomalous.

    Returns:
        1 or -1, what to multiply the score by, and what was found.

    Raises:
        InputError: planted outliers score like ordinary rows, so that neither way is right.
    """
    numbers = space.positions("numeric", "ordinal")
    rng = generator(seed, "orientation")
    rows = pool[rng.integers(len(pool), size=_N_PLANTED)].copy()
    if not numbers:
        return 1, Finding(
            "larger is more anomalous",
            passed=False,
            found="not tested: no numeric column",
            meaning="the score is taken as it is",
            rows=0,
        )
    columns = list(numbers)
    side = rng.choice([-1.0, 1.0], size=(_N_PLANTED, len(columns)))
    edge = np.where(side > 0, np.nanmax(pool, axis=0)[columns], np.nanmin(pool, axis=0)[columns])
    rows[:, columns] = edge + side * _FAR * np.where(space.spreads > 0, space.spreads, 1.0)[columns]
    planted = robust(predict, rows)
    planted = planted[np.isfinite(planted)]
    if not len(planted):
        raise InputError("the model gives no finite score for planted outliers, so its direction is unknown")
    above = (planted[:, None] > scores).mean() + 0.5 * (planted[:, None] == scores).mean()
    if max(above, 1 - above) < _CLEAR:
        raise InputError(
            f"planted outliers score like ordinary rows (they rank above {above:.0%} of them): this is no "
            "anomaly score, or one that explains nothing far out of range"
        )
    sign = 1 if above > 0.5 else -1  # noqa: PLR2004 - half of the pairs
    side_word = "above" if sign > 0 else "below"
    said = f"{len(planted)} planted outliers score {side_word} {max(above, 1 - above):.0%} of ordinary rows"
    return sign, Finding(
        "larger is more anomalous",
        passed=True,
        found=said if sign > 0 else f"{said}: the sign is turned, so that larger is more anomalous",
        rows=len(planted),
    )
