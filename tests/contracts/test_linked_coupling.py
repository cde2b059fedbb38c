"""The guarantee of linked tables: a person with all rows in both is added or removed.

See `coupling` for what is compared. Every recipe and question is asked of the view of
events, where a person has up to m rows and the columns of both tables are; the call
for both views is made with random rules.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import dpcore as dp
from dpcore.curator import curator as door
from dpcore.engines import frame
from dpcore.engines import linked as linking
from dpcore.evaluation.table.cells_of_numbers import (
    NumberCellsQuestion,
    with_public_cells,
)
from dpcore.evaluation.table.rows_of_people import RowsPerPersonQuestion
from dpcore.schema.schema import Schema
from dpcore.tables import digests
from tests.contracts.coupling import Ask, Pair, compare
from tests.contracts.test_coupling import ASKED, RULES, Plant, can_be_asked
from tests.linked_tables import linked_schema, neighbors, random_schema
from tests.tiers import but_first

CAPS = (1, 2, 5, 20, 50)


def opened(
    seed: int, linked: dp.LinkedSchema, budget: dp.PureDP | dp.ApproxDP
) -> list[dp.LinkedCurator]:
    """Curators of two neighbors with one key, in an order of their own."""
    rng = np.random.default_rng(seed)
    pairs = neighbors(rng, linked)
    ledgers = [dp.MemoryLedger(), dp.MemoryLedger()]
    ledgers[1].key = ledgers[0].key
    return [
        dp.LinkedCurator.open(*tables, linked, budget=budget, ledger=ledger)
        for tables, ledger in zip(pairs[:: 1 if seed % 2 else -1], ledgers, strict=True)
    ]


def both_views(seed: int, rule: str, max_rows: int) -> Pair:
    """The call for both views, with random rules."""
    linked = random_schema(np.random.default_rng(seed + 10_000), max_rows)
    budget, loss = RULES[rule]
    curators = opened(seed, linked, budget)
    of_view = {id(each.people): each for each in curators}

    def ask(curator: dp.Curator, request: str) -> Any:
        return of_view[id(curator)].synthesize(loss, request_id=request)

    return compare(curators[0].people, curators[1].people, ask, f"request {seed}")


def rows_of_people(loss: Any) -> Callable[[dp.Curator], Ask]:
    """The question of the suite, with the key of the events."""
    question = RowsPerPersonQuestion(column="person")
    return lambda _: (
        lambda curator, request: curator.evaluate_privately(
            question, loss, request_id=request
        )
    )


def one_view(name: str, rule: str, seed: int, max_rows: int, view: str) -> Pair:
    """A recipe or question on one view."""
    linked = linked_schema(max_rows)
    budget, loss = RULES[rule]
    first, second = (getattr(each, view) for each in opened(seed, linked, budget))
    ask = (ASKED | {"rows of people": rows_of_people})[name](loss)(first)
    if len(first.lines()) > 1:  # what the question is about was paid for on the first
        second.run(dp.Marginals(cliques=[("age", "sex"), ("pay",)]), loss)
    return compare(first, second, ask, f"request {seed}")


BOTH = [(rule, most) for most in CAPS for rule in RULES]


@pytest.mark.parametrize(("rule", "max_rows"), BOTH)
def test_both_views_together_lose_at_most_the_charge(rule: str, max_rows: int) -> None:
    """A person in both tables could be found by more than the loss says."""
    pair = both_views(BOTH.index((rule, max_rows)), rule, max_rows)
    assert pair.faults == []
    assert pair.draws > 0
    assert pair.end == "published"


@pytest.mark.proof
@pytest.mark.parametrize("max_rows", [*range(1, 51, 7), 50])
def test_on_many_neighbors(max_rows: int) -> None:
    """What one pair of tables does not show, another one may."""
    pairs = [
        both_views(1000 * max_rows + seed, rule, max_rows)
        for seed in range(12)
        for rule in ("epsilon", "rho")
    ]
    assert [pair.faults for pair in pairs if pair.faults] == []
    assert max(pair.share for pair in pairs) > 0


CASES = [
    (name, rule)
    for name in ASKED
    if name != "cells of numbers"  # which stands on a schema without cells
    for rule in RULES
    if can_be_asked(name, rule)
]


@pytest.mark.parametrize(("name", "rule"), but_first(len(CASES), CASES))
def test_every_recipe_and_question_on_the_events(name: str, rule: str) -> None:
    """A view would be less than a table: a recipe could read beside it."""
    place = CASES.index((name, rule))
    pair = one_view(name, rule, 500 + place, CAPS[place % len(CAPS)], "events")
    assert pair.faults == []
    assert (pair.draws > 0) == (pair.end == "published"), pair.end


def cell_search(seed: int, rule: str, max_rows: int) -> list[Pair]:
    """The search for cells of a number of people, and of one of events."""
    linked = linked_schema(max_rows)
    public = dataclasses.replace(
        linked,
        people=dataclasses.replace(
            linked.people, columns=(with_public_cells(linked.people.column("age")),)
        ),
        events=dataclasses.replace(
            linked.events, columns=(with_public_cells(linked.events.column("pay")),)
        ),
    )
    budget, loss = RULES[rule]
    curators = opened(seed, public, budget)
    pairs = []
    for view, name in (("people", "age"), ("events", "pay")):
        first, second = (getattr(each, view) for each in curators)
        question = NumberCellsQuestion(columns=(name,))

        def ask(
            curator: dp.Curator, request: str, asked: NumberCellsQuestion = question
        ) -> Any:
            return curator.evaluate_privately(asked, loss, request_id=request)

        pairs.append(compare(first, second, ask, f"request {seed} {view}"))
    return pairs


@pytest.mark.parametrize("rule", ["epsilon", "rho"])
@pytest.mark.parametrize("max_rows", [1, 5, 50])
def test_cells_are_found_within_the_charge(rule: str, max_rows: int) -> None:
    """A person with fifty stays would move fifty counts, and noise hide one."""
    pairs = cell_search(700 + max_rows, rule, max_rows)
    assert [pair.faults for pair in pairs] == [[], []]
    assert all(pair.draws > 0 for pair in pairs)


def test_cells_with_noise_for_one_event_are_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The twin of the test before: it would find nothing, whatever is wrong."""
    one_row_a_person(monkeypatch)
    faults = [
        fault
        for seed in range(20)
        for fault in cell_search(800 + seed, "rho", 5)[1].faults
    ]
    assert any("of the charge" in fault for fault in faults)


@pytest.mark.parametrize("name", ["Adaptive", "Tree", "Histogram", "Joint"])
def test_recipes_on_the_people(name: str) -> None:
    """Events of a person could show as several rows of people."""
    for seed, rule in enumerate(("epsilon", "rho")):
        pair = one_view(name, rule, 900 + seed, 20, "people")
        assert pair.faults == []


def no_cap(patch: pytest.MonkeyPatch) -> None:
    """All events of a person count, though the number of events is as declared."""
    views = linking.LinkedRows.views
    names = ["number of events", "event number"]

    def uncapped(self: Any, linked: dp.LinkedSchema, key: bytes) -> Any:
        most = linked.events.unit.max_rows
        wide = dataclasses.replace(linked.events.unit, max_rows=1_000)
        *tables, counts = views(self, linked.with_unit(wide), key)
        for table in tables:
            for name in names:
                if name in table:
                    table[name] = table[name].clip(upper=most)
        return (*tables, counts)

    patch.setattr(linking.LinkedRows, "views", uncapped)
    patch.setattr(frame, "find_counted_rows", lambda rows, *_: (None, {1: len(rows)}))


def one_row_a_person(patch: pytest.MonkeyPatch) -> None:
    """Noise is for a row of the events, not for the person."""
    build = door.build_measurer

    def for_a_row(engine: Any, schema: Schema, *given: Any) -> Any:
        unit = dataclasses.replace(schema.unit, max_rows=1)
        return build(engine, dataclasses.replace(schema, unit=unit), *given)

    patch.setattr(door, "build_measurer", for_a_row)


def numbers_across_people(patch: pytest.MonkeyPatch) -> None:
    """Events are numbered over all people, so that one moves those of others."""

    def number(events: Any, parents: Any, linked: Any, key: bytes) -> Any:
        ranks = digests.row_digests(events, key)[:, 0].argsort().argsort()
        return 1 + ranks % 2

    patch.setattr(linking, "_number_events", number)


def a_loss_for_each(patch: pytest.MonkeyPatch) -> None:
    """Each view is charged half of what it spends."""
    from dpcore.accounting.ledger import Charge

    patch.setattr(
        door, "Charge", lambda **given: Charge(**given | {"units": given["units"] // 2})
    )


# all events of a person have one sex, so that they are in one cell
FAULTS: dict[str, tuple[Plant, tuple[str, ...]]] = {
    "no cap": (no_cap, ("sex",)),
    "noise for a row": (one_row_a_person, ("sex",)),
    "numbers across people": (numbers_across_people, ("event number", "pay")),
    "half of the charge": (a_loss_for_each, ("sex",)),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_seen(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison would find nothing, whatever is wrong."""
    plant, columns = FAULTS[fault]
    budget, loss = RULES["rho"]
    ask = dp.Joint(columns=columns)

    def faults(pairs: int) -> Iterator[str]:
        for seed in range(pairs):
            linked = linked_schema(2, order_by="pay")
            first, second = (each.events for each in opened(seed, linked, budget))
            question = functools.partial(run, recipe=ask, loss=loss)
            yield from compare(first, second, question, f"request {seed}").faults

    assert list(faults(8)) == []
    plant(monkeypatch)
    # one pair in four shows it, by the key that orders rows: none of sixty in 4e-9
    assert any("of the charge" in each for each in faults(60))


def run(curator: dp.Curator, request: str, recipe: Any, loss: Any) -> Any:
    return curator.run(recipe, loss, request_id=request)
