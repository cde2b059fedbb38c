"""The bytes of a file find the account that an earlier version opened from them.

`opened_files/files-COMMIT.sql` are ledgers that the programs of those commits wrote with
the key below, after opening GERMAN and MONTHS; 8902e83 kept no declarations.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from dpcore.accounting.loss import UNIT
from dpcore.errors import ParameterError
from dpcore.io import ReadOptions, read_table
from dpcore.io.options import FIRST_RULES
from dpcore.tables.sketch import SketchedTable
from workbench.store.database.store import Store
from workbench.store.ledger.datasets import find_data_set
from workbench.store.ledger.sql_ledger import SqlLedger
from workbench.store.people import likeness, opened_files
from workbench.store.people.opened_files import OpenedFile
from workbench.store.people.owners import Owners
from workbench.store.people.personal import PersonalLedger
from workbench.store.people.roles import LOCAL_PERSON
from workbench.store.settings import Settings

VERSIONS = Path(__file__).parent / "opened_files"
KEY = b"k" * 32
GERMAN = (
    "Kunde;Umsatz;Geburt\n"
    + "".join(
        f"{'ABC'[i % 3]};{i + 1}.461,{i % 10}1 €;{i % 28 + 1:02d}.04.2002\n"
        for i in range(60)
    )
).encode("cp1252")
MONTHS = (
    "region,visits,seen\n"
    + "".join(
        f"r{i % 4},({i % 5}),{i % 28 + 1:02d} Mar 20{i % 20:02d}\n" for i in range(60)
    )
    + "Total,99,\n"
).encode()
FILES = {"german.csv": GERMAN, "months.csv": MONTHS}
DECLARING = ("b28e24a", "fa2511dd")


def load(folder: Path, commit: str) -> None:
    """Write the ledger that a commit left."""
    script = (VERSIONS / f"files-{commit}.sql").read_text(encoding="utf-8")
    folder.mkdir(exist_ok=True)
    with sqlite3.connect(folder / "workbench.sqlite") as file:
        file.executescript(script)
    file.close()


def ledger_of(folder: Path, commit: str) -> PersonalLedger:
    load(folder, commit)
    store = Store(Settings(data_dir=folder, key=KEY))
    return PersonalLedger(
        ledger=SqlLedger(store),
        owners=Owners(store),
        person=LOCAL_PERSON,
        current_person=lambda: LOCAL_PERSON,
        opener="",
    )


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("commit", DECLARING)
def test_a_file_of_an_earlier_version_finds_its_account(
    tmp_path: Path, commit: str, name: str
) -> None:
    """Epsilon 1 of 3 was spent; read by the rules of today it had a new budget."""
    ledger = ledger_of(tmp_path, commit)
    accounts = opened_files.earlier_accounts(ledger)
    assert {account.name for account in accounts} == {*FILES}
    found = opened_files.read_as_before(FILES[name], name, accounts)
    assert found is not None
    read, account = found
    assert account.name == name
    assert read.options.rules == FIRST_RULES
    dataset, _ = ledger.account_of(read.frame)
    assert dataset == account.dataset
    assert ledger.standing(dataset).balance.remaining_units == 2 * UNIT
    # under another name it is still found by its header
    assert opened_files.read_as_before(FILES[name], "copy.csv", accounts) is not None


@pytest.mark.parametrize("commit", DECLARING)
def test_the_rules_of_today_alone_would_miss_it(tmp_path: Path, commit: str) -> None:
    """Twin of the test above."""
    ledger = ledger_of(tmp_path, commit)
    frame = read_table(MONTHS, "months.csv").frame
    assert ledger.account(ledger.account_of(frame)[0]) is None


@pytest.mark.parametrize("commit", DECLARING)
def test_what_was_told_then_is_told_now(tmp_path: Path, commit: str) -> None:
    """Options that were seen from the file would stand in scripts for others."""
    ledger = ledger_of(tmp_path, commit)
    for account in opened_files.earlier_accounts(ledger):
        data_set = find_data_set(account.dataset, ledger)
        assert data_set is not None
        assert data_set.declaration is not None
        assert data_set.declaration.reading is not None
        assert data_set.declaration.reading.given_options == {}


@pytest.mark.parametrize("commit", DECLARING)
def test_bytes_that_found_their_account_are_known_then(
    tmp_path: Path, commit: str
) -> None:
    """Each visit would try all earlier accounts again, and ask about each new file."""
    ledger = ledger_of(tmp_path, commit)
    found = opened_files.read_as_before(
        MONTHS, "months.csv", opened_files.earlier_accounts(ledger)
    )
    assert found is not None
    read, account = found
    file = OpenedFile(
        digest=opened_files.digest_file(MONTHS, ledger), reading=read.options
    )
    opened_files.note_file(file, account.dataset, ledger)
    left = opened_files.earlier_accounts(ledger)
    assert [other.name for other in left] == ["german.csv"]
    assert opened_files.recorded_options(MONTHS, ReadOptions(), ledger) == read.options
    with pytest.raises(ParameterError, match="with other options: skip"):
        opened_files.recorded_options(MONTHS, ReadOptions(skip=1), ledger)
    with pytest.raises(ParameterError, match="one budget"):
        opened_files.is_file_known(file, "another", ledger)


@pytest.mark.parametrize("commit", [*DECLARING, "8902e83"])
def test_a_file_that_may_be_that_of_an_earlier_account_is_asked_about(
    tmp_path: Path, commit: str
) -> None:
    """The same people got a new, whole budget, and no page said so."""
    ledger = ledger_of(tmp_path, commit)
    changed = read_table(MONTHS.replace(b"r3", b"r9"), "months.csv").frame
    sketched = SketchedTable.from_frame(changed, ledger.key)
    alike = likeness.find_similar_table([("months.csv", sketched)], ledger)
    assert alike is not None
    assert alike.is_from_earlier_version
    assert "which an earlier version opened" in str(
        alike.warning(alike.name, alike.file)
    )
    # twin: another file with other columns is not, unless nothing is known
    other = read_table(b"x,y\n" + b"1,2\n" * 9, "other.csv").frame
    is_unknown = commit == "8902e83"
    unlike = ("other.csv", SketchedTable.from_frame(other, ledger.key))
    assert (likeness.find_similar_table([unlike], ledger) is not None) == is_unknown


def test_other_bytes_with_the_same_table_are_kept_too(tmp_path: Path) -> None:
    """A copy with other line ends, read in another way, would have a budget."""
    ledger = ledger_of(tmp_path, "fa2511dd")
    accounts = opened_files.earlier_accounts(ledger)
    found = opened_files.read_as_before(GERMAN, "german.csv", accounts)
    assert found is not None
    table = found[0]
    dataset, _ = ledger.account_of(table.frame)
    copies = [GERMAN, GERMAN.replace(b"\n", b"\r\n"), GERMAN + b"\r\n"]
    for data in copies:
        digest = opened_files.digest_file(data, ledger)
        file = OpenedFile(digest=digest, reading=table.options)
        opened_files.note_file(file, dataset, ledger)
        opened_files.note_file(file, dataset, ledger)
    for data in copies:
        line = opened_files.find_file(opened_files.digest_file(data, ledger), ledger)
        assert line is not None
        assert line.dataset == dataset
    notes = [
        line for line in ledger.lines(dataset) if opened_files.FILE_KEY in line.content
    ]
    assert len(notes) == len(copies)
