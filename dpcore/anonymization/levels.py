"""Find, check and apply the level of each quasi-identifier in a plan."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from dpcore.anonymization._thresholds import max_people_in_share
from dpcore.anonymization.choices import Choices
from dpcore.anonymization.fulldomain.counter import Counter
from dpcore.anonymization.fulldomain.lattice import Node
from dpcore.anonymization.fulldomain.search import find_optimal_node
from dpcore.anonymization.fulldomain.tuples import Tuples
from dpcore.anonymization.inputs import Inputs, check_households
from dpcore.anonymization.models import mark_violations
from dpcore.anonymization.recoded import Recoded, recode_full_domain
from dpcore.errors import InfeasibleError, UsageError
from dpcore.progress import OnProgress, ignore_stage_progress
from dpcore.tables.classes import BoolArray, IntArray
from dpcore.tables.rows import DistinctRows


def build_tuples(inputs: Inputs) -> Tuples:
    """Build the distinct tuples for a search or frontier.

    Raises: as `Tuples.build`; InfeasibleError for fewer people than k.
    """
    table = Tuples.build(
        inputs.frame,
        inputs.plan.quasi_identifier_hierarchies,
        sensitive=inputs.plan.secrets,
        subset=inputs.is_in_subset,
        person=inputs.person_column,
        rows=inputs.weights,
        owners=inputs.owners,
        floor=inputs.plan.floor,
    )
    inputs.check_people(table.people)
    return table


def read_distinct(
    read_tuples: Callable[..., DistinctRows], plan: Choices
) -> DistinctRows:
    """Read the distinct tuples of a source for a search.

    Args:
        read_tuples: returns the distinct tuples of columns, and with `by` their holders.

    Raises: SchemaError for a person in two households; as `read_tuples`.
    """

    def most(column: str, by: str) -> float:
        owners = read_tuples([column], by=by).owners
        return 0 if owners is None else int(np.bincount(owners.group).max(initial=0))

    check_households(plan, most)
    return read_tuples(searched_columns(plan), by=plan.unit_column)


def searched_columns(plan: Choices) -> list[str]:
    """Return the columns used by a search."""
    subset = [] if plan.subset is None else [plan.subset]
    return list(dict.fromkeys((*plan.quasi_identifiers, *plan.secrets, *subset)))


def recode_by_levels(
    inputs: Inputs, on_progress: OnProgress = ignore_stage_progress
) -> Recoded:
    """Recode the published rows at the levels of the plan, or at the optimal ones.

    Raises: as `find_published_classes`, `find_optimal_node` and `build_tuples`.
    """
    table = build_tuples(inputs)
    shown = find_published_classes(table, inputs.plan, on_progress)
    leaves = table.find_leaves(inputs.published_rows)
    suppressed = mark_suppressed_rows(leaves, table, shown)
    trees = dict(zip(table.names, table.hierarchies, strict=True))
    levels = dict(zip(table.names, shown.node, strict=True))
    return replace(
        recode_full_domain(trees, leaves, levels, suppressed=suppressed), gap=shown.gap
    )


@dataclass(frozen=True, kw_only=True)
class PublishedClasses:
    """The classes published at a node.

    Attributes:
        keys: without tails, ascending.
        gap: see `Solution`.
    """

    node: Node
    keys: IntArray
    gap: float


def find_published_classes(
    table: Tuples, plan: Choices, on_progress: OnProgress = ignore_stage_progress
) -> PublishedClasses:
    """Find the classes published at the levels of the plan, or at the optimal ones.

    Raises: ParameterError for levels that do not fit the hierarchies, InfeasibleError
        when they do not meet the models; as `find_optimal_node`.
    """
    check_node(plan)
    if plan.node is None:
        best = find_optimal_node(
            table,
            plan.models,
            limit=plan.limit,
            metric=plan.metric,
            on_progress=on_progress,
        )
        node = best.node
        gap = best.gap
    else:
        node = tuple(plan.node[name] for name in table.names)
        gap = plan.gap
    classes = Counter(table).count_classes(node)
    marked = mark_violations(plan.models, classes)
    allowed = max_people_in_share(plan.limit, table.people)
    if not classes.people[marked].all() or not classes.suppresses_few(marked, allowed):
        raise InfeasibleError(
            (
                "the node does not meet the models while suppressing at most "
                "{limit:.1%} "
                "of the people"
            ),
            remedy="let the plan choose its node",
            limit=plan.limit,
        )
    return PublishedClasses(
        node=node, keys=(classes.class_keys >> table.tail_bits)[~marked], gap=gap
    )


def check_node(plan: Choices) -> None:
    """Refuse levels outside a hierarchy or below the plan's lowest.

    Raises: ParameterError.
    """
    names = set(plan.quasi_identifiers)
    if not set(plan.floor) <= names or any(
        not 0 <= level <= plan.quasi_identifier_hierarchies[name].height
        for name, level in plan.floor.items()
    ):
        raise UsageError(
            "the lowest levels must be levels of quasi-identifiers",
            remedy="let the plan choose its node",
        )
    if plan.node is not None and (
        set(plan.node) != names
        or any(
            not plan.floor.get(name, 0)
            <= plan.node[name]
            <= plan.quasi_identifier_hierarchies[name].height
            for name in names
        )
    ):
        raise UsageError(
            "the node must name a level of every quasi-identifier",
            remedy="let the plan choose its node",
        )


def mark_suppressed_rows(
    leaves: Mapping[str, IntArray], table: Tuples, published_classes: PublishedClasses
) -> BoolArray:
    """Return which rows are in no published class, given their leaves.

    Rows suppressed before are among them.
    """
    bottom = (0,) * len(published_classes.node)
    keys, starred = table.row_keys(leaves)
    keys = table.generalize(keys, bottom, published_classes.node) >> table.tail_bits
    if not len(published_classes.keys):
        return np.ones(len(keys), dtype=bool)
    place = np.searchsorted(published_classes.keys, keys).clip(
        max=len(published_classes.keys) - 1
    )
    return np.asarray((published_classes.keys[place] != keys) | starred)
