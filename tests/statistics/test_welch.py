import numpy as np
import pytest
from scipy import stats

from xassay.errors import InputError
from xassay.statistics import welch_holm

RNG = np.random.default_rng(0)
A, B = RNG.normal(0, 1, 12), RNG.normal(1, 3, 9)


def shifted(p_value: float) -> tuple[np.ndarray, np.ndarray]:
    """Two samples whose Welch test has about that p-value."""
    base = np.linspace(-1, 1, 10)
    step = stats.t.isf(p_value / 2, 18) * base.std(ddof=1) * np.sqrt(2 / 10)
    return base, base - step


def test_each_data_set_gets_the_unequal_variance_test() -> None:
    found = welch_holm({"only": (A, B)})["only"]
    expected = stats.ttest_ind(A, B, equal_var=False)
    assert (found.statistic, found.df, found.p_value) == (expected.statistic, expected.df, expected.pvalue)
    assert found.p_holm == found.p_value


def test_holm_steps_down_and_never_lets_a_later_one_pass_an_earlier() -> None:
    wanted = {"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.005}
    found = welch_holm({name: shifted(p) for name, p in wanted.items()})
    np.testing.assert_allclose([found[name].p_value for name in wanted], list(wanted.values()), rtol=1e-6)
    np.testing.assert_allclose([found[name].p_holm for name in "dacb"], [0.02, 0.03, 0.06, 0.06], rtol=1e-6)


def test_no_corrected_value_exceeds_one() -> None:
    found = welch_holm({str(k): shifted(0.7) for k in range(3)})
    assert {result.p_holm for result in found.values()} == {1.0}


@pytest.mark.parametrize(
    "pair",
    [(A[:1], B), (np.ones(4), np.full(4, 2.0)), (np.array([np.nan, 1.0]), B), (np.array([]), B)],
    ids=["one score", "no spread", "one finite score", "none"],
)
def test_what_cannot_be_tested_is_undefined_and_costs_the_others_nothing(
    pair: tuple[np.ndarray, np.ndarray],
) -> None:
    found = welch_holm({"odd": pair, "fine": (A, B)})
    assert np.isnan([found["odd"].statistic, found["odd"].p_value, found["odd"].p_holm]).all()
    assert found["fine"].p_holm == found["fine"].p_value


def test_values_that_are_not_finite_are_left_out() -> None:
    with_gap = welch_holm({"x": (np.append(A, np.nan), np.append(B, np.inf))})["x"]
    assert with_gap == welch_holm({"x": (A, B)})["x"]


def test_tables_of_scores_are_refused() -> None:
    with pytest.raises(InputError, match="x: scores must be one-dimensional"):
        welch_holm({"x": (A[:, None], B)})
