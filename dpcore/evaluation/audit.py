"""How re-identifiable a table is as it is: one report for one screen. Internal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpcore.errors import ParameterError, RowsError, SchemaError
from dpcore.evaluation.question import Evaluation, Readable
from dpcore.risk.column_sets import ColumnSet, column_sets
from dpcore.risk.disclosure import AttributeRisk, attribute_risk
from dpcore.risk.identifiers import Finding, find_identifiers
from dpcore.risk.linkage import Linkage, link
from dpcore.risk.reidentification import ReidentificationRisk, reidentification_risk
from dpcore.risk.uniqueness import pitman_uniqueness, zayatz_uniqueness
from dpcore.schema.schema import Schema
from dpcore.schema.values import SUPPRESSED
from dpcore.tables.classes import (
    BoolArray,
    IntArray,
    check_columns,
    equivalence_classes,
    leaves_of,
)
from dpcore.tables.people import largest_each, once_each, people_per_class, person_of
from dpcore.tables.rows import DistinctRows, Microdata

LARGEST_SET = 3
"""Columns in the sets that are looked at one by one; few attackers know more than these."""


@dataclass(frozen=True, kw_only=True, eq=False)
class AuditReport:
    """What an attacker could do with the table.

    Attributes:
        people: persons, or rows where the schema names no person. Suppressed rows count nowhere. Shares are
            of these people: one with several rows is exposed by any of them.
        ways: in which they appear: each person counts once for each class.
        suppressed: share of rows that have `*` in every quasi-identifier.
        risk: re-identification by all quasi-identifiers together.
        sets: every set of up to three quasi-identifiers, riskiest first.
        changes: column -> share of people who are unique once it is taken from the quasi-identifiers, or, for
            a column that is none of them, once it is known too.
        identifiers: columns that look like identifiers.
        secrets: sensitive column -> what the classes give away about it.
        linkage: what the attacker's list finds; None without a list.
        population: estimated shares of the ways in which the population appears that are unique, by Pitman
            and Zayatz; where each has one way, of its people. None without its size.
    """

    people: int
    ways: int
    suppressed: float
    risk: ReidentificationRisk
    sets: tuple[ColumnSet, ...]
    changes: Mapping[str, float]
    identifiers: tuple[Finding, ...]
    secrets: dict[str, AttributeRisk]
    linkage: Linkage | None
    population: tuple[float, float] | None


@dataclass(frozen=True, kw_only=True, eq=False)
class Audit(Evaluation[AuditReport]):
    """The evaluation that asks how re-identifiable the table is.

    Attributes:
        quasi_identifiers: what an attacker may know, at least one column.
        sensitive: what should stay unknown; none of the quasi-identifiers.
        others: columns that an attacker may turn out to know too.
        threshold: risk above which a person counts as exposed.
        attacker: a list of known people, to be joined on the quasi-identifiers that it holds.
        population: people that the table was drawn from, for the estimates of population uniqueness.
    """

    kind = "re-identification risk"

    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    threshold: float = 0.2
    attacker: pd.DataFrame | None = None
    population: int | None = None

    @property
    def about(self) -> tuple[str, ...]:
        return tuple(self.quasi_identifiers)

    def __post_init__(self) -> None:
        both = [name for name in self.sensitive if name in self.quasi_identifiers]
        if both:
            raise SchemaError(
                "{column} is sensitive and a quasi-identifier at once",
                remedy="give the column one of the two roles",
                column=both[0],
            )

    def read(self, table: Readable, schema: Schema) -> Microdata:
        """The rows; of a table that does not fit, the distinct tuples, where each row is a person."""
        try:
            return table.rows()
        except RowsError:
            if schema.unit.id_column is not None or self.attacker is not None:
                raise
            return table.tuples(list(dict.fromkeys((*self.quasi_identifiers, *self.sensitive, *self.others))))

    def compute(self, original: Microdata, schema: Schema) -> AuditReport:
        """The report; of distinct tuples without a search for identifiers, which are in other columns.

        Raises: ParameterError without quasi-identifiers, or for fewer people in the population than in the
            table; SchemaError for an unknown column, or when every row is suppressed.
        """
        columns = list(self.quasi_identifiers)
        visible = visible_rows(original.frame, columns)
        frame = original.frame[visible]
        classes = equivalence_classes(frame, columns)
        if isinstance(original, DistinctRows):
            person, rows = None, original.rows[visible]
            each = np.repeat(np.arange(len(rows)), rows)
            people, shown, found = len(each), len(each) / original.rows.sum(), []
        else:
            person, rows = person_of(frame, schema.unit.id_column), None
            each = np.arange(len(frame))
            people, shown = len(once_each(np.zeros_like(classes), person)), visible.mean()
            found = find_identifiers(original.frame)
        own = classes[each][once_each(classes[each], person)]
        sets = column_sets(frame, columns, largest=LARGEST_SET, person=person, counts=rows)
        return AuditReport(
            people=people,
            ways=len(own),
            suppressed=float(1 - shown),
            risk=reidentification_risk(classes[each], threshold=self.threshold, person=person),
            sets=tuple(sorted(sets, key=lambda each: (-each.uniques, len(each.columns)))),
            changes=self._changes(frame, person, rows),
            identifiers=tuple(found),
            secrets={
                name: attribute_risk(classes[each], leaves_of(frame, name).codes[each], person=person)
                for name in self.sensitive
            },
            linkage=self._linkage(frame, person),
            population=self._population(own, people),
        )

    def _population(self, own: IntArray, people: int) -> tuple[float, float] | None:
        if self.population is None:
            return None
        if self.population < people:
            raise ParameterError(
                "population ({population}) must be at least the number of people in the table",
                remedy="give the number of people the table was drawn from",
                population=self.population,
            )
        ways = round(self.population * len(own) / people)  # whoever is not in the table appears as often
        return pitman_uniqueness(own, population=ways), zayatz_uniqueness(own, population=ways)

    def _changes(
        self, frame: pd.DataFrame, person: IntArray | None, rows: IntArray | None
    ) -> dict[str, float]:
        known = self.quasi_identifiers
        sets = {name: [each for each in known if each != name] for name in known if len(known) > 1}
        sets |= {name: [*known, name] for name in self.others}
        return {
            name: unique_share(equivalence_classes(frame, columns), person, rows)
            for name, columns in sets.items()
        }

    def _linkage(self, frame: pd.DataFrame, person: IntArray | None) -> Linkage | None:
        if self.attacker is None:
            return None
        shared = [name for name in self.quasi_identifiers if name in self.attacker.columns]
        if not shared:
            return None
        once = once_each(equivalence_classes(frame, shared), person)
        return link(frame.iloc[once], self.attacker, shared)


def visible_rows(frame: pd.DataFrame, columns: Sequence[str]) -> BoolArray:
    """(rows,) whether the row says anything in these columns; one that was suppressed has `*` in all of them.

    Raises: ParameterError without columns; SchemaError for an unknown one, or when no row says anything.
    """
    check_columns(columns)
    leaves = [leaves_of(frame, name) for name in columns]
    visible: BoolArray = np.any([(each.labels != SUPPRESSED)[each.codes] for each in leaves], axis=0)
    if not visible.any():
        raise SchemaError(
            "every row is suppressed in these columns", remedy="choose other columns, or the original table"
        )
    return visible


def unique_share(classes: IntArray, person: IntArray | None, rows: IntArray | None = None) -> float:
    """Share of people who are alone in a class of theirs.

    Args: rows: how many rows each stands for, where it stands for several, all of different people.
    """
    if rows is not None:
        sizes = np.bincount(classes, rows)
        return float((sizes == 1).sum() / sizes.sum())
    return float(largest_each(people_per_class(classes, person)[classes] == 1, person).mean())
