"""Many people at once on one server: how long does each wait, and what does a session
take?

    python -m benchmarks.load --only life --users 40 --minutes 30

A client of Streamlit's protocol visits, sends a table of 2,000 rows and opens it, in 1,
5, 10, 20 and 40 tabs at once; meanwhile a bystander asks for the server's health. Then
200 tabs open a table and are closed. Then five tabs run Adaptive on 500,000 rows, while
a bystander's page is drawn again and again. Then 40 people live on the server for half
an hour: each opens a table of their own, sees a price, pays, evaluates, leaves and
comes again; what they wait for, what the server takes and what is lost is written down
over time, and values that are in no other place are looked for in its memory once all
have left.

Prints tables, or JSON with --json. `--only life` does one of crowds, tabs, runs, life;
`--most N` leaves out larger crowds, `--rows N` sets the size of the runs, `--users N
--minutes N --pause N` the life.
"""

from __future__ import annotations

import itertools
import os
import random
import sqlite3
import statistics
import subprocess
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
"""Values of each tab that comes and goes; so many are taken for no categories, which
would be declared.
"""
TICK = os.sysconf("SC_CLK_TCK")


def table(number: int) -> bytes:
    """2,000 rows that no other session has."""
    rows = (
        f"{18 + (i * 7 + number) % 60},{'FM'[i % 2]},{'ABCD'[i % 4]},{i % 97}"
        for i in range(2_000)
    )
    return "\n".join(
        ["age,sex,city,hours", *rows, f"{20 + number % 60},F,A,{number}"]
    ).encode()


def used(server: Server) -> tuple[float, float]:
    """CPU seconds and MB of the server."""
    stat = (
        Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()
    )
    resident = int(Path(f"/proc/{server.process.pid}/statm").read_text().split()[1])
    return (int(stat[11]) + int(stat[12])) / TICK, resident * os.sysconf(
        "SC_PAGESIZE"
    ) / 2**20


def visit(
    server: Server, number: int, content: bytes = b""
) -> tuple[Visitor, float, float]:
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
        done = list(
            pool.map(lambda number: visit(server, number), range(first, first + people))
        )
    seconds = time.monotonic() - began
    cpu_after, memory_after = used(server)
    over.set()
    bystander.join()
    for visitor, _, _ in done:
        visitor.close()
    reads = [each[1] for each in done]
    opens = [each[2] for each in done]
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
    """Tabs that open a table and are closed, one after another, and what is left of
    them.

    Each table has values that are in no other place; in the end they are looked for in
    its memory.
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
    lines = "\n".join(
        ",".join(map(str, row)) for row in np.column_stack(columns).tolist()
    )
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
    """So many long runs at once, and a bystander on the Synthesize page of another
    table.
    """
    bystander = visit(server, 3_000_000)[0].go("synthesize")
    quiet_end = time.monotonic() + 5
    quiet = reruns(bystander, lambda: time.monotonic() >= quiet_end)
    people = [start_long(server, number, rows) for number in range(runs)]
    cpu = used(server)[0]
    began = time.monotonic()

    def pay(visitor: Visitor) -> float:
        visitor.press("Pay and release", seconds=600)
        while any(
            "may leave this page" in each.body for each in visitor.elements("markdown")
        ):
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


class Life:
    """People who come and go for a while, and what it does to the server.

    Args:
        server: which begins with an empty ledger.
        pause: seconds that a person looks at each page.
    """

    def __init__(self, server: Server, pause: float) -> None:
        self.server = server
        self.pause = pause
        self.began = time.monotonic()
        self.over = threading.Event()
        self.waits: list[tuple[float, str, float]] = []
        self.paid: list[float] = []
        self.failed: list[str] = []
        self.marked: list[bytes] = []

    def step(self, name: str, work: Callable[[], Any]) -> None:
        """Do one thing, write down how long it took, and look at the page."""
        began = time.monotonic()
        work()
        self.waits.append((began - self.began, name, time.monotonic() - began))
        self.over.wait(self.pause * random.uniform(0.5, 1.5))

    def person(self, _number: int) -> None:
        """Come again and again until it is over."""
        while not self.over.is_set():
            try:
                self.visit()
            except Exception as error:  # anything that a person would not get
                self.failed.append(f"{type(error).__name__} {str(error)[:80]}")

    def visit(self) -> None:
        """Upload, quote, pay, evaluate, leave."""
        marks = [mark.decode() for mark in canaries(20)]
        notes = [*marks, *(f"note {i}" for i in range(2_000))]
        rows = (
            f"{random.randint(18, 90)},{random.choice('FM')},{random.randint(100, 9_999)},{notes[i]}"
            for i in range(2_000)
        )
        content = "\n".join(["age,sex,pay,note", *rows]).encode()
        visitor = Visitor(self.server.host)
        try:
            self.step("first page", lambda: visitor.run(seconds=120))
            self.step("upload", lambda: visitor.upload(content))
            self.step("open", lambda: visitor.press("Open the data set", seconds=120))
            self.step("quote", lambda: visitor.go("synthesize"))
            self.step("choose", lambda: visitor.press("Release for", seconds=120))
            self.step("pay", lambda: self.pay(visitor))
            self.step("evaluate", lambda: visitor.go("evaluate"))
        finally:
            visitor.close()
        self.marked = [*self.marked[-2_000:], *(mark.encode() for mark in marks)]

    def pay(self, visitor: Visitor) -> None:
        """Pay, and wait for the release."""
        visitor.press("Pay and release", seconds=120)
        while any(
            "may leave this page" in each.body for each in visitor.elements("markdown")
        ):
            time.sleep(0.3)
            visitor.again(seconds=120)
        assert any(
            each.label.startswith("Release something else")
            for each in visitor.elements("button")
        )
        self.paid.append(time.monotonic() - self.began)

    def stand_by(self) -> None:
        """Somebody else, with a page that shows no table."""
        bystander = Visitor(self.server.host).run(seconds=120).go("links")
        while not self.over.is_set():
            began = time.monotonic()
            bystander.run(seconds=120)
            self.waits.append(
                (began - self.began, "bystander", time.monotonic() - began)
            )
            self.over.wait(0.5)
        bystander.close()

    def taken(self) -> dict[str, float]:
        """What the server takes at this moment."""
        process = Path(f"/proc/{self.server.process.pid}")
        cpu, memory = used(self.server)
        files, threads = (len([*(process / name).iterdir()]) for name in ("fd", "task"))
        return {
            "minute": round((time.monotonic() - self.began) / 60, 2),
            "mb": round(memory, 1),
            "files": files,
            "threads": threads,
            "cpu_s": round(cpu, 1),
        }

    def live(self, users: int, minutes: float, lines: int = 12) -> list[Table]:
        """Let so many people live there for so long."""
        others = [
            threading.Thread(target=self.person, args=(number,))
            for number in range(users)
        ]
        others.append(threading.Thread(target=self.stand_by))
        for each in others:
            each.start()
        samples: list[dict[str, float]] = []
        while time.monotonic() < self.began + 60 * minutes:
            time.sleep(60 * minutes / lines / 5)
            samples.append(self.taken())
        self.over.set()
        for each in others:
            each.join()
        time.sleep(20)
        last = {
            **self.taken(),
            "values_left": readable(self.server.process.pid, self.marked),
        }
        steps = list(dict.fromkeys(name for _, name, _ in self.waits))
        return [
            Table(
                title=f"{users} people for {minutes} minutes",
                lines=self.over_time(samples, lines),
            ),
            Table(
                title="What they waited for, in seconds",
                lines=[self.summary(name) for name in steps],
            ),
            Table(
                title="What is left",
                lines=[{**last, **self.ledger(), "failed": len(self.failed)}],
            ),
            Table(
                title="Growth in the second half",
                lines=[
                    {
                        "mb_an_hour": growth(samples[len(samples) // 2 :]),
                        "values": len(self.marked),
                    }
                ],
            ),
            *(
                [Table(title="What failed", lines=[{"first": self.failed[0]}])]
                if self.failed
                else []
            ),
        ]

    def summary(self, name: str) -> dict[str, Any]:
        """How long people waited for one thing."""
        taken = sorted(seconds for _, each, seconds in self.waits if each == name)
        p50 = taken[len(taken) // 2]
        p95 = taken[int(0.95 * len(taken))]
        return {
            "step": name,
            "times": len(taken),
            "p50": p50,
            "p95": p95,
            "max": taken[-1],
        }

    def over_time(
        self, samples: list[dict[str, float]], lines: int
    ) -> list[dict[str, Any]]:
        """Samples of the server, with the waits since the one before."""
        rows = []
        since = 0.0
        for sample in samples[:: max(1, len(samples) // lines)]:
            until = 60 * sample["minute"]
            waits = [wait for wait in self.waits if since <= wait[0] < until]
            row: dict[str, Any] = dict(sample)
            for label in ("p95", "bystander_p95"):
                each = sorted(
                    taken
                    for _, name, taken in waits
                    if (name == "bystander") == (label != "p95")
                )
                row[label] = round(each[int(0.95 * len(each))], 2) if each else None
            row["paid"] = sum(since <= when < until for when in self.paid)
            rows.append(row)
            since = until
        return rows

    def ledger(self) -> dict[str, Any]:
        """What the ledger holds of what people saw as paid."""
        with sqlite3.connect(
            self.server.folder / "var" / "workbench.sqlite"
        ) as database:
            of_states = "SELECT count(*) FROM ledger_lines WHERE state = ?"
            (committed,), (reserved,) = (
                database.execute(of_states, (state,)).fetchone()
                for state in ("committed", "reserved")
            )
            of_searches = (
                f"{of_states} AND json_extract(content, '$.report') IS NOT NULL"
            )
            (searches,) = database.execute(of_searches, ("reserved",)).fetchone()
            (releases,) = database.execute(
                "SELECT count(*) FROM ledger_releases"
            ).fetchone()
        command = [sys.executable, "-m", "workbench", "check"]
        place = {**os.environ, "WORKBENCH_DATA_DIR": str(self.server.folder / "var")}
        place.pop("DATABASE_URL", None)
        checked = (
            subprocess.run(
                command, env=place, capture_output=True, check=False
            ).returncode
            == 0
        )
        kept = {
            "paid": len(self.paid),
            "reserved": reserved,
            "committed": committed,
            "releases": releases,
        }
        # a person pays once; what was found when the table was opened is not seen as paid
        lost = len(self.paid) - (committed - searches)
        return {**kept, "searches": searches, "lost": lost, "in_order": checked}


def growth(samples: list[dict[str, float]], window: int = 5) -> float:
    """Slope of the memory, by least squares through the lowest of each five samples.

    What is on its way at a moment takes tens of megabytes; what stays is there at quiet
    moments too.
    """
    windows = [
        samples[start : start + window] for start in range(0, len(samples), window)
    ]
    lows = [min(each, key=lambda sample: sample["mb"]) for each in windows]
    minutes = [each["minute"] for each in lows]
    sizes = [each["mb"] for each in lows]
    return (
        round(60 * float(np.polyfit(minutes, sizes, 1)[0]), 1)
        if len(lows) > 2
        else float("nan")
    )


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--only", choices=("crowds", "tabs", "runs", "life"))
    parser.add_argument("--users", type=int, default=40)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--pause", type=float, default=5)
    parser.add_argument("--most", type=int, default=CROWDS[-1])
    parser.add_argument("--tabs", type=int, default=200)
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--runs", type=int, default=5)
    asked = parser.parse_args()
    tables: list[Table] = []
    with serving(STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL="5") as server:
        visit(server, 1_000_000)[0].close()
        if asked.only in (None, "crowds"):
            lines = [
                crowd(server, people, 1_000 * people)
                for people in CROWDS
                if people <= asked.most
            ]
            tables.append(Table(title="Sessions at once", lines=lines))
        if asked.only in (None, "tabs"):
            tables.append(
                Table(
                    title="Tabs that come and go",
                    lines=[come_and_go(server, asked.tabs)],
                )
            )
        if asked.only in (None, "runs"):
            lines = [long_runs(server, asked.runs, asked.rows)]
            tables.append(Table(title="Long runs and a bystander", lines=lines))
    if asked.only in (None, "life"):
        with serving(STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL="5") as server:
            tables += Life(server, asked.pause).live(asked.users, asked.minutes)
    show(tables, as_json=asked.json)


if __name__ == "__main__":
    main()
