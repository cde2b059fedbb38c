"""The schema: public facts about a table, and who is protected."""

from __future__ import annotations

import dataclasses
import hashlib
import hmac
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import pandas as pd

from dpcore.errors import (
    BudgetError,
    ParameterError,
    SchemaError,
    UsageError,
)
from dpcore.json_text import parse_json, refuse_malformed_fields
from dpcore.schema.column import Codes, Column
from dpcore.schema.domain import Domain
from dpcore.schema.interval import NumberColumn
from dpcore.schema.origin import (
    AGES_RULE,
    CELL_FACTS,
    MISSING_FACTS,
    READING_MARK,
    TEXT_FACTS,
    CellSearch,
    Origin,
    cell_search_error,
)
from dpcore.schema.unit import PrivacyUnit
from dpcore.schema.values import MISSING, OTHER_LABEL
from dpcore.text import Text

SCHEMA_VERSION = 2
DECLARED_SOURCE = "declared"
"""What a file says of facts of which nobody said where they are known from."""
LEFT_OUT_MARK = "left out"
"""The mark of a column that is not in the schema because of what the table holds."""
ROW_FACTS_MARK = "row facts"
"""The mark of a column with a fact about every row that was taken from the data."""
_LOOKED_UP_FACTS = (*MISSING_FACTS, "synonyms", "spellings")
"""Facts that files of version 1 call known, though they followed the rows."""
_LEFT_OUT_REASON = Text("left out because of the values in the table")


@dataclass(frozen=True, kw_only=True)
class ExcludedColumn:
    """A column that is left out of every release, such as a name, and the reason.

    Attributes:
        from_data: `LEFT_OUT_MARK` if it was left out for what the data showed.
    """

    name: str
    reason: str
    from_data: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Schema:
    """Columns with their public facts, and the privacy unit.

    Attributes:
        columns: the columns that may be released, with distinct names; none where only
            rows were counted.
        unit: who is protected.
        excluded: columns of the table that are known and never read for a release; for
            the owner's eyes.
        declared_by: who declared that each row of a connected source comes from one
            person, where that cannot be checked; `Curator.open` takes it from the
            source.
        reading_from_data: whether how the file of the table is written (encoding,
            separator, header, first line, sheet, decimal sign, order of dates) was read
            from that file; `Curator.open` takes it from the table.
        unsaid: facts that are marked because a file of version 1 does not say where
            they are from, by column; requests of then are found without these marks.

    >>> from dpcore.schema import Categorical, Integer, PrivacyUnit, Schema
    >>> schema = Schema(
    ...     columns=(Integer("age", low=0, high=99, bin_width=10), Categorical("sex", categories=("F", "M"))),
    ...     unit=PrivacyUnit(max_rows=1),
    ... )
    >>> schema.domain.sizes
    (10, 2)
    >>> schema.column("age").labels[:3]
    ('0 to 9', '10 to 19', '20 to 29')
    >>> Schema.from_json(schema.to_json()) == schema
    True
    """

    columns: tuple[Column, ...]
    unit: PrivacyUnit
    excluded: tuple[ExcludedColumn, ...] = field(default=(), compare=False)
    declared_by: str = field(default="", compare=False)
    reading_from_data: bool = field(default=False, compare=False)
    unsaid: Mapping[str, tuple[str, ...]] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.columns))
        object.__setattr__(self, "excluded", tuple(self.excluded))
        seen = set[str]()
        names = [column.name for column in self.columns]
        for name in [*names, *(column.name for column in self.excluded)]:
            if name in seen:
                raise UsageError(
                    f"column {name!r} is declared twice", remedy="declare it once"
                )
            seen.add(name)

    def __repr__(self) -> str:
        cells = ", ".join(f"{column.name}: {column.size}" for column in self.columns)
        return f"Schema(cells of {cells}; {self.unit})"

    @cached_property
    def domain(self) -> Domain:
        """Names of the columns and their numbers of cells."""
        return Domain(
            names=tuple(column.name for column in self.columns),
            sizes=tuple(column.size for column in self.columns),
        )

    def column(self, name: str) -> Column:
        """Return the declaration of one column."""
        self.domain.size(name)  # refuses an unknown name
        return next(column for column in self.columns if column.name == name)

    def part_code(self, column: str, category: str) -> int:
        """Return the cell number of a declared category.

        Raises: ParameterError when the column has no such cell.
        """
        labels = self.column(column).labels
        if category not in labels:
            raise UsageError(
                f"{category!r} is not a declared cell of column {column!r}",
                remedy="choose one of its declared categories",
            )
        return labels.index(category)

    def check_part(self, part: Mapping[str, str] | None) -> tuple[str, str] | None:
        """Check that one category of a column may select a part of the table.

        Returns: (column, category); None for the whole table.

        Raises: ParameterError for what is no part; BudgetError where the column's cells
            are not public.
        """
        if not part:
            return None
        if len(part) != 1:
            raise UsageError(
                "a part is named by one column and one of its categories",
                remedy='write {"sex": "Female"}',
            )
        ((column, category),) = part.items()
        self.part_code(column, category)
        declared = self.column(column)
        fact = {MISSING: "missing", OTHER_LABEL: "other"}.get(category, "")
        is_marked_cell = fact in declared.from_data and getattr(declared, fact)
        if declared.values_origin == Origin.DATA or is_marked_cell:
            raise BudgetError(
                (
                    "the cells of column {column!r} were taken from the data, so "
                    "the parts of the table that they define are not public"
                ),
                remedy=(
                    "confirm that its facts are known from elsewhere, or use the "
                    "whole table"
                ),
                column=column,
            )
        return column, category

    def part_in_ledger(
        self, part: tuple[str, str], key: bytes
    ) -> tuple[tuple[str, str], tuple[str, str]]:
        """Return a part as the ledger stores it, in its present form and an older one.

        A second form has a digest without a key, as older lines carry; it is written
        only beside such lines. Parts of one declaration are disjoint. Parts of another
        declaration may overlap, and add up, as those of different columns do; so do
        parts of people that an earlier version charged, of whom other rows counted.
        """
        column = _without_search_id(self.column(part[0]))
        text = json.dumps(column.to_dict(), sort_keys=True)
        text += "" if self.unit.id_column is None else " by rank"
        digests = (
            hmac.new(key, text.encode(), hashlib.sha256).hexdigest(),
            hashlib.sha256(text.encode()).hexdigest(),
        )
        now, older = ((f"{part[0]} #{digest[:16]}", part[1]) for digest in digests)
        return now, older

    @property
    def left_out(self) -> tuple[ExcludedColumn, ...]:
        """Columns left out because of what the data showed, without the exact reason.

        This much others may know of them.
        """
        return tuple(
            dataclasses.replace(excluded, reason=_LEFT_OUT_REASON)
            for excluded in self.excluded
            if excluded.from_data
        )

    def unread_columns(self, names: Iterable[str]) -> tuple[ExcludedColumn, ...]:
        """Return columns outside `names` that the table's values may have left out.

        A column whose kind was looked up is among them whether it was left out or not:
        else a release of other columns would tell which of both one person decided. A
        column of times counts as that of its time stamps: a row decides if it exists.
        """
        read = set(names)
        undecided = {
            column.source_columns[-1]
            for column in self.columns
            if "kind" in column.from_data
        }
        undecided.update(excluded.name for excluded in self.left_out)
        return tuple(
            ExcludedColumn(
                name=name, reason=_LEFT_OUT_REASON, from_data=(LEFT_OUT_MARK,)
            )
            for name in sorted(undecided - read)
        )

    @property
    def from_data(self) -> dict[str, tuple[str, ...]]:
        """Facts taken from the data, by column; empty if all is known from outside."""
        columns: tuple[Column | ExcludedColumn, ...] = (*self.columns, *self.excluded)
        return {column.name: column.from_data for column in columns if column.from_data}

    @property
    def found(self) -> dict[str, CellSearch]:
        """Private searches for cells, by column."""
        return {column.name: column.found for column in self.columns if column.found}

    @property
    def columns_from_data(self) -> tuple[str, ...]:
        """Columns with facts taken from the data.

        Of a column with privately found cells, its kind alone does not count.
        """
        return tuple(uncovered_facts(self.from_data, self.found))

    def source_columns(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the columns of the table from which the named columns are computed.

        A name that is not declared stands for itself.
        """
        declared = {column.name: column.source_columns for column in self.columns}
        return tuple(
            dict.fromkeys(
                source for name in names for source in declared.get(name, (name,))
            )
        )

    def encode(self, frame: pd.DataFrame) -> dict[str, Codes]:
        """Return the cell number of each row for every declared column, int64.

        Raises: SchemaError for a missing column or a value without a cell.
        """
        self.check_names(frame)
        return {
            column.name: column.encode(column.values_of(frame))
            for column in self.columns
        }

    def check_names(self, frame: pd.DataFrame) -> None:
        """Refuse a table in which a declared column is missing or occurs twice."""
        read = dict.fromkeys(
            name for column in self.columns for name in column.source_columns
        )
        wanted = [*read] + ([self.unit.id_column] if self.unit.id_column else [])
        headers = list(frame.columns)
        for name in wanted:
            times = headers.count(name)
            if times != 1:
                raise SchemaError(
                    "the table has no column {column!r}"
                    if not times
                    else "the table has more than one column {column!r}",
                    remedy="rename one of them",
                    column=name,
                )

    def to_json(self) -> str:
        """Return the schema as JSON text with a version.

        It holds the declared columns, and the names of those left out for what the data
        showed.
        """
        columns = list(map(_column_to_dict, self.columns))
        content = self._content(SCHEMA_VERSION, columns)
        if self.reading_from_data:
            content["reading_from_data"] = True
        if self.unsaid:
            content["unsaid"] = {
                name: list(facts) for name, facts in self.unsaid.items()
            }
        if self.left_out:
            content["left_out"] = [
                {"name": excluded.name, "from_data": list(excluded.from_data)}
                for excluded in self.left_out
            ]
        return json.dumps(content, ensure_ascii=False, indent=1)

    @property
    def plan_text(self) -> str:
        """Text of the schema for request ids, the same in every version."""
        columns = [
            self._without_later_marks(_without_search_id(column))
            for column in self.columns
        ]
        content = self._content(1, columns)
        return json.dumps(content, ensure_ascii=False, indent=1)

    def without_private_texts(self) -> Schema:
        """Return the schema for other people, without texts taken from the data."""
        columns = [
            column.without_texts(
                [fact for fact in TEXT_FACTS if column.origin(fact) == Origin.DATA]
            )
            for column in self.columns
        ]
        return dataclasses.replace(self, columns=tuple(columns), excluded=self.left_out)

    def _without_later_marks(self, column: Column) -> dict[str, Any]:
        unsaid = self.unsaid.get(column.name, ())
        marks = tuple(fact for fact in column.from_data if fact not in unsaid)
        return dataclasses.replace(column, from_data=marks).to_dict()

    def _content(self, version: int, columns: list[dict[str, Any]]) -> dict[str, Any]:
        return {
            "version": version,
            "unit": self.unit.to_dict(),
            "columns": columns,
            **({"declared_by": self.declared_by} if self.declared_by else {}),
        }

    @classmethod
    def from_json(cls, text: str) -> Schema:
        """Read the output of `to_json`.

        In a file of version 1, facts that followed the rows then, or of which it does
        not say where they are known from, are marked as taken from the data.

        Raises: ReadError for text that is no schema, LimitError for one beyond the
            limits of `parse_json`, SchemaError for an unknown version, ParameterError
            for an unknown kind of column, a declaration that breaks its rules, or
            facts that cannot be known from where the file says.
        """
        content = parse_json(text)
        with refuse_malformed_fields():
            if content["version"] not in (1, SCHEMA_VERSION):
                raise SchemaError(
                    (
                        "the file has version {version}, but this program reads "
                        "version {readable}"
                    ),
                    remedy="open it with the program that made it",
                    version=content["version"],
                    readable=SCHEMA_VERSION,
                )
            of_before = [*content["columns"], *content.get("left_out", ())]
            reading_from_data = _load_reading_flag(content) or any(
                map(_has_reading_mark, of_before)
            )
            columns = tuple(map(_load_without_reading_mark, content["columns"]))
            unsaid = content.get("unsaid", {})
            if content["version"] == 1:
                is_said = any(column.known_from for column in columns)
                unsaid = {} if is_said else _unsourced_facts_by_column(columns)
                columns = tuple(map(_mark_version_1, columns))
            columns = tuple(map(_mark_unsourced_age, columns))
            for column in columns:
                _check_origins(column)
            return cls(
                columns=columns,
                unsaid={name: tuple(facts) for name, facts in unsaid.items()},
                unit=PrivacyUnit.from_dict(content["unit"]),
                declared_by=content.get("declared_by", ""),
                reading_from_data=reading_from_data,
                excluded=tuple(map(_load_left_out, content.get("left_out", ()))),
            )


def _load_reading_flag(content: Mapping[str, Any]) -> bool:
    """Return the flag `reading_from_data` of a schema file."""
    flag = content.get("reading_from_data", False)
    if not isinstance(flag, bool):
        raise TypeError("reading_from_data")
    return flag


def _has_reading_mark(fields: Mapping[str, Any]) -> bool:
    """Return whether a column of an earlier file has the reading mark itself."""
    return READING_MARK in fields.get("from_data", ())


def _load_without_reading_mark(fields: Mapping[str, Any]) -> Column:
    """Read a column without its reading mark, which the whole table now has."""
    marks = [fact for fact in fields.get("from_data", ()) if fact != READING_MARK]
    return Column.from_dict(
        {**fields, "from_data": marks} if _has_reading_mark(fields) else fields
    )


def _load_left_out(fields: Mapping[str, Any]) -> ExcludedColumn:
    """Read the entry for a column that a file lists as left out.

    Raises: ParameterError if it is not marked, as no other reason is in a file.
    """
    if not fields["from_data"]:
        raise ParameterError(
            "column {name!r} was left out, but the file does not say why",
            remedy="use the file as it was saved",
            name=fields["name"],
        )
    return ExcludedColumn(
        name=fields["name"],
        reason=_LEFT_OUT_REASON,
        from_data=tuple(fact for fact in fields["from_data"] if fact != READING_MARK),
    )


def uncovered_facts(
    from_data: Mapping[str, tuple[str, ...]], found: Iterable[str]
) -> dict[str, tuple[str, ...]]:
    """Return the facts taken from the data, which a promise does not cover, by column.

    For columns with privately found cells the kind is left out: the sentence about the
    search says that it was read.
    """
    taken = {
        name: tuple(fact for fact in facts if name not in found or fact != "kind")
        for name, facts in from_data.items()
    }
    return {name: facts for name, facts in taken.items() if facts}


def _without_search_id(column: Column) -> Column:
    """Return a column without the id of its cell search, as in request ids."""
    if column.found is None:
        return column
    return dataclasses.replace(column, found=column.found.without_id)


def _column_to_dict(column: Column) -> dict[str, Any]:
    if _unsourced_facts(column) and not column.known_from:
        column = dataclasses.replace(column, known_from=DECLARED_SOURCE)
    return column.to_dict()


def _mark_version_1(column: Column) -> Column:
    """Mark facts of unknown origin in a column of a version 1 file."""
    if column.known_from:
        marks = tuple(fact for fact in _LOOKED_UP_FACTS if fact in column.facts)
    else:
        marks = _unsourced_facts(column)
    together = dict.fromkeys((*column.from_data, *marks))
    return dataclasses.replace(column, from_data=tuple(together))


def _unsourced_facts_by_column(columns: Iterable[Column]) -> dict[str, tuple[str, ...]]:
    return {
        column.name: _unsourced_facts(column)
        for column in columns
        if _unsourced_facts(column)
    }


def _unsourced_facts(column: Column) -> tuple[str, ...]:
    """Return the facts that are known only from the person who declared them.

    Joined spellings are among them unless they are marked: the rule is public, and
    somebody's spelling may be why it is there. A file of version 1 does not tell.
    """
    joined = column.origin("spellings") == Origin.RULE
    return (*column.declared_facts, *(("spellings",) if joined else ()))


def _mark_unsourced_age(column: Column) -> Column:
    """Mark a highest age of 99 as taken from the data if its file names no source.

    Earlier programs called it a fact of the rule for ages.
    """
    is_unsaid = AGES_RULE in column.rules and column.declared_facts == ("high",)
    if not is_unsaid or column.known_from:
        return column
    return dataclasses.replace(column, from_data=(*column.from_data, "high"))


def _check_origins(column: Column) -> None:
    """Refuse facts whose stated origin is impossible.

    Raises: ParameterError.
    """
    unsaid = _unsourced_facts(column)
    if unsaid and not column.known_from:
        raise ParameterError(
            (
                "column {name!r} marks facts as publicly known without naming who "
                "says so: {facts}"
            ),
            remedy="mark them as taken from the data, or say where they are known from",
            name=column.name,
            facts=", ".join(unsaid),
        )
    if column.found and (
        not isinstance(column, NumberColumn)
        or set(CELL_FACTS).intersection(column.from_data)
    ):
        raise cell_search_error(column.name, column.found.to_json())
