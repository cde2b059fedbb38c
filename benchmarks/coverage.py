"""How often does what a whole table promises hold, before it is paid and after the fit?

    python -m benchmarks.coverage --runs 20

Three invented tables of 300 to 30,000 rows, each recipe several times. "promised" is the 95 % interval of the
preview, against the published counts; "counts" and "answers" are the intervals of a release: of its published
counts, and of its model's answers after everything was made consistent and fitted, for single columns and for
the measured pairs. Shares of cells that are inside; 0.93 to 0.99 is right for 95 %. Cells of a merged group
have no count of their own: their interval is a bound, and "merged" says how often it holds. "width" is the
promised half-width over the standard error that was seen times 1.96: 1 is exact, 3 makes people overspend.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import pandas as pd

import dpcore as dp
from benchmarks.harness import Table, arguments, show
from dpcore.synthesis import SyntheticModel

TABLES = {"small": (300, (5, 8, 12)), "middle": (3_000, (10, 20, 30, 15)), "large": (30_000, (40, 60, 25))}
LOSSES = {"epsilon 1": dp.PureDP(epsilon="1"), "rho 1/20": dp.ZCDP(rho="1/20")}


def invented(rows: int, sizes: tuple[int, ...]) -> tuple[pd.DataFrame, dp.Schema]:
    """Columns of numbers, each of which depends on the one before."""
    draw = np.random.default_rng(7)
    chance, columns = np.full(rows, 0.3), {}
    for i, size in enumerate(sizes):
        columns[f"c{i}"] = draw.binomial(size - 1, chance)
        chance = 0.2 + 0.5 * columns[f"c{i}"] / size
    schema = dp.Schema(
        columns=tuple(
            dp.Integer(name, low=0, high=size - 1) for name, size in zip(columns, sizes, strict=True)
        ),
        unit=dp.PrivacyUnit(max_rows=1),
    )
    return pd.DataFrame(columns), schema


def exact(frame: pd.DataFrame, schema: dp.Schema, clique: tuple[str, ...]) -> np.ndarray:
    """The counts of a clique."""
    shape = tuple(schema.domain.size(name) for name in clique)
    cells = np.ravel_multi_index(tuple(frame[name] for name in clique), shape)
    return np.bincount(cells, minlength=int(np.prod(shape))).reshape(shape)


def inside(name: str, recipe: dp.Recipe, loss: Any, runs: int) -> dict[str, Any]:
    """Shares of cells inside each interval."""
    rows, sizes = TABLES[name]
    frame, schema = invented(rows, sizes)
    promised = {each.clique: each.half_width() for each in recipe.expect(schema.domain, loss, 1, rows)}
    kinds = ("promised", "counts", "answers", "pairs", "merged")
    hits: dict[str, list[bool]] = {kind: [] for kind in kinds}
    offs: list[float] = []
    for _run in range(runs):
        budget = loss if isinstance(loss, dp.PureDP) else dp.ZCDP(rho="1")
        curator = dp.Curator.open(frame, schema, budget=budget, ledger=dp.MemoryLedger())
        release = curator.run(recipe, loss)
        for clique, marginal in release.marginals.items():
            if not clique:
                continue
            off = np.abs(marginal.values - exact(frame, schema, clique)).ravel()
            hits["counts"] += (off <= marginal.half_width()).tolist()
            if clique in promised:
                hits["promised"] += (off <= promised[clique]).tolist()
                offs += ((off / promised[clique]) ** 2).tolist()
        for clique in release.model.cliques if isinstance(release.model, SyntheticModel) else ():
            singles = [(column,) for column in clique]
            for asked in [*singles, clique] if len(clique) == 2 else singles:
                answer, truth = release.model.answer(asked), exact(frame, schema, asked)
                held = (answer.low <= truth) & (truth <= answer.high)
                if answer.measured:
                    hits["answers" if len(asked) == 1 else "pairs"] += held[answer.alone].tolist()
                    hits["merged"] += held[~answer.alone].tolist()
    shares = {kind: float(np.mean(each)) if each else None for kind, each in hits.items()}
    return shares | {"width": 1 / (1.96 * float(np.sqrt(np.mean(offs)))) if offs else None}


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--runs", type=int, default=20)
    args = parser.parse_args()
    recipes = {"Independent": None, "Tree": dp.Tree(), "Adaptive": dp.Adaptive()}
    lines = []
    for name, (_rows, sizes) in TABLES.items():
        columns = tuple(f"c{i}" for i in range(len(sizes)))
        for title, recipe in recipes.items():
            for spent, loss in LOSSES.items():
                found = inside(name, recipe or dp.Independent(columns=columns), loss, args.runs)
                lines.append({"table": name, "recipe": title, "loss": spent} | found)
    show([Table(title=f"Cells inside a 95 % interval, {args.runs} runs", lines=lines)], as_json=args.json)


if __name__ == "__main__":
    main()
