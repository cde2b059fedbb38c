"""Convert a schema to an editable grid and back, with one error per invalid line."""

import dataclasses
from collections.abc import Collection, Sequence
from typing import Any

import pandas as pd

from dpcore.errors import DpcoreError, ParameterError
from dpcore.schema import (
    Categorical,
    Column,
    Date,
    ExcludedColumn,
    Integer,
    PrivacyUnit,
    Schema,
    Time,
)
from dpcore.schema.meaning import time_of_day_column
from dpcore.schema.order import order_labels
from dpcore.schema.origin import (
    AGES_RULE,
    CELL_FACTS,
    CENSORED_RULE,
    MISSING_FACTS,
    MISSING_WORDS_RULE,
    ONLY_NUMBERS_RULE,
    SPELLINGS_RULE,
    TEXT_FACTS,
    VALUE_FACTS,
)
from dpcore.schema.values import parse_number
from workbench.language.columns import ColumnForm, form_of, join_parts, split_parts
from workbench.language.messages import _, translate
from workbench.session.draft import ShownColumns

LEAVE_OUT = "leave out"
MAX_SOURCE_CHARACTERS = 200  # characters of a public source that is typed
KINDS = (*ColumnForm.kinds(), LEAVE_OUT)
_EMPTY_LINE = {
    "column": "",
    "kind": "",
    **dict.fromkeys(("low", "high", "step", "special", "decimals", "categories"), ""),
    **dict.fromkeys(("other", "missing"), False),
    **dict.fromkeys(
        ("known from", "means missing", "counts as", "reason", "rules", "told"), ""
    ),
}
"""Empty line of the grid, with its columns in their order."""
# People do not edit these columns of the grid: public rules, and answers about facts.
HIDDEN_COLUMNS = ("rules", "told")
NEVER_MISSING = "never missing"
"""Note of the answer that no cell can be empty in a table of this kind.

It covers a column as long as that has no cell for missing; one that is ticked later is
marked.
"""
# These facts are confirmed one by one; a column's public source does not cover them.
ASKED_FACTS = (*TEXT_FACTS, "spellings")
_KIND_FACTS = ("written",)
"""Facts that the grid does not show; they are public if the column's kind is."""
# People may ask for these cells because of what the check against the table shows.
_CELLS_ADDED_AFTER_CHECK = ("other", "missing", "unreadable_is_missing")


def to_grid(schema: Schema, header: list[str]) -> pd.DataFrame:
    """Return one line per column, in the table's order, as text and ticks."""
    declared = {column.name: column for column in schema.columns}
    excluded = {column.name: column for column in schema.excluded}
    return pd.DataFrame(
        [
            grid_line(declared[name])
            if name in declared
            else _left_out_line(excluded[name])
            for name in header
            if name in declared or name in excluded
        ],
    )


def kind_title(kind: str) -> str:
    """Return the title of a kind of column, or of the choice to leave it out."""
    return _("leave out") if kind == LEAVE_OUT else _(ColumnForm.of_kind(kind).title)


def from_grid(
    grid: pd.DataFrame,
    suggested: Schema,
    unit: PrivacyUnit,
    shown: ShownColumns | None = None,
) -> tuple[Schema | None, dict[str, DpcoreError]]:
    """Read a schema from the grid; return also the errors by column.

    The check against the table is shown beside the grid, and people change a line for
    what it shows. So a fact that differs from what was shown first counts as taken from
    the data, until it is answered about or a source is typed, which answers for what
    the line says at that moment. Texts that mean missing, or count as others, count as
    taken until they are answered about.

    Args:
        shown: lines as they were at these moments; it is brought up to date. None if
            no rows are shown beside the grid.
    """
    before = {column.name: column for column in suggested.columns}
    left_out = {column.name: column.from_data for column in suggested.excluded}
    columns: list[Column] = []
    typed: set[str] = set()
    excluded: list[ExcludedColumn] = []
    problems: dict[str, DpcoreError] = {}
    for record in grid.to_dict("records"):
        line = {str(key): value for key, value in record.items()}
        name = line["column"]
        if line["kind"] == LEAVE_OUT or name == unit.id_column:
            is_id = name == unit.id_column
            excluded.append(
                ExcludedColumn(
                    name=name,
                    reason=_("names the person") if is_id else line["reason"],
                    from_data=() if is_id else left_out.get(name, ()),
                )
            )
            continue
        try:
            column = _read_column(line, before.get(name))
        except DpcoreError as error:
            problems[name] = error
            continue
        if _is_source_typed(line, before.get(name)):
            typed.add(name)
        columns.append(_mark_taken(column, before.get(name), line, shown))
    if problems or not columns:
        if not problems:
            problems[""] = ParameterError(
                "no column is left", remedy="keep at least one column"
            )
        return None, problems
    columns = _with_times(columns, suggested, typed)
    return Schema(columns=tuple(columns), unit=unit, excluded=tuple(excluded)), {}


def _with_times(
    columns: list[Column], suggested: Schema, typed: Collection[str]
) -> list[Column]:
    """Insert the times of time stamps, which have no line, after their days.

    A source that is typed answers for what the line says, which is days: whether a row
    has a time is looked up.
    """
    timed = {column.of for column in suggested.columns if isinstance(column, Time)}
    timed.difference_update(typed)
    beside = {
        column.name: [column, time_of_day_column(column)]
        for column in columns
        if isinstance(column, Date) and column.name in timed
    }
    return [each for column in columns for each in beside.get(column.name, [column])]


def mark_later_codebook(column: Column, shown: ShownColumns) -> Column:
    """Mark facts in which a codebook differs from an earlier one with the same source.

    The check against the table was shown with that one. Another source answers anew.
    """
    before = shown.columns_of_codebook.get(column.name)
    if before is None or column.known_from not in ("", before.known_from):
        shown.columns_of_codebook[column.name] = column
        return column
    changed = (
        fact
        for fact in column.facts
        if fact not in (*ASKED_FACTS, *column.from_data)
        and _fact_differs(column, before, fact)
    )
    return dataclasses.replace(column, from_data=(*column.from_data, *changed))


def grid_line(column: Column) -> dict[str, Any]:
    """Return one column as a line of the grid."""
    return {
        **_EMPTY_LINE,
        "column": column.name,
        "kind": column.kind,
        "missing": column.missing,
        "known from": _source_text(column),
        "means missing": join_parts(column.missing_tokens),
        "counts as": join_parts(f"{text} = {value}" for text, value in column.synonyms),
        "reason": translate(column.reason),
        "rules": join_parts(column.rules),
        **form_of(column).field_contents(column),
    }


def answer_note(column: Column, fact: str) -> str:
    """Return the note that a question about this value of a fact was answered."""
    content = getattr(column, fact, "")
    parts = content if isinstance(content, tuple) else (content,)
    texts = (
        # Numbers are written as the grid writes them.
        f"{part:.12g}" if isinstance(part, float) else str(part)
        for part in parts
    )
    return f"{fact} {join_parts(texts)}"


def source_note(known_from: str) -> str:
    """Return the note that this source was filled in by an answer."""
    return f"known from {known_from}"


def _source_text(column: Column) -> str:
    """Return the source of a column as its line states it at first."""
    return column.known_from or ("" if column.from_data else _("declared"))


def _left_out_line(column: ExcludedColumn) -> dict[str, Any]:
    return {
        **_EMPTY_LINE,
        "column": column.name,
        "kind": LEAVE_OUT,
        "reason": translate(column.reason),
    }


def _read_column(line: dict[str, Any], suggested: Column | None) -> Column:
    kind: Any = Column.of_kind(line["kind"])
    facts = ColumnForm.of_kind(line["kind"]).parse_facts(line)
    if kind is Categorical:
        facts["ordered"] = _is_ordered(line, facts["categories"], suggested)
    # The grid does not show how times are written, so a typed source does not cover it.
    is_typed = _is_source_typed(line, suggested)
    if isinstance(suggested, Time) and kind is Time and not is_typed:
        facts["written"] = suggested.written
    column: Column = kind(
        name=line["column"],
        missing=bool(line["missing"]),
        missing_tokens=split_parts(line["means missing"]) if line["missing"] else (),
        synonyms=_read_pairs(line),
        reason=line["reason"] or "",
        **facts,
    )
    rules = split_parts(line["rules"])
    if is_typed:
        rules = _with_rules_of_line(column, rules)
    return dataclasses.replace(
        column, rules=_fitting_rules(column, rules, is_new=suggested is None)
    )


def _with_rules_of_line(column: Column, rules: tuple[str, ...]) -> tuple[str, ...]:
    """Return the rules of a line; rules about its values follow from the line alone.

    The table suggested them by its rows, and the grid does not show them.
    """
    kept = [rule for rule in rules if rule not in (ONLY_NUMBERS_RULE, AGES_RULE)]
    if isinstance(column, Categorical):
        labels = [parse_number(str(label)) for label in column.categories]
        kept += [ONLY_NUMBERS_RULE] if labels and None not in labels else []
    if isinstance(column, Integer) and column.has_conventional_ages:
        kept.append(AGES_RULE)
    return tuple(kept)


def _is_ordered(
    line: dict[str, Any], categories: Sequence[str | int], suggested: Column | None
) -> bool:
    """Return whether the categories of a line are ordered; the grid does not show it.

    Of a list that is typed, or whose source is, its own labels say it: what the table
    suggested follows its rows.
    """
    if isinstance(suggested, Categorical):
        is_told = not set(VALUE_FACTS).intersection(suggested.from_data)
        is_same = tuple(map(str, categories)) == tuple(map(str, suggested.categories))
        if is_told or (is_same and not _is_source_typed(line, suggested)):
            return suggested.ordered
    labels = tuple(map(str, categories))
    return order_labels(labels) == labels


def _is_source_typed(line: dict[str, Any], suggested: Column | None) -> bool:
    """Return whether a person typed where a column is known from."""
    known_from = str(line["known from"] or "").strip()[:MAX_SOURCE_CHARACTERS]
    first = "" if suggested is None else _source_text(suggested)
    is_answer = source_note(known_from) in split_parts(line["told"])
    return known_from not in ("", first) and not is_answer


def _fitting_rules(
    column: Column, line_rules: tuple[str, ...], *, is_new: bool
) -> tuple[str, ...]:
    """Return the public rules of a line that fit its declaration.

    Args:
        line_rules: those of the line.
    """
    usual = (
        (MISSING_WORDS_RULE, CENSORED_RULE)
        if MISSING_WORDS_RULE in line_rules or is_new
        else ()
    )
    rules = dict.fromkeys(
        rule for rule in (*usual, *line_rules) if rule in column.readable_by
    )
    if not column.missing:
        rules = {
            rule: None
            for rule in rules
            if rule not in (MISSING_WORDS_RULE, ONLY_NUMBERS_RULE)
        }
    if not (isinstance(column, Integer) and column.has_conventional_ages):
        rules.pop(AGES_RULE, None)
    return tuple(rules)


def _mark_taken(
    column: Column,
    suggested: Column | None,
    line: dict[str, Any],
    shown: ShownColumns | None,
) -> Column:
    """Mark facts that came from the data, and note what the line says now."""
    known_from = str(line["known from"] or "").strip()[:MAX_SOURCE_CHARACTERS]
    answered = split_parts(line["told"])
    column = dataclasses.replace(column, known_from=known_from)
    first = _column_at_first_check(column, suggested, shown)
    is_typed = (
        known_from not in ("", first.known_from)
        and source_note(known_from) not in answered
    )
    at_source = _column_at_typed_source(column, shown, is_typed=is_typed)
    marks = [
        fact
        for fact in column.facts
        if answer_note(column, fact) not in answered
        and (
            _changed_after_answer(column, fact, answered, at_source)
            or (
                _is_new_or_taken(column, suggested, fact)
                if fact in ASKED_FACTS
                else _fact_differs(column, at_source or first, fact)
                or (at_source is None and fact in first.from_data)
            )
        )
    ]
    if "kind" in marks:
        marks += [
            fact for fact in _KIND_FACTS if fact in column.facts and fact not in marks
        ]
    if NEVER_MISSING in answered and not column.missing:
        marks = [fact for fact in marks if fact not in MISSING_FACTS]
    is_of_spellings = {
        answer_note(column, "spellings"),
        source_note(known_from),
    } <= set(answered)
    if set(VALUE_FACTS).intersection(marks) and not is_of_spellings:
        known_from = ""  # the answer was about other values
    same = all(
        getattr(column, fact, None) == getattr(suggested, fact, None)
        for fact in CELL_FACTS
    )
    if (
        column.holds_numbers
        and suggested is not None
        and suggested.holds_numbers
        and same
        and not known_from
    ):
        column = dataclasses.replace(column, found=suggested.found)
    return dataclasses.replace(column, from_data=tuple(marks), known_from=known_from)


def _column_at_first_check(
    column: Column, suggested: Column | None, shown: ShownColumns | None
) -> Column:
    """Return a column as it was when the check against the table was first shown."""
    if suggested is not None:
        return dataclasses.replace(suggested, known_from=_source_text(suggested))
    if shown is None:
        return column
    return shown.columns_first_shown.setdefault(column.name, column)


def _column_at_typed_source(
    column: Column, shown: ShownColumns | None, *, is_typed: bool
) -> Column | None:
    """Return a column as it was when its source was typed; None if none was typed."""
    sources = {} if shown is None else shown.columns_at_source_entry
    if not is_typed:
        sources.pop(column.name, None)
        return None
    before = sources.get(column.name)
    if before is None or before.known_from != column.known_from:
        sources[column.name] = column
    return sources[column.name]


def _fact_differs(column: Column, earlier: Column, fact: str) -> bool:
    """Return whether a fact has changed, as far as the grid writes it."""
    if fact not in earlier.facts:
        defaults = {field.name: field.default for field in dataclasses.fields(column)}
        return bool(getattr(column, fact) != defaults.get(fact))
    return answer_note(column, fact) != answer_note(earlier, fact)


def _changed_after_answer(
    column: Column, fact: str, answered: tuple[str, ...], at_source: Column | None
) -> bool:
    """Return whether an answer about this fact was later changed by hand.

    People change it for what the check against the table showed. A source that is typed
    answers for values anew.
    """
    if fact in MISSING_FACTS and NEVER_MISSING in answered:
        return bool(getattr(column, fact))
    asked = (
        _CELLS_ADDED_AFTER_CHECK
        if at_source is not None
        else (*VALUE_FACTS, *_CELLS_ADDED_AFTER_CHECK)
    )
    return fact in asked and any(note.startswith(f"{fact} ") for note in answered)


def _is_new_or_taken(column: Column, suggested: Column | None, fact: str) -> bool:
    """Return whether texts or joined spellings are marked or differ from the
    suggestion.
    """
    if suggested is not None and fact in suggested.from_data:
        return True
    if fact == "spellings":
        return suggested is None or SPELLINGS_RULE not in suggested.rules
    now = getattr(column, fact)
    return bool(now) and now != getattr(suggested, fact, None)


def _read_pairs(line: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    """Read pairs that are written as "text = value"."""
    pairs = [part.rpartition(" = ") for part in split_parts(line["counts as"])]
    if not all(sign for _text, sign, _value in pairs):
        raise ParameterError(
            "the “counts as” entry of column {line!r} cannot be read",
            remedy="write each pair as text = value, and separate pairs by |",
            line=line["column"],
        )
    return tuple((text.strip(), value.strip()) for text, _sign, value in pairs)
