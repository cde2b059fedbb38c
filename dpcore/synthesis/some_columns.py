"""A recipe for some of the columns: the others are neither read nor drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from dpcore.accounting.loss import Loss
from dpcore.errors import ParameterError
from dpcore.mechanisms.measurer import Measurer
from dpcore.model import Model
from dpcore.progress import OnProgress
from dpcore.schema.domain import Clique, Domain
from dpcore.synthesis.base import Expected, Recipe, columns_text, describe, load_recipe
from dpcore.tables.counts import Marginal
from dpcore.text import Text


@dataclass(frozen=True, kw_only=True)
class SomeColumns(Recipe):
    """Another recipe, kept to these columns. Costs what that recipe costs."""

    kind: ClassVar[str] = "some columns"

    columns: tuple[str, ...]
    recipe: Recipe

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.columns))
        if not self.columns:
            raise ParameterError("there must be at least one column", remedy="name the columns")

    @property
    def threshold_delta(self) -> Fraction:
        return self.recipe.threshold_delta

    @property
    def stands_on(self) -> tuple[Loss, ...]:
        return self.recipe.stands_on

    def check(self, domain: Domain) -> None:
        """Refuse unknown columns, and what the recipe refuses for these columns."""
        self.recipe.check(domain.project(domain.clique(self.columns)))

    def expect(self, domain: Domain, loss: Loss, rows: int, table_rows: float = 0) -> tuple[Expected, ...]:
        """The error that the recipe expects for these columns."""
        return self.recipe.expect(domain.project(self.columns), loss, rows, table_rows)

    def fit(self, measurer: Measurer, on_progress: OnProgress) -> tuple[dict[Clique, Marginal], Model]:
        """Run the recipe on a view of these columns."""
        return self.recipe.fit(measurer.only(self.columns), on_progress)

    def reads(self, domain: Domain) -> Clique:
        """Its columns, as far as the recipe reads them."""
        return self.recipe.reads(domain.project(self.columns))

    @property
    def choosing(self) -> Text | None:
        return self.recipe.choosing

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> SomeColumns | None:
        """Read what `to_dict` wrote; None where the inner recipe was not written out whole."""
        recipe = load_recipe(fields["recipe"])
        return None if recipe is None else cls(columns=tuple(fields["columns"]), recipe=recipe)

    @classmethod
    def describe(cls, fields: Mapping[str, Any]) -> Text:
        """Return a few words about the recipe, and its columns."""
        return Text(
            "{recipe}: {columns}", recipe=describe(fields["recipe"]), columns=columns_text(fields["columns"])
        )
