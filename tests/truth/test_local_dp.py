"""The Local answers page: what it says of a table of true answers, or of reports, again
by numpy.
"""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpcore.local as dl
from tests.truth.figures import MarkedTab, agrees, check, figures
from tests.truth.released import nearest
from tests.truth.tables import TABLES, Odd
from workbench.local_dp import simulate

HEAD = "Ask without learning anybody's answer > "
GIVEN = "{rows} of {all} rows have an answer; the others are left out.|"
HELD = (
    "The interval contains the true share for {held} of {all} answers; it should "
    "for 95 of 100.|"
)
MOST = "Most people said {answer}: {low} to {high} of those who answered.|"
REPORTS = "{people} reports by {protocol}, epsilon {epsilon} per answer.|"
Z = 1.959963984540054
# of a survey that nobody has answered yet: closed forms, held against oracles in
# tests/local
DESIGN = {
    "{days} days|days",
    "Make {number:,} links|number",
    "off by > value",
    "People needed for ± 1 % > value",
    "Size of a report, in bits > value",
    (
        "Someone who is 50 % sure of your answer could become at most {sure} % "
        "sure by seeing this.|sure"
    ),
    (
        "If {fair} of the people give an answer, the estimate is within {half} of "
        "the truth in 95 of 100 surveys.|fair"
    ),
    (
        "If {fair} of the people give an answer, the estimate is within {half} of "
        "the truth in 95 of 100 surveys.|half"
    ),
    HEAD + "value",  # an example of a report
    *(f"What one report can reveal > {each}" for each in ("of", "share")),
    *(
        f"What you would get > {each}"
        for each in (
            "protocol",
            "people",
            "people who answer",
            "epsilon",
            "epsilon per answer",
            "error",
        )
    ),
    "What you would get > error (95 %)",
}


@pytest.fixture
def page(marking) -> Any:
    """Opens a new tab on a part of the page."""

    def part(*chosen: tuple[str, str]) -> MarkedTab:
        tab = MarkedTab()
        tab.at.run()
        tab.go("local_dp")
        for label, name in chosen:
            tab.set("button_group", label, marking.gettext(name))
        return tab

    return part


@pytest.fixture
def own(page) -> Any:
    """Opens a column of an odd table as true answers."""

    def column(odd: Odd, name: str) -> MarkedTab:
        tab = page(("Ask without learning", "Read the answers"))
        tab.at.toggle[0].set_value(True).run()
        tab.upload(odd.content)
        return tab.set("selectbox", "column", name)

    return column


def interval(
    reported: float, people: int, p: float, q: float, z: float = Z
) -> tuple[float, float]:
    """Ends of the shares s at which (reported - E)^2 = z^2 var / people, both linear in
    s.
    """
    gap = p - q
    slope = p * (1 - p) - q * (1 - q)
    scale = z * z / people
    ends = np.roots(
        [
            gap**2,
            -2 * gap * (reported - q) - scale * slope,
            (reported - q) ** 2 - scale * q * (1 - q),
        ],
    )
    low, high = np.clip(sorted(ends.real), 0, 1)
    return float(low), float(high)


def of_answers(
    shown: dict[str, Any], true: pd.Series, people: int, epsilon: float
) -> dict[str, Any]:
    """What is true of a simulated survey by randomized response, from the reported
    shares that are shown.
    """
    p = math.exp(epsilon) / (math.exp(epsilon) + len(true) - 1)
    q = (1 - p) / (len(true) - 1)
    reported = np.array(shown[HEAD + "share"])[len(true) : 2 * len(true)]
    assert np.allclose(reported * people, np.round(reported * people))
    corrected = (reported - q) / (p - q)
    ends = [interval(each, people, p, q) for each in reported]
    low, high = ([each[side] for each in ends] for side in (0, 1))
    shares = [*true, *reported, *corrected]
    held = sum(a <= each <= b for each, (a, b) in zip(true, ends, strict=True))
    table = {
        "true": true,
        "reported": reported,
        "corrected": corrected,
        "low": low,
        "high": high,
    }

    def either(name: str) -> Any:
        """In the chart, three times and exact, or in its table, with three digits."""
        return lambda cells: (
            np.allclose(cells, np.tile(table[name], 3), atol=1e-9)
            if len(cells) == 3 * len(true)
            else np.allclose(cells, table[name], rtol=0.006, atol=1e-9)
        )

    named = list(true.index)
    facts: dict[str, Any] = {HEAD + name: either(name) for name in table}
    facts |= {
        HEAD + "share": shares,
        HEAD + "share of people": lambda cells: np.allclose(
            cells, np.clip(shares, 0, 1)
        ),
        HEAD + "answer": lambda cells: list(cells) in (named, 3 * named),
        HEAD + "of": [kind for kind in ("true", "reported", "corrected") for _ in true],
        HELD + "held": held,
        HELD + "all": len(true),
    }
    return facts


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("missing", "answer"),
        ("booleans", "smoker"),
        ("two-valued", "label"),
        ("visits", "ward"),
        ("missing", "age"),
    ],
)
def test_shares_are_of_those_who_answered(own, marking, name: str, column: str) -> None:
    """A share would be of all rows, or an interval of another law, or gaps would pass
    without a word.
    """
    odd = TABLES[name]
    given = odd.frame[column].dropna()
    labels = (
        given.astype(int).astype(str) if given.dtype == float else given.astype(str)
    )
    true = labels.value_counts(normalize=True).sort_index()
    # a line without any value is no row
    read = odd.frame.dropna(how="all")
    seen = figures(own(odd, column), marking)
    shown = {each.id: each.shown for each in seen if each.id == HEAD + "share"}
    facts = of_answers(shown, true, len(given), 1.0)
    facts |= {GIVEN + "rows": len(given), GIVEN + "all": len(read)}
    compared = check(
        seen,
        {key: lambda _, true=true: true for key, true in facts.items()},
        DESIGN,
        None,
    )
    assert {HEAD + "true", HELD + "held"} <= compared
    assert (GIVEN + "rows" in compared) == (len(given) < len(read))


def test_a_wrong_base_is_caught(own, marking, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above would not see shares of all rows, with and without an answer."""
    right = simulate.SimulatedSurvey.shares.fget
    rows = TABLES["missing"].frame["answer"]

    def wrong(survey: simulate.SimulatedSurvey) -> pd.DataFrame:
        return right(survey).assign(
            true=lambda each: each["true"] * rows.notna().mean()
        )

    monkeypatch.setattr(simulate.SimulatedSurvey, "shares", property(wrong))
    with pytest.raises(AssertionError, match="not true"):
        test_shares_are_of_those_who_answered(own, marking, "missing", "answer")


def test_means_are_of_the_column(own, marking) -> None:
    """The mean beside the private ones would be of another base."""
    income = TABLES["heavy tail"].frame["income"]
    middle = (
        income.min()
        + (income.max() - income.min())
        * (income >= (income.min() + income.max()) / 2).mean()
    )
    seen = figures(own(TABLES["heavy tail"], "income"), marking)
    # the chart comes before its table
    shown = {each.id: each.shown for each in reversed(seen)}
    mean, low, high = (np.array(shown[HEAD + each]) for each in ("mean", "low", "high"))
    off = (high - low) / 2
    assert np.allclose(mean, (low + high) / 2)
    assert (abs(mean - income.mean()) <= 4 * off)[3:].all()  # 7.8 standard deviations

    def means(cells: Any) -> bool:
        return agrees(cells[:2], [income.mean(), middle]) or np.allclose(
            cells[:2],
            [income.mean(), middle],
            rtol=6e-3,
        )

    facts = {
        HEAD + "mean": means,
        HEAD + "way": lambda cells: len(cells) == len(mean),
        HEAD + "low": lambda cells: np.allclose(cells, mean - off),
        HEAD + "high": lambda cells: np.allclose(cells, mean + off),
        HEAD + "error (95 %)": lambda cells: np.allclose(cells, off, rtol=6e-3),
    }
    check(
        seen,
        {key: lambda _, true=true: true for key, true in facts.items()},
        DESIGN,
        None,
    )


def test_reports_are_decoded(page, marking) -> None:
    """The answer of a survey would be read from its reports by another law."""
    question = dl.Question(
        text="Ever?", categories=["a", "b", "c"], protocol="optimized unary", epsilon=2
    )
    lines = dl.to_json_lines(question, question.protocol.perturb([0] * 300 + [1] * 100))
    tab = page(
        ("Ask without learning", "Read the answers"),
        ("source", "Reports as JSON lines, one per answer"),
    )
    tab.at.file_uploader[0].upload("r.jsonl", lines.encode(), "application/json").run()
    reports = np.array(
        [
            [int(bit) for bit in json.loads(line)["report"]]
            for line in lines.splitlines()
        ]
    )
    p = 0.5
    q = 1 / (1 + math.exp(2))
    people = len(reports)
    corrected = (reports.mean(axis=0) - q) / (p - q)
    low, high = np.transpose(
        [interval(each, people, p, q) for each in reports.mean(axis=0)]
    )
    top = int(corrected.argmax())
    # 1 - 0.05 / 3 / 2
    least, most = interval(reports[:, top].mean(), people, p, q, 2.3939797998185104)

    def close(true: Any) -> Any:
        return lambda cells: np.allclose(cells, true, rtol=6e-3, atol=1e-9)

    facts = {
        REPORTS + "people": people,
        REPORTS + "epsilon": 2,
        "Ever? > answer": ["a", "b", "c"],
        "Ever? > of": ["corrected"] * 3,
        "Ever? > low": close(low),
        "Ever? > high": close(high),
        "Ever? > share": corrected.tolist(),
        "Ever? > share of people": np.clip(corrected, 0, 1).tolist(),
        "Ever? > corrected": close(corrected),
        "Ever? > as a distribution": close(nearest(corrected, 1.0)),
        MOST + "low": least,
        MOST + "high": most,
    }
    compared = check(
        figures(tab, marking),
        {k: lambda _, true=v: true for k, v in facts.items()},
        DESIGN,
        None,
    )
    assert compared == set(facts)


def test_the_design_and_the_example_speak_of_no_table(page, marking) -> None:
    """A figure would come up that no test recomputes."""
    check(figures(page(), marking), {}, DESIGN, None)
    check(figures(page(("Ask without learning", "Answer")), marking), {}, DESIGN, None)
