"""What every evaluation is: a question about the original rows, for their owner's eyes only."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from dpcore.accounting.loss import Loss
from dpcore.mechanisms.measurer import Measurer
from dpcore.progress import OnProgress, silent
from dpcore.schema.domain import Clique
from dpcore.schema.schema import Schema
from dpcore.tables.counts import Counts
from dpcore.tables.rows import DistinctRows, Microdata
from dpcore.text import Text

Result = TypeVar("Result")


class Readable(Protocol):
    """The original, as far as a question may ask for it."""

    def rows(self) -> Microdata:
        """All rows. Raises: RowsError where they do not fit."""

    def counted_rows(self) -> Microdata:
        """Of each person as many rows as declared. Raises: RowsError where all do not fit."""

    def sample(self, rows: int) -> Microdata:
        """The first so many rows that are come by."""

    def tuples(self, columns: Sequence[str], *, by: str | None = None) -> DistinctRows:
        """The distinct tuples of some columns, and who holds them by another one. Raises: LimitError."""

    def counts(self, cliques: Sequence[Clique]) -> list[Counts]:
        """Exact counts over cliques, of the rows that count. Raises: LimitError for too many cells."""


class Evaluation(ABC, Generic[Result]):
    """A question that reads the original rows, outside differential privacy; the ledger notes its kind."""

    kind: ClassVar[str]
    """What it asks, in a word or two; an interface has a sentence for each."""

    counted: ClassVar[bool] = False
    """Whether it is about the rows that count, as releases are, or about all rows."""

    @property
    def about(self) -> tuple[str, ...]:
        """What it asks about, for the ledger: names of columns, models or methods; no values."""
        return ()

    def read(self, table: Readable, schema: Schema) -> Microdata:
        """What it needs of the original: its rows. Raises: RowsError where they do not fit."""
        return table.counted_rows() if self.counted else table.rows()

    @abstractmethod
    def compute(self, original: Microdata, schema: Schema, on_progress: OnProgress = silent) -> Result:
        """Return the answer; what takes long calls `on_progress` with the stage and the share done."""


class PrivateEvaluation(ABC):
    """A question about the original that is answered with noise: charged, and the answer may be shared."""

    kind: ClassVar[str]
    """What it asks, in a word or two; an interface has a sentence for each."""

    @property
    @abstractmethod
    def about(self) -> tuple[str, ...]:
        """What it asks about: names of columns, or parameters; no values."""

    @property
    @abstractmethod
    def stands_on(self) -> tuple[Loss, ...]:
        """Losses of the releases that the question, or its answer, is made of."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """What was asked, as plain data with `kind`, for the ledger."""

    @classmethod
    @abstractmethod
    def describe(cls, fields: Mapping[str, Any]) -> Text:
        """What was asked, in a few words, from what `to_dict` wrote."""

    @abstractmethod
    def check(self, schema: Schema) -> None:
        """Refuse what cannot be asked, before anything is charged."""

    @abstractmethod
    def measure(self, measurer: Measurer, schema: Schema) -> dict[str, Any]:
        """Spend the measurer's loss: the answer as plain data."""
