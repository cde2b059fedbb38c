"""Charts take aggregates only, and say in words and as a table what they draw."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from dpcore.errors import DisclosureError
from dpcore.tables.answer import CliqueCounts
from workbench.anonymize.charts import draw_shape_bars
from workbench.evaluate.charts import (
    attacks_chart,
    distances_chart,
    measures_chart,
    scores_chart,
    sources_chart,
    uneven_sources_chart,
)
from workbench.report import charts
from workbench.report.drawing import vertical_bars
from workbench.synthesize.charts import (
    cells_with_errors,
    expected_errors,
    relation_graph,
)
from workbench.ui.method_charts import draw_against_epsilon

HOSTILE = [
    "![x](http://127.0.0.1:9/b.png)",
    "<script>alert(1)</script>",
    "a.b[c]",
    "rows",
    "cell",
    "__proto__",
    "a.b",
    "a[0]",
    "constructor",
    "a\\b",
]
LABELS = [f"c{i}" for i in range(5)]
VALUES = np.array([5.0, -1.0, 0.0, 30.0, 7.0])


def frame(rows: int) -> pd.DataFrame:
    return pd.DataFrame(
        {"x": range(rows), "y": 1.0, "s": "a", "k": 1, "name": "n", "part": "p"}
    )


def made(name: str = "age") -> dict[str, charts.Chart]:
    """One chart of each kind, about a column called `name`."""
    figures = pd.DataFrame(
        {
            "figure": ["pairs"],
            "release": [0.1],
            "another sample": [0.05],
            "independent columns": [0.2],
        },
    )
    rates = {"rate": 0.1, "low": 0.05, "high": 0.2, "attempts": 500}
    swept = {
        "table": "t",
        "method": "m",
        "scenario": "s",
        "mean": 0.5,
        "low": 0.4,
        "high": 0.6,
        "epsilon": 1,
    }
    return {
        "counts": charts.count_bars(
            LABELS, VALUES, VALUES - 3.0, VALUES + 3.0, column=name
        ),
        "several": sources_chart(
            pd.DataFrame(
                {
                    "cell": [*LABELS, *LABELS],
                    "of": ["a"] * 5 + ["b"] * 5,
                    "rows": [*VALUES, *VALUES],
                },
            ),
            column=name,
            y_title="rows",
            shares=False,
        ),
        "dots": distances_chart(
            pd.DataFrame(
                {"figure": [name] * 2, "of": ["A", "B"], "distance": [0.1, 0.2]}
            ),
            title=f"distance of {name}",
        ),
        "heatmap": charts.heatmap([name, "b"], np.full((2, 2), 0.1), title="distance"),
        "two_way": charts.draw_two_way_table(
            np.ones((5, 2)), LABELS, ["F", "M"], (name, "sex")
        ),
        "expected": expected_errors([(name, 4, 6.0), ("b", 8, 8.0)], 100.0),
        "lines": charts.draw_lines(
            frame(3), {"x": f"x of {name}", "y": "error", "s": "s"}
        ),
        "scales": measures_chart(figures),
        "scores": scores_chart(
            pd.DataFrame(
                {
                    "task": ["trees"],
                    "of": ["release"],
                    "mean": 0.8,
                    "low": 0.7,
                    "high": 0.9,
                }
            ),
            title=f"accuracy of {name}",
        ),
        "attacks": attacks_chart(
            pd.DataFrame([{"attack": "inference", "of": "control", **rates}])
        ),
        "against_epsilon": draw_against_epsilon(
            pd.DataFrame([swept]), measure=f"accuracy of {name}"
        ).lines[0][0],
    }


def data_of(chart: charts.Chart) -> list[dict]:
    """Every datum that the chart sends to the browser."""
    spec = chart.spec.to_dict()
    return [datum for rows in spec["datasets"].values() for datum in rows]


@pytest.mark.parametrize("kind", made())
def test_every_chart_has_words_a_table_and_data_of_aggregates(kind):
    """Somebody who does not see the chart would get nothing."""
    chart = made()[kind]
    assert len(chart.alt) > 10
    assert len(chart.table) > 0
    assert 0 < len(data_of(chart)) <= charts.MAX_MARKS
    drawn = json.dumps(data_of(chart))
    assert all(
        str(value) in drawn
        for value in chart.table.select_dtypes("str").to_numpy().ravel()
    )


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("kind", made())
def test_any_column_name_can_be_drawn(kind, name):
    """A column called "rows" or "a.b" would break its chart, or its table."""
    chart = made(name)[kind]
    assert chart.spec.to_dict()
    assert not chart.table.columns.duplicated().any()


def test_rows_of_a_table_are_refused():
    """A chart of the private table would send every row to the browser."""
    assert charts.draw_lines(frame(charts.MAX_MARKS), {"x": "x", "y": "y", "s": "s"})
    with pytest.raises(DisclosureError, match="at most 2000 aggregated values"):
        charts.draw_lines(frame(charts.MAX_MARKS + 1), {"x": "x", "y": "y", "s": "s"})
    with pytest.raises(DisclosureError):
        charts.count_bars(
            [str(i) for i in range(2001)], *[np.zeros(2001)] * 3, column="age"
        )
    many = pd.DataFrame({"cell": range(2001), "of": "a", "rows": 0.0})
    with pytest.raises(DisclosureError):
        sources_chart(many, column="age", y_title="rows", shares=False)


def test_every_chart_is_made_behind_the_guard():
    """A new chart could forget the limit."""
    rooms = Path(charts.__file__).parents[1].rglob("charts.py")
    makers = [
        each
        for path in rooms
        for each in ast.parse(path.read_text()).body
        if isinstance(each, ast.FunctionDef)
        and getattr(each.returns, "id", "") == "Chart"
    ]
    assert len(makers) >= 14
    for maker in makers:
        calls = {
            call.func.id
            for call in ast.walk(maker)
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
        }
        assert calls & {"base_chart", "draw_lines"}, (
            maker.name
        )  # lines are made behind it too


def test_only_the_charts_module_draws():
    """A page could draw a chart of rows past the guard."""
    root = Path(charts.__file__).parents[2]
    past_the_guard = (
        "import altair",
        "bar_chart(",
        "line_chart(",
        "area_chart(",
        "scatter_chart(",
        "vega_lite",
    )
    for path in [*(root / "pages").glob("*.py"), *(root / "workbench").rglob("*.py")]:
        if path.name != "charts.py":
            assert not [name for name in past_the_guard if name in path.read_text()], (
                path
            )


def test_neighbors_are_folded_together():
    """A folded chart would lose rows, or name other cells than it adds up."""
    labels = charts.fold_labels([str(i) for i in range(450)])
    values = charts.fold_table(np.ones(450))
    assert (labels[1], len(labels), len(values), values.sum()) == ("3 …", 150, 150, 450)
    assert charts.fold_labels(LABELS) == list(LABELS)
    assert list(charts.fold_table(VALUES)) == list(VALUES)


def test_two_way_folds_large_tables_without_losing_rows():
    """A table of 300 x 300 cells would be refused, or counted wrongly."""
    values = np.arange(90_000.0).reshape(300, 300)
    names = [str(i) for i in range(300)]
    chart = charts.draw_two_way_table(values, names, names, ("a", "b"))
    assert len(chart.table) <= 1600
    assert chart.table.iloc[:, 2].sum() == pytest.approx(values.sum())


def test_error_bars_where_there_is_noise():
    """Noisy counts would look exact."""
    chart = charts.count_bars(LABELS, VALUES, VALUES - 3.0, VALUES + 3.0, column="age")
    assert {"rule", "bar"} == {
        layer["mark"]["type"] for layer in chart.spec.to_dict()["layer"]
    }
    assert (chart.table["high"] - chart.table["low"]).eq(6.0).all()


def luminance(red: float, green: float, blue: float) -> float:
    """Relative luminance of a color (WCAG 2.2), of parts from 0 to 255."""
    parts = [
        part / 3294.6 if part <= 10.31 else ((part / 255 + 0.055) / 1.055) ** 2.4
        for part in (red, green, blue)
    ]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(first: tuple[float, ...], second: tuple[float, ...]) -> float:
    dark, light = sorted((luminance(*first), luminance(*second)))
    return (light + 0.05) / (dark + 0.05)


def parts_of(color: str) -> tuple[float, ...]:
    return tuple(int(color[at : at + 2], 16) for at in (1, 3, 5))


@pytest.mark.parametrize("paper", ["#FFFFFF", "#0E1117"])
def test_both_halves_of_an_error_bar_can_be_seen(paper: str) -> None:
    """The half on the bar was grey on blue: bars looked as if they could only be too
    low.
    """
    chart = charts.count_bars(LABELS, VALUES, VALUES - 3.0, VALUES + 3.0, column="age")
    bars, *errors = chart.spec.to_dict()["layer"]
    shade = bars["mark"]["opacity"]
    bar = tuple(
        shade * color + (1 - shade) * ground
        for color, ground in zip(
            parts_of(bars["mark"]["color"]), parts_of(paper), strict=True
        )
    )
    colors = [parts_of(error["mark"]["color"]) for error in errors]
    for ground in (bar, parts_of(paper)):
        assert max(contrast(color, ground) for color in colors) >= 3
    assert contrast(*colors) >= 3, "a line without an edge"
    assert contrast(parts_of(charts.ERROR_BAR), bar) < 3, "one grey line would do"


def axes_of(spec: object) -> list[dict]:
    """The axes of all channels that a chart draws from left to right."""
    if isinstance(spec, list):
        return [axis for part in spec for axis in axes_of(part)]
    if not isinstance(spec, dict):
        return []
    own = (
        [spec["x"]["axis"]]
        if isinstance(spec.get("x"), dict) and spec["x"].get("axis")
        else []
    )
    return own + [axis for part in spec.values() for axis in axes_of(part)]


def test_long_axes_have_about_ten_level_labels():
    """Forty labels stood upright below a chart, over each other."""
    many = [f"cell {i}" for i in range(40)]
    rows = np.arange(40.0)
    several = pd.DataFrame({"cell": many, "of": "a", "rows": rows})
    drawn = [
        charts.count_bars(many, rows, rows, rows, column="age"),
        charts.draw_two_way_table(np.ones((2, 40)), ["F", "M"], many, ("sex", "age")),
        sources_chart(several, column="age", y_title="rows", shares=False),
        cells_with_errors(many, rows, 3.0, column="age"),
        draw_shape_bars(pd.Series(rows, many), pd.Series(rows, many), column="age"),
    ]
    for chart in drawn:
        axes = axes_of(chart.spec.to_dict())
        assert axes
        for axis in axes:
            assert axis.get("labelAngle", 0) in (0, -40), chart.alt
            assert len(axis.get("values", [])) <= 10, chart.alt
    names = charts.heatmap(many[:20], np.ones((20, 20)), title="error")
    assert {axis["labelAngle"] for axis in axes_of(names.spec.to_dict())} == {-40}


def test_many_categories_lie_below_each_other():
    """Of sixteen levels of education six had a name."""
    column = dp.Categorical(
        "education", categories=tuple(f"level {i}" for i in range(16))
    )
    values = np.arange(16.0)
    counts = CliqueCounts(
        clique=("education",),
        values=values,
        low=values - 2,
        high=values + 2,
        counted_alone=np.ones(16, dtype=bool),
    )
    spec = charts.column_bars(column, column.labels, counts).spec.to_dict()
    assert spec["layer"][0]["encoding"]["y"]["axis"]["labelOverlap"] is False
    assert spec["layer"][0]["encoding"]["x"]["field"] == "rows"


def test_before_paying_the_error_is_a_band():
    """A hundred cells had a hundred strokes, which read as a wall."""
    many = [f"cell {i}" for i in range(100)]
    spec = cells_with_errors(many, np.ones(100), 3.0, column="age").spec.to_dict()
    marks = [layer["mark"] for layer in spec["layer"]]
    assert [mark["type"] for mark in marks] == ["bar", "bar"]
    assert marks[1]["width"] == {"band": 1}
    error = spec["layer"][1]["encoding"]
    assert (error["y"]["field"], error["y2"]["field"]) == ("low", "high")


def test_stronger_relations_have_thicker_lines():
    """Thirty-three relations looked alike, whether they were weak or strong."""
    links = {("a", "b"): 0.9, ("b", "c"): 0.1}
    chart = relation_graph(["a", "b", "c"], links)
    width = chart.spec.to_dict()["layer"][0]["encoding"]["strokeWidth"]
    assert width["field"] == "strength"
    assert width["scale"]["domain"] == [0, 1]
    low, high = width["scale"]["range"]
    assert high > 5 * low
    assert chart.alt.index("a × b") < chart.alt.index("b × c")
    assert chart.table.iloc[0, 2] == 0.9


def test_meaning_does_not_rest_on_color_alone():
    """Lines would be the same to whoever sees no colors."""
    for kind in ("lines", "scales", "scores", "attacks", "against_epsilon"):
        assert '"shape"' in json.dumps(made()[kind].spec.to_dict())


def test_no_label_of_a_map_is_dropped_and_maps_can_share_a_scale() -> None:
    """HS-grad, Bachelors and Some-college, the darkest rows, had no names; two maps had
    two scales.
    """
    labels = [f"value {i}" for i in range(38)]
    spec = charts.draw_two_way_table(
        np.ones((38, 2)), labels, ["F", "M"], ("education", "sex")
    ).spec.to_dict()
    assert spec["encoding"]["y"]["axis"]["labelOverlap"] is False
    assert spec["height"] > 38 * 12
    maps = [
        charts.heatmap(["a", "b"], np.full((2, 2), off), title="t", darkest=0.6)
        for off in (0.1, 0.5)
    ]
    assert {
        each.spec.to_dict()["encoding"]["color"]["scale"]["domainMax"] for each in maps
    } == {0.6}


def test_bars_say_their_value() -> None:
    """A bar of length 0 said nothing, and nobody could read a bar without pointing at
    it.
    """
    spec = charts.share_bars(
        ["a", "b"], [0.0, 0.123], x_title="share", alt="Two bars."
    ).spec.to_dict()
    words = next(layer for layer in spec["layer"] if layer["mark"]["type"] == "text")
    assert words["encoding"]["text"] == {
        "field": "share",
        "format": ".1%",
        "title": None,
        "type": "quantitative",
    }


def test_tables_beside_charts_are_rounded() -> None:
    """The table beside a chart said 301.1528 and 0.000000000000000004."""
    frame = pd.DataFrame(
        {
            "of": ["a"] * 5,
            "rows": [301.1528, 4e-18, -32_561.37, 0.0, np.nan],
            "k": [5] * 5,
        }
    )
    shown = charts.round_figures(frame)
    assert shown["rows"].tolist()[:4] == [301, 0, -32_561, 0]
    assert charts.round_figures(pd.DataFrame({"x": [0.0394598, 12.345, 1.0]}))[
        "x"
    ].tolist() == [0.0395, 12.3, 1.0]
    assert shown["k"].tolist() == [5] * 5
    assert np.isnan(shown["rows"].iloc[4])


def test_what_a_mark_says_is_rounded() -> None:
    """A loss of 0.03945980518 and a share of 96.376102% were read out."""
    frame = pd.DataFrame({"k": [5], "loss": [0.03945980518], "limit": ["2%"]})
    told = {
        each.shorthand: each.to_dict().get("format")
        for each in charts.tooltips_of(frame)
    }
    assert told == {"k:Q": ",d", "loss:Q": ",.3~r", "limit:N": None}


def uneven() -> tuple[dp.Integer, CliqueCounts]:
    """A column in cells of 1 and of 10, with 10 rows in each narrow one, 100 in each
    wide one, and 7 missing.
    """
    column = dp.Integer(name="age", low=0, high=29, cuts=(10, 11, 20), missing=True)
    values = np.array([100.0, 10.0, 90.0, 100.0, 7.0])
    counts = CliqueCounts(
        clique=("age",),
        values=values,
        low=values - 5,
        high=values + 5,
        counted_alone=np.ones(5, dtype=bool),
    )
    return column, counts


def test_wide_cells_are_no_taller_than_narrow_ones_of_the_same_density() -> None:
    """A bell curve in cells of different widths would be drawn as a comb."""
    column, counts = uneven()
    chart = charts.column_bars(column, column.labels, counts)
    drawn = chart.spec.to_dict()
    bars = next(layer for layer in drawn["layer"] if layer["mark"]["type"] == "rect")
    data = drawn["datasets"][bars["data"]["name"]]
    assert [(bar["start"], bar["end"]) for bar in data] == [
        (0, 10),
        (10, 11),
        (11, 20),
        (20, 30),
    ]
    assert [bar["density"] for bar in data] == [10, 10, 10, 10]
    assert "7" in drawn["title"]["subtitle"], "the missing rows would be gone"
    for layer in drawn["layer"]:
        titles = [hint["title"] for hint in layer["encoding"]["tooltip"]]
        assert titles == ["cell", "rows", "low", "high"], (
            "low would be shown as the rows"
        )
    assert list(chart.table["rows"]) == list(counts.values)


def test_a_column_from_several_sources_is_as_high_as_its_rows_in_a_unit() -> None:
    """The original of a bell curve would be a comb beside the release."""
    column, counts = uneven()
    extents = charts.uneven_extents(column)
    assert extents is not None
    sources = {"original": counts.values, "drawn rows": 2 * counts.values}
    rows = pd.concat(
        [
            pd.DataFrame({"cell": list(column.labels), "of": name, "rows": values})
            for name, values in sources.items()
        ],
        ignore_index=True,
    )
    chart = uneven_sources_chart(rows, extents, column="age", shares=False)
    drawn = chart.spec.to_dict()
    (data,) = drawn["datasets"].values()
    assert [(bar["start"], bar["end"]) for bar in data[:4]] == [
        (0, 10),
        (10, 11),
        (11, 20),
        (20, 30),
    ]
    assert [bar["density"] for bar in data] == [10] * 4 + [20] * 4
    shares = uneven_sources_chart(rows, extents, column="age", shares=True)
    axis = shares.spec.to_dict()["encoding"]["y"]["axis"]
    assert axis["format"] == ".2~p", "0.015 % and 0.02 % would have one label"
    (missing,) = drawn["title"]["subtitle"]
    assert "7 (original); 14 (drawn rows)" in missing
    assert list(chart.table["rows"]) == [*counts.values, *(2 * counts.values)]


def test_single_values_of_several_sources_stand_beside_each_other() -> None:
    """The bar of the release would cover that of the original; and nine of ten people
    without a gain would leave an empty chart.
    """
    column = dp.Integer(
        "gain", low=0, high=99_999, cuts=(10_000, 50_000), special=(0, 20_000)
    )
    extents = charts.uneven_extents(column)
    assert extents is not None
    values = np.full(column.size, 400.0)
    values[column.labels.index("0")] = 18_000.0
    rows = pd.concat(
        [
            pd.DataFrame({"cell": list(column.labels), "of": name, "rows": values})
            for name in ("a", "b")
        ],
        ignore_index=True,
    )
    drawn = uneven_sources_chart(rows, extents, column="gain", shares=False)
    spec = drawn.spec.to_dict()
    (data,) = spec["datasets"].values()
    assert "0" not in {bar["cell"] for bar in data}
    assert any(told.startswith("0:") for told in spec["title"]["subtitle"])
    (first, second) = [bar for bar in data if bar["cell"] == "20000"]
    assert first["end"] == pytest.approx(second["start"])
    assert first["start"] < 20_000 < second["end"]


def test_even_cells_are_drawn_as_counts() -> None:
    """Counts of years of age would be called rows in a unit."""
    column = dp.Integer(name="age", low=0, high=2)
    values = np.array([1.0, 2.0, 3.0])
    counts = CliqueCounts(
        clique=("age",),
        values=values,
        low=values,
        high=values,
        counted_alone=np.ones(3, dtype=bool),
    )
    drawn = charts.column_bars(column, column.labels, counts).spec.to_dict()
    assert drawn["layer"][0]["mark"]["type"] == "bar"


def test_a_value_that_most_people_have_is_told_beside_the_others() -> None:
    """Nine of ten people had no capital gain, and the chart of the others was empty."""
    column = dp.Integer(
        "gain", low=0, high=99_999, cuts=(10_000, 50_000), special=(0,), missing=False
    )
    assert column.size == 4
    heights = [18_000.0, 900.0, 700.0, 400.0]
    place = column.labels.index("0")
    values = np.array([*heights[1:]])
    values = np.insert(values, place, heights[0])
    counts = CliqueCounts(
        clique=("gain",),
        values=values,
        low=values - 30,
        high=values + 30,
        counted_alone=np.ones(4, dtype=bool),
    )
    chart = charts.column_bars(column, column.labels, counts)
    spec = chart.spec.to_dict()
    assert "0: 18,000" in json.dumps(spec), spec
    drawn = {line["cell"] for rows in spec["datasets"].values() for line in rows}
    assert "0" not in drawn
    assert len(drawn) == 3
    assert len(chart.table) == 4


def test_layers_are_what_altair_makes_and_no_frame_is_written_out(monkeypatch) -> None:
    """Altair writes the frame of each layer out: 2 ms a chart, for no one."""
    frame = pd.DataFrame({"cell": ["a", "b"], "rows": [3.0, 4.0], "low": [1.0, 2.0]})
    altair, chart = charts.base_chart(frame)
    bars = chart.mark_bar().encode(x=altair.X("cell:N"), y=altair.Y("rows:Q"))
    rules = chart.mark_rule().encode(x=altair.X("cell:N"), y=altair.Y("low:Q"))
    expected = altair.layer(bars, rules, height=40).to_dict()
    monkeypatch.setattr(pd.DataFrame, "__repr__", None)
    assert charts.layer_marks(bars, rules, height=40).to_dict() == expected
    assert bars.data is frame  # the layers are as they were


def test_layers_of_two_frames_keep_both() -> None:
    """The names in a graph are no places of its lines."""
    graph = relation_graph(["a", "b"], {("a", "b"): 0.5}).spec.to_dict()
    assert len({layer["data"]["name"] for layer in graph["layer"]}) == 2


def test_long_labels_below_a_shared_chart_do_not_touch() -> None:
    """Four days ran into each other: 2024-01-012024-04-29."""

    def shown(labels: list[str]) -> list[str]:
        drawn = vertical_bars(
            labels,
            [5.0] * len(labels),
            [(4.0, 6.0)] * len(labels),
            unit="rows",
            alt="",
            title="day",
        ).__html__()
        assert drawn.count('class="error"') == len(labels)
        assert drawn.count('class="edge"') == (12 if len(labels) == 12 else 0)
        return [label for label in labels if f">{label}<" in drawn]

    days = [f"2024-{month:02}-01" for month in range(1, 13)]
    assert len(shown(days)) == 3
    assert len(shown([str(year) for year in range(2000, 2012)])) == 4
    assert len(shown([str(year) for year in range(1970, 2012)])) == 4


def test_a_narrow_cell_that_most_people_are_in_is_told_as_well() -> None:
    """Cells that were found with noise call no value special: 0 is the cell from 0 to
    below 1, and all others would be flat beside it.
    """
    heights = np.array([3_200.0, 20.0, 0.2, 0.3, 0.1])
    narrow = np.array([True, True, False, False, False])
    assert charts.find_tall_cells(heights, narrow).tolist() == [
        True,
        True,
        False,
        False,
        False,
    ]
    # of many narrow cells that are about as tall, none is left out
    even = np.array([30.0] * 12 + [0.1] * 3)
    assert not charts.find_tall_cells(even, np.arange(15) < 12).any()
    # without other rows there is nothing to make room for
    alone = np.array([3_200.0, 0.0, -0.2])
    assert not charts.find_tall_cells(alone, np.array([True, False, False])).any()
    assert not charts.find_tall_cells(heights[:2], narrow[:2]).all()
