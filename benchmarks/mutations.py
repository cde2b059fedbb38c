"""What becomes of files that somebody broke on purpose?

    python -m benchmarks.mutations --number 7000

Files of every kind that the pages read, and release files, are changed at random: bits
flipped, parts cut out, repeated, swapped, overwritten with large numbers, put together.
Each is read as the server reads a stranger's file. It is read, or refused with a
sentence; anything else is a fault, and so is a sentence that holds a value of the
table. Prints how many of each kind, and the slowest.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import dpcore as dp
from benchmarks.harness import Table, arguments, show
from dpcore.errors import DpcoreError
from tests.io.test_workbooks import workbook
from workbench.server.workers import reading

CANARY = "Quetzalcoatl"
LARGE = (
    b"\xff" * 4,
    b"\x7f\xff\xff\xff",
    b"\x00" * 8,
    b"\xff" * 8,
    b"1e400",
    b"9" * 400,
    b'"',
    b"\r",
    b"\xfe\xff",
)


def people() -> pd.DataFrame:
    """A small table of several kinds of columns, with a value that is in no
    sentence.
    """
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 90, 60),
            "pay": rng.normal(3_000, 700, 60).round(2),
            "city": [f"{CANARY} {place}" for place in rng.integers(0, 6, 60)],
            "born": pd.date_range("1960-01-01", periods=60, freq="90D").strftime(
                "%Y-%m-%d"
            ),
        },
    )


def release() -> bytes:
    """A release file."""
    schema = dp.Schema(
        columns=(dp.Integer("age", low=0, high=99, bin_width=1),),
        unit=dp.PrivacyUnit(max_rows=1),
    )
    curator = dp.Curator.open(
        people(), schema, budget=dp.PureDP(epsilon="1"), ledger=dp.MemoryLedger()
    )
    return (
        curator.run(dp.Histogram("age"), loss=dp.PureDP(epsilon="1")).to_json().encode()
    )


def originals() -> dict[str, bytes]:
    """A file of each kind, by name."""
    frame = people()
    files = {
        "people.csv": frame.to_csv(index=False).encode(),
        "people.tsv": frame.to_csv(index=False, sep="\t").encode("utf-16"),
        "release.json": release(),
        "people.xlsx": workbook(
            [list(frame.columns), *frame.to_numpy(dtype=object).tolist()]
        ),
    }
    with tempfile.TemporaryDirectory() as folder:
        writers: dict[str, Callable[[Path], Any]] = {
            "people.parquet": lambda path: frame.to_parquet(path),
            "people.dta": lambda path: frame.to_stata(path, write_index=False),
            "people.sav": lambda path: _write_sav(frame, path),
        }
        for name, write in writers.items():
            try:
                write(Path(folder) / name)
                files[name] = (Path(folder) / name).read_bytes()
            except ImportError as error:
                print(f"{name} is left out: {error}", file=sys.stderr)
    return files


def _write_sav(frame: pd.DataFrame, path: Path) -> None:
    import pyreadstat

    pyreadstat.write_sav(frame, str(path))


def mutated(data: bytes, draw: random.Random, others: list[bytes]) -> bytes:
    """The file with one to four changes."""
    changed = bytearray(data)
    for _ in range(draw.randint(1, 4)):
        start = draw.randrange(max(1, len(changed)))
        end = min(len(changed), start + draw.choice((1, 4, 40, 400)))
        kind = draw.randrange(7)
        if kind == 0 and changed:
            changed[start] ^= 1 << draw.randrange(8)
        elif kind == 1:
            del changed[start:end]
        elif kind == 2:
            changed[start:start] = changed[start:end] * draw.choice((1, 3, 100))
        elif kind == 3:
            large = draw.choice(LARGE)
            changed[start : start + len(large)] = large
        elif kind == 4:
            changed = changed[: max(1, start)]
        elif kind == 5:
            changed[start:end] = draw.randbytes(end - start)
        else:
            other = draw.choice(others)
            place = draw.randrange(len(other))
            changed[start:end] = other[place : place + end - start]
    return bytes(changed)


def outcome(name: str, data: bytes) -> str:
    """Read a file as the server does: "read", "refused", or what went wrong."""
    try:
        if name.endswith(".json"):
            reading.read_release(data)
        else:
            reading.read(data, name, key=b"k" * 32)
    except DpcoreError as error:
        if CANARY in f"{error} {error.remedy}":
            return "a sentence with a value"
        unforeseen = "holds something that cannot be read" in str(error)
        return f"unforeseen: {error}"[:100] if unforeseen else "refused"
    except Exception as error:
        return f"fault: {type(error).__name__}"
    return "read"


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--number", type=int, default=7_000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    draw = random.Random(asked.seed)
    files = originals()
    counts: Counter[tuple[str, str]] = Counter()
    slowest: dict[str, float] = {}
    for number in range(asked.number):
        name = [*files][number % len(files)]
        began = time.monotonic()
        counts[name, outcome(name, mutated(files[name], draw, [*files.values()]))] += 1
        slowest[name] = max(slowest.get(name, 0.0), time.monotonic() - began)
    lines = [
        {"file": name, "outcome": what, "number": number, "slowest_s": slowest[name]}
        for (name, what), number in sorted(counts.items())
    ]
    show(
        [Table(title=f"{asked.number} files that were broken", lines=lines)],
        as_json=asked.json,
    )


if __name__ == "__main__":
    main()
