import itertools
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given

from strategies import circuits as random_circuits
from xassay import circuits
from xassay.circuits import STUDY_FAULTS, Circuit, Fault, Gate, TruthTable, input_rows, simulate
from xassay.circuits.netlist import NEGATION
from xassay.errors import InputError, UnknownNameError
from xassay.studies.crem import published

UNARY = ("not", "buf")
STUCK = ("const0", "const1")
WIDE = ("and", "nand", "or", "nor", "xor", "xnor")

WRONG_OUTPUTS = {
    "74181": {"z6": 32884, "z32": 35000, "z33": 34632, "o8": 16384},
    "74283": {"z2": 576, "z17": 272, "z18": 512, "o1": 512},
    "74182": {"z2": 344, "z7": 344, "z8": 360, "o5": 512},
    "c17": {"z2": 36, "z3": 44, "z4": 20, "o2": 32},
}
VERSIONS = [(name, gate) for name, gates in STUDY_FAULTS.items() for gate in gates]


def one_gate(kind: str) -> Circuit:
    pins = "" if kind in STUCK else "a" if kind in UNARY else "abc"
    return Circuit("one", "abc", "z", [Gate("z", kind, tuple(pins))])


def outputs(circuit: Circuit) -> np.ndarray:
    return simulate(circuit, input_rows(circuit))


@pytest.mark.parametrize("kind", NEGATION)
def test_negation_inverts_every_row(kind: str) -> None:
    circuit = one_gate(kind)
    altered = circuits.negate(circuit, "z")
    np.testing.assert_array_equal(outputs(altered), ~outputs(circuit))
    assert circuits.negate(altered, "z") == circuit


@pytest.mark.parametrize("value", [0, 1])
@pytest.mark.parametrize("kind", sorted(set(NEGATION) - {"const0", "const1"}))
def test_a_stuck_gate_reads_nothing_and_never_moves(kind: str, value: int) -> None:
    altered = circuits.stick(one_gate(kind), "z", value)
    assert altered.gate("z").inputs == ()
    assert (outputs(altered) == bool(value)).all()


@pytest.mark.parametrize(
    ("before", "after"),
    [*itertools.permutations(WIDE, 2), *itertools.permutations(UNARY, 2), ("not", "and"), ("buf", "xnor")],
)
def test_a_replaced_gate_keeps_its_pins(before: str, after: str) -> None:
    circuit = one_gate(before)
    altered = circuits.replace(circuit, "z", after)
    assert altered.gates == (Gate("z", after, circuit.gate("z").inputs),)


def test_a_fault_leaves_the_other_gates_and_the_original_alone() -> None:
    circuit = circuits.load("c17")
    altered = circuits.stick(circuit, "z2", 1)
    assert [b.output for a, b in zip(circuit.gates, altered.gates, strict=True) if a != b] == ["z2"]
    assert (altered.name, altered.inputs, altered.outputs) == (circuit.name, circuit.inputs, circuit.outputs)
    assert circuit == circuits.load("c17")


@pytest.mark.parametrize(
    ("change", "error", "word"),
    [
        (lambda c: circuits.negate(c, "z9"), UnknownNameError, "'z9'"),
        (lambda c: circuits.negate(c, "i1"), UnknownNameError, "'i1'"),
        (lambda c: circuits.stick(c, "z9", 0), UnknownNameError, "'z9'"),
        (lambda c: circuits.stick(c, "z4", 2), InputError, "0 or 1, not at 2"),
        (lambda c: circuits.replace(c, "z9", "or"), UnknownNameError, "'z9'"),
        (lambda c: circuits.replace(c, "z4", "nan"), UnknownNameError, "did you mean 'nand'"),
        (lambda c: circuits.replace(c, "z4", "const0"), UnknownNameError, "'const0'"),
        (lambda c: circuits.replace(c, "z4", "nand"), InputError, "already 'nand'"),
        (lambda c: circuits.replace(c, "z4", "not"), InputError, "reads 2 nodes, 'not' takes 1"),
        (lambda c: circuits.replace(circuits.stick(c, "z4", 0), "z4", "and"), InputError, "0 inputs"),
        (lambda c: Fault("z4", "nand").apply(c), InputError, "already 'nand'"),
        (lambda c: Fault("z9", "stuck1").apply(c), UnknownNameError, "'z9'"),
        (lambda c: Fault("z4", "stuck2").apply(c), UnknownNameError, "'stuck2'"),
        (lambda _: Fault.parse("z4:nandd"), UnknownNameError, "did you mean 'nand'"),
        (lambda _: Fault.parse("z4:const0"), UnknownNameError, "stuck0"),
    ],
)
def test_an_impossible_fault_is_refused(
    change: Callable[[Circuit], object], error: type[InputError], word: str
) -> None:
    with pytest.raises(error, match=word):
        change(circuits.load("c17"))


def test_a_fault_that_alters_nothing_is_refused() -> None:
    stuck = circuits.stick(circuits.load("c17"), "z4", 0)
    with pytest.raises(InputError):
        Fault("z4", "stuck0").apply(stuck)


@pytest.mark.parametrize(
    ("text", "fault", "operator"),
    [
        ("z4", Fault("z4", "negate"), "and2"),
        ("z4:negate", Fault("z4", "negate"), "and2"),
        ("z4:stuck0", Fault("z4", "stuck0"), "stuck0"),
        ("z4:STUCK1", Fault("z4", "stuck1"), "stuck1"),
        ("z4:Xor", Fault("z4", "xor"), "xor2"),
    ],
)
def test_a_fault_is_parsed_and_applied(text: str, fault: Fault, operator: str) -> None:
    assert Fault.parse(text) == fault
    assert Fault.parse(str(fault)) == fault
    assert fault.apply(circuits.load("c17")).gate("z4").operator == operator


def test_faults_lists_each_single_fault_once_with_its_exact_share(evaluate: Callable) -> None:
    circuit = circuits.load("c17")
    rows = list(itertools.product([0, 1], repeat=5))
    right = [evaluate(circuit, row) for row in rows]
    kinds = ("and", "nand", "or", "nor", "xor", "xnor", "const0", "const1")
    shares = {}
    for gate, kind in itertools.product(circuit.gates, kinds):
        pins = () if kind in STUCK else gate.inputs
        altered = circuit.with_gate(Gate(gate.output, kind, pins))
        wrong = sum(evaluate(altered, row) != expected for row, expected in zip(rows, right, strict=True))
        if kind != gate.kind:
            shares[gate.output, kind, pins] = wrong / 32
    listed = [(fault.apply(circuit).gate(fault.gate), fault.share) for fault in circuits.faults(circuit)]
    assert Counter(gate for gate, _ in listed).most_common(1)[0][1] == 1
    assert {(g.output, g.kind, g.inputs): share for g, share in listed} == shares


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        ("xnor", ["negate", "stuck0", "stuck1", "and", "nand", "or", "nor"]),
        ("not", ["negate", "stuck0", "stuck1"]),
        ("const0", ["stuck1"]),
        ("const1", ["stuck0"]),
    ],
)
def test_each_kind_of_gate_has_its_own_faults(kind: str, changes: list[str]) -> None:
    assert [fault.change for fault in circuits.faults(one_gate(kind))] == changes


@given(random_circuits())
def test_every_listed_fault_can_be_applied_and_changes_its_gate(circuit: Circuit) -> None:
    for fault in circuits.faults(circuit):
        altered = fault.apply(circuit)
        assert altered.gate(fault.gate) != circuit.gate(fault.gate)
        assert fault.share == circuits.differences(circuit, altered).any(axis=1).mean()


@pytest.mark.parametrize(
    ("circuit", "fault", "name"),
    [
        ("c17", "z4", "c17_modified_z4_nand2_to_and2"),
        ("74181", "z33", "74181_modified_z33_nor3_to_or3"),
        ("74182", "z1", "74182_modified_z1_inverter_to_buffer"),
        ("74283", "o5:stuck1", "74283_modified_o5_xor2_to_stuck1"),
        ("74181", "o8:nor", "74181_modified_o8_and4_to_nor4"),
    ],
)
def test_a_version_is_named_by_its_operators(circuit: str, fault: str, name: str) -> None:
    assert circuits.version_name(circuits.load(circuit), Fault.parse(fault)) == name


@pytest.mark.parametrize(("name", "gate"), VERSIONS)
def test_the_studys_versions_have_the_known_number_of_wrong_outputs(name: str, gate: str) -> None:
    circuit = circuits.load(name)
    assert circuits.differences(circuit, circuits.negate(circuit, gate)).sum() == WRONG_OUTPUTS[name][gate]


def test_a_circuit_does_not_differ_from_itself() -> None:
    circuit = circuits.load("c17")
    assert not circuits.differences(circuit, circuits.negate(circuits.negate(circuit, "z4"), "z4")).any()


def test_the_published_table_has_all_versions_at_four_levels_of_noise() -> None:
    levels = {(row["circuit"], row["altered_node"], row["noise_features"]) for row in published.anomalies()}
    assert levels == {(name, gate, k) for (name, gate), k in itertools.product(VERSIONS, "0246")}


@pytest.mark.parametrize("row", published.anomalies(), ids=lambda row: "-".join(list(row.values())[:-1]))
def test_anomalies_are_as_many_as_published(row: dict[str, str]) -> None:
    circuit, k = circuits.load(row["circuit"]), int(row["noise_features"])
    built = min(k, 2) if row["circuit"] == "74181" else k
    original = TruthTable(circuit, built).rows()
    altered = TruthTable(circuits.negate(circuit, row["altered_node"]), built).rows()
    anomalies = (original != altered).any(axis=1).sum() * 2 ** (k - built)
    assert (len(circuit.inputs), len(circuit.outputs)) == (int(row["inputs"]), int(row["outputs"]))
    assert anomalies == int(row["anomalies"])
