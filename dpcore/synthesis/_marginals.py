"""Recipes that measure fixed cliques and make overlapping marginals agree."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from dpcore.accounting.loss import Loss, Number, exact_number, split_loss
from dpcore.errors import UsageError
from dpcore.mechanisms.measurer import Measurer
from dpcore.mechanisms.sensitivity import noise_kind, noise_scale, noise_variance
from dpcore.model import Model
from dpcore.progress import OnProgress
from dpcore.schema.domain import Clique, Domain
from dpcore.synthesis._consistency import consistent_variances, make_consistent
from dpcore.synthesis.base import ExpectedError, Recipe, format_columns
from dpcore.synthesis.chain import ChainModel
from dpcore.tables.counts import Marginal, check_cells
from dpcore.text import Text


class FixedCliques(Recipe):
    """A recipe with cliques known before anything is read."""

    @property
    @abstractmethod
    def measured_cliques(self) -> tuple[Clique, ...]:
        """The cliques to measure, in order."""

    @property
    def clique_weights(self) -> tuple[Fraction, ...] | None:
        """Each clique's share of the loss, or None for equal shares."""
        return None

    def check(self, domain: Domain) -> None:
        """Refuse unknown columns, and cliques with too many cells."""
        for clique in self.measured_cliques:
            domain.clique(clique)
        check_cells(domain, self.measured_cliques)

    def expect(
        self, domain: Domain, loss: Loss, max_rows: int, table_rows: float = 0
    ) -> tuple[ExpectedError, ...]:
        """Return the error that remains after the marginals agree."""
        parts = split_loss(loss, len(self.measured_cliques), self.clique_weights)
        variances = [
            noise_variance(noise_scale(max_rows=max_rows, queries=1, loss=part), part)
            for part in parts
        ]
        remaining = consistent_variances(domain, self.measured_cliques, variances)
        return tuple(
            ExpectedError(
                clique=clique,
                cells=domain.cells(clique),
                variance=variance,
                noise=noise_kind(loss),
                pooled=len(self.measured_cliques) > 1,
            )
            for clique, variance in zip(self.measured_cliques, remaining, strict=True)
        )

    def fit(
        self, measurer: Measurer, on_progress: OnProgress
    ) -> tuple[dict[Clique, Marginal], Model]:
        """Measure every clique once, then make the marginals agree."""
        on_progress("measuring", 0.0)
        measured = measurer.measure(
            self.measured_cliques, measurer.loss, self.clique_weights
        )
        on_progress("fit", 0.8)
        agreed = make_consistent(measurer.domain, measured)
        model = ChainModel(
            domain=measurer.domain.project(self.reads(measurer.domain)),
            marginals=agreed,
            measured=measured if len(measured) > 1 else (),
        )
        return {marginal.clique: marginal for marginal in agreed}, model

    def reads(self, domain: Domain) -> Clique:
        """Return the columns of all cliques."""
        return tuple(
            name
            for name in domain.names
            if any(name in clique for clique in self.measured_cliques)
        )


@dataclass(frozen=True)
class Marginals(FixedCliques):
    """Noisy counts of any list of cliques, made to agree where they overlap.

    Costs the stated loss, split over the cliques evenly or by weights.

    Attributes:
        cliques: tuples of column names; the empty tuple is the number of rows.
        weights: one number above 0 per clique; its share of the loss is its weight over
            their sum.
    """

    kind: ClassVar[str] = "marginals"

    cliques: tuple[Clique, ...]
    weights: tuple[Number, ...] | None = None

    def __post_init__(self) -> None:
        cliques: Any = self.cliques
        if isinstance(cliques, str) or any(
            isinstance(clique, str) for clique in cliques
        ):
            raise UsageError(
                "cliques must be a list of tuples of column names",
                remedy='write [("age",), ("age", "sex")]',
            )
        object.__setattr__(
            self, "cliques", tuple(tuple(clique) for clique in self.cliques)
        )
        if not self.cliques:
            raise UsageError(
                "there must be at least one clique", remedy="name the columns to count"
            )
        sets = [frozenset(clique) for clique in self.cliques]
        if len(set(sets)) != len(sets):
            raise UsageError(
                "the same columns are in two cliques",
                remedy="name each set of columns once",
            )
        if self.weights is not None:
            object.__setattr__(
                self,
                "weights",
                tuple(exact_number("weight", weight) for weight in self.weights),
            )
            if len(self.weights) != len(self.cliques):
                raise UsageError(
                    (
                        f"there are {len(self.weights)} weights for "
                        f"{len(self.cliques)} "
                        "cliques"
                    ),
                    remedy="give one weight per clique",
                )

    @property
    def measured_cliques(self) -> tuple[Clique, ...]:
        return self.cliques

    @property
    def clique_weights(self) -> tuple[Fraction, ...] | None:
        return (
            None
            if self.weights is None
            else tuple(Fraction(weight) for weight in self.weights)
        )

    @classmethod
    def describe(cls, fields: Mapping[str, Any]) -> Text:
        """Describe the recipe by its cliques."""
        cliques = ", ".join(
            " × ".join(clique) for clique in fields["cliques"] if clique
        )
        return Text("Marginals: {cliques}", cliques=cliques or Text("number of rows"))


@dataclass(frozen=True)
class _ColumnsRecipe(FixedCliques):
    columns: tuple[str, ...]

    def __post_init__(self) -> None:
        columns: Any = self.columns
        if isinstance(columns, str):
            raise UsageError(
                "columns must be a list of column names", remedy='write ["age", "sex"]'
            )
        object.__setattr__(self, "columns", tuple(self.columns))
        if not self.columns:
            raise UsageError(
                "there must be at least one column", remedy="name the columns"
            )
        if len(set(self.columns)) != len(self.columns):
            raise UsageError("a column is named twice", remedy="name each column once")


class Independent(_ColumnsRecipe):
    """One-way marginals of several columns, assumed to be independent.

    Costs the stated loss in all: each column gets an even share of it.
    """

    kind: ClassVar[str] = "independent"

    @property
    def measured_cliques(self) -> tuple[Clique, ...]:
        return tuple((column,) for column in self.columns)

    @classmethod
    def describe(cls, fields: Mapping[str, Any]) -> Text:
        """Describe the recipe by its columns."""
        return Text("Marginals: {cliques}", cliques=format_columns(fields["columns"]))


class Joint(_ColumnsRecipe):
    """One marginal over several columns together, with all their relations.

    Costs the stated loss.
    """

    kind: ClassVar[str] = "joint"

    @property
    def measured_cliques(self) -> tuple[Clique, ...]:
        return (self.columns,)

    @classmethod
    def describe(cls, fields: Mapping[str, Any]) -> Text:
        """Describe the recipe by its columns."""
        return Text("Marginals: {cliques}", cliques=" × ".join(fields["columns"]))


@dataclass(frozen=True)
class Histogram(FixedCliques):
    """Noisy counts of one column. Costs the stated loss."""

    kind: ClassVar[str] = "histogram"

    column: str

    @property
    def measured_cliques(self) -> tuple[Clique, ...]:
        return ((self.column,),)

    @classmethod
    def describe(cls, fields: Mapping[str, Any]) -> Text:
        """Describe the recipe by its column."""
        return Text("Histogram of {column}", column=fields["column"])
