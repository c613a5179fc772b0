"""Each kind of plot draws what it is handed."""

import math
import xml.etree.ElementTree as ET

import polars as pl
import pytest

from xassay.report import plot
from xassay.views import Plot

NAN = float("nan")


def dot(panel="p", row="r", series="s", value=0.5, low=None, high=None, published=None):
    return {
        "panel": panel,
        "row": row,
        "series": series,
        "value": value,
        "low": low,
        "high": high,
        "published": published,
    }


def dots(*rows, **options):
    numbers = dict.fromkeys(("value", "low", "high", "published"), pl.Float64)
    return Plot("dots", pl.DataFrame(rows, schema_overrides=numbers), **options)


def curve(**changes):
    fixed = {"down": "c17", "across": "MRR", "series": "lime", "low": 0.2, "high": 0.4, "value": 0.3}
    rows = [{**fixed, "x": x, **changes} for x in (0.1, 0.5)]
    return Plot("curves", pl.DataFrame(rows, schema_overrides={"low": pl.Float64, "high": pl.Float64}))


def bands():
    fixed = {"low": 0.0, "q1": 0.1, "median": 0.2, "q3": 0.3, "high": 0.4}
    return Plot("bands", pl.DataFrame([{"panel": "linear", "x": x, **fixed} for x in (0.0, 1.0)]))


def axes(figure):
    return [ax for ax in figure.axes if ax.get_visible()]


def markers(ax, marker, *, hollow=False):
    """The points drawn with a marker, as (x, y)."""
    return [
        (line.get_xdata()[0], line.get_ydata()[0])
        for line in ax.lines
        if line.get_marker() == marker
        and (line.get_markerfacecolor() == "none") == hollow
        and len(line.get_xdata()) == 1
    ]


@pytest.mark.parametrize("made", [dots(dot()), curve(), bands()], ids=["dots", "curves", "bands"])
def test_every_kind_is_an_svg_that_is_always_the_same(made):
    svg = plot.draw(made)
    assert ET.fromstring(svg).tag.endswith("svg")  # noqa: S314 - our own
    assert svg == plot.draw(made)


def test_dots_stand_at_their_values_with_intervals_and_published_figures():
    (ax,) = axes(plot.dots(dots(dot(value=0.5, low=0.4, high=0.7, published=0.6))))
    assert markers(ax, "o") == [(0.5, 0)]
    assert markers(ax, "D", hollow=True) == [(0.6, 0)]
    assert [list(line.get_xdata()) for line in ax.lines if len(line.get_xdata()) == 2] == [[0.4, 0.7]]


def test_panels_rows_and_series_come_in_the_order_of_the_frame():
    rows = [dot(p, r, s) for p in "ba" for r in ("y", "x") for s in ("2", "1")]
    figure = plot.dots(dots(*rows))
    assert [ax.get_title() for ax in axes(figure)] == ["b", "a"]
    assert [label.get_text() for label in axes(figure)[0].get_yticklabels()] == ["y", "x"]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["2", "1"]


def test_more_panels_than_fit_beside_each_other_go_below():
    figure = plot.dots(dots(*(dot(panel=str(k)) for k in range(4))))
    assert len(axes(figure)) == 4
    assert len(figure.axes) == 6


def test_values_that_are_not_there_are_not_drawn():
    (ax,) = axes(plot.dots(dots(dot(value=None, row="a"), dot(value=NAN, row="b"), dot(value=0.5, row="c"))))
    assert [x for x, _ in markers(ax, "o")] == [0.5]
    (empty,) = axes(plot.dots(dots(dot(value=None))))
    assert markers(empty, "o") == []


@pytest.mark.parametrize(
    ("values", "scale"),
    [
        ((0.01, 0.99), "linear"),
        ((0.001, 0.5), "log"),
        ((0.0, 0.5), "linear"),
        ((-0.001, 0.5), "linear"),
        ((0.0, 0.0), "linear"),
    ],
)
def test_the_axis_is_logarithmic_beyond_two_decades(values, scale):
    (ax,) = axes(plot.dots(dots(*(dot(row=str(k), value=value) for k, value in enumerate(values)))))
    assert ax.get_xscale() == scale
    low, high = ax.get_xlim()
    assert low <= min(values) <= max(values) <= high


def test_limits_are_kept_whatever_the_values():
    (ax,) = axes(plot.dots(dots(dot(value=1e-9), dot(value=0.5), limits=(0, 1.02))))
    assert ax.get_xscale() == "linear"
    assert ax.get_xlim() == (0, 1.02)


def test_what_is_too_small_for_a_logarithmic_axis_stands_at_its_edge_as_a_triangle():
    rows = (
        dot(value=0.5),
        dot(value=1e-3),
        dot(value=1e-15, low=0.0, high=1e-14),
        dot(value=1.0, published=0.0),
    )
    (ax,) = axes(plot.dots(dots(*rows)))
    edge = ax.get_xlim()[0]
    assert math.isclose(edge, 1e-6 / 1.6)
    assert markers(ax, "<") == [(edge, 0)]
    assert markers(ax, "<", hollow=True) == [(edge, 0)]
    assert sorted(x for x, _ in markers(ax, "o")) == [1e-3, 0.5, 1.0]


def test_more_series_than_colours_differ_by_marker():
    figure = plot.dots(dots(*(dot(series=str(k)) for k in range(9))))
    shown = [(line.get_color(), line.get_marker()) for line in figure.legends[0].get_lines()]
    assert len(set(shown)) == 9


def test_curves_have_a_panel_a_pair_and_a_band_where_there_are_bounds():
    (ax,) = axes(plot.curves(curve()))
    assert ax.get_title() == "c17: MRR"
    assert list(ax.lines[0].get_xdata()) == [0.1, 0.5]
    assert ax.collections[0].get_datalim(ax.transData).y1 == pytest.approx(0.4)
    (bare,) = axes(plot.curves(curve(low=None, high=None)))
    assert list(bare.lines[0].get_ydata()) == [0.3, 0.3]
    assert len(bare.collections[0].get_paths()) == 0


def test_bands_draw_five_quantiles_and_the_diagonal():
    (ax,) = axes(plot.bands(bands()))
    diagonal, median = ax.lines
    assert list(diagonal.get_xdata()) == list(diagonal.get_ydata()) == [0.0, 1.0]
    assert list(median.get_ydata()) == [0.2, 0.2]
    ends = [{tuple(end) for end in collection.get_segments()[0][:, 1:]} for collection in ax.collections]
    assert ends == [{(0.0,), (0.4,)}, {(0.1,), (0.3,)}]


@pytest.mark.parametrize("name", ["a$b$_{", "_hidden", "<script>", "データ", "x" * 300])
def test_any_name_can_be_drawn(name):
    svg = plot.draw(dots(dot(panel=name, row=name, series=name)))
    texts = ["".join(each.itertext()) for each in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]  # noqa: S314
    expected = name if len(name) < 100 else "x" * 59 + "…"
    assert [text.replace("\u200b", "") for text in texts].count(expected) == 3
