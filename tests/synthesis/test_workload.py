"""Which tables are measured for the cliques that are wanted."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import dpcore as dp
from dpcore.schema.domain import Clique, Domain
from dpcore.synthesis.contrasts import noisy_cells
from dpcore.synthesis.graph.junction_tree import Room
from dpcore.synthesis.workload import LEFT_NOISE, believed, choose, expected_error, join


def cost(domain: Domain, tables: dict[Clique, list[Clique]], power: float) -> float:
    """The expected error in all, with the loss split best, as `join` states it."""
    parts = (
        sum(math.sqrt(domain.cells(table) * domain.cells(clique)) for clique in held) ** (1 / power)
        for table, held in tables.items()
    )
    return float(sum(parts) ** power)


def joined(domain: Domain, chosen: list[Clique], power: float, limit: int = 10**6) -> dict[Clique, float]:
    return join(domain, chosen, dict.fromkeys(chosen, 1.0), Room(domain, limit, chosen), power)


@pytest.mark.parametrize("power", [1.5, 2.0])
def test_small_columns_are_measured_together_and_large_ones_in_pairs(power: float) -> None:
    """Many small tables would share the loss where one says all of them; or one huge table would drown."""
    names = ("a", "b", "c", "d")
    pairs = list(itertools.combinations(names, 2))
    assert joined(Domain(names=names, sizes=(2,) * 4), pairs, power) == {names: 1.0}
    apart = joined(Domain(names=names, sizes=(60,) * 4), pairs, power)
    assert sorted(apart) == pairs
    assert list(apart.values()) == pytest.approx([1 / 6] * 6)


def test_a_full_tree_joins_nothing() -> None:
    """The limit of cells, and with it memory and time, would not hold."""
    names = ("a", "b", "c", "d")
    domain = Domain(names=names, sizes=(2,) * 4)
    pairs = list(itertools.combinations(names, 2))
    for limit, longest in ((15, 3), (16, 4)):
        tables = join(domain, pairs, dict.fromkeys(pairs, 1.0), Room(domain, limit, pairs[:3]), 1.5)
        assert max(map(len, tables)) == longest


@pytest.mark.parametrize("power", [1.5, 2.0])
def test_joining_never_costs_and_loses_nothing(power: float) -> None:
    """A pair that was worth measuring would be left out, or told worse than alone."""
    names = tuple("abcdefg")
    pairs = list(itertools.combinations(names, 2))
    for seed in range(60):
        sizes = tuple(2 + (seed * (i + 3) + i * i) % 7 for i in range(7))
        domain = Domain(names=names, sizes=sizes)
        chosen = [pair for i, pair in enumerate(pairs) if (seed * 7 + i * 5) % 3]
        tables = joined(domain, chosen, power)
        assert sum(tables.values()) == pytest.approx(1)
        homes = {pair: min((t for t in tables if set(pair) <= set(t)), key=domain.cells) for pair in chosen}
        held = {table: [pair for pair in chosen if homes[pair] == table] for table in tables}
        assert cost(domain, held, power) <= cost(domain, {pair: [pair] for pair in chosen}, power) * 1.0001


def test_everything_worth_its_noise_is_tried_for_room() -> None:
    """Where the tree has room for all, a choice that ends after so many would leave relations out."""
    names = tuple(f"c{i}" for i in range(16))
    domain = Domain(names=names, sizes=(2,) * 16)
    pairs = list(itertools.combinations(names, 2))
    loss = dp.ZCDP(rho=1)

    def chosen(errors: dict[Clique, float]) -> list[Clique]:
        weights = dict.fromkeys(errors, 1.0)
        return list(choose(domain, errors, weights, loss=loss, rows=1, limit=10**6)[0])

    tables = chosen({pair: 1000.0 + i for i, pair in enumerate(pairs)})
    assert all(any(set(pair) <= set(table) for table in tables) for pair in pairs)
    noise = LEFT_NOISE * expected_error(1, loss, 1) * noisy_cells(domain, pairs[0], loss)
    assert chosen({pairs[0]: 1.1 * noise, pairs[1]: 0.9 * noise, pairs[2]: -5.0}) == [pairs[0]]


def test_errors_of_noise_alone_are_not_told_apart() -> None:
    """The largest of many noisy errors would be measured although nothing is there."""
    rng = np.random.default_rng(3)
    pairs = list(itertools.combinations("abcdefghijklmnop", 2))
    noise = dict(zip(pairs, rng.normal(5, 10, len(pairs)), strict=True))
    assert list(believed(noise, 10).values()) == pytest.approx([np.mean(list(noise.values()))] * len(pairs))
    assert list(believed(noise, 10)) == sorted(pairs, key=noise.__getitem__, reverse=True)
    assert believed(noise, 5) == noise
    strong = noise | {pairs[0]: 150.0}
    assert believed(strong, 10) == strong
    assert believed({pairs[0]: 7.0}, 10) == {pairs[0]: 7.0}
