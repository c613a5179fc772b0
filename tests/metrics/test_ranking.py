import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score

from xassay.errors import InputError, UnknownNameError
from xassay.metrics import average_precision, exact_match, r_precision, reciprocal_rank

Flags = Sequence[bool]
Rankings = Callable[[Sequence[float]], Iterator[tuple[int, ...]]]


def literal_reciprocal_rank(flags: Flags, _: int) -> float:
    return next((1 / rank for rank, flag in enumerate(flags, 1) if flag), 0.0)


def literal_average_precision(flags: Flags, n_relevant: int) -> float:
    return sum(sum(flags[:rank]) / rank for rank, flag in enumerate(flags, 1) if flag) / n_relevant


def literal_r_precision(flags: Flags, n_relevant: int) -> float:
    return sum(flags[:n_relevant]) / n_relevant


def literal_exact_match(flags: Flags, n_relevant: int) -> float:
    return float(sum(flags[:n_relevant]) == n_relevant)


LITERAL = {
    reciprocal_rank: literal_reciprocal_rank,
    average_precision: literal_average_precision,
    r_precision: literal_r_precision,
    exact_match: literal_exact_match,
}
each_metric = pytest.mark.parametrize("metric", LITERAL, ids=lambda metric: metric.__name__)

ORDERED: dict[str, Any] = {"ties": "ordered"}
REVERSED: dict[str, Any] = {"ties": "reversed"}
NO_ZEROS: dict[str, Any] = {"ties": "ordered", "rank_zeros": False}


@st.composite
def rows(draw: st.DrawFn, most: int = 6) -> tuple[list[int], list[bool]]:
    values = draw(st.lists(st.integers(-2, 2), min_size=1, max_size=most))
    flags = st.lists(st.booleans(), min_size=len(values), max_size=len(values))
    return values, draw(flags.filter(any))


@pytest.mark.parametrize(
    ("values", "relevant", "options", "expected"),
    [
        pytest.param([3, 2, 1], [0, 1, 1], {}, (1 / 2, 7 / 12, 1 / 2, 0), id="no ties"),
        pytest.param([2, -3], [0, 1], {}, (1, 1, 1, 1), id="sign does not count"),
        pytest.param([1, 1, 0], [1, 0, 0], {}, (3 / 4, 3 / 4, 1 / 2, 1 / 2), id="pair, expected"),
        pytest.param([1, 1, 0], [1, 0, 0], ORDERED, (1, 1, 1, 1), id="pair, ordered"),
        pytest.param([1, 1, 0], [1, 0, 0], REVERSED, (1 / 2, 1 / 2, 0, 0), id="pair, reversed"),
        pytest.param([2, 1, 1, 1], [0, 1, 1, 0], {}, (4 / 9, 1 / 2, 1 / 3, 0), id="three, expected"),
        pytest.param([2, 1, 1, 1], [0, 1, 1, 0], ORDERED, (1 / 2, 7 / 12, 1 / 2, 0), id="three, ordered"),
        pytest.param([2, 1, 1, 1], [0, 1, 1, 0], REVERSED, (1 / 3, 5 / 12, 0, 0), id="three, reversed"),
        pytest.param([3, 2, 2, 2], [1, 1, 1, 0], {}, (1, 49 / 54, 7 / 9, 1 / 3), id="straddling group"),
        pytest.param([0, 1, 0], [1, 0, 0], ORDERED, (1 / 2, 1 / 2, 0, 0), id="zeros ranked"),
        pytest.param([0, 1, 0], [1, 0, 0], NO_ZEROS, (0, 0, 0, 0), id="zeros left out"),
        pytest.param([2, 0, 1, 0], [1, 1, 0, 0], NO_ZEROS, (1, 1 / 2, 1 / 2, 0), id="R counts the unranked"),
        pytest.param(
            [3, 2, 1], [0, 1, 1], {**ORDERED, "skip": (0,)}, (1, 1, 1, 1), id="skip moves others up"
        ),
        pytest.param([3, 2, 1], [1, 1, 0], {**ORDERED, "skip": (0,)}, (1, 1 / 2, 1 / 2, 0), id="skip costs"),
        pytest.param([3, 2, 1], [1, 0, 0], {**REVERSED, "skip": [0]}, (0, 0, 0, 0), id="skip everything"),
    ],
)
def test_scores_equal_those_worked_out_by_hand(
    values: list[float], relevant: list[int], options: dict[str, Any], expected: tuple[float, ...]
) -> None:
    found = [metric([values], [relevant], **options)[0] for metric in LITERAL]
    assert found == pytest.approx(expected)


@each_metric
@given(row=rows())
def test_expected_ties_average_over_all_consistent_rankings(
    metric: Callable[..., Any], rankings: Rankings, row: tuple[list[int], list[bool]]
) -> None:
    values, relevant = row
    scores = [
        LITERAL[metric]([relevant[feature] for feature in order], sum(relevant)) for order in rankings(values)
    ]
    assert metric([values], [relevant])[0] == pytest.approx(np.mean(scores))


@each_metric
@pytest.mark.parametrize("ties", ["ordered", "reversed"])
@given(row=rows(), rank_zeros=st.booleans(), skip=st.sets(st.integers(0, 5)))
def test_fixed_ties_equal_a_plain_sort(
    metric: Callable[..., Any],
    ties: str,
    row: tuple[list[int], list[bool]],
    rank_zeros: bool,
    skip: set[int],
) -> None:
    values, relevant = row
    skipped = [feature for feature in skip if feature < len(values)]
    ranked = [f for f, value in enumerate(values) if (rank_zeros or value) and f not in skipped]
    sign = 1 if ties == "ordered" else -1
    order = sorted(ranked, key=lambda feature: (-abs(values[feature]), sign * feature))
    expected = LITERAL[metric]([relevant[feature] for feature in order], sum(relevant))
    found = metric([values], [relevant], ties, rank_zeros=rank_zeros, skip=skipped)[0]
    assert found == pytest.approx(expected)


@pytest.mark.parametrize("ties", ["ordered", "reversed"])
@given(row=rows(), rank_zeros=st.booleans(), skip=st.sets(st.integers(0, 5)))
def test_r_precision_over_what_is_ranked_is_the_precision_of_the_first_r_of_a_short_list(
    ties: str, row: tuple[list[int], list[bool]], rank_zeros: bool, skip: set[int]
) -> None:
    values, relevant = row
    skipped = [feature for feature in skip if feature < len(values)]
    ranked = [f for f, value in enumerate(values) if (rank_zeros or value) and f not in skipped]
    sign = 1 if ties == "ordered" else -1
    order = sorted(ranked, key=lambda feature: (-abs(values[feature]), sign * feature))
    top = [relevant[feature] for feature in order][: sum(relevant)]
    options: dict[str, Any] = {"rank_zeros": rank_zeros, "skip": skipped}
    found = r_precision([values], [relevant], ties, denominator="ranked", **options)[0]
    assert found == pytest.approx(sum(top) / len(top) if top else 0.0)


@pytest.mark.parametrize(
    ("values", "relevant", "options", "over_relevant", "over_ranked"),
    [
        pytest.param([2, 0, 1, 0], [1, 1, 1, 0], NO_ZEROS, 2 / 3, 1, id="two ranked of three"),
        pytest.param([2, 0, 0, 0], [0, 1, 1, 0], NO_ZEROS, 0, 0, id="one ranked, a miss"),
        pytest.param([0, 0, 0, 0], [0, 1, 1, 0], NO_ZEROS, 0, 0, id="nothing ranked"),
        pytest.param([3, 2, 1], [1, 1, 1], {**ORDERED, "skip": (0,)}, 2 / 3, 1, id="one skipped"),
        pytest.param([3, 2, 1], [1, 1, 0], {**ORDERED, "skip": (0,)}, 1 / 2, 1 / 2, id="enough ranked"),
        pytest.param([0, 0, 1], [1, 1, 0], {}, 1 / 2, 1 / 2, id="expected ties rank everything"),
    ],
)
def test_the_two_denominators_of_r_precision_worked_out_by_hand(
    values: list[float],
    relevant: list[int],
    options: dict[str, Any],
    over_relevant: float,
    over_ranked: float,
) -> None:
    assert r_precision([values], [relevant], **options)[0] == pytest.approx(over_relevant)
    assert r_precision([values], [relevant], denominator="relevant", **options)[0] == pytest.approx(
        over_relevant
    )
    assert r_precision([values], [relevant], denominator="ranked", **options)[0] == pytest.approx(over_ranked)


def test_an_undefined_row_is_nan_whatever_the_denominator() -> None:
    values, relevant = [[1.0, 2.0], [math.nan, 1.0], [1.0, 0.0]], [[False, False], [True, True], [True, True]]
    found = r_precision(values, relevant, **NO_ZEROS, denominator="ranked")
    np.testing.assert_array_equal(found, [np.nan, np.nan, 1.0])


def test_an_unknown_denominator_is_refused_with_a_suggestion() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'ranked'"):
        r_precision([[1.0]], [[True]], denominator="rankd")


@each_metric
@given(row=rows(most=12), random=st.randoms(use_true_random=False))
def test_permuting_features_changes_nothing(
    metric: Callable[..., Any], row: tuple[list[int], list[bool]], random: Any
) -> None:
    values, relevant = np.array(row[0]), np.array(row[1])
    order = random.sample(range(len(values)), len(values))
    permuted = metric(values[None, order], relevant[None, order])
    assert permuted == pytest.approx(metric(values[None], relevant[None]))


@each_metric
@pytest.mark.parametrize("scale", [1e-300, 1e-12, 7.0, 1e300])
@pytest.mark.parametrize("ties", ["expected", "ordered", "reversed"])
@given(row=rows(most=12))
def test_a_positive_factor_changes_nothing(
    metric: Callable[..., Any], scale: float, ties: str, row: tuple[list[int], list[bool]]
) -> None:
    values, relevant = np.array([row[0]], dtype=float), [row[1]]
    assert metric(scale * values, relevant, ties) == metric(values, relevant, ties)


@each_metric
@pytest.mark.parametrize("n_relevant", range(1, 6))
def test_an_all_zero_explanation_scores_at_chance(metric: Callable[..., Any], n_relevant: int) -> None:
    placements = itertools.combinations(range(5), n_relevant)
    chance = np.mean(
        [LITERAL[metric]([rank in placement for rank in range(5)], n_relevant) for placement in placements]
    )
    assert metric(np.zeros((1, 5)), [np.arange(5) < n_relevant])[0] == pytest.approx(chance)


@each_metric
@pytest.mark.parametrize("ties", ["ordered", "reversed"])
def test_without_ties_every_rule_gives_the_same(metric: Callable[..., Any], ties: str) -> None:
    rng = np.random.default_rng(0)
    values, relevant = rng.standard_normal((50, 7)), rng.random((50, 7)) < 0.4
    np.testing.assert_allclose(metric(values, relevant, ties), metric(values, relevant))


@pytest.mark.parametrize("largest", [1.0, 1e6, 1e-200])
@pytest.mark.parametrize(("gap", "expected"), [(0.5e-9, 3 / 4), (2e-9, 1 / 2)])
def test_values_closer_than_a_billionth_of_the_largest_are_tied(
    largest: float, gap: float, expected: float
) -> None:
    values = largest * np.array([[1.0, -1.0 + gap, 0.0]])
    assert reciprocal_rank(values, [[False, True, False]])[0] == pytest.approx(expected)


@pytest.mark.parametrize("largest", [1.0, 1e6, 1e-200])
@pytest.mark.parametrize(("share", "expected"), [(0.5e-9, 0), (2e-9, 1 / 2)])
def test_values_under_a_billionth_of_the_largest_are_zero(
    largest: float, share: float, expected: float
) -> None:
    values = largest * np.array([[1.0, share]])
    assert reciprocal_rank(values, [[False, True]], **NO_ZEROS)[0] == expected


@each_metric
@pytest.mark.parametrize("ties", ["expected", "ordered", "reversed"])
@pytest.mark.parametrize(
    ("values", "relevant"),
    [
        pytest.param([2.0, 1.0], [False, False], id="nothing relevant"),
        pytest.param([math.nan, 1.0], [False, True], id="nan"),
        pytest.param([2.0, math.inf], [True, False], id="infinity"),
        pytest.param([-math.inf, 0.0], [True, False], id="minus infinity"),
    ],
)
def test_an_undefined_row_is_nan_and_leaves_the_others_alone(
    metric: Callable[..., Any], ties: str, values: list[float], relevant: list[bool]
) -> None:
    scores = metric([[2.0, 1.0], values, [2.0, 1.0]], [[True, False], relevant, [True, False]], ties)
    np.testing.assert_array_equal(scores, [1.0, np.nan, 1.0])


@each_metric
def test_no_rows_give_no_scores(metric: Callable[..., Any]) -> None:
    assert metric(np.zeros((0, 3)), np.zeros((0, 3), dtype=bool)).shape == (0,)


@pytest.mark.parametrize("metric", [reciprocal_rank, average_precision, r_precision])
def test_two_hundred_tied_features_agree_with_random_tie_breaking(metric: Callable[..., Any]) -> None:
    rng = np.random.default_rng(1)
    values, relevant = rng.integers(0, 4, 200), rng.random(200) < 0.1
    order = np.argsort(-values + rng.random((4000, 200)) * 0.5, axis=1)
    shuffled = relevant[order]
    ranks, found = np.arange(1, 201), shuffled.cumsum(axis=1)
    n_relevant = relevant.sum()
    scores = {
        reciprocal_rank: 1 / (shuffled.argmax(axis=1) + 1),
        average_precision: (found / ranks * shuffled).sum(axis=1) / n_relevant,
        r_precision: found[:, n_relevant - 1] / n_relevant,
    }[metric]
    error = scores.std() / np.sqrt(len(scores))
    assert metric([values], [relevant])[0] == pytest.approx(scores.mean(), abs=4 * error)


@pytest.mark.parametrize("n_relevant", [1, 100, 199])
def test_exact_match_of_two_hundred_tied_features_is_one_over_the_subsets(n_relevant: int) -> None:
    found = exact_match(np.ones((1, 200)), [np.arange(200) < n_relevant])[0]
    assert found == pytest.approx(1 / math.comb(200, n_relevant), rel=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_average_precision_without_ties_is_that_of_scikit_learn(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values, relevant = rng.standard_normal((20, 9)), rng.random((20, 9)) < 0.3
    relevant[:, 0] |= ~relevant.any(axis=1)
    expected = [
        average_precision_score(flags, np.abs(row)) for flags, row in zip(relevant, values, strict=True)
    ]
    np.testing.assert_allclose(average_precision(values, relevant), expected)


@each_metric
@pytest.mark.parametrize(
    ("values", "relevant", "options", "message"),
    [
        pytest.param([1.0, 2.0], [True, False], {}, r"\(rows, features\)", id="one row without brackets"),
        pytest.param([[1.0, 2.0]], [[True]], {}, r"got \(1, 2\) and \(1, 1\)", id="other shapes"),
        pytest.param(np.zeros((2, 0)), np.zeros((2, 0)), {}, r"\(rows, features\)", id="no features"),
        pytest.param([[1.0, 2.0]], [[0.5, 1.0]], {}, "booleans", id="relevant is no flag"),
        pytest.param([[1.0, 2.0]], [[1, 0]], {**ORDERED, "skip": [2]}, "from 0 to 1", id="skip too far"),
        pytest.param([[1.0, 2.0]], [[1, 0]], {**ORDERED, "skip": [-1]}, "from 0 to 1", id="skip negative"),
        pytest.param([[1.0, 2.0]], [[1, 0]], {"skip": [0]}, "need ties=", id="skip, expected"),
        pytest.param([[1.0, 2.0]], [[1, 0]], {"rank_zeros": False}, "need ties=", id="rank_zeros, expected"),
    ],
)
def test_input_that_cannot_be_ranked_is_refused(
    metric: Callable[..., Any], values: Any, relevant: Any, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        metric(values, relevant, **options)


@each_metric
def test_an_unknown_tie_rule_is_refused_with_a_suggestion(metric: Callable[..., Any]) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'ordered'"):
        metric([[1.0]], [[True]], "orderd")


@pytest.mark.parametrize("g", [1020, 1030, 5000])
def test_ties_of_any_number_of_features_are_finite(g: int) -> None:
    relevant = np.zeros((1, g), dtype=bool)
    relevant[0, : g // 2] = True
    halves = sum(0.5**k / k for k in range(1, 60))
    assert reciprocal_rank(np.zeros((1, g)), relevant)[0] == pytest.approx(halves, abs=2e-3)
