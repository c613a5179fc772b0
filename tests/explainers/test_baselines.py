from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from xassay import explainers
from xassay.types import FloatArray


def conjunction(rows: FloatArray) -> FloatArray:
    return rows[:, 0] * rows[:, 1]


def parity(rows: FloatArray) -> FloatArray:
    return rows.sum(axis=1) % 2


@pytest.mark.parametrize(
    ("predict", "row", "expected"),
    [
        pytest.param(conjunction, [1, 1, 0], [1, 1, 0], id="both hold it up"),
        pytest.param(conjunction, [0, 1, 0], [-1, 0, 0], id="one holds it down"),
        pytest.param(conjunction, [0, 0, 1], [0, 0, 0], id="no single bit matters"),
        pytest.param(parity, [1, 0, 0], [1, 1, 1], id="every bit matters, odd"),
        pytest.param(parity, [1, 1, 0], [-1, -1, -1], id="every bit matters, even"),
        pytest.param(lambda rows: 5 - 3 * rows[:, 2], [1, 1, 1], [0, 0, -3], id="the size of the change"),
    ],
)
def test_single_flip_is_the_change_when_one_bit_flips(
    predict: Callable[[FloatArray], Any], row: list[int], expected: list[int]
) -> None:
    explainer = explainers.make("single_flip", predict=predict, background=np.zeros((1, 3)))
    np.testing.assert_array_equal(explainer.explain([row]).values, [expected])


def test_single_flip_does_not_look_at_the_background() -> None:
    values = [
        explainers.make("single_flip", predict=parity, background=background).explain(np.eye(3)).values
        for background in (np.zeros((1, 3)), np.full((4, 3), 0.5))
    ]
    np.testing.assert_array_equal(*values)


@pytest.mark.parametrize("bad", [0.5, 2, -1, np.nan])
def test_single_flip_fails_rows_that_are_not_bits(bad: float) -> None:
    explainer = explainers.make("single_flip", predict=parity, background=np.eye(3))
    found = explainer.explain([[1, 0, 1], [1, bad, 1]])
    assert found.errors == {1: "InputError: single_flip needs rows of 0 and 1"}
    np.testing.assert_array_equal(found.values, [[-1, -1, -1], [np.nan] * 3])


def test_random_values_know_nothing_of_the_model_the_background_or_the_row() -> None:
    one = explainers.make("random", predict=parity, background=np.eye(3)).explain(np.zeros((4, 3)))
    other = explainers.make("random", predict=conjunction, background=np.ones((5, 3))).explain(
        np.ones((4, 3))
    )
    np.testing.assert_array_equal(one.values, other.values)


def test_random_values_are_standard_normal() -> None:
    explainer = explainers.make("random", predict=parity, background=np.zeros((1, 10)))
    values = explainer.explain(np.zeros((2000, 10))).values
    assert len(np.unique(values)) == values.size
    assert values.mean() == pytest.approx(0, abs=0.03)
    assert values.std() == pytest.approx(1, abs=0.03)
