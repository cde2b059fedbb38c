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
from dpcore.synthesis.discrete.constraints import Constraints, FunctionalDependency

COPIES_SHARE = Fraction(1, 50)  # of the loss, for all candidates together
MAX_CANDIDATES = 20
COPY_NOISE_SDS = 3.0  # noise SDs within which the count of a true copy lies
MAX_DIFFERENT_SHARE = 0.01  # share of the rows in which a copy may differ
# Candidates are tested only while noise hides at most this share of the rows.
MAX_HIDDEN_SHARE = 0.08
_NUMBERED_NAME = re.compile(r"(.+?)[._ -]\d+")


@dataclass(frozen=True, kw_only=True)
class DiffersRule:
    """A public rule: 1 for a row whose two values differ, 0 for others."""

    columns: tuple[str, str]

    def __call__(self, rows: pd.DataFrame) -> npt.NDArray[np.int64]:
        first, second = (as_text(rows[name]) for name in self.columns)
        is_same = (first == second).fillna(False) | (first.isna() & second.isna())
        return (~is_same.to_numpy(dtype=bool)).astype(np.int64)


def copy_candidates(columns: Iterable[Column]) -> tuple[FunctionalDependency, ...]:
    """Return the columns whose names suggest that they repeat another column.

    A repeated header ends with a number, as `score.1` does, or begins with one more
    word than the other, as `v_score` does.
    """
    plain = {column.name: column for column in columns if _reads_only_itself(column)}
    by_words = {_normalize_name(name): name for name in plain}
    found: dict[str, str] = {}
    for name in plain:
        match = _NUMBERED_NAME.fullmatch(name)
        if match and match[1] in plain:
            found[name] = match[1]
    for name in plain:
        rest = " ".join(_normalize_name(name).split()[1:])
        if rest in by_words and name not in found:
            found[name] = by_words[rest]
    # Compare a copy of a copy with the first original.
    pairs = [
        (found.get(base, base), name)
        for name, base in found.items()
        if found.get(base, base) not in found
    ]
    return tuple(
        FunctionalDependency(
            column=base,
            target=name,
            cells=_match_cells_by_label(plain[base], plain[name]),
        )
        for base, name in pairs[:MAX_CANDIDATES]
    )


def testable_candidates(
    candidates: Sequence[FunctionalDependency],
    names: Collection[str],
    constraints: Constraints,
    loss: Loss,
    max_rows: int,
    table_rows: float,
) -> list[FunctionalDependency]:
    """Return the candidates worth testing, by public and noisy facts alone.

    Args:
        candidates: of the recipe.
        names: columns that the recipe reads.
        constraints: facts of the owner; a column in one is no candidate.
        loss: of the whole run.
        max_rows: most rows of a person.
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
    while (
        free and _hidden_rows(loss, len(free), max_rows) > MAX_HIDDEN_SHARE * table_rows
    ):
        free.pop()
    return free


def find_copies(
    measurer: Measurer,
    candidates: Sequence[FunctionalDependency],
    loss: Loss,
    table_rows: float,
) -> tuple[FunctionalDependency, ...]:
    """Spend `loss` to test each candidate; return those that are copies."""
    found = []
    for candidate in candidates:
        counts = measurer.count_by_rule(
            DiffersRule(columns=(candidate.column, candidate.target)),
            2,
            (candidate.column, candidate.target),
            loss.share(Fraction(1, len(candidates))),
        )
        most = max(
            MAX_DIFFERENT_SHARE * table_rows, COPY_NOISE_SDS * counts.variance**0.5
        )
        if counts.values[1] <= most:
            found.append(candidate)
    return tuple(found)


def _hidden_rows(loss: Loss, candidates: int, max_rows: int) -> float:
    """Return how many differing rows noise may hide per candidate."""
    part = loss.share(COPIES_SHARE / candidates)
    scale = noise_scale(max_rows=max_rows, queries=1, loss=part)
    return COPY_NOISE_SDS * math.sqrt(noise_variance(scale, part))


def _reads_only_itself(column: Column) -> bool:
    return column.source_columns == (column.name,)


def _normalize_name(name: str) -> str:
    return " ".join(re.sub(r"[\W_]+", " ", name).lower().split())


def _match_cells_by_label(column: Column, target: Column) -> tuple[int, ...]:
    """Return, for each cell of a column, the target's cell with the same label.

    A label that the target does not have goes to the cell in the same place.
    """
    places = {label: place for place, label in enumerate(target.labels)}
    return tuple(
        places.get(label, min(place, target.size - 1))
        for place, label in enumerate(column.labels)
    )
