"""Links that show one release to people without the table.

A link is 256 random bits, of which only the SHA-256 digest is kept. The release is kept
beside it: whoever answers a link needs no line of the ledger. The end of a link is
written down, so that setting a clock back opens nothing again.
"""

import base64
import hmac
import io
import json
import math
import re
import secrets
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pandas as pd
import sqlalchemy as sa

from dpcore.accounting.loss import ApproxDP, Loss, loss_fields, loss_from_fields
from dpcore.errors import (
    DisclosureError,
    LimitError,
    ParameterError,
    text_length_error,
    unknown_name_error,
)
from dpcore.io.export import to_parquet
from dpcore.release import AnonymizedTable, Guarantee, Release
from dpcore.schema import Clique
from dpcore.suppression import PublishedTable
from dpcore.synthesis.release.linked import LinkedRelease
from dpcore.tables.rows import PublicTable
from workbench.store.database.narrow import grant_link_reading
from workbench.store.database.store import Store
from workbench.store.database.tables import shares
from workbench.store.links.surveys import digest_of
from workbench.store.people.roles import is_listed

MAX_DAYS = 366
MAX_TITLE = 120
MAX_NOTE = 2_000
MAX_READERS = 200
MAX_TEXT_LENGTH = 20_000_000
"""Letters of a release behind a link."""
_SYNTACTIC_PREFIX = '{"syntactic": '
_EXACT = '{"exact": '
_SHOWN_PREFIX = '{"shown": '
_LINKED_PREFIX = '{"linked": '
_READER_PATTERN = re.compile(r"(\*|[^\s@*]{1,200})@[^\s@*]{1,200}")
_TOKEN_LENGTH = 43
"""Letters of a link: 256 bits in base64."""


@dataclass(frozen=True, kw_only=True)
class LinkDraft:
    """Settings of a link before it is made.

    Attributes:
        expires: within `MAX_DAYS` days.
        contents: names of what is given besides pictures, tables and the guarantee.
        readers: addresses of those who may open it after signing in, each a whole one
            or "*@" and a domain; empty for anybody with the link.
        pictures: columns of the charts to show, in their order; None for all of them.
        earlier: a release to compare with.
        pair_loss: of one half of a release of linked tables, the loss of both halves
            together; None for others.

    Raises: ParameterError for a title, note or reader that cannot be.
    """

    title: str
    expires: datetime
    note: str = ""
    contents: frozenset[str] = frozenset()
    readers: tuple[str, ...] = ()
    pictures: tuple[Clique, ...] | None = None
    earlier: Release | None = None
    pair_loss: Loss | None = None

    def __post_init__(self) -> None:
        for name, most in (("title", MAX_TITLE), ("note", MAX_NOTE)):
            value = getattr(self, name).strip()
            object.__setattr__(self, name, value)
            if len(value) > most or (name == "title" and not value):
                raise text_length_error(most)
        object.__setattr__(self, "expires", self.expires.astimezone(UTC))
        object.__setattr__(
            self, "readers", tuple(reader.lower() for reader in self.readers)
        )
        if len(self.readers) > MAX_READERS or not all(
            map(_READER_PATTERN.fullmatch, self.readers)
        ):
            raise ParameterError(
                (
                    "each reader must be an address, or *@ and a domain; at most "
                    "{most} readers are allowed"
                ),
                remedy="write them like ada@example.org or *@example.org",
                most=MAX_READERS,
            )


@dataclass(frozen=True, kw_only=True)
class Share(LinkDraft):
    """A link as its maker sees it, without its token.

    Attributes:
        made: in UTC, as `expires`.
        ended: empty while it works, else "revoked" or "expired".
        opened, last_opened: how often its page was asked for, and when last; None for
            never.
    """

    id: str
    made: datetime
    ended: str
    opened: int
    last_opened: datetime | None


@dataclass(frozen=True, kw_only=True)
class SharedPage:
    """Content of the page behind a working link.

    Attributes:
        text: a release, as written by `Release.to_json`, or what `releases`,
            `linked`, `syntactic` or `exact_table` reads.
    """

    id: str
    title: str
    note: str
    contents: frozenset[str]
    text: str

    def releases(self) -> tuple[Release, Release | None, tuple[Clique, ...] | None]:
        """Return the release, the release to compare with, and the columns of the
        charts.
        """
        fields: dict[str, Any] = {
            "release": self.text,
            "earlier": None,
            "pictures": None,
        }
        if self.text.startswith(_SHOWN_PREFIX):
            fields = json.loads(self.text)["shown"]
        earlier, pictures = (fields[name] for name in ("earlier", "pictures"))
        before = None if earlier is None else Release.from_json(earlier)
        shown = None if pictures is None else tuple(map(tuple, pictures))
        return Release.from_json(fields["release"]), before, shown

    def pair_loss(self) -> Loss | None:
        """Return the loss of both halves of a release of linked tables together.

        None for a release that is no such half.
        """
        if not self.text.startswith(_SHOWN_PREFIX):
            return None
        stated = json.loads(self.text)["shown"].get("pair_loss")
        if stated is None:
            return None
        loss = loss_from_fields(stated)
        assert not isinstance(loss, ApproxDP)  # shares of a loss have no delta
        return loss

    def linked(self) -> tuple[LinkedRelease, tuple[Clique, ...] | None] | None:
        """Return a release of two linked tables, and the columns of the charts.

        None for anything else.
        """
        if not self.text.startswith(_LINKED_PREFIX):
            return None
        fields = json.loads(self.text)["linked"]
        pictures = fields["pictures"]
        shown = None if pictures is None else tuple(map(tuple, pictures))
        return LinkedRelease.from_json(fields["release"]), shown

    def syntactic(self) -> tuple[PublicTable, Guarantee, tuple[str, ...]] | None:
        """Return an anonymized table, its guarantee, and what is not promised.

        None for a release.
        """
        if not self.text.startswith(_SYNTACTIC_PREFIX):
            return None
        fields = json.loads(self.text)["syntactic"]
        frame = pd.read_parquet(io.BytesIO(base64.b64decode(fields["rows"])))
        return (
            PublicTable(frame),
            Guarantee.from_dict(fields["guarantee"]),
            tuple(fields["not_promised"]),
        )

    def exact_table(self) -> PublishedTable | None:
        """Return an exact table of counts, without the values of its groups.

        None for anything else.
        """
        if not self.text.startswith(_EXACT):
            return None
        return PublishedTable.from_json(json.loads(self.text)["exact"])


class Shares:
    """All links of a database."""

    def __init__(self, store: Store) -> None:
        self._store = store
        with store.write_transaction() as connection:
            grant_link_reading(connection)
        self._lock = threading.Lock()
        self._opened: Counter[str] = Counter()

    def make(self, release: Release, draft: LinkDraft, *, dataset: str) -> str:
        """Make a link to a release; return its token, which is not stored.

        Raises: DisclosureError for anything but a release; LimitError for one too large
            for a page; ParameterError for a draft that has expired.
        """
        if not isinstance(release, Release):
            raise _not_a_release_error(release)
        text = release.to_json()
        earlier = draft.earlier and draft.earlier.to_json()
        both = draft.pair_loss and loss_fields(draft.pair_loss)
        if (earlier, draft.pictures, both) != (None, None, None):
            text = json.dumps(
                {
                    "shown": {
                        "release": text,
                        "earlier": earlier,
                        "pictures": draft.pictures,
                        **({} if both is None else {"pair_loss": both}),
                    }
                }
            )
        return self._store_new(text, draft, dataset)

    def make_linked(
        self, release: LinkedRelease, draft: LinkDraft, *, dataset: str
    ) -> str:
        """Make a link to a release of two linked tables, which shows both.

        Raises: as `make`.
        """
        if not isinstance(release, LinkedRelease):
            raise _not_a_release_error(release)
        fields = {"release": release.to_json(), "pictures": draft.pictures}
        return self._store_new(json.dumps({"linked": fields}), draft, dataset)

    def make_syntactic(
        self,
        made: AnonymizedTable,
        not_promised: Sequence[str],
        draft: LinkDraft,
        *,
        dataset: str,
    ) -> str:
        """Make a link to an anonymized table, which has no epsilon.

        Args:
            made: the table.
            draft: the link's texts, contents, readers and end.
            dataset: fingerprint of the data set that it was made from.
            not_promised: sentences that its page shows in a box; at least one.

        Raises: as `make`.
        """
        if not isinstance(made, AnonymizedTable) or not not_promised:
            raise _not_a_release_error(made)
        rows = base64.b64encode(to_parquet(made.table)).decode()
        fields = {
            "rows": rows,
            "guarantee": made.guarantee.to_dict(),
            "not_promised": list(not_promised),
        }
        return self._store_new(json.dumps({"syntactic": fields}), draft, dataset)

    def make_exact(
        self, table: PublishedTable, draft: LinkDraft, *, dataset: str
    ) -> str:
        """Make a link to an exact table of counts that was published.

        It keeps what the table's file holds: no hidden count, no value of a group.

        Raises: as `make`.
        """
        if not isinstance(table, PublishedTable):
            raise _not_a_release_error(table)
        text = json.dumps({"exact": table.to_json()})
        return self._store_new(text, draft, dataset)

    def _store_new(self, text: str, draft: LinkDraft, dataset: str) -> str:
        check_text_length(len(text))
        token = secrets.token_urlsafe(32)
        now = self._store.now()
        _check_expiry(now, draft.expires)
        with self._store.write_transaction() as connection:
            connection.execute(
                sa.insert(shares).values(
                    id=secrets.token_hex(16),
                    digest=digest_of(token),
                    dataset=dataset,
                    title=draft.title,
                    note=draft.note,
                    contents=json.dumps(sorted(draft.contents)),
                    readers=json.dumps(draft.readers),
                    text=text,
                    made=now.isoformat(),
                    expires=draft.expires.isoformat(),
                    ended="",
                    opened=0,
                    last_opened="",
                ),
            )
        return token

    def links_of(self, dataset: str) -> list[Share]:
        """Return the links made for a data set, newest first."""
        self.settle()
        query = sa.select(
            *(c for c in shares.c if c.name not in ("digest", "text", "dataset"))
        )
        with self._store.read_transaction() as connection:
            rows = connection.execute(query.where(shares.c.dataset == dataset)).all()
        return sorted(
            map(_parse_share, rows), key=lambda share: share.made, reverse=True
        )

    def revoke(self, dataset: str, share: str) -> None:
        """Revoke a link, so that it stops working now."""
        with self._store.write_transaction() as connection:
            connection.execute(
                sa.update(shares)
                .where(_is_link(dataset, share))
                .values(ended="revoked")
            )

    def make_again(self, dataset: str, share: str, *, expires: datetime) -> str:
        """Make a new token for a link; the old one stops working.

        Raises: ParameterError.
        """
        token = secrets.token_urlsafe(32)
        now = self._store.now()
        expires = expires.astimezone(UTC)
        _check_expiry(now, expires)
        with self._store.write_transaction() as connection:
            changed = connection.execute(
                sa.update(shares)
                .where(_is_link(dataset, share))
                .values(
                    digest=digest_of(token),
                    made=now.isoformat(),
                    expires=expires.isoformat(),
                    ended="",
                ),
            )
        if changed.rowcount != 1:
            raise unknown_name_error()
        return token

    def open(self, token: str, address: str | None) -> str | None:
        """Return the id of a link's page; None if the link does not work for this
        reader.

        It always takes one look into the database, so that time tells nothing.

        Args:
            address: confirmed by a sign-in; None without one.
        """
        wanted = digest_of(token if len(token) == _TOKEN_LENGTH else "")
        query = sa.select(
            shares.c.id,
            shares.c.digest,
            shares.c.expires,
            shares.c.ended,
            shares.c.readers,
        )
        with self._store.link_transaction() as connection:
            row = connection.execute(
                query.where(shares.c.digest == wanted)
            ).one_or_none()
        now = self._store.now().isoformat()
        share, stored, expires, ended, readers = (
            ("", "", "", "unknown", "[]") if row is None else row
        )
        listed = json.loads(readers)
        is_theirs = not listed or (
            "@" in (address or "") and is_listed(address or "", listed)
        )
        is_open = hmac.compare_digest(stored, wanted) and now < expires and not ended
        return share if is_open and is_theirs else None

    def page_of(self, share: str) -> SharedPage:
        """Return the page of a link, by the id that `open` returned."""
        query = sa.select(
            shares.c.title, shares.c.note, shares.c.contents, shares.c.text
        )
        with self._store.link_transaction() as connection:
            row = connection.execute(query.where(shares.c.id == share)).one()
        return SharedPage(
            id=share,
            title=row.title,
            note=row.note,
            contents=frozenset(json.loads(row.contents)),
            text=row.text,
        )

    def count_request(self, share: str) -> None:
        """Count one request of a page; `settle` writes the count down."""
        with self._lock:
            self._opened[share] += 1

    def settle(self) -> None:
        """Store new counts, and mark the links that have expired."""
        with self._lock:
            opened = self._opened
            self._opened = Counter()
        now = self._store.now().isoformat()
        over = (shares.c.ended == "") & (shares.c.expires <= now)
        try:
            with self._store.link_transaction() as connection:
                ending = connection.execute(sa.select(shares.c.id).where(over)).first()
            if not opened and ending is None:
                return
            with self._store.write_transaction() as connection:
                for share, times in opened.items():
                    connection.execute(
                        sa.update(shares)
                        .where(shares.c.id == share)
                        .values(opened=shares.c.opened + times, last_opened=now),
                    )
                connection.execute(
                    sa.update(shares).where(over).values(ended="expired")
                )
        except BaseException:
            with self._lock:
                self._opened.update(opened)
            raise


def _not_a_release_error(other: object) -> DisclosureError:
    return DisclosureError(
        "a {name__} is not a release and cannot be shared",
        remedy="release it first, and share what comes out",
        name__=type(other).__name__,
    )


def in_days(days: int) -> datetime:
    """Return the time this many days from now, in UTC."""
    return datetime.now(UTC) + timedelta(days=days)


def check_text_length(length: int) -> None:
    """Refuse a release whose text is too long for a page behind a link.

    Raises: LimitError.
    """
    if length > MAX_TEXT_LENGTH:
        raise LimitError(
            (
                "the release takes {size} MB, but a page behind a link can hold at "
                "most {limit} MB"
            ),
            remedy=(
                "download the release as one HTML file and send that file, or "
                "release fewer or smaller tables"
            ),
            size=math.ceil(length / 10**6),
            limit=MAX_TEXT_LENGTH // 10**6,
        )


def _check_expiry(now: datetime, expires: datetime) -> None:
    if not now < expires <= now + timedelta(days=MAX_DAYS):
        raise ParameterError(
            "the end of a link must lie within the next {most} days",
            remedy="choose a day in this period",
            most=MAX_DAYS,
        )


def _is_link(dataset: str, share: str) -> sa.ColumnElement[bool]:
    return (shares.c.dataset == dataset) & (shares.c.id == share)


def _parse_share(row: Any) -> Share:
    fields = {**row._mapping, "contents": frozenset(json.loads(row.contents))}
    moments = {
        name: datetime.fromisoformat(fields[name]) for name in ("made", "expires")
    }
    last = datetime.fromisoformat(row.last_opened) if row.last_opened else None
    return Share(
        **fields
        | moments
        | {"readers": tuple(json.loads(row.readers)), "last_opened": last}
    )
