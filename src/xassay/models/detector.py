"""The CREM study's detector: a lookup table that stands in for an autoencoder."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt

from xassay.circuits.simulation import MAX_INPUTS
from xassay.errors import InputError
from xassay.types import BoolArray, FloatArray, IntArray, Predict


class ReconstructionDetector:
    """Reconstructs a truth-table row from its inputs; a row with a wrong output is anomalous.

    Fitting learns the original circuit's outputs for every combination of inputs. A row is
    reconstructed as itself with the outputs that the original circuit would give, and the
    outputs that differ from their reconstruction are the ones to explain.

    Attributes:
        n_inputs_: number of input columns.
        n_outputs_: number of output columns, the last ones of a row.
        n_features_in_: number of columns: inputs, noise and outputs.

    Reference:
        "Evaluating Anomaly Explanations Using Ground Truth", section 5.1, after Antwarg et
        al. (2021), doi:10.1016/j.eswa.2021.115736.

    Example:
        >>> from xassay import circuits
        >>> c = circuits.load("c17")
        >>> original = circuits.TruthTable(c).rows()
        >>> altered = circuits.TruthTable(circuits.negate(c, "z4")).rows()
        >>> d = ReconstructionDetector().fit(original, altered, n_inputs=5)
        >>> int((d.decision_function(altered) > 0).sum())
        20
    """

    n_inputs_: int
    n_outputs_: int
    n_features_in_: int
    _expected: BoolArray
    _known: BoolArray
    _complete: bool

    def fit(
        self,
        original_table: npt.ArrayLike,
        altered_table: npt.ArrayLike,
        *,
        n_inputs: int,
        n_outputs: int | None = None,
    ) -> Self:
        """Learn the mapping from inputs to the original outputs.

        Args:
            original_table: 0/1, shape (rows, inputs + noise + outputs).
            altered_table: 0/1, of the same columns: the table whose rows will be looked at.
            n_inputs: number of leading input columns.
            n_outputs: number of trailing output columns; by default the columns after the
                inputs that are a function of them in the original table.

        Raises:
            InputError: a table is not 0/1, the two differ in columns, the original outputs
                are no function of the inputs, or the altered table holds inputs that the
                original does not.
        """
        original = _bits(original_table, "the original table")
        altered = _bits(altered_table, "the altered table")
        if original.shape[1] != altered.shape[1]:
            raise InputError(
                f"the original table has {original.shape[1]} columns, the altered one {altered.shape[1]}"
            )
        if not 1 <= n_inputs < original.shape[1] or n_inputs > MAX_INPUTS:
            raise InputError(
                f"n_inputs={n_inputs}: a table of {original.shape[1]} columns needs at least one input and "
                f"one output, and at most {MAX_INPUTS} inputs"
            )
        self.n_inputs_ = n_inputs
        self.n_features_in_ = original.shape[1]
        keys = self._keys(original)
        self._known = np.zeros(2**n_inputs, dtype=np.bool_)
        self._known[keys] = True
        self._complete = bool(self._known.all())
        expected = np.zeros((2**n_inputs, original.shape[1] - n_inputs), dtype=np.bool_)
        expected[keys] = original[:, n_inputs:]
        is_function = (expected[keys] == original[:, n_inputs:]).all(axis=0)
        self.n_outputs_ = self._count_outputs(is_function, n_outputs)
        self._expected = expected[:, -self.n_outputs_ :]
        if not self._known[self._keys(altered)].all():
            raise InputError("the altered table holds inputs that the original table does not")
        return self

    def _count_outputs(self, is_function: BoolArray, n_outputs: int | None) -> int:
        trailing = int(np.argmin(np.append(is_function[::-1], False)))
        wanted = trailing if n_outputs is None else n_outputs
        if not 1 <= wanted <= len(is_function):
            raise InputError(
                "the original table's last column is no function of its inputs"
                if n_outputs is None
                else f"n_outputs={n_outputs}: {len(is_function)} columns follow the inputs"
            )
        if wanted > trailing:
            raise InputError("the original table gives one row of inputs two different outputs")
        return wanted

    def _keys(self, rows: BoolArray) -> IntArray:
        """The row number of each row's inputs, the first input the most significant bit."""
        weights = 2.0 ** np.arange(self.n_inputs_ - 1, -1, -1)
        return np.asarray(rows[:, : self.n_inputs_] @ weights).astype(np.int64)

    def reconstruct_outputs(self, rows: npt.ArrayLike) -> BoolArray:
        """The outputs that the original circuit gives for each row's inputs.

        Args:
            rows: 0/1, shape (rows, features).

        Returns:
            bool, shape (rows, outputs).

        Raises:
            InputError: a value that is not 0 or 1, another number of columns, or inputs
                that the fitted table did not hold.
        """
        return np.asarray(self._expected[self._look_up(rows)])

    def _look_up(self, rows: npt.ArrayLike) -> IntArray:
        if not hasattr(self, "n_outputs_"):
            raise InputError("the detector is not fitted yet: call fit first")
        array = np.asarray(rows)
        if array.ndim != 2 or array.shape[1] != self.n_features_in_:  # noqa: PLR2004 - a matrix
            raise InputError(f"rows must have shape (rows, {self.n_features_in_}), got {array.shape}")
        if array.dtype != np.bool_ and not bool(((array == 0) | (array == 1)).all()):
            raise InputError("the detector takes only 0 and 1; round or encode the rows first")
        keys = self._keys(array)
        if not self._complete and not self._known[keys].all():
            raise InputError("the rows hold inputs that the fitted table did not")
        return keys

    def predict(self, rows: npt.ArrayLike) -> npt.NDArray[Any]:
        """The reconstruction of each row, of the same shape and type. Errors: `reconstruct_outputs`."""
        reconstruction = np.array(rows)
        reconstruction[:, -self.n_outputs_ :] = self.reconstruct_outputs(rows)
        return reconstruction

    def anomalous_outputs(self, rows: npt.ArrayLike) -> BoolArray:
        """Which outputs differ from their reconstruction: bool (rows, outputs)."""
        expected = self.reconstruct_outputs(rows)
        return np.asarray(np.asarray(rows)[:, -self.n_outputs_ :] != expected)

    def decision_function(self, rows: npt.ArrayLike) -> IntArray:
        """The number of wrong outputs of each row, shape (rows,); above 0 is anomalous."""
        return np.asarray(self.anomalous_outputs(rows).sum(axis=1))

    def output_table(self, outputs: IntArray) -> FloatArray:
        """The same function as a table over the inputs: float (2^inputs, k), the first input leading."""
        return self._expected[:, outputs].astype(np.float64)

    def output_function(self, outputs: IntArray) -> Predict:
        """The function that explainers are given: rows -> reconstructed outputs as floats.

        Args:
            outputs: positions of k outputs.

        Returns:
            A function (rows, features) -> float (rows, k).
        """
        expected = self.output_table(outputs)

        def reconstructed(rows: FloatArray) -> FloatArray:
            return np.asarray(expected[self._look_up(rows)])

        return reconstructed


def _bits(table: npt.ArrayLike, what: str) -> BoolArray:
    array = np.asarray(table)
    if array.ndim != 2 or len(array) == 0:  # noqa: PLR2004 - a matrix
        raise InputError(f"{what} must be a matrix with rows, got shape {array.shape}")
    if array.dtype != np.bool_ and not bool(np.isin(array, (0, 1)).all()):
        raise InputError(f"{what} must hold only 0 and 1")
    return array.astype(np.bool_)
