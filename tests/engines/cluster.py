"""A program on a cluster of two processes: counts of 256 partitions, and a run in which one of them ends.

    python -m tests.engines.cluster FOLDER

It prints what came out as JSON. A process has one Spark, so that this one is its own.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import dpcore as dp
from dpcore.engines.spark.engine import SparkEngine
from tests.contracts.engine_kinds import spark_session

KEY = b"k" * 32
ROWS = 100_000
SCHEMA = dp.Schema(
    columns=(dp.Integer("age", low=0, high=99), dp.Integer("zip", low=0, high=999)),
    unit=dp.PrivacyUnit(max_rows=1),
)


def rows(session: Any, partitions: int, marker: Path) -> Any:
    """The rows; the process of the cluster that has the first of them is killed, once the marker is there."""

    def deadly(batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            if 0 in batch.column(0).to_pylist() and marker.exists():
                marker.unlink()
                daemon = Path(f"/proc/{os.getppid()}/stat").read_text().rpartition(")")[2].split()
                os.kill(int(daemon[1]), signal.SIGKILL)  # Java, which started what started this worker
            yield batch

    there = session.range(0, ROWS, 1, partitions).mapInArrow(deadly, "id bigint")
    return there.selectExpr("id % 100 AS age", "id % 1000 AS zip")


def main(folder: Path) -> None:
    session = spark_session("local-cluster[2,1,1024]")
    marker = folder / "deadly"
    engine = SparkEngine(rows(session, 256, marker), SCHEMA, key=KEY)
    counts = engine.counts([("age", "zip"), ("age",)])
    engine, loss = SparkEngine(rows(session, 8, marker), SCHEMA, key=KEY), dp.PureDP(epsilon="500")
    curator = dp.Curator.open(engine, SCHEMA, budget=loss, ledger=dp.MemoryLedger(), identity="visits")
    engine._coded.unpersist()  # the cells are lost with the process that kept them
    marker.touch()
    release = curator.run(dp.Marginals(cliques=[("age",)]), loss)
    answer = {
        "cells": [int((each.values > 0).sum()) for each in counts],
        "each": sorted({int(count) for each in counts for count in each.values.ravel() if count}),
        "killed": not marker.exists(),
        "released": sorted({round(float(count)) for count in release.marginals[("age",)].values}),
        "lines": [line.state for line in curator.lines()],
        "left": curator.balance().left,
    }
    print(json.dumps(answer))
    session.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
