"""Is the default of a synthetic table ever worse than `Tree`?

    python -m benchmarks.paired --runs 10
    python -m benchmarks.paired --tables small8 bookings --epsilons 0.1 1 --runs 4 --json

Both recipes draw from the same rows in each run: from seeded tables of many shapes
(`benchmarks/families.py`), from invented bookings, and from raw tables where they are
at hand, with a fifth of the rows held back. delta is 1e-9. "pairs" is the mean total
variation distance of all pairs of columns, of raw tables over 20 quantiles. "auc" is
that of a named column, learned from drawn rows (the default with this target) and
tested on the rows held back; "least auc" is the least of all runs, "real" the mean of
models trained on the real rows. "difference" is the mean of the default less that of
`Tree`, with its standard error over the runs. The default is worse if its difference is
above two standard errors and above a hundredth of what `Tree` has.
"""

import statistics
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import pandas as pd

import dpcore as dp
from benchmarks import encoding
from benchmarks.families import FAMILIES, Family
from benchmarks.harness import SHARED, Table, arguments, show
from benchmarks.synthesis import distances
from benchmarks.targets import bookings, draw
from dpcore.synthesis.discrete.recipes import table_recipe_arguments

HELD_BACK = 0.2
MAX_MARGINALS = 2_000
WORSE_SDS = 2.0
WORSE_SHARE = 0.01


def raw_tables() -> dict[str, tuple[Callable[[int], pd.DataFrame], tuple[str, Any]]]:
    """Makers of raw tables by seed, each with the column to learn and its yes."""
    found: dict[str, tuple[Callable[[int], pd.DataFrame], tuple[str, Any]]] = {
        "bookings": (bookings, ("cancelled", "yes"))
    }
    targets = {name: table.target for name, table in encoding.TABLES.items()}
    for name, target in {**targets, "adult": ("income", ">50K")}.items():
        path = SHARED / "data" / f"{name}.csv"
        if path.exists():
            found[name] = (lambda _seed, path=path: pd.read_csv(path), target)
    return found


def of_family(family: Family, loss: dp.ApproxDP, seed: int) -> dict[str, float]:
    """Errors of pairs of both recipes on one table of a family."""
    frame = family.make(2 * seed + 1)
    schema = dp.Schema(
        columns=tuple(
            dp.Categorical(name, categories=tuple(range(size)))
            for name, size in family.sizes.items()
        ),
        unit=dp.PrivacyUnit(max_rows=1),
    )
    ordered = frozenset(family.ordered)
    return {
        f"pairs {title}": statistics.fmean(
            distances(
                frame,
                draw(frame, schema, recipe, loss),
                family.sizes,
                2,
                MAX_MARGINALS,
            )
        )
        for title, recipe in (
            ("default", dp.Adaptive(ordered=ordered)),
            ("Tree", dp.Tree(ordered=ordered)),
        )
    }


def of_raw_table(
    frame: pd.DataFrame, target: tuple[str, Any], loss: dp.ApproxDP, seed: int
) -> dict[str, float]:
    """Errors of pairs and AUC of both recipes on one split of a raw table."""
    held = np.random.default_rng(seed).random(len(frame)) < HELD_BACK
    train = frame[~held].reset_index(drop=True)
    test = frame[held].reset_index(drop=True)
    schema = dp.suggest_schema(train)
    order = table_recipe_arguments(schema.columns)
    default = draw(train, schema, dp.Adaptive(**order), loss)
    tree = draw(train, schema, dp.Tree(**order), loss)
    named = draw(train, schema, dp.Adaptive(**order, target=target[0]), loss)
    known = train[[name for name in train.columns if name in tree.columns]]

    def auc(rows: pd.DataFrame) -> float:
        return encoding.learned(rows, test[rows.columns], target)

    return {
        "pairs default": encoding.pairs(known, default),
        "pairs Tree": encoding.pairs(known, tree),
        "auc default": auc(named),
        "auc Tree": auc(tree),
        "auc real": auc(known),
    }


def compare(runs: list[dict[str, float]], figure: str) -> dict[str, Any]:
    """The line of one figure, "pairs" or "auc"."""
    default, tree = (
        np.array([run[f"{figure} {title}"] for run in runs])
        for title in ("default", "Tree")
    )
    difference = default - tree
    error = float(difference.std(ddof=1) / len(runs) ** 0.5) if len(runs) > 1 else 0.0
    loss = float(difference.mean()) * (1 if figure == "pairs" else -1)
    line = {
        "figure": figure,
        "default": float(default.mean()),
        "Tree": float(tree.mean()),
        "difference": float(difference.mean()),
        "its error": error,
        "worse": loss > max(WORSE_SDS * error, WORSE_SHARE * float(tree.mean())),
    }
    if figure == "auc":
        line["least auc"] = float(default.min())
        line["real"] = statistics.fmean(run["auc real"] for run in runs)
        line["most below"] = max(run["auc real"] - run["auc default"] for run in runs)
    return line


def lines_of(names: list[str], epsilons: list[float], runs: int) -> Iterator[Any]:
    """A line per table, epsilon and figure."""
    families = {family.name: family for family in FAMILIES}
    raw = raw_tables()
    for name in names:
        for epsilon in epsilons:
            loss = dp.ApproxDP(epsilon=epsilon, delta="1e-9")
            if name in families:
                found = [of_family(families[name], loss, seed) for seed in range(runs)]
            else:
                make, target = raw[name]
                found = [
                    of_raw_table(make(seed), target, loss, seed) for seed in range(runs)
                ]
            for figure in ("pairs", "auc"):
                if f"{figure} Tree" in found[0]:
                    yield {
                        "table": name,
                        "epsilon": epsilon,
                        "runs": runs,
                        **compare(found, figure),
                    }


def main() -> None:
    parser = arguments(__doc__)
    names = [*(family.name for family in FAMILIES), *raw_tables()]
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--epsilons", type=float, nargs="*", default=[0.1, 1.0])
    parser.add_argument("--tables", nargs="*", choices=names, default=names)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    lines = list(lines_of(args.tables, args.epsilons, args.runs))
    tables = [
        Table(title=f"The default beside Tree: {figure}", lines=found)
        for figure in ("pairs", "auc")
        if (found := [line for line in lines if line["figure"] == figure])
    ]
    show(tables, as_json=args.json)


if __name__ == "__main__":
    main()
