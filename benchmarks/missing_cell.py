"""What does a cell for missing values cost in tables of yes and no?

    python -m benchmarks.missing_cell
    python -m benchmarks.missing_cell --rows 5000 --columns 10 20 --runs 5

Every column that is suggested has a cell for missing values, unless its owner says that
no cell can be empty in such a table. People of two groups answer yes or no; every table
is released with that cell and without it, at the same loss. Prints the error that is
expected of a count before anything is paid (half of the interval that holds in 95 of
100 cases), the mean error of all pairs of answers that were counted or follow from the
model, in rows, and how many drawn cells are missing.
"""

import argparse
import itertools
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import pandas as pd

import dpcore as dp
from benchmarks.harness import Table, arguments, show
from dpcore.synthesis import Tree
from dpcore.synthesis.base import Recipe


def people(rows: int, columns: int) -> pd.DataFrame:
    """Answers of people of two groups, who say yes more or less often."""
    rng = np.random.default_rng(0)
    group = rng.random((rows, 1)) < 0.4
    often = rng.uniform(0.4, 0.95, columns)
    seldom = rng.uniform(0.05, 0.6, columns)
    answers = rng.random((rows, columns)) < np.where(group, often, seldom)
    return pd.DataFrame(answers, columns=[f"q{number}" for number in range(columns)])


def of_recipe(
    frame: pd.DataFrame,
    recipe: Recipe,
    loss: dp.PureDP,
    *,
    missing: bool,
    runs: int,
) -> dict[str, Any]:
    """Expected and real errors of one recipe."""
    schema = dp.suggest_schema(frame, missing=missing)
    pairs = list(itertools.combinations(schema.domain.names, 2))
    errors = []
    gaps = []
    expected = float("nan")
    for _run in range(runs):
        budget = dp.PureDP(epsilon=10)
        ledger = dp.MemoryLedger()
        curator = dp.Curator.open(frame, schema, budget=budget, ledger=ledger)
        quote = curator.quote(recipe, loss, table_rows=len(frame))
        expected = max(
            (each.half_width() for each in quote.expected), default=float("nan")
        )
        release = curator.run(recipe, loss)
        names = set(release.model_columns)
        for a, b in pairs:
            if {a, b} <= names:
                counted = pd.crosstab(frame[a], frame[b]).to_numpy()
                errors.append(
                    np.abs(release.answer((a, b)).values[:2, :2] - counted).mean()
                )
        if len(names) == 1:
            (name,) = names
            counted = frame[name].value_counts().sort_index().to_numpy()
            errors.append(np.abs(release.answer((name,)).values[:2] - counted).mean())
        gaps.append(float(release.sample(len(frame), seed=0).isna().to_numpy().mean()))
    return {
        "expected": expected,
        "error": float(np.mean(errors)),
        "drawn missing": float(np.mean(gaps)),
    }


def main() -> None:
    """Print a line for each number of columns and each recipe."""
    parser = arguments(__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[2_000, 20_000])
    parser.add_argument("--columns", type=int, nargs="+", default=[10, 20])
    parser.add_argument("--epsilon", default="1")
    parser.add_argument("--runs", type=int, default=5)
    asked: argparse.Namespace = parser.parse_args()
    loss = dp.PureDP(epsilon=asked.epsilon)
    lines = []
    for rows, columns in itertools.product(asked.rows, asked.columns):
        frame = people(rows, columns)
        recipes: dict[str, Recipe] = {
            "Histogram": dp.Histogram("q0"),
            "Tree": Tree(),
            "Adaptive": dp.Adaptive(),
        }
        for name, recipe in recipes.items():
            for missing in (False, True):
                line = {
                    "rows": rows,
                    "columns": columns,
                    "recipe": name,
                    "cell for missing": missing,
                }
                lines.append(
                    line
                    | of_recipe(frame, recipe, loss, missing=missing, runs=asked.runs)
                )
    show([Table(title="Errors in rows", lines=lines)], as_json=asked.json)


if __name__ == "__main__":
    main()
