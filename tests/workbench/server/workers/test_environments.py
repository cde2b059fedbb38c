"""What the server alone must know is in the environment of no process that it starts."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from tests.needs import need_spark
from tests.workbench.server.web.client import serving, wait_until

KEY = "ab" * 32
PROGRAM = """
import sys
from dpcore.engines.connect import engine_of
from dpcore.schema import Integer, PrivacyUnit, Schema
from dpcore.schema.source import Source
from workbench.server.workers import process
from workbench.store.settings import read_settings

assert read_settings().key == bytes.fromhex("ab" * 32)
process.start_ahead()
source = Source(name="Visits", kind="spark", location=sys.argv[1])
schema = Schema(
    columns=(Integer("age", low=0, high=9, bin_width=1),),
    unit=PrivacyUnit(max_rows=1),
)
engine = engine_of(source, schema, key=b"k" * 32)
print(engine.counts([("age",)])[0].values.tolist(), flush=True)
sys.stdin.readline()
"""


def test_no_process_of_the_server_inherits_its_key(tmp_path: Path) -> None:
    """Whoever reads a table would hold the key that seals the ledger."""
    database = f"sqlite:///{tmp_path}/ledger.sqlite"
    with serving(WORKBENCH_KEY=KEY, DATABASE_URL=database) as server:
        environments = _settled_environments(server.process.pid)
    for environment in environments:
        _check_hides(environment, KEY, database)


def test_a_key_that_is_inherited_is_found() -> None:
    """The tests of this module would look past it."""
    with subprocess.Popen(
        ["sleep", "60"], env={**os.environ, "WORKBENCH_KEY": KEY}
    ) as child:
        (environment,) = [
            each for each in _environments_below(os.getpid()) if KEY in each
        ]
        child.kill()
    with pytest.raises(AssertionError):
        _check_hides(environment, KEY)


@pytest.mark.proof
def test_no_process_of_spark_inherits_the_key(tmp_path: Path) -> None:
    """Java, its executors and their Python would hold what only the server may know."""
    need_spark()
    file = tmp_path / "a.parquet"
    pd.DataFrame({"age": [*range(10)] * 5}).to_parquet(file)
    settings = (
        "--master local-cluster[2,1,1024] --conf spark.ui.enabled=false "
        "--conf spark.driver.host=127.0.0.1 pyspark-shell"
    )
    database = f"sqlite:///{tmp_path}/ledger.sqlite"
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(file)],
        env={
            **os.environ,
            "WORKBENCH_KEY": KEY,
            "DATABASE_URL": database,
            "PYSPARK_SUBMIT_ARGS": settings,
            "SPARK_LOCAL_IP": "127.0.0.1",
        },
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == f"{[5] * 10}\n"
        environments = list(_environments_below(program.pid))
        program.communicate("\n")
    # the worker that reads files, Java, two executors, and the Python of at least one
    assert len(environments) >= 5
    for environment in environments:
        _check_hides(environment, KEY, database)


def _settled_environments(process: int) -> list[str]:
    """The environments below a server whose workers have started.

    A process that was just made has the memory of its parent, and with it the
    environment, until it becomes another program: so two looks must see the same.
    """
    looks: list[list[str]] = [[], []]

    def has_settled() -> bool:
        time.sleep(0.5)
        looks.append(sorted(_environments_below(process)))
        worker = "OMP_NUM_THREADS=1"
        return looks[-2] == looks[-1] and any(worker in each for each in looks[-1])

    wait_until(has_settled, "the workers have started")
    return looks[-1]


def _check_hides(environment: str, *secrets: str) -> None:
    for secret in ("WORKBENCH_KEY", "DATABASE_URL", *secrets):
        assert secret not in environment


def _environments_below(process: int) -> Iterator[str]:
    """Yield the environment of each process that a process started, at any depth.

    Every process is asked for its parent: a list of children that the kernel keeps
    may lack some while others end.
    """
    parents = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it may have ended
            after_name = status.read_text().rpartition(")")[2].split()
            parents[int(status.parent.name)] = int(after_name[1])
    for number in parents:
        ancestor = parents.get(number)
        while ancestor is not None and ancestor != process:
            ancestor = parents.get(ancestor)
        if ancestor is None:
            continue
        with contextlib.suppress(OSError):
            environment = Path(f"/proc/{number}/environ").read_bytes().decode()
            if environment:  # as that of one that has ended is not
                yield environment
