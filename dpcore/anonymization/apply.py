"""Anonymize a table by a plan: recode quasi-identifiers, drop identifiers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from dpcore.anonymization._pram import check_no_copy, post_randomize
from dpcore.anonymization._thresholds import max_people_in_share
from dpcore.anonymization.inputs import Inputs
from dpcore.anonymization.models import mark_violations
from dpcore.anonymization.plan import Plan
from dpcore.anonymization.promise import describe_models
from dpcore.anonymization.quality import (
    Quality,
    mark_suppressed_classes,
    measure_quality,
)
from dpcore.anonymization.recoded import Recoded
from dpcore.errors import InfeasibleError
from dpcore.progress import OnProgress, ignore_stage_progress
from dpcore.schema.values import SUPPRESSED, as_text
from dpcore.tables.arrow import decode_categories
from dpcore.tables.classes import BoolArray, IntArray, class_index
from dpcore.tables.people import person_codes
from dpcore.tables.rows import Microdata
from dpcore.text import Text

LAST_SORT_KEY = "\U0010ffff"
"""A text that sorts after all others."""


def apply(
    frame: pd.DataFrame, plan: Plan, on_progress: OnProgress = ignore_stage_progress
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
    smallest_group: int = 1,
    max_rows: int = 1,
    on_progress: OnProgress = ignore_stage_progress,
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return the table that may be published, and descriptions of its models.

    Args:
        table: as it is, with a key for PRAM.
        plan: with a role for every column.
        smallest_group: people in a published group, at least; see `check_smallest_group`.
        max_rows: most rows of a person, as declared; see `check_declared_rows`.
        on_progress: as of `carry_out`.

    Raises: as `carry_out`; InfeasibleError for a smaller group.
    """
    result = carry_out(table, plan, on_progress)
    check_smallest_group(
        result.inputs, result.classes, result.is_published, smallest_group
    )
    if result.plan.unit_column is None:
        check_declared_rows(result, smallest_group, max_rows)
    return result.frame, result.models


def carry_out(
    table: pd.DataFrame | Microdata,
    plan: Plan,
    on_progress: OnProgress = ignore_stage_progress,
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
        inner = plan.dropped_columns.union(plan.quasi_identifiers)
        as_they_are = [name for name in table.frame.columns if name not in inner]
        check_no_copy(table.frame[as_they_are], plan.randomized)
    inputs = Inputs.from_table(post_randomize(table, plan.randomized), plan)
    result = plan.method.recode(inputs, on_progress)
    groups = inputs.rows.group_by_class(result.classes)
    kept = ~mark_suppressed_classes(result)
    for model in plan.models:
        if model.joint and model.violations_among(groups, kept).any():
            raise InfeasibleError(
                "the groups of this method do not keep to an {model}",
                remedy="raise k, or use the full-domain method",
                model=model,
            )
    counts_people = plan.method.groups_row_by_row and plan.unit_column is not None
    if counts_people and (mark_violations(plan.models, groups) & kept).any():
        raise InfeasibleError(
            (
                "groups with the same labels, taken together, do not meet the "
                "models, because some people have rows in several of these groups"
            ),
            remedy="use the full-domain method, or weaken the requirements",
        )
    return Anonymization(
        inputs=inputs,
        plan=plan.with_node(result.node, result.gap),
        recoded_table=result,
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Anonymization:
    """The result of applying a plan to one table.

    Private but for `frame` and `models`.

    Attributes:
        plan: with its levels filled in.
        recoded_table: the published rows, suppressed ones among them.
    """

    inputs: Inputs
    plan: Plan
    recoded_table: Recoded

    @property
    def rows(self) -> pd.DataFrame:
        """The rows to be published, with their original values."""
        return self.inputs.published_rows

    @property
    def classes(self) -> IntArray:
        """The equivalence class of each published row, shape (published rows,)."""
        return self.recoded_table.classes

    @cached_property
    def is_starred(self) -> BoolArray:
        """Whether each published row has `*` in every quasi-identifier."""
        return mark_suppressed_classes(self.recoded_table)[self.classes]

    @cached_property
    def is_suppressed(self) -> BoolArray:
        """Whether each published row is suppressed, see `mark_suppressed`."""
        return mark_suppressed(self.inputs, self.is_starred)

    @cached_property
    def is_published(self) -> BoolArray:
        """Whether each row stays in the published table under the plan's rule.

        Suppressed rows may be left out.
        """
        return ~self.is_suppressed | publishes_suppressed_rows(
            self.inputs, self.is_suppressed, self.is_starred
        )

    @property
    def quality(self) -> Quality:
        """The information loss of the published rows."""
        return measure_quality(
            self.recoded_table, person_codes(self.rows, self.plan.unit_column)
        )

    @cached_property
    def models(self) -> tuple[str, ...]:
        """Descriptions of the models that the table meets, see `describe_models`."""
        return describe_models(
            self.inputs,
            self.classes,
            is_suppressed=self.is_suppressed,
            is_published=self.is_published,
        )

    @property
    def frame(self) -> pd.DataFrame:
        """The table that may be published, with the index and order of the original.

        It has neither identifiers nor the subset column. Suppressed rows are treated as
        `plan.suppressed` says; rows outside the subset are left out.
        """
        rows = self.recoded_table.replace_columns(self.rows)
        if self.plan.suppressed == "blanked":
            secrets = self.plan.columns_with_role("sensitive")
            hidden = {
                name: rows[name].astype(object).mask(self.is_suppressed, SUPPRESSED)
                for name in secrets
            }
            rows = rows.assign(**hidden)
        return rows[self.is_published].drop(
            columns=[name for name in rows.columns if name in self.plan.dropped_columns]
        )


def mark_suppressed(inputs: Inputs, is_starred: BoolArray) -> BoolArray:
    """Return which of the rows with only `*` count as suppressed.

    Rows that held only `*` before recoding are not suppressed if they meet the models
    as a
    class of their own: their `*` is a value like others.

    Args:
        inputs: the table and the plan.
        is_starred: (published rows,) whether a row has `*` in every quasi-identifier.
    """
    came_so = mark_starred_before(
        inputs.published_rows, inputs.plan.quasi_identifiers, is_starred
    )
    if (
        not came_so.any()
        or mark_violations(
            inputs.plan.models, inputs.rows.group_as_one_class(came_so)
        ).any()
    ):
        return is_starred
    return is_starred & ~came_so


def mark_starred_before(
    rows: pd.DataFrame, names: Sequence[str], is_starred: BoolArray
) -> BoolArray:
    """Return which of the rows with only `*` had only `*` before recoding.

    Args:
        rows: before recoding.
        names: of the quasi-identifiers.
        is_starred: (rows,) whether a recoded row has `*` in every quasi-identifier.
    """
    came_so = is_starred.copy()
    for name in names:
        came_so[came_so] = as_text(rows.loc[came_so, name]) == SUPPRESSED
    return came_so


def publishes_suppressed_rows(
    inputs: Inputs, is_suppressed: BoolArray, is_starred: BoolArray
) -> bool:
    """Return whether suppressed rows stay in the published table.

    They do if the plan says so, or if they meet its models as one class. Rows that are
    left out keep to the plan's limit: methods count a group of `*` that meets every
    model as none that is suppressed, so it is published if it exceeds the limit.

    Args:
        inputs: the table and the plan.
        is_suppressed: (published rows,) whether a row is suppressed.
        is_starred: (published rows,) all rows with `*` only, those that came so among
            them.

    Raises: InfeasibleError if more rows than the limit would be left out because they
        do not meet the models as one class.
    """
    plan = inputs.plan
    if plan.suppressed in ("kept", "blanked") or not is_suppressed.any():
        return True
    if plan.suppressed == "dropped" and _is_within_limit(inputs, is_suppressed):
        return False
    meets = not mark_violations(
        plan.models, inputs.rows.group_as_one_class(is_starred)
    ).any()
    if plan.suppressed == "dropped" and not meets:
        raise InfeasibleError(
            "more rows would be left out than the limit of {limit:.1%} allows",
            remedy="raise the limit, or publish suppressed rows as one group",
            limit=plan.limit,
        )
    return meets


def _is_within_limit(inputs: Inputs, is_suppressed: BoolArray) -> bool:
    """Return whether the suppressed people are within the plan's limit."""
    everybody = inputs.rows.group_as_one_class(np.ones_like(is_suppressed))
    suppressed = inputs.rows.group_as_one_class(is_suppressed)
    allowed = max_people_in_share(inputs.plan.limit, int(everybody.people[0]))
    return int(suppressed.people[0]) <= allowed


def check_smallest_group(
    inputs: Inputs, classes: IntArray, is_published: BoolArray, smallest_group: int
) -> None:
    """Refuse a table that publishes a group of fewer than `smallest_group` people.

    Args:
        inputs: the table and the plan.
        classes: (published rows,) classes of rows with the same labels.
        is_published: (published rows,) whether a row is in the table that leaves.
        smallest_group: people in a group, at least.

    Raises: InfeasibleError.
    """
    if smallest_group <= 1 or not is_published.any():
        return
    rows = inputs.select_rows(is_published)
    people = rows.group_by_class(
        rows.expand_to_rows(class_index([classes[is_published]]))
    ).people
    if people.min() < smallest_group:
        raise InfeasibleError(
            "a group of the anonymized table has fewer than {k} {whom}",
            remedy="leave out the suppressed rows if they are too few, or raise k",
            k=smallest_group,
            whom=Text(inputs.plan.counted_unit),
        )


def check_declared_rows(
    result: Anonymization, smallest_group: int, max_rows: int
) -> None:
    """Refuse a group that is too small unless one person has undeclared rows.

    People are told apart by the identifier with most distinct values.

    Args:
        result: a plan carried out that counts rows.
        smallest_group: rows in a group, at least.
        max_rows: most rows of a person, as declared.

    Raises: InfeasibleError that names the identifier.
    """
    names = result.plan.columns_with_role("identifier")
    if smallest_group <= 1 or not names or not result.is_published.any():
        return
    identifiers = {
        name: as_text(result.rows.loc[result.is_published, name]) for name in names
    }
    finest = max(names, key=lambda name: identifiers[name].nunique())
    rows = pd.DataFrame(
        {
            "group": result.classes[result.is_published],
            "identifier": identifiers[finest].to_numpy(),
        }
    )
    place = rows.groupby(["group", "identifier"]).cumcount()
    is_declared = rows["identifier"].isna() | (place < max_rows)
    if is_declared.groupby(rows["group"]).sum().min() < smallest_group:
        raise InfeasibleError(
            (
                "in a group of the anonymized table, one value of {name!r} is in "
                "more rows than a person may have ({rows}), so the group may "
                "contain fewer people than you asked for"
            ),
            remedy=(
                "open the table with the column that names people, or declare how many "
                "rows a person may have"
            ),
            name=finest,
            rows=max_rows,
        )


def sort_by_content(rows: pd.DataFrame) -> pd.DataFrame:
    """Sort rows by content, suppressed ones last, to hide their original order.

    Categories become values: a column of categories lists those of dropped rows too.
    """
    return decode_categories(rows).sort_values(
        list(rows.columns),
        key=lambda column: column.astype("str").replace(SUPPRESSED, LAST_SORT_KEY),
        ignore_index=True,
    )
