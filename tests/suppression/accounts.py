"""Accounts of small tables, for tests of exact tables."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import pandas as pd

import dpcore as dp
from dpcore.curator import Curator
from dpcore.suppression import HidingRule, PublishedTable, ShownColumn, TablePlan

Cells = Mapping[tuple[str, ...], int]


def rows_of(cells: Cells, *columns: str) -> pd.DataFrame:
    """Return so many rows of each combination of values."""
    rows = [values for values, people in cells.items() for _ in range(people)]
    return pd.DataFrame(rows, columns=list(columns), dtype=object)


def open_account(
    frame: pd.DataFrame, categories: Mapping[str, Sequence[str]] | None = None
) -> Curator:
    """Open a table of texts whose categories are declared, in memory."""
    declared = dict(categories or {})
    columns = tuple(
        dp.Categorical(
            name,
            categories=tuple(declared.get(name, sorted(frame[name].dropna().unique()))),
            missing=bool(frame[name].isna().any()),
        )
        for name in frame.columns
    )
    return Curator.open(
        frame,
        dp.Schema(columns=columns, unit=dp.PrivacyUnit(max_rows=1)),
        budget=dp.PureDP(epsilon=3),
        ledger=dp.MemoryLedger(),
    )


def plan_by(rule: HidingRule, *columns: str | ShownColumn) -> TablePlan:
    """Return the plan of a table of columns, each value by itself."""
    shown = tuple(
        ShownColumn(column=one) if isinstance(one, str) else one for one in columns
    )
    return TablePlan(columns=shown, rule=rule)


def publish(
    curator: Curator, plan: TablePlan, others: Sequence[PublishedTable] = ()
) -> PublishedTable:
    """Make a table and publish it."""
    return curator.publish_table(
        curator.exact_table(plan, others=others), others=others
    )


def name_account(table: PublishedTable, account: str = "last year") -> PublishedTable:
    """Return a table as another account sees it."""
    return dataclasses.replace(table, account=account)


def count_of(table: PublishedTable, *labels: str) -> int | None:
    """Return the published count of a cell, None if it is hidden."""
    return table.counts[table.layout.find_cell(labels)]
