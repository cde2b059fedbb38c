"""Proposals for roles and hierarchies, and previews of a search under a plan."""

import contextlib
import dataclasses
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpcore.anonymization.apply import carry_out
from dpcore.anonymization.fulldomain.frontier import Frontier, FrontierPoint
from dpcore.anonymization.fulldomain.metrics import InformationLoss
from dpcore.anonymization.fulldomain.neighbors import Neighbor, measure_neighbors
from dpcore.anonymization.fulldomain.search import find_optimal_node
from dpcore.anonymization.fulldomain.size import Prediction, measure_pass, predict_pass
from dpcore.anonymization.fulldomain.tuples import Tuples
from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.anonymization.hierarchies.suggest import suggest_together
from dpcore.anonymization.inputs import Inputs
from dpcore.anonymization.levels import build_tuples, read_distinct
from dpcore.anonymization.models import KAnonymity, PrivacyModel
from dpcore.anonymization.plan import Plan
from dpcore.errors import InfeasibleError, LimitError
from dpcore.evaluation.base import Evaluation, OriginalTable, Result
from dpcore.evaluation.first_rows import FIRST_ROWS
from dpcore.progress import OnProgress, ignore_stage_progress
from dpcore.risk.roles import SuggestedRole, suggest_roles
from dpcore.schema.schema import Schema
from dpcore.tables.people import person_codes, select_one_row_per_person
from dpcore.tables.rows import DistinctRows, Microdata

PROPORTIONAL_ROWS = 50_000
"""Rows that stand for a table that does not fit, if only shares of values matter."""


@dataclass(frozen=True, kw_only=True)
class RolesQuestion(Evaluation[Microdata, tuple[SuggestedRole, ...]]):
    """Evaluation that proposes a role for every column."""

    kind = "proposed roles"

    def read(self, table: OriginalTable, schema: Schema) -> Microdata:
        """Return all rows, or the first ones if not all fit.

        These are enough, as a person confirms the roles.
        """
        return table.rows() if table.in_memory else table.sample(FIRST_ROWS)

    def compute(
        self,
        original: Microdata,
        schema: Schema,
        on_progress: OnProgress = ignore_stage_progress,
    ) -> tuple[SuggestedRole, ...]:
        """Return the proposals, in the order of the table."""
        return suggest_roles(original.frame)


@dataclass(frozen=True, kw_only=True)
class HierarchiesQuestion(Evaluation[Microdata, dict[str, Hierarchy]]):
    """Evaluation that proposes a generalization hierarchy for each of `columns`."""

    kind = "proposed hierarchies"

    columns: tuple[str, ...]

    @property
    def ledger_names(self) -> tuple[str, ...]:
        return self.columns

    def read(self, table: OriginalTable, schema: Schema) -> Microdata:
        """Return the rows, or each column's values in proportion to their frequency.

        The latter if the rows do not fit.
        """
        if table.in_memory:
            return table.rows()
        return _make_proportional_rows([table.tuples([name]) for name in self.columns])

    def compute(
        self,
        original: Microdata,
        schema: Schema,
        on_progress: OnProgress = ignore_stage_progress,
    ) -> dict[str, Hierarchy]:
        """Return one hierarchy per column, with its reason."""
        return suggest_together(original.frame, self.columns)


@dataclass(frozen=True, kw_only=True)
class _SearchQuestion(Evaluation[Microdata, Result]):
    """Base class of evaluations that read the rows needed by a plan's search."""

    plan: Plan

    @property
    def ledger_names(self) -> tuple[str, ...]:
        return self.plan.quasi_identifiers

    def read(self, table: OriginalTable, schema: Schema) -> Microdata:
        """Return the rows, or the distinct tuples and their owners.

        The latter if the rows do not fit.
        """
        return _read_search_rows(table, self.plan, schema)


@dataclass(frozen=True, kw_only=True)
class SearchSizeQuestion(_SearchQuestion[Prediction]):
    """Evaluation that predicts the size of a plan's full-domain search."""

    kind = "search size"

    def compute(
        self,
        original: Microdata,
        schema: Schema,
        on_progress: OnProgress = ignore_stage_progress,
    ) -> Prediction:
        """Return the predicted size; the time is infinite if rows differ too much."""
        try:
            table = build_tuples(
                Inputs.from_table(
                    original, self.plan.with_person_column(schema.unit.id_column)
                )
            )
            return measure_pass(table, self.plan.models)
        except LimitError:
            hierarchies = (
                self.plan.hierarchies[name] for name in self.plan.quasi_identifiers
            )
            return dataclasses.replace(
                predict_pass(hierarchies, len(original.frame)),
                seconds=math.inf,
                reference_seconds=math.inf,
            )


@dataclass(frozen=True, kw_only=True)
class FrontierQuestion(_SearchQuestion[tuple[FrontierPoint, ...]]):
    """Evaluation of one plan for several values of k and suppression limits.

    The plan's other choices stay.

    Attributes:
        limits: with several, one pass over all combinations of levels answers all; with
            one, each k is a search of its own, which tries fewer combinations. Other
            methods take the limit of the plan.
    """

    kind = "frontier"

    ks: tuple[int, ...]
    limits: tuple[float, ...] = ()

    @property
    def ledger_names(self) -> tuple[str, ...]:
        return (self.plan.method.kind, *self.plan.quasi_identifiers)

    def compute(
        self,
        original: Microdata,
        schema: Schema,
        on_progress: OnProgress = ignore_stage_progress,
    ) -> tuple[FrontierPoint, ...]:
        """Return the feasible points, with all losses on the same scale.

        Raises: LimitError if it would take too long; errors of the plan.
        """
        plan = self.plan.with_person_column(schema.unit.id_column)
        frame = original.frame
        others = tuple(
            model for model in plan.models if not isinstance(model, KAnonymity)
        )
        if isinstance(original, DistinctRows):
            people = int(
                (
                    original.rows if original.owners is None else original.owners.people
                ).sum()
            )
        else:
            person = person_codes(frame, plan.unit_column)
            people = len(
                select_one_row_per_person(np.zeros(len(frame), dtype=np.int64), person)
            )
        ks = [k for k in self.ks if k <= people]
        if not ks:
            return ()
        models = {k: (KAnonymity(k=k), *others) for k in ks}
        if not plan.method.searches:
            return tuple(_local_points(frame, plan, models))
        table = build_tuples(Inputs.from_table(original, plan))
        if len(self.limits) > 1:
            whole = Frontier(table, ks, others, on_progress=on_progress)
            return tuple(whole.find_points(self.limits, [plan.metric]))
        return tuple(_search_points(table, plan, models, self.limits, on_progress))


@dataclass(frozen=True, kw_only=True)
class NeighborsQuestion(_SearchQuestion[tuple[Neighbor, ...]]):
    """Evaluation of a plan's node, and of all nodes one step away from it."""

    kind = "neighbors"

    def compute(
        self,
        original: Microdata,
        schema: Schema,
        on_progress: OnProgress = ignore_stage_progress,
    ) -> tuple[Neighbor, ...]:
        """Return the plan's node, followed by its neighbors.

        Raises: the errors of a plan.
        """
        plan = self.plan.with_person_column(schema.unit.id_column)
        table = build_tuples(Inputs.from_table(original, plan))
        levels = dict(plan.node or {})
        node = tuple(levels[name] for name in table.names)
        return measure_neighbors(
            table, node, plan.models, limit=plan.limit, metric=plan.metric
        )


def _make_proportional_rows(columns: Sequence[DistinctRows]) -> Microdata:
    """Return invented rows in which each column has the shares of its values.

    No row is one of the table's.
    """
    whole = max(PROPORTIONAL_ROWS, *(len(column.rows) for column in columns))
    frames = []
    for column in columns:
        times = np.maximum(1, column.rows * PROPORTIONAL_ROWS // column.rows.sum())
        times[column.rows.argmax()] += whole - times.sum()
        values = column.frame.loc[
            np.repeat(np.arange(len(times)), np.maximum(times, 1))
        ]
        frames.append(values.iloc[:whole].reset_index(drop=True))
    return Microdata(pd.concat(frames, axis=1))


def _read_search_rows(table: OriginalTable, plan: Plan, schema: Schema) -> Microdata:
    if table.in_memory or not plan.method.searches:
        return table.rows()
    return read_distinct(table.tuples, plan.with_person_column(schema.unit.id_column))


def _local_points(
    frame: pd.DataFrame,
    plan: Plan,
    models: Mapping[int, tuple[PrivacyModel, ...]],
) -> Iterator[FrontierPoint]:
    for k, model in models.items():
        with contextlib.suppress(InfeasibleError):
            report = carry_out(
                frame, dataclasses.replace(plan, models=model, randomized={})
            ).quality
            yield FrontierPoint(
                k=k,
                limit=plan.limit,
                metric=InformationLoss(),
                node=(),
                score=report.loss,
                suppressed_rows=0,
                suppressed_people=0,
                published_classes=report.classes,
            )


def _search_points(
    table: Tuples,
    plan: Plan,
    models: Mapping[int, tuple[PrivacyModel, ...]],
    limits: Sequence[float],
    on_progress: OnProgress,
) -> Iterator[FrontierPoint]:
    for (k, model), limit in itertools.product(models.items(), limits):
        with contextlib.suppress(InfeasibleError):
            best = find_optimal_node(
                table, model, limit=limit, metric=plan.metric, on_progress=on_progress
            )
            yield FrontierPoint(k=k, limit=limit, metric=plan.metric, **vars(best))


def default_plan(
    roles: Mapping[str, str],
    hierarchies: Mapping[str, Hierarchy],
    *,
    k: int = 5,
    limit: float = 0.02,
) -> Plan:
    """Return a k-anonymity plan with least information loss for confirmed roles."""
    return Plan(
        roles=dict(roles),  # type: ignore[arg-type]
        hierarchies=dict(hierarchies),
        models=(KAnonymity(k=k),),
        limit=limit,
        metric=InformationLoss(),
    )
