"""Report on the risk of each row, with sampling weights and households. Internal."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpcore.errors import two_roles
from dpcore.evaluation.base import RowsEvaluation
from dpcore.evaluation.table.audit import visible_rows
from dpcore.progress import OnProgress, silent
from dpcore.risk.special_uniques import special_uniques
from dpcore.risk.survey import (
    household_risk,
    households_of,
    individual_risk,
    population_frequency,
    sampling_weights,
)
from dpcore.schema.schema import Schema
from dpcore.tables.classes import BoolArray, FloatArray, IntArray, equivalence_classes
from dpcore.tables.people import largest_per_person, people_per_class, person_codes
from dpcore.tables.rows import Microdata


@dataclass(frozen=True, kw_only=True)
class SampledRisk:
    """Risk estimates from sampling weights; they are no guarantee.

    Attributes:
        population: people for whom the rows stand, in all.
        smallest: estimated people of the population in the smallest group.
        highest, average: individual risk over the people.
        expected: people found correctly on average, if an attacker tries everybody.
    """

    population: float
    smallest: float
    highest: float
    average: float
    expected: float


@dataclass(frozen=True, kw_only=True)
class HouseholdRisk:
    """Risk of households, if finding one person reveals the whole household.

    Attributes:
        households: number of households.
        average, alone: mean risk of the people with and without regard to their
            household.
        highest: largest risk of a household.
        expected: people found on average, each with their household.
    """

    households: int
    average: float
    alone: float
    highest: float
    expected: float


@dataclass(frozen=True, kw_only=True, eq=False)
class RowRiskReport:
    """Risk of each row, with summary figures for all people.

    Attributes:
        rows: a line for each row, in the order of the table and numbered from 0,
            without any of its values: `people` in its group, `risk` 1 / people,
            `score`, `dis`, `smallest` and `sets` of its minimal unique sets; with
            weights `population` and `individual`; with households `household`. The line
            of a suppressed row is empty.
        parts: as `rows`, column of the table -> share of the row's score that comes
            from it.
        part: column of the table -> share of all scores together.
        largest: columns of the largest sets tried.
        special: share of people with a row that at most two columns make unique.
    """

    rows: pd.DataFrame
    parts: pd.DataFrame
    part: Mapping[str, float]
    largest: int
    special: float
    sampled: SampledRisk | None
    households: HouseholdRisk | None


@dataclass(frozen=True, kw_only=True)
class RowRiskQuestion(RowsEvaluation[RowRiskReport]):
    """Evaluation of the re-identification risk of each row.

    Attributes:
        quasi_identifiers: what an attacker may know, at least one column.
        weight: the column of sampling weights, if the table is a sample with them.
        household: the column of household names.
        fraction: share of the population in the table, in (0, 1), for the chance that a
            match is right.
    """

    kind = "risk of each row"

    quasi_identifiers: tuple[str, ...]
    weight: str | None = None
    household: str | None = None
    fraction: float = 0.01

    @property
    def about(self) -> tuple[str, ...]:
        return self.quasi_identifiers

    def __post_init__(self) -> None:
        for name in self.quasi_identifiers:
            if name in (self.weight, self.household):
                raise two_roles(name)

    def compute(
        self, original: Microdata, schema: Schema, on_progress: OnProgress = silent
    ) -> RowRiskReport:
        """Return the report; the size of a group is its number of people.

        Raises: ParameterError without quasi-identifiers or for such a fraction;
            SchemaError for an unknown column, wrong weights, or if every row is
            suppressed.
        """
        columns = list(self.quasi_identifiers)
        visible = visible_rows(original.frame, columns)
        frame = original.frame[visible]
        person = person_codes(frame, schema.unit.id_column)
        classes = equivalence_classes(frame, columns)
        people = people_per_class(classes, person)
        special = special_uniques(frame, columns, fraction=self.fraction, person=person)
        risk: FloatArray = 1 / people[classes]
        figures: dict[str, IntArray | FloatArray] = {
            "people": people[classes],
            "risk": risk,
            "score": special.score,
            "dis": special.dis,
            "smallest": special.smallest,
            "sets": special.sets,
        }
        sampled = None
        households = None
        if self.weight is not None:
            weights = sampling_weights(frame, self.weight)
            population = np.maximum(
                people, population_frequency(classes, weights, person)
            )
            risk = individual_risk(people, population)[classes]
            figures |= {"population": population[classes], "individual": risk}
            sampled = _sampled_risk(
                _population_total(weights, person), population, risk, person
            )
        if self.household is not None:
            household = households_of(frame, self.household)
            shared = household_risk(risk, household, person)
            figures["household"] = shared
            households = _households_risk(household, shared, risk, person)
        few = (special.smallest > 0) & (special.smallest <= 2)
        return RowRiskReport(
            rows=_in_table_order(figures, visible),
            parts=_in_table_order(special.parts, visible),
            part=special.part,
            largest=special.largest,
            special=float(largest_per_person(few, person).mean()),
            sampled=sampled,
            households=households,
        )


def _in_table_order(
    figures: Mapping[str, IntArray | FloatArray], visible: BoolArray
) -> pd.DataFrame:
    """Return figures for every row of the table; suppressed rows are empty."""
    return pd.DataFrame(figures, index=np.flatnonzero(visible)).reindex(
        range(len(visible))
    )


def _population_total(weights: FloatArray, person: IntArray | None) -> float:
    """Return the estimated number of people whom all rows represent."""
    return float(
        population_frequency(np.zeros(len(weights), dtype=np.int64), weights, person)[0]
    )


def _sampled_risk(
    total: float, population: FloatArray, risk: FloatArray, person: IntArray | None
) -> SampledRisk:
    of_people = largest_per_person(risk, person)
    return SampledRisk(
        population=total,
        smallest=float(population.min()),
        highest=float(of_people.max()),
        average=float(of_people.mean()),
        expected=float(of_people.sum()),
    )


def _households_risk(
    household: IntArray,
    shared: FloatArray,
    risk: FloatArray,
    person: IntArray | None,
) -> HouseholdRisk:
    of_people = largest_per_person(shared, person)
    return HouseholdRisk(
        households=int(household.max()) + 1,
        average=float(of_people.mean()),
        alone=float(largest_per_person(risk, person).mean()),
        highest=float(of_people.max()),
        expected=float(of_people.sum()),
    )
