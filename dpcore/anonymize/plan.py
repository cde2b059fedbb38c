"""A plan: everything that decides an anonymized table. The same plan on the same table gives the same result.

It holds what a person chose (roles, hierarchies, models, limit, metric, method, node) and goes with the
result as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from dpcore.anonymize.choices import Choices, known
from dpcore.anonymize.closeness import TCloseness
from dpcore.anonymize.fulldomain.metrics import (
    AverageClassSize,
    Discernibility,
    InformationLoss,
    NonUniformEntropy,
)
from dpcore.anonymize.hierarchies.hierarchy import Hierarchy
from dpcore.anonymize.methods import METHODS, FullDomain, Method
from dpcore.anonymize.models import DeltaPresence, DistinctL, EntropyL, KAnonymity, KMap, RecursiveCL
from dpcore.errors import HierarchyError, ParameterError

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
class Plan(Choices):
    """What to do with a table.

    Raises: SchemaError without a quasi-identifier or for a model whose column is not sensitive,
        HierarchyError for a quasi-identifier without hierarchy, ParameterError for an unknown role, a limit
        outside 0 to 1, or no model.
    """

    method: Method = field(default_factory=FullDomain)
    """Its name is taken too."""

    def __post_init__(self) -> None:
        if isinstance(self.method, str):
            object.__setattr__(self, "method", known("method", METHODS, self.method))
        super().__post_init__()
        for name in self.quasi_identifiers:
            if name not in self.hierarchies and self.method.needs_hierarchies:
                raise HierarchyError(
                    "the quasi-identifier {column} has no hierarchy",
                    remedy="take the suggested one",
                    column=name,
                )

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


def _name(kinds: Mapping[str, type], thing: object) -> str:
    return next(name for name, kind in kinds.items() if kind is type(thing))


def _made(kinds: Mapping[str, type], key: str, fields: dict[str, Any]) -> Any:
    return kinds[fields.pop(key)](**fields)
