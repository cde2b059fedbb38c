"""Compare a node with its neighbors, which differ by one level of one column."""

from collections.abc import Sequence
from dataclasses import dataclass

from dpcore.anonymization._thresholds import max_people_in_share
from dpcore.anonymization.fulldomain._judge import Solution
from dpcore.anonymization.fulldomain.counter import Counter
from dpcore.anonymization.fulldomain.lattice import Node
from dpcore.anonymization.fulldomain.metrics import Metric
from dpcore.anonymization.fulldomain.tuples import Tuples
from dpcore.anonymization.models import PrivacyModel, mark_violations


@dataclass(frozen=True, kw_only=True)
class Neighbor(Solution):
    """A node with its loss and its suppression.

    Attributes:
        k: people of the smallest class that the models do not suppress; a person in
            several classes counts in each. 0 if no class is left.
        is_feasible: whether the models suppress no more than the limit.
    """

    k: int
    is_feasible: bool


def measure_neighbors(
    table: Tuples,
    node: Node,
    models: Sequence[PrivacyModel],
    *,
    limit: float,
    metric: Metric,
) -> tuple[Neighbor, ...]:
    """Return loss and suppression of a node and of its neighbors, by column.

    Neighbors are one level finer or coarser in one column.
    """
    counter = Counter(table)
    allowed = max_people_in_share(limit, table.people)
    nodes = [node]
    ends = zip(node, table.floor, table.lattice.top, strict=True)
    for place, (level, lowest, top) in enumerate(ends):
        nodes += [
            (*node[:place], changed, *node[place + 1 :])
            for changed in (level - 1, level + 1)
            if lowest <= changed <= top
        ]
    result = []
    for neighbor in nodes:
        classes = counter.count_classes(neighbor)
        marked = mark_violations(models, classes)
        kept = classes.people[~marked & (classes.people > 0)]
        result.append(
            Neighbor(
                node=neighbor,
                score=metric.score(classes, marked),
                suppressed_rows=int(classes.sizes[marked].sum()),
                suppressed_people=classes.count_people_in(marked),
                published_classes=int((~marked & (classes.sizes > 0)).sum()),
                k=int(kept.min()) if kept.size else 0,
                is_feasible=bool(classes.people[marked].all())
                and classes.suppresses_few(marked, allowed),
            ),
        )
    return tuple(result)
