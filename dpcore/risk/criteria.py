"""Published criteria as data: what a table is seen to violate, and what only people can decide.

Each file of `published/` is one criterion, with its source, version, day of reading and what it covers. Its clauses are
tests of columns and cells, limits of the highest risk, figures without a limit, and questions. No result says that
a table meets a criterion.
"""

from __future__ import annotations

import datetime
import functools
import json
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from dpcore.errors import ParameterError
from dpcore.risk.identifiers import find_identifiers
from dpcore.schema.detector import name_words
from dpcore.schema.values import MISSING, SUPPRESSED
from dpcore.tables.classes import IntArray, leaves_of
from dpcore.tables.people import largest_each

FOLDER = Path(__file__).parent / "published"
State = Literal["violation", "none", "question", "attested", "figure"]


@dataclass(frozen=True, kw_only=True)
class Cells:
    """A test of columns and their cells: a cell offends where all that is named holds.

    Attributes:
        name, unless: words that the column's name has, and has not; regular expressions.
        kind: kinds of identifiers, one of which the column must be.
        value, allowed: texts of cells that offend, and that do not; whole cells, in any case.
        above: a number in the cell is larger.
        older: a year in the cell is that of an age above this.
        prefixes: ranges of three digits; any other text offends, but for 000.
    """

    name: str = ""
    unless: str = ""
    kind: tuple[str, ...] = ()
    value: str = ".*"
    allowed: str = ""
    above: float | None = None
    older: int | None = None
    prefixes: str = ""

    def fits(self, column: str, kind: str) -> bool:
        """Return whether the test is of this column. Args: kind: of identifier; empty for none."""
        words = name_words(column)
        return (
            (not self.kind or kind in self.kind)
            and (not self.name or re.search(rf"\b({self.name})\b", words) is not None)
            and (not self.unless or re.search(rf"\b({self.unless})\b", words) is None)
        )

    def offends(self, cell: str, year: int) -> bool:
        """Return whether a cell offends. Args: year: of today, for ages that years tell."""
        text = cell.strip()
        if self.prefixes:
            digits = text.rstrip("*xX")
            return not (digits.isdecimal() and len(digits) <= 3 and digits.zfill(3) in _large(self.prefixes))
        if text in (MISSING, SUPPRESSED) or not re.fullmatch(self.value, text, re.I | re.S):
            return False
        numbers = [float(each) for each in re.findall(r"\d+(?:\.\d+)?", text)]
        years = [int(each) for each in re.findall(r"(?<!\d)(?:18|19|20)\d\d(?!\d)", text)]
        return (
            (self.above is None or any(each > self.above for each in numbers))
            and (self.older is None or any(year - each > self.older for each in years))
            and not (self.allowed and re.fullmatch(self.allowed, text, re.I))
        )


@functools.cache
def _large(ranges: str) -> frozenset[str]:
    """Return the three digits of these ranges, and 000, which stands for all others."""
    pairs = [(each[:3], each[-3:]) for each in ranges.split()]
    return frozenset({"000", *(f"{n:03}" for low, high in pairs for n in range(int(low), int(high) + 1))})


@dataclass(frozen=True, kw_only=True)
class Clause:
    """One clause of a criterion.

    Attributes:
        tests: of cells; beside a question they name columns to look at.
        question: that only people can decide; yes is the answer that is wanted.
        figure: name of a figure of the audit, which is told without a limit.
        at_most: the largest risk, 1 / people of the smallest group, that does not violate the clause.
    """

    id: str
    title: str
    tests: tuple[Cells, ...] = ()
    question: str = ""
    figure: str = ""
    at_most: Fraction | None = None


@dataclass(frozen=True, kw_only=True)
class Criterion:
    """A published criterion, as it was read."""

    rule: str
    title: str
    source: str
    version: str
    read: datetime.date
    covers: str
    clauses: tuple[Clause, ...]

    @classmethod
    def load(cls, rule: str) -> Criterion:
        """Read a criterion, such as "hipaa-safe-harbor"; "maximum-risk 1/11" is one clause of it.

        Raises: ParameterError for an unknown one.
        """
        name, _blank, only = rule.partition(" ")
        if name not in rules():
            raise ParameterError(
                "there is no criterion of this name", remedy="take one of {known}", known=", ".join(rules())
            )
        fields = tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
        clauses = tuple(_clause(each) for each in fields.pop("clause") if only in ("", each["id"]))
        if not clauses:
            raise ParameterError("the criterion has no such clause", remedy="leave the clause out")
        return cls(rule=rule, clauses=clauses, **fields)

    @property
    def needs_figures(self) -> bool:
        """Whether a clause is about a figure of the audit."""
        return any(each.figure or each.at_most is not None for each in self.clauses)


def _clause(fields: dict[str, Any]) -> Clause:
    tests = tuple(Cells(**each | {"kind": tuple(each.get("kind", ()))}) for each in fields.pop("tests", ()))
    limit = fields.pop("at_most", None)
    return Clause(tests=tests, at_most=None if limit is None else Fraction(limit), **fields)


def rules() -> tuple[str, ...]:
    """Return the names of all criteria."""
    return tuple(sorted(each.stem for each in FOLDER.glob("*.toml")))


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """Cells of a column that a clause is about.

    Attributes:
        people: who have one.
    """

    clause: str
    column: str
    people: int


def evidence(
    frame: pd.DataFrame, criterion: Criterion, person: IntArray | None, *, year: int
) -> tuple[Evidence, ...]:
    """Return the columns that the tests of each clause are about, where somebody has such a cell.

    Args: person: (rows,) whose row it is; None where every row is a person. year: of today.
    Raises: SchemaError for a table without rows.
    """
    kinds = {each.column: each.kind for each in find_identifiers(frame)}
    found = []
    for column in map(str, frame.columns):
        leaves = leaves_of(frame, column)
        for clause in criterion.clauses:
            tests = [each for each in clause.tests if each.fits(column, kinds.get(column, ""))]
            if not tests:
                continue
            cells = np.array([any(each.offends(str(text), year) for each in tests) for text in leaves.labels])
            people = int(largest_each(cells[leaves.codes], person).sum())
            if people:
                found.append(Evidence(clause=clause.id, column=column, people=people))
    return tuple(found)


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The answer of a person to a question of a criterion."""

    yes: bool
    by: str
    on: datetime.date


def read_answers(text: str, criterion: Criterion) -> dict[str, Answer]:
    """Read who decided what, and when, by clause.

    Raises: ParameterError for what is no such file, is for another criterion, or has a question or a day
        that cannot be.
    """
    try:
        fields = tomllib.loads(text)
        if fields.pop("rule") != criterion.rule:
            raise KeyError
        answers = {
            clause: Answer(
                yes={"yes": True, "no": False}[each["answer"]], by=each["by"].strip(), on=each["on"]
            )
            for clause, each in fields.items()
        }
        asked = {each.id for each in criterion.clauses if each.question}
        if not set(answers) <= asked or any(
            not each.by or each.on > datetime.date.today() for each in answers.values()
        ):
            raise ValueError
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ParameterError(
            "the file has no answers to the questions of this criterion",
            remedy='write rule = "NAME", and for each question ["CLAUSE"] with answer = "yes" or "no", by = '
            '"WHO" and on = YEAR-MONTH-DAY, not in the future',
        ) from error
    return answers


def write_answers(criterion: Criterion, answers: Mapping[str, Answer]) -> str:
    """Write what `read_answers` reads."""

    def quoted(text: str) -> str:
        return json.dumps(text, ensure_ascii=False)

    lines = [f"rule = {quoted(criterion.rule)}"]
    for clause, each in answers.items():
        answer = "yes" if each.yes else "no"
        lines += [f"[{quoted(clause)}]", f'answer = "{answer}"', f"by = {quoted(each.by)}", f"on = {each.on}"]
    return "\n".join([*lines, ""])


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The result of one clause.

    Attributes:
        state: "none" says that no violation was found among what a table can show, and nothing more.
        columns: of the violation, or to look at for the question.
        figure: a share, or a count of people; None for other clauses.
    """

    clause: Clause
    state: State
    columns: tuple[Evidence, ...] = ()
    figure: float | None = None
    answer: Answer | None = None


def judge(
    criterion: Criterion,
    seen: Iterable[Evidence],
    figures: Mapping[str, float],
    answers: Mapping[str, Answer],
) -> tuple[Outcome, ...]:
    """Return the result of every clause.

    Args: figures: of the audit, by name; "k" is the people of the smallest group. answers: by clause.
    """
    seen, outcomes = tuple(seen), []
    for clause in criterion.clauses:
        columns = tuple(each for each in seen if each.clause == clause.id)
        answer = answers.get(clause.id)
        state: State = "violation" if columns else "none"
        if clause.question:
            state = "question" if answer is None else "attested" if answer.yes else "violation"
        elif clause.figure:
            state = "figure"
        elif clause.at_most is not None:
            state = "violation" if Fraction(1, int(figures["k"])) > clause.at_most else "none"
        outcomes.append(
            Outcome(
                clause=clause,
                state=state,
                columns=columns,
                figure=figures[clause.figure] if clause.figure else None,
                answer=answer,
            )
        )
    return tuple(outcomes)


def exit_code(outcomes: Sequence[Outcome]) -> int:
    """Return 1 where a clause is violated, 2 where a question is open, else 0."""
    states = {each.state for each in outcomes}
    return 1 if "violation" in states else 2 if "question" in states else 0
