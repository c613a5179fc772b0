"""Tables of every form become numbers and come back as exactly what they were."""

import datetime as dt
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import polars.testing
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from xassay.errors import InputError
from xassay.tabular.forms import as_form, form_of
from xassay.tabular.space import MOST_LEVELS, Space
from xassay.types import FloatArray

SIZES = ["small", "large", "medium"]


def round_trip(table: Any, *others: Any) -> Any:
    space, (rows, *_) = Space.of(table, *others)
    return space.decode(rows)


def second_back(table: Any, other: Any) -> Any:
    space, (_, rows) = Space.of(table, other)
    return space.decode(rows)


def assert_same(found: Any, expected: Any) -> None:
    assert type(found) is type(expected)
    if isinstance(expected, pd.DataFrame):
        pd.testing.assert_frame_equal(found, expected, check_exact=True)
    elif isinstance(expected, pl.DataFrame):
        polars.testing.assert_frame_equal(found, expected, check_exact=True)
    else:
        np.testing.assert_array_equal(found, expected, strict=True)


NUMPY = {
    "float64": np.array([[1.1, -3e9], [np.nan, 2.5], [0.1, 3e9]]),
    "float32": np.array([[1.1, -3e9], [np.nan, 2.5], [0.1, 3e9]], dtype=np.float32),
    "float16": np.array([[1.1, -3e4], [0.1, 2.5]], dtype=np.float16),
    "int64": np.array([[3, -(2**53 - 1)], [7, 2**53 - 1]]),
    "int8": np.array([[-128, 0], [127, 1]], dtype=np.int8),
    "uint64": np.array([[0, 5], [2**40, 6]], dtype=np.uint64),
    "bool": np.array([[True, False], [False, False]]),
    "text": np.array([["a", "left"], ["b", "right"]]),
    "text of any length": np.array([["a", "left"], ["b", "right"]], dtype=np.dtypes.StringDType()),
    "objects": np.array([["a", 1.5], [None, 2.5], ["b", 0.5]], dtype=object),
    "fortran order": np.asfortranarray([[1.5, 2.0, 0.1], [3.5, 4.0, 0.7]]),
    "one row": np.array([[4.0, 0.0, -1.0]]),
    "no row": np.empty((0, 2)),
}


@pytest.mark.parametrize("name", NUMPY)
def test_a_numpy_matrix_comes_back_exactly(name: str) -> None:
    assert_same(round_trip(NUMPY[name]), NUMPY[name])


PANDAS = {
    "float64": pd.Series([0.1, np.nan, -3e9]),
    "float32": pd.Series([0.1, np.nan, -3e9], dtype="float32"),
    "nullable Float64": pd.Series([0.1, None, -3e9], dtype="Float64"),
    "nullable Float32": pd.Series([0.1, None, -3.5], dtype="Float32"),
    "int64": pd.Series([3, -(2**53 - 1), 2**53 - 1]),
    "uint8": pd.Series([0, 255, 7], dtype="uint8"),
    "nullable Int64": pd.Series([3, None, 2**53 - 1], dtype="Int64"),
    "nullable Int8": pd.Series([-128, None, 127], dtype="Int8"),
    "nullable Int64, all missing": pd.Series([None, None, None], dtype="Int64"),
    "bool": pd.Series([True, False, True]),
    "nullable boolean": pd.Series([True, None, False], dtype="boolean"),
    "str": pd.Series(["b", None, "a"], dtype="str"),
    "string": pd.Series(["b", None, "a"], dtype="string"),
    "string, all missing": pd.Series([None, None, None], dtype="string"),
    "object text": pd.Series(["b", None, "a"], dtype=object),
    "categories": pd.Series(["b", None, "a"], dtype=pd.CategoricalDtype(["b", "a", "unused"])),
    "ordered categories": pd.Series(
        ["small", None, "large"], dtype=pd.CategoricalDtype(["small", "medium", "large"], ordered=True)
    ),
    "categories of whole numbers": pd.Series([30, 10, None], dtype=pd.CategoricalDtype([30, 10])),
    "categories of true and false": pd.Series([True, None, False], dtype="category"),
    "categories, all missing": pd.Series([None, None, None], dtype=pd.CategoricalDtype(["a"])),
    "intervals": pd.Series(pd.cut([1.0, 2.0, 3.0], 2)),
    "sparse": pd.Series(pd.arrays.SparseArray([0.0, 0.0, 3.5])),
}


@pytest.mark.parametrize("name", PANDAS)
def test_a_pandas_column_comes_back_exactly_beside_another(name: str) -> None:
    table = pd.DataFrame({"before": [1.5, 2.5, 9.0], "mine": PANDAS[name], "after": ["x", "y", "x"]})
    assert_same(round_trip(table), table)


POLARS = {
    "Float64": pl.Series([0.1, float("nan"), -3e9]),
    "Float32": pl.Series([0.1, None, -3e9], dtype=pl.Float32),
    "Int64": pl.Series([3, None, 2**53 - 1]),
    "Int8": pl.Series([-128, None, 127], dtype=pl.Int8),
    "UInt8": pl.Series([0, 255, 7], dtype=pl.UInt8),
    "Int128": pl.Series([3, None, 5], dtype=pl.Int128),
    "Decimal": pl.Series([Decimal("1.10"), None, Decimal("2.30")]),
    "Boolean": pl.Series([True, None, False]),
    "String": pl.Series(["b", None, "a"]),
    "String, all missing": pl.Series([None, None, None], dtype=pl.String),
    "Categorical": pl.Series(["b", None, "a"], dtype=pl.Categorical),
    "Enum": pl.Series(["small", None, "large"], dtype=pl.Enum(["small", "medium", "large"])),
    "Null": pl.Series([None, None, None]),
}


@pytest.mark.parametrize("name", POLARS)
def test_a_polars_column_comes_back_exactly_beside_another(name: str) -> None:
    table = pl.DataFrame({"before": [1.5, 2.5, 9.0], "mine": POLARS[name], "after": ["x", "y", "x"]})
    assert_same(round_trip(table), table)


def test_a_lazy_frame_is_collected() -> None:
    table = pl.DataFrame({"a": [1, 2], "b": ["x", "y"]})
    assert_same(round_trip(table.lazy()), table)


def test_a_list_of_rows_is_a_matrix() -> None:
    assert_same(round_trip([[1, 5], [7, 2]]), np.array([[1, 5], [7, 2]]))


def test_a_pandas_series_is_one_row_of_a_frame() -> None:
    background = pd.DataFrame({"a": [1, 2, 5], "b": ["x", "y", "x"]})
    assert_same(second_back(background, pd.Series({"b": "y", "a": 5})), pd.DataFrame({"a": [5], "b": ["y"]}))


@pytest.mark.parametrize(
    "labels",
    [
        pd.Index([7, 3]),
        pd.Index(["a", 3], dtype=object),
        pd.Index(["a", "b"], name="quantity"),
        pd.MultiIndex.from_tuples([("a", "left"), ("a", "right")]),
    ],
    ids=["numbers", "mixed", "named", "levels"],
)
def test_the_labels_of_pandas_columns_come_back(labels: pd.Index) -> None:
    table = pd.DataFrame([[1.5, 2.0], [2.5, 9.0]], columns=labels)
    assert_same(round_trip(table), table)


def test_a_pandas_frame_with_an_index_of_its_own_keeps_its_values() -> None:
    table = pd.DataFrame({"a": [1.5, 2.5], "b": ["x", "y"]}, index=[7, 7])
    assert_same(round_trip(table), table.reset_index(drop=True))


scales = st.integers(-300, 285).map(lambda power: 10.0**power)
parts = st.one_of(st.just(0.0), st.floats(1e-9, 1), st.floats(-1, -1e-9))
offsets = st.one_of(st.just(0.0), st.floats(-1e15, 1e15))


@given(scale=scales, offset=offsets, values=st.lists(parts, min_size=1, max_size=50))
def test_floats_of_any_scale_and_mean_come_back_exactly(
    scale: float, offset: float, values: list[float]
) -> None:
    column = scale * (offset + np.array(values))
    table = np.stack([column, -column[::-1]], axis=1)
    assert_same(round_trip(table), table)


@given(values=st.lists(st.floats(width=32, allow_infinity=False), min_size=1, max_size=20))
def test_single_floats_of_any_scale_come_back_exactly_from_every_form(values: list[float]) -> None:
    column = np.array(values, dtype=np.float32)
    assert_same(round_trip(column[:, None]), column[:, None])
    frame = pd.DataFrame({"a": column})
    assert_same(round_trip(frame), frame)


@given(values=st.lists(st.integers(-(2**53 - 1), 2**53 - 1), min_size=1, max_size=20))
def test_whole_numbers_that_a_float_holds_come_back_exactly_from_every_form(values: list[int]) -> None:
    for table in (
        np.array(values)[:, None],
        pd.DataFrame({"a": values}),
        pl.DataFrame({"a": values}),
        pd.DataFrame({"a": pd.array([*values, None], dtype="Int64")}),
    ):
        assert_same(round_trip(table), table)


@given(values=st.lists(st.one_of(st.none(), st.sampled_from(["", " ", "a", "é", "nan", "1"])), min_size=1))
def test_text_of_any_kind_comes_back_exactly_from_every_form(values: list[str | None]) -> None:
    for table in (
        pd.DataFrame({"a": pd.Series(values, dtype="string")}),
        pd.DataFrame({"a": pd.Series(values, dtype="category")}).astype({"a": pd.CategoricalDtype(["a"])}),
        pl.DataFrame({"a": values}, schema={"a": pl.String}),
    ):
        assert_same(round_trip(table), table)


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (np.array([[0], [5], [200]], dtype=np.uint8), np.array([[0]], dtype=np.uint8)),
        (
            pd.DataFrame({"a": np.array([0, 5, 200], np.uint8)}),
            pd.DataFrame({"a": np.array([0], np.uint8)}),
        ),
        (
            pl.DataFrame({"a": [0, 5, 200]}, schema={"a": pl.UInt8}),
            pl.DataFrame({"a": [0]}, schema={"a": pl.UInt8}),
        ),
    ],
    ids=["numpy", "pandas", "polars"],
)
def test_a_number_below_the_type_of_its_column_is_moved_to_the_nearest_it_holds(
    table: Any, expected: Any
) -> None:
    space, _ = Space.of(table)
    assert_same(space.decode(np.array([[-6.0 / space.columns[0].scale]])), expected)


@pytest.mark.parametrize("value", [2**53 + 1, 2**62 + 1, -(2**53 - 1) - 1])
def test_whole_numbers_beyond_what_a_float_holds_come_back_or_are_refused(value: int) -> None:
    table = np.array([[value], [5]])
    try:
        found = round_trip(table)
    except InputError:
        return
    assert_same(found, table)


def test_an_outlier_among_many_rows_far_from_zero_comes_back_exactly() -> None:
    column = np.append(1000 + np.random.default_rng(0).normal(size=20_000), 0.1)
    assert_same(round_trip(column[:, None]), column[:, None])


def test_a_tiny_value_in_a_column_of_huge_ones_comes_back_exactly() -> None:
    table = np.array([[1.1e-20], [1e300], [3.3e299]])
    assert_same(round_trip(table), table)


@pytest.mark.parametrize(
    "table",
    [
        pl.DataFrame({"a": [1.5, None, 3.0]}),
        pl.DataFrame({"a": [1.5, float("nan"), 3.0]}, schema={"a": pl.Float32}),
    ],
    ids=["null in Float64", "NaN in Float32"],
)
def test_null_and_nan_of_polars_floats_come_back_as_they_were(table: pl.DataFrame) -> None:
    assert_same(round_trip(table), table)


def test_numbers_in_a_list_of_mixed_rows_stay_numbers() -> None:
    space, _ = Space.of([[1.5, "x"], [7.0, "y"], [2.0, "x"]])
    assert [column.kind for column in space.columns] == ["numeric", "category"]


KINDS = pd.DataFrame(
    {
        "number": [1.5, 7.25, -3.0, 10.0],
        "whole": [10, 20, 40, 80],
        "flag": [True, False, False, True],
        "bit": [0, 1, 1, 1],
        "bit as float": [0.0, 1.0, 0.0, 0.0],
        "plain": ["a", "b", "c", "a"],
        "size": pd.Categorical(["small", "large", "small", "medium"], SIZES, ordered=True),
        "constant": [3.5, 3.5, 3.5, 3.5],
    }
)


def test_every_column_is_of_the_kind_that_its_type_and_values_say() -> None:
    space, _ = Space.of(KINDS)
    assert {column.name: column.kind for column in space.columns} == {
        "number": "numeric",
        "whole": "numeric",
        "flag": "binary",
        "bit": "binary",
        "bit as float": "binary",
        "plain": "category",
        "size": "ordinal",
        "constant": "numeric",
    }
    assert space.names == tuple(KINDS.columns)
    assert [column.name for column in space.columns if column.whole] == [
        "whole",
        "flag",
        "bit",
        "bit as float",
    ]


def test_swapped_columns_are_flags_and_plain_categories() -> None:
    space, _ = Space.of(KINDS)
    assert space.swapped == (2, 3, 4, 5)
    assert space.positions("numeric", "ordinal") == (0, 1, 6, 7)
    assert space.positions("category") == (5,)
    assert space.positions() == ()


def test_codes_follow_the_order_of_levels_and_missing_is_the_last() -> None:
    space, (rows,) = Space.of(
        pd.DataFrame({"size": pd.Categorical(["medium", None, "small"], SIZES, ordered=True), "b": [*"zya"]})
    )
    assert rows.tolist() == [[2, 2], [3, 1], [0, 0]]
    assert space.columns[0].levels == (*SIZES, None)
    assert (space.columns[0].missing, space.columns[1].missing) == (1, 0)


def test_missing_numbers_are_counted_and_are_nan() -> None:
    space, (rows,) = Space.of(pd.DataFrame({"a": [1.5, None, None, 7.0], "b": [1, 2, 3, 4]}))
    assert [column.missing for column in space.columns] == [2, 0]
    np.testing.assert_array_equal(np.isnan(rows), [[False, False], [True, False], [True, False], [False] * 2])


@given(scale=scales, values=st.lists(st.integers(-1000, 1000), min_size=2, max_size=30, unique=True))
def test_scales_are_powers_of_two_that_bring_the_spread_near_one(scale: float, values: list[int]) -> None:
    raw = scale * (np.array(values) + 0.5)
    space, (rows,) = Space.of(raw[:, None])
    (column,) = space.columns
    assert np.frexp(column.scale)[0] == 0.5
    assert 0.7 < rows.std() < 1.42
    assert space.spreads.tolist() == [pytest.approx(rows.std())]
    largest = np.abs(raw).max()
    assert column.spread * column.scale / largest == pytest.approx((raw / largest).std())


def test_the_spread_is_the_standard_deviation() -> None:
    space, (rows,) = Space.of(KINDS)
    expected = rows.std(axis=0)
    assert expected[:5].min() > 0
    np.testing.assert_allclose(space.spreads[:5], expected[:5])
    assert space.spreads[space.names.index("plain")] == 1
    assert space.spreads[space.names.index("constant")] == 0


def test_the_spread_of_ordered_categories_is_their_standard_deviation() -> None:
    sizes = pd.Categorical(["small"] * 98 + ["large", "medium"], SIZES, ordered=True)
    space, (rows,) = Space.of(pd.DataFrame({"size": sizes}))
    assert space.spreads[0] == pytest.approx(rows.std())


def test_snapped_rows_hold_the_nearest_whole_numbers_and_levels() -> None:
    space, _ = Space.of(KINDS)
    scale = space.columns[1].scale
    rows = np.zeros((3, 8))
    rows[:, 0] = [0.1234, np.nan, -5.5]
    rows[:, 1] = np.array([12.4, 12.6, -7.2]) / scale
    rows[:, 2] = [0.4, 0.6, 0.9]
    rows[:, 5] = [0.4, 1.6, 7.0]
    rows[:, 6] = [-3.0, 1.4, 2.2]
    before = rows.copy()
    snapped = space.snap(rows)
    np.testing.assert_array_equal(rows, before)
    np.testing.assert_array_equal(snapped[:, 0], rows[:, 0])
    np.testing.assert_array_equal(snapped[:, 1], np.array([12, 13, -7]) / scale)
    np.testing.assert_array_equal(snapped[:, 2], [0, 1, 1])
    np.testing.assert_array_equal(snapped[:, 5], [0, 2, 2])
    np.testing.assert_array_equal(snapped[:, 6], [0, 1, 2])
    decoded = space.decode(rows)
    assert decoded["whole"].tolist() == [12, 13, -7]
    assert decoded["flag"].tolist() == [False, True, True]
    assert decoded["plain"].tolist() == ["a", "c", "c"]
    assert decoded["size"].tolist() == ["small", "large", "medium"]


def encode_again(space: Space, table: Any) -> FloatArray:
    return space._encoded(space.form.columns(table))


@given(moves=st.lists(st.floats(-3, 3), min_size=4, max_size=4))
def test_what_the_model_is_given_is_what_snap_says(moves: list[float]) -> None:
    table = KINDS[["number", "whole", "bit", "plain", "size"]]
    space, (rows,) = Space.of(table)
    moved = rows + np.array(moves)[:, None]
    snapped = space.snap(moved)
    np.testing.assert_array_equal(space.snap(snapped), snapped)
    np.testing.assert_array_equal(encode_again(space, space.decode(moved)), snapped)
    assert_same(space.decode(snapped), space.decode(moved))


@pytest.mark.parametrize("moved", [3.0, -2.0])
def test_a_flag_out_of_range_snaps_to_false_or_true(moved: float) -> None:
    space, _ = Space.of(np.array([[True], [False]]))
    snapped = space.snap(np.array([[moved]]))
    np.testing.assert_array_equal(snapped, encode_again(space, space.decode(snapped)))


LINEAR = {
    "small and large": np.array([[1e-10, 3e9], [5e-10, -1e9], [-2e-10, 4e9]]),
    "far from zero": np.array([[1e9 + 1, 5.0], [1e9 + 2.5, -5.0], [1e9 - 1, 2.0]]),
    "flags": np.array([[0.0, 1e6 + 0.25], [1.0, 1e6], [1.0, 1e6 + 0.5]]),
}


@pytest.mark.parametrize("name", LINEAR)
def test_a_linear_model_is_the_same_in_both_spaces(name: str) -> None:
    table = LINEAR[name]
    rng = np.random.default_rng(0)
    slopes, intercepts = rng.normal(size=(3, 2)) / np.abs(table).max(axis=0), rng.normal(size=3)
    space, (rows,) = Space.of(table)
    encoded = space.coefficients(slopes), space.intercepts(slopes, intercepts)
    raw_answers = table @ slopes.T + intercepts
    np.testing.assert_allclose(rows @ encoded[0].T + encoded[1], raw_answers, rtol=1e-12, atol=1e-12)
    assert not np.array_equal(encoded[0], slopes)


def test_only_a_mean_far_off_moves_the_intercepts() -> None:
    space, _ = Space.of(np.array([[1.0, 1e9], [9.0, 1e9 + 2], [4.0, 1e9 + 1]]))
    assert [column.centre for column in space.columns] == [0, 1e9 + 1]
    assert space.intercepts(np.array([[7.0, 2.0]]), np.array([5.0])).tolist() == [5 + 2 * (1e9 + 1)]


FORMS = {
    "pandas": pd.DataFrame({"b": [3, 2], "a": [1.5, 0.5]}),
    "polars": pl.DataFrame({"b": [3, 2], "a": [1.5, 0.5]}),
}


@pytest.mark.parametrize("other", FORMS)
@pytest.mark.parametrize("first", [pd.DataFrame, pl.DataFrame])
def test_columns_in_another_order_and_form_are_found_by_name(first: Any, other: str) -> None:
    table = first({"a": [1.5, 2.5, 9.0], "b": [7, 5, 9]})
    assert_same(second_back(table, FORMS[other]), first({"a": [1.5, 0.5], "b": [3, 2]}))


def test_a_matrix_beside_a_frame_has_its_columns_in_the_frames_order() -> None:
    table = pd.DataFrame({"a": [1.5, 2.5], "b": [7, 5]})
    assert_same(
        second_back(table, np.array([[0.5, 2.0], [4.0, 3.0]])), pd.DataFrame({"a": [0.5, 4.0], "b": [2, 3]})
    )


def test_all_tables_share_one_encoding() -> None:
    _, (rows, others) = Space.of(pd.DataFrame({"a": ["c", "a"]}), pd.DataFrame({"a": ["b", "a", "c"]}))
    assert rows.tolist() == [[2], [0]]
    assert others.tolist() == [[1], [0], [2]]


@pytest.mark.parametrize(
    ("table", "other", "words"),
    [
        (pd.DataFrame({"a": [1], "b": [2]}), pd.DataFrame({"a": [1]}), "the background has no column 'b'"),
        (pd.DataFrame({"a": [1]}), pd.DataFrame({"a": [1], "z": [2]}), "the background has a column 'z'"),
        (np.ones((2, 2)), np.ones((2, 3)), "the background has a column 'x2'"),
        (np.ones((2, 3)), np.ones((2, 2)), "the background has no column 'x2'"),
        (
            pd.DataFrame({"a": ["x"]}),
            pd.DataFrame({"a": [1.5]}),
            "column 'a' holds text in one table and numbers in the other",
        ),
        (
            pd.DataFrame({"a": pd.Categorical(["small"], SIZES, ordered=True)}),
            pd.DataFrame({"a": ["huge"]}),
            "column 'a' holds 'huge', which is no category of it",
        ),
        (
            pl.DataFrame({"a": ["small"]}, schema={"a": pl.Enum(SIZES)}),
            pl.DataFrame({"a": ["huge"]}),
            "column 'a' holds 'huge', which is no category of it",
        ),
        (np.ones((2, 2)), np.array([[1.0, np.inf], [2.0, 3.0]]), "column 'x1' is infinite in 1 of 4 rows"),
    ],
)
def test_tables_that_do_not_fit_each_other_are_refused_in_one_line(
    table: Any, other: Any, words: str
) -> None:
    with pytest.raises(InputError, match=words) as caught:
        Space.of(table, other)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("table", "other"),
    [
        (pd.DataFrame({"a": ["x", "y"]}), pd.DataFrame({"a": ["new", "x"]})),
        (
            pl.DataFrame({"a": ["x", "y"]}, schema={"a": pl.Categorical}),
            pl.DataFrame({"a": ["new", "x"]}, schema={"a": pl.Categorical}),
        ),
        (np.array([["x", 1], ["y", 2]], dtype=object), np.array([["new", 1], ["x", 2]], dtype=object)),
        (pd.DataFrame({"a": ["x", "y"]}), pd.DataFrame({"a": [None, "x"]})),
    ],
    ids=["pandas text", "polars categories", "objects", "missing"],
)
def test_a_category_that_only_the_background_has_comes_back(table: Any, other: Any) -> None:
    assert_same(second_back(table, other), other)


@pytest.mark.parametrize(
    "other", [pd.Series(["new", "x"]), pd.Series(["new", "x"], dtype="category")], ids=["text", "categories"]
)
def test_a_category_that_the_pandas_type_of_x_lacks_is_refused_or_comes_back(other: pd.Series) -> None:
    table = pd.DataFrame({"a": pd.Series(["x", "y"], dtype="category")})
    try:
        found = second_back(table, pd.DataFrame({"a": other}))
    except InputError:
        return
    assert found["a"].tolist() == ["new", "x"]


def test_text_of_the_background_longer_than_any_of_x_comes_back_whole() -> None:
    found = second_back(np.array([["a"], ["b"]]), np.array([["apple"], ["b"]]))
    assert found.tolist() == [["apple"], ["b"]]


@pytest.mark.parametrize(
    ("table", "other"),
    [
        (pd.DataFrame({"a": [1, 5, 9]}), pd.DataFrame({"a": [1.0, np.nan]})),
        (np.array([[1], [5], [9]]), np.array([[1.0], [np.nan]])),
        (pd.DataFrame({"a": [True, False]}), pd.DataFrame({"a": [True, None]})),
        (np.array([[True], [False]]), np.array([[1.0], [np.nan]])),
    ],
    ids=["pandas whole", "numpy whole", "pandas flag", "numpy flag"],
)
def test_a_value_missing_in_the_background_alone_stays_missing_or_is_refused(table: Any, other: Any) -> None:
    try:
        found = second_back(table, other)
    except InputError:
        return
    assert pd.isna(np.asarray(found)[1, 0])


MISSING = pd.DataFrame({"a": [np.nan, np.nan]})


def test_a_column_that_is_missing_throughout_in_the_background_fits_text_that_is_missing_in_places() -> None:
    found = second_back(pd.DataFrame({"a": ["x", None]}), MISSING)
    assert_same(found, pd.DataFrame({"a": pd.Series([None, None], dtype="str")}))


def test_a_column_that_is_missing_throughout_in_the_background_fits_text() -> None:
    found = second_back(pd.DataFrame({"a": ["x", "y"]}), MISSING)
    assert_same(found, pd.DataFrame({"a": pd.Series([None, None], dtype="str")}))


def test_a_column_that_is_missing_throughout_in_x_fits_text_or_is_refused() -> None:
    try:
        found = second_back(MISSING, pd.DataFrame({"a": ["x", "y"]}))
    except InputError:
        return
    assert found["a"].tolist() == ["x", "y"]


WHEN = dt.date(2020, 1, 2)
DATES = "column 'a' holds dates or times"
NEITHER = "column 'a' holds neither numbers nor categories"


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (pd.DataFrame({"a": pd.to_datetime(["2020-01-02", "2021-01-02"])}), DATES),
        (pd.DataFrame({"a": pd.to_timedelta([1, 2], unit="s")}), DATES),
        (pd.DataFrame({"a": [WHEN, WHEN]}), DATES),
        (pd.DataFrame({"a": pd.Categorical(pd.to_datetime(["2020-01-02"]))}), DATES),
        (pd.DataFrame({"a": ["2020-01-02", "2021-1-2T10:00"]}), r"dates or times \('2020-01-02'\)"),
        (pl.DataFrame({"a": ["1.2.2020", "01/02/20", None]}), r"dates or times \('1.2.2020'\)"),
        (pl.DataFrame({"a": [WHEN]}), DATES),
        (pl.DataFrame({"a": [dt.timedelta(1)]}), DATES),
        (pl.DataFrame({"a": [dt.time(1)]}), DATES),
        (np.array([["2020-01-02"]], dtype="datetime64[D]"), "column 'x0' holds dates or times"),
        (pl.DataFrame({"a": [[1], [2, 3]]}), NEITHER),
        (pd.DataFrame({"a": [[1], [2, 3]]}), rf"{NEITHER} \(list among others\)"),
        (pd.DataFrame({"a": ["x", 3]}), rf"{NEITHER} \(int among others\)"),
        (pd.DataFrame({"a": [1j]}), rf"{NEITHER} \(complex128\)"),
        (pl.DataFrame({"a": [b"x"]}), NEITHER),
        (np.array([[1j]]), "column 'x0' holds neither numbers nor categories"),
        (pd.DataFrame({"a": [f"n{k}" for k in range(MOST_LEVELS + 1)]}), "free text or a name a row"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "two columns are called 'a'"),
        (pd.DataFrame([[1, 2]], columns=[0, "0"]), "two columns are called '0'"),
        (np.array([[1.0], [np.inf], [-np.inf]]), "column 'x0' is infinite in 2 of 3 rows"),
        (pl.DataFrame({"a": [1.0, float("inf")]}), "column 'a' is infinite in 1 of 2 rows"),
        (sparse.csr_array(np.eye(3)), "sparse tables are not supported"),
        ([[1, 2], [3]], "its rows have different lengths"),
        ([1, 2], r"must be a table of shape \(rows, columns\), got shape \(2,\)"),
        (np.zeros((2, 2, 2)), r"got shape \(2, 2, 2\)"),
        (np.zeros((2, 0)), r"got shape \(2, 0\)"),
        ({"a": [1]}, r"got shape \(\)"),
        (None, r"got shape \(\)"),
        (pd.DataFrame(index=[0, 1]), "has no column"),
    ],
)
def test_a_table_that_cannot_be_used_is_refused_in_one_line(table: Any, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        Space.of(table)
    assert "\n" not in str(caught.value)


def test_a_polars_frame_without_columns_is_refused() -> None:
    with pytest.raises(InputError, match="has no column"):
        Space.of(pl.DataFrame())


@pytest.mark.parametrize(
    "values",
    [
        [f"n{k}" for k in range(MOST_LEVELS)],
        [f"n{k % 40}" for k in range(80)],
        ["2020-01-02", "no date"],
        ["12-34", "1.2"],
    ],
    ids=["few levels", "levels that repeat", "not all are dates", "no dates"],
)
def test_text_that_is_no_free_text_and_no_date_is_a_category(values: list[str]) -> None:
    space, (rows,) = Space.of(pd.DataFrame({"a": values}))
    assert space.columns[0].kind == "category"
    assert space.columns[0].levels == tuple(sorted(set(values)))
    assert space.decode(rows)["a"].tolist() == values


def test_names_are_given_to_a_matrix_of_as_many_columns_alone() -> None:
    table = np.ones((2, 2))
    assert form_of(table, ("a", "b"))[0].names == ("a", "b")
    assert form_of(table, ("a", "b", "c"))[0].names == ("x0", "x1")


NUMBERS = pl.DataFrame(
    {"a": [1.5, None], "b": [1, 2], "c": [None, 7], "d": [True, False]},
    schema={"a": pl.Float64, "b": pl.Int16, "c": pl.Int64, "d": pl.Boolean},
)


def test_a_polars_frame_in_its_own_form_is_itself() -> None:
    assert as_form(NUMBERS, "polars") is NUMBERS


def test_a_polars_frame_of_numbers_as_a_matrix() -> None:
    expected = np.array([[1.5, 1.0, np.nan, 1.0], [np.nan, 2.0, 7.0, 0.0]])
    np.testing.assert_array_equal(as_form(NUMBERS, "numpy"), expected, strict=True)


def test_a_polars_frame_as_pandas() -> None:
    texts = pl.DataFrame({"t": ["x", None], "k": ["u", None]}, schema={"t": pl.String, "k": pl.Categorical})
    assert_same(
        as_form(pl.concat([NUMBERS, texts], how="horizontal"), "pandas"),
        pd.DataFrame(
            {
                "a": [1.5, np.nan],
                "b": np.array([1, 2], dtype=np.int16),
                "c": [np.nan, 7.0],
                "d": [True, False],
                "t": ["x", None],
                "k": pd.Categorical(["u", None]),
            }
        ),
    )


@pytest.mark.parametrize("form", ["polars", "pandas", "numpy"])
def test_every_form_of_a_frame_is_the_same_in_the_space(form: str) -> None:
    _, (expected,) = Space.of(NUMBERS)
    _, (found,) = Space.of(as_form(NUMBERS, form))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    "dtype", [pl.String, pl.Categorical, pl.Enum(["x", "y"])], ids=["String", "Categorical", "Enum"]
)
def test_text_in_a_matrix_of_numbers_is_refused(dtype: Any) -> None:
    with pytest.raises(InputError, match="column 't' holds no numbers, which a numpy matrix needs"):
        as_form(pl.DataFrame({"a": [1.5], "t": ["x"]}, schema_overrides={"t": dtype}), "numpy")


def test_the_order_of_a_polars_enum_is_kept_in_pandas() -> None:
    table = pl.DataFrame({"size": ["large", "small"]}, schema={"size": pl.Enum(SIZES)})
    assert as_form(table, "pandas")["size"].dtype == pd.CategoricalDtype(SIZES, ordered=True)


def test_polars_decimals_are_numbers_in_pandas() -> None:
    table = pl.DataFrame({"a": [Decimal("1.10"), Decimal("2.30")]})
    assert Space.of(as_form(table, "pandas"))[0].columns[0].kind == "numeric"
