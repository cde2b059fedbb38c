"""A table for learning and the figures of a column, on the Synthesize page; the record of all steps."""

from __future__ import annotations

import pytest

from tests.pages.test_synthesize import metric, spent


def test_a_table_for_learning(opened):
    """The way from choosing a label to drawn rows would break, or cost something else."""
    opened.go("synthesize").press("A table for learning")
    assert "How far each mean of a class is off" in opened.text
    assert metric(opened, "Cost") == "0.5"
    opened.release()
    assert opened.errors == ""
    assert opened.at.title[0].value.startswith("Table for learning")
    assert "What each class is like" in opened.text
    assert spent(opened) == 0.5


def test_figures_of_a_column(opened):
    """The figures must come with their intervals, beside the same from drawn rows."""
    opened.go("synthesize").release()
    opened.go("synthesize").press("Release something else").press("Mean and median")
    assert "The mean of 1,000 rows is off by at most" in opened.text
    opened.release()
    assert opened.errors == ""
    assert opened.at.title[0].value.startswith("Mean and quantiles of")
    assert list(opened.at.dataframe[0].value.iloc[:, 0]) == ["mean", "variance", "standard deviation", "50 %"]
    beside = next(each for each in opened.at.selectbox if each.label.startswith("The same from"))
    beside.select_index(1).run()
    assert opened.errors == ""
    assert len(opened.at.dataframe[1].value) == 4
    assert spent(opened) == 1


def test_the_record_of_all_steps(opened):
    """SEEDS B1, B4: every step with its charge; a test against the table costs, others do not."""
    opened.go("synthesize").release()
    record = opened.at.dataframe[-1].value
    assert list(record.iloc[:, 1])[1:] == ["epsilon 0.5", "none", "none"]
    assert spent(opened) == 0.5
    opened.set("multiselect", "Compare the drawn rows", ["age"])
    opened.press("Test against the table")
    assert opened.errors == ""
    record = opened.at.dataframe[-1].value
    assert list(record.iloc[:, 1])[4:] == ["epsilon 0.1"]
    assert spent(opened) == pytest.approx(0.6)
    assert "4 are left" in opened.text


def test_rare_rows_from_a_histogram(opened):
    """SEEDS E10: rows with one value must come from every kind of release, not from one model only."""
    opened.go("synthesize").release()
    chosen = next(each for each in opened.at.selectbox if each.label == "Only rows with")
    chosen.select("age").run()
    assert opened.errors == ""
