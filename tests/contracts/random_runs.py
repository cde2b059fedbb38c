"""Random recipes and paid questions on random schemas and hostile rows: once charged,
nothing may fail.

    python -m tests.contracts.random_runs [runs] [seed]

How a run ends is on file for all to see, so an error after the charge that follows from
rows tells of them.
"""

from __future__ import annotations

import sys
import tempfile
import traceback
import warnings
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

import dpcore as dp
from dpcore.accounting.loss import AnyLoss
from dpcore.engines.base import Engine
from dpcore.engines.frame import FrameEngine
from dpcore.engines.sql.duckdb_source import DuckDBSource
from dpcore.evaluation.utility.private import (
    PrivateAccuracyQuestion,
    PrivateMarginalErrorQuestion,
)
from dpcore.synthesis import (
    Categories,
    Closeness,
    Gaussian,
    Recipe,
    SomeColumns,
    Statistics,
    Tree,
)
from tests.contracts.engine_kinds import duckdb_engine, parquet_engine

TEXTS = [
    "",
    " ",
    "a",
    "A",
    "\x00",
    "x" * 3000,
    "é",
    "é",
    "nan",
    "None",
    "1",
    "1.0",
    "-0",
    "\u202e",
]
TEXTS += ["(missing)", "(other)", "other", "missing", "a,b", "\n", "inf", "True"]
RUNS_OF_A_TABLE = 6

Values = list[Any]


def run_many(runs: int, seed: int, folder: Path) -> tuple[Counter[str], list[str]]:
    """How runs ended, by engine and end, and a line for each that failed after its
    charge.
    """
    random = Random(seed)
    ends = Counter[str]()
    faults = list[str]()
    while ends.total() < runs:
        frame, schema = table(random)
        ledger = dp.MemoryLedger()
        kind, engine = held(random, frame, schema, ledger.key, folder)
        if engine is None:
            continue
        pure = random.random() < 0.25
        budget: Any = dp.PureDP(epsilon=10**4)
        if not pure:
            budget = dp.ApproxDP(epsilon=5000, delta="1e-3", threshold_delta="1e-3")
        curator = dp.Curator.open(
            engine, schema, budget=budget, ledger=ledger, identity="random"
        )
        for _ in range(RUNS_OF_A_TABLE):
            before = len(curator.lines())
            error: Exception | None = None
            what = ""
            try:
                what = run_one(random, curator, pure)
            except Exception as raised:
                error = raised
            after = [line.state for line in curator.lines()[before:]]
            if after.count("committed") < after.count("reserved"):
                ends[f"{kind}: failed after the charge"] += 1
                where = traceback.extract_tb(error.__traceback__)[-1] if error else None
                faults.append(
                    f"{kind} {what} {len(frame)} rows: {error!r:.300} at {where}"
                )
            elif after:
                ends[f"{kind}: released"] += after.count("committed")
            elif error is not None and not isinstance(error, dp.DpcoreError):
                ends[f"{kind}: another error before the charge"] += 1
                faults.append(f"before the charge, {kind} {what}: {error!r:.300}")
    return ends, faults


def run_one(random: Random, curator: dp.Curator, pure: bool) -> str:
    """A paid run, and now and then a paid question about its release."""
    schema = curator.schema
    asked = recipe(random, schema)
    amount = random.choice(["0.0001", "0.1", "1", "20", "300"])
    loss: AnyLoss = dp.PureDP(epsilon=amount) if pure else dp.ZCDP(rho=amount)
    part = None
    categorical = [
        column for column in schema.columns if isinstance(column, dp.Categorical)
    ]
    if categorical and random.random() < 0.15:
        column = random.choice(categorical)
        part = {column.name: random.choice(column.categories)}
    release = curator.run(asked, loss, part=part, request_id=str(random.random()))
    if random.random() < 0.3:
        question: Any = PrivateMarginalErrorQuestion(
            release=release, way=random.choice([1, 2])
        )
        if random.random() < 0.5:
            question = PrivateAccuracyQuestion(
                release=release, target=random.choice(schema.domain.names)
            )
        curator.evaluate_privately(question, loss, request_id=str(random.random()))
    return asked.kind


def held(
    random: Random,
    frame: pd.DataFrame,
    schema: dp.Schema,
    key: bytes,
    folder: Path,
) -> tuple[str, Engine | None]:
    """The table behind some engine; None where no file holds it, or it is refused at
    opening.
    """
    kind = random.choice(["frame", "frame", "parquet", "duckdb"])
    try:
        if kind == "frame":
            return kind, FrameEngine(frame, schema, key=key)
        path = folder / "table.parquet"
        frame.to_parquet(path, row_group_size=random.choice([1, 3, 10**6]))
        if kind == "parquet":
            return kind, parquet_engine(path, schema, key=key)
        return kind, duckdb_engine(
            DuckDBSource(kind="parquet", location=str(path)), schema, key=key
        )
    except (pa.ArrowInvalid, pa.ArrowTypeError, dp.DpcoreError):
        return kind, None


def table(random: Random) -> tuple[pd.DataFrame, dp.Schema]:
    """Some rows, often few, and what is declared of them: all of it may be on file for
    all to see.
    """
    rows = random.choice([1, 1, 2, 3, 5, 12, 60, 400])
    if random.random() < 0.03:
        drawn = [
            narrow(random, f"k{place}", rows) for place in range(random.randint(65, 90))
        ]
    else:
        drawn = [
            column(random, f"k{place}", rows) for place in range(random.randint(1, 6))
        ]
    unit = dp.PrivacyUnit(max_rows=random.choice([1, 3]))
    frame = pd.DataFrame({declared.name: series(values) for declared, values in drawn})
    if random.random() < 0.5:
        unit = dp.PrivacyUnit(
            max_rows=random.choice([1, 2, 7, 1000]), id_column="person"
        )
        people = random.choice([1, 3, 50])
        frame["person"] = [f"p{random.randrange(people)}" for _ in range(rows)]
    return frame, dp.Schema(columns=tuple(declared for declared, _ in drawn), unit=unit)


def series(values: Values) -> pd.Series:
    plain = all(isinstance(value, int | float | pd.Timestamp) for value in values)
    return pd.Series(values, dtype=None if plain else object)


def narrow(random: Random, name: str, rows: int) -> tuple[dp.Column, Values]:
    """A column of one or two cells, of which one occurs as a rule."""
    if random.random() < 0.6:
        return dp.Categorical(name, categories=("a",)), ["a"] * rows
    weights = random.choice([(1, 0), (50, 1)])
    return dp.Categorical(name, categories=("a", "b")), random.choices(
        ["a", "b"], weights, k=rows
    )


def column(random: Random, name: str, rows: int) -> tuple[dp.Column, Values]:
    """Any kind of column, with values at its edges, beyond them, missing or hostile."""
    missing = random.random() < 0.4
    kind = random.choice(
        ["narrow", "cells", "texts", "whole", "wide", "real", "rare", "date", "flag"]
    )
    declared: dp.Column
    if kind == "narrow":
        return narrow(random, name, rows)
    if kind == "cells":
        names = tuple(f"c{place}" for place in range(random.choice([3, 20, 60])))
        values: Values = random.choices(
            names[: random.choice([1, 3, len(names)])], k=rows
        )
        declared = dp.Categorical(
            name, categories=names, missing=missing, ordered=random.random() < 0.5
        )
    elif kind == "texts":
        declared = dp.Categorical(
            name, categories=("a", "zz"), other=True, missing=missing
        )
        values = random.choices(TEXTS, k=rows)
    elif kind == "whole":
        low = random.choice([0, -5, 10**9])
        high = low + random.choice([1, 9, 90])
        declared = dp.Integer(name, low=low, high=high, missing=missing)
        values = [
            random.choice([low, high, random.randint(low, high)]) for _ in range(rows)
        ]
    elif kind == "wide":
        declared = dp.Integer(
            name, low=-(2**40), high=2**40, bin_width=2**36, missing=missing
        )
        values = [
            random.choice([-(2**40), 2**40, 0, random.randint(-(2**62), 2**62)])
            for _ in range(rows)
        ]
    elif kind == "real":
        low, step = random.choice([(0.0, 0.1), (-1e6, 1e5), (1e-9, 1e-10)])
        declared = dp.Real(
            name, low=low, high=low + 10 * step, bin_width=step, missing=missing
        )
        values = [
            random.choice([low, low + 5 * step, -1e300, 1e308, 5e-324])
            for _ in range(rows)
        ]
    elif kind == "rare":
        declared = dp.Integer(
            name, low=0, high=random.choice([100, 190]), missing=missing
        )
        values = [0] * (rows - 1) + [random.choice([0, 100])]
    elif kind == "date":
        declared = dp.Date(name, low="2020-01-01", high="2020-12-31", missing=missing)
        first = pd.Timestamp("2020-01-01")
        values = [
            first + pd.Timedelta(days=random.randrange(-400, 800)) for _ in range(rows)
        ]
    else:
        declared = dp.Boolean(name, missing=missing)
        values = random.choices([True, False], k=rows)
    if missing:
        share = random.choice([0.1, 0.1, 1])
        values = [None if random.random() < share else value for value in values]
    return declared, values


def recipe(random: Random, schema: dp.Schema) -> Recipe:
    """Any recipe; what it cannot do is refused, before the charge."""
    names = list(schema.domain.names)
    some = random.sample(names, random.randint(1, min(len(names), 4)))
    ordered = frozenset(random.sample(names, random.randint(0, len(names))))
    last = frozenset(random.sample(sorted(ordered), random.randint(0, len(ordered))))
    kinds = [
        "histogram",
        "marginals",
        "independent",
        "joint",
        "adaptive",
        "tree",
        "gaussian",
        "statistics",
    ]
    kind = random.choice([*kinds, "categories", "some", "closeness"])
    if len(names) > 60:
        kind = random.choice(["independent", "marginals", "joint"])
        some = names
    if kind == "marginals":
        cliques = [
            random.sample(names, random.randint(0, min(len(names), 3)))
            for _ in range(4)
        ]
        return dp.Marginals(cliques=[tuple(clique) for clique in cliques])
    if kind == "independent":
        return dp.Independent(columns=tuple(some))
    if kind == "joint":
        return dp.Joint(columns=tuple(some))
    if kind == "adaptive":
        limit = random.choice([1, 1000, 4_000_000])
        degree = random.choice([2, 2, 3])
        rounds = random.choice([1, 2, 3])
        return dp.Adaptive(
            ordered=ordered,
            with_missing=last,
            degree=degree,
            rounds=rounds,
            max_cells=limit,
        )
    if kind == "tree":
        return Tree(ordered=ordered, with_missing=last)
    if kind == "gaussian":
        rest = [
            name for name in names if name != some[0] and schema.domain.size(name) > 1
        ]
        cut = random.randint(0, len(rest))
        detail = random.choice(
            [None, None, "means", "variances", "products", "cells", "pair"]
        )
        return Gaussian(
            label=some[0],
            features=tuple(rest[:cut]),
            one_hot=tuple(rest[cut : cut + 2]),
            detail=detail,
        )
    if kind == "statistics":
        numbers = [
            each.name
            for each in schema.columns
            if isinstance(each, dp.Integer | dp.Real)
        ]
        if numbers:
            quantiles = random.choice(
                [("1/2",), ("1/100", "99/100"), (".25", ".5", ".75")]
            )
            return Statistics.for_column(
                schema,
                random.choice(numbers),
                moments=random.random() < 0.8,
                quantiles=quantiles,
            )
    if kind == "categories":
        return Categories(some[0], random.choice(["0.0001", "0.001", "1e-9"]))
    if kind == "some":
        return SomeColumns(
            columns=tuple(some), recipe=dp.Adaptive(ordered=ordered & set(some))
        )
    if kind == "closeness":
        cells = schema.domain.cells(tuple(some[:2]))
        counts = np.random.default_rng(random.randrange(99)).random(cells) * 9
        return Closeness(columns=tuple(some[:2]), counts=tuple(counts.tolist()))
    return dp.Histogram(some[0])


def main(runs: int = 10_000, seed: int = 1) -> int:
    """Print how so many runs ended."""
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as made:
        ends, faults = run_many(runs, seed, Path(made))
    for end, number in sorted(ends.items()):
        print(number, end)
    print(*faults, sep="\n")
    return len(faults)


if __name__ == "__main__":
    sys.exit(bool(main(*map(int, sys.argv[1:]))))
