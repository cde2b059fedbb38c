"""Random sequences of tables about the same people tell no protected count.

Each sequence has up to three tables of one to two columns. A town decides its district
and its zone; districts and zones cross, and some rows are coded wrong. Between tables
some people come, leave or move, towns appear and vanish, and cells are shown by way of
exception. After each table an attack by whole numbers over all people that fit what was
published, which shares no code with the library, looks at every hidden count of each
table, and at every town and crossing that no table shows. It is told what attackers may
know: the map with the errors in it, which counts still hold, also as the rest of a sum
that changed, and for some rules which cells hold people.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
import pytest

from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.curator import Curator
from dpcore.curator import curator as curating
from dpcore.errors import DpcoreError
from dpcore.suppression import HidingRule, PublishedTable, ShownColumn, TablePlan
from dpcore.suppression.plan import ExceptedCell
from tests.suppression.accounts import open_account
from tests.suppression.fits import Fits, Region, Rest, regions_of

SEQUENCES = 200
CHUNK = 20  # sequences in one test
DISTRICTS = {"A": "D1", "B": "D1", "C": "D2", "E": "D2", "F": "D1", "G": "D3"}
ZONES = {"A": "Z1", "B": "Z2", "C": "Z1", "E": "Z2", "F": "Z1", "G": "Z2"}
MAPPED = {(DISTRICTS[town], ZONES[town]) for town in DISTRICTS}
MIN_MAPPED = 5  # people of a town, some of whom are coded in another district
COLUMNS = ("town", "district", "zone", "sex")
RULES = (
    HidingRule(threshold=3),
    HidingRule(threshold=5),
    HidingRule(threshold=3, hide_zeros=True),
    HidingRule(threshold=3, hide_full=True),
    HidingRule(threshold=3, hide_zeros=True, hide_full=True, members=True),
)


def draw_people(draw: np.random.Generator) -> Counter[tuple[str, str]]:
    """Return people by town and sex."""
    towns = [*"ABCE", *(["G"] if draw.random() < 0.3 else [])]
    people = Counter[tuple[str, str]]()
    for town in towns:
        for sex in "fm":
            people[town, sex] = int(draw.choice([0, 1, 2, 4, 6, 9, 13]))
    return people


def change_people(
    draw: np.random.Generator, people: Counter[tuple[str, str]]
) -> Counter[tuple[str, str]]:
    """Return the people of a later file: some moved, came or left."""
    later = Counter(people)
    places = sorted(later)
    kind = draw.integers(0, 5)
    at = places[draw.integers(0, len(places))]
    if kind == 0:  # one moves
        other = places[draw.integers(0, len(places))]
        if later[at]:
            later[at] -= 1
            later[other] += 1
    elif kind == 1:  # many come
        later[at] += int(draw.integers(6, 20))
    elif kind == 2:  # a town comes
        later["F", "f"] += int(draw.integers(1, 12))
        later["F", "m"] += int(draw.integers(0, 12))
    elif kind == 3:  # a town goes
        for sex in "fm":
            later[at[0], sex] = 0
    else:  # some come here, some leave there
        later[at] += int(draw.integers(1, 10))
        other = places[draw.integers(0, len(places))]
        later[other] = max(0, later[other] - int(draw.integers(1, 10)))
    return later


def frame_of(
    people: Counter[tuple[str, str]], errors: Counter[tuple[str, str, str]]
) -> pd.DataFrame:
    """Return rows of people.

    Args:
        errors: people of a town and a sex with a wrong district.
    """
    towns = Counter[str]()
    for (town, _), number in people.items():
        towns[town] += number
    # a town of few people has no district that readers could know
    left = Counter(
        {key: number for key, number in errors.items() if towns[key[0]] >= MIN_MAPPED}
    )
    rows = []
    for (town, sex), number in sorted(people.items()):
        for _ in range(number):
            district = DISTRICTS[town]
            for wrong in ("D1", "D2"):
                if left[town, sex, wrong] > 0:
                    left[town, sex, wrong] -= 1
                    district = wrong
                    break
            rows.append((town, district, ZONES[town], sex))
    return pd.DataFrame(rows, columns=[*COLUMNS], dtype=object)


def draw_errors(draw: np.random.Generator) -> Counter[tuple[str, str, str]]:
    """Return up to two people whose district is coded wrong, in most sequences."""
    errors = Counter[tuple[str, str, str]]()
    for _ in range(int(draw.choice([0, 1, 1, 2]))):
        town = str(draw.choice(list("ABCE")))
        wrong = "D2" if DISTRICTS[town] == "D1" else "D1"
        errors[town, str(draw.choice(list("fm"))), wrong] += 1
    return errors


def list_errors(frame: pd.DataFrame) -> dict[tuple[str, str, str, str], int]:
    """Return the wrong pairs of a district and a town, with their people."""
    wrong = frame[frame["district"] != frame["town"].map(DISTRICTS)]
    return {
        ("district", district, "town", town): int(number)
        for (district, town), number in wrong.groupby(["district", "town"])
        .size()
        .items()
    }


def draw_plan(draw: np.random.Generator, frame: pd.DataFrame) -> TablePlan:
    """Return a plan over random columns, with groups and maybe an exception."""
    columns = [
        ("town",),
        ("district",),
        ("town", "sex"),
        ("town", "sex"),
        ("district", "sex"),
        ("town", "district"),
        ("zone",),
        ("zone", "sex"),
        ("zone", "sex"),
    ][draw.integers(0, 9)]
    shown = []
    for name in columns:
        if name == "town" and draw.random() < 0.4:
            towns = tuple(sorted(set(frame["town"])))
            halves = tuple(f"half {draw.integers(0, 2)}" for _ in towns)
            tree = Hierarchy(values=towns, levels=(towns, halves, ("*",) * len(towns)))
            levels = (1,) if draw.random() < 0.6 else None
            shown.append(ShownColumn(column=name, hierarchy=tree, levels=levels))
        elif name == "town" and "district" not in columns and draw.random() < 0.3:
            shown.append(
                ShownColumn(column=name, within=("district",), values_are_public=True)
            )
        else:
            shown.append(ShownColumn(column=name))
    exceptions: tuple[ExceptedCell, ...] = ()
    if draw.random() < 0.2:
        labels = tuple(
            str(frame[name].iloc[draw.integers(len(frame))]) for name in columns
        )
        exceptions = (ExceptedCell(labels=labels, reason="because of a law"),)
    rule = RULES[draw.integers(0, len(RULES))]
    return TablePlan(columns=tuple(shown), rule=rule, exceptions=exceptions)


@dataclasses.dataclass
class Step:
    """All tables so far, and the people of today.

    Attributes:
        tables: the newest are the last.
        new: number of tables that were published last, together.
    """

    tables: list[PublishedTable]
    frame: pd.DataFrame
    new: int = 1


def run_sequence(seed: int) -> Iterator[Step]:
    """Publish up to three tables; yield after each one."""
    draw = np.random.default_rng([51, seed])
    people = draw_people(draw)
    errors = draw_errors(draw)
    tables: list[PublishedTable] = []
    own: list[PublishedTable] = []
    curator: Curator | None = None
    for _ in range(3):
        if curator is None or draw.random() < 0.4:
            if curator is not None:
                people = change_people(draw, people)
            frame = frame_of(people, errors)
            if len(frame) < 10:
                return
            curator = open_account(frame)
            own = []
        others = [
            dataclasses.replace(table, account="earlier")
            for table in tables
            if table not in own
        ]
        try:
            made = curator.exact_table(draw_plan(draw, frame), others=others)
            table = curator.publish_table(made, others=others)
        except DpcoreError:
            continue
        tables.append(table)
        own.append(table)
        yield Step(tables=list(tables), frame=frame)


def count_region(frame: pd.DataFrame, region: Region) -> int:
    inside = pd.Series(True, index=frame.index)
    for name, values in region.items():
        inside &= frame[name].isin(values)
    return int(inside.sum())


def keep_what_holds(table: PublishedTable, frame: pd.DataFrame) -> PublishedTable:
    """Return a table without the counts that are others today.

    Rounded tables are refused after others came.
    """
    if table.rounding_base:
        return table
    counts = tuple(
        count if count is not None and count == count_region(frame, region) else None
        for region, count in zip(regions_of(table), table.counts, strict=True)
    )
    return dataclasses.replace(table, counts=counts)


def place_people(step: Step, tables: list[PublishedTable]) -> Fits:
    """Return all people that fit what still holds of tables."""
    listed = {
        axis.column: axis.groups[0].values
        for table in step.tables[-step.new :]
        for axis in table.layout.axes
    }
    values = {
        name: frozenset[str]().union(
            *(
                axis.groups[0].values
                for table in step.tables
                for axis in table.layout.axes
                if axis.column == name
            )
        )
        for name in step.frame.columns
    }
    members = any(table.rule.members for table in step.tables)
    occupied = [
        region
        for table in step.tables
        for region in regions_of(table)
        if members and count_region(step.frame, region)
    ]
    occupied += [
        region
        for table in tables
        for region, count in zip(regions_of(table), table.counts, strict=True)
        if count is None and table.rule.shows_zeros and count_region(step.frame, region)
    ]
    return Fits(
        [keep_what_holds(table, step.frame) for table in tables],
        [("district", "town", DISTRICTS), ("zone", "town", ZONES)],
        occupied,
        {name: values[name] - own for name, own in listed.items()},
        unlisted={
            name
            for name, own in values.items()
            if own and name not in listed and not own.issuperset(step.frame[name])
        },
        more={name: own for name, own in values.items() if own},
        errors=list_errors(step.frame),
        rests=[rest for table in tables for rest in find_rests(table, step.frame)],
    )


def find_rests(table: PublishedTable, frame: pd.DataFrame) -> list[Rest]:
    """Return what is left of sums that changed without the parts that changed, if it holds.

    Of a rounded table, it is how many people there are in all.

    Readers may know that people came or left in those parts alone.
    """
    if table.rounding_base:
        return [([{}], len(frame))]  # how many people there are is no secret
    regions = regions_of(table)
    today = [count_region(frame, region) for region in regions]
    rests: list[Rest] = []
    for parent, children in table.layout.equations:
        whole = table.counts[parent]
        if whole is None or whole == today[parent]:
            continue
        parts = [
            child
            for child in children
            if table.counts[child] not in (None, today[child])
        ]
        rest = whole - sum(table.counts[child] or 0 for child in parts)
        listed = sum(today[child] for child in children)
        if parts and rest == listed - sum(today[child] for child in parts):
            others = [regions[child] for child in children if child not in parts]
            if others:
                rests.append((others, rest))
    return rests


def find_told(step: Step, tried: Counter[str]) -> list[tuple[int, tuple[str, ...]]]:
    """Return the hidden cells that the newest tables give away, with their table."""
    fits = place_people(step, step.tables)
    earlier = step.tables[: -step.new]
    before = place_people(step, earlier) if earlier else None
    told = []

    def is_told(least: int, region: Region, without: Region | None = None) -> bool:
        def weigh(one: Fits) -> np.ndarray:
            outside = 0 if without is None else one.weigh(without)
            return one.weigh(region) - outside

        def find_ends(one: Fits) -> tuple[float, float]:
            return one.find_end(weigh(one), -1), one.find_end(weigh(one), 1)

        low, high = find_ends(fits)
        if high >= least:
            return False
        if not fits.find_end(weigh(fits) * ~fits.is_error, 1):
            return False  # nobody can be there, or few errors that readers know
        # what was told as closely without the newest tables is not their fault
        is_old = before is not None and find_ends(before) == (low, high)
        tried["told before"] += is_old
        return not is_old

    largest = max(table.rule.threshold for table in step.tables[-step.new :])
    for number, table in enumerate(step.tables):
        regions = regions_of(table)
        holding = keep_what_holds(table, step.frame)
        for cell, region in enumerate(regions):
            people = count_region(step.frame, region)
            least = table.rule.threshold
            count = None if table.rounding_base else table.counts[cell]
            if count is not None and holding.counts[cell] is None:
                # the change of a shown count
                least = max(least, largest)
                close = 0 < abs(count - people) < least
                tried["small changes"] += close
                if close and is_told(max(count, people) + least, region):
                    told.append((number, table.layout.labels(cell)))
            elif count is None and (
                0 < people < least or (not people and table.rule.hide_zeros)
            ):
                tried["small counts"] += 1
                if is_told(least, region):
                    told.append((number, table.layout.labels(cell)))
        if table.rule.hide_full:
            for parent, children in table.layout.equations:
                around = count_region(step.frame, regions[parent])
                for child in children:
                    inside = count_region(step.frame, regions[child])
                    if not around or inside != around or child in table.exceptions:
                        continue
                    tried["full cells"] += 1
                    if is_told(1, regions[parent], regions[child]):
                        told.append((number, table.layout.labels(child)))
    least = max(table.rule.threshold for table in step.tables)
    for region in list_unshown_groups(step):
        people = count_region(step.frame, region)
        if 0 < people < least and not is_told_by_one_table(step, region, least):
            tried["groups that no table shows"] += 1
            if is_told(least, region):
                told.append((-1, tuple(str(sorted(own)) for own in region.values())))
    return told


def list_unshown_groups(step: Step) -> list[Region]:
    """Return towns and crossings of districts and zones, also of each sex."""
    listed = {name for table in step.tables for name in table.layout.columns}
    places = [("town",), ("district", "zone")]
    found: list[Region] = []
    for names in places:
        if set(names) <= listed:
            rows = step.frame[[*names]].drop_duplicates().itertuples(index=False)
            for values in rows:
                if names == ("district", "zone") and values not in MAPPED:
                    continue  # a wrong row, of which readers know
                region = {
                    name: frozenset({value})
                    for name, value in zip(names, values, strict=True)
                }
                found.append(region)
                if "sex" in listed:
                    found += [{**region, "sex": frozenset(sex)} for sex in "fm"]
    return found


def is_told_by_one_table(step: Step, region: Region, least: int) -> bool:
    """Return whether a single table shows that few people are in a region."""
    for table in step.tables:
        fits = place_people(step, [table])
        if fits.find_end(fits.weigh(region), 1) < least:
            return True
    return False


def attack_sequences(
    seeds: range, run: Callable[[int], Iterator[Step]] = run_sequence
) -> tuple[list[tuple[int, object]], Counter[str]]:
    """Return what each sequence gives away, and what was tried."""
    told: list[tuple[int, object]] = []
    tried = Counter[str]()
    for seed in seeds:
        for step in run(seed):
            tried["tables"] += 1
            tried["with earlier ones"] += len(step.tables) > 1
            told += [(seed, cell) for cell in find_told(step, tried)]
    return told, tried


@pytest.mark.proof
@pytest.mark.parametrize("first", range(0, SEQUENCES, CHUNK))
def test_no_sequence_of_tables_tells_a_protected_count(first: int) -> None:
    told, tried = attack_sequences(range(first, first + CHUNK))
    assert told == []
    assert tried["tables"] > CHUNK
    assert tried["small counts"] > CHUNK


def test_a_few_sequences_tell_no_protected_count() -> None:
    """The quick part of the proof."""
    told, tried = attack_sequences(range(1_000, 1_006))
    assert told == []
    assert tried["small counts"]


@pytest.mark.proof
def test_tables_that_ignore_each_other_are_rejected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The twin: without the earlier tables, the same sequences give counts away."""
    right = curating.tabulate

    def ignore(engine, plan, unit, earlier, others):  # type: ignore[no-untyped-def]
        return right(engine, plan, unit, [], [])

    monkeypatch.setattr(curating, "tabulate", ignore)
    told, _ = attack_sequences(range(CHUNK))
    assert len(told) > CHUNK // 2


@pytest.mark.proof
@pytest.mark.parametrize("what", ["maps", "changes"])
def test_tables_without_one_part_of_the_attack_are_rejected(
    monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """The twin: towns taken as independent of districts, or changed rows as left out."""
    right = curating.tabulate

    def weaken(engine, plan, unit, earlier, others):  # type: ignore[no-untyped-def]
        if what == "changes":
            others = []
        found = right(engine, plan, unit, earlier, others)
        return dataclasses.replace(found, maps=[] if what == "maps" else found.maps)

    monkeypatch.setattr(curating, "tabulate", weaken)
    seeds = range(2 * CHUNK)
    assert any(attack_sequences(range(seed, seed + 1))[0] for seed in seeds)
