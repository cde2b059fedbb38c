"""How a run goes and how it ends, for every engine: neither follows exact facts of the
rows.

Whether a charge ends in a release, and which passes are made over the rows, is seen by
others: in the ledger, by the clock. A person must not change it.
"""

from __future__ import annotations

import functools
import itertools
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from dpcore.engines import base, work
from dpcore.engines._joint import choose_joint_tables, group_passes
from dpcore.engines.work import CountJob
from dpcore.errors import LimitError
from dpcore.schema.domain import Domain
from dpcore.tables.counts import MAX_TOTAL_CELLS, check_cells
from dpcore.tables.sums import to_levels
from tests.contracts import random_runs
from tests.contracts.engine_kinds import ENGINES

KEY = b"k" * 32
LOSS = dp.PureDP(epsilon="1/2")


def wide(columns: int, rows: int) -> tuple[pd.DataFrame, dp.Schema]:
    """Constant columns, rare facts that nobody has, columns of some cells, and one of
    10,000 categories.
    """
    rng = np.random.default_rng(columns)
    values: dict[str, Any] = {
        "code": [f"k{cell}" for cell in rng.integers(0, 10_000, rows)]
    }
    declared: list[dp.Column] = [
        dp.Categorical("code", categories=tuple(f"k{cell}" for cell in range(10_000))),
    ]
    for place in range(columns - 1):
        name = f"c{place}"
        cells = (1, 2, 5)[place % 3]
        values[name] = (
            rng.integers(0, cells, rows)
            if cells == 5
            else np.zeros(rows, dtype=np.int64)
        )
        if cells == 1:
            declared.append(dp.Categorical(name, categories=(0,)))
        else:
            declared.append(dp.Integer(name, low=0, high=cells - 1))
    return pd.DataFrame(values), dp.Schema(
        columns=tuple(declared), unit=dp.PrivacyUnit(max_rows=1)
    )


@pytest.mark.parametrize(
    ("kind", "columns"), [*((kind, 200) for kind in ENGINES), ("frame", 1000)]
)
@pytest.mark.proof
def test_hundreds_of_columns_end_in_a_release(
    kind: str, columns: int, tmp_path: Path
) -> None:
    """Columns of one cell once made tables with more axes than there may be: paid, and
    no release.
    """
    frame, schema = wide(columns, 39)
    ledger = dp.MemoryLedger()
    engine = ENGINES[kind][1](tmp_path, frame, schema, key=ledger.key)
    curator = dp.Curator.open(
        engine, schema, budget=LOSS, ledger=ledger, identity="wide"
    )
    release = curator.run(dp.Independent(columns=schema.domain.names), LOSS)
    assert [line.state for line in curator.lines()] == [
        "opened",
        "reserved",
        "committed",
    ]
    assert len(release.marginals) == columns
    for name in ("code", "c0", "c1", "c2"):
        (counts,) = engine.counts([(name,)])
        assert (
            counts.values
            == np.bincount(schema.encode(frame)[name], minlength=counts.values.size)
        ).all()


def neighbours() -> tuple[pd.DataFrame, pd.DataFrame, dp.Schema]:
    """39 people who are all in the first cells, and one more who is in the last cell of
    every column.
    """
    sizes = [1] * 3 + [2] * 9 + [10] * 3 + [300, 2000]
    columns = tuple(
        dp.Integer(f"c{place}", low=0, high=size - 1)
        for place, size in enumerate(sizes)
    )
    schema = dp.Schema(columns=columns, unit=dp.PrivacyUnit(max_rows=1))
    without = pd.DataFrame(
        np.zeros((39, len(sizes)), dtype=np.int64), columns=list(schema.domain.names)
    )
    she = pd.DataFrame([np.array(sizes) - 1], columns=list(schema.domain.names))
    return without, pd.concat([without, she]), schema


def passes_of(
    make: Callable[..., Any], frame: pd.DataFrame, schema: dp.Schema
) -> list[Any]:
    """What is done to count tables and sums of every kind: each pass, and the tables
    that it fills.
    """
    engine = make(frame.reset_index(drop=True), schema, key=KEY)
    scan = engine._scan
    seen = []

    def watched(asked: Any, **options: Any) -> Any:
        what = (
            [asked.domain, asked.part, [*map(tuple, asked.cliques)]]
            if isinstance(asked, CountJob)
            else []
        )
        seen.append((type(asked).__name__, what))
        result = scan(asked, **options)
        seen.append(np.shape(result))
        return result

    engine._scan = watched
    names = schema.domain.names
    halves = {name: np.arange(schema.domain.size(name)) // 2 for name in names[-4:]}
    pairs = [
        pair
        for pair in itertools.combinations(names, 2)
        if schema.domain.cells(pair) <= 20_000
    ]
    engine.counts([(), *itertools.combinations(names, 1), *pairs])
    engine.counts(pairs, part=("c3", "1"))
    engine.counts(pairs, groups=halves)
    entry = {names[-1]: to_levels(np.linspace(-1, 1, schema.domain.size(names[-1])))}
    engine.sums(names[-1:], [entry] * 3)
    return seen


@pytest.mark.parametrize("kind", ENGINES)
def test_neighbours_take_the_same_passes(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One person would show in how often the rows are read, and in how much memory that
    needs.
    """
    # so that there are several passes
    monkeypatch.setattr(base, "MAX_CELLS_PER_PASS", 100_000)
    without, with_her, schema = neighbours()
    make = functools.partial(ENGINES[kind][1], tmp_path)
    expected = passes_of(make, without, schema)
    assert len(expected) > 2 * 5
    assert passes_of(make, with_her, schema) == expected


@pytest.mark.parametrize("fact", ["rows", "cells"])
def test_passes_that_follow_exact_facts_are_seen(
    fact: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The test above would hold whatever is done."""

    def planted(frame: pd.DataFrame) -> Callable[..., Any]:
        def cut(cliques: Any, domain: Domain, most: int) -> Any:
            if fact == "rows":
                return choose_joint_tables(cliques, domain, len(frame) // 4)
            return choose_joint_tables(
                cliques, domain, 10 * (int(frame.to_numpy().max()) + 1)
            )

        monkeypatch.setattr(base, "choose_joint_tables", cut)
        return functools.partial(ENGINES["frame"][1], tmp_path)

    without, with_her, schema = neighbours()
    assert passes_of(planted(without), without, schema) != passes_of(
        planted(with_her), with_her, schema
    )


def test_a_pass_holds_few_cells() -> None:
    """A run would need more memory than it said before it was paid."""
    rng = np.random.default_rng(5)
    for _ in range(50):
        names = tuple(f"c{place}" for place in range(rng.integers(1, 9)))
        domain = Domain(
            names=names, sizes=tuple(rng.integers(1, 60, len(names)).tolist())
        )
        tables = list(dict.fromkeys(itertools.combinations(names, 2)))
        groups = group_passes(tables, domain, 5_000)
        assert [table for group in groups for table in group] == tables
        assert all(
            sum(map(domain.cells, group)) <= 5_000 or len(group) == 1
            for group in groups
        )


def test_counting_keeps_to_the_memory_of_its_quote(tmp_path: Path) -> None:
    """A charge would end without a release where memory is as large as was said."""
    columns = tuple(dp.Integer(f"c{place}", low=0, high=1199) for place in range(5))
    schema = dp.Schema(columns=columns, unit=dp.PrivacyUnit(max_rows=1))
    frame = pd.DataFrame({name: np.arange(1200) for name in schema.domain.names})
    pairs = list(itertools.combinations(schema.domain.names, 2))
    asked = sum(map(schema.domain.cells, pairs))
    engine = ENGINES["parquet"][1](tmp_path, frame, schema, key=KEY)
    tracemalloc.start()
    try:
        found = engine.counts(pairs)
        assert all(counts.values.sum() == 1200 for counts in found)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    few = 2**21  # for what is not cells
    assert 8 * asked < peak < 8 * (asked + 2 * base.MAX_CELLS_PER_PASS) + few
    budget = dp.PureDP(epsilon=1)
    ledger = dp.MemoryLedger()
    quote = dp.Curator.open(frame, schema, budget=budget, ledger=ledger).quote(
        dp.Histogram("c0"), LOSS
    )
    assert quote.memory == 8 * (MAX_TOTAL_CELLS + 2 * base.MAX_CELLS_PER_PASS)


def test_more_columns_than_a_table_has_axes() -> None:
    """A table over 65 columns has few cells and no array: what refuses it must do so
    before the charge.
    """
    _, schema = wide(200, 3)
    constant = tuple(column.name for column in schema.columns if column.size == 1)
    with pytest.raises(LimitError, match="too many columns to compute together"):
        check_cells(schema.domain, [constant[:65]])
    check_cells(schema.domain, [constant[:64]])


def test_large_tables_are_counted_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table that is filled in another way would hold other counts."""
    _, with_her, schema = neighbours()
    make = functools.partial(ENGINES["frame"][1], Path())
    cliques = [("c15", "c16"), ("c16", "c15"), ("c3", "c15", "c12")]
    found = make(with_her, schema, key=KEY).counts(cliques)
    monkeypatch.setattr(work, "_MAX_BINCOUNT_CELLS", 10**7)
    again = make(with_her, schema, key=KEY).counts(cliques)
    for one, other in zip(found, again, strict=True):
        assert (one.values == other.values).all()
        assert one.values.ravel()[[0, -1]].tolist() == [39, 1]


@pytest.mark.proof
def test_random_runs_end_in_a_release(tmp_path: Path) -> None:
    """An error after the charge that follows from rows would be on file for all to see.

    `python -m tests.contracts.random_runs` makes ten thousand of these.
    """
    ends, faults = random_runs.run_many(40, 4, tmp_path)
    assert not faults
    assert {end.partition(":")[0] for end in ends} == {"frame", "parquet", "duckdb"}


def test_a_run_that_fails_because_of_rows_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test above would hold whatever fails."""
    put = work._add_rows

    def planted(table: Any, places: Any) -> None:
        if len(places) > 2:
            raise ValueError("too many rows")
        put(table, places)

    monkeypatch.setattr(work, "_add_rows", planted)
    ends, faults = random_runs.run_many(12, 4, tmp_path)
    assert any(end.endswith("failed after the charge") for end in ends)
    assert faults
