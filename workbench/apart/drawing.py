"""What is made of rows drawn from a release: done in another process, where these rows stay.

Drawing is free and gives the same rows each time, so nobody has to hold them; they are drawn for each use.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pandas as pd

from dpcore.io import export
from dpcore.io.folder import discard, unfinished_name, write_drawn
from dpcore.release import Release
from dpcore.synthesis import Closeness, Pooled, Step, sample_steps
from dpcore.tables.rows import PublicTable
from workbench.apart import process
from workbench.apart.listening import tell
from workbench.apart.worker import Server

SHOWN = 200
"""Rows that a page shows."""


def drawn(release: Release | Pooled, rows: int) -> PublicTable:
    """So many rows, the same ones each time. Raises: ParameterError."""
    return release.sample_table(rows, seed=0)


def head(release: Release | Pooled, rows: int) -> pd.DataFrame:
    """The first of so many rows."""
    return drawn(release, rows).frame.head(SHOWN).copy()


def steps(release: Release, rows: int) -> tuple[Step, Step]:
    """What so many rows show about themselves."""
    return sample_steps(drawn(release, rows).frame)


def question(release: Release, rows: int, columns: Sequence[str]) -> Closeness:
    """How far so many rows lie from the table over these columns. Raises: LimitError."""
    return Closeness.of(release, drawn(release, rows), columns)


def csv_file(release: Release | Pooled, rows: int) -> bytes:
    """So many rows as a file, for a button: nobody waits in a page. Raises: as `process.compute`."""
    made: bytes = process.compute(_csv, release, rows)
    return made


def parquet_file(release: Release, rows: int, guarantee: str) -> bytes:
    """The same with the guarantee in its footer. Raises: as `process.compute`."""
    made: bytes = process.compute(_parquet, release, rows, guarantee)
    return made


def folder(release: Release, rows: int, place: Path, *, cancelled: Callable[[], bool]) -> int:
    """So many rows as a folder of Parquet, whole or not at all; who listens is told how many there are.

    Raises: as `write_drawn` and `process.compute`.
    """
    unfinished = unfinished_name(place)
    try:
        written: int = process.compute(
            _folder,
            release,
            rows,
            place,
            unfinished,
            on_progress=lambda stage, share: tell(round(share * rows)),
            cancelled=cancelled,
        )
    except BaseException:
        discard(unfinished)  # the process was ended, and could not
        raise
    return written


def _folder(server: Server, release: Release, rows: int, place: Path, unfinished: Path) -> int:
    return write_drawn(
        release,
        rows,
        place,
        on_rows=lambda done: server.tell("drawing", done / rows),
        unfinished=unfinished,
    )


def _csv(server: Server, release: Release | Pooled, rows: int) -> bytes:
    return export.to_csv(drawn(release, rows))


def _parquet(server: Server, release: Release, rows: int, guarantee: str) -> bytes:
    return export.to_parquet(drawn(release, rows), {"guarantee": guarantee})
