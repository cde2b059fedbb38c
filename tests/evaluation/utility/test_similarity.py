"""Similarity: a copy is perfect, independent columns are worst where relations count,
and figures by hand.
"""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import dpcore as dp
from dpcore.errors import ParameterError, SchemaError
from dpcore.evaluation.utility import measures
from dpcore.evaluation.utility.marginal_error import measure_marginal_error
from dpcore.evaluation.utility.propensity import PropensityQuestion, measure_propensity
from dpcore.evaluation.utility.similarity import SimilarityQuestion, measure_similarity
from dpcore.tables.rows import PublicTable
from tests.evaluation.people import SCHEMA, independent, people

ORIGINAL = people(3_000, 1)
NAMES = SCHEMA.domain.names

MEASURES = [
    each for each in vars(measures).values() if isinstance(each, measures.Measure)
]


def test_every_measure_declares_itself() -> None:
    """A figure without range, direction and reference points cannot be read."""
    for measure in MEASURES:
        assert measure.perfect == (1 if measure.higher_is_better else 0)
    assert len({each.key for each in MEASURES}) == len(MEASURES)


def test_a_copy_scores_what_is_declared() -> None:
    """Perfect would not be where the chart marks it."""
    found = measure_similarity(
        ORIGINAL, ORIGINAL.sample(frac=1, random_state=1), SCHEMA
    )
    assert {each.measure.key for each in found.scores} == {
        each.key for each in MEASURES
    } - {"propensity"}
    for each in found.scores:
        assert each.value == pytest.approx(each.measure.perfect, abs=1e-12)
        assert not each.no_better_than_independent
    assert found.impossible_pairs == ()


def test_independent_columns_score_what_is_said() -> None:
    """The line "independent columns" would be somewhere else than a table of
    independent columns.
    """
    found = measure_similarity(ORIGINAL, independent(ORIGINAL, 3_000, 2), SCHEMA)
    for each in found.scores:
        if each.measure.independent is None:
            assert each.value == pytest.approx(each.independent, rel=0.3), each
            assert each.floor is None or each.value > 1.5 * each.floor, each


def test_single_columns_have_no_such_competitor() -> None:
    """Independent columns have every single column right: as a rival there they would
    always win.
    """
    found = measure_similarity(ORIGINAL, independent(ORIGINAL, 3_000, 2), SCHEMA)
    for key in ("column", "wasserstein", "quantiles"):
        single = next(each for each in found.scores if each.measure.key == key)
        assert single.independent is None
        assert not single.no_better_than_independent
        assert single.measure.independent == single.measure.perfect
        assert single.value < 0.15
    # pairs do have that competitor
    assert found.score(measures.PAIR_DISTANCE).independent is not None


def test_pairs_and_triples_are_those_of_the_marginal_error() -> None:
    """Two pages would give two figures for one thing."""
    release = people(500, 2)
    found = measure_similarity(ORIGINAL, release, SCHEMA)
    by_way = {
        way.way: way for way in measure_marginal_error(ORIGINAL, release, SCHEMA).ways
    }
    assert found.score(measures.PAIR_DISTANCE).value == by_way[2].mean
    assert found.score(measures.TRIPLE_DISTANCE).value == by_way[3].mean
    assert found.score(measures.COLUMN_DISTANCE).value == by_way[1].worst


def test_columns_by_hand() -> None:
    """Mean, median, share of zeros and missing would be of another table."""
    release = people(500, 2).assign(children=3)
    found = {
        each.column: each
        for each in measure_similarity(ORIGINAL, release, SCHEMA).columns
    }
    assert list(found) == sorted(found, key=lambda name: -found[name].distance)
    children = found["children"]
    assert children.mean == pytest.approx((ORIGINAL["children"].mean(), 3))
    assert children.median == (ORIGINAL["children"].median(), 3)
    assert children.zeros == pytest.approx(((ORIGINAL["children"] == 0).mean(), 0))
    assert children.distance == pytest.approx((ORIGINAL["children"] != 3).mean())
    city = found["city"]
    assert city.mean is city.median is city.zeros is city.wasserstein is None
    assert city.missing == pytest.approx(
        (ORIGINAL["city"].isna().mean(), release["city"].isna().mean())
    )
    for name, width in (("income", 100), ("weight", 150), ("age", 100)):
        expected = stats.wasserstein_distance(ORIGINAL[name], release[name]) / width
        assert found[name].wasserstein == pytest.approx(expected, rel=0.05)
        levels = np.arange(1, 10) / 10
        gaps = np.abs(
            np.quantile(ORIGINAL[name], levels) - np.quantile(release[name], levels)
        )
        assert found[name].deciles == pytest.approx(gaps.max() / width)


def test_association_and_correlation_by_scipy() -> None:
    """The maps of relations would be wrong."""
    release = people(500, 2)
    found = measure_similarity(ORIGINAL, release, SCHEMA)
    city, married, children, age = (
        NAMES.index(name) for name in ("city", "married", "children", "age")
    )
    for frame, table in (
        (ORIGINAL, found.association[0]),
        (release, found.association[1]),
    ):
        for (i, first), (j, second) in itertools.combinations(
            [(city, "city"), (married, "married"), (children, "children")],
            2,
        ):
            counts = pd.crosstab(frame[first].fillna("?"), frame[second]).to_numpy()
            expected = stats.contingency.association(
                counts, method="cramer", correction=False
            )
            assert table[i, j] == table[j, i] == pytest.approx(expected)
    for frame, table in (
        (ORIGINAL, found.correlation[0]),
        (release, found.correlation[1]),
    ):
        assert table[age, children] == pytest.approx(
            np.corrcoef(frame["age"], frame["children"])[0, 1]
        )
        assert np.isnan(table[city, age])


def test_impossible_pairs_are_named() -> None:
    """592 female husbands would go unmentioned."""
    release = people(1_000, 2)
    release.loc[:99, ["married", "children"]] = ["no", 4]
    found = measure_similarity(ORIGINAL, release, SCHEMA)
    first = found.impossible_pairs[0]
    assert {first[0]: first[1], first[2]: first[3]} == {
        "married": "no",
        "children": "4",
    }
    assert first[4] == pytest.approx(0.1)
    assert found.score(measures.IMPOSSIBLE_PAIRS).value == pytest.approx(0.1, abs=0.01)
    assert found.score(measures.IMPOSSIBLE_PAIRS).independent > 0.1


def test_what_is_rare_is_not_impossible() -> None:
    """A pair that chance alone keeps out of the original would be called impossible."""
    assert (
        measure_similarity(ORIGINAL, people(3_000, 9), SCHEMA)
        .score(measures.IMPOSSIBLE_PAIRS)
        .value
        < 0.005
    )


def test_propensity() -> None:
    """A classifier must fail on a second sample and succeed on independent columns and
    on planted rows.
    """
    found = measure_propensity(ORIGINAL, people(900, 2), SCHEMA)
    assert found.value > 0.8
    assert found.floor > 0.8
    assert found.independent < 0.5
    assert not found.no_better_than_independent
    lost = measure_propensity(ORIGINAL, independent(ORIGINAL, 900, 2), SCHEMA)
    assert lost.value == pytest.approx(lost.independent, abs=0.12)
    assert measure_propensity(
        ORIGINAL, people(900, 2).assign(age=5), SCHEMA
    ).value == pytest.approx(0)


def test_propensity_sees_every_category() -> None:
    """Two tables without a common category were called alike, 0.95 of 1, where it was
    after the twentieth.
    """
    labels = tuple(f"c{i:02}" for i in range(60))
    schema = dp.Schema(
        columns=(dp.Categorical("c", categories=labels),),
        unit=dp.PrivacyUnit(max_rows=1),
    )
    rng = np.random.default_rng(1)
    own, other = (
        pd.DataFrame({"c": rng.choice(labels[start::2], 600)}) for start in (20, 21)
    )
    again = pd.DataFrame({"c": rng.choice(labels[20::2], 600)})
    assert measure_propensity(own, other, schema).value < 0.2
    assert measure_propensity(own, again, schema).value > 0.5  # the twin


def test_propensity_of_a_few_rows_gets_a_sentence() -> None:
    """Five rows ended in an error of another library."""
    with pytest.raises(ParameterError, match="too few rows"):
        measure_propensity(people(5, 1), people(5, 2), SCHEMA)


def test_missing_values_are_no_numbers() -> None:
    """Where two columns are missing together they went together: the missing cell
    counted as the highest.
    """
    x, y = (dp.Integer(name, low=0, high=9, missing=True) for name in "xy")
    schema = dp.Schema(columns=(x, y), unit=dp.PrivacyUnit(max_rows=1))
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {name: rng.integers(0, 10, 400).astype(float) for name in "xy"}
    )
    frame.loc[:150] = np.nan
    release = pd.DataFrame(
        {name: rng.integers(0, 10, 400).astype(float) for name in "xy"}
    )
    found = measure_similarity(frame, release, schema)
    known = frame.dropna()
    assert found.correlation[0][0, 1] == pytest.approx(known["x"].corr(known["y"]))


def test_one_column_alone() -> None:
    """A release of one column has no pairs, and is compared all the same."""
    for name in ("city", "age"):
        found = measure_similarity(ORIGINAL, people(100, 2)[[name]], SCHEMA)
        assert found.score(measures.PAIR_DISTANCE) is None
        assert found.score(measures.QUERY_ERROR).value > 0


def test_bad_input_gets_a_sentence() -> None:
    """A foreign file would end in a traceback."""
    with pytest.raises(ParameterError, match="in common"):
        measure_similarity(ORIGINAL, pd.DataFrame({"x": [1]}), SCHEMA)
    with pytest.raises(SchemaError, match="cell"):
        measure_similarity(ORIGINAL, people(10, 1).assign(married="*"), SCHEMA)


def test_through_the_curator() -> None:
    """Both evaluations must leave a line and charge nothing."""
    curator = dp.Curator.open(
        ORIGINAL, SCHEMA, budget=dp.PureDP(epsilon=1), ledger=dp.MemoryLedger()
    )
    release = PublicTable(people(300, 2))
    assert len(
        curator.evaluate(SimilarityQuestion(table=release)).content.columns
    ) == len(NAMES)
    assert (
        curator.evaluate(PropensityQuestion(table=release)).content.measure
        == measures.PROPENSITY
    )
    assert [line.state for line in curator.lines()[-2:]] == ["outside", "outside"]
    assert curator.balance().spent == 0
