from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies import circuits as random_circuits
from xassay import circuits
from xassay.circuits import Circuit, Gate, input_rows, simulate
from xassay.errors import InputError


@given(random_circuits(), st.data())
def test_simulation_equals_plain_evaluation(
    evaluate: Callable, circuit: Circuit, data: st.DataObject
) -> None:
    X = input_rows(circuit)
    X = X[data.draw(st.lists(st.integers(0, len(X) - 1), min_size=1, max_size=20), label="rows")]
    assert simulate(circuit, X).tolist() == [evaluate(circuit, row) for row in X.tolist()]


@pytest.mark.parametrize("name", circuits.EMBEDDED)
def test_embedded_circuits_equal_plain_evaluation(evaluate: Callable, name: str) -> None:
    circuit = circuits.load(name)
    X = np.random.default_rng(0).integers(0, 2, (50, len(circuit.inputs)))
    assert simulate(circuit, X).tolist() == [evaluate(circuit, row) for row in X.tolist()]


@given(random_circuits())
def test_every_gate_follows_what_it_reads(circuit: Circuit) -> None:
    seen = set(circuit.inputs)
    for gate in circuit.gates:
        assert seen.issuperset(gate.inputs)
        seen.add(gate.output)


def test_gates_in_topological_order_stay_as_given() -> None:
    gates = [Gate("z", "not", ("a",)), Gate("b", "not", ("a",)), Gate("y", "and", ("z", "b"))]
    assert Circuit("c", "a", "y", gates).gates == tuple(gates)


def test_row_k_is_k_in_binary() -> None:
    X = input_rows(circuits.load("74182"))
    assert X.shape == (512, 9)
    assert X.dtype == np.bool_
    assert ["".join(map(str, row)) for row in X.astype(int)] == [f"{k:09b}" for k in range(512)]


@pytest.mark.parametrize("n_rows", [0, 1, 7, 8, 9, 15, 17])
def test_any_number_of_rows_can_be_simulated(n_rows: int) -> None:
    circuit = circuits.load("c17")
    X = input_rows(circuit)
    Y = simulate(circuit, X[:n_rows])
    assert Y.shape == (n_rows, 2)
    assert Y.dtype == np.bool_
    np.testing.assert_array_equal(Y, simulate(circuit, X)[:n_rows])


@pytest.mark.parametrize("kind", [int, float, np.uint8, object])
def test_bits_may_be_of_any_number_type(kind: type) -> None:
    circuit = circuits.load("c17")
    X = input_rows(circuit)
    np.testing.assert_array_equal(simulate(circuit, X.astype(kind)), simulate(circuit, X))


def test_74283_adds_two_nibbles_and_a_carry() -> None:
    circuit = circuits.load("74283")
    X = input_rows(circuit)
    a, b = X[:, 0:8:2] @ [8, 4, 2, 1], X[:, 1:8:2] @ [8, 4, 2, 1]
    np.testing.assert_array_equal(simulate(circuit, X) @ [16, 8, 4, 2, 1], a + b + X[:, 8])


def test_74182_looks_carries_ahead() -> None:
    circuit = circuits.load("74182")
    X = input_rows(circuit)
    carry = X[:, 8]
    outputs = dict(zip(circuit.outputs, simulate(circuit, X).T, strict=True))
    for stage, output in ((3, "o5"), (2, "o4"), (1, "o3")):
        not_propagate, not_generate = X[:, 2 * stage], X[:, 2 * stage + 1]
        carry = ~not_generate | (~not_propagate & carry)
        np.testing.assert_array_equal(outputs[output], carry, err_msg=output)


def test_a_truth_table_of_25_inputs_is_refused() -> None:
    inputs = [f"i{k}" for k in range(25)]
    with pytest.raises(InputError, match=r"wide has 25 inputs.*most: 24"):
        input_rows(Circuit("wide", inputs, inputs[:1], []))


@pytest.mark.parametrize("shape", [(5,), (1, 4), (1, 6), (1, 1, 5), ()])
def test_another_shape_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match=r"c17: expected shape \(rows, 5\)"):
        simulate(circuits.load("c17"), np.zeros(shape))


@pytest.mark.parametrize("value", [2, -1, 0.5, float("nan"), "1", None])
def test_values_other_than_0_and_1_are_refused(value: object) -> None:
    with pytest.raises(InputError, match="0 or 1"):
        simulate(circuits.load("c17"), [[0, 0, value, 0, 0]])
