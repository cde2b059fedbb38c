"""Distribute rows over files at random, in the process that holds the rows."""

import errno
import itertools
import os
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from dpcore.errors import ParameterError, UsageError
from dpcore.tables.arrow import decode_categories, is_text


@dataclass(frozen=True, kw_only=True)
class RowShuffler:
    """A folder of row batches, and of the shuffled files made from them.

    Each name is new, so that processes do not know of each other. Batches lie there in
    the order in which they come, until the folder is removed.

    Attributes:
        folder: which all processes reach under this name.
        files: a power of two of them, so that every one is as likely for a row.
    """

    folder: Path
    files: int

    def write_random_sections(self, frame: pd.DataFrame) -> str:
        """Write a batch, each row in the section of a random file; return its name.

        Chance says the section of a row.

        Raises: ParameterError where it cannot be written.
        """
        file = np.frombuffer(os.urandom(2 * len(frame)), dtype=np.uint16) % self.files
        ends = np.cumsum(np.bincount(file, minlength=self.files)).tolist()
        name = uuid.uuid4().hex
        with explain_write_errors():
            table = pa.Table.from_pandas(decode_categories(frame), preserve_index=False)
            table = table.take(np.argsort(file, kind="stable"))
            rows = pa.record_batch(
                [column.combine_chunks() for column in table.columns],
                table.column_names,
            )
            with (
                pa.OSFile(os.fspath(self.folder / name), "wb") as out,
                pa.ipc.new_file(out, rows.schema) as sections,
            ):
                for begin, end in itertools.pairwise([0, *ends]):
                    sections.write_batch(rows.slice(begin, end - begin))
        return name

    def write_shuffled_file(
        self, names: Sequence[str], metadata: Mapping[str, str] | None, number: int
    ) -> tuple[str, int]:
        """Write one shuffled Parquet file; return its name and its number of rows.

        Args:
            names: of all batches that count.
            metadata: for the footer.
            number: of the file.

        Raises: ParameterError where it cannot be written.
        """
        import pyarrow.parquet as pq

        name = uuid.uuid4().hex
        sections = []
        with explain_write_errors():
            for batch_name in names:
                with (
                    pa.OSFile(os.fspath(self.folder / batch_name)) as batch,
                    pa.ipc.open_file(batch) as file,
                ):
                    sections.append(pa.Table.from_batches([file.get_batch(number)]))
            # Batches of one table differ at most in the digits of their decimals: the
            # joined column gets the digits of all.
            rows = pa.concat_tables(sections, promote_options="permissive")
            rows = rows.cast(
                pa.schema(
                    [field.with_type(_common_type(field.type)) for field in rows.schema]
                )
            )
            order = np.argsort(
                np.frombuffer(os.urandom(8 * len(rows)), dtype=np.uint64)
            )
            pq.write_table(
                rows.take(order).replace_schema_metadata(metadata), self.folder / name
            )
        return name, len(rows)


def _common_type(kind: Any) -> Any:
    """Return the string type for texts and null columns, and any other type
    unchanged.
    """
    return pa.string() if is_text(kind) or pa.types.is_null(kind) else kind


def taken_folder_error() -> ParameterError:
    """Return the error for a folder path that is already taken."""
    return ParameterError(
        "something with the name of this folder exists already",
        remedy="choose a new name",
    )


@contextmanager
def explain_write_errors() -> Iterator[None]:
    """Replace write errors by errors of this library, which quote no value."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
            raise taken_folder_error() from None
        raise ParameterError(
            "the folder could not be written ({kind})",
            remedy=(
                "check that the disk is not full and that you may write there, or "
                "choose another place"
            ),
            kind=type(error).__name__,
        ) from None
    except pa.ArrowException as error:
        raise UsageError(
            f"the rows could not be written as Parquet ({type(error).__name__})",
            remedy="leave it out, or write it as text",
        ) from None
