"""What anonymizing a table would take: proposed roles and hierarchies, the size of a search, the frontier."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpcore.anonymize.apply import recoded
from dpcore.anonymize.fulldomain.frontier import Frontier, Point
from dpcore.anonymize.fulldomain.metrics import InformationLoss
from dpcore.anonymize.fulldomain.search import search
from dpcore.anonymize.fulldomain.size import Prediction, predict, tried
from dpcore.anonymize.fulldomain.tuples import Tuples
from dpcore.anonymize.hierarchies.hierarchy import Hierarchy
from dpcore.anonymize.hierarchies.suggest import suggest_together
from dpcore.anonymize.levels import tuples
from dpcore.anonymize.models import KAnonymity, PrivacyModel
from dpcore.anonymize.plan import Plan
from dpcore.anonymize.quality import quality
from dpcore.errors import InfeasibleError, LimitError
from dpcore.evaluation.question import Evaluation
from dpcore.risk.roles import SuggestedRole, suggest_roles
from dpcore.schema.schema import Schema
from dpcore.tables.people import once_each, person_of
from dpcore.tables.rows import Microdata


@dataclass(frozen=True, kw_only=True)
class RolesOf(Evaluation[tuple[SuggestedRole, ...]]):
    """The evaluation that proposes a role for every column."""

    kind = "proposed roles"

    def compute(self, original: Microdata, schema: Schema) -> tuple[SuggestedRole, ...]:
        """The proposals, in the order of the table."""
        return suggest_roles(original.frame)


@dataclass(frozen=True, kw_only=True)
class HierarchiesOf(Evaluation[dict[str, Hierarchy]]):
    """The evaluation that proposes a generalization hierarchy for each of `columns`."""

    kind = "proposed hierarchies"

    columns: tuple[str, ...]

    @property
    def about(self) -> tuple[str, ...]:
        return self.columns

    def compute(self, original: Microdata, schema: Schema) -> dict[str, Hierarchy]:
        """One hierarchy per column, with its reason."""
        return suggest_together(original.frame, self.columns)


@dataclass(frozen=True, kw_only=True)
class SizeOf(Evaluation[Prediction]):
    """The evaluation that tells how large full-domain search would be, before it runs."""

    kind = "search size"

    plan: Plan

    @property
    def about(self) -> tuple[str, ...]:
        return self.plan.quasi_identifiers

    def compute(self, original: Microdata, schema: Schema) -> Prediction:
        """The size; infinitely many seconds where the columns have too many values together."""
        names = self.plan.quasi_identifiers
        try:
            table = tuples(original.frame, self.plan.counting(schema.unit.id_column))
            return tried(table, self.plan.models)
        except LimitError:
            hierarchies = (self.plan.hierarchies[name] for name in names)
            return dataclasses.replace(predict(hierarchies, len(original.frame)), seconds=math.inf)


@dataclass(frozen=True, kw_only=True)
class FrontierOf(Evaluation[tuple[Point, ...]]):
    """The evaluation that answers every k and suppression limit at once, for one plan's other choices.

    Attributes:
        limits: with several of them, one pass over all combinations of levels answers all; with one, each k
            is a search of its own, which looks at fewer. Mondrian suppresses nothing and needs none.
    """

    kind = "frontier"

    plan: Plan
    ks: tuple[int, ...]
    limits: tuple[float, ...] = ()

    @property
    def about(self) -> tuple[str, ...]:
        return (self.plan.method.name, *self.plan.quasi_identifiers)

    def compute(self, original: Microdata, schema: Schema) -> tuple[Point, ...]:
        """The points that are feasible, all with the loss of the same scale.

        Raises: LimitError when it would take too long; errors of the plan.
        """
        plan, frame = self.plan.counting(schema.unit.id_column), original.frame
        others = tuple(model for model in plan.models if not isinstance(model, KAnonymity))
        person = person_of(frame, plan.person)
        ks = [k for k in self.ks if k <= len(once_each(np.zeros(len(frame), dtype=np.int64), person))]
        if not ks:
            return ()
        if not plan.method.searches:
            points = (_local_point(frame, plan, k, others) for k in ks)
        elif len(self.limits) > 1:
            return tuple(Frontier(tuples(frame, plan), ks, others).points(self.limits, [plan.metric]))
        else:
            table = tuples(frame, plan)
            points = (_searched_point(table, plan, k, others, limit) for k in ks for limit in self.limits)
        return tuple(point for point in points if point is not None)


def _local_point(frame: pd.DataFrame, plan: Plan, k: int, others: tuple[PrivacyModel, ...]) -> Point | None:
    try:
        asked = dataclasses.replace(plan, models=(KAnonymity(k=k), *others))
        found = quality(recoded(frame, asked), person_of(frame, plan.person))
    except InfeasibleError:
        return None
    return Point(
        k=k,
        limit=0.0,
        metric=InformationLoss(),
        node=(),
        score=found.loss,
        suppressed=0,
        people=0,
        classes=found.classes,
    )


def _searched_point(
    table: Tuples, plan: Plan, k: int, others: tuple[PrivacyModel, ...], limit: float
) -> Point | None:
    try:
        found = search(table, (KAnonymity(k=k), *others), limit=limit, metric=plan.metric)
    except InfeasibleError:
        return None
    return Point(
        k=k,
        limit=limit,
        metric=plan.metric,
        node=found.node,
        score=found.score,
        suppressed=found.suppressed,
        people=found.people,
        classes=found.classes,
    )


def default_plan(
    roles: Mapping[str, str], hierarchies: Mapping[str, Hierarchy], *, k: int = 5, limit: float = 0.02
) -> Plan:
    """k-anonymity at least loss, for confirmed roles: the result that needs no reading."""
    return Plan(
        roles=dict(roles),  # type: ignore[arg-type]
        hierarchies=dict(hierarchies),
        models=(KAnonymity(k=k),),
        limit=limit,
        metric=InformationLoss(),
    )
