"""Columns that repeat another column, found by one noisy count per candidate.

Candidates follow from names alone, such as `score.1` beside `score`. For each of them
the rows are counted in which the two values differ. A person's rows change such a count
by at most the number of these rows, so it has the sensitivity of a histogram of two
cells (`Measurer.count_by_rule`). Where hardly any rows differ, the copy is not measured:
drawn rows repeat the value.
"""

import math
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpcore.accounting.loss import Loss
from dpcore.mechanisms.measurer import Measurer
from dpcore.mechanisms.sensitivity import noise_scale, noise_variance
from dpcore.schema.column import Column
from dpcore.schema.values import as_text
from dpcore.synthesis.discrete.constraints import Constraints, Determines

COPIES_SHARE = Fraction(1, 50)  # of the loss, for all candidates together
MAX_CANDIDATES = 20
SURE_SDS = 3.0  # noise SDs within which the count of a true copy lies
MAX_DIFFERENT = 0.01  # share of the rows in which a copy may differ
# Candidates are tested only while noise hides at most this share of the rows.
MAX_HIDDEN = 0.08
_REPEATED = re.compile(r"(.+?)[._ -]\d+")


@dataclass(frozen=True, kw_only=True)
class Differs:
    """A public rule: 1 for a row whose two values differ, 0 for others."""

    columns: tuple[str, str]

    def __call__(self, rows: pd.DataFrame) -> npt.NDArray[np.int64]:
        first, second = (as_text(rows[name]) for name in self.columns)
        is_same = (first == second).fillna(False) | (first.isna() & second.isna())
        return (~is_same.to_numpy(dtype=bool)).astype(np.int64)


def copy_candidates(columns: Iterable[Column]) -> tuple[Determines, ...]:
    """Return the columns whose names suggest that they repeat another column.

    A repeated header ends with a number, as `score.1` does, or begins with one more
    word than the other, as `v_score` does.
    """
    plain = {column.name: column for column in columns if _stands_alone(column)}
    by_words = {_words(name): name for name in plain}
    found: dict[str, str] = {}
    for name in plain:
        match = _REPEATED.fullmatch(name)
        if match and match[1] in plain:
            found[name] = match[1]
    for name in plain:
        rest = " ".join(_words(name).split()[1:])
        if rest in by_words and name not in found:
            found[name] = by_words[rest]
    # Compare a copy of a copy with the first original.
    pairs = [
        (found.get(base, base), name)
        for name, base in found.items()
        if found.get(base, base) not in found
    ]
    return tuple(
        Determines(
            column=base, target=name, cells=_same_cells(plain[base], plain[name])
        )
        for base, name in pairs[:MAX_CANDIDATES]
    )


def askable(
    candidates: Sequence[Determines],
    names: Collection[str],
    constraints: Constraints,
    loss: Loss,
    rows: int,
    table_rows: float,
) -> list[Determines]:
    """Return the candidates worth testing, by public and noisy facts alone.

    Args:
        candidates: of the recipe.
        names: columns that the recipe reads.
        constraints: facts of the owner; a column in one is no candidate.
        loss: of the whole run.
        rows: most rows of a person.
        table_rows: noisy or publicly known number of rows.
    """
    taken = {name for rule in constraints.impossible for name in rule.columns}
    taken.update(function.target for function in constraints.determines)
    decides = {function.column for function in constraints.determines}
    free = [
        each
        for each in candidates
        if {each.column, each.target} <= set(names)
        and each.target not in taken | decides
        and each.column not in {function.target for function in constraints.determines}
    ]
    while free and _hidden(loss, len(free), rows) > MAX_HIDDEN * table_rows:
        free.pop()
    return free


def find_copies(
    measurer: Measurer, candidates: Sequence[Determines], loss: Loss, table_rows: float
) -> tuple[Determines, ...]:
    """Spend `loss` to test each candidate; return those that are copies."""
    found = []
    for candidate in candidates:
        counts = measurer.count_by_rule(
            Differs(columns=(candidate.column, candidate.target)),
            2,
            (candidate.column, candidate.target),
            loss.share(Fraction(1, len(candidates))),
        )
        most = max(MAX_DIFFERENT * table_rows, SURE_SDS * counts.variance**0.5)
        if counts.values[1] <= most:
            found.append(candidate)
    return tuple(found)


def _hidden(loss: Loss, candidates: int, rows: int) -> float:
    """Return how many differing rows noise may hide per candidate."""
    part = loss.share(COPIES_SHARE / candidates)
    scale = noise_scale(rows=rows, queries=1, loss=part)
    return SURE_SDS * math.sqrt(noise_variance(scale, part))


def _stands_alone(column: Column) -> bool:
    return column.reads == (column.name,)


def _words(name: str) -> str:
    return " ".join(re.sub(r"[\W_]+", " ", name).lower().split())


def _same_cells(column: Column, target: Column) -> tuple[int, ...]:
    """Return, for each cell of a column, the target's cell with the same label.

    A label that the target does not have goes to the cell in the same place.
    """
    places = {label: place for place, label in enumerate(target.labels)}
    return tuple(
        places.get(label, min(place, target.size - 1))
        for place, label in enumerate(column.labels)
    )
