"""Pages behind links in the language of who opens them."""

from __future__ import annotations

import gettext
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

import dpcore as dp
from dpcore.local import Question
from tests.pages.test_pseudo_locale import Pseudo, bare
from tests.workbench.share.asgi import call
from tests.workbench.share.test_links import Shared
from workbench.language import messages
from workbench.language.messages import use_language
from workbench.share import answers

NO_WORDS = re.compile(
    r"<style>.*?</style>|<script.*?</script>|<nav.*?</nav>|data:\S*|SHA-256|\b[0-9a-f]{64}\b",
    re.DOTALL,
)
LABELS = re.compile(r"\d+ to \d+")
"""Cells of numbers: texts of the table, the same in every language as in its files."""
ATTRIBUTES = re.compile(r'\b(?:aria-label|placeholder|content|label)="([^"]*)"')


def greek_release() -> dp.Release:
    """A release in whose table nothing is written in Latin letters."""
    frame = pd.DataFrame(
        {
            "ηλικία": [20 + i % 60 for i in range(2_000)],
            "φύλο": ["ΓΑ"[i % 2] for i in range(2_000)],
        },
    )
    columns = (
        dp.Integer("ηλικία", low=0, high=99, bin_width=10),
        dp.Categorical("φύλο", categories=("Γ", "Α")),
    )
    schema = dp.Schema(columns=columns, unit=dp.PrivacyUnit(max_rows=1))
    curator = dp.Curator.open(
        frame, schema, budget=dp.PureDP(epsilon="9"), ledger=dp.MemoryLedger()
    )
    return curator.run(
        dp.Marginals(cliques=[("ηλικία", "φύλο")]), dp.PureDP(epsilon="1")
    )


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shared]:
    known = {"de": Pseudo()}
    monkeypatch.setattr(
        messages, "catalogue", lambda code: known.get(code, gettext.NullTranslations())
    )
    given = frozenset(["counts", "rows", "model", "questions", "preview", "explore"])
    made = Shared(tmp_path, greek_release(), title="Ηλικίες", contents=given)
    yield made
    made.store.close()


def english_left(page: str) -> list[str]:
    """Latin words of a page that no catalogue can reach."""
    body = NO_WORDS.sub(" ", page).partition("<body>")[2]
    seen = [re.sub(r"<[^>]*>", " ", body), *ATTRIBUTES.findall(body)]
    return [word for text in seen for word in bare(LABELS.sub(" ", text))]


def test_no_english_is_left_on_the_pages_of_a_link(shared: Shared) -> None:
    """A reader of another language would meet English sentences between their own."""
    assert "Choose values for some columns" in shared.get().text
    question = "from-0=30&lang=de"
    for query in (
        "lang=de",
        "lang=de&q=" + question.replace("&", "%26"),
        question,
        "file=explore.html&lang=de",
    ):
        page = shared.get(query=query)
        assert page.status == 200
        assert '<html lang="de">' in page.text
        assert english_left(page.text) == [], query
    gone = shared.get("x", query="lang=de")
    assert gone.status == 404
    assert english_left(gone.text) == []


def test_pages_of_a_survey_are_translated(shared: Shared) -> None:
    """People who are asked would not understand what happens to their answer."""
    question = Question(
        text="Ναι;", categories=["ναι", "όχι"], protocol="optimized unary", epsilon="1"
    )
    with use_language("de"):
        pages = [
            answers.notice_page(gone=True),
            answers.notice_page(),
            answers.answer_page(question),
        ]
        for page in pages:
            assert '<html lang="de">' in page
            assert english_left(page) == []


def test_each_visitor_gets_their_language(shared: Shared) -> None:
    """The page that one visitor opened would be kept and shown to the next in the wrong
    language.
    """
    path = f"/share/{shared.token}"
    for _again in range(2):
        for accepted, code in (
            ("de-AT,de;q=0.9", "de"),
            ("zh-CN", "zh-Hans"),
            ("fr", "en"),
        ):
            page = call(shared.app, "GET", path, accepted=accepted)
            assert f'<html lang="{code}">' in page.text
            assert ("⟦" in page.text) == (code == "de")
    assert (
        '<html lang="zh-Hans">'
        in call(shared.app, "GET", path, accepted="de", query="lang=zh").text
    )


def test_the_switch_and_the_files_keep_the_language(shared: Shared) -> None:
    """A question, or a file, would be answered in another language than its page."""
    page = shared.get(query="lang=de").text
    assert 'href="?lang=zh-Hans" hreflang="zh-Hans" lang="zh-Hans">中文</a>' in page
    assert 'href="?lang=de"' not in page
    assert 'href="?file=guarantee.json&amp;lang=de"' in page
    assert page.count('<input type="hidden" name="lang" value="de">') == page.count(
        "<form"
    )
    asked = shared.get(query="lang=de&from-0=30")
    assert 'id="answer"' in asked.text
    assert (
        "⟦"
        in json.loads(shared.get(query="file=datapackage.json&lang=de").text)["title"]
    )
    assert (
        "⟦" not in json.loads(shared.get(query="file=datapackage.json").text)["title"]
    )
