"""Noise taken off wide tables by what their neighboring cells say."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import dpcore as dp
from dpcore.schema.domain import Clique, Domain
from dpcore.synthesis.discrete._columns import measure_columns
from dpcore.synthesis.discrete._smoothing import smooth_table
from dpcore.synthesis.discrete.constraints import Constraints
from dpcore.synthesis.discrete.model import SyntheticModel
from dpcore.tables.counts import Marginal, Values
from tests.synthesis.standin import Table

DEVIATION = 40.0
RUNS = 200
AGES = 20_000 * np.exp(-0.5 * ((np.arange(80) - 25) / 15) ** 2) / 38
HOURS = np.where(np.arange(80) % 10 == 0, 2_000.0, 30.0) + 20_000.0 * (
    np.arange(80) == 40
)
CODES = np.random.default_rng(2).dirichlet(np.full(80, 0.7)) * 50_000


def noisy(values: Values, clique: Clique = ("a",)) -> Marginal:
    return Marginal(
        clique=clique, values=values, variance=DEVIATION**2, noise="gaussian"
    )


def by_every_beginning(values: Values) -> Values:
    """Draw Haar's differences of each of 32 shifts by themselves, and average: the twin
    by definition.
    """
    ring = np.concatenate([values, values[::-1]])
    total = np.zeros(len(ring))
    for shift in range(32):
        means = np.roll(ring, -shift)
        lost = []
        for _ in range(5):
            differences = (means[0::2] - means[1::2]) / np.sqrt(2)
            means = (means[0::2] + means[1::2]) / np.sqrt(2)
            near = sum(np.roll(differences**2, place) for place in range(-2, 3)) / 5
            lost.append(differences * np.maximum(0, 1 - 1.2 * DEVIATION**2 / near))
        for differences in reversed(lost):
            means = np.stack(
                [means + differences, means - differences], axis=1
            ).ravel() / np.sqrt(2)
        total += np.roll(means, shift)
    return np.asarray(total[: len(values)] / 32)


def test_it_is_the_average_over_all_beginnings() -> None:
    """The recursion, which looks at cells five times, would be another estimate than is
    named.
    """
    values = AGES + np.random.default_rng(1).normal(0, DEVIATION, 80)
    np.testing.assert_allclose(
        smooth_table(noisy(values)).values, by_every_beginning(values), atol=1e-8
    )
    once = smooth_table(noisy(np.roll(values, 1))).values
    assert np.abs(once - by_every_beginning(values)).max() > 1  # the twin: other values


def risk(
    shape: Values, take_off: Callable[[Marginal], Marginal]
) -> tuple[float, float]:
    """Return the mean squared error in variances of the noise, and what is stated of
    it.
    """
    rng = np.random.default_rng(3)
    tables = [
        take_off(noisy(shape + rng.normal(0, DEVIATION, shape.shape)))
        for _ in range(RUNS)
    ]
    off = np.mean([(each.values - shape) ** 2 for each in tables])
    return float(off) / DEVIATION**2, float(
        np.mean([each.variance for each in tables])
    ) / DEVIATION**2


def test_a_smooth_column_loses_noise_and_a_rough_one_nothing() -> None:
    """Ages would keep three times their noise, or hours their spikes lose their
    height.
    """

    # the twin: means of five neighbors, whatever they say
    def runs(table: Marginal) -> Marginal:
        return noisy(
            np.convolve(
                np.pad(table.values, 2, mode="edge"), np.full(5, 0.2), mode="valid"
            )
        )

    error, stated = risk(AGES, smooth_table)
    assert error < 0.4
    assert stated == pytest.approx(error, rel=0.25)
    for rough in (HOURS, CODES):
        error, stated = risk(rough, smooth_table)
        assert error < 1.05
        assert 0.7 * error < stated <= 1
        assert risk(rough, runs)[0] > 2


def test_few_cells_and_sums_stay() -> None:
    """Twenty kinds would be drawn to their neighbors in the alphabet, or a column lose
    rows.
    """
    values = np.random.default_rng(4).normal(100, DEVIATION, (3, 50))
    few = noisy(values[:, :20], ("a", "b"))
    pair = smooth_table(noisy(values, ("a", "b")))
    assert smooth_table(few) is few
    np.testing.assert_allclose(pair.values.sum(axis=1), values.sum(axis=1))
    turned = smooth_table(noisy(values.T, ("b", "a")))
    # along the longest axis, wherever that is
    np.testing.assert_allclose(turned.values.T, pair.values)


def test_what_is_published_keeps_its_noise() -> None:
    """Intervals would be too narrow, and a later release would average what is no
    independent draw.
    """
    domain = Domain(names=("age", "sex"), sizes=(80, 2))
    rng = np.random.default_rng(5)
    codes = {"age": rng.binomial(79, 0.4, 5_000), "sex": rng.integers(0, 2, 5_000)}
    measurer = Table(codes, domain).measurer(dp.ZCDP(rho="1/500"))
    columns = measure_columns(measurer, Constraints(), ())
    inside = {each.clique: each.variance for each in columns.measurements}
    drawn = {each.clique: each for each in columns.raw_measurements}
    assert np.array_equal(drawn["age",].values, np.rint(drawn["age",].values))
    merged = 80 / columns.grouping.group_domain.size("age")
    assert inside["age",] < 0.9 * merged * drawn["age",].variance
    marginals, model = dp.Tree().fit(
        Table(codes, domain).measurer(dp.ZCDP(rho="1/500")), lambda *_: None
    )
    assert isinstance(model, SyntheticModel)
    tables = [
        *marginals.values(),
        *(each for each in model.measurements if each.clique == ("age",)),
    ]
    for table in tables:
        if table.clique == ("age",):
            assert np.array_equal(table.values, np.rint(table.values))


def test_the_number_of_rows_is_the_best_mean_of_what_was_measured() -> None:
    """The total would have more noise than its interval says: smoothed tables add up as
    before. Differences of merged cells tell no total.
    """
    domain = Domain(names=("age", "day", "job"), sizes=(80, 200, 3))
    rng = np.random.default_rng(6)
    codes = {
        name: rng.integers(0, size, 500)
        for name, size in zip(domain.names, domain.sizes, strict=True)
    }
    _, model = dp.Adaptive().fit(
        Table(codes, domain).measurer(dp.ZCDP(rho="1/100")), lambda *_: None
    )
    assert isinstance(model, SyntheticModel)
    tables = [table for table in model.measurements if not table.signed]
    sums = np.array([table.values.sum() for table in tables])
    weights = np.array([1 / (table.variance * table.values.size) for table in tables])
    assert model.total == pytest.approx(np.average(sums, weights=weights), abs=0.01)
