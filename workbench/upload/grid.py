"""A schema as a grid that people edit, and back, with one sentence for each row that does not hold."""

import dataclasses
from typing import Any

import pandas as pd

from dpcore.errors import DpcoreError, ParameterError
from dpcore.schema.origin import CELLS, Origin
from dpcore.schema import Column, Excluded, PrivacyUnit, Schema
from dpcore.schema.interval import NumberColumn
from workbench.ui.columns import ColumnForm, form_of, join, split
from workbench.ui.language import _, said

LEAVE_OUT = "leave out"
LONGEST_SOURCE = 200
KINDS = (*ColumnForm.kinds(), LEAVE_OUT)
_EMPTY = {
    "column": "",
    "kind": "",
    **dict.fromkeys(("low", "high", "step", "special", "categories"), ""),
    **dict.fromkeys(("other", "missing"), False),
    **dict.fromkeys(("known from", "means missing", "counts as", "reason"), ""),
}
"""A line of the grid: its columns, in their order."""


def to_grid(schema: Schema, header: list[str]) -> pd.DataFrame:
    """Return one line per column of the table, in the table's order; every cell is text or a tick."""
    declared = {column.name: column for column in schema.columns}
    excluded = {column.name: column for column in schema.excluded}
    return pd.DataFrame(
        [
            line(declared[name]) if name in declared else _left_out(excluded[name])
            for name in header
            if name in declared or name in excluded
        ]
    )


def kind_title(kind: str) -> str:
    """Return the name of a kind of column, or of leaving it out."""
    return _("leave out") if kind == LEAVE_OUT else _(ColumnForm.of_kind(kind).title)


def from_grid(
    grid: pd.DataFrame, suggested: Schema, unit: PrivacyUnit
) -> tuple[Schema | None, dict[str, DpcoreError]]:
    """Read a schema from the grid, and what is wrong with which column.

    A fact that a person changed, or a column of which it is said where it is known from, no longer counts as
    taken from the data.
    """
    before = {column.name: column for column in suggested.columns}
    columns: list[Column] = []
    excluded: list[Excluded] = []
    problems: dict[str, DpcoreError] = {}
    for record in grid.to_dict("records"):
        line = {str(key): value for key, value in record.items()}
        name = line["column"]
        if line["kind"] == LEAVE_OUT or name == unit.id_column:
            reason = line["reason"] if line["kind"] == LEAVE_OUT else _("names the person")
            excluded.append(Excluded(name=name, reason=reason))
            continue
        try:
            column = _column(line)
        except DpcoreError as error:
            problems[name] = error
            continue
        columns.append(_marked(column, before.get(name), known_from=str(line["known from"] or "").strip()))
    if problems or not columns:
        if not problems:
            problems[""] = ParameterError("no column is left", remedy="keep at least one column")
        return None, problems
    return Schema(columns=tuple(columns), unit=unit, excluded=tuple(excluded)), {}


def line(column: Column) -> dict[str, Any]:
    """Return one column as a line of the grid."""
    return {
        **_EMPTY,
        "column": column.name,
        "kind": column.kind,
        "missing": column.missing,
        "known from": "" if column.from_data else column.known_from or _("declared"),
        "means missing": join(column.missing_tokens),
        "counts as": join(f"{text} = {value}" for text, value in column.synonyms),
        "reason": said(column.reason),
        **form_of(column).cells(column),
    }


def _left_out(column: Excluded) -> dict[str, Any]:
    return {**_EMPTY, "column": column.name, "kind": LEAVE_OUT, "reason": said(column.reason)}


def _column(line: dict[str, Any]) -> Column:
    kind: Any = Column.of_kind(line["kind"])
    column: Column = kind(
        name=line["column"],
        missing=bool(line["missing"]),
        missing_tokens=split(line["means missing"]) if line["missing"] else (),
        synonyms=_pairs(line),
        reason=line["reason"] or "",
        **ColumnForm.of_kind(line["kind"]).facts(line),
    )
    return column


def _marked(column: Column, suggested: Column | None, *, known_from: str) -> Column:
    """Mark facts that came from the data; marks outlast a change of kind or of some categories."""
    if known_from or suggested is None:
        return dataclasses.replace(column, known_from=known_from[:LONGEST_SOURCE])
    marks = tuple(fact for fact in suggested.from_data if _kept(column, suggested, fact))
    same = all(getattr(column, fact, None) == getattr(suggested, fact, None) for fact in CELLS)
    if isinstance(column, NumberColumn) and isinstance(suggested, NumberColumn) and same:
        column = dataclasses.replace(column, found=suggested.found)
    return dataclasses.replace(column, from_data=marks)


def _kept(column: Column, suggested: Column, fact: str) -> bool:
    if fact in ("other", "missing", "missing_tokens", "unreadable_is_missing"):
        return True  # changed for what the check against the table showed
    now, before = getattr(column, fact, None), getattr(suggested, fact)
    if isinstance(now, tuple):
        return bool(set(map(str, now)) & set(map(str, before)))
    return bool(now == before)


def _pairs(line: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    """Read what counts as what, written as "text = value"."""
    pairs = [part.rpartition(" = ") for part in split(line["counts as"])]
    if not all(sign for _text, sign, _value in pairs):
        raise ParameterError(
            "what counts as what in column {line!r} is not understood",
            remedy="write it as text = value, with | between",
            line=line["column"],
        )
    return tuple((text.strip(), value.strip()) for text, _sign, value in pairs)
