"""A node of the lattice with those that are one level of one column away."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpcore.anonymization.fulldomain.counter import Counter
from dpcore.anonymization.fulldomain.judge import Solution
from dpcore.anonymization.fulldomain.lattice import Node
from dpcore.anonymization.fulldomain.metrics import Metric
from dpcore.anonymization.fulldomain.tuples import Tuples
from dpcore.anonymization.models import PrivacyModel, violations
from dpcore.anonymization.thresholds import most_within


@dataclass(frozen=True, kw_only=True)
class Neighbor(Solution):
    """A node with what it costs, and what it keeps.

    Attributes:
        k: people of the smallest class once the smallest ones are suppressed, up to the
            limit; somebody of several classes counts in each.
        is_feasible: whether the models suppress no more than the limit.
    """

    k: int
    is_feasible: bool


def neighbors(
    table: Tuples,
    node: Node,
    models: Sequence[PrivacyModel],
    *,
    limit: float,
    metric: Metric,
) -> tuple[Neighbor, ...]:
    """Return the node, then each that is one level finer or coarser in one column,
    column by column.
    """
    counter = Counter(table)
    allowed = most_within(limit, table.people)
    nodes = [node]
    for place, (level, top) in enumerate(zip(node, table.lattice.top, strict=True)):
        levels = (each for each in (level - 1, level + 1) if 0 <= each <= top)
        nodes += [(*node[:place], each, *node[place + 1 :]) for each in levels]
    result = []
    for each in nodes:
        classes = counter.classes(each)
        marked = violations(models, classes)
        people = np.sort(classes.people[classes.people > 0])
        first_kept = int(np.searchsorted(np.cumsum(people), allowed, side="right"))
        result.append(
            Neighbor(
                node=each,
                score=metric.score(classes, marked),
                suppressed=int(classes.sizes[marked].sum()),
                people=classes.people_in(marked),
                classes=int((~marked & (classes.sizes > 0)).sum()),
                k=int(people[min(first_kept, len(people) - 1)]),
                is_feasible=bool(classes.people[marked].all())
                and classes.suppresses_few(marked, allowed),
            ),
        )
    return tuple(result)
