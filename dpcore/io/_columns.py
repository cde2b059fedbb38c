"""Convert columns of texts into columns of numbers, dates and texts.

How the cells of a column are written is proposed by a look at all of them, or given.
Then each distinct text is read by itself, so that no row changes what another one
means.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast

import pandas as pd
import pyarrow as pa

from dpcore.io._dates import (
    DIGIT_FORMS,
    describe_date,
    first_year_of_century,
    is_date_column_name,
    is_iso,
    read_date,
    read_digits,
)
from dpcore.io._first_rules import read_by_first_rules
from dpcore.io._numbers import DECIMAL_SIGNS, read_number
from dpcore.io._text_column import PLAIN_NUMBER, ReadText, TextColumn
from dpcore.io.options import FIRST_RULES, ColumnReading, ReadOptions, UnderstoodColumn
from dpcore.schema.detector import is_id_column_name
from dpcore.schema.suggest import is_dominant_kind
from dpcore.schema.values import MERGED_COLUMNS, READ_AS_TEXT

_MIN_DISTINCT_DAYS = 20
"""Different numbers of eight digits that must all be days under any name."""
_PLAUSIBLE_YEARS = ("1900", "2100")
_PLAUSIBLE_SHEET_DAYS = (10_000, 80_000)
_PLAUSIBLE_EPOCH_SECONDS = (10**7, 10**10)
_PLAUSIBLE_EPOCH_MILLISECONDS = (10**11, 10**13)


@dataclass(frozen=True, kw_only=True, eq=False)
class TypedColumns:
    """A table with typed columns, and how each column was read.

    Attributes:
        undecided_columns: columns of dates that fit both orders of day and month.
        readings: how each column was read that could be read in another way; None if
            the first rules decided.
    """

    frame: pd.DataFrame = field(repr=False)
    understood_columns: tuple[UnderstoodColumn, ...]
    undecided_columns: tuple[str, ...]
    readings: tuple[ColumnReading, ...] | None


def type_columns(
    names: Sequence[str],
    columns: Sequence[Any],
    separator: str | None,
    options: ReadOptions,
    on_share: Callable[[float], None] = lambda share: None,
    *,
    has_numbers: bool = False,
) -> TypedColumns:
    """Read columns of texts as numbers, ISO dates and texts.

    Args:
        names: of the columns.
        columns: Arrow arrays of texts.
        separator: between the cells of the file; beside semicolons a comma is taken
            for the decimal sign where no cell decides.
        options: `columns` is followed to the letter; without it, how each column is
            written is proposed.
        on_share: gets the share of the work that is done.
        has_numbers: whether the file knows numbers, so that a plain number is one.
    """
    is_first = options.rules == FIRST_RULES
    texts = {
        name: TextColumn(column, drops_marks=not is_first)
        for name, column in zip(names, columns, strict=True)
    }
    undecided: list[str] = []
    readings: list[ColumnReading] = []
    if is_first:
        undecided = read_by_first_rules(texts, separator, options)
    elif options.columns is None:
        readings = propose_readings(
            texts, separator, options, undecided, has_numbers=has_numbers
        )
    else:
        readings = [reading for reading in options.columns if reading.column in texts]
    understood = []
    for place, reading in enumerate(readings):
        on_share(place / len(readings) / 2)
        changed = _read_column(texts[reading.column], reading)
        if changed:
            understood.append(_describe_reading(reading, changed))
    values = []
    for place, (name, column) in enumerate(texts.items()):
        on_share((1 + place / len(texts)) / 2)
        values.append(column.values(may_be_id=is_id_column_name(name)))
    frame = pa.table(values, names=list(names)).to_pandas()
    frame.attrs[READ_AS_TEXT] = True
    frame.attrs[MERGED_COLUMNS] = tuple(
        name for name, column in texts.items() if column.merges
    )
    return TypedColumns(
        frame=frame,
        understood_columns=tuple(understood),
        undecided_columns=tuple(undecided),
        readings=None if is_first else tuple(readings),
    )


def _read_column(column: TextColumn, reading: ColumnReading) -> list[tuple[str, str]]:
    """Rewrite the texts of a column; return pairs of old and new texts."""
    if reading.kind == "number" and reading.decimal == column.simple_decimal_sign:
        return column.read_simple()
    read = find_cell_reader(reading)
    return [] if read is None else column.read(read)


def find_cell_reader(reading: ColumnReading) -> ReadText | None:
    """Return the function that reads the cells of a column; None if they stay texts."""
    if reading.kind == "text":
        return None
    if reading.kind == "number":
        return lambda text: _read_number_in(text, reading.decimal, reading.unit)
    if reading.digits:
        return lambda text: read_digits(text, reading.digits)
    return lambda text: read_date(
        text, day_first=reading.day_first, century=reading.century
    )


def _read_number_in(text: str, decimal: str, unit: str) -> str | None:
    if decimal == "." and PLAIN_NUMBER.fullmatch(text):
        return text
    number = read_number(text, decimal)
    return number.plain if number and number.unit in ("", unit) else None


def propose_readings(
    texts: Mapping[str, TextColumn],
    separator: str | None,
    options: ReadOptions,
    undecided_columns: list[str],
    *,
    has_numbers: bool,
) -> list[ColumnReading]:
    """Propose how the cells of each column are written, judging by all rows.

    Columns that could be read in one way only are left out. The sign before the
    decimals is that of the options, or what most cells of a column leave no doubt
    about, else of the file.

    Args:
        undecided_columns: gets the columns of dates that fit both orders of day and month.
    """
    readable = {
        name: column
        for name, column in texts.items()
        if column.sample() and not (has_numbers and column.plain)
    }
    decimals = {name: _rank_decimal_signs(column) for name, column in readable.items()}
    decimal = options.decimal or _choose_file_decimal(readable, decimals, separator)
    readings: dict[str, ColumnReading] = {}
    for name, column in texts.items():
        if not column.sample():
            continue
        digits = _propose_digit_dates(name, column, options)
        if digits is not None:
            readings[name] = digits
        elif name in readable:
            signs = dict.fromkeys((*decimals[name], decimal, *DECIMAL_SIGNS))
            number = _propose_number(
                name, column, [options.decimal] if options.decimal else [*signs]
            )
            if number is not None and _would_change(column):
                readings[name] = number
    dates = {
        name: column
        for name, column in readable.items()
        if name not in readings and not column.plain and _may_be_dates(name, column)
    }
    orders = {name: _count_orders(name, column) for name, column in dates.items()}
    for name, column in dates.items():
        reading = _propose_date(name, column, options, orders)
        if reading is None:
            undecided_columns.append(name)
            reading = ColumnReading(column=name, kind="text")
        readings[name] = reading
    for name, column in readable.items():
        if name not in readings and _would_change_any(column, column.sample()):
            readings[name] = ColumnReading(column=name, kind="text")
    return [readings[name] for name in texts if name in readings]


def _would_change(column: TextColumn) -> bool:
    if column.simple_decimal_sign is not None:
        return column.simple_decimal_sign == "," or column.has_thousands()
    return _would_change_any(column, column.counts)


def _would_change_any(column: TextColumn, texts: Iterable[str]) -> bool:
    """Return whether reading the column as numbers or dates would change some text.

    Plain numbers and words stay as they are by all ways.
    """
    if column.plain and not any("." in text for text in column.sample()):
        return False
    return any(_would_change_text(text) for text in texts)


def _would_change_text(text: str) -> bool:
    for decimal in DECIMAL_SIGNS:
        number = read_number(text, decimal)
        if number is not None and number.plain != text:
            return True
    if is_iso(text):
        return False
    return any(read_date(text, day_first=order) is not None for order in (True, False))


def _rank_decimal_signs(column: TextColumn) -> list[str]:
    """Return the decimal signs of unambiguous cells, the most frequent first."""
    if column.plain and not any("." in text for text in column.sample()):
        return []
    if column.simple_decimal_sign is not None:
        return [column.simple_decimal_sign] if column.has_clear_sign() else []
    if not any(
        read_number(text, sign) for text in column.sample() for sign in DECIMAL_SIGNS
    ):
        return []
    cells = Counter[str]()
    for text, count in column.counts.items():
        signs = [sign for sign in DECIMAL_SIGNS if read_number(text, sign)]
        if len(signs) == 1:
            cells[signs[0]] += count
    return [sign for sign, _ in cells.most_common()]


def _choose_file_decimal(
    columns: Mapping[str, TextColumn],
    decimals: Mapping[str, Sequence[str]],
    separator: str | None,
) -> str:
    signs = Counter(
        signs[0]
        for name, signs in decimals.items()
        if signs and _are_numbers(columns[name], signs[0])
    )
    if signs:
        return signs.most_common(1)[0][0]
    has_points = any(
        column.plain and any("." in text for text in column.sample())
        for column in columns.values()
    )
    return "," if separator == ";" and not has_points else "."


def _are_numbers(column: TextColumn, decimal: str) -> bool:
    return column.simple_decimal_sign == decimal or column.reads_most(
        partial(_read_any_unit, decimal=decimal)
    )


def _read_any_unit(text: str, decimal: str) -> str | None:
    number = read_number(text, decimal)
    return number.plain if number else None


def _propose_number(
    name: str, column: TextColumn, decimals: Iterable[str]
) -> ColumnReading | None:
    """Propose to read a column as numbers; None if it is plain or mostly other
    texts.
    """
    for decimal in decimals:
        if decimal == "." and column.plain:
            return None
        if decimal == column.simple_decimal_sign:
            return ColumnReading(column=name, kind="number", decimal=decimal)
        if not column.reads_half(partial(_read_any_unit, decimal=decimal)):
            continue
        units = Counter[str]()
        others = []
        for text, count in column.counts.items():
            number = read_number(text, decimal)
            if number is None:
                others.append(count)
            else:
                units[number.unit] += count
        if not is_dominant_kind(sum(column.counts.values()), others):
            continue
        reading = ColumnReading(
            column=name,
            kind="number",
            decimal=decimal,
            unit=units.most_common(1)[0][0],
        )
        read = cast(ReadText, find_cell_reader(reading))
        if len(units) > 1 and not column.reads_most(read):
            continue
        if is_id_column_name(name) and column.would_merge(read):
            continue
        return reading
    return None


def _propose_digit_dates(
    name: str, column: TextColumn, options: ReadOptions
) -> ColumnReading | None:
    """Propose to read a column as dates written as one number, such as 20210308."""
    if not all(re.fullmatch(r"-?\d+(\.\d+)?", text) for text in column.sample()[:5]):
        return None
    is_named = is_date_column_name(name)
    for form in DIGIT_FORMS:
        if form == "ddmmyyyy" and options.day_first is False:
            continue
        if form == "mmddyyyy" and options.day_first is True:
            continue
        is_eight = form in ("yyyymmdd", "ddmmyyyy", "mmddyyyy")
        if not is_eight and not is_named:
            continue

        def read(text: str, form: str = form, is_eight: bool = is_eight) -> str | None:
            day = read_digits(text, form)
            if day is None or (is_named and is_eight):
                return day
            if is_eight:
                return day if _PLAUSIBLE_YEARS[0] <= day < _PLAUSIBLE_YEARS[1] else None
            low, high = _plausible_range(form)
            return day if low <= abs(float(text)) < high else None

        enough = is_named or len(column.counts) >= _MIN_DISTINCT_DAYS
        if enough and column.reads_most(read):
            return ColumnReading(column=name, kind="date", digits=form)
    return None


def _plausible_range(form: str) -> tuple[int, int]:
    return {
        "days since 1900": _PLAUSIBLE_SHEET_DAYS,
        "seconds": _PLAUSIBLE_EPOCH_SECONDS,
        "thousandths": _PLAUSIBLE_EPOCH_MILLISECONDS,
    }[form]


def _may_be_dates(name: str, column: TextColumn) -> bool:
    if all(map(is_iso, column.sample())):
        return False
    century = first_year_of_century(name)
    orders: list[ReadText] = [
        partial(read_date, day_first=True, century=century),
        partial(read_date, day_first=False, century=century),
    ]
    return any(map(column.reads_most, orders))


def _count_orders(name: str, column: TextColumn) -> dict[bool | None, int]:
    """Count the cells that are dates with day first only, month first only, or both."""
    century = first_year_of_century(name)
    cells = Counter[bool | None]()
    for text, count in column.counts.items():
        by_day = read_date(text, day_first=True, century=century)
        by_month = read_date(text, day_first=False, century=century)
        if by_day and by_month and by_day != by_month:
            cells[None] += count
        elif bool(by_day) != bool(by_month):
            cells[bool(by_day)] += count
    return dict(cells)


def _propose_date(
    name: str,
    column: TextColumn,
    options: ReadOptions,
    orders: Mapping[str, Mapping[bool | None, int]],
) -> ColumnReading | None:
    """Propose to read a column as dates; None if the day-month order stays open."""
    day_first = options.day_first
    if day_first is None:
        own = orders[name]
        others = Counter[bool]()
        for counts in orders.values():
            others[True] += counts.get(True, 0)
            others[False] += counts.get(False, 0)
        cells = own if own.get(True, 0) != own.get(False, 0) else others
        if cells.get(True, 0) == cells.get(False, 0):
            if own.get(None, 0):
                return None
            day_first = True
        else:
            day_first = cells.get(True, 0) > cells.get(False, 0)
    reading = ColumnReading(
        column=name,
        kind="date",
        day_first=day_first,
        century=first_year_of_century(name),
    )
    if not column.reads_most(cast(ReadText, find_cell_reader(reading))):
        return ColumnReading(column=name, kind="text")
    return reading


def _describe_reading(
    reading: ColumnReading, pairs: Sequence[tuple[str, str]]
) -> UnderstoodColumn:
    first = pairs[0][0]
    if reading.kind == "number":
        written = [read_number(text, reading.decimal) for text, _ in pairs[:1_000]]
        # describe the number with the most signs: 1.234,5 tells more than 1,5
        pattern = max(
            (number.pattern for number in written if number),
            key=lambda form: sum(not sign.isdigit() for sign in form),
        )
    else:
        pattern = reading.digits or describe_date(first, day_first=reading.day_first)
    return UnderstoodColumn(
        column=reading.column,
        kind=cast(Any, reading.kind),
        pattern=pattern,
        examples=tuple(pairs[:3]),
    )
