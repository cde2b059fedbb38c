"""The base class of recipes, and the errors they expect before reading any row."""

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
from dpcore.release import Guarantee
from dpcore.schema.domain import Clique, Domain
from dpcore.tables.counts import Marginal, Noise, half_width
from dpcore.text import Text


@dataclass(frozen=True, kw_only=True)
class ExpectedError:
    """The expected error of one clique, from public facts alone.

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
        """Return the half-width of a cell's interval at `level`, in rows.

        The level is between 0 and 1.
        """
        return half_width(self.variance, self.noise, level, pooled=self.pooled)


class Recipe(Registered, ABC, home="dpcore.synthesis"):
    """Base class of recipes: what to learn from a table, as a frozen dataclass."""

    @property
    def threshold_delta(self) -> Fraction:
        """The part of the budget's delta that one run spends on naming categories."""
        return Fraction(0)

    @property
    def stands_on(self) -> tuple[Guarantee, ...]:
        """Guarantees of earlier releases whose numbers this recipe uses."""
        return ()

    @property
    def facts_from_data(self) -> Mapping[str, tuple[str, ...]]:
        """Facts of the recipe, by column, that were taken from the data."""
        return {}

    @abstractmethod
    def check(self, domain: Domain) -> None:
        """Refuse a domain in which the recipe cannot run.

        A dry run on no rows finds further reasons.
        """

    def expect(
        self, domain: Domain, loss: Loss, max_rows: int, table_rows: float = 0
    ) -> tuple[ExpectedError, ...]:
        """Return the expected error of each clique known in advance.

        Reads no data.

        Args:
            domain: of the columns.
            loss: of the run.
            max_rows: most rows of a person.
            table_rows: approximate number of rows, from public knowledge; 0 if it is
                not known.
        """
        return ()

    @abstractmethod
    def fit(
        self, measurer: Measurer, on_progress: OnProgress
    ) -> tuple[dict[Clique, Marginal], Model]:
        """Spend the measurer's loss; return the marginals to publish, and the model."""

    def reads(self, domain: Domain) -> Clique:
        """Return the columns of the domain that the recipe reads."""
        return domain.names

    @property
    def chooses_pairs(self) -> bool:
        """Whether the program picks the pairs of columns privately while it runs."""
        return False

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain data with `kind`, tuples as lists."""
        own = dataclasses.fields(self)  # type: ignore[arg-type]
        fields = {field.name: getattr(self, field.name) for field in own}
        return {
            "kind": self.kind,
            **{name: _to_plain(value) for name, value in fields.items()},
        }

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Recipe | None:
        """Read the output of `to_dict`; None if it does not hold the whole recipe."""
        return cls(**{name: value for name, value in fields.items() if name != "kind"})

    @classmethod
    def describe(cls, fields: Mapping[str, Any]) -> Text:
        """Describe a recipe in a few words, from the output of `to_dict`."""
        return Text(cls.kind)


@dataclass(frozen=True, kw_only=True)
class SomeColumns(Recipe):
    """A recipe that runs another recipe on some of the columns, at the same cost."""

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
    def stands_on(self) -> tuple[Guarantee, ...]:
        return self.recipe.stands_on

    @property
    def facts_from_data(self) -> Mapping[str, tuple[str, ...]]:
        return self.recipe.facts_from_data

    def check(self, domain: Domain) -> None:
        """Refuse unknown columns, and any domain that the inner recipe refuses."""
        self.recipe.check(domain.project(domain.clique(self.columns)))

    def expect(
        self, domain: Domain, loss: Loss, max_rows: int, table_rows: float = 0
    ) -> tuple[ExpectedError, ...]:
        """Return the errors that the inner recipe expects for these columns."""
        return self.recipe.expect(
            domain.project(self.columns), loss, max_rows, table_rows
        )

    def fit(
        self, measurer: Measurer, on_progress: OnProgress
    ) -> tuple[dict[Clique, Marginal], Model]:
        """Run the inner recipe on a view of these columns."""
        return self.recipe.fit(measurer.project(self.columns), on_progress)

    def reads(self, domain: Domain) -> Clique:
        """Return the columns that the inner recipe reads."""
        return self.recipe.reads(domain.project(self.columns))

    @property
    def chooses_pairs(self) -> bool:
        return self.recipe.chooses_pairs

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> SomeColumns | None:
        """Read the output of `to_dict`; None if it lacks part of the inner recipe."""
        recipe = load_recipe(fields["recipe"])
        return (
            None
            if recipe is None
            else cls(columns=tuple(fields["columns"]), recipe=recipe)
        )

    @classmethod
    def describe(cls, fields: Mapping[str, Any]) -> Text:
        """Describe the recipe in a few words, with its columns."""
        return Text(
            "{recipe}: {columns}",
            recipe=describe_recipe(fields["recipe"]),
            columns=format_columns(fields["columns"]),
        )


def load_recipe(fields: Mapping[str, Any]) -> Recipe | None:
    """Read the output of any recipe's `to_dict`; None if its kind is unknown.

    Also None if a part of it was not written.
    """
    family = Recipe.kinds()
    return (
        family[fields["kind"]].from_dict(fields) if fields["kind"] in family else None
    )


def describe_recipe(fields: Mapping[str, Any]) -> str:
    """Describe a recipe in a few words, or name its kind if that is unknown.

    Args:
        fields: written by `to_dict`.
    """
    family = Recipe.kinds()
    return (
        family[fields["kind"]].describe(fields)
        if fields["kind"] in family
        else str(fields["kind"])
    )


def format_columns(columns: Sequence[str]) -> str:
    """Return columns as text: their names if they are few, else their number."""
    return (
        ", ".join(columns)
        if len(columns) <= 4
        else Text("{number} columns", number=len(columns))
    )


def _to_plain(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return [_to_plain(item) for item in value]
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, Fraction):
        return str(value)
    return value.to_dict() if hasattr(value, "to_dict") else value
