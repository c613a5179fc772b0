"""Explanations that are wrong on purpose, made from right ones: no measure may be taken in by them.

`straw_men` makes all of them from a table of explanations; `xassay.testing.straw_explainers` from an
explainer.
"""

import numpy as np
import numpy.typing as npt

from xassay.errors import InputError, UnknownNameError
from xassay.seeds import generator
from xassay.testing.spoiling import STRAW_MEN, Around, StrawMan
from xassay.types import FloatArray


def straw_men(
    values: npt.ArrayLike,
    *,
    seed: int = 0,
    other: npt.ArrayLike | None = None,
    zero_baseline: npt.ArrayLike | None = None,
) -> dict[str, FloatArray]:
    """All straw men made from a table of explanations.

    Args:
        values: right explanations, shape (rows, features), at least two of each.
        seed: seed of the random ones.
        other: right explanations of the same rows for another class or output.
        zero_baseline: right explanations of the same rows against a background of one all-zero row.

    Returns:
        Wrong explanations by name, of the shape of ``values``; `STRAW_MEN` says what is wrong with
        each. Those that need ``other`` or ``zero_baseline`` are left out without it.

    Raises:
        InputError: shapes that do not fit, fewer than two rows or columns, or values that are not finite.

    Example:
        >>> made = straw_men([[3.0, 1.0, 0.0], [0.0, 1.0, -2.0]])
        >>> made["negated"].tolist()
        [[-3.0, -1.0, 0.0], [0.0, -1.0, 2.0]]
        >>> STRAW_MEN["negated"].names_columns
        False
    """
    table = _checked(values, None, "values")
    others = None if other is None else _checked(other, table, "other")
    zeros = None if zero_baseline is None else _checked(zero_baseline, table, "zero_baseline")
    made: dict[str, FloatArray] = {}
    for straw in STRAW_MEN.values():
        if (straw.needs == "other" and others is None) or (straw.needs == "zero" and zeros is None):
            continue
        rows = []
        for i, row in enumerate(table):
            around = Around(
                table,
                table[(i + 1) % len(table)],
                generator(seed, "straw man", straw.name, i),
                generator(seed, "straw man", straw.name),
                None if others is None else others[i],
                None if zeros is None else zeros[i],
            )
            rows.append(straw.make(row.copy(), around))
        made[straw.name] = np.array(rows, dtype=np.float64)
    return made


def straw_man(name: str) -> StrawMan:
    """One straw man by name.

    Raises:
        UnknownNameError: there is none of this name.
    """
    if name not in STRAW_MEN:
        raise UnknownNameError("straw man", name, STRAW_MEN)
    return STRAW_MEN[name]


def same(straw: npt.ArrayLike, exact: npt.ArrayLike) -> bool:
    """Whether a straw man is none: its values are the right ones in nine rows of ten.

    A row counts as right where the largest difference is below 5% of the row's largest value. Rows
    whose right values are all zero count as right where the straw man's are zero too.

    Args:
        straw: shape (rows, features).
        exact: the right values, same shape.

    Raises:
        InputError: no numbers, or shapes that differ.

    Example:
        >>> same([[1.0, 0.04]], [[1.0, 0.0]]), same([[1.0, 0.5]], [[1.0, 0.0]])
        (True, False)
    """
    made, right = _pair(straw, exact)
    most = np.abs(right).max(axis=1)
    apart = np.abs(made - right).max(axis=1)
    return bool(((apart < 0.05 * most) | ((apart == 0) & (most == 0))).mean() >= 0.9)  # noqa: PLR2004


def distance(straw: npt.ArrayLike, exact: npt.ArrayLike) -> float:
    """How far a straw man is from the right values: root of sum (straw - exact)^2 / sum exact^2.

    Args:
        straw: shape (rows, features).
        exact: the right values, same shape.

    Returns:
        0 for the right values, 1 for all zeros; NaN where all right values are zero.

    Raises:
        InputError: no numbers, or shapes that differ.

    Example:
        >>> distance([[0.0, 0.0]], [[1.0, 2.0]])
        1.0
    """
    made, right = _pair(straw, exact)
    size = float((right**2).sum())
    return float(np.sqrt(((made - right) ** 2).sum() / size)) if size else float("nan")


def _pair(straw: npt.ArrayLike, exact: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Both as tables of one shape."""
    made, right = _numbers(straw, "straw"), _numbers(exact, "exact")
    if made.ndim != 2 or made.shape != right.shape:  # noqa: PLR2004 - a table
        raise InputError(f"straw has shape {made.shape}, exact {right.shape}; give two tables of one shape")
    return made, right


def _numbers(values: npt.ArrayLike, what: str) -> FloatArray:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{what} must hold numbers alone, as many in each row") from None


def _checked(values: npt.ArrayLike, like: FloatArray | None, what: str) -> FloatArray:
    table = _numbers(values, what)
    if table.ndim != 2 or min(table.shape) < 2:  # noqa: PLR2004 - a table of some rows and columns
        raise InputError(f"{what} must hold at least two rows and two columns, not shape {table.shape}")
    if like is not None and table.shape != like.shape:
        raise InputError(
            f"{what} has shape {table.shape}, the values {like.shape}; give one a row and column"
        )
    if not np.isfinite(table).all():
        raise InputError(f"{what} must be finite")
    return table
