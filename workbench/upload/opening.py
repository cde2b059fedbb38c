"""Open a data set from a file, a sample, a connected source or column names."""

import dataclasses
import re
from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd

from dpcore.accounting.composition import Rule
from dpcore.accounting.loss import AnyLoss, loss_from_fields
from dpcore.accounting.memory import MemoryLedger
from dpcore.curator import Curator, open_with_cells
from dpcore.curator.found_cells import (
    confirm_found_cells,
    list_candidate_searches,
    mark_found_as_taken,
)
from dpcore.errors import DpcoreError, ReadError, SchemaError, no_rows_error
from dpcore.evaluation.table.rows_of_people import read_privacy_unit
from dpcore.io.options import ReadOptions
from dpcore.io.read import accepts_read_options
from dpcore.schema import (
    Column,
    ExcludedColumn,
    OutsideCounts,
    PrivacyUnit,
    Schema,
    suggest_schema,
)
from dpcore.schema.linked import LinkedSchema
from dpcore.schema.source import Source
from workbench import session
from workbench.language.messages import N_, _
from workbench.language.wording import DEFAULT_DELTA
from workbench.server.web import holders
from workbench.server.workers import process, reading
from workbench.server.workers.callbacks import report_rows
from workbench.server.workers.reading import TableFile
from workbench.session.draft import (
    Draft,
    FileDraft,
    NamesDraft,
    ProposedCells,
    ShownColumns,
    SourceDraft,
    frame_bytes,
)
from workbench.store.ledger.datasets import find_data_set
from workbench.store.people import likeness, opened_files
from workbench.store.people.personal import PersonalLedger
from workbench.store.policy import read_policy
from workbench.ui import file_view, progress_view, reopening
from workbench.upload import grid

NOTICE = "upload"
CODEBOOK = "codebook"
"""Name of the codebook's upload field; NOTICE names the table's and the notices."""
NAMES_FIELD = session.Widget[str]("plan-names")
PLAN_TEXTS = {
    "title": N_("Not allowed to upload the data? Plan from the column names"),
}
ALIKE_FIELD = session.Widget[str]("alike")


def take_sample(key: str) -> None:
    """Make a draft of a sample."""
    sample = reopening.SAMPLES[key]
    unit = PrivacyUnit(max_rows=sample.max_rows, id_column=sample.id_column)
    make = partial(FileDraft, sample=sample.key)
    _make_draft(make, sample.title, sample.build(), unit, is_sample=True)


def take_table_from_page() -> None:
    """Read the table that was chosen on another page, and return to that page."""
    note = session.take_note(session.BringTable)
    tab = session.session()
    if note is None:
        return
    draft = tab.draft
    is_read_again = isinstance(draft, FileDraft) and note.data == draft.data != b""
    if not is_read_again:
        tab.linked_draft = None
    if note.sample:
        take_sample(note.sample)
    else:
        _read_file(note.data, note.name, note.options, page=note.page)
    if NOTICE in tab.notices:
        return
    page = note.page
    if tab.draft is not None and page != "audit":  # an audit needs no open data set
        tab.draft.page = page
        page = "upload"
    session.leave_note(session.GoTo(page=page))


def read_again(options: ReadOptions) -> None:
    """Read the draft's file again with other options.

    If it cannot be read, the draft stays.
    """
    draft = session.session().draft
    if isinstance(draft, FileDraft) and draft.read_result is not None:
        _read_file(draft.data, draft.name, options)


def _read_file(
    data: bytes, name: str, options: ReadOptions, *, page: str = "upload"
) -> None:
    file = read_table_file(data, name, options)
    if file is None:
        tab = session.session()
        is_unread = isinstance(tab.notices.get(NOTICE), ReadError)
        if tab.draft is None and is_unread and accepts_read_options(data, name):
            unread = session.UnreadFile(
                name=name, data=data, options=options, page=page
            )
            session.leave_note(unread)
        return
    table, opened = file
    ledger = session.ledger()
    _note_file_digest(opened, table, ledger)
    session.leave_note(session.TakePlan(table.table.plan, table.table.notes))
    _make_draft(
        _draft_maker(data, table, opened),
        name,
        table.table.frame,
        None,
        dataset=table.dataset,
        schema=table.schema,
    )


def read_table_file(
    data: bytes, name: str, options: ReadOptions
) -> tuple[TableFile, opened_files.OpenedFile] | None:
    """Read a file, by the options on file if it was opened before; None with a
    notice if that fails.
    """
    ledger = session.ledger()
    file = None
    session.take_note(session.UnreadFile)
    with session.keep_error(NOTICE):
        options = opened_files.recorded_options(data, options, ledger)
        file = file_view.read_table(
            data,
            name,
            notice=NOTICE,
            key=ledger.key,
            options=options,
            earlier=opened_files.earlier_accounts(ledger),
        )
    if file is None:
        return None
    opened = opened_files.OpenedFile(
        digest=opened_files.digest_file(data, ledger), reading=file.table.options
    )
    return file, opened


def make_file_draft(
    data: bytes, name: str, file: TableFile, opened: opened_files.OpenedFile
) -> FileDraft:
    """Return a draft of a file that was read, also if its table is on file.

    Raises: LedgerError, LimitError.
    """
    draft = _build_draft(
        _draft_maker(data, file, opened),
        name,
        file.table.frame,
        None,
        account=_find_account(
            file.table.frame, file.dataset, sample=False, source=None
        ),
        schema=file.schema,
        is_source=False,
    )
    assert isinstance(draft, FileDraft)
    return draft


def _draft_maker(
    data: bytes, file: TableFile, opened: opened_files.OpenedFile
) -> Callable[..., Draft]:
    """Return what makes a draft of a file, with the fields of this type of draft."""
    # only text can be read with other options
    text = b"" if file.table.kind == "parquet" else data
    return partial(
        FileDraft,
        read_result=file.table,
        data=text,
        opened_file=opened,
        sketched=file.sketched,
    )


def _note_file_digest(
    opened: opened_files.OpenedFile, file: TableFile, ledger: PersonalLedger
) -> None:
    """Note the file digest of a table on file, so that any reading finds its
    account.
    """
    with session.keep_error(NOTICE):
        dataset, account_ledger = ledger.account_of(file.table.frame, file.dataset)
        if account_ledger.account(dataset) is not None:
            opened_files.note_file(opened, dataset, account_ledger)


def take_codebook() -> None:
    """Fill the draft's declaration from a codebook; other columns stay as suggested."""
    draft = session.session().draft
    if draft is None:
        return
    with session.keep_error(NOTICE):
        codebook = read_brought_codebook()
        if isinstance(codebook, LinkedSchema):
            raise SchemaError(
                "this codebook is of two tables about the same people",
                remedy="bring the second table first, and then load the codebook",
            )
        if codebook is not None:
            check_codebook(codebook, draft)
            ledger = session.ledger().with_opener(draft.opener)
            fill_from_codebook(draft, codebook, draft.dataset, ledger)


def read_brought_codebook() -> Schema | LinkedSchema | None:
    """Read the codebook that was brought, and forget its file; None without one.

    Raises: as `reading.read_codebook`.
    """
    file = session.file_field(CODEBOOK).current_value()
    if file is None:
        return None
    session.renew_file_fields()
    session.drop_uploads()
    codebook = reading.read_codebook(file.getvalue())
    session.session().notices.pop(NOTICE, None)
    return codebook


def check_codebook(codebook: Schema, draft: Draft) -> None:
    """Refuse a codebook whose people are not those of a draft.

    Raises: SchemaError.
    """
    header = [str(name) for name in draft.frame.columns]
    if codebook.unit.id_column not in (None, *header):
        raise SchemaError(
            (
                "the codebook identifies people by the column {column!r}, which "
                "this table does not have"
            ),
            remedy="upload a table with this column, or another codebook",
            column=codebook.unit.id_column,
        )
    codebook.unit.check_covers(draft.declared_unit)


def fill_from_codebook(
    draft: Draft, codebook: Schema, dataset: str, ledger: PersonalLedger
) -> None:
    """Fill a draft's declaration from a codebook that was checked.

    Args:
        dataset: account id of the draft, or of both linked tables.
        ledger: with the key of that account.

    Raises: as `confirm_found_cells`.
    """
    codebook = _confirm_found_cells(codebook, dataset, ledger)
    header = [str(name) for name in draft.frame.columns]
    shown = ShownColumns(
        columns_of_codebook=draft.answers.shown_columns.columns_of_codebook
    )
    declared = {
        column.name: grid.mark_later_codebook(column, shown)
        for column in codebook.columns
        if column.name in header
    }
    columns = {column.name: column for column in draft.schema.columns} | declared
    draft.schema = Schema(
        columns=tuple(columns[name] for name in header if name in columns),
        unit=codebook.unit,
        excluded=tuple(
            column for column in draft.schema.excluded if column.name not in columns
        ),
    )
    draft.grid = draft.edited_grid = grid.to_grid(draft.schema, header)
    draft.cap = declared_cap(codebook.unit)
    draft.answers.shown_columns = shown
    draft.proposed_cells = ProposedCells()
    draft.version += 1


def _confirm_found_cells(
    codebook: Schema, dataset: str, ledger: PersonalLedger
) -> Schema:
    """Mark cells found in another table as taken from the data.

    Raises: ParameterError for cells of a search on this table that were changed after
        they were found.
    """
    account = ledger.account(dataset)
    lines = ledger.lines(dataset) if account is not None else ()
    columns = [
        column
        if list_candidate_searches(column, lines)
        else mark_found_as_taken(column)
        for column in codebook.columns
    ]
    marked = dataclasses.replace(codebook, columns=tuple(columns))
    return confirm_found_cells(marked, ledger, dataset)


def take_names() -> None:
    """Make a draft from the names of columns alone."""
    tab = session.session()
    tab.linked_draft = None
    tab.notices.pop(NOTICE, None)
    with session.keep_error(NOTICE):
        names = NAMES_FIELD.current_value() or ""
        tab.draft = make_names_draft(names, _("A plan"))


def make_names_draft(typed: str, name: str) -> Draft:
    """Return a draft from the typed names of columns.

    Raises: LedgerError, LimitError; SchemaError if there is no name.
    """
    texts = re.split(r"[\n\t,;]", typed)
    names = dict.fromkeys(filter(None, (text.strip(" \"'") for text in texts)))
    excluded = tuple(
        ExcludedColumn(name=name, reason=_("say what it holds")) for name in names
    )
    frame = pd.DataFrame({name: [""] for name in names})
    if frame.empty:
        raise no_rows_error()
    return _build_draft(
        partial(NamesDraft, expected_rows=1_000),
        name,
        frame,
        None,
        account=_find_account(frame, "", sample=False, source=None),
        schema=Schema(columns=(), unit=PrivacyUnit(max_rows=1), excluded=excluded),
        is_source=False,
    )


def take_rows_of(source: Source, frame: pd.DataFrame, schema: Schema | None) -> None:
    """Make a draft of a source, with its first rows and its facts on file."""
    tab = session.session()
    tab.linked_draft = None
    tab.notices.pop(NOTICE, None)
    with session.keep_error(NOTICE):
        tab.draft = make_source_draft(source, frame, schema)


def make_source_draft(
    source: Source, frame: pd.DataFrame, schema: Schema | None
) -> Draft:
    """Return a draft of a source with its first rows and its facts on file.

    Raises: LedgerError, LimitError; SchemaError if there are no rows.
    """
    unit = schema.unit if schema is not None else None
    if frame.empty:
        raise no_rows_error()
    return _build_draft(
        partial(SourceDraft, source=source, declared=unit),
        source.name,
        frame,
        unit,
        account=_find_account(frame, "", sample=False, source=source),
        schema=schema,
        is_source=True,
    )


def choose_table(is_choosing: bool) -> None:
    """Go to the choice of another table, or back to the open one; drop the draft."""
    tab = session.session()
    tab.drop_draft()
    session.take_note(session.UnreadFile)
    choice = session.own(session.TableChoice)
    choice.is_open = is_choosing
    choice.redeclared_dataset = None
    tab.notices.pop(NOTICE, None)


def declared_cap(unit: PrivacyUnit | None) -> int | None:
    """Return the declared limit on rows per person; None if it was taken from the
    rows.
    """
    declared = (
        unit is not None
        and unit.id_column is not None
        and not (unit.from_data or unit.found)
    )
    return unit.max_rows if unit is not None and declared else None


def count_outside(draft: Draft, column: Column) -> OutsideCounts:
    """Count a column's rows outside its declaration, once per declaration. Private."""
    counted = draft.row_facts.outside_rows
    if column not in counted:
        counted[column] = column.check(column.values_of(draft.frame))
    return counted[column]


def read_grid(
    draft: Draft, lines: pd.DataFrame, unit: PrivacyUnit
) -> tuple[Schema | None, dict[str, DpcoreError]]:
    """Read a schema from lines of a draft's grid; return also the errors by column.

    What is changed beside the rows after now is compared with what the lines say now.
    """
    shown = draft.answers.shown_columns if draft.has_rows else None
    return grid.from_grid(lines, draft.schema, unit, shown)


def check_table(draft: Draft, schema: Schema) -> tuple[pd.DataFrame, list[str]]:
    """Count the rows outside the declaration of each column. Private.

    Returns: one line per column, and the columns with values that have no cell.
    """
    checks = {column: count_outside(draft, column) for column in schema.columns}
    table = pd.DataFrame(
        [
            {
                _("column"): column.name,
                _("cells"): column.size,
                _("moved to a bound"): check.clipped,
                _("counted as other"): check.other,
                _("missing"): check.missing,
                _("no cell"): check.refused,
            }
            for column, check in checks.items()
        ],
    )
    return table, [column.name for column, check in checks.items() if check.refused]


def open_draft(
    draft: Draft,
    schema: Schema,
    budget: AnyLoss,
    plan: session.PlanRelease | None = None,
) -> None:
    """Open the table behind a curator, and forget its frame.

    Args:
        plan: release to plan next; None to go to the page where the table
            is wanted.
    """
    with session.keep_error(NOTICE):
        if isinstance(draft, NamesDraft):
            _open_plan(draft, schema, budget)
        else:
            _open_table(draft, schema, budget)
        if plan is not None:
            session.leave_note(plan)
        is_planned = plan is not None or not draft.has_rows
        session.leave_note(
            session.GoTo(page="synthesize" if is_planned else draft.page)
        )


def open_if_requested() -> None:
    """Open the draft with its proposed facts, if a page asked for that.

    Not where only a person can say how many rows of somebody count, whether the people
    of a similar table are the same, or where values belong that have no cell: then its
    questions are shown, and the page that asked comes after. Nothing is charged.
    """
    note = session.take_note(session.OpenAsProposed)
    draft = session.session().draft
    if note is None or draft is None:
        return
    draft.page = note.page
    if note.max_rows is not None:
        draft.cap = note.max_rows
        unit = dataclasses.replace(draft.schema.unit, max_rows=note.max_rows)
        draft.schema = dataclasses.replace(draft.schema, unit=unit)
    _open_as_proposed(draft)


def _open_as_proposed(draft: Draft) -> None:
    unit = draft.schema.unit
    is_alike = isinstance(draft, FileDraft) and draft.similar_table is not None
    has_no_cap = unit.id_column is not None and draft.cap is None
    if not draft.has_rows or is_alike or has_no_cap:
        return
    schema, problems = read_grid(draft, draft.edited_grid, unit)
    if schema is None or problems or check_table(draft, schema)[1]:
        return
    account = session.ledger().account(draft.dataset)
    open_draft(
        draft,
        schema,
        proposed_budget() if account is None else loss_from_fields(account.promise),
    )


def proposed_budget() -> AnyLoss:
    """Return the budget that is proposed for a table."""
    return Rule.ZCDP.make_loss(repr(read_policy().proposed_epsilon), DEFAULT_DELTA)


def _open_plan(draft: NamesDraft, schema: Schema, budget: AnyLoss) -> None:
    """Give a plan by names a curator of one invented row, as a table needs a row."""
    draft.curator = Curator.open(
        invent_row(draft.frame, schema),
        schema,
        budget=budget,
        ledger=MemoryLedger(),
        name=draft.name,
    )
    reopening.note_row_count(draft.curator.account.dataset, draft.expected_rows)


def invent_row(frame: pd.DataFrame, schema: Schema) -> pd.DataFrame:
    """Return the row of a plan by names with a value of each declared column."""
    first = np.zeros(1, dtype=np.int64)
    cells = {
        column.name: column.decode(first, np.random.default_rng(0))
        for column in schema.columns
    }
    return frame.assign(**cells)


def _open_table(draft: Draft, schema: Schema, budget: AnyLoss) -> None:
    schema.unit.check_covers(draft.declared_unit)
    ledger = session.ledger().with_opener(draft.opener)
    if isinstance(draft, FileDraft) and draft.opened_file is not None:
        opened_files.is_file_known(draft.opened_file, draft.dataset, ledger)
        ledger = dataclasses.replace(ledger, opened_file=draft.opened_file.to_content())
    with progress_view.show_rows_read(_("Reading the rows"), key="stop-opening"):
        open_table = (
            partial(open_with_cells, columns=draft.cell_search.columns)
            if draft.cell_search.columns
            else Curator.open
        )
        curator = open_table(
            draft.table,
            schema,
            budget=budget,
            ledger=ledger,
            name=draft.name,
            on_rows=report_rows,
            compute=process.compute,
        )
    if isinstance(draft, FileDraft):
        answer = (
            {
                "alike": draft.similar_table.dataset,
                "people": ALIKE_FIELD.current_value() or "",
            }
            if draft.similar_table
            else {}
        )
        sketched = draft.sketch_under(ledger)
        likeness.store_sketch([sketched], draft.dataset, draft.name, ledger, answer)
        if draft.opened_file is not None:
            opened_files.note_file(draft.opened_file, draft.dataset, ledger)
        reopening.note_counted_rows(draft.dataset, draft.frame, curator.schema.unit)
    schema = dataclasses.replace(
        schema,
        columns=curator.schema.columns,
        unit=curator.schema.unit,
        reading_from_data=curator.schema.reading_from_data,
    )
    session.session().add_data_set(curator, draft.declaration(schema), size=draft.size)


def _make_draft(
    make: Callable[..., Draft],
    name: str,
    frame: pd.DataFrame,
    unit: PrivacyUnit | None,
    *,
    dataset: str = "",
    schema: Schema | None = None,
    is_sample: bool = False,
) -> None:
    """Make a draft of a file or a sample; open the table if it is on file.

    Args:
        make: the type of draft, with the fields that only this type has.
        unit: the privacy unit to propose, unless one is on file.
        dataset: the fingerprint, if it is known.
    """
    tab = session.session()
    tab.notices.pop(NOTICE, None)
    with session.keep_error(NOTICE):
        if frame.empty:
            raise no_rows_error()
        dataset, ledger = _find_account(frame, dataset, sample=is_sample, source=None)
        beside = tab.linked_draft  # a file of two that is read again
        if beside is None and reopening.reopen(frame, dataset):
            return
        draft = _build_draft(
            make,
            name,
            frame,
            unit,
            account=(dataset, ledger),
            schema=schema,
            is_source=False,
        )
        if beside is not None and isinstance(draft, FileDraft):
            beside.replace_table(tab.draft, draft)
        tab.draft = draft


def _build_draft(
    make: Callable[..., Draft],
    name: str,
    frame: pd.DataFrame,
    unit: PrivacyUnit | None,
    *,
    account: tuple[str, PersonalLedger],
    schema: Schema | None,
    is_source: bool,
) -> Draft:
    """Return a draft of a table; arguments as of `_make_draft`.

    Args:
        account: the fingerprint, and the ledger with its key.

    Raises: LedgerError, LimitError.
    """
    tab = session.session()
    size = frame_bytes(frame)
    holders.check_room(size)
    dataset, ledger = account
    schema = schema or suggest_schema(frame)
    on_file = find_data_set(dataset, ledger)
    known = ledger.account(dataset)
    # The table is declared anew: start from the declaration on file.
    if not is_source and on_file is not None and on_file.declaration is not None:
        schema = on_file.declaration.schema
    fixed = read_privacy_unit(known, ledger) if known is not None else unit
    if fixed is not None:
        schema = Schema(columns=schema.columns, unit=fixed, excluded=schema.excluded)
    proposed = grid.to_grid(schema, [str(column) for column in frame.columns])
    draft = make(
        name=name,
        frame=frame,
        schema=schema,
        grid=proposed,
        edited_grid=proposed,
        version=tab.draft.version + 1 if tab.draft else 0,
        dataset=dataset,
        opener=ledger.opener,
        size=size,
        cap=declared_cap(fixed),
    )
    if isinstance(draft, FileDraft) and known is None:
        draft.similar_table = likeness.find_similar_table(
            [(name, draft.sketch_under(ledger))], ledger
        )
    return draft


def _find_account(
    frame: pd.DataFrame,
    dataset: str,
    *,
    sample: bool,
    source: Source | None,
) -> tuple[str, PersonalLedger]:
    """Return the fingerprint of a table, and the ledger with its key."""
    own = session.ledger()
    if sample:
        own = own.for_samples()
        return Curator.account_fingerprint(frame, own), own
    return own.account_of(frame if source is None else source, dataset)
