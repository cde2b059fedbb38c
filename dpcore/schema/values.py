"""Convert values to texts; this is the only place where a value becomes a text.

A value is missing, a number or a text, and that follows from the value alone: never
from the type of its column, the other values, their order, or what is equal to what
(True is not 1, and 12.1 is not 12.10). `canonicalize` gives each distinct value of a
column once; ids, digests and texts all start there.
"""

import datetime
import decimal
import math
import re
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from dpcore.errors import unsupported_values_error

MISSING = "(missing)"
OTHER_LABEL = "(other)"
SUPPRESSED = "*"
READ_AS_TEXT = "read as text"
"""Key of `frame.attrs`: the file knew texts only, so that 7 and "7" differ by the rest
of their column.
"""
MERGED_COLUMNS = "texts that became one"
"""Key of `frame.attrs`: columns in which a file or its reading may have made one id of
two.
"""
READING_FROM_DATA = "reading from data"
"""Key of `frame.attrs`: whether how the file is written was read from the file itself,
and not told.
"""

_WHOLE_NUMBER = r"-?(?:0|[1-9][0-9]*)"  # no leading zeros: 01234 is a code
_DECIMAL_NUMBER = rf"{_WHOLE_NUMBER}[eE][+-]?[0-9]+|(?:{_WHOLE_NUMBER}\.[0-9]*|-?\.[0-9]+)(?:[eE][+-]?[0-9]+)?|-0"
NUMBER_PATTERN = f"{_WHOLE_NUMBER}|{_DECIMAL_NUMBER}"
"""How a number is written."""
_IS_NUMBER = re.compile(NUMBER_PATTERN).fullmatch
_IS_DECIMAL = re.compile(_DECIMAL_NUMBER).fullmatch

Codes = npt.NDArray[np.int64]

_MAX_DIGITS = 100
"""Digits of a whole number that are written, at most; only a `Decimal` has more."""


@dataclass(frozen=True, kw_only=True)
class CanonicalColumn:
    """A column as its distinct canonical values and a code for each row.

    Attributes:
        codes: int64, one per row: the place in `values`; -1 for a missing value.
        values: the canonical text of each: "n" and a number, "t" and a text as it was
            written, "o" and the type and text of anything else. Two places may hold one
            value.
    """

    codes: Codes
    values: list[str]

    def spread_to_rows(
        self, by_value: npt.NDArray[Any], for_missing: Any
    ) -> npt.NDArray[Any]:
        """Return an array with one entry per row, from one entry per distinct value."""
        return np.append(by_value, np.array([for_missing], dtype=by_value.dtype))[
            self.codes
        ]

    def persons(self) -> Codes:
        """Return an array of shape (rows,): the number, from 0, of each row's person.

        Ids of equal texts are one person, so 7 and "7" are. Rows without an id have the
        last number together.
        """
        place: dict[str, int] = {}
        of_values = [place.setdefault(value[1:], len(place)) for value in self.values]
        return self.spread_to_rows(np.array(of_values, dtype=np.int64), len(place))


def canonicalize(column: pd.Series) -> CanonicalColumn:
    """Return a column in canonical form, where each value is taken by itself."""
    dtype: Any = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        inner = canonicalize(pd.Series(dtype.categories))
        return CanonicalColumn(
            codes=np.append(inner.codes, -1)[column.cat.codes.to_numpy()],
            values=inner.values,
        )
    texts = isinstance(dtype, pd.StringDtype) or (
        pd.api.types.is_object_dtype(dtype)
        and pd.api.types.infer_dtype(column, skipna=True) == "string"
    )
    is_clock = dtype.kind == "M" and not isinstance(dtype, pd.ArrowDtype)
    # in a column of one type, values that pandas calls equal are the same value
    if texts or is_clock or dtype.kind in "iufb" or is_arrow_decimal(dtype):
        distinct: Any
        codes, distinct = pd.factorize(column)
        if dtype in ("float32", "float16"):  # which pandas widens: 0.1 must stay 0.1
            distinct = np.asarray(distinct, dtype=str(dtype))
        values = (
            [f"t{text}" for text in np.asarray(distinct, object)]
            if texts
            else _canonical_of_one_type(distinct)
        )
        return CanonicalColumn(codes=codes.astype(np.int64), values=values)
    place: dict[str, int] = {}
    codes = np.empty(len(column), dtype=np.int64)
    for row, value in enumerate(column):
        if isinstance(value, bytes | bytearray | memoryview):
            raise unsupported_values_error(str(column.name))
        text = canonical_text(value)
        codes[row] = -1 if text is None else place.setdefault(text, len(place))
    return CanonicalColumn(codes=codes, values=list(place))


def is_arrow_decimal(dtype: Any) -> bool:
    """Return whether a dtype is one of Arrow's decimal types."""
    return isinstance(dtype, pd.ArrowDtype) and bool(
        pa.types.is_decimal(dtype.pyarrow_dtype)
    )


def canonical_text(value: Any) -> str | None:
    """Return the canonical text of one value; None if the value is missing."""
    if isinstance(value, str):
        return f"t{value}"
    if isinstance(value, bool | np.bool_):
        return f"t{bool(value)}"
    if isinstance(value, int | np.integer):
        return f"n{int(value)}"
    if value is None or value is pd.NA or value is pd.NaT:
        return None
    if isinstance(value, float | np.floating):
        number = (
            float(str(value))
            if isinstance(value, np.float16 | np.float32)
            else float(value)
        )
        return None if number != number else f"n{_write_number(number)}"
    if isinstance(value, decimal.Decimal):
        return None if value.is_nan() else f"n{_write_decimal(value)}"
    if isinstance(value, datetime.date | np.datetime64):  # a datetime is a date too
        return _canonical_moment(pd.Timestamp(value))
    if isinstance(value, uuid.UUID):
        return f"t{value}"
    return None if value != value else f"o{type(value).__name__} {value}"


def as_text(values: pd.Series) -> pd.Series:
    """Return every value as trimmed text. Missing values stay missing.

    A number has one text, however it was written: 1, 1.0 and "1.00" are "1", but "01"
    is a code. A time at midnight is a date. The text of a value depends on nothing but
    that value: were it otherwise, one person could change how the rows of all others
    are counted.
    """
    column = canonicalize(values)
    texts = np.array([readable_text(value) for value in column.values], dtype=object)
    return pd.Series(
        column.spread_to_rows(texts, None),
        index=values.index,
        name=values.name,
        dtype="str",
    )


def list_texts(values: Iterable[object]) -> list[str]:
    """Return the texts of any values as a list, with `(missing)` for missing ones."""
    if not isinstance(
        values, pd.Series | pd.Index | np.ndarray | pd.api.extensions.ExtensionArray
    ):
        values = np.fromiter(values, dtype=object)
    return as_text(pd.Series(values)).fillna(MISSING).tolist()


def declared_texts(labels: Iterable[object]) -> list[str]:
    """Return declared texts or numbers as texts, in the form that `as_text` gives."""
    return [readable_text(f"t{label}") for label in labels]


def map_texts(texts: pd.Series, change: Callable[[str], str]) -> pd.Series:
    """Apply a function to each distinct text; missing values stay missing."""
    return texts.map({text: change(text) for text in texts.dropna().unique()}).astype(
        "str"
    )


def exact_text(label: object) -> str:
    """Return a declared text or number like `as_text`, but with all its digits."""
    text = str(label).strip()
    near = readable_text(f"t{label}")
    is_same = (
        not _IS_DECIMAL(text)
        or near == text
        or decimal.Decimal(near) == decimal.Decimal(text)
    )
    return near if is_same else _write_decimal(decimal.Decimal(text))


def parse_number(text: str) -> float | None:
    """Return the number written in a text; None for others, such as the code 01."""
    return float(text) if _IS_NUMBER(text) else None


def canonicalize_file_text(value: str) -> str:
    """Return a file's canonical text, as a number if it is written like one.

    A text that is written as a number becomes a number.
    """
    return (
        f"n{readable_text(value)}"
        if value[0] == "t" and _IS_NUMBER(value[1:])
        else value
    )


def readable_text(value: str) -> str:
    """Return the readable form of a canonical text: trimmed, with numbers
    normalized.
    """
    if not value.isascii():
        value = value.encode(errors="replace").decode()  # half a character is no text
    if value[0] == "o":
        return value.partition(" ")[2].strip()
    text = value[1:].strip()
    if value[0] == "n" or not _IS_DECIMAL(text):
        return text
    number = float(text)
    # a code such as 12e45678 is infinite or zero as a float
    lost = math.isinf(number) or (number == 0 and re.match("-?[0.]*[1-9]", text))
    return text if lost else _write_number(number)


def _canonical_of_one_type(distinct: Any) -> list[str]:
    if is_arrow_decimal(distinct.dtype):
        return _canonical_decimals(distinct)
    kind = distinct.dtype.kind
    if kind == "f" and distinct.dtype.itemsize == 8:
        return _canonical_floats(np.asarray(distinct))
    if kind in "iu":
        return _canonical_numbers(np.asarray(distinct))
    if kind == "M":
        zone = getattr(distinct, "tz", None)
        stamps = np.asarray(distinct if zone is None else distinct.tz_convert(None))
        write = _moment_text if zone is None else _instant_text
        return [write(stamp) for stamp in np.datetime_as_string(stamps).tolist()]
    return [str(canonical_text(value)) for value in distinct]


def _canonical_floats(numbers: npt.NDArray[np.float64]) -> list[str]:
    """Return the text of each float, as `_write_number` writes it.

    Arrow gives the fewest digits that suffice too, but other exponents.
    """
    size = np.abs(numbers)
    is_whole = (size < 2**63) & (numbers == np.trunc(numbers))
    is_plain = (size >= 1e-4) & (size < 1e10) & ~is_whole
    output = np.empty(len(numbers), dtype=object)
    output[is_whole] = _canonical_numbers(numbers[is_whole].astype(np.int64))
    output[is_plain] = _canonical_numbers(numbers[is_plain])
    rest = ~(is_whole | is_plain)
    output[rest] = [f"n{_write_number(number)}" for number in numbers[rest].tolist()]
    return list(output.tolist())


def _canonical_decimals(distinct: Any) -> list[str]:
    """Return the text of each decimal, as `_write_decimal` writes it.

    Arrow gives all digits too, zeros at the end and other exponents.
    """
    numbers = pa.array(distinct.array)
    texts = pc.cast(numbers, pa.large_string())
    if numbers.type.scale > 0:
        texts = pc.utf8_rtrim(pc.utf8_rtrim(texts, "0"), ".")
    output = _canonical_numbers(texts)
    small = pc.match_substring_regex(texts, r"^-?0\.0000|[eE]")
    for place in np.flatnonzero(small.to_numpy(zero_copy_only=False)).tolist():
        output[place] = f"n{_write_decimal(numbers[place].as_py())}"
    return output


def _canonical_numbers(numbers: Any) -> list[str]:
    """Return the canonical texts of numbers in the form that Arrow writes."""
    text = pa.large_string()  # its buffer holds one text after the other
    before = pa.scalar("n", text)
    after = pa.scalar("\n", text)
    between = pa.scalar("", text)
    texts = pc.binary_join_element_wise(
        before, pa.array(numbers).cast(text), after, between
    )
    return str(texts.buffers()[2], "ascii").splitlines() if len(numbers) else []


def _write_number(number: float) -> str:
    """Write a number in the fewest digits that identify it.

    Whole numbers that fit into 64 bits are written in full.
    """
    return (
        str(int(number))
        if number.is_integer() and abs(number) < 2**64
        else repr(number)
    )


def _write_decimal(number: decimal.Decimal) -> str:
    """Write a decimal with all its digits but trailing zeros.

    The point stands where `repr` puts that of a float.
    """
    sign, digits, exponent = number.as_tuple()
    if not isinstance(exponent, int):
        return _write_number(float(number))  # infinity
    written = "".join(map(str, digits)).lstrip("0")
    significant = written.rstrip("0")
    exponent += len(written) - len(significant)
    if not significant:
        return "0"
    minus = "-" * sign
    size = exponent + len(significant) - 1
    if exponent >= 0 and size < _MAX_DIGITS:
        return f"{minus}{significant}{'0' * exponent}"
    if exponent < 0 <= size:
        return f"{minus}{significant[:exponent]}.{significant[exponent:]}"
    if -4 <= size < 0:
        return f"{minus}0.{'0' * (-size - 1)}{significant}"
    return f"{minus}{significant[0]}{'.' if significant[1:] else ''}{significant[1:]}e{size:+03d}"


def largest_float_at_most(number: decimal.Decimal) -> tuple[float, bool]:
    """Return the largest float that is at most a decimal, and whether both are
    equal.
    """
    near = float(number)
    if not math.isfinite(near):
        return near, True
    written = decimal.Decimal(_write_number(near))
    return math.nextafter(
        near, -math.inf
    ) if written > number else near, written == number


def _canonical_moment(moment: Any) -> str | None:
    if moment is pd.NaT:
        return None
    if moment.tzinfo is None:
        return _moment_text(str(moment.to_datetime64()))
    return _instant_text(str(moment.tz_convert(None).to_datetime64()))


def _instant_text(stamp: str) -> str:
    """Write an instant given in UTC, always with its time and its zone."""
    day, _, clock = _moment_text(stamp).partition(" ")
    return f"{day} {clock or '00:00:00'}+00:00"


def _moment_text(stamp: str) -> str:
    """Write a time stamp: at midnight as a date, otherwise without a zero fraction."""
    day, _, clock = stamp.partition("T")
    seconds, _, fraction = clock.partition(".")
    fraction = fraction.ljust(6, "0")[:6] + fraction[6:].rstrip("0")
    if fraction.strip("0"):
        return f"t{day} {seconds}.{fraction}"
    return f"t{day} {seconds}" if seconds.strip("0:") else f"t{day}"
