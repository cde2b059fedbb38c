"""What every evaluation is: a question about the original rows, with a title for the ledger."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

from dpcore.mechanisms.measurer import Measurer
from dpcore.schema.schema import Schema
from dpcore.tables.rows import Microdata

Result = TypeVar("Result", covariant=True)


class Evaluation(Protocol[Result]):
    """A question that reads the original rows: for their owner, outside differential privacy."""

    @property
    def title(self) -> str:
        """What it answers, in words, for the ledger."""

    def compute(self, original: Microdata, schema: Schema) -> Result:
        """The answer."""


class PrivateEvaluation(Protocol):
    """A question about the original that is answered with noise."""

    @property
    def title(self) -> str:
        """What it answers, in words."""

    def to_dict(self) -> dict[str, Any]:
        """What was asked, as plain data with `kind`, for the ledger."""

    def check(self, schema: Schema) -> None:
        """Refuse what cannot be asked, before anything is charged."""

    def measure(self, measurer: Measurer, schema: Schema) -> dict[str, Any]:
        """Spend the measurer's loss: the answer as plain data."""
