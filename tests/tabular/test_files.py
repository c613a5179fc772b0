"""A user's own table: read as it is, or refused in one line that says where and why."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from xassay import tabular
from xassay.errors import InputError


def write(tmp_path: Path, text: str, name: str = "mine.csv") -> Path:
    path = tmp_path / name
    path.write_text(text)
    return path


def test_csv_and_parquet_give_the_same_table(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": [1, 2, 3], "y": [0.5, 1.5, -1.0], "b": [True, False, True]})
    frame.write_csv(tmp_path / "mine.csv")
    frame.write_parquet(tmp_path / "mine.parquet")
    for suffix in ("csv", "parquet"):
        data = tabular.read(tmp_path / f"mine.{suffix}", "y")
        assert (data.name, data.columns) == ("mine", ("a", "b"))
        np.testing.assert_array_equal(data.X, [[1, 1], [2, 0], [3, 1]])
        np.testing.assert_array_equal(data.y, [0.5, 1.5, -1])


def test_an_unnamed_first_column_is_a_row_counter(tmp_path: Path) -> None:
    path = write(tmp_path, ",a,y\n0,5,1\n1,6,2\n")
    assert tabular.read(path, "y").columns == ("a",)
    assert tabular.read(path, "y", keep_row_counter=True).columns == ("row", "a")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,y\n1,2\n", "unknown target of .*'z'.*known: a, y"),
        ("a,z\nhigh,2\n1,3\n", r"column 'a' holds text \('high'\), not numbers"),
        ("a,z\n1,yes\n2,no\n", r"column 'z' holds text \('yes'\)"),
        ("a,z\n1,2\n,3\n", "column 'a' is missing in 1 of 2 rows, first in row 2"),
        ("a,z\n1,2\nnan,3\n", "column 'a'"),
        ("a,z\n1,2\n3,\n", "column 'z' is missing in 1 of 2 rows"),
        ("a,z\n1.5,2\ninf,3\n", "column 'a' is infinite in 1 of 2 rows, first in row 2"),
        ("a,a,z\n1,2,3\n", "two columns are called 'a'"),
        ("a,,z\n1,2,3\n", "column 2 has no name"),
        ("a,z\n", "has no rows"),
        ("z\n1\n", "has no column beside the target 'z'"),
        ("", "cannot be read as CSV"),
        ('"\n', "has no columns"),
        ("a,z\n1,2\n1,2,3\n", "cannot be read as CSV"),
        ("a;z\n1;2\n", "has one column only; separate its fields by commas"),
        ("a,z\n2020-01-01,3\n", "column 'a' holds"),
    ],
)
def test_a_table_that_cannot_be_used_is_refused_in_one_line(tmp_path: Path, text: str, words: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(InputError, match=words) as caught:
        tabular.read(path, "z")
    assert "mine.csv" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_parquet_columns_that_are_no_numbers_are_named(tmp_path: Path) -> None:
    path = tmp_path / "mine.parquet"
    pl.DataFrame({"when": [pl.date(2020, 1, 1)], "z": [1.0]}).with_columns(
        when=pl.date(2020, 1, 1)
    ).write_parquet(path)
    with pytest.raises(InputError, match="column 'when' holds Date, not numbers"):
        tabular.read(path, "z")


@pytest.mark.parametrize("name", ["none.csv", "none.parquet"])
def test_a_file_that_is_not_there_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=rf"{name}: cannot be read: No such file"):
        tabular.read(tmp_path / name, "z")


def test_a_file_that_is_no_parquet_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"mine\.parquet: cannot be read as Parquet"):
        tabular.read(write(tmp_path, "a,z\n1,2\n", "mine.parquet"), "z")


def test_a_row_counter_beside_a_column_called_row_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, ",row,z\n0,5,1\n1,6,2\n")
    assert tabular.read(path, "z").columns == ("row",)
    with pytest.raises(InputError, match="an unnamed first column becomes 'row'"):
        tabular.read(path, "z", keep_row_counter=True)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_table_of_more_columns_than_can_be_explained_is_refused(tmp_path: Path, suffix: str) -> None:
    frame = pl.DataFrame({f"c{k}": [1.0] for k in range(10_001)})
    path = tmp_path / f"mine.{suffix}"
    getattr(frame, f"write_{suffix}")(path)
    with pytest.raises(InputError, match="has 10,001 columns; at most 10,000 can be explained"):
        tabular.read(path, "c0")


def test_a_long_text_in_a_cell_does_not_make_a_long_message(tmp_path: Path) -> None:
    path = write(tmp_path, f"a,z\n{'x' * 50_000},1\n")
    with pytest.raises(InputError, match="holds text") as caught:
        tabular.read(path, "z")
    assert len(str(caught.value)) < 400
