"""The Gaussian recipe: scaling by public bounds, charges, the rule on noise, what comes
out, bad input.
"""

from __future__ import annotations

import inspect
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from dpcore.accounting.loss import Loss
from dpcore.mechanisms.measurer import Measurer
from dpcore.schema.domain import Domain
from dpcore.synthesis import GaussianModel, load_model
from dpcore.synthesis.gaussian._class_means import CLASS_MEAN_SPREAD, posterior_means
from dpcore.synthesis.gaussian._moments import (
    Moments,
    fit_moments,
    nearest_correlations,
)
from dpcore.synthesis.gaussian.feature_groups import choose_related_pair, find_groups
from dpcore.synthesis.gaussian.model import cell_positions, upper_half_indicator
from dpcore.synthesis.gaussian.recipe import DETAIL_SHARES, ROW_COUNT_SHARE, Gaussian
from dpcore.tables.sums import NoisySums

LOUD = dp.PureDP(epsilon=10**6)
UNIT = dp.PrivacyUnit(max_rows=1)
LABEL = dp.Categorical("ill", categories=("no", "yes"))


def schema(*columns: dp.schema.Column) -> dp.Schema:
    return dp.Schema(columns=(*columns, LABEL), unit=UNIT)


PLAIN = schema(
    dp.Real("sugar", low=0, high=200, bin_width=0.1),
    dp.Real("weight", low=40, high=140, bin_width=0.1),
    dp.Integer("visits", low=0, high=17),
)


def table(rows: int = 4_000, seed: int = 1) -> pd.DataFrame:
    """Ill people have more sugar and weight; the two go together; visits tell
    nothing.
    """
    rng = np.random.default_rng(seed)
    ill = rng.random(rows) < 0.35
    shared = rng.normal(0, 1, rows)
    return pd.DataFrame(
        {
            "sugar": 90 + 40 * ill + 15 * shared + rng.normal(0, 5, rows),
            "weight": 80 + 10 * ill + 10 * shared + rng.normal(0, 4, rows),
            "visits": rng.poisson(3, rows),
            "ill": np.where(ill, "yes", "no"),
        },
    )


def opened(
    frame: pd.DataFrame, under: dp.Schema = PLAIN, budget: dp.PureDP = LOUD
) -> dp.Curator:
    return dp.Curator.open(frame, under, budget=budget, ledger=dp.MemoryLedger())


def drawn(
    frame: pd.DataFrame,
    recipe: Gaussian,
    loss: dp.PureDP = LOUD,
    under: dp.Schema = PLAIN,
) -> pd.DataFrame:
    return opened(frame, under, loss).run(recipe, loss).sample(20_000, seed=1)


# Scaling: a step of its own (SEEDS B3)


def test_positions_are_those_of_the_public_bounds() -> None:
    """B3: the lower bound lies at -1, the upper one at 1, and all between evenly,
    whatever the data hold.
    """
    assert cell_positions(5).tolist() == [-1, -0.5, 0, 0.5, 1]
    assert cell_positions(1).tolist() == [0]


@pytest.mark.parametrize("high", [1.0, 200.0])
def test_a_value_beyond_its_bound_counts_as_the_bound(high: float) -> None:
    """B3: with bounds other than [-1, 1] too, a huge value must count as the bound."""
    under = schema(dp.Real("x", low=0, high=high, bin_width=high / 100))
    frame = pd.DataFrame(
        {"x": [0.0, high * 1000, np.inf, -np.inf], "ill": ["no", "no", "yes", "yes"]}
    )
    release = opened(frame, under).run(
        Gaussian(label="ill", features=("x",), detail="means"), LOUD
    )
    clip = pd.DataFrame(
        {"x": [0.0, high, high, 0.0], "ill": ["no", "no", "yes", "yes"]}
    )
    same = opened(clip, under).run(
        Gaussian(label="ill", features=("x",), detail="means"), LOUD
    )
    for each in (release, same):
        assert isinstance(each.model, GaussianModel)
        assert np.allclose(each.model.moments.drawn_moments[0], 0, atol=0.01)
    assert release.sample(1000, seed=3)["x"].between(0, high).all()


def test_one_row_more_at_the_extremes_moves_every_sum_by_at_most_one() -> None:
    """B3: bounds from the data would move with one row; measured sums must not move by
    more than it.
    """
    seen = []
    for extra in (0.0, 1e9):
        frame = pd.concat(
            [
                table(50),
                pd.DataFrame(
                    {"sugar": [extra], "weight": [extra], "visits": [0], "ill": "no"}
                ),
            ],
        )
        curator = opened(frame.reset_index(drop=True))
        seen.append(
            curator._engine.sums(
                ("ill",),
                Gaussian.for_schema(PLAIN, label="ill")._first_moment_entries(
                    PLAIN.domain
                ),
            )
        )
    base = opened(table(50))._engine.sums(
        ("ill",),
        Gaussian.for_schema(PLAIN, label="ill")._first_moment_entries(PLAIN.domain),
    )
    assert max(np.abs(each - base).max() for each in seen) <= 2**20


# Charges


@pytest.mark.parametrize("loss", [dp.PureDP(epsilon="0.3"), dp.ZCDP(rho="0.01")])
@pytest.mark.parametrize("groups", [(), (("sugar", "weight"),), None])
@pytest.mark.parametrize(
    "detail", [None, "means", "variances", "products", "cells", "pair"]
)
def test_all_of_the_loss_and_no_more(
    loss: Loss, groups: object, detail: object
) -> None:
    """Events must cost what was reserved, whatever the plan, for two rows per
    person.
    """
    recipe = Gaussian(
        label="ill",
        features=("sugar", "weight", "visits"),
        groups=groups,
        detail=detail,
    )
    engine = opened(table(300))._engine
    under = Measurer(
        engine.counts, domain=engine.domain, loss=loss, max_rows=2, sums=engine.sums
    )
    recipe.fit(under, lambda stage, share: None)
    costs = [
        event.epsilon if isinstance(loss, dp.PureDP) else event.rho
        for event in under.events
    ]
    assert loss.amount * Fraction(999, 1000) <= sum(costs) <= loss.amount
    assert {
        name for event in under.events for reads in event.reads for name in reads
    } <= set(
        PLAIN.domain.names,
    )


@pytest.mark.parametrize(("noisy", "plan"), [(10.0, [1, 4]), (10.0**9, [1, 4, 4])])
def test_the_plan_follows_noisy_counts_only(
    noisy: float,
    plan: list[int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The rule must use the noisy count: a true one would leak through what is measured
    next.
    """
    right = Measurer.measure_sums

    def planted(self: Measurer, by: object, entries: object, loss: object) -> NoisySums:
        found = right(self, by, entries, loss)
        if by:
            return found
        return NoisySums(
            by=(), values=np.full_like(found.values, noisy), deviation=found.deviation
        )

    monkeypatch.setattr(Measurer, "measure_sums", planted)
    curator = opened(table(500), budget=dp.PureDP(epsilon=1))
    curator.run(
        Gaussian.for_schema(PLAIN, label="ill", groups=[["sugar", "weight"]]),
        dp.PureDP(epsilon=1),
    )
    events = curator.lines()[-1].content["events"]
    # rows; means; squares and one product
    assert [len(event["reads"]) for event in events] == plan


@pytest.mark.parametrize("loss", [LOUD, dp.ZCDP(rho=10**6)])
@pytest.mark.parametrize(
    "recipe",
    [
        Gaussian(label="ill", features=("sugar", "weight")),
        Gaussian(label="ill", features=("sugar", "weight"), groups=(("sugar",),)),
        Gaussian(
            label="ill", features=("sugar", "weight"), groups=(("sugar", "weight"),)
        ),
        Gaussian(label="ill", features=(), one_hot=("visits",)),
    ],
)
def test_the_quote_is_the_noise_of_the_richest_plan(
    recipe: Gaussian, loss: Loss
) -> None:
    """A loss that carries all detail must add the quoted noise: not more, not less."""
    curator = opened(table(500), budget=loss)
    quoted = curator.quote(recipe, loss).expected[0].variance
    assert curator.run(recipe, loss).marginals["ill",].variance == pytest.approx(quoted)


@pytest.mark.parametrize(
    ("rows", "epsilon", "detail"),
    [
        (600, "0.1", "means"),
        (300, "1", "variances"),
        (3000, "0.1", "variances"),
        (600, "10", "products"),
    ],
)
def test_detail_only_where_rows_times_epsilon_carries_it(
    rows: int, epsilon: str, detail: str
) -> None:
    """Six hundred rows at epsilon 0.1 must not spend on second moments, which would
    drown; more may.
    """
    recipe = Gaussian.for_schema(PLAIN, label="ill", groups=[["sugar", "weight"]])
    assert (
        recipe._affordable_detail(rows, PLAIN.domain, 1, dp.PureDP(epsilon=epsilon), 1)
        == detail
    )


@pytest.mark.parametrize(("rows", "detail"), [(600, "variances"), (5_000, "cells")])
def test_cells_only_where_rows_times_epsilon_carries_them(
    rows: int, detail: str
) -> None:
    """SEEDS 7.4: cells inside a class pay when rows times epsilon is several thousand,
    and cost before.
    """
    recipe = Gaussian(label="ill", features=tuple("abcdefgh"))
    domain = Domain(names=("ill", *"abcdefgh"), sizes=(2, *[10] * 8))
    assert recipe._affordable_detail(rows, domain, 0, dp.PureDP(epsilon=1), 1) == detail


def test_cells_that_are_too_many_are_refused_before_the_charge() -> None:
    """Classes times cells of a feature are public: a run that fails on them afterwards
    paid for nothing.
    """
    domain = Domain(names=("ill", "a", "b"), sizes=(21, 100_000, 10))
    with pytest.raises(dp.LimitError, match="2100000 cells"):
        Gaussian(label="ill", features=("a", "b"), detail="cells").check(domain)
    open_ended = Gaussian(label="ill", features=("a", "b"))
    open_ended.check(domain)
    assert (
        open_ended._affordable_detail(1e6, domain, 0, dp.PureDP(epsilon=1), 1)
        == "variances"
    )


# What comes out


def test_means_spreads_and_relations_come_out() -> None:
    """With hardly any noise classes must keep their sizes, means, spreads and the
    relation inside a group.
    """
    frame = table(20_000)
    recipe = Gaussian.for_schema(PLAIN, label="ill", groups=[["sugar", "weight"]])
    found = drawn(frame, recipe)
    assert list(found.columns) == list(PLAIN.domain.names)
    assert found["visits"].dtype == np.int64
    for ill in ("no", "yes"):
        ours = found[found["ill"] == ill]
        theirs = frame[frame["ill"] == ill]
        assert abs(len(ours) / len(found) - len(theirs) / len(frame)) < 0.01
        assert abs(ours["sugar"].mean() - theirs["sugar"].mean()) < 1
        assert abs(ours["sugar"].std() / theirs["sugar"].std() - 1) < 0.1
        assert (
            abs(
                ours["sugar"].corr(ours["weight"])
                - theirs["sugar"].corr(theirs["weight"])
            )
            < 0.07
        )
    alone = drawn(
        frame, replace(Gaussian.for_schema(PLAIN, label="ill"), detail="variances")
    )
    assert (
        abs(
            alone[alone["ill"] == "no"]["sugar"].corr(
                alone[alone["ill"] == "no"]["weight"]
            )
        )
        < 0.05
    )


def test_columns_without_order_are_drawn_by_their_categories() -> None:
    """One-hot: shares of categories within each class must come out, missing ones
    too.
    """
    job = dp.Categorical("job", categories=("a", "b", "c"), missing=True)
    under = schema(dp.Real("x", low=0, high=1, bin_width=0.1), job)
    rng = np.random.default_rng(2)
    ill = rng.choice(["no", "yes"], 8_000)
    pick = np.where(
        ill == "yes", rng.choice(["a", "b"], 8_000), rng.choice(["b", "c"], 8_000)
    )
    frame = pd.DataFrame({"x": rng.random(8_000), "job": pick, "ill": ill})
    frame.loc[:799, "job"] = None
    found = drawn(
        frame, Gaussian.for_schema(under, label="ill", one_hot=["job"]), under=under
    )
    for ill_or_not in ("no", "yes"):
        ours = found[found["ill"] == ill_or_not]["job"].value_counts(
            normalize=True, dropna=False
        )
        theirs = frame[frame["ill"] == ill_or_not]["job"].value_counts(
            normalize=True, dropna=False
        )
        assert ours.sub(theirs, fill_value=0).abs().max() < 0.02


def test_columns_of_two_values_keep_two_values() -> None:
    """A yes-no column must not come out as numbers between, nor with another share."""
    under = schema(
        dp.Real("flag", low=-1, high=1, bin_width=0.001),
        dp.Real("x", low=0, high=1, bin_width=0.1),
    )
    rng = np.random.default_rng(4)
    ill = rng.random(5_000) < 0.5
    frame = pd.DataFrame(
        {
            "flag": np.where(rng.random(5_000) < 0.2 + 0.6 * ill, 1.0, -1.0),
            "x": 0.5,
            "ill": np.where(ill, "yes", "no"),
        },
    )
    found = drawn(frame, Gaussian.for_schema(under, label="ill"), under=under)
    assert (found["flag"].abs() > 0.99).all()
    assert abs((found[found["ill"] == "yes"]["flag"] > 0).mean() - 0.8) < 0.03


def test_cells_inside_a_class_keep_what_goes_together() -> None:
    """Without groups, where the noise allows it, two cells must carry half of a
    relation inside classes.
    """
    frame = table(20_000)
    recipe = Gaussian(label="ill", features=("sugar", "weight", "visits"))
    cells, plain = (
        drawn(frame, replace(recipe, detail=detail))
        for detail in ("cells", "variances")
    )
    for ill in ("no", "yes"):
        theirs = frame[frame["ill"] == ill]
        ours, without = (each[each["ill"] == ill] for each in (cells, plain))
        right = theirs["sugar"].corr(theirs["weight"])
        assert ours["sugar"].corr(ours["weight"]) > 0.5 * right > 0.4
        assert abs(without["sugar"].corr(without["weight"])) < 0.05
        assert abs(ours["weight"].mean() - theirs["weight"].mean()) < 1
        assert abs(ours["weight"].std() / theirs["weight"].std() - 1) < 0.1
        assert abs(ours["visits"].corr(ours["sugar"])) < 0.05


def test_cells_are_split_by_noisy_numbers_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """A split at the true mean would leak: it must follow the noisy moments, wherever
    noise put them.
    """
    right = Measurer.measure_sums
    seen = []

    def moved(self: Measurer, by: Any, entries: Any, loss: Loss) -> NoisySums:
        found = right(self, by, entries, loss)
        seen.append((by, self.domain.shape(by)))
        if len(entries) != 3:  # the rows and two features
            return found
        values = found.values.copy()
        # the first feature lies at its lower bound, says the noise
        values[:, 1] = -values[:, 0]
        return replace(found, values=values)

    monkeypatch.setattr(Measurer, "measure_sums", moved)
    recipe = Gaussian(label="ill", features=("sugar", "weight"), detail="cells")
    release = opened(table(500)).run(recipe, LOUD)
    assert [shape for _by, shape in seen[-3:]] == [(2,), (2,), (2, 2)]
    assert isinstance(release.model, GaussianModel)
    assert release.model.split is not None
    assert release.model.split.feature == 1  # sugar has no variance left


@pytest.mark.parametrize(("apart", "pair"), [(0.5, ("c", "d")), (0.0, ("a", "b"))])
def test_the_pair_that_goes_together_is_found_inside_classes(
    apart: float, pair: tuple[str, str]
) -> None:
    """The product must go to features that are related inside classes, not to those
    that the means of classes explain; the twin's laws have no classes, and must be
    misled.
    """
    rng = np.random.default_rng(4)
    label = rng.integers(0, 2, 6_000)
    shared = rng.normal(0, 0.6, 6_000)
    numbers = {name: 1.5 * label + rng.normal(0, 0.5, 6_000) for name in "ab"}
    numbers |= {name: shared + rng.normal(0, 0.9, 6_000) for name in "cd"}
    under = schema(*(dp.Real(name, low=-3, high=3, bin_width=0.01) for name in numbers))
    engine = opened(
        pd.DataFrame({**numbers, "ill": np.where(label, "yes", "no")}), under
    )._engine
    loss = dp.PureDP(epsilon=1)
    measurer = Measurer(
        engine.counts, domain=engine.domain, loss=loss, max_rows=1, sums=engine.sums
    )
    laws = Moments(
        centers=np.array(
            [[0.25 - apart / 2] * 2 + [0.0] * 2, [0.25 + apart / 2] * 2 + [0.0] * 2]
        ),
        covariances=np.tile(np.diag([0.03, 0.03, 0.13, 0.13]), (2, 1, 1)),
    )
    assert (
        choose_related_pair(
            measurer, tuple(numbers), laws, np.bincount(label) * 1.0, loss
        )
        == pair
    )
    assert sum(event.epsilon for event in measurer.events) == 1


def test_a_pair_is_drawn_as_it_goes_together() -> None:
    """For regression: the relation inside classes must come out at its size, and no
    other with it.
    """
    frame = table(20_000)
    ours = drawn(frame, Gaussian.for_schema(PLAIN, label="ill", detail="pair"))
    for ill in ("no", "yes"):
        theirs, here = (each[each["ill"] == ill] for each in (frame, ours))
        assert (
            abs(
                here["sugar"].corr(here["weight"])
                - theirs["sugar"].corr(theirs["weight"])
            )
            < 0.05
        )
        assert abs(here["visits"].corr(here["sugar"])) < 0.05


@pytest.mark.parametrize("seed", range(5))
def test_feature_groups_are_recovered(seed: int) -> None:
    """SEEDS P11: two planted blocks (r = 0.9 inside, 0 across) at epsilon 1 and 5,000
    rows.
    """
    rng = np.random.default_rng(seed)
    blocks = rng.normal(0, 1, (5_000, 2))
    numbers = {
        name: np.sqrt(0.9) * blocks[:, i // 3] + np.sqrt(0.1) * rng.normal(0, 1, 5_000)
        for i, name in enumerate("abcdef")
    }
    under = schema(*(dp.Real(name, low=-3, high=3, bin_width=0.01) for name in numbers))
    engine = opened(pd.DataFrame({**numbers, "ill": "no"}), under)._engine
    loss = dp.PureDP(epsilon=1)
    measurer = Measurer(
        engine.counts, domain=engine.domain, loss=loss, max_rows=1, sums=engine.sums
    )
    assert find_groups(measurer, tuple("abcdef"), loss) == (
        ("a", "b", "c"),
        ("d", "e", "f"),
    )
    shuffled = pd.DataFrame(
        {name: rng.permutation(each) for name, each in numbers.items()}
    )
    broken = opened(shuffled.assign(ill="no"), under)._engine
    twin = Measurer(
        broken.counts, domain=broken.domain, loss=loss, max_rows=1, sums=broken.sums
    )
    assert len(find_groups(twin, tuple("abcdef"), loss)) == 6


def test_the_generator_sees_no_table() -> None:
    """SEEDS P12: rows are drawn from noisy numbers and a random state only."""
    assert list(inspect.signature(GaussianModel.sample_codes).parameters) == [
        "self",
        "rows",
        "rng",
    ]
    release = opened(table(500), budget=dp.PureDP(epsilon=1)).run(
        Gaussian.for_schema(PLAIN, label="ill"),
        dp.PureDP(epsilon=1),
    )
    again = load_model(release.model.to_dict())
    first, second = (
        each.sample_codes(50, np.random.default_rng(7))
        for each in (release.model, again)
    )
    assert all((first[name] == second[name]).all() for name in first)
    assert (
        release.from_json(release.to_json())
        .sample(5, seed=1)
        .equals(release.sample(5, seed=1))
    )


def test_labels_and_sizes_are_noisy() -> None:
    """SEEDS 7.2: the book's code releases labels, sizes and the order of rows exactly;
    ours must not.
    """
    frame = table(400)
    loss = dp.PureDP(epsilon="0.5")
    sizes = [
        opened(frame, budget=loss)
        .run(Gaussian.for_schema(PLAIN, label="ill"), loss)
        .marginals[("ill",)]
        .values
        for _ in range(5)
    ]
    exact = frame["ill"].value_counts()[["no", "yes"]].to_numpy()
    assert all(np.abs(each - exact).min() > 0 for each in sizes)


# Moments


def bell(rows: np.ndarray) -> np.ndarray:
    return np.exp(-((rows / 10) ** 2) / 2)


def test_means_that_noise_alone_could_set_apart_come_together() -> None:
    """Below the noise a difference must be believed in part only; beyond it, it must
    stay as it is.
    """
    sizes = np.array([50.0, 50.0])
    near = np.array([[5.0], [-5.0]])
    far = np.array([[40.0], [-40.0]])
    believed = posterior_means(near, sizes, 10.0, bell)
    assert 0.02 < believed[0, 0] < 0.08 < 0.1
    assert believed.sum() == pytest.approx(0, abs=1e-6)
    assert posterior_means(far, sizes, 10.0, bell)[0, 0] > 0.6
    exact = posterior_means(
        np.array([[20.0, -49.9], [0.1, 3.0]]),
        sizes,
        1e-4,
        lambda rows: bell(rows * 1e5),
    )
    assert exact == pytest.approx(np.array([[0.4, -0.998], [0.002, 0.06]]), abs=1e-4)


def test_means_by_drawing() -> None:
    """The posterior mean must be nearer to the truth, on average, than the noisy mean
    is.
    """
    rng = np.random.default_rng(1)
    center = rng.uniform(-0.5, 0.5, 400)
    truth = np.clip(center + rng.laplace(0, CLASS_MEAN_SPREAD, (2, 400)), -1, 1)
    sizes = np.array([50.0, 30.0])
    noisy = truth * sizes[:, None] + rng.normal(0, 10, (2, 400))
    plain = ((np.clip(noisy / sizes[:, None], -1, 1) - truth) ** 2).mean()
    assert (
        (posterior_means(noisy, sizes, 10.0, bell) - truth) ** 2
    ).mean() < 0.85 * plain


def test_correlations_are_always_ones() -> None:
    """Noise may leave a matrix that no numbers can have; it must be mended before
    drawing.
    """
    rng = np.random.default_rng(3)
    for _ in range(50):
        noisy = np.clip(rng.normal(0, 1, (3, 4, 4)), -1, 1)
        found = nearest_correlations(noisy + np.swapaxes(noisy, 1, 2))
        assert np.linalg.eigvalsh(found).min() > 0
        assert np.allclose(np.diagonal(found, axis1=1, axis2=2), 1)
        assert np.abs(found).max() <= 1 + 1e-9


@pytest.mark.parametrize("second", [True, False])
def test_moments_of_nonsense_are_finite(second: bool) -> None:
    """Sizes below 0 and sums of any size must give a model that draws."""
    first = NoisySums(
        by=("ill",), values=np.array([[-50.0, 900.0], [0.0, -3e9]]), deviation=1e6
    )
    squares = (
        NoisySums(by=("ill",), values=np.array([[1e12], [-1e12]]), deviation=1e6)
        if second
        else None
    )
    found = fit_moments(first, squares, bell)
    assert np.isfinite(found.centers).all()
    assert np.isfinite(np.linalg.cholesky(found.covariances)).all()


# Bad input


def test_a_label_with_missing_values() -> None:
    """Rows without a label must be a class of their own, and come out without one."""
    label = dp.Categorical("ill", categories=("no", "yes"), missing=True)
    under = dp.Schema(columns=(*PLAIN.columns[:3], label), unit=UNIT)
    frame = table(2_000)
    frame.loc[:399, "ill"] = None
    found = drawn(frame, Gaussian.for_schema(under, label="ill"), under=under)
    assert found["ill"].isna().mean() == pytest.approx(0.2, abs=0.02)
    assert set(found["ill"].dropna()) == {"no", "yes"}


def test_a_class_of_two_rows_an_empty_one_and_a_constant_feature() -> None:
    """The smallest classes and a feature of one value must give rows, at any loss."""
    frame = pd.DataFrame(
        {"sugar": 100.0, "weight": 70.0, "visits": 3, "ill": ["yes"] * 2 + ["no"] * 300}
    )
    for loss in (dp.PureDP(epsilon="0.01"), dp.PureDP(epsilon=1), LOUD):
        for each in (frame, frame[frame["ill"] == "no"].reset_index(drop=True)):
            found = drawn(each, Gaussian.for_schema(PLAIN, label="ill"), loss)
            assert len(found) == 20_000
            assert found.notna().all().all()
    assert abs(found["sugar"].mean() - 100) < 5


def test_more_features_than_rows() -> None:
    """Forty features of ten people: rows come out, and the quote says beforehand how
    little they mean.
    """
    names = [f"x{i}" for i in range(40)]
    under = schema(*(dp.Real(name, low=0, high=1, bin_width=0.01) for name in names))
    frame = pd.DataFrame(
        {name: np.linspace(0, 1, 10) for name in names} | {"ill": ["no", "yes"] * 5}
    )
    recipe = Gaussian.for_schema(under, label="ill")
    assert len(drawn(frame, recipe, dp.PureDP(epsilon=1), under)) == 20_000
    noise = recipe.mean_noise(under.domain, dp.PureDP(epsilon=1), 1)
    # a quote knows no rows, so variances and cells may take their shares; without
    # groups no products can
    share = (1 - float(ROW_COUNT_SHARE)) * float(DETAIL_SHARES["cells"][0])
    assert noise == pytest.approx(np.sqrt(42 * 43 / 3) / share, rel=1e-3)
    assert 10 / noise < 1  # signal to noise, before paying
    quote = opened(frame, under, dp.PureDP(epsilon=1)).quote(
        recipe, dp.PureDP(epsilon=1)
    )
    assert quote.expected[0].half_width() > 10


def test_what_cannot_be_a_feature_is_refused_with_a_way_out() -> None:
    """A column without numbers, with missing values, or a label of one class: a
    sentence, and no charge.
    """
    job = dp.Categorical("job", categories=("a", "b", "c"))
    gaps = dp.Real("x", low=0, high=1, bin_width=0.1, missing=True)
    with pytest.raises(dp.ParameterError, match="one-hot"):
        Gaussian.for_schema(schema(job), label="ill")
    with pytest.raises(dp.ParameterError, match="not in every row"):
        Gaussian.for_schema(schema(gaps), label="ill")
    with pytest.raises(dp.ParameterError, match="not in the schema"):
        Gaussian.for_schema(PLAIN, label="sick")
    with pytest.raises(dp.ParameterError, match="at least one feature"):
        Gaussian.for_schema(PLAIN, label="ill", columns=[])
    with pytest.raises(dp.ParameterError, match="one group only"):
        Gaussian.for_schema(PLAIN, label="ill", groups=[["sugar"], ["sugar"]])
    with pytest.raises(dp.ParameterError, match="detail"):
        Gaussian(label="ill", features=("sugar",), detail="all")
    single = dp.Schema(
        columns=(
            dp.Real("x", low=0, high=1, bin_width=0.1),
            dp.Categorical("ill", categories=("no",)),
        ),
        unit=UNIT,
    )
    constant = schema(
        dp.Integer("x", low=3, high=3), dp.Categorical("land", categories=("DE",))
    )
    for columns in (["x"], ["land"]):
        with pytest.raises(dp.ParameterError, match="has only one cell"):
            opened(
                pd.DataFrame({"x": [3], "land": ["DE"], "ill": ["no"]}), constant
            ).run(
                Gaussian.for_schema(
                    constant,
                    label="ill",
                    columns=columns,
                    one_hot={"land"} & set(columns),
                ),
                LOUD,
            )
    curator = opened(pd.DataFrame({"x": [0.5], "ill": ["no"]}), single)
    for recipe in (
        Gaussian.for_schema(single, label="ill"),
        Gaussian(label="ill", features=("ill",)),
    ):
        with pytest.raises(dp.ParameterError):
            curator.run(recipe, LOUD)
    assert [line.state for line in curator.lines()] == ["opened"]


def test_not_a_number_is_refused_when_the_table_is_opened() -> None:
    """NaN has no place among numbers unless it is declared; infinity is beyond the
    bound and counts as it.
    """
    frame = table(10)
    frame.loc[0, "sugar"] = np.nan
    with pytest.raises(dp.SchemaError, match="sugar"):
        opened(frame)


def test_too_many_sums_are_refused_before_paying() -> None:
    """Products of two hundred features are twenty thousand sums: a limit, not a
    wait.
    """
    names = [f"x{i}" for i in range(200)]
    under = schema(*(dp.Real(name, low=0, high=1, bin_width=0.1) for name in names))
    curator = opened(
        pd.DataFrame({name: [0.5] for name in names} | {"ill": ["no"]}), under
    )
    for groups in ([names], None):
        with pytest.raises(dp.LimitError):
            curator.run(Gaussian.for_schema(under, label="ill", groups=groups), LOUD)
    assert [line.state for line in curator.lines()] == ["opened"]


def test_a_part_of_the_table() -> None:
    """A public part must be learned from its own rows, and charged as a part."""
    frame = pd.concat([table(300, 1), table(300, 2)], ignore_index=True)
    sex = dp.Categorical("sex", categories=("F", "M"))
    under = dp.Schema(columns=(*PLAIN.columns, sex), unit=UNIT)
    frame["sex"] = ["F"] * 300 + ["M"] * 300
    recipe = Gaussian(label="ill", features=("sugar", "weight"))
    curator = opened(frame, under, dp.PureDP(epsilon=10**5))
    half = dp.PureDP(epsilon=5 * 10**4)
    for value, seed in (("F", 1), ("M", 2)):
        release = curator.run(recipe, half, part={"sex": value})
        exact = table(300, seed)["ill"].value_counts()[["no", "yes"]]
        assert np.rint(release.marginals[("ill",)].values).tolist() == exact.tolist()
    assert curator.balance().spent == half.epsilon * 10**12


def test_a_cell_for_missing_values_is_no_feature_of_its_own() -> None:
    """Numbers would be drawn by their categories, class by class, because a rule gave
    them one more cell.
    """
    assert cell_positions(6, missing=True).tolist() == [-1, -0.5, 0, 0.5, 1, 0]
    assert upper_half_indicator(5, 0.2, missing=True).tolist() == [0, 0, 1, 1, 0]
    assert upper_half_indicator(5, -0.2, missing=True).tolist() == [0, 0, 1, 1, 1]
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"label": ["a", "b"] * 2_000, "x": rng.integers(0, 50, 4_000)})
    frame.loc[frame["label"] == "b", "x"] += 40
    schema = dp.suggest_schema(frame)
    recipe = Gaussian.for_schema(schema, label="label")
    assert (recipe.features, recipe.one_hot, recipe.with_missing) == (
        ("x",),
        (),
        ("x",),
    )
    assert Gaussian.from_dict(recipe.to_dict()) == recipe
    curator = dp.Curator.open(
        frame, schema, budget=dp.PureDP(epsilon=100), ledger=dp.MemoryLedger()
    )
    drawn = curator.run(recipe, dp.PureDP(epsilon=50)).sample(4_000, seed=1)
    assert not drawn["x"].isna().any()
    means = drawn.groupby("label")["x"].mean()
    assert abs(means["a"] - 24.5) < 4
    assert abs(means["b"] - 64.5) < 4
    by_hand = dp.Schema(
        columns=(dp.Integer("x", low=0, high=99, missing=True), schema.column("label")),
        unit=schema.unit,
    )
    with pytest.raises(
        dp.ParameterError, match="'x' holds no numbers, or not in every row"
    ):
        Gaussian.for_schema(by_hand, label="label")
