"""The audit by runs on an invented table: what it proves of right and of broken noise."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import dpcore as dp
from dpcore.accounting.attacker import gaussian_mu
from dpcore.accounting.loss import AnyLoss
from dpcore.errors import UsageError
from dpcore.evaluation import audit_loss
from dpcore.evaluation.attacks._stored_tables import StoredTable, read_stored_tables
from dpcore.evaluation.attacks.loss_audit import loss_bound, max_right_chance
from dpcore.mechanisms import measurer
from dpcore.synthesis import Recipe
from tests.statistical import laws

SURE = 1 - laws.FALSE_ALARM
ROWS_OF_PERSON = 20
HISTOGRAM = dp.Schema(
    columns=(dp.Integer("v", low=0, high=299),),
    unit=dp.PrivacyUnit(max_rows=ROWS_OF_PERSON),
)
ONE_ROW = dp.Schema(columns=HISTOGRAM.columns, unit=dp.PrivacyUnit(max_rows=1))
COLUMNS = dp.Schema(
    columns=tuple(
        dp.Categorical(name, categories=tuple(range(size)))
        for name, size in {"p": 6, "q": 5, "r": 4, "s": 2, "t": 2}.items()
    ),
    unit=dp.PrivacyUnit(max_rows=ROWS_OF_PERSON),
)
SEVERAL = dp.Marginals(cliques=(("p", "q"), ("q", "r"), ("s", "t")), weights=(3, 2, 1))
ONE_ROW_EACH = dp.Schema(columns=COLUMNS.columns, unit=dp.PrivacyUnit(max_rows=1))
RUNS_OF_CURVE = 1_200
MU = 3.0
RHO = dp.ZCDP(rho="4.5")
EPSILON = dp.PureDP(epsilon=3)


def run_of(schema: dp.Schema, recipe: Recipe, loss: AnyLoss):
    def run(frame: pd.DataFrame) -> dp.Release:
        curator = dp.Curator.open(frame, schema, budget=loss, ledger=dp.MemoryLedger())
        return curator.run(recipe, loss)

    return run


def with_noise(monkeypatch: pytest.MonkeyPatch, name: str, factor: float) -> None:
    """Let the measurer draw noise of another scale than it should."""
    right = getattr(measurer, name)

    def scaled(counts: np.ndarray, *, noise_scale: float, **given: object):
        return right(counts, noise_scale=noise_scale * factor, **given)

    monkeypatch.setattr(measurer, name, scaled)


CASES = [
    # with the surcharge of discrete noise, see decision 0041
    (RHO, HISTOGRAM, gaussian_mu(ROWS_OF_PERSON / MU, ROWS_OF_PERSON), 1_000),
    (EPSILON, ONE_ROW, 3.0, 2_000),
]


@pytest.mark.proof
@pytest.mark.parametrize(("loss", "schema", "most", "runs"), CASES, ids=["mu", "pure"])
def test_right_noise_is_proved_and_not_refuted(
    loss: AnyLoss, schema: dp.Schema, most: float, runs: int
) -> None:
    """More than was stated would be a broken promise; less than nine tenths of it an
    audit that cannot see a scale that is off.
    """
    run = run_of(schema, dp.Histogram("v"), loss)
    found = audit_loss(run, schema, runs=runs, level=SURE)
    assert found.runs_per_side == runs // 2
    assert 0.9 * MU < found.proved_loss <= most
    assert found.stated_loss == pytest.approx(MU)
    assert found.measured_loss == pytest.approx(MU, rel=1e-4)


@pytest.mark.proof
@pytest.mark.parametrize(
    "recipe",
    [dp.Joint(("p", "q", "r")), dp.Tree(), dp.Adaptive()],
    ids=lambda r: r.kind,
)
def test_a_recipe_that_chooses_is_proved_too(recipe: Recipe) -> None:
    """A table that the attacker does not read, or reads wrongly, would hide a part of
    the loss.
    """
    found = audit_loss(run_of(COLUMNS, recipe, RHO), COLUMNS, runs=500, level=0.99)
    assert 0.9 * found.measured_loss < found.proved_loss <= found.max_provable_loss
    assert found.measured_loss > 0.97 * MU


@pytest.mark.proof
@pytest.mark.parametrize(("loss", "schema", "most", "runs"), CASES, ids=["mu", "pure"])
def test_a_scale_off_by_a_tenth_is_refuted(
    monkeypatch: pytest.MonkeyPatch,
    loss: AnyLoss,
    schema: dp.Schema,
    most: float,
    runs: int,
) -> None:
    """The twin: nine tenths of the noise must be caught at one in a million."""
    with_noise(monkeypatch, "add_discrete_gaussian", 0.9)
    with_noise(monkeypatch, "add_discrete_laplace", 0.9)
    run = run_of(schema, dp.Histogram("v"), loss)
    assert audit_loss(run, schema, runs=runs, level=SURE).proved_loss > most


def test_half_the_noise_is_refuted_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A quick run must catch what is far off."""
    with_noise(monkeypatch, "add_discrete_gaussian", 0.5)
    found = audit_loss(
        run_of(HISTOGRAM, dp.Histogram("v"), dp.ZCDP(rho="0.5")),
        HISTOGRAM,
        runs=120,
        level=SURE,
    )
    assert found.proved_loss > 1.05


@pytest.mark.parametrize(
    "recipe",
    [
        dp.Joint(("p", "q")),
        SEVERAL,
        dp.Tree(),
        dp.Adaptive(),
    ],
    ids=lambda recipe: recipe.kind,
)
@pytest.mark.parametrize("loss", [RHO, EPSILON], ids=str)
def test_scores_follow_the_exact_law(recipe: Recipe, loss: AnyLoss) -> None:
    """A table that is read wrongly, over other cells or with another variance, would
    leave guesses that are right too seldom: the audit would be blind.
    """
    found = audit_loss(run_of(COLUMNS, recipe, loss), COLUMNS, runs=40, canaries=200)
    assert found.right_share == pytest.approx(found.expected_right_share, abs=0.05)
    assert found.right_share > 0.6
    assert found.proved_loss <= found.stated_loss
    assert (
        0.9 * found.stated_loss < found.measured_loss <= found.stated_loss * (1 + 1e-9)
    )
    for achieved, law in found.curve.values():
        assert achieved == pytest.approx(law, abs=0.15)


@pytest.mark.proof
@pytest.mark.parametrize(
    "recipe",
    [dp.Independent(("p", "q", "r", "s", "t")), SEVERAL],
    ids=lambda recipe: recipe.kind,
)
@pytest.mark.parametrize("factor", [1.0, 0.7], ids=["right noise", "twin"])
def test_the_achieved_curve_is_the_exact_law(
    monkeypatch: pytest.MonkeyPatch, recipe: Recipe, factor: float
) -> None:
    """Under a pure epsilon of several tables no bound comes close; the curve must, or a
    scale that is off would not be seen there.
    """
    with_noise(monkeypatch, "add_discrete_laplace", factor)
    found = audit_loss(
        run_of(ONE_ROW_EACH, recipe, EPSILON), ONE_ROW_EACH, runs=RUNS_OF_CURVE
    )
    # at 10 % of false alarms such a ratio spreads by .014, at 1 % by .02 to .03
    off = max(
        abs(achieved / law - 1)
        for alarms, (achieved, law) in found.curve.items()
        if alarms >= 0.1
    )
    assert (off < 0.1) == (factor == 1.0)


def test_a_release_of_several_tables_holds_what_was_measured() -> None:
    """Tables that were made to agree have lost four of five totals: nobody could check
    their noise.
    """
    frame = pd.DataFrame({name: [0, 1] * 500 for name in COLUMNS.domain.names})
    release = run_of(COLUMNS, SEVERAL, EPSILON)(frame)
    read_back = dp.Release.from_json(release.to_json())
    for one in (release, read_back):
        tables = read_stored_tables(one)
        assert [table.clique for table in tables] == list(SEVERAL.cliques)
        for table in tables:  # whole numbers, as they were drawn
            assert (table.values == np.round(table.values)).all()
        losses = [table.laplace_epsilon(ROWS_OF_PERSON) for table in tables]
        assert losses == pytest.approx([1.5, 1.0, 0.5])
    totals = {round(table.total, 6) for table in release.marginals.values()}
    assert len(totals) == 1
    single = run_of(COLUMNS, dp.Joint(("p", "q")), EPSILON)(frame)
    assert "measured" not in single.model.to_dict()


def test_likelihood_of_a_contrast() -> None:
    """A contrast stores one number; its sign and its variance decide the likelihood."""
    release = run_of(COLUMNS, dp.Adaptive(), RHO)(
        pd.DataFrame({name: [0, 1] * 500 for name in COLUMNS.domain.names})
    )
    (table,) = [each for each in read_stored_tables(release) if each.clique == ("s",)]
    assert table.signed == ("s",)
    assert table.values.shape == ()
    assert abs(float(table.values)) < 6 * math.sqrt(table.variance)  # 500 of each
    codes = {"s": np.array([0, 1])}
    place, added = table.cells_and_signs(codes)
    assert place.tolist() == [0, 0]
    assert added.tolist() == [1.0, -1.0]
    normal = stats.norm(scale=math.sqrt(table.variance))
    expected = [
        normal.logpdf(float(table.values) - 20 * sign)
        - normal.logpdf(float(table.values))
        for sign in added
    ]
    assert table.log_ratios(codes, np.zeros(2), 20) == pytest.approx(expected)


def test_likelihood_of_laplace_noise() -> None:
    """The log-ratio of the discrete law, cell by cell."""
    scale = 7.0
    table = StoredTable(
        clique=("p",),
        values=np.array([3.0, 40.0]),
        variance=0.5 / math.sinh(0.5 / scale) ** 2,
        noise="laplace",
    )
    law = stats.dlaplace(1 / scale)
    codes = {"p": np.array([0, 1])}
    expected = [law.logpmf(3 - 5 - 20) - law.logpmf(3 - 5)]
    expected += [law.logpmf(40 - 6 - 20) - law.logpmf(40 - 6)]
    found = table.log_ratios(codes, np.array([5.0, 6.0]), 20)
    assert found == pytest.approx(expected)
    assert table.laplace_epsilon(20) == pytest.approx(20 / scale)


@pytest.mark.proof
@pytest.mark.parametrize("pure", [True, False])
def test_a_true_claim_is_refuted_seldom(pure: bool) -> None:
    """At 90 %, coins that are right just as often as the claim allows refute it in at
    most a tenth of the audits.
    """
    rng = np.random.default_rng(5)
    chance = max_right_chance(1.0, pure=pure)
    refuted = sum(
        loss_bound(right, np.ones((80, 1)), level=0.9, pure=pure) > 1.0
        for right in rng.binomial(20, chance, (400, 80, 1)) / 20
    )
    assert refuted <= stats.binom.isf(laws.FALSE_ALARM, 400, 0.1)
    # canaries that all share one noise are no more than one coin
    together = sum(
        loss_bound(1.0 * right, np.ones((80, 1)), level=0.9, pure=pure) > 1.0
        for right in rng.random((400, 80, 1)) < chance
    )
    assert together <= stats.binom.isf(laws.FALSE_ALARM, 400, 0.1)


def test_the_largest_chance_of_a_right_guess() -> None:
    """The best test at even odds, of two normal numbers and of two coins."""
    at = np.linspace(-5, 8, 10_001)
    best = (stats.norm.sf(at, loc=1.3) + stats.norm.cdf(at)).max() / 2
    assert max_right_chance(1.3, pure=False) == pytest.approx(best, abs=1e-6)
    odds = math.e**1.3
    tests = itertools.product((0, 1), repeat=2)  # of a coin's two sides
    right = max(
        (sides[0] * odds + sides[1] + (1 - sides[0]) + (1 - sides[1]) * odds) / 2
        for sides in tests
    )
    assert max_right_chance(1.3, pure=True) == pytest.approx(right / (1 + odds))


def test_an_audit_ends_in_time() -> None:
    """A slow recipe would hold the page; two runs are made in any case."""
    found = audit_loss(
        run_of(HISTOGRAM, dp.Histogram("v"), RHO), HISTOGRAM, max_seconds=0.0
    )
    assert found.runs_per_side == 1
    assert found.proved_loss == 0.0


def test_what_cannot_be_audited() -> None:
    """A release without tables of counts would be called safe by a bound of 0."""
    numbers = dp.Schema(
        columns=(dp.Integer("v", low=0, high=9),), unit=dp.PrivacyUnit(max_rows=1)
    )
    median = dp.Statistics.for_column(numbers, "v", quantiles=())
    with pytest.raises(UsageError, match="no tables of counts"):
        audit_loss(run_of(numbers, median, EPSILON), numbers, runs=2)
    with pytest.raises(UsageError, match="two runs"):
        audit_loss(run_of(numbers, median, EPSILON), numbers, runs=1)
