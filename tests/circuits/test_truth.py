from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies import circuits as random_circuits
from xassay import circuits
from xassay.circuits import STUDY_FAULTS, Circuit, Gate, ground_truth, input_rows, trace_influence
from xassay.errors import InputError, UnknownNameError
from xassay.types import BoolArray

VERSIONS = [(name, gate) for name, gates in STUDY_FAULTS.items() for gate in gates]
SMALL = [version for version in VERSIONS if version[0] != "74181"]
LARGE = [version for version in VERSIONS if version[0] == "74181"]


def vectorised(circuit: Circuit, X: BoolArray, output: str) -> list[set[str]]:
    names = np.array(circuit.inputs)
    return [set(names[causes].tolist()) for causes in ground_truth(circuit, X, output)]


def traced(circuit: Circuit, X: BoolArray, output: str) -> list[set[str]]:
    return [trace_influence(circuit, row, output) for row in X]


def both(circuit: Circuit, row: Iterable[int], output: str = "z") -> tuple[set[str], set[str]]:
    bits = np.array(list(row), dtype=bool)
    return vectorised(circuit, bits[None, :], output)[0], trace_influence(circuit, bits, output)


def one_gate(kind: str, pins: str) -> Circuit:
    return Circuit("one", "abc", "z", [Gate("z", kind, tuple(pins))])


@pytest.mark.parametrize("i1", [0, 1])
def test_the_published_example_blames_i5_alone(i1: int) -> None:
    altered = circuits.negate(circuits.load("c17"), "z4")
    assert both(altered, (i1, 0, 0, 0, 0), "o2") == ({"i5"}, {"i5"})


@pytest.mark.parametrize(("name", "gate"), SMALL)
def test_closed_form_equals_algorithm_1_on_every_row(name: str, gate: str) -> None:
    altered = circuits.negate(circuits.load(name), gate)
    X = input_rows(altered)
    for output in altered.outputs:
        assert vectorised(altered, X, output) == traced(altered, X, output), output


@pytest.mark.parametrize(("name", "gate"), LARGE)
def test_closed_form_equals_algorithm_1_on_sampled_rows(name: str, gate: str) -> None:
    altered = circuits.negate(circuits.load(name), gate)
    X = np.random.default_rng(0).integers(0, 2, (30, 14)).astype(bool)
    for output in altered.outputs:
        assert vectorised(altered, X, output) == traced(altered, X, output), output


@given(random_circuits(), st.data())
def test_closed_form_equals_algorithm_1_on_random_circuits(circuit: Circuit, data: st.DataObject) -> None:
    X = input_rows(circuit)
    X = X[: data.draw(st.integers(1, len(X)), label="rows")]
    for output in circuit.outputs:
        assert vectorised(circuit, X, output) == traced(circuit, X, output)


@pytest.mark.parametrize(
    ("kind", "pins", "row", "expected"),
    [
        ("and", "abc", (1, 1, 1), "abc"),
        ("and", "abc", (1, 0, 1), "b"),
        ("and", "abc", (0, 0, 1), "ab"),
        ("and", "abc", (0, 0, 0), "abc"),
        ("nand", "abc", (1, 1, 1), "abc"),
        ("nand", "abc", (0, 1, 0), "ac"),
        ("or", "abc", (0, 0, 0), "abc"),
        ("or", "abc", (0, 1, 0), "b"),
        ("or", "abc", (1, 1, 0), "ab"),
        ("or", "abc", (1, 1, 1), "abc"),
        ("nor", "abc", (0, 0, 0), "abc"),
        ("nor", "abc", (1, 0, 1), "ac"),
        ("xor", "abc", (0, 1, 1), "abc"),
        ("xnor", "ab", (0, 1, 1), "ab"),
        ("not", "b", (0, 0, 0), "b"),
        ("buf", "b", (0, 1, 0), "b"),
        ("and", "a", (0, 0, 0), "a"),
        ("and", "aab", (0, 1, 0), "a"),
        ("and", "aab", (1, 0, 0), "b"),
        ("and", "aab", (1, 1, 0), "ab"),
        ("nor", "aab", (1, 0, 0), "a"),
        ("nor", "aab", (0, 0, 0), "ab"),
        ("xor", "aab", (1, 0, 0), "b"),
        ("xor", "aaab", (1, 0, 0), "ab"),
        ("xnor", "aabbc", (1, 0, 0), "c"),
        ("xor", "aa", (1, 0, 0), ""),
        ("const0", "", (1, 0, 0), ""),
        ("const1", "", (1, 0, 0), ""),
    ],
)
def test_a_gate_passes_influence_to(kind: str, pins: str, row: tuple[int, ...], expected: str) -> None:
    assert both(one_gate(kind, pins), row) == (set(expected), set(expected))


@pytest.mark.parametrize(("row", "expected"), [((1, 0, 0), ""), ((0, 0, 0), "a")])
def test_the_walk_stops_at_a_stuck_gate(row: tuple[int, ...], expected: str) -> None:
    circuit = Circuit("stuck", "abc", "z", [Gate("s", "const0", ()), Gate("z", "and", ("s", "a"))])
    assert both(circuit, row) == (set(expected), set(expected))


def test_a_stuck_output_has_no_truth_on_any_row() -> None:
    altered = circuits.stick(circuits.load("c17"), "o2", 1)
    X = input_rows(altered)
    assert not ground_truth(altered, X, "o2").any()
    assert ground_truth(altered, X, "o1").any(axis=1).all()


def test_an_output_that_is_an_input_is_its_own_truth() -> None:
    circuit = Circuit("wire", "abc", "bz", [Gate("z", "and", ("a", "b"))])
    assert both(circuit, (0, 0, 0), "b") == ({"b"}, {"b"})


def test_influence_joins_over_reconverging_paths_and_ignores_what_the_output_feeds() -> None:
    gates = [
        Gate("y", "not", ("z",)),
        Gate("z", "xor", ("u", "v")),
        Gate("u", "and", ("a", "b")),
        Gate("v", "or", ("a", "c")),
    ]
    circuit = Circuit("diamond", "abc", "zy", gates)
    assert both(circuit, (1, 0, 0)) == ({"a", "b"}, {"a", "b"})
    assert both(circuit, (0, 1, 1)) == ({"a", "c"}, {"a", "c"})


@pytest.mark.parametrize("function", [ground_truth, trace_influence])
@pytest.mark.parametrize("name", ["z4", "i1", "o3", ""])
def test_only_an_output_can_be_explained(function: type, name: str) -> None:
    row = np.zeros(5) if function is trace_influence else np.zeros((1, 5))
    with pytest.raises(UnknownNameError, match=r"known: o1, o2"):
        function(circuits.load("c17"), row, name)


@pytest.mark.parametrize("row", [[0, 0, 2, 0, 0], [0, 0, 0.5, 0, 0], [0, 0, float("nan"), 0, 0], ["0"] * 5])
def test_values_other_than_0_and_1_are_refused(row: list[object]) -> None:
    circuit = circuits.load("c17")
    with pytest.raises(InputError, match="0 or 1"):
        ground_truth(circuit, [row], "o1")
    with pytest.raises(InputError, match="0 or 1"):
        trace_influence(circuit, row, "o1")


@pytest.mark.parametrize("shape", [(5,), (1, 4), (1, 6), (1, 1, 5)])
def test_rows_of_another_shape_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match=r"expected shape \(rows, 5\)"):
        ground_truth(circuits.load("c17"), np.zeros(shape), "o1")


@pytest.mark.parametrize(
    "shape",
    [
        (4,),
        (6,),
        (),
        (2, 5),
    ],
)
def test_a_trace_takes_one_row_of_the_circuits_width(shape: tuple[int, ...]) -> None:
    with pytest.raises(InputError):
        trace_influence(circuits.load("c17"), np.zeros(shape), "o1")
