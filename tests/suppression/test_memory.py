"""Attacks that remember find the same as attacks that do not.

Two tables of the same people are attacked again and again while cells are hidden and
shown: towns by sex, and districts. Some rows have a rare pair of both.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from dpcore.suppression import HidingRule
from dpcore.suppression._equations import EquationSystem
from dpcore.suppression._memory import AttackMemory
from dpcore.suppression._programs import Programs
from dpcore.suppression.atoms import AtomBlocks
from dpcore.suppression.attack import attack
from dpcore.suppression.attacked import AttackedTable, KnownMap
from dpcore.suppression.outcome import Target
from tests.suppression.tables import count, groups, plan_of, show

RULE = HidingRule(threshold=4)
TOWNS, DISTRICTS, SEXES = 6, 3, 2
VERSIONS = 6  # of which cells are hidden


def run_versions(seed: int) -> Iterator[tuple[list[AttackedTable], list[KnownMap]]]:
    """Yield versions of two tables in which other cells are hidden, and a map."""
    draw = np.random.default_rng([11, seed])
    people = np.zeros((TOWNS, DISTRICTS, SEXES), dtype=np.int64)
    for town in range(TOWNS):
        people[town, town % DISTRICTS] = draw.choice([0, 1, 3, 6, 9, 14], SEXES)
    rare = {}
    for town in draw.permutation(TOWNS)[: draw.integers(0, 4)].tolist():
        wrong = (town + 1) % DISTRICTS
        people[town, wrong, 0] = draw.integers(1, 3)
        rare[f"t.{town}", f"d.{wrong}"] = int(people[town, wrong].sum())
    known = KnownMap(
        columns=("town", "district"),
        usual=frozenset((f"t.{one}", f"d.{one % DISTRICTS}") for one in range(TOWNS)),
        rare=rare,
        inner="town",
        is_doubtful=bool(draw.random() < 0.3),
    )
    plans = [
        plan_of(
            RULE,
            town=groups("t", *[1] * TOWNS),
            sex=groups("s", *[1] * SEXES),
        ),
        plan_of(RULE, district=groups("d", *[1] * DISTRICTS)),
    ]
    counts = [
        count(plans[0], people.sum(axis=1).tolist()),
        count(plans[1], people.sum(axis=(0, 2)).tolist()),
    ]
    for share in draw.choice([0.2, 0.6, 0.9, 1.0], VERSIONS):
        yield (
            [
                show(
                    plan,
                    own,
                    np.flatnonzero(
                        (own < RULE.threshold) | (draw.random(len(own)) < share)
                    ).tolist(),
                ).as_attacked(frozenset(), {})
                for plan, own in zip(plans, counts, strict=True)
            ],
            [known],
        )


def list_told(
    tables: list[AttackedTable],
    maps: list[KnownMap],
    memory: AttackMemory | None = None,
    *,
    stops_at_first: bool = False,
) -> set[tuple[str, Target]]:
    """Return what an attack tells, and to whom."""
    outcome = attack(tables, maps=maps, memory=memory, stops_at_first=stops_at_first)
    return {(one.reader, one.target) for one in outcome.revealed_cells}


def find_differences(seeds: range) -> tuple[int, int, int]:
    """Compare attacks with a memory of other versions to attacks without one.

    Returns: how many tell something, tell nothing, and find something else.
    """
    telling = silent = different = 0
    for seed in seeds:
        memories = [AttackMemory(), AttackMemory()]
        for tables, maps in run_versions(seed):
            right = list_told(tables, maps)
            remembered = list_told(tables, maps, memories[0])
            first = list_told(tables, maps, memories[1], stops_at_first=True)
            telling += bool(right)
            silent += not right
            different += remembered != right
            different += bool(first) != bool(right)
            targets = {target for _, target in right}
            different += not {target for _, target in first} <= targets
    return telling, silent, different


def test_attacks_that_remember_tell_the_same() -> None:
    """All that is told is the same, and the first thing told is one of them."""
    telling, silent, different = find_differences(range(12))
    assert min(telling, silent) >= 5
    assert different == 0


def test_people_that_do_not_fit_any_more_are_no_witness(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The twin: if nobody checks whether they fit, something that is told is missed."""
    monkeypatch.setattr(
        EquationSystem,
        "find_met",
        lambda self, people: np.ones(people.shape[1], dtype=bool),
    )
    monkeypatch.setattr(
        Programs,
        "keep_met_components",
        lambda self, people: (
            (people[self._free] - self._system.low[self._free, np.newaxis]).T
        ),
    )
    assert find_differences(range(12))[2] > 0


@pytest.mark.parametrize("seed", range(6))
def test_components_that_are_met_count_by_themselves(seed: int) -> None:
    """People who miss one equation are kept where no equation is missed, and only there."""
    tables, maps = next(run_versions(seed))
    system = EquationSystem(tables, AtomBlocks(tables, maps))
    programs = Programs(system)
    free = len(programs.room)
    counted = np.flatnonzero(abs(programs._equations).sum(axis=0) > 0)
    if not len(counted):
        return
    draw = np.random.default_rng(seed)
    value, solution = programs.maximize_over_integers(-draw.random(free).round(2))
    assert np.isfinite(value)
    assert solution is not None
    people = programs.spell_out(solution)
    assert system.find_met(people[:, np.newaxis]).all()
    wrong = people.copy()
    at = int(draw.choice(counted))
    wrong[np.flatnonzero(system.high > system.low)[at]] += 1
    assert not system.find_met(wrong[:, np.newaxis]).any()
    kept = programs.keep_met_components(np.column_stack([people, wrong]))
    assert (kept[0] == solution).all()
    own = programs._component == programs._component[at]
    assert np.isnan(kept[1][own]).all()
    assert (kept[1][~own] == solution[~own]).all()
