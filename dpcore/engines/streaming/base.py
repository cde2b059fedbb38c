"""What engines share whose rows stay where they are: a table is read in passes, never whole."""

from __future__ import annotations

from abc import abstractmethod

from dpcore.engines.base import MOST_ROWS, Scanner, too_many
from dpcore.engines.work import Digesting
from dpcore.errors import source_changed
from dpcore.schema.schema import Schema
from dpcore.tables.digests import fingerprint_of
from dpcore.tables.rows import Microdata


class Streamed(Scanner):
    """A table behind a schema whose rows are brought into memory only where they fit.

    An engine fills in its `_people` too: how many people have so many rows.
    """

    def __init__(self, schema: Schema, *, key: bytes) -> None:
        super().__init__(schema, key=key)
        self._people: dict[int, int] = {}
        self._print: str | None = None

    @property
    def fingerprint(self) -> str:
        """A digest of the whole table under the ledger's key; a pass over all columns, once."""
        if self._print is None:
            total = self._scan(Digesting(key=self._key), counted=False)
            self._print = fingerprint_of(self._columns, total, self._key)
        return self._print

    def people(self) -> dict[int, int]:
        """How many people have so many rows, by the number of rows. Private."""
        return self._people

    @property
    def in_memory(self) -> bool:
        """Whether all rows fit into memory."""
        return self._rows() <= MOST_ROWS

    def rows(self) -> Microdata:
        """All rows, where they fit. Raises: ReadError where they are more or fewer than there were."""
        if not self.in_memory:
            raise too_many("rows", MOST_ROWS)
        length = self._rows()
        found = self.sample(length + 1)
        if len(found.frame) != length:
            raise source_changed()
        return found

    def _rows(self) -> int:
        return sum(rows * people for rows, people in self._people.items())

    @abstractmethod
    def sample(self, rows: int) -> Microdata:
        """The first so many rows."""
