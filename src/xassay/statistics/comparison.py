"""Is the difference real? Friedman's test over blocks, and who differs from whom.

References:
    Friedman, JASA 32 (1937); Iman & Davenport, Communications in Statistics 9 (1980);
    Nemenyi (1963); Demsar, JMLR 7 (2006), for their use on several methods and data sets.
"""

from collections.abc import Sequence

import attrs
import numpy as np
from scipy import stats

from xassay.errors import InputError
from xassay.types import FloatArray

_ROUNDING = 1e-9


@attrs.frozen
class Comparison:
    """One statistical test.

    Attributes:
        test: ``friedman``, ``iman_davenport``, ``nemenyi`` or ``wilcoxon``.
        first: for a pairwise test, the first method, else None.
        second: for a pairwise test, the second method, else None.
        statistic: the statistic (chi-square, F, difference of mean ranks, or signed-rank W).
        df: degrees of freedom; the second is None but for F.
        p_value: the p-value; for Nemenyi it is already corrected for all pairs.
        n_blocks: number of complete blocks.
    """

    test: str
    first: str | None
    second: str | None
    statistic: float
    df: tuple[float | None, float | None]
    p_value: float
    n_blocks: int


def compare(scores: FloatArray, methods: Sequence[str]) -> list[Comparison]:
    r"""Friedman's chi-square, the Iman-Davenport F, and Nemenyi's test of every pair.

    With n blocks and k methods, F = (n - 1) chi2 / (n (k - 1) - chi2), with k - 1 and
    (k - 1)(n - 1) degrees of freedom; it does not exist, and is left out, where all blocks
    rank alike. Two methods get Wilcoxon's signed-rank test instead. Blocks with a score that
    is not finite are left out.

    Args:
        scores: shape (blocks, methods).
        methods: the k names.

    Returns:
        The tests; empty where fewer than two complete blocks or two methods are left, or
        where every block ties all methods.

    Raises:
        InputError: the number of names is not the number of columns.

    Example:
        >>> import numpy as np
        >>> scores = np.array([[3.0, 2.0, 1.0], [3.0, 2.0, 1.0], [3.0, 1.0, 2.0]])
        >>> round(compare(scores, ["a", "b", "c"])[0].statistic, 3)
        4.667
    """
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] != len(methods):  # noqa: PLR2004 - a matrix
        raise InputError(f"scores of shape {table.shape} beside {len(methods)} methods")
    table = table[np.isfinite(table).all(axis=1)]
    n, k = table.shape
    if n < 2 or k < 2 or (table == table[:, :1]).all():  # noqa: PLR2004 - what a test needs
        return []
    if k == 2:  # noqa: PLR2004 - a pair
        paired = stats.wilcoxon(table[:, 0], table[:, 1])
        found = float(paired.statistic), (None, None), float(paired.pvalue)
        return [Comparison("wilcoxon", methods[0], methods[1], *found, n)]
    chi2, p_value = stats.friedmanchisquare(*table.T)
    results = [Comparison("friedman", None, None, float(chi2), (float(k - 1), None), float(p_value), n)]
    left = n * (k - 1) - chi2
    if left > _ROUNDING:
        f_value, f_df = (n - 1) * chi2 / left, (float(k - 1), float((k - 1) * (n - 1)))
        p_value = stats.f.sf(f_value, *f_df)
        results.append(Comparison("iman_davenport", None, None, float(f_value), f_df, float(p_value), n))
    return results + _nemenyi(table, methods)


def _nemenyi(table: FloatArray, methods: Sequence[str]) -> list[Comparison]:
    import scikit_posthocs

    n, k = table.shape
    p_values = np.asarray(scikit_posthocs.posthoc_nemenyi_friedman(table))
    mean_ranks = stats.rankdata(table, axis=1).mean(axis=0)
    return [
        Comparison(
            "nemenyi",
            methods[i],
            methods[j],
            float(mean_ranks[i] - mean_ranks[j]),
            (float(k), None),
            float(p_values[i, j]),
            n,
        )
        for i in range(k)
        for j in range(i + 1, k)
    ]
