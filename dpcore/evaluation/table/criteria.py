"""Search for the columns that the clauses of a published criterion refer to.

Internal.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpcore.evaluation.base import RowsEvaluation
from dpcore.evaluation.table.audit import AuditReport
from dpcore.progress import OnProgress, ignore_stage_progress
from dpcore.risk.criteria import CellTest, Criterion, Evidence
from dpcore.risk.identifiers import find_identifiers
from dpcore.schema.schema import Schema
from dpcore.tables.classes import leaves_of
from dpcore.tables.people import max_per_person, person_codes
from dpcore.tables.rows import Microdata


@dataclass(frozen=True, kw_only=True)
class EvidenceQuestion(RowsEvaluation[tuple[Evidence, ...]]):
    """Evaluation that finds the columns a published criterion refers to.

    Attributes:
        criterion: name of the criterion. year: of today, for ages that years tell.
    """

    kind = "published criterion"

    criterion: str
    year: int

    @property
    def ledger_names(self) -> tuple[str, ...]:
        return (self.criterion,)

    def compute(
        self,
        original: Microdata,
        schema: Schema,
        on_progress: OnProgress = ignore_stage_progress,
    ) -> tuple[Evidence, ...]:
        """Return the columns with cells that a clause's tests match.

        Raises: ParameterError for an unknown criterion; SchemaError for a table without
            rows.
        """
        frame = original.frame
        seen = []
        person = person_codes(frame, schema.unit.id_column)
        kinds = {
            identifier.column: identifier.kind for identifier in find_identifiers(frame)
        }
        tests = {
            clause.id: [CellTest(**test) for test in clause.tests]
            for clause in Criterion.load(self.criterion).clauses
        }
        for column in frame.columns:
            leaves = leaves_of(frame, column)
            has_numbers = pd.api.types.is_numeric_dtype(frame[column])
            for clause, of_clause in tests.items():
                own = [
                    test
                    for test in of_clause
                    if test.applies_to(column, kinds.get(column, ""), has_numbers)
                ]
                cells = np.array(
                    [
                        any(test.offends(text, self.year) for test in own)
                        for text in leaves.labels
                    ],
                )
                if people := int(max_per_person(cells[leaves.codes], person).sum()):
                    seen.append(Evidence(clause=clause, column=column, people=people))
        return tuple(seen)


def criterion_figures(report: AuditReport) -> dict[str, float]:
    """Return the audit figures that criteria refer to by name."""
    return {
        "people": report.people,
        **{
            name: getattr(report.risk, name)
            for name in ("k", "uniques", "highest", "average")
        },
        "linkable": max(column_set.uniques for column_set in report.column_sets),
        "revealed": max(
            (secret.homogeneous_people for secret in report.secrets.values()),
            default=0.0,
        ),
    }
