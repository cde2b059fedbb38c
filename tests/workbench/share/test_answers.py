"""The page behind an invitation, and what becomes of the reports that it sends."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.applications import Starlette

import dpcore.local as dl
from dpcore.errors import LedgerError
from tests.workbench.share.asgi import Answer, call
from workbench.share import answers
from workbench.store.database import store
from workbench.store.database.store import Store
from workbench.store.links.surveys import Surveys
from workbench.store.settings import Settings

HOSTILE = "</script><script>alert(1)</script>\u202e=1+1"
every = pytest.mark.parametrize("protocol", dl.Protocol.kinds())


class Survey:
    """A survey of three people, and the application that answers its links."""

    def __init__(
        self, folder: Path, protocol: str = "optimized unary", **routes: Any
    ) -> None:
        self.surveys = Surveys(Store(Settings(data_dir=folder)))
        self.question = dl.Question(
            text="How often? <b>",
            categories=["never", HOSTILE, "a & b"],
            protocol=protocol,
            epsilon="1/2",
        )
        self.key, self.tokens = self.surveys.make(self.question, people=3, days=7)
        self.app = Starlette(routes=answers.routes(self.surveys, **routes))

    def body(self, **changed: Any) -> bytes:
        plain = self.question.protocol.to_plain(self.question.protocol.perturb([1]))[0]
        fields = {
            "protocol": self.question.protocol.kind,
            "epsilon": "1/2",
            "report": plain,
        }
        return json.dumps({**fields, **changed}).encode()

    def get(self, token: str) -> Answer:
        return call(self.app, "GET", f"/answer/{token}")

    def post(self, token: str, body: bytes, **given: Any) -> Answer:
        return call(self.app, "POST", f"/answer/{token}", body, **given)

    @property
    def answered(self) -> int:
        found = self.surveys.survey_of(self.key)
        assert found is not None
        return found.answered


@pytest.fixture
def survey(tmp_path: Path) -> Survey:
    return Survey(tmp_path)


@every
def test_a_report_is_stored_once(tmp_path: Path, protocol: str) -> None:
    """A second report of one invitation would let one person count twice, and spend
    twice.
    """
    survey = Survey(tmp_path, protocol)
    body = survey.body()
    assert survey.post(survey.tokens[0], body).status == 200
    assert survey.answered == 1
    assert survey.post(survey.tokens[0], body).status == 404
    assert survey.post(survey.tokens[0], survey.body()).status == 404
    assert survey.answered == 1
    question, reports = dl.from_json_lines(survey.surveys.report_lines(survey.key))
    assert question == survey.question
    assert question.protocol.to_plain(reports) == [json.loads(body)["report"]]


def test_the_page_asks_and_runs_nothing_foreign(survey: Survey) -> None:
    """A question or answer with markup in it must be shown to the letter, and only our
    scripts may run.
    """
    answer = survey.get(survey.tokens[0])
    assert answer.status == 200
    assert "How often? &lt;b&gt;" in answer.text
    assert html.escape(HOSTILE) in answer.text
    assert answer.text.count("<script") == 3
    assert re.findall(r'src="([^"]*)"', answer.text) == [
        "static/draw.js",
        "static/answer.js",
    ]
    assert not re.search(r"https?://|\son\w+=|style=", answer.text)
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    asked = json.loads(
        re.search(r'id="asked">(.*?)</script>', answer.text, re.DOTALL)[1]
    )  # type: ignore[index]
    assert asked["labels"] == ["never", HOSTILE, "a & b"]
    assert asked["script"] == survey.question.protocol.script_parameters()
    assert "does not work without JavaScript" in answer.text
    assert "at most 62.2\u202f% sure" in answer.text


def test_headers_of_every_answer(survey: Survey) -> None:
    """A page that is kept, framed, indexed or told to another site would carry its link
    along.
    """
    token = survey.tokens[0]
    for answer in (
        survey.get(token),
        survey.get("x"),
        survey.post(token, b""),
        survey.post(token, b"1" * 300_000),
        call(survey.app, "GET", "/answer/static/draw.js"),
        call(survey.app, "GET", "/answer/static/x"),
    ):
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "DENY"
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]


def test_static_files_and_no_others(survey: Survey) -> None:
    """The scripts come from here, and no other file does."""
    for name in ("draw.js", "answer.js", "answer.css", "card.png"):
        answer = call(survey.app, "GET", f"/answer/static/{name}")
        assert answer.status == 200
        assert answer.body == (answers.STATIC_FOLDER / name).read_bytes()
    for name in ("answer.html", "../answers.py", "%2e%2e/answers.py"):
        assert call(survey.app, "GET", f"/answer/static/{name}").status == 404


def test_links_that_do_not_work_look_alike(
    survey: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer that differs would tell whether a link was ever made, or somebody has
    answered.
    """
    answered = survey.tokens[0]
    unknown = "x" * 43
    closed = survey.tokens[1]
    expired = survey.tokens[2]
    survey.post(answered, survey.body())
    found = [survey.get(answered), survey.get(unknown), survey.get("é" * 10_000)]
    gone = survey.surveys.survey_of(survey.key).expires  # type: ignore[union-attr]

    class Late(store.datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return gone

    with monkeypatch.context() as patch:
        patch.setattr(store, "datetime", Late)
        found.append(survey.get(expired))
        assert survey.post(expired, survey.body()).status == 404
    survey.surveys.close(survey.key)
    found.append(survey.get(closed))
    assert survey.post(closed, survey.body()).status == 404
    assert {(each.status, each.body) for each in found} == {(404, found[0].body)}
    assert {each.headers["cache-control"] for each in found} == {"no-store"}
    assert survey.answered == 1


BAD = [
    b"",
    b"{}",
    b"[]",
    b"null",
    b"1",
    b"\xff",
    b"[" * 100_000,
    b'{"report": "000"}',
    b'"report"',
    b'{"protocol": "optimized unary", "epsilon": "1/2"}',
]


@pytest.mark.parametrize("body", BAD, ids=lambda body: repr(body[:40]))
def test_malformed_bodies_are_refused(survey: Survey, body: bytes) -> None:
    """Whatever arrives is refused in one way and stored in none; the invitation stays
    good.
    """
    assert survey.post(survey.tokens[0], body).status == 400
    assert survey.answered == 0
    assert survey.post(survey.tokens[0], survey.body()).status == 200


@pytest.mark.parametrize(
    "changed",
    [
        {"protocol": "symmetric unary"},
        {"epsilon": "1"},
        {"epsilon": 0.5},
        {"report": "0000"},
        {"report": 2},
        {"report": "012"},
        {"report": None},
        {"more": 1},
        {"protocol": None},
    ],
    ids=str,
)
def test_reports_of_another_protocol_are_refused(
    survey: Survey, changed: dict[str, Any]
) -> None:
    """Such a report would be decoded into nonsense, or hide a stronger answer."""
    assert survey.post(survey.tokens[0], survey.body(**changed)).status == 400
    assert survey.answered == 0


def test_a_true_answer_in_place_of_a_report_is_refused(survey: Survey) -> None:
    """The server must not take the text of an answer: it is not wanted, and not
    kept.
    """
    for true in ("never", HOSTILE, {"answer": "never"}):
        assert survey.post(survey.tokens[0], survey.body(report=true)).status == 400


def test_large_bodies_are_cut_off(survey: Survey) -> None:
    """A body of any size would fill the memory."""
    assert (
        survey.post(survey.tokens[0], b" " * (answers.MAX_BODY_BYTES + 1)).status == 413
    )
    assert survey.answered == 0


def test_floods_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One address that asks without end would keep the others out, or try tokens."""
    # another minute that begins in between would forget them
    monkeypatch.setattr(answers, "time", SimpleNamespace(monotonic=lambda: 0.0))
    survey = Survey(tmp_path, per_minute=5)
    statuses = [survey.post("x", b"{}", address="192.0.2.9").status for _ in range(8)]
    assert statuses == [404] * 5 + [429] * 3
    assert (
        survey.post(survey.tokens[0], survey.body(), address="192.0.2.10").status == 200
    )


def test_a_new_minute_forgets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever was refused must be let in a minute later."""
    clock = [0.0]
    monkeypatch.setattr(answers, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    limiter = answers.Limiter(1)
    assert [limiter.allows("a"), limiter.allows("a"), limiter.allows("b")] == [
        True,
        False,
        True,
    ]
    clock[0] = 60.0
    assert limiter.allows("a")


def test_a_database_that_is_gone(
    survey: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The person must read a sentence, and nothing about the server."""

    def lost(token: str) -> None:
        raise LedgerError("the ledger's database cannot be reached")

    monkeypatch.setattr(survey.surveys, "question_of", lost)
    for answer in (
        survey.get(survey.tokens[0]),
        survey.post(survey.tokens[0], survey.body()),
    ):
        assert answer.status == 503
        assert "Try again in a minute" in answer.text
        assert "database" not in answer.text


def test_other_methods(survey: Survey) -> None:
    """A link is read and answered, nothing else."""
    for method in ("PUT", "DELETE", "PATCH"):
        assert call(survey.app, method, f"/answer/{survey.tokens[0]}").status == 405


def test_no_true_answer_and_no_link_is_kept(tmp_path: Path) -> None:
    """The database must not hold a working link, nor anything of an answer but its
    report.
    """
    survey = Survey(tmp_path)
    for token in survey.tokens:
        survey.post(token, survey.body())
    stored = b"".join(path.read_bytes() for path in tmp_path.glob("*sqlite*"))
    assert stored
    for secret in (*survey.tokens, survey.key):
        assert secret.encode() not in stored
    assert len(survey.surveys.report_lines(survey.key).splitlines()) == 3


def test_scripts_of_answers_know_no_other_source_of_chance() -> None:
    """A source that can be guessed would give the answer away; the walk in a browser is
    a proof.
    """
    sources = re.compile(r"Math\.random|Date|performance|getRandomValues")
    found = {
        name: set(
            sources.findall((answers.STATIC_FOLDER / name).read_text(encoding="utf-8"))
        )
        for name in ("answer.js", "draw.js")
    }
    assert found == {"answer.js": {"getRandomValues"}, "draw.js": set()}
