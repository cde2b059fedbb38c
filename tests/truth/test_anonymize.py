"""The Anonymize page and its two reports: every figure again from the raw rows and the
downloaded files.

The plan that is downloaded says which labels a value becomes; everything else is
counted again, by people.
"""

from __future__ import annotations

import importlib
import io
import json
import math
import re
import statistics
from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpcore.anonymization.fulldomain import _bounded as bounded
from dpcore.anonymization.fulldomain import search as searches
from dpcore.anonymization.quality import measure_quality
from tests.tiers import but_first
from tests.truth.anonymized import Averaged, Truth
from tests.truth.figures import (
    Figure,
    MarkedTab,
    Marking,
    agrees,
    bare,
    check,
    figures,
    rounded,
)
from tests.truth.groups import People, text
from tests.truth.reports import downloads, in_this_process, of_report
from tests.truth.tables import LOSS, TABLES, Odd, opened
from workbench import session
from workbench.anonymize.state import AnonymizeState

REPORT = "Report to sign (HTML, internal)"
FILE = "Download as one HTML file"
SIZES = [0, 1, 4, 9, 24, 99, math.inf]
RISKS = [0, 1, 2, 5, 10, 20, math.inf]


def shares(sizes: pd.Series, edges: list[float]) -> list[float]:
    """Share of people by the size of the group of each."""
    return list(pd.cut(sizes, edges).value_counts(normalize=True, sort=False))


def spread(t: Truth) -> Any:
    """Bars of both sides; their table shows three digits."""
    true = [*shares(t.before.smallest, SIZES), *shares(t.after.smallest, SIZES)]
    return lambda shown: (
        np.allclose(shown, true, rtol=1e-9) or np.allclose(shown, true, rtol=5e-3)
    )


def deviation(cells: pd.Series) -> float:
    """The standard deviation of a sample of numbers."""
    return statistics.stdev(map(float, cells))


def singled_shares(t: Truth) -> list[float]:
    """Shares of unique people with each column that has to go, beside those that stay:
    columns are taken in one by one, those that single out the fewest people first.
    """
    roles = t.plan["roles"]

    def unique(*columns: str) -> float:
        return People(t.made, [*t.known, *columns], t.person).unique

    unchanged = [
        name
        for wanted in ("sensitive", "insensitive")
        for name, role in roles.items()
        if role == wanted and name in t.csv
    ]
    kept = list[str]()
    shares = []
    for name in sorted(
        unchanged, key=lambda name: (unique(name), t.made[name].nunique())
    ):
        share = unique(*kept, name)
        if share > 0.001:
            shares.append(share)
        else:
            kept.append(name)
    return shares


KEPT = (
    "The smallest group has {k} {whom}, the average group {average}. Information "
    "loss (the search minimizes it): {loss}. Suppressed: {share} of the {whom}."
)
CHOSEN = (
    "Chosen: information loss {loss}, {rows:,} rows suppressed; the others form "
    "{classes:,} groups."
)
ALONE = (
    "{share} of the {whom} have a row that is unique in all columns together. "
    "Whoever has another copy of the row can link the two with certainty.|share"
)
ATTACKERS = (
    "A prosecutor's guess is right with a chance of at most {prosecutor} ({average} "
    "on average), and a journalist's with a chance of at most {journalist}. A "
    "marketer who tries everybody finds {marketer} of the {whom}."
)
PLANNED = (
    "{models}. Groups are counted in {whom}. Method: {method}. Suppressed at most: "
    "{limit}."
)
TIMES = (
    "For somebody who knows a person's group, a value of {column} becomes up to "
    "{times} times more likely (t = {t})."
)
HEADER = "Budget: spent {spent} · reserved {held} · left {left}"
GROUPS = "The smallest group has {k} {whom}; {groups:,} groups hold {people:,} {whom}."
TOUCHED = "Suppressed: {share} of the {whom}; such rows are {way}."
UNIQUE = "Unique {whom}"
BEFORE = "Before and after"
DONE = "What was done"
SINGLED = "Singling out: can a person be picked out?"
INFERRED = "Inference: can a sensitive value be inferred?"
SEARCH = (
    "Full-domain: {nodes:,} combinations of levels; trying all of them takes about "
    "{seconds} s. A search with this limit usually takes less than {mostly} s, and "
    "at most about {most} s and {megabytes:,} MB."
)
SEVERAL = (
    "k counts people, and the rows of one person are in {groups} groups on average. "
    "k does not protect against somebody who knows several rows of one person and "
    "knows that they belong together."
)
UNSEEN = (
    "There are too many combinations of levels to try them all: these are the best "
    "that were found. No other combination can be better by more than {gap}."
)
LOSES = "The ring: {method} at k = {k} has an information loss of {loss}.|"
REVEALED = (
    "In {classes:,} groups with {share} of the {whom}, everybody has the same value "
    "of {column}, so k does not protect it. Require l-diversity."
)
READY = (
    "The anonymized table is ready: {models}. It is noted in the ledger, but "
    "differential privacy does not cover it."
)
LOST = "The columns lost {ncp} of their detail; the information loss is {loss}."
AGAIN = (
    "{share} of the {whom} are still unique for somebody who also knows the "
    "unchanged columns.|share"
)
PAGE = {
    "{column} ({share})|share": lambda t: (
        lambda shown: any(agrees(shown, share) for share in singled_shares(t))
    ),
    "{number} rows|number": lambda t: t.cap,
    f"{HEADER}|spent": lambda t: 0,
    f"{HEADER}|held": lambda t: 0,
    f"{HEADER}|left": lambda t: 1,
    LOSS: lambda t: 3,
    f"{SEARCH}|nodes": lambda t: math.prod(
        len(t.plan["hierarchies"][name]) for name in t.known
    ),
    f"{CHOSEN}|loss": lambda t: t.loss(t.node, t.suppressed),
    f"{CHOSEN}|rows": lambda t: int(t.suppressed.sum()),
    f"{CHOSEN}|classes": lambda t: (
        People(t.made[~t.suppressed[t.made.index]], t.known, t.person).sizes.size
    ),
    (
        "Roles of the columns: others may know {known}, and {secret} should stay "
        "unknown|known"
    ): lambda t: len(
        t.known,
    ),
    (
        "Roles of the columns: others may know {known}, and {secret} should stay "
        "unknown|secret"
    ): lambda t: len(
        t.secrets,
    ),
    f"{UNIQUE} > value": lambda t: t.after.unique,
    f"{UNIQUE} > delta": lambda t: t.before.unique,
    "Highest risk > value": lambda t: 1 / t.after.sizes.min(),
    "Highest risk > delta": lambda t: 1 / t.before.sizes.min(),
    "generalized > value": lambda t: np.mean(list(t.given_up.values())),
    "suppressed rows > value": lambda t: t.suppressed.mean(),
    f"{KEPT}|k": lambda t: t.after.sizes.min(),
    f"{KEPT}|average": lambda t: t.after.sizes.mean(),
    f"{KEPT}|loss": lambda t: t.loss(t.node, t.suppressed),
    f"{KEPT}|share": lambda t: t.share(t.suppressed),
    f"{BEFORE} > level": lambda t: t.levels,
    f"{BEFORE} > such as": lambda t: [
        t.plan["hierarchies"][n][t.plan["node"][n]][0] for n in t.known
    ],
    f"{BEFORE} > generalized": lambda t: list(t.given_up.values()),
    f"{BEFORE} > suppressed": lambda t: [t.starred(n) for n in t.known],
    f"{BEFORE} > moved": lambda t: [t.moved(n) for n in t.known],
    AGAIN: lambda t: t.others.unique,
    f"{BEFORE} > share of rows": spread,
    f"{BEFORE} > share of people": spread,
    (
        "The highest chance that a guess is right is {share}; it should be at most "
        "{low}.|share"
    ): lambda t: 1 / t.crowds.min(),
    ALONE: lambda t: t.alike.unique,
    f"{TIMES}|times": lambda t: t.after.times(t.secrets[0]),
    f"{TIMES}|t": lambda t: t.after.t(t.secrets[0]),
    f"{REVEALED}|classes": lambda t: t.after.revealing(t.secrets[0])[0],
    f"{REVEALED}|share": lambda t: t.after.revealing(t.secrets[0])[1],
    f"{LOSES}loss": lambda t: t.loss(t.node, t.suppressed),
    f"{LOSES}k": lambda t: t.k,
    f"{UNSEEN}|gap": lambda t: lambda shown: float(shown.split()[0]) / 100 >= t.saved,
    f"{SEVERAL}|groups": lambda t: t.after.groups_each,
    (
        "Everybody is in a group of at least {k} {whom}, and no group reveals a "
        "sensitive value.|k"
    ): (lambda t: t.after.sizes.min()),
    f"{BEFORE} > mean, before": lambda t: [
        t.raw[each].astype(float).mean() for each in t.plan["coded"]
    ],
    f"{BEFORE} > mean, after": lambda t: [
        t.rows[each].astype(float).mean() for each in t.plan["coded"]
    ],
    f"{BEFORE} > standard deviation, before": lambda t: [
        deviation(t.raw[n]) for n in t.plan["coded"]
    ],
    f"{BEFORE} > standard deviation, after": lambda t: [
        deviation(t.rows[n]) for n in t.plan["coded"]
    ],
    f"{BEFORE} > IL1s": lambda t: [
        np.mean(np.abs(t.raw[n].astype(float) - t.rows[n].astype(float)))
        / (2**0.5 * deviation(t.raw[n]))
        for n in t.plan["coded"]
    ],
    f"{READY}|models": lambda t: "; ".join(t.promised),
} | {
    f"Anonymize > {field}": lambda t, field=field: t.frontier(field)
    for field in (
        "k",
        "suppressed, at most",
        "information loss",
        "levels",
        "suppressed rows",
        "people with a suppressed row",
    )
}


def _context(shown: Any) -> bool:
    """Nobody stated anything, nothing was paid for, and one table was made."""
    before = re.compile(
        r"0 differentially private results?; 1 anonymized tables?, this one included; "
        r"0 exact tables?"
    )
    *answers, released = shown
    return set(answers) == {"not stated"} and bool(before.fullmatch(released))


SIGNED = {
    "Context, as the owner states it > answer": lambda _truth: _context,
    "Why > value": lambda t: about(t),
    ALONE: PAGE[ALONE],
    f"{UNSEEN}|gap": PAGE[f"{UNSEEN}|gap"],
    (
        "The highest chance that a guess is right is {share}; it should be at most "
        "{low}.|share"
    ): lambda t: 1 / t.crowds.min(),
    (
        "Everybody is in a group of at least {k} {whom}, and no group reveals a "
        "sensitive value.|k"
    ): (lambda t: t.after.sizes.min()),
    f"{PLANNED}|models": lambda t: "; ".join(t.promised),
    f"{PLANNED}|limit": lambda t: t.plan["limit"],
    f"{TOUCHED}|share": lambda t: t.share(t.suppressed),
    f"{LOST}|ncp": PAGE["generalized > value"],
    f"{LOST}|loss": PAGE[f"{KEPT}|loss"],
    f"{DONE} > level": lambda t: in_order(t, dict(zip(t.known, t.levels, strict=True))),
    f"{DONE} > labels": lambda t: in_order(
        t, {name: kinds(t, name) for name in t.known}
    ),
    f"{DONE} > generalized": lambda t: (
        lambda shown: agrees(
            [each for each in shown if each],
            [t.given_up[name] for name in t.plan["roles"] if name in t.known],
        )
    ),
    f"{GROUPS}|k": lambda t: t.after.sizes.min(),
    f"{GROUPS}|groups": lambda t: t.after.sizes.size,
    f"{GROUPS}|people": lambda t: len(t.after),
    f"{ATTACKERS}|prosecutor": lambda t: 1 / t.after.sizes.min(),
    f"{ATTACKERS}|average": lambda t: t.after.average_risk,
    f"{ATTACKERS}|journalist": lambda t: 1 / t.crowds.min(),
    f"{ATTACKERS}|marketer": lambda t: (1 / t.crowds).mean(),
    "The suppressed rows are published as one group of {people:,} {whom}.|people": lambda t: (
        t.hides
    ),
    f"{SINGLED} > share, prosecutor": lambda t: shares(t.after.smallest, RISKS),
    f"{SINGLED} > share, journalist": lambda t: shares(t.crowds, RISKS),
    f"{INFERRED} > fewest different values (l)": lambda t: [
        t.after.different(s) for s in t.secrets
    ],
    f"{INFERRED} > entropy l": lambda t: [t.after.entropy_l(s) for s in t.secrets],
    f"{INFERRED} > (c, 2)-diverse for c above": lambda t: [
        t.after.recursive_c(s) for s in t.secrets
    ],
    f"{INFERRED} > t": lambda t: [t.after.t(s) for s in t.secrets],
    f"{INFERRED} > t, ordered": lambda t: [t.after.t_ordered(s) for s in t.secrets],
    f"{INFERRED} > groups that reveal the value": lambda t: [
        t.after.revealing(s)[0] for s in t.secrets
    ],
    f"{TIMES}|times": PAGE[f"{TIMES}|times"],
    f"{TIMES}|t": PAGE[f"{TIMES}|t"],
    **{name: PAGE[name] for name in (f"{REVEALED}|classes", f"{REVEALED}|share")},
    f"{SEVERAL}|groups": PAGE[f"{SEVERAL}|groups"],
    AGAIN: PAGE[AGAIN],
}
WARNED = (
    f"{TIMES}|times",
    f"{TIMES}|t",
    f"{REVEALED}|classes",
    f"{REVEALED}|share",
    f"{SEVERAL}|groups",
    AGAIN,
)
SHOWN = {
    (
        "Rows of a table of personal data, made coarser until people look alike: "
        "{models}.|models"
    ): (lambda t: "; ".join(t.promised)),
    "{number:,} rows of {columns} columns|number": lambda t: len(t.made),
    "{number:,} rows of {columns} columns|columns": lambda t: t.made.shape[1],
    "{number:,} more rows are in the table.|number": lambda t: len(t.made) - 100,
} | {name: SIGNED[name] for name in WARNED}
ONE_COLUMN = "One column, before and after"


class Static(frozenset[str]):
    """Ids that say nothing of the table, and those of the chart of one column, which
    tests/evaluation/table/test_trial.py holds.
    """

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or str(name).startswith(f"{ONE_COLUMN} > ")


STATIC = Static(
    {
        "Groups of at least {k} {whom}|k",  # the least for everybody
        "Take these {number} steps|number",  # buttons beside it
        # of the machine
        *(f"{SEARCH}|{field}" for field in ("seconds", "mostly", "most", "megabytes")),
        (
            "The highest chance that a guess is right is {share}; it should be at "
            "most {low}.|low"
        ),
        (
            "Categories: values in fewer than {rare} rows merged, then groups of 2, "
            "4, 8, 16 of similar frequency|rare"
        ),
        *(
            f"Numbers: intervals {{width:g}} to {{width_2:g}} wide, with open ends|width{end}"
            for end in ("", "_2")
        ),
        f"{BEFORE} > people in their group",  # classes of sizes and of risks
        f"{BEFORE} > of",
        f"{SINGLED} > risk that a guess is right",
    }
)
"""Here begins the guided example, the end of the page: small tables of a book, the same
for every table.
"""


def about(t: Truth) -> Any:
    """Name, date, program, rows before and after, line and digest of the ledger."""
    rows = [f"{len(t.population):,} → {len(t.made):,}"]
    return lambda shown: (
        list(shown[2:3]) == rows
        and all(re.fullmatch(r"[0-9]+ · [0-9a-f]+", each) for each in shown[3:])
    )


def in_order(t: Truth, of_known: dict[str, str]) -> list[str]:
    """Cells of the known columns, in the order of all columns."""
    return [of_known.get(name, "") for name in t.plan["roles"]]


def kinds(t: Truth, name: str) -> str:
    levels = t.plan["hierarchies"][name]
    return f"{len(set(levels[t.plan['node'][name]])):,} / {len(levels[0]):,}"


def of_cells(t: Truth | Averaged) -> dict[str, Any]:
    """Facts of the cells that are shown: rows that leave, and the first hierarchy, by
    the plan.
    """
    first = next(name for name in t.plan["roles"] if name in t.known)
    shown: dict[str, list[list[str]]] = {
        f"{name}": [list(t.csv[name][:200])] for name in t.csv
    }
    for level, labels in enumerate(t.plan["hierarchies"][first]):
        shown.setdefault(f"level {level}" if level else "value", []).append(labels)
    return {f"Anonymize > {name}": _one_of(ways) for name, ways in shown.items()}


def _one_of(ways: list[list[str]]) -> Any:
    return lambda _t: lambda shown: [text(str(each)) for each in shown] in ways


WALKED = {
    "visits": 0.05,
    "odd cells": 0.05,
    "staff": 0.02,
    "missing": 0.0,
    "constants": 0.02,
}
"""Tables with the limit of suppression."""


NOTED = {  # wards change from visit to visit: people are in several groups
    "visits": session.TakeAdvice(
        known_columns=("age", "ward"), secret_columns=("days",)
    ),
    "booleans": session.TakeAdvice(known_columns=("age", "ill"), secret_columns=()),
    "measured": session.TakeAdvice(
        known_columns=("height", "weight"), secret_columns=("ward",)
    ),
    "changed": session.TakeAdvice(
        known_columns=("age", "sex"), secret_columns=("ward",)
    ),
}
ASKED = {
    "secret": ("selectbox", "Requirement for what should stay unknown"),
    "c": ("number_input", "c"),
    "beta": ("number_input", "β"),
    "average": ("number_input", "Average risk allowed"),
    "days step": ("number_input", "days: step"),
    "days high": ("number_input", "days: high"),
    "subset": ("selectbox", "The table is a population"),
    "presence": ("slider", "Published share of the population in each group"),
    "method": ("selectbox", "Method"),
    "coarser": ("multiselect", "Columns to round or to change at random"),
    "ward": ("number_input", "ward: Change it at random"),
    "pay": ("number_input", "pay: Change it at random"),
    "high": ("number_input", "pay: high"),
}
"""Fields by a short name; the others are sliders by their label."""


def publish_undecided(tab: MarkedTab) -> None:
    """Answer the question about texts of which nothing is known: as they are."""
    names = tab.session.own(AnonymizeState).undecided_columns
    if names:
        tab.set("multiselect", "Publish as they are", names)
        tab.press("Publish them as they are")


def after_making(
    odd: Odd,
    monkeypatch: pytest.MonkeyPatch,
    **demanded: Any,
) -> tuple[MarkedTab, dict[str, bytes]]:
    """The page after a table was made, and what can be downloaded there."""
    tab = opened(odd)
    files = downloads(monkeypatch)
    if odd.name in NOTED:
        tab.session.slots[session.TakeAdvice] = NOTED[odd.name]
    tab.go("anonymize")
    publish_undecided(tab)
    for label, value in demanded.items():
        tab.set(*ASKED.get(label, ("slider", label)), value)
    tab.set("select_slider", "suppressed, at most", WALKED.get(odd.name, 0.05)).press(
        "Make the anonymized table",
    )
    return tab, files


def walked(
    name: str,
    marks: Marking,
    monkeypatch: pytest.MonkeyPatch,
    **demanded: Any,
) -> tuple[list[Figure], dict[str, bytes], Truth]:
    """The page after a table was made, what can be downloaded there, and what is
    true.
    """
    tab, files = after_making(TABLES[name], monkeypatch, **demanded)
    return figures(tab, marks), files, Truth(TABLES[name], files)


def compared(
    seen: list[Figure], files: dict[str, bytes], marks: Marking, t: Truth | Averaged
) -> set[str]:
    """Check all three; the ids on the page that were compared."""
    found = check(seen, PAGE | of_cells(t), STATIC, t)
    check(of_report(files[REPORT], marks), SIGNED, STATIC, t)
    rows = {
        f"{{number}} rows of {{columns}} columns > {name}": _one_of(
            [list(t.csv[name][:100])]
        )
        for name in t.csv
    }
    check(of_report(files[FILE], marks), SHOWN | rows, STATIC, t)
    return found


@pytest.mark.parametrize("name", but_first(2, WALKED))
def test_every_figure_is_of_the_table(
    name: str, marking: Marking, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page or a report would say of people what is not so, or another table would
    leave.
    """
    seen, files, t = walked(name, marking, monkeypatch)
    assert Counter(t.csv.itertuples(index=False, name=None)) == Counter(
        t.made.itertuples(index=False, name=None),
    )
    assert compared(seen, files, marking, t) >= {
        f"{UNIQUE} > value",
        f"{KEPT}|average",
        f"{BEFORE} > moved",
    }


def test_how_far_the_best_may_be_is_told(
    marking: Marking, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page would call the levels of a short search the best, or nearer to them than
    they are.
    """
    in_this_process(monkeypatch)
    monkeypatch.setattr(searches, "MAX_NODES", 0)
    monkeypatch.setattr(bounded, "MAX_WORK", 1)
    seen, files, t = walked("visits", marking, monkeypatch)
    assert f"{UNSEEN}|gap" in compared(seen, files, marking, t)


# a function has the module's name
MADE = importlib.import_module("dpcore.anonymization.apply").Anonymization
TRIED = [
    importlib.import_module(f"dpcore.evaluation.table.{name}")
    for name in ("trial", "residual_risk")
]


@pytest.mark.parametrize(
    ("name", "places", "named", "wrong"),
    [
        # rows in place of people
        ("visits", TRIED, "person_codes", lambda frame, column: None),
        # visible groups alone
        (
            "odd cells",
            [MADE],
            "is_published",
            property(lambda made: ~made.is_suppressed),
        ),
        # share of rows
        (
            "visits",
            [MADE],
            "quality",
            property(lambda made: measure_quality(made.recoded_table)),
        ),
    ],
)
def test_a_wrong_base_is_caught(
    name: str,
    places: list[Any],
    named: str,
    wrong: Any,
    marking: Marking,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The test above would not see figures of rows, of visible groups alone, or a share
    of rows.
    """
    in_this_process(monkeypatch)
    for place in places:
        monkeypatch.setattr(place, named, wrong)
    seen, files, t = walked(name, marking, monkeypatch)
    with pytest.raises(AssertionError, match="not true"):
        compared(seen, files, marking, t)


BESIDE = "What this does not promise > "
FREE = ("cell suppression", "mondrian", "local recoding")


class Local:
    """A table of 300 rows whose groups were found row by row: what its file says, in
    the place of a plan.
    """

    def __init__(self, files: dict[str, bytes]) -> None:
        odd = TABLES["300 rows"]
        self.rows = odd.frame.astype(str)
        self.csv = pd.read_csv(io.BytesIO(files["CSV"]), dtype=str)
        self.known = ["age", "city"]
        one = pd.Series(range(len(self.csv)))
        self.before, self.after = (
            People(self.rows, self.known, one),
            People(self.csv, self.known, one),
        )
        self.alike = People(self.csv, [*self.csv], one)
        self.values = {name: sorted(self.rows[name].unique()) for name in self.known}
        self.covered = {
            name: self.csv[name].map(lambda label, name=name: self._of(name, label))
            for name in self.known
        }
        self.given_up = {
            name: float(
                np.mean([*map(self._share, self.csv[name], self.covered[name])])
            )
            for name in self.known
        }

    def _share(self, label: str, values: tuple[str, ...]) -> float:
        """Of a range, its part of the column's range; of other labels, the part of the
        other values.
        """
        every = next(each for each in self.values.values() if values[0] in each)
        if label.startswith("["):
            return (int(values[-1]) - int(values[0])) / (int(every[-1]) - int(every[0]))
        return (len(values) - 1) / (len(every) - 1)

    def _of(self, name: str, label: str) -> tuple[str, ...]:
        """Values of the table that a label may stand for."""
        if label == "*":
            return tuple(self.values[name])
        ends = [int(each) for each in re.findall(r"\d+", label)]
        return tuple(
            v
            for v in self.values[name]
            if v == label or (len(ends) == 2 and ends[0] <= int(v) <= ends[1])
        )

    @property
    def loss(self) -> float:
        return math.prod(1 + share for share in self.given_up.values()) ** (1 / 2) - 1

    def moved(self, name: str) -> float:
        """Total variation between a column and what a reader expects: all values of a
        label alike.
        """
        expected: Counter[str] = Counter()
        for values in self.covered[name]:
            for value in values:
                expected[value] += 1 / len(values)
        true = Counter(self.rows[name])
        return (
            sum(abs(true[value] - expected[value]) for value in self.values[name])
            / 2
            / len(self.rows)
        )


def of_local(t: Local, made: list[tuple[float, float]]) -> dict[str, Any]:
    """What is true of the page; `made` has detail and loss of the methods that were
    tried before.
    """
    sizes = [*shares(t.before.smallest, SIZES), *shares(t.after.smallest, SIZES)]
    true: dict[str, Any] = {
        f"{HEADER}|spent": 0,
        f"{HEADER}|held": 0,
        f"{HEADER}|left": 1,
        LOSS: 3,
        " > value": lambda shown: "300 rows.csv" in shown,
        f"{READY}|models": "5-anonymity",
        LOSES + "loss": t.loss,
        LOSES + "k": 5,
        "Anonymize > information loss": lambda shown: (
            len(shown) > 1 or agrees(shown, [t.loss])
        ),
        f"{UNIQUE} > value": t.after.unique,
        f"{UNIQUE} > delta": t.before.unique,
        "Highest risk > value": 1 / t.after.sizes.min(),
        "Highest risk > delta": 1 / t.before.sizes.min(),
        "generalized > value": float(np.mean(list(t.given_up.values()))),
        "suppressed rows > value": 0,
        f"{KEPT}|k": t.after.sizes.min(),
        f"{KEPT}|average": t.after.sizes.mean(),
        f"{KEPT}|loss": t.loss,
        f"{KEPT}|share": 0,
        f"{BEFORE} > generalized": list(t.given_up.values()),
        f"{BEFORE} > suppressed": [t.csv[name].eq("*").mean() for name in t.known],
        f"{BEFORE} > moved": [t.moved(name) for name in t.known],
        f"{BEFORE} > share of rows": rounded(sizes),
        AGAIN: t.alike.unique,
        ALONE: t.alike.unique,
        (
            "The highest chance that a guess is right is {share}; it should be at "
            "most {low}.|share"
        ): 1 / t.after.sizes.min(),
        (
            "Roles of the columns: others may know {known}, and {secret} should "
            "stay unknown|known"
        ): 2,
        (
            "Roles of the columns: others may know {known}, and {secret} should "
            "stay unknown|secret"
        ): 0,
        **{f"Anonymize > {name}": [*t.csv[name][:200]] for name in t.csv},
        f"{BESIDE}generalized": lambda shown: agrees(
            shown[1:], [way[0] for way in made]
        ),
        f"{BESIDE}information loss": lambda shown: agrees(
            shown[1:], [way[1] for way in made]
        ),
        f"{BESIDE}suppressed": lambda shown: agrees(shown[1:], [0] * len(made)),
        f"{BESIDE}size of the smallest group": lambda shown: [*shown] == ["5"] * 4,
    }
    versions = (
        "Other versions of this table were made before ({others} in all). Together, "
        "versions can reveal "
    )
    true[
        versions + "more than each one alone, and no budget accounts for that.|others"
    ] = 2
    return {name: lambda _, value=value: value for name, value in true.items()}


def test_methods_that_find_groups_row_by_row(
    marking: Marking, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Figures of another method, or of the search, would stand beside the table that
    was made.
    """
    tab = opened(TABLES["300 rows"])
    files = downloads(monkeypatch)
    tab.go("anonymize")
    made: dict[str, tuple[float, float]] = {}
    of_search = {
        f"Anonymize > {name}"
        for name in ("k", "suppressed, at most", "levels", "suppressed rows")
    }
    of_search |= {f"{SEARCH}|nodes", f"{BESIDE}seconds", "Anonymize > value"}
    of_search |= {f"Anonymize > level {level}" for level in range(1, 4)}
    for method in FREE:
        tab.set("selectbox", "Method", method).press("Make the anonymized table")
        t = Local(files)
        made[method] = (float(np.mean(list(t.given_up.values()))), t.loss)
    tab.press("Compare the methods")
    seen = figures(tab, marking)
    order = [
        made[method] for method in ("local recoding", "cell suppression", "mondrian")
    ]
    compared_ids = check(seen, of_local(t, order), Static(STATIC | of_search), None)
    assert compared_ids >= {
        f"{BESIDE}information loss",
        LOSES + "loss",
        f"{BEFORE} > moved",
    }


ATTACK = (
    "**Of the {people:,} people on “{name}”, {unique:,} are found with certainty.** "
    "{matched:,} match rows of the table; each of them matches at least "
    "{smallest:,}.|"
)


def test_the_attack_with_a_list(
    marking: Marking, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever holds a list would find others, or more, than the page says."""
    tab = opened(TABLES["300 rows"])
    files = downloads(monkeypatch)
    tab.go("anonymize").set("selectbox", "Method", "full-domain")
    tab.press("Make the anonymized table")
    known = ["age", "city"]
    listed = pd.concat(
        [
            TABLES["300 rows"].frame[known][:80],
            pd.DataFrame({"age": [99, 30], "city": ["Wien", "Bonn"]}),
        ],
    )
    place = next(
        each
        for each in tab.at.file_uploader
        if bare(each.label).startswith("A list of known")
    )
    place.upload("list.csv", listed.to_csv(index=False).encode(), "text/csv").run()
    plan = json.loads(files["Plan (JSON, internal)"])
    rows = pd.read_csv(io.BytesIO(files["CSV"]), dtype=str)

    def labels(name: str, value: str) -> set[str]:
        levels = plan["hierarchies"][name]
        return (
            {level[levels[0].index(value)] for level in levels}
            if value in levels[0]
            else {"*"}
        )

    met = np.array(
        [
            np.logical_and.reduce(
                [
                    rows[name].isin({"*", *labels(name, str(value))})
                    for name, value in person.items()
                ],
            ).sum()
            for person in listed.to_dict("records")
        ],
    )
    facts = {
        ATTACK + "people": len(listed),
        ATTACK + "unique": (met == 1).sum(),
        ATTACK + "matched": (met > 0).sum(),
        ATTACK + "smallest": met[met > 0].min(),
    }
    assert 0 < facts[ATTACK + "matched"] < len(listed)
    seen = [each for each in figures(tab, marking) if each.id.startswith(ATTACK)]
    assert check(
        seen,
        {name: lambda _, true=true: true for name, true in facts.items()},
        (),
        None,
    ) == {
        *facts,
    }


@pytest.mark.parametrize("name", but_first(1, ["visits", "odd cells"]))
def test_the_levels_one_step_away_are_of_the_table(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A step would be chosen by a cost, or by a smallest group, that it does not
    have.
    """
    tab, files = after_making(TABLES[name], monkeypatch)
    t = Truth(TABLES[name], files)
    tab.set("toggle", "Show what one level more or less would change", True)
    shown = next(
        each.value for each in tab.at.dataframe if "meets the demands" in each.value
    )
    assert len(shown) == 1 + sum(
        (t.plan["node"][column] > 0)
        + (t.plan["node"][column] < len(t.plan["hierarchies"][column]) - 1)
        for column in t.known
    )
    allowed = math.floor(t.plan["limit"] * t.person.nunique())
    for step in shown.itertuples(index=False):
        column, level = re.fullmatch(r"(.*?)(?: \d+ → (\d+))?", step[0]).groups()
        node = tuple(
            int(level) if each == column else t.plan["node"][each] for each in t.known
        )
        hidden = t.hidden(node, t.k)
        labels = t.labels(node)[~hidden]
        kept = t.person[~hidden].groupby([labels[each] for each in t.known]).nunique()
        assert agrees([step[1]], [t.loss(node, hidden)])
        assert int(step[2].replace(",", "")) == (kept.min() if len(kept) else 0)
        assert int(step[3].replace(",", "")) == hidden.sum()
        assert (
            int(step[4].replace(",", ""))
            == t.labels(node)[~hidden].drop_duplicates().shape[0]
        )
        assert (step[5] == "yes") == (t.person[hidden].nunique() <= allowed)
