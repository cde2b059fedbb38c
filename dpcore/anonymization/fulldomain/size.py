"""The size of a full-domain search before it runs, and its bound."""

import math
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dpcore.anonymization.fulldomain.counter import REMEMBERED
from dpcore.anonymization.fulldomain.grouper import Classes, Grouper
from dpcore.anonymization.fulldomain.people import OWNERS
from dpcore.anonymization.fulldomain.tuples import Tuples
from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.anonymization.models import PrivacyModel, SensitiveModel, violations
from dpcore.errors import LimitError
from dpcore.progress import OnProgress
from dpcore.tables.classes import FloatArray

MOST_SECONDS = 120.0
"""One pass over all nodes refuses above it."""
MOST_NODES = 2_000_000
"""Nodes that are looked through; more are searched within a bound.

Their memory is 50 bytes a node.
"""
TRIED = 16
"""Nodes that are counted to predict the seconds of all."""
SMALL_LIMIT = 0.05
SEARCHED = {True: (0.15, 0.45), False: (1.3, 2.0)}
"""The part of those seconds that a search took mostly (19 of 20 times) and at most, for
suppression limits up to the small one and above. What a question closes is not known
before: one number would be a guess.
"""
PROGRESS_NODES = 16
"""Nodes, at most, from one call of a progress callback to the next."""
PROGRESS_TUPLES = 500_000
"""The same in tuples: less than a quarter of a second."""

NODE_SECONDS = 20e-6
TUPLE_SECONDS = 2.5e-9
"""Measured on one 2.6 GHz core: the seconds of a node are a fixed part and a part for
each distinct tuple.
"""

NODE_BYTES = 50
TUPLE_BYTES = 96
LABEL_BYTES = 4
FIXED_BYTES = 1_500_000
"""Bytes that a search takes at most, of each node, each distinct tuple, each label, and
in any case.
"""
PAIR_BYTES = 700
"""For each pair of a person and a tuple, before equal corrections are folded."""

USUAL_SECONDS = 30e-9
"""For each tuple of a node, with its sorting; 15e-9 to 60e-9 were seen, and as much
again for each model of a sensitive column.
"""


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """The size of the lattice and the seconds one pass over all of it takes."""

    nodes: int
    seconds: float
    """On this machine, as it is now."""
    usual: float
    """From the work alone: the same whenever it is asked for, so that what is suggested
    never depends on what else the machine does.
    """
    memory: int
    """Bytes that a search takes at most, beside the table; what closes most nodes early
    takes a part.
    """

    @property
    def is_feasible(self) -> bool:
        """True where one pass over all nodes is accepted."""
        return self.usual <= MOST_SECONDS and self.nodes <= MOST_NODES

    def search(self, limit: float) -> tuple[float, float]:
        """Return the seconds that a search at this limit takes mostly, and at most."""
        mostly, most = SEARCHED[limit <= SMALL_LIMIT]
        return mostly * self.seconds, most * self.seconds


def predict(hierarchies: Iterable[Hierarchy], tuples: int) -> Prediction:
    """Predict the cost of one pass over so many distinct tuples, at most the number of
    rows, roughly.
    """
    nodes = math.prod(hierarchy.height + 1 for hierarchy in hierarchies)
    seconds = nodes * (NODE_SECONDS + tuples * TUPLE_SECONDS)
    memory = (
        FIXED_BYTES
        + nodes * NODE_BYTES
        + tuples * TUPLE_BYTES
        + LABEL_BYTES * REMEMBERED
    )
    return Prediction(nodes=nodes, seconds=seconds, usual=seconds, memory=memory)


def tried(table: Tuples, models: Sequence[PrivacyModel] = ()) -> Prediction:
    """Predict the cost of one pass from the CPU time of some nodes, within a factor of
    2.

    Nodes are taken in proportion to the tuples that they would have were columns
    independent, and weigh the less, so that the few fine nodes that most of the time
    goes into are among them.
    """
    rough = predict(table.hierarchies, len(table.keys))
    if rough.nodes > MOST_NODES:
        return rough
    tuples = _work(table)
    reached = np.cumsum(tuples)
    goals = (np.arange(TRIED) + 0.5) / TRIED * reached[-1]
    grouper = Grouper(table)
    shares = []
    # the first one twice, to warm up
    for index in np.searchsorted(reached, [goals[0], *goals]).tolist():
        node = table.lattice.node(index)
        last = [column for column in table.priority if node[column]][-1:]
        finer = tuple(level - (column in last) for column, level in enumerate(node))
        start = grouper.classes(finer)
        began = time.process_time()
        classes = grouper.generalized(start, node) if last else start
        violations(models, classes)
        for each in (classes.people, classes.sizes, classes.sizes * classes.sizes):
            np.bincount(np.searchsorted([2, 5, 10], classes.people), each)
        shares.append((time.process_time() - began) / tuples[index])
    histograms = sum(isinstance(model, SensitiveModel) for model in models)
    usual = float(reached[-1]) * USUAL_SECONDS * (1 + histograms)
    seconds = float(np.mean(shares[1:]) * reached[-1])
    return replace(rough, seconds=seconds, usual=usual, memory=memory_of(table))


def progress_each(table: Tuples) -> int:
    """Return the nodes from one call of a progress callback to the next."""
    return max(1, min(PROGRESS_NODES, PROGRESS_TUPLES // len(table.keys)))


def walked(grouper: Grouper, stage: str, on_progress: OnProgress) -> Iterator[Classes]:
    """Yield the classes of every node.

    `on_progress` gets the stage and the share that is done.
    """
    table = grouper.table
    done = 0.0
    work = _work(table)
    each = progress_each(table)
    whole = float(work.sum())
    for turn, classes in enumerate(grouper.walk()):
        if turn % each == 0:
            on_progress(stage, done / whole)
        yield classes
        done += float(work[table.lattice.index(classes.node)])


def _work(table: Tuples) -> FloatArray:
    """(nodes,) the tuples of each node were columns independent, and what it takes by
    itself, in tuples.
    """
    labels = table.lattice.outer_sum([np.log(widths) for widths in table.widths])
    cells = np.exp(np.minimum(labels, 60))
    return np.asarray(
        -cells * np.expm1(-len(table.keys) / cells) + NODE_SECONDS / TUPLE_SECONDS / 8
    )


def memory_of(table: Tuples) -> int:
    """Return the bytes that a search takes.

    A few figures for each node and each tuple, and the labels that are kept, of each
    level of a column and of each combination of levels of half of the columns. Or,
    where that is more, what finding out takes where the rows of people meet.
    """
    shape = table.lattice.shape
    classes = table.number
    kept = classes * (math.prod(shape[: table.half]) + math.prod(shape[table.half :]))
    labels = classes * sum(shape) + min(kept, REMEMBERED)
    searched = (
        table.lattice.size * NODE_BYTES
        + len(table.keys) * TUPLE_BYTES
        + labels * LABEL_BYTES
    )
    if table.members is None:
        return FIXED_BYTES + searched
    person = table.members.person
    folded = len(person) * PAIR_BYTES * min(1.0, OWNERS / (int(person.max()) + 1))
    return FIXED_BYTES + max(searched, int(folded))


def check_feasible(table: Tuples) -> None:
    """Raise LimitError when one pass over all nodes would go beyond its bounds."""
    if not predict(table.hierarchies, len(table.keys)).is_feasible:
        raise too_large(table)


def too_large(table: Tuples) -> LimitError:
    """Return the error for a lattice that is not searched."""
    prediction = predict(table.hierarchies, len(table.keys))
    return LimitError(
        "full-domain search over {nodes} nodes would take about {seconds:.0f} s",
        remedy=(
            "take information loss as the measure, fewer quasi-identifiers or "
            "levels, or local recoding"
        ),
        nodes=prediction.nodes,
        seconds=prediction.seconds,
    )
