"""Pairs of binary columns, measured by the difference of their cells."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import dpcore as dp
from dpcore.mechanisms.measurer import Measurer
from dpcore.mechanisms.rehearsal import Rehearsal
from dpcore.schema import Domain
from dpcore.synthesis._consistency import combine_evidence
from dpcore.synthesis.discrete import _learner as learner
from dpcore.synthesis.discrete._binary_contrasts import (
    complete_contrasts,
    contrast_error,
    effective_cells,
    measure_cliques,
    pool_draws,
    signed_columns,
)
from dpcore.synthesis.discrete._spanning_tree import triangles
from dpcore.tables import counts
from dpcore.tables.counts import Marginal
from tests.synthesis.standin import random_table

LOSS = dp.ZCDP(rho="0.02")
BINARY = 50
CLIQUES = {("c0", "c1"): 1.0, ("c2", "c0"): 2.0, ("c1",): 1.0, ("c2",): 1.0}
SIZES = (2, 2, 3)


def surely(squares: float, number: int) -> bool:
    """Whether a sum of so many squares of standard normals is no surprise, at one in a
    million.
    """
    low, high = stats.chi2.ppf([5e-7, 1 - 5e-7], number)
    return bool(low < squares < high)


def test_the_noise_is_what_a_difference_states() -> None:
    """A wrong variance gives wrong intervals, and weights a noisy table over a sure
    one.
    """
    table = random_table(np.random.default_rng(4), 500, SIZES)
    exact = {clique: table.count(clique, {}) for clique in [*CLIQUES, (), ("c0",)]}
    known = [
        Marginal(
            clique=c, values=exact[c].astype(float), variance=1e-9, noise="gaussian"
        )
        for c in ((), ("c0",), ("c1",), ("c2",))
    ]
    squares = 0.0
    number = 0
    biased = 0.0
    for _ in range(150):
        measured = measure_cliques(table.measurer(LOSS), CLIQUES, LOSS)
        for each in complete_contrasts(table.domain, [*known, *measured]):
            off = each.values - exact[each.clique]
            if each.signed and len(each.clique) == 2:
                free = math.prod(table.domain.size(n) - 1 for n in each.clique)
                squares += float((off**2).sum()) / (each.variance * off.size) * free
                number += free
                assert abs(off.sum()) < 0.1  # the number of rows was known
            biased += float(off.ravel()[0]) / each.variance**0.5
    assert surely(squares, number)
    assert not surely(squares * 2, number)  # the twin: half of the variance
    assert abs(biased) < 5 * (150 * len(CLIQUES)) ** 0.5


def test_a_pair_of_binary_columns_costs_a_quarter() -> None:
    """Unless the same loss leaves a quarter of the variance on what the pair adds,
    nothing is gained.
    """
    table = random_table(np.random.default_rng(5), 500, SIZES)
    (pair,) = measure_cliques(table.measurer(LOSS), {("c0", "c1"): 1.0}, LOSS)
    (plain,) = table.measurer(LOSS).measure([("c0", "c1")], LOSS)
    assert pair.signed
    assert pair.own == plain.variance / 4
    assert effective_cells(table.domain, ("c0", "c1"), LOSS) == 2
    assert signed_columns(table.domain, ("c2", "c0"), LOSS) == ("c0",)
    assert signed_columns(table.domain, ("c0", "c1"), dp.PureDP(epsilon=1)) == ()


def test_a_stored_difference_stays_one() -> None:
    """Read again as a whole table, a later release would trust it for what it never
    measured.
    """
    table = random_table(np.random.default_rng(6), 500, SIZES)
    for each in measure_cliques(table.measurer(LOSS), CLIQUES, LOSS):
        again = Marginal.from_dict(each.to_dict())
        assert type(again) is type(each)
        assert again.to_dict() == each.to_dict()


def test_noise_alone_is_no_difference() -> None:
    """A pair would be chosen for its noise."""
    signs = np.array([[1.0, -1.0], [-1.0, 1.0]])
    told = Marginal(
        clique=("a", "b"),
        values=50 + 5 * signs,
        variance=25.0,
        noise="gaussian",
        signed=("a", "b"),
        own=100.0,
    )
    estimate = np.full((2, 2), 50.0)
    assert contrast_error([told], estimate) == 0
    assert contrast_error([told], estimate - 25 * signs) == (120**2 - 2 * 20**2) ** 0.5


def test_draws_of_one_difference_are_one() -> None:
    """A later round would count what an earlier one told a second time, or lose it."""
    table = random_table(np.random.default_rng(7), 500, SIZES)
    first, second = (
        measure_cliques(table.measurer(LOSS), CLIQUES, LOSS.share(part))
        for part in (0.25, 0.5)
    )
    both = pool_draws([*first, *second])
    assert [each.clique for each in both] == [each.clique for each in first]
    for each, one, other in zip(both, first, second, strict=True):
        expected = (
            one.values / one.variance + other.values / other.variance
        ) * each.variance
        np.testing.assert_allclose(each.values, expected)
        assert each.variance == pytest.approx(
            1 / (1 / one.variance + 1 / other.variance)
        )
        assert type(each) is type(one)
        if each.own is not None and one.own is not None:
            assert each.own / each.variance == pytest.approx(one.own / one.variance)


def test_triples_come_in_the_order_of_the_columns() -> None:
    """Among equals another one would be measured whenever Python hashes texts another
    way.
    """
    names = tuple(f"c{i}" for i in range(12))
    pairs = [(b, a) for i, a in enumerate(names) for b in names[:i]]
    assert triangles(names, pairs[::-1]) == list(itertools.combinations(names, 3))


def test_no_sums_are_refused_once_it_is_charged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The dry run sees no pair of binary columns, so what an engine refused would be
    paid for in vain.
    """
    monkeypatch.setattr(counts, "MAX_TOTAL_CELLS", 12_000)
    monkeypatch.setattr(learner, "MAX_SWEEPS", 1)
    rng = np.random.default_rng(8)
    wide = rng.choice([3, 200, 640, 997], 2000)
    binary = {
        f"b{i}": (wide == (3, 200, 640, 997)[i % 4]) == (rng.random(2000) < 0.9)
        for i in range(BINARY)
    }
    frame = pd.DataFrame({"wide": wide} | binary)
    schema = dp.Schema(
        columns=(
            dp.Integer("wide", low=0, high=999),
            *(dp.Categorical(f"b{i}", categories=(False, True)) for i in range(BINARY)),
        ),
        unit=dp.PrivacyUnit(max_rows=1),
    )
    asked: list[tuple[bool, tuple[str, ...], int]] = []
    sums = Measurer.measure_sums

    def spied(
        self: Measurer, by: tuple[str, ...], entries: list[object], loss: dp.ZCDP
    ) -> object:
        asked.append((isinstance(self, Rehearsal), by, len(entries)))
        return sums(self, by, entries, loss)  # type: ignore[arg-type]

    monkeypatch.setattr(Measurer, "measure_sums", spied)
    curator = dp.Curator.open(
        frame, schema, budget=dp.ZCDP(rho=5), ledger=dp.MemoryLedger()
    )
    weights = {("wide", name): 100.0 for name in binary}
    curator.run(dp.Adaptive(rounds=1, weights=weights, max_cells=5000), dp.ZCDP(rho=1))
    dry = [entries for rehearsed, _, entries in asked if rehearsed]
    wide_ones = [entries for _, by, entries in asked if by == ("wide",)]
    assert dry[0] == BINARY  # the columns; which pairs stand out of its noise is chance
    assert max(wide_ones) == 12_000 // 1000
    assert sum(wide_ones) > max(wide_ones)  # the twin: all in one are refused
    with pytest.raises(dp.LimitError):
        counts.check_cells(schema.domain, [("wide",)] * sum(wide_ones))


def test_a_column_is_told_no_better_by_its_pairs() -> None:
    """Sums over a completed table would be said to be surer than the column that it was
    completed from.
    """
    signs = np.array([1.0, -1.0])
    parts = (((), 400.0, 1.0), (("c0",), 10 * signs, 100.0), (("c1",), 10 * signs, 1.0))
    measured = [
        Marginal(
            clique=c, values=v, variance=own / 2, noise="gaussian", signed=c, own=own
        )
        if c
        else Marginal(clique=c, values=np.array(v), variance=own, noise="gaussian")
        for c, v, own in parts
    ]
    both = np.multiply.outer(signs, signs)
    pair = Marginal(
        clique=("c0", "c1"),
        values=both,
        variance=0.25,
        noise="gaussian",
        signed=("c0", "c1"),
        own=1.0,
    )
    domain = Domain(names=("c0", "c1"), sizes=(2, 2))
    (_, column, _, table) = complete_contrasts(domain, [*measured, pair])
    told = combine_evidence(domain, [*measured, pair], ("c0", "c1"))
    alone = combine_evidence(domain, [*measured, pair], ("c0",))
    assert told is not None
    assert alone is not None
    first = told.sum({"c0": np.array([True, False])})
    assert first.variance == pytest.approx(alone.table().variance)
    # the twin: as if its cells erred apart
    assert first.variance >= column.variance > 2 * table.variance
