from typing import Any

import numpy as np
import pytest
from scipy import stats

from xassay import explainers
from xassay.errors import InputError
from xassay.types import FloatArray

RNG = np.random.default_rng(0)
BACKGROUND = RNG.normal(size=(40, 4)) * [1.0, 1e-9, 1e6, 3.0] + [0.0, 1e-9, -1e6, 1.0]
ROWS = RNG.normal(size=(6, 4)) * [5.0, 1e-8, 1e7, 3.0]


def first(rows: FloatArray) -> FloatArray:
    return rows[:, 0]


def zscore(background: Any = BACKGROUND, predict: Any = first, **options: Any) -> Any:
    return explainers.make("zscore", predict=predict, background=background, **options)


def test_values_are_those_of_scipy() -> None:
    expected = np.abs(stats.zmap(ROWS, BACKGROUND, axis=0))
    np.testing.assert_allclose(zscore().explain(ROWS).values, expected, rtol=1e-6)


def test_scale_shift_and_sign_of_a_column_do_not_matter() -> None:
    own = RNG.normal(size=(30, 4))
    rows = RNG.normal(size=(5, 4))
    scale, shift = np.array([2.0, -8.0, 0.25, 1.0]), np.array([1.0, 0.0, -3.0, 16.0])
    found = zscore(own * scale + shift).explain(rows * scale + shift)
    np.testing.assert_allclose(found.values, zscore(own).explain(rows).values, rtol=1e-12)


def test_another_model_gets_the_same_values() -> None:
    other = zscore(predict=lambda rows: rows.sum(axis=1) ** 2).explain(ROWS)
    np.testing.assert_array_equal(other.values, zscore().explain(ROWS).values)


def test_the_model_is_asked_about_the_background_alone() -> None:
    asked: list[int] = []

    def counts(rows: FloatArray) -> FloatArray:
        asked.append(len(rows))
        return rows[:, 0]

    zscore(predict=counts).explain(ROWS)
    assert asked == [len(BACKGROUND)]


def test_it_is_a_yardstick_without_draws() -> None:
    record = explainers.record("zscore")
    assert record.baseline
    assert not record.stochastic
    assert record.uses_background


@pytest.mark.parametrize("level", [0.0, 0.1, 1e300, -7.3])
def test_a_constant_column_gets_nothing(level: float) -> None:
    background = np.column_stack([np.full(30, level), RNG.normal(size=30)])
    found = zscore(background).explain([[level + 1.0, 0.0], [-level, 9.0]]).values
    np.testing.assert_array_equal(found[:, 0], 0)
    assert (found[:, 1] > 0).all()


def test_huge_values_do_not_overflow() -> None:
    found = zscore(BACKGROUND * 1e300).explain(ROWS * 1e300).values
    np.testing.assert_allclose(found, zscore().explain(ROWS).values, rtol=1e-6)


def test_codes_get_nothing_and_the_others_what_they_had() -> None:
    found = zscore(categorical=(1, 3)).explain(ROWS).values
    np.testing.assert_array_equal(found[:, [1, 3]], 0)
    np.testing.assert_array_equal(found[:, [0, 2]], zscore().explain(ROWS).values[:, [0, 2]])
    with pytest.raises(InputError, match=r"categorical=\(4,\): positions go from 0 to 3"):
        zscore(categorical=(4,))


def test_missing_values_are_left_out() -> None:
    holes = np.vstack([BACKGROUND, np.full((3, 4), np.nan)])
    found = zscore(holes).explain(ROWS).values
    np.testing.assert_allclose(found, zscore().explain(ROWS).values, rtol=1e-12)
    row = ROWS[:1].copy()
    row[0, 2] = np.nan
    said = zscore().explain(row)
    assert not said.errors
    expected = zscore().explain(ROWS[:1]).values
    expected[0, 2] = 0
    np.testing.assert_array_equal(said.values, expected)


def test_every_output_gets_the_same() -> None:
    both = zscore(predict=lambda rows: rows[:, :2]).explain(ROWS).values
    np.testing.assert_array_equal(both, np.stack([zscore().explain(ROWS).values] * 2, axis=2))
