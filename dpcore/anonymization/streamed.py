"""A plan carried out on rows that come some at a time, after a look at the distinct
tuples of the table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from dpcore.anonymization.apply import (
    check_smallest,
    keeps_hidden,
    starred_before,
    suppressed_of,
)
from dpcore.anonymization.fulldomain.tuples import Tuples
from dpcore.anonymization.inputs import Inputs, check_roles, coded, subset_of
from dpcore.anonymization.levels import (
    PublishedClasses,
    published_classes,
    suppressed_rows,
    tuples,
)
from dpcore.anonymization.plan import Plan
from dpcore.anonymization.promise import promised
from dpcore.errors import RowsError, UsageError, source_changed
from dpcore.progress import OnProgress, silent
from dpcore.schema.values import SUPPRESSED, as_text
from dpcore.tables.arrow import uncoded
from dpcore.tables.classes import BoolArray, IntArray, class_index
from dpcore.tables.hashes import Hashes, person_hashes, tuple_hashes
from dpcore.tables.rows import DistinctRows, Published

WHOSE: Any = 0
"""Name of the column that tells people apart; it is no text, so no table has such a
column.
"""
_TUPLES_AT_ONCE = 131_072


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Recoding:
    """The recoding of any row of one table, by that row alone. Private, as the plan is.

    Attributes:
        plan: with its levels filled in.
        rows: how many rows there will be.
        models: those that they meet, in words.
    """

    plan: Plan
    rows: int
    models: tuple[str, ...]
    _table: Tuples
    _shown: PublishedClasses
    _keeps_hidden: bool
    _keeps_starred: bool

    @classmethod
    def of(
        cls,
        distinct: DistinctRows,
        plan: Plan,
        smallest: int = 1,
        on_progress: OnProgress = silent,
    ) -> Recoding:
        """Choose the levels where the plan has none, and what becomes of suppressed
        rows.

        Args:
            plan: by a method that searches.
            distinct: of the whole table, as `levels.distinct_of` asks for it.
            smallest: people in a group of rows that leave, at least.
            on_progress: gets the stage of a search and the share done; what it raises
                ends it.

        Raises: RowsError where the plan needs all rows at once; as `apply`.
        """
        check_streamed(plan)
        if plan.counted is not None and distinct.held is None:
            raise UsageError(
                (
                    f"the plan counts {plan.counts}, and it is not known who holds "
                    "which "
                    "tuples"
                ),
                remedy=f"ask for the tuples by the column {plan.counted}",
            )
        inputs = Inputs.of(distinct, plan)
        table = tuples(inputs)
        shown = published_classes(table, plan, on_progress)
        plan = plan.at(
            dict(zip(plan.quasi_identifiers, shown.node, strict=True)), shown.gap
        )
        few = table.without_rows()  # as it is sent along to wherever rows are
        recoding = cls(
            plan=plan,
            rows=0,
            models=(),
            _table=few,
            _shown=shown,
            _keeps_hidden=True,
            _keeps_starred=False,
        )
        printed = recoding._printed(inputs.published)
        starred = _starred(printed)
        hidden = suppressed_of(inputs, starred)
        keeps = keeps_hidden(inputs, hidden, starred)
        leaves = ~hidden | keeps
        classes = class_index(
            [labels.codes.astype(np.int64) for labels in printed.values()]
        )
        check_smallest(inputs, classes, leaves, smallest)
        models = promised(inputs, classes, hidden=hidden, leaves=leaves)
        weights = (
            distinct.rows if inputs.subset is None else distinct.rows[inputs.subset]
        )
        return replace(
            recoding,
            rows=int(weights[leaves].sum()),
            models=models,
            _keeps_hidden=keeps,
            _keeps_starred=bool((starred & ~hidden).any()),
        )

    def __call__(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Recode some rows, as they are published.

        Raises: SchemaError when the roles do not fit them.

        Where people are counted, a column WHOSE comes with it, which `Writing` takes
        away.
        """
        check_roles(rows.columns, self.plan)
        published = self.published(rows)
        if self.plan.counted is not None:
            whose = pd.Series(
                person_hashes(rows[self.plan.counted])[:, 0], index=rows.index
            )
            published[WHOSE] = whose[published.index]
        return published

    def published(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Recode some columns, those that a search looks at among them, under the same
        index.
        """
        plan = self.plan
        rows = coded(rows, self.plan)
        subset = subset_of(rows, plan)
        shown = rows if subset is None else rows[subset]
        printed = self._printed(shown)
        hidden = _starred(printed)
        if self._keeps_starred:
            hidden &= ~starred_before(shown, plan.quasi_identifiers, hidden)
        columns: dict[str, pd.Series | pd.Categorical] = {}
        for name, role in plan.roles.items():
            if name in plan.dropped or name not in rows:
                continue
            if role == "quasi-identifier":
                columns[name] = printed[name]
            elif role == "sensitive" and plan.suppressed == "blanked":
                columns[name] = as_text(shown[name]).mask(hidden, SUPPRESSED)
            else:
                columns[name] = shown[name]
        published = pd.DataFrame(columns, index=shown.index)[
            [name for name in rows if name in columns]
        ]
        return uncoded(published if self._keeps_hidden else published[~hidden])

    def _printed(self, rows: pd.DataFrame) -> dict[str, pd.Categorical]:
        """Print the labels of each quasi-identifier."""
        leaves = self._table.placed(rows)
        suppressed = suppressed_rows(leaves, self._table, self._shown)
        return {
            name: self._labels(name, leaf, suppressed) for name, leaf in leaves.items()
        }

    def _labels(
        self, name: str, leaf: IntArray, suppressed: BoolArray
    ) -> pd.Categorical:
        """Print the labels of one of them."""
        place = self._table.names.index(name)
        hierarchy = self._table.hierarchies[place]
        level = self._shown.node[place]
        codes, labels = pd.factorize(
            np.array([*hierarchy.levels[level], SUPPRESSED], dtype=object)
        )
        printed: IntArray = np.where(suppressed, codes[-1], codes[:-1][leaf])
        column: pd.Categorical = pd.Categorical.from_codes(
            printed, categories=pd.Index(labels)
        )
        return column


@dataclass(frozen=True, kw_only=True)
class Writing:
    """Recodes some rows, counts their classes, and puts them away, wherever they are.

    Attributes:
        names: columns whose values make a class.
        put: gets the recoded rows, and returns where they are.
    """

    recoding: Recoding
    names: Sequence[str]
    put: Callable[[pd.DataFrame], Any]

    def __call__(self, rows: pd.DataFrame) -> Published:
        """Return three numbers of each class, under its hash, the one above, and the
        next.

        These are its rows, and over them the sums of the lower and the upper 32 bits of
        whose each is.
        """
        published = self.recoding(rows)
        nobody = np.zeros(len(published), dtype=np.uint64)
        whose = published.pop(WHOSE).to_numpy() if WHOSE in published else nobody
        hashes, index = tuple_hashes(published, self.names)
        numbers = np.zeros((3, len(hashes)), dtype=np.int64)
        for sums, each in zip(
            numbers, (nobody + 1, whose & 0xFFFF_FFFF, whose >> 32), strict=True
        ):
            np.add.at(sums, index, each.astype(np.int64))
        return Published.of(
            _keys(hashes).ravel(), numbers.ravel(), (self.put(published),)
        )


class Tally:
    """The rows of each class, and of its sensitive values, that are to be published,
    and whose they are.

    A source that gives other rows the second time would break the models of a plan,
    whatever their number. Private; at most as large as the distinct tuples, which it
    tells apart by 64 bits.
    """

    def __init__(self, recoding: Recoding, distinct: DistinctRows) -> None:
        """Take the tuples that the recoding was made of."""
        plan = recoding.plan
        looked_at = dict.fromkeys([*plan.quasi_identifiers, *plan.secrets])
        self._recoding = recoding
        self._names = [name for name in looked_at if name not in plan.dropped]
        tuples = distinct.frame.reset_index(drop=True)
        parts: list[tuple[IntArray, ...]] = [(np.empty(0, dtype=np.int64),) * 3]
        of_tuples = (
            np.zeros(len(tuples), dtype=np.uint64)
            if distinct.held is None
            else distinct.held.sums
        )
        for start in range(0, len(tuples), _TUPLES_AT_ONCE):
            published = recoding.published(tuples[start : start + _TUPLES_AT_ONCE])
            hashes, index = tuple_hashes(published, self._names)
            sums = of_tuples[published.index].view(np.int64)
            parts.append(
                (hashes[index].view(np.int64), distinct.rows[published.index], sums)
            )
        keys, rows, whose = map(np.concatenate, zip(*parts, strict=True))
        self._rows = Published.of(keys, rows, ())
        self._whose = Published.of(keys, whose, ())

    def writing(self, put: Callable[[pd.DataFrame], Any]) -> Writing:
        """Return what writes the rows and counts them."""
        return Writing(recoding=self._recoding, names=self._names, put=put)

    def check(self, published: Published) -> None:
        """Refuse rows that are too few or too many in a class, or somebody else's.

        Raises: ReadError.
        """
        keys = _keys(self._rows.keys)
        if not np.array_equal(published.keys, np.unique(keys)):
            raise source_changed()
        rows, low, high = published.numbers[np.searchsorted(published.keys, keys)]
        if (rows != self._rows.numbers).any() or (
            low + (high << 32) != self._whose.numbers
        ).any():
            raise source_changed()


def _keys(hashes: Hashes | IntArray) -> IntArray:
    """(3, classes) keys of the three numbers of each class."""
    return hashes.view(np.int64) + np.arange(3)[:, None]


def _starred(printed: Mapping[str, pd.Categorical]) -> BoolArray:
    """(rows,) flags of the rows that print nothing but `*`."""
    return np.asarray(
        np.all([labels == SUPPRESSED for labels in printed.values()], axis=0)
    )


def check_streamed(plan: Plan) -> None:
    """Refuse what cannot be decided for each row by itself.

    Raises: RowsError.
    """
    if not plan.method.searches or plan.pseudonym is not None or plan.randomized:
        raise RowsError(
            (
                "this method, a pseudonym or PRAM needs all rows in memory, and the "
                "table has too many"
            ),
            remedy="take the full-domain method, without pseudonyms and PRAM",
        )
