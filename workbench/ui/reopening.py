"""Rows brought back to a data set on file: recognized by their fingerprint, and nothing
is asked again.
"""

from dataclasses import dataclass, field

import pandas as pd

from dpcore.accounting.loss import loss_from_fields
from dpcore.curator import Curator
from dpcore.errors import SchemaError
from dpcore.io.options import ReadOptions
from dpcore.schema import PrivacyUnit
from workbench import samples, session
from workbench.language.messages import commas
from workbench.server.web import holders
from workbench.server.workers import process
from workbench.session.draft import DraftAudit, SourceDraft
from workbench.store.ledger import datasets
from workbench.store.ledger.datasets import DataSet
from workbench.store.ledger.unbudgeted import auditor
from workbench.ui import file_view

SAMPLES = {sample.key: sample for sample in samples.SAMPLES}
NOTICE = "rows"  # errors of bringing rows, among the notices of a session


@dataclass(kw_only=True)
class RowCounts:
    """Sizes of the tables that this tab brought; internal.

    Attributes:
        about: one digit of the number of rows that count, by fingerprint.
    """

    about: dict[str, int] = field(default_factory=dict)


def continue_with(dataset: str) -> None:
    """Work with a data set on file, without its rows until they are needed."""
    tab = session.session()
    with session.noticing(NOTICE):
        data_set = tab.data_sets.get(dataset) or datasets.find(
            dataset, session.ledger()
        )
        if data_set is not None:
            tab.enter(data_set)


def reopen(frame: pd.DataFrame, dataset: str) -> bool:
    """Put recognized rows behind the door again, as they were declared; False for a
    table not on file.

    Raises: LedgerError, SchemaError.
    """
    tab = session.session()
    ledger = session.ledger().for_dataset(dataset)
    data_set = datasets.find(dataset, ledger)
    if (
        data_set is None
        or data_set.declaration is None
        or (session.own(session.TableChoice).declaring == dataset)
    ):
        return False
    budget = loss_from_fields(data_set.account.promise)
    schema = data_set.declaration.schema
    note_rows(dataset, frame, schema.unit)
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
    tab.add(curator, data_set.declaration, size=size)
    return True


def auditable_draft() -> Curator:
    """Return the table that is being declared, to be audited before it has any budget.

    Where it has an account on file, to be declared anew or as a connected source, what
    is computed leaves a line there. Without one it is forgotten with the draft, and the
    ledger has no line of it.

    Raises: LedgerError.
    """
    draft = session.session().draft
    assert draft is not None
    if draft.audit is None:
        curator = auditor(
            draft.frame,
            draft.dataset,
            session.ledger().under(draft.opener),
            draft.schema.unit,
            name=draft.name,
            identity=draft.source.name if isinstance(draft, SourceDraft) else None,
            compute=process.compute,
        )
        draft.audit = DraftAudit(curator=curator)
    return draft.audit.curator


def note_rows(dataset: str, frame: pd.DataFrame, unit: PrivacyUnit) -> None:
    """Keep one digit of the number of rows that count, as the page told it, for
    warnings to its owner.
    """
    rows = len(frame)
    if unit.id_column is not None:
        rows = int(frame[unit.id_column].value_counts().clip(upper=unit.max_rows).sum())
    about(dataset, rows)


def about(dataset: str, rows: int) -> None:
    """Keep one digit of a number of rows."""
    session.own(RowCounts).about[dataset] = int(float(f"{rows:.0e}"))


def take_file(wanted: DataSet) -> None:
    """Read the file that was brought, as it was read then, and open it if it is the one
    that is wanted.
    """
    file = session.file_field(NOTICE).value()
    if file is None:
        return
    session.renew_file_fields()
    options = (
        wanted.declaration.reading if wanted.declaration else None
    ) or ReadOptions()
    with session.noticing(NOTICE):
        key = session.ledger().for_dataset(wanted.id).key
        read = file_view.read(
            file.getvalue(), file.name, notice=NOTICE, key=key, options=options
        )
        if read is not None:
            _take(read.table.frame, read.dataset, wanted)


def take_sample(wanted: DataSet) -> None:
    """Invent the sample again; the same numbers come out."""
    assert wanted.declaration is not None
    frame = SAMPLES[wanted.declaration.sample].build()
    with session.noticing(NOTICE):
        _take(
            frame,
            Curator.dataset_of(frame, session.ledger().for_dataset(wanted.id)),
            wanted,
        )


def columns_of(wanted: DataSet) -> list[str]:
    """Names of the columns that the table had, those left out as well."""
    if wanted.declaration is None:
        return []
    schema = wanted.declaration.schema
    return [*schema.domain.names, *(column.name for column in schema.excluded)]


def _take(frame: pd.DataFrame, dataset: str, wanted: DataSet) -> None:
    if dataset == wanted.id:
        runs = session.session().runs
        shown = runs.shown
        reopen(frame, dataset)
        runs.shown = shown  # the page stays where it was
        return
    expected = set(columns_of(wanted))
    brought = set(map(str, frame.columns))
    if expected == brought:
        raise SchemaError(
            "this file has the columns of {name}, but not the same rows",
            remedy=(
                "bring the file as it was then; to use this one, open it on the Data "
                "page"
            ),
            name=wanted.name,
        )
    raise SchemaError(
        "this file is not {name}: the columns differ, such as {columns}",
        remedy="bring the file as it was then; to use this one, open it on the Data page",
        name=wanted.name,
        columns=commas(sorted(expected ^ brought)[:5]),
    )
