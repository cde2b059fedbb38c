"""A second opinion on hidden counts: every table that fits what is shown, one by one.

It shares nothing with the library but the published counts and the groups: a table is
built person count by person count, from the finest cells, and kept if all shown counts
come out.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from dpcore.suppression.published import PublishedTable

MOST_IF_NO_TOTAL = 5  # people of a cell, beyond the largest shown count


def completions(
    tables: Sequence[PublishedTable],
    known: frozenset[tuple[int, int]] = frozenset(),
) -> Iterator[list[list[int]]]:
    """Yield the full counts of all tables, for each way to fill the smallest cells.

    Args:
        tables: over the same people; their columns are cut by all their values.
        known: (table, cell) that hold at least one person.
    """
    values = _values(tables)
    names = sorted(values)
    atoms = list(itertools.product(*(values[name] for name in names)))
    members = []
    for table in tables:
        axes = table.layout.axes
        for cell in itertools.product(*(axis.groups for axis in axes)):
            groups = dict(zip(table.layout.columns, cell, strict=True))
            members.append(
                [
                    at
                    for at, atom in enumerate(atoms)
                    if all(
                        atom[names.index(name)] in group.values
                        for name, group in groups.items()
                    )
                ]
            )
    shown = [count for table in tables for count in table.counts]
    least = [
        int((number, cell) in known)
        for number, table in enumerate(tables)
        for cell in range(len(table.counts))
    ]
    of_atom: list[list[int]] = [[] for _ in atoms]
    for cell, inside in enumerate(members):
        for atom in inside:
            of_atom[atom].append(cell)
    last = [max(inside) for inside in members]
    most = max(count for count in shown if count is not None)
    if all(table.counts[0] is None for table in tables):
        most += MOST_IF_NO_TOTAL  # nothing limits the hidden counts
    sums = [0] * len(members)

    def fill(atom: int) -> Iterator[list[int]]:
        if atom == len(atoms):
            yield list(sums)
            return
        cells = of_atom[atom]
        room = min(
            (shown[cell] - sums[cell] for cell in cells if shown[cell] is not None),
            default=most,
        )
        ends = {
            shown[cell] - sums[cell]
            for cell in cells
            if shown[cell] is not None and last[cell] == atom
        }
        if len(ends) > 1 or (ends and not 0 <= min(ends) <= room):
            return
        for people in ends or range(room + 1):
            for cell in cells:
                sums[cell] += people
            if all(sums[cell] >= least[cell] for cell in cells if last[cell] == atom):
                yield from fill(atom + 1)
            for cell in cells:
                sums[cell] -= people

    sizes = [len(table.counts) for table in tables]
    for found in fill(0):
        parts = iter(found)
        yield [list(itertools.islice(parts, size)) for size in sizes]


def _values(tables: Sequence[PublishedTable]) -> dict[str, list[frozenset[str] | str]]:
    """Return one value for each set of values that no group of a table tells apart."""
    found: dict[str, dict[frozenset[frozenset[str]], str]] = {}
    for table in tables:
        for axis in table.layout.axes:
            found.setdefault(axis.column, {})
    for name, kinds in found.items():
        groups = [
            group.values
            for table in tables
            for axis in table.layout.axes
            if axis.column == name
            for group in axis.groups
        ]
        for value in sorted(frozenset[str]().union(*groups)):
            kinds.setdefault(frozenset(g for g in groups if value in g), value)
    return {name: list(kinds.values()) for name, kinds in found.items()}
