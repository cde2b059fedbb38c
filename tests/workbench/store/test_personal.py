"""The ledger as several people use it: nobody sees, spends on or learns of what is
somebody else's.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pandas as pd
import pytest

import dpcore as dp
from dpcore.accounting.ledger import Charge, source_dataset
from dpcore.errors import LedgerError, ParameterError
from dpcore.io import ReadOptions, read_table
from dpcore.tables.digests import fingerprint
from dpcore.tables.sketch import SketchedTable
from tests.contracts.ledger_kinds import SqlKind, account
from workbench.records.lines import export_lines
from workbench.store.ledger import sql_ledger
from workbench.store.ledger.datasets import (
    Declaration,
    find_data_set,
    public_name,
    store_declaration,
)
from workbench.store.ledger.rows import parse_line
from workbench.store.ledger.sql_ledger import SqlLedger
from workbench.store.people import likeness, opened_files
from workbench.store.people.owners import Owner, Owners
from workbench.store.people.personal import PersonalLedger
from workbench.store.people.roles import LOCAL_PERSON, Person

SCHEMA = dp.Schema(
    columns=(dp.Integer("hiv", low=0, high=1),), unit=dp.PrivacyUnit(max_rows=1)
)
TABLE = pd.DataFrame({"hiv": [0, 1, 1]})
BUDGET = dp.PureDP(epsilon="0.5")
ADA = Person(address="ada@example.org", role="steward")
BOB = Person(address="bob@example.org", role="steward")
ANN = Person(address="ann@example.org", role="analyst")


class Server:
    """One server; roles are as they are now."""

    def __init__(self, kind: SqlKind) -> None:
        self.ledger: SqlLedger = kind.open()
        self.owners = Owners(kind._stores[-1])
        self.roles: dict[str, Person] = {
            each.address: each for each in (ADA, BOB, ANN, LOCAL_PERSON)
        }

    def of(self, person: Person, visitor: str = "") -> PersonalLedger:
        return PersonalLedger(
            ledger=self.ledger,
            owners=self.owners,
            person=person,
            current_person=lambda: self.roles.get(person.address),
            opener=person.address,
            visitor=visitor,
        )


def _open(ledger: PersonalLedger) -> dp.Curator:
    return dp.Curator.open(TABLE, SCHEMA, budget=BUDGET, ledger=ledger)


def _opened_before(ledger: PersonalLedger) -> bool:
    return ledger.account(dp.Curator.account_fingerprint(TABLE, ledger)) is not None


@pytest.fixture
def server(kind: SqlKind, write_secrets: Callable[[str], None]) -> Server:
    write_secrets(
        '[auth]\ncookie_secret = "c"\n[roles]\nstewards = ["ada@example.org", '
        '"bob@example.org"]\n'
        'analysts = ["ann@example.org"]\n',
    )
    return Server(kind)


def test_a_colleague_learns_nothing_from_the_same_table(server: Server) -> None:
    """Whoever knows all rows but one could upload guesses, and be told which was opened
    before.
    """
    ada = _open(server.of(ADA))
    dataset = ada.account.dataset
    ada.run(dp.Histogram("hiv"), BUDGET)
    bob = server.of(BOB)
    assert not _opened_before(bob)
    assert bob.datasets() == []
    theirs = _open(bob)
    assert theirs.account.dataset != dataset
    assert theirs.stored_request(dp.Histogram("hiv"), BUDGET) is None
    for step in (
        lambda: bob.lines(dataset),
        lambda: bob.standing(dataset),
        lambda: bob.account(dataset),
        lambda: bob.release(dataset, ada.lines()[-1].request_id),
        lambda: bob.verify(dataset),
        lambda: bob.note(dataset, "x", {}),
        lambda: bob.reserve(dataset, "x", Charge(units=1), {}),
        lambda: bob.show(dataset, "ann@example.org", "N"),
        lambda: bob.hand(dataset, "bob@example.org"),
    ):
        with pytest.raises(LedgerError, match="belongs to somebody else"):
            step()
    ada.verify()
    theirs.verify()


def test_an_address_is_random_and_leads_only_whom_it_may(server: Server) -> None:
    """Addresses held the beginning of the fingerprint of the table, or led a colleague
    to somebody else's table.
    """
    ada = server.of(ADA)
    dataset = _open(ada).account.dataset
    bob = server.of(BOB)
    theirs = _open(bob).account.dataset
    address = ada.address_of(dataset)
    assert len(address) == 16
    assert address not in dataset
    # the same rows
    assert bob.address_of(theirs) != address
    assert ada.find_by_address(address) == dataset
    assert bob.find_by_address(address) is None
    with pytest.raises(LedgerError, match="belongs to somebody else"):
        bob.address_of(dataset)
    ada.show(dataset, ANN.address, "Patients")
    ann = server.of(ANN)
    assert ann.address_of(dataset) == address
    assert ann.find_by_address(address) == dataset
    assert "address" not in ann.lines(dataset)[0].content
    # accounts of earlier versions have none
    server.ledger.open(account(dataset="of before"), by=ADA.address)
    first = server.ledger.lines("of before")[0]
    server.owners.claim("of before", Owner(opener=ADA.address, steward=ADA.address))
    assert ada.address_of("of before") == first.at
    assert ada.find_by_address(first.at) == "of before"


def test_every_line_says_who(server: Server) -> None:
    """After a wrong release nobody could find out who made it."""
    curator = _open(server.of(ADA))
    curator.run(dp.Histogram("hiv"), BUDGET)
    assert {line.content["by"] for line in curator.lines()} == {"ada@example.org"}
    alone = _open(server.of(LOCAL_PERSON))
    assert not any("by" in line.content for line in alone.lines())


def test_viewers_are_named_in_two_tabs_at_once(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of the two would read that the request is still running, and nothing would be
    shown.
    """
    ada = server.of(ADA)
    dataset = _open(ada).account.dataset
    lines = ada.lines(dataset)
    monkeypatch.setattr(PersonalLedger, "lines", lambda *given: lines)
    ada.show(dataset, "ann@example.org", "N")
    ada.show(dataset, "bob@example.org", "N")
    assert sorted(ada.viewers(dataset)) == ["ann@example.org", "bob@example.org"]


def test_an_analyst_sees_what_is_shown_and_spends_nothing(server: Server) -> None:
    """Somebody who may only look would read rows, or use up a budget."""
    curator = _open(server.of(ADA))
    release = curator.run(dp.Histogram("hiv"), dp.PureDP(epsilon="0.25"))
    dataset = curator.account.dataset
    ann = server.of(ANN)
    assert ann.datasets() == []
    with pytest.raises(ParameterError, match="does not have the needed role"):
        server.of(ADA).show(dataset, "eve@example.org", "N")
    server.of(ADA).show(dataset, " Ann@Example.org", "The study")
    assert ann.datasets() == [dataset]
    assert ann.release(dataset, release.request_id) is not None
    assert ann.standing(dataset).balance.spent > 0
    assert not ann.is_mine(dataset)
    with pytest.raises(LedgerError, match="no right to open data or to spend"):
        _open(ann)
    with pytest.raises(LedgerError, match="no right to open data or to spend"):
        ann.note(dataset, "x", {})
    server.of(ADA).hide(dataset, ANN.address)
    assert ann.datasets() == []
    with pytest.raises(LedgerError, match="belongs to somebody else"):
        ann.release(dataset, release.request_id)
    people = [
        line.content for line in curator.lines() if line.content.get("kind") == "people"
    ]
    assert [set(each) for each in people] == [
        {"kind", "by", "shown to", "shown as"},
        {"kind", "by", "hidden from"},
    ]


def test_a_data_set_is_handed_on_with_its_budget(server: Server) -> None:
    """When a colleague leaves, the budget would be lost, or begin anew under another
    name.
    """
    ada = _open(server.of(ADA))
    ada.run(dp.Histogram("hiv"), dp.PureDP(epsilon="0.25"))
    dataset = ada.account.dataset
    for nobody in (ANN.address, "eve@example.org", ""):
        with pytest.raises(ParameterError, match="does not have the needed role"):
            server.of(ADA).hand(dataset, nobody)
    server.of(ADA).hand(dataset, BOB.address)
    with pytest.raises(LedgerError, match="belongs to somebody else"):
        ada.run(dp.Histogram("hiv"), dp.PureDP(epsilon="0.1"))
    with pytest.raises(LedgerError, match="belongs to somebody else"):
        _open(server.of(ADA))
    bob = server.of(BOB)
    assert bob.datasets() == [dataset]
    (handed,) = bob.ledgers_of_handed_tables()
    assert dp.Curator.account_fingerprint(TABLE, handed) == dataset
    assert bob.for_dataset(dataset).opener == handed.opener == ADA.address
    theirs = _open(handed)
    assert theirs.balance().spent == 250_000_000_000
    theirs.run(dp.Histogram("hiv"), dp.PureDP(epsilon="0.25"), request_id="again")
    assert theirs.lines()[-1].content["by"] == BOB.address
    theirs.verify()


def test_whoever_claims_a_source_first_fixes_its_budget(server: Server) -> None:
    """Between Ada's claim and her account, Bob could open the source and fix its budget
    for ever.
    """
    source = account(dataset=source_dataset("Visits"))
    server.owners.claim(source.dataset, Owner(opener=ADA.address, steward=ADA.address))
    with pytest.raises(LedgerError, match="belongs to somebody else"):
        server.of(BOB).open(source)
    assert server.ledger.account(source.dataset) is None
    assert server.of(ADA).open(source) == source


def test_a_source_whose_name_begins_anothers_is_found(server: Server) -> None:
    """Once "Visits 2025" is opened, "Visits" would be shown to nobody any more."""
    for name in ("Visits", "Visits 2025"):
        server.of(ADA).open(account(dataset=source_dataset(name)))
    for name in ("Visits", "Visits 2025"):
        found = find_data_set(source_dataset(name), server.of(ADA))
        assert found is not None
        assert found.account.source == name
    assert find_data_set("source Vis", server.of(ADA)) is None


def test_nobody_takes_what_was_opened_before_people_signed_in(server: Server) -> None:
    """Its name alone would make a source somebody's: whoever opened it first that
    day.
    """
    source = account(dataset=source_dataset("Visits"))
    server.ledger.open(source)
    with pytest.raises(LedgerError, match="belongs to somebody else"):
        server.of(BOB).open(source)
    assert server.owners.adopt(ADA.address) == 1
    assert server.of(ADA).open(source) == source


def test_a_role_taken_away_ends_an_open_page(server: Server) -> None:
    """Rows that are in memory would be spent on until the tab is closed."""
    curator = _open(server.of(ADA))
    before = curator.lines()
    for roles in ({ADA.address: Person(address=ADA.address, role="analyst")}, {}):
        server.roles = roles
        with pytest.raises(LedgerError, match="nothing was read"):
            curator.run(dp.Histogram("hiv"), BUDGET)
    assert curator.lines() == before


def test_each_visitor_has_a_budget_for_samples(server: Server) -> None:
    """One visitor's spend would empty the samples for everybody, for ever."""
    one, other = (server.of(LOCAL_PERSON, visitor=f"visitor {name}") for name in "12")
    sample = _open(one.for_samples())
    sample.run(dp.Histogram("hiv"), BUDGET)
    assert _open(other.for_samples()).balance().spent == 0
    assert _open(one.for_samples()).balance().remaining_units == 0
    own = _open(one)  # the same rows as a table of one's own
    assert len({sample.account.dataset, own.account.dataset}) == 2
    assert sorted(one.datasets()) == sorted(
        [sample.account.dataset, own.account.dataset]
    )
    assert sample.account.dataset not in other.datasets()
    assert own.account.dataset in other.datasets()
    assert one.for_dataset(sample.account.dataset).opener == "visitor 1"
    signed_in = server.of(ADA)
    assert signed_in.for_samples().key == signed_in.key


def test_what_was_opened_before_people_signed_in_is_given_to_somebody(
    server: Server,
) -> None:
    """The day sign-in is turned on, every budget so far would be out of reach."""
    before = _open(server.of(LOCAL_PERSON))
    before.run(dp.Histogram("hiv"), dp.PureDP(epsilon="0.25"))
    assert server.of(ADA).datasets() == []
    assert server.owners.adopt(ADA.address) == 1
    ada = server.of(ADA)
    assert ada.datasets() == [before.account.dataset]
    assert not _opened_before(ada)
    (handed,) = ada.ledgers_of_handed_tables()
    assert _opened_before(handed)
    assert _open(handed).balance().spent == 250_000_000_000
    assert server.of(LOCAL_PERSON).datasets() == []
    assert server.owners.adopt(BOB.address) == 0


def test_nobody_without_the_table_learns_the_name_of_its_file(server: Server) -> None:
    """ "hiv-clinic-4817.csv" is a fact: here who they are, and how many."""
    ada = server.of(ADA)
    curator = _open(ada)
    declaration = Declaration(name="hiv-clinic-4817.csv", schema=SCHEMA)
    store_declaration(declaration, curator.account.dataset, ada)
    mine = find_data_set(curator.account.dataset, ada)
    assert mine is not None
    assert mine.name == "hiv-clinic-4817.csv"
    assert public_name(mine.lines()) == mine.id[:8]
    assert "clinic-4817" not in export_lines(mine)
    for name in ("", " "):
        with pytest.raises(ParameterError, match="this text is empty"):
            ada.show(mine.id, ANN.address, name)
    for name in ("A study", " Another study "):
        ada.show(mine.id, ANN.address, name)
    theirs = find_data_set(mine.id, server.of(ANN))
    assert theirs is not None
    assert (
        theirs.name
        == public_name(theirs.lines())
        == public_name(mine.lines())
        == "Another study"
    )
    assert "clinic-4817" not in repr(theirs.lines()) + export_lines(theirs)
    store_declaration(dataclasses.replace(declaration, sample="census"), mine.id, ada)
    # as every sample is called
    assert public_name(mine.lines()) == "hiv-clinic-4817.csv"
    source = server.ledger.open(account(dataset=source_dataset("Visits")))
    assert public_name(server.ledger.lines(source.dataset)) == "Visits"


OTHER_READINGS = {
    "encoding": "cp1252",
    "separator": ";",
    "decimal": ",",
    "header": False,
    "skip": 1,
    "day_first": False,
    "sheet": "S2",
    "names": ("a", "b"),
}


@pytest.mark.parametrize("option", OTHER_READINGS)
def test_all_readings_of_one_file_have_one_account(server: Server, option: str) -> None:
    """Each way to read the same bytes had an account, and its whole budget."""
    data = b"hiv,born\n0,01/02/2003\n1,01/02/2004\n1,13/02/2004\n"
    read = read_table(data, "a.csv")
    ada = server.of(ADA)
    assert opened_files.recorded_options(data, ReadOptions(), ada) == ReadOptions()
    file = opened_files.OpenedFile(
        digest=opened_files.digest_file(data, ada), reading=read.options
    )
    opening = dataclasses.replace(ada, opened_file=file.to_content())
    curator = dp.Curator.open(read.frame, SCHEMA, budget=BUDGET, ledger=opening)
    dataset = curator.account.dataset
    # the first line holds it: nothing else may have been written yet
    assert [line.state for line in ada.lines(dataset)] == ["opened"]
    assert opened_files.earlier_accounts(ada) == []

    assert opened_files.recorded_options(data, ReadOptions(), ada) == read.options
    other = ReadOptions(**{option: OTHER_READINGS[option]})  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match=f"with other options: {option}"):
        opened_files.recorded_options(data, other, ada)
    assert opened_files.is_file_known(file, dataset, ada)
    with pytest.raises(ParameterError, match="one budget"):
        opened_files.is_file_known(file, "another", ada)
    changed = data.replace(b"2003", b"2005")
    assert opened_files.recorded_options(changed, other, ada) == other


def test_a_file_keeps_its_budget_when_its_table_is_handed_on(server: Server) -> None:
    """Who handed a table on would open the same bytes again in another way, and have a
    second budget for the same people.
    """
    data = b"hiv,born\n0,01/02/2003\n1,01/02/2004\n1,13/02/2004\n"
    read = read_table(data, "a.csv")
    ada = server.of(ADA)
    file = opened_files.OpenedFile(
        digest=opened_files.digest_file(data, ada), reading=read.options
    )
    opening = dataclasses.replace(ada, opened_file=file.to_content())
    curator = dp.Curator.open(read.frame, SCHEMA, budget=BUDGET, ledger=opening)
    ada.hand(curator.account.dataset, BOB.address)
    assert not ada.is_mine(curator.account.dataset)
    for ledger in (server.of(ADA), server.of(BOB)):
        with pytest.raises(ParameterError, match="with other options: skip"):
            opened_files.recorded_options(data, ReadOptions(skip=1), ledger)
    # twin: other bytes are nobody's
    changed = data.replace(b"2003", b"2005")
    assert opened_files.recorded_options(changed, ReadOptions(skip=1), ada).skip == 1


def test_a_new_table_reads_few_lines_of_the_accounts_on_file(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a thousand accounts a new table would wait for all their lines."""
    ada = server.of(ADA)
    frames = [
        pd.DataFrame({"n": range(start, start + 40)}) for start in range(0, 2_000, 100)
    ]
    for number, frame in enumerate(frames):
        data = frame.to_csv(index=False).encode()
        file = opened_files.OpenedFile(
            digest=opened_files.digest_file(data, ada), reading=ReadOptions()
        )
        own = dataclasses.replace(ada, opened_file=file.to_content())
        opened = own.open(
            dataclasses.replace(account(), dataset=fingerprint(frame, ada.key))
        )
        sketched = [SketchedTable.from_frame(frame, ada.key)]
        likeness.store_sketch(sketched, opened.dataset, f"table {number}", ada, {})
    read = []

    def count(row: object) -> object:
        read.append(row)
        return parse_line(row)

    monkeypatch.setattr(sql_ledger, "parse_line", count)
    known = frames[7].to_csv(index=False).encode()
    found = opened_files.find_file(opened_files.digest_file(known, ada), ada)
    assert found is not None
    assert found.dataset == fingerprint(frames[7], ada.key)
    assert len(read) == 1
    assert opened_files.find_file("0" * 64, ada) is None
    assert opened_files.earlier_accounts(ada) == []
    assert len(read) == 1
    other = pd.DataFrame({"n": range(5_000, 5_040)})
    unlike = ("other.csv", SketchedTable.from_frame(other, ada.key))
    assert likeness.find_similar_table([unlike], ada) is None
    assert len(read) == 1 + len(frames)  # each sketch is read once
    again = ("again.csv", SketchedTable.from_frame(frames[3][:-1], ada.key))
    alike = likeness.find_similar_table([again], ada)
    assert alike is not None
    assert alike.name == "table 3"
    assert len(read) == 1 + len(frames)
