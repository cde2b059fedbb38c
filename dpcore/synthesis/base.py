"""The base of recipes, and the error that they state before anything is read."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from dpcore.accounting.loss import Loss
from dpcore.errors import UsageError
from dpcore.mechanisms.measurer import Measurer
from dpcore.model import Model
from dpcore.progress import OnProgress
from dpcore.registry import Registered
from dpcore.schema.domain import Clique, Domain
from dpcore.tables.counts import Marginal, Noise, half_width
from dpcore.text import Text


@dataclass(frozen=True, kw_only=True)
class Expected:
    """The promise of a quote for one clique, from public facts alone.

    Attributes:
        clique: names of the columns.
        cells: number of cells.
        variance: of the noise of one cell, in rows squared.
        noise: the law of the noise.
        pooled: whether draws of several tables are averaged.
    """

    clique: Clique
    cells: int
    variance: float
    noise: Noise
    pooled: bool = False

    def half_width(self, level: float = 0.95) -> float:
        """Return the half-width of the interval of one cell at a level between 0 and 1,
        in rows.
        """
        return half_width(self.variance, self.noise, level, pooled=self.pooled)


class Recipe(Registered, ABC, home="dpcore.synthesis"):
    """A frozen dataclass that describes the learning from a table, registered by its
    `kind`.
    """

    @property
    def threshold_delta(self) -> Fraction:
        """Part of the delta that the budget set aside for naming categories, taken by
        one run.
        """
        return Fraction(0)

    @property
    def stands_on(self) -> tuple[Loss, ...]:
        """Losses of earlier releases whose numbers the new one carries on."""
        return ()

    @abstractmethod
    def check(self, domain: Domain) -> None:
        """Refuse what cannot be done in this domain.

        A dry run on no rows finds what else is refused.
        """

    def expect(
        self, domain: Domain, loss: Loss, rows: int, table_rows: float = 0
    ) -> tuple[Expected, ...]:
        """Return the error to expect of each clique that is known in advance, without
        reading data.

        Args:
            domain: of the columns.
            loss: what the run would spend.
            rows: that a person may hold.
            table_rows: about how many rows there are, from public knowledge; 0 where
                that is not known.
        """
        return ()

    @abstractmethod
    def fit(
        self, measurer: Measurer, on_progress: OnProgress
    ) -> tuple[dict[Clique, Marginal], Model]:
        """Spend the measurer's loss, and return the marginals to publish with the model
        learned from them.
        """

    def reads(self, domain: Domain) -> Clique:
        """Return the columns of the domain that are read."""
        return domain.names

    @property
    def choosing(self) -> Text | None:
        """Duration of the private choice of cliques, in words, or None where they are
        fixed.
        """
        return None

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain data with `kind`, tuples as lists."""
        own = dataclasses.fields(self)  # type: ignore[arg-type]
        fields = {field.name: getattr(self, field.name) for field in own}
        return {
            "kind": self.kind,
            **{name: _plain(value) for name, value in fields.items()},
        }

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Recipe | None:
        """Read what `to_dict` wrote, or return None where that was not all of the
        recipe.
        """
        return cls(**{name: value for name, value in fields.items() if name != "kind"})

    @classmethod
    def describe(cls, fields: Mapping[str, Any]) -> Text:
        """Return a few words about the recipe that `to_dict` wrote."""
        return Text(cls.kind)


@dataclass(frozen=True, kw_only=True)
class SomeColumns(Recipe):
    """Another recipe on some of the columns, at the cost of that recipe."""

    kind: ClassVar[str] = "some columns"

    columns: tuple[str, ...]
    recipe: Recipe

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.columns))
        if not self.columns:
            raise UsageError(
                "there must be at least one column", remedy="name the columns"
            )

    @property
    def threshold_delta(self) -> Fraction:
        return self.recipe.threshold_delta

    @property
    def stands_on(self) -> tuple[Loss, ...]:
        return self.recipe.stands_on

    def check(self, domain: Domain) -> None:
        """Refuse unknown columns, and what the recipe refuses for these columns."""
        self.recipe.check(domain.project(domain.clique(self.columns)))

    def expect(
        self, domain: Domain, loss: Loss, rows: int, table_rows: float = 0
    ) -> tuple[Expected, ...]:
        """Return the error that the recipe expects for these columns."""
        return self.recipe.expect(domain.project(self.columns), loss, rows, table_rows)

    def fit(
        self, measurer: Measurer, on_progress: OnProgress
    ) -> tuple[dict[Clique, Marginal], Model]:
        """Run the recipe on a view of these columns."""
        return self.recipe.fit(measurer.only(self.columns), on_progress)

    def reads(self, domain: Domain) -> Clique:
        """Return the columns that the recipe reads."""
        return self.recipe.reads(domain.project(self.columns))

    @property
    def choosing(self) -> Text | None:
        return self.recipe.choosing

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> SomeColumns | None:
        """Read what `to_dict` wrote, or return None where the inner recipe was not
        written out whole.
        """
        recipe = load_recipe(fields["recipe"])
        return (
            None
            if recipe is None
            else cls(columns=tuple(fields["columns"]), recipe=recipe)
        )

    @classmethod
    def describe(cls, fields: Mapping[str, Any]) -> Text:
        """Return a few words about the recipe, and its columns."""
        return Text(
            "{recipe}: {columns}",
            recipe=describe(fields["recipe"]),
            columns=columns_text(fields["columns"]),
        )


def load_recipe(fields: Mapping[str, Any]) -> Recipe | None:
    """Read what `to_dict` of any recipe wrote, or return None where its kind or a part
    is not known.
    """
    family = Recipe.kinds()
    return (
        family[fields["kind"]].from_dict(fields) if fields["kind"] in family else None
    )


def describe(fields: Mapping[str, Any]) -> str:
    """Return a few words about the recipe that `to_dict` wrote, or its kind where that
    is unknown.
    """
    family = Recipe.kinds()
    return (
        family[fields["kind"]].describe(fields)
        if fields["kind"] in family
        else str(fields["kind"])
    )


def columns_text(columns: Sequence[str]) -> str:
    """Return a few names of columns, or their number."""
    return (
        ", ".join(columns)
        if len(columns) <= 4
        else Text("{number} columns", number=len(columns))
    )


def _plain(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, Fraction):
        return str(value)
    return value.to_dict() if hasattr(value, "to_dict") else value
