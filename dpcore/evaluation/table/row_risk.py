"""Report on the risk of each row, with sampling weights and households. Internal."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpcore.errors import two_roles_error
from dpcore.evaluation.base import RowsEvaluation
from dpcore.evaluation.table.audit import mark_visible_rows
from dpcore.progress import OnProgress, ignore_stage_progress
from dpcore.risk.special_uniques import score_special_uniques
from dpcore.risk.survey import (
    estimate_individual_risk,
    estimate_population_frequency,
    household_codes,
    household_risk,
    sampling_weights,
)
from dpcore.schema.schema import Schema
from dpcore.tables.classes import BoolArray, FloatArray, IntArray, equivalence_classes
from dpcore.tables.people import max_per_person, people_per_class, person_codes
from dpcore.tables.rows import Microdata


@dataclass(frozen=True, kw_only=True)
class SampledRisk:
    """Risk estimates from sampling weights; they are no guarantee.

    Attributes:
        population: people for whom the rows stand, in all.
        smallest_group: estimated people of the population in the smallest group.
        highest, average: individual risk over the people.
        expected_found: people found correctly on average, if an attacker tries everybody.
    """

    population: float
    smallest_group: float
    highest_risk: float
    average_risk: float
    expected_found: float


@dataclass(frozen=True, kw_only=True)
class HouseholdRisk:
    """Risk of households, if finding one person reveals the whole household.

    Attributes:
        households: number of households.
        average, alone: mean risk of the people with and without regard to their
            household.
        highest_risk: largest risk of a household.
        expected_found: people found on average, each with their household.
    """

    households: int
    average_risk: float
    average_individual_risk: float
    highest_risk: float
    expected_found: float


@dataclass(frozen=True, kw_only=True, eq=False)
class RowRiskReport:
    """Risk of each row, with summary figures for all people.

    Attributes:
        rows: a line for each row, in the order of the table and numbered from 0,
            without any of its values: `people` in its group, `risk` 1 / people,
            `score`, `dis`, `smallest` and `sets` of its minimal unique sets; with
            weights `population` and `individual`; with households `household`. The line
            of a suppressed row is empty.
        row_score_shares: as `rows`, column of the table -> share of the row's score that comes
            from it.
        score_shares: column of the table -> share of all scores together.
        largest_set_size: columns of the largest sets tried.
        special_share: share of people with a row that at most two columns make unique.
    """

    rows: pd.DataFrame
    row_score_shares: pd.DataFrame
    score_shares: Mapping[str, float]
    largest_set_size: int
    special_share: float
    sampled_risk: SampledRisk | None
    households: HouseholdRisk | None


@dataclass(frozen=True, kw_only=True)
class RowRiskQuestion(RowsEvaluation[RowRiskReport]):
    """Evaluation of the re-identification risk of each row.

    Attributes:
        quasi_identifiers: what an attacker may know, at least one column.
        weight_column: the column of sampling weights, if the table is a sample with them.
        household_column: the column of household names.
        sampling_fraction: share of the population in the table, in (0, 1), for the chance that a
            match is right.
    """

    kind = "risk of each row"

    quasi_identifiers: tuple[str, ...]
    weight_column: str | None = None
    household_column: str | None = None
    sampling_fraction: float = 0.01

    @property
    def ledger_names(self) -> tuple[str, ...]:
        return self.quasi_identifiers

    def __post_init__(self) -> None:
        for name in self.quasi_identifiers:
            if name in (self.weight_column, self.household_column):
                raise two_roles_error(name)

    def compute(
        self,
        original: Microdata,
        schema: Schema,
        on_progress: OnProgress = ignore_stage_progress,
    ) -> RowRiskReport:
        """Return the report; the size of a group is its number of people.

        Raises: ParameterError without quasi-identifiers or for such a fraction;
            SchemaError for an unknown column, wrong weights, or if every row is
            suppressed.
        """
        columns = list(self.quasi_identifiers)
        visible = mark_visible_rows(original.frame, columns)
        frame = original.frame[visible]
        person = person_codes(frame, schema.unit.id_column)
        classes = equivalence_classes(frame, columns)
        people = people_per_class(classes, person)
        special = score_special_uniques(
            frame, columns, fraction=self.sampling_fraction, person=person
        )
        risk: FloatArray = 1 / people[classes]
        figures: dict[str, IntArray | FloatArray] = {
            "people": people[classes],
            "risk": risk,
            "score": special.score,
            "dis": special.dis,
            "smallest": special.smallest_set_size,
            "sets": special.set_count,
        }
        sampled = None
        households = None
        if self.weight_column is not None:
            weights = sampling_weights(frame, self.weight_column)
            population = np.maximum(
                people, estimate_population_frequency(classes, weights, person)
            )
            risk = estimate_individual_risk(people, population)[classes]
            figures |= {"population": population[classes], "individual": risk}
            sampled = _sampled_risk(
                _population_total(weights, person), population, risk, person
            )
        if self.household_column is not None:
            household = household_codes(frame, self.household_column)
            shared = household_risk(risk, household, person)
            figures["household"] = shared
            households = _households_risk(household, shared, risk, person)
        few = (special.smallest_set_size > 0) & (special.smallest_set_size <= 2)
        return RowRiskReport(
            rows=_restore_table_order(figures, visible),
            row_score_shares=_restore_table_order(special.score_parts, visible),
            score_shares=special.score_share,
            largest_set_size=special.max_columns,
            special_share=float(max_per_person(few, person).mean()),
            sampled_risk=sampled,
            households=households,
        )


def _restore_table_order(
    figures: Mapping[str, IntArray | FloatArray], visible: BoolArray
) -> pd.DataFrame:
    """Return figures for every row of the table; suppressed rows are empty."""
    return pd.DataFrame(figures, index=np.flatnonzero(visible)).reindex(
        range(len(visible))
    )


def _population_total(weights: FloatArray, person: IntArray | None) -> float:
    """Return the estimated number of people whom all rows represent."""
    return float(
        estimate_population_frequency(
            np.zeros(len(weights), dtype=np.int64), weights, person
        )[0]
    )


def _sampled_risk(
    total: float, population: FloatArray, risk: FloatArray, person: IntArray | None
) -> SampledRisk:
    of_people = max_per_person(risk, person)
    return SampledRisk(
        population=total,
        smallest_group=float(population.min()),
        highest_risk=float(of_people.max()),
        average_risk=float(of_people.mean()),
        expected_found=float(of_people.sum()),
    )


def _households_risk(
    household: IntArray,
    shared: FloatArray,
    risk: FloatArray,
    person: IntArray | None,
) -> HouseholdRisk:
    of_people = max_per_person(shared, person)
    return HouseholdRisk(
        households=int(household.max()) + 1,
        average_risk=float(of_people.mean()),
        average_individual_risk=float(max_per_person(risk, person).mean()),
        highest_risk=float(of_people.max()),
        expected_found=float(of_people.sum()),
    )
