"""SUDA2: find rows that few columns single out, and how much each column adds.

A minimal unique set of a row is a set of columns on which no other person agrees with
it, while on every smaller part of the set somebody does. The fewer columns it takes,
and the more such sets there are, the more likely the person is unique in the whole
population too. Sources: Elliot, Manning, Ford (2002), Int. J. Uncertainty, Fuzziness
and Knowledge-Based Systems 10 (the sets); Elliot, Manning, Mayes, Gurd, Bane (2005),
SUDA: a program for detecting special uniques (the score); Manning, Haglin, Keane
(2008), Data Mining and Knowledge Discovery 16 (a row that is unique goes no deeper in
the search). All figures are those of `suda2` in sdcMicro, except that a group is as
large as the people in it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpcore.errors import UsageError
from dpcore.risk.column_sets import max_set_size
from dpcore.tables.classes import (
    BoolArray,
    FloatArray,
    IntArray,
    check_columns,
    class_index,
    leaves_of,
    renumber,
)
from dpcore.tables.people import people_per_class

MAX_COLUMN_SETS = 600
"""Sets of columns that are looked at where nobody says how large they may be: all sets
of nine columns.
"""

PackedBits = NDArray[np.uint8]


@dataclass(frozen=True, kw_only=True, eq=False)
class SpecialUniques:
    """The SUDA score of each row, and the columns that cause it.

    Attributes:
        max_columns: columns of the largest sets that were looked at.
        score: (rows,) the sum over the minimal unique sets of a row, each of size k, of
            the product of (columns - i) for i = k .. min(largest, columns - 1); 0 if no
            set makes the row unique.
        dis: (rows,) the score as the probability that a match on such a row is right
            (DIS-SUDA).
        smallest_set_size: (rows,) columns of the smallest minimal unique set; 0 without one.
        set_count: (rows,) how many there are.
        score_parts: column -> (rows,) share of the row's score from sets with this column, 0
            if the score is 0. A set counts for each of its columns, so the shares add
            up to more than 1.
    """

    max_columns: int
    score: FloatArray
    dis: FloatArray
    smallest_set_size: IntArray
    set_count: IntArray
    score_parts: dict[str, FloatArray]

    @property
    def score_share(self) -> dict[str, float]:
        """Share of the total score that comes from sets with each column."""
        total = float(self.score.sum())
        return {
            name: float(shares @ self.score) / total if total else 0.0
            for name, shares in self.score_parts.items()
        }


def score_special_uniques(
    frame: pd.DataFrame,
    columns: Sequence[str],
    *,
    max_columns: int | None = None,
    fraction: float = 0.01,
    person: IntArray | None = None,
) -> SpecialUniques:
    """Compute the SUDA score of every row.

    Args:
        frame: the table.
        columns: those that an attacker may know.
        max_columns: columns of the sets that are looked at; by default as many as
            `MOST_SETS` sets allow.
        fraction: share of the population that is in the table, in (0, 1), for `dis`.
        person: (rows,) number of the person whose row it is; None where every row is a
            person.

    Raises: ParameterError without columns, or for a fraction outside (0, 1) or sets of
        no column; SchemaError for an unknown column.
    """
    check_columns(columns)
    if not 0 < fraction < 1:
        raise UsageError(
            f"the share of the population ({fraction:g}) must be above 0 and below 1",
            remedy="give a share, such as 0.01",
        )
    max_columns = (
        max_set_size(len(columns), len(columns), MAX_COLUMN_SETS)
        if max_columns is None
        else min(max_columns, len(columns))
    )
    if max_columns < 1:
        raise UsageError("sets need at least one column", remedy="raise the size")
    codes = [leaves_of(frame, name).codes for name in columns]
    together = class_index(codes)
    tuples = class_index([together] if person is None else [together, person])
    first = np.unique(tuples, return_index=True)[1]
    search = _UniqueSets(
        codes=[column[first] for column in codes],
        rows=np.bincount(tuples) if person is None else None,
        person=None if person is None else person[first],
        max_columns=max_columns,
    )
    search.run()
    score, by_column, smallest, sets = _score_tuples(search, len(first), len(columns))
    crowd = people_per_class(together, person)
    dis = dis_scores(
        score,
        uniques=int((crowd == 1).sum()),
        paired=int(2 * (crowd == 2).sum()),
        columns=len(columns),
        fraction=fraction,
    )
    return SpecialUniques(
        max_columns=max_columns,
        score=score[tuples],
        dis=dis[tuples],
        smallest_set_size=smallest[tuples],
        set_count=sets[tuples],
        score_parts={
            name: (part / np.where(score > 0, score, 1))[tuples]
            for name, part in zip(columns, by_column, strict=True)
        },
    )


def dis_scores(
    score: FloatArray, *, uniques: int, paired: int, columns: int, fraction: float
) -> FloatArray:
    """Return each row's probability that a match on it is right, shape (rows,).

    One figure for all unique rows is spread by the scores.

    Args:
        uniques: people who are alone in all columns together.
        paired: people who share them with exactly one other person.
        fraction: share of the population in the table.

    Source: Skinner, Elliot (2002), JRSS B 64, section 3: of the matches on unique rows,
    the share uniques * fraction / (uniques * fraction + paired * (1 - fraction)) is
    right. Elliot, Manning (2003) for the spread; its exponent 1 + (8 - columns) / 20 as
    in sdcMicro.
    """
    scored = score > 0
    if not scored.any():
        return np.zeros(len(score))
    right = uniques * fraction / (uniques * fraction + paired * (1 - fraction))
    weight = np.where(scored, score, 1.0) ** (1 + (8 - columns) / 20)
    spread = weight * (1 / weight[scored]).sum()
    return np.where(scored, 1 / (1 + (uniques / right - uniques) / spread), 0.0)


@dataclass(kw_only=True)
class _UniqueSets:
    """A depth-first search for tuples that are unique on sets of columns.

    A tuple that is unique on a set goes no deeper.

    Attributes:
        rows: (tuples,) rows of each, all of different people; None if `person` gives
            each tuple's person.
        unique: set -> the tuples that are unique on it, packed. A set without an entry
            has a part on which all are unique.
    """

    codes: Sequence[IntArray]
    rows: IntArray | None
    person: IntArray | None
    max_columns: int
    unique: dict[tuple[int, ...], PackedBits] = field(default_factory=dict)

    def run(self) -> None:
        number = len(self.codes[0])
        everything = np.arange(number)
        self._search_extensions(
            (),
            everything,
            np.zeros(number, dtype=np.int64),
            np.zeros(number, dtype=bool),
        )

    def _search_extensions(
        self,
        chosen: tuple[int, ...],
        non_unique: IntArray,
        classes: IntArray,
        is_unique: BoolArray,
    ) -> None:
        """Search all sets that extend a set by one column, then larger ones.

        Args:
            non_unique: tuples that are not unique on `chosen`; classes: theirs.
            is_unique: (tuples,) the others.
        """
        number = int(classes.max(initial=0)) + 1
        for column in range(chosen[-1] + 1 if chosen else 0, len(self.codes)):
            code = self.codes[column][non_unique]
            width = int(code.max(initial=0)) + 1
            finer = renumber(classes * width + code, number * width)
            alone = (self._people_per_class(finer, non_unique) == 1)[finer]
            unique = is_unique.copy()
            unique[non_unique[alone]] = True
            deeper = (*chosen, column)
            self.unique[deeper] = np.packbits(unique)
            if len(deeper) < self.max_columns and not alone.all():
                rest = finer[~alone]
                self._search_extensions(
                    deeper,
                    non_unique[~alone],
                    renumber(rest, int(rest.max()) + 1),
                    unique,
                )

    def _people_per_class(self, classes: IntArray, left: IntArray) -> IntArray:
        if self.person is None:
            assert self.rows is not None
            return np.bincount(classes, self.rows[left]).astype(np.int64)
        return people_per_class(classes, self.person[left])

    def minimal_tuples(self, chosen: tuple[int, ...]) -> PackedBits:
        """Return which tuples have this set as a minimal unique set, as packed bits."""
        minimal = self.unique[chosen]
        for place in range(len(chosen)):
            part = chosen[:place] + chosen[place + 1 :]
            if part:
                smaller = self.unique.get(part)
                minimal = (
                    np.zeros_like(minimal) if smaller is None else minimal & ~smaller
                )
        return minimal


def _score_tuples(
    search: _UniqueSets,
    tuples: int,
    columns: int,
) -> tuple[FloatArray, FloatArray, IntArray, IntArray]:
    """Score the tuples by their minimal unique sets.

    Returns: the score, (tuples,); the part of it from sets with each column, (columns,
        tuples); the size of the smallest set and the number of sets, both (tuples,).
    """
    score = np.zeros(tuples)
    by_column = np.zeros((columns, tuples))
    smallest = np.zeros(tuples, dtype=np.int64)
    sets = np.zeros(tuples, dtype=np.int64)
    last = min(search.max_columns, columns - 1)
    for chosen in sorted(search.unique, key=len):
        where = np.flatnonzero(
            np.unpackbits(search.minimal_tuples(chosen), count=tuples)
        )
        worth = float(math.prod(columns - i for i in range(len(chosen), last + 1)))
        score[where] += worth
        for column in chosen:
            by_column[column, where] += worth
        smallest[where] = np.where(smallest[where] == 0, len(chosen), smallest[where])
        sets[where] += 1
    return score, by_column, smallest, sets
