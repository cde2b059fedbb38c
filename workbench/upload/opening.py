"""From bytes or a sample to an open data set: what the buttons of the Data page do."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from dpcore.accounting.loss import AnyLoss
from dpcore.curator import Curator
from dpcore.errors import DpcoreError, SchemaError
from dpcore.io.options import ReadOptions
from dpcore.io.read import ReadResult
from dpcore.schema import IntervalColumn, PrivacyUnit, Schema, suggest_schema
from workbench import reading, samples, session
from workbench.drafts import Draft
from workbench.store.personal import PersonalLedger
from workbench.ui.language import _
from workbench.ui.wording import plain
from workbench.upload import grid, likeness
from workbench.web import holders

ALIKE = session.Widget[str]("alike")
SAMPLES = {sample.key: sample for sample in samples.SAMPLES}


@dataclass(frozen=True, kw_only=True)
class TableCheck:
    """How a table fits its schema; private.

    Attributes:
        table: one line per column, with counts of rows that fall outside.
        refused: columns with values that have no cell.
    """

    table: pd.DataFrame
    refused: tuple[str, ...]


def take_sample(key: str) -> None:
    """Put a sample on the way to being opened."""
    sample = SAMPLES[key]
    frame = sample.build()
    unit = PrivacyUnit(max_rows=sample.max_rows, id_column=sample.id_column)
    _draft(sample.title, frame, unit, sample=True)


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
    try:
        read = reading.read(
            data, name, key=session.ledger().key, cancelled=session.is_gone(), options=options
        )
    except DpcoreError as error:
        held.notices["upload"] = error
        return
    kept = b"" if read.table.kind == "parquet" else data  # only text can be read in another way
    _draft(name, read.table.frame, None, read.table, kept, read.schema, read.dataset)


def take_wanted_sample() -> None:
    """Open the sample that was asked for on another page, if any."""
    note = session.take(session.OpenSample)
    if note is not None:
        take_sample(note.key)


def drop_draft() -> None:
    """Forget the table that was read."""
    held = session.session()
    held.draft, held.choosing = None, True
    held.notices.pop("upload", None)


def another() -> None:
    """Go back to choosing a table; the open ones stay open."""
    session.session().choosing = True


def stay() -> None:
    """Keep to the open data set after all."""
    held = session.session()
    held.choosing = False
    held.notices.pop("upload", None)


def shares_kept(draft: Draft, unit: PrivacyUnit) -> tuple[float, float]:
    """Shares of people whose rows all count, and of rows that count. Private."""
    sizes = draft.frame[unit.id_column].value_counts()
    kept = sizes.clip(upper=unit.max_rows)
    return float((sizes <= unit.max_rows).mean()), float(kept.sum() / max(1, sizes.sum()))


def confirm_all(draft: Draft) -> None:
    """Take every fact as known from outside."""
    draft.edited = draft.edited.assign(**{"known from outside": True})
    draft.version += 1


def check_table(draft: Draft, schema: Schema) -> TableCheck:
    """Rows outside each column's declaration; computed once per declaration. Private."""
    lines, refused = [], []
    for column in schema.columns:
        if column not in draft.checks:
            draft.checks[column] = column.check(draft.frame[column.name])
        outside = draft.checks[column]
        if outside.refused:
            refused.append(column.name)
        lines.append(
            {
                _("column"): column.name,
                _("cells"): column.size,
                _("moved to a bound"): outside.clipped,
                _("other"): outside.other,
                _("missing"): outside.missing,
                _("no cell to go to"): outside.refused,
            }
        )
    return TableCheck(table=pd.DataFrame(lines), refused=tuple(refused))


def open_draft(draft: Draft, schema: Schema, budget: AnyLoss) -> None:
    """Put the table behind the curator, and forget the frame."""
    held = session.session()
    try:
        ledger = session.ledger().under(draft.opener)
        curator = Curator.open(draft.frame, schema, budget=budget, ledger=ledger, name=draft.name)
        answer = {"alike": draft.alike.dataset, "people": ALIKE.value() or ""} if draft.alike else {}
        likeness.keep(draft.frame, draft.dataset, draft.name, ledger, answer)
    except DpcoreError as error:
        held.notices["upload"] = error
        return
    held.add(curator)


def plan(kind: str) -> None:
    """Have the Synthesize page ask for this kind of release."""
    session.session().note = session.PlanRelease(kind=kind)


def steps(curator: Curator) -> list[tuple[str, str, str]]:
    """What to release first from this table: (kind, label, one line)."""
    numbers = [c.name for c in curator.schema.columns if isinstance(c, IntervalColumn)]
    first = numbers[0] if numbers else curator.schema.domain.names[0]
    return [
        (
            "histogram",
            _("Release a histogram"),
            _("For instance of {column}: see its expected error first, then decide.").format(
                column=plain(first)
            ),
        ),
        (
            "marginals",
            _("Count columns together"),
            _("Noisy tables of two or three columns, which agree with each other."),
        ),
        (
            "table",
            _("Make a synthetic table"),
            _("Invented rows that follow noisy counts of the columns you choose."),
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
    sample: bool = False,
) -> None:
    held = session.session()
    held.notices.pop("upload", None)
    try:
        if frame.empty:
            raise SchemaError("the table has no rows", remedy="choose a table with at least one row")
        schema = schema or suggest_schema(frame)
        size = int(frame.memory_usage(deep=True).sum())
        holders.check_room(size)
        dataset, ledger = _filed(frame, dataset, sample=sample)
        account = ledger.account(dataset)
        alike = likeness.find(frame, ledger) if account is None else None
    except DpcoreError as error:
        held.notices["upload"] = error
        return
    if account is not None:  # opened before: the unit is fixed
        unit = PrivacyUnit(max_rows=account.unit["max_rows"], id_column=account.unit["id_column"])
    if unit is not None:
        schema = Schema(columns=schema.columns, unit=unit, excluded=schema.excluded)
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
        size=size,
    )


def _filed(frame: pd.DataFrame, dataset: str, *, sample: bool) -> tuple[str, PersonalLedger]:
    """The fingerprint under which a table is, or would be, filed, and the ledger with the key for it."""
    own = session.ledger()
    if sample:
        own = own.for_samples()
        return Curator.dataset_of(frame, own), own
    for ledger in own.handed():
        other = Curator.dataset_of(frame, ledger)
        if ledger.is_mine(other):
            return other, ledger
    return dataset or Curator.dataset_of(frame, own), own
