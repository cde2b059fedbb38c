"""Pairs of binary columns, measured by the difference of their cells."""

from __future__ import annotations

import math

import numpy as np
from scipy import stats

import dpcore as dp
from dpcore.synthesis.consistency import Contrast, stored_marginal
from dpcore.synthesis.contrasts import completed, difference_off, measure_cliques, noisy_cells, signed_columns
from dpcore.tables.counts import Marginal
from tests.synthesis.standin import random_table

LOSS = dp.ZCDP(rho="0.02")
CLIQUES = {("c0", "c1"): 1.0, ("c2", "c0"): 2.0, ("c1",): 1.0, ("c2",): 1.0}
SIZES = (2, 2, 3)


def surely(squares: float, number: int) -> bool:
    """Whether a sum of so many squares of standard normals is no surprise, at one in a million."""
    low, high = stats.chi2.ppf([5e-7, 1 - 5e-7], number)
    return bool(low < squares < high)


def test_the_noise_is_what_a_difference_states() -> None:
    """A wrong variance gives wrong intervals, and weights a noisy table over a sure one."""
    table = random_table(np.random.default_rng(4), 500, SIZES)
    exact = {clique: table.count(clique, {}) for clique in [*CLIQUES, (), ("c0",)]}
    known = [
        Marginal(clique=c, values=exact[c].astype(float), variance=1e-9, noise="gaussian")
        for c in ((), ("c0",), ("c1",), ("c2",))
    ]
    squares, number, biased = 0.0, 0, 0.0
    for _ in range(150):
        measured = measure_cliques(table.measurer(LOSS), CLIQUES, LOSS)
        for each in completed(table.domain, [*known, *measured]):
            off = each.values - exact[each.clique]
            if isinstance(each, Contrast) and len(each.clique) == 2:
                free = math.prod(table.domain.size(n) - 1 for n in each.clique)
                squares += float((off**2).sum()) / (each.variance * off.size) * free
                number += free
                assert abs(off.sum()) < 0.1  # the number of rows was known
            biased += float(off.ravel()[0]) / each.variance**0.5
    assert surely(squares, number)
    assert not surely(squares * 2, number)  # the twin: half of the variance
    assert abs(biased) < 5 * (150 * len(CLIQUES)) ** 0.5


def test_a_pair_of_binary_columns_costs_a_quarter() -> None:
    """Unless the same loss leaves a quarter of the variance on what the pair adds, nothing is gained."""
    table = random_table(np.random.default_rng(5), 500, SIZES)
    (pair,) = measure_cliques(table.measurer(LOSS), {("c0", "c1"): 1.0}, LOSS)
    (plain,) = table.measurer(LOSS).measure([("c0", "c1")], LOSS)
    assert isinstance(pair, Contrast)
    assert pair.own == plain.variance / 4
    assert noisy_cells(table.domain, ("c0", "c1"), LOSS) == 2
    assert signed_columns(table.domain, ("c2", "c0"), LOSS) == ("c0",)
    assert signed_columns(table.domain, ("c0", "c1"), dp.PureDP(epsilon=1)) == ()


def test_a_stored_difference_stays_one() -> None:
    """Read again as a whole table, a later release would trust it for what it never measured."""
    table = random_table(np.random.default_rng(6), 500, SIZES)
    for each in measure_cliques(table.measurer(LOSS), CLIQUES, LOSS):
        again = stored_marginal(each.to_dict())
        assert type(again) is type(each)
        assert again.to_dict() == each.to_dict()


def test_noise_alone_is_no_difference() -> None:
    """A pair would be chosen for its noise."""
    signs = np.array([[1.0, -1.0], [-1.0, 1.0]])
    told = Contrast(
        clique=("a", "b"),
        values=50 + 5 * signs,
        variance=25.0,
        noise="gaussian",
        signed=("a", "b"),
        own=100.0,
    )
    estimate = np.full((2, 2), 50.0)
    assert difference_off([told], estimate) == 0
    assert difference_off([told], estimate - 25 * signs) == (120**2 - 2 * 20**2) ** 0.5
