"""What the Anonymize page must say of a table: from its raw rows and the downloaded
plan, by pandas alone.
"""

from __future__ import annotations

import functools
import itertools
import json
import math
import operator
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

from tests.truth.demands import least_crowd, of_shares, of_values, words
from tests.truth.groups import People, cells
from tests.truth.tables import Odd

KS = (2, 3, 5, 10, 25, 50, 100)
LIMITS = (0.0, 0.02, 0.05, 0.1)
Node = tuple[int, ...]
AVERAGE = "average risk"
"""A demand on all groups together."""


class Truth:
    """A table, what was downloaded, and what follows from both.

    Attributes:
        population: the raw cells as texts. raw: those to be published. rows: with
            coarser numbers where the plan has these. person: whose row it is.
        known: columns that others may know.
        csv: the anonymized table that was downloaded. node: level of each known column.
    """

    def __init__(self, odd: Odd, files: dict[str, bytes]) -> None:
        self.population = cells(odd.content)
        self.csv = cells(files["CSV"])
        self.cap = odd.cap
        self.plan = json.loads(files["Plan (JSON, internal)"])
        subset = self.plan["subset"]
        everyone = self.population.index
        self.raw = (
            self.population[self.population[subset] == "True"]
            if subset
            else self.population
        )
        self.rows = self.raw.assign(
            **{name: self.coded(name) for name in self.plan.get("coded", {})}
        )
        self.everybody = (
            self.population[odd.id] if odd.id else pd.Series(everyone, everyone)
        )
        self.person = self.everybody[self.rows.index]
        self.known = sorted(self.with_role("quasi-identifier"))
        self.node = tuple(self.plan["node"][name] for name in self.known)
        self.k = self.plan["models"][0]["k"]
        self.suppressed = self.hidden(self.node, self.k)
        crowd = self.person[self.suppressed].nunique()
        alike = self.rows[self.suppressed].assign(**dict.fromkeys(self.known, "*"))
        enough = not any(self.fails(alike, model).any() for model in self.demands)
        # they leave as one group, or not
        self.hides = crowd if crowd >= self.k and enough else 0
        labels = self.labels(self.node).mask(self.suppressed, "*")
        labelled = self.rows.assign(**{name: labels[name] for name in self.known})
        dropped = [*self.with_role("identifier"), *([subset] if subset else [])]
        self.made = labelled[~self.suppressed | bool(self.hides)].drop(columns=dropped)
        self.secrets = self.with_role("sensitive")
        self.given_up = self.covered(self.node, self.suppressed, there=True)
        self.before = People(self.rows, self.known, self.person)
        self.after = People(self.made, self.known, self.person)
        self.others = People(
            self.made, [*self.known, *self.with_role("insensitive")], self.person
        )
        self.alike = People(self.made, list(self.made.columns), self.person)

    @functools.cached_property
    def crowds(self) -> pd.Series:
        """By person, among how many one is whose population is known, by the row that
        gives away most.
        """
        labels = self.labelled(self.leaves, self.node)
        groups = self.everybody.groupby(
            [labels[name] for name in self.known]
        ).transform("nunique")
        groups = groups[self.made.index].mask(self.suppressed[self.made.index], 1)
        of_rows = np.maximum(groups, self.after.of_rows)
        return of_rows.groupby(self.person[self.made.index]).min()

    @property
    def demands(self) -> list[dict[str, Any]]:
        """What is demanded beyond k."""
        return list(self.plan["models"][1:])

    @property
    def promised(self) -> list[str]:
        """Every demand, in words; of closeness also whether it holds by what leaves
        alone.
        """
        texts = [f"{self.k}-anonymity"]
        for model in self.demands:
            close = (
                model["model"] != "t-closeness"
                or not self.fails(self.made, model, self.made).any()
            )
            earlier = (
                ""
                if close
                else ", against the table before rows or values were left out"
            )
            texts.append(words(model) + earlier)
        return texts

    def fails(
        self,
        rows: pd.DataFrame,
        model: dict[str, Any],
        whole: pd.DataFrame | None = None,
        among: pd.DataFrame | None = None,
    ) -> pd.Series:
        """Which rows are in a group of the known columns that does not keep to a
        demand.

        Args:
            whole: the table that a group is to resemble; all rows to be published
                without.
            among: the population with the same labels; the rows themselves without.
        """
        if "column" in model:
            held = rows.assign(who=self.person)[
                [*self.known, model["column"], "who"]
            ].drop_duplicates()
            counts = (
                held.groupby([*self.known, model["column"]])
                .size()
                .unstack(fill_value=0)
            )
            every = (self.rows if whole is None else whole).assign(who=self.person)
            every = (
                every[[model["column"], "who"]]
                .drop_duplicates()[model["column"]]
                .value_counts()
            )
            levels = self.plan["hierarchies"].get(model["column"], [])
            fails = of_values(model, counts, every, levels)
        else:
            people, population = (
                each.assign(who=self.everybody).groupby(self.known)["who"].nunique()
                for each in (rows, rows if among is None else among)
            )
            fails = of_shares(model, people, population[people.index])
        groups = (
            pd.MultiIndex.from_frame(rows[self.known])
            if len(self.known) > 1
            else rows[self.known[0]]
        )
        return (
            pd.Series(fails.reindex(groups).to_numpy(), rows.index)
            .fillna(value=False)
            .astype(bool)
        )

    def coded(self, name: str) -> pd.Series:
        """A column of whole numbers, the nearest step (the upper of two), then no
        further than a bound.
        """
        how = self.plan["coded"][name]
        numbers = self.raw[name].map(int)
        step = how.get("base") or 1
        low = how.get("low")
        high = how.get("high")
        steps = numbers.map(
            lambda each: math.floor(
                Fraction(each) / Fraction(str(step)) + Fraction(1, 2)
            )
        )
        least = -math.inf if low is None else low
        most = math.inf if high is None else high
        return steps.map(lambda each: f"{int(min(max(each * step, least), most))}")

    def with_role(self, role: str) -> list[str]:
        return [name for name, each in self.plan["roles"].items() if each == role]

    def share(self, rows: pd.Series) -> float:
        """Share of people who have one of the marked rows."""
        return self.person[rows].nunique() / self.person.nunique()

    @property
    def levels(self) -> list[str]:
        return [
            f"{self.plan['node'][name]} / {len(self.plan['hierarchies'][name]) - 1}"
            for name in self.known
        ]

    @functools.cached_property
    def leaves(self) -> pd.DataFrame:
        """(population, known columns) the place of each value in its hierarchy."""
        places = {
            name: {
                value: place
                for place, value in enumerate(self.plan["hierarchies"][name][0])
            }
            for name in self.known
        }
        return pd.DataFrame(
            {
                name: self.population[name].map(places[name]).astype(int)
                for name in self.known
            },
        )

    @functools.cached_property
    def leaf(self) -> pd.DataFrame:
        """(rows, known columns) the same of the rows to be published."""
        return self.leaves.loc[self.rows.index]

    def labelled(self, leaves: pd.DataFrame, node: Node) -> pd.DataFrame:
        """The labels at these levels in place of values."""
        found = {}
        for name, level in zip(self.known, node, strict=True):
            found[name] = leaves[name].map(
                dict(enumerate(self.plan["hierarchies"][name][level]))
            )
        return pd.DataFrame(found)

    @functools.cache  # noqa: B019 - gone with the test
    def labels(self, node: Node) -> pd.DataFrame:
        """(rows, known columns) labels at these levels."""
        return self.labelled(self.leaf, node)

    @functools.cache  # noqa: B019
    def of_rows(self, node: Node) -> pd.Series:
        """People in the group of each row."""
        labels = self.labels(node)
        return self.person.groupby([labels[name] for name in self.known]).transform(
            "nunique"
        )

    def hidden(self, node: Node, k: int) -> pd.Series:
        gone = (self.of_rows(node) < k) | self.broken(node)
        crowds = (
            self.of_rows(node)[~gone]
            .groupby([self.labels(node)[name] for name in self.known])
            .first()
        )
        risks = [each["most"] for each in self.demands if each["model"] == AVERAGE]
        return gone | (
            self.of_rows(node)
            < max((least_crowd([*crowds], most) for most in risks), default=0)
        )

    @functools.cache  # noqa: B019
    def broken(self, node: Node) -> pd.Series:
        """Which rows are in a group that breaks a demand beyond k by itself."""
        rows = self.rows.assign(**self.labels(node))
        among = self.population.assign(**self.labelled(self.leaves, node))
        return functools.reduce(
            operator.or_,
            (
                self.fails(rows, each, among=among)
                for each in self.demands
                if each["model"] != AVERAGE
            ),
            pd.Series(data=False, index=rows.index),
        )

    def can_be(self, node: Node) -> bool:
        """Whether the groups of the population without a row to be published, if any,
        keep to the demands.
        """
        lowest = max(
            (each["lowest"] for each in self.demands if "lowest" in each), default=0
        )
        there, every = (
            set(self.labelled(each, node).itertuples(index=False))
            for each in (self.leaf, self.leaves)
        )
        return lowest == 0 or there == every

    def covered(
        self, node: Node, hidden: pd.Series, *, there: bool = False
    ) -> dict[str, float]:
        """By column, the share of the other values that a label may stand for, on
        average over the rows.

        Args:
            there: counts only values that some row has.
        """
        found = {}
        for name, level in zip(self.known, node, strict=True):
            levels = self.plan["hierarchies"][name]
            values = pd.Series(levels[level])
            if there:
                values = values[sorted(set(self.leaf[name]))]
            stands = (
                self.labels(node)[name]
                .map(values.value_counts())
                .mask(hidden, len(values))
            )
            stands = stands.mask(self.labels(node)[name] == "*", len(values))
            found[name] = float((stands - 1).mean() / max(1, len(values) - 1))
        return found

    def loss(self, node: Node, hidden: pd.Series) -> float:
        each = [1 + share for share in self.covered(node, hidden).values()]
        return math.prod(each) ** (1 / len(each)) - 1

    def starred(self, name: str) -> float:
        """Share of the cells of a column that print `*`."""
        return float(
            self.labels(self.node)[name].mask(self.suppressed, "*").eq("*").mean()
        )

    def moved(self, name: str) -> float:
        """Total variation between a column and what a reader of its labels expects of
        each value.
        """
        level = self.plan["hierarchies"][name][self.plan["node"][name]]
        before = self.leaf[name].value_counts()
        group = pd.Series(level)[before.index].where(before > 0)
        rows = self.leaf[name][~self.suppressed]
        visible = (
            rows.map(dict(enumerate(level)))
            .value_counts()
            .reindex(group.unique(), fill_value=0)
        )
        after = group.map(visible / group.value_counts()) + self.suppressed.sum() / len(
            before
        )
        return float((before - after).abs().sum() / 2 / len(self.rows))

    @functools.cached_property
    def points(self) -> dict[tuple[int, float], list[dict[str, Any]]]:
        """By k and limit, the nodes that lose least: every combination of levels is
        tried.
        """
        ordered = self.with_role("quasi-identifier")
        heights = [range(len(self.plan["hierarchies"][name])) for name in self.known]
        found: dict[tuple[int, float], list[dict[str, Any]]] = {}
        for k in KS:
            tried = []
            for node in itertools.product(*heights):
                hidden = self.hidden(node, k)
                levels = dict(zip(self.known, node, strict=True))
                if (share := self.share(hidden)) <= max(LIMITS) and self.can_be(node):
                    tried.append(
                        {
                            "k": k,
                            "share": share,
                            "information loss": self.loss(node, hidden),
                            "levels": ", ".join(
                                f"{name} {levels[name]}" for name in ordered
                            ),
                            "suppressed rows": int(hidden.sum()),
                            "people with a suppressed row": self.person[
                                hidden
                            ].nunique(),
                        },
                    )
            for limit in LIMITS:
                allowed = [each for each in tried if each["share"] <= limit]
                least = min((each["information loss"] for each in allowed), default=0)
                best = [
                    each for each in allowed if each["information loss"] <= least + 1e-9
                ]
                if best:
                    limited = {"suppressed, at most": f"{100 * limit:g} %"}
                    found[k, limit] = [each | limited for each in best]
        return found

    @property
    def saved(self) -> float:
        """The share of what was lost that the best levels save."""
        best = self.points[self.k, self.plan["limit"]][0]["information loss"]
        return 1 - best / self.loss(self.node, self.suppressed)

    def frontier(self, field: str) -> Callable[[Any], bool]:
        """Whether a field of the chart, of its points, of its ring, or of its table is
        that of the best.
        """
        seen = set[tuple[int, float]]()
        drawn = []
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


class Averaged:
    """A table whose numbers became the means of groups: of whom, is seen by a column
    that no two rows share.

    Attributes: those of `Truth` that a method without levels has.
    """

    node: Node = ()
    hides = 0

    def __init__(self, odd: Odd, files: dict[str, bytes], alone: str) -> None:
        self.population = self.rows = cells(odd.content)
        self.csv = cells(files["CSV"])
        self.cap = odd.cap
        self.plan = json.loads(files["Plan (JSON, internal)"])
        self.k = self.plan["models"][0]["k"]
        self.person = self.rows[odd.id]
        self.promised = [f"{self.k}-anonymity"]
        self.suppressed = pd.Series(data=False, index=self.rows.index)
        roles = self.plan["roles"]
        self.known = sorted(
            name for name, role in roles.items() if role == "quasi-identifier"
        )
        self.secrets = [name for name, role in roles.items() if role == "sensitive"]
        means = self.csv.set_index(alone)[self.known]
        self.made = self.rows.assign(
            **means.loc[self.rows[alone]].set_index(self.rows.index)
        )[[*self.csv]]
        numbers = self.rows[self.known].astype(float)
        inside = numbers.groupby([self.made[name] for name in self.known])
        self.means = inside.transform("mean")
        ranges = (inside.transform("max") - inside.transform("min")) / (
            numbers.max() - numbers.min()
        )
        self.given_up = ranges.mean().to_dict()
        self.before = People(self.rows, self.known, self.person)
        self.after = People(self.made, self.known, self.person)
        self.crowds = self.after.smallest
        others = [name for name in self.csv if roles[name] == "insensitive"]
        self.others = People(self.made, [*self.known, *others], self.person)
        self.alike = People(self.made, [*self.made], self.person)

    def share(self, _rows: pd.Series) -> float:
        """Share of people who have a suppressed row."""
        return 0.0

    def loss(self, _node: Node, _hidden: pd.Series) -> float:
        each = [1 + share for share in self.given_up.values()]
        return math.prod(each) ** (1 / len(each)) - 1

    def starred(self, _name: str) -> float:
        """Share of the cells of a column that print `*`."""
        return 0.0

    def moved(self, name: str) -> float:
        """Total variation between twenty parts of the values, with as many rows each,
        and the means there.
        """
        values = sorted(self.rows[name].astype(float))
        cuts = sorted(
            {values[-(-part * len(values) // 20) - 1] for part in range(1, 20)}
        )
        before, after = (
            Counter(sum(value > cut for cut in cuts) for value in each)
            for each in (values, self.means[name])
        )
        return (
            sum(abs(before[part] - after[part]) for part in range(20)) / 2 / len(values)
        )

    def frontier(self, field: str) -> Callable[[Any], bool]:
        """Whether the ring is at this table; the lines are of another method, which is
        compared elsewhere.
        """
        loss = self.loss(self.node, self.suppressed)
        return lambda shown: (
            field != "information loss" or len(shown) > 1 or _same(shown[0], loss)
        )


def _same(cell: Any, true: Any) -> bool:
    """Equal; numbers to the three digits that tables show, those of charts to nine."""
    if not isinstance(true, float):
        return bool(cell == true)
    return abs(cell - true) <= (
        1e-9 if cell != float(f"{cell:.3g}") else 0.005 * abs(true) + 1e-9
    )
