"""What a recipe is: what to learn from a table, and the error to expect, said before anything is read."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Protocol

from dpcore.accounting.loss import Loss
from dpcore.mechanisms.measurer import Measurer
from dpcore.progress import OnProgress
from dpcore.release import Model
from dpcore.schema.domain import Clique, Domain
from dpcore.tables.counts import Marginal, Noise, half_width
from dpcore.text import Text


@dataclass(frozen=True, kw_only=True)
class Expected:
    """What a quote promises for one clique, from public facts alone.

    Attributes:
        cells: how many.
        variance: of the noise of one cell, in rows squared.
        pooled: whether draws of several tables are averaged.
    """

    clique: Clique
    cells: int
    variance: float
    noise: Noise
    pooled: bool = False

    def half_width(self, level: float = 0.95) -> float:
        """Half-width of the interval of one cell, in rows."""
        return half_width(self.variance, self.noise, level, pooled=self.pooled)


class Recipe(Protocol):
    """A frozen description of what to learn from a table. A recipe names it as its base."""

    kind: ClassVar[str]

    @property
    def threshold_delta(self) -> Fraction:
        """What a run takes of the delta that the budget set aside for naming categories."""
        return Fraction(0)

    @property
    def stands_on(self) -> tuple[Loss, ...]:
        """Losses of earlier releases whose numbers the new one carries on."""
        return ()

    def check(self, domain: Domain) -> None:
        """Refuse what cannot be done in this domain. A dry run on no rows finds what else is refused."""

    def expect(self, domain: Domain, loss: Loss, rows: int) -> tuple[Expected, ...]:
        """The error to expect at this loss, for people who hold up to `rows` rows; reads no data."""

    def fit(self, measurer: Measurer, on_progress: OnProgress) -> tuple[dict[Clique, Marginal], Model]:
        """Spend the measurer's loss: the marginals to publish, and the model learned from them."""

    def reads(self, domain: Domain) -> Clique:
        """The columns of the domain that are read."""
        return domain.names

    @property
    def choosing(self) -> Text | None:
        """How long it takes to choose privately what is measured; None where that is fixed."""
        return None

    def to_dict(self) -> dict[str, Any]:
        """Plain data, with `kind`."""

    @classmethod
    def describe(cls, fields: Mapping[str, Any]) -> Text:
        """What was asked, in a few words, from what `to_dict` wrote."""
        return Text("{kind}", kind=cls.kind)

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Recipe | None:
        """Read what `to_dict` wrote; None where that was not all of the recipe."""
        return None


def columns_text(columns: Sequence[str]) -> str:
    """A few names of columns, or how many there are."""
    return ", ".join(columns) if len(columns) <= 4 else Text("{number} columns", number=len(columns))


def recipe_dict(recipe: Any) -> dict[str, Any]:
    """The fields of a recipe as plain data, tuples as lists."""
    fields = {field.name: getattr(recipe, field.name) for field in dataclasses.fields(recipe)}
    return {"kind": recipe.kind, **{name: _plain(value) for name, value in fields.items()}}


def _plain(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return [_plain(each) for each in value]
    if isinstance(value, (set, frozenset)):
        return sorted(_plain(each) for each in value)
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, Fraction):
        return str(value)
    return value
