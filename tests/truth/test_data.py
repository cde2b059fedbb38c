"""The Data page before a table is opened: every figure again from the raw table, by
plain pandas.
"""

from __future__ import annotations

import io
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pandas as pd
import pytest
from scipy import stats

from tests.pages.tab import RULE
from tests.truth.figures import MarkedTab, agrees, bare, check, figures
from tests.truth.tables import TABLES, Odd
from workbench.upload import facts as upload_facts

CAPS = (1, 2, 3, 5, 10, 20)
MISSING_WORDS = {"", "k.A."}
GRID = WHO = HEAD = "Share numbers or a table"
KEPT = (
    "With at most {rows} per person, only {kept} of the rows count. Results then "
    "describe people rather than rows. Choose a larger number if the rows matter."
)

SEARCH = (
    "Opening the data set then costs a twentieth of a release at epsilon 1, or a "
    "twentieth of the budget if that is smaller. Bounds and cells are found with "
    "noise. The bounds and cells below are not used, and neither are the texts that "
    "you declared there to be missing or to count as another number. Values in "
    "fewer than about {rows} rows stay hidden."
)
SEARCHED = (
    "Found privately, for another {loss}: the cells of {columns}. The table itself "
    "was used only to see whether they hold whole numbers or decimals."
)
OPENING = (
    "Opening spends {share} of the budget at once, to find the cells of {columns} with "
    "noise. Whoever declares them above spends nothing.|share"
)
SPENT = {
    "{name} {loss}|loss": lambda of: lambda shown: float(shown) in (3, 0.05),
    OPENING: lambda of: lambda shown: agrees(shown, 0.05 / 3),
}


@dataclass
class Drafted:
    """A table on its way to being opened, and the bounds that its page proposes, which
    are editable.
    """

    odd: Odd
    tab: MarkedTab

    @property
    def raw(self) -> pd.DataFrame:
        """Every cell as the file writes it."""
        return pd.read_csv(
            io.BytesIO(self.odd.content), dtype=str, keep_default_na=False
        )

    @property
    def grid(self) -> pd.DataFrame:
        draft = self.tab.session.draft
        assert draft is not None
        grid = draft.edited_grid.set_index("column")
        return grid[grid["kind"] != "leave out"]


def drafted(name: str) -> Drafted:
    odd = TABLES[name]
    tab = MarkedTab()
    tab.at.run()
    tab.go("upload").upload(odd.content, f"{odd.name}.csv")
    for box in tab.at.get("button_group"):
        if bare(box.label).startswith("Maximum number of rows"):
            box.set_value(odd.cap).run()
    for radio in tab.at.radio:
        # what a private search hides is computed for pure epsilon
        if bare(radio.label).startswith(RULE) and len(odd.frame.columns) <= 5:
            radio.set_value("basic").run()
    return Drafted(odd, tab)


def rows_kept(drafted: Drafted, cap: int) -> float:
    return len(drafted.odd.frame.groupby(drafted.odd.id).head(cap)) / len(
        drafted.odd.frame
    )


def whole(drafted: Drafted, cap: int) -> float:
    return float((drafted.odd.frame.groupby(drafted.odd.id).size() <= cap).mean())


def half_of(cap: int) -> float:
    """The smallest w with P(|X| <= w) >= 0.95, for the noise of scale `cap`."""
    return float(
        next(
            w
            for w in itertools.count()
            if 1 - 2 * stats.dlaplace.sf(w, 1 / cap) >= 0.95
        )
    )


def percent(share: float) -> Callable[[str], bool]:
    """Whether a cell says a share to its digits."""
    return lambda shown: abs(float(shown.removesuffix(" %")) - 100 * share) <= 0.5


def each(true: Callable[[Drafted, int], float]) -> Callable[[Drafted], Any]:
    return lambda of: (
        lambda shown: all(
            percent(true(of, cap))(cell) for cap, cell in zip(CAPS, shown, strict=True)
        )
    )


def strays(drafted: Drafted, name: str) -> tuple[int, int]:
    """Of a column by the proposed bounds: cells moved to a bound, and cells that count
    as missing.
    """
    line = drafted.grid.loc[name]
    cells = drafted.raw[name].str.strip()
    if line["kind"] in ("categorical", "boolean"):
        return 0, int(cells.isin(MISSING_WORDS).sum())
    limits = (
        cells.str.extract(r"^<([0-9]+(?:[.,][0-9]+)?)$")[0]
        .str.replace(",", ".")
        .astype(float)
    )
    # half of a limit of detection
    cells = cells.where(limits.isna(), (limits / 2).astype(str))
    if line["kind"] == "date":
        values = pd.to_datetime(cells, format="%Y-%m-%d", errors="coerce")
        low = pd.Timestamp(line["low"])
        high = pd.Timestamp(line["high"])
    else:
        values = pd.to_numeric(cells, errors="coerce")
        low = float(line["low"])
        high = float(line["high"])
    return int(((values < low) | (values > high)).sum()), int(values.isna().sum())


def cells_of(line: Any) -> int | None:
    """Cells of a column of which each is one value, by its line in the grid; None for
    another.
    """
    more = int(bool(line["missing"]))
    if line["kind"] == "categorical":
        return len(line["categories"].split("|")) + more + int(bool(line["other"]))
    if line["kind"] == "integer" and line["step"] == "1":
        return int(line["high"]) - int(line["low"]) + 1 + more
    return None


def head(name: str) -> Callable[[Drafted], Any]:
    return lambda of: (
        lambda shown: (
            len(shown) == 20
            and [*map(str, shown)] == [*map(str, of.odd.frame[name][:20])]
        )
    )


def searched(of: Drafted) -> list[str]:
    """Columns of numbers whose bounds are the table's own: not ages, which have
    conventional ones.
    """
    numbers = of.grid[of.grid["kind"].isin(["integer", "real"])]
    return [name for name in numbers.index if name != "age"]


def hidden(of: Drafted) -> float:
    """Rows that a public cell holds by chance in 6 of 100,000 cases, of all noise that
    is smaller.

    Two fifths of a twentieth of the loss at epsilon 1 are for the first count of all
    columns together.
    """
    part = 0.4 / 20 / len(searched(of))
    # zCDP, rho .014973 at delta 1e-9 (Canonne, Kamath, Steinke)
    if of.odd.frame.shape[1] > 5:
        return float(stats.norm.isf(3e-5) * of.odd.cap / math.sqrt(2 * 0.014973 * part))
    return -math.log(6e-5) * of.odd.cap / part


def near(true: Callable[[Drafted], float]) -> Callable[[Drafted], Any]:
    return lambda of: (
        lambda shown: abs(float(shown.replace(",", "")) / true(of) - 1) < 0.01
    )


def holds(text: str, values: pd.Series) -> bool:
    """Whether bounds, as a page writes them, hold all values of a column."""
    low, high = text.split(", ")[0].split(" – ")
    if "-" in low[1:]:
        days = pd.to_datetime(values, format="%Y-%m-%d", errors="coerce").dropna()
        return bool(
            (pd.Timestamp(low) <= days.min()) & (days.max() <= pd.Timestamp(high))
        )
    numbers = pd.to_numeric(values, errors="coerce").dropna()
    return bool(float(low) <= numbers.min() <= numbers.max() <= float(high))


def asked_about(of: Drafted) -> list[str]:
    """Columns whose round bounds are offered, in their order."""
    table = next(
        each.value for each in of.tab.at.dataframe if "round" in map(bare, each.value)
    )
    return list(table.iloc[:, 0])


def items(of: Drafted) -> dict[str, Callable[[Drafted], Any]]:
    """What would become public: bounds that hold the column, and all labels that occur
    in it.
    """
    true: dict[str, Callable[[Drafted], Any]] = {}
    for name in of.grid.index:
        own = of.odd.frame[name]
        for kind in ("integer", "real", "date"):
            label = f"{name} · bounds and steps ({kind}): |text"
            true[label] = lambda of, own=own: lambda shown: holds(shown, own)
        for kind in ("categorical", "boolean"):
            label = f"{name} · categories ({kind}): |text"
            labels = {*own.dropna().astype(str)} - MISSING_WORDS
            true[label] = lambda of, labels=labels: (
                lambda shown: labels <= set(shown.split(", "))
            )
    return true


def facts(of: Drafted) -> dict[str, Callable[[Drafted], Any]]:
    names = [*of.grid.index]
    search = next(
        (
            each.value
            for each in of.tab.at.toggle
            if "found privately" in bare(each.label)
        ),
        False,
    )
    taken = [name for name in names if not (search and name in searched(of))]
    return {
        f"{SEARCH}|rows": near(hidden),
        f"{SEARCHED}|columns": lambda of: ", ".join(searched(of)),
        "Cells of {columns}, found privately|columns": lambda of: ", ".join(
            searched(of)
        ),
        "{number:,} rows of {columns} columns|number": lambda of: len(of.odd.frame),
        "{number:,} rows of {columns} columns|columns": lambda of: of.odd.frame.shape[
            1
        ],
        **{f"{HEAD} > {name}": head(name) for name in of.odd.frame},
        f"{KEPT}|kept": lambda of: percent(rows_kept(of, of.odd.cap)),
        f"{KEPT}|rows": lambda of: of.odd.cap,
        f"{WHO} > rows per person": lambda of: CAPS,
        f"{WHO} > rows that count": each(rows_kept),
        f"{WHO} > people who keep all their rows": each(whole),
        f"{WHO} > error of a count at epsilon 1": lambda of: [
            f"± {half_of(cap):g}" for cap in CAPS
        ],
        (
            "{column}: {cells} cells cannot be read. They count as missing "
            "unless you correct them.|cells"
        ): (lambda of: strays(of, "admitted")[1]),
        # one of those cells, or the column of this name
        f"{GRID} > value": lambda of: (
            lambda shown: (
                head("value")(of)(shown)
                if isinstance(shown, tuple)
                else shown in set(of.raw["admitted"])
            )
        ),
        "{number} more columns come after this.|number": lambda of: (
            lambda shown: 0 < int(shown) < len(names)
        ),
        "{name} {loss}|loss": lambda of: 3,
        "{name} {loss} with delta {delta}|loss": lambda of: 3,
        "{name} {loss} with delta {delta}|delta": lambda of: "1 in a billion",
        # half of the budget: of rho .014973, or of epsilon 3
        "{share} (epsilon {epsilon})|epsilon": lambda of: (
            lambda shown: float(shown) in (1.5, 2.08)
        ),
        "{number} rows|number": lambda of: of.odd.cap,
        "{more} more|more": lambda of: len(names) - 8,
        "{first} and {last}|first": lambda of: (
            lambda shown: set(shown.split(", ")) <= {*of.odd.frame}
        ),
        "{first} and {last}|last": lambda of: lambda shown: shown in of.odd.frame,
        (
            "Except with a chance of {delta}, nobody loses more privacy than "
            "epsilon states.|delta"
        ): (lambda of: "1 in a billion"),
        (
            "Allowing a chance of {delta} instead would make every error {share} "
            "smaller.|delta"
        ): (lambda of: "1 in a million"),
        # epsilon 3 is rho .1206 at delta 1e-9, and .1839 at 1e-6
        (
            "Allowing a chance of {delta} instead would make every error {share} "
            "smaller.|share"
        ): (lambda of: 1 - math.sqrt(0.1206 / 0.1839)),
        "Share numbers or a table > decimals": lambda of: (
            lambda shown: {*shown} <= {"", *map(str, decimals_of(of.raw))}
        ),
        (
            "Taken from this table: {columns}. If you publish these facts, they "
            "reveal something about the table.|columns"
        ): lambda of: ", ".join(taken),
        f"{GRID} > column": lambda of: lambda shown: set(shown) <= {*of.odd.frame},
        **{
            f"{GRID} > {title}": lambda of: (
                lambda shown: all(
                    holds(text, of.raw[name])
                    for text, name in zip(shown, asked_about(of), strict=True)
                )
            )
            for title in ("in this table", "round")
        },
        **items(of),
        "{columns} columns|columns": lambda of: len(of.raw.columns),
        f"{GRID} > cells": lambda of: (
            lambda shown: all(
                cells_of(line) in (None, cell)
                for (_name, line), cell in zip(of.grid.iterrows(), shown, strict=True)
            )
        ),
        f"{GRID} > moved to a bound": lambda of: [
            strays(of, name)[0] for name in names
        ],
        f"{GRID} > missing": lambda of: [strays(of, name)[1] for name in names],
        f"{GRID} > counted as other": lambda of: [0] * len(names),
        f"{GRID} > no cell": lambda of: [0] * len(names),
    }


def decimals_of(frame: pd.DataFrame) -> set[int]:
    """The most decimals of the numbers in each column of texts; a bound such as <0.5
    is read as its half, which has one more.
    """
    written = {
        int(frame[name].str.extract(r"\d[.,](\d+)\s*$")[0].str.len().fillna(0).max())
        for name in frame
    }
    bounds = (
        {1 + max(written)}
        if frame.map(lambda text: "<" in text).any(axis=None)
        else set()
    )
    return written | bounds


STATIC = {
    f"{GRID} > {heading}"
    for heading in (
        "low",
        "high",
        "step, or cut points separated by commas",
        "special numbers, each with its own cell",
        "declared",
        "categories, separated by |",
        "counts as, separated by |",
        "means missing, separated by |",
        "why suggested",
        "rules",
        "told",  # the last two are not shown
    )
    # what is proposed to be edited, of which `missing` and `moved to a bound` say how
    # it fits
} | {
    "Maximum number of rows that count per person > value",
    # how the file was written by the test
    "column names from line {line}|line",
    "encoding {name}|name",
    "Use ages {low} to {high} instead|low",
    "Use ages {low} to {high} instead|high",
    (
        "Someone who is 50 % sure that a person is in the table could become "
        "at most {sure} % sure by seeing this.|sure"
    ),
}


@pytest.mark.parametrize(
    "name", ["visits", "odd cells", "constants", "two-valued", "wide"]
)
def test_every_figure_is_of_the_table(marking, name) -> None:
    """A cap would be said to keep other rows than it does, or cells that nobody can
    read would be hidden.
    """
    of = drafted(name)
    seen = check(figures(of.tab, marking), facts(of), STATIC, of)
    assert seen >= {f"{GRID} > missing", "{number:,} rows of {columns} columns|number"}


def test_figures_of_a_search_are_of_the_table(marking) -> None:
    """What is found privately would be said of other columns, or to hide other rows
    than it does.
    """
    of = drafted("odd cells")
    next(
        each for each in of.tab.at.toggle if "found privately" in bare(each.label)
    ).set_value(True).run()
    of.tab.at.run()
    seen = check(figures(of.tab, marking), facts(of) | SPENT, STATIC, of)
    assert seen >= {f"{SEARCH}|rows", "{name} {loss}|loss", OPENING}


def test_a_wrong_base_is_caught(marking, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above would not see shares of people where rows were meant."""
    kept = upload_facts.kept_shares_by_cap
    monkeypatch.setattr(
        upload_facts,
        "kept_shares_by_cap",
        lambda *given: kept(*given).assign(rows=kept(*given)["people"]),
    )
    of = drafted("visits")
    with pytest.raises(AssertionError, match="not true"):
        check(figures(of.tab, marking), facts(of), STATIC, of)
