"""How much of a column of numbers is lost in cells, before any noise?

    python -m benchmarks.cells
    python -m benchmarks.cells --least 2000 --worst 30
    python -m benchmarks.cells --folder tables

Every table of Rdatasets (as the package pydataset has them, fetched for the run) with
so many rows at least, and Adult where it is at hand. Cells as suggested, from the data
and marked so; each column of numbers is encoded and decoded, and the Kolmogorov
distance to what it was is taken. Beside it, in the same run, as many cells of one width
between the least and the largest number, which is what many tools do. For tables with
10,000 rows or more also the cells that `open_with_cells` finds privately, with its
noise, for what it charges to a budget of epsilon 1, delta 1e-9, for all columns of
numbers together. Prints ten tables of each, those with the worst column first, and the
worst columns.
"""

import statistics
import sys
import tarfile
import tempfile
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import pandas as pd
from scipy.stats import ks_2samp

import dpcore as dp
from benchmarks.harness import SHARED, Table, arguments, environment, show
from dpcore.schema import Column
from dpcore.schema.interval import NumberColumn
from dpcore.schema.origin import CELL_FACTS

ROWS = 10_000
BUDGET = dp.ApproxDP(epsilon=1, delta="1e-9")
"""From which on cells are found privately, and of what a twentieth pays for that."""


def tables(folder: Path) -> dict[str, pd.DataFrame]:
    """The tables of Rdatasets, and Adult."""
    environment(str(folder), ["pydataset"])
    for packed in folder.glob("lib/*/site-packages/pydataset/resources.tar.gz"):
        with tarfile.open(packed) as archive:
            archive.extractall(folder, filter="data")
    adult = SHARED / "data" / "adult.csv"
    files = sorted(folder.glob("resources/rdata/csv/**/*.csv"))
    return of_files([*files, *([adult] if adult.exists() else [])])


def of_files(paths: Iterable[Path]) -> dict[str, pd.DataFrame]:
    """Name -> table, without the number of the row."""
    found: dict[str, pd.DataFrame] = {}
    for path in paths:
        frame = pd.read_csv(path, encoding_errors="replace", on_bad_lines="skip")
        numbered = [
            each
            for each in frame.columns
            if each.startswith("Unnamed") or each == "rownames"
        ]
        found[path.stem] = frame.drop(columns=numbered)
    return found


def distance(column: Column, values: pd.Series, rng: np.random.Generator) -> float:
    """The Kolmogorov distance of a column, encoded and decoded, to what it was."""
    decoded = pd.to_numeric(
        column.decode(column.encode(values), rng), errors="coerce"
    ).dropna()
    numbers = pd.to_numeric(values, errors="coerce").dropna().astype(float)
    return float(ks_2samp(numbers, decoded.astype(float)).statistic)


def found_in(frame: pd.DataFrame, schema: dp.Schema) -> dict[str, Column]:
    """Columns of numbers in the cells that are found privately; none in a table that is
    too small.
    """
    numbers = [each for each in schema.columns if isinstance(each, NumberColumn)]
    names = [
        each.name for each in numbers if set(CELL_FACTS).intersection(each.from_data)
    ]
    if len(frame) < ROWS or not names:
        return {}
    # as they are decoded
    each_row = dp.Schema(columns=schema.columns, unit=dp.PrivacyUnit(max_rows=1))
    curator = dp.open_with_cells(
        frame, each_row, names, budget=BUDGET, ledger=dp.MemoryLedger()
    )
    return {name: curator.schema.column(name) for name in names}


def of_table(name: str, frame: pd.DataFrame) -> list[dict[str, Any]]:
    """One line per column of numbers that falls into intervals."""
    rng = np.random.default_rng(0)
    lines = []
    schema = dp.suggest_schema(frame)
    found = found_in(frame, schema)
    for column in schema.columns:
        if not isinstance(column, NumberColumn):
            continue
        values = (
            pd.to_numeric(frame[column.name], errors="coerce").dropna().astype(float)
        )
        whole = bool((values % 1 == 0).all())
        bounds = np.linspace(values.min(), values.max() + whole, column.values_size + 1)
        cells = np.clip(
            np.searchsorted(bounds, values, side="right") - 1, 0, column.values_size - 1
        )
        even = bounds[cells] + rng.random(len(values)) * np.diff(bounds)[cells]
        even = np.floor(even) if whole else even
        lines.append(
            {
                "table": name,
                "rows": len(frame),
                "column": column.name,
                "different": values.nunique(),
                "cells": column.values_size,
                "Kolmogorov": distance(column, frame[column.name], rng),
                "one width": float(ks_2samp(values, even).statistic),
            },
        )
        if private := found.get(column.name):
            lines[-1]["private cells"] = private.size - private.missing
            lines[-1]["private"] = distance(private, frame[column.name], rng)
    return lines


def privately(lines: list[dict[str, Any]], worst: int) -> list[Table]:
    """What the private cells keep: of all, by table, and of the worst columns."""
    lines = sorted(
        (line for line in lines if "private" in line), key=lambda line: -line["private"]
    )
    names = list(dict.fromkeys(line["table"] for line in lines))
    by_table = [
        {"table": name, "rows": own[0]["rows"], **_together(own)}
        for name in names
        if (own := [line for line in lines if line["table"] == name])
    ]
    columns = [
        {key: line[key] for key in line if key != "one width"} for line in lines[:worst]
    ]
    return [
        Table(
            title="Found privately",
            lines=[{"tables": len(names), **_together(lines)}] if lines else [],
        ),
        Table(title="Found privately, tables", lines=by_table[:worst]),
        Table(title="Found privately, columns", lines=columns),
    ]


def _together(lines: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "columns": len(lines),
        "cells": sum(line["cells"] for line in lines),
        "private cells": sum(line["private cells"] for line in lines),
        "mean": statistics.fmean(line["Kolmogorov"] for line in lines),
        "private mean": statistics.fmean(line["private"] for line in lines),
        "private worst": max(line["private"] for line in lines),
        "above .05": sum(line["private"] > 0.05 for line in lines),
    }


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument(
        "--least", type=int, default=2_000, help="rows that a table has at least"
    )
    parser.add_argument(
        "--worst", type=int, default=10, help="columns and tables that are printed"
    )
    parser.add_argument(
        "--folder",
        type=Path,
        help="tables as CSV, in place of those of Rdatasets and Adult",
    )
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        read = (
            of_files(args.folder.glob("*.csv")) if args.folder else tables(Path(folder))
        )
    found = {name: frame for name, frame in read.items() if len(frame) >= args.least}
    lines = [line for name, frame in found.items() for line in of_table(name, frame)]
    lines.sort(key=lambda line: -line["Kolmogorov"])
    ranked = list(dict.fromkeys(line["table"] for line in lines))[: args.worst]
    by_table = []
    for name in ranked:
        own = [line for line in lines if line["table"] == name]
        figures = {
            key: statistics.fmean(line[key] for line in own)
            for key in ("cells", "Kolmogorov", "one width")
        }
        by_table.append(
            {
                "table": name,
                "rows": own[0]["rows"],
                "columns": len(own),
                **figures,
                "worst": own[0]["Kolmogorov"],
            },
        )
    everything = {
        "tables": len(found),
        "columns": len(lines),
        "cells": sum(line["cells"] for line in lines),
        "mean": statistics.fmean(line["Kolmogorov"] for line in lines),
        "above .05": sum(line["Kolmogorov"] > 0.05 for line in lines),
        "one width, mean": statistics.fmean(line["one width"] for line in lines),
        "one width, above .05": sum(line["one width"] > 0.05 for line in lines),
    }
    answers = [
        Table(title="All", lines=[everything]),
        Table(title="Tables", lines=by_table),
        Table(title="Columns", lines=lines[: args.worst]),
        *privately(lines, args.worst),
    ]
    show(answers, as_json=args.json)


if __name__ == "__main__":
    main()
