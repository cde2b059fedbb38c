"""How re-identifiable a table is as it stands: one report for one screen. Internal."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpcore.anonymize.column_sets import ColumnSet, column_sets
from dpcore.anonymize.disclosure import AttributeRisk, attribute_risk
from dpcore.anonymize.encoding import equivalence_classes, leaves_of
from dpcore.anonymize.identifiers import Finding, find_identifiers
from dpcore.anonymize.linkage import Linkage, link
from dpcore.anonymize.risk import ReidentificationRisk, reidentification_risk
from dpcore.anonymize.uniqueness import pitman_uniqueness, zayatz_uniqueness
from dpcore.schema.schema import Schema
from dpcore.tables.rows import Microdata

LARGEST_SET = 3
"""Columns in the sets that are looked at one by one; few attackers know more than these."""


@dataclass(frozen=True, kw_only=True, eq=False)
class AuditReport:
    """What an attacker could do with the table.

    Attributes:
        people: persons, or rows where the schema names no person.
        risk: re-identification by all quasi-identifiers together.
        sets: every set of up to three quasi-identifiers, riskiest first.
        identifiers: columns that look like identifiers.
        secrets: sensitive column -> what the classes give away about it.
        linkage: what the attacker's list finds; None without a list.
        population: estimated shares of the population that are unique, by Pitman and Zayatz; None without
            its size.
    """

    people: int
    risk: ReidentificationRisk
    sets: tuple[ColumnSet, ...]
    identifiers: tuple[Finding, ...]
    secrets: dict[str, AttributeRisk]
    linkage: Linkage | None
    population: tuple[float, float] | None


@dataclass(frozen=True, kw_only=True, eq=False)
class Audit:
    """The evaluation that asks how re-identifiable the table is.

    Attributes:
        quasi_identifiers: what an attacker may know, at least one column.
        sensitive: what should stay unknown.
        threshold: risk above which a person counts as exposed.
        attacker: a list of known people, to be joined on the quasi-identifiers that it holds.
        population: people that the table was drawn from, for the estimates of population uniqueness.
    """

    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...] = ()
    threshold: float = 0.2
    attacker: pd.DataFrame | None = None
    population: int | None = None

    @property
    def title(self) -> str:
        """What it answers, for the ledger."""
        return f"re-identification risk by {', '.join(self.quasi_identifiers)}"

    def compute(self, original: Microdata, schema: Schema) -> AuditReport:
        """The report. A person with several rows counts once for each way in which they appear.

        Raises: ParameterError without quasi-identifiers; SchemaError for an unknown column.
        """
        columns = list(self.quasi_identifiers)
        people = _people(original.frame, schema.unit.id_column, [*columns, *self.sensitive])
        classes = equivalence_classes(people, columns)
        persons = _people(original.frame, schema.unit.id_column, columns)
        own = equivalence_classes(persons, columns)
        sets = column_sets(persons, columns, largest=LARGEST_SET)
        return AuditReport(
            people=len(persons),
            risk=reidentification_risk(own, threshold=self.threshold),
            sets=tuple(sorted(sets, key=lambda each: (-each.uniques, len(each.columns)))),
            identifiers=tuple(find_identifiers(original.frame)),
            secrets={name: attribute_risk(classes, leaves_of(people, name).codes) for name in self.sensitive},
            linkage=self._linkage(original.frame, schema.unit.id_column),
            population=None
            if self.population is None
            else (
                pitman_uniqueness(own, population=self.population),
                zayatz_uniqueness(own, population=self.population),
            ),
        )

    def _linkage(self, frame: pd.DataFrame, id_column: str | None) -> Linkage | None:
        if self.attacker is None:
            return None
        shared = [name for name in self.quasi_identifiers if name in self.attacker.columns]
        return link(_people(frame, id_column, shared), self.attacker, shared) if shared else None


def _people(frame: pd.DataFrame, id_column: str | None, columns: list[str]) -> pd.DataFrame:
    """One row for each person and way in which they appear in `columns`."""
    wanted = list(dict.fromkeys(columns))
    if id_column is None:
        return frame
    codes = [leaves_of(frame, name).codes for name in [id_column, *wanted]]
    _, first = np.unique(np.stack(codes, axis=1), axis=0, return_index=True)
    return frame.iloc[np.sort(first)]
