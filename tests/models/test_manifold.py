"""On or off the data: against analytic Gaussians, permutation, and models of one rule and of two."""

import itertools
import math
from typing import Any

import numpy as np
import pytest

from xassay.errors import InputError
from xassay.models.manifold import LEAST_ROWS, conditional_rows, off_data_alarm, separability, split_masked
from xassay.types import FloatArray


def equal(p: int, rho: float) -> FloatArray:
    return np.full((p, p), rho) + (1 - rho) * np.eye(p)


def gauss(covariance: FloatArray, n: int, seed: int = 0, mean: Any = None) -> FloatArray:
    centre = np.zeros(len(covariance)) if mean is None else mean
    return np.random.default_rng(seed).multivariate_normal(centre, covariance, n)


# --- separability ---


def test_exchangeable_rows_cannot_be_told_apart() -> None:
    found = [
        separability(gauss(np.eye(4), 150, 2 * k), gauss(np.eye(4), 150, 2 * k + 1), k) for k in range(8)
    ]
    assert abs(np.mean(found) - 0.5) < 0.05
    assert 0.35 < min(found) < max(found) < 0.65


def test_few_exchangeable_rows_scatter_around_a_half() -> None:
    found = [
        separability(gauss(np.eye(3), LEAST_ROWS, 2 * k), gauss(np.eye(3), LEAST_ROWS, 2 * k + 1), k)
        for k in range(8)
    ]
    assert abs(np.mean(found) - 0.5) < 0.1
    assert max(np.abs(np.array(found) - 0.5)) < 0.35


def test_masking_leaves_independent_data_and_not_correlated_ones() -> None:
    found = [separability(*split_masked(gauss(equal(4, rho), 1200))) for rho in (0.0, 0.8, 0.99)]
    assert abs(found[0] - 0.5) < 0.06
    assert 0.65 < found[1] < found[2]
    assert found[2] > 0.85


def test_the_area_is_that_of_the_best_classifier_where_it_is_known() -> None:
    """Two normals one unit apart: P(larger) = Phi(1 / sqrt 2) = .760; trees come near it from below."""
    one, other = gauss(np.eye(1), 600), gauss(np.eye(1), 600, 1, mean=[1.0])
    best = 0.5 * (1 + math.erf(0.5))
    assert best - 0.06 < separability(one, other) < best + 0.02


def test_shares_of_rows_do_not_matter_and_the_seed_fixes_the_value() -> None:
    one, other = gauss(np.eye(2), 300), gauss(np.eye(2), 1500, 1)
    assert abs(separability(one, other) - 0.5) < 0.08
    assert separability(one, other, 3) == separability(one, other, 3)
    assert separability(one, other, 3) != separability(one, other, 4)


def test_missing_values_tell_rows_apart() -> None:
    one, other = gauss(np.eye(3), 200), gauss(np.eye(3), 200, 1)
    other[::2, 1] = np.nan
    assert separability(one, other) > 0.7
    alike = [np.where(rows > 1, np.nan, rows) for rows in (one, gauss(np.eye(3), 200, 2))]
    assert abs(separability(*alike) - 0.5) < 0.1


def test_masked_rows_mix_two_rows_that_nobody_else_has() -> None:
    pool = np.arange(600.0).reshape(150, 4)
    real, mixed = split_masked(pool)
    assert real.shape == mixed.shape == (50, 4)
    origins = mixed // 4  # the row that each value comes from
    assert all(len(set(row)) == 2 for row in origins.tolist())
    used = [*(real[:, 0] // 4).tolist(), *(value for row in origins.tolist() for value in set(row))]
    assert len(used) == len(set(used)) == 150
    np.testing.assert_array_equal(mixed % 4, np.tile(np.arange(4.0), (50, 1)))
    np.testing.assert_array_equal(split_masked(pool)[1], mixed)
    with pytest.raises(InputError, match="two columns and 60 rows at least"):
        split_masked(pool[:59])


@pytest.mark.parametrize(
    ("one", "other", "message"),
    [
        (np.zeros((5, 2)), np.zeros((50, 2)), "5 real and 50 masked rows are too few: give at least 20"),
        (np.zeros((50, 2)), np.zeros((50, 3)), "with the same columns"),
        (np.zeros(50), np.zeros(50), r"must have shape \(rows, columns\)"),
    ],
)
def test_tables_that_do_not_fit_are_refused(one: Any, other: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        separability(one, other)


# --- conditional rows ---

MEAN = np.array([1.0, -2.0, 0.5, 3.0])
COVARIANCE = np.diag([1.0, 2.0, 0.5, 1.0]) @ equal(4, 0.95) @ np.diag([1.0, 2.0, 0.5, 1.0])


def analytic(row: FloatArray, replaced: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean and covariance of the replaced columns given the others, of a Gaussian."""
    s, r = np.flatnonzero(replaced), np.flatnonzero(~replaced)
    slope = COVARIANCE[np.ix_(s, r)] @ np.linalg.inv(COVARIANCE[np.ix_(r, r)])
    mean = MEAN[s] + slope @ (row[r] - MEAN[r])
    return mean, COVARIANCE[np.ix_(s, s)] - slope @ COVARIANCE[np.ix_(r, s)]


SETS = [np.isin(np.arange(4), s) for k in (1, 2, 3) for s in itertools.combinations(range(4), k)]


@pytest.mark.parametrize("replaced", SETS, ids=lambda s: "".join(map(str, np.flatnonzero(s))))
def test_mean_and_covariance_are_those_of_the_gaussian_conditional(replaced: Any) -> None:
    pool = gauss(COVARIANCE, 20000, mean=MEAN)
    row = np.array([2.0, 0.0, 0.5, 4.5])
    found = conditional_rows(row[None], replaced, pool)[0]
    mean, covariance = analytic(row, replaced)
    sd = np.sqrt(np.diag(COVARIANCE)[replaced])
    np.testing.assert_array_equal(found[:, ~replaced], np.tile(row[~replaced], (20000, 1)))
    np.testing.assert_allclose(found[:, replaced].mean(axis=0) / sd, mean / sd, atol=0.03)
    scaled = np.cov(found[:, replaced], rowvar=False).reshape(covariance.shape) / np.outer(sd, sd)
    np.testing.assert_allclose(scaled, covariance / np.outer(sd, sd), atol=0.01)


def test_conditional_shapley_values_of_a_linear_model_are_the_analytic_ones() -> None:
    """Shapley values by their definition, once with drawn rows, once with Gaussian conditional means."""
    pool, weights, row = gauss(COVARIANCE, 20000, mean=MEAN), np.array([1.0, 2.0, -1.0, 0.0]), MEAN + 1.0

    def drawn(replaced: Any) -> float:
        return float((conditional_rows(row[None], replaced, pool)[0] @ weights).mean())

    def exact(replaced: Any) -> float:
        filled = row.copy()
        filled[replaced] = analytic(row, replaced)[0] if not replaced.all() else MEAN
        return float(filled @ weights)

    def shapley(value: Any) -> FloatArray:
        phi = np.zeros(4)
        for order in itertools.permutations(range(4)):
            replaced = np.ones(4, dtype=bool)
            before = value(replaced)
            for j in order:
                replaced[j] = False
                after = value(replaced)
                phi[j] += (after - before) / 24
                before = after
        return phi

    expected = shapley(exact)
    np.testing.assert_allclose(shapley(drawn), expected, atol=0.05)
    # far from the marginal ones: the last column has no weight, and a share all the same
    marginal = weights * (row - MEAN)
    assert np.abs(expected - marginal).max() > 0.5
    assert expected[3] > 0.1


def test_independent_columns_are_replaced_as_in_marginal_masking() -> None:
    pool = gauss(np.eye(3), 20000)
    row, replaced = np.array([3.0, -3.0, 3.0]), np.array([True, False, False])
    found = conditional_rows(row[None], replaced, pool)[0]
    np.testing.assert_allclose(found[:, 0], pool[:, 0], atol=0.1)


def test_rows_with_sets_of_their_own_equal_rows_one_at_a_time() -> None:
    pool = gauss(COVARIANCE, 300, mean=MEAN)
    rows = gauss(COVARIANCE, 12, 1, mean=MEAN)
    sets = np.random.default_rng(0).random((12, 4)) < 0.5
    together = conditional_rows(rows, sets, pool[:40], pool=pool)
    assert together.shape == (12, 40, 4)
    for k in range(12):
        alone = conditional_rows(rows[k : k + 1], sets[k], pool[:40], pool=pool)[0]
        np.testing.assert_allclose(together[k], alone, rtol=1e-12)


def test_units_of_columns_do_not_matter() -> None:
    pool, scale = gauss(COVARIANCE, 300, mean=MEAN), np.array([1e-9, 1.0, -1e6, 3.0])
    sets = np.array([True, False, True, False])
    one = conditional_rows(pool[:5], sets, pool)
    other = conditional_rows(pool[:5] * scale, sets, pool * scale)
    np.testing.assert_allclose(other / scale, one, rtol=1e-9, atol=1e-9)


def test_none_and_all_replaced_are_the_row_and_the_background() -> None:
    pool = gauss(COVARIANCE, 50, mean=MEAN)
    row = np.zeros((1, 4))
    np.testing.assert_array_equal(conditional_rows(row, np.zeros(4, bool), pool)[0], np.zeros((50, 4)))
    np.testing.assert_array_equal(conditional_rows(row, np.ones(4, bool), pool)[0], pool)


def test_a_background_row_given_itself_is_itself() -> None:
    pool = gauss(COVARIANCE, 50, mean=MEAN)
    found = conditional_rows(pool, np.array([True, True, False, False]), pool)
    np.testing.assert_allclose(found[np.arange(50), np.arange(50)], pool, rtol=1e-12)


def test_codes_constants_and_holes_are_taken_as_they_are_and_tell_nothing() -> None:
    rng = np.random.default_rng(0)
    base = gauss(equal(2, 0.9), 200)
    codes = (base[:, :1] > 0).astype(float)
    holes = np.where(rng.random((200, 1)) < 0.1, np.nan, base[:, :1])
    pool = np.hstack([base, codes, np.full((200, 1), 7.0), holes])
    numeric = np.array([True, True, False, True, True])
    row = np.array([[2.0, 2.0, 1.0, 9.0, 2.0]])
    replaced = np.array([False, True, True, True, True])
    found = conditional_rows(row, replaced, pool, numeric)[0]
    np.testing.assert_array_equal(found[:, 2:], pool[:, 2:])
    alone = conditional_rows(row[:, :2], replaced[:2], base)[0]
    np.testing.assert_allclose(found[:, 1], alone[:, 1], rtol=1e-9)
    # a missing value of the row itself shifts nothing
    row[0, 0] = np.nan
    np.testing.assert_allclose(conditional_rows(row, replaced, pool, numeric)[0][:, 1], pool[:, 1])


def test_conditional_rows_stay_on_the_data_where_marginal_ones_leave_it() -> None:
    data = gauss(equal(4, 0.95), 900)
    real, rows, pool = data[:300], data[300:600], data[600:]
    sets = np.random.default_rng(0).random((300, 4)) < 0.5
    own = np.arange(300)
    conditional = conditional_rows(rows, sets, pool)[own, own]
    assert separability(real, np.where(sets, pool, rows)) > 0.75
    assert abs(separability(real, conditional) - 0.5) < 0.07


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"subsets": np.ones(3, bool)}, r"subsets must have shape \(2, 4\) or \(4,\), not \(3,\)"),
        ({"background": np.zeros((5, 3))}, "with the same columns"),
        ({"pool": np.zeros(4)}, "with the same columns"),
        ({"numeric": np.ones(3, bool)}, r"numeric must have shape \(4,\), not \(3,\)"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(changed: dict[str, Any], message: str) -> None:
    given = {"X": np.zeros((2, 4)), "subsets": np.ones(4, bool), "background": np.zeros((5, 4)), **changed}
    with pytest.raises(InputError, match=message):
        conditional_rows(**given)


# --- the alarm ---

DATA = np.hstack([gauss(equal(5, 0.95), 1500), gauss(np.eye(1), 1500, 1)])
REAL, MASKED = split_masked(DATA[:900])


def alarm(model: Any, real: FloatArray = REAL, mixed: FloatArray = MASKED, seed: int = 0) -> Any:
    return off_data_alarm(real, model(real), mixed, model(mixed), seed)


def two_faced(inner: Any, outer: Any, data: FloatArray, seed: int = 0) -> Any:
    """Slack et al. 2020: a forest that was fitted to tell real rows from masked ones picks the rule."""
    from sklearn.ensemble import RandomForestClassifier

    rng = np.random.default_rng(seed)
    rows = np.repeat(data, 3, axis=0)
    chosen = rng.random(rows.shape) < 0.5
    mixed = np.where(chosen, data[rng.integers(len(data), size=len(rows))], rows)
    forest = RandomForestClassifier(100, class_weight="balanced", min_samples_leaf=5, random_state=seed)
    forest.fit(np.vstack([data, mixed]), np.repeat([1, 0], [len(data), len(mixed)]))
    return lambda t: np.where(forest.predict(t) == 1, inner(t), outer(t)).astype(float)


HONEST: dict[str, Any] = {
    "linear": lambda t: t @ [1.0, 2.0, -1.0, 0.5, 0.0, 1.0],
    "a difference of like columns": lambda t: 5 * t[:, 0] - 5 * t[:, 1] + t[:, 5],
    "additive": lambda t: np.sin(2 * t[:, 0]) + t[:, 1] ** 2,
    "a product": lambda t: t[:, 0] * t[:, 1],
    "the size of a difference": lambda t: np.abs(t[:, 0] - t[:, 1]),
    "a distance": lambda t: np.einsum("rp,pq,rq->r", t[:, :5], np.linalg.inv(equal(5, 0.95)), t[:, :5]),
    "signs that differ": lambda t: ((t[:, 0] > 0) ^ (t[:, 1] > 0)).astype(float),
}


@pytest.mark.parametrize("case", HONEST)
def test_no_alarm_for_one_rule(case: str) -> None:
    found = alarm(HONEST[case])
    assert not found.alarm
    assert min(found.rows, found.masked_rows) > 100


def test_a_surrogate_of_real_rows_alone_would_cry_wolf() -> None:
    """Why the way back is asked for: from real rows alone an honest distance looks like a trick."""
    found = alarm(HONEST["a distance"])
    assert found.r2_on > 0.9
    assert found.r2_off < 0
    assert found.r2_back > 0.2


@pytest.mark.parametrize("kind", ["forest", "boosting", "isolation forest"])
def test_no_alarm_for_fitted_models(kind: str) -> None:
    from sklearn import ensemble
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    if kind == "isolation forest":
        forest = ensemble.IsolationForest(random_state=0).fit(X)
        model: Any = lambda t: -forest.score_samples(t)  # noqa: E731
    else:
        chosen = ensemble.RandomForestClassifier if kind == "forest" else ensemble.GradientBoostingClassifier
        fitted = chosen(n_estimators=50, random_state=0).fit(X, y)
        model = lambda t: fitted.predict_proba(t)[:, 1]  # noqa: E731
    assert not alarm(model, *split_masked(X)).alarm


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("outer", ["an unrelated column", "a constant"])
def test_a_rule_for_real_rows_and_one_for_masked_ones_raise_it(outer: str, seed: int) -> None:
    rules = {
        "an unrelated column": (lambda t: t[:, 0] > 0, lambda t: t[:, 5] > 0),
        "a constant": (lambda t: t[:, 0], lambda t: np.full(len(t), 3.0)),
    }
    found = alarm(two_faced(*rules[outer], DATA, seed), seed=seed)
    assert found.alarm
    assert found.r2_off < 0.3 * found.r2_on
    assert found.r2_back < 0.3 * found.r2_masked


def test_nothing_is_said_where_no_rows_can_be_told_apart_or_nothing_varies() -> None:
    constant = alarm(lambda t: np.zeros(len(t)))
    assert not constant.alarm
    assert np.isnan([constant.r2_on, constant.r2_off, constant.r2_masked, constant.r2_back]).all()
    holes = alarm(lambda t: np.where(np.arange(len(t)) < 10, t[:, 0], np.nan))
    assert not holes.alarm
    assert holes.rows == 10


def test_answers_are_one_a_row() -> None:
    with pytest.raises(InputError, match=r"answers must be one a row: 300 and 300, not \(2,\) and \(300,\)"):
        off_data_alarm(REAL, np.zeros(2), MASKED, np.zeros(300))
