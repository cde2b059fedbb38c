"""Questions, answers and figures about the facts that come from a draft's rows."""

import dataclasses
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd

from dpcore.accounting.loss import PureDP
from dpcore.evaluation.table.cells_of_numbers import with_public_cells
from dpcore.mechanisms.sensitivity import noise_variance
from dpcore.schema import Boolean, Categorical, Column, IntervalColumn, Schema
from dpcore.schema.detector import may_hold_lookup_values
from dpcore.schema.doubts import Doubt, confirm_doubt, find_doubts
from dpcore.schema.origin import (
    SPELLINGS_RULE,
    VALUE_FACTS,
    CellSearch,
    fold_text,
    label_of_folded,
)
from dpcore.schema.values import as_text, declared_texts
from dpcore.tables.counts import half_width
from workbench.language.columns import (
    MAX_SHOWN_CATEGORIES,
    join_parts,
    public_contents,
    round_bounds,
    split_parts,
)
from workbench.session.draft import Draft
from workbench.upload import grid

RARE_BELOW = 10  # people; a label held by fewer may be about somebody others know
PLANNED_SEARCH = CellSearch(measure="epsilon", amount="")
"""Placeholder for a cell search that is made when the table is opened."""
# These facts describe the range and the cells of an interval column.
_RANGE_FACTS = {"low", "high", "bin_width", "step", "cuts", "special", "decimals"}
_LABEL_FACTS = {"true_label", "false_label"}


@dataclasses.dataclass(frozen=True, kw_only=True)
class FactQuestion:
    """A question to the owner of a table about facts taken from it.

    Attributes:
        kind: "public" of what is the same for every such table, "round" of round bounds
            in place of the table's own, "one" of one column by itself.
        columns: columns that it asks about.
        unproposed_columns: columns that are shown with the first question too, and that nothing is
            proposed for.
        columns_after: how many columns are asked about after these.
    """

    kind: Literal["public", "round", "one"]
    columns: tuple[Column, ...]
    unproposed_columns: tuple[Column, ...] = ()
    columns_after: int = 0


@dataclasses.dataclass(frozen=True, kw_only=True)
class FactItem:
    """A group of facts about one column that an answer can make public.

    Attributes:
        column: the declaration that holds it.
        facts: names of its facts that are marked now.
        kind: "values", or the fact.
        content: what would become public, whole: every label, the rare ones first.
        is_proposed: whether it is proposed as public.
    """

    column: Column
    facts: tuple[str, ...]
    kind: str
    content: tuple[str, ...]
    is_proposed: bool


def next_question(draft: Draft, schema: Schema) -> FactQuestion | None:
    """Return the first open question; None if there is none."""
    open_facts = set(schema.columns_from_data) - draft.answers.columns_as_taken
    # times of day have no line of their own: the answer about their days covers them
    open_facts &= {str(name) for name in draft.edited_grid["column"]}
    unsaid = [
        column
        for column in schema.columns
        if column.name in open_facts and (_open_facts(column) or column.found)
    ]
    public = tuple(
        column
        for column in unsaid
        if is_proposed_public(column, rare_spellings(draft, schema, column))
    )
    if public:
        lists = [
            column for column in unsaid if column.has_labels and column not in public
        ]
        lists.sort(key=lambda column: not rare_spellings(draft, schema, column))
        more = len(unsaid) - len(public) - len(lists)
        return FactQuestion(
            kind="public",
            columns=public,
            unproposed_columns=tuple(lists),
            columns_after=more,
        )
    wide = tuple(
        column
        for column in unsaid
        if not column.found and round_bounds(column) is not None
    )
    if wide and not draft.answers.asks_one_by_one:
        return FactQuestion(
            kind="round", columns=wide, columns_after=len(unsaid) - len(wide)
        )
    return (
        FactQuestion(kind="one", columns=(unsaid[0],), columns_after=len(unsaid) - 1)
        if unsaid
        else None
    )


def searchable_columns(schema: Schema) -> tuple[str, ...]:
    """Return the numeric columns whose bounds a private search can find instead."""
    numbers = (column for column in schema.columns if column.holds_numbers)
    return tuple(
        column.name
        for column in numbers
        if {"low", "high"}.intersection(column.from_data)
    )


def without_found_cells(schema: Schema, names: Collection[str]) -> Schema:
    """Return the schema without the facts that a private search will find."""
    columns = [
        dataclasses.replace(with_public_cells(column), found=PLANNED_SEARCH)
        if column.name in names
        else column
        for column in schema.columns
    ]
    return dataclasses.replace(schema, columns=tuple(columns))


def items_of(draft: Draft, schema: Schema, question: FactQuestion) -> list[FactItem]:
    """Return the items that an answer can make public, rare ones first. Private."""
    alone = question.kind == "one"
    return [
        item
        for column in (*question.unproposed_columns, *question.columns)
        for item in _column_items(
            column,
            rare_spellings(draft, schema, column),
            joined_spellings(draft, column),
            proposed=alone or column in question.columns,
        )
    ]


def _column_items(
    column: Column,
    rare_texts: tuple[str, ...],
    joined: tuple[str, ...],
    *,
    proposed: bool,
) -> list[FactItem]:
    open_facts = _open_facts(column)
    values = tuple(fact for fact in open_facts if fact in VALUE_FACTS)
    items = []
    if values:
        content = public_contents(column)
        if rare_texts:
            content = (
                *rare_texts,
                *(label for label in content if label not in rare_texts),
            )
        items.append(
            FactItem(
                column=column,
                facts=values,
                kind="values",
                content=content,
                is_proposed=proposed,
            )
        )
    for fact in (fact for fact in open_facts if fact not in VALUE_FACTS):
        value = getattr(column, fact, "")
        texts = value if isinstance(value, tuple) else ()
        content = tuple(
            " = ".join(text) if isinstance(text, tuple) else str(text) for text in texts
        )
        if fact == "spellings":
            content = joined
        items.append(
            FactItem(
                column=column,
                facts=(fact,),
                kind=fact,
                content=content,
                is_proposed=False,
            )
        )
    return items


def _open_facts(column: Column) -> tuple[str, ...]:
    """Return the facts marked as from the table that the owner can be asked about."""
    return tuple(
        fact for fact in column.from_data if fact not in VALUE_FACTS or not column.found
    )


def is_proposed_public(column: Column, rare_texts: tuple[str, ...]) -> bool:
    """Return whether a column's values are proposed as public.

    Nobody could tell a person by such values.

    So are bounds that a public rule declares, and yes and no and short lists of labels,
    each of which ten people have, unless they may be places, codes or names. Nothing is
    proposed of values that will be found privately.
    """
    if column.found or rare_texts:
        return False
    if isinstance(column, Categorical):
        labels = list(map(str, column.categories))
        return len(labels) <= MAX_SHOWN_CATEGORIES and not may_hold_lookup_values(
            column.name, labels
        )
    # A step alone may be public, as it lies within bounds that are known.
    bounds = _RANGE_FACTS - {"bin_width", "step"}
    return isinstance(column, Boolean) or not bounds.intersection(column.from_data)


def rare_spellings(draft: Draft, schema: Schema, column: Column) -> tuple[str, ...]:
    """Return spellings of listed labels with fewer than ten people. Private.

    Each spelling counts by its own text, whatever it is joined with. Of yes and no,
    those that are printed count.
    """
    return _rare_texts(draft, schema, column)[0]


def rare_labels(draft: Draft, schema: Schema, column: Column) -> tuple[str, ...]:
    """Return labels with fewer than ten people in all spellings. Private."""
    return _rare_texts(draft, schema, column)[1]


def _rare_texts(
    draft: Draft, schema: Schema, column: Column
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return rare spellings and rare labels, computed once per declaration."""
    listed = _as_list(column)
    if listed is None:
        return (), ()
    key = (column, schema.unit.id_column)
    if key not in draft.row_facts.rare_texts:
        any_value = dataclasses.replace(listed, other=True, missing=True)
        values = column.values_of(draft.frame)
        rows = pd.DataFrame({"code": any_value.encode(values), "text": as_text(values)})
        if schema.unit.id_column is not None:
            rows["who"] = draft.frame[schema.unit.id_column].to_numpy()
            rows = rows.drop_duplicates()
        labels = declared_texts(listed.categories)
        rows = rows[rows["code"] < len(labels)]
        by_text = rows["text"].value_counts()
        if schema.unit.id_column is not None:
            rows = rows.drop_duplicates(["code", "who"])
        by_label = np.bincount(rows["code"], minlength=len(labels))
        nobody = [
            text for text, count in zip(labels, by_label, strict=True) if not count
        ]
        draft.row_facts.rare_texts[key] = (
            (*sorted(by_text.index[by_text < RARE_BELOW]), *nobody),
            tuple(
                text
                for text, count in zip(labels, by_label, strict=True)
                if count < RARE_BELOW
            ),
        )
    return draft.row_facts.rare_texts[key]


def open_doubts(draft: Draft, schema: Schema) -> list[Doubt]:
    """Return doubts about values that the owner has not answered yet. Private."""
    found = list[Doubt]()
    for column in schema.columns:
        if column not in draft.row_facts.doubts:
            values = column.values_of(draft.frame)
            draft.row_facts.doubts[column] = find_doubts(values, column)
        found += draft.row_facts.doubts[column]
    return [
        doubt
        for doubt in found
        if (doubt.column, doubt.text) not in draft.answers.settled_doubts
    ]


def settle_doubt(draft: Draft, schema: Schema, doubt: Doubt, *, is_true: bool) -> None:
    """Note an answer; if the doubt is true, change the declaration of the column."""
    draft.answers.settled_doubts.add((doubt.column, doubt.text))
    if is_true:
        column = schema.column(doubt.column)
        changed = confirm_doubt(
            doubt, schema.column(doubt.column).values_of(draft.frame), column
        )
        put_columns(draft, [changed])


def _as_list(column: Column) -> Categorical | None:
    """Return a column's labels as a categorical; None if it has no list."""
    if isinstance(column, Categorical):
        return column
    if isinstance(column, Boolean) and _LABEL_FACTS.intersection(column.from_data):
        return Categorical(
            column.name,
            categories=(column.false_label, column.true_label),
            rules=column.rules,
            missing_tokens=column.missing_tokens,
        )
    return None


def spelling_groups(column: Column) -> list[list[str]]:
    """Group labels that differ only in case, blanks or Unicode form."""
    if not isinstance(column, Categorical) or SPELLINGS_RULE in column.rules:
        return []
    together = defaultdict(list)
    for label in column.categories:
        together[fold_text(str(label))].append(str(label))
    return [labels for labels in together.values() if len(labels) > 1]


def join_spellings(columns: Iterable[Column]) -> dict[str, Categorical]:
    """Join spellings by the public rule; return the changed columns by name.

    What is printed, and in which order unless that is declared, follows from the folded
    text, never from which spellings occur. That somebody's spelling was the reason for
    it stays marked.
    """
    joined = {}
    for column in columns:
        if isinstance(column, Categorical) and spelling_groups(column):
            categories = list(column.categories)
            if not column.ordered:
                categories.sort(key=lambda label: fold_text(str(label)))
            labels = dict.fromkeys(
                label_of_folded(fold_text(label)) if isinstance(label, str) else label
                for label in categories
            )
            joined[column.name] = dataclasses.replace(
                column,
                categories=tuple(labels),
                rules=(*column.rules, SPELLINGS_RULE),
                from_data=(*column.from_data, "spellings"),
            )
    return joined


def joined_spellings(draft: Draft, column: Column) -> tuple[str, ...]:
    """Return the spellings that a column joins, computed once. Private."""
    if not isinstance(column, Categorical) or "spellings" not in column.from_data:
        return ()
    if column not in draft.row_facts.joined_spellings:
        together = defaultdict(list)
        for text in sorted(as_text(draft.frame[column.name]).dropna().unique()):
            together[fold_text(text)].append(text)
        groups = (
            together[fold_text(label)] for label in declared_texts(column.categories)
        )
        draft.row_facts.joined_spellings[column] = tuple(
            " / ".join(texts) for texts in groups if len(texts) > 1
        )
    return draft.row_facts.joined_spellings[column]


def drop_labels(column: Categorical, labels: tuple[str, ...]) -> Categorical:
    """Return the column with these labels counted as other."""
    categories = zip(column.categories, declared_texts(column.categories), strict=True)
    return dataclasses.replace(
        column,
        categories=tuple(
            category for category, text in categories if text not in labels
        ),
        other=True,
    )


def unread_cells(draft: Draft, column: Column) -> tuple[str, ...]:
    """Return cell texts that cannot be read and count as missing. Private.

    They are found once per declaration.
    """
    if not isinstance(column, IntervalColumn) or not column.unreadable_is_missing:
        return ()
    if column not in draft.row_facts.unreadable_texts:
        values = column.values_of(draft.frame)
        is_unread = (column.encode(values) == column.values_size) & ~column.is_missing(
            values
        )
        draft.row_facts.unreadable_texts[column] = tuple(as_text(values)[is_unread])
    return draft.row_facts.unreadable_texts[column]


def put_columns(draft: Draft, columns: Iterable[Column]) -> None:
    """Write columns into the grid, and keep the answers about them."""
    lines = {column.name: grid.grid_line(column) for column in columns}
    _write_lines(
        draft,
        {
            name: {**line, "told": _grid_line(draft, name)["told"]}
            for name, line in lines.items()
        },
    )


def put_public(
    draft: Draft, items: Iterable[FactItem], question: FactQuestion, known_from: str
) -> None:
    """Make the ticked items public; leave the other facts marked as from the table."""
    ticked: dict[str, set[str]] = defaultdict(set)
    for item in items:
        ticked[item.column.name].update(item.facts)
    lines = {}
    for column in (*question.unproposed_columns, *question.columns):
        facts = ticked[column.name]
        if facts:
            line = {} if column.found else grid.grid_line(column)
            values = facts.intersection(VALUE_FACTS)
            notes = [grid.answer_note(column, fact) for fact in sorted(facts)]
            if values:
                notes += [
                    grid.answer_note(column, fact)
                    for fact in column.facts
                    if fact in VALUE_FACTS and fact not in facts
                ]
            if values or "spellings" in facts:
                line["known from"] = known_from
                notes.append(grid.source_note(known_from))
            line["told"] = join_parts(
                dict.fromkeys(
                    [*split_parts(_grid_line(draft, column.name)["told"]), *notes]
                )
            )
            lines[column.name] = line
    draft.answers.columns_as_taken |= {
        column.name
        for column in question.columns
        if not ticked[column.name].issuperset(_open_facts(column))
    }
    _write_lines(draft, lines)


def put_rounded(draft: Draft, columns: Iterable[Column]) -> None:
    """Write rounded bounds into the grid, and stop asking about them.

    They still follow those of the table, so they stay marked.
    """
    columns = list(columns)
    draft.answers.columns_as_taken |= {column.name for column in columns}
    put_columns(draft, columns)


def put_ages(draft: Draft, columns: Iterable[Column]) -> None:
    """Write a conventional age range into the grid, as an answer of the owner.

    A second press follows the check of the first, so its bound is marked, and pressing
    cannot be undone without a trace.
    """
    lines = {}
    for column in columns:
        before = split_parts(_grid_line(draft, column.name)["told"])
        note = grid.answer_note(column, "high")
        is_second = any(text.startswith("high ") for text in before)
        notes = before if is_second else (*before, note)
        lines[column.name] = grid.grid_line(column) | {"told": join_parts(notes)}
    _write_lines(draft, lines)
    draft.answers.grid_before = None


def put_missing(draft: Draft, can_be_missing: bool) -> None:
    """Declare for all columns whether a cell can be empty.

    That it was once answered with no stays in the line: a yes after that follows the
    check against the table.
    """
    edited = draft.edited_grid.copy()
    for place in edited.index:
        if not can_be_missing:
            notes = (*split_parts(edited.at[place, "told"]), grid.NEVER_MISSING)
            edited.at[place, "told"] = join_parts(dict.fromkeys(notes))
        edited.at[place, "missing"] = (
            can_be_missing and edited.at[place, "kind"] != grid.LEAVE_OUT
        )
    draft.edited_grid = edited
    draft.answers.grid_before = None
    draft.version += 1


def undo_answer(draft: Draft) -> None:
    """Undo the last answer; other edits since then stay."""
    assert draft.answers.grid_before is not None
    before = {
        str(line["column"]): line
        for line in draft.answers.grid_before.to_dict("records")
    }
    draft.answers.columns_as_taken -= set(before)
    _replace_lines(draft, draft.answers.grid_before.index, before)
    draft.answers.grid_before = None


def _grid_line(draft: Draft, name: str) -> Mapping[Any, Any]:
    return draft.edited_grid.loc[draft.edited_grid["column"] == name].iloc[0].to_dict()


def _write_lines(draft: Draft, lines: Mapping[str, Mapping[Any, Any]]) -> None:
    _replace_lines(
        draft,
        draft.edited_grid.index[draft.edited_grid["column"].isin(list(lines))],
        lines,
    )


def _replace_lines(
    draft: Draft, places: pd.Index, lines: Mapping[str, Mapping[Any, Any]]
) -> None:
    draft.answers.grid_before = draft.edited_grid.loc[places]
    edited = draft.edited_grid.copy()
    for place in places:
        for field, value in lines[str(edited.at[place, "column"])].items():
            edited.at[place, field] = value
    draft.edited_grid = edited
    draft.version += 1


def leave_as_taken(draft: Draft, question: FactQuestion) -> None:
    """Leave facts marked as taken from the table; for bounds, ask about each column."""
    if question.kind == "round":
        draft.answers.asks_one_by_one = True
    else:
        draft.answers.columns_as_taken |= {column.name for column in question.columns}


def kept_shares_by_cap(draft: Draft, name: str, caps: Sequence[int]) -> pd.DataFrame:
    """Tabulate the share of rows and people that each cap keeps, and its noise.
    Private.

    A count is off by at most `off` in 95 of 100 cases at epsilon 1, as before a release
    is paid.
    """
    sizes = draft.frame[name].value_counts()
    return pd.DataFrame(
        {
            "cap": list(caps),
            "rows": [
                float(sizes.clip(upper=cap).sum() / max(1, sizes.sum())) for cap in caps
            ],
            "people": [float((sizes <= cap).mean()) for cap in caps],
            "off": [
                half_width(noise_variance(cap, PureDP(epsilon=1)), "laplace")
                for cap in caps
            ],
        },
    )
