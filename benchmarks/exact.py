"""How long do suppression and attack of an exact table take, and what is hidden?

    python -m benchmarks.exact
    python -m benchmarks.exact --cells 2000 --json

Tables of invented counts, log-normal with a tenth of empty cells, over two columns with
groups of ten and totals. Seconds are those of the clock: suppression is to take 30 at
most for 10,000 cells, the attack 180.
"""

from __future__ import annotations

import math
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from benchmarks.harness import Table, arguments, show
from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.suppression import PRESETS, ShownColumn, TablePlan
from dpcore.suppression import protect as protecting
from dpcore.suppression.hide import CellHider

USUAL_COUNT = 60  # people in a cell, the median
GROUP = 10  # values in a group of a column


def column(name: str, values: int) -> ShownColumn:
    """Return a column of so many values in groups of ten."""
    leaves = tuple(f"{name}{number}" for number in range(values))
    groups = tuple(f"{name} group {number // GROUP}" for number in range(values))
    tree = Hierarchy(values=leaves, levels=(leaves, groups, ("*",) * values))
    return ShownColumn(column=name, hierarchy=tree)


def invented_table(cells: int, rule: str, seed: int) -> tuple[TablePlan, np.ndarray]:
    """Return a plan of about so many cells with totals, and counts."""
    side = max(3, round((math.sqrt(cells) - 1) / (1 + 1 / GROUP)))
    plan = TablePlan(
        columns=(column("row", side), column("column", side)), rule=PRESETS[rule]
    )
    layout = plan.build_layout()
    rng = np.random.default_rng(seed)
    finest = np.zeros(layout.shape, dtype=np.int64)
    places = [sorted(set(axis.finest_group.values())) for axis in layout.axes]
    shape = (len(places[0]), len(places[1]))
    counts = rng.lognormal(math.log(USUAL_COUNT), 1.2, shape).astype(np.int64)
    finest[np.ix_(*places)] = counts * (rng.random(shape) > 0.1)
    return plan, layout.add_up(finest)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--cells", type=int, nargs="+", default=[200, 2_000, 10_000])
    parser.add_argument("--rules", nargs="+", default=["cms", "acro"])
    asked = parser.parse_args()
    seconds = {"suppression": 0.0}
    choose = CellHider.choose

    def timed(hiding: CellHider) -> object:
        start = time.perf_counter()
        hidden = choose(hiding)
        seconds["suppression"] = time.perf_counter() - start
        return hidden

    CellHider.choose = timed  # type: ignore[method-assign,assignment]
    lines = []
    for cells in asked.cells:
        for rule in asked.rules:
            plan, counts = invented_table(cells, rule, seed=1)
            start = time.perf_counter()
            made = protecting.protect_table(plan, counts)
            whole = time.perf_counter() - start
            small = sum(plan.rule.hides(int(count)) for count in counts)
            lines.append(
                {
                    "cells": len(counts),
                    "rule": rule,
                    "small": small,
                    "hidden": len(made.reasons),
                    "people hidden %": round(100 * made.hidden_people / counts[0], 2),
                    "suppression s": round(seconds["suppression"], 1),
                    "attack s": round(whole - seconds["suppression"], 1),
                    "programs": made.solved_programs,
                }
            )
    show([Table(title="Exact tables", lines=lines)], as_json=asked.json)


if __name__ == "__main__":
    main()
