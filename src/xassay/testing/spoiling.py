"""The straw men: each takes a row's right values and returns wrong ones.

Each keeps what some weak measure looks at: the total, the order, the size, the columns that matter
on the whole, or steadiness. The text of each says what is wrong.
"""

from collections.abc import Callable

import attrs
import numpy as np

from xassay.types import FloatArray, IntArray

_NONE = 1e-9
"""Of the row's largest value: what counts as zero."""


@attrs.frozen(eq=False)
class Around:
    """What a straw man may know beside the row's own values.

    Attributes:
        table: right explanations of other rows, shape (rows, features).
        neighbour: the right explanation of one other row, shape (features,).
        rng: the row's draws.
        fixed: draws that are alike for all rows.
        other: the row's right explanation for another class or output, or None.
        zero: the row's right explanation against a background of one all-zero row, or None.
    """

    table: FloatArray
    neighbour: FloatArray
    rng: np.random.Generator
    fixed: np.random.Generator
    other: FloatArray | None = None
    zero: FloatArray | None = None


Make = Callable[[FloatArray, Around], FloatArray]


@attrs.frozen
class StrawMan:
    """A way to spoil a right explanation.

    Attributes:
        name: a word for tables.
        wrong: what it gets wrong, and what it keeps.
        names_columns: whether its values still point at columns that matter, at this row or on the
            whole; where they do not, no measure may call it right in part.
        make: (a row's right values, what is around) -> wrong values, both of shape (features,).
        needs: ``other`` or ``zero``, where it is made from more than the explanation alone.
    """

    name: str
    wrong: str
    names_columns: bool
    make: Make
    needs: str = ""


STRAW_MEN: dict[str, StrawMan] = {}
"""All straw men by name."""


def _straw(wrong: str, *, names_columns: bool, needs: str = "") -> Callable[[Make], Make]:
    def kept(make: Make) -> Make:
        name = make.__name__.strip("_")
        STRAW_MEN[name] = StrawMan(name, wrong, names_columns, make, needs)
        return make

    return kept


def _falling(values: FloatArray) -> IntArray:
    """Columns by |value|, the largest first."""
    return np.argsort(-np.abs(values), kind="stable")


def _global(around: Around) -> FloatArray:
    return np.asarray(np.abs(around.table).mean(axis=0))


def _to_total(values: FloatArray, total: float) -> FloatArray:
    """The values times one number so that they sum to the total; moved evenly where they sum to nothing."""
    now = float(values.sum())
    if abs(now) > _NONE * np.abs(values).sum():
        return np.asarray(values * (total / now))
    return np.asarray(values + (total - now) / len(values))


def _displaced(values: FloatArray, columns: IntArray) -> FloatArray:
    """The values of some columns moved among them, as far down or up the ranks as can be."""
    moved = values.copy()
    by_rank = columns[_falling(values[columns])]
    moved[by_rank] = values[np.roll(by_rank, (len(by_rank) + 1) // 2)]
    return moved


@_straw("One number for all columns; the total is right.", names_columns=False)
def _even(v: FloatArray, _: Around) -> FloatArray:
    return np.full_like(v, v.mean())


@_straw("The least important column gets the most important one's value, and so on.", names_columns=False)
def _reversed(v: FloatArray, _: Around) -> FloatArray:
    order, made = _falling(v), v.copy()
    made[order] = v[order[::-1]]
    return made


@_straw("Sizes shuffled within the row; every column keeps its own sign.", names_columns=False)
def _sizes_shuffled(v: FloatArray, a: Around) -> FloatArray:
    return np.asarray(np.where(v < 0, -1.0, 1.0) * np.abs(a.rng.permutation(v)))


@_straw("Values shuffled within the row; the total is right.", names_columns=False)
def _shuffled(v: FloatArray, a: Around) -> FloatArray:
    return np.asarray(a.rng.permutation(v))


@_straw("Values shuffled in the same way in all rows: steady, and the total is right.", names_columns=False)
def _shuffled_alike(v: FloatArray, a: Around) -> FloatArray:
    return np.asarray(v[a.fixed.permutation(len(v))])


@_straw("All signs turned: the right columns, pushing the wrong way.", names_columns=False)
def _negated(v: FloatArray, _: Around) -> FloatArray:
    return np.asarray(0.0 - v)


@_straw("All signs lost; sizes and order are right.", names_columns=True)
def _absolute(v: FloatArray, _: Around) -> FloatArray:
    return np.asarray(np.abs(v))


@_straw("The right values of another row.", names_columns=True)
def _neighbour(_v: FloatArray, a: Around) -> FloatArray:
    return a.neighbour.copy()


@_straw("The right values of the row, among others, with the nearest total.", names_columns=True)
def _twin(v: FloatArray, a: Around) -> FloatArray:
    others = a.table[np.abs(a.table - v).max(axis=1) > _NONE * np.abs(a.table).max()]
    return others[int(np.argmin(np.abs(others.sum(axis=1) - v.sum())))].copy() if len(others) else v


@_straw("The right values of another class or output.", names_columns=True, needs="other")
def _other_output(_v: FloatArray, a: Around) -> FloatArray:
    assert a.other is not None  # noqa: S101 - made only where there is one
    return a.other.copy()


@_straw("Every value stands one column too far right; the total is right.", names_columns=False)
def _shifted(v: FloatArray, _: Around) -> FloatArray:
    return np.roll(v, 1)


@_straw(
    "Values of the columns that matter on the whole given to those that matter least.", names_columns=False
)
def _exchanged(v: FloatArray, a: Around) -> FloatArray:
    order, made = np.argsort(-_global(a), kind="stable"), v.copy()
    made[order[::-1]] = v[order]
    return made


@_straw("A fifth of the right values: all proportions are right.", names_columns=True)
def _scaled_down(v: FloatArray, _: Around) -> FloatArray:
    return np.asarray(0.2 * v)


@_straw("The right values times 1.4: all proportions are right.", names_columns=True)
def _scaled_up(v: FloatArray, _: Around) -> FloatArray:
    return np.asarray(1.4 * v)


@_straw("In per cent of the row's sum of |values|: the unit is lost.", names_columns=True)
def _per_cent(v: FloatArray, _: Around) -> FloatArray:
    return np.asarray(100 * v / (np.abs(v).sum() or 1.0))


@_straw(
    "Right against a background of one all-zero row, and so for another question.",
    names_columns=True,
    needs="zero",
)
def _zero_baseline(_v: FloatArray, a: Around) -> FloatArray:
    assert a.zero is not None  # noqa: S101 - made only where there is one
    return a.zero.copy()


@_straw("The mean explanation, for every row.", names_columns=True)
def _mean_row(_v: FloatArray, a: Around) -> FloatArray:
    return np.asarray(a.table.mean(axis=0))


@_straw("The explanation of the row with the median total, for every row.", names_columns=True)
def _median_row(_v: FloatArray, a: Around) -> FloatArray:
    totals = a.table.sum(axis=1)
    return np.asarray(a.table[np.argsort(totals, kind="stable")[len(totals) // 2]].copy())


@_straw("Global importance, the mean |value| of each column, for every row.", names_columns=True)
def _global_importance(_v: FloatArray, a: Around) -> FloatArray:
    return _global(a)


@_straw("Global importance, scaled to the row's right total.", names_columns=True)
def _global_with_total(v: FloatArray, a: Around) -> FloatArray:
    return _to_total(_global(a), float(v.sum()))


@_straw("Noise of the row's size, moved to the right total.", names_columns=False)
def _noise_with_total(v: FloatArray, a: Around) -> FloatArray:
    noise = a.rng.standard_normal(len(v)) * np.sqrt((v**2).mean())
    return np.asarray(noise + (v.sum() - noise.sum()) / len(v))


@_straw("The same noise for all rows: as steady as can be.", names_columns=False)
def _frozen_noise(v: FloatArray, a: Around) -> FloatArray:
    return np.asarray(a.fixed.standard_normal(len(v)) * np.sqrt((a.table**2).mean()))


@_straw("The top column is right, the others' values are exchanged; the total is right.", names_columns=True)
def _top_only(v: FloatArray, _: Around) -> FloatArray:
    return _displaced(v, _falling(v)[1:])


@_straw("The upper half of the columns is right, the lower half's values are exchanged.", names_columns=True)
def _top_half(v: FloatArray, _: Around) -> FloatArray:
    used = int((np.abs(v) > _NONE * np.abs(v).max()).sum())
    return _displaced(v, _falling(v)[max(1, used // 2) :])


@_straw("The two top columns' values are exchanged.", names_columns=True)
def _top_two_exchanged(v: FloatArray, _: Around) -> FloatArray:
    first, second = _falling(v)[:2]
    made = v.copy()
    made[[first, second]] = v[[second, first]]
    return made


@_straw("The row's largest |value| added to every column: differences are right.", names_columns=True)
def _constant_added(v: FloatArray, _: Around) -> FloatArray:
    return np.asarray(v + np.abs(v).max())


@_straw("The whole total on the row's least important column.", names_columns=False)
def _one_wrong_column(v: FloatArray, _: Around) -> FloatArray:
    made = np.zeros_like(v)
    made[_falling(v)[-1]] = v.sum()
    return made


@_straw("The whole total on the row's most important column.", names_columns=True)
def _one_right_column(v: FloatArray, _: Around) -> FloatArray:
    made = np.zeros_like(v)
    made[_falling(v)[0]] = v.sum()
    return made


@_straw("The total split evenly over the columns that the model uses at all.", names_columns=True)
def _even_over_used(v: FloatArray, a: Around) -> FloatArray:
    sizes = _global(a)
    used = sizes > _NONE * sizes.max()
    return np.asarray(np.where(used, v.sum() / max(1, int(used.sum())), 0.0))


@_straw("Noise as large as the right values added to them.", names_columns=True)
def _noisy(v: FloatArray, a: Around) -> FloatArray:
    noise = a.rng.standard_normal(len(v))
    return np.asarray(v + noise * np.linalg.norm(v) / np.linalg.norm(noise))


@_straw("Signs alone, each times the row's mean |value|: no column stands out.", names_columns=True)
def _signs_only(v: FloatArray, _: Around) -> FloatArray:
    sizes = np.abs(v)
    return np.asarray(np.where(sizes > _NONE * sizes.max(), np.sign(v), 0.0) * sizes.mean())


@_straw("Half of it the even split: total and order are right, no value is.", names_columns=True)
def _blended(v: FloatArray, _: Around) -> FloatArray:
    return np.asarray((v + v.mean()) / 2)


@_straw(
    "Each value times its size, scaled to the right sum of |values|: order and signs are right.",
    names_columns=True,
)
def _exaggerated(v: FloatArray, _: Around) -> FloatArray:
    made = v * np.abs(v)
    return np.asarray(made * np.abs(v).sum() / (np.abs(made).sum() or 1.0))


@_straw("Right on half of the rows by chance, reversed on the others.", names_columns=True)
def _half_of_rows(v: FloatArray, a: Around) -> FloatArray:
    return v if a.rng.random() < 0.5 else _reversed(v, a)  # noqa: PLR2004 - a coin


@_straw("Right on the quarter of rows with the largest |total|, reversed on the others.", names_columns=False)
def _big_rows_only(v: FloatArray, a: Around) -> FloatArray:
    totals = np.abs(a.table.sum(axis=1))
    return v if abs(v.sum()) >= np.quantile(totals, 0.75) else _reversed(v, a)
