"""A schema as a grid that people edit, and back, with one sentence for each row that does not hold."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable
from typing import Any

import pandas as pd

from dpcore.errors import DpcoreError, ParameterError
from dpcore.schema import (
    Boolean,
    Categorical,
    Column,
    Date,
    Excluded,
    Integer,
    PrivacyUnit,
    Real,
    Schema,
)
from workbench.ui.language import _, said

LEAVE_OUT = "leave out"
LONGEST_SOURCE = 200
KINDS = ("categorical", "integer", "real", "date", "boolean", LEAVE_OUT)
_BLANKS = re.compile(r"\s*+")
_QUOTED = re.compile(r'"((?:[^"]|"")*+)"\s*+(?:\||$)')


def to_grid(schema: Schema, header: list[str]) -> pd.DataFrame:
    """One line per column of the table, in the table's order; every cell is text or a tick."""
    declared = {column.name: column for column in schema.columns}
    excluded = {column.name: column for column in schema.excluded}
    return pd.DataFrame(
        [
            line(declared[name]) if name in declared else _left_out(excluded[name])
            for name in header
            if name in declared or name in excluded
        ]
    )


def from_grid(
    grid: pd.DataFrame, suggested: Schema, unit: PrivacyUnit
) -> tuple[Schema | None, dict[str, DpcoreError]]:
    """The schema that the grid says, and what is wrong with which column.

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
    """One column as a line of the grid."""
    line: dict[str, Any] = {
        "column": column.name,
        "kind": column.kind,
        "low": "",
        "high": "",
        "step": "",
        "special": "",
        "categories": "",
        "other": False,
        "missing": column.missing,
        "known from": "" if column.from_data else column.known_from or _("declared"),
        "means missing": _join(column.missing_tokens),
        "counts as": _join(f"{text} = {value}" for text, value in column.synonyms),
        "reason": said(column.reason),
    }
    if isinstance(column, (Integer, Real, Date)):
        line |= {"low": _text(column.low), "high": _text(column.high)}
        line["other"] = column.unreadable_is_missing
    if isinstance(column, (Integer, Real)):
        line["step"] = ", ".join(map(_text, column.cuts)) if column.cuts else _text(column.bin_width)
        line["special"] = ", ".join(map(_text, column.special))
    if isinstance(column, Date):
        line["step"] = column.step
    if isinstance(column, Categorical):
        line |= {"categories": _join(map(str, column.categories)), "other": column.other}
    if isinstance(column, Boolean):
        line["categories"] = _join((column.false_label, column.true_label))
    return line


def _left_out(column: Excluded) -> dict[str, Any]:
    return {
        "column": column.name,
        "kind": LEAVE_OUT,
        "low": "",
        "high": "",
        "step": "",
        "special": "",
        "categories": "",
        "other": False,
        "missing": False,
        "known from": "",
        "means missing": "",
        "counts as": "",
        "reason": said(column.reason),
    }


def _column(line: dict[str, Any]) -> Column:
    base: dict[str, Any] = {
        "name": line["column"],
        "missing": bool(line["missing"]),
        "missing_tokens": _split(line["means missing"]) if line["missing"] else (),
        "synonyms": _pairs(line),
        "reason": line["reason"] or "",
    }
    kind, step = line["kind"], str(line["step"] or "").strip()
    if kind == "categorical":
        return Categorical(**base, categories=_split(line["categories"]), other=bool(line["other"]))
    if kind == "boolean":
        labels = _split(line["categories"]) or ("False", "True")
        if len(labels) != 2:
            raise ParameterError(
                "column {line!r} needs the two texts for false and true",
                remedy="write them as False | True",
                line=line["column"],
            )
        return Boolean(**base, false_label=labels[0], true_label=labels[1])
    base["unreadable_is_missing"] = bool(line["other"]) and bool(line["missing"])
    if kind == "date":
        return Date(**base, low=_need(line, "low"), high=_need(line, "high"), step=step or "month")
    base |= {"low": _number(line, "low"), "high": _number(line, "high"), "special": _numbers(line, "special")}
    if "," in step:
        cuts = _numbers(line, "step")
        return Integer(**base, cuts=cuts) if kind == "integer" else Real(**base, cuts=cuts)
    width = _as_number(line, "step", step or "1")
    return Integer(**base, bin_width=width) if kind == "integer" else Real(**base, bin_width=float(width))


def _marked(column: Column, suggested: Column | None, *, known_from: str) -> Column:
    """Marks outlast a change of kind, and of some categories of a list: what is left came from the data."""
    if known_from or suggested is None:
        return dataclasses.replace(column, known_from=known_from[:LONGEST_SOURCE])
    kept = tuple(fact for fact in suggested.from_data if _kept(column, suggested, fact))
    return dataclasses.replace(column, from_data=kept)


def _kept(column: Column, suggested: Column, fact: str) -> bool:
    if fact in ("other", "missing", "missing_tokens", "unreadable_is_missing"):
        return True  # changed for what the check against the table showed
    now, before = getattr(column, fact, None), getattr(suggested, fact)
    if isinstance(now, tuple):
        return bool(set(map(str, now)) & set(map(str, before)))
    return bool(now == before)


def _join(parts: Iterable[str]) -> str:
    """Texts with " | " between; quoted where they hold the separator or blanks that count."""
    plain = re.compile(r'[^\s|"]|[^\s|"][^|]*[^\s|]')
    return " | ".join(
        part if plain.fullmatch(part) else '"' + part.replace('"', '""') + '"' for part in parts
    )


def _split(text: Any) -> tuple[str, ...]:
    """What `_join` joined, or a person typed; blanks around a part and empty parts do not count.

    In one pass: a file can fill a cell of the grid with megabytes of blanks.
    """
    rest = str(text or "")
    parts, at = [], 0
    while at < len(rest):
        at = _BLANKS.match(rest, at).end()  # type: ignore[union-attr]
        quoted = _QUOTED.match(rest, at)
        if quoted is not None:
            parts.append(quoted[1].replace('""', '"'))
            at = quoted.end()
            continue
        end = rest.find("|", at)
        end = len(rest) if end < 0 else end
        bare = rest[at:end].rstrip()
        if bare:
            parts.append(bare)
        at = end + 1
    return tuple(parts)


def _pairs(line: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    """What counts as what, written as "text = value"."""
    pairs = [part.rpartition(" = ") for part in _split(line["counts as"])]
    if not all(sign for _text, sign, _value in pairs):
        raise ParameterError(
            "what counts as what in column {line!r} is not understood",
            remedy="write it as text = value, with | between",
            line=line["column"],
        )
    return tuple((text.strip(), value.strip()) for text, _sign, value in pairs)


def _text(value: Any) -> str:
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def _need(line: dict[str, Any], fact: str) -> str:
    text = str(line[fact] or "").strip()
    if not text:
        raise ParameterError(
            "column {line!r} needs {fact}", remedy="fill in {fact}", line=line["column"], fact=fact
        )
    return text


def _number(line: dict[str, Any], fact: str) -> Any:
    return _as_number(line, fact, _need(line, fact))


def _numbers(line: dict[str, Any], fact: str) -> tuple[Any, ...]:
    """Numbers with commas between."""
    return tuple(_as_number(line, fact, part) for part in str(line[fact] or "").split(",") if part.strip())


def _as_number(line: dict[str, Any], fact: str, text: str) -> Any:
    try:
        value = float(text)
    except ValueError:
        raise ParameterError(
            "{fact} of column {line!r} must be a number",
            remedy="write a number such as 10",
            fact=fact,
            line=line["column"],
        ) from None
    return int(value) if line["kind"] == "integer" and value.is_integer() else value
