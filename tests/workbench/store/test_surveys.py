"""Surveys in the database: invitations that work once, for a time, and whose digests
only are kept.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

import dpcore.local as dl
from dpcore.errors import ParameterError
from tests.contracts.ledger_kinds import postgres_kind, sqlite_kind
from tests.needs import need_postgres
from workbench.store.database import store as database
from workbench.store.database.store import Store
from workbench.store.database.tables import invitations, reports
from workbench.store.links.surveys import Surveys, digest_of


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    with ExitStack() as stack:
        if request.param == "sqlite":
            kind = stack.enter_context(sqlite_kind(tmp_path))
        else:
            kind = stack.enter_context(postgres_kind(tmp_path, need_postgres()))
        opened = Store(kind.settings)
        opened.settings = kind.settings  # type: ignore[attr-defined]
        yield opened
        opened.close()


@pytest.fixture
def book(store: Store) -> Surveys:
    return Surveys(store)


def question() -> dl.Question:
    return dl.Question(
        text="Q",
        categories=["a", "b", "c"],
        protocol="randomized response",
        epsilon="0.7",
    )


def test_the_owner_sees_how_many_answered(book: Surveys) -> None:
    """The owner must find the survey again by its key, and nobody by another."""
    key, tokens = book.make(question(), people=5, days=3)
    assert len(set(tokens)) == 5
    found = book.survey_of(key)
    assert found is not None
    assert (found.question, found.invited, found.answered, found.is_open) == (
        question(),
        5,
        0,
        True,
    )
    assert (
        timedelta(days=2, hours=23)
        < found.expires - datetime.now(UTC)
        <= timedelta(days=3)
    )
    assert book.question_of(tokens[0]) == question()
    assert book.accept(tokens[0], 1)
    assert book.accept(tokens[1], 2)
    assert book.survey_of(key).answered == 2  # type: ignore[union-attr]
    again, decoded = dl.from_json_lines(book.report_lines(key))
    assert again == question()
    assert sorted(decoded) == [1, 2]
    for other in ("", tokens[0], key[:-1], key.upper(), "\ud800"):
        assert book.survey_of(other) is None
        assert book.report_lines(other) == ""
    assert book.question_of(key) is None


def test_several_surveys_stay_apart(book: Surveys) -> None:
    """A link of one survey must not count in another."""
    one, first = book.make(question(), people=1, days=1)
    two, second = book.make(question(), people=1, days=1)
    book.accept(first[0], 0)
    book.close(one)
    assert (book.survey_of(one).answered, book.survey_of(two).answered) == (1, 0)  # type: ignore[union-attr]
    assert book.question_of(second[0]) is not None
    assert not book.survey_of(one).is_open  # type: ignore[union-attr]


def test_of_many_at_once_one_is_stored(book: Surveys) -> None:
    """Two reports of one invitation at the same moment must not both be counted."""
    key, tokens = book.make(question(), people=1, days=1)
    start = threading.Barrier(8)
    stored = []

    def send() -> None:
        start.wait()
        stored.append(book.accept(tokens[0], 1))

    threads = [threading.Thread(target=send) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert sorted(stored) == [False] * 7 + [True]
    assert book.survey_of(key).answered == 1  # type: ignore[union-attr]


def test_only_digests_are_kept_and_reports_stand_alone(
    book: Surveys, store: Store
) -> None:
    """Whoever reads the database must find no link that works, and not whose report is
    whose.
    """
    key, tokens = book.make(question(), people=3, days=1)
    for token in tokens:
        book.accept(token, 0)
    with store.read_transaction() as connection:
        kept = connection.execute(sa.select(invitations)).all()
        stored = connection.execute(sa.select(reports)).all()
    assert {row.digest for row in kept} == {digest_of(token) for token in tokens}
    assert not {row.id for row in stored} & {row.digest for row in kept}
    assert set(reports.c.keys()) == {"id", "survey", "report"}
    for secret in (key, *tokens):
        assert secret not in repr(kept) + repr(stored)


@pytest.mark.parametrize(
    ("people", "days"), [(0, 1), (-1, 1), (10_001, 1), (1, 0), (1, 400)]
)
def test_numbers_are_checked(book: Surveys, people: int, days: int) -> None:
    """A survey of nobody, of all the world, or for ever, is refused."""
    with pytest.raises(ParameterError):
        book.make(question(), people=people, days=days)


def test_an_older_database_gets_the_tables(store: Store) -> None:
    """A database from before there were surveys must take them without losing
    anything.
    """
    assert Surveys(store).make(question(), people=1, days=1)
    assert Surveys(store)  # and again


def test_a_survey_that_ended_stays_ended_whatever_the_clock_says(
    book: Surveys,
    store: Store,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whoever can set the clock, or a computer that lost its time, would revive old
    links.
    """
    key, tokens = book.make(question(), people=2, days=1)
    other, _ = book.make(question(), people=1, days=30)

    class Later(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return datetime.now(tz) + timedelta(days=2)

    with monkeypatch.context() as ahead:
        ahead.setattr(database, "datetime", Later)
        assert book.question_of(tokens[0]) is None
    again = Surveys(Store(store.settings))  # type: ignore[attr-defined]
    assert again.question_of(tokens[0]) is not None  # nobody has written it down yet
    assert book.question_of(tokens[0]) is None  # this program knows
    assert not book.accept(tokens[1], 1)
    book.settle()
    assert again.question_of(tokens[0]) is None
    assert not again.accept(tokens[1], 1)
    assert not again.survey_of(key).is_open  # type: ignore[union-attr]
    assert again.survey_of(other).is_open  # type: ignore[union-attr]
