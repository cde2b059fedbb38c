"""Anonymize a table by a plan: recode quasi-identifiers, drop identifiers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from dpcore.anonymization.inputs import Inputs
from dpcore.anonymization.models import violations
from dpcore.anonymization.plan import Plan
from dpcore.anonymization.pram import check_no_copy, post_randomize
from dpcore.anonymization.promise import describe_models
from dpcore.anonymization.quality import Quality, quality, suppressed_classes
from dpcore.anonymization.recoded import Recoded
from dpcore.anonymization.thresholds import max_within
from dpcore.errors import InfeasibleError
from dpcore.progress import OnProgress, silent
from dpcore.schema.values import SUPPRESSED, as_text
from dpcore.tables.arrow import decode_categories
from dpcore.tables.classes import BoolArray, IntArray, class_index
from dpcore.tables.people import person_codes
from dpcore.tables.rows import Microdata
from dpcore.text import Text

SORTS_LAST = "\U0010ffff"
"""A text that sorts after all others."""


def apply(
    frame: pd.DataFrame, plan: Plan, on_progress: OnProgress = silent
) -> pd.DataFrame:
    """Anonymize a table by a plan, and return the rows that may be published.

    >>> from dpcore.anonymization import KAnonymity, build_cuts, build_intervals
    >>> people = pd.DataFrame({"zip": ["2-1", "2-1", "2-7", "3-1"], "age": [41, 44, 43, 58]})
    >>> plan = Plan(
    ...     roles={"zip": "quasi-identifier", "age": "quasi-identifier"},
    ...     hierarchies={"zip": build_cuts(["2-1", "2-7", "3-1"], "-"), "age": build_intervals([41, 43, 44, 58], [10])},
    ...     models=(KAnonymity(k=2),),
    ...     limit=0.25,  # of the rows may be suppressed
    ... )
    >>> print(apply(people, plan))
      zip    age
    0   2  40-49
    1   2  40-49
    2   2  40-49

    Args:
        frame: the table; under a research subset, the population.
        plan: with a role for every column.
        on_progress: gets the stage of a search and the share done; an exception that it
            raises ends the search.

    Raises: as `carry_out`.
    """
    return carry_out(frame, plan, on_progress).frame


def publishable_table(
    table: Microdata,
    plan: Plan,
    smallest: int = 1,
    rows_of_person: int = 1,
    on_progress: OnProgress = silent,
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return the table that may be published, and descriptions of its models.

    Args:
        table: as it is, with a key for PRAM.
        plan: with a role for every column.
        smallest: people in a published group, at least; see `check_smallest`.
        rows_of_person: most rows of a person, as declared; see `check_declared_rows`.
        on_progress: as of `carry_out`.

    Raises: as `carry_out`; InfeasibleError for a smaller group.
    """
    result = carry_out(table, plan, on_progress)
    check_smallest(result.inputs, result.classes, result.leaves, smallest)
    if result.plan.unit_column is None:
        check_declared_rows(result, smallest, rows_of_person)
    return result.frame, result.models


def carry_out(
    table: pd.DataFrame | Microdata,
    plan: Plan,
    on_progress: OnProgress = silent,
) -> Anonymization:
    """Recode a table by the method of a plan, and check its privacy models.

    Args:
        table: as it is, with a key for PRAM; under a research subset, the population.
        plan: with a role for every column.
        on_progress: gets the stage of a search and the share done; an exception that it
            raises ends the search.

    Raises: SchemaError when the roles do not fit the table, InfeasibleError when the
        models cannot be met, ParameterError for a column with PRAM that another column
        gives away, and those of the method.
    """
    table = table if isinstance(table, Microdata) else Microdata(table)
    if plan.randomized:
        inner = plan.dropped.union(plan.quasi_identifiers)
        as_they_are = [name for name in table.frame.columns if name not in inner]
        check_no_copy(table.frame[as_they_are], plan.randomized)
    inputs = Inputs.of(post_randomize(table, plan.randomized), plan)
    result = plan.method.recode(inputs, on_progress)
    groups = inputs.rows.groups(result.classes)
    kept = ~suppressed_classes(result)
    for model in plan.models:
        if model.joint and model.violations_among(groups, kept).any():
            raise InfeasibleError(
                "the groups of this method do not keep to an {model}",
                remedy="raise k, or use the full-domain method",
                model=model,
            )
    counts_people = plan.method.cuts_freely and plan.unit_column is not None
    if counts_people and (violations(plan.models, groups) & kept).any():
        raise InfeasibleError(
            (
                "groups with the same labels do not meet the models together, "
                "because people have rows in several of them"
            ),
            remedy="use the full-domain method, or ask for less",
        )
    return Anonymization(
        inputs=inputs, plan=plan.with_node(result.node, result.gap), recoded=result
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Anonymization:
    """The result of applying a plan to one table.

    Private but for `frame` and `models`.

    Attributes:
        plan: with its levels filled in.
        recoded: the published rows, suppressed ones among them.
    """

    inputs: Inputs
    plan: Plan
    recoded: Recoded

    @property
    def rows(self) -> pd.DataFrame:
        """The rows to be published, with their original values."""
        return self.inputs.published

    @property
    def classes(self) -> IntArray:
        """The equivalence class of each published row, shape (published rows,)."""
        return self.recoded.classes

    @cached_property
    def starred(self) -> BoolArray:
        """Whether each published row has `*` in every quasi-identifier."""
        return suppressed_classes(self.recoded)[self.classes]

    @cached_property
    def hidden(self) -> BoolArray:
        """Whether each published row is suppressed, see `mark_suppressed`."""
        return mark_suppressed(self.inputs, self.starred)

    @cached_property
    def leaves(self) -> BoolArray:
        """Whether each row stays in the published table under the plan's rule.

        Suppressed rows may be left out.
        """
        return ~self.hidden | publishes_suppressed(
            self.inputs, self.hidden, self.starred
        )

    @property
    def quality(self) -> Quality:
        """The information loss of the published rows."""
        return quality(self.recoded, person_codes(self.rows, self.plan.unit_column))

    @cached_property
    def models(self) -> tuple[str, ...]:
        """Descriptions of the models that the table meets, see `describe_models`."""
        return describe_models(
            self.inputs, self.classes, hidden=self.hidden, leaves=self.leaves
        )

    @property
    def frame(self) -> pd.DataFrame:
        """The table that may be published, with the index and order of the original.

        It has neither identifiers nor the subset column. Suppressed rows are treated as
        `plan.suppressed` says; rows outside the subset are left out.
        """
        rows = self.recoded.frame(self.rows)
        if self.plan.suppressed == "blanked":
            secrets = self.plan.columns_of("sensitive")
            hidden = {
                name: rows[name].astype(object).mask(self.hidden, SUPPRESSED)
                for name in secrets
            }
            rows = rows.assign(**hidden)
        return rows[self.leaves].drop(
            columns=[name for name in rows.columns if name in self.plan.dropped]
        )


def mark_suppressed(inputs: Inputs, starred: BoolArray) -> BoolArray:
    """Return which of the rows with only `*` count as suppressed.

    Rows that held only `*` before recoding are not suppressed if they meet the models
    as a
    class of their own: their `*` is a value like others.

    Args:
        inputs: the table and the plan.
        starred: (published rows,) whether a row has `*` in every quasi-identifier.
    """
    came_so = mark_starred_before(
        inputs.published, inputs.plan.quasi_identifiers, starred
    )
    if (
        not came_so.any()
        or violations(inputs.plan.models, inputs.rows.as_one_class(came_so)).any()
    ):
        return starred
    return starred & ~came_so


def mark_starred_before(
    rows: pd.DataFrame, names: Sequence[str], starred: BoolArray
) -> BoolArray:
    """Return which of the rows with only `*` had only `*` before recoding.

    Args:
        rows: before recoding.
        names: of the quasi-identifiers.
        starred: (rows,) whether a recoded row has `*` in every quasi-identifier.
    """
    came_so = starred.copy()
    for name in names:
        came_so[came_so] = as_text(rows.loc[came_so, name]) == SUPPRESSED
    return came_so


def publishes_suppressed(inputs: Inputs, hidden: BoolArray, starred: BoolArray) -> bool:
    """Return whether suppressed rows stay in the published table.

    They do if the plan says so, or if they meet its models as one class. Rows that are
    left out keep to the plan's limit: methods count a group of `*` that meets every
    model as none that is suppressed, so it is published if it exceeds the limit.

    Args:
        inputs: the table and the plan.
        hidden: (published rows,) whether a row is suppressed.
        starred: (published rows,) all rows with `*` only, those that came so among
            them.

    Raises: InfeasibleError if more rows than the limit would be left out because they
        do not meet the models as one class.
    """
    plan = inputs.plan
    if plan.suppressed in ("kept", "blanked") or not hidden.any():
        return True
    if plan.suppressed == "dropped" and _is_within_limit(inputs, hidden):
        return False
    meets = not violations(plan.models, inputs.rows.as_one_class(starred)).any()
    if plan.suppressed == "dropped" and not meets:
        raise InfeasibleError(
            "more rows would be left out than the limit of {limit:.1%} allows",
            remedy="raise the limit, or publish suppressed rows as one group",
            limit=plan.limit,
        )
    return meets


def _is_within_limit(inputs: Inputs, hidden: BoolArray) -> bool:
    """Return whether the suppressed people are within the plan's limit."""
    everybody = inputs.rows.as_one_class(np.ones_like(hidden))
    suppressed = inputs.rows.as_one_class(hidden)
    allowed = max_within(inputs.plan.limit, int(everybody.people[0]))
    return int(suppressed.people[0]) <= allowed


def check_smallest(
    inputs: Inputs, classes: IntArray, leaves: BoolArray, smallest: int
) -> None:
    """Refuse a table that publishes a group of fewer than `smallest_group` people.

    Args:
        inputs: the table and the plan.
        classes: (published rows,) classes of rows with the same labels.
        leaves: (published rows,) whether a row is in the table that leaves.
        smallest: people in a group, at least.

    Raises: InfeasibleError.
    """
    if smallest <= 1 or not leaves.any():
        return
    rows = inputs.rows_among(leaves)
    people = rows.groups(rows.per_row(class_index([classes[leaves]]))).people
    if people.min() < smallest:
        raise InfeasibleError(
            "a group of the anonymized table has fewer than {k} {whom}",
            remedy="leave out the suppressed rows if they are too few, or raise k",
            k=smallest,
            whom=Text(inputs.plan.counts),
        )


def check_declared_rows(
    result: Anonymization, smallest: int, rows_of_person: int
) -> None:
    """Refuse a group that is too small unless one person has undeclared rows.

    People are told apart by the identifier with most distinct values.

    Args:
        result: a plan carried out that counts rows.
        smallest: rows in a group, at least.
        rows_of_person: most rows of a person, as declared.

    Raises: InfeasibleError that names the identifier.
    """
    names = result.plan.columns_of("identifier")
    if smallest <= 1 or not names or not result.leaves.any():
        return
    identifiers = {
        name: as_text(result.rows.loc[result.leaves, name]) for name in names
    }
    finest = max(names, key=lambda name: identifiers[name].nunique())
    rows = pd.DataFrame(
        {
            "group": result.classes[result.leaves],
            "identifier": identifiers[finest].to_numpy(),
        }
    )
    place = rows.groupby(["group", "identifier"]).cumcount()
    is_declared = rows["identifier"].isna() | (place < rows_of_person)
    if is_declared.groupby(rows["group"]).sum().min() < smallest:
        raise InfeasibleError(
            (
                "a group of the anonymized table has one {name!r} in more rows than "
                "a person may have ({rows}), so it may hold fewer people than you "
                "asked for"
            ),
            remedy=(
                "open the table with the column that names people, or declare how many "
                "rows a person may have"
            ),
            name=finest,
            rows=rows_of_person,
        )


def sort_by_content(rows: pd.DataFrame) -> pd.DataFrame:
    """Sort rows by content, suppressed ones last, to hide their original order.

    Categories become values: a column of categories lists those of dropped rows too.
    """
    return decode_categories(rows).sort_values(
        list(rows.columns),
        key=lambda column: column.astype("str").replace(SUPPRESSED, SORTS_LAST),
        ignore_index=True,
    )
