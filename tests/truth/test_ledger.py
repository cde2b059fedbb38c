"""The Ledger page says what was spent: every figure again from the exported lines, by
plain arithmetic.
"""

from __future__ import annotations

import functools
import json
import math
import re
from typing import Any

import pytest

from tests.truth.figures import MarkedTab, check, figures
from tests.truth.limits import AT_MOST, at_most, coins_limit
from workbench.records import lines

DELTA = 1e-9


def spent(truth: dict[str, Any], *states: str) -> float:
    """Epsilon of all charges whose last line has one of `states`."""
    last = {line["request_id"]: line["state"] for line in truth["lines"]}
    charges = [line for line in truth["lines"] if line["state"] == "reserved"]
    return (
        sum(
            each["charge"]["units"]
            for each in charges
            if last[each["request_id"]] in states
        )
        / 1e12
    )


def left(truth: dict[str, Any]) -> float:
    return float(truth["account"]["promise"]["epsilon"]) - spent(
        truth, "committed", "failed", "reserved"
    )


def epsilons(truth: dict[str, Any]) -> list[float]:
    """Of every draw of noise: the discrete Laplace law on counts that one person moves
    by one row.
    """
    events = [
        each for line in truth["lines"] for each in line["content"].get("events", [])
    ]
    assert {each["mechanism"] for each in events} == {"discrete laplace"}
    return [1 / float.fromhex(each["noise_scale"]) for each in events]


def as_zcdp(truth: dict[str, Any]) -> float:
    """What pure epsilon costs in rho, and the conversion of Canonne, Kamath, Steinke
    (2020), minimized.
    """
    rho = sum(epsilon * math.tanh(epsilon / 2) for epsilon in epsilons(truth))
    orders = [1 + 0.001 * i for i in range(1, 60_000)]
    return min(
        rho * a
        + math.log(1 / DELTA) / (a - 1)
        + math.log1p(-1 / a)
        - math.log(a) / (a - 1)
        for a in orders
    )


def outside(truth: dict[str, Any]) -> list[dict[str, Any]]:
    """Lines outside the total that people are shown."""
    return [
        each["content"]
        for each in truth["lines"]
        if each["state"] == "outside"
        and ("evaluation" in each["content"] or "declared" in each["content"])
    ]


def budget_limits(truth: dict[str, Any]) -> dict[str, Any]:
    """What an attacker finds once the whole budget is spent."""
    budget = float(truth["account"]["promise"]["epsilon"])
    return at_most(functools.partial(coins_limit, 1, budget))


def whole(truth: dict[str, Any]) -> float:
    """The whole budget."""
    return float(truth["account"]["promise"]["epsilon"])


FACTS = {
    "Budget: spent {spent} · held {held} · left {left}|spent": lambda t: (
        spent(t, "committed", "failed") / whole(t)
    ),
    "Budget: spent {spent} · held {held} · left {left}|held": lambda t: (
        spent(t, "reserved") / whole(t)
    ),
    "Budget: spent {spent} · held {held} · left {left}|left": lambda t: (
        left(t) / whole(t)
    ),
    "Spent > value": lambda t: spent(t, "committed", "failed") / whole(t),
    "Reserved > value": lambda t: spent(t, "reserved") / whole(t),
    "Left > value": lambda t: left(t) / whole(t),
    "{name} {loss}|loss": lambda t: float(t["account"]["promise"]["epsilon"]),
    f"{AT_MOST}|strict": lambda t: budget_limits(t)[f"{AT_MOST}|strict"],
    f"{AT_MOST}|loose": lambda t: budget_limits(t)[f"{AT_MOST}|loose"],
    "Charges > share of the budget": lambda t: [
        line["charge"]["units"] / 1e12 / whole(t)
        for line in reversed(t["lines"])
        if line["state"] == "reserved"
    ],
    "Charges > epsilon": lambda t: [
        line["charge"]["units"] / 1e12
        for line in reversed(t["lines"])
        if line["state"] == "reserved"
    ],
    "Free work, not counted in the total: {number}|number": lambda t: len(outside(t)),
    "Charges > note": lambda t: (
        lambda shown: (
            [re.findall(r"\d+", text) for text in shown]
            == [
                ["3"] if "declared" in each else []  # the columns of the table
                for each in reversed(outside(t))
            ]
        )
    ),
    "Comparisons with the original and risk figures ({times} so far). Only the "
    "owner may see them.|times": lambda t: sum(
        "evaluation" in each for each in outside(t)
    ),
    "The same spending under other rules > epsilon": lambda t: [
        f"{sum(epsilons(t)):.3g}",
        f"{as_zcdp(t):.3g}",
        # one or two draws at this delta: nothing is gained by composing them
        f"{sum(epsilons(t)):.3g}",
    ],
    "All {lines} lines are unchanged.|lines": lambda t: len(t["lines"]),
}
STATIC = {
    "Charges > when (UTC)",
    "Charges > request",
    "The same spending under other rules > note",
}


def walked(marking: Any) -> tuple[MarkedTab, dict[str, Any]]:
    """The page after a release and an audit, and the lines as its export has them."""
    tab = MarkedTab()
    tab.at.run()
    tab.open().go("synthesize").release()
    tab.go("audit").go("ledger").press("Check that no line was changed")
    return tab, json.loads(
        lines.export_lines(tab.session.data_sets[tab.session.current_dataset])
    )


def test_every_figure_is_of_the_lines(marking) -> None:
    """The page would say that less was spent, or more is left, than the lines hold."""
    tab, truth = walked(marking)
    assert check(figures(tab, marking), FACTS, STATIC, truth) >= {
        "Left > value",
        "Spent > value",
    }


def test_a_wrong_base_is_caught(marking, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above would not see a balance of another unit."""
    monkeypatch.setattr(lines, "UNIT", 2 * lines.UNIT)
    monkeypatch.setattr("workbench.language.budget.UNIT", 2_000_000_000_000)
    tab, truth = walked(marking)
    with pytest.raises(AssertionError, match="not true"):
        check(figures(tab, marking), FACTS, STATIC, truth)
