"""Intervals of tables that were made to agree hold as often as they say."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

import dpcore as dp
from dpcore.accounting.loss import Loss, split_loss
from dpcore.mechanisms._noise import add_discrete_gaussian, add_discrete_laplace
from dpcore.mechanisms.sensitivity import noise_scale, noise_variance
from dpcore.schema import Domain
from dpcore.synthesis._consistency import make_consistent
from dpcore.tables.counts import Marginal, half_width
from tests.statistical import laws
from tests.tiers import but_first

DOMAIN = Domain(names=("a", "b"), sizes=(3, 4))
CLIQUES = (("a",), ("a", "b"))
DRAWS = 3_000
COMPARED = 20


def agreed(
    noise: Sequence[np.ndarray], scales: Sequence[float], parts: Sequence[Loss]
) -> Marginal:
    """The first table after agreement with the second."""
    law = "laplace" if isinstance(parts[0], dp.PureDP) else "gaussian"
    measured = [
        Marginal(
            clique=clique,
            values=values,
            variance=noise_variance(scale, part),
            noise=law,
        )
        for clique, values, scale, part in zip(
            CLIQUES, noise, scales, parts, strict=True
        )
    ]
    return make_consistent(DOMAIN, measured)[0]


def errors(loss: Loss, weights: tuple[int, int]) -> tuple[np.ndarray, Marginal]:
    """Errors of one cell of the first table, one an independent run; and that table of
    a run.

    Agreement is linear: a run's error is its noise in each cell times what one row in
    that cell does. Some runs are made to agree themselves, to see that it is.
    """
    draw = (
        add_discrete_laplace if isinstance(loss, dp.PureDP) else add_discrete_gaussian
    )
    parts = split_loss(loss, 2, weights)
    scales = [noise_scale(max_rows=1, queries=1, loss=part) for part in parts]
    noise = [
        draw(
            np.zeros((DRAWS, *DOMAIN.shape(clique)), dtype=np.int64), noise_scale=scale
        ).astype(float)
        for clique, scale in zip(CLIQUES, scales, strict=True)
    ]
    units = np.eye(sum(map(DOMAIN.cells, CLIQUES)))
    tables = [(unit[:3], unit[3:].reshape(3, 4)) for unit in units]
    does = [agreed(table, scales, parts).values[0] for table in tables]
    found = np.hstack([each.reshape(DRAWS, -1) for each in noise]) @ does
    runs = [
        agreed(each, scales, parts)
        for each in zip(*(each[:COMPARED] for each in noise), strict=True)
    ]
    assert np.allclose([run.values[0] for run in runs], found[:COMPARED])
    return found, runs[-1]


def holds(found: np.ndarray, width: float, level: float) -> bool:
    """Whether so many errors within the width are no wonder at this level."""
    return laws.at_least(int((np.abs(found) <= width + 1e-9).sum()), DRAWS, level)


@pytest.mark.parametrize("weights", but_first(1, [(1, 20), (10, 1), (1, 1)]))
@pytest.mark.parametrize(
    "loss",
    [
        *(dp.PureDP(epsilon=e) for e in ("0.1", "1", "4", "8")),
        *(dp.ZCDP(rho=r) for r in ("0.01", "1", "4")),
    ],
    ids=str,
)
def test_intervals_after_agreement_hold(loss: Loss, weights: tuple[int, int]) -> None:
    """An interval that holds less often than it says would have people trust wrong
    counts.
    """
    found, table = errors(loss, weights)
    for level in (0.5, 0.9, 0.95, 0.99):
        assert holds(found, table.half_width(level), level), (
            level,
            table.half_width(level),
        )


def test_intervals_of_single_draws_do_not_hold_after_agreement() -> None:
    """The twin: the interval of whole numbers, which pooled errors pass by a fraction,
    must be rejected.
    """
    found, table = errors(dp.PureDP(epsilon=8), (1, 1))
    assert not holds(found, half_width(table.variance, table.noise), 0.95)
