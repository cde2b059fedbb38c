"""What the Anonymize page must say of a table: from its raw rows and the downloaded plan, by pandas alone."""

from __future__ import annotations

import functools
import itertools
import json
import math
import operator
from collections.abc import Callable
from typing import Any

import pandas as pd

from tests.truth.groups import People, cells
from tests.truth.tables import Odd

KS, LIMITS = (2, 3, 5, 10, 25, 50, 100), (0.0, 0.02, 0.05, 0.1)
Node = tuple[int, ...]


class Truth:
    """A table, what was downloaded, and what follows from both.

    Attributes:
        rows: the raw cells as texts. person: whose row it is. known: columns that others may know.
        csv: the anonymized table that was downloaded. node: level of each known column.
    """

    def __init__(self, odd: Odd, files: dict[str, bytes]) -> None:
        self.rows, self.csv, self.cap = cells(odd.content), cells(files["CSV"]), odd.cap
        self.plan = json.loads(files["Plan (JSON, internal)"])
        self.person = self.rows[odd.id] if odd.id else pd.Series(self.rows.index, self.rows.index)
        self.known = sorted(self.plan["hierarchies"])
        self.node = tuple(self.plan["node"][name] for name in self.known)
        self.k = self.plan["models"][0]["k"]
        self.suppressed = self.hidden(self.node, self.k)
        crowd = self.person[self.suppressed].nunique()
        alike = self.rows[self.suppressed].assign(**dict.fromkeys(self.known, "*"))
        enough = not any(self.fails(alike, model).any() for model in self.demands)
        self.hides = crowd if crowd >= self.k and enough else 0  # they leave as one group, or not
        labels = self.labels(self.node).mask(self.suppressed, "*")
        labelled = self.rows.assign(**{name: labels[name] for name in self.known})
        self.made = labelled[~self.suppressed | bool(self.hides)].drop(columns=self.with_role("identifier"))
        self.secrets = self.with_role("sensitive")
        self.given_up = self.covered(self.node, self.suppressed, there=True)
        self.before = People(self.rows, self.known, self.person)
        self.after = People(self.made, self.known, self.person)
        self.others = People(self.made, [*self.known, *self.with_role("insensitive")], self.person)
        self.alike = People(self.made, list(self.made.columns), self.person)

    @property
    def demands(self) -> list[dict[str, Any]]:
        """What is demanded beyond k."""
        return list(self.plan["models"][1:])

    @property
    def promised(self) -> list[str]:
        """Every demand, in words."""
        return [f"{self.k}-anonymity", *map(_words, self.demands)]

    def fails(self, rows: pd.DataFrame, model: dict[str, Any]) -> pd.Series:
        """Which rows are in a group of the known columns that does not keep to a demand."""
        held = rows.assign(who=self.person)[[*self.known, model["column"], "who"]].drop_duplicates()
        counts = held.groupby([*self.known, model["column"]]).size().unstack(fill_value=0)
        whole = self.rows.assign(who=self.person)[[model["column"], "who"]].drop_duplicates()
        share = whole[model["column"]].value_counts(normalize=True)
        order = sorted(share.index, key=lambda each: float(each) if each.lstrip("-").isdigit() else math.inf)
        apart = counts.div(counts.sum(axis=1), axis=0).reindex(columns=order, fill_value=0.0) - share[order]
        if model["model"] == "distinct l-diversity":
            fails = (counts > 0).sum(axis=1) < model["l"]
        elif model["distance"] == "ordered":
            fails = apart.cumsum(axis=1).abs().sum(axis=1) / (len(order) - 1) > model["t"] + 1e-12
        else:
            fails = apart.abs().sum(axis=1) / 2 > model["t"] + 1e-12
        groups = pd.MultiIndex.from_frame(rows[self.known]) if len(self.known) > 1 else rows[self.known[0]]
        return pd.Series(fails.reindex(groups).to_numpy(), rows.index).fillna(value=False).astype(bool)

    def with_role(self, role: str) -> list[str]:
        return [name for name, each in self.plan["roles"].items() if each == role]

    def share(self, rows: pd.Series) -> float:
        """Share of people who have one of the marked rows."""
        return self.person[rows].nunique() / self.person.nunique()

    @property
    def levels(self) -> list[str]:
        return [
            f"{self.plan['node'][name]} of {len(self.plan['hierarchies'][name]) - 1}" for name in self.known
        ]

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
        return (self.of_rows(node) < k) | self.broken(node)

    @functools.cache  # noqa: B019
    def broken(self, node: Node) -> pd.Series:
        """Which rows are in a group that breaks a demand beyond k."""
        labels = self.labels(node)
        rows = self.rows.assign(**{name: labels[name] for name in self.known})
        return functools.reduce(
            operator.or_,
            (self.fails(rows, each) for each in self.demands),
            pd.Series(data=False, index=rows.index),
        )

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
        ordered = self.with_role("quasi-identifier")
        heights = [range(len(self.plan["hierarchies"][name])) for name in self.known]
        found: dict[tuple[int, float], list[dict[str, Any]]] = {}
        for k in KS:
            tried = []
            for node in itertools.product(*heights):
                hidden, levels = self.hidden(node, k), dict(zip(self.known, node, strict=True))
                if (share := self.share(hidden)) <= max(LIMITS):
                    tried.append(
                        {
                            "k": k,
                            "share": share,
                            "information loss": self.loss(node, hidden),
                            "levels": ", ".join(f"{name} {levels[name]}" for name in ordered),
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


def _words(model: dict[str, Any]) -> str:
    if model["model"] == "distinct l-diversity":
        return f"distinct {model['l']}-diversity of {model['column']}"
    return f"{model['t']:g}-closeness of {model['column']} ({model['distance']} distance)"


def _same(cell: Any, true: Any) -> bool:
    """Equal; numbers to the three digits that tables show, those of charts to nine."""
    if not isinstance(true, float):
        return bool(cell == true)
    return abs(cell - true) <= (1e-9 if cell != float(f"{cell:.3g}") else 0.005 * abs(true) + 1e-9)
