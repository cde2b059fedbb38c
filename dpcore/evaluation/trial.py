"""What anonymizing a table would cost and leave: proposals, the frontier, one plan tried out. Internal."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpcore.anonymize.apply import chosen, recoded, tuples
from dpcore.anonymize.fulldomain.frontier import Frontier, Point
from dpcore.anonymize.fulldomain.metrics import Loss
from dpcore.anonymize.fulldomain.search import search
from dpcore.anonymize.fulldomain.size import Prediction, predict
from dpcore.anonymize.fulldomain.tuples import Tuples
from dpcore.anonymize.hierarchies.hierarchy import Hierarchy
from dpcore.anonymize.hierarchies.suggest import suggest
from dpcore.anonymize.models import KAnonymity, Model
from dpcore.anonymize.plan import Plan
from dpcore.anonymize.quality import Quality, quality, suppressed_classes
from dpcore.errors import InfeasibleError, LimitError
from dpcore.evaluation.audit import visible_rows
from dpcore.risk.disclosure import AttributeRisk, attribute_risk
from dpcore.risk.reidentification import ReidentificationRisk, reidentification_risk
from dpcore.risk.roles import SuggestedRole, suggest_roles
from dpcore.schema.schema import Schema
from dpcore.tables.classes import BoolArray, IntArray, class_index, equivalence_classes, leaves_of
from dpcore.tables.rows import Microdata

THRESHOLD = 0.2
"""Risk above which a row counts as exposed: hidden among fewer than five."""


@dataclass(frozen=True, kw_only=True)
class SuggestedRoles:
    """The evaluation that proposes a role for every column."""

    title = "proposed roles of the columns"

    def compute(self, original: Microdata, schema: Schema) -> tuple[SuggestedRole, ...]:
        """The proposals, in the order of the table."""
        return suggest_roles(original.frame)


@dataclass(frozen=True, kw_only=True)
class SuggestedHierarchies:
    """The evaluation that proposes a generalization hierarchy for each of `columns`."""

    columns: tuple[str, ...]

    @property
    def title(self) -> str:
        """What it answers, for the ledger."""
        return f"proposed hierarchies of {', '.join(self.columns)}"

    def compute(self, original: Microdata, schema: Schema) -> dict[str, Hierarchy]:
        """One hierarchy a column, with its reason."""
        return {name: suggest(original.frame[name]) for name in self.columns}


@dataclass(frozen=True, kw_only=True)
class SizeOf:
    """The evaluation that tells how large full-domain search would be, before it runs."""

    plan: Plan

    @property
    def title(self) -> str:
        """What it answers, for the ledger."""
        return f"size of the search over {', '.join(self.plan.quasi_identifiers)}"

    def compute(self, original: Microdata, schema: Schema) -> Prediction:
        """The size; infinitely many seconds where the columns have too many values together."""
        names = self.plan.quasi_identifiers
        prediction = predict(
            (self.plan.hierarchies[name] for name in names),
            int(equivalence_classes(original.frame, names).max()) + 1,
        )
        try:
            tuples(original.frame, self.plan)
        except LimitError:
            return dataclasses.replace(prediction, seconds=math.inf)
        return prediction


@dataclass(frozen=True, kw_only=True)
class FrontierOf:
    """The evaluation that answers every k and suppression limit at once, for one plan's other choices.

    Attributes:
        limits: with several of them, one pass over all combinations of levels answers all; with one, each k
            is a search of its own, which looks at fewer. Mondrian suppresses nothing and needs none.
    """

    plan: Plan
    ks: tuple[int, ...]
    limits: tuple[float, ...] = ()

    @property
    def title(self) -> str:
        """What it answers, for the ledger."""
        return f"anonymization frontier of {', '.join(self.plan.quasi_identifiers)} by {self.plan.method}"

    def compute(self, original: Microdata, schema: Schema) -> tuple[Point, ...]:
        """The points that are feasible, all with the loss of the same scale.

        Raises: LimitError when it would take too long; errors of the plan.
        """
        plan, frame = self.plan, original.frame
        others = tuple(model for model in plan.models if not isinstance(model, KAnonymity))
        ks = [k for k in self.ks if k <= len(frame)]
        if not ks:
            return ()
        if plan.method != "full-domain":
            points = (_local_point(frame, plan, k, others) for k in ks)
        elif len(self.limits) > 1:
            return tuple(Frontier(tuples(frame, plan), ks, others).points(self.limits, [plan.metric]))
        else:
            table = tuples(frame, plan)
            points = (_searched_point(table, plan, k, others, limit) for k in ks for limit in self.limits)
        return tuple(point for point in points if point is not None)


def _local_point(frame: pd.DataFrame, plan: Plan, k: int, others: tuple[Model, ...]) -> Point | None:
    try:
        found = quality(recoded(frame, dataclasses.replace(plan, models=(KAnonymity(k=k), *others))))
    except InfeasibleError:
        return None
    return Point(
        k=k, limit=0.0, metric=Loss(), node=(), score=found.loss, suppressed=0, classes=found.classes
    )


def _searched_point(
    table: Tuples, plan: Plan, k: int, others: tuple[Model, ...], limit: float
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
        classes=found.classes,
    )


@dataclass(frozen=True, kw_only=True)
class Side:
    """One side of before and after.

    Attributes:
        risk: re-identification by the quasi-identifiers as they stand; suppressed rows left out.
        people: persons of the smallest group, where the schema names persons.
        secrets: sensitive column -> what the groups give away.
        class_sizes: rows of each group, one entry a group.
        with_others: share of rows that become unique once the insensitive columns are known too.
    """

    risk: ReidentificationRisk
    people: int | None
    secrets: Mapping[str, AttributeRisk]
    class_sizes: IntArray
    with_others: float


@dataclass(frozen=True, kw_only=True)
class TrialReport:
    """A plan tried out: before, after, and what it lost.

    Attributes:
        plan: with its node filled in.
        seconds: CPU time that making the table took.
    """

    plan: Plan
    before: Side
    after: Side
    quality: Quality
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Trial:
    """The evaluation that tries a plan out, without publishing anything."""

    plan: Plan

    @property
    def title(self) -> str:
        """What it answers, for the ledger."""
        return f"trial of {self.plan.method} with {', '.join(map(str, self.plan.models))}"

    def compute(self, original: Microdata, schema: Schema) -> TrialReport:
        """Both sides; rows that are suppressed, before or after, are left out of each.

        Raises: InfeasibleError, also when nothing would be left; the other errors of a plan.
        """
        frame, plan = original.frame, self.plan
        visible = visible_rows(frame, plan.quasi_identifiers)
        start = time.thread_time()
        if plan.method == "full-domain" and plan.node is None:
            plan = chosen(frame, plan)
        published = recoded(frame, plan)
        seconds = time.thread_time() - start
        kept = ~suppressed_classes(published)[published.classes]
        if not kept.any():
            raise InfeasibleError(
                "these demands suppress every row", remedy="lower k, ask for less, or take another method"
            )
        raw = equivalence_classes(frame, plan.quasi_identifiers)
        return TrialReport(
            plan=plan,
            before=_side(frame, plan, schema, raw, visible),
            after=_side(frame, plan, schema, published.classes, kept),
            quality=quality(published),
            seconds=seconds,
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
        metric=Loss(),
    )


def _side(frame: pd.DataFrame, plan: Plan, schema: Schema, classes: IntArray, kept: BoolArray) -> Side:
    rows, own = frame[kept], class_index([classes[kept]])
    others = [name for name, role in plan.roles.items() if role == "insensitive"]
    sensitive = [name for name, role in plan.roles.items() if role == "sensitive"]
    known = class_index([own, *(leaves_of(rows, name).codes for name in others)])
    person = schema.unit.id_column
    return Side(
        risk=reidentification_risk(own, threshold=THRESHOLD),
        people=_fewest_people(own, rows[person]) if person else None,
        secrets={name: attribute_risk(own, leaves_of(rows, name).codes) for name in sensitive},
        class_sizes=np.bincount(own),
        with_others=float((np.bincount(known) == 1).sum() / len(known)),
    )


def _fewest_people(classes: IntArray, people: Sequence[object] | pd.Series) -> int:
    pairs = pd.DataFrame({"group": classes, "person": pd.factorize(pd.Series(people))[0]})
    return int(pairs.drop_duplicates().groupby("group").size().min())
