"""Report on the risk of re-identification in a table as it is. Internal."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from dpcore.errors import ManyValuesError, ParameterError, SchemaError, two_roles_error
from dpcore.evaluation.base import Evaluation, OriginalTable
from dpcore.evaluation.table.verdict import Knowledge, TableVerdict, judge_anonymity
from dpcore.progress import OnProgress, ignore_stage_progress
from dpcore.risk.column_sets import ColumnSet, max_set_size, measure_column_sets
from dpcore.risk.disclosure import AttributeRisk, measure_attribute_risk
from dpcore.risk.identifiers import FREE_TEXT, RUNNING_NUMBER, Finding
from dpcore.risk.linkage import Linkage, attack_by_linkage
from dpcore.risk.reidentification import (
    ReidentificationRisk,
    check_threshold,
    estimate_k_map,
    measure_reidentification_risk,
)
from dpcore.risk.roles import SuggestedRole, suggest_roles
from dpcore.risk.survey import estimate_individual_risk
from dpcore.risk.uniqueness import (
    pitman_uniqueness,
    shifted_binomial_uniqueness,
    zayatz_uniqueness,
)
from dpcore.schema.role import ROLES
from dpcore.schema.schema import Schema
from dpcore.schema.values import SUPPRESSED, as_text
from dpcore.tables.classes import (
    BoolArray,
    IntArray,
    check_columns,
    class_index,
    equivalence_classes,
    joint_classes,
)
from dpcore.tables.people import (
    max_per_person,
    people_per_class,
    person_codes,
    select_one_row_per_person,
)
from dpcore.tables.rows import MAX_DISTINCT_TEXTS, CodedRows, Microdata

MAX_SET_COLUMNS = 3
"""Most columns of a set that is tried; few attackers know more."""
MAX_PITMAN_SHARE = 0.1
"""Largest sampling fraction at which Pitman's model is used, see `Estimates`."""


@dataclass(frozen=True, kw_only=True)
class PopulationEstimates:
    """Risk estimates that assume a population size; they are no guarantee.

    Attributes:
        uniques: estimated share of population uniques. They are counted in the ways in
            which the population appears; if each person has one way, in its people.
        model: behind that estimate, by a rule (Dankar et al., 2012, BMC Med. Inform.
            Decis. Mak. 12:66): "Pitman" for a sample of at most a tenth, else the
            smaller of "SNB", the shifted negative binomial, and "Zayatz"; the last if
            the others have no estimate.
        k_map: least number of people of the population who look like anybody in the
            table, see `estimated_k_map`.
        journalist_risk: highest expected 1 / people of the population who look alike.
        marketer_risk: expected share of the people who are found; both by `individual_risk`.
    """

    uniques: float
    model: str
    k_map: int
    journalist_risk: float
    marketer_risk: float


@dataclass(frozen=True, kw_only=True, eq=False)
class AuditReport:
    """Risks of the people in a table, given what attackers may know.

    Attributes:
        verdict: whether it is anonymous, and why.
        people: persons, or rows if the schema names no person. Suppressed rows count
            nowhere. Shares are of these people: one with several rows is exposed by any
            of them.
        appearances: in which they appear: each person counts once for each class.
        suppressed: share of rows with `*` in every quasi-identifier.
        risk: re-identification by all quasi-identifiers together.
        column_sets: every set of up to three quasi-identifiers, riskiest first; of two or one
            if there are too many of these.
        uniques_after_change: column -> share of people who are unique without this quasi-identifier,
            or, for another column, once it is known too.
        identifiers: columns that look like identifiers.
        undecided_columns: columns of texts that may name people, of which nothing is known.
        secrets: sensitive column -> what the classes reveal about it.
        linkage: what the attacker's list finds; None without a list.
        list_risk: the risk, with the list as the population; None if it lacks a
            quasi-identifier.
        estimates: None without the size of the population.
    """

    verdict: TableVerdict
    people: int
    appearances: int
    suppressed: float
    risk: ReidentificationRisk
    column_sets: tuple[ColumnSet, ...]
    uniques_after_change: Mapping[str, float]
    identifiers: tuple[Finding, ...]
    undecided_columns: tuple[str, ...]
    secrets: dict[str, AttributeRisk]
    linkage: Linkage | None
    list_risk: ReidentificationRisk | None
    estimates: PopulationEstimates | None


@dataclass(frozen=True, kw_only=True, eq=False)
class AuditQuestion(Evaluation[Microdata, AuditReport]):
    """Evaluation of the risk of re-identification in a table.

    Attributes:
        quasi_identifiers: what an attacker may know, at least one column.
        sensitive: what should stay unknown; none of the quasi-identifiers.
        others: columns that an attacker may turn out to know too.
        threshold: risk above which a person counts as exposed.
        attacker: a list of known people, to be joined on the quasi-identifiers that it
            has.
        population: number of people from which the table was drawn, for the estimates.
        roles: assumed role of each column; looked up if it is None and the rows fit.
    """

    kind = "re-identification risk"

    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    threshold: float = 0.2
    attacker: pd.DataFrame | None = None
    population: int | None = None
    roles: tuple[SuggestedRole, ...] | None = None

    @classmethod
    def of(
        cls,
        roles: tuple[SuggestedRole, ...],
        schema: Schema,
        *,
        known: Sequence[str] | None = None,
        sensitive: Sequence[str] | None = None,
        among: Collection[str] | None = None,
        **options: Any,
    ) -> AuditQuestion:
        """Build the audit of a whole table, with the role of each column.

        Args:
            roles: as proposed.
            schema: names the person.
            known: quasi-identifiers, instead of the proposed ones.
            sensitive: instead of the proposed ones.
            among: columns that are proposed as sensitive, or may turn out to be known
                too; None for all.
            options: further attributes.
        """
        by_role = {
            role: [proposal.column for proposal in roles if proposal.role == role]
            for role in ROLES
        }
        known = by_role["quasi-identifier"] if known is None else known
        if sensitive is None:
            sensitive = [
                name for name in by_role["sensitive"] if among is None or name in among
            ]
        left_out = {*known, *sensitive, *by_role["identifier"], schema.unit.id_column}
        return cls(
            quasi_identifiers=tuple(known),
            sensitive=tuple(name for name in sensitive if name not in known),
            others=tuple(
                proposal.column
                for proposal in roles
                if proposal.column not in left_out
                and (among is None or proposal.column in among)
            ),
            roles=roles,
            **options,
        )

    @property
    def ledger_names(self) -> tuple[str, ...]:
        return tuple(self.quasi_identifiers)

    def __post_init__(self) -> None:
        both = [name for name in self.sensitive if name in self.quasi_identifiers]
        if both:
            raise two_roles_error(both[0])

    @property
    def _column_names(self) -> list[str]:
        return list(
            dict.fromkeys((*self.quasi_identifiers, *self.sensitive, *self.others))
        )

    def read(self, table: OriginalTable, schema: Schema) -> Microdata:
        """Return the rows, or the codes of the columns if rows do not fit."""
        is_whole = table.in_memory or self.attacker is not None
        return table.rows() if is_whole else table.coded_rows(self._column_names)

    def compute(
        self,
        original: Microdata,
        schema: Schema,
        on_progress: OnProgress = ignore_stage_progress,
    ) -> AuditReport:
        """Return the report.

        Without the rows it comes without a search for identifiers, which are in other
        columns.

        A column with too many different texts names people. It is judged by that alone.

        Raises: ParameterError without quasi-identifiers, or for fewer people in the
            population than in the table; SchemaError for an unknown column, or when
            every row is suppressed; ManyValuesError where all known columns have too
            many different texts.
        """
        coded = original
        roles = self.roles or ()
        if not isinstance(coded, CodedRows):
            whose = person_codes(original.frame, schema.unit.id_column)
            coded = CodedRows.from_frames(
                self._column_names, lambda _: original.frame, whose
            )
            roles = suggest_roles(original.frame) if self.roles is None else roles
        check_columns(self.quasi_identifiers)
        check_threshold(self.threshold)
        columns = self._usable_quasi_identifiers(coded.omitted_columns)
        visible = mark_visible_coded_rows(coded, columns)
        others, secret = (
            tuple(name for name in names if name not in coded.omitted_columns)
            for names in (self.others, self.sensitive)
        )
        knowledge = Knowledge.from_rows(
            coded, visible, known=tuple(columns), others=others, sensitive=secret
        )
        shown = np.average(visible, weights=coded.counts)
        frame = original.frame if self.attacker is None else original.frame[visible]
        return describe_risk(
            knowledge,
            roles=roles,
            schema=schema,
            omitted_columns=coded.omitted_columns,
            suppressed=float(1 - shown),
            threshold=self.threshold,
            population=self.population,
            linkage=self._link_list(frame, knowledge.person),
            list_risk=self._risk_by_list(frame, knowledge.person),
        )

    def _usable_quasi_identifiers(self, left_out: Sequence[str]) -> list[str]:
        """Return the quasi-identifiers without columns of too many different texts.

        Raises: as `compute`.
        """
        columns = [name for name in self.quasi_identifiers if name not in left_out]
        if not columns:
            raise ManyValuesError(
                (
                    "column {column!r} has more than {most:,} different values: it "
                    "identifies people"
                ),
                remedy="remove the column from what others know",
                column=left_out[0],
                most=MAX_DISTINCT_TEXTS,
            )
        return columns

    def _risk_by_list(
        self, frame: pd.DataFrame, person: IntArray | None
    ) -> ReidentificationRisk | None:
        columns = self.quasi_identifiers
        if self.attacker is None or not set(columns) <= {*self.attacker.columns}:
            return None
        classes, listed = joint_classes(frame, self.attacker, columns)
        return measure_reidentification_risk(
            classes, threshold=self.threshold, population=listed, person=person
        )

    def _link_list(
        self, frame: pd.DataFrame, person: IntArray | None
    ) -> Linkage | None:
        if self.attacker is None:
            return None
        shared = [
            name for name in self.quasi_identifiers if name in self.attacker.columns
        ]
        if not shared:
            return None
        once = select_one_row_per_person(equivalence_classes(frame, shared), person)
        return attack_by_linkage(frame.iloc[once], self.attacker, shared)


def describe_risk(
    knowledge: Knowledge,
    *,
    roles: Sequence[SuggestedRole],
    schema: Schema,
    omitted_columns: Sequence[str],
    suppressed: float,
    threshold: float,
    population: int | None = None,
    linkage: Linkage | None = None,
    list_risk: ReidentificationRisk | None = None,
) -> AuditReport:
    """Return the risks of people, given what attackers may know.

    Args:
        knowledge: the visible rows.
        roles: of all columns.
        schema: names the person.
        omitted_columns: known or sensitive columns that are not coded.
        suppressed: share of rows that are not visible.
        threshold, population, linkage, list_risk: as of `AuditQuestion` and the report.

    Raises: ParameterError for fewer people in the population than in the table.
    """
    columns = knowledge.known
    person = knowledge.person
    counts = knowledge.counts
    each = slice(None) if counts is None else np.repeat(np.arange(len(counts)), counts)
    tuples = knowledge.tuples
    sets = measure_column_sets(
        dict(zip(columns, tuples.column_codes(columns, {}), strict=True)),
        columns,
        max_columns=max_set_size(len(columns), MAX_SET_COLUMNS),
        person=tuples.person,
        counts=tuples.counts,
    )
    more = knowledge.uniques_with_one_more({})
    judged = (*columns, *knowledge.sensitive, *omitted_columns)
    naming, texts = find_naming_columns(roles, schema, judged)
    naming = [*naming, *omitted_columns]
    verdict = judge_anonymity(knowledge, naming, texts, sets, more, crowd=1 / threshold)
    # Compute these classes after the verdict: it holds arrays of the same size, and
    # both at once would double the memory
    all_classes = class_index(knowledge.column_codes(columns, {}))[each]
    once = knowledge.rows_of_sets
    classes = all_classes
    owner = person
    if person is not None and not isinstance(once, slice):
        classes = class_index([all_classes[once]])
        owner = person[once]
    risk = measure_reidentification_risk(classes, threshold=threshold, person=owner)
    own = (
        classes if owner is None else classes[select_one_row_per_person(classes, owner)]
    )
    return AuditReport(
        verdict=verdict,
        people=risk.people,
        appearances=len(own),
        suppressed=suppressed,
        risk=risk,
        column_sets=tuple(
            sorted(
                sets,
                key=lambda column_set: (-column_set.uniques, len(column_set.columns)),
            )
        ),
        uniques_after_change=knowledge.uniques_without_one() | more,
        identifiers=tuple(role.finding for role in roles if role.finding is not None),
        undecided_columns=tuple(
            role.column
            for role in roles
            if role.role == "undecided" and role.column not in (*judged, *naming)
        ),
        secrets={
            name: _measure_secret(knowledge, name, all_classes, each)
            for name in knowledge.sensitive
        },
        linkage=linkage,
        list_risk=list_risk,
        estimates=_estimate_population_risk(
            classes, own, risk.people, owner, population
        ),
    )


def _measure_secret(
    knowledge: Knowledge, name: str, classes: IntArray, each: IntArray | slice
) -> AttributeRisk:
    """Return what the classes reveal about a sensitive column.

    A class is homogeneous in a column of events if everybody has the same value in some
    event; the other figures are about what the known event says.

    Args:
        each: the row of `knowledge` of each row of the table.
    """
    codes = knowledge.codes[name][each]
    person = knowledge.person
    rows = knowledge.rows_that_tell(name)
    if person is None or isinstance(rows, slice):
        return measure_attribute_risk(classes, codes, person=person)
    if not len(rows):  # no event is known of anybody
        return AttributeRisk(
            distinct_l=0,
            entropy_l=0.0,
            recursive_c=0.0,
            t_equal=0.0,
            t_ordered=0.0,
            homogeneous_classes=0,
            homogeneous_people=0.0,
            posterior_ratio=1.0,
        )
    risk = measure_attribute_risk(
        class_index([classes[rows]]),
        class_index([codes[rows]]),
        person=class_index([person[rows]]),
    )
    if name not in knowledge.second_codes:
        return risk
    groups, share = knowledge.count_shared_event_values(name, classes)
    return replace(risk, homogeneous_classes=groups, homogeneous_people=share)


def _estimate_population_risk(
    classes: IntArray,
    own: IntArray,
    people: int,
    person: IntArray | None,
    population: int | None,
) -> PopulationEstimates | None:
    """Return the estimates of a population of this size; None for an unknown one.

    Args:
        classes, person: (rows,) class and person of each row.
        own: (appearances,) class of each person, once for each.

    Raises: ParameterError for fewer people than in the table.
    """
    if population is None:
        return None
    if population < people:
        raise ParameterError(
            (
                "population ({population}) must be at least the number of people "
                "in "
                "the table"
            ),
            remedy="give the number of people the table was drawn from",
            population=population,
        )
    # Assume that people outside the table appear as often as people in it
    ways = round(population * len(own) / people)
    uniques = 0.0
    model = "Zayatz"
    if people > MAX_PITMAN_SHARE * population:
        uniques = shifted_binomial_uniqueness(own, population=ways)
        model = "SNB"
    elif (np.bincount(own) == 2).any():
        uniques = pitman_uniqueness(own, population=ways)
        model = "Pitman"
    zayatz = zayatz_uniqueness(own, population=ways)
    if not uniques or (model == "SNB" and uniques >= zayatz):
        uniques = zayatz
        model = "Zayatz"
    sizes = people_per_class(classes, person)
    alike = estimate_individual_risk(sizes, sizes * population / people)
    risk = max_per_person(alike[classes], person)
    smallest = int(sizes[sizes > 0].min())
    return PopulationEstimates(
        uniques=uniques,
        model=model,
        k_map=estimate_k_map(smallest, people=people, population=population),
        journalist_risk=float(risk.max()),
        marketer_risk=float(risk.mean()),
    )


def find_naming_columns(
    roles: Sequence[SuggestedRole],
    schema: Schema,
    excluded: Collection[str] = (),
) -> tuple[list[str], list[str]]:
    """Return the columns that name people, and the columns of free text.

    Free text may name people.

    Args:
        excluded: columns that are judged otherwise.
    """
    kinds = {
        role.column: "" if role.finding is None else role.finding.kind
        for role in roles
        if (role.role == "identifier" or role.column == schema.unit.id_column)
        and role.column not in excluded
    }
    naming = [
        name for name, kind in kinds.items() if kind not in (FREE_TEXT, RUNNING_NUMBER)
    ]
    return naming, [name for name, kind in kinds.items() if kind == FREE_TEXT]


def mark_visible_rows(frame: pd.DataFrame, columns: Sequence[str]) -> BoolArray:
    """Return a mask of the rows with a value other than `*` in some column.

    Raises: ParameterError without columns; SchemaError for an unknown one, or if every
        row is suppressed.
    """
    check_columns(columns)
    return mark_visible_coded_rows(
        CodedRows.from_frames(columns, lambda _: frame, None), columns
    )


def mark_visible_coded_rows(coded: CodedRows, columns: Sequence[str]) -> BoolArray:
    """Return a mask of coded rows with a value other than `*` in some column."""
    shown = {name: mark_unsuppressed(coded.values[name]) for name in columns}
    visible: BoolArray = np.any(
        [shown[name][coded.frame[name].to_numpy()] for name in columns], axis=0
    )
    if not visible.any():
        raise every_row_suppressed_error()
    return visible


def every_row_suppressed_error() -> SchemaError:
    """Return the error of a table whose known columns are all `*`."""
    return SchemaError(
        "every row is suppressed in these columns", remedy="choose another column"
    )


def mark_unsuppressed(values: pd.Series) -> BoolArray:
    """Return a mask of the values that are not `*`.

    Numbers of any type, decimals too, never are `*`.
    """
    if pd.api.types.is_numeric_dtype(values.dtype):
        return np.ones(len(values), dtype=np.bool_)
    return np.asarray(as_text(values) != SUPPRESSED, dtype=np.bool_)
