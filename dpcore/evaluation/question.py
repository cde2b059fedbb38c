"""What every evaluation is: a question about the original rows, with a title for the ledger."""

from __future__ import annotations

from typing import Protocol, TypeVar

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
