"""Published privacy criteria: tests of a table, and questions for people.

Each file of `published/` is one criterion, with its source, version, day of reading and
coverage. Its clauses are tests of columns and cells, limits of the highest risk,
figures without a limit, and questions. No result says that a table meets a criterion.
"""

from __future__ import annotations

import datetime
import functools
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from dpcore.errors import ParameterError, UsageError
from dpcore.schema.detector import name_words
from dpcore.schema.values import MISSING, SUPPRESSED

CRITERIA_FOLDER = Path(__file__).parent / "published"
ClauseState = Literal["violation", "none", "question", "attested", "figure"]
_YEAR = re.compile(r"(?<!\d)(?:18|19|20)\d\d(?!\d)")


@dataclass(frozen=True, kw_only=True)
class CellTest:
    """A test of columns and their cells; a cell offends if all conditions hold.

    Attributes:
        name, unless: words that the column's name has, and has not; regular
            expressions.
        kind: kinds of identifiers, one of which the column must be.
        value, allowed: texts of cells that offend, and that do not; whole cells, in any
            case.
        older: a year in the cell is that of an age above this.
        prefixes: ranges of three digits; any other text offends, except 000.
        of_numbers: whether a test of texts alone applies to columns of numbers too.
    """

    name: str = ""
    unless: str = "(?!)"
    kind: Sequence[str] = ()
    value: str = ".*"
    allowed: str = "(?!)"
    older: int | None = None
    prefixes: str = ""
    of_numbers: bool = False

    def applies_to(self, column: str, kind: str, has_numbers: bool) -> bool:
        """Return whether the test applies to this column.

        Args:
            kind: of identifier; empty for none.
        """
        if has_numbers and not (self.name or self.kind or self.of_numbers):
            return False
        has, has_not = (
            re.search(rf"\b({words})\b", name_words(column))
            for words in (self.name, self.unless)
        )
        return (
            (not self.kind or kind in self.kind)
            and (not self.name or has is not None)
            and has_not is None
        )

    def offends(self, cell: str, year: int) -> bool:
        """Return whether a cell meets all conditions of the test.

        Args:
            year: of today, for ages that years tell.
        """
        text = cell.strip()
        if self.prefixes:
            digits = text.rstrip("*xX")
            return (
                not digits.isdecimal()
                or len(digits) > 3
                or digits.zfill(3) not in _codes_in_ranges(self.prefixes)
            )
        if text in (MISSING, SUPPRESSED) or not re.fullmatch(
            self.value, text, re.I | re.S
        ):
            return False
        is_older = self.older is None or any(
            year - int(born) > self.older for born in _YEAR.findall(text)
        )
        return is_older and not re.fullmatch(self.allowed, text, re.I)


@functools.cache
def _codes_in_ranges(ranges: str) -> frozenset[str]:
    """Return the three-digit zip codes in these ranges, and 000 for all others."""
    ends = [(int(part[:3]), int(part[-3:])) for part in ranges.split()]
    return frozenset(
        {"000", *(f"{n:03}" for low, high in ends for n in range(low, high + 1))}
    )


@dataclass(frozen=True, kw_only=True)
class Clause:
    """One clause of a criterion.

    Attributes:
        tests: of cells; beside a question they name columns to look at.
        question: that only people can decide; yes is the answer that is wanted.
        figure: name of a figure of the audit, which is told without a limit.
        at_most: the largest risk, 1 / people of the smallest group, that does not
            violate the clause; a fraction, as a text. Empty for other clauses.
    """

    id: str
    title: str
    tests: Sequence[Mapping[str, Any]] = ()
    question: str = ""
    figure: str = ""
    at_most: str = ""


@dataclass(frozen=True, kw_only=True)
class Criterion:
    """A published criterion with its source, version and date of reading."""

    rule: str
    title: str
    source: str
    version: str
    read: datetime.date
    covers: str
    clauses: tuple[Clause, ...]

    @classmethod
    def load(cls, rule: str) -> Criterion:
        """Read a criterion, such as "hipaa-safe-harbor".

        "maximum-risk 1/11" is one clause of a criterion.

        Raises: ParameterError for an unknown one.
        """
        name, _blank, only = rule.partition(" ")
        fields = (
            tomllib.loads((CRITERIA_FOLDER / f"{name}.toml").read_text("utf-8"))
            if name in list_criteria()
            else {}
        )
        clauses = tuple(
            Clause(**clause)
            for clause in fields.get("clause", ())
            if only in ("", clause["id"])
        )
        if not clauses:
            raise UsageError(
                "there is nothing with this name",
                remedy="take one of {known}",
                known=", ".join(list_criteria()),
            )
        return cls(rule=rule, clauses=clauses, **fields["criterion"][0])


def list_criteria() -> tuple[str, ...]:
    """Return the names of all criteria."""
    return tuple(sorted(file.stem for file in CRITERIA_FOLDER.glob("*.toml")))


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """A column with offending cells for a clause.

    Attributes:
        people: who have one.
    """

    clause: str
    column: str
    people: int


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The answer of a person to a question of a criterion, and its day."""

    is_yes: bool
    person: str
    date: datetime.date


def read_answers(text: str, criterion: Criterion) -> dict[str, Answer]:
    """Read people's answers to the questions of a criterion, by clause.

    Each names who decided, and when.

    Raises: ParameterError for a file of another form or for another criterion, and for
        a question or a day that cannot be.
    """
    answers = {}
    asked = {clause.id for clause in criterion.clauses if clause.question}
    try:
        fields = tomllib.loads(text)
        is_wrong = fields.pop("rule") != criterion.rule or not set(fields) <= asked
        for clause, answer in fields.items():
            yes = {"yes": True, "no": False}[answer["answer"]]
            answers[clause] = Answer(
                is_yes=yes, person=answer["by"].strip(), date=answer["on"]
            )
            is_wrong |= (
                not answers[clause].person
                or answers[clause].date > datetime.date.today()
            )
    except (AttributeError, KeyError, TypeError, tomllib.TOMLDecodeError):
        is_wrong = True
    if is_wrong:
        raise ParameterError(
            "the file does not hold valid answers to the questions of this criterion",
            remedy='write rule = "NAME", and for each question ["CLAUSE"], answer = '
            '"yes" or "no", '
            'by = "WHO" and on = YEAR-MONTH-DAY, not in the future',
        )
    return answers


@dataclass(frozen=True, kw_only=True)
class ClauseOutcome:
    """The result of one clause.

    Attributes:
        state: "none" says that no violation was found among what a table can show, and
            nothing more.
        columns: of the violation, or to look at for the question.
        figure: a share, or a count of people; None for other clauses.
    """

    clause: Clause
    state: ClauseState
    columns: tuple[Evidence, ...]
    figure: float | None
    answer: Answer | None


def judge_clauses(
    criterion: Criterion,
    all_evidence: Iterable[Evidence],
    figures: Mapping[str, float],
    answers: Mapping[str, Answer],
) -> tuple[ClauseOutcome, ...]:
    """Return the result of every clause.

    Args:
        figures: of the audit, by name; "k" is the people of the smallest group.
        answers: by clause.
    """
    all_evidence = tuple(all_evidence)
    outcomes = []
    for clause in criterion.clauses:
        columns = tuple(
            evidence for evidence in all_evidence if evidence.clause == clause.id
        )
        answer = answers.get(clause.id)
        state: ClauseState = "violation" if columns else "none"
        if clause.question:
            state = (
                "question"
                if answer is None
                else "attested"
                if answer.is_yes
                else "violation"
            )
        elif clause.figure:
            state = "figure"
        elif clause.at_most and Fraction(1, int(figures["k"])) > Fraction(
            clause.at_most
        ):
            state = "violation"
        figure = figures[clause.figure] if clause.figure else None
        outcomes.append(
            ClauseOutcome(
                clause=clause,
                state=state,
                columns=columns,
                figure=figure,
                answer=answer,
            )
        )
    return tuple(outcomes)


def exit_code(outcomes: Iterable[ClauseOutcome]) -> int:
    """Return 1 if a clause is violated, 2 if a question is open, else 0."""
    states = {outcome.state for outcome in outcomes}
    return 1 if "violation" in states else 2 if "question" in states else 0
