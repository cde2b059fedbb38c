"""A plan carried out on rows that come some at a time, after a look at the distinct tuples of the table."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from dpcore.anonymize.fulldomain.search import OnProgress, search, silent
from dpcore.anonymize.fulldomain.tuples import Tuples
from dpcore.anonymize.groups import Rows
from dpcore.anonymize.inputs import check_people, check_roles, published_rows, secrets_of, subset_of
from dpcore.anonymize.levels import Shown, counted, shown_classes, suppressed_rows
from dpcore.anonymize.models import violations
from dpcore.anonymize.plan import Plan
from dpcore.errors import RowsError
from dpcore.schema.values import SUPPRESSED, as_text
from dpcore.tables.arrow import uncoded
from dpcore.tables.classes import BoolArray, IntArray
from dpcore.tables.rows import DistinctRows


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
        hidden = made._hidden(rows, suppressed_rows(rows, table, shown))
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
        plan = self.plan
        check_roles(rows.columns, plan)
        shown = published_rows(rows, plan)
        suppressed = suppressed_rows(shown, self._table, self._shown)
        hidden = self._hidden(shown, suppressed)
        columns: dict[str, pd.Series | pd.Categorical] = {}
        for name, role in plan.roles.items():
            if role == "identifier" or name == plan.subset:
                continue
            if role == "quasi-identifier":
                columns[name] = self._labels(shown[name], suppressed)
            elif role == "sensitive" and plan.suppressed == "blanked":
                columns[name] = as_text(shown[name]).mask(hidden, SUPPRESSED)
            else:
                columns[name] = shown[name]
        published = pd.DataFrame(columns, index=shown.index)[[name for name in rows if name in columns]]
        return uncoded(published if self._keeps_hidden else published[~hidden])

    def _labels(self, values: pd.Series, suppressed: BoolArray) -> pd.Categorical:
        """What is printed of a quasi-identifier."""
        place = self._table.names.index(str(values.name))
        hierarchy, level = self._table.hierarchies[place], self._shown.node[place]
        codes, labels = pd.factorize(np.array([*hierarchy.levels[level], SUPPRESSED], dtype=object))
        printed: IntArray = np.where(suppressed, codes[-1], codes[:-1][hierarchy.placed(values)])
        found: pd.Categorical = pd.Categorical.from_codes(printed, categories=pd.Index(labels))
        return found

    def _hidden(self, rows: pd.DataFrame, suppressed: BoolArray) -> BoolArray:
        """Which rows print nothing but `*`."""
        printed = [self._labels(rows[name], suppressed) for name in self._table.names]
        return np.asarray(np.all([labels == SUPPRESSED for labels in printed], axis=0))


def check_streamed(plan: Plan) -> None:
    """Refuse what cannot be decided for each row by itself. Raises: RowsError."""
    if not plan.method.searches or plan.counted is not None:
        raise RowsError(
            "{what} needs all rows in memory, and the table has too many",
            remedy="take the full-domain method, for a table in which each row is a person",
            what=plan.method.name if plan.counted is None else "counting people or households",
        )
