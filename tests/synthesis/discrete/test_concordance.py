"""Numbers that say whether two ordered columns rise together."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpcore as dp
from dpcore.schema.domain import Domain
from dpcore.synthesis import SyntheticModel, Tree, load_recipe
from dpcore.synthesis.discrete import concordance
from dpcore.synthesis.discrete.concordance import (
    MAX_CONCORDANCE_SHARE,
    MAX_LOUD_CONCORDANCE_SHARE,
    MAX_STRENGTH,
    Concordances,
    concordance_share,
)
from dpcore.synthesis.discrete.recipes import table_recipe_arguments
from tests.statistical import laws
from tests.synthesis.standin import Table
from tests.tiers import examples

SIZES = {"a": 12, "b": 7, "c": 30}
ROWS = 4_000


def table(seed: int = 1) -> Table:
    """Three ordered columns, of which the last cell of `b` holds what has no order."""
    rng = np.random.default_rng(seed)
    codes = {name: rng.integers(0, size, ROWS) for name, size in SIZES.items()}
    codes["c"] = np.clip(2 * codes["a"] + rng.integers(-4, 9, ROWS), 0, 29)
    return Table(codes, Domain(names=tuple(SIZES), sizes=tuple(SIZES.values())))


def measured(of: Table, loss: dp.ZCDP) -> tuple[Concordances, float]:
    """All pairs of the table, with its exact counts for the medians."""
    counts = {
        name: np.bincount(of.codes[name], minlength=SIZES[name]).astype(float)
        for name in SIZES
    }
    return Concordances.measure(
        of.measurer(loss), counts | {"b": counts["b"][:6]}, loss
    )


def exact(of: Table) -> dict[tuple[str, str], int]:
    """The same from the rows, one after the other."""
    sides = {}
    for name, size in SIZES.items():
        values = of.codes[name][of.codes[name] < (6 if name == "b" else size)]
        at_most = {
            cell: np.mean(values < cell) + np.mean(values == cell) / 2
            for cell in range(size)
        }
        sides[name] = [
            0 if name == "b" and cell == 6 else -1 if at_most[cell] < 0.5 else 1
            for cell in of.codes[name]
        ]
    return {
        (one, two): sum(x * y for x, y in zip(sides[one], sides[two], strict=True))
        for one, two in itertools.combinations(SIZES, 2)
    }


def test_the_number_is_that_of_the_rows() -> None:
    """Drawn rows would go towards the relation of other columns, or of rows without a
    value.
    """
    of = table()
    found, deviation = measured(of, dp.ZCDP(rho=10**6))  # next to no noise
    assert found.rows == pytest.approx(exact(of), abs=1.0)
    assert deviation < 0.1
    assert found.rows["a", "c"] > ROWS / 2 > abs(found.rows["a", "b"])


@pytest.mark.proof
def test_its_noise_is_what_it_says() -> None:
    """Relations would be believed that noise made, or not believed."""
    of = table()
    loss = dp.ZCDP(rho="1/500")
    truth = exact(of)
    draws = [measured(of, loss) for _ in range(2_000)]
    deviation = draws[0][1]
    # three numbers, of one row each 1
    assert deviation == pytest.approx(np.sqrt(3 / (2 * 0.002)), rel=1e-3)
    off = np.array(
        [[found.rows[pair] - truth[pair] for pair in truth] for found, _ in draws]
    ).ravel()
    assert laws.variance_fits(off, 0.0, deviation**2)
    assert not laws.variance_fits(off, 0.0, (1.1 * deviation) ** 2)  # the twin
    assert laws.mean_fits(off, 0.0, deviation**2)


@examples(200)
@given(st.integers(0, 2**32 - 1), st.floats(-1.2, 1.2))
def test_a_table_is_moved_to_its_number_with_its_columns(
    seed: int, goal: float
) -> None:
    """Columns would be paid for and then changed, or a stranger's number would fill a
    table with NaN.
    """
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(2, 9, 2))
    counts = rng.gamma(0.3, 100, shape) * (rng.random(shape) < 0.8)
    counts += 1e-3 * (counts.sum() == 0)
    sides = {
        n: np.sign(np.arange(size) - rng.integers(0, size) + 0.5)
        for n, size in zip("xy", shape, strict=True)
    }
    number = goal * float(counts.sum())
    pair = Concordances(sides=sides, rows={("x", "y"): number})
    moved = pair.adjust_table(("x", "y"), counts)
    assert np.isfinite(moved).all()
    assert (moved >= 0).all()
    np.testing.assert_allclose(
        moved.sum(axis=0), counts.sum(axis=0), rtol=1e-6, atol=1e-6 * counts.sum()
    )
    np.testing.assert_allclose(pair.adjust_table(("y", "x"), counts.T), moved.T)
    before = pair.concordance_of(("x", "y"), counts)
    after = pair.concordance_of(("x", "y"), moved)
    assert abs(after - number) <= abs(before - number)


def test_independent_columns_become_normal_ones() -> None:
    """A pair that was not measured would come out in four blocks, and its rank
    correlation too small.
    """
    sides = {name: np.repeat([-1.0, 1.0], 10) for name in "xy"}
    number = 2 / np.pi * np.arcsin(0.7)  # of normal numbers that correlate so
    moved = Concordances(sides=sides, rows={("x", "y"): number}).adjust_table(
        ("x", "y"),
        np.full((20, 20), 1 / 400),
    )
    places = np.arange(20) - 9.5
    ranks = float(places @ moved @ places) / float((places**2).mean())
    assert ranks == pytest.approx(6 / np.pi * np.arcsin(0.35), abs=0.01)
    blocks = np.kron(
        [[1 + number, 1 - number], [1 - number, 1 + number]], np.full((10, 10), 1 / 400)
    )
    # the twin
    assert float(places @ blocks @ places) / float((places**2).mean()) < ranks - 0.1


def test_what_no_relation_reaches_is_the_strongest() -> None:
    """A number larger than the number of rows, as noise makes it, would never be reached."""
    sides = {name: np.repeat([-1.0, 1.0], 3) for name in "xy"}
    at = [
        Concordances(sides=sides, rows={("x", "y"): rows}).adjust_table(
            ("x", "y"), np.full((6, 6), 10.0)
        )
        for rows in (10.0**6, 10.0**9)
    ]
    np.testing.assert_allclose(*at)
    assert MAX_STRENGTH > 1
    assert at[0][0, 0] > 40 * at[0][0, 5]


def test_the_share_of_the_loss() -> None:
    """It would be paid where rows cannot be drawn towards it, or more than it is
    worth.
    """

    def share(
        ordered: int,
        rows: float,
        loss: dp.ZCDP | dp.PureDP | None = None,
        columns: int = 10,
    ) -> Fraction:
        return concordance_share(
            [20] * columns, ordered, loss or dp.ZCDP(rho="0.015"), 1, rows
        )

    assert (
        share(1, 10_000)
        == share(5, 100)
        == share(5, 10**8)
        == share(5, 10_000, columns=200)
        == 0
    )
    # a million rows are drawn in blocks, and refined
    assert share(5, 10**6) > 0
    assert share(5, 10_000, dp.PureDP(epsilon=1)) == 0
    # loud numbers may cost more, up to half of what these pairs are of all
    assert share(9, 1_000) == MAX_LOUD_CONCORDANCE_SHARE > MAX_CONCORDANCE_SHARE
    assert share(6, 1_000) == Fraction(15, 90)
    # with louder ones still, all columns would pay for numbers that tell little
    assert share(9, 600) == MAX_CONCORDANCE_SHARE
    assert share(6, 1_000, columns=20) == Fraction(15, 380)
    assert MAX_CONCORDANCE_SHARE >= share(6, 10_000) > share(6, 50_000) > 0
    assert share(6, 10_000) > share(3, 10_000)
    assert share(6, 1_000, dp.ZCDP(rho="0.00015")) == 0


def people(seed: int = 3) -> pd.DataFrame:
    """Parents whose ages go together, a fifth of the one unknown, and numbers that do
    not.
    """
    rng = np.random.default_rng(seed)
    mother = rng.normal(30, 6, 2_000).clip(15, 54).round()
    father = (mother + rng.normal(2, 3, 2_000)).clip(15, 74).round()
    father[rng.random(2_000) < 0.2] = np.nan
    return pd.DataFrame(
        {"mother": mother, "father": father, "score": rng.integers(0, 100, 2_000)}
    )


SCHEMA = dp.Schema(
    columns=(
        dp.Integer("mother", low=15, high=54),
        dp.Integer("father", low=15, high=74, missing=True),
        dp.Integer("score", low=0, high=99),
    ),
    unit=dp.PrivacyUnit(max_rows=1),
)


def released(recipe: dp.Adaptive) -> dp.Release:
    """A release at epsilon 1."""
    loss = dp.ApproxDP(epsilon=1, delta=1e-9)
    curator = dp.Curator.open(people(), SCHEMA, budget=loss, ledger=dp.MemoryLedger())
    return curator.run(recipe, loss)


def test_a_relation_of_numbers_outlives_small_tables() -> None:
    """Of 40 by 60 cells in 2,000 rows nothing is left: noise on the one number is a
    tenth of what it says.
    """
    drawn = released(dp.Adaptive(**table_recipe_arguments(SCHEMA.columns))).sample(
        seed=1
    )
    found = drawn.astype(float).corr(method="spearman")
    # .79 with a deviation of .036, .89 in the table
    assert found.loc["mother", "father"] > 0.55
    assert abs(found.loc["mother", "score"]) < 0.4
    twin = released(dp.Adaptive()).sample(seed=1).astype(float).corr(method="spearman")
    assert twin.loc["mother", "father"] < 0.3  # 0 with a deviation of .015


def test_numbers_rise_together_inside_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    """In few wide cells, such as the years of dates, most of a relation would be lost
    if values lay in them at random.
    """
    rng = np.random.default_rng(8)
    first = rng.normal(500, 120, 4_000).clip(0, 999)
    second = (first + rng.normal(0, 20, 4_000)).clip(0, 999)
    frame = pd.DataFrame({"first": first.round(), "second": second.round()})
    schema = dp.Schema(
        columns=tuple(
            dp.Integer(name, low=0, high=999, bin_width=250) for name in frame
        ),
        unit=dp.PrivacyUnit(max_rows=1),
    )
    loss = dp.ApproxDP(epsilon=3, delta=1e-9)
    curator = dp.Curator.open(frame, schema, budget=loss, ledger=dp.MemoryLedger())
    release = curator.run(dp.Adaptive(**table_recipe_arguments(schema.columns)), loss)

    def relation() -> float:
        drawn = release.sample(seed=1).astype(float)
        return float(drawn.corr(method="spearman").loc["first", "second"])

    together = relation()
    assert together > 0.9  # .98 in the table
    ranked = SyntheticModel.sample_ranked
    monkeypatch.setattr(
        SyntheticModel,
        "sample_ranked",
        lambda model, rows, source: (ranked(model, rows, source)[0], {}),
    )
    assert relation() < together - 0.08  # twin


def test_a_file_keeps_it_and_the_model_of_some_rows_does_not() -> None:
    """Rows of a saved release would be others, or those of some people have the
    relation of all.
    """
    release = released(dp.Adaptive(**table_recipe_arguments(SCHEMA.columns)))
    again = dp.Release.from_json(release.to_json())
    model = release.model
    assert isinstance(model, SyntheticModel)
    assert model.concordances is not None
    pair = ("mother", "father")
    np.testing.assert_allclose(again.model.marginal(pair), model.marginal(pair))
    np.testing.assert_allclose(
        model.marginal(pair).sum(axis=1), model.marginal(pair[:1]), rtol=1e-6
    )
    some = model.given({"score": list(range(50))})
    assert some.concordances is None


def test_recipes_of_before_are_the_same_recipes() -> None:
    """A stored release would be paid for a second time, as its recipe would be another
    one.
    """
    for kind in (dp.Adaptive, Tree):
        fields = json.loads(json.dumps(kind(ordered=frozenset({"mother"})).to_dict()))
        assert "with_missing" not in fields
        assert load_recipe(fields) == kind(ordered=frozenset({"mother"}))
        full = kind(**table_recipe_arguments(SCHEMA.columns))
        assert full.with_missing == {"father"}
        assert load_recipe(json.loads(json.dumps(full.to_dict()))) == full


def test_none_are_asked_for_beside_an_earlier_model() -> None:
    """Groups of a model without order hold low and high values together, and have no
    sides.
    """
    first = released(dp.Adaptive())
    again = released(
        dp.Adaptive(**table_recipe_arguments(SCHEMA.columns), earlier=first)
    ).model
    assert isinstance(again, SyntheticModel)
    assert again.concordances is None


def test_a_column_of_mostly_one_value_still_rises_with_others() -> None:
    """Tolls are 0 in most rides, and the others cost more: two groups say so."""
    rng = np.random.default_rng(2)
    tolls = np.where(rng.random(6_000) < 0.93, 0.0, 5.76)
    frame = pd.DataFrame(
        {
            "tolls": tolls,
            "fare": np.round(rng.gamma(2, 5, 6_000) + 3 * tolls, 2),
            "again": rng.integers(0, 2, 6_000),
        }
    )
    schema = dp.Schema(
        columns=(
            dp.Real("tolls", low=0, high=20, bin_width=2, special=(0.0, 5.76)),
            dp.Real("fare", low=0, high=80, bin_width=4),
            dp.Integer("again", low=0, high=1),
        ),
        unit=dp.PrivacyUnit(max_rows=1),
    )
    loss = dp.ApproxDP(epsilon=1, delta="1e-9")
    curator = dp.Curator.open(frame, schema, budget=loss, ledger=dp.MemoryLedger())
    release = curator.run(dp.Adaptive(**table_recipe_arguments(schema.columns)), loss)
    assert set(release.model.concordances.rows) == {("tolls", "fare")}
    drawn = release.sample(seed=0)
    kept = drawn[["tolls", "fare"]].corr(method="spearman").iloc[0, 1]
    true = frame[["tolls", "fare"]].corr(method="spearman").iloc[0, 1]
    assert kept > true / 2 > 0.1


def test_many_numbers_of_one_factor_correct_each_other() -> None:
    """Two columns of which few rows have values would keep nothing of their relation:
    alone, their numbers drown in noise.
    """
    rng = np.random.default_rng(3)
    loadings = {f"c{place}": 0.95 for place in range(6)} | {"few": 0.8, "none": 0.0}
    rows = dict.fromkeys(loadings, 4_000.0) | {"few": 400.0}
    sides = dict.fromkeys(loadings, np.array([-1.0, 1.0]))
    both = {
        pair: min(rows[name] for name in pair)
        for pair in itertools.combinations(loadings, 2)
    }
    tables = {pair: np.full((2, 2), number / 4) for pair, number in both.items()}
    right = {
        (one, two): 2 / np.pi * np.arcsin(loadings[one] * loadings[two]) * number
        for (one, two), number in both.items()
    }
    errors = {"noisy": 0.0, "found": 0.0}
    for _ in range(20):
        noisy = {pair: number + 200 * rng.normal() for pair, number in right.items()}
        concordances = Concordances(sides=sides, rows=noisy)
        found = concordances.denoise(tables, 200.0, {}).rows
        for pair in (pair for pair in right if "few" in pair):
            errors["noisy"] += abs(noisy[pair] - right[pair])
            errors["found"] += abs(found[pair] - right[pair])
    assert errors["found"] < 0.5 * errors["noisy"]
    # a measured pair is taken as the model has it, if that has little noise
    held = concordances.denoise(tables, 200.0, {("c0", "c1"): 1.0}).rows
    assert abs(held["c0", "c1"]) < 50


def test_a_factor_that_noise_alone_could_make_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """At a small loss drawn columns would rise together that do not: two factors fit
    any noise.
    """
    rows = 5_000.0
    noise = 0.17 * rows
    names = [f"c{place}" for place in range(9)]
    loading = dict.fromkeys(names, 0.0) | dict.fromkeys(names[:5], 0.95)
    sides = dict.fromkeys(names, np.array([-1.0, 1.0]))
    right = {
        (one, two): 2 / np.pi * np.arcsin(loading[one] * loading[two]) * rows
        for one, two in itertools.combinations(names, 2)
    }
    tables = {pair: np.full((2, 2), rows / 4) for pair in right}

    def errors() -> np.ndarray:
        """Mean errors of related and of unrelated pairs over 50 draws of noise."""
        rng = np.random.default_rng(7)
        found = []
        for _ in range(50):
            noisy = {
                pair: number + noise * rng.normal() for pair, number in right.items()
            }
            numbers = Concordances(sides=sides, rows=noisy).denoise(tables, noise, {})
            off = {pair: abs(numbers.rows[pair] - right[pair]) for pair in right}
            found.append(
                [
                    np.mean(
                        [off[pair] for pair in right if bool(right[pair]) == related]
                    )
                    for related in (True, False)
                ]
            )
        return np.mean(found, axis=0) / rows

    kept = errors()
    monkeypatch.setattr(concordance, "_largest_eigenvalue_of_noise", lambda _: 0.0)
    twin = errors()
    assert kept[0] < twin[0]
    assert kept[1] < 0.7 * twin[1]
