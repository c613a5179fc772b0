"""Two methods on the same rows: Wilcoxon's signed-rank test of each pair, corrected for their number.

References:
    Wilcoxon, Biometrics Bulletin 1 (1945); Holm, Scandinavian Journal of Statistics 6 (1979).
"""

from collections.abc import Hashable, Mapping
from typing import TypeVar

import attrs
import numpy as np
from scipy import stats

from xassay.errors import InputError
from xassay.statistics.holm import holm
from xassay.types import FloatArray

Name = TypeVar("Name", bound=Hashable)


@attrs.frozen
class PairedResult:
    """A signed-rank test.

    Attributes:
        statistic: rank sum of the positive differences minus that of the negative: above 0 where
            the first method's scores are larger.
        p_value: two-sided, of this pair alone.
        p_holm: corrected for the number of pairs.
        n: rows that both have.
    """

    statistic: float
    p_value: float
    p_holm: float
    n: int


def paired_holm(pairs: Mapping[Name, tuple[FloatArray, FloatArray]]) -> dict[Name, PairedResult]:
    """Wilcoxon's signed-rank test of each pair, with Holm's correction over them.

    Args:
        pairs: name -> the two methods' scores of the same rows, each shape (rows,); rows where
            either is not finite are left out.

    Returns:
        One result a pair; NaN throughout where fewer than two rows are left, or none differs.

    Raises:
        InputError: scores of different lengths.

    Example:
        >>> import numpy as np
        >>> a = np.arange(20.0)
        >>> result = paired_holm({"a and b": (a, a + 1)})["a and b"]
        >>> result.statistic < 0, result.p_holm < 0.001
        (True, True)
    """
    found = {name: _wilcoxon(name, *pair) for name, pair in pairs.items()}
    corrected = holm(np.array([p_value for _, p_value, _ in found.values()]))
    return {
        name: PairedResult(statistic, p_value, float(p_holm), n)
        for (name, (statistic, p_value, n)), p_holm in zip(found.items(), corrected, strict=True)
    }


def _wilcoxon(name: Hashable, first: FloatArray, second: FloatArray) -> tuple[float, float, int]:
    if len(first) != len(second):
        raise InputError(f"{name}: {len(first)} scores beside {len(second)}; they must be of the same rows")
    kept = np.isfinite(first) & np.isfinite(second)
    with np.errstate(over="ignore"):
        apart = first[kept] - second[kept]
    if len(apart) < 2 or not apart.any():  # noqa: PLR2004 - what a test needs
        return float("nan"), float("nan"), len(apart)
    nonzero = apart[apart != 0]
    ranks = stats.rankdata(np.abs(nonzero))
    signed = float((np.sign(nonzero) * ranks).sum())
    return signed, float(stats.wilcoxon(apart).pvalue), len(apart)
