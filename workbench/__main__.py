"""Commands next to the data, with the same sources, ledger, schemas and plans as the pages.

    python -m workbench job TABLE --schema schema.json --recipe recipe.json --epsilon 1 --budget 2 > job.json
    python -m workbench release job.json --to release.json
    python -m workbench sample release.json --rows 10000000 --to folder
    python -m workbench audit TABLE --schema schema.json
    python -m workbench anonymize TABLE --schema schema.json --plan plan.json --budget 2 --to folder
    python -m workbench ledger TABLE
    python -m workbench link TABLE --release ID --title "Visits 2024" --days 30

A TABLE is the name of a connected source, or the path of a file. What is charged is on the ledger's lines, as
when a page asks; the same job a second time brings the stored release and charges nothing. Run it in the
folder of the server, whose settings it reads. A table that looks like one on file is opened with
--new-account alone. Where people sign in, say for which steward you ask, as in --as ada@example.org.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import sys
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from dpcore.accounting.loss import AnyLoss, PureDP
from dpcore.anonymize import Plan
from dpcore.curator import Curator
from dpcore.errors import DpcoreError, ParameterError
from dpcore.evaluation import Audit, RolesOf
from dpcore.evaluation.table.audit import who_is_named
from dpcore.io import read_table
from dpcore.io.folder import write_drawn
from dpcore.release import Release
from dpcore.schema.schema import Schema
from dpcore.schema.source import Source
from dpcore.synthesis import load_recipe
from workbench.store import likeness, roles, start
from workbench.store.datasets import find
from workbench.store.job import Job
from workbench.store.personal import PersonalLedger
from workbench.store.roles import Person
from workbench.store.settings import read_settings
from workbench.store.shares import LinkDraft, in_days
from workbench.store.sources import sources_in, sources_of
from workbench.ui.verdict import ANSWERS, named, verdict, ways_out

KINDS: dict[str, Callable[[str], Any]] = {"text": str, "path": Path, "whole": int}


def person_as(address: str | None) -> Person:
    """Return the steward that a command is run for; the one person there is, without sign-in.

    Raises: ParameterError.
    """
    if not roles.sign_in_needed():
        if address is not None:
            raise ParameterError("nobody signs in here", remedy="leave --as out")
        return roles.ALONE
    if address is None:
        raise ParameterError(
            "people sign in on this server, and a data set is somebody's",
            remedy="say for which steward you ask: --as ADDRESS",
        )
    address = address.strip().lower()
    if roles.role_of(address) != "steward":
        raise ParameterError(
            "{address} is no steward of this server",
            remedy="ask whoever runs it to add the address to its settings",
            address=address[:200],
        )
    return Person(address=address, role="steward")


def ledger_of(person: Person) -> PersonalLedger:
    """Return the ledger of the pages, as this person may use it."""
    return PersonalLedger.for_person(start.ledger(), start.owners(), person=person, still=lambda: person)


def table_of(name: str, person: Person, schema: Schema | None = None) -> pd.DataFrame | Source:
    """Return a connected source of theirs by its name, or a file.

    Args: schema: to open it under.
    Raises: ParameterError, ReadError, LimitError; SchemaError for less than what the source declares.
    """
    for each in sources_of(person, sources_in(read_settings().sources, os.environ)):
        if each.source.name == name:
            known = each.known() if schema is not None else None
            if schema is not None and known is not None:
                schema.unit.check_covers(known.unit)
            return each.source
    file = Path(name)
    if not file.is_file():
        raise ParameterError("there is no connected source or file of this name", remedy="check the name")
    return read_table(file.read_bytes(), file.name).frame


def opened(
    name: str, schema: Schema, budget: AnyLoss, address: str | None, people: str | None = None
) -> Curator:
    """Open the table under its account in the ledger of the pages.

    Args: people: what is said of its people where it looks like a table on file: "same" or "different".
    Raises: ParameterError where nothing is said of such a table.
    """
    person = person_as(address)
    table = table_of(name, person, schema)
    dataset, ledger = ledger_of(person).filed(table)
    if isinstance(table, Source):
        return Curator.open(table, schema, budget=budget, ledger=ledger, name=name)
    alike = likeness.find(table, ledger) if ledger.account(dataset) is None else None
    if alike is not None and people is None:
        raise ParameterError(
            "{alike} Are both about the same people?",
            remedy="open another account by --new-account same, also if you do not know, or --new-account "
            "different",
            alike=alike.sentence(alike.name),
        )
    file = Path(name).name
    curator = Curator.open(table, schema, budget=budget, ledger=ledger, name=file)
    answer = {"alike": alike.dataset, "people": people or ""} if alike else {}
    likeness.keep(table, dataset, file, ledger, answer)
    return curator


def job(asked: argparse.Namespace) -> str:
    """Make a job from its parts, to be run later or elsewhere; reads no data."""
    recipe = load_recipe(json.loads(asked.recipe.read_text()))
    if recipe is None:
        raise ParameterError("the file is no recipe", remedy="take one from a release")
    schema = Schema.from_json(asked.schema.read_text())
    made = Job(
        table=asked.table,
        schema=schema,
        budget=PureDP(epsilon=asked.budget),
        recipe=recipe,
        loss=PureDP(epsilon=asked.epsilon),
    )
    return made.to_json()


def release(asked: argparse.Namespace) -> str:
    """Run a job: charge, measure, write the release."""
    wanted = Job.from_json(asked.job.read_text())
    curator = opened(wanted.table, wanted.schema, wanted.budget, asked.address, asked.people)
    made = curator.run(wanted.recipe, wanted.loss, part=dict([wanted.part]) if wanted.part else None)
    asked.to.write_text(made.to_json())
    left = curator.balance().left
    return json.dumps({"request_id": made.request_id, "loss": made.guarantee.loss, "left_units": left})


def sample(asked: argparse.Namespace) -> str:
    """Draw rows of a release into a folder of Parquet files, some at a time; free."""
    made = Release.from_json(asked.release.read_text())
    return json.dumps({"rows": write_drawn(made, asked.rows, asked.to)})


def audit(asked: argparse.Namespace) -> str:
    """Measure how re-identifiable a table is, for its owner; a line of the ledger, and no charge."""
    curator = _opened(asked)
    roles = curator.evaluate(RolesOf()).content
    wanted = Audit.of(roles, curator.schema, known=asked.known, sensitive=asked.secret)
    told = named(*who_is_named(roles, curator.schema))
    if told and not wanted.quasi_identifiers:
        return json.dumps({"answer": "no", "verdict": " ".join([ANSWERS["no"] + ".", *told])}, indent=1)
    report = curator.evaluate(wanted).content
    answer = {
        "answer": report.verdict.answer,
        "verdict": verdict(report, [*wanted.quasi_identifiers]),
        "changes": ways_out(report),
        "people": report.people,
        **dataclasses.asdict(report.risk),
    }
    return json.dumps(answer, ensure_ascii=False, indent=1, default=float)


def anonymize(asked: argparse.Namespace) -> str:
    """Carry out a plan; a line of the ledger, and no charge."""
    curator, plan = _opened(asked), Plan.from_json(asked.plan.read_text())
    return json.dumps({"rows": curator.anonymize_to(asked.to, plan)})


def _opened(asked: argparse.Namespace) -> Curator:
    schema = Schema.from_json(asked.schema.read_text())
    return opened(asked.table, schema, PureDP(epsilon=asked.budget), asked.address, asked.people)


def ledger(asked: argparse.Namespace) -> str:
    """Print the lines of a table's account."""
    person = person_as(asked.address)
    dataset, kept = ledger_of(person).filed(table_of(asked.table, person))
    lines = kept.lines(dataset)
    return json.dumps(
        [{"state": line.state, "at": line.at, "units": line.charge.units, **line.content} for line in lines],
        ensure_ascii=False,
        indent=1,
        default=str,
    )


def link(asked: argparse.Namespace) -> str:
    """List the links of a table, after making one to a release of it, or revoking one."""
    person = person_as(asked.address)
    dataset, kept = ledger_of(person).filed(table_of(asked.table, person))
    kept.check_mine(dataset)
    shares, made = start.shares(), {}
    if asked.revoke:
        shares.revoke(dataset, asked.revoke)
    data_set = find(dataset, kept)
    if asked.release and data_set is not None:
        shown = data_set.release(asked.release)
        draft = LinkDraft(
            title=asked.title, note=asked.note, expires=in_days(asked.days), contents=frozenset(asked.gives)
        )
        made = {"address": "share/" + shares.make(shown, draft, dataset=dataset)}
    listed = [
        {
            "id": each.id,
            "title": each.title,
            "expires": each.expires,
            "ended": each.ended,
            "opened": each.opened,
        }
        for each in shares.of(dataset)
    ]
    return json.dumps(made | {"links": listed}, ensure_ascii=False, indent=1, default=str)


def main(words: Sequence[str] | None = None) -> int:
    """Run one command; 0 where it went well."""
    parser = argparse.ArgumentParser(
        prog="python -m workbench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True, metavar="command")
    arguments = tomllib.loads((Path(__file__).parent / "commands.toml").read_text(encoding="utf-8"))
    for command in (job, release, sample, audit, anonymize, ledger, link):
        each = commands.add_parser(command.__name__, help=command.__doc__)
        each.set_defaults(command=command)
        for name, options in arguments[command.__name__].items():
            kind = KINDS[options.pop("type", "text")]
            each.add_argument(name, type=kind, **options)
    asked = parser.parse_args(words)
    try:
        print(asked.command(asked))
    except (DpcoreError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
