import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from scipy import stats

from xassay.errors import InputError
from xassay.statistics import Comparison, compare
from xassay.studies.crem.published import figures
from xassay.types import FloatArray

Tests = dict[tuple[str, str | None, str | None], Comparison]

NAMES = ["a", "b", "c", "d"]


def by_name(results: Sequence[Comparison]) -> Tests:
    return {(result.test, result.first, result.second): result for result in results}


@pytest.fixture
def scores() -> FloatArray:
    """Few distinct values, so that blocks hold ties."""
    return np.random.default_rng(3).integers(0, 5, (12, 4)) + np.array([0.0, 1.0, 0.0, 3.0])


@pytest.fixture(scope="module")
def table3() -> Tests:
    """ELA of three methods over the nine blocks (circuit, noise columns) of the published Table 3."""
    methods = ["Kernel SHAP", "Sampling SHAP", "LIME"]
    places = [("74182", 0.6), ("74283", 0.4), ("c17", 0.4)]
    blocks = [
        [figures()[circuit, method, "ela", background, noise].value for method in methods]
        for (circuit, background), noise in itertools.product(places, (2.0, 4.0, 6.0))
    ]
    return by_name(compare(np.array(blocks), methods))


def test_the_published_statistic_is_friedmans_chi_square(table3: Tests) -> None:
    found = table3["friedman", None, None]
    assert found.statistic == pytest.approx(14.889, abs=5e-4)
    assert found.p_value == pytest.approx(0.00058, abs=5e-6)
    assert (found.df, found.n_blocks) == ((2.0, None), 9)


def test_the_iman_davenport_f_of_the_published_table_is_another_number(table3: Tests) -> None:
    found = table3["iman_davenport", None, None]
    assert found.statistic == pytest.approx(38.29, abs=5e-3)
    assert (found.df, found.n_blocks) == ((2.0, 16.0), 9)


def test_nemenyi_separates_lime_from_both_shaps_and_not_them(table3: Tests) -> None:
    assert table3["nemenyi", "Kernel SHAP", "LIME"].p_value < 0.05
    assert table3["nemenyi", "Sampling SHAP", "LIME"].p_value < 0.05
    assert table3["nemenyi", "Kernel SHAP", "Sampling SHAP"].p_value > 0.3


def test_friedman_equals_scipys_with_ties_too(scores: FloatArray) -> None:
    expected = stats.friedmanchisquare(*scores.T)
    found = by_name(compare(scores, NAMES))["friedman", None, None]
    assert (found.statistic, found.p_value) == pytest.approx((expected.statistic, expected.pvalue))


def test_friedman_equals_its_formula_without_ties() -> None:
    scores = np.random.default_rng(0).standard_normal((10, 4))
    rank_sums = stats.rankdata(scores, axis=1).sum(axis=0)
    chi2 = 12 / (10 * 4 * 5) * (rank_sums**2).sum() - 3 * 10 * 5
    assert by_name(compare(scores, NAMES))["friedman", None, None].statistic == pytest.approx(chi2)


def test_iman_davenport_corrects_friedman(scores: FloatArray) -> None:
    found = by_name(compare(scores, NAMES))
    chi2 = found["friedman", None, None].statistic
    f = found["iman_davenport", None, None]
    assert f.statistic == pytest.approx(11 * chi2 / (12 * 3 - chi2))
    assert f.p_value == pytest.approx(stats.f.sf(f.statistic, 3, 33))


def test_nemenyi_is_the_studentized_range_of_mean_ranks(scores: FloatArray) -> None:
    found = by_name(compare(scores, NAMES))
    mean_ranks = dict(zip(NAMES, stats.rankdata(scores, axis=1).mean(axis=0), strict=True))
    for first, second in itertools.combinations(NAMES, 2):
        pair = found["nemenyi", first, second]
        difference = mean_ranks[first] - mean_ranks[second]
        q = abs(difference) / np.sqrt(4 * 5 / (6 * 12))
        assert pair.statistic == pytest.approx(difference)
        assert pair.p_value == pytest.approx(stats.studentized_range.sf(q * np.sqrt(2), 4, np.inf), abs=1e-6)


def test_every_pair_is_tested_once(scores: FloatArray) -> None:
    results = compare(scores, NAMES)
    assert [result.test for result in results] == ["friedman", "iman_davenport", *["nemenyi"] * 6]
    pairs = [(result.first, result.second) for result in results[2:]]
    assert pairs == list(itertools.combinations(NAMES, 2))


@pytest.mark.parametrize("change", [np.exp, lambda scores: scores + np.arange(12)[:, None]])
def test_only_ranks_within_blocks_count(
    scores: FloatArray, change: Callable[[FloatArray], FloatArray]
) -> None:
    assert compare(change(scores), NAMES) == compare(scores, NAMES)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_block_with_a_score_that_is_not_finite_is_left_out(scores: FloatArray, bad: float) -> None:
    spoilt = np.insert(scores, 5, [bad, 1.0, 2.0, 3.0], axis=0)
    assert compare(spoilt, NAMES) == compare(scores, NAMES)


def test_equal_rankings_in_every_block_have_no_f() -> None:
    found = by_name(compare(np.tile([1.0, 2.0, 3.0], (4, 1)), NAMES[:3]))
    assert found["friedman", None, None].statistic == pytest.approx(8)
    assert ("iman_davenport", None, None) not in found


def test_two_methods_get_the_signed_rank_test() -> None:
    scores = np.random.default_rng(0).random((9, 2))
    (found,) = compare(scores, ["a", "b"])
    expected = stats.wilcoxon(scores[:, 0], scores[:, 1])
    assert (found.test, found.first, found.second) == ("wilcoxon", "a", "b")
    assert (found.statistic, found.p_value) == (expected.statistic, expected.pvalue)


@pytest.mark.parametrize(
    "scores",
    [
        pytest.param(np.random.default_rng(0).random((9, 1)), id="one method"),
        pytest.param(np.array([[1.0, 2.0, 3.0]]), id="one block"),
        pytest.param(np.array([[1.0, 2.0, 3.0], [1.0, 2.0, np.nan]]), id="one complete block"),
        pytest.param(np.full((5, 3), np.nan), id="no complete block"),
        pytest.param(np.zeros((0, 3)), id="no block"),
        pytest.param(np.arange(15.0).reshape(5, 3) // 3, id="all tied in every block"),
    ],
)
def test_nothing_is_tested_where_nothing_can_be(scores: FloatArray) -> None:
    assert compare(scores, NAMES[: scores.shape[1]]) == []


@pytest.mark.parametrize("scores", [np.zeros((3, 4)), np.zeros(3)])
def test_as_many_names_as_columns_are_needed(scores: Any) -> None:
    with pytest.raises(InputError, match="beside 3 methods"):
        compare(scores, NAMES[:3])
