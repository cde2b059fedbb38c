"""Tables that do not fit: what counting, choosing rows, tuples and memory cost on each
engine, and elsewhere.

    python -m benchmarks.engines [--rows 10000000] [--json] [--spark] [--huge] [--mixed]

The table has 14 coded columns, drawn from the rows of the first sample, and lies as
Parquet in a folder that stays, so that a second run finds it. Each line is a process of
its own: CPU seconds of its work, and the most memory that it took. --spark adds
PySpark, --huge 100 million rows. --mixed takes an ordinary table in its place: ids as
texts, reals, whole numbers, texts, a day, a time and a truth value, some of them
missing.
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
    """CPU of this process, of those that it waited for, and of those that live: Java
    and its workers.
    """
    own, others = (
        resource.getrusage(who)
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    done = own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime
    parents = {}
    used = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has just ended
            fields = status.read_text().rpartition(")")[2].split()
            process = int(status.parent.name)
            parents[process], used[process] = (
                int(fields[1]),
                sum(map(int, fields[11:15])),
            )
    living = {os.getpid()}
    for _ in range(8):  # Java starts a daemon, which starts workers
        living |= {process for process, parent in parents.items() if parent in living}
    ticks = sum(
        used[process]
        for process in living
        if process != os.getpid() and process in used
    )
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
    base = pd.DataFrame(
        {f"c{place}": code.astype("int8") for place, code in enumerate(codes[:COLUMNS])}
    )
    rng = np.random.default_rng(5)
    with pq.ParquetWriter(
        folder / "table.parquet", _schema(base), compression="zstd"
    ) as writer:
        for start in range(0, rows, ONCE):
            drawn = base.iloc[rng.integers(0, len(base), min(ONCE, rows - start))]
            people = rng.integers(0, rows // 5, len(drawn))
            writer.write_table(
                pa.Table.from_pandas(drawn.assign(person=people), preserve_index=False)
            )
    (folder / "done").touch()
    return folder


TEXTS = {"t5": 5, "t20": 20, "t100": 100, "t300": 300, "t1000": 1000}
"""The texts of the mixed table, and how many different ones there are."""


def mixed(rows: int) -> Path:
    """A folder with an ordinary table of so many rows, five to a person; made once."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder = PLACE / f"mixed-{rows}"
    if (folder / "done").exists():
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(6)
    first = np.datetime64("2015-01-01", "us")
    for number, start in enumerate(range(0, rows, 2 * ONCE)):
        some = min(2 * ONCE, rows - start)
        texts = {name: rng.integers(0, most, some) for name, most in TEXTS.items()}
        columns = {
            "person": pa.array(
                [f"P{each:08d}" for each in rng.integers(0, rows // 5, some).tolist()]
            ),
            "price": rng.normal(50, 10, some).round(2),
            "level": rng.normal(0, 1, some),
            "age": pa.array(rng.integers(0, 100, some), mask=rng.random(some) < 0.05),
            "visits": pa.array(
                rng.integers(0, 1000, some, dtype="int16"), mask=rng.random(some) < 0.05
            ),
            "year": pa.array(
                rng.integers(1900, 2020, some), mask=rng.random(some) < 0.05
            ),
            **{
                name: pa.DictionaryArray.from_arrays(
                    pa.array(
                        codes.astype("int32"),
                        mask=rng.random(some) < (0.05 if name < "t2" else 0),
                    ),
                    pa.array([f"{name}-{each}" for each in range(TEXTS[name])]),
                ).cast(pa.string())
                for name, codes in texts.items()
            },
            "day": pa.array(
                (
                    first
                    + rng.integers(0, 2000, some) * np.timedelta64(86_400_000_000, "us")
                ).astype("M8[D]"),
            ),
            "at": first + rng.integers(0, 10**14, some).astype("m8[us]"),
            "flag": pa.array(rng.random(some) < 0.3, mask=rng.random(some) < 0.05),
        }
        pq.write_table(
            pa.table(columns),
            folder / f"{number}.parquet",
            compression="zstd",
            row_group_size=250_000,
        )
    (folder / "done").touch()
    return folder


def declared_mixed(person: str | None = None, max_rows: int = 1) -> Any:
    import dpcore as dp

    columns = (
        dp.Real("price", low=0, high=100, bin_width=5),
        dp.Real("level", low=-5, high=5, bin_width=0.5),
        dp.Integer("age", low=0, high=99, bin_width=5, missing=True),
        dp.Integer("visits", low=0, high=999, bin_width=50, missing=True),
        dp.Integer("year", low=1900, high=2019, bin_width=10, missing=True),
        *(
            dp.Categorical(
                name,
                categories=tuple(f"{name}-{place}" for place in range(most)),
                missing=True,
            )
            for name, most in TEXTS.items()
        ),
        dp.Date("day", low="2015-01-01", high="2021-12-31", step="month"),
        dp.Date("at", low="2015-01-01", high="2018-12-31", step="month"),
        dp.Boolean("flag", missing=True),
    )
    return dp.Schema(
        columns=columns, unit=dp.PrivacyUnit(max_rows=max_rows, id_column=person)
    )


def open_mixed(folder: Path, **unit: Any) -> Any:
    from dpcore.engines.streaming.engine import ArrowEngine
    from dpcore.engines.streaming.parquet import ParquetReader

    return ArrowEngine(ParquetReader(folder), declared_mixed(**unit), key=KEY)


def mixed_cliques() -> list[tuple[str, ...]]:
    names = declared_mixed().domain.names
    return [*itertools.combinations(names, 1), *itertools.combinations(names, 2)]


def mixed_engine(folder: Path) -> Callable[[], int]:
    return lambda: checksum(
        counts.values for counts in open_mixed(folder).counts(mixed_cliques())
    )


def mixed_plain(folder: Path) -> Callable[[], int]:
    """The same cells and counts as DuckDB has them when somebody writes the SQL by
    hand.
    """
    import duckdb

    connection = duckdb.connect(config={"threads": "2", "memory_limit": "500MB"})
    cells = {
        "price": "least(greatest(floor(price / 5), 0), 19)",
        "level": "least(greatest(floor((level + 5) / 0.5), 0), 19)",
        "age": "CASE WHEN age IS NULL THEN 20 ELSE least(greatest(age // 5, 0), 19) END",
        "visits": (
            "CASE WHEN visits IS NULL THEN 20 ELSE least(greatest(visits // 50, 0), "
            "19) END"
        ),
        "year": (
            "CASE WHEN year IS NULL THEN 12 ELSE least(greatest((year - 1900) // 10, "
            "0), 11) END"
        ),
        **{
            name: f"coalesce(CAST(substr({name}, {len(name) + 2}) AS SMALLINT), {most})"
            for name, most in TEXTS.items()
        },
        "day": "(year(day) - 2015) * 12 + month(day) - 1",
        "at": '(year("at") - 2015) * 12 + month("at") - 1',
        "flag": "coalesce(flag::INT, 2)",
    }
    columns = ", ".join(
        f'CAST({rule} AS USMALLINT) AS "{name}"' for name, rule in cells.items()
    )

    def count() -> int:
        connection.execute(
            (
                f"CREATE TEMP TABLE cells AS SELECT {columns} FROM "
                f"read_parquet('{folder}/*.parquet')"
            ),
        )
        total = 0
        for clique in mixed_cliques():
            by = ", ".join(f'"{name}"' for name in clique)
            query = (
                "SELECT sum(n::HUGEINT * n) FROM (SELECT count(*) AS n FROM cells "
                f"GROUP BY {by})"
            )
            total += int(connection.execute(query).fetchone()[0])
        return total

    return count


def _schema(base: pd.DataFrame) -> Any:
    import pyarrow as pa

    return pa.Schema.from_pandas(base.assign(person=np.int64(0)), preserve_index=False)


def declared(person: str | None = None, max_rows: int = 1) -> Any:
    import dpcore as dp

    columns = tuple(dp.Integer(f"c{place}", low=0, high=99) for place in range(COLUMNS))
    return dp.Schema(
        columns=columns, unit=dp.PrivacyUnit(max_rows=max_rows, id_column=person)
    )


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

    return SparkEngine(
        _spark().read.parquet(str(folder / "table.parquet")), declared(**unit), key=KEY
    )


def spark_mixed(folder: Path, **unit: Any) -> Any:
    from dpcore.engines.spark.engine import SparkEngine

    return SparkEngine(
        _spark().read.parquet(f"{folder}/*.parquet"), declared_mixed(**unit), key=KEY
    )


def anonymized(engine: Any) -> Callable[[], int]:
    """The mixed table by a plan, as a folder of Parquet."""
    import dpcore as dp
    from dpcore.anonymization import KAnonymity, Plan
    from dpcore.anonymization.hierarchies.suggest import suggest_together
    from dpcore.engines import base

    known = ["age", "year", "t5"]
    drawn = engine.sample(100_000).frame
    whole = pd.DataFrame({"age": np.arange(100), "year": np.arange(1900, 2000)})
    roles = dict.fromkeys(drawn.columns, "insensitive") | dict.fromkeys(
        known, "quasi-identifier"
    )
    plan = Plan(
        roles=roles | {"person": "identifier", "t20": "sensitive"},
        hierarchies=suggest_together(pd.concat([drawn[known], whole]), known),
        models=(KAnonymity(k=100),),
        limit=0.05,
    )
    base.MAX_ROWS_IN_MEMORY = 0
    curator = dp.Curator.open(
        engine,
        engine._schema,
        budget=dp.PureDP(epsilon="1"),
        ledger=dp.MemoryLedger(),
        identity="benchmark",
    )

    def write() -> int:
        with tempfile.TemporaryDirectory() as place:
            return curator.anonymize_to(Path(place) / "rows", plan)

    return write


def spark_started(folder: Path) -> Callable[[], int]:
    """What a session and its workers cost before they have seen a row."""

    def same(batches: Any) -> Any:
        import pandas as pd  # noqa: F401 - as every worker does

        yield from batches

    return lambda: len(
        _spark().range(0, 10, 1, 2).mapInArrow(same, "id long").collect()
    )


def _spark() -> Any:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").config(
        "spark.ui.enabled", "false"
    )
    return builder.config("spark.driver.memory", "1g").getOrCreate()


def counted(engine: Any) -> Callable[[], int]:
    return lambda: checksum(counts.values for counts in engine.counts(cliques()))


def checksum(tables: Any) -> int:
    """The same for the same counts, whatever the order of cells that are not empty."""
    return int(
        sum(int((values.astype(object).ravel() ** 2).sum()) for values in tables)
    )


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
    frame = pd.read_parquet(
        folder / "table.parquet", columns=[f"c{place}" for place in range(COLUMNS)]
    )
    return lambda: checksum(
        frame.groupby(list(clique)).size().to_numpy() for clique in cliques()
    )


def spark_groups(folder: Path) -> Callable[[], int]:
    frame = _spark().read.parquet(str(folder / "table.parquet"))
    return lambda: sum(
        int(row["count"]) ** 2
        for clique in cliques()
        for row in frame.groupBy(*clique).count().collect()
    )


def opened(make: Callable[..., Any], folder: Path, **unit: Any) -> Callable[[], int]:
    return lambda: int(make(folder, **unit).counts([()])[0].values)


def adaptive(folder: Path) -> Callable[[], int]:
    import dpcore as dp

    engine = parquet(folder)
    curator = dp.Curator.open(
        engine,
        declared(),
        budget=dp.PureDP(epsilon="1"),
        ledger=dp.MemoryLedger(),
        identity="benchmark",
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
        frame = next(
            file.iter_batches(100_000, columns=list(declared().domain.names))
        ).to_pandas()
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
    from dpcore.evaluation import (
        AuditQuestion,
        FrontierQuestion,
        HierarchiesQuestion,
        default_plan,
    )

    names = [f"c{place}" for place in range(8)]
    others = [f"c{place}" for place in range(8, COLUMNS)] + ["person"]
    curator = dp.Curator.open(
        engine,
        declared(),
        budget=dp.PureDP(epsilon="1"),
        ledger=dp.MemoryLedger(),
        identity="benchmark",
    )

    def ask() -> int:
        found = curator.evaluate(AuditQuestion(quasi_identifiers=tuple(names))).content
        hierarchies = curator.evaluate(
            HierarchiesQuestion(columns=tuple(names))
        ).content
        roles = dict.fromkeys(names, "quasi-identifier") | dict.fromkeys(
            others, "insensitive"
        )
        plan = default_plan(roles, hierarchies)
        asked = FrontierQuestion(
            plan=plan, ks=(2, 3, 5, 10, 25, 50, 100), limits=(0.0, 0.02, 0.05, 0.1)
        )
        points = curator.evaluate(asked).content
        figures = [
            found.people,
            found.risk.uniques,
            *(each.uniques for each in found.column_sets),
        ]
        figures += [
            figure
            for each in points
            for figure in (each.k, each.suppressed_rows, *each.node)
        ]
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
    "max_rows 3, ParquetEngine": lambda folder: opened(
        parquet, folder, person="person", max_rows=3
    ),
    "max_rows 3, DuckDBEngine": lambda folder: opened(
        duckdb_engine, folder, person="person", max_rows=3
    ),
    "8 columns as tuples, DuckDBEngine": lambda folder: _tuples(duckdb_engine(folder)),
    "audit and frontier of 8 columns, DuckDBEngine": lambda folder: examined(
        duckdb_engine(folder)
    ),
    "audit and frontier of 8 columns, FrameEngine": lambda folder: examined(
        in_frame(folder)
    ),
    "Adaptive, epsilon 1, ParquetEngine": adaptive,
    "synthetic rows as a folder of Parquet": streamed,
    "1,000,000 rows x 30 in memory, FrameEngine": lambda folder: in_memory,
}
MIXED: dict[str, Callable[[Path], Callable[[], int]]] = {
    "91 tables, plain DuckDB": mixed_plain,
    "91 tables, ParquetEngine": mixed_engine,
    "open and check, ParquetEngine": lambda folder: (
        lambda: int(open_mixed(folder).counts([()])[0].values)
    ),
    "max_rows 3, ParquetEngine": lambda folder: (
        lambda: int(
            open_mixed(folder, person="person", max_rows=3).counts([()])[0].values
        )
    ),
    "anonymized into a folder, ParquetEngine": lambda folder: anonymized(
        open_mixed(folder)
    ),
    "an empty job, Spark": spark_started,
    "91 tables, SparkEngine": lambda folder: (
        lambda: checksum(
            counts.values for counts in spark_mixed(folder).counts(mixed_cliques())
        )
    ),
    "max_rows 3, SparkEngine": lambda folder: (
        lambda: int(
            spark_mixed(folder, person="person", max_rows=3).counts([()])[0].values
        )
    ),
    "anonymized into a folder, SparkEngine": lambda folder: anonymized(
        spark_mixed(folder)
    ),
}
HUGE = ("105 tables, ParquetEngine", "105 tables, DuckDB grouping sets")


def _tuples(engine: Any) -> Callable[[], int]:
    return lambda: len(engine.tuples([f"c{place}" for place in range(8)]).frame)


def made(rows: int, *words: str) -> None:
    """The table, made by another process: what a process took at its most is passed on
    to those it starts.
    """
    command = [
        sys.executable,
        "-m",
        "benchmarks.engines",
        "--make",
        "--rows",
        str(rows),
        *words,
    ]
    subprocess.run(command, check=True)


def measured(name: str, rows: int, *words: str) -> list[Any]:
    """One line: a process of its own, which says what its work took."""
    command = [
        sys.executable,
        "-m",
        "benchmarks.engines",
        "--one",
        name,
        "--rows",
        str(rows),
        *words,
    ]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode:
        print(
            f"{name} is left out: {ended.stderr.strip().splitlines()[-1:]}",
            file=sys.stderr,
        )
        return [name, rows, None, None, None, None]
    answer = json.loads(ended.stdout.splitlines()[-1])
    print(name, answer, file=sys.stderr, flush=True)
    return [name, rows, answer["start"], answer["cpu"], answer["peak"], answer["check"]]


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--spark", action="store_true")
    parser.add_argument("--huge", action="store_true")
    parser.add_argument("--mixed", action="store_true")
    parser.add_argument("--only", nargs="*", help="some lines by their names")
    parser.add_argument("--one", help="one line in this process")
    parser.add_argument("--make", action="store_true", help="only make the table")
    asked = parser.parse_args()
    names, make, words = (
        (MIXED, mixed, ["--mixed"]) if asked.mixed else (WORK, table, [])
    )
    if asked.make:
        make(asked.rows)
        return
    if asked.one:
        work = names[asked.one](make(asked.rows))
        start = seconds()
        check = work()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            json.dumps(
                {"start": start, "cpu": seconds() - start, "peak": peak, "check": check}
            )
        )
        return
    made(asked.rows, *words)
    chosen = [
        name for name in asked.only or names if asked.spark or "Spark" not in name
    ]
    lines = [measured(name, asked.rows, *words) for name in chosen]
    if asked.huge:
        made(100_000_000)
        lines += [measured(name, 100_000_000) for name in HUGE]
    columns = ("work", "rows", "CPU s before", "CPU s", "peak MB", "check")
    show([Table.of("Engines", columns, lines)], as_json=asked.json)


if __name__ == "__main__":
    main()
