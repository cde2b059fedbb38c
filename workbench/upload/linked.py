"""Open two files about the same people: one of people, and one of their events."""

import dataclasses
from typing import Any

import numpy as np
import pandas as pd

from dpcore.accounting.loss import AnyLoss, PureDP, loss_from_fields
from dpcore.accounting.memory import MemoryLedger
from dpcore.curator import LinkedCurator
from dpcore.errors import DpcoreError, ParameterError
from dpcore.io.options import ReadOptions
from dpcore.release import InternalReport
from dpcore.schema import PrivacyUnit, Schema
from dpcore.schema.detector import name_words, strip_accents
from dpcore.schema.linked import LinkedSchema, LinkRules
from dpcore.schema.values import as_text
from dpcore.tables.digests import combine_tables
from workbench import session
from workbench.language.messages import _
from workbench.server.web import holders
from workbench.server.workers import process
from workbench.server.workers.callbacks import report_rows
from workbench.session.draft import FileDraft, LinkedDraft
from workbench.store.ledger.datasets import (
    DataSet,
    Declaration,
    LinkedDeclaration,
    find_data_set,
)
from workbench.store.people import likeness, opened_files, same_people
from workbench.store.people.personal import PersonalLedger
from workbench.ui import progress_view, reopening
from workbench.upload import opening
from workbench.upload.grid import to_grid
from workbench.upload.opening import NOTICE

SECOND_FILE = "second-file"
"""Name of the field for the second of two files."""
MAX_VALUES_COMPARED = 1_000
"""Values of a column that are looked for in another file, to propose the keys."""
MAX_REPEATED_KEYS = 0.05
"""Share of rows that repeat a key, up to which a file is proposed as that of people."""
WORDS_OF_ANY_KEY = frozenset({"id", "key", "nr", "no", "number", "num", "code"})
"""Words by which columns of different things are named."""
MIN_KNOWN_KEYS = 0.05
"""Share of keys of the events that are keys of people, below which two files are not
about the same people.
"""
_NO_LOSS = PureDP(epsilon=1)
"""Budget of the account of a count, which is forgotten with it."""


def take_second_file() -> None:
    """Read the second of two files, and declare both together."""
    tab = session.session()
    file = session.file_field(SECOND_FILE).current_value()
    first = tab.draft
    if file is None or not isinstance(first, FileDraft):
        return
    session.renew_file_fields()
    tab.notices.pop(NOTICE, None)
    second = _read(file.getvalue(), file.name)
    if second is not None:
        _link(first, second)


def take_pair_from_page() -> None:
    """Read both files that were brought on another page."""
    note = session.take_note(session.BringPair)
    if note is None:
        return
    tab = session.session()
    tab.notices.pop(NOTICE, None)
    with session.keep_error(NOTICE):
        if len(note.files) != 2:
            raise ParameterError(
                "these are not two files",
                remedy="choose both files at once: the people, and their events",
            )
        wanted = tab.data_set
        known = wanted.declaration.linked if wanted and wanted.declaration else None
        options = dict(zip(known.names, known.readings, strict=True)) if known else {}
        tables = [
            _read(data, name, options.get(name) or ReadOptions())
            for name, data in note.files
        ]
        if tables[0] is not None and tables[1] is not None:
            tab.drop_draft()
            tab.draft = tables[0]
            _link(tables[0], tables[1])


def _read(
    data: bytes, name: str, options: ReadOptions | None = None
) -> FileDraft | None:
    """Read a file; None with a notice if that fails."""
    with session.keep_error(NOTICE):
        read = opening.read_table_file(data, name, options or ReadOptions())
        if read is not None:
            return opening.make_file_draft(data, name, *read)
    return None


def people_field(pair: LinkedDraft) -> session.Widget[int]:
    """Return the field for the place of the file of people."""
    return session.Widget(f"link-people-{pair.dataset}")


def rule_field(pair: LinkedDraft, rule: str) -> session.Widget[str]:
    """Return the field for a rule of `LinkRules`, by its name."""
    return session.Widget(f"link-{rule}-{pair.dataset}")


def order_field(pair: LinkedDraft) -> session.Widget[str]:
    """Return the field for the column that orders the events of a person."""
    return session.Widget(f"link-order-{pair.dataset}")


def _link(first: FileDraft, second: FileDraft) -> None:
    """Declare two files together; open them if they are on file together."""
    tab = session.session()
    with session.keep_error(NOTICE):
        if first.dataset == second.dataset:
            raise ParameterError(
                "this is the same table again",
                remedy="choose the other file about these people",
            )
        place, keys = propose_keys(first.frame, second.frame)
        pair = LinkedDraft(tables=[first, second], people_place=place, keys=list(keys))
        if _reopen(pair):
            return
        account = session.ledger().account(pair.dataset)
        if account is not None and pair.declared is None:  # of the command line
            pair.events.cap = account.unit.get("max_rows")
        # the files may have been brought in another order before
        people_field(pair).put(pair.people_place)
        tab.linked_draft = pair
        tab.draft = pair.people


def unlink() -> None:
    """Declare the first of two files by itself."""
    tab = session.session()
    if tab.linked_draft is not None:
        tab.draft = tab.linked_draft.tables[0]
        tab.linked_draft = None
    tab.notices.pop(NOTICE, None)


def propose_keys(
    first: pd.DataFrame, second: pd.DataFrame
) -> tuple[int, tuple[str, str]]:
    """Propose which of two files holds people, and the column of the key in each.

    Both columns have the same name, or are named by the same word. The file of people
    has hardly any value of its key twice, and knows most keys of the other. It is a
    proposal alone: it tells nothing, and the owner confirms it.

    Returns: the place of the file of people, and the name of both columns in the order
    of the files; two empty names if no columns are named alike.
    """
    best: tuple[float, bool, int, tuple[str, str]] | None = None
    texts = [
        {str(name): _key_texts(table[name]) for name in table}
        for table in (first, second)
    ]
    for place in (0, 1):
        people, events = texts[place], texts[1 - place]
        for key, values in people.items():
            if values.empty or values.duplicated().mean() > MAX_REPEATED_KEYS:
                continue
            known = set(values)
            for other, named in events.items():
                if not _are_named_alike(key, other):
                    continue
                asked = pd.Series(named.unique()[:MAX_VALUES_COMPARED], dtype=object)
                found = float(asked.isin(known).mean()) if len(asked) else 0.0
                names = (key, other) if place == 0 else (other, key)
                # few values, such as numbers of days, may all be somebody's key
                covered = float(values.isin(set(named)).mean())
                each = (found + covered, key == other, -place, names)
                if best is None or each[:3] > best[:3]:
                    best = each
    if best is None:
        return int(len(second) < len(first)), ("", "")
    return -best[2], best[3]


def _are_named_alike(first: str, second: str) -> bool:
    """Return whether two columns have the same name, or share a word beside "id"."""
    words = [{*strip_accents(name_words(name)).split()} for name in (first, second)]
    return words[0] == words[1] or bool((words[0] & words[1]) - WORDS_OF_ANY_KEY)


def share_of_known_keys(pair: LinkedDraft, keys: str) -> float:
    """Return the share of keys of the events that are keys of people. Private.

    Args:
        keys: whether 007 and 7 are one key; a rule of `LinkRules`.
    """
    one = PrivacyUnit(max_rows=1)
    try:
        counts = count_linked(pair, rules_to_count(keys), one).content
    except DpcoreError:  # such as that no event belongs to a person
        return 0.0
    known: int = counts.people_with_events
    share: float = known / (known + counts.orphan_keys)
    return share


def _key_texts(column: pd.Series) -> pd.Series:
    """Return the values of a possible key as text, without leading zeros."""
    if column.dtype.kind == "f" and (column.dropna() % 1 != 0).any():
        return pd.Series([], dtype=object)
    values = column.dropna()
    if values.dtype.kind == "f":
        values = values.astype(np.int64)
    return pd.Series(as_text(values), dtype=object).str.lstrip("0")


def account_of(pair: LinkedDraft) -> tuple[str, PersonalLedger]:
    """Return the account id of both files, and the ledger with its key.

    The account need not exist.
    """
    own = session.ledger()
    if not pair.dataset:
        frames = [table.frame for table in pair.tables]
        prints = [table.dataset for table in pair.tables]
        is_own = all(table.opener == own.opener for table in pair.tables)
        pair.opener = own.opener
        pair.dataset = (
            combine_tables(prints, own.key)
            if is_own
            else LinkedCurator.account_name(frames[0], frames[1], own)
        )
        for ledger in own.ledgers_of_handed_tables():
            handed = LinkedCurator.account_name(frames[0], frames[1], ledger)
            if ledger.is_mine(handed):
                pair.dataset, pair.opener = handed, ledger.opener
        pair.similar_table = _find_similar(pair, own.with_opener(pair.opener))
    return pair.dataset, own.with_opener(pair.opener)


def _find_similar(
    pair: LinkedDraft, ledger: PersonalLedger
) -> likeness.SimilarTable | None:
    """Return the data set on file of which a file looks like one of these.

    None if both are on file together.
    """
    if ledger.account(pair.dataset) is not None:
        return None
    return likeness.find_similar_table(
        [(table.name, table.sketch_under(ledger)) for table in pair.tables],
        ledger,
        own_accounts=[table.dataset for table in pair.tables],
    )


def count_linked(
    pair: LinkedDraft, rules: LinkRules, unit: PrivacyUnit
) -> InternalReport[Any]:
    """Count what linking both files by these rules meets, once. Private.

    Only the keys are read, and no account is charged: it is forgotten with the draft.

    Raises: SchemaError if no event belongs to a person.
    """
    asked = (pair.people_place, *pair.keys, rules, unit.max_rows)
    if asked not in pair.counted:
        try:
            pair.counted[asked] = LinkedCurator.open(
                pair.people.frame[[pair.people_key]],
                pair.events.frame[[pair.events_key]],
                LinkedSchema(
                    people=Schema(
                        columns=(),
                        unit=PrivacyUnit(max_rows=1, id_column=pair.people_key),
                    ),
                    events=Schema(
                        columns=(),
                        unit=PrivacyUnit(
                            max_rows=unit.max_rows, id_column=pair.events_key
                        ),
                    ),
                    rules=rules,
                ),
                budget=_NO_LOSS,
                ledger=MemoryLedger(),
            ).count_rows()
        except DpcoreError as error:
            pair.counted[asked] = error
    counted = pair.counted[asked]
    if isinstance(counted, DpcoreError):
        raise counted
    return counted


def both_name(names: tuple[str, str]) -> str:
    """Return the name of two files, for people."""
    return _("{people} and {events}").format(people=names[0], events=names[1])


def open_pair(
    pair: LinkedDraft,
    schema: LinkedSchema,
    budget: AnyLoss,
    plan: session.PlanRelease | None = None,
) -> None:
    """Open both files behind one account, and forget their frames.

    Args:
        plan: release to plan next; None to stay on the Data page.
    """
    with session.keep_error(NOTICE):
        dataset, ledger = account_of(pair)
        files = [table.opened_file for table in (pair.people, pair.events)]
        brought: opened_files.OpenedFile | None = None
        if files[0] is not None and files[1] is not None:
            # one budget for all readings of both files, as of one file
            digest = combine_tables(
                [files[0].digest, files[1].digest], ledger.ledger.key
            )
            brought = dataclasses.replace(files[0], digest=digest)
            opened_files.is_file_known(brought, dataset, ledger)
            ledger = dataclasses.replace(ledger, opened_file=brought.to_content())
        names = (pair.people.name, pair.events.name)
        curator = _open(pair, schema, budget, ledger, both_name(names))
        alike = pair.similar_table
        answer = (
            {
                "alike": alike.dataset,
                "people": opening.ALIKE_FIELD.current_value() or "",
            }
            if alike
            else {}
        )
        sketched = [table.sketch_under(ledger) for table in pair.tables]
        likeness.store_sketch(sketched, dataset, curator.people.name, ledger, answer)
        if brought is not None:
            opened_files.note_file(brought, dataset, ledger)
        for table in pair.tables:
            own = session.ledger().with_opener(table.opener)
            if own.account(table.dataset) is not None and own.is_mine(table.dataset):
                same_people.note_same_people(dataset, table.dataset, own)
        _add(pair, curator, names, curator.count_rows())
        if plan is not None:
            session.leave_note(plan)
            session.leave_note(session.GoTo(page="synthesize"))
        else:
            session.leave_note(session.GoTo(page="upload"))


def _open(
    pair: LinkedDraft,
    schema: LinkedSchema,
    budget: AnyLoss,
    ledger: PersonalLedger,
    name: str,
) -> LinkedCurator:
    holders.check_room(_bytes_of_pair(pair))
    with progress_view.show_rows_read(_("Reading the rows"), key="stop-opening"):
        return LinkedCurator.open(
            pair.people.frame,
            pair.events.frame,
            schema,
            budget=budget,
            ledger=ledger,
            name=name,
            on_rows=report_rows,
            compute=process.compute,
        )


def _bytes_of_pair(pair: LinkedDraft) -> int:
    """Return about how many bytes both files and both views take.

    In the view of events, each event repeats its person.
    """
    repeats = 2 + len(pair.events.frame) / len(pair.people.frame)
    return round(pair.people.size * repeats) + 2 * pair.events.size


def _add(
    pair: LinkedDraft,
    curator: LinkedCurator,
    names: tuple[str, str],
    counted: InternalReport[Any],
) -> None:
    """Make two files that were opened the data set of this tab."""
    counts = counted.content
    for view, rows in (
        (curator.people, counts.people),
        (curator.events, counts.counted_events),
    ):
        reopening.note_row_count(session.table_key(view, curator), rows)
    reading_of = [
        table.read_result.options if table.read_result else None
        for table in (pair.people, pair.events)
    ]
    linked = LinkedDeclaration(
        schema=curator.linked, names=names, readings=(reading_of[0], reading_of[1])
    )
    declaration = Declaration(
        # the view of events has the columns of both files
        name=both_name(names),
        schema=curator.events.schema,
        linked=linked,
    )
    session.session().add_data_set(
        curator.people,
        declaration,
        size=_bytes_of_pair(pair),
        linked=curator,
    )
    session.session().look_at("people")


def _reopen(pair: LinkedDraft) -> bool:
    """Open two files that are on file together; return whether they are open.

    They are not if they are declared anew.

    Raises: the errors of opening.
    """
    dataset, ledger = account_of(pair)
    data_set: DataSet | None = find_data_set(dataset, ledger)
    declared = data_set.declaration if data_set is not None else None
    if data_set is None or declared is None or declared.linked is None:
        return False
    schema = declared.linked.schema
    _take_roles(pair, schema)
    if session.own(session.TableChoice).redeclared_dataset == dataset:
        _declare_anew(pair, schema)
        return False
    budget = loss_from_fields(data_set.account.promise)
    curator = _open(pair, schema, budget, ledger, data_set.name)
    counted = count_linked(pair, schema.rules, curator.linked.events.unit)
    _add(pair, curator, declared.linked.names, counted)
    return True


def _take_roles(pair: LinkedDraft, schema: LinkedSchema) -> None:
    """Take the file of people, and the key in each file, from the facts on file."""
    if not _holds(pair.people.frame, schema.people, schema.people_key):
        pair.people_place = 1 - pair.people_place
    pair.keys[pair.people_place] = schema.people_key
    pair.keys[1 - pair.people_place] = schema.events_key


def _declare_anew(pair: LinkedDraft, schema: LinkedSchema) -> None:
    """Begin with the facts on file about both files."""
    pair.declared = schema
    for table, facts in ((pair.people, schema.people), (pair.events, schema.events)):
        header = [str(column) for column in table.frame.columns]
        table.schema = facts
        table.grid = table.edited_grid = to_grid(facts, header)
        table.cap = opening.declared_cap(facts.unit)
    for rule, answer in dataclasses.asdict(schema.rules).items():
        rule_field(pair, rule).put(answer)
    if schema.order_by:
        order_field(pair).put(schema.order_by)


def _holds(frame: pd.DataFrame, schema: Schema, key: str) -> bool:
    """Return whether a file has the key and the columns of one of two tables."""
    names = {key, *schema.source_columns(schema.domain.names)}
    return names <= {str(name) for name in frame.columns}


def rules_to_count(keys: str) -> LinkRules:
    """Return rules under which everything that does not fit is counted."""
    return LinkRules(
        orphans="leave out",
        without_key="leave out",
        repeated_people="keep one",
        keys=keys,
    )
