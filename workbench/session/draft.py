"""A table on its way to being opened."""

from collections.abc import Hashable
from dataclasses import dataclass, field

import pandas as pd

from dpcore.curator import Curator
from dpcore.io.read import ReadResult
from dpcore.schema import Column, Outside, PrivacyUnit, Schema
from dpcore.schema.source import Source
from workbench.store.people.likeness import Alike


@dataclass(kw_only=True)
class Draft:
    """A table that was read and is not opened yet.

    Attributes:
        name: for people.
        frame: the private rows.
        schema: as it was suggested.
        grid: what the schema editor starts from.
        edited: the same as it is now; it outlasts a visit to another page.
        notes: what reading it brought up.
        dataset: its keyed fingerprint.
        opener: whose key that is; see `PersonalLedger.under`.
        version: rises when the grid is replaced.
        checks: rows outside each declaration, computed so far.
        read: how a file was read; None for a sample.
        data: the bytes of a file of text, to read it otherwise; they go with the draft.
        alike: the table on file that it looks like.
        sample: key of the sample that it is.
        unconfirmed: lines of the grid before the last answer on what is known from
            outside.
        left: columns that stay as they were taken from the table.
        singly: whether bounds are asked about one by one.
        rare: spellings that few people hold, and labels that few hold in all
            spellings, found so far.
        unread: cells that cannot be read, found so far.
        joined: spellings that a column joins, found so far.
        cap: how many rows of a person count, as it was chosen before any figure of the
            rows was shown.
        cap_seen: whether such figures were shown.
        auditor: its rows behind a door without a budget, once an audit was asked for.
        reports: what that audit computed.
        size: of the rows, in bytes.
        source: where the rows are, of which these are the first ones; None for a table
            of its own.
        declared: who is protected, as the operator of the source declared it; None
            where nobody did.
        page: where it is wanted, once it is open; "upload" for the Data page itself.
        rows: how many are expected, of a table that is planned by the names of its
            columns; None for others.
        finding: columns of numbers whose cells are found privately when it is opened.
        searching: whether that is proposed; None before it was asked.
        plan: on what its releases are planned, with a ledger that is forgotten.
    """

    name: str
    frame: pd.DataFrame
    schema: Schema
    grid: pd.DataFrame
    edited: pd.DataFrame
    notes: tuple[str, ...]
    dataset: str
    opener: str = ""
    read: ReadResult | None = None
    data: bytes = field(default=b"", repr=False)
    version: int = 0
    checks: dict[Column, Outside] = field(default_factory=dict)
    alike: Alike | None = None
    sample: str = ""
    unconfirmed: pd.DataFrame | None = None
    left: set[str] = field(default_factory=set)
    singly: bool = False
    rare: dict[tuple[Column, str | None], tuple[tuple[str, ...], tuple[str, ...]]] = (
        field(default_factory=dict)
    )
    unread: dict[Column, tuple[str, ...]] = field(default_factory=dict)
    joined: dict[Column, tuple[str, ...]] = field(default_factory=dict)
    cap: int | None = None
    cap_seen: bool = False
    auditor: Curator | None = None
    reports: dict[tuple[Hashable, ...], object] = field(default_factory=dict)
    size: int = 0
    source: Source | None = None
    declared: PrivacyUnit | None = None
    page: str = "upload"
    rows: int | None = None
    finding: tuple[str, ...] = ()
    searching: bool | None = None
    plan: Curator | None = None
