"""Statistics of one column: near the truth, with intervals that hold, quoted before
paying (SEEDS E2, E3).
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from dpcore.synthesis import Figures, Statistics
from dpcore.synthesis.statistics import Figure, cell_centers
from tests.statistical import laws

UNIT = dp.PrivacyUnit(max_rows=1)
AGE = dp.Integer("age", low=0, high=99)
SCHEMA = dp.Schema(
    columns=(AGE, dp.Categorical("sex", categories=("F", "M"))), unit=UNIT
)
LOUD = dp.PureDP(epsilon=10**6)


def people(rows: int = 4_000) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "age": rng.gamma(6, 7, rows).astype(int).clip(0, 99),
            "sex": rng.choice(["F", "M"], rows),
        },
    )


def figures(
    recipe: Statistics,
    loss: dp.PureDP | dp.ZCDP,
    frame: pd.DataFrame,
    schema: dp.Schema = SCHEMA,
) -> dict[str, Figure]:
    """The figures of one release."""
    return next(runs(recipe, loss, frame, schema, times=1))


def runs(
    recipe: Statistics,
    loss: dp.PureDP | dp.ZCDP,
    frame: pd.DataFrame,
    schema: dp.Schema = SCHEMA,
    *,
    times: int,
) -> Iterator[dict[str, Figure]]:
    """The figures of so many releases of a table that was opened once."""
    budget = type(loss)(**{loss.name: loss.amount * times})
    curator = dp.Curator.open(frame, schema, budget=budget, ledger=dp.MemoryLedger())
    for number in range(times):
        release = curator.run(recipe, loss, request_id=f"r{number}")
        assert isinstance(release.model, Figures)
        yield {figure.name: figure for figure in release.model.figures}


@pytest.mark.parametrize(
    "column",
    [
        dp.Integer("x", low=-5, high=14),
        dp.Integer("x", low=0, high=9, cuts=(1, 2, 5)),
        dp.Real("x", low=-2, high=3, bin_width=0.25),
        dp.Real("x", low=0, high=100, cuts=(1, 10)),
        dp.Integer("x", low=0, high=9, missing=True),
    ],
    ids=["integer", "integer with cuts", "real", "real with cuts", "missing"],
)
def test_without_noise_figures_are_those_of_the_cells(column: dp.schema.Column) -> None:
    """Mean, variance, deviation and quantiles must be those of the cells' middles,
    whatever the bounds.
    """
    rng = np.random.default_rng(2)
    low = float(column.edges[0])
    high = float(column.edges[-1])
    values = (
        rng.uniform(low, high, 3_000)
        if column.kind == "real"
        else rng.integers(low, high, 3_000).astype(float)
    )
    if column.missing:
        values[:500] = np.nan
    schema = dp.Schema(columns=(column,), unit=UNIT)
    found = figures(
        Statistics.for_column(schema, "x", quantiles=("1/10", "1/2", "9/10")),
        LOUD,
        pd.DataFrame({"x": values}),
        schema,
    )
    present = pd.Series(values[~np.isnan(values)])
    middles = cell_centers(column)[
        dp.Schema(columns=(column,), unit=UNIT).encode(present.to_frame("x"))["x"]
    ]
    assert found["mean"].value == pytest.approx(middles.mean(), abs=1e-3 * (high - low))
    assert found["variance"].value == pytest.approx(middles.var(), rel=1e-2)
    assert found["standard deviation"].value == pytest.approx(middles.std(), rel=1e-2)
    for order in ("1/10", "1/2", "9/10"):
        wanted = np.quantile(middles, float(Fraction(order)), method="inverted_cdf")
        assert found[f"quantile {order}"].value == wanted


@pytest.mark.parametrize(
    "loss", [dp.PureDP(epsilon="0.2"), dp.ZCDP(rho="0.002")], ids=str
)
def test_intervals_hold(loss: dp.PureDP | dp.ZCDP) -> None:
    """E2: an interval that holds less often than 95 times in 100 would have people
    trust wrong figures.
    """
    frame = people()
    recipe = Statistics.for_column(SCHEMA, "age", quantiles=("1/2",))
    truth = {
        "mean": frame["age"].mean(),
        "variance": frame["age"].var(ddof=0),
        "standard deviation": frame["age"].std(ddof=0),
    }
    ordered = np.sort(frame["age"])
    hits = dict.fromkeys(truth, 0)
    narrow = 0
    ranks = 0
    times = 250
    for found in runs(recipe, loss, frame, times=times):
        for name, exact in truth.items():
            hits[name] += abs(found[name].value - exact) <= found[name].half_width
        narrow += (
            abs(found["mean"].value - truth["mean"]) <= found["mean"].half_width / 5
        )
        median = found["quantile 1/2"]
        first, last = np.searchsorted(ordered, [median.value, median.value + 1])
        ranks += (
            max(first - len(frame) / 2, len(frame) / 2 - last, 0) <= median.rank_error
        )
    assert all(laws.at_least(count, times, 0.95) for count in hits.values()), hits
    assert laws.at_least(ranks, times, 0.95)
    assert not laws.at_least(narrow, times, 0.95)  # twin


@pytest.mark.parametrize(
    ("column", "values"),
    [
        (dp.Integer("x", low=0, high=99, bin_width=10), (20,)),
        (dp.Integer("x", low=0, high=99, bin_width=10), (29, 29, 60)),
        (dp.Integer("x", low=0, high=99, bin_width=10, special=(999,)), (99,)),
        (dp.Real("x", low=0, high=100, cuts=(1, 10, 60)), (10.0, 59.9, 99.0)),
    ],
    ids=["first of a cell", "outwards", "beside a special value", "uneven"],
)
def test_intervals_hold_wherever_values_lie_in_wide_cells(
    column: dp.Integer | dp.Real,
    values: tuple[float, ...],
) -> None:
    """1,000 people aged 20 in cells of ten years had a mean of 24.49 +- 0.13: it held
    in none of 40 runs.
    """
    frame = pd.DataFrame({"x": np.resize(values, 1_000)})
    schema = dp.Schema(columns=(column,), unit=UNIT)
    loss = dp.PureDP(epsilon=5)
    recipe = Statistics.for_column(schema, "x")
    # the twin: as if each cell were one value
    exact = Statistics(column="x", centers=recipe.centers)
    truth = {"mean": frame["x"].mean(), "variance": frame["x"].var(ddof=0)}
    truth["standard deviation"] = frame["x"].std(ddof=0)
    times = 40
    hits = dict.fromkeys(truth, 0)
    twin = 0
    for found in runs(recipe, loss, frame, schema, times=times):
        for name, value in truth.items():
            hits[name] += abs(found[name].value - value) <= found[name].half_width
        low, high = found["quantile 1/2"].cell
        assert low <= np.quantile(frame["x"], 0.5, method="inverted_cdf") <= high
        assert (
            found["mean"].half_width
            <= recipe.mean_error_width(loss, max_rows=1, people=1_000) * 1.05
        )
    for narrow in (
        found["mean"] for found in runs(exact, loss, frame, schema, times=times)
    ):
        twin += abs(narrow.value - truth["mean"]) <= narrow.half_width
    assert all(laws.at_least(count, times, 0.95) for count in hits.values()), hits
    assert not laws.at_least(twin, times, 0.95)


def test_errors_are_stated_before_paying_and_kept() -> None:
    """E2: the quote needs no data, and no run may come out wider."""
    loss = dp.PureDP(epsilon=1)
    recipe = Statistics.for_column(SCHEMA, "age")
    promised = recipe.mean_error_width(loss, max_rows=1, people=4_000)
    error, _ = recipe.rank_error(loss, max_rows=1)
    found = figures(recipe, loss, people())
    assert 0 < found["mean"].half_width <= promised * 1.05
    assert found["quantile 1/2"].rank_error == error
    assert recipe.mean_error_width(loss, max_rows=2, people=4_000) > promised
    (expected,) = recipe.expect(SCHEMA.domain, loss, 1)
    assert expected.clique == ()


def test_the_better_way_is_taken_by_its_stated_error() -> None:
    """Few cells: a histogram; many: a private choice; and the ledger says which."""
    ways = {}
    for size in (2, 1_000):
        schema = dp.Schema(columns=(dp.Integer("x", low=0, high=size - 1),), unit=UNIT)
        recipe = Statistics.for_column(
            schema, "x", moments=False, quantiles=("1/4", "1/2", "3/4")
        )
        loss = dp.PureDP(epsilon=1)
        frame = pd.DataFrame({"x": np.arange(500) % size})
        curator = dp.Curator.open(frame, schema, budget=loss, ledger=dp.MemoryLedger())
        curator.run(recipe, loss)
        ways[size] = {
            event["mechanism"] for event in curator.lines()[-1].content["events"]
        }
    assert ways == {2: {"discrete laplace"}, 1_000: {"permute and flip"}}


@pytest.mark.parametrize(
    "loss", [dp.PureDP(epsilon="0.7"), dp.ZCDP(rho="0.01")], ids=str
)
@pytest.mark.parametrize(
    ("moments", "quantiles"), [(True, ()), (False, ("1/3", "0.9")), (True, ("1/2",))]
)
def test_all_of_the_loss_is_spent(
    loss: dp.PureDP | dp.ZCDP,
    moments: bool,
    quantiles: tuple[str, ...],
) -> None:
    """What is charged must be what the events cost."""
    from dpcore.accounting.events import Event

    curator = dp.Curator.open(people(50), SCHEMA, budget=loss, ledger=dp.MemoryLedger())
    curator.run(
        Statistics.for_column(SCHEMA, "age", moments=moments, quantiles=quantiles), loss
    )
    events = [Event.from_dict(each) for each in curator.lines()[-1].content["events"]]
    costs = [
        event.epsilon if isinstance(loss, dp.PureDP) else event.rho for event in events
    ]
    assert loss.amount * Fraction(999, 1000) <= sum(costs) <= loss.amount


def test_beside_the_figure_from_a_release() -> None:
    """E3: the mean asked for directly, and that of 10,000 drawn rows of a histogram,
    both near the truth.
    """
    frame = people()
    loss = dp.PureDP(epsilon=1)
    direct = figures(Statistics.for_column(SCHEMA, "age", quantiles=()), loss, frame)[
        "mean"
    ]
    curator = dp.Curator.open(frame, SCHEMA, budget=loss, ledger=dp.MemoryLedger())
    drawn = curator.run(dp.Histogram("age"), loss).sample(10_000)["age"]
    assert abs(direct.value - frame["age"].mean()) < 1
    assert abs(drawn.mean() - frame["age"].mean()) < 1.5
    assert direct.half_width < 1


def test_releases_of_figures() -> None:
    """Figures are stored and read again, and draw no rows, said plainly."""
    curator = dp.Curator.open(people(), SCHEMA, budget=LOUD, ledger=dp.MemoryLedger())
    release = curator.run(Statistics.for_column(SCHEMA, "age"), LOUD)
    again = dp.Release.from_json(release.to_json())
    assert again.model.figures == release.model.figures
    assert [column.name for column in release.schema.columns] == ["age"]
    with pytest.raises(dp.ParameterError, match="not drawn"):
        release.given({"age": 3})


def test_refusals() -> None:
    """Columns without numbers, and orders that are none."""
    with pytest.raises(dp.ParameterError, match="no numbers"):
        Statistics.for_column(SCHEMA, "sex")
    for orders in (("0",), ("1",), ("3/2",), ("x",)):
        with pytest.raises(dp.ParameterError, match="quantile"):
            Statistics.for_column(SCHEMA, "age", quantiles=orders)
    with pytest.raises(dp.ParameterError, match="nothing"):
        Statistics.for_column(SCHEMA, "age", moments=False, quantiles=())
    with pytest.raises(dp.ParameterError, match="rise"):
        Statistics(column="age", centers=(1.0, 1.0))
    with pytest.raises(dp.ParameterError, match="half a width"):
        Statistics(column="age", centers=(1.0, 2.0), half_cells=(1.0,))
    with pytest.raises(dp.ParameterError, match="fewer"):
        Statistics(column="sex", centers=(1.0, 2.0, 3.0)).check(SCHEMA.domain)


@pytest.mark.parametrize("rows", [1, 2])
def test_tiny_tables_and_losses(rows: int) -> None:
    """One row at epsilon 0.001 must give finite figures."""
    found = figures(
        Statistics.for_column(SCHEMA, "age"), dp.PureDP(epsilon="0.001"), people(rows)
    )
    for figure in found.values():
        assert np.isfinite(figure.value)
