"""Choice of a few larger tables whose sums give all requested tables."""

from collections.abc import Sequence

import numpy as np

from dpcore.schema.domain import Clique, Domain


def choose_joint_tables(
    cliques: Sequence[Clique], domain: Domain, max_cells: int
) -> list[Clique]:
    """Choose for each clique a larger clique whose counts contain its counts.

    Putting a row into a cell costs about the same for any table, up to a size. So
    tables
    grow greedily: the widest remaining clique takes in the column that lets most others
    fit inside, relative to its size, as long as the table has at most `max_cells` cells.
    """
    names = tuple(dict.fromkeys(name for clique in cliques for name in clique))
    sizes = np.array(domain.shape(names), dtype=np.int64)
    inside = np.array(
        [[name in clique for name in names] for clique in cliques], dtype=bool
    )
    columns = np.ascontiguousarray(inside.T)
    # Of a wide table there are tens of thousands of cliques: small numbers are read faster
    widths = inside.sum(axis=1, dtype=np.int16)
    tables: list[Clique] = [()] * len(cliques)
    left = np.ones(len(cliques), dtype=bool)
    # Begin with the widest clique, and add columns while its table stays small
    for first in sorted(
        range(len(cliques)), key=lambda place: -domain.cells(cliques[place])
    ):
        if not left[first]:
            continue
        members = inside[first].copy()
        cells = domain.cells(cliques[first])
        lacks = widths - columns[members].sum(axis=0, dtype=np.int16)
        while (sizes <= max_cells // cells).any():
            gain = inside[left & (lacks == 1)].sum(axis=0)
            fits = (gain > 0) & ~members & (sizes <= max_cells // cells)
            if not fits.any():
                break
            best = int(np.argmax(np.where(fits, gain / np.log1p(sizes), 0)))
            members[best] = True
            cells *= int(sizes[best])
            lacks -= columns[best]
        # A table above the limit costs more to sum than to count again, so only equal
        # cliques share it
        covered = left & (
            lacks == 0 if cells <= max_cells else (inside == members).all(axis=1)
        )
        block = tuple(
            name for name, member in zip(names, members, strict=True) if member
        )
        for place in np.flatnonzero(covered):
            tables[place] = block
        left &= ~covered
    return tables


def group_passes(
    tables: Sequence[Clique], domain: Domain, max_cells: int
) -> list[list[Clique]]:
    """Group tables into passes that each count a limited number of cells.

    A larger table is alone.
    """
    groups: list[list[Clique]] = []
    cells = 0
    for table in tables:
        cells += domain.cells(table)
        if not groups or cells > max_cells:
            groups.append([])
            cells = domain.cells(table)
        groups[-1].append(table)
    return groups
