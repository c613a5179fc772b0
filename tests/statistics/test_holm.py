import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xassay.statistics.holm import holm

P_VALUES = st.lists(st.one_of(st.floats(0, 1), st.sampled_from([0.01, 0.5]), st.just(np.nan)), max_size=8)


def literal_holm(p_values: list[float]) -> list[float]:
    """Reject in rising order while p <= alpha / (number left): the least alpha that rejects each."""
    known = sorted(p for p in p_values if p == p)  # noqa: PLR0124 - not NaN
    least, corrected = 0.0, {}
    for position, p in enumerate(known):
        least = max(least, min(1.0, p * (len(known) - position)))
        corrected.setdefault(p, least)
    return [corrected.get(p, np.nan) for p in p_values]


@given(P_VALUES)
def test_holm_is_the_least_level_that_rejects_each(p_values: list[float]) -> None:
    np.testing.assert_allclose(holm(np.array(p_values)), literal_holm(p_values), rtol=1e-12)


@given(P_VALUES, st.randoms(use_true_random=False))
def test_holm_does_not_depend_on_the_order_of_tests(p_values: list[float], random: object) -> None:
    order = list(range(len(p_values)))
    random.shuffle(order)
    shuffled = holm(np.array(p_values)[order]) if order else holm(np.array([]))
    np.testing.assert_array_equal(shuffled, holm(np.array(p_values))[order] if order else [])


@pytest.mark.parametrize(
    ("given_values", "expected"),
    [
        ([0.01, 0.04, 0.03, 0.005], [0.03, 0.06, 0.06, 0.02]),
        ([0.01, np.nan, 0.04], [0.02, np.nan, 0.04]),
        ([0.02, 0.02, 0.02], [0.06, 0.06, 0.06]),
        ([0.7, 0.8], [1, 1]),
        ([np.nan, np.nan], [np.nan, np.nan]),
        ([0.3], [0.3]),
        ([], []),
    ],
)
def test_holm_by_hand(given_values: list[float], expected: list[float]) -> None:
    np.testing.assert_allclose(holm(np.array(given_values)), expected)
