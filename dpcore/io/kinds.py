"""Columns of texts to columns of numbers, dates and texts, looking at each distinct
text once.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from dpcore.io.locales import NumbersOrDates, as_dates, as_numbers, is_date, is_number
from dpcore.io.options import DECIMALS, ReadOptions, Understood
from dpcore.schema.detector import may_be_id
from dpcore.schema.suggest import KIND_SHARE
from dpcore.schema.values import MERGED, READ_AS_TEXT
from dpcore.schema.words import means_missing

_INTEGER = r"(?:0|-?[1-9][0-9]*)"  # no leading zeros: 01234 is a code
_LONG = r"-?[0-9]{16,}"
NUMBER = r"-?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_PLAIN = re.compile(NUMBER)
_LOOK = 30
"""Distinct texts of a column of which half must fit before all of them are looked
at.
"""


@dataclass(frozen=True, kw_only=True, eq=False)
class Typed:
    """The table, and what was understood on the way."""

    frame: pd.DataFrame = field(repr=False)
    understood: tuple[Understood, ...]
    undecided: tuple[str, ...]
    decimal: str | None


class _Texts:
    """A column by its distinct texts."""

    def __init__(self, column: Any) -> None:
        coded = column.dictionary_encode()
        self.arrow = coded.dictionary
        self.indices = pc.if_else(
            pc.equal(self.arrow, "").take(coded.indices), None, coded.indices
        )
        self.plain = self._all_match(NUMBER)
        self._distinct: list[str] | None = None
        self.merges = False  # whether two texts became one

    @property
    def distinct(self) -> list[str]:
        """Texts that are neither empty nor a common mark for missing."""
        if self._distinct is None:
            self._distinct = [
                text for text in self.arrow.to_pylist() if not means_missing(text)
            ]
        return self._distinct

    def look(self, fits: Callable[[str], bool] = bool) -> list[str]:
        """Return some of them that fit, if half of some do, else none."""
        few = self.arrow.slice(0, 4 * _LOOK).to_pylist()
        some = [text for text in few if not means_missing(text)][:_LOOK]
        fitting = [text for text in some if fits(text)]
        return fitting if 2 * len(fitting) >= len(some) else []

    def most(self, fits: Callable[[str], bool]) -> list[str]:
        """Return those that fit, if most cells that are not missing hold one of them,
        else none.
        """
        fitting = [text for text in self.distinct if fits(text)]
        if len(fitting) == len(self.distinct) or not fitting:
            return fitting
        of = {
            row["values"]: row["counts"]
            for row in self.indices.value_counts().to_pylist()
        }
        cells = {
            text: of.get(place, 0) for place, text in enumerate(self.arrow.to_pylist())
        }
        enough = sum(map(cells.__getitem__, fitting)) >= KIND_SHARE * sum(
            map(cells.__getitem__, self.distinct)
        )
        return fitting if enough else []

    def _all_match(self, pattern: str) -> bool:
        if not all(
            _PLAIN.fullmatch(text)
            for text in self.arrow.slice(0, _LOOK).to_pylist()
            if text
        ):
            return False
        matches = pc.match_substring_regex(self.arrow, rf"\A(?:{pattern})?\z")
        return bool(pc.all(matches).as_py()) and any(self.arrow.slice(0, 2).to_pylist())

    def replaced(self, texts: list[str], reading: NumbersOrDates) -> bool:
        """Take the reading for these texts.

        Marks for missing and what did not fit stay.

        False, and nothing is taken, where a text would become one that is there: one id
        of two.
        """
        now = dict(zip(texts, reading.texts, strict=True))
        if len(texts) < len(self.distinct) and not {*now.values()}.isdisjoint(
            {*self.distinct} - {*texts}
        ):
            return False
        self.merges |= len({*reading.texts}) < len(texts)
        self.arrow = pa.array(
            [now.get(text, text) for text in self.arrow.to_pylist()], pa.string()
        )
        self.plain = self._all_match(NUMBER)
        self._distinct = None
        return True

    def values(self, *, may_be_id: bool) -> Any:
        """Return an Arrow column of whole numbers, numbers or texts."""
        if not self.plain:
            return self.arrow.take(self.indices)
        present = pc.if_else(pc.equal(self.arrow, ""), None, self.arrow)
        complete = self.indices.null_count == 0
        if pc.all(pc.match_substring_regex(present, rf"\A{_INTEGER}\z")).as_py():
            # Longer ones would lose digits, and two ids become one: 64 bits hold 18
            # digits, a float holds 15.
            if pc.max(pc.utf8_length(pc.utf8_ltrim(present, "-"))).as_py() > (
                18 if complete else 15
            ):
                return self.arrow.take(self.indices)
            numbers = present.cast(pa.int64())
        else:
            numbers = present.cast(pa.float64())
        finite = pc.all(pc.is_finite(numbers)).as_py()
        # 12.1 and 12.10, or 0 and -0, may be two ids, and long ones lose digits: such
        # columns stay texts. Of other columns they are one number, as the prices 1.50
        # and 1.5 are.
        apart = (
            pc.count_distinct(pc.add(numbers, 0)).as_py()
            == pc.count_distinct(present).as_py()
        )
        long = (
            numbers.type == pa.float64()
            and pc.any(pc.match_substring_regex(present, rf"\A{_LONG}\z")).as_py()
        )
        if not finite or long or (may_be_id and not apart):
            return self.arrow.take(self.indices)
        self.merges |= not apart
        return numbers.take(self.indices)


def type_columns(
    names: Sequence[str],
    columns: Sequence[Any],
    separator: str | None,
    options: ReadOptions,
    on_share: Callable[[float], None] = lambda share: None,
) -> Typed:
    """Numbers where every text is one, ISO texts where every text is a date, texts
    elsewhere.

    The sign before the decimals is that of the options, or what some column leaves no
    doubt about, or a comma where semicolons part the cells. `on_share` gets the share
    of the work that is done.
    """
    texts = {name: _Texts(column) for name, column in zip(names, columns, strict=True)}
    rest = {name: column for name, column in texts.items() if column.look()}
    decimal = options.decimal or _decimal(rest.values(), separator)
    understood: list[Understood] = []
    undecided: list[str] = []
    dates: list[str] = []
    for name, column in rest.items():
        fitting, reading = _as_numbers(
            column, decimal, asked=options.decimal is not None
        )
        if reading is not None and column.replaced(fitting, reading):
            understood.append(_understood(name, "number", fitting, reading))
        elif not column.plain and any(
            as_dates(column.look(is_date), order) for order in (True, False)
        ):
            dates.append(name)
    day_first = (
        options.day_first if options.day_first is not None else _day_first(rest, dates)
    )
    for name in dates:
        fitting = rest[name].most(is_date)
        reading = as_dates(fitting, day_first)
        if reading is not None and not reading.texts:
            undecided.append(name)
        elif reading is not None and rest[name].replaced(fitting, reading):
            understood.append(_understood(name, "date", fitting, reading))
    values = []
    for place, (name, column) in enumerate(texts.items()):
        on_share((1 + place / len(texts)) / 2)
        values.append(column.values(may_be_id=may_be_id(name)))
    frame = pa.table(values, names=list(names)).to_pandas()
    frame.attrs[READ_AS_TEXT] = True
    frame.attrs[MERGED] = tuple(name for name, column in texts.items() if column.merges)
    return Typed(
        frame=frame,
        understood=tuple(understood),
        undecided=tuple(undecided),
        decimal=decimal,
    )


def _decimal(columns: Any, separator: str | None) -> str:
    for column in columns:
        fitting = [
            (sign, as_numbers(column.look(_number(sign)), sign)) for sign in DECIMALS
        ]
        decided = [
            sign for sign, reading in fitting if reading is not None and reading.decided
        ]
        if (
            len(decided) == 1
            and as_numbers(column.most(_number(decided[0])), decided[0]) is not None
        ):
            return decided[0]
    return (
        ","
        if separator == ";"
        and not any(column.plain for column in columns if _has_point(column))
        else "."
    )


def _number(decimal: str) -> Callable[[str], bool]:
    return partial(is_number, decimal=decimal)


def _has_point(column: _Texts) -> bool:
    return any("." in text for text in column.look())


def _as_numbers(
    column: _Texts, decimal: str, *, asked: bool
) -> tuple[list[str], NumbersOrDates | None]:
    """Find the numbers of a column, and their rewriting, None where they are plain, or
    not most.
    """
    other = "," if decimal == "." else "."
    for sign in (decimal,) if asked else (decimal, other):
        if sign == "." and column.plain:
            break
        if as_numbers(column.look(_number(sign)), sign) is None:
            continue
        fitting = column.most(_number(sign))
        reading = as_numbers(fitting, sign)
        if reading is not None:
            return fitting, None if reading.texts == fitting else reading
    return [], None


def _day_first(columns: dict[str, _Texts], dates: Sequence[str]) -> bool | None:
    """Find the order of day and month that some column leaves no doubt about."""
    for name in dates:
        for order in (True, False):
            reading = as_dates(columns[name].most(is_date), order)
            if reading is not None and reading.decided:
                return reading.pattern.startswith("dd")
    return None


def _understood(
    name: str, kind: Any, texts: list[str], reading: NumbersOrDates
) -> Understood:
    pairs = tuple(zip(texts, reading.texts, strict=True))
    return Understood(
        column=name, kind=kind, pattern=reading.pattern, examples=pairs[:3]
    )
