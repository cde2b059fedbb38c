"""The Anonymize page and its two reports: every figure again from the raw rows and the downloaded files.

The plan that is downloaded says which labels a value becomes; everything else is counted here, by people.
"""

from __future__ import annotations

import functools
import itertools
import json
import math
import re
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from tests.truth.figures import MarkedTab, check, figures
from tests.truth.groups import MISSING, People, cells
from tests.truth.reports import downloads, of_report
from tests.truth.tables import TABLES, Odd, opened
from workbench import session
from workbench.ui import examples

KS, LIMITS = (2, 3, 5, 10, 25, 50, 100), (0.0, 0.02, 0.05, 0.1)
REPORT, FILE = "Report to sign (HTML, internal)", "Download as one HTML file"
Node = tuple[int, ...]


class Truth:
    """A table, what was downloaded, and what follows from both.

    Attributes:
        rows: the raw cells as texts. person: whose row it is. known: columns that others may know.
        csv: the anonymized table that was downloaded. node: level of each known column.
    """

    def __init__(self, odd: Odd, files: dict[str, bytes], lines: Any) -> None:
        self.rows, self.csv, self.lines = cells(odd.content), cells(files["CSV"]), lines
        self.plan = json.loads(files["Plan (JSON, internal)"])
        self.person = self.rows[odd.id] if odd.id else pd.Series(self.rows.index, self.rows.index)
        self.whom = "people" if odd.id else "rows"
        self.known = sorted(self.plan["hierarchies"])
        self.node = tuple(self.plan["node"][name] for name in self.known)
        self.k = self.plan["models"][0]["k"]
        hidden = self.hidden(self.node, self.k)
        labels = self.labels(self.node)
        crowd = self.person[hidden].nunique()
        self.leaves = ~hidden if crowd < self.k else hidden | True  # as one group of enough people, or not
        labels[hidden] = "*"
        self.suppressed, self.hides = hidden, int(crowd if crowd >= self.k else 0)
        self.labelled = self.rows.assign(**{name: labels[name] for name in self.known})
        gone = [name for name, role in self.plan["roles"].items() if role == "identifier"]
        self.made = self.labelled[self.leaves].drop(columns=gone)
        self.secrets = self.with_role("sensitive")
        self.before = People(self.rows, self.known, self.person)
        self.after = People(self.made, self.known, self.person)
        self.others = People(self.made, [*self.known, *self.with_role("insensitive")], self.person)
        self.alike = People(self.made, list(self.made.columns), self.person)

    def with_role(self, role: str) -> list[str]:
        return [name for name, each in self.plan["roles"].items() if each == role]

    def share(self, rows: pd.Series) -> float:
        """Share of people who have one of the marked rows."""
        return self.person[rows].nunique() / self.person.nunique()

    @functools.cached_property
    def leaf(self) -> pd.DataFrame:
        """(rows, known columns) the place of each value in its hierarchy."""
        places = {
            name: {value: place for place, value in enumerate(levels[0])}
            for name, levels in self.plan["hierarchies"].items()
        }
        return pd.DataFrame({name: self.rows[name].map(places[name]).astype(int) for name in self.known})

    @functools.cache  # noqa: B019 - gone with the test
    def labels(self, node: Node) -> pd.DataFrame:
        """(rows, known columns) labels at these levels."""
        found = {}
        for name, level in zip(self.known, node, strict=True):
            found[name] = self.leaf[name].map(dict(enumerate(self.plan["hierarchies"][name][level])))
        return pd.DataFrame(found)

    @functools.cache  # noqa: B019
    def of_rows(self, node: Node) -> pd.Series:
        """People in the group of each row."""
        labels = self.labels(node)
        return self.person.groupby([labels[name] for name in self.known]).transform("nunique")

    def hidden(self, node: Node, k: int) -> pd.Series:
        return self.of_rows(node) < k

    def covered(self, node: Node, hidden: pd.Series, *, there: bool = False) -> dict[str, float]:
        """By column, the share of the other values that a label may stand for, on average over the rows.

        Args: there: counts only values that some row has.
        """
        found = {}
        for name, level in zip(self.known, node, strict=True):
            levels = self.plan["hierarchies"][name]
            values = pd.Series(levels[level])
            if there:
                values = values[sorted(set(self.leaf[name]))]
            stands = self.labels(node)[name].map(values.value_counts()).mask(hidden, len(values))
            stands = stands.mask(self.labels(node)[name] == "*", len(values))
            found[name] = float((stands - 1).mean() / max(1, len(values) - 1))
        return found

    def loss(self, node: Node, hidden: pd.Series) -> float:
        each = [1 + share for share in self.covered(node, hidden).values()]
        return math.prod(each) ** (1 / len(each)) - 1

    def moved(self, name: str) -> float:
        """Total variation between a column and what a reader of its labels expects of each value."""
        level = self.plan["hierarchies"][name][self.plan["node"][name]]
        before = self.leaf[name].value_counts()
        group = pd.Series(level)[before.index].where(before > 0)
        rows = self.leaf[name][~self.suppressed]
        visible = rows.map(dict(enumerate(level))).value_counts().reindex(group.unique(), fill_value=0)
        after = group.map(visible / group.value_counts()) + self.suppressed.sum() / len(before)
        return float((before - after).abs().sum() / 2 / len(self.rows))

    @functools.cached_property
    def points(self) -> dict[tuple[int, float], list[dict[str, Any]]]:
        """By k and limit, the nodes that lose least: every combination of levels is tried."""
        heights = [range(len(self.plan["hierarchies"][name])) for name in self.known]
        found: dict[tuple[int, float], list[dict[str, Any]]] = {}
        for k in KS:
            tried = []
            for node in itertools.product(*heights):
                hidden = self.hidden(node, k)
                if (share := self.share(hidden)) <= max(LIMITS):
                    tried.append(
                        {
                            "k": k,
                            "share": share,
                            "information loss": self.loss(node, hidden),
                            "levels": "-".join(map(str, node)),
                            "suppressed rows": int(hidden.sum()),
                            "people with a suppressed row": self.person[hidden].nunique(),
                        }
                    )
            for limit in LIMITS:
                allowed = [each for each in tried if each["share"] <= limit]
                least = min((each["information loss"] for each in allowed), default=0)
                best = [each for each in allowed if each["information loss"] <= least + 1e-9]
                if best:
                    limited = {"suppressed, at most": f"{100 * limit:g} %"}
                    found[k, limit] = [each | limited for each in best]
        return found

    def frontier(self, field: str) -> Callable[[Any], bool]:
        """Whether a field of the chart, of its points, of its ring, or of its table is that of the best."""
        seen, drawn = set[tuple[int, float]](), []
        for limit, k in sorted((limit, k) for k, limit in self.points):
            near = round(self.points[k, limit][0]["information loss"], 3)
            if (k, near) not in seen:
                drawn.append((k, limit))
            seen.add((k, near))
        ways = [list(self.points), drawn, [(self.k, self.plan["limit"])]]

        def holds(shown: Any) -> bool:
            return any(
                len(shown) == len(way)
                and all(
                    any(_same(cell, each[field]) for each in self.points[at])
                    for cell, at in zip(shown, way, strict=True)
                )
                for way in ways
            )

        return holds


def _same(cell: Any, true: Any) -> bool:
    """Equal; numbers to the three digits that tables show, those of charts to nine."""
    if not isinstance(true, float):
        return bool(cell == true)
    return abs(cell - true) <= (1e-9 if cell != float(f"{cell:.3g}") else 0.005 * abs(true) + 1e-9)


def percents(shares: list[float]) -> Callable[[Any], bool]:
    """Cells of shares, each to the digits that are shown."""
    from tests.truth.figures import agrees

    return lambda shown: agrees(list(shown), shares)


def sizes(people: People) -> list[float]:
    edges = [0, 1, 4, 9, 24, 99, math.inf]
    return list(pd.cut(people.smallest, edges).value_counts(normalize=True, sort=False))


def risks(people: People) -> list[float]:
    """Share of people at each level of risk."""
    edges = [0, 1, 2, 5, 10, 20, math.inf]
    return list(pd.cut(people.smallest, edges).value_counts(normalize=True, sort=False))


KEPT = "The smallest group has {k} {whom}, the average group {average}. Information loss, which the search makes small: {loss}. {share} of the {whom} have a suppressed row."
CHOSEN = "Chosen: information loss {loss}, {rows:,} rows suppressed, {classes:,} groups."
ALONE = "Of the {whom}, {share} have a row like nobody else's, once all columns are known.|share"
TIMES = "Knowing a group makes some value of {column} up to {times} times more likely (t = {t})."
HEADER = "{unit}: spent {spent} · held {held} · left {left}"
GROUPS = "The smallest group has {k} {whom}; {groups:,} groups hold {people:,} {whom}."
TOUCHED = "Suppression may touch at most {limit} of the {whom}; it did {share}. Such rows are {way}."
UNIQUE = "Unique {whom}"
BEFORE = "Before and after"
DONE = "What was done: columns"
SINGLED = "Singling out: can a person be picked out?"
INFERRED = "Inference: can a sensitive value be concluded?"
PAGE = {
    "{rows} rows|rows": lambda t: t.cap,
    f"{HEADER}|spent": lambda t: 0,
    f"{HEADER}|held": lambda t: 0,
    f"{HEADER}|left": lambda t: 3,
    "Full-domain: {nodes:,} combinations of levels, about {seconds} s to look at all. A search at this limit "
    "mostly takes less than {mostly} s, and at most about {most} s and {megabytes:,} MB.|nodes": lambda t: (
        math.prod(map(len, t.plan["hierarchies"].values()))
    ),
    f"{CHOSEN}|loss": lambda t: t.loss(t.node, t.suppressed),
    f"{CHOSEN}|rows": lambda t: int(t.suppressed.sum()),
    f"{CHOSEN}|classes": lambda t: People(t.made[~t.suppressed], t.known, t.person).sizes.size,
    "Roles of the columns: {known} that others may know, {secret} to stay unknown|known": lambda t: len(t.known),
    "Roles of the columns: {known} that others may know, {secret} to stay unknown|secret": lambda t: len(t.secrets),
    f"{UNIQUE} > value": lambda t: t.after.unique,
    f"{UNIQUE} > delta": lambda t: t.before.unique,
    "Highest risk > value": lambda t: 1 / t.after.sizes.min(),
    "Highest risk > delta": lambda t: 1 / t.before.sizes.min(),
    "Generalized > value": lambda t: t.generalized,
    "Suppressed rows > value": lambda t: t.suppressed.mean(),
    f"{KEPT}|k": lambda t: t.after.sizes.min(),
    f"{KEPT}|average": lambda t: t.after.sizes.mean(),
    f"{KEPT}|loss": lambda t: t.loss(t.node, t.suppressed),
    f"{KEPT}|share": lambda t: t.share(t.suppressed),
    f"{BEFORE} > level": lambda t: [f"{t.plan['node'][n]} of {t.height(n)}" for n in t.known],
    f"{BEFORE} > such as": lambda t: [t.plan["hierarchies"][n][t.plan["node"][n]][0] for n in t.known],
    f"{BEFORE} > generalized": lambda t: [t.given_up[n] for n in t.known],
    f"{BEFORE} > moved": lambda t: [t.moved(n) for n in t.known],
    "Unique again for somebody who also knows the columns left as they are: {share} of the {whom}.|share": (
        lambda t: t.others.unique
    ),
}
