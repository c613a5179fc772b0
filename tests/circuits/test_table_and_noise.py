import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies import circuits as random_circuits
from xassay import circuits
from xassay.circuits import Circuit, Gate, TruthTable, flip_inputs, input_rows, simulate
from xassay.errors import InputError
from xassay.types import BoolArray

KINDS = ["flip", "correlated"]


def both(a: str, b: str, *outputs: str) -> Circuit:
    return Circuit("c", (a, b), outputs, [Gate("z", "and", (a, b))])


def test_columns_are_inputs_noise_and_outputs() -> None:
    table = TruthTable(circuits.load("c17"), n_noise=2)
    assert table.columns == ("i1", "i2", "i3", "i4", "i5", "n1", "n2", "o1", "o2")
    assert table.noise_columns == table.columns[table.noise_slice] == ("n1", "n2")


@given(random_circuits(), st.integers(0, 3))
def test_every_combination_stands_once_and_noise_varies_fastest(circuit: Circuit, n_noise: int) -> None:
    table = TruthTable(circuit, n_noise)
    n = len(circuit.inputs)
    rows = table.rows()
    assert rows.shape == (table.n_rows, len(table.columns)) == (2 ** (n + n_noise), rows.shape[1])
    digits = rows[:, : n + n_noise] @ (2 ** np.arange(n + n_noise)[::-1])
    np.testing.assert_array_equal(digits, np.arange(table.n_rows))
    np.testing.assert_array_equal(rows[:, n + n_noise :], simulate(circuit, rows[:, :n]))


@given(random_circuits(), st.integers(0, 3), st.data())
def test_rows_can_be_made_one_by_one(circuit: Circuit, n_noise: int, data: st.DataObject) -> None:
    table = TruthTable(circuit, n_noise)
    ids = np.array(data.draw(st.lists(st.integers(0, table.n_rows - 1), max_size=20)), dtype=int)
    np.testing.assert_array_equal(table.rows(ids), table.rows()[ids])
    shown = table.rows(ids)[:, : len(circuit.inputs)]
    np.testing.assert_array_equal(input_rows(circuit)[table.input_ids(ids)], shown)


@pytest.mark.parametrize(
    ("circuit", "columns"),
    [
        (both("n1", "b", "z"), ("n1", "b", "n_1", "n_2", "z")),
        (both("n2", "b", "z"), ("n2", "b", "n_1", "n_2", "z")),
        (Circuit("c", "ab", ["n1"], [Gate("n1", "and", "ab")]), ("a", "b", "n_1", "n_2", "n1")),
        (both("n3", "b", "z"), ("n3", "b", "n1", "n2", "z")),
        (both("a", "b", "a", "z"), ("a", "b", "n1", "n2", "a_out", "z")),
    ],
)
def test_a_name_in_use_is_given_to_no_other_column(circuit: Circuit, columns: tuple[str, ...]) -> None:
    assert TruthTable(circuit, 2).columns == columns


@pytest.mark.parametrize(
    "circuit", [both("n1", "n_1", "z"), both("a", "a_out", "a", "z")], ids=["noise", "output"]
)
def test_columns_differ_even_where_substitute_names_are_in_use(circuit: Circuit) -> None:
    columns = TruthTable(circuit, 2).columns
    assert len(set(columns)) == len(columns)


@pytest.mark.parametrize("n_noise", [-1, 1.5, 20])
def test_an_impossible_number_of_noise_columns_is_refused(n_noise: float) -> None:
    with pytest.raises(InputError, match=r"noise columns"):
        TruthTable(circuits.load("c17"), n_noise)


def flips(n_rows: int, n: int, rate: float, kind: str, *, seed: int = 0, first: int = 0) -> BoolArray:
    return flip_inputs(np.zeros((n_rows, n), dtype=bool), rate, kind, seed, np.arange(first, first + n_rows))


@pytest.mark.parametrize("kind", KINDS)
def test_rate_0_flips_nothing_and_rate_1_all_that_can_flip(kind: str) -> None:
    X = input_rows(circuits.load("c17"))[:, :4]
    ids = np.arange(len(X))
    np.testing.assert_array_equal(flip_inputs(X, 0, kind, 0, ids), X)
    np.testing.assert_array_equal(flip_inputs(X, 1, kind, 0, ids), ~X)


@pytest.mark.parametrize("kind", KINDS)
def test_flips_do_not_depend_on_the_values_flipped(kind: str) -> None:
    X = input_rows(circuits.load("c17"))
    flipped = flip_inputs(X, 0.4, kind, 0, np.arange(len(X)))
    np.testing.assert_array_equal(flipped ^ X, flips(len(X), 5, 0.4, kind))


@pytest.mark.parametrize("kind", KINDS)
def test_a_rows_flips_depend_on_seed_and_row_id_alone(kind: str) -> None:
    X = input_rows(circuits.load("74182"))[:40]
    ids = np.arange(100, 140)
    together = flip_inputs(X, 0.3, kind, 5, ids)
    order = np.random.default_rng(0).permutation(40)
    np.testing.assert_array_equal(flip_inputs(X[order], 0.3, kind, 5, ids[order]), together[order])
    for row in range(0, 40, 7):
        alone = flip_inputs(X[row : row + 1], 0.3, kind, 5, ids[row : row + 1])
        np.testing.assert_array_equal(alone, together[row : row + 1])
    assert (flip_inputs(X, 0.3, kind, 6, ids) != together).any()
    assert (flip_inputs(X, 0.3, kind, 5, ids + 40) != together).any()


@pytest.mark.parametrize("kind", KINDS)
def test_a_bit_that_flips_at_some_rate_flips_at_every_higher_rate(kind: str) -> None:
    rates = [0.0, 0.1, 0.25, 0.5, 0.9, 1.0]
    rising = [flips(50, 9, rate, kind) for rate in rates]
    for lower, higher in itertools.pairwise(rising):
        assert (lower <= higher).all()
        assert lower.sum() < higher.sum()


@pytest.mark.parametrize("n", [1, 2, 5, 8, 9])
@pytest.mark.parametrize("seed", [0, 1])
def test_correlated_flips_come_in_the_same_pairs_in_every_row(n: int, seed: int) -> None:
    columns = Counter(column.tobytes() for column in flips(200, n, 0.5, "correlated", seed=seed).T)
    never = np.zeros(200, dtype=bool).tobytes()
    assert columns.pop(never, 0) == n % 2
    assert sorted(columns.values()) == [2] * (n // 2)


def test_pairs_and_the_odd_one_out_are_drawn_by_the_seed() -> None:
    odd_ones = {int(np.argmin(flips(1, 5, 1.0, "correlated", seed=seed))) for seed in range(40)}
    assert odd_ones == {0, 1, 2, 3, 4}


def test_the_two_kinds_draw_apart() -> None:
    single, paired = ({column.tobytes() for column in flips(200, 8, 0.5, kind).T} for kind in KINDS)
    assert single.isdisjoint(paired)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rate", [0.05, 0.3])
def test_each_bit_flips_about_as_often_as_the_rate_says(kind: str, rate: float) -> None:
    n_rows = 2000
    share = flips(n_rows, 8, rate, kind).mean(axis=0)
    np.testing.assert_allclose(share, rate, atol=4 * (rate * (1 - rate) / n_rows) ** 0.5)


def test_columns_flip_independently_of_each_other() -> None:
    correlation = np.corrcoef(flips(2000, 8, 0.3, "flip").T)
    assert np.abs(correlation[~np.eye(8, dtype=bool)]).max() < 4 / 2000**0.5


@pytest.mark.parametrize("rate", [-0.1, 1.1, float("nan"), float("inf")])
@pytest.mark.parametrize("kind", KINDS)
def test_a_rate_that_is_no_probability_is_refused(kind: str, rate: float) -> None:
    with pytest.raises(InputError, match="between 0 and 1"):
        flips(1, 2, rate, kind)


@pytest.mark.parametrize("kind", ["attribute", "flips", ""])
def test_another_kind_of_flips_is_refused(kind: str) -> None:
    with pytest.raises(InputError, match="known: flip, correlated"):
        flips(1, 2, 0.1, kind)
