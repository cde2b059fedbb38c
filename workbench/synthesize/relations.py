"""Trials of a recipe on invented tables, for the weakest relation that comes out of a
release.

An invented table has the declared cells and the public size, and its columns are
related two by two. The recipe is run on such tables at the same loss, with weaker and
weaker relations, until not nearly all come out any more. No private row takes part, so
that what is said follows from public facts alone.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpcore.accounting.loss import ZCDP, Loss, PureDP
from dpcore.accounting.memory import MemoryLedger
from dpcore.curator import Curator
from dpcore.errors import DpcoreError
from dpcore.evaluation.utility.counts import independent
from dpcore.schema import Integer, PrivacyUnit, Schema
from dpcore.synthesis import Adaptive, Recipe, SomeColumns, SyntheticModel, Tree
from dpcore.tables.counts import Integers, cell_counts
from dpcore.tables.distance import total_variation

STRENGTHS = (0.1, 0.2, 0.35, 0.5, 0.7, 0.9)
"""Associations (Cramer's V) that are tried, weakest first."""
NEARLY_ALL = 0.9
"""Share of the related pairs that must come out."""
DRAWS = 2
"""Releases of each strength that must tell it: one may do so by chance."""
HALF = 0.5
"""Share of a pair's distance from independence that must be kept for its relation to
have come out.
"""
BINS = 8
"""Cells of a column over which a relation is judged."""
FEW = 10
"""Cells of the wider column up to which a pair is narrow."""
SKEW = 0.7
"""The cell of rank r of an invented column has rows in proportion to r^-SKEW."""
MAX_ROWS = 20_000
"""Rows of an invented table; of larger ones the loss is made larger in their place."""


@dataclass(frozen=True, kw_only=True)
class RelationTrial:
    """A recipe to be tried in another process, from public facts alone.

    Attributes:
        recipe: with relations to choose, `Tree` or `Adaptive`.
        sizes: cells of each column.
        rows: about how many rows count.
        max_rows: that a person may hold.
    """

    recipe: Recipe
    sizes: tuple[int, ...]
    loss: Loss
    rows: int
    max_rows: int

    @classmethod
    def of(
        cls, recipe: Recipe, curator: Curator, loss: Loss, rows: float
    ) -> RelationTrial | None:
        """Return the trial of a recipe; None for one that chooses no relations, or
        under constraints.

        Args:
            recipe: what is to be released.
            curator: of the data set, for its schema.
            loss: what is spent.
            rows: about how many there are.
        """
        inner = recipe.recipe if isinstance(recipe, SomeColumns) else recipe
        domain = curator.schema.domain
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
        sizes = tuple(domain.size(name) for name in names)
        most = min(max(int(rows), 1), MAX_ROWS)
        # noise counts beside rows
        times = Fraction(round(rows), most) if rows > most else Fraction(1)
        grown: Loss = (
            ZCDP(rho=loss.rho * times**2)
            if isinstance(loss, ZCDP)
            else PureDP(epsilon=loss.epsilon * times)
        )
        return cls(
            recipe=plain,
            sizes=sizes,
            loss=grown,
            rows=most,
            max_rows=curator.schema.unit.max_rows,
        )

    def narrowest(self, columns: int) -> RelationTrial:
        """Return the same with so many of the columns, those of the fewest cells."""
        return dataclasses.replace(self, sizes=tuple(sorted(self.sizes)[:columns]))


def weakest_kept(
    trial: RelationTrial, strengths: Sequence[float] = STRENGTHS
) -> dict[bool, float | None]:
    """Find the smallest strength from which on nearly all relations come out.

    Args:
        trial: recipe, loss and shape of the table.
        strengths: associations that are tried, weakest first.

    Returns: whether a column of the pairs is wide, of more than `FEW` cells -> that
        association, None if no strength comes out; a kind of pairs that the table does
        not have is left out.
    """
    kinds = {_is_wide(trial, pair) for pair in _pairs(trial)}
    weakest: dict[bool, float | None] = dict.fromkeys(kinds)
    for strength in reversed(strengths):
        if not kinds:
            break
        draws = [_come_out(trial, strength) for _ in range(DRAWS)]
        kinds = {
            kind
            for kind in kinds
            if all(shares[kind] >= NEARLY_ALL for shares in draws)
        }
        weakest |= dict.fromkeys(kinds, strength)
    return weakest


def share_kept(
    model: SyntheticModel, pair: tuple[str, str], codes: Sequence[Integers]
) -> float:
    """Return the share of a pair's distance from independence that a model keeps.

    Args:
        model: learned from a table.
        pair: names of two columns.
        codes: a cell number a row of the two columns, of the table that the model was
            learned from.
    """
    true, bins = binned(codes, [model.domain.size(name) for name in pair])
    drawn = np.zeros(true.shape)
    np.add.at(drawn, np.ix_(*bins), model.marginal(pair))
    if not drawn.any():
        return 0.0
    return 1 - total_variation(true, drawn) / max(
        total_variation(true, independent(true)), 1e-9
    )


def binned(
    codes: Sequence[Integers], sizes: Sequence[int]
) -> tuple[Integers, list[Integers]]:
    """Count the rows of two columns over at most `BINS` runs of cells each.

    Args:
        codes: a cell number a row of each column.
        sizes: cells of each column.

    Returns: the counts, and of each column the run of each cell.
    """
    runs = [
        _even_bins(np.bincount(each, minlength=size))
        for each, size in zip(codes, sizes, strict=True)
    ]
    shape = tuple(int(each.max()) + 1 for each in runs)
    return cell_counts(
        [run[each] for run, each in zip(runs, codes, strict=True)], shape
    ), runs


def _even_bins(rows: npt.NDArray[Any]) -> Integers:
    """Return the run of each cell, where neighboring cells are in at most `BINS` runs
    of about equal rows.
    """
    if len(rows) <= BINS:
        return np.arange(len(rows))
    middle = np.cumsum(rows) - rows / 2
    runs = np.minimum(
        (middle * BINS / max(float(rows.sum()), 1e-9)).astype(np.int64), BINS - 1
    )
    return np.unique(runs, return_inverse=True)[1]


def _pairs(trial: RelationTrial) -> list[tuple[int, int]]:
    """Pair columns of about the same size; the last one of an odd number is alone."""
    order = sorted(range(len(trial.sizes)), key=trial.sizes.__getitem__)
    order = [at for at in order if trial.sizes[at] > 1]
    return list(zip(order[0::2], order[1::2], strict=False))


def _is_wide(trial: RelationTrial, pair: tuple[int, int]) -> bool:
    return max(trial.sizes[at] for at in pair) > FEW


def _come_out(trial: RelationTrial, strength: float) -> dict[bool, float]:
    """Return the share of the related pairs that come out of one run, of narrow and of
    wide ones.
    """
    pairs = _pairs(trial)
    columns = _invented(trial, strength, np.random.default_rng(0))
    names = [f"c{at}" for at in range(len(columns))]
    schema = Schema(
        columns=tuple(
            Integer(n, low=0, high=s - 1)
            for n, s in zip(names, trial.sizes, strict=True)
        ),
        unit=PrivacyUnit(max_rows=trial.max_rows),
    )
    shares: dict[bool, list[bool]] = {}
    try:
        frame = pd.DataFrame(dict(zip(names, columns, strict=True)))
        curator = Curator.open(
            frame, schema, budget=trial.loss, ledger=MemoryLedger(), name="invented"
        )
        model = curator.run(trial.recipe, trial.loss).model
    except DpcoreError:
        return {_is_wide(trial, pair): 0.0 for pair in pairs}
    assert isinstance(model, SyntheticModel)
    for one, other in pairs:
        share = share_kept(
            model, (names[one], names[other]), (columns[one], columns[other])
        )
        shares.setdefault(_is_wide(trial, (one, other)), []).append(share >= HALF)
    return {kind: sum(each) / len(each) for kind, each in shares.items()}


def _invented(
    trial: RelationTrial, strength: float, rng: np.random.Generator
) -> list[Integers]:
    """Draw columns that share a factor by twos, with some values anew; cells are skewed
    as in real ones.
    """
    factors = {at: rng.random(trial.rows) for at in range(len(trial.sizes))}
    factors |= {other: factors[one] for one, other in _pairs(trial)}
    columns = []
    for at, size in enumerate(trial.sizes):
        shares = np.arange(1, size + 1) ** -SKEW
        anew = rng.random(trial.rows) >= strength**0.5
        place = np.where(anew, rng.random(trial.rows), factors[at])
        columns.append(
            np.minimum(
                np.searchsorted(np.cumsum(shares) / shares.sum(), place), size - 1
            )
        )
    return columns
