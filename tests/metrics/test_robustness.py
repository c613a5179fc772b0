from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xassay.errors import InputError
from xassay.metrics import equalized_loss_of_accuracy, noise_share

Rankings = Callable[[Sequence[float]], Iterator[tuple[int, ...]]]


@pytest.mark.parametrize(
    ("noisy", "clean", "expected"),
    [(0.6, 0.8, 0.5), (1.0, 1.0, 0.0), (0.0, 1.0, 1.0), (0.0, 0.25, 4.0), (1.0, 0.1, 0.0)],
)
def test_ela_is_the_loss_over_the_accuracy_without_noise(noisy: float, clean: float, expected: float) -> None:
    assert equalized_loss_of_accuracy(noisy, clean) == pytest.approx(expected)


def test_ela_broadcasts_noise_levels_over_one_clean_accuracy() -> None:
    found = equalized_loss_of_accuracy([[0.5, 0.6], [0.7, 0.8]], [0.5, 0.8])
    np.testing.assert_allclose(found, [[1.0, 0.5], [0.6, 0.25]])


@pytest.mark.parametrize(("noisy", "clean"), [(0.5, 0.0), (1.0, 0.0), (np.nan, 0.5), (0.5, np.nan)])
def test_ela_is_nan_without_a_clean_accuracy_to_lose(noisy: float, clean: float) -> None:
    np.testing.assert_array_equal(equalized_loss_of_accuracy([noisy, 0.5], [clean, 0.5]), [np.nan, 1.0])


@pytest.mark.parametrize(("noisy", "clean"), [(60, 0.8), (0.6, 80), (-0.1, 0.8), (0.6, -0.1)])
def test_ela_refuses_what_is_no_fraction(noisy: float, clean: float) -> None:
    with pytest.raises(InputError, match="between 0 and 1"):
        equalized_loss_of_accuracy(noisy, clean)


@pytest.mark.parametrize(
    ("values", "relevant", "noise", "options", "expected"),
    [
        pytest.param([3, 2, 1], [1, 1, 0], [0, 1, 0], {}, 1 / 2, id="one of two"),
        pytest.param([3, 2, 1], [1, 0, 0], [0, 1, 1], {}, 0, id="noise below rank R"),
        pytest.param([1, 2, 3], [1, 1, 0], [0, 1, 1], {}, 1, id="noise everywhere"),
        pytest.param([1, 2, 2, 2], [1, 1, 0, 0], [0, 0, 0, 1], {}, 1 / 3, id="tied, expected"),
        pytest.param([1, 2, 2, 2], [1, 1, 0, 0], [0, 0, 0, 1], {"ties": "ordered"}, 0, id="tied, ordered"),
        pytest.param([1, 2, 2, 2], [1, 1, 0, 0], [0, 0, 0, 1], {"ties": "reversed"}, 1 / 2, id="reversed"),
        pytest.param(
            [1, 0, 0], [1, 1, 0], [0, 0, 1], {"ties": "reversed", "rank_zeros": False}, 0, id="zero noise"
        ),
        pytest.param([3, 2, 1], [1, 1, 0], [0, 0, 1], {"ties": "ordered", "skip": [0]}, 1 / 2, id="skip"),
    ],
)
def test_noise_share_equals_that_worked_out_by_hand(
    values: list[float], relevant: list[int], noise: list[int], options: dict[str, Any], expected: float
) -> None:
    assert noise_share([values], [relevant], noise, **options)[0] == pytest.approx(expected)


@given(data=st.data(), values=st.lists(st.integers(-1, 1), min_size=1, max_size=6))
def test_noise_share_averages_over_all_consistent_rankings(
    rankings: Rankings, data: st.DataObject, values: list[int]
) -> None:
    flags = st.lists(st.booleans(), min_size=len(values), max_size=len(values)).filter(any)
    relevant, noise = data.draw(flags, "relevant"), data.draw(flags, "noise")
    top = sum(relevant)
    expected = np.mean([sum(noise[f] for f in order[:top]) / top for order in rankings(values)])
    assert noise_share([values], [relevant], noise)[0] == pytest.approx(expected)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_noise_share_is_nan_where_undefined(bad: float) -> None:
    found = noise_share([[1, 2], [bad, 1], [1, 2]], [[0, 0], [1, 0], [1, 0]], [False, True])
    np.testing.assert_array_equal(found, [np.nan, np.nan, 1.0])


@pytest.mark.parametrize(
    ("values", "relevant", "noise", "message"),
    [
        pytest.param([[1, 2]], [[1, 0]], [0, 0], "no feature is marked", id="no noise"),
        pytest.param([[1, 2]], [[1, 0]], [1], r"noise must have shape \(features,\)", id="short noise"),
        pytest.param([[1, 2]], [[1, 0]], [[1, 0]], "noise must have shape", id="noise a row"),
        pytest.param([[1, 2]], [[2, 0.5]], [1, 0], "booleans", id="relevant is no flag"),
        pytest.param([[1, 2, 3]], [[1, 0]], [1, 0], r"\(rows, features\)", id="other shapes"),
        pytest.param([1, 2], [1, 0], [1, 0], r"\(rows, features\)", id="one row without brackets"),
    ],
)
def test_noise_share_refuses_shapes_that_do_not_fit(
    values: Any, relevant: Any, noise: Any, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        noise_share(values, relevant, noise)
