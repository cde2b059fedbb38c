"""Cells of numbers, found privately: one person's rows, the charge, what is found, and
what tells of it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpcore as dp
from dpcore.accounting.events import Event
from dpcore.curator.measuring import build_rehearsal
from dpcore.evaluation.table import cells_of_numbers
from dpcore.evaluation.table.cells_of_numbers import (
    NumberCellsQuestion,
    largest_hidden_rows,
    search_loss,
    with_public_cells,
)
from dpcore.release import PrivateReport
from dpcore.schema import Column, Integer, Real
from dpcore.schema.coarsening import MIN_VISIBLE_CELLS
from dpcore.schema.origin import CELL_FACTS
from dpcore.schema.source import Source
from dpcore.tables.counts import Marginal
from tests.statistical import laws
from tests.tiers import examples

ZCDP = dp.ApproxDP(epsilon=1, delta="1e-9")
BUDGETS = [dp.PureDP(epsilon=3), dp.ApproxDP(epsilon=3, delta="1e-9")]
COLUMNS = (
    Integer(
        "pay",
        low=0,
        high=9,
        missing=True,
        unreadable_is_missing=True,
        synonyms=(("low", "3"),),
    ),
    Real(
        "pay",
        low=0,
        high=9,
        bin_width=1,
        missing=True,
        unreadable_is_missing=True,
        missing_tokens=("-9",),
    ),
)
VALUES = st.one_of(
    st.none(),
    st.decimals(-100, 100, places=3),
    st.integers(-(10**14), 10**14),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(
        [
            0.0,
            12.5,
            -1.0,
            1e12,
            -1e12,
            5e-324,
            1e300,
            250,
            12.49,
            99999,
            "-9",
            "k.A.",
            "7",
        ]
    ),
)


def schema_of(*columns: Column, rows: int = 1) -> dp.Schema:
    return dp.Schema(columns=columns, unit=dp.PrivacyUnit(max_rows=rows))


class Scripted:
    """A measurer whose noisy answers are given, whatever the rows; it keeps the exact
    counts of each rule.
    """

    def __init__(self, rows: pd.Series, answers: Callable[[int], np.ndarray]) -> None:
        self.rows = rows
        self.answers = answers
        self.loss = dp.PureDP(epsilon=1)
        self.exact: list[np.ndarray] = []

    def count_by_rule(
        self, assign: Any, cells: int, reads: Sequence[str], loss: dp.PureDP
    ) -> Any:
        codes = assign(pd.DataFrame(dict.fromkeys(reads, self.rows)))
        assert ((codes >= 0) & (codes < cells)).all()
        self.exact.append(np.bincount(codes, minlength=cells))
        return Marginal(
            clique=(), values=self.answers(cells), variance=100.0, noise="gaussian"
        )


def answers_of(seed: int) -> Callable[[int], np.ndarray]:
    """Any noisy counts, of which some stand out, the same for every table."""
    rng = np.random.default_rng(seed)
    return lambda cells: np.where(
        rng.random(cells) < 0.1, 1_000.0, rng.normal(0, 10, cells)
    )


def counts(column: Column, values: Sequence[Any], seed: int) -> list[np.ndarray]:
    """The exact counts of every level, of a search whose noisy answers follow the
    seed.
    """
    measurer = Scripted(pd.Series(list(values), dtype=object), answers_of(seed))
    search = NumberCellsQuestion(columns=(column.name,))
    search.measure(measurer, schema_of(with_public_cells(column)))  # type: ignore[arg-type]
    return measurer.exact


def moved(column: Column, values: Sequence[Any], more: Any, seed: int) -> list[int]:
    """By how much one more row changes the counts of each level."""
    pairs = zip(
        counts(column, values, seed), counts(column, [*values, more], seed), strict=True
    )
    return [int(np.abs(before - after).sum()) for before, after in pairs]


@examples(100)
@given(
    st.sampled_from(COLUMNS), st.lists(VALUES, max_size=20), VALUES, st.integers(0, 50)
)
def test_a_row_moves_one_cell_of_each_count(
    column: Column, values: list[Any], more: Any, seed: int
) -> None:
    """A row that moved two cells, or those of others, would cost more than the ledger
    says.
    """
    assert set(moved(column, values, more, seed)) == {1}


def test_a_rule_that_looks_at_the_others_would_be_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The test above would let a search pass in which one person moves the cells of
    others.
    """
    monkeypatch.setattr(
        Real,
        "encode",
        lambda self, values: np.full(len(values), len(values) % self.size),
    )
    assert max(moved(COLUMNS[1], [1.0, 2.0, 3.0], 4.0, 0)) > 1


@examples(100)
@given(
    st.sampled_from(COLUMNS),
    st.integers(0, 10**6),
    st.sampled_from([0.01, 0.1, 0.5, 0.9]),
)
def test_any_noise_ends_in_a_declaration(
    column: Column, seed: int, share: float
) -> None:
    """A search could fail after its charge by what the noise was."""
    rng = np.random.default_rng(seed)

    def answers(cells: int) -> np.ndarray:
        heavy = rng.random(cells) < share * rng.random()
        return np.where(heavy, rng.exponential(2_000, cells), rng.normal(0, 10, cells))

    measurer = Scripted(pd.Series([1.5, None, 0, -3], dtype=object), answers)
    answer = NumberCellsQuestion(columns=("pay",)).measure(
        measurer, schema_of(with_public_cells(column))
    )  # type: ignore[arg-type]
    (fields,) = answer["columns"]
    found = Column.from_dict(fields)
    assert found.encode(measurer.rows).max() < found.size
    assert set(found.from_data).isdisjoint(CELL_FACTS)


def frame_of(rows: int = 60_000) -> pd.DataFrame:
    """Numbers of a few kinds, of which much is known."""
    rng = np.random.default_rng(0)
    hours = rng.choice([12.5, 38.75, 40.0], rows, p=[0.2, 0.2, 0.6])
    return pd.DataFrame(
        {
            "pay": np.round(rng.lognormal(7, 1, rows), 2),
            "score": rng.choice([1, 2, 3, 4, 5], rows),
            "children": rng.choice([0, 1, 2, 3], rows),
            "hours": np.where(
                rng.random(rows) < 0.3, np.round(80 * rng.random(rows), 4), hours
            ),
            "year": rng.integers(2007, 2014, rows),
            "top": np.where(
                rng.random(rows) < 0.3,
                25_564.67,
                np.round(25_000 * rng.random(rows), 2),
            ),
            "balance": np.round(rng.normal(0, 500, rows), 1),
            "city": rng.choice(["Linz", "Graz", "Wien"], rows),
        },
    )


FRAME = frame_of()
NUMBERS = ("pay", "score", "children", "hours", "year", "top", "balance")
SCHEMA = dp.suggest_schema(FRAME)


def opened(
    frame: pd.DataFrame | Source = FRAME,
    ledger: dp.MemoryLedger | None = None,
    **options: Any,
) -> dp.Curator:
    given: dict[str, Any] = {
        "schema": SCHEMA,
        "columns": NUMBERS,
        "budget": BUDGETS[1],
        **options,
    }
    return dp.open_with_cells(frame, ledger=ledger or dp.MemoryLedger(), **given)


@pytest.fixture(scope="module", name="curator")
def _curator() -> dp.Curator:
    return opened()


def test_few_numbers_and_spikes_have_cells_of_their_own(curator: dp.Curator) -> None:
    """A third of the rows would be drawn beside the number that they have."""
    labels = {name: curator.schema.column(name).labels for name in NUMBERS}
    assert {"1", "2", "3", "4", "5"} <= set(labels["score"])
    assert {"0", "1", "2", "3"} <= set(labels["children"])
    assert {str(year) for year in range(2007, 2014)} <= set(labels["year"])
    assert {12.5, 38.75, 40.0} <= set(curator.schema.column("hours").special)  # type: ignore[attr-defined]
    assert 25_564.67 in curator.schema.column("top").special  # type: ignore[attr-defined]


def test_columns_keep_their_shape(curator: dp.Curator) -> None:
    """Cells would hide where most numbers are, or there would be more of them than
    noise allows.
    """
    rng = np.random.default_rng(0)
    for name in NUMBERS:
        column = curator.schema.column(name)
        values = FRAME[name]
        decoded = np.sort(column.decode(column.encode(values), rng).astype(float))
        points = np.union1d(decoded, values)
        shares = [
            np.searchsorted(np.sort(each), points, side="right") / len(values)
            for each in (values, decoded)
        ]
        assert np.abs(shares[0] - shares[1]).max() < 0.05, name
        assert column.values_size <= 110


@pytest.mark.parametrize("zeros", [0.5, 0.9, 0.95])
def test_a_column_of_mostly_one_number_has_six_cells(zeros: float) -> None:
    """Losses of capital, 0 in 95 of 100 rows, had three cells: no shape was left."""
    rng = np.random.default_rng(8)
    rows = 30_000
    loss = np.where(rng.random(rows) < zeros, 0, rng.normal(1_900, 350, rows).round())
    frame = pd.DataFrame({"loss": np.maximum(loss, 0).astype(int)})
    curator = opened(frame, columns=["loss"], schema=dp.suggest_schema(frame))
    column = curator.schema.column("loss")
    assert column.values_size >= MIN_VISIBLE_CELLS
    inside = [cut for cut in column.cuts if 1_000 < cut < 3_000]
    assert len(inside) >= 2, "they lie where the numbers do"


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("rows", [1, 3])
def test_it_spends_its_loss_and_no_more(
    budget: dp.PureDP | dp.ApproxDP, rows: int
) -> None:
    """What is read would cost another loss than the one that is charged."""
    schema = dp.Schema(columns=SCHEMA.columns, unit=dp.PrivacyUnit(max_rows=rows))
    curator = opened(FRAME.head(12_000), schema=schema, budget=budget)
    loss = search_loss(budget)
    one = Fraction(1, 20) if isinstance(budget, dp.PureDP) else ZCDP.rho / 20
    assert loss.amount == one
    assert curator.balance().spent == curator.rule.to_units(curator.rule.convert(loss))
    reserved, committed = curator.lines()[-2:]
    assert (reserved.state, committed.state) == ("reserved", "committed")
    events = [Event.from_dict(fields) for fields in committed.content["events"]]
    assert {event.rows for event in events} == {rows}
    assert {event.reads for event in events} == {((name,),) for name in NUMBERS}
    spent = sum(
        (
            (event.epsilon or 0) if curator.rule.is_pure else event.rho
            for event in events
        ),
        Fraction(0),
    )
    assert one * Fraction(99, 100) < spent <= one
    curator.verify()


def test_small_budgets_pay_a_twentieth() -> None:
    """A search would take more than a twentieth of what there is."""
    assert search_loss(dp.PureDP(epsilon="0.2")) == dp.PureDP(epsilon="0.01")
    half = dp.ApproxDP(epsilon="0.5", delta="1e-9")
    assert search_loss(half).amount == half.rho / 20
    assert search_loss(dp.ZCDP(rho="0.001")) == dp.ZCDP(rho="0.00005")


def test_it_is_charged_once_and_said_everywhere(curator: dp.Curator) -> None:
    """Opening again would pay again, or found cells pass for ones that were read from
    the table.
    """
    spent = curator.balance().spent
    loss = search_loss(BUDGETS[1])
    again = opened(ledger=curator.ledger)  # type: ignore[arg-type]
    assert (again.schema, again.balance().spent) == (curator.schema, spent)
    release = again.run(
        dp.Marginals(cliques=[("pay",), ("city",)]),
        dp.ApproxDP(epsilon="0.5", delta="1e-9"),
    )
    assert release.guarantee.found["pay"].loss == {"rho": str(loss.amount)}
    assert set(release.guarantee.from_data["pay"]).isdisjoint(CELL_FACTS)
    assert again.schema.columns_from_data == ("city",)
    marks = {
        name: release.schema.from_data[name]
        for name in release.schema.columns_from_data
    }
    assert marks.pop("city") != ("left out",)
    assert set(marks.values()) == {("left out",)}, "columns that were not read"
    assert dp.read_release(release.to_json().encode()).guarantee == release.guarantee
    assert dp.Schema.from_json(again.schema.to_json()).found == again.schema.found
    names = [
        line.content["recipe"]["kind"]
        for line in again.lines()
        if line.state == "reserved"
    ]
    assert names == ["cells of numbers", "marginals"]


def test_what_cannot_be_paid_or_found_is_refused() -> None:
    """A search would go beyond the budget, or fail after its charge."""
    ledger = dp.MemoryLedger()
    budget = dp.PureDP(epsilon=1)
    curator = dp.Curator.open(FRAME, SCHEMA, budget=budget, ledger=ledger)
    curator.run(dp.Histogram("city"), dp.PureDP(epsilon="0.96"))
    with pytest.raises(dp.BudgetExceeded):
        opened(ledger=ledger, budget=budget)
    for columns in (["city"], []):
        with pytest.raises(dp.UsageError, match="columns of numbers"):
            opened(columns=columns)


def test_what_noise_alone_makes_is_rare() -> None:
    """Bounds would be widened by cells that nobody is in, so that most of a column is
    empty.
    """
    frame = pd.DataFrame({"x": [7] * 5_000})
    column = with_public_cells(Integer("x", low=0, high=9))

    def widened() -> int:
        answers = 0
        for seed in range(200):
            rng = np.random.default_rng(seed)
            exact = np.bincount(column.encode(frame["x"]), minlength=column.size)

            def noisy(
                cells: int, exact: np.ndarray = exact, rng: np.random.Generator = rng
            ) -> np.ndarray:
                # nothing is split: 7 is in a cell of 5 to 9
                return exact + rng.normal(0, 10, cells)

            measurer: Any = Scripted(frame["x"], noisy)
            with pytest.MonkeyPatch.context() as whole:
                whole.setattr(cells_of_numbers, "MIN_SPLIT_SHARE", 2.0)
                (fields,) = NumberCellsQuestion(columns=("x",)).measure(
                    measurer, schema_of(column)
                )["columns"]
            answers += fields["high"] - fields["low"] > 40
        return answers

    assert laws.clopper_pearson(widened(), 200, laws.FALSE_ALARM)[0] <= 0.1
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cells_of_numbers, "PUBLIC_CELL_LEVEL", 0.9)
        assert laws.clopper_pearson(widened(), 200, laws.FALSE_ALARM)[0] > 0.1


def test_no_text_is_in_the_report_of_a_search() -> None:
    """A word that was typed after a look at the table would be in a file that is
    shared.
    """
    column = Integer(
        "pay",
        low=0,
        high=9,
        missing=True,
        missing_tokens=("Quokka",),
        synonyms=(("Zzyzx", "3"),),
        known_from="the form",
    )
    table = pd.DataFrame({"pay": [*range(4_000)]})
    curator = dp.open_with_cells(
        table,
        schema_of(column),
        ["pay"],
        budget=dp.PureDP(epsilon=3),
        ledger=dp.MemoryLedger(),
    )
    (search,) = (line for line in curator.lines() if line.content.get("report"))
    report = curator.report(search.request_id).to_json()
    assert "Quokka" not in report
    assert "Zzyzx" not in report
    older = json.loads(report)
    (declared,) = older["report"]["content"]["columns"]
    declared |= {"missing_tokens": ["Quokka"], "synonyms": [["Zzyzx", "3"]]}
    assert PrivateReport.from_json(json.dumps(older)).to_json() == report


def test_the_report_of_a_search_names_the_columns_that_the_table_left_out() -> None:
    """That a column is left out follows from the table, and the one file of an account
    that does not say so could be compared with the others.
    """
    table = FRAME.assign(note=[f"note {row}" for row in range(len(FRAME))])
    curator = opened(
        table,
        schema=dp.suggest_schema(table),
        columns=["pay"],
        budget=dp.PureDP(epsilon=3),
    )
    (search,) = (line for line in curator.lines() if line.content.get("report"))
    report = curator.report(search.request_id)
    assert report.guarantee.from_data["note"] == ("left out",)
    release = curator.run(dp.Histogram("pay"), dp.PureDP(epsilon=1))
    assert release.guarantee.from_data["note"] == ("left out",)


def test_rows_that_stay_hidden_are_told() -> None:
    """The page would promise cells of numbers that the noise hides."""
    assert largest_hidden_rows(1, 1, dp.PureDP(epsilon="0.05")) == pytest.approx(
        -math.log(6e-5) / 0.02, rel=1e-2
    )
    assert largest_hidden_rows(10, 3, dp.ZCDP(rho="0.00075")) == pytest.approx(
        4.01 * 3 * math.sqrt(10 / 0.0006),
        rel=1e-2,
    )


def test_people_with_several_rows_and_columns_with_gaps() -> None:
    """Each person would count with all rows, or what is missing or censored would have
    no cell.
    """
    values = np.repeat(["<0.5", "7", "", "k.A."], 6_000)
    frame = pd.DataFrame({"who": np.arange(24_000) // 3, "value": values})
    schema = dp.suggest_schema(frame)
    schema = dp.Schema(
        columns=schema.columns, unit=dp.PrivacyUnit(max_rows=2, id_column="who")
    )
    curator = opened(
        frame, schema=schema, columns=["value"], budget=dp.PureDP(epsilon=3)
    )
    column = curator.schema.column("value")
    assert {"0.25", "7"} <= set(column.labels)
    assert (column.missing, column.synonyms, column.missing_tokens) == (True, (), ())
    assert curator._engine.counts([()])[0].values == 16_000


@pytest.mark.parametrize("kind", ["duckdb", "parquet"])
def test_cells_of_a_connected_source(tmp_path: Path, kind: str) -> None:
    """A table that does not fit would have no cells but those of its first rows."""
    place = tmp_path / "t.parquet"
    FRAME.to_parquet(place)
    if kind == "duckdb":
        import duckdb

        with duckdb.connect(str(tmp_path / "t.db")) as data:
            data.sql(f"CREATE TABLE people AS SELECT * FROM '{place}'")
        source = Source(
            name="people",
            kind="duckdb",
            location=str(tmp_path / "t.db"),
            table="people",
        )
    else:
        source = Source(name="people", kind="parquet", location=str(place))
    curator = opened(source, columns=["hours", "score"])
    assert {12.5, 38.75, 40.0} <= set(curator.schema.column("hours").special)  # type: ignore[attr-defined]
    assert {"1", "2", "3", "4", "5"} <= set(curator.schema.column("score").labels)
    assert curator.account.source == "people"


def test_a_dry_run_reads_nothing_and_ends() -> None:
    """What public facts refuse would be found after the charge."""
    schema = schema_of(
        *(
            with_public_cells(column)
            for column in SCHEMA.columns
            if column.name in NUMBERS
        )
    )
    measurer = build_rehearsal(schema, search_loss(BUDGETS[1]))
    answer = NumberCellsQuestion(columns=NUMBERS).measure(measurer, schema)
    assert [Column.from_dict(fields) for fields in answer["columns"]] == [
        *schema.columns
    ]


@pytest.mark.parametrize(
    "column",
    [
        Integer("x", low=0, high=99, bin_width=10),
        Integer("x", low=0, high=99),
        Integer("x", low=0, high=99, cuts=(10, 20, 50)),
        Real("x", low=0, high=100, bin_width=10),
        Real("x", low=0, high=100, bin_width=0.5),
        Real("x", low=0, high=100, cuts=(10, 20, 50), special=(0,)),
    ],
)
def test_cells_that_no_search_can_split_are_refused_before_the_charge(
    column: Column,
) -> None:
    """The charge would be lost: the second count has fewer cells than the first one,
    and the search fails.
    """
    frame = pd.DataFrame({"x": [50] * 3_000})
    ledger = dp.MemoryLedger()
    curator = dp.Curator.open(
        frame, schema_of(column), budget=dp.PureDP(epsilon=3), ledger=ledger
    )
    with pytest.raises(dp.DpcoreError, match="too wide or too few"):
        curator.evaluate_privately(
            NumberCellsQuestion(columns=("x",)), dp.PureDP(epsilon=1)
        )
    assert [line.state for line in curator.lines()] == ["opened"]
    twin = dp.Curator.open(
        frame,
        schema_of(with_public_cells(column)),
        budget=dp.PureDP(epsilon=3),
        ledger=dp.MemoryLedger(),
    )
    twin.evaluate_privately(NumberCellsQuestion(columns=("x",)), dp.PureDP(epsilon=1))
    assert [line.state for line in twin.lines()] == ["opened", "reserved", "committed"]
