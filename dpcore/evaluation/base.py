"""Base classes of all evaluations of the original rows.

Their answers are for the owner's eyes only, unless they are charged.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from dpcore.mechanisms.measurer import Measurer
from dpcore.progress import OnProgress, ignore_stage_progress
from dpcore.registry import Registered
from dpcore.release import Guarantee
from dpcore.schema.domain import Clique
from dpcore.schema.schema import Schema
from dpcore.tables.counts import Counts
from dpcore.tables.rows import DistinctRows, LinkedMicrodata, Microdata
from dpcore.text import Text

ReadData = TypeVar("ReadData")
Result = TypeVar("Result")


class OriginalTable(Protocol):
    """Access to the original table that an evaluation may use."""

    @property
    def in_memory(self) -> bool:
        """Whether all rows fit into memory."""

    def rows(self) -> Microdata:
        """Return all rows.

        Raises: RowsError if they do not fit.
        """

    def linked_rows(self) -> LinkedMicrodata:
        """Return all rows of both tables, if this is a view of two linked tables.

        Raises: UsageError for one table.
        """

    def limit_rows(self, rows: Microdata) -> Microdata:
        """Return the rows that count: at most `max_rows` of each person."""

    def sample(self, rows: int) -> Microdata:
        """Return the first `rows` rows, or fewer."""

    def tuples(self, columns: Sequence[str], *, by: str | None = None) -> DistinctRows:
        """Return the distinct tuples of columns, with their owners if `by` is given.

        Args:
            by: the column that names the owners.

        Raises: LimitError.
        """

    def coded_rows(self, columns: Sequence[str]) -> Microdata:
        """Return columns of all rows as codes, or their distinct tuples.

        Raises: LimitError.
        """

    def counts(self, cliques: Sequence[Clique]) -> list[Counts]:
        """Return the exact counts of each clique over the rows that count.

        Raises: LimitError for too many cells.
        """


class Evaluation(Registered, ABC, Generic[ReadData, Result], home="dpcore.evaluation"):
    """Base class of questions about the original without differential privacy.

    The ledger notes its kind.
    """

    kind: ClassVar[str]
    """Names the question in a word or two; an interface has a sentence for each."""

    @property
    def ledger_names(self) -> tuple[str, ...]:
        """Names of the columns, models or methods that the ledger records.

        They hold no values.
        """
        return ()

    @abstractmethod
    def read(self, table: OriginalTable, schema: Schema) -> ReadData:
        """Read the part of the original that the answer needs.

        Raises: RowsError for rows that do not fit.
        """

    @abstractmethod
    def compute(
        self,
        original: ReadData,
        schema: Schema,
        on_progress: OnProgress = ignore_stage_progress,
    ) -> Result:
        """Compute the answer from the data that were read.

        A long computation calls `on_progress` with the stage and the share done.
        """


class RowsEvaluation(Evaluation[Microdata, Result]):
    """Base class of evaluations that need the rows themselves."""

    counted_rows_only: ClassVar[bool] = False
    """Whether it is about the rows that count, as releases are, or about all rows."""

    def read(self, table: OriginalTable, schema: Schema) -> Microdata:
        """Return the rows.

        Raises: RowsError if they do not fit.
        """
        rows = table.rows()
        return table.limit_rows(rows) if self.counted_rows_only else rows


class LinkedRowsEvaluation(Evaluation[LinkedMicrodata, Result]):
    """Base class of evaluations that need the rows of two linked tables."""

    def read(self, table: OriginalTable, schema: Schema) -> LinkedMicrodata:
        """Return the rows of both tables."""
        return table.linked_rows()


class PrivateEvaluation(Registered, ABC, home="dpcore.evaluation"):
    """Base class of questions with a noisy answer, for which the budget is charged.

    The answer may be shared.
    """

    kind: ClassVar[str]
    """What it asks, in a word or two; an interface has a sentence for each."""

    counts_people: ClassVar[bool] = False
    """Whether it asks how many rows people have, each of whom counts once; what it is
    `about` names them.
    """

    @property
    @abstractmethod
    def ledger_names(self) -> tuple[str, ...]:
        """Names of the columns or parameters in question, without values."""

    @property
    @abstractmethod
    def source_guarantees(self) -> tuple[Guarantee, ...]:
        """Guarantees of the releases that the question or its answer depends on."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return the question as plain data for the ledger, with its `kind`."""

    @classmethod
    @abstractmethod
    def describe(cls, fields: Mapping[str, Any]) -> Text:
        """Describe the question in a few words, from the output of `to_dict`."""

    @abstractmethod
    def check(self, schema: Schema) -> None:
        """Refuse a question that cannot be answered, before it is charged."""

    @abstractmethod
    def measure(self, measurer: Measurer, schema: Schema) -> dict[str, Any]:
        """Spend the measurer's loss, and return the answer as plain data."""
