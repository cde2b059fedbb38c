"""The Local answers page: design a survey, see what leaves, read what came in."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pandas as pd
import pytest

import dpcore.local as dl
from workbench import samples, session
from workbench.local_dp import simulate
from workbench.local_dp.design import LocalState, chance_of_truth, half_width
from workbench.local_dp.words import plus_minus
from workbench.store.links import surveys
from workbench.store.settings import Settings
from workbench.ui import link_addresses

PARTS = ("Design a survey", "Answer", "Read the answers")


@pytest.fixture
def page(app, monkeypatch):
    """A tab on the page, on a server that answers no links; no table is open."""
    monkeypatch.setattr(surveys.links_work, "is_set", lambda: False)
    return app.go("local_dp")


@pytest.fixture
def served(page, monkeypatch):
    """The same, on a server that answers links."""
    monkeypatch.setattr(surveys.links_work, "is_set", lambda: True)
    return page.go("local_dp")


def part(page, name):
    return page.set("button_group", "Ask without", name)


def read(page, way):
    return part(page, PARTS[2]).set("button_group", "Source", way)


def metric(page, label):
    return next(each.value for each in page.at.metric if each.label == label)


def test_it_answers_before_anybody_is_asked(page):
    """A designer would have to ask people to find out that the answers will be
    noise.
    """
    assert page.errors == ""
    assert page.at.title[0].value == "Ask without learning anybody's answer"
    assert metric(page, "Off by") == plus_minus(
        half_width(dl.recommend_protocols(4, 1, 1000)[0].largest_error)
    )
    assert "no budget of a data set pays for it" in page.text
    assert "has the smallest error" in page.text
    assert "at most 73.1\u202f% sure" in page.text
    assert (
        len(page.at.get("vega_lite_chart") or page.at.get("arrow_vega_lite_chart")) == 2
    )


def test_more_people_and_more_epsilon_err_less(page):
    """The controls would not do what they say."""

    def off():
        return float(metric(page, "Off by").strip("± %"))

    first = off()
    page.set("number_input", "People who answer", 100_000)
    assert off() == pytest.approx(first / 10, rel=0.02)
    page.set("number_input", "exactly", 3.0)
    assert off() < first / 20
    page.set("number_input", "People who answer", 2)
    assert "Too noisy" in page.text
    assert page.errors == ""


def test_every_protocol_can_be_chosen(page):
    """A protocol would be offered that cannot be used."""
    for name in dl.Protocol.kinds():
        page.set("selectbox", "Protocol", name)
        assert page.errors == ""
        assert page.session.own(LocalState).question.protocol.kind == name


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ("", "from 2 to 100"),
        ("yes", "from 2 to 100"),
        ("a\na", "twice"),
        ("a\n" + "b" * 501, "500"),
        ("\n".join(map(str, range(101))), "from 2 to 100"),
    ],
    ids=["none", "one", "twice", "long", "many"],
)
def test_bad_answers_are_refused_in_place(page, answers, words):
    """A question that nobody can answer would be sent out; or what was typed would be
    lost.
    """
    page.set("text_area", "Possible answers", answers)
    assert words in page.errors
    assert page.at.text_area[0].value == answers
    page.set("text_area", "Possible answers", "yes\nno")
    assert page.errors == ""


@pytest.mark.parametrize("epsilon", [0.0, 1e-13, 800.0])
def test_bad_epsilons(page, epsilon):
    """Nothing would be learned, or a number would overflow."""
    page.set("number_input", "exactly", epsilon)
    assert "Epsilon" in page.errors or epsilon == 800
    page.set("number_input", "exactly", 1.0)
    assert page.errors == ""


def test_without_the_server_no_links(page):
    """Links would be sent out that nobody answers."""
    assert page.button("Make 1,000 links").disabled
    assert "Links do not work" in page.text


def test_a_survey_from_design_to_estimate(served):
    """The way from a question to its estimate would break somewhere."""
    served.set("number_input", "People who answer", 30).set(
        "text_area", "Possible answers", "yes\nno"
    )
    served.set("number_input", "exactly", 8.0).press("Make 30 links")
    assert "they cannot be shown again" in served.text
    _key, tokens = served.session.own(LocalState).invitations
    assert len(tokens) == 30
    book = session.surveys()
    question = book.question_of(tokens[0])
    for place, token in enumerate(tokens[:24]):
        report = question.protocol.perturb([0 if place < 18 else 1])
        assert book.accept(token, question.protocol.to_plain(report)[0])
    part(served, "Read the answers")
    assert served.errors == ""
    assert metric(served, "Answers") == "24 / 30"
    assert "24 reports by Randomized response, epsilon 8 per answer." in served.text
    assert "Most people said yes" in served.text
    served.press("Close the survey")
    assert metric(served, "Links") == "closed"
    assert book.question_of(tokens[29]) is None


def test_the_answers_of_the_survey_just_made_are_read_first(served):
    """Whoever asks pupils would look for their answers in a simulation, paste a key
    that the page has just shown, or read an older survey.
    """
    for question in ("Did you copy?", "Did you sleep?"):
        served.set("text_input", "Question", question).press("Make 1,000 links")
        part(served, "Read the answers")
        assert metric(served, "Answers") == "0 / 1,000"
        newest = served.session.own(LocalState).invitations[0]
        (survey,) = [
            box for box in served.at.selectbox if box.label == "A survey made here"
        ]
        assert survey.value == newest
        part(served, "Design a survey")
    key = next(iter(served.session.own(LocalState).survey_keys))
    part(served, "Read the answers").set("selectbox", "A survey made here", "")
    served.set("text_input", "Key to read the answers", key)
    assert metric(served, "Answers") == "0 / 1,000"
    served.go("upload").press("Try it on invented people")
    assert "invented people" in served.text
    assert served.errors == ""


@pytest.mark.parametrize(
    ("address", "here"), [("http://localhost:8501", True), ("https://a.example", False)]
)
def test_invitations_that_nobody_else_can_open_say_so(
    served, monkeypatch, address, here
):
    """A class would scan codes that lead to nothing."""
    monkeypatch.setattr(
        link_addresses, "read_settings", lambda: Settings(address=address)
    )
    served.press("Make 1,000 links")
    warned = [each.value for each in served.at.warning]
    assert any("work only on this computer" in each for each in warned) is here


def test_another_tab_reads_by_the_key(served, new_tab):
    """The owner would lose the answers with the tab; or anybody would read them without
    the key.
    """
    served.set("button_group", "Links work for", 7).press("Make 1,000 links")
    key, _tokens = served.session.own(LocalState).invitations
    left = session.surveys().survey_of(key).expires - datetime.now(UTC)
    assert timedelta(days=6, hours=23) < left <= timedelta(days=7)
    other = read(new_tab().go("local_dp"), "A survey made here")
    assert "The key was shown" in other.text
    other.set("text_input", "Key to read the answers", "x" + key)
    assert "no survey with this key" in other.text
    other.set("text_input", "Key to read the answers", key)
    assert other.at.metric[0].value.startswith("0 / ")


def test_a_respondents_report_is_shown(page):
    """A designer would not know what people will see leave."""
    page.set("selectbox", "Protocol", "optimized unary")
    part(page, "Answer")
    assert page.errors == ""
    shown = json.loads(page.at.json[0].value)
    assert shown["protocol"] == "optimized unary"
    assert set(shown["report"]) <= {"0", "1"}
    for code in range(4):
        page.set("radio", "Answer", code)
        assert page.errors == ""
    page.press("Change it at random")
    assert "What one report can reveal" in page.text


def test_the_coin_is_given_by_its_chance_or_by_epsilon(page):
    """SEEDS G2, D1: whoever thinks of a coin of 3/4 would have to know that it is
    ln 3.
    """
    page.set("text_area", "Possible answers", "yes\nno")
    page.set("number_input", "Chance that the true answer is sent", 0.75)
    assert page.errors == ""
    assert page.session.own(LocalState).question.epsilon == Fraction("1.098612")
    page.set("number_input", "exactly", 2.0)
    chance = next(
        each
        for each in page.at.number_input
        if each.label.startswith("Chance that the true answer is sent")
    )
    assert chance.value == pytest.approx(math.exp(2) / (math.exp(2) + 1))
    page.set("text_area", "Possible answers", "a\nb\nc")
    assert chance_of_truth(2.0, 3) == pytest.approx(
        float(dl.RandomizedResponse(categories=3, epsilon=2).p)
    )
    assert (
        page.set("number_input", "Chance that the true answer is sent", 1.0).errors
        == ""
    )
    assert page.session.own(LocalState).question.epsilon > 20


def test_several_questions_are_one_survey(page):
    """SEEDS G3, D3: the epsilon of each answer would be the whole one, or a person's
    loss not be said.
    """
    part(page, "Read the answers").set("selectbox", "Column", "sex")
    assert page.errors == ""
    page.set("multiselect", "Further questions", ["income", "marital"])
    assert page.errors == ""
    ways = next(
        each
        for each in page.at.radio
        if each.label.startswith("Each person loses epsilon 1 in total")
    )
    assert ways.options == [
        "Everybody answers all questions, each with epsilon 0.333",
        "Everybody answers one question, drawn at random, with epsilon 1",
    ]
    assert page.text.count("it should for 95 of 100") == 3
    assert "**income**" in page.text
    ways.set_value("sample").run()
    assert page.errors == ""
    columns = [samples.census()[name] for name in ("sex", "income")]
    for way, part_of in (("split", Fraction(1, 2)), ("sample", Fraction(1))):
        found = simulate.simulate_surveys(
            columns, protocol="randomized response", epsilon=1.0, way=way
        )
        assert [each.question.epsilon for each in found] == [part_of] * 2
        people = [each.estimate.people for each in found]
        assert people == [20_000] * 2 if way == "split" else sum(people) == 20_000


def test_an_answer_without_a_design(new_tab):
    """Whoever goes there first would meet an error."""
    page = new_tab().go("local_dp")
    page.session.own(LocalState).question = None
    assert part(page, "Answer").errors == ""


def test_a_simulation_for_every_protocol(page):
    """The interval would not be held against the truth."""
    part(page, "Read the answers")
    assert "20,000 invented people" in page.text
    for name in dl.Protocol.kinds():
        page.set("selectbox", "Protocol", name)
        assert page.errors == ""
        assert "it should for 95 of 100" in page.text
    page.press("Ask everybody again")
    page.set("number_input", "exactly", 0.0)
    assert "Epsilon" in page.errors


def test_means_of_numbers(page):
    """E13: rounding at the middle must be seen to miss the mean that the others
    keep.
    """
    part(page, "Read the answers").set("selectbox", "Column", "age")
    assert page.errors == ""
    assert "Rounding everybody to the nearer end" in page.text
    page.set("number_input", "High", 20.0)
    assert "outside the bounds" in page.errors
    page.set("number_input", "High", 10.0)
    assert "must be below" in page.errors


def test_a_table_of_my_own(page):
    """A steward would not find out what their own people's answers would come to."""
    part(page, "Read the answers").at.toggle[0].set_value(True).run()
    assert any("not stored" in each.label for each in page.at.file_uploader)
    page.upload(b"mood,one\nred,1\nblue,1\nred,1\n,1\n")
    assert page.errors == ""
    assert "internal: based on the original" in page.text
    page.set("selectbox", "Column", "one")
    assert "Everybody gave the same answer" in page.errors


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "no reports"),
        (b"nonsense", "Line 1 is"),
        (b"\xff\xfe\x00", "another kind of file"),
        (b"{}", "Line 1 is"),
    ],
)
def test_broken_files_of_reports(page, content, words):
    """A file that is no file of reports would end in a traceback."""
    read(page, "Reports as JSON lines, one per answer")
    page.at.file_uploader[0].upload("r.jsonl", content, "application/json").run()
    assert words in page.errors


def test_a_file_of_reports_decodes_alone(page):
    """Reports from elsewhere could not be read."""
    question = dl.Question(
        text="Q *b*?", categories=["a|b", "c"], protocol="local hashing", epsilon=2
    )
    text = dl.to_json_lines(
        question, question.protocol.perturb([0] * 9_000 + [1] * 1_000)
    )
    read(page, "Reports as JSON lines, one per answer")
    page.at.file_uploader[0].upload("r.jsonl", text.encode(), "application/json").run()
    assert page.errors == ""
    assert "10,000 reports by Local hashing, epsilon 2 per answer." in page.text
    # 90 % with a deviation of about 1.3: never below 50 %
    assert "Most people said a" in page.text


def test_e13_in_numbers():
    """E13: true, reported and corrected shares in one table; rounding at the middle
    misses the mean.
    """
    ages = pd.Series([20, 22, 25, 31, 70] * 4_000)
    found = simulate.simulate_means(ages, low=0, high=100, epsilon=4).set_index("way")
    assert found.loc["rounded at the middle", "mean"] == 20.0
    assert ages.mean() == 33.6
    for way in ("rounded at random", "rounded response", "Duchi", "piecewise"):
        assert found.loc[way, "mean"] == pytest.approx(33.6, abs=2.5)
    column = pd.Series(["a"] * 15_000 + ["b"] * 5_000, name="x")
    shares = simulate.simulate_surveys(
        [column], protocol="randomized response", epsilon=1
    )[0].shares
    assert shares["true"].tolist() == [0.75, 0.25]
    assert shares["reported"][0] == pytest.approx(0.75 * 0.731 + 0.25 * 0.269, abs=0.02)
    assert shares["corrected"][0] == pytest.approx(0.75, abs=0.04)
    assert (shares["low"] < shares["corrected"]).all()
