"""Tables on file that may be about the same people as a new one."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from dpcore.accounting.ledger import Ledger
from dpcore.errors import RequestConflict
from dpcore.tables.sketch import Sketch, SketchedTable
from dpcore.text import Text
from workbench.store.people.opened_files import SKETCH_ID, earlier_accounts
from workbench.store.people.personal import PersonalLedger

SKETCH_FIELDS = ("sketch", "second sketch")
"""Fields of the note of a data set that hold the sketch of each of its files."""


@dataclass(frozen=True, kw_only=True)
class SimilarTable:
    """A table on file that a new table looks like.

    Attributes:
        day: when it was opened.
        different_rows: about how many rows are in only one of the two; None if their columns
            differ.
        equal_columns: how many columns have the same content.
        is_from_earlier_version: whether nothing is known but that an earlier version opened it,
            which read files in another way.
        file: the name of the new file that looks like it; empty if one table is compared
            with one table.
    """

    dataset: str
    name: str
    day: str
    different_rows: int | None
    equal_columns: int
    is_from_earlier_version: bool = False
    file: str = ""

    def warning(self, name: str, file: str) -> Text:
        """Return the warning to show before a table like this one is opened.

        Args:
            name: of the other one, for the page.
            file: as the attribute, for the page.
        """
        if self.is_from_earlier_version:
            return Text(
                "This may be the file of {name}, which an earlier version opened on "
                "{day} and read in another way. That table has its own budget. If "
                "both tables are about the same people, their privacy loss is the "
                "sum of both budgets.",
                name=name,
                day=self.day,
            )
        if self.different_rows is None:
            how = Text(
                "columns with the same content: {columns}", columns=self.equal_columns
            )
        else:
            how = Text(
                "about {rows:,} rows are in only one of the two tables",
                rows=self.different_rows,
            )
        if file:
            return Text(
                "The file {file} looks like a file of {name}, opened on {day}: "
                "{how}. That data set has its own budget. If both data sets are "
                "about the same people, their privacy loss is the sum of both "
                "budgets.",
                file=file,
                name=name,
                day=self.day,
                how=how,
            )
        return Text(
            "This looks like {name}, opened on {day}: {how}. That table has its own "
            "budget. If both tables are about the same people, their privacy loss "
            "is the sum of both budgets.",
            name=name,
            day=self.day,
            how=how,
        )


@dataclass(frozen=True, kw_only=True)
class _StoredSketch:
    """What the note of a table on file says for comparisons with new ones.

    Attributes:
        sketches: of the table, or of each of two linked files.
    """

    name: str
    day: str
    sketches: tuple[Sketch, ...]


_MAX_SKETCHES_KEPT = 10_000
_sketches: dict[str, _StoredSketch] = {}
"""Sketches by the digest of their line, so that each is read once: a note never
changes.
"""


def _sketches_on_file(ledger: PersonalLedger) -> dict[str, _StoredSketch]:
    """Return the sketches of each of the person's own data sets."""
    digests = ledger.digests_of_notes(SKETCH_ID)
    if len(_sketches) > _MAX_SKETCHES_KEPT:
        _sketches.clear()
    stored = {
        dataset: _sketches[digest]
        for dataset, digest in digests.items()
        if digest in _sketches
    }
    unread = sorted({*digests} - {*stored})
    for start in range(0, len(unread), 500):
        for line in ledger.noted(SKETCH_ID, unread[start : start + 500]):
            stored[line.dataset] = _sketches[line.digest] = _StoredSketch(
                name=line.content["name"],
                day=line.at[:10],
                sketches=tuple(
                    Sketch.from_dict(line.content[field])
                    for field in SKETCH_FIELDS
                    if field in line.content
                ),
            )
    return stored


def find_similar_table(
    files: Sequence[tuple[str, SketchedTable]],
    ledger: PersonalLedger,
    *,
    own_accounts: Collection[str] = (),
) -> SimilarTable | None:
    """Return the data set on file of which a file is most like one of these files.

    None if none is similar. A table that an earlier version read in another way may be
    the same one, although its content differs.

    Args:
        files: name and sketch under the ledger's key, of one table or of two linked
            ones.
        own_accounts: of each of two files alone; what both spend is said elsewhere.
    """
    candidates: list[SimilarTable] = []
    for dataset, stored in _sketches_on_file(ledger).items():
        if dataset in own_accounts:
            continue
        is_pair = max(len(files), len(stored.sketches)) > 1
        for name, seen in files:
            for sketch in stored.sketches:
                likeness = seen.compare(sketch)
                if likeness is not None:
                    candidates.append(
                        SimilarTable(
                            dataset=dataset,
                            name=stored.name,
                            day=stored.day,
                            different_rows=likeness.rows,
                            equal_columns=likeness.columns,
                            file=name if is_pair else "",
                        )
                    )
    if not candidates:
        return next(
            (
                SimilarTable(
                    dataset=account.dataset,
                    name=account.name or account.dataset[:8],
                    day=ledger.lines(account.dataset)[0].at[:10],
                    different_rows=None,
                    equal_columns=0,
                    is_from_earlier_version=True,
                )
                for account in earlier_accounts(ledger)
                if account.dataset not in own_accounts
                and any(
                    account.may_hold_table(name, seen.sketch.columns)
                    for name, seen in files
                )
            ),
            None,
        )
    return min(
        candidates,
        key=lambda alike: (
            math.inf if alike.different_rows is None else alike.different_rows
        ),
    )


def store_sketch(
    sketched: Sequence[SketchedTable],
    dataset: str,
    name: str,
    ledger: Ledger,
    answer: dict[str, str],
) -> None:
    """Store the sketch of each file of a new data set, and the owner's answer.

    Args:
        sketched: of the one file, or of two linked ones, under the ledger's key.
        dataset: the account.
    """
    sketches = {
        field: table.sketch.to_dict()
        for field, table in zip(SKETCH_FIELDS, sketched, strict=False)
    }
    try:
        ledger.note(dataset, SKETCH_ID, {**sketches, "name": name, **answer})
    except RequestConflict:
        return  # kept when it was opened first
