"""What the seeds do, done on the pages: a test for each row of their table that no
other test here walks.
"""

from __future__ import annotations

import pytest

import dpcore as dp
from dpcore.accounting.loss import UNIT
from dpcore.synthesis import count_rows
from tests.pages.tab import Tab
from workbench import samples


def metric(tab: Tab, label: str) -> str:
    return next(each.value for each in tab.at.metric if each.label.startswith(label))


def count(tab: Tab, *names: str) -> Tab:
    """Count columns of the original on the Evaluate page."""
    tab.at.multiselect(key="together-columns").set_value(list(names)).run()
    return tab


def test_a2_the_original_is_counted_in_rows_before_anything_is_released(
    opened: Tab,
) -> None:
    """SEEDS A2: the histogram of the original could be seen only after paying, and in
    shares.
    """
    count(opened.go("evaluate"), "age")
    assert opened.errors == ""
    assert "200 rows in" in opened.text
    assert "internal: based on the original" in opened.text
    twin = next(each.value for each in opened.at.dataframe if "cell" in each.value)
    assert twin["rows"].sum() == 200
    assert opened.curator.lines()[-1].content["about"] == ["age"]
    assert opened.curator.balance().spent == 0


def test_a19_a_lost_link_is_seen_as_a_figure_and_as_rows(opened: Tab) -> None:
    """SEEDS A19: Cramér's V, and how many rows have two values together, were
    nowhere.
    """
    opened.go("synthesize").press("A whole table").set(
        "radio", "Relations", "independent"
    )
    # 50 rows of a city: noise takes them all never
    opened.set("number_input", "epsilon", 1.5).release()
    count(opened.go("evaluate"), "sex", "city")
    assert opened.errors == ""
    assert "Cramér's V of sex × city" in opened.text
    assert " → " in opened.text
    opened.at.selectbox(key="together-sex").set_value(0).run()
    rows = [metric(opened, label) for label in ("Original", "Release", "If they were")]
    assert all(float(each.replace(",", "")) > 0 for each in rows)
    ends = {
        each.proto.spec.split('"domainMax": ')[1].split(",")[0].rstrip("}")
        for each in opened.at.get("vega_lite_chart")
        if '"domainMax": ' in each.proto.spec and "of sex" in each.proto.alt
    }
    assert len(ends) == 1, "two maps that are compared have one scale"


def test_a7_a_release_alone_is_asked_as_often_as_one_likes(opened: Tab) -> None:
    """SEEDS A7, A23: questions stood on an internal page only, and each of them left a
    line.
    """
    opened.go("synthesize").release()
    lines = len(opened.curator.lines())
    opened.set("multiselect", "Columns", ["age"])
    ages = next(
        each for each in opened.at.select_slider if each.label.startswith("age")
    )
    ages.set_value((20, 40)).run()
    assert opened.errors == ""
    assert "The true number lies between" in opened.text
    assert len(opened.curator.lines()) == lines


def test_c6_parts_that_share_nobody_cost_once(opened: Tab) -> None:
    """SEEDS C6: no control released a part, so that disjoint parts were paid one by
    one.
    """
    opened.go("synthesize").at.selectbox(
        key=f"part-{opened.curator.account.dataset}"
    ).set_value("sex").run()
    opened.set("selectbox", "Only rows with: sex", "F").press(
        "Release for a sixth of the budget (epsilon 0.5)"
    )
    assert "Only rows with: sex = F" in opened.text
    opened.press("Pay and release").settle()
    assert "Only rows with: sex = F" in opened.text
    assert opened.curator.balance().spent == UNIT // 2
    opened.press("Release something else").set("selectbox", "Only rows with: sex", "M")
    assert (
        "On its own, this part would cost a sixth of the budget (epsilon 0\\.5)"
        in opened.text.replace("0.5", "0\\.5")
    )
    opened.press("Release for").press("Pay and release").settle()
    assert opened.errors == ""
    assert opened.curator.balance().spent == UNIT // 2
    assert opened.session.runs.shown_request_id is not None
    assert opened.curator.release(opened.session.runs.shown_request_id).part == (
        "sex",
        "M",
    )


def test_b12_the_attacker_recodes_the_list_too(app: Tab) -> None:
    """SEEDS B12: the list found nobody only because 1930s is no date of it."""
    app.press("Open this sample: Hospital").press("Open the data set").go("anonymize")
    app.press("Make the anonymized table").set(
        "toggle", "The invented voter list of the sample", True
    )
    assert app.errors == ""
    assert ", 0 are found with certainty" in app.text
    assert "each of them matches at least" in app.text


def test_g10_one_company_pays_once_and_another_asks(app: Tab) -> None:
    """SEEDS G10: the walk of the Learn page would end at a missing sample, or a
    question be charged.
    """
    app.go("learn")
    assert app.errors == ""
    assert "Company A pays once" in app.text
    app.go("upload").press("Open this sample: Customers").open_draft().go("synthesize")
    columns = ["age", "occupation", "marital_status"]
    app.press("A few columns together").set(
        "multiselect", "Columns that should be counted", columns
    )
    app.release()
    assert app.errors == ""
    assert app.session.runs.shown_request_id is not None
    release = dp.read_release(
        app.curator.release(app.session.runs.shown_request_id).to_json().encode()
    )
    spent = app.curator.balance().spent
    lines = len(app.curator.lines())
    pair = count_rows(release, {"age": (30, 40), "marital_status": ["single"]})
    people = samples.customers()
    true = (
        people["age"].between(30, 39) & (people["marital_status"] == "single")
    ).sum()
    assert pair.value == pytest.approx(true, abs=300)
    assert (app.curator.balance().spent, len(app.curator.lines())) == (spent, lines)
