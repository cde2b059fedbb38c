"""The Audit page and its printed form: every figure again from the raw rows, by
people.
"""

from __future__ import annotations

import io
import itertools
import re
from contextlib import suppress
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.special import gammaln
from scipy.stats import binom, hypergeom, nbinom, poisson

from dpcore.anonymization.hierarchies.suggest import suggest_hierarchy
from dpcore.tables.classes import class_index
from tests.tiers import but_first
from tests.truth.figures import Figure, MarkedTab, Marking, agrees, bare, check, figures
from tests.truth.groups import MISSING, People, cells
from tests.truth.reports import downloads, in_this_process, of_report
from tests.truth.tables import TABLES, Odd, budget_facts, opened

REPORT = "Download as one HTML file"
SETS = "Risk by columns known"
CHANGES = "Leaving out or adding one column"
UNIQUE_SHARE = "share of people who are unique"
MORE = (
    "{worst} of the people are unique as soon as somebody also knows {column}. "
    "Unique without it, by {columns}: {share}."
)
LINKED = (
    "Of the {people:,} people on “{name}”, {matched} match at least one person in "
    "the table. {unique} are found with certainty: one person on the list matches "
    "exactly one in the table."
)
GUESSED = (
    "{source}: an attacker who does not know who is in the table (a journalist) is "
    "right with a chance of at most {journalist}. An attacker who wants to find as "
    "many people as possible (a marketer) finds {marketer} of them."
)
LISTED = pd.concat(  # some staff, some of them twice, and somebody who is not
    [
        TABLES["staff"].frame[["Abteilung", "Eintritt"]][:40],
        TABLES["staff"].frame[["Abteilung", "Eintritt"]][30:60],
        pd.DataFrame({"Abteilung": ["Lager"], "Eintritt": ["1901-01-01"]}),
    ],
)
ONE = "Is this anonymous?"
VALUE = (
    "{column} is {value} with a chance of {chance}; for anybody in the table, the "
    "chance is {before}."
)
OFTEN = (
    "The person has {value} in {column} at least once with a chance of {chance}; for "
    "anybody in the table, the chance is {before}."
)
STEP = (
    "{column} in {labels:,} values instead of {values:,} ({cost} of its detail is lost)"
)
THEN = (
    'With these changes the answer becomes "{answer}": {changes}. Then {share} of the '
    "people are unique."
)
BEST = (
    'The answer stays "{answer}" with these changes, but they help most: {changes}. '
    "Then {share} of the people are unique."
)
GIVEN = "What groups give away"
STEPS = r"{} in ([\d,]+) values instead of ([\d,]+) \(([^)]*) of its detail is lost\)"
SHAPES = {  # of columns that look like identifiers
    "patient_id": r"\d{4}",
    "admitted": r"\d{4}-\d\d-\d\d",
    "born": r"\d{4}-\d\d-\d\d",
    "Eintritt": r"\d{4}-\d\d-\d\d",
    "city": r"[\w.() ]+",
    "Nachname": r"[A-Z][a-z]+(-[A-Z][a-z]+|-\d+)?",
}


class Truth:
    """A table, what was chosen on the page, and what follows.

    Attributes:
        known: what others may know. secrets: what should stay unknown.
        bars: labels of the bars of changes. values: of the secret, in the table of one
            person.
        ways: sentences of changes that would help. alike: rows of the person's group.
    """

    def __init__(
        self,
        odd: Odd,
        tab: MarkedTab,
        seen: list[Figure],
        asked: tuple[str, str] | None,
    ) -> None:
        self.rows = cells(odd.content)
        self.cap = odd.cap
        self.person = (
            self.rows[odd.id] if odd.id else pd.Series(self.rows.index, self.rows.index)
        )
        self.known = _chosen(tab, "What others may know")
        self.secrets = _chosen(tab, "What should stay unknown")
        self.all = self.of(self.known)
        self.bars, self.values = (
            next((each.shown for each in seen if each.id == name), ())
            for name in (f"{CHANGES} > of", f"{ONE} > value")
        )
        self.ways = [
            line
            for each in tab.at.markdown
            for line in bare(each.value).splitlines()
            if "With these changes" in line
        ]
        chosen = [
            each
            for size in (1, 2, 3)
            for each in itertools.combinations(self.known, min(size, len(self.known)))
        ]
        self.sets = {each: self.of(each) for each in chosen}
        self.riskiest = sorted(
            self.sets, key=lambda each: (-self.sets[each].unique, len(each))
        )[:12]
        if asked:
            self.alike = self.rows[self.rows[asked[0]] == asked[1]]

    def of(self, columns: Any, rows: pd.DataFrame | None = None) -> People:
        return People(self.rows if rows is None else rows, list(columns), self.person)

    def unique_after(self, label: str) -> float:
        """Unique people once the column of a bar is left out, or taken in."""
        way, _blank, name = label.partition(" ")
        kept = [each for each in self.known if each != name]
        return self.of(kept if way == "without" else [*self.known, name]).unique

    @cached_property
    def listed(self) -> pd.DataFrame:
        """By group, how many people are in the table, and on the list."""
        return pd.concat(
            [self.all.sizes, LISTED.groupby(self.known).size()],
            axis=1,
            keys=["table", "list"],
        )

    @property
    def of_list(self) -> pd.Series:
        """Of each person, 1 / people of the population who look alike: those on the
        list, or in the table.
        """
        crowd = self.listed.max(axis=1)
        return 1 / self.rows.set_index(self.known).index.to_series().map(crowd)

    @property
    def worst(self) -> float:
        return max(
            self.unique_after(each) for each in self.bars if each.startswith("with ")
        )

    @property
    def least(self) -> float:
        """Unique by the smallest set that makes nine in ten of the unique people
        unique.
        """
        shares = {each: self.sets[each].unique for each in self.sets} | {
            tuple(self.known): self.all.unique
        }
        enough = [each for each in shares if shares[each] >= 0.9 * max(shares.values())]
        return max(
            shares[each] for each in enough if len(each) == min(map(len, enough))
        )

    def steps(self) -> list[dict[str, float]]:
        """What each sentence of changes says, after working it out again: labels,
        values, cost and share.
        """
        found = []
        for way in self.ways:
            rows = self.rows.copy()
            share = way.rpartition("Then ")[2]
            for name in self.rows:
                if f"leave out {name} (all" in way:
                    rows[name] = "*"
                if hit := re.search(STEPS.format(re.escape(name)), way):
                    rows[name], true = self.coarser(name, int(hit[1].replace(",", "")))
                    assert agrees(hit[2], self.rows[name].nunique()), way
                    assert agrees(hit[3], true), (way, true)
                    labels = int(hit[1].replace(",", ""))
                    found.append(
                        {
                            "labels": labels,
                            "values": self.rows[name].nunique(),
                            "cost": true,
                        }
                    )
            found.append({"share": self.of(self.known, rows).unique})
            assert agrees(share, found[-1]["share"]), way
        return found

    def coarser(self, name: str, labels: int) -> tuple[pd.Series, float]:
        """A column by the proposed level with so many labels, and the share of its
        detail that is lost.
        """
        column = self.rows[name].mask(self.rows[name] == MISSING)
        with suppress(ValueError):
            column = pd.to_numeric(column)
        tree, leaf = suggest_hierarchy(column).read_column(column)
        level = next(level for level in tree.levels if len(set(level)) == labels)
        found = pd.Series(np.array(level)[leaf], self.rows.index)
        stands = found.map(pd.Series(level).value_counts())
        return found, float((stands - 1).mean() / (len(level) - 1))


def _chosen(tab: MarkedTab, label: str) -> list[str]:
    return list(
        next(
            each for each in tab.at.multiselect if bare(each.label).startswith(label)
        ).value
    )


def one_of(field: str) -> Any:
    return lambda t: (
        lambda shown: any(
            agrees(shown, each[field]) for each in t.steps() if field in each
        )
    )


def near(true: list[float]) -> Any:
    """Bars; their table has three digits."""
    return lambda shown: (
        len(shown) == len(true)
        and (
            np.allclose(shown, true, rtol=1e-9)
            or np.allclose(shown, true, rtol=5e-3, atol=1e-9)
        )
    )


def shaped(t: Truth) -> float:
    """The least share of distinct values with the shape of their kind."""
    shares = [
        t.rows[name].drop_duplicates().str.fullmatch(SHAPES[name]).mean()
        for name in SHAPES
        if name in t.rows
    ]
    return float(min(shares))


def separation(people: People) -> float:
    """Share of pairs that are told apart; who is in several groups counts in each."""
    total = people.sizes.sum()
    return float(1 - (people.sizes * (people.sizes - 1)).sum() / (total * (total - 1)))


def chances(t: Truth, rows: pd.DataFrame) -> pd.Series:
    """That a person of some rows has a value of the secret in one of them; in the order
    of the page's table.
    """
    held = rows.assign(person=t.person)[[t.secrets[0], "person"]].drop_duplicates()
    people = held["person"].nunique()
    return held[t.secrets[0]].value_counts()[list(t.values)] / people


def likely(t: Truth) -> tuple[str, float, float]:
    """The likeliest value of one person, its chance in the group, and in the whole
    table.
    """
    assert chances(t, t.alike).is_monotonic_decreasing
    return t.values[0], chances(t, t.alike).iloc[0], chances(t, t.rows).iloc[0]


PAGE = {
    "Columns that look like identifiers > why": lambda t: (
        lambda shown: all(agrees(each, shaped(t)) for each in shown)
    ),
    f"{LINKED}|people": lambda t: len(LISTED),
    f"{LINKED}|matched": lambda t: t.listed.dropna()["list"].sum(),
    f"{LINKED}|unique": lambda t: (t.listed == 1).all(axis=1).sum(),
    f"{GUESSED}|journalist": lambda t: t.of_list.max(),
    f"{GUESSED}|marketer": lambda t: t.of_list.mean(),
    "{number} rows|number": lambda t: t.cap,
    **{name: lambda t, true=true: true for name, true in budget_facts(0, 0, 3).items()},
    f"{MORE}|worst": lambda t: t.worst,
    f"{MORE}|share": lambda t: t.least,
    f"{MORE}|columns": lambda t: (
        lambda shown: t.of(re.split(", | and ", shown)).unique == t.least
    ),
    "{share} of the people are unique as soon as somebody knows {columns}.|share": lambda t: (
        t.least
    ),
    "Nobody is unique by {columns}; the smallest group has {k} people.|k": lambda t: (
        t.all.sizes.min()
    ),
    f"{STEP}|labels": one_of("labels"),
    f"{STEP}|values": one_of("values"),
    f"{STEP}|cost": one_of("cost"),
    f"{THEN}|share": one_of("share"),
    f"{BEST}|share": one_of("share"),
    **dict.fromkeys(
        (f"{SETS} > share", f"{SETS} > {UNIQUE_SHARE}"),  # of the list, of the bars
        lambda t: near(
            [t.sets[each].unique for each in t.riskiest if t.sets[each].unique]
        ),
    ),
    **dict.fromkeys(
        (f"{CHANGES} > share", f"{CHANGES} > {UNIQUE_SHARE}"),
        lambda t: near([t.unique_after(each) for each in t.bars]),
    ),
    (
        "Now {share} of the people are unique. Click a bar to leave its column out "
        "or to add it.|share"
    ): (lambda t: t.all.unique),
    (
        "An attacker who knows that somebody is in the table (a prosecutor) is"
        " right in {share} of the cases.|share"
    ): (lambda t: t.all.average_risk),
    "{share} of the people are in a group of fewer than {size}.|share": lambda t: (
        t.all.smallest < 5
    ).mean(),
    (
        "{share:.0%} of its distinct values have the form that is typical of this "
        "kind.|share"
    ): shaped,
    f"{GIVEN} > groups that reveal the value": lambda t: [
        t.all.revealing(each)[0] for each in t.secrets
    ],
    f"{GIVEN} > people in them": lambda t: [
        t.all.revealing(each)[1] for each in t.secrets
    ],
    f"{GIVEN} > fewest different values (l)": lambda t: [
        t.all.different(each) for each in t.secrets
    ],
    f"{GIVEN} > distance from the table (t)": lambda t: [
        t.all.t(each) for each in t.secrets
    ],
    "**{number:,} people fit.**|number": lambda t: t.person[t.alike.index].nunique(),
    f"{ONE} > value": lambda t: lambda shown: set(shown) == set(t.alike[t.secrets[0]]),
    f"{ONE} > chance in this group": lambda t: list(chances(t, t.alike)),
    f"{ONE} > in the whole table": lambda t: list(chances(t, t.rows)),
    **{
        f"{sentence}|{name}": lambda t, place=place: likely(t)[place]
        for sentence in (VALUE, OFTEN)
        for place, name in enumerate(("value", "chance", "before"))
    },
    f"{MORE}|column": lambda t: (
        lambda shown: t.unique_after(f"with {shown}") == t.worst
    ),
}
PRINTED = PAGE | {
    f"{SETS} > {UNIQUE_SHARE}": lambda t: [t.sets[each].unique for each in t.riskiest],
    f"{SETS} > distinction": lambda t: [
        t.sets[each].sizes.size / t.sets[each].sizes.sum() for each in t.riskiest
    ],
    f"{SETS} > separation": lambda t: [separation(t.sets[each]) for each in t.riskiest],
}
STATIC = {
    "{share} of the people are in a group of fewer than {size}.|size",  # what was chosen
    # how the file was written by the test, with its number of columns
    "column names from line {line}|line",
    "encoding {name}|name",
    # names of columns
    *(f"{{first}} and {{last}}|{place}" for place in ("first", "last")),
    f"{STEP}|column",
    "leave out {column} (all of its detail is lost)|column",
    f"{SETS} > of",
    f"{CHANGES} > of",
    f"{SETS} > columns",
}
WALKED: dict[str, tuple[str, str] | None] = {
    "visits": ("age", "20"),
    "odd cells": None,
    "staff": ("Abteilung", "Lager"),
    "wide": None,
    "missing": None,
    "dates": None,
}
"""Tables with what is known of one person."""


def walked(
    name: str, marks: Marking, monkeypatch: pytest.MonkeyPatch
) -> tuple[list[Figure], bytes, Truth]:
    tab = opened(TABLES[name])
    files = downloads(monkeypatch)
    tab.go("audit")
    if name == "wide":
        tab.set("multiselect", "What others may know", ["q00", "q01", "q02", "q03"])
    if asked := WALKED[name]:
        tab.set("text_input", *asked)
    if name == "staff":
        place = next(
            each
            for each in tab.at.file_uploader
            if bare(each.label).startswith("A list of known")
        )
        place.upload("list.csv", LISTED.to_csv(index=False).encode(), "text/csv").run()
    seen = figures(tab, marks)
    return seen, files[REPORT], Truth(TABLES[name], tab, seen, asked)


@pytest.mark.parametrize("name", but_first(2, WALKED))
def test_every_figure_is_of_the_people(
    name: str, marking: Marking, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page or its printed form would reassure, or alarm, by figures that are not
    so.
    """
    seen, report, t = walked(name, marking, monkeypatch)
    listed = {f"{LINKED}|unique", f"{GUESSED}|marketer"} if name == "staff" else set()
    assert check(seen, PAGE, STATIC, t) >= {f"{CHANGES} > {UNIQUE_SHARE}", *listed}
    assert check(of_report(report, marking), PRINTED, STATIC, t) >= {
        f"{SETS} > distinction"
    }


@pytest.mark.parametrize(
    ("place", "wrong"),
    [
        # rows in place of people
        ("dpcore.evaluation.table.audit.person_codes", lambda frame, column: None),
        (
            "dpcore.evaluation.table.verdict.unique_share",  # a share of rows
            lambda columns, person, rows=None: float(
                (np.bincount(classes := class_index(columns)) == 1)[classes].mean(),
            ),
        ),
    ],
)
def test_a_wrong_base_is_caught(
    place: str,
    wrong: Any,
    marking: Marking,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The test above would not see figures of rows, or shares of rows."""
    in_this_process(monkeypatch)
    monkeypatch.setattr(place, wrong)
    seen, _report, t = walked("visits", marking, monkeypatch)
    with pytest.raises(AssertionError, match="not true"):
        check(seen, PAGE, STATIC, t)


FIRST = (
    "{share} of the people are unique by one or two columns alone. They are the "
    "easiest to find.|share"
)
HEAVIEST = "{column} is involved in {share} of the risk: make it coarser first.|"
WAYS = (
    "In the whole population, an estimated {share} of the combinations of values "
    "are unique (by {model}'s model). Somebody with several rows may have several "
    "combinations.|share"
)
CROWD = (
    "The smallest group is estimated to have {k} or more people in the population "
    "(k-map, by the zero-truncated Poisson model, with an error of 5 %).|k"
)
SETS_OF = (
    "A set of columns that makes a row unique counts for each of its columns, so "
    "the shares add up to more than 100 %. Sets of up to {size} columns were "
    "searched.|size"
)


class Rows:
    """What singles each row out, by trying every set of known columns; and what a
    population of N adds.
    """

    def __init__(self, t: Truth, sampled: float) -> None:
        self.t = t
        self.known = t.known
        by_set: dict[tuple[str, ...], pd.Series] = {}
        for size in range(1, len(self.known) + 1):
            for each in itertools.combinations(self.known, size):
                alone = t.of(each).of_rows == 1
                smaller = [by_set[s] for s in by_set if set(s) < set(each)]
                by_set[each] = alone & ~np.logical_or.reduce(
                    [*smaller, np.zeros(len(alone), dtype=bool)]
                )
        columns = len(self.known)
        worth = {
            k: float(np.prod([columns - i for i in range(k, columns)]))
            for k in range(1, columns + 1)
        }
        self.minimal = by_set
        self.score = sum(alone * worth[len(each)] for each, alone in by_set.items())
        self.parts = {
            name: sum(
                alone * worth[len(each)]
                for each, alone in by_set.items()
                if name in each
            )
            for name in self.known
        }
        sizes = t.all.sizes
        alone = int((sizes == 1).sum())
        pairs = 2 * int((sizes == 2).sum())
        right = alone * sampled / (alone * sampled + pairs * (1 - sampled))
        ways = pd.concat(
            [t.rows[self.known], self.score.rename("score"), t.person.rename("p")],
            axis=1,
        )
        scored = ways.drop_duplicates([*self.known, "p"])["score"].loc[
            lambda each: each > 0
        ]
        power = 1 + (8 - columns) / 20
        spread = (
            self.score.where(self.score > 0, 1) ** power * (1 / scored**power).sum()
        )
        self.dis = (1 / (1 + (alone / right - alone) / spread)).where(
            self.score > 0, 0.0
        )

    @property
    def special(self) -> float:
        """Share of people with a row that one or two columns make unique."""
        few = np.logical_or.reduce(
            [alone for each, alone in self.minimal.items() if len(each) <= 2]
        )
        return float(self.t.person[few].nunique() / self.t.person.nunique())

    def part(self, name: str) -> float:
        return float(self.parts[name].sum() / self.score.sum())

    def file(self) -> dict[str, Any]:
        """The columns of the file, by their headings."""
        sizes = pd.DataFrame(
            {each: alone * len(each) for each, alone in self.minimal.items()}
        )
        found = {
            "people in the group": self.t.all.of_rows,
            "risk (1 / people)": 1 / self.t.all.of_rows,
            "SUDA score": self.score,
            "chance that a match is right (DIS)": self.dis,
            "columns in the smallest unique set": sizes.where(sizes > 0)
            .min(axis=1)
            .fillna(0),
            "minimal unique sets": (sizes > 0).sum(axis=1),
        }
        shares = {
            f"part of {name}": (self.parts[name] / self.score).fillna(0)
            for name in self.known
        }
        return found | shares


def of_population(people: int, number: int) -> float:
    """Expected 1 / people of the population who look alike, of so many here (Benedetti,
    Franconi 1998).
    """
    share = 90 / people

    def chance(at: float) -> float:
        return float((share * np.exp(-at) / (1 - (1 - share) * np.exp(-at))) ** number)

    return float(quad(chance, 0, np.inf)[0])


def crowd(population: int, smallest: int) -> int:
    """The most people of whom a class is seen with more than these in one of 20 samples
    at most.
    """

    def passes(k: int) -> bool:
        none = poisson.pmf(0, k * 90 / population)
        beyond = next(
            n
            for n in range(1, k + 1)
            if n == k or poisson.sf(n, k * 90 / population) <= 0.05 * (1 - none)
        )
        return min(k, beyond + 1) <= smallest

    return max(k for k in range(1, 200) if passes(k))


def shifted(seen: pd.Series, share: float) -> float:
    """Unique ways by a shifted negative binomial law that expects the groups of one and
    two.
    """
    size = np.array(seen.index)
    groups = seen.to_numpy()
    if not {1, 2} <= {*size}:
        return np.inf
    once = 1 - share
    twice = 1 - share**2
    unseen = (once**size * groups).sum() / (
        size * share * once ** (size - 1) * groups
    ).sum()
    both = (size * share**2 * twice ** (size - 1) * groups).sum() / (
        (twice**size - once**size) * groups
    ).sum()
    every = groups.sum() + seen[1] * both * unseen**2
    sizes = np.arange(1, 500)

    def law(given: np.ndarray) -> tuple[float, float]:
        return float(np.exp(given[0])), float(1 / (1 + np.exp(-given[1])))

    def misses(given: np.ndarray) -> float:
        each = every * nbinom.pmf(sizes - 1, *law(given))
        return float(
            sum(
                np.log(each @ binom.pmf(n, sizes, share) / seen[n]) ** 2 for n in (1, 2)
            )
        )

    best = minimize(
        misses,
        [0.0, 0.0],
        method="Nelder-Mead",
        options={"xatol": 1e-10, "fatol": 1e-16},
    )
    return every * nbinom.pmf(0, *law(best.x)) if best.fun < 1e-9 else np.inf


def estimated_unique(sizes: pd.Series, population: int) -> float:
    """Of the ways in which a population appears, those that are unique, by the model to
    be trusted.
    """
    ways = int(sizes.sum())
    grown = round(population * ways / 90)
    if population < 900:  # the 90 people are more than a tenth of it
        seen = sizes.value_counts()
        once = pd.Series({i: hypergeom.pmf(1, grown, i, ways) for i in seen.index})
        zayatz = float(seen[1] / ways * once[1] * seen[1] / (once * seen).sum())
        return min(zayatz, shifted(seen, ways / grown) / grown)
    steps = np.concatenate([np.arange(1, size) for size in sizes])

    def unlikely(given: np.ndarray) -> float:
        theta = np.exp(given[0])
        alpha = 1 / (1 + np.exp(-given[1]))
        of_classes = np.log(theta + np.arange(1, len(sizes)) * alpha).sum()
        return -float(
            of_classes
            - np.log(theta + np.arange(1, ways)).sum()
            + np.log(steps - alpha).sum()
        )

    best = minimize(
        unlikely,
        [3.0, 0.0],
        method="Nelder-Mead",
        options={"xatol": 1e-9, "fatol": 1e-10},
    ).x
    theta = np.exp(best[0])
    alpha = 1 / (1 + np.exp(-best[1]))
    return float(
        np.exp(
            gammaln(theta + 1) - gammaln(theta + alpha) + (alpha - 1) * np.log(grown)
        )
    )


def row_facts(t: Truth, rows: Rows, population: int) -> dict[str, Any]:
    heaviest = max(t.known, key=rows.part)
    risks = t.all.smallest.map(
        {n: of_population(population, n) for n in t.all.smallest.unique()}
    )
    true = {
        FIRST: rows.special,
        HEAVIEST + "share": rows.part(heaviest),
        SETS_OF: len(t.known),
        WAYS: estimated_unique(t.all.sizes, population),
        CROWD: crowd(population, int(t.all.smallest.min())),
        f"{GUESSED}|journalist": risks.max(),
        f"{GUESSED}|marketer": risks.mean(),
    }
    parts = sorted(map(rows.part, t.known), reverse=True)
    return {name: lambda _, value=value: value for name, value in true.items()} | {
        f"{ONE} > share": lambda _: near(parts),
        f"{ONE} > share of the risk that involves the column": lambda _: near(parts),
        f"{ONE} > of": lambda _: sorted(t.known, key=lambda name: -rows.part(name)),
    }


def row_walk(
    marks: Marking,
    monkeypatch: pytest.MonkeyPatch,
    population: int,
) -> tuple[list[Figure], bytes, Truth]:
    in_this_process(monkeypatch)
    tab = opened(TABLES["visits"])
    files = downloads(monkeypatch)
    tab.go("audit").set("multiselect", "What others may know", ["age", "ward", "days"])
    tab.set("number_input", "People in the population", population).set(
        "toggle", "Work it out", value=True
    )
    seen = figures(tab, marks)
    return (
        seen,
        files["Risk of each row (CSV, private)"],
        Truth(TABLES["visits"], tab, seen, None),
    )


@pytest.mark.parametrize("population", [200, 5_000])
def test_each_row_and_a_population(
    population: int,
    marking: Marking,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A row would be called safe that one column singles out, or estimates be of rows
    in place of people.
    """
    seen, file, t = row_walk(marking, monkeypatch, population)
    rows = Rows(t, 0.01)
    compared = check(seen, PAGE | row_facts(t, rows, population), STATIC, t)
    assert compared >= {FIRST, HEAVIEST + "share", WAYS, CROWD, f"{GUESSED}|marketer"}
    found = pd.read_csv(io.BytesIO(file)).rename(columns=bare)
    for name, true in rows.file().items():
        assert np.allclose(
            found[name], true, atol=6e-5 if name.startswith("part") else 1e-6
        ), name


def test_a_wrong_base_of_rows_is_caught(
    marking: Marking, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test above would not see rows in place of people."""
    monkeypatch.setattr(
        "dpcore.evaluation.table.row_risk.person_codes", lambda frame, column: None
    )
    seen, _file, t = row_walk(marking, monkeypatch, 200)
    with pytest.raises(AssertionError, match="not true"):
        check(seen, PAGE | row_facts(t, Rows(t, 0.01), 200), STATIC, t)


FOUND = "what was found"
OF_COLUMN = "{column}: {people} people"


def measured(t: Truth, rule: str) -> list[Any]:
    """What stands beside each clause of a criterion, worked out from the raw rows; in
    the clauses' order.
    """
    linkable = max(t.sets[each].unique for each in t.sets)
    revealed = max((t.all.revealing(each)[1] for each in t.secrets), default=0)
    k = t.all.sizes.min()
    return {
        "opinion-05-2014": [t.all.unique, linkable, revealed],
        "hipaa-expert-determination": [
            t.person.nunique(),
            k,
            t.all.unique,
            1 / k,
            t.all.average_risk,
            linkable,
            revealed,
            "",
            "",
        ],
        "maximum-risk": [""] * 5,
    }[rule]


@pytest.mark.parametrize("name", ["visits", "staff"])
def test_every_figure_of_a_criterion_is_of_the_people(
    name: str,
    marking: Marking,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A worksheet would tell an expert other figures than the table has, or count rows
    as people.
    """
    tab = opened(TABLES[name])
    files = downloads(monkeypatch)
    tab.go("audit")
    t = Truth(TABLES[name], tab, figures(tab, marking), None)
    for rule in ("opinion-05-2014", "hipaa-expert-determination", "maximum-risk"):
        tab.at.selectbox(key="audit-rule").set_value(rule).run()
        (shown,) = (
            each.value
            for each in tab.at.dataframe
            if any(FOUND in bare(name) for name in each.value)
        )
        cells_shown = [bare(each) for each in shown.iloc[:, 3]]
        assert agrees(cells_shown, measured(t, rule)), (
            rule,
            cells_shown,
            measured(t, rule),
        )
        if rule == "maximum-risk":
            over = [
                1 / t.all.sizes.min() > limit
                for limit in (0.05, 0.09, 1 / 11, 0.2, 1 / 3)
            ]
            assert [
                bare(each) == "violation found" for each in shown.iloc[:, 2]
            ] == over
    tab.at.selectbox(key="audit-rule").set_value("hipaa-safe-harbor").run()
    seen = figures(tab, marking)
    columns = {"visits": ["patient_id"], "staff": ["Nachname", "Eintritt"]}[name]
    people = [t.person[t.rows[each] != MISSING].nunique() for each in columns]
    (shown,) = (each.shown for each in seen if each.id.endswith(FOUND))
    told = [part.partition(": ") for cell in shown for part in cell.split("; ") if part]
    assert [column for column, _colon, _count in told] == columns
    assert all(
        agrees(count, true)
        for (_column, _colon, count), true in zip(told, people, strict=True)
    )
    (printed,) = (
        each.shown
        for each in of_report(files[REPORT], marking)
        if each.id.endswith(f"> {FOUND}")
    )
    assert printed == tuple(shown)
