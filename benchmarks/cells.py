"""How much of a column of numbers is lost in cells, before any noise?

    python -m benchmarks.cells
    python -m benchmarks.cells --least 2000 --worst 30

Every table of Rdatasets (as the package pydataset has them, fetched for the run) with so many rows at least,
and Adult where it is at hand. Cells as suggested, from the data and marked so; each column of numbers is
encoded and decoded, and the Kolmogorov distance to what it was is taken. Beside it, in the same run, as many
cells of one width between the least and the largest number, which is what many tools do. Prints ten tables,
those with the worst column first, and the worst columns.
"""

import statistics
import sys
import tarfile
import tempfile
import warnings
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import pandas as pd
from scipy.stats import ks_2samp

import dpcore as dp
from benchmarks.harness import SHARED, Table, arguments, environment, show


def tables(folder: Path) -> dict[str, pd.DataFrame]:
    """Name -> table, without the number of the row."""
    found: dict[str, pd.DataFrame] = {}
    environment(str(folder), ["pydataset"])
    for packed in folder.glob("lib/*/site-packages/pydataset/resources.tar.gz"):
        with tarfile.open(packed) as archive:
            archive.extractall(folder, filter="data")
    adult = SHARED / "data" / "adult.csv"
    for path in [*sorted(folder.glob("resources/rdata/csv/**/*.csv")), *([adult] if adult.exists() else [])]:
        frame = pd.read_csv(path, encoding_errors="replace", on_bad_lines="skip")
        found[path.stem] = frame.drop(columns=[each for each in frame.columns if each.startswith("Unnamed")])
    return found


def of_table(name: str, frame: pd.DataFrame) -> list[dict[str, Any]]:
    """One line per column of numbers that falls into intervals."""
    rng, lines = np.random.default_rng(0), []
    for column in dp.suggest_schema(frame).columns:
        if not isinstance(column, dp.Integer | dp.Real):
            continue
        values = pd.to_numeric(frame[column.name], errors="coerce").dropna().astype(float)
        decoded = pd.to_numeric(
            column.decode(column.encode(frame[column.name]), rng), errors="coerce"
        ).dropna()
        whole = bool((values % 1 == 0).all())
        bounds = np.linspace(values.min(), values.max() + whole, column.values_size + 1)
        cells = np.clip(np.searchsorted(bounds, values, side="right") - 1, 0, column.values_size - 1)
        even = bounds[cells] + rng.random(len(values)) * np.diff(bounds)[cells]
        even = np.floor(even) if whole else even
        lines.append(
            {
                "table": name,
                "rows": len(frame),
                "column": column.name,
                "different": values.nunique(),
                "cells": column.values_size,
                "Kolmogorov": float(ks_2samp(values, decoded.astype(float)).statistic),
                "one width": float(ks_2samp(values, even).statistic),
            }
        )
    return lines


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--least", type=int, default=2_000, help="rows that a table has at least")
    parser.add_argument("--worst", type=int, default=10, help="columns and tables that are printed")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        found = {name: frame for name, frame in tables(Path(folder)).items() if len(frame) >= args.least}
    lines = [line for name, frame in found.items() for line in of_table(name, frame)]
    lines.sort(key=lambda line: -line["Kolmogorov"])
    ranked = list(dict.fromkeys(line["table"] for line in lines))[: args.worst]
    by_table = []
    for name in ranked:
        own = [line for line in lines if line["table"] == name]
        figures = {
            key: statistics.fmean(line[key] for line in own) for key in ("cells", "Kolmogorov", "one width")
        }
        by_table.append(
            {
                "table": name,
                "rows": own[0]["rows"],
                "columns": len(own),
                **figures,
                "worst": own[0]["Kolmogorov"],
            }
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
    ]
    show(answers, as_json=args.json)


if __name__ == "__main__":
    main()
