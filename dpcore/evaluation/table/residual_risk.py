"""Report on the risk that remains in a plan's table, to be signed.

Internal.
"""

from dataclasses import dataclass

import numpy as np

from dpcore.anonymization.apply import Anonymization, carry_out
from dpcore.anonymization.plan import Plan
from dpcore.anonymization.quality import Quality
from dpcore.anonymization.recoded import read_leaves
from dpcore.errors import every_row_suppressed_error
from dpcore.evaluation.base import RowsEvaluation
from dpcore.evaluation.table.trial import (
    RiskSide,
    linkable_share,
    measure_published_side,
)
from dpcore.progress import OnProgress, ignore_stage_progress
from dpcore.schema.schema import Schema
from dpcore.tables.classes import FloatArray, class_index
from dpcore.tables.people import max_per_person, people_per_class, person_codes
from dpcore.tables.rows import Microdata

RISK_LEVELS = (1.0, 0.5, 0.2, 0.1, 0.05, 0.0)
"""Lower ends of the levels of risk; each reaches to below the one before it."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ResidualRiskReport:
    """Residual risk by WP216: singling out, linkage and inference.

    The plan says what classes count (people, households, or rows if each is a person).
    A person with rows in several classes is as exposed as in the smallest.

    Attributes:
        plan: with its node filled in.
        original, left: rows of the table, and rows that leave.
        hidden_people: people of the suppressed rows that leave as one class; 0 without any.
        published_side: the figures of all rows that leave, the suppressed ones among them.
        models: that the table meets, in words.
        quality: what was lost.
        prosecutor, journalist: share of people at each of `RISK_LEVELS`, for an
            attacker who knows that a person is in the table, and for one who knows the
            population. They are the same if the plan marks no rows out of a population.
        highest_risk: largest risk to the journalist. marketer: expected share of people who
            are found.
        linkable: share of people with a row that is like nobody else's in all columns that
            leave, so that it can be linked with certainty to another copy of it, or to
            a release of the same people.
    """

    plan: Plan
    original_rows: int
    published_rows: int
    hidden_people: int
    published_side: RiskSide
    models: tuple[str, ...]
    quality: Quality
    prosecutor_shares: tuple[float, ...]
    journalist_shares: tuple[float, ...]
    highest_risk: float
    marketer_risk: float
    linkable: float


@dataclass(frozen=True, kw_only=True)
class ResidualRiskQuestion(RowsEvaluation[ResidualRiskReport]):
    """Evaluation of the risk that remains in a plan's table."""

    kind = "residual risk"

    plan: Plan

    @property
    def ledger_names(self) -> tuple[str, ...]:
        return self.plan.about

    def compute(
        self,
        original: Microdata,
        schema: Schema,
        on_progress: OnProgress = ignore_stage_progress,
    ) -> ResidualRiskReport:
        """Return the report.

        Raises: InfeasibleError, also if no row leaves; the other errors of a plan.
        """
        result = carry_out(
            original, self.plan.with_person_column(schema.unit.id_column)
        )
        plan = result.plan
        leaves = result.is_published
        if not leaves.any():
            raise every_row_suppressed_error()
        shown = result.rows[leaves]
        person = person_codes(shown, plan.unit_column)
        classes = class_index([result.classes[leaves]])
        risk = 1 / people_per_class(classes, person)[classes]
        of_people = max_per_person(risk, person)
        crowd = max_per_person(
            np.minimum(risk, _population_risk(result)[leaves]), person
        )
        return ResidualRiskReport(
            plan=plan,
            original_rows=len(original.frame),
            published_rows=int(leaves.sum()),
            hidden_people=int(
                max_per_person(
                    result.is_suppressed[leaves].astype(np.int64), person
                ).sum()
            ),
            published_side=measure_published_side(result),
            models=result.models,
            quality=result.quality,
            prosecutor_shares=_share_per_level(of_people),
            journalist_shares=_share_per_level(crowd),
            highest_risk=float(crowd.max()),
            marketer_risk=float(crowd.mean()),
            linkable=linkable_share(shown, plan, classes, person),
        )


def _population_risk(result: Anonymization) -> FloatArray:
    """Return 1 / number of people in the population with the same labels, per row.

    It is (published rows,), and 1 if that is not known: without a population, or for a
    method without levels.
    """
    plan = result.plan
    frame = result.inputs.frame
    subset = result.inputs.is_in_subset
    if subset is None or plan.node is None:
        return np.ones(len(result.is_suppressed))
    covering, leaf = read_leaves(frame, plan.quasi_identifier_hierarchies)
    classes = class_index(
        [covering[name].codes(plan.node[name])[leaf[name]] for name in leaf]
    )
    crowd = people_per_class(classes, person_codes(frame, plan.unit_column))[classes]
    return np.where(result.is_suppressed, 1.0, 1 / crowd[subset])


def _share_per_level(risk: FloatArray) -> tuple[float, ...]:
    """Return the share of people in each risk level of `RISK_LEVELS`."""
    level = np.argmax(risk[:, None] >= np.array(RISK_LEVELS) - 1e-12, axis=1)
    return tuple((np.bincount(level, minlength=len(RISK_LEVELS)) / len(risk)).tolist())
