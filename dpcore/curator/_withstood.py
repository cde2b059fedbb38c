"""Remember what an attack was made on, so that it is not made again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dpcore.curator.tabulating import Tabulated
from dpcore.suppression.attacked import KnownMap
from dpcore.suppression.plan import TablePlan
from dpcore.suppression.published import ExactTable, PublishedTable


@dataclass(frozen=True, kw_only=True, repr=False)
class Withstood:
    """Everything that an attack sees of tables about which it told nothing. Private.

    Two are equal only if the same attack would be made on both: on the same tables, with
    the same earlier ones, maps and people.
    """

    tables: list[PublishedTable]
    counts: list[list[int]]
    earlier: list[tuple[PublishedTable, list[int]]]
    maps: list[KnownMap]

    @classmethod
    def describe(
        cls, tables: Sequence[PublishedTable], tabulated: Tabulated
    ) -> Withstood:
        """Describe an attack on tables that were counted."""
        return cls(
            tables=[*tables],
            counts=[own.tolist() for own in tabulated.counts],
            earlier=[(before, people.tolist()) for before, people in tabulated.earlier],
            maps=[*tabulated.maps],
        )


@dataclass(frozen=True, kw_only=True, repr=False)
class DrawnTables:
    """Rounded tables of this curator: asking for them again draws no other rounding.

    Whoever saw several drafts of the same counts could average them. Private.
    """

    plans: list[TablePlan]
    facts: Withstood
    tables: list[ExactTable]

    def are_of(self, tabulated: Tabulated) -> bool:
        """Return whether the same plans are asked again of the same people."""
        return self.plans == tabulated.plans and self.facts == Withstood.describe(
            [], tabulated
        )
