"""Range queries on tables and releases, and how wrong they are."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from dpcore.evaluation import RangeErrorsQuestion, RangeErrorsReport
from dpcore.evaluation.utility.range_queries import cell_range
from dpcore.schema import Column, IntervalColumn
from dpcore.tables.rows import PublicTable

SCHEMA = dp.Schema(
    columns=(
        dp.Integer("age", low=0, high=99, bin_width=5, missing=True),
        dp.Date("day", low="2020-01-01", high="2020-12-31"),
        dp.Categorical("sex", categories=("F", "M")),
    ),
    unit=dp.PrivacyUnit(max_rows=2),
)


def table(rows: int = 4_000) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    ages = rng.integers(0, 100, rows).astype(float)
    ages[:50] = np.nan
    days = np.datetime64("2020-01-01") + rng.integers(0, 366, rows)
    return pd.DataFrame(
        {
            "age": ages,
            "day": days.astype("datetime64[s]"),
            "sex": rng.choice(["F", "M"], rows),
        },
    )


def opened() -> dp.Curator:
    return dp.Curator.open(
        table(), SCHEMA, budget=dp.PureDP(epsilon=100_000), ledger=dp.MemoryLedger()
    )


def asked(source: dp.Release | PublicTable, **options: object) -> RangeErrorsReport:
    return opened().evaluate(RangeErrorsQuestion(source=source, **options)).content


def test_ranges_of_a_release() -> None:
    """With next to no noise a range from a release must be the range of the rows; dates
    as well.
    """
    release = opened().run(
        dp.Marginals(cliques=[("age", "sex"), ("day",)]), dp.PureDP(epsilon=50_000)
    )
    frame = table()
    assert dp.range_query(release, "age", 20, 65) == pytest.approx(
        frame["age"].between(20, 64).sum()
    )
    # missing ages are in no range
    assert dp.range_query(release, "age", 0, 100) == pytest.approx(3_950)
    assert dp.range_query(release, "age", 20, 20) == 0
    days = ("2020-02-01", "2020-04-01")
    assert dp.range_query(release, "day", *days) == pytest.approx(
        dp.range_query(frame, "day", *days)
    )


def test_the_best_marginal_answers() -> None:
    """Of several marginals that hold the column, the one with the least noise in its
    sum must answer.
    """
    curator = opened()
    release = curator.run(
        dp.Marginals(cliques=[("age", "sex"), ("age",)], weights=(99, 1)),
        dp.PureDP(epsilon=1),
    )
    whole = release.marginals[("age", "sex")]
    alone = release.marginals[("age",)]
    best = min((whole.project(("age",)), alone), key=lambda marginal: marginal.variance)
    assert dp.range_query(release, "age", 0, 50) == pytest.approx(
        best.values[:10].sum()
    )


def test_ranges_of_a_marginal() -> None:
    """A marginal of a release answers by itself, stored and read again too; one without
    cells cannot.
    """
    release = opened().run(dp.Marginals(cliques=[("sex", "age")]), dp.PureDP(epsilon=1))
    again = dp.Release.from_json(release.to_json())
    for marginal in (
        release.marginals[("sex", "age")],
        again.marginals[("sex", "age")],
    ):
        answer = dp.range_query(marginal, "age", 20, 65)
        assert (
            answer
            == dp.range_query(release, "age", 20, 65)
            == marginal.values[:, 4:13].sum()
        )
    with pytest.raises(dp.ParameterError, match="not known"):
        dp.range_query(dataclasses.replace(marginal, columns=()), "age", 20, 65)
    with pytest.raises(dp.ParameterError, match="not in the marginal"):
        dp.range_query(marginal, "day", "2020-01-01", "2020-02-01")


@pytest.mark.parametrize(
    ("column", "low", "high"),
    [
        ("sex", 0, 1),
        ("height", 0, 1),
        ("age", 50, 20),
        ("age", "2020-01-01", 5),
        ("day", "x", "y"),
    ],
)
def test_ranges_that_make_no_sense(column: str, low: object, high: object) -> None:
    """No order, no such column, no bound of a cell, reversed or mixed bounds:
    refused.
    """
    release = opened().run(
        dp.Marginals(cliques=[("age",), ("day",), ("sex",)]), dp.PureDP(epsilon=1)
    )
    for source in (release, table()):
        with pytest.raises((dp.ParameterError, dp.SchemaError)):
            dp.range_query(source, column, low, high)


def test_bounds_inside_a_cell() -> None:
    """A release knows whole cells only: a bound inside one is refused, with the nearest
    ones named.
    """
    release = opened().run(dp.Histogram("age"), dp.PureDP(epsilon=1))
    with pytest.raises(dp.ParameterError, match="such as 0 or 5"):
        dp.range_query(release, "age", 3, 20)


@pytest.mark.parametrize(
    "values",
    [
        [10**19 + i % 7 for i in range(70)],
        [2**53 + i * 10**13 for i in range(70)],
        [0.0] * 40 + [i + 0.5 for i in range(30)],
        [0] * 40 + [100 * i for i in range(30)],
        ["2020-01-31", "2021-03-01"] * 35,
        [7] * 70,
    ],
    ids=["beyond 2^53", "at 2^53", "many zeros", "whole zeros", "dates", "constant"],
)
def test_bounds_that_a_column_proposes_are_never_refused(values: list[object]) -> None:
    """A page offers the bounds of a column's cells, and refused its own, such as "above
    0" or beyond 2^53.
    """
    frame = pd.DataFrame({"n": values})
    if values[0] == 10**19:
        column: Column = dp.Real(
            "n", low=1e19, high=2e19, bin_width=1e19, special=(1e19,)
        )
    else:
        column = dp.suggest_schema(frame).column("n")
    if not isinstance(column, IntervalColumn):
        column = dp.Integer("n", low=7, high=7)
    schema = dp.Schema(columns=(column,), unit=dp.PrivacyUnit(max_rows=1))
    curator = dp.Curator.open(
        frame, schema, budget=dp.PureDP(epsilon=1), ledger=dp.MemoryLedger()
    )
    counts = np.bincount(column.encode(frame["n"]), minlength=column.size)
    places = list(
        itertools.combinations_with_replacement(range(len(column.bounds)), 2)
    )[:300]
    named = tuple((column.bounds[low], column.bounds[high]) for low, high in places)
    found = curator.evaluate(
        RangeErrorsQuestion(source=None, column="n", given_ranges=named)
    ).content.given_ranges
    assert [each.true_rows for each in found] == [
        counts[low:high].sum() for low, high in places
    ]
    with pytest.raises(dp.ParameterError, match="must end above its start"):
        cell_range(column, column.bounds[1], column.bounds[0])


def test_a_release_without_the_column() -> None:
    """A column that was not measured has no ranges."""
    release = opened().run(dp.Histogram("sex"), dp.PureDP(epsilon=1))
    with pytest.raises(dp.ParameterError, match="no marginal"):
        dp.range_query(release, "age", 0, 5)


def test_errors_of_an_exact_copy_are_zero() -> None:
    """The original itself must have no error, at any width, and in named ranges."""
    found = asked(
        PublicTable(table()), column="age", given_ranges=((20, 65), (95, 100))
    )
    assert [width.width for width in found.widths] == [1, 2, 5, 10, 20]
    assert [width.ranges for width in found.widths] == [20, 19, 16, 11, 1]
    assert all(
        width.answer_errors.quantile_95 == 0
        and width.undefined_ranges == 0
        and width.direct_errors is None
        for width in found.widths
    )
    assert [named.percent_error for named in found.given_ranges] == [0, 0]


def test_errors_by_width() -> None:
    """Errors must be those of the answers: half a table is 50 % wrong, at every
    width.
    """
    half = pd.concat([table().iloc[50:].iloc[::2]])
    found = asked(PublicTable(half), column="day")
    assert found.widths[-1].answer_errors.median == pytest.approx(50, abs=3)
    assert (
        found.widths[0].answer_errors.quantile_95
        >= found.widths[0].answer_errors.median
    )


def test_direct_answers_are_the_law() -> None:
    """The figures beside the answers are quantiles of Laplace noise at the same loss
    and unit, not draws.
    """
    release = opened().run(dp.Histogram("age"), dp.PureDP(epsilon="0.5"))
    found = asked(
        release, column="age", given_ranges=((20, 65),), loss=dp.PureDP(epsilon="0.5")
    )
    count = table()["age"].between(20, 64).sum()
    direct = found.given_ranges[0].direct_errors
    # 2 rows per person: scale 4
    assert direct.median == pytest.approx(100 * 4 * np.log(2) / count, rel=1e-9)
    assert direct.quantile_95 == pytest.approx(100 * 4 * np.log(20) / count, rel=1e-9)
    counts = np.histogram(table()["age"].dropna(), bins=np.arange(0, 101, 5))[0]
    rng = np.random.default_rng(2)
    draws = np.abs(rng.laplace(0, 4, (20_000, 20))) / counts * 100
    assert found.widths[0].direct_errors.median == pytest.approx(
        np.quantile(draws, 0.5), rel=0.03
    )
    assert found.widths[0].direct_errors.quantile_95 == pytest.approx(
        np.quantile(draws, 0.95), rel=0.03
    )


def test_empty_ranges_are_undefined() -> None:
    """A range without a row in the original has no percentage: counted, not divided
    by.
    """
    frame = table()
    frame["age"] = frame["age"].clip(upper=30)
    curator = dp.Curator.open(
        frame, SCHEMA, budget=dp.PureDP(epsilon=1), ledger=dp.MemoryLedger()
    )
    source = PublicTable(table())
    question = RangeErrorsQuestion(
        source=source, column="age", given_ranges=((60, 70),), loss=dp.PureDP(epsilon=1)
    )
    found = curator.evaluate(question).content
    assert found.given_ranges[0].percent_error is None
    assert found.given_ranges[0].direct_errors is None
    assert found.widths[0].undefined_ranges == 13
    assert np.isfinite(found.widths[0].answer_errors.quantile_95)


@pytest.mark.parametrize(
    "options",
    [
        {"column": "sex"},
        {"column": "height"},
        {"column": "age", "given_ranges": ((3, 20),)},
        {"column": "age", "given_ranges": ((50, 20),)},
    ],
)
def test_questions_are_checked(options: dict[str, object]) -> None:
    """An experiment on a column without an order, or with wild bounds, is refused."""
    with pytest.raises(dp.ParameterError):
        asked(PublicTable(table()), **options)


def test_an_evaluation_says_what_it_reads() -> None:
    """The ledger line names the question."""
    question = RangeErrorsQuestion(source=PublicTable(table()), column="age")
    assert (question.kind, question.ledger_names) == ("range query errors", ("age",))
