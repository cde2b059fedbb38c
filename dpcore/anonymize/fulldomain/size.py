"""How large a full-domain search is, told before it runs; above a bound it refuses for local recoding."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dpcore.anonymize.fulldomain.counter import REMEMBERED
from dpcore.anonymize.fulldomain.grouper import Grouper
from dpcore.anonymize.fulldomain.tuples import Tuples
from dpcore.anonymize.hierarchies.hierarchy import Hierarchy
from dpcore.anonymize.models import PrivacyModel, SensitiveModel, violations
from dpcore.errors import LimitError

MOST_SECONDS = 120.0
"""One pass over all nodes refuses above it."""
MOST_NODES = 2_000_000
"""Full-domain search refuses above it, which bounds its memory: 50 bytes a node."""
TRIED = 16
"""Nodes that are counted to predict the seconds of all."""

NODE_SECONDS = 20e-6
TUPLE_SECONDS = 2.5e-9
"""Measured on one 2.6 GHz core: the seconds of a node are a fixed part and a part for each distinct tuple."""

NODE_BYTES = 50
TUPLE_BYTES = 96
LABEL_BYTES = 4
"""What a search was seen to take: of each node, each distinct tuple, and each label."""

USUAL_SECONDS = 30e-9
"""For each tuple of a node, with its sorting; 15e-9 to 60e-9 were seen, and as much again for each model
of a sensitive column."""


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """The size of the lattice and the seconds one pass over all of it takes."""

    nodes: int
    seconds: float
    """On this machine, as it is now."""
    usual: float
    """From the work alone: the same whenever it is asked for, so that what is suggested never depends on
    what else the machine does."""
    memory: int
    """Bytes that a search takes, beside the table."""

    @property
    def is_feasible(self) -> bool:
        """Whether one pass over all nodes is accepted."""
        return self.usual <= MOST_SECONDS and self.nodes <= MOST_NODES


def predict(hierarchies: Iterable[Hierarchy], tuples: int) -> Prediction:
    """The cost of one pass over so many distinct tuples (at most the number of rows), roughly."""
    nodes = math.prod(hierarchy.height + 1 for hierarchy in hierarchies)
    seconds = nodes * (NODE_SECONDS + tuples * TUPLE_SECONDS)
    memory = nodes * NODE_BYTES + tuples * TUPLE_BYTES + LABEL_BYTES * REMEMBERED
    return Prediction(nodes=nodes, seconds=seconds, usual=seconds, memory=memory)


def tried(table: Tuples, models: Sequence[PrivacyModel] = ()) -> Prediction:
    """The cost of one pass, from the CPU time of some nodes: within a factor of 2.

    Nodes are taken in proportion to the tuples that they would have were columns independent, and weigh the
    less, so that the few fine nodes that most of the time goes into are among them.
    """
    rough = predict(table.hierarchies, len(table.keys))
    if rough.nodes > MOST_NODES:
        return rough
    labels = table.lattice.outer_sum([np.log(widths) for widths in table.widths])
    cells = np.exp(np.minimum(labels, 60))
    tuples = -cells * np.expm1(-len(table.keys) / cells) + NODE_SECONDS / TUPLE_SECONDS / 8
    reached = np.cumsum(tuples)
    goals = (np.arange(TRIED) + 0.5) / TRIED * reached[-1]
    grouper, shares = Grouper(table), []
    for index in np.searchsorted(reached, [goals[0], *goals]).tolist():  # the first one twice, to warm up
        node = table.lattice.node(index)
        last = [column for column in table.priority if node[column]][-1:]
        finer = tuple(level - (column in last) for column, level in enumerate(node))
        start = grouper.classes(finer)
        began = time.process_time()
        classes = grouper.generalized(start, node, on_path=True) if last else start
        violations(models, classes)
        figures = (classes.people, classes.sizes, classes.sizes * classes.sizes)
        for each in figures:
            np.bincount(np.searchsorted([2, 5, 10], classes.people), each)
        shares.append((time.process_time() - began) / tuples[index])
    histograms = sum(isinstance(model, SensitiveModel) for model in models)
    usual = float(reached[-1]) * USUAL_SECONDS * (1 + histograms)
    seconds = float(np.mean(shares[1:]) * reached[-1])
    return replace(rough, seconds=seconds, usual=usual, memory=memory_of(table))


def memory_of(table: Tuples) -> int:
    """Bytes that a search takes: a few figures for each node and each tuple, and the labels that are kept, of
    each level of a column and of each combination of levels of half of the columns."""
    shape, classes = table.lattice.shape, table.number
    kept = classes * (math.prod(shape[: table.half]) + math.prod(shape[table.half :]))
    labels = classes * sum(shape) + min(kept, REMEMBERED)
    return table.lattice.size * NODE_BYTES + len(table.keys) * TUPLE_BYTES + labels * LABEL_BYTES


def check_nodes(table: Tuples) -> None:
    """Raise LimitError when the lattice has too many nodes to search."""
    prediction = predict(table.hierarchies, len(table.keys))
    if prediction.nodes > MOST_NODES:
        raise _too_large(prediction)


def check_feasible(table: Tuples) -> None:
    """Raise LimitError when one pass over all nodes would go beyond its bounds."""
    prediction = predict(table.hierarchies, len(table.keys))
    if not prediction.is_feasible:
        raise _too_large(prediction)


def _too_large(prediction: Prediction) -> LimitError:
    return LimitError(
        "full-domain search over {nodes} nodes would take about {seconds:.0f} s",
        remedy="take fewer quasi-identifiers or levels, or local recoding",
        nodes=prediction.nodes,
        seconds=prediction.seconds,
    )
