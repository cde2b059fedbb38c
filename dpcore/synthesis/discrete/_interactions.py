"""Columns that predict a target only jointly, found by one number per set.

A class that is the exclusive or of two columns goes together with neither of them, so
that no pair shows it. Every column is therefore cut in two. Two or three columns with
their cuts divide the rows into those on an even and those on an odd number of high
sides; the number is the rows on even ones less those on odd ones, for each cell of the
target. A row is in one cell and counts 1 or -1 there, so that the number takes as much
noise as one cell, whatever the columns hold. Rules that no such cut shows are not
found: those of four columns and more, and those of which every cut holds as many rows
of each target.

Source: Barak and others (2007), "Privacy, accuracy, and consistency too", for Fourier
coefficients of a table as queries; here each cut makes a column binary.
"""

import functools
import itertools
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from dpcore.accounting.loss import Loss
from dpcore.mechanisms.max_norm import MAX_ENTRIES
from dpcore.mechanisms.measurer import Measurer
from dpcore.mechanisms.sensitivity import sums_deviation
from dpcore.schema.domain import Clique
from dpcore.tables.counts import Values
from dpcore.tables.sums import Entry, to_levels

MAX_CUT_SETS = 3_000  # sets of cuts, for which lines of the ledger stay short
# Noise may hide this share of the rows in a set's strength; fewer sets have less noise.
MAX_HIDDEN_SHARE = 0.5
MAX_ROW_ADDITIONS = 500_000_000  # rows x sets of cuts that are added up
MAX_DRAWS = 50_000  # sets of cuts x cells of the target, each a draw of noise
MAX_TARGET_CELLS = 50
# Chance that noise alone shows an interaction, for all sets together.
FALSE_ALARM_CHANCE = 1e-6
MIN_STRENGTH_SHARE = 0.05  # of the rows, on the side of an interaction that counts
# Further interactions are measured if their strength exceeds this share of the
# strongest.
MIN_RELATIVE_STRENGTH = 0.5
MAX_INTERACTIONS = 3  # interactions


def cut_columns(counts: Mapping[str, Values]) -> dict[str, list[Values]]:
    """Return one or two cuts per column, each with a sign (1 or -1) for every cell.

    One cut is between neighboring cells, close to half of the rows. A column of more
    than two cells has another one, by turns, for rules such as an odd sum.

    Args:
        counts: column -> noisy rows of its cells, above 0.
    """
    cuts: dict[str, list[Values]] = {}
    for name, rows in counts.items():
        if len(rows) < 2:
            continue
        below = np.cumsum(rows)[:-1] / rows.sum()
        low = 1 + int(np.argmin(np.abs(below - 0.5)))
        places = np.arange(len(rows))
        cuts[name] = [np.where(places < low, 1.0, -1.0)]
        if len(rows) > 2:
            cuts[name].append(np.where(places % 2 == 0, 1.0, -1.0))
    return cuts


def choose_cut_sets(
    cuts: Mapping[str, Sequence[Values]], max_sets: int
) -> list[dict[str, Values]]:
    """Return the sets of two and three cuts to measure, up to a maximum number.

    Pairs come before triples, and halves before cuts by turns; what does not fit as a
    whole kind is left out.
    """
    halves = [(name, 0) for name in cuts]
    every = [(name, place) for name in cuts for place in range(len(cuts[name]))]
    found: dict[tuple[tuple[str, int], ...], None] = {}
    for sides, size in ((halves, 2), (every, 2), (halves, 3), (every, 3)):
        more = (
            [
                chosen
                for chosen in itertools.combinations(sides, size)
                if len({name for name, _ in chosen}) == size and chosen not in found
            ]
            if math.comb(len(sides), size) <= 4 * max_sets
            else []
        )
        if len(found) + len(more) <= max_sets:
            found |= dict.fromkeys(more)
    return [{name: cuts[name][place] for name, place in chosen} for chosen in found]


def find_interactions(
    view: Measurer, counts: Mapping[str, Values], target: str, loss: Loss
) -> list[Clique]:
    """Spend `loss` on all sets of cuts; return the columns of sets that stand out.

    Args:
        view: the table over groups.
        counts: column -> noisy rows of its groups, above 0.
        target: the column that is told.
        loss: spent whole, Gaussian noise.

    Returns: columns without the target, the strongest first; a set that holds a
        stronger one is left out.
    """
    sets = affordable_sets(counts, target, loss, view.rows)
    # 1. For each cell of the target, sum the signs (1 or -1) of its rows.
    sums = np.empty((view.domain.size(target), len(sets)))
    deviation = 0.0
    for first in range(0, len(sets), MAX_ENTRIES):
        batch = slice(first, first + MAX_ENTRIES)
        entries: list[Entry] = [
            {name: to_levels(cut) for name, cut in chosen.items()}
            for chosen in sets[batch]
        ]
        share = Fraction(len(entries), len(sets))
        noisy = view.measure_sums((target,), entries, loss.share(share))
        sums[:, batch] = noisy.values
        deviation = noisy.deviation
    # 2. Subtract the relation that the columns have among themselves.
    parts = counts[target] / counts[target].sum()
    beyond = sums - np.outer(parts, sums.sum(axis=0))
    # 3. Keep the sets that noise does not explain and that are strong enough.
    strengths = np.abs(beyond).sum(axis=0)
    stands_out = (beyond**2).sum(axis=0) > deviation**2 * _noise_limit(
        len(parts), len(sets)
    )
    matters = strengths >= MIN_STRENGTH_SHARE * counts[target].sum()
    found: list[frozenset[str]] = []
    for place in np.argsort(-strengths):
        columns = frozenset(sets[place])
        if (
            stands_out[place]
            and matters[place]
            and strengths[place] >= MIN_RELATIVE_STRENGTH * strengths.max()
            and not any(columns >= other or columns <= other for other in found)
        ):
            found.append(columns)
    return [
        tuple(name for name in view.domain.names if name in columns)
        for columns in found[:MAX_INTERACTIONS]
    ]


def affordable_sets(
    counts: Mapping[str, Values], target: str, loss: Loss, max_rows: int
) -> list[dict[str, Values]]:
    """Return the sets of cuts that time and noise allow.

    It follows from public sizes and noisy counts alone.

    Args:
        counts: column -> noisy rows of its groups, above 0.
        target: the column that is told.
        loss: for all sets together, Gaussian noise.
        max_rows: most rows of a person.
    """
    cells = len(counts[target])
    if not 2 <= cells <= MAX_TARGET_CELLS:
        return []
    others = {name: values for name, values in counts.items() if name != target}
    table_rows = max(1.0, float(counts[target].sum()))
    deviation = sums_deviation(max_rows=max_rows, entries=1, loss=loss)
    hidden = deviation * math.sqrt(_noise_limit(cells, MAX_CUT_SETS))
    most = min(
        MAX_CUT_SETS,
        MAX_DRAWS // cells,
        int(MAX_ROW_ADDITIONS / table_rows),
        # The noise of each number grows with the square root of the number of sets.
        int((MAX_HIDDEN_SHARE * table_rows / hidden) ** 2),
    )
    return choose_cut_sets(cut_columns(others), most)


@functools.cache
def _noise_limit(cells: int, numbers: int) -> float:
    """Return the sum of squares that noise of SD 1 almost never exceeds in any set."""
    from scipy.special import chdtri

    return float(chdtri(cells, FALSE_ALARM_CHANCE / numbers))
