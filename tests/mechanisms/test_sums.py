"""Vector sums from the engine through the measurer: exact, the law of noise, charges,
views, refusals.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from dpcore.accounting.loss import Loss
from dpcore.engines.frame import FrameEngine
from dpcore.mechanisms import measurer as measuring
from dpcore.mechanisms.measurer import Measurer
from dpcore.tables.sums import UNITS_PER_ROW, multiply_levels, to_levels
from tests.statistical import laws
from tests.statistical.test_max_norm import full_law, p_value

KEY = b"k" * 32
COLUMNS = (
    dp.Integer("age", low=0, high=4),
    dp.Categorical("sex", categories=("F", "M")),
    dp.Real("size", low=0, high=3, bin_width=1),
)
AGE = to_levels(np.linspace(-1, 1, 5))
SIZE = to_levels(np.array([-1.0, 0.3, 1.0]))
ENTRIES: list[Mapping[str, np.ndarray]] = [
    {},
    {"age": AGE},
    {"size": SIZE},
    {"age": AGE, "size": SIZE},
]
FRAME = pd.DataFrame(
    {
        "age": [0, 1, 4, 4, 2, 9],
        "sex": ["F", "F", "M", "M", "M", "F"],
        "size": [0.5, 1.5, 2.5, 99.0, -3.0, 2.9],
    },
)


def schema(rows: int = 1) -> dp.Schema:
    return dp.Schema(columns=COLUMNS, unit=dp.PrivacyUnit(max_rows=rows))


def engine(frame: pd.DataFrame = FRAME) -> FrameEngine:
    return FrameEngine(frame, schema(), key=KEY)


def measurer(loss: Loss, *, rows: int = 1, frame: pd.DataFrame = FRAME) -> Measurer:
    under = engine(frame)
    return Measurer(
        under.counts, domain=under.domain, loss=loss, max_rows=rows, sums=under.sums
    )


def by_hand(rows: pd.DataFrame) -> list[int]:
    """Sums of the entries, row by row."""
    totals = [0] * len(ENTRIES)
    for _, row in rows.iterrows():
        age = AGE[min(row["age"], 4)]
        size = SIZE[int(min(max(row["size"], 0), 2.9))]
        for i, value in enumerate(
            (UNITS_PER_ROW, age, size, int(age) * int(size) // UNITS_PER_ROW)
        ):
            totals[i] += int(value)
    return totals


def test_exact_sums_against_adding_up_by_hand() -> None:
    """Every entry over every class, values beyond the bounds clipped to them."""
    under = engine()
    assert under.sums((), ENTRIES).tolist() == [by_hand(FRAME)]
    wanted = [by_hand(FRAME[FRAME["sex"] == sex]) for sex in "FM"]
    assert under.sums(("sex",), ENTRIES).tolist() == wanted
    assert under.sums((), ENTRIES, part=("sex", "M")).tolist() == [wanted[1]]
    assert (
        under.sums(("sex", "age"), [{}]).ravel().tolist()
        == (under.counts([("sex", "age")])[0].values * UNITS_PER_ROW).ravel().tolist()
    )


@pytest.mark.parametrize("row", range(len(FRAME)))
def test_one_row_moves_one_line_by_at_most_one(row: int) -> None:
    """The sensitivity that every proof rests on, for each row and each entry, extreme
    ones among them.
    """
    moved = engine().sums(("sex",), ENTRIES) - engine(FRAME.drop(index=row)).sums(
        ("sex",), ENTRIES
    )
    assert np.abs(moved).max() <= UNITS_PER_ROW
    assert (np.abs(moved).max(axis=1) > 0).sum() == 1


def test_levels_stay_in_bounds() -> None:
    """A public number beyond [-1, 1], or none at all, must not let a row count for
    more.
    """
    assert to_levels(np.array([5.0, -5.0, np.nan, np.inf])).tolist() == [
        UNITS_PER_ROW,
        -UNITS_PER_ROW,
        0,
        UNITS_PER_ROW,
    ]
    extreme = [np.array([a], dtype=np.int64) for a in (UNITS_PER_ROW, -UNITS_PER_ROW)]
    for first, second in itertools.product(extreme, extreme):
        assert np.abs(multiply_levels([first, second], 1)).max() <= UNITS_PER_ROW


@pytest.mark.parametrize("loss", [dp.PureDP(epsilon="0.7"), dp.ZCDP(rho="0.03")])
@pytest.mark.parametrize("rows", [1, 3])
def test_events_cost_what_was_spent(loss: Loss, rows: int) -> None:
    """The record must give back the loss, from its own numbers, whatever the number of
    entries.
    """
    under = measurer(loss, rows=rows)
    under.measure_sums(("sex",), ENTRIES, loss.share(Fraction(1, 2)))
    under.measure_sums((), [{}], loss.share(Fraction(1, 2)))
    costs = [
        event.epsilon if isinstance(loss, dp.PureDP) else event.rho
        for event in under.events
    ]
    assert loss.amount * Fraction(999, 1000) <= sum(costs) <= loss.amount
    assert under.events[0].reads == (
        ("sex",),
        ("sex", "age"),
        ("sex", "size"),
        ("sex", "age", "size"),
    )
    assert all(event.rows == rows for event in under.events)
    with pytest.raises(dp.BudgetExceeded):
        under.measure_sums((), [{}], loss.share(Fraction(1, 10**9)))


LINES = 400


def wide_measurer(loss: Loss, rows: int) -> Measurer:
    """A measurer of people in so many places, each of which is a line of a sum with a
    draw of its own.
    """
    columns = dp.Integer("place", low=0, high=LINES - 1, bin_width=1), COLUMNS[0]
    frame = pd.DataFrame({"place": range(LINES), "age": np.arange(LINES) % 5})
    under = FrameEngine(
        frame, dp.Schema(columns=columns, unit=dp.PrivacyUnit(max_rows=rows)), key=KEY
    )
    return Measurer(
        under.counts, domain=under.domain, loss=loss, max_rows=rows, sums=under.sums
    )


def noise_of(under: Measurer, loss: Loss, times: int) -> np.ndarray:
    """Noise of two sums over each place, in units of the grid; int64 (draws, 2)."""
    exact = under._sums(("place",), ENTRIES[:2])
    drawn = []
    for _ in range(times):
        under._purse.loss = loss.amount
        found = under.measure_sums(("place",), ENTRIES[:2], loss)
        drawn.append(np.rint(found.values * UNITS_PER_ROW).astype(np.int64) - exact)
    return np.concatenate(drawn)


@pytest.mark.parametrize("rows", [1, 2])
def test_noise_of_pure_sums_has_the_recorded_law(
    rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is drawn must be what the ledger says: also for several rows per person."""
    # so that the scale is 4 units, and the law can be written out
    loss = dp.PureDP(epsilon=UNITS_PER_ROW // 4)
    under = wide_measurer(loss, rows)
    noise = noise_of(under, loss, 40)
    scale = float(under.events[-1].noise_scale) * UNITS_PER_ROW
    assert scale == 4 * rows
    assert p_value(noise, full_law(2, scale, 25)) > laws.FALSE_ALARM
    right = measuring.add_max_norm_noise
    monkeypatch.setattr(
        measuring,
        "add_max_norm_noise",
        lambda sums, *, scale: right(sums, scale=scale // 2),
    )
    # twin
    assert p_value(noise_of(under, loss, 10), full_law(2, scale, 25)) < laws.FALSE_ALARM


@pytest.mark.parametrize("rows", [1, 2])
def test_noise_of_gaussian_sums_has_the_recorded_law(
    rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two entries are two queries: noise for one only would keep half the rho."""
    loss = dp.ZCDP(rho="0.5")
    under = wide_measurer(loss, rows)
    noise = noise_of(under, loss, 2)
    scale = float(under.events[-1].noise_scale) * UNITS_PER_ROW
    assert (
        Fraction(rows**2 * 2) / (2 * Fraction(under.events[-1].noise_scale) ** 2)
        <= loss.rho
    )
    spread = noise.astype(float).ravel()
    assert laws.variance_fits(spread, 0.0, scale**2)
    right = measuring.add_discrete_gaussian
    monkeypatch.setattr(
        measuring,
        "add_discrete_gaussian",
        lambda sums, *, noise_scale: right(sums, noise_scale=noise_scale / 2),
    )
    halved = noise_of(under, loss, 2).astype(float).ravel()
    assert not laws.variance_fits(halved, 0.0, scale**2)  # twin


def test_views_add_up_the_same_rows() -> None:
    """A view of merged cells, of some columns, or of a part must hold the sums of its
    own rows.
    """
    loss = dp.PureDP(epsilon=10**6)
    merged = measurer(loss).coarsen({"age": np.array([0, 0, 1, 1, 1])})
    lines = merged.measure_sums(
        ("age",), [{}, {"age": to_levels(np.array([-1.0, 1.0]))}], loss
    ).values
    assert np.rint(lines).tolist() == [[2, -2], [4, 4]]
    by_two = (
        measurer(loss)
        .coarsen({"age": np.array([0, 0, 1, 1, 1])})
        .measure_sums(("sex", "age"), [{}], loss)
    )
    assert np.rint(by_two.values).ravel().tolist() == [2, 1, 0, 3]
    some = measurer(loss).project(("sex",))
    with pytest.raises(dp.ParameterError, match="not in the schema"):
        some.measure_sums(("sex",), [{"age": AGE}], loss)
    with pytest.raises(dp.ParameterError, match="not in the schema"):
        some.measure_sums(("age",), [{}], loss)
    assert some.events == []


def test_refusals_come_before_anything_is_read() -> None:
    """Levels of another shape, or beyond the grid, would let a row count for more than
    the noise covers.
    """

    def refuse(*arguments: object, **named: object) -> np.ndarray:
        raise AssertionError("read")

    loss = dp.PureDP(epsilon=1)
    domain = schema().domain
    blind = Measurer(refuse, domain=domain, loss=loss, max_rows=1, sums=refuse)
    lowest = np.full(5, np.iinfo(np.int64).min)
    unknown = np.full(5, np.nan)
    for entry in (
        {"age": AGE[:3]},
        {"age": AGE * 2},
        {"age": AGE[:, None]},
        {"age": lowest},
        {"age": unknown},
    ):
        with pytest.raises(dp.ParameterError, match="levels"):
            blind.measure_sums((), [entry], loss)
    with pytest.raises(dp.LimitError, match="cells, more than"):
        blind.measure_sums((), [{}] * 1001, loss)
    with pytest.raises(dp.BudgetExceeded):
        blind.measure_sums((), [{}], dp.PureDP(epsilon=2))
    with pytest.raises(dp.BudgetExceeded):
        blind.choose_quantile_cell("age", Fraction(1, 2), dp.PureDP(epsilon=2), cells=5)
    for order in (Fraction(0), Fraction(1), Fraction(1, 10**6)):
        with pytest.raises(dp.ParameterError, match="order"):
            blind.choose_quantile_cell("age", order, loss, cells=5)
    with pytest.raises(dp.ParameterError, match="curator"):
        Measurer(refuse, domain=domain, loss=loss, max_rows=1).measure_sums(
            (), [{}], loss
        )
    assert blind.events == []


LADDER = pd.DataFrame(
    {"age": [0] * 4 + [1] * 2 + [2] * 1 + [3] * 5, "sex": "F", "size": 0.5}
)


@pytest.mark.parametrize(
    ("order", "best"),
    [(Fraction(1, 2), {1, 2}), (Fraction(1, 4), {0}), (Fraction(9, 10), {3})],
)
@pytest.mark.parametrize("loss", [dp.PureDP(epsilon=10**4), dp.ZCDP(rho=10**6)])
def test_quantile_finds_the_cell(order: Fraction, best: set[int], loss: Loss) -> None:
    """With hardly any noise it must be the quantile of the counts."""
    assert (
        measurer(loss, frame=LADDER).choose_quantile_cell("age", order, loss, cells=5)
        in best
    )


def test_quantile_is_drawn_at_no_less_than_the_recorded_scale(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A product of floats is rounded, sometimes down, and costs more than was charged
    then.
    """
    drawn: list[float] = []
    monkeypatch.setattr(
        measuring,
        "select_high_score",
        lambda scores, *, noise_scale, is_pure: drawn.append(noise_scale) or 0,
    )
    for number in range(1, 400):
        loss = dp.PureDP(epsilon=Fraction(number, 1000))
        paid = measurer(loss, frame=LADDER)
        paid.choose_quantile_cell("age", Fraction(1, 10), loss, cells=5)
        assert Fraction(drawn[-1]) >= 10 * Fraction(paid.events[0].noise_scale)


@pytest.mark.parametrize("rows", [1, 2])
def test_quantile_has_the_recorded_law(
    rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exponential mechanism under rho: the chance of each cell from its score, by hand.

    Half the noise is rejected by 6.6 deviations at 1,700 draws.
    """
    loss = dp.ZCDP(rho="0.5")
    # rows by which the median lies outside 0 .. 4
    scores = np.array([-2.0, 0.0, 0.0, -1.0, -6.0])

    def draws() -> tuple[np.ndarray, float]:
        under = measurer(loss, rows=rows, frame=LADDER)
        found = []
        for _ in range(2_500):
            under._purse.loss = loss.amount
            found.append(
                under.choose_quantile_cell("age", Fraction(1, 2), loss, cells=5)
            )
        return np.bincount(found, minlength=5), under.events[-1].noise_scale

    observed, scale = draws()
    assert (2 * rows / scale) ** 2 / 8 <= loss.rho
    law = np.exp(scores / scale) / np.exp(scores / scale).sum() * observed.sum()
    assert laws.chi_square_of_counts(observed, law) > laws.FALSE_ALARM
    right = measuring.select_high_score
    monkeypatch.setattr(
        measuring,
        "select_high_score",
        lambda scores, *, noise_scale, is_pure: right(
            scores, noise_scale=noise_scale / 2, is_pure=is_pure
        ),
    )
    # twin: half the noise
    assert laws.chi_square_of_counts(draws()[0], law) < laws.FALSE_ALARM
