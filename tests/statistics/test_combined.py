import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xassay.errors import InputError
from xassay.statistics import mean_of_intervals, ratio_of_intervals

UNIT = st.floats(0, 1)
HELD = st.lists(st.tuples(UNIT, UNIT, UNIT).map(sorted), min_size=1, max_size=6)


def test_standard_errors_add_as_they_do_for_a_mean_of_normal_scores() -> None:
    values, errors = np.array([0.1, 0.7, 0.4]), np.array([0.2, 0.1, 0.3])
    found = mean_of_intervals(values, [(v - e, v + e) for v, e in zip(values, errors, strict=True)])
    half = np.sqrt((errors**2).sum()) / 3
    assert found == pytest.approx((0.4 - half, 0.4 + half))


def test_one_score_keeps_its_interval_and_an_exact_one_adds_nothing() -> None:
    assert mean_of_intervals(np.array([0.5]), [(0.1, 0.6)]) == pytest.approx((0.1, 0.6))
    assert mean_of_intervals(np.array([0.5, 0.9]), [(0.1, 0.7), None]) == pytest.approx((0.5, 0.8))
    assert mean_of_intervals(np.array([0.5, 0.9]), [None, None]) is None
    assert mean_of_intervals(np.array([]), []) is None


@given(HELD)
def test_the_mean_of_bounded_scores_stays_within_the_mean_of_their_ends(held: list[list[float]]) -> None:
    low, values, high = np.array(held).T
    found = mean_of_intervals(values, list(zip(low, high, strict=True)))
    assert low.mean() - 1e-9 <= found[0] <= values.mean() + 1e-9
    assert values.mean() - 1e-9 <= found[1] <= high.mean() + 1e-9


def test_an_infinite_end_stays_infinite() -> None:
    assert mean_of_intervals(np.array([1.0, 2.0]), [(0.5, np.inf), (1.5, 3.0)])[1] == np.inf


@pytest.mark.parametrize("intervals", [[(0.6, 0.7)], [(0.1, 0.6), (0.1, 0.6)]], ids=["elsewhere", "two"])
def test_intervals_of_other_scores_are_refused(intervals: list[tuple[float, float]]) -> None:
    with pytest.raises(InputError):
        mean_of_intervals(np.array([0.5]), intervals)


def literal_ratio(a, ends_a, b, ends_b):
    """Newcombe's formula as it is printed."""
    (la, ua), (lb, ub) = ends_a, ends_b
    low = (a * b - np.sqrt((a * b) ** 2 - la * ub * (2 * a - la) * (2 * b - ub))) / (ub * (2 * b - ub))
    high = (a * b + np.sqrt((a * b) ** 2 - ua * lb * (2 * a - ua) * (2 * b - lb))) / (lb * (2 * b - lb))
    return low, high


@pytest.mark.parametrize(
    "asked",
    [(0.3, (0.2, 0.45), 0.7, (0.6, 0.75)), (0.5, (0.1, 0.9), 0.5, (0.3, 0.8)), (2, (1, 2.5), 5, (4, 9))],
)
def test_a_ratio_has_the_published_formula(asked) -> None:
    assert ratio_of_intervals(*asked) == pytest.approx(literal_ratio(*asked))


def test_a_ratio_of_an_exact_score_is_the_interval_divided() -> None:
    assert ratio_of_intervals(0.4, (0.2, 0.5), 0.8, None) == pytest.approx((0.25, 0.625))
    assert ratio_of_intervals(0.4, None, 0.8, (0.5, 1.0)) == pytest.approx((0.4, 0.8))
    assert ratio_of_intervals(0.4, None, 0.8, None) is None
    assert ratio_of_intervals(0.0, (0.0, 0.1), 0.5, (0.0, 0.8)) == (0.0, np.inf)
    # u_b = 2 b: the printed formula divides by zero
    assert ratio_of_intervals(0.4, (0.2, 0.5), 0.5, (0.3, 1.0))[0] == pytest.approx(0.3)


@given(st.tuples(UNIT, UNIT, UNIT).map(sorted), st.tuples(UNIT, st.floats(0.01, 1), UNIT).map(sorted))
def test_a_ratio_lies_in_its_interval(above: list[float], below: list[float]) -> None:
    if below[1] == 0:
        return
    low, high = ratio_of_intervals(above[1], (above[0], above[2]), below[1], (below[0], below[2]))
    assert 0 <= low <= above[1] / below[1] <= high


def test_ratios_of_normal_means_are_held_as_often_as_said() -> None:
    rng, held = np.random.default_rng(0), []
    for a, b in rng.normal([0.3, 0.7], [0.05, 0.08], size=(4000, 2)):
        ends = (max(0, a - 1.96 * 0.05), a + 1.96 * 0.05), (max(0, b - 1.96 * 0.08), b + 1.96 * 0.08)
        low, high = ratio_of_intervals(max(a, 0), ends[0], b, ends[1])
        held.append(low <= 3 / 7 <= high)
    assert np.mean(held) == pytest.approx(0.95, abs=0.012)


@pytest.mark.parametrize("asked", [(-1, None, 1, (0.5, 2)), (1, (0.5, 2), 0, None), (1, (2, 3), 1, None)])
def test_what_has_no_ratio_is_refused(asked) -> None:
    with pytest.raises(InputError, match="ratio"):
        ratio_of_intervals(*asked)
