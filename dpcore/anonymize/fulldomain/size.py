"""How large a full-domain search is, told before it runs; above a bound it refuses for local recoding."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from dpcore.anonymize.fulldomain.tuples import Tuples
from dpcore.anonymize.hierarchies.hierarchy import Hierarchy
from dpcore.errors import LimitError

MOST_SECONDS = 120.0
MOST_NODES = 1_000_000
"""Full-domain search refuses above either; the second bounds its memory."""

NODE_SECONDS = 20e-6
TUPLE_SECONDS = 2.5e-9
"""Measured on one 2.6 GHz core: the seconds of a node are a fixed part and a part for each distinct tuple."""


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """The size of the lattice and the seconds one pass over all of it takes, roughly."""

    nodes: int
    seconds: float

    @property
    def is_feasible(self) -> bool:
        """Whether full-domain search accepts it."""
        return self.seconds <= MOST_SECONDS and self.nodes <= MOST_NODES


def predict(hierarchies: Iterable[Hierarchy], tuples: int) -> Prediction:
    """The cost of full-domain search over so many distinct tuples (at most the number of rows)."""
    nodes = math.prod(hierarchy.height + 1 for hierarchy in hierarchies)
    return Prediction(nodes=nodes, seconds=nodes * (NODE_SECONDS + tuples * TUPLE_SECONDS))


def check_size(table: Tuples) -> None:
    """Raise LimitError when full-domain search over the table would go beyond its bounds."""
    prediction = predict(table.hierarchies, len(table.keys))
    if not prediction.is_feasible:
        raise LimitError(
            "full-domain search over {nodes} nodes would take about {seconds:.0f} s",
            remedy="take fewer quasi-identifiers or levels, or local recoding",
            nodes=prediction.nodes,
            seconds=prediction.seconds,
        )
