"""Predict the cost of a full-domain search before it runs, and limit it."""

import math
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dpcore.anonymization.fulldomain._grouper import Classes, Grouper
from dpcore.anonymization.fulldomain._people import MAX_OWNERS_PER_BATCH
from dpcore.anonymization.fulldomain.counter import MAX_CACHED_LABELS
from dpcore.anonymization.fulldomain.tuples import Tuples
from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.anonymization.models import PrivacyModel, SensitiveModel, mark_violations
from dpcore.errors import LimitError
from dpcore.progress import OnProgress
from dpcore.tables.classes import FloatArray

MAX_PASS_SECONDS = 120.0
"""Predicted seconds above which a pass over all nodes is refused."""
MAX_NODES = 2_000_000
"""Nodes of a lattice that is searched exactly; larger ones get a bounded search.

Each node takes 50 bytes.
"""
SAMPLED_NODES = 16
"""Nodes that are timed to predict the seconds of all."""
SMALL_SUPPRESSION_LIMIT = 0.05
"""Largest suppression limit that counts as small, a share of people."""
SEARCH_TO_PASS_RATIOS = {True: (0.15, 0.45), False: (1.3, 2.0)}
"""Seconds of a search over those of a full pass: 95 % quantile and maximum measured.

By whether the suppression limit is small. How many nodes a search closes is not known
before, so that a single number would be a guess.
"""
MAX_NODES_PER_REPORT = 16
"""Nodes between two reports of progress, at most."""
MAX_TUPLES_PER_REPORT = 500_000
"""Tuples grouped between two reports, at most: less than a quarter of a second."""

NODE_SECONDS = 20e-6
TUPLE_SECONDS = 2.5e-9
"""CPU seconds of a node: a fixed part, and a part for each distinct tuple.

Measured on one core of 2.6 GHz.
"""

NODE_BYTES = 50
TUPLE_BYTES = 96
LABEL_BYTES = 4
FIXED_SEARCH_BYTES = 1_500_000
"""Memory of a search at most: for each node, tuple and label, and a fixed part."""
PAIR_BYTES = 700
"""Memory of each pair of a person and a tuple, before equal corrections are merged."""

REFERENCE_TUPLE_SECONDS = 30e-9
"""Seconds for each tuple of a node, with sorting; 15e-9 to 60e-9 were measured.

Each model of a sensitive column takes as much again.
"""


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """Number of nodes of a lattice, and the predicted cost of one pass over them."""

    nodes: int
    seconds: float
    """Measured on this machine, under its present load."""
    reference_seconds: float
    """Computed from the work alone, so that proposals do not depend on the load."""
    memory_bytes: int
    """Bytes that a search takes at most, beside the table."""

    @property
    def is_feasible(self) -> bool:
        """Whether one pass over all nodes is within the limits."""
        return self.reference_seconds <= MAX_PASS_SECONDS and self.nodes <= MAX_NODES

    def search_seconds(self, limit: float) -> tuple[float, float]:
        """Return the predicted seconds of a search: 95 % quantile and maximum."""
        mostly, most = SEARCH_TO_PASS_RATIOS[limit <= SMALL_SUPPRESSION_LIMIT]
        return mostly * self.seconds, most * self.seconds


def predict_pass(hierarchies: Iterable[Hierarchy], tuples: int) -> Prediction:
    """Predict roughly the cost of a pass over all nodes from the number of tuples.

    Args:
        hierarchies: of the quasi-identifiers.
        tuples: distinct ones; the number of rows is an upper bound.
    """
    nodes = math.prod(hierarchy.height + 1 for hierarchy in hierarchies)
    seconds = nodes * (NODE_SECONDS + tuples * TUPLE_SECONDS)
    memory = (
        FIXED_SEARCH_BYTES
        + nodes * NODE_BYTES
        + tuples * TUPLE_BYTES
        + LABEL_BYTES * MAX_CACHED_LABELS
    )
    return Prediction(
        nodes=nodes, seconds=seconds, reference_seconds=seconds, memory_bytes=memory
    )


def measure_pass(table: Tuples, models: Sequence[PrivacyModel] = ()) -> Prediction:
    """Predict the cost of a pass over all nodes within a factor of 2, by timing some.

    Nodes are sampled in proportion to the tuples that they would have if columns were
    independent, and weighted by the inverse. So the few fine nodes that take most of
    the time are among them.
    """
    rough = predict_pass(table.hierarchies, len(table.keys))
    if rough.nodes > MAX_NODES:
        return rough
    # Choose nodes at equal steps of the cumulated work
    tuples = _work_by_node(table)
    reached = np.cumsum(tuples)
    goals = (np.arange(SAMPLED_NODES) + 0.5) / SAMPLED_NODES * reached[-1]
    grouper = Grouper(table)
    # Time the sampled nodes, the first one twice to warm up
    seconds_per_tuple = []
    for index in np.searchsorted(reached, [goals[0], *goals]).tolist():
        node = table.lattice.node(index)
        # `Grouper.walk` builds a node from its neighbor one level lower in the last
        # column
        last = [column for column in table.columns_by_values if node[column]][-1:]
        finer = tuple(level - (column in last) for column, level in enumerate(node))
        start = grouper.group_node(finer)
        began = time.process_time()
        classes = grouper.generalize_classes(start, node) if last else start
        mark_violations(models, classes)
        for weights in (classes.people, classes.sizes, classes.sizes * classes.sizes):
            np.bincount(np.searchsorted([2, 5, 10], classes.people), weights)
        seconds_per_tuple.append((time.process_time() - began) / tuples[index])
    histograms = sum(isinstance(model, SensitiveModel) for model in models)
    usual = float(reached[-1]) * REFERENCE_TUPLE_SECONDS * (1 + histograms)
    seconds = float(np.mean(seconds_per_tuple[1:]) * reached[-1])
    return replace(
        rough,
        seconds=seconds,
        reference_seconds=usual,
        memory_bytes=estimate_memory(table),
    )


def nodes_per_report(table: Tuples) -> int:
    """Return the number of nodes between two reports of progress."""
    return max(1, min(MAX_NODES_PER_REPORT, MAX_TUPLES_PER_REPORT // len(table.keys)))


def walk_with_progress(
    grouper: Grouper, stage: str, on_progress: OnProgress
) -> Iterator[Classes]:
    """Yield the classes of every node, and report progress.

    `on_progress` gets the stage and the share of the work that is done.
    """
    table = grouper.table
    done = 0.0
    work = _work_by_node(table)
    step = nodes_per_report(table)
    whole = float(work.sum())
    for turn, classes in enumerate(grouper.walk()):
        if turn % step == 0:
            on_progress(stage, done / whole)
        yield classes
        done += float(work[table.lattice.index(classes.node)])


def _work_by_node(table: Tuples) -> FloatArray:
    """Estimate the work of each node, as a number of tuples, shape (nodes,).

    It is the expected number of its distinct tuples if columns were independent, plus
    the fixed part of a node.
    """
    labels = table.lattice.outer_sum([np.log(widths) for widths in table.label_counts])
    cells = np.exp(np.minimum(labels, 60))
    return np.asarray(
        -cells * np.expm1(-len(table.keys) / cells) + NODE_SECONDS / TUPLE_SECONDS / 8
    )


def estimate_memory(table: Tuples) -> int:
    """Return an upper bound of the memory of a search, in bytes.

    They are a few figures for each node and each tuple, and the cached labels: of each
    level of a column, and of each combination of levels in either half of the columns.
    If people have several rows, finding the corrections may take more.
    """
    shape = table.lattice.shape
    classes = table.distinct_tuples
    cached = classes * (
        math.prod(shape[: table.first_half_columns])
        + math.prod(shape[table.first_half_columns :])
    )
    labels = classes * sum(shape) + min(cached, MAX_CACHED_LABELS)
    searched = (
        table.lattice.size * NODE_BYTES
        + len(table.keys) * TUPLE_BYTES
        + labels * LABEL_BYTES
    )
    if table.members is None:
        return FIXED_SEARCH_BYTES + searched
    person = table.members.person
    folded = (
        len(person)
        * PAIR_BYTES
        * min(1.0, MAX_OWNERS_PER_BATCH / (int(person.max()) + 1))
    )
    return FIXED_SEARCH_BYTES + max(searched, int(folded))


def check_feasible(table: Tuples) -> None:
    """Raise LimitError if one pass over all nodes exceeds its limits."""
    if not predict_pass(table.hierarchies, len(table.keys)).is_feasible:
        raise too_large_error(table)


def too_large_error(table: Tuples) -> LimitError:
    """Return the error for a lattice with too many nodes."""
    prediction = predict_pass(table.hierarchies, len(table.keys))
    return LimitError(
        "full-domain search over {nodes} nodes would take about {seconds:.0f} s",
        remedy=(
            "measure by information loss, use fewer quasi-identifiers or levels, or "
            "use local recoding"
        ),
        nodes=prediction.nodes,
        seconds=prediction.seconds,
    )
