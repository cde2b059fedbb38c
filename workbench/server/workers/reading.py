"""Uploaded files as tables, read in a process with limits on memory and time."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from dpcore import synthesis
from dpcore.curator import Curator
from dpcore.errors import DpcoreError, LimitError, ReadError
from dpcore.io import ReadResult, read_table
from dpcore.progress import OnProgress, silent
from dpcore.release import Release
from dpcore.schema import Schema, suggest_schema
from workbench.server.workers import process
from workbench.server.workers.callbacks import StoppedError
from workbench.server.workers.queue import RunQueue

MEMORY = 900 * 2**20
"""Bytes that reading one file may take, beyond what the libraries take."""
SECONDS = 30
"""Of computing; how long a busy server takes for them is another matter."""
STAGES = (LINES, COLUMNS, FACTS, FINGERPRINT) = (
    "lines",
    "columns",
    "facts",
    "fingerprint",
)
"""Of reading a file; an interface has words for them."""
_log = logging.getLogger("workbench.work")
_FILES = RunQueue(2)


@dataclass(frozen=True, kw_only=True)
class TableFile:
    """A table read from a file.

    With a key, also its suggested schema and its fingerprint.
    """

    table: ReadResult
    schema: Schema | None
    dataset: str


def read(
    data: bytes,
    name: str,
    *,
    key: bytes | None = None,
    on_progress: OnProgress = silent,
    on_place: Callable[[int], object] = lambda _: None,
    **options: Any,
) -> TableFile:
    """Read a table as `dpcore.io.read_table`, within 900 MB and 30 CPU seconds.

    Args:
        data: the file.
        name: of the file; its ending says how it is read.
        key: of the ledger, for the fingerprint; None for a table that is not to be
            opened.
        on_progress: called with the stage, one of `STAGES`, and the share done.
        on_place: called with the place in line while other files go first.
        options: of `read_table`.

    Raises: LimitError, ReadError, and SchemaError of the suggestion.
    """
    try:
        with _FILES.turn(on_place):
            _log.info("a file of %d bytes is read", len(data))
            table, schema, dataset = _run_limited(
                read_within, data, name, options, key, on_progress=on_progress
            )
    except StoppedError:
        raise interrupted_error() from None
    return TableFile(table=table, schema=schema, dataset=dataset)


def _run_limited(
    function: Callable[..., Any], *given: Any, on_progress: OnProgress | None = None
) -> Any:
    try:
        return process.run(
            function, *given, on_progress=on_progress, memory=MEMORY, seconds=SECONDS
        )
    except process.WorkEnded as error:
        raise _refusal(error) from None


def interrupted_error() -> ReadError:
    """Return the error of reading that a person or a closed tab has ended."""
    return ReadError(
        "this was stopped before its end", remedy="start it again when you want it"
    )


def read_release(data: bytes) -> Release:
    """Read a release as `dpcore.read_release`, within the same limits.

    Raises: ReadError, LimitError.
    """
    with _FILES.turn(lambda _: None):
        return _run_limited(synthesis.read_release, data)  # type: ignore[no-any-return]


def read_within(
    data: bytes,
    name: str,
    options: dict[str, Any],
    key: bytes | None,
    on_progress: OnProgress,
) -> tuple[ReadResult, Schema | None, str]:
    """Read a table in a worker; with a key, suggest its schema and fingerprint it."""
    starts = dict(zip(STAGES, (0.0, 0.2, 0.5, 0.9), strict=True))

    def share_of(stage: str, width: float) -> Callable[[float], None]:
        return lambda share: on_progress(stage, starts[stage] + width * share)

    on_progress(LINES, 0.0)
    table = read_table(data, name, on_share=share_of(COLUMNS, 0.3), **options)
    if key is None or table.frame.empty:
        return table, None, ""
    schema = suggest_schema(table.frame, on_share=share_of(FACTS, 0.4))
    on_progress(FINGERPRINT, starts[FINGERPRINT])
    holder: Any = SimpleNamespace(key=key)
    return table, schema, Curator.dataset_of(table.frame, holder)


def _refusal(ended: process.WorkEnded) -> DpcoreError:
    if ended.kind in ("memory", "time"):
        return LimitError(
            (
                "reading this file takes more than {limit} MB of memory or {seconds} "
                "seconds of computing"
            ),
            remedy="keep only the columns or rows that you need",
            limit=MEMORY // 2**20,
            seconds=SECONDS,
        )
    if ended.kind == "busy":
        return LimitError(
            "the server is busy: this file was not read in time",
            remedy="try again in a minute",
        )
    return ReadError(
        "the file holds something that cannot be read ({kind})",
        remedy="export the table again as CSV in UTF-8",
        kind=ended.where.partition(" ")[0],
    )
