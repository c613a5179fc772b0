"""Netlists that nobody would draw: huge, odd or malicious; each is read or refused in one line."""

import os
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from strategies import circuits as random_circuits
from xassay import circuits, cli
from xassay.circuits import Circuit, Gate, shares, simulation
from xassay.circuits.faults import SAMPLE
from xassay.errors import InputError, NetlistError


def write(tmp_path: Path, text: str, name: str = "c.bench") -> Path:
    path = tmp_path / name
    path.write_text(text)
    return path


def exact_shares(circuit: Circuit) -> list[float]:
    """By the definition: every altered circuit simulated on every row."""
    rows = circuits.input_rows(circuit)
    right = circuits.simulate(circuit, rows)
    return [
        float((circuits.simulate(fault.apply(circuit), rows) != right).any(axis=1).mean())
        for fault in circuits.faults(circuit)
    ]


@given(random_circuits())
def test_followed_flips_give_the_shares_of_the_definition(circuit: Circuit) -> None:
    assert [fault.share for fault in circuits.faults(circuit)] == exact_shares(circuit)


@pytest.mark.parametrize("block", [8, 64])
def test_shares_in_blocks_are_those_of_the_whole(monkeypatch, block: int) -> None:
    whole = circuits.faults(circuits.load("74182"))
    expected = [fault.share for fault in whole]
    monkeypatch.setattr(simulation, "BLOCK_BYTES", block)
    assert [fault.share for fault in circuits.faults(circuits.load("74182"))] == expected
    assert {fault.rows for fault in whole} == {None}


def test_outputs_and_truth_in_blocks_are_those_of_the_whole(monkeypatch) -> None:
    c = circuits.load("74182")
    rows = circuits.input_rows(c)
    outputs, truth = circuits.simulate(c, rows), circuits.ground_truth(c, rows, "o5")
    monkeypatch.setattr(simulation, "BLOCK_BYTES", 64)
    np.testing.assert_array_equal(circuits.simulate(c, rows), outputs)
    np.testing.assert_array_equal(circuits.ground_truth(c, rows, "o5"), truth)
    flips = circuits.smallest_flips(outputs[:, 0])
    monkeypatch.setattr("xassay.circuits.flips._BLOCK", 7)
    np.testing.assert_array_equal(circuits.smallest_flips(outputs[:, 0]), flips)


def test_a_circuit_of_many_inputs_has_estimated_shares(tmp_path: Path, capsys) -> None:
    names = [f"i{k}" for k in range(40)]
    c = Circuit("wide", names, ["z"], [Gate("y", "or", names[:2]), Gate("z", "xor", ("y", *names[2:]))])
    found = {str(fault): fault for fault in circuits.faults(c)}
    assert {fault.rows for fault in found.values()} == {SAMPLE}
    assert found["z"].share == 1.0
    assert found["y:stuck1"].share == pytest.approx(0.25, abs=0.02)
    assert [f.share for f in circuits.faults(c)] == [f.share for f in found.values()]
    circuits.write(c, tmp_path / "wide.bench")
    assert cli.run(["circuits", "show", str(tmp_path / "wide.bench")]) == 0
    assert "estimated on 8,192 random rows" in " ".join(capsys.readouterr().out.split())


def test_too_much_work_is_refused_with_a_way_on(monkeypatch) -> None:
    monkeypatch.setattr(shares, "MOST_WORK", 10_000)
    with pytest.raises(InputError, match=r"takes too long; apply those you need with Fault\.apply"):
        circuits.faults(circuits.load("74181"))


def test_a_long_chain_is_read_and_its_faults_listed_in_linear_time(tmp_path: Path) -> None:
    seconds = []
    for n in (1_000, 8_000):
        gates = "".join(f"z{k} = NOT(z{k - 1})\n" for k in range(1, n))
        path = write(tmp_path, f"INPUT(z0)\nOUTPUT(z{n - 1})\n{gates}")
        began = time.process_time()
        assert len(circuits.faults(circuits.read(path))) == 3 * (n - 1)
        seconds.append(time.process_time() - began)
    assert seconds[1] < 30 * seconds[0]


def test_gates_in_any_order_come_in_the_same_topological_order() -> None:
    gates = [
        Gate("c", "not", "b"),
        Gate("a", "not", "i"),
        Gate("b", "and", ("a", "d")),
        Gate("d", "buf", "i"),
    ]
    assert [gate.output for gate in Circuit("c", "i", "c", gates).gates] == ["a", "d", "b", "c"]
    ordered = Circuit("c", "i", "c", gates).gates
    assert Circuit("c", "i", "c", ordered).gates == ordered


def test_a_large_cycle_is_told_by_a_few_of_its_gates(tmp_path: Path) -> None:
    n = 20_000
    gates = "".join(f"z{k} = NOT(z{(k + 1) % n})\n" for k in range(n))
    with pytest.raises(NetlistError, match=r"cycle: .* -> 19,99\d more -> ") as caught:
        circuits.read(write(tmp_path, f"INPUT(a)\nOUTPUT(z0)\n{gates}"))
    assert len(str(caught.value)) < 400
    assert caught.value.line is not None


ODD = {
    "digits.sys": "c. [a,b]. [z]. [[nand" + "9" * 5_000 + ",g,z,a,b]].",
    "operator.bench": f"INPUT(a)\nOUTPUT(z)\nz = {'Q' * 100_000}(a)\n",
    "node.bench": f"INPUT(a)\nOUTPUT({'z' * 100_000})\n",
    "junk.bench": "INPUT(a)\nOUTPUT(a)\n" + "\x1b[31m" * 10_000,
    "name.sys": "c" * 300 + ". [a]. [z]. [[inverter,g,z,a]].",
    "slash.sys": "../../x. [a]. [z]. [[inverter,g,z,a]].",
    "path.sys": "/etc/x. [a]. [z]. [[inverter,g,z,a]].",
    "brackets.sys": "[" * 100_000,
}


@pytest.mark.parametrize(("name", "text"), ODD.items(), ids=ODD)
def test_an_odd_netlist_is_one_short_line(tmp_path: Path, capsys, name: str, text: str) -> None:
    path = write(tmp_path, text, name)
    with pytest.raises(InputError, match=name):
        circuits.read(path)
    assert cli.run(["circuits", "show", str(path)]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert len(said) < 1_500
    assert "\x1b" not in said


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_a_pipe_or_a_file_that_is_too_large_is_not_read(tmp_path: Path, monkeypatch) -> None:
    os.mkfifo(tmp_path / "pipe.bench")
    with pytest.raises(InputError, match="it is no file"):
        circuits.read(tmp_path / "pipe.bench")
    monkeypatch.setattr("xassay.circuits.files.MOST_BYTES", 10)
    with pytest.raises(InputError, match="has 20 bytes; a circuit file has at most 10"):
        circuits.read(write(tmp_path, "INPUT(a)\nOUTPUT(a)\n\n"))


def test_paths_that_are_no_text_are_read_or_named(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"c\xff.bench")
    path.write_text("INPUT(a)\nOUTPUT(a)\n")
    assert circuits.read(path).name == "c_"
    with pytest.raises(InputError, match="cannot be read"):
        circuits.read(tmp_path / "\0.bench")


@pytest.mark.parametrize("layout", ["parquet", "study"])
def test_long_names_of_gates_make_short_names_of_files(tmp_path: Path, layout: str) -> None:
    gates = ["z" * 300 + "1", "z" * 300 + "2"]
    c = Circuit("c", "ab", gates, [Gate(gate, "and", "ab") for gate in gates])
    written = circuits.export(c, [circuits.Fault(gate) for gate in gates], tmp_path, layout=layout)
    assert len(set(written)) == len(written)
    assert all(path.exists() and len(path.name) < 200 for path in written)


@pytest.mark.parametrize("name", ["../../up", "/abs", "a/b", "..", "a\\b", "c:d"])
def test_names_of_gates_do_not_leave_the_folder(tmp_path: Path, name: str) -> None:
    c = Circuit("c", "ab", [name], [Gate(name, "and", "ab")])
    inside = tmp_path / "in"
    for path in circuits.export(c, [circuits.Fault(name)], inside, layout="study"):
        assert path.resolve().is_relative_to(inside.resolve())
    assert list(tmp_path.iterdir()) == [inside]


@pytest.mark.parametrize("name", ["+cmd|'/C_calc'!A0", "@SUM", "-2+3"])
def test_no_header_of_a_csv_file_is_a_formula(tmp_path: Path, name: str) -> None:
    c = Circuit("c", [name, "b"], "z", [Gate("z", "and", (name, "b"))])
    with pytest.raises(InputError, match="as a formula; rename it, or use the layout parquet"):
        circuits.export(c, [circuits.Fault("z")], tmp_path, layout="study")
    assert list(tmp_path.iterdir()) == []
    assert len(circuits.export(c, [circuits.Fault("z")], tmp_path, layout="parquet")) == 1


def test_tables_out_of_reach_are_refused_before_they_are_made(tmp_path: Path, monkeypatch) -> None:
    names = [f"i{k}" for k in range(24)]
    c = Circuit(
        "wide", names, [f"z{k}" for k in range(300)], [Gate(f"z{k}", "or", names) for k in range(300)]
    )
    for ask in (
        lambda: circuits.differences(c, circuits.negate(c, "z1")),
        lambda: circuits.TruthTable(c).rows(),
        lambda: circuits.export(c, [circuits.Fault("z1")], tmp_path),
    ):
        with pytest.raises(InputError, match="GB, more than 4; take fewer noise columns"):
            ask()
    monkeypatch.setattr(sys.modules["xassay.circuits.export"], "_MOST_CAUSES", 10)
    with pytest.raises(InputError, match="64 lists of causes are more than the 10"):
        circuits.export(circuits.load("c17"), [circuits.Fault("z4")], tmp_path)
    assert list(tmp_path.iterdir()) == []
