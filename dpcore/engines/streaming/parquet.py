"""A Parquet file, or a folder of them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from dpcore.engines.streaming.files import files_at, state_of
from dpcore.engines.streaming.reader import ROWS_AT_ONCE, Piece, readable
from dpcore.errors import SchemaError, source_changed
from dpcore.tables.arrow import is_text, kind_of, kinds_of

_BUFFER = 2**20


class ParquetReader:
    """Row groups of files, which are not to change while they are read.

    Files of a folder are read in the order of their names; those that begin with "." or "_" are left out.
    """

    as_text = False
    ordered = True
    source = None

    def __init__(self, path: Path) -> None:
        """Read the footers.

        Raises: ReadError for what is not Parquet, SchemaError when files disagree.
        """
        import pyarrow.parquet as pq

        self._paths = files_at(path, ".parquet")
        self._state = state_of(self._paths)
        self.kinds: dict[str, Any] = {}
        self.pieces: list[Piece] = []
        self._rows = 0
        for each in self._paths:
            with readable(), pq.ParquetFile(each) as file:
                footer, schema = file.metadata, file.schema_arrow
            kinds = kinds_of(schema)
            self.kinds = self.kinds or kinds
            _check_agree(self.kinds, kinds)
            for group in range(footer.num_row_groups):
                self.pieces.append(Piece(place=(each, group), start=self._rows))
                self._rows += footer.row_group(group).num_rows

    @contextlib.contextmanager
    def hold(self, poll: Callable[[], object]) -> Iterator[ParquetReader]:
        """Hold the files as they were.

        Raises: ReadError where they are not.
        """
        self.check()
        yield self

    def rows(self) -> int:
        """Return the number of rows. Private."""
        return self._rows

    def check(self) -> None:
        """Refuse files that are not as they were.

        Raises: ReadError.
        """
        if self._state != state_of(self._paths):
            raise source_changed()

    def batches(self, piece: Piece, names: Sequence[str], poll: Callable[[], object]) -> Iterator[Any]:
        """Iterate over the rows of a row group, with texts as dictionaries."""
        import pyarrow.parquet as pq

        path, group = piece.place
        texts = [name for name in names if is_text(self.kinds[name])]
        with (
            readable(),
            pq.ParquetFile(path, read_dictionary=texts, pre_buffer=False, buffer_size=_BUFFER) as file,
        ):
            yield from file.iter_batches(
                batch_size=ROWS_AT_ONCE, row_groups=[group], columns=list(names), use_threads=False
            )


def _check_agree(first: Mapping[str, Any], other: Mapping[str, Any]) -> None:
    for name in dict.fromkeys([*first, *other]):
        if name not in first or name not in other:
            raise SchemaError(
                "the files of the folder disagree about the column {column!r}",
                remedy="write all files with the same columns and types",
                column=name,
            )
        one, two = kind_of(first[name]), kind_of(other[name])
        if one != two:
            raise SchemaError(
                "the files of the folder disagree about the type of {column!r}: {one} and {two}",
                remedy="write all files with the same columns and types",
                column=name,
                one=one,
                two=two,
            )
