"""Many people at once on one server: how long does each wait, and what does a session take?

A client of Streamlit's protocol visits, sends a table of 2,000 rows and opens it, in 1, 5, 10, 20 and 40
tabs at once; meanwhile a bystander asks for the server's health. Then 200 tabs open a table and are closed.
Then five tabs run Adaptive on 500,000 rows, while a bystander's page is drawn again and again.
Prints tables, or JSON with --json. `--most N` leaves out larger crowds, `--rows N` sets the size of the runs.
"""

from __future__ import annotations

import itertools
import os
import statistics
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.harness import Table, arguments, show
from tests.workbench.server.web.client import Server, Visitor, get, serving
from tests.workbench.server.web.memory import canaries, readable

CROWDS = (1, 5, 10, 20, 40)
VALUES = 300
"""Values of each tab that comes and goes; so many are taken for no categories, which would be declared."""
TICK = os.sysconf("SC_CLK_TCK")


def table(number: int) -> bytes:
    """2,000 rows that no other session has."""
    rows = (f"{18 + (i * 7 + number) % 60},{'FM'[i % 2]},{'ABCD'[i % 4]},{i % 97}" for i in range(2_000))
    return "\n".join(["age,sex,city,hours", *rows, f"{20 + number % 60},F,A,{number}"]).encode()


def used(server: Server) -> tuple[float, float]:
    """CPU seconds and MB of the server."""
    stat = Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()
    resident = int(Path(f"/proc/{server.process.pid}/statm").read_text().split()[1])
    return (int(stat[11]) + int(stat[12])) / TICK, resident * os.sysconf("SC_PAGESIZE") / 2**20


def visit(server: Server, number: int, content: bytes = b"") -> tuple[Visitor, float, float]:
    """One person: seconds until the table was read, and until it was open."""
    visitor = Visitor(server.host).run(seconds=120)
    began = time.monotonic()
    visitor.upload(content or table(number))
    read = time.monotonic()
    if any(each.label.startswith("All of this") for each in visitor.elements("button")):
        visitor.press("All of this", seconds=120)
    visitor.press("Open the data set", seconds=120)
    return visitor, read - began, time.monotonic() - read


def crowd(server: Server, people: int, first: int) -> dict[str, Any]:
    """So many at once, and a bystander."""
    waits: list[float] = []
    over = threading.Event()

    def stand_by() -> None:
        while not over.is_set():
            began = time.monotonic()
            get(server.host, "/_stcore/health")
            waits.append(time.monotonic() - began)
            time.sleep(0.05)

    bystander = threading.Thread(target=stand_by)
    bystander.start()
    cpu, memory = used(server)
    began = time.monotonic()
    with ThreadPoolExecutor(people) as pool:
        done = list(pool.map(lambda number: visit(server, number), range(first, first + people)))
    seconds = time.monotonic() - began
    cpu_after, memory_after = used(server)
    over.set()
    bystander.join()
    for visitor, _, _ in done:
        visitor.close()
    reads, opens = [each[1] for each in done], [each[2] for each in done]
    return {
        "sessions": people,
        "seconds": round(seconds, 1),
        "server_cpu_s": round(cpu_after - cpu, 1),
        "mb_a_session": round((memory_after - memory) / people, 1),
        "read_p50_s": round(statistics.median(reads), 2),
        "read_max_s": round(max(reads), 2),
        "open_p50_s": round(statistics.median(opens), 2),
        "open_max_s": round(max(opens), 2),
        "bystander_p50_ms": round(statistics.median(waits) * 1000),
        "bystander_max_ms": round(max(waits) * 1000),
    }


def come_and_go(server: Server, times: int) -> dict[str, Any]:
    """Tabs that open a table and are closed, one after another, and what is left of them.

    Each table has values that are in no other place; in the end they are looked for in its memory.
    """
    before = used(server)[1]
    values = [canaries(VALUES) for _ in range(times)]
    for number, marked in enumerate(values):
        rows = (
            b"%d,%s,%s" % (20 + place % 70, b"FM"[number % 2 :][:1], each)
            for place, each in enumerate(marked)
        )
        visit(server, number, b"\n".join([b"age,sex,note", *rows]))[0].close()
    peak = used(server)[1]
    time.sleep(20)
    return {
        "tabs": times,
        "values": times * VALUES,
        "values_left": readable(server.process.pid, [*itertools.chain(*values)]),
        "mb_before": round(before),
        "mb_at_the_end": round(peak),
        "mb_later": round(used(server)[1]),
    }


def wide_table(number: int, rows: int) -> bytes:
    """Thirteen columns that no other session has."""
    random = np.random.default_rng(number)
    columns = [random.integers(0, 8 + 2 * place, rows) for place in range(12)]
    columns.append((columns[0] + columns[1] + random.integers(0, 3, rows)) // 2)
    head = ",".join(f"column{place}" for place in range(len(columns)))
    lines = "\n".join(",".join(map(str, row)) for row in np.column_stack(columns).tolist())
    return f"{head}\n{lines}".encode()


def start_long(server: Server, number: int, rows: int) -> Visitor:
    """Somebody who has just paid for a whole table."""
    visitor = Visitor(server.host).run(seconds=120)
    visitor.upload(wide_table(number, rows))
    if any(each.label.startswith("All of this") for each in visitor.elements("button")):
        visitor.press("All of this", seconds=120)
    visitor.press("Open the data set", seconds=120)
    visitor.go("synthesize").press("A whole table", seconds=120)
    return visitor.press("Release for", seconds=120)


def reruns(visitor: Visitor, until: Callable[[], bool]) -> list[float]:
    """Seconds that each rerun of a page takes, until the time has come."""
    taken = []
    while not until():
        began = time.monotonic()
        visitor.run(seconds=120)
        taken.append(time.monotonic() - began)
        time.sleep(0.1)
    return taken


def long_runs(server: Server, runs: int, rows: int) -> dict[str, Any]:
    """So many long runs at once, and a bystander on the Synthesize page of another table."""
    bystander = visit(server, 3_000_000)[0].go("synthesize")
    quiet_end = time.monotonic() + 5
    quiet = reruns(bystander, lambda: time.monotonic() >= quiet_end)
    people = [start_long(server, number, rows) for number in range(runs)]
    cpu = used(server)[0]
    began = time.monotonic()

    def pay(visitor: Visitor) -> float:
        visitor.press("Pay and release", seconds=600)
        while any("may leave this page" in each.body for each in visitor.elements("markdown")):
            time.sleep(0.5)
            visitor.again(seconds=600)  # as its browser does
        return time.monotonic() - began

    with ThreadPoolExecutor(runs) as pool:
        done = [pool.submit(pay, visitor) for visitor in people]
        waits = reruns(bystander, lambda: all(each.done() for each in done))
        seconds = [each.result() for each in done]
    return {
        "long_runs": runs,
        "rows": rows,
        "first_s": round(min(seconds), 1),
        "last_s": round(max(seconds), 1),
        "server_cpu_s": round(used(server)[0] - cpu, 1),
        "bystander_reruns": len(waits),
        "before_p50_s": round(statistics.median(quiet), 2),
        "during_p50_s": round(statistics.median(waits), 2),
        "during_p95_s": round(sorted(waits)[int(0.95 * len(waits))], 2),
        "during_max_s": round(max(waits), 2),
    }


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--most", type=int, default=CROWDS[-1])
    parser.add_argument("--tabs", type=int, default=200)
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--runs", type=int, default=5)
    asked = parser.parse_args()
    with serving(STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL="5") as server:
        visit(server, 1_000_000)[0].close()
        crowds = [crowd(server, people, 1_000 * people) for people in CROWDS if people <= asked.most]
        tabs = come_and_go(server, asked.tabs)
        long = long_runs(server, asked.runs, asked.rows)
    show(
        [
            Table(title="Sessions at once", lines=crowds),
            Table(title="Tabs that come and go", lines=[tabs]),
            Table(title="Long runs and a bystander", lines=[long]),
        ],
        as_json=asked.json,
    )


if __name__ == "__main__":
    main()
