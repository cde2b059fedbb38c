"""The choices of a plan that every method reads."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self, get_args

from dpcore.anonymization.coding import Coding
from dpcore.anonymization.fulldomain.metrics import InformationLoss, Metric
from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.anonymization.models import KAnonymity, PrivacyModel, SensitiveModel
from dpcore.errors import SchemaError, UsageError, two_roles
from dpcore.registry import Registered
from dpcore.schema.role import ROLES, Role

Suppressed = Literal["checked", "dropped", "blanked", "kept"]
SUPPRESSED_ROWS: tuple[Suppressed, ...] = get_args(Suppressed)


@dataclass(frozen=True, kw_only=True)
class Choices:
    """Everything that a plan says, but for its method."""

    roles: Mapping[str, Role]
    """Of every column of the table."""
    hierarchies: Mapping[str, Hierarchy]
    """One per quasi-identifier; one for a sensitive column where t-closeness uses
    hierarchical distance.
    """
    models: tuple[PrivacyModel, ...]
    limit: float = 0.0
    """Share of the published people who may have a suppressed row."""
    metric: Metric = field(default_factory=InformationLoss)
    """The measure that full-domain search minimizes."""
    suppressed: Suppressed = "checked"
    """Use of suppressed rows. checked: they are published as one class if it meets
    every model, else left out. dropped: left out. blanked: published without their
    sensitive values. kept: published with them, however few they are (as ARX does).
    """
    person: str | None = None
    """The column that names the person of a row: classes count people.

    None where every row is a person.
    """
    household: str | None = None
    """The column that says who lives together, which is dropped: classes count
    households in place of people, since whoever finds one person has found all.
    """
    subset: str | None = None
    """A column of true and false: the rows to be published out of a population table;
    it is dropped.
    """
    pseudonym: str | None = None
    """A column that does not leave, and that a curator replaces by keyed pseudonyms;
    `apply` drops it.
    """
    series: str = ""
    """The name of the tables that share their pseudonyms; empty where the curator takes
    a new one.
    """
    node: Mapping[str, int] | None = None
    """The level of every quasi-identifier in full-domain generalization, None for the
    optimal ones, or before cells are suppressed, None for the values as they are.
    """
    gap: float = 0.0
    """The share of the score that other levels may save at most, of a search that ended
    before it saw all.
    """
    coded: Mapping[str, Coding] = field(default_factory=dict)
    """Columns of numbers that are published with coarser ones, before anything looks at
    them.
    """
    randomized: Mapping[str, float] = field(default_factory=dict)
    """Columns that leave as they are but for PRAM: the share of cells drawn anew, see
    `post_randomized`.
    """

    def __post_init__(self) -> None:
        for role in self.roles.values():
            known("role", dict.fromkeys(ROLES), role)
        known(
            "way with suppressed rows", dict.fromkeys(SUPPRESSED_ROWS), self.suppressed
        )
        if not 0 <= self.limit <= 1:
            raise UsageError(
                f"limit ({self.limit:g}) must be between 0 and 1",
                remedy="give a share of people",
            )
        if not self.models:
            raise UsageError("a plan needs a privacy model", remedy="add k-anonymity")
        quasi = self.quasi_identifiers
        if not quasi:
            raise SchemaError(
                "there is no quasi-identifier", remedy="give a column this role"
            )
        if self.household in quasi:
            raise two_roles(self.household)
        if self.pseudonym is not None and self.pseudonym not in self.dropped:
            raise two_roles(self.pseudonym)
        if not all(0 < share <= 1 for share in self.randomized.values()):
            raise UsageError(
                "a share drawn anew must be above 0 and at most 1",
                remedy="give a share of cells",
            )
        kept = {
            *self.columns_of("sensitive"),
            *self.columns_of("insensitive"),
        } - self.dropped
        for name in (*self.coded, *self.randomized):
            if name not in kept or (name in self.randomized and name in self.secrets):
                raise SchemaError(
                    "{column} is no column that leaves as it is",
                    remedy="choose another column",
                    column=name,
                )
        for model in self.models:
            check_registered(PrivacyModel, model)
            column = model.column if isinstance(model, SensitiveModel) else None
            if column in quasi:
                raise two_roles(column)
            if column is not None and self.roles.get(column) != "sensitive":
                raise SchemaError(
                    "{model} needs {column} to be sensitive",
                    remedy="give a column this role",
                    column=column,
                    model=model,
                )

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """The columns that are generalized, in the order of the roles."""
        return self.columns_of("quasi-identifier")

    @property
    def trees(self) -> dict[str, Hierarchy]:
        """The hierarchies of the quasi-identifiers, in their order."""
        return {name: self.hierarchies[name] for name in self.quasi_identifiers}

    @property
    def secrets(self) -> dict[str, Hierarchy | None]:
        """The columns that the models look at, with the hierarchy of each that has
        one.
        """
        columns = (
            model.column for model in self.models if isinstance(model, SensitiveModel)
        )
        return {name: self.hierarchies.get(name) for name in dict.fromkeys(columns)}

    @property
    def dropped(self) -> frozenset[str]:
        """The columns that do not leave."""
        named = (self.subset, self.person, self.household)
        return frozenset(
            (
                *self.columns_of("identifier"),
                *(name for name in named if name is not None),
            )
        )

    def columns_of(self, role: Role) -> tuple[str, ...]:
        """Return the columns that have a role."""
        return tuple(name for name, each in self.roles.items() if each == role)

    @property
    def k(self) -> int:
        """The people that every class needs, 1 where no model says a number."""
        return max(
            (model.k for model in self.models if isinstance(model, KAnonymity)),
            default=1,
        )

    @property
    def counted(self) -> str | None:
        """The column that tells what classes count, None where every row counts."""
        return self.household or self.person

    @property
    def counts(self) -> str:
        """The unit that classes count, in a word."""
        return "households" if self.household else "people" if self.person else "rows"

    def at(self, node: Mapping[str, int] | None, gap: float = 0.0) -> Self:
        """Return the same plan with these levels, and how far off they may be, or
        itself without any.
        """
        return self if node is None else replace(self, node=node, gap=gap)

    def counting(self, person: str | None) -> Self:
        """Return the same plan, counting the people whom a column names, or itself
        without a column.
        """
        return self if person is None else replace(self, person=person)


def check_registered(family: type[Registered], member: Registered) -> None:
    """Refuse a member of a family that could be stored and not be read back.

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


def known(what: str, names: Mapping[str, Any], name: str) -> Any:
    """Return what a name stands for.

    Raises: ParameterError for an unknown one.
    """
    if name not in names:
        raise UsageError(
            f"there is no {what} {name}", remedy=f"take one of {', '.join(names)}"
        )
    return names[name]
