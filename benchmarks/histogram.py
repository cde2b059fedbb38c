"""What do counts, noise and rows cost, and what does projecting bring over clipping?

    python -m benchmarks.histogram --data adult.csv --json

Takes any CSV file with a header; facts about its columns are suggested from it, and
columns of more than 200 texts are left out. On Adult, 15 columns are coded, and 14 of
them (all but education; fnlwgt in 100 cells) give 14 one-way and 91 two-way marginals.
Prints CPU seconds of each stage in one thread, beside a plain version with pandas or
numpy on the same numbers (whose noise is not safe), the ratio of the two, and the peak
memory of the process.

Then clipping against the projection that the library uses, at epsilon 1 over more and
more cells, as total variation distances from the exact counts: of the first column
alone, and of all columns together.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import pandas as pd

import dpcore as dp
from benchmarks.harness import SHARED, Table, arguments, cpu, show
from dpcore.engines.frame import FrameEngine
from dpcore.mechanisms._noise import add_discrete_laplace
from dpcore.mechanisms.measurer import Measurer
from dpcore.synthesis import ChainModel
from dpcore.synthesis._consistency import make_consistent
from dpcore.tables.nearest import nearest_distribution

REPEATS = 3
GROWING = ("age", "marital-status", "occupation", "education")


def public_facts(frame: pd.DataFrame) -> dp.Schema:
    """The suggested schema; fnlwgt in 100 cells, as the figures to compare with have
    it.
    """
    suggested = dp.suggest_schema(frame)
    columns = [
        dp.Integer("fnlwgt", low=0, high=1_499_999, bin_width=15_000)
        if column.name == "fnlwgt"
        else column
        for column in suggested.columns
    ]
    return dp.Schema(columns=tuple(columns), unit=suggested.unit)


def plain_encode(frame: pd.DataFrame, schema: dp.Schema) -> pd.DataFrame:
    """Cell numbers by pandas: cut numbers at the edges, look categories up row by
    row.
    """
    codes = {}
    for column in schema.columns:
        values = frame[column.name]
        if isinstance(column, dp.Categorical):
            place = {label: code for code, label in enumerate(column.labels)}
            codes[column.name] = values.map(
                lambda value, place=place: place.get(str(value), len(place) - 1)
            )
        else:
            codes[column.name] = pd.cut(values, column.edges, right=False, labels=False)
    return pd.DataFrame(codes)


def plain_rows(table: np.ndarray, rows: int) -> list[tuple[int, ...]]:
    """Rows of two columns by a loop over cells, each repeated as often as its noisy
    count says.
    """
    cut = np.clip(table, 0, None)
    chances = (cut / cut.sum()).ravel()
    drawn = np.random.default_rng(1).choice(len(chances), size=rows, p=chances)
    return [tuple(map(int, np.unravel_index(cell, table.shape))) for cell in drawn]


def stages(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """CPU seconds of each stage, and of its plain version."""
    schema = public_facts(frame)
    names = tuple(name for name in schema.domain.names if name != "education")
    ones = [(name,) for name in names]
    pairs = list(itertools.combinations(names, 2))
    loss = dp.PureDP(epsilon=1)
    found: list[dict[str, Any]] = []

    def compare(
        stage: str,
        ours: Callable[[], Any],
        plain: Callable[[], Any] | None = None,
    ) -> tuple[Any, Any]:
        seconds, result = cpu(ours, repeats=REPEATS)
        line = {"stage": stage, "cpu_s": seconds}
        other = None
        if plain is not None:
            plain_seconds, other = cpu(plain, repeats=REPEATS)
            line |= {
                "plain_cpu_s": plain_seconds,
                "times_faster": plain_seconds / seconds,
            }
        found.append(line)
        return result, other

    _, plain_codes = compare(
        f"encode {len(schema.columns)} columns",
        lambda: schema.encode(frame),
        lambda: plain_encode(frame, schema),
    )
    engine = FrameEngine(frame, schema, key=b"benchmark")
    compare(
        f"{len(ones)} one-way exact",
        lambda: engine.counts(ones),
        lambda: [plain_codes[name].value_counts() for name in names],
    )
    exact, _ = compare(
        f"{len(pairs)} two-way exact",
        lambda: engine.counts(pairs),
        lambda: [plain_codes.groupby([a, b]).size() for a, b in pairs],
    )

    def measured() -> Any:
        measurer = Measurer(engine.counts, domain=schema.domain, loss=loss, max_rows=1)
        return measurer.measure(pairs, loss)

    source = np.random.default_rng(1)
    noisy, _ = compare(
        f"{len(pairs)} two-way noisy, {sum(each.values.size for each in exact)} cells",
        measured,
        lambda: [
            each.values + source.laplace(scale=len(pairs), size=each.values.shape)
            for each in exact
        ],
    )
    agreed, _ = compare(
        "made consistent", lambda: make_consistent(schema.domain, noisy)
    )
    rows = len(frame)
    compare(
        f"sampled {rows} rows of {len(names)} columns, a chain of pairs",
        lambda: ChainModel(domain=schema.domain, marginals=agreed).sample_codes(
            rows,
            np.random.default_rng(1),
        ),
    )
    joint = agreed[0]
    compare(
        f"sampled {rows} rows of 2 columns",
        lambda: ChainModel(domain=schema.domain, marginals=(joint,)).sample_codes(
            rows,
            np.random.default_rng(1),
        ),
        lambda: plain_rows(joint.values, rows),
    )
    return found


def clipping(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Total variation distances after clipping and after projecting, over one to four
    columns.
    """
    schema = public_facts(frame)
    columns = tuple(
        dp.Integer("age", low=17, high=90) if column.name == "age" else column
        for column in schema.columns
    )
    names = [name for name in GROWING if name in schema.domain.names] or list(
        schema.domain.names[:3]
    )
    engine = FrameEngine(
        frame, dp.Schema(columns=columns, unit=schema.unit), key=b"benchmark"
    )
    found = []
    for ways in range(1, len(names) + 1):
        clique = tuple(names[:ways])
        exact = engine.counts([clique])[0].values
        others = tuple(range(1, ways))
        distances = []
        for _ in range(REPEATS):
            noisy = add_discrete_laplace(exact, noise_scale=1.0)
            cut = np.clip(noisy, 0, None)
            near = nearest_distribution(noisy, float(noisy.sum()))
            distances.append(
                [
                    distance(table.sum(axes), exact.sum(axes))
                    for axes in (others, ())
                    for table in (cut, near)
                ],
            )
        first_cut, first_near, all_cut, all_near = np.mean(distances, axis=0)
        found.append(
            {
                "columns": ways,
                "cells": exact.size,
                "first_clipped": first_cut,
                "first_projected": first_near,
                "all_clipped": all_cut,
                "all_projected": all_near,
            },
        )
    return found


def distance(first: np.ndarray, second: np.ndarray) -> float:
    """Total variation distance of two tables, each scaled to 1."""
    return float(np.abs(first / first.sum() - second / second.sum()).sum()) / 2


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument(
        "--data",
        type=Path,
        default=SHARED / "data" / "adult.csv",
        help="a CSV file with a header",
    )
    args = parser.parse_args()
    if not args.data.exists():
        parser.exit(0, f"{args.data} is not there: name a CSV file with --data\n")
    frame = pd.read_csv(args.data)
    tables = [
        Table(title=f"CPU seconds, {len(frame)} rows", lines=stages(frame)),
        Table(
            title="Distance after clipping and after projecting", lines=clipping(frame)
        ),
    ]
    show(tables, as_json=args.json)


if __name__ == "__main__":
    main()
