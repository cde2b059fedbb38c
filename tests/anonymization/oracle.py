"""The whole lattice by brute force, row by row in plain Python: what the fast search is
compared with.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, wraps
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from dpcore.anonymization._groups import Rows
from dpcore.anonymization.closeness import TCloseness
from dpcore.anonymization.fulldomain.metrics import (
    AverageClassSize,
    Discernibility,
    InformationLoss,
    NonUniformEntropy,
)
from dpcore.anonymization.fulldomain.tuples import Tuples
from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.anonymization.models import (
    AverageRisk,
    BetaLikeness,
    DeltaPresence,
    DistinctL,
    EntropyL,
    KAnonymity,
    KMap,
    RecursiveCL,
)
from dpcore.anonymization.partition.admission import ReleaseGate

SECRET = "secret"
SECRET_HIERARCHY = Hierarchy(
    values=("a", "b", "c", "d"),
    levels=(tuple("abcd"), ("x", "x", "y", "y"), ("*",) * 4),
)

MODELS = (
    KAnonymity(k=2),
    KAnonymity(k=4),
    KMap(k=3),
    DeltaPresence(lowest=0.0, highest=0.6),
    DeltaPresence(lowest=0.2, highest=0.8),
    DistinctL(column=SECRET, l=2),
    EntropyL(column=SECRET, l=2),
    EntropyL(column=SECRET, l=1.5),
    EntropyL(column=SECRET, l=3),
    RecursiveCL(column=SECRET, c=2.0, l=2),
    RecursiveCL(column=SECRET, c=1.1, l=2),
    # thresholds that no small class meets exactly, and some that many do
    TCloseness(column=SECRET, t=0.4142),
    TCloseness(column=SECRET, t=0.3),
    TCloseness(column=SECRET, t=0.3141, distance="hierarchical"),
    TCloseness(column=SECRET, t=0.25, distance="hierarchical"),
    TCloseness(column=SECRET, t=0.2718, distance="ordered"),
    TCloseness(column=SECRET, t=0.2, distance="ordered"),
    BetaLikeness(column=SECRET, beta=0.5),
    BetaLikeness(column=SECRET, beta=1.3),
)
RISKS = (AverageRisk(most=0.34), AverageRisk(most=0.2))
"""Figures of all classes together."""
METRICS = (
    InformationLoss(),
    InformationLoss(mean="arithmetic", weights={"q0": 3.0}),
    NonUniformEntropy(),
    Discernibility(),
    AverageClassSize(),
)


@dataclass
class Case:
    """A small table with its hierarchies; `subset` marks the rows to be published,
    `people` says whose rows they are, `floor` the lowest level of some columns.
    """

    frame: pd.DataFrame
    hierarchies: dict[str, Hierarchy]
    subset: list[bool] | None
    people: list[int] | None = None
    floor: dict[str, int] = field(default_factory=dict)
    known: dict[tuple[str, str], Any] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @cached_property
    def values(self) -> dict[str, list[Any]]:
        """The cells of each column."""
        return {name: self.frame[name].tolist() for name in self.frame}

    @cached_property
    def flags(self) -> list[bool]:
        """Which rows are to be published."""
        return self.subset or [True] * len(self.frame)

    @cached_property
    def total(self) -> Counter[str]:
        """How many people hold each sensitive value in the rows to be published."""
        return held(self, [row for row, shown in enumerate(self.flags) if shown])

    def whose(self, rows: list[int]) -> set[int]:
        """The people who hold these rows."""
        return set(rows) if self.people is None else {self.people[row] for row in rows}

    def tuples(self) -> Tuples:
        """The tuples of the table, as the search takes them."""
        frame = (
            self.frame if self.people is None else self.frame.assign(person=self.people)
        )
        return Tuples.build(
            frame,
            self.hierarchies,
            sensitive={SECRET: SECRET_HIERARCHY},
            subset=None if self.subset is None else np.array(self.subset),
            person=None if self.people is None else "person",
            floor=self.floor,
        )


def _once(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of a table that is computed once for each question: many limits ask
    for the same node.
    """

    @wraps(function)
    def known(case: Case, *question: object) -> Any:
        key = (function.__name__, repr(question))
        if key not in case.known:
            case.known[key] = function(case, *question)
        return case.known[key]

    return known


@st.composite
def hierarchies(draw: st.DrawFn) -> Hierarchy:
    """A random nested hierarchy over 2 to 5 leaves."""
    leaves = [f"v{i}" for i in range(draw(st.integers(2, 5)))]
    levels = [leaves]
    for depth in range(draw(st.integers(0, 2))):
        codes = list(dict.fromkeys(levels[-1]))
        group = {
            code: f"g{depth}{draw(st.integers(0, max(0, len(codes) - 2)))}"
            for code in codes
        }
        levels.append([group[label] for label in levels[-1]])
    levels.append(["*"] * len(leaves))
    return Hierarchy(
        values=tuple(leaves), levels=tuple(tuple(level) for level in levels)
    )


@st.composite
def cases(
    draw: st.DrawFn, *, with_subset: bool = False, with_people: bool = False
) -> Case:
    """A random table of up to 25 rows with 1 to 3 quasi-identifiers and one sensitive
    column; with people, one of up to 12 for each row.
    """
    chosen = draw(st.lists(hierarchies(), min_size=1, max_size=3))
    rows = draw(st.integers(1, 25))
    columns = {
        f"q{j}": draw(st.lists(st.sampled_from(h.values), min_size=rows, max_size=rows))
        for j, h in enumerate(chosen)
    }
    columns[SECRET] = draw(
        st.lists(st.sampled_from(SECRET_HIERARCHY.values), min_size=rows, max_size=rows)
    )
    subset = None
    if with_subset:
        subset = draw(st.lists(st.booleans(), min_size=rows, max_size=rows).filter(any))
    people = None
    if with_people:
        people = draw(st.lists(st.integers(0, 11), min_size=rows, max_size=rows))
    floor = {}
    if draw(st.booleans()):
        floor = {f"q{j}": draw(st.integers(0, h.height)) for j, h in enumerate(chosen)}
    return Case(
        pd.DataFrame(columns),
        {f"q{j}": h for j, h in enumerate(chosen)},
        subset,
        people,
        floor,
    )


@_once
def classes_at(case: Case, node: tuple[int, ...]) -> dict[tuple[str, ...], list[int]]:
    """The rows of every class of a node."""
    columns = []
    for (name, hierarchy), level in zip(case.hierarchies.items(), node, strict=True):
        label = dict(zip(hierarchy.values, hierarchy.levels[level], strict=True))
        columns.append([label[value] for value in case.values[name]])
    classes = defaultdict(list)
    for row, labels in enumerate(zip(*columns, strict=True)):
        classes[labels].append(row)
    return classes


def held(case: Case, rows: list[int]) -> Counter[str]:
    """How many people hold each sensitive value in these rows; somebody with two values
    counts for both.
    """
    values = case.values[SECRET]
    pairs = {(*case.whose([row]), values[row]) for row in rows}
    return Counter(value for _, value in pairs)


def holds(model: object, case: Case, rows: list[int]) -> bool:
    """Whether a class meets a model, from the textbook."""
    inside = [row for row in rows if case.flags[row]]
    if isinstance(model, AverageRisk):
        return True  # of one class nothing is known
    if isinstance(model, KAnonymity):
        return len(case.whose(inside)) >= model.k
    if isinstance(model, KMap):
        return len(case.whose(rows)) >= model.k
    if isinstance(model, DeltaPresence):
        return (
            model.lowest
            <= len(case.whose(inside)) / len(case.whose(rows))
            <= model.highest
        )
    if not inside:
        return True
    counts = held(case, inside)
    ordered = sorted(counts.values(), reverse=True)
    if isinstance(model, DistinctL):
        return len(counts) >= model.l
    if isinstance(model, EntropyL):
        n = counts.total()
        spread = sum(r * math.log(r) for r in counts.values())
        return spread <= n * (math.log(n) - math.log(model.l)) and len(
            counts
        ) >= math.ceil(model.l)
    if isinstance(model, RecursiveCL):
        return ordered[0] < Fraction(str(model.c)) * sum(ordered[model.l - 1 :])
    total = case.total
    if isinstance(model, BetaLikeness):
        shares = {v: Fraction(n, total.total()) for v, n in total.items()}
        most = Fraction(str(model.beta))
        return all(
            Fraction(n, counts.total()) - shares[v] <= most * shares[v]
            for v, n in counts.items()
        )
    assert isinstance(model, TCloseness)
    excess = {
        v: Fraction(counts[v], counts.total()) - Fraction(total[v], total.total())
        for v in SECRET_HIERARCHY.values
    }
    if model.distance == "equal":
        distance = sum(map(abs, excess.values())) / 2
    elif model.distance == "ordered":
        distance = sum(abs(gap) for gap in itertools.accumulate(excess.values())) / (
            len(excess) - 1
        )
    else:
        joined = [excess["a"] + excess["b"], excess["c"] + excess["d"]]
        distance = (sum(map(abs, excess.values())) + sum(map(abs, joined))) / 4
    return distance <= Fraction(str(model.t))


@_once
def evaluate(
    case: Case, node: tuple[int, ...], models: tuple[object, ...]
) -> tuple[list[int], bool]:
    """The published rows that a node suppresses, and whether delta-presence forbids the
    node.
    """
    suppressed = []
    blocked = False
    for rows in classes_at(case, node).values():
        inside = [row for row in rows if case.flags[row]]
        broken = [model for model in models if not holds(model, case, rows)]
        suppressed += inside if broken else []
        blocked |= not inside and any(
            isinstance(model, DeltaPresence) for model in broken
        )
    most = min(
        (
            Fraction(str(model.most))
            for model in models
            if isinstance(model, AverageRisk)
        ),
        default=1,
    )
    shown = [
        [row for row in rows if case.flags[row]]
        for rows in classes_at(case, node).values()
    ]
    left = sorted(
        (rows for rows in shown if {*rows} - {*suppressed}),
        key=lambda rows: len(case.whose(rows)),
    )
    crowds = [len(case.whose(rows)) for rows in left]
    while crowds and Fraction(len(crowds), sum(crowds)) > most:
        alike = crowds.count(crowds[0])  # of the smallest size
        suppressed += [row for rows in left[:alike] for row in rows]
        left = left[alike:]
        crowds = crowds[alike:]
    return suppressed, blocked


@_once
def score(
    case: Case, node: tuple[int, ...], suppressed: list[int], metric: object
) -> float:
    """The metric of a node, summed row by row."""
    flags = case.flags
    published = [row for row in range(len(case.frame)) if flags[row]]
    n = len(published)
    gone = set(suppressed)
    kept = [
        sum(flags[row] for row in rows)
        for rows in classes_at(case, node).values()
        if not gone.intersection(rows) and any(flags[row] for row in rows)
    ]
    if isinstance(metric, Discernibility):
        return sum(size * size for size in kept) + n * len(suppressed)
    if isinstance(metric, AverageClassSize):
        return n / (len(kept) + bool(suppressed))
    values = []
    weights = []
    for (name, hierarchy), level in zip(case.hierarchies.items(), node, strict=True):
        values_of = case.values[name]
        cells = [hierarchy.values.index(values_of[row]) for row in published]
        labels = hierarchy.levels[level]
        below = Counter(labels)
        weights.append(metric.weights.get(name, 1.0))
        if isinstance(metric, InformationLoss):
            leaves = len(hierarchy.values)
            covered = sum(
                1.0 if row in gone else below[labels[cell]] / leaves
                for row, cell in zip(published, cells, strict=True)
            )
            values.append((covered - n / leaves) / (n - n / leaves))
        else:
            original = Counter(cells)
            joined = Counter(labels[cell] for cell in cells)
            lost = -sum(
                math.log2(original[cell] / joined[labels[cell]]) for cell in cells
            )
            hidden = [
                labels[cell]
                for row, cell in zip(published, cells, strict=True)
                if row in gone
            ]
            counts = Counter(hidden)
            lost -= sum(math.log2(counts[label] / len(hidden)) for label in hidden)
            values.append(lost)
    if isinstance(metric, NonUniformEntropy):
        return sum(
            weight * value for weight, value in zip(weights, values, strict=True)
        )
    shares = [weight / sum(weights) for weight in weights]
    if metric.mean == "arithmetic":
        return sum(share * value for share, value in zip(shares, values, strict=True))
    return (
        math.prod(
            (value + 1) ** share for share, value in zip(shares, values, strict=True)
        )
        - 1
    )


def optimum(
    case: Case,
    models: tuple[object, ...],
    limit: float,
    metric: object,
) -> tuple[float, list[int]] | None:
    """The best score, and the suppressed rows of the nodes reaching it; None if none is
    feasible.
    """
    rows = [
        row for row in range(len(case.frame)) if case.subset is None or case.subset[row]
    ]
    allowed = math.floor(Fraction(str(limit)) * len(case.whose(rows)))
    found = []
    for node in itertools.product(
        *(
            range(case.floor.get(name, 0), h.height + 1)
            for name, h in case.hierarchies.items()
        )
    ):
        suppressed, blocked = evaluate(case, node, models)
        if not blocked and len(case.whose(suppressed)) <= allowed:
            found.append((score(case, node, suppressed, metric), len(suppressed)))
    if not found:
        return None
    best = min(value for value, _ in found)
    return best, [
        rows for value, rows in found if value <= best + 1e-9 * max(1.0, abs(best))
    ]


def gate(
    frame: pd.DataFrame, k: int, *models: Any, person: str | None = None
) -> ReleaseGate:
    """The conditions on the classes of a table, where no sensitive column has a
    hierarchy.
    """
    return ReleaseGate.from_rows(
        Rows.from_frame(frame, {model.column: None for model in models}, person),
        k,
        models,
    )
