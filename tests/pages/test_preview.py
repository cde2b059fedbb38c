"""Warned before paying: the error beside the rows, and buttons for what helps."""

from __future__ import annotations

import numpy as np
import pandas as pd
from streamlit.testing.v1 import AppTest

import dpcore as dp
from tests.pages.tab import PATIENCE
from tests.scripts import printed_by
from workbench.synthesize import relations_view, script

DRAW = np.random.default_rng(1)
WIDE = (
    pd.DataFrame({f"c{i}": DRAW.integers(0, 12, 400) for i in range(15)})
    .to_csv(index=False)
    .encode()
)


def test_noise_that_drowns_a_table_is_said_before_with_ways_out(app):
    """ "±7,489 rows" on 3,000 rows had a blue button and no warning."""
    app.upload(WIDE, "wide.csv").open_draft("basic")
    app.go("synthesize").press("A whole table")
    warning = app.at.warning[0].value
    assert "Too noisy to use" in warning
    assert "of about 400 in all" in warning
    charts = [each.proto.alt for each in app.at.get("vega_lite_chart")]
    assert any("c0, c1, c2" in alt for alt in charts), (
        "there would be fifteen bars of one length"
    )
    app.press("Drop the relations (Independent)")
    assert (
        next(each.value for each in app.at.radio if each.label.startswith("Relations"))
        == "independent"
    )
    app.press("One column")
    assert not app.at.warning
    assert "± 6 rows" in app.text
    assert "all cells are drawn equally high" in app.text


def test_the_epsilon_for_a_wanted_error_is_taken_and_all_agree(app):
    """Whoever typed an error and released paid for another one: the answer had to be
    taken over first.
    """
    app.upload(WIDE, "wide.csv").open_draft("basic")
    app.go("synthesize").set("number_input", "Or type the error you can accept", 3.0)
    assert [each.value for each in app.at.select_slider] == [0.846]
    assert app.button("Release for 28.2\u202f% of the budget (epsilon 0.846)")
    app.set("number_input", "epsilon", 1.0)
    app.press("Spend 28.2\u202f% of the budget (epsilon 0.846)")
    assert [each.value for each in app.at.select_slider] == [0.846]
    app.set("number_input", "Or type the error you can accept", 0.001)
    assert "of the budget remains" in app.text
    assert [each.value for each in app.at.select_slider] == [0.846]


def test_what_is_left_is_proposed_though_more_was(app):
    """After a release of half of the budget, half was proposed again, and could not be
    paid.
    """
    app.upload(WIDE, "wide.csv").open_draft("basic").go("synthesize")
    assert not app.button("Release for").disabled
    proposed = app.at.select_slider[0].value
    app.curator.run(dp.Histogram("c1"), loss=dp.PureDP(epsilon="2.75"))
    app.go("upload").go("synthesize")
    assert app.at.select_slider[0].value == 0.25 < proposed
    assert not app.button("Release for").disabled


def test_weaker_relations_of_weaker_demands_are_figures(app, monkeypatch):
    """That fewer columns or a larger epsilon would keep more was said in words, and
    nobody knew how much.
    """
    tried = []

    def weakest(function, trial, strengths):
        tried.append((len(trial.sizes), float(trial.loss.amount), max(strengths)))
        return {
            True: {15: 0.5, 7: 0.2}[len(trial.sizes)]
            - 0.1 * (float(trial.loss.amount) > 0.5)
        }

    monkeypatch.setattr(relations_view.progress_view, "compute_in_worker", weakest)
    app.upload(WIDE, "wide.csv").open_draft("basic")
    app.go("synthesize").press("A whole table")
    assert "from a strength of 0.5 on" in app.text
    assert "With the 7 columns" not in app.text
    app.press("Try fewer columns")
    assert tried == [(15, 0.5, 0.9), (7, 0.5, 0.5), (15, 1.0, 0.5)]
    assert (
        "With only the 7 columns that have the fewest cells: where one column has more "
        "than 10 cells from a strength of 0.2 on"
    ) in app.text
    assert (
        "With a third of the budget (epsilon 1): where one column has more than 10 "
        "cells from a strength of 0.4 on" in app.text
    )
    app.set("radio", "Relations", "tree").set("radio", "Relations", "adaptive")
    assert "With a third of the budget (epsilon 1): " in app.text, (
        "what was tried is kept"
    )


def test_columns_that_noise_drowns_can_be_left_out(app):
    """Whoever was told that noise drowns a release had to find out by trial which
    columns it was.
    """
    lines = "\n".join(
        ["big,small", *(f"{i % 150},{i % 2}" for i in range(300))]
    ).encode()
    app.upload(lines).open_draft().go("synthesize").press("A few columns together")
    app.set("multiselect", "Columns that should", ["big", "small"]).set(
        "radio", "Table", "one"
    )
    assert "Too noisy to use" in app.text
    app.press("Leave out big")
    assert next(
        each.value for each in app.at.multiselect if each.label.startswith("Columns")
    ) == ["small"]
    assert "Too noisy to use" not in app.text


def test_a_wanted_error_says_of_what(app):
    """For the mean of a column, rows of a cell were asked about where there is none."""
    app.upload(WIDE, "wide.csv").open_draft().go("synthesize").press("Mean and median")
    labels = {each.label for each in app.at.number_input}
    assert "Or type the error you can accept (number of rows)" in labels
    app.press("One column")
    assert "Or type the error you can accept (rows in a cell)" in {
        each.label for each in app.at.number_input
    }


def test_a_script_makes_the_same_release(app, tmp_path):
    """What was clicked could not be repeated in a program."""
    app.open(WIDE, "wide.csv").go("synthesize").release()
    data_set = app.session.data_set
    release = data_set.release(app.session.runs.shown_request_id)
    assert b"rows,low,high,as measured" in script.counts_file(release)
    (tmp_path / "table.csv").write_bytes(WIDE)
    assert "wide" not in script.write_script(
        *script.job_of(data_set, release)
    ) + script.write_job_notebook(
        *script.job_of(data_set, release),
    )
    text = (
        script.write_script(*script.job_of(data_set, release))
        + "\nprint(release.guarantee.loss, release.recipe)\n"
    )
    assert printed_by(text, tmp_path).endswith(
        f"{release.guarantee.loss} {release.recipe}\n"
    )


def test_zcdp_speaks_epsilon(app):
    """Header and button spoke rho, which tells nobody how strong the promise is."""
    app.upload(WIDE, "wide.csv").open_draft("zcdp").go("synthesize")
    assert app.button("Release for a sixth of the budget (epsilon 1.17)")
    assert "rho" not in " ".join(each.label for each in app.at.metric)


def test_the_picture_is_not_around_a_release_of_another_part(opened):
    """The rows of one city were the shape that the error of all cities was drawn
    around.
    """
    opened.go("synthesize").set("selectbox", "Column", "city")
    opened.release().press("Release something else")
    assert "The bars show the earlier release of" in opened.text
    opened.set("selectbox", "Column", None)
    assert "all cells are drawn equally high" in opened.text


def test_of_many_columns_it_is_said_that_relations_may_be_lost():
    """A table of 42 columns was paid without a word, and kept 43 % of its relations."""

    def body():
        from dpcore.accounting.loss import PureDP
        from dpcore.synthesis import Tree
        from dpcore.synthesis.relations import RelationTrial
        from workbench.synthesize import relations_view

        trial = RelationTrial(
            recipe=Tree(), sizes=(2,) * 25, loss=PureDP(epsilon=1), rows=99, max_rows=1
        )
        relations_view.show(trial, {})

    at = AppTest.from_function(body).run(timeout=PATIENCE)
    assert not at.exception
    assert "Relations may be lost" in at.warning[0].value
    assert [each.label for each in at.button] == [
        "Test on invented tables which relations would be kept"
    ]
