"""Tables that do not fit: what counting, choosing rows, tuples and memory cost on each engine, and elsewhere.

    python -m benchmarks.engines [--rows 10000000] [--json] [--spark] [--huge]

The table has 14 coded columns, drawn from the rows of the first sample, and lies as Parquet in a folder that
stays, so that a second run finds it. Each line is a process of its own: CPU seconds of its work, and the most
memory that it took. --spark adds PySpark, --huge 100 million rows.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.harness import Table, arguments, show

KEY = b"k" * 32
COLUMNS = 14
ONCE = 1_000_000
PLACE = Path(tempfile.gettempdir()) / "dpcore-benchmark-engines"


def seconds() -> float:
    """CPU of this process, of those that it waited for, and of those that live: Java and its workers."""
    own, others = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    done = own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime
    parents, used = {}, {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has just ended
            fields = status.read_text().rpartition(")")[2].split()
            process = int(status.parent.name)
            parents[process], used[process] = int(fields[1]), sum(map(int, fields[11:15]))
    living = {os.getpid()}
    for _ in range(8):  # Java starts a daemon, which starts workers
        living |= {process for process, parent in parents.items() if parent in living}
    ticks = sum(used[process] for process in living if process != os.getpid() and process in used)
    return done + ticks / os.sysconf("SC_CLK_TCK")


def table(rows: int) -> Path:
    """A folder with one Parquet file of so many rows; made once."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from dpcore.schema import suggest_schema
    from workbench.samples import SAMPLES

    folder = PLACE / str(rows)
    if (folder / "done").exists():
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    sample = SAMPLES[0].build()
    codes = [codes % 100 for codes in suggest_schema(sample).encode(sample).values()]
    while len(codes) < COLUMNS:  # some more, each about two others
        codes.append((codes[len(codes) % 5] + codes[len(codes) - 3]) % 40)
    base = pd.DataFrame({f"c{place}": code.astype("int8") for place, code in enumerate(codes[:COLUMNS])})
    rng = np.random.default_rng(5)
    with pq.ParquetWriter(folder / "table.parquet", _schema(base), compression="zstd") as writer:
        for start in range(0, rows, ONCE):
            drawn = base.iloc[rng.integers(0, len(base), min(ONCE, rows - start))]
            people = rng.integers(0, rows // 5, len(drawn))
            writer.write_table(pa.Table.from_pandas(drawn.assign(person=people), preserve_index=False))
    (folder / "done").touch()
    return folder


def _schema(base: pd.DataFrame) -> Any:
    import pyarrow as pa

    return pa.Schema.from_pandas(base.assign(person=np.int64(0)), preserve_index=False)


def declared(person: str | None = None, max_rows: int = 1) -> Any:
    import dpcore as dp

    columns = tuple(dp.Integer(f"c{place}", low=0, high=99) for place in range(COLUMNS))
    return dp.Schema(columns=columns, unit=dp.PrivacyUnit(max_rows=max_rows, id_column=person))


def cliques() -> list[tuple[str, ...]]:
    names = [f"c{place}" for place in range(COLUMNS)]
    return [*itertools.combinations(names, 1), *itertools.combinations(names, 2)]


def parquet(folder: Path, **unit: Any) -> Any:
    from dpcore.engines.streaming.engine import ArrowEngine
    from dpcore.engines.streaming.parquet import ParquetReader

    return ArrowEngine(ParquetReader(folder), declared(**unit), key=KEY)


def duckdb_engine(folder: Path, **unit: Any) -> Any:
    from dpcore.engines.sql.duckdb import DuckDBReader
    from dpcore.engines.sql.duckdb_source import DuckDBSource
    from dpcore.engines.streaming.engine import ArrowEngine

    source = DuckDBSource(kind="parquet", location=str(folder))
    return ArrowEngine(DuckDBReader(source), declared(**unit), key=KEY)


def spark_engine(folder: Path, **unit: Any) -> Any:
    from dpcore.engines.spark.engine import SparkEngine

    return SparkEngine(_spark().read.parquet(str(folder / "table.parquet")), declared(**unit), key=KEY)


def spark_started(folder: Path) -> Callable[[], int]:
    """What a session and its workers cost before they have seen a row."""

    def same(batches: Any) -> Any:
        import pandas as pd  # noqa: F401 - as every worker does

        yield from batches

    return lambda: len(_spark().range(0, 10, 1, 2).mapInArrow(same, "id long").collect())


def _spark() -> Any:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    return builder.config("spark.driver.memory", "2g").getOrCreate()


def counted(engine: Any) -> Callable[[], int]:
    return lambda: checksum(counts.values for counts in engine.counts(cliques()))


def checksum(tables: Any) -> int:
    """The same for the same counts, whatever the order of cells that are not empty."""
    return int(sum(int((values.astype(object).ravel() ** 2).sum()) for values in tables))


def grouping_sets(folder: Path) -> Callable[[], int]:
    import duckdb

    connection = duckdb.connect(config={"threads": "2", "memory_limit": "500MB"})
    sets = ", ".join(f"({', '.join(clique)})" for clique in cliques())
    query = (
        f"SELECT sum(n::HUGEINT * n) FROM (SELECT count(*) AS n FROM "
        f"read_parquet('{folder}/table.parquet') GROUP BY GROUPING SETS ({sets}))"
    )
    return lambda: int(connection.execute(query).fetchone()[0])


def pandas_groups(folder: Path) -> Callable[[], int]:
    frame = pd.read_parquet(folder / "table.parquet", columns=[f"c{place}" for place in range(COLUMNS)])
    return lambda: checksum(frame.groupby(list(clique)).size().to_numpy() for clique in cliques())


def spark_groups(folder: Path) -> Callable[[], int]:
    frame = _spark().read.parquet(str(folder / "table.parquet"))
    return lambda: sum(
        int(row["count"]) ** 2 for clique in cliques() for row in frame.groupBy(*clique).count().collect()
    )


def opened(make: Callable[..., Any], folder: Path, **unit: Any) -> Callable[[], int]:
    return lambda: int(make(folder, **unit).counts([()])[0].values)


def adaptive(folder: Path) -> Callable[[], int]:
    import dpcore as dp

    engine = parquet(folder)
    curator = dp.Curator.open(
        engine, declared(), budget=dp.PureDP(epsilon="1"), ledger=dp.MemoryLedger(), identity="benchmark"
    )
    recipe = dp.Adaptive()
    return lambda: len(curator.run(recipe, dp.PureDP(epsilon="1")).marginals)


def streamed(folder: Path) -> Callable[[], int]:
    """Draw as many rows as the table has, from noisy counts of each of its columns."""
    import pyarrow.parquet as pq

    import dpcore as dp
    from dpcore.io.folder import write_drawn

    rows = int(folder.name)
    with pq.ParquetFile(folder / "table.parquet") as file:
        frame = next(file.iter_batches(100_000, columns=list(declared().domain.names))).to_pandas()
    loss = dp.PureDP(epsilon="1")
    curator = dp.Curator.open(frame, declared(), budget=loss, ledger=dp.MemoryLedger())
    release = curator.run(dp.Independent(columns=declared().domain.names), loss)

    def write() -> int:
        with tempfile.TemporaryDirectory() as place:
            return write_drawn(release, rows, Path(place) / "rows")

    return write


def in_frame(folder: Path) -> Any:
    from dpcore.engines.frame import FrameEngine

    return FrameEngine(pd.read_parquet(folder / "table.parquet"), declared(), key=KEY)


def examined(engine: Any) -> Callable[[], int]:
    """An audit of eight columns and their frontier: the figures in one number."""
    import dpcore as dp
    from dpcore.evaluation import Audit, FrontierOf, HierarchiesOf, default_plan

    names = [f"c{place}" for place in range(8)]
    others = [f"c{place}" for place in range(8, COLUMNS)] + ["person"]
    curator = dp.Curator.open(
        engine, declared(), budget=dp.PureDP(epsilon="1"), ledger=dp.MemoryLedger(), identity="benchmark"
    )

    def ask() -> int:
        found = curator.evaluate(Audit(quasi_identifiers=tuple(names))).content
        hierarchies = curator.evaluate(HierarchiesOf(columns=tuple(names))).content
        roles = dict.fromkeys(names, "quasi-identifier") | dict.fromkeys(others, "insensitive")
        plan = default_plan(roles, hierarchies)
        asked = FrontierOf(plan=plan, ks=(2, 3, 5, 10, 25, 50, 100), limits=(0.0, 0.02, 0.05, 0.1))
        points = curator.evaluate(asked).content
        figures = [found.people, found.risk.uniques, *(each.uniques for each in found.sets)]
        figures += [figure for each in points for figure in (each.k, each.suppressed, *each.node)]
        return round(sum(place * figure for place, figure in enumerate(figures, 1)))

    return ask


def in_memory() -> int:
    import dpcore as dp
    from dpcore.engines.frame import FrameEngine

    rng = np.random.default_rng(0)
    frame = pd.DataFrame(index=range(1_000_000))
    for place in range(30):
        frame[f"c{place}"] = rng.integers(0, 100, len(frame))
    columns = tuple(dp.Integer(name, low=0, high=99) for name in frame.columns)
    schema = dp.Schema(columns=columns, unit=dp.PrivacyUnit(max_rows=1))
    return int(FrameEngine(frame, schema, key=KEY).counts([()])[0].values)


WORK: dict[str, Callable[[Path], Callable[[], int]]] = {
    "105 tables, ParquetEngine": lambda folder: counted(parquet(folder)),
    "105 tables, DuckDBEngine": lambda folder: counted(duckdb_engine(folder)),
    "105 tables, DuckDB grouping sets": grouping_sets,
    "105 tables, pandas groupby": pandas_groups,
    "an empty job, Spark": spark_started,
    "105 tables, SparkEngine": lambda folder: counted(spark_engine(folder)),
    "105 tables, Spark groupBy each": spark_groups,
    "open and check, ParquetEngine": lambda folder: opened(parquet, folder),
    "max_rows 3, ParquetEngine": lambda folder: opened(parquet, folder, person="person", max_rows=3),
    "max_rows 3, DuckDBEngine": lambda folder: opened(duckdb_engine, folder, person="person", max_rows=3),
    "8 columns as tuples, DuckDBEngine": lambda folder: _tuples(duckdb_engine(folder)),
    "audit and frontier of 8 columns, DuckDBEngine": lambda folder: examined(duckdb_engine(folder)),
    "audit and frontier of 8 columns, FrameEngine": lambda folder: examined(in_frame(folder)),
    "Adaptive, epsilon 1, ParquetEngine": adaptive,
    "synthetic rows as a folder of Parquet": streamed,
    "1,000,000 rows x 30 in memory, FrameEngine": lambda folder: in_memory,
}
HUGE = ("105 tables, ParquetEngine", "105 tables, DuckDB grouping sets")


def _tuples(engine: Any) -> Callable[[], int]:
    return lambda: len(engine.tuples([f"c{place}" for place in range(8)]).frame)


def made(rows: int) -> None:
    """The table, made by another process: what a process took at its most is passed on to those it starts."""
    command = [sys.executable, "-m", "benchmarks.engines", "--make", "--rows", str(rows)]
    subprocess.run(command, check=True)


def measured(name: str, rows: int) -> list[Any]:
    """One line: a process of its own, which says what its work took."""
    command = [sys.executable, "-m", "benchmarks.engines", "--one", name, "--rows", str(rows)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode:
        print(f"{name} is left out: {ended.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
        return [name, rows, None, None, None, None]
    answer = json.loads(ended.stdout.splitlines()[-1])
    print(name, answer, file=sys.stderr, flush=True)
    return [name, rows, answer["start"], answer["cpu"], answer["peak"], answer["check"]]


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--spark", action="store_true")
    parser.add_argument("--huge", action="store_true")
    parser.add_argument("--only", nargs="*", default=list(WORK), help="some lines by their names")
    parser.add_argument("--one", choices=WORK, help="one line in this process")
    parser.add_argument("--make", action="store_true", help="only make the table")
    asked = parser.parse_args()
    if asked.make:
        table(asked.rows)
        return
    if asked.one:
        work = WORK[asked.one](PLACE / str(asked.rows))
        start = seconds()
        check = work()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps({"start": start, "cpu": seconds() - start, "peak": peak, "check": check}))
        return
    made(asked.rows)
    lines = [measured(name, asked.rows) for name in asked.only if asked.spark or "Spark" not in name]
    if asked.huge:
        made(100_000_000)
        lines += [measured(name, 100_000_000) for name in HUGE]
    columns = ("work", "rows", "CPU s before", "CPU s", "peak MB", "check")
    show([Table.of("Engines", columns, lines)], as_json=asked.json)


if __name__ == "__main__":
    main()
