"""The levels of a plan: chosen where it has none, checked against the table, carried out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpcore.anonymize.choices import Choices, Chosen
from dpcore.anonymize.fulldomain.grouper import Grouper
from dpcore.anonymize.fulldomain.lattice import Node
from dpcore.anonymize.fulldomain.search import search
from dpcore.anonymize.fulldomain.tuples import Tuples
from dpcore.anonymize.inputs import check_households, check_table, secrets_of, subset_of
from dpcore.anonymize.models import violations
from dpcore.anonymize.recoded import Recoded, full_domain
from dpcore.anonymize.thresholds import most_within
from dpcore.errors import InfeasibleError, ParameterError
from dpcore.progress import OnProgress, silent
from dpcore.tables.classes import BoolArray, IntArray
from dpcore.tables.rows import DistinctRows


def tuples(frame: pd.DataFrame, plan: Choices) -> Tuples:
    """The table as the distinct tuples that search and frontier work on.

    Raises: SchemaError when the roles do not fit the table, and as `Tuples.build`.
    """
    check_table(frame, plan, suppresses=True)
    return Tuples.build(
        frame,
        {name: plan.hierarchies[name] for name in plan.quasi_identifiers},
        sensitive=secrets_of(plan),
        subset=subset_of(frame, plan),
        person=plan.counted,
    )


def counted(distinct: DistinctRows, plan: Choices) -> Tuples:
    """The same, of a table that stays where it is, from its distinct tuples and those who hold them."""
    return Tuples.build(
        distinct.frame,
        {name: plan.hierarchies[name] for name in plan.quasi_identifiers},
        sensitive=secrets_of(plan),
        subset=subset_of(distinct.frame, plan),
        rows=distinct.rows,
        held=distinct.held,
    )


def distinct_of(ask: Callable[..., DistinctRows], plan: Choices) -> DistinctRows:
    """What a search looks at in a table that stays where it is.

    Args: ask: gives the distinct tuples of columns, and with `by` who holds them.
    Raises: SchemaError for somebody of two households; as `ask`.
    """

    def most(column: str, by: str) -> float:
        held = ask([column], by=by).held
        return 0 if held is None else int(np.bincount(held.group).max(initial=0))

    check_households(plan, most)
    return ask(columns_of(plan), by=plan.counted)


def columns_of(plan: Choices) -> list[str]:
    """The columns that a search looks at."""
    subset = [] if plan.subset is None else [plan.subset]
    return list(dict.fromkeys((*plan.quasi_identifiers, *secrets_of(plan), *subset)))


def chosen(frame: pd.DataFrame, plan: Chosen, on_progress: OnProgress = silent) -> Chosen:
    """The plan with its optimal node filled in; `on_progress` as for `search`.

    Raises: InfeasibleError with the nearest feasible limit, LimitError when the lattice is too large.
    """
    return _chosen(tuples(frame, plan), plan, on_progress)


def carried_out(frame: pd.DataFrame, plan: Choices, on_progress: OnProgress = silent) -> Recoded:
    """The published rows at the levels of the plan; at the optimal ones where it has none.

    Raises: ParameterError for levels that do not fit the hierarchies, InfeasibleError when they do not meet
        the models; as `chosen`.
    """
    table = tuples(frame, plan)
    if plan.node is None:
        plan = _chosen(table, plan, on_progress)
    leaves = table.placed(frame)
    suppressed = suppressed_rows(leaves, table, shown_classes(table, plan))
    subset = subset_of(frame, plan)
    if subset is not None:
        leaves = {name: each[subset] for name, each in leaves.items()}
        suppressed = suppressed[subset]
    trees = dict(zip(table.names, table.hierarchies, strict=True))
    return full_domain(trees, leaves, plan.node or {}, suppressed=suppressed)


def _chosen(table: Tuples, plan: Chosen, on_progress: OnProgress) -> Chosen:
    found = search(table, plan.models, limit=plan.limit, metric=plan.metric, on_progress=on_progress)
    return plan.at(dict(zip(plan.quasi_identifiers, found.node, strict=True)))


@dataclass(frozen=True, kw_only=True)
class Shown:
    """The classes that a node publishes: their keys without tails, ascending."""

    node: Node
    keys: IntArray


def shown_classes(table: Tuples, plan: Choices) -> Shown:
    """The classes that are published at the levels of the plan. Raises: as `carried_out`."""
    levels = plan.node or {}
    if set(levels) != set(plan.quasi_identifiers):
        raise ParameterError(
            "the node must name every quasi-identifier", remedy="let the plan choose its node"
        )
    node = tuple(levels[name] for name in table.names)
    if any(not 0 <= level <= top for level, top in zip(node, table.lattice.top, strict=True)):
        raise ParameterError(
            "the node has a level that its hierarchy lacks", remedy="let the plan choose its node"
        )
    classes = Grouper(table).classes(node)
    marked = violations(plan.models, classes)
    allowed = most_within(plan.limit, table.people)
    if not classes.people[marked].all() or not classes.suppresses_few(marked, allowed):
        raise InfeasibleError(
            "the node does not meet the models while suppressing at most {limit:.1%} of the people",
            remedy="let the plan choose its node, or raise the limit",
            limit=plan.limit,
        )
    return Shown(node=node, keys=(classes.class_keys >> table.tail)[~marked])


def suppressed_rows(leaves: Mapping[str, IntArray], table: Tuples, shown: Shown) -> BoolArray:
    """Which rows are suppressed, those that were so before among them, by their leaves in each column."""
    bottom = (0,) * len(shown.node)
    keys, starred = table.row_keys(leaves)
    keys = table.generalize(keys, bottom, shown.node) >> table.tail
    if not len(shown.keys):
        return np.ones(len(keys), dtype=bool)
    place = np.searchsorted(shown.keys, keys).clip(max=len(shown.keys) - 1)
    return np.asarray((shown.keys[place] != keys) | starred)
