"""Draw rows from a release in a worker, and compute with them there.

Drawing is free and gives the same rows for the same seed, so nobody has to keep them;
they are drawn for each use.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from dpcore.io import export, to_xlsx
from dpcore.io.folder import discard_unfinished, unfinished_name, write_drawn
from dpcore.progress import OnProgress
from dpcore.release import Release
from dpcore.synthesis import (
    Closeness,
    PooledReleases,
    RecordStep,
    combinations_step,
    sample_steps,
)
from dpcore.synthesis.release.linked import LinkedRelease
from dpcore.tables.rows import PublicTable
from workbench.server.workers import process
from workbench.server.workers.callbacks import report_rows

MAX_SHOWN_ROWS = 200
"""Rows that a page shows."""


def draw_first_rows(
    release: Release | PooledReleases, rows: int, seed: int = 0
) -> pd.DataFrame:
    """Draw rows from a release, and return the first ones for a page.

    Raises: ParameterError.
    """
    return release.sample_table(rows, seed=seed).frame.head(MAX_SHOWN_ROWS).copy()


@dataclass(frozen=True, kw_only=True)
class DrawnRows:
    """The first rows of two linked tables that were drawn together.

    Attributes:
        event_count: how many events were drawn.
    """

    people: pd.DataFrame
    events: pd.DataFrame
    event_count: int


def draw_linked_rows(release: LinkedRelease, people: int, seed: int = 0) -> DrawnRows:
    """Draw people with their events, and return the first ones for a page.

    Raises: ParameterError.
    """
    drawn, events = release.sample(people, seed=seed)
    return DrawnRows(
        people=drawn.head(MAX_SHOWN_ROWS).copy(),
        events=events.head(MAX_SHOWN_ROWS).copy(),
        event_count=len(events),
    )


def linked_file(
    release: LinkedRelease,
    people: int,
    seed: int,
    what: str,
    ending: str,
    guarantee: str,
) -> bytes:
    """Draw people with their events in a worker; return one of the tables as a file.

    Args:
        what: "people" or "events".
        ending: "csv" or "parquet".
        guarantee: for the footer of Parquet.

    Raises: as `process.compute`.
    """
    return process.compute(_linked, release, people, seed, what, ending, guarantee)


def draw_and_test(
    release: Release, rows: int, seed: int
) -> tuple[RecordStep, RecordStep]:
    """Draw rows; return the steps of drawing them and of testing them."""
    return sample_steps(release.sample_table(rows, seed=seed).frame)


def check_combinations(
    release: Release, rows: int, seed: int, columns: Sequence[str], min_rows: int
) -> RecordStep:
    """Draw rows, and test whether each combination of these columns has enough rows."""
    return combinations_step(
        release.sample_table(rows, seed=seed).frame, columns, min_rows
    )


def closeness_recipe(
    release: Release, rows: int, seed: int, columns: Sequence[str]
) -> Closeness:
    """Draw rows; return the recipe that measures how far they are from the table.

    Raises: LimitError.
    """
    return Closeness.for_sample(release, release.sample_table(rows, seed=seed), columns)


def csv_file(
    release: Release | PooledReleases,
    rows: int,
    seed: int = 0,
    *,
    spreadsheet_decimal: str = "",
) -> bytes:
    """Draw rows in a worker, and return them as a CSV file.

    Args:
        spreadsheet_decimal: as of `dpcore.io.to_csv`.

    Raises: as `process.compute`.
    """
    return process.compute(_csv, release, rows, seed, spreadsheet_decimal)


def xlsx_file(release: Release | PooledReleases, rows: int, seed: int = 0) -> bytes:
    """Draw rows in a worker, and return them as an Excel workbook.

    Raises: as `process.compute`.
    """
    return process.compute(_xlsx, release, rows, seed)


def parquet_file(release: Release, rows: int, guarantee: str, seed: int = 0) -> bytes:
    """Draw rows in a worker; return a Parquet file with the guarantee in its footer.

    Raises: as `process.compute`.
    """
    return process.compute(_parquet, release, rows, guarantee, seed)


def write_folder(release: Release, rows: int, path: Path) -> int:
    """Draw rows into a new folder of Parquet files, and report how many are written.

    The folder appears whole or not at all.

    Raises: as `write_drawn` and `process.compute`.
    """
    unfinished = unfinished_name(path)
    try:
        return process.compute(
            _folder,
            release,
            rows,
            path,
            unfinished,
            on_progress=lambda stage, share: report_rows(round(share * rows)),
        )
    except BaseException:
        discard_unfinished(unfinished)  # the process was ended, and could not
        raise


def _folder(
    release: Release, rows: int, place: Path, unfinished: Path, on_progress: OnProgress
) -> int:
    return write_drawn(
        release,
        rows,
        place,
        on_rows=lambda done: on_progress("drawing", done / rows),
        unfinished=unfinished,
    )


def _linked(
    release: LinkedRelease,
    people: int,
    seed: int,
    what: str,
    ending: str,
    guarantee: str,
) -> bytes:
    drawn, events = release.sample(people, seed=seed)
    table = PublicTable(drawn if what == "people" else events)
    if ending == "csv":
        return export.to_csv(table)
    return export.to_parquet(table, {"guarantee": guarantee})


def _csv(
    release: Release | PooledReleases, rows: int, seed: int, spreadsheet_decimal: str
) -> bytes:
    table = release.sample_table(rows, seed=seed)
    return export.to_csv(table, spreadsheet_decimal=spreadsheet_decimal)


def _xlsx(release: Release | PooledReleases, rows: int, seed: int) -> bytes:
    return to_xlsx(release.sample_table(rows, seed=seed))


def _parquet(release: Release, rows: int, guarantee: str, seed: int) -> bytes:
    return export.to_parquet(
        release.sample_table(rows, seed=seed), {"guarantee": guarantee}
    )
