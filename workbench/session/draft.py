"""Drafts: tables from a file, a source or column names, before they are opened."""

import dataclasses
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from dpcore.curator import Curator, LinkedCurator
from dpcore.errors import DpcoreError
from dpcore.io.read import ReadResult
from dpcore.release import InternalReport
from dpcore.schema import Column, OutsideCounts, PrivacyUnit, Schema
from dpcore.schema.doubts import Doubt
from dpcore.schema.linked import LinkedSchema
from dpcore.schema.source import Source
from dpcore.schema.values import READING_FROM_DATA
from dpcore.tables.sketch import SketchedTable
from workbench.store.ledger.datasets import Declaration
from workbench.store.people.likeness import SimilarTable
from workbench.store.people.opened_files import OpenedFile
from workbench.store.people.personal import PersonalLedger


def frame_bytes(frame: pd.DataFrame) -> int:
    """Return how many bytes of memory a frame takes, its texts included."""
    return int(frame.memory_usage(deep=True).sum())


@dataclass(kw_only=True)
class RowFacts:
    """Facts computed from the rows of a draft so far. Private.

    Attributes:
        outside_rows: rows outside each declaration.
        rare_texts: spellings, and labels in all spellings, that few people hold; by
            declaration and column that names people.
        unreadable_texts: texts of cells that cannot be read.
        joined_spellings: spellings that a column joins.
        doubts: what is doubtful about a column's values.
    """

    outside_rows: dict[Column, OutsideCounts] = field(default_factory=dict)
    rare_texts: dict[
        tuple[Column, str | None], tuple[tuple[str, ...], tuple[str, ...]]
    ] = field(default_factory=dict)
    unreadable_texts: dict[Column, tuple[str, ...]] = field(default_factory=dict)
    joined_spellings: dict[Column, tuple[str, ...]] = field(default_factory=dict)
    doubts: dict[Column, tuple[Doubt, ...]] = field(default_factory=dict)


@dataclass(kw_only=True)
class ShownColumns:
    """Column declarations as first shown, to see later what the rows changed.

    Attributes:
        columns_first_shown: columns that were not proposed, as they were when the check against the
            table was first shown.
        columns_at_source_entry: columns as they were when the source was typed that they name now.
        columns_of_codebook: columns as the first codebook with their source declared them.
    """

    columns_first_shown: dict[str, Column] = field(default_factory=dict)
    columns_at_source_entry: dict[str, Column] = field(default_factory=dict)
    columns_of_codebook: dict[str, Column] = field(default_factory=dict)


@dataclass(kw_only=True)
class FactAnswers:
    """Answers to questions about facts taken from the table.

    Attributes:
        columns_as_taken: columns that stay as they were taken from the table.
        asks_one_by_one: whether bounds are asked about column by column.
        settled_doubts: column and text of each doubt about values that was answered.
        grid_before: lines of the grid before the last answer; None if there is none to undo.
        shown_columns: what changes of the grid are compared with.
    """

    columns_as_taken: set[str] = field(default_factory=set)
    asks_one_by_one: bool = False
    settled_doubts: set[tuple[str, str]] = field(default_factory=set)
    grid_before: pd.DataFrame | None = None
    shown_columns: ShownColumns = field(default_factory=ShownColumns)


@dataclass(kw_only=True)
class CellSearchChoice:
    """Choice of number columns whose cells are found privately at the opening.

    Attributes:
        is_proposed: whether that is proposed; None before it was asked.
        columns: columns whose cells are found.
    """

    is_proposed: bool | None = None
    columns: tuple[str, ...] = ()


@dataclass(kw_only=True)
class ProposedCells:
    """Cells that were proposed for the number of rows that the owner states.

    Attributes:
        schema: the declaration before; None while nothing was proposed.
        lines: what the proposal changed in the grid, by column.
        changed_by_hand: columns whose proposed cells a person changed.
        coarser_columns: columns with coarser cells.
        unreadable_columns: columns that are left out, and why.
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
    changed_by_hand: set[str] = field(default_factory=set)
    coarser_columns: tuple[str, ...] = ()
    unreadable_columns: Mapping[str, str] = field(default_factory=dict)
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
        edited_grid: the same lines as they are now; they outlast a visit to another page.
        version: rises when the grid is replaced.
        dataset: keyed fingerprint of the table.
        opener: owner of that key; see `PersonalLedger.under`.
        size: bytes of the rows.
        page: page that wants the open table; "upload" for the Data page itself.
        cap: rows of a person that count, as chosen before any figure of the rows was
            shown.
        row_figures_seen: whether such figures were shown.
        row_facts: facts computed from the rows.
        answers: answers about facts that were taken from the table.
        cell_search: choice to find the cells of numbers privately.
        proposed_cells: cells that fit the stated number of rows.
        audit: None until an audit is asked for.
    """

    name: str
    frame: pd.DataFrame
    schema: Schema
    grid: pd.DataFrame
    edited_grid: pd.DataFrame
    version: int = 0
    dataset: str
    opener: str = ""
    size: int = 0
    page: str = "upload"
    cap: int | None = None
    row_figures_seen: bool = False
    row_facts: RowFacts = field(default_factory=RowFacts)
    answers: FactAnswers = field(default_factory=FactAnswers)
    cell_search: CellSearchChoice = field(default_factory=CellSearchChoice)
    proposed_cells: ProposedCells = field(default_factory=ProposedCells)
    audit: DraftAudit | None = None

    @property
    def has_rows(self) -> bool:
        """Whether the frame holds rows of people."""
        return True

    @property
    def table(self) -> pd.DataFrame | Source:
        """What a curator opens: the rows, or the source that holds all of them."""
        return self.frame

    @property
    def is_sample(self) -> bool:
        """Whether the rows are invented."""
        return False

    @property
    def declared_unit(self) -> PrivacyUnit | None:
        """Privacy unit declared by an operator, which cannot be weakened here."""
        return None

    def memory_bytes(self) -> int:
        """Return how many bytes of the server's memory the draft takes."""
        return self.size

    def declaration(self, schema: Schema) -> Declaration:
        """Return the declaration to be kept with the open table."""
        return Declaration(name=self.name, schema=schema)


@dataclass(kw_only=True)
class FileDraft(Draft):
    """A draft with rows from a file or a sample.

    Attributes:
        read_result: result of reading the file; None for a sample.
        data: bytes of a text file, to read it with other options; dropped with the
            draft.
        opened_file: its bytes by their digest, and how they were read; None for a sample.
        sample: key of the sample; empty for a file.
        similar_table: a table on file that it looks like.
        sketched: its sketch as `sketch_under` returned it, or as a worker took it.
    """

    read_result: ReadResult | None = None
    data: bytes = field(default=b"", repr=False)
    opened_file: OpenedFile | None = None
    sample: str = ""
    similar_table: SimilarTable | None = None
    sketched: SketchedTable | None = None

    @property
    def is_sample(self) -> bool:
        return bool(self.sample)

    def sketch_under(self, ledger: PersonalLedger) -> SketchedTable:
        """Return its sketch under a ledger's key, taken before if that is the same."""
        if ledger.opener != self.opener:
            return SketchedTable.from_frame(self.frame, ledger.key)
        # a worker sketched a table that was handed on under another key
        if self.sketched is None or self.sketched.fingerprint != self.dataset:
            self.sketched = SketchedTable.from_frame(self.frame, ledger.key)
        return self.sketched

    def memory_bytes(self) -> int:
        return self.size + len(self.data)

    def set_reading_known(self, *, is_known: bool) -> None:
        """Record whether the owner says that all files of this kind have this
        format.
        """
        if self.read_result is None:
            return
        options = dataclasses.replace(self.read_result.options, is_known=is_known)
        self.read_result = dataclasses.replace(self.read_result, options=options)
        self.frame.attrs[READING_FROM_DATA] = options.is_guessed
        if self.opened_file is not None:
            self.opened_file = dataclasses.replace(self.opened_file, reading=options)

    def declaration(self, schema: Schema) -> Declaration:
        options = self.read_result.options if self.read_result else None
        return Declaration(
            name=self.name,
            schema=schema,
            reading=options,
            sample=self.sample,
        )


@dataclass(kw_only=True)
class LinkedDraft:
    """Two tables about the same people that are declared and not opened yet.

    Both are files, both are connected sources, or both are planned by names.

    Attributes:
        tables: both, in the order in which they were brought.
        dataset: keyed fingerprint of both; empty until it is asked for.
        opener: owner of that key.
        people_place: place of the table of people, as proposed or chosen.
        keys: column that names the person in each table; empty while that is open.
        similar_table: a data set on file of which a file looks like one of these.
        declared: the public facts on file, if they are declared anew.
        source_keys: keys of all rows of connected sources, by source and column. Private.
        counted: what linking met, by the rules that it was counted under. Private.
        cell_search: choice to find the cells of numbers of either table privately.
        curator: of an invented person, on which a release is planned by names; its
            ledger is forgotten. None until the columns are declared.
    """

    tables: list[Draft]
    dataset: str = ""
    opener: str = ""
    people_place: int = 0
    keys: list[str]
    similar_table: SimilarTable | None = None
    declared: LinkedSchema | None = None
    source_keys: dict[tuple[str, str], pd.DataFrame] = field(
        default_factory=dict, repr=False
    )
    counted: dict[Hashable, InternalReport[Any] | DpcoreError] = field(
        default_factory=dict, repr=False
    )
    cell_search: CellSearchChoice = field(default_factory=CellSearchChoice)
    curator: LinkedCurator | None = None

    @property
    def has_rows(self) -> bool:
        """Whether both tables hold rows of people."""
        return all(table.has_rows for table in self.tables)

    @property
    def is_connected(self) -> bool:
        """Whether both tables are connected sources, of which the first rows are here."""
        return all(isinstance(table, SourceDraft) for table in self.tables)

    def memory_bytes(self) -> list[int]:
        """Return the bytes of the server's memory that each table takes."""
        sizes = [table.memory_bytes() for table in self.tables]
        sizes[0] += sum(map(frame_bytes, self.source_keys.values()))
        return sizes

    def replace_table(self, before: Draft | None, after: Draft) -> None:
        """Put a file that was read again in the place of its earlier reading."""
        place = 1 if self.tables[1] is before else 0
        self.tables[place] = after
        if self.keys[place] not in after.frame:
            self.keys[place] = ""
        self.dataset = ""
        self.counted.clear()

    @property
    def people(self) -> Draft:
        """The table with one row for each person."""
        return self.tables[self.people_place]

    @property
    def events(self) -> Draft:
        """The table with several rows for a person."""
        return self.tables[1 - self.people_place]

    @property
    def people_key(self) -> str:
        """Column that names the person in the table of people."""
        return self.keys[self.people_place]

    @property
    def events_key(self) -> str:
        """Column that names the person in the table of events."""
        return self.keys[1 - self.people_place]


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
    def table(self) -> pd.DataFrame | Source:
        return self.source

    @property
    def declared_unit(self) -> PrivacyUnit | None:
        return self.declared


@dataclass(kw_only=True)
class NamesDraft(Draft):
    """A table planned by the names of its columns, without rows.

    Attributes:
        expected_rows: expected number of rows.
        curator: curator of an invented row, on which releases are planned; its ledger
            is forgotten. None until the columns are declared.
    """

    expected_rows: int
    curator: Curator | None = None

    @property
    def has_rows(self) -> bool:
        return False


@dataclass(kw_only=True)
class TableChoice:
    """Request to open another table while one is already open.

    Attributes:
        is_open: whether the Data page asks for a table although one is open.
        redeclared_dataset: fingerprint of the data set to be declared anew when its file is
            brought.
    """

    is_open: bool = False
    redeclared_dataset: str | None = None
