"""How long do suppression and attack of an exact table take, and what is hidden?

    python -m benchmarks.exact
    python -m benchmarks.exact --cells 2000 --json

Tables of invented counts, log-normal with a tenth of empty cells, over two columns with
groups of ten and totals, then over three. Suppression is to take 30 seconds of the clock
at most for 10,000 cells, the attack 180; on a busy machine, those of the processor tell
more. Of tables of two columns, a second version follows in which people came into 1 % of
the finest cells: both together are to take 180 at most. Last, a file that grows
everywhere.
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
from dpcore.errors import InfeasibleError
from dpcore.progress import OnProgress
from dpcore.suppression import PRESETS, ShownColumn, TablePlan
from dpcore.suppression import protect as protecting
from dpcore.suppression.hide import CellHider

USUAL_COUNT = 60  # people in a cell, the median
GROUP = 10  # values in a group of a column
MAX_GROWING_CELLS = 500  # of a table that is made again after all cells changed


def column(name: str, values: int) -> ShownColumn:
    """Return a column of so many values in groups of ten."""
    leaves = tuple(f"{name}{number}" for number in range(values))
    groups = tuple(f"{name} group {number // GROUP}" for number in range(values))
    tree = Hierarchy(values=leaves, levels=(leaves, groups, ("*",) * values))
    return ShownColumn(column=name, hierarchy=tree)


def invented_table(
    cells: int, rule: str, seed: int, columns: int = 2
) -> tuple[TablePlan, np.ndarray]:
    """Return a plan of about so many cells with totals, and counts."""
    side = max(3, round((cells ** (1 / columns) - 1) / (1 + 1 / GROUP)))
    names = ("row", "column", "split")[:columns]
    plan = TablePlan(
        columns=tuple(column(name, side) for name in names), rule=PRESETS[rule]
    )
    layout = plan.build_layout()
    rng = np.random.default_rng(seed)
    finest = np.zeros(layout.shape, dtype=np.int64)
    places = [sorted(set(axis.finest_group.values())) for axis in layout.axes]
    shape = tuple(map(len, places))
    counts = rng.lognormal(math.log(USUAL_COUNT), 1.2, shape).astype(np.int64)
    finest[np.ix_(*places)] = counts * (rng.random(shape) > 0.1)
    return plan, layout.add_up(finest)


def let_people_come(
    plan: TablePlan, counts: np.ndarray, share: float, most: int, seed: int
) -> np.ndarray:
    """Return counts after people came into a share of the finest cells.

    Args:
        most: people who come into such a cell at most; at least 20 or a fifth of it.
    """
    layout = plan.build_layout()
    rng = np.random.default_rng(seed)
    places = np.ix_(*(sorted(set(axis.finest_group.values())) for axis in layout.axes))
    finest = np.zeros(layout.shape, dtype=np.int64)
    finest[places] = counts.reshape(layout.shape)[places]
    shape = finest[places].shape
    came = rng.integers(min(20, most // 5), most + 1, shape)
    finest[places] += came * (rng.random(shape) < share)
    return layout.add_up(finest)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--cells", type=int, nargs="+", default=[200, 2_000, 10_000])
    parser.add_argument("--cells-of-three", type=int, nargs="*", default=[1_300, 4_500])
    parser.add_argument("--rules", nargs="+", default=["cms", "acro"])
    asked = parser.parse_args()
    seconds = {"clock": 0.0, "processor": 0.0}
    choose = CellHider.choose

    def timed(hiding: CellHider, on_progress: OnProgress) -> object:
        clock, processor = time.perf_counter(), time.process_time()
        hidden = choose(hiding, on_progress)
        seconds["clock"] = time.perf_counter() - clock
        seconds["processor"] = time.process_time() - processor
        return hidden

    CellHider.choose = timed  # type: ignore[method-assign,assignment]
    lines = []
    versions: list[dict[str, object]] = []
    sizes = [
        *((2, cells) for cells in asked.cells),
        *((3, cells) for cells in asked.cells_of_three),
    ]
    for columns, cells in sizes:
        for rule in asked.rules:
            plan, counts = invented_table(cells, rule, seed=1, columns=columns)
            clock, processor = time.perf_counter(), time.process_time()
            made = protecting.protect_table(plan, counts)
            clock = time.perf_counter() - clock
            processor = time.process_time() - processor
            small = sum(plan.rule.hides(int(count)) for count in counts)
            lines.append(
                {
                    "columns": columns,
                    "cells": len(counts),
                    "rule": rule,
                    "small": small,
                    "hidden": len(made.reasons),
                    "people hidden %": round(100 * made.hidden_people / counts[0], 2),
                    "suppression s": round(seconds["clock"], 1),
                    "attack s": round(clock - seconds["clock"], 1),
                    "suppression processor s": round(seconds["processor"], 1),
                    "attack processor s": round(processor - seconds["processor"], 1),
                    "programs": made.solved_programs,
                }
            )
            for change, share, most in (("1 % of cells", 0.01, 80), ("all", 1.0, 30)):
                if columns > 2 or (share == 1 and cells > MAX_GROWING_CELLS):
                    continue
                today = let_people_come(plan, counts, share, most, seed=2)
                clock, processor = time.perf_counter(), time.process_time()
                line = {"cells": len(counts), "rule": rule, "changed": change}
                try:
                    second = protecting.protect_table(
                        plan, today, [(made.published, today)]
                    )
                    line["hidden"] = len(second.reasons)
                    line["programs"] = second.solved_programs
                except InfeasibleError:
                    line["hidden"] = "refused"
                line["seconds"] = round(time.perf_counter() - clock, 1)
                line["processor s"] = round(time.process_time() - processor, 1)
                alone = protecting.protect_table(plan, today)
                line["hidden if it were the first"] = len(alone.reasons)
                versions.append(line)
    tables = [
        Table(title="Exact tables", lines=lines),
        Table(title="Second versions", lines=versions),
    ]
    show(tables, as_json=asked.json)


if __name__ == "__main__":
    main()
