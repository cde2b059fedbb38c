"""Options for reading a file, and how the cells of its columns are written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

from dpcore.errors import UsageError
from dpcore.io._dates import DEFAULT_CENTURY, DIGIT_FORMS
from dpcore.io._numbers import DECIMAL_SIGNS

SEPARATORS = (",", ";", "\t", "|")
BLANK_SEPARATOR = " "
"""The separator of columns that any number of blanks part."""
NO_SEPARATOR = "\n"
"""The separator of a file with one column."""
READING_KINDS = ("text", "number", "date")
AS_NAMED, ROW_NAMES_FIRST, EMPTY_LAST_FIELD, EMPTY_LAST_NAME = (
    "as named",
    "row names first",
    "empty last field",
    "empty last name",
)
"""How the fields of a row fit the names in the header."""
FIRST_RULES = 1
"""Rules of the versions that kept no reading of columns; see `first_rules`."""
CURRENT_RULES = 2
"""Version of the rules that read a file today."""
_INTERNAL_FIELDS = ("columns", "seen", "rules", "is_known")
"""Fields that nobody sets by hand."""


@dataclass(frozen=True, kw_only=True)
class ColumnReading:
    """How the cells of a column are written.

    Every cell is read by itself: one that is not written so stays as it is.

    Attributes:
        column: its name.
        kind: one of `READING_KINDS`; cells of the kind "text" all stay as they are.
        decimal: sign before the decimals of numbers.
        unit: currency or unit that may stand beside a number; empty for none.
        day_first: whether 06/04/2002 is 6 April.
        century: first of the hundred years that two digits may mean.
        digits: one of `DIGITS` for dates that are written as one number.
    """

    column: str
    kind: str
    decimal: str = "."
    unit: str = ""
    day_first: bool = True
    century: int = DEFAULT_CENTURY
    digits: str = ""

    def __post_init__(self) -> None:
        _check_choice("kind", self.kind, READING_KINDS)
        _check_choice("decimal", self.decimal, DECIMAL_SIGNS)
        _check_choice("digits", self.digits, ("", *DIGIT_FORMS))


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """Options for reading a file; an option that is None is decided by the file.

    Attributes:
        encoding: Python's name of it.
        separator: one of `SEPARATORS`, `BLANK_SEPARATOR`, or `NO_SEPARATOR`.
        decimal: the sign before the decimals, one of `DECIMALS`.
        header: whether the first line names the columns.
        header_lines: lines that name the columns, 1 or 2, which are joined.
        row_fields: how the fields of the rows fit the names; one of four words.
        names: of the columns of a file without a header; column_1, column_2, ... where
            not given.
        skip: lines above the header, or above the rows where there is none.
        day_first: whether 06/04/2002 is 6 April.
        sheet: name of the sheet of a workbook.
        columns: how the cells of each column are written; other columns are texts. With
            them no row changes how another one is read.
        seen: names of the options that were seen from the file, and not given.
        is_known: whether the owner knows from outside that files of this kind are
            always written as this one is read.
        rules: version of the reading rules. An account keeps it, so that its file is
            read later as it was when it was opened.
    """

    encoding: str | None = None
    separator: str | None = None
    decimal: str | None = None
    header: bool | None = None
    header_lines: int | None = None
    row_fields: str | None = None
    names: tuple[str, ...] = ()
    skip: int | None = None
    day_first: bool | None = None
    sheet: str | None = None
    columns: tuple[ColumnReading, ...] | None = None
    seen: tuple[str, ...] = ()
    is_known: bool = False
    rules: int = CURRENT_RULES

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(self.names))
        object.__setattr__(self, "seen", tuple(self.seen))
        if self.columns is not None:
            columns = tuple(
                _load_column_reading(column) if isinstance(column, Mapping) else column
                for column in self.columns
            )
            object.__setattr__(self, "columns", columns)
        if self.separator is not None:
            signs = (*SEPARATORS, BLANK_SEPARATOR, NO_SEPARATOR)
            _check_choice("separator", self.separator, signs)
        if self.header_lines not in (None, 1, 2):
            raise UsageError(
                f"header_lines ({self.header_lines}) must be 1 or 2",
                remedy="give the number of lines that name the columns",
            )
        if self.row_fields is not None:
            ways = (AS_NAMED, ROW_NAMES_FIRST, EMPTY_LAST_FIELD, EMPTY_LAST_NAME)
            _check_choice("row_fields", self.row_fields, ways)
        if self.decimal is not None:
            _check_choice("decimal", self.decimal, DECIMAL_SIGNS)
        if self.skip is not None and self.skip < 0:
            raise UsageError(
                f"skip ({self.skip}) must be at least 0", remedy="use 0 or more"
            )

    @property
    def is_guessed(self) -> bool:
        """Whether options were guessed from the file and not confirmed by its owner."""
        return bool(self.seen) and not self.is_known

    @property
    def given_options(self) -> dict[str, Any]:
        """The options given by a person, by name."""
        return {
            name: value
            for name, value in self.known_options.items()
            if name not in self.seen
        }

    @property
    def known_options(self) -> dict[str, Any]:
        """The options that a person gave or that were seen in the file, by name."""
        values = {
            option.name: getattr(self, option.name)
            for option in fields(self)
            if option.name not in _INTERNAL_FIELDS
        }
        return {
            name: value for name, value in values.items() if value not in (None, ())
        }

    def with_seen(self, **seen: Any) -> ReadOptions:
        """Return the options, with those not given filled in from the file."""
        new = {
            name: value
            for name, value in seen.items()
            if value is not None and getattr(self, name) is None
        }
        return replace(self, **new, seen=tuple(dict.fromkeys((*self.seen, *new))))


def _load_column_reading(fields: Mapping[str, Any]) -> ColumnReading:
    """Build a column reading from stored fields, leaving out a field of old
    versions.
    """
    return ColumnReading(
        **{name: value for name, value in fields.items() if name != "from_data"}
    )


def _check_choice(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise UsageError(
            f"{name} ({value!r}) must be one of {' '.join(map(repr, allowed))}",
            remedy="choose one from the list",
        )


@dataclass(frozen=True, kw_only=True)
class UnderstoodColumn:
    """How the numbers or dates of one column were understood.

    Attributes:
        pattern: how they are written, such as "1.234,5 €" or "dd.mm.yyyy".
        examples: up to three of its texts, and what they were read as. Private.
    """

    column: str
    kind: Literal["number", "date"]
    pattern: str
    examples: tuple[tuple[str, str], ...] = field(repr=False)
