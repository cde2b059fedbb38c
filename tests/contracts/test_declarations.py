"""What a declaration says is the same with and without any person, or marked wherever
it is read.

The pages are in `tests/pages/test_declarations.py`.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

import dpcore as dp
from dpcore.engines.frame import FrameEngine
from dpcore.evaluation.table import cells_of_numbers
from dpcore.io import ReadOptions, read_table
from dpcore.release import _digest
from dpcore.schema import Column, Schema, suggest
from dpcore.schema.origin import MISSING_WORDS_RULE, means_missing
from dpcore.schema.schema import LEFT_OUT_MARK
from dpcore.schema.values import as_text
from tests.contracts.declarations import (
    BUDGET,
    CHANGES,
    COLUMN,
    DECLARED,
    EPSILON,
    NUMBERS,
    OTHER,
    READINGS,
    Change,
    Outcome,
    check,
    check_reading,
    check_texts,
    same_noise,
    surfaces,
)
from workbench import __main__ as commands
from workbench.language.wording import guarantee_words, reading_words
from workbench.store import start
from workbench.store.database.store import Store
from workbench.store.ledger.sql_ledger import SqlLedger
from workbench.store.people.owners import Owners
from workbench.store.settings import Settings

KEY = bytes(range(32))
"""Of one server, from which the ids of requests follow."""
Way = Callable[[Change, pd.DataFrame], Outcome]


def by_suggestion(change: Change, table: pd.DataFrame) -> Outcome:
    """The library: what is suggested is opened as it is."""
    curator = dp.Curator.open(
        table, dp.suggest_schema(table), budget=BUDGET, ledger=dp.MemoryLedger()
    )
    release = curator.run(change.recipe(), EPSILON)
    return Outcome(release=release, surfaces=surfaces(release, curator.schema))


def by_search(change: Change, table: pd.DataFrame) -> Outcome:
    """The library: the cells of the numbers are found privately."""
    schema = dp.suggest_schema(table)
    ledger = dp.MemoryLedger()
    ledger.key = KEY
    curator = dp.open_with_cells(
        table, schema, [change.column], budget=BUDGET, ledger=ledger
    )
    release = curator.run(change.recipe(), EPSILON)
    made = surfaces(release, curator.schema)
    searches = [
        line.request_id for line in curator.lines() if line.content.get("report")
    ]
    report = json.loads(curator.report(searches[0]).to_json())["report"]
    made["report of the search"] = json.dumps(
        {**report, "request_id": "", "created": ""}
    )
    return Outcome(release=release, surfaces=made)


def pair(way: Way, change: Change) -> tuple[Outcome, Outcome]:
    """Run on the table without her, and with the same noise on the table with her."""
    with same_noise() as again:
        without = way(change, change.table(with_her=False))
        again()
        return without, way(change, change.table(with_her=True))


def named(change: Change) -> str:
    return change.name


@pytest.mark.parametrize("change", CHANGES, ids=named)
def test_what_is_suggested_is_the_same_without_her_or_marked(change: Change) -> None:
    """A release would tell one person's spelling, word or number, and its page that it
    does not.
    """
    without, with_her = pair(by_suggestion, change)
    differs = check(change, without, with_her)
    assert bool(differs) == bool(change.marks), differs
    check_texts(change, with_her)


def told(change: Change) -> Schema:
    """A declaration that somebody wrote by hand."""
    answer = dp.Categorical(
        change.column,
        categories=("good", "bad"),
        other=True,
        missing=True,
        known_from="the questionnaire",
    )
    sex = dp.Categorical(OTHER, categories=("F", "M"), known_from="the questionnaire")
    return Schema(columns=(answer, sex), unit=dp.PrivacyUnit(max_rows=1))


def release_under(schema: Schema, change: Change, frame: pd.DataFrame) -> Outcome:
    """What a program does with a file that it read."""
    curator = dp.Curator.open(frame, schema, budget=BUDGET, ledger=dp.MemoryLedger())
    release = curator.run(change.recipe(), EPSILON)
    return Outcome(release=release, surfaces=surfaces(release, curator.schema))


def by_program(change: Change, frame: pd.DataFrame) -> Outcome:
    return release_under(told(change), change, frame)


FILE_WAYS: list[Way] = [by_suggestion, by_program]


@pytest.mark.parametrize("with_her", [False, True])
@pytest.mark.parametrize("change", READINGS, ids=named)
def test_every_release_of_a_file_says_how_it_was_read(
    change: Change, with_her: bool
) -> None:
    """Her cell would change what everybody's cells mean, and the guarantee of the table
    without her would not say so.
    """
    content = change.file(with_her=with_her)
    read = read_table(content, "table.csv")
    known = dataclasses.replace(read.options, is_known=True)
    for way in FILE_WAYS:
        check_reading(way(change, read.frame))
    # twin: what somebody told has no mark
    frame = read_table(content, "table.csv", options=known).frame
    check_reading(by_program(change, frame), is_guessed=False)


@pytest.mark.parametrize("with_her", [False, True])
def test_an_engine_says_how_its_file_was_read(with_her: bool) -> None:
    """A frame that a program puts into an engine itself would leave without the mark."""
    change = READINGS[0]
    read = read_table(change.file(with_her=with_her), "table.csv")
    known = dataclasses.replace(read.options, is_known=True)
    again = read_table(change.file(with_her=with_her), "table.csv", options=known)
    for frame, is_guessed in ((read.frame, True), (again.frame, False)):
        ledger = dp.MemoryLedger()
        curator = dp.Curator.open(
            FrameEngine(frame, told(change), key=ledger.key),
            told(change),
            budget=BUDGET,
            ledger=ledger,
        )
        release = curator.run(change.recipe(), EPSILON)
        assert release.guarantee.reading_from_data == is_guessed


def test_a_mark_that_follows_the_rows_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fault of before: only what was read otherwise than as texts had a mark."""
    planted = property(lambda options: bool(options.columns))
    monkeypatch.setattr(ReadOptions, "is_guessed", planted)
    change = next(each for each in READINGS if each.name == "days of eight digits")
    frames = [
        read_table(change.file(with_her=with_her), "table.csv").frame
        for with_her in (False, True)
    ]
    check_reading(by_program(change, frames[1]))
    with pytest.raises(AssertionError):
        check_reading(by_program(change, frames[0]))


@pytest.mark.parametrize("with_her", [False, True])
def test_a_search_of_a_file_says_how_it_was_read(with_her: bool) -> None:
    """Cells that are found privately would be those of other numbers."""
    change = next(
        each for each in READINGS if each.name == "decimal sign beyond the first rows"
    )
    frame = read_table(change.file(with_her=with_her), "table.csv").frame
    outcome = by_search(change, frame)
    check_reading(outcome)
    assert "reading_from_data" in outcome.surfaces["report of the search"]


@pytest.mark.parametrize("with_her", [False, True])
@pytest.mark.parametrize("change", READINGS[:3], ids=named)
def test_a_command_says_how_a_file_was_read(
    change: Change, command: Callable[..., Outcome], with_her: bool
) -> None:
    """A declaration that was written by hand would leave without the mark."""
    table = change.table(with_her=with_her)
    check_reading(command(change, table))
    release = command(change, table, told(change)).release
    assert release.guarantee.reading_from_data
    assert reading_words() in guarantee_words(release.guarantee)
    # twin: what somebody knows has no mark
    known = command(change, table, told(change), "--always-so").release
    assert not known.guarantee.reading_from_data


def test_a_codebook_of_another_table_does_not_tell_how_this_one_was_read() -> None:
    """Its mark would stay where the form is known, or be missing where it is not."""
    change = READINGS[0]
    for said in (False, True):
        schema = dataclasses.replace(told(change), reading_from_data=said)
        schema = Schema.from_json(schema.to_json())
        assert schema.reading_from_data == said
        read = read_table(change.file(with_her=True), "table.csv")
        check_reading(release_under(schema, change, read.frame))
        known = dataclasses.replace(read.options, is_known=True)
        frame = read_table(change.file(with_her=True), "t.csv", options=known).frame
        outcome = release_under(schema, change, frame)
        assert not outcome.release.guarantee.reading_from_data


def test_marks_of_single_columns_are_read_as_that_of_the_table() -> None:
    """Files of before marked columns whose rows decided how they were read."""
    change = READINGS[0]
    read = read_table(change.file(with_her=False), "table.csv")
    release = by_suggestion(change, read.frame).release
    content = json.loads(release.to_json())
    content.pop("digest")
    for part in (content["schema"], content["guarantee"]):
        part.pop("reading_from_data")
    content["guarantee"]["from_data"][COLUMN].append("reading")
    content["schema"]["columns"][0]["from_data"].append("reading")
    sealed = {**content, "digest": _digest(content)}
    again = dp.Release.from_dict(sealed)
    assert again.guarantee == release.guarantee
    assert again.schema.from_data == release.schema.from_data
    assert again.schema.reading_from_data
    # a guarantee that leaves it out is refused
    content["guarantee"]["from_data"][COLUMN].remove("reading")
    with pytest.raises(dp.ParameterError, match="was read"):
        dp.Release.from_dict({**content, "digest": _digest(content)})


def test_a_release_of_other_columns_is_the_same_if_she_has_one_left_out() -> None:
    """A mark in one world alone tells in the other one that she is not there."""
    change = next(each for each in CHANGES if each.marks == (LEFT_OUT_MARK,))
    without, with_her = pair(by_suggestion, change)
    differs = check(change, without, with_her)
    assert set(differs) <= set(DECLARED), (
        "declarations of all columns, and marked there"
    )
    assert differs, "she does decide it"


@pytest.mark.parametrize("change", NUMBERS, ids=named)
def test_what_is_found_privately_holds_nothing_of_hers(change: Change) -> None:
    """Cells that were paid for would come with a fact that nobody paid for."""
    without, with_her = pair(by_search, change)
    differs = check(change, without, with_her)
    kinds = {
        outcome.release.schema.column(change.column).kind
        for outcome in (without, with_her)
    }
    assert not differs or len(kinds) == 2, (change.name, differs)
    assert change.column not in {
        name for each in (without, with_her) for name in _taken(each)
    }


def _taken(outcome: Outcome) -> tuple[str, ...]:
    return outcome.release.schema.columns_from_data


@pytest.fixture
def command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Way:
    """The command line: a file, the schema that is suggested for it, a job and its
    release.
    """

    def way(
        change: Change,
        table: pd.DataFrame,
        schema: Schema | None = None,
        *options: str,
    ) -> Outcome:
        place = tmp_path / " ".join([str(len(table)), str(schema is None), *options])
        place.mkdir()
        settings = dataclasses.replace(Settings(data_dir=place / "var"), sources=None)
        store = Store(settings)
        ledger = SqlLedger(store)
        owners = Owners(store)
        monkeypatch.setattr(commands, "read_settings", lambda: settings)
        monkeypatch.setattr(start, "ledger", lambda: ledger)
        monkeypatch.setattr(start, "owners", lambda: owners)
        file = place / "table.csv"
        table.to_csv(file, index=False)
        read = read_table(file.read_bytes(), file.name).frame
        schema = schema or dp.suggest_schema(read)
        (place / "schema.json").write_text(schema.to_json())
        (place / "recipe.json").write_text(json.dumps(change.recipe().to_dict()))
        asked = [
            "--schema",
            place / "schema.json",
            "--recipe",
            place / "recipe.json",
            "--epsilon",
            1,
        ]
        assert commands.main(list(map(str, ["job", file, *asked, "--budget", 3]))) == 0
        (place / "job.json").write_text(capsys.readouterr().out)
        asked = ["release", place / "job.json", "--to", place / "out.json", *options]
        assert commands.main(list(map(str, asked))) == 0
        capsys.readouterr()
        release = dp.Release.from_json((place / "out.json").read_text())
        made = surfaces(release, schema)
        made["written job"] = (place / "job.json").read_text().replace(str(place), "")
        store.close()
        return Outcome(release=release, surfaces=made)

    return way


@pytest.mark.parametrize("change", CHANGES, ids=named)
def test_commands_say_the_same_without_her_or_mark_it(
    change: Change, command: Way
) -> None:
    """What the library marks would leave without a mark beside the data."""
    without, with_her = pair(command, change)
    check(change, without, with_her)
    check_texts(change, with_her)


def _lists_what_occurs(column: Column, table: pd.DataFrame) -> Column:
    """The fault of before: words for missing are those that occur, and a cell for them
    follows.
    """
    texts = as_text(table[column.name]).dropna().unique()
    words = tuple(text for text in texts if means_missing(text))
    rules = tuple(rule for rule in column.rules if rule != MISSING_WORDS_RULE)
    return dataclasses.replace(
        column,
        missing_tokens=words,
        missing=bool(words),
        rules=rules,
        **_unreadable(column, bool(words)),
    )


def _unreadable(column: Column, missing: bool) -> dict[str, bool]:
    return (
        {"unreadable_is_missing": missing}
        if "unreadable_is_missing" in column.facts
        else {}
    )


def test_a_list_of_what_occurs_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test itself must see the fault that it is there for."""
    suggested = suggest.suggest_schema

    def planted(table: pd.DataFrame) -> Schema:
        schema = suggested(table)
        columns = tuple(_lists_what_occurs(column, table) for column in schema.columns)
        return dataclasses.replace(schema, columns=columns)

    monkeypatch.setattr(dp, "suggest_schema", planted)
    change = next(each for each in CHANGES if each.name == "words for missing")
    with pytest.raises(AssertionError, match="words for missing"):
        check(change, *pair(by_suggestion, change))


def test_a_search_that_keeps_a_fact_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor may a search carry a synonym of the table into its answer."""
    widest = cells_of_numbers.with_public_cells

    def planted(column: Column) -> Column:
        wide = widest(column)
        return dataclasses.replace(wide, special=getattr(column, "special", ()))

    monkeypatch.setattr("dpcore.curator._cells.with_public_cells", planted)
    change = next(each for each in NUMBERS if each.name == "limits of detection")
    with pytest.raises(AssertionError, match="limits of detection"):
        check(change, *pair(by_search, change))
