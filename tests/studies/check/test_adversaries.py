"""Explanations that are wrong where a measure might not look."""

from typing import Any

import numpy as np
import pytest

import xassay
from xassay.testing import exact_shapley

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 5))
WEIGHTS = np.array([3.0, 2.0, -1.0, 0.5, 0.0])
DECIDING = ("fidelity", "data")


def linear(rows: Any) -> Any:
    return np.asarray(rows) @ WEIGHTS


def right(predict: Any, background: Any, rows: Any) -> Any:
    return WEIGHTS * (rows - background.mean(axis=0))


def shapley(predict: Any, background: Any, rows: Any) -> Any:
    return exact_shapley(predict, background, rows, range(rows.shape[1]))


def judged(
    explainer: Any, predict: Any = linear, data: Any = X, background: Any = None, **settings: Any
) -> Any:
    options = {"rows": 40, "measures": DECIDING, **settings}
    found = xassay.check(predict, data, background, explainers=[explainer], **options)
    return found, found.judgements.filter(explainer=explainer.__name__)["judgement"].item()


def test_what_is_claimed_where_nothing_can_be_told_counts() -> None:
    """Two thirds of the rows are the background's own: nothing changes there, and much is claimed."""
    data = np.where(RNG.random((200, 1)) < 2 / 3, 0.0, RNG.normal(size=(200, 5)))

    def garbage_at_rest(predict: Any, background: Any, rows: Any) -> Any:
        values = shapley(predict, background, rows)
        return np.where((rows == 0).all(axis=1, keepdims=True), [100.0, -100, 100, -100, 0], values)

    found, judgement = judged(garbage_at_rest, data=data, background=np.zeros((1, 5)))
    assert judgement == "unfaithful"
    assert found.scores.filter(metric="rows_right")["value"].item() < 0.5
    _, judgement = judged(shapley, data=data, background=np.zeros((1, 5)))
    assert judgement == "faithful"


def test_a_constant_on_most_rows_is_not_hidden_by_large_ones() -> None:
    data = X.copy()
    data[:40, 0] += 200
    data = data[RNG.permutation(400)]

    def off_on_small(predict: Any, background: Any, rows: Any) -> Any:
        return right(predict, background, rows) + 5.0 * (np.abs(rows[:, :1]) < 50)

    found, judgement = judged(off_on_small, data=data, background=X[:50])
    assert judgement != "faithful"
    assert found.recommended is None


@pytest.mark.parametrize("share", [0.65, 0.3])
def test_who_fails_on_hard_rows_is_not_recommended(share: float) -> None:
    border = np.quantile(X[:, 0], 1 - share)

    def raises_hard(predict: Any, background: Any, rows: Any) -> Any:
        if rows[0, 0] > border:
            raise RuntimeError("hard")
        return right(predict, background, rows)

    found, judgement = judged(raises_hard)
    assert judgement == "partly"
    assert found.recommended is None


@pytest.mark.parametrize(("factor", "level"), [(1.4, 0), (0.75, 0), (1, 50), (1, -50)])
def test_a_change_of_scale_or_level_is_not_called_true_to_the_data(factor: float, level: float) -> None:
    def changed(predict: Any, background: Any, rows: Any) -> Any:
        return factor * right(predict, background, rows) + level

    found, judgement = judged(changed)
    assert judgement != "faithful"
    assert "true to the data" not in found.judgements["why"].item()


def test_two_columns_with_all_signs_wrong_name_no_column() -> None:
    weights = np.array([3.0, 0.5])

    def turned(predict: Any, background: Any, rows: Any) -> Any:
        return -shapley(predict, background, rows)[:, ::-1]

    data = np.abs(X[:, :2]) + 3

    def predict(rows: Any) -> Any:
        return np.asarray(rows) @ weights

    _, judgement = judged(turned, predict, data, np.zeros((1, 2)))
    assert judgement == "unfaithful"
    _, judgement = judged(shapley, predict, data, np.zeros((1, 2)))
    assert judgement == "faithful"


def test_totals_of_nothing_are_no_gap() -> None:
    """Shares add up to one on every row, so that their sum has totals of rounding and columns that matter."""
    shares = RNG.dirichlet(np.ones(5), size=300)
    _, judgement = judged(shapley, lambda rows: np.asarray(rows).sum(axis=1), shares)
    assert judgement == "faithful"


def test_a_model_that_fails_does_not_blame_the_explainer() -> None:
    def gaps(rows: Any) -> Any:
        return np.where(np.asarray(rows)[:, 0] > 1.0, np.nan, linear(rows))

    found, _ = judged(right, gaps, background=X[X[:, 0] < 0][:50])
    row = found.scores.filter(metric="fidelity").row(0, named=True)
    assert row["n_failed"] == 0
    assert row["n_undefined"] > 0
    assert not any("it failed" in text for text in found.verdict)


def test_a_model_without_answers_off_the_data_is_named() -> None:
    data = np.column_stack([X[:, 0], X[:, 0] + 0.01 * X[:, 1], X[:, 2]])

    def on_the_data(rows: Any) -> Any:
        table = np.asarray(rows)
        return np.where(np.abs(table[:, 0] - table[:, 1]) > 0.2, np.nan, table.sum(axis=1))

    def claims(predict: Any, background: Any, rows: Any) -> Any:
        return rows - background.mean(axis=0)

    found, judgement = judged(claims, on_the_data, data)
    assert judgement == "not judged"
    assert "rows with replaced columns" in found.scores.filter(metric="fidelity")["reason"].item()


@pytest.mark.parametrize("p", [10, 14])
def test_exact_values_are_faithful_where_interactions_are_strong(p: int) -> None:
    bits = RNG.integers(0, 2, size=(300, p)).astype(float)

    def predict(rows: Any) -> Any:
        table = np.asarray(rows)
        return table[:, :6].sum(axis=1) % 2 + table[:, :6] @ (0.1 * np.arange(1, 7))

    def exact(predict: Any, background: Any, rows: Any) -> Any:
        return exact_shapley(predict, background, rows, range(6))

    found, judgement = judged(exact, predict, bits, rows=30)
    assert judgement in ("faithful", "not judged")
    if judgement == "faithful":
        assert found.recommended == "exact"
