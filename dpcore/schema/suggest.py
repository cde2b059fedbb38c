"""Propose a schema for a table, for a person to confirm.

What it took from the data is marked.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Collection, Iterator
from typing import Any

import pandas as pd

from dpcore.errors import SchemaError
from dpcore.schema.column import Boolean, Categorical, Column
from dpcore.schema.date import (
    Date,
    are_all_days,
    find_finest_step,
    mask_days,
    parse_days,
    propose_last_year,
)
from dpcore.schema.detector import (
    PLACE_KINDS,
    detect_identifier,
    is_person_number_name,
)
from dpcore.schema.interval import IntervalColumn, NumberColumn
from dpcore.schema.meaning import detect_times_of_day, relate_columns
from dpcore.schema.numbers import propose_number_column
from dpcore.schema.order import CATEGORY_ORDERS, ORDERED_COLUMNS, order_labels
from dpcore.schema.origin import (
    AGES_RULE,
    CELL_FACTS,
    CENSORED_RULE,
    MISSING_FACTS,
    MISSING_WORDS_RULE,
    NUMBER_LIMIT,
    ONLY_NUMBERS_RULE,
    censored_number,
    means_missing,
)
from dpcore.schema.schema import LEFT_OUT_MARK, ExcludedColumn, Schema
from dpcore.schema.table import normalize_table
from dpcore.schema.unit import PrivacyUnit
from dpcore.schema.values import READING_FROM_DATA, as_text, is_arrow_decimal
from dpcore.schema.words import YES_AND_NO, is_word_for_unknown
from dpcore.text import Text

MAX_CATEGORIES = 200
MAX_LISTED_FORMS = 3
"""Forms of cells that do not fit that are told."""
MAX_FORM_LENGTH = 20
"""Signs of a form that are told."""
MIN_KIND_SHARE = 0.98
"""Share of a column's values that decides what kind it is; the others count as
missing.
"""
MIN_KIND_SHARE_BESIDE_MARKS = 0.8
"""The same share where the others are few texts that recur, such as marks for missing."""
MAX_DIFFERENT_MARKS = 3
"""Different texts that may be such marks, each in at least two cells."""
MIN_DISTINCT_BESIDE_MARKS = 20
"""Different numbers or dates beside which a text that recurs is a mark."""
MIN_NUMBERED_ROWS = 20
"""Different values from which on 1, 2, 3, ... are a running number."""
MAX_REPEATED_NUMBERS = 0.05
"""Share of rows that may repeat a running number, as of people who are there twice."""
_PERSON_NUMBER_NAME = re.compile(
    r"(^|[_\-. ])(patient|person|user|customer|client|member|subject|student|employee)?"
    r"[_\-. ]?(id|nr|no|number|key)$",
    re.IGNORECASE,
)
_ID_COLUMN_NAMES = tuple(
    re.compile(rf"(^|[_\-. ]){words}$", re.IGNORECASE)
    for words in ("(id|key)", "(nr|no|number)")
)
"""Names of a column that may name people, after those that say so, the clearest
first.
"""
_ISO_DATE = r"\d{4}-\d{2}-\d{2}(?:[T ].*)?"


def suggest_schema(
    frame: pd.DataFrame,
    *,
    missing: bool = True,
    on_share: Callable[[float], None] = lambda share: None,
) -> Schema:
    """Propose kinds, bounds, categories and the privacy unit from a look at the data.

    Every column carries its reason; every fact that could change with one person's rows
    is marked in `from_data`, also that a column was left out, because facts that follow
    the data reveal it. What a public rule says, such as that there is a cell for
    missing values, which words mean missing, or that ages go from 0 to 119, is not.
    Confirm or replace each of them.

    Args:
        frame: the table, one row per record of a person.
        missing: whether values can be missing in such a table, as its owner says
            without looking.
        on_share: called with the share of the columns that are done, from 0 to 1.

    Raises: SchemaError when no column can be released, two have one name, or one holds
        lists.

    >>> import pandas as pd
    >>> schema = suggest_schema(pd.DataFrame({"age": [17, 20, 99], "sex": ["F", "M", "M"]}))
    >>> [(column.name, column.kind, column.reason) for column in schema.columns]
    ... # doctest: +NORMALIZE_WHITESPACE
    [('age', 'integer', 'whole numbers, and the name says age: 0 to 119'),
     ('sex', 'categorical', 'it has few different values')]
    >>> schema.from_data["sex"], schema.column("sex").origin("missing").value
    (('kind', 'categories', 'ordered'), 'public rule')
    """
    frame = normalize_table(frame)
    unit = _propose_unit(frame)
    columns: list[Column] = []
    excluded: list[ExcludedColumn] = []
    for place, name in enumerate(frame.columns):
        on_share(place / len(frame.columns))
        if str(name) == unit.id_column:
            excluded.append(
                ExcludedColumn(
                    name=str(name),
                    reason=("it identifies the person whom a row describes"),
                )
            )
            continue
        suggestion = _suggest_column(str(name), frame[name], KnownOrder.of(frame, name))
        if isinstance(suggestion, ExcludedColumn):
            excluded.append(dataclasses.replace(suggestion, from_data=(LEFT_OUT_MARK,)))
        else:
            columns.append(_with_rules(suggestion, missing=missing))
    if not columns:
        raise SchemaError("no column is left", remedy="keep at least one column")
    columns = relate_columns(columns, frame, missing=missing)
    return Schema(
        columns=tuple(columns),
        unit=unit,
        excluded=tuple(excluded),
        reading_from_data=bool(frame.attrs.get(READING_FROM_DATA, False)),
    )


def is_dominant_kind(cells: int, others: Collection[int]) -> bool:
    """Return whether enough cells are of one kind for it to be the column's kind.

    Args:
        cells: number of all cells that do not mean missing.
        others: cells of each text that is not of the kind.

    >>> is_dominant_kind(100, [5]), is_dominant_kind(100, [1, 1, 3])
    (True, False)
    """
    rest = sum(others)
    if cells - rest >= MIN_KIND_SHARE * cells:
        return cells > rest
    are_marks = len(others) <= MAX_DIFFERENT_MARKS and min(others) > 1
    return are_marks and cells - rest >= MIN_KIND_SHARE_BESIDE_MARKS * cells


def _with_rules(column: Column, *, missing: bool) -> Column:
    """Apply the public rules for a column's kind, and mark the facts from the data."""
    rules = [
        rule
        for rule in (MISSING_WORDS_RULE, CENSORED_RULE)
        if rule in column.readable_by
    ]
    facts: dict[str, Any] = (
        {"unreadable_is_missing": True} if isinstance(column, IntervalColumn) else {}
    )
    marks = {"kind", *column.from_data, *_facts_from_rows(column)}
    declared = dataclasses.replace(
        column,
        rules=(*rules, *column.rules),
        missing=True,
        # in a fixed order, which does not depend on the rows
        from_data=tuple(fact for fact in column.facts if fact in marks),
        **facts,
    )
    return declared if missing else without_missing(declared)


def _facts_from_rows(column: Column) -> Iterator[str]:
    """Yield the facts that the rows decided, including those with their default value.

    Marks must not tell whether somebody's row changed one of them.
    """
    decided: tuple[str, ...] = ()
    if isinstance(column, Categorical):
        decided = ("categories", "ordered")
    elif isinstance(column, NumberColumn) and AGES_RULE not in column.rules:
        decided = (*CELL_FACTS, "decimals")
    yield from (fact for fact in decided if fact in column.facts)


def without_missing(column: Column) -> Column:
    """Return a column without a cell for missing values, which its owner rules out."""
    if isinstance(column, IntervalColumn):
        column = dataclasses.replace(column, unreadable_is_missing=False)
    rules = tuple(
        rule
        for rule in column.rules
        if rule not in (MISSING_WORDS_RULE, ONLY_NUMBERS_RULE)
    )
    marks = tuple(fact for fact in column.from_data if fact not in MISSING_FACTS)
    return dataclasses.replace(
        column, missing=False, missing_tokens=(), rules=rules, from_data=marks
    )


def _propose_unit(frame: pd.DataFrame) -> PrivacyUnit:
    """Propose the privacy unit: look for the id column, by its name alone.

    The number of a patient, a customer or another person comes first, in the languages
    of `people.toml`.

    A column without ids, or with a row without one, is refused when the table is
    opened.
    """
    tests: list[Callable[[str], object]] = [is_person_number_name]
    tests += [names.search for names in _ID_COLUMN_NAMES]
    for may_name_people in tests:
        for name in frame.columns:
            if may_name_people(str(name)):
                return PrivacyUnit(max_rows=1, id_column=str(name))
    return PrivacyUnit(max_rows=1)


def _suggest_column(
    name: str, values: pd.Series, known_order: KnownOrder
) -> Column | ExcludedColumn:
    is_text = not pd.api.types.is_numeric_dtype(values.dtype)
    is_stamp = pd.api.types.is_datetime64_any_dtype(values.dtype)
    texts = as_text(values) if is_text else None
    words: list[str] = []
    if texts is not None and not is_stamp:
        words = [text for text in texts.dropna().unique() if means_missing(text)]
    present = values[
        ~values.isna() & (~texts.isin(words) if texts is not None else True)
    ]
    if present.empty:
        return ExcludedColumn(name=name, reason="every value is missing")
    distinct = present.nunique()
    detection = detect_identifier(name, as_text(pd.Series(present.unique())).tolist())
    if (
        detection is not None
        and detection.kind not in (*PLACE_KINDS, "date")
        and not (
            detection.kind == "personal number"
            and distinct <= MAX_CATEGORIES
            and distinct < len(present) / 10
        )
    ):
        return ExcludedColumn(
            name=name, reason=Text("it looks like {kind}", kind=detection.kind)
        )
    base: dict[str, Any] = {"name": name}
    if pd.api.types.is_bool_dtype(values.dtype):
        return Boolean(**base, reason="it has few different values")
    if is_stamp and not are_all_days(present):
        return ExcludedColumn(
            name=name, reason="it has dates before the year 1 or after 9999"
        )
    days = present if is_stamp else _find_days(present)
    if _are_dominant(days, present):
        return _date_column(base, days)
    if (time := detect_times_of_day(name, present)) is not None:
        return time
    numbers, censored = _find_numbers(present)
    if _are_dominant(numbers, present):
        if _are_row_numbers(numbers) or (
            _PERSON_NUMBER_NAME.search(name) and distinct == len(present) > 1
        ):
            return ExcludedColumn(
                name=name,
                reason="it has too many different values, which may identify people",
            )
        return propose_number_column(base, numbers, censored)
    if (labels := _find_yes_and_no(present)) is not None:
        return Boolean(
            **base,
            true_label=labels[0],
            false_label=labels[1],
            from_data=("true_label", "false_label"),
            reason="it has few different values",
        )
    if distinct > MAX_CATEGORIES or distinct > max(len(present) / 2, 20):
        if 2 * max(len(numbers), len(days)) >= len(present):
            return ExcludedColumn(
                name=name, reason=_describe_misfits(present, numbers, days)
            )
        return ExcludedColumn(
            name=name,
            reason="it has too many different values, which may identify people",
        )
    categories, is_ordered = _sort_labels(
        sorted(as_text(present).unique()), known_order
    )
    if not is_ordered:
        categories = (*categories, *sorted(filter(is_word_for_unknown, words)))
    return Categorical(
        **base,
        categories=categories,
        ordered=is_ordered,
        from_data=("categories", "ordered") if is_ordered else ("categories",),
        reason="it has few different values",
    )


def _describe_misfits(present: pd.Series, numbers: pd.Series, days: pd.Series) -> Text:
    """Describe the cells that are not numbers or dates in a column where most are.

    Only forms are told, no cell.
    """
    fitting = numbers if len(numbers) >= len(days) else days
    others = as_text(present[~present.index.isin(fitting.index)])
    fields = {
        "most": as_text(fitting).map(text_form).mode().iloc[0],
        "cells": len(others),
        "others": ", ".join(
            others.map(text_form).value_counts().index[:MAX_LISTED_FORMS]
        ),
    }
    if fitting is numbers:
        return Text(
            "most cells are numbers, such as {most}, but {cells:,} are not: they look "
            "like {others}",
            **fields,
        )
    return Text(
        "most cells are dates, such as {most}, but {cells:,} are not: they look like "
        "{others}",
        **fields,
    )


def text_form(text: str) -> str:
    """Return the form of a text: 9 for each digit, "a" for each run of letters.

    >>> text_form("2021-03-08"), text_form("ca. 12 kg")
    ('9999-99-99', 'a. 99 a')
    """
    form = re.sub(r"[^\W\d_]+", "a", re.sub(r"\d", "9", text))
    return form if len(form) <= MAX_FORM_LENGTH else form[:MAX_FORM_LENGTH] + "…"


def _are_dominant(fitting: pd.Series, present: pd.Series) -> bool:
    """Return whether the fitting values are enough to decide a column's kind."""
    if len(fitting) >= MIN_KIND_SHARE * len(present):
        return True
    # beside few different numbers, a repeated text is probably a code like them
    if (
        len(fitting) < MIN_KIND_SHARE_BESIDE_MARKS * len(present)
        or fitting.nunique() < MIN_DISTINCT_BESIDE_MARKS
    ):
        return False
    others = as_text(present[~present.index.isin(fitting.index)])
    return is_dominant_kind(len(present), others.value_counts().tolist())


@dataclasses.dataclass(frozen=True, kw_only=True)
class KnownOrder:
    """The labels of a column, in the order of the file that they come from.

    Attributes:
        is_ordered: whether the file says that the order means something.
    """

    labels: tuple[str, ...] = ()
    is_ordered: bool = False

    @classmethod
    def of(cls, frame: pd.DataFrame, name: object) -> KnownOrder:
        """Return the known order of a column's labels, from its type or its file."""
        dtype = frame[name].dtype
        if isinstance(dtype, pd.CategoricalDtype):
            if not dtype.ordered:
                return cls()  # often that of the first rows
            labels = as_text(pd.Series(dtype.categories)).tolist()
            return cls(labels=tuple(labels), is_ordered=True)
        return cls(
            labels=tuple(frame.attrs.get(CATEGORY_ORDERS, {}).get(name, ())),
            is_ordered=name in frame.attrs.get(ORDERED_COLUMNS, ()),
        )


def _sort_labels(labels: list[str], known: KnownOrder) -> tuple[tuple[str, ...], bool]:
    """Return labels in order, and whether this order has a meaning.

    Labels that an ordered file lists and no row has are kept, so that no row decides
    whether they are there. Labels without a place stand last.
    """
    if known.is_ordered and len(known.labels) <= MAX_CATEGORIES:
        others = [label for label in labels if label not in known.labels]
        return (*known.labels, *others), not others
    if (ordered := order_labels(labels)) is not None:
        return ordered, True
    places = {label: place for place, label in enumerate(known.labels)}
    last = len(places)
    return tuple(sorted(labels, key=lambda label: places.get(label, last))), False


def _find_days(present: pd.Series) -> pd.Series:
    """Return the values that are written as days."""
    if pd.api.types.is_numeric_dtype(present.dtype):
        return present[:0]
    texts = as_text(present)
    if texts.head(100).str.fullmatch(_ISO_DATE).mean() < 0.5:
        return present[:0]
    return present[
        texts.str.fullmatch(_ISO_DATE).to_numpy(dtype=bool) & mask_days(texts)
    ]


def _find_numbers(present: pd.Series) -> tuple[pd.Series, tuple[float, ...]]:
    """Return the numbers of a column, including what texts such as `<0.5` count as.

    Codes such as the zip 01234 are texts, not numbers; a column with some has none.
    """
    if pd.api.types.is_numeric_dtype(present.dtype):
        if is_arrow_decimal(present.dtype) or present.dtype.kind == "f":
            # a float64 can hold the limit of 1e300, and declared bounds are float64 too
            present = present.astype("float64")
        return present[present.abs() < NUMBER_LIMIT], ()
    texts = as_text(present)
    if texts.str.match(r"0\d").mean() > 1 - MIN_KIND_SHARE:
        return present[:0], ()
    numbers = pd.to_numeric(texts, errors="coerce")
    counts_as = {text: censored_number(text) for text in texts[numbers.isna()].unique()}
    censored = {
        text: number
        for text, number in counts_as.items()
        if number is not None and abs(number) < NUMBER_LIMIT
    }
    numbers = numbers.fillna(texts.map(censored))
    return numbers[numbers.abs() < NUMBER_LIMIT], tuple(censored.values())


def _are_row_numbers(numbers: pd.Series) -> bool:
    """Return whether the values number the rows from 0 or 1, in any order.

    Few rows may repeat a number.
    """
    distinct = numbers.nunique()
    first = numbers.min()
    return bool(
        distinct >= MIN_NUMBERED_ROWS
        and first in (0, 1)
        # as a Python int, since a small integer type may overflow
        and numbers.max() == int(first) + distinct - 1
        and len(numbers) - distinct <= MAX_REPEATED_NUMBERS * len(numbers)
    )


def _find_yes_and_no(present: pd.Series) -> tuple[str, str] | None:
    """Return the texts for yes and no, in this order; None for other columns."""
    texts = sorted(as_text(present.drop_duplicates()).unique())
    if len(texts) != 2:
        return None
    for yes, no in YES_AND_NO:
        for pair in (texts, texts[::-1]):
            if pair[0].lower() == yes and pair[1].lower() == no:
                return pair[0], pair[1]
    return None


def _date_column(base: dict[str, Any], present: pd.Series) -> Date:
    days = parse_days(present)
    low = str(days.min())
    high = str(days.max())
    first = f"{low[:4]}-01-01"
    end = max(int(low[:4]), propose_last_year(base["name"], int(high[:4])))
    last = f"{end:04}-12-31"
    step = find_finest_step(first, last)
    return Date(
        **base,
        low=first,
        high=last,
        step=step,
        from_data=("low", "high", "step"),
        reason=Text(
            "the values are dates; the bounds are whole years, with one cell per "
            "{step}. What are the first and last days? Enter them and clear the "
            "step: closer bounds allow finer cells",
            step=step,
        ),
    )
