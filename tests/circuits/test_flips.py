import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies import circuits as random_circuits
from xassay import circuits
from xassay.circuits import Circuit, Gate, function_truth, ground_truth, input_rows, simulate, smallest_flips
from xassay.errors import InputError, UnknownNameError
from xassay.types import BoolArray

Value = Callable[[tuple[int, ...]], int]


def by_subsets(value: Value, row: Sequence[int]) -> set[int]:
    """The definition, word for word: subsets by size, and the union of those that change the value."""
    plain = value(tuple(row))
    for size in range(1, len(row) + 1):
        found = [
            subset
            for subset in itertools.combinations(range(len(row)), size)
            if value(tuple(bit ^ (k in subset) for k, bit in enumerate(row))) != plain
        ]
        if found:
            return set().union(*map(set, found))
    return set()


def by_masks(table: BoolArray) -> BoolArray:
    """The same over all rows at once: sizes of flips in turn, each flip an exclusive or of row numbers."""
    n = len(table).bit_length() - 1
    ids, found = np.arange(len(table)), np.zeros((len(table), n), dtype=bool)
    for size in range(1, n + 1):
        open_rows = ids[~found.any(axis=1)]
        for flipped in itertools.combinations(range(n), size):
            mask = sum(1 << (n - 1 - bit) for bit in flipped)
            changed = open_rows[table[open_rows ^ mask] != table[open_rows]]
            found[np.ix_(changed, flipped)] = True
    return found


def named(truth: BoolArray) -> list[set[int]]:
    return [set(np.flatnonzero(row).tolist()) for row in truth]


def check_every_row(circuit: Circuit, evaluate: Any) -> None:
    rows = input_rows(circuit)
    for position, output in enumerate(circuit.outputs):
        expected = [
            by_subsets(lambda bits, k=position: evaluate(circuit, bits)[k], row)
            for row in rows.astype(int).tolist()
        ]
        assert named(function_truth(circuit, rows, output)) == expected, output


@pytest.mark.parametrize("gate", [None, "z2", "z3", "z4", "o2"])
def test_every_row_of_c17_by_the_definition(gate: str | None, evaluate: Any) -> None:
    c17 = circuits.load("c17")
    check_every_row(c17 if gate is None else circuits.negate(c17, gate), evaluate)


@given(circuit=random_circuits())
def test_random_circuits_by_the_definition(evaluate: Any, circuit: Circuit) -> None:
    check_every_row(circuit, evaluate)


@given(bits=st.integers(0, 7).flatmap(lambda n: st.lists(st.booleans(), min_size=2**n, max_size=2**n)))
def test_random_tables_by_masks(bits: list[bool]) -> None:
    table = np.array(bits)
    np.testing.assert_array_equal(smallest_flips(table), by_masks(table))


@pytest.mark.parametrize("share", [0.002, 0.02, 0.5])
def test_sparse_tables_of_ten_bits_by_masks(share: float) -> None:
    table = np.random.default_rng(0).random(2**10) < share
    assert table.any()
    np.testing.assert_array_equal(smallest_flips(table), by_masks(table))


@pytest.mark.parametrize("name", ["74182", "74283", "74181"])
def test_every_row_of_the_studys_circuits_by_masks(name: str) -> None:
    circuit = circuits.load(name)
    rows = input_rows(circuit)
    for output in circuit.outputs[:2] + circuit.outputs[-1:]:
        table = simulate(circuit, rows)[:, circuit.outputs.index(output)]
        np.testing.assert_array_equal(function_truth(circuit, rows, output), by_masks(table))


@pytest.mark.parametrize(
    ("function", "row", "expected"),
    [
        pytest.param(min, (1, 1, 1), {0, 1, 2}, id="and: each alone"),
        pytest.param(min, (1, 0, 0), {1, 2}, id="and: both zeros together"),
        pytest.param(max, (0, 0, 0), {0, 1, 2}, id="or: each alone"),
        pytest.param(max, (1, 1, 0), {0, 1}, id="or: both ones together"),
        pytest.param(lambda bits: sum(bits) % 2, (1, 0, 1), {0, 1, 2}, id="parity: each alone"),
        pytest.param(lambda bits: sum(bits) >= 2, (1, 1, 0), {0, 1}, id="majority: either of two ones"),
        pytest.param(lambda bits: sum(bits) >= 2, (1, 1, 1), {0, 1, 2}, id="majority: any two of three"),
        pytest.param(lambda bits: bits[1], (0, 0, 0), {1}, id="one input alone"),
        pytest.param(lambda bits: bits[1] ^ bits[1], (0, 1, 0), set(), id="constant"),
        pytest.param(lambda bits: bits[0] if bits[2] else bits[1], (1, 0, 0), {1, 2}, id="multiplexer"),
        pytest.param(lambda bits: bits[0] if bits[2] else bits[1], (1, 1, 0), {1}, id="multiplexer, agreed"),
    ],
)
def test_truths_worked_out_by_hand(function: Value, row: tuple[int, ...], expected: set[int]) -> None:
    table = [function(bits) for bits in itertools.product((0, 1), repeat=3)]
    number = int("".join(map(str, row)), 2)
    assert named(smallest_flips(table, [number])) == [expected]
    assert named(smallest_flips([1 - value for value in table], [number])) == [expected]


def test_one_gate_has_the_truth_that_algorithm_1_gives_it() -> None:
    for kind in ("and", "nand", "or", "nor", "xor", "xnor"):
        circuit = Circuit("one", "abc", "z", [Gate("z", kind, tuple("abc"))])
        rows = input_rows(circuit)
        np.testing.assert_array_equal(function_truth(circuit, rows, "z"), ground_truth(circuit, rows, "z"))


def test_only_the_function_counts_and_not_the_gates_that_compute_it() -> None:
    """a = (a and b) or (a and not b): a walk blames b too, the function does not depend on it."""
    gates = [
        Gate("nb", "not", ("b",)),
        Gate("u", "and", ("a", "b")),
        Gate("v", "and", ("a", "nb")),
        Gate("z", "or", ("u", "v")),
    ]
    circuit = Circuit("roundabout", "ab", "z", gates)
    assert named(function_truth(circuit, input_rows(circuit), "z")) == [{0}] * 4
    assert any(1 in found for found in named(ground_truth(circuit, input_rows(circuit), "z")))


def test_the_published_example_has_another_truth_in_the_function_explained() -> None:
    c17, row = circuits.load("c17"), [[0, 0, 0, 0, 0]]
    assert named(ground_truth(circuits.negate(c17, "z4"), row, "o2")) == [{4}]
    assert named(function_truth(c17, row, "o2")) == [{1, 4}]


def test_rows_come_back_in_the_order_asked_for() -> None:
    table = [0, 0, 0, 1, 0, 1, 1, 1]
    rows = [7, 0, 0, 3]
    np.testing.assert_array_equal(smallest_flips(table, rows), smallest_flips(table)[rows])
    assert smallest_flips(table, []).shape == (0, 3)


@pytest.mark.parametrize("value", [0, 1])
@pytest.mark.parametrize("n", [0, 1, 5])
def test_no_flip_changes_a_constant(value: int, n: int) -> None:
    found = smallest_flips(np.full(2**n, value))
    assert found.shape == (2**n, n)
    assert not found.any()


@pytest.mark.parametrize("n", [16, 20])
def test_the_row_farthest_from_any_change_names_every_bit(n: int) -> None:
    table = np.zeros(2**n, dtype=bool)
    table[-1] = True
    rows = np.array([0, 2**n - 1, 1, 2**n - 2])
    zeros = (rows[:, None] >> np.arange(n - 1, -1, -1)) & 1 == 0
    zeros[1] = True  # at the one row with value 1, each bit alone changes it
    np.testing.assert_array_equal(smallest_flips(table, rows), zeros)


@pytest.mark.parametrize(
    ("table", "rows", "message"),
    [
        pytest.param([0, 1, 1], None, r"2\^n rows", id="length"),
        pytest.param([], None, r"2\^n rows", id="empty"),
        pytest.param([[0, 1]], None, r"2\^n rows", id="matrix"),
        pytest.param([0, 2], None, "0 or 1", id="no bit"),
        pytest.param([0.0, float("nan")], None, "0 or 1", id="nan"),
        pytest.param([0, 1], [2], "from 0 to 1", id="row too large"),
        pytest.param([0, 1], [-1], "from 0 to 1", id="row negative"),
        pytest.param([0, 1], [0.5], "row numbers", id="row no number"),
        pytest.param([0, 1], [[0]], "row numbers", id="rows a matrix"),
    ],
)
def test_a_table_that_is_none_is_refused(table: Any, rows: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        smallest_flips(table, rows)


def test_a_function_truth_needs_an_output_and_bits() -> None:
    c17 = circuits.load("c17")
    with pytest.raises(UnknownNameError, match="known: o1, o2"):
        function_truth(c17, np.zeros((1, 5)), "z4")
    with pytest.raises(InputError, match="0 or 1"):
        function_truth(c17, [[0, 0, 2, 0, 0]], "o1")
    with pytest.raises(InputError, match=r"expected shape \(rows, 5\)"):
        function_truth(c17, np.zeros((1, 4)), "o1")
