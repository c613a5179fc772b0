"""The store: undefined and missing survive, files are whole or absent."""

import math
import subprocess
from pathlib import Path

import attrs
import numpy as np
import polars as pl
import pytest

from xassay import results
from xassay.errors import InputError


def test_undefined_and_missing_survive_a_round_trip(tmp_path):
    rows = [
        {"study": "crem", "metric": "ela", "value": float("nan")},
        {"study": "crem", "metric": "mrr", "value": None},
    ]
    path = tmp_path / "results.parquet"
    results.write_parquet(results.frame(rows, results.RESULTS), path)
    back = results.read_parquet(path)
    assert math.isnan(back["value"][0])
    assert back["value"][1] is None
    assert back.columns == list(results.RESULTS)
    assert back["schema"].to_list() == [results.SCHEMA_VERSION] * 2


def test_a_store_of_another_schema_is_refused(tmp_path):
    path = tmp_path / "results.parquet"
    pl.DataFrame({"schema": [99]}).write_parquet(path)
    with pytest.raises(InputError, match="schema 99"):
        results.read_parquet(path)


def test_a_failed_write_leaves_the_old_file_and_no_rubbish(tmp_path, monkeypatch):
    path = tmp_path / "plan.json"
    results.write_json({"a": 1}, path)

    def full(self, content):
        with self.open("wb") as half:
            half.write(content[: len(content) // 2])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(InputError, match="No space left"):
        results.write_parquet(pl.DataFrame({"a": [1]}), path)
    assert [file.name for file in tmp_path.iterdir()] == ["plan.json"]
    assert results.read_json(path) == {"a": 1}


@pytest.mark.parametrize("read", [results.read_parquet, results.read_json])
def test_absent_and_broken_files_are_named(tmp_path, read):
    with pytest.raises(InputError, match="no such file"):
        read(tmp_path / "absent")
    broken = tmp_path / "broken"
    broken.write_bytes(b"\x00nonsense")
    with pytest.raises(InputError, match="broken"):
        read(broken)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"cels": "a"}, "column 'cels' is not in the schema"),
        ({"cell": 3}, "column 'cell' holds String, not 3"),
        ({"rows": 2.0}, "column 'rows' holds Int64, not 2.0"),
        ({"rows": True}, "column 'rows' holds Int64, not True"),
        ({"seconds": "1"}, "column 'seconds' holds Float64, not '1'"),
        ({"resumed": 1}, "column 'resumed' holds Boolean, not 1"),
    ],
)
def test_a_row_that_does_not_fit_the_schema_is_a_fault_of_the_program(row, said):
    with pytest.raises(TypeError, match=said):
        results.frame([row], results.TIMINGS)


@pytest.mark.parametrize("fields", [{"valeu": 0.5}, {"n": 2.0}, {"value": "1"}, {"metric": 3}], ids=str)
def test_a_slip_in_a_row_of_results_is_told_where_it_is_made(fields):
    with pytest.raises(TypeError, match=next(iter(fields))):
        results.Row(study="crem", **fields)
    with pytest.raises(TypeError, match=next(iter(fields))):
        attrs.evolve(results.Row(study="crem"), **fields)


def test_numbers_of_numpy_are_numbers():
    row = {"cell": "a", "rows": np.int32(2), "seconds": np.float32(0.5), "resumed": np.True_}
    assert results.frame([row], results.TIMINGS).row(0) == ("a", 2, 0.5, True)


def test_what_this_process_wrote_is_read_without_a_trial_until_it_changes(tmp_path, monkeypatch):
    path = tmp_path / "results.parquet"
    results.write_parquet(results.frame([{"cell": "a"}], results.TIMINGS), path)
    tried = []
    monkeypatch.setattr(subprocess, "run", lambda *asked, **_: tried.append(asked) or Done())

    class Done:
        stdout = '""'

    assert results.read_parquet(path)["cell"].to_list() == ["a"]
    assert not tried
    path.write_bytes(path.read_bytes())
    results.read_parquet(path)
    assert len(tried) == 1
