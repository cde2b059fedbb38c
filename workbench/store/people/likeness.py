"""Tables on file that may be about the same people as a new one."""

from dataclasses import dataclass

import pandas as pd

from dpcore.accounting.ledger import Ledger
from dpcore.errors import RequestConflict
from dpcore.tables.sketch import Sketch, SketchedTable
from dpcore.text import Text
from workbench.store.people.opened_files import SKETCH, earlier_accounts
from workbench.store.people.personal import PersonalLedger


@dataclass(frozen=True, kw_only=True)
class Alike:
    """A table on file that a new table looks like.

    Attributes:
        day: when it was opened.
        rows: about how many rows are in only one of the two; None if their columns
            differ.
        columns: how many columns have the same content.
        is_earlier: whether nothing is known but that an earlier version opened it,
            which read files in another way.
    """

    dataset: str
    name: str
    day: str
    rows: int | None
    columns: int
    is_earlier: bool = False

    def sentence(self, name: str) -> Text:
        """Return the warning to show before a table like this one is opened.

        Args:
            name: of the other one, for the page.
        """
        if self.is_earlier:
            return Text(
                "{name} was opened on {day} by an earlier version, which read files in "
                "another way: this may be its file. That table has a budget of its "
                "own. If both are about the same people, what they lose is the sum of "
                "both budgets.",
                name=name,
                day=self.day,
            )
        if self.rows is None:
            how = Text("columns with the same content: {columns}", columns=self.columns)
        else:
            how = Text(
                "about {rows:,} rows are in one of the two tables only", rows=self.rows
            )
        return Text(
            "This looks like {name} of {day}: {how}. That table has a budget of its "
            "own. If both are about "
            "the same people, what they lose is the sum of both budgets.",
            name=name,
            day=self.day,
            how=how,
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
    digests = ledger.digests_of_notes(SKETCH)
    if len(_sketches) > _MAX_SKETCHES_KEPT:
        _sketches.clear()
    stored = {
        dataset: _sketches[digest]
        for dataset, digest in digests.items()
        if digest in _sketches
    }
    unread = sorted({*digests} - {*stored})
    for start in range(0, len(unread), 500):
        for line in ledger.noted(SKETCH, unread[start : start + 500]):
            stored[line.dataset] = _sketches[line.digest] = _StoredSketch(
                name=line.content["name"],
                day=line.at[:10],
                sketch=Sketch.from_dict(line.content["sketch"]),
            )
    return stored


def find(frame: pd.DataFrame, name: str, ledger: PersonalLedger) -> Alike | None:
    """Return the most similar table on file, or None if none is similar.

    A table that an earlier version read in another way may be the same one, although
    its content differs.
    """
    seen = SketchedTable.of(frame, ledger.key)
    candidates: list[Alike] = []
    for dataset, stored in _sketches_on_file(ledger).items():
        likeness = seen.likeness(stored.sketch)
        if likeness is not None:
            candidates.append(
                Alike(
                    dataset=dataset,
                    name=stored.name,
                    day=stored.day,
                    rows=likeness.rows,
                    columns=likeness.columns,
                )
            )
    if not candidates:
        columns = [str(column) for column in frame.columns]
        return next(
            (
                Alike(
                    dataset=account.dataset,
                    name=account.name or account.dataset[:8],
                    day=ledger.lines(account.dataset)[0].at[:10],
                    rows=None,
                    columns=0,
                    is_earlier=True,
                )
                for account in earlier_accounts(ledger)
                if account.may_be(name, columns)
            ),
            None,
        )
    return min(
        candidates,
        key=lambda alike: len(frame) if alike.rows is None else alike.rows,
    )


def keep(
    frame: pd.DataFrame,
    dataset: str,
    name: str,
    ledger: Ledger,
    answer: dict[str, str],
) -> None:
    """Store the sketch of a newly opened table, and the owner's answer."""
    content = {
        "sketch": SketchedTable.of(frame, ledger.key).sketch.to_dict(),
        "name": name,
        **answer,
    }
    try:
        ledger.note(dataset, SKETCH, content)
    except RequestConflict:
        return  # kept when it was opened first
