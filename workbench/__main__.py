"""Command line `privacy-workbench`: start the server, or do a page's work.

The commands work next to the data, with the same sources, ledger, schemas and plans as
the pages. `commands.toml` lists the options of each.
"""

import argparse
import contextlib
import dataclasses
import inspect
import itertools
import json
import os
import shutil
import socket
import sys
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd

import dpcore
from dpcore.accounting.loss import (
    AnyLoss,
    ApproxDP,
    Number,
    PureDP,
    loss_from_fields,
)
from dpcore.anonymization import Plan
from dpcore.curator import Curator, LinkedCurator
from dpcore.errors import (
    DisclosureError,
    DpcoreError,
    InfeasibleError,
    LimitError,
    ManyValuesError,
    ParameterError,
    UsageError,
    wrong_file_kind_error,
)
from dpcore.evaluation import AuditQuestion, RolesQuestion
from dpcore.evaluation.table.audit import AuditReport, find_naming_columns
from dpcore.evaluation.table.criteria import EvidenceQuestion, criterion_figures
from dpcore.io import ReadOptions, read_table, to_csv
from dpcore.io.checks import check_size
from dpcore.io.folder import write_drawn
from dpcore.io.options import BLANK_SEPARATOR, NO_SEPARATOR
from dpcore.release import Release
from dpcore.risk.criteria import Criterion, exit_code, judge_clauses, read_answers
from dpcore.risk.roles import SuggestedRole
from dpcore.schema import suggest_schema
from dpcore.schema.linked import LinkedSchema
from dpcore.schema.schema import Schema
from dpcore.schema.source import Source
from dpcore.suppression import ExactTable, PublishedTable
from dpcore.suppression.plan import read_plans
from dpcore.synthesis import load_recipe
from dpcore.synthesis.release.linked import LinkedRelease
from dpcore.tables.digests import combine_tables
from dpcore.tables.rows import PublicTable
from dpcore.tables.sketch import SketchedTable
from workbench.language.messages import _, capital, decimal_sign, use_language
from workbench.language.wording import error_words, people_words, percent, printing
from workbench.report import criteria, of_exact_table
from workbench.report.downloads import (
    guarantee_json,
    linked_guarantee_json,
    table_content,
)
from workbench.server.workers.rerun import RecipeRun, drop_id_column, prove_loss
from workbench.store import operate, start
from workbench.store.ledger.datasets import find_data_set, public_name, redact_line
from workbench.store.ledger.rekey import rekey as seal_again
from workbench.store.ledger.unbudgeted import open_for_audit
from workbench.store.links.shares import LinkDraft, in_days
from workbench.store.people import likeness, opened_files, roles, same_people
from workbench.store.people.personal import PersonalLedger
from workbench.store.people.roles import Person
from workbench.store.policy import read_policy
from workbench.store.settings import APP_FOLDER, Settings, read_settings
from workbench.store.sources.files import all_sources
from workbench.store.sources.job import Job, LinkedJob, read_job
from workbench.store.sources.sources import sources_of
from workbench.ui.reading_words import reading_sentences
from workbench.ui.verdict import TABLE_ANSWERS, judge_table, naming_sentences

ABOUT = """\
Share something from a table of personal data. The pages and these commands use one
ledger: what one charges, the other sees.

  privacy-workbench serve
  privacy-workbench audit TABLE --schema schema.json
  privacy-workbench audit TABLE --rule hipaa-safe-harbor --html report.html
  privacy-workbench anonymize TABLE --schema schema.json --plan plan.json --to folder
  privacy-workbench tables TABLE --schema schema.json --plan plan.json --to folder
  privacy-workbench job TABLE --schema schema.json --recipe recipe.json --epsilon 1 > job.json
  privacy-workbench prove --schema schema.json --recipe recipe.json --epsilon 1
  privacy-workbench release job.json --to release.json
  privacy-workbench sample release.json --rows 1000 --to folder
  privacy-workbench linked PEOPLE EVENTS --schema linked.json --epsilon 1 --to folder
  privacy-workbench link TABLE --release ID --title "Visits 2024" --days 30
  privacy-workbench backup FOLDER FOLDER-OF-THE-KEY

A TABLE is the name of a connected source, or the path of a file. CSV and Parquet that
are too large to be read whole stay where they are, and are read in passes, under an
account that goes by the name of the file. The same job a second time brings the stored
release and charges nothing; a job may also be of two linked tables. The commands read
the settings of the server (see docs/hosting.md): run them with the same environment. A
table that looks like one on file is opened with --new-account alone. Where people sign
in, say for which steward you ask, as in --as ada@example.org.
"""
BAD_INPUT_EXIT_CODE = 2
"""Exit code of `tables` for bad input; 1 is a table that is refused."""
PROGRESS_INTERVAL_SECONDS = 5.0
"""Seconds between two lines about the progress of a pass over a large table."""


FILE_SUFFIXES = (".csv", ".xlsx", ".parquet")
"""Endings of `--to` that name one file, instead of a folder."""
MAX_FILE_ROWS = 1_000_000
"""Rows that are drawn into one file, all of them in memory, at most."""
_SEPARATORS = {"tab": "\t", "blanks": BLANK_SEPARATOR, "none": NO_SEPARATOR}
"""Words for separators that are hard to write on a command line."""
OPENED_FILE_ATTRIBUTE = "opened file"
"""Attribute of a frame with the file that it was read from."""
DEFAULT_READ_OPTIONS = ReadOptions()


class ProgressPrinter:
    """Callback that prints now and then to stderr how many rows a pass has read."""

    def __init__(self) -> None:
        self._told = time.monotonic()

    def __call__(self, rows: int) -> None:
        now = time.monotonic()
        if rows and now - self._told >= PROGRESS_INTERVAL_SECONDS:
            self._told = now
            print(
                _("{rows:,} rows read").format(rows=rows), file=sys.stderr, flush=True
            )


def find_steward(address: str | None) -> Person:
    """Return the steward for whom a command runs (without sign-in, the only person).

    Raises: ParameterError.
    """
    if roles.sign_in_needed() == (address is None):
        raise UsageError(
            "a steward is named by --as where people sign in, and only there",
            remedy="give --as ADDRESS, or leave it out",
        )
    if address is None:
        return roles.LOCAL_PERSON
    return Person(address=roles.address_with_role(address, "steward"), role="steward")


def ledger_of(person: Person) -> PersonalLedger:
    """Return the ledger that the pages use, limited to what this person may do."""
    own = start.ledger()
    owners = start.owners()
    return PersonalLedger(
        ledger=own,
        owners=owners,
        person=person,
        current_person=lambda: person,
        opener=person.address,
    )


def reading_options(arguments: argparse.Namespace) -> ReadOptions:
    """Return the file-reading options that the command line sets."""
    return ReadOptions(
        sheet=arguments.sheet,
        encoding=arguments.encoding,
        separator=_SEPARATORS.get(arguments.separator, arguments.separator),
        decimal=arguments.decimal,
        header=None if arguments.header is None else arguments.header != "no",
        header_lines={"yes": 1, "two": 2}.get(arguments.header),
        names=tuple(arguments.names or ()),
        skip=arguments.skip,
        day_first=None if arguments.dates is None else arguments.dates == "day-first",
        is_known=arguments.always_so,
    )


def ignore_sentences(sentences: Sequence[str]) -> None:
    """Ignore the sentences that say how a file was read."""


def find_table(
    name: str,
    person: Person,
    schema: Schema | None = None,
    *,
    options: ReadOptions = DEFAULT_READ_OPTIONS,
    on_sentences: Callable[[Sequence[str]], object] = ignore_sentences,
) -> pd.DataFrame | Source:
    """Return the connected source with this name, or the table in the file at this
    path. A CSV or Parquet file that is too large becomes a source, which stays where it
    is.

    Args:
        name: of the source, or the path of the file.
        person: whose sources are looked at.
        schema: to open it under.
        options: how a file is read.
        on_sentences: called with what was read from a file, in sentences.

    Raises: ParameterError, ReadError, LimitError; SchemaError for less than what the
        source declares.
    """
    listed = sources_of(person, all_sources(read_settings()))
    for each in listed:
        if each.source.name == name:
            if schema is not None and (known := each.read_schema()) is not None:
                schema.unit.check_covers(known.unit)
            return each.source
    file = Path(name)
    if not file.is_file():
        raise ParameterError(
            "there is nothing with this name", remedy="check the names"
        )
    try:
        check_size(file.stat().st_size)
        data = file.read_bytes()
        own = ledger_of(person)
        options = opened_files.recorded_options(data, options, own)
        before = opened_files.read_as_before(
            data, file.name, opened_files.earlier_accounts(own)
        )
        read = (
            before[0]
            if before is not None
            else read_table(data, file.name, options=options)
        )
        if read.other_sheets and options.sheet is None:
            raise ParameterError(
                "more than one sheet may hold the table: {sheets}",
                remedy="choose one with --sheet",
                sheets=", ".join((str(read.options.sheet), *read.other_sheets)),
            )
        brought = opened_files.OpenedFile(
            digest=opened_files.digest_file(data, own), reading=read.options
        )
        # stored as plain data, because pandas writes attributes of a frame into Parquet
        read.frame.attrs[OPENED_FILE_ATTRIBUTE] = brought.to_content()
        on_sentences(
            reading_sentences(read.options, read.notes, len(read.frame.columns))
        )
        return read.frame
    except LimitError:
        if file.suffix not in (".csv", ".parquet"):
            raise
        location = str(file.resolve())
        here = Source(name=file.name, kind=file.suffix[1:], location=location)
        return next(
            (each.source for each in listed if each.source.location == location), here
        )


def find_and_open_table(
    name: str,
    schema: Schema,
    budget: AnyLoss | None,
    address: str | None,
    people: str | None = None,
    *,
    options: ReadOptions = DEFAULT_READ_OPTIONS,
    on_sentences: Callable[[Sequence[str]], object] = ignore_sentences,
) -> Curator:
    """Find a table and open it under its account in the ledger of the pages. Without a
    stated budget, use that of the account, or epsilon 1 for a new one.

    Args:
        options: how a file is read.
        on_sentences: called with what was read from a file, in sentences.
        people: what is said of its people where it looks like a table on file: "same"
            or "different".

    Raises: ParameterError where nothing is said of such a table.
    """
    person = find_steward(address)
    table = find_table(name, person, schema, options=options, on_sentences=on_sentences)
    return open_table(table, name, schema, budget, person, people)


def open_table(
    table: pd.DataFrame | Source,
    name: str,
    schema: Schema,
    budget: AnyLoss | None,
    person: Person,
    people: str | None,
) -> Curator:
    """Open a table that was already found under its account in the ledger of the
    pages.
    """
    dataset, ledger = ledger_of(person).account_of(table)
    account = ledger.account(dataset)
    budget = budget or (
        loss_from_fields(account.promise) if account else PureDP(epsilon=1)
    )
    if isinstance(table, Source):
        return Curator.open(
            table,
            schema,
            budget=budget,
            ledger=ledger,
            name=name,
            on_rows=ProgressPrinter(),
        )
    brought = opened_files.OpenedFile.from_content(table.attrs[OPENED_FILE_ATTRIBUTE])
    opened_files.is_file_known(brought, dataset, ledger)
    file = Path(name).name
    sketched = SketchedTable.from_frame(table, ledger.key)
    alike: likeness.SimilarTable | None = None
    if account is None:
        alike = likeness.find_similar_table([(file, sketched)], ledger)
        _refuse_unanswered(alike, people)
    ledger = dataclasses.replace(ledger, opened_file=brought.to_content())
    curator = Curator.open(table, schema, budget=budget, ledger=ledger, name=file)
    answer = _likeness_answer(alike, people)
    likeness.store_sketch([sketched], dataset, file, ledger, answer)
    opened_files.note_file(brought, dataset, ledger)
    return curator


def _account_of_linked(
    people: pd.DataFrame | Source, events: pd.DataFrame | Source, own: PersonalLedger
) -> tuple[str, PersonalLedger]:
    """Return the account id of two linked tables, and the ledger under their key.

    Tables that were handed to this person are known under the key of who opened them.
    """
    if isinstance(people, pd.DataFrame):
        for ledger in own.ledgers_of_handed_tables():
            name = LinkedCurator.account_name(people, events, ledger)
            if ledger.is_mine(name):
                return name, ledger
    name = LinkedCurator.account_name(people, events, own)
    return name, own.for_dataset(name)


def _refuse_unanswered(alike: likeness.SimilarTable | None, people: str | None) -> None:
    """Refuse a new table that looks like one on file.

    Raises: ParameterError if nothing is said of the people of both.
    """
    if alike is not None and people is None:
        raise UsageError(
            "{alike} Are both about the same people?",
            remedy="open another account by --new-account same, also if you do not "
            "know, or --new-account "
            "different",
            alike=alike.warning(alike.name, alike.file),
        )


def _likeness_answer(
    alike: likeness.SimilarTable | None, people: str | None
) -> dict[str, str]:
    return {"alike": alike.dataset, "people": people or ""} if alike else {}


def serve(arguments: argparse.Namespace) -> str:
    """Start the pages, and open them in the browser."""
    try:
        socket.create_server(("127.0.0.1", arguments.port)).close()
    except (OSError, OverflowError):
        raise UsageError(
            f"port {arguments.port} cannot be used",
            remedy="stop the program that uses it, or name another one by --port",
        ) from None
    environment = {**os.environ, "PYTHONMALLOC": "malloc"}  # it gives back freed rows
    if arguments.demo:
        environment["WORKBENCH_DEMO"] = "1"
    if arguments.files is not None:
        environment["WORKBENCH_FILES"] = str(arguments.files)
    # lifetime.lifespan opens the browser unless the server is headless
    options = {
        "server.port": str(arguments.port),
        "server.headless": "true" if arguments.no_browser else "false",
        "server.showEmailPrompt": "false",
    }
    words = [f"--{name}={value}" for name, value in options.items()]
    server = [
        sys.executable,
        "-m",
        "streamlit",
        "run",
        str(APP_FOLDER / "app.py"),
        *words,
    ]
    sys.stdout.flush()
    os.execve(sys.executable, server, environment)  # signals go to the server itself


def job(arguments: argparse.Namespace) -> str:
    """Print a job as JSON, to be run later or elsewhere; reads no data."""
    recipe = load_recipe(json.loads(arguments.recipe.read_text()))
    if recipe is None:
        raise wrong_file_kind_error()
    made = Job(
        table=arguments.table,
        schema=Schema.from_json(arguments.schema.read_text()),
        budget=PureDP(epsilon=arguments.budget or 1),
        recipe=recipe,
        loss=PureDP(epsilon=arguments.epsilon),
    )
    return made.to_json()


def prove(arguments: argparse.Namespace) -> str:
    """Prove a lower bound on a recipe's loss by runs on invented rows; reads no data.

    Ends with 1 where more is proved than the stated loss allows.
    """
    recipe = load_recipe(json.loads(arguments.recipe.read_text()))
    if recipe is None:
        raise wrong_file_kind_error()
    loss = _make_loss(arguments.epsilon, arguments.delta)
    schema = drop_id_column(Schema.from_json(arguments.schema.read_text()))
    found = prove_loss(
        RecipeRun(recipe=recipe, loss=loss, schema=schema),
        arguments.runs,
        float(arguments.seconds),
    )
    arguments.code = int(found.is_refuted)
    told = dataclasses.asdict(found) | {
        "curve": [
            {"false_alarms": alarms, "found": achieved, "by_law": law}
            for alarms, (achieved, law) in found.curve.items()
        ]
    }
    return json.dumps(told | {"refuted": found.is_refuted}, indent=1)


def release(arguments: argparse.Namespace) -> str:
    """Run a job: charge, measure, write the release."""
    wanted = read_job(arguments.job.read_text("utf-8"))
    if isinstance(wanted, LinkedJob):
        return _release_linked(arguments, wanted)
    person = find_steward(arguments.address)
    table = find_table(
        wanted.table, person, wanted.schema, options=reading_options(arguments)
    )
    part = dict([wanted.part]) if wanted.part else None
    made = stored_release(table, wanted, part, person)
    if made is None:
        curator = open_table(
            table, wanted.table, wanted.schema, wanted.budget, person, arguments.people
        )
        made = curator.run(wanted.recipe, wanted.loss, part=part)
    arguments.to.write_text(made.to_json())
    dataset, ledger = ledger_of(person).account_of(table)
    left = ledger.standing(dataset).balance.remaining_units
    return json.dumps(
        {"request_id": made.request_id, "loss": made.guarantee.loss, "left_units": left}
    )


def _release_linked(arguments: argparse.Namespace, wanted: LinkedJob) -> str:
    """Run the job of two linked tables."""
    curator = _open_linked_tables(
        arguments, wanted.tables, wanted.schema, wanted.budget
    )
    made = curator.synthesize(
        wanted.loss,
        people_recipe=wanted.people_recipe,
        events_recipe=wanted.events_recipe,
    )
    arguments.to.write_text(made.to_json(), "utf-8")
    return json.dumps(_describe_linked(made, curator))


def _describe_linked(made: LinkedRelease, curator: LinkedCurator) -> dict[str, Any]:
    """Describe a release of two linked tables, and what is left."""
    return {
        "request_ids": [made.people.request_id, made.events.request_id],
        "loss": made.guarantee.loss,
        "left_units": curator.balance().remaining_units,
    }


def linked(arguments: argparse.Namespace) -> str:
    """Release two linked tables, people and their events, and draw both.

    The schema is that of both tables, with the rules that link them. `--to` is a new
    folder: both drawn tables, the release and its guarantee. The same command a second
    time brings the stored release and charges nothing.
    """
    schema = LinkedSchema.from_json(arguments.schema.read_text("utf-8"))
    loss = _make_loss(arguments.epsilon, arguments.delta)
    budget = _make_loss(arguments.budget, arguments.delta) if arguments.budget else None
    _refuse_used_name(arguments.to)
    names = (arguments.people_table, arguments.events_table)
    curator = _open_linked_tables(arguments, names, schema, budget)
    made = curator.synthesize(loss)
    drawn = _write_linked_folder(made, arguments.rows, arguments.to, arguments.format)
    told: dict[str, Any] = drawn | _describe_linked(made, curator)
    if arguments.internal:
        counts = curator.count_rows().content
        told["internal"] = dataclasses.asdict(counts) | {
            "drops most events": counts.drops_most_events
        }
    return json.dumps(told, ensure_ascii=False, indent=1)


def _refuse_used_name(folder: Path) -> None:
    """Raise UsageError if something has the name of a new folder of linked tables."""
    if folder.exists():
        raise UsageError(
            "the folder of the tables is there already", remedy="choose a new name"
        )


def _write_linked_folder(
    made: LinkedRelease, rows: int | None, folder: Path, ending: str
) -> dict[str, Any]:
    """Draw both tables of a release into a new folder, with the release and its
    guarantee; return how many rows each table has.

    Args:
        rows: people to draw; None for as many as the noisy counts say.
        ending: of the files of tables.
    """
    people, events = made.sample(rows)
    guarantee = linked_guarantee_json(made)
    files = {
        f"{name}.{ending}": table_content(
            PublicTable(frame), ending, {"guarantee": guarantee}
        )
        for name, frame in (("people", people), ("events", events))
    }
    files |= {
        "release.json": made.to_json().encode(),
        "guarantee.json": guarantee.encode(),
    }
    folder.mkdir()
    try:
        for file, content in files.items():
            (folder / file).write_bytes(content)
    except BaseException:
        shutil.rmtree(folder)
        raise
    return {"people": len(people), "events": len(events)}


def _make_loss(epsilon: Number, delta: Number | None) -> AnyLoss:
    """Return an epsilon, or an epsilon with a delta if one is given."""
    if delta is None:
        return PureDP(epsilon=epsilon)
    return ApproxDP(epsilon=epsilon, delta=delta)


def _open_linked_tables(
    arguments: argparse.Namespace,
    names: tuple[str, str],
    schema: LinkedSchema,
    budget: AnyLoss | None,
) -> LinkedCurator:
    """Find two tables, and open them under their one account.

    Without a stated budget, use that of the account, or epsilon 1 for a new one, with
    the delta of the command.
    """
    person = find_steward(arguments.address)
    tables = [
        find_table(name, person, own, options=reading_options(arguments))
        for name, own in zip(names, (schema.people, schema.events), strict=True)
    ]
    people, events = tables
    dataset, ledger = _account_of_linked(people, events, ledger_of(person))
    account = ledger.account(dataset)
    if budget is None:
        budget = (
            loss_from_fields(account.promise)
            if account
            else _make_loss(1, arguments.delta)
        )
    frames = [table for table in tables if isinstance(table, pd.DataFrame)]
    files = [
        opened_files.OpenedFile.from_content(frame.attrs[OPENED_FILE_ATTRIBUTE])
        for frame in frames
    ]
    brought: opened_files.OpenedFile | None = None
    alike: likeness.SimilarTable | None = None
    sketched = [SketchedTable.from_frame(frame, ledger.key) for frame in frames]
    if len(frames) == len(tables):
        # one budget for all readings of both files, as of one file
        digest = combine_tables([each.digest for each in files], ledger.ledger.key)
        brought = dataclasses.replace(files[0], digest=digest)
        opened_files.is_file_known(brought, dataset, ledger)
        if account is None:
            alike = likeness.find_similar_table(
                [
                    (Path(name).name, table)
                    for name, table in zip(names, sketched, strict=True)
                ],
                ledger,
                own_accounts=[table.fingerprint for table in sketched],
            )
            _refuse_unanswered(alike, arguments.people)
        ledger = dataclasses.replace(ledger, opened_file=brought.to_content())
    title = " + ".join(Path(name).name for name in names)
    curator = LinkedCurator.open(
        people,
        events,
        schema,
        budget=budget,
        ledger=ledger,
        name=title,
        on_rows=ProgressPrinter(),
    )
    if brought is not None:
        answer = _likeness_answer(alike, arguments.people)
        likeness.store_sketch(sketched, dataset, title, ledger, answer)
        opened_files.note_file(brought, dataset, ledger)
        for table in sketched:
            if ledger.account(table.fingerprint) is not None and ledger.is_mine(
                table.fingerprint
            ):
                same_people.note_same_people(dataset, table.fingerprint, ledger)
    return curator


def stored_release(
    table: pd.DataFrame | Source,
    requested_job: Job,
    part: dict[str, str] | None,
    person: Person,
) -> Release | None:
    """Return the stored release of a job on a source, which is not read again.

    None if there is none, or if the table is in memory and so was read already.
    """
    if not isinstance(table, Source):
        return None
    _dataset, ledger = ledger_of(person).account_of(table)
    return Curator.stored_release(
        table,
        requested_job.schema,
        requested_job.recipe,
        requested_job.loss,
        budget=requested_job.budget,
        ledger=ledger,
        part=part,
    )


def sample(arguments: argparse.Namespace) -> str:
    """Draw rows of a release into a folder of Parquet files or one file; it is free.

    `--to` decides: a name that ends with .csv, .xlsx or .parquet is a file. Of two linked
    tables, `--rows` are people, and the folder has a file of each table.
    """
    text = arguments.release.read_text("utf-8")
    if LinkedRelease.is_in(text):
        if _is_file_name(arguments.to):
            raise UsageError(
                "people and their events are two files",
                remedy="name a folder with --to",
            )
        _refuse_used_name(arguments.to)
        pair = LinkedRelease.from_json(text)
        return json.dumps(
            _write_linked_folder(pair, arguments.rows, arguments.to, "parquet")
        )
    made = Release.from_json(text)
    if not _is_file_name(arguments.to):
        return json.dumps({"rows": write_drawn(made, arguments.rows, arguments.to)})
    if arguments.rows > MAX_FILE_ROWS:
        raise LimitError(
            "one file can hold at most {rows:,} drawn rows",
            remedy="name a folder with --to: it can take any number of rows",
            rows=MAX_FILE_ROWS,
        )
    table = made.sample_table(arguments.rows)
    _write_file(arguments, table, {"guarantee": guarantee_json(made)})
    return json.dumps({"rows": len(table.frame)})


def _is_file_name(path: Path) -> bool:
    """Return whether a path names one file, not a folder. Raises: ParameterError if
    that file exists.
    """
    if path.suffix.lower() not in FILE_SUFFIXES:
        return False
    if os.path.lexists(path):
        raise ParameterError(
            "a file or folder with this name already exists",
            remedy="choose another name",
        )
    return True


def _write_file(
    arguments: argparse.Namespace, table: PublicTable, metadata: Mapping[str, str]
) -> None:
    ending = arguments.to.suffix.lower()[1:]
    if arguments.spreadsheet and ending == "csv":
        data = to_csv(table, spreadsheet_decimal=decimal_sign())
    else:
        data = table_content(table, ending, metadata)
    arguments.to.write_bytes(data)


def audit(arguments: argparse.Namespace) -> str:
    """Measure how easily people can be re-identified in a table, for its owner. This
    adds a line to the ledger, but no charge.
    """
    if arguments.rule is not None:
        return _measure_criterion(arguments)
    if arguments.schema is None:
        raise UsageError("a schema is needed here", remedy="give one by --schema")
    read: list[str] = []
    with contextlib.nullcontext() if arguments.internal else printing():
        curator = _open_asked_table(arguments, read.extend)
    roles, wanted = _propose_audit(curator, arguments)
    told = naming_sentences(*find_naming_columns(roles, curator.schema))
    if told and not wanted.quasi_identifiers:
        return json.dumps(
            {
                "read": read,
                "answer": "no",
                "verdict": " ".join([capital(_(TABLE_ANSWERS["no"])) + ".", *told]),
            },
            indent=1,
        )
    try:
        report = curator.evaluate(wanted).content
    except ManyValuesError as error:  # which is an answer
        told = naming_sentences([*wanted.quasi_identifiers], [])
        return json.dumps(
            {
                "read": read,
                "answer": "no",
                "verdict": " ".join(
                    [capital(_(TABLE_ANSWERS["no"])) + ".", *told, *error_words(error)]
                ),
            },
            ensure_ascii=False,
            indent=1,
        )
    with contextlib.nullcontext() if arguments.internal else printing():
        verdict = judge_table(report, [*wanted.quasi_identifiers])
        answer = {
            "read": read,
            "answer": report.verdict.answer,
            "verdict": " ".join([verdict.sentence, *verdict.reasons]),
            "changes": [*verdict.actions],
            **_risk_figures(report, internal=arguments.internal),
        }
    return json.dumps(answer, ensure_ascii=False, indent=1, default=float)


def _risk_figures(report: AuditReport, *, internal: bool) -> dict[str, Any]:
    """Return the figures of an audit; unless they are internal, round shares to whole
    percent and hide small counts.
    """
    if internal:
        return {"people": report.people, **dataclasses.asdict(report.risk)}
    risk = report.risk
    shares = (
        "uniques",
        "highest",
        "average",
        "lowest",
        "threshold",
        "above",
        "journalist",
        "marketer",
    )
    return {"k": people_words(risk.k)} | {
        name: percent(getattr(risk, name)) for name in shares
    }


def _propose_audit(
    curator: Curator, arguments: argparse.Namespace
) -> tuple[tuple[SuggestedRole, ...], AuditQuestion]:
    """Return the proposed roles of columns and the audit to run; with --known, the
    audit looks at declared columns only.
    """
    roles = curator.evaluate(RolesQuestion()).content
    among = None if arguments.known is None else curator.schema.domain.names
    return roles, AuditQuestion.of(
        roles,
        curator.schema,
        known=arguments.known,
        sensitive=arguments.secret,
        among=among,
    )


def _measure_criterion(arguments: argparse.Namespace) -> str:
    """Measure a table against a published criterion, and set the exit code."""
    criterion = Criterion.load(arguments.rule)
    answers = (
        read_answers(arguments.attested.read_text("utf-8"), criterion)
        if arguments.attested
        else {}
    )
    read: list[str] = []
    open_it = _open_asked_table if arguments.schema else _open_without_budget
    with contextlib.nullcontext() if arguments.internal else printing():
        curator = open_it(arguments, read.extend)
    seen = curator.evaluate(
        EvidenceQuestion(criterion=arguments.rule, year=datetime.now(UTC).year)
    ).content
    figures = {}
    if any(each.figure or each.at_most for each in criterion.clauses):
        figures = criterion_figures(
            curator.evaluate(_propose_audit(curator, arguments)[1]).content
        )
    outcomes = judge_clauses(criterion, seen, figures, answers)
    arguments.code = exit_code(outcomes)
    if arguments.html:
        arguments.html.write_text(
            criteria.printed_page(criterion, outcomes, internal=arguments.internal),
            "utf-8",
        )
    if arguments.json:
        clauses = [
            {"clause": each.clause.id, "state": each.state}
            | ({"found": criteria.evidence_words(each)} if arguments.internal else {})
            for each in outcomes
        ]
        about = {
            "read": read,
            "about": criteria.about_result(criterion),
            "clauses": clauses,
            "code": arguments.code,
        }
        return json.dumps(about, ensure_ascii=False, indent=1)
    lines = criteria.outcome_table(outcomes, internal=arguments.internal).to_numpy()
    return "\n".join(
        [*read, *criteria.about_result(criterion), *map(" · ".join, lines)]
    )


def _open_without_budget(
    arguments: argparse.Namespace, on_sentences: Callable[[Sequence[str]], object]
) -> Curator:
    ledger = ledger_of(find_steward(arguments.address))
    table = find_table(
        arguments.table,
        find_steward(arguments.address),
        options=reading_options(arguments),
        on_sentences=on_sentences,
    )
    if isinstance(table, Source):
        raise UsageError("a schema is needed here", remedy="give one by --schema")
    unit = suggest_schema(table).unit
    return open_for_audit(
        table, *ledger.account_of(table), unit, name=Path(arguments.table).name
    )


def anonymize(arguments: argparse.Namespace) -> str:
    """Anonymize a table by a plan. This adds a line to the ledger, but no charge.

    `--to` is a new folder, or one file if it ends with .csv, .xlsx or .parquet.
    """
    plan = Plan.from_json(arguments.plan.read_text())
    policy = read_policy()
    policy.check_plan(plan)
    is_file = _is_file_name(arguments.to)
    curator = _open_asked_table(arguments)
    smallest = policy.smallest_group(curator.schema.unit)
    if is_file:
        made = curator.anonymize(plan, smallest_group=smallest)
        _write_file(arguments, made.table, made.guarantee.as_metadata())
        return json.dumps({"rows": len(made.table.frame)})
    return json.dumps(
        {"rows": curator.anonymize_to(arguments.to, plan, smallest_group=smallest)}
    )


@contextlib.contextmanager
def _redirect_stdout_to_stderr() -> Iterator[None]:
    """Send what libraries print to the error stream.

    HiGHS prints a line on its own about some integer programs, and a script that reads
    the answer as JSON would find it.
    """
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def tables(arguments: argparse.Namespace) -> str:
    """Publish exact tables of counts by plans. This adds ledger lines, no charge.

    Small counts are hidden, or all counts rounded if the plans have a `rounding_base`.
    The tables are attacked together and with every exact table on file before they
    leave: all of them, or none. Ends with 0 if they are published, 1 if they are
    refused, 2 for bad input.
    """
    plans = []
    for plan in itertools.chain(
        *(read_plans(file.read_text("utf-8")) for file in arguments.plan)
    ):
        unrelated = dict.fromkeys([*plan.unrelated, *(arguments.unrelated or ())])
        plans.append(dataclasses.replace(plan, unrelated=tuple(unrelated)))
        read_policy().check_table(plan)
    if arguments.to.exists():
        raise UsageError(
            "the folder of the table is there already", remedy="choose a new name"
        )
    curator = _open_asked_table(arguments)
    people = ledger_of(find_steward(arguments.address))
    others = same_people.tables_of_same_people(curator.account.dataset, people)
    with _redirect_stdout_to_stderr():
        made = curator.make_exact_tables(plans, others=others)
        arguments.to.mkdir()
        try:
            # another account may have published a table meanwhile
            others = same_people.tables_of_same_people(curator.account.dataset, people)
            published = curator.publish_tables(made, others=others)
        except BaseException:
            arguments.to.rmdir()
            raise
    is_alone = len(plans) == 1
    told = [
        _write_exact_table(arguments.to, "" if is_alone else f" {number}", table, own)
        for number, (table, own) in enumerate(
            zip(published, made.content, strict=True), start=1
        )
    ]
    return json.dumps(told[0] if is_alone else {"tables": told}, ensure_ascii=False)


def _write_exact_table(
    folder: Path, number: str, published: PublishedTable, made: ExactTable
) -> dict[str, Any]:
    """Write the files of an exact table, and its report beside the folder.

    So nobody publishes the report with the table.

    Args:
        number: part of the names of its files.

    Returns: what is said of it. A log is read by many: what was checked is in the
        report alone.
    """
    name = f"table{number}"
    (folder / f"{name}.csv").write_text(published.to_csv(), "utf-8")
    (folder / f"{name}.json").write_text(published.to_json(), "utf-8")
    (folder / f"{name}.html").write_bytes(of_exact_table.public_page(published))
    report = folder.with_name(f"{folder.name}{number} internal.html")
    report.write_bytes(of_exact_table.report_page(made))
    counts = published.counts
    checks = of_exact_table.list_checks(made)
    return {
        **({"columns": list(published.layout.columns)} if number else {}),
        "cells": len(counts),
        "hidden": sum(count is None for count in counts),
        **(
            {"rounded to multiples of": published.rounding_base}
            if published.rounding_base
            else {}
        ),
        "summary": of_exact_table.find_verdict(checks),
        "attacked with": [*made.earlier_tables, *made.bundle_tables],
        "compared with": list(made.compared),
        "table": str(folder / f"{name}.csv") if number else str(folder),
        "report": str(report),
    }


def _open_asked_table(
    arguments: argparse.Namespace,
    on_sentences: Callable[[Sequence[str]], object] = ignore_sentences,
) -> Curator:
    schema = Schema.from_json(arguments.schema.read_text())
    budget = PureDP(epsilon=arguments.budget) if arguments.budget else None
    return find_and_open_table(
        arguments.table,
        schema,
        budget,
        arguments.address,
        arguments.people,
        options=reading_options(arguments),
        on_sentences=on_sentences,
    )


def ledger(arguments: argparse.Namespace) -> str:
    """Print the lines of a table's account, as an export shows them.

    With `--internal` they are printed whole.
    """
    person = find_steward(arguments.address)
    dataset, kept = ledger_of(person).account_of(
        find_table(arguments.table, person, options=reading_options(arguments))
    )
    lines = kept.lines(dataset)
    if lines and not arguments.internal:
        name = public_name(lines)
        lines = tuple(redact_line(line, name) for line in lines)
    return json.dumps(
        [
            {
                "state": line.state,
                "at": line.at,
                "units": line.charge.units,
                **line.content,
            }
            for line in lines
        ],
        ensure_ascii=False,
        indent=1,
        default=str,
    )


def link(arguments: argparse.Namespace) -> str:
    """List the links of a table, after making or revoking one if asked."""
    person = find_steward(arguments.address)
    dataset, kept = ledger_of(person).account_of(
        find_table(arguments.table, person, options=reading_options(arguments))
    )
    kept.check_may_spend(dataset)
    shares = start.shares()
    data_set = find_data_set(dataset, kept)
    made = {}
    if arguments.revoke:
        shares.revoke(dataset, arguments.revoke)
    if arguments.release and data_set is not None:
        gives = frozenset(arguments.gives)
        expires = in_days(arguments.days)
        draft = LinkDraft(
            title=arguments.title, note=arguments.note, expires=expires, contents=gives
        )
        token = shares.make(data_set.release(arguments.release), draft, dataset=dataset)
        made = {"address": f"{read_settings().address}/share/{token}".removeprefix("/")}
    fields = ("id", "title", "expires", "ended", "opened")
    listed = [
        {name: getattr(each, name) for name in fields}
        for each in shares.links_of(dataset)
    ]
    return json.dumps(
        made | {"links": listed}, ensure_ascii=False, indent=1, default=str
    )


def _settings_of_ledger() -> Settings:
    """Return the settings of a server that has a ledger. Raises: LedgerError."""
    settings = read_settings()
    operate.check_ledger_exists(settings)
    return settings


def backup(arguments: argparse.Namespace) -> str:
    """Copy the ledger and its key into two new folders; the server may keep running."""
    size = operate.backup(_settings_of_ledger(), arguments.folder, arguments.key)
    return f"{size}\nbackup: done"


def restore(arguments: argparse.Namespace) -> str:
    """Restore the ledger and its key from a backup; the server may keep running."""
    broken = operate.restore(read_settings(), arguments.folder, arguments.key)
    return _summarize_check(arguments, "restore", broken)


def check(arguments: argparse.Namespace) -> str:
    """Verify every line of every account."""
    return _summarize_check(arguments, "check", operate.check(_settings_of_ledger()))


def _summarize_check(
    arguments: argparse.Namespace, task: str, broken: Sequence[str]
) -> str:
    """Return the last line of a check; set exit code 1 if an account is broken."""
    if not broken:
        return f"{task}: done"
    arguments.code = 1
    return f"{task}: done; {len(broken)} accounts are not in order"


def accept(arguments: argparse.Namespace) -> str:
    """Accept a restored ledger although the server has seen later lines of it.

    What was spent since is forgotten; a line in each account says so.
    """
    operate.accept(_settings_of_ledger())
    return "accept: done"


def adopt(arguments: argparse.Namespace) -> str:
    """Give one steward all data sets that were opened without sign-in."""
    number = operate.adopt(_settings_of_ledger(), arguments.address)
    return f"{number} data sets now belong to {arguments.address}\nadopt: done"


def rekey(arguments: argparse.Namespace) -> str:
    """Seal all accounts under a new key; stop the server before you run this."""
    number = seal_again(_settings_of_ledger(), arguments.file)
    return f"{number} accounts sealed again\nrekey: done"


COMMANDS = (
    serve,
    audit,
    anonymize,
    tables,
    job,
    prove,
    release,
    sample,
    linked,
    ledger,
    link,
    backup,
    restore,
    check,
    accept,
    adopt,
    rekey,
)
_OPTION_TYPES = {"path": Path, "number": int, "text": str}


def _parser() -> argparse.ArgumentParser:
    """Return a parser for the commands, with the options that `commands.toml` lists."""
    parser = argparse.ArgumentParser(
        prog="privacy-workbench",
        description=ABOUT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    languages = [os.environ.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG")]
    parser.add_argument(
        "--language",
        default=next(filter(None, languages), "en"),
        help="of what is printed: en, de, zh; else that of the environment",
    )
    parser.add_argument(
        "--version", action="version", version=f"%(prog)s {dpcore.__version__}"
    )
    commands = parser.add_subparsers(required=True, metavar="command")
    options = tomllib.loads(
        Path(__file__).with_name("commands.toml").read_text(encoding="utf-8")
    )["option"]
    for command in COMMANDS:
        about = inspect.getdoc(command)
        each = commands.add_parser(
            command.__name__,
            help=str(about).partition("\n\n")[0],
            description=about,
        )
        each.set_defaults(command=command)
        for option in (
            option for option in options if command.__name__ in option["of"]
        ):
            given = {
                name: value
                for name, value in option.items()
                if name not in ("of", "name")
            }
            if "type" in given:
                given["type"] = _OPTION_TYPES[given["type"]]
            each.add_argument(option["name"], **given)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code, 0 if it went well. For the other codes
    see `commands.toml` (an audit by a rule) and `tables`.
    """
    given = sys.argv[1:] if argv is None else argv
    try:
        asked = _parser().parse_args(argv)
    except SystemExit as end:
        bad_input = BAD_INPUT_EXIT_CODE if tables.__name__ in given else 3
        return bad_input if end.code else 0
    with use_language(asked.language):
        return _run(asked)


def _run(arguments: argparse.Namespace) -> int:
    has_rule = getattr(arguments, "rule", None) is not None
    try:
        print(arguments.command(arguments))
    except (DpcoreError, OSError) as error:
        print(
            " ".join(error_words(error)) if isinstance(error, DpcoreError) else error,
            file=sys.stderr,
        )
        refused = isinstance(error, InfeasibleError | DisclosureError)
        if arguments.command is tables and not refused:
            return BAD_INPUT_EXIT_CODE
        return 3 if has_rule else 1
    except Exception as error:  # in whose words a value may be quoted
        if has_rule:  # 1 would be a violation
            print(
                _("The table could not be measured. Try it on the Audit page."),
                file=sys.stderr,
            )
            return 3
        words = _(
            "An unexpected error occurred ({kind}). Anything that was already "
            "charged stays charged."
        )
        print(words.format(kind=type(error).__name__), file=sys.stderr)
        return BAD_INPUT_EXIT_CODE if arguments.command is tables else 1
    return getattr(arguments, "code", 0)


if __name__ == "__main__":
    sys.exit(main())
