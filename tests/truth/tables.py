"""Small tables, each odd in one way, that the pages are walked with: a frame as its
file has it, and a note.

`opened` opens one as it is proposed, all facts known from outside, with the cap that
stands beside it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from tests.truth.figures import MarkedTab, bare
from workbench.records import lines
from workbench.session.draft import Draft

NAMES = [
    "Alvarez",
    "Brandt",
    "Costa",
    "Dubois",
    "Eriksen",
    "Fischer",
    "Gruber",
    "Horvat",
    "Ivanov",
    "Jansen",
    "Keller",
    "Lopez",
    "Meyer",
    "Novak",
]


@dataclass(frozen=True)
class Odd:
    """A table.

    Attributes:
        note: what is odd about it.
        frame: its cells.
        id: the column that names people who have several rows; None where a row is a
            person.
        cap: how many rows of one person are to count.
    """

    name: str
    note: str
    frame: pd.DataFrame
    id: str | None = None
    cap: int = 1

    @cached_property
    def content(self) -> bytes:
        """The file that is uploaded."""
        return self.frame.to_csv(index=False).encode()


def _rng(place: int) -> np.random.Generator:
    return np.random.default_rng(20_260_000 + place)


def _visits() -> Odd:
    rng = _rng(1)
    people = np.repeat(np.arange(90), rng.integers(1, 9, 90))
    frame = pd.DataFrame(
        {
            "patient_id": 1000 + people,
            "age": (20 + 3 * people % 60).astype(int),
            "ward": rng.choice(
                ["surgery", "medicine", "eyes"], len(people), p=[0.5, 0.4, 0.1]
            ),
            "days": rng.integers(1, 15, len(people)),
        },
    )
    return Odd(
        "visits",
        "1 to 8 rows a person, of which 2 count",
        frame,
        id="patient_id",
        cap=2,
    )


def _odd_cells() -> Odd:
    rng = _rng(2)
    days = [f"{2020 + i % 4}-{1 + i % 12:02}-{1 + i % 28:02}" for i in range(600)]
    days[5:600:60] = ["2021-02-30"] * 10
    value = [f"{x:.1f}" for x in rng.gamma(2, 3, 600)]
    value[::40] = ["<0.5"] * 15
    value[7::100] = ["k.A."] * 6
    city = rng.choice(
        ["Wien", "Graz", "unbekannt", "", " Wien"], 600, p=[0.5, 0.3, 0.1, 0.05, 0.05]
    )
    frame = pd.DataFrame({"admitted": days, "value": value, "city": city})
    return Odd(
        "odd cells",
        "ten impossible dates, censored numbers, words for missing, blanks",
        frame,
    )


def _heavy_tail() -> Odd:
    rng = _rng(3)
    income = np.round(1500 * rng.pareto(1.2, 400), 0).astype(int)
    income[::3] = 0
    return Odd(
        "heavy tail",
        "an income of which a third is 0 and one a hundred times the median",
        pd.DataFrame({"income": income, "sex": rng.choice(["F", "M"], 400)}),
    )


def _staff() -> Odd:
    rng = _rng(4)
    frame = pd.DataFrame(
        {
            "Nachname": [
                f"{NAMES[i % 14]}{'' if i < 14 else f'-{NAMES[i // 14]}'}"
                for i in range(150)
            ],
            "Abteilung": rng.choice(["Einkauf", "Verkauf", "Lager"], 150),
            "Eintritt": [
                f"{1990 + i % 30}-{1 + i % 12:02}-{1 + (7 * i) % 28:02}"
                for i in range(150)
            ],
            "Krankenstandstage": rng.poisson(6, 150),
        },
    )
    return Odd("staff", "names of people, all different, and unique dates", frame)


def _wide() -> Odd:
    rng = _rng(5)
    frame = pd.DataFrame({f"q{j:02}": rng.integers(1, 4, 120) for j in range(60)})
    return Odd("wide", "60 columns and 120 rows", frame)


def _plain() -> Odd:
    rng = _rng(6)
    age = rng.integers(18, 90, 300)
    ill = np.where(rng.random(300) < age / 120, "yes", "no")
    city = rng.choice(["Linz", "Graz", "Wien"], 300, p=[0.1, 0.3, 0.6])
    return Odd(
        "300 rows",
        "nothing but that it is small",
        pd.DataFrame({"age": age, "city": city, "ill": ill}),
    )


def _two_valued() -> Odd:
    rng = _rng(7)
    score = rng.normal(0, 1, 240)
    frame = pd.DataFrame(
        {
            "x": np.round(score, 2),
            "label": (score + rng.normal(0, 1, 240) > 0).astype(int),
            "sign": np.where(score > 0.5, 1, -1),
            "sex": rng.integers(1, 3, 240),
        },
    )
    return Odd("two-valued", "labels written 0/1, -1/1 and 1/2", frame)


def _dates() -> Odd:
    rng = _rng(8)
    days = pd.Timestamp("2019-01-01") + pd.to_timedelta(
        rng.permutation(1500)[:260], unit="D"
    )
    frame = pd.DataFrame(
        {"born": days.strftime("%Y-%m-%d"), "ward": rng.choice(["A", "B"], 260)}
    )
    return Odd("dates", "every row has a day of its own", frame)


def _missing() -> Odd:
    rng = _rng(9)
    frame = pd.DataFrame(
        {
            "age": np.where(rng.random(200) < 0.4, np.nan, rng.integers(20, 60, 200)),
            "nothing": [np.nan] * 200,
            "answer": rng.choice(["yes", "no", None], 200, p=[0.2, 0.2, 0.6]),
        },
    )
    return Odd("missing", "a column without any value, and two with many gaps", frame)


def _constants() -> Odd:
    rng = _rng(10)
    frame = pd.DataFrame(
        {
            "year": [2024] * 180,
            "country": ["AT"] * 180,
            "rare": ["common"] * 179 + ["once"],
            "age": rng.integers(0, 20, 180),
        },
    )
    return Odd(
        "constants", "two columns of one value, and one that a single row leaves", frame
    )


def _booleans() -> Odd:
    rng = _rng(11)
    smoker = rng.random(220) < 0.3
    frame = pd.DataFrame(
        {
            "smoker": smoker,
            "ill": smoker ^ (rng.random(220) < 0.2),
            "age": 30 + rng.integers(0, 9, 220),
        },
    )
    return Odd("booleans", "two columns of True and False", frame)


def _twins() -> Odd:
    rng = _rng(12)
    frame = pd.DataFrame(
        {
            "Abteilung {neu}": rng.choice(
                ["CHIRURGIE", "Chirurgie", "Innere 2", "*Augen*"], 160
            ),
            "Größe, cm": rng.integers(150, 200, 160),
        },
    )
    return Odd(
        "twins",
        "one word in two cases, and names with braces, digits and Markdown",
        frame,
    )


TABLES = {
    each.name: each
    for each in (
        _visits(),
        _odd_cells(),
        _heavy_tail(),
        _staff(),
        _wide(),
        _plain(),
        _two_valued(),
        _dates(),
        _missing(),
        _constants(),
        _booleans(),
        _twins(),
    )
}


def _has_gaps(draft: Draft) -> bool:
    return any(
        column.check(draft.frame[column.name]).missing
        for column in draft.schema.columns
    )


def opened(odd: Odd) -> MarkedTab:
    """A tab in which the table is open."""
    tab = MarkedTab()
    tab.at.run()
    tab.go("upload").upload(odd.content, f"{odd.name}.csv")
    for box in tab.at.get("button_group"):
        if bare(box.label).startswith("Maximum number of rows"):
            box.set_value(odd.cap).run()
    draft = tab.session.draft
    if draft is not None and not _has_gaps(draft):
        tab.set("button_group", "Can cells be empty in a table of this kind?", False)
    tab.open_draft()
    assert tab.session.curator is not None
    return tab


BUDGET = "Budget: spent {spent} · held {held} · left {left}|"
LOSS = "{name} {loss}|loss"


def budget_facts(spent: float, held: float, whole: float) -> dict[str, Any]:
    """What is true of the bar above every page: the shares, and the whole budget of
    pure epsilon behind them.
    """
    left = whole - spent - held
    return {
        BUDGET + "spent": spent / whole,
        BUDGET + "held": held / whole,
        BUDGET + "left": left / whole,
        LOSS: whole,
    }


def around(tab: MarkedTab) -> dict[str, Callable[[Any], Any]]:
    """What is true of the figures above every page: the file's name, and the budget by
    the exported lines.
    """
    data_set = tab.session.data_sets[tab.session.current_dataset]
    name = data_set.name
    whole = json.loads(lines.export_lines(data_set))
    last = {line["request_id"]: line["state"] for line in whole["lines"]}
    units = {True: 0, False: 0}  # held or not
    for line in whole["lines"]:
        if line["state"] == "reserved":
            units[last[line["request_id"]] == "reserved"] += line["charge"]["units"]
    promise = float(whole["account"]["promise"]["epsilon"])
    facts = budget_facts(units[False] / 1e12, units[True] / 1e12, promise)
    return {
        **{name: lambda _, true=true: true for name, true in facts.items()},
        " > value": lambda _: lambda shown: name in shown,
    }
