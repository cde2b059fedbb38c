"""A second opinion by whole numbers: how many people can be where, given all tables.

It shares nothing with the library but the published counts and their groups. Everybody
is counted in combinations of the values of all columns; what attackers know takes
combinations away.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from scipy.optimize import LinearConstraint, milp

from dpcore.suppression import PublishedTable

UNLISTED = "?"  # a value that no table lists
Region = Mapping[str, frozenset[str]]
Decided = Mapping[str, tuple[str, Mapping[str, str]]]


def regions_of(table: PublishedTable) -> list[Region]:
    """Return the values that each cell selects, in the order of the counts."""
    return [
        {
            axis.column: group.values
            for axis, group in zip(table.layout.axes, cell, strict=True)
            if group.parent is not None
        }
        for cell in itertools.product(*(axis.groups for axis in table.layout.axes))
    ]


def follows(how: Mapping[str, str], value: str, other: str, listed: set[str]) -> bool:
    """Return whether a value may go with another one that it decides."""
    if value not in how:
        return True
    return other == (how[value] if how[value] in listed else UNLISTED)


Errors = Mapping[tuple[str, str, str, str], int]
"""People at most with a pair of values that breaks the rule: column, value, and both of
the column that decides it."""
Rest = tuple[Sequence[Region], int]
"""Regions without a person in common, and the people in all of them."""


class Fits:
    """All ways to place people so that tables have their shown counts.

    Args:
        tables: with the counts that are taken to hold, or are less than the base of
            a rounded table away.
        decided: what attackers know: a column, with the one that decides it and how.
        occupied: regions that hold somebody.
        empty: values by column that nobody has.
        unlisted: columns in which people may have values that no table lists.
        more: values by column beside those of the tables.
        errors: pairs of values that occur against what attackers know.
        rests: sums of regions whose people are known.
    """

    def __init__(
        self,
        tables: Sequence[PublishedTable],
        decided: Iterable[tuple[str, str, Mapping[str, str]]] = (),
        occupied: Iterable[Region] = (),
        empty: Mapping[str, frozenset[str]] | None = None,
        unlisted: Iterable[str] = (),
        more: Mapping[str, frozenset[str]] | None = None,
        errors: Errors | None = None,
        rests: Iterable[Rest] = (),
    ) -> None:
        values: dict[str, set[str]] = {}
        for table in tables:
            for axis in table.layout.axes:
                values.setdefault(axis.column, set()).update(axis.groups[0].values)
        for name, own in (more or {}).items():
            values.setdefault(name, set()).update(own)
        for name, gone in (empty or {}).items():
            values[name] = values.get(name, set()) - gone
        for name in unlisted:
            values.setdefault(name, set()).add(UNLISTED)
        decided = [one for one in decided if {one[0], one[1]} <= values.keys()]
        self.names = sorted(values)
        self.atoms = [
            dict(zip(self.names, atom, strict=True))
            for atom in itertools.product(*(sorted(values[n]) for n in self.names))
        ]
        self.atoms = [
            atom
            for atom in self.atoms
            if all(
                follows(how, atom[by], atom[column], values[column])
                or (column, atom[column], by, atom[by]) in (errors or {})
                for column, by, how in decided
            )
        ]
        lines = []
        low = []
        high = []
        for table in tables:
            for region, count in zip(regions_of(table), table.counts, strict=True):
                if count is not None:
                    off = max(0, table.rounding_base - 1)
                    lines.append(self.weigh(region))
                    low.append(count - off)
                    high.append(count + off)
        for (column, value, by, deciding), people in (errors or {}).items():
            if {column, by} <= values.keys():
                region = {column: frozenset({value}), by: frozenset({deciding})}
                lines.append(self.weigh(region))
                low.append(0)
                high.append(people)
        for regions, people in rests:
            lines.append(np.sum([self.weigh(region) for region in regions], axis=0))
            low.append(people)
            high.append(people)
        for region in occupied:
            lines.append(self.weigh(region))
            low.append(1)
            high.append(np.inf)
        self.is_error = np.array(
            [
                any(
                    atom.get(column) == value and atom.get(by) == deciding
                    for column, value, by, deciding in errors or {}
                )
                for atom in self.atoms
            ],
            dtype=bool,
        )
        matrix = np.array(lines).reshape(len(lines), len(self.atoms))
        self.limits = LinearConstraint(matrix, low, high)

    def weigh(self, region: Region) -> np.ndarray:
        """Return (atoms,) which combinations a region holds."""
        return np.array(
            [
                all(atom[name] in group for name, group in region.items())
                for atom in self.atoms
            ],
            dtype=float,
        )

    def find_end(self, weights: np.ndarray, sign: int) -> float:
        """Return the most (1) or fewest (-1) people of a sum; infinity for no end."""
        found = milp(
            -sign * weights,
            constraints=self.limits,
            integrality=np.ones(len(self.atoms)),
            options={"mip_rel_gap": 0.0},
        )
        if found.status in (3, 4):
            return sign * np.inf
        assert found.status == 0, found.message
        return float(round(-sign * found.fun))


def find_extreme(
    tables: Sequence[PublishedTable],
    target: Region,
    sign: int,
    decided: Decided | None = None,
    also: Decided | None = None,
) -> float:
    """Return the most (1) or fewest (-1) people of a region over all tables."""
    known = [
        (column, by, how)
        for one in (decided or {}, also or {})
        for column, (by, how) in one.items()
    ]
    fits = Fits(tables, known)
    return fits.find_end(fits.weigh(target), sign)


def find_ends(
    tables: Sequence[PublishedTable],
    atoms: Sequence[Mapping[str, str]],
    target: Mapping[str, str],
) -> tuple[float, float]:
    """Return the fewest and most people with the values of a target.

    Args:
        atoms: combinations of values that people can have, as readers know.
    """
    lines = []
    counts = []
    for table in tables:
        for region, count in zip(regions_of(table), table.counts, strict=True):
            if count is not None:
                lines.append(
                    [
                        all(atom[name] in group for name, group in region.items())
                        for atom in atoms
                    ]
                )
                counts.append(count)
    weights = np.array([float(target.items() <= atom.items()) for atom in atoms])
    limits = LinearConstraint(np.array(lines, dtype=float), counts, counts)
    ends = []
    for sign in (1, -1):
        found = milp(
            sign * weights, constraints=limits, integrality=np.ones(len(atoms))
        )
        assert found.status in (0, 3, 4), found.message
        ends.append(sign * (round(found.fun) if found.status == 0 else -np.inf))
    return ends[0], ends[1]
