"""What every benchmark shares: one thread, CPU seconds, other libraries by themselves,
a table or JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"
)

SHARED = Path(__file__).resolve().parents[2] / "shared"
"""Reference tables, where they are beside the checkout."""


@dataclass(frozen=True, kw_only=True)
class Table:
    """The answer to one question: lines with the same columns."""

    title: str
    lines: list[dict[str, Any]]

    @classmethod
    def of(
        cls, title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]
    ) -> Table:
        """A table from its columns and rows of cells."""
        return cls(
            title=title, lines=[dict(zip(columns, row, strict=True)) for row in rows]
        )


def arguments(explained: str | None) -> argparse.ArgumentParser:
    """A parser with --json; the module's docstring is its help.

    Starts the program again with one thread.
    """
    # read when numpy is loaded, which it is by now
    if not ONE_THREAD.items() <= os.environ.items():
        os.execve(sys.executable, sys.orig_argv, {**os.environ, **ONE_THREAD})
    parser = argparse.ArgumentParser(
        description=explained, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="JSON in place of tables")
    return parser


def cpu(work: Callable[[], Any], *, repeats: int = 1) -> tuple[float, Any]:
    """Least CPU seconds of some runs, and what the last one returned."""
    seconds = []
    for _ in range(repeats):
        began = time.process_time()
        result = work()
        seconds.append(time.process_time() - began)
    return min(seconds), result


def peak_mb() -> float:
    """The most memory that this process had so far; ru_maxrss is in KiB on Linux."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def show(tables: Iterable[Table], *, as_json: bool) -> None:
    """Print tables; or {"tables": {title: lines}, "peak_memory_mb": ...} as JSON."""
    answers = list(tables)
    if as_json:
        lines = {table.title: table.lines for table in answers}
        print(
            json.dumps(
                {"tables": lines, "peak_memory_mb": peak_mb()}, indent=1, default=float
            )
        )
        return
    for table in answers:
        print(text_of(table))
    print(f"peak memory {peak_mb():.0f} MB")


def peer(packages: Sequence[str], script: str, *words: str) -> str | None:
    """The last line that a script prints in an environment of its own; None where that
    cannot be had.
    """
    with tempfile.TemporaryDirectory() as folder:
        python = environment(folder, packages)
        ended = python and run([python, "-c", script, *words])
        if ended and ended.returncode:
            left_out(packages[0], ended.stderr)
        return ended.stdout.splitlines()[-1] if ended and not ended.returncode else None


def environment(
    folder: str, packages: Sequence[str], python: str = sys.executable
) -> str | None:
    """The interpreter of a new environment in this folder, with packages; None where it
    cannot be had.
    """
    own = str(Path(folder) / "bin" / "python")
    install = [
        own,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        *packages,
    ]
    for command in ([python, "-m", "venv", folder], install):
        ended = run(command)
        if ended.returncode:
            left_out(packages[0], ended.stderr)
            return None
    return own


def run(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """What a command of one thread printed."""
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **ONE_THREAD},
    )


def left_out(name: str, why: str) -> None:
    """Say that a library is not compared with."""
    print(f"{name} is left out: {why.strip().splitlines()[-1:]}", file=sys.stderr)


def text_of(table: Table) -> str:
    """A table with its columns in line."""
    columns = list(dict.fromkeys(name for line in table.lines for name in line))
    rows = [[_cell(line.get(name)) for name in columns] for line in table.lines]
    widths = [max(map(len, column)) for column in zip(columns, *rows, strict=True)]
    lines = [
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in (columns, *rows)
    ]
    return "\n".join([table.title, *lines, ""])


def _cell(value: Any) -> str:
    return (
        f"{value:.4g}"
        if isinstance(value, float)
        else ""
        if value is None
        else str(value)
    )
