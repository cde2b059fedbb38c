"""Whether a new table looks like one that was opened before: the ledger cannot know, but a person can say."""

from __future__ import annotations

import pandas as pd

from dpcore.accounting.ledger import Ledger
from dpcore.errors import RequestConflict
from dpcore.tables.sketch import Likeness, Seen, Sketch
from workbench.drafts import Alike
from workbench.ui.language import _
from workbench.ui.wording import plain

_LINE = "likeness"  # request id of the line that keeps the sketch of a table


def find(frame: pd.DataFrame, ledger: Ledger) -> Alike | None:
    """The table on file that this one looks most like; None where there is none."""
    seen = Seen.of(frame, ledger.key)
    found: list[tuple[int, Likeness, Alike]] = []
    for dataset in ledger.datasets():
        for line in ledger.lines(dataset)[:3]:
            if line.request_id != _LINE:
                continue
            likeness = seen.likeness(Sketch.from_dict(line.content["sketch"]))
            if likeness is not None:
                differing = len(frame) if likeness.rows is None else likeness.rows
                found.append((differing, likeness, _alike(dataset, line.content["name"], line.at, likeness)))
    return min(found, key=lambda each: each[0])[2] if found else None


def keep(frame: pd.DataFrame, dataset: str, name: str, ledger: Ledger, answer: dict[str, str]) -> None:
    """Keep the sketch of a table that was opened for the first time, with the answer that was given."""
    content = {"sketch": Seen.of(frame, ledger.key).sketch.to_dict(), "name": name, **answer}
    try:
        ledger.note(dataset, _LINE, content)
    except RequestConflict:
        return  # kept when it was opened first


def sentence(alike: Alike) -> str:
    """What to say before such a table is opened."""
    if alike.rows is None:
        how = _("columns with the same content: {columns}").format(columns=alike.columns)
    else:
        how = _("about {rows:,} rows are in one of the two tables only").format(rows=alike.rows)
    return _(
        "This looks like {name} of {day}: {how}. That table has a budget of its own. If both are about the "
        "same people, what they lose is the sum of both budgets."
    ).format(name=plain(alike.name), day=alike.day, how=how)


def _alike(dataset: str, name: str, at: str, likeness: Likeness) -> Alike:
    return Alike(dataset=dataset, name=name, day=at[:10], rows=likeness.rows, columns=likeness.columns)
