"""A program on a cluster of two processes, of which one ends in a run, one in a table,
and then the driver.

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

import numpy as np
import pandas as pd

import dpcore as dp
from dpcore.anonymization import KAnonymity, Plan, apply
from dpcore.anonymization.hierarchies.suggest import suggest_together
from dpcore.engines import base
from dpcore.engines.spark.engine import SparkEngine
from tests.contracts.engine_kinds import spark_session

KEY = b"k" * 32
ROWS = 100_000
SCHEMA = dp.Schema(
    columns=(dp.Integer("age", low=0, high=99), dp.Integer("zip", low=0, high=999)),
    unit=dp.PrivacyUnit(max_rows=1),
)


def rows(session: Any, partitions: int, marker: Path) -> Any:
    """The rows.

    Where the last of them is read once there is what the marker names, a process is
    killed.

    That is the process of the cluster, which has read others before, or the one that
    the marker names too.
    """

    def deadly(batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            if ROWS - 1 in batch.column(0).to_pylist() and marker.exists():
                there, _, process = marker.read_text().partition(" ")
                if any(marker.parent.glob(there)):
                    marker.unlink()
                    daemon = (
                        Path(f"/proc/{os.getppid()}/stat")
                        .read_text()
                        .rpartition(")")[2]
                        .split()
                    )
                    # Java started what started this
                    os.kill(int(process or daemon[1]), signal.SIGKILL)
            yield batch

    there = session.range(0, ROWS, 1, partitions).mapInArrow(deadly, "id bigint")
    return there.selectExpr("id AS place", "id % 100 AS age", "id % 1000 AS zip")


def texts(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.sort_values("place").reset_index(drop=True).astype(str).astype(object)


def main(folder: Path) -> None:
    session = spark_session("local-cluster[2,1,1024]")
    marker = folder / "deadly"
    engine = SparkEngine(rows(session, 256, marker), SCHEMA, key=KEY)
    counts = engine.counts([("age", "zip"), ("age",)])
    engine = SparkEngine(rows(session, 8, marker), SCHEMA, key=KEY)
    loss = dp.PureDP(epsilon="500")
    curator = dp.Curator.open(
        engine, SCHEMA, budget=loss, ledger=dp.MemoryLedger(), identity="visits"
    )
    engine._coded.unpersist()  # the cells are lost with the process that kept them
    marker.write_text(marker.name)
    release = curator.run(dp.Marginals(cliques=[("age",)]), loss)
    answer = {
        "cells": [int((each.values > 0).sum()) for each in counts],
        "each": sorted(
            {int(count) for each in counts for count in each.values.ravel() if count}
        ),
        "killed": not marker.exists(),
        "released": sorted(
            {round(float(count)) for count in release.marginals[("age",)].values}
        ),
        "lines": [line.state for line in curator.lines()],
        "left": curator.balance().remaining_units,
    }
    place = np.arange(ROWS)
    frame = pd.DataFrame({"place": place, "age": place % 100, "zip": place % 1000})
    plan = Plan(
        roles={"place": "insensitive", "age": "quasi-identifier", "zip": "sensitive"},
        hierarchies=suggest_together(frame, ["age"]),
        models=(KAnonymity(k=1_500),),
    )
    base.MAX_ROWS_IN_MEMORY = ROWS - 1
    marker.write_text(".out.*/rows/*")
    answer["written"] = curator.anonymize_to(folder / "out", plan)
    answer["killed in writing"] = not marker.exists()
    answer["as in memory"] = texts(pd.read_parquet(folder / "out")).equals(
        texts(apply(frame, plan))
    )
    marker.write_text(f".gone.*/rows/* {session.sparkContext._gateway.proc.pid}")
    try:
        curator.anonymize_to(folder / "gone", plan)
    except dp.ReadError:
        answer["refused"] = not marker.exists()
    answer["there"] = sorted(each.name for each in folder.iterdir())
    print(json.dumps(answer))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
