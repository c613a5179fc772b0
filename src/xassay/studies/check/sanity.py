"""Is there something to explain? Looked at before anything is, as no explanation mends a model."""

from typing import Any

import attrs
import numpy as np

from xassay.errors import InputError
from xassay.seeds import generator
from xassay.studies.check.asking import robust
from xassay.tabular.space import Space
from xassay.types import FloatArray, Predict

N_ROWS = 50
N_ALONE = 5
_N_PLANTED = 20
_FAR = 6.0
_CLEAR = 0.6
_EQUAL: dict[str, Any] = {"rtol": 1e-5, "atol": 1e-9, "equal_nan": True}
_MOST_NAMES = 5


@attrs.frozen
class Finding:
    """What a sanity check found.

    Attributes:
        check: what was looked at.
        passed: whether all is well.
        found: what was seen.
        meaning: what it means for explanations, where it did not pass.
    """

    check: str
    passed: bool
    found: str
    meaning: str = ""


def findings(
    predict: Predict, space: Space, rows: FloatArray, background: FloatArray, seed: int
) -> list[Finding]:
    """Look at a model's answers on some rows."""
    few = rows[:N_ROWS]
    scores = robust(predict, few)
    return [
        _finite(scores),
        _deterministic(scores, robust(predict, few)),
        _alone(predict, few, scores),
        _varies(robust(predict, background)),
        *_columns(predict, space, few, background, scores, seed),
    ]


def _finite(scores: FloatArray) -> Finding:
    bad = int((~np.isfinite(scores)).sum())
    return Finding(
        "one finite number a row",
        bad == 0,
        f"{len(scores) - bad} of {len(scores)} rows",
        "" if bad == 0 else "rows without a score cannot be explained; they are counted as failed",
    )


def _deterministic(first: FloatArray, second: FloatArray) -> Finding:
    same = bool(np.allclose(first, second, **_EQUAL))
    return Finding(
        "the same answer twice",
        same,
        "equal" if same else f"differs by up to {np.nanmax(np.abs(first - second)):.3g}",
        "" if same else "the model itself is random: explanations of one row will differ, whoever explains",
    )


def _alone(predict: Predict, rows: FloatArray, scores: FloatArray) -> Finding:
    alone = np.concatenate([robust(predict, rows[k : k + 1]) for k in range(min(N_ALONE, len(rows)))])
    same = bool(np.allclose(alone, scores[: len(alone)], **_EQUAL))
    return Finding(
        "a row alone scores as in a batch",
        same,
        "equal" if same else f"differs by up to {np.nanmax(np.abs(alone - scores[: len(alone)])):.3g}",
        ""
        if same
        else "scores depend on the other rows of a call, and explainers ask with rows of their own: what they"
        " explain is not what the model says of the row alone",
    )


def _varies(scores: FloatArray) -> Finding:
    known = scores[np.isfinite(scores)]
    constant = len(known) < 2 or bool(np.allclose(known, known[0], rtol=1e-12, atol=0))  # noqa: PLR2004
    return Finding(
        "the score varies",
        not constant,
        "constant" if constant else f"from {known.min():.3g} to {known.max():.3g}",
        "a constant needs no explanation: any weight on a column is wrong" if constant else "",
    )


def _columns(
    predict: Predict,
    space: Space,
    rows: FloatArray,
    background: FloatArray,
    scores: FloatArray,
    seed: int,
) -> list[Finding]:
    donors = generator(seed, "columns").integers(len(background), size=(4, len(rows)))
    unused = []
    for j, column in enumerate(space.columns):
        changed = False
        for donor in donors:
            mixed = rows.copy()
            mixed[:, j] = background[donor, j]
            if changed := not np.allclose(robust(predict, mixed), scores, **_EQUAL):
                break
        if not changed:
            unused.append(column.name)
    shown = ", ".join(unused[:_MOST_NAMES]) + (" ..." if len(unused) > _MOST_NAMES else "")
    if len(unused) == len(space.columns):
        return [
            Finding(
                "the columns matter",
                passed=False,
                found="none of them does",
                meaning="there is nothing to attribute to them",
            )
        ]
    return [
        Finding(
            "the columns matter",
            passed=True,
            found=f"{len(unused)} of {len(space.columns)} seem unused: {shown}" if unused else "all of them",
        )
    ]


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
    said = f"planted outliers score {side_word} {max(above, 1 - above):.0%} of ordinary rows"
    return sign, Finding(
        "larger is more anomalous",
        passed=True,
        found=said if sign > 0 else f"{said}: the sign is turned, so that larger is more anomalous",
    )
