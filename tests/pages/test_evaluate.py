"""The Evaluate page: a release held against the original, marked as internal."""

from __future__ import annotations

INTERNAL = "internal: reads the original, do not publish"


def test_without_a_data_set_it_says_what_it_would_do(app):
    """A newcomer would meet an empty form."""
    app.go("evaluate")
    assert app.at.title[0].value == "How good is it?"
    assert "Here a release is held against the original" in app.text


def test_without_a_release_it_shows_the_way_to_one(opened):
    """The page would be empty without a word."""
    opened.go("evaluate")
    assert "There is no release of this data set yet" in opened.text


def test_figures_columns_pairs_and_questions(opened):
    """One of the comparisons would not come up, or not be marked as internal."""
    opened.go("synthesize").press("A whole table").set("radio", "Relations", "joint").release().go("evaluate")
    for tab, said in [
        ("Columns", "The column that moved most is"),
        ("Pairs", "The pair that came out worst"),
        ("Questions", "Answer from the release"),
    ]:
        opened.set("button_group", "Look at", tab)
        assert opened.errors == ""
        assert said in opened.text + "".join(each.label for each in opened.at.metric)
        assert INTERNAL in opened.text
    assert opened.curator.balance().spent == 500_000_000_000


def test_one_column_without_order(opened):
    """A release of one column of texts has no pairs and no ranges: the page would break."""
    opened.go("synthesize").set("selectbox", "Column", "sex").release().go("evaluate")
    assert opened.errors == ""
    opened.set("button_group", "Look at", "Pairs")
    assert "no pairs" in opened.text
    opened.set("button_group", "Look at", "Questions")
    assert "this release has none" in opened.text


def test_marginals_and_independent_columns(opened):
    """Releases of other recipes could not be judged."""
    opened.go("synthesize").press("A few columns").set("multiselect", "Columns", ["age", "sex"]).release()
    opened.go("evaluate")
    assert opened.errors == ""
    opened.go("synthesize").press("Release something else").press("A whole table")
    opened.set("radio", "Relations", "independent").release().go("evaluate")
    assert opened.errors == ""
    assert len(opened.at.selectbox[0].options) == 2
    opened.set("selectbox", "Release", opened.at.selectbox[0].options[1])
    assert opened.errors == ""
