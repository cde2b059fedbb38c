"""A table against a published criterion: the columns that its clauses are about. Internal."""

from __future__ import annotations

from dataclasses import dataclass

from dpcore.evaluation.base import RowsEvaluation
from dpcore.evaluation.table.audit import AuditReport
from dpcore.progress import OnProgress, silent
from dpcore.risk.criteria import Criterion, Evidence, evidence
from dpcore.schema.schema import Schema
from dpcore.tables.people import person_of
from dpcore.tables.rows import Microdata


@dataclass(frozen=True, kw_only=True)
class EvidenceOf(RowsEvaluation[tuple[Evidence, ...]]):
    """The evaluation that looks for what a criterion forbids.

    Attributes:
        rule: name of the criterion. year: of today, for ages that years tell.
    """

    kind = "published criterion"

    rule: str
    year: int

    @property
    def about(self) -> tuple[str, ...]:
        return (self.rule,)

    def compute(
        self, original: Microdata, schema: Schema, on_progress: OnProgress = silent
    ) -> tuple[Evidence, ...]:
        """Return columns, clauses and numbers of people, and no value."""
        frame = original.frame
        person = person_of(frame, schema.unit.id_column)
        return evidence(frame, Criterion.load(self.rule), person, year=self.year)


def figures_of(report: AuditReport) -> dict[str, float]:
    """Return the figures of an audit that criteria name."""
    return {
        "people": report.people,
        "k": report.risk.k,
        "uniques": report.risk.uniques,
        "highest": report.risk.highest,
        "average": report.risk.average,
        "linkable": max(each.uniques for each in report.sets),
        "revealed": max((each.homogeneous_people for each in report.secrets.values()), default=0.0),
    }
