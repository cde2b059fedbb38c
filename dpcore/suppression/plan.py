"""A plan for an exact table: its columns, the rule, and exceptions with a reason."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.errors import ParameterError
from dpcore.json_text import parse_json, refuse_malformed_fields
from dpcore.suppression.layout import Axis, Layout, check_columns
from dpcore.suppression.rules import HidingRule

MIN_REASON_LETTERS = 10  # letters
MAX_REASON_LETTERS = 500  # letters
MAX_ROUNDING_BASE = 10_001  # people, one more than the largest threshold


@dataclass(frozen=True, kw_only=True)
class ShownColumn:
    """A column of the table, with the groups that are shown.

    Attributes:
        hierarchy: groups of its values; None for each value by itself.
        levels: of the hierarchy that are shown; None for all.
        within: other columns of the table that group the values, the finest first, in
            place of a hierarchy.
        values_are_public: whether the owner says that the values in the rows are no
            secret; needed if they are not declared and no hierarchy lists them. Needed
            also with `within`: then it is no secret either which values go together.
    """

    column: str
    hierarchy: Hierarchy | None = None
    levels: tuple[int, ...] | None = None
    within: tuple[str, ...] = ()
    values_are_public: bool = False


@dataclass(frozen=True, kw_only=True)
class ExceptedCell:
    """A cell that is shown though the rule would hide it.

    Attributes:
        labels: of the cell, one for each column.
        reason: why nobody is given away; it stands in the report.
    """

    labels: tuple[str, ...]
    reason: str

    def __post_init__(self) -> None:
        if not MIN_REASON_LETTERS <= len(self.reason.strip()) <= MAX_REASON_LETTERS:
            raise ParameterError(
                "an exception needs a reason of {least} to {most} letters",
                remedy="explain why this cell gives nobody away",
                least=MIN_REASON_LETTERS,
                most=MAX_REASON_LETTERS,
            )


@dataclass(frozen=True, kw_only=True)
class TablePlan:
    """A plan for a table of counts of people.

    Attributes:
        unrelated: columns of earlier tables about the same people that this file
            lacks. The owner says that they have nothing to do with this table.
        miscoded: pairs of an inner and an outer column, such as town and district. The
            owner says that rows whose pair of values is rare are errors of coding.
        rounding_base: number of people to whose multiples all counts are rounded, in
            place of hiding small ones; 0 to hide them.

    >>> plan = TablePlan(columns=(ShownColumn(column="sex"),), rule=HidingRule(threshold=10))
    >>> TablePlan.from_json(plan.to_json()) == plan
    True

    Raises: ParameterError for other than one to three columns.
    """

    columns: tuple[ShownColumn, ...]
    rule: HidingRule
    exceptions: tuple[ExceptedCell, ...] = ()
    unrelated: tuple[str, ...] = ()
    miscoded: tuple[tuple[str, str], ...] = ()
    rounding_base: int = 0

    def __post_init__(self) -> None:
        check_columns(self.column_names)
        self._check_rounding()
        if self.is_complete:
            self.build_layout()  # refuses what the groups alone forbid

        self._check_groups()
        if len({one.labels for one in self.exceptions}) < len(self.exceptions):
            raise ParameterError(
                "two exceptions are for the same cell",
                remedy="give one exception with one reason",
            )
        if any(len({*pair}) < 2 for pair in self.miscoded):
            raise ParameterError(
                "errors of coding are of two different columns",
                remedy="name two columns, such as town and district",
            )

    def _check_rounding(self) -> None:
        """Refuse too small a base, and exceptions beside one."""
        base = self.rounding_base
        if type(base) is int and base == 0:
            return
        least = self.rule.min_base
        if type(base) is not int or not least <= base <= MAX_ROUNDING_BASE:
            raise ParameterError(
                "by this rule, counts must be rounded to multiples of a whole number "
                "from {least} to {most}",
                remedy="choose such a number, for example {usual}",
                least=least,
                most=MAX_ROUNDING_BASE,
                usual=self.rule.usual_base,
            )
        if self.exceptions:
            raise ParameterError(
                "a rounded table hides no count, so it has no exceptions",
                remedy="leave the exceptions out",
            )

    def _check_groups(self) -> None:
        """Refuse groups that are given twice, or that are an axis of the table."""
        for shown in self.columns:
            groups = {*shown.within, *self.column_names}
            if len(groups) < len(shown.within) + len(self.columns):
                raise ParameterError(
                    "a column that groups {column} is named twice",
                    remedy="name each column of the table once",
                    column=shown.column,
                )
            if shown.within and shown.hierarchy is not None:
                raise ParameterError(
                    "column {column} has a hierarchy and columns that group it",
                    remedy="give only one of the two",
                    column=shown.column,
                )

    @property
    def is_complete(self) -> bool:
        """Whether every column has a hierarchy."""
        return all(shown.hierarchy is not None for shown in self.columns)

    @property
    def column_names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(shown.column for shown in self.columns)

    @property
    def about(self) -> tuple[str, ...]:
        """Names of the columns, and of those that group their values."""
        groups = (name for shown in self.columns for name in shown.within)
        return (*self.column_names, *groups)

    def with_hierarchies(self, hierarchies: Mapping[str, Hierarchy]) -> TablePlan:
        """Return the plan with these hierarchies of its columns."""
        columns = tuple(
            replace(
                shown,
                hierarchy=hierarchies.get(shown.column, shown.hierarchy),
                within=() if shown.column in hierarchies else shown.within,
            )
            for shown in self.columns
        )
        return replace(self, columns=columns)

    def build_layout(self) -> Layout:
        """Return the cells of the table.

        Raises: as `Layout`.
        """
        axes = []
        for shown in self.columns:
            assert shown.hierarchy is not None
            axes.append(
                Axis.from_hierarchy(shown.column, shown.hierarchy, shown.levels)
            )
        return Layout(axes=tuple(axes))

    def to_json(self) -> str:
        """Write the plan as JSON, to be read by `from_json`."""
        columns = [
            {"column": shown.column}
            | ({"hierarchy": shown.hierarchy.levels} if shown.hierarchy else {})
            | ({"levels": list(shown.levels)} if shown.levels is not None else {})
            | ({"within": list(shown.within)} if shown.within else {})
            | ({"values_are_public": True} if shown.values_are_public else {})
            for shown in self.columns
        ]
        exceptions = [
            {"labels": list(one.labels), "reason": one.reason}
            for one in self.exceptions
        ]
        return json.dumps(
            {
                "columns": columns,
                "rule": self.rule.to_dict(),
                "exceptions": exceptions,
                **({"unrelated": list(self.unrelated)} if self.unrelated else {}),
                **(
                    {"miscoded": [list(pair) for pair in self.miscoded]}
                    if self.miscoded
                    else {}
                ),
                **({"rounding_base": self.rounding_base} if self.rounding_base else {}),
            },
            indent=1,
            ensure_ascii=False,
        )

    @classmethod
    def from_json(cls, text: str) -> TablePlan:
        """Read a plan; a rule or a column may be given by name alone.

        Raises: ReadError when the text is no plan, LimitError beyond the limits of
            `parse_json`; the errors of a plan that breaks its rules.
        """
        fields = parse_json(text)
        with refuse_malformed_fields():
            columns = []
            for given in fields["columns"]:
                column = {"column": given} if isinstance(given, str) else given
                levels = column.get("levels")
                groups = column.get("hierarchy")
                hierarchy = None
                if groups is not None:
                    hierarchy = Hierarchy(
                        values=tuple(_read_texts(groups[0])),
                        levels=tuple(tuple(_read_texts(level)) for level in groups),
                    )
                columns.append(
                    ShownColumn(
                        column=column["column"],
                        hierarchy=hierarchy,
                        levels=None if levels is None else tuple(map(int, levels)),
                        within=tuple(column.get("within", ())),
                        values_are_public=column.get("values_are_public") is True,
                    )
                )
            exceptions = tuple(
                ExceptedCell(
                    labels=tuple(_read_texts(given["labels"])), reason=given["reason"]
                )
                for given in fields.get("exceptions", ())
            )
            return cls(
                columns=tuple(columns),
                rule=HidingRule.from_dict(fields["rule"]),
                exceptions=exceptions,
                unrelated=tuple(_read_texts(fields.get("unrelated", ()))),
                miscoded=tuple(
                    (inner, outer)
                    for inner, outer in map(_read_texts, fields.get("miscoded", ()))
                ),
                rounding_base=fields.get("rounding_base", 0),
            )


def write_plans(plans: Sequence[TablePlan]) -> str:
    """Write one plan as JSON, or a list of several, to be read by `read_plans`."""
    texts = [plan.to_json() for plan in plans]
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


def read_plans(text: str) -> list[TablePlan]:
    """Read one plan or a JSON list of plans.

    Raises: as `TablePlan.from_json`; ParameterError for an empty list.
    """
    given = parse_json(text)
    if not isinstance(given, list):
        return [TablePlan.from_json(text)]
    if not given:
        raise ParameterError(
            "there is no plan in the list", remedy="write a plan of each table"
        )
    return [TablePlan.from_json(json.dumps(one)) for one in given]


def _read_texts(labels: Iterable[object]) -> list[str]:
    """Return labels that are all texts.

    Raises: ParameterError for anything else.
    """
    given = list(labels)
    texts = [label for label in given if isinstance(label, str)]
    if len(texts) < len(given):
        raise ParameterError(
            "a label of the plan is a number, or it is empty",
            remedy='write every label as text in quotation marks, such as "1"',
        )
    return texts
