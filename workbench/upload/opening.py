"""From bytes or a sample to an open data set: what the buttons of the Data page do."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import pandas as pd

from dpcore.accounting.loss import AnyLoss
from dpcore.curator import Curator
from dpcore.errors import DpcoreError, SchemaError
from dpcore.evaluation.table.rows_of_people import unit_on_file
from dpcore.io.options import ReadOptions
from dpcore.io.read import ReadResult
from dpcore.schema import Column, IntervalColumn, Outside, PrivacyUnit, Schema, suggest_schema
from dpcore.schema.source import Source
from workbench import session
from workbench.session.draft import Draft
from workbench.store import likeness
from workbench.store.datasets import DataSet, Declaration, find
from workbench.store.personal import PersonalLedger
from workbench.ui import file_view, reopening, rows_view
from workbench.ui.language import _
from workbench.ui.wording import plain
from workbench.upload import grid
from workbench.web import holders
from workbench.workers import process, reading
from workbench.workers.callbacks import report_rows

ALIKE = session.Widget[str]("alike")
MOST_FOR_HISTOGRAM = 6
SYNTHESIZE = "pages/synthesize.py"


@dataclass(frozen=True, kw_only=True)
class TableCheck:
    """How a table fits its schema; private.

    Attributes:
        table: one line per column, with counts of rows that fall outside.
        refused: columns with values that have no cell.
    """

    table: pd.DataFrame
    refused: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Step:
    """Something to do next, and the page for it."""

    kind: str
    page: str
    label: str
    text: str


def take_sample(key: str) -> None:
    """Put a sample on the way to being opened."""
    sample = reopening.SAMPLES[key]
    frame = sample.build()
    unit = PrivacyUnit(max_rows=sample.max_rows, id_column=sample.id_column)
    _draft(sample.title, frame, unit, sample=sample.key)


def take_upload() -> None:
    """Read the uploaded file; its bytes stay with the draft until it is opened or dropped."""
    held = session.session()
    file = session.uploader().value()
    if file is None:
        return
    held.uploads += 1  # a new key makes the server forget the bytes
    try:
        _read(file.getvalue(), file.name, ReadOptions())
    finally:
        session.drop_uploads()


def read_again(options: ReadOptions) -> None:
    """Read the draft's file with other options; what cannot be read leaves the draft as it is."""
    draft = session.session().draft
    if draft is not None:
        _read(draft.data, draft.name, options)


def _read(data: bytes, name: str, options: ReadOptions) -> None:
    held = session.session()
    held.notices["upload"] = reading.interrupted()  # until it has been read
    try:
        with file_view.being_read(name, len(data)) as tell:
            read = reading.read(
                data,
                name,
                key=session.ledger().key,
                on_progress=tell,
                options=options,
            )
    except DpcoreError as error:
        held.notices["upload"] = error
        return
    kept = b"" if read.table.kind == "parquet" else data  # only text can be read in another way
    _draft(name, read.table.frame, None, read.table, kept, read.schema, read.dataset)


def take_codebook() -> None:
    """Declare the draft as a codebook says; columns that it does not have stay as they were suggested."""
    held = session.session()
    file, draft = session.codebook_field().value(), held.draft
    if file is None or draft is None:
        return
    held.uploads += 1
    try:
        codebook = Schema.from_json(file.getvalue().decode("utf-8-sig", errors="replace"))
        header = [str(name) for name in draft.frame.columns]
        if codebook.unit.id_column not in (None, *header):
            raise SchemaError(
                "the codebook names people by the column {column!r}, which this table lacks",
                remedy="bring the table with this column, or another codebook",
                column=codebook.unit.id_column,
            )
        codebook.unit.check_covers(draft.declared)
    except DpcoreError as error:
        held.notices["upload"] = error
        return
    finally:
        session.drop_uploads()
    held.notices.pop("upload", None)
    declared = {column.name: column for column in codebook.columns if column.name in header}
    columns = {column.name: column for column in draft.schema.columns} | declared
    draft.schema = Schema(
        columns=tuple(columns[name] for name in header if name in columns),
        unit=codebook.unit,
        excluded=tuple(column for column in draft.schema.excluded if column.name not in columns),
    )
    draft.grid = draft.edited = grid.to_grid(draft.schema, header)
    draft.cap = cap_of(codebook.unit)
    draft.version += 1


def take_rows_of(source: Source, frame: pd.DataFrame, schema: Schema | None) -> None:
    """Put a source on the way to being opened, with its first rows and what is on file about it."""
    unit = schema.unit if schema is not None else None
    _draft(source.name, frame, unit, schema=schema, source=source)


def take_wanted_sample() -> None:
    """Open the sample that was asked for on another page, if any."""
    note = session.take(session.OpenSample)
    if note is not None:
        take_sample(note.key)


def drop_draft() -> None:
    """Forget the table that was read."""
    held = session.session()
    held.draft, held.choosing, held.declaring = None, True, None
    held.notices.pop("upload", None)


def another() -> None:
    """Go back to choosing a table; the open ones stay open."""
    held = session.session()
    held.choosing, held.declaring = True, None


def stay() -> None:
    """Keep to the open data set after all."""
    held = session.session()
    held.choosing, held.declaring = False, None
    held.notices.pop("upload", None)


def cap_of(unit: PrivacyUnit | None) -> int | None:
    """Rows of a named person that were declared to count; None where nobody did, or the rows decided it."""
    declared = unit is not None and unit.id_column is not None and not (unit.from_data or unit.found)
    return unit.max_rows if unit is not None and declared else None


def outside(draft: Draft, column: Column) -> Outside:
    """Rows outside a column's declaration; computed once per declaration. Private."""
    if column not in draft.checks:
        draft.checks[column] = column.check(draft.frame[column.name])
    return draft.checks[column]


def check_table(draft: Draft, schema: Schema) -> TableCheck:
    """Rows outside each column's declaration; computed once per declaration. Private."""
    lines, refused = [], []
    for column in schema.columns:
        found = outside(draft, column)
        if found.refused:
            refused.append(column.name)
        lines.append(
            {
                _("column"): column.name,
                _("cells"): column.size,
                _("moved to a bound"): found.clipped,
                _("other"): found.other,
                _("missing"): found.missing,
                _("no cell to go to"): found.refused,
            }
        )
    return TableCheck(table=pd.DataFrame(lines), refused=tuple(refused))


def open_draft(draft: Draft, schema: Schema, budget: AnyLoss) -> None:
    """Put the table behind the curator, and forget the frame."""
    held = session.session()
    try:
        schema.unit.check_covers(draft.declared)
        ledger = session.ledger().under(draft.opener)
        table = draft.frame if draft.source is None else draft.source
        with rows_view.being_scanned(_("Looking at every row once"), key="stop-opening"):
            curator = Curator.open(
                table,
                schema,
                budget=budget,
                ledger=ledger,
                name=draft.name,
                on_rows=report_rows,
                compute=process.compute,
            )
        answer = {"alike": draft.alike.dataset, "people": ALIKE.value() or ""} if draft.alike else {}
        if draft.source is None:
            likeness.keep(draft.frame, draft.dataset, draft.name, ledger, answer)
    except DpcoreError as error:
        held.notices["upload"] = error
        return
    if draft.source is None:
        reopening.note_rows(draft.dataset, draft.frame, curator.schema.unit)
    held.add(curator, declared(draft, dataclasses.replace(schema, unit=curator.schema.unit)), size=draft.size)


def declared(draft: Draft, schema: Schema) -> Declaration:
    """What a person declares of a draft, to be kept."""
    options = draft.read.options if draft.read else None
    return Declaration(name=draft.name, schema=schema, reading=options, sample=draft.sample)


def go(step: Step) -> None:
    """Leave a note for the page that a step leads to."""
    if step.page == SYNTHESIZE:
        session.leave(session.PlanRelease(kind=step.kind))


def steps(data_set: DataSet) -> list[Step]:
    """What to do first with this table: know its risk, make it safer, release from it."""
    columns = data_set.declaration.schema.columns if data_set.declaration else ()
    numbers = [column.name for column in columns if isinstance(column, IntervalColumn)]
    first = next(iter([*numbers, *(column.name for column in columns)]), "")
    table = _("Invented rows that follow noisy counts of the columns you choose.")
    return [
        Step(
            kind="audit",
            page="pages/audit.py",
            label=_("Audit: is it anonymous?"),
            text=_("How many people are unique, and by which columns. For your eyes only, and free."),
        ),
        Step(
            kind="anonymize",
            page="pages/anonymize.py",
            label=_("Anonymize the table"),
            text=_("Make values coarser until everybody looks like others (k-anonymity). No budget is used."),
        ),
        Step(
            kind="table",
            page=SYNTHESIZE,
            label=_("Make a synthetic table"),
            text=table,
        )
        if len(columns) > MOST_FOR_HISTOGRAM
        else Step(
            kind="histogram",
            page=SYNTHESIZE,
            label=_("Release a histogram"),
            text=_("Of {column}: see its expected error first, then decide.").format(column=plain(first)),
        ),
    ]


def _draft(
    name: str,
    frame: pd.DataFrame,
    unit: PrivacyUnit | None,
    read: ReadResult | None = None,
    data: bytes = b"",
    schema: Schema | None = None,
    dataset: str = "",
    sample: str = "",
    source: Source | None = None,
) -> None:
    held = session.session()
    held.notices.pop("upload", None)
    try:
        if frame.empty:
            raise SchemaError("the table has no rows", remedy="choose a table with at least one row")
        size = int(frame.memory_usage(deep=True).sum())
        holders.check_room(size)
        dataset, ledger = _filed(frame, dataset, sample=bool(sample), source=source)
        if source is None and reopening.reopen(frame, dataset):
            return
        schema = schema or suggest_schema(frame)
        found = find(dataset, ledger)
        if source is None and found is not None and found.declaration is not None:  # to be declared anew
            schema = found.declaration.schema
        account = ledger.account(dataset)
        alike = likeness.find(frame, ledger) if account is None and source is None else None
    except DpcoreError as error:
        held.notices["upload"] = error
        return
    on_file = unit_on_file(account, ledger) if account is not None else unit  # where it is fixed
    if on_file is not None:
        schema = Schema(columns=schema.columns, unit=on_file, excluded=schema.excluded)
    proposed = grid.to_grid(schema, [str(column) for column in frame.columns])
    held.draft = Draft(
        name=name,
        frame=frame,
        schema=schema,
        grid=proposed,
        edited=proposed,
        notes=read.notes if read else (),
        dataset=dataset,
        opener=ledger.opener,
        read=read,
        data=data,
        version=held.draft.version + 1 if held.draft else 0,
        alike=alike,
        sample=sample,
        size=size,
        source=source,
        declared=unit if source is not None else None,
        cap=cap_of(on_file),
    )


def _filed(
    frame: pd.DataFrame, dataset: str, *, sample: bool, source: Source | None
) -> tuple[str, PersonalLedger]:
    """What a table is, or would be, filed under, and the ledger with the key for it."""
    own = session.ledger()
    if sample:
        own = own.for_samples()
        return Curator.dataset_of(frame, own), own
    return own.filed(frame if source is None else source, dataset)
