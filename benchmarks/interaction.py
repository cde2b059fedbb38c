"""How long do people wait? Page, rerun with a chart, and quote, in a real browser.

    python -m benchmarks.interaction --json

Needs Chromium and playwright. Seconds of wall time: median and 95th percentile.

- first page: from starting the server until the title is on the screen; and the same
  on a server that runs.
- chart: on the Evaluate page of a data set of 100,000 rows, from choosing another
  column until its chart is drawn. Beside it a plain page that gives all rows to the
  chart, as people do; `ratio` is plain / ours.
- quote: `Curator.quote` alone; and on the Synthesize page, from typing another epsilon
  until the new cost is on the screen.
- reruns: CPU seconds that the serving process takes to draw each page again, with a
  sample open and counts released. `--only reruns` does these alone, without a browser;
  none may take .3 s at the 95th percentile.
- ways: the three ways from the first page, with 1,000, 20,000 and 200,000 rows, once
  each: clicks (a chosen file is one), CPU seconds of the server and its workers, and
  wall seconds. `--only ways` does these.
"""

from __future__ import annotations

import itertools
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import dpcore as dp
from benchmarks.harness import Table, arguments, show
from benchmarks.load import TICK, used
from tests.e2e.browser import Person, chromium, serving
from tests.workbench.server.web import client as raw
from workbench.samples import census

ROWS = 100_000
COLUMNS = ("education", "occupation", "hours_per_week", "age")
REPEATS = 15
WAYS = {
    "check": (("A table to check", "people are unique"),),
    "share": (
        ("A table to share", "What is it for?"),
        ("See what you would get", "What you would get"),
        ("Release for", "Pay and release"),
        ("Pay and release", "What is promised and what is not"),
        ("Is it good enough?", "accurate to ±"),
        ("Show it to somebody", "The page behind the link"),
        ("Make the link", "/share/"),
    ),
    "collect": (
        ("Ask a question", "What you would get"),
        ("Make 1,000 links", "The survey is open"),
    ),
}
"""What is clicked on each way, and what is seen after it."""

PLAIN = """
import altair, pandas, streamlit as st

altair.data_transformers.disable_max_rows()
if "frame" not in st.session_state:
    st.session_state.frame = pandas.read_csv({path!r})
frame = st.session_state.frame
column = st.selectbox("Column", {columns!r})
st.altair_chart(altair.Chart(frame).mark_bar().encode(x=altair.X(column + ":N"), y="count()"), key="chart")
"""


def seconds(step: Callable[[], object]) -> float:
    """Wall time of one step."""
    began = time.perf_counter()
    step()
    return time.perf_counter() - began


def summary(times: list[float]) -> dict[str, float]:
    """Median and 95th percentile."""
    ordered = sorted(times)
    return {
        "median": statistics.median(ordered),
        "p95": ordered[round(0.95 * (len(ordered) - 1))],
    }


def first_page(browser) -> tuple[list[float], list[float]]:
    """From a start of the server, and on a running one, until the title is seen."""

    def visit(server) -> None:
        person = Person(browser, server)
        person.page.goto(server.url)
        person.page.get_by_role("heading", name="Privacy Workbench").wait_for(
            timeout=60_000
        )
        person.close()

    cold = []
    warm = []
    for _ in range(3):
        began = time.perf_counter()
        with serving() as server:
            visit(server)
            cold.append(time.perf_counter() - began)
            warm += [seconds(lambda server=server: visit(server)) for _ in range(3)]
    return cold, warm


def choose(person: Person, column: str) -> float:
    """Choose a column; seconds until the chart's axis bears its name."""
    box = person.page.get_by_test_id("stSelectbox").filter(has_text="Column")
    box.scroll_into_view_if_needed()
    person.page.wait_for_timeout(500)  # a list closes when the page still moves
    box.get_by_role("combobox").fill(column)
    option = person.page.get_by_role("option", name=column, exact=True)
    option.wait_for()
    began = time.perf_counter()
    option.click()
    title = person.page.get_by_test_id("stVegaLiteChart").last.get_by_text(
        column, exact=True
    )
    title.wait_for(timeout=120_000)
    found = time.perf_counter() - began
    person.rest()
    return found


def charts(person: Person) -> list[float]:
    """Times of one choice after the other; the first column of the plain page is chosen
    at the start.
    """
    order = itertools.cycle([*COLUMNS[1:], COLUMNS[0]])
    return [choose(person, column) for column in itertools.islice(order, REPEATS)]


def quotes_on_the_page(person: Person) -> list[float]:
    """Times from typing an epsilon until its cost is on the screen."""
    found = []
    for i in range(REPEATS):
        epsilon = f"0.{311 + 2 * i}"
        box = person.page.get_by_label("exactly")
        box.fill(epsilon)
        began = time.perf_counter()
        box.press("Enter")
        person.button(f"Release for epsilon {epsilon}").wait_for()
        found.append(time.perf_counter() - began)
        person.rest()
    return found


def quotes_alone(table) -> list[float]:
    """`Curator.quote` of all pairs of 13 columns."""
    schema = dp.suggest_schema(table)
    curator = dp.Curator.open(
        table, schema, budget=dp.PureDP(epsilon="3"), ledger=dp.MemoryLedger()
    )
    recipe = dp.Marginals(cliques=tuple(itertools.combinations(schema.domain.names, 2)))
    loss = dp.PureDP(epsilon="0.5")
    return [seconds(lambda: curator.quote(recipe, loss)) for _ in range(30)]


def reruns() -> list[dict[str, object]]:
    """CPU seconds of the serving process for each page, on both samples."""
    lines = []
    for sample in ("Census", "Hospital visits"):
        with raw.serving() as server:
            visitor = raw.Visitor(server.host).run(seconds=120)
            visitor.press(f"Open this sample: {sample}", seconds=120)
            visitor.press("Open the data set", seconds=120).go("synthesize")
            visitor.press("Release for", seconds=120).press(
                "Pay and release", seconds=120
            )
            for name in sorted(visitor.pages):
                visitor.go(name)
                first = used(server)[0]
                times = []
                for _ in range(REPEATS):
                    visitor.run(seconds=120)
                    times.append(used(server)[0] - first)
                    first += times[-1]
                lines.append(
                    {"sample": sample, "page": name or "data", **summary(times)}
                )
    return lines


def computed(process: int) -> float:
    """CPU seconds of a process and of all that it started."""
    parents = {}
    seconds = {}
    for file in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has just ended
            stat = file.read_text().rpartition(")")[2].split()
            parents[int(file.parent.name)] = int(stat[1])
            seconds[int(file.parent.name)] = sum(map(int, stat[11:15])) / TICK
    tree = {process}
    while more := {each for each, parent in parents.items() if parent in tree} - tree:
        tree |= more
    return sum(seconds[each] for each in tree)


def ways() -> list[dict[str, object]]:
    """Clicks, CPU and wall seconds of each way from the first page to what comes
    out.
    """
    lines = []
    for rows in (1_000, 20_000, 200_000):
        csv = (
            census()
            .sample(rows, replace=True, random_state=1, ignore_index=True)
            .to_csv(index=False)
            .encode()
        )
        for way, steps in WAYS.items():
            with serving() as server, chromium() as browser:
                person = Person(browser, server).visit().rest()
                began = time.perf_counter()
                before = computed(server.process)
                clicks = 0
                for step, seen in steps:
                    if step.startswith("A table"):
                        person.bring(csv, "people.csv", step)
                    # few rows: a verdict would be noise alone
                    elif person.button(step).is_disabled():
                        continue
                    else:
                        person.button(step).click()
                    clicks += 1
                    person.sees(seen, seconds=300).rest()
                wall = time.perf_counter() - began
                after = computed(server.process)
                cpu = {"CPU s": after - before, "wall s": wall}
                lines.append({"rows": rows, "way": way, "clicks": clicks, **cpu})
                person.close()
    return lines


def measure() -> dict[str, dict[str, float]]:
    """All figures, in seconds."""
    table = census().sample(ROWS, replace=True, random_state=1, ignore_index=True)
    csv = table.to_csv(index=False).encode()
    with chromium() as browser:
        cold, warm = first_page(browser)
        with serving() as server:
            person = Person(browser, server).visit().open(csv).go("Synthesize")
            on_page = quotes_on_the_page(person)
            person.press("A whole table")
            person.page.get_by_text("drop the relations", exact=False).first.click()
            person.rest().release().go("Evaluate").sees(
                "Farthest from the original", seconds=120
            ).rest()
            ours = charts(person)
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "people.csv").write_bytes(csv)
            script = Path(folder) / "plain.py"
            script.write_text(
                PLAIN.format(
                    path=str(Path(folder) / "people.csv"), columns=list(COLUMNS)
                )
            )
            with serving(str(script)) as server:
                plain = charts(Person(browser, server).visit().rest())
    figures = {
        "first page, server start": summary(cold),
        "first page, warm server": summary(warm),
        "quote, alone": summary(quotes_alone(table)),
        "quote, on the page": summary(on_page),
        "chart, 100,000 rows": summary(ours),
        "chart, plain page": summary(plain),
    }
    figures["chart, plain / ours"] = {
        each: figures["chart, plain page"][each] / figures["chart, 100,000 rows"][each]
        for each in ("median", "p95")
    }
    return figures


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--only", choices=("reruns", "ways"))
    asked = parser.parse_args()
    tables = []
    if asked.only != "ways":
        tables.append(Table(title="CPU seconds of a rerun", lines=reruns()))
    if asked.only != "reruns":
        tables.append(Table(title="Three ways", lines=ways()))
    if asked.only is None:
        lines = [{"what": name, **figure} for name, figure in measure().items()]
        tables.insert(0, Table(title="Seconds of wall time", lines=lines))
    show(tables, as_json=asked.json)


if __name__ == "__main__":
    main()
