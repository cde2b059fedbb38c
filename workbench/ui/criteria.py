"""Results of published criteria in words, the same on the page, in the printed file and as a command."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from dpcore.risk.criteria import Clause, Criterion, Outcome
from workbench.ui.language import Words, _, code
from workbench.ui.report.document import fragment
from workbench.ui.verdict import count_words, share_words

STATES = Words("ui.criteria")


def about(criterion: Criterion) -> list[str]:
    """Say what no result is, where a criterion is from, and what of it is covered."""
    source = _("{title}: {source}, {version}; read on {day}.")
    return [
        _("This is not legal advice and not an expert determination."),
        source.format(
            title=_(criterion.title), source=criterion.source, version=criterion.version, day=criterion.read
        ),
        _(criterion.covers),
    ]


def table(outcomes: Sequence[Outcome], *, internal: bool = True) -> pd.DataFrame:
    """Return a line per clause. Args: internal: whether columns, counts and answers are told too."""
    lines = []
    for each in outcomes:
        line = {
            _("clause"): each.clause.id,
            _("what it is about"): _(each.clause.title),
            _("result"): STATES[each.state],
        }
        lines.append(line | ({_("what was found"): _found(each)} if internal else {}))
    return pd.DataFrame(lines)


def _found(outcome: Outcome) -> str:
    people = _("{column}: {people} people")
    parts = [
        people.format(column=each.column, people=count_words(each.people, printed=True))
        for each in outcome.columns
    ]
    if outcome.figure is not None:
        write = count_words if outcome.clause.figure in ("people", "k") else share_words
        parts.append(write(outcome.figure, printed=True))
    if outcome.answer is not None:
        answer = _("yes, says {who} on {day}") if outcome.answer.yes else _("no, says {who} on {day}")
        parts.append(answer.format(who=outcome.answer.by, day=outcome.answer.on))
    return "; ".join(parts)


def questions(clauses: Sequence[Clause]) -> dict[str, str]:
    """Return the questions that only people can answer, by clause."""
    asked = _("{clause}: {question}")
    return {
        each.id: asked.format(clause=each.id, question=_(each.question)) for each in clauses if each.question
    }


def parts(criterion: Criterion, outcomes: Sequence[Outcome], *, internal: bool = True) -> list[Any]:
    """Return the parts of a printed file: headings, tables and sentences."""
    return [
        (_("Measured against a published criterion"), table(outcomes, internal=internal), about(criterion)),
        (_("Only you can decide"), pd.DataFrame(), [*questions(criterion.clauses).values()]),
    ]


def page(criterion: Criterion, outcomes: Sequence[Outcome], *, internal: bool) -> str:
    """Return the result as one page to print."""
    marked = _("Internal: this report reads the original. Do not publish it.")
    return fragment(
        "internal.html",
        language=code(),
        title=_("Internal: {title}").format(title=_(criterion.title)) if internal else _(criterion.title),
        internal=marked if internal else "",
        verdict="",
        parts=parts(criterion, outcomes, internal=internal),
        terms=marked if internal else "",
        signatures=None,
    )
