"""Pieces that several pages show, each in a page of its own."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dpcore.errors import ParameterError
from tests.pages.tab import PATIENCE
from workbench.ui import epsilon_view

ROOT = Path(__file__).resolve().parents[3]


def page(body, **given) -> AppTest:
    return AppTest.from_function(body, kwargs=given, default_timeout=PATIENCE).run()


def test_error_box_says_what_happened_and_what_to_do():
    """A person would be left alone with an error."""

    def body(error):
        from workbench.ui import widgets

        widgets.error_box(error)

    shown = (
        page(body, error=ParameterError("k (0) must be at least 1", remedy="raise k"))
        .error[0]
        .value
    )
    assert "must be at least 1" in shown
    assert "**What to do:** Raise k" in shown


def test_error_box_keeps_hostile_names_and_values_out(caplog):
    """A column name would load a picture from elsewhere; a message would show a cell of
    the table.
    """

    def body(error):
        from workbench.ui import widgets

        widgets.error_box(error)

    named = ParameterError(
        "column '![x](http://a/b.png)' needs low", remedy="fill in low"
    )
    assert "![x](" not in page(body, error=named).error[0].value
    assert "HIV" not in page(body, error=ValueError("HIV+ in row 7")).error[0].value
    assert "HIV" not in caplog.text
    assert re.search(r"[0-9a-f]{8}: ValueError", caplog.text)


def test_the_picker_keeps_slider_and_number_together():
    """The slider would show another epsilon than the one that is charged."""

    def body(largest):
        import streamlit as st

        from workbench.ui import epsilon_view

        st.text(
            epsilon_view.ask_epsilon(
                "epsilon", key="loss", default=0.5, largest=largest
            )
        )

    at = page(body, largest=3.0)
    assert at.text[0].value == "0.5"
    at.select_slider[0].set_value(2.0).run()
    assert (at.text[0].value, at.number_input[0].value) == ("2.0", 2.0)
    at.number_input[0].set_value(0.44).run()
    assert (at.text[0].value, at.select_slider[0].value) == ("0.44", 0.44)
    at.kwargs = {"largest": 0.25}
    at.number_input[0].set_value(0.2).run()
    assert at.text[0].value == "0.2"


@pytest.mark.parametrize("largest", [0.001, 0.01, 0.015, 0.5])
def test_the_picker_with_little_left(largest):
    """The last remainder of a budget could not be spent."""

    def body(largest):
        import streamlit as st

        from workbench.ui import epsilon_view

        st.text(
            epsilon_view.ask_epsilon(
                "epsilon", key="loss", default=0.5, largest=largest
            )
        )

    at = page(body, largest=largest)
    assert not at.exception
    assert float(at.text[0].value) == largest


def test_a_chart_comes_with_words_and_its_table():
    """Somebody who does not see the chart would get nothing."""

    def body():
        from workbench.synthesize.charts import expected_errors
        from workbench.ui import widgets

        widgets.show_chart(expected_errors([("age", 4, 6.0)], 100.0), key="chart")

    at = page(body)
    assert at.expander[0].label == "The same figures as a table"
    table = pd.DataFrame(
        {"columns": ["age"], "error (95\u202f%)": [6.0], "share": [0.24]}
    )
    assert at.dataframe[0].value.equals(table)
    assert at.get("vega_lite_chart")[0].proto.alt.startswith("error (95\u202f%): age")


def test_epsilons_to_choose_from_rise():
    """The slider would jump."""
    assert list(epsilon_view.EPSILONS) == sorted(set(epsilon_view.EPSILONS))


def test_sixty_columns_are_the_worst_twenty_at_first_and_the_others_by_name():
    """The labels of a map of 60 columns were a smear, and nobody could find one of
    them.
    """

    def body(names, errors):
        import streamlit as st

        from workbench.evaluate import cards, columns_view
        from workbench.ui import widgets

        st.text(str(widgets.choose_map_columns(names, errors, key="map")))
        made = [
            cards.Card(title=name, level="good", word="right", value=0.1, floor=0.1)
            for name in names
        ]
        columns_view.show_cards(made, key="cards")

    names = [f"question {i:02d}" for i in range(60)]
    errors = np.full((60, 60), np.nan)  # where nothing was measured
    errors[:10, :10] = np.arange(10)[:, None] + np.arange(10) + 1.0
    at = page(body, names=names, errors=errors)
    assert at.text[0].value.startswith("[9, 8, 7")
    assert len(at.multiselect[0].value) == 20
    at.multiselect[0].set_value(["question 59"]).run()
    assert at.text[0].value == "[59]"
    assert str(at.get("html")[0].proto.body).count("</b>") == 20
    at.text_input[0].set_value("59").run()
    assert str(at.get("html")[0].proto.body).count("</b>") == 1


def test_days_are_written_without_a_time():
    """A birth date would be shown as midnight of it; and the time of a visit would be
    hidden.
    """

    def body(frame):
        from workbench.ui import widgets

        widgets.show_rows(frame, alt="rows")

    days = pd.to_datetime(pd.Series(["1993-07-05", None]))
    frame = pd.DataFrame(
        {"born": days, "came": pd.to_datetime(["2026-01-01 08:30", "2026-01-02 00:00"])}
    )
    columns = json.loads(page(body, frame=frame).dataframe[0].proto.columns)
    assert columns["born"]["type_config"]["format"] == "YYYY-MM-DD"
    assert "came" not in columns


def test_every_table_has_a_name_for_who_does_not_see_it() -> None:
    """A screen reader said "table" and nothing more."""
    for path in [*(ROOT / "pages").glob("*.py"), *(ROOT / "workbench").rglob("*.py")]:
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(call, ast.Call)
                and isinstance(call.func, ast.Attribute)
                and call.func.attr in ("dataframe", "data_editor")
            ):
                named = {word.arg for word in call.keywords}
                assert "alt" in named, f"{path.name}:{call.lineno}"


def test_what_is_in_a_closed_fold_is_not_computed() -> None:
    """Each run of a release's page worked out tables that nobody looked at."""

    def body():
        import streamlit as st

        from workbench.ui import widgets

        with widgets.fold("Experts", key="experts") as is_open:
            if is_open:
                st.write("computed")

    at = page(body)
    assert [each.label for each in at.expander] == ["Experts"]
    assert not at.markdown
    at.session_state["experts"] = True
    assert at.run().markdown[0].value == "computed"


def test_a_chart_is_sent_without_a_check_against_its_schema(monkeypatch):
    """The check takes two thirds of the time of a chart; fixtures of the pages make it."""
    from altair.utils import schemapi

    from workbench.report import charts
    from workbench.ui import widgets

    chart = charts.share_bars(["a"], [0.5], x_title="share", alt="a bar")
    expected = chart.spec.to_dict()
    monkeypatch.setattr(schemapi.SchemaBase, "validate", None)
    assert widgets.UncheckedDrawing(spec=chart.spec).to_dict() == expected
