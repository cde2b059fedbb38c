"""Distributions over many columns, as products of small tables on a junction tree."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from dpcore.errors import InfeasibleError
from dpcore.schema.domain import Clique, Domain
from dpcore.synthesis._sampling import (
    Integers,
    evenly_mixed_orders,
    flat_cell_indices,
    sample_cells,
)
from dpcore.synthesis.graph._evidence import Evidence, split_rows
from dpcore.synthesis.graph.junction_tree import JunctionTree
from dpcore.synthesis.graph.propagation import TreeState, product_potentials
from dpcore.tables.counts import Values, align_axes, pack_array, project, unpack_array

MAX_SHARE_CELLS = 2_000_000
"""Cells of shares under nodes that a model keeps for further tables: 16 MB."""


@dataclass(frozen=True, kw_only=True, eq=False)
class GraphicalModel:
    """Expected counts of all combinations of values, as a product of factors.

    Columns in no common node depend on each other only through the separators between
    their nodes.

    Attributes:
        tree: its nodes cover every factor.
        factors: (clique, table), at least 0, axes in the clique's order.
        total: expected number of rows.
    """

    tree: JunctionTree
    factors: tuple[tuple[Clique, Values], ...]
    total: float

    @property
    def domain(self) -> Domain:
        """Names and sizes of the columns."""
        return self.tree.domain

    @property
    def tables(self) -> tuple[Values, ...]:
        """Expected counts in rows, one array per node; nodes agree on separators."""
        return self._calibration[1]

    def marginal(self, clique: Clique) -> Values:
        """Return the expected counts over any columns, in rows.

        The axes are in the order given. A clique inside a node is summed down from it;
        another one is multiplied together along the tree, summing every other column
        away as soon as possible.
        """
        clique = self.domain.clique(clique)
        i = self.tree.find_node(clique)
        if i is not None:
            return project(self.tables[i], self.tree.nodes[i], clique)
        top = max(
            i
            for i, below in enumerate(self._subtree_columns)
            if below.issuperset(clique)
        )
        columns, table = self._collect_marginal(top, frozenset(clique))
        return project(table, columns, clique)

    def sample_codes(
        self,
        rows: int,
        rng: np.random.Generator,
        known: Mapping[str, Integers] | None = None,
    ) -> dict[str, Integers]:
        """Draw rows as cell numbers, node by node down the tree.

        All rows that agree on a node's separator draw its new columns together, in a
        fresh random order: each cell gets its expected number of rows rounded up or
        down, and columns that are independent given the separator stay so. The orders
        of any two nodes are evenly mixed: pairs of columns with hardly any relation
        come out with less than a sample's noise.

        Args:
            known: cells of some columns, one a row; the other columns are then drawn
                from the exact conditional distribution. What the model rules out counts
                as unknown in the node that rules it out.

        Returns: column -> int32, the cell of each row; known columns included.
        """
        known = known or {}
        if known and len(parts := split_rows(self.tree, known)) > 1:
            drawn_parts = [
                self.sample_codes(
                    len(range(rows)[part]),
                    rng,
                    {name: known[name][part] for name in known},
                )
                for part in parts
            ]
            return {
                name: np.concatenate([drawn[name] for drawn in drawn_parts])
                for name in drawn_parts[0]
            }
        evidence = Evidence(self.tree, self.tables, known) if known else None
        codes = {name: np.asarray(column) for name, column in known.items()}
        nodes = zip(self.tree.nodes, self.tree.separators, self.tables, strict=True)
        for i, ((node, part, table), order) in enumerate(
            zip(nodes, evenly_mixed_orders(rows, rng), strict=False)
        ):
            given = part + tuple(
                name for name in node if name in known and name not in part
            )
            new = tuple(name for name in node if name not in given)
            if not new:
                continue
            lines = flat_cell_indices(
                [codes[name] for name in given], self.domain.shape(given), rows
            )
            turned = project(table, node, given + new).reshape(
                self.domain.cells(given), -1
            )
            if evidence is None:
                present, lines = np.unique(lines, return_inverse=True)
                drawn = sample_cells(lines, turned[present], rng, order=order)
            else:
                drawn = evidence.sample_node(i, new, lines, turned, codes, rng, order)
            cells = np.unravel_index(drawn, self.domain.shape(new))
            codes |= {
                name: cells_of_column.astype(np.int32)
                for name, cells_of_column in zip(new, cells, strict=True)
            }
        return codes

    def restrict(self, weights: Mapping[str, Values]) -> GraphicalModel:
        """Return the model of the rows that have the chosen values.

        Args:
            weights: column -> the share of each cell's rows to keep, from 0 to 1.

        Raises: InfeasibleError if the model holds no such rows.
        """
        added = tuple(((name,), weight) for name, weight in weights.items())
        model = replace(self, factors=self.factors + added)
        share = math.exp(min(0.0, model._calibration[0] - self._calibration[0]))
        return replace(model, total=self.total * share)

    def to_dict(self) -> dict[str, Any]:
        """Return the tree and the factors as plain data, without the large tables."""
        return {
            **self.domain.to_dict(),
            "nodes": [list(node) for node in self.tree.nodes],
            "factors": [
                [list(clique), pack_array(table)] for clique, table in self.factors
            ],
            "total": self.total,
        }

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> GraphicalModel:
        """Read the output of `to_dict`."""
        domain = Domain.from_dict(fields)
        return cls(
            tree=JunctionTree.build(domain, [tuple(node) for node in fields["nodes"]]),
            factors=tuple(
                (tuple(clique), unpack_array(table))
                for clique, table in fields["factors"]
            ),
            total=fields["total"],
        )

    @cached_property
    def _calibration(self) -> tuple[float, tuple[Values, ...]]:
        """The log of the total mass of the factors' product, and the nodes' tables.

        The tables are scaled to the total.

        Raises: InfeasibleError if the factors leave no possible row.
        """
        state = TreeState(self.tree, product_potentials(self.tree, self.factors))
        if state.log_mass == -math.inf:
            raise InfeasibleError(
                "the model has no such rows, or hardly any",
                remedy="ask for other values",
            )
        for table in state.tables:
            table *= self.total / table.sum()
        return state.log_mass, tuple(state.tables)

    @cached_property
    def _subtree_columns(self) -> list[frozenset[str]]:
        """The columns of each node and of all nodes under it."""
        below = [frozenset(node) for node in self.tree.nodes]
        for i in range(len(below) - 1, 0, -1):
            below[self.tree.parents[i]] |= below[i]
        return below

    @cached_property
    def _shares(self) -> dict[tuple[int, frozenset[str]], tuple[Clique, Values]]:
        """Shares of columns under a node given its separator, which many pairs need."""
        return {}

    def _collect_shares(
        self, child: int, wanted: frozenset[str]
    ) -> tuple[Clique, Values]:
        """Return the shares of the wanted columns under a node, given its separator."""
        key = (child, wanted & self._subtree_columns[child])
        known = self._shares.get(key)
        if known is not None:
            return known
        shares = self._collect_marginal(child, wanted, self.tree.separators[child])
        kept = sum(table.size for _columns, table in self._shares.values())
        if kept + shares[1].size <= MAX_SHARE_CELLS:
            self._shares[key] = shares
        return shares

    def _collect_marginal(
        self, i: int, wanted: frozenset[str], part: Clique | None = None
    ) -> tuple[Clique, Values]:
        """Return the table of the wanted columns at or under node i.

        With `part`, return their shares given these columns.
        """
        # 1. Collect the shares of those children that have wanted columns.
        node = self.tree.nodes[i]
        messages = [
            self._collect_shares(child, wanted)
            for child, parent in enumerate(self.tree.parents)
            if parent == i
            and wanted & self._subtree_columns[child] - set(self.tree.separators[child])
        ]
        names = set(part or ()) | wanted.intersection(node)
        names |= {name for columns, _ in messages for name in columns}
        needed = tuple(name for name in node if name in names)
        operands = [(needed, project(self.tables[i], node, needed)), *messages]
        # 2. Multiply the tables and sum over all other columns; einsum needs numbered
        # axes.
        columns = (
            *(part or ()),
            *sorted((wanted & self._subtree_columns[i]) - set(part or ())),
        )
        axis = {
            name: at
            for at, name in enumerate(
                {
                    name: None
                    for names_of_table, _ in operands
                    for name in names_of_table
                }
            )
        }
        arguments: list[Any] = []
        for names_of_table, table in operands:
            arguments += [table, [axis[name] for name in names_of_table]]
        joined = np.einsum(
            *arguments, [axis[name] for name in columns], optimize=len(operands) > 2
        )
        if part is not None:
            given = np.asarray(project(self.tables[i], node, part))
            below = align_axes(np.where(given > 0, given, 1.0), part, columns)
            joined /= below  # if a cell of given is 0, so is joined there
        return columns, joined
