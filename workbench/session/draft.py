"""Drafts: tables from a file, a source or column names, before they are opened."""

import dataclasses
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from dpcore.curator import Curator
from dpcore.io.read import ReadResult
from dpcore.schema import Column, Outside, PrivacyUnit, Schema
from dpcore.schema.doubts import Doubt
from dpcore.schema.source import Source
from dpcore.schema.values import READING
from workbench.store.ledger.datasets import Declaration
from workbench.store.people.likeness import Alike
from workbench.store.people.opened_files import OpenedFile


@dataclass(kw_only=True)
class RowFacts:
    """Facts computed from the rows of a draft so far. Private.

    Attributes:
        outside: rows outside each declaration.
        rare: spellings, and labels in all spellings, that few people hold; by
            declaration and column that names people.
        unread: texts of cells that cannot be read.
        joined: spellings that a column joins.
        doubts: what is doubtful about a column's values.
    """

    outside: dict[Column, Outside] = field(default_factory=dict)
    rare: dict[tuple[Column, str | None], tuple[tuple[str, ...], tuple[str, ...]]] = (
        field(default_factory=dict)
    )
    unread: dict[Column, tuple[str, ...]] = field(default_factory=dict)
    joined: dict[Column, tuple[str, ...]] = field(default_factory=dict)
    doubts: dict[Column, tuple[Doubt, ...]] = field(default_factory=dict)


@dataclass(kw_only=True)
class ShownColumns:
    """Column declarations as first shown, to see later what the rows changed.

    Attributes:
        first: columns that were not proposed, as they were when the check against the
            table was first shown.
        at_source: columns as they were when the source was typed that they name now.
        codebook: columns as the first codebook with their source declared them.
    """

    first: dict[str, Column] = field(default_factory=dict)
    at_source: dict[str, Column] = field(default_factory=dict)
    codebook: dict[str, Column] = field(default_factory=dict)


@dataclass(kw_only=True)
class FactAnswers:
    """Answers to questions about facts taken from the table.

    Attributes:
        as_taken: columns that stay as they were taken from the table.
        one_by_one: whether bounds are asked about column by column.
        settled: column and text of each doubt about values that was answered.
        undo: lines of the grid before the last answer; None if there is none to undo.
        shown: what changes of the grid are compared with.
    """

    as_taken: set[str] = field(default_factory=set)
    one_by_one: bool = False
    settled: set[tuple[str, str]] = field(default_factory=set)
    undo: pd.DataFrame | None = None
    shown: ShownColumns = field(default_factory=ShownColumns)


@dataclass(kw_only=True)
class CellSearchChoice:
    """Choice of number columns whose cells are found privately at the opening.

    Attributes:
        proposed: whether that is proposed; None before it was asked.
        columns: columns whose cells are found.
    """

    proposed: bool | None = None
    columns: tuple[str, ...] = ()


@dataclass(kw_only=True)
class ProposedCells:
    """Cells that were proposed for the number of rows that the owner states.

    Attributes:
        schema: the declaration before; None while nothing was proposed.
        lines: what the proposal changed in the grid, by column.
        by_hand: columns whose proposed cells a person changed.
        coarser: columns with coarser cells.
        left_out: columns that are left out, and why.
        is_readable: whether any column would be readable.
    """

    @dataclass(frozen=True, kw_only=True)
    class Line:
        """Fields of a grid line before and after a proposal, with the notes it
        added.
        """

        before: dict[str, Any]
        after: dict[str, Any]
        notes: tuple[str, ...] = ()

    schema: Schema | None = None
    lines: dict[str, Line] = field(default_factory=dict)
    by_hand: set[str] = field(default_factory=set)
    coarser: tuple[str, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)
    is_readable: bool = True


@dataclass(kw_only=True)
class DraftAudit:
    """An audit before the table has any budget.

    Attributes:
        curator: the rows, behind a door without a budget.
        reports: the reports computed by it.
    """

    curator: Curator
    reports: dict[tuple[Hashable, ...], object] = field(default_factory=dict)


@dataclass(kw_only=True)
class Draft:
    """Base of a table that is declared and not opened yet.

    Attributes:
        name: its name for people.
        frame: the private rows; of a source the first ones.
        schema: the proposed schema.
        grid: the lines that the schema editor starts from.
        edited: the same lines as they are now; they outlast a visit to another page.
        version: rises when the grid is replaced.
        dataset: keyed fingerprint of the table.
        opener: owner of that key; see `PersonalLedger.under`.
        size: bytes of the rows.
        page: page that wants the open table; "upload" for the Data page itself.
        cap: rows of a person that count, as chosen before any figure of the rows was
            shown.
        cap_seen: whether such figures were shown.
        row_facts: facts computed from the rows.
        answers: answers about facts that were taken from the table.
        search: choice to find the cells of numbers privately.
        proposed: cells that fit the stated number of rows.
        audit: None until an audit is asked for.
    """

    name: str
    frame: pd.DataFrame
    schema: Schema
    grid: pd.DataFrame
    edited: pd.DataFrame
    version: int = 0
    dataset: str
    opener: str = ""
    size: int = 0
    page: str = "upload"
    cap: int | None = None
    cap_seen: bool = False
    row_facts: RowFacts = field(default_factory=RowFacts)
    answers: FactAnswers = field(default_factory=FactAnswers)
    search: CellSearchChoice = field(default_factory=CellSearchChoice)
    proposed: ProposedCells = field(default_factory=ProposedCells)
    audit: DraftAudit | None = None

    @property
    def has_rows(self) -> bool:
        """Whether the frame holds rows of people."""
        return True

    @property
    def is_sample(self) -> bool:
        """Whether the rows are invented."""
        return False

    @property
    def declared_unit(self) -> PrivacyUnit | None:
        """Privacy unit declared by an operator, which cannot be weakened here."""
        return None

    def bytes_held(self) -> int:
        """Return how many bytes of the server's memory the draft takes."""
        return self.size

    def declaration(self, schema: Schema) -> Declaration:
        """Return the declaration to be kept with the open table."""
        return Declaration(name=self.name, schema=schema)


@dataclass(kw_only=True)
class FileDraft(Draft):
    """A draft with rows from a file or a sample.

    Attributes:
        read: result of reading the file; None for a sample.
        data: bytes of a text file, to read it with other options; dropped with the
            draft.
        file: its bytes by their digest, and how they were read; None for a sample.
        sample: key of the sample; empty for a file.
        alike: a table on file that it looks like.
    """

    read: ReadResult | None = None
    data: bytes = field(default=b"", repr=False)
    file: OpenedFile | None = None
    sample: str = ""
    alike: Alike | None = None

    @property
    def is_sample(self) -> bool:
        return bool(self.sample)

    def bytes_held(self) -> int:
        return self.size + len(self.data)

    def tell_reading(self, *, is_known: bool) -> None:
        """Record whether the owner says that all files of this kind have this
        format.
        """
        if self.read is None:
            return
        options = dataclasses.replace(self.read.options, is_known=is_known)
        self.read = dataclasses.replace(self.read, options=options)
        self.frame.attrs[READING] = options.is_guessed
        if self.file is not None:
            self.file = dataclasses.replace(self.file, reading=options)

    def declaration(self, schema: Schema) -> Declaration:
        options = self.read.options if self.read else None
        return Declaration(
            name=self.name,
            schema=schema,
            reading=options,
            sample=self.sample,
        )


@dataclass(kw_only=True)
class SourceDraft(Draft):
    """A draft of a connected source, with its first rows.

    Attributes:
        source: the place of all rows.
        declared: privacy unit declared by the operator; None if nobody declared one.
    """

    source: Source
    declared: PrivacyUnit | None = None

    @property
    def declared_unit(self) -> PrivacyUnit | None:
        return self.declared


@dataclass(kw_only=True)
class NamesDraft(Draft):
    """A table planned by the names of its columns, without rows.

    Attributes:
        rows: expected number of rows.
        curator: curator of an invented row, on which releases are planned; its ledger
            is forgotten. None until the columns are declared.
    """

    rows: int
    curator: Curator | None = None

    @property
    def has_rows(self) -> bool:
        return False


@dataclass(kw_only=True)
class TableChoice:
    """Request to open another table while one is already open.

    Attributes:
        is_open: whether the Data page asks for a table although one is open.
        declaring: fingerprint of the data set to be declared anew when its file is
            brought.
    """

    is_open: bool = False
    declaring: str | None = None
