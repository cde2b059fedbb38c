"""What every evaluation is: a question about the original rows, for their owner's eyes only."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Generic, TypeVar

from dpcore.schema.schema import Schema
from dpcore.tables.rows import Microdata

Result = TypeVar("Result")


class Evaluation(ABC, Generic[Result]):
    """A question that reads the original rows, outside differential privacy; the ledger notes its kind."""

    kind: ClassVar[str]
    """What it asks, in a word or two; an interface has a sentence for each."""

    @property
    def about(self) -> tuple[str, ...]:
        """What it asks about, for the ledger: names of columns, models or methods; no values."""
        return ()

    @abstractmethod
    def compute(self, original: Microdata, schema: Schema) -> Result:
        """The answer."""
