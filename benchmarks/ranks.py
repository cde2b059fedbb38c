"""Do numbers of raw tables rise together in drawn rows as they do in the original?

    python -m benchmarks.ranks --runs 3
    python -m benchmarks.ranks --files births.csv loans.csv --epsilons 0.5 1

Adult where it is at hand, public tables of Rdatasets (as the package pydataset has
them, fetched for the run) with 2,000 rows or more and five columns of numbers, and any
CSV files; of more than 40,000 rows as many by chance. Schema as suggested, delta 1e-9.
"ranks" is the mean distance of the rank correlations (Spearman) of all pairs of
numbers, over rows in which neither is missing, "strong" that of the pairs above .5,
"pairs" the mean total variation distance of up to 300 pairs of columns. `Adaptive`
stands beside `Tree` and `Independent` in the same run.
"""

import statistics
import sys
import tempfile
import warnings
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import pandas as pd

import dpcore as dp
from benchmarks.cells import tables
from benchmarks.harness import Table, arguments, cpu, show
from benchmarks.targets import draw
from dpcore.evaluation.utility.marginal_error import measure_marginal_error
from dpcore.synthesis import Recipe
from dpcore.synthesis.discrete.recipes import table_recipe_arguments

LEAST_ROWS = 2_000
MOST_ROWS = 40_000
LEAST_NUMBERS = 5
MOST_PAIRS = 300
STRONG = 0.5


def ranks(frame: pd.DataFrame, numbers: list[str]) -> np.ndarray:
    """Spearman's correlation of each pair; NaN where there is none."""
    values = frame[numbers].apply(pd.to_numeric, errors="coerce").astype(float)
    return values.corr(method="spearman").to_numpy()[np.triu_indices(len(numbers), 1)]


def of_table(
    frame: pd.DataFrame, schema: dp.Schema, epsilon: float, runs: int
) -> list[dict[str, Any]]:
    """One line per recipe."""
    numbers = [
        each.name for each in schema.columns if isinstance(each, dp.Integer | dp.Real)
    ]
    truth = ranks(frame, numbers)
    known = ~np.isnan(truth)
    strong = np.abs(truth) > STRONG
    loss = dp.ApproxDP(epsilon=epsilon, delta=1e-9)
    order = table_recipe_arguments(schema.columns)
    recipes: dict[str, Recipe] = {
        "Adaptive": dp.Adaptive(**order),
        "Tree": dp.Tree(**order),
        "Independent": dp.Independent(columns=schema.domain.names),
    }
    lines = []
    for title, recipe in recipes.items():
        found = []
        for _ in range(runs):
            seconds, drawn = cpu(partial(draw, frame, schema, recipe, loss))
            (pairs,) = measure_marginal_error(
                frame, drawn, schema, (2,), MOST_PAIRS
            ).ways
            off = np.abs(np.nan_to_num(ranks(drawn, numbers)) - truth)
            found.append((off[known].mean(), off[strong].mean(), pairs.mean, seconds))
        means = [statistics.fmean(each) for each in zip(*found, strict=True)]
        lines.append(
            {
                "method": title,
                **dict(zip(("ranks", "strong", "pairs", "cpu_s"), means, strict=True)),
                "numbers": len(numbers),
                "strong ones": int(strong.sum()),
            },
        )
    return lines


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--epsilons", type=float, nargs="*", default=[1.0])
    parser.add_argument(
        "--files", type=Path, nargs="*", help="CSV files in place of the public tables"
    )
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    if args.files:
        found = {path.stem: pd.read_csv(path) for path in args.files}
    else:
        with tempfile.TemporaryDirectory() as folder:
            found = {
                name: frame
                for name, frame in tables(Path(folder)).items()
                if len(frame) >= LEAST_ROWS
            }
    lines = []
    for name, frame in found.items():
        if len(frame) > MOST_ROWS:
            frame = frame.sample(MOST_ROWS, random_state=0).reset_index(drop=True)
        schema = dp.suggest_schema(frame)
        numbers = [
            each for each in schema.columns if isinstance(each, dp.Integer | dp.Real)
        ]
        if len(numbers) < LEAST_NUMBERS or schema.unit.id_column is not None:
            continue
        for epsilon in args.epsilons:
            about = {
                "table": name,
                "rows": len(frame),
                "columns": len(schema.columns),
                "epsilon": epsilon,
            }
            lines += [
                about | line for line in of_table(frame, schema, epsilon, args.runs)
            ]
    show(
        [Table(title="Rank correlations of drawn rows", lines=lines)], as_json=args.json
    )


if __name__ == "__main__":
    main()
