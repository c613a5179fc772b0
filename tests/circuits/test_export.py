import ast
import csv
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from xassay import circuits
from xassay.circuits import Circuit, Fault, Gate, TruthTable, trace_influence
from xassay.errors import InputError, UnknownNameError

C17 = circuits.load("c17")
Z4 = Fault("z4")
VERSION = "c17_modified_z4_nand2_to_and2"


def exported(out: Path, n_noise: int, layout: str) -> dict[str, Path]:
    paths = circuits.export(C17, [Z4], out, n_noise=n_noise, layout=layout)
    return {path.relative_to(out).as_posix(): path for path in paths}


def anomalies(n_noise: int) -> dict[int, dict[str, set[str]]]:
    """Row number -> wrong output -> its causes, from plain tables and Algorithm 1."""
    altered = Z4.apply(C17)
    right, wrong = TruthTable(C17, n_noise).rows(), TruthTable(altered, n_noise).rows()
    return {
        row: {
            o: trace_influence(altered, wrong[row, :5], o) for o, d in zip(C17.outputs, bad, strict=True) if d
        }
        for row, bad in enumerate((right != wrong)[:, -2:])
        if bad.any()
    }


@pytest.mark.parametrize("n_noise", [0, 2])
def test_the_studys_layout_has_its_paths(tmp_path: Path, n_noise: int) -> None:
    files = exported(tmp_path, n_noise, "study")
    assert list(files) == [
        f"Truth_Tables/c17/c17_{n_noise}noise_out.csv",
        f"Truth_Tables/c17/{VERSION}_{n_noise}noise_in_labeled.csv",
        f"Ground_Truth/c17/{VERSION}_ground_truth_{n_noise}noise.csv",
    ]
    assert {path for path in tmp_path.rglob("*") if path.is_file()} == set(files.values())


@pytest.mark.parametrize(
    ("n_noise", "file", "start"),
    [
        (0, 0, b"i1,i2,i3,i4,i5,o1,o2\n0,0,0,0,0,0,0\n0,0,0,0,1,0,1\n"),
        (0, 1, b"i1,i2,i3,i4,i5,o1,o2,label\n0,0,0,0,0,0,1,1\n0,0,0,0,1,0,0,1\n"),
        (2, 0, b"i1,i2,i3,i4,i5,n1,n2,o1,o2\n0,0,0,0,0,0,0,0,0\n0,0,0,0,0,0,1,0,0\n"),
        (2, 1, b"i1,i2,i3,i4,i5,n1,n2,o1,o2,label\n0,0,0,0,0,0,0,0,1,1\n0,0,0,0,0,0,1,0,1,1\n"),
    ],
)
def test_the_studys_tables_start_with(tmp_path: Path, n_noise: int, file: int, start: bytes) -> None:
    content = list(exported(tmp_path, n_noise, "study").values())[file].read_bytes()
    assert content.startswith(start)
    assert content.endswith(b"\n")
    assert b"\r" not in content
    assert content.count(b"\n") == 1 + 2 ** (5 + n_noise)


@pytest.mark.parametrize(
    ("n_noise", "lines"),
    [
        (0, [b"0,{'o2': ['i5']}", b"1,\"{'o2': ['i2', 'i3', 'i4', 'i5']}\""]),
        (2, [b"0,{'o2': ['i5']}", b"1,{'o2': ['i5']}"]),
    ],
)
def test_the_studys_ground_truth_starts_with(tmp_path: Path, n_noise: int, lines: list[bytes]) -> None:
    content = list(exported(tmp_path, n_noise, "study").values())[2].read_bytes()
    header, *rows = content.split(b"\n")
    assert header in (b",explanation for output", b'"",explanation for output')
    assert rows[:2] == lines
    assert rows[-1] == b""
    assert b"\r" not in content


@pytest.mark.parametrize("n_noise", [0, 2])
def test_the_studys_tables_hold_every_row_and_label_the_anomalies(tmp_path: Path, n_noise: int) -> None:
    original, altered, _ = (pl.read_csv(path) for path in exported(tmp_path, n_noise, "study").values())
    np.testing.assert_array_equal(original.to_numpy(), TruthTable(C17, n_noise).rows())
    np.testing.assert_array_equal(altered.drop("label").to_numpy(), TruthTable(Z4.apply(C17), n_noise).rows())
    assert np.flatnonzero(altered["label"]).tolist() == list(anomalies(n_noise))
    assert set(altered["label"]) == {0, 1}


@pytest.mark.parametrize("n_noise", [0, 2])
def test_the_studys_ground_truth_is_algorithm_1_on_the_anomalous_rows(tmp_path: Path, n_noise: int) -> None:
    path = list(exported(tmp_path, n_noise, "study").values())[2]
    header, *rows = csv.reader(path.read_text().splitlines())
    assert header == ["", "explanation for output"]
    truth = {int(row): ast.literal_eval(text) for row, text in rows}
    assert all(names == sorted(names) for causes in truth.values() for names in causes.values())
    assert {
        row: {output: set(names) for output, names in causes.items()} for row, causes in truth.items()
    } == anomalies(n_noise)


def test_one_row_can_have_several_wrong_outputs(tmp_path: Path) -> None:
    *_, path = circuits.export(C17, [Fault("z2")], tmp_path, layout="study")
    rows = list(csv.reader(path.read_text().splitlines()))[1:]
    assert max(len(ast.literal_eval(text)) for _, text in rows) == 2
    assert sum(len(ast.literal_eval(text)) for _, text in rows) == 36


@pytest.mark.parametrize("layout", ["parquet", "study"])
def test_the_files_are_named_by_version_and_noise(tmp_path: Path, layout: str) -> None:
    faults = [Fault("z2"), Fault("z4", "stuck1"), Fault("o2", "xor")]
    names = [path.name for path in circuits.export(C17, faults, tmp_path, n_noise=1, layout=layout)]
    for version in ("z2_nand2_to_and2", "z4_nand2_to_stuck1", "o2_nand2_to_xor2"):
        found = [name for name in names if name.startswith(f"c17_modified_{version}_")]
        assert len(found) == (1 if layout == "parquet" else 2)
        assert all("1noise" in name for name in found)


@pytest.mark.parametrize("n_noise", [0, 2])
def test_parquet_holds_table_label_expected_outputs_and_truth(tmp_path: Path, n_noise: int) -> None:
    files = exported(tmp_path, n_noise, "parquet")
    assert list(files) == [f"c17/{VERSION}_{n_noise}noise.parquet"]
    frame = pl.read_parquet(*files.values())
    table = TruthTable(Z4.apply(C17), n_noise)
    width = len(table.columns)
    assert frame.columns == [*table.columns, "label", "expected_o1", "expected_o2", "truth_o1", "truth_o2"]
    assert set(frame.dtypes[: width + 3]) == {pl.UInt8}
    np.testing.assert_array_equal(frame[:, :width].to_numpy(), table.rows())
    np.testing.assert_array_equal(
        frame["expected_o1", "expected_o2"].to_numpy(), TruthTable(C17, n_noise).rows()[:, -2:]
    )
    wanted = anomalies(n_noise)
    assert np.flatnonzero(frame["label"]).tolist() == list(wanted)
    for output in C17.outputs:
        truth = [None if names is None else set(names) for names in frame[f"truth_{output}"].to_list()]
        assert truth == [wanted.get(row, {}).get(output) for row in range(table.n_rows)]


def test_a_wrong_output_without_a_cause_has_an_empty_truth(tmp_path: Path) -> None:
    fault = Fault("o2", "stuck1")
    (path,) = circuits.export(C17, [fault], tmp_path)
    frame = pl.read_parquet(path)
    wrong = frame.filter(pl.col("o2") != pl.col("expected_o2"))
    assert wrong["truth_o2"].to_list() == [[]] * wrong.height
    assert frame["truth_o2"].null_count() == frame.height - wrong.height > 0
    *_, path = circuits.export(C17, [fault], tmp_path, layout="study")
    assert pl.read_csv(path)["explanation for output"].to_list() == ["{'o2': []}"] * wrong.height


def test_an_output_that_is_an_input_is_exported_under_another_name(tmp_path: Path) -> None:
    circuit = Circuit("wire", "ab", "az", [Gate("z", "and", "ab")])
    (path,) = circuits.export(circuit, [Fault("z")], tmp_path)
    assert pl.read_parquet(path).columns[:4] == ["a", "b", "a_out", "z"]


@pytest.mark.parametrize(
    ("name", "layout"), [("label", "study"), ("label", "parquet"), ("truth_z", "parquet")]
)
def test_a_node_with_the_name_of_an_added_column_is_refused(tmp_path: Path, name: str, layout: str) -> None:
    circuit = Circuit("c", [name, "b"], ["z"], [Gate("z", "and", (name, "b"))])
    with pytest.raises(InputError, match=f"{name}.*a column that the layout adds"):
        circuits.export(circuit, [Fault("z")], tmp_path / "out", layout=layout)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("layout", ["parquet", "study"])
def test_a_node_name_with_a_slash_can_be_exported(tmp_path: Path, layout: str) -> None:
    circuit = Circuit("c", "ab", ["u/z"], [Gate("u/z", "and", "ab")])
    for path in circuits.export(circuit, [Fault("u/z")], tmp_path, layout=layout):
        assert path.is_file()


@pytest.mark.parametrize("name", ["/c", "../c", "..", ".c", "", "a b", "a\nINPUT(q)"])
def test_a_circuit_name_that_no_file_should_have_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="circuit name"):
        Circuit(name, "ab", "z", [Gate("z", "and", "ab")])


@pytest.mark.parametrize("layout", ["csv", "Study", ""])
def test_another_layout_is_refused(tmp_path: Path, layout: str) -> None:
    with pytest.raises(UnknownNameError, match=r"known: parquet, study"):
        circuits.export(C17, [Z4], tmp_path / "out", layout=layout)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("layout", ["parquet", "study"])
def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path, layout: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=r"file.*: cannot be written: Not a directory"):
        circuits.export(C17, [Z4], tmp_path / "file", layout=layout)


@pytest.mark.parametrize("layout", ["parquet", "study"])
def test_a_fault_that_does_not_fit_is_refused(tmp_path: Path, layout: str) -> None:
    with pytest.raises(UnknownNameError, match="'z9'"):
        circuits.export(C17, [Fault("z9")], tmp_path, layout=layout)
