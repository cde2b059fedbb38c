"""What the Audit page says, and the file that it prints."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pandas as pd
import pytest

import dpcore as dp
from dpcore.evaluation.table.audit import AuditQuestion, AuditReport
from workbench import session
from workbench.audit import document, findings
from workbench.language.messages import translate
from workbench.language.wording import percent
from workbench.ui.verdict import judge_table

HOSTILE = ["<script>alert(1)</script>", '"><img src=x onerror=alert(2)>', "a & b"]
SECRET = "Xanthippe Quisling"


@pytest.fixture(autouse=True)
def held(monkeypatch: pytest.MonkeyPatch) -> session.Session:
    """A session outside of any browser."""
    tab = session.Session()
    monkeypatch.setattr(session, "session", lambda: tab)
    monkeypatch.setattr(session, "ledger", dp.MemoryLedger)
    return tab


def opened(frame: pd.DataFrame, name: str = "people.csv") -> dp.Curator:
    schema = dp.Schema(
        columns=dp.suggest_schema(frame).columns, unit=dp.PrivacyUnit(max_rows=1)
    )
    return dp.Curator.open(
        frame,
        schema,
        budget=dp.PureDP(epsilon="1"),
        ledger=dp.MemoryLedger(),
        name=name,
    )


def people(rows: int = 240) -> pd.DataFrame:
    frame = pd.DataFrame(
        {
            "age": [20 + i % 50 for i in range(rows)],
            "sex": ["FM"[i % 2] for i in range(rows)],
            "city": ["ABC"[i % 3] for i in range(rows)],
            "disease": ["flu"] * rows,
        },
    )
    frame.loc[7, ["age", "city"]] = [97, SECRET]
    return frame


def sentences(report: AuditReport, columns: list[str]) -> list[str]:
    verdict = judge_table(report, columns)
    return [verdict.sentence, *verdict.reasons]


def ask(curator: dp.Curator, columns: list[str], **asked: object) -> AuditReport:
    given = {"threshold": 0.2, "attacker": None, "population": None, **asked}
    return findings.compute_audit(curator, columns, ["disease"], **given)


def test_the_verdict_is_one_sentence_with_the_share() -> None:
    """An auditor would have to read figures to know the answer."""
    curator = opened(people())
    answer, worst, *_others = sentences(ask(curator, ["city"]), ["city"])
    assert answer == "Hardly."
    assert worst.endswith(
        "as soon as somebody also knows age. Unique without it, by city: 0.4\u202f%."
    )
    sex = sentences(ask(curator, ["sex"]), ["sex"])
    assert sex[:2] == [
        "Hardly.",
        "Nobody is unique by sex; the smallest group has 120 people.",
    ]


def test_one_unique_person_among_many_is_not_nobody() -> None:
    """A single exposed person in a large table would be rounded away."""
    frame = pd.DataFrame({"city": ["A"] * 4_999 + ["B"], "disease": "flu"})
    said = sentences(ask(opened(frame), ["city"]), ["city"])
    assert (
        said[1]
        == "Under 0.1\u202f% of the people are unique as soon as somebody knows city."
    )


@pytest.mark.parametrize(
    ("share", "said"),
    [
        (0, "0\u202f%"),
        (0.0004, "under 0.1\u202f%"),
        (0.0421, "4.2\u202f%"),
        (0.38, "38\u202f%"),
        (0.9985, "over 99\u202f%"),
        (1, "100\u202f%"),
    ],
)
def test_percent_never_rounds_to_nobody_or_everybody(share: float, said: str) -> None:
    """A share of 99.9 % would be shown as all, and one person as none."""
    assert percent(share) == said


def test_a_report_is_computed_once_for_each_question() -> None:
    """Every click would read the rows again, and another list would get the answer of
    the first.
    """
    curator = opened(people())
    first = ask(curator, ["age"])
    lines = len(curator.lines())
    assert ask(curator, ["age"]) is first
    assert len(curator.lines()) == lines
    assert ask(curator, ["age", "sex"]) is not first
    lists = [pd.DataFrame({"age": [20] * n}) for n in (1, 2)]
    assert [ask(curator, ["age"], attacker=each).linkage.people for each in lists] == [
        1,
        2,
    ]


def test_a_click_takes_a_column_in_or_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bars would be there to look at only."""
    chart, labels = findings.changes_chart(
        ask(opened(people()), ["age", "sex"]), ["age", "sex"]
    )
    assert set(labels.values()) == {"age", "sex", "city"}

    def known_after(selection: object) -> object:
        state: dict[str, object] = {"chart": {"selection": selection}}
        monkeypatch.setattr(session.st, "session_state", state)
        findings.toggle_clicked_column(
            session.Selection("chart", "clicked"), labels, ["age", "sex"]
        )
        return state.get("audit-columns")

    assert known_after({"clicked": [{"of": "without age"}]}) == ["sex"]
    assert known_after({"clicked": [{"of": "with city"}]}) == ["age", "sex", "city"]
    for nothing in ({}, {"clicked": []}, {"clicked": [{"of": "with nothing"}]}):
        assert known_after(nothing) is None
    assert chart.spec.to_dict()["params"][0]["name"] == "clicked"


def test_the_column_that_names_the_person_is_no_news() -> None:
    """A bar would say that everybody is unique by the number that the owner gave
    them.
    """
    frame = people().assign(number=[i // 2 for i in range(240)])
    schema = dp.Schema(
        columns=dp.suggest_schema(frame.drop(columns="number")).columns,
        unit=dp.PrivacyUnit(max_rows=1, id_column="number"),
    )
    curator = dp.Curator.open(
        frame, schema, budget=dp.PureDP(epsilon="1"), ledger=dp.MemoryLedger()
    )
    assert "number" not in ask(curator, ["age"]).uniques_after_change


def test_charts_hold_names_and_shares_only() -> None:
    """A row of the table would be sent to the browser inside a chart."""
    found = ask(opened(people()), ["age", "city"])
    for chart in (
        findings.sets_chart(found),
        findings.changes_chart(found, ["age", "city"])[0],
    ):
        assert SECRET not in str(chart.spec.to_dict())
        assert len(chart.alt) > 20


class Reader(HTMLParser):
    """Collects the tags and addresses of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[str] = []
        self.words = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [name for name, _value in attrs]

    def handle_data(self, data: str) -> None:
        self.words += data


def test_the_printed_file_is_self_contained() -> None:
    """A report that is opened elsewhere would run a script or ask the network for
    something.
    """
    curator = opened(people())
    found = ask(
        curator, ["age", "city"], population=100_000, attacker=people()[["age"]].head(9)
    )
    read = Reader(document.to_html(curator, found, ["age", "city"], "a list"))
    assert set(read.tags) <= {
        "html",
        "meta",
        "title",
        "style",
        "section",
        "h1",
        "h2",
        "p",
        "ul",
        "li",
        "table",
        "tr",
        "th",
        "td",
    }
    assert set(read.attributes) <= {"lang", "charset", "http-equiv", "content", "class"}
    assert "default-src 'none'" in document.to_html(curator, found, ["age"], "a list")
    for words in (
        "somebody knows age and city",
        "Of the 9 people on “a list”",
        "Pitman",
        "age, city",
        "disease",
    ):
        assert words in read.words
    assert "Do not publish it" in read.words


def test_the_printed_file_escapes_hostile_names() -> None:
    """A column named like a script would run in the report of whoever audits it."""
    frame = people().rename(columns={"age": HOSTILE[0], "city": HOSTILE[1]})
    frame[HOSTILE[2]] = [f"p{i}@example.org" for i in range(len(frame))]
    curator = opened(frame, name=HOSTILE[1])
    page = document.to_html(curator, ask(curator, HOSTILE[:2]), HOSTILE[:2], "a list")
    read = Reader(page)
    assert not {"script", "img"} & set(read.tags)
    assert all(name in read.words for name in HOSTILE)
    assert not re.search(r"<(script|img)", page)


def test_the_printed_file_holds_no_value_of_the_table() -> None:
    """A report would carry a name out of the table; the twin shows that the search
    finds one.
    """
    curator = opened(people().assign(name=[f"{SECRET} {i}" for i in range(240)]))
    page = document.to_html(
        curator, ask(curator, ["age", "city"]), ["age", "city"], "a list"
    )
    assert SECRET not in page
    assert "97" not in Reader(page).words
    assert SECRET in document.to_html(
        opened(people(), name=SECRET), ask(curator, ["age"]), ["age"], ""
    )


def test_reasons_are_printed_whole() -> None:
    """The table of identifiers would be cut in the middle of a sentence."""
    curator = opened(people().assign(contact=[f"p{i}@example.org" for i in range(240)]))
    found = ask(curator, ["age"])
    reason = found.identifiers[0].reason
    assert (
        translate(reason)
        in Reader(document.to_html(curator, found, ["age"], "a list")).words
    )
    assert "contact" in findings.identifiers_table(found)["column"].tolist()


def test_suppressed_rows_are_mentioned() -> None:
    """Whoever audits a file that was anonymized before would not learn what the shares
    are of.
    """
    frame = people()
    frame["age"] = frame["age"].astype(str)
    frame.loc[:23, ["age", "city"]] = "*"
    found = ask(opened(frame), ["age", "city"])
    assert (
        "10\u202f% of the rows are already suppressed (*) and are not counted."
        in " ".join(
            findings.attacker_sentences(found),
        )
    )


def test_an_audit_is_not_a_release() -> None:
    """An internal report could be exported like a release."""
    curator = opened(people())
    before = curator.balance()
    ask(curator, ["age"])
    assert curator.balance() == before
    assert curator.lines()[-1].content == {
        "evaluation": AuditQuestion.kind,
        "about": ["age"],
    }


def test_the_printed_file_is_marked_and_says_no_small_number() -> None:
    """A printed page left on a desk would name a value, or count a handful of people to
    the last one.
    """
    curator = opened(people())
    found = ask(curator, ["age", "city"], attacker=people()[["age"]].head(9))
    page = document.to_html(curator, found, ["age", "city"], "a list")
    read = Reader(page)
    assert "<title>Internal audit of people.csv</title>" in page
    assert page.count("Do not publish it") == 2
    assert SECRET not in page
    assert "fewer than 11" in read.words
    assert not re.search(r"\d\.\d+\s*%", read.words)
    # on the page
    assert re.search(
        r"\d\.\d+\s*%", " ".join(sentences(ask(curator, ["city"]), ["city"]))
    )
