"""A plan carried out on rows that come some at a time, after a look at the distinct tuples of the table."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpcore.anonymize.fulldomain.search import search
from dpcore.anonymize.fulldomain.tuples import Tuples
from dpcore.anonymize.groups import Rows
from dpcore.anonymize.inputs import check_people, check_roles, published_rows, secrets_of, subset_of
from dpcore.anonymize.levels import Shown, counted, shown_classes, suppressed_rows
from dpcore.anonymize.models import violations
from dpcore.anonymize.plan import Plan
from dpcore.errors import RowsError, source_changed
from dpcore.progress import OnProgress, silent
from dpcore.schema.values import MISSING, SUPPRESSED, as_text, canonical
from dpcore.tables.arrow import uncoded
from dpcore.tables.classes import BoolArray, IntArray, class_index
from dpcore.tables.rows import DistinctRows

_TUPLES_AT_ONCE = 131_072


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Recoding:
    """What becomes of any row of one table: a function of the row alone. Private, as the plan is.

    Attributes:
        plan: with its levels filled in.
        rows: how many rows there will be.
    """

    plan: Plan
    rows: int
    _table: Tuples
    _shown: Shown
    _keeps_hidden: bool

    @classmethod
    def of(cls, distinct: DistinctRows, plan: Plan, on_progress: OnProgress = silent) -> Recoding:
        """Choose the levels where the plan has none, and what becomes of suppressed rows.

        Args:
            distinct: the tuples of `levels.columns_of(plan)` over the whole table.
            on_progress: gets the stage of a search and the share done; what it raises ends it.
        Raises: RowsError where the plan needs all rows at once; as `apply`.
        """
        check_streamed(plan)
        table = counted(distinct, plan)
        check_people(table.people, plan, suppresses=True)
        if plan.node is None:
            found = search(table, plan.models, limit=plan.limit, metric=plan.metric, on_progress=on_progress)
            plan = plan.at(dict(zip(plan.quasi_identifiers, found.node, strict=True)))
        subset = subset_of(distinct.frame, plan)
        weights = distinct.rows if subset is None else distinct.rows[subset]
        shown = shown_classes(table, plan)
        made = cls(plan=plan, rows=int(weights.sum()), _table=table, _shown=shown, _keeps_hidden=True)
        rows = published_rows(distinct.frame, plan)
        hidden = _hidden(made._printed(rows))
        keeps = plan.suppressed in ("kept", "blanked")
        if plan.suppressed == "checked":
            held = Rows.of(rows, secrets_of(plan), weights=weights).taken(hidden.nonzero()[0])
            together = held.groups(np.zeros(int(hidden.sum()), dtype=np.int64))
            keeps = not violations(plan.models, together).any()
        if keeps:
            return made
        return replace(made, rows=int(weights[~hidden].sum()), _keeps_hidden=False)

    def __call__(self, rows: pd.DataFrame) -> pd.DataFrame:
        """What is published of some rows. Raises: SchemaError when the roles do not fit them."""
        check_roles(rows.columns, self.plan)
        return self.published(rows)

    def published(self, rows: pd.DataFrame) -> pd.DataFrame:
        """The same of some columns, those that a search looks at among them; the index stays."""
        plan = self.plan
        shown = published_rows(rows, plan)
        printed = self._printed(shown)
        hidden = _hidden(printed)
        columns: dict[str, pd.Series | pd.Categorical] = {}
        for name, role in plan.roles.items():
            if role == "identifier" or name == plan.subset or name not in rows:
                continue
            if role == "quasi-identifier":
                columns[name] = printed[name]
            elif role == "sensitive" and plan.suppressed == "blanked":
                columns[name] = as_text(shown[name]).mask(hidden, SUPPRESSED)
            else:
                columns[name] = shown[name]
        published = pd.DataFrame(columns, index=shown.index)[[name for name in rows if name in columns]]
        return uncoded(published if self._keeps_hidden else published[~hidden])

    def _printed(self, rows: pd.DataFrame) -> dict[str, pd.Categorical]:
        """What is printed of each quasi-identifier."""
        suppressed = suppressed_rows(rows, self._table, self._shown)
        return {name: self._labels(rows[name], suppressed) for name in self._table.names}

    def _labels(self, values: pd.Series, suppressed: BoolArray) -> pd.Categorical:
        """The same of one of them."""
        place = self._table.names.index(str(values.name))
        hierarchy, level = self._table.hierarchies[place], self._shown.node[place]
        codes, labels = pd.factorize(np.array([*hierarchy.levels[level], SUPPRESSED], dtype=object))
        printed: IntArray = np.where(suppressed, codes[-1], codes[:-1][hierarchy.placed(values)])
        found: pd.Categorical = pd.Categorical.from_codes(printed, categories=pd.Index(labels))
        return found


class Tally:
    """The rows of each class, and of its sensitive values, that have yet to be published.

    A source that gives other rows the second time would break the models of a plan, whatever their number.
    Private; at most as large as the distinct tuples, which it tells apart by 64 bits.
    """

    def __init__(self, recoding: Recoding, distinct: DistinctRows) -> None:
        """Take the tuples that the recoding was made of."""
        self._names = [*dict.fromkeys([*recoding.plan.quasi_identifiers, *secrets_of(recoding.plan)])]
        tuples = distinct.frame.reset_index(drop=True)
        parts = [np.empty(0, dtype=np.uint64)]
        weights = [np.empty(0, dtype=np.int64)]
        for start in range(0, len(tuples), _TUPLES_AT_ONCE):
            published = recoding.published(tuples[start : start + _TUPLES_AT_ONCE])
            hashes, index = self._hashed(published)
            parts.append(hashes[index])
            weights.append(distinct.rows[published.index])
        self._known, places = np.unique(np.concatenate(parts), return_inverse=True)
        self._awaited = np.zeros(len(self._known), dtype=np.int64)
        np.add.at(self._awaited, places, np.concatenate(weights))
        self._lock = threading.Lock()

    def before(self, take: Callable[[pd.DataFrame], None]) -> Callable[[pd.DataFrame], None]:
        """The same, once rows are counted, from any thread. It raises ReadError where some are too many."""

        def counted(published: pd.DataFrame) -> None:
            hashes, index = self._hashed(published)
            if not np.isin(hashes, self._known).all():
                raise source_changed()
            places = np.searchsorted(self._known, hashes)
            with self._lock:
                np.subtract.at(self._awaited, places, np.bincount(index, minlength=len(hashes)))
                if (self._awaited[places] < 0).any():
                    raise source_changed()
            take(published)

        return counted

    def check_complete(self) -> None:
        """Refuse when a row is still awaited. Raises: ReadError."""
        if self._awaited.any():
            raise source_changed()

    def _hashed(self, published: pd.DataFrame) -> tuple[NDArray[np.uint64], IntArray]:
        """A number for each distinct class, and which of them each row is in."""
        index = class_index([canonical(published[name]).codes + 1 for name in self._names])
        _, first = np.unique(index, return_index=True)
        few = published[self._names].iloc[first]
        texts = pd.DataFrame({name: as_text(few[name]).fillna(MISSING).astype(object) for name in few})
        hashes: NDArray[np.uint64] = np.asarray(pd.util.hash_pandas_object(texts, index=False), np.uint64)
        return hashes, index


def _hidden(printed: Mapping[str, pd.Categorical]) -> BoolArray:
    """Which rows print nothing but `*`."""
    return np.asarray(np.all([labels == SUPPRESSED for labels in printed.values()], axis=0))


def check_streamed(plan: Plan) -> None:
    """Refuse what cannot be decided for each row by itself. Raises: RowsError."""
    if not plan.method.searches or plan.counted is not None:
        raise RowsError(
            "{what} needs all rows in memory, and the table has too many",
            remedy="take the full-domain method, for a table in which each row is a person",
            what=plan.method.name if plan.counted is None else "counting people or households",
        )
