"""Tables on file that may be about the same people as a new one."""

import dataclasses
import hashlib
import hmac
from dataclasses import dataclass

import pandas as pd

from dpcore.accounting.ledger import Ledger, Line
from dpcore.errors import ParameterError, RequestConflict
from dpcore.io.options import ReadOptions
from dpcore.tables.sketch import Likeness, Sketch, SketchedTable
from dpcore.text import Text
from workbench.store.ledger import datasets
from workbench.store.people.personal import PersonalLedger

FILE = "file"
"""Key of the digest of a file in the line that keeps a table's sketch."""
_LINE = "likeness"  # request id of the line that keeps the sketch of a table


@dataclass(frozen=True, kw_only=True)
class Alike:
    """A table on file that a new table looks like.

    Attributes:
        day: when it was opened.
        rows: about how many rows are in only one of the two; None if their columns
            differ.
        columns: how many columns have the same content.
    """

    dataset: str
    name: str
    day: str
    rows: int | None
    columns: int

    def sentence(self, name: str) -> Text:
        """Return the warning before such a table is opened.

        Args:
            name: of the other one, for the page.
        """
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


def find(frame: pd.DataFrame, ledger: PersonalLedger) -> Alike | None:
    """Return the most similar table on file, or None if none is similar."""
    seen = SketchedTable.of(frame, ledger.key)
    candidates: list[Alike] = []
    for line in ledger.noted(_LINE):
        likeness = seen.likeness(Sketch.from_dict(line.content["sketch"]))
        if likeness is not None:
            candidates.append(_alike(line, likeness))
    return min(
        candidates,
        key=lambda each: len(frame) if each.rows is None else each.rows,
        default=None,
    )


def digest_file(data: bytes, ledger: PersonalLedger) -> str:
    """Return the keyed digest by which the bytes of a file find their account."""
    return hmac.new(ledger.key, b"file\0" + data, hashlib.sha256).hexdigest()


def find_file(digest: str, ledger: PersonalLedger) -> str | None:
    """Return the data set that was opened from a file of these bytes, however read."""
    return next(
        (
            line.dataset
            for line in ledger.noted(_LINE)
            if line.content.get(FILE) == digest
        ),
        None,
    )


def reading_on_file(
    data: bytes, options: ReadOptions, ledger: PersonalLedger
) -> ReadOptions:
    """Return the options under which the same bytes were opened before, else these.

    So no second reading of a file gets a budget of its own.

    Raises: ParameterError if another reading is asked for than the one on file.
    """
    dataset = find_file(digest_file(data, ledger), ledger)
    on_file = None if dataset is None else datasets.find(dataset, ledger)
    if on_file is None or on_file.declaration is None:
        return options
    stored = on_file.declaration.reading
    if stored is None:
        return options
    asked = {
        name
        for name, value in dataclasses.asdict(options).items()
        if name not in ("columns", "seen")
        and value not in (None, (), getattr(stored, name))
    }
    if asked:
        raise ParameterError(
            "this file was opened as {name}, and was read in another way: {options}",
            remedy="read it as it was then: all ways to read it have one budget",
            name=on_file.name,
            options=", ".join(sorted(asked)),
        )
    return stored


def check_file(digest: str, dataset: str, ledger: PersonalLedger) -> None:
    """Refuse a second account for the bytes of a file.

    Raises: ParameterError.
    """
    other = find_file(digest, ledger) if digest else None
    if other not in (None, dataset):
        on_file = datasets.find(str(other), ledger)
        raise ParameterError(
            "this file was opened as {name}, and was read in another way",
            remedy="read it as it was then: all ways to read it have one budget",
            name=on_file.name if on_file is not None else str(other)[:8],
        )


def keep(
    frame: pd.DataFrame, dataset: str, name: str, ledger: Ledger, answer: dict[str, str]
) -> None:
    """Store the sketch of a newly opened table and the owner's answer."""
    content = {
        "sketch": SketchedTable.of(frame, ledger.key).sketch.to_dict(),
        "name": name,
        **answer,
    }
    try:
        ledger.note(dataset, _LINE, content)
    except RequestConflict:
        return  # kept when it was opened first


def _alike(line: Line, likeness: Likeness) -> Alike:
    name = line.content["name"]
    day = line.at[:10]
    return Alike(
        dataset=line.dataset,
        name=name,
        day=day,
        rows=likeness.rows,
        columns=likeness.columns,
    )
