"""One correction over several families of tests, each of which is corrected in itself.

References:
    Holm, Scandinavian Journal of Statistics 6 (1979); Goeman & Solari, "The sequential rejection
    principle of familywise error control", Annals of Statistics 38 (2010).
"""

from collections.abc import Sequence

import numpy as np

from xassay.types import FloatArray


def holm_families(families: Sequence[FloatArray]) -> list[FloatArray]:
    r"""p-values corrected for the number of families that they come from.

    Nemenyi's p-values are corrected for all pairs of their family, by one bound on all of
    them: the chance that any true hypothesis of the family has p <= a is at most a. Of F
    families the chance of one error anywhere is then at most F a. This is stepped down as Holm's is:

    1. reject every hypothesis with p <= alpha / F', where F' is the number of families that have any
       hypothesis left that is not rejected (at first all F);
    2. repeat until nothing more is rejected.

    At the step of a first error every family with a true hypothesis is still among the F', so
    the chance of an error is at most alpha (Goeman & Solari's condition). A family counts until **all** of
    it is rejected: to let it go with its smallest p-value, as in Holm's correction of one p-value a
    family, does not hold the level, as a family with a real difference may have a false one too.

    With hypotheses alone in their families this is Holm's correction; with one family nothing
    changes. Correcting all pairs by Holm once more would hold too, but pays twice for the pairs.

    Args:
        families: the p-values of each family, shape (tests,), corrected within the family so that they
            hold for it as a whole (Nemenyi's, or a family's single test). NaN: no test.

    Returns:
        The corrected p-values, of the same shapes; NaN stays so. Families without a p-value do not
        count.

    Example:
        >>> import numpy as np
        >>> found = holm_families([np.array([0.01, 0.02]), np.array([0.03, 0.5])])
        >>> [family.tolist() for family in found]
        [[0.02, 0.04], [0.04, 0.5]]
    """
    given = [np.asarray(family, dtype=np.float64) for family in families]
    counted = [k for k, family in enumerate(given) if not np.isnan(family).all()]
    # families in the order in which all of each is rejected as alpha grows
    counted.sort(key=lambda k: float(np.nanmax(given[k])))
    corrected = [np.full(family.shape, np.nan) for family in given]
    reached = np.zeros(len(counted))  # the alpha at which the first so many families are rejected
    for place, k in enumerate(counted):
        left = len(counted) - np.arange(place + 1)
        steps = np.maximum(reached[: place + 1, None], left[:, None] * given[k][None, :])
        corrected[k] = np.minimum(1.0, steps.min(axis=0))
        if place + 1 < len(counted):
            reached[place + 1] = float(np.nanmax(corrected[k]))
    return corrected
