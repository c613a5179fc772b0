"""Numbers read as what they are, and records say what they hold."""

import math

import pytest

from xassay.estimates import Estimate
from xassay.views import Block, Column, Line, Score, p_cell, short_names, significant

NAN = float("nan")


@pytest.mark.parametrize(
    ("value", "low", "expected"),
    [
        (0.5, 0.4, "0.500 [0.400, 0.600]"),
        (0.5, None, "0.500"),
        (NAN, None, "undefined"),
        (NAN, 0.4, "undefined"),
        (None, None, "failed"),
    ],
)
def test_a_score_reads_as_what_it_is(value, low, expected):
    score = Score(Estimate(value, None if low is None else (low, 0.6)))
    assert score.text == expected
    assert score.beside == ""


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.00003, "3.00e-5"),
        (-0.00003, "-3.00e-5"),
        (0.00099999, "0.00100"),
        (0.0375, "0.0375"),
        (0.5, "0.500"),
        (0.99951, "1.00"),
        (12.345, "12.3"),
        (999.9, "1,000"),
        (-5310.2, "-5,310"),
        (2.5e7, "2.50e7"),
        (1e-17, "1.00e-17"),
        (0.0, "0"),
        (-0.0, "0"),
        (math.inf, "inf"),
    ],
)
def test_significant_digits_show_every_size(value, expected):
    assert significant(value) == expected


@pytest.mark.parametrize(
    ("value", "published", "expected"),
    [
        (0.137, 0.142, "0.142 (-0.0050)"),
        (0.163, 0.15, "0.150 (+0.013)"),
        (4e-5, 3e-5, "3.00e-5 (+1.0e-5)"),
        (0.5, 0.5, "0.500 (0)"),
        (NAN, 0.15, "0.150"),
        (None, 0.15, "0.150"),
        (0.5, None, ""),
    ],
)
def test_the_published_figure_stands_beside_with_the_difference(value, published, expected):
    assert Score(Estimate(value), published=published, digits=3).beside == expected


def test_significant_digits_hold_for_bounds_too():
    assert Score(Estimate(3e-5, (2.51e-5, 3.5e-5)), digits=3).text == "3.00e-5 [2.51e-5, 3.50e-5]"


@pytest.mark.parametrize(
    ("p_value", "text", "strong"),
    [(0.049, "0.049", True), (0.05, "0.05", False), (NAN, "-", False), (None, "-", False)],
)
def test_a_p_value_below_five_percent_is_strong(p_value, text, strong):
    cell = p_cell(p_value)
    assert (cell.text, cell.strong) == (text, strong)


def test_names_keep_their_folders_where_they_would_be_alike():
    names = ["/a/mine.py:f", "/b/mine.py:f", "/a/mine.py:g", "lime:model=x/y"]
    assert short_names(names) == {
        "/a/mine.py:f": "/a/mine.py:f",
        "/b/mine.py:f": "/b/mine.py:f",
        "/a/mine.py:g": "mine.py:g",
        "lime:model=x/y": "lime:model=x/y",
    }


def test_counts_name_what_went_wrong():
    scores = {"a": Score(Estimate(0.5, n=1200)), "b": Score(Estimate(NAN, n=1000, n_failed=3, n_undefined=4))}
    assert Line("lime", scores).counts == "1,200, 3 failed, 4 undefined"


def test_neighbours_of_a_group_share_its_heading():
    columns = (Column("a", "x", group="g"), Column("b", "y", group="g"), Column("c", "z"))
    assert Block("", "", columns, ()).groups == (("g", 2), ("", 1))
    assert Block("", "", columns[2:], ()).groups == ()
