"""A generalization hierarchy: ever coarser labels for each value, up to `*`.

Level 0 holds the values themselves (the leaves), the last level one single label. Each
level is a function of the level below it, so that a coarser level never separates
values that a finer one has joined. The file format is that of ARX: one line per leaf,
`value;level 1;...;*`, no header.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpcore.errors import HierarchyError
from dpcore.schema.formulas import disarm_reversibly, rearm
from dpcore.schema.values import (
    MISSING,
    SUPPRESSED,
    CanonicalColumn,
    canonicalize,
    list_texts,
    readable_text,
)


@dataclass(frozen=True, kw_only=True)
class Hierarchy:
    """The leaves of one column and their labels at every level.

    Raises: HierarchyError when leaves repeat, levels differ in length, a level does not
        nest in the next one, or the last level holds more than one label.
    """

    values: tuple[str, ...]
    """The leaves; their number is the size of the domain in information loss."""
    levels: tuple[tuple[str, ...], ...]
    """levels[j][i] is the label of leaf i at level j; levels[0] are the leaves."""
    reason: str = field(default="", compare=False)
    """Why it was suggested, in one sentence; empty if the levels tell."""

    def __post_init__(self) -> None:
        check_nested(self.values, self.levels)

    @property
    def height(self) -> int:
        """The highest level; the original value has level 0 (ARX counts one more)."""
        return len(self.levels) - 1

    def labels(self, level: int) -> tuple[str, ...]:
        """Return the distinct labels of a level, in order of their first leaf."""
        return tuple(dict.fromkeys(self.levels[level]))

    def codes(self, level: int) -> NDArray[np.int64]:
        """Return each leaf's index in `labels(level)`, int64, read-only."""
        return self._codes[level]

    @cached_property
    def _codes(self) -> tuple[NDArray[np.int64], ...]:
        levels = [
            pd.factorize(np.array(level, dtype=object))[0].astype(np.int64)
            for level in self.levels
        ]
        for codes in levels:
            codes.flags.writeable = False
        return tuple(levels)

    def leaf_counts(self, level: int) -> NDArray[np.int64]:
        """Return how many leaves share each leaf's label at a level, int64.

        `*` stands for all of them.
        """
        codes = self.codes(level)
        starred = np.array([label == SUPPRESSED for label in self.levels[level]])
        return np.where(starred, len(self.values), np.bincount(codes)[codes])

    def extend(self, values: Iterable[str]) -> Hierarchy:
        """Add leaves, each with its own label on every level below the last."""
        known = set(self.values)
        new = tuple(dict.fromkeys(value for value in values if value not in known))
        if not new:
            return self
        top = self.levels[-1][0]
        inner = tuple(level + new for level in self.levels[:-1] or (self.values,))
        return Hierarchy(
            values=self.values + new,
            levels=(*inner, (top,) * (len(self.values) + len(new))),
            reason=self.reason,
        )

    def cover_special_cells(self, series: pd.Series) -> Hierarchy:
        """Add leaves for the missing and suppressed (`*`) cells of a column."""
        return self._cover_special_values(*_read_cells(series))

    def _cover_special_values(
        self, column: CanonicalColumn, values: list[str]
    ) -> Hierarchy:
        lacks = {MISSING} if (column.codes < 0).any() else set()
        # A categorical column may list such a category without a cell that has it
        for text in {MISSING, SUPPRESSED}.intersection(values):
            places = [place for place, value in enumerate(values) if value == text]
            lacks |= {text} if np.isin(column.codes, places).any() else set()
        return self.extend(value for value in (MISSING, SUPPRESSED) if value in lacks)

    def thin_out(self) -> Hierarchy:
        """Drop every second inner level."""
        return replace(
            self, levels=(self.levels[0], *self.levels[2:-1:2], self.levels[-1])
        )

    def encode(self, series: pd.Series) -> NDArray[np.int64]:
        """Return each row's leaf as an index into `values`, -1 if it has none,
        int64.
        """
        return self._encode(*_read_cells(series))

    def _encode(self, column: CanonicalColumn, values: list[str]) -> NDArray[np.int64]:
        leaves = [self._leaf_of_value.get(value, -1) for value in values]
        return column.spread_to_rows(
            np.array(leaves, dtype=np.int64), self._leaf_of_value.get(MISSING, -1)
        )

    @cached_property
    def _leaf_of_value(self) -> dict[str, int]:
        return {value: leaf for leaf, value in enumerate(list_texts(self.values))}

    def find_leaves(self, series: pd.Series) -> NDArray[np.int64]:
        """Return the leaf of every row, shape (rows,).

        Raises: HierarchyError for a value without a path.
        """
        return _check_paths(self.encode(series), series)

    @property
    def suppressed_leaf(self) -> int:
        """The leaf of cells that were suppressed before (`*`); -1 if there is none."""
        return self._leaf_of_value.get(SUPPRESSED, -1)

    def read_column(self, series: pd.Series) -> tuple[Hierarchy, NDArray[np.int64]]:
        """Add leaves for a column's special cells; return each row's leaf too.

        It does the work of `cover_special_cells` and `find_leaves` in one pass.

        Raises: HierarchyError for a value without a path.
        """
        cells = _read_cells(series)
        covering = self._cover_special_values(*cells)
        return covering, _check_paths(covering._encode(*cells), series)

    @classmethod
    def from_csv(cls, text: str, separator: str | None = None) -> Hierarchy:
        """Read `value;level 1;...;*`, one line per leaf, no header.

        A byte order mark, repeated lines, blanks around labels, and a separator at the
        end of every line are skipped.

        Raises: HierarchyError when lines differ in length, the first one is a header,
            or the paths are no hierarchy.
        """
        content = text.removeprefix("\ufeff")
        if separator is not None:
            return _read_csv(cls, content, separator)
        # a wrong separator gives no hierarchy of several levels
        for delimiter in ";,\t|":
            with suppress(HierarchyError):
                read = _read_csv(cls, content, delimiter)
                if read.height:
                    return read
        return _read_csv(cls, content, _guess_separator(content))

    def to_csv(self) -> str:
        """Write the format of `from_csv`, with semicolons and neutralized formulas."""
        out = io.StringIO()
        lines = (
            [disarm_reversibly(label) for label in line]
            for line in zip(*self.levels, strict=True)
        )
        csv.writer(out, delimiter=";", lineterminator="\n").writerows(lines)
        return out.getvalue()


def _read_cells(series: pd.Series) -> tuple[CanonicalColumn, list[str]]:
    """Return a column as codes of distinct values, and the texts of these."""
    column = canonicalize(series)
    return column, list(map(readable_text, column.values))


def _check_paths(leaves: NDArray[np.int64], series: pd.Series) -> NDArray[np.int64]:
    if len(leaves) and leaves.min() < 0:
        raise HierarchyError(
            "the hierarchy of {column} lacks some values of the column",
            remedy="use the suggested one, or give every value of the column a line",
            column=str(series.name),
        )
    return leaves


def check_nested(values: Sequence[str], levels: Sequence[Sequence[str]]) -> None:
    """Raise HierarchyError unless the levels are a hierarchy over the values."""
    if (
        not values
        or not levels
        or tuple(levels[0]) != tuple(values)
        or len(set(values)) != len(values)
        or any(len(level) != len(values) for level in levels)
        or len(set(levels[-1])) != 1
    ):
        raise _wrong_lines_error()
    for number, (finer, coarser) in enumerate(pairwise(levels), start=1):
        if len(set(zip(finer, coarser, strict=True))) != len(set(finer)):
            raise HierarchyError(
                (
                    "level {level} does not nest: it separates values that level "
                    "{number} has joined"
                ),
                remedy="make each level a coarser grouping of the level below it",
                level=number,
                number=number - 1,
            )


def _wrong_lines_error() -> HierarchyError:
    return HierarchyError(
        (
            "each value needs exactly one line, and all lines need the same number "
            "of levels and the same last entry, such as *"
        ),
        remedy="write one line per value: value;level 1;...;*",
    )


def _read_csv(kind: type[Hierarchy], content: str, delimiter: str) -> Hierarchy:
    rows = [
        tuple(row)
        for row in csv.reader(io.StringIO(content), delimiter=delimiter)
        if row
    ]
    if not rows or any(len(row) != len(rows[0]) for row in rows):
        raise _wrong_lines_error()
    if len(rows[0]) > 1 and not any(row[-1].strip() for row in rows):
        rows = [row[:-1] for row in rows]  # a separator at the end of every line
    if all(row[0].endswith(" ") for row in rows):
        rows = [(row[0].rstrip(), *row[1:]) for row in rows]
    rows = [(row[0], *(label.strip() for label in row[1:])) for row in rows]
    rows = list(dict.fromkeys(tuple(map(rearm, row)) for row in rows))
    try:
        return _build_from_lines(kind, rows)
    except HierarchyError:
        if _is_header(rows):
            raise HierarchyError(
                "the first line of the hierarchy is a header",
                remedy="delete it: each line describes one value",
            ) from None
        raise


def _build_from_lines(
    kind: type[Hierarchy], lines: Sequence[tuple[str, ...]]
) -> Hierarchy:
    return kind(
        values=tuple(line[0] for line in lines), levels=tuple(zip(*lines, strict=True))
    )


def _is_header(lines: Sequence[tuple[str, ...]]) -> bool:
    """Return whether all lines but the first are a hierarchy that ends in `*`."""
    if len(lines) < 2 or lines[0][-1] == SUPPRESSED or lines[1][-1] != SUPPRESSED:
        return False
    with suppress(HierarchyError):
        return bool(_build_from_lines(Hierarchy, lines[1:]))
    return False


def _guess_separator(text: str) -> str:
    """Return the separator with most occurrences in the first line."""
    return max(";,\t|", key=text.lstrip("\r\n").partition("\n")[0].count)
