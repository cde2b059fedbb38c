"""Questions to a full-domain search on seeded tables, asked of this checkout and of an
older one.

Run by itself it prints the answers of the checkout that is first on PYTHONPATH, as
JSON; `python -m benchmarks.anonymize` runs it so.
"""

from __future__ import annotations

import itertools
import json
import math
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

LIMITS = (0.0, 0.02, 0.05)
METRICS = ("loss_geomean", "loss_mean", "entropy", "discernibility", "aecs")
MODELS = ("k", "distinct", "entropy", "recursive", "t", "t tree")


@dataclass(frozen=True, kw_only=True)
class Shape:
    """A table: its rows, the values of each quasi-identifier, how many of them a label
    joins one level up.
    """

    rows: int
    values: tuple[int, ...]
    joins: tuple[int, ...]
    secrets: int
    is_skewed: bool
    models: tuple[str, ...] = MODELS
    limits: tuple[float, ...] = LIMITS

    @property
    def name(self) -> str:
        law = "skewed" if self.is_skewed else "uniform"
        return f"{self.rows} x {len(self.values)} {law}, {self.secrets} secrets"


SHAPES = (
    Shape(
        rows=1_000,
        values=(2, 40, 5, 7, 16, 30, 7, 3),
        joins=(2, 3, 5, 3, 4, 4, 3, 3),
        secrets=6,
        is_skewed=True,
    ),
    Shape(
        rows=1_000,
        values=(2, 70, 5, 7, 16, 9),
        joins=(2, 4, 5, 3, 4, 3),
        secrets=2,
        is_skewed=False,
    ),
    Shape(
        rows=60_000,
        values=(2, 80, 6, 20, 16, 10),
        joins=(2, 4, 3, 3, 4, 4),
        secrets=14,
        is_skewed=True,
    ),
    Shape(
        rows=60_000,
        values=(2, 30, 4, 6, 8, 6, 4),
        joins=(2, 3, 4, 3, 3, 3, 2),
        secrets=5,
        is_skewed=False,
    ),
    Shape(
        rows=100_000,
        values=(2, 90, 5, 12, 16, 30, 8),
        joins=(2, 3, 5, 4, 4, 4, 3),
        secrets=50,
        is_skewed=True,
    ),
    Shape(
        rows=100_000,
        values=(2, 50, 5, 12, 16, 20, 8, 4),
        joins=(2, 3, 5, 4, 4, 4, 3, 2),
        secrets=2,
        is_skewed=True,
        models=("k",),
    ),
    Shape(
        rows=60_000,
        values=(2, 20, 5, 7, 9, 12, 8, 4, 6),
        joins=(2, 3, 5, 3, 3, 4, 3, 2, 3),
        secrets=2,
        is_skewed=True,
        models=("k",),
        limits=(0.0, 0.02),
    ),
)


def made(shape: Shape) -> tuple[pd.DataFrame, dict[str, Any], Any]:
    """The table, its hierarchies, and that of the secret.

    Skewed values follow Zipf and a hidden group.
    """
    from benchmarks.arx import Hierarchy

    random = np.random.default_rng(shape.rows + len(shape.values) + shape.secrets)
    hidden = random.integers(0, 4, shape.rows)
    columns = {}
    trees = {}
    for place, (values, join) in enumerate(
        [*zip(shape.values, shape.joins, strict=True), (shape.secrets, 3)],
    ):
        weights = 1 / np.arange(1, values + 1) ** (1.6 if shape.is_skewed else 0.0)
        laws = [
            np.roll(weights, group * values // 7 if shape.is_skewed else 0)
            for group in range(4)
        ]
        drawn = np.empty(shape.rows, dtype=np.int64)
        for group, law in enumerate(laws):
            here = hidden == group
            drawn[here] = random.choice(values, int(here.sum()), p=law / law.sum())
        name = f"q{place}" if place < len(shape.values) else "secret"
        columns[name] = [f"v{value:03}" for value in drawn]
        trees[name] = Hierarchy.from_csv(_tree(values, join), ";")
    return (
        pd.DataFrame(columns),
        {n: t for n, t in trees.items() if n != "secret"},
        trees["secret"],
    )


def _tree(values: int, join: int) -> str:
    heights = math.ceil(math.log(values, join) - 1e-9)
    lines = (
        ";".join(
            [
                f"v{value:03}",
                *(f"{level}:{value // join**level}" for level in range(1, heights)),
                "*",
            ]
        )
        for value in range(values)
    )
    return "\n".join(lines)


def models_of(name: str) -> list[Any]:
    """k = 5, and one model of the secret beside it."""
    from benchmarks import arx
    from dpcore.anonymization import KAnonymity

    of = {
        "distinct": lambda: arx.DistinctL(column="secret", l=2),
        "entropy": lambda: arx.EntropyL(column="secret", l=1.8),
        "recursive": lambda: arx.RecursiveCL(column="secret", c=4.0, l=2),
        "t": lambda: arx.TCloseness(column="secret", t=0.3),
        "t tree": lambda: arx.TCloseness(
            column="secret", t=0.25, distance="hierarchical"
        ),
    }
    return [KAnonymity(k=5)] if name == "k" else [KAnonymity(k=5), of[name]()]


def asked_of(checkout: Path) -> list[list[Any]]:
    """The answers of a checkout, in a process of its own."""
    command = [sys.executable, str(Path(__file__).resolve())]
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    ended = subprocess.run(
        command, capture_output=True, text=True, check=True, env=environment
    )
    return list(json.loads(ended.stdout))


def answers(chosen: list[int]) -> list[list[Any]]:
    """Every question to the chosen shapes: shape, metric, models, limit, milliseconds,
    score.
    """
    from benchmarks import arx
    from dpcore.anonymization.fulldomain.search import find_optimal_node
    from dpcore.anonymization.fulldomain.tuples import Tuples
    from dpcore.errors import InfeasibleError

    lines = []
    for place in chosen:
        shape = SHAPES[place]
        frame, trees, tree = made(shape)
        tables = {
            with_secret: Tuples.build(
                frame, trees, sensitive={"secret": tree} if with_secret else {}
            )
            for with_secret in (False, True)
        }
        for table in tables.values():
            # warm
            find_optimal_node(
                table, models_of("k"), limit=0.0, metric=arx.METRICS["discernibility"]
            )
        for metric, name, limit in itertools.product(
            METRICS, shape.models, shape.limits
        ):
            spent = []
            for _ in range(2):
                began = time.process_time()
                score = math.inf
                try:
                    question = tables[name != "k"], models_of(name)
                    score = find_optimal_node(
                        *question, limit=limit, metric=arx.METRICS[metric]
                    ).score
                except InfeasibleError:
                    pass
                spent.append(time.process_time() - began)
                if spent[0] > 0.3:
                    break
            lines.append([shape.name, metric, name, limit, 1000 * min(spent), score])
    return lines


if __name__ == "__main__":
    sys.path.pop(0)
    print(
        json.dumps(
            answers([int(word) for word in sys.argv[1:]] or list(range(len(SHAPES))))
        )
    )
