"""Pinned tables, read from where they are; splits standardised by their training part."""

import hashlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from xassay import tabular
from xassay.errors import InputError, UnknownNameError
from xassay.tabular import datasets

SHAPES = {
    "autompgs": (392, 8),
    "communities": (1993, 103),
    "crimes": (2214, 103),
    "day": (731, 15),
    "happiness": (578, 8),
    "housing": (506, 12),
    "music": (1059, 70),
    "winequality-red": (1599, 12),
}


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(datasets, "cache_folder", lambda: tmp_path)
    monkeypatch.delenv("XASSAY_DATA", raising=False)
    return tmp_path


@pytest.mark.parametrize("name", SHAPES)
def test_uci_tables_have_the_published_size_with_their_row_counter(shared_data: Path, name: str) -> None:
    folder = shared_data / "uci"
    if not (folder / f"{name}.csv").exists():
        pytest.skip(f"no {name}.csv in {folder}")
    whole = tabular.load(name, data_dir=folder, keep_row_counter=True)
    assert whole.X.shape == SHAPES[name]
    steps = np.diff(whole.X[:, 0])
    assert whole.X[0, 0] == 0
    assert (steps[steps != 1] < 0).all()
    assert (whole.X[1:, 0][steps != 1] == 0).all()
    plain = tabular.load(name, data_dir=folder)
    np.testing.assert_array_equal(plain.X, whole.X[:, 1:])
    np.testing.assert_array_equal(plain.y, whole.y)
    assert plain.columns == whole.columns[1:]


@pytest.mark.parametrize("name", datasets.EMBEDDED)
def test_some_tables_need_no_download(empty_cache: Path, name: str) -> None:
    data = tabular.load(name)
    assert len(data.columns) == data.X.shape[1] == 10
    assert np.isfinite(data.X).all()
    assert len(data.y) == len(data.X) > 400


def test_a_table_that_is_nowhere_says_how_to_get_it(empty_cache: Path) -> None:
    with pytest.raises(InputError, match=r"xassay data fetch music.*XASSAY_DATA"):
        tabular.load("music")


def test_another_file_under_the_name_is_refused(empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (empty_cache / "uci").mkdir()
    (empty_cache / "uci" / "music.csv").write_text(",0,1\n0,1,2\n")
    monkeypatch.setenv("XASSAY_DATA", str(empty_cache))
    with pytest.raises(InputError, match=r"music\.csv: is not the pinned table"):
        tabular.load("music")


def test_an_unknown_table_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'housing'"):
        tabular.load("hosing")
    with pytest.raises(UnknownNameError, match="diabetes"):
        tabular.fetch("diabetes")


def test_no_network_is_one_line_and_leaves_nothing(
    empty_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(datasets, "URL", "http://127.0.0.1:9/{revision}/{name}.csv")
    with pytest.raises(InputError, match=r"cannot be downloaded \(\w+\); without a network") as caught:
        tabular.fetch("music")
    assert "\n" not in str(caught.value)
    assert not list(empty_cache.iterdir())


def test_what_is_downloaded_is_checked(
    empty_cache: Path, monkeypatch: pytest.MonkeyPatch, httpserver_of: "Callable[[bytes], str]"
) -> None:
    content = b",0,1\n0,1.5,2\n1,2.5,3\n"
    monkeypatch.setattr(datasets, "URL", httpserver_of(content) + "/{revision}/{name}.csv")
    with pytest.raises(InputError, match="not the pinned file"):
        tabular.fetch("music")
    assert not list(empty_cache.glob("*.csv"))
    monkeypatch.setitem(datasets.SHA256, "music", hashlib.sha256(content).hexdigest())
    assert tabular.fetch("music").read_bytes() == content
    assert tabular.load("music").X.tolist() == [[1.5], [2.5]]


def test_parts_are_disjoint_complete_and_standardised_by_the_training_part() -> None:
    data = tabular.load("diabetes")
    parts = tabular.split(data)
    np.testing.assert_allclose(parts.X_train.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(parts.X_train.std(axis=0, ddof=1), 1)
    np.testing.assert_allclose((parts.y_train.mean(), parts.y_train.std(ddof=1)), (0, 1), atol=1e-12)
    targets = np.sort(np.concatenate([parts.y_train, parts.y_val, parts.y_test]))
    slope, level = np.polyfit(targets, np.sort(data.y), 1)
    np.testing.assert_allclose(slope * targets + level, np.sort(data.y), atol=1e-9)


def test_trials_and_seeds_draw_the_parts_anew() -> None:
    data = tabular.load("diabetes")
    first = tabular.split(data).y_test
    np.testing.assert_array_equal(first, tabular.split(data).y_test)
    assert not np.array_equal(first, tabular.split(data, trial=1).y_test)
    assert not np.array_equal(first, tabular.split(data, seed=1).y_test)


def test_constant_columns_are_dropped_by_name() -> None:
    X = np.random.default_rng(0).random((20, 3))
    X[:, 1] = 7
    parts = tabular.split(tabular.Dataset("mine", X, X[:, 0], ("a", "b", "c")))
    assert (parts.columns, parts.dropped) == (("a", "c"), ("b",))
    assert parts.X_test.shape == (5, 2)


@pytest.mark.parametrize(
    ("X", "y", "words"),
    [
        (np.ones((3, 1)), np.arange(3.0), r"3 row\(s\)"),
        (np.full((9, 1), np.nan), np.arange(9.0), "column 'a'"),
        (np.full((9, 1), np.inf), np.arange(9.0), "column 'a'"),
        (np.arange(9.0)[:, None], np.full(9, np.nan), "the target holds"),
        (np.arange(9.0)[:, None], np.ones(9), "constant"),
        (np.ones((9, 1)), np.arange(9.0), "no column varies"),
    ],
    ids=["rows", "missing", "infinite", "missing target", "constant target", "constant columns"],
)
def test_tables_that_cannot_be_split_are_refused(X: np.ndarray, y: np.ndarray, words: str) -> None:
    with pytest.raises(InputError, match=words):
        tabular.split(tabular.Dataset("mine", X, y, ("a",)))


def test_whether_a_column_varies_does_not_depend_on_its_unit() -> None:
    X = np.random.default_rng(0).random((20, 3))
    X[:, 0] *= 1e-13
    X[:, 1] = 123456789.123
    parts = tabular.split(tabular.Dataset("mine", X, X[:, 0] + X[:, 2], ("a", "b", "c")))
    assert (parts.columns, parts.dropped) == (("a", "c"), ("b",))


def test_test_rows_say_where_they_stand_in_the_table() -> None:
    data = tabular.load("diabetes")
    parts = tabular.split(data, trial=3)
    order = np.argsort(parts.y_test)
    np.testing.assert_array_equal(np.sort(data.y[parts.test_rows]), data.y[parts.test_rows][order])
    assert len(np.unique(parts.test_rows)) == tabular.part_sizes(len(data.X))[2]


def test_the_folder_of_the_tables_may_be_named_or_the_one_above_it(empty_cache: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"folder .* holds no music\.csv, nor does its folder uci"):
        tabular.load("music", data_dir=tmp_path)
    (tmp_path / "uci").mkdir(exist_ok=True)
    (tmp_path / "uci" / "music.csv").write_text(",0,1\n0,1,2\n")
    with pytest.raises(InputError, match="is not the pinned table"):
        tabular.load("music", data_dir=tmp_path)
