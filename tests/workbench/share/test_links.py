"""The page behind a link: what it shows, what it gives, and how it refuses."""

from __future__ import annotations

import contextlib
import html
import io
import json
import re
import secrets
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sqlalchemy as sa
from starlette.applications import Starlette

import dpcore as dp
from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.errors import DisclosureError, LedgerError, ParameterError
from dpcore.release import AnonymizedTable, Guarantee
from dpcore.suppression import HidingRule, ShownColumn, TablePlan
from dpcore.tables.rows import PublicTable
from tests.workbench.share.asgi import Answer, call
from workbench.report import compare, of_release
from workbench.report.document import OFFERED_FILES
from workbench.server.web.requests import RequestLog
from workbench.share import answers, links
from workbench.store.database import store
from workbench.store.database.store import Store
from workbench.store.ledger.sql_ledger import SqlLedger
from workbench.store.links.shares import LinkDraft, Share, Shares, in_days
from workbench.store.settings import Settings

HOSTILE = "</title><script>alert(1)</script>\u202e=1+1 **x**"
CANARY = "Zyxomma-Canary-7731"
QUESTION = "Quokka-Question-4419"
ALL = ("counts", "rows", "model", "questions")


def make_release(
    recipe: Any = None, *, epsilon: str = "1", ledger: Any = None
) -> dp.Release:
    """A release of 2,000 invented people, one of whom has values that nothing
    declares.
    """
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 90, 2_000),
            "sex": rng.choice(["F", "M"], 2_000),
            "city <b>": rng.choice(["A & B", "C", "D"], 2_000),
            "name": [f"{CANARY}-{i}" for i in range(2_000)],
        },
    )
    frame.loc[0, "city <b>"] = CANARY
    frame["age"] = frame["age"].astype(float)
    frame.loc[1, "age"] = 773_177_317_731_773
    schema = dp.Schema(
        columns=(
            dp.Integer("age", low=0, high=99, bin_width=10),
            dp.Categorical("sex", categories=("F", "M")),
            dp.Categorical("city <b>", categories=("A & B", "C", "D"), other=True),
        ),
        unit=dp.PrivacyUnit(max_rows=1),
    )
    ledger = ledger or dp.MemoryLedger()
    curator = dp.Curator.open(
        frame, schema, budget=dp.PureDP(epsilon="9"), ledger=ledger
    )
    recipe = recipe or dp.Marginals(cliques=[("age", "sex"), ("city <b>",)])
    return curator.run(recipe, dp.PureDP(epsilon=epsilon))


RELEASE = make_release()


class Shared:
    """A database with one link, and the application that answers it."""

    def __init__(
        self, folder: Path, release: dp.Release = RELEASE, **given: Any
    ) -> None:
        self.store = Store(Settings(data_dir=folder))
        self.shares = Shares(self.store)
        self.token = self.make(release, **given)
        self.app = Starlette(routes=links.routes(self.shares))

    def make(self, release: dp.Release = RELEASE, **given: Any) -> str:
        fields = {
            "title": "Ages",
            "expires": in_days(7),
            "contents": frozenset(ALL),
            **given,
        }
        return self.shares.make(release, LinkDraft(**fields), dataset="d")

    def get(self, path: str | None = None, query: str = "") -> Answer:
        where = f"/share/{self.token if path is None else path}"
        return call(self.app, "GET", where, query=query)

    @property
    def share(self) -> Share:
        return self.shares.links_of("d")[0]


@pytest.fixture
def shared(tmp_path: Path) -> Iterator[Shared]:
    made = Shared(tmp_path)
    yield made
    made.store.close()


@contextlib.contextmanager
def clock(monkeypatch: pytest.MonkeyPatch, now: datetime) -> Iterator[None]:
    """The wall clock shows another time."""

    class Clock(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return now

    with monkeypatch.context() as patch:
        patch.setattr(store, "datetime", Clock)
        yield


def test_the_page_says_it_all_without_a_script(shared: Shared) -> None:
    """A stakeholder would see less than was promised, or run and fetch what is not
    ours.
    """
    page = shared.get()
    assert page.status == 200
    order = [
        "differentially private",
        "<h1",
        "people were counted",
        "What came out",
        "<svg",
        "<details>",
        'id="ask"',
        "What is promised",
        "at most 73.1\u202f% sure",
        "How to read it",
        'id="downloads"',
        "How to cite it",
    ]
    places = [page.text.find(each) for each in order]
    assert -1 not in places
    assert places == sorted(places)
    assert "<script" not in page.text
    assert not re.search(
        r"https?://(?!www\.w3\.org)|\son\w+=|\sstyle=|<link|<img|url\(", page.text
    )
    assert page.text.count('role="img" aria-label="') == page.text.count("<svg")
    assert "city &lt;b&gt;" in page.text
    assert 'class="error"' in page.text
    assert shared.token not in page.text


def test_headers_of_every_answer(shared: Shared) -> None:
    """A page that is kept, framed, indexed or told to another site would carry its link
    along.
    """
    for answer in (
        shared.get(),
        shared.get("x"),
        shared.get(query="file=counts.csv"),
        shared.get("a/b"),
    ):
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["x-robots-tag"] == "noindex"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "DENY"
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "script" not in policy
        assert "set-cookie" not in answer.headers


def test_links_that_do_not_work_look_alike(
    shared: Shared, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer that differs, or takes another look, would tell whether a link was ever
    made.
    """
    looks: list[str] = []
    engine = shared.store._looker
    sa.event.listen(
        engine, "before_cursor_execute", lambda *each: looks.append(each[2])
    )
    expired = shared.make(expires=in_days(1))
    never = [
        secrets.token_urlsafe(32),
        "a/b",
        "../../etc/passwd",
        "é" * 43,
        "x" * 10_000_000,
    ]
    found = [shared.get(token) for token in never]
    with clock(monkeypatch, datetime.now(UTC) + timedelta(days=2)):
        found.append(shared.get(expired))
    for each in shared.shares.links_of("d"):
        shared.shares.revoke("d", each.id)
    found += [shared.get(), shared.get(expired)]
    assert sum("digest = ?" in each for each in looks) == len(found)
    assert {(each.status, each.body) for each in found} == {(404, found[0].body)}
    assert all(each.headers == found[0].headers for each in found)
    assert "does not work" in found[0].text


def test_a_link_of_another_server(shared: Shared, tmp_path: Path) -> None:
    """A link would open at a server that never made it."""
    other = Shared(tmp_path / "other")
    assert other.get().status == 200
    assert shared.get(other.token).status == 404
    other.store.close()


def test_revoking_works_at_once(shared: Shared) -> None:
    """A page that is open goes on giving files and answers after its link was
    withdrawn.
    """
    assert shared.get().status == 200
    assert shared.get(query="file=rows.csv").status == 200
    shared.shares.revoke("d", shared.share.id)
    for query in ("", "file=rows.csv", "from-0=20&below-0=40"):
        assert shared.get(query=query).status == 404
    assert shared.share.ended == "revoked"


def test_make_again_ends_the_link_before(shared: Shared) -> None:
    """Two links would work where the list shows one."""
    again = shared.shares.make_again("d", shared.share.id, expires=in_days(30))
    assert shared.get().status == 404
    assert shared.get(again).status == 200
    with pytest.raises(ParameterError, match="nothing with this name"):
        shared.shares.make_again(
            "another data set", shared.share.id, expires=in_days(30)
        )
    shared.shares.revoke("another data set", shared.share.id)
    assert shared.get(again).status == 200


@pytest.mark.parametrize("days", [-1, 0, 400])
def test_an_expiry_that_cannot_be(shared: Shared, days: int) -> None:
    """A link that is dead on arrival, or lives for ever."""
    with pytest.raises(
        ParameterError, match="the end of a link must lie within the next"
    ):
        shared.make(expires=in_days(days))


def test_a_clock_that_is_put_back_opens_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever can set the clock, or a computer that lost its time, would revive old
    links.
    """
    shared = Shared(tmp_path)
    with clock(monkeypatch, datetime.now(UTC) + timedelta(days=8)):
        assert shared.get().status == 404
    assert shared.get().status == 404  # the same program remembers the latest time
    shared.shares.settle()
    shared.store.close()
    later = Shared(tmp_path)  # and another one finds the end written down
    assert later.shares.open(shared.token, None) is None
    assert later.get().status == 200
    later.store.close()


def test_how_often_it_was_opened(shared: Shared) -> None:
    """The person who shared it would not know whether anybody looked."""
    assert (shared.share.opened, shared.share.last_opened) == (0, None)
    shared.get()
    shared.get()
    shared.get(query="file=counts.csv")
    assert shared.share.opened == 2
    assert shared.share.last_opened is not None


def test_files(shared: Shared) -> None:
    """What is downloaded would not be what the page shows."""
    page = shared.get().text
    names = re.findall(r'href="\?file=([^"&]*)&amp;lang=en"', page)
    assert names == [
        "counts.csv",
        "counts.xlsx",
        "counts.parquet",
        "counts.json",
        "datapackage.json",
        "rows.csv",
        "rows.xlsx",
        "rows.parquet",
        "guarantee.json",
        "release.json",
    ]
    written = shared.get(query="file=counts.csv").text
    assert not re.search(r"\.\d{7}", written), "digits that only floats have"
    counts = pd.read_csv(io.StringIO(written))
    assert list(counts.columns) == [
        "age",
        "sex",
        "city <b>",
        "rows",
        "low",
        "high",
        "as measured",
        "kind",
    ]
    assert len(counts) == sum(each.values.size for each in RELEASE.marginals.values())
    told = RELEASE.answer(("age", "sex"))
    for name, values in (("rows", told.values), ("low", told.low), ("high", told.high)):
        assert np.allclose(counts[name].iloc[: values.size], values.ravel())
    measured = RELEASE.marginals["age", "sex"].values.ravel()
    assert np.allclose(counts["as measured"].iloc[: measured.size], measured)
    assert set(counts["kind"]) == {"measured"}
    described = json.loads(shared.get(query="file=datapackage.json").body)
    for resource in described["resources"]:
        body = io.BytesIO(shared.get(query=f"file={resource['path']}").body)
        read = {"csv": pd.read_csv, "parquet": pd.read_parquet, "json": pd.read_json}[
            resource["format"]
        ](
            body,
        )
        assert [each["name"] for each in resource["schema"]["fields"]] == [*read]
        numbers = [
            each["name"]
            for each in resource["schema"]["fields"]
            if each["type"] == "number"
        ]
        assert np.allclose(
            read[numbers].to_numpy(), counts[numbers].to_numpy(), equal_nan=True
        )
    assert described["id"] in page  # the citation
    assert described["guarantee"]["loss"] == {"epsilon": "1"}
    rows = pd.read_csv(io.BytesIO(shared.get(query="file=rows.csv").body))
    again = pd.read_parquet(io.BytesIO(shared.get(query="file=rows.parquet").body))
    assert len(rows) == len(again) == round(RELEASE.model.total)
    assert rows["age"].tolist() == again["age"].tolist()
    excel = dp.read_table(shared.get(query="file=rows.xlsx").body, "rows.xlsx").frame
    assert rows["age"].tolist() == excel["age"].tolist()
    excel = dp.read_table(shared.get(query="file=counts.xlsx").body, "x.xlsx").frame
    assert np.allclose(excel["rows"], counts["rows"])
    guarantee = json.loads(shared.get(query="file=guarantee.json").body)
    assert guarantee["guarantee"]["loss"] == {"epsilon": "1"}
    opened = dp.read_release(shared.get(query="file=release.json").body)
    assert opened.to_json() == RELEASE.to_json()
    for name in ("ledger.json", "../x", "counts.csv%00", ""):
        assert shared.get(query=f"file={name}").status == 404


@pytest.mark.parametrize("contents", [(), ("counts",), ("questions",)])
def test_what_was_left_out_is_not_given(
    tmp_path: Path, contents: tuple[str, ...]
) -> None:
    """A file that the person who shared did not tick could be asked for by its name."""
    shared = Shared(tmp_path, contents=contents)
    page = shared.get()
    assert ('id="ask"' in page.text) == ("questions" in contents)
    for name, needs in (
        ("rows.csv", "rows"),
        ("release.json", "model"),
        ("rows.xlsx", "rows"),
        ("counts.xlsx", "counts"),
        ("counts.csv", "counts"),
        ("counts.json", "counts"),
        ("datapackage.json", "counts"),
    ):
        assert (shared.get(query=f"file={name}").status == 200) == (needs in contents)
    answered = shared.get(query="from-0=20&below-0=40").text
    assert ("The true number lies" in answered) == ("questions" in contents)
    shared.store.close()


def test_questions(shared: Shared) -> None:
    """SEEDS E5: somebody without the table asks for ranges, and would read another
    number.
    """
    answer = shared.get(query="from-0=20&below-0=40&is-1=0")
    expected = dp.count_rows(RELEASE, {"age": (20, 40), "sex": "F"})
    assert f"About {round(expected.value):,} people." in answer.text
    assert (
        f"between {round(expected.low):,} and {round(expected.high):,} in 95 of 100"
        in answer.text
    )
    assert 'value="20"' in answer.text
    assert "checked" in answer.text
    wide = shared.get(query="from-0=20&below-0=40&is-2=0&is-2=1")
    assert "no table of these columns was measured" in wide.text
    assert "A &amp; B, C" in wide.text


def test_a_question_in_one_line(shared: Shared) -> None:
    """Somebody who asks by the line at the top, or is sent its address, would read
    another answer.
    """
    page = shared.get().text
    assert "How many people are" in page
    assert page.index("<svg") < page.index('id="ask"'), "charts come first"
    ask = page[page.index('id="ask"') : page.index("</section>")]
    assert re.findall(r'href="\?lang=en&amp;column=(\d)#ask"', ask) == [
        "0",
        "1",
        "2",
    ], "first a column, whose values come after"
    assert "<select" not in ask
    offered = set()
    for column in range(3):
        chosen = shared.get(query=f"column={column}").text
        assert 'id="answer"' not in chosen, "nothing is asked yet"
        assert f'column={column}#ask" aria-current="true"' in chosen
        values = re.findall(r'<option value="(\w+-\d=[^"]+)"', chosen)
        assert {value.split("-")[1][0] for value in values} == {str(column)}
        offered |= set(values)
    assert {"from-0=20", "below-0=80", "is-1=0", "is-2=3"} <= offered
    short, long = (
        shared.get(query=each).text
        for each in ("q=from-0%3D20&q=is-1%3D0", "from-0=20&is-1=0")
    )
    answers = [
        re.findall(r'id="answer">.*?</div>', each, re.DOTALL) for each in (short, long)
    ]
    assert answers[0] == answers[1] != []
    assert 'value="from-0=20" selected' in short
    for value in offered:
        assert "About " in shared.get(query=f"q={value.replace('=', '%3D')}&q=").text


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("from-0=17&below-0=40", "is not a boundary between cells"),
        ("from-0=0&below-0=1000", "is not a boundary between cells"),
        ("from-0=40&below-0=20", "must end above its start"),
        ("from-0=abc", "needs numbers"),
        ("from-0=nan", "is not a boundary between cells"),
        ("from-0=" + "9" * 39, "is not a boundary between cells"),
        ("is-1=7", "no such category"),
        ("is-9=0", "a column that this release does not have"),
        ("salary=1", "a column that this release does not have"),
        ("&".join(f"is-{i}=0" for i in range(1_000)), "is too long"),
        ("is-1=" + "0" * 996, "is too long"),
        ("q=is-9%3D0", "a column that this release does not have"),
        ("q=from-0%3D20&q=from-0%3D40", "or a bound twice"),
        ("q=is-1%3D7", "no such category"),
        ("column=9", "a column that this release does not have"),
        ("column=%3Cscript%3E", "a column that this release does not have"),
        ("is-1=" + "<script>", "no such category"),
    ],
)
def test_questions_that_have_no_answer(shared: Shared, query: str, says: str) -> None:
    """A range outside the domain, an unknown column, 1,000 conditions: said in words,
    and nothing is lost.
    """
    answer = shared.get(query=query)
    assert answer.status == 200
    assert says in html.unescape(answer.text)
    assert 'role="alert"' in answer.text
    assert "<script" not in answer.text


def test_hostile_title_and_note(tmp_path: Path) -> None:
    """Whoever shares, or a name in the table, could run something in the reader's
    browser.
    """
    shared = Shared(tmp_path, title=HOSTILE, note=f"{HOSTILE}\nsecond line")
    page = shared.get()
    assert "<script" not in page.text
    assert "\u202e" not in page.text
    assert page.text.count("</title>") == 1
    assert "**x**" in page.text
    shared.store.close()


@pytest.mark.parametrize(
    ("title", "note"), [("", ""), (" \n", ""), ("x" * 121, ""), ("x", "y" * 2_001)]
)
def test_titles_that_cannot_be(shared: Shared, title: str, note: str) -> None:
    """A list of links without names, or a page of note."""
    with pytest.raises(ParameterError):
        shared.make(title=title, note=note)


def test_only_a_release_is_shared(shared: Shared) -> None:
    """Rows, exact counts or an internal report would get an address of their own."""
    table = PublicTable(pd.DataFrame({"a": [1]}))
    anonymized = AnonymizedTable(
        table=table, plan="{}", guarantee=Guarantee(kind="syntactic")
    )
    for other in (
        table,
        table.frame,
        anonymized,
        dp.InternalReport(kind="audit", content=1),
        "text",
    ):
        with pytest.raises(DisclosureError, match="is not a release"):
            shared.make(other)  # type: ignore[arg-type]


def test_a_syntactic_table_carries_its_box(shared: Shared) -> None:
    """Whoever gets an anonymized table by a link would take it for more than it is."""
    rows = PublicTable(pd.DataFrame({"age": ["20 to 29", "=1+1"], "n": [1, 2]}))
    guarantee = Guarantee(kind="syntactic", unit="people", models=("2-anonymity",))
    made = AnonymizedTable(
        table=rows, plan=CANARY, guarantee=guarantee, follow_up=CANARY
    )
    draft = LinkDraft(title="T", expires=in_days(7), contents=frozenset({"rows"}))
    token = shared.shares.make_syntactic(
        made, ["3 \\% become *unique* \\<again\\>"], draft, dataset="d"
    )
    page = shared.get(token)
    assert "syntactic, no epsilon" in page.text
    assert "What this does not promise" in page.text
    assert "3 % become *unique* &lt;again&gt;" in page.text
    assert "differentially private" not in page.text
    assert b"'=1+1" in shared.get(token, query="file=rows.csv").body
    excel = dp.read_table(shared.get(token, query="file=rows.xlsx").body, "x.xlsx")
    assert excel.frame["age"].tolist() == ["20 to 29", "=1+1"]
    again = pd.read_parquet(
        io.BytesIO(shared.get(token, query="file=rows.parquet").body)
    )
    pd.testing.assert_frame_equal(again, rows.frame)
    assert shared.get(token, query="file=guarantee.json").status == 200
    assert shared.get(token, query="from-0=1").text == page.text
    for other in (RELEASE, rows, "text"):
        with pytest.raises(DisclosureError):
            shared.shares.make_syntactic(other, ["said"], draft, dataset="d")  # type: ignore[arg-type]
    with pytest.raises(DisclosureError):
        shared.shares.make_syntactic(made, [], draft, dataset="d")


def test_an_exact_table_is_shown_without_what_it_hides(shared: Shared) -> None:
    """The page, its files or the database would hold a hidden count, a value of a
    group, or the reason that a cell is small.
    """
    rare = CANARY
    frame = pd.DataFrame(
        {
            "ward": ["A"] * 40 + ["B"] * 30 + [rare] * 7,
            "sex": ["f", "m"] * 38 + ["f"],
        }
    )
    values = tuple(frame["ward"].unique())
    schema = dp.Schema(
        columns=(
            dp.Categorical("ward", categories=values),
            dp.Categorical("sex", categories=("f", "m")),
        ),
        unit=dp.PrivacyUnit(max_rows=1),
    )
    curator = dp.Curator.open(
        frame, schema, budget=dp.PureDP(epsilon=1), ledger=dp.MemoryLedger()
    )
    coarse = Hierarchy(
        values=values,
        levels=(values, ("A", "other", "other"), ("*",) * len(values)),
    )
    plan = TablePlan(
        columns=(ShownColumn(column="ward", hierarchy=coarse, levels=(1,)),),
        rule=HidingRule(threshold=10),
    )
    made = curator.exact_table(plan)
    draft = LinkDraft(title="Wards", note="Said <b>", expires=in_days(7))
    with pytest.raises(DisclosureError):
        shared.shares.make_exact(made, draft, dataset="d")  # type: ignore[arg-type]
    token = shared.shares.make_exact(curator.publish_table(made), draft, dataset="d")
    page = shared.get(token)
    assert page.status == 200
    assert "syntactic, no epsilon" in page.text
    assert "What this does not promise" in page.text
    assert "Said &lt;b&gt;" in page.text
    assert "There is no epsilon. 3 exact counts are shown" in page.text
    assert "differentially private" not in page.text
    assert rare not in page.text
    assert rare not in shared.shares.page_of(shared.shares.open(token, None) or "").text
    both = curator.exact_table(
        TablePlan(
            columns=(ShownColumn(column="ward"), ShownColumn(column="sex")),
            rule=HidingRule(threshold=10),
            exceptions=(),
        )
    )
    assert {"small", "protects others"} <= set(both.content.reasons.values())
    token = shared.shares.make_exact(curator.publish_table(both), draft, dataset="d")
    files = [shared.get(token, query=f"file=table.{end}") for end in ("csv", "json")]
    assert all(file.status == 200 for file in files)
    stored = shared.shares.page_of(shared.shares.open(token, None) or "").text
    for text in (shared.get(token).text, *(file.text for file in files), stored):
        assert "fewer people than the rule" not in text
        assert "protects others" not in text
        assert '"values"' not in text  # of the groups, as the ledger lists them
    assert json.loads(files[1].text)["counts"] == list(both.content.published.counts)
    assert shared.get(token).text.count("<bdi>x</bdi>") == len(both.content.reasons)
    excel = shared.get(token, query="file=table.xlsx").body
    sheet = pd.read_excel(io.BytesIO(excel), engine="calamine")
    assert sheet.iloc[0, 1] == 77
    assert "x" in sheet.to_numpy()
    assert shared.get(token, query="file=rows.csv").status == 404


def test_a_database_that_is_gone(
    shared: Shared, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The reader must be told in words, and nothing about the release or the server."""
    assert shared.get().status == 200
    (tmp_path / "workbench.sqlite").rename(tmp_path / "elsewhere")
    answer = shared.get()
    assert answer.status == 503
    assert "Try again in a minute" in answer.text
    assert not re.search("Ages|ledger|database|sqlite", answer.text)

    def lost(*_: object) -> None:
        raise LedgerError("the ledger's database cannot be reached")

    monkeypatch.setattr(shared.shares, "open", lost)
    assert shared.get().body == answer.body


def test_floods_are_refused(shared: Shared, monkeypatch: pytest.MonkeyPatch) -> None:
    """One address that asks without end would keep the others out, or try links."""
    # another minute that begins in between would forget them
    monkeypatch.setattr(answers, "time", SimpleNamespace(monotonic=lambda: 0.0))
    app = Starlette(routes=links.routes(shared.shares, per_minute=3))
    statuses = [
        call(app, "GET", "/share/x", address="192.0.2.9").status for _ in range(5)
    ]
    assert statuses == [404] * 3 + [429] * 2
    assert (
        call(app, "GET", f"/share/{shared.token}", address="192.0.2.10").status == 200
    )


def test_other_methods(shared: Shared) -> None:
    """A link is read, nothing else."""
    for method in ("POST", "PUT", "DELETE", "PATCH"):
        assert call(shared.app, method, f"/share/{shared.token}").status == 405


def test_a_file_that_is_too_large(
    shared: Shared, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A link would send any number of bytes, again and again."""
    monkeypatch.setattr(links, "MAX_FILE_BYTES", 100)
    answer = shared.get(query="file=rows.csv")
    assert answer.status == 413
    assert "too large" in answer.text


@pytest.mark.parametrize(
    ("readers", "theirs", "not_theirs"),
    [
        (
            ["ada@example.org"],
            ["ada@example.org"],
            ["bob@example.org", "ada@example.org.evil", ""],
        ),
        (
            ["*@Example.org"],
            ["ada@example.org", "bob@example.org"],
            ["ada@sub.example.org", "example.org"],
        ),
        (["a@b.c", "*@d.e"], ["a@b.c", "x@d.e"], ["x@b.c"]),
    ],
)
def test_links_for_people_who_sign_in(
    shared: Shared,
    monkeypatch: pytest.MonkeyPatch,
    readers: list[str],
    theirs: list[str],
    not_theirs: list[str],
) -> None:
    """Somebody else would open it, or be told that there is such a link."""
    token = shared.make(readers=readers)
    unknown = shared.get("x" * 43)
    assert shared.get(token).body == unknown.body  # nobody signed in
    for address in theirs:
        monkeypatch.setattr(links.who, "address", lambda _, address=address: address)
        assert shared.get(token).status == 200
    for address in not_theirs:
        monkeypatch.setattr(links.who, "address", lambda _, address=address: address)
        answer = shared.get(token)
        assert (answer.status, answer.body, answer.headers) == (
            404,
            unknown.body,
            unknown.headers,
        )
    assert shared.get().status == 200  # a link for anybody stays one


@pytest.mark.parametrize(
    "reader", ["", "*", "@example.org", "ada", "a b@c.d", "*@*", "a@b@c", "*@a\nb"]
)
def test_readers_that_cannot_be(shared: Shared, reader: str) -> None:
    """A list that means everybody, or nobody, without saying so."""
    with pytest.raises(ParameterError, match="each reader must be an address"):
        shared.make(readers=[reader])


def test_what_answers_strangers_sees_one_table(shared: Shared) -> None:
    """A fault in the routes could read the ledger, or write."""
    for statement in (
        "SELECT * FROM ledger_lines",
        "SELECT text FROM ledger_releases",
        "SELECT key_check FROM workbench",
        "SELECT * FROM survey_reports",
        "SELECT name FROM sqlite_master",
        "DELETE FROM shares",
        "UPDATE shares SET ended = ''",
        "ATTACH DATABASE ':memory:' AS other",
        "PRAGMA writable_schema = 1",
        "CREATE TABLE more (a)",
    ):
        with pytest.raises(LedgerError), shared.store.link_transaction() as connection:
            connection.execute(sa.text(statement))
    with shared.store.link_transaction() as connection:
        assert (
            connection.execute(sa.text("SELECT count(*) FROM shares")).scalar_one() == 1
        )


@pytest.mark.parametrize(
    "recipe",
    [
        dp.Adaptive(),
        dp.Joint(["age", "sex", "city <b>"]),
        dp.Histogram("age"),
        dp.Marginals(cliques=[(), ("sex",)]),
        "statistics",
        "gaussian",
    ],
    ids=lambda recipe: recipe if isinstance(recipe, str) else recipe.kind,
)
def test_every_kind_of_release_has_its_page(tmp_path: Path, recipe: Any) -> None:
    """A kind of release that can be paid for and not be shown."""
    if recipe == "statistics":
        recipe = dp.Statistics.for_column(RELEASE.schema, "age")
    elif recipe == "gaussian":
        recipe = dp.Gaussian.for_schema(
            RELEASE.schema, label="sex", columns=["age"], one_hot=[]
        )
    shared = Shared(tmp_path, make_release(recipe))
    page = shared.get()
    assert page.status == 200
    assert "<figure>" in page.text
    for name in re.findall(r'href="\?file=([^"&]*)&amp;lang=en"', page.text):
        assert shared.get(query=f"file={name}").status == 200
    if 'id="ask"' in page.text:
        assert "About " in shared.get(query="is-0=").text
    shared.store.close()


def test_people_are_whole(tmp_path: Path) -> None:
    """A reader would be told of 34.7 people."""
    frame = pd.DataFrame({"sex": ["F", "M"] * 34, "ward": ["a", "b", "c", "d"] * 17})
    columns = (
        dp.Categorical("sex", categories=("F", "M")),
        dp.Categorical("ward", categories=tuple("abcd")),
    )
    schema = dp.Schema(columns=columns, unit=dp.PrivacyUnit(max_rows=1))
    curator = dp.Curator.open(
        frame, schema, budget=dp.PureDP(epsilon="9"), ledger=dp.MemoryLedger()
    )
    # which agree by their means
    recipe = dp.Marginals(cliques=[("sex",), ("ward",), ("sex", "ward")])
    shared = Shared(tmp_path, curator.run(recipe, dp.PureDP(epsilon="1")))
    page = html.unescape(shared.get().text)
    counts = re.findall(r'x="360.0"[^>]*>([\d.,]+)<', page) + re.findall(
        r"has ([\d.,]+) people", page
    )
    counts += re.findall(r"([\d.,]+) people were counted", page)
    assert len(counts) == 7
    assert not any("." in each for each in counts)
    shared.store.close()


def test_chats_see_no_figures_unless_the_owner_says_so(tmp_path: Path) -> None:
    """A chat service would keep figures of a link that was revoked long ago."""
    shared = Shared(tmp_path)
    seen = [
        shared.get().text,
        shared.get(shared.make(contents=frozenset({*ALL, "preview"}))).text,
    ]
    told = [
        dict(re.findall(r'<meta property="og:(\w+)" content="([^"]*)">', each))
        for each in seen
    ]
    assert [each["title"] for each in told] == ["Ages", "Ages"]
    assert not re.search(r"\d", told[0]["description"])
    assert re.match(r"[\d,]+ people were counted, give or take", told[1]["description"])
    assert {each["image"] for each in told} == {"../answer/static/card.png"}
    assert (answers.STATIC_FOLDER / "card.png").read_bytes().startswith(b"\x89PNG")
    gone = shared.get("x" * 43).text
    assert "og:" not in gone
    shared.store.close()


def test_charts_are_hidden_and_in_the_order_of_the_owner(tmp_path: Path) -> None:
    """The first picture would be another than the owner picked, or a hidden one is
    shown.
    """
    release = make_release(
        dp.Marginals(cliques=[("age", "sex"), ("city <b>",), ("sex",)])
    )
    shared = Shared(tmp_path, release)

    def headings(**given: Any) -> list[str]:
        page = html.unescape(shared.get(shared.make(release, **given)).text)
        return re.findall(r">([\w ]+(?:<b>)?): each count is within", page)

    assert sorted(headings()) == sorted(
        ["age", "sex", "city <b>", "age and sex together"]
    )
    assert headings(pictures=(("age", "sex"), ("city <b>",))) == [
        "age and sex together",
        "city <b>",
    ]
    assert headings(pictures=()) == []
    assert headings(pictures=(("salary",), ("sex",))) == ["sex"]
    shared.store.close()


@pytest.mark.parametrize("pure", [True, False])
def test_compared_releases_cost_what_was_charged_for_all_that_they_tell(
    pure: bool,
) -> None:
    """Whoever reads "epsilon 2" lost 2.2: cells and rows of a person cost epsilon .1 at
    each table.
    """
    releases = []
    charged = Fraction(0)
    budget = dp.PureDP(epsilon=3) if pure else dp.ZCDP(rho=1)
    for year in (1, 2):
        rng = np.random.default_rng(year)
        ids = np.r_[np.arange(400), rng.choice(400, 200)]
        frame = pd.DataFrame(
            {
                "person": [f"p{i}" for i in ids],
                "age": rng.integers(18, 90, 600),
                "pay": rng.gamma(3, 900, 600),
            },
        )
        columns = dp.suggest_schema(frame.drop(columns="person")).columns
        unit = dp.PrivacyUnit(max_rows=1, id_column="person", found="1/20")
        schema = dp.Schema(columns=columns, unit=unit)
        ledger = dp.MemoryLedger()
        curator = dp.open_with_cells(
            frame, schema, ["age", "pay"], budget=budget, ledger=ledger
        )
        marginals = dp.Marginals(cliques=[("age",), ("pay",)])
        releases.append(
            curator.run(
                marginals, dp.PureDP(epsilon=1) if pure else dp.ZCDP(rho="1/10")
            )
        )
        charged += Fraction(curator.balance().spent, 10**12)
    said = compare.joint_loss_sentence(*releases)
    if pure:
        assert charged == Fraction("2.2")
        assert "the privacy loss of both releases together is epsilon 2.2" in said
        return
    told = [
        float(each) for each in re.findall(r"(?:rho|epsilon) (\d+(?:\.\d+)?)", said)
    ]
    # those in rho add up; the number of rows was found for an epsilon
    rho, epsilon = told
    assert rho + 2 * 0.05**2 / 2 == pytest.approx(float(charged), rel=0.01)
    assert epsilon == 0.1


def test_each_search_for_cells_is_added_up() -> None:
    """Whoever reads "epsilon 2.1" lost 2.2: two searches of one loss were charged at
    each table.
    """
    releases = []
    charged = 0
    for year in (1, 2):
        rng = np.random.default_rng(year)
        frame = pd.DataFrame(
            {"age": rng.integers(18, 90, 600), "pay": rng.gamma(3, 900, 600)}
        )
        schema = dp.suggest_schema(frame)
        options: Any = {"budget": dp.PureDP(epsilon=3), "ledger": dp.MemoryLedger()}
        for name in ("age", "pay"):
            curator = dp.open_with_cells(frame, schema, [name], **options)
            schema = curator.schema
        recipe = dp.Marginals(cliques=[("age",), ("pay",)])
        releases.append(curator.run(recipe, dp.PureDP(epsilon=1)))
        charged += curator.balance().spent
    assert charged == 2.2 * 10**12
    assert (
        "the privacy loss of both releases together is epsilon 2.2"
        in compare.joint_loss_sentence(*releases)
    )
    page = html.unescape(of_release.stand_alone_page(releases[0]).decode())
    assert page.count("Found privately, for another epsilon 0.05") == 2


def test_the_earlier_release_keeps_its_marks_where_it_is_compared(
    tmp_path: Path,
) -> None:
    """A page would print counts of cells that one person of last year decided, under a
    promise that knows of none.
    """
    frame = pd.DataFrame({"ward": ["a", "b"] * 200})
    told = dp.Categorical("ward", categories=("a", "b"), known_from="a list")
    read = dp.Categorical("ward", categories=("a", "b"), from_data=("categories",))
    now, earlier = (
        dp.Curator.open(
            frame,
            dp.Schema(columns=(column,), unit=dp.PrivacyUnit(max_rows=1)),
            budget=dp.PureDP(epsilon=1),
            ledger=dp.MemoryLedger(),
        ).run(dp.Histogram("ward"), dp.PureDP(epsilon=epsilon))
        for column, epsilon in ((told, "1/2"), (read, "1/4"))
    )
    mark = "Not covered, because it was taken from the data itself: ward (categories)."
    shared = Shared(tmp_path, now, earlier=earlier)
    page = html.unescape(shared.get().text)
    assert f"About the earlier release: {mark}" in page
    assert page.count(mark) == 1
    assert (
        "About the earlier release: Differentially private with epsilon 0.25." in page
    )
    assert mark not in html.unescape(of_release.stand_alone_page(now).decode())
    shared.store.close()


def test_two_releases_are_compared(tmp_path: Path) -> None:
    """Last year's figures would be another release's, or the summed loss of a person is
    not on the page.
    """
    earlier = make_release(epsilon="1/2")
    shared = Shared(tmp_path, earlier=earlier)
    page = html.unescape(shared.get().text)
    assert (
        "For a person in both tables, the privacy loss of both releases together is epsilon 1.5."
        in page
    )
    assert page.count(": now and earlier") == 3
    assert "cannot be told" in page
    file = shared.get(query="file=release.json").body
    assert dp.read_release(file).request_id == RELEASE.request_id
    with pytest.raises(ParameterError, match="no column with the same cells"):
        compare.comparable_columns(
            RELEASE, make_release(dp.Statistics.for_column(RELEASE.schema, "age"))
        )
    shared.store.close()


def test_nothing_of_the_table_is_in_any_byte(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Values of the raw table that no release holds must be in no page, file, report,
    log or database row.
    """
    caplog.set_level("DEBUG")
    shared = Shared(tmp_path)
    ledger = SqlLedger(shared.store)
    seen = b""
    secret = [shared.token]
    app = RequestLog(shared.app)
    for recipe in (dp.Adaptive(), dp.Joint(["age", "sex", "city <b>"])):
        release = make_release(recipe, ledger=ledger)
        token = shared.make(
            release, note="for you", contents=frozenset((*ALL, "explore"))
        )
        for query in (
            "",
            "from-0=20&below-0=40",
            "is-2=9",
            *(f"file={name}" for name in OFFERED_FILES),
        ):
            seen += call(app, "GET", f"/share/{token}", query=query).body
        seen += of_release.stand_alone_page(release) + of_release.interactive_file(
            release
        )
        asked = (
            "is-2=" + QUESTION,
            "q=is-2%3D" + QUESTION,
            QUESTION + "=1",
            QUESTION * 60,
            "file=" + QUESTION,
        )
        for query in asked:
            call(app, "GET", f"/share/{token}", query=query)
            call(app, "GET", f"/share/{token[::-1]}", query=query)
        call(app, "GET", f"/share/{token}/and/more")
        secret.append(token)
    shared.shares.settle()
    shared.store.close()
    seen += b"".join(
        path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()
    )
    assert len(seen) > 100_000
    assert b"ledger_lines" in seen
    assert "GET /share/- 200" in caplog.text
    for planted in (CANARY, "Zyxomma", "773177317731773", QUESTION, "Quokka", *secret):
        assert planted.encode() not in seen
        assert planted not in caplog.text
