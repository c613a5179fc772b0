"""From numbers a row to scores, intervals and tests: against direct computation."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from xassay.estimates import Estimate
from xassay.metrics import describe
from xassay.statistics import (
    RowWeights,
    holm,
    mean_interval,
    quantile_interval,
    root_mean_interval,
    row_interval,
    share_of_squares_interval,
    skill_interval,
)
from xassay.statistics import scores as kinds
from xassay.statistics.row_scores import BEYOND_TRIVIAL, ENOUGH_ROWS
from xassay.studies.check import series as series_module
from xassay.studies.check.series import QUANTILES, STATISTICS, Series, value_of
from xassay.types import FloatArray

WEIGHTS = RowWeights(0, n_replicates=500)
RNG = np.random.default_rng(0)
HALVES = RNG.random(40)
LOSSES, TRIVIAL = RNG.gamma(1, 1, 40), RNG.gamma(2, 2, 40) + 0.1


def series(metric: str, statistic: str, *columns: Any, failed: Any = None, **more: Any) -> Series:
    arrays = tuple(np.asarray(column, dtype=np.float64) for column in columns)
    n = len(arrays[0])
    lost = np.zeros(n, dtype=bool) if failed is None else np.asarray(failed)
    return Series(metric, arrays, np.arange(n), statistic, lost, **more)


def value(metric: str, statistic: str, *columns: Any, **more: Any) -> Estimate:
    return value_of(series(metric, statistic, *columns, **more), WEIGHTS)


SCORES: dict[str, tuple[str, tuple[FloatArray, ...], float]] = {
    "mean": ("fidelity", (HALVES,), HALVES.mean()),
    "count": ("model_calls", (LOSSES,), LOSSES.mean()),
    "root mean": ("masking_rmse", (LOSSES,), np.sqrt(LOSSES.mean())),
    "skill": ("masking_skill", (LOSSES, TRIVIAL), 1 - np.sqrt(LOSSES.sum() / TRIVIAL.sum())),
    "share": ("fidelity_pooled", (LOSSES, TRIVIAL), 1 - LOSSES.sum() / TRIVIAL.sum()),
    "part": ("best_scale", (LOSSES, TRIVIAL), LOSSES.sum() / TRIVIAL.sum()),
    "root part": ("completeness_gap", (LOSSES, TRIVIAL), np.sqrt(LOSSES.sum() / TRIVIAL.sum())),
    "ela": ("ela", (HALVES, HALVES[::-1]), (1 - HALVES.mean()) / HALVES.mean()),
    "tenth part": ("fidelity_q10", (HALVES,), np.sort(HALVES)[3]),
    "median": ("fidelity_q50", (HALVES,), np.sort(HALVES)[19]),
}
each_statistic = pytest.mark.parametrize("statistic", SCORES)


def test_all_statistics_are_tested() -> None:
    assert set(SCORES) == {*STATISTICS, *QUANTILES}


@each_statistic
def test_scores_are_those_of_the_columns(statistic: str) -> None:
    metric, columns, expected = SCORES[statistic]
    found = value(metric, statistic, *columns)
    assert found.value == pytest.approx(expected)
    assert (found.n, found.n_failed, found.n_undefined) == (40, 0, 0)


@each_statistic
def test_intervals_hold_the_score_within_its_range_and_are_no_point(statistic: str) -> None:
    metric, columns, _ = SCORES[statistic]
    found, record = value(metric, statistic, *columns), describe(metric)
    if statistic == "count":
        assert (found.low, found.high) == (None, None)
        return
    assert record.low <= found.low < found.high <= record.high
    assert found.low <= found.value <= found.high


@pytest.mark.parametrize(
    ("statistic", "expected"),
    [
        ("mean", mean_interval(HALVES, 0, 1, rng=WEIGHTS)),
        ("root mean", root_mean_interval(LOSSES, rng=WEIGHTS)),
        ("skill", skill_interval(LOSSES, TRIVIAL, rng=WEIGHTS)),
        ("share", share_of_squares_interval(LOSSES, TRIVIAL, rng=WEIGHTS)),
        ("tenth part", quantile_interval(HALVES, 0.1, low=0, high=1)),
        ("median", quantile_interval(HALVES, 0.5, low=0, high=1)),
    ],
)
def test_intervals_are_those_of_the_score(statistic: str, expected: tuple[float, float]) -> None:
    metric, columns, _ = SCORES[statistic]
    found = value(metric, statistic, *columns)
    assert (found.low, found.high) == pytest.approx(expected)


def test_the_interval_of_a_gap_is_what_the_skill_leaves() -> None:
    """A gap of nothing told is 1, where the skill is 0: the ends are those of 1 - skill, turned around."""
    found = value("completeness_gap", "root part", LOSSES, TRIVIAL)
    skill = value("masking_skill", "skill", LOSSES, TRIVIAL)
    assert (found.low, found.high) == pytest.approx((1 - skill.high, 1 - skill.low))
    assert found.value == pytest.approx(1 - skill.value)
    low, high = skill_interval(LOSSES, TRIVIAL, rng=WEIGHTS)
    assert (found.low, found.high) == pytest.approx((1 - high, 1 - low))


@pytest.mark.parametrize("repeated", [False, True])
def test_an_estimate_beyond_its_metrics_maximum_is_the_maximum(repeated: bool) -> None:
    """Sets are drawn: what an exact explanation misses may fall below 0, what sums can tell exceed all."""
    missed, told = 0.05 * RNG.standard_normal(40) - 0.1, np.full(40, 2.0)
    fits = ((missed, told), (missed - 0.1, told)) if repeated else ()
    found = value("fidelity_pooled", "share", missed, told, repeats=fits)
    assert 1 - missed.sum() / told.sum() > 1.01
    assert (found.value, found.high) == (1, 1)
    assert found.low < 1

    # a scale has no maximum
    assert value("best_scale", "part", 1.2 * told, told).value == pytest.approx(1.2)


def test_an_estimate_wholly_beyond_its_metrics_maximum_has_no_interval() -> None:
    told = np.full(40, 2.0)
    share = value("additive_share", "part", 1.9 * told, told)
    assert (share.value, share.low, share.high) == (1, None, None)


def test_a_ratios_unseen_row_is_half_as_large_again_as_the_most_telling_one() -> None:
    away = LOSSES - LOSSES.sum() / TRIVIAL.sum() * TRIVIAL
    ends = [[BEYOND_TRIVIAL * LOSSES[k], BEYOND_TRIVIAL * TRIVIAL[k]] for k in (away.argmin(), away.argmax())]
    expected = row_interval([LOSSES, TRIVIAL], kinds.ratio, worst=ends[0], best=ends[1], rng=WEIGHTS)
    found = value("best_scale", "part", LOSSES, TRIVIAL)
    assert (found.low, found.high) == pytest.approx(expected)


def test_of_a_share_of_squares_an_unseen_row_may_be_all_or_nothing() -> None:
    part = np.full(30, 2.0)
    found = value("additive_share", "part", part, part)
    assert (found.value, found.high) == (1, 1)
    unseen = stats.beta(1, 30).ppf(0.975)
    assert found.low == pytest.approx((1 - unseen) / (1 + (BEYOND_TRIVIAL - 1) * unseen), abs=0.02)
    # a ratio that is no share has rows alone to go by, and they do not differ
    same = value("best_scale", "part", part, part)
    assert (same.value, same.low, same.high) == (1, None, None)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=15))
def test_a_bounded_mean_never_has_a_point_interval(values: list[float]) -> None:
    found = value("fidelity", "mean", values)
    assert found.low < found.high
    assert found.high - found.low > 0.05


@pytest.mark.parametrize("n", [2, 5, 50])
def test_perfect_rows_are_no_certainty(n: int) -> None:
    found = value("fidelity", "mean", np.ones(n))
    exact = stats.binomtest(n, n).proportion_ci(0.95, "exact")
    assert (found.low, found.high) == (pytest.approx(exact.low, abs=0.08), 1)


@pytest.mark.parametrize(
    ("metric", "statistic", "columns"),
    [
        ("fidelity", "mean", ([0.5],)),
        ("masking_rmse", "root mean", ([0.5],)),
        ("masking_rmse", "root mean", (np.zeros(9),)),
        ("pgi", "mean", (np.full(9, 2.0),)),
        ("fidelity_q50", "median", (np.ones(9),)),
        ("masking_skill", "skill", ([0.5], [1.0])),
    ],
)
def test_where_nothing_can_be_said_there_is_no_interval(metric: str, statistic: str, columns: Any) -> None:
    found = value(metric, statistic, *columns)
    assert np.isfinite(found.value)
    assert (found.low, found.high) == (None, None)


@pytest.mark.parametrize("statistic", ["part", "root part", "skill", "share"])
def test_a_ratio_with_nothing_below_it_is_undefined(statistic: str) -> None:
    metric = SCORES[statistic][0]
    found = value(metric, statistic, np.ones(9), np.zeros(9))
    assert np.isnan(found.value)
    assert (found.low, found.high) == (None, None)


def test_failed_and_undefined_rows_are_counted_apart_and_left_out() -> None:
    failed = [True, True, False, False, False, False]
    found = value("fidelity", "mean", [np.nan, 0.0, np.nan, 0.5, 0.7, 0.9], failed=failed)
    assert (found.n, found.n_failed, found.n_undefined) == (6, 2, 1)
    assert found.value == pytest.approx(0.7)
    alone = value("fidelity", "mean", [0.5, 0.7, 0.9])
    assert (found.low, found.high) == (alone.low, alone.high)


def test_a_row_needs_all_that_its_score_is_made_of() -> None:
    found = value("masking_skill", "skill", [1.0, np.nan, 1.0], [4.0, 4.0, np.nan])
    assert (found.value, found.n, found.n_undefined) == (0.5, 3, 2)
    infinite = value("masking_rmse", "root mean", [4.0, np.inf])
    assert (infinite.value, infinite.n_undefined) == (2, 1)


def test_no_row_is_missing_and_no_defined_row_undefined() -> None:
    lost = value("fidelity", "mean", [np.nan, np.nan], failed=[True, True])
    assert lost == Estimate(None, n=2, n_failed=2)
    undefined = value("fidelity", "mean", [np.nan, np.nan, 0.3], failed=[False, False, True])
    assert np.isnan(undefined.value)
    assert (undefined.low, undefined.high) == (None, None)
    assert (undefined.n, undefined.n_failed, undefined.n_undefined) == (3, 1, 2)


def fitted(*fits: FloatArray) -> Series:
    return series("fidelity", "mean", fits[0], repeats=tuple((fit,) for fit in fits))


def test_several_fits_score_their_mean_and_widen_the_interval() -> None:
    rows = 0.4 + 0.2 * HALVES
    fits = [rows + shift for shift in (-0.2, -0.1, 0.0, 0.1, 0.2)]
    found, one = value_of(fitted(*fits), WEIGHTS), value_of(fitted(rows), WEIGHTS)
    assert found.value == pytest.approx(rows.mean())
    spread = stats.t.ppf(0.975, 4) * np.std([fit.mean() for fit in fits], ddof=1) / np.sqrt(5)
    assert found.low == pytest.approx(one.value - np.hypot(one.value - one.low, spread))
    assert found.high == pytest.approx(one.value + np.hypot(one.high - one.value, spread))
    assert spread > 0.1


def test_a_widened_interval_stays_in_the_range() -> None:
    found = value_of(fitted(np.zeros(9), np.ones(9), np.zeros(9)), WEIGHTS)
    assert (found.low, found.high) == (0, 1)
    assert found.value == pytest.approx(1 / 3)


def test_fits_that_agree_widen_nothing() -> None:
    same = value_of(fitted(HALVES, HALVES, HALVES), WEIGHTS)
    assert (same.low, same.high) == pytest.approx(mean_interval(HALVES, 0, 1, rng=WEIGHTS))


def test_two_fits_are_a_spread() -> None:
    one = value_of(fitted(HALVES), WEIGHTS)
    two = value_of(fitted(HALVES, HALVES / 2), WEIGHTS)
    assert two.high - two.low > one.high - one.low
    assert two.value == pytest.approx(0.75 * HALVES.mean())


def test_a_row_needs_every_fit() -> None:
    other = HALVES.copy()
    other[3] = np.nan
    found = value_of(fitted(HALVES, other), WEIGHTS)
    assert (found.n, found.n_undefined) == (40, 1)
    assert found.value == pytest.approx(np.delete(HALVES, 3).mean())


def test_a_fit_of_which_the_score_is_undefined_widens_nothing() -> None:
    fits = ((np.ones(9), np.zeros(9)), (np.ones(9), np.full(9, 2.0)))
    one = series("fidelity_pooled", "share", *fits[0], repeats=fits)
    found = value_of(one, WEIGHTS)
    assert found.value == pytest.approx(0)
    assert (found.low, found.high) == pytest.approx(
        share_of_squares_interval(np.ones(9), np.ones(9), rng=WEIGHTS)
    )


# tests


def rows_of_tests(found: dict[str, Sequence[Series]], *metrics: str) -> list[dict[str, Any]]:
    return list(series_module.tests(found, metrics, 0))


def better(n: int = 30) -> dict[str, Sequence[Series]]:
    own = np.random.default_rng(1)
    return {
        name: [
            series("fidelity", "mean", np.clip(level + 0.1 * own.standard_normal(n), 0, 1)),
            series("masking_rmse", "root mean", own.gamma(2, 1 - level, n)),
        ]
        for name, level in (("good", 0.8), ("fair", 0.6), ("poor", 0.2))
    }


def test_each_pair_of_explainers_is_tested_by_each_metric() -> None:
    rows = rows_of_tests(better(), "fidelity", "masking_rmse")
    pairs = [(row["metric"], row["first"], row["second"]) for row in rows]
    expected = [("fair", "good"), ("fair", "poor"), ("good", "poor")]
    assert pairs == [(metric, *pair) for metric in ("fidelity", "masking_rmse") for pair in expected]
    assert {row["n_blocks"] for row in rows} == {30}
    assert [row["metric"] for row in rows_of_tests(better(), "fidelity")] == ["fidelity"] * 3
    named = {name: rows[0][name] for name in ("study", "dataset", "blocks", "test", "sigma")}
    assert named == {
        "study": "check",
        "dataset": "all rows",
        "blocks": "rows",
        "test": "paired_permutation",
        "sigma": None,
    }


def test_the_tests_statistic_is_the_difference_of_the_scores() -> None:
    found = better()
    scores = {
        (name, one.metric): value_of(one, WEIGHTS).value for name, several in found.items() for one in several
    }
    for row in rows_of_tests(found, "fidelity", "masking_rmse"):
        apart = scores[row["first"], row["metric"]] - scores[row["second"], row["metric"]]
        assert row["statistic"] == pytest.approx(apart)
        assert abs(apart) > 0.01


def test_one_correction_covers_all_comparisons() -> None:
    rows = rows_of_tests(better(), "fidelity", "masking_rmse")
    p_values = np.array([row["p_value"] for row in rows])
    np.testing.assert_array_equal([row["p_holm"] for row in rows], holm(p_values))
    assert rows[0]["p_holm"] > rows[0]["p_value"] * 3
    assert (p_values < 0.01).any()


def test_p_values_are_those_of_swapping_within_rows() -> None:
    """Twenty rows of which ten differ, all by the same: of 2^10 swaps only two are as far apart."""
    one, other = np.linspace(0.5, 0.9, 20), np.linspace(0.5, 0.9, 20)
    other[::2] -= 0.1
    found = {"a": [series("fidelity", "mean", one)], "b": [series("fidelity", "mean", other)]}
    (row,) = rows_of_tests(found, "fidelity")
    assert row["p_value"] == 2 / 2**10
    assert row["p_holm"] == row["p_value"]
    assert row["statistic"] == pytest.approx(0.05)
    assert row["n_blocks"] == 20


@pytest.mark.parametrize(("n", "told"), [(10, False), (19, False), (20, True)])
def test_too_few_rows_have_a_difference_and_no_p_value(n: int, told: bool) -> None:
    found = {
        "a": [series("fidelity", "mean", np.linspace(0.5, 0.9, n))],
        "b": [series("fidelity", "mean", np.linspace(0.1, 0.2, n))],
    }
    (row,) = rows_of_tests(found, "fidelity")
    assert row["statistic"] == pytest.approx(0.55)
    assert told == (n >= ENOUGH_ROWS)
    assert np.isfinite(row["p_value"]) == told
    assert np.isfinite(row["p_holm"]) == told
    assert row["n_blocks"] == n


@pytest.mark.parametrize(("n", "told"), [(22, True), (21, False)])
def test_rows_are_matched_by_their_numbers_and_those_of_one_alone_left_out(n: int, told: bool) -> None:
    """Of n rows one failed for the first explainer, another is undefined for the second."""
    values, differs = np.linspace(0.1, 0.9, n), np.arange(n) < 12
    one = Series("fidelity", (values,), np.arange(n), "mean", np.arange(n) == 2)
    holes = np.where(np.arange(n) == 5, np.nan, values - 0.05 * differs)
    turned = Series("fidelity", (holes[::-1],), np.arange(n)[::-1], "mean", np.zeros(n, dtype=bool))
    (row,) = rows_of_tests({"a": [one], "b": [turned]}, "fidelity")
    assert row["n_blocks"] == n - 2
    # ten of the rows that differ have both
    assert row["statistic"] == pytest.approx(0.05 * 10 / (n - 2))
    assert row["p_value"] == pytest.approx(2 / 2**10 if told else np.nan, nan_ok=True)


def test_differences_of_rounding_are_none() -> None:
    losses = np.linspace(1, 2, 20)
    near = losses + 1e-13 * np.tile([1, 0], 10)
    for unit, equal in ((1.0, True), (0.0, False)):
        found = {
            "a": [series("masking_rmse", "root mean", losses, unit=unit)],
            "b": [series("masking_rmse", "root mean", near)],
        }
        (row,) = rows_of_tests(found, "masking_rmse")
        assert (row["statistic"] == 0) == equal
        assert np.isnan(row["p_value"]) == equal


def test_small_differences_beyond_rounding_are_differences() -> None:
    losses = np.linspace(1, 2, 20)
    found = {
        "a": [series("masking_rmse", "root mean", losses, unit=1.0)],
        "b": [series("masking_rmse", "root mean", losses + 1e-6, unit=1.0)],
    }
    (row,) = rows_of_tests(found, "masking_rmse")
    assert row["p_value"] < 1e-3
    assert row["statistic"] < 0


def test_what_is_no_score_of_all_rows_is_not_tested() -> None:
    extra = {
        "a": [
            series("map", "mean", HALVES, planted="swapped"),
            series("fidelity", "mean", HALVES, level="budget"),
            series("map", "mean", HALVES),
        ],
        "b": [
            series("map", "mean", HALVES / 2, planted="swapped"),
            series("fidelity", "mean", HALVES / 2, level="budget"),
            series("map", "mean", HALVES / 2),
        ],
    }
    rows = rows_of_tests(extra, "map", "fidelity")
    assert [(row["metric"], row["first"], row["second"]) for row in rows] == [("map", "a", "b")]
    assert rows_of_tests({"a": extra["a"]}, "map") == []


def test_each_sigma_is_tested_by_itself() -> None:
    found = {
        name: [series("causal_rmse", "root mean", factor * LOSSES, sigma=sigma) for sigma in (0.1, 0.25)]
        for name, factor in (("a", 1.0), ("b", 4.0))
    }
    rows = rows_of_tests(found, "causal_rmse")
    assert [row["sigma"] for row in rows] == [0.1, 0.25]
    assert all(row["statistic"] == pytest.approx(-np.sqrt(LOSSES.mean())) for row in rows)


def test_the_seed_fixes_the_tests() -> None:
    one, other = (rows_of_tests(better(60), "fidelity", "masking_rmse") for _ in range(2))
    assert one == other
    other_halves = 0.9 * np.roll(HALVES, 5)
    near = {
        name: [series("fidelity", "mean", values)] for name, values in (("a", HALVES), ("b", other_halves))
    }
    p_values = [next(series_module.tests(near, ["fidelity"], seed))["p_value"] for seed in (0, 0, 1)]
    assert p_values[0] == p_values[1] != p_values[2]
