"""What anonymizing a table would cost and leave: proposals, the frontier, one plan tried out. Internal."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpcore.anonymize.apply import chosen, recoded, tuples
from dpcore.anonymize.disclosure import AttributeRisk, attribute_risk
from dpcore.anonymize.encoding import IntArray, class_index, equivalence_classes, leaves_of
from dpcore.anonymize.frontier import Frontier, Point
from dpcore.anonymize.hierarchy import Hierarchy
from dpcore.anonymize.metrics import Loss
from dpcore.anonymize.models import KAnonymity
from dpcore.anonymize.plan import Plan
from dpcore.anonymize.quality import Quality, quality, suppressed_classes
from dpcore.anonymize.risk import ReidentificationRisk, reidentification_risk
from dpcore.anonymize.roles import SuggestedRole, suggest_roles
from dpcore.anonymize.size import Prediction, predict
from dpcore.anonymize.suggest import suggest
from dpcore.errors import LimitError
from dpcore.schema.schema import Schema
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
class Choices:
    """The frontier of one set of roles, hierarchies and models.

    Attributes:
        points: the best node for every k and limit that has one.
        prediction: size of the lattice, and roughly the seconds of one pass.
    """

    points: tuple[Point, ...]
    prediction: Prediction


@dataclass(frozen=True, kw_only=True)
class FrontierOf:
    """The evaluation that answers every k and suppression limit at once, for one plan's other choices.

    Attributes:
        most_seconds: refuse with LimitError when one pass would take longer.
    """

    plan: Plan
    ks: tuple[int, ...]
    limits: tuple[float, ...]
    most_seconds: float

    @property
    def title(self) -> str:
        """What it answers, for the ledger."""
        return f"anonymization frontier of {', '.join(self.plan.quasi_identifiers)}"

    def compute(self, original: Microdata, schema: Schema) -> Choices:
        """The points. Raises: LimitError when it would take too long; errors of the plan."""
        table = tuples(original.frame, self.plan)
        prediction = predict(table.hierarchies, len(table.keys))
        if prediction.seconds > self.most_seconds:
            raise LimitError(
                f"{prediction.nodes:,} combinations of levels would take about {prediction.seconds:.0f} s",
                remedy="take local recoding, fewer columns or fewer levels",
                nodes=prediction.nodes,
                seconds=prediction.seconds,
            )
        others = [model for model in self.plan.models if not isinstance(model, KAnonymity)]
        ks = [k for k in self.ks if k <= table.rows]
        points = Frontier(table, ks, others).points(self.limits, [self.plan.metric])
        return Choices(points=tuple(points), prediction=prediction)


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
    """

    plan: Plan
    before: Side
    after: Side
    quality: Quality


@dataclass(frozen=True, kw_only=True)
class Trial:
    """The evaluation that tries a plan out, without publishing anything."""

    plan: Plan

    @property
    def title(self) -> str:
        """What it answers, for the ledger."""
        return f"trial of {self.plan.method} with {', '.join(map(str, self.plan.models))}"

    def compute(self, original: Microdata, schema: Schema) -> TrialReport:
        """Both sides. Raises: InfeasibleError and the other errors of a plan."""
        frame, plan = original.frame, self.plan
        if plan.method == "full-domain" and plan.node is None:
            plan = chosen(frame, plan)
        published = recoded(frame, plan)
        kept = ~suppressed_classes(published)[published.classes]
        raw = equivalence_classes(frame, plan.quasi_identifiers)
        everyone = np.ones(len(frame), dtype=bool)
        return TrialReport(
            plan=plan,
            before=_side(frame, plan, schema, raw, everyone),
            after=_side(frame, plan, schema, published.classes, kept),
            quality=quality(published),
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


def with_method(plan: Plan, method: str) -> Plan:
    """The same demands by another method."""
    return dataclasses.replace(plan, method=method, node=None)  # type: ignore[arg-type]


def _side(
    frame: pd.DataFrame,
    plan: Plan,
    schema: Schema,
    classes: IntArray,
    kept: np.ndarray[tuple[int], np.dtype[np.bool_]],
) -> Side:
    rows = frame[kept]
    own = class_index([classes[kept]]) if kept.any() else np.zeros(1, dtype=np.int64)
    others = [name for name, role in plan.roles.items() if role == "insensitive"]
    sensitive = [name for name, role in plan.roles.items() if role == "sensitive"]
    known = class_index([own, *(leaves_of(rows, name).codes for name in others)]) if kept.any() else own
    person = schema.unit.id_column
    return Side(
        risk=reidentification_risk(own, threshold=THRESHOLD),
        people=_fewest_people(own, rows[person]) if person and kept.any() else None,
        secrets={name: attribute_risk(own, leaves_of(rows, name).codes) for name in sensitive}
        if kept.any()
        else {},
        class_sizes=np.bincount(own),
        with_others=float((np.bincount(known) == 1).sum() / max(1, len(known))),
    )


def _fewest_people(classes: IntArray, people: Sequence[object] | pd.Series) -> int:
    pairs = pd.DataFrame({"group": classes, "person": pd.factorize(pd.Series(people))[0]})
    return int(pairs.drop_duplicates().groupby("group").size().min())
