"""Rare values merged for counting, and split again in drawn rows.

A cell whose noisy count does not stand out from its noise makes every table it is in
larger and noisier, and tells nothing. Such cells are merged before any pair is
measured: the merged cell is counted anew, so it is not biased, and gets one draw of
noise. Drawn rows are spread over the merged values in proportion to the noisy one-way
counts, which are already paid for.

Source: McKenna, Miklau, Sheldon (2021), "Winning the NIST contest", section 4.2, for
the merging.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dpcore.model import Ranks
from dpcore.schema.domain import Clique, Domain
from dpcore.synthesis._sampling import Integers, sample_cells
from dpcore.tables.counts import Values, pack_array, unpack_array
from dpcore.tables.nearest import nearest_distribution

BELOW_ONE = float(np.nextafter(np.float32(1), np.float32(0)))
STAND_OUT_SDS = 2.0  # noise SDs below which a count is rare
COMMON_SHARE = 0.05  # of all rows, from which a value is not rare if cells are few


@dataclass(frozen=True, kw_only=True, eq=False)
class Grouping:
    """A grouping of each column's cells; a group is counted as one cell.

    Attributes:
        domain: of the columns as they were declared.
        groups: column -> int64 array, the group of each cell.
        shares: column -> each cell's share of its group's rows; adds up to 1 in each
            group.
    """

    domain: Domain
    groups: Mapping[str, Integers]
    shares: Mapping[str, Values]

    @property
    def group_domain(self) -> Domain:
        """The domain of the groups."""
        return Domain(
            names=self.domain.names,
            sizes=tuple(int(self.groups[name].max()) + 1 for name in self.domain.names),
        )

    def merge(self, name: str, values: Values) -> Values:
        """Sum a column's counts within each group."""
        return np.bincount(self.groups[name], weights=values).astype(np.float64)

    def split(self, clique: Clique, values: Values) -> Values:
        """Spread the rows of each group over its cells by the shares."""
        for axis, name in enumerate(clique):
            shape = [1] * len(clique)
            shape[axis] = -1
            values = np.take(values, self.groups[name], axis=axis) * self.shares[
                name
            ].reshape(shape)
        return values

    def split_codes(
        self,
        codes: dict[str, Integers],
        rng: np.random.Generator,
        places: Mapping[str, Values] | None = None,
    ) -> tuple[dict[str, Integers], Ranks]:
        """Draw a cell within each row's group, by the cells' shares.

        It frees each column of group numbers after use.

        Args:
            codes: column -> group of each row.
            rng: of the drawing.
            places: column -> place of each row among the cells of its group, from 0 to
                1; at random for other columns.

        Returns: the cells; and of columns with places the place of each row in its
            cell, from 0 to 1.
        """
        places = places or {}
        cells = {
            name: self._split_column(name, codes.pop(name), rng, places.get(name))
            for name in self.domain.names
        }
        ranks = {
            name: self._place_in_cell(name, cells[name], place)
            for name, place in places.items()
        }
        return cells, ranks

    def _place_in_cell(
        self, name: str, cells: Integers, places: Values
    ) -> npt.NDArray[np.float32]:
        """Return the place of each row in its cell, by that in its group."""
        groups = self.groups[name]
        shares = self.shares[name]
        reached = np.zeros(len(groups))
        whole = np.ones(len(groups))
        for group in np.flatnonzero(np.bincount(groups) > 1):
            inside = np.flatnonzero(groups == group)
            parts = shares[inside] / shares[inside].sum()
            reached[inside] = np.cumsum(parts) - parts
            whole[inside] = np.maximum(parts, 1e-12)
        found = (places - reached[cells]) / whole[cells]
        return np.clip(found, 0.0, BELOW_ONE).astype(np.float32)

    def _split_column(
        self,
        name: str,
        codes: Integers,
        rng: np.random.Generator,
        places: Values | None,
    ) -> Integers:
        groups = self.groups[name]
        members = np.bincount(groups)
        first = np.argsort(groups, kind="stable")[np.cumsum(members) - members]
        cells: Integers = first.astype(np.int32)[codes]
        for group in np.flatnonzero(members > 1):
            rows = np.flatnonzero(codes == group)
            inside = np.flatnonzero(groups == group)
            shares = self.shares[name][inside]
            if places is None:
                chosen = sample_cells(
                    np.zeros(len(rows), dtype=np.int64), shares[None, :], rng
                )
            else:
                ends = np.cumsum(shares)[:-1] / shares.sum()
                chosen = np.searchsorted(ends, places[rows], side="right")
            cells[rows] = inside[chosen]
        return cells

    def restrict(self, allowed: Mapping[str, Values]) -> Grouping:
        """Return the grouping for rows whose cells are allowed.

        Args:
            allowed: column -> 1 for allowed cells, 0 for others.
        """
        shares = dict(self.shares)
        for name, mask in allowed.items():
            allowed_shares = shares[name] * mask
            sums = np.bincount(self.groups[name], weights=allowed_shares)[
                self.groups[name]
            ]
            shares[name] = np.divide(
                allowed_shares, sums, out=shares[name].copy(), where=sums > 0
            )
        return Grouping(domain=self.domain, groups=self.groups, shares=shares)

    def to_dict(self) -> dict[str, Any]:
        """Return domain, groups and shares as plain data."""
        return {
            **self.domain.to_dict(),
            "groups": {name: pack_array(group) for name, group in self.groups.items()},
            "shares": {name: pack_array(share) for name, share in self.shares.items()},
        }

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Grouping:
        """Read the output of `to_dict`."""
        return cls(
            domain=Domain.from_dict(fields),
            groups={
                name: unpack_array(group) for name, group in fields["groups"].items()
            },
            shares={
                name: unpack_array(share) for name, share in fields["shares"].items()
            },
        )


def merge_rare(
    values: Values,
    deviation: float,
    *,
    kinds: Integers | None = None,
    ordered: bool = False,
    min_run_rows: float = 0.0,
) -> Integers:
    """Merge the rare values of one column into groups; keep common ones alone.

    In a small table half of the rows may lie in cells that do not stand out from noise.
    Merged, they would be told apart by their first noisy counts alone, whatever is
    measured later. So cells with COMMON_SHARE of all rows stay alone, except in columns
    of more than 1 / COMMON_SHARE cells, where noise alone lifts some cells that high.

    Args:
        values: noisy counts of the cells.
        deviation: of their noise, in rows.
        kinds: one number per cell; only cells of one kind are merged, so that
            constraints treat all members of a group alike.
        ordered: merge rare neighbors only, into runs that stand out themselves.
        min_run_rows: approximate rows of a run of an ordered column; a cell with as many stays
            alone.

    Returns: int64, numbered from 0 without gaps in the order of the first member.
    """
    kinds = np.zeros(len(values), dtype=np.int64) if kinds is None else kinds
    rare = values < STAND_OUT_SDS * deviation
    if COMMON_SHARE * len(values) <= 1:
        rare &= values < COMMON_SHARE * max(0.0, float(values.sum()))
    labels = np.arange(len(values))
    if ordered:
        labels = _merge_rare_runs(
            values, rare | (values < min_run_rows), kinds, deviation, min_run_rows
        )
    else:
        for kind in np.unique(kinds[rare]):
            members = np.flatnonzero(rare & (kinds == kind))
            labels[members] = members[0]
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def cell_shares(values: Values, groups: Integers) -> Values:
    """Return each cell's share of its group's rows.

    Shares are nearest to the noisy counts, and at least 0.
    """
    shares = np.ones(len(values))
    for group in np.flatnonzero(np.bincount(groups) > 1):
        inside = groups == group
        split = nearest_distribution(
            values[inside], max(float(values[inside].sum()), 1.0)
        )
        shares[inside] = split / split.sum()
    return shares


def _merge_rare_runs(
    values: Values,
    rare: npt.NDArray[np.bool_],
    kinds: Integers,
    deviation: float,
    min_run_rows: float,
) -> Integers:
    """Merge neighboring rare cells into runs; return the first cell of each run.

    Rare cells join a run until it stands out and has `min_run_rows` rows.
    """
    labels = np.arange(len(values))
    total = 0.0
    length = 0
    for cell in range(len(values)):
        joins = length > 0 and rare[cell] and kinds[cell] == kinds[cell - 1]
        if joins and total < max(
            min_run_rows, STAND_OUT_SDS * deviation * np.sqrt(length)
        ):
            labels[cell] = labels[cell - 1]
            total = total + values[cell]
            length = length + 1
        elif rare[cell]:
            total = float(values[cell])
            length = 1
        else:
            total = 0.0
            length = 0
    return labels
