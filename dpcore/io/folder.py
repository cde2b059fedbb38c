"""Public tables of any size as a folder of Parquet files: complete under its name, or not there at all."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from dpcore.errors import ParameterError
from dpcore.io.export import to_parquet
from dpcore.tables.rows import PublicTable


def write_folder(
    tables: Iterable[PublicTable], folder: Path, metadata: Mapping[str, str] | None = None
) -> int:
    """Write the tables, one file for each, and give the folder its name once all are written; how many rows.

    Free post-processing. Raises: ParameterError for a folder that is there or cannot be written to, as on a
    full disk; nothing is left behind.
    """
    unfinished = folder.with_name(f".{folder.name}.unfinished")
    rows = 0
    try:
        if folder.exists():
            raise ParameterError("there is something at the place of the folder", remedy="name a new one")
        unfinished.mkdir(parents=True)
        for number, table in enumerate(tables):
            (unfinished / f"part-{number:05d}.parquet").write_bytes(to_parquet(table, metadata))
            rows += len(table.frame)
        unfinished.rename(folder)
    except OSError as error:
        raise ParameterError(
            "the folder could not be written ({kind})",
            remedy="see whether the disk is full and who may write there, or name another place",
            kind=type(error).__name__,
        ) from None
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return rows
