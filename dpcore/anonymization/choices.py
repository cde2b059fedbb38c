"""The settings that plans of all anonymization methods share."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self, get_args

from dpcore.anonymization.coding import Coding
from dpcore.anonymization.fulldomain.metrics import InformationLoss, Metric
from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.anonymization.models import KAnonymity, PrivacyModel, SensitiveModel
from dpcore.errors import SchemaError, UsageError, two_roles_error
from dpcore.registry import Registered
from dpcore.schema.role import ROLES, Role

SuppressedTreatment = Literal["checked", "dropped", "blanked", "kept"]
SUPPRESSED_TREATMENTS: tuple[SuppressedTreatment, ...] = get_args(SuppressedTreatment)


@dataclass(frozen=True, kw_only=True)
class Choices:
    """The settings of a plan, without its method."""

    roles: Mapping[str, Role]
    """The role of every column of the table."""
    hierarchies: Mapping[str, Hierarchy]
    """One per quasi-identifier, and one per sensitive column with hierarchical distance."""
    models: tuple[PrivacyModel, ...]
    limit: float = 0.0
    """Largest share of the published people with a suppressed row."""
    metric: Metric = field(default_factory=InformationLoss)
    """The measure that full-domain search minimizes."""
    suppressed: SuppressedTreatment = "checked"
    """What happens to suppressed rows.

    checked: published as one class if it meets every model, else left out. dropped: left
    out, if no more than the limit; a larger class of `*` is published. blanked: published without their sensitive values. kept: published with them,
    however few they are (as ARX does).
    """
    person: str | None = None
    """The column that names the person of a row, None if every row is a person."""
    household: str | None = None
    """The column that names the household of a row; it is dropped.

    Classes then count households in place of people, since whoever finds one member has
    found all.
    """
    subset: str | None = None
    """A column of true and false that marks the rows to be published; it is dropped."""
    pseudonym: str | None = None
    """A dropped column that a curator replaces by keyed pseudonyms."""
    series: str = ""
    """Name of the tables that share pseudonyms; if empty, the curator makes one up."""
    node: Mapping[str, int] | None = None
    """The level of every quasi-identifier.

    None means the optimal levels in full-domain generalization, and level 0 before cells
    are suppressed.
    """
    floor: Mapping[str, int] = field(default_factory=dict)
    """The lowest level that the search may choose, by quasi-identifier; 0 for others."""
    gap: float = 0.0
    """Relative gap to the bound, if a search ended early."""
    coded: Mapping[str, Coding] = field(default_factory=dict)
    """Columns of numbers that are coded before any other step."""
    randomized: Mapping[str, float] = field(default_factory=dict)
    """Share of cells redrawn by PRAM, by column; see `post_randomize`."""

    def __post_init__(self) -> None:
        for role in self.roles.values():
            look_up_name("role", dict.fromkeys(ROLES), role)
        look_up_name(
            "way with suppressed rows",
            dict.fromkeys(SUPPRESSED_TREATMENTS),
            self.suppressed,
        )
        if not 0 <= self.limit <= 1:
            raise UsageError(
                f"limit ({self.limit:g}) must be between 0 and 1",
                remedy="give a share of people",
            )
        if not self.models:
            raise UsageError("a plan needs a privacy model", remedy="add k-anonymity")
        undecided = [
            name
            for name in self.columns_with_role("undecided")
            if name not in self.dropped_columns
        ]
        if undecided:
            raise SchemaError(
                "nobody has decided whether {columns} may be published",
                remedy=(
                    "make it an identifier to leave it out, or insensitive to publish "
                    "it as it is"
                ),
                columns=", ".join(undecided),
            )
        quasi = self.quasi_identifiers
        if not quasi:
            raise SchemaError(
                "there is no quasi-identifier", remedy="give a column this role"
            )
        if self.household in quasi:
            raise two_roles_error(self.household)
        if self.pseudonym is not None and self.pseudonym not in self.dropped_columns:
            raise two_roles_error(self.pseudonym)
        if not all(0 < share <= 1 for share in self.randomized.values()):
            raise UsageError(
                "a share drawn anew must be above 0 and at most 1",
                remedy="give a share of cells",
            )
        kept = {
            *self.columns_with_role("sensitive"),
            *self.columns_with_role("insensitive"),
        } - self.dropped_columns
        for name in (*self.coded, *self.randomized):
            if name not in kept or (name in self.randomized and name in self.secrets):
                raise SchemaError(
                    "{column} is not published unchanged",
                    remedy="choose another column",
                    column=name,
                )
        for model in self.models:
            check_registered(PrivacyModel, model)
            column = model.column if isinstance(model, SensitiveModel) else None
            if column in quasi:
                raise two_roles_error(column)
            if column is not None and self.roles.get(column) != "sensitive":
                raise SchemaError(
                    "{model} needs {column} to be sensitive",
                    remedy="give a column this role",
                    column=column,
                    model=model,
                )

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """The quasi-identifiers, in the order of the roles."""
        return self.columns_with_role("quasi-identifier")

    @property
    def quasi_identifier_hierarchies(self) -> dict[str, Hierarchy]:
        """The hierarchies of the quasi-identifiers, in their order."""
        return {name: self.hierarchies[name] for name in self.quasi_identifiers}

    @property
    def secrets(self) -> dict[str, Hierarchy | None]:
        """The hierarchy, or None, of each sensitive column that a model uses."""
        columns = (
            model.column for model in self.models if isinstance(model, SensitiveModel)
        )
        return {name: self.hierarchies.get(name) for name in dict.fromkeys(columns)}

    @property
    def dropped_columns(self) -> frozenset[str]:
        """The unpublished columns."""
        special = (self.subset, self.person, self.household)
        return frozenset(
            (
                *self.columns_with_role("identifier"),
                *(name for name in special if name is not None),
            )
        )

    def columns_with_role(self, role: Role) -> tuple[str, ...]:
        """Return the columns with a role."""
        return tuple(name for name, given in self.roles.items() if given == role)

    @property
    def k(self) -> int:
        """The smallest class size that k-anonymity allows; 1 without k-anonymity."""
        return max(
            (model.k for model in self.models if isinstance(model, KAnonymity)),
            default=1,
        )

    @property
    def unit_column(self) -> str | None:
        """The column of the people or households to count; None if rows count."""
        return self.household or self.person

    @property
    def counted_unit(self) -> str:
        """What class sizes count: "households", "people" or "rows"."""
        return "households" if self.household else "people" if self.person else "rows"

    def with_node(self, node: Mapping[str, int] | None, gap: float = 0.0) -> Self:
        """Return the plan with these levels and this gap, unchanged if node is None."""
        return self if node is None else replace(self, node=node, gap=gap)

    def with_person_column(self, person: str | None) -> Self:
        """Return the plan with this person column, unchanged if it is None."""
        return self if person is None else replace(self, person=person)


def check_registered(family: type[Registered], member: Registered) -> None:
    """Refuse an object whose class is not registered, as it could not be read back.

    Raises: ParameterError.
    """
    if family.kinds().get(getattr(member, "kind", "")) is not type(member):
        raise UsageError(
            f"{type(member).__name__} is no registered {family.__name__}",
            remedy=(
                f"derive its class from {family.__name__}, and give the class a "
                "`kind` of its own"
            ),
        )


def look_up_name(kind: str, names: Mapping[str, Any], name: str) -> Any:
    """Look up a name in a mapping, and refuse an unknown name.

    Args:
        kind: the kind of name, for the error.
        names: the table.
        name: to look up.

    Raises: ParameterError for an unknown one.
    """
    if name not in names:
        raise UsageError(
            f"there is no {kind} {name}", remedy=f"take one of {', '.join(names)}"
        )
    return names[name]
