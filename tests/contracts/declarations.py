"""Neighboring tables that change a fact of a declaration, and everything of a release
that others may see.

Noise is drawn on the first table and handed to the run on the second one, below all
accounting, so that what differs between two releases follows from facts and not from
chance.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from dpcore.io import to_csv
from dpcore.mechanisms import measurer
from dpcore.schema import Schema
from dpcore.schema.schema import LEFT_OUT_MARK
from dpcore.synthesis.base import Recipe
from workbench.language.wording import FACT_NAMES, reading_words
from workbench.report import downloads, explore, of_release
from workbench.report.document import render_page
from workbench.store.sources.job import Job
from workbench.synthesize.script import (
    file_reading_code,
    write_job_notebook,
    write_script,
)

ROWS = 400
EPSILON = dp.PureDP(epsilon=1)
BUDGET = dp.PureDP(epsilon=3)
COLUMN = "answer"
OTHER = "sex"


@dataclass(frozen=True, kw_only=True)
class Change:
    """A table without a person, and the value with which that person changes a fact.

    Attributes:
        name: of the fact that changes.
        values: of everybody else.
        hers: her value, of which no other surface may tell.
        column: what the column is called.
        marks: facts of which one must be marked, where what leaves differs.
        hers_encoding: of her line of the file.
    """

    name: str
    values: Sequence[str]
    hers: str
    column: str = COLUMN
    marks: tuple[str, ...] = ()
    hers_encoding: str = "utf-8"

    def file(self, *, with_her: bool) -> bytes:
        """The table as CSV."""
        content = self.table(with_her=with_her).to_csv(index=False)
        *others, last = content.splitlines(keepends=True)
        encoding = self.hers_encoding if with_her else "utf-8"
        return "".join(others).encode() + last.encode(encoding)

    def table(self, *, with_her: bool) -> pd.DataFrame:
        """The table as a file of texts has it."""
        values = [*self.values, self.hers] if with_her else [*self.values]
        others = ["F" if place % 2 else "M" for place in range(len(values))]
        return pd.DataFrame(
            {self.column: pd.Series(values, dtype="str"), OTHER: others}
        )

    def recipe(self) -> Recipe:
        """A table of each column."""
        is_out = self.column == "patient_id" or self.marks == (LEFT_OUT_MARK,)
        columns = (OTHER,) if is_out else (self.column, OTHER)
        return dp.Independent(columns=columns)


def _every(*values: str, rows: int = ROWS) -> list[str]:
    return [values[place % len(values)] for place in range(rows)]


_rng = np.random.default_rng(0)
_LOADS = [f"{value:.1f}" for value in _rng.gamma(3, 20, ROWS)]
_COSTS = [f"{500 + 7.31 * place:.2f}" for place in range(ROWS - 9)] + ["7688.5"] * 9
_NUMBERS = _every(*map(str, range(10)), rows=392)
_BOUNDS = ("low", "high", "bin_width", "cuts", "special", "step")

CHANGES = [
    Change(name="kind", values=_NUMBERS + ["word"] * 8, hers="word", marks=("kind",)),
    Change(
        name="decimals",
        values=_every(*map(str, range(19))),
        hers="2.5",
        marks=("kind", "low", "special"),
    ),
    Change(
        name="bounds", values=_every(*map(str, range(99))), hers="999", marks=_BOUNDS
    ),
    Change(
        name="cells",
        values=_every(*map(str, range(0, 40_000, 100))),
        hers="9000001",
        marks=_BOUNDS,
    ),
    Change(name="single values", values=_COSTS, hers="7688.5", marks=_BOUNDS),
    Change(
        name="dates",
        values=_every("2012-03-01", "2021-12-30"),
        hers="2022-03-05",
        marks=_BOUNDS,
    ),
    Change(
        name="categories",
        values=_every("good", "bad"),
        hers="Zzyzx",
        marks=("categories",),
    ),
    Change(
        name="order", values=_every("10", "20", "5000"), hers="7", marks=("categories",)
    ),
    Change(
        name="order of labels",
        values=_every("low", "medium", "high"),
        hers="weird",
        marks=("categories", "ordered"),
    ),
    Change(
        name="truth values",
        values=_every("yes", "no"),
        hers="maybe",
        marks=("kind", "categories"),
    ),
    Change(
        name="printed labels",
        values=_every("good", "bad"),
        hers="gOOD",
        marks=("categories", "spellings"),
    ),
    Change(
        name="the common spelling",
        values=_every("gOOD", "bad"),
        hers="good",
        marks=("categories", "spellings"),
    ),
    Change(
        name="a word for missing that is listed",
        values=_every("good", "None"),
        hers="none",
        marks=("categories",),
    ),
    Change(name="limits of detection", values=_LOADS, hers="<0.4817", marks=_BOUNDS),
    Change(
        name="limits of ages",
        values=_every(*map(str, range(20, 60))),
        hers="<3",
        column="age",
    ),
    Change(name="words for missing", values=_every("good", "bad"), hers="unBekannt"),
    Change(name="words for missing numbers", values=_LOADS, hers="unBekannt"),
    Change(name="missing", values=_every("good", "bad"), hers=""),
    Change(name="missing numbers", values=_LOADS, hers=""),
    Change(
        name="missing dates", values=_every("2012-03-01", "2021-12-30"), hers="k.A."
    ),
    Change(name="unreadable", values=_LOADS, hers="Quokka"),
    Change(
        name="unreadable dates",
        values=_every("2012-03-01", "2021-12-30"),
        hers="2020-02-31",
    ),
    Change(
        name="no number in a list", values=_every("10", "20", "5000"), hers="Quokka"
    ),
    Change(
        name="a column that is left out",
        values=_every(*(f"w{place:03d}" for place in range(50)), rows=100),
        hers="Quokka",
        marks=(LEFT_OUT_MARK,),
    ),
    Change(
        name="one code among numbers",
        values=_every(*map(str, range(99))),
        hers="0999",
        marks=_BOUNDS,
    ),
    Change(
        name="conventional bounds",
        values=_every(*map(str, range(20, 60))),
        hers="130",
        column="age",
    ),
    Change(
        name="who is named",
        values=list(map(str, range(ROWS))),
        hers="7",
        column="patient_id",
    ),
    Change(
        name="an id with a point",
        values=list(map(str, range(ROWS))),
        hers="4.5062517",
        column="patient_id",
    ),
    Change(
        name="who is not named",
        values=list(map(str, range(ROWS))),
        hers="401",
        column="patient_id",
    ),
]
"""Every fact that a declaration can hold, and a person who changes it."""
_DAYS = [day.strftime("%Y%m%d") for day in pd.date_range("2020-03-01", periods=20)]
READINGS = [
    Change(
        name="order of day and month",
        values=_every("06/04/2020", "07/05/2020"),
        hers="12/25/2020",
    ),
    Change(
        name="unit beside numbers",
        values=_every("12,5", "13,5"),
        hers="5,0 €",
    ),
    Change(
        name="sign between thousands",
        values=_every("1,234", "2,345"),
        hers="$5,000",
    ),
    Change(
        name="decimal sign",
        values=_every("4.217", "5.318"),
        hers="1.234,5",
    ),
    Change(
        name="decimal sign beyond the first rows",
        values=[
            *map(str, range(30)),
            *(f"{1 + place % 9}.{100 + place}" for place in range(300)),
        ],
        hers="1,5",
    ),
    Change(
        name="days of eight digits",
        values=[*[_DAYS[0]] * 300, *_DAYS[:19]],
        hers=_DAYS[19],
    ),
    Change(
        name="encoding",
        values=_every("Café", *["Tea"] * 19),
        hers="Caféééé",
        hers_encoding="cp1252",
    ),
    Change(name="separator", values=_every("good", "bad"), hers="a;b;c;d"),
    Change(name="a word of hers", values=_every("good", "bad"), hers="Zzyzx"),
]
"""Ways in which the cells of a file are written, and a person who changes them, or does
not: who looks at one table cannot tell.
"""
NUMBERS = [
    change
    for change in CHANGES
    if change.values[-1].replace(".", "").isdigit()
    and change.column == COLUMN
    and change.name != "order"
    and change.name != "no number in a list"
]
"""Those about a column of numbers, whose cells can be found privately."""


@dataclass(kw_only=True)
class Outcome:
    """What came of one table.

    Attributes:
        release: of both columns.
        surfaces: everything that others may see, by name.
    """

    release: dp.Release
    surfaces: dict[str, str]


@contextlib.contextmanager
def same_noise() -> Iterator[Callable[[], None]]:
    """Hand the noisy answers of the first run to the second one, which begins when the
    result is called.
    """
    answers: list[Any] = []
    asked: dict[str, int | None] = {"next": None}
    draw = measurer.add_discrete_laplace

    def answer(counts: Any, **options: Any) -> Any:
        place = asked["next"]
        if place is None:
            answers.append(draw(counts, **options))
            return answers[-1]
        asked["next"] = place + 1
        if place < len(answers) and np.shape(answers[place]) == np.shape(counts):
            return answers[place]
        return draw(counts, **options)  # another question, which the test will see

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measurer, "add_discrete_laplace", answer)
        yield lambda: asked.update(next=0)


def surfaces(release: dp.Release, schema: Schema) -> dict[str, str]:
    """Return what leaves with a release and its declaration, as texts without times and
    random ids.
    """
    document = of_release.document(release)
    job = Job(
        table="table.csv",
        schema=schema,
        budget=BUDGET,
        recipe=dp.Independent(columns=(OTHER,)),
        loss=EPSILON,
    )
    reading = file_reading_code(job.table)
    texts = {
        "release": release.to_json(),
        "guarantee": downloads.guarantee_json(release),
        "report": of_release.stand_alone_page(release).decode(),
        "shared page": render_page(document).html(),
        "counts": downloads.counts_table(release).to_csv(),
        "data package": downloads.datapackage(release),
        "drawn rows": to_csv(release.sample_table(500, seed=0)).decode(),
        "codebook": schema.without_private_texts().to_json(),
        "job": job.to_json(),
        "script": write_script(job, reading),
        "notebook": write_job_notebook(job, reading),
    }
    if explore.is_explorable(release):
        texts["explore page"] = of_release.interactive_file(release).decode()
    return {name: _plain(text, release.request_id) for name, text in texts.items()}


def _plain(text: str, request_id: str) -> str:
    text = text.replace(request_id, "request")
    text = re.sub(r"data:[^\"]*;base64,[^\"]*", "(a file of these)", text)
    text = re.sub(r"\b[0-9a-f]{64}\b", "digest", text)
    return re.sub(r"20\d\d-\d\d-\d\dT[0-9:+.]+", "then", text)


PAGES = ("report", "shared page", "explore page")
MARKED = ("release", "guarantee", "data package")
"""Surfaces that carry the guarantee as fields."""
DECLARED = ("codebook", "job", "script", "notebook")
"""Those that carry the declaration of every column."""


def check(change: Change, without: Outcome, with_her: Outcome) -> list[str]:
    """Check that what leaves is the same with her and without her, or marked; return
    what differs.
    """
    differs = [
        name
        for name in without.surfaces
        if without.surfaces[name] != with_her.surfaces.get(name)
    ]
    if not differs:
        return []
    marked = with_her.release.guarantee.from_data.get(change.column, ())
    named = [fact for fact in change.marks if fact in marked]
    assert named, (change.name, differs, marked)
    for name in differs:
        text = with_her.surfaces[name]
        if name in PAGES:
            assert "taken from the data itself" in text, (change.name, name)
            assert any(FACT_NAMES.get(fact, fact) in text for fact in named), (
                change.name,
                name,
            )
        if name in (*MARKED, *DECLARED):
            assert "from_data" in text, (change.name, name)
            assert any(fact in text.partition("from_data")[2] for fact in named), (
                change.name,
                name,
            )
    return differs


def check_reading(outcome: Outcome, *, is_guessed: bool = True) -> None:
    """Check that every surface says whether the file's form was read from it.

    It has to say so with her and without her: a mark that follows the rows is one that
    her row decides.
    """
    assert outcome.release.guarantee.reading_from_data == is_guessed
    for name in (*PAGES, *MARKED, *DECLARED):
        words = reading_words() if name in PAGES else "reading_from_data"
        if name in outcome.surfaces:
            assert (words in outcome.surfaces[name]) == is_guessed, name


def check_texts(change: Change, with_her: Outcome) -> None:
    """Check that a text which means missing, or counts as another one, is on no surface
    at all.
    """
    if change.hers and not change.marks and not change.hers.isdigit():
        for name, text in with_her.surfaces.items():
            assert change.hers not in text, (change.name, name)
            assert change.hers not in json.dumps(text), (change.name, name)
