"""Public facts that hold for every drawn row, such as impossible combinations."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpcore.errors import InfeasibleError, LimitError, ParameterError, UsageError
from dpcore.schema import Clique, Domain, IntervalColumn
from dpcore.synthesis._sampling import Integers
from dpcore.synthesis.graph.junction_tree import JunctionTree
from dpcore.synthesis.graph.propagation import TreeState, product_potentials
from dpcore.tables.counts import Values, cell_mask

MAX_CONSTRAINT_CELLS = 2_000_000  # of a junction tree of all impossible combinations


@dataclass(frozen=True, kw_only=True)
class ImpossibleCombination:
    """An impossible combination of cells, such as married and under 15.

    Attributes:
        columns: the columns that meet.
        cells: for each of them, the cell numbers.
    """

    columns: tuple[str, ...]
    cells: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.columns))
        object.__setattr__(
            self, "cells", tuple(tuple(map(int, cells)) for cells in self.cells)
        )
        if (
            not self.columns
            or len(self.cells) != len(self.columns)
            or not all(self.cells)
        ):
            raise UsageError(
                (
                    "an impossible combination names columns and, for each, at least "
                    "one "
                    "cell"
                ),
                remedy="give one list of cells per column",
            )

    def to_dict(self) -> dict[str, Any]:
        return {
            "columns": list(self.columns),
            "cells": [list(cells) for cells in self.cells],
        }


def never_above_rules(
    column: IntervalColumn, other: IntervalColumn
) -> tuple[ImpossibleCombination, ...]:
    """Return rules that keep one column from exceeding another.

    For example, a start is never above its end. Cells are impossible together if all
    values of the one are above all of the other: in cells that overlap, values may
    still come out in the wrong order. Both columns hold numbers, or both days.
    """
    if column.holds_days != other.holds_days:
        raise UsageError(
            "numbers and days have no order in common",
            remedy="name columns of one kind",
        )
    # For each cell of `other`, find the first cell of `column` that lies wholly above
    # it.
    firsts = np.searchsorted(column.edges[:-1], other.last_values, side="right")
    starts, places = np.unique(firsts, return_index=True)
    # The impossible cells form a staircase with corners (a[i], b[i]).
    a = [*starts[starts < column.values_size], column.values_size]
    b = [*places, other.values_size]
    rules = []
    for i in range(1, len(a)):
        # Cover the staircase by rectangles of 1, 2, 4, ... steps: for n cells, n log n
        # numbers suffice.
        side = i & -i
        cells = range(a[i - 1], a[i - 1 : i + side][-1]), range(b[i - side], b[i])
        rules.append(
            ImpossibleCombination(
                columns=(column.name, other.name), cells=tuple(map(tuple, cells))
            )
        )
    return tuple(rules)


@dataclass(frozen=True, kw_only=True)
class FunctionalDependency:
    """A column that determines another column, as education does education-num.

    The decided column is never measured; it is worked out in every drawn row.

    Attributes:
        cells: the cell of `target` for each cell of `column`.
    """

    column: str
    target: str
    cells: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "cells", tuple(map(int, self.cells)))
        if self.column == self.target:
            raise UsageError(
                f"column {self.column!r} cannot determine itself",
                remedy="name two columns",
            )

    def to_dict(self) -> dict[str, Any]:
        return {"column": self.column, "target": self.target, "cells": list(self.cells)}


@dataclass(frozen=True, kw_only=True)
class Constraints:
    """All facts about the rows of one table that are known from outside.

    Attributes:
        from_data: columns with a fact that somebody added after figures of the table
            were seen; every guarantee names them.
    """

    impossible: tuple[ImpossibleCombination, ...] = ()
    determines: tuple[FunctionalDependency, ...] = ()
    from_data: tuple[str, ...] = ()

    def check(self, domain: Domain) -> None:
        """Refuse constraints that do not fit the domain or allow no row.

        Raises: ParameterError, InfeasibleError when nothing is possible, LimitError for
            too many cells.
        """
        for rule in self.impossible:
            domain.clique(rule.columns)
            for name, cells in zip(rule.columns, rule.cells, strict=True):
                cell_mask(domain, name, cells)
        decided: set[str] = set()
        for function in self.determines:
            if len(function.cells) != domain.size(function.column):
                raise UsageError(
                    f"{function.column!r} has {domain.size(function.column)} cells, "
                    "and "
                    f"{len(function.cells)} are given to decide {function.target!r}",
                    remedy="give one cell of the target for each",
                )
            cell_mask(domain, function.target, function.cells)
            if function.target in decided or any(
                function.target
                in (
                    other.column,
                    *(n for rule in self.impossible for n in rule.columns),
                )
                for other in self.determines
            ):
                raise ParameterError(
                    (
                        "column {column!r} is decided by another column and also "
                        "appears in a second constraint"
                    ),
                    remedy="state the constraint for the column that decides it",
                    column=function.target,
                )
            decided.add(function.target)
        if not self.impossible:
            return
        cliques = [rule.columns for rule in self.impossible]
        tree = JunctionTree.build(
            domain.project(tuple(dict.fromkeys(n for c in cliques for n in c))), cliques
        )
        if tree.cells > MAX_CONSTRAINT_CELLS:
            raise LimitError(
                "together these columns have {cells} cells, more than {limit}",
                remedy="drop a combination, or use a wider step",
                cells=tree.cells,
                limit=MAX_CONSTRAINT_CELLS,
            )
        whole = {name: np.arange(domain.size(name)) for name in domain.names}
        if (
            TreeState(
                tree, product_potentials(tree, self.factors(domain, whole))
            ).log_mass
            == -math.inf
        ):
            raise InfeasibleError(
                "the impossible combinations leave no possible row",
                remedy="drop a combination, or use a wider step",
            )

    def add_copies(self, copies: Iterable[FunctionalDependency]) -> Constraints:
        """Return the constraints with more columns that repeat another one."""
        return replace(self, determines=(*self.determines, *copies))

    def columns_to_measure(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the columns that no other column determines."""
        decided = {function.target for function in self.determines}
        return tuple(name for name in names if name not in decided)

    def cell_kinds(self, domain: Domain, name: str) -> Integers:
        """Return a number per cell; equal if no constraint distinguishes the cells."""
        marks = [np.zeros(domain.size(name), dtype=np.int64)]
        for rule in self.impossible:
            for column, cells in zip(rule.columns, rule.cells, strict=True):
                if column == name:
                    marks.append(cell_mask(domain, name, cells).astype(np.int64))
        marks += [
            np.array(function.cells)
            for function in self.determines
            if function.column == name
        ]
        return (
            np.unique(np.stack(marks), axis=1, return_inverse=True)[1]
            .astype(np.int64)
            .ravel()
        )

    def factors(
        self, domain: Domain, groups: Mapping[str, Integers]
    ) -> list[tuple[Clique, Values]]:
        """Return one table per set of columns: 0 in impossible cells, else 1.

        Args:
            groups: column -> the group of each cell; a group is impossible if one of
                its cells is, so cells of a group must be of one kind.
        """
        tables: dict[Clique, Values] = {}
        for rule in self.impossible:
            if rule.columns not in tables:
                tables[rule.columns] = np.ones(
                    [int(groups[name].max()) + 1 for name in rule.columns]
                )
            hit = (
                groups[name][list(cells)]
                for name, cells in zip(rule.columns, rule.cells, strict=True)
            )
            tables[rule.columns][np.ix_(*map(np.unique, hit))] = 0.0
        return list(tables.items())

    def to_dict(self) -> dict[str, Any]:
        """Return the constraints as plain data."""
        fields: dict[str, Any] = {
            "impossible": [rule.to_dict() for rule in self.impossible],
            "determines": [function.to_dict() for function in self.determines],
        }
        return fields | ({"from_data": list(self.from_data)} if self.from_data else {})

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Constraints:
        """Read the output of `to_dict`."""
        return cls(
            impossible=tuple(
                ImpossibleCombination(**rule) for rule in fields["impossible"]
            ),
            determines=tuple(
                FunctionalDependency(**function) for function in fields["determines"]
            ),
            from_data=tuple(fields.get("from_data", ())),
        )
