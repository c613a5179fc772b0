"""Tables that others wrote: damaged, compressed, huge, or no tables at all."""

import gzip
import os
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from xassay import cli, results, tables, tabular
from xassay.errors import InputError

FRAME = pl.DataFrame(
    {
        "a": range(200),
        "b": ["x" * (i % 7) for i in range(200)],
        "c": [i / 3 for i in range(200)],
        "d": [i % 2 == 0 for i in range(200)],
    }
)


def reads_or_refuses(path: Path) -> bool:
    """Whether it is read; a refusal names the file in one line."""
    try:
        tables.read_parquet(path)
    except InputError as error:
        said = str(error)
    else:
        return True
    assert said.startswith(f"{path}: ")
    assert len(said.splitlines()) == 1
    return False


@pytest.mark.parametrize("compression", ["zstd", "uncompressed"])
def test_a_damaged_parquet_file_is_refused_and_nothing_is_printed(tmp_path, compression, capfd) -> None:
    path = tmp_path / "t.parquet"
    FRAME.write_parquet(path, compression=compression)
    whole = path.read_bytes()
    assert reads_or_refuses(path)
    draw = np.random.default_rng(3)
    found = []
    for _ in range(12):
        damaged = bytearray(whole)
        for _ in range(5):
            damaged[draw.integers(len(damaged))] ^= 1 << int(draw.integers(8))
        path.write_bytes(damaged)
        found.append(reads_or_refuses(path))
    assert not all(found)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_a_parquet_file_cut_short_is_refused(tmp_path, share) -> None:
    path = tmp_path / "t.parquet"
    FRAME.write_parquet(path)
    path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
    assert not reads_or_refuses(path)


@pytest.mark.parametrize("end", ["panic", "abort"])
def test_a_reader_that_panics_or_dies_takes_nobody_with_it(tmp_path, monkeypatch, end) -> None:
    path = tmp_path / "t.parquet"
    FRAME.write_parquet(path)
    if end == "abort":
        monkeypatch.setattr(tables, "_TRIAL", "import os; os.abort()")
        with pytest.raises(InputError, match="damaged, or larger than this machine"):
            tables.read_parquet(path)
        return

    def panics(_):
        raise pl.exceptions.PanicException("index out of bounds")

    monkeypatch.setattr(pl, "read_parquet", panics)
    with pytest.raises(InputError, match="it is damaged"):
        tables.read_parquet(path)


def test_a_parquet_file_that_claims_more_than_fits_is_refused(tmp_path, monkeypatch) -> None:
    path = tmp_path / "t.parquet"
    FRAME.write_parquet(path)
    monkeypatch.setattr(tables, "MOST_CELLS", 799)
    monkeypatch.setattr(tables, "_CELLS_A_BYTE", 0)
    with pytest.raises(InputError, match="claims 200 rows of 4 columns, more than 799 values"):
        tables.read_parquet(path)


def test_a_file_that_did_not_change_is_tried_once(tmp_path, monkeypatch) -> None:
    path = tmp_path / "t.parquet"
    FRAME.write_parquet(path)
    assert reads_or_refuses(path)
    monkeypatch.setattr(tables, "_TRIAL", "import os; os.abort()")
    assert reads_or_refuses(path)
    FRAME.head(5).write_parquet(path)
    assert not reads_or_refuses(path)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (gzip.compress(b"a,y\n1,2\n", mtime=0), r"is compressed \(gzip\)"),
        (zlib.compress(b"a,y\n1,2\n"), r"is compressed \(zlib\)"),
        (b"\x28\xb5\x2f\xfd\x00", r"is compressed \(zstd\)"),
        (b"PK\x03\x04\x00", r"is compressed \(zip\)"),
        ("a,y\n1,2\n".encode("utf-16"), "no UTF-8 text"),
        (b"a,y\n\xff\xfe,2\n", "cannot be read as CSV"),
        (b"", "cannot be read as CSV"),
    ],
)
def test_what_is_no_csv_text_is_refused(tmp_path, content, words) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    with pytest.raises(InputError, match=words):
        tabular.read(path, "y")


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_path_is_one_file_whatever_signs_it_holds(tmp_path, suffix) -> None:
    write = getattr(FRAME, f"write_{suffix}")
    for name in ("t[12].x", "t1.x", os.fsdecode(b"t\xff.x")):
        with (tmp_path / name.replace(".x", f".{suffix}")).open("wb") as file:
            write(file)
    for name in ("t[12].x", os.fsdecode(b"t\xff.x")):
        assert len(_rows(tmp_path / name.replace(".x", f".{suffix}"))) == 200
    with pytest.raises(InputError, match="cannot be read"):
        _rows(tmp_path / f"*.{suffix}")
    with pytest.raises(InputError, match="cannot be read"):
        _rows(tmp_path / f"\0.{suffix}")


def _rows(path: Path) -> pl.DataFrame:
    from xassay.tabular.files import read_frame

    return read_frame(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_a_pipe_or_folder_is_no_file(tmp_path, name) -> None:
    os.mkfifo(tmp_path / name)
    (tmp_path / "folder" / name).mkdir(parents=True)
    for path in (tmp_path / name, tmp_path / "folder" / name):
        with pytest.raises(InputError, match="it is no file"):
            _rows(path)


def test_stored_results_of_other_types_are_refused(tmp_path) -> None:
    path = tmp_path / "results.parquet"
    good = results.frame([{"study": "crem", "metric": "mrr", "value": 0.5}], results.RESULTS)
    results.write_parquet(good.with_columns(value=pl.lit("much")), path)
    with pytest.raises(InputError, match="column 'value' holds String, not Float64"):
        results.read_parquet(path, results.RESULTS)


ODD_PLANS = {
    "a list": "[]",
    "a number": "3",
    "nothing": "",
    "nested": "[" * 100_000,
    "a huge number": '{"study": "crem", "settings": {"seed": ' + "9" * 5_000 + "}}",
    "no settings": '{"study": "crem"}',
    "empty settings": '{"study": "crem", "settings": {}}',
    "settings of a list": '{"study": "crem", "settings": []}',
    "study of a list": '{"study": ["crem"], "settings": {}}',
    "study unknown": '{"study": "\\u001b[31m", "settings": {}}',
    "notices of numbers": '{"study": "crem", "settings": {}, "notices": [1, [2]]}',
    "notices text": '{"study": "crem", "settings": {}, "notices": "many"}',
    "versions of lists": '{"study": "crem", "settings": {}, "versions": {"a": []}}',
    "wrong types": '{"study": "crem", "settings": {"profile": [], "sample": "x", "truth": {}, "seed": {}}}',
}


@pytest.mark.parametrize("text", ODD_PLANS.values(), ids=ODD_PLANS)
def test_an_odd_plan_is_refused_in_one_line(tmp_path, capsys, text) -> None:
    (tmp_path / "plan.json").write_text(text)
    results.write_parquet(results.frame([], results.RESULTS), tmp_path / "results.parquet")
    results.write_parquet(results.frame([], results.TESTS), tmp_path / "tests.parquet")
    assert cli.run(["report", str(tmp_path)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("xassay: error: ")
    assert said.err.count("\n") == 1
    assert "\x1b" not in said.err
    assert len(said.err) < 3_000


def test_a_damaged_table_of_results_ends_a_report_in_one_line(tmp_path) -> None:
    (tmp_path / "plan.json").write_text('{"study": "crem", "settings": {}}')
    FRAME.write_parquet(tmp_path / "results.parquet")
    damaged = bytearray((tmp_path / "results.parquet").read_bytes())
    for k in range(4, len(damaged) // 2, 3):
        damaged[k] ^= 255
    (tmp_path / "results.parquet").write_bytes(damaged)
    done = subprocess.run(
        [sys.executable, "-m", "xassay", "report", str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "results.parquet: cannot be read as Parquet" in done.stderr
