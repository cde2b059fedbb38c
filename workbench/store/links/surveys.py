"""Surveys under local differential privacy: questions, invitations, reports.

A link is 256 random bits, of which only the SHA-256 digest is kept. A report is stored
under a random number and without a time, so that the database does not tell which
invitation it answered.
"""

import hashlib
import json
import secrets
import threading
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from dpcore.errors import UsageError
from dpcore.local import Question, to_json_lines
from workbench.store.database.store import Store
from workbench.store.database.tables import invitations, reports, surveys

MAX_PEOPLE = 10_000
MAX_DAYS = 366

links_work = threading.Event()
"""Set by the server that answers the links; `streamlit run` alone does not."""


@dataclass(frozen=True, kw_only=True)
class Survey:
    """A survey: its question, whether it is open, and how many people answered.

    Attributes:
        expires: when its links stop working, in UTC.
        is_open: whether they work.
        invited, answered: how many links were made, and how many reports came in.
    """

    question: Question
    expires: datetime
    is_open: bool
    invited: int
    answered: int


class Surveys:
    """All surveys of a database.

    The owner of a survey holds a key; everybody who is asked holds a link.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def make(
        self, question: Question, *, people: int, days: int
    ) -> tuple[str, list[str]]:
        """Start a survey; return its owner's key and one token per person.

        Neither is kept.

        Raises: ParameterError for numbers outside 1 to `MAX_PEOPLE` people and 1 to
            `MAX_DAYS` days.
        """
        for name, value, most in (
            ("people", people, MAX_PEOPLE),
            ("days", days, MAX_DAYS),
        ):
            if not 1 <= value <= most:
                raise UsageError(
                    f"{name} ({value}) must be from 1 to {most}",
                    remedy="choose a number in between",
                )
        survey = secrets.token_hex(16)
        key = secrets.token_urlsafe(32)
        tokens = [secrets.token_urlsafe(32) for _ in range(people)]
        with self._store.write_transaction() as connection:
            connection.execute(
                sa.insert(surveys).values(
                    id=survey,
                    key_digest=digest_of(key),
                    question=json.dumps(question.to_dict()),
                    expires=(self._store.now() + timedelta(days=days)).isoformat(),
                    closed=False,
                ),
            )
            connection.execute(
                sa.insert(invitations),
                [
                    {"digest": digest_of(token), "survey": survey, "answered": False}
                    for token in tokens
                ],
            )
        return key, tokens

    def survey_of(self, key: str) -> Survey | None:
        """Return the survey with this owner's key."""
        with self._store.read_transaction() as connection:
            row = _survey_row(connection, key)
            if row is None:
                return None
            count = (
                sa.select(sa.func.count())
                .select_from(invitations)
                .where(invitations.c.survey == row.id)
            )
            invited = connection.execute(count).scalar_one()
            answered = connection.execute(
                count.where(invitations.c.answered)
            ).scalar_one()
        return Survey(
            question=Question.from_dict(json.loads(row.question)),
            expires=datetime.fromisoformat(row.expires),
            is_open=self._is_open(row),
            invited=invited,
            answered=answered,
        )

    def close(self, key: str) -> None:
        """Close a survey, so that all its links stop working."""
        with self._store.write_transaction() as connection:
            connection.execute(
                sa.update(surveys)
                .where(surveys.c.key_digest == digest_of(key))
                .values(closed=True),
            )

    def report_lines(self, key: str) -> str:
        """Return the reports so far, as JSON lines that can be decoded without more
        data.

        Empty if there are none, or no survey has this key.
        """
        with self._store.read_transaction() as connection:
            row = _survey_row(connection, key)
            if row is None:
                return ""
            query = (
                sa.select(reports.c.report)
                .where(reports.c.survey == row.id)
                .order_by(reports.c.id)
            )
            plain = [
                json.loads(report) for report in connection.execute(query).scalars()
            ]
        question = Question.from_dict(json.loads(row.question))
        return to_json_lines(question, question.protocol.from_plain(plain))

    def question_of(self, token: str) -> Question | None:
        """Return the question of a link, or None if the link does not work."""
        with self._store.read_transaction() as connection:
            row = self._survey_behind(connection, token)
        return None if row is None else Question.from_dict(json.loads(row.question))

    def accept(self, token: str, report: Any) -> bool:
        """Store a report; return whether its link works.

        The report must be one that the question's protocol can make. Check and store
        are one
        transaction: of two reports of one invitation, one is stored.
        """
        with self._store.write_transaction() as connection:
            row = self._survey_behind(connection, token)
            if row is None:
                return False
            answered = connection.execute(
                sa.update(invitations)
                .where(
                    invitations.c.digest == digest_of(token), ~invitations.c.answered
                )
                .values(answered=True),
            )
            if answered.rowcount != 1:
                return False
            connection.execute(
                sa.insert(reports).values(
                    id=secrets.token_hex(16), survey=row.id, report=json.dumps(report)
                ),
            )
        return True

    def settle(self) -> None:
        """Mark the surveys that have expired as closed.

        Setting a clock back then opens none.
        """
        over = ~surveys.c.closed & (surveys.c.expires <= self._store.now().isoformat())
        with self._store.read_transaction() as connection:
            ending = connection.execute(sa.select(surveys.c.id).where(over)).first()
        if ending is not None:
            with self._store.write_transaction() as connection:
                connection.execute(sa.update(surveys).where(over).values(closed=True))

    def _is_open(self, row: Any) -> bool:
        return not row.closed and self._store.now() < datetime.fromisoformat(
            row.expires
        )

    def _survey_behind(self, connection: sa.Connection, token: str) -> Any:
        """Return the survey of a working link, or None."""
        row = connection.execute(
            sa.select(surveys)
            .join(invitations)
            .where(invitations.c.digest == digest_of(token), ~invitations.c.answered),
        ).one_or_none()
        return row if row is not None and self._is_open(row) else None


def digest_of(token: str) -> str:
    """Return the digest under which a link or key is kept."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def _survey_row(connection: sa.Connection, key: str) -> Any:
    return connection.execute(
        sa.select(surveys).where(surveys.c.key_digest == digest_of(key))
    ).one_or_none()
