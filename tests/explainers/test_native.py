"""Native explainers against brute force, against the packages, and against their axioms."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xassay import circuits, explainers, metrics
from xassay.errors import ExplainerError, InputError, UnknownNameError
from xassay.explainers.boolean_table import bits_of, numbers_of
from xassay.types import FloatArray, IntArray


def worth(table: FloatArray, n: int, background: IntArray, x: int, coalition: tuple[int, ...]) -> FloatArray:
    mask = sum(1 << (n - 1 - bit) for bit in coalition)
    return table[(x & mask) | (background & ~mask)].mean(axis=0)


def brute_force(table: FloatArray, n: int, background: IntArray, x: int, *, shapley: bool) -> FloatArray:
    """The definition: every coalition of every bit, shape (n, outputs)."""
    values = np.zeros((n, table.shape[1]))
    for bit in range(n):
        others = [other for other in range(n) if other != bit]
        for size in range(n):
            weight = 1 / (n * math.comb(n - 1, size)) if shapley else 0.5 ** (n - 1)
            for coalition in itertools.combinations(others, size):
                gain = worth(table, n, background, x, (*coalition, bit)) - worth(
                    table, n, background, x, coalition
                )
                values[bit] += weight * gain
    return values


VALUES = {True: explainers.shapley_values, False: explainers.banzhaf_values}


@pytest.mark.parametrize("shapley", [True, False])
@pytest.mark.parametrize("n", [1, 2, 3, 5])
@pytest.mark.parametrize("uniform", [True, False])
def test_exact_values_are_those_of_the_definition(n: int, shapley: bool, uniform: bool) -> None:
    rng = np.random.default_rng(n)
    table = rng.normal(size=(2**n, 3))
    rows = None if uniform else rng.integers(2**n, size=4)
    background = np.arange(2**n) if rows is None else rows
    found = VALUES[shapley](table, rows)
    assert found.shape == (2**n, n, 3)
    for x in range(2**n):
        np.testing.assert_allclose(
            found[x], brute_force(table, n, background, x, shapley=shapley), atol=1e-12
        )


tables = st.integers(1, 6).flatmap(
    lambda n: st.tuples(
        st.just(n),
        st.lists(st.integers(0, 1), min_size=2**n, max_size=2**n),
        st.lists(st.integers(0, 2**n - 1), min_size=1, max_size=6),
    )
)


@given(tables)
def test_shapley_values_are_efficient_symmetric_and_ignore_dummies(
    drawn: tuple[int, list[int], list[int]],
) -> None:
    n, values, background = drawn
    table = np.array(values, dtype=float)
    for rows in (None, background):
        found = explainers.shapley_values(table, rows)
        mean = table.mean() if rows is None else table[rows].mean()
        np.testing.assert_allclose(found.sum(axis=1), table - mean, atol=1e-12)
        # a bit that f does not read, put in front, is a dummy; two copies of f's first bit are symmetric
        wider = None if rows is None else [row + 2**n * (row % 2) for row in rows]
        padded = explainers.shapley_values(np.tile(table, 2), wider)
        np.testing.assert_allclose(padded[:, 0], 0, atol=1e-12)
        np.testing.assert_allclose(padded[: 2**n, 1:], found, atol=1e-12)
    # f with its first bit read as the exclusive or of two: those two are symmetric
    bits = bits_of(np.arange(2 ** (n + 1)), n + 1)
    doubled = table[numbers_of(np.column_stack([bits[:, 0] ^ bits[:, 1], bits[:, 2:]]))]
    both = explainers.shapley_values(doubled)
    alike = bits[:, 0] == bits[:, 1]
    np.testing.assert_allclose(both[alike, 0], both[alike, 1], atol=1e-12)


def test_twenty_bits_are_within_reach_of_a_uniform_background() -> None:
    n = 20
    table = np.zeros(2**n)
    table[-1] = 1.0
    found = explainers.shapley_values(table)
    # the conjunction of all bits, at its one: v_S = 2^-(n - |S|), alike for all bits
    np.testing.assert_allclose(found[-1], (1 - 0.5**n) / n, atol=1e-12)
    np.testing.assert_allclose(found.sum(axis=1), table - table.mean(), atol=1e-12)


class Case:
    """A circuit's first output that a fault changes, as explainers see it."""

    def __init__(self, name: str, fault: str, proportion: float, seed: int = 0) -> None:
        original = circuits.load(name)
        altered = circuits.negate(original, fault)
        self.table = circuits.TruthTable(altered)
        self.output = int(np.argmax(circuits.differences(original, altered).any(axis=0)))
        values = circuits.TruthTable(original).rows().astype(float)
        self.n = len(original.inputs)
        self.values = values[:, self.n + self.output]
        self.rows = self.table.rows().astype(float)
        rng = np.random.default_rng(seed)
        size = int(proportion * len(self.rows))
        self.background = self.rows[np.sort(rng.choice(len(self.rows), size, replace=False))]

    def predict(self, rows: FloatArray) -> FloatArray:
        return self.values[numbers_of(rows[:, : self.n])]

    def make(self, name: str, engine: str, **options: Any) -> Any:
        given: dict[str, Any] = {"predict": self.predict}
        if engine == "native":
            given = {"table": self.values, "columns": np.arange(self.n)}
        return explainers.make(name, engine=engine, background=self.background, **given, **options)


def test_kernel_shap_equals_the_package_and_the_exact_values_where_all_is_enumerated() -> None:
    case = Case("c17", "z4", 0.6)
    native = case.make("kernel_shap", "native").explain(case.rows)
    package = case.make("kernel_shap", "package").explain(case.rows)
    np.testing.assert_allclose(native.values, package.values, atol=1e-8)
    exact = case.make("exact_shapley", "native").explain(case.rows)
    np.testing.assert_allclose(native.values, exact.values, atol=1e-8)


def test_kernel_shap_equals_the_package_on_74182_with_all_coalitions() -> None:
    case = Case("74182", "z2", 0.02)
    rows = case.rows[[3, 200, 411]]
    native = case.make("kernel_shap", "native", nsamples=2**14).explain(rows)
    package = case.make("kernel_shap", "package", nsamples=2**14).explain(rows)
    np.testing.assert_allclose(native.values, package.values, atol=1e-8)
    exact = case.make("exact_shapley", "native").explain(rows)
    np.testing.assert_allclose(native.values, exact.values, atol=1e-8)


def test_features_that_do_not_vary_get_nothing_as_in_the_package() -> None:
    case = Case("c17", "z4", 0.6)
    case.background = case.background[case.background[:, 1] == 1]
    for name in ("kernel_shap", "sampling_shap"):
        native = case.make(name, "native").explain(case.rows)
        assert (native.values[case.rows[:, 1] == 1, 1] == 0).all(), name
        package = case.make(name, "package").explain(case.rows)
        np.testing.assert_allclose(native.values, package.values, atol=0.06 if "sampling" in name else 1e-8)


@pytest.mark.parametrize("name", ["kernel_shap", "sampling_shap"])
def test_sampled_values_converge_to_the_exact_ones_and_stay_efficient(name: str) -> None:
    case = Case("74182", "z2", 0.3)
    exact = case.make("exact_shapley", "native").explain(case.rows).values
    errors = []
    for nsamples in (100, 1000, 10_000):
        found = case.make(name, "native", nsamples=nsamples).explain(case.rows).values
        errors.append(float(np.abs(found - exact).mean()))
        np.testing.assert_allclose(found.sum(axis=1), exact.sum(axis=1), atol=1e-5)
    assert errors[0] > 2 * errors[1] > 3 * errors[2]


def test_rows_that_share_table_row_and_draw_have_equal_values_whatever_else_they_hold() -> None:
    case = Case("74182", "z2", 0.3)
    other = case.rows.copy()
    other[:, case.n :] = 1 - other[:, case.n :]
    for name in ("kernel_shap", "sampling_shap", "exact_shapley", "exact_banzhaf"):
        options = {"nsamples": 200} if "exact" not in name else {}
        explainer = case.make(name, "native", **options)
        np.testing.assert_array_equal(explainer.explain(case.rows).values, explainer.explain(other).values)


def test_lime_regresses_as_scikit_learn_does_on_its_own_random_rows() -> None:
    from sklearn.linear_model import Ridge

    case = Case("74182", "z2", 0.3)
    explainer = case.make("lime", "native", n_samples=300)
    for row_id in (5, 170):
        row = case.rows[row_id]
        drawn = np.vstack([row, explainer._random_rows(row_id % 16)])
        same = (drawn == row).astype(float)
        distance = np.linalg.norm(same - 1, axis=1)
        weights = np.sqrt(np.exp(-(distance**2) / (0.75 * np.sqrt(len(row))) ** 2))
        ridge = Ridge(alpha=1).fit(same, case.predict(drawn), sample_weight=weights)
        found = explainer.explain(row[None], row_ids=[row_id]).values[0]
        np.testing.assert_allclose(found, ridge.coef_, atol=1e-10)


def test_c17_scores_with_exact_values_and_a_uniform_background() -> None:
    """The published circuit in full: known to all digits by exact enumeration elsewhere."""
    original = circuits.load("c17")
    means = []
    for gate in circuits.STUDY_FAULTS["c17"]:
        altered = circuits.negate(original, gate)
        table = circuits.TruthTable(altered)
        rows = table.rows().astype(float)
        values = circuits.TruthTable(original).rows()[:, 5:].astype(float)
        found = (
            explainers.make("exact_shapley", table=values, columns=range(5), background=rows)
            .explain(rows)
            .values
        )
        wrong = circuits.differences(original, altered)
        scores = []
        for k, output in enumerate(altered.outputs):
            truth = np.zeros(rows.shape, dtype=bool)
            truth[:, :5] = circuits.ground_truth(altered, rows[:, :5].astype(bool), output)
            chosen = wrong[:, k]
            scores.append(
                np.stack(
                    [
                        score(found[chosen, :, k], truth[chosen])
                        for score in (
                            metrics.reciprocal_rank,
                            metrics.average_precision,
                            metrics.r_precision,
                        )
                    ]
                )
            )
        means.append(np.hstack(scores).mean(axis=1))
    np.testing.assert_allclose(np.mean(means, axis=0), [0.878307, 0.860155, 0.767024], atol=5e-7)


def test_a_decision_rule_on_some_of_the_features_is_explained_by_its_table() -> None:
    table = [0, 0, 0, 1]
    explainer = explainers.make(
        "exact_shapley", table=table, columns=[4, 1], background=bits_of(np.arange(32), 5).astype(float)
    )
    found = explainer.explain([[0, 1, 0, 0, 1]]).values
    np.testing.assert_allclose(found, [[0, 0.375, 0, 0, 0.375]])


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"table": [0, 1, 1]}, r"shape \(2\^n,\)"),
        ({"table": [0, float("nan")]}, "finite"),
        ({"table": ["a", "b"]}, "numbers only"),
        ({"table": np.zeros((4, 0))}, r"shape \(2\^n,\)"),
        ({"table": [0, 0, 0, 1], "columns": [0]}, "positions of the table's 2 bits"),
        ({"table": [0, 0, 0, 1], "columns": [0, 0]}, "each once"),
        ({"table": [0, 0, 0, 1], "columns": [0, 3]}, "among 3 features"),
        ({"table": [0, 0, 0, 1], "columns": ["a", "b"]}, "positions of features"),
        ({"predict": lambda rows: rows[:, 0], "columns": [0]}, "columns go with a table"),
        ({"table": np.zeros(16), "columns": range(4)}, "4 bits among 3 features"),
        ({}, "give predict, or a table with its columns"),
        ({"table": [0, 1], "predict": len, "columns": [0]}, "not both"),
        ({"table": [0, 0, 0, 1]}, "say with columns which features its bits are"),
        ({"table": [0, 0, 0, 1], "columns": [0.5, 1]}, "columns must be positions"),
        ({"table": [0, 0, 0, 1], "columns": ["0", "1"]}, "columns must be positions"),
    ],
)
@pytest.mark.parametrize("name", ["exact_shapley", "kernel_shap"])
def test_tables_that_cannot_be_used_are_refused(name: str, given: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        explainers.make(name, engine="native", background=np.eye(3), **given)


def test_rows_that_are_no_bits_are_refused() -> None:
    made = explainers.make("exact_shapley", table=[0, 1], columns=[0], background=[[0.0, 7], [1, 9]])
    assert made.explain([[1, 3.5]]).values.tolist() == [[0.5, 0]]
    with pytest.raises(InputError, match="must hold 0 and 1 in the columns of the table"):
        made.explain([[0.5, 1]])
    with pytest.raises(InputError, match="the background must hold 0 and 1"):
        explainers.make("exact_shapley", table=[0, 1], background=[[0.5]])


def test_too_many_features_to_tabulate_are_refused() -> None:
    with pytest.raises(InputError, match=r"21 features have 2\^21 combinations"):
        explainers.make("exact_shapley", predict=lambda rows: rows[:, 0], background=np.zeros((2, 21)))
    with pytest.raises(InputError, match="need all combinations as background"):
        explainers.shapley_values(np.zeros(2**17), [3])


def test_a_background_outside_the_table_is_refused() -> None:
    for rows in ([4], [-1], [], [0.5], [[1]]):
        with pytest.raises(InputError, match="background"):
            explainers.banzhaf_values([0, 1, 1, 0], rows)


def test_engines_are_chosen_by_name_or_option() -> None:
    assert explainers.engines("kernel_shap") == ("package", "native")
    assert explainers.record("kernel_shap").engine == "shap"
    assert explainers.record("kernel_shap:engine=native").engine == "native"
    assert explainers.record("kernel_shap", prefer="native").engine == "native"
    assert explainers.record("exact_shapley").engine == "native"
    assert explainers.record("lime_continuous", prefer="native").engine == "lime"
    with pytest.raises(UnknownNameError, match="unknown engine of explainer lime_continuous 'native'"):
        explainers.record("lime_continuous", "native")
    with pytest.raises(InputError, match="engine native is asked for, and engine package too"):
        explainers.record("lime:engine=native", "package")
    with pytest.raises(InputError, match="option treatment goes with engine=package"):
        explainers.registry.check_spec("lime:engine=native:treatment=gaussian")
    with pytest.raises(InputError, match="option table goes with engine=native"):
        explainers.make("lime", table=[0, 1], background=[[0.0]], predict=len)
    with pytest.raises(UnknownNameError, match="unknown explainer 'nope'"):
        explainers.engines("nope")
    with pytest.raises(UnknownNameError, match="did you mean 'native'"):
        explainers.record("lime:engine=nativ")


def test_a_model_that_fails_on_some_combination_is_refused() -> None:
    with pytest.raises(ExplainerError, match="not finite on the table"):
        explainers.make(
            "kernel_shap",
            engine="native",
            predict=lambda rows: np.where(rows.all(axis=1), np.nan, 0.0),
            background=np.zeros((2, 3)),
        )


@given(
    st.integers(0, 10_000),
    st.integers(1, 4),
    st.integers(0, 3),
    st.sampled_from(["kernel_shap", "sampling_shap"]),
    st.sampled_from([30, 200, 5000]),
)
def test_drawn_values_are_efficient_and_ignore_what_the_table_does_not_hold(
    seed: int, n: int, blind: int, name: str, nsamples: int
) -> None:
    rng = np.random.default_rng(seed)
    table = rng.normal(size=2**n) + 1e3
    background, rows = (rng.integers(0, 2, (k, n + blind)).astype(float) for k in (5, 4))
    columns = rng.permutation(n + blind)[:n]
    found = explainers.make(
        name, engine="native", table=table, columns=columns, background=background, nsamples=nsamples
    ).explain(rows)
    answers, mean = table[numbers_of(rows[:, columns])], table[numbers_of(background[:, columns])].mean()
    np.testing.assert_allclose(found.values.sum(axis=1), answers - mean, atol=1e-4)
    if name == "sampling_shap" or nsamples >= 2 ** (n + blind):
        unseen = np.setdiff1d(np.arange(n + blind), columns)
        np.testing.assert_allclose(found.values[:, unseen], 0, atol=1e-8)


@pytest.mark.parametrize("seed", range(12))
def test_kernel_shap_equals_the_package_on_random_functions_with_all_coalitions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, blind = int(rng.integers(1, 5)), int(rng.integers(0, 3))
    table = rng.normal(size=2**n)
    background = rng.integers(0, 2, (int(rng.integers(1, 6)), n + blind)).astype(float)
    rows = rng.integers(0, 2, (3, n + blind)).astype(float)
    shared: dict[str, Any] = {"background": background, "nsamples": 2 ** (n + blind) + 9}
    native = explainers.make("kernel_shap", engine="native", table=table, columns=range(n), **shared).explain(
        rows
    )
    package = explainers.make("kernel_shap", predict=lambda x: table[numbers_of(x[:, :n])], **shared).explain(
        rows
    )
    np.testing.assert_allclose(native.values, package.values, atol=1e-8)


@pytest.mark.parametrize("nsamples", [1, 2, 5, 9, 16, 50])
def test_budgets_too_small_to_determine_the_values_give_moderate_ones(nsamples: int) -> None:
    case = Case("74182", "z2", 0.3)
    values = case.make("kernel_shap", "native", nsamples=nsamples).explain(case.rows).values
    assert np.isfinite(values).all()
    assert np.abs(values).max() < 5


def test_an_offset_of_the_model_costs_no_digits() -> None:
    table = np.array([0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 0.0])
    wide = np.tile(table, 2) + 1e8
    background = bits_of(np.array([0, 3, 5, 6, 9, 15]), 4).astype(float)
    for name in ("exact_shapley", "exact_banzhaf", "kernel_shap"):
        made = explainers.make(name, engine="native", table=wide, background=background)
        found = made.explain(bits_of(np.arange(16), 4).astype(float)).values
        assert np.abs(found[:, 0]).max() < 1e-9, name
        assert np.abs(found[:, 1:]).max() > 0.1


def test_a_place_that_cannot_be_written_to_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    import numba

    from xassay.explainers.compiled import kernels

    real = numba.njit

    def nowhere(*given: Any, cache: bool = False, **options: Any) -> Any:
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return real(*given, **options)

    monkeypatch.setattr(numba, "njit", nowhere)
    assert kernels._compiled(lambda x: x + 1)(2) == 3


def test_native_lime_says_how_many_features_it_takes() -> None:
    with pytest.raises(InputError, match="at most 64 features, not 65; use the package's engine"):
        explainers.make("lime", engine="native", table=[0, 1], columns=[0], background=np.zeros((2, 65)))


@pytest.mark.parametrize("name", ["kernel_shap", "sampling_shap"])
@pytest.mark.parametrize("engine", ["native", "package"])
def test_budgets_beyond_reach_are_refused(name: str, engine: str) -> None:
    with pytest.raises(InputError, match="up to 10,000,000"):
        explainers.make(name, engine=engine, predict=len, background=np.eye(2), nsamples=10**30)
