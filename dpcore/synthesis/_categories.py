"""Undeclared categories of a column, found by a private threshold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from dpcore.accounting.loss import Number, exact_number
from dpcore.mechanisms.measurer import Measurer
from dpcore.model import Model, Summary
from dpcore.progress import OnProgress
from dpcore.schema.column import Categorical
from dpcore.schema.domain import Clique, Domain
from dpcore.synthesis.base import Recipe
from dpcore.tables.counts import Marginal
from dpcore.text import Text


@dataclass(frozen=True)
class Categories(Recipe):
    """The texts of a column that enough people share, with noisy counts.

    Costs the stated loss, and `delta` out of what the budget set aside as
    `threshold_delta`.

    Attributes:
        column: a declared column; its declared categories play no part.
        delta: chance that a text of one person alone is named; above 0.
    """

    kind: ClassVar[str] = "categories"

    column: str
    delta: Number

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "delta", exact_number("delta", self.delta, at_most=Fraction(1, 1000))
        )

    @property
    def threshold_delta(self) -> Fraction:
        """The part of the account's threshold delta that this recipe spends."""
        return Fraction(self.delta)

    def check(self, domain: Domain) -> None:
        """Refuse an unknown column."""
        domain.size(self.column)

    def fit(
        self, measurer: Measurer, on_progress: OnProgress
    ) -> tuple[dict[Clique, Marginal], Model]:
        """Add noise to the count of each text, and keep those above the threshold."""
        on_progress("measuring", 0.0)
        counts = measurer.find_common_texts(
            self.column, measurer.loss, self.threshold_delta
        )
        return {}, FoundCategories(column=self.column, counts=counts)

    def reads(self, domain: Domain) -> Clique:
        """Return the one column that the recipe reads."""
        return (self.column,)

    @classmethod
    def describe(cls, fields: Mapping[str, Any]) -> Text:
        """Describe the recipe by its column."""
        return Text("Categories of {column}", column=fields["column"])


@dataclass(frozen=True, kw_only=True, eq=False)
class FoundCategories(Summary):
    """Texts above the threshold with noisy counts; no rows can be drawn from them.

    Attributes:
        counts: text -> noisy rows.
    """

    kind: ClassVar[str] = "found categories"

    column: str
    counts: Mapping[str, int]

    @property
    def total(self) -> float:
        """Noisy number of rows with a text above the threshold."""
        return float(sum(self.counts.values()))

    def to_column(self, *, missing: bool = False) -> Categorical:
        """Return a column with these categories and "other".

        A release under this declaration depends on this one: add the losses, and this
        delta, to what is claimed.
        """
        return Categorical(
            self.column,
            categories=tuple(sorted(self.counts)),
            other=True,
            missing=missing,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, with `kind`."""
        return {"kind": self.kind, "column": self.column, "counts": dict(self.counts)}

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> FoundCategories:
        """Read the output of `to_dict`."""
        return cls(column=fields["column"], counts=fields["counts"])
