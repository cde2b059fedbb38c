"""A plan: everything that decides an anonymized table. The same plan on the same table gives the same result.

It holds what a person chose (roles, hierarchies, models, limit, metric, method, node) and goes with the
result as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, get_args

from dpcore.anonymize.closeness import TCloseness
from dpcore.anonymize.fulldomain.metrics import (
    AverageClassSize,
    Discernibility,
    InformationLoss,
    Metric,
    NonUniformEntropy,
)
from dpcore.anonymize.hierarchies.hierarchy import Hierarchy
from dpcore.anonymize.methods import METHODS, FullDomain, Method
from dpcore.anonymize.models import (
    DeltaPresence,
    DistinctL,
    EntropyL,
    KAnonymity,
    KMap,
    PrivacyModel,
    RecursiveCL,
    SensitiveModel,
)
from dpcore.errors import HierarchyError, ParameterError, SchemaError
from dpcore.schema.role import ROLES, Role

Suppressed = Literal["checked", "dropped", "blanked", "kept"]
SUPPRESSED_ROWS: tuple[Suppressed, ...] = get_args(Suppressed)

PRIVACY_MODELS = {
    "k-anonymity": KAnonymity,
    "k-map": KMap,
    "delta-presence": DeltaPresence,
    "distinct l-diversity": DistinctL,
    "entropy l-diversity": EntropyL,
    "recursive (c, l)-diversity": RecursiveCL,
    "t-closeness": TCloseness,
}
METRICS = {
    "loss": InformationLoss,
    "non-uniform entropy": NonUniformEntropy,
    "discernibility": Discernibility,
    "average class size": AverageClassSize,
}


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What to do with a table.

    Raises: SchemaError without a quasi-identifier or for a model whose column is not sensitive,
        HierarchyError for a quasi-identifier without hierarchy, ParameterError for an unknown role, a limit
        outside 0 to 1, or no model.
    """

    roles: Mapping[str, Role]
    """Of every column of the table."""
    hierarchies: Mapping[str, Hierarchy]
    """One per quasi-identifier; one for a sensitive column where t-closeness uses hierarchical distance."""
    models: tuple[PrivacyModel, ...]
    limit: float = 0.0
    """Share of the published people who may have a suppressed row."""
    metric: Metric = field(default_factory=InformationLoss)
    """What full-domain search minimizes."""
    method: Method = field(default_factory=FullDomain)
    """Its name is taken too."""
    suppressed: Suppressed = "checked"
    """What becomes of suppressed rows. checked: they are published as one class if it meets every model, else
    left out. dropped: left out. blanked: published without their sensitive values. kept: published with them,
    however few they are (as ARX does)."""
    person: str | None = None
    """The column that tells whose row it is: classes count people. None where every row is a person."""
    household: str | None = None
    """The column that says who lives together, which is dropped: classes count households in place of people,
    since whoever finds one person has found all."""
    subset: str | None = None
    """A column of true and false: the rows to be published out of a population table; it is dropped."""
    node: Mapping[str, int] | None = None
    """The level of every quasi-identifier in full-domain generalization; None for the optimal ones."""

    def __post_init__(self) -> None:
        for role in self.roles.values():
            _known("role", dict.fromkeys(ROLES), role)
        if isinstance(self.method, str):
            object.__setattr__(self, "method", _known("method", METHODS, self.method))
        _known("way with suppressed rows", dict.fromkeys(SUPPRESSED_ROWS), self.suppressed)
        if not 0 <= self.limit <= 1:
            raise ParameterError(
                "limit ({limit:g}) must be between 0 and 1",
                remedy="give a share of people",
                limit=self.limit,
            )
        if not self.models:
            raise ParameterError("a plan needs a privacy model", remedy="add k-anonymity")
        quasi = self.quasi_identifiers
        if not quasi:
            raise SchemaError("there is no quasi-identifier", remedy="give at least one column this role")
        if self.household in quasi:
            raise SchemaError(
                "{column} says who lives together, and is a quasi-identifier at once",
                remedy="give the column another role, or count people",
                column=self.household,
            )
        for name in quasi:
            if name not in self.hierarchies and self.method.needs_hierarchies:
                raise HierarchyError(
                    "the quasi-identifier {column} has no hierarchy",
                    remedy="take the suggested one",
                    column=name,
                )
        for model in self.models:
            column = model.column if isinstance(model, SensitiveModel) else None
            if column in quasi:
                raise SchemaError(
                    "{column} is sensitive and a quasi-identifier at once",
                    remedy="give the column one of the two roles",
                    column=column,
                )
            if column is not None and self.roles.get(column) != "sensitive":
                raise SchemaError(
                    "{model} needs {column} to be sensitive",
                    remedy="give the column this role",
                    column=column,
                    model=model,
                )

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """The columns that are generalized, in the order of the roles."""
        return self.columns_of("quasi-identifier")

    @property
    def dropped(self) -> frozenset[str]:
        """The columns that do not leave."""
        named = (self.subset, self.person, self.household)
        return frozenset((*self.columns_of("identifier"), *(name for name in named if name is not None)))

    def columns_of(self, role: Role) -> tuple[str, ...]:
        """The columns that have a role."""
        return tuple(name for name, each in self.roles.items() if each == role)

    @property
    def counted(self) -> str | None:
        """The column that tells what classes count; None where every row counts."""
        return self.household or self.person

    @property
    def counts(self) -> str:
        """What classes count, in a word."""
        return "households" if self.household else "people" if self.person else "rows"

    def at(self, node: Mapping[str, int]) -> Plan:
        """The same plan with these levels."""
        return replace(self, node=node)

    def counting(self, person: str | None) -> Plan:
        """The same plan, counting the people whom a column names; it stays where the column is None."""
        return self if person is None else replace(self, person=person)

    def to_json(self) -> str:
        """The plan as JSON; `from_json` reads it back."""
        return json.dumps(
            {
                "roles": dict(self.roles),
                "hierarchies": {name: h.levels for name, h in self.hierarchies.items()},
                "models": [{"model": _name(PRIVACY_MODELS, model)} | asdict(model) for model in self.models],  # type: ignore
                "limit": self.limit,
                "metric": {"metric": _name(METRICS, self.metric)} | asdict(self.metric),
                "method": self.method.name,
                "suppressed": self.suppressed,
                "person": self.person,
                "household": self.household,
                "subset": self.subset,
                "node": None if self.node is None else dict(self.node),
            },
            indent=1,
            ensure_ascii=False,
        )

    @classmethod
    def from_json(cls, text: str) -> Plan:
        """Read what `to_json` wrote.

        Raises: ParameterError when the text is no plan; the errors of a plan that breaks its rules.
        """
        try:
            fields = json.loads(text)
            hierarchies = {
                name: Hierarchy(values=tuple(levels[0]), levels=tuple(map(tuple, levels)))
                for name, levels in fields.pop("hierarchies").items()
            }
            models = tuple(_made(PRIVACY_MODELS, "model", model) for model in fields.pop("models"))
            metric = _made(METRICS, "metric", fields.pop("metric"))
            return cls(hierarchies=hierarchies, models=models, metric=metric, **fields)
        except (AttributeError, IndexError, KeyError, TypeError, json.JSONDecodeError) as error:
            raise ParameterError(
                "the file is not a plan", remedy="take a plan that this program saved"
            ) from error


def _known(what: str, known: Mapping[str, Any], name: str) -> Any:
    if name not in known:
        raise ParameterError(
            "there is no {what} {name}",
            remedy="take one of {known}",
            what=what,
            name=name,
            known=", ".join(known),
        )
    return known[name]


def _name(kinds: Mapping[str, type], thing: object) -> str:
    return next(name for name, kind in kinds.items() if kind is type(thing))


def _made(kinds: Mapping[str, type], key: str, fields: dict[str, Any]) -> Any:
    return kinds[fields.pop(key)](**fields)
