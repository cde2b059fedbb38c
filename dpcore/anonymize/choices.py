"""What the methods read of a plan; they know no more of it than this."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, TypeVar

from dpcore.anonymize.fulldomain.metrics import Metric
from dpcore.anonymize.hierarchies.hierarchy import Hierarchy
from dpcore.anonymize.models import PrivacyModel
from dpcore.schema.role import Role


class Choices(Protocol):
    """The choices of a plan; each is explained there."""

    @property
    def roles(self) -> Mapping[str, Role]: ...
    @property
    def hierarchies(self) -> Mapping[str, Hierarchy]: ...
    @property
    def models(self) -> tuple[PrivacyModel, ...]: ...
    @property
    def limit(self) -> float: ...
    @property
    def metric(self) -> Metric: ...
    @property
    def subset(self) -> str | None: ...
    @property
    def person(self) -> str | None: ...
    @property
    def household(self) -> str | None: ...
    @property
    def counted(self) -> str | None: ...
    @property
    def counts(self) -> str: ...
    @property
    def node(self) -> Mapping[str, int] | None: ...
    @property
    def quasi_identifiers(self) -> tuple[str, ...]: ...

    def at(self: Chosen, node: Mapping[str, int]) -> Chosen:
        """The same choices with these levels."""


Chosen = TypeVar("Chosen", bound=Choices)
