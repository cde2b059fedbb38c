"""People who are left out of a solution may be added to every atom that is marked.

A whole-number program of the test looks for people who fit all that readers know, and
who are in the block of that atom as said.
"""

from __future__ import annotations

import itertools

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from dpcore.suppression import HidingRule, PublishedTable, TablePlan
from dpcore.suppression._equations import EquationSystem
from dpcore.suppression._programs import Programs
from dpcore.suppression.atoms import AtomBlocks
from dpcore.suppression.attacked import AttackedTable, KnownMap
from tests.suppression.tables import Ints, count, groups, plan_of, show

SIZES = {"a": 3, "b": 2, "c": 3}  # values of the columns
LISTS = ("ab", "ab bc", "ab bc c", "ab bc ac", "abc ab", "ab c")
"""Tables by the letters of their columns."""


def round_each(plan: TablePlan, counts: Ints, ups: Ints, base: int) -> PublishedTable:
    """Return a table with counts that are each rounded, whether sums hold or not."""
    shown = (counts // base + (ups & (counts % base > 0))) * base
    return PublishedTable(
        layout=plan.build_layout(),
        counts=tuple(shown.tolist()),
        rule=plan.rule,
        rounding_base=base,
        people=int(counts[0]),
    )


def draw_system(seed: int) -> tuple[EquationSystem, int]:
    """Return what readers know of random tables, and how many people are left out."""
    draw = np.random.default_rng([66, seed])
    threshold = int(draw.integers(2, 6))
    base = threshold + int(draw.integers(1, 5))
    usual = draw.choice([1.0, 3.0, 8.0])
    people = draw.poisson(draw.gamma(1.0, usual, tuple(SIZES.values())))
    people[0, 0, 0] += base
    rare: dict[tuple[str, str], int] = {}
    usual_pairs = set()
    for a, b in itertools.product(range(SIZES["a"]), range(SIZES["b"])):
        pair = (f"a.{a}", f"b.{b}")
        if a % 2 != b:
            people[a, b] = draw.integers(0, 2, SIZES["c"])
            if people[a, b].sum():
                rare[pair] = int(people[a, b].sum())
        else:
            usual_pairs.add(pair)
    maps = [KnownMap(columns=("a", "b"), usual=frozenset(usual_pairs), rare=rare)]
    is_known = draw.random() < 0.4
    tables: list[AttackedTable] = []
    names = [*SIZES]
    for letters in draw.choice(LISTS).split():
        plan = plan_of(
            HidingRule(threshold=threshold),
            **{name: groups(name, *[1] * SIZES[name]) for name in letters},
        )
        others = tuple(at for at, name in enumerate(names) if name not in letters)
        counts = count(plan, people.sum(axis=others))
        if draw.random() < 0.75:
            ups = draw.integers(0, 2, len(counts))
            ups[0] = 0
            table = round_each(plan, counts, ups, base)
        else:
            hidden = np.flatnonzero(draw.random(len(counts)) < 0.6)
            table = show(plan, counts, hidden[hidden > 0].tolist())
        is_occupied = (counts > 0) & (draw.random(len(counts)) < 0.3)
        occupied = np.flatnonzero(is_occupied & (draw.random() < 0.5)).tolist()
        tables.append(table.as_attacked(frozenset(occupied), {}))
    blocks = AtomBlocks(tables, maps if is_known else [])
    system = EquationSystem(tables, blocks, counted_pairs=range(len(rare)))
    return system, threshold


def can_be_added(system: EquationSystem, people: Ints, atom: int) -> bool:
    """Return whether everybody fits if the people in the block of an atom are these."""
    block = int(np.searchsorted(system.blocks.starts, atom, side="right")) - 1
    start, end = system.blocks.starts[block : block + 2]
    low, high = np.zeros(system.size), np.full(system.size, np.inf)
    low[start:end] = high[start:end] = people[start:end]
    limits = [LinearConstraint(system.matrix, system.sums, system.sums)]
    if len(system.min_known_sums):
        limits.append(LinearConstraint(system.known_sums, system.min_known_sums))
    result = milp(
        np.zeros(system.size),
        constraints=limits,
        integrality=np.ones(system.size),
        bounds=Bounds(low, high),
    )
    return result.x is not None


def test_people_who_are_left_out_fit_wherever_they_may_be_added() -> None:
    """Of 486 places, about 400 are found if atoms without room are asked too."""
    added = 0
    for seed in range(300):
        system, people = draw_system(seed)
        programs = Programs(system)
        found = programs.find_floating_solution(people)
        if found is None:
            continue
        solution, can_rise = found
        placed = programs.spell_out(solution)
        for atom in np.flatnonzero(system.high > system.low)[can_rise].tolist():
            everybody = placed.copy()
            everybody[atom] += people
            added += 1
            assert can_be_added(system, everybody, atom), (seed, atom)
    assert added > 460
