"""The page behind a link to two linked tables: both numbers, both files, one promise."""

from __future__ import annotations

import hashlib
import html
import io
import json
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest
from starlette.applications import Starlette

import dpcore as dp
from dpcore.accounting.loss import loss_fields
from dpcore.errors import DisclosureError
from dpcore.synthesis import LinkedRelease
from tests.linked_tables import linked_schema
from tests.test_linked_curator import opened
from tests.workbench.share.asgi import Answer, call
from tests.workbench.share.test_links import clock
from workbench.language.wording import (
    attacker_words,
    loss_words,
    number,
    pair_sentences,
    whole_number_text,
)
from workbench.report import downloads, of_linked_release, of_release, sentences
from workbench.report.document import OFFERED_LINKED_FILES
from workbench.share import links
from workbench.store.database.store import Store
from workbench.store.links.shares import LinkDraft, Shares, in_days
from workbench.store.settings import Settings

LOSS = dp.ApproxDP(epsilon=8, delta="1e-9")
EVERYTHING = frozenset(("counts", "rows", "model", "questions", "explore"))
FILES = [name for name in OFFERED_LINKED_FILES if not name.startswith("explore")]


@pytest.fixture(scope="module")
def release() -> LinkedRelease:
    return opened().synthesize(LOSS)


class SharedPair:
    """A database with one link to two tables, and the application that answers it."""

    def __init__(self, folder: Path, release: LinkedRelease) -> None:
        self.store = Store(Settings(data_dir=folder))
        self.shares = Shares(self.store)
        self.release = release
        self.token = self.make()
        self.app = Starlette(routes=links.routes(self.shares))

    def make(self, contents: frozenset[str] = EVERYTHING, **given: object) -> str:
        draft = LinkDraft(
            title="Patients <b>",
            expires=in_days(7),
            contents=contents,
            **given,  # type: ignore[arg-type]
        )
        return self.shares.make_linked(self.release, draft, dataset="d")

    def get(self, query: str = "", token: str = "") -> Answer:
        return call(self.app, "GET", f"/share/{token or self.token}", query=query)

    def text(self, query: str = "", token: str = "") -> str:
        page = self.get(query, token)
        assert page.status == 200
        return html.unescape(page.text)


@pytest.fixture
def shared(tmp_path: Path, release: LinkedRelease) -> Iterator[SharedPair]:
    made = SharedPair(tmp_path, release)
    yield made
    made.store.close()


def test_the_page_counts_people_and_events(
    shared: SharedPair, release: LinkedRelease
) -> None:
    """A reader would take stays for people, or see half of what was released."""
    page = shared.text()
    people, events = (
        whole_number_text(float(half.answer(()).values))
        for half in release.halves.values()
    )
    assert f"{people} people and {events} events were counted" in page
    assert page.index("<h2>People</h2>") < page.index("<h2>Events</h2>")
    assert "At most 3 events of a person count." in page
    assert "people of the truth" in page
    assert "events of the truth" in page
    assert "rows of the truth" not in page
    assert "Patients <b>" in page
    assert "Patients <b>" not in shared.get().text


def test_columns_of_the_person_are_drawn_once(
    shared: SharedPair, release: LinkedRelease
) -> None:
    """A chart of sex that counts stays would be read as one of people."""

    def drawn(token: str = "") -> list[tuple[str, str]]:
        found = re.findall(
            r">([\w ]+): each count is within \S+ (people|events) of",
            shared.text(token=token),
        )
        return [each for each in found if not each[0].endswith("together")]

    assert sorted(drawn()) == [
        ("age", "people"),
        ("number of events", "people"),
        ("pay", "events"),
        ("sex", "people"),
        ("town", "events"),
    ]
    some = shared.make(pictures=(("town",), ("age",)))
    assert drawn(some) == [("age", "people"), ("town", "events")]


def test_all_sentences_hold_together(release: LinkedRelease) -> None:
    """Each half would be wrong as often as a whole page may be."""
    columns = 3 + 5  # measured of people, and of events with the columns of people
    level = 1 - sentences.ERROR_CHANCE / (columns + 2)
    assert of_linked_release._joint_level(release) == pytest.approx(level)
    half = release.people.answer((), level=level).max_distance_to_bound
    assert (
        f"give or take {number(half)} people"
        in of_linked_release.document(release).lead
    )


def test_one_promise_for_both(shared: SharedPair, release: LinkedRelease) -> None:
    """The loss of one half would pass for all that a person risks."""
    page = shared.text()
    both = loss_words(loss_fields(release.total_loss))
    halves = [loss_words(half.guarantee.loss) for half in release.halves.values()]
    assert "one person with all rows in both tables is added or removed" in page
    assert page.count(both) >= 3  # badge, promise, citation
    assert all(sentence in page for sentence in pair_sentences(release.total_loss))
    for alone in halves:
        assert alone != both
        assert alone not in page
    for half in release.halves.values():
        assert attacker_words(of_release.attacker_limits(half)) not in page


def test_both_tables_belong_together(shared: SharedPair) -> None:
    """A reader would join events to people who are somebody else."""
    for ending, read in (("csv", pd.read_csv), ("parquet", pd.read_parquet)):
        people, events = (
            read(io.BytesIO(shared.get(f"file={view}.{ending}").body))
            for view in ("people", "events")
        )
        assert people["id"].is_unique
        assert len(events) > len(people)
        assert events["person"].isin(people["id"]).all()
        assert events["person"].value_counts().max() <= 3
        # one drawing: as many events as the person of this file has
        drawn = shared.release.draw_tables(len(people), seed=0)
        counts = events["person"].value_counts().reindex(people["id"], fill_value=0)
        assert counts.tolist() == drawn.people_view["number of events"].tolist()


def test_every_file_is_there_and_no_other(
    shared: SharedPair, release: LinkedRelease
) -> None:
    """A file would be promised that does not come, or given although it was not."""
    for name in FILES:
        assert f"?file={name}&" in shared.text()
        assert shared.get(f"file={name}").status == 200
        assert "Patients-b" in shared.get(f"file={name}").headers["content-disposition"]
    for name in ("rows.csv", "release.json", "explore.html", "people.xlsx"):
        assert shared.get(f"file={name}").status == 404
    bare = shared.make(frozenset())
    given = {"guarantee.json"}
    for name in OFFERED_LINKED_FILES:
        status = shared.get(f"file={name}", bare).status
        assert status == (200 if name in given else 404)
    text = shared.get("file=linked-release.json").body.decode()
    assert LinkedRelease.from_json(text).to_json() == release.to_json()
    assert hashlib.sha256(text.encode()).hexdigest() in shared.text()  # the citation


def test_files_say_what_both_cost(shared: SharedPair, release: LinkedRelease) -> None:
    """A program would read the loss of a half as that of the release."""
    both = loss_fields(release.total_loss)
    told = json.loads(shared.get("file=guarantee.json").body)
    assert told["loss_of_both_halves"] == both
    assert told["guarantee"]["loss"] == both  # no private search here
    assert "one person with all rows in both tables" in told["guarantee"]["unit"]
    for view in ("people", "events"):
        body = shared.get(f"file={view}.parquet").body
        footer = pq.read_metadata(io.BytesIO(body)).metadata[b"guarantee"]
        assert json.loads(footer)["loss_of_both_halves"] == both
        body = shared.get(f"file={view}-counts.parquet").body
        footer = pq.read_metadata(io.BytesIO(body)).metadata[b"guarantee"]
        half = json.loads(footer)["one_of_two_halves"]
        assert (half["half"], half["loss_of_both_halves"]) == (view, both)


def test_a_half_says_that_it_is_one_of_two(release: LinkedRelease) -> None:
    """Whoever gets one file would not know of the other one."""
    both = release.total_loss
    for view, half in release.halves.items():
        alone = json.loads(downloads.guarantee_json(half))
        assert "one_of_two_halves" not in alone
        for name in ("guarantee.json", "datapackage.json"):
            told = json.loads(downloads.file_content(half, name, both))
            assert told["one_of_two_halves"]["half"] == view
            assert told["one_of_two_halves"]["loss_of_both_halves"] == loss_fields(both)
            assert "about the same people" in told["one_of_two_halves"]["meaning"]
        page = of_release.stand_alone_page(half, both).decode()
        assert "about the same people" in html.unescape(page)


def test_a_reader_asks_people_or_events(
    shared: SharedPair, release: LinkedRelease
) -> None:
    """A question about stays would be answered with people."""
    page = shared.text()
    assert "How many people are" in page
    assert "How many events are" not in page
    assert "?lang=en&table=events#ask" in page
    events = shared.text("table=events")
    assert "How many events are" in events
    assert "How many people are" not in events
    assert '<input type="hidden" name="table" value="events">' in events
    assert "&table=events&column=" in events
    for view, half in release.halves.items():
        place = list(of_release.queryable_columns(half)).index("sex")
        answered = shared.text(f"table={view}&lang=en&q=is-{place}%3D0")
        count = dp.count_rows(half, {"sex": ["F"]})
        assert f"About {whole_number_text(count.value)} {view}." in answered
    assert shared.get("table=households").status == 200
    assert "does not have" in shared.text("table=households")


def test_each_table_has_an_interactive_page(shared: SharedPair) -> None:
    """A reader could filter one of both tables only, or mix people with stays."""
    page = shared.text()
    for view, other in (("people", "events"), ("events", "people")):
        assert f"?file=explore-{view}.html&" in page
        own = shared.get(f"file=explore-{view}.html")
        assert own.status == 200
        assert "script-src 'sha256-" in own.headers["content-security-policy"]
        text = html.unescape(own.text)
        assert f"?file=explore-{other}.html&" in text
        assert f"?file=explore-{view}.html&" not in text
        assert f"All {{total}} {view}" not in text
        assert re.search(rf'data-all="All [\d,]+ {view}"', text)
        assert f"How many {view} are" in text
    without = shared.make(EVERYTHING - {"explore"})
    assert "explore-" not in shared.text(token=without)
    assert shared.get("file=explore-people.html", without).status == 404


@pytest.mark.parametrize("way", ["revoked", "expired"])
def test_it_ends_as_other_links_do(
    shared: SharedPair, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """A page that was taken back would still answer."""
    link = shared.shares.links_of("d")[0]
    queries = ("", "file=people.csv", "file=explore-people.html", "table=events")
    assert [shared.get(query).status for query in queries] == [200] * 4
    now = link.made
    if way == "revoked":
        shared.shares.revoke("d", link.id)
    else:
        now = link.expires + timedelta(seconds=1)
    with clock(monkeypatch, now):
        assert [shared.get(query).status for query in queries] == [404] * 4


def test_only_a_release_is_shared(shared: SharedPair) -> None:
    """Rows of people would get an address."""
    draft = LinkDraft(title="x", expires=in_days(1))
    with pytest.raises(DisclosureError):
        shared.shares.make_linked(pd.DataFrame({"id": [1]}), draft, dataset="d")  # type: ignore[arg-type]
    with pytest.raises(DisclosureError):
        shared.shares.make(shared.release, draft, dataset="d")  # type: ignore[arg-type]


def test_files_without_a_server(release: LinkedRelease) -> None:
    """A file that was sent on would lack a table, or the promise."""
    page = html.unescape(of_linked_release.stand_alone_page(release).decode())
    assert "were counted" in page
    assert "one person with all rows in both tables" in page
    assert 'download="people-counts.csv"' in page
    assert 'download="linked-release.json"' in page
    assert "?file=" not in page
    for view in ("people", "events"):
        explored = of_linked_release.interactive_file(release, view).decode()
        assert "cannot be revoked" in html.unescape(explored)
        assert "?file=" not in explored
        assert re.search(rf'data-all="All [\d,]+ {view}"', explored)


def test_one_event_a_person_is_still_an_event() -> None:
    """With a maximum of one, both halves have one row a person."""
    both = opened(linked_schema(max_rows=1)).synthesize(LOSS, request_id="r")
    counted = {
        view: sentences.view_of_release(half) for view, half in both.halves.items()
    }
    assert counted == {"people": "people", "events": "events"}


def test_what_a_private_search_cost_is_in_the_promise() -> None:
    """The page would state two losses, and not say why."""
    schema = linked_schema()
    unit = dp.PrivacyUnit(max_rows=1, id_column="person", found="1/2")
    both = opened(schema.with_unit(unit)).synthesize(LOSS)
    document = of_linked_release.document(both)
    total = loss_words(loss_fields(both.total_loss))
    assert total in document.badge_text
    assert f"Together with the private searches for it: {total}." in document.promise
    assert total != loss_words(both.guarantee.loss)
    assert loss_words(both.guarantee.loss) in document.promise[0]


def test_without_a_search_no_other_loss_is_stated(release: LinkedRelease) -> None:
    """A search that nobody made would be named."""
    promise = of_linked_release.document(release).promise
    assert not [each for each in promise if "private searches" in each]
