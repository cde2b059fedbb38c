"""Uploaded files, read in a process with limits on memory and time."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dpcore import local, synthesis
from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.anonymization.plan import Plan
from dpcore.errors import DpcoreError, LimitError, ReadError, wrong_file_kind_error
from dpcore.io import ReadResult, read_table
from dpcore.io.encoding import decode
from dpcore.json_text import parse_json
from dpcore.local import Question
from dpcore.local.base import Reports
from dpcore.progress import OnProgress, ignore_stage_progress
from dpcore.release import Release
from dpcore.schema import Schema, suggest_schema
from dpcore.schema.linked import LinkedSchema
from dpcore.suppression import TablePlan
from dpcore.suppression.plan import read_plans
from dpcore.tables.sketch import SketchedTable
from workbench.server.workers import process
from workbench.server.workers.callbacks import StoppedError
from workbench.server.workers.queue import RunQueue
from workbench.store.people.opened_files import EarlierAccount, read_as_before

MAX_MEMORY_BYTES = 900 * 2**20
"""Bytes that reading one file may take, beyond what the libraries take."""
MAX_CPU_SECONDS = 30
"""Of computing; how long a busy server takes for them is another matter."""
STAGES = (LINES, COLUMNS, FACTS, FINGERPRINT) = (
    "lines",
    "columns",
    "facts",
    "fingerprint",
)
"""Of reading a file; an interface has words for them."""
MAX_CODEBOOK_BYTES = 5 * 10**6
"""Of a codebook, which names up to `MAX_CODEBOOK_COLUMNS` columns."""
MAX_CODEBOOK_COLUMNS = 1_000
"""As many as a table may have that is read (`dpcore.io.Limits`)."""
MAX_PLAN_BYTES = 20 * 10**6
"""Of a plan or a hierarchy, which list each value of their columns."""
MAX_PLAN_VALUES = 2_000_000
"""Values in all levels of a plan or a hierarchy: each stays in memory as a text."""
MAX_REPORTS_BYTES = 50 * 10**6
"""Of collected answers, as many bytes as a table may have."""
_log = logging.getLogger("workbench.work")
_FILE_QUEUE = RunQueue(2)


@dataclass(frozen=True, kw_only=True)
class TableFile:
    """A table read from a file.

    With a key, also its suggested schema, its fingerprint and its sketch.
    """

    table: ReadResult
    schema: Schema | None
    dataset: str
    sketched: SketchedTable | None = None


def read(
    data: bytes,
    name: str,
    *,
    key: bytes | None = None,
    earlier_accounts: Sequence[EarlierAccount] = (),
    on_progress: OnProgress = ignore_stage_progress,
    on_place: Callable[[int], object] = lambda _: None,
    **options: Any,
) -> TableFile:
    """Read a table as `dpcore.io.read_table`, within 900 MB and 30 CPU seconds.

    Args:
        data: the file.
        name: of the file; its ending says how it is read.
        key: of the ledger, for the fingerprint; None for a table that is not to be
            opened.
        earlier_accounts: accounts of earlier versions that may have been opened from it.
        on_progress: called with the stage, one of `STAGES`, and the share done.
        on_place: called with the place in line while other files go first.
        options: of `read_table`.

    Raises: LimitError, ReadError, and SchemaError of the suggestion.
    """
    try:
        with _FILE_QUEUE.wait_for_turn(on_place):
            _log.info("a file of %d bytes is read", len(data))
            file: TableFile = _run_limited(
                read_in_worker,
                data,
                name,
                options,
                key,
                earlier_accounts,
                on_progress=on_progress,
            )
    except StoppedError:
        raise interrupted_error() from None
    return file


def _run_limited(
    function: Callable[..., Any], *given: Any, on_progress: OnProgress | None = None
) -> Any:
    try:
        return process.run(
            function,
            *given,
            on_progress=on_progress,
            memory=MAX_MEMORY_BYTES,
            seconds=MAX_CPU_SECONDS,
        )
    except process.WorkEnded as error:
        raise _reading_error(error) from None


def interrupted_error() -> ReadError:
    """Return the error of reading that a person or a closed tab has ended."""
    return ReadError(
        "this was stopped before it was finished",
        remedy="start it again if you still want it",
    )


def read_release(data: bytes) -> Release:
    """Read a release as `dpcore.read_release` does, within the same limits as tables.

    Raises: ReadError, LimitError.
    """
    with _FILE_QUEUE.wait_for_turn(lambda _: None):
        return _run_limited(synthesis.read_release, data)  # type: ignore[no-any-return]


def read_codebook(data: bytes) -> Schema | LinkedSchema:
    """Read the schema that a codebook holds, within the same limits as tables.

    Raises: ReadError, LimitError, SchemaError, ParameterError.
    """
    return _read_small(parse_codebook, data, MAX_CODEBOOK_BYTES)  # type: ignore[no-any-return]


def read_plan(data: bytes) -> Plan:
    """Read a plan of anonymization, within the same limits as tables.

    Raises: ReadError, LimitError; the errors of a plan that breaks its rules.
    """
    return _read_small(parse_plan, data, MAX_PLAN_BYTES)  # type: ignore[no-any-return]


def read_table_plans(data: bytes) -> list[TablePlan]:
    """Read a plan of an exact table or a list of them, within the same limits.

    Raises: ReadError, LimitError; the errors of a plan that breaks its rules.
    """
    return _read_small(parse_table_plans, data, MAX_PLAN_BYTES)  # type: ignore[no-any-return]


def read_hierarchy(data: bytes) -> Hierarchy:
    """Read a hierarchy in any encoding, within the same limits as tables.

    Raises: ReadError, LimitError, HierarchyError.
    """
    return _read_small(parse_hierarchy, data, MAX_PLAN_BYTES)  # type: ignore[no-any-return]


def read_reports(data: bytes) -> tuple[Question, Reports]:
    """Read randomized reports and their question, within the same limits as tables.

    Raises: ReadError, LimitError, ParameterError.
    """
    return _read_small(local.from_json_lines, data, MAX_REPORTS_BYTES)  # type: ignore[no-any-return]


def _read_small(parse: Callable[[bytes], Any], data: bytes, max_bytes: int) -> Any:
    if len(data) > max_bytes:
        raise LimitError(
            "the file has more than {limit} MB",
            remedy="use the file as it was saved, or one with fewer columns",
            limit=max_bytes // 10**6,
        )
    with _FILE_QUEUE.wait_for_turn(lambda _: None):
        try:
            return process.run(
                parse, data, memory=MAX_MEMORY_BYTES, seconds=MAX_CPU_SECONDS
            )
        except process.WorkEnded as error:
            # the text of an unexpected error may quote cells, so it is not shown
            raise (
                wrong_file_kind_error()
                if error.kind == "failed"
                else _reading_error(error)
            ) from None


def parse_codebook(data: bytes) -> Schema | LinkedSchema:
    """Parse a codebook of one table, or of two linked ones, in a worker."""
    text = data.decode("utf-8-sig", errors="replace")
    content = parse_json(text)
    is_linked = isinstance(content, dict) and "people" in content
    linked = LinkedSchema.from_json(text) if is_linked else None
    schema = Schema.from_json(text) if linked is None else linked.events_view
    if len(schema.columns) + len(schema.excluded) > MAX_CODEBOOK_COLUMNS:
        raise LimitError(
            "the codebook has more than {limit:,} columns",
            remedy="keep only the columns that your table has",
            limit=MAX_CODEBOOK_COLUMNS,
        )
    return linked or schema


def parse_plan(data: bytes) -> Plan:
    """Parse a plan in a worker."""
    _check_values(data, b",")
    return Plan.from_json(data.decode("utf-8-sig", errors="replace"))


def parse_table_plans(data: bytes) -> list[TablePlan]:
    """Parse plans of exact tables in a worker."""
    _check_values(data, b",")
    return read_plans(data.decode("utf-8-sig", errors="replace"))


def parse_hierarchy(data: bytes) -> Hierarchy:
    """Parse a hierarchy in a worker."""
    text, _encoding = decode(data)
    _check_values(data, b";", b",", b"\t", b"|", b"\n")
    return Hierarchy.from_csv(text)


def _check_values(data: bytes, *separators: bytes) -> None:
    if sum(map(data.count, separators)) > MAX_PLAN_VALUES:
        raise LimitError(
            "the file holds more than {limit:,} values",
            remedy="use hierarchies with fewer values or fewer levels",
            limit=MAX_PLAN_VALUES,
        )


def read_in_worker(
    data: bytes,
    name: str,
    options: dict[str, Any],
    key: bytes | None,
    earlier_accounts: Sequence[EarlierAccount],
    on_progress: OnProgress,
) -> TableFile:
    """Read a table in a worker; with a key, also suggest a schema, and sketch it.

    The sketch is taken here, because it would hold up every page in the server.
    """
    starts = dict(zip(STAGES, (0.0, 0.2, 0.5, 0.9), strict=True))

    def share_of(stage: str, width: float) -> Callable[[float], None]:
        return lambda share: on_progress(stage, starts[stage] + width * share)

    on_progress(LINES, 0.0)
    before = read_as_before(data, name, earlier_accounts)
    if before is not None:
        table, account = before
        return TableFile(table=table, schema=None, dataset=account.dataset)
    table = read_table(data, name, on_share=share_of(COLUMNS, 0.3), **options)
    if key is None or table.frame.empty:
        return TableFile(table=table, schema=None, dataset="")
    schema = suggest_schema(table.frame, on_share=share_of(FACTS, 0.4))
    on_progress(FINGERPRINT, starts[FINGERPRINT])
    sketched = SketchedTable.from_frame(table.frame, key)
    return TableFile(
        table=table, schema=schema, dataset=sketched.fingerprint, sketched=sketched
    )


def _reading_error(work_ended: process.WorkEnded) -> DpcoreError:
    if work_ended.kind in ("memory", "time"):
        return LimitError(
            (
                "reading this file takes more than {limit} MB of memory or "
                "{seconds} seconds of computing time"
            ),
            remedy="keep only the columns or rows that you need",
            limit=MAX_MEMORY_BYTES // 2**20,
            seconds=MAX_CPU_SECONDS,
        )
    if work_ended.kind == "busy":
        return LimitError(
            "the server is busy: this file was not read in time",
            remedy="try again in a minute",
        )
    return ReadError(
        "the file holds something that cannot be read ({kind})",
        remedy="export the table again as CSV in UTF-8",
        kind=work_ended.where.partition(" ")[0],
    )
