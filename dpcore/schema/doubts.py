"""Questions about a column that its rows raise, for the table's owner to answer.

Nothing is decided here. Each doubt follows from the rows, so that a declaration that was
changed because of one is marked as from the data.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from dpcore.errors import SchemaError
from dpcore.schema.column import Categorical, Column
from dpcore.schema.interval import NumberColumn
from dpcore.schema.origin import MISSING_WORDS_RULE, fold_text
from dpcore.schema.suggest import suggest_schema
from dpcore.schema.values import as_text, declared_texts
from dpcore.schema.words import POSSIBLE_ANSWERS, SAME_ANSWERS, means_missing

MIN_ANSWER_SHARE = 0.05
"""Share of the rows from which on a word for missing may be an answer."""
MIN_CODE_RATIO = 2.0
"""Times the largest other number that 99, 999 ... must be to look like a code."""
_MISSING_CODES = (*(10**n - 1 for n in range(2, 7)), 88, 888, 8888, 998, 9998)


@dataclass(frozen=True, kw_only=True)
class Doubt:
    """A question about a column that only the owner of the table can answer.

    Attributes:
        kind: "answer" of a word for missing that may be an answer, "missing" of a
            number that may mean missing, "same" of two spellings of one category.
        rows: that hold it.
        meaning: the category that the text may stand for, of "same".
    """

    kind: Literal["answer", "missing", "same"]
    column: str
    text: str
    rows: int
    meaning: str = ""


def find_doubts(values: pd.Series, column: Column) -> tuple[Doubt, ...]:
    """Return the doubts that a column's rows raise about its declaration. Private."""
    if isinstance(column, NumberColumn):
        return tuple(_find_missing_codes(values, column))
    if not isinstance(column, Categorical):
        return ()
    counts = as_text(values).dropna().value_counts()
    labels = declared_texts(column.categories)
    doubts = [
        Doubt(kind="answer", column=column.name, text=text, rows=int(rows))
        for text, rows in counts.items()
        if text in POSSIBLE_ANSWERS
        and means_missing(text)
        and MISSING_WORDS_RULE in column.rules
        and text not in labels
        and rows >= MIN_ANSWER_SHARE * len(values)
    ]
    return (
        *doubts,
        *(
            Doubt(
                kind="same",
                column=column.name,
                text=short,
                rows=int(counts.get(short, 0)),
                meaning=long,
            )
            for short, long in _pair_spellings(labels)
        ),
    )


def confirm_doubt(doubt: Doubt, values: pd.Series, column: Column) -> Column:
    """Return the declaration if the doubt is true, marked as taken from the data."""
    marks = dict.fromkeys(column.from_data)
    if doubt.kind == "missing":
        marks |= dict.fromkeys(("missing", "missing_tokens"))
        column = _propose_without_code(doubt, values, column)
        return dataclasses.replace(
            column,
            missing=True,
            missing_tokens=(*column.missing_tokens, doubt.text),
            from_data=tuple(marks | dict.fromkeys(column.from_data)),
        )
    if not isinstance(column, Categorical):
        return column
    if doubt.kind == "answer":
        return dataclasses.replace(
            column,
            categories=(*column.categories, doubt.text),
            ordered=False,
            from_data=tuple(marks | {"categories": None}),
        )
    return dataclasses.replace(
        column,
        categories=tuple(label for label in column.categories if label != doubt.text),
        synonyms=(*column.synonyms, (doubt.text, doubt.meaning)),
        from_data=tuple(marks | dict.fromkeys(("categories", "synonyms"))),
    )


def _find_missing_codes(values: pd.Series, column: NumberColumn) -> list[Doubt]:
    """Return doubts about numbers that may mean missing, such as a lone -1, or 999."""
    numbers = pd.to_numeric(values, errors="coerce").astype("float64").dropna()
    known = set(column.missing_tokens)
    distinct = sorted(
        number for number in numbers.unique() if f"{number:.12g}" not in known
    )
    suspects = []
    negative = [number for number in distinct if number < 0]
    if (
        len(distinct) > 2
        and len(negative) == 1
        and -negative[0] in (1, 7, 8, 9, *_MISSING_CODES)
    ):
        suspects.append(negative[0])
    if (
        len(distinct) > 2
        and distinct[-1] in _MISSING_CODES
        and distinct[-1] > MIN_CODE_RATIO * max(distinct[-2], 1)
    ):
        suspects.append(distinct[-1])
    return [
        Doubt(
            kind="missing",
            column=column.name,
            text=f"{number:.12g}",
            rows=int((numbers == number).sum()),
        )
        for number in suspects
    ]


def _pair_spellings(labels: Sequence[str]) -> list[tuple[str, str]]:
    """Return pairs of labels for one answer: a shorter spelling, and the longest one.

    Spellings that differ in case alone are joined by a rule of their own.
    """
    pairs = []
    for group in SAME_ANSWERS:
        members = sorted(
            (label for label in labels if fold_text(label) in group),
            key=lambda label: (-len(label), label),
        )
        pairs += [
            (label, members[0])
            for label in members[1:]
            if fold_text(label) != fold_text(members[0])
        ]
    return pairs


def _propose_without_code(doubt: Doubt, values: pd.Series, column: Column) -> Column:
    """Return the column with cells proposed anew, as if the code meant missing.

    Cells that do not follow the rows stay.
    """
    if not {"low", "high", "categories"}.intersection(column.from_data):
        return column
    numbers = pd.to_numeric(values, errors="coerce").astype("float64")
    rest = values.mask((numbers == float(doubt.text)).to_numpy())
    try:
        proposed = suggest_schema(
            pd.DataFrame({column.name: rest}), missing=True
        ).columns
    except SchemaError:  # nothing else is left
        return column
    return dataclasses.replace(proposed[0], missing_tokens=column.missing_tokens)
