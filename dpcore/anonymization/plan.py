"""A plan: all choices that are needed to repeat an anonymization.

It holds the choices of a person (roles, hierarchies, models, limit, metric, method,
node) and goes with the result as JSON.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any

from dpcore.anonymization.choices import Choices
from dpcore.anonymization.coding import Coding
from dpcore.anonymization.fulldomain.metrics import Metric
from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.anonymization.methods import FullDomain, Method
from dpcore.anonymization.models import PrivacyModel
from dpcore.errors import HierarchyError, UsageError
from dpcore.json_text import parse_json, refuse_malformed_fields


@dataclass(frozen=True, kw_only=True)
class Plan(Choices):
    """How to anonymize one table: roles, hierarchies, models, limit and method.

    >>> from dpcore.anonymization import KAnonymity, suggest_hierarchy
    >>> import pandas as pd
    >>> plan = Plan(
    ...     roles={"age": "quasi-identifier", "name": "identifier"},
    ...     hierarchies={"age": suggest_hierarchy(pd.Series(range(100), name="age"))},
    ...     models=(KAnonymity(k=5),),
    ... )
    >>> plan.quasi_identifiers, plan.method.kind, str(plan.models[0])
    (('age',), 'full-domain', '5-anonymity')
    >>> Plan.from_json(plan.to_json()) == plan
    True

    Raises: SchemaError without a quasi-identifier or for a model whose column is not
        sensitive, HierarchyError for a quasi-identifier without hierarchy,
        ParameterError for an unknown role, a limit outside 0 to 1, or no model.
    """

    method: Method = field(default_factory=FullDomain)
    """A method, or its kind."""

    def __post_init__(self) -> None:
        if isinstance(self.method, str):
            object.__setattr__(self, "method", Method.of_kind(self.method)())
        super().__post_init__()
        for name in self.quasi_identifiers:
            if name not in self.hierarchies and self.method.needs_hierarchies:
                raise HierarchyError(
                    "the quasi-identifier {column} has no hierarchy",
                    remedy=(
                        "use the suggested hierarchy, or give every value of the "
                        "column a line"
                    ),
                    column=name,
                )
        if any(self.floor.values()) and not self.method.searches:
            raise UsageError(
                f"the method {self.method} chooses no level for a whole column, and "
                "cannot keep to a lowest one",
                remedy="take the full-domain method",
            )

    @property
    def about(self) -> tuple[str, ...]:
        """The method and the models, in words, for the ledger."""
        return (self.method.kind, *map(str, self.models))

    def to_json(self) -> str:
        """Write the plan as JSON, to be read by `from_json`."""
        return json.dumps(
            {
                "roles": dict(self.roles),
                "hierarchies": {name: h.levels for name, h in self.hierarchies.items()},
                "models": [
                    {"model": model.kind} | vars(model) for model in self.models
                ],
                "limit": self.limit,
                "metric": {"metric": self.metric.kind} | vars(self.metric),
                "method": self.method.kind,
                "suppressed": self.suppressed,
                "person": self.person,
                "household": self.household,
                "subset": self.subset,
                "node": None if self.node is None else dict(self.node),
            }
            | ({"gap": self.gap} if self.gap else {})
            | ({"floor": dict(self.floor)} if self.floor else {})
            | (
                {"coded": {name: asdict(coding) for name, coding in self.coded.items()}}
                if self.coded
                else {}
            )
            | ({"randomized": dict(self.randomized)} if self.randomized else {})
            | (
                {"pseudonym": self.pseudonym, "series": self.series}
                if self.pseudonym
                else {}
            ),
            indent=1,
            ensure_ascii=False,
        )

    @classmethod
    def from_json(cls, text: str) -> Plan:
        """Read a plan that `to_json` wrote.

        Raises: ReadError when the text is no plan, LimitError when it is beyond the
            limits of `parse_json`; the errors of a plan that breaks its rules.
        """
        fields = parse_json(text)
        with refuse_malformed_fields():
            hierarchies = {
                name: _read_hierarchy(levels)
                for name, levels in fields.pop("hierarchies").items()
            }
            models = tuple(
                _read_registered(PrivacyModel, model, "model")
                for model in fields.pop("models")
            )
            metric = _read_registered(Metric, fields.pop("metric"), "metric")
            coded = {
                name: Coding(**coding)
                for name, coding in fields.pop("coded", {}).items()
            }
            return cls(
                hierarchies=hierarchies,
                models=models,
                metric=metric,
                coded=coded,
                **fields,
            )


def _read_hierarchy(levels: Any) -> Hierarchy:
    """Read a hierarchy from its levels, each a list of texts."""
    if not isinstance(levels, list) or any(
        not isinstance(level, list) for level in levels
    ):
        raise TypeError("levels")
    return Hierarchy(values=tuple(levels[0]), levels=tuple(map(tuple, levels)))


def _read_registered(family: type[Any], fields: dict[str, Any], key: str) -> Any:
    """Build a registered object from its parameters and its kind."""
    return family.of_kind(fields.pop(key))(**fields)
