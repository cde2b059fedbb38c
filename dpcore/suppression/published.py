"""Exact tables: the owner's version, and the published version."""

from __future__ import annotations

import csv
import hashlib
import io
import itertools
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from dpcore.json_text import parse_json, refuse_malformed_fields
from dpcore.schema.formulas import disarm
from dpcore.suppression.attacked import AttackedTable
from dpcore.suppression.layout import Axis, Layout
from dpcore.suppression.outcome import CountBounds
from dpcore.suppression.plan import TablePlan
from dpcore.suppression.rules import HidingRule

HIDDEN_MARK = "x"
"""The mark of a hidden cell in a file; the same for all, whatever the reason."""
FORMAT_VERSION = 1
KEY_LENGTH = 32  # hexadecimal digits: 128 bits


@dataclass(frozen=True, kw_only=True)
class PublishedTable:
    """A table as published: counts, and marks for hidden cells. Public.

    Attributes:
        counts: (cells,) in the order of `Layout`; None is hidden.
        exceptions: cells that are shown though the rule would hide them, with the
            reason.
        attacked: number of earlier exact tables that it was attacked together with.
        compared: number of exact tables whose counts it was compared with, because
            some of their people came or left.
        unrelated: columns of other tables of which the owner says that they have
            nothing to do with this one. They were not in the file.
        miscoded: pairs of an inner and an outer column of which the owner says that
            rare pairs of values are errors of coding.
        anonymized: number of times that rows of the account were anonymized before.
        noisy: number of releases with noise that left from the account before.
        occupied: cells that readers know to hold somebody, whatever is hidden. Not
            part of the public file.
        bundled: number of other tables that it was attacked and published together
            with.
        bundle: mark of all these tables; empty without others.
        known: keys of the earlier tables of both kinds. Not part of the public file;
            empty in tables of an earlier version of this program.
        related: pairs of columns, one of them at least in this table, of which readers
            were taken to know which values go together.
        account: name of another account that it was published from; empty for the
            one that is asked.
        rounding_base: number of people to whose multiples all counts are rounded; 0 if
            they are exact.
        people: number of people in the file, as readers of a rounded table are taken to
            know. Not part of the public file.
    """

    layout: Layout
    counts: tuple[int | None, ...]
    rule: HidingRule
    exceptions: Mapping[int, str] = field(default_factory=dict)
    attacked: int = 0
    compared: int = 0
    unrelated: tuple[str, ...] = ()
    miscoded: tuple[tuple[str, str], ...] = ()
    anonymized: int = 0
    noisy: int = 0
    occupied: tuple[int, ...] = ()
    bundled: int = 0
    bundle: str = ""
    known: tuple[str, ...] = ()
    related: tuple[tuple[str, str], ...] = ()
    account: str = ""
    rounding_base: int = 0
    people: int = 0

    @property
    def title(self) -> str:
        """The columns."""
        return " × ".join(self.layout.columns)

    @property
    def name(self) -> str:
        """The columns, and the account if it is another one."""
        return f"{self.title} ({self.account})" if self.account else self.title

    @property
    def is_first(self) -> bool:
        """Whether no other table about the same people was known."""
        return not self.attacked and not self.compared and not self.bundled

    @property
    def possible_count(self) -> int:
        """The count that readers must think possible for a hidden or rounded cell."""
        if self.rounding_base:
            return self.rule.threshold
        return self.rule.find_possible_count(is_first=self.is_first)

    @cached_property
    def key(self) -> str:
        """By which later tables name it, the same in each account that sees it."""
        record = json.dumps(self.to_record(), sort_keys=True)
        return hashlib.sha256(record.encode()).hexdigest()[:KEY_LENGTH]

    def to_record(self) -> dict[str, Any]:
        """Return plain data with the values of each group, for the ledger."""
        return self._to_dict(values=True)

    def to_json(self) -> str:
        """Return the table as JSON, without the values of each group."""
        return json.dumps(self._to_dict(values=False), ensure_ascii=False, indent=1)

    def _to_dict(self, *, values: bool) -> dict[str, Any]:
        return {
            "version": FORMAT_VERSION,
            "kind": "exact table",
            "guarantee": "no epsilon",
            "rule": self.rule.to_dict(),
            "axes": [axis.to_dict(values=values) for axis in self.layout.axes],
            "attacked": self.attacked,
            "compared": self.compared,
            "unrelated": list(self.unrelated),
            "miscoded": [list(pair) for pair in self.miscoded],
            "related": [list(pair) for pair in self.related],
            "anonymized": self.anonymized,
            "noisy": self.noisy,
            "counts": list(self.counts),
            "exceptions": {
                str(cell): reason for cell, reason in self.exceptions.items()
            },
            **({"bundled": self.bundled, "bundle": self.bundle} if self.bundle else {}),
            **(
                {"occupied": list(self.occupied), "known": list(self.known)}
                if values
                else {}
            ),
            **({"rounding_base": self.rounding_base} if self.rounding_base else {}),
            **({"people": self.people} if self.people and values else {}),
        }

    @classmethod
    def from_record(cls, fields: Mapping[str, Any]) -> PublishedTable:
        """Read a table that `to_record` wrote.

        Raises: ReadError for anything else.
        """
        return cls._from_dict(fields, values=True)

    @classmethod
    def from_json(cls, text: str) -> PublishedTable:
        """Read the output of `to_json`: a table whose groups list no values.

        It can be shown, and not be attacked.

        Raises: ReadError for anything else.
        """
        return cls._from_dict(parse_json(text), values=False)

    @classmethod
    def _from_dict(cls, fields: Mapping[str, Any], *, values: bool) -> PublishedTable:
        with refuse_malformed_fields():
            axes = [Axis.from_dict(axis, values=values) for axis in fields["axes"]]
            layout = Layout(axes=tuple(axes))
            # a table of an earlier version of this program may have lines from the rows
            lines = list(itertools.chain(*list_lines(layout)))
            return cls(
                layout=layout,
                counts=tuple(fields["counts"]),
                rule=HidingRule.from_dict(fields["rule"]),
                exceptions={
                    int(cell): reason for cell, reason in fields["exceptions"].items()
                },
                attacked=fields.get("attacked", 0),
                compared=fields.get("compared", 0),
                unrelated=tuple(fields.get("unrelated", ())),
                miscoded=tuple(
                    (inner, outer) for inner, outer in fields.get("miscoded", ())
                ),
                anonymized=fields.get("anonymized", 0),
                noisy=fields.get("noisy", 0),
                occupied=tuple(fields.get("occupied", lines)) if values else (),
                bundled=fields.get("bundled", 0),
                bundle=fields.get("bundle", ""),
                known=tuple(fields.get("known", ())) if values else (),
                related=tuple(
                    (first, second) for first, second in fields.get("related", ())
                ),
                rounding_base=fields.get("rounding_base", 0),
                people=fields.get("people", 0) if values else 0,
            )

    def find_range(self, cell: int) -> tuple[int, int]:
        """Return the fewest and most people that a rounded count can stand for."""
        count = self.counts[cell]
        assert count is not None
        off = self.rounding_base - 1
        return max(0, count - off), count + off

    def crosstab(self) -> list[list[str]]:
        """Return rows of texts: a header, then one row per group of the first axis.

        Of three columns, there is one row per group of the first and group of the second,
        with both labels. The groups of the last axis are the columns.
        """
        *names, _last = self.layout.columns
        labels = [
            [_indent_label(axis, at) for at in range(len(axis.groups))]
            for axis in self.layout.axes
        ]
        across = labels.pop() if names else ["people"]
        titles = names if len(names) > 1 else [self.title]
        texts = [HIDDEN_MARK if count is None else str(count) for count in self.counts]
        lines = [_number_repeats([*titles, *across])]
        for number, own in enumerate(itertools.product(*labels)):
            start = number * len(across)
            lines.append([*own, *texts[start : start + len(across)]])
        return lines

    def list_file_lines(self) -> list[list[str]]:
        """Return the crosstab for files; its heading names the base of rounded counts."""
        heading, *lines = self.crosstab()
        if self.rounding_base:
            heading[0] += f" (rounded to multiples of {self.rounding_base})"
        return [heading, *lines]

    @property
    def label_columns(self) -> int:
        """Number of columns of `crosstab` that are labels."""
        return max(1, len(self.layout.axes) - 1)

    def to_csv(self) -> str:
        """Return the crosstab as CSV."""
        out = io.StringIO()
        lines = [list(map(disarm, line)) for line in self.list_file_lines()]
        csv.writer(out, lineterminator="\n").writerows(lines)
        return out.getvalue()

    def as_attacked(
        self, occupied_cells: frozenset[int], wanted: Mapping[int, int]
    ) -> AttackedTable:
        """Return the table as an attacker knows it.

        Of a rounded table, readers know how many people there are in all, and a range
        of each other count.

        Args:
            occupied_cells: cells that hold people, of whom attackers know.
            wanted: counts that must be possible for some hidden cells.
        """
        counts = self.counts
        ranges = {}
        if self.rounding_base:
            counts = (self.people, *[None] * (len(counts) - 1))
            ranges = {cell: self.find_range(cell) for cell in range(1, len(counts))}
        return AttackedTable(
            columns=self.layout.columns,
            groups=tuple(
                tuple(
                    group.values if at else None for at, group in enumerate(axis.groups)
                )
                for axis in self.layout.axes
            ),
            counts=counts,
            ranges=ranges,
            threshold=self.rule.threshold,
            needed=self.possible_count,
            secret_pairs=self._find_secret_pairs(counts),
            excepted_cells=frozenset(self.exceptions),
            occupied_cells=occupied_cells,
            complete_columns=frozenset(self.layout.columns),
            hide_zeros=self.rule.hide_zeros,
            hide_full=self.rule.hide_full,
            # a full cell is another reason
            hides_small_alone=not self.rounding_base
            and (self.rule.hide_zeros or not self.rule.hide_full),
            tables_before=self.attacked + self.compared,
            key=self.key,
            known=frozenset(self.known),
            bundle=self.bundle,
            wanted=wanted,
            name=self.name,
        )

    def _find_secret_pairs(
        self, counts: tuple[int | None, ...]
    ) -> tuple[tuple[int, int], ...]:
        """Return `find_secret_pairs` if the rule protects full cells.

        Rounded counts that are far apart show that somebody is outside of the cell, so
        these pairs are left out, which saves half of the time.
        """
        if not self.rule.hide_full:
            return ()
        pairs = find_secret_pairs(self.layout, counts)
        if not self.rounding_base:
            return pairs
        ranges = [self.find_range(cell) for cell in range(len(counts))]
        return tuple(
            (cell, around)
            for cell, around in pairs
            if ranges[cell][1] >= ranges[around][0]
        )


def list_lines(layout: Layout) -> list[list[int]]:
    """Return the cell of each group's total, for each axis."""
    numbers = np.arange(layout.size).reshape(layout.shape)
    return [
        np.moveaxis(numbers, at, 0).reshape(size, -1)[1:, 0].tolist()
        for at, size in enumerate(layout.shape)
    ]


def find_secret_pairs(
    layout: Layout, counts: tuple[int | None, ...]
) -> tuple[tuple[int, int], ...]:
    """Return pairs of a cell and a containing cell whose equality must stay secret.

    A pair of which one is shown to be empty, or both are shown to differ, is no secret.
    """
    pairs = []
    for parent, children in layout.equations:
        around = counts[parent]
        if around == 0:
            continue
        for child in children:
            inside = counts[child]
            if inside == 0 or (None not in (around, inside) and around != inside):
                continue
            pairs.append((child, parent))
    return tuple(pairs)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ExactTable:
    """A protected table with what only its owner may see. Internal until accepted.

    Attributes:
        plan: with the hierarchies that were counted.
        published: the table as it would leave.
        true_counts: (cells,) counts of people.
        reasons: of each hidden cell: "small", "empty", "full", "protects others",
            "earlier table", "other table", or "few changed".
        bounds: how closely each hidden cell can be told.
        earlier_tables: names of the earlier tables that were attacked together with it.
        bundle_tables: names of the other tables that are published together with it.
        compared: names of the earlier tables some of whose people came or left.
        told_before: number of counts that earlier tables tell already, together or
            alone.
        unlisted: names of the earlier tables that lack values of today; people with
            these are in their totals alone.
        solved_programs: that the attack solved.
        miscoded_people: with rare pairs of which the owner says that they are errors.
    """

    plan: TablePlan
    published: PublishedTable
    true_counts: tuple[int, ...]
    reasons: Mapping[int, str]
    bounds: Mapping[int, CountBounds]
    earlier_tables: tuple[str, ...]
    solved_programs: int
    bundle_tables: tuple[str, ...] = ()
    compared: tuple[str, ...] = ()
    unlisted: tuple[str, ...] = ()
    told_before: int = 0
    miscoded_people: int = 0

    def __repr__(self) -> str:
        return f"ExactTable({self.published.name!r}, internal)"

    @property
    def hidden_people(self) -> int:
        """Sum of the hidden counts."""
        return sum(self.true_counts[cell] for cell in self.reasons)


def _number_repeats(names: list[str]) -> list[str]:
    """Return the names, with a number appended to each repeat."""
    seen: Counter[str] = Counter()
    different = []
    for name in names:
        seen[name] += 1
        different.append(f"{name} ({seen[name]})" if seen[name] > 1 else name)
    return different


def _indent_label(axis: Axis, group_number: int) -> str:
    label = axis.groups[group_number].label
    return (
        "  " * (axis.depths[group_number] - 1) + label
        if axis.depths[group_number] > 1
        else label
    )
