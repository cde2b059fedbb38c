"""How long do suppression, rounding and attack take, and what is hidden or off?

    python -m benchmarks.exact
    python -m benchmarks.exact --cells 2000 --json

Tables of invented counts, log-normal with a tenth of empty cells, over two columns with
groups of ten and totals, then over three. Suppression is to take 30 seconds of the clock
at most for 10,000 cells, the attack 180; on a busy machine, those of the processor tell
more. The same tables are rounded, which is to take 30 seconds with the attack. Of tables
of two columns, a second version follows in which people came into 1 % of the finest
cells: both together are to take 180 at most. Then a file that grows everywhere. Last,
files from which plain tables are published one after the other, hidden and rounded: one
of an office, and one in which some towns lie in a wrong district.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import pandas as pd

import dpcore as dp
from benchmarks.harness import Table, arguments, show
from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.curator import Curator
from dpcore.errors import InfeasibleError
from dpcore.progress import OnProgress
from dpcore.suppression import PRESETS, ShownColumn, TablePlan
from dpcore.suppression import protect as protecting
from dpcore.suppression.hide import CellHider
from dpcore.suppression.rounding import expected_error

USUAL_COUNT = 60  # people in a cell, the median
GROUP = 10  # values in a group of a column
OFFICE_TABLES = (
    ("sex",),
    ("age",),
    ("district",),
    ("district", "sex"),
    ("age", "sex"),
    ("district", "age"),
    ("education", "sex"),
    ("nation",),
    ("marital", "age"),
    ("district", "work"),
)
TOWN_TABLES = (("district",), ("town",), ("town", "sex"))
WRONG_DISTRICTS = 0.02  # of the people, coded at random
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


def measure_rounding(
    plan: TablePlan, counts: np.ndarray, seconds_to_hide: float
) -> dict[str, object]:
    """Round a table; return a line with its time and how far its counts are off.

    Args:
        seconds_to_hide: of the processor, for suppression and attack of the same table.
    """
    base = plan.rule.usual_base
    line: dict[str, object] = {
        "columns": len(plan.columns),
        "cells": len(counts),
        "rule": plan.rule.name,
        "base": base,
    }
    clock, processor = time.perf_counter(), time.process_time()
    try:
        made = protecting.protect_table(replace(plan, rounding_base=base), counts)
        off = np.abs(np.array(made.published.counts) - counts)
        line["off, mean"] = round(float(off.mean()), 1)
        line["off, most"] = int(off.max())
        line["off, expected"] = round(expected_error(base), 1)
        line["programs"] = made.solved_programs
    except InfeasibleError:
        line["programs"] = "refused"
    processor = time.process_time() - processor
    line["seconds"] = round(time.perf_counter() - clock, 1)
    line["processor s"] = round(processor, 1)
    line["of hiding"] = round(processor / seconds_to_hide, 2)
    return line


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


def invent_office(people: int, seed: int) -> pd.DataFrame:
    """Return rows of people in which children have no education, and few work."""
    draw = np.random.default_rng(seed)

    def pick(values: int, steepness: float) -> np.ndarray:
        shares = np.arange(1, values + 1) ** -steepness
        return draw.choice(values, people, p=shares / shares.sum())

    shares = np.array([9, 11, 12, 13, 14, 13, 11, 9, 6, 2]) / 100
    age = draw.choice(len(shares), people, p=shares)
    education = draw.choice(5, people, p=[0.2, 0.35, 0.25, 0.15, 0.05])
    work = draw.choice(["full", "part", "self", "no"], people, p=[0.5, 0.2, 0.1, 0.2])
    marital = draw.choice(
        ["married", "divorced", "widowed", "partner"], people, p=[0.7, 0.15, 0.05, 0.1]
    )
    is_old = (age > 6) & (draw.random(people) < 0.9)
    is_single = (age < 2) | (draw.random(people) < 0.35)
    columns = {
        "sex": draw.choice(["f", "m"], people, p=[0.51, 0.49]),
        "age": age,
        "district": pick(12, 0.6),
        "marital": np.where(is_single, "single", marital),
        "education": np.where(age < 1, "none", education.astype(str)),
        "nation": pick(20, 2.0),
        "work": np.where((age < 2) | is_old, "no", work),
    }
    return pd.DataFrame({name: own.astype(str) for name, own in columns.items()})


def invent_towns(people: int, seed: int) -> pd.DataFrame:
    """Return rows of people in 40 towns of 8 districts, some in a wrong one."""
    draw = np.random.default_rng(seed)
    shares = np.arange(1, 41) ** -0.5
    town = draw.choice(40, people, p=shares / shares.sum())
    is_wrong = draw.random(people) < WRONG_DISTRICTS
    district = np.where(is_wrong, draw.integers(0, 8, people), town % 8)
    columns = {
        "town": town,
        "district": district,
        "sex": draw.choice(["f", "m"], people),
    }
    return pd.DataFrame({name: own.astype(str) for name, own in columns.items()})


def publish_in_sequence(
    file: str,
    frame: pd.DataFrame,
    tables: Sequence[tuple[str, ...]],
    rule: str,
    *,
    is_rounded: bool,
) -> list[dict[str, object]]:
    """Publish tables of a file one after the other; return a line for each one."""
    base = PRESETS[rule].usual_base if is_rounded else 0
    columns = tuple(
        dp.Categorical(name, categories=tuple(sorted(frame[name].unique())))
        for name in frame.columns
    )
    curator = Curator.open(
        frame,
        dp.Schema(columns=columns, unit=dp.PrivacyUnit(max_rows=1)),
        budget=dp.PureDP(epsilon=1),
        ledger=dp.MemoryLedger(),
    )
    lines = []
    for names in tables:
        shown = tuple(ShownColumn(column=name) for name in names)
        line: dict[str, object] = {
            "file": file,
            "rule": rule,
            "base": base,
            "table": " × ".join(names),
        }
        started = time.process_time()
        plan = TablePlan(columns=shown, rule=PRESETS[rule], rounding_base=base)
        try:
            made = curator.exact_table(plan)
            published = curator.publish_table(made)
            people = made.content.true_counts
            line["cells"] = len(people)
            line["hidden"] = len(made.content.reasons)
            if base:
                off = np.abs(np.array(published.counts) - people)
                line["off, mean"] = round(float(off.mean()), 1)
        except InfeasibleError:
            line["hidden"] = "refused"
        line["processor s"] = round(time.process_time() - started, 1)
        lines.append(line)
    return lines


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--cells", type=int, nargs="*", default=[200, 2_000, 10_000])
    parser.add_argument("--cells-of-three", type=int, nargs="*", default=[1_300, 4_500])
    parser.add_argument("--people", type=int, nargs="*", default=[3_000])
    parser.add_argument("--rule-of-sequences", default="nhs")
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
    rounded: list[dict[str, object]] = []
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
            rounded.append(measure_rounding(plan, counts, processor))
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
    sequences = []
    for people in asked.people:
        for name, frame, published in (
            ("office", invent_office(people, seed=3), OFFICE_TABLES),
            ("rare pairs", invent_towns(people, seed=5), TOWN_TABLES),
        ):
            for is_rounded in (False, True):
                sequences += publish_in_sequence(
                    f"{name}, {people}",
                    frame,
                    published,
                    asked.rule_of_sequences,
                    is_rounded=is_rounded,
                )
    tables = [
        Table(title="Exact tables", lines=lines),
        Table(title="Rounded tables", lines=rounded),
        Table(title="Second versions", lines=versions),
        Table(title="Plain tables one after the other", lines=sequences),
    ]
    show(tables, as_json=asked.json)


if __name__ == "__main__":
    main()
