"""Kinds of columns on the pages: names, short descriptions, and form fields."""

import dataclasses
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from dpcore.errors import DpcoreError, ParameterError
from dpcore.registry import Registered
from dpcore.schema import (
    Boolean,
    Categorical,
    Column,
    Date,
    Difference,
    Integer,
    Real,
    Time,
)
from dpcore.schema.bounds import invalid_number_error
from dpcore.schema.date import find_finest_step, propose_last_year
from dpcore.schema.numbers import TARGET_CELLS, round_up_width
from dpcore.text import Text
from workbench.language.labels import translate_labels
from workbench.language.messages import N_
from workbench.language.wording import number, whole_number_text

MAX_SHOWN_CATEGORIES = 12
_BLANKS_PATTERN = re.compile(r"\s*+")
_QUOTED_PART = re.compile(r'"([^"]*+(?:""[^"]*+)*)"\s*+(?:\||$)')
_UNQUOTED_PART = re.compile(r'[^\s|"]|[^\s|"][^|]*[^\s|]')
_CATEGORY_FIELDS = {"categories": N_("categories, separated by |")}
_BOUND_FIELDS = {"low": N_("low"), "high": N_("high")}
_STEP_FIELD = {"step": N_("step, or cut points separated by commas")}
_UNREADABLE_FIELD = {"other": N_("Count unreadable values as missing")}


class ColumnForm(Registered, ABC):
    """Base of the forms that show and edit columns of one kind, named by `kind`.

    Attributes:
        title: the name of the kind, as a message.
        fields: the facts that a person fills in, each with its label, as messages. Of
            "low", "high", "step", "special", "decimals" (texts), "categories" (a long text) and
            "other" (a tick).
    """

    title: ClassVar[str]
    fields: ClassVar[Mapping[str, str]]

    @classmethod
    @abstractmethod
    def field_contents(cls, column: Any) -> dict[str, Any]:
        """Return what the fields of the form hold for a column of this kind."""

    @classmethod
    @abstractmethod
    def parse_facts(cls, line: Mapping[str, Any]) -> dict[str, Any]:
        """Return the facts that a form line holds, as arguments of the column class.

        Args:
            line: text or tick of every field, and the name of the column under
                "column".

        Raises: ParameterError for a field that is not understood.
        """

    @classmethod
    def describe_values(cls, column: Any) -> str:
        """Describe the bounds or categories of a column in a few words."""
        labels = translate_labels(column, column.labels[: column.values_size])
        more = (
            f" … ({whole_number_text(len(labels))})"
            if len(labels) > MAX_SHOWN_CATEGORIES
            else ""
        )
        return ", ".join(map(str, labels[:MAX_SHOWN_CATEGORIES])) + more

    @classmethod
    def with_round_bounds(cls, column: Any) -> Column | None:
        """Return the column with round bounds; None if it has no bounds.

        Raises: DpcoreError if the round bounds are no valid declaration.
        """
        return None


class CategoricalForm(ColumnForm):
    """Form for columns with named categories."""

    kind = Categorical.kind
    title = N_("categorical")
    fields: ClassVar = {**_CATEGORY_FIELDS, "other": N_("cell for other")}

    @classmethod
    def field_contents(cls, column: Categorical) -> dict[str, Any]:
        return {
            "categories": join_parts(map(str, column.categories)),
            "other": column.other,
        }

    @classmethod
    def parse_facts(cls, line: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "categories": split_parts(line["categories"]),
            "other": bool(line["other"]),
        }


class _NumbersForm(ColumnForm):
    """Base of the forms for columns of numbers between bounds."""

    fields: ClassVar = {
        **_BOUND_FIELDS,
        **_STEP_FIELD,
        "special": N_("special numbers, each with its own cell"),
        **_UNREADABLE_FIELD,
    }

    @classmethod
    def field_contents(cls, column: Integer | Real) -> dict[str, Any]:
        return {
            "low": _text(column.low),
            "high": _text(column.high),
            "step": ", ".join(map(_text, column.cuts))
            if column.cuts
            else _text(column.bin_width),
            "special": ", ".join(map(_text, column.special)),
            "other": column.unreadable_is_missing,
        }

    @classmethod
    def parse_facts(cls, line: Mapping[str, Any]) -> dict[str, Any]:
        step = str(line["step"] or "").strip()
        cells = "cuts" if "," in step else "bin_width"
        return {
            cells: cls._parse_numbers(line, "step")
            if "," in step
            else cls._parse_number(line, "step", step or "1"),
            "low": cls._parse_number(line, "low", _required_text(line, "low")),
            "high": cls._parse_number(line, "high", _required_text(line, "high")),
            "special": cls._parse_numbers(line, "special"),
            "unreadable_is_missing": _unreadable_is_missing(line),
        }

    @classmethod
    def describe_values(cls, column: Integer | Real) -> str:
        special = map(_text, column.special[:MAX_SHOWN_CATEGORIES])
        return ", ".join([f"{_text(column.low)} – {_text(column.high)}", *special])

    @classmethod
    def _parse_numbers(cls, line: Mapping[str, Any], fact: str) -> tuple[Any, ...]:
        """Parse the numbers in a field, which are separated by commas."""
        parts = str(line[fact] or "").split(",")
        return tuple(
            cls._parse_number(line, fact, part) for part in parts if part.strip()
        )

    @classmethod
    def _parse_number(cls, line: Mapping[str, Any], fact: str, text: str) -> float:
        try:
            return float(text)
        except ValueError:
            raise invalid_number_error(line["column"], fact, text) from None

    @classmethod
    def _round_bounds(cls, column: Integer | Real) -> tuple[float, float, float]:
        """Return (low, high, step): round bounds that enclose those of the column.

        Bounds are multiples of the smallest round number of at least half the span.
        """
        span = column.high - column.low
        unit = round_up_width(0.45 * span) if span else 1.0
        low = math.floor(column.low / unit) * unit
        high = math.ceil(column.high / unit) * unit
        high = high if high > low else low + unit
        one_cell = not column.cuts and (column.bin_width or 0) >= span
        return (
            low,
            high,
            high - low if one_cell else round_up_width((high - low) / TARGET_CELLS),
        )


class IntegerForm(_NumbersForm):
    """Form for columns of whole numbers."""

    kind = Integer.kind
    title = N_("integer")

    @classmethod
    def with_round_bounds(cls, column: Integer) -> Column | None:
        low, high, width = cls._round_bounds(column)
        return dataclasses.replace(
            column, low=int(low), high=int(high), bin_width=max(1, math.ceil(width))
        )

    @classmethod
    def _parse_number(cls, line: Mapping[str, Any], fact: str, text: str) -> float:
        value = super()._parse_number(line, fact, text)
        return int(value) if value.is_integer() else value


class RealForm(_NumbersForm):
    """Form for columns of real numbers."""

    kind = Real.kind
    title = N_("real")
    fields: ClassVar = {**_NumbersForm.fields, "decimals": N_("decimals")}

    @classmethod
    def field_contents(cls, column: Any) -> dict[str, Any]:
        decimals = "" if column.decimals is None else str(column.decimals)
        return {**super().field_contents(column), "decimals": decimals}

    @classmethod
    def parse_facts(cls, line: Mapping[str, Any]) -> dict[str, Any]:
        text = str(line.get("decimals") or "").strip()
        if text and not text.isdecimal():
            raise invalid_number_error(line["column"], "decimals", text)
        return {**super().parse_facts(line), "decimals": int(text) if text else None}

    @classmethod
    def with_round_bounds(cls, column: Real) -> Column | None:
        low, high, width = cls._round_bounds(column)
        step = None if column.cuts else float(f"{width:.12g}")
        return dataclasses.replace(column, low=low, high=high, bin_width=step)


class DateForm(ColumnForm):
    """Form for columns of dates."""

    kind = Date.kind
    title = N_("date")
    fields: ClassVar = {**_BOUND_FIELDS, **_STEP_FIELD, **_UNREADABLE_FIELD}

    @classmethod
    def field_contents(cls, column: Date) -> dict[str, Any]:
        return {
            "low": column.low,
            "high": column.high,
            "step": column.step,
            "other": column.unreadable_is_missing,
        }

    @classmethod
    def parse_facts(cls, line: Mapping[str, Any]) -> dict[str, Any]:
        low = _required_text(line, "low")
        high = _required_text(line, "high")
        return {
            "low": low,
            "high": high,
            "step": str(line["step"] or "").strip() or _finest_step(low, high),
            "unreadable_is_missing": _unreadable_is_missing(line),
        }

    @classmethod
    def describe_values(cls, column: Date) -> str:
        return f"{column.low} – {column.high}"

    @classmethod
    def with_round_bounds(cls, column: Date) -> Column | None:
        low = max(1, int(column.low[:4]) // 10 * 10)
        high = propose_last_year(column.name, int(column.high[:4]) // 10 * 10 + 9)
        step = column.step if high - low < 20 else "year"
        return dataclasses.replace(
            column, low=f"{low:04}-01-01", high=f"{high:04}-12-31", step=step
        )


class TimeForm(ColumnForm):
    """Form for columns of times of day."""

    kind = Time.kind
    title = N_("time of day")
    fields: ClassVar = {"step": N_("minutes per cell"), **_UNREADABLE_FIELD}

    @classmethod
    def field_contents(cls, column: Time) -> dict[str, Any]:
        return {"step": str(column.step), "other": column.unreadable_is_missing}

    @classmethod
    def parse_facts(cls, line: Mapping[str, Any]) -> dict[str, Any]:
        step = str(line["step"] or "").strip() or "60"
        if not step.isdecimal():
            raise invalid_number_error(line["column"], "step", step)
        return {
            "step": int(step),
            "unreadable_is_missing": _unreadable_is_missing(line),
        }

    @classmethod
    def describe_values(cls, column: Time) -> str:
        return "00:00 – 24:00"


class DifferenceForm(ColumnForm):
    """Form for columns that hold an end, stored as its distance from a start column."""

    kind = Difference.kind
    title = N_("distance from another column")
    fields: ClassVar = {
        "categories": N_("column that holds the start"),
        "high": N_("largest distance"),
        "step": N_("unit: minute, day, whole or hundredth"),
        **_UNREADABLE_FIELD,
    }

    @classmethod
    def field_contents(cls, column: Difference) -> dict[str, Any]:
        return {
            "categories": column.start,
            "high": _text(column.high),
            "step": column.unit,
            "other": column.unreadable_is_missing,
        }

    @classmethod
    def parse_facts(cls, line: Mapping[str, Any]) -> dict[str, Any]:
        high = _required_text(line, "high")
        try:
            largest = float(high)
        except ValueError:
            raise invalid_number_error(line["column"], "high", high) from None
        return {
            "start": str(line["categories"] or "").strip(),
            "high": largest,
            "unit": str(line["step"] or "").strip() or "day",
            "unreadable_is_missing": _unreadable_is_missing(line),
        }

    @classmethod
    def describe_values(cls, column: Difference) -> str:
        return f"0 – {number(column.high)}"


class BooleanForm(ColumnForm):
    """Form for columns of true and false values."""

    kind = Boolean.kind
    title = N_("boolean")
    fields: ClassVar = _CATEGORY_FIELDS

    @classmethod
    def field_contents(cls, column: Boolean) -> dict[str, Any]:
        return {"categories": join_parts((column.false_label, column.true_label))}

    @classmethod
    def parse_facts(cls, line: Mapping[str, Any]) -> dict[str, Any]:
        labels = split_parts(line["categories"]) or ("False", "True")
        if len(labels) != 2:
            raise ParameterError(
                "column {line!r} needs two texts: one for false and one for true",
                remedy="write them as False | True",
                line=line["column"],
            )
        return {"false_label": labels[0], "true_label": labels[1]}


def form_of(column: Column) -> type[ColumnForm]:
    """Return the form by which columns of this kind are edited."""
    return ColumnForm.of_kind(column.kind)


def values_words(column: Column) -> str:
    """Describe the bounds or categories of a column in a few words."""
    return form_of(column).describe_values(column)


def public_contents(column: Column) -> tuple[str, ...]:
    """Return all that a column's declaration makes public: labels, or bounds and steps."""
    if column.has_labels:
        return column.labels[: column.values_size]
    cells = form_of(column).field_contents(column)
    words = [
        f"{cells['low']} – {cells['high']}" if "low" in cells else values_words(column),
        cells["step"],
        cells.get("special", ""),
    ]
    return tuple(str(word) for word in words if word)


def round_bounds(column: Column) -> Column | None:
    """Return the column with round bounds, which reveal little; None if impossible."""
    try:
        return form_of(column).with_round_bounds(column)
    except DpcoreError:
        return None


def join_parts(parts: Iterable[str]) -> str:
    """Join texts with " | ".

    A text with a separator or with blanks at its ends is quoted.
    """
    return " | ".join(
        part if _UNQUOTED_PART.fullmatch(part) else '"' + part.replace('"', '""') + '"'
        for part in parts
    )


def split_parts(text: Any) -> tuple[str, ...]:
    """Split a text written by `join_parts` or typed by a person.

    Blanks around a part and empty parts are dropped. One pass: a file can fill a cell
    of the grid with megabytes of blanks.
    """
    rest = str(text or "")
    parts = []
    at = 0
    while at < len(rest):
        at = _BLANKS_PATTERN.match(rest, at).end()  # type: ignore[union-attr]
        quoted = _QUOTED_PART.match(rest, at)
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


def _text(value: Any) -> str:
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def _required_text(line: Mapping[str, Any], fact: str) -> str:
    text = str(line[fact] or "").strip()
    if not text:
        raise ParameterError(
            "column {line!r} needs {fact}",
            remedy="fill in {fact}",
            line=line["column"],
            fact=Text(fact),
        )
    return text


def _finest_step(low: str, high: str) -> str:
    """Return the finest date step for these bounds, or "month" if one is no date."""
    try:
        return find_finest_step(low, high)
    except ValueError:  # the column says which of them is no date
        return "month"


def _unreadable_is_missing(line: Mapping[str, Any]) -> bool:
    return bool(line["other"]) and bool(line["missing"])
