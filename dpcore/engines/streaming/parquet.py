"""Reader of a Parquet file, or of a folder of Parquet files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from dpcore.engines.streaming.files import (
    check_same_columns,
    find_files,
    read_file_states,
)
from dpcore.engines.streaming.reader import (
    ROWS_PER_BATCH,
    Piece,
    Reader,
    reading_errors,
)
from dpcore.errors import source_changed_error
from dpcore.tables.arrow import column_types, is_text, value_type

_BUFFER_BYTES = 2**20


class ParquetReader(Reader):
    """Reader of Parquet row groups, whose files must not change meanwhile.

    Files of a folder are read in the order of their names; those that begin with "." or
    "_" are left out.
    """

    ordered = True

    def __init__(self, path: Path) -> None:
        """Read the footers of all files.

        Raises: ReadError for what is not Parquet, SchemaError when files disagree.
        """
        import pyarrow.parquet as pq

        self._paths = find_files(path, ".parquet")
        self._state = read_file_states(self._paths)
        self.arrow_types = {}
        self.pieces: list[Piece] = []
        self._rows = 0
        for path in self._paths:
            with reading_errors(), pq.ParquetFile(path) as file:
                footer = file.metadata
                schema = file.schema_arrow
            kinds = {
                name: value_type(kind) for name, kind in column_types(schema).items()
            }
            self.arrow_types = self.arrow_types or kinds
            check_same_columns(self.arrow_types, kinds)
            for group in range(footer.num_row_groups):
                self.pieces.append(Piece(place=(path, group), start=self._rows))
                self._rows += footer.row_group(group).num_rows

    def hold_state(
        self, poll: Callable[[], object]
    ) -> AbstractContextManager[ParquetReader]:
        """Return this reader after checking that its files are unchanged.

        Raises: ReadError if they changed.
        """
        self.check_unchanged()
        return nullcontext(self)

    def rows(self) -> int:
        """Return the number of rows. Private."""
        return self._rows

    def check_unchanged(self) -> None:
        """Refuse files that have changed.

        Raises: ReadError.
        """
        if self._state != read_file_states(self._paths):
            raise source_changed_error()

    def batches(
        self, piece: Piece, names: Sequence[str], poll: Callable[[], object]
    ) -> Iterator[Any]:
        """Yield the rows of a row group, with texts as Arrow dictionaries."""
        import pyarrow.parquet as pq

        path, group = piece.place
        texts = [name for name in names if is_text(self.arrow_types[name])]
        with (
            reading_errors(),
            pq.ParquetFile(
                path, read_dictionary=texts, pre_buffer=False, buffer_size=_BUFFER_BYTES
            ) as file,
        ):
            yield from file.iter_batches(
                batch_size=ROWS_PER_BATCH,
                row_groups=[group],
                columns=list(names),
                use_threads=False,
            )
