"""A link that many people open: how long does its page take, an answer to a question, a
file?

    python -m benchmarks.sharing

A server with two links: a histogram, and a whole table (13 columns, Adaptive). One
client asks again and again; then 50 connections ask at once. Beside each is /healthz,
an answer of three bytes by the same server. Then a browser opens the interactive page
of the whole table, and filters it: the script alone, and until bars are drawn. Prints
tables, or JSON with --json. CPU is that of the server for one answer; times are those
of the client, on the same cores.
"""

from __future__ import annotations

import http.client
import os
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

import dpcore as dp
from benchmarks.harness import Table, arguments, show
from tests.e2e.browser import chromium
from tests.workbench.server.web.client import Server, serving
from workbench.samples import census
from workbench.store.database.store import Store
from workbench.store.links.shares import LinkDraft, Shares, in_days
from workbench.store.settings import Settings

ALONE = 200
TOGETHER = 2_000
CONNECTIONS = 50
CONTENTS = ("counts", "rows", "model", "questions", "explore")
PRESSES = 30
PRESSED = """async bar => {
    const began = performance.now();
    bar.click();
    await new Promise(drawn => requestAnimationFrame(() => setTimeout(drawn)));
    const script = performance.getEntriesByName("explore-filter", "measure").at(-1).duration;
    return [script, performance.now() - began];
}"""
OPENED = """() => [
    performance.getEntriesByName("first-contentful-paint")[0].startTime,
    ...performance.getEntriesByName("explore-filter", "measure").map(each => each.startTime + each.duration),
]"""
TICK = os.sysconf("SC_CLK_TCK")


def releases() -> dict[str, dp.Release]:
    """What is behind the links."""
    frame = census()
    curator = dp.Curator.open(
        frame,
        dp.suggest_schema(frame),
        budget=dp.PureDP(epsilon="5"),
        ledger=dp.MemoryLedger(),
    )
    return {
        "histogram": curator.run(dp.Histogram("age"), dp.PureDP(epsilon="1")),
        "whole table": curator.run(dp.Adaptive(), dp.PureDP(epsilon="1")),
    }


def used(server: Server) -> float:
    """CPU seconds of the server."""
    stat = (
        Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()
    )
    return (int(stat[11]) + int(stat[12])) / TICK


def ask(server: Server, path: str, times: int, number: int) -> Iterator[float]:
    """Seconds of each of so many requests on one connection, from an address of its
    own.
    """
    host, port = server.host.split(":")
    client = http.client.HTTPConnection(
        host,
        int(port),
        timeout=60,
        source_address=(f"127.0.0.{2 + number % 250}", 0),
    )
    for _ in range(times):
        began = time.perf_counter()
        client.request("GET", path)
        answer = client.getresponse()
        answer.read()
        if answer.status != 200:
            raise RuntimeError(f"{answer.status} instead of an answer")
        yield time.perf_counter() - began
    client.close()


def measure(
    server: Server, name: str, path: str, times: int, first: int
) -> list[object]:
    """One client: median and 99th percentile in ms, server CPU in ms per answer, and
    its size.
    """
    list(ask(server, path, 2, first))
    before = used(server)
    seconds = np.array(list(ask(server, path, times, first + 1)))
    cpu = (used(server) - before) / times
    p50, p99 = np.quantile(seconds, [0.5, 0.99]) * 1000
    return [name, float(p50), float(p99), cpu * 1000]


def crowd(server: Server, name: str, path: str, first: int) -> list[object]:
    """So many connections at once: requests a second, and the same quantiles."""
    ready = threading.Barrier(CONNECTIONS)

    def one(number: int) -> list[float]:
        ready.wait()
        return list(ask(server, path, TOGETHER // CONNECTIONS, first + number))

    before = used(server)
    began = time.perf_counter()
    with ThreadPoolExecutor(CONNECTIONS) as pool:
        seconds = np.array(
            [each for found in pool.map(one, range(CONNECTIONS)) for each in found]
        )
    wall = time.perf_counter() - began
    cpu = used(server) - before
    p50, p99 = np.quantile(seconds, [0.5, 0.99]) * 1000
    return [
        name,
        len(seconds) / wall,
        float(p50),
        float(p99),
        cpu / len(seconds) * 1000,
    ]


def explored(address: str) -> list[list[object]]:
    """What somebody waits for on the interactive page, in a new browser, and its
    size.
    """
    with chromium() as browser:
        page = browser.new_page()
        answer = page.goto(address)
        painted, ready = page.evaluate(OPENED)
        bars = [
            page.locator(".column").nth(i % 12).locator("button").nth(i % 2)
            for i in range(PRESSES)
        ]
        times = np.array([bar.evaluate(PRESSED) for bar in bars])
        size = len(answer.body()) / 1000 if answer else 0
    medians = np.median(times, axis=0)
    largest = times.max(axis=0)
    return [
        ["first paint, ms", painted, painted],
        ["all bars are there, ms", ready, ready],
        ["a filter, its script, ms", float(medians[0]), float(largest[0])],
        ["a filter, until it is drawn, ms", float(medians[1]), float(largest[1])],
        ["size, KB", size, size],
    ]


def main() -> None:
    options = arguments(__doc__).parse_args()
    made = releases()
    with serving() as server:
        shares = Shares(Store(Settings(data_dir=server.folder / "var")))
        paths = {"healthz": "/healthz"}
        for name, release in made.items():
            draft = LinkDraft(
                title=name, expires=in_days(1), contents=frozenset(CONTENTS)
            )
            token = shares.make(release, draft, dataset="benchmark")
            paths[f"page, {name}"] = f"/share/{token}"
            paths[f"question, {name}"] = f"/share/{token}?from-0=20&below-0=40"
        paths["question, three columns apart"] = (
            paths["page, whole table"] + "?from-0=20&below-0=40&is-1=0&is-5=1"
        )
        paths["counts.csv, whole table"] = (
            paths["page, whole table"] + "?file=counts.csv"
        )
        paths["interactive page"] = paths["page, whole table"] + "?file=explore.html"
        (drawn,) = ask(server, paths["interactive page"], 1, 250)
        browsed = explored(f"http://{server.host}{paths['interactive page']}")
        browsed.append(
            ["for the first visitor rows are drawn, ms", drawn * 1000, drawn * 1000]
        )
        alone = [
            measure(server, name, path, ALONE, 2 * i)
            for i, (name, path) in enumerate(paths.items())
        ]
        together = [
            crowd(server, name, paths[name], 60 + 50 * i)
            for i, name in enumerate(
                ("healthz", "page, histogram", "page, whole table")
            )
        ]
    show(
        [
            Table.of(
                "one client", ["what", "p50 ms", "p99 ms", "server CPU ms"], alone
            ),
            Table.of(
                f"{CONNECTIONS} connections",
                ["what", "requests/s", "p50 ms", "p99 ms", "server CPU ms"],
                together,
            ),
            Table.of(
                "interactive page in a browser", ["what", "median", "largest"], browsed
            ),
        ],
        as_json=options.json,
    )


if __name__ == "__main__":
    main()
