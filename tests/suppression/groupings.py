"""Columns that are cut into two groups, for tests of several tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.suppression import ShownColumn


def group_values(
    column: str, values: Sequence[str], is_inside: Callable[[str], bool]
) -> ShownColumn:
    """Return a column of two groups: some values, and the rest."""
    groups = tuple("some" if is_inside(value) else "rest" for value in values)
    tree = Hierarchy(
        values=tuple(values), levels=(tuple(values), groups, ("*",) * len(values))
    )
    return ShownColumn(column=column, hierarchy=tree, levels=(1,))
