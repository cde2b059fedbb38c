"""Anonymize a table in batches of rows, after reading its distinct tuples."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from dpcore.anonymization.apply import (
    check_smallest_group,
    mark_starred_before,
    mark_suppressed,
    publishes_suppressed_rows,
)
from dpcore.anonymization.fulldomain.tuples import Tuples
from dpcore.anonymization.inputs import Inputs, check_roles, code_columns, mark_subset
from dpcore.anonymization.levels import (
    PublishedClasses,
    build_tuples,
    find_published_classes,
    mark_suppressed_rows,
)
from dpcore.anonymization.plan import Plan
from dpcore.anonymization.promise import describe_models
from dpcore.errors import RowsError, UsageError, source_changed_error
from dpcore.progress import OnProgress, ignore_stage_progress
from dpcore.schema.values import SUPPRESSED, as_text
from dpcore.tables.arrow import decode_categories
from dpcore.tables.classes import BoolArray, IntArray, class_index
from dpcore.tables.hashes import Hashes, person_hashes, tuple_hashes
from dpcore.tables.rows import DistinctRows, PublishedSums

PERSON_COLUMN: Any = 0
"""Name of the added column with hashes of people.

It is no text, so that no table has such a column.
"""
_TUPLES_PER_BATCH = 131_072
"""Distinct tuples that are recoded at a time."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RowRecoder:
    """Recodes any row of one table without knowing the other rows. Private.

    Attributes:
        plan: with its levels filled in.
        row_count: number of rows that will be published.
        models: those that they meet, in words.
    """

    plan: Plan
    row_count: int
    models: tuple[str, ...]
    _table: Tuples
    _published_classes: PublishedClasses
    _keeps_suppressed: bool
    _keeps_starred: bool

    @classmethod
    def from_tuples(
        cls,
        distinct: DistinctRows,
        plan: Plan,
        smallest_group: int = 1,
        on_progress: OnProgress = ignore_stage_progress,
    ) -> RowRecoder:
        """Choose the levels if the plan has none, and decide on suppressed rows.

        Args:
            plan: by a method that searches.
            distinct: of the whole table, as from `levels.read_distinct`.
            smallest_group: people in a published group, at least.
            on_progress: gets the stage of a search and the share done; an exception
                that it raises ends the search.

        Raises: RowsError if the plan needs all rows at once; as `apply`.
        """
        check_can_stream(plan)
        if plan.unit_column is not None and distinct.owners is None:
            raise UsageError(
                (
                    f"the plan counts {plan.counted_unit}, and it is not known who holds "
                    "which "
                    "tuples"
                ),
                remedy=f"ask for the tuples by the column {plan.unit_column}",
            )
        inputs = Inputs.from_table(distinct, plan)
        table = build_tuples(inputs)
        shown = find_published_classes(table, plan, on_progress)
        plan = plan.with_node(
            dict(zip(plan.quasi_identifiers, shown.node, strict=True)), shown.gap
        )
        # Keep no rows in the layout, since it may be sent to other processes
        layout = table.without_rows()
        recoding = cls(
            plan=plan,
            row_count=0,
            models=(),
            _table=layout,
            _published_classes=shown,
            _keeps_suppressed=True,
            _keeps_starred=False,
        )
        printed = recoding._print_labels(inputs.published_rows)
        starred = _mark_starred(printed)
        hidden = mark_suppressed(inputs, starred)
        keeps = publishes_suppressed_rows(inputs, hidden, starred)
        leaves = ~hidden | keeps
        classes = class_index(
            [labels.codes.astype(np.int64) for labels in printed.values()]
        )
        check_smallest_group(inputs, classes, leaves, smallest_group)
        models = describe_models(
            inputs, classes, is_suppressed=hidden, is_published=leaves
        )
        weights = (
            distinct.rows
            if inputs.is_in_subset is None
            else distinct.rows[inputs.is_in_subset]
        )
        return replace(
            recoding,
            row_count=int(weights[leaves].sum()),
            models=models,
            _keeps_suppressed=keeps,
            _keeps_starred=bool((starred & ~hidden).any()),
        )

    def __call__(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Recode a batch of rows for publication.

        If people are counted, a column PERSON_COLUMN comes with them, for `RecodingWriter` to
        remove.

        Raises: SchemaError when the roles do not fit them.
        """
        check_roles(rows.columns, self.plan)
        published = self.recode_columns(rows)
        if self.plan.unit_column is not None:
            whose = pd.Series(
                person_hashes(rows[self.plan.unit_column])[:, 0], index=rows.index
            )
            published[PERSON_COLUMN] = whose[published.index]
        return published

    def recode_columns(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Recode the searched columns of a batch; keep its other published columns."""
        plan = self.plan
        rows = code_columns(rows, self.plan)
        subset = mark_subset(rows, plan)
        shown = rows if subset is None else rows[subset]
        printed = self._print_labels(shown)
        hidden = _mark_starred(printed)
        if self._keeps_starred:
            hidden &= ~mark_starred_before(shown, plan.quasi_identifiers, hidden)
        columns: dict[str, pd.Series | pd.Categorical] = {}
        for name, role in plan.roles.items():
            if name in plan.dropped_columns or name not in rows:
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
        return decode_categories(
            published if self._keeps_suppressed else published[~hidden]
        )

    def _print_labels(self, rows: pd.DataFrame) -> dict[str, pd.Categorical]:
        """Return the label of each row in every quasi-identifier."""
        leaves = self._table.find_leaves(rows)
        suppressed = mark_suppressed_rows(leaves, self._table, self._published_classes)
        return {
            name: self._print_column(name, leaf, suppressed)
            for name, leaf in leaves.items()
        }

    def _print_column(
        self, name: str, leaf: IntArray, suppressed: BoolArray
    ) -> pd.Categorical:
        """Return the label of each row in one quasi-identifier."""
        place = self._table.names.index(name)
        hierarchy = self._table.hierarchies[place]
        level = self._published_classes.node[place]
        codes, labels = pd.factorize(
            np.array([*hierarchy.levels[level], SUPPRESSED], dtype=object)
        )
        printed: IntArray = np.where(suppressed, codes[-1], codes[:-1][leaf])
        column: pd.Categorical = pd.Categorical.from_codes(
            printed, categories=pd.Index(labels)
        )
        return column


@dataclass(frozen=True, kw_only=True)
class RecodingWriter:
    """Recodes batches of rows, stores them and counts their classes.

    Attributes:
        names: columns whose values make a class.
        put: stores recoded rows, and returns their location.
    """

    recoding: RowRecoder
    names: Sequence[str]
    put: Callable[[pd.DataFrame], Any]

    def __call__(self, rows: pd.DataFrame) -> PublishedSums:
        """Recode and store rows; return their number and owner hashes by class.

        They are its rows, and the sums of the lower and of the upper 32 bits of the
        hashes of their people. Their keys are the hash of the class, this plus 1, and
        plus 2.
        """
        published = self.recoding(rows)
        nobody = np.zeros(len(published), dtype=np.uint64)
        whose = (
            published.pop(PERSON_COLUMN).to_numpy()
            if PERSON_COLUMN in published
            else nobody
        )
        hashes, index = tuple_hashes(published, self.names)
        # For each class: its rows, and sums of the low and high 32 bits of its people's
        # hashes
        numbers = np.zeros((3, len(hashes)), dtype=np.int64)
        for sums, addends in zip(
            numbers, (nobody + 1, whose & 0xFFFF_FFFF, whose >> 32), strict=True
        ):
            np.add.at(sums, index, addends.astype(np.int64))
        return PublishedSums.sum_by_key(
            _class_keys(hashes).ravel(), numbers.ravel(), (self.put(published),)
        )


class ExpectedClasses:
    """The rows and people expected in each class, to detect a changed source.

    A source that gives other rows in the second pass would break the models of a plan,
    even if their number is the same. Private; at most as large as the distinct tuples,
    which it tells apart by 64 bits.
    """

    def __init__(self, recoding: RowRecoder, distinct: DistinctRows) -> None:
        """Count the classes of the tuples from which the recoding was made."""
        plan = recoding.plan
        looked_at = dict.fromkeys([*plan.quasi_identifiers, *plan.secrets])
        self._recoding = recoding
        self._names = [name for name in looked_at if name not in plan.dropped_columns]
        tuples = distinct.frame.reset_index(drop=True)
        parts: list[tuple[IntArray, ...]] = [(np.empty(0, dtype=np.int64),) * 3]
        people_sums = (
            np.zeros(len(tuples), dtype=np.uint64)
            if distinct.owners is None
            else distinct.owners.sums
        )
        for start in range(0, len(tuples), _TUPLES_PER_BATCH):
            published = recoding.recode_columns(
                tuples[start : start + _TUPLES_PER_BATCH]
            )
            hashes, index = tuple_hashes(published, self._names)
            sums = people_sums[published.index].view(np.int64)
            parts.append(
                (hashes[index].view(np.int64), distinct.rows[published.index], sums)
            )
        keys, rows, whose = map(np.concatenate, zip(*parts, strict=True))
        self._rows = PublishedSums.sum_by_key(keys, rows, ())
        self._whose = PublishedSums.sum_by_key(keys, whose, ())

    def make_writer(self, put: Callable[[pd.DataFrame], Any]) -> RecodingWriter:
        """Return a writer that stores the rows and counts their classes."""
        return RecodingWriter(recoding=self._recoding, names=self._names, put=put)

    def check(self, published: PublishedSums) -> None:
        """Refuse published rows whose classes have other counts or other people.

        Raises: ReadError.
        """
        keys = _class_keys(self._rows.keys)
        if not np.array_equal(published.keys, np.unique(keys)):
            raise source_changed_error()
        rows, low, high = published.numbers[np.searchsorted(published.keys, keys)]
        if (rows != self._rows.numbers).any() or (
            low + (high << 32) != self._whose.numbers
        ).any():
            raise source_changed_error()


def _class_keys(hashes: Hashes | IntArray) -> IntArray:
    """Return the keys of each class's three numbers, shape (3, classes)."""
    return hashes.view(np.int64) + np.arange(3)[:, None]


def _mark_starred(printed: Mapping[str, pd.Categorical]) -> BoolArray:
    """Return which rows have `*` in every quasi-identifier."""
    return np.asarray(
        np.all([labels == SUPPRESSED for labels in printed.values()], axis=0)
    )


def check_can_stream(plan: Plan) -> None:
    """Refuse a plan that cannot be applied to each row by itself.

    Raises: RowsError.
    """
    if not plan.method.searches or plan.pseudonym is not None or plan.randomized:
        raise RowsError(
            (
                "this method, a pseudonym or PRAM needs all rows in memory, and the "
                "table has too many"
            ),
            remedy="use the full-domain method, without pseudonyms and PRAM",
        )
