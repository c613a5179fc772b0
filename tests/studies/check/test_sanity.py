"""Looks at a model: what holds for every scale, and what only some rows or groups of columns show."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from xassay.studies.check.column_use import MOST_CALLS, column_use
from xassay.studies.check.sanity import MOST_ROWS, Finding, findings, orientation
from xassay.tabular.space import Space
from xassay.types import FloatArray

X = np.random.default_rng(0).normal(size=(20000, 3))
FINITE, TWICE, ALONE = "one finite number a row", "the same answer twice", "a row alone scores as in a batch"
VARIES, MATTER = "the score varies", "the columns matter"

Model = Callable[[Any], Any]


def look(model: Model, data: FloatArray = X, n: int = 20, seed: int = 0) -> dict[str, Finding]:
    """Findings by check; the first n rows are explained, the next 2,000 are the background."""
    space, (rows,) = Space.of(data)

    def predict(asked: FloatArray) -> FloatArray:
        return np.asarray(model(space.decode(asked)), dtype=np.float64)

    return {one.check: one for one in findings(predict, space, rows[:n], rows[n : n + 2000], seed)}


def test_a_rare_rule_varies_and_its_column_matters() -> None:
    rule = lambda t: (t[:, 0] > 2.8).astype(float)  # noqa: E731
    assert not rule(X[:20]).any()
    found = look(rule)
    assert all(one.passed for one in found.values())
    assert found[VARIES].found == "from 0 to 1 on 2,020 rows"
    assert found[MATTER].columns == ("x1", "x2")
    n = found[MATTER].rows
    assert 100 < n <= 256
    assert found[MATTER].found == f"2 of 3 seem unused, replaced in random groups on {n} rows: x1, x2"


SCALES = [1e-300, 1e-11, 1.0, 1e11, 1e300]


@pytest.mark.parametrize("scale", SCALES)
def test_the_unit_of_the_score_does_not_matter(scale: float) -> None:
    found = look(lambda t: scale * (t @ [3.0, 2.0, 0.0]))
    assert all(one.passed for one in found.values())
    assert found[MATTER].columns == ("x2",)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_randomness_is_seen_at_any_scale_and_offset(scale: float, offset: float) -> None:
    rng = np.random.default_rng(3)
    found = look(lambda t: scale * (offset + t[:, 0] + 1e-3 * rng.normal(size=len(t))))
    assert not found[TWICE].passed
    assert found[TWICE].rows == 220
    assert "times the spread of the score" in found[TWICE].found
    assert "the model itself is random" in found[TWICE].meaning
    # nothing is said of columns where one row has several scores
    assert found[MATTER].passed
    assert found[MATTER].columns == ()
    assert found[MATTER].found.startswith("not looked at")


def test_an_offset_hides_no_column() -> None:
    assert look(lambda t: 1e8 + t[:, 0])[MATTER].columns == ("x1", "x2")


def test_a_huge_score_hides_neither_randomness_nor_a_column() -> None:
    heavy = look(lambda t: np.where(t[:, 0] > 2.8, 1e12, t[:, 1]))
    assert heavy[MATTER].columns == ("x2",)
    rng = np.random.default_rng(0)
    assert not look(lambda t: np.where(t[:, 0] > 2.8, 1e12, t[:, 1] + rng.normal(size=len(t))))[TWICE].passed


def test_the_difference_that_counts_is_a_hundred_thousandth_of_the_spread() -> None:
    for size, passed in ((1e-7, True), (1e-3, False)):
        turn = iter(np.tile([0.0, size], 50))
        found = look(lambda t, turn=turn: t[:, 0] + next(turn))
        assert found[TWICE].passed is passed


def test_a_model_in_single_precision_is_not_random() -> None:
    rng = np.random.default_rng(0)

    def single(t: Any) -> Any:
        # the last digit moves, as with another order of additions
        exact = (100 + t[:, 0]).astype(np.float32)
        return np.where(rng.random(len(t)) < 0.5, exact, np.nextafter(exact, np.float32(0)))

    found = look(single)
    assert found[TWICE].passed
    assert found[ALONE].passed
    assert found[MATTER].columns == ("x1", "x2")


def test_a_score_that_depends_on_its_company_is_seen_and_not_called_random() -> None:
    found = look(lambda t: 1e6 + t[:, 0] - t[:, 0].mean())
    assert found[TWICE].passed
    assert not found[ALONE].passed
    assert found[ALONE].rows == 8
    assert found[MATTER].found.startswith("not looked at")


def test_a_score_that_is_missing_now_and_then_differs() -> None:
    rng = np.random.default_rng(0)
    found = look(lambda t: np.where(rng.random(len(t)) < 0.3, np.nan, 1.0))
    assert not found[TWICE].passed
    assert "differs in whether there is a score" in found[TWICE].found


@pytest.mark.parametrize(
    "model",
    [
        pytest.param(lambda t: np.full(len(t), 0.3), id="one number"),
        pytest.param(lambda t: np.zeros(len(t)), id="zero"),
        pytest.param(lambda t: t[:, 0] / (t[:, 0] + 1e-30), id="rounding alone"),
    ],
)
def test_a_constant_is_called_so(model: Model) -> None:
    found = look(model)
    assert not found[VARIES].passed
    assert found[VARIES].found == "constant on 2,020 rows"
    assert not found[MATTER].passed
    assert found[MATTER].columns == ("x0", "x1", "x2")
    assert found[MATTER].found.startswith("none of them does, replaced in random groups on 1")


def test_rows_without_a_score_are_counted_among_the_explained() -> None:
    found = look(lambda t: np.where(t[:, 0] > 0, np.nan, t[:, 1]))
    bad = int((X[:20, 0] > 0).sum())
    assert found[FINITE].found == f"{20 - bad} of 20 rows"
    assert not found[FINITE].passed
    assert not any(find.columns and "x0" in find.columns for find in found.values())


def test_every_finding_says_the_rows_it_rests_on() -> None:
    found = look(lambda t: t[:, 0], n=5000)
    assert found[FINITE].rows == MOST_ROWS
    assert found[VARIES].rows == MOST_ROWS + 2000
    assert found[TWICE].rows == 400
    assert found[ALONE].rows == 8
    assert 100 < found[MATTER].rows <= 256
    for one in found.values():
        assert f"{one.rows:,} row" in one.found


# --- columns that matter together ---


def flags(n: int, p: int, share: float, seed: int = 0) -> FloatArray:
    return (np.random.default_rng(seed).random((n, p)) < share).astype(float)


COPIES = np.hstack([np.repeat(flags(3000, 1, 0.3), 8, axis=1), X[:3000]])
TWENTY = np.hstack([np.where(flags(3000, 1, 0.05), 1.0, flags(3000, 20, 0.5)), X[:3000]])
GROUPS: dict[str, tuple[Model, FloatArray, int]] = {
    "an OR of eight copies of a flag": (lambda t: t[:, :8].any(axis=1), COPIES, 8),
    "an OR of eight flags": (lambda t: t[:, :8].any(axis=1), np.hstack([flags(3000, 8, 0.5), X[:3000]]), 8),
    "the greatest of six copies": (lambda t: t[:, :6].max(axis=1), COPIES, 6),
    "an AND of twenty": (lambda t: t[:, :20].all(axis=1), TWENTY, 20),
    "a parity of six": (lambda t: t[:, :6].sum(axis=1) % 2, np.hstack([flags(3000, 6, 0.5), X[:3000]]), 6),
    "two of three": (lambda t: t[:, :3].sum(axis=1) > 1, COPIES, 3),
    "a flag of one row in 500": (lambda t: t[:, 0], np.hstack([flags(3000, 1, 0.002), X[:3000]]), 1),
}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("case", GROUPS)
def test_columns_that_matter_together_are_not_called_unused(case: str, seed: int) -> None:
    model, data, n = GROUPS[case]
    found = look(model, data, seed=seed)[MATTER]
    assert found.columns == tuple(f"x{j}" for j in range(n, data.shape[1]))


def test_replaced_alone_no_copy_of_a_flag_matters() -> None:
    """What makes the case above one: the score never changes when one column is replaced."""
    model, data, _ = GROUPS["an OR of eight copies of a flag"]
    rows = data[:300]
    for j in range(8):
        for donor in (0.0, 1.0):
            mixed = rows.copy()
            mixed[:, j] = donor
            changed = model(mixed) != model(rows)
            assert not changed[rows[:, 0] == 1].any()


@pytest.mark.parametrize("columns", [1000, 300])
@pytest.mark.parametrize("step", [1, 2, 1000])
def test_a_thousand_columns_take_few_calls(columns: int, step: int) -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(300, columns))
    weights = np.zeros(columns)
    weights[::step] = rng.uniform(0.5, 1, size=len(weights[::step]))
    calls: list[int] = []

    def predict(asked: FloatArray) -> FloatArray:
        calls.append(len(asked))
        return asked @ weights

    use = column_use(predict, rows, rows, lambda a, b: np.abs(a - b) > 1e-9, seed=0)
    np.testing.assert_array_equal(use.used, weights != 0)
    assert use.calls == len(calls) <= MOST_CALLS
    assert sum(calls) < 17_500 + 10 * columns


def test_a_thousand_columns_take_at_most_forty_calls_in_all() -> None:
    wide = np.random.default_rng(0).normal(size=(400, 1000))
    calls: list[int] = []

    def model(t: Any) -> Any:
        calls.append(len(t))
        return t[:, 777] ** 2

    found = look(model, wide)
    assert len(found[MATTER].columns) == 999
    assert "x777" not in found[MATTER].columns
    assert len(calls) <= 40


def test_the_seed_fixes_what_is_asked() -> None:
    asked: list[FloatArray] = []

    def predict(rows: FloatArray) -> FloatArray:
        asked.append(rows.copy())
        return rows[:, 0]

    uses = [column_use(predict, X[:50], X[:50], lambda a, b: a != b, seed=4) for _ in range(2)]
    half = len(asked) // 2
    assert half == uses[0].calls
    for one, other in zip(asked[:half], asked[half:], strict=True):
        np.testing.assert_array_equal(one, other)


def test_rows_that_the_model_refuses_do_not_stop_the_look() -> None:
    def picky(t: Any) -> Any:
        if (t[:, 0] > 1.5).any():
            raise ValueError("out of my depth")
        return t[:, 0] + t[:, 1]

    found = look(picky, X[:320])
    assert found[MATTER].columns == ("x2",)


def test_missing_values_and_categories_are_looked_at() -> None:
    import pandas as pd

    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "x": np.where(rng.random(400) < 0.3, np.nan, rng.normal(size=400)),
            "city": rng.choice(["a", "b", "c"], 400),
            "idle": rng.choice(["a", "b", "c"], 400),
        }
    )
    space, (rows,) = Space.of(table)

    def predict(asked: FloatArray) -> FloatArray:
        frame = space.decode(asked)
        return np.asarray(frame["x"].isna().astype(float) + (frame["city"] == "b"), dtype=np.float64)

    found = {one.check: one for one in findings(predict, space, rows[:20], rows[20:], 0)}
    assert found[MATTER].columns == ("idle",)


def test_the_direction_rests_on_the_planted_rows() -> None:
    space, (pool,) = Space.of(X[:500])

    def predict(rows: FloatArray) -> FloatArray:
        return np.asarray(-(rows**2).sum(axis=1))

    sign, found = orientation(predict, space, pool, predict(pool), 0)
    assert sign == -1
    assert found.rows == 20
