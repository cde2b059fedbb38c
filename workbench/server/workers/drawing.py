"""Files, figures and questions of rows drawn from a release, made in a worker where these rows stay.

Drawing is free and gives the same rows each time, so nobody has to hold them; they are drawn for each use.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from dpcore.io import export
from dpcore.io.folder import discard, unfinished_name, write_drawn
from dpcore.progress import OnProgress
from dpcore.release import Release
from dpcore.synthesis import Closeness, Pooled, Step, sample_steps
from dpcore.tables.rows import PublicTable
from workbench.server.workers import process
from workbench.server.workers.callbacks import report_rows

SHOWN = 200
"""Rows that a page shows."""


def drawn(release: Release | Pooled, rows: int) -> PublicTable:
    """Draw rows, the same ones each time.

    Raises: ParameterError.
    """
    return release.sample_table(rows, seed=0)


def head(release: Release | Pooled, rows: int) -> pd.DataFrame:
    """Draw rows and return the first of them."""
    return drawn(release, rows).frame.head(SHOWN).copy()


def steps(release: Release, rows: int) -> tuple[Step, Step]:
    """Draw rows and return what they show about themselves."""
    return sample_steps(drawn(release, rows).frame)


def question(release: Release, rows: int, columns: Sequence[str]) -> Closeness:
    """Draw rows, and ask how far they lie from the table over these columns.

    Raises: LimitError.
    """
    return Closeness.of(release, drawn(release, rows), columns)


def csv_file(release: Release | Pooled, rows: int) -> bytes:
    """Draw rows as a CSV file, when its button is pressed.

    Raises: as `process.compute`.
    """
    return process.compute(_csv, release, rows)


def parquet_file(release: Release, rows: int, guarantee: str) -> bytes:
    """Draw rows as a Parquet file with the guarantee in its footer.

    Raises: as `process.compute`.
    """
    return process.compute(_parquet, release, rows, guarantee)


def folder(release: Release, rows: int, place: Path) -> int:
    """Write rows as a folder of Parquet, whole or not at all, and report how many are written.

    Raises: as `write_drawn` and `process.compute`.
    """
    unfinished = unfinished_name(place)
    try:
        return process.compute(
            _folder,
            release,
            rows,
            place,
            unfinished,
            on_progress=lambda stage, share: report_rows(round(share * rows)),
        )
    except BaseException:
        discard(unfinished)  # the process was ended, and could not
        raise


def _folder(release: Release, rows: int, place: Path, unfinished: Path, on_progress: OnProgress) -> int:
    return write_drawn(
        release,
        rows,
        place,
        on_rows=lambda done: on_progress("drawing", done / rows),
        unfinished=unfinished,
    )


def _csv(release: Release | Pooled, rows: int) -> bytes:
    return export.to_csv(drawn(release, rows))


def _parquet(release: Release, rows: int, guarantee: str) -> bytes:
    return export.to_parquet(drawn(release, rows), {"guarantee": guarantee})
