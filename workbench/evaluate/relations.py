"""How much of the relations between columns a release keeps. Internal."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from dpcore.evaluation.utility.similarity import SimilarityReport
from workbench.ui.verdict import Level

WELL_KEPT_SHARE = 0.8  # kept share of relations from which a release is fit for them
BARELY_KEPT_SHARE = 0.4  # kept share of relations below which it is not fit for them
# Distance of independent columns, beyond chance, below which the original is taken to
# have no relations.
MIN_SIGNAL = 0.02


@dataclass(frozen=True, kw_only=True)
class Relation:
    """Two columns of the original, and what a release keeps of their relation.

    All distances are total variation distances from the original.

    Attributes:
        columns: names of both, or of one column of two events.
        value: distance of the release.
        floor: distance of a bootstrap of the original.
        independent: distance of independent columns.
        unrelated_limit: of `independent`, seldom exceeded if there is no relation.
        is_lost: whether a column has the same label in every row of the release.
    """

    columns: tuple[str, ...]
    value: float
    floor: float
    independent: float
    unrelated_limit: float
    is_lost: bool

    @property
    def kept(self) -> float | None:
        """Kept share, 0 to 1; None if the original has no relation beyond chance.

        The distance between two samples of the original is no loss.
        """
        # Two independent samples are sqrt(2) times as far apart as a sample and its
        # bootstrap.
        chance = math.sqrt(2) * self.floor
        signal = self.independent - chance
        if self.independent <= self.unrelated_limit or signal < MIN_SIGNAL:
            return None
        if self.is_lost:
            return 0.0
        return min(1.0, max(0.0, 1 - (self.value - chance) / signal))


def list_relations(
    similarity: SimilarityReport,
    pairs: Iterable[tuple[str, str]] | None = None,
    columns_of_one_label: Collection[str] = (),
) -> tuple[Relation, ...]:
    """Return pairs of columns, the farthest from the original first.

    Args:
        pairs: names of compared columns; None for all pairs.
        columns_of_one_label: those with the same label in every row of the release.
    """
    if pairs is None:
        pairs = itertools.combinations(similarity.marginals.columns, 2)
    return sort_relations(
        (pair, similarity.distances_of_pair(*pair), columns_of_one_label)
        for pair in pairs
    )


def kept_relations(similarity: SimilarityReport) -> float | None:
    """Return the kept share, 0 to 1, of relations between columns.

    None without relations.
    """
    return mean_kept_share(list_relations(similarity))


def sort_relations(
    found: Iterable[tuple[tuple[str, ...], tuple[float, ...], Collection[str]]],
) -> tuple[Relation, ...]:
    """Return relations, the farthest from the original first.

    Args:
        found: columns, figures in the order of `Relation`, and columns of one label.
    """
    relations = [
        Relation(
            columns=columns,
            value=value,
            floor=floor,
            independent=independent,
            unrelated_limit=limit,
            is_lost=not set(columns).isdisjoint(one_label),
        )
        for columns, (value, floor, independent, limit), one_label in found
    ]
    return tuple(sorted(relations, key=lambda each: each.value, reverse=True))


def mean_kept_share(relations: Sequence[Relation]) -> float | None:
    """Return the mean kept share of relations, weighted by their strength.

    Columns without a relation in the original do not count. None without relations.
    """
    related = [
        (each.kept, each.independent) for each in relations if each.kept is not None
    ]
    if not related:
        return None
    kept, strengths = zip(*related, strict=True)
    return float(np.average(kept, weights=strengths))


def worst_lost_relation(relations: Sequence[Relation]) -> Relation | None:
    """Return the relation of which most is lost; None if all are well kept."""
    lost = [
        (each.independent * (1 - each.kept), each)
        for each in relations
        if each.kept is not None and each.kept < WELL_KEPT_SHARE
    ]
    return max(lost, key=lambda each: each[0], default=(0.0, None))[1]


def level_of_kept(kept: float | None) -> Level:
    """Return how good it is to keep so much of the relations."""
    if kept is None or kept >= WELL_KEPT_SHARE:
        return "good"
    return "mixed" if kept >= BARELY_KEPT_SHARE else "poor"
