"""What an explanation says of itself."""

from typing import Any

import attrs
import numpy as np
import pytest

from xassay.errors import ExplainerError, InputError
from xassay.metrics import contributions
from xassay.types import Explanation

VALUES = np.array([[1.0, -2.0], [0.5, 3.0]])
ROWS, BACKGROUND = np.array([[3.0, 1.0], [0.0, 5.0]]), np.array([[1.0, 1.0], [3.0, 0.0]])


@pytest.mark.parametrize(
    ("coefficients", "additive", "adds"),
    [
        (None, None, True),
        (None, True, True),
        (None, False, False),
        (VALUES, None, False),
        (VALUES, True, True),
        (VALUES, False, False),
    ],
)
def test_what_is_said_decides_and_else_the_coefficients(coefficients: Any, additive: Any, adds: bool) -> None:
    assert Explanation(VALUES, coefficients=coefficients, additive=additive).adds is adds


@pytest.mark.parametrize("additive", [None, True, False])
def test_equal_arrays_contribute_the_same_whether_or_not_they_are_one_object(additive: bool | None) -> None:
    one = Explanation(VALUES, coefficients=VALUES, additive=additive)
    two = Explanation(VALUES, coefficients=VALUES.copy(), additive=additive)
    expected = VALUES if additive else VALUES * (ROWS - [2.0, 0.5])
    for explanation in (one, two):
        np.testing.assert_array_equal(contributions(explanation, ROWS, BACKGROUND), expected)


def test_values_that_do_not_add_up_have_no_contributions_without_coefficients() -> None:
    with pytest.raises(
        InputError, match="says that it is not additive and has no coefficients: give"
    ) as refused:
        contributions(Explanation(VALUES, additive=False), ROWS, BACKGROUND)
    assert "\n" not in str(refused.value)


def test_positions_of_the_fields_stay_as_they_were() -> None:
    names = [field.name for field in attrs.fields(Explanation)]
    assert names[:5] == ["values", "coefficients", "intercepts", "errors", "categorical"]
    found = Explanation(VALUES, VALUES, np.zeros(2), {1: "no"}, (1,))
    assert (found.errors, found.categorical, found.additive, found.base, found.unit) == (
        {1: "no"},
        (1,),
        None,
        None,
        "score",
    )


@pytest.mark.parametrize("base", [2, 2.5, np.float64(2.5), np.array(2.5)])
def test_a_base_may_be_one_number(base: Any) -> None:
    found = Explanation(VALUES, base=base).base
    assert isinstance(found, float)
    assert found == float(base)


@pytest.mark.parametrize("k", [None, 3])
def test_a_base_may_be_one_number_a_row_and_output(k: int | None) -> None:
    values = VALUES if k is None else np.zeros((2, 2, k))
    base = [1, 2] if k is None else [[1, 2, 3], [4, 5, 6]]
    found = Explanation(values, base=base).base
    assert isinstance(found, np.ndarray)
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, base)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"base": [1.0, 2.0, 3.0]}, r"a base of shape \(3,\), expected a number or \(2,\)"),
        ({"base": VALUES}, r"a base of shape \(2, 2\)"),
        ({"base": "mean"}, "base must be a number"),
        ({"base": [[1], [1, 2]]}, "base must be a number"),
        ({"additive": 1}, "additive must be True, False or None, not 1"),
        ({"additive": "yes"}, "additive must be True, False or None, not 'yes'"),
        ({"unit": ""}, "unit must name a unit, such as 'score' or 'log-odds', not ''"),
        ({"unit": " "}, "unit must name a unit"),
        ({"unit": None}, "unit must name a unit"),
    ],
)
def test_what_an_explanation_cannot_say_is_refused_in_one_line(fields: Any, words: str) -> None:
    with pytest.raises(ExplainerError, match=words) as refused:
        Explanation(VALUES, **fields)
    assert "\n" not in str(refused.value)
    assert isinstance(refused.value, ValueError)


@pytest.mark.parametrize("values", [[["a"]], [[1.0], [2.0, 3.0]], [[object()]]])
def test_no_explanation_of_what_is_no_number(values: Any) -> None:
    with pytest.raises(ExplainerError, match="must hold numbers alone, as many in each row"):
        Explanation(values)
