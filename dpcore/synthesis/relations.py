"""Trials on invented tables, to find the weakest relation that a release keeps.

An invented table has the declared cells and the public size, and its columns are
related two by two. The recipe is run on such tables at the same loss, with stronger and
stronger relations, until nearly all of them are kept. No private row takes part, so
that the result follows from public facts alone.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from dpcore.accounting.loss import ZCDP, Loss, PureDP
from dpcore.errors import DpcoreError
from dpcore.mechanisms.measurer import Groups, Measurer
from dpcore.progress import ignore_stage_progress
from dpcore.schema.domain import Clique, Domain
from dpcore.schema.schema import Schema
from dpcore.synthesis.base import Recipe, SomeColumns
from dpcore.synthesis.discrete.model import SyntheticModel
from dpcore.synthesis.discrete.recipes import Adaptive, Tree
from dpcore.tables.counts import Counts, Integers, Values, cell_counts
from dpcore.tables.distance import total_variation
from dpcore.tables.sums import Entry, multiply_levels

TRIAL_STRENGTHS = (0.1, 0.2, 0.35, 0.5, 0.7, 0.9)
"""Associations (Cramer's V) to try, weakest first."""
MIN_PAIRS_KEPT = 0.9
"""Share of the related pairs that a release must keep."""
RUNS_PER_STRENGTH = 5
"""Releases of each strength that must keep them: two may do so by chance."""
MIN_KEPT_SHARE = 0.5
"""Share of a pair's distance from independence that a release must keep."""
JUDGED_CELLS = 8
"""Most cells of a column over which a relation is judged; more are merged into runs."""
MAX_NARROW_CELLS = 10
"""Cells of the wider column up to which a pair is narrow."""
SHARE_SKEW = 0.7
"""The cell of rank r of an invented column has rows in proportion to r^-SHARE_SKEW."""
MAX_INVENTED_ROWS = 20_000
"""Rows of an invented table. For a larger table the loss is raised instead."""


@dataclass(frozen=True, kw_only=True)
class RelationTrial:
    """A trial of a recipe in another process, described by public facts alone.

    Attributes:
        recipe: chooses relations: `Tree` or `Adaptive`.
        sizes: cells of each column.
        loss: of one release.
        rows: of an invented table.
        max_rows: most rows of a person.
    """

    recipe: Recipe
    sizes: tuple[int, ...]
    loss: Loss
    rows: int
    max_rows: int

    @classmethod
    def for_recipe(
        cls, recipe: Recipe, schema: Schema, loss: Loss, rows: float
    ) -> RelationTrial | None:
        """Return the trial of a recipe, or None if it chooses no relations.

        None is returned under constraints, too.

        Args:
            recipe: to be released.
            schema: of the table.
            loss: of the release.
            rows: approximate number of rows.
        """
        inner = recipe.recipe if isinstance(recipe, SomeColumns) else recipe
        domain = schema.domain
        names = recipe.reads(domain)
        if (
            not isinstance(inner, Adaptive | Tree)
            or inner.constraints.determines
            or len(names) < 2
        ):
            return None
        plain: Recipe = (
            Adaptive(rounds=inner.rounds) if isinstance(inner, Adaptive) else Tree()
        )
        invented_rows = min(max(int(rows), 1), MAX_INVENTED_ROWS)
        # Only the ratio of noise to rows matters, so fewer rows are offset by a larger
        # loss.
        times = (
            Fraction(round(rows), invented_rows)
            if rows > invented_rows
            else Fraction(1)
        )
        raised: Loss = (
            ZCDP(rho=loss.rho * times**2)
            if isinstance(loss, ZCDP)
            else PureDP(epsilon=loss.epsilon * times)
        )
        return cls(
            recipe=plain,
            sizes=tuple(domain.size(name) for name in names),
            loss=raised,
            rows=invented_rows,
            max_rows=schema.unit.max_rows,
        )

    def keep_narrowest(self, columns: int) -> RelationTrial:
        """Return the trial with only the `columns` columns of fewest cells."""
        return dataclasses.replace(self, sizes=tuple(sorted(self.sizes)[:columns]))


def find_weakest_kept_relation(
    trial: RelationTrial, strengths: Sequence[float] = TRIAL_STRENGTHS
) -> dict[bool, float | None]:
    """Find the smallest strength at which the recipe keeps nearly all relations.

    Args:
        trial: recipe, loss and shape of the table.
        strengths: associations to try, weakest first.

    Returns: whether a column of the pairs is wide, of more than `MAX_NARROW_CELLS`
        cells -> that association, None if no strength is kept. Kinds of pairs that the
        table does not have are left out.
    """
    open_kinds = {_is_wide(trial, pair) for pair in _related_pairs(trial)}
    weakest: dict[bool, float | None] = dict.fromkeys(open_kinds)
    for strength in strengths:
        kinds = open_kinds
        for _ in range(RUNS_PER_STRENGTH):
            if not kinds:
                break
            shares = _share_of_pairs_kept(trial, strength)
            kinds = {kind for kind in kinds if shares[kind] >= MIN_PAIRS_KEPT}
        weakest |= dict.fromkeys(kinds, strength)
        open_kinds = open_kinds - kinds
    return weakest


def strong_pairs_kept(trial: RelationTrial) -> tuple[int, int]:
    """Return how many of the strongest relations are kept, and of how many.

    The fewest of several runs count, as chance alone may keep one.
    """
    runs = [
        [is_kept for pairs in kept.values() for is_kept in pairs]
        for kept in (
            _pairs_kept(trial, TRIAL_STRENGTHS[-1]) for _ in range(RUNS_PER_STRENGTH)
        )
    ]
    fewest = min(runs, key=sum)
    return sum(fewest), len(fewest)


def relation_share_kept(
    model: SyntheticModel, pair: tuple[str, str], codes: Sequence[Integers]
) -> float:
    """Return what share of a pair's distance from independence a model keeps.

    Args:
        model: learned from a table.
        pair: names of two columns.
        codes: the cell numbers of the two columns, a row each, in that table.
    """
    counts, runs = count_in_runs(codes, [model.domain.size(name) for name in pair])
    modeled = np.zeros(counts.shape)
    np.add.at(modeled, np.ix_(*runs), model.marginal(pair))
    if not modeled.any():
        return 0.0
    distance = total_variation(counts, _independent_counts(counts))
    return 1 - total_variation(counts, modeled) / max(distance, 1e-9)


def count_in_runs(
    codes: Sequence[Integers], sizes: Sequence[int]
) -> tuple[Integers, list[Integers]]:
    """Count the rows of two columns over at most `JUDGED_CELLS` merged cells each.

    Args:
        codes: the cell numbers of each column, a row each.
        sizes: cells of each column.

    Returns: the counts, and for each column the run of each cell.
    """
    runs = [
        _even_runs(np.bincount(column, minlength=size))
        for column, size in zip(codes, sizes, strict=True)
    ]
    shape = tuple(int(run.max()) + 1 for run in runs)
    counts = cell_counts(
        [run[column] for run, column in zip(runs, codes, strict=True)], shape
    )
    return counts, runs


def _even_runs(rows: npt.NDArray[Any]) -> Integers:
    """Return the run of each cell, with about equal rows in each run.

    A column of at most `JUDGED_CELLS` cells stays as it is.
    """
    if len(rows) <= JUDGED_CELLS:
        return np.arange(len(rows))
    middle = np.cumsum(rows) - rows / 2
    runs = np.minimum(
        (middle * JUDGED_CELLS / max(float(rows.sum()), 1e-9)).astype(np.int64),
        JUDGED_CELLS - 1,
    )
    return np.unique(runs, return_inverse=True)[1]


def _independent_counts(counts: Integers) -> Values:
    """Return the counts of two columns expected under independence."""
    expected: Values = (
        counts.sum(axis=1, keepdims=True)
        * counts.sum(axis=0, keepdims=True)
        / max(1, counts.sum())
    )
    return expected


def _related_pairs(trial: RelationTrial) -> list[tuple[int, int]]:
    """Pair columns of similar size; if their number is odd, one is left over."""
    order = sorted(range(len(trial.sizes)), key=trial.sizes.__getitem__)
    order = [column for column in order if trial.sizes[column] > 1]
    return list(zip(order[0::2], order[1::2], strict=False))


def _is_wide(trial: RelationTrial, pair: tuple[int, int]) -> bool:
    return max(trial.sizes[column] for column in pair) > MAX_NARROW_CELLS


def _share_of_pairs_kept(trial: RelationTrial, strength: float) -> dict[bool, float]:
    """Return the share of related pairs whose relation one run keeps.

    Returns: whether the pairs are wide -> share.
    """
    kept = _pairs_kept(trial, strength)
    return {is_wide: sum(pairs) / len(pairs) for is_wide, pairs in kept.items()}


def _pairs_kept(trial: RelationTrial, strength: float) -> dict[bool, list[bool]]:
    """Run the recipe once, and return of each related pair whether it is kept.

    Returns: whether the pairs are wide -> one answer for each; none is kept if the
        recipe refuses the table.
    """
    pairs = _related_pairs(trial)
    columns = _invent_columns(trial, strength, np.random.default_rng(0))
    names = tuple(f"c{place}" for place in range(len(columns)))
    table = _InventedTable(
        Domain(names=names, sizes=trial.sizes), dict(zip(names, columns, strict=True))
    )
    kept: dict[bool, list[bool]] = {}
    try:
        trial.recipe.check(table.domain)
        _, model = trial.recipe.fit(
            table.measurer(trial.loss, trial.max_rows), ignore_stage_progress
        )
    except DpcoreError:
        for pair in pairs:
            kept.setdefault(_is_wide(trial, pair), []).append(False)
        return kept
    assert isinstance(model, SyntheticModel)
    for first, second in pairs:
        share = relation_share_kept(
            model, (names[first], names[second]), (columns[first], columns[second])
        )
        is_wide = _is_wide(trial, (first, second))
        kept.setdefault(is_wide, []).append(share >= MIN_KEPT_SHARE)
    return kept


def _invent_columns(
    trial: RelationTrial, strength: float, rng: np.random.Generator
) -> list[Integers]:
    """Draw invented columns with skewed cell shares, related in pairs.

    A pair shares a hidden number per row; each column draws some of its values anew.

    Returns: the cell number of each row, column by column.
    """
    hidden = {column: rng.random(trial.rows) for column in range(len(trial.sizes))}
    hidden |= {second: hidden[first] for first, second in _related_pairs(trial)}
    columns = []
    for column, size in enumerate(trial.sizes):
        shares = np.arange(1, size + 1) ** -SHARE_SKEW
        # For each row, both columns keep the hidden number with probability `strength`.
        is_new = rng.random(trial.rows) >= strength**0.5
        place = np.where(is_new, rng.random(trial.rows), hidden[column])
        cells = np.searchsorted(np.cumsum(shares) / shares.sum(), place)
        columns.append(np.minimum(cells, size - 1))
    return columns


class _InventedTable:
    """An invented table that returns exact counts and sums to a recipe."""

    def __init__(self, domain: Domain, codes: Mapping[str, Integers]) -> None:
        self.domain = domain
        self._codes = codes
        self._rows = len(next(iter(codes.values())))

    def measurer(self, loss: Loss, max_rows: int) -> Measurer:
        """Return a measurer of this table, given the most rows per person."""
        return Measurer(
            self._counts,
            domain=self.domain,
            loss=loss,
            max_rows=max_rows,
            sums=self._sums,
        )

    def _counts(
        self, cliques: Sequence[Clique], *, groups: Mapping[str, Groups] | None = None
    ) -> list[Counts]:
        return [
            Counts(clique=clique, values=self._count(clique, groups or {}))
            for clique in cliques
        ]

    def _count(self, clique: Clique, groups: Mapping[str, Groups]) -> Integers:
        if not clique:
            return np.array(self._rows, dtype=np.int64)
        merged = [
            groups.get(name, np.arange(self.domain.size(name))) for name in clique
        ]
        cells = [
            group[self._codes[name]] for group, name in zip(merged, clique, strict=True)
        ]
        return cell_counts(cells, tuple(int(group.max()) + 1 for group in merged))

    def _sums(self, by: Clique, entries: Sequence[Entry]) -> Integers:
        line = np.zeros(self._rows, dtype=np.int64)
        for name in by:
            line = line * self.domain.size(name) + self._codes[name]
        sums = np.zeros((self.domain.cells(by), len(entries)), dtype=np.int64)
        for place, entry in enumerate(entries):
            factors = [levels[self._codes[name]] for name, levels in entry.items()]
            np.add.at(sums[:, place], line, multiply_levels(factors, self._rows))
        return sums
