"""The store: undefined and missing survive, files are whole or absent."""

import math

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


def test_a_failed_write_leaves_the_old_file_and_no_rubbish(tmp_path):
    path = tmp_path / "plan.json"
    results.write_json({"a": 1}, path)

    class Full(pl.DataFrame):
        def write_parquet(self, *_args, **_kwargs):
            raise OSError(28, "No space left on device")

    with pytest.raises(InputError, match="No space left"):
        results.write_parquet(Full(), path)
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
