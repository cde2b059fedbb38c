"""Tables on file that may be about the same people as a new one."""

from dataclasses import dataclass

import pandas as pd

from dpcore.accounting.ledger import Ledger
from dpcore.errors import RequestConflict
from dpcore.tables.sketch import Sketch, SketchedTable
from dpcore.text import Text
from workbench.store.people.opened_files import SKETCH_ID, earlier_accounts
from workbench.store.people.personal import PersonalLedger


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
    """

    dataset: str
    name: str
    day: str
    different_rows: int | None
    equal_columns: int
    is_from_earlier_version: bool = False

    def warning(self, name: str) -> Text:
        """Return the warning to show before a table like this one is opened.

        Args:
            name: of the other one, for the page.
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
        return Text(
            "This looks like {name}, opened on {day}: {how}. That table has its own "
            "budget. If both tables are about the same people, their privacy loss "
            "is the sum of both budgets.",
            name=name,
            day=self.day,
            how=how,
        )

    def warning_of_file(self, file: str, name: str) -> Text:
        """Return the warning for two linked files of which one is like this table.

        It has no number of rows, because the other file was not compared.

        Args:
            file: the name of the file that was compared, for the page.
            name: of the other table, for the page.
        """
        return Text(
            "{file} looks like a file of {name}, opened on {day}. Only this file was "
            "compared. That data set has its own budget. If both data sets are about "
            "the same people, their privacy loss is the sum of both budgets.",
            file=file,
            name=name,
            day=self.day,
        )


@dataclass(frozen=True, kw_only=True)
class _StoredSketch:
    """What the note of a table on file says for comparisons with new ones."""

    name: str
    day: str
    sketch: Sketch


_MAX_SKETCHES_KEPT = 10_000
_sketches: dict[str, _StoredSketch] = {}
"""Sketches by the digest of their line, so that each is read once: a note never
changes.
"""


def _sketches_on_file(ledger: PersonalLedger) -> dict[str, _StoredSketch]:
    """Return the sketch of each of the person's own data sets."""
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
                sketch=Sketch.from_dict(line.content["sketch"]),
            )
    return stored


def find_similar_table(
    frame: pd.DataFrame,
    name: str,
    ledger: PersonalLedger,
    sketched: SketchedTable | None = None,
) -> SimilarTable | None:
    """Return the most similar table on file, or None if none is similar.

    A table that an earlier version read in another way may be the same one, although
    its content differs.

    Args:
        sketched: the table's sketch under the ledger's key, if it was taken before.
    """
    seen = sketched or SketchedTable.from_frame(frame, ledger.key)
    candidates: list[SimilarTable] = []
    for dataset, stored in _sketches_on_file(ledger).items():
        likeness = seen.compare(stored.sketch)
        if likeness is not None:
            candidates.append(
                SimilarTable(
                    dataset=dataset,
                    name=stored.name,
                    day=stored.day,
                    different_rows=likeness.rows,
                    equal_columns=likeness.columns,
                )
            )
    if not candidates:
        columns = [str(column) for column in frame.columns]
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
                if account.may_hold_table(name, columns)
            ),
            None,
        )
    return min(
        candidates,
        key=lambda alike: (
            len(frame) if alike.different_rows is None else alike.different_rows
        ),
    )


def store_sketch(
    frame: pd.DataFrame,
    dataset: str,
    name: str,
    ledger: Ledger,
    answer: dict[str, str],
    sketched: SketchedTable | None = None,
) -> None:
    """Store the sketch of a newly opened table, and the owner's answer.

    Args:
        dataset: the table's fingerprint under the ledger's key.
        sketched: a sketch that was taken before; one of another fingerprint is not
            stored.
    """
    if sketched is None or sketched.fingerprint != dataset:
        sketched = SketchedTable.from_frame(frame, ledger.key)
    content = {
        "sketch": sketched.sketch.to_dict(),
        "name": name,
        **answer,
    }
    try:
        ledger.note(dataset, SKETCH_ID, content)
    except RequestConflict:
        return  # kept when it was opened first
