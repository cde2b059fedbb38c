"""Charts of the Local answers page, with answers that strangers named."""

from __future__ import annotations

import json

import pandas as pd
import pytest

import dpcore.local as dl
from workbench.local_dp import charts, design, simulate
from workbench.report.charts import Chart
from workbench.store.settings import Settings
from workbench.ui import link_addresses

HOSTILE = [
    "![x](http://127.0.0.1:9/b.png)",
    "<script>alert(1)</script>",
    "a.b[c]",
    "true",
    "answer",
]


def by_people(categories: int, people: int) -> pd.DataFrame:
    return design.expected_errors(
        categories, [(size, 1.0) for size in design.sizes_near(people)]
    )


def by_epsilon(categories: int, people: int) -> pd.DataFrame:
    return design.expected_errors(
        categories, [(people, each) for each in design.CURVE_EPSILONS]
    )


def made(answers: list[str]) -> dict[str, Chart]:
    """One chart of each kind."""
    column = pd.Series(answers * 40, name="x")
    found = simulate.simulate_surveys(
        [column], protocol="subset selection", epsilon=2.0
    )[0]
    return {
        "people": charts.draw_error_lines(
            by_people(5, 100), x_field="people", title="people", survey_x=100
        ),
        "epsilon": charts.draw_error_lines(
            by_epsilon(5, 9), x_field="epsilon", title="eps", survey_x=1.0
        ),
        "counts": charts.draw_share_intervals(found.shares),
        "estimates": charts.draw_share_intervals(
            simulate.estimated_shares(found.question, found.estimate)
        ),
        "means": charts.draw_mean_intervals(
            simulate.simulate_means(pd.Series(range(100)), low=0, high=99, epsilon=2.0)
        ),
    }


@pytest.mark.parametrize("kind", ["people", "epsilon", "counts", "estimates", "means"])
def test_every_chart_has_words_a_table_and_aggregates(kind: str) -> None:
    """Somebody who does not see the chart would get nothing; or rows would go to the
    browser.
    """
    chart = made(HOSTILE)[kind]
    assert len(chart.alt) > 10
    assert 0 < len(chart.table) < 100
    assert not chart.table.columns.duplicated().any()
    assert all(str(name)[0].islower() for name in chart.table.columns)
    spec = json.dumps(chart.spec.to_dict())
    assert "shape" in spec if kind in ("people", "epsilon") else True


def test_intervals_are_drawn_where_there_is_noise() -> None:
    """Estimates would look exact."""
    drawn = made(HOSTILE)
    assert [
        layer["mark"]["type"] for layer in drawn["counts"].spec.to_dict()["layer"]
    ] == ["bar", "bar"]
    assert {"low", "high"} <= set(drawn["counts"].table.columns)
    assert "rule" in {
        layer["mark"]["type"] for layer in drawn["means"].spec.to_dict()["layer"]
    }


def test_errors_fall_with_people_and_epsilon() -> None:
    """The chart would show another law than the one that is kept."""
    for _, lines in by_people(16, 1_000).groupby("protocol"):
        assert lines.sort_values("people")["error"].is_monotonic_decreasing
    errors = by_epsilon(16, 1_000)
    assert errors.groupby("protocol").size().eq(len(design.CURVE_EPSILONS)).all()
    for name, lines in errors.groupby("protocol"):
        if name != "subset selection":  # its sets have whole sizes
            assert lines.sort_values("epsilon")["error"].is_monotonic_decreasing


def test_people_for_a_wanted_error() -> None:
    """The designer would ask too few people."""
    option = dl.recommend_protocols(8, 1, 1_000)[0]
    people = design.people_needed(option, 1_000, 0.02)
    again = dl.recommend_protocols(8, 1, people)[0]
    assert design.half_width(again.largest_error) <= 0.02
    assert (
        design.half_width(dl.recommend_protocols(8, 1, people - 1)[0].largest_error)
        > 0.0199
    )


@pytest.mark.parametrize(
    ("address", "root"),
    [
        ("http://127.0.0.1:8501/local_dp", "http://127.0.0.1:8501/answer/"),
        ("https://a.example/work/local_dp?x=1", "https://a.example/work/answer/"),
        ("https://a.example/", "https://a.example/answer/"),
        (
            "https://bench.streamlit.app/local_dp",
            "https://bench.streamlit.app/~/+/answer/",
        ),
    ],
)
def test_links_lead_to_the_same_server(
    address: str, root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Behind a proxy with a path of its own, links would lead nowhere."""
    assert link_addresses.link_root(address, "answer") == root
    settings = Settings(address="https://public.example/bench")
    monkeypatch.setattr(link_addresses, "read_settings", lambda: settings)
    assert (
        link_addresses.link_root(address, "answer")
        == "https://public.example/bench/answer/"
    )
    assert design.links_csv(root, ["t1", "t2"]).splitlines() == [
        "link",
        f"{root}t1",
        f"{root}t2",
    ]


def test_answers_are_read_line_by_line() -> None:
    """Empty lines would be answers."""
    assert design.parse_answers(" yes \n\n\tno\r\n  \n") == ["yes", "no"]
