"""What anonymizing a table would cost and leave: proposals, the frontier, one plan tried out. Internal."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpcore.anonymize.apply import chosen, recoded
from dpcore.anonymize.plan import Plan
from dpcore.anonymize.quality import Quality, quality, suppressed_classes
from dpcore.errors import InfeasibleError
from dpcore.evaluation.audit import visible_rows
from dpcore.evaluation.question import Evaluation
from dpcore.risk.disclosure import AttributeRisk, attribute_risk
from dpcore.risk.reidentification import ReidentificationRisk, reidentification_risk
from dpcore.schema.schema import Schema
from dpcore.tables.classes import BoolArray, IntArray, class_index, equivalence_classes, leaves_of
from dpcore.tables.rows import Microdata

THRESHOLD = 0.2
"""Risk above which a row counts as exposed: hidden among fewer than five."""


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
class Trial(Evaluation[TrialReport]):
    """The evaluation that tries a plan out, without publishing anything."""

    kind = "trial"

    plan: Plan

    @property
    def about(self) -> tuple[str, ...]:
        return (self.plan.method, *map(str, self.plan.models))

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
