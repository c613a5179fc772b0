from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from xassay import circuits
from xassay.errors import InputError
from xassay.models import ReconstructionDetector
from xassay.types import BoolArray

C17 = circuits.load("c17")
FAULTY = circuits.negate(C17, "z2")
"""Its fault shows at both outputs."""

METHODS = ("predict", "decision_function", "anomalous_outputs", "reconstruct_outputs")
each_method = pytest.mark.parametrize("method", METHODS)


@pytest.fixture(scope="module")
def original() -> BoolArray:
    return circuits.TruthTable(C17, 2).rows()


@pytest.fixture(scope="module")
def altered() -> BoolArray:
    return circuits.TruthTable(FAULTY, 2).rows()


@pytest.fixture(scope="module")
def detector(original: BoolArray, altered: BoolArray) -> ReconstructionDetector:
    return ReconstructionDetector().fit(original, altered, n_inputs=5)


def test_it_knows_its_columns(detector: ReconstructionDetector) -> None:
    assert (detector.n_inputs_, detector.n_outputs_, detector.n_features_in_) == (5, 2, 9)


def test_a_row_is_reconstructed_with_the_original_outputs(
    detector: ReconstructionDetector, original: BoolArray, altered: BoolArray
) -> None:
    np.testing.assert_array_equal(detector.predict(altered), original)
    np.testing.assert_array_equal(detector.reconstruct_outputs(altered), original[:, 7:])


def test_original_rows_are_their_own_reconstruction(
    detector: ReconstructionDetector, original: BoolArray
) -> None:
    np.testing.assert_array_equal(detector.predict(original), original)
    assert not detector.anomalous_outputs(original).any()


def test_noise_is_reconstructed_as_it_is(detector: ReconstructionDetector, altered: BoolArray) -> None:
    flipped = altered.copy()
    flipped[:, 5:7] ^= True
    np.testing.assert_array_equal(detector.predict(flipped)[:, 5:7], flipped[:, 5:7])
    np.testing.assert_array_equal(detector.anomalous_outputs(flipped), detector.anomalous_outputs(altered))


@pytest.mark.parametrize("gate", circuits.STUDY_FAULTS["c17"])
def test_anomalous_outputs_are_where_the_circuits_differ(original: BoolArray, gate: str) -> None:
    faulty = circuits.negate(C17, gate)
    table = circuits.TruthTable(faulty, 2)
    found = ReconstructionDetector().fit(original, table.rows(), n_inputs=5).anomalous_outputs(table.rows())
    expected = circuits.differences(C17, faulty)[table.input_ids(np.arange(table.n_rows))]
    assert expected.any()
    np.testing.assert_array_equal(found, expected)


def test_the_decision_function_counts_wrong_outputs(
    detector: ReconstructionDetector, original: BoolArray, altered: BoolArray
) -> None:
    found = detector.decision_function(altered)
    assert set(found.tolist()) == {0, 1, 2}
    np.testing.assert_array_equal(found, (original != altered).sum(axis=1))


@pytest.mark.parametrize("outputs", [[0], [1], [1, 0]])
def test_an_output_function_gives_the_original_outputs_as_floats(
    detector: ReconstructionDetector, original: BoolArray, altered: BoolArray, outputs: list[int]
) -> None:
    found = detector.output_function(np.array(outputs))(altered.astype(float))
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, original[:, 7:][:, outputs])


@pytest.mark.parametrize("given", [1, 2, None])
def test_the_number_of_outputs_may_be_given_or_inferred(
    original: BoolArray, altered: BoolArray, given: int | None
) -> None:
    detector = ReconstructionDetector().fit(original, altered, n_inputs=5, n_outputs=given)
    n_outputs = 2 if given is None else given
    assert detector.n_outputs_ == n_outputs
    np.testing.assert_array_equal(detector.predict(altered)[:, -n_outputs:], original[:, -n_outputs:])
    np.testing.assert_array_equal(detector.predict(altered)[:, :-n_outputs], altered[:, :-n_outputs])


@pytest.mark.parametrize(
    ("n_outputs", "message"),
    [
        (0, "n_outputs=0: 4 columns follow the inputs"),
        (5, "n_outputs=5: 4 columns follow the inputs"),
        (3, "gives one row of inputs two different outputs"),
    ],
)
def test_a_number_of_outputs_that_the_table_does_not_have_is_refused(
    original: BoolArray, altered: BoolArray, n_outputs: int, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        ReconstructionDetector().fit(original, altered, n_inputs=5, n_outputs=n_outputs)


@pytest.mark.parametrize("n_inputs", [0, -1, 9, 12])
def test_a_number_of_inputs_that_leaves_no_output_is_refused(
    original: BoolArray, altered: BoolArray, n_inputs: int
) -> None:
    with pytest.raises(InputError, match="at least one input and one output"):
        ReconstructionDetector().fit(original, altered, n_inputs=n_inputs)


@each_method
@pytest.mark.parametrize("value", [0.5, -1, 2, np.nan, "1", None])
@pytest.mark.parametrize("column", [0, 5, 8])
def test_a_value_that_is_no_bit_is_refused(
    detector: ReconstructionDetector, altered: BoolArray, method: str, value: Any, column: int
) -> None:
    rows = altered.astype(object if value is None or isinstance(value, str) else float)
    rows[3, column] = value
    with pytest.raises(InputError, match="takes only 0 and 1"):
        getattr(detector, method)(rows)


@each_method
def test_digits_as_text_are_refused(
    detector: ReconstructionDetector, altered: BoolArray, method: str
) -> None:
    with pytest.raises(InputError, match="takes only 0 and 1"):
        getattr(detector, method)(altered.astype(int).astype(str))


@each_method
@pytest.mark.parametrize("shape", [(4, 8), (4, 10), (9,), (1, 2, 9)])
def test_rows_of_another_shape_are_refused(
    detector: ReconstructionDetector, method: str, shape: tuple[int, ...]
) -> None:
    with pytest.raises(InputError, match=r"must have shape \(rows, 9\)"):
        getattr(detector, method)(np.zeros(shape))


@each_method
def test_no_rows_are_no_trouble(detector: ReconstructionDetector, altered: BoolArray, method: str) -> None:
    assert len(getattr(detector, method)(altered[:0])) == 0


@pytest.mark.parametrize("which", ["original", "altered"])
@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        pytest.param(lambda table: np.where(table, 1.0, 0.5), "must hold only 0 and 1", id="halves"),
        pytest.param(lambda table: np.where(table, 1.0, np.nan), "must hold only 0 and 1", id="nan"),
        pytest.param(lambda table: table.astype(int).astype(str), "must hold only 0 and 1", id="text"),
        pytest.param(lambda table: table[0], "must be a matrix with rows", id="one row"),
        pytest.param(lambda table: table[:0], "must be a matrix with rows", id="no rows"),
    ],
)
def test_a_table_that_is_none_is_refused_by_name(
    original: BoolArray, altered: BoolArray, which: str, spoil: Callable[[BoolArray], Any], message: str
) -> None:
    tables = {"original": original, "altered": altered}
    tables[which] = spoil(tables[which])
    with pytest.raises(InputError, match=f"the {which} table {message}"):
        ReconstructionDetector().fit(tables["original"], tables["altered"], n_inputs=5)


def test_tables_of_different_columns_are_refused(original: BoolArray, altered: BoolArray) -> None:
    with pytest.raises(InputError, match="has 9 columns, the altered one 8"):
        ReconstructionDetector().fit(original, altered[:, 1:], n_inputs=5)


@pytest.mark.parametrize(
    ("n_outputs", "message"),
    [(None, "last column is no function of its inputs"), (2, "one row of inputs two different outputs")],
)
def test_a_table_that_contradicts_itself_is_refused(
    original: BoolArray, altered: BoolArray, n_outputs: int | None, message: str
) -> None:
    contradictory = original.copy()
    contradictory[1, -1] ^= True
    with pytest.raises(InputError, match=message):
        ReconstructionDetector().fit(contradictory, altered, n_inputs=5, n_outputs=n_outputs)


@each_method
def test_inputs_that_were_never_seen_are_refused(
    original: BoolArray, altered: BoolArray, method: str
) -> None:
    detector = ReconstructionDetector().fit(original[:80], altered[:80], n_inputs=5)
    assert len(getattr(detector, method)(altered[:80])) == 80
    with pytest.raises(InputError, match="inputs that the fitted table did not"):
        getattr(detector, method)(altered[:81])


def test_an_altered_table_with_more_inputs_is_refused(original: BoolArray, altered: BoolArray) -> None:
    with pytest.raises(InputError, match="holds inputs that the original table does not"):
        ReconstructionDetector().fit(original[:80], altered[:81], n_inputs=5)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_work_like_arrays(
    detector: ReconstructionDetector,
    original: BoolArray,
    altered: BoolArray,
    frame: Callable[[dict[str, Any]], Any],
) -> None:
    columns = circuits.TruthTable(C17, 2).columns

    def framed(table: BoolArray) -> Any:
        return frame(dict(zip(columns, table.T.astype(int), strict=True)))

    fitted = ReconstructionDetector().fit(framed(original), framed(altered), n_inputs=5)
    for method in METHODS:
        expected = getattr(detector, method)(altered)
        np.testing.assert_array_equal(getattr(fitted, method)(framed(altered)), expected)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.int64, np.float32, np.float64])
def test_a_reconstruction_keeps_the_type_of_its_rows(
    detector: ReconstructionDetector, original: BoolArray, altered: BoolArray, dtype: type
) -> None:
    found = detector.predict(altered.astype(dtype))
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, original)


def test_reconstructing_leaves_the_rows_alone(detector: ReconstructionDetector, altered: BoolArray) -> None:
    rows = altered.copy()
    detector.predict(rows)
    np.testing.assert_array_equal(rows, altered)
