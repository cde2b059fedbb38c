"""A schema as an editable grid, and back, with one sentence per wrong line."""

import dataclasses
from typing import Any

import pandas as pd

from dpcore.errors import DpcoreError, ParameterError
from dpcore.schema import Column, Excluded, Integer, PrivacyUnit, Schema
from dpcore.schema.interval import NumberColumn
from dpcore.schema.origin import (
    AGES,
    CELLS,
    CENSORED,
    MISSING_FACTS,
    ONLY_NUMBERS,
    READ,
    SPELLINGS,
    TEXTS,
    VALUES,
    WORDS,
)
from workbench.language.columns import ColumnForm, form_of, join, split_parts
from workbench.language.messages import _, translate

LEAVE_OUT = "leave out"
LONGEST_SOURCE = 200  # characters of a public source that is typed
KINDS = (*ColumnForm.kinds(), LEAVE_OUT)
_EMPTY = {
    "column": "",
    "kind": "",
    **dict.fromkeys(("low", "high", "step", "special", "categories"), ""),
    **dict.fromkeys(("other", "missing"), False),
    **dict.fromkeys(
        ("known from", "means missing", "counts as", "reason", "rules", "told"), ""
    ),
}
"""A line of the grid: its columns, in their order."""
# columns of the grid that no person edits: public rules, and answers about facts
HIDDEN = ("rules", "told")
NEVER_MISSING = "never missing"
"""Told of every column: that no cell can be empty in such a table.

It covers a column as long as that has no cell for missing; one that is ticked later is
marked.
"""
# facts that are answered one by one; a column's public source says nothing of them
ASKED_FACTS = (*TEXTS, "spellings")
# facts that people change after the check against the table
_BY_LOOKING = ("other", "missing", "unreadable_is_missing")


def to_grid(schema: Schema, header: list[str]) -> pd.DataFrame:
    """Return one line per column, in the table's order, as text and ticks."""
    declared = {column.name: column for column in schema.columns}
    excluded = {column.name: column for column in schema.excluded}
    return pd.DataFrame(
        [
            line(declared[name]) if name in declared else _left_out(excluded[name])
            for name in header
            if name in declared or name in excluded
        ],
    )


def kind_title(kind: str) -> str:
    """Return the name of a kind of column, or of leaving it out."""
    return _("leave out") if kind == LEAVE_OUT else _(ColumnForm.of_kind(kind).title)


def from_grid(
    grid: pd.DataFrame,
    suggested: Schema,
    unit: PrivacyUnit,
) -> tuple[Schema | None, dict[str, DpcoreError]]:
    """Read a schema from the grid; return also the errors by column.

    A fact that a person changed no longer counts as taken from the data, nor does
    one of a column with a named source. Texts that mean missing, or count as
    others, were typed after the table was shown: they count as taken until they are
    answered about.
    """
    before = {column.name: column for column in suggested.columns}
    left_out = {column.name: column.from_data for column in suggested.excluded}
    columns: list[Column] = []
    excluded: list[Excluded] = []
    problems: dict[str, DpcoreError] = {}
    for record in grid.to_dict("records"):
        line = {str(key): value for key, value in record.items()}
        name = line["column"]
        if line["kind"] == LEAVE_OUT or name == unit.id_column:
            is_id = line["kind"] != LEAVE_OUT
            excluded.append(
                Excluded(
                    name=name,
                    reason=_("names the person") if is_id else line["reason"],
                    from_data=() if is_id else left_out.get(name, ()),
                )
            )
            continue
        try:
            column = _column(line, before.get(name))
        except DpcoreError as error:
            problems[name] = error
            continue
        column = _mark_taken(column, before.get(name), line)
        if READ in (
            *getattr(before.get(name), "from_data", ()),
            *left_out.get(name, ()),
        ):
            column = dataclasses.replace(column, from_data=(*column.from_data, READ))
        columns.append(column)
    if problems or not columns:
        if not problems:
            problems[""] = ParameterError(
                "no column is left", remedy="keep at least one column"
            )
        return None, problems
    return Schema(columns=tuple(columns), unit=unit, excluded=tuple(excluded)), {}


def line(column: Column) -> dict[str, Any]:
    """Return one column as a line of the grid."""
    return {
        **_EMPTY,
        "column": column.name,
        "kind": column.kind,
        "missing": column.missing,
        "known from": column.known_from or ("" if column.from_data else _("declared")),
        "means missing": join(column.missing_tokens),
        "counts as": join(f"{text} = {value}" for text, value in column.synonyms),
        "reason": translate(column.reason),
        "rules": join(column.rules),
        **form_of(column).cells(column),
    }


def told_note(column: Column, fact: str) -> str:
    """Return the note that a fact, as it is now, was answered about."""
    content = getattr(column, fact, "")
    parts = content if isinstance(content, tuple) else (content,)
    texts = (
        # written as the grid writes it
        f"{part:.12g}" if isinstance(part, float) else str(part)
        for part in parts
    )
    return f"{fact} {join(texts)}"


def source_note(known_from: str) -> str:
    """Return the note that an answer filled in the source."""
    return f"known from {known_from}"


def rounded_note(column: Column) -> str:
    """Return the note that these bounds are rounded ones of the table."""
    cells = form_of(column).cells(column)
    return f"rounded {cells['low']} {cells['high']}"


def _left_out(column: Excluded) -> dict[str, Any]:
    return {
        **_EMPTY,
        "column": column.name,
        "kind": LEAVE_OUT,
        "reason": translate(column.reason),
    }


def _column(line: dict[str, Any], suggested: Column | None) -> Column:
    kind: Any = Column.of_kind(line["kind"])
    facts = ColumnForm.of_kind(line["kind"]).facts(line)
    column: Column = kind(
        name=line["column"],
        missing=bool(line["missing"]),
        missing_tokens=split_parts(line["means missing"]) if line["missing"] else (),
        synonyms=_pairs(line),
        reason=line["reason"] or "",
        **facts,
    )
    return dataclasses.replace(
        column,
        rules=_rules(column, split_parts(line["rules"]), is_new=suggested is None),
    )


def _rules(column: Column, before: tuple[str, ...], *, is_new: bool) -> tuple[str, ...]:
    """Return the public rules of a line that fit its declaration.

    Args:
        before: those of the line.
    """
    usual = (WORDS, CENSORED) if WORDS in before or is_new else ()
    rules = dict.fromkeys(
        rule for rule in (*usual, *before) if rule in column.readable_by
    )
    if not column.missing:
        rules = {rule: None for rule in rules if rule not in (WORDS, ONLY_NUMBERS)}
    if not (isinstance(column, Integer) and column.has_conventional_ages):
        rules.pop(AGES, None)
    return tuple(rules)


def _mark_taken(
    column: Column, suggested: Column | None, line: dict[str, Any]
) -> Column:
    """Mark facts that came from the data.

    Marks outlast a change of kind or of some categories.
    """
    known_from = str(line["known from"] or "").strip()[:LONGEST_SOURCE]
    answered = split_parts(line["told"])
    is_typed = (
        known_from != getattr(suggested, "known_from", "")
        and source_note(known_from) not in answered
    )
    is_known = suggested is None or bool(known_from and is_typed)
    is_rounded = "low" in column.facts and rounded_note(column) in answered
    marks = [
        fact
        for fact in column.facts
        if told_note(column, fact) not in answered
        and (
            _answered_otherwise(column, fact, answered)
            or (
                (not is_known or fact in ASKED_FACTS)
                and _follows_table(column, suggested, fact, is_rounded=is_rounded)
            )
        )
    ]
    if NEVER_MISSING in answered and not column.missing:
        marks = [fact for fact in marks if fact not in MISSING_FACTS]
    if not is_typed and set(VALUES).intersection(marks):
        known_from = ""  # the answer was about other values
    same = all(
        getattr(column, fact, None) == getattr(suggested, fact, None) for fact in CELLS
    )
    if (
        isinstance(column, NumberColumn)
        and isinstance(suggested, NumberColumn)
        and same
        and not known_from
    ):
        column = dataclasses.replace(column, found=suggested.found)
    return dataclasses.replace(column, from_data=tuple(marks), known_from=known_from)


def _answered_otherwise(column: Column, fact: str, answered: tuple[str, ...]) -> bool:
    """Return whether an answer about this fact was later changed by hand.

    People change it for what the check against the table showed.
    """
    if fact in MISSING_FACTS and NEVER_MISSING in answered:
        return bool(getattr(column, fact))
    return fact in _BY_LOOKING and any(note.startswith(f"{fact} ") for note in answered)


def _follows_table(
    column: Column, suggested: Column | None, fact: str, *, is_rounded: bool
) -> bool:
    """Return whether a fact follows the table if nothing was answered."""
    if fact == "spellings":
        return (
            suggested is None
            or SPELLINGS not in suggested.rules
            or fact in suggested.from_data
        )
    now = getattr(column, fact, None)
    before = getattr(suggested, fact, None)
    if fact in TEXTS:
        changed = bool(now) and now != before
        return changed or (suggested is not None and fact in suggested.from_data)
    if suggested is None:
        return False
    if fact in _BY_LOOKING:
        return fact in suggested.from_data or (
            hasattr(suggested, fact) and now != before
        )
    if fact not in suggested.from_data:
        return False
    if is_rounded:
        return True
    if isinstance(now, tuple):
        return bool(set(map(str, now)) & set(map(str, before or ())))
    return bool(now == before)


def _pairs(line: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    """Read pairs that are written as "text = value"."""
    pairs = [part.rpartition(" = ") for part in split_parts(line["counts as"])]
    if not all(sign for _text, sign, _value in pairs):
        raise ParameterError(
            "what counts as what in column {line!r} is not understood",
            remedy="write it as text = value, with | between",
            line=line["column"],
        )
    return tuple((text.strip(), value.strip()) for text, _sign, value in pairs)
