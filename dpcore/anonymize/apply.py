"""From a plan and a table to what is published: the quasi-identifiers recoded, direct identifiers dropped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from dpcore.anonymize.fulldomain.grouper import Grouper
from dpcore.anonymize.fulldomain.lattice import Node
from dpcore.anonymize.fulldomain.search import search
from dpcore.anonymize.fulldomain.tuples import Sensitive, Tuples
from dpcore.anonymize.models import KAnonymity, SensitiveModel, violations
from dpcore.anonymize.partition.admission import Admission
from dpcore.anonymize.partition.microaggregation import microaggregate, published
from dpcore.anonymize.partition.mondrian import mondrian
from dpcore.anonymize.partition.recoding import local_recoding
from dpcore.anonymize.plan import Plan
from dpcore.anonymize.recoded import Recoded, full_domain
from dpcore.errors import InfeasibleError, ParameterError, SchemaError
from dpcore.tables.classes import BoolArray, FloatArray, IntArray, leaves_of


def apply(frame: pd.DataFrame, plan: Plan) -> pd.DataFrame:
    """The table that may be published: same index and order, without identifiers and the subset column.

    Suppressed rows have `*` in every quasi-identifier. Rows outside the subset are left out.

    Raises: SchemaError when the roles do not fit the table, InfeasibleError when the models cannot be met,
        and those of the method.
    """
    dropped = [name for name, role in plan.roles.items() if role == "identifier" or name == plan.subset]
    return recoded(frame, plan).frame(_published(frame, plan)).drop(columns=dropped)


def recoded(frame: pd.DataFrame, plan: Plan) -> Recoded:
    """What the plan publishes for the quasi-identifiers, in the form that every method shares.

    Raises: as `apply`.
    """
    if plan.method == "full-domain":
        return _full_domain(frame, plan if plan.node is not None else chosen(frame, plan))
    _check_table(frame, plan)
    rows = _published(frame, plan)
    columns = plan.quasi_identifiers
    if plan.method == "microaggregation":
        others = [str(model) for model in plan.models if not isinstance(model, KAnonymity)]
        if others:
            raise ParameterError(
                "microaggregation does not check {other}", remedy="take another method", other=others[0]
            )
        return published(rows, columns, microaggregate(rows, columns, k=_k(plan)).clusters)
    admission = _admission(rows, plan)
    if plan.method == "mondrian":
        return mondrian(rows, columns, admission=admission)
    return local_recoding(rows, {name: plan.hierarchies[name] for name in columns}, admission=admission)


def tuples(frame: pd.DataFrame, plan: Plan) -> Tuples:
    """The table as the distinct tuples that search and frontier work on.

    Raises: SchemaError when the roles do not fit the table, and as `Tuples.build`.
    """
    _check_table(frame, plan)
    columns = [model.column for model in plan.models if isinstance(model, SensitiveModel)]
    return Tuples.build(
        frame,
        {name: plan.hierarchies[name] for name in plan.quasi_identifiers},
        sensitive={name: plan.hierarchies.get(name) for name in columns},
        subset=_subset(frame, plan),
    )


def chosen(frame: pd.DataFrame, plan: Plan) -> Plan:
    """The plan with its optimal node filled in.

    Raises: InfeasibleError with the nearest feasible limit, LimitError when the lattice is too large.
    """
    found = search(tuples(frame, plan), plan.models, limit=plan.limit, metric=plan.metric)
    return replace(plan, node=dict(zip(plan.quasi_identifiers, found.node, strict=True)))


def _full_domain(frame: pd.DataFrame, plan: Plan) -> Recoded:
    levels = plan.node or {}
    if set(levels) != set(plan.quasi_identifiers):
        raise ParameterError(
            "the node must name every quasi-identifier", remedy="let the plan choose its node"
        )
    table = tuples(frame, plan)
    node = tuple(levels[name] for name in table.names)
    if any(not 0 <= level <= top for level, top in zip(node, table.lattice.top, strict=True)):
        raise ParameterError(
            "the node has a level that its hierarchy lacks", remedy="let the plan choose its node"
        )
    suppressed = _suppressed_rows(frame, table, plan, node)
    subset = _subset(frame, plan)
    return full_domain(
        _published(frame, plan),
        {name: plan.hierarchies[name] for name in table.names},
        levels,
        suppressed=suppressed if subset is None else suppressed[subset],
    )


def _suppressed_rows(frame: pd.DataFrame, table: Tuples, plan: Plan, node: Node) -> BoolArray:
    """Which rows of the frame a node suppresses, those that were suppressed before among them."""
    classes = Grouper(table).classes(node)
    marked = violations(plan.models, classes)
    rows = classes.sizes[marked]
    if not rows.all() or rows.sum() > plan.limit * table.rows:
        raise InfeasibleError(
            "the node does not meet the models while suppressing at most {limit:.1%} of the rows",
            remedy="let the plan choose its node, or raise the limit",
            limit=plan.limit,
        )
    known = classes.class_keys >> table.tail
    keys = table.generalize(table.row_keys(frame), (0,) * len(node), node) >> table.tail
    place = np.searchsorted(known, keys).clip(max=len(known) - 1)
    return np.asarray((known[place] != keys) | marked[place])


def _published(frame: pd.DataFrame, plan: Plan) -> pd.DataFrame:
    subset = _subset(frame, plan)
    return frame if subset is None else frame[subset]


def _subset(frame: pd.DataFrame, plan: Plan) -> BoolArray | None:
    if plan.subset is None:
        return None
    flags = frame[plan.subset]
    if not set(flags.unique()) <= {0, 1}:
        raise SchemaError(
            "the subset column {column} must hold true and false only",
            remedy="mark the rows to be published with true",
            column=plan.subset,
        )
    return np.asarray(flags, dtype=bool)


def _check_table(frame: pd.DataFrame, plan: Plan) -> None:
    for name in (*plan.roles, *([plan.subset] if plan.subset else [])):
        if name not in frame.columns:
            raise SchemaError("the table has no column {column}", remedy="check the names", column=name)
    for name in frame.columns:
        if name not in plan.roles and name != plan.subset:
            raise SchemaError(
                "the plan gives no role to {column}", remedy="give the column a role", column=name
            )
    if _k(plan) > len(_published(frame, plan)):
        raise InfeasibleError(
            "k ({k}) is above the number of rows", remedy="lower k, or bring more rows", k=_k(plan)
        )


def _k(plan: Plan) -> int:
    return max((model.k for model in plan.models if isinstance(model, KAnonymity)), default=1)


def _admission(rows: pd.DataFrame, plan: Plan) -> Admission:
    """What the local methods ask of a class: k, and the models on at most one sensitive column."""
    models = [model for model in plan.models if not isinstance(model, KAnonymity)]
    columns = sorted({model.column for model in models if isinstance(model, SensitiveModel)})
    if len(columns) > 1 or not all(isinstance(model, SensitiveModel) for model in models):
        raise ParameterError(
            "{method} checks k-anonymity and the models of one sensitive column only",
            remedy="take the full-domain method",
            method=plan.method,
        )
    if not models:
        return Admission(k=_k(plan))
    leaves = leaves_of(rows, columns[0])
    hierarchy = plan.hierarchies.get(columns[0])
    values = tuple(leaves.labels) if hierarchy is None else hierarchy.covering(rows[columns[0]]).values
    place = np.array([values.index(label) for label in leaves.labels])
    whole = np.bincount(place[leaves.codes], minlength=len(values))
    secret = Sensitive(values=values, hierarchy=hierarchy, shift=0, mask=0, counts=whole)

    def admissible(sizes: IntArray, histograms: IntArray) -> BoolArray:
        counts = np.zeros((len(values), len(sizes)))
        counts[place[: histograms.shape[1]]] = histograms.T
        return ~violations(models, _Counted(sizes, counts, {columns[0]: secret}))

    return Admission(k=_k(plan), admissible=admissible, sensitive=columns[0])


@dataclass(frozen=True, eq=False)
class _Counted:
    """Classes that a local method has counted, as a privacy model wants to see them."""

    sizes: IntArray
    counts: FloatArray
    sensitive: Mapping[str, Sensitive]

    @property
    def population(self) -> IntArray:
        return self.sizes

    def histogram(self, column: str) -> FloatArray:
        return self.counts
