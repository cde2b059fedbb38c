"""Which tables are measured for the cliques that are wanted."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy import optimize, stats

import dpcore as dp
from dpcore.schema.domain import Clique, Domain
from dpcore.synthesis.discrete._binary_contrasts import effective_cells
from dpcore.synthesis.discrete._workload import (
    FIT_NOISE_FACTOR,
    choose_cliques,
    denoise_errors,
    expected_error,
    join_cliques,
    split_over_columns,
)
from dpcore.synthesis.graph.junction_tree import BoundedTree


def cost(domain: Domain, tables: dict[Clique, list[Clique]], power: float) -> float:
    """The expected error in all, with the loss split best, as `join` states it."""
    parts = (
        sum(math.sqrt(domain.cells(table) * domain.cells(clique)) for clique in held)
        ** (1 / power)
        for table, held in tables.items()
    )
    return float(sum(parts) ** power)


def joined(
    domain: Domain, chosen: list[Clique], power: float, limit: int = 10**6
) -> dict[Clique, float]:
    return join_cliques(
        domain,
        chosen,
        dict.fromkeys(chosen, 1.0),
        BoundedTree(domain, limit, chosen),
        power,
    )


@pytest.mark.parametrize("power", [1.5, 2.0])
def test_small_columns_are_measured_together_and_large_ones_in_pairs(
    power: float,
) -> None:
    """Many small tables would share the loss where one says all of them; or one huge
    table would drown.
    """
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
        tables = join_cliques(
            domain,
            pairs,
            dict.fromkeys(pairs, 1.0),
            BoundedTree(domain, limit, pairs[:3]),
            1.5,
        )
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
        homes = {
            pair: min((t for t in tables if set(pair) <= set(t)), key=domain.cells)
            for pair in chosen
        }
        held = {
            table: [pair for pair in chosen if homes[pair] == table] for table in tables
        }
        assert (
            cost(domain, held, power)
            <= cost(domain, {pair: [pair] for pair in chosen}, power) * 1.0001
        )


def test_everything_worth_its_noise_is_tried_for_room() -> None:
    """Where the tree has room for all, a choice that ends after so many would leave
    relations out.
    """
    names = tuple(f"c{i}" for i in range(16))
    domain = Domain(names=names, sizes=(2,) * 16)
    pairs = list(itertools.combinations(names, 2))
    loss = dp.ZCDP(rho=1)

    def chosen(errors: dict[Clique, float]) -> list[Clique]:
        weights = dict.fromkeys(errors, 1.0)
        return list(
            choose_cliques(domain, errors, weights, loss=loss, max_rows=1, limit=10**6)[
                0
            ]
        )

    tables = chosen({pair: 1000.0 + i for i, pair in enumerate(pairs)})
    assert all(any(set(pair) <= set(table) for table in tables) for pair in pairs)
    noise = (
        FIT_NOISE_FACTOR
        * expected_error(1, loss, 1)
        * effective_cells(domain, pairs[0], loss)
    )
    assert chosen({pairs[0]: 1.1 * noise, pairs[1]: 0.9 * noise, pairs[2]: -5.0}) == [
        pairs[0]
    ]


def believed_by_hand(errors: list[float], deviation: float) -> list[float]:
    """Posterior means, with the likeliest law found by another optimizer, over the
    weights' logarithms.
    """

    def chances(logs: np.ndarray) -> np.ndarray:
        law = np.exp(logs - logs.max())
        near = stats.norm.pdf(np.subtract.outer(errors, errors) / deviation)
        joint: np.ndarray = near * law / law.sum()
        return joint

    best = optimize.minimize(
        lambda logs: -np.log(chances(logs).sum(axis=1)).sum(), np.zeros(len(errors))
    )
    joint = chances(best.x)
    means: list[float] = (joint @ errors / joint.sum(axis=1)).tolist()
    return means


def told(errors: list[float], deviation: float) -> list[float]:
    names = [(str(i),) for i in range(len(errors))]
    known = dict(zip(names, errors, strict=True))
    nothing = dict.fromkeys(names, 0.0)
    return list(
        denoise_errors(known, nothing, dict.fromkeys(names, deviation)).values()
    )


def test_what_is_believed_is_the_posterior_mean_under_the_likeliest_law() -> None:
    """Another optimizer must find the same; a step too few leaves noise, a wrong weight
    moves relations.
    """
    rng = np.random.default_rng(3)
    for strong in ([], [70.0], [40.0, 45.0, 90.0]):
        errors = [*rng.normal(0, 10, 14).tolist(), *strong]
        assert told(errors, 10) == pytest.approx(believed_by_hand(errors, 10), abs=1.5)
        # the twin: errors as they are
        assert max(np.abs(np.subtract(told(errors, 10), errors))) > 5


def test_errors_of_noise_alone_are_not_told_apart() -> None:
    """The largest of many noisy errors would be measured although nothing is there."""
    drawn = (5 + 10 * stats.norm.ppf((np.arange(120) + 0.5) / 120)).tolist()
    assert (
        np.abs(np.subtract(told(drawn, 10), 5)).max()
        < 5
        < np.abs(np.subtract(drawn, 5)).max() / 4
    )
    assert told(drawn, 0) == pytest.approx(drawn)
    assert told([7.0], 10) == [7.0]


def test_one_strong_relation_among_many_that_are_none_is_believed() -> None:
    """A table with one relation would lose half of its distance, and measure it too
    coarsely or never.
    """
    drawn = (10 * stats.norm.ppf((np.arange(35) + 0.5) / 35)).tolist()
    strong, *others = told([60.0, *drawn], 10)
    assert strong == pytest.approx(60, abs=3)
    assert max(others) < max(drawn) / 2  # of noise less than was drawn


def test_errors_that_noisy_columns_explain_are_no_reason_to_measure_a_pair() -> None:
    """Pairs of large columns err most where columns are noisy: one mean for all would
    send the loss to small ones, which err less; and their spread would be taken for
    relations.
    """
    pairs = list(itertools.combinations("abcdefghijklmnop", 2))
    drawn = np.random.default_rng(4).normal(5, 9, len(pairs))
    explained = {pair: 20.0 * i for i, pair in enumerate(pairs)}
    errors = {
        pair: explained[pair] + each for pair, each in zip(pairs, drawn, strict=True)
    }
    noise = dict.fromkeys(pairs, 9.0)
    assert (
        np.ptp(list(denoise_errors(errors, explained, noise).values()))
        < np.ptp(drawn) / 2
    )
    # the twin: unexplained, noise is taken for relations
    assert (
        np.ptp(list(denoise_errors(errors, dict.fromkeys(pairs, 0.0), noise).values()))
        > 2000
    )


def test_nothing_is_measured_that_gains_less_than_the_loss_does_elsewhere() -> None:
    """At low budgets a pair would be measured where its columns alone need the loss
    more.
    """
    domain = Domain(names=("a", "b", "c"), sizes=(8, 8, 8))
    loss = dp.ZCDP(rho=1)
    pair = ("a", "b")
    gain = 1000.0 - FIT_NOISE_FACTOR * expected_error(64, loss, 1)
    for elsewhere, parts in ((0.99 * gain, {pair: 1.0}), (1.01 * gain, {})):
        found, share, nodes = choose_cliques(
            domain,
            {pair: 1000.0},
            {pair: 1.0},
            loss=loss,
            max_rows=1,
            limit=10**6,
            gain_elsewhere=lambda rest, _, elsewhere=elsewhere: (
                elsewhere * (rest == loss)
            ),
        )
        assert (found, share) == (parts, len(parts))
        assert any(set(pair) <= set(node) for node in nodes) == bool(parts)


def test_a_strong_small_pair_is_measured_beside_columns_that_gain_more() -> None:
    """Where columns are many, all of the loss would go to them, and every relation
    would be lost.
    """
    domain = Domain(names=("a", "b", "c", "d"), sizes=(4, 2, 50, 50))
    loss = dp.ZCDP(rho=1)
    small = ("a", "b")
    large = ("c", "d")
    errors = {small: 200.0, large: 900.0}

    def elsewhere(rest: Any, measured: Any) -> float:
        assert small not in measured or rest.amount < loss.amount
        return 5000.0 * math.sqrt(rest.amount)

    found, share, nodes = choose_cliques(
        domain,
        errors,
        dict.fromkeys(errors, 1.0),
        loss=loss,
        max_rows=1,
        limit=10**6,
        gain_elsewhere=elsewhere,
    )
    assert found == {small: 1.0}
    assert 0 < share <= 0.25
    assert any(set(small) <= set(node) for node in nodes)
    assert not any(set(large) <= set(node) for node in nodes)


@pytest.mark.parametrize("loss", [dp.ZCDP(rho=0.5), dp.PureDP(epsilon=1)])
def test_columns_share_the_loss_so_that_all_pairs_together_err_least(
    loss: dp.ZCDP | dp.PureDP,
) -> None:
    """Even parts leave the columns with most cells, and all their pairs, in noise."""
    domain = Domain(names=tuple("abcd"), sizes=(2, 5, 30, 100))

    def error(parts: list[float]) -> float:
        return sum(
            expected_error(1, loss.share(part / sum(parts)), 1)
            * effective_cells(domain, (name,), loss)
            for name, part in zip(domain.names, parts, strict=True)
        )

    parts = list(split_over_columns(domain, domain.names, loss).values())
    assert error(parts) < 0.87 * error([1.0] * 4)
    rng = np.random.default_rng(5)
    for _ in range(200):  # no other split does better
        assert error(parts) <= error(
            [part * math.exp(rng.normal(0, 0.3)) for part in parts]
        ) * (1 + 1e-9)


def test_the_prior_of_many_errors_follows_from_some() -> None:
    """Of 20,000 errors of a wide table all would take longer than all else together."""
    rng = np.random.default_rng(6)
    drawn = rng.normal(0, 10, 6_000)
    drawn[::100] += 60
    few = np.sort(drawn)[:: len(drawn) // 2_000]
    many = np.array(told(drawn.tolist(), 10))
    alone = np.array(told(few.tolist(), 10))
    at = np.argsort(drawn)[:: len(drawn) // 2_000]
    assert np.abs(many[at] - alone).mean() < 1
    assert np.abs(many[1::100]).mean() < 3 < np.abs(drawn[1::100]).mean()
