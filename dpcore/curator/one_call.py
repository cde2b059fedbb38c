"""Audit, anonymize or evaluate a table in one call, for scripts of its owner.

The results read the rows and are for their owner alone. They leave no line in a ledger:
where charges and notes are to be kept, open the table with a `Curator`.
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from dpcore.accounting.loss import PureDP
from dpcore.accounting.memory import MemoryLedger
from dpcore.anonymization.plan import Plan
from dpcore.curator.curator import Curator
from dpcore.evaluation.table.audit import AuditQuestion, AuditReport
from dpcore.evaluation.utility.similarity import SimilarityQuestion, SimilarityReport
from dpcore.release import AnonymizedTable, Release
from dpcore.risk.roles import suggest_roles
from dpcore.schema.column import Categorical
from dpcore.schema.schema import Schema
from dpcore.schema.table import normalize_table
from dpcore.schema.unit import PrivacyUnit
from dpcore.tables.rows import PublicTable


def audit(
    table: pd.DataFrame,
    *,
    known: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    id_column: str | None = None,
    population: int | None = None,
) -> AuditReport:
    """Measure how re-identifiable the people of a table are.

    Args:
        table: the rows.
        known: columns that others may know; proposed from the table if left out.
        sensitive: columns that should stay unknown; proposed if left out.
        id_column: names the person of each row, if people have several.
        population: number of people that the table was drawn from, if known.

    Raises:
        SchemaError: for an unknown column.
        ParameterError: if no column is known to others.

    >>> import pandas as pd
    >>> people = pd.DataFrame({"age": [30, 30, 41], "sex": ["F", "F", "M"]})
    >>> audit(people, known=["age", "sex"]).risk.k
    1
    """
    curator = _open(table, id_column)
    question = AuditQuestion.of(
        tuple(suggest_roles(table)),
        curator.schema,
        known=known,
        sensitive=sensitive,
        population=population,
    )
    return curator.evaluate(question).content


def anonymize(
    table: pd.DataFrame, plan: Plan, *, id_column: str | None = None
) -> AnonymizedTable:
    """Generalize and suppress a table by a plan, outside differential privacy.

    Args:
        table: the rows.
        plan: roles of the columns, hierarchies, and what every group must meet.
        id_column: names the person of each row; groups then count people.

    Returns: the table, with the models that hold in it.

    Raises:
        InfeasibleError: if no table meets the plan.
        SchemaError: if plan and table do not fit.
    """
    return _open(table, id_column).anonymize(plan)


def evaluate(
    release: Release, table: pd.DataFrame, *, rows: int | None = None
) -> SimilarityReport:
    """Compare rows drawn from a release with the table that it was made from.

    Args:
        release: of this table.
        table: the original rows.
        rows: number of rows to draw; as many as the noisy counts say if left out.

    Raises:
        SchemaError: if the table does not fit the schema of the release.
    """
    curator = Curator.open(
        table, release.schema, budget=PureDP(epsilon=1), ledger=MemoryLedger()
    )
    drawn = PublicTable(release.sample(rows))
    return curator.evaluate(SimilarityQuestion(table=drawn)).content


def _open(table: pd.DataFrame, id_column: str | None) -> Curator:
    """Open a table under a schema without facts about its values."""
    table = normalize_table(table)
    names = [name for name in table.columns if name != id_column]
    nothing = Categorical(
        name=names[0] if names else "", categories=("any",), other=True, missing=True
    )
    schema = Schema(
        columns=(nothing,), unit=PrivacyUnit(max_rows=1, id_column=id_column)
    )
    return Curator.open(table, schema, budget=PureDP(epsilon=1), ledger=MemoryLedger())
