"""Each measure on small models with known answers, without explainers where they are not the point."""

import shutil
from importlib import resources
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import polars as pl
import pytest

import xassay
from measured import (
    BENT,
    LINE,
    REFUSING,
    SLOPES,
    N,
    X,
    bent,
    changes,
    exact,
    explained,
    linear,
    scored,
    settings,
    subject_of,
    values,
)
from xassay import metrics
from xassay.errors import InputError
from xassay.explainers import record
from xassay.metrics.orders import path_grid
from xassay.processes import Shared
from xassay.studies.check.explained import Explained
from xassay.studies.check.explaining import CODE, ExplainCell
from xassay.studies.check.measures import measure, measures
from xassay.studies.check.measures.background import half_of_pool
from xassay.studies.check.measures.base import Context, Scores, chunks
from xassay.studies.check.measures.fidelity import N_FITS, sets_of
from xassay.studies.check.measures.placebo import placebo_columns
from xassay.studies.check.measures.planted import chance_of
from xassay.studies.check.measures.stability import RADII, neighbours
from xassay.studies.check.planting import Planted
from xassay.studies.check.subject import Subject
from xassay.studies.check.variants import BASE, Variant, as_the_user
from xassay.studies.kit import code
from xassay.types import Explanation, FloatArray

# fidelity


def test_fidelity_of_exact_values_of_a_line() -> None:
    found = scored("fidelity", LINE, exact(LINE))
    for metric, expected in {
        "fidelity": 1, "fidelity_q10": 1, "fidelity_q50": 1, "rows_right": 1, "alignment": 1,
        "fidelity_mean_base": 1, "sensitivity_n": 1, "faithfulness_correlation": 1, "masking_rmse": 0,
        "fidelity_pooled": 0, "completeness_gap": 0, "masking_skill": 0,
    }.items():  # fmt: skip
        np.testing.assert_allclose(values(found[metric]), expected, atol=1e-7)
    assert not any(one.failed.any() for one in found.values())
    np.testing.assert_array_equal(found["fidelity"].rows, LINE.row_ids)


def shapley_of(subject: Subject, model: Any, background: FloatArray) -> FloatArray:
    """Shapley values of the mean over some background rows, by all orders of the columns."""

    def game(row: FloatArray, kept: Any) -> float:
        return float(model(np.where(kept, row, background)).mean())

    return np.array([metrics_of_game(row, game) for row in subject.X])


def centred(phi: FloatArray) -> FloatArray:
    return np.asarray(phi - phi.mean(axis=1, keepdims=True))


def length(phi: FloatArray) -> FloatArray:
    return np.asarray(np.sqrt((phi**2).sum(axis=1)))


def cosine(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.asarray((a * b).sum(axis=1) / length(a) / length(b))


K = 3 / 11
"""Of four columns: 1 / (p (1/3 + 1/4 + 1/3))."""


def test_every_score_of_fidelity_by_direct_computation() -> None:
    """Of all sets what is judged by are the Shapley values: here by all orders of the columns."""
    rng = np.random.default_rng(1)
    true = shapley_of(BENT, bent, BENT.background)
    # of each error a row or more: far off, off in the sum alone, near, of the wrong sign
    said = true + rng.normal(size=(N, 4))
    said[:3] = true[:3] + 0.1 * length(true[:3])[:, None]
    said[3:5] = 1.1 * true[3:5]
    said[5] = -true[5]
    sets = sets_of(BENT, settings(), BENT.row_ids)
    both = np.concatenate([sets.chosen, ~sets.chosen], axis=1)
    drops, total = changes(BENT, bent, both), bent(BENT.X) - bent(BENT.background).mean()
    claimed = np.einsum("rsp,rp->rs", both.astype(float), said)
    found = scored("fidelity", BENT, said)
    n = sets.chosen.shape[1]
    symmetric = (drops[:, :n] + total[:, None] - drops[:, n:]) / 2
    even = np.repeat(total[:, None] / 4, 4, axis=1)
    shuffled = metrics.shuffled(said, BENT.row_ids, 0, 1)[0]
    tellable = length(centred(true)) ** 2 > 0.04 * total**2 / 4
    apart, size = length(centred(said - true)) ** 2, np.where(tellable, length(centred(true)) ** 2, np.nan)
    much = np.sqrt(apart) > 0.2 * np.maximum(length(true), length(true).mean())
    fidelity = np.where(~tellable & much, 0.0, np.clip(1 - apart / size, 0, 1))
    aligned = np.minimum(cosine(centred(said), centred(true)), cosine(said, true))
    aligned = np.where(tellable, aligned, np.where(much, 0.0, np.nan))
    gap = said.sum(axis=1) - total
    right = (fidelity >= 0.8) & (np.abs(gap) <= 0.2 * np.sqrt(4) * length(true))
    of_zero = shapley_of(BENT, bent, np.zeros((1, 4)))

    def losses(phi: FloatArray) -> FloatArray:
        return ((np.einsum("rsp,rp->rs", both.astype(float), phi) - drops) ** 2).mean(axis=1)

    expected = {
        "fidelity": (fidelity,),
        "rows_right": (right,),
        "fidelity_q10": (fidelity,),
        "fidelity_pooled": (K * apart, K * size),
        "alignment": (aligned,),
        "masking_rmse": (losses(said),),
        "masking_skill": (losses(said), (drops**2).mean(axis=1)),
        "masking_skill_even": (losses(said), losses(even)),
        "masking_skill_shuffled": (losses(said), losses(shuffled)),
        "completeness_gap": (gap**2, np.maximum(total**2, 0.04 * length(true) ** 2)),
        "gap_zero_base": (
            (said.sum(axis=1) - bent(BENT.X)) ** 2,
            np.maximum(bent(BENT.X) ** 2, 0.04 * length(of_zero) ** 2),
        ),
        "best_scale": ((claimed[:, :n] * symmetric).mean(axis=1), (claimed[:, :n] ** 2).mean(axis=1)),
        "sensitivity_n": (metrics.sensitivity_n(said, both, drops),),
        "faithfulness_correlation": (metrics.faithfulness_correlation(said, both, drops),),
    }
    for metric, columns in expected.items():
        np.testing.assert_allclose(found[metric].columns, columns, atol=1e-9, err_msg=metric)
    assert found["masking_rmse"].unit == pytest.approx((drops**2).mean())
    assert found["fidelity_pooled"].unit == pytest.approx(K * np.nanmax(size))
    # each rule decides some row
    assert 0 < values(found["rows_right"]).mean() < 1
    assert ((fidelity >= 0.8) & ~right).any()
    assert (cosine(said, true) < cosine(centred(said), centred(true)) - 0.01).any()
    assert (cosine(said, true) > cosine(centred(said), centred(true)) + 0.01).any()
    assert (total**2 < 0.04 * length(true) ** 2).any()


def alike_and_apart() -> tuple[Subject, FloatArray, float]:
    """Rows of a line: two whose columns matter alike, two without a change, others; and their usual length.

    The background is whole numbers about 0, so that of the row of zeros all changes are 0 and not rounding.
    """
    rng = np.random.default_rng(3)
    true, half = rng.normal(size=(N, 4)), rng.integers(-3, 4, (10, 4)).astype(float)
    true[:2], true[2:4] = 2.0, 0.0
    subject = attrs.evolve(LINE, X=true / SLOPES, background=np.vstack([half, -half]))
    return subject, true, float(length(true).mean())


@pytest.mark.parametrize(("claimed", "expected"), [(0.0, np.nan), (0.19, np.nan), (0.21, 0.0)])
def test_much_claimed_where_nothing_can_be_told_is_wrong(claimed: float, expected: float) -> None:
    """From a fifth of the row's own length, or of the usual one, on."""
    subject, true, usual = alike_and_apart()
    said = true.copy()
    said[:4] += claimed * np.array([4, 4, usual, usual])[:, None] * np.array([1, -1, 0, 0]) / np.sqrt(2)
    assert usual < 4
    found = scored("fidelity", subject, said)
    np.testing.assert_array_equal(values(found["fidelity"])[:4], np.full(4, expected))
    np.testing.assert_allclose(values(found["fidelity"])[4:], 1)
    np.testing.assert_array_equal(values(found["rows_right"])[:4], np.full(4, expected))
    np.testing.assert_array_equal(values(found["alignment"])[:4], np.full(4, expected))
    assert not found["fidelity"].failed.any()


@pytest.mark.parametrize(
    ("added", "right"), [(0.0, 1.0), (0.19, 1.0), (-0.19, 1.0), (0.21, 0.0), (-0.21, 0.0)]
)
def test_a_right_row_adds_up_too(added: float, right: float) -> None:
    """A sum that is off by a fifth of root p times the row's length: fidelity does not see it."""
    true = exact(LINE)
    found = scored("fidelity", LINE, true + added * np.sqrt(4) * length(true)[:, None] / 4)
    np.testing.assert_allclose(values(found["fidelity"]), 1)
    np.testing.assert_array_equal(values(found["rows_right"]), np.full(N, right))


@pytest.mark.parametrize("base", ["zero", "mean"])
def test_values_that_start_from_a_single_row_are_recognised(base: str) -> None:
    start = np.zeros(4) if base == "zero" else BENT.background.mean(axis=0)
    said = shapley_of(BENT, bent, start[None])
    found = scored("fidelity", BENT, said)
    np.testing.assert_allclose(values(found[f"fidelity_{base}_base"]), 1, atol=1e-6)
    np.testing.assert_allclose(values(found[f"gap_{base}_base"]), 0, atol=1e-12)
    # a total below a tenth of what such attributions can sum to is taken as so large
    total = (bent(BENT.X) - bent(start[None])[0]) ** 2
    least = 0.01 * 4 * (said**2).sum(axis=1)
    np.testing.assert_allclose(found[f"gap_{base}_base"].columns[1], np.maximum(total, least))
    assert (total < least).any()
    assert (total > least).any()
    assert values(found["fidelity"]).mean() < 0.999


def metrics_of_game(row: FloatArray, game: Any) -> FloatArray:
    from itertools import permutations

    phi, p = np.zeros(len(row)), len(row)
    for order in permutations(range(p)):
        kept = np.zeros(p, dtype=bool)
        for j in order:
            before = game(row, kept)
            kept[j] = True
            phi[j] += game(row, kept) - before
    return phi / 24


def of_model(subject: Subject) -> dict[str, Any]:
    own = measure("fidelity")
    answers = own.ask(subject, settings(), slice(0, len(subject.X)))
    return {one.metric: one for one in own.of_model(subject, settings(), answers)}


def parity() -> Subject:
    bits = np.random.default_rng(0).integers(0, 2, (200, 4)).astype(float)
    return subject_of(lambda rows: rows[:, :3].sum(axis=1) % 2, bits)


def test_what_sums_can_tell_of_a_model() -> None:
    """Of a line all; of a product of three that is centred, less; of parity next to nothing."""
    found = {name: of_model(s) for name, s in (("line", LINE), ("bent", BENT), ("parity", parity()))}
    for one in found.values():
        assert {metric: series.statistic for metric, series in one.items()} == {
            "additive_share": "part",
            "masking_skill_ceiling": "skill",
        }
    shares = {name: one["additive_share"].columns for name, one in found.items()}
    np.testing.assert_allclose(shares["line"][0] / shares["line"][1], 1, rtol=1e-9)
    assert (shares["bent"][0] / shares["bent"][1]).mean() < 0.97
    assert shares["parity"][0].sum() / shares["parity"][1].sum() < 0.5
    # what can be told is counted in all rows, whether or not a column matters more than another
    np.testing.assert_allclose(
        shares["bent"][0], K * length(centred(shapley_of(BENT, bent, BENT.background))) ** 2
    )
    subject, true, _ = alike_and_apart()
    alike = of_model(subject)["additive_share"]
    np.testing.assert_allclose(alike.columns[0], K * length(centred(true)) ** 2, atol=1e-9)
    assert list(measure("fidelity").of_model(LINE, settings(), None)) == []


def test_the_ceiling_of_masking_skill_is_that_of_the_best_sum() -> None:
    """By the normal equations; and nothing near the best sum, nor an explanation, comes closer."""
    one = of_model(BENT)["masking_skill_ceiling"]
    sets = sets_of(BENT, settings(), BENT.row_ids)
    both = np.concatenate([sets.chosen, ~sets.chosen], axis=1).astype(float)
    drops = changes(BENT, bent, both > 0)
    gram = np.einsum("rsp,rsq->rpq", both, both)
    best = np.linalg.solve(gram, np.einsum("rsp,rs->rp", both, drops)[:, :, None])[:, :, 0]

    def losses(phi: FloatArray) -> FloatArray:
        return ((np.einsum("rsp,rp->rs", both, phi) - drops) ** 2).mean(axis=1)

    np.testing.assert_allclose(one.columns, [losses(best), (drops**2).mean(axis=1)], rtol=1e-9)
    moves = 0.1 * np.random.default_rng(0).normal(size=(20, N, 4))
    for said in (*(best + moves), shapley_of(BENT, bent, BENT.background), np.zeros((N, 4))):
        assert (one.columns[0] < losses(said)).all()
    line = of_model(LINE)["masking_skill_ceiling"]
    np.testing.assert_allclose(line.columns[0], 0, atol=1e-12)
    assert (line.columns[1] > 0).all()


def test_the_energy_below_is_that_of_all_interactions() -> None:
    """The mean over sizes of the variance of v among sets of one size, sizes 1 to 3 by the kernel."""
    from itertools import combinations

    expected = np.zeros(N)
    for size, share in ((1, 4 / 11), (2, 3 / 11), (3, 4 / 11)):  # 1/3, 1/4, 1/3
        chosen = [np.isin(range(4), some) for some in combinations(range(4), size)]
        same = np.repeat(np.array(chosen)[None], N, axis=0)
        expected += share * changes(BENT, bent, same).var(axis=1)
    np.testing.assert_allclose(of_model(BENT)["additive_share"].columns[1], expected)


def test_a_model_without_order_tells_sums_nothing() -> None:
    flat = subject_of(lambda rows: np.where(rows[:, 0] > 100, 1.0, 0.0) + 0 * rows[:, 0])
    for one in of_model(flat).values():
        np.testing.assert_array_equal(one.columns, np.zeros((2, N)))
    # a model that never changes has no size to call a claim large by
    for said in (np.ones((N, 4)), np.eye(4)[np.zeros(N, dtype=int)]):
        found = scored("fidelity", flat, said)
        assert np.isnan(values(found["fidelity"])).all()
        assert np.isnan(values(found["rows_right"])).all()


def test_without_an_answer_nothing_is_known_of_which_columns_a_row_needs() -> None:
    both = explained(REFUSING, np.hstack([exact(LINE), np.ones((N, 4))]))
    found = scored("placebo", REFUSING, exact(LINE), {Variant("placebo", measure="placebo"): both})
    assert np.flatnonzero(np.isnan(values(found["placebo_share"]))).tolist() == [3]
    answers = measure("placebo").ask(LINE, settings(), slice(0, N))
    cut = pl.concat([answers.head(2), answers.select("row").slice(2)], how="diagonal")
    variant = {
        Variant("placebo", measure="placebo"): explained(LINE, np.hstack([exact(LINE), np.ones((N, 4))]))
    }
    found = scored("placebo", LINE, exact(LINE), variant, known={"placebo": cut})
    assert np.isnan(values(found["placebo_share"])).tolist() == [False, False] + [True] * (N - 2)


@pytest.mark.parametrize("name", ["fidelity", "causal", "removal", "placebo", "stability"])
def test_rows_that_the_model_refuses_fail_alone_and_say_why(name: str) -> None:
    own = measure(name)
    if name == "removal":
        frame = own.follow(REFUSING, settings(), slice(0, N), exact(LINE))
    else:
        frame = own.ask(REFUSING, settings(), slice(0, N))
    assert "not in the mood" in frame["error"][3]
    assert frame["row"].to_list() == LINE.row_ids.tolist()
    said = [k for k, error in enumerate(frame["error"]) if error is not None]
    assert said == ([3, 5] if name in ("fidelity", "causal", "data") else [3])


def test_failed_rows_are_those_of_the_explainer_and_rows_without_an_answer_are_undefined() -> None:
    """The model gave no answer for rows 3 and 5: not even a failure there is the explainer's."""
    base = explained(REFUSING, Explanation(exact(LINE), errors={0: "lost", 3: "lost too"}))
    found = scored("fidelity", REFUSING, base)
    assert len(found) > 10
    for one in found.values():
        assert np.flatnonzero(one.failed).tolist() == [0]
        assert np.flatnonzero(~one.defined).tolist() == [0, 3, 5]
        assert one.reason == "lost"


def test_a_failure_where_the_model_gave_no_answer_is_not_the_explainers_in_removal() -> None:
    asked = {"removal": measure("removal").follow(REFUSING, settings(), slice(0, N), exact(LINE))}
    base = explained(REFUSING, Explanation(exact(LINE), errors={0: "lost", 3: "lost too"}))
    found = scored("removal", REFUSING, base, follow_ups=asked)
    assert len(found) == 6
    for one in found.values():
        assert np.flatnonzero(one.failed).tolist() == [0]
        assert one.reason == "lost"
    assert np.flatnonzero(~found["comprehensiveness"].defined).tolist() == [0, 3, 5]
    for one in scored("removal", REFUSING, exact(LINE), follow_ups=asked).values():
        assert "not in the mood" in one.reason


def test_the_models_reason_is_given_where_the_explainer_has_none() -> None:
    for one in scored("fidelity", REFUSING, exact(LINE)).values():
        assert not one.failed.any()
        assert np.flatnonzero(~one.defined).tolist() == [3, 5]
        assert "not in the mood" in one.reason
    for one in of_model(REFUSING).values():
        assert np.flatnonzero(one.failed).tolist() == [3, 5]


@pytest.mark.parametrize(
    "nothing",
    [
        np.nan,
        np.inf,
    ],
)
def test_rows_without_a_finite_score_at_replaced_columns_are_refused(nothing: float) -> None:
    """The model knows row 2 itself, and nothing that is like it in the first column only."""

    def picky(rows: Any) -> Any:
        near = (rows[:, 0] == LINE.X[2, 0]) & (rows != LINE.X[2]).any(axis=1)
        return np.where(near, nothing, linear(rows))

    subject = attrs.evolve(LINE, score=attrs.evolve(LINE.score, answer=picky))
    frame = measure("fidelity").ask(subject, settings(), slice(0, N))
    assert frame["error"][2] == "ExplainerError: no finite score on rows with replaced columns"
    assert frame["error"].null_count() == N - 1
    found = scored("fidelity", subject, exact(LINE))["fidelity"]
    assert np.flatnonzero(np.isnan(values(found))).tolist() == [2]
    assert not found.failed.any()


def test_a_row_of_zeros_need_not_be_one_that_the_model_takes() -> None:
    def picky(rows: Any) -> Any:
        return np.where((rows == 0).any(axis=1), np.nan, linear(rows))

    subject = attrs.evolve(LINE, score=attrs.evolve(LINE.score, answer=picky))
    assert measure("fidelity").ask(subject, settings(), slice(0, N))["error"].is_null().all()
    found = scored("fidelity", subject, exact(LINE))
    np.testing.assert_allclose(values(found["fidelity"]), 1)
    np.testing.assert_allclose(values(found["fidelity_mean_base"]), 1)
    assert np.isnan(values(found["fidelity_zero_base"])).all()


def test_other_fits_are_repeats_of_fidelity_alone() -> None:
    own, others = exact(LINE), [exact(LINE) * factor for factor in (1.2, 1.4)]
    given = {Variant("fit", k + 1, "fidelity"): explained(LINE, one) for k, one in enumerate(others)}
    found = scored("fidelity", LINE, own, given)
    for repeat, quality in zip(found["fidelity"].repeats, (1, 0.96, 0.84), strict=True):
        np.testing.assert_allclose(repeat[0], quality, atol=1e-9)
    missed = [repeat[0] / repeat[1] for repeat in found["fidelity_pooled"].repeats]
    np.testing.assert_allclose(missed, np.repeat([[0], [0.04], [0.16]], N, axis=1), atol=1e-9)
    assert found["alignment"].repeats == ()
    assert scored("fidelity", LINE, own)["fidelity"].repeats == ()


def test_surrogates_are_fitted_again_and_nobody_else() -> None:
    own = measure("fidelity")
    maple = list(own.variants(LINE, settings(), record("maple"), {}))
    assert [variant.number for variant in maple] == list(range(1, N_FITS))
    assert list(own.variants(LINE, settings(), record("lime"), {})) == []
    seeds = {own.asked(LINE, settings(), record("maple"), one, slice(0, 3)).seed for one in maple}
    assert len(seeds) == N_FITS - 1
    assert as_the_user(LINE, settings(), record("maple"), slice(0, 3)).seed not in seeds


def test_a_single_column_is_judged_by_its_own_change() -> None:
    alone = subject_of(lambda rows: rows[:, 0], X[:, :1])
    found = scored("fidelity", alone, np.ones((N, 1)))
    v = alone.X[:, 0] - alone.background[:, 0].mean()
    expected = np.clip(1 - (v - 1) ** 2 / v**2, 0, 1)
    np.testing.assert_allclose(values(found["fidelity"]), expected, atol=1e-9)
    np.testing.assert_allclose(found["fidelity_pooled"].columns, [(v - 1) ** 2, v**2], atol=1e-9)
    np.testing.assert_allclose(values(found["alignment"]), np.sign(v))
    right = (expected >= 0.8) & (np.abs(v - 1) <= 0.2 * np.abs(v))
    np.testing.assert_array_equal(values(found["rows_right"]), right)
    assert ((expected > 0) & (expected < 1)).any()
    assert (expected == 0).any()
    assert not found["fidelity"].failed.any()
    own = scored("fidelity", alone, v[:, None])
    np.testing.assert_allclose(values(own["fidelity"]), 1)
    np.testing.assert_array_equal(values(own["rows_right"]), np.ones(N))


def test_no_answers_and_no_explanations_give_no_score() -> None:
    for name in sorted(set(measures()) - {"planted", "data"}):
        assert scored(name, LINE) == {}
    empty = Context(LINE, settings(), {}, {BASE: explained(LINE, exact(LINE))}, {}, None)
    for name in ("fidelity", "causal", "data", "removal", "placebo", "stability", "background"):
        assert list(measure(name).series(empty)) == []


# causal


def test_slopes_of_a_line_hold_and_wrong_ones_miss_by_their_error() -> None:
    slopes = np.tile(SLOPES, (N, 1))
    right = Explanation(slopes, coefficients=slopes, intercepts=np.full(N, 7.0))
    wrong = Explanation(slopes, coefficients=slopes + np.eye(4)[0], intercepts=7.0 - LINE.X[:, 0])
    answers = measure("causal").ask(LINE, settings(), slice(0, N))
    points = np.array(answers["points"].to_list()).reshape(N, 2, 5, 4)
    steps = (points - LINE.X[:, None, None]) / LINE.space.spreads
    assert steps[:, 0].std() == pytest.approx(0.1, rel=0.2)
    assert steps[:, 1].std() == pytest.approx(0.25, rel=0.2)
    for given, offset in ((right, 0.0), (wrong, 1.0)):
        found = scored("causal", LINE, explained(LINE, given))
        for s, sigma in enumerate((0.1, 0.25)):
            moved = points[:, s] - LINE.X[:, None]
            own = offset * (moved[:, :, 0] ** 2).mean(axis=1)
            nothing = ((moved @ SLOPES) ** 2).mean(axis=1)
            np.testing.assert_allclose(values(found["causal_rmse", sigma]), own, atol=1e-12)
            np.testing.assert_allclose(found["causal_skill", sigma].columns, [own, nothing], atol=1e-12)
            assert found["causal_rmse", sigma].unit == pytest.approx(nothing.mean())


def test_attributions_have_no_slopes() -> None:
    assert scored("causal", LINE, exact(LINE)) == {}


# removal


def test_removal_by_direct_computation() -> None:
    said = np.random.default_rng(2).normal(size=(N, 4))
    own, grid = measure("removal"), path_grid(4)
    frame = own.follow(BENT, settings(), slice(0, N), said)
    found = scored("removal", BENT, said, follow_ups={"removal": frame})
    total = bent(BENT.X) - bent(BENT.background).mean()
    for r, row in enumerate(BENT.X):
        sign = np.sign(total[r])

        def away(chosen: Any, row: FloatArray = row) -> FloatArray:
            mixed = np.where(np.isin(range(4), chosen), BENT.background, row)
            return bent(row[None])[0] - bent(mixed)

        signed, absolute = np.argsort(-sign * said[r]), np.argsort(-np.abs(said[r]))
        removed = [away(signed[:k]).mean() for k in grid]
        kept = [away(signed[k:]).mean() for k in grid]
        deletion = np.trapezoid(sign * (total[r] - np.array([0, *removed, total[r]])), [0, *grid / 4, 1])
        insertion = np.trapezoid(sign * (total[r] - np.array([total[r], *kept, 0])), [0, *grid / 4, 1])
        expected = {
            "comprehensiveness": sign * np.mean(removed),
            "sufficiency": sign * np.mean(kept),
            "deletion_area": deletion,
            "insertion_area": insertion,
            "pgi": np.mean([np.abs(away(absolute[:k])).mean() for k in grid]),
            "pgu": np.mean([np.abs(away(absolute[k:])).mean() for k in grid]),
        }
        for metric, value in expected.items():
            assert values(found[metric])[r] == pytest.approx(value), metric


def test_removal_of_some_rows_is_scored_on_these() -> None:
    frame = measure("removal").follow(BENT, settings(), slice(2, 5), exact(BENT)[2:5])
    found = scored("removal", BENT, exact(BENT), follow_ups={"removal": frame})
    np.testing.assert_array_equal(found["pgi"].rows, BENT.row_ids[2:5])
    whole = measure("removal").follow(BENT, settings(), slice(0, N), exact(BENT))
    assert frame.equals(whole[2:5])


# placebos


def test_placebos_are_shuffled_copies_and_real_columns_stay() -> None:
    own, seven = measure("placebo"), subject_of(lambda rows: rows[:, 0], np.hstack([X, X[:, :3] ** 2]))
    for subject, k in ((LINE, 4), (seven, 5)):
        p = subject.X.shape[1]
        asked = own.asked(subject, settings(), record("lime"), Variant("placebo"), slice(2, 6))
        plain = as_the_user(subject, settings(), record("lime"), slice(2, 6))
        assert asked.placebo_of == placebo_columns(p, 0)
        assert asked.n_placebos == len(set(asked.placebo_of)) == k
        np.testing.assert_array_equal(asked.X[:, :p], plain.X)
        np.testing.assert_array_equal(asked.background[:, :p], plain.background)
        for place, j in enumerate(asked.placebo_of):
            copy = asked.background[:, p + place]
            np.testing.assert_array_equal(np.sort(copy), np.sort(plain.background[:, j]))
            assert not np.array_equal(copy, plain.background[:, j])
            assert np.isin(asked.X[:, p + place], plain.background[:, j]).all()
        again = own.asked(subject, settings(), record("lime"), Variant("placebo"), slice(3, 4))
        np.testing.assert_array_equal(again.X, asked.X[1:2])


def test_placebo_scores_by_hand() -> None:
    """A line of two columns of four: weight 1 on each real column, and half as much on each placebo."""
    subject = subject_of(lambda rows: rows[:, 0] + rows[:, 1])
    real = np.tile([4.0, 3.0, 0.0, 0.0], (N, 1))
    for placebo, share, top, after in (
        (0.0, 0.0, 0.0, 1.0),
        (1.0, 4 / 11, 0.0, 1.0),
        (3.5, 14 / 21, 0.5, 0.5),
    ):
        both = explained(subject, np.hstack([real, np.full((N, 4), placebo)]))
        found = scored("placebo", subject, real, {Variant("placebo", measure="placebo"): both})
        np.testing.assert_allclose(values(found["placebo_share"]), share)
        np.testing.assert_allclose(values(found["noise_share"]), top)
        np.testing.assert_allclose(found["ela"].columns, [np.full(N, after), np.ones(N)])


def test_columns_are_used_that_change_the_score_alone() -> None:
    subject = subject_of(lambda rows: 1e6 + rows[:, 0] + (rows[:, 1] > 0.5) + 1e-12 * rows[:, 2])
    frame = measure("placebo").ask(subject, settings(), slice(0, N))
    assert np.array(frame["used"].to_list()).tolist() == [[True, True, False, False]] * N
    assert frame["error"].is_null().all()


def test_where_no_column_matters_there_is_no_weight_to_misplace() -> None:
    flat = subject_of(lambda rows: np.where(rows[:, 0] > 100, 1.0, 0.0))
    both = explained(flat, np.ones((N, 8)))
    found = scored("placebo", flat, np.ones((N, 4)), {Variant("placebo", measure="placebo"): both})
    assert np.isnan(values(found["placebo_share"])).all()


# stability


def test_neighbours_are_as_far_as_said() -> None:
    for number, sigma in enumerate((0.001, 0.1, 0.1, 0.25, 0.25)):
        moved = neighbours(LINE, 0, number, slice(0, N))
        steps = (moved - LINE.X) / LINE.space.spreads
        assert steps.std() == pytest.approx(sigma, rel=0.35)
        np.testing.assert_array_equal(neighbours(LINE, 0, number, slice(2, 4)), moved[2:4])
    one, two = (neighbours(LINE, 0, number, slice(0, N)) for number in (1, 2))
    assert not np.allclose(one, two)


def test_whole_numbers_are_not_moved() -> None:
    import pandas as pd

    data = pd.DataFrame(X, columns=list("abcd"))
    data[["c", "d"]] = np.round(3 * data[["c", "d"]]).astype(int)
    subject = subject_of(lambda table: linear(table.to_numpy()), data)
    moved = neighbours(subject, 0, 3, slice(0, N))
    np.testing.assert_array_equal(moved[:, 2:], subject.X[:, 2:])
    assert (moved[:, :2] != subject.X[:, :2]).all()
    whole = subject_of(linear, np.round(3 * X).astype(int))
    assert {v.name for v in measure("stability").variants(whole, settings(), record("lime"), {})} == {"seed"}


def near(changed: float) -> dict[Variant, Explained]:
    return {
        Variant("near", k, "stability"): explained(LINE, exact(LINE) * (1 + changed * (k > 0)))
        for k in range(5)
    }


def test_stability_by_direct_computation() -> None:
    found = scored("stability", LINE, exact(LINE), near(0.5))
    for sigma in RADII:
        same = sigma == RADII[0]
        kept = 1.0 if same else 1 - 0.5 / 2.5  # shares in common of v and 1.5 v
        np.testing.assert_allclose(values(found["neighbour_agreement", sigma]), kept)
        np.testing.assert_allclose(values(found["max_sensitivity", sigma]), 0 if same else 0.5, atol=1e-12)
    moved = [neighbours(LINE, 0, k, slice(0, N)) for k in (1, 2)]
    apart = [np.linalg.norm((m - LINE.X) / LINE.space.spreads, axis=1) for m in moved]
    steepest = 0.5 * np.linalg.norm(exact(LINE), axis=1) / LINE.spread / np.min(apart, axis=0)
    np.testing.assert_allclose(values(found["local_lipschitz", 0.1]), steepest)


def test_agreement_of_seeds_is_over_all_pairs() -> None:
    seeds = {
        Variant("seed", k, "stability"): explained(LINE, exact(LINE)[:5] * factor)
        for k, factor in ((1, 1.0), (2, 3.0))
    }
    found = scored("stability", LINE, exact(LINE), seeds)
    np.testing.assert_allclose(values(found["seed_agreement"]), (1 + 0.5 + 0.5) / 3)
    np.testing.assert_array_equal(found["seed_agreement"].rows, LINE.row_ids[:5])


def test_the_change_of_the_score_is_in_its_standard_deviations() -> None:
    own = measure("stability")
    answers = own.ask(LINE, settings(), slice(0, N))
    found = {one.sigma: one for one in own.of_model(LINE, settings(), answers)}
    assert sorted(found) == list(RADII)
    moved = [np.abs(linear(neighbours(LINE, 0, k, slice(0, N))) - linear(LINE.X)) for k in (1, 2)]
    np.testing.assert_allclose(values(found[0.1]), np.mean(moved, axis=0) / LINE.spread)
    assert list(own.of_model(LINE, settings(), None)) == []


def test_each_neighbour_is_explained_with_a_seed_of_its_own() -> None:
    own, lime = measure("stability"), record("lime")
    variants = list(own.variants(LINE, settings(), lime, {}))
    assert [str(v) for v in variants] == [
        "seed1",
        "seed2",
        "seed3",
        "seed4",
        "near",
        "near1",
        "near2",
        "near3",
        "near4",
    ]
    asked = [own.asked(LINE, settings(), lime, variant, slice(0, 3)) for variant in variants]
    seeds = {one.seed for one in asked} | {as_the_user(LINE, settings(), lime, slice(0, 3)).seed}
    assert len(seeds) == 10
    for k, one in enumerate(asked):
        expected = LINE.X[:3] if k < 4 else neighbours(LINE, 0, k - 4, slice(0, 3))
        np.testing.assert_array_equal(one.X, expected)
    fixed = [str(v) for v in own.variants(LINE, settings(), record("exact_shapley"), {})]
    assert fixed[:2] == ["seed1", "near"]


# background


def test_halves_of_the_pool_are_apart_and_of_the_backgrounds_size() -> None:
    for surrogate, size in ((False, 20), (True, len(LINE.pool) // 2)):
        one, two = (half_of_pool(LINE, settings(), k, surrogate=surrogate) for k in (1, 2))
        assert len(one) == len(two) == size
        assert not {tuple(row) for row in one} & {tuple(row) for row in two}
        assert {tuple(row) for row in (*one, *two)} <= {tuple(row) for row in LINE.pool}


@pytest.mark.parametrize("which", ["lime", "maple"])
def test_agreement_of_backgrounds_is_each_against_its_own(which: str) -> None:
    """Slopes of a line: what they add differs by the half's means alone."""
    slopes = np.tile(SLOPES, (N, 1))
    line = Explanation(slopes, coefficients=slopes, intercepts=np.zeros(N))
    given = {Variant("background", k, "background"): explained(LINE, line) for k in (1, 2)}
    found = scored("background", LINE, exact(LINE), given, which=which)["background_agreement"]
    halves = [half_of_pool(LINE, settings(), k, surrogate=which == "maple") for k in (1, 2)]
    added = [SLOPES * (LINE.X - half.mean(axis=0)) for half in halves]
    np.testing.assert_allclose(values(found), metrics.agreement(*added))
    assert values(found).mean() < 0.99
    one = {Variant("background", 1, "background"): explained(LINE, line)}
    assert scored("background", LINE, exact(LINE), one, which=which) == {}


def test_explainers_are_asked_with_both_halves() -> None:
    own = measure("background")
    variants = list(own.variants(LINE, settings(), record("lime"), {}))
    assert [v.number for v in variants] == [1, 2]
    for which in ("lime", "maple"):
        for variant in variants:
            asked = own.asked(LINE, settings(), record(which), variant, slice(0, 2))
            half = half_of_pool(LINE, settings(), int(variant.number), surrogate=which == "maple")
            np.testing.assert_array_equal(asked.background, half)
    few = attrs.evolve(LINE, pool=LINE.pool[:3])
    assert list(own.variants(few, settings(), record("lime"), {})) == []
    assert (
        len(list(own.variants(attrs.evolve(LINE, pool=LINE.pool[:4]), settings(), record("lime"), {}))) == 2
    )
    assert list(own.variants(LINE, settings(), record("random"), {})) == []


# convergence


def test_each_number_of_samples_is_a_point_on_the_same_rows() -> None:
    own, lime = measure("convergence"), record("lime")
    options = {"n_samples": 100}
    variants = list(own.variants(LINE, settings(), lime, options))
    assert [own.options(lime, options, one, 4)["n_samples"] for one in variants] == [25, 400]
    assert list(own.variants(LINE, settings(), record("random"), {})) == []
    given = {
        one: explained(LINE, exact(LINE)[:7] * factor)
        for one, factor in zip(variants, (0.2, 1.2), strict=True)
    }
    names = {BASE: "n_samples=100", variants[0]: "n_samples=25", variants[1]: "n_samples=400"}
    found = scored("convergence", LINE, exact(LINE) * 0.8, given, options=names)
    qualities = {key[1]: values(one) for key, one in found.items()}
    assert {one.level for one in found.values()} == {"budget"}
    for name, quality in (("n_samples=100", 0.96), ("n_samples=25", 0.36), ("n_samples=400", 0.96)):
        np.testing.assert_allclose(qualities[name], np.full(7, quality))


def budgets(*points: tuple[int, float]) -> Scores:
    shared = {"sigma": None, "planted": None, "reason": None, "ci_low": None, "n": 20}
    rows = [{**shared, "level": "budget", "metric": "fidelity", "samples": n, "value": v} for n, v in points]
    base = {**shared, "level": "model", "metric": "fidelity", "samples": 100, "value": 0.5}
    return Scores(pl.DataFrame([base, *rows]))


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ([(400, 0.56)], ["more samples help (fidelity 0.50 becomes 0.56)"]),
        ([(400, 0.55)], []),
        ([(25, 0.9)], []),
        ([(25, 0.2), (400, 0.9)], ["more samples help (fidelity 0.50 becomes 0.90)"]),
        ([], []),
    ],
)
def test_more_samples_help_or_not(more: Any, said: list[str]) -> None:
    found = measure("convergence").sentences(budgets((100, 0.5), *more))
    assert list(found) == said


# randomisation


def test_agreement_of_two_models_is_of_shares() -> None:
    other = exact(LINE)[:, ::-1] * 100
    other[0] = 0.0
    given = {Variant("refitted", measure="randomisation"): explained(LINE, other)}
    found = values(scored("randomisation", LINE, exact(LINE), given)["randomisation_agreement"])
    a = exact(LINE) / np.abs(exact(LINE)).sum(axis=1, keepdims=True)
    expected = metrics.agreement(a, a[:, ::-1])
    np.testing.assert_allclose(found[1:], expected[1:])
    assert found[0] == 0


def test_rows_that_either_model_leaves_unexplained_are_failed() -> None:
    own = explained(LINE, Explanation(exact(LINE), errors={1: "lost"}))
    other = explained(LINE, Explanation(exact(LINE), errors={2: "gone"}))
    given = {Variant("refitted", measure="randomisation"): other}
    found = scored("randomisation", LINE, own, given)["randomisation_agreement"]
    assert np.flatnonzero(found.failed).tolist() == [1, 2]
    assert found.reason == "lost"
    assert scored("randomisation", LINE, None, given) == {}


def test_explainers_that_look_inside_are_not_asked() -> None:
    own, can = measure("randomisation"), attrs.evolve(LINE, shuffled=LINE.score)
    assert len(list(own.variants(can, settings(), record("lime"), {}))) == 1
    assert list(own.variants(can, settings(), record("tree_shap"), {})) == []
    assert list(own.variants(LINE, settings(), record("lime"), {})) == []
    variant = next(iter(own.variants(can, settings(), record("lime"), {})))
    assert own.asked(can, settings(), record("lime"), variant, slice(0, 2)).refitted


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "needs what the model was fitted to: give a target"),
        ({"target": np.zeros(3)}, "the target has 3 values, the data 160 rows"),
        ({"target": np.arange(160)}, "needs a scikit-learn estimator"),
    ],
)
def test_without_target_or_estimator_one_line_says_so(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        xassay.check(linear, X, explainers="lime", measures="randomisation", **options)
    assert "\n" not in str(caught.value)


# planted causes


PLANTED = Planted(
    rows=np.vstack([X[:6] + 9 * np.eye(4)[0], X[6:8]]),
    truth=np.tile([True, False, False, False], (8, 1)),
    how=("out of range",) * 4 + ("swapped pair",) * 4,
    noticed=np.array([True, True, False, True, True, True, True, False]),
)


def test_planted_causes_are_ranked_by_what_pushes_the_score_up() -> None:
    subject = attrs.evolve(LINE, planted=PLANTED)
    rows = np.flatnonzero(PLANTED.noticed)
    said = np.tile([2.0, -9.0, 1.0, 0.5], (6, 1))  # the cause first: -9 pushes down
    said[3:] = [1.0, 3.0, 2.0, -5.0]  # the cause third
    given = {Variant("planted", measure="planted", turn=1): explained(subject, said, rows)}
    found = scored("planted", subject, None, given)
    np.testing.assert_allclose(values(found["mrr"]), [1, 1, 1, 1 / 3, 1 / 3, 1 / 3])
    np.testing.assert_allclose(values(found["map"]), [1, 1, 1, 1 / 3, 1 / 3, 1 / 3])
    np.testing.assert_allclose(values(found["mr_precision"]), [1, 1, 1, 0, 0, 0])
    np.testing.assert_allclose(values(found["mrr", "out of range"]), [1, 1, 1])
    np.testing.assert_allclose(values(found["mrr", "swapped pair"]), [1 / 3, 1 / 3, 1 / 3])
    np.testing.assert_array_equal(found["mrr", "swapped pair"].rows, [4, 5, 6])


def test_noticed_rows_are_counted_by_kind_and_explained() -> None:
    own, subject = measure("planted"), attrs.evolve(LINE, planted=PLANTED)
    found = {one.planted: values(one).mean() for one in own.of_model(subject, settings(), None)}
    assert found == {None: 0.75, "out of range": 0.75, "swapped pair": 0.75}
    rows = {one.planted: one.rows.tolist() for one in own.of_model(subject, settings(), None)}
    assert rows == {None: list(range(8)), "out of range": [0, 1, 2, 3], "swapped pair": [4, 5, 6, 7]}
    (variant,) = own.variants(subject, settings(), record("lime"), {})
    assert own.n_rows(subject, variant, 100) == 6
    assert own.n_rows(subject, variant, 4) == 4
    asked = own.asked(subject, settings(), record("lime"), variant, slice(1, 4))
    np.testing.assert_array_equal(asked.row_ids, [1, 3, 4])
    np.testing.assert_array_equal(asked.X, PLANTED.rows[[1, 3, 4]])
    blind = attrs.evolve(LINE, planted=attrs.evolve(PLANTED, noticed=np.zeros(8, dtype=bool)))
    assert list(own.variants(blind, settings(), record("lime"), {})) == []
    assert list(own.of_model(LINE, settings(), None)) == []
    assert list(own.variants(LINE, settings(), record("lime"), {})) == []


def test_chance_is_the_mean_over_orders() -> None:
    """One cause of four: (1 + 1/2 + 1/3 + 1/4) / 4."""
    assert chance_of(PLANTED) == pytest.approx(25 / 48)


# what is said


def scores_of(*rows: tuple[str, float | None, float | None]) -> Scores:
    shared = {"planted": None, "reason": None, "level": "model", "samples": None, "ci_low": None}
    counts = {"n": 20, "n_failed": 0, "n_undefined": 0}
    listed = [{**shared, **counts, "metric": m, "sigma": s, "value": v} for m, s, v in rows]
    return Scores(pl.DataFrame(listed, schema_overrides={"value": pl.Float64, "sigma": pl.Float64}))


@pytest.mark.parametrize(
    ("name", "rows", "said"),
    [
        ("placebo", [("placebo_share", None, 0.019)], []),
        ("placebo", [("placebo_share", None, 0.02)], ["it puts 2% of its weight on columns that do nothing"]),
        ("background", [("background_agreement", None, 0.9)], []),
        (
            "background",
            [("background_agreement", None, 0.89)],
            ["another background changes 11% of the explanation"],
        ),
        (
            "randomisation",
            [("randomisation_agreement", None, 0.0)],
            ["0% of the explanation stays the same for a model refitted to shuffled targets"],
        ),
        (
            "randomisation",
            [("randomisation_agreement", None, 0.5)],
            ["50% of the explanation stays the same for a model refitted to shuffled targets"],
        ),
        ("stability", [("seed_agreement", None, 0.9), ("neighbour_agreement", 0.001, 0.9)], []),
        (
            "stability",
            [("seed_agreement", None, 0.89)],
            ["89% of the explanation stays the same under another seed"],
        ),
        (
            "stability",
            [("seed_agreement", None, 0.95), ("neighbour_agreement", 0.001, 0.89)],
            ["for an almost identical row only 89% of the explanation stays the same"],
        ),
        (
            "stability",
            [("seed_agreement", None, 0.85), ("neighbour_agreement", 0.001, 0.81)],
            ["85% of the explanation stays the same under another seed"],
        ),
        ("stability", [("neighbour_agreement", 0.1, 0.2)], []),
        (
            "causal",
            [("causal_skill", 0.25, 0.1), ("causal_skill", 0.1, 0.9)],
            ["its local linear model predicts small changes of a row with an error of 10%"],
        ),
        (
            "causal",
            [("causal_skill", 0.1, 0.0)],
            ["its local linear model predicts small changes of a row worse than assuming no change"],
        ),
        ("causal", [("causal_skill", 0.1, float("nan"))], []),
        ("planted", [("mrr", None, 0.5)], ["puts the first planted cause at about rank 2.0"]),
        ("cost", [("model_calls", None, 5.0)], []),
    ],
)
def test_what_a_measure_says(name: str, rows: Any, said: list[str]) -> None:
    assert list(measure(name).sentences(scores_of(*rows))) == said
    assert list(measure(name).sentences(scores_of(("nothing", None, 1.0)))) == []


def test_planted_ranks_of_few_rows_are_not_spoken_of() -> None:
    few = scores_of(("mrr", None, 0.5))
    few.row("mrr")["n_failed"] = 11
    assert list(measure("planted").sentences(few)) == []
    few.row("mrr")["n_failed"] = 10
    assert len(list(measure("planted").sentences(few))) == 1


def test_scores_as_the_verdict_reads_them() -> None:
    found = scores_of(("a", 0.25, 1.0), ("a", 0.1, 2.0), ("b", None, None), ("c", None, float("nan")))
    assert (found("a", 0.1), found("a"), found("b"), found("c")) == (2.0, None, None, None)
    assert found.sigmas("a") == [0.1, 0.25]
    assert found.sigmas("b") == []
    assert found.low("a", 0.1) == 2.0
    found.row("a", 0.1)["ci_low"] = 0.5
    assert found.low("a", 0.1) == 0.5
    assert found.low("missing") is None
    found.row("b")["n_undefined"] = 3
    found.row("b")["n_failed"] = 2
    assert (found.n("b"), found.n("missing")) == (15, 0)
    assert found.reason is None
    found.row("c")["reason"] = "lost"
    assert found.reason == "lost"


# what a measure costs, and keys


def test_measures_look_at_no_more_rows_than_they_say() -> None:
    most = {name: own.most_rows for name, own in measures().items()}
    assert most == {
        "fidelity": None, "causal": None, "cost": None, "planted": 60, "removal": 40, "data": 40,
        "placebo": 40, "background": 40, "randomisation": 40, "stability": 20, "convergence": 20,
    }  # fmt: skip
    own = measure("placebo")
    assert [own.n_rows(LINE, BASE, rows) for rows in (3, 40, 41)] == [3, 40, 40]
    assert measure("fidelity").n_rows(LINE, BASE, 900) == 900


@pytest.mark.parametrize("name", ["fidelity", "causal", "placebo", "stability"])
def test_the_estimate_of_model_rows_is_near_the_count(name: str) -> None:
    counted = [0]

    def counting(rows: Any) -> Any:
        counted[0] += len(rows)
        return linear(rows)

    wide = subject_of(counting, np.random.default_rng(0).normal(size=(160, 4)), measures=(name,))
    wide = attrs.evolve(wide, score=attrs.evolve(wide.score, answer=counting))
    counted[0] = 0
    own = measure(name)
    own.ask(wide, settings(), slice(0, N))
    estimate = own.model_rows(wide, settings()) * N
    # of narrow tables all sets are fewer than the estimate has
    assert counted[0] <= estimate * 1.7 + 2000
    assert counted[0] > 0
    assert own.asks


@pytest.mark.parametrize(("p", "sets"), [(9, 255), (12, 256)])
def test_the_estimate_of_fidelity_is_the_count(p: int, sets: int) -> None:
    """Each set and its complement over 20 background rows and two single ones, and little beside them."""
    counted = [0]

    def counting(rows: Any) -> Any:
        counted[0] += len(rows)
        return rows[:, 0]

    subject = subject_of(counting, np.random.default_rng(0).normal(size=(60, p)))
    counted[0] = 0
    measure("fidelity").ask(subject, settings(), slice(0, 2))
    assert 2 * 2 * sets * 22 < counted[0] < 2 * (2 * sets * 22 + 60)
    assert measure("fidelity").model_rows(subject, settings()) == 2 * sets * 22


def test_what_is_most_needed_is_asked_first() -> None:
    """A run that is out of time leaves out the last."""
    subject = attrs.evolve(LINE, planted=PLANTED, shuffled=LINE.score)
    turns = {
        variant.name: variant.turn
        for which, options in (("lime", {"n_samples": 100}), ("maple", {}))
        for own in measures().values()
        for variant in own.variants(subject, settings(), record(which), options)
    }
    assert turns == {
        "fit": 0, "planted": 1, "placebo": 1, "seed": 2, "near": 2, "background": 3, "refitted": 3,
        "budget": 4,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("fidelity", 2 * 10 * 22),  # four sets of one column, six of two
        ("causal", 11),
        ("removal", 4 * 3 * 20),
        ("placebo", 4 * 20),
        ("stability", 6),
    ],
)
def test_the_estimate_by_hand(name: str, rows: int) -> None:
    """Sets with complements over 20 background rows and two single ones; points; a grid of three; columns."""
    own = measure(name)
    assert own.model_rows(LINE, settings()) == rows
    twice = own.most_rows and subject_of(linear, rows=2 * own.most_rows)
    if twice:
        assert own.model_rows(twice, settings()) == rows / 2
    assert measure("convergence").model_rows(LINE, settings()) == 0


def test_what_measures_are() -> None:
    """Which ask before there are explanations, which after, which at once; which have a form of their own."""

    def those(flag: str) -> set[str]:
        return {name for name, own in measures().items() if getattr(own, flag)}

    assert those("asks") == {"fidelity", "causal", "data", "placebo", "stability"}
    assert those("follows") == {"removal"}
    assert those("whole") == {"data"}
    assert those("drawn") == {"fidelity"}
    assert set(measures()) - those("sectioned") == {"convergence", "cost"}


def test_chunks_cover_all_rows() -> None:
    assert chunks(5, 2) == [(0, 2), (2, 4), (4, 5)]
    assert chunks(3, 0) == [(0, 1), (1, 2), (2, 3)]
    assert chunks(0, 4) == []


def cell(subject: Subject, variant: Variant = BASE, options: Any = None, **more: Any) -> ExplainCell:
    return ExplainCell(
        subject=Shared(subject), settings=settings(**more), start=0, stop=N, seconds=1.0, explainer="lime",
        source="lime", code="1", options=options or {"n_samples": 100}, variant=variant,
    )  # fmt: skip


def test_an_explanations_key_says_what_is_asked_and_not_why() -> None:
    key = cell(LINE).key
    assert key == cell(LINE, measures=("fidelity",), timeout=5.0).key
    assert key == cell(LINE, Variant("base", measure="")).key
    assert key != cell(LINE, seed=1).key
    assert key != cell(LINE, options={"n_samples": 101}).key
    assert key != cell(LINE, Variant("seed", 1, "stability")).key
    assert key != cell(BENT).key
    assert key != attrs.evolve(cell(LINE), code="2").key
    # more samples, asked for by the measure, and the same asked for by the user
    more = cell(LINE, Variant("budget", 4.0, "convergence"), options={"n_samples": 400})
    assert more.key == cell(LINE, options={"n_samples": 400}).key


def test_measures_scoring_and_words_decide_no_explanation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "xassay"
    shutil.copytree(Path(str(resources.files("xassay"))), copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(code.resources, "files", lambda name: copy)
    plain = code.own_code.__wrapped__

    def touched(place: str) -> bool:
        before = plain(*CODE)
        with (copy / place).open("a") as file:
            file.write("\nchanged = 1\n")
        return bool(plain(*CODE) != before)

    for place in (
        "studies/check/measures/fidelity.py", "studies/check/measures/stability.py", "metrics/ranking.py",
        "metrics/contrast.py", "statistics/row_scores.py", "studies/check/verdict.py",
        "studies/check/series.py", "studies/check/thresholds.py", "studies/check/view.py",
    ):  # fmt: skip
        assert not touched(place), place
    for place in ("explainers/lime.py", "models/score.py", "tabular/space.py", "seeds.py"):
        assert touched(place), place
