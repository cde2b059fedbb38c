"""A person answers behind a link, in a real browser: what leaves is shown first, and
nothing else leaves.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import uvicorn
from scipy import stats
from starlette.applications import Starlette

import dpcore.local as dl
from tests.statistical import laws
from workbench.share import answers
from workbench.store.database.store import Store
from workbench.store.links.surveys import Surveys
from workbench.store.settings import Settings

LABELS = ("never", "sometimes <i>", "often")


class Server:
    """A server of answer pages on a free port, with one survey."""

    def __init__(
        self, folder: Path, protocol: str, epsilon: str = "1", people: int = 2
    ) -> None:
        self.surveys = Surveys(Store(Settings(data_dir=folder)))
        self.question = dl.Question(
            text="How often do you & yours?",
            categories=LABELS,
            protocol=protocol,
            epsilon=epsilon,
        )
        self.key, self.tokens = self.surveys.make(self.question, people=people, days=1)
        app = Starlette(routes=answers.routes(self.surveys, per_minute=10_000))
        self.uvicorn = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error"))
        self.thread = threading.Thread(target=self.uvicorn.run)

    def __enter__(self) -> Server:
        self.thread.start()
        while not self.uvicorn.started:
            self.thread.join(0.05)
        return self

    def __exit__(self, *_: object) -> None:
        self.uvicorn.should_exit = True
        self.thread.join(20)

    @property
    def root(self) -> str:
        port = self.uvicorn.servers[0].sockets[0].getsockname()[1]
        return f"http://127.0.0.1:{port}"

    def link(self, number: int = 0) -> str:
        return f"{self.root}/answer/{self.tokens[number]}"


class Respondent:
    """Somebody with a link, and everything that their browser sends or complains
    about.
    """

    def __init__(self, context: Any) -> None:
        self.context = context
        self.page = context.new_page()
        self.sent: list[tuple[str, str, str | None]] = []
        self.complaints: list[str] = []
        self.page.on(
            "request",
            lambda each: self.sent.append((each.method, each.url, each.post_data)),
        )
        self.page.on("console", lambda each: self.complaints.append(each.text))
        self.page.on("pageerror", lambda each: self.complaints.append(str(each)))

    def draw(self, link: str, label: str) -> dict[str, Any]:
        """Open the link, answer, and read what would be sent."""
        self.page.goto(link)
        self.page.get_by_label(label, exact=True).check()
        self.page.get_by_role("button", name="Change it at random").click()
        self.page.get_by_text("This is all that will be sent").wait_for()
        shown: dict[str, Any] = json.loads(self.page.locator("#report").inner_text())
        return shown

    def send(self) -> None:
        self.page.get_by_role("button", name="Send this").click()

    @property
    def posted(self) -> list[str | None]:
        return [data for method, _, data in self.sent if method == "POST"]


@pytest.fixture(scope="module")
def telephone(browser: Any) -> Iterator[Any]:
    """The browser that respondents of all tests use, one after the other."""
    context = browser.new_context(viewport={"width": 390, "height": 800})
    yield context
    context.close()


@pytest.fixture
def respondent(telephone: Any) -> Iterator[Respondent]:
    person = Respondent(telephone)
    yield person
    cookies = telephone.cookies()
    telephone.set_offline(False)
    person.page.close()
    assert cookies == []


@pytest.mark.parametrize("protocol", dl.Protocol.kinds())
def test_what_is_shown_is_what_is_stored(
    tmp_path: Path, respondent: Respondent, protocol: str
) -> None:
    """Something else would leave than the person saw, or the true answer would."""
    with Server(tmp_path, protocol) as server:
        shown = respondent.draw(server.link(), "sometimes <i>")
        assert respondent.posted == []  # nothing leaves before it was shown
        respondent.send()
        respondent.page.get_by_text("Sent. Thank you").wait_for()
        assert [json.loads(each or "") for each in respondent.posted] == [shown]
        assert shown["protocol"] == protocol
        assert all(url.startswith(server.root) for _, url, _ in respondent.sent)
        question, reports = dl.from_json_lines(server.surveys.report_lines(server.key))
        assert question.protocol.to_plain(reports) == [shown["report"]]
        assert respondent.complaints == []
        width = respondent.page.evaluate("document.documentElement.scrollWidth")
        assert width <= 390
        respondent.page.reload()
        respondent.page.get_by_text("This link does not work").wait_for()


FIXED = """
crypto.getRandomValues = (bytes) => bytes.fill(7);
Math.random = () => { throw Error("not a source for answers"); };
"""
AGAIN = """
() => drawReport(JSON.parse(document.getElementById("asked").textContent), 2, (size) => Array(size).fill(7))
"""


@pytest.mark.parametrize("protocol", ["randomized response", "optimized unary"])
def test_the_page_draws_from_the_browser_s_crypto_alone(
    tmp_path: Path,
    respondent: Respondent,
    protocol: str,
) -> None:
    """Bytes of a source that can be guessed would give the answer away."""
    respondent.page.add_init_script(FIXED)
    with Server(tmp_path, protocol) as server:
        shown = respondent.draw(server.link(), "often")
        assert shown["report"] == respondent.page.evaluate(AGAIN)
        assert respondent.complaints == []


def test_the_answer_stays_when_the_line_breaks(
    tmp_path: Path, respondent: Respondent
) -> None:
    """A report that was drawn again for every try would give the answer away by its
    average.
    """
    with Server(tmp_path, "optimized unary") as server:
        shown = respondent.draw(server.link(), "often")
        respondent.context.set_offline(True)
        respondent.send()
        respondent.page.get_by_text("the report stays the same").wait_for()
        respondent.context.set_offline(False)
        respondent.send()
        respondent.page.get_by_text("Sent. Thank you").wait_for()
        assert set(respondent.posted) == {json.dumps(shown, separators=(",", ":"))}
        assert not respondent.page.locator("#form").is_visible()


def test_a_link_that_was_closed_meanwhile(
    tmp_path: Path, respondent: Respondent
) -> None:
    """The person would believe that the answer counted."""
    with Server(tmp_path, "randomized response") as server:
        respondent.draw(server.link(), "often")
        server.surveys.close(server.key)
        respondent.send()
        respondent.page.get_by_text(
            "This invitation was already answered, has expired, was closed"
        ).wait_for()


def test_without_a_script_nothing_is_asked(tmp_path: Path, browser: Any) -> None:
    """Without the script a true answer would be sent: so there is no form, and the page
    says why.
    """
    person = Respondent(browser.new_context(java_script_enabled=False))
    with Server(tmp_path, "randomized response") as server:
        person.page.goto(server.link())
        assert (
            "does not work without JavaScript"
            in person.page.locator("noscript").inner_text()
        )
        assert not person.page.get_by_role("button").first.is_visible()
    person.context.close()


def credible(support: int, p: float, own: int, q: float, others: int) -> bool:
    """Whether so many reports may support an answer, at one in a million.

    Those of the `own` people who gave it do with chance p, those of others with q. An
    interval of few reports that are nearly certain is no exact one.
    """
    law = np.convolve(
        stats.binom.pmf(np.arange(own + 1), own, p),
        stats.binom.pmf(np.arange(others + 1), others, q),
    )
    tails = law[: support + 1].sum(), law[support:].sum()
    return bool(min(tails) > laws.FALSE_ALARM / 6)  # of three answers, at both ends


def test_a_whole_survey_comes_out_right(tmp_path: Path, respondent: Respondent) -> None:
    """From invitations to a decoded estimate: 60 people at a large epsilon, two in
    three say often.
    """
    with Server(tmp_path, "subset selection", epsilon="6", people=60) as server:
        script = """
            ([links, code]) => Promise.all(links.map(async (link) => {
                const page = await (await fetch(link)).text();
                const text = new DOMParser().parseFromString(page, "text/html");
                const asked = JSON.parse(text.getElementById("asked").textContent);
                const take = (size) => crypto.getRandomValues(new Uint8Array(size));
                const report = drawReport(asked, code, take);
                const body = JSON.stringify({protocol: asked.protocol, epsilon: asked.epsilon, report});
                return (await fetch(link, {method: "POST", body})).status;
            }))
        """
        respondent.page.goto(server.link())
        for code, numbers in ((2, range(40)), (0, range(40, 60))):
            links = [server.link(number) for number in numbers]
            assert set(respondent.page.evaluate(script, [links, code])) == {200}
        question, reports = dl.from_json_lines(server.surveys.report_lines(server.key))
        estimate = question.protocol.estimate(reports)
        assert estimate.people == 60
        said = (20, 0, 40)
        p, q = float(question.protocol.p), float(question.protocol.q)
        for people, support in zip(said, estimate.support, strict=True):
            assert credible(int(support), p, people, q, 60 - people)
        # twin: the first two answers taken for each other
        assert not credible(int(estimate.support[0]), p, 0, q, 60)
