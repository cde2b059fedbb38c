"""Open two tables about the same people: one of people, and one of their events."""

import dataclasses
from functools import partial
from pathlib import PurePath
from typing import Any

import numpy as np
import pandas as pd

from dpcore.accounting.loss import AnyLoss, PureDP, loss_from_fields
from dpcore.accounting.memory import MemoryLedger
from dpcore.curator import LinkedCurator, open_linked_with_cells
from dpcore.errors import DpcoreError, ParameterError
from dpcore.io.options import ReadOptions
from dpcore.release import InternalReport
from dpcore.schema import PrivacyUnit, Schema
from dpcore.schema.detector import name_words, strip_accents
from dpcore.schema.linked import LinkedSchema, LinkRules
from dpcore.schema.source import Source
from dpcore.schema.values import as_text
from dpcore.tables.digests import combine_tables
from workbench import session
from workbench.language.messages import _
from workbench.server.web import holders
from workbench.server.workers import process
from workbench.server.workers.callbacks import report_rows
from workbench.session.draft import (
    Draft,
    FileDraft,
    LinkedDraft,
    NamesDraft,
    SourceDraft,
    frame_bytes,
)
from workbench.store.ledger.datasets import (
    DataSet,
    Declaration,
    LinkedDeclaration,
    find_data_set,
)
from workbench.store.people import likeness, opened_files, same_people
from workbench.store.people.personal import PersonalLedger
from workbench.ui import progress_view, reopening
from workbench.upload import grid, opening
from workbench.upload.opening import NOTICE

SECOND_FILE = "second-file"
"""Name of the field for the second of two files."""
SECOND_NAMES_FIELD = session.Widget[str]("second-names")
MAX_FILES_NAMED = 5
"""Files that are named in an error, if more than two were chosen."""
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
    second = _read(file.getvalue(), _tell_apart(file.name, first.name))
    if second is not None:
        _link(first, second)


def take_second_names() -> None:
    """Plan a second table by the names of its columns, beside the first."""
    tab = session.session()
    first = tab.draft
    if not isinstance(first, NamesDraft):
        return
    tab.notices.pop(NOTICE, None)
    with session.keep_error(NOTICE):
        names = SECOND_NAMES_FIELD.current_value() or ""
        second = opening.make_names_draft(names, _("Table 2"))
        first.name = _("Table 1")
        _link(first, second)


def take_second_source(
    source: Source, frame: pd.DataFrame, schema: Schema | None
) -> None:
    """Declare a second connected source together with the first.

    Args:
        frame: its first rows.
        schema: its facts on file; None if there are none.
    """
    first = session.session().draft
    if not isinstance(first, SourceDraft):
        return
    with session.keep_error(NOTICE):
        _link(first, opening.make_source_draft(source, frame, schema))


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
                "these are not two files: {names}",
                remedy="choose both files at once: the people, and their events",
                names=_list_files([name for name, _data in note.files]),
            )
        wanted = tab.data_set
        known = wanted.declaration.linked if wanted and wanted.declaration else None
        options = dict(zip(known.names, known.readings, strict=True)) if known else {}
        (first, of_first), (second, of_second) = note.files
        files = [(first, of_first), (_tell_apart(second, first), of_second)]
        tables = [
            _read(data, name, options.get(name) or ReadOptions())
            for name, data in files
        ]
        if tables[0] is not None and tables[1] is not None:
            tab.drop_draft()
            tab.draft = tables[0]
            _link(tables[0], tables[1])
            # the header names both files from the next run on
            session.leave_note(session.GoTo(page="upload"))


def _tell_apart(name: str, other: str) -> str:
    """Return the name of a file, with a number if another file has the same one."""
    path = PurePath(name)
    return f"{path.stem} (2){path.suffix}" if name == other else name


def _read(
    data: bytes, name: str, options: ReadOptions | None = None
) -> FileDraft | None:
    """Read a file; None with a notice if that fails."""
    with session.keep_error(NOTICE):
        read = opening.read_table_file(data, name, options or ReadOptions())
        if read is not None:
            return opening.make_file_draft(data, name, *read)
    if (error := session.session().notices.get(NOTICE)) is not None:
        error.add_note(name)
    return None


def take_codebook() -> None:
    """Fill both declarations from a codebook of both, or the shown one from its own."""
    tab = session.session()
    pair = tab.linked_draft
    shown = tab.draft
    if pair is None or shown is None:
        return
    with session.keep_error(NOTICE):
        codebook = opening.read_brought_codebook()
        if codebook is None:
            return
        account = account_of(pair)
        if isinstance(codebook, Schema):
            opening.check_codebook(codebook, shown)
            opening.fill_from_codebook(shown, codebook, *account)
            return
        place = _place_of_people(pair, codebook)
        parts = (
            (pair.tables[place], codebook.people),
            (pair.tables[1 - place], codebook.events),
        )
        for table, own in parts:
            opening.check_codebook(own, table)
        for table, own in parts:
            opening.fill_from_codebook(table, own, *account)
        _take_roles(pair, codebook)
        people_field(pair).put(pair.people_place)
        for place, key in enumerate(pair.keys):
            key_field(pair, place).put(key)
        _answer_rules(pair, codebook)


def people_field(pair: LinkedDraft) -> session.Widget[int]:
    """Return the field for the place of the file of people."""
    return session.Widget(f"link-people-{pair.dataset}")


def rule_field(pair: LinkedDraft, rule: str) -> session.Widget[str]:
    """Return the field for a rule of `LinkRules`, by its name."""
    return session.Widget(f"link-{rule}-{pair.dataset}")


def order_field(pair: LinkedDraft) -> session.Widget[str]:
    """Return the field for the column that orders the events of a person."""
    return session.Widget(f"link-order-{pair.dataset}")


def key_field(pair: LinkedDraft, place: int) -> session.Widget[str]:
    """Return the field for the key of the table at a place."""
    return session.Widget(f"link-key-{pair.tables[place].dataset}-{pair.dataset}")


def _list_files(names: list[str]) -> str:
    """Name the first of several files."""
    rest = len(names) - MAX_FILES_NAMED
    shown = names[:MAX_FILES_NAMED]
    return ", ".join(shown + ([_("{more} more").format(more=rest)] if rest > 0 else []))


def _link(first: Draft, second: Draft) -> None:
    """Declare two tables together; open them if they are on file together."""
    tab = session.session()
    with session.keep_error(NOTICE):
        if first.dataset == second.dataset:
            raise ParameterError(
                "this is the same table again",
                remedy="choose the other file about these people",
            )
        place, proposed = propose_keys(first.frame, second.frame)
        tables = [first, second]
        keys = [
            (table.declared_unit and table.declared_unit.id_column) or key
            for table, key in zip(tables, proposed, strict=True)
        ]
        pair = LinkedDraft(tables=tables, people_place=place, keys=keys)
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
    """Declare the first of two tables by itself."""
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
    """Return the account id of both tables, and the ledger with its key.

    The account need not exist.
    """
    own = session.ledger()
    if not pair.dataset and pair.is_connected:
        first, second = (table.table for table in pair.tables)
        pair.dataset = LinkedCurator.account_name(first, second, own)
        pair.opener = own.for_dataset(pair.dataset).opener
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

    None if both are on file together, or are no files.
    """
    if not isinstance(pair.people, FileDraft) or ledger.account(pair.dataset):
        return None
    files = [table for table in pair.tables if isinstance(table, FileDraft)]
    return likeness.find_similar_table(
        [(table.name, table.sketch_under(ledger)) for table in files],
        ledger,
        own_accounts=[table.dataset for table in pair.tables],
    )


def are_keys_read(pair: LinkedDraft) -> bool:
    """Return whether the keys of all rows of both tables are here."""
    return all(
        not isinstance(table, SourceDraft)
        or (table.source.name, key) in pair.source_keys
        for table, key in zip(pair.tables, pair.keys, strict=True)
    )


def read_keys(pair: LinkedDraft) -> None:
    """Read the keys of all rows of two connected sources."""
    session.session().notices.pop(NOTICE, None)
    with session.keep_error(NOTICE):
        _read_keys(pair)


def _read_keys(pair: LinkedDraft) -> None:
    """Read the keys that are not here yet.

    Raises: as `LinkedCurator.look_at_keys`; LimitError if there is no room for them.
    """
    with progress_view.show_rows_read(_("Reading the rows"), key="stop-reading-keys"):
        for table, key in zip(pair.tables, pair.keys, strict=True):
            if isinstance(table, SourceDraft):
                asked = (table.source.name, key)
                if asked not in pair.source_keys:
                    keys = LinkedCurator.look_at_keys(table.source, key, report_rows)
                    holders.check_room(frame_bytes(keys))
                    pair.source_keys[asked] = keys


def keys_of_table(pair: LinkedDraft, place: int) -> pd.DataFrame:
    """Return the key of each row of the table at a place, which were read. Private."""
    table = pair.tables[place]
    key = pair.keys[place]
    if isinstance(table, SourceDraft):
        return pair.source_keys[table.source.name, key]
    return table.frame[[key]]


def count_table_rows(pair: LinkedDraft, place: int) -> int | None:
    """Return the rows of the table at a place; None if they were not all read. Private."""
    table = pair.tables[place]
    if isinstance(table, SourceDraft):
        keys = pair.source_keys.get((table.source.name, pair.keys[place]))
        return None if keys is None else len(keys)
    return len(table.frame) if table.has_rows else None


def count_linked(
    pair: LinkedDraft, rules: LinkRules, unit: PrivacyUnit
) -> InternalReport[Any]:
    """Count what linking both tables by these rules meets, once. Private.

    Only the keys are read, and no account is charged: it is forgotten with the draft.

    Raises: SchemaError if no event belongs to a person.
    """
    asked = (pair.people_place, *pair.keys, rules, unit.max_rows)
    if asked not in pair.counted:
        try:
            pair.counted[asked] = LinkedCurator.open(
                keys_of_table(pair, pair.people_place),
                keys_of_table(pair, 1 - pair.people_place),
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
    """Open both tables behind one account, and forget their frames.

    Args:
        plan: release to plan next; None to stay on the Data page.
    """
    with session.keep_error(NOTICE):
        if pair.has_rows:
            _open_rows(pair, schema, budget)
        else:
            _open_plan(pair, schema, budget)
        if plan is not None:
            session.leave_note(plan)
            session.leave_note(session.GoTo(page="synthesize"))
        else:
            session.leave_note(session.GoTo(page="upload"))


def _open_plan(pair: LinkedDraft, schema: LinkedSchema, budget: AnyLoss) -> None:
    """Give a plan by names a curator of one invented person with one event."""
    people, events = (
        opening.invent_row(table.frame, own).assign(**{key: "1"})
        for table, own, key in (
            (pair.people, schema.people, schema.people_key),
            (pair.events, schema.events, schema.events_key),
        )
    )
    pair.curator = LinkedCurator.open(
        people,
        events,
        schema,
        budget=budget,
        ledger=MemoryLedger(),
        name=both_name((pair.people.name, pair.events.name)),
    )
    for view, table in (
        (pair.curator.people, pair.people),
        (pair.curator.events, pair.events),
    ):
        assert isinstance(table, NamesDraft)
        key = session.table_key(view, pair.curator)
        reopening.note_row_count(key, table.expected_rows)


def _open_rows(pair: LinkedDraft, schema: LinkedSchema, budget: AnyLoss) -> None:
    """Open two files or two connected sources, and note what was opened."""
    schema.people.unit.check_covers(pair.people.declared_unit)
    schema.events.unit.check_covers(pair.events.declared_unit)
    dataset, ledger = account_of(pair)
    brought = _file_of_both(pair, ledger)
    if brought is not None:
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
    files = [table for table in pair.tables if isinstance(table, FileDraft)]
    if files:
        sketched = [table.sketch_under(ledger) for table in files]
        likeness.store_sketch(sketched, dataset, curator.people.name, ledger, answer)
    if brought is not None:
        opened_files.note_file(brought, dataset, ledger)
    for table in pair.tables:
        own = session.ledger().with_opener(table.opener)
        if own.account(table.dataset) is not None and own.is_mine(table.dataset):
            same_people.note_same_people(dataset, table.dataset, own)
    _add(pair, curator, names, curator.count_rows())


def _file_of_both(
    pair: LinkedDraft, ledger: PersonalLedger
) -> opened_files.OpenedFile | None:
    """Return two files as one, so that all readings of both have one budget.

    None if they were not read from files.
    """
    people = _opened_file(pair.people)
    events = _opened_file(pair.events)
    if people is None or events is None:
        return None
    digest = combine_tables([people.digest, events.digest], ledger.ledger.key)
    return dataclasses.replace(people, digest=digest)


def _opened_file(table: Draft) -> opened_files.OpenedFile | None:
    return table.opened_file if isinstance(table, FileDraft) else None


def _open(
    pair: LinkedDraft,
    schema: LinkedSchema,
    budget: AnyLoss,
    ledger: PersonalLedger,
    name: str,
) -> LinkedCurator:
    holders.check_room(_bytes_of_pair(pair))
    open_tables = (
        partial(open_linked_with_cells, columns=pair.cell_search.columns)
        if pair.cell_search.columns
        else LinkedCurator.open
    )
    with progress_view.show_rows_read(_("Reading the rows"), key="stop-opening"):
        return open_tables(
            pair.people.table,
            pair.events.table,
            schema,
            budget=budget,
            ledger=ledger,
            name=name,
            on_rows=report_rows,
            compute=process.compute,
        )


def _bytes_of_pair(pair: LinkedDraft) -> int:
    """Return about how many bytes both tables and both views take.

    In the view of events, each event repeats its person.
    """
    places = (pair.people_place, 1 - pair.people_place)
    rows = [count_table_rows(pair, place) or 1 for place in places]
    # of a connected source, only the first rows were weighed
    sizes = [
        table.size * number / len(table.frame)
        for table, number in zip((pair.people, pair.events), rows, strict=True)
    ]
    return round(sizes[0] * (2 + rows[1] / rows[0]) + 2 * sizes[1])


def _add(
    pair: LinkedDraft,
    curator: LinkedCurator,
    names: tuple[str, str],
    counted: InternalReport[Any],
) -> None:
    """Make two tables that were opened the data set of this tab."""
    counts = counted.content
    for view, rows in (
        (curator.people, counts.people),
        (curator.events, counts.counted_events),
    ):
        reopening.note_row_count(session.table_key(view, curator), rows)
    reading_of = [
        table.read_result.options
        if isinstance(table, FileDraft) and table.read_result
        else None
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
    """Open two tables that are on file together; return whether they are open.

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
    _read_keys(pair)
    curator = _open(pair, schema, budget, ledger, data_set.name)
    counted = count_linked(pair, schema.rules, curator.linked.events.unit)
    _add(pair, curator, declared.linked.names, counted)
    return True


def _take_roles(pair: LinkedDraft, schema: LinkedSchema) -> None:
    """Take the table of people, and the key in each table, from declared facts."""
    pair.people_place = _place_of_people(pair, schema)
    pair.keys[pair.people_place] = schema.people_key
    pair.keys[1 - pair.people_place] = schema.events_key


def _declare_anew(pair: LinkedDraft, schema: LinkedSchema) -> None:
    """Begin with the facts on file about both tables."""
    pair.declared = schema
    for table, facts in ((pair.people, schema.people), (pair.events, schema.events)):
        header = [str(column) for column in table.frame.columns]
        table.schema = facts
        table.grid = table.edited_grid = grid.to_grid(facts, header)
        table.cap = opening.declared_cap(facts.unit)
    _answer_rules(pair, schema)


def _answer_rules(pair: LinkedDraft, schema: LinkedSchema) -> None:
    """Answer the rules and the order of events as a schema states them."""
    for rule, answer in dataclasses.asdict(schema.rules).items():
        rule_field(pair, rule).put(answer)
    if schema.order_by:
        order_field(pair).put(schema.order_by)


def _place_of_people(pair: LinkedDraft, schema: LinkedSchema) -> int:
    """Return the place of the table that has more of the declared columns of people."""
    wanted = {
        schema.people_key,
        *schema.people.source_columns(schema.people.domain.names),
    }
    shared = [len(wanted.intersection(map(str, table.frame))) for table in pair.tables]
    place = pair.people_place
    return 1 - place if shared[1 - place] > shared[place] else place


def rules_to_count(keys: str) -> LinkRules:
    """Return rules under which everything that does not fit is counted."""
    return LinkRules(
        orphans="leave out",
        without_key="leave out",
        repeated_people="keep one",
        keys=keys,
    )
