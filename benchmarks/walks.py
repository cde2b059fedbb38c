"""How many clicks and seconds do people need? Six tasks walked through in a real
browser.

    python -m benchmarks.walks --tasks 1 2 3 --json

1 from nothing to an audit and an anonymized file (the sample of hospital visits); 2
from a person's own CSV to a histogram, marginals, a whole table, its verdict and the
ledger; 3 a German and a Chinese file; 4 a wide table (60 columns) and with --long a
long one (500,000 rows); 5 reloading, a second tab, and a double click; 6 the three ways
of the first page, at 1,000 and 20,000 rows, and with --long at 200,000. A pick and a
typed field count as one click each. Seconds are from the click until the page rests;
"CPU" is what server, its workers and the browser computed meanwhile, which other
programs hardly change; "before" is what a visit found before these pages were made, on
a loaded computer with two cores. Needs Chromium.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import pandas as pd

from benchmarks.harness import SHARED, Table, arguments, show, text_of
from tests.e2e.browser import SECOND, Person, chromium, serving

WAIT = 180
JUDGE = "How good is it?"
VERDICT = "Is this anonymous?"
PLAN = "See what would come out"


class Computed:
    """CPU seconds of every process that this one started, also of those that have ended
    since.
    """

    def __init__(self) -> None:
        self._of: dict[str, float] = {}
        threading.Thread(target=self._follow, daemon=True).start()

    def seconds(self) -> float:
        """Until now."""
        self._look()
        return sum(self._of.values())

    def _follow(self) -> None:
        while True:
            time.sleep(0.05)
            self._look()

    def _look(self) -> None:
        parents = {}
        spent = {}
        for status in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):  # it has just ended
                fields = status.read_text().rpartition(")")[2].split()
                number = status.parent.name
                parents[number] = fields[1]
                spent[number] = (int(fields[11]) + int(fields[12])) / os.sysconf(
                    "SC_CLK_TCK"
                )
        ours = {str(os.getpid())}
        for _ in range(8):  # generations
            ours |= {number for number, parent in parents.items() if parent in ours}
        for number in ours - {str(os.getpid())}:
            self._of[number] = max(self._of.get(number, 0.0), spent.get(number, 0.0))


COMPUTED = Computed()


class Walk:
    """One task: its steps, with clicks and seconds."""

    def __init__(self, task: str, person: Person) -> None:
        self.task = task
        self.person = person
        self.lines: list[dict[str, Any]] = []

    def step(
        self, name: str, clicks: int, act: Callable[[], Any], before: str = ""
    ) -> None:
        """Do something and wait until the page rests."""
        began = time.monotonic()
        computed = COMPUTED.seconds()
        act()
        self.person.rest()
        seconds = time.monotonic() - began
        cpu = COMPUTED.seconds() - computed
        line = {
            "task": self.task,
            "step": name,
            "clicks": clicks,
            "s": seconds,
            "CPU": cpu,
            "before": before,
        }
        self.lines.append(line)

    def total(self, before: str = "") -> list[dict[str, Any]]:
        """The steps, and their sum."""
        clicks = sum(line["clicks"] for line in self.lines)
        seconds, cpu = (sum(line[name] for line in self.lines) for name in ("s", "CPU"))
        whole = {
            "task": self.task,
            "step": "in all",
            "clicks": clicks,
            "s": seconds,
            "CPU": cpu,
            "before": before,
        }
        return [*self.lines, whole]

    def download(self, label: str) -> None:
        """Take a file away."""
        with self.person.page.expect_download(timeout=WAIT * SECOND):
            self.person.button(label).click()

    def judge(self) -> None:
        """Ask for the verdict of the release that is shown."""
        self.person.button(JUDGE).click()
        self.person.sees("Farthest from the original", seconds=WAIT)

    def pay(self) -> None:
        """Confirm the offered release and wait for its result."""
        self.person.button("Release for").click()
        self.person.button("Pay and release").click()
        self.person.sees("What is promised, and what not", seconds=WAIT)


def first(person: Person) -> list[dict[str, Any]]:
    """From nothing to an audit and an anonymized file."""
    walk = Walk("1 sample to anonymized file", person)
    walk.step("the first page", 0, lambda: person.visit(), "3.3 s")
    walk.step(
        "open the sample",
        1,
        lambda: person.press("Open this sample: Hospital"),
        "1, 1.7 s",
    )
    walk.step(
        "open the data set",
        1,
        lambda: person.press("Open the data set").sees("The data set is open"),
        "1, 0.4 s",
    )
    audit = "Audit: is it anonymous?"
    walk.step(
        "audit", 1, lambda: person.press(audit).sees("are unique by", WAIT), "1, 3.4 s"
    )
    walk.step(
        "make it safer",
        1,
        lambda: person.press("Make it safer").sees("What this does not promise", WAIT),
        "1, 4.0 s",
    )
    make = "Make the anonymized table"
    walk.step(
        "make", 1, lambda: person.press(make).sees("table is ready", WAIT), "1, 1.9 s"
    )
    walk.step("download", 1, lambda: walk.download("CSV"), "1, 0.3 s")
    return walk.total("6, about 12 s")


def second(person: Person) -> list[dict[str, Any]]:
    """From a person's own CSV to the first result, and on."""
    from workbench.samples import census

    file = SHARED / "data" / "adult.csv"
    content = (
        file.read_bytes() if file.exists() else census().to_csv(index=False).encode()
    )
    walk = Walk("2a own CSV to the first result", person)
    person.visit()
    walk.step(
        "choose the file", 2, lambda: person.upload(content, "adult.csv"), "2, 7.6 s"
    )
    walk.step("known from outside", 2, person.know_all, "1, 0.5 s")
    walk.step(
        "open",
        1,
        lambda: person.press("Open the data set").sees("The data set is open"),
        "1, 1.5 s",
    )
    walk.step(
        "to Synthesize",
        1,
        lambda: person.go("Synthesize").sees("What you would get"),
        "1, 1.4 s",
    )
    walk.step("histogram, epsilon 0.5", 2, walk.pay, "2, 4.0 s")
    lines = walk.total("10, about 16 s")
    walk = Walk("2b and on", person)
    more = "Release something else"
    walk.step(
        "a few columns", 2, lambda: person.press(more).press("A few columns together")
    )
    walk.step(
        "three columns", 3, lambda: person.choose_columns("education", "sex", "income")
    )
    walk.step("marginals", 2, walk.pay, "8 with choosing, 11.6 s")
    walk.step("a whole table", 2, lambda: person.press(more).press("A whole table"))
    walk.step("epsilon 1", 1, lambda: person.say_epsilon("1"))
    walk.step("release it", 2, walk.pay, "4, 7.6 s")
    walk.step("rows", 1, lambda: walk.download("Rows (CSV)"), "1, 0.8 s")
    walk.step(
        "a report",
        1,
        lambda: walk.download("Download as one HTML file"),
        "did not exist",
    )
    walk.step(
        "verdict",
        1,
        lambda: person.press(JUDGE).sees("Farthest from the original", WAIT),
        "1, 2.7 s, no verdict",
    )
    for tab in ("Pairs", "Questions"):
        walk.step(
            tab,
            1,
            lambda tab=tab: person.page.get_by_text(tab, exact=True).click(),
            "1, 2 s",
        )
    walk.step("ledger", 1, lambda: person.go("Ledger").sees("Charges"), "1, 4.0 s")
    walk.step(
        "verify",
        1,
        lambda: person.press("Verify").sees("as they were written"),
        "1, 1.1 s",
    )
    return [*lines, *walk.total()]


def third(person: Person) -> list[dict[str, Any]]:
    """Files of other countries: are their numbers and dates columns?"""
    draw = np.random.default_rng(4)
    rows = 400
    german = "\n".join(
        [
            "Name;Geburt;Größe;Gehalt;Stadt",
            *(
                "Person "
                f"{i};{1 + i % 28:02d}.{1 + i % 12:02d}.{1950 + i % 50};{150 + i % 50},{i % 10};"
                f"{1 + i % 4}.{draw.integers(100, 999)},{i % 100:02d};{'ABCD'[i % 4]}"
                for i in range(rows)
            ),
        ],
    )
    chinese = "\n".join(
        [
            "姓名,出生日期,性别,收入",
            *(
                f"人{i},{1950 + i % 50}年{1 + i % 12}月{1 + i % 28}日,{'男女'[i % 2]},{3000 + i}"
                for i in range(rows)
            ),
        ],
    )
    lines = []
    for name, content, before in (
        (
            "kunden.csv",
            german.encode("cp1252"),
            "2, 1.7 s, 7 of 12 columns left out: fail",
        ),
        (
            "people_gb.csv",
            chinese.encode("gb18030"),
            "2, 1.6 s, names as categories, Audit empty",
        ),
    ):
        walk = Walk(f"3 {name}", person)
        person.visit()
        walk.step(
            "choose the file", 2, lambda c=content, n=name: person.upload(c, n), before
        )
        walk.step("known from outside", 2, person.know_all)
        walk.step(
            "open",
            1,
            lambda: person.press("Open the data set").sees("The data set is open"),
        )
        walk.step("audit", 1, lambda: person.go("Audit").sees("unique by", WAIT))
        walk.step(
            "to Synthesize",
            1,
            lambda: person.go("Synthesize").sees("What you would get"),
        )
        walk.step("histogram", 2, walk.pay)
        lines += walk.total()
    return lines


def fourth(person: Person, *, long: bool) -> list[dict[str, Any]]:
    """Wide and long tables."""
    draw = np.random.default_rng(5)
    wide = pd.DataFrame(
        {f"question_{i:02d}": draw.integers(1, 6, 5_000) for i in range(60)}
    )
    tables = [("wide60.csv", wide, "3.9 s upload, 20 to 27 s release, 10.3 s evaluate")]
    if long:
        table = pd.DataFrame(
            {f"c{i}": draw.integers(0, 20 + 10 * i, 500_000) for i in range(8)}
        )
        tables.append(
            ("long.csv", table, "24 to 32 s upload, 10 s release, 14 s evaluate")
        )
    lines = []
    for name, frame, before in tables:
        walk = Walk(f"4 {name}", person)
        content = frame.to_csv(index=False).encode()
        person.visit()
        walk.step(
            "choose the file", 2, lambda c=content, n=name: person.upload(c, n), before
        )
        walk.step("known from outside", 2, person.know_all)
        walk.step(
            "open",
            1,
            lambda: person.press("Open the data set").sees("The data set is open"),
        )
        walk.step(
            "to Synthesize",
            1,
            lambda: person.go("Synthesize").sees("What you would get"),
        )
        walk.step("a whole table", 1, lambda: person.press("A whole table"))
        walk.step("release it", 2, walk.pay)
        walk.step("verdict", 1, walk.judge)
        walk.step(
            "audit", 1, lambda: person.go("Audit").sees("Is this anonymous?", WAIT)
        )
        lines += walk.total()
    return lines


def fifth(person: Person, other: Person) -> list[dict[str, Any]]:
    """Reloading, a second tab, a double click; the budget afterwards says whether one
    was charged twice.
    """
    draw = np.random.default_rng(6)
    frame = pd.DataFrame(
        {"years": draw.integers(20, 70, 900), "region": draw.choice(list("NSWO"), 900)}
    )
    content = frame.to_csv(index=False).encode()
    walk = Walk("5 memory and money", person)
    person.visit().open(content, "memory.csv").go("Synthesize").sees(
        "What you would get"
    )

    def twice() -> None:
        person.button("Release for").click()
        person.button("Pay and release").dblclick()
        person.sees("What is promised, and what not", seconds=WAIT).sees(
            "spent 0.5 · held 0 · left 2.5"
        )

    walk.step("double click pays once", 3, twice, "paid once")
    walk.step("F5 keeps the release", 1, lambda: _reload(person), "everything lost")
    walk.step(
        "next tab: my data sets",
        1,
        lambda: other.visit().sees("memory.csv"),
        "everything lost",
    )
    walk.step(
        "open the release there",
        2,
        lambda: (
            other.press("Continue with memory.csv")
            .press("Open Histogram of")
            .sees("is promised")
        ),
        "only with the raw file and a new schema",
    )
    return walk.total()


def _reload(person: Person) -> None:
    person.page.reload()
    person.sees("What is promised, and what not", seconds=WAIT)


def sixth(person: Person, *, long: bool) -> list[dict[str, Any]]:
    """The three ways of the first page: a file to its verdict, a file to a link, a
    question to its links.
    """
    from workbench.samples import census

    lines = []
    for rows in (1_000, 20_000, 200_000) if long else (1_000, 20_000):
        table = census().sample(
            rows, replace=True, random_state=rows, ignore_index=True
        )
        content = table.to_csv(index=False).encode()
        walk = Walk(f"6 check, {rows:,} rows", person)
        person.visit()
        walk.step(
            "a file",
            1,
            lambda c=content: person.bring(c, "a.csv", "A table to check").sees(
                VERDICT, WAIT
            ),
        )
        lines += walk.total()
        walk = Walk(f"6 share, {rows:,} rows", person)
        person.visit()
        walk.step("a file", 1, lambda c=content: person.upload(c, "a.csv"))
        walk.step(
            "what would come out",
            1,
            lambda: person.press(PLAN).sees("What you would get", WAIT),
        )
        walk.step("pay", 2, walk.pay)
        walk.step("the verdict", 1, walk.judge)
        walk.step(
            "to the link", 1, lambda: person.go("Links").sees("Make the link", WAIT)
        )
        walk.step(
            "the link", 1, lambda: person.press("Make the link").sees("/share/", WAIT)
        )
        lines += walk.total()
    walk = Walk("6 collect", person)
    person.visit()
    walk.step(
        "a question",
        1,
        lambda: person.press("Ask a question").sees("Ask without learning"),
    )
    return [*lines, *walk.total()]


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--tasks", type=int, nargs="*", default=[1, 2, 3, 4, 5, 6])
    parser.add_argument(
        "--long", action="store_true", help="with half a million rows in task 4"
    )
    args = parser.parse_args()
    lines: list[dict[str, Any]] = []
    with serving() as server, chromium() as browser:
        for task in args.tasks:
            person = Person(browser, server)
            other = Person(browser, server)
            walked = {
                1: lambda: first(person),  # noqa: B023
                2: lambda: second(person),  # noqa: B023
                3: lambda: third(person),  # noqa: B023
                4: lambda: fourth(person, long=args.long),  # noqa: B023
                5: lambda: fifth(person, other),  # noqa: B023
                6: lambda: sixth(person, long=args.long),  # noqa: B023
            }[task]()
            lines += walked
            person.close()
            other.close()
            if not args.json:  # a later task may break off
                print(text_of(Table(title=f"Task {task}", lines=walked)), flush=True)
    if args.json:
        show([Table(title="Clicks and seconds", lines=lines)], as_json=True)


if __name__ == "__main__":
    main()
