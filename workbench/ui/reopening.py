"""Reopen data sets on file with their rows, which are recognized by fingerprint."""

from dataclasses import dataclass, field

import pandas as pd

from dpcore.accounting.loss import loss_from_fields
from dpcore.curator import Curator
from dpcore.errors import SchemaError
from dpcore.io.options import ReadOptions
from dpcore.schema import PrivacyUnit
from workbench import samples, session
from workbench.language.messages import join_with_commas
from workbench.server.web import holders
from workbench.server.workers import process
from workbench.session.draft import DraftAudit, SourceDraft
from workbench.store.ledger import datasets
from workbench.store.ledger.datasets import DataSet
from workbench.store.ledger.unbudgeted import open_for_audit
from workbench.ui import file_view

SAMPLES = {sample.key: sample for sample in samples.SAMPLES}
NOTICE = "rows"  # errors of bringing rows, among the notices of a session


@dataclass(kw_only=True)
class RowCounts:
    """Approximate numbers of rows of this tab's tables; internal.

    Attributes:
        rows_by_dataset: one digit of the number of rows that count, by
            `session.table_key`.
    """

    rows_by_dataset: dict[str, int] = field(default_factory=dict)


def continue_with(dataset: str) -> None:
    """Make a data set on file the current one, without its rows."""
    tab = session.session()
    with session.keep_error(NOTICE):
        data_set = tab.data_sets.get(dataset) or datasets.find_data_set(
            dataset, session.ledger()
        )
        if data_set is not None:
            tab.enter(data_set)


def reopen(frame: pd.DataFrame, dataset: str) -> bool:
    """Open a recognized table with its earlier declaration.

    False for a table not on file.

    Raises: LedgerError, SchemaError.
    """
    tab = session.session()
    ledger = session.ledger().for_dataset(dataset)
    data_set = datasets.find_data_set(dataset, ledger)
    if (
        data_set is None
        or data_set.declaration is None
        or (session.own(session.TableChoice).redeclared_dataset == dataset)
    ):
        return False
    budget = loss_from_fields(data_set.account.promise)
    schema = data_set.declaration.schema
    note_counted_rows(dataset, frame, schema.unit)
    size = int(frame.memory_usage(deep=True).sum())
    holders.check_room(size)
    curator = Curator.open(
        frame,
        schema,
        budget=budget,
        ledger=ledger,
        name=data_set.name,
        compute=process.compute,
    )
    tab.add_data_set(curator, data_set.declaration, size=size)
    return True


def draft_curator() -> Curator:
    """Return a curator of the draft, to audit it before it has any budget.

    Where it has an account on file, to be declared anew or as a connected source, what
    is computed leaves a line there. Without one it is forgotten with the draft, and the
    ledger has no line of it.

    Raises: LedgerError.
    """
    draft = session.session().draft
    assert draft is not None
    if draft.audit is None:
        curator = open_for_audit(
            draft.frame,
            draft.dataset,
            session.ledger().with_opener(draft.opener),
            draft.schema.unit,
            name=draft.name,
            identity=draft.source.name if isinstance(draft, SourceDraft) else None,
            compute=process.compute,
        )
        draft.audit = DraftAudit(curator=curator)
    return draft.audit.curator


def note_counted_rows(dataset: str, frame: pd.DataFrame, unit: PrivacyUnit) -> None:
    """Note the number of rows that count, rounded to one digit."""
    rows = len(frame)
    if unit.id_column is not None:
        rows = int(frame[unit.id_column].value_counts().clip(upper=unit.max_rows).sum())
    note_row_count(dataset, rows)


def note_row_count(dataset: str, rows: int) -> None:
    """Note a number of rows, rounded to one digit."""
    session.own(RowCounts).rows_by_dataset[dataset] = int(float(f"{rows:.0e}"))


def take_file(wanted: DataSet) -> None:
    """Read the uploaded file; open it if its fingerprint matches.

    It is read with the options saved at its first opening.
    """
    file = session.file_field(NOTICE).current_value()
    if file is None:
        return
    session.renew_file_fields()
    options = (
        wanted.declaration.reading if wanted.declaration else None
    ) or ReadOptions()
    with session.keep_error(NOTICE):
        key = session.ledger().for_dataset(wanted.id).key
        read = file_view.read_table(
            file.getvalue(), file.name, notice=NOTICE, key=key, options=options
        )
        if read is not None:
            _open_if_wanted(read.table.frame, read.dataset, wanted)


def take_sample(wanted: DataSet) -> None:
    """Generate the sample again and open it; its numbers are the same."""
    assert wanted.declaration is not None
    frame = SAMPLES[wanted.declaration.sample].build()
    with session.keep_error(NOTICE):
        _open_if_wanted(
            frame,
            Curator.account_fingerprint(frame, session.ledger().for_dataset(wanted.id)),
            wanted,
        )


def columns_of(wanted: DataSet) -> list[str]:
    """Return the names of the file's columns, including those that were left out."""
    if wanted.declaration is None:
        return []
    schema = wanted.declaration.schema
    names = (*schema.domain.names, *(column.name for column in schema.excluded))
    return list(schema.source_columns(names))


def _open_if_wanted(frame: pd.DataFrame, dataset: str, wanted: DataSet) -> None:
    if dataset == wanted.id:
        runs = session.session().runs
        shown = runs.shown_request_id
        reopen(frame, dataset)
        runs.shown_request_id = shown  # the page stays where it was
        return
    expected = set(columns_of(wanted))
    brought = set(map(str, frame.columns))
    if expected == brought:
        raise SchemaError(
            "this file has the columns of {name}, but not the same rows",
            remedy=(
                "upload the file as it was when you opened the data set; to use "
                "this file instead, open it on the Data page"
            ),
            name=wanted.name,
        )
    raise SchemaError(
        "this file is not {name}: its columns differ, for example {columns}",
        remedy=(
            "upload the file as it was when you opened the data set; to use this "
            "file instead, open it on the Data page"
        ),
        name=wanted.name,
        columns=join_with_commas(sorted(expected ^ brought)[:5]),
    )
