"""Results of published criteria in words, for the page, the print and the command."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from dpcore.risk.criteria import Clause, ClauseOutcome, Criterion
from workbench.language.messages import N_, _, capital, name_and_text
from workbench.language.wording import people_words, percent, printing
from workbench.report.document import fill_template

STATE_WORDS = {
    "violation": N_("violation found"),
    "none": N_("no violation found in what a table can show"),
    "question": N_("only you can decide"),
    "attested": N_("decided by a person"),
    "figure": N_("a figure without a verdict"),
}


def about_result(criterion: Criterion) -> list[str]:
    """State the limits of a result, and the source and coverage of its criterion."""
    return [
        _("This is not legal advice and not an expert determination."),
        _("{title}: {source}, {version}; read on {day}.").format(
            title=_(criterion.title),
            source=criterion.source,
            version=criterion.version,
            day=criterion.read,
        ),
        _(criterion.covers),
    ]


def outcome_table(
    outcomes: Sequence[ClauseOutcome], *, internal: bool = True
) -> pd.DataFrame:
    """Return the results as a table, one line per clause.

    Args:
        internal: whether columns, counts and answers are included.
    """
    lines = [
        (
            outcome.clause.id,
            _(outcome.clause.title),
            _(STATE_WORDS[outcome.state]),
            evidence_words(outcome),
        )
        for outcome in outcomes
    ]
    headings = [_("clause"), _("what it is about"), _("result"), _("what was found")]
    return pd.DataFrame(lines, columns=headings).iloc[:, : 4 if internal else 3]


def evidence_words(outcome: ClauseOutcome) -> str:
    """Name the columns, the figure or the answer behind a result."""
    parts = []
    of_column = _("{column}: {people} people")
    with printing():
        parts += [
            of_column.format(column=column.column, people=people_words(column.people))
            for column in outcome.columns
        ]
        if outcome.figure is not None:
            write = (
                people_words if outcome.clause.figure in ("people", "k") else percent
            )
            parts.append(write(outcome.figure))
    if outcome.answer is not None:
        answer = _("yes") if outcome.answer.is_yes else _("no")
        by = _("{answer}, according to {who} on {day}")
        parts.append(
            by.format(answer=answer, who=outcome.answer.person, day=outcome.answer.date)
        )
    return "; ".join(parts)


def questions_by_clause(clauses: Sequence[Clause]) -> dict[str, str]:
    """Return the questions for people, by clause."""
    return {
        clause.id: name_and_text(clause.id, _(clause.question))
        for clause in clauses
        if clause.question
    }


def printed_parts(
    criterion: Criterion, outcomes: Sequence[ClauseOutcome], *, internal: bool = True
) -> list[Any]:
    """Return the parts of a printed file: headings, tables and sentences."""
    return [
        (
            _("Measure against published criteria"),
            outcome_table(outcomes, internal=internal),
            about_result(criterion),
        ),
        (
            capital("only you can decide"),
            pd.DataFrame(),
            [*questions_by_clause(criterion.clauses).values()],
        ),
    ]


def printed_page(
    criterion: Criterion, outcomes: Sequence[ClauseOutcome], *, internal: bool
) -> str:
    """Return the result as one page to print."""
    return fill_template(
        "internal.html",
        title=_(criterion.title),
        internal=_("Internal: this report reads the original. Do not publish it.")
        if internal
        else "",
        verdict="",
        parts=printed_parts(criterion, outcomes, internal=internal),
        terms="",
        signatures=None,
    )
