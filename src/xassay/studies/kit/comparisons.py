"""Tests of pairs as cells of a table."""

import math
from collections.abc import Mapping
from typing import Any

import attrs

from xassay.metrics import describe
from xassay.views import SIGNIFICANT, Cell, p_cell, significant


def corrected(test: Mapping[str, Any]) -> float:
    """The corrected p-value, or if it was not corrected the plain one; NaN where there was no test."""
    found = test["p_value"] if test["p_holm"] is None else test["p_holm"]
    return math.nan if found is None else float(found)


def better(test: Mapping[str, Any]) -> str | None:
    """Who is better; nobody's name where that is unclear, None where there was no test."""
    p_value = corrected(test)
    if math.isnan(p_value):
        return None
    if p_value >= SIGNIFICANT:
        return ""
    is_first_larger = test["statistic"] > 0
    is_first_better = is_first_larger == describe(test["metric"]).higher_is_better
    return str(test["first"] if is_first_better else test["second"])


def p_cells(test: Mapping[str, Any]) -> tuple[Cell, Cell]:
    """A test's p-value and the corrected one; where there is a corrected one, it alone may be bold.

    Example:
        >>> [(cell.text, cell.strong) for cell in p_cells({"p_value": 0.01, "p_holm": 0.06})]
        [('0.01', False), ('0.06', False)]
    """
    alone, after = p_cell(test["p_value"]), p_cell(test["p_holm"])
    return (alone if test["p_holm"] is None else attrs.evolve(alone, strong=False)), after


def or_dash(number: float | None, digits: int = 3) -> str:
    """A number to so many digits, a dash where there is none.

    Example:
        >>> or_dash(1.2345), or_dash(float("nan")), or_dash(None)
        ('1.23', '-', '-')
    """
    return "-" if number is None or math.isnan(number) else significant(number, digits)
