"""From a plan and a table to what is published: the quasi-identifiers recoded, direct identifiers dropped."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dpcore.anonymize.inputs import held_by, published_rows
from dpcore.anonymize.models import violations
from dpcore.anonymize.plan import Plan
from dpcore.anonymize.promise import promised
from dpcore.anonymize.quality import suppressed_classes
from dpcore.anonymize.recoded import Recoded
from dpcore.errors import InfeasibleError
from dpcore.progress import OnProgress, silent
from dpcore.schema.values import SUPPRESSED
from dpcore.tables.arrow import uncoded
from dpcore.tables.classes import BoolArray

LAST = "\U0010ffff"
"""A text that is after all others."""


def apply(frame: pd.DataFrame, plan: Plan, on_progress: OnProgress = silent) -> pd.DataFrame:
    """The table that may be published, see `carried_out`."""
    return carried_out(frame, plan, on_progress)[0]


def carried_out(
    frame: pd.DataFrame, plan: Plan, on_progress: OnProgress = silent
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """The table that may be published, and in words the models that it meets, see `promised`.

    It has the same index and order, and is without identifiers and the subset column.

    Suppressed rows have `*` in every quasi-identifier, and are treated as `plan.suppressed` says. Rows
    outside the subset are left out. `on_progress` gets the stage of a search and the share done; what it
    raises ends it.

    Raises: SchemaError when the roles do not fit the table, InfeasibleError when the models cannot be met,
        and those of the method.
    """
    result = recoded(frame, plan, on_progress)
    original = published_rows(frame, plan)
    hidden = suppressed_classes(result)[result.classes]
    kept = leaving(frame, plan, hidden)
    models = promised(plan, original, result.classes, hidden=hidden, leaves=kept)
    rows = result.frame(original)
    if plan.suppressed == "blanked":
        secrets = plan.columns_of("sensitive")
        rows = rows.assign(**{name: rows[name].astype(object).mask(hidden, SUPPRESSED) for name in secrets})
    return rows[kept].drop(columns=[name for name in rows.columns if name in plan.dropped]), models


def leaving(frame: pd.DataFrame, plan: Plan, hidden: BoolArray) -> BoolArray:
    """(published rows,) which of them leave, by what the plan says of those that `hidden` marks."""
    if plan.suppressed in ("kept", "blanked") or not hidden.any():
        return np.ones(len(hidden), dtype=bool)
    if plan.suppressed == "dropped" or not _hides(frame, plan, hidden):
        return ~hidden
    return np.ones(len(hidden), dtype=bool)


def in_order(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows by what they say, suppressed ones last: their places tell nothing about the original.

    Categories become values: a column of categories lists those of dropped rows too.
    """
    return uncoded(rows).sort_values(
        list(rows.columns),
        key=lambda column: column.astype("str").replace(SUPPRESSED, LAST),
        ignore_index=True,
    )


def recoded(frame: pd.DataFrame, plan: Plan, on_progress: OnProgress = silent) -> Recoded:
    """What the plan publishes for the quasi-identifiers, in the form that every method shares.

    Raises: as `apply`.
    """
    result = plan.method.recode(frame, plan, on_progress)
    if plan.method.cuts_freely and plan.counted is not None:
        groups = held_by(published_rows(frame, plan), plan).groups(result.classes)
        if (violations(plan.models, groups) & ~suppressed_classes(result)).any():
            raise InfeasibleError(
                "groups that look alike do not meet the models together, since people have rows in several",
                remedy="take the full-domain method, or ask for less",
            )
    return result


def _hides(frame: pd.DataFrame, plan: Plan, hidden: BoolArray) -> bool:
    """Whether the suppressed rows meet every model as one class."""
    rows = held_by(published_rows(frame, plan), plan)
    groups = rows.taken(hidden.nonzero()[0]).groups(np.zeros(int(hidden.sum()), dtype=np.int64))
    return not violations(plan.models, groups).any()
